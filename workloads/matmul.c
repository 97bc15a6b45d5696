/* matmul.c - multiply two n x n matrices by halving the largest dimension until a block is small.
 *
 * Source: [Frigo99] s.2, the cache-oblivious REC-MULT; like Cilk's benchmarks ([Frigo98] s.6).
 *   Differs: 64-bit integers modulo 2^64 in place of doubles: the result does not depend on the
 *            order of additions, so that the check is exact.
 *
 * Halving rows or columns of the result gives two independent halves: one is spawned, one called.
 * Halving the inner dimension gives two updates of the same block, which must follow each other.
 * Regular, compute-bound, few tasks: the workload on which all schedulers should be equal.
 */
#include "leaves.h"
#include "workload.h"

#include <inttypes.h>
#include <string.h>

enum {
    MATMUL_PAD = 8,     /* words between rows: rows of 2^k words would share few cache sets */
    MATMUL_ROUNDS = 20, /* of Freivalds' check */
};

struct matmul_params {
    int64_t n;
    int64_t cutoff;
};

struct matmul_state {
    struct matmul_params params;
    size_t stride; /* words from one row to the next */
    uint64_t seed;
    uint64_t *a, *b, *c;
    uint64_t trace; /* of the product, computed without it */
};

/* c[rows x columns] += a[rows x inner] b[inner x columns]; `begin`: = in place of += */
struct matmul {
    struct fj_task task;
    const uint64_t *a, *b;
    uint64_t *c;
    size_t stride;
    uint32_t rows, columns, inner;
    uint32_t cutoff;
    bool begin;
};

static const struct param matmul_param_table[] = {
    PARAM_NUMBER(struct matmul_params, n, 256, 1, 8192, "rows", "schedlab",
                 "rows and columns of the matrices; n^3 multiply-adds"),
    PARAM_NUMBER(struct matmul_params, cutoff, 32, 8, 8192, "rows", "schedlab",
                 "blocks up to this size in each dimension are multiplied by plain loops"),
    {0},
};

static void matmul_block(const struct matmul *self)
{
    leaf_matmul(self->a, self->b, self->c, self->stride, self->rows, self->inner, self->columns,
                self->begin);
}

/* Cuts self into *low and *high along its largest dimension. True: they are independent. */
static bool matmul_halve(const struct matmul *self, struct matmul *low, struct matmul *high)
{
    *low = *high = *self;
    if (self->rows >= self->columns && self->rows >= self->inner) {
        low->rows = self->rows / 2;
        high->rows = self->rows - low->rows;
        high->a += low->rows * self->stride;
        high->c += low->rows * self->stride;
        return true;
    }
    if (self->columns >= self->inner) {
        low->columns = self->columns / 2;
        high->columns = self->columns - low->columns;
        high->b += low->columns;
        high->c += low->columns;
        return true;
    }
    low->inner = self->inner / 2;
    high->inner = self->inner - low->inner;
    high->a += low->inner;
    high->b += low->inner * self->stride;
    high->begin = false;
    return false;
}

static bool matmul_is_small(const struct matmul *self)
{
    return self->rows <= self->cutoff && self->columns <= self->cutoff &&
           self->inner <= self->cutoff;
}

static void matmul_multiply(struct fj_frame *up, struct fj_task *task)
{
    const struct matmul *self = FJ_SELF(task, struct matmul);
    if (matmul_is_small(self)) {
        matmul_block(self);
        return;
    }
    struct matmul low, high;
    struct fj_frame frame;
    fj_open(&frame, up);
    if (matmul_halve(self, &low, &high))
        fj_spawn(&frame, &low.task, matmul_multiply);
    else
        matmul_multiply(&frame, &low.task);
    matmul_multiply(&frame, &high.task);
    fj_sync(&frame);
}

static void matmul_serial(const struct matmul *self)
{
    if (matmul_is_small(self)) {
        matmul_block(self);
        return;
    }
    struct matmul low, high;
    matmul_halve(self, &low, &high);
    matmul_serial(&low);
    matmul_serial(&high);
}

static struct matmul matmul_root(const struct matmul_state *state)
{
    uint32_t n = (uint32_t)state->params.n;
    return (struct matmul){
        .a = state->a,
        .b = state->b,
        .c = state->c,
        .stride = state->stride,
        .rows = n,
        .columns = n,
        .inner = n,
        .cutoff = (uint32_t)state->params.cutoff,
        .begin = true,
    };
}

static void matmul_finish(const struct matmul_state *state, struct outcome *out)
{
    uint64_t n = (uint64_t)state->params.n, trace = 0;
    for (size_t i = 0; i < n; i++)
        trace += state->c[i * state->stride + i];
    out->answer = trace;
    out->ops = n * n * n;
    out->digest = digest_mix(trace) + digest_mix(~out->ops);
}

static void matmul_run(void *state_, struct outcome *out)
{
    struct matmul_state *state = state_;
    struct matmul root = matmul_root(state);
    struct fj_frame up;
    fj_begin(&up);
    matmul_multiply(&up, &root.task);
    fj_end(&up);
    matmul_finish(state, out);
}

static void matmul_run_serial(void *state_, struct outcome *out)
{
    struct matmul_state *state = state_;
    struct matmul root = matmul_root(state);
    matmul_serial(&root);
    matmul_finish(state, out);
}

/* y = matrix x */
static void matmul_times_vector(const struct matmul_state *state, const uint64_t *matrix,
                                const uint64_t *x, uint64_t *y)
{
    for (size_t i = 0; i < (size_t)state->params.n; i++) {
        y[i] = 0;
        for (size_t j = 0; j < (size_t)state->params.n; j++)
            y[i] += matrix[i * state->stride + j] * x[j];
    }
}

/* Source: [Freivalds77]. If c is not a b, then c x = a (b x) for at most half of all vectors x. */
static bool matmul_product_is_right(const struct matmul_state *state)
{
    size_t n = (size_t)state->params.n;
    uint64_t *x = go_alloc(4 * n * sizeof *x);
    uint64_t *bx = x + n, *abx = bx + n, *cx = abx + n;
    bool right = true;
    for (uint64_t round = 0; round < MATMUL_ROUNDS && right; round++) {
        for (size_t i = 0; i < n; i++)
            x[i] = digest_mix(~state->seed + round * n + i);
        matmul_times_vector(state, state->b, x, bx);
        matmul_times_vector(state, state->a, bx, abx);
        matmul_times_vector(state, state->c, x, cx);
        right = memcmp(abx, cx, n * sizeof *x) == 0;
    }
    go_free(x);
    return right;
}

/* Wipes the product afterwards, so that the next run cannot pass with this one's. */
static const char *matmul_verify(void *state_, const struct outcome *out, char *why,
                                 size_t why_size)
{
    struct matmul_state *state = state_;
    uint64_t n = (uint64_t)state->params.n;
    bool right = matmul_product_is_right(state);
    memset(state->c, 0xa5, n * state->stride * sizeof *state->c);
    if (out->answer != state->trace)
        snprintf(why, why_size, "matmul: expected trace %016" PRIx64 ", found %016" PRIx64,
                 state->trace, out->answer);
    else if (out->ops != n * n * n)
        snprintf(why, why_size, "matmul: expected %" PRIu64 " multiply-adds, found %" PRIu64,
                 n * n * n, out->ops);
    else if (!right)
        snprintf(why, why_size,
                 "matmul: expected the product, found another matrix of the same trace");
    else
        return NULL;
    return why;
}

/* Blocks of the result; the inner dimension adds none, its halves follow each other. */
static uint64_t matmul_live_gs_max(const void *params_)
{
    const struct matmul_params *params = params_;
    uint64_t pieces = 1;
    for (int64_t n = params->n; n > params->cutoff; n = (n + 1) / 2)
        pieces *= 2;
    return pieces * pieces;
}

static void *matmul_init(const void *params, uint64_t seed)
{
    struct matmul_state *state = go_alloc(sizeof *state);
    state->params = *(const struct matmul_params *)params;
    size_t n = (size_t)state->params.n;
    state->stride = n + MATMUL_PAD;
    state->seed = seed;
    size_t words = n * state->stride;
    state->a = go_alloc(words * sizeof *state->a);
    state->b = go_alloc(words * sizeof *state->b);
    for (size_t i = 0; i < words; i++) {
        state->a[i] = digest_mix(seed + 2 * i);
        state->b[i] = digest_mix(seed + 2 * i + 1);
    }
    state->c = memset(go_alloc(words * sizeof *state->c), 0xa5, words * sizeof *state->c);
    state->trace = 0;
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k < n; k++)
            state->trace += state->a[i * state->stride + k] * state->b[k * state->stride + i];
    }
    return state;
}

static void matmul_fini(void *state_)
{
    struct matmul_state *state = state_;
    go_free(state->a);
    go_free(state->b);
    go_free(state->c);
    go_free(state);
}

const struct workload workload_matmul = {
    .name = "matmul",
    .idea = "few large tasks of pure computing: all schedulers should be equal",
    .op = "multiply-add",
    .source = "[Frigo99]",
    .style = STYLE_FORKJOIN,
    .params = matmul_param_table,
    .params_size = sizeof(struct matmul_params),
    .live_gs_max = matmul_live_gs_max,
    .init = matmul_init,
    .run = matmul_run,
    .run_serial = matmul_run_serial,
    .verify = matmul_verify,
    .fini = matmul_fini,
};
