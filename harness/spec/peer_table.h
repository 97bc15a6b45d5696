/* peer_table.h - other runtimes as variants, "peer:go" and its like; and floors, "floor:core" and
 * its like, which are hand-written programs without a scheduler.
 *
 * Callers: spec.c, which lists them behind `serial`; list, run, sample and report, on thread
 * stacks. A peer is a program of its own, built by `make peers` from harness/peers; the protocol
 * is in harness/peers/README.md. Its struct sched_ops has a name and what limits goroutines
 * (thread_per_g, forkjoin), no knobs and no functions.
 */
#ifndef SCHEDLAB_PEER_TABLE_H
#define SCHEDLAB_PEER_TABLE_H

#include "harness/base/error.h"

#include <stdbool.h>
#include <stddef.h>

struct sched_ops;

#define PEER_PREFIX "peer:"
#define FLOOR_PREFIX "floor:"

/* The i-th peer; NULL past the last one. */
const struct sched_ops *peer_variant(size_t i);

/* True if the variant is another runtime, a floor or not. */
bool peer_is(const struct sched_ops *ops);

/* The same by name, for any text of a specification: another runtime; a floor, which `serial` is
 * too. No runtime competes with a floor. */
bool peer_is_name(const char *spec);
bool peer_is_floor_name(const char *spec);

/* The peer's program, in the folder named by the environment variable SCHEDLAB_PEERS, else in
 * build/peers of the source tree. pre: peer_is(ops). Returns path. */
char *peer_program(const struct sched_ops *ops, char *path, size_t path_size);

/* NULL if the program is there; else one line on how to get it, written into why. */
const char *peer_absence(const struct sched_ops *ops, struct error *why);

#endif
