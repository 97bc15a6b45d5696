/* fib.c - Fibonacci numbers the slow way, without a cut-off: nothing but spawns and syncs.
 *
 * Source: [Frigo98] s.2 and s.6, the program that shows the price of a spawn next to a call's.
 *   Differs: the leaf is n <= 2, so that the tree has exactly 2 F(n) - 1 activations.
 *
 * Five forms of one recursion:
 *   one   main calls fib(n); each activation spawns fib(n-1) and calls fib(n-2), as in Cilk
 *   both  main spawns fib(n); each activation spawns both children, then syncs. Every activation
 *         is then a child, and where children are goroutines all 2 F(n) - 1 of them are.
 *   last  main spawns fib(n); each activation spawns fib(n-1) and calls fib(n-2): that is its last
 *         child, for which there is nothing to go on with beside it
 *   chain main spawns fib(n); each activation spawns fib(n-1), waits for it, and only then spawns
 *         fib(n-2): a program that looks parallel, in which one child can run at a time
 *   channels  the same program as books on Go have it: each activation is a goroutine that sends
 *         its number on an unbuffered channel of its own, and closes that. Whoever has started it
 *         receives the number before it starts the next one. Goroutines and channels on every
 *         variant, where the other forms have children.
 *
 * The recursion counts nothing: counters would cost as much as what is measured. The number of
 * operations is the formula.
 */
#include "workload.h"

#include <inttypes.h>

enum fib_spawn {
    FIB_SPAWN_ONE,
    FIB_SPAWN_BOTH,
    FIB_SPAWN_LAST,
    FIB_SPAWN_CHAIN,
    FIB_SPAWN_CHANNELS
};

struct fib_params {
    int64_t n;
    int64_t spawn;
};

/* A child's memory: its record, and the word that brings n in and F(n) out. */
struct fib_child {
    struct fj_task task;
    uint64_t value;
};

static const char *const fib_spawn_words[] = {"one", "both", "last", "chain", "channels", NULL};

static const struct param fib_param_table[] = {
    PARAM_NUMBER(struct fib_params, n, 25, 0, 45, "1", "schedlab",
                 "which Fibonacci number; it takes 2 F(n) - 1 activations"),
    PARAM_WORD(
        struct fib_params, spawn, fib_spawn_words, FIB_SPAWN_ONE, "[Frigo98]",
        "one: spawn one child, call the other; both: spawn both; last: as one, and main "
        "spawns fib(n); chain: spawn both, one after the other; channels: likewise, as goroutines "
        "that send their numbers"),
    {0},
};

static uint64_t fib_one(struct fj_frame *up, uint64_t n);

static void fib_one_child(struct fj_frame *up, struct fj_task *task)
{
    struct fib_child *self = FJ_SELF(task, struct fib_child);
    self->value = fib_one(up, self->value);
}

static uint64_t fib_one(struct fj_frame *up, uint64_t n)
{
    if (n <= 2)
        return n > 0;
    struct fib_child x;
    struct fj_frame frame;
    x.value = n - 1;
    fj_open(&frame, up);
    fj_spawn(&frame, &x.task, fib_one_child);
    uint64_t y = fib_one(&frame, n - 2);
    if (fj_claim(&frame, &x.task))
        return fib_one(&frame, n - 1) + y;
    fj_sync(&frame);
    return x.value + y;
}

/* An activation that is a child itself. self_fn: this one, which its children run; calls_last: the
 * last of them is called, not spawned. Both are constants of the caller's. */
FJ_INLINE void fib_children(struct fj_frame *up, struct fj_task *task, fj_fn *self_fn,
                            bool calls_last)
{
    struct fib_child *self = FJ_SELF(task, struct fib_child);
    uint64_t n = self->value;
    if (n <= 2) {
        self->value = n > 0;
        return;
    }
    struct fib_child x, y;
    struct fj_frame frame;
    x.value = n - 1;
    y.value = n - 2;
    fj_open(&frame, up);
    fj_spawn(&frame, &x.task, self_fn);
    if (calls_last)
        fj_call(&frame, &y.task, self_fn);
    else
        fj_spawn(&frame, &y.task, self_fn);
    fj_sync(&frame);
    self->value = x.value + y.value;
}

static void fib_both(struct fj_frame *up, struct fj_task *task)
{
    fib_children(up, task, fib_both, false);
}

static void fib_last(struct fj_frame *up, struct fj_task *task)
{
    fib_children(up, task, fib_last, true);
}

static uint64_t fib_await(struct fj_frame *up, uint64_t n);

static void fib_chain(struct fj_frame *up, struct fj_task *task)
{
    struct fib_child *self = FJ_SELF(task, struct fib_child);
    uint64_t n = self->value;
    self->value = n <= 2 ? n > 0 : fib_await(up, n - 1) + fib_await(up, n - 2);
}

/* A child, and nothing beside it. */
static uint64_t fib_await(struct fj_frame *up, uint64_t n)
{
    struct fib_child x;
    struct fj_frame frame;
    x.value = n;
    fj_open(&frame, up);
    fj_spawn(&frame, &x.task, fib_chain);
    fj_sync(&frame);
    return x.value;
}

/* A goroutine of spawn=channels. Whoever leaves it last of sender and receiver frees it. */
struct fib_call {
    uint64_t n;
    struct chan *result;
    struct waitgroup *alive; /* all goroutines */
    _Atomic int users;
};

static void fib_call_leave(struct fib_call *call)
{
    if (atomic_fetch_sub(&call->users, 1) > 1)
        return;
    chan_free(call->result);
    go_free(call);
}

static uint64_t fib_receive(uint64_t n, struct waitgroup *alive);

static void fib_send(void *arg)
{
    struct fib_call *call = arg;
    struct waitgroup *alive = call->alive;
    uint64_t value = call->n > 0;
    if (call->n > 2) {
        value = fib_receive(call->n - 1, alive);
        value += fib_receive(call->n - 2, alive);
    }
    chan_send(call->result, &value);
    chan_close(call->result);
    fib_call_leave(call);
    wg_done(alive);
}

static uint64_t fib_receive(uint64_t n, struct waitgroup *alive)
{
    struct fib_call *call = go_alloc(sizeof *call);
    uint64_t value = 0;
    call->n = n;
    call->result = chan_make(sizeof value, 0);
    call->alive = alive;
    atomic_init(&call->users, 2);
    wg_add(alive, 1);
    go(fib_send, call);
    chan_recv(call->result, &value);
    fib_call_leave(call);
    return value;
}

/* Main has its number before the last goroutines have ended, and waits for these. */
static uint64_t fib_channels(uint64_t n)
{
    struct waitgroup alive = {0};
    uint64_t value = fib_receive(n, &alive);
    wg_wait(&alive);
    return value;
}

/* Not inlined into itself: an operation of the baseline is a call, whatever the compiler. */
__attribute__((noinline)) static uint64_t fib_serial(uint64_t n)
{
    return n <= 2 ? n > 0 : fib_serial(n - 1) + fib_serial(n - 2);
}

/* The independent answer: one addition a step. */
static uint64_t fib_iterative(int64_t n)
{
    uint64_t a = 0, b = 1;
    for (int64_t i = 0; i < n; i++) {
        uint64_t next = a + b;
        a = b;
        b = next;
    }
    return a;
}

static uint64_t fib_activations(int64_t n)
{
    return n <= 2 ? 1 : 2 * fib_iterative(n) - 1;
}

static void fib_finish(const struct fib_params *params, uint64_t answer, struct outcome *out)
{
    out->answer = answer;
    out->ops = fib_activations(params->n);
    out->digest = digest_mix(answer) + digest_mix(~out->ops);
}

static void fib_run(void *state, struct outcome *out)
{
    const struct fib_params *params = state;
    struct fib_child root;
    struct fj_frame up, frame;
    if (params->spawn == FIB_SPAWN_CHANNELS) {
        fib_finish(params, fib_channels((uint64_t)params->n), out);
        return;
    }
    fj_begin(&up);
    root.value = (uint64_t)params->n;
    if (params->spawn == FIB_SPAWN_ONE) {
        root.value = fib_one(&up, root.value);
    } else if (params->spawn == FIB_SPAWN_CHAIN) {
        root.value = fib_await(&up, root.value);
    } else {
        fj_open(&frame, &up);
        fj_spawn(&frame, &root.task, params->spawn == FIB_SPAWN_BOTH ? fib_both : fib_last);
        fj_sync(&frame);
    }
    fj_end(&up);
    fib_finish(params, root.value, out);
}

static void fib_run_serial(void *state, struct outcome *out)
{
    const struct fib_params *params = state;
    fib_finish(params, fib_serial((uint64_t)params->n), out);
}

static const char *fib_verify(void *state, const struct outcome *out, char *why, size_t why_size)
{
    const struct fib_params *params = state;
    struct outcome expected = {0};
    fib_finish(params, fib_iterative(params->n), &expected);
    if (out->answer != expected.answer)
        snprintf(why, why_size, "fib(%" PRId64 "): expected %" PRIu64 ", found %" PRIu64, params->n,
                 expected.answer, out->answer);
    else if (out->ops != expected.ops || out->digest != expected.digest)
        snprintf(why, why_size,
                 "fib(%" PRId64 "): expected %" PRIu64 " activations, found %" PRIu64, params->n,
                 expected.ops, out->ops);
    else
        return NULL;
    return why;
}

/* All activations can be alive at once: leaves unstarted, inner nodes waiting for them; with
 * channels, at the very end of theirs. */
static uint64_t fib_live_gs_max(const void *params_)
{
    const struct fib_params *params = params_;
    uint64_t activations = fib_activations(params->n);
    bool all = params->spawn == FIB_SPAWN_BOTH || params->spawn == FIB_SPAWN_CHANNELS;
    uint64_t spawned = all                                ? activations
                       : params->spawn == FIB_SPAWN_LAST  ? activations / 2 + 1
                       : params->spawn == FIB_SPAWN_CHAIN ? (uint64_t)params->n + 1
                                                          : activations / 2;
    return 1 + spawned;
}

static void *fib_init(const void *params, uint64_t seed)
{
    (void)seed;
    struct fib_params *state = go_alloc(sizeof *state);
    *state = *(const struct fib_params *)params;
    return state;
}

const struct workload workload_fib = {
    .name = "fib",
    .idea = "the bare price of spawn and sync: a lopsided tree of empty tasks",
    .op = "task",
    .source = "[Frigo98]",
    .style = STYLE_FORKJOIN,
    .params = fib_param_table,
    .params_size = sizeof(struct fib_params),
    .live_gs_max = fib_live_gs_max,
    .init = fib_init,
    .run = fib_run,
    .run_serial = fib_run_serial,
    .verify = fib_verify,
    .fini = go_free,
};
