/* breaks_g.c - ways to break the invariants of Gs, Ms, Ps and the memory of Gs; see breaks.h. */
#include "breaks.h"

/* Gs ------------------------------------------------------------------------------------------ */

static void readied(struct g *gp)
{
    gp->stack = SELF->curg->stack;
    gp->last_m = SELF;
    g_ready(gp);
}

BREAK(g_readied_after_its_end)
{
    struct g *gp = fake_g();
    gp->alive = false;
    readied(gp);
}

BREAK(g_runs_without_waiting_for_anything)
{
    struct g *gp = some_g();
    go(nothing, NULL);
    gp->wait_reason = 99;
    g_spawn(SELF, gp);
}

BREAK(g_locked_to_no_thread)
{
    struct g *gp = fake_g();
    gp->locked = true;
    gp->locks = 1;
    readied(gp);
}

BREAK(g_locked_no_times)
{
    struct g *gp = fake_g();
    gp->locks = 2;
    readied(gp);
}

BREAK(g_readied_twice)
{
    struct g *gp = some_g();
    g_spawn(SELF, gp);
    gp->last_m = SELF;
    gp->stack = SELF->curg->stack;
    g_ready(gp);
}

BREAK(g_ready_without_a_p)
{
    struct g *gp = some_g();
    SELF->p = NULL;
    readied(gp);
}

BREAK(g_ready_of_nobody)
{
    g_ready(NULL);
}

BREAK(g_ready_of_a_new_one)
{
    g_ready(some_g());
}

BREAK(g_left_nobodys_stack)
{
    g_off_stack(NULL);
}

BREAK(g_dispatched_after_its_end)
{
    struct g *gp = some_g();
    g_spawn(SELF, gp);
    gp->alive = false;
    gosched();
}

BREAK(g_dispatched_from_no_queue)
{
    struct g *gp = some_g();
    g_spawn(SELF, gp);
    atomic_store(&gp->queued, 0);
    gosched();
}

BREAK(g_hand_over_of_nobody)
{
    g_hand_over(NULL);
}

BREAK(g_parks_on_g0)
{
    SELF->curg = NULL;
    g_park();
}

BREAK(g_parks_without_a_stack)
{
    SELF->curg->stack = NULL;
    g_park();
}

BREAK(g_parks_in_a_region)
{
    SELF->fj.held = 1;
    g_park();
}

BREAK(g_parks_without_a_p)
{
    SELF->p = NULL;
    g_park();
}

BREAK(g_yields_on_g0)
{
    SELF->curg = NULL;
    gosched();
}

BREAK(g_yields_without_a_p)
{
    SELF->p = NULL;
    gosched();
}

BREAK(g_injects_itself_with_a_p)
{
    g_inject_self(SELF, NULL);
}

BREAK(g0_injects_itself)
{
    SELF->curg = NULL;
    g_inject_self(SELF, NULL);
}

BREAK(go_without_a_function)
{
    go(NULL, NULL);
}

BREAK(go_global_without_a_function)
{
    go_global(NULL, NULL);
}

BREAK(g_spawn_on_g0)
{
    struct g *gp = some_g();
    SELF->curg = NULL;
    g_spawn(SELF, gp);
}

BREAK(g_spawn_without_a_function)
{
    struct g *gp = some_g();
    gp->fn = NULL;
    g_spawn(SELF, gp);
}

BREAK(g_spawn_of_one_that_runs)
{
    g_spawn(SELF, SELF->curg);
}

BREAK(g_spawn_queued_without_a_function)
{
    g_spawn_queued(SELF, NULL, NULL);
}

BREAK(g_spawn_queued_without_a_p)
{
    SELF->p = NULL;
    g_spawn_queued(SELF, nothing, NULL);
}

BREAK_IN(parents_at_rest_less_than_none, "contsteal", 1, CALM ",frames=pooled")
{
    SELF->parents = -5;
    go(nothing, NULL);
}

BREAK(g_ends_as_another)
{
    SELF->curg = fake_g();
}

BREAK(g_ends_in_a_region)
{
    SELF->fj.held = 1;
}

static void loses_its_p(void *arg)
{
    (void)arg;
    SELF->p = NULL;
}

BREAK(g_ends_without_a_p)
{
    go(loses_its_p, NULL);
    gosched();
}

static void loses_its_stack(void *arg)
{
    (void)arg;
    SELF->curg->stack = NULL;
}

BREAK(g_ends_without_a_stack)
{
    go(loses_its_stack, NULL);
    gosched();
}

/* Ms ------------------------------------------------------------------------------------------ */

BREAK(m_of_other_ops)
{
    SELF->ops = support_variant("perm");
    g_park();
}

BREAK(m_of_another_worker)
{
    SELF->fj.m = NULL;
    g_park();
}

BREAK(m_of_another_lock)
{
    SELF->lock_node.kind = QLOCK_MCS;
    g_park();
}

BREAK(m_whose_p_is_anothers)
{
    atomic_store(&SELF->p->m, NULL);
    g_park();
}

BREAK(m_spins_and_runs)
{
    SELF->spinning = true;
    g_park();
}

BREAK(m_of_a_g_that_is_not_locked)
{
    SELF->locked_g = fake_g();
    g_park();
}

BREAK(m_counts_gs_that_it_has_not)
{
    SELF->cache.gs = NULL;
    SELF->cache.gs_count = 3;
    g_park();
}

BREAK(m_counts_stacks_that_it_has_not)
{
    SELF->cache.stacks = NULL;
    SELF->cache.stacks_count = 3;
    g_park();
}

static void takes_another_lock(void *arg)
{
    (void)arg;
    SELF->lock_node.kind = QLOCK_MCS;
}

BREAK(m_comes_back_to_its_loop_wrong)
{
    go(takes_another_lock, NULL);
    chan_recv(NULL, NULL);
}

BREAK_IN(m_stops_spinning_uncounted, "gmp", 2, CALM ",wake=all")
{
    for (;;) { /* until one that was woken finds one of these */
        go(nothing, NULL);
        atomic_store(&SCHED->spinning, 0);
    }
}

BREAK(m_runs_its_loop_on_a_goroutine)
{
    m_run(SELF);
}

BREAK(m_runs_the_loop_of_another)
{
    static struct m other;
    m_run(&other);
}

BREAK(m_enters_without_a_p)
{
    static struct m m;
    m_enter(&m);
}

BREAK(m_enters_in_a_goroutine)
{
    m_enter(SELF);
}

BREAK(m_leaves_for_another)
{
    static struct m other;
    m_leave(&other);
}

BREAK(m_leaves_in_a_goroutine)
{
    m_leave(SELF);
}

BREAK(m_starts_without_a_p)
{
    static struct m m;
    m.sched = SCHED;
    m_start(&m);
}

BREAK(m_starts_with_nobody)
{
    m_start_with(SELF, NULL);
}

BREAK(m_starts_with_a_g_in_gmp)
{
    m_start_with(SELF, some_g());
}

BREAK(m_starts_a_server_in_gmp)
{
    m_start_server(SELF, SELF->p);
}

BREAK_IN(m_starts_a_server_of_nothing, "kthread", 1, NULL)
{
    m_start_server(SELF, SELF->p);
}

BREAK(m_ends_uncounted)
{
    atomic_store(&SCHED->running, 0);
}

/* Ps and the scheduler ------------------------------------------------------------------------ */

static void hands_in(struct p *p)
{
    live_hand_in(SCHED, p);
}

BREAK(p_without_timers)
{
    SELF->p->timers = NULL;
    hands_in(SELF->p);
}

BREAK(p_of_no_number)
{
    SELF->p->id = -2;
    hands_in(SELF->p);
}

BREAK(p_of_fewer_than_none)
{
    atomic_store(&SELF->p->live_max, -1);
    hands_in(SELF->p);
}

BREAK(p_of_more_than_most)
{
    SELF->p->live = 1000;
    hands_in(SELF->p);
}

BREAK(p_that_started_more_than_there_were)
{
    SELF->p->unstarted = -1;
    hands_in(SELF->p);
}

BREAK(p_in_a_call)
{
    atomic_store(&SELF->p->call, 1);
    hands_in(SELF->p);
}

BREAK(p_freed_without_timers)
{
    static struct p p;
    p_free(&p);
}

BREAK(sched_memory_of_no_size)
{
    sched_zalloc(0, "p");
}

BREAK(sched_memory_of_no_name)
{
    sched_zalloc(1, NULL);
}

static void makes_another(struct sched_config config)
{
    int error;
    sched_new(&config, &error);
}

BREAK(sched_of_no_variant)
{
    makes_another((struct sched_config){.knobs = SCHED->knobs, .workers = 1});
}

BREAK(sched_of_no_workers)
{
    makes_another((struct sched_config){.ops = SCHED->ops, .knobs = SCHED->knobs});
}

BREAK(sched_of_half_pages)
{
    makes_another((struct sched_config){
        .ops = SCHED->ops, .knobs = SCHED->knobs, .workers = 1, .stack_size = 65537});
}

BREAK(sched_runs_nothing)
{
    sched_run(SCHED, NULL, NULL);
}

BREAK(sched_runs_twice)
{
    sched_run(SCHED, nothing, NULL);
}

BREAK(sched_stat_of_no_counter)
{
    sched_stat(SCHED, STAT_COUNT);
}

BREAK(sched_list_of_nobody)
{
    sched_list_length(NULL);
}

/* Memory of Gs -------------------------------------------------------------------------------- */

/* The head of struct g_slab (galloc.c). */
struct g_slab_head {
    LIST_ENTRY(g_slab_head) link;
    uint32_t shelf, free, carved;
    uint64_t free_map[8];
};

static struct g_slab_head *g_slab(void)
{
    return (struct g_slab_head *)((uintptr_t)SELF->curg & ~(uintptr_t)0xffff);
}

/* The cache of the M goes back into the slab. */
static void gs_flush(void)
{
    m_cache_flush(SELF);
}

/* And comes back. */
static void gs_refill(void)
{
    SELF->cache.gs = NULL;
    SELF->cache.gs_count = 0;
    g_alloc(SELF);
}

BREAK(g_slab_of_more_free_than_carved)
{
    g_slab()->free = 500;
    gs_refill();
}

BREAK(g_slab_of_more_carved_than_it_has)
{
    g_slab()->carved = 5000;
    gs_flush();
}

BREAK(g_slab_counts_what_its_map_has_not)
{
    g_slab()->free_map[0] = 1;
    gs_refill();
}

BREAK(g_slab_on_the_shelf_of_whole_ones)
{
    g_slab()->shelf = 2;
    gs_refill();
}

BREAK(g_slab_on_the_shelf_of_full_ones)
{
    g_slab()->shelf = 0;
    gs_refill();
}

BREAK(gs_free_fewer_than_none)
{
    atomic_store(&SCHED->gs_free, -1000);
    gs_flush();
}

/* Puts a full one there, as another M would, with gp in each place. */
static void magazine_of(struct g *gp)
{
    int64_t half = SCHED->runtime->gs_cache / 2;
    void **gs = sched_zalloc((size_t)half * sizeof *gs, "g.free");
    for (int64_t i = 0; i < half; i++)
        gs[i] = gp;
    SCHED->g_depot.magazine[0] = gs;
    SCHED->g_depot.full = 1;
    atomic_fetch_add(&SCHED->gs_free, half);
}

BREAK(magazine_with_an_empty_place)
{
    magazine_of(NULL);
    gs_refill();
}

BREAK(magazine_with_a_g_that_lives)
{
    magazine_of(SELF->curg);
    gs_refill();
}

BREAK(magazines_more_than_there_are_places)
{
    SCHED->g_depot.full = 5000;
    gs_refill();
}

BREAK(magazine_put_where_there_are_too_many)
{
    SELF->cache.gs = NULL;
    SELF->cache.gs_count = 0;
    g_free(SELF, g_alloc(SELF)); /* half a cache is left */
    SCHED->g_depot.full = 5000;
    gs_flush();
}

static struct g *the_free_one(void)
{
    struct g *gp = SELF->cache.gs;
    gp->link = NULL;
    SELF->cache.gs_count = 1;
    return gp;
}

BREAK(g_freed_twice_into_its_slab)
{
    struct g *gp = the_free_one();
    gs_flush();
    SELF->cache.gs = gp;
    SELF->cache.gs_count = 1;
    gs_flush();
}

BREAK(g_alive_in_the_cache)
{
    the_free_one()->alive = true;
    gs_flush();
}

BREAK(g_that_was_never_carved)
{
    the_free_one();
    SELF->cache.gs = (struct g *)((char *)g_slab() + 400 * sizeof(struct g));
    SELF->cache.gs->link = NULL;
    gs_flush();
}

BREAK(g_cache_spills_more_than_it_has)
{
    struct g *gp = some_g();
    SCHED->runtime->gs_cache = -6;
    g_free(SELF, gp);
}

BREAK(g_cache_refilled_beside_others)
{
    SELF->cache.gs = NULL;
    SELF->cache.gs_count = 3;
    g_alloc(SELF);
}

BREAK(g_alloc_without_a_p)
{
    SELF->p = NULL;
    g_alloc(SELF);
}

BREAK(g_alloc_uncounted)
{
    SELF->cache.gs_count = 0;
    g_alloc(SELF);
}

BREAK(g_alloc_of_one_alive)
{
    SELF->cache.gs->alive = true;
    g_alloc(SELF);
}

BREAK(g_alloc_of_one_with_a_stack)
{
    SELF->cache.gs->stack = SELF->curg->stack;
    g_alloc(SELF);
}

BREAK(g_alloc_of_a_locked_one)
{
    SELF->cache.gs->locks = 3;
    g_alloc(SELF);
}

BREAK(g_alloc_for_a_wrong_p)
{
    SELF->p->unstarted = -10;
    g_alloc(SELF);
}

BREAK(g_free_without_a_p)
{
    struct g *gp = some_g();
    SELF->p = NULL;
    g_free(SELF, gp);
}

BREAK(g_freed_twice)
{
    struct g *gp = some_g();
    g_free(SELF, gp);
    g_free(SELF, gp);
}

BREAK(g_freed_with_its_stack)
{
    g_free(SELF, SELF->curg);
}

BREAK(g_freed_for_a_wrong_p)
{
    struct g *gp = some_g();
    SELF->p->unstarted = -10;
    g_free(SELF, gp);
}

/* Stacks -------------------------------------------------------------------------------------- */

/* As in stacks.c. */
struct slab_of_stacks {
    LIST_ENTRY(slab_of_stacks) link;
    uint32_t shelf;
    char *base;
    uint64_t free, warm;
};
struct top_of_stack {
    char *link, *start;
    struct slab_of_stacks *slab;
    void *fiber, *ended_sp;
};

static struct top_of_stack *top(void)
{
    return (struct top_of_stack *)(SELF->cache.stacks + SCHED->stack_size) - 1;
}

/* A stack has been used, and all but a few are in the M's cache. */
static struct slab_of_stacks *stacks(void)
{
    go(nothing, NULL);
    gosched();
    return top()->slab;
}

static void stacks_again(void)
{
    SELF->cache.stacks = NULL;
    SELF->cache.stacks_count = 0;
    g_bind_stack(SELF, some_g());
}

BREAK(stack_slab_of_no_memory)
{
    stacks()->base = NULL;
    stacks_again();
}

BREAK(stack_slab_warm_where_none_is_free)
{
    struct slab_of_stacks *slab = stacks();
    slab->warm |= ~slab->free & (~slab->free >> 1);
    stacks_again();
}

BREAK(stack_slab_on_the_shelf_of_those_with_none)
{
    stacks()->shelf = 0;
    stacks_again();
}

BREAK(stack_slab_on_the_shelf_of_whole_ones)
{
    stacks()->shelf = 2;
    stacks_again();
}

BREAK(stack_slab_on_the_shelf_of_cold_ones)
{
    struct slab_of_stacks *slab = stacks();
    slab->warm = slab->free;
    slab->shelf = 3;
    stacks_again();
}

BREAK(stack_slab_on_the_shelf_of_warm_ones)
{
    struct slab_of_stacks *slab = stacks();
    slab->warm = 0;
    slab->shelf = 1;
    stacks_again();
}

BREAK(stacks_warm_fewer_than_none)
{
    stacks();
    atomic_store(&SCHED->stacks_warm, -100);
    stacks_spill(SELF, 0);
}

BREAK(stacks_spilled_more_than_there_are)
{
    stacks_spill(SELF, 1000);
}

BREAK(stacks_out_fewer_than_come_back)
{
    stacks();
    SCHED->stacks_out = 0;
    stacks_spill(SELF, 0);
}

BREAK(stack_freed_twice)
{
    stacks()->free = UINT64_MAX;
    stacks_spill(SELF, 0);
}

BREAK(stack_slab_spilled_into_a_wrong_one)
{
    stacks()->warm = UINT64_MAX;
    stacks_spill(SELF, 0);
}

BREAK(stack_bound_twice)
{
    g_bind_stack(SELF, SELF->curg);
}

BREAK(stack_taken_uncounted)
{
    stacks();
    SELF->cache.stacks_count = 0;
    g_bind_stack(SELF, some_g());
}

BREAK(stack_that_starts_elsewhere)
{
    stacks();
    top()->start -= 64;
    g_bind_stack(SELF, some_g());
}

BREAK(stack_released_by_who_has_none)
{
    g_release_stack(SELF, some_g());
}
