/* breaks.h - a way for each invariant to be broken: what test_invariants.c runs, each in a process
 * of its own.
 *
 *     BREAK(a_name) { ... }                             as the main goroutine of gmp, on one worker
 *     BREAK_IN(a_name, "static", 2, CALM ",wait=keep") { ... }
 *
 * The body does something wrong, by corrupting a structure or by a call that is not allowed, and
 * then what notices. The process has to end by an INVARIANT.
 */
#ifndef SCHEDLAB_TESTS_BREAKS_H
#define SCHEDLAB_TESTS_BREAKS_H

#include "internal.h"
#include "tests/support/support.h"

#include <stdlib.h>
#include <string.h>

struct breaking {
    const char *name, *variant;
    int workers;
    const char *settings;
    void (*fn)(void *);
    const struct breaking *next;
};

void breaking_add(struct breaking *breaking);

#define BREAK_IN(id, variant_, workers_, settings_)                                                \
    static void id(void *unused);                                                                  \
    __attribute__((constructor)) static void id##_add(void)                                        \
    {                                                                                              \
        static struct breaking row = {#id, variant_, workers_, settings_, id, NULL};               \
        breaking_add(&row);                                                                        \
    }                                                                                              \
    static void id(void *unused __attribute__((unused)))

/* Nobody interrupts, and nobody looks: what is corrupt is for the row to find. */
#define CALM "preempt=none,sysmon=off"

#define BREAK(id) BREAK_IN(id, "gmp", 1, CALM)

/* The M and the scheduler of the goroutine that asks. */
#define SELF machine_self()
#define SCHED this_sched()

static inline void nothing(void *arg)
{
    (void)arg;
}

/* A goroutine that exists and is in no queue. */
static inline struct g *some_g(void)
{
    struct g *gp = g_alloc(SELF);
    gp->fn = nothing;
    return gp;
}

/* Memory for a G that the scheduler has never seen. */
static inline struct g *fake_g(void)
{
    struct g *gp = aligned_alloc(64, sizeof *gp);
    memset(gp, 0, sizeof *gp);
    gp->alive = true;
    return gp;
}

#endif
