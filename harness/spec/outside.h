/* outside.h - the variants of this program that live outside the tree.
 *
 * Callers: spec.c, for which they are variants as those of sched_variants[] are; main.c, which
 * checks them; environment.c, since records tell of them. A program that `make` built has none.
 * `schedlab build` and what takes its files (harness/author/) compile outside.c with a list.
 */
#ifndef SCHEDLAB_OUTSIDE_H
#define SCHEDLAB_OUTSIDE_H

struct sched_ops;

/* The origin of a variant that lives outside the tree; NULL of others. */
const char *outside_origin(const struct sched_ops *ops);

/* NULL-terminated, all three in the same order. */
extern const struct sched_ops *const outside_variants[];
extern const char *const outside_words[];   /* their names */
extern const char *const outside_origins[]; /* "mine.slv 0123456789abcdef": file, digest of it */

#endif
