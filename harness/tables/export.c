/* export.c - see export.h. */
#include "harness/tables/export.h"

#include "harness/base/json_fields.h"
#include "harness/base/memory.h"
#include "harness/counters/counter_names.h"
#include "harness/evidence/comparable.h"
#include "harness/numbers/units.h"
#include "harness/records/run_folder.h"

#include <ctype.h>
#include <jansson.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_SIZE = 1024 };

/* One run being exported. */
struct exporting {
    json_t *records;
    json_t *environment; /* NULL: not there */
    json_t *failed;      /* reasons by cell: such a cell has no numbers */
    json_t *names;       /* {cell: its name} by what cells are called without their events */
    json_t *taken;       /* those of the records that are written by all formats but csv */
    struct comparable classes;
    json_t *cells;               /* number in counts, by cell */
    struct class_counts *counts; /* of their samples that are ok */
    FILE *to;
    struct export_result *result;
};

/* Records ------------------------------------------------------------------------------------- */

/* Nanoseconds per operation; 0 if the record has no times. */
static double ns_per_op(const json_t *record)
{
    double ops = field_number(record, "ops");
    return ops > 0 ? field_number(record, "time_ns") / ops : 0;
}

/* Its cell has only ok samples, and it has times. */
static bool has_numbers(const struct exporting *exporting, const json_t *record)
{
    return record_is(record, "ok") && ns_per_op(record) > 0 &&
           !json_object_get(exporting->failed, field_text(record, "cell"));
}

/* Core distances ------------------------------------------------------------------------------ */

static void classes_count(struct exporting *exporting)
{
    comparable_learn(&exporting->classes, exporting->records);
    exporting->cells = json_object();
    exporting->counts = xcalloc(json_array_size(exporting->records) + 1, sizeof *exporting->counts);
    json_each(record, exporting->records) {
        const char *cell = field_text(record, "cell");
        if (!record_is(record, "ok"))
            continue;
        if (!json_object_get(exporting->cells, cell))
            json_object_set_new(exporting->cells, cell,
                                json_integer((json_int_t)json_object_size(exporting->cells)));
        class_count_add(&exporting->counts[field_integer(exporting->cells, cell)],
                        comparable_distance(&exporting->classes, record),
                        comparable_is_marked(record));
    }
}

static const struct class_counts *counts_of(const struct exporting *exporting, const json_t *record)
{
    return &exporting->counts[field_integer(exporting->cells, field_text(record, "cell"))];
}

/* The name for the cell's samples of a class: "near", "far", or "all" if disturbed ones or several
 * core distances are among them; "" of a cell without distances. */
static const char *distance_word(const struct class_counts *counts, enum cell_class which)
{
    size_t all = counts->held[CLASS_ALL];
    if (which != CLASS_ALL)
        return which == CLASS_QUIET ? "" : class_text(which);
    if (!class_counts_have_distances(counts))
        return counts->held[CLASS_QUIET] == all ? "" : class_text(CLASS_ALL);
    return class_text(counts->held[CLASS_NEAR] == all  ? CLASS_NEAR
                      : counts->held[CLASS_FAR] == all ? CLASS_FAR
                                                       : CLASS_ALL);
}

/* The core distance that a sample is exported with. Each that has enough unmarked samples of the
 * cell is exported separately. Samples of no such distance are left out: NULL. If none has enough,
 * all stand together, as in the report. */
static const char *distance_of_sample(const struct exporting *exporting, const json_t *record)
{
    const struct class_counts *counts = counts_of(exporting, record);
    enum core_distance distance = comparable_distance(&exporting->classes, record);
    enum cell_class which = class_of_cell(counts, distance);
    bool together = class_of_cell(counts, DISTANCE_NEAR) == CLASS_ALL &&
                    class_of_cell(counts, DISTANCE_FAR) == CLASS_ALL;
    if (which == CLASS_ALL && !together)
        return NULL;
    return class_holds(which, distance, comparable_is_marked(record)) ? distance_word(counts, which)
                                                                      : NULL;
}

/* Chooses the records for formats that are made for comparing. */
static void choose(struct exporting *exporting)
{
    json_t *together = json_object();
    exporting->taken = json_array();
    json_each(record, exporting->records) {
        if (!has_numbers(exporting, record)) {
            exporting->result->failed++;
            continue;
        }
        const char *distance = distance_of_sample(exporting, record);
        if (distance && strcmp(distance, class_text(CLASS_ALL)) == 0)
            json_object_set_new(together, field_text(record, "cell"), json_true());
        if (distance)
            json_array_append(exporting->taken, record);
        else if (comparable_is_marked(record))
            exporting->result->disturbed++;
        else
            exporting->result->rare++;
    }
    exporting->result->together = json_object_size(together);
    json_decref(together);
}

/* Cells of one sweep may differ in their side, or in their events, alone. */
static void plain_name(const json_t *record, char name[NAME_SIZE])
{
    const char *side = field_text(record, "side");
    snprintf(name, NAME_SIZE, "%s/%s/workers:%lld%s%s", field_text(record, "variant"),
             field_text(record, "workload"), (long long)field_integer(record, "workers"),
             *side ? "/side:" : "", side);
}

/* Notes which cells share a plain name. */
static json_t *names_learn(const json_t *records)
{
    json_t *names = json_object();
    json_each(record, records) {
        char name[NAME_SIZE];
        plain_name(record, name);
        if (!json_object_get(names, name))
            json_object_set_new(names, name, json_object());
        if (record_is(record, "ok"))
            json_object_set_new(json_object_get(names, name), field_text(record, "cell"),
                                json_true());
    }
    return names;
}

/* The names of its events if another cell has all else the same, else NULL; free() it. */
static char *events_apart(const struct exporting *exporting, const json_t *record)
{
    char name[NAME_SIZE];
    plain_name(record, name);
    if (json_object_size(json_object_get(exporting->names, name)) < 2)
        return NULL;
    return record_event_names(record, "+");
}

/* The name of a record that is taken; free() it. */
static char *name_make(const struct exporting *exporting, const json_t *record)
{
    char plain[NAME_SIZE], *events = events_apart(exporting, record);
    const char *distance = distance_of_sample(exporting, record);
    plain_name(record, plain);
    char *name = text_format("%s%s%s%s%s", plain, events ? "/events:" : "", events ? events : "",
                             *distance ? "/distance:" : "", distance);
    free(events);
    return name;
}

/* The first of these that is known, in ns per operation, owned by the caller; NULL if none is. */
static json_t *cpu_time(const json_t *record)
{
    static const char *const names[] = {"PROCESS_CPU_NS", "perf::TASK-CLOCK"};
    for (size_t n = 0; n < sizeof names / sizeof names[0]; n++) {
        json_t *per_op = json_object_get(record_event(record, names[n]), "per_op");
        if (per_op)
            return json_incref(per_op);
    }
    if (json_is_number(json_object_get(record, "cpu_ns")))
        return json_real(field_number(record, "cpu_ns") / field_number(record, "ops"));
    return NULL;
}

/* gbench -------------------------------------------------------------------------------------- */

static json_t *gbench_context(const struct exporting *exporting)
{
    const json_t *cpu = json_object_get(exporting->environment, "cpu");
    const json_t *build = json_object_get(exporting->environment, "build");
    json_t *context = json_pack("{ss si}", "executable", "schedlab", "json_schema_version", 1);
    const json_t *first = json_array_get(exporting->records, 0);
    const char *started = field_text(first, "started");
    if (!*started) /* a simulated sample does not say */
        started = field_text(exporting->environment, "taken");
    if (first)
        json_object_set_new(context, "date", json_string(started));
    if (json_is_integer(json_object_get(cpu, "usable_threads")))
        json_object_set(context, "num_cpus", json_object_get(cpu, "usable_threads"));
    if (json_is_string(json_object_get(build, "revision")))
        json_object_set(context, "schedlab", json_object_get(build, "revision"));
    number_into_json(context, "distance_near_ns", exporting->classes.distances.near_ns);
    number_into_json(context, "distance_far_ns", exporting->classes.distances.far_ns);
    return context;
}

static json_t *gbench_entry(const json_t *record, json_t *family, const char *name)
{
    json_int_t index = field_integer(family, "done");
    json_t *entry = json_pack("{ss sO si ss ss sO sI si sO sf ss}", "name", name, "family_index",
                              json_object_get(family, "index"), "per_family_instance_index", 0,
                              "run_name", name, "run_type", "iteration", "repetitions",
                              json_object_get(family, "count"), "repetition_index", index,
                              "threads", 1, "iterations", json_object_get(record, "ops"),
                              "real_time", ns_per_op(record), "time_unit", "ns");
    json_object_set_new(family, "done", json_integer(index + 1));
    double line_ns = comparable_line_ns(record);
    if (isfinite(line_ns))
        json_object_set_new(entry, "line_ns", json_real(line_ns));
    if (comparable_is_marked(record))
        json_object_set_new(entry, "label", json_string("disturbed"));
    json_each(event, json_object_get(record, "events")) {
        json_t *value = json_object_get(event, "per_op");
        if (!value)
            value = json_object_get(event, "value"); /* a peak */
        if (value)
            json_object_set(entry, counter_short_name(field_text(event, "name")), value);
    }
    return entry;
}

/* Each cell as {index, count, done}, by name. */
static json_t *gbench_families(const struct exporting *exporting)
{
    json_t *families = json_object();
    json_each(record, exporting->taken) {
        char *name = name_make(exporting, record);
        json_t *family = json_object_get(families, name);
        if (!family) {
            family = json_pack("{si si si}", "index", (int)json_object_size(families), "count", 0,
                               "done", 0);
            json_object_set_new(families, name, family);
        }
        free(name);
        json_t *count = json_object_get(family, "count");
        json_integer_set(count, json_integer_value(count) + 1);
    }
    return families;
}

static void gbench_write(const struct exporting *exporting)
{
    json_t *families = gbench_families(exporting), *benchmarks = json_array();
    json_each(record, exporting->taken) {
        char *name = name_make(exporting, record);
        json_t *entry = gbench_entry(record, json_object_get(families, name), name);
        free(name);
        json_t *cpu = cpu_time(record);
        if (cpu)
            json_object_set_new(entry, "cpu_time", cpu);
        exporting->result->without_cpu += !cpu;
        json_array_append_new(benchmarks, entry);
    }
    exporting->result->samples = json_array_size(benchmarks);
    json_t *whole =
        json_pack("{so so}", "context", gbench_context(exporting), "benchmarks", benchmarks);
    json_dumpf(whole, exporting->to, JSON_INDENT(2) | JSON_REAL_PRECISION(15));
    fputc('\n', exporting->to);
    json_decref(whole);
    json_decref(families);
}

/* benchstat ----------------------------------------------------------------------------------- */

/* Commas become slashes, as between the parts of a Go benchmark's name. */
static void put_specification(FILE *to, const char *text)
{
    for (; *text; text++)
        fputc(*text == ',' ? '/' : *text, to);
}

static const char *go_architecture(const char *architecture)
{
    if (strcmp(architecture, "x86_64") == 0)
        return "amd64";
    return strcmp(architecture, "aarch64") == 0 ? "arm64" : architecture;
}

static void benchstat_header(const struct exporting *exporting)
{
    const json_t *kernel = json_object_get(exporting->environment, "kernel");
    const json_t *cpu = json_object_get(exporting->environment, "cpu");
    const char *architecture = field_text(kernel, "architecture");
    const char *model = field_text(cpu, "model");
    fputs("goos: linux\n", exporting->to);
    if (*architecture)
        fprintf(exporting->to, "goarch: %s\n", go_architecture(architecture));
    fputs("pkg: schedlab\n", exporting->to);
    if (*model)
        fprintf(exporting->to, "cpu: %s\n", model);
}

static void benchstat_events(FILE *to, const json_t *record)
{
    json_each(event, json_object_get(record, "events")) {
        const json_t *per_op = json_object_get(event, "per_op");
        const json_t *value = json_object_get(event, "value");
        if (per_op)
            fprintf(to, " %.15g %s/op", json_number_value(per_op),
                    counter_short_name(field_text(event, "name")));
        else if (value)
            fprintf(to, " %.15g %s", json_number_value(value),
                    counter_short_name(field_text(event, "name")));
    }
}

static void benchstat_latency(FILE *to, const json_t *record)
{
    static const struct {
        const char *key, *unit;
    } parts[] = {{"p50_ns", "p50-ns"},
                 {"p90_ns", "p90-ns"},
                 {"p99_ns", "p99-ns"},
                 {"p999_ns", "p99.9-ns"},
                 {"max_ns", "max-ns"}};
    const json_t *latency = json_object_get(record, "latency");
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        if (json_is_number(json_object_get(latency, parts[i].key)))
            fprintf(to, " %.15g %s", field_number(latency, parts[i].key), parts[i].unit);
}

/* Writes the keys that tell the cell from others of the same name. */
static void benchstat_apart(const struct exporting *exporting, const json_t *record)
{
    char *events = events_apart(exporting, record);
    if (*field_text(record, "side"))
        fprintf(exporting->to, "/side=%s", field_text(record, "side"));
    if (events)
        fprintf(exporting->to, "/events=%s", events);
    free(events);
}

static void benchstat_line(const struct exporting *exporting, const json_t *record)
{
    FILE *to = exporting->to;
    const char *variant = field_text(record, "variant");
    long long workers = field_integer(record, "workers");
    fprintf(to, "Benchmark%c", toupper((unsigned char)*variant));
    put_specification(to, variant + 1);
    fputc('/', to);
    put_specification(to, field_text(record, "workload"));
    benchstat_apart(exporting, record);
    fprintf(to, "/P=%lld-%lld %.0f %.15g ns/op", workers, workers, field_number(record, "ops"),
            ns_per_op(record));
    benchstat_latency(to, record);
    if (isfinite(comparable_line_ns(record)))
        fprintf(to, " %.15g line-ns", comparable_line_ns(record));
    benchstat_events(to, record);
    fputc('\n', to);
}

/* One distance after the other: a line of configuration holds for all that follow it. */
static void benchstat_write(const struct exporting *exporting)
{
    static const char *const distances[] = {"", "near", "far", "all"};
    benchstat_header(exporting);
    for (size_t m = 0; m < sizeof distances / sizeof distances[0]; m++) {
        bool begun = !*distances[m];
        json_each(record, exporting->taken) {
            if (strcmp(distance_of_sample(exporting, record), distances[m]) != 0)
                continue;
            if (!begun)
                fprintf(exporting->to, "distance: %s\n", distances[m]);
            begun = true;
            benchstat_line(exporting, record);
        }
    }
    exporting->result->samples = json_array_size(exporting->taken);
}

/* csv ----------------------------------------------------------------------------------------- */

static void flatten(json_t *flat, const char *key, json_t *value);

static void flatten_parts(json_t *flat, const char *key, json_t *object)
{
    const char *part;
    json_t *value;
    json_object_foreach(object, part, value)
    {
        char name[NAME_SIZE];
        snprintf(name, sizeof name, "%s.%s", key, part);
        if (strcmp(part, "buckets") != 0) /* a histogram is no column */
            flatten(flat, name, value);
    }
}

/* Puts a list into one field: texts and numbers, one behind the other. */
static void flatten_list(json_t *flat, const char *key, const json_t *list)
{
    char *text = NULL;
    size_t i;
    const json_t *value;
    FILE *to = memory_stream(&text, NULL);
    json_array_foreach(list, i, value)
    {
        fputs(i ? ";" : "", to);
        if (json_is_string(value))
            fputs(json_string_value(value), to);
        else if (json_is_number(value))
            fprintf(to, "%.15g", json_number_value(value));
    }
    fclose(to);
    json_object_set_new(flat, key, json_string(text));
    free(text);
}

static void flatten_events(json_t *flat, json_t *events)
{
    json_each(event, events) {
        char key[NAME_SIZE];
        snprintf(key, sizeof key, "event.%s", counter_short_name(field_text(event, "name")));
        json_object_set(flat, key,
                        json_object_get(event, "value") ? json_object_get(event, "value")
                                                        : json_null());
        if (!json_object_get(event, "per_op"))
            continue;
        snprintf(key, sizeof key, "event.%s.per_op", counter_short_name(field_text(event, "name")));
        json_object_set(flat, key, json_object_get(event, "per_op"));
    }
}

static json_int_t calls_of(const json_t *iterations)
{
    json_int_t calls = 0;
    json_each(iteration, iterations) {
        json_int_t of_one = field_integer(iteration, "calls");
        calls += of_one > 0 ? of_one : 1;
    }
    return calls;
}

/* Iterations become the number of calls. A value that could not be had has its column, and is
 * empty. Lists of objects (structures, sites) are tables of their own, and no column. */
static void flatten(json_t *flat, const char *key, json_t *value)
{
    if (strcmp(key, "events") == 0)
        flatten_events(flat, value);
    else if (strcmp(key, "iterations") == 0)
        json_object_set_new(flat, key, json_integer(calls_of(value)));
    else if (json_object_get(value, "absent"))
        json_object_set_new(flat, key, json_null());
    else if (json_is_object(value))
        flatten_parts(flat, key, value);
    else if (json_is_object(json_array_get(value, 0)))
        return;
    else if (json_is_array(value))
        flatten_list(flat, key, value);
    else
        json_object_set(flat, key, value);
}

static void put_quoted(FILE *to, const char *text)
{
    if (!text[strcspn(text, ",\"\r\n")]) {
        fputs(text, to);
        return;
    }
    fputc('"', to);
    for (; *text; text++) {
        fputs(*text == '"' ? "\"" : "", to);
        fputc(*text, to);
    }
    fputc('"', to);
}

static void put_field(FILE *to, const json_t *value)
{
    if (json_is_string(value))
        put_quoted(to, json_string_value(value));
    else if (json_is_integer(value))
        fprintf(to, "%lld", json_integer_value(value));
    else if (json_is_real(value))
        fprintf(to, "%.15g", json_real_value(value));
    else if (json_is_boolean(value))
        fputs(json_is_true(value) ? "true" : "false", to);
}

static void csv_write(const struct exporting *exporting)
{
    json_t *flats = json_array(), *columns = json_object(), *value;
    const char *key;
    json_each(record, exporting->records) {
        json_t *flat = json_object();
        json_object_foreach(record, key, value) flatten(flat, key, value);
        enum core_distance distance = comparable_distance(&exporting->classes, record);
        if (distance != DISTANCE_NONE)
            json_object_set_new(flat, "distance", json_string(core_distance_text(distance)));
        json_object_update_missing(columns, flat);
        json_array_append_new(flats, flat);
    }
    const char *comma = "";
    json_object_foreach(columns, key, value)
    {
        fputs(comma, exporting->to);
        put_quoted(exporting->to, key);
        comma = ",";
    }
    fputs("\r\n", exporting->to);
    json_each(record, flats) {
        comma = "";
        json_object_foreach(columns, key, value)
        {
            fputs(comma, exporting->to);
            put_field(exporting->to, json_object_get(record, key));
            comma = ",";
        }
        fputs("\r\n", exporting->to);
    }
    exporting->result->samples = json_array_size(flats);
    json_decref(columns);
    json_decref(flats);
}

/* tidy ---------------------------------------------------------------------------------------- */

/* missing: why there is no value, where there is none. */
static void tidy_line(const struct exporting *exporting, const json_t *record, const char *metric,
                      double value, const char *missing)
{
    static const char *const keys[] = {"cell",    "variant", "workload", "workers",
                                       "machine", "block",   "status"};
    FILE *to = exporting->to;
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        put_field(to, json_object_get(record, keys[i]));
        fputc(',', to);
    }
    enum core_distance distance = comparable_distance(&exporting->classes, record);
    fprintf(to, "%s,%s,", comparable_is_marked(record) ? "true" : "false",
            distance == DISTANCE_NONE ? "" : core_distance_text(distance));
    put_quoted(to, metric);
    if (isfinite(value)) {
        fprintf(to, ",%.15g,\r\n", value);
    } else {
        fputs(",,", to);
        put_quoted(to, missing);
        fputs("\r\n", to);
    }
}

/* Why has_numbers() does not hold. */
static const char *tidy_why(const json_t *record)
{
    const char *reason = field_text(record, "reason");
    if (!record_is(record, "ok"))
        return *reason ? reason : field_text(record, "status");
    return ns_per_op(record) > 0 ? "another sample of the cell failed" : "it made no operation";
}

static void tidy_latencies(const struct exporting *exporting, const json_t *record)
{
    static const char *const keys[] = {"p50_ns", "p90_ns", "p99_ns", "p999_ns", "max_ns"};
    const json_t *latency = json_object_get(record, "latency");
    for (size_t i = 0; latency && i < sizeof keys / sizeof keys[0]; i++)
        tidy_line(exporting, record, keys[i], field_number(latency, keys[i]),
                  "too few operations were timed");
}

static void tidy_write(const struct exporting *exporting)
{
    fputs("cell,variant,workload,workers,machine,block,status,disturbed,distance,metric,value,"
          "missing\r\n",
          exporting->to);
    json_each(record, exporting->records) {
        bool ok = has_numbers(exporting, record);
        tidy_line(exporting, record, "throughput", ok ? field_number(record, "throughput") : NAN,
                  ok ? "" : tidy_why(record));
        if (!ok)
            continue;
        tidy_line(exporting, record, "ns_per_op", ns_per_op(record), "");
        tidy_latencies(exporting, record);
        json_each(event, json_object_get(record, "events"))
            tidy_line(exporting, record, counter_short_name(field_text(event, "name")),
                      record_event_value(event), field_text(event, "absent"));
    }
    exporting->result->samples = json_array_size(exporting->records);
}

/* Whole --------------------------------------------------------------------------------------- */

/* One failed sample, and its cell has no speed. */
static json_t *failed_cells(const json_t *records)
{
    json_t *failed = json_object();
    json_each(record, records) {
        if (record_is(record, "failed"))
            json_object_set_new(failed, field_text(record, "cell"), json_true());
    }
    return failed;
}

int export_run(const char *folder, enum export_format format, FILE *to,
               struct export_result *result, struct error *error)
{
    static void (*const writers[])(const struct exporting *exporting) = {
        [EXPORT_GBENCH] = gbench_write,
        [EXPORT_BENCHSTAT] = benchstat_write,
        [EXPORT_CSV] = csv_write,
        [EXPORT_TIDY] = tidy_write,
    };
    *result = (struct export_result){0};
    json_t *records = run_folder_records(folder, true, &result->flaws, error);
    if (!records)
        return -1;
    json_t *environment = run_folder_environment(folder, error);
    if (*error->text) {
        json_decref(environment);
        json_decref(records);
        return -1;
    }
    struct exporting exporting = {
        .records = records,
        .environment = environment,
        .failed = failed_cells(records),
        .names = names_learn(records),
        .to = to,
        .result = result,
    };
    classes_count(&exporting);
    if (format != EXPORT_CSV && format != EXPORT_TIDY)
        choose(&exporting);
    writers[format](&exporting);
    free(exporting.counts);
    json_decref(exporting.cells);
    json_decref(exporting.taken);
    json_decref(exporting.failed);
    json_decref(exporting.names);
    json_decref(exporting.environment);
    json_decref(records);
    return 0;
}
