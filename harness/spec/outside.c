/* outside.c - see outside.h. */
#include "harness/spec/outside.h"

#include "sched.h"
#include "workloads/workload.h"

#include <stddef.h>

/* X(name)..., and ORIGIN("mine.slv 0123456789abcdef"),..., of variants and of workloads;
 * X(name, reason)... of misfits, whose origins come behind those of variants */
#if !defined(OUTSIDE_VARIANTS)
#define OUTSIDE_VARIANTS(X)
#define OUTSIDE_MISFITS(X)
#define OUTSIDE_ORIGINS
#define OUTSIDE_WORKLOADS(X)
#define OUTSIDE_WORKLOAD_ORIGINS
#endif

/* As long for all names of files: the code of two programs with the same variants is the same to
 * the byte then, which a replay of the hunt looks at (harness/hunt/replay.c). */
#define ORIGIN(text)                                                                               \
    (const char[ORIGIN_SIZE])                                                                      \
    {                                                                                              \
        text                                                                                       \
    }
enum { ORIGIN_SIZE = 4096 };

#define DECLARE(name) extern const struct sched_ops name##_ops;
OUTSIDE_VARIANTS(DECLARE)

/* Misfits ------------------------------------------------------------------------------------- */

static _Noreturn void misfit_init(struct sched *sched)
{
    fatal("%s", outside_misfit(sched->ops));
}

static _Noreturn void misfit_ready(struct m *m, struct g *gp, enum ready_how how)
{
    (void)gp;
    (void)how;
    misfit_init(m->sched);
}

static _Noreturn struct g *misfit_pick(struct m *m, bool *inherit)
{
    (void)inherit;
    misfit_init(m->sched);
}

static const struct param misfit_knobs[] = {{0}};

/* The last one has no name, and is none. */
#define MISFIT_HOOKS                                                                               \
    .idea = "a file that does not fit this program", .source = "outside", .knobs = misfit_knobs,   \
    .knobs_size = sizeof(struct runtime_knobs), .blocks = true, .init = misfit_init,               \
    .ready = misfit_ready, .pick = misfit_pick
#define MISFIT(name_, reason_) {.name = #name_, MISFIT_HOOKS},
static const struct sched_ops misfits[] = {OUTSIDE_MISFITS(MISFIT){MISFIT_HOOKS}};

#define REASON(name, reason) reason,
static const char *const misfit_reasons[] = {OUTSIDE_MISFITS(REASON) NULL};

const char *outside_misfit(const struct sched_ops *ops)
{
    for (size_t i = 0; misfit_reasons[i]; i++)
        if (&misfits[i] == ops)
            return misfit_reasons[i];
    return NULL;
}

/* Lists --------------------------------------------------------------------------------------- */

#define MISFIT_PLACE(name, reason) MISFIT_##name,
enum { OUTSIDE_MISFITS(MISFIT_PLACE) MISFITS };

#define ENTRY(name) &name##_ops,
#define MISFIT_ENTRY(name, reason) &misfits[MISFIT_##name],
const struct sched_ops *const outside_variants[] = {OUTSIDE_VARIANTS(ENTRY)
                                                        OUTSIDE_MISFITS(MISFIT_ENTRY) NULL};

/* RUNQ_VARIANT() of runq.h defines it; of other variants there is none. */
#define DECLARE_QUEUE(name) extern const struct runq_ops *const name##_runq __attribute__((weak));
OUTSIDE_VARIANTS(DECLARE_QUEUE)

#define QUEUE(name) &name##_runq,
#define MISFIT_QUEUE(name, reason) NULL,
static const struct runq_ops *const *const queues[] = {OUTSIDE_VARIANTS(QUEUE)
                                                           OUTSIDE_MISFITS(MISFIT_QUEUE) NULL};

#define WORD(name) #name,
#define MISFIT_WORD(name, reason) #name,
const char *const outside_words[] = {OUTSIDE_VARIANTS(WORD) OUTSIDE_MISFITS(MISFIT_WORD) NULL};

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
