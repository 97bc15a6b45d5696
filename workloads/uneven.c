/* uneven.c - independent tasks of different lengths: who keeps all workers busy until the end.
 *
 * A length is a number of go_work() rounds, so all variants do identical work. Lengths are drawn
 * when the state is made, from the seed:
 *   constant  all `rounds`
 *   uniform   1 .. 2 rounds - 1
 *   bimodal   1 % are 100 times as long as the others
 *   pareto    alpha 1.5, from rounds / 3 up to 1000 rounds
 *   rising    not drawn: from near 0 at the first task to near 2 rounds at the last
 * The mean is `rounds` (1 % less for pareto, whose tail ends there).
 *
 * Source: [HarcholBalter97] for heavy-tailed lifetimes of processes; the rest is schedlab's own.
 *
 * The tasks are spawned by one loop (flat), which tells who can take many from one producer, or as
 * the leaves of a binary tree, which spreads the spawning.
 */
#include "workload.h"

#include <inttypes.h>
#include <math.h>

enum uneven_dist { UNEVEN_CONSTANT, UNEVEN_UNIFORM, UNEVEN_BIMODAL, UNEVEN_PARETO, UNEVEN_RISING };
enum uneven_shape { UNEVEN_FLAT, UNEVEN_TREE };

struct uneven_params {
    int64_t tasks;
    int64_t dist;
    int64_t rounds;
    int64_t shape;
};

/* One task. A cache line, so that results of neighbours are written without disturbance. Each call
 * adds to the result, so that nobody has to reset it. A loop that did would take each line from the
 * core that had the task in the call before, and be slower than most schedulers. */
struct uneven_task {
    struct fj_task task;
    uint64_t rounds;
    uint64_t result; /* flat: the sum over all calls */
    char pad[32];
};
_Static_assert(sizeof(struct uneven_task) == 64, "a task's record is a cache line");

struct uneven_state {
    struct uneven_params params;
    struct uneven_task *tasks;
    uint64_t before; /* flat: the sum of all results after the call before */
    bool expected_known;
    uint64_t expected; /* the answer, computed by the first verify() */
};

/* A node of the tree: the tasks first .. first + count - 1. */
struct uneven_range {
    struct fj_task task;
    struct uneven_task *first;
    size_t count;
    uint64_t sum;
};

static const char *const uneven_dist_words[] = {"constant", "uniform", "bimodal",
                                                "pareto",   "rising",  NULL};
static const char *const uneven_shape_words[] = {"flat", "tree", NULL};

static const struct param uneven_param_table[] = {
    PARAM_NUMBER(struct uneven_params, tasks, 10000, 1, 100000000, "tasks", "schedlab",
                 "how many independent tasks there are"),
    PARAM_WORD(struct uneven_params, dist, uneven_dist_words, UNEVEN_BIMODAL, "[HarcholBalter97]",
               "lengths of tasks: equal, uniform, 1 % of them 100 times as long, Pareto (alpha "
               "1.5), or rising"),
    PARAM_NUMBER(struct uneven_params, rounds, 1000, 1, 1000000000, "rounds", "schedlab",
                 "mean length of a task in rounds of go_work(), a few cycles each"),
    PARAM_WORD(struct uneven_params, shape, uneven_shape_words, UNEVEN_FLAT, "schedlab",
               "who spawns: one loop (flat), or the inner nodes of a binary tree (tree)"),
    {0},
};

/* Uniform in (0, 1]. */
static double uneven_unit(uint64_t bits)
{
    return ((double)(bits >> 11) + 1.0) / 9007199254740992.0;
}

static uint64_t uneven_draw(const struct uneven_params *params, size_t i, uint64_t bits)
{
    double mean = (double)params->rounds, u = uneven_unit(bits), length = mean;
    if (params->dist == UNEVEN_UNIFORM)
        length = ceil(u * (2 * mean - 1));
    else if (params->dist == UNEVEN_BIMODAL)
        length = mean / (0.99 + 0.01 * 100) * (u <= 0.01 ? 100 : 1);
    else if (params->dist == UNEVEN_PARETO)
        length = fmin(mean / 3 * pow(u, -1 / 1.5), 1000 * mean);
    else if (params->dist == UNEVEN_RISING)
        length = mean * (2 * (double)i + 1) / (double)params->tasks;
    return length < 1 ? 1 : (uint64_t)llround(length);
}

/* The work of one task; returns its part of the answer. */
static uint64_t uneven_result(uint64_t rounds)
{
    return digest_mix(go_work(rounds));
}

static void uneven_work(struct fj_frame *up, struct fj_task *task)
{
    (void)up;
    struct uneven_task *self = FJ_SELF(task, struct uneven_task);
    self->result += uneven_result(self->rounds);
}

static uint64_t uneven_flat(struct uneven_state *state)
{
    size_t count = (size_t)state->params.tasks;
    uint64_t sum = 0;
    struct fj_frame up, frame;
    fj_begin(&up);
    fj_open(&frame, &up);
    for (size_t i = 0; i < count; i++)
        fj_spawn(&frame, &state->tasks[i].task, uneven_work);
    fj_sync(&frame);
    fj_end(&up);
    for (size_t i = 0; i < count; i++)
        sum += state->tasks[i].result;
    uint64_t answer = sum - state->before;
    state->before = sum;
    return answer;
}

static void uneven_visit(struct fj_frame *up, struct fj_task *task)
{
    struct uneven_range *self = FJ_SELF(task, struct uneven_range);
    if (self->count == 1) {
        self->sum = uneven_result(self->first->rounds);
        return;
    }
    struct uneven_range low, high;
    low.first = self->first;
    low.count = self->count / 2;
    high.first = low.first + low.count;
    high.count = self->count - low.count;
    struct fj_frame frame;
    fj_open(&frame, up);
    fj_spawn(&frame, &low.task, uneven_visit);
    uneven_visit(&frame, &high.task);
    fj_sync(&frame);
    self->sum = low.sum + high.sum;
}

static uint64_t uneven_serial(const struct uneven_state *state)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < (size_t)state->params.tasks; i++)
        sum += uneven_result(state->tasks[i].rounds);
    return sum;
}

static void uneven_finish(const struct uneven_state *state, uint64_t sum, struct outcome *out)
{
    out->answer = sum;
    out->ops = (uint64_t)state->params.tasks;
    out->digest = digest_mix(sum) + digest_mix(~out->ops);
}

static void uneven_run(void *state_, struct outcome *out)
{
    struct uneven_state *state = state_;
    if (state->params.shape == UNEVEN_FLAT) {
        uneven_finish(state, uneven_flat(state), out);
        return;
    }
    struct uneven_range root = {.first = state->tasks, .count = (size_t)state->params.tasks};
    struct fj_frame up;
    fj_begin(&up);
    uneven_visit(&up, &root.task);
    fj_end(&up);
    uneven_finish(state, root.sum, out);
}

static void uneven_run_serial(void *state_, struct outcome *out)
{
    struct uneven_state *state = state_;
    uneven_finish(state, uneven_serial(state), out);
}

static const char *uneven_verify(void *state_, const struct outcome *out, char *why,
                                 size_t why_size)
{
    struct uneven_state *state = state_;
    uint64_t tasks = (uint64_t)state->params.tasks;
    if (!state->expected_known) {
        state->expected = uneven_serial(state);
        state->expected_known = true;
    }
    if (out->answer == state->expected && out->ops == tasks)
        return NULL;
    snprintf(why, why_size,
             "uneven: expected %016" PRIx64 " from %" PRIu64 " tasks, found %016" PRIx64
             " from %" PRIu64,
             state->expected, tasks, out->answer, out->ops);
    return why;
}

/* Main and all tasks. A tree spawns one less than there are tasks, since its last leaf is a
 * call. */
static uint64_t uneven_live_gs_max(const void *params_)
{
    const struct uneven_params *params = params_;
    return (uint64_t)params->tasks + (params->shape == UNEVEN_FLAT);
}

static void *uneven_init(const void *params, uint64_t seed)
{
    struct uneven_state *state = go_alloc_zeroed(sizeof *state);
    state->params = *(const struct uneven_params *)params;
    size_t count = (size_t)state->params.tasks;
    state->tasks = go_alloc_zeroed(count * sizeof *state->tasks);
    uint64_t stream = digest_mix(seed); /* seeds beside each other must not share their draws */
    for (size_t i = 0; i < count; i++)
        state->tasks[i].rounds = uneven_draw(&state->params, i, digest_mix(stream + i));
    return state;
}

static void uneven_fini(void *state_)
{
    struct uneven_state *state = state_;
    go_free(state->tasks);
    go_free(state);
}

const struct workload workload_uneven = {
    .name = "uneven",
    .idea = "tasks of unequal lengths: who keeps all workers busy to the end",
    .op = "task",
    .source = "[HarcholBalter97]",
    .style = STYLE_FORKJOIN,
    .params = uneven_param_table,
    .params_size = sizeof(struct uneven_params),
    .live_gs_max = uneven_live_gs_max,
    .init = uneven_init,
    .run = uneven_run,
    .run_serial = uneven_run_serial,
    .verify = uneven_verify,
    .fini = uneven_fini,
};
