/* scenario.h - what the files of scenarios have in common.
 *
 *     struct NAME { ... };                        the state, zeroed
 *     static const char *NAME_crosses(struct NAME *state) { ... }
 *     SCENARIO(NAME, goroutines, workers, "idea", "the protocol's file")
 *
 * crosses() runs on the main goroutine and returns NULL, or one line that says what went wrong.
 * SCENARIO_WITH() is for one with parameters; its state begins with a struct NAME_params.
 */
#ifndef SCHEDLAB_SCENARIO_H
#define SCHEDLAB_SCENARIO_H

#include "workloads/workload.h"

#include <string.h>

/* Waits without giving the worker away: somebody else has to do it. */
static inline void until(const _Atomic uint32_t *count, uint32_t value)
{
    while (atomic_load_explicit(count, memory_order_acquire) < value)
        go_work(1);
}

/* In a loop that waits for others without standing still, after each round, counted from 0. From
 * some round on it rests, so that an algorithm without fairness lets others go on. */
enum { ROUNDS_IN_A_ROW = 20 };

static inline void round_ends(int round)
{
    if (round >= ROUNDS_IN_A_ROW)
        go_work(1);
}

/* One more; release, so that who waits until then sees what was done. */
static inline void tick(_Atomic uint32_t *count)
{
    atomic_fetch_add_explicit(count, 1, memory_order_acq_rel);
}

/* A goroutine that does no more than that. */
static inline void tick_main(void *count)
{
    tick(count);
}

static inline uint32_t ticks(const _Atomic uint32_t *count)
{
    return atomic_load_explicit(count, memory_order_acquire);
}

/* Two goroutines that do nothing, so that another worker is awake when the scenario begins. */
struct company {
    struct join joins[2];
    _Atomic uint32_t ran;
};

/* Waits no longer than for one that has a worker: on a single one it would wait for ever. */
static inline void company_comes(struct company *company)
{
    enum { ROUNDS = 100 };
    atomic_init(&company->ran, 0);
    for (int i = 0; i < 2; i++)
        join_go(&company->joins[i], tick_main, &company->ran);
    for (int i = 0; i < ROUNDS && !ticks(&company->ran); i++)
        go_work(1);
}

static inline void company_goes(struct company *company)
{
    for (int i = 0; i < 2; i++)
        join_wait(&company->joins[i]);
}

static inline const char *scenario_verify(void *state, const struct outcome *out, char *why,
                                          size_t size)
{
    const char *wrong = (const char *)(uintptr_t)out->answer;
    (void)state;
    if (!wrong)
        return NULL;
    snprintf(why, size, "%s", wrong);
    return why;
}

#define SCENARIO(name_, goroutines, workers_, idea_, source_)                                      \
    SCENARIO_UNLESS(NULL, name_, goroutines, workers_, idea_, source_)

/* With skip() of a workload, where a variant promises too little for it to end. */
#define SCENARIO_UNLESS(skip_, name_, goroutines, workers_, idea_, source_)                        \
    SCENARIO_OF(skip_, NULL, 0, name_, goroutines, workers_, idea_, source_)

/* With a table of parameters. A variant that is right passes with their defaults. */
#define SCENARIO_WITH(table_, name_, goroutines, workers_, idea_, source_)                         \
    SCENARIO_OF(NULL, table_, sizeof(struct name_##_params), name_, goroutines, workers_, idea_,   \
                source_)

#define SCENARIO_OF(skip_, table_, size_, name_, goroutines, workers_, idea_, source_)             \
    static uint64_t name_##_gs(const void *params)                                                 \
    {                                                                                              \
        (void)params;                                                                              \
        return (goroutines) + 3;                                                                   \
    }                                                                                              \
    static int name_##_workers(const void *params)                                                 \
    {                                                                                              \
        (void)params;                                                                              \
        return workers_;                                                                           \
    }                                                                                              \
    static void *name_##_init(const void *params, uint64_t seed)                                   \
    {                                                                                              \
        void *state = go_alloc_zeroed(sizeof(struct name_));                                       \
        (void)seed;                                                                                \
        if (params)                                                                                \
            memcpy(state, params, size_);                                                          \
        return state;                                                                              \
    }                                                                                              \
    static void name_##_run(void *state, struct outcome *out)                                      \
    {                                                                                              \
        struct company company;                                                                    \
        company_comes(&company);                                                                   \
        out->ops = 1;                                                                              \
        out->answer = (uintptr_t)name_##_crosses(state);                                           \
        company_goes(&company);                                                                    \
    }                                                                                              \
    const struct workload scenario_##name_ = {                                                     \
        .name = #name_,                                                                            \
        .idea = (idea_),                                                                           \
        .op = "execution",                                                                         \
        .source = (source_),                                                                       \
        .style = STYLE_GOROUTINE,                                                                  \
        .params = (table_),                                                                        \
        .params_size = (size_),                                                                    \
        .live_gs_max = name_##_gs,                                                                 \
        .workers_min = name_##_workers,                                                            \
        .skip = (skip_),                                                                           \
        .init = name_##_init,                                                                      \
        .run = name_##_run,                                                                        \
        .verify = scenario_verify,                                                                 \
        .fini = go_free,                                                                           \
    }

#endif
