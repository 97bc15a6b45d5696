/* stacks.c - stacks of Gs: caches per M, depots of magazines, and slabs of 64 behind one lock.
 *
 * Source: Go 1.26 runtime/stack.go stackalloc, stackfree.
 *   Same:    a cache without a lock in front of a pool with one; what is free goes back in the end.
 *   Differs: stacks have one size and never move, so that a C function can run on them. A blocked G
 *            pays with a whole page where Go's pays with 2 KiB, and nothing where it runs.
 *            Ended stacks go on in magazines (depot.h), as Gs do in galloc.c.
 *
 * A blocked G takes one page of its stack, its struct g, and its share of the page tables. These
 * take 4096 bytes for 2 MiB of addresses: 128 bytes with stacks of 64 KiB, 2 KiB with the 1 MiB of
 * FJ_HELP and FJ_LINKED. The page is the topmost one, as long as its frames fit beside the stagger.
 * Stagger: stack tops differ by some lines, because tops at equal offsets in a page would all fall
 * into the same few sets of the L1 cache.
 *
 * Ended Gs leave behind what the caches of the Ms hold, fewer than 64 each. Once a worker has been
 * idle, slabs and magazines hold STACKS_KEPT stacks with memory at most. A worker without work
 * gives back one slab at a time and looks for work between two (stacks_give_back()). Whole slabs
 * are unmapped, with their page tables. Then magazines go into their slabs. In slabs that have
 * stacks in use the free ones lose their memory.
 *   Rejected: to give back what is too much as soon as it is freed. A later burst would meet cold
 *   pages again, at some ten times the price of warm ones; and a busy worker would pay for it.
 *
 * A free stack in a cache holds, in its topmost words, the link to the next one. ThreadSanitizer
 * needs two words more: its fiber, and the context in which its last G ended. There a stack is not
 * started afresh but goes on in g_entry()'s loop, because the fiber's own record of calls cannot be
 * cut back. A free stack in a slab is a bit of the slab, so that nothing has to be read or written
 * in the stack.
 *
 * Invariants, while stack_lock is free
 *   a stack is in use, in one M's cache, in one full magazine, or free in its slab; or its M has
 *   taken it from one of these a moment ago, to put it into another;  warm is a part of free
 *   a slab is on the shelf that its bits say
 *   stacks_warm == bits set in warm over all slabs, and stacks in magazines of the depot of all
 */
#include "ctx.h"
#include "depot.h"
#include "internal.h"

#include <errno.h>

enum {
    STACKS_PER_SLAB = 64, /* one bit of a word each */
    CACHE_SPILL = 64,
    CACHE_REFILL = 32,
    STAGGER_STEPS = 16,
    STAGGER_BYTES = 192,
    GUARD_SHARE = 8, /* of a stack */
    GUARD_MAX = 64 << 10,
};

enum stack_shelf {
    STACK_SHELF_NONE,  /* none free */
    STACK_SHELF_WARM,  /* some free, one with memory at least */
    STACK_SHELF_WHOLE, /* all free */
    STACK_SHELF_COLD,  /* some free, none with memory */
};

struct stack_slab {
    LIST_ENTRY(stack_slab) link;
    enum stack_shelf shelf;
    char *base;
    uint64_t free; /* bit i: not in use, in an M's cache or in a magazine */
    uint64_t warm; /* bit i: free, and has memory */
};

struct stack_top {
    char *link;
    char *start; /* where the first frame begins; constant */
    struct stack_slab *slab;
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

void **g_ended_sp(const struct sched *sched, char *stack)
{
    return &stack_top(sched, stack)->ended_sp;
}

/* Slabs --------------------------------------------------------------------------------------- */

/* Pre, here and below unless it says otherwise: stack_lock. */
static void slab_shelve(struct sched *sched, struct stack_slab *slab)
{
    enum stack_shelf shelf = slab->free == 0            ? STACK_SHELF_NONE
                             : slab->free == UINT64_MAX ? STACK_SHELF_WHOLE
                             : slab->warm               ? STACK_SHELF_WARM
                                                        : STACK_SHELF_COLD;
    if (shelf == slab->shelf)
        return;
    LIST_REMOVE(slab, link);
    LIST_INSERT_HEAD(&sched->stack_shelves[shelf], slab, link);
    slab->shelf = shelf;
}

static bool stack_slab_is_valid(const struct stack_slab *slab)
{
    return HOLDS(slab->base) && HOLDS(!(slab->warm & ~slab->free)) &&
           HOLDS((slab->shelf == STACK_SHELF_NONE) == (slab->free == 0)) &&
           HOLDS((slab->shelf == STACK_SHELF_WHOLE) == (slab->free == UINT64_MAX)) &&
           HOLDS(slab->shelf != STACK_SHELF_COLD || !slab->warm) &&
           HOLDS(slab->shelf != STACK_SHELF_WARM || slab->warm);
}

static struct stack_slab *slab_first(struct sched *sched, enum stack_shelf shelf)
{
    return LIST_FIRST(&sched->stack_shelves[shelf]);
}

static void stacks_warm_count(struct sched *sched, int64_t change)
{
    /* relaxed: written under the lock, read without it as a hint */
    int64_t now = atomic_load_explicit(&sched->stacks_warm, memory_order_relaxed) + change;
    INVARIANT(now >= 0);
    atomic_store_explicit(&sched->stacks_warm, now, memory_order_relaxed);
}

/* Stacks leave slabs and the depot of all, or come back. */
static void stacks_out_count(struct sched *sched, int64_t change)
{
    INVARIANT((int64_t)sched->stacks_out + change >= 0);
    sched->stacks_out += (size_t)change;
    /* relaxed: a statistic, written under the lock */
    if (sched->stacks_out > atomic_load_explicit(&sched->stacks_out_peak, memory_order_relaxed))
        atomic_store_explicit(&sched->stacks_out_peak, sched->stacks_out, memory_order_relaxed);
}

static void slab_put(struct sched *sched, char *stack)
{
    struct stack_slab *slab = stack_top(sched, stack)->slab;
    uint64_t bit = UINT64_C(1) << ((size_t)(stack - slab->base) / sched->stack_size);
    INVARIANT(!(slab->free & bit)); /* it is free already */
    slab->free |= bit;
    slab->warm |= bit;
    stacks_warm_count(sched, 1);
    slab_shelve(sched, slab);
    INVARIANT(stack_slab_is_valid(slab));
}

/* A part of the stack, so that small ones keep most of their room; a page at least. One frame of
 * the C library, which unlike ours need not touch each of its pages, may be as large and is still
 * seen. */
size_t stack_guard_size(size_t stack_size)
{
    size_t page = machine_page_size(), guard = stack_size / GUARD_SHARE / page * page;
    return guard < page ? page : guard < GUARD_MAX ? guard : GUARD_MAX;
}

/* Once in a process is enough: where one stack has to go without, most that follow have to. */
static void say_unguarded(size_t count)
{
    static _Atomic bool said; /* relaxed: who says it does not matter */
    static const char text[] =
        "schedlab: warning: no memory map is left to guard goroutine stacks (vm.max_map_count): an "
        "overflow of one without a guard goes unseen\n";
    if (count > 0 && !atomic_exchange_explicit(&said, true, memory_order_relaxed))
        machine_print(2, text, sizeof text - 1);
}

static char *stacks_map(const struct sched *sched, size_t count, size_t size)
{
    size_t guarded;
    char *base = machine_stacks_map(count, size, sched->guard_size, &guarded);
    if (!base)
        fatal_env(ENOMEM, "no address space for %zu goroutine stacks of %zu bytes", count, size);
    machine_name(base, count * size, "stack");
    say_unguarded(count - guarded);
    return base;
}

/* Pre: no lock, since it takes tens of system calls. */
static struct stack_slab *slab_map(const struct sched *sched)
{
    struct stack_slab *slab = sched_zalloc(sizeof *slab, "stack.free");
    slab->base = stacks_map(sched, STACKS_PER_SLAB, sched->stack_size);
    slab->free = UINT64_MAX;
    slab->shelf = STACK_SHELF_WHOLE;
    return slab;
}

/* The fibers of stacks that are to lose their memory. Pre: nobody else knows the stacks. */
static void fibers_destroy(const struct sched *sched, struct stack_slab *slab)
{
#if defined(CTX_TSAN)
    for (uint64_t warm = slab->warm; warm; warm &= warm - 1) {
        char *stack = slab->base + (size_t)__builtin_ctzll(warm) * sched->stack_size;
        if (stack_top(sched, stack)->fiber)
            __tsan_destroy_fiber(stack_top(sched, stack)->fiber);
    }
#endif
    (void)sched;
    (void)slab;
}

/* Pre: nobody else knows the slab; no lock. */
static void slab_unmap(const struct sched *sched, struct stack_slab *slab)
{
    size_t size = sched->stack_size;
    fibers_destroy(sched, slab);
#if defined(CTX_ASAN)
    __asan_unpoison_memory_region(slab->base, STACKS_PER_SLAB * size);
#endif
    machine_stacks_unmap(slab->base, STACKS_PER_SLAB, size);
    machine_free(slab);
}

/* Pre: nobody else knows the slab's free stacks; no lock. */
static void slab_drop_free(const struct sched *sched, struct stack_slab *slab)
{
    uint64_t left = slab->warm;
    fibers_destroy(sched, slab);
    while (left) {
        int first = __builtin_ctzll(left);
        uint64_t run = left >> first; /* its lowest bits are set */
        int count = run == UINT64_MAX ? STACKS_PER_SLAB : __builtin_ctzll(~run);
        machine_stacks_drop(slab->base + (size_t)first * sched->stack_size, (size_t)count,
                            sched->stack_size);
        left = first + count == STACKS_PER_SLAB ? 0 : left >> (first + count) << (first + count);
    }
    slab->warm = 0;
}

static void magazine_into_slabs(struct sched *sched, struct depot *depot)
{
    void **full = depot->magazine[--depot->full];
    for (int i = 0; i < CACHE_REFILL; i++)
        slab_put(sched, full[i]);
}

/* Puts a magazine's stacks into their slabs, which these keep from being whole. */
static bool magazine_give_back(struct sched *sched)
{
    if (sched->stack_depot.full == 0)
        return false;
    stacks_warm_count(sched, -CACHE_REFILL);
    magazine_into_slabs(sched, &sched->stack_depot);
    return true;
}

/* Magazines come to the depot of all, or leave it. */
static void magazines_count(struct sched *sched, int64_t change)
{
    stacks_warm_count(sched, change * CACHE_REFILL);
    stacks_out_count(sched, -change * CACHE_REFILL);
}

/* Pre: no lock. */
void stacks_depot_empty(struct sched *sched, struct p *p)
{
    if (p->stack_depot.full == 0)
        return;
    lock_acquire(&sched->stack_lock);
    uint32_t moved = depot_move(&p->stack_depot, &sched->stack_depot, p->stack_depot.full);
    magazines_count(sched, moved);
    stacks_out_count(sched, -(int64_t)p->stack_depot.full * CACHE_REFILL);
    while (p->stack_depot.full > 0)
        magazine_into_slabs(sched, &p->stack_depot);
    lock_release(&sched->stack_lock);
}

bool stacks_give_back(struct sched *sched)
{
    if (atomic_load_explicit(&sched->stacks_warm, memory_order_relaxed) <= STACKS_KEPT) /* hint */
        return false;
    lock_acquire(&sched->stack_lock);
    struct stack_slab *slab = slab_first(sched, STACK_SHELF_WHOLE);
    bool whole = slab != NULL, emptied = !whole && magazine_give_back(sched);
    if (!whole && !emptied)
        slab = slab_first(sched, STACK_SHELF_WARM);
    struct stack_slab taken = {0};
    if (slab) {
        taken = *slab;
        stacks_warm_count(sched, -__builtin_popcountll(slab->warm));
        slab->free = slab->warm = 0;
        slab_shelve(sched, slab);
        if (whole)
            LIST_REMOVE(slab, link);
    }
    lock_release(&sched->stack_lock);
    if (!slab)
        return emptied;
    if (whole) {
        slab->warm = taken.warm;
        slab_unmap(sched, slab);
        return true;
    }
    slab_drop_free(sched, &taken);
    lock_acquire(&sched->stack_lock);
    slab->free |= taken.free;
    slab_shelve(sched, slab);
    lock_release(&sched->stack_lock);
    return true;
}

/* Caches of the Ms ---------------------------------------------------------------------------- */

struct stack_batch {
    uint32_t count;
    struct {
        char *stack;
        struct stack_slab *slab;
        bool warm;
    } item[CACHE_REFILL];
};

/* A slab with a free stack; slabs whose free stacks have memory first. */
static struct stack_slab *slab_with_free(struct sched *sched)
{
    static const enum stack_shelf order[] = {STACK_SHELF_WARM, STACK_SHELF_WHOLE, STACK_SHELF_COLD};
    struct stack_slab *slab = NULL;
    for (size_t i = 0; !slab && i < sizeof order / sizeof *order; i++)
        slab = slab_first(sched, order[i]);
    return slab;
}

static void batch_take(struct sched *sched, struct stack_batch *batch, uint32_t want)
{
    struct stack_slab *slab;
    while (batch->count < want && (slab = slab_with_free(sched))) {
        INVARIANT(stack_slab_is_valid(slab));
        int i = __builtin_ctzll(slab->warm ? slab->warm : slab->free);
        uint64_t bit = UINT64_C(1) << i;
        bool warm = slab->warm & bit;
        batch->item[batch->count].stack = slab->base + (size_t)i * sched->stack_size;
        batch->item[batch->count].slab = slab;
        batch->item[batch->count++].warm = warm;
        slab->free &= ~bit;
        slab->warm &= ~bit;
        stacks_warm_count(sched, -(int64_t)warm);
        slab_shelve(sched, slab);
    }
    stacks_out_count(sched, batch->count);
}

static void cache_push(struct m *m, char *stack)
{
    stack_top(m->sched, stack)->link = m->cache.stacks;
    m->cache.stacks = stack;
    m->cache.stacks_count++;
}

/* The memory of cold ones is touched here, where no lock is held. */
static void batch_to_cache(struct m *m, const struct stack_batch *batch)
{
    for (uint32_t i = 0; i < batch->count; i++) {
        char *stack = batch->item[i].stack;
        struct stack_top *top = stack_top(m->sched, stack);
        if (!batch->item[i].warm)
            top->fiber = top->ended_sp = NULL;
        top->slab = batch->item[i].slab;
        top->start = stack_start(stack, m->sched->stack_size);
        cache_push(m, stack);
    }
}

/* NULL: m has no P, or Ps have none. */
static struct depot *p_depot(struct m *m)
{
    return m->p ? depot_if_any(&m->p->stack_depot) : NULL;
}

/* Pre: stack_lock. */
static bool magazine_take(struct sched *sched, struct m *m)
{
    uint32_t taken = depot_take_more(p_depot(m), &sched->stack_depot, &m->stack_magazine);
    magazines_count(sched, -(int64_t)taken);
    return taken > 0;
}

static bool magazine_put(struct sched *sched, struct m *m)
{
    uint32_t put = depot_put_more(p_depot(m), &sched->stack_depot, &m->stack_magazine);
    magazines_count(sched, put);
    return put > 0;
}

/* A thread that is for one G alone takes one stack. */
static void stacks_refill(struct m *m)
{
    struct sched *sched = m->sched;
    uint32_t want = sched->ops->thread_per_g ? 1 : CACHE_REFILL;
    struct stack_batch batch = {0};
    struct stack_slab *fresh = NULL;
    struct depot *own = p_depot(m);
    bool taken = want == CACHE_REFILL && own && depot_take(own, &m->stack_magazine);
    while (batch.count == 0 && !taken) {
        lock_acquire(&sched->stack_lock);
        if (fresh)
            LIST_INSERT_HEAD(&sched->stack_shelves[STACK_SHELF_WHOLE], fresh, link);
        taken = want == CACHE_REFILL && magazine_take(sched, m);
        if (!taken)
            batch_take(sched, &batch, want);
        lock_release(&sched->stack_lock);
        fresh = batch.count == 0 && !taken ? slab_map(sched) : NULL;
    }
    if (!taken)
        batch_to_cache(m, &batch);
    for (uint32_t i = CACHE_REFILL; taken && i-- > 0;)
        cache_push(m, m->stack_magazine[i]);
}

static void magazine_fill(struct m *m, char *stack)
{
    if (!m->stack_magazine)
        m->stack_magazine = sched_zalloc(CACHE_REFILL * sizeof(void *), "stack.free");
    for (uint32_t i = 0; stack; i++, stack = stack_top(m->sched, stack)->link)
        m->stack_magazine[i] = stack;
}

/* The oldest, which are at the list's end, go. */
void stacks_spill(struct m *m, uint32_t keep)
{
    struct sched *sched = m->sched;
    char **at = &m->cache.stacks;
    INVARIANT(keep <= m->cache.stacks_count);
    uint32_t count = m->cache.stacks_count - keep;
    for (uint32_t i = 0; i < keep; i++)
        at = &stack_top(sched, *at)->link;
    char *spilled = *at;
    *at = NULL;
    m->cache.stacks_count = keep;
    bool whole = count == CACHE_REFILL;
    struct depot *own = p_depot(m);
    if (whole)
        magazine_fill(m, spilled);
    if (whole && own && depot_put(own, &m->stack_magazine))
        return;
    lock_acquire(&sched->stack_lock);
    if (!whole || !magazine_put(sched, m)) {
        stacks_out_count(sched, -(int64_t)count);
        while (spilled) {
            char *stack = spilled;
            spilled = stack_top(sched, stack)->link;
            slab_put(sched, stack);
        }
    }
    lock_release(&sched->stack_lock);
}

/* Stacks of Gs -------------------------------------------------------------------------------- */

/* The main goroutine's own; the process has one. */
static void g_bind_big_stack(struct m *m, struct g *gp)
{
    gp->stack = m->sched->main_stack = stacks_map(m->sched, 1, STACK_SIZE_MAIN);
    gp->sp = stack_start(gp->stack, STACK_SIZE_MAIN);
#if defined(CTX_TSAN)
    gp->fiber = m->sched->main_fiber = __tsan_create_fiber(0);
#endif
}

void g_bind_stack(struct m *m, struct g *gp)
{
    INVARIANT(!gp->stack);
    if (gp->big_stack) {
        g_bind_big_stack(m, gp);
    } else {
        if (__builtin_expect(!m->cache.stacks, 0))
            stacks_refill(m);
        gp->stack = m->cache.stacks;
        struct stack_top *top = stack_top(m->sched, gp->stack);
        gp->sp = top->start;
        INVARIANT(m->cache.stacks_count > 0);
        INVARIANT(top->start == stack_start(gp->stack, m->sched->stack_size));
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
    gp->sp = ctx_prepare(gp->sp, g_entry);
}

void g_release_stack(struct m *m, struct g *gp)
{
    char *stack = gp->stack;
    INVARIANT(stack);
    gp->stack = NULL;
    if (gp->big_stack)
        return; /* still in use; unmapped with the slabs */
    cache_push(m, stack);
    if (m->cache.stacks_count >= CACHE_SPILL)
        stacks_spill(m, CACHE_REFILL);
}

void stacks_fini(struct sched *sched)
{
#if defined(CTX_TSAN)
    if (sched->main_fiber)
        __tsan_destroy_fiber(sched->main_fiber);
#endif
    if (sched->main_stack)
        machine_stacks_unmap(sched->main_stack, 1, STACK_SIZE_MAIN);
    while (magazine_give_back(sched)) /* slab_unmap() looks for what is to be given up */
        continue;
    depot_fini(&sched->stack_depot);
    for (int i = 0; i < STACK_SHELVES; i++) {
        struct stack_slab *slab;
        while ((slab = slab_first(sched, (enum stack_shelf)i))) {
            LIST_REMOVE(slab, link);
            slab_unmap(sched, slab);
        }
    }
}
