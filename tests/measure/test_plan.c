/* test_plan.c - the cells of a sweep are the union of its groups, and a block is a permutation of
 * them that can be had again. */
#include "harness/plan/plan.h"
#include "harness/plan/sweep_request.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MANY = 1000 };

static char *variants[] = {"gmp", "grq", "gmp,tick=64"};
static char *workloads[] = {"fib", "spawn"};
static int64_t workers[] = {1, 2};

/* Two groups: all of the above, and one that shares gmp on fib and adds nothing or perm. */
static struct plan *plan_of_two_groups(char *second_variant, struct sweep_group groups[2],
                                       struct sweep_file *sweep)
{
    static char *second[2];
    second[0] = "gmp";
    second[1] = second_variant;
    groups[0] = (struct sweep_group){.id = "a",
                                     .variants = variants,
                                     .variants_count = 3,
                                     .workloads = workloads,
                                     .workloads_count = 2,
                                     .workers = workers,
                                     .workers_count = 2};
    groups[1] = (struct sweep_group){.id = "b",
                                     .variants = second,
                                     .variants_count = 2,
                                     .workloads = workloads,
                                     .workloads_count = 1,
                                     .workers = workers,
                                     .workers_count = 2};
    *sweep = (struct sweep_file){.groups = groups, .groups_count = 2};
    return plan_make(sweep);
}

static void a_groups_own_events_make_other_cells(void **state)
{
    (void)state;
    static char *none[] = {"none"}, *some[] = {"PAPI_L1_DCM", "PAPI_TOT_INS"};
    struct sweep_group groups[3];
    struct sweep_file sweep;
    plan_free(plan_of_two_groups("grq", groups, &sweep));
    groups[2] = groups[1];
    groups[1].events = none;
    groups[1].events_count = 1;
    groups[2].events = some;
    groups[2].events_count = 2;
    sweep.groups_count = 3;
    struct plan *plan = plan_make(&sweep);
    assert_int_equal(plan->count, 3 * 2 * 2 + 2 * 2 + 2 * 2);
    for (size_t i = 0; i < plan->count; i++)
        for (size_t k = 0; k < i; k++) /* measured together, whatever they count */
            assert_true((plan->cells[i].set == plan->cells[k].set) ==
                        (strcmp(plan->cells[i].workload, plan->cells[k].workload) == 0 &&
                         plan->cells[i].workers == plan->cells[k].workers));
    for (size_t i = 0; i < plan->count; i++) {
        const char *group = json_string_value(json_array_get(plan->cells[i].groups, 0));
        assert_int_equal(plan->cells[i].events == NULL, i < 3 * 2 * 2);
        if (plan->cells[i].events)
            assert_string_equal(plan->cells[i].events, *group == 'b' && i < 3 * 2 * 2 + 2 * 2
                                                           ? "none"
                                                           : "PAPI_L1_DCM,PAPI_TOT_INS");
        for (size_t k = 0; k < i; k++)
            assert_string_not_equal(plan->cells[i].id, plan->cells[k].id);
    }
    plan_free(plan);
}

/* The time of such calls is virtual, and 50 ms of it may be a minute of ours. */
static void simulated_cells_beside_native_ones_take_one_call(void **state)
{
    (void)state;
    struct sweep_group groups[2];
    struct sweep_file sweep;
    plan_free(plan_of_two_groups("grq", groups, &sweep));
    sweep.min_time_ms = 50;
    sweep.warmup = WARMUP_AUTO;
    struct sample_request common = sweep_request_common(&sweep, 1, NULL);
    for (int native = 0; native <= 1; native++) {
        groups[0].machine = groups[1].machine = "sim:desktop8";
        groups[1].machine = native ? NULL : groups[1].machine;
        struct plan *plan = plan_make(&sweep);
        for (size_t i = 0; i < plan->count; i++) {
            struct sample_request request = sweep_request_cell(&common, &plan->cells[i], 0);
            bool one_call = native && strcmp(request.machine, "native") != 0;
            assert_int_equal(request.min_time_ns, one_call ? 0 : 50000000);
            assert_int_equal(request.warmup, one_call ? WARMUP_SIMULATED : WARMUP_AUTO);
        }
        plan_free(plan);
    }
}

static void plan_is_the_union_of_the_groups(void **state)
{
    (void)state;
    struct sweep_group groups[2];
    struct sweep_file sweep;
    struct plan *plan = plan_of_two_groups("perm", groups, &sweep);
    assert_int_equal(plan->count, 3 * 2 * 2 + 2);
    for (size_t i = 0; i < plan->count; i++)
        for (size_t k = 0; k < i; k++)
            assert_string_not_equal(plan->cells[i].id, plan->cells[k].id);
    plan_free(plan);
    plan = plan_of_two_groups("grq", groups, &sweep);
    assert_int_equal(plan->count, 3 * 2 * 2);
    plan_free(plan);
}

static void shared_cell_belongs_to_both_groups(void **state)
{
    (void)state;
    struct sweep_group groups[2];
    struct sweep_file sweep;
    struct plan *plan = plan_of_two_groups("perm", groups, &sweep);
    for (size_t i = 0; i < plan->count; i++) {
        const struct cell *cell = &plan->cells[i];
        bool in_a = strcmp(cell->variant, "perm") != 0;
        bool in_b =
            strcmp(cell->workload, "fib") == 0 && (!in_a || strcmp(cell->variant, "gmp") == 0);
        assert_int_equal(json_array_size(cell->groups), (size_t)in_a + in_b);
        assert_string_equal(json_string_value(json_array_get(cell->groups, 0)), in_a ? "a" : "b");
    }
    plan_free(plan);
}

static size_t set_of(const struct plan *plan, const char *variant, const char *workload,
                     int worker_count)
{
    for (size_t i = 0; i < plan->count; i++)
        if (strcmp(plan->cells[i].variant, variant) == 0 &&
            strcmp(plan->cells[i].workload, workload) == 0 &&
            plan->cells[i].workers == worker_count)
            return plan->cells[i].set;
    fail_msg("no cell %s %s %d", variant, workload, worker_count);
    return 0;
}

static void a_sample_runs_on_the_allocator_of_its_variant(void **state)
{
    (void)state;
    struct sweep_group groups[2];
    struct sweep_file sweep;
    struct plan *plan = plan_of_two_groups("gmp,malloc=glibc", groups, &sweep);
    struct sample_request common = sweep_request_common(&sweep, 1, NULL);
    for (size_t i = 0; i < plan->count; i++) {
        bool glibc = strcmp(plan->cells[i].variant, "gmp,malloc=glibc") == 0;
        assert_int_equal(sweep_request_cell(&common, &plan->cells[i], 0).allocator,
                         glibc ? ALLOCATOR_GLIBC : ALLOCATOR_JEMALLOC);
    }
    plan_free(plan);
}

static void cells_that_are_compared_are_one_set(void **state)
{
    (void)state;
    struct sweep_group groups[2];
    struct sweep_file sweep;
    struct plan *plan = plan_of_two_groups("perm", groups, &sweep);
    assert_int_equal(set_of(plan, "gmp", "spawn", 1), set_of(plan, "grq", "spawn", 1));
    assert_int_equal(set_of(plan, "gmp", "spawn", 1), set_of(plan, "gmp,tick=64", "spawn", 1));
    /* perm is compared with gmp in the other group only, and gmp with grq. */
    assert_int_equal(set_of(plan, "perm", "fib", 2), set_of(plan, "grq", "fib", 2));
    assert_int_not_equal(set_of(plan, "gmp", "fib", 1), set_of(plan, "gmp", "fib", 2));
    assert_int_not_equal(set_of(plan, "gmp", "fib", 1), set_of(plan, "gmp", "spawn", 1));
    assert_int_not_equal(set_of(plan, "gmp", "fib", 2), set_of(plan, "gmp", "spawn", 1));
    plan_free(plan);
    plan = plan_of_two_groups("grq", groups, &sweep); /* the second group has nothing new */
    for (size_t i = 0; i < plan->count; i++)
        for (size_t k = 0; k < i; k++)
            assert_true((plan->cells[i].set == plan->cells[k].set) ==
                        (strcmp(plan->cells[i].workload, plan->cells[k].workload) == 0 &&
                         plan->cells[i].workers == plan->cells[k].workers));
    plan_free(plan);
}

static void cell_id_tells_every_part_apart(void **state)
{
    (void)state;
    char id[6][CELL_ID_SIZE];
    record_cell_id(id[0], "gmp", "fib", 1, "native");
    record_cell_id(id[1], "grq", "fib", 1, "native");
    record_cell_id(id[2], "gmp", "fib,n=20", 1, "native");
    record_cell_id(id[3], "gmp", "fib", 11, "native");
    record_cell_id(id[4], "gmp", "fib", 1, "sim:server64");
    record_cell_id(id[5], "gmpf", "ib", 1, "native");
    for (int i = 0; i < 6; i++) {
        assert_int_equal(strspn(id[i], "0123456789abcdef"), 12);
        for (int k = 0; k < i; k++)
            assert_string_not_equal(id[i], id[k]);
    }
    /* The same in every version, or committed results lose their cells. */
    assert_string_equal(id[0], "a3274b2d4473");
}

static struct plan plan_of_many(struct cell cells[MANY])
{
    memset(cells, 0, MANY * sizeof *cells);
    return (struct plan){.cells = cells, .count = MANY};
}

static void block_holds_each_cell_once(void **state)
{
    (void)state;
    static struct cell cells[MANY];
    struct plan plan = plan_of_many(cells);
    size_t order[MANY];
    plan_shuffle(plan.count, 7, 0, order);
    unsigned char seen[MANY] = {0};
    size_t in_place = 0;
    for (size_t i = 0; i < MANY; i++) {
        assert_true(order[i] < MANY);
        assert_int_equal(seen[order[i]]++, 0);
        in_place += order[i] == i;
    }
    assert_true(in_place < MANY / 20);
}

static void order_depends_on_seed_and_block(void **state)
{
    (void)state;
    static struct cell cells[MANY];
    struct plan plan = plan_of_many(cells);
    size_t first[MANY], again[MANY], other[MANY];
    plan_shuffle(plan.count, 7, 3, first);
    plan_shuffle(plan.count, 7, 3, again);
    assert_memory_equal(first, again, sizeof first);
    plan_shuffle(plan.count, 7, 4, other);
    assert_memory_not_equal(first, other, sizeof first);
    plan_shuffle(plan.count, 8, 3, other);
    assert_memory_not_equal(first, other, sizeof first);
    plan_shuffle(plan.count, 7 + (UINT64_C(1) << 40), 3, other);
    assert_memory_not_equal(first, other, sizeof first);
}

static void time_left_uses_what_each_cell_took(void **state)
{
    (void)state;
    struct cell cells[3];
    memset(cells, 0, sizeof cells);
    struct plan plan = {.cells = cells, .count = 3};
    const size_t order[3] = {2, 0, 1};
    assert_true(isnan(plan_seconds_left(&plan, order, 0, 1)));
    for (int i = 0; i < 3; i++)
        cells[i].why = WHY_BLOCK;
    cells[2].timed = 2;
    cells[2].seconds = 8; /* 4 each; the others are unknown: the mean, 4 each */
    assert_true(fabs(plan_seconds_left(&plan, order, 1, 0) - 8) < 1e-9);
    cells[0].timed = 1;
    cells[0].seconds = 1; /* mean over three samples: 3 */
    assert_true(fabs(plan_seconds_left(&plan, order, 2, 0) - 3) < 1e-9);
    assert_true(fabs(plan_seconds_left(&plan, order, 2, 2) - (3 + 2 * (4 + 1 + 3))) < 1e-9);
    cells[2].given_up = true;
    assert_true(fabs(plan_seconds_left(&plan, order, 2, 2) - (3 + 2 * (1 + 3))) < 1e-9);
    cells[1].why = WHY_NONE; /* the last of this block */
    assert_true(fabs(plan_seconds_left(&plan, order, 2, 2) - 2 * (1 + 3)) < 1e-9);
}

static void sides_are_cells_of_their_own_in_one_set(void **state)
{
    (void)state;
    static const struct plan_side sides[] = {{.name = "x"}, {.name = "y"}, {.name = "z"}};
    struct sweep_group groups[2];
    struct sweep_file sweep;
    struct plan *plan = plan_of_two_groups("perm", groups, &sweep);
    size_t count = plan->count, last_set = plan->cells[count - 1].set;
    char first_id[CELL_ID_SIZE];
    strcpy(first_id, plan->cells[0].id);
    plan_multiply(plan, sides, 3);
    assert_int_equal(plan->count, 3 * count);
    for (size_t i = 0; i < plan->count; i++) {
        const struct cell *cell = &plan->cells[i];
        assert_ptr_equal(cell->side, &sides[i % 3]);
        assert_string_equal(cell->variant, plan->cells[i / 3 * 3].variant);
        assert_int_equal(cell->set, plan->cells[i / 3 * 3].set);
        assert_string_not_equal(cell->id, first_id);
        for (size_t k = 0; k < i; k++)
            assert_string_not_equal(cell->id, plan->cells[k].id);
    }
    assert_int_equal(plan->cells[plan->count - 1].set, last_set);
    assert_string_equal(json_string_value(json_array_get(plan->cells[1].groups, 0)), "a@y");
    plan_free(plan);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plan_is_the_union_of_the_groups),
        cmocka_unit_test(a_groups_own_events_make_other_cells),
        cmocka_unit_test(simulated_cells_beside_native_ones_take_one_call),
        cmocka_unit_test(shared_cell_belongs_to_both_groups),
        cmocka_unit_test(a_sample_runs_on_the_allocator_of_its_variant),
        cmocka_unit_test(cells_that_are_compared_are_one_set),
        cmocka_unit_test(cell_id_tells_every_part_apart),
        cmocka_unit_test(block_holds_each_cell_once),
        cmocka_unit_test(order_depends_on_seed_and_block),
        cmocka_unit_test(time_left_uses_what_each_cell_took),
        cmocka_unit_test(sides_are_cells_of_their_own_in_one_set),
    };
    return cmocka_run_group_tests_name("plan", tests, NULL, NULL);
}
