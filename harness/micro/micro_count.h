/* micro_count.h - events per operation, by the reader that samples use (counters.h).
 *
 * Callers: micro.c. There are two sets of counters, for libsde cannot register a name again that
 * was unregistered. The program's own events are registered once for the process, and each call of
 * an operation sees the difference. Events of threads are made anew for every call.
 */
#ifndef SCHEDLAB_MICRO_COUNT_H
#define SCHEDLAB_MICRO_COUNT_H

#include "harness/counters/counters.h"
#include "harness/micro/gbench.h"

struct sched;
struct m;

/* The counts of one call of an operation. */
struct micro_count {
    struct sched *const *sched; /* where the scheduler is, once there is one; NULL: never */
    struct counters *threads;   /* NULL: none is asked for */
    json_t *before;             /* the process's events, as they were */
    const char *come_in;        /* the variant whose threads come and go, so that events counted by
                                 * thread are not available; NULL: threads stay */
};

/* Sets which events are counted from now on; see counter_names_split(); NULL is "none". Call once.
 * The names must be valid. */
void micro_count_list(const char *events);

/* Begins and ends a call. Threads that come and go are counted by inheritance. sched and come_in
 * are as in struct micro_count, and valid until micro_count_close(). */
void micro_count_open(struct micro_count *count, struct sched *const *sched, const char *come_in);
void micro_count_close(struct micro_count *count);

/* Called by each thread that works, first and last; key tells them apart. */
void micro_count_thread(struct micro_count *count, const void *key);
void micro_count_thread_end(struct micro_count *count, const void *key);

/* Called around the counted code, as often as needed. */
void micro_count_begin(struct micro_count *count);
void micro_count_end(struct micro_count *count);

/* Makes columns of the counts; sums are scaled by share. An event that could not be counted has no
 * column. Standard error says so once, with the variant if it is only one. */
void micro_count_show(const struct micro_count *count, struct gbench_state *state, double share);

#endif
