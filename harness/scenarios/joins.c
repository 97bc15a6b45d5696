/* joins.c - the part of the scenario left_behind that opens frames: compiled once per policy. */
#include "harness/scenarios/joins.h"

#include "harness/scenarios/scenario.h"

static void nothing_child(struct fj_frame *up, struct fj_task *task)
{
    (void)up;
    (void)task;
}

/* Spawns while it waits, since a worker hears of thieves at a spawn. */
static void left_child(struct fj_frame *up, struct fj_task *task)
{
    struct left_child *self = FJ_SELF(task, struct left_child);
    while (ticks(self->went_on) < self->turn) {
        struct fj_task nothing;
        struct fj_frame frame;
        go_work(1);
        fj_open(&frame, up);
        fj_spawn(&frame, &nothing, nothing_child);
        fj_sync(&frame);
    }
    /* relaxed: the join alone shows it to the parent */
    atomic_store_explicit(&self->ended, self->turn, memory_order_relaxed);
}

static bool has_ended(const struct left_child *child)
{
    return atomic_load_explicit(&child->ended, memory_order_relaxed) == child->turn;
}

/* The frame is used again after its sync, and so is its count. */
const char *crosses_joins(struct left_behind *state)
{
    const char *wrong = NULL;
    struct fj_frame root, frame;
    fj_begin(&root);
    fj_open(&frame, &root);
    for (uint32_t turn = 1; turn <= 2 * LEFT_CHILDREN; turn += LEFT_CHILDREN) {
        for (uint32_t i = 0; i < LEFT_CHILDREN; i++) {
            struct left_child *child = &state->child[i];
            child->went_on = &state->went_on;
            child->turn = turn + i;
            fj_spawn(&frame, &child->task, left_child);
            tick(&state->went_on);
        }
        fj_sync(&frame);
        for (int i = 0; i < LEFT_CHILDREN; i++)
            if (!has_ended(&state->child[i]))
                wrong = "a parent went on behind its sync before a child had ended";
    }
    fj_end(&root);
    return wrong;
}
