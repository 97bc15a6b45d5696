/* test_deque.c - work-stealing deques, each protocol alike: against a model, over growth and
 * wrap-around, and raced.
 *
 * Races use real threads with bounded counts. Which thread gets an item is up to the machine; that
 * each item is taken exactly once is not. A seed drives the owner's choices and is printed.
 */
#include "deque.h"
#include "machine.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

enum { ITEMS = 20000, THIEVES = 2, SEED = 20130223 };

static uint64_t rng_next(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

static void *item_of(uintptr_t i)
{
    return (void *)(i + 1);
}

static uintptr_t index_of(const void *item)
{
    return (uintptr_t)item - 1;
}

static enum deque_kind kind_of(void **state)
{
    return *(enum deque_kind *)*state;
}

static void deque_owner_is_lifo(void **state)
{
    struct deque dq;
    deque_init_as(&dq, kind_of(state), 8);
    assert_null(deque_pop(&dq));
    for (uintptr_t i = 0; i < 5; i++)
        deque_push(&dq, item_of(i));
    assert_int_equal(deque_size(&dq), 5);
    for (uintptr_t i = 5; i-- > 0;)
        assert_int_equal(index_of(deque_pop(&dq)), i);
    assert_null(deque_pop(&dq));
    assert_int_equal(deque_size(&dq), 0);
    deque_fini(&dq);
}

static void deque_thief_is_fifo(void **state)
{
    struct deque dq;
    deque_init_as(&dq, kind_of(state), 8);
    void *item = NULL;
    assert_int_equal(deque_take(&dq, &item), DEQUE_EMPTY);
    for (uintptr_t i = 0; i < 5; i++)
        deque_push(&dq, item_of(i));
    for (uintptr_t i = 0; i < 5; i++) {
        assert_int_equal(deque_take(&dq, &item), DEQUE_STOLEN);
        assert_int_equal(index_of(item), i);
    }
    assert_int_equal(deque_take(&dq, &item), DEQUE_EMPTY);
    assert_null(deque_pop(&dq));
    deque_fini(&dq);
}

/* Random pushes, pops and takes against an array with two ends. */
static void deque_equals_model(void **state)
{
    static uintptr_t model[ITEMS];
    size_t head = 0, tail = 0, deepest = 0;
    uint64_t seed = SEED;
    struct deque dq;
    deque_init_as(&dq, kind_of(state), kind_of(state) == DEQUE_ABP ? 64 : 2);
    for (uintptr_t i = 0; i < ITEMS;) {
        uint64_t dice = rng_next(&seed) % 8;
        void *item = NULL;
        if (dice < 4 && deque_room(&dq) > 0) {
            model[tail++] = i;
            deque_push(&dq, item_of(i++));
        } else if (dice < 6) {
            item = deque_pop(&dq);
            assert_int_equal(item ? 1 : 0, tail > head);
            if (item)
                assert_int_equal(index_of(item), model[--tail]);
        } else {
            assert_int_equal(deque_take(&dq, &item), tail > head ? DEQUE_STOLEN : DEQUE_EMPTY);
            if (item)
                assert_int_equal(index_of(item), model[head++]);
        }
        deepest = tail - head > deepest ? tail - head : deepest;
        assert_int_equal(deque_size(&dq), tail - head);
    }
    assert_int_equal(dq.depth_max, deepest);
    deque_fini(&dq);
}

static void deque_grows_and_keeps_order(void **state)
{
    struct deque dq;
    deque_init_as(&dq, kind_of(state), 2);
    void *item = NULL;
    for (uintptr_t i = 0; i < 3; i++) /* so that the first growth finds top past slot 0 */
        deque_push(&dq, item_of(i));
    assert_int_equal(deque_take(&dq, &item), DEQUE_STOLEN);
    for (uintptr_t i = 3; i < 1000; i++)
        deque_push(&dq, item_of(i));
    assert_int_equal(deque_size(&dq), 999);
    assert_int_equal(dq.depth_max, 999);
    for (uintptr_t i = 1; i < 500; i++) {
        assert_int_equal(deque_take(&dq, &item), DEQUE_STOLEN);
        assert_int_equal(index_of(item), i);
    }
    for (uintptr_t i = 1000; i-- > 500;)
        assert_int_equal(index_of(deque_pop(&dq)), i);
    assert_null(deque_pop(&dq));
    deque_fini(&dq);
}

/* As a queue of bounded length it goes round its array without growing. */
static void deque_wraps_without_growing(void **state)
{
    struct deque dq;
    deque_init_as(&dq, kind_of(state), kind_of(state) == DEQUE_HALF ? 16 : 8);
    struct deque_array *array = atomic_load(&dq.array);
    uintptr_t taken = 0;
    for (uintptr_t i = 0; i < 1000; i++) {
        deque_push(&dq, item_of(i));
        if (i % 8 < (kind_of(state) == DEQUE_CHASELEV ? 6 : 5)) /* the others leave one free */
            continue;
        while (deque_size(&dq) > 1) {
            void *item = NULL;
            assert_int_equal(deque_take(&dq, &item), DEQUE_STOLEN);
            assert_int_equal(index_of(item), taken++);
        }
    }
    assert_ptr_equal(atomic_load(&dq.array), array);
    deque_fini(&dq);
}

/* As lazy publication does it: room for many, each at its index, and all seen at once. */
static void deque_is_filled_at_once(void **state)
{
    struct deque dq;
    deque_init_as(&dq, kind_of(state), kind_of(state) == DEQUE_ABP ? 1024 : 4);
    uintptr_t put = 0, taken = 0;
    for (int64_t n = 1; n < 40; n++) {
        int64_t first = deque_reserve(&dq, n);
        for (int64_t i = n; i-- > 0;)
            deque_set(&dq, first + i, item_of(put + (uintptr_t)i));
        assert_int_equal(deque_size(&dq), put - taken);
        deque_publish(&dq, first + n);
        put += (uintptr_t)n;
        void *item = NULL;
        assert_int_equal(deque_take(&dq, &item), DEQUE_STOLEN);
        assert_int_equal(index_of(item), taken++);
    }
    while (put > taken)
        assert_int_equal(index_of(deque_pop(&dq)), --put);
    assert_null(deque_pop(&dq));
    deque_fini(&dq);
}

/* Room comes back when the owner sees it empty, whoever has emptied it. */
static void deque_full_has_no_room(void **state)
{
    struct deque dq;
    void *item = NULL;
    deque_init_as(&dq, kind_of(state), 4);
    for (int by_thieves = 0; by_thieves < 2; by_thieves++) {
        for (uintptr_t i = 0; i < 4; i++) {
            assert_int_equal(deque_room(&dq), 4 - i);
            deque_push(&dq, item_of(i));
        }
        assert_int_equal(deque_room(&dq), 0);
        assert_int_equal(deque_take(&dq, &item), DEQUE_STOLEN);
        assert_int_equal(index_of(item), 0);
        assert_int_equal(deque_room(&dq), 0); /* no ring */
        for (uintptr_t i = 1; i < 4; i++) {
            item = by_thieves ? item : deque_pop(&dq);
            assert_true(!by_thieves || deque_take(&dq, &item) == DEQUE_STOLEN);
            assert_int_equal(index_of(item), by_thieves ? i : 4 - i);
        }
        assert_int_equal(deque_size(&dq), 0);
        assert_int_equal(deque_room(&dq), 4);
    }
    deque_fini(&dq);
}

/* Rounded up; it has the newest of them at once, and the others in their order. */
static void deque_thief_takes_half(void **state)
{
    struct deque dq, own;
    void *item = NULL;
    int64_t n;
    deque_init_as(&dq, kind_of(state), 2);
    deque_init_as(&own, kind_of(state), 2);
    for (uintptr_t i = 0; i < 100; i++)
        deque_push(&dq, item_of(i));
    for (uintptr_t left = 100, taken = 0; left > 0; left /= 2) {
        uintptr_t share = left - left / 2;
        assert_int_equal(deque_take_into(&dq, &own, &item, &n), DEQUE_STOLEN);
        assert_int_equal(n, share);
        taken += share;
        assert_int_equal(index_of(item), taken - 1);
        assert_int_equal(deque_size(&dq), left / 2);
        for (uintptr_t i = taken - share; i < taken - 1; i++) {
            assert_int_equal(deque_take(&own, &item), DEQUE_STOLEN);
            assert_int_equal(index_of(item), i);
        }
        assert_int_equal(deque_size(&own), 0);
    }
    assert_int_equal(deque_take_into(&dq, &own, &item, &n), DEQUE_EMPTY);
    assert_int_equal(n, 0);
    deque_fini(&dq);
    deque_fini(&own);
}

/* Races ------------------------------------------------------------------------------------- */

struct race {
    struct deque dq;
    enum deque_kind kind;
    _Atomic uint32_t taken[ITEMS]; /* how often each item came out */
    _Atomic uint32_t left;         /* items not out yet */
};

static void race_note(struct race *race, void *item)
{
    atomic_fetch_add(&race->taken[index_of(item)], 1);
    atomic_fetch_sub(&race->left, 1);
}

static void race_thief(void *arg)
{
    struct race *race = arg;
    struct deque own;
    deque_init_as(&own, race->kind, 2);
    while (atomic_load(&race->left) > 0) {
        void *item = NULL;
        int64_t n;
        if (deque_take_into(&race->dq, &own, &item, &n) == DEQUE_STOLEN)
            race_note(race, item);
        else
            machine_relax(&race->left, 1);
        while ((item = deque_pop(&own)))
            race_note(race, item);
    }
    deque_fini(&own);
}

/* The owner keeps at most `depth` items, so that pop and steal meet at the last one when it is 1.
 * */
static void race_owner(struct race *race, uint64_t depth, uint64_t *seed)
{
    for (uintptr_t i = 0; i < ITEMS;) {
        uint64_t burst = 1 + rng_next(seed) % depth;
        for (; burst > 0 && i < ITEMS && deque_room(&race->dq) > 0; burst--)
            deque_push(&race->dq, item_of(i++));
        for (void *item; (item = deque_pop(&race->dq));) {
            race_note(race, item);
            if (rng_next(seed) % 4 == 0)
                break;
        }
    }
    for (void *item; (item = deque_pop(&race->dq));)
        race_note(race, item);
}

static void race_run(enum deque_kind kind, uint64_t depth, size_t capacity)
{
    struct race *race = machine_alloc(sizeof *race, 64);
    struct machine_thread thieves[THIEVES];
    uint64_t seed = SEED;
    print_message("seed %d, depth %d\n", SEED, (int)depth);
    assert_non_null(race);
    memset(race, 0, sizeof *race);
    race->kind = kind;
    deque_init_as(&race->dq, kind, capacity);
    atomic_store(&race->left, ITEMS);
    for (int i = 0; i < THIEVES; i++)
        assert_int_equal(machine_thread_start(&thieves[i], race_thief, race, 1 << 20, -1), 0);
    race_owner(race, depth, &seed);
    for (int i = 0; i < THIEVES; i++)
        machine_thread_join(&thieves[i]);
    for (uintptr_t i = 0; i < ITEMS; i++)
        assert_int_equal(atomic_load(&race->taken[i]), 1);
    assert_null(deque_pop(&race->dq));
    deque_fini(&race->dq);
    machine_free(race);
}

static void deque_steal_races_pop_of_last(void **state)
{
    race_run(kind_of(state), 1, 64);
}

static void deque_steal_races_growth(void **state)
{
    race_run(kind_of(state), 512, 2);
}

/* The owner finds no room most of the time, and begins anew whenever it is empty. */
static void deque_steal_races_a_full_one(void **state)
{
    race_run(kind_of(state), 512, 4);
}

static enum deque_kind kinds[] = {DEQUE_CHASELEV, DEQUE_THE, DEQUE_ABP, DEQUE_HALF};

#define OF(test, word, kind)                                                                       \
    {                                                                                              \
        .name = #test word, .test_func = (test), .initial_state = &kinds[kind]                     \
    }
#define OF_GROWING(test)                                                                           \
    OF(test, "", DEQUE_CHASELEV), OF(test, "_the", DEQUE_THE), OF(test, "_half", DEQUE_HALF)
#define OF_EACH(test) OF_GROWING(test), OF(test, "_abp", DEQUE_ABP)

int main(void)
{
    const struct CMUnitTest tests[] = {
        OF_EACH(deque_owner_is_lifo),
        OF_EACH(deque_thief_is_fifo),
        OF_EACH(deque_equals_model),
        OF_GROWING(deque_grows_and_keeps_order),
        OF_GROWING(deque_wraps_without_growing),
        OF_EACH(deque_is_filled_at_once),
        OF(deque_full_has_no_room, "_abp", DEQUE_ABP),
        OF(deque_thief_takes_half, "_half", DEQUE_HALF),
        OF_EACH(deque_steal_races_pop_of_last),
        OF(deque_steal_races_a_full_one, "_abp", DEQUE_ABP),
        OF_GROWING(deque_steal_races_growth),
    };
    return cmocka_run_group_tests_name("deque", tests, NULL, NULL);
}
