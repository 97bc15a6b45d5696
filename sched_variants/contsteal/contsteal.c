/* contsteal - continuation stealing, work-first: the child runs at once, the parent can be stolen.
 *
 * A spawn pushes the parent's continuation, the parent G at rest in the middle of its function, on
 * the worker's deque and runs the child on a stack of its own. When the child returns, the worker
 * pops: if the parent is still there, it goes on as after a plain call, and no atomic operation on
 * the join took place. If a thief has it, the parent runs there, and the child's return counts down
 * the parent's frame (runtime/forkjoin.h). With one worker the order is that of plain calls, and
 * a deque is never deeper than the recursion.
 *
 * Wins when joins and memory matter: no stalled join without a steal, space at most workers times
 * the serial depth. Loses in wide flat loops: each iteration moves the parent.
 *
 * Source: [Frigo98] Cilk-5 s. 3, [BL99]; the deque is [CL05].
 *   Differs: every child has a pooled stack, and the parent's continuation is a saved context; no
 *            compiler support, so a spawn costs two context switches.
 */
#include "runtime/pdeque.h"
#include "sched.h"

struct contsteal_knobs {
    struct pdeque_knobs deque;
};

static const struct param contsteal_knobs[] = {
    PDEQUE_KNOBS(struct contsteal_knobs, deque),
    {0},
};

static struct g *contsteal_steal(struct m *m)
{
    struct g *gp = pdeque_steal(m);
    if (gp)
        stat_add(&m->stats, STAT_TASKS_STOLEN, 1);
    else
        stat_add(&m->stats, STAT_STEALS_FAILED, 1);
    return gp;
}

const struct sched_ops contsteal_ops = {
    .name = "contsteal",
    .idea = "a deque per P, work-first: the child runs, the parent's continuation can be stolen",
    .source = "[Frigo98] [BL99] [CL05]",
    .knobs = contsteal_knobs,
    .knobs_size = sizeof(struct contsteal_knobs),
    .forkjoin = FJ_WORK,
    .init = pdeque_init,
    .p_init = pdeque_p_init,
    .ready = pdeque_ready,
    .pick = pdeque_pick,
    .steal = contsteal_steal,
    .has_work = pdeque_has_work,
    .p_fini = pdeque_p_fini,
    .fini = pdeque_fini,
};
