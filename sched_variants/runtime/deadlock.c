/* deadlock.c - tells when nothing can run any more, and says who waits for what then; and where a
 * stack overflowed. */
#include "internal.h"
#include "timer.h"

#include <stdio.h>
#include <string.h>

enum { REPORT_MAX = 20, EXIT_DEADLOCK = 70, EXIT_OVERFLOW = 70 };

struct report {
    char text[4096];
    size_t at;
    int listed, waiting;
};

static const char *const wait_words[] = {
    [WAIT_NONE] = "nothing known",
    [WAIT_CHAN_SEND] = "chan send",
    [WAIT_CHAN_RECV] = "chan receive",
    [WAIT_WAITGROUP] = "wait group",
    [WAIT_MUTEX] = "mutex",
    [WAIT_COND] = "cond",
    [WAIT_JOIN] = "join",
    [WAIT_CHILD] = "its turn",
    [WAIT_SYNC] = "fork/join sync",
    [WAIT_SLEEP] = "sleep",
    [WAIT_SELECT] = "select",
    [WAIT_SEM] = "semaphore",
    [WAIT_READ_LOCK] = "read lock",
    [WAIT_WRITE_LOCK] = "write lock",
    [WAIT_IO_READ] = "reading from descriptor",
    [WAIT_IO_WRITE] = "writing to descriptor",
    [WAIT_IO_TURN] = "its turn with descriptor",
    [WAIT_IO_CLOSE] = "the last user of descriptor",
};

static void report_g(struct g *gp, void *arg)
{
    struct report *report = arg;
    report->waiting++;
    if (report->listed >= REPORT_MAX)
        return;
    report->listed++;
    char *to = report->text + report->at;
    size_t size = sizeof report->text - report->at;
    if (!gp->last_m) /* where one that has begun keeps its worker */
        report->at += (size_t)snprintf(to, size, "  goroutine %u has not begun\n", gp->id);
    else if (!gp->wait_on)
        report->at +=
            (size_t)snprintf(to, size, "  goroutine %u%s waits for %s of none, for ever\n", gp->id,
                             gp->big_stack ? " (main)" : "", wait_words[gp->wait_reason]);
    else
        report->at += (size_t)snprintf(to, size, "  goroutine %u%s waits for %s %p\n", gp->id,
                                       gp->big_stack ? " (main)" : "", wait_words[gp->wait_reason],
                                       gp->wait_on);
}

/* Returns once: another M that has found something too does not end the process before the first
 * one has said what it is, nor write into its text. */
static void report_begin(void)
{
    static lock_t reported;
    while (!lock_try(&reported))
        machine_sleep(1000000000);
}

/* Pre: sched->lock. Relaxed: an M that is new counts before it gets anything to do. */
bool all_ms_rest(const struct sched *sched)
{
    return sched->idle_ms + sched->locked_ms ==
           atomic_load_explicit(&sched->ms, memory_order_relaxed);
}

/* Pre: sched->lock. No P is in the hand of p_release(), which is about to start an M for it, and
 * may have Gs that has_work() does not tell of. Relaxed: it changes under the lock. */
static bool all_ps_rest(const struct sched *sched)
{
    int32_t resting = atomic_load_explicit(&sched->idle_ps, memory_order_relaxed);
    for (const struct p *p = sched->retired_p; p; p = p->idle_link)
        resting++;
    return resting == sched->procs;
}

/* Pre: sched->lock, m sleeps. Nothing can ever wake anybody again: all others are on the idle list,
 * and what they did before, a new M or a timer, is visible by the lock. */
bool is_deadlock(struct sched *sched, struct m *m)
{
    return all_ms_rest(sched) && all_ps_rest(sched) && timers_earliest(sched) == INT64_MAX &&
           !m->ops->has_work(sched) && !netpoll_has_waiters(sched) && !outside_is_busy(sched) &&
           !atomic_load_explicit(&sched->stopping, memory_order_acquire); /* E2 */
}

/* Runs on g0 of the last M that went to sleep; all others sleep. */
void deadlock_report(struct sched *sched)
{
    static struct report report; /* the process ends here, and g0 may be small */
    report_begin();
    report.at = (size_t)snprintf(report.text, sizeof report.text,
                                 "schedlab: fatal: deadlock: all workers of %s are asleep and no "
                                 "goroutine can run\n",
                                 sched->ops->name);
    sched_each_g(sched, report_g, &report);
    if (report.waiting > report.listed)
        snprintf(report.text + report.at, sizeof report.text - report.at, "  and %d more\n",
                 report.waiting - report.listed);
    machine_die(report.text, EXIT_DEADLOCK);
}

/* On the signal stack of the faulting thread, whose G overran its stack if the address is in the
 * guard. */
void fault_report(const void *address)
{
    static char text[256]; /* likewise */
    struct m *m = machine_self();
    struct g *gp = m ? m->curg : NULL;
    const char *at = address;
    if (!gp || !gp->stack || at < gp->stack || at >= gp->stack + m->sched->guard_size)
        return;
    report_begin();
    snprintf(text, sizeof text,
             "schedlab: fatal: stack overflow: goroutine %u needs more than its stack of %zu KiB "
             "(--stack sets the size)\n",
             gp->id, g_stack_size(m->sched, gp) >> 10);
    machine_die(text, EXIT_OVERFLOW);
}
