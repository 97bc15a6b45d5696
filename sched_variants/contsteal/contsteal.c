/* contsteal - continuation stealing, work-first: the child runs at once, the parent can be stolen.
 *
 * A spawn leaves the parent at rest in the middle of its function, queued, and runs the child. When
 * the child returns and the parent is still there, it goes on as after a plain call, and no atomic
 * operation on the join took place. If a thief has it, the parent runs there, and the child's
 * return counts down the parent's frame (runtime/forkjoin.h). With one worker the order is that of
 * plain calls, and no more parents are queued than the recursion is deep.
 *
 * The place where the child runs is a knob, and no matter of policy. frames=linked calls it on the
 * parent's stack (runtime/linked.h). frames=pooled gives it a stack of its own and switches to it.
 * Another knob, join, says how the two agree at the sync on who is last (runtime/joins.c).
 *
 * Wins when joins and memory matter: no stalled join without a steal, space at most workers times
 * the serial depth. Loses in wide flat loops: each iteration moves the parent.
 *
 * Source: [Frigo98] Cilk-5 s. 3, [BL99], [Yang16] for linked frames; the deque is [CL05].
 *   Differs: no compiler support but frame pointers.
 */
#include "runtime/pdeque.h"
#include "sched.h"

enum frames { FRAMES_LINKED, FRAMES_POOLED };

struct contsteal_knobs {
    struct pdeque_knobs deque;
    int64_t frames; /* enum frames */
    int64_t join;   /* enum fj_join */
};

static const char *const frames_words[] = {"linked", "pooled", NULL};
static const char *const join_words[] = {"waitfree", "counter", "lock", NULL};

static const struct param contsteal_knobs[] = {
    PARAM_WORD(struct contsteal_knobs, frames, frames_words,
               FJ_LINKED_WORKS ? FRAMES_LINKED : FRAMES_POOLED, "[Yang16]",
               "on which stack a child of fork/join runs",
               .detail =
                   "linked: on its parent's, by a plain call. pooled: on one of its own, as a "
                   "goroutine.",
               KNOB_DECISIVE(QUEUES, "GS_CREATED STACKS_PEAK", "frames=pooled fib,n=12 1")),
    PARAM_WORD(struct contsteal_knobs, join, join_words, FJ_JOIN_WAITFREE,
               "[Schmaus21]; lock: [Frigo98] [Yang16]",
               "how a parent that was taken and its children agree on who is last at the sync",
               .detail =
                   "waitfree: the parent counts its thefts by itself, each child that it left "
                   "subtracts one, and the sync adds the sum. counter: each child is added when "
                   "thieves may see its parent, and subtracts itself. lock: the frame has a lock, "
                   "and thief, child and sync take it.",
               KNOB_DECISIVE(STEALING, "JOIN_LOCKS", "join=lock fib,n=18 4")),
    PDEQUE_KNOBS(struct contsteal_knobs, deque),
    {0},
};

static const struct param_moot contsteal_moot[] = {RUNTIME_MOOT, {0}};

static const char *contsteal_check(const void *knobs_)
{
    const struct contsteal_knobs *knobs = knobs_;
    if (knobs->frames == FRAMES_LINKED && !FJ_LINKED_WORKS)
        return "frames=linked needs x86-64, no sanitizer and no trace; valid here is pooled";
    return NULL;
}

static void contsteal_init(struct sched *sched)
{
    const struct contsteal_knobs *knobs = sched->knobs;
    pdeque_init(sched);
    sched->join = (enum fj_join)knobs->join;
    if (knobs->frames == FRAMES_LINKED)
        sched->forkjoin = FJ_LINKED;
}

/* A worker's own public frames are found here too: their goroutine may have left it by a yield. */
static struct g *contsteal_steal(struct m *m)
{
    struct fj_frame *frame = m->sched->forkjoin == FJ_LINKED ? fj_steal(m, true) : NULL;
    if (frame)
        return g_new_for_frame(m, frame);
    struct g *gp = pdeque_steal(m);
    if (gp)
        stat_add(&m->stats, STAT_TASKS_STOLEN, 1);
    else
        stat_add(&m->stats, STAT_STEALS_FAILED, 1);
    sched_event_if(m, SCHED_FOUND_NOTHING, !gp);
    return gp;
}

static bool contsteal_has_work(struct sched *sched)
{
    return fj_has_work(sched) || pdeque_has_work(sched);
}

const struct sched_ops contsteal_ops = {
    .name = "contsteal",
    .idea = "a deque per worker, work-first: thieves take the parent",
    .source = "[Frigo98] [BL99] [Yang16] [CL05]",
    .knobs = contsteal_knobs,
    .knobs_size = sizeof(struct contsteal_knobs),
    .moot = contsteal_moot,
    .forkjoin = FJ_WORK,
    .check = contsteal_check,
    .init = contsteal_init,
    .ready = pdeque_ready,
    .pick = pdeque_pick,
    .steal = contsteal_steal,
    .has_work = contsteal_has_work,
    .drain = pdeque_drain,
    .queued = pdeque_queued,
    .fini = pdeque_fini,
};
