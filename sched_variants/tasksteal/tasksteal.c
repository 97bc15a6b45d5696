/* tasksteal - task (child) stealing, help-first: the child is queued, the parent goes on.
 *
 * A spawn writes a task record and pushes it on the worker's deque; no stack, no allocation. At
 * the sync the worker pops its own children, newest first, and runs each to completion as a plain
 * call. A child that was stolen runs on the thief; while the parent waits for it, its worker helps:
 * it steals tasks and runs them on top of the waiting stack. It does not leave that stack before
 * the child is done, so a function never changes its worker.
 *
 * Goroutines use a second deque of the same kind per P, so that a task at the bottom of the task
 * deque always belongs to the function that pops it.
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
};

static const struct param tasksteal_knobs[] = {
    PDEQUE_KNOBS(struct tasksteal_knobs, deque),
    {0},
};

static struct fj_task *tasksteal_steal_task(struct m *m)
{
    struct m *newest = sched_first_m(m->sched);
    struct m *start = newest;
    for (uint32_t skip = (uint32_t)m_random(m) % sched_list_length(newest); skip > 0; skip--)
        start = start->all_link;
    struct m *victim = start;
    do {
        void *item;
        enum deque_steal got = DEQUE_EMPTY;
        if (victim != m) {
            stat_add(&m->stats, STAT_VICTIM_PROBES, 1);
            while ((got = deque_take(&victim->fj.tasks, &item)) == DEQUE_LOST)
                continue; /* somebody else got one: there may be more */
        }
        if (got == DEQUE_STOLEN) {
            stat_add(&m->stats, STAT_STEALS, 1);
            stat_add(&m->stats, STAT_STOLEN, 1);
            return item;
        }
        victim = victim->all_link ? victim->all_link : newest;
    } while (victim != start);
    return NULL;
}

static struct g *tasksteal_steal(struct m *m)
{
    struct fj_task *task = tasksteal_steal_task(m);
    if (task)
        return g_new_for_task(m, task);
    struct g *gp = pdeque_steal(m);
    if (!gp)
        stat_add(&m->stats, STAT_STEALS_FAILED, 1);
    return gp;
}

static bool tasksteal_has_work(struct sched *sched)
{
    for (struct m *m = sched_first_m(sched); m; m = m->all_link)
        if (deque_size(&m->fj.tasks) > 0)
            return true;
    return pdeque_has_work(sched);
}

const struct sched_ops tasksteal_ops = {
    .name = "tasksteal",
    .idea = "a deque per P, help-first: the child is queued and can be stolen, joins run children",
    .source = "[Guo09] [CL05] [Le13]",
    .knobs = tasksteal_knobs,
    .knobs_size = sizeof(struct tasksteal_knobs),
    .forkjoin = FJ_HELP,
    .init = pdeque_init,
    .p_init = pdeque_p_init,
    .ready = pdeque_ready,
    .pick = pdeque_pick,
    .steal = tasksteal_steal,
    .steal_task = tasksteal_steal_task,
    .has_work = tasksteal_has_work,
    .p_fini = pdeque_p_fini,
    .fini = pdeque_fini,
};
