/* locality.c - a parent writes a block of memory, and the child it spawns reads it.
 *
 * The block may still be in a cache near by; that depends on who runs the child, and when. The
 * child runs at once on the same worker (warm); later on the same worker (the blocks written
 * meanwhile have pushed it out); or on another worker (it crosses from cache to cache).
 *
 *   tree  a binary tree divides the pairs among the workers; at its leaves a parent writes its
 *         block, spawns its child and waits for it. The block goes cold where the child joins the
 *         end of a queue and other parents write theirs first
 *   loop  one parent writes all blocks, spawning a child after each one, and waits at the end.
 *         Work-first runs each child at once; help-first goes on writing
 *
 * Source: [Acar00] on the cache misses of work stealing; the program is schedlab's own.
 */
#include "leaves.h"
#include "workload.h"

#include <inttypes.h>
#include <string.h>

enum locality_shape { LOCALITY_TREE, LOCALITY_LOOP };

#define LOCALITY_BYTES_MAX (INT64_C(4) << 30) /* of all blocks */
/* Between the first words of neighbouring blocks. */
#define LOCALITY_STEP UINT64_C(0x9e3779b97f4a7c15)

struct locality_params {
    int64_t bytes;
    int64_t pairs;
    int64_t shape;
};

/* A child: the block that it reads, and the sum of its words. */
struct locality_reader {
    struct fj_task task;
    const uint64_t *block;
    size_t words;
    uint64_t sum;
};

struct locality_state {
    struct locality_params params;
    size_t words; /* of a block */
    /* Word j of block i is base + i LOCALITY_STEP + j. Each run has another base, so that what an
     * earlier run left cannot pass for this one's. */
    uint64_t base;
    uint64_t *blocks;
    struct locality_reader *readers; /* shape loop */
};

/* A node of the tree: the pairs first .. first + count - 1. */
struct locality_range {
    struct fj_task task;
    const struct locality_state *state;
    size_t first, count;
    uint64_t sum;
};

static const char *const locality_shape_words[] = {"tree", "loop", NULL};

static const struct param locality_param_table[] = {
    PARAM_NUMBER(struct locality_params, bytes, 65536, 1024, 1048576, "bytes", "schedlab",
                 "size of the block that a parent writes and its child reads"),
    PARAM_NUMBER(struct locality_params, pairs, 256, 1, 1000000, "pairs", "schedlab",
                 "pairs of a parent and a child, each with a block of its own"),
    PARAM_WORD(struct locality_params, shape, locality_shape_words, LOCALITY_TREE, "schedlab",
               "tree: each pair has a parent, which waits for its child; loop: one parent for all"),
    {0},
};

static uint64_t *locality_write(const struct locality_state *state, size_t pair)
{
    uint64_t *block = state->blocks + pair * state->words;
    leaf_write(block, state->words, state->base + pair * LOCALITY_STEP);
    return block;
}

static void locality_read(struct fj_frame *up, struct fj_task *task)
{
    (void)up;
    struct locality_reader *self = FJ_SELF(task, struct locality_reader);
    self->sum = leaf_sum(self->block, self->words);
}

static void locality_visit(struct fj_frame *up, struct fj_task *task)
{
    struct locality_range *self = FJ_SELF(task, struct locality_range);
    struct fj_frame frame;
    fj_open(&frame, up);
    if (self->count == 1) {
        struct locality_reader child;
        child.block = locality_write(self->state, self->first);
        child.words = self->state->words;
        fj_spawn(&frame, &child.task, locality_read);
        fj_sync(&frame);
        self->sum = child.sum;
        return;
    }
    struct locality_range low, high;
    low.state = high.state = self->state;
    low.first = self->first;
    low.count = self->count / 2;
    high.first = low.first + low.count;
    high.count = self->count - low.count;
    fj_spawn(&frame, &low.task, locality_visit);
    locality_visit(&frame, &high.task);
    fj_sync(&frame);
    self->sum = low.sum + high.sum;
}

static uint64_t locality_loop(struct locality_state *state)
{
    size_t pairs = (size_t)state->params.pairs;
    uint64_t sum = 0;
    struct fj_frame up, frame;
    fj_begin(&up);
    fj_open(&frame, &up);
    for (size_t i = 0; i < pairs; i++) {
        struct locality_reader *child = &state->readers[i];
        child->block = locality_write(state, i);
        child->words = state->words;
        fj_spawn(&frame, &child->task, locality_read);
    }
    fj_sync(&frame);
    fj_end(&up);
    for (size_t i = 0; i < pairs; i++)
        sum += state->readers[i].sum;
    return sum;
}

/* Takes the run's base out again, so that all runs have one answer. */
static void locality_finish(const struct locality_state *state, uint64_t sum, struct outcome *out)
{
    uint64_t pairs = (uint64_t)state->params.pairs;
    out->answer = sum - state->base * pairs * state->words;
    out->ops = pairs;
    out->digest = digest_mix(out->answer) + digest_mix(~(pairs * state->words));
}

static void locality_run(void *state_, struct outcome *out)
{
    struct locality_state *state = state_;
    state->base = digest_mix(state->base);
    if (state->params.shape == LOCALITY_LOOP) {
        locality_finish(state, locality_loop(state), out);
        return;
    }
    struct locality_range root = {.state = state, .count = (size_t)state->params.pairs};
    struct fj_frame up;
    fj_begin(&up);
    locality_visit(&up, &root.task);
    fj_end(&up);
    locality_finish(state, root.sum, out);
}

static void locality_run_serial(void *state_, struct outcome *out)
{
    struct locality_state *state = state_;
    uint64_t sum = 0;
    state->base = digest_mix(state->base);
    for (size_t i = 0; i < (size_t)state->params.pairs; i++)
        sum += leaf_sum(locality_write(state, i), state->words);
    locality_finish(state, sum, out);
}

/* The sum of i LOCALITY_STEP + j over all words j of all blocks i. */
static const char *locality_verify(void *state_, const struct outcome *out, char *why,
                                   size_t why_size)
{
    struct locality_state *state = state_;
    uint64_t pairs = (uint64_t)state->params.pairs, words = state->words;
    uint64_t expected =
        LOCALITY_STEP * words * (pairs * (pairs - 1) / 2) + pairs * (words * (words - 1) / 2);
    if (out->answer == expected && out->ops == pairs)
        return NULL;
    snprintf(why, why_size,
             "locality: expected the sum %016" PRIx64 " of %" PRIu64 " blocks, found %016" PRIx64
             " of %" PRIu64,
             expected, pairs, out->answer, out->ops);
    return why;
}

static const char *locality_check(const void *params_)
{
    const struct locality_params *params = params_;
    if (params->bytes % (int64_t)sizeof(uint64_t) != 0)
        return "bytes must be a multiple of 8";
    if (params->bytes * params->pairs > LOCALITY_BYTES_MAX)
        return "bytes times pairs must be at most 4294967296 (4 GiB)";
    return NULL;
}

/* Main and a child per pair; in a tree, also the nodes above them, less those that are calls. */
static uint64_t locality_live_gs_max(const void *params_)
{
    const struct locality_params *params = params_;
    uint64_t pairs = (uint64_t)params->pairs;
    return params->shape == LOCALITY_LOOP ? 1 + pairs : 2 * pairs;
}

static void *locality_init(const void *params, uint64_t seed)
{
    struct locality_state *state = go_alloc_zeroed(sizeof *state);
    state->params = *(const struct locality_params *)params;
    size_t pairs = (size_t)state->params.pairs, bytes = (size_t)state->params.bytes;
    state->words = bytes / sizeof(uint64_t);
    state->base = seed;
    /* written here, so that the first run does not pay for fresh pages */
    state->blocks = memset(go_alloc(pairs * bytes), 0, pairs * bytes);
    if (state->params.shape == LOCALITY_LOOP)
        state->readers = go_alloc_zeroed(pairs * sizeof *state->readers);
    return state;
}

static void locality_fini(void *state_)
{
    struct locality_state *state = state_;
    go_free(state->blocks);
    go_free(state->readers);
    go_free(state);
}

const struct workload workload_locality = {
    .name = "locality",
    .idea = "a child reads what its parent has just written: hot caches pay",
    .op = "block",
    .source = "[Acar00]",
    .style = STYLE_FORKJOIN,
    .params = locality_param_table,
    .params_size = sizeof(struct locality_params),
    .live_gs_max = locality_live_gs_max,
    .check = locality_check,
    .init = locality_init,
    .run = locality_run,
    .run_serial = locality_run_serial,
    .verify = locality_verify,
    .fini = locality_fini,
};
