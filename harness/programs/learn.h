/* learn.h - what has to be known of a whole trace before its program can be written: names, which
 * goroutines talk over a network, and how long sleeps were asked to be.
 *
 * Callers: import.c.
 */
#ifndef SCHEDLAB_LEARN_H
#define SCHEDLAB_LEARN_H

#include "harness/gotrace/gotrace.h"

#include <stdbool.h>
#include <stdint.h>

struct learned;
struct sections;

/* Reads the trace to its end. */
struct learned *learn(struct gotrace *trace);

/* The function of a goroutine that was there before the trace; NULL: unknown. */
const char *learned_name(const struct learned *learned, uint64_t g);

/* The goroutine whose writes end this one's waits for the network; 0: there is none. */
uint64_t learned_peer(const struct learned *learned, uint64_t g);

/* The goroutine that waits for what that one writes; 0: there is none. */
uint64_t learned_reader(const struct learned *learned, uint64_t g);

/* How many goroutines have a peer; and of these, how many had several that wrote each time, of
 * which the one was chosen whose writes were followed soonest. */
struct learned_readers {
    uint64_t told, chosen;
};
struct learned_readers learned_readers(const struct learned *learned);

/* True if the goroutine that began the task (trace.NewTask) ended it. */
bool learned_task_is_own(const struct learned *learned, uint64_t task);

/* How long a sleep at that place was asked to be that took ns: timers are late. */
int64_t learned_sleep(const struct learned *learned, uint64_t place, int64_t ns);

/* The parts of goroutines that lie under a mutex. */
const struct sections *learned_sections(const struct learned *learned);

uint64_t learned_events(const struct learned *learned);

void learned_free(struct learned *learned);

#endif
