/* malloc_stats.h - what jemalloc knows of this process's memory.
 *
 * Callers: counters_own.c, counters_malloc.c and counter_names.c, which publish the numbers as
 * events. All of them are jemalloc's own; under another malloc there are none.
 *
 * Amounts are jemalloc's at the last refresh. Requests are those that jemalloc has in its books: a
 * thread enters them when its cache of a size is refilled or emptied, at the latest when the thread
 * ends. A thread that allocates and frees one block over and over may have millions that are not
 * entered yet. So requests are exact only when the other threads have ended and the caller has
 * flushed. The bytes that one thread has allocated are exact at any time.
 */
#ifndef SCHEDLAB_MALLOC_STATS_H
#define SCHEDLAB_MALLOC_STATS_H

#include <stdint.h>

/* The order of stat_names[] in malloc_stats.c. */
enum malloc_stat {
    MALLOC_STAT_ALLOCATED, /* bytes */
    MALLOC_STAT_ACTIVE,
    MALLOC_STAT_RESIDENT,
    MALLOC_STAT_MAPPED,
    MALLOC_STAT_REQUESTS, /* blocks asked for since the process began */
};

/* Why there are no statistics, or NULL. Static storage. */
const char *malloc_stats_absent(void);

/* Refreshes the numbers: about 15 us with 8 arenas. */
void malloc_stats_refresh(void);

/* Enters the calling thread's requests into the books, and empties its cache. */
void malloc_stats_flush(void);

/* As of the last refresh. Pre, here and below: malloc_stats_absent() is NULL. */
uint64_t malloc_stats_read(enum malloc_stat which);

/* The place where the calling thread counts the bytes that it has allocated. Others may read it as
 * long as the thread lives. */
const uint64_t *malloc_stats_thread_bytes(void);

#endif
