/* test_child.c - whatever becomes of a sample's process, there is a record that says it. */
#include "harness/base/build_info.h"
#include "harness/base/json_fields.h"
#include "harness/base/process.h"
#include "harness/host/allocator.h"
#include "harness/records/sample_request.h"
#include "harness/sample/child.h"
#include "harness/sample/hyperfine.h"
#include "tests/support/fake_sample.h"

#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static char script[64];

static int script_write(const char *text)
{
    FILE *to = fopen(script, "w");
    if (!to || fputs(text, to) < 0 || fclose(to) != 0)
        return -1;
    return chmod(script, 0700);
}

static int script_make(void **state)
{
    (void)state;
    snprintf(script, sizeof script, "/tmp/test_child.XXXXXX");
    int fd = mkstemp(script);
    if (fd < 0 || close(fd) < 0)
        return -1;
    child_set_program(script);
    return script_write(fake_sample_script);
}

static int script_remove(void **state)
{
    (void)state;
    return unlink(script);
}

static json_t *sample(const char *variant, double timeout_s)
{
    const struct sample_request request = {.variant = variant,
                                           .workload = "fib,n=10",
                                           .workers = 2,
                                           .seed = 1,
                                           .timeout_s = timeout_s};
    return child_run_sample(&request);
}

/* Returns the record of a child that writes something and then hangs. The time limit grows until
 * the child has had the time to write. */
static json_t *hanging_sample(const char *variant)
{
    for (double timeout_s = 0.5; timeout_s < 100; timeout_s *= 2) {
        json_t *record = sample(variant, timeout_s);
        if (*field_text(record, "output"))
            return record;
        json_decref(record);
    }
    fail_msg("%s said nothing", variant);
    return NULL;
}

static void expect(json_t *record, const char *status, const char *reason, const char *output)
{
    if (strcmp(field_text(record, "status"), status) != 0 ||
        !strstr(field_text(record, "reason"), reason) ||
        strcmp(field_text(record, "output"), output) != 0)
        fail_msg("%s: %s: %s", field_text(record, "status"), field_text(record, "reason"),
                 field_text(record, "output"));
    json_decref(record);
}

static void good_sample_is_its_own_record(void **state)
{
    (void)state;
    json_t *record = sample("gmp", 60);
    assert_string_equal(field_text(record, "workload"), "fib,n=10");
    expect(record, "ok", "", "");
    expect(sample("kthread", 60), "skipped", "too many threads", "");
}

static void wrong_answer_keeps_its_reason_and_output(void **state)
{
    (void)state;
    expect(sample("uthread", 60), "failed", "wrong answer", "wrong\n");
}

static void crash_names_the_signal(void **state)
{
    (void)state;
    json_t *record = sample("static", 60);
    /* The parent fills in the keys that the child could not say any more. */
    assert_string_equal(field_text(record, "variant"), "static");
    assert_string_equal(field_text(record, "workload_name"), "fib");
    assert_int_equal(strlen(field_text(record, "cell")), 12);
    assert_string_equal(field_text(record, "version"), build_version());
    assert_non_null(strstr(field_text(record, "command"), "static fib,n=10 --workers 2"));
    expect(record, "failed", "killed by SIGSEGV", "");
}

static void crash_after_the_record_is_a_failure(void **state)
{
    (void)state;
    expect(sample("contsteal", 60), "failed", "killed by SIGABRT: runtime: broken",
           "runtime: broken\n");
}

static void output_that_is_no_record_is_a_failure(void **state)
{
    (void)state;
    expect(sample("perm", 60), "failed", "its output is not a record", "");
    script_write("#!/bin/sh\necho '{\"a\": 1}'\n");
    expect(sample("gmp", 60), "failed", "its schema is none; this program reads 2", "");
    script_write("#!/bin/sh\nexit 3\n");
    expect(sample("gmp", 60), "failed", "exit status 3", "");
    script_write("#!/bin/sh\nprintf 'first\nlast\n' >&2\nexit 3\n");
    expect(sample("gmp", 60), "failed", "exit status 3: last", "first\nlast\n");
    script_write("#!/bin/sh\nprintf 'schedlab: fatal: deadlock: why\n  who\n' >&2\nexit 70\n");
    expect(sample("gmp", 60), "failed", "exit status 70: schedlab: fatal: deadlock: why",
           "schedlab: fatal: deadlock: why\n  who\n");
    script_write(fake_sample_script);
}

static void hang_ends_at_the_limit_with_what_it_said(void **state)
{
    (void)state;
    json_t *record = hanging_sample("grq");
    assert_true(child_record_timed_out(record));
    expect(record, "failed", "no answer within ", "I wait\n");
    record = sample("static", 60);
    assert_false(child_record_timed_out(record));
    json_decref(record);
}

/* Dead, if not yet reaped by whoever inherited it. */
static bool is_dead(pid_t pid)
{
    char path[64], line[256] = "";
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    FILE *from = fopen(path, "r");
    bool alive = from && fgets(line, sizeof line, from) && !strstr(line, ") Z");
    if (from)
        fclose(from);
    return !alive;
}

/* A child that closes its pipes and lives on, and one whose own child keeps them open. */
static void hang_without_pipes_ends_too(void **state)
{
    (void)state;
    script_write("#!/bin/sh\nexec >/dev/null 2>&1\nexec tail -f /dev/null\n");
    expect(sample("gmp", 0.5), "failed", "no answer within", "");
    script_write("#!/bin/sh\ntail -f /dev/null &\necho $! >&2\nexit 0\n");
    json_t *record = hanging_sample("gmp");
    pid_t orphan = (pid_t)strtol(field_text(record, "output"), NULL, 10);
    assert_true(orphan > 0);
    while (!is_dead(orphan)) /* it was killed, which takes effect when the kernel gets to it */
        sched_yield();
    json_decref(record);
    script_write(fake_sample_script);
}

static void output_is_the_last_4_kib(void **state)
{
    (void)state;
    script_write("#!/bin/sh\nhead -c 100000 /dev/zero | tr '\\0' x >&2\nprintf end >&2\nexit 1\n");
    json_t *record = sample("gmp", 60);
    const char *output = field_text(record, "output");
    assert_int_equal(strlen(output), 4096);
    assert_string_equal(output + 4096 - 4, "xend");
    json_decref(record);
    script_write("#!/bin/sh\nprintf '\\377\\0a' >&2\nexit 1\n");
    record = sample("gmp", 60);
    assert_string_equal(field_text(record, "output"), "\?\?a");
    json_decref(record);
    script_write(fake_sample_script);
}

static void program_that_is_not_there_is_a_failure(void **state)
{
    (void)state;
    child_set_program("/nonexistent/schedlab");
    expect(sample("gmp", 60), "failed", "No such file",
           "cannot execute the program: No such file or directory\n");
    child_set_program(script);
}

/* The script prints how it was called as its own record. */
static void child_gets_a_group_and_no_input(void **state)
{
    (void)state;
    script_write("#!/bin/sh\nread -r line && exit 9\n"
                 "set -- \"$*\" $(cat /proc/$$/stat)\n"
                 "printf '{" FAKE_RECORD
                 ",\"variant\":\"gmp\",\"args\":\"%s\",\"leads\":%d}\\n' \"$1\" "
                 "$(($2 == $6))\n");
    const struct sample_request request = {.variant = "gmp,tick=64",
                                           .workload = "fib",
                                           .workers = 3,
                                           .seed = UINT64_C(1) << 62,
                                           .iterations = 4,
                                           .warmup = 5,
                                           .min_time_ns = 6000000,
                                           .events = "a,b",
                                           .pin = true,
                                           .stack_bytes = 8192,
                                           .machine = "native",
                                           .steal_max_percent = 7,
                                           .injected_percent = 10,
                                           .event_set = 3};
    json_t *record = child_run_sample(&request);
    assert_string_equal(field_text(record, "args"),
                        "sample gmp,tick=64 fib --workers 3 --seed 4611686018427387904 "
                        "--iterations 4 --warmup 5 --min-time 6ms --events a,b --event-set 3 --pin "
                        "--stack 8192 --steal-max 7 --inject-slowdown 10");
    assert_int_equal(json_integer_value(json_object_get(record, "leads")), 1);
    json_decref(record);
    script_write(fake_sample_script);
}

static json_t *preload_seen_by(enum allocator asked)
{
    const struct sample_request request = {
        .variant = "gmp", .workload = "fib", .workers = 1, .allocator = asked};
    json_t *record = child_run_sample(&request);
    assert_string_equal(field_text(record, "status"), "ok");
    return record;
}

/* A build with a sanitizer leaves the variable alone: its runtime has to come first. */
static void allocator_asked_for_is_preloaded(void **state)
{
    (void)state;
    bool sanitized = allocator_found() == ALLOCATOR_SANITIZER;
    script_write("#!/bin/sh\nprintf '{" FAKE_RECORD
                 ",\"variant\":\"gmp\",\"preload\":\"%s\"}\\n' \"$LD_PRELOAD\"\n");
    unsetenv("LD_PRELOAD");
    json_t *record = preload_seen_by(ALLOCATOR_GLIBC);
    assert_string_equal(field_text(record, "preload"), sanitized ? "" : "libc.so.6");
    json_decref(record);
    assert_null(getenv("LD_PRELOAD")); /* only that process is to see it */
    record = preload_seen_by(ALLOCATOR_JEMALLOC);
    assert_string_equal(field_text(record, "preload"), "");
    json_decref(record);
    script_write(fake_sample_script);
}

static void command_can_be_pasted_into_a_shell(void **state)
{
    (void)state;
    const struct sample_request request = {.variant = "gmp",
                                           .workload = "a b'c",
                                           .workers = 1,
                                           .steal_max_percent = STEAL_MAX_DEFAULT_PERCENT};
    char *command = sample_request_command(&request);
    assert_string_equal(command, "build/schedlab run gmp 'a b'\\''c' --workers 1 --seed 0 "
                                 "--warmup 0 --min-time 0s --reps 1");
    free(command);
    struct sample_request until_steady = request;
    until_steady.warmup = WARMUP_AUTO;
    command = sample_request_command(&until_steady);
    assert_non_null(strstr(command, " --warmup auto "));
    free(command);
}

/* As run(), by way of hyperfine, whose JSON is removed again. */
static json_t *run_timed(const char *variant, const char *hyperfine, double timeout_s)
{
    char json_path[128];
    snprintf(json_path, sizeof json_path, "%s.json", script);
    const struct sample_request request = {
        .variant = variant, .workload = "fib,n=10", .workers = 1, .timeout_s = timeout_s};
    const struct sample_outside outside = {.hyperfine = hyperfine, .json_path = json_path};
    json_t *record = child_run_sample_timed(&request, &outside);
    bool ended = strcmp(variant, "grq") != 0;
    assert_int_equal(unlink(json_path) == 0, ended);
    assert_string_equal(field_text(record, "timer"), "hyperfine");
    assert_int_equal(json_is_object(json_object_get(record, "outside")), ended);
    return record;
}

static void hyperfine_changes_no_verdict(void **state)
{
    (void)state;
    static const struct {
        const char *variant, *status, *reason, *output;
    } cases[] = {
        {"gmp", "ok", "", ""},
        {"kthread", "skipped", "too many threads", ""},
        {"uthread", "failed", "wrong answer", "wrong\n"},
        {"static", "failed", "killed by SIGSEGV", ""},
        {"grq", "failed", "no answer within %g s", "I wait\n"},
        {"contsteal", "failed", "killed by SIGABRT: runtime: broken", "runtime: broken\n"},
    };
    char hyperfine[4096];
    struct error error;
    if (!hyperfine_find(hyperfine, sizeof hyperfine, &error))
        skip();
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        bool hangs = strcmp(cases[i].variant, "grq") == 0;
        double timeout_s = hangs ? 1 : 600;
        json_t *record = run_timed(cases[i].variant, hyperfine, timeout_s);
        while (hangs && !*field_text(record, "output") && (timeout_s *= 2) < 100) {
            json_decref(record);
            record = run_timed(cases[i].variant, hyperfine, timeout_s);
        }
        assert_string_equal(field_text(record, "status"), cases[i].status);
        char reason[64];
        snprintf(reason, sizeof reason, cases[i].reason, timeout_s);
        assert_string_equal(field_text(record, "reason"), reason);
        if (strcmp(cases[i].status, "failed") == 0)
            assert_string_equal(field_text(record, "output"), cases[i].output);
        const json_t *wall = json_object_get(json_object_get(record, "outside"), "wall_ns");
        assert_true(!wall || json_number_value(wall) > 0);
        json_decref(record);
    }
}

/* Last: an interrupted process stays so. */
static void on_term(int signal)
{
    (void)signal;
    process_interrupt();
}

static void interrupt_ends_the_sample_at_once(void **state)
{
    (void)state;
    struct sigaction before, action = {.sa_handler = on_term};
    sigaction(SIGTERM, &action, &before);
    expect(sample("serial", 0), "failed", "interrupted", "");
    json_t *next = sample("grq", 0); /* may have said something before it ended */
    assert_string_equal(field_text(next, "status"), "failed");
    assert_non_null(strstr(field_text(next, "reason"), "interrupted"));
    json_decref(next);
    assert_true(process_interrupted());
    sigaction(SIGTERM, &before, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(good_sample_is_its_own_record),
        cmocka_unit_test(wrong_answer_keeps_its_reason_and_output),
        cmocka_unit_test(crash_names_the_signal),
        cmocka_unit_test(crash_after_the_record_is_a_failure),
        cmocka_unit_test(output_that_is_no_record_is_a_failure),
        cmocka_unit_test(hang_ends_at_the_limit_with_what_it_said),
        cmocka_unit_test(hang_without_pipes_ends_too),
        cmocka_unit_test(output_is_the_last_4_kib),
        cmocka_unit_test(program_that_is_not_there_is_a_failure),
        cmocka_unit_test(child_gets_a_group_and_no_input),
        cmocka_unit_test(allocator_asked_for_is_preloaded),
        cmocka_unit_test(command_can_be_pasted_into_a_shell),
        cmocka_unit_test(hyperfine_changes_no_verdict),
        cmocka_unit_test(interrupt_ends_the_sample_at_once),
    };
    return cmocka_run_group_tests_name("child", tests, script_make, script_remove);
}
