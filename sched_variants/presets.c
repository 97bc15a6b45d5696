/* presets.c - see preset.h; sched_variants/README.md says what the presets leave out. */
#include "preset.h"

#include <stddef.h>

/* Tokio's multi-threaded scheduler has gmp's structure. A ring of 256 overflows by half, and a slot
 * holds the newest task. An injection queue comes first every 61st time and otherwise gives len / P
 * + 1. Thieves take half. At most half as many workers search as there are. The knobs below say
 * what differs from gmp's defaults. The slot's tasks run three times in a row at the most. Thieves
 * go once round all workers, from a random one on. Yielding tasks, and tasks that I/O makes ready,
 * queue locally. block_in_place() hands the worker on at once. Nothing ends a slice. */
#define TOKIO                                                                                      \
    "runnext_cap=3,victim=rotate,passes=1,yield=local,netpoll_place=local,calls=immediate,"        \
    "preempt=none"

const struct preset presets[] = {
    {"tokio-1.50", "gmp", TOKIO ",backoff_ns=never,runnext_wake=off",
     "Tokio up to 1.50: a private LIFO slot, which wakes nobody", "[Tokio5712] [Tokio7431]"},
    {"tokio-1.51", "gmp", TOKIO ",backoff_ns=0",
     "Tokio 1.51.0: thieves may take the LIFO slot, and are woken for it",
     "[Tokio5712] [Tokio7431]"},
    {NULL, NULL, NULL, NULL, NULL},
};
