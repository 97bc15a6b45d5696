/* forkjoin.c - the slow paths of spawn and sync. forkjoin.h has the rules, the joining protocol and
 * lazy publication; linked.c the part of FJ_LINKED.
 *
 * F1: the release in fj_child_done(), and in joins.c, pairs with the acquire where the owner waits:
 * what a child wrote is visible to its parent after the sync.
 */
#include "internal.h"

/* For machines that keep events; elsewhere not even machine_self() is asked. */
static MACHINE_TAKES_NO_TIME void tell_task(enum sched_event kind, const struct fj_task *task,
                                            enum sched_task as)
{
    const struct m *m = machine_self();
    machine_event(kind, m->id, m->p ? m->p->id : -1, (int64_t)(intptr_t)task, (int32_t)as, 0);
}

static MACHINE_TAKES_NO_TIME void tell_g(enum sched_event kind)
{
    const struct m *m = machine_self();
    sched_event_g(m, kind, m->curg, 0, 0);
}

MACHINE_TAKES_NO_TIME void fj_tell_spawned(const struct fj_task *task)
{
    tell_task(SCHED_TASK_SPAWNED, task, AS_OWN);
}

MACHINE_TAKES_NO_TIME void fj_tell_claimed(const struct fj_task *task)
{
    tell_task(SCHED_TASK_BEGUN, task, AS_CLAIMED);
}

/* A linked frame at rest is one that others could run, like a task that was spawned. The machine
 * counts those that wait beside idle cores; traces are made with pooled frames. */
MACHINE_TAKES_NO_TIME void fj_tell_rests(void)
{
    tell_g(SCHED_TASK_SPAWNED);
}

MACHINE_TAKES_NO_TIME void fj_tell_goes_on(void)
{
    tell_g(SCHED_TASK_BEGUN);
}

MACHINE_TAKES_NO_TIME void fj_tell_called(void)
{
    tell_g(SCHED_CALLED);
}

MACHINE_TAKES_NO_TIME void fj_tell_call_returned(void)
{
    tell_g(SCHED_CALL_RETURNED);
}

enum fj_policy fj_policy(void)
{
    return machine_self()->fj.policy;
}

void fj_begin_region(struct fj_frame *root, enum fj_policy policy)
{
    struct fj_worker *w = &machine_self()->fj;
    if (policy != w->policy)
        fatal("fork/join code compiled for policy %d runs under policy %d", policy, w->policy);
    if (w->m->locked_g)
        fatal("fj_begin: the goroutine is locked to its thread");
    *root = (struct fj_frame){0};
    if (policy == FJ_HELP)
        w->held++;
}

void fj_end_region(const struct fj_frame *root, enum fj_policy policy)
{
    (void)root;
    INVARIANT(root->queued == 0);
    INVARIANT(policy == machine_self()->fj.policy);
    INVARIANT(policy != FJ_HELP || machine_self()->fj.held > 0);
    if (MACHINE_KEEPS_EVENTS)
        tell_g(SCHED_JOINED);
    if (policy == FJ_HELP)
        machine_self()->fj.held--;
}

#ifdef SCHEDLAB_DEBUG
/* A frame of another function has another frame pointer. */
void fj_check_frame(const struct fj_frame *frame, const void *frame_address)
{
    INVARIANT(frame->fp == frame_address);
}

/* A spawn queues, and a sync takes back, as the owner of the worker's queue. */
void fj_check_spawn(void)
{
    INVARIANT(machine_self()->fj.held > 0);
}

void fj_count_live(int n)
{
    struct fj_worker *w = &machine_self()->fj;
    w->live += n;
    INVARIANT(w->live >= 0);
    if (w->live > atomic_load_explicit(&w->live_max, memory_order_relaxed)) /* a statistic */
        atomic_store_explicit(&w->live_max, w->live, memory_order_relaxed);
}
#endif

/* Children that are Gs ------------------------------------------------------------------------ */

static struct g *g_new_for_child(struct m *m, struct fj_frame *frame, struct fj_task *task,
                                 fj_fn *fn)
{
    INVARIANT(m->curg);
    INVARIANT(fn);
    struct g *gp = g_alloc(m);
    gp->task_fn = fn;
    gp->arg = task;
    gp->frame = frame;
    atomic_store_explicit(&frame->owner, m->curg, memory_order_relaxed);
    return gp;
}

void fj_spawn_go(struct fj_frame *frame, struct fj_task *task, fj_fn *fn)
{
    struct m *m = preempt_point();
    INVARIANT(frame->spawned >= 0);
    frame->spawned++;
    g_spawn(m, g_new_for_child(m, frame, task, fn));
}

void fj_spawn_work(struct fj_frame *frame, struct fj_task *task, fj_fn *fn)
{
    struct m *m = machine_self();
    struct g *self = m->curg;
    INVARIANT(m->ops->forkjoin == FJ_WORK);
    bool counts = m->fj.join == FJ_JOIN_COUNTER;
    if (m->fj.join != FJ_JOIN_WAITFREE) {
        fj_join_fork(m, frame, frame->spawned == 0);
        frame->spawned += counts; /* so that the sync subtracts its own */
    }
    self->child_returned = false;
    self->wait_reason = WAIT_CHILD;
    self->wait_on = frame;
    g_spawn(m, g_new_for_child(m, frame, task, fn)); /* the child has run */
    if (!self->child_returned) {
        frame->spawned++;
        fj_join_taken(machine_self(), frame);
    } else if (counts) {
        fj_join_came_back(frame); /* the child's step, on its worker */
    }
}

void fj_child_done(struct fj_frame *frame)
{
    /* The owner is parked, or will be, if this makes 0; after any other value the frame may be
     * gone. */
    if (atomic_fetch_sub_explicit(&frame->pending, 1, memory_order_acq_rel) == 1) /* F1 */
        g_ready(atomic_load_explicit(&frame->owner, memory_order_relaxed));
}

static inline void sync_as(struct fj_frame *frame, struct m *m, enum fj_join join)
{
    struct g *self = m->curg;
    INVARIANT(frame->spawned > 0);
    if (MACHINE_KEEPS_EVENTS)
        tell_g(SCHED_SYNCED);
    self->wait_reason = WAIT_SYNC;
    self->wait_on = frame;
    int32_t spawned = frame->spawned;
    frame->spawned = 0;
    if (!fj_join_owner(m, frame, join, spawned)) {
        stat_add(&m->stats, STAT_JOINS_STALLED, 1);
        sched_event_g(m, SCHED_STALLED, self, 0, 0);
        g_park();
    }
    self->wait_reason = WAIT_NONE;
}

void fj_sync_park(struct fj_frame *frame)
{
    sync_as(frame, machine_self(), FJ_JOIN_WAITFREE);
}

void fj_sync_work(struct fj_frame *frame)
{
    struct m *m = machine_self();
    sync_as(frame, m, m->fj.join);
}

/* Lazy publication ---------------------------------------------------------------------------- */

static void request(struct fj_worker *w)
{
    /* relaxed: only to leave the owner's line alone where it has been told; unsigned: FJ_REQUEST
     * and FJ_DUE are greater than FJ_UNASKED */
    if ((uint32_t)atomic_load_explicit(&w->limit, memory_order_relaxed) < FJ_UNASKED)
        atomic_store_explicit(&w->limit, FJ_REQUEST, memory_order_release); /* F2 */
}

void fj_request_all(struct sched *sched)
{
    for (struct m *m = sched_first_m(sched); m; m = m->all_link)
        request(&m->fj);
}

static void tell_stolen(struct m *m, struct m *victim, int64_t n)
{
    stat_add(&m->stats, STAT_STEALS, victim != m);
    stat_add(&m->stats, STAT_STOLEN, victim != m ? (uint64_t)n : 0);
    stat_add(&m->stats, STAT_TASKS_STOLEN, (uint64_t)n);
    m_count_far_m(m, victim);
    for (int64_t i = 0; i < n; i++)
        sched_event_m(m, SCHED_TASK_STOLEN, victim);
    if (n > 1) /* others are in m's deque, which a sleeper may have seen empty */
        wakep(m);
}

/* The oldest child or frame in the deque of any M but m; with `own` of m's too. Where thieves take
 * several, m's deque comes first: it has nothing of a frame on m's stack now, and perhaps what came
 * along the last time. */
void *fj_steal(struct m *m, bool own)
{
    void *before = deque_shares(&m->fj.tasks) ? deque_pop(&m->fj.tasks) : NULL;
    if (before)
        return before;
    struct m *newest = sched_first_m(m->sched);
    struct m *start = newest;
    INVARIANT(m->sched->forkjoin == FJ_HELP || m->sched->forkjoin == FJ_LINKED);
    for (uint32_t skip = (uint32_t)m_random(m) % sched_list_length(newest); skip > 0; skip--)
        start = start->all_link;
    struct m *victim = start;
    do {
        void *item;
        int64_t n = 1;
        enum deque_steal got = DEQUE_EMPTY;
        if (victim == m && own) {
            while ((got = deque_take(&m->fj.tasks, &item)) == DEQUE_LOST)
                continue; /* somebody else got one: there may be more */
        } else if (victim != m) {
            stat_add(&m->stats, STAT_VICTIM_PROBES, 1);
            while ((got = deque_take_into(&victim->fj.tasks, &m->fj.tasks, &item, &n)) ==
                   DEQUE_LOST)
                continue; /* likewise */
            if (deque_size(&victim->fj.tasks) == 0)
                request(&victim->fj);
        }
        if (got == DEQUE_STOLEN) {
            tell_stolen(m, victim, n);
            return item;
        }
        victim = victim->all_link ? victim->all_link : newest;
    } while (victim != start);
    return NULL;
}

bool fj_has_work(struct sched *sched)
{
    for (struct m *m = sched_first_m(sched); m; m = m->all_link)
        if (deque_size(&m->fj.tasks) > 0)
            return true;
    return false;
}

int64_t fj_keep(struct deque *dq, int64_t count)
{
    int64_t half = count / 2, room = deque_room(dq);
    return count - half > room ? count - room : half;
}

/* How many children are private, from frame down the stack. */
static int64_t help_count(const struct fj_frame *frame)
{
    int64_t count = 0;
    for (; frame; frame = frame->up) {
        const struct fj_task *task = frame->newest;
        for (; task && task != FJ_PUBLIC; task = task->older)
            count++;
        if (task == FJ_PUBLIC)
            break;
    }
    return count;
}

/* Moves a frame's private children but the `keep` newest to the deque, the newest of them right
 * below `at`. Returns where the oldest went; *more: the frames below may have private ones too. */
static int64_t help_publish_frame(struct deque *dq, struct fj_frame *frame, int64_t *keep,
                                  int64_t at, bool *more)
{
    struct fj_task **cut = &frame->newest;
    for (; *cut && *cut != FJ_PUBLIC && *keep > 0; --*keep)
        cut = &(*cut)->older;
    struct fj_task *task = *cut;
    if (!task)
        return at;
    *cut = FJ_PUBLIC;
    int32_t moved = 0;
    for (struct fj_task *older; task && task != FJ_PUBLIC; task = older, moved++) {
        older = task->older;
        task->frame = frame;
        deque_set(dq, --at, task);
    }
    *more = task != FJ_PUBLIC;
    if (*more) { /* the frame's first */
        frame->spawned = 0;
        /* relaxed: published by D1 */
        atomic_store_explicit(&frame->pending, 0, memory_order_relaxed);
    }
    frame->spawned += moved;
    return at;
}

/* Moves all private children but the `keep` newest. Pre: there are `count`, and room for those. */
static inline void help_move(struct fj_worker *w, struct fj_frame *frame, int64_t count,
                             int64_t keep)
{
    int64_t bottom = deque_reserve(&w->tasks, count - keep) + count - keep;
    int64_t at = bottom;
    for (bool more = true; frame && more; frame = frame->up)
        at = help_publish_frame(&w->tasks, frame, &keep, at, &more);
    sched_event(w->m, SCHED_TASKS_PUBLISHED, NULL, (int32_t)(bottom - at), 0);
    fj_count_published(w->m, bottom - at);
    deque_publish(&w->tasks, bottom);
}

/* Half of them: a walk over n children moves n / 2, and so costs each a constant. */
static bool help_publish(struct fj_worker *w, struct fj_frame *frame)
{
    int64_t count = help_count(frame);
    if (count == 0)
        return false;
    help_move(w, frame, count, fj_keep(&w->tasks, count));
    return true;
}

/* Pre: the deque grows, so that all that is older is public. */
static void promote_newest(struct fj_worker *w, struct fj_frame *frame)
{
    struct fj_task *task = frame->newest;
    INVARIANT(task && task != FJ_PUBLIC);
    if (!task->older) { /* the frame's first */
        frame->spawned = 0;
        /* relaxed: published by D1 */
        atomic_store_explicit(&frame->pending, 0, memory_order_relaxed);
    }
    frame->newest = FJ_PUBLIC;
    frame->spawned++;
    task->frame = frame;
    sched_event(w->m, SCHED_TASKS_PUBLISHED, NULL, 1, 0);
    fj_count_published(w->m, 1);
    deque_push(&w->tasks, task);
}

/* promote=always: all that there is room for. promote=beat: the oldest. */
static bool promote_oldest(struct fj_worker *w, struct fj_frame *frame, int64_t room)
{
    int64_t count = help_count(frame), most = count;
    if (count > 0 && w->promote == FJ_PROMOTE_BEAT) {
        /* relaxed: a beat hands nothing over; one that comes now may be lost with this one */
        atomic_store_explicit(&w->limit, FJ_UNASKED, memory_order_relaxed);
        most = 1;
    }
    most = most < room ? most : room;
    if (most == 0)
        return false;
    help_move(w, frame, count, count - most);
    return true;
}

static __attribute__((noinline)) void promote(struct m *m, struct fj_frame *frame)
{
    struct fj_worker *w = &m->fj;
    INVARIANT(w->policy == FJ_HELP && w->promote != FJ_PROMOTE_REQUEST);
    /* relaxed: a statistic */
    if (frame->queued > atomic_load_explicit(&w->deepest, memory_order_relaxed))
        atomic_store_explicit(&w->deepest, frame->queued, memory_order_relaxed);
    int64_t room = deque_room(&w->tasks);
    if (w->promote == FJ_PROMOTE_ALWAYS && room == INT64_MAX)
        promote_newest(w, frame);
    else if (!promote_oldest(w, frame, room))
        return;
    wakep(m);
}

void fj_beat(struct sched *sched)
{
    for (struct m *m = sched_first_m(sched); m; m = m->all_link)
        /* relaxed, both: it hands nothing over */
        if (atomic_load_explicit(&m->fj.limit, memory_order_relaxed) != FJ_DUE)
            atomic_store_explicit(&m->fj.limit, FJ_DUE, memory_order_relaxed);
}

void fj_worker_init(struct fj_worker *w, const struct sched *sched)
{
    static const int32_t limits[] = {
        [FJ_PROMOTE_REQUEST] = FJ_REQUEST,
        [FJ_PROMOTE_BEAT] = FJ_UNASKED,
        [FJ_PROMOTE_ALWAYS] = FJ_DUE,
    };
    bool asks = sched->promote == FJ_PROMOTE_REQUEST;
    w->policy = sched->forkjoin;
    w->promote = sched->promote;
    w->join = sched->join;
    atomic_init(&w->limit, asks && sched->procs == 1 ? 0 : limits[sched->promote]);
    atomic_init(&w->depth_max, asks ? 0 : FJ_BY_RULE);
    if (sched->forkjoin == FJ_HELP || sched->forkjoin == FJ_LINKED)
        deque_init_as(&w->tasks, sched->deques, 256);
}

uint64_t fj_depth_max(const struct fj_worker *w)
{
    /* relaxed: statistics */
    int32_t most = atomic_load_explicit(&w->depth_max, memory_order_relaxed);
    int32_t deepest = atomic_load_explicit(&w->deepest, memory_order_relaxed);
    return (uint64_t)(most > deepest ? most : deepest);
}

void fj_poll(struct fj_frame *frame)
{
    struct m *m = machine_self();
    struct fj_worker *w = &m->fj;
    INVARIANT(w->policy == FJ_HELP || w->policy == FJ_LINKED);
    int32_t most = atomic_load_explicit(&w->depth_max, memory_order_relaxed); /* own word */
    int32_t queued = frame->queued + (w->policy == FJ_LINKED);
    if (queued > most) {
        if (most == FJ_BY_RULE) {
            promote(m, frame);
            return;
        }
        most = queued;
        atomic_store_explicit(&w->depth_max, most, memory_order_relaxed); /* a statistic */
    }
    if (atomic_exchange_explicit(&w->limit, most, memory_order_acquire) != FJ_REQUEST) /* F3 */
        return;
    if (deque_size(&w->tasks) == 0 &&
        !(w->policy == FJ_HELP ? help_publish(w, frame) : linked_publish(m, frame)))
        request(w); /* later, then */
    else
        wakep(m);
}

void fj_took_back(struct fj_worker *w)
{
    if (w->m->sched->procs > 1 && deque_size(&w->tasks) == 0)
        request(w);
}

/* Help-first ---------------------------------------------------------------------------------- */

/* On the caller's stack, to its end; it stays on this worker. */
static inline void run_task(struct fj_frame *up, struct fj_task *task, enum sched_task as)
{
    if (MACHINE_KEEPS_EVENTS)
        tell_task(SCHED_TASK_BEGUN, task, as);
    struct fj_frame *theirs = as == AS_STOLEN ? task->frame : NULL; /* the child may spawn others */
    task->fn(up, task);
    if (MACHINE_KEEPS_EVENTS)
        tell_task(SCHED_TASK_RETURNED, task, as);
    if (as == AS_STOLEN)
        fj_child_done(theirs);
    if (MACHINE_KEEPS_EVENTS)
        tell_task(SCHED_TASK_DONE, task, as);
}

/* A stolen task, as its thief runs it: on the stack of a waiting G or of a G of its own, and to its
 * end on this worker. */
static void run_stolen(struct fj_frame *up, struct fj_task *task)
{
    run_task(up, task, AS_STOLEN);
}

static void run_stolen_g(void *arg)
{
    struct fj_frame root;
    fj_begin_region(&root, FJ_HELP);
    run_stolen(&root, arg);
    fj_end_region(&root, FJ_HELP);
}

struct g *g_new_for_task(struct m *m, struct fj_task *task)
{
    INVARIANT(task);
    struct g *gp = g_alloc(m);
    gp->fn = run_stolen_g;
    gp->arg = task;
    g_hand_over(gp);
    return gp;
}

enum { HELP_SPINS = 64, HELP_RELAX = 16 };

/* Others run our children; run others' until ours are done. The wait stays on this worker and this
 * stack; it ends, because a child may not park. With nothing to steal the core is offered to
 * others. */
static void help_until_done(struct m *m, struct fj_frame *frame)
{
    uint32_t fruitless = 0;
    /* pending counts down from 0: a help-first owner never adds to it */
    while (atomic_load_explicit(&frame->pending, memory_order_acquire) > -frame->spawned) { /* F1 */
        struct fj_task *task = fj_steal(m, false);
        stat_add(&m->stats, STAT_STEALS_FAILED, !task);
        if (task) {
            run_stolen(frame, task);
            fruitless = 0;
        } else if (++fruitless < HELP_SPINS) {
            machine_pause(HELP_RELAX);
        } else {
            machine_yield();
        }
    }
}

/* Runs the children that are still private, newest first; between them, serves a request. */
static void run_private(struct fj_worker *w, struct fj_frame *frame)
{
    struct fj_task *task;
    while ((task = frame->newest) && task != FJ_PUBLIC) {
        frame->newest = task->older;
        frame->queued--;
        /* relaxed: fj_poll() has F3 */
        if (frame->queued > 0 &&
            frame->queued > atomic_load_explicit(&w->limit, memory_order_relaxed))
            fj_poll(frame);
        run_task(frame, task, AS_OWN);
        fj_count_live(-1);
    }
}

static void run_public(struct fj_worker *w, struct fj_frame *frame)
{
    struct fj_task *task;
    while (frame->spawned > 0 && (task = deque_pop(&w->tasks))) {
        if (deque_shares(&w->tasks) && task->frame != frame) {
            run_stolen(frame, task); /* its own are with thieves, who took them before this one */
            continue;
        }
        INVARIANT(task->frame == frame);
        sched_event(w->m, SCHED_TASK_TAKEN_BACK, NULL, 0, 0);
        fj_took_back(w);
        frame->spawned--;
        frame->queued--;
        run_task(frame, task, AS_OWN);
        fj_count_live(-1);
    }
}

void fj_sync_help(struct fj_frame *frame)
{
    struct m *m = machine_self();
    INVARIANT(m->fj.held > 0);
    if (MACHINE_KEEPS_EVENTS)
        tell_g(SCHED_SYNCED);
    run_private(&m->fj, frame);
    if (!frame->newest)
        return;
    run_public(&m->fj, frame);
    INVARIANT(atomic_load_explicit(&frame->pending, memory_order_relaxed) <= 0);
    if (frame->spawned > 0) {
        frame->queued -= frame->spawned;
        if (atomic_load_explicit(&frame->pending, memory_order_relaxed) > -frame->spawned) {
            stat_add(&m->stats, STAT_JOINS_STALLED, 1);
            sched_event_g(m, SCHED_STALLED, m->curg, 0, 0);
        }
        help_until_done(m, frame);
        fj_count_live(-frame->spawned);
    }
    frame->newest = NULL;
}
