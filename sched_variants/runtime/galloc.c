/* galloc.c - Gs and stacks: caches per M, global lists behind one lock, slabs from the machine.
 *
 * A G is made without a stack; it gets one when it first runs and gives it back when it ends, so
 * a million spawned Gs that run one after the other share one hot stack.
 *
 * Source: Go 1.26 runtime/proc.go gfget, gfput.
 *   Same:    the cache spills at 64 down to 32 and refills 32.
 *   Differs: caches belong to the M, not the P; stacks are cached apart from Gs.
 *   Why:     the variants without Go's P need no P for it, and a G that never ran has no stack.
 *
 * A free stack holds, in its topmost words, the link to the next one, and for ThreadSanitizer its
 * fiber and the context in which its last G ended: there a stack is not started afresh but goes
 * on in g_entry()'s loop, because the fiber's own record of calls cannot be cut back.
 * Stack tops are staggered by some lines, because tops at equal offsets in a page would all fall
 * into the same few sets of the L1 cache.
 */
#include "ctx.h"
#include "internal.h"

#include <errno.h>
#include <string.h>

enum {
    GS_PER_SLAB = 64,
    STACKS_PER_SLAB = 64,
    CACHE_SPILL = 64,
    CACHE_REFILL = 32,
    STAGGER_STEPS = 16,
    STAGGER_BYTES = 192,
};

struct g_slab {
    struct g_slab *next;
    _Alignas(
        64) struct g gs[GS_PER_SLAB]; /* a G is two lines: what a switch and what a wake touch */
};
_Static_assert(sizeof(struct g) % 64 == 0, "Gs in a slab start on cache lines");

struct stack_slab {
    struct stack_slab *next;
    char *base;
    size_t count, size;
};

struct stack_top {
    char *link;
    char *start; /* where the first frame begins; constant */
    void *fiber;
    void *ended_sp;
};

static struct stack_top *stack_top(const struct sched *sched, char *stack)
{
    return (struct stack_top *)(stack + sched->stack_size) - 1;
}

/* Where the first frame of a stack begins: 16-byte aligned, below the words above. */
static char *stack_start(char *stack, size_t size)
{
    size_t step = ((uintptr_t)stack / size) % STAGGER_STEPS;
    char *start = stack + size - sizeof(struct stack_top) - step * STAGGER_BYTES;
    return (char *)((uintptr_t)start & ~(uintptr_t)15);
}

/* Gs ---------------------------------------------------------------------------------------- */

static void gs_map(struct sched *sched)
{
    struct g_slab *slab = machine_alloc(sizeof *slab, 64);
    if (!slab)
        fatal_env(ENOMEM, "no memory for goroutines");
    memset(slab, 0, sizeof *slab);
    slab->next = sched->g_slabs;
    sched->g_slabs = slab;
    for (int i = GS_PER_SLAB - 1; i >= 0; i--) {
        slab->gs[i].id = sched->next_id + (uint32_t)i;
        slab->gs[i].link = sched->free_gs;
        sched->free_gs = &slab->gs[i];
    }
    sched->next_id += GS_PER_SLAB;
}

static void gs_refill(struct m *m)
{
    struct sched *sched = m->sched;
    lock_acquire(&sched->g_lock);
    if (!sched->free_gs)
        gs_map(sched);
    do {
        struct g *gp = sched->free_gs;
        sched->free_gs = gp->link;
        gp->link = m->cache.gs;
        m->cache.gs = gp;
        m->cache.gs_count++;
    } while (sched->free_gs && m->cache.gs_count < CACHE_REFILL);
    lock_release(&sched->g_lock);
}

/* Keeps the `keep` newest: the newest of all may be a G that ends in this very call. */
static void gs_spill(struct m *m, uint32_t keep)
{
    struct sched *sched = m->sched;
    struct g **at = &m->cache.gs;
    for (uint32_t i = 0; i < keep; i++)
        at = &(*at)->link;
    struct g *spilled = *at;
    *at = NULL;
    lock_acquire(&sched->g_lock);
    while (spilled) {
        struct g *gp = spilled;
        spilled = gp->link;
        gp->link = sched->free_gs;
        sched->free_gs = gp;
    }
    lock_release(&sched->g_lock);
    m->cache.gs_count = keep;
}

static void peak_raise(_Atomic int64_t *peak, int64_t value)
{
    int64_t old = atomic_load_explicit(peak, memory_order_relaxed); /* a statistic orders nothing */
    while (old < value && !atomic_compare_exchange_weak_explicit(
                              peak, &old, value, memory_order_relaxed, memory_order_relaxed))
        continue;
}

static void live_hand_in(struct m *m)
{
    int64_t before = atomic_fetch_add_explicit(&m->sched->live_gs, m->live, memory_order_relaxed);
    int64_t most = atomic_load_explicit(&m->live_max, memory_order_relaxed); /* own word */
    peak_raise(&m->sched->live_gs_peak, before + most);
    m->live = 0;
    atomic_store_explicit(&m->live_max, 0, memory_order_relaxed);
}

struct g *g_alloc(struct m *m)
{
    if (__builtin_expect(!m->cache.gs, 0))
        gs_refill(m);
    struct g *gp = m->cache.gs;
    m->cache.gs = gp->link;
    m->cache.gs_count--;
    gp->link = NULL;
    gp->frame = NULL;
    gp->started = false;
    gp->big_stack = false;
    gp->child_returned = false;
    gp->tag = 0;
    gp->alive = true;
    atomic_store_explicit(&gp->on_cpu, 0, memory_order_relaxed); /* nobody else knows this G yet */
    stat_add(&m->stats, STAT_GS_CREATED, 1);
    if (++m->live > atomic_load_explicit(&m->live_max, memory_order_relaxed))
        atomic_store_explicit(&m->live_max, m->live, memory_order_relaxed); /* a statistic */
    if (m->live >= m->sched->live_step)
        live_hand_in(m);
    if (m->sched->exact) {
        m->unstarted++;
        stat_max(&m->stats, STAT_UNSTARTED_GS_PEAK, (uint64_t)m->unstarted);
    }
    return gp;
}

void g_free(struct m *m, struct g *gp)
{
    gp->alive = false;
    gp->link = m->cache.gs;
    m->cache.gs = gp;
    if (++m->cache.gs_count >= CACHE_SPILL)
        gs_spill(m, CACHE_REFILL);
    if (--m->live <= -m->sched->live_step)
        live_hand_in(m);
}

/* The largest sum handed in, or what it would be if all Ms had been at their largest at once now.
 * */
uint64_t sched_live_peak(struct sched *sched)
{
    int64_t peak = atomic_load_explicit(&sched->live_gs_peak, memory_order_relaxed);
    int64_t now = atomic_load_explicit(&sched->live_gs, memory_order_relaxed);
    for (struct m *m = sched_first_m(sched); m; m = m->all_link)
        now += atomic_load_explicit(&m->live_max, memory_order_relaxed);
    return (uint64_t)(now > peak ? now : peak);
}

/* Stacks ------------------------------------------------------------------------------------ */

void **g_ended_sp(const struct sched *sched, char *stack)
{
    return &stack_top(sched, stack)->ended_sp;
}

static char *stacks_map(struct sched *sched, size_t count, size_t size)
{
    struct stack_slab *slab = machine_alloc(sizeof *slab, 16);
    size_t guarded = 0;
    char *base = slab ? machine_stacks_map(count, size, &guarded) : NULL;
    if (!base)
        fatal_env(ENOMEM, "no address space for %zu goroutine stacks of %zu bytes", count, size);
    sched->stacks_mapped += count;
    sched->stacks_unguarded += count - guarded;
    *slab = (struct stack_slab){sched->stack_slabs, base, count, size};
    sched->stack_slabs = slab;
    return base;
}

static void stacks_refill(struct m *m)
{
    struct sched *sched = m->sched;
    size_t want = sched->ops->thread_per_g ? 1 : CACHE_REFILL;
    lock_acquire(&sched->g_lock);
    if (!sched->free_stacks) {
        char *base = stacks_map(sched, STACKS_PER_SLAB, sched->stack_size);
        for (int i = STACKS_PER_SLAB - 1; i >= 0; i--) {
            char *stack = base + (size_t)i * sched->stack_size;
            stack_top(sched, stack)->start = stack_start(stack, sched->stack_size);
            stack_top(sched, stack)->link = sched->free_stacks;
            sched->free_stacks = stack;
        }
    }
    while (sched->free_stacks && m->cache.stacks_count < want) {
        char *stack = sched->free_stacks;
        sched->free_stacks = stack_top(sched, stack)->link;
        stack_top(sched, stack)->link = m->cache.stacks;
        m->cache.stacks = stack;
        m->cache.stacks_count++;
        sched->stacks_out++;
    }
    /* relaxed: a statistic, written under the lock */
    if (sched->stacks_out > atomic_load_explicit(&sched->stacks_out_peak, memory_order_relaxed))
        atomic_store_explicit(&sched->stacks_out_peak, sched->stacks_out, memory_order_relaxed);
    lock_release(&sched->g_lock);
}

/* Keeps the `keep` newest: the newest of all may be the stack this very call runs on. */
static void stacks_spill(struct m *m, uint32_t keep)
{
    struct sched *sched = m->sched;
    char **at = &m->cache.stacks;
    for (uint32_t i = 0; i < keep; i++)
        at = &stack_top(sched, *at)->link;
    char *spilled = *at;
    *at = NULL;
    lock_acquire(&sched->g_lock);
    sched->stacks_out -= m->cache.stacks_count - keep;
    while (spilled) {
        char *stack = spilled;
        spilled = stack_top(sched, stack)->link;
        stack_top(sched, stack)->link = sched->free_stacks;
        sched->free_stacks = stack;
    }
    lock_release(&sched->g_lock);
    m->cache.stacks_count = keep;
}

static void g_bind_big_stack(struct m *m, struct g *gp)
{
    lock_acquire(&m->sched->g_lock);
    gp->stack = stacks_map(m->sched, 1, STACK_SIZE_MAIN);
    gp->sp = stack_start(gp->stack, STACK_SIZE_MAIN);
    lock_release(&m->sched->g_lock);
#if defined(CTX_TSAN)
    gp->fiber = m->sched->main_fiber = __tsan_create_fiber(0);
#endif
}

void g_bind_stack(struct m *m, struct g *gp)
{
    if (gp->big_stack) {
        g_bind_big_stack(m, gp);
    } else {
        if (__builtin_expect(!m->cache.stacks, 0))
            stacks_refill(m);
        gp->stack = m->cache.stacks;
        struct stack_top *top = stack_top(m->sched, gp->stack);
        gp->sp = top->start;
        m->cache.stacks = top->link;
        m->cache.stacks_count--;
#if defined(CTX_TSAN)
        if (!top->fiber)
            top->fiber = __tsan_create_fiber(0);
        gp->fiber = top->fiber;
        if (top->ended_sp) {
            gp->sp = top->ended_sp;
            return;
        }
#endif
    }
#if defined(CTX_ASAN)
    /* the frames of the G before ended by a jump and left their red zones behind */
    __asan_unpoison_memory_region(gp->stack + m->sched->guard_size,
                                  g_stack_size(m->sched, gp) - m->sched->guard_size);
#endif
    gp->sp = ctx_prepare(gp->sp);
}

void g_release_stack(struct m *m, struct g *gp)
{
    char *stack = gp->stack;
    gp->stack = NULL;
    if (gp->big_stack)
        return; /* unmapped with the slabs; the process has one */
    stack_top(m->sched, stack)->link = m->cache.stacks;
    m->cache.stacks = stack;
    if (++m->cache.stacks_count >= CACHE_SPILL)
        stacks_spill(m, CACHE_REFILL);
}

/* ------------------------------------------------------------------------------------------- */

void m_cache_flush(struct m *m)
{
    live_hand_in(m);
    gs_spill(m, 0);
    stacks_spill(m, 0);
}

void galloc_fini(struct sched *sched)
{
#if defined(CTX_TSAN)
    if (sched->main_fiber)
        __tsan_destroy_fiber(sched->main_fiber);
    for (char *stack = sched->free_stacks; stack; stack = stack_top(sched, stack)->link)
        if (stack_top(sched, stack)->fiber)
            __tsan_destroy_fiber(stack_top(sched, stack)->fiber);
#endif
    while (sched->stack_slabs) {
        struct stack_slab *slab = sched->stack_slabs;
        sched->stack_slabs = slab->next;
        machine_stacks_unmap(slab->base, slab->count, slab->size);
        machine_free(slab);
    }
    while (sched->g_slabs) {
        struct g_slab *slab = sched->g_slabs;
        sched->g_slabs = slab->next;
        machine_free(slab);
    }
}

void sched_each_g(struct sched *sched, void (*visit)(struct g *gp, void *arg), void *arg)
{
    for (struct g_slab *slab = sched->g_slabs; slab; slab = slab->next)
        for (int i = 0; i < GS_PER_SLAB; i++)
            if (slab->gs[i].alive)
                visit(&slab->gs[i], arg);
}
