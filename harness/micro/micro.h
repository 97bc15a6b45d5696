/* micro.h - the benchmarks of `schedlab micro`: the cost of single operations of the runtime.
 *
 * Callers: cmd_micro.c registers all; each file beside this one has a table of operations (struct
 * micro_op) and their functions. gbench.h runs them. bench.c asks for the floor of each operation.
 *
 * Each function checks that what it timed has happened, by counts or sums of its own, and calls
 * micro_fail() if not: a wrong result has no time. Three styles:
 *
 *   MICRO_LOOP    while (micro_more(micro, BATCH)) { BATCH operations }
 *                 for operations so short that even a look at the clock would disturb them
 *   MICRO_TIMED   micro->n operations in one call, of which only what stands between micro_start()
 *                 and micro_stop() is timed; or micro_took(), for times taken otherwise
 *   MICRO_MAIN    the same, as the main goroutine of the instance's variant; no goroutine may be
 *                 left at its end
 *
 * With --events both count PAPI's events between the same two points (counters.h).
 */
#ifndef SCHEDLAB_MICRO_H
#define SCHEDLAB_MICRO_H

#include "harness/base/suggest.h"
#include "harness/micro/gbench.h"
#include "harness/micro/micro_count.h"
#include "harness/spec/spec.h"
#include "sched.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MICRO_BATCH = 1000 }; /* operations between two looks of MICRO_LOOP at the library */

enum micro_style { MICRO_LOOP, MICRO_TIMED, MICRO_MAIN };

struct micro;

/* One operation. name is the benchmark's, before "/VARIANT" where there is `serves`. */
struct micro_op {
    const char *name;
    const char *floor; /* name of the operation that it cannot be cheaper than; NULL: is a floor */
    enum micro_style style;
    void (*run)(struct micro *micro);

    /* Optional. One instance per value, "arg_name:value"; ends with 0. */
    const char *arg_name;
    const int64_t *args;

    /* Optional: runs in a scheduler, once per variant for which this is true. */
    bool (*serves)(const struct sched_ops *ops);

    /* Optional: a variant of the tree to compare with. The operation runs on it too where the
     * command names others. */
    const char *beside;

    int workers;        /* of MICRO_MAIN; 0: one, or the argument if it is named "workers" */
    int64_t iterations; /* 0: as many as --benchmark_min_time needs */
    int64_t how;        /* what its function makes of it; tells operations of one function apart */
};

/* One call of an operation's function. */
struct micro {
    const struct micro_op *op;
    const struct variant_spec *variant; /* NULL: without a scheduler */
    int64_t arg;                        /* of this instance; 0 if it has none */
    uint64_t n;                         /* MICRO_TIMED: operations to do */
    struct sched *sched;                /* of MICRO_MAIN */

    /* micro.c's own */
    struct gbench_state *state;
    struct micro_count count;
    bool counting;
    int64_t started, ns;         /* the sum, with the cost of the clock */
    uint64_t sections;           /* that it is of */
    int64_t cpu_started, cpu_ns; /* of the process, between micro_open() and micro_close() */
    uint64_t cpu_sections;
    uint64_t did; /* 0: as many as planned */
    char failure[256], absence[256];
};

/* Registering -------------------------------------------------------------------------------- */

/* All operations of all files; variants are those that `serves` is asked for. They must
 * outlive gbench_run(). events: what to count, valid for counter_names_split(); NULL: nothing. */
void micro_register(const struct variant_spec *variants, size_t count, const char *events);

/* The tables, each ended by an empty row. */
extern const struct micro_op micro_floors[], micro_queues[], micro_deques[], micro_locks[],
    micro_switches[], micro_channels[], micro_wakes[], micro_caches[], micro_outside_queues[];

/* All names, as candidates. */
void micro_offer_names(struct suggest *near);

/* The operation of a benchmark by its full name; NULL if it is none of these. */
const struct micro_op *micro_op_find(const char *benchmark);

/* For operations ----------------------------------------------------------------------------- */

/* MICRO_LOOP: true as long as n more operations are wanted. */
bool micro_more(struct micro *micro, uint64_t n);

/* MICRO_LOOP: the number of operations done; pre: micro_more() was false. */
uint64_t micro_done(const struct micro *micro);

/* MICRO_TIMED: adds the time between the two calls, without the cost of reading the clock, and
 * likewise the CPU time of all threads. With events the time includes the cost of reading those.
 * Any thread, in pairs. */
void micro_start(struct micro *micro);
void micro_stop(struct micro *micro);

/* MICRO_TIMED: adds a time that the operation took itself, by machine_now(), less the cost of
 * reading the clock. CPU time and events are then those of all between micro_open() and
 * micro_close(), waits included. */
void micro_took(struct micro *micro, int64_t ns);
void micro_open(struct micro *micro);
void micro_close(struct micro *micro);

/* MICRO_TIMED: so many operations were done in place of micro->n; times and counts are scaled. */
void micro_did(struct micro *micro, uint64_t done);

/* Says that the result is wrong; the first reason stays. */
void micro_fail(struct micro *micro, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Fails unless counted == wanted; what names the things counted. */
void micro_expect(struct micro *micro, const char *what, uint64_t counted, uint64_t wanted);

/* A scheduler that was made but not started, for queues without workers: pre: spec is valid. */
struct micro_still {
    struct variant_spec spec;
    struct sched *sched;
    struct m *m; /* one that holds P 0; no thread runs it */
};
void micro_still_make(struct micro_still *still, const char *spec, int workers);
void micro_still_free(struct micro_still *still);

/* A second thread, counted like the first, on the second core while the first is held on the
 * first. False, and absence is set, where there is only one core. */
struct micro_partner {
    struct micro *micro;
    void (*fn)(void *arg);
    void *arg;
    struct machine_thread thread;
};
bool micro_partner_start(struct micro_partner *partner, struct micro *micro, void (*fn)(void *),
                         void *arg);
void micro_partner_join(struct micro_partner *partner);

/* Any variant; those with more than one worker. */
bool micro_serves_all(const struct sched_ops *ops);
bool micro_serves_parallel(const struct sched_ops *ops);

#endif
