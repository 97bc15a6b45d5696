/* forks.c - one child and its sync, again and again; nobody is there to steal. */
#include "harness/micro/micro.h"

struct forked {
    struct fj_task task;
    uint64_t ran;
};

static void child(struct fj_frame *up, struct fj_task *task)
{
    (void)up;
    FJ_SELF(task, struct forked)->ran++;
}

void micro_forks(struct micro *micro);
void micro_forks(struct micro *micro)
{
    struct forked forked = {.ran = 0};
    struct fj_frame up, frame;
    fj_begin(&up);
    micro_start(micro);
    for (uint64_t i = 0; i < micro->n; i++) {
        fj_open(&frame, &up);
        fj_spawn(&frame, &forked.task, child);
        fj_sync(&frame);
    }
    micro_stop(micro);
    fj_end(&up);
    micro_expect(micro, "children", forked.ran, micro->n);
    micro_expect(micro, "tasks stolen", sched_stat(micro->sched, STAT_TASKS_STOLEN), 0);
}
