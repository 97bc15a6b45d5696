/* deque.c - the slow paths of the work-stealing deque; deque.h has the algorithm. */
#include "deque.h"
#include "g.h"

#include <errno.h>

struct deque_array *deque_array_new(size_t capacity)
{
    struct deque_array *array = machine_alloc(sizeof *array + capacity * sizeof array->slot[0], 64);
    if (!array)
        fatal_env(ENOMEM, "no memory for a deque of %zu", capacity);
    machine_name(array, sizeof *array + capacity * sizeof array->slot[0], "deque.slots");
    array->mask = (int64_t)capacity - 1;
    array->retired = NULL;
    return array;
}

void deque_init(struct deque *dq, size_t capacity)
{
    deque_init_as(dq, DEQUE_CHASELEV, capacity);
}

void deque_init_as(struct deque *dq, enum deque_kind kind, size_t capacity)
{
    static const struct deque_ops *const ops[] = {
        [DEQUE_CHASELEV] = NULL,
        [DEQUE_THE] = &deque_the,
        [DEQUE_ABP] = &deque_abp,
        [DEQUE_HALF] = &deque_half,
    };
    INVARIANT(kind < sizeof ops / sizeof *ops);
    INVARIANT(capacity > 0 && !(capacity & (capacity - 1)));
    machine_name(dq, sizeof *dq, "deque.bottom"); /* and what its owner has beside it */
    machine_name(&dq->top, sizeof dq->top, "deque.top");
    atomic_init(&dq->bottom, 0);
    atomic_init(&dq->top, 0);
    atomic_init(&dq->depth_max, 0);
    atomic_init(&dq->scratch, 0);
    dq->empty_at = 0;
    dq->ops = ops[kind];
    dq->usual = false;
    atomic_init(&dq->lock, 0);
    atomic_init(&dq->array, deque_array_new(capacity));
}

void deque_fini(struct deque *dq)
{
    struct deque_array *array =
        atomic_load_explicit(&dq->array, memory_order_relaxed); /* at rest */
    while (array) {
        struct deque_array *retired = array->retired;
        machine_free(array);
        array = retired;
    }
}

/* A thief may still read the old array, so it is kept: the retired ones together are as large as
 * the newest. */
void deque_grow(struct deque *dq, int64_t bottom, int64_t top)
{
    INVARIANT(deque_is_valid(dq));
    INVARIANT(top <= bottom);
    struct deque_array *old = atomic_load_explicit(&dq->array, memory_order_relaxed); /* own word */
    struct deque_array *array = deque_array_new(2 * ((size_t)old->mask + 1));
    array->retired = old;
    /* relaxed: the owner wrote the old slots, and D7 publishes the new ones */
    for (int64_t i = top; i < bottom; i++) {
        void *item = atomic_load_explicit(&old->slot[i & old->mask], memory_order_relaxed);
        atomic_store_explicit(&array->slot[i & array->mask], item, memory_order_relaxed);
    }
    atomic_store_explicit(&dq->array, array, memory_order_release); /* D7 */
}

int64_t deque_reserve(struct deque *dq, int64_t n)
{
    INVARIANT(n >= 0);
    INVARIANT(deque_is_valid(dq));
    if (dq->ops)
        return dq->ops->reserve(dq, n);
    int64_t bottom = atomic_load_explicit(&dq->bottom, memory_order_relaxed); /* own word */
    int64_t top = atomic_load_explicit(&dq->top, memory_order_acquire);       /* D6 */
    /* relaxed: own word */
    while (bottom + n - top > atomic_load_explicit(&dq->array, memory_order_relaxed)->mask)
        deque_grow(dq, bottom, top);
    return bottom;
}

void deque_push_other(struct deque *dq, void *item)
{
    int64_t bottom = deque_reserve(dq, 1);
    int64_t size = dq->ops->size(dq) + 1;
    if (size > atomic_load_explicit(&dq->depth_max, memory_order_relaxed)) /* statistic */
        atomic_store_explicit(&dq->depth_max, size, memory_order_relaxed);
    deque_set(dq, bottom, item);
    deque_publish(dq, bottom + 1);
}
