/* report_data.c - see report_data.h. */
#include "harness/answers/report_data.h"

#include "harness/base/json_fields.h"
#include "harness/base/memory.h"
#include "harness/counters/counter_names.h"
#include "harness/evidence/metric.h"
#include "harness/records/run_folder.h"
#include "harness/spec/spec.h"
#include "sched.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CELLS, EVENTS, LATENCY, SAMPLES };
enum { PATH_SIZE = 4096, KEY_SIZE = 4096 };

/* Order --------------------------------------------------------------------------------------- */

/* The place of a variant in the catalogue; names that are not in it follow. */
static size_t variant_place(const char *spec)
{
    size_t length = strcspn(spec, ","), i = 0;
    for (const struct sched_ops *ops; (ops = spec_variant(i)) != NULL; i++)
        if (strncmp(ops->name, spec, length) == 0 && ops->name[length] == '\0')
            return i;
    return i;
}

/* The plain variant first, then by the value of the last knob, numbers before words, as in the
 * figures. */
static double knob_place(const char *spec)
{
    const char *value = strrchr(spec, '=');
    if (!value)
        return -1;
    char *end;
    double number = strtod(value + 1, &end);
    return end == value + 1 || *end ? INFINITY : number;
}

static int number_compare(double a, double b)
{
    return (a > b) - (a < b);
}

static int variant_compare(const char *a, const char *b)
{
    int order = number_compare((double)variant_place(a), (double)variant_place(b));
    if (!order)
        order = number_compare(knob_place(a), knob_place(b));
    return order ? order : strcmp(a, b);
}

static int cell_compare(const void *a_void, const void *b_void)
{
    const struct report_cell *a = a_void, *b = b_void;
    int order = strcmp(a->group, b->group);
    if (!order)
        order = strverscmp(a->workload, b->workload);
    if (!order)
        order = a->workers - b->workers;
    if (!order)
        order = variant_compare(a->variant, b->variant);
    return order ? order : strcmp(a->id, b->id);
}

/* Tables -------------------------------------------------------------------------------------- */

static int whole(double number)
{
    return isfinite(number) ? (int)number : 0;
}

static void cells_read(struct report *report)
{
    const struct tsv *tsv = &report->tables[CELLS];
    report->cells = xcalloc(tsv->rows, sizeof *report->cells);
    for (size_t row = 1; row < tsv->rows; row++)
        report->cells[report->cells_count++] = (struct report_cell){
            .group = tsv_text_or(tsv, row, "group", "-"),
            .variant = tsv_text_or(tsv, row, "variant", "?"),
            .workload = tsv_text_or(tsv, row, "workload", "?"),
            .op = tsv_text_or(tsv, row, "op", "operation"),
            .id = tsv_text_or(tsv, row, "cell", "?"),
            .status = tsv_text_or(tsv, row, "status", "failed"),
            .reason = tsv_text(tsv, row, "reason"),
            .stop = tsv_text(tsv, row, "stop"),
            .n_all = (size_t)whole(tsv_number(tsv, row, "n_all")),
            .chosen = class_of_text(tsv_text(tsv, row, "class")),
            .workers = whole(tsv_number(tsv, row, "workers")),
            .machine = tsv_text_or(tsv, row, "machine", "native"),
            .cores = whole(tsv_number(tsv, row, "cores")),
            .throughput = tsv_interval(tsv, row, "median", "lo", "hi"),
            .speedup = tsv_interval(tsv, row, "speedup", "speedup_lo", "speedup_hi"),
            .efficiency = tsv_number(tsv, row, "efficiency"),
            .to_baseline = {NAN, NAN, NAN, 0},
        };
    qsort(report->cells, report->cells_count, sizeof *report->cells, cell_compare);
}

static void events_read(struct report *report)
{
    const struct tsv *tsv = &report->tables[EVENTS];
    report->events = xcalloc(tsv->rows, sizeof *report->events);
    for (size_t row = 1; row < tsv->rows; row++)
        report->events[report->events_count++] = (struct report_event){
            .group = tsv_text_or(tsv, row, "group", "-"),
            .variant = tsv_text_or(tsv, row, "variant", "?"),
            .workload = tsv_text_or(tsv, row, "workload", "?"),
            .id = tsv_text_or(tsv, row, "cell", "?"),
            .name = tsv_text_or(tsv, row, "event", "?"),
            .source = tsv_text_or(tsv, row, "source", "?"),
            .absent = tsv_text(tsv, row, "absent"),
            .workers = whole(tsv_number(tsv, row, "workers")),
            .per_op = tsv_interval(tsv, row, "per_op", "lo", "hi"),
            .value = tsv_number(tsv, row, "value"),
        };
}

static void latencies_read(struct report *report)
{
    const struct tsv *tsv = &report->tables[LATENCY];
    report->latencies = xcalloc(tsv->rows, sizeof *report->latencies);
    for (size_t row = 1; row < tsv->rows; row++)
        report->latencies[report->latencies_count++] = (struct report_latency){
            .group = tsv_text_or(tsv, row, "group", "-"),
            .variant = tsv_text_or(tsv, row, "variant", "?"),
            .workload = tsv_text_or(tsv, row, "workload", "?"),
            .id = tsv_text_or(tsv, row, "cell", "?"),
            .workers = whole(tsv_number(tsv, row, "workers")),
            .quantile = tsv_number(tsv, row, "quantile"),
            .ns = tsv_interval(tsv, row, "ns", "lo", "hi"),
        };
}

static enum core_distance distance_of_text(const char *text)
{
    enum core_distance which = DISTANCE_NONE;
    while (which < DISTANCE_MIXED && strcmp(core_distance_text(which), text) != 0)
        which++;
    return which;
}

void report_cell_add_sample(struct report_cell *cell, double throughput,
                            enum core_distance distance, bool marked)
{
    class_count_add(&cell->counts, distance, marked);
    for (enum cell_class which = CLASS_ALL; which < CLASSES; which++)
        if (class_holds(which, distance, marked))
            cell->of_class[which][cell->of_class_count[which]++] = throughput;
}

void report_cell_choose(struct report_cell *cell, enum cell_class chosen)
{
    cell->chosen = chosen;
    cell->samples = cell->of_class[chosen];
    cell->samples_count = cell->of_class_count[chosen];
}

/* Rows and cells ------------------------------------------------------------------------------ */

/* The key by which rows of other tables find their cell: its id and one of its groups. */
static const char *row_key(const char *group, const char *id, char key[KEY_SIZE])
{
    snprintf(key, KEY_SIZE, "%s\n%s", id, group);
    return key;
}

/* row_key() -> number of the cell; free with json_decref(). */
static json_t *cells_index(struct report *report)
{
    char key[KEY_SIZE];
    json_t *index = json_object(), *ids = json_object();
    for (size_t i = 0; i < report->cells_count; i++) {
        struct report_cell *cell = &report->cells[i];
        cell->is_first = !json_object_get(ids, cell->id);
        json_object_set_new(ids, cell->id, json_true());
        json_object_set_new(index, row_key(cell->group, cell->id, key),
                            json_integer((json_int_t)i));
    }
    json_decref(ids);
    return index;
}

/* NULL if there is none. */
static struct report_cell *cell_of_row(struct report *report, const json_t *index,
                                       const char *group, const char *id)
{
    char key[KEY_SIZE];
    const json_t *number = json_object_get(index, row_key(group, id, key));
    return number ? &report->cells[json_integer_value(number)] : NULL;
}

/* The rows of a cell in a group stand together. */
static void events_assign(struct report *report, const json_t *index)
{
    for (size_t k = 0; k < report->events_count; k++) {
        const struct report_event *event = &report->events[k];
        struct report_cell *cell = cell_of_row(report, index, event->group, event->id);
        if (cell && cell->events_count++ == 0)
            cell->events = event;
    }
}

static void latencies_assign(struct report *report, const json_t *index)
{
    for (size_t k = 0; k < report->latencies_count; k++) {
        const struct report_latency *latency = &report->latencies[k];
        struct report_cell *cell = cell_of_row(report, index, latency->group, latency->id);
        if (cell && cell->latencies_count++ == 0)
            cell->latencies = latency;
    }
}

static struct report_cell *cell_of_sample(struct report *report, const json_t *index, size_t row)
{
    const struct tsv *tsv = &report->tables[SAMPLES];
    return cell_of_row(report, index, tsv_text_or(tsv, row, "group", "-"),
                       tsv_text_or(tsv, row, "cell", ""));
}

/* Gives each cell that is ok the throughputs of its samples, by class. */
static void samples_read(struct report *report, const json_t *index)
{
    const struct tsv *tsv = &report->tables[SAMPLES];
    size_t *rows = xcalloc(report->cells_count, sizeof *rows);
    if (!report->cells)
        abort(); /* cells_read() comes before */
    for (size_t row = 1; row < tsv->rows; row++) {
        const struct report_cell *cell = cell_of_sample(report, index, row);
        if (cell)
            rows[cell - report->cells]++;
    }
    for (size_t i = 0; i < report->cells_count; i++)
        for (int which = 0; which < CLASSES; which++)
            report->cells[i].of_class[which] = xcalloc(rows[i], sizeof(double));
    free(rows);
    for (size_t row = 1; row < tsv->rows; row++) {
        struct report_cell *cell = cell_of_sample(report, index, row);
        double throughput = tsv_number(tsv, row, "throughput");
        if (cell && report_cell_ok(cell) && isfinite(throughput))
            report_cell_add_sample(cell, throughput,
                                   distance_of_text(tsv_text_or(tsv, row, "distance", "-")),
                                   tsv_text(tsv, row, "marks") != NULL);
    }
    for (size_t i = 0; i < report->cells_count; i++)
        report_cell_choose(&report->cells[i], report->cells[i].chosen);
}

static bool tables_read(struct report *report, struct error *error)
{
    static const char *const names[] = {"cells", "events", "latency", "samples"};
    for (int i = 0; i < 4; i++) {
        char path[PATH_SIZE];
        snprintf(path, sizeof path, "%s/%s.tsv", report->run_dir, names[i]);
        if (!tsv_load(&report->tables[i], path, error))
            return false;
    }
    cells_read(report);
    events_read(report);
    latencies_read(report);
    json_t *index = cells_index(report);
    events_assign(report, index);
    latencies_assign(report, index);
    samples_read(report, index);
    json_decref(index);
    report->samples = report_samples_make(&report->tables[SAMPLES]);
    return true;
}

/* Groups -------------------------------------------------------------------------------------- */

/* NULL if there is no file, or no such group in it. */
static const struct sweep_group *sweep_find(const struct sweep_file *sweep, const char *id)
{
    size_t length = strcspn(id, "@"); /* behind it stands the side, see plan_multiply() */
    for (unsigned i = 0; sweep && i < sweep->groups_count; i++)
        if (strncmp(sweep->groups[i].id, id, length) == 0 && sweep->groups[i].id[length] == '\0')
            return &sweep->groups[i];
    return NULL;
}

/* The sweep file's order; groups that it does not know, or all without a file, come last. */
static size_t group_place(const struct sweep_file *sweep, const char *id)
{
    const struct sweep_group *found = sweep_find(sweep, id);
    return sweep && found ? (size_t)(found - sweep->groups) : SIZE_MAX;
}

static void group_add(struct report *report, struct report_cell *first, size_t count)
{
    const struct sweep_group *plan = sweep_find(report->sweep, first->group);
    size_t place = group_place(report->sweep, first->group), at = report->groups_count++;
    for (; at > 0 && group_place(report->sweep, report->groups[at - 1].id) > place; at--)
        report->groups[at] = report->groups[at - 1];
    report->groups[at] = (struct report_group){
        .id = first->group,
        .question = plan ? plan->question : NULL,
        .baseline = plan ? plan->baseline : NULL,
        .figure = plan ? plan->figure : SWEEP_FIGURE_THROUGHPUT,
        .metric = plan ? plan->metric : NULL,
        .parameter = plan ? plan->parameter : NULL,
        .knob = plan ? plan->knob : NULL,
        .knob2 = plan ? plan->knob2 : NULL,
        .left_out = plan ? plan->left_out : NULL,
        .expect = plan ? plan->expect : NULL,
        .expect_count = plan ? plan->expect_count : 0,
        .cells = first,
        .count = count,
    };
}

static void cell_compare_to(struct report_cell *cell, const struct report_cell *base)
{
    size_t n, m;
    if (!report_cell_ok(cell) || !report_cell_ok(base))
        return;
    cell->beside = report_choose_class((const struct report_cell *[]){cell, base}, 2);
    const double *x = report_cell_samples(cell, cell->beside.chosen, &n);
    const double *y = report_cell_samples(base, cell->beside.chosen, &m);
    if (!cell->beside.unlike)
        cell->to_baseline = statistics_ratio(x, n, y, m, STATISTICS_SEED);
}

static void cell_compare_to_baseline(struct report_cell *cell, const struct report_cell *base)
{
    if (base == cell && cell->samples_count > 0) {
        cell->to_baseline = (struct interval){1, 1, 1, cell->samples_count};
        cell->beside.chosen = cell->chosen;
    } else if (base) {
        cell_compare_to(cell, base);
    }
}

/* Cells of one workload and number of workers stand together. */
static void group_compare_to_baseline(struct report_group *group)
{
    for (size_t i = 0, end; group->baseline && i < group->count; i = end) {
        const struct report_cell *first = &group->cells[i];
        for (end = i + 1; end < group->count && first->workers == group->cells[end].workers &&
                          strcmp(first->workload, group->cells[end].workload) == 0;)
            end++;
        struct report_group beside = {.cells = &group->cells[i], .count = end - i};
        const struct report_cell *base =
            group->baseline_workers
                ? report_cell_find(group, group->baseline, first->workload, group->baseline_workers)
                : report_cell_find(&beside, group->baseline, first->workload, first->workers);
        for (size_t k = i; k < end; k++)
            cell_compare_to_baseline(&group->cells[k], base);
    }
}

const struct report_event *report_event_find(const struct report_cell *cell, const char *name)
{
    for (size_t i = 0; i < cell->events_count; i++)
        if (strcmp(counter_short_name(cell->events[i].name), counter_short_name(name)) == 0)
            return &cell->events[i];
    return NULL;
}

struct report_group report_group_pinned(const struct report_group *group, const char *baseline,
                                        int workers)
{
    const struct interval none = {NAN, NAN, NAN, 0};
    struct report_group pinned = *group;
    pinned.baseline = baseline;
    pinned.baseline_workers = workers;
    pinned.cells = xcalloc(group->count + 1, sizeof *pinned.cells);
    memcpy(pinned.cells, group->cells, group->count * sizeof *pinned.cells);
    for (size_t i = 0; i < pinned.count; i++) {
        pinned.cells[i].to_baseline = none;
        pinned.cells[i].beside = (struct class_choice){.unlike = false};
    }
    group_compare_to_baseline(&pinned);
    return pinned;
}

static void groups_make(struct report *report)
{
    report->groups = xcalloc(report->cells_count, sizeof *report->groups);
    report->groups_count = 0;
    for (size_t i = 0, end; i < report->cells_count; i = end) {
        for (end = i + 1; end < report->cells_count &&
                          strcmp(report->cells[i].group, report->cells[end].group) == 0;)
            end++;
        group_add(report, &report->cells[i], end - i);
    }
    for (size_t i = 0; i < report->groups_count; i++)
        group_compare_to_baseline(&report->groups[i]);
}

/* All ----------------------------------------------------------------------------------------- */

static void problem_add(struct report *report, const char *problem)
{
    json_array_append_new(report->problems, json_string(problem));
}

static void sweep_read(struct report *report)
{
    char path[PATH_SIZE];
    struct error error;
    snprintf(path, sizeof path, "%s/sweep.yaml", report->run_dir);
    if (access(path, F_OK) != 0)
        return;
    report->sweep = sweep_file_load(path, &error);
    if (!report->sweep)
        problem_add(report, error.text);
}

static void environment_read(struct report *report)
{
    struct error error;
    report->environment = run_folder_environment(report->run_dir, &error);
    report->environment_is_broken = *error.text != '\0';
    if (*error.text)
        problem_add(report, error.text);
}

bool report_load(struct report *report, const char *run_dir, struct error *error)
{
    *report =
        (struct report){.run_dir = run_dir, .problems = json_array(), .warnings = json_array()};
    char *real = realpath(run_dir, NULL);
    report->name_text = real ? real : xstrdup(run_dir);
    report->name = strrchr(report->name_text, '/');
    report->name = report->name && report->name[1] ? report->name + 1 : report->name_text;
    report->records = run_folder_records(run_dir, false, &report->flaws, error);
    sweep_read(report);
    environment_read(report);
    report_extra_load(&report->extra, run_dir, report->environment, report->problems);
    if (!report->records || !tables_read(report, error)) {
        report_free(report);
        return false;
    }
    report_fit_check(report);
    report->by_cell = fields_group(report->records, "cell");
    report->title = report->sweep ? report->sweep->title : report->name;
    groups_make(report);
    return true;
}

void report_free(struct report *report)
{
    for (size_t i = 0; i < report->cells_count; i++)
        for (int which = 0; which < CLASSES; which++)
            free(report->cells[i].of_class[which]);
    free(report->cells);
    free(report->events);
    free(report->latencies);
    free(report->groups);
    report_samples_free(&report->samples);
    report_extra_free(&report->extra);
    free(report->name_text);
    for (int i = 0; i < 4; i++)
        tsv_free(&report->tables[i]);
    if (report->sweep)
        sweep_file_free(report->sweep);
    json_decref(report->environment);
    json_decref(report->by_cell);
    json_decref(report->records);
    json_decref(report->problems);
    json_decref(report->warnings);
}

/* Finding ------------------------------------------------------------------------------------- */

const struct report_cell *report_cell_find(const struct report_group *group, const char *variant,
                                           const char *workload, int workers)
{
    for (size_t i = 0; i < group->count; i++) {
        const struct report_cell *cell = &group->cells[i];
        if (cell->workers == workers && strcmp(cell->variant, variant) == 0 &&
            strcmp(cell->workload, workload) == 0)
            return cell;
    }
    return NULL;
}

const double *report_cell_samples(const struct report_cell *cell, enum cell_class chosen,
                                  size_t *count)
{
    enum cell_class which = class_within(chosen, &cell->counts);
    *count = which == cell->chosen ? cell->samples_count : cell->of_class_count[which];
    return which == cell->chosen ? cell->samples : cell->of_class[which];
}

struct class_choice report_choose_class(const struct report_cell *const *cells, size_t count)
{
    enum core_distance preferred = DISTANCE_NONE;
    struct class_counts *counts = xcalloc(count, sizeof *counts);
    for (size_t i = 0; i < count; i++) {
        counts[i] = cells[i]->counts;
        if (cells[i]->chosen == CLASS_NEAR || cells[i]->chosen == CLASS_FAR)
            preferred = cells[i]->chosen == CLASS_NEAR ? DISTANCE_NEAR : DISTANCE_FAR;
    }
    struct class_choice choice = class_choose(counts, count, preferred);
    free(counts);
    return choice;
}

bool report_has_latencies(const struct report *report, const struct report_group *group,
                          const char *workload)
{
    for (size_t i = 0; i < report->latencies_count; i++)
        if (strcmp(report->latencies[i].group, group->id) == 0 &&
            (!workload || strcmp(report->latencies[i].workload, workload) == 0))
            return true;
    return false;
}

int report_cores(const struct report *report, const struct report_cell *cell)
{
    if (cell->cores > 0)
        return cell->cores;
    if (json_object_get(report->environment, "measured_on"))
        return 0; /* it was another machine */
    const json_t *cpu = json_object_get(report->environment, "cpu");
    return (int)field_integer(cpu, "usable_threads");
}

bool report_cell_is_crowded(const struct report *report, const struct report_cell *cell)
{
    int cores = report_cores(report, cell);
    return cores > 0 && cell->workers > cores;
}

bool report_cell_ok(const struct report_cell *cell)
{
    return strcmp(cell->status, "ok") == 0;
}

enum sweep_figure report_subject(const struct report_group *group)
{
    struct metric metric = {0};
    struct error error;
    if (!group->metric || !metric_parse(&metric, group->metric, &error))
        return group->figure;
    return metric.kind == METRIC_LATENCY ? SWEEP_FIGURE_LATENCY
           : metric.kind == METRIC_EVENT ? SWEEP_FIGURE_EVENTS
                                         : SWEEP_FIGURE_THROUGHPUT;
}

int report_workers_max(const struct report_group *group, const char *workload)
{
    int most = 0;
    for (size_t i = 0; i < group->count; i++)
        if (strcmp(group->cells[i].workload, workload) == 0 && group->cells[i].workers > most)
            most = group->cells[i].workers;
    return most;
}

struct interval report_latency_ns(const struct report_cell *cell, double quantile)
{
    for (size_t i = 0; i < cell->latencies_count; i++)
        if (fabs(cell->latencies[i].quantile - quantile) < 1e-9)
            return cell->latencies[i].ns;
    return (struct interval){NAN, NAN, NAN, 0};
}

const json_t *report_record(const struct report *report, const char *cell)
{
    return json_array_get(json_object_get(report->by_cell, cell), 0);
}

bool report_next_workload(const struct report_group *group, struct report_span *span)
{
    span->first = span->end;
    if (span->first >= group->count)
        return false;
    span->workload = group->cells[span->first].workload;
    while (span->end < group->count &&
           strcmp(group->cells[span->end].workload, span->workload) == 0)
        span->end++;
    return true;
}
