/* flame.h - folded stacks: the paths through the code on which a simulated sample stalled.
 *
 * Callers: sample.c, with --flame. The file has a line for each stack, "main;fib;lrq_put;[lrq.head]
 * 1234": It has the functions from the outermost on, inlined ones as if they had been called. The
 * structure that was accessed follows, and nanoseconds of stall in the counted section.
 * flamegraph.pl, inferno and speedscope read it. Natively nothing is collected.
 *
 * Stacks are walked as debuggers do it, by the tables that compilers leave for exceptions. A
 * goroutine's end with its first function, a thread's with where threads begin.
 */
#ifndef SCHEDLAB_FLAME_H
#define SCHEDLAB_FLAME_H

#include "harness/base/error.h"

#include <stdbool.h>

/* Collects stalls from now on, while why_count() has them counted. */
void flame_begin(void);

/* Writes the collected stalls, and forgets them. False and one line in error if the file cannot be
 * written. */
bool flame_write(const char *path, struct error *error);

#endif
