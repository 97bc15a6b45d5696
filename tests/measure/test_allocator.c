/* test_allocator.c - the malloc that is asked for is the one that is called. */
#include "harness/base/process.h"
#include "harness/host/allocator.h"
#include "harness/host/malloc_stats.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include <cmocka.h>

/* Expects this name of the malloc of this program when it is started for `asked`. */
static void expect_in_child(enum allocator asked, const char *name)
{
    static const char *const argv[] = {"test_allocator", "tell", NULL};
    struct process_result result;
    allocator_for_children(asked);
    assert_int_equal(process_run("/proc/self/exe", argv, 60, &result), 0);
    allocator_for_children(ALLOCATOR_JEMALLOC);
    if (!WIFEXITED(result.status) || WEXITSTATUS(result.status) != 0)
        fail_msg("%s", result.messages);
    assert_string_equal(result.output, name);
    process_result_free(&result);
}

static void the_linker_gives_what_was_asked_for(void **state)
{
    (void)state;
    bool sanitized = allocator_found() == ALLOCATOR_SANITIZER;
    expect_in_child(ALLOCATOR_GLIBC, sanitized ? "sanitizer" : "glibc");
    expect_in_child(ALLOCATOR_JEMALLOC, sanitized ? "sanitizer" : "jemalloc");
}

/* jemalloc is loaded in both cases; under glibc its books do not move. */
static void only_jemalloc_books_what_is_allocated(void **state)
{
    (void)state;
    if (allocator_found() == ALLOCATOR_SANITIZER)
        skip();
    static const char *const argv[] = {"test_allocator", "allocate", NULL};
    static const char *const expected[] = {
        [ALLOCATOR_JEMALLOC] = "grows", [ALLOCATOR_GLIBC] = "stays"};
    for (int asked = 0; asked < ALLOCATORS_ASKED; asked++) {
        struct process_result result;
        allocator_for_children((enum allocator)asked);
        assert_int_equal(process_run("/proc/self/exe", argv, 60, &result), 0);
        allocator_for_children(ALLOCATOR_JEMALLOC);
        assert_string_equal(result.output, expected[asked]);
        process_result_free(&result);
    }
}

static void what_the_user_preloads_stays(void **state)
{
    (void)state;
    if (allocator_found() == ALLOCATOR_SANITIZER)
        skip();
    static const char *const argv[] = {"test_allocator", "preload", NULL};
    struct process_result result;
    setenv("LD_PRELOAD", "libm.so.6", 1); /* before the first call: that is when it is read */
    allocator_for_children(ALLOCATOR_GLIBC);
    assert_int_equal(process_run("/proc/self/exe", argv, 60, &result), 0);
    assert_string_equal(result.output, "libc.so.6:libm.so.6");
    process_result_free(&result);
    allocator_for_children(ALLOCATOR_JEMALLOC);
    assert_string_equal(getenv("LD_PRELOAD"), "libm.so.6");
}

static void files_tell_allocators(void **state)
{
    (void)state;
    assert_int_equal(allocator_of_file("/usr/lib/x86_64-linux-gnu/libjemalloc.so.2"),
                     ALLOCATOR_JEMALLOC);
    assert_int_equal(allocator_of_file("/lib/aarch64-linux-gnu/libc.so.6"), ALLOCATOR_GLIBC);
    assert_int_equal(allocator_of_file("/lib/libc-2.28.so"), ALLOCATOR_GLIBC);
    assert_int_equal(allocator_of_file("libtcmalloc.so.4"), ALLOCATOR_OTHER);
    assert_int_equal(allocator_of_file("./schedlab"), ALLOCATOR_OTHER);
}

static void another_malloc_than_asked_for_is_told(void **state)
{
    struct error why;
    (void)state;
    assert_true(allocator_check(ALLOCATOR_GLIBC, ALLOCATOR_GLIBC, &why));
    assert_true(allocator_check(ALLOCATOR_JEMALLOC, ALLOCATOR_JEMALLOC, &why));
    assert_true(allocator_check(ALLOCATOR_JEMALLOC, ALLOCATOR_SANITIZER, &why));
    assert_false(allocator_check(ALLOCATOR_GLIBC, ALLOCATOR_JEMALLOC, &why));
    assert_non_null(
        strstr(why.text, "malloc=glibc was asked for, but malloc() is that of jemalloc"));
    assert_false(allocator_check(ALLOCATOR_JEMALLOC, ALLOCATOR_GLIBC, &why));
    assert_non_null(
        strstr(why.text, "malloc=jemalloc was asked for, but malloc() is that of glibc"));
    assert_false(allocator_check(ALLOCATOR_JEMALLOC, ALLOCATOR_OTHER, &why));
}

static const char *allocate_and_tell(void)
{
    enum { BYTES = 1 << 20 };
    malloc_stats_refresh();
    uint64_t before = malloc_stats_read(MALLOC_STAT_ALLOCATED);
    char *volatile block = malloc(BYTES);
    block[0] = 1;
    malloc_stats_refresh();
    uint64_t grown = malloc_stats_read(MALLOC_STAT_ALLOCATED) - before;
    free(block);
    return grown == 0 ? "stays" : grown >= BYTES ? "grows" : "neither";
}

int main(int argc, char **argv)
{
    if (argc > 1) {
        const char *preload = getenv("LD_PRELOAD");
        const char *answer = allocator_found_name();
        if (strcmp(argv[1], "preload") == 0)
            answer = preload ? preload : "";
        if (strcmp(argv[1], "allocate") == 0)
            answer = allocate_and_tell();
        fputs(answer, stdout);
        return 0;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_the_user_preloads_stays),
        cmocka_unit_test(the_linker_gives_what_was_asked_for),
        cmocka_unit_test(only_jemalloc_books_what_is_allocated),
        cmocka_unit_test(files_tell_allocators),
        cmocka_unit_test(another_malloc_than_asked_for_is_told),
    };
    return cmocka_run_group_tests_name("allocator", tests, NULL, NULL);
}
