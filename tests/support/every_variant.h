/* every_variant.h - one unit test multiplied by all variants, on 1 or 2 workers.
 *
 * These tests are about the runtime, the same code under all variants. So gmp runs a test on 1
 * and on 2 workers, every other variant on one of the two, which the next test changes. Under a
 * sanitizer, where a run takes ten times as long, gmp has 2 workers, and a test has a third of the
 * other variants.
 *
 * Included by cmocka programs after <cmocka.h>. Bodies run as the main goroutine of a child process
 * (support.h), with struct every_cell as their argument; a failure names the variant, the workers,
 * the seed and what the child wrote. SCHEDLAB_SEED in the environment replays a seed.
 */
#ifndef SCHEDLAB_TESTS_EVERY_VARIANT_H
#define SCHEDLAB_TESTS_EVERY_VARIANT_H

#include "support.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
    EVERY_STARVING_NS = 1200000, /* more than a mutex lets anybody wait in normal mode */
};

struct every_cell {
    const struct sched_ops *ops;
    int workers;
    uint64_t seed;
    const char *settings; /* NULL: the defaults */
};

static inline uint64_t every_seed(void)
{
    const char *text = getenv("SCHEDLAB_SEED");
    return text ? strtoull(text, NULL, 0) : UINT64_C(20260214);
}

/* Runs fn in one cell; it has to end with status, and text (may be NULL) in its output; after a
 * status of 0 no G may be alive. */
static inline void every_cell_run(const struct every_cell *cell, void (*fn)(void *), int status,
                                  const char *text)
{
    static struct support_report report;
    struct support_run run = {.variant = cell->ops->name,
                              .settings = cell->settings,
                              .workers = cell->workers,
                              .seed = cell->seed,
                              .fn = fn,
                              .arg = (void *)(uintptr_t)cell};
    support_run(&run, &report);
    if (report.status != status || (status == 0 && report.live != 0) ||
        (text && !strstr(report.output, text)))
        fail_msg("%s, %d workers, SCHEDLAB_SEED=%" PRIu64 ": status %d, %" PRId64
                 " Gs alive, output:\n%s",
                 cell->ops->name, cell->workers, cell->seed, report.status, report.live,
                 report.output);
}

/* Under settings (may be NULL) of the test's own; fn's argument is the seed. */
static inline void run_scene(const char *variant, const char *settings, int workers,
                             void (*fn)(void *))
{
    static struct support_report report;
    uint64_t seed = every_seed();
    struct support_run run = {.variant = variant,
                              .settings = settings,
                              .workers = workers,
                              .seed = seed,
                              .fn = fn,
                              .arg = &seed};
    support_run(&run, &report);
    if (report.status != 0 || report.live != 0)
        fail_msg("%s,%s, %d workers, SCHEDLAB_SEED=%" PRIu64 ": status %d, %" PRId64
                 " Gs alive, output:\n%s",
                 variant, settings ? settings : "", workers, seed, report.status, report.live,
                 report.output);
}

/* How many tests have been multiplied before this one; tests take their turns by it. */
static inline size_t every_turn(void)
{
    static size_t turns;
    return turns++;
}

static inline bool every_cell_is_due(const struct every_cell *cell, size_t place)
{
    if (strcmp(cell->ops->name, "gmp") == 0)
        return !SUPPORT_SANITIZED || cell->workers == 2;
    return place % 2 + 1 == (size_t)cell->workers && (!SUPPORT_SANITIZED || place % 3 == 0);
}

static inline void every_variant(void (*fn)(void *))
{
    size_t turn = every_turn();
    for (size_t i = 0; sched_variants[i]; i++)
        for (int workers = 1; workers <= 2; workers++) {
            struct every_cell cell = {sched_variants[i], workers, every_seed(), NULL};
            if (every_cell_is_due(&cell, i + turn))
                every_cell_run(&cell, fn, 0, NULL);
        }
}

/* One worker that stops its Gs at scheduling points only, however slow the machine is. */
static inline void every_in_turns(const struct sched_ops *ops, void (*fn)(void *))
{
    const char *settings = support_takes(ops->knobs, "preempt") ? "preempt=none" : NULL;
    struct every_cell cell = {ops, 1, every_seed(), settings};
    every_cell_run(&cell, fn, 0, NULL);
}

/* Runs fn on the variants whose Gs take turns: not where each G is a thread. */
static inline void every_variant_taking_turns(void (*fn)(void *))
{
    for (size_t i = 0; sched_variants[i]; i++)
        if (!sched_variants[i]->thread_per_g)
            every_in_turns(sched_variants[i], fn);
}

static inline void one_variant(const char *name, void (*fn)(void *))
{
    const struct sched_ops *ops = support_variant(name);
    assert_non_null(ops);
    every_in_turns(ops, fn);
}

/* Misuse ends the run with status 70 and a message that says what was wrong. The runtime finds it,
 * in the same code for all: so one variant of each kind runs it, and by turns one of the rest.
 * Conformance shows that each variant ends so. */
static inline void every_variant_dies(void (*fn)(void *), const char *text)
{
    size_t turn = every_turn(), others = 0, other = 0;
    for (size_t i = 0; sched_variants[i]; i++) {
        const struct sched_ops *ops = sched_variants[i];
        others += !ops->single_threaded && !ops->thread_per_g && !ops->blocks;
    }
    for (size_t i = 0; sched_variants[i]; i++) {
        struct every_cell cell = {sched_variants[i], 1, every_seed(), NULL};
        const struct sched_ops *ops = cell.ops;
        if (ops->single_threaded || ops->thread_per_g || ops->blocks ||
            (others && other++ == turn % others))
            every_cell_run(&cell, fn, 70, text);
    }
}

/* For bodies ------------------------------------------------------------------------------- */

static inline uint64_t every_parks(void)
{
    return sched_stat(machine_self()->sched, STAT_PARKS);
}

/* Waits until `parks` parks have been counted. Whoever is counted has put itself on a list. */
static inline void every_await_parks(uint64_t parks)
{
    while (every_parks() < parks)
        gosched();
}

/* Starts fn(arg), whose first act that can park does park, and returns once it has. The caller's
 * other Gs rest meanwhile. */
static inline void every_start_parked(void (*fn)(void *), void *arg)
{
    uint64_t parks = every_parks();
    go(fn, arg);
    every_await_parks(parks + 1);
}

/* Keeps its worker busy for at least ns. */
static inline void every_work_for(int64_t ns)
{
    for (int64_t end = go_now() + ns; go_now() < end;)
        go_work(100);
}

/* Its own generator, so that a body's choices depend on the seed and not on the schedule. */
static inline uint64_t every_random(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

/* The order of arrivals: indices in the order of calls of log_add(). */
enum { LOG_MAX = 16 };

struct log {
    _Atomic int count;
    _Atomic int entry[LOG_MAX];
};

static inline void log_add(struct log *log, int value)
{
    atomic_store(&log->entry[atomic_fetch_add(&log->count, 1) % LOG_MAX], value);
}

static inline void log_check(struct log *log, const int *expected, int count)
{
    CHECK(atomic_load(&log->count) == count);
    for (int i = 0; i < count; i++)
        if (atomic_load(&log->entry[i]) != expected[i])
            support_fail(__FILE__, __LINE__, "place %d: expected %d, found %d", i, expected[i],
                         atomic_load(&log->entry[i]));
}

#endif
