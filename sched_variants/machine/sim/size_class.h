/* size_class.h - the sizes in which blocks of memory are given out. */
#ifndef SCHEDLAB_SIM_SIZE_CLASS_H
#define SCHEDLAB_SIM_SIZE_CLASS_H

#include <stddef.h>

enum { CLASSES = 48 };

static inline int size_log(size_t size)
{
    return 63 - __builtin_clzll(size);
}

/* Four sizes to each power of two: 16, 32, 48, 64, 80, 96, 112, 128, 160, ... */
static inline int class_of(size_t size)
{
    if (size <= 64)
        return size == 0 ? 0 : (int)((size - 1) / 16);
    int log = size_log(size - 1);
    return 4 + (log - 6) * 4 + (int)((size - 1 - ((size_t)1 << log)) >> (log - 2));
}

static inline size_t class_size(int class)
{
    if (class < 4)
        return 16 * (size_t)(class + 1);
    int log = 6 + (class - 4) / 4;
    return ((size_t)1 << log) + (((size_t)(class - 4) % 4 + 1) << (log - 2));
}

#endif
