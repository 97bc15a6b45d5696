/* bench.c - see bench.h. */
#include "harness/audit/bench.h"

#include "harness/base/json_fields.h"
#include "harness/base/memory.h"
#include "harness/base/text.h"
#include "harness/numbers/units.h"
#include "harness/plan/plan.h"
#include "harness/records/records.h"
#include "harness/records/run_folder.h"
#include "harness/tables/compare.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_SIZE = 512, PATH_SIZE = 4096 };

/* Times by name: {name: [ns per operation]}, in the order in which names came. */
static double *times_of(const json_t *times, const char *name, size_t *n)
{
    const json_t *list = json_object_get(times, name);
    *n = json_array_size(list);
    double *x = xcalloc(*n + 1, sizeof *x);
    for (size_t i = 0; i < *n; i++)
        x[i] = json_number_value(json_array_get(list, i));
    return x;
}

json_t *bench_row(const char *what, const char *over, struct interval ratio)
{
    json_t *row = ratio_to_json(ratio);
    json_object_set_new(row, "what", json_string(what));
    json_object_set_new(row, "over", json_string(over));
    json_object_set_new(row, "n", json_integer((json_int_t)ratio.n));
    return row;
}

/* One row; NULL if one of the two has no times. */
static json_t *ratio_make(const json_t *times, const char *what, const char *over)
{
    size_t nx, ny;
    double *x = times_of(times, what, &nx), *y = times_of(times, over, &ny);
    struct interval ratio = statistics_ratio(x, nx, y, ny, STATISTICS_SEED);
    free(x);
    free(y);
    return isnan(ratio.median) ? NULL : bench_row(what, over, ratio);
}

/* Takes array; returns it in order. */
static json_t *array_sort(json_t *array, int (*compare)(const void *a, const void *b))
{
    size_t n = json_array_size(array);
    json_t **values = xcalloc(n + 1, sizeof *values), *sorted = json_array();
    for (size_t i = 0; i < n; i++)
        values[i] = json_array_get(array, i);
    qsort(values, n, sizeof *values, compare);
    for (size_t i = 0; i < n; i++)
        json_array_append(sorted, values[i]);
    free(values);
    json_decref(array);
    return sorted;
}

/* Counting ----------------------------------------------------------------------------------- */

/* Few samples have no interval (statistics.h), and samples of unlike core distances differ by
 * those. */
static const char *claim_of(const struct compare_pair *pair)
{
    const struct interval *ratio = &pair->ratio;
    if (!statistics_has_interval(*ratio) || pair->distances_mixed)
        return "open";
    if (ratio->hi < 1 / COUNTING_COST_MAX)
        return "open"; /* counting makes nothing faster: something else differed */
    return ratio->hi <= COUNTING_COST_MAX  ? "holds"
           : ratio->lo > COUNTING_COST_MAX ? "broken"
                                           : "open";
}

/* The good samples of the cells that count events, or of those that do not. */
static json_t *samples_of(const json_t *records, bool counts)
{
    json_t *samples = json_array();
    json_each(record, (json_t *)records) {
        bool has_events = json_array_size(json_object_get(record, "events")) > 0;
        if (has_events == counts && record_is(record, "ok"))
            json_array_append(samples, record);
    }
    return samples;
}

/* Takes records. Partners are named alike, whatever events they count. */
static void side_make(struct compare_side *side, const char *label, json_t *records)
{
    json_t *environment = json_object();
    compare_side_of_records(side, label, records, NULL, NULL, environment);
    for (size_t i = 0; i < side->count; i++) {
        struct compare_cell *cell = &side->cells[i];
        cell->key = text_format("%s/%s/workers:%d", cell->workload, cell->variant, cell->workers);
    }
    json_decref(environment);
    json_decref(records);
}

static const char *stop_of(const json_t *plan_cells, const struct compare_cell *of)
{
    return plan_json_stop(plan_cells, field_text(json_array_get(of->records, 0), "cell"));
}

/* Why measuring a pair ended: "width" only if both sides are narrow enough. */
static const char *pair_stop(const json_t *plan, const struct compare_pair *pair)
{
    const char *a = stop_of(plan, pair->a);
    return strcmp(a, "width") == 0 ? stop_of(plan, pair->b) : a;
}

static json_t *counting_ratio(const struct compare_pair *pair, const json_t *plan)
{
    if (isnan(pair->ratio.median))
        return NULL;
    json_t *row = bench_row(pair->a->key, "without events", pair->ratio);
    json_object_set_new(row, "class",
                        json_string(pair->distances_mixed ? "mixed" : class_text(pair->chosen)));
    json_object_set_new(row, "claim", json_string(claim_of(pair)));
    json_object_set_new(row, "stop", json_string(pair_stop(plan, pair)));
    return row;
}

static int by_what(const void *a, const void *b)
{
    return strcmp(field_text(*(json_t *const *)a, "what"), field_text(*(json_t *const *)b, "what"));
}

/* Throughput without over throughput with events is time with over time without. */
static json_t *counting_ratios(const json_t *records, const json_t *plan)
{
    struct compare_side with, without;
    struct comparison comparison;
    json_t *ratios = json_array();
    side_make(&with, "with events", samples_of(records, true));
    side_make(&without, "without", samples_of(records, false));
    compare_make(&comparison, &with, &without,
                 &(struct compare_options){.alpha = 1, .seed = STATISTICS_SEED});
    for (size_t i = 0; i < comparison.count; i++) {
        json_t *ratio = counting_ratio(&comparison.pairs[i], plan);
        if (ratio)
            json_array_append_new(ratios, ratio);
    }
    compare_free(&comparison);
    compare_side_free(&with);
    compare_side_free(&without);
    return ratios;
}

json_t *bench_counting(const char *run_folder, struct record_flaws *flaws, struct error *error)
{
    char path[PATH_SIZE];
    json_t *records = run_folder_records(run_folder, true, flaws, error);
    if (!records)
        return NULL;
    snprintf(path, sizeof path, "%s/plan.json", run_folder);
    json_t *plan = json_load_file(path, 0, NULL);
    json_t *cells = plan_json_cells(plan);
    json_t *ratios = counting_ratios(records, cells);
    json_decref(cells);
    json_decref(plan);
    json_decref(records);
    if (json_array_size(ratios) > 0)
        return array_sort(ratios, by_what);
    error_print(error, "%s: no cell was measured both with events and without", run_folder);
    json_decref(ratios);
    return NULL;
}

/* Operations --------------------------------------------------------------------------------- */

/* Without how time was taken, which says nothing to people. */
static void name_shorten(char *name)
{
    static const char *const ends[] = {"/manual_time", "/real_time", "/process_time"};
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
        if (text_ends_with(name, ends[i]))
            name[strlen(name) - strlen(ends[i])] = '\0';
    }
    char *iterations = strstr(name, "/iterations:");
    if (iterations)
        *iterations = '\0';
}

/* In the order of their registration, which random interleaving does not keep. */
static int by_family(const void *a, const void *b)
{
    static const char *const keys[] = {"family_index", "per_family_instance_index"};
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        json_int_t x = json_integer_value(json_object_get(*(json_t *const *)a, keys[i]));
        json_int_t y = json_integer_value(json_object_get(*(json_t *const *)b, keys[i]));
        if (x != y)
            return x < y ? -1 : 1;
    }
    return 0;
}

static json_t *times_load(const char *path, struct error *error)
{
    json_error_t where;
    json_t *whole = json_load_file(path, 0, &where);
    json_t *benchmarks = json_object_get(whole, "benchmarks");
    if (!json_is_array(benchmarks)) {
        error_print(error, "%s: not the JSON of `schedlab micro`: %s", path,
                    whole ? "it has no benchmarks" : where.text);
        json_decref(whole);
        return NULL;
    }
    json_t *times = json_object();
    benchmarks = array_sort(json_incref(benchmarks), by_family);
    json_each(entry, benchmarks) {
        char name[NAME_SIZE];
        json_t *time = json_object_get(entry, "real_time");
        if (strcmp(field_text(entry, "run_type"), "iteration") != 0 || !json_is_number(time) ||
            json_is_true(json_object_get(entry, "error_occurred")) ||
            json_is_true(json_object_get(entry, "skipped")))
            continue;
        snprintf(name, sizeof name, "%s", field_text(entry, "run_name"));
        name_shorten(name);
        fields_group_add(times, name, time);
    }
    json_decref(benchmarks);
    json_decref(whole);
    return times;
}

json_t *bench_operations(const char *path, const char *(*floor_of)(const char *benchmark),
                         struct error *error)
{
    json_t *times = times_load(path, error), *ratios = json_array(), *unused;
    const char *name;
    json_object_foreach(times, name, unused)
    {
        const char *floor = floor_of(name);
        json_t *ratio = floor ? ratio_make(times, name, floor) : NULL;
        if (ratio)
            json_array_append_new(ratios, ratio);
    }
    bool read = times != NULL;
    json_decref(times);
    if (json_array_size(ratios) > 0)
        return ratios;
    if (read)
        error_print(error, "%s: no operation was measured beside its floor", path);
    json_decref(ratios);
    return NULL;
}

/* Table --------------------------------------------------------------------------------------- */

static double part(const json_t *ratio, const char *key)
{
    return json_real_value(json_object_get(ratio, key));
}

static void row_print(FILE *to, const json_t *ratio, bool claims)
{
    char interval[64] = "too few";
    if (json_object_get(ratio, "lo"))
        snprintf(interval, sizeof interval, claims ? "%.4f to %.4f" : "%.3g to %.3g",
                 part(ratio, "lo"), part(ratio, "hi"));
    fprintf(to, claims ? "%-42s %8.4f  %-17s" : "%-42s %8.3g  %-17s", field_text(ratio, "what"),
            part(ratio, "ratio"), interval);
    fprintf(to, " %3lld  ", (long long)json_integer_value(json_object_get(ratio, "n")));
    if (claims)
        fprintf(to, "%-5s  ", field_text(ratio, "class"));
    if (claims)
        fprintf(to, "%-6s  %s\n", field_text(ratio, "claim"), field_text(ratio, "stop"));
    else
        fprintf(to, "%s\n", field_text(ratio, "over"));
}

void bench_print(FILE *to, const char *title, const json_t *ratios)
{
    bool claims = json_object_get(json_array_get(ratios, 0), "claim") != NULL;
    fprintf(to, "%-42s %8s  %-17s %3s  %s\n", title, "ratio", "95 % interval", "n",
            claims ? "class  claim   ended" : "over");
    json_each(ratio, ratios)
        row_print(to, ratio, claims);
}
