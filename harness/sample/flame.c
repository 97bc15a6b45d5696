/* flame.c - see flame.h.
 *
 * Stacks are a tree: a node is a return address below another node. A million of them is what deep
 * recursion may fill; what finds no room then is one line, FULL.
 */
#include "harness/sample/flame.h"

#if defined(SCHEDLAB_SIM)
#include "harness/base/memory.h"
#include "harness/sample/source_line.h"
#include "machine/sim/cache.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unwind.h>

enum { FRAMES_MAX = 128, NODES_MAX = 1 << 20, BUCKETS = 1 << 20 };

static const char FULL[] = "(more stacks than there is room for)";

/* pc: a return address, or below CACHE_NAMES_MAX the name of the structure, a leaf. */
struct node {
    uintptr_t pc;
    uint32_t parent, next; /* next: in its bucket */
    uint64_t ps;
};

static struct {
    struct node *nodes; /* from 1; node 0 is the root */
    uint32_t *buckets;
    uint32_t count;
    uint64_t full_ps;
} tree;

/* Collecting ---------------------------------------------------------------------------------- */

/* 0: no room. */
static uint32_t node_below(uint32_t parent, uintptr_t pc)
{
    uint64_t hash = (pc ^ (uint64_t)parent << 40) * UINT64_C(0x9e3779b97f4a7c15);
    uint32_t *bucket = &tree.buckets[hash >> 44];
    for (uint32_t i = *bucket; i; i = tree.nodes[i].next)
        if (tree.nodes[i].pc == pc && tree.nodes[i].parent == parent)
            return i;
    if (tree.count == NODES_MAX)
        return 0;
    uint32_t i = ++tree.count;
    tree.nodes[i] = (struct node){.pc = pc, .parent = parent, .next = *bucket};
    *bucket = i;
    return i;
}

struct walk {
    uintptr_t from, pcs[FRAMES_MAX];
    size_t count;
};

/* Return addresses from walk->from on outwards: what lies inside is the simulator's own. */
static _Unwind_Reason_Code stack_step(struct _Unwind_Context *frame, void *arg)
{
    struct walk *walk = arg;
    uintptr_t pc = _Unwind_GetIP(frame);
    if (pc && (walk->count > 0 || pc == walk->from))
        walk->pcs[walk->count++] = pc;
    return walk->count < FRAMES_MAX ? _URC_NO_REASON : _URC_END_OF_STACK;
}

static void stalled(uintptr_t pc, int name, uint64_t ps)
{
    struct walk walk = {.from = pc};
    _Unwind_Backtrace(stack_step, &walk);
    uint32_t node = 0;
    bool room = true;
    for (size_t i = walk.count; room && i-- > 0;)
        room = (node = node_below(node, walk.pcs[i])) != 0;
    if (room && (node = node_below(node, (uintptr_t)name)) != 0)
        tree.nodes[node].ps += ps;
    else
        tree.full_ps += ps;
}

void flame_begin(void)
{
    tree.nodes = xcalloc(NODES_MAX + 1, sizeof *tree.nodes);
    tree.buckets = xcalloc(BUCKETS, sizeof *tree.buckets);
    cache_on_stall = stalled;
}

/* Writing ------------------------------------------------------------------------------------- */

struct stack_line {
    char *text;
    uint64_t ps;
};

static void functions_write(FILE *to, struct source_lines *lines, uintptr_t pc)
{
    char functions[SOURCE_INLINED_MAX][SOURCE_TEXT];
    size_t count = source_functions(lines, pc - 1, functions);
    if (count == 0)
        fputs("(unknown);", to);
    while (count > 0)
        fprintf(to, "%s;", functions[--count]);
}

static char *text_of(const struct node *leaf, struct source_lines *lines)
{
    uintptr_t pcs[FRAMES_MAX];
    size_t count = 0;
    char *text = NULL;
    for (uint32_t i = leaf->parent; i; i = tree.nodes[i].parent)
        pcs[count++] = tree.nodes[i].pc;
    FILE *to = memory_stream(&text, NULL);
    while (count > 0)
        functions_write(to, lines, pcs[--count]);
    fprintf(to, "[%s]", cache_name_text((int)leaf->pc));
    fclose(to);
    return text;
}

static int by_text(const void *a, const void *b)
{
    const struct stack_line *one = a, *other = b;
    return strcmp(one->text, other->text);
}

static void lines_write(FILE *to, const struct stack_line *list, size_t count)
{
    for (size_t i = 0; i < count;) {
        uint64_t ps = 0;
        size_t first = i;
        for (; i < count && strcmp(list[i].text, list[first].text) == 0; i++)
            ps += list[i].ps;
        if (ps >= PS_PER_NS)
            fprintf(to, "%s %llu\n", list[first].text, (unsigned long long)(ps / PS_PER_NS));
    }
    if (tree.full_ps >= PS_PER_NS)
        fprintf(to, "%s %llu\n", FULL, (unsigned long long)(tree.full_ps / PS_PER_NS));
}

static void tree_write(FILE *to)
{
    struct source_lines *lines = source_lines_open();
    struct stack_line *list = xcalloc(tree.count + 1, sizeof *list);
    size_t count = 0;
    for (uint32_t i = 1; i <= tree.count; i++)
        if (tree.nodes[i].ps)
            list[count++] = (struct stack_line){text_of(&tree.nodes[i], lines), tree.nodes[i].ps};
    qsort(list, count, sizeof *list, by_text);
    lines_write(to, list, count);
    for (size_t i = 0; i < count; i++)
        free(list[i].text);
    free(list);
    source_lines_close(lines);
}

bool flame_write(const char *path, struct error *error)
{
    FILE *to = fopen(path, "we");
    if (to)
        tree_write(to);
    bool ok = to && !ferror(to);
    ok = to && fclose(to) == 0 && ok;
    if (!ok)
        error_print(error, "cannot write %s: %s", path, strerror(errno));
    cache_on_stall = NULL;
    free(tree.nodes);
    free(tree.buckets);
    memset(&tree, 0, sizeof tree);
    return ok;
}
#else
void flame_begin(void)
{
}

bool flame_write(const char *path, struct error *error)
{
    (void)path;
    (void)error;
    return true;
}
#endif
