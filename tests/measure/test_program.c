/* test_program.c - program files (workloads/program.h): what is read, and what is refused in one
 * line that says where. And lines that a replay prints: its machine drifts (replay_speed.h), or its
 * load is not met (load.h). */
#include "harness/base/build_info.h"
#include "workloads/load.h"
#include "workloads/program.h"
#include "workloads/replay_speed.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { ERROR_SIZE = 512 };

static struct program *parse(const char *text, char *why)
{
    char all[2048];
    snprintf(all, sizeof all, "schedlab-program 1\n%s", text);
    return program_parse("app.slp", all, strlen(all), why, ERROR_SIZE);
}

static struct program *taken(const char *text)
{
    char why[ERROR_SIZE] = "";
    struct program *program = parse(text, why);
    if (!program)
        fail_msg("%s", why);
    return program;
}

/* In one line that begins with the place and holds the part. */
static void refused(const char *text, const char *place, const char *part)
{
    char why[ERROR_SIZE] = "";
    struct program *program = parse(text, why);
    if (program)
        fail_msg("taken:\n%s", text);
    if (strncmp(why, place, strlen(place)) != 0 || !strstr(why, part) || strchr(why, '\n'))
        fail_msg("\"%s\" should be one line that begins \"%s\" and has \"%s\"", why, place, part);
}

static void steps_are_read_with_their_times(void **state)
{
    (void)state;
    struct program *program = taken("# a comment\n"
                                    "goroutine a main.(*T).f # another one\n"
                                    "  run 7\n\n\trun 7us\r\n run 7ms\n run 7s\n"
                                    "sleep 3ns\ncall 4\ncall cpu 5\npoll at 6\npoll after 7\n"
                                    "yield\nlock mu\nunlock mu\nbegin\ndone\nend");
    static const int64_t ns[] = {7, 7000, 7000000, 7000000000, 3, 4, 5, 6, 7};
    static const uint8_t kinds[] = {PROGRAM_RUN,   PROGRAM_RUN,   PROGRAM_RUN,  PROGRAM_RUN,
                                    PROGRAM_SLEEP, PROGRAM_CALL,  PROGRAM_BUSY, PROGRAM_AT,
                                    PROGRAM_AFTER, PROGRAM_YIELD, PROGRAM_LOCK, PROGRAM_UNLOCK,
                                    PROGRAM_BEGIN, PROGRAM_DONE,  PROGRAM_END};
    assert_int_equal(program->steps_count, sizeof kinds);
    for (size_t i = 0; i < sizeof kinds; i++)
        assert_int_equal(program->steps[i].kind, kinds[i]);
    for (size_t i = 0; i < sizeof ns / sizeof *ns; i++)
        assert_int_equal(program->steps[i].ns, ns[i]);
    assert_string_equal(program->goroutines[0].name, "main.(*T).f");
    assert_int_equal(program->requests_count, 1);
    assert_int_equal(program->work_ns, 7007007007 + 5);
    program_free(program);
}

/* The first waits in the order of the file are for the wakes that name none. */
static void wakes_end_the_waits_that_they_name(void **state)
{
    (void)state;
    struct program *program = taken("goroutine a\nwait\nwait chan\nwait chan\nend\n"
                                    "goroutine b\nwake a\nwake a 1\nend\n"
                                    "goroutine c\nwake a\nend\n");
    assert_int_equal(program->waits_count, 3);
    assert_int_equal(program->waits[0].wakes, 1);
    assert_int_equal(program->waits[1].wakes, 1);
    assert_int_equal(program->waits[2].wakes, 2);
    assert_int_equal(program->steps[4].target, 1);
    assert_int_equal(program->steps[5].target, 0);
    assert_string_equal(program->reasons[program->steps[1].reason], "chan");
    program_free(program);
}

/* a: 5, then 10 beside b's 3 + 20; then c's wake at 5 + 3 + 20 + 1. */
static void the_critical_path_is_the_longest_chain(void **state)
{
    (void)state;
    struct program *program = taken("goroutine a\nrun 5\ngo b\nrun 10\nwait\nrun 100\nend\n"
                                    "goroutine b\nrun 3\nsleep 20\nwake c\nend\n"
                                    "goroutine c\nwait\ncall 1\nwake a\nend\n"
                                    "goroutine d\npoll at 50\nend\n");
    assert_int_equal(program->critical_ns, 5 + 3 + 20 + 1 + 100);
    assert_int_equal(program->work_ns, 5 + 10 + 100 + 3);
    program_free(program);
}

static void mistakes_are_named_with_their_line(void **state)
{
    (void)state;
    refused("goroutine a\nrunn 5\nend", "app.slp:3: ", "\"runn\" is no step; valid: run, go, wake");
    refused("goroutine a\npoll 5\nend", "app.slp:3: ", "valid: poll at TIME, poll after TIME");
    refused("goroutine a\nrun 5q\nend", "app.slp:3: ", "run \"5q\" is not valid; valid: 0 to 3600");
    refused("goroutine a\nrun 3601s\nend", "app.slp:3: ", "valid: 0 to 3600 s");
    refused("goroutine a\nrun 99999999999999999999\nend", "app.slp:3: ", "valid: 0 to 3600 s");
    refused("goroutine a\nrun -1\nend", "app.slp:3: ", "is not valid");
    refused("goroutine a\nrun\nend", "app.slp:3: ", "run needs more; write \"run TIME\"");
    refused("goroutine a\nyield 3\nend", "app.slp:3: ", "a word too many; write \"yield\"");
    refused("goroutine a\nend\nrun 5\n", "app.slp:4: ", "outside of any goroutine");
    refused("goroutine a\nrun 5\ngoroutine b\nend", "app.slp:4: ", "goroutine a, line 2, has no");
    refused("goroutine a\nrun 5\n", "app.slp:3: ", "the file ends within goroutine a");
    refused("goroutine a\nend\ngoroutine a\nend", "app.slp:4: ", "there already, in line 2");
    refused("goroutine\nend", "app.slp:2: ", "write \"goroutine ID [NAME]\"");
    refused("", "app.slp:1: ", "the program has no goroutine");
    refused("goroutine a\ngo b\nend", "app.slp:3: ", "there is no goroutine b");
    refused("goroutine a\nwake a 0\nend", "app.slp:3: ", "not the number of a wait");
}

static void waits_and_wakes_have_to_match(void **state)
{
    (void)state;
    refused("goroutine 7\nwait\nend", "app.slp:3: ", "a wait that nobody wakes: goroutine 7");
    refused("goroutine a\nwait\nend\ngoroutine b\nwake a\nwake a\nend",
            "app.slp:7: ", "a wake too many: goroutine a waits 1 times");
    refused("goroutine a\nwait\nend\ngoroutine b\nwake a 2\nend",
            "app.slp:6: ", "goroutine a has no wait 2; it has 1");
    refused("goroutine a\nwait\nend\ngoroutine b\nwake a 1\nwake a 1\nend",
            "app.slp:7: ", "woken twice, here and in line 6");
    refused("goroutine a\nwait\nwake b\nend\ngoroutine b\nwait\nwake a\nend",
            "app.slp:3: ", "goroutine a waits for ever: its wake, in line 8");
    refused("goroutine a\nwait\nwake a\nend", "app.slp:3: ", "waits for ever");
}

static void goroutines_start_once(void **state)
{
    (void)state;
    refused("goroutine a\ngo c\nend\ngoroutine b\ngo c\nend\ngoroutine c\nend",
            "app.slp:6: ", "goroutine c is started twice, here and by goroutine a");
    refused("goroutine a\ngo a\nend\ngoroutine b\nend", "app.slp:3: ", "by itself alone");
    refused("goroutine a\ngo b\nend\ngoroutine b\ngo a\nend", "app.slp:3: ", "in a circle");
}

static void locks_and_requests_are_nested(void **state)
{
    (void)state;
    refused("goroutine a\nunlock mu\nend", "app.slp:3: ", "\"mu\", which this goroutine does not");
    refused("goroutine a\nlock mu\nlock mu\nend", "app.slp:4: ", "which this goroutine holds");
    refused("goroutine a\nlock mu\nend", "app.slp:4: ", "ends and holds lock \"mu\"");
    refused("goroutine a\nbegin\nbegin\nend", "app.slp:4: ", "begin within a request");
    refused("goroutine a\ndone\nend", "app.slp:3: ", "done without a begin");
    refused("goroutine a\nbegin\nend", "app.slp:4: ", "ends within a request");
}

static void messages_are_received_by_whoever_comes(void **state)
{
    (void)state;
    struct program *program = taken("goroutine a\nreceive c\nsend d\nend\n"
                                    "goroutine b\nreceive c\nend\n"
                                    "goroutine e\nsend c\nsend c\nreceive d\nsend c\nend\n");
    assert_int_equal(program->channels_count, 2);
    assert_string_equal(program->channels[program->steps[1].target], "d");
    program_free(program);
    refused("goroutine a\nreceive c\nend", "app.slp:3: ", "for ever for a message on \"c\"");
    refused("goroutine a\nsend c\nreceive c\nreceive c\nend", "app.slp:5: ", "for a message on");
}

static void other_files_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *text, *part;
    } others[] = {
        {"", "the first line is \"schedlab-program 2\""},
        {"goroutine a\n", "not a program file"},
        {"schedlab-program 3\n", "version \"3\" of a program file is not known; valid: 1, 2"},
        {"schedlab-program 0\n", "version \"0\" of a program file"},
        {"schedlab-program 1\ngoroutine a\nbegin get\ndone\nend\n",
         "a.slp:3: a name behind begin takes \"schedlab-program 2\" in the first line"},
        {"schedlab-program 2\ngoroutine a\nbegin get now\ndone\nend\n",
         "a.slp:3: begin has a word too many; write \"begin [NAME]\""},
        {"schedlab-program\n", "version \"\" of a program file"},
    };
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        char why[ERROR_SIZE] = "";
        assert_null(
            program_parse("a.slp", others[i].text, strlen(others[i].text), why, ERROR_SIZE));
        if (!strstr(why, others[i].part))
            fail_msg("\"%s\" should have \"%s\"", why, others[i].part);
    }
    char why[ERROR_SIZE] = "";
    assert_null(program_parse("a.slp", "schedlab-program 1\ngo\0", 23, why, ERROR_SIZE));
    assert_non_null(strstr(why, "a.slp:2: holds a byte 0"));
    assert_null(program_load("/no/such/file.slp", why, ERROR_SIZE));
    assert_non_null(strstr(why, "/no/such/file.slp: cannot be opened: No such file"));
}

static void requests_have_the_classes_behind_begin(void **state)
{
    (void)state;
    static const char text[] = "schedlab-program 2\ngoroutine a\nbegin get\ndone\nbegin\ndone\n"
                               "begin put # it\ndone\nend\ngoroutine b\nbegin get\ndone\nend\n";
    char why[ERROR_SIZE] = "";
    struct program *program = program_parse("a.slp", text, sizeof text - 1, why, ERROR_SIZE);
    if (!program)
        fail_msg("%s", why);
    static const char *const classes[] = {"get", "", "put", "get"};
    assert_int_equal(program->classes_count, 3);
    assert_int_equal(program->requests_count, 4);
    for (size_t i = 0; i < 4; i++)
        assert_string_equal(program->classes[program->request_class[i]], classes[i]);
    program_free(program);
}

static void many_goroutines_are_found_by_their_ids(void **state)
{
    (void)state;
    enum { COUNT = 5000 };
    char *text = NULL, why[ERROR_SIZE] = "";
    size_t size = 0;
    FILE *to = open_memstream(&text, &size);
    fprintf(to, "schedlab-program 1\n");
    for (int i = 0; i < COUNT; i++)
        fprintf(to, "goroutine g%d\nlock m%d\nunlock m%d\nwait\n%s g%d\nend\n", i, i, i,
                i == 0 ? "yield # " : "wake", i - 1);
    fprintf(to, "goroutine last\nwake g%d\nend\n", COUNT - 1);
    fclose(to);
    struct program *program = program_parse("a.slp", text, size, why, ERROR_SIZE);
    if (!program)
        fail_msg("%s", why);
    assert_int_equal(program->goroutines_count, COUNT + 1);
    assert_int_equal(program->locks_count, COUNT);
    for (uint32_t i = 0; i < COUNT; i++)
        assert_int_equal(program->waits[i].wakes, i + 1);
    program_free(program);
    free(text);
}

static void the_example_is_right(void **state)
{
    (void)state;
    char path[4096], why[ERROR_SIZE] = "";
    snprintf(path, sizeof path, "%s/examples/service.slp", build_source_dir());
    struct program *program = program_load(path, why, sizeof why);
    if (!program)
        fail_msg("%s", why);
    program_free(program);
}

static void expect_drift(double slowest, double fastest, const char *line)
{
    const struct replay_speed speed = {.slowest = slowest, .fastest = fastest};
    char *text = NULL;
    size_t size = 0;
    FILE *to = open_memstream(&text, &size);
    assert_non_null(to);
    replay_speed_print(&speed, to);
    fclose(to);
    assert_string_equal(text, line);
    free(text);
}

static void a_drift_of_the_machine_is_told(void **state)
{
    (void)state;
    expect_drift(0.800, 0.900, "the machine's speed drifted by 12.5 % between calls\n");
    expect_drift(0.900, 0.910, "");
    expect_drift(0.925, 0.925, "");
    expect_drift(0, 0, ""); /* it was never measured */
}

static void expect_load(double rate, int64_t due_ns, int64_t end_ns, const char *line)
{
    char *text = NULL;
    size_t size = 0;
    FILE *to = open_memstream(&text, &size);
    assert_non_null(to);
    load_print(to, rate, due_ns, end_ns, "requests");
    fclose(to);
    assert_string_equal(text, line);
    free(text);
}

static void a_load_that_is_not_met_is_told(void **state)
{
    (void)state;
    expect_load(1000, 100, 200, "load not met: 500 of 1000 requests/s\n");
    expect_load(0.4, 100, 200, "load not met: 0.200 of 0.400 requests/s\n");
    expect_load(1000, 100, 105, "");
    expect_load(1000, 100, 50, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steps_are_read_with_their_times),
        cmocka_unit_test(wakes_end_the_waits_that_they_name),
        cmocka_unit_test(the_critical_path_is_the_longest_chain),
        cmocka_unit_test(mistakes_are_named_with_their_line),
        cmocka_unit_test(waits_and_wakes_have_to_match),
        cmocka_unit_test(goroutines_start_once),
        cmocka_unit_test(locks_and_requests_are_nested),
        cmocka_unit_test(messages_are_received_by_whoever_comes),
        cmocka_unit_test(other_files_are_refused),
        cmocka_unit_test(requests_have_the_classes_behind_begin),
        cmocka_unit_test(many_goroutines_are_found_by_their_ids),
        cmocka_unit_test(the_example_is_right),
        cmocka_unit_test(a_drift_of_the_machine_is_told),
        cmocka_unit_test(a_load_that_is_not_met_is_told),
    };
    return cmocka_run_group_tests_name("program", tests, NULL, NULL);
}
