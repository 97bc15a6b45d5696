/* tasksteal - task (child) stealing, help-first: the child is queued, the parent goes on.
 *
 * A spawn writes a task record and links it to its frame; no stack, no allocation, and no deque
 * until a thief asks, or as the knob promote says (runtime/forkjoin.h). At the sync the worker
 * takes back its own children, newest first, and runs each to completion as a plain call. A child
 * that was stolen runs on the thief; while the parent waits for it, its worker helps: it steals
 * tasks and runs them on top of the waiting stack. It does not leave that stack before the child is
 * done, so a function never changes its worker.
 *
 * Goroutines use a second deque of the same kind per P, so that a task at the bottom of the task
 * deque always belongs to the function that takes it back.
 *
 * Wins in wide loops and when steals are frequent. Loses where children pile up: queues are
 * not bounded by the depth, and joins stall.
 *
 * Source: [Guo09] help-first, [Blumofe95]; the deque is [CL05] with the orders of [Le13].
 *   Differs: waiting workers steal from anybody, not only from their thief (leapfrogging).
 */
#include "runtime/pdeque.h"
#include "sched.h"

struct tasksteal_knobs {
    struct pdeque_knobs deque;
    int64_t promote; /* enum fj_promote */
    int64_t beat_ns;
};

static const char *const promote_words[] = {"request", "beat", "always", NULL};

static const struct param tasksteal_knobs[] = {
    PARAM_WORD(struct tasksteal_knobs, promote, promote_words, FJ_PROMOTE_REQUEST,
               "[Dijk14] [Acar13]; beat: [Acar18]; always: [Frigo98]",
               "when a child of fork/join goes from its owner's own part to the deque",
               .detail = "request: the older half, when a thief has asked. beat: the oldest, once "
                         "in beat_ns, whether there are thieves or not. always: each when it is "
                         "spawned.",
               KNOB_DECISIVE(STEALING, "TASKS_PUBLISHED", "promote=always fib,n=12 2")),
    PARAM_NUMBER(struct tasksteal_knobs, beat_ns, 100000, 1000, 1000000000, "ns", "[Rainey21]",
                 "time between two beats of promote=beat",
                 KNOB_FINE(STEALING, "TASKS_PUBLISHED", "promote=beat,beat_ns=10000 fib,n=22 2")),
    PDEQUE_KNOBS(struct tasksteal_knobs, deque),
    {0},
};

static const struct param_moot tasksteal_moot[] = {
    RUNTIME_MOOT,
    {"beat_ns", "promote=request|always", "where nothing beats"},
    {0},
};

static void tasksteal_init(struct sched *sched)
{
    const struct tasksteal_knobs *knobs = sched->knobs;
    pdeque_init(sched);
    sched->promote = (enum fj_promote)knobs->promote;
    sched->beat_ns = sched->promote == FJ_PROMOTE_BEAT ? knobs->beat_ns : 0;
}

static struct g *tasksteal_steal(struct m *m)
{
    struct fj_task *task = fj_steal(m, false);
    if (task)
        return g_new_for_task(m, task);
    struct g *gp = pdeque_steal(m);
    if (!gp)
        stat_add(&m->stats, STAT_STEALS_FAILED, 1);
    sched_event_if(m, SCHED_FOUND_NOTHING, !gp);
    return gp;
}

static bool tasksteal_has_work(struct sched *sched)
{
    return fj_has_work(sched) || pdeque_has_work(sched);
}

const struct sched_ops tasksteal_ops = {
    .name = "tasksteal",
    .idea = "a deque per worker, help-first: thieves take the child",
    .source = "[Guo09] [CL05] [Le13]",
    .knobs = tasksteal_knobs,
    .knobs_size = sizeof(struct tasksteal_knobs),
    .moot = tasksteal_moot,
    .forkjoin = FJ_HELP,
    .init = tasksteal_init,
    .ready = pdeque_ready,
    .pick = pdeque_pick,
    .steal = tasksteal_steal,
    .has_work = tasksteal_has_work,
    .drain = pdeque_drain,
    .queued = pdeque_queued,
    .fini = pdeque_fini,
};
