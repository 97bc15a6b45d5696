/* test_tables.c - samples.jsonl becomes seven tables: every row and number of a small run is
 * known. */
#include "harness/tables/tables.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

enum { PATH_SIZE = 128, TEXT_SIZE = 65536, FIELDS_MAX = 32 };

static const char *const files[] = {"samples.jsonl", "samples.tsv",   "cells.tsv", "events.tsv",
                                    "latency.tsv",   "classes.tsv",   "metg.tsv",  "plan.json",
                                    "scale.tsv",     "structures.tsv"};
static char folder[64];

static int folder_make(void **state)
{
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/test_tables.XXXXXX");
    return mkdtemp(folder) ? 0 : -1;
}

static void path_of(const char *name, char path[PATH_SIZE])
{
    snprintf(path, PATH_SIZE, "%s/%s", folder, name);
}

static int folder_remove(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        char path[PATH_SIZE];
        path_of(files[i], path);
        unlink(path);
    }
    return rmdir(folder);
}

static void samples_write(const char *text)
{
    char path[PATH_SIZE];
    struct error error = {0};
    path_of("samples.jsonl", path);
    FILE *to = fopen(path, "w");
    if (!to)
        abort();
    fputs(text, to);
    fclose(to);
    if (tables_write(folder, &error) != 0)
        fail_msg("%s", error.text);
}

/* The field `column` of the first row that holds both words; "" if there is none. */
static const char *field(const char *name, const char *word, const char *other, const char *column)
{
    static char text[TEXT_SIZE];
    char path[PATH_SIZE], *fields[FIELDS_MAX] = {NULL}, *rest = NULL;
    path_of(name, path);
    FILE *from = fopen(path, "r");
    if (!from)
        abort();
    text[fread(text, 1, sizeof text - 1, from)] = '\0';
    fclose(from);
    char *line = strtok_r(text, "\n", &rest);
    int columns = 0, wanted = -1;
    for (char *head = line; head; head = strchr(head, '\t') ? strchr(head, '\t') + 1 : NULL) {
        size_t length = strcspn(head, "\t");
        if (length == strlen(column) && strncmp(head, column, length) == 0)
            wanted = columns;
        columns++;
    }
    assert_true(wanted >= 0);
    while ((line = strtok_r(NULL, "\n", &rest))) {
        if (!strstr(line, word) || !strstr(line, other))
            continue;
        int n = 0;
        for (char *head = line; head && n < FIELDS_MAX; n++) {
            fields[n] = head;
            head = strchr(head, '\t');
            if (head)
                *head++ = '\0';
        }
        assert_int_equal(n, columns);
        return fields[wanted];
    }
    return "";
}

static void expect(const char *name, const char *word, const char *other, const char *column,
                   const char *value)
{
    const char *found = field(name, word, other, column);
    if (strcmp(found, value) != 0)
        fail_msg("%s, %s of %s %s: expected %s, found %s", name, column, word, other, value, found);
}

/* One record; more is further JSON. */
#define SAMPLE(cell, groups, variant, workers, block, more)                                        \
    "{\"schema\":2,\"cell\":\"" cell "\",\"groups\":[" groups "],\"variant\":\"" variant           \
    "\",\"variant_name\":\"" variant "\",\"workload\":\"fib,n=20\",\"workload_name\":\"fib\","     \
    "\"op\":\"task\",\"machine\":\"native\",\"seed\":1,\"workers\":" #workers ",\"block\":" #block \
    "," more "}\n"
#define OK(throughput, digest)                                                                     \
    "\"status\":\"ok\",\"answer\":\"1\",\"digest\":\"" digest "\",\"throughput\":" #throughput     \
    ",\"time_ns\":1000,\"ops\":7"

static void cell_row_holds_median_interval_and_speedup(void **state)
{
    (void)state;
    samples_write(SAMPLE("c1", "\"a\"", "gmp", 1, 0, OK(10, "1"))   //
                  SAMPLE("c2", "\"a\"", "gmp", 2, 0, OK(18, "1"))   //
                  SAMPLE("c1", "\"a\"", "gmp", 1, 1, OK(12, "1"))   //
                  SAMPLE("c2", "\"a\"", "gmp", 2, 1, OK(22, "1"))); //
    expect("cells.tsv", "a", "c1", "median", "11");
    expect("cells.tsv", "a", "c1", "n", "2");
    expect("cells.tsv", "a", "c1", "status", "ok");
    expect("cells.tsv", "a", "c1", "reason", "NA");
    expect("cells.tsv", "a", "c1", "speedup", "1");
    expect("cells.tsv", "a", "c2", "speedup", "1.81818181818");
    expect("samples.tsv", "c2", "a", "throughput", "18");
    expect("samples.tsv", "c2", "a", "block", "0");
    expect("samples.tsv", "c2", "a", "position", "NA");
}

#define TWO(cell, workers, block, low, high)                                                       \
    SAMPLE(cell, "\"a\"", "gmp", workers, block, OK(low, "1") LATENCY)                             \
    SAMPLE(cell, "\"a\"", "gmp", workers, block, OK(high, "1") LATENCY)
#define LATENCY                                                                                    \
    ",\"latency\":{\"count\":9000,\"max_ns\":90,\"buckets\":[[50,8000],[90,1000]]},\"events\":["   \
    "{\"name\":\"STEALS\",\"source\":\"sde\",\"value\":14,\"per_op\":2.0}]"

static void intervals_begin_with_the_sixth_sample(void **state)
{
    (void)state;
    samples_write(TWO("c1", 1, 0, 10, 12) TWO("c1", 1, 1, 10, 12) TWO("c1", 1, 2, 10, 12) //
                  TWO("c2", 2, 0, 18, 22) TWO("c2", 2, 1, 18, 22)                         //
                  SAMPLE("c2", "\"a\"", "gmp", 2, 2, OK(20, "1") LATENCY));
    static const char *const tables[] = {"cells.tsv", "events.tsv", "latency.tsv", "classes.tsv"};
    static const char *const ends[] = {"lo", "hi"};
    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++)
        for (int k = 0; k < 2; k++) {
            assert_string_not_equal(field(tables[i], "c1", "c1", ends[k]), "NA");
            expect(tables[i], "c2", "c2", ends[k], "NA");
        }
    expect("cells.tsv", "a", "c1", "lo", "10");
    expect("cells.tsv", "a", "c1", "hi", "12");
    expect("cells.tsv", "a", "c1", "speedup_lo", "1");
    expect("cells.tsv", "a", "c2", "median", "20");
    expect("cells.tsv", "a", "c2", "speedup_lo", "NA");
    expect("cells.tsv", "a", "c2", "speedup_hi", "NA");
}

static void cell_of_two_groups_has_a_row_in_each(void **state)
{
    (void)state;
    samples_write(SAMPLE("c1", "\"b\",\"a\"", "gmp", 1, 0, OK(10, "1")));
    expect("cells.tsv", "a\t", "c1", "median", "10");
    expect("cells.tsv", "b\t", "c1", "median", "10");
    samples_write(SAMPLE("c1", "", "gmp", 1, 0, OK(10, "1")));
    expect("cells.tsv", "-\t", "c1", "median", "10");
}

static void failed_and_skipped_cells_have_no_numbers(void **state)
{
    (void)state;
    samples_write(
        SAMPLE("c1", "\"a\"", "gmp", 1, 0, OK(10, "1"))                                           //
        SAMPLE("c1", "\"a\"", "gmp", 1, 1, "\"status\":\"failed\",\"reason\":\"killed\\tby me\"") //
        SAMPLE("c2", "\"a\"", "grq", 1, 0, "\"status\":\"skipped\",\"reason\":\"too big\""));
    expect("cells.tsv", "a", "c1", "status", "failed");
    expect("cells.tsv", "a", "c1", "n", "1");
    expect("cells.tsv", "a", "c1", "median", "NA");
    expect("cells.tsv", "a", "c1", "speedup", "NA");
    expect("cells.tsv", "a", "c1", "reason", "1 of 2 samples failed: killed by me");
    expect("cells.tsv", "a", "c2", "status", "skipped");
    expect("cells.tsv", "a", "c2", "reason", "too big");
    expect("samples.tsv", "c2", "skipped", "throughput", "NA");
}

static void wrong_digest_is_found_here_too(void **state)
{
    (void)state;
    samples_write(SAMPLE("c1", "\"a\"", "gmp", 1, 0, OK(10, "2"))    //
                  SAMPLE("c2", "\"a\"", "grq", 1, 0, OK(10, "1"))    //
                  SAMPLE("c3", "\"a\"", "perm", 1, 0, OK(10, "1"))); //
    expect("cells.tsv", "a", "c1", "status", "failed");
    expect("cells.tsv", "a", "c1", "median", "NA");
    expect("cells.tsv", "a", "c2", "median", "10");
    expect("samples.tsv", "c1", "a", "status", "failed");
    assert_non_null(strstr(field("cells.tsv", "a", "c1", "reason"), "2 of 3 variants"));
}

#define EVENT(name, rest) "{\"name\":\"" name "\",\"source\":\"sde\"," rest "}"

static void event_row_holds_the_median_or_why_there_is_none(void **state)
{
    (void)state;
    samples_write(
        SAMPLE("c1", "\"a\"", "gmp", 1, 0,
               OK(10, "1") ",\"events\":[" EVENT("STEALS", "\"value\":14,\"per_op\":2.0") "," //
               EVENT("MISSES", "\"absent\":\"no PMU\"") ","                                   //
               EVENT("DEPTH", "\"value\":5") ","                                              //
               EVENT("ODD", "\"value\":1,\"per_op\":1.0") "]")                                //
        SAMPLE("c1", "\"a\"", "gmp", 1, 1,
               OK(10, "1") ",\"events\":[" EVENT("STEALS", "\"value\":28,\"per_op\":4.0") "," //
               EVENT("MISSES", "\"absent\":\"no PMU\"") ","                                   //
               EVENT("DEPTH", "\"value\":7") "]"));
    expect("events.tsv", "STEALS", "c1", "per_op", "3");
    expect("events.tsv", "STEALS", "c1", "n", "2");
    expect("events.tsv", "STEALS", "c1", "absent", "NA");
    expect("events.tsv", "STEALS", "c1", "value", "21");
    expect("events.tsv", "MISSES", "c1", "per_op", "NA");
    expect("events.tsv", "MISSES", "c1", "absent", "no PMU");
    expect("events.tsv", "DEPTH", "c1", "per_op", "NA");
    expect("events.tsv", "DEPTH", "c1", "value", "6");
    expect("events.tsv", "ODD", "c1", "absent", "not counted in every sample");
    expect("events.tsv", "ODD", "c1", "per_op", "NA");
}

/* Three samples, of which the second counted the other set. */
static void events_counted_in_turns_are_medians_of_their_samples(void **state)
{
    (void)state;
#define ELSEWHERE "\"absent\":\"counted in another sample of this cell\""
    samples_write(
        SAMPLE("c1", "\"a\"", "gmp", 1, 0,
               OK(10, "1") ",\"events\":[" EVENT("HITS", "\"value\":14,\"per_op\":2.0") "," EVENT(
                   "MISSES", ELSEWHERE) "," EVENT("THIRD", ELSEWHERE) "]")
            SAMPLE("c1", "\"a\"", "gmp", 1, 1,
                   OK(10, "1") ",\"events\":[" EVENT("HITS", ELSEWHERE) "," EVENT(
                       "MISSES", "\"value\":7,\"per_op\":1.0") "," EVENT("THIRD", ELSEWHERE) "]")
                SAMPLE("c1", "\"a\"", "gmp", 1, 2,
                       OK(10, "1") ",\"events\":[" EVENT(
                           "HITS",
                           "\"value\":28,\"per_"
                           "op\":4.0") "," EVENT("MISSES", ELSEWHERE) "," EVENT("THIRD",
                                                                                ELSEWHERE) "]"));
    expect("events.tsv", "HITS", "c1", "per_op", "3");
    expect("events.tsv", "HITS", "c1", "n", "2");
    expect("events.tsv", "HITS", "c1", "absent", "NA");
    expect("events.tsv", "MISSES", "c1", "per_op", "1");
    expect("events.tsv", "MISSES", "c1", "n", "1");
    expect("events.tsv", "THIRD", "c1", "n", "0");
    expect("events.tsv", "THIRD", "c1", "absent",
           "no sample of this cell counted its set of events");
}

static void latency_rows_are_medians_of_quantiles(void **state)
{
    (void)state;
    samples_write(SAMPLE("c1", "\"a\"", "gmp", 2, 0,
                         OK(10, "1") ",\"latency\":{\"count\":200,\"p50_ns\":50,\"p90_ns\":90,"
                                     "\"p99_ns\":99,\"p999_ns\":100,\"max_ns\":101,"
                                     "\"buckets\":[[40,50],[60,100],[128,50]]}"));
    expect("latency.tsv", "c1", "\t0.5\t", "ns", "50");
    expect("latency.tsv", "c1", "\t0.99\t", "ns", "99");
    expect("latency.tsv", "c1", "\t1\t", "ns", "101");
    expect("latency.tsv", "c1", "\t0.25\t", "ns", "40");
    expect("latency.tsv", "c1", "\t0.75\t", "ns", "60");
    expect("latency.tsv", "c1", "\t0.95\t", "ns", "101"); /* not the end of its bucket, 128 */
    expect("latency.tsv", "c1", "\t0.999\t", "ns", "");   /* 200 latencies have no such quantile */
}

static void rows_are_sorted_and_the_same_again(void **state)
{
    (void)state;
    char path[PATH_SIZE], first[4096] = "", again[4096] = "";
    const char *text = SAMPLE("c4", "\"b\"", "gmp", 2, 0, OK(10, "1")) //
        SAMPLE("c3", "\"a\"", "gmp", 10, 0, OK(10, "1"))               //
        SAMPLE("c2", "\"a\"", "grq", 2, 0, OK(11, "1"))                //
        SAMPLE("c1", "\"a\"", "gmp", 2, 0, OK(12, "1"));
    path_of("cells.tsv", path);
    for (int i = 0; i < 2; i++) {
        samples_write(text);
        FILE *from = fopen(path, "r");
        if (!from)
            abort();
        assert_true(fread(i ? again : first, 1, sizeof first - 1, from) > 0);
        fclose(from);
    }
    assert_string_equal(first, again);
    const char *at = first;
    for (int i = 1; i <= 4; i++) {
        char cell[16];
        snprintf(cell, sizeof cell, "\tc%d\t", i);
        at = strstr(at, cell);
        assert_non_null(at);
    }
}

/* A figure's panels stand in the order of the rows. */
static void workloads_stand_in_the_order_of_their_numbers(void **state)
{
    (void)state;
    char path[PATH_SIZE], text[4096] = "";
    samples_write(SAMPLE("c1", "\"a\"", "gmp", 2, 0, "\"workload\":\"fib,n=12\"," OK(10, "1"))
                      SAMPLE("c2", "\"a\"", "gmp", 2, 0, "\"workload\":\"fib,n=4\"," OK(10, "1")));
    path_of("cells.tsv", path);
    FILE *from = fopen(path, "r");
    if (!from)
        abort();
    assert_true(fread(text, 1, sizeof text - 1, from) > 0);
    fclose(from);
    const char *twelve = strstr(text, "fib,n=12"), *four = strstr(text, "fib,n=4");
    assert_true(twelve && four && four < twelve);
}

/* Round trips before and after. */
#define PROBE(before, after)                                                                       \
    ",\"probe\":{\"before\":{\"line_ns\":" #before "},\"after\":{\"line_ns\":" #after "}}"
#define MARKED ",\"marks\":[\"steal\"]"

/* Four samples while the cores were far, of which one is marked; three near; one in between. */
#define NEAR_AND_FAR                                                                               \
    SAMPLE("c2", "\"a\"", "gmp", 2, 0, OK(10, "1") PROBE(300, 310))                                \
    SAMPLE("c2", "\"a\"", "gmp", 2, 1, OK(12, "1") PROBE(290, 310))                                \
    SAMPLE("c2", "\"a\"", "gmp", 2, 2, OK(11, "1") PROBE(300, 320))                                \
    SAMPLE("c2", "\"a\"", "gmp", 2, 3, OK(2, "1") PROBE(300, 300) MARKED)                          \
    SAMPLE("c2", "\"a\"", "gmp", 2, 4, OK(30, "1") PROBE(50, 52))                                  \
    SAMPLE("c2", "\"a\"", "gmp", 2, 5, OK(31, "1") PROBE(51, 50))                                  \
    SAMPLE("c2", "\"a\"", "gmp", 2, 6, OK(32, "1") PROBE(51, 50))                                  \
    SAMPLE("c2", "\"a\"", "gmp", 2, 7, OK(20, "1") PROBE(50, 300))

static void cell_is_judged_at_the_most_common_distance(void **state)
{
    (void)state;
    samples_write(NEAR_AND_FAR SAMPLE("c3", "\"a\"", "grq", 2, 0, OK(5, "1") PROBE(50, 300)));
    expect("samples.tsv", "c2\t0\t", "a", "distance", "far");
    expect("samples.tsv", "c2\t4\t", "a", "distance", "near");
    expect("samples.tsv", "c2\t7\t", "a", "distance", "mixed");
    expect("samples.tsv", "c2\t3\t", "a", "marks", "steal");
    expect("samples.tsv", "c2\t3\t", "a", "line_ns", "300");
    expect("cells.tsv", "a", "c2", "class", "far");
    expect("cells.tsv", "a", "c2", "median", "11");
    expect("cells.tsv", "a", "c2", "n", "3");
    expect("cells.tsv", "a", "c2", "n_all", "8");
    expect("classes.tsv", "c2", "\tfar\t", "median", "11");
    expect("classes.tsv", "c2", "\tfar\t", "n", "4");
    expect("classes.tsv", "c2", "\tfar\t", "marked", "1");
    expect("classes.tsv", "c2", "\tnear\t", "median", "31");
    expect("classes.tsv", "c2", "\tmixed\t", "n", "1");
    expect("classes.tsv", "c2", "\t-\t", "n", "");
    /* too few at that distance: all, and it says so */
    expect("cells.tsv", "a", "c3", "class", "all");
    expect("cells.tsv", "a", "c3", "median", "5");
}

#define WHY(why) ",\"why\":\"" why "\""

/* Near in the blocks; the top-ups and repeats, of which there are more, came when it was far. */
#define TOPPED_UP                                                                                  \
    SAMPLE("c1", "\"a\"", "gmp", 2, 0, OK(10, "1") WHY("block") PROBE(50, 51))                     \
    SAMPLE("c1", "\"a\"", "gmp", 2, 1, OK(11, "1") WHY("block") PROBE(51, 50))                     \
    SAMPLE("c1", "\"a\"", "gmp", 2, 2, OK(4, "1") WHY("block") PROBE(350, 350))                    \
    SAMPLE("c1", "\"a\"", "gmp", 2, 3, OK(12, "1") WHY("top-up") PROBE(50, 50))                    \
    SAMPLE("c1", "\"a\"", "gmp", 2, 4, OK(5, "1") WHY("top-up") PROBE(350, 340))                   \
    SAMPLE("c1", "\"a\"", "gmp", 2, 5, OK(6, "1") WHY("top-up") PROBE(350, 340))                   \
    SAMPLE("c1", "\"a\"", "gmp", 2, 6, OK(7, "1") WHY("repeat") PROBE(350, 340))

static void common_distance_is_that_of_blocks(void **state)
{
    (void)state;
    samples_write(TOPPED_UP);
    expect("cells.tsv", "a", "c1", "class", "near");
    expect("cells.tsv", "a", "c1", "n", "3");
    expect("cells.tsv", "a", "c1", "median", "11");
}

static void cell_without_distances_leaves_out_marked_samples(void **state)
{
    (void)state;
    const char *text = SAMPLE("c1", "\"a\"", "gmp", 1, 0, OK(10, "1"))                        //
        SAMPLE("c1", "\"a\"", "gmp", 1, 1, OK(90, "1") MARKED ",\"steal_share\":0.25")        //
        SAMPLE("c1", "\"a\"", "gmp", 1, 2, OK(12, "1") ",\"allocator\":\"glibc\"")            //
        SAMPLE("c1", "\"a\"", "gmp", 1, 3, OK(11, "1") ",\"steal_share\":{\"absent\":\"x\"}") //
        SAMPLE("c2", "\"a\"", "grq", 1, 0, OK(10, "1") ",\"why\":\"top-up\"")                 //
        SAMPLE("c2", "\"a\"", "grq", 1, 1, OK(30, "1") MARKED);
    samples_write(text);
    expect("cells.tsv", "a", "c1", "class", "quiet");
    expect("cells.tsv", "a", "c1", "median", "11");
    expect("cells.tsv", "a", "c1", "n_all", "4");
    expect("cells.tsv", "a", "c2", "class", "all");
    expect("cells.tsv", "a", "c2", "median", "20");
    expect("classes.tsv", "c1", "\t-\t", "median", "11");
    expect("samples.tsv", "c1\t1\t", "a", "steal_share", "0.25");
    expect("samples.tsv", "c1\t3\t", "a", "steal_share", "NA");
    expect("samples.tsv", "c1\t2\t", "a", "allocator", "glibc");
    expect("samples.tsv", "c1\t2\t", "a", "distance", "NA");
    expect("samples.tsv", "c2\t0\t", "a", "why", "top-up");
    expect("samples.tsv", "c2\t1\t", "a", "why", "NA");
    expect("samples.tsv", "c2\t1\t", "a", "seed", "1");
}

static void efficiency_is_against_serial_or_else_against_itself(void **state)
{
    (void)state;
    char path[PATH_SIZE];
    path_of("plan.json", path);
    FILE *to = fopen(path, "w");
    fputs("{\"cells\":[{\"cell\":\"c4\",\"stop\":\"width\"}]}", to);
    fclose(to);
    samples_write(SAMPLE("c1", "\"a\"", "serial", 1, 0, OK(20, "1")) //
                  SAMPLE("c2", "\"a\"", "gmp", 1, 0, OK(10, "1"))    //
                  SAMPLE("c4", "\"a\"", "gmp", 4, 0, OK(36, "1")));  //
    expect("cells.tsv", "a", "c1", "vs_serial", "1");
    expect("cells.tsv", "a", "c2", "vs_serial", "0.5");
    expect("cells.tsv", "a", "c4", "vs_serial", "1.8");
    expect("cells.tsv", "a", "c4", "speedup", "3.6");
    expect("cells.tsv", "a", "c4", "efficiency", "0.45");
    expect("cells.tsv", "a", "c4", "stop", "width");
    expect("cells.tsv", "a", "c2", "stop", "NA");
    unlink(path);
    samples_write(SAMPLE("c2", "\"a\"", "gmp", 1, 0, OK(10, "1"))   //
                  SAMPLE("c4", "\"a\"", "gmp", 4, 0, OK(36, "1"))   //
                  SAMPLE("c5", "\"a\"", "grq", 4, 0, OK(36, "1"))); //
    expect("cells.tsv", "a", "c4", "vs_serial", "NA");
    expect("cells.tsv", "a", "c4", "efficiency", "0.9");
    expect("cells.tsv", "a", "c5", "efficiency", "NA");
}

static void speedup_is_over_a_cell_that_counts_the_same(void **state)
{
    (void)state;
    samples_write(SAMPLE("c1", "\"a\"", "gmp", 1, 0,
                         OK(10, "1") ",\"events\":[" EVENT("A", "\"value\":1") "]")
                      SAMPLE("c2", "\"b\"", "gmp", 1, 0,
                             OK(5, "1") ",\"events\":[" EVENT("B", "\"value\":1") "]")
                          SAMPLE("c3", "\"b\"", "gmp", 2, 0,
                                 OK(20, "1") ",\"events\":[" EVENT("B", "\"value\":1") "]"));
    expect("cells.tsv", "b", "c3", "speedup", "4");
}

/* A sample of uneven with tasks of so many rounds, 1e9 / ns of them a second. */
#define TASK(cell, variant, workers, rounds, throughput)                                           \
    "{\"schema\":2,\"cell\":\"" cell "\",\"groups\":[\"a\"],\"variant\":\"" variant                \
    "\",\"variant_name\":\"" variant "\",\"workload\":\"uneven,rounds=" #rounds                    \
    "\",\"workload_name\":\"uneven\",\"params\":{\"tasks\":9,\"rounds\":" #rounds                  \
    "},\"op\":\"task\",\"machine\":\"native\",\"seed\":1,\"workers\":" #workers                    \
    ",\"block\":0," OK(throughput, "1") "}\n"

static void metg_is_found_where_a_task_size_varies(void **state)
{
    (void)state;
    /* Serial tasks of 1 and 8 us; at 2 workers they take 4 (efficiency 1/4) and 8.889 us (0.9). */
    samples_write(TASK("s1", "serial", 1, 100, 1000000) TASK("s8", "serial", 1, 800, 125000) //
                  TASK("g1", "gmp", 2, 100, 500000) TASK("g8", "gmp", 2, 800, 225000)        //
                  TASK("p1", "perm", 2, 100, 1000) TASK("p8", "perm", 2, 800, 1000)          //
                  TASK("q1", "grq", 2, 100, 1900000) TASK("q8", "grq", 2, 800, 245000)       //
                  SAMPLE("c1", "\"a\"", "gmp", 2, 0, OK(10, "1")));
    expect("metg.tsv", "gmp", "uneven", "parameter", "rounds");
    expect("metg.tsv", "gmp", "uneven", "against", "serial");
    expect("metg.tsv", "gmp", "uneven", "points", "2");
    expect("metg.tsv", "gmp", "uneven", "smallest_ns", "4000");
    expect("metg.tsv", "gmp", "uneven", "where", "measured");
    double metg = strtod(field("metg.tsv", "gmp", "uneven", "metg_ns"), NULL);
    double large = 2e9 / 225000, expected = large * pow(4000 / large, 0.4 / 0.65);
    assert_true(fabs(metg - expected) < 1e-6 * expected);
    expect("metg.tsv", "perm", "uneven", "metg_ns", "NA");
    expect("metg.tsv", "perm", "uneven", "where", "above the largest measured");
    expect("metg.tsv", "grq", "uneven", "where", "below the smallest measured");
    expect("metg.tsv", "fib", "", "where", "");
    expect("metg.tsv", "serial\tserial", "", "where", "");
}

/* A sample of crowd: the ns of its two calls, for each of n goroutines, and the bytes of each. */
#define CROWD(cell, variant, n, warmup, first, later, bytes)                                       \
    "{\"schema\":2,\"cell\":\"" cell "\",\"groups\":[\"a\"],\"variant\":\"" variant                \
    "\",\"variant_name\":\"" variant "\",\"workload\":\"crowd,n=" #n                               \
    ",wait=sleep\",\"workload_name\":\"crowd\",\"params\":{\"n\":" #n ",\"wait\":\"sleep\"},"      \
    "\"op\":\"goroutine\",\"machine\":\"native\",\"seed\":1,\"workers\":1,\"block\":0,"            \
    "\"warmup\":" #warmup ",\"iterations\":[{\"time_ns\":" #first                                  \
    ",\"ops\":10},{\"time_ns\":" #later                                                            \
    ",\"ops\":10}],\"events\":[{\"name\":\"sde:::schedlab::PROCESS_MEMORY_PER_G\","                \
    "\"source\":\"sde\"," bytes "}]," OK(5, "1") "}\n"

static void scale_parts_the_first_round_from_later_ones(void **state)
{
    (void)state;
    samples_write(CROWD("k1", "gmp", 10, 0, 500, 30, "\"value\":4352")         //
                  CROWD("k2", "gmp", 20, 0, 700, 50, "\"absent\":\"too few\"") //
                  CROWD("w1", "grq", 10, 1, 40, 60, "\"value\":4352")          //
                  CROWD("w2", "grq", 20, 1, 40, 60, "\"value\":4352")          //
                  CROWD("x1", "perm", 10, 0, 40, 60, "\"value\":4352")         //
                  SAMPLE("c1", "\"a\"", "gmp", 1, 0, OK(10, "1")));
    expect("scale.tsv", "k1", "first_ns", "median", "50");
    expect("scale.tsv", "k1", "later_ns", "median", "3");
    expect("scale.tsv", "k1", "bytes", "median", "4352");
    expect("scale.tsv", "k1", "bytes", "workload", "crowd,wait=sleep");
    expect("scale.tsv", "k1", "bytes", "parameter", "n");
    expect("scale.tsv", "k2", "first_ns", "number", "20");
    expect("scale.tsv", "k2", "bytes", "median", "");
    expect("scale.tsv", "w1", "first_ns", "median", "");
    expect("scale.tsv", "w1", "later_ns", "median", "5");
    expect("scale.tsv", "x1", "", "median", ""); /* its number varies in no other cell */
    expect("scale.tsv", "c1", "", "median", "");
}

static void folder_without_samples_is_one_line(void **state)
{
    (void)state;
    struct error error = {0};
    assert_int_equal(tables_write("/nonexistent", &error), -1);
    assert_non_null(strstr(error.text, "/nonexistent/samples.jsonl: No such file"));
    assert_null(strchr(error.text, '\n'));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cell_row_holds_median_interval_and_speedup),
        cmocka_unit_test(intervals_begin_with_the_sixth_sample),
        cmocka_unit_test(cell_of_two_groups_has_a_row_in_each),
        cmocka_unit_test(failed_and_skipped_cells_have_no_numbers),
        cmocka_unit_test(wrong_digest_is_found_here_too),
        cmocka_unit_test(event_row_holds_the_median_or_why_there_is_none),
        cmocka_unit_test(events_counted_in_turns_are_medians_of_their_samples),
        cmocka_unit_test(latency_rows_are_medians_of_quantiles),
        cmocka_unit_test(rows_are_sorted_and_the_same_again),
        cmocka_unit_test(workloads_stand_in_the_order_of_their_numbers),
        cmocka_unit_test(cell_is_judged_at_the_most_common_distance),
        cmocka_unit_test(common_distance_is_that_of_blocks),
        cmocka_unit_test(cell_without_distances_leaves_out_marked_samples),
        cmocka_unit_test(efficiency_is_against_serial_or_else_against_itself),
        cmocka_unit_test(speedup_is_over_a_cell_that_counts_the_same),
        cmocka_unit_test(metg_is_found_where_a_task_size_varies),
        cmocka_unit_test(scale_parts_the_first_round_from_later_ones),
        cmocka_unit_test(folder_without_samples_is_one_line),
    };
    return cmocka_run_group_tests_name("tables", tests, folder_make, folder_remove);
}
