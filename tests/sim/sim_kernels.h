/* sim_kernels.h - small loops for simulated cores, whose misses can be written down;
 * test_sim_formulas.c runs them.
 *
 * They are instrumented like workloads, so that each load and store goes through hooks, kernel and
 * caches. They work on simulated memory (machine_alloc()). Counters and bounds are in registers.
 */
#ifndef SCHEDLAB_SIM_KERNELS_H
#define SCHEDLAB_SIM_KERNELS_H

#include <stddef.h>
#include <stdint.h>

/* Loads a word at start, start + stride, ... below start + size; all of that `passes` times. */
uint64_t kernel_read(const char *start, size_t size, size_t stride, int passes);
void kernel_write(char *start, size_t size, size_t stride, int passes);

/* Loads the first words of `loads` lines, drawn evenly from `lines` ones. */
uint64_t kernel_random(const char *start, uint64_t lines, int loads, uint64_t seed);

/* One of `players`, the me-th: waits until *token is me modulo players, adds 1 to *counter if there
 * is one, and adds 1 to *token; `turns` times. */
void kernel_hand_over(_Atomic uint64_t *token, volatile uint64_t *counter, uint64_t me,
                      uint64_t players, uint64_t turns);

/* Calls itself `depth` times, and ends; each frame is touched by the call alone. Returns how many
 * bytes of stack the calls took. */
size_t kernel_recurse(int depth);

/* Adds 1 to *word n times, atomically. */
void kernel_add(_Atomic uint64_t *word, int n);

/* Adds 1 to the first word of each line from start on, atomically; `passes` times. */
void kernel_add_lines(char *start, size_t size, int passes);

/* Looks at n tosses, and counts those that are not 0. */
uint64_t kernel_toss(const uint8_t *tosses, uint64_t n);

/* Loads a word of each line, with a fence behind each. */
uint64_t kernel_read_fenced(const char *start, size_t size);

/* Stores to a word of each line, sequentially consistent. */
void kernel_publish(char *start, size_t size);

/* Loads a word of each line, and behind each of them eight times one word and another. */
uint64_t kernel_read_beside(const char *start, size_t size, const char *one, const char *other);

/* Loads a word of each line, and behind each of them adds to one word and another. */
uint64_t kernel_read_adding(const char *start, size_t size, char *one, char *other);

/* Loads a word of each line, and behind each of them stores to *word. */
uint64_t kernel_read_and_tell(const char *start, size_t size, volatile uint64_t *word);

/* Follows pointers n times; returns the last. */
const void *kernel_chase(const void *const *first, uint64_t n);

/* Is called, and returns. */
void kernel_nothing(void);

#endif
