/* trace.c - lines about the scheduler while it runs, in the format of Go's GODEBUG=schedtrace=MS,
 * so that whoever reads those reads these; with scheddetail a line for each P and M as well.
 *
 * Called by sysmon. Everything is looked at while it changes, as in Go: a line may show a moment
 * that never was. What Go prints and this runtime does not have (garbage collection, stopping the
 * world) stands there with the value of something that is off.
 *
 * Source: Go 1.26 runtime/proc.go schedtrace.
 *   Differs: of the lines of scheddetail only the first is Go's whole. A P's lacks gfreecnt and
 *            timerslen, an M's has what may be looked at while it runs, and Gs have none: they are
 *            listed only when nothing runs (deadlock.c).
 */
#include "internal.h"

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

/* relaxed, in all of the following: a look */
static void add_ps(struct text *text, struct sched *sched, bool detailed)
{
    for (int32_t i = 0; i < sched->procs; i++) {
        struct p *p = sched->allp[i];
        struct m *m = atomic_load_explicit(&p->m, memory_order_acquire); /* P2 */
        if (!detailed) {
            add(text, "%s%lld%s", i ? " " : " [ ", queued(sched, p),
                i == sched->procs - 1 ? " ]" : "");
            continue;
        }
        add(text, "  P%d: status=%d schedtick=%u syscalltick=%u m=", i, m ? 1 : 0, p_schedtick(p),
            atomic_load_explicit(&p->call, memory_order_relaxed) / 2);
        if (m)
            add(text, "%d", m->id);
        else
            add(text, "nil");
        add(text, " runqsize=%lld\n", queued(sched, p));
    }
    if (detailed)
        return;
    add(text, " schedticks=[ ");
    for (int32_t i = 0; i < sched->procs; i++)
        add(text, "%u ", p_schedtick(sched->allp[i]));
    add(text, "]\n");
}

/* The number of the P that m holds, or -1. */
static int32_t p_of(const struct sched *sched, const struct m *m)
{
    for (int32_t i = 0; i < sched->procs; i++)
        if (atomic_load_explicit(&sched->allp[i]->m, memory_order_relaxed) == m)
            return i;
    return -1;
}

static void add_ms(struct text *text, struct sched *sched)
{
    for (struct m *m = sched_first_m(sched); m; m = m->all_link) {
        int32_t p = p_of(sched, m);
        add(text, p < 0 ? "  M%d: p=nil" : "  M%d: p=%d", m->id, p);
        add(text, " blocked=%s incall=%s\n", m_is_awake(m) ? "false" : "true",
            m_in_call(m) ? "true" : "false");
    }
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
    if (detailed)
        add(&text, " gcwaiting=false nmidlelocked=%d stopwait=0 sysmonwait=false\n", locked_ms);
    add_ps(&text, sched, detailed);
    if (detailed)
        add_ms(&text, sched);
    flush(&text);
}
