/* malloc_stats.c - see malloc_stats.h. jemalloc's one entry point is linked weakly: sanitizers
 * bring another malloc, and their builds have no jemalloc. */
#include "harness/host/malloc_stats.h"

#include "g.h"
#include "harness/host/allocator.h"

#include <stdbool.h>
#include <stddef.h>

int mallctl(const char *name, void *old, size_t *old_size, void *new, size_t new_size)
    __attribute__((weak));

/* 4096 stands for all arenas together (MALLCTL_ARENAS_ALL). */
static const char *const stat_names[] = {
    [MALLOC_STAT_ALLOCATED] = "stats.allocated",
    [MALLOC_STAT_ACTIVE] = "stats.active",
    [MALLOC_STAT_RESIDENT] = "stats.resident",
    [MALLOC_STAT_MAPPED] = "stats.mapped",
    [MALLOC_STAT_REQUESTS] = "stats.arenas.4096.small.nrequests",
};
static const char large_requests[] = "stats.arenas.4096.large.nrequests";
static const char thread_bytes[] = "thread.allocatedp";

enum { STAT_NAMES = sizeof stat_names / sizeof stat_names[0] };

static bool is_answered(const char *name)
{
    uint64_t value; /* jemalloc's numbers are of 64 bits here, size_t or not */
    size_t size = sizeof value;
    return mallctl(name, &value, &size, NULL, 0) == 0;
}

/* Another version may have other names, and the value of an unknown name would look like zero. */
static bool all_are_answered(void)
{
    for (size_t i = 0; i < STAT_NAMES; i++)
        if (!is_answered(stat_names[i]))
            return false;
    return is_answered(large_requests) && is_answered(thread_bytes);
}

const char *malloc_stats_absent(void)
{
    switch (allocator_found()) {
    case ALLOCATOR_JEMALLOC:
        break;
    case ALLOCATOR_GLIBC:
        return "malloc is glibc's, which does not count";
    case ALLOCATOR_SANITIZER:
        return "malloc is the sanitizer's, which does not count";
    default:
        return "malloc is not jemalloc's";
    }
    bool counts = false;
    size_t size = sizeof counts;
    if (!mallctl || mallctl("config.stats", &counts, &size, NULL, 0) != 0 || !counts)
        return "this jemalloc was built without statistics";
    return all_are_answered() ? NULL : "this jemalloc does not know all of the statistics by name";
}

void malloc_stats_refresh(void)
{
    uint64_t epoch = 1;
    mallctl("epoch", NULL, NULL, &epoch, sizeof epoch);
}

void malloc_stats_flush(void)
{
    mallctl("thread.tcache.flush", NULL, NULL, NULL, 0);
}

static uint64_t read_size(const char *name)
{
    uint64_t value = 0;
    size_t size = sizeof value;
    int error = mallctl(name, &value, &size, NULL, 0);
    if (error)
        fatal_env(error, "malloc_stats_read: jemalloc has answered %s before", name);
    return value;
}

uint64_t malloc_stats_read(enum malloc_stat which)
{
    uint64_t value = read_size(stat_names[which]);
    return which == MALLOC_STAT_REQUESTS ? value + read_size(large_requests) : value;
}

const uint64_t *malloc_stats_thread_bytes(void)
{
    uint64_t *bytes = NULL;
    size_t size = sizeof bytes;
    return mallctl(thread_bytes, &bytes, &size, NULL, 0) == 0 ? bytes : NULL;
}
