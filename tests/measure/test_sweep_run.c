/* test_sweep_run.c - a sweep over programs that crash, hang, lie or stop it keeps every record and
 * goes on as far as it should. */
#include "harness/base/json_fields.h"
#include "harness/host/topology.h"
#include "harness/records/records.h"
#include "harness/records/sample_request.h"
#include "harness/sample/child.h"
#include "harness/sweep/sweep_run.h"
#include "tests/support/fake_sample.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

enum { PATH_SIZE = 128, VARIANTS_MAX = 8 };

static char folder[64], script[PATH_SIZE], samples[PATH_SIZE], messages_path[PATH_SIZE],
    plan_path[PATH_SIZE], timings_path[PATH_SIZE];

static int folder_make(void **state)
{
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/test_sweep_run.XXXXXX");
    if (!mkdtemp(folder))
        return -1;
    snprintf(script, sizeof script, "%s/fake_sample", folder);
    snprintf(samples, sizeof samples, "%s/samples.jsonl", folder);
    snprintf(plan_path, sizeof plan_path, "%s/plan.json", folder);
    snprintf(timings_path, sizeof timings_path, "%s/timings.json", folder);
    snprintf(messages_path, sizeof messages_path, "%s/messages", folder);
    FILE *to = fopen(script, "w");
    if (!to || fputs(fake_sample_script, to) < 0 || fclose(to) != 0 || chmod(script, 0700) < 0)
        return -1;
    child_set_program(script);
    return 0;
}

static int folder_remove(void **state)
{
    (void)state;
    unlink(script);
    unlink(samples);
    unlink(plan_path);
    unlink(timings_path);
    unlink(messages_path);
    return rmdir(folder);
}

/* The results that a sweep of the given variants left behind. */
struct outcome {
    int result;
    struct sweep_run run;
    json_t *records;
    struct error error;
    char messages[4096];
};

static void text_of_file(const char *path, char *text, size_t size)
{
    FILE *from = fopen(path, "r");
    size_t n = from ? fread(text, 1, size - 1, from) : 0;
    text[n] = '\0';
    if (from)
        fclose(from);
}

static bool resume_next; /* the next sweep goes on with the samples of the one before */

static int64_t most_workers = 2;

static struct outcome measure_sweep(const char *names, struct sweep_file sweep)
{
    static char copy[256];
    static char *variants[VARIANTS_MAX], *workloads[] = {"fib,n=10"};
    static int64_t workers[1];
    workers[0] = most_workers;
    struct sweep_group group = {.id = "one",
                                .variants = variants,
                                .workloads = workloads,
                                .workloads_count = 1,
                                .workers = workers,
                                .workers_count = 1};
    sweep.groups = &group;
    sweep.groups_count = 1;
    char *rest = NULL;
    snprintf(copy, sizeof copy, "%s", names);
    for (char *name = strtok_r(copy, " ", &rest); name; name = strtok_r(NULL, " ", &rest))
        variants[group.variants_count++] = name;

    struct outcome outcome = {.run = {.sweep = &sweep, .seed = 1}};
    outcome.run.plan = plan_make(&sweep);
    outcome.run.folder = folder;
    if (!resume_next)
        unlink(samples);
    outcome.run.resume = resume_next;
    resume_next = false;
    FILE *messages = fopen(messages_path, "w");
    if (!messages)
        abort();
    outcome.result = sweep_run_measure(&outcome.run, messages, &outcome.error);
    fclose(messages);
    text_of_file(messages_path, outcome.messages, sizeof outcome.messages);
    struct error error;
    outcome.records = record_file_read(samples, NULL, &error);
    plan_free(outcome.run.plan);
    if (!outcome.records)
        fail_msg("%s", error.text);
    return outcome;
}

static struct outcome measure(const char *names, int64_t reps, int64_t timeout_s)
{
    return measure_sweep(names, (struct sweep_file){.reps = reps,
                                                    .reps_max = reps,
                                                    .timeout_s = timeout_s,
                                                    .steal_max = STEAL_MAX_DEFAULT_PERCENT});
}

/* How many records of the variant have this status, and a reason with this part. */
static size_t count(const struct outcome *outcome, const char *variant, const char *status,
                    const char *reason)
{
    size_t i, n = 0;
    json_t *record;
    json_array_foreach(outcome->records, i, record)
    {
        n += strcmp(field_text(record, "variant"), variant) == 0 &&
             strcmp(field_text(record, "status"), status) == 0 &&
             strstr(field_text(record, "reason"), reason) != NULL;
    }
    return n;
}

static void good_cells_are_measured_once_a_block(void **state)
{
    (void)state;
    struct outcome outcome = measure("gmp gmp,tick=1 gmp,tick=64", 4, 600);
    assert_int_equal(outcome.result, 0);
    assert_int_equal(outcome.run.ok, 12);
    assert_int_equal(json_array_size(outcome.records), 12);
    size_t i, per_block[4] = {0};
    json_t *record;
    json_array_foreach(outcome.records, i, record)
    {
        assert_int_equal(json_integer_value(json_object_get(record, "position")), i);
        per_block[json_integer_value(json_object_get(record, "block"))]++;
        assert_string_equal(json_string_value(json_array_get(json_object_get(record, "groups"), 0)),
                            "one");
        assert_int_equal(strlen(field_text(record, "cell")), 12);
    }
    for (int block = 0; block < 4; block++)
        assert_int_equal(per_block[block], 3);
    json_decref(outcome.records);
}

static void failing_cells_are_recorded_and_tried_again(void **state)
{
    (void)state;
    struct outcome outcome = measure("gmp static uthread", 3, 600);
    assert_int_equal(outcome.result, 0);
    assert_int_equal(outcome.run.ok, 3);
    assert_int_equal(outcome.run.failed, 6);
    assert_int_equal(count(&outcome, "static", "failed", "killed by SIGSEGV"), 3);
    assert_int_equal(count(&outcome, "uthread", "failed", "wrong answer"), 3);
    assert_non_null(strstr(outcome.messages, "failed: static on fib,n=10, 2 workers: killed by"));
    json_decref(outcome.records);
}

static void skipped_cell_is_recorded_once(void **state)
{
    (void)state;
    struct outcome outcome = measure("gmp kthread", 3, 600);
    assert_int_equal(outcome.run.skipped, 1);
    assert_int_equal(outcome.run.ok, 3);
    assert_int_equal(count(&outcome, "kthread", "skipped", "too many threads"), 1);
    json_decref(outcome.records);
}

static void hanging_cell_is_given_up_after_the_second_time(void **state)
{
    (void)state;
    struct outcome outcome = measure("grq", 4, 1);
    assert_int_equal(outcome.result, 0);
    assert_int_equal(json_array_size(outcome.records), 2);
    assert_int_equal(count(&outcome, "grq", "failed", "no answer within 1 s"), 2);
    assert_int_equal(count(&outcome, "grq", "failed", "second time; the cell is not tried again"),
                     1);
    json_decref(outcome.records);
}

static void wrong_digest_fails_while_the_sweep_runs(void **state)
{
    (void)state;
    /* contsteal's votes do not count: it crashes. Two gmp cells have one vote, so it takes the
     * third variant. */
    struct outcome outcome = measure("gmp gmp,tick=64 tasksteal contsteal", 3, 600);
    assert_int_equal(outcome.result, 0);
    assert_int_equal(count(&outcome, "contsteal", "failed", "killed by SIGABRT"), 3);
    assert_int_equal(count(&outcome, "gmp", "ok", ""), 3);
    /* The script names variants by their whole specification, so there are three voters here. */
    size_t wrong = count(&outcome, "tasksteal", "failed", "digest disagrees");
    assert_true(wrong >= 2);
    json_decref(outcome.records);
}

/* A sample that is disturbed, far away, and shows its arguments. */
static const char disturbed_sample_script[] =
    "#!/bin/sh\n"
    "probe='{\"line_ns\":300.0,\"compute_ns\":9.0}'\n"
    "printf '{" FAKE_RECORD ",\"variant\":\"%s\",\"throughput\":5.0,' \"$2\"\n"
    "printf '\"probe\":{\"before\":%s,\"after\":%s},' \"$probe\" \"$probe\"\n"
    "printf '\"marks\":[\"steal\"],\"event_sets\":2,\"args\":\"%s\"}\\n' \"$*\"\n";

/* A sample whose calls were too short, under a hypervisor that does not tell what it takes. */
static const char short_sample_script[] =
    "#!/bin/sh\n"
    "printf '{" FAKE_RECORD ",\"variant\":\"%s\",\"throughput\":5.0,' \"$2\"\n"
    "printf '\"short_ns\":7,\"steal_share\":{\"absent\":\"not known\"}}\\n'\n";

static void script_write(const char *text)
{
    FILE *to = fopen(script, "w");
    assert_non_null(to);
    fputs(text, to);
    assert_int_equal(fclose(to), 0);
}

static size_t count_why(const struct outcome *outcome, const char *why)
{
    size_t n = 0;
    for (size_t i = 0; i < json_array_size(outcome->records); i++)
        n += strcmp(field_text(json_array_get(outcome->records, i), "why"), why) == 0;
    return n;
}

/* 1024: more than most machines have cores; where they have them there is nothing to warn of. */
static void more_workers_than_cores_are_told_once(void **state)
{
    (void)state;
    most_workers = 1024;
    struct outcome outcome = measure("gmp gmp,tick=1", 2, 600);
    most_workers = 2;
    char *told = strstr(outcome.messages, "warning: up to 1024 workers on ");
    assert_int_equal(told != NULL, topology_cpu_count() < 1024);
    assert_true(!told || !strstr(told + 1, "warning: up to"));
    json_decref(outcome.records);
}

static void crowding_says_what_becomes_of_workers(void **state)
{
    (void)state;
    char text[128];
    assert_false(topology_is_crowded(2, 2, false, text, sizeof text));
    assert_false(topology_is_crowded(1, 4, true, text, sizeof text));
    assert_true(topology_is_crowded(2, 1, false, text, sizeof text));
    assert_non_null(strstr(text, "2 workers on 1 core: "));
    assert_null(strstr(text, "pinned"));
    assert_true(topology_is_crowded(5, 4, true, text, sizeof text));
    assert_non_null(strstr(text, "5 workers on 4 cores: they take turns, several pinned"));
}

static void samples_cut_short_are_told_at_the_end(void **state)
{
    (void)state;
    script_write(short_sample_script);
    struct outcome outcome =
        measure_sweep("gmp grq", (struct sweep_file){.reps = 2, .reps_max = 2, .min_time_ms = 30});
    script_write(fake_sample_script);
    assert_int_equal(outcome.run.cut_short, 4);
    assert_non_null(
        strstr(outcome.messages, "4 of 4 samples ended before their calls took the 30 ms"));
    assert_non_null(strstr(outcome.messages, "steal is not known of 4 of 4 samples"));
    assert_non_null(strstr(outcome.messages, "2 cells without an interval of the median"));
    json_decref(outcome.records);
    outcome = measure("gmp", 1, 600);
    assert_null(strstr(outcome.messages, "ended before"));
    assert_null(strstr(outcome.messages, "steal"));
    json_decref(outcome.records);
    outcome = measure("gmp", 6, 600);
    assert_null(strstr(outcome.messages, "without an interval"));
    json_decref(outcome.records);
}

static void disturbed_samples_and_rare_distances_are_measured_again(void **state)
{
    (void)state;
    script_write(disturbed_sample_script);
    struct outcome outcome = measure_sweep("gmp grq", (struct sweep_file){.reps = 2,
                                                                          .reps_max = 3,
                                                                          .repeat_disturbed = true,
                                                                          .class_min = 6,
                                                                          .warmup = WARMUP_AUTO,
                                                                          .steal_max = 4});
    script_write(fake_sample_script);
    assert_int_equal(outcome.result, 0);
    assert_int_equal(count_why(&outcome, "block"), 2 * 2);
    assert_int_equal(count_why(&outcome, "repeat"), 2 * 3); /* as many as are allowed */
    assert_int_equal(count_why(&outcome, "top-up"), 2 * 3); /* none without a mark came */
    size_t i;
    json_t *record;
    json_array_foreach(outcome.records, i, record)
    {
        json_int_t block = json_integer_value(json_object_get(record, "block"));
        const char *args = field_text(record, "args");
        assert_non_null(strstr(args, " --warmup auto "));
        assert_non_null(strstr(args, " --steal-max 4"));
        assert_int_equal(strstr(args, " --event-set ") != NULL, block > 0);
        assert_int_equal(json_integer_value(json_object_get(record, "position")), i);
    }
    assert_non_null(strstr(outcome.messages, "16 of 16 samples marked as disturbed"));
    assert_non_null(strstr(outcome.messages, "one core distance: 300 ns"));
    assert_non_null(
        strstr(outcome.messages, "6 samples for cells with few at core distance near, 6 repeat"));
    json_decref(outcome.records);
}

/* Events of gmp fall into three sets, those of grq into two; both show their arguments. */
static const char event_sets_script[] =
    "#!/bin/sh\n"
    "case $2 in gmp*) sets=3 ;; *) sets=2 ;; esac\n"
    "printf '{" FAKE_RECORD ",\"variant\":\"%s\",\"throughput\":5.0,' \"$2\"\n"
    "printf '\"event_sets\":%d,\"args\":\"%s \"}\\n' $sets \"$*\"\n";

/* The block chooses the set, not the number of sets of another cell, so that each cell counts its
 * own sets equally often. */
static void blocks_choose_the_set_of_events(void **state)
{
    (void)state;
    script_write(event_sets_script);
    struct outcome outcome = measure("gmp grq", 6, 600);
    script_write(fake_sample_script);
    assert_int_equal(json_array_size(outcome.records), 12);
    size_t i;
    json_t *record;
    json_array_foreach(outcome.records, i, record)
    {
        char wanted[64];
        const char *args = field_text(record, "args");
        json_int_t block = json_integer_value(json_object_get(record, "block"));
        snprintf(wanted, sizeof wanted, " --event-set %d ", (int)block);
        if (block == 0)
            assert_null(strstr(args, " --event-set "));
        else if (!strstr(args, wanted))
            fail_msg("block %d: %s", (int)block, args);
    }
    json_decref(outcome.records);
}

static void full_disk_ends_the_sweep_and_keeps_its_records(void **state)
{
    (void)state;
    struct rlimit before, limit;
    getrlimit(RLIMIT_FSIZE, &before);
    limit = before;
    limit.rlim_cur = 1500;
    setrlimit(RLIMIT_FSIZE, &limit);
    struct outcome outcome = measure("gmp gmp,tick=1", 100, 600);
    setrlimit(RLIMIT_FSIZE, &before);
    assert_int_equal(outcome.result, -1);
    assert_non_null(strstr(outcome.error.text, samples));
    assert_null(strchr(outcome.error.text, '\n'));
    /* Either the room could not be reserved, or it was not enough: what was counted is there. */
    assert_int_equal(json_array_size(outcome.records), outcome.run.ok);
    assert_true(outcome.run.ok < 20);
    json_decref(outcome.records);
}

static void samples_of_an_old_run_are_not_touched(void **state)
{
    (void)state;
    struct outcome outcome = measure("gmp", 1, 600);
    struct sweep_file sweep = {.reps = 1, .reps_max = 1};
    struct plan plan = {.cells = NULL, .count = 0};
    struct sweep_run run = {.sweep = &sweep, .plan = &plan, .folder = folder};
    struct error error;
    assert_int_equal(sweep_run_measure(&run, stderr, &error), -1);
    assert_non_null(strstr(error.text, "samples.jsonl: File exists"));
    json_decref(outcome.records);
}

static void line_of_file_drop(size_t line)
{
    char text[1 << 16];
    text_of_file(samples, text, sizeof text);
    FILE *to = fopen(samples, "w");
    size_t number = 0;
    for (char *at = text; *at; number++) {
        size_t length = strcspn(at, "\n") + 1;
        if (number != line)
            fwrite(at, 1, length, to);
        at += length;
    }
    fclose(to);
}

static void resumed_sweep_measures_what_is_missing(void **state)
{
    (void)state;
    struct sweep_file sweep = {.reps = 3, .reps_max = 3, .timeout_s = 600};
    struct outcome outcome = measure_sweep("gmp gmp,tick=1 kthread", sweep);
    assert_int_equal(json_array_size(outcome.records), 3 + 3 + 1);
    json_decref(outcome.records);
    line_of_file_drop(6);
    resume_next = true;
    outcome = measure_sweep("gmp gmp,tick=1 kthread", sweep);
    assert_int_equal(outcome.result, 0);
    assert_int_equal(outcome.run.ok, 6); /* with those of before */
    assert_int_equal(outcome.run.skipped, 1);
    assert_int_equal(json_array_size(outcome.records), 7);
    assert_int_equal(count(&outcome, "kthread", "skipped", ""), 1);
    assert_non_null(strstr(outcome.messages, "resumed after 6 samples"));
    json_decref(outcome.records);
}

/* Nobody's samples fail since there is nothing to run, and the rest comes when there is. */
static void lost_program_ends_the_sweep_until_it_is_back(void **state)
{
    (void)state;
    struct outcome outcome = measure("gmp gmp,ring=8 gmp,tick=1 gmp,tick=2", 4, 600);
    assert_int_equal(outcome.result, -1);
    assert_non_null(strstr(outcome.error.text, "cannot execute the program"));
    assert_non_null(strstr(outcome.error.text, "--resume"));
    assert_null(strchr(outcome.error.text, '\n'));
    assert_int_equal(outcome.run.failed, 0);
    assert_in_range(json_array_size(outcome.records), 1, 4);
    assert_int_equal(json_array_size(outcome.records), outcome.run.ok);
    size_t before = outcome.run.ok;
    json_decref(outcome.records);
    assert_int_equal(chmod(script, 0700), 0);
    resume_next = true;
    outcome = measure("gmp gmp,ring=8 gmp,tick=1 gmp,tick=2", 4, 600);
    assert_int_equal(chmod(script, 0700), 0);
    assert_int_equal(outcome.run.failed, 0);
    assert_in_range(json_array_size(outcome.records), before + 1, 16);
    json_decref(outcome.records);
}

/* Last: an interrupted process stays so. The fake `serial` sends its parent the signal. */
static void signal_ends_the_sweep_and_keeps_its_records(void **state)
{
    (void)state;
    struct outcome outcome = measure("gmp gmp,tick=1 gmp,tick=2 gmp,tick=3 serial", 50, 0);
    assert_int_equal(outcome.result, 0);
    assert_int_equal(outcome.run.stopped_by, SIGTERM);
    assert_true(json_array_size(outcome.records) <= 4);
    assert_int_equal(json_array_size(outcome.records), outcome.run.ok);
    assert_int_equal(count(&outcome, "serial", "failed", ""), 0);
    struct sigaction now;
    sigaction(SIGTERM, NULL, &now);
    assert_true(now.sa_handler == SIG_DFL);
    json_decref(outcome.records);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(good_cells_are_measured_once_a_block),
        cmocka_unit_test(failing_cells_are_recorded_and_tried_again),
        cmocka_unit_test(skipped_cell_is_recorded_once),
        cmocka_unit_test(hanging_cell_is_given_up_after_the_second_time),
        cmocka_unit_test(wrong_digest_fails_while_the_sweep_runs),
        cmocka_unit_test(more_workers_than_cores_are_told_once),
        cmocka_unit_test(crowding_says_what_becomes_of_workers),
        cmocka_unit_test(samples_cut_short_are_told_at_the_end),
        cmocka_unit_test(disturbed_samples_and_rare_distances_are_measured_again),
        cmocka_unit_test(blocks_choose_the_set_of_events),
        cmocka_unit_test(full_disk_ends_the_sweep_and_keeps_its_records),
        cmocka_unit_test(samples_of_an_old_run_are_not_touched),
        cmocka_unit_test(resumed_sweep_measures_what_is_missing),
        cmocka_unit_test(lost_program_ends_the_sweep_until_it_is_back),
        cmocka_unit_test(signal_ends_the_sweep_and_keeps_its_records),
    };
    return cmocka_run_group_tests_name("sweep_run", tests, folder_make, folder_remove);
}
