/* trace.c - lines about the scheduler while it runs, in the format of Go's GODEBUG=schedtrace=MS,
 * so that readers of those can read these. With scheddetail also a line for each P and M.
 *
 * Called by sysmon. Everything is looked at while it changes, as in Go: a line may show a moment
 * that never was. Fields that Go prints and this runtime does not have (garbage collection,
 * stopping the world, locks that forbid preemption) stand there with the value of something that is
 * off.
 *
 * Source: Go 1.26 runtime/proc.go schedtrace.
 *   Same:    lines, fields and their order but for one or two more at the end (add_waste()); the
 *            numbers of states; nothing ends meanwhile that is told of (here by g_lock, so that
 *            memory of ended Gs stays).
 *   Differs: the first line comes when the first MS are over, not at 0 ms; sysmon is no M here, so
 *            it is not counted among the threads and has no line; gfreecnt is the M's that holds
 *            the P, whose caches they are here; with one heap of timers for all its length stands
 *            at each P. The words for what a G waits for are Go's where Go has that wait, and only
 *            those of the last one that has not come to its end.
 */
#include "internal.h"
#include "timer.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { TEXT = 1 << 14, FLUSH_AT = TEXT - 512, ONE_MS = 1000000 };

struct text {
    int fd;
    size_t at;
    char chars[TEXT];
};

static void flush(struct text *text)
{
    machine_print(text->fd, text->chars, text->at);
    text->at = 0;
}

static __attribute__((format(printf, 2, 3))) void add(struct text *text, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int n = vsnprintf(text->chars + text->at, TEXT - text->at, format, args);
    va_end(args);
    text->at += (size_t)n < TEXT - text->at ? (size_t)n : TEXT - text->at - 1;
    if (text->at > FLUSH_AT)
        flush(text);
}

static long long queued(struct sched *sched, struct p *p)
{
    return sched->ops->queued ? sched->ops->queued(sched, p) : 0;
}

/* relaxed, in all of the following: a look. PEEK is one at what its owner writes without care for
 * others; what is found is printed and nothing else. */
#define PEEK(place) (*(const volatile __typeof__(place) *)&(place))
#define PEEKS __attribute__((no_sanitize("thread")))

static void add_queues(struct text *text, struct sched *sched)
{
    for (int32_t i = 0; i < sched->procs; i++)
        add(text, "%s%lld%s", i ? " " : " [ ", queued(sched, sched->allp[i]),
            i == sched->procs - 1 ? " ]" : "");
    add(text, " schedticks=[ ");
    for (int32_t i = 0; i < sched->procs; i++)
        add(text, "%u ", p_schedtick(sched->allp[i]));
    add(text, "]");
}

/* Go has no such field; its readers skip what they do not know. */
static void add_waste(struct text *text, const struct sched *sched)
{
    if (sched->width)
        add(text, " width=%d", width_now(sched));
    if (MACHINE_KNOWS_WASTE)
        add(text, " wastedns=%lld\n", (long long)machine_wasted_ns());
    else
        add(text, " wastedsamples=%llu\n",
            (unsigned long long)sysmon_stat(sched, STAT_WASTED_SAMPLES));
}

static void add_number_or_nil(struct text *text, const char *key, bool some, int64_t number)
{
    if (some)
        add(text, "%s%lld", key, (long long)number);
    else
        add(text, "%snil", key);
}

/* The states of a P in Go that occur here. */
enum { P_IDLE = 0, P_RUNNING = 1, P_DEAD = 4 };

PEEKS static void add_ps(struct text *text, struct sched *sched)
{
    for (int32_t i = 0; i < sched->procs; i++) {
        struct p *p = sched->allp[i];
        struct m *m = atomic_load_explicit(&p->m, memory_order_acquire); /* P2 */
        add(text, "  P%d: status=%d schedtick=%u syscalltick=%u", i,
            m                  ? P_RUNNING
            : PEEK(p->retired) ? P_DEAD
                               : P_IDLE,
            p_schedtick(p), atomic_load_explicit(&p->call, memory_order_relaxed) / 2);
        add_number_or_nil(text, " m=", m, m ? m->id : 0);
        add(text, " runqsize=%lld gfreecnt=%u timerslen=%zu\n", queued(sched, p),
            m ? PEEK(m->cache.gs_count) : 0, PEEK(p->timers->count));
    }
}

/* The number of the P that m holds, or -1. */
static int32_t p_of(const struct sched *sched, const struct m *m)
{
    for (int32_t i = 0; i < sched->procs; i++)
        if (atomic_load_explicit(&sched->allp[i]->m, memory_order_relaxed) == m)
            return i;
    return -1;
}

PEEKS static void add_ms(struct text *text, struct sched *sched)
{
    for (struct m *m = sched_first_m(sched); m; m = m->all_link) {
        int32_t p = p_of(sched, m);
        /* pre: g_lock; what it runs, or ends just now, is in its cache at worst */
        const struct g *curg = PEEK(m->curg), *locked = PEEK(m->locked_g);
        add(text, "  M%d:", m->id);
        add_number_or_nil(text, " p=", p >= 0, p);
        add_number_or_nil(text, " curg=", curg, curg ? PEEK(curg->id) : 0);
        add(text, " mallocing=0 throwing=0 preemptoff= locks=0 dying=0 spinning=%s blocked=%s",
            PEEK(m->spinning) ? "true" : "false", m_is_awake(m) ? "false" : "true");
        add_number_or_nil(text, " lockedg=", locked, locked ? PEEK(locked->id) : 0);
        add(text, "\n");
    }
}

/* The states of a G in Go that occur here. */
enum { G_RUNNABLE = 1, G_RUNNING = 2, G_SYSCALL = 3, G_WAITING = 4 };

static const char *const reasons[] = {
    [WAIT_NONE] = "",
    [WAIT_CHAN_SEND] = "chan send",
    [WAIT_CHAN_RECV] = "chan receive",
    [WAIT_WAITGROUP] = "sync.WaitGroup.Wait",
    [WAIT_MUTEX] = "sync.Mutex.Lock",
    [WAIT_COND] = "sync.Cond.Wait",
    [WAIT_JOIN] = "join",
    [WAIT_SYNC] = "fork/join sync",
    [WAIT_SLEEP] = "sleep",
    [WAIT_IO_READ] = "IO wait",
    [WAIT_IO_WRITE] = "IO wait",
    [WAIT_IO_TURN] = "semacquire",
    [WAIT_IO_CLOSE] = "semacquire",
    [WAIT_CHILD] = "",
    [WAIT_SELECT] = "select",
    [WAIT_SEM] = "semacquire",
    [WAIT_READ_LOCK] = "sync.RWMutex.RLock",
    [WAIT_WRITE_LOCK] = "sync.RWMutex.Lock",
};

/* A parent whose child runs, and waits for nothing but its turn, is runnable. */
static int g_status(bool runs, const struct m *m, unsigned reason)
{
    if (runs)
        return m && m_in_call(m) ? G_SYSCALL : G_RUNNING;
    return reason == WAIT_NONE || reason == WAIT_CHILD ? G_RUNNABLE : G_WAITING;
}

PEEKS static void add_g(struct g *gp, void *arg)
{
    struct text *text = arg;
    bool runs = atomic_load_explicit(&gp->on_cpu, memory_order_relaxed);
    const struct m *m = PEEK(gp->last_m), *locked = gp->locked ? PEEK(gp->locked_m) : NULL;
    unsigned reason = PEEK(gp->wait_reason);
    add(text, "  G%u: status=%d(%s)", gp->id, g_status(runs, m, reason), reasons[reason]);
    add_number_or_nil(text, " m=", runs && m, m ? m->id : 0);
    add_number_or_nil(text, " lockedm=", locked, locked ? locked->id : 0);
    add(text, "\n");
}

void schedtrace(struct sched *sched, int64_t since_start_ns, bool detailed)
{
    static struct text text; /* sysmon's only */
    text.fd = sched->schedtrace_fd;
    int32_t idle_ms, locked_ms;
    lock_acquire(&sched->lock);
    idle_ms = sched->idle_ms;
    locked_ms = sched->locked_ms;
    lock_release(&sched->lock);
    add(&text,
        "SCHED %lldms: gomaxprocs=%d idleprocs=%d threads=%d spinningthreads=%d needspinning=0 "
        "idlethreads=%d runqueue=%lld",
        (long long)(since_start_ns / ONE_MS),
        sched->ops->thread_per_g ? sched->workers : sched_procs_used(sched),
        atomic_load_explicit(&sched->idle_ps, memory_order_relaxed),
        atomic_load_explicit(&sched->ms, memory_order_relaxed),
        atomic_load_explicit(&sched->spinning, memory_order_relaxed), idle_ms, queued(sched, NULL));
    if (!detailed) {
        add_queues(&text, sched);
        add_waste(&text, sched);
    } else {
        add(&text, " gcwaiting=false nmidlelocked=%d stopwait=0 sysmonwait=false", locked_ms);
        add_waste(&text, sched);
        add_ps(&text, sched);
        lock_acquire(&sched->g_lock);
        add_ms(&text, sched);
        sched_each_g(sched, add_g, &text);
        lock_release(&sched->g_lock);
    }
    flush(&text);
}
