/* outside.c - see outside.h. */
#include "harness/spec/outside.h"

#include "sched.h"
#include "workloads/workload.h"

#include <stddef.h>

/* X(name)..., and "mine.slv 0123456789abcdef",..., of variants and of workloads */
#if !defined(OUTSIDE_VARIANTS)
#define OUTSIDE_VARIANTS(X)
#define OUTSIDE_ORIGINS
#define OUTSIDE_WORKLOADS(X)
#define OUTSIDE_WORKLOAD_ORIGINS
#endif

#define DECLARE(name) extern const struct sched_ops name##_ops;
OUTSIDE_VARIANTS(DECLARE)

#define ENTRY(name) &name##_ops,
const struct sched_ops *const outside_variants[] = {OUTSIDE_VARIANTS(ENTRY) NULL};

/* RUNQ_VARIANT() of runq.h defines it; of other variants there is none. */
#define DECLARE_QUEUE(name) extern const struct runq_ops *const name##_runq __attribute__((weak));
OUTSIDE_VARIANTS(DECLARE_QUEUE)

#define QUEUE(name) &name##_runq,
static const struct runq_ops *const *const queues[] = {OUTSIDE_VARIANTS(QUEUE) NULL};

#define WORD(name) #name,
const char *const outside_words[] = {OUTSIDE_VARIANTS(WORD) NULL};

const char *const outside_origins[] = {OUTSIDE_ORIGINS NULL};

/* X(name, style), as in workloads/registry.c. */
#define NAMES_GOROUTINE(name) workload_##name
#define NAMES_FORKJOIN(name)                                                                       \
    workload_##name##_FJ_GO, workload_##name##_FJ_HELP, workload_##name##_FJ_WORK,                 \
        workload_##name##_FJ_LINKED
#define DECLARE_WORKLOAD(name, style) extern const struct workload NAMES_##style(name);
OUTSIDE_WORKLOADS(DECLARE_WORKLOAD)

#define FIRST_GOROUTINE(name) &workload_##name
#define FIRST_FORKJOIN(name) &workload_##name##_FJ_GO
#define FIRST(name, style) FIRST_##style(name),
const struct workload *const outside_workloads[] = {OUTSIDE_WORKLOADS(FIRST) NULL};

#define WORKLOAD_WORD(name, style) #name,
const char *const outside_workload_words[] = {OUTSIDE_WORKLOADS(WORKLOAD_WORD) NULL};

const char *const outside_workload_origins[] = {OUTSIDE_WORKLOAD_ORIGINS NULL};

#define FORKS_GOROUTINE false
#define FORKS_FORKJOIN true
#define FORKS(name, style) FORKS_##style,
const bool outside_workload_forks[] = {OUTSIDE_WORKLOADS(FORKS) false};

#define ROW_GOROUTINE(name)                                                                        \
    {                                                                                              \
        &workload_##name, &workload_##name, &workload_##name, &workload_##name                     \
    }
#define ROW_FORKJOIN(name)                                                                         \
    {                                                                                              \
        [FJ_GO] = &workload_##name##_FJ_GO, [FJ_HELP] = &workload_##name##_FJ_HELP,                \
        [FJ_WORK] = &workload_##name##_FJ_WORK, [FJ_LINKED] = &workload_##name##_FJ_LINKED         \
    }
#define ROW(name, style) ROW_##style(name),
static const struct workload *const compiled[][FJ_LINKED + 1] = {OUTSIDE_WORKLOADS(ROW){NULL}};

const struct workload *outside_compiled(const struct workload *workload)
{
    for (size_t i = 0; workloads[i]; i++)
        if (workloads[i] == workload)
            return NULL;
    for (size_t i = 0; outside_workloads[i]; i++)
        if (outside_workloads[i] == workload)
            return compiled[i][fj_policy()];
    return workload;
}

const char *outside_origin(const struct sched_ops *ops)
{
    for (size_t i = 0; outside_variants[i]; i++)
        if (outside_variants[i] == ops)
            return outside_origins[i];
    return NULL;
}

const struct runq_ops *outside_queue(const struct sched_ops *ops)
{
    for (size_t i = 0; outside_variants[i]; i++)
        if (outside_variants[i] == ops)
            return queues[i] ? *queues[i] : NULL;
    return NULL;
}
