/* sweep_schema.c - see sweep_schema.h. */
#include "harness/plan/sweep_schema.h"

#include "harness/records/sample_request.h"
#include "harness/spec/spec.h"

#include <cyaml/cyaml.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const warmup_words[] = {"auto", NULL};
static const char *const truth_words[] = {"false", "true", NULL};

const struct param sweep_file_params[] = {
    PARAM_NUMBER(struct sweep_file, reps, 8, 1, 1000, "repetitions", "schedlab",
                 "blocks at least; a block measures each cell once"),
    PARAM_NUMBER(struct sweep_file, reps_max, 0, 1, 1000, "repetitions", "schedlab",
                 "blocks at most; left out: as many as reps"),
    PARAM_NUMBER(struct sweep_file, width, 0, 0, 100, "percent", "schedlab",
                 "of the median, that its 95 % interval may span; 0: no matter"),
    PARAM_NUMBER(struct sweep_file, timeout_s, 20, 1, 86400, "s", "schedlab", "limit per sample"),
    PARAM_NUMBER(struct sweep_file, min_time_ms, 100, 0, 600000, "ms", "schedlab",
                 "timed calls of a sample take at least this long"),
    PARAM_NUMBER(struct sweep_file, iterations, 1, 1, SAMPLE_ITERATIONS_MAX, "calls", "schedlab",
                 "timed calls of a sample at least"),
    PARAM_NUMBER_OR(struct sweep_file, warmup, 1, 0, 1000, warmup_words, WARMUP_AUTO, "calls",
                    "schedlab", "untimed calls before the timed ones"),
    PARAM_NUMBER(struct sweep_file, steal_max, STEAL_MAX_DEFAULT_PERCENT, 0, 100, "percent",
                 "schedlab", "of a sample's time that the hypervisor may take before it is marked"),
    PARAM_WORD(struct sweep_file, repeat_disturbed, truth_words, false, "schedlab",
               "measure marked samples again"),
    PARAM_NUMBER(struct sweep_file, class_min, 0, 0, 1000, "samples", "schedlab",
                 "at the run's most common core distance, for cells on several workers"),
    PARAM_WORD(struct sweep_file, class_each, truth_words, false, "schedlab",
               "class_min holds for each core distance of the run"),
    PARAM_NUMBER(struct sweep_file, seed, -1, 0, INT64_MAX, "1", "schedlab",
                 "of the shuffling and of the samples"),
    {.name = NULL},
};

/* Schema -------------------------------------------------------------------------------------- */

static const cyaml_schema_value_t number_schema = {
    CYAML_VALUE_INT(CYAML_FLAG_DEFAULT, int64_t),
};

static const cyaml_strval_t figure_words[] = {
    {"throughput", SWEEP_FIGURE_THROUGHPUT},
    {"speedup", SWEEP_FIGURE_SPEEDUP},
    {"events", SWEEP_FIGURE_EVENTS},
    {"latency", SWEEP_FIGURE_LATENCY},
    {"knob", SWEEP_FIGURE_KNOB},
    {"heatmap", SWEEP_FIGURE_HEATMAP},
    {"scale", SWEEP_FIGURE_SCALE},
    {"stalls", SWEEP_FIGURE_STALLS},
    {"metric", SWEEP_FIGURE_METRIC},
    {"surface", SWEEP_FIGURE_SURFACE},
};

/* Not CYAML_FIELD_BOOL, which takes any other word for true. */
static const cyaml_strval_t pin_words[] = {{"true", true}, {"false", false}};

enum { FIGURE_WORDS = CYAML_ARRAY_LEN(figure_words) };

static const cyaml_schema_field_t knob_fields[] = {
    YAML_TEXT("name", struct sweep_knob, name),
    YAML_LIST("values", struct sweep_knob, values, yaml_text),
    CYAML_FIELD_END,
};

static const cyaml_schema_field_t expect_fields[] = {
    YAML_MAY_TEXT("variant", struct sweep_expect, variant),
    YAML_MAY_TEXT("workload", struct sweep_expect, workload),
    CYAML_FIELD_INT("workers", CYAML_FLAG_OPTIONAL, struct sweep_expect, workers),
    YAML_TEXT("metric", struct sweep_expect, metric),
    YAML_TEXT("value", struct sweep_expect, value_text),
    YAML_TEXT("within", struct sweep_expect, within_text),
    YAML_TEXT("source", struct sweep_expect, source),
    CYAML_FIELD_END,
};

static const cyaml_schema_value_t expect_schema = YAML_ENTRY(struct sweep_expect, expect_fields);

static const cyaml_schema_field_t group_fields[] = {
    YAML_TEXT("id", struct sweep_group, id),
    YAML_TEXT("question", struct sweep_group, question),
    CYAML_FIELD_ENUM("figure", CYAML_FLAG_OPTIONAL | CYAML_FLAG_STRICT, struct sweep_group, figure,
                     figure_words, FIGURE_WORDS),
    YAML_MAY_TEXT("metric", struct sweep_group, metric),
    YAML_MAY_TEXT("parameter", struct sweep_group, parameter),
    YAML_TEXT("baseline", struct sweep_group, baseline),
    YAML_LIST("variants", struct sweep_group, variants, yaml_text),
    YAML_LIST("workloads", struct sweep_group, workloads, yaml_text),
    YAML_LIST("workers", struct sweep_group, workers, number_schema),
    YAML_MAY_LIST("events", struct sweep_group, events, yaml_text),
    YAML_MAY_TEXT("machine", struct sweep_group, machine),
    YAML_MAY_TEXT("what_if", struct sweep_group, what_if),
    YAML_MAY_LIST("expect", struct sweep_group, expect, expect_schema),
    YAML_MAY_STRUCT("knob", struct sweep_group, knob, knob_fields),
    YAML_MAY_STRUCT("knob2", struct sweep_group, knob2, knob_fields),
    CYAML_FIELD_END,
};

static const cyaml_schema_value_t group_schema = YAML_ENTRY(struct sweep_group, group_fields);

static const cyaml_schema_field_t sweep_fields[] = {
    YAML_TEXT("name", struct sweep_file, name),
    YAML_TEXT("title", struct sweep_file, title),
    CYAML_FIELD_INT("reps", CYAML_FLAG_OPTIONAL, struct sweep_file, reps),
    CYAML_FIELD_INT("reps_max", CYAML_FLAG_OPTIONAL, struct sweep_file, reps_max),
    CYAML_FIELD_INT("width", CYAML_FLAG_OPTIONAL, struct sweep_file, width),
    CYAML_FIELD_INT("timeout_s", CYAML_FLAG_OPTIONAL, struct sweep_file, timeout_s),
    CYAML_FIELD_INT("min_time_ms", CYAML_FLAG_OPTIONAL, struct sweep_file, min_time_ms),
    CYAML_FIELD_INT("iterations", CYAML_FLAG_OPTIONAL, struct sweep_file, iterations),
    YAML_MAY_TEXT("warmup", struct sweep_file, warmup_text),
    YAML_MAY_TEXT("repeat_disturbed", struct sweep_file, repeat_disturbed_text),
    CYAML_FIELD_INT("steal_max", CYAML_FLAG_OPTIONAL, struct sweep_file, steal_max),
    CYAML_FIELD_INT("class_min", CYAML_FLAG_OPTIONAL, struct sweep_file, class_min),
    YAML_MAY_TEXT("class_each", struct sweep_file, class_each_text),
    CYAML_FIELD_INT("seed", CYAML_FLAG_OPTIONAL, struct sweep_file, seed),
    CYAML_FIELD_ENUM("pin", CYAML_FLAG_OPTIONAL | CYAML_FLAG_STRICT, struct sweep_file, pin,
                     pin_words, CYAML_ARRAY_LEN(pin_words)),
    YAML_MAY_TEXT("machine", struct sweep_file, machine),
    YAML_MAY_TEXT("what_if", struct sweep_file, what_if),
    YAML_MAY_LIST("events", struct sweep_file, events, yaml_text),
    YAML_LIST("groups", struct sweep_file, groups, group_schema),
    CYAML_FIELD_END,
};

static const cyaml_schema_value_t sweep_schema = YAML_FILE(struct sweep_file, sweep_fields);

const char *sweep_figure_name(enum sweep_figure figure)
{
    for (int i = 0; i < FIGURE_WORDS; i++)
        if (figure_words[i].val == (int64_t)figure)
            return figure_words[i].str;
    return "unknown";
}

/* Mistakes ------------------------------------------------------------------------------------ */

static const struct yaml_owner owners[] = {{sweep_fields, "a sweep"},
                                           {group_fields, "a group"},
                                           {knob_fields, "a knob"},
                                           {expect_fields, "an expectation"},
                                           {NULL, NULL}};

bool sweep_complain_of_number(const struct yaml_reader *reader, size_t line, const char *key,
                              const char *value)
{
    struct param_text range = {"a whole number"};
    for (const struct param *param = sweep_file_params; param->name; param++)
        if (strcmp(param->name, key) == 0)
            range = param_range_text(param);
    if (strcmp(key, "workers") == 0)
        snprintf(range.s, sizeof range.s, "1 to %d", SAMPLE_WORKERS_MAX);
    return yaml_complain(reader, line, "%s is %s; valid: %s", key, value, range.s);
}

/* Loading ------------------------------------------------------------------------------------- */

struct sweep_file *sweep_schema_load(const struct yaml_reader *reader)
{
    static const struct yaml_schema schema = {&sweep_schema, owners, "harness/plan/sweep_file.h",
                                              sweep_complain_of_number};
    return yaml_reader_load(reader, &schema, NULL);
}

void sweep_file_free(struct sweep_file *sweep)
{
    for (unsigned g = 0; sweep && g < sweep->groups_count; g++)
        free(sweep->groups[g].left_out);
    if (sweep)
        yaml_data_free(&sweep_schema, sweep, 0);
}
