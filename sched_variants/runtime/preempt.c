/* preempt.c - a G that has run for its slice lets others run, whether it calls the runtime or not.
 *
 * sysmon sets m->preempt (sysmon.c says when). From then on the next of these ends the slice:
 *
 *   coop    a preempt_point(): go(), fj_spawn(), chan_send(), mutex_lock() and blocking_exit() have
 *           one, and go_preempt_point() is one. Not every call: at some 0.3 ns each a channel's
 *           receive would be 5 % slower, and who receives for long has somebody who sends
 *   signal  the same; besides, the M's thread is interrupted, and if it is at a safe point, the G
 *           yields right there, with all its registers kept by the kernel's signal frame
 *
 * A safe point is where all of this holds. The thread runs a G on the G's own stack. The
 * interrupted pc lies in workload code, so that no operation of the runtime is half done and no
 * allocator's lock is held. There is room on the stack for a signal frame. The G may leave its
 * worker. Elsewhere the request stays for the next preempt_point(), and sysmon interrupts again at
 * its next look.
 *   Workload code is what lies in the section workload_text: go_work(), and what the Makefile puts
 *   there: the objects of workloads/, but for those whose inlined fork/join code works on the
 *   worker itself (FJ_HELP, FJ_LINKED). No object there may name machine_self()'s word: its value
 *   would be carried to another thread. The Makefile checks it.
 *
 * A request that comes too late hits nobody: putting a G on the M clears it. Some goroutines hand
 * over to each other in one slice, by inheritance. They are stopped if the signal finds one of them
 * at a safe point, or one of them looks, before the next hand-over. sysmon asks again at each look:
 * its schedtick stays.
 *
 * The preempted G goes where READY_PREEMPTED says: the global queue, in variants that have one.
 *
 *   V1  m_enter(): release store of has_self   pairs with   V2  preempt_request(): acquire load
 *       (the thread has written down who it is)
 *
 * Source: Go 1.26 runtime/proc.go preemptone; runtime/preempt.go wantAsyncPreempt,
 *         isAsyncSafePoint; runtime/signal_unix.go doSigPreempt.
 *   Same:    who asks, who is asked, SIGURG to the thread, retry at the next look.
 *   Differs: safe points by section, where Go has tables; the kernel's signal frame holds the
 *            registers, where Go injects a call that saves them.
 */
#include "ctx.h"
#include "internal.h"

#include <errno.h>

const char *const preempt_words[] = {"none", "coop", "signal", NULL};

/* Set by the linker where a section of that name exists. */
extern char workload_text_start[] __asm__("__start_workload_text") __attribute__((weak));
extern char workload_text_end[] __asm__("__stop_workload_text") __attribute__((weak));

enum {
    ROOM = 16 << 10,     /* a signal frame with the widest registers, a handler, a yield */
    ROOM_OF_G = 4 << 10, /* and at least so much for what the G itself does */
};

static bool g_is_at_safe_point(const struct m *m, uintptr_t pc, uintptr_t sp)
{
    const struct g *gp = m->curg;
    if (!gp || !gp->stack || !m->p || m_in_call(m) || m->fj.held)
        return false;
    uintptr_t low = (uintptr_t)gp->stack + m->sched->guard_size;
    uintptr_t high = (uintptr_t)gp->stack + g_stack_size(m->sched, gp);
    return pc >= (uintptr_t)workload_text_start && pc < (uintptr_t)workload_text_end &&
           sp >= low + ROOM && sp < high;
}

/* On a signal stack of the interrupted thread, and then on the G's. */
static bool interrupt_is_welcome(uintptr_t pc, uintptr_t sp)
{
    struct m *m = machine_self();
    if (!m || !atomic_load_explicit(&m->preempt, memory_order_relaxed)) /* a request, no data */
        return false;
    if (g_is_at_safe_point(m, pc, sp))
        return true;
    stat_add(&m->stats, STAT_PREEMPTS_UNSAFE, 1);
    return false;
}

/* On the G's stack, in the middle of workload code; may come back on another thread. */
static void interrupt_take(void)
{
    struct m *m = machine_self();
    stat_add(&m->stats, STAT_PREEMPTS_SIGNAL, 1);
    preempt_self(m);
}

/* A run in which no signal could ever stop a G would say nothing of preemption. */
void preempt_init(struct sched *sched)
{
    size_t least = sched->guard_size + ROOM + ROOM_OF_G;
    if (sched->runtime->preempt != PREEMPT_SIGNAL)
        return;
    if (sched->stack_size < least)
        fatal_env(EINVAL,
                  "preempt=signal on stacks of %zu KiB, where a signal has no room; it takes "
                  "%zu KiB (--stack sets the size)",
                  sched->stack_size >> 10, least >> 10);
    if (&workload_text_start[0] == &workload_text_end[0])
        fatal_env(EINVAL,
                  "preempt=signal, but no code of workloads lies where a signal may stop it "
                  "(section workload_text); were they compiled with -flto or -ffunction-sections?");
    machine_interrupt_init(interrupt_is_welcome, interrupt_take);
}

void preempt_request(struct m *self, struct m *m)
{
    INVARIANT(self->sched == m->sched);
    /* relaxed, here and where it is read: it says only that somebody asked */
    atomic_store_explicit(&m->preempt, true, memory_order_relaxed);
    stat_add(&self->stats, STAT_PREEMPT_REQUESTS, 1);
    sched_event_m(self, SCHED_PREEMPT_ASKED, m);
    if (self->sched->runtime->preempt == PREEMPT_SIGNAL &&
        atomic_load_explicit(&m->has_self, memory_order_acquire)) /* V2 */
        machine_interrupt(&m->self);
}

void preempt_self(struct m *m)
{
    INVARIANT(m->curg);
    atomic_store_explicit(&m->preempt, false, memory_order_relaxed);
    if (m->fj.held)
        return;
    stat_add(&m->stats, STAT_PREEMPTS, 1);
    g_yield_as(m, READY_PREEMPTED);
}

void go_preempt_point(void)
{
    preempt_point();
}
