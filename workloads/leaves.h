/* leaves.h - what fork/join workloads do where they fork no more.
 *
 * A file that forks is compiled once per policy. If its loops were compiled with it, each policy
 * would have the same loop at another place in memory, or in other registers. Such places have made
 * up half of a result. So the loops stand here, compiled once: all variants, the serial run, and
 * the C and C++ peers execute the same instructions. Any stack; nothing is allocated.
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

/* The first rows of a board, `row` of them, have a queen each, in the columns board[0] to
 * board[row - 1]. Returns the first column from `column` on where one may stand in the next row;
 * n: there is none. */
int leaf_queens_next(const uint8_t *board, int n, int row, int column);

struct leaf_queens {
    uint64_t solutions, placements;
};

/* All ways to fill the other rows of an n x n board, whose entries from `row` on it writes. */
struct leaf_queens leaf_queens_search(uint8_t *board, int n, int row);

/* Writes first, first + 1, ...; sums up. */
void leaf_write(uint64_t *block, size_t words, uint64_t first);
uint64_t leaf_sum(const uint64_t *block, size_t words);

#endif
