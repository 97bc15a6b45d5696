/* test_interrupt.c - machine_interrupt() by itself, without a scheduler. */
#include "machine/machine.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "tests/support/support.h"

static volatile bool wanted;
static volatile int asked, taken,
    again; /* again: how many more interrupts come while it is asked */
static uintptr_t asked_pc, asked_sp;

static bool welcome(uintptr_t pc, uintptr_t sp)
{
    if (asked++ == 0) {
        asked_pc = pc;
        asked_sp = sp;
    }
    if (again > 0) {
        struct machine_thread self = machine_thread_self();
        again--;
        machine_interrupt(&self);
    }
    return wanted;
}

static void take(void)
{
    taken++;
    wanted = false;
}

/* Returns what machine_interrupt() did. */
static int interrupt_self(bool want, int more)
{
    struct machine_thread self = machine_thread_self();
    wanted = want;
    asked = taken = 0;
    again = more;
    return machine_interrupt(&self);
}

#if defined(__SANITIZE_THREAD__)
static void there_are_none_under_thread_sanitizer(void **state)
{
    (void)state;
    assert_int_equal(interrupt_self(true, 0), -ENOSYS);
    assert_int_equal(asked + taken, 0);
}
#else
static void who_does_not_want_is_left_alone(void **state)
{
    (void)state;
    assert_int_equal(interrupt_self(false, 0), 0);
    assert_int_equal(asked, 1);
    assert_int_equal(taken, 0);
}

static void who_wants_is_told_where_it_is(void **state)
{
    char here;
    (void)state;
    assert_int_equal(interrupt_self(true, 0), 0);
    assert_int_equal(taken, 1);
    assert_true(asked_pc != 0);
    assert_in_range(asked_sp, (uintptr_t)&here - 65536, (uintptr_t)&here + 65536);
}

static void interrupts_that_come_together_are_taken_once(void **state)
{
    (void)state;
    assert_int_equal(interrupt_self(true, 2), 0);
    assert_int_equal(taken, 1);
    assert_int_equal(interrupt_self(true, 0), 0); /* nothing is left over, and nothing broken */
    assert_int_equal(taken, 1);
}
#endif

static int set_up(void **state)
{
    (void)state;
    machine_interrupt_init(welcome, take);
    machine_thread_enter();
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    machine_thread_leave();
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#if defined(__SANITIZE_THREAD__)
        cmocka_unit_test(there_are_none_under_thread_sanitizer),
#else
        cmocka_unit_test(who_does_not_want_is_left_alone),
        cmocka_unit_test(who_wants_is_told_where_it_is),
        cmocka_unit_test(interrupts_that_come_together_are_taken_once),
#endif
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
