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
 * elsewhere. States are told apart by 64 bits of hash.
 *
 * A thread that rests in a loop would come to the same state again, until another one writes a word
 * that it has read since it rested last. It is left out until then, and has to forget what it has
 * read in this operation, as one does that waits for a lock.
 *
 * Points are those of hunt.h under sequential consistency, but for accesses whose order makes no
 * difference:
 *
 *     a read of a word       that only this thread writes
 *     a read, with the lock  of a word that is only written with the lock
 *     a write, with the lock of a word that is only accessed with the lock
 *     a check (INVARIANT)    after its first point: it is one step
 *
 * How words are accessed is learnt all the time, also which are shared. If there is more to know in
 * the end than at first, all begins anew: so no access is passed over because of what was not known
 * yet. The first thread makes the others and waits for them; it goes on alone.
 *   Source: [Stoller03], whose proof needs just that: that the search itself would meet an access
 *   of another kind.
 */
#ifndef SCHEDLAB_HUNT_EXPLORE_H
#define SCHEDLAB_HUNT_EXPLORE_H

#include "hunt.h"

/* Watches the program: called on its threads, between two points. Each may be NULL. */
struct explore_watcher {
    void (*executes)(void);     /* an execution begins */
    void (*starts)(int thread); /* the thread's operation makes its first access */
    /* A hash of its own state, if as[i] were thread i. */
    uint64_t (*state)(const uint8_t as[HUNT_THREADS_MAX]);
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

/* The lock of the program: 0 while it is free, and freed by a store of who holds it. The first
 * thread names it before the others begin; else there is none. */
void explore_lock(const _Atomic uint32_t *word);

/* Threads a and b do the same, and leave nothing that tells who did it: states in which they have
 * changed places are one. At most one such pair, named before the others begin. */
void explore_alike(int a, int b);

/* The calling thread begins another operation. */
void explore_operation(uint64_t number);

/* The calling thread's number, from 0. */
int explore_thread(void);

#endif
