/* leaves.h - what fork/join workloads do where they fork no more.
 *
 * A file that forks is compiled once per policy; were its loops compiled with it, the same loop
 * would lie elsewhere in memory, or keep other registers, under each, and that has made up half of
 * a result. So they stand here, compiled once: all variants, and the serial run, execute the same
 * instructions. Any stack; nothing is allocated.
 */
#ifndef SCHEDLAB_LEAVES_H
#define SCHEDLAB_LEAVES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* c[rows x columns] += a[rows x inner] b[inner x columns], `begin`: = in place of +=; a row begins
 * `stride` words after the one before, in all three. */
void leaf_matmul(const uint64_t *a, const uint64_t *b, uint64_t *c, size_t stride, size_t rows,
                 size_t inner, size_t columns, bool begin);

struct leaf_span {
    const uint64_t *keys;
    size_t count;
};

/* Sorts n keys of in into to, with tmp for as many; all apart. */
void leaf_sort(const uint64_t *in, uint64_t *to, uint64_t *tmp, size_t n);

/* Merges two sorted spans into to, keys of a before equal ones of b. */
void leaf_merge(struct leaf_span a, struct leaf_span b, uint64_t *to);

/* Writes first, first + 1, ...; sums up. */
void leaf_write(uint64_t *block, size_t words, uint64_t first);
uint64_t leaf_sum(const uint64_t *block, size_t words);

#endif
