/* outside.c - see outside.h. */
#include "harness/spec/outside.h"

#include "sched.h"

#include <stddef.h>

/* X(name)..., and "mine.slv 0123456789abcdef",... */
#if !defined(OUTSIDE_VARIANTS)
#define OUTSIDE_VARIANTS(X)
#define OUTSIDE_ORIGINS
#endif

#define DECLARE(name) extern const struct sched_ops name##_ops;
OUTSIDE_VARIANTS(DECLARE)

#define ENTRY(name) &name##_ops,
const struct sched_ops *const outside_variants[] = {OUTSIDE_VARIANTS(ENTRY) NULL};

#define WORD(name) #name,
const char *const outside_words[] = {OUTSIDE_VARIANTS(WORD) NULL};

const char *const outside_origins[] = {OUTSIDE_ORIGINS NULL};

const char *outside_origin(const struct sched_ops *ops)
{
    for (size_t i = 0; outside_variants[i]; i++)
        if (outside_variants[i] == ops)
            return outside_origins[i];
    return NULL;
}
