/* support.h - runs a function as the main goroutine of a variant, in a process of its own.
 *
 * Every test that schedules goes through support_run(): a crash, a hang or a broken invariant ends
 * that one child and leaves its message in the report. The child has a watchdog that prints what
 * every G waits for; its limit is generous, so that no test depends on how fast the machine is.
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

enum { SUPPORT_WATCHDOG_S = 300, SUPPORT_AWAIT_S = 120, SUPPORT_OUTPUT = 16384 };

struct support_run {
    const char *variant;  /* the name */
    const char *settings; /* "key=value,key=value", or NULL: defaults */
    int workers;
    bool no_fence_all; /* as on a machine that cannot fence all cores */
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

/* Zeroed memory that a child's writes show through. */
void *support_shared(size_t size);
void support_unshare(void *memory, size_t size);

/* Sets the defaults of table in owner, then "key=value,..." on top (NULL: none). A mistake in a
 * test ends it. */
void support_set(void *owner, const struct param *table, const char *settings);

/* Has the table the key of "key=value"? */
bool support_takes(const struct param *table, const char *setting);

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

/* Keeps the caller's worker busy until another thread has made the condition true. */
#define AWAIT(condition)                                                                           \
    do {                                                                                           \
        int64_t await_end_ = go_now() + SUPPORT_AWAIT_S * INT64_C(1000000000);                     \
        while (!(condition)) {                                                                     \
            if (go_now() > await_end_)                                                             \
                support_fail(__FILE__, __LINE__, "waited %d s in vain for %s", SUPPORT_AWAIT_S,    \
                             #condition);                                                          \
            go_work(64);                                                                           \
        }                                                                                          \
    } while (0)

#endif
