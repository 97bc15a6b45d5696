/* test_wrap.c - text in lines of a width. */
#include "harness/base/memory.h"
#include "harness/base/wrap.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

static void wraps(int at, int indent, const char *text, const char *expected)
{
    char *printed = NULL;
    size_t size = 0;
    FILE *to = memory_stream(&printed, &size);
    text_wrap(to, at, indent, 10, text);
    fclose(to);
    assert_string_equal(printed, expected);
    free(printed);
}

static void lines_end_before_the_width(void **state)
{
    (void)state;
    wraps(0, 0, "", "\n");
    wraps(0, 2, "one two three", "one two\n  three\n");
    wraps(0, 0, "four words of\nsix", "four words\nof six\n");
    wraps(7, 2, "abc de", "abc\n  de\n");
}

static void signs_count_and_not_bytes(void **state)
{
    (void)state;
    wraps(0, 0, "µµµµ µµµµµ µ", "µµµµ µµµµµ\nµ\n");
}

static void words_stay_together(void **state)
{
    (void)state;
    wraps(0, 2, "abc 1.2×" TEXT_TOGETHER "gmp", "abc\n  1.2× gmp\n");
    wraps(0, 2, "ab 1.2×" TEXT_TOGETHER "gm", "ab 1.2× gm\n");
}

static void wide_word_is_cut(void **state)
{
    (void)state;
    wraps(8, 4, "abcdefghijk l", "ab\n    cdefgh\n    ijk l\n");
    wraps(12, 12, "abc", "abc\n"); /* no room at all */
}

static void empty_line_begins_a_paragraph(void **state)
{
    (void)state;
    wraps(0, 1, "a b\n\nc", "a b\n\n c\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_end_before_the_width),
        cmocka_unit_test(signs_count_and_not_bytes),
        cmocka_unit_test(words_stay_together),
        cmocka_unit_test(wide_word_is_cut),
        cmocka_unit_test(empty_line_begins_a_paragraph),
    };
    return cmocka_run_group_tests_name("wrap", tests, NULL, NULL);
}
