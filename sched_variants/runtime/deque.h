/* deque.h - the work-stealing deque: the owner pushes and pops at the bottom, thieves take from the
 * top.
 *
 * Source: [CL05] Chase and Lev 2005; [Le13] Le, Pop, Cohen, Zappa Nardelli 2013, figure 1 (C11
 * orders).
 *   Same:    algorithm, growth, the two seq_cst fences, the CAS on top.
 *   Differs: the store of bottom in push is a release store in place of a release fence and a
 *            relaxed store (the same instruction on x86, and ThreadSanitizer understands it); an
 *            empty deque is seen by the owner without the fence; retired arrays are kept until the
 *            deque dies.
 *   Why:     one less full fence in the common "nothing left" case: top only grows, so an owner
 *            that sees bottom <= top can not be wrong.
 *
 * Invariants:  top <= bottom + 1;  size = max(0, bottom - top);  bottom is written by the owner
 *              only; top only grows;  slot i is valid for top <= i < bottom;  indices never wrap
 *              (63 bits).
 *
 * Order labels:
 *   D1  push, publish: release store of bottom   pairs with  D2  steal: acquire load of bottom
 *       (the slot, and what it points to, is visible before the new bottom; the stores of bottom in
 *       pop continue D1's release sequence)
 *   D3  pop: fence between store of bottom and load of top    pairs with
 *   D4  steal: fence between load of top and load of bottom
 *       (of an owner and a thief after the last element at least one sees the other)
 *   D5  steal/pop: seq_cst CAS on top: exactly one gets the last element; and its release half
 *       pairs with  D6  push: acquire load of top
 *       (a slot has been read before it is written again)
 *   D7  grow: release store of array       pairs with  D8  steal: acquire load of array
 *       (its mask and the slots that were copied)
 *
 * Other protocols have the same struct, and their operations behind `ops`: deque_the.c and
 * deque_abp.c. The default has none, and pays for the choice by a look at a word beside `bottom`.
 */
#ifndef SCHEDLAB_DEQUE_H
#define SCHEDLAB_DEQUE_H

#include "lock.h"
#include "machine.h"

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

enum deque_kind { DEQUE_CHASELEV, DEQUE_THE, DEQUE_ABP, DEQUE_HALF };

struct deque_array {
    int64_t mask; /* capacity - 1; capacity is a power of two */
    struct deque_array *retired;
    _Atomic(void *) slot[];
};

struct deque {
    /* written by the owner */
    _Alignas(64) _Atomic int64_t bottom;
    _Atomic(struct deque_array *) array;
    _Atomic int64_t depth_max; /* largest size ever seen by a push */
    _Atomic uint32_t scratch;
    uint32_t newest_runs;        /* the user's: see pdeque.c */
    int64_t empty_at;            /* the, half: top has come so far */
    const struct deque_ops *ops; /* constant; NULL: the protocol above */
    bool usual;                  /* the user's: see pdeque.c */
    /* written by thieves, and by the owner for the last element */
    _Alignas(64) _Atomic int64_t top;
    lock_t lock; /* the, half */
};

/* Lost is told from empty so that failed steals can be counted apart. */
enum deque_steal { DEQUE_STOLEN, DEQUE_EMPTY, DEQUE_LOST };

/* Another protocol. The functions below that have these names say what each does. */
struct deque_ops {
    int64_t (*room)(struct deque *dq); /* NULL: it grows */
    int64_t (*reserve)(struct deque *dq, int64_t n);
    void *(*pop)(struct deque *dq);
    enum deque_steal (*take)(struct deque *dq, void **item);
    int64_t (*take_half)(struct deque *dq, struct deque *own, void **item); /* NULL: takes one */
    int64_t (*size)(struct deque *dq);
    bool (*is_valid)(const struct deque *dq);
};
extern const struct deque_ops deque_the, deque_abp, deque_half;

void deque_init(struct deque *dq, size_t capacity); /* power of two; grows by itself */
void deque_init_as(struct deque *dq, enum deque_kind kind, size_t capacity); /* likewise */
void deque_fini(struct deque *dq);                              /* pre: nobody uses it */
void deque_grow(struct deque *dq, int64_t bottom, int64_t top); /* owner; slow path of push */
void deque_push_other(struct deque *dq, void *item);            /* with ops */
struct deque_array *deque_array_new(size_t capacity);           /* for ops */

/* A snapshot, exact only for an owner whose thieves rest. Any thread. Relaxed: whoever must not
 * miss a push has passed a fence before (idle.c, I3), and then either sees it, or sees by top that
 * somebody has taken it. */
static inline int64_t deque_size(struct deque *dq)
{
    if (__builtin_expect(dq->ops != NULL, 0))
        return dq->ops->size(dq);
    int64_t bottom = atomic_load_explicit(&dq->bottom, memory_order_relaxed);
    int64_t size = bottom - atomic_load_explicit(&dq->top, memory_order_relaxed);
    return size > 0 ? size : 0;
}

static inline uint64_t deque_depth_max(struct deque *dq)
{
    return (uint64_t)atomic_load_explicit(&dq->depth_max, memory_order_relaxed); /* statistic */
}

/* Owner only, between operations. Thieves may take meanwhile: top moves up to bottom and no
 * further. */
static inline bool deque_is_valid(const struct deque *dq)
{
    if (dq->ops)
        return dq->ops->is_valid(dq);
    /* relaxed: own words, and top is only compared */
    int64_t size = atomic_load_explicit(&dq->bottom, memory_order_relaxed) -
                   atomic_load_explicit(&dq->top, memory_order_relaxed);
    const struct deque_array *array = atomic_load_explicit(&dq->array, memory_order_relaxed);
    return HOLDS(array) && HOLDS(size >= 0) && HOLDS(size <= array->mask + 1) &&
           HOLDS((array->mask & (array->mask + 1)) == 0) &&
           HOLDS(!array->retired || array->retired->mask < array->mask) &&
           HOLDS(atomic_load_explicit(&dq->depth_max, memory_order_relaxed) >= 0);
}

/* Owner only, between operations: so many more may be put. */
static inline int64_t deque_room(struct deque *dq)
{
    return __builtin_expect(dq->ops && dq->ops->room, 0) ? dq->ops->room(dq) : INT64_MAX;
}

/* Owner only, and only of the default protocol: without the look at ops. */
static inline void deque_push_chaselev(struct deque *dq, void *item)
{
    INVARIANT(item);
    int64_t bottom = atomic_load_explicit(&dq->bottom, memory_order_relaxed); /* own word */
    int64_t top = atomic_load_explicit(&dq->top, memory_order_acquire);       /* D6 */
    struct deque_array *array =
        atomic_load_explicit(&dq->array, memory_order_relaxed); /* own word */
    if (__builtin_expect(bottom - top > array->mask, 0)) {
        deque_grow(dq, bottom, top);
        array = atomic_load_explicit(&dq->array, memory_order_relaxed); /* own word */
    }
    if (bottom - top >= atomic_load_explicit(&dq->depth_max, memory_order_relaxed)) /* statistic */
        atomic_store_explicit(&dq->depth_max, bottom - top + 1, memory_order_relaxed);
    /* relaxed: published by D1 */
    atomic_store_explicit(&array->slot[bottom & array->mask], item, memory_order_relaxed);
    atomic_store_explicit(&dq->bottom, bottom + 1, memory_order_release); /* D1 */
    INVARIANT(deque_is_valid(dq));
}

/* Owner only. Pre: there is room. */
static inline void deque_push(struct deque *dq, void *item)
{
    if (__builtin_expect(dq->ops != NULL, 0))
        deque_push_other(dq, item);
    else
        deque_push_chaselev(dq, item);
}

/* Owner only, for several items at once: makes room for n more and returns the index of the first;
 * each is put at its index; then all are published, up to but without `bottom`. */
int64_t deque_reserve(struct deque *dq, int64_t n);
static inline void deque_set(struct deque *dq, int64_t index, void *item)
{
    struct deque_array *array =
        atomic_load_explicit(&dq->array, memory_order_relaxed); /* own word */
    INVARIANT(item);
    INVARIANT(index >= atomic_load_explicit(&dq->bottom, memory_order_relaxed));
    INVARIANT(index - atomic_load_explicit(&dq->top, memory_order_relaxed) <= array->mask);
    /* relaxed: published by D1 */
    atomic_store_explicit(&array->slot[index & array->mask], item, memory_order_relaxed);
}
static inline void deque_publish(struct deque *dq, int64_t bottom)
{
    INVARIANT(bottom >= atomic_load_explicit(&dq->bottom, memory_order_relaxed));
    atomic_store_explicit(&dq->bottom, bottom, memory_order_release); /* D1 */
    INVARIANT(deque_is_valid(dq));
}

/* Owner only, and only of the default protocol: as deque_pop(), without the look at ops. */
static inline void *deque_pop_chaselev(struct deque *dq)
{
    int64_t bottom = atomic_load_explicit(&dq->bottom, memory_order_relaxed) - 1; /* own word */
    if (bottom < atomic_load_explicit(&dq->top, memory_order_relaxed)) /* top only grows */
        return NULL;
    struct deque_array *array =
        atomic_load_explicit(&dq->array, memory_order_relaxed); /* own word */
    INVARIANT(deque_is_valid(dq));
    atomic_store_explicit(&dq->bottom, bottom, memory_order_relaxed);   /* ordered by D3 */
    machine_fence(&dq->scratch);                                        /* D3 */
    int64_t top = atomic_load_explicit(&dq->top, memory_order_relaxed); /* ordered by D3 */
    void *item = NULL;
    if (__builtin_expect(top <= bottom, 1)) {
        /* relaxed: the owner wrote it */
        item = atomic_load_explicit(&array->slot[bottom & array->mask], memory_order_relaxed);
        if (__builtin_expect(top < bottom, 1))
            return item;
        if (!atomic_compare_exchange_strong_explicit(&dq->top, &top, top + 1, memory_order_seq_cst,
                                                     memory_order_relaxed)) /* D5 */
            item = NULL;
    }
    /* empty: bottom == top. relaxed: there is no new slot to publish */
    atomic_store_explicit(&dq->bottom, bottom + 1, memory_order_relaxed);
    return item;
}

/* Owner only: the newest item, or NULL. */
static inline void *deque_pop(struct deque *dq)
{
    return __builtin_expect(dq->ops != NULL, 0) ? dq->ops->pop(dq) : deque_pop_chaselev(dq);
}

/* As deque_take(), and only of the default protocol: without the look at ops. */
static inline enum deque_steal deque_take_chaselev(struct deque *dq, void **item)
{
    int64_t top = atomic_load_explicit(&dq->top, memory_order_acquire); /* as [Le13]; D4 would do */
    machine_fence(&dq->scratch);                                        /* D4 */
    int64_t bottom = atomic_load_explicit(&dq->bottom, memory_order_acquire); /* D2 */
    if (top >= bottom)
        return DEQUE_EMPTY;
    INVARIANT(item);
    struct deque_array *array = atomic_load_explicit(&dq->array, memory_order_acquire); /* D8 */
    /* relaxed: by D2 or D8; what was read too late is thrown away by D5 */
    void *oldest = atomic_load_explicit(&array->slot[top & array->mask], memory_order_relaxed);
    if (!atomic_compare_exchange_strong_explicit(&dq->top, &top, top + 1, memory_order_seq_cst,
                                                 memory_order_relaxed)) /* D5 */
        return DEQUE_LOST;
    *item = oldest;
    return DEQUE_STOLEN;
}

/* Any thread: the oldest item into *item, which is left alone unless one was stolen. Also serves an
 * owner that wants FIFO order. */
static inline enum deque_steal deque_take(struct deque *dq, void **item)
{
    return __builtin_expect(dq->ops != NULL, 0) ? dq->ops->take(dq, item)
                                                : deque_take_chaselev(dq, item);
}

/* Do thieves take several? Then a thief's own deque may hold what it has stolen. */
static inline bool deque_shares(const struct deque *dq)
{
    return __builtin_expect(dq->ops && dq->ops->take_half, 0);
}

/* A thief that owns `own`: one item into *item, and perhaps others, older ones, into its own deque.
 * *n: how many in all. The two are of one kind: it asks its own, since the victim's line has to be
 * fetched, and may be gone again before D2. */
static inline enum deque_steal deque_take_into(struct deque *dq, struct deque *own, void **item,
                                               int64_t *n)
{
    INVARIANT(dq->ops == own->ops);
    *n = 1;
    if (__builtin_expect(own->ops == NULL, 1))
        return deque_take_chaselev(dq, item);
    if (!own->ops->take_half)
        return own->ops->take(dq, item);
    *n = own->ops->take_half(dq, own, item);
    return *n > 0 ? DEQUE_STOLEN : DEQUE_EMPTY;
}

#endif
