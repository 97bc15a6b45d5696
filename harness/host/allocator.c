/* allocator.c - see allocator.h. */
#include "harness/host/allocator.h"

#include "harness/base/memory.h"
#include "harness/base/text.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if !defined(__has_feature)
#define __has_feature(feature) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) ||                               \
    __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
enum { SANITIZED = 1 };
#else
enum { SANITIZED = 0 };
#endif

static const char PRELOAD_VARIABLE[] = "LD_PRELOAD", PRELOAD_GLIBC[] = "libc.so.6";

const char *const allocator_words[] = {
    [ALLOCATOR_JEMALLOC] = "jemalloc", [ALLOCATOR_GLIBC] = "glibc", NULL};

/* Allocator in force --------------------------------------------------------------------------- */

enum allocator allocator_of_file(const char *path)
{
    const char *name = text_base_name(path);
    if (strncmp(name, "libjemalloc", 11) == 0)
        return ALLOCATOR_JEMALLOC;
    if (strncmp(name, "libc.so", 7) == 0 || strncmp(name, "libc-2", 6) == 0)
        return ALLOCATOR_GLIBC;
    return ALLOCATOR_OTHER;
}

/* By name, as the linker resolves it for all, in what comes after the program: &malloc is a jump
 * inside the program where that lies at fixed addresses. */
static const char *malloc_file(void)
{
    void *function = dlsym(RTLD_NEXT, "malloc");
    Dl_info info;
    return function && dladdr(function, &info) && info.dli_fname ? info.dli_fname : "unknown";
}

enum allocator allocator_found(void)
{
    return SANITIZED ? ALLOCATOR_SANITIZER : allocator_of_file(malloc_file());
}

const char *allocator_found_name(void)
{
    enum allocator found = allocator_found();
    if (found == ALLOCATOR_SANITIZER)
        return "sanitizer";
    return found == ALLOCATOR_OTHER ? text_base_name(malloc_file()) : allocator_words[found];
}

bool allocator_check(enum allocator asked, enum allocator found, struct error *why)
{
    if (asked == found || (asked == ALLOCATOR_JEMALLOC && found == ALLOCATOR_SANITIZER))
        return true;
    const char *name =
        found < ALLOCATORS_ASKED ? allocator_words[found] : text_base_name(malloc_file());
    if (asked == ALLOCATOR_GLIBC)
        error_print(why,
                    "malloc=glibc was asked for, but malloc() is that of %s; the process has to be "
                    "started with %s=%s",
                    name, PRELOAD_VARIABLE, PRELOAD_GLIBC);
    else
        error_print(why, "malloc=%s was asked for, but malloc() is that of %s; is %s set?",
                    allocator_words[asked], name, PRELOAD_VARIABLE);
    return false;
}

/* Allocator for children ----------------------------------------------------------------------- */

void allocator_for_children(enum allocator asked)
{
    static char *before; /* what the user preloads, from the first call on; "" if nothing */
    if (SANITIZED)
        return;
    if (!before) {
        const char *set = getenv(PRELOAD_VARIABLE);
        before = xstrdup(set ? set : "");
    }
    if (asked != ALLOCATOR_GLIBC && *before == '\0') {
        unsetenv(PRELOAD_VARIABLE);
        return;
    }
    char *value = asked != ALLOCATOR_GLIBC
                      ? xstrdup(before)
                      : text_format("%s%s%s", PRELOAD_GLIBC, *before ? ":" : "", before);
    if (setenv(PRELOAD_VARIABLE, value, 1) != 0)
        memory_die();
    free(value);
}
