/* leaves.c - see leaves.h. */
#include "leaves.h"

#include <string.h>

enum { INSERTION = 16 }; /* keys; ranges up to this size are sorted by insertion */

void leaf_matmul(const uint64_t *a, const uint64_t *b, uint64_t *c, size_t stride, size_t rows,
                 size_t inner, size_t columns, bool begin)
{
    for (size_t i = 0; i < rows; i++) {
        uint64_t *to = c + i * stride;
        if (begin)
            memset(to, 0, columns * sizeof *to);
        for (size_t k = 0; k < inner; k++) {
            uint64_t factor = a[i * stride + k];
            const uint64_t *from = b + k * stride;
            for (size_t j = 0; j < columns; j++)
                to[j] += factor * from[j];
        }
    }
}

static void insertion_sort(const uint64_t *in, uint64_t *to, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        uint64_t key = in[i];
        size_t hole = i;
        for (; hole > 0 && to[hole - 1] > key; hole--)
            to[hole] = to[hole - 1];
        to[hole] = key;
    }
}

void leaf_merge(struct leaf_span a, struct leaf_span b, uint64_t *to)
{
    const uint64_t *a_end = a.keys + a.count, *b_end = b.keys + b.count;
    while (a.keys < a_end && b.keys < b_end)
        *to++ = *a.keys <= *b.keys ? *a.keys++ : *b.keys++;
    memcpy(to, a.keys, (size_t)(a_end - a.keys) * sizeof *to);
    to += a_end - a.keys;
    memcpy(to, b.keys, (size_t)(b_end - b.keys) * sizeof *to);
}

void leaf_sort(const uint64_t *in, uint64_t *to, uint64_t *tmp, size_t n)
{
    if (n <= INSERTION) {
        insertion_sort(in, to, n);
        return;
    }
    size_t half = n / 2;
    leaf_sort(in, tmp, to, half);
    leaf_sort(in + half, tmp + half, to + half, n - half);
    leaf_merge((struct leaf_span){tmp, half}, (struct leaf_span){tmp + half, n - half}, to);
}

static bool queens_safe(const uint8_t *board, int row, int column)
{
    for (int i = 0; i < row; i++) {
        int apart = board[i] - column;
        if (apart == 0 || apart == row - i || apart == i - row)
            return false;
    }
    return true;
}

int leaf_queens_next(const uint8_t *board, int n, int row, int column)
{
    while (column < n && !queens_safe(board, row, column))
        column++;
    return column;
}

struct leaf_queens leaf_queens_search(uint8_t *board, int n, int row)
{
    struct leaf_queens count = {0, 0};
    if (row == n) {
        count.solutions = 1;
        return count;
    }
    for (int column = 0; column < n; column++) {
        if (!queens_safe(board, row, column))
            continue;
        board[row] = (uint8_t)column;
        struct leaf_queens below = leaf_queens_search(board, n, row + 1);
        count.solutions += below.solutions;
        count.placements += below.placements + 1;
    }
    return count;
}

void leaf_write(uint64_t *block, size_t words, uint64_t first)
{
    for (size_t j = 0; j < words; j++)
        block[j] = first + j;
}

uint64_t leaf_sum(const uint64_t *block, size_t words)
{
    uint64_t sum = 0;
    for (size_t j = 0; j < words; j++)
        sum += block[j];
    return sum;
}
