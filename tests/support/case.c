/* case.c - runs only those tests of a cmocka program that the environment's CASE names.
 *
 * CASE is a glob over names of tests (fnmatch); without it all run. If it matches none, the program
 * names all its tests on standard error and ends with status 2. Test programs are linked with
 * -Wl,--wrap=_cmocka_run_group_tests, so that none of them has to know of this.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>

int __real__cmocka_run_group_tests(const char *name, const struct CMUnitTest *tests, size_t count,
                                   CMFixtureFunction setup, CMFixtureFunction teardown);
int __wrap__cmocka_run_group_tests(const char *name, const struct CMUnitTest *tests, size_t count,
                                   CMFixtureFunction setup, CMFixtureFunction teardown);

static _Noreturn void case_refuse(const char *pattern, const struct CMUnitTest *tests, size_t count)
{
    fprintf(stderr, "no case \"%s\"; valid are patterns of:", pattern);
    for (size_t i = 0; i < count; i++)
        fprintf(stderr, " %s", tests[i].name);
    fputc('\n', stderr);
    exit(2);
}

int __wrap__cmocka_run_group_tests(const char *name, const struct CMUnitTest *tests, size_t count,
                                   CMFixtureFunction setup, CMFixtureFunction teardown)
{
    const char *pattern = getenv("CASE");
    if (!pattern || !*pattern)
        return __real__cmocka_run_group_tests(name, tests, count, setup, teardown);
    struct CMUnitTest *chosen = calloc(count, sizeof *chosen);
    size_t chosen_count = 0;
    if (!chosen)
        abort();
    for (size_t i = 0; i < count; i++)
        if (fnmatch(pattern, tests[i].name, 0) == 0)
            chosen[chosen_count++] = tests[i];
    if (chosen_count == 0)
        case_refuse(pattern, tests, count);
    int failed = __real__cmocka_run_group_tests(name, chosen, chosen_count, setup, teardown);
    free(chosen);
    return failed;
}
