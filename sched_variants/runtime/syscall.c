/* syscall.c - blocking calls: what becomes of the P of a thread that the kernel may put to sleep.
 *
 * A G that calls something that blocks takes its M with it, and would take the P too, with all that
 * is queued there. blocking_enter() and blocking_exit() mark the call; the knob `calls` says who
 * takes the P away, and when:
 *
 *   none       nobody: the P waits for the call
 *   sysmon     the M keeps it, marked; sysmon takes it when it has seen the same call twice
 *              (sysmon.c), so that a short call costs two writes
 *   immediate  the M gives it up before every call
 *   adaptive   immediate where the call site's calls have lasted long, sysmon where not
 *
 * When the call is over the M needs a P again. It takes its own if nobody has taken it; else that
 * one all the same, if its present holder is in a call itself; else any idle one. Else the G is
 * queued where every worker looks (READY_INJECTED), and the M sleeps. A variant may queue it for
 * the P that it had before (m->old_p). It never takes a P from a running M.
 *
 * p->call counts calls: even while the M that holds p runs, odd while it is in a call. Whoever
 * changes it from odd to even owns p: the M that comes back, or who takes it away.
 *   U1  release store of odd in blocking_enter()   pairs with   U2  acquiring CAS to even in
 *       p_take() (what the M did with its P is visible to who takes it)
 *   relaxed: the M's own CAS back to even, when nobody else has written anything.
 *   After 2^31 calls of one P the count repeats: an M would have to sleep through all of them.
 *
 * A G in a fork/join region of FJ_HELP cannot leave its worker (forkjoin.h); it keeps the P.
 *
 * Source: Go 1.26 runtime/proc.go reentersyscall, entersyscallblock, exitsyscall,
 *         exitsyscallTryGetP, exitsyscallNoP, handoffp.
 *   Same:    the order in which a P is looked for; a returning G goes to the global queue.
 *   Differs: the word is the P's, not the G's state; whether a P that is given up goes to another M
 *            at once asks all queues, where Go asks its own and the global one.
 *   Why:     the runtime does not know a variant's queues.
 */
#include "internal.h"

const char *const calls_words[] = {"none", "sysmon", "immediate", "adaptive", NULL};
const char *const returns_words[] = {"idle", "queue", NULL};

/* Calls of one site, by the address that it returns to: how long the last ones took. Few sites
 * matter; two that share a place mislead each other, at the price of a wrong guess. */
enum { SITES = 64, SITE_SHIFT = 2 };
struct call_sites {
    struct {
        _Atomic uintptr_t pc;
        _Atomic int64_t ns; /* moving average, a quarter of it the newest */
    } site[SITES];
};

void calls_init(struct sched *sched)
{
    if (sched->runtime->calls == CALLS_ADAPTIVE)
        sched->call_sites = sched_zalloc(sizeof *sched->call_sites, "call.sites");
}

void calls_fini(struct sched *sched)
{
    machine_free(sched->call_sites);
}

static size_t site_index(uintptr_t pc)
{
    return (size_t)((pc >> SITE_SHIFT) % SITES);
}

/* relaxed, here and below: a guess */
static bool site_is_long(struct sched *sched, uintptr_t pc)
{
    struct call_sites *sites = sched->call_sites;
    size_t i = site_index(pc);
    return atomic_load_explicit(&sites->site[i].pc, memory_order_relaxed) == pc &&
           atomic_load_explicit(&sites->site[i].ns, memory_order_relaxed) >
               sched->runtime->call_long_ns;
}

static void site_learn(struct sched *sched, uintptr_t pc, int64_t ns)
{
    struct call_sites *sites = sched->call_sites;
    size_t i = site_index(pc);
    INVARIANT(ns >= 0);
    int64_t average = atomic_load_explicit(&sites->site[i].ns, memory_order_relaxed);
    if (atomic_load_explicit(&sites->site[i].pc, memory_order_relaxed) != pc) {
        atomic_store_explicit(&sites->site[i].pc, pc, memory_order_relaxed);
        average = ns;
    }
    average += (ns - average) / 4;
    atomic_store_explicit(&sites->site[i].ns, average, memory_order_relaxed);
}

bool p_take(struct p *p, uint32_t seen)
{
    INVARIANT(seen & 1);
    return atomic_compare_exchange_strong_explicit(&p->call, &seen, seen + 1, memory_order_acquire,
                                                   memory_order_relaxed); /* U2 */
}

/* relaxed: others take it as a hint */
static void call_p_set(struct m *m, struct p *p)
{
    atomic_store_explicit(&m->call_p, p, memory_order_relaxed);
}

/* The M keeps its P, marked. */
static void enter_marked(struct m *m, struct p *p)
{
    /* relaxed: only the holder makes it odd */
    m->call_word = atomic_load_explicit(&p->call, memory_order_relaxed) + 1;
    call_p_set(m, p);
    INVARIANT(m->call_word & 1);
    atomic_store_explicit(&p->call, m->call_word, memory_order_release); /* U1 */
    sysmon_wake(m->sched);
}

void blocking_enter_at(uintptr_t site)
{
    struct m *m = machine_self();
    struct sched *sched = m->sched;
    struct p *p = m->p;
    INVARIANT(m->curg);
    INVARIANT(p);
    INVARIANT(!m_in_call(m));
    stat_add(&m->stats, STAT_CALLS, 1);
    sched_event_g(m, SCHED_CALL_BEGUN, m->curg, 0, 0);
    enum calls calls = (enum calls)sched->runtime->calls;
    if (calls == CALLS_NONE || m->fj.held)
        return;
    if (__builtin_expect(calls == CALLS_ADAPTIVE, 0)) {
        calls = site_is_long(sched, site) ? CALLS_IMMEDIATE : CALLS_SYSMON;
        m->call_pc = site;
        m->call_since = machine_now();
    }
    if (calls == CALLS_SYSMON) {
        enter_marked(m, p);
        return;
    }
    call_p_set(m, p);
    m->call_word = 0; /* p has been given up, whatever its word says */
    m->p = NULL;
    stat_add(&m->stats, STAT_HANDOFFS, 1);
    p_release(m, p);
}

void blocking_enter(void)
{
    blocking_enter_at(CALL_SITE);
}

/* A P for an M that has lost its own, or NULL. */
static struct p *p_find(struct m *m, struct p *old)
{
    struct sched *sched = m->sched;
    /* relaxed: checked by the CAS */
    uint32_t word = atomic_load_explicit(&old->call, memory_order_relaxed);
    if ((word & 1) && p_take(old, word)) {
        stat_add(&m->stats, STAT_HANDOFFS, 1);
        return old;
    }
    return sched->runtime->returns == RETURNS_IDLE ? idle_p_take(sched) : NULL;
}

static __attribute__((noinline)) void exit_without_p(struct m *m, struct p *old)
{
    m->p = NULL;
    struct p *p = p_find(m, old);
    if (p) {
        m_acquire_p(m, p);
        p_works(p);
        return;
    }
    stat_add(&m->stats, STAT_CALLS_QUEUED, 1);
    g_inject_self(m, old);
}

/* The M that began the call has left its word at P p. */
static void call_end(struct m *m, struct p *p)
{
    call_p_set(m, NULL);
    if (m->call_since) {
        site_learn(m->sched, m->call_pc, machine_now() - m->call_since);
        m->call_since = 0;
    }
    uint32_t word = m->call_word;
    /* relaxed: see above */
    if (!word || !atomic_compare_exchange_strong_explicit(
                     &p->call, &word, word + 1, memory_order_relaxed, memory_order_relaxed))
        exit_without_p(m, p);
}

void blocking_exit(void)
{
    struct m *m = machine_self();
    struct p *p = atomic_load_explicit(&m->call_p, memory_order_relaxed); /* its own word */
    sched_event_g(m, SCHED_CALL_OVER, m->curg, 0, 0);
    if (p)
        call_end(m, p);
    preempt_point(); /* also where nobody takes a P, so that loops of calls end their slices */
}

int64_t blocking_sleep(int64_t ns)
{
    blocking_enter_at(CALL_SITE);
    machine_sleep(ns);
    int64_t end = machine_now();
    blocking_exit();
    return end;
}

int64_t blocking_nop(void)
{
    blocking_enter_at(CALL_SITE);
    machine_call();
    int64_t end = machine_now();
    blocking_exit();
    return end;
}
