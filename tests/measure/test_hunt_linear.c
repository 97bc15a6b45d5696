/* test_hunt_linear.c - what operations on a queue returned is taken for right exactly if some order
 * of them explains it. The threads are made up: a test says which one goes on. */
#include "harness/hunt/linear.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { CAPACITY = 2 };

static int current;
static jmp_buf failed;
static char told[HUNT_TEXT_SIZE];

int explore_thread(void)
{
    return current;
}

void explore_operation(uint64_t number)
{
    (void)number;
}

_Noreturn void hunt_fail(enum hunt_end end, const char *text)
{
    assert_int_equal(end, HUNT_WRONG);
    strncpy(told, text, sizeof told - 1);
    longjmp(failed, 1);
}

/* The thread begins; makes its first access; ends with that result. */
enum act { BEGINS, STARTS, ENDS };
struct step {
    int thread;
    enum act act;
    enum linear_operation operation;
    int item;
    uint32_t taken;
};

#define BEGIN(thread, operation, item)                                                             \
    {                                                                                              \
        thread, BEGINS, LINEAR_##operation, item, 0                                                \
    }
#define START(thread)                                                                              \
    {                                                                                              \
        thread, STARTS, 0, 0, 0                                                                    \
    }
#define END(thread, taken)                                                                         \
    {                                                                                              \
        thread, ENDS, 0, 0, taken                                                                  \
    }
#define ITEM(n) (UINT32_C(1) << (n))
#define PUT_BY(thread, operation, item) BEGIN(thread, operation, item), END(thread, 0)

/* True if all of it is explained. */
static bool explained(const struct step *steps, size_t count)
{
    linear_capacity(CAPACITY);
    linear_watcher.executes();
    told[0] = '\0';
    if (setjmp(failed))
        return false;
    for (size_t i = 0; i < count; i++) {
        current = steps[i].thread;
        if (steps[i].act == BEGINS)
            linear_begins(steps[i].operation, steps[i].item, i + 1);
        else if (steps[i].act == STARTS)
            linear_watcher.starts(current);
        else
            linear_ends(steps[i].taken);
    }
    return true;
}

#define EXPLAINED(...)                                                                             \
    explained((const struct step[]){__VA_ARGS__},                                                  \
              sizeof((const struct step[]){__VA_ARGS__}) / sizeof(struct step))

static void one_thread_has_one_order(void **state)
{
    (void)state;
    assert_true(EXPLAINED(PUT_BY(1, PUT, 1), PUT_BY(1, PUT, 2), BEGIN(1, TAKE_BACK, 0),
                          END(1, ITEM(2)), BEGIN(1, TAKE_FRONT, 0), END(1, ITEM(1)),
                          BEGIN(1, TAKE_FRONT, 0), END(1, 0)));
    assert_false(
        EXPLAINED(PUT_BY(1, PUT, 1), PUT_BY(1, PUT, 2), BEGIN(1, TAKE_BACK, 0), END(1, ITEM(1))));
    assert_false(EXPLAINED(PUT_BY(1, PUT, 1), BEGIN(1, TAKE_FRONT, 0), END(1, 0)));
    assert_non_null(strstr(told, "thread 1 ends take: nothing"));
}

static void an_item_is_taken_once(void **state)
{
    (void)state;
    assert_false(EXPLAINED(PUT_BY(1, PUT, 1), BEGIN(1, TAKE_BACK, 0), START(1), BEGIN(2, STEAL, 0),
                           START(2), END(1, ITEM(1)), END(2, ITEM(1))));
    assert_true(EXPLAINED(PUT_BY(1, PUT, 1), BEGIN(1, TAKE_BACK, 0), START(1), BEGIN(2, STEAL, 0),
                          START(2), END(1, 0), END(2, ITEM(1))));
    assert_true(EXPLAINED(PUT_BY(1, PUT, 1), BEGIN(1, TAKE_BACK, 0), START(1), BEGIN(2, STEAL, 0),
                          START(2), END(2, LINEAR_LOST), END(1, ITEM(1))));
}

/* Operations that overlap may have happened in either order, others not. */
static void only_overlapping_operations_change_places(void **state)
{
    (void)state;
    assert_true(EXPLAINED(BEGIN(1, TAKE_FRONT, 0), START(1), BEGIN(2, PUT, 1), START(2), END(2, 0),
                          END(1, ITEM(1))));
    assert_true(EXPLAINED(BEGIN(1, TAKE_FRONT, 0), START(1), BEGIN(2, PUT, 1), START(2), END(2, 0),
                          END(1, 0)));
    assert_false(EXPLAINED(BEGIN(1, TAKE_FRONT, 0), START(1), END(1, ITEM(1)), PUT_BY(2, PUT, 1)));
    assert_false(EXPLAINED(PUT_BY(2, PUT, 1), BEGIN(1, TAKE_FRONT, 0), START(1), END(1, 0)));
}

/* One result narrows what another one may be. */
static void models_are_dropped(void **state)
{
    (void)state;
    assert_true(EXPLAINED(BEGIN(1, PUT, 1), START(1), BEGIN(2, PUT, 2), START(2), END(1, 0),
                          END(2, 0), BEGIN(1, TAKE_FRONT, 0), END(1, ITEM(2)),
                          BEGIN(1, TAKE_FRONT, 0), END(1, ITEM(1))));
    assert_false(EXPLAINED(BEGIN(1, PUT, 1), START(1), BEGIN(2, PUT, 2), START(2), END(1, 0),
                           END(2, 0), BEGIN(1, TAKE_FRONT, 0), END(1, ITEM(2)),
                           BEGIN(1, TAKE_FRONT, 0), END(1, ITEM(2))));
}

static void a_full_channel_refuses(void **state)
{
    (void)state;
    assert_true(EXPLAINED(BEGIN(1, SEND, 1), END(1, 1), BEGIN(1, SEND, 2), END(1, 1),
                          BEGIN(1, SEND, 3), END(1, 0)));
    assert_false(EXPLAINED(BEGIN(1, SEND, 1), END(1, 1), BEGIN(1, SEND, 2), END(1, 0)));
    assert_non_null(strstr(told, "thread 1 ends send 2: refused"));
}

static void the_slot_goes_first(void **state)
{
    (void)state;
    assert_true(EXPLAINED(PUT_BY(1, PUT_NEXT, 1), PUT_BY(1, PUT_NEXT, 2), BEGIN(1, TAKE_NEXT, 0),
                          END(1, ITEM(2)), BEGIN(0, DRAIN, 0), END(0, ITEM(1))));
    assert_false(EXPLAINED(PUT_BY(1, PUT_NEXT, 1), PUT_BY(1, PUT_NEXT, 2), BEGIN(1, TAKE_NEXT, 0),
                           END(1, ITEM(1))));
    assert_false(EXPLAINED(PUT_BY(1, PUT_NEXT, 1), BEGIN(0, DRAIN, 0), END(0, 0)));
    assert_true(EXPLAINED(PUT_BY(1, PUT, 1), PUT_BY(1, PUT, 2), PUT_BY(1, PUT, 3),
                          BEGIN(2, STEAL_SHARE, 0), END(2, ITEM(1) | ITEM(2))));
    assert_false(EXPLAINED(PUT_BY(1, PUT, 1), PUT_BY(1, PUT, 2), PUT_BY(1, PUT, 3),
                           BEGIN(2, STEAL_SHARE, 0), END(2, ITEM(1) | ITEM(3))));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_thread_has_one_order),
        cmocka_unit_test(an_item_is_taken_once),
        cmocka_unit_test(only_overlapping_operations_change_places),
        cmocka_unit_test(models_are_dropped),
        cmocka_unit_test(a_full_channel_refuses),
        cmocka_unit_test(the_slot_goes_first),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
