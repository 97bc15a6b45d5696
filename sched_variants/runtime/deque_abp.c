/* deque_abp.c - ABP, the bounded deque of Arora, Blumofe and Plaxton: no lock, and no ring.
 *
 * `bottom` is bot of the paper, `top` is age: its upper half is tag, its lower half top. Items lie
 * from the array's beginning on. An owner that finds its deque empty begins there anew, with
 * another tag, so that a thief which read the same top before fails.
 *
 *   Source: [Arora98] s.3, popTop, popBottom, pushBottom.
 *   Same:    bot and age, their order on both sides, the tag, the start from 0.
 *   Differs: an owner that sees top at bot starts anew without the fence and the compare-and-swap.
 *            It does so, too, where it would push and finds the array full. If that is full still,
 *            a goroutine goes to the global queue, and tasks and frames stay private (forkjoin.h).
 *   Why:     top only grows while the tag stays, and only the owner changes that. The paper has no
 *            word on a full array.
 *
 * The price of no ring: a deque that thieves alone empty from the top has no more room than it had.
 * The tag has 32 bits. A thief that sleeps between two steps while the owner starts anew 2^32 times
 * would take what it must not.
 *
 * Invariants: 0 <= bot <= the array's size;  top <= bot, but while the owner starts anew;
 *   [top, bot) is full;  only the owner writes bot and changes tag.
 *
 * Order labels. deque_publish() stores bot, too, by D1 of deque.h, and the loads of AB2 see it.
 *   AB1  pop: relaxed stores of bot, which continue D1's release sequence, pair with
 *   AB2  take: acquire load of bot (the slots below it are visible)
 *   AB3  pop: fence between store of bot and load of age     pairs with
 *   AB4  take: fence between load of age and load of bot
 *        (of an owner and a thief after the last element at least one sees the other)
 *   AB5  start anew: release store or CAS of age     pairs with  AB6  take: acquire load of age
 *        (who sees the new tag sees that bot was 0)
 *   AB7  take: seq_cst CAS of age: exactly one gets the element; and its release half
 *        pairs with  AB8  pop, room: acquire load of age
 *        (a slot has been read before it is written again)
 */
#include "deque.h"

static int64_t top_of(int64_t age)
{
    return age & UINT32_MAX;
}

/* Another tag, and top 0. */
static int64_t fresh(int64_t age)
{
    return (int64_t)((((uint64_t)age >> 32) + 1) << 32);
}

static int64_t capacity_of(const struct deque *dq)
{
    /* relaxed: constant */
    return atomic_load_explicit(&dq->array, memory_order_relaxed)->mask + 1;
}

static void *abp_slot(struct deque *dq, int64_t index)
{
    struct deque_array *array =
        atomic_load_explicit(&dq->array, memory_order_relaxed); /* likewise */
    /* relaxed: the owner wrote it, or AB2; what was read too late is thrown away by AB7 */
    return atomic_load_explicit(&array->slot[index], memory_order_relaxed);
}

/* Pre: no thief can take any more, since none is there for this age. */
static void abp_start_anew(struct deque *dq, int64_t age)
{
    atomic_store_explicit(&dq->bottom, 0, memory_order_relaxed);       /* AB1 */
    atomic_store_explicit(&dq->top, fresh(age), memory_order_release); /* AB5 */
}

static int64_t abp_room(struct deque *dq)
{
    int64_t bot = atomic_load_explicit(&dq->bottom, memory_order_relaxed); /* own word */
    int64_t age = atomic_load_explicit(&dq->top, memory_order_acquire);    /* AB8 */
    if (bot > 0 && top_of(age) >= bot) {
        abp_start_anew(dq, age);
        bot = 0;
    }
    return capacity_of(dq) - bot;
}

static int64_t abp_reserve(struct deque *dq, int64_t n)
{
    int64_t room = abp_room(dq);
    INVARIANT(n <= room);
    (void)n;
    return capacity_of(dq) - room;
}

/* The last one, at place bot, unless thieves have it. */
static void *abp_pop_last(struct deque *dq, int64_t bot, int64_t age)
{
    void *item = abp_slot(dq, bot);
    atomic_store_explicit(&dq->bottom, 0, memory_order_relaxed); /* AB1 */
    if (bot == top_of(age) &&
        atomic_compare_exchange_strong_explicit(&dq->top, &age, fresh(age), memory_order_seq_cst,
                                                memory_order_acquire)) /* AB5 */
        return item;
    abp_start_anew(dq, age);
    return NULL;
}

static void *abp_pop(struct deque *dq)
{
    int64_t bot = atomic_load_explicit(&dq->bottom, memory_order_relaxed); /* own word */
    if (bot == 0)
        return NULL;
    INVARIANT(deque_is_valid(dq));
    int64_t age = atomic_load_explicit(&dq->top, memory_order_acquire); /* AB8 */
    if (top_of(age) >= bot) {
        abp_start_anew(dq, age);
        return NULL;
    }
    bot--;
    atomic_store_explicit(&dq->bottom, bot, memory_order_relaxed); /* AB1 */
    machine_fence(&dq->scratch);                                   /* AB3 */
    age = atomic_load_explicit(&dq->top, memory_order_acquire);    /* AB8 */
    if (__builtin_expect(bot > top_of(age), 1))
        return abp_slot(dq, bot);
    return abp_pop_last(dq, bot, age);
}

static enum deque_steal abp_take(struct deque *dq, void **item)
{
    int64_t age = atomic_load_explicit(&dq->top, memory_order_acquire);    /* AB6 */
    machine_fence(&dq->scratch);                                           /* AB4 */
    int64_t bot = atomic_load_explicit(&dq->bottom, memory_order_acquire); /* AB2 */
    if (bot <= top_of(age))
        return DEQUE_EMPTY;
    INVARIANT(item);
    void *oldest = abp_slot(dq, top_of(age));
    if (!atomic_compare_exchange_strong_explicit(&dq->top, &age, age + 1, memory_order_seq_cst,
                                                 memory_order_relaxed)) /* AB7 */
        return DEQUE_LOST;
    *item = oldest;
    return DEQUE_STOLEN;
}

/* Relaxed, as in deque_size(). */
static int64_t abp_size(struct deque *dq)
{
    int64_t bot = atomic_load_explicit(&dq->bottom, memory_order_relaxed);
    int64_t size = bot - top_of(atomic_load_explicit(&dq->top, memory_order_relaxed));
    return size > 0 ? size : 0;
}

static bool abp_is_valid(const struct deque *dq)
{
    /* relaxed: own words, and top is only compared */
    int64_t bot = atomic_load_explicit(&dq->bottom, memory_order_relaxed);
    int64_t top = top_of(atomic_load_explicit(&dq->top, memory_order_relaxed));
    const struct deque_array *array = atomic_load_explicit(&dq->array, memory_order_relaxed);
    return HOLDS(array) && HOLDS((array->mask & (array->mask + 1)) == 0) &&
           HOLDS(!array->retired) && HOLDS(top <= bot) && HOLDS(bot <= array->mask + 1) &&
           HOLDS(atomic_load_explicit(&dq->depth_max, memory_order_relaxed) >= 0);
}

const struct deque_ops deque_abp = {
    .room = abp_room,
    .reserve = abp_reserve,
    .pop = abp_pop,
    .take = abp_take,
    .size = abp_size,
    .is_valid = abp_is_valid,
};
