/* registry_check.h - whether variants and workloads are filled in as their contracts ask.
 *
 * Callers: of the tree's, tests, the conformance suite and debug builds at every start; main.c at
 * every start of those from outside the tree. So a mistake in a new one is found before anything
 * runs into it. It is told in one line that names the file, the field and what is expected there.
 * No library but C's. It cannot see a table of knobs without {0} at its end.
 */
#ifndef SCHEDLAB_REGISTRY_CHECK_H
#define SCHEDLAB_REGISTRY_CHECK_H

#include "harness/base/error.h"

#include "param.h"

#include <stdbool.h>

struct runq_ops;
struct sched_ops;
struct workload;

/* Entries and the words that the registries list them by; all NULL-terminated. */
struct registry {
    const struct sched_ops *const *variants;
    const char *const *variant_words;
    const struct workload *const *workloads;
    const char *const *workload_words;
    const char *const *from;           /* where each variant comes from; NULL: sched_variants/ */
    const char *const *workloads_from; /* NULL: workloads/ */
    /* The queue of a variant that is a queue alone, NULL of others; NULL: nobody asks. */
    const struct runq_ops *(*queue)(const struct sched_ops *ops);
    const struct param *common; /* settings of all variants, whose keys are taken; may be NULL */
    const bool *forks; /* which workloads are compiled once per policy of fork/join; NULL: the
                        * Makefile has checked it */
};

/* True, or false and one line in error. */
bool registry_check(const struct registry *registry, struct error *error);

#endif
