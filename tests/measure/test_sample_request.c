/* test_sample_request.c - what is asked of a sample arrives in its process. */
#include "harness/records/sample_request.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const struct sample_request asked = {.variant = "gmp", .workload = "fib"};

static size_t member_size(const struct sample_field *field)
{
    switch (field->type) {
    case FIELD_FLAG:
        return sizeof(bool);
    case FIELD_INT:
        return sizeof(int);
    default:
        return sizeof(int64_t);
    }
}

/* Sets the member of a field: a text, or the number. */
static void member_put(const struct sample_field *field, struct sample_request *request,
                       int64_t number)
{
    const char *text = strcmp(field->option, "--machine") == 0 ? "sim:laptop" : "a 'b',c";
    char *member = (char *)request + field->offset;
    if (field->type == FIELD_TEXT)
        memcpy(member, &text, sizeof text);
    else /* its first bytes: little-endian, as both architectures are */
        memcpy(member, &number, member_size(field));
}

/* The option of that name, as `schedlab sample` finds it. */
static const struct sample_field *field_named(const char *option)
{
    for (size_t i = 0; i < SAMPLE_FIELDS; i++)
        if (strcmp(sample_fields[i].option, option) == 0)
            return &sample_fields[i];
    fail_msg("no field %s", option);
    return NULL;
}

/* The request as a process reads it from the arguments with which it is started. */
static struct sample_request read_back(const struct sample_arguments *arguments)
{
    struct error error;
    struct sample_request request = sample_request_usual();
    assert_string_equal(arguments->argv[1], "sample");
    request.variant = arguments->argv[2];
    request.workload = arguments->argv[3];
    for (int i = 4; i < arguments->argc; i++) {
        const struct sample_field *field = field_named(arguments->argv[i]);
        const char *value = field->value ? arguments->argv[++i] : NULL;
        if (!sample_field_read(field, &request, value, &error))
            fail_msg("%s: %s", field->option, error.text);
    }
    assert_null(arguments->argv[arguments->argc]);
    return request;
}

/* All members but one are as usual, on a machine on which that one means something. */
static void survives(const struct sample_field *field, int64_t number)
{
    struct sample_arguments arguments;
    struct sample_request request = sample_request_usual();
    request.variant = asked.variant;
    request.workload = asked.workload;
    request.machine = field->flags & FIELD_SIMULATED ? "sim:laptop" : NULL;
    member_put(field, &request, number);
    sample_request_arguments(&arguments, &request);
    struct sample_request back = read_back(&arguments);
    for (size_t i = 0; i < SAMPLE_FIELDS; i++) {
        const struct sample_field *other = &sample_fields[i];
        if (memcmp((char *)&back + other->offset, (char *)&request + other->offset,
                   member_size(other)) != 0)
            fail_msg("%s, where %s is %lld", other->option, field->option, (long long)number);
    }
    assert_ptr_equal(back.variant, request.variant);
    assert_ptr_equal(back.workload, request.workload);
}

static void each_field_survives_the_way_to_its_process(void **state)
{
    (void)state;
    for (size_t i = 0; i < SAMPLE_FIELDS; i++) {
        const struct sample_field *field = &sample_fields[i];
        survives(field, field->type == FIELD_FLAG ? true : field->max);
        survives(field, field->type == FIELD_FLAG ? false : field->min);
        survives(field, field->usual);
        if (field->word)
            survives(field, -1);
    }
}

/* In place of a list of members, which could be forgotten too: no byte between two fields. */
static void each_member_is_a_field(void **state)
{
    (void)state;
    char covered[sizeof(struct sample_request)] = {0};
    size_t end = 0;
    memset(covered, 1, offsetof(struct sample_request, events)); /* the first five have no row */
    for (size_t i = 0; i < SAMPLE_FIELDS; i++) {
        size_t offset = sample_fields[i].offset, size = member_size(&sample_fields[i]);
        assert_null(memchr(covered + offset, 1, size)); /* two fields of one member */
        memset(covered + offset, 1, size);
        end = offset + size > end ? offset + size : end;
    }
    assert_null(memchr(covered, 0, end));
    assert_true(sizeof covered - end < sizeof(int64_t)); /* padding */
}

static void value_out_of_range_is_refused_in_one_line(void **state)
{
    (void)state;
    static const struct {
        const char *option, *text, *error;
    } cases[] = {
        {"--workers", "0", "--workers=0 is not valid; valid: 1 to 1024"},
        {"--warmup", "automatic", "--warmup=automatic is not valid; valid: 0 to 1000, or auto"},
        {"--stack", "1",
         "--stack=1 is not valid; valid: 16384 to 1073741824 bytes, or as in "
         "64Ki, 1Mi"},
        {"--schedtrace", "0",
         "--schedtrace=0 is not valid; valid: above 0 to 3600 s, in ns, us, ms (as in 200ms, "
         "1.5ms) or "
         "s; plain numbers are ms"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct error error;
        struct sample_request request = asked;
        assert_false(
            sample_field_read(field_named(cases[i].option), &request, cases[i].text, &error));
        assert_string_equal(error.text, cases[i].error);
    }
}

static void stack_is_of_whole_pages(void **state)
{
    (void)state;
    struct error error;
    struct sample_request request = asked;
    assert_true(sample_field_read(field_named("--stack"), &request, "20000", &error));
    assert_int_equal(request.stack_bytes % 4096, 0);
    assert_true(request.stack_bytes >= 20000);
}

static void shown_command_has_what_run_takes(void **state)
{
    (void)state;
    struct sample_request request = asked;
    request.workers = 2;
    request.steal_max_percent = 4;
    request.event_set = 3;
    request.no_calls = true;
    char *command = sample_request_command(&request);
    assert_string_equal(command, "build/schedlab run gmp fib --workers 2 --seed 0 --warmup 0 "
                                 "--min-time 0s --steal-max 4 --reps 1");
    free(command);
    request.machine = "sim:laptop";
    request.flame = "stacks";
    command = sample_request_command(&request);
    assert_string_equal(command, "build/schedlab run gmp fib --workers 2 --seed 0 --warmup 0 "
                                 "--min-time 0s --machine sim:laptop --sim-seed 0 --reps 1");
    free(command);
}

/* Revisions before `schedlab sample` know that name only. */
static void another_revision_is_called_as_it_knows(void **state)
{
    (void)state;
    struct sample_arguments arguments;
    struct sample_request request = asked;
    request.program = "/elsewhere/build/schedlab";
    sample_request_arguments(&arguments, &request);
    assert_string_equal(arguments.argv[1], "run");
    assert_string_equal(arguments.argv[2], "--sample");
    assert_string_equal(arguments.argv[3], "gmp");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_field_survives_the_way_to_its_process),
        cmocka_unit_test(each_member_is_a_field),
        cmocka_unit_test(value_out_of_range_is_refused_in_one_line),
        cmocka_unit_test(stack_is_of_whole_pages),
        cmocka_unit_test(shown_command_has_what_run_takes),
        cmocka_unit_test(another_revision_is_called_as_it_knows),
    };
    return cmocka_run_group_tests_name("sample_request", tests, NULL, NULL);
}
