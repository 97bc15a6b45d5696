/* test_invariants.c - every INVARIANT, and every part of an x_is_valid(), can be broken, and is
 * noticed. Builds without SCHEDLAB_DEBUG have none, and skip this.
 *
 * breaks_*.c have a way to break each. The section `invariants` lists them all
 * (machine/invariant.h), so a new one without such a way fails here.
 */
#include "breaks.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

static const struct breaking *breakings;

void breaking_add(struct breaking *breaking)
{
    breaking->next = breakings;
    breakings = breaking;
}

#ifdef SCHEDLAB_DEBUG

extern const char facts_start[] __asm__("__start_invariants");
extern const char facts_end[] __asm__("__stop_invariants");

enum { FACTS_MAX = 8192 };

static struct {
    const char *text; /* from "sched_variants/" on, as the compiler was told of the file */
    bool broken;
} facts[FACTS_MAX];
static size_t facts_count;

/* Not checked for bounds: strings with gaps between them, laid out by the linker. */
__attribute__((no_sanitize("address", "undefined"))) static void facts_find(void)
{
    for (const char *at = facts_start; at < facts_end; at++) {
        if (!*at)
            continue;
        const char *from = strstr(at, "sched_variants/");
        assert_non_null(from);
        assert_true(facts_count < FACTS_MAX);
        facts[facts_count++].text = from;
        at += strlen(at);
    }
}

/* All copies of it: one in a header is in each file that includes that. */
static void fact_mark(const char *line, size_t length)
{
    for (size_t i = 0; i < facts_count; i++)
        if (strlen(facts[i].text) == length && strncmp(facts[i].text, line, length) == 0)
            facts[i].broken = true;
}

/* The facts that the output of a dead process names. */
static int facts_mark(const char *output)
{
    int count = 0;
    for (const char *at = output; (at = strstr(at, "schedlab: fatal: ")); at++) {
        const char *end = strchr(at, '\n'), *from = strstr(at, "sched_variants/");
        if (!end || !from || from > end)
            continue;
        fact_mark(from, (size_t)(end - from));
        count++;
    }
    return count;
}

static void each_way_to_break_an_invariant_is_noticed(void **state)
{
    (void)state;
    int missed = 0;
    facts_find();
    for (const struct breaking *row = breakings; row; row = row->next) {
        struct support_report report;
        struct support_run run = {.variant = row->variant,
                                  .settings = row->settings,
                                  .workers = row->workers,
                                  .seed = 1,
                                  .fn = row->fn};
        support_run(&run, &report);
        bool broken = report.status == EXIT_INVARIANT && strstr(report.output, "invariant broken");
        if (broken && facts_mark(report.output) > 0)
            continue;
        missed++;
        print_error("%s: status %d\n%s", row->name, report.status, report.output);
    }
    assert_int_equal(missed, 0);
}

static void no_invariant_is_without_a_way_to_break_it(void **state)
{
    (void)state;
    int missed = 0;
    assert_true(facts_count > 0);
    for (size_t i = 0; i < facts_count; i++) {
        if (facts[i].broken)
            continue;
        print_error("nothing breaks %s\n", facts[i].text);
        fact_mark(facts[i].text, strlen(facts[i].text)); /* told once */
        missed++;
    }
    assert_int_equal(missed, 0);
}

#else

static void each_way_to_break_an_invariant_is_noticed(void **state)
{
    (void)state;
    skip(); /* nothing is checked here */
}

static void no_invariant_is_without_a_way_to_break_it(void **state)
{
    (void)state;
    skip();
}

#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_way_to_break_an_invariant_is_noticed),
        cmocka_unit_test(no_invariant_is_without_a_way_to_break_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
