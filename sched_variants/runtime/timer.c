/* timer.c - sleeping goroutines: one heap behind one lock, ordered by when the sleep ends.
 *
 * Nobody serves the heap: Ms look at sched->timers_next when they schedule, and the first idle M
 * sleeps until then (idle.c). 1:1 variants do not come here, their threads sleep in the kernel.
 *
 * Source: Go 1.26 runtime/time.go.
 *   Same:    4-ary heap; due sleepers are readied in order by whoever schedules.
 *   Differs: one heap, not one per P; sleeps that end at the same time end in the order in which
 *            they began.
 *   Why:     the order of equal ones is the scheduler's to show, not the heap's.
 *
 * A sleeper takes 24 bytes of the heap's array and nothing else beside its G. The array doubles
 * when it is full and is halved when three quarters of it are free, so that ended sleeps leave
 * nothing behind.
 *
 * Invariant, while lock is free: timers_next == when of the heap's root, INT64_MAX if empty.
 *
 * timers_next is written under the lock and read without it, relaxed at both ends: it hands nothing
 * over. A look that is out of date costs a look at the heap, or a sleep that ends one scheduling
 * point later; that no M sleeps past a timer is sched->lock's doing (sched_timer_is_earlier()).
 */
#include "internal.h"

#include <errno.h>

struct sleeper {
    int64_t when;
    uint64_t turn; /* how many sleeps began before */
    struct g *gp;
};

/* All but the lock is protected by it. */
struct timers {
    lock_t lock;
    size_t count, capacity;
    uint64_t turns;
    struct sleeper *heap;
};

enum { ARITY = 4, CAPACITY_MIN = 64 };

void timers_init(struct sched *sched)
{
    struct timers *timers = machine_alloc(sizeof *timers, 64);
    if (!timers)
        fatal_env(ENOMEM, "no memory for timers");
    *timers = (struct timers){0};
    sched->timers = timers;
    atomic_store_explicit(&sched->timers_next, INT64_MAX, memory_order_relaxed);
}

void timers_fini(struct sched *sched)
{
    machine_free(sched->timers->heap);
    machine_free(sched->timers);
}

/* Pre: lock. */
static void publish_next(struct sched *sched)
{
    struct timers *timers = sched->timers;
    int64_t next = timers->count ? timers->heap[0].when : INT64_MAX;
    atomic_store_explicit(&sched->timers_next, next, memory_order_relaxed);
}

static void heap_resize(struct timers *timers, size_t capacity)
{
    struct sleeper *heap = machine_alloc(capacity * sizeof *heap, 64);
    if (!heap)
        fatal_env(ENOMEM, "no memory for %zu timers", capacity);
    for (size_t i = 0; i < timers->count; i++)
        heap[i] = timers->heap[i];
    machine_free(timers->heap);
    timers->heap = heap;
    timers->capacity = capacity;
}

static bool sleeper_is_before(const struct sleeper *a, const struct sleeper *b)
{
    return a->when != b->when ? a->when < b->when : a->turn < b->turn;
}

static void heap_push(struct timers *timers, struct sleeper item)
{
    if (timers->count == timers->capacity)
        heap_resize(timers, timers->capacity ? timers->capacity * 2 : CAPACITY_MIN);
    size_t at = timers->count++;
    while (at > 0 && sleeper_is_before(&item, &timers->heap[(at - 1) / ARITY])) {
        timers->heap[at] = timers->heap[(at - 1) / ARITY];
        at = (at - 1) / ARITY;
    }
    timers->heap[at] = item;
}

static struct sleeper heap_pop(struct timers *timers)
{
    struct sleeper top = timers->heap[0];
    struct sleeper last = timers->heap[--timers->count];
    size_t at = 0;
    for (;;) {
        size_t first = at * ARITY + 1;
        const struct sleeper *least = &last;
        for (size_t kid = first; kid < first + ARITY && kid < timers->count; kid++)
            if (sleeper_is_before(&timers->heap[kid], least))
                least = &timers->heap[kid];
        if (least == &last)
            break;
        timers->heap[at] = *least;
        at = (size_t)(least - timers->heap);
    }
    timers->heap[at] = last;
    if (timers->count <= timers->capacity / 4 && timers->capacity > CAPACITY_MIN)
        heap_resize(timers, timers->capacity / 2);
    return top;
}

void timers_add(struct m *m, struct g *gp, int64_t when)
{
    struct sched *sched = m->sched;
    struct timers *timers = sched->timers;
    lock_acquire(&timers->lock);
    bool earliest = !timers->count || when < timers->heap[0].when;
    heap_push(timers, (struct sleeper){when, timers->turns++, gp});
    if (earliest)
        publish_next(sched);
    lock_release(&timers->lock);
    if (earliest)
        sched_timer_is_earlier(sched);
}

void timers_run(struct m *m)
{
    struct sched *sched = m->sched;
    struct timers *timers = sched->timers;
    int64_t now = machine_now();
    while (atomic_load_explicit(&sched->timers_next, memory_order_relaxed) <= now) {
        struct g *gp = NULL;
        lock_acquire(&timers->lock);
        if (timers->count && timers->heap[0].when <= now) {
            gp = heap_pop(timers).gp;
            publish_next(sched);
        }
        lock_release(&timers->lock);
        if (gp)
            g_ready(gp);
    }
}

void go_sleep(int64_t ns)
{
    struct m *m = machine_self();
    if (ns <= 0) {
        gosched();
    } else if (m->ops->thread_per_g) {
        machine_sleep(ns);
    } else {
        struct g *gp = m->curg;
        gp->wait_reason = WAIT_SLEEP;
        gp->wait_on = NULL;
        timers_add(m, gp, machine_now() + ns);
        g_park();
    }
}
