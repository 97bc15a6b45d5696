/* depend.c - tasks of which some need what another one computes: who works on while a task waits?
 *
 * Source: [GoBook] ch. 6, the figure of a static partition in which the first of four tasks waits
 *         for the last one; schedlab for more of both.
 *
 * Main starts `tasks` tasks of `rounds` rounds of work each, in order, and waits for all. Task i of
 * the first `waiting` ones does half of its work, waits for what task tasks - 1 - i computes, and
 * does the other half. A task that waits and keeps its worker delays even tasks that nobody waits
 * for. The task that it waits for may be among those; on one worker it is so for certain.
 */
#include "workload.h"

#include <inttypes.h>

struct depend_params {
    int64_t tasks;
    int64_t waiting;
    int64_t rounds;
};

struct depend_state;

struct depend_task {
    struct depend_state *state;
    struct chan *needed; /* what another one computes comes through it; NULL: it needs nothing */
    struct chan *gives;  /* to who needs what it computes; NULL: nobody does */
    uint64_t result;     /* its own until it was waited for */
};

struct depend_state {
    struct depend_params params;
    struct depend_task *tasks;
    struct waitgroup done;
};

static const struct param depend_param_table[] = {
    PARAM_NUMBER(struct depend_params, tasks, 64, 2, 1000000, "tasks", "schedlab",
                 "how many tasks there are"),
    PARAM_NUMBER(struct depend_params, waiting, 1, 0, 500000, "tasks", "[GoBook]",
                 "how many of the first tasks wait for one of the last"),
    PARAM_NUMBER(struct depend_params, rounds, 10000, 2, 1000000000, "rounds", "schedlab",
                 "rounds of go_work() of a task, a few cycles each"),
    {0},
};

static uint64_t depend_live_gs_max(const void *params)
{
    return (uint64_t)((const struct depend_params *)params)->tasks + 1; /* and main */
}

static const char *depend_check(const void *params)
{
    const struct depend_params *p = params;
    return 2 * p->waiting > p->tasks ? "waiting must not be more than half of tasks" : NULL;
}

static void *depend_init(const void *params, uint64_t seed)
{
    (void)seed;
    struct depend_state *state = go_alloc_zeroed(sizeof *state);
    state->params = *(const struct depend_params *)params;
    size_t count = (size_t)state->params.tasks;
    state->tasks = go_alloc_zeroed(count * sizeof state->tasks[0]);
    for (size_t i = 0; i < count; i++)
        state->tasks[i].state = state;
    return state;
}

/* The work of one half. */
static uint64_t depend_half(const struct depend_params *params, uint64_t salt)
{
    return digest_mix(go_work((uint64_t)params->rounds / 2) + salt);
}

static void depend_task_main(void *arg)
{
    struct depend_task *self = arg;
    const struct depend_params *params = &self->state->params;
    uint64_t number = (uint64_t)(self - self->state->tasks), needed = 0;
    uint64_t result = depend_half(params, number);
    if (self->needed)
        chan_recv(self->needed, &needed);
    self->result = depend_half(params, result + needed);
    if (self->gives)
        chan_send(self->gives, &self->result);
    wg_done(&self->state->done);
}

static void depend_finish(const struct depend_state *state, struct outcome *out)
{
    out->ops = (uint64_t)state->params.tasks;
    for (uint64_t i = 0; i < out->ops; i++)
        out->answer += digest_mix(state->tasks[i].result ^ i);
    out->digest = digest_mix(out->answer) + out->ops;
}

static void depend_run(void *state_, struct outcome *out)
{
    struct depend_state *state = state_;
    size_t count = (size_t)state->params.tasks, waiting = (size_t)state->params.waiting;
    for (size_t i = 0; i < waiting; i++) {
        struct chan *chan = chan_make(sizeof(uint64_t), 1);
        state->tasks[i].needed = chan;
        state->tasks[count - 1 - i].gives = chan;
    }
    wg_add(&state->done, (int32_t)count);
    for (size_t i = 0; i < count; i++)
        go(depend_task_main, &state->tasks[i]);
    wg_wait(&state->done);
    for (size_t i = 0; i < waiting; i++)
        chan_free(state->tasks[i].needed);
    depend_finish(state, out);
}

/* Backwards: whoever is needed comes before who needs it. */
static void depend_run_serial(void *state_, struct outcome *out)
{
    struct depend_state *state = state_;
    uint64_t count = (uint64_t)state->params.tasks, waiting = (uint64_t)state->params.waiting;
    for (uint64_t i = count; i-- > 0;) {
        uint64_t needed = i < waiting ? state->tasks[count - 1 - i].result : 0;
        uint64_t result = depend_half(&state->params, i);
        state->tasks[i].result = depend_half(&state->params, result + needed);
    }
    depend_finish(state, out);
}

static const char *depend_verify(void *state, const struct outcome *out, char *why, size_t why_size)
{
    struct outcome expected = {0};
    depend_run_serial(state, &expected);
    if (out->answer == expected.answer && out->digest == expected.digest)
        return NULL;
    snprintf(why, why_size, "expected the sum %016" PRIx64 " of all results, found %016" PRIx64,
             expected.answer, out->answer);
    return why;
}

static void depend_fini(void *state_)
{
    struct depend_state *state = state_;
    go_free(state->tasks);
    go_free(state);
}

const struct workload workload_depend = {
    .name = "depend",
    .idea = "tasks that need results of others: who works on while one waits",
    .op = "task",
    .source = "[GoBook]",
    .style = STYLE_GOROUTINE,
    .params = depend_param_table,
    .params_size = sizeof(struct depend_params),
    .live_gs_max = depend_live_gs_max,
    .check = depend_check,
    .init = depend_init,
    .run = depend_run,
    .run_serial = depend_run_serial,
    .verify = depend_verify,
    .fini = depend_fini,
};
