/* outside.h - the variants and workloads of this program that live outside the tree.
 *
 * Callers: spec.c, for which they are as those of the registries; main.c, which checks them;
 * environment.c, since records tell of them; whoever runs a workload. A program that `make` built
 * has none. `schedlab build` and what takes its files (harness/author/) compile outside.c with
 * lists.
 */
#ifndef SCHEDLAB_OUTSIDE_H
#define SCHEDLAB_OUTSIDE_H

#include <stdbool.h>
#include <stdio.h>

struct sched_ops;

struct runq_ops;

/* The queue of such a variant that is a queue alone (runtime/runq.h); NULL of others. */
const struct runq_ops *outside_queue(const struct sched_ops *ops);

/* The origin of a variant that lives outside the tree; NULL of others. */
const char *outside_origin(const struct sched_ops *ops);

/* Why the file of such a variant does not fit this program, in a line; NULL if it fits. A stand-in
 * is there for it, which takes any knobs and cannot run: its samples fail for this reason. */
const char *outside_misfit(const struct sched_ops *ops);

/* NULL-terminated, all three in the same order; misfits are among them. */
extern const struct sched_ops *const outside_variants[];
extern const char *const outside_words[];   /* their names */
extern const char *const outside_origins[]; /* "mine.slv 0123456789abcdef": file, digest of it */

/* Workloads; likewise. */
struct workload;
extern const struct workload *const outside_workloads[];
extern const char *const outside_workload_words[];
extern const char *const outside_workload_origins[];
extern const bool outside_workload_forks[]; /* compiled once per policy of fork/join */

/* NULL for the registry's workloads, which workload_run() runs. Others, scenarios among them, run
 * by the run() of the result, compiled for the caller's scheduler. Main goroutine. */
const struct workload *outside_compiled(const struct workload *workload);

/* " --with ./mine.slv", for each of these files in their order: what a command needs between the
 * program's name and its own, to be of this program; nothing if there are none (outside_with.c).
 * Whoever starts the program leaves that text in the environment. Else it is made of origins. */
#define OUTSIDE_WITH "SCHEDLAB_WITH"
void outside_with_print(FILE *to);
char *outside_with_text(void); /* to be freed */

/* The same for one origin, of a file in the current folder. */
void outside_origin_print(FILE *to, const char *origin);

/* Does "mine,tick=64" name one of these variants or workloads? */
bool outside_is_named(const char *text);

#endif
