/* stacks.c - see stacks.h. */
#include "harness/programs/stacks.h"

#include "harness/base/fnv1a.h"
#include "harness/base/memory.h"
#include "workloads/program.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { CALL_FRAMES = 8, PLACE_FRAMES = 16, SYNC_FRAMES = 4 };

bool stacks_has(const struct gotrace *trace, uint64_t stack, size_t most, const char *word)
{
    size_t count = gotrace_frames(trace, stack);
    for (size_t i = 0; i < count && i < most; i++) {
        size_t size;
        const char *name = gotrace_function(trace, stack, i, &size);
        if (memmem(name, size, word, strlen(word)))
            return true;
    }
    return false;
}

static enum call_kind call_find(const struct gotrace *trace, uint64_t stack)
{
    static const struct {
        const char *word;
        enum call_kind kind;
    } calls[] = {{"syscall.connect", CALL_CONNECT}, {"syscall.Connect", CALL_CONNECT},
                 {"syscall.accept", CALL_ACCEPT},   {"syscall.Accept", CALL_ACCEPT},
                 {"syscall.write", CALL_WRITE},     {"syscall.Write", CALL_WRITE},
                 {"syscall.send", CALL_WRITE},      {"syscall.Send", CALL_WRITE},
                 {"syscall.shutdown", CALL_WRITE},  {"net.(*conn).Close", CALL_WRITE},
                 {"syscall.read", CALL_READ},       {"syscall.Read", CALL_READ},
                 {"syscall.recv", CALL_READ},       {"syscall.Recv", CALL_READ}};
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++)
        if (stacks_has(trace, stack, CALL_FRAMES, calls[i].word))
            return calls[i].kind;
    return CALL_OTHER;
}

enum call_kind stacks_call(struct call_kinds *kinds, const struct gotrace *trace, uint64_t stack)
{
    if (kinds->generation != gotrace_generation(trace)) {
        kinds->generation = gotrace_generation(trace);
        memset(kinds->kind_of_stack ? kinds->kind_of_stack : (uint8_t *)"", 0, kinds->count);
    }
    if (gotrace_frames(trace, stack) == 0)
        return CALL_OTHER;
    if (!kinds->kind_of_stack || stack >= kinds->count) {
        size_t count = 2 * (size_t)stack + 256;
        kinds->kind_of_stack = xrealloc(kinds->kind_of_stack, count);
        memset(kinds->kind_of_stack + kinds->count, 0, count - kinds->count);
        kinds->count = count;
    }
    uint8_t *kind = &kinds->kind_of_stack[stack];
    if (*kind == 0)
        *kind = (uint8_t)(1 + call_find(trace, stack));
    return (enum call_kind)(*kind - 1);
}

void call_kinds_free(struct call_kinds *kinds)
{
    free(kinds->kind_of_stack);
    *kinds = (struct call_kinds){.count = 0};
}

const char *stacks_sync(const struct gotrace *trace, uint64_t stack)
{
    /* an RWMutex has a Mutex within, for which who writes may wait */
    static const struct {
        const char *function, *word;
    } of[] = {{"sync.(*RWMutex).RLock", "rwmutex-read"},
              {"sync.(*RWMutex).Lock", "rwmutex-write"},
              {"sync.(*Mutex).Lock", "mutex"},
              {"sync.(*WaitGroup).Wait", "waitgroup"},
              {"sync.(*Cond).Wait", "cond"}};
    for (size_t i = 0; i < sizeof of / sizeof of[0]; i++)
        if (stacks_has(trace, stack, SYNC_FRAMES, of[i].function))
            return of[i].word;
    return NULL;
}

static bool is_of_go(const char *name, size_t size)
{
    static const char *const packages[] = {"runtime.", "runtime/", "sync.", "internal/", "syscall.",
                                           "time.",    "net.",     "os.",   "io.",       "bufio."};
    for (size_t i = 0; i < sizeof packages / sizeof packages[0]; i++) {
        size_t length = strlen(packages[i]);
        if (size > length && memcmp(name, packages[i], length) == 0)
            return true;
    }
    return false;
}

const char *stacks_own(const struct gotrace *trace, uint64_t stack, size_t *size)
{
    size_t count = gotrace_frames(trace, stack);
    for (size_t i = 0; i < count; i++) {
        const char *name = gotrace_function(trace, stack, i, size);
        if (*size > 0 && !is_of_go(name, *size))
            return name;
    }
    return gotrace_function(trace, stack, 0, size);
}

const char *stacks_caller(const struct gotrace *trace, uint64_t stack, const char *function,
                          size_t *size)
{
    size_t count = gotrace_frames(trace, stack), length = strlen(function);
    for (size_t i = 0; i + 1 < count && i < SYNC_FRAMES; i++) {
        const char *name = gotrace_function(trace, stack, i, size);
        if (*size == length && memcmp(name, function, length) == 0)
            return gotrace_function(trace, stack, i + 1, size);
    }
    *size = 0;
    return "";
}

uint64_t stacks_place(const struct gotrace *trace, uint64_t stack)
{
    uint64_t hash = FNV1A_SEED;
    size_t count = gotrace_frames(trace, stack);
    for (size_t i = 0; i < count && i < PLACE_FRAMES; i++) {
        size_t size;
        const char *name = gotrace_function(trace, stack, i, &size);
        hash = fnv1a(hash, name, size);
        hash = fnv1a(hash, "/", 1);
    }
    return hash;
}

char *stacks_word(const char *text, size_t size)
{
    if (size == 0 || *text == '\0')
        return NULL;
    char *word = xstrndup(text, size < PROGRAM_WORD_MAX ? size : PROGRAM_WORD_MAX);
    for (char *at = word; *at; at++)
        if (isspace((unsigned char)*at) || iscntrl((unsigned char)*at) || *at == '#')
            *at = '_';
    return word;
}

char *stacks_name(const struct gotrace *trace, uint64_t stack, bool outermost)
{
    size_t count = gotrace_frames(trace, stack), size;
    if (count == 0)
        return NULL;
    const char *start = gotrace_function(trace, stack, outermost ? count - 1 : 0, &size);
    return stacks_word(start, size);
}

bool stacks_is_system(const char *name)
{
    if (!name || strcmp(name, "runtime.main") == 0)
        return false;
    return strncmp(name, "runtime.", 8) == 0 || strncmp(name, "runtime/trace.", 14) == 0;
}

bool stacks_is_collector(const char *name)
{
    static const char *const begins[] = {"runtime.gc", "runtime.bgsweep", "runtime.bgscavenge",
                                         "runtime.forcegchelper"};
    for (size_t i = 0; name && i < sizeof begins / sizeof begins[0]; i++)
        if (strncmp(name, begins[i], strlen(begins[i])) == 0)
            return true;
    return false;
}
