/* test_process_time.c - a cell whose process took time that its own numbers do not show is flagged,
 * and start-up, which all cells have, is not. */
#include "harness/evidence/process_time.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

enum { MS = 1000000, START_MS = 40, BETWEEN_NS = 5000 };

static char folder[64], path[128];

static int folder_make(void **state)
{
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/test_process_time.XXXXXX");
    if (!mkdtemp(folder))
        return -1;
    snprintf(path, sizeof path, "%s/outside.tsv", folder);
    return 0;
}

static int folder_remove(void **state)
{
    (void)state;
    unlink(path);
    return rmdir(folder);
}

/* A sample of inside_ms, some of it of untimed calls, in a process that took outside_ms; one
 * without calls takes START_MS. */
static json_t *add(json_t *records, const char *cell, double inside_ms, double warmup_ms,
                   double outside_ms)
{
    json_t *record =
        json_pack("{ss ss ss ss si sf sf si}", "status", "ok", "cell", cell, "variant", cell,
                  "workload", "fib", "workers", 2, "warmup_ns", warmup_ms * MS, "time_ns",
                  (inside_ms - warmup_ms) * MS - BETWEEN_NS, "between_ns", BETWEEN_NS);
    if (outside_ms > 0)
        json_object_set_new(
            record, "outside",
            json_pack("{sf si}", "wall_ns", outside_ms * MS, "startup_ns", START_MS * MS));
    json_array_append_new(records, record);
    return record;
}

/* The row of a cell; "" if there is none. */
static const char *row(const json_t *records, const char *cell)
{
    static char line[512];
    char wanted[64];
    struct error error = {0};
    assert_int_equal(process_time_write(folder, records, &error), 0);
    FILE *from = fopen(path, "r");
    assert_non_null(from);
    snprintf(wanted, sizeof wanted, "%s\t", cell);
    bool found = false;
    while (!found && fgets(line, sizeof line, from))
        found = strncmp(line, wanted, strlen(wanted)) == 0;
    fclose(from);
    return found ? line : "";
}

static void medians_stand_side_by_side(void **state)
{
    (void)state;
    json_t *records = json_array();
    for (int i = 0; i < 3; i++) {
        add(records, "a", 100 + i, 0, 140 + i);
        add(records, "b", 200 + i, 0, 240 + i);
    }
    assert_true(process_time_is_known(records));
    assert_string_equal(row(records, "a"),
                        "a\ta\tfib\t2\t3\t101000000\t141000000\t40000000\t0\t0\t0\t-\n");
    assert_string_equal(row(records, "b"),
                        "b\tb\tfib\t2\t3\t201000000\t241000000\t40000000\t0\t0\t0\t-\n");
    json_decref(records);
}

static void untimed_calls_count_as_inside(void **state)
{
    (void)state;
    json_t *records = json_array();
    add(records, "a", 150, 50, 190);
    assert_string_equal(row(records, "a"),
                        "a\ta\tfib\t2\t1\t150000000\t190000000\t40000000\t0\t0\t0\t-\n");
    json_decref(records);
}

static void time_that_is_not_shown_is_flagged(void **state)
{
    (void)state;
    json_t *records = json_array();
    for (int i = 0; i < 3; i++) {
        add(records, "a", 100, 0, 140);
        add(records, "slow", 100, 0, 180);    /* 40 ms more than start-up */
        add(records, "lies", 100, 0, 90);     /* more time inside than outside */
        add(records, "large", 1000, 0, 1090); /* 50 ms more, but of a second */
        add(records, "late", 100, 0, i == 0 ? 400 : 140);
    }
    assert_non_null(strstr(row(records, "a"), "\t-\n"));
    assert_non_null(strstr(row(records, "slow"), "\t40000000\t40000000\t40000000\tdisagree\n"));
    assert_non_null(strstr(row(records, "lies"), "\t-50000000\t-50000000\t-50000000\tdisagree\n"));
    assert_non_null(strstr(row(records, "large"), "\t-\n"));
    assert_non_null(strstr(row(records, "late"), "\t0\t0\t260000000\t-\n"));
    json_decref(records);
}

/* If a program is wrong everywhere, no cell stands out from the others. */
static void clock_that_is_wrong_in_all_cells_is_flagged(void **state)
{
    (void)state;
    json_t *records = json_array();
    for (int i = 0; i < 3; i++) {
        add(records, "half", 100, 20, 240);
        add(records, "half too", 150, 20, 340);
    }
    assert_non_null(strstr(row(records, "half"), "\tdisagree\n"));
    assert_non_null(strstr(row(records, "half too"), "\tdisagree\n"));
    json_decref(records);
}

static void what_cannot_be_told_is_unknown(void **state)
{
    (void)state;
    json_t *records = json_array();
    add(records, "short", 5, 0, 50);
    json_t *record = add(records, "start", 100, 0, 140);
    json_object_set_new(json_object_get(record, "outside"), "startup_ns",
                        json_pack("{ss}", "absent", "a peer"));
    for (int i = 0; i < 3; i++)
        add(records, "apart", 100, 0, i == 0 ? 140 : 200);
    assert_non_null(strstr(row(records, "apart"), "\tunknown\n"));
    json_object_del(add(records, "warmup", 100, 0, 140), "warmup_ns");
    assert_non_null(strstr(row(records, "short"), "\tunknown\n"));
    assert_non_null(strstr(row(records, "start"), "\tNA\tNA\tNA\tNA\tunknown\n"));
    assert_non_null(strstr(row(records, "warmup"), "\tunknown\n"));
    json_decref(records);
}

static void samples_without_outside_are_left_out(void **state)
{
    (void)state;
    json_t *records = json_array();
    add(records, "a", 100, 0, 0);
    assert_false(process_time_is_known(records));
    add(records, "b", 100, 0, 110);
    json_object_set_new(json_array_get(records, 1), "status", json_string("failed"));
    add(records, "c", 100, 0, 110);
    assert_true(process_time_is_known(records));
    assert_string_equal(row(records, "a"), "");
    assert_string_equal(row(records, "b"), "");
    assert_string_not_equal(row(records, "c"), "");
    json_decref(records);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(medians_stand_side_by_side),
        cmocka_unit_test(untimed_calls_count_as_inside),
        cmocka_unit_test(time_that_is_not_shown_is_flagged),
        cmocka_unit_test(clock_that_is_wrong_in_all_cells_is_flagged),
        cmocka_unit_test(what_cannot_be_told_is_unknown),
        cmocka_unit_test(samples_without_outside_are_left_out),
    };
    return cmocka_run_group_tests_name("outside", tests, folder_make, folder_remove);
}
