/* nqueens.c - all ways to place n queens on an n x n board so that none attacks another.
 *
 * Source: [Frigo98] s.6, one of Cilk's benchmarks; the answers are [OEIS] A000170.
 *
 * A node of the search is a board with its first `row` rows filled. It tries all columns of the
 * next row; each one that is safe is a placement: a child with a copy of the board, written by the
 * parent and read by the child. So work moves between workers together with a little data.
 *
 * Placements do not depend on the cut-off; with cutoff=0 each of them is a task. They are counted
 * as part of what each node returns, so that no counter is shared.
 */
#include "leaves.h"
#include "workload.h"

#include <inttypes.h>
#include <string.h>

enum { QUEENS_MAX = 16 };

struct queens_params {
    int64_t n;
    int64_t cutoff;
};

struct queens {
    struct fj_task task;
    struct leaf_queens below; /* what this node returns; placements without its own */
    uint8_t n;
    uint8_t row;               /* rows filled */
    uint8_t cutoff;            /* nodes with that many rows filled, or more, spawn nothing */
    uint8_t board[QUEENS_MAX]; /* column of the queen in each filled row */
};

struct queens_state {
    struct queens_params params;
    struct leaf_queens found;
};

/* Placements: counted once with a program that has nothing in common with this one (three bit sets
 * for columns and diagonals, a loop over their free bits). */
static const struct leaf_queens queens_known[QUEENS_MAX + 1] = {
    [1] = {1, 1},
    [2] = {0, 2},
    [3] = {0, 5},
    [4] = {2, 16},
    [5] = {10, 53},
    [6] = {4, 152},
    [7] = {40, 551},
    [8] = {92, 2056},
    [9] = {352, 8393},
    [10] = {724, 35538},
    [11] = {2680, 166925},
    [12] = {14200, 856188},
    [13] = {73712, 4674889},
    [14] = {365596, 27358552},
    [15] = {2279184, 171129071},
    [16] = {14772512, 1141190302},
};

static const struct param queens_param_table[] = {
    PARAM_NUMBER(struct queens_params, n, 10, 1, QUEENS_MAX, "queens", "schedlab",
                 "queens, and rows and columns of the board"),
    PARAM_NUMBER(struct queens_params, cutoff, 0, 0, QUEENS_MAX, "rows", "schedlab",
                 "rows from the top whose placements are tasks, not plain calls; 0: all rows"),
    {0},
};

static void queens_search(struct fj_frame *up, struct fj_task *task)
{
    struct queens *self = FJ_SELF(task, struct queens);
    uint8_t n = self->n, row = self->row, cutoff = self->cutoff;
    if (row == n || row >= cutoff) {
        self->below = leaf_queens_search(self->board, n, row);
        return;
    }
    struct queens child[QUEENS_MAX];
    struct fj_frame frame;
    fj_open(&frame, up);
    struct queens *next = child;
    int column = -1;
    while ((column = leaf_queens_next(self->board, n, row, column + 1)) < n) {
        next->n = n;
        next->row = row + 1;
        next->cutoff = cutoff;
        memcpy(next->board, self->board, sizeof next->board);
        next->board[row] = (uint8_t)column;
        fj_spawn(&frame, &next->task, queens_search);
        next++;
    }
    fj_sync(&frame);
    struct leaf_queens below = {.placements = (uint64_t)(next - child)};
    while (next-- > child) {
        below.solutions += next->below.solutions;
        below.placements += next->below.placements;
    }
    self->below = below;
}

static void queens_finish(struct queens_state *state, struct leaf_queens found, struct outcome *out)
{
    state->found = found;
    out->answer = found.solutions;
    out->ops = found.placements;
    out->digest = digest_mix(found.solutions) + digest_mix(~found.placements);
}

static void queens_run(void *state_, struct outcome *out)
{
    struct queens_state *state = state_;
    struct queens root = {.n = (uint8_t)state->params.n, .cutoff = (uint8_t)state->params.cutoff};
    if (root.cutoff == 0)
        root.cutoff = QUEENS_MAX;
    struct fj_frame up;
    fj_begin(&up);
    queens_search(&up, &root.task);
    fj_end(&up);
    queens_finish(state, root.below, out);
}

static void queens_run_serial(void *state_, struct outcome *out)
{
    struct queens_state *state = state_;
    uint8_t board[QUEENS_MAX] = {0};
    queens_finish(state, leaf_queens_search(board, (int)state->params.n, 0), out);
}

static const char *queens_verify(void *state_, const struct outcome *out, char *why,
                                 size_t why_size)
{
    struct queens_state *state = state_;
    const struct leaf_queens *known = &queens_known[state->params.n];
    if (out->answer != known->solutions)
        snprintf(why, why_size,
                 "nqueens(%" PRId64 "): expected %" PRIu64 " solutions, found %" PRIu64,
                 state->params.n, known->solutions, out->answer);
    else if (out->ops != known->placements)
        snprintf(why, why_size,
                 "nqueens(%" PRId64 "): expected %" PRIu64 " placements, found %" PRIu64,
                 state->params.n, known->placements, out->ops);
    else
        return NULL;
    return why;
}

/* Every task that is ever spawned can be alive at once. Above a cut-off they are at most the ways
 * to choose different columns for the rows. */
static uint64_t queens_live_gs_max(const void *params_)
{
    const struct queens_params *params = params_;
    uint64_t placements = queens_known[params->n].placements;
    uint64_t spawned = 0, row_max = 1;
    if (params->cutoff == 0)
        return 1 + placements;
    for (int64_t row = 0; row < params->cutoff && row < params->n && spawned < placements; row++) {
        row_max *= (uint64_t)(params->n - row);
        spawned += row_max;
    }
    return 1 + (spawned < placements ? spawned : placements);
}

static void *queens_init(const void *params, uint64_t seed)
{
    (void)seed;
    struct queens_state *state = go_alloc_zeroed(sizeof *state);
    state->params = *(const struct queens_params *)params;
    return state;
}

const struct workload workload_nqueens = {
    .name = "nqueens",
    .idea = "an irregular tree of small tasks that carry a board each",
    .op = "placement",
    .source = "[Frigo98]",
    .style = STYLE_FORKJOIN,
    .params = queens_param_table,
    .params_size = sizeof(struct queens_params),
    .live_gs_max = queens_live_gs_max,
    .init = queens_init,
    .run = queens_run,
    .run_serial = queens_run_serial,
    .verify = queens_verify,
    .fini = go_free,
};
