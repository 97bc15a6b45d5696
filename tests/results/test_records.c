/* test_records.c - the records file keeps what was measured, whatever happens to the disk, and
 * wrong digests never pass. */
#include "harness/base/json_fields.h"
#include "harness/records/records.h"
#include "harness/records/run_folder.h"
#include "harness/records/same_work.h"

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cmocka.h>

enum { TEXT_SIZE = 512 };

/* One line of a samples.jsonl; more: ",\"key\":value" ... */
#define OF_SCHEMA(schema, status, more)                                                            \
    "{\"schema\":" schema                                                                          \
    ",\"cell\":\"c\",\"variant\":\"gmp\",\"workload\":\"fib\",\"workers\":2,"                      \
    "\"status\":" status more "}\n"
#define LINE(more) OF_SCHEMA("2", "\"ok\"", more)
enum { LINE_SIZE = sizeof LINE("") - 1 };

static char folder[64], path[128];

static int folder_make(void **state)
{
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/test_records.XXXXXX");
    if (!mkdtemp(folder))
        return -1;
    snprintf(path, sizeof path, "%s/samples.jsonl", folder);
    return 0;
}

static int folder_remove(void **state)
{
    (void)state;
    unlink(path);
    return rmdir(folder);
}

static json_t *record_make(const char *variant, const char *digest)
{
    return json_pack("{si ss ss ss ss ss ss ss si si}", "schema", RECORD_SCHEMA, "cell", "c",
                     "status", "ok", "variant", variant, "variant_name", variant, "workload", "fib",
                     "answer", "1", "digest", digest, "seed", 1, "workers", 2);
}

static void append(struct record_file *file, json_t *record)
{
    assert_int_equal(record_file_reserve(file), 0);
    assert_int_equal(record_file_append(file, record), 0);
    json_decref(record);
}

static json_t *read_all(void)
{
    struct error error = {0};
    json_t *records = record_file_read(path, NULL, &error);
    if (!records)
        fail_msg("%s", error.text);
    return records;
}

/* Files --------------------------------------------------------------------------------------- */

static void records_come_back_in_order(void **state)
{
    (void)state;
    struct record_file file;
    assert_int_equal(record_file_create(&file, path), 0);
    append(&file, record_make("gmp", "1"));
    append(&file, record_make("grq\nwith a line\tand a tab", "2"));
    assert_int_equal(record_file_close(&file), 0);
    json_t *records = read_all();
    assert_int_equal(json_array_size(records), 2);
    assert_string_equal(field_text(json_array_get(records, 1), "variant_name"),
                        "grq\nwith a line\tand a tab");
    json_decref(records);
    assert_int_equal(record_file_create(&file, path), -EEXIST);
}

static void closed_file_holds_nothing_but_records(void **state)
{
    (void)state;
    struct record_file file;
    unlink(path);
    assert_int_equal(record_file_create(&file, path), 0);
    append(&file, record_make("gmp", "1"));
    int64_t size = file.size;
    assert_int_equal(record_file_close(&file), 0);
    FILE *from = fopen(path, "r");
    if (!from)
        abort();
    fseek(from, 0, SEEK_END);
    assert_int_equal(ftell(from), size);
    fclose(from);
}

static void torn_last_line_is_left_out(void **state)
{
    (void)state;
    FILE *to = fopen(path, "w");
    if (!to)
        abort();
    fputs(LINE("") LINE(",\"a\":2") "{\"a\":", to);
    fclose(to);
    json_t *records = read_all();
    assert_int_equal(json_array_size(records), 2);
    json_decref(records);
}

static void line_that_is_no_record_is_named(void **state)
{
    (void)state;
    struct error error = {0};
    FILE *to = fopen(path, "w");
    if (!to)
        abort();
    fputs(LINE("") "nonsense\n" LINE(""), to);
    fclose(to);
    assert_null(record_file_read(path, NULL, &error));
    assert_non_null(strstr(error.text, "samples.jsonl:2: "));
}

/* Writes the file, and expects it to be refused with that. */
static void expect_refused(const char *text, const char *why)
{
    struct error error = {0};
    FILE *to = fopen(path, "w");
    fputs(text, to);
    fclose(to);
    assert_null(record_file_read(path, NULL, &error));
    if (!strstr(error.text, why) || !strstr(error.text, path))
        fail_msg("expected \"%s\", found \"%s\"", why, error.text);
}

static void file_without_a_record_is_refused(void **state)
{
    (void)state;
    expect_refused("", "samples.jsonl: it holds no sample");
    expect_refused("{\"a\"", "samples.jsonl:1: not a record");
}

/* As last lines too: they are whole, and no writer was killed in the middle of one. */
static void record_that_is_not_of_this_schema_is_named(void **state)
{
    (void)state;
    expect_refused(LINE("") OF_SCHEMA("99", "\"ok\"", ""),
                   "samples.jsonl:2: not a record: its schema is 99; this program reads 2");
    expect_refused(OF_SCHEMA("\"2\"", "\"ok\"", ""), "samples.jsonl:1: not a record: its schema");
    expect_refused("{\"a\":1}\n", "its schema is none");
    expect_refused("{\"schema\":2}\n", "samples.jsonl:1: not a record: it has no cell");
    expect_refused(OF_SCHEMA("2", "17", ""), "its status is none of ok, failed, skipped");
}

/* Refused with that: the line with one part replaced, and the line as it was behind it. */
static void expect_change_refused(const char *line, size_t at, const char *by, const char *why)
{
    char text[8192];
    snprintf(text, sizeof text, "%s%s", line, line);
    for (size_t i = 0; by[i]; i++)
        text[at + i] = by[i];
    expect_refused(text, why);
}

/* Each byte but those of the key itself, without which a line is as one by hand. */
static void record_that_was_changed_is_refused(void **state)
{
    (void)state;
    static const char changed[] = "samples.jsonl:1: not a record: it was changed after";
    char line[4096] = "";
    struct record_file file;
    json_t *record = record_make("gmp", "d");
    json_object_set_new(record, "throughput", json_real(1500000.0));
    unlink(path);
    assert_int_equal(record_file_create(&file, path), 0);
    assert_int_equal(record_file_append(&file, record), 0);
    record_file_close(&file);
    json_t *records = read_all();
    assert_true(json_equal(json_array_get(records, 0), record)); /* there is no key "check" */
    json_decref(records);
    json_decref(record);

    FILE *from = fopen(path, "r");
    assert_non_null(fgets(line, sizeof line, from));
    fclose(from);
    size_t key = (size_t)(strstr(line, "\"check\"") - line), end = strlen(line) - 1;
    for (size_t i = 0; i < end; i++)
        if (i < key || i >= key + strlen("\"check\""))
            expect_change_refused(line, i, line[i] == '7' ? "8" : "7",
                                  "samples.jsonl:1: not a record: ");
    expect_change_refused(line, (size_t)(strstr(line, "1500000.0") - line), "2", changed);
    expect_change_refused(line, (size_t)(strstr(line, "\"d\"") - line), "\"e\"", changed);
}

/* How many lines of the file a reader tells that it has left out; and what is left. */
static void line_that_was_there_before_is_left_out_and_told(void **state)
{
    (void)state;
    char told[TEXT_SIZE] = "";
    struct error error;
    struct record_flaws flaws;
    FILE *to = fopen(path, "w");
    fputs(LINE("") LINE(",\"a\":1") LINE("") LINE(",\"a\":2") LINE(",\"a\":2") "nonsense\n", to);
    fclose(to);
    json_t *records = record_file_read(path, &flaws, &error);
    assert_int_equal(json_array_size(records), 3);
    json_decref(records);
    assert_int_equal(flaws.doubled, 2);
    assert_true(flaws.torn);
    FILE *messages = fmemopen(told, sizeof told, "w");
    run_folder_tell_flaws(folder, &flaws, "schedlab report", messages);
    fclose(messages);
    assert_non_null(strstr(told, "samples.jsonl: 2 lines were there before"));
    assert_non_null(strstr(told, "its last line is not whole; left out\n"));
}

#define PLACED(seed, position) LINE(",\"seed\":" #seed ",\"position\":" #position)

/* Lines that a reader of the text leaves out as doubled; *keeps: true if it took memory for
 * that. */
static size_t doubled_of(const char *text, bool *keeps)
{
    struct error error = {0};
    struct record_reader reader;
    json_t *record;
    FILE *to = fopen(path, "w");
    fputs(text, to);
    fclose(to);
    assert_int_equal(record_reader_open(&reader, path), 0);
    while (record_reader_next(&reader, &record, &error) == RECORD_READ)
        json_decref(record);
    assert_string_equal(error.text, "");
    size_t doubled = reader.flaws.doubled;
    *keeps = reader.hashes != NULL;
    record_reader_close(&reader);
    return doubled;
}

static void records_in_order_take_no_memory(void **state)
{
    (void)state;
    bool keeps;
    assert_int_equal(doubled_of(PLACED(7, 0) PLACED(7, 3) PLACED(8, 1), &keeps), 0);
    assert_false(keeps);
    assert_int_equal(doubled_of(PLACED(7, 0) PLACED(7, 3) PLACED(7, 3) PLACED(8, 1), &keeps), 1);
    assert_int_equal(doubled_of(PLACED(7, 0) PLACED(8, 1) PLACED(7, 0) PLACED(8, 1), &keeps), 2);
    assert_int_equal(doubled_of(PLACED(7, 1) PLACED(7, 0) PLACED(7, 2) PLACED(7, 2), &keeps), 1);
    assert_true(keeps);
    assert_int_equal(doubled_of(PLACED(7, 1) PLACED(7, 0) PLACED(7, 2), &keeps), 0);
}

static void samples_at_one_place_contradict_each_other(void **state)
{
    (void)state;
    expect_refused(LINE(",\"seed\":7,\"position\":3") LINE(",\"seed\":8,\"position\":3")
                       LINE(",\"seed\":7,\"position\":3,\"a\":1"),
                   "samples.jsonl:3: another sample with position 3 of seed 7 than on line 1");
}

static void reader_tells_whole_lines_from_a_torn_one(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        size_t size;
        enum record_read end;
        int64_t whole;
    } cases[] = {
        {"", 0, RECORD_READ_END, 0},
        {LINE(""), LINE_SIZE, RECORD_READ_END, LINE_SIZE},
        {LINE("") "{\"a\"", LINE_SIZE + 4, RECORD_READ_TORN, LINE_SIZE},
        {LINE("") LINE(""), 2 * LINE_SIZE - 1, RECORD_READ_TORN, LINE_SIZE},
        {LINE("") "\0\0\0\n", LINE_SIZE + 4, RECORD_READ_TORN, LINE_SIZE},
        {LINE("") "\0\0\0\n" LINE(""), 2 * LINE_SIZE + 4, RECORD_READ_BAD, LINE_SIZE},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        FILE *to = fopen(path, "w");
        assert_int_equal(fwrite(cases[i].text, 1, cases[i].size, to), cases[i].size);
        fclose(to);
        struct record_reader reader;
        struct error error = {0};
        json_t *record;
        enum record_read read;
        assert_int_equal(record_reader_open(&reader, path), 0);
        while ((read = record_reader_next(&reader, &record, &error)) == RECORD_READ)
            json_decref(record);
        assert_int_equal(read, cases[i].end);
        assert_int_equal(reader.whole, cases[i].whole);
        record_reader_close(&reader);
    }
}

static void opened_file_goes_on_after_its_whole_lines(void **state)
{
    (void)state;
    FILE *to = fopen(path, "w");
    fputs(LINE("") "{\"a\":", to);
    fclose(to);
    struct record_file file, other;
    assert_int_equal(record_file_open(&file, path), 0);
    assert_int_equal(record_file_open(&other, path), -EWOULDBLOCK);
    assert_int_equal(record_file_cut(&file, LINE_SIZE), 0);
    append(&file, record_make("gmp", "7"));
    assert_int_equal(record_file_close(&file), 0);
    json_t *records = read_all();
    assert_int_equal(json_array_size(records), 2);
    assert_string_equal(field_text(json_array_get(records, 1), "digest"), "7");
    json_decref(records);
    assert_int_equal(record_file_open(&other, path), 0);
    assert_int_equal(record_file_close(&other), 0);
}

/* A file that may not grow stands for a full disk: the same short or failing write. */
static void full_disk_costs_no_record(void **state)
{
    (void)state;
    struct record_file file;
    unlink(path);
    assert_int_equal(record_file_create(&file, path), 0);
    append(&file, record_make("gmp", "1"));
    struct rlimit before, limit;
    getrlimit(RLIMIT_FSIZE, &before);
    limit = before;
    limit.rlim_cur = (rlim_t)file.size + 10;
    void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &limit);
    json_t *record = record_make("grq", "2");
    int error = record_file_append(&file, record);
    file.reserved = file.size; /* as if it had just been used up */
    int reserved = record_file_reserve(&file);
    setrlimit(RLIMIT_FSIZE, &before);
    signal(SIGXFSZ, handler);
    assert_true(error == -ENOSPC || error == -EFBIG);
    assert_true(reserved == 0 || reserved == -ENOSPC || reserved == -EFBIG);
    /* The half line is gone, and with room again the file goes on as if nothing had been. */
    assert_int_equal(record_file_append(&file, record), 0);
    json_decref(record);
    assert_int_equal(record_file_close(&file), 0);
    json_t *records = read_all();
    assert_int_equal(json_array_size(records), 2);
    assert_string_equal(field_text(json_array_get(records, 1), "digest"), "2");
    json_decref(records);
}

/* Digests ------------------------------------------------------------------------------------- */

/* "gmp=1 grq=2": one record each. */
static json_t *records_of(const char *text)
{
    json_t *records = json_array();
    char copy[256], *rest = NULL;
    snprintf(copy, sizeof copy, "%s", text);
    for (char *word = strtok_r(copy, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
        char *equals = strchr(word, '=');
        *equals = '\0';
        json_array_append_new(records, record_make(word, equals + 1));
    }
    return records;
}

/* Expects which of the records are right by the final rule: "+-+". */
static void expect_verdicts(const char *text, const char *verdicts)
{
    json_t *records = records_of(text);
    same_work_judge_all(records);
    assert_int_equal(json_array_size(records), strlen(verdicts));
    for (size_t i = 0; i < strlen(verdicts); i++) {
        const json_t *record = json_array_get(records, i);
        bool ok = strcmp(field_text(record, "status"), "ok") == 0;
        if (ok != (verdicts[i] == '+'))
            fail_msg("%s: record %zu is %s: %s", text, i, field_text(record, "status"),
                     field_text(record, "reason"));
        if (!ok)
            assert_non_null(strstr(field_text(record, "reason"), "digest"));
    }
    json_decref(records);
}

static void majority_of_variants_decides(void **state)
{
    (void)state;
    expect_verdicts("gmp=1 grq=1 perm=1", "+++");
    expect_verdicts("gmp=1 grq=1 perm=2", "++-");
    expect_verdicts("perm=2 gmp=1 grq=1", "-++");
    expect_verdicts("gmp=1", "+");
}

static void variant_with_many_cells_has_one_vote(void **state)
{
    (void)state;
    expect_verdicts("gmp=2 gmp=2 gmp=2 gmp=2 grq=1 perm=1", "----++");
}

static void split_votes_leave_nothing(void **state)
{
    (void)state;
    expect_verdicts("gmp=1 grq=2", "--");
    expect_verdicts("gmp=1 grq=1 perm=2 static=2", "----");
    expect_verdicts("gmp=1 gmp=2", "--");
}

static void variant_that_disagrees_with_itself_loses_its_odd_samples(void **state)
{
    (void)state;
    expect_verdicts("gmp=1 gmp=1 gmp=3", "++-");
    expect_verdicts("gmp=1 gmp=2 grq=1 perm=1", "+-++");
}

static void serial_run_outvotes_all(void **state)
{
    (void)state;
    expect_verdicts("gmp=2 grq=2 perm=2 serial=1 static=1", "---++");
}

static void other_workloads_and_seeds_do_not_vote(void **state)
{
    (void)state;
    json_t *records = records_of("gmp=1 grq=1 perm=2 static=2");
    json_object_set_new(json_array_get(records, 2), "workload", json_string("fib,n=3"));
    json_object_set_new(json_array_get(records, 3), "seed", json_integer(2));
    same_work_judge_all(records);
    for (size_t i = 0; i < 4; i++)
        assert_string_equal(field_text(json_array_get(records, i), "status"), "ok");
    json_decref(records);
}

/* "5/worker" is other work on each number of workers. */
static void work_per_worker_is_judged_by_their_number(void **state)
{
    (void)state;
    json_t *records = records_of("gmp=1 grq=1 gmp=2 grq=2 perm=3");
    for (size_t i = 0; i < 5; i++) {
        json_t *record = json_array_get(records, i);
        json_object_set_new(record, "workload", json_string("uneven,tasks=5/worker"));
        json_object_set_new(record, "workers", json_integer(i < 2 ? 1 : 8));
    }
    same_work_judge_all(records);
    for (size_t i = 0; i < 5; i++)
        assert_string_equal(field_text(json_array_get(records, i), "status"),
                            i < 4 ? "ok" : "failed");
    json_decref(records);
}

static void failed_samples_do_not_vote(void **state)
{
    (void)state;
    json_t *records = records_of("gmp=1 grq=2 perm=2");
    record_fail(json_array_get(records, 1), "killed by SIGSEGV");
    record_fail(json_array_get(records, 2), "killed by SIGSEGV");
    same_work_judge_all(records);
    assert_string_equal(field_text(json_array_get(records, 0), "status"), "ok");
    assert_string_equal(field_text(json_array_get(records, 1), "reason"), "killed by SIGSEGV");
    json_decref(records);
}

/* Judges records as they come, as the sweep does. */
static void judge_live(json_t *records, char verdicts[])
{
    struct same_work *book = same_work_make();
    size_t i;
    json_t *record;
    json_array_foreach(records, i, record)
    {
        struct error reason;
        same_work_add(book, record);
        bool wrong = same_work_judge(book, record, false, &reason);
        verdicts[i] = wrong ? '-' : '+';
        if (wrong)
            record_fail(record, reason.text);
    }
    verdicts[i] = '\0';
    same_work_free(book);
}

static void verdict_of_the_first_is_overturned_by_all(void **state)
{
    (void)state;
    char live[16];
    json_t *records = records_of("gmp=2 grq=2 perm=1 static=1 uthread=1 kthread=1");
    judge_live(records, live);
    /* perm contradicts a majority of two, the others only come to a split. */
    assert_string_equal(live, "++-+++");
    same_work_judge_all(records);
    for (size_t i = 0; i < 6; i++)
        assert_string_equal(field_text(json_array_get(records, i), "status"),
                            i < 2 ? "failed" : "ok");
    assert_null(json_object_get(json_array_get(records, 2), "reason"));
    json_decref(records);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(records_come_back_in_order),
        cmocka_unit_test(closed_file_holds_nothing_but_records),
        cmocka_unit_test(torn_last_line_is_left_out),
        cmocka_unit_test(line_that_is_no_record_is_named),
        cmocka_unit_test(file_without_a_record_is_refused),
        cmocka_unit_test(record_that_is_not_of_this_schema_is_named),
        cmocka_unit_test(record_that_was_changed_is_refused),
        cmocka_unit_test(line_that_was_there_before_is_left_out_and_told),
        cmocka_unit_test(records_in_order_take_no_memory),
        cmocka_unit_test(samples_at_one_place_contradict_each_other),
        cmocka_unit_test(reader_tells_whole_lines_from_a_torn_one),
        cmocka_unit_test(opened_file_goes_on_after_its_whole_lines),
        cmocka_unit_test(full_disk_costs_no_record),
        cmocka_unit_test(majority_of_variants_decides),
        cmocka_unit_test(variant_with_many_cells_has_one_vote),
        cmocka_unit_test(split_votes_leave_nothing),
        cmocka_unit_test(variant_that_disagrees_with_itself_loses_its_odd_samples),
        cmocka_unit_test(serial_run_outvotes_all),
        cmocka_unit_test(other_workloads_and_seeds_do_not_vote),
        cmocka_unit_test(work_per_worker_is_judged_by_their_number),
        cmocka_unit_test(failed_samples_do_not_vote),
        cmocka_unit_test(verdict_of_the_first_is_overturned_by_all),
    };
    return cmocka_run_group_tests_name("records", tests, folder_make, folder_remove);
}
