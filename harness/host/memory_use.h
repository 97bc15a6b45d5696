/* memory_use.h - how much memory this process has, and has had at the most.
 *
 * Callers: counters_own.c, which publishes it as events. Bytes are those that the kernel counts:
 * resident pages and page tables. It keeps its count per core and adds up late, so that a peak can
 * be wrong by some hundred KB: nothing beside thousands of goroutines, much beside ten.
 */
#ifndef SCHEDLAB_MEMORY_USE_H
#define SCHEDLAB_MEMORY_USE_H

#include <stdbool.h>
#include <stdint.h>

/* Begins to count for memory_use_peak(). NULL and the bytes in use in *now, or why there is no
 * peak; static storage. */
const char *memory_use_start(int64_t *now);

/* The most bytes in use since memory_use_start(), which has returned NULL. Page tables count as
 * they are now: they grow with use and shrink only where addresses are given back. False if the
 * kernel does not tell. */
bool memory_use_peak(int64_t *most);

#endif
