/* test_term_table.c - tables for a terminal. */
#include "harness/base/memory.h"
#include "harness/base/term_table.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

static void prints(struct term_table *table, const char *expected)
{
    char *printed = NULL;
    size_t size = 0;
    FILE *to = memory_stream(&printed, &size);
    term_table_print(table, to);
    fclose(to);
    assert_string_equal(printed, expected);
    free(printed);
}

static void widest_cell_makes_the_column(void **state)
{
    (void)state;
    struct term_table *table =
        term_table_new((struct term_layout){.indent = 1, .gap = 2},
                       TERM_COLUMNS({"name", -1}, {"ns", 1}, {"at least", -10}, {"n", 3}));
    term_table_row(table, "a", "1234", "b", "5", NULL);
    term_table_row(table, "longer", NULL);
    term_table_cell(table, "%d", 6);
    prints(table, " name      ns  at least      n\n"
                  " a       1234  b             5\n"
                  " longer     6\n");
}

static void characters_count_and_not_bytes(void **state)
{
    (void)state;
    struct term_table *table =
        term_table_new((struct term_layout){.gap = 1}, TERM_COLUMNS({"", -1}, {"", 4}, {"", 1}));
    term_table_row(table, "µ", "2×", "1", NULL);
    term_table_row(table, "us", "22", "1", NULL);
    prints(table, "µ    2× 1\nus   22 1\n");
}

static void no_line_ends_with_blanks(void **state)
{
    (void)state;
    struct term_table *table =
        term_table_new((struct term_layout){.gap = 1}, TERM_COLUMNS({"a", -3}, {"", -3}, {"b", 3}));
    term_table_row(table, "", "", "1", NULL);
    term_table_row(table, "x", "y", "", NULL);
    term_table_row(table, NULL);
    prints(table, "a         b\n          1\nx   y\n\n");
}

static void text_goes_on_below_itself(void **state)
{
    (void)state;
    struct term_table *table =
        term_table_new((struct term_layout){.indent = 2, .gap = 1, .width = 16},
                       TERM_COLUMNS({"a", -3}, {"b", 3}, {"why", 0}));
    term_table_row(table, NULL);
    term_table_text(table, "a %s", "line");
    term_table_row(table, "x", "1", NULL);
    term_table_text(table, "so");
    term_table_row(table, "y", NULL);
    term_table_text(table, "it is not");
    term_table_text(table, " so");
    prints(table, "  a     b  why\na line\n  x     1  so\n  y    it is not\n       so\n");
}

static void wide_first_cell_has_its_own_line(void **state)
{
    (void)state;
    struct term_table *table =
        term_table_new((struct term_layout){.indent = 1, .gap = 1, .first_most = 4},
                       TERM_COLUMNS({"a", -1}, {"b", 2}));
    term_table_row(table, "four", "1", NULL);
    term_table_row(table, "fives", "2", NULL);
    prints(table, " a     b\n four  1\n fives\n       2\n");
}

static struct term_table *folded(int width)
{
    struct term_table *table =
        term_table_new((struct term_layout){.gap = 2, .width = width, .fold = 1},
                       TERM_COLUMNS({"a", -2}, {"b", -1}, {"c", -1}));
    term_table_row(table, "1", "two", "3", NULL);
    return table;
}

static void too_wide_rows_fold(void **state)
{
    (void)state;
    prints(folded(10), "a   b    c\n1   two  3\n");
    prints(folded(9), "a\n    b    c\n1\n    two  3\n");
}

static struct term_table *repeated(int width)
{
    struct term_table *table = term_table_new(
        (struct term_layout){.gap = 1, .width = width, .repeat = true}, TERM_COLUMNS({"a", -1}));
    term_table_column(table, "b", 3);
    term_table_column(table, "c", 3);
    term_table_column(table, "d", 3);
    term_table_row(table, "x", "1", "2", "3", NULL);
    return table;
}

static void columns_that_do_not_fit_follow_below(void **state)
{
    (void)state;
    prints(repeated(13), "a   b   c   d\nx   1   2   3\n");
    prints(repeated(12), "a   b   c\nx   1   2\n\na   d\nx   3\n");
    prints(repeated(1), "a   b\nx   1\n\na   c\nx   2\n\na   d\nx   3\n");
}

static void colour_ends_with_its_row(void **state)
{
    (void)state;
    struct term_table *table =
        term_table_new((struct term_layout){.gap = 1}, TERM_COLUMNS({"a", -1}));
    term_table_row(table, "x", NULL);
    term_table_colour(table, "\033[31m");
    term_table_row(table, "y", NULL);
    prints(table, "a\n\033[31mx\033[0m\ny\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(widest_cell_makes_the_column),
        cmocka_unit_test(characters_count_and_not_bytes),
        cmocka_unit_test(no_line_ends_with_blanks),
        cmocka_unit_test(text_goes_on_below_itself),
        cmocka_unit_test(wide_first_cell_has_its_own_line),
        cmocka_unit_test(too_wide_rows_fold),
        cmocka_unit_test(columns_that_do_not_fit_follow_below),
        cmocka_unit_test(colour_ends_with_its_row),
    };
    return cmocka_run_group_tests_name("term_table", tests, NULL, NULL);
}
