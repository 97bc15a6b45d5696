/* lockstep.c - see lockstep.h. */
#include "lockstep.h"

#include "kernel.h"

#include <string.h>

static struct sim_lockstep steps;
static bool on;
static bool used[SIM_CORES_MAX]; /* the core has made the step of its turn */

void sim_lockstep_set(const struct sim_lockstep *lockstep)
{
    steps = *lockstep;
    on = true;
}

bool sim_is_lockstep(void)
{
    return on;
}

/* The core that has its turn at the tick. */
static int core_of(int64_t tick)
{
    if (tick < (int64_t)steps.turns)
        return steps.turn[tick];
    return (int)((tick - (int64_t)steps.turns) % steps.cores);
}

int64_t sim_turn_from(int core, int64_t from_ps)
{
    if (!on || core >= steps.cores)
        return from_ps;
    int64_t tick = (from_ps + SIM_TICK_PS - 1) / SIM_TICK_PS; /* tick i is over at i + 1 */
    tick = tick > 0 ? tick - 1 : 0;
    while (core_of(tick) != core)
        tick++;
    return (tick + 1) * SIM_TICK_PS;
}

void sim_turn_wait(void)
{
    int core = sim_current->index;
    if (!on)
        return;
    used[core] = false;
    int64_t next = sim_turn_from(core, *sim_clock + 1);
    sim_pass(next - *sim_clock);
}

void sim_turn_before(unsigned kind)
{
    if (on && steps.before >> kind & 1 && used[sim_current->index])
        sim_turn_wait();
}

void sim_turn_after(unsigned kind)
{
    if (!on)
        return;
    if (steps.uses >> kind & 1)
        used[sim_current->index] = true;
    if (steps.after >> kind & 1)
        sim_turn_wait();
}

void sim_model_make_free(struct sim_model *model)
{
    int64_t *const prices[] = {
        &model->l1.hit_ps,    &model->l2.hit_ps,    &model->l3.hit_ps,    &model->block_ps,
        &model->store_ps,     &model->atomic_ps,    &model->fence_ps,     &model->relax_ps,
        &model->work_ps,      &model->clock_ps,     &model->call_ps,      &model->wait_ps,
        &model->wake_ps,      &model->wakeup_ps,    &model->switch_ps,    &model->signal_ps,
        &model->start_ps,     &model->end_ps,       &model->slack_ps,     &model->membarrier_ps,
        &model->lookahead_ps, &model->memory_ps[0], &model->memory_ps[1], &model->branch_ps,
        &model->window_ps,    &model->interrupt_ps,
    };
    for (size_t i = 0; i < sizeof prices / sizeof prices[0]; i++)
        *prices[i] = 0;
    memset(model->clean_ps, 0, sizeof model->clean_ps);
    memset(model->dirty_ps, 0, sizeof model->dirty_ps);
    memset(model->upgrade_ps, 0, sizeof model->upgrade_ps);
    memset(&model->network, 0, sizeof model->network);
    memset(&model->file, 0, sizeof model->file);
}
