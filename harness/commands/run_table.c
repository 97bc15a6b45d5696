/* run_table.c - see run_table.h. */
#include "harness/commands/run_table.h"

#include "harness/base/json_fields.h"
#include "harness/base/memory.h"
#include "harness/base/statistics.h"
#include "harness/base/text.h"
#include "harness/base/units.h"
#include "harness/commands/commands.h"
#include "harness/counters/counter_names.h"
#include "harness/counters/counters.h"
#include "harness/records/cell_remarks.h"
#include "harness/records/comparable.h"
#include "harness/records/metric.h"
#include "harness/records/records.h"
#include "harness/spec/machine_start.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { COLUMNS = 100, CELL_SIZE = 32, EVENT_WIDTH = 36, VALUE_WIDTH_MIN = 9 };

/* Shown where no events were asked for by name, if they could be counted. */
static const char *const selection[] = {
    "PAPI_L1_DCM",
    "PAPI_L2_TCM",
    "PAPI_L3_TCM",
    "PAPI_TOT_CYC",
    "PAPI_TOT_INS",
    COUNTER_SDE_PREFIX "SIM_L1D_MISS",
    COUNTER_SDE_PREFIX "SIM_L2_MISS",
    COUNTER_SDE_PREFIX "SIM_L3_MISS",
    COUNTER_SDE_PREFIX "SIM_UPGRADES",
    COUNTER_SDE_PREFIX "SIM_TRANSFERS_CLEAN_NEAR",
    COUNTER_SDE_PREFIX "SIM_TRANSFERS_CLEAN_SOCKET",
    COUNTER_SDE_PREFIX "SIM_TRANSFERS_CLEAN_REMOTE",
    COUNTER_SDE_PREFIX "SIM_TRANSFERS_DIRTY_NEAR",
    COUNTER_SDE_PREFIX "SIM_TRANSFERS_DIRTY_SOCKET",
    COUNTER_SDE_PREFIX "SIM_TRANSFERS_DIRTY_REMOTE",
    COUNTER_SDE_PREFIX "SIM_BRANCH_MISSES",
    COUNTER_SDE_PREFIX "SIM_CYCLES",
    COUNTER_SDE_PREFIX "SIM_IDLE_NS",
    COUNTER_SDE_PREFIX "SIM_SPIN_NS",
    COUNTER_SDE_PREFIX "PROCESS_CPU_NS",
    COUNTER_SDE_PREFIX "PROCESS_SWITCHES",
    COUNTER_SDE_PREFIX "PROCESS_PREEMPTIONS",
    COUNTER_SDE_PREFIX "GRQ_LOCKS",
    COUNTER_SDE_PREFIX "GRQ_LOCK_WAITS",
    COUNTER_SDE_PREFIX "STEALS",
    COUNTER_SDE_PREFIX "STEALS_FAILED",
    COUNTER_SDE_PREFIX "MIGRATIONS",
    COUNTER_SDE_PREFIX "PARKS",
    COUNTER_SDE_PREFIX "WAKEUPS",
    COUNTER_SDE_PREFIX "LIVE_GS_PEAK",
    NULL,
};

/* Records ------------------------------------------------------------------------------------- */

static const json_t *record_first(const struct run_row *row, const char *status)
{
    size_t i;
    json_t *record;
    json_array_foreach(row->records, i, record) if (record_is(record, status)) return record;
    return NULL;
}

enum run_status run_row_status(const struct run_row *row)
{
    if (record_first(row, "failed"))
        return RUN_FAILED;
    return record_first(row, "ok") ? RUN_OK : RUN_SKIPPED;
}

static size_t count_of(const struct run_row *row, const char *status)
{
    size_t i, count = 0;
    json_t *record;
    json_array_foreach(row->records, i, record) count += record_is(record, status);
    return count;
}

static struct interval row_median(const struct run_table *table, const struct run_row *row,
                                  const struct metric *metric)
{
    double *x = xcalloc(json_array_size(row->records) + 1, sizeof *x);
    size_t i, n = 0;
    json_t *record;
    json_array_foreach(row->records, i, record)
    {
        double value = metric_of(metric, record);
        if (!isnan(value))
            x[n++] = value;
    }
    struct interval interval = statistics_median(x, n, table->seed);
    free(x);
    return interval;
}

static struct interval row_throughput(const struct run_table *table, const struct run_row *row)
{
    return row_median(table, row, &(struct metric){.kind = METRIC_THROUGHPUT});
}

/* NAN if absent. */
static double row_event(const struct run_table *table, const struct run_row *row, const char *name)
{
    return row_median(table, row, &(struct metric){.kind = METRIC_EVENT, .name = name}).median;
}

static const struct {
    const char *name, *key;
    double quantile;
} quantiles[] = {{"p50", "p50_ns", 0.5},
                 {"p90", "p90_ns", 0.9},
                 {"p99", "p99_ns", 0.99},
                 {"p99.9", "p999_ns", 0.999},
                 {"max", "max_ns", 1}};

enum { QUANTILES = sizeof quantiles / sizeof quantiles[0] };

/* NAN if the row is not ok, or its workload has no latencies or too few for the quantile. */
static double row_latency_ns(const struct run_table *table, const struct run_row *row, int which)
{
    struct metric metric = {.kind = METRIC_LATENCY, .quantile = quantiles[which].quantile};
    return run_row_status(row) == RUN_OK ? row_median(table, row, &metric).median : NAN;
}

static bool row_has_latencies(const struct run_row *row)
{
    return json_object_get(record_first(row, "ok"), "latency") != NULL;
}

/* Numbers for people -------------------------------------------------------------------------- */

/* Four significant digits and a prefix: "12.34 M". */
static char *rate_text(double rate, char text[CELL_SIZE])
{
    static const struct {
        double from;
        const char *prefix;
    } prefixes[] = {{1e9, " G"}, {1e6, " M"}, {1e3, " k"}, {0, "  "}};
    int i = 0;
    while (fabs(rate) < prefixes[i].from)
        i++;
    snprintf(text, CELL_SIZE, "%.4g%s", prefixes[i].from > 0 ? rate / prefixes[i].from : rate,
             prefixes[i].prefix);
    return text;
}

/* Plain and short: "0.0312", "1024", "3.1e-07". */
static char *value_text(double value, char text[CELL_SIZE])
{
    if (isnan(value))
        snprintf(text, CELL_SIZE, "-");
    else if (value >= 100 && value < 1e9)
        snprintf(text, CELL_SIZE, "%.0f", value);
    else
        snprintf(text, CELL_SIZE, "%.3g", value);
    return text;
}

/* Throughput ---------------------------------------------------------------------------------- */

static int variant_width(const struct run_table *table)
{
    size_t width = strlen("variant");
    for (size_t i = 0; i < table->count; i++)
        if (strlen(table->rows[i].label) > width)
            width = strlen(table->rows[i].label);
    return (int)width;
}

static void print_row(const struct run_table *table, const struct run_row *row, int width, FILE *to)
{
    char median[CELL_SIZE], lo[CELL_SIZE], hi[CELL_SIZE], range[3 * CELL_SIZE];
    snprintf(range, sizeof range, "too few: it takes %d", STATISTICS_INTERVAL_MIN);
    enum run_status status = run_row_status(row);
    size_t all = json_array_size(row->records);
    fprintf(to, "%-*s ", width, row->label);
    if (status == RUN_OK) {
        struct interval interval = row_throughput(table, row);
        if (statistics_has_interval(interval))
            snprintf(range, sizeof range, "%10s to %10s", rate_text(interval.lo, lo),
                     rate_text(interval.hi, hi));
        fprintf(to, "%10s  %24s %4zu  ok\n", rate_text(interval.median, median), range, interval.n);
    } else if (status == RUN_FAILED) {
        fprintf(to, "%10s  %24s %4zu  failed (%zu of %zu)\n", "-", "", count_of(row, "ok"),
                count_of(row, "failed"), all);
    } else {
        fprintf(to, "%10s  %24s %4d  skipped\n", "-", "", 0);
    }
}

static void print_throughput(const struct run_table *table, FILE *to)
{
    int width = variant_width(table);
    fprintf(to, "%s, %s; operations of one %s\n", table->workload,
            counted((uint64_t)table->workers, "worker").s, table->op);
    if (machine_text_is_simulated(table->machine))
        fprintf(to, "simulated: %s; all times are virtual\n", table->machine);
    fputc('\n', to);
    fprintf(to, "%-*s %10s  %24s %4s  %s\n", width, "variant", "ops/s  ", "95 % interval  ", "n",
            "status");
    for (size_t i = 0; i < table->count; i++)
        print_row(table, &table->rows[i], width, to);
}

/* What if ------------------------------------------------------------------------------------- */

static size_t row_throughputs(const struct run_row *row, double **x)
{
    size_t i, n = 0;
    json_t *record;
    *x = xcalloc(json_array_size(row->records) + 1, sizeof **x);
    json_array_foreach(row->records, i, record)
    {
        double value = metric_of(&(struct metric){.kind = METRIC_THROUGHPUT}, record);
        if (!isnan(value))
            (*x)[n++] = value;
    }
    return n;
}

/* Of row i + 1 over row i: by repetition, whose seeds are the same, unless some have failed. */
static struct interval what_if_ratio(const struct run_table *table, size_t i)
{
    double *with, *without;
    size_t n = row_throughputs(&table->rows[i + 1], &with);
    size_t n_without = row_throughputs(&table->rows[i], &without);
    struct interval ratio = n == n_without
                                ? statistics_paired_ratio(with, without, n, table->seed)
                                : statistics_ratio(with, n, without, n_without, table->seed);
    free(with);
    free(without);
    return ratio;
}

static void print_what_if(const struct run_table *table, FILE *to)
{
    int width = variant_width(table);
    if (!table->what_if)
        return;
    fprintf(to, "\n%-*s %10s  %24s   what if: %s\n", width, "what it would buy", "ops/s",
            "95 % interval  ", table->what_if);
    for (size_t i = 0; i + 1 < table->count; i += 2) {
        struct interval ratio = what_if_ratio(table, i);
        if (isnan(ratio.median))
            fprintf(to, "%-*s %10s\n", width, table->rows[i].label, "-");
        else
            fprintf(to, "%-*s %9.2fx  %24s\n", width, table->rows[i].label, ratio.median,
                    text_ratio_interval(ratio).s);
    }
}

json_t *run_table_what_if(const struct run_table *table)
{
    json_t *array = json_array();
    for (size_t i = 0; table->what_if && i + 1 < table->count; i += 2) {
        struct interval ratio = what_if_ratio(table, i);
        if (isnan(ratio.median))
            continue;
        json_t *line = json_pack("{ss ss sf}", "variant", table->rows[i].variant, "what_if",
                                 table->what_if, "ratio", ratio.median);
        interval_into_json(line, ratio);
        json_array_append_new(array, line);
    }
    return array;
}

/* Latencies ----------------------------------------------------------------------------------- */

static void print_latencies(const struct run_table *table, FILE *to)
{
    bool any = false;
    int width = variant_width(table);
    for (size_t i = 0; i < table->count; i++)
        any = any || row_has_latencies(&table->rows[i]);
    if (!any)
        return;
    fprintf(to, "\n%-*s", width, "latency");
    for (int q = 0; q < QUANTILES; q++)
        fprintf(to, " %10s", quantiles[q].name);
    for (size_t i = 0; i < table->count; i++) {
        fprintf(to, "\n%-*s", width, table->rows[i].label);
        for (int q = 0; q < QUANTILES; q++) {
            struct text text = text_time(row_latency_ns(table, &table->rows[i], q));
            fprintf(to, " %*s", text_field(text, 10), text.s);
        }
    }
    fputc('\n', to);
}

/* Events -------------------------------------------------------------------------------------- */

/* Whether some variant has a value, and, in a selection, one that is not zero. */
static bool event_is_shown(const struct run_table *table, const char *name)
{
    for (size_t i = 0; i < table->count; i++) {
        double value = row_event(table, &table->rows[i], name);
        if (!isnan(value) && (table->all_events || value != 0))
            return true;
    }
    return false;
}

static const char *without_prefix(const char *name)
{
    size_t length = strlen(COUNTER_SDE_PREFIX);
    return strncmp(name, COUNTER_SDE_PREFIX, length) == 0 ? name + length : name;
}

static int value_width(const struct run_row *row)
{
    int width = (int)strlen(row->label);
    return width < VALUE_WIDTH_MIN ? VALUE_WIDTH_MIN : width;
}

static void print_event(const struct run_table *table, const char *name, size_t from, size_t to_row,
                        FILE *to)
{
    int index = counter_sde_find(name);
    char label[EVENT_WIDTH + 1];
    if (!event_is_shown(table, name))
        return;
    enum counter_kind kind = index >= 0 ? counter_sde_kind(index) : COUNTER_SUM;
    snprintf(label, sizeof label, "%s%s", without_prefix(name),
             kind == COUNTER_PEAK || kind == COUNTER_RUN_PEAK ? " (peak)"
             : kind == COUNTER_LEVEL                          ? " (at end)"
                                                              : "");
    fprintf(to, "%-*s", EVENT_WIDTH, label);
    for (size_t i = from; i < to_row; i++) {
        char text[CELL_SIZE];
        fprintf(to, " %*s", value_width(&table->rows[i]),
                value_text(row_event(table, &table->rows[i], name), text));
    }
    fputc('\n', to);
}

/* The events of rows [from, to_row). */
static void print_events_of(const struct run_table *table, const json_t *record, size_t from,
                            size_t to_row, FILE *to)
{
    fprintf(to, "\n%-*s", EVENT_WIDTH, "events per operation");
    for (size_t i = from; i < to_row; i++)
        fprintf(to, " %*s", value_width(&table->rows[i]), table->rows[i].label);
    fputc('\n', to);
    size_t i;
    json_t *event;
    if (!table->all_events) {
        for (const char *const *name = selection; *name; name++)
            print_event(table, *name, from, to_row, to);
        return;
    }
    json_array_foreach(json_object_get(record, "events"), i, event)
        print_event(table, field_text(event, "name"), from, to_row, to);
}

static const json_t *any_ok_record(const struct run_table *table)
{
    const json_t *record = NULL;
    for (size_t i = 0; i < table->count && !record; i++)
        record = record_first(&table->rows[i], "ok");
    return record;
}

static bool any_event_shown(const struct run_table *table, const json_t *record)
{
    size_t i;
    json_t *event;
    json_array_foreach(json_object_get(record, "events"), i,
                       event) if (event_is_shown(table, field_text(event, "name"))) return true;
    return false;
}

/* As many variants side by side as the page has room for. */
static void print_events(const struct run_table *table, FILE *to)
{
    const json_t *record = any_ok_record(table);
    if (!record || !any_event_shown(table, record))
        return;
    size_t from = 0;
    while (from < table->count) {
        size_t end = from;
        int width = EVENT_WIDTH;
        do {
            width += 1 + value_width(&table->rows[end++]);
        } while (end < table->count && width + 1 + value_width(&table->rows[end]) <= COLUMNS);
        print_events_of(table, record, from, end, to);
        from = end;
    }
}

/* Remarks ------------------------------------------------------------------------------------- */

/* Adds event to object[reason][name], an array of the variants that lack it. */
static void absent_add(json_t *by_reason, const char *reason, const char *name, const char *variant)
{
    json_t *names = json_object_get(by_reason, reason);
    if (!names) {
        names = json_object();
        json_object_set_new(by_reason, reason, names);
    }
    json_t *variants = json_object_get(names, name);
    if (!variants) {
        variants = json_array();
        json_object_set_new(names, name, variants);
    }
    json_array_append_new(variants, json_string(variant));
}

/* Reasons that come of the variant, not of this machine, are left out of a selection, and so is
 * what another repetition has counted. */
static void absent_collect(const struct run_table *table, const struct run_row *row,
                           json_t *by_reason)
{
    size_t i;
    json_t *event;
    json_array_foreach(json_object_get(record_first(row, "ok"), "events"), i, event)
    {
        const char *absent = field_text(event, "absent");
        bool own = strcmp(field_text(event, "source"), "sde") == 0;
        bool elsewhere = strcmp(absent, COUNTERS_ELSEWHERE) == 0 &&
                         !isnan(row_event(table, row, field_text(event, "name")));
        if (*absent && !elsewhere && (!own || table->all_events))
            absent_add(by_reason, absent, field_text(event, "name"), row->label);
    }
}

/* In one line: "a, b (why); c in kthread (why)". */
static void print_absent(const struct run_table *table, FILE *messages)
{
    json_t *by_reason = json_object();
    size_t ok_rows = 0;
    for (size_t i = 0; i < table->count; i++) {
        ok_rows += record_first(&table->rows[i], "ok") != NULL;
        absent_collect(table, &table->rows[i], by_reason);
    }
    const char *reason, *name, *separator = "schedlab run: not counted: ";
    json_t *names, *variants;
    json_object_foreach(by_reason, reason, names)
    {
        const json_t *last = NULL;
        json_object_foreach(names, name, variants)
        {
            fprintf(messages, "%s%s", separator, name);
            separator = ", ";
            last = variants;
        }
        for (size_t i = 0; json_array_size(last) < ok_rows && i < json_array_size(last); i++)
            fprintf(messages, "%s%s", i ? ", " : " in ",
                    json_string_value(json_array_get(last, i)));
        fprintf(messages, " (%s)", reason);
        separator = "; ";
    }
    if (json_object_size(by_reason) > 0)
        fputc('\n', messages);
    json_decref(by_reason);
}

static bool is_selected(const char *event)
{
    for (const char *const *name = selection; *name; name++)
        if (strcmp(*name, event) == 0)
            return true;
    return false;
}

static bool is_counted(const struct run_table *table, const char *event)
{
    for (size_t i = 0; i < table->count; i++)
        if (!isnan(row_event(table, &table->rows[i], event)))
            return true;
    return false;
}

/* In one line: which events were counted, but have no row in the table; the first few by name. */
static void print_left_out(const struct run_table *table, FILE *messages)
{
    enum { NAMED = 6 };
    size_t i, count = 0;
    json_t *event;
    if (table->all_events)
        return;
    json_array_foreach(json_object_get(any_ok_record(table), "events"), i, event)
    {
        const char *name = field_text(event, "name");
        if (!is_counted(table, name) || (is_selected(name) && event_is_shown(table, name)))
            continue;
        if (count < NAMED)
            fprintf(messages, "%s%s",
                    count ? ", " : "schedlab run: counted, but not shown: ", without_prefix(name));
        count++;
    }
    if (count > NAMED)
        fprintf(messages, " and %zu more", count - NAMED);
    if (count > 0)
        fprintf(messages, "; `--format json` shows all\n");
}

static void print_cut_short(const struct run_table *table, FILE *messages)
{
    size_t i, cut = 0, all = 0;
    const json_t *record;
    for (size_t row = 0; row < table->count; row++) {
        all += json_array_size(table->rows[row].records);
        json_array_foreach(table->rows[row].records, i, record) cut +=
            json_object_get(record, "short_ns") != NULL;
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

/* Whether output is the reason's line and nothing else, but for who says it. */
static bool repeats(const char *reason, const char *output)
{
    size_t length = strcspn(output, "\n"), reason_length = strlen(reason);
    return output[length + (output[length] == '\n')] == '\0' &&
           (ends_in(output, length, reason, reason_length) ||
            ends_in(reason, reason_length, output, length));
}

static void print_reasons(const struct run_table *table, FILE *messages)
{
    for (size_t i = 0; i < table->count; i++) {
        const struct run_row *row = &table->rows[i];
        const json_t *record = record_first(row, "failed");
        if (!record && run_row_status(row) == RUN_SKIPPED)
            record = record_first(row, "skipped");
        if (!record)
            continue;
        fprintf(messages, "schedlab run: %s %s: %s\n", row->label, field_text(record, "status"),
                field_text(record, "reason"));
        const char *output = field_text(record, "output");
        if (*output && !repeats(field_text(record, "reason"), output))
            fprintf(messages, "%s%s", output, output[strlen(output) - 1] == '\n' ? "" : "\n");
    }
}

/* What the workload itself has to show, of the first repetition. */
static void print_shown(const struct run_table *table, FILE *to)
{
    for (size_t i = 0; i < table->count; i++) {
        const char *shown = field_text(record_first(&table->rows[i], "ok"), "print");
        if (*shown)
            fprintf(to, "\n%s:\n%s%s", table->rows[i].label, shown,
                    shown[strlen(shown) - 1] == '\n' ? "" : "\n");
    }
}

/* The tables are over all repetitions, whatever the machine did. */
static void print_marked(const struct run_table *table, FILE *messages)
{
    size_t i, marked = 0, all = 0;
    const json_t *record;
    for (size_t row = 0; row < table->count; row++) {
        all += json_array_size(table->rows[row].records);
        json_array_foreach(table->rows[row].records, i, record) marked +=
            record_is(record, "ok") && comparable_is_marked(record);
    }
    if (marked > 0)
        fprintf(
            messages,
            "schedlab run: %zu of %zu repetitions lost time to other programs, the hypervisor or "
            "heat; the medians are over all, `schedlab sweep` leaves such out\n",
            marked, all);
}

static void print_moods(const struct run_table *table, FILE *messages)
{
    struct comparable classes;
    size_t i, count[MOOD_MIXED + 1] = {0};
    const json_t *record;
    json_t *records = json_array();
    for (size_t row = 0; row < table->count; row++)
        json_array_extend(records, table->rows[row].records);
    comparable_learn(&classes, records);
    json_array_foreach(records, i, record) count[comparable_mood(&classes, record)]++;
    json_decref(records);
    if ((count[MOOD_NEAR] > 0) + (count[MOOD_FAR] > 0) + (count[MOOD_MIXED] > 0) < 2)
        return;
    fprintf(
        messages,
        "schedlab run: the machine was in several moods: %zu near (%.0f ns from core to core and "
        "back), %zu far (%.0f ns), %zu in between; the medians are over all, `schedlab sweep` "
        "compares within one\n",
        count[MOOD_NEAR], classes.moods.near_ns, count[MOOD_FAR], classes.moods.far_ns,
        count[MOOD_MIXED]);
}

static void print_sysmon(const struct run_table *table, FILE *messages)
{
    char text[CELL_REMARK_SIZE];
    for (size_t row = 0; row < table->count; row++)
        if (cell_remark_sysmon(table->rows[row].records, text))
            fprintf(messages, "schedlab run: %s: %s\n", table->rows[row].label, text);
}

void run_table_print(const struct run_table *table, FILE *to, FILE *messages)
{
    print_throughput(table, to);
    print_what_if(table, to);
    print_latencies(table, to);
    print_events(table, to);
    print_shown(table, to);
    fflush(to);
    print_cut_short(table, messages);
    print_marked(table, messages);
    print_moods(table, messages);
    print_sysmon(table, messages);
    print_left_out(table, messages);
    print_absent(table, messages);
    print_reasons(table, messages);
}

static json_t *latencies_to_json(const struct run_table *table, const struct run_row *row)
{
    json_t *object = json_object();
    for (int q = 0; q < QUANTILES; q++) {
        double ns = row_latency_ns(table, row, q);
        json_object_set_new(object, quantiles[q].key,
                            isnan(ns) ? json_pack("{ss}", "absent", "too few latencies lie beyond")
                                      : json_real(ns));
    }
    return object;
}

json_t *run_table_summary(const struct run_table *table)
{
    static const char *const names[] = {
        [RUN_OK] = "ok", [RUN_FAILED] = "failed", [RUN_SKIPPED] = "skipped"};
    json_t *array = json_array();
    for (size_t i = 0; i < table->count; i++) {
        const struct run_row *row = &table->rows[i];
        enum run_status status = run_row_status(row);
        struct interval interval = row_throughput(table, row);
        json_t *line = json_pack("{ss ss si ss sI}", "variant", row->variant, "workload",
                                 table->workload, "workers", table->workers, "status",
                                 names[status], "n", (json_int_t)interval.n);
        if (row->machine)
            json_object_set_new(line, "machine", json_string(row->machine));
        if (status == RUN_OK) {
            json_object_set_new(line, "median", json_real(interval.median));
            interval_into_json(line, interval);
            if (row_has_latencies(row))
                json_object_set_new(line, "latency", latencies_to_json(table, row));
        }
        json_array_append_new(array, line);
    }
    return array;
}

json_t *run_table_records(const struct run_table *table)
{
    json_t *records = json_array();
    for (size_t i = 0; i < table->count; i++)
        json_array_extend(records, table->rows[i].records);
    return records;
}

int run_table_status(const struct run_table *table)
{
    bool any_ok = false, any_failed = false;
    for (size_t i = 0; i < table->count; i++) {
        enum run_status status = run_row_status(&table->rows[i]);
        any_ok = any_ok || status == RUN_OK;
        any_failed = any_failed || status == RUN_FAILED;
    }
    return any_ok && !any_failed ? EXIT_DONE : EXIT_FAILED;
}
