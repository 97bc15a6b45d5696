/* flame.h - folded stacks: on which path through the code a simulated sample stalled.
 *
 * Callers: sample.c, with --flame. The file has a line for each stack,
 * "main;fib;lrq_put;[lrq.head] 1234": functions from the outermost on, inlined ones as if they had
 * been called, the structure that was accessed, and nanoseconds of stall of the counted section.
 * flamegraph.pl, inferno and speedscope read it. Natively nothing is collected.
 *
 * Stacks are walked as debuggers do it, by the tables that compilers leave for exceptions. A
 * goroutine's end with its first function, a thread's with where threads begin.
 */
#ifndef SCHEDLAB_FLAME_H
#define SCHEDLAB_FLAME_H

#include <stdbool.h>
#include <stddef.h>

/* From now on stalls are collected, while why_count() has them tallied. */
void flame_begin(void);

/* Writes what was collected, and forgets it. False and one line in error if the file cannot be
 * written. */
bool flame_write(const char *path, char *error, size_t error_size);

#endif
