/* galloc.c - Gs: caches per M, depots of magazines, and slabs of a few hundred behind one lock.
 *
 * A G is made without a stack. It gets one when it first runs and gives it back when it ends
 * (stacks.c). So a million spawned Gs that run one after the other share one hot stack.
 *
 * Source: Go 1.26 runtime/proc.go gfget, gfput.
 *   Same:    the cache spills at 64 down to 32 and refills 32, unless the knob gs_cache says
 *            another number than 64.
 *   Differs: caches belong to the M, not the P; stacks are cached apart from Gs; what is spilled
 *            goes on in magazines (depot.h), by the P's own depot and one of all, where Go walks
 *            a list through the Gs with its lock held; memory of ended Gs goes back to the kernel.
 *   Why:     the variants without Go's P need no P for it, a G that never ran has no stack, the
 *            walk was seven tenths of the stall of fib on 64 simulated cores, and a burst shall
 *            leave nothing behind. Go's rules are kept where they decide who runs. The allocator
 *            decides nothing of that, and all variants have the same one.
 *
 * Ended Gs leave behind what the caches of the Ms hold, fewer than gs_cache each. A worker that is
 * idle gives slabs back until they and the magazines hold GS_KEPT free ones at most, or until each
 * slab has a G that is in use or in a cache (galloc_give_back()).
 *
 * Invariants, while g_lock is free
 *   a free G is in one M's cache, in one full magazine, or in its slab's map; or its M has taken it
 *   from one of these a moment ago, to put it into another
 *   a slab is on the shelf that its counts say; next_id == Gs ever carved out of slabs
 *   gs_free == sum of free over all slabs, and of Gs in full magazines of the depot of all
 */
#include "depot.h"
#include "internal.h"

#include <errno.h>
#include <inttypes.h>

enum {
    G_SLAB_SIZE = 64 << 10,
    GS_PER_SLAB = G_SLAB_SIZE / sizeof(struct g) - 1, /* its head takes the place of one */
    G_MAP_WORDS = GS_PER_SLAB / 64 + 1,
};

enum g_shelf {
    G_SHELF_FULL,  /* none to be had */
    G_SHELF_OPEN,  /* some are in use */
    G_SHELF_WHOLE, /* none is in use */
};

/* Memory of its own, aligned to its size: a G's address tells its slab. */
struct g_slab {
    LIST_ENTRY(g_slab) link;
    enum g_shelf shelf;
    uint32_t free, carved; /* carved: Gs that have ever been used, the first ones */
    /* A bit for each free G. A list through the Gs would be a chain of cache misses, each waiting
     * for the one before. */
    uint64_t free_map[G_MAP_WORDS];
    struct g gs[GS_PER_SLAB];
};
_Static_assert(sizeof(struct g) == 128, "a G is two lines: what a switch and what a wake touch");
_Static_assert(sizeof(struct g_slab) <= G_SLAB_SIZE, "a slab's head takes the place of one G");

/* Slabs --------------------------------------------------------------------------------------- */

static struct g_slab *slab_of(struct g *gp)
{
    return (struct g_slab *)((uintptr_t)gp & ~(uintptr_t)(G_SLAB_SIZE - 1));
}

/* Pre, here and below: g_lock. */
static void slab_shelve(struct sched *sched, struct g_slab *slab)
{
    bool full = slab->free == 0 && slab->carved == GS_PER_SLAB;
    enum g_shelf shelf = full                         ? G_SHELF_FULL
                         : slab->free == slab->carved ? G_SHELF_WHOLE
                                                      : G_SHELF_OPEN;
    if (shelf == slab->shelf)
        return;
    LIST_REMOVE(slab, link);
    LIST_INSERT_HEAD(&sched->g_shelves[shelf], slab, link);
    slab->shelf = shelf;
}

static void gs_free_count(struct sched *sched, int64_t change)
{
    /* relaxed: written under the lock, read without it as a hint */
    int64_t now = atomic_load_explicit(&sched->gs_free, memory_order_relaxed) + change;
    INVARIANT(now >= 0);
    atomic_store_explicit(&sched->gs_free, now, memory_order_relaxed);
}

static bool g_slab_is_valid(const struct g_slab *slab)
{
    uint32_t free = 0;
    for (int i = 0; i < G_MAP_WORDS; i++)
        free += (uint32_t)__builtin_popcountll(slab->free_map[i]);
    return HOLDS(slab->free <= slab->carved) && HOLDS(slab->carved <= GS_PER_SLAB) &&
           HOLDS(slab->free == free) &&
           HOLDS((slab->shelf == G_SHELF_WHOLE) == (slab->free == slab->carved)) &&
           HOLDS((slab->shelf == G_SHELF_FULL) == (slab->free == 0 && slab->carved == GS_PER_SLAB));
}

static struct g_slab *slab_map(struct sched *sched)
{
    struct g_slab *slab = machine_block_map(G_SLAB_SIZE);
    if (!slab)
        fatal_env(ENOMEM, "no memory for goroutines");
    machine_name(slab, G_SLAB_SIZE, "g");
    slab->shelf = G_SHELF_WHOLE;
    LIST_INSERT_HEAD(&sched->g_shelves[G_SHELF_WHOLE], slab, link);
    return slab;
}

static struct g *slab_take(struct sched *sched, struct g_slab *slab)
{
    INVARIANT(g_slab_is_valid(slab));
    if (slab->free > 0) {
        uint32_t word = 0;
        while (slab->free_map[word] == 0)
            word++;
        uint32_t bit = (uint32_t)__builtin_ctzll(slab->free_map[word]);
        slab->free_map[word] &= slab->free_map[word] - 1;
        slab->free--;
        gs_free_count(sched, -1);
        return &slab->gs[64 * word + bit];
    }
    struct g *gp = &slab->gs[slab->carved++];
    gp->id = sched->next_id++;
    return gp;
}

static void slab_put(struct sched *sched, struct g *gp)
{
    struct g_slab *slab = slab_of(gp);
    size_t i = (size_t)(gp - slab->gs);
    INVARIANT(i < slab->carved);
    INVARIANT(!(slab->free_map[i / 64] >> i % 64 & 1)); /* it is free already */
    INVARIANT(!gp->alive);
    slab->free_map[i / 64] |= UINT64_C(1) << i % 64;
    slab->free++;
    gs_free_count(sched, 1);
    slab_shelve(sched, slab);
    INVARIANT(g_slab_is_valid(slab));
}

/* Caches -------------------------------------------------------------------------------------- */

static uint32_t gs_cache_half(const struct sched *sched)
{
    return (uint32_t)sched->runtime->gs_cache / 2;
}

/* Returns the list of a magazine's Gs. To write the links asks for all their lines at once. */
static struct g *magazine_list(void *const *magazine, uint32_t count)
{
    struct g *gs = NULL;
    for (uint32_t i = count; i-- > 0;) {
        struct g *gp = magazine[i];
        INVARIANT(gp);
        INVARIANT(!gp->alive);
        gp->link = gs;
        gs = gp;
    }
    return gs;
}

/* The depot may turn out to have no room. The walk is no loss then: it is made without the lock,
 * and brings to this core the Gs that slab_put() will look at with the lock held. */
static void magazine_fill(struct m *m, struct g *gs)
{
    if (!m->g_magazine)
        m->g_magazine = sched_zalloc(gs_cache_half(m->sched) * sizeof(void *), "g.free");
    for (uint32_t i = 0; gs; i++, gs = gs->link)
        m->g_magazine[i] = gs;
}

/* NULL: m has no P, or Ps have none. */
static struct depot *p_depot(struct m *m)
{
    return m->p ? depot_if_any(&m->p->g_depot) : NULL;
}

/* Pre, here and below: g_lock. */
static void magazines_count(struct sched *sched, int64_t change)
{
    gs_free_count(sched, change * gs_cache_half(sched));
}

static bool magazine_put(struct sched *sched, struct m *m, struct depot *own)
{
    uint32_t put = depot_put_more(own, &sched->g_depot, &m->g_magazine);
    if (put)
        magazines_count(sched, put);
    return put;
}

static bool magazine_take(struct sched *sched, struct m *m, struct depot *own)
{
    uint32_t taken = depot_take_more(own, &sched->g_depot, &m->g_magazine);
    if (taken)
        magazines_count(sched, -(int64_t)taken);
    return taken;
}

/* In ascending order, so that a crowd is a walk through memory that the hardware sees coming. */
static struct g *gs_from_slabs(struct sched *sched)
{
    struct g *gs, **end = &gs;
    uint32_t half = gs_cache_half(sched);
    for (uint32_t i = 0; i < half; i++) {
        struct g_slab *slab = LIST_FIRST(&sched->g_shelves[G_SHELF_OPEN]);
        if (!slab)
            slab = LIST_FIRST(&sched->g_shelves[G_SHELF_WHOLE]);
        if (!slab)
            slab = slab_map(sched);
        struct g *gp = slab_take(sched, slab);
        slab_shelve(sched, slab);
        *end = gp;
        end = &gp->link;
    }
    *end = NULL;
    return gs;
}

/* True: m has a full magazine. Else its cache has as many. Pre: no lock. */
static bool gs_refill_shared(struct m *m, struct depot *own)
{
    struct sched *sched = m->sched;
    stat_add(&m->stats, STAT_GS_LOCKS, 1);
    lock_acquire(&sched->g_lock);
    bool taken = magazine_take(sched, m, own);
    if (!taken)
        m->cache.gs = gs_from_slabs(sched);
    lock_release(&sched->g_lock);
    return taken;
}

/* Pre: the cache is empty; no lock. */
static void gs_refill(struct m *m)
{
    struct depot *own = p_depot(m);
    INVARIANT(!m->cache.gs_count);
    bool taken = (own && depot_take(own, &m->g_magazine)) || gs_refill_shared(m, own);
    m->cache.gs_count = gs_cache_half(m->sched);
    if (taken)
        m->cache.gs = magazine_list(m->g_magazine, m->cache.gs_count);
}

/* Pre: g_lock. */
static void gs_into_slabs(struct sched *sched, struct g *gs)
{
    while (gs) {
        struct g *gp = gs;
        gs = gp->link;
        slab_put(sched, gp);
    }
}

/* Keeps the `keep` newest: the newest of all may be a G that ends in this very call. */
static void gs_spill(struct m *m, uint32_t keep)
{
    struct sched *sched = m->sched;
    struct g **at = &m->cache.gs;
    INVARIANT(keep <= m->cache.gs_count);
    for (uint32_t i = 0; i < keep; i++)
        at = &(*at)->link;
    struct g *spilled = *at;
    *at = NULL;
    struct depot *own = p_depot(m);
    bool whole = m->cache.gs_count - keep == gs_cache_half(sched);
    m->cache.gs_count = keep;
    if (whole) {
        magazine_fill(m, spilled);
        if (own && depot_put(own, &m->g_magazine))
            return;
    }
    stat_add(&m->stats, STAT_GS_LOCKS, 1);
    lock_acquire(&sched->g_lock);
    if (!whole || !magazine_put(sched, m, own))
        gs_into_slabs(sched, spilled);
    lock_release(&sched->g_lock);
}

/* Puts a magazine's Gs into their slabs. Pre, here and below: g_lock. */
static void magazine_into_slabs(struct sched *sched, struct depot *depot)
{
    void **full = depot->magazine[--depot->full];
    for (uint32_t i = 0; i < gs_cache_half(sched); i++)
        slab_put(sched, full[i]);
}

/* Gs in magazines keep their slabs from being whole. */
static bool magazine_give_back(struct sched *sched)
{
    if (sched->g_depot.full == 0)
        return false;
    magazines_count(sched, -1);
    magazine_into_slabs(sched, &sched->g_depot);
    return true;
}

static bool gs_give_back(struct sched *sched)
{
    if (atomic_load_explicit(&sched->gs_free, memory_order_relaxed) <= GS_KEPT) /* a hint */
        return false;
    lock_acquire(&sched->g_lock);
    struct g_slab *slab = LIST_FIRST(&sched->g_shelves[G_SHELF_WHOLE]);
    bool more = slab || magazine_give_back(sched);
    if (slab) {
        LIST_REMOVE(slab, link);
        gs_free_count(sched, -(int64_t)slab->free);
    }
    lock_release(&sched->g_lock);
    if (slab)
        machine_block_unmap(slab, G_SLAB_SIZE);
    return more;
}

void p_depots_empty(struct sched *sched, struct p *p)
{
    stacks_depot_empty(sched, p);
    if (p->g_depot.full == 0)
        return;
    lock_acquire(&sched->g_lock);
    magazines_count(sched, depot_move(&p->g_depot, &sched->g_depot, p->g_depot.full));
    while (p->g_depot.full > 0)
        magazine_into_slabs(sched, &p->g_depot);
    lock_release(&sched->g_lock);
}

/* A hint, and so relaxed. */
static bool is_excess(struct sched *sched)
{
    return atomic_load_explicit(&sched->stacks_warm, memory_order_relaxed) > STACKS_KEPT ||
           atomic_load_explicit(&sched->gs_free, memory_order_relaxed) > GS_KEPT;
}

/* One M at a time: many would keep those that work from the locks. The others may sleep. It comes
 * again until there is no excess, or it has found work; then the next M without work goes on.
 * relaxed: the locks order what it does. */
bool galloc_give_back(struct m *m)
{
    struct sched *sched = m->sched;
    p_depots_empty(sched, m->p);
    if (!is_excess(sched) ||
        atomic_exchange_explicit(&sched->gives_back, true, memory_order_relaxed))
        return false;
    bool more = stacks_give_back(sched) || gs_give_back(sched);
    atomic_store_explicit(&sched->gives_back, false, memory_order_relaxed);
    return more;
}

/* A G's life ---------------------------------------------------------------------------------- */

static void peak_raise(_Atomic int64_t *peak, int64_t value)
{
    int64_t old = atomic_load_explicit(peak, memory_order_relaxed); /* a statistic orders nothing */
    while (old < value && !atomic_compare_exchange_weak_explicit(
                              peak, &old, value, memory_order_relaxed, memory_order_relaxed))
        continue;
}

void live_hand_in(struct sched *sched, struct p *p)
{
    INVARIANT(p_is_valid(p));
    int64_t before = atomic_fetch_add_explicit(&sched->live_gs, p->live, memory_order_relaxed);
    int64_t most = atomic_load_explicit(&p->live_max, memory_order_relaxed); /* own word */
    peak_raise(&sched->live_gs_peak, before + most);
    uint64_t max = sched->ops->live_gs_max;
    if (max > 0 && before + most > (int64_t)max)
        fatal("%s has %" PRId64 " goroutines at once: %s", sched->ops->name, before + most,
              sched->ops->limit_reason);
    p->live = 0;
    atomic_store_explicit(&p->live_max, 0, memory_order_relaxed);
}

/* One that is not counted as alive yet. */
static inline __attribute__((always_inline)) struct g *take(struct m *m)
{
    if (__builtin_expect(!m->cache.gs, 0))
        gs_refill(m);
    struct g *gp = m->cache.gs;
    INVARIANT(m->cache.gs_count > 0);
    INVARIANT(!gp->alive);
    INVARIANT(!gp->stack);
    m->cache.gs = gp->link;
    m->cache.gs_count--;
    gp->link = NULL;
    gp->frame = NULL;
    gp->last_m = NULL;
    gp->tag = 0;
    gp->wait_reason = WAIT_NONE;
    gp->big_stack = false;
    gp->locked = false;
    gp->child_returned = false;
    gp->alive = true;
    atomic_store_explicit(&gp->on_cpu, 0, memory_order_relaxed); /* nobody else knows this G yet */
    stat_add(&m->stats, STAT_GS_CREATED, 1);
    sched_event_g(m, SCHED_CREATED, gp, 0, 0);
    return gp;
}

struct g *g_take(struct m *m)
{
    return take(m);
}

struct g *g_alloc(struct m *m)
{
    INVARIANT(m->p);
    struct g *gp = take(m);
    struct p *p = m->p;
    if (++p->live > atomic_load_explicit(&p->live_max, memory_order_relaxed))
        atomic_store_explicit(&p->live_max, p->live, memory_order_relaxed); /* a statistic */
    if (p->live >= m->sched->live_step)
        live_hand_in(m->sched, p);
    if (m->sched->exact) {
        p->unstarted++;
        stat_max(&m->stats, STAT_UNSTARTED_GS_PEAK, (uint64_t)p->unstarted);
    }
    INVARIANT(g_is_valid(gp));
    INVARIANT(p_is_valid(p));
    return gp;
}

void g_free(struct m *m, struct g *gp)
{
    INVARIANT(m->p);
    INVARIANT(gp->alive);
    INVARIANT(!gp->stack && !gp->locked);
    sched_event_g(m, SCHED_ENDED, gp, 0, 0);
    gp->alive = false;
    gp->link = m->cache.gs;
    m->cache.gs = gp;
    if (++m->cache.gs_count >= m->sched->runtime->gs_cache)
        gs_spill(m, m->cache.gs_count - gs_cache_half(m->sched));
    if (--m->p->live <= -m->sched->live_step)
        live_hand_in(m->sched, m->p);
    INVARIANT(p_is_valid(m->p));
}

/* The largest sum handed in, or what it would be if all Ps had been at their largest at once now.
 * */
uint64_t sched_live_peak(struct sched *sched)
{
    int64_t peak = atomic_load_explicit(&sched->live_gs_peak, memory_order_relaxed);
    int64_t now = atomic_load_explicit(&sched->live_gs, memory_order_relaxed);
    for (int32_t i = 0; i < sched->procs; i++)
        now += atomic_load_explicit(&sched->allp[i]->live_max, memory_order_relaxed);
    return (uint64_t)(now > peak ? now : peak);
}

/* All of them --------------------------------------------------------------------------------- */

void m_cache_flush(struct m *m)
{
    if (m->p)
        live_hand_in(m->sched, m->p);
    gs_spill(m, 0);
    stacks_spill(m, 0);
    if (m->p)
        p_depots_empty(m->sched, m->p);
}

void m_magazines_free(struct m *m)
{
    machine_free(m->g_magazine);
    machine_free(m->stack_magazine);
}

void galloc_fini(struct sched *sched)
{
    depot_fini(&sched->g_depot);
    for (int i = 0; i < G_SHELVES; i++) {
        struct g_slab *slab;
        while ((slab = LIST_FIRST(&sched->g_shelves[i]))) {
            LIST_REMOVE(slab, link);
            machine_block_unmap(slab, G_SLAB_SIZE);
        }
    }
}

/* Not for ThreadSanitizer: while others run, whether a G is alive is what it was a moment ago. */
__attribute__((no_sanitize("thread"))) void
sched_each_g(struct sched *sched, void (*visit)(struct g *gp, void *arg), void *arg)
{
    struct g_slab *slab;
    for (int i = 0; i < G_SHELF_WHOLE; i++) /* a whole slab has none */
        LIST_FOREACH(slab, &sched->g_shelves[i], link)
    for (uint32_t k = 0; k < slab->carved; k++)
        if (slab->gs[k].alive)
            visit(&slab->gs[k], arg);
}
