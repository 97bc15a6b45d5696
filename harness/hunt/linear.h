/* linear.h - does some order of the operations on a queue explain what they returned? One goes
 * after the other in it, and each lies between its beginning and its end. The set of all models
 * that explain it so far is kept while they run.
 *   Source: [HW90] linearizability.
 *
 * A beginning is the operation's first access, an end its last one. Items are 1 to 31; a result is
 * a set of them by bits: those that were taken.
 *
 * Callers: lone.c, on threads under test; harness/hunter/hunt_lone.c.
 */
#ifndef SCHEDLAB_HUNT_LINEAR_H
#define SCHEDLAB_HUNT_LINEAR_H

#include "hunt/explore.h"

#include <stdint.h>
#include <stdio.h>

/* X(NAME, word) */
#define LINEAR_OPERATIONS(X)                                                                       \
    X(PUT, "put")           /* to the back */                                                      \
    X(PUT_NEXT, "put next") /* into a slot before all others, whose item goes to the back */       \
    X(SEND, "send")         /* to the back, or refused (0) if there are `capacity`; else 1 */      \
    X(TAKE_BACK, "pop")     /* the newest */                                                       \
    X(TAKE_FRONT, "take")   /* the oldest */                                                       \
    X(TAKE_NEXT, "get")     /* that of the slot, else the oldest */                                \
    X(STEAL, "steal")       /* the oldest, or nothing because another was faster: LINEAR_LOST */   \
    X(STEAL_SHARE, "steal") /* some of the oldest, or that of the slot, or nothing */              \
    X(DRAIN, "take all")

enum linear_operation {
#define LINEAR_ID(name, word) LINEAR_##name,
    LINEAR_OPERATIONS(LINEAR_ID)
#undef LINEAR_ID
};
#define LINEAR_LOST (UINT32_C(1) << 31)

/* There is room for so many threads, items at one time, and beginnings and ends to be told. */
enum { LINEAR_THREADS = 4, LINEAR_ITEMS = 14, LINEAR_NOTES = 64 };

extern const struct explore_watcher linear_watcher;

/* How many SEND takes. Before the executions. */
void linear_capacity(int capacity);

/* The calling thread begins an operation, with that item; its number-th. It has ended; taken: the
 * result. Ends the execution as wrong if nothing explains that. */
void linear_begins(enum linear_operation operation, int item, uint64_t number);
void linear_ends(uint32_t taken);

#endif
