/* explore.h - all executions of a small program, up to those that cannot differ any more.
 *
 * Depth first: an execution follows the choices of an earlier one up to a point, and makes the next
 * one there. It ends where it comes to a state that was met before. So each choice of each state
 * is made once. A state is
 *
 *     for each thread     a hash of what its operation has read so far; whether it can go on
 *     memory              that the program has named, and what watches it
 *
 * So an operation must depend on nothing else: not on time, nor on what earlier operations left
 * elsewhere. A thread that rests has to forget what it has read in this operation, as one does that
 * waits for a lock. States are told apart by 64 bits of hash.
 *
 * Points are those of hunt.h under sequential consistency. Words are learnt as shared all the time.
 * If there are more in the end than at first, all begins anew: so no access to a shared word is
 * passed over. The first thread makes the others and waits for them; it goes on alone.
 */
#ifndef SCHEDLAB_HUNT_EXPLORE_H
#define SCHEDLAB_HUNT_EXPLORE_H

#include "hunt.h"

/* Watches the program: called on its threads, between two points. Each may be NULL. */
struct explore_watcher {
    void (*executes)(void);     /* an execution begins */
    void (*starts)(int thread); /* the thread's operation makes its first access */
    uint64_t (*state)(void);
};

struct explore_result {
    uint64_t executions, states, points;
    const struct hunt_outcome *failure; /* NULL: none */
    bool complete;                      /* nothing is left, up to executions_max */
};

/* Runs fn(arg) in all ways, until one fails. */
struct explore_result explore_run(void (*fn)(void *arg), void *arg,
                                  const struct explore_watcher *watcher, uint64_t executions_max);

/* For the program. The first thread names memory that belongs to the state, and says when the
 * others begin and when all have ended: before and after that it shares nothing with them. */
void explore_memory(const void *start, size_t size);
void explore_others(bool run);

/* The calling thread begins another operation. */
void explore_operation(uint64_t number);

/* The calling thread's number, from 0. */
int explore_thread(void);

#endif
