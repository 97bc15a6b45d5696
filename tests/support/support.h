/* support.h - runs a function as the main goroutine of a variant, in a process of its own.
 *
 * Every test that schedules goes through support_run(): a crash, a hang or a broken invariant ends
 * that one child and leaves its message in the report. The child has a watchdog that prints what
 * every G waits for. No test depends on how fast the machine is: limits are generous, and where a
 * process, or the whole machine, is stopped for long, that counts as a moment.
 */
#ifndef SCHEDLAB_TESTS_SUPPORT_H
#define SCHEDLAB_TESTS_SUPPORT_H

#include "sched.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SUPPORT_SANITIZED 1
#else
#define SUPPORT_SANITIZED 0
#endif

enum {
    SUPPORT_TICK_S = 15, /* of the watchdog */
    SUPPORT_TICKS = 20,
    /* on a simulated machine, of its time: looks, cores together, in all. A run of conformance
     * takes 0.1 s of cores at most, and 0.05 s in all but where it waits 30 s idly */
    SUPPORT_SIM_LOOK_MS = 100,
    SUPPORT_SIM_BUSY_MS = 1000,
    SUPPORT_SIM_MAX_MS = 60000,
    SUPPORT_AWAIT_S = 60, /* of the time in which the caller runs */
    SUPPORT_OUTPUT = 16384,
    SUPPORT_LEFT = 255, /* status of a run that ended its process with 0, before its own end */
};

struct support_run {
    const char *variant;  /* the name */
    const char *settings; /* "key=value,key=value", or NULL: defaults */
    int workers;          /* two neighbours each share a cache, as a scheduler is told */
    bool pin;
    uint64_t seed;
    void (*before)(void *arg); /* optional: on the child's thread, before the scheduler exists */
    void (*fn)(void *arg);     /* main goroutine of the child */
    void (*after)(void *arg);  /* optional: on the child's thread, after the run */
    void *arg;                 /* results go to support_shared() memory */
};

struct support_report {
    int status;                  /* exit status, or minus the signal that ended it */
    int64_t live;                /* Gs alive after main had returned */
    uint64_t stat[STAT_COUNT];   /* sched_stat() afterwards */
    char output[SUPPORT_OUTPUT]; /* what it wrote to standard error */
};

/* Runs it and waits. Always fills *report. */
void support_run(const struct support_run *run, struct support_report *report);

/* Likewise for several, one after another in one child: a child takes longer to start than a short
 * run to end. Where one of them ends the child, another child takes up those behind it. Then tells
 * the reports, in order; count > 0. */
typedef void support_told(void *arg, int i, const struct support_report *report);
void support_run_each(const struct support_run *runs, int count, support_told *told, void *arg);

/* From now on an indirect jump that meets no landing pad ends the program. Does nothing in builds
 * without branch protection. */
void support_landing_pads(void);

/* Zeroed memory that a child's writes show through. */
void *support_shared(size_t size);
void support_unshare(void *memory, size_t size);

/* Sets the defaults of table in owner, then "key=value,..." on top (NULL: none). A mistake in a
 * test ends it. */
void support_set(void *owner, const struct param *table, const char *settings);

/* As support_set(), but false for a setting that is none of the table's, with the reason. */
bool support_read(void *owner, const struct param *table, const char *settings, char *why,
                  size_t size);

/* Has the table the key of the first "key=value"? */
bool support_takes(const struct param *table, const char *setting);

/* Variants from outside the tree, NULL-terminated; none unless a program says so at its start. */
extern const struct sched_ops *const *support_outside;

/* The variant, or NULL. */
const struct sched_ops *support_variant(const char *name);

/* Inside a child. */
static inline struct sched *this_sched(void)
{
    return machine_self()->sched;
}

/* Ends the child with status 1 and one line on standard error. Any stack. */
_Noreturn void support_fail(const char *file, int line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* For code that runs inside a child, where a test framework's long jump would leave the stack. */
#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition))                                                                          \
            support_fail(__FILE__, __LINE__, "%s", #condition);                                    \
    } while (0)

/* Gives the watchdog all its ticks again, in a child that takes longer by design. */
void support_watchdog_restart(void);

/* How long somebody has waited. All zero is ready. */
struct support_wait {
    int64_t last_ns, waited_ns;
};

/* Has the caller, who asks again and again, waited for too long? If the clock moves by more than
 * 10 ms between two calls, the caller did not run in all of them. */
static inline bool support_waited_in_vain(struct support_wait *wait)
{
    int64_t now = go_now(), step_ns = wait->last_ns ? now - wait->last_ns : 0;
    wait->waited_ns += step_ns < 10000000 ? step_ns : 10000000;
    wait->last_ns = now;
    return wait->waited_ns > SUPPORT_AWAIT_S * INT64_C(1000000000);
}

/* Keeps the caller's worker busy until another thread has made the condition true. */
#define AWAIT(condition)                                                                           \
    do {                                                                                           \
        struct support_wait await_ = {0};                                                          \
        while (!(condition)) {                                                                     \
            if (support_waited_in_vain(&await_))                                                   \
                support_fail(__FILE__, __LINE__, "waited %d s in vain for %s", SUPPORT_AWAIT_S,    \
                             #condition);                                                          \
            go_work(64);                                                                           \
        }                                                                                          \
    } while (0)

#endif
