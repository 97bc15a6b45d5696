/* idle.c - Ms and Ps that have nothing to do: who sleeps, who spins, who is woken.
 *
 * The sleeping dance. Work must never lie in a queue while an idle P could run it and nobody is
 * on the way. Two sides race:
 *
 *   submitter                                  an M that found nothing
 *   S1  puts the G into a queue                I1  puts its P and itself on the idle lists
 *   S2  full fence, or in its place I3             (idle_ps + 1), under sched->lock
 *   S3  reads idle_ps and spinning             I2  if it was spinning: spinning - 1
 *   S4  an idle P and no spinner: takes both   I3  full fence, its own or on all
 *       the P and an idle M, wakes the M as
 *       a spinner                              I4  has_work() looks into every queue
 *                                              I5  work: takes itself and a P back, spins
 *                                              I6  none: sleeps on its note
 *
 * By S2 and I3 at least one of the two sees the other: either S3 sees the idle P, or I4 sees the
 * work. The knob fence says who pays for that (fence.c): both by a fence of their own; or, since
 * sleeping is rare and submitting is not, the sleeper alone. Then I3 puts a fence somewhere into
 * what the submitter's core executes. If it falls behind S1, I4 sees the work; if before, S3 sees
 * the idle P. Only a submitter that sees one fences itself, before it looks further. The private
 * children of FJ_HELP and FJ_LINKED are no work in a queue: a sleeper asks for them before I3, and
 * their owner submits them when it polls (forkjoin.h). A submitter's own fence costs as much as a
 * sixth of a yield. But I3 on all cores interrupts those that work, for microseconds each.
 *
 * Beside a ping-pong a spinner sees the other half in runnext now and then, but hardly ever gets
 * it. I1 to I5 would follow on each other without end, and take a tenth to a third of the ping-
 * pong's speed. So where there is a runnext, a spinner looks for a while before I1, about as long
 * as being woken costs. It searches on if it sees anything (look_ns). A variant may keep a G to
 * the worker that readied it (sched->keeps). Then S2 to S4 are left out on purpose: that worker
 * runs it next, and I4 alone may find it. S4 leaves the work to a spinner if the count says that
 * there is one (W1). Whoever is counted is taken off the count again later than W1 looked (W2), in
 * one of four places:
 *   m_idle()           found nothing: this is I2, and its I4 comes after S1
 *   m_stop_spinning()  found work: runs wakep_slow() itself, with its fence, so that whatever else
 *                      it saw or missed gets a spinner: the wake chain
 *   p_retire_if_asked() has lost its P and cannot look: likewise
 *   wake_chain(), wake_all()  counted a spinner in advance, and found under sched->lock no P
 *                      for one. So all Ps are held, and the first that idles after this makes
 *                      up for it: its I1 follows under that lock, and so its I4 sees the S1 of all
 *                      whom the count misled. A submitter whose S3 sees that I1 sees the corrected
 *                      count in W1 (I1 releases, S3 acquires).
 * With wake=all S4 takes all idle Ps at once, and counts a spinner for each. Waking many takes its
 * time, and the first of them may sleep again before the last is woken. Until all have found work
 * or sleep, nobody wakes them again. Rejected: all for each new G, 100 times slower on 64 cores.
 * With wake_delay_ns S4 comes later, or never (wakelater.c), with width=load S4 and I5 (width.c).
 * A woken M is taken off the idle list, with its P in nextp, under sched->lock. So an M learns
 * under that lock that it has been chosen, and is never chosen twice.
 *
 * The knob recheck, in m_idle(), shows what I4 is for. With `before` an M that searches looks while
 * it is still counted. So whoever submits after that look and before I2 leaves the work to it. An M
 * that does not search has no look. With `none` no M on its way to sleep has one. I3 stays whatever
 * the knob says, since timers rely on it. I4 of p_release() stays too: that M does not sleep.
 *
 * Order labels, beside the fences S2 and I3, which order all else in the two columns:
 *   I1  release increment of idle_ps          pairs with  S3  acquire load of it
 *   N1, N2: note.h (what the waker wrote into the M, nextp, is visible to it)
 *   P1  release store of p->m  pairs with  P2  acquire load in static_ready() (the M is complete)
 *   E1  release store of stopping  pairs with  E2  acquire loads (who stops sees all of main)
 *
 * An M without a P submits too: sysmon, and one whose blocking call is over (syscall.c). If there
 * is one P only, a sleeper's fence I3 may not interrupt that M in time. So it always fences itself,
 * by wakep_slow(). A P that its M gives up in a call (p_release()) is put on the list as in I1, and
 * I3 and I4 follow. But nobody sleeps: if I4 sees work, an M is woken as in S4. If there is work
 * before I1, the P goes to another M at once: some may be in its queue, and an idle P's is empty.
 *
 * Rejected: Go's needspinning flag. Go re-checks the queues only when the M was spinning, and needs
 * the flag for the others; here every M re-checks, which costs one look per sleep.
 * Source: Go 1.26 runtime/proc.go wakep, startm, stopm, findRunnable ("delicate dance").
 */
#include "internal.h"
#include "note.h"
#include "timer.h"

enum {
    POLL_NS = 1000000, /* how often an idle M looks by itself where nobody would wake it */
    LOOK_PAUSES = 10,  /* between two looks of m_sees_work() */
};

const char *const spinners_words[] = {"none", "half", "all", NULL};
const char *const wake_words[] = {"chain", "all", "none", NULL};
const char *const recheck_words[] = {"after", "before", "none", NULL};
const char *const watch_words[] = {"handover", "sysmon", NULL};
const char *const idle_words[] = {"lifo", "fifo", NULL};

/* The M looks itself: in m_new() its thread does not exist, and begins on that core. */
static __attribute__((noinline)) void m_acquired_special(struct m *m, struct p *p)
{
    struct sched *sched = m->sched;
    if (p->id >= sched_procs_used(sched))
        atomic_fetch_or_explicit(&m->detour, DETOUR_RETIRED, memory_order_relaxed);
    if (sched->pin && m_core(m) != p->id && machine_self() == m) {
        atomic_store_explicit(&m->core, p->id, memory_order_relaxed); /* a hint to others */
        machine_pin(p->id);
    }
}

/* relaxed: see m_acquire_p() */
void procs_use(struct sched *sched, int32_t n)
{
    INVARIANT(n >= 1 && n <= sched->procs);
    atomic_store_explicit(&sched->procs_used, n, memory_order_relaxed);
    atomic_store_explicit(&sched->plain_ps, sched->pin ? 0 : n, memory_order_relaxed);
}

void m_acquire_p(struct m *m, struct p *p)
{
    INVARIANT(!m->p);
    INVARIANT(p);
    m->p = p;
    sched_event_p(m, SCHED_P_TAKEN, p);
    atomic_store_explicit(&p->m, m, memory_order_release); /* P1 */
    machine_fence(&m->fence_scratch); /* Z2: pairs with Z1 in go_set_workers() */
    /* relaxed: by Z2 the new number is seen here, or p->m by who changes it */
    if (__builtin_expect(p->id >= atomic_load_explicit(&m->sched->plain_ps, memory_order_relaxed),
                         0))
        m_acquired_special(m, p);
}

/* Pre: sched->lock. In 1:1 variants threads that end leave their Ps on the list, uncounted. */
static bool idle_lists_are_valid(const struct sched *sched)
{
    int32_t idle_ps = atomic_load_explicit(&sched->idle_ps, memory_order_relaxed);
    return HOLDS(idle_ps >= 0 && idle_ps <= sched->procs) &&
           HOLDS(sched->ops->thread_per_g || (idle_ps == 0) == (sched->idle_p == NULL)) &&
           HOLDS((sched->idle_ms == 0) == (sched->idle_m == NULL)) &&
           HOLDS(!sched->timer_m || sched->idle_m);
}

/* Pre: sched->lock. */
static struct p *idle_p_get(struct sched *sched)
{
    struct p *p = sched->idle_p;
    if (p) {
        sysmon_wake(sched); /* Y1 */
        sched->idle_p = p->idle_link;
        /* relaxed: who sees the P as idle still, and wakes in vain, loses no work */
        atomic_fetch_sub_explicit(&sched->idle_ps, 1, memory_order_relaxed);
    }
    return p;
}

void idle_p_put(struct m *m, struct p *p)
{
    struct sched *sched = m->sched;
    INVARIANT(lock_is_held(&sched->lock));
    INVARIANT(p != sched->idle_p && !p->g_depot.full && !p->stack_depot.full);
    sched_event_p(m, SCHED_P_IDLED, p);
    p_rests(p);
    atomic_store_explicit(&p->m, NULL, memory_order_relaxed); /* there is nothing behind NULL */
    if (p->retired) {
        if (sched->ops->drain)
            sched->ops->drain(m, p);
        timers_move(p->timers, sched->allp[0]->timers); /* P 0 stays */
        p->idle_link = sched->retired_p;
        sched->retired_p = p;
        return;
    }
    struct p **at = &sched->idle_p;
    while (sched->runtime->idle == IDLE_FIFO && *at) /* no tail is kept: the list is short */
        at = &(*at)->idle_link;
    p->idle_link = *at;
    *at = p;
    atomic_fetch_add_explicit(&sched->idle_ps, 1, memory_order_release); /* I1 */
}

/* Pre: sched->lock. */
static void idle_m_put(struct sched *sched, struct m *m)
{
    struct m **at = &sched->idle_m;
    while (sched->runtime->idle == IDLE_FIFO && *at)
        at = &(*at)->idle_link;
    m->idle_link = *at;
    *at = m;
    sched->idle_ms++;
}

struct p *idle_p_take(struct sched *sched)
{
    lock_acquire(&sched->lock);
    struct p *p = idle_p_get(sched);
    INVARIANT(idle_lists_are_valid(sched));
    lock_release(&sched->lock);
    return p;
}

/* Pre: sched->lock. False if m has been chosen and taken off by a waker. */
static bool idle_m_remove(struct sched *sched, struct m *m)
{
    for (struct m **at = &sched->idle_m; *at; at = &(*at)->idle_link) {
        if (*at == m) {
            *at = m->idle_link;
            sched->idle_ms--;
            if (sched->timer_m == m) {
                sched->timer_m = NULL;
                m->watched = true;
            }
            return true;
        }
    }
    return false;
}

/* Pinned threads stay on their cores if they can. A woken thread runs on its old core before it can
 * move. If another thread has that core by now, it waits for a slice of the kernel's. It counts as
 * a spinner then, and nobody else is woken. So P i goes to the idle M on core i, and such an M
 * takes P i. Pre: sched->lock. */
static __attribute__((noinline)) struct m *idle_m_of_core(struct sched *sched, int32_t core)
{
    struct m *m = sched->idle_m;
    while (m && (m_core(m) != core || m == sched->poll_m))
        m = m->idle_link;
    return m;
}

static __attribute__((noinline)) void idle_p_of_core_first(struct sched *sched, int32_t core)
{
    struct p **at = &sched->idle_p;
    while (*at && (*at)->id != core)
        at = &(*at)->idle_link;
    struct p *p = *at;
    if (!p)
        return;
    *at = p->idle_link;
    p->idle_link = sched->idle_p;
    sched->idle_p = p;
}

static void start_new_m(struct m *self, struct p *p, bool spinning)
{
    struct sched *sched = self->sched;
    int most = (int)sched->runtime->threads_max;
    /* relaxed: a limit that two pass at once is as good */
    if (most > 0 && atomic_load_explicit(&sched->ms, memory_order_relaxed) >= most) {
        if (most < sched->procs)
            fatal("more than %d threads (knob threads_max): there are %d workers", most,
                  (int)sched->procs);
        fatal("more than %d threads (knob threads_max): too many goroutines are in blocking calls",
              most);
    }
    struct m *m = m_new(sched, p);
    m->spinning = spinning;
    stat_add(&self->stats, STAT_SPINS, spinning);
    stat_add(&self->stats, STAT_THREADS, 1);
    sched_event_m(self, SCHED_THREAD_STARTED, m);
    m_start(m);
}

/* Gives p, which has been taken off the idle list, to an idle M, or to a new one. */
static void start_p(struct m *self, struct p *p, bool spinning)
{
    struct sched *sched = self->sched;
    lock_acquire(&sched->lock);
    /* not the one that waits for I/O, as in Go, where it is not on the list: it goes on waiting */
    struct m *m = sched->idle_m;
    if (m && m == sched->poll_m)
        m = m->idle_link;
    if (__builtin_expect(sched->pin, 0)) {
        struct m *there = idle_m_of_core(sched, p->id);
        m = there ? there : m;
    }
    if (m) {
        idle_m_remove(sched, m);
        m->nextp = p;
        m->next_spinning = spinning;
    }
    lock_release(&sched->lock);
    if (!m) {
        start_new_m(self, p, spinning);
    } else if (m_note_wake(m)) {
        stat_add(&self->stats, STAT_WAKEUPS, 1);
        sched_event_m(self, SCHED_WOKEN, m);
    }
}

/* Sees to it that an M watches the timers, and the descriptors if `io`. If none does, one takes the
 * part: an idle M that is woken if self `leaves` it; else one that gets a P. It may be a new M,
 * since all others may be in blocking calls. */
static void keep_watch(struct m *self, bool leaves, bool io)
{
    struct sched *sched = self->sched;
    struct p *p = NULL;
    lock_acquire(&sched->lock);
    int64_t next = timers_earliest(sched);
    bool polls = io && netpoll_by(sched) == NETPOLL_POLL && !sched->poll_m;
    struct m *watch = sched->timer_m;
    bool late = watch && sched->timer_when > next; /* it fell asleep while P's heap was served */
    bool given = false;
    if (!watch && (polls || next != INT64_MAX)) {
        given = leaves && sched->idle_p && sched->idle_m;
        if (given) { /* has the part from now on: if it is chosen first, it passes it on */
            sched->timer_m = watch = sched->idle_m;
            sched->timer_when = next;
        } else {
            p = idle_p_get(sched);
        }
    }
    lock_release(&sched->lock);
    if (watch && (late || given || polls))
        m_block_wake(self, watch); /* it decides anew */
    if (p)
        start_p(self, p, false);
}

void start_idle_p(struct m *m)
{
    struct p *p = idle_p_take(m->sched);
    if (p)
        start_p(m, p, false);
}

void start_unwatched_p(struct m *m)
{
    struct sched *sched = m->sched;
    if (m->ops->blocks) /* each worker watches its own */
        return;
    lock_acquire(&sched->lock);
    INVARIANT(idle_lists_are_valid(sched));
    struct p *p = sched->timer_m ? NULL : idle_p_get(sched);
    lock_release(&sched->lock);
    if (p)
        start_p(m, p, false);
}

/* Counts a spinner in advance, unless there is one. W1; relaxed: ordered by S2 before it; the count
 * hands nothing over. */
static bool spinner_claim(struct sched *sched)
{
    int32_t none = 0;
    return atomic_load_explicit(&sched->spinning, memory_order_relaxed) == 0 &&
           atomic_compare_exchange_strong_explicit(&sched->spinning, &none, 1, memory_order_relaxed,
                                                   memory_order_relaxed);
}

static void wake_chain(struct m *m)
{
    struct sched *sched = m->sched;
    if (!spinner_claim(sched))
        return;
    lock_acquire(&sched->lock);
    struct p *p = idle_p_get(sched);
    if (!p) /* W2, the third case; relaxed: ordered by the lock, and for whom S3 lets in by I1 */
        atomic_fetch_sub_explicit(&sched->spinning, 1, memory_order_relaxed);
    lock_release(&sched->lock);
    machine_step("S4");
    if (p)
        start_p(m, p, true);
}

/* Pre: sched->lock. Takes all idle Ps off the list: those that find nothing are idle again before
 * the last is woken. */
static struct p *idle_p_get_all(struct sched *sched, int32_t *count)
{
    struct p *taken = NULL, *p;
    for (*count = 0; (p = idle_p_get(sched)); ++*count) {
        p->idle_link = taken;
        taken = p;
    }
    return taken;
}

/* All that it wakes are spinners, counted before the first is woken. So W1 keeps everybody from
 * waking the first of them again while this wakes the last. */
static void wake_all(struct m *m)
{
    struct sched *sched = m->sched;
    struct p *next;
    int32_t count;
    if (!spinner_claim(sched))
        return;
    lock_acquire(&sched->lock);
    struct p *p = idle_p_get_all(sched, &count);
    /* if there is none, W2, the third case; relaxed: as in wake_chain() */
    atomic_fetch_add_explicit(&sched->spinning, count - 1, memory_order_relaxed);
    lock_release(&sched->lock);
    machine_step("S4");
    for (; p; p = next) {
        next = p->idle_link;
        start_p(m, p, true);
    }
}

void wake_now(struct m *m, enum wake_policy policy)
{
    if (policy == WAKE_CHAIN)
        wake_chain(m);
    else
        wake_all(m);
}

void sched_start_all(struct m *m)
{
    struct sched *sched = m->sched;
    struct p *next;
    int32_t count;
    lock_acquire(&sched->lock);
    struct p *p = idle_p_get_all(sched, &count);
    lock_release(&sched->lock);
    for (; p; p = next) {
        next = p->idle_link;
        start_new_m(m, p, false);
    }
}

void wakep_slow(struct m *m)
{
    struct sched *sched = m->sched;
    if (m->ops->blocks || sched->runtime->wake == WAKE_NONE)
        return;
    machine_fence(&m->fence_scratch); /* S2 */
    machine_step("S2");
    int32_t idle_ps = atomic_load_explicit(&sched->idle_ps, memory_order_acquire); /* S3 */
    machine_step("S3");
    if (idle_ps == 0)
        return;
    if (sched->runtime->wake == WAKE_LATER)
        wake_later(m, idle_ps);
    else
        wake_now(m, (enum wake_policy)sched->runtime->wake);
}

void wakep_readied(struct m *m)
{
    if (!m->sched->keeps || !m->sched->keeps(m))
        wakep_slow(m);
}

/* True if there is work. */
static bool last_look(struct m *m)
{
    struct sched *sched = m->sched;
    if (sched->procs > 1 && (sched->forkjoin == FJ_HELP || sched->forkjoin == FJ_LINKED))
        fj_request_all(sched);
    fence_sleeper(m); /* I3 */
    machine_step("I3");
    bool has_work = sched->ops->has_work(sched); /* I4 */
    machine_step("I4");
    return has_work;
}

/* While p was in the hand of p_release() all Ms may have fallen asleep, and none of them could tell
 * a deadlock (all_ps_rest()). One decides anew. */
static void last_one_decides(struct m *self)
{
    struct sched *sched = self->sched;
    lock_acquire(&sched->lock);
    struct m *m = all_ms_rest(sched) ? sched->idle_m : NULL;
    lock_release(&sched->lock);
    if (m)
        m_block_wake(self, m);
}

void p_release(struct m *self, struct p *p)
{
    struct sched *sched = self->sched;
    INVARIANT(p != self->p);
    sched_event_p(self, SCHED_P_HANDED_OFF, p);
    p_rests(p);
    /* A P with Gs of its own must not become idle: thieves pass those by. With WAKE_NONE nobody
     * would ever wake an M for it. */
    if (sched->runtime->wake == WAKE_NONE || sched->ops->has_work(sched)) {
        start_p(self, p, false);
        return;
    }
    if (sched->ops->drain)
        sched->ops->drain(self, p); /* what nobody may steal is no work to has_work() */
    p_depots_empty(sched, p);
    lock_acquire(&sched->lock);
    idle_p_put(self, p); /* I1 */
    machine_step("I1");
    fence_sleeper_comes(self);
    lock_release(&sched->lock);
    if (last_look(self)) {
        wakep_slow(self);
        return;
    }
    keep_watch(self, false, netpoll_has_waiters(sched));
    last_one_decides(self);
}

/* I3 to I5. True: m has a P again. */
static bool m_recheck(struct m *m)
{
    struct sched *sched = m->sched;
    if (!last_look(m) || !may_go_on(m))
        return false;
    lock_acquire(&sched->lock);
    struct p *p = NULL;
    if (sched->pin)
        idle_p_of_core_first(sched, m_core(m));
    if (sched->idle_p && idle_m_remove(sched, m))
        p = idle_p_get(sched);
    lock_release(&sched->lock);
    if (!p)
        return false; /* another M has been given the P, or this one has */
    machine_step("I5");
    m_acquire_p(m, p);
    m->spinning = true;
    /* relaxed: a W1 that misses it wakes one M more */
    atomic_fetch_add_explicit(&sched->spinning, 1, memory_order_relaxed);
    stat_add(&m->stats, STAT_SPINS, 1);
    sched_event(m, SCHED_SPUN, NULL, 0, 0);
    return true;
}

/* Pre: sched->lock, m is on the idle list. How long m may sleep: the first idle M sleeps until the
 * next timer of all heaps. One that comes later takes the part over if there is an earlier timer by
 * now: nobody was told of it if no P was idle when it was added. */
static int64_t m_sleep_limit(struct m *m)
{
    struct sched *sched = m->sched;
    int64_t next = timers_earliest(sched);
    if (sched->timer_m && sched->timer_m != m && sched->timer_when <= next)
        return -1;
    if (next == INT64_MAX) {
        sched->timer_m = NULL; /* if it was m: it sleeps without an end now */
        return -1;
    }
    sched->timer_m = m;
    sched->timer_when = next;
    return timers_wait_ns(sched, next);
}

/* Pre: sched->lock, m is on the idle list. Is m the one to wait for I/O? Only while a P is idle. An
 * M without a P for the ready Gs could only push them to busy workers, and these look themselves
 * when they run dry. *limit then is how long. */
static bool m_becomes_poller(struct m *m, int64_t *limit)
{
    struct sched *sched = m->sched;
    if (sched->poll_m || !sched->idle_p || netpoll_by(sched) != NETPOLL_POLL ||
        !netpoll_has_waiters(sched))
        return false;
    int64_t next = timers_earliest(sched);
    sched->poll_m = m;
    sched->timer_m = m;
    sched->timer_when = next;
    *limit = next == INT64_MAX ? -1 : timers_wait_ns(sched, next);
    return true;
}

/* The result of one turn of m_sleep(), and orders for the next. */
struct nap {
    bool due;       /* m woke by itself */
    struct g *list; /* I/O has made them ready */
    bool chosen, stuck, polls;
    int64_t limit;
};

/* Under sched->lock. */
static void nap_decide(struct m *m, struct nap *nap)
{
    struct sched *sched = m->sched;
    lock_acquire(&sched->lock);
    bool polled = sched->poll_m == m;
    if (polled)
        sched->poll_m = NULL;
    if (!m->nextp && (nap->due || nap->list) && sched->idle_p && idle_m_remove(sched, m)) {
        if (sched->pin)
            idle_p_of_core_first(sched, m_core(m));
        m->nextp = idle_p_get(sched);
        m->next_spinning = false;
    }
    nap->chosen = m->nextp != NULL;
    m->watched |= nap->chosen && polled;
    /* all Ps are busy: whoever gives one up looks after the timers */
    if ((nap->due || nap->list) && sched->timer_m == m)
        sched->timer_m = NULL;
    nap->limit = -1;
    nap->polls = false;
    if (!nap->chosen && !nap->due && !nap->list) {
        nap->polls = m_becomes_poller(m, &nap->limit);
        if (!nap->polls)
            nap->limit = m_sleep_limit(m);
    }
    nap->stuck = !nap->chosen && !nap->list && is_deadlock(sched, m);
    lock_release(&sched->lock);
    if (sched->runtime->wake == WAKE_NONE && (nap->limit < 0 || nap->limit > POLL_NS))
        nap->limit = POLL_NS;
}

/* Sleeps until chosen, or until a timer, I/O or poll is due and a P is free (true: m->nextp is
 * set), or the run is over. *list: what I/O has made ready. */
static bool m_sleep(struct m *m, struct g **list)
{
    struct sched *sched = m->sched;
    struct nap nap = {.due = false};
    for (;;) {
        nap_decide(m, &nap);
        if (atomic_load_explicit(&sched->stopping, memory_order_acquire)) /* E2 */
            return false;
        if (nap.stuck)
            deadlock_report(sched);
        *list = nap.list;
        if (nap.chosen)
            return true;
        bool injects = nap.list != NULL;
        if (injects)
            sched_inject(sched, nap.list); /* no P is free */
        nap.list = NULL;
        nap.due = false;
        if (injects)
            continue;
        if (!m_note_prepare(m, nap.polls ? NOTE_POLLING : NOTE_SLEEPING_TIMED))
            continue;
        machine_step("I6");
        bool woken;
        if (nap.polls)
            nap.list = m_note_poll(m, nap.limit, &woken);
        else
            woken = m_note_sleep(m, NOTE_SLEEPING_TIMED, nap.limit);
        nap.due = !woken && (nap.limit >= 0 || nap.polls);
    }
}

/* Between the last look of an M that holds a P and I1. */
static void m_dawdle(int64_t ns)
{
    int64_t end = machine_now() + ns;
    while (machine_now() < end)
        machine_pause(32);
}

/* Pre: m spins. Is there something to search on for? Looks more than once: what a busy P has only
 * for moments, like the other one of a ping-pong in runnext, is there in some of them. */
static bool m_sees_work(struct m *m)
{
    if (width_is_over(m->sched))
        return false;
    int64_t end = machine_now() + m->sched->look_ns;
    do {
        if (m->ops->has_work(m->sched))
            return true;
        machine_pause(LOOK_PAUSES);
    } while (machine_now() < end);
    return false;
}

static int32_t list_length(const struct g *list)
{
    int32_t n = 0;
    for (; list; list = list->link)
        n++;
    return n;
}

/* m goes on with a P. If it watched, another M takes that over, with the descriptors if `io`. m
 * itself serves what is due in all heaps: no other P may be idle, and I/O that is always ready
 * would keep m from looking (proc.c). */
static void m_passes_watch_on(struct m *m, bool io)
{
    const struct runtime_knobs *knobs = m->sched->runtime;
    if (!m->watched || knobs->watch != WATCH_HANDOVER || knobs->wake == WAKE_NONE)
        return;
    keep_watch(m, true, io);
    timers_check(m);
    timers_run_others(m);
}

void m_idle(struct m *m)
{
    struct sched *sched = m->sched;
    bool had_p = m->p;
    INVARIANT(!m->curg);
    INVARIANT(!m->locked_g);
    INVARIANT(!m->ops->blocks);
    int64_t recheck = sched->runtime->recheck;
    if (sched->look_ns > 0 && m->spinning && m_sees_work(m))
        return;
    if (recheck == RECHECK_BEFORE && m->spinning && !width_is_over(sched) &&
        sched->ops->has_work(sched))
        return;
    if (had_p && sched->runtime->dawdle_ns > 0)
        m_dawdle(sched->runtime->dawdle_ns);
    lock_acquire(&sched->lock);
    if (had_p) {
        idle_p_put(m, m->p); /* I1 */
        machine_step("I1");
        fence_sleeper_comes(m);
    }
    m->p = NULL;
    m->nextp = NULL;
    m->watched = false;
    idle_m_put(sched, m);
    lock_release(&sched->lock);
    if (m->spinning) {
        m->spinning = false;
        /* I2, W2; relaxed: ordered by I3, which follows in any case */
        atomic_fetch_sub_explicit(&sched->spinning, 1, memory_order_relaxed);
        machine_step("I2");
    }
    if (had_p && recheck != RECHECK_AFTER) {
        fence_sleeper(m); /* I3: whoever sleeps until a timer relies on it too */
    } else if (had_p && m_recheck(m)) {
        m_passes_watch_on(m, netpoll_has_waiters(sched));
        return;
    }
    struct g *list;
    if (!m_sleep(m, &list))
        return;
    m_acquire_p(m, m->nextp);
    m->nextp = NULL; /* m_wait_locked() asks for the next one */
    m->spinning = m->next_spinning;
    stat_add(&m->stats, STAT_SPINS, m->spinning);
    sched_event_if(m, SCHED_SPUN, m->spinning);
    /* before others run those of the list, and are waiters no more */
    bool io = netpoll_waiters(sched) > list_length(list);
    m->polled = netpoll_put(m, list);
    m_passes_watch_on(m, io);
}

void m_leave_queue(struct m *m)
{
    if (m->ops->drain && m->ops->drain(m, NULL))
        wakep_slow(m); /* on their way they were in no queue, and somebody may have looked */
}

/* Locked Gs (thread.c) ---------------------------------------------------------------------- */

struct g *m_wait_locked(struct m *m)
{
    struct sched *sched = m->sched;
    struct p *p = m->p;
    INVARIANT(m->locked_g);
    if (p) {
        m_leave_queue(m);
        m->p = NULL;
        p_release(m, p);
    }
    lock_acquire(&sched->lock);
    sched->locked_ms++;
    while (!m->nextp) { /* written under the lock: wakes that are not for it may come at any time */
        bool stuck = is_deadlock(sched, m);
        lock_release(&sched->lock);
        if (atomic_load_explicit(&sched->stopping, memory_order_acquire)) /* E2 */
            return NULL;
        if (stuck)
            deadlock_report(sched);
        if (m_note_prepare(m, NOTE_SLEEPING_TIMED))
            m_note_sleep(m, NOTE_SLEEPING_TIMED, -1);
        lock_acquire(&sched->lock);
    }
    lock_release(&sched->lock);
    m_acquire_p(m, m->nextp);
    m->nextp = NULL;
    return m->locked_g;
}

void m_start_locked(struct m *m, struct g *gp)
{
    struct sched *sched = m->sched;
    struct m *to = gp->locked_m;
    struct p *p = m->p;
    INVARIANT(p);
    INVARIANT(gp->locked);
    INVARIANT(to != m);
    m_leave_queue(m);
    p_rests(p);
    m->p = NULL;
    lock_acquire(&sched->lock);
    sched->locked_ms--; /* counted before or after: it waits, or is about to */
    to->nextp = p;      /* all that it is told: it may still be on its way to sleep */
    lock_release(&sched->lock);
    stat_add(&m->stats, STAT_LOCKED_STARTS, 1);
    if (m_note_wake(to)) {
        stat_add(&m->stats, STAT_WAKEUPS, 1);
        sched_event_m(m, SCHED_WOKEN, to);
    }
}

/* The watch: sched->timer_m sleeps until the earliest timer of all heaps, poll_m in the poller;
 * usually they are one. No M that watches sleeps past a timer. As in the sleeping dance, with the
 * heap as the queue: the timer is S1, this is S2 and S3, and what follows I3 is m_sleep_limit().
 * While no P is idle, no M needs to be told: whoever gives a P up looks at all heaps. The M that
 * watches may leave, for I/O, a timer or work that it is woken for. With watch=handover it then
 * gives its part to another M, a new one if none idles: somebody watches while a P is idle.
 * With watch=sysmon nobody may, until an M idles, or sysmon finds a timer overdue or descriptors
 * not looked at for long. With sysmon=off the Ms that look for work serve timers first (proc.c). */
void sched_timer_is_earlier(struct m *self, int64_t when)
{
    struct sched *sched = self->sched;
    INVARIANT(!self->ops->blocks);
    if (nobody_idles(sched))
        return;
    machine_fence(&self->fence_scratch);                                  /* S2 */
    if (atomic_load_explicit(&sched->idle_ps, memory_order_acquire) == 0) /* S3 */
        return;
    lock_acquire(&sched->lock);
    struct m *m = sched->timer_m ? sched->timer_m : sched->idle_m;
    bool in_time = sched->timer_m && sched->timer_when <= when;
    if (m && !in_time && sched->runtime->watch == WATCH_HANDOVER) { /* has the part from now on */
        sched->timer_m = m;
        sched->timer_when = when;
    }
    lock_release(&sched->lock);
    if (in_time)
        return;
    if (m)
        m_note_wake(m);
    else
        wakep_slow(self);
}
