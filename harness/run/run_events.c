/* run_events.c - see run_events.h. */
#include "harness/run/run_events.h"

#include "harness/base/json_fields.h"
#include "harness/base/memory.h"
#include "harness/base/term_table.h"
#include "harness/counters/counter_names.h"
#include "harness/counters/counters.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CELL_SIZE = 32, LABEL_SIZE = 64, VALUE_WIDTH_MIN = 9, TELLING = 3 };

/* The events that may be among the three. The first one comes first if several differ as much. */
static const char *const candidates[] = {
    COUNTER_SDE_PREFIX "PROCESS_CPU_NS",
    COUNTER_SDE_PREFIX "SIM_CYCLES",
    COUNTER_SDE_PREFIX "PARKS",
    COUNTER_SDE_PREFIX "STEALS",
    COUNTER_SDE_PREFIX "GRQ_LOCKS",
    COUNTER_SDE_PREFIX "GRQ_LOCK_WAITS",
    COUNTER_SDE_PREFIX "STEALS_FAILED",
    COUNTER_SDE_PREFIX "MIGRATIONS",
    COUNTER_SDE_PREFIX "WAKEUPS",
    COUNTER_SDE_PREFIX "LIVE_GS_PEAK",
    COUNTER_SDE_PREFIX "PROCESS_SWITCHES",
    COUNTER_SDE_PREFIX "PROCESS_PREEMPTIONS",
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
    COUNTER_SDE_PREFIX "SIM_WASTED_NS",
    COUNTER_SDE_PREFIX "SIM_IDLE_NS",
    COUNTER_SDE_PREFIX "SIM_SPIN_NS",
};

enum { CANDIDATES = sizeof candidates / sizeof candidates[0] };

/* Per operation: what is rarer than this takes no time that matters. */
static const double LITTLE = 0.001;

/* Values -------------------------------------------------------------------------------------- */

/* NAN if absent, or if the row is not ok. */
static double value_of(const struct run_row *row, const char *name)
{
    return run_row_status(row) == RUN_OK
               ? run_row_median(row, &(struct metric){.kind = METRIC_EVENT, .name = name})
               : NAN;
}

static bool is_counted(const struct run_table *table, const char *name)
{
    for (size_t i = 0; i < table->count; i++)
        if (!isnan(value_of(&table->rows[i], name)))
            return true;
    return false;
}

static bool is_zero(const struct run_table *table, const char *name)
{
    for (size_t i = 0; i < table->count; i++) {
        double value = value_of(&table->rows[i], name);
        if (!isnan(value) && value != 0)
            return false;
    }
    return true;
}

/* The largest value over the smallest one; 0 of what was not counted. */
static double spread_of(const struct run_table *table, const char *name)
{
    double least = INFINITY, most = LITTLE;
    for (size_t i = 0; i < table->count; i++) {
        double value = value_of(&table->rows[i], name);
        if (isnan(value))
            continue;
        least = fmin(least, fmax(value, LITTLE));
        most = fmax(most, value);
    }
    return isinf(least) ? 0 : most / least;
}

/* Choosing ------------------------------------------------------------------------------------ */

struct shown {
    const char **names;
    size_t count;
    size_t more; /* events that are neither among them nor zero in each variant */
};

/* In the order of the candidates. */
static void choose_telling(const struct run_table *table, struct shown *shown)
{
    double spread[CANDIDATES];
    bool chosen[CANDIDATES] = {false};
    for (size_t i = 0; i < CANDIDATES; i++)
        spread[i] = spread_of(table, candidates[i]);
    for (int k = 0; k < TELLING; k++) {
        size_t widest = 0;
        for (size_t i = 1; i < CANDIDATES; i++)
            if (spread[i] > spread[widest])
                widest = i;
        chosen[widest] = chosen[widest] || spread[widest] > 0;
        spread[widest] = 0;
    }
    for (size_t i = 0; i < CANDIDATES; i++)
        if (chosen[i])
            shown->more -= !is_zero(table, shown->names[shown->count++] = candidates[i]);
}

static struct shown shown_make(const struct run_table *table)
{
    const json_t *events = json_object_get(run_table_any_ok(table), "events");
    struct shown shown = {.names = xcalloc(json_array_size(events) + TELLING, sizeof(char *))};
    json_each(event, events) {
        const char *name = field_text(event, "name");
        if (!is_counted(table, name) || (table->events != RUN_EVENTS_NAMED && is_zero(table, name)))
            continue;
        if (table->events == RUN_EVENTS_TELLING)
            shown.more++;
        else
            shown.names[shown.count++] = name;
    }
    if (table->events == RUN_EVENTS_TELLING)
        choose_telling(table, &shown);
    return shown;
}

/* Table --------------------------------------------------------------------------------------- */

static const char *label_of(const char *name, char label[LABEL_SIZE])
{
    int index = counter_sde_find(name);
    enum counter_kind kind = index >= 0 ? counter_sde_kind(index) : COUNTER_SUM;
    snprintf(label, LABEL_SIZE, "%s%s", counter_short_name(name),
             kind == COUNTER_PEAK || kind == COUNTER_RUN_PEAK ? " (peak)"
             : kind == COUNTER_LEVEL                          ? " (at end)"
                                                              : "");
    return label;
}

/* Plain and short: "0.0312", "1024", "3.1e-07". */
static const char *value_text(double value, char text[CELL_SIZE])
{
    if (isnan(value))
        snprintf(text, CELL_SIZE, "-");
    else if (value >= 100 && value < 1e9)
        snprintf(text, CELL_SIZE, "%.0f", value);
    else
        snprintf(text, CELL_SIZE, "%.3g", value);
    return text;
}

/* As many variants side by side as the page has room for. Rows at the end that are not ok have no
 * column. */
static void print_table(const struct run_table *table, const struct shown *shown, FILE *to)
{
    char label[LABEL_SIZE], text[CELL_SIZE];
    size_t count = table->count;
    while (count > 0 && run_row_status(&table->rows[count - 1]) != RUN_OK)
        count--;
    if (count == 0)
        return;
    struct term_table *events =
        term_table_new((struct term_layout){.gap = 1, .width = RUN_COLUMNS, .repeat = true},
                       TERM_COLUMNS({"events per operation", -1}));
    for (size_t i = 0; i < count; i++)
        term_table_column(events, table->rows[i].label, VALUE_WIDTH_MIN);
    for (size_t k = 0; k < shown->count; k++) {
        term_table_row(events, label_of(shown->names[k], label), NULL);
        for (size_t i = 0; i < count; i++)
            term_table_cell(events, "%s",
                            value_text(value_of(&table->rows[i], shown->names[k]), text));
    }
    fputc('\n', to);
    term_table_print(events, to);
}

/* Absent -------------------------------------------------------------------------------------- */

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

/* Without what another repetition has counted. Reasons that come of the variant and not of this
 * machine are for those who named the event. */
static void absent_collect(const struct run_table *table, const struct run_row *row,
                           json_t *by_reason)
{
    if (run_row_status(row) != RUN_OK)
        return;
    json_each(event, json_object_get(run_row_first(row, "ok"), "events")) {
        const char *absent = field_text(event, "absent");
        bool own = strcmp(field_text(event, "source"), "sde") == 0;
        bool elsewhere = strcmp(absent, COUNTERS_ELSEWHERE) == 0 &&
                         !isnan(value_of(row, field_text(event, "name")));
        if (*absent && !elsewhere && (!own || table->events == RUN_EVENTS_NAMED))
            absent_add(by_reason, absent, field_text(event, "name"), row->label);
    }
}

/* " in kthread, uthread"; nothing if these are all variants that ran. */
static void print_lacking(const json_t *variants, size_t all, FILE *messages)
{
    size_t count = json_array_size(variants);
    for (size_t i = 0; count < all && i < count; i++)
        fprintf(messages, "%s%s", i ? ", " : " in ",
                json_string_value(json_array_get(variants, i)));
}

/* In one line: "a, b (why); c in kthread (why)". */
static void print_absent(const struct run_table *table, FILE *messages)
{
    json_t *by_reason = json_object();
    size_t ok_rows = 0;
    for (size_t i = 0; i < table->count; i++) {
        ok_rows += run_row_status(&table->rows[i]) == RUN_OK;
        absent_collect(table, &table->rows[i], by_reason);
    }
    const char *reason, *name, *separator = "schedlab run: not counted: ";
    json_t *names, *variants;
    json_object_foreach(by_reason, reason, names)
    {
        const json_t *before = NULL;
        json_object_foreach(names, name, variants)
        {
            if (before && !json_equal(before, variants))
                print_lacking(before, ok_rows, messages);
            fprintf(messages, "%s%s", separator, name);
            separator = ", ";
            before = variants;
        }
        print_lacking(before, ok_rows, messages);
        fprintf(messages, " (%s)", reason);
        separator = "; ";
    }
    if (json_object_size(by_reason) > 0)
        fputc('\n', messages);
    json_decref(by_reason);
}

void run_events_print(const struct run_table *table, FILE *to, FILE *messages)
{
    struct shown shown = shown_make(table);
    if (shown.count > 0)
        print_table(table, &shown, to);
    if (shown.more > 0)
        fprintf(to, "and %zu more with --all-events\n", shown.more);
    fflush(to);
    if (table->events != RUN_EVENTS_TELLING)
        print_absent(table, messages);
    free(shown.names);
}
