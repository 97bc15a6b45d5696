/* run_table.c - see run_table.h. */
#include "harness/run/run_table.h"

#include "harness/base/json_fields.h"
#include "harness/base/memory.h"
#include "harness/base/term_table.h"
#include "harness/base/text.h"
#include "harness/evidence/cell_remarks.h"
#include "harness/evidence/comparable.h"
#include "harness/evidence/request_table.h"
#include "harness/models/machine_start.h"
#include "harness/numbers/statistics.h"
#include "harness/numbers/units.h"
#include "harness/records/records.h"
#include "harness/run/run_events.h"

#include <stdlib.h>
#include <string.h>

enum { INTERVAL_WIDTH = 21, BESIDE_WIDTH = 10 };

static const struct term_layout layout = {.gap = 1, .width = RUN_COLUMNS, .first_most = 32};

/* Numbers ------------------------------------------------------------------------------------- */

static size_t count_of(const struct run_row *row, const char *status)
{
    size_t count = 0;
    json_each(record, row->records)
        count += record_is(record, status);
    return count;
}

/* Throughput ---------------------------------------------------------------------------------- */

/* One repetition on a simulated machine is all there is to know of its seed. */
static struct text interval_text(const struct run_table *table, struct interval interval)
{
    if (machine_text_is_simulated(table->machine) && interval.n == 1)
        return (struct text){"exact"};
    return text_si_interval(interval);
}

static void add_numbers(const struct run_table *table, const struct run_answer *answer,
                        const struct run_row *row, struct term_table *numbers)
{
    double *x;
    size_t n = run_row_values(row, &(struct metric){.kind = METRIC_THROUGHPUT}, &x);
    struct interval interval = statistics_median(x, n, table->seed);
    free(x);
    term_table_row(numbers, row->label, text_si(interval.median).s,
                   interval_text(table, interval).s, NULL);
    term_table_cell(numbers, "%zu", n);
    if (run_answer_competes(answer))
        term_table_cell(numbers, "%s", run_answer_beside(answer, row).s);
}

/* "failed 2 of 7: REASON", over as many lines as it takes. */
static void add_reason(const struct run_row *row, struct term_table *numbers)
{
    const char *status = run_row_status(row) == RUN_FAILED ? "failed" : "skipped";
    size_t some = count_of(row, status), all = json_array_size(row->records);
    char *share = some < all ? text_format(" %zu of %zu", some, all) : xstrdup("");
    char *text =
        text_format("%s%s: %s", status, share, field_text(run_row_first(row, status), "reason"));
    term_table_row(numbers, row->label, NULL);
    term_table_text(numbers, "%s", text_one_line(text));
    free(share);
    free(text);
}

static const char *row_colour(const struct run_answer *answer, const struct run_row *row)
{
    switch (run_row_status(row)) {
    case RUN_FAILED:
        return "\033[31m";
    case RUN_SKIPPED:
        return "\033[2m";
    default:
        return run_answer_is_best(answer, row) ? "\033[1;32m" : "";
    }
}

static struct term_table *numbers_new(const struct run_table *table,
                                      const struct run_answer *answer)
{
    if (table->is_shown)
        return term_table_new(layout, TERM_COLUMNS({"", -7}));
    struct term_table *numbers =
        term_table_new(layout, TERM_COLUMNS({"variant", -1}, {"ops/s", 9},
                                            {"95 % interval", INTERVAL_WIDTH}, {"n", 4}));
    if (run_answer_competes(answer))
        term_table_column(numbers, "slower by", BESIDE_WIDTH);
    return numbers;
}

static void print_throughput(const struct run_table *table, const struct run_answer *answer,
                             FILE *to)
{
    struct term_table *numbers = numbers_new(table, answer);
    fprintf(to, "%s, %s", table->workload, counted((uint64_t)table->workers, "worker").s);
    if (!table->is_shown)
        fprintf(to, "; operations of one %s", table->op);
    fputc('\n', to);
    if (machine_text_is_simulated(table->machine))
        fprintf(to, "simulated: %s; all times are virtual\n", table->machine);
    fputs(table->is_shown ? "" : "\n", to);
    for (size_t i = 0; i < table->count; i++) {
        const struct run_row *row = &table->rows[i];
        if (run_row_status(row) != RUN_OK)
            add_reason(row, numbers);
        else if (!table->is_shown)
            add_numbers(table, answer, row, numbers);
        else
            continue;
        term_table_colour(numbers, table->colour ? row_colour(answer, row) : "");
    }
    term_table_print(numbers, to);
}

static void print_what_if(const struct run_table *table, FILE *to)
{
    if (!table->what_if)
        return;
    struct term_table *ratios =
        term_table_new(layout, TERM_COLUMNS({"what it would buy", -1}, {"ops/s", 9},
                                            {"95 % interval", INTERVAL_WIDTH}));
    fprintf(to, "\nwhat if: %s\n", table->what_if);
    for (size_t i = 0; i + 1 < table->count; i += 2) {
        struct interval ratio = run_table_what_if_ratio(table, i);
        term_table_row(ratios, table->rows[i].label, text_ratio(ratio.median).s,
                       ratio.n == 1 ? "exact" : text_ratio_interval(ratio).s, NULL);
    }
    term_table_print(ratios, to);
}

/* Latencies ----------------------------------------------------------------------------------- */

static bool row_has_latencies(const struct run_row *row)
{
    return run_row_status(row) == RUN_OK &&
           json_object_get(run_row_first(row, "ok"), "latency") != NULL;
}

static void print_latencies(const struct run_table *table, FILE *to)
{
    bool any = false;
    for (size_t i = 0; i < table->count; i++)
        any = any || row_has_latencies(&table->rows[i]);
    if (!any)
        return;
    struct term_table *latencies = term_table_new(layout, TERM_COLUMNS({"latency", -1}));
    for (int q = 0; q < RUN_QUANTILES; q++)
        term_table_column(latencies, run_quantiles[q].name, 8);
    for (size_t i = 0; i < table->count; i++) {
        if (!row_has_latencies(&table->rows[i]))
            continue;
        term_table_row(latencies, table->rows[i].label, NULL);
        for (int q = 0; q < RUN_QUANTILES; q++)
            term_table_cell(latencies, "%s", text_time(run_row_latency_ns(&table->rows[i], q)).s);
    }
    fputc('\n', to);
    term_table_print(latencies, to);
}

/* Shown by the workload ------------------------------------------------------------------------ */

/* "gmp", or where that is the result "gmp, the same in 7 of 7 repetitions". */
static void print_shown_heading(const struct run_table *table, const struct run_row *row,
                                const char *shown, FILE *to)
{
    size_t same = 0, all = count_of(row, "ok");
    json_each(record, row->records)
        same += strcmp(field_text(record, "print"), shown) == 0;
    fprintf(to, "\n%s", row->label);
    if (table->is_shown && all > 1 && same == all)
        fprintf(to, ", the same in %zu of %zu repetitions", same, all);
    else if (table->is_shown && all > 1)
        fprintf(to, ", the first of %zu repetitions (%zu %s from it)", all, all - same,
                all - same == 1 ? "differs" : "differ");
    fputs(":\n", to);
}

/* Prints what the first repetition printed, and where its requests' time went. */
static void print_shown(const struct run_table *table, FILE *to)
{
    for (size_t i = 0; i < table->count; i++) {
        const json_t *first = run_row_first(&table->rows[i], "ok");
        const char *shown = field_text(first, "print");
        char *parts = request_table(first);
        if (*shown || *parts) {
            print_shown_heading(table, &table->rows[i], shown, to);
            fprintf(to, "%s%s%s", shown, *shown && shown[strlen(shown) - 1] != '\n' ? "\n" : "",
                    parts);
        }
        free(parts);
    }
}

/* Remarks ------------------------------------------------------------------------------------- */

static void print_cut_short(const struct run_table *table, FILE *messages)
{
    size_t cut = 0, all = 0;
    for (size_t row = 0; row < table->count; row++) {
        all += json_array_size(table->rows[row].records);
        json_each(record, table->rows[row].records)
            cut += json_object_get(record, "short_ns") != NULL;
    }
    if (cut > 0)
        fprintf(messages,
                "schedlab run: %zu of %zu repetitions ended before their calls took --min-time: "
                "the calls are very short\n",
                cut, all);
}

static bool ends_in(const char *text, size_t length, const char *end, size_t end_length)
{
    return length >= end_length && memcmp(text + length - end_length, end, end_length) == 0;
}

/* True if output is the reason's line and nothing else, but for the name before it. */
static bool repeats(const char *reason, const char *output)
{
    size_t length = strcspn(output, "\n"), reason_length = strlen(reason);
    return output[length + (output[length] == '\n')] == '\0' &&
           (ends_in(output, length, reason, reason_length) ||
            ends_in(reason, reason_length, output, length));
}

/* Why some failed, which is in the table too, and what they said themselves. */
static void print_failures(const struct run_table *table, FILE *messages)
{
    for (size_t i = 0; i < table->count; i++) {
        const struct run_row *row = &table->rows[i];
        const json_t *record = run_row_first(row, "failed");
        if (!record)
            continue;
        const char *reason = field_text(record, "reason"), *output = field_text(record, "output");
        fprintf(messages, "schedlab run: %s failed: %s\n", row->label, reason);
        if (*output && !repeats(reason, output))
            fprintf(messages, "%s%s", output, output[strlen(output) - 1] == '\n' ? "" : "\n");
    }
}

/* Marked repetitions are left out, where as many others could be measured. */
static void print_marked(const struct run_table *table, FILE *messages)
{
    size_t marked = 0, kept = 0, all = 0;
    bool repeated = false;
    for (size_t i = 0; i < table->count; i++) {
        const struct run_row *row = &table->rows[i];
        all += json_array_size(row->records);
        repeated = repeated || json_array_size(row->records) > (size_t)table->reps;
        json_each(record, row->records) {
            bool is_marked = record_is(record, "ok") && comparable_is_marked(record);
            marked += is_marked;
            kept += is_marked && run_row_counts(row, record);
        }
    }
    if (marked == 0)
        return;
    fprintf(messages,
            "schedlab run: %zu of %zu repetitions lost time to other programs, the hypervisor or "
            "heat; ",
            marked, all);
    if (kept == 0)
        fprintf(messages, "others were measured in their place, and they are left out\n");
    else if (!repeated)
        fprintf(messages, "so few are not measured again, and all count\n");
    else
        fprintf(messages,
                "they were measured again, but most of some rows lost time each time: %zu count\n",
                kept);
}

static void print_distances(const struct run_table *table, FILE *messages)
{
    struct comparable classes;
    size_t count[DISTANCE_MIXED + 1] = {0};
    json_t *records = run_table_records(table);
    comparable_learn(&classes, records);
    json_each(record, records)
        count[comparable_distance(&classes, record)]++;
    json_decref(records);
    if ((count[DISTANCE_NEAR] > 0) + (count[DISTANCE_FAR] > 0) + (count[DISTANCE_MIXED] > 0) < 2)
        return;
    fprintf(messages,
            "schedlab run: the cores were at several distances: %zu near (%.0f ns from core to "
            "core and back), %zu far (%.0f ns), %zu in between; the medians are over all, "
            "`schedlab sweep` compares within one\n",
            count[DISTANCE_NEAR], classes.distances.near_ns, count[DISTANCE_FAR],
            classes.distances.far_ns, count[DISTANCE_MIXED]);
}

/* Why there is no table of where requests' time goes, each reason once: behind a semicolon stands
 * the command for that row. */
static void print_parts_absent(const struct run_table *table, FILE *messages)
{
    for (size_t i = 0; i < table->count; i++) {
        const char *why = request_table_absent(run_row_first(&table->rows[i], "ok"));
        bool told = !*why;
        for (size_t k = 0; k < i && !told; k++) {
            const char *before = request_table_absent(run_row_first(&table->rows[k], "ok"));
            told = *before && strncmp(why, before, strcspn(why, ";")) == 0;
        }
        if (!told)
            fprintf(messages, "schedlab run: where a request's time goes: absent (%s)\n", why);
    }
}

static void print_remarks(const struct run_table *table, FILE *messages)
{
    char text[CELL_REMARK_SIZE];
    for (size_t i = 0; i < table->count; i++) {
        const struct run_row *row = &table->rows[i];
        if (cell_remark_sysmon(row->records, text))
            fprintf(messages, "schedlab run: %s: %s\n", row->label, text);
        if (cell_remark_regimes(row->records, text))
            fprintf(messages, "schedlab run: %s: %s\n", row->label, text);
        if (cell_remark_wasted(row->records, text))
            fprintf(messages, "schedlab run: %s: %s\n", row->label, text);
    }
}

void run_table_print(const struct run_table *table, const struct run_answer *answer, FILE *to,
                     FILE *messages)
{
    print_throughput(table, answer, to);
    print_what_if(table, to);
    print_latencies(table, to);
    if (!table->is_shown || table->events != RUN_EVENTS_TELLING)
        run_events_print(table, to, messages);
    print_shown(table, to);
    fflush(to);
    print_failures(table, messages);
    if (!run_table_any_ok(table))
        fprintf(messages, "schedlab run: no variant has a result\n");
    if (table->is_shown)
        return;
    print_cut_short(table, messages);
    print_marked(table, messages);
    print_distances(table, messages);
    print_parts_absent(table, messages);
    print_remarks(table, messages);
}
