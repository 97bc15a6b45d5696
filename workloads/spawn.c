/* spawn.c - goroutines that do next to nothing: the price of making, running and ending one.
 *
 * Source: Go 1.26 runtime/proc_test.go BenchmarkCreateGoroutines, BenchmarkCreateGoroutinesSingle.
 *   Differs: every goroutine leaves a mark of its own, so that a lost or repeated one is found.
 *
 *   mode=batch  the creators start all n, then one wait group waits for them: up to n alive
 *   mode=one    each creator starts one, joins it, and starts the next: one alive per creator
 *
 * With creators=1 the main goroutine creates; otherwise so many goroutines do, n / creators each.
 * Goroutine i adds i + 1 to a slot of its own; nothing but the wait group's counter is shared.
 */
#include "workload.h"

#include <inttypes.h>
#include <string.h>

enum spawn_mode { SPAWN_BATCH, SPAWN_ONE };

struct spawn_params {
    int64_t n;
    int64_t mode;
    int64_t creators;
};

struct spawn_state;

struct spawn_slot {
    struct spawn_state *state;
    uint64_t mark; /* written by the slot's goroutine, read after it was waited for */
};

struct spawn_creator {
    struct spawn_state *state;
    int64_t first, count; /* the slots it fills */
};

struct spawn_state {
    struct spawn_params params;
    struct spawn_slot *slots;
    struct spawn_creator *creators;
    struct waitgroup done; /* children in mode=batch, and the creators if there are several */
};

static const char *const spawn_mode_words[] = {"batch", "one", NULL};

static const struct param spawn_param_table[] = {
    PARAM_NUMBER(struct spawn_params, n, 100000, 1, 10000000, "Gs", "schedlab",
                 "how many goroutines are started in all"),
    PARAM_WORD(struct spawn_params, mode, spawn_mode_words, SPAWN_BATCH,
               "Go 1.26 runtime/proc_test.go",
               "batch: start all, then wait once; one: start and join one at a time"),
    PARAM_NUMBER(struct spawn_params, creators, 1, 1, 10000, "Gs", "schedlab",
                 "how many goroutines start the others; 1: main does"),
    {0},
};

static uint64_t spawn_live_gs_max(const void *params)
{
    const struct spawn_params *p = params;
    uint64_t creators = p->creators > 1 ? (uint64_t)p->creators + 1 : 1; /* main included */
    return creators + (p->mode == SPAWN_BATCH ? (uint64_t)p->n : (uint64_t)p->creators);
}

/* Children never wait, so that those which have not begun have no stack. */
static uint64_t spawn_begun_gs_max(const void *params)
{
    return (uint64_t)((const struct spawn_params *)params)->creators + 1; /* main included */
}

static const char *spawn_check(const void *params)
{
    const struct spawn_params *p = params;
    return p->creators > p->n ? "creators must not be more than n" : NULL;
}

static void *spawn_init(const void *params, uint64_t seed)
{
    (void)seed;
    struct spawn_state *state = go_alloc_zeroed(sizeof(*state));
    state->params = *(const struct spawn_params *)params;
    int64_t n = state->params.n, creators = state->params.creators;
    state->slots = go_alloc_zeroed((size_t)n * sizeof(state->slots[0]));
    for (int64_t i = 0; i < n; i++)
        state->slots[i].state = state;
    state->creators = go_alloc_zeroed((size_t)creators * sizeof(state->creators[0]));
    for (int64_t c = 0; c < creators; c++) {
        int64_t first = n * c / creators;
        state->creators[c].state = state;
        state->creators[c].first = first;
        state->creators[c].count = n * (c + 1) / creators - first;
    }
    return state;
}

static inline void spawn_mark(struct spawn_slot *slot)
{
    slot->mark += (uint64_t)(slot - slot->state->slots) + 1;
}

static void spawn_joined_child(void *arg)
{
    spawn_mark(arg);
}

static void spawn_batch_child(void *arg)
{
    struct spawn_slot *slot = arg;
    spawn_mark(slot);
    wg_done(&slot->state->done);
}

/* The creator's share; in mode=one all of its children have ended when it returns. */
static void spawn_create(struct spawn_creator *creator)
{
    struct spawn_slot *slot = &creator->state->slots[creator->first];
    struct spawn_slot *end = slot + creator->count;
    if (creator->state->params.mode == SPAWN_BATCH) {
        for (; slot < end; slot++)
            go(spawn_batch_child, slot);
        return;
    }
    for (; slot < end; slot++) {
        struct join join;
        join_go(&join, spawn_joined_child, slot);
        join_wait(&join);
    }
}

static void spawn_creator_main(void *arg)
{
    struct spawn_creator *creator = arg;
    spawn_create(creator);
    wg_done(&creator->state->done);
}

static void spawn_run(void *arg, struct outcome *out)
{
    struct spawn_state *state = arg;
    int64_t n = state->params.n, creators = state->params.creators;
    for (int64_t i = 0; i < n; i++)
        state->slots[i].mark = 0;

    int64_t start = go_now();
    if (state->params.mode == SPAWN_BATCH)
        wg_add(&state->done, (int32_t)n);
    if (creators == 1) {
        spawn_create(&state->creators[0]);
    } else {
        wg_add(&state->done, (int32_t)creators);
        for (int64_t c = 0; c < creators; c++)
            go(spawn_creator_main, &state->creators[c]);
    }
    wg_wait(&state->done);
    out->time_ns = go_now() - start;

    for (int64_t i = 0; i < n; i++) {
        out->answer += state->slots[i].mark;
        out->digest += digest_mix(state->slots[i].mark);
    }
    out->ops = (uint64_t)n;
}

/* The marks are 1..n: their sum has a closed formula, and each must be in its own slot. */
static const char *spawn_verify(void *arg, const struct outcome *out, char *why, size_t why_size)
{
    const struct spawn_state *state = arg;
    uint64_t n = (uint64_t)state->params.n;
    for (uint64_t i = 0; i < n; i++) {
        if (state->slots[i].mark != i + 1) {
            snprintf(why, why_size,
                     "goroutine %" PRIu64 " of %" PRIu64 " left %" PRIu64 ", not %" PRIu64
                     " (0: it did not run)",
                     i, n, state->slots[i].mark, i + 1);
            return why;
        }
    }
    uint64_t sum = n * (n + 1) / 2;
    if (out->answer != sum || out->ops != n) {
        snprintf(why, why_size,
                 "expected the sum %" PRIu64 " of %" PRIu64 " goroutines, found %" PRIu64
                 " of %" PRIu64,
                 sum, n, out->answer, out->ops);
        return why;
    }
    return NULL;
}

static void spawn_fini(void *arg)
{
    struct spawn_state *state = arg;
    go_free(state->creators);
    go_free(state->slots);
    go_free(state);
}

const struct workload workload_spawn = {
    .name = "spawn",
    .idea = "empty goroutines: the cost of starting and ending one",
    .op = "spawn",
    .source = "Go 1.26 runtime/proc_test.go BenchmarkCreateGoroutines",
    .style = STYLE_GOROUTINE,
    .params = spawn_param_table,
    .params_size = sizeof(struct spawn_params),
    .live_gs_max = spawn_live_gs_max,
    .begun_gs_max = spawn_begun_gs_max,
    .check = spawn_check,
    .init = spawn_init,
    .run = spawn_run,
    .verify = spawn_verify,
    .fini = spawn_fini,
};
