/* breaks_workers.c - ways to break the invariants of idle workers, calls, threads, fork/join and
 * variants; see breaks.h. */
#include "breaks.h"
#include "permits/workq.h"
#include "width.h"

/* Idle Ms and Ps ------------------------------------------------------------------------------ */

BREAK(procs_none)
{
    procs_use(SCHED, 0);
}

BREAK(m_takes_a_second_p)
{
    m_acquire_p(SELF, SELF->p);
}

BREAK(m_takes_no_p)
{
    SELF->p = NULL;
    m_acquire_p(SELF, NULL);
}

BREAK(idle_p_without_the_lock)
{
    idle_p_put(SELF, SELF->p);
}

BREAK_IN(idle_p_twice, "gmp", 2, CALM)
{
    lock_acquire(&SCHED->lock);
    SCHED->idle_p = SELF->p;
    idle_p_put(SELF, SELF->p);
}

BREAK_IN(idle_p_with_a_magazine, "gmp", 2, CALM)
{
    lock_acquire(&SCHED->lock);
    SELF->p->g_depot.full = 1;
    idle_p_put(SELF, SELF->p);
}

BREAK(idle_ps_fewer_than_none)
{
    atomic_store(&SCHED->idle_ps, -1);
    idle_p_take(SCHED);
}

BREAK(idle_ps_that_are_not_listed)
{
    atomic_store(&SCHED->idle_ps, 1);
    start_unwatched_p(SELF);
}

BREAK(idle_ms_that_are_not_listed)
{
    SCHED->idle_ms = 1;
    idle_p_take(SCHED);
}

BREAK(idle_m_that_watches_is_not_listed)
{
    SCHED->timer_m = SELF;
    idle_p_take(SCHED);
}

BREAK(fence_chosen_without_the_lock)
{
    fence_sleeper_comes(SELF);
}

BREAK_IN(fence_of_nobody, "gmp", 2, CALM)
{
    SCHED->runtime->fence = FENCE_ADAPTIVE;
    SCHED->fence_sleeps = INT32_MAX - 1;
    atomic_store(&SCHED->submitters_fence, false);
    atomic_store(&SCHED->sleepers_fence_all, false);
    lock_acquire(&SCHED->lock);
    fence_sleeper_comes(SELF);
}

BREAK(p_released_by_its_holder)
{
    p_release(SELF, SELF->p);
}

BREAK(m_idles_in_a_goroutine)
{
    m_idle(SELF);
}

BREAK(m_idles_with_a_locked_g)
{
    SELF->curg = NULL;
    SELF->locked_g = fake_g();
    m_idle(SELF);
}

BREAK_IN(m_idles_where_it_blocks, "static", 1, CALM)
{
    SELF->curg = NULL;
    m_idle(SELF);
}

BREAK(m_waits_for_no_locked_g)
{
    m_wait_locked(SELF);
}

BREAK(m_starts_a_locked_g_without_a_p)
{
    struct g *gp = some_g();
    SELF->p = NULL;
    m_start_locked(SELF, gp);
}

BREAK(m_starts_a_locked_g_that_is_not)
{
    m_start_locked(SELF, some_g());
}

BREAK(m_starts_its_own_locked_g)
{
    struct g *gp = some_g();
    gp->locked = true;
    gp->locked_m = SELF;
    m_start_locked(SELF, gp);
}

BREAK_IN(timer_told_where_workers_block, "static", 1, CALM)
{
    sched_timer_is_earlier(SELF, 0);
}

BREAK(sched_stops_twice)
{
    SCHED->main_ended_on = SELF;
}

BREAK(m_blocks_in_gmp)
{
    m_block(SELF);
}

BREAK_IN(m_blocks_without_a_p, "static", 1, CALM)
{
    SELF->p = NULL;
    m_block(SELF);
}

BREAK(m_block_uncounts_what_is_not_there)
{
    atomic_store(&SCHED->active, 0);
    m_block_uncount(SCHED);
}

BREAK(m_block_wakes_nobody)
{
    m_block_wake(SELF, NULL);
}

BREAK(m_block_wakes_anothers)
{
    static struct m m;
    m_block_wake(SELF, &m);
}

/* Calls, threads, preemption ------------------------------------------------------------------ */

BREAK(call_of_a_call_that_is_none)
{
    p_take(SELF->p, 2);
}

BREAK_IN(call_over_before_it_began, "gmp", 1, CALM ",calls=adaptive")
{
    blocking_enter();
    SELF->call_since = INT64_MAX / 2;
    blocking_exit();
}

BREAK(call_on_g0)
{
    SELF->curg = NULL;
    blocking_enter();
}

BREAK(call_without_a_p)
{
    SELF->p = NULL;
    blocking_enter();
}

BREAK(call_in_a_call)
{
    blocking_enter();
    blocking_enter();
}

BREAK(call_with_a_word_that_is_odd)
{
    atomic_store(&SELF->p->call, 1);
    blocking_enter();
}

BREAK(thread_locked_by_a_wrong_g)
{
    SELF->curg->locks = 3;
    go_lock_thread();
}

BREAK(thread_locked_by_two)
{
    SELF->locked_g = fake_g();
    go_lock_thread();
}

BREAK(thread_unlocked_by_another)
{
    g_unlock(SELF, some_g());
}

BREAK(thread_unlocked_for_another)
{
    go_lock_thread();
    SELF->locked_g = fake_g();
    go_unlock_thread();
}

BREAK(p_retires_under_a_goroutine)
{
    p_retire_if_asked(SELF);
}

BREAK(preempt_of_anothers)
{
    static struct m m;
    preempt_request(SELF, &m);
}

BREAK(preempt_on_g0)
{
    struct m *m = SELF;
    m->curg = NULL;
    preempt_self(m);
}

BREAK(inject_into_another)
{
    sched_inject(NULL, NULL);
}

BREAK(inject_of_an_ended_one)
{
    struct g *gp = fake_g();
    gp->alive = false;
    sched_inject(SCHED, gp);
}

BREAK(inject_twice)
{
    struct g *gp = fake_g();
    atomic_store(&gp->queued, 1);
    sched_inject(SCHED, gp);
}

BREAK(netpoll_put_without_a_p)
{
    SELF->p = NULL;
    netpoll_put(SELF, fake_g());
}

BREAK(random_of_a_dead_state)
{
    SELF->rng[0] = SELF->rng[1] = 0;
    m_random(SELF);
}

BREAK(workers_asked_for_by_nobody)
{
    machine_set_self(NULL);
    go_workers();
}

BREAK(worker_index_of_nobody)
{
    machine_set_self(NULL);
    go_worker_index();
}

/* Fork/join ----------------------------------------------------------------------------------- */

BREAK_IN(region_ends_with_children, "tasksteal", 1, CALM)
{
    struct fj_frame root;
    fj_begin_region(&root, FJ_HELP);
    root.queued = 1;
    fj_end_region(&root, FJ_HELP);
}

BREAK(region_ends_as_another)
{
    struct fj_frame root = {0};
    fj_end_region(&root, FJ_HELP);
}

BREAK_IN(region_ends_that_did_not_begin, "tasksteal", 1, CALM)
{
    struct fj_frame root = {0};
    fj_end_region(&root, FJ_HELP);
}

#ifdef SCHEDLAB_DEBUG
BREAK(frame_of_another_function)
{
    struct fj_frame frame = {0};
    fj_check_frame(&frame, &frame);
}

BREAK(spawn_outside_of_a_region)
{
    fj_check_spawn();
}

BREAK(tasks_fewer_than_none)
{
    fj_count_live(-5);
}
#endif

static void child(struct fj_frame *up, struct fj_task *task)
{
    (void)up;
    (void)task;
}

BREAK(spawn_on_g0)
{
    struct fj_frame frame = {0};
    struct fj_task task;
    SELF->curg = NULL;
    fj_spawn_go(&frame, &task, child);
}

BREAK(spawn_of_nothing)
{
    struct fj_frame frame = {0};
    struct fj_task task;
    fj_spawn_go(&frame, &task, NULL);
}

BREAK(spawn_in_a_frame_of_fewer_than_none)
{
    struct fj_frame frame = {.spawned = -1};
    struct fj_task task;
    fj_spawn_go(&frame, &task, child);
}

BREAK(spawn_work_first_in_gmp)
{
    struct fj_frame frame = {0};
    struct fj_task task;
    fj_spawn_work(&frame, &task, child);
}

BREAK(sync_of_a_frame_without_children)
{
    struct fj_frame frame = {0};
    fj_sync_park(&frame);
}

BREAK(steal_of_tasks_in_gmp)
{
    fj_steal(SELF, true);
}

BREAK(poll_of_a_frame_in_gmp)
{
    struct fj_frame frame = {0};
    fj_poll(&frame);
}

BREAK_IN(promotion_by_no_rule, "tasksteal", 1, CALM)
{
    struct fj_frame frame = {.queued = 1};
    SELF->fj.depth_max = FJ_BY_RULE;
    fj_poll(&frame);
}

BREAK_IN(promotion_of_what_is_public, "tasksteal", 1, CALM ",promote=always")
{
    struct fj_frame frame = {.queued = 1, .newest = FJ_PUBLIC};
    fj_poll(&frame);
}

BREAK_IN(goroutine_for_no_task, "tasksteal", 1, CALM)
{
    g_new_for_task(SELF, NULL);
}

BREAK_IN(sync_outside_of_a_region, "tasksteal", 1, CALM)
{
    struct fj_frame frame = {.newest = FJ_PUBLIC};
    fj_sync_help(&frame);
}

BREAK_IN(sync_takes_back_anothers_child, "tasksteal", 1, CALM)
{
    struct fj_frame root, frame = {.newest = FJ_PUBLIC, .spawned = 1};
    struct fj_task task = {.frame = &root};
    fj_begin_region(&root, FJ_HELP);
    deque_push(&SELF->fj.tasks, &task);
    fj_sync_help(&frame);
}

BREAK_IN(sync_waits_for_more_than_it_spawned, "tasksteal", 1, CALM)
{
    struct fj_frame root, frame = {.newest = FJ_PUBLIC, .spawned = 1, .pending = 5};
    fj_begin_region(&root, FJ_HELP);
    fj_sync_help(&frame);
}

BREAK_IN(count_of_a_frame_without_its_parent, "contsteal", 1, CALM ",frames=pooled,join=counter")
{
    struct fj_frame frame = {.spawned = 1};
    fj_join_fork(SELF, &frame, false);
}

BREAK_IN(child_comes_back_uncounted, "contsteal", 1, CALM ",frames=pooled,join=counter")
{
    struct fj_frame frame = {.pending = 1};
    fj_join_came_back(&frame);
}

BREAK_IN(sync_of_children_that_no_thief_counted, "contsteal", 1, CALM ",frames=pooled,join=lock")
{
    struct fj_frame frame = {.spawned = 1, .pending = -1};
    fj_sync_work(&frame);
}

#if FJ_LINKED_WORKS
BREAK_IN(frame_at_rest_off_its_line, "contsteal", 1, CALM ",frames=linked")
{
    struct fj_frame frame = {.queued = 1};
    atomic_store(&frame.sp, (char *)&frame + 8);
    linked_publish(SELF, &frame);
}
#endif

/* Variants ------------------------------------------------------------------------------------ */

static void ready(struct g *gp, enum ready_how how)
{
    SCHED->ops->ready(SELF, gp, how);
}

BREAK(gmp_readies_without_a_p)
{
    struct g *gp = some_g();
    SELF->p = NULL;
    ready(gp, READY_WOKEN);
}

BREAK(gmp_steals_without_a_p)
{
    SELF->p = NULL;
    SCHED->ops->steal(SELF);
}

BREAK_IN(perm_readies_on_no_worker, "perm", 1, CALM)
{
    SELF->variant = NULL;
    ready(some_g(), READY_WOKEN);
}

BREAK_IN(perm_steals_as_no_worker, "perm", 1, CALM)
{
    SELF->id = -1;
    SCHED->ops->steal(SELF);
}

BREAK_IN(permits_readies_on_no_worker, "permits", 1, CALM)
{
    SELF->variant = NULL;
    ready(some_g(), READY_WOKEN);
}

BREAK_IN(permits_puts_before_its_head, "permits", 1, CALM)
{
    struct workq *workq = SELF->variant;
    workq->taken = workq->put + 5;
    ring_put(SELF, workq, some_g());
}

BREAK_IN(static_readies_for_no_worker, "static", 1, CALM)
{
    struct g *gp = some_g();
    gp->tag = 99;
    ready(gp, READY_WOKEN);
}

BREAK_IN(static_readies_twice, "static", 1, CALM ",wait=keep")
{
    struct g *gp = some_g();
    ready(gp, READY_WOKEN);
    ready(gp, READY_WOKEN);
}

BREAK_IN(static_picks_without_a_p, "static", 1, CALM)
{
    bool inherit;
    SELF->p = NULL;
    SCHED->ops->pick(SELF, &inherit);
}

BREAK_IN(static_ends_anothers, "static", 1, CALM)
{
    struct g *gp = some_g();
    gp->tag = 5;
    SCHED->ops->ended(SELF, gp);
}

BREAK_IN(static_ends_what_did_not_begin, "static", 1, CALM ",wait=keep")
{
    SCHED->ops->ended(SELF, some_g());
}

BREAK_IN(kthread_readies_what_has_no_thread, "kthread", 1, NULL)
{
    ready(some_g(), READY_WOKEN);
}

BREAK_IN(kthread_readies_twice, "kthread", 1, NULL)
{
    ready(SELF->curg, READY_YIELD);
    ready(SELF->curg, READY_YIELD);
}

BREAK_IN(uthread_readies_on_another_thread, "uthread", 1, CALM)
{
    static struct m m;
    m.sched = SCHED;
    SCHED->ops->ready(&m, some_g(), READY_WOKEN);
}

BREAK_IN(grq_readies_by_another_lock, "grq", 1, CALM ",lock=mcs")
{
    SELF->lock_node.kind = QLOCK_TTAS;
    ready(some_g(), READY_WOKEN);
}

BREAK_IN(pdeque_readies_without_a_p, "tasksteal", 1, CALM)
{
    struct g *gp = some_g();
    SELF->p = NULL;
    ready(gp, READY_WOKEN);
}

BREAK_IN(pdeque_picks_without_a_p, "tasksteal", 1, CALM)
{
    bool inherit;
    SELF->p = NULL;
    SCHED->ops->pick(SELF, &inherit);
}

BREAK_IN(pdeque_steals_without_a_p, "tasksteal", 1, CALM)
{
    SELF->p = NULL;
    SCHED->ops->steal(SELF);
}

/* How many may be awake ----------------------------------------------------------------------- */

#define WIDTH(id) BREAK_IN(id, "gmp", 2, "preempt=none,width=load")

WIDTH(width_of_none)
{
    atomic_store(&SCHED->idle_ps, 10);
    atomic_store(&SCHED->width->ps, -1);
    width_grow(SELF);
}

WIDTH(width_of_more_than_there_are)
{
    atomic_store(&SCHED->width->ps, 4);
    for (int i = 0; i < 100; i++) /* sysmon may hold the lock */
        width_look(SELF, go_now() + INT64_C(1000000000), 0);
}

WIDTH(width_of_a_window_that_begins_later)
{
    SCHED->width->since = INT64_MAX;
    width_grow(SELF);
}

/* Threads that are no workers ----------------------------------------------------------------- */

static void outside_briefly(void *arg, int i)
{
    (void)arg;
    (void)i;
}

static void outside_for_ever(void *arg, int i)
{
    (void)arg;
    (void)i;
    for (;;)
        machine_yield();
}

static void go_outside_for_ever(void *arg)
{
    go_outside(1, outside_for_ever, arg);
}

BREAK(no_thread_outside)
{
    go_outside(0, outside_briefly, NULL);
}

BREAK(no_goroutine_goes_outside)
{
    SELF->curg = NULL;
    go_outside(1, outside_briefly, NULL);
}

BREAK(two_go_outside_at_once)
{
    go(go_outside_for_ever, NULL);
    gosched();
    go_outside(1, outside_briefly, NULL);
}

BREAK(nothing_starts_from_outside)
{
    go_from_outside(NULL, NULL);
}

BREAK(worker_starts_from_outside)
{
    go_from_outside(nothing, NULL);
}
