/* sleep_wake.c - a worker goes to sleep while another one submits work that only it can run. */
#include "workloads/workload.h"

enum { ROUNDS = 3 };

struct sleep_wake {
    _Atomic uint32_t ran;
    uint32_t lost;
};

static uint64_t live_gs_max(const void *params)
{
    (void)params;
    return ROUNDS + 1;
}

static void *sleep_wake_init(const void *params, uint64_t seed)
{
    (void)params;
    (void)seed;
    return go_alloc_zeroed(sizeof(struct sleep_wake));
}

static void child(void *arg)
{
    struct sleep_wake *state = arg;
    atomic_fetch_add_explicit(&state->ran, 1, memory_order_relaxed);
}

static void sleep_wake_run(void *arg, struct outcome *out)
{
    struct sleep_wake *state = arg;
    for (uint32_t i = 1; i <= ROUNDS; i++) {
        go_global(child, state);
        while (atomic_load_explicit(&state->ran, memory_order_relaxed) < i)
            go_work(1);
    }
    out->ops = ROUNDS;
    out->answer = atomic_load_explicit(&state->ran, memory_order_relaxed);
}

static const char *sleep_wake_verify(void *arg, const struct outcome *out, char *why, size_t size)
{
    (void)arg;
    if (out->answer == ROUNDS)
        return NULL;
    snprintf(why, size, "expected %d runs, found %d", ROUNDS, (int)out->answer);
    return why;
}

static void sleep_wake_fini(void *arg)
{
    go_free(arg);
}

const struct workload scenario_sleep_wake = {
    .name = "sleep_wake",
    .idea = "a worker goes to sleep while another submits what only it can run",
    .op = "wake-up",
    .source = "runtime/idle.c, the sleeping dance",
    .style = STYLE_GOROUTINE,
    .live_gs_max = live_gs_max,
    .init = sleep_wake_init,
    .run = sleep_wake_run,
    .verify = sleep_wake_verify,
    .fini = sleep_wake_fini,
};
