/* forkjoin.c - the slow paths of spawn and sync. forkjoin.h has the rules and the joining protocol.
 *
 * F1: the release in fj_child_done() pairs with the acquire in fj_sync_slow(): what a child wrote
 * is visible to its parent after the sync.
 */
#include "internal.h"

struct fj_worker *fj_self(void)
{
    return &machine_self()->fj;
}

#ifdef SCHEDLAB_DEBUG
/* A spawn pushes, and a sync pops, as the owner of the worker's deque. */
void fj_check_worker(const struct fj_frame *frame)
{
    INVARIANT(frame->w == fj_self());
}
#endif

void fj_spawn_slow(struct fj_frame *frame, fj_fn *fn, void *arg)
{
    struct m *m = machine_self();
    struct g *self = m->curg;
    struct g *gp = g_alloc(m);
    gp->task_fn = fn;
    gp->arg = arg;
    gp->frame = frame;
    atomic_store_explicit(&frame->owner, self, memory_order_relaxed);
    if (m->ops->forkjoin == FJ_GO) {
        frame->spawned++;
        g_spawn(m, gp);
        return;
    }
    self->child_returned = false;
    self->wait_reason = WAIT_CHILD;
    self->wait_on = frame;
    g_spawn(m, gp); /* the child has run; we may be on another worker now */
    if (!self->child_returned)
        frame->spawned++;
    frame->w = fj_self();
}

void fj_child_done(struct fj_frame *frame)
{
    /* The owner is parked, or will be, if this makes 0; after any other value the frame may be
     * gone. */
    if (atomic_fetch_sub_explicit(&frame->pending, 1, memory_order_acq_rel) == 1) /* F1 */
        g_ready(atomic_load_explicit(&frame->owner, memory_order_relaxed));
}

/* A stolen task, as its thief runs it: on the stack of a waiting G or of a G of its own, and to its
 * end on this worker. */
static void run_stolen(struct fj_worker *w, struct fj_task *task)
{
    struct fj_frame *theirs = task->frame;
    task->fn(w, task->arg);
    fj_child_done(theirs);
}

static void run_stolen_g(void *arg)
{
    struct fj_task *task = arg;
    struct fj_worker *w = fj_self();
    w->outermost = task->frame;
    run_stolen(w, task);
    w->outermost = NULL;
}

struct g *g_new_for_task(struct m *m, struct fj_task *task)
{
    struct g *gp = g_alloc(m);
    gp->fn = run_stolen_g;
    gp->arg = task;
#ifdef SCHEDLAB_DEBUG
    atomic_store_explicit(&gp->queued, 1, memory_order_relaxed); /* handed over without a queue */
#endif
    stat_add(&m->stats, STAT_TASKS_STOLEN, 1);
    return gp;
}

enum { HELP_SPINS = 64, HELP_RELAX = 16 };

/* Help-first: others run our children; run others' until ours are done. The wait stays on this
 * worker and this stack, so that frame->w holds in every function below on it; it ends, because a
 * child may not park. With nothing to steal the core is offered to others. */
static void help_until_done(struct m *m, struct fj_frame *frame)
{
    uint32_t fruitless = 0;
    /* pending counts down from 0: a help-first owner never adds to it */
    while (atomic_load_explicit(&frame->pending, memory_order_acquire) > -frame->spawned) { /* F1 */
        struct fj_task *task = m->ops->steal_task(m);
        stat_add(&m->stats, STAT_STEALS_FAILED, !task);
        if (task) {
            stat_add(&m->stats, STAT_TASKS_STOLEN, 1);
            run_stolen(&m->fj, task);
            fruitless = 0;
        } else if (++fruitless < HELP_SPINS) {
            for (int i = 0; i < HELP_RELAX; i++)
                machine_relax(&frame->pending);
        } else {
            machine_yield();
        }
    }
    frame->spawned = 0;
    atomic_store_explicit(&frame->pending, 0,
                          memory_order_relaxed); /* all children have been seen */
}

/* The owner's children are goroutines, or its continuation was stolen: park until they are done. */
static void park_until_done(struct m *m, struct fj_frame *frame)
{
    struct g *self = m->curg;
    self->wait_reason = WAIT_SYNC;
    self->wait_on = frame;
    int32_t spawned = frame->spawned;
    frame->spawned = 0;
    if (atomic_fetch_add_explicit(&frame->pending, spawned, memory_order_acq_rel) + spawned !=
        0) { /* F1 */
        stat_add(&m->stats, STAT_JOINS_STALLED, 1);
        g_park();
    }
    self->wait_reason = WAIT_NONE;
    frame->w = fj_self();
}

void fj_sync_slow(struct fj_frame *frame)
{
    struct m *m = machine_self();
    if (m->ops->forkjoin != FJ_HELP) {
        park_until_done(m, frame);
        return;
    }
    if (atomic_load_explicit(&frame->pending, memory_order_relaxed) > -frame->spawned)
        stat_add(&m->stats, STAT_JOINS_STALLED, 1);
    help_until_done(m, frame);
}
