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

#define WORD(name) #name,
const char *const outside_words[] = {OUTSIDE_VARIANTS(WORD) NULL};

const char *const outside_origins[] = {OUTSIDE_ORIGINS NULL};

#define DECLARE_WORKLOAD(name) extern const struct workload workload_##name;
OUTSIDE_WORKLOADS(DECLARE_WORKLOAD)

#define WORKLOAD_ENTRY(name) &workload_##name,
const struct workload *const outside_workloads[] = {OUTSIDE_WORKLOADS(WORKLOAD_ENTRY) NULL};

const char *const outside_workload_words[] = {OUTSIDE_WORKLOADS(WORD) NULL};

const char *const outside_workload_origins[] = {OUTSIDE_WORKLOAD_ORIGINS NULL};

bool outside_has(const struct workload *workload)
{
    size_t i = 0;
    while (workloads[i] && workloads[i] != workload)
        i++;
    return !workloads[i];
}

const char *outside_origin(const struct sched_ops *ops)
{
    for (size_t i = 0; outside_variants[i]; i++)
        if (outside_variants[i] == ops)
            return outside_origins[i];
    return NULL;
}
