/* invariant.c - what is said when an invariant is broken; see invariant.h. */
#include "machine.h"

#ifdef SCHEDLAB_DEBUG

#include <stdio.h>

/* The part of an x_is_valid() that has just failed. relaxed: its INVARIANT asks next. */
static _Atomic(const char *) part;

void invariant_part_fails(const char *fact)
{
    atomic_store_explicit(&part, fact, memory_order_relaxed);
}

/* Any stack, which may be a goroutine's: snprintf of short texts fits. */
void invariant_broken(const char *function, const char *fact)
{
    char text[1024];
    const char *why = atomic_load_explicit(&part, memory_order_relaxed);
    snprintf(text, sizeof text, "schedlab: fatal: %s: invariant broken: %s\n%s%s%s", function, fact,
             why ? "schedlab: fatal: for lack of: " : "", why ? why : "", why ? "\n" : "");
    machine_die(text, EXIT_INVARIANT);
}

#endif
