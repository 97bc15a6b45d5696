/* forks.c - scenarios of fork/join: one for variants that queue children, and one for all. */
#define FJ_POLICY FJ_HELP
#include "harness/scenarios/joins.h"
#include "harness/scenarios/scenario.h"

/* Two children wait for each other, and so need two workers. One is called by the parent's worker,
 * which keeps its worker and spawns. So the other has to become public, and a worker that is on its
 * way to sleep has to take it. */
struct meeting_child {
    struct fj_task task;
    struct meeting_child *other;
    _Atomic uint32_t here;
};

struct two_children {
    struct meeting_child child[2];
};

static void nothing_child(struct fj_frame *up, struct fj_task *task)
{
    (void)up;
    (void)task;
}

static void meeting_child(struct fj_frame *up, struct fj_task *task)
{
    struct meeting_child *self = FJ_SELF(task, struct meeting_child);
    tick(&self->here);
    for (int i = 0; !ticks(&self->other->here); i++) {
        struct fj_task nothing;
        struct fj_frame frame;
        fj_open(&frame, up);
        fj_spawn(&frame, &nothing, nothing_child);
        fj_sync(&frame);
        round_ends(i);
    }
}

static const char *two_children_crosses(struct two_children *state)
{
    struct fj_frame root, frame;
    state->child[0].other = &state->child[1];
    state->child[1].other = &state->child[0];
    fj_begin(&root);
    fj_open(&frame, &root);
    for (int i = 0; i < 2; i++)
        fj_spawn(&frame, &state->child[i].task, meeting_child);
    fj_sync(&frame);
    fj_end(&root);
    return ticks(&state->child[0].here) == 1 && ticks(&state->child[1].here) == 1
               ? NULL
               : "a child ran twice";
}

static const char *two_children_skip(const void *params, const struct promises *promises)
{
    (void)params;
    return promises->helps ? NULL : "is for variants that queue children of fork/join";
}
SCENARIO_UNLESS(two_children_skip, two_children, 0, 2,
                "a child becomes public while a worker goes to sleep", "runtime/forkjoin.h");

/* A child waits until its parent has left it behind, and under contsteal it then lies on another
 * worker. So the two race to the sync. The first child's worker is free by then to take the parent
 * a second time. */
#define CROSSES(policy) [policy] = crosses_joins_##policy
const char *crosses_joins_FJ_GO(struct left_behind *state);
const char *crosses_joins_FJ_HELP(struct left_behind *state);
const char *crosses_joins_FJ_WORK(struct left_behind *state);
const char *crosses_joins_FJ_LINKED(struct left_behind *state);

static const char *left_behind_crosses(struct left_behind *state)
{
    static const char *(*const crosses[])(struct left_behind *) = {
        CROSSES(FJ_GO), CROSSES(FJ_HELP), CROSSES(FJ_WORK), CROSSES(FJ_LINKED)};
    return crosses[fj_policy()](state);
}
SCENARIO(left_behind, 8, 2, "a parent that was taken and its children meet at the sync",
         "runtime/joins.c");
