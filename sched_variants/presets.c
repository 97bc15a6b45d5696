/* presets.c - see preset.h; sched_variants/README.md says what the presets leave out. */
#include "preset.h"

#include <stddef.h>

/* Tokio's multi-threaded scheduler is gmp's structure: a ring of 256 that overflows by half, a slot
 * for the newest, an injection queue that comes first every 61st time and otherwise gives len / P +
 * 1, thieves that take half, and searchers, at most half as many as there are workers. What gmp's
 * defaults do not say already: the slot's tasks run three times in a row at the most; thieves go
 * once round all workers, from a random one on; who yields, and what I/O makes ready, queues
 * locally; block_in_place() hands the worker on at once; nothing ends a slice. */
#define TOKIO                                                                                      \
    "runnext_cap=3,victim=rotate,passes=1,yield=local,netpoll_place=local,calls=immediate,"        \
    "preempt=none"

const struct preset presets[] = {
    {"tokio-1.50", "gmp", TOKIO ",backoff_ns=never,runnext_wake=off",
     "Tokio up to 1.50: the LIFO slot is private, and filling it wakes nobody",
     "[Tokio5712] [Tokio7431]"},
    {"tokio-1.51", "gmp", TOKIO ",backoff_ns=0",
     "Tokio 1.51.0: thieves take the LIFO slot's task at once, and are woken for it",
     "[Tokio5712] [Tokio7431]"},
    {NULL, NULL, NULL, NULL, NULL},
};
