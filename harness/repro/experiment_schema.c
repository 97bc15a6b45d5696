/* experiment_schema.c - see experiment_schema.h. */
#include "harness/repro/experiment_schema.h"

#include <stdlib.h>
#include <string.h>

/* A text, and one that may be left out. */
#define TEXT(key, owner, field)                                                                    \
    CYAML_FIELD_STRING_PTR(key, CYAML_FLAG_POINTER, struct owner, field, 1, CYAML_UNLIMITED)
#define MAY_TEXT(key, owner, field)                                                                \
    CYAML_FIELD_STRING_PTR(key, CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, struct owner, field, 1,  \
                           CYAML_UNLIMITED)
#define MAY_TEXTS(key, owner, field)                                                               \
    CYAML_FIELD_SEQUENCE(key, CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, struct owner, field,       \
                         &text_schema, 1, CYAML_UNLIMITED)
#define MAY_BE(key, owner, field)                                                                  \
    CYAML_FIELD_ENUM(key, CYAML_FLAG_OPTIONAL | CYAML_FLAG_STRICT, struct owner, field,            \
                     truth_words, CYAML_ARRAY_LEN(truth_words))

static const cyaml_schema_value_t text_schema = {
    CYAML_VALUE_STRING(CYAML_FLAG_POINTER, char, 1, CYAML_UNLIMITED),
};

/* Not CYAML_FIELD_BOOL, which takes any other word for true. */
static const cyaml_strval_t truth_words[] = {{"false", false}, {"true", true}};

static const cyaml_schema_field_t expect_fields[] = {
    TEXT("says", experiment_expect, says),
    MAY_TEXT("level", experiment_expect, level),
    MAY_TEXT("over", experiment_expect, over),
    MAY_TEXT("at_least", experiment_expect, at_least),
    MAY_TEXT("at_most", experiment_expect, at_most),
    MAY_TEXT("exactly", experiment_expect, exactly),
    MAY_TEXTS("between", experiment_expect, between),
    MAY_TEXTS("table", experiment_expect, table),
    MAY_TEXT("variant", experiment_expect, variant),
    MAY_TEXT("workload", experiment_expect, workload),
    CYAML_FIELD_IGNORE("workers", CYAML_FLAG_OPTIONAL),
    MAY_TEXT("machine", experiment_expect, machine),
    MAY_TEXT("metric", experiment_expect, metric),
    MAY_TEXT("source", experiment_expect, source),
    CYAML_FIELD_END,
};

static const cyaml_schema_value_t expect_schema = {
    CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, struct experiment_expect, expect_fields),
};

static const cyaml_schema_field_t part_fields[] = {
    TEXT("id", experiment_part, id),
    MAY_TEXT("question", experiment_part, question),
    CYAML_FIELD_IGNORE("variant", CYAML_FLAG_OPTIONAL),
    TEXT("factor", experiment_part, factor_text),
    CYAML_FIELD_SEQUENCE("levels", CYAML_FLAG_POINTER, struct experiment_part, levels, &text_schema,
                         1, CYAML_UNLIMITED),
    MAY_TEXT("baseline", experiment_part, baseline_text),
    CYAML_FIELD_IGNORE("workload", CYAML_FLAG_OPTIONAL),
    CYAML_FIELD_IGNORE("workers", CYAML_FLAG_OPTIONAL),
    MAY_TEXT("metric", experiment_part, metric),
    MAY_TEXTS("events", experiment_part, events),
    MAY_TEXT("figure", experiment_part, figure_text),
    MAY_TEXTS("machines", experiment_part, machines),
    MAY_BE("crowded", experiment_part, crowded),
    MAY_TEXT("together", experiment_part, together),
    MAY_BE("full", experiment_part, full),
    CYAML_FIELD_IGNORE("held", CYAML_FLAG_OPTIONAL),
    CYAML_FIELD_SEQUENCE("expect", CYAML_FLAG_POINTER, struct experiment_part, expect,
                         &expect_schema, 1, CYAML_UNLIMITED),
    CYAML_FIELD_END,
};

static const cyaml_schema_value_t part_schema = {
    CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, struct experiment_part, part_fields),
};

static const cyaml_schema_field_t experiment_fields[] = {
    TEXT("id", experiment, id),
    TEXT("title", experiment, title),
    TEXT("claim", experiment, claim),
    TEXT("source", experiment, source),
    TEXT("why", experiment, why),
    TEXT("refuted", experiment, refuted),
    MAY_TEXTS("machines", experiment, machines),
    MAY_TEXTS("events", experiment, events),
    CYAML_FIELD_IGNORE("reps", CYAML_FLAG_OPTIONAL),
    CYAML_FIELD_IGNORE("reps_max", CYAML_FLAG_OPTIONAL),
    CYAML_FIELD_IGNORE("width", CYAML_FLAG_OPTIONAL),
    CYAML_FIELD_IGNORE("timeout_s", CYAML_FLAG_OPTIONAL),
    CYAML_FIELD_IGNORE("min_time_ms", CYAML_FLAG_OPTIONAL),
    CYAML_FIELD_IGNORE("iterations", CYAML_FLAG_OPTIONAL),
    CYAML_FIELD_IGNORE("warmup", CYAML_FLAG_OPTIONAL),
    CYAML_FIELD_IGNORE("native_min_time_ms", CYAML_FLAG_OPTIONAL),
    CYAML_FIELD_IGNORE("native_warmup", CYAML_FLAG_OPTIONAL),
    CYAML_FIELD_IGNORE("seed", CYAML_FLAG_OPTIONAL),
    CYAML_FIELD_SEQUENCE("parts", CYAML_FLAG_POINTER, struct experiment, parts, &part_schema, 1,
                         CYAML_UNLIMITED),
    CYAML_FIELD_END,
};

static const cyaml_schema_value_t experiment_schema = {
    CYAML_VALUE_MAPPING(CYAML_FLAG_POINTER, struct experiment, experiment_fields),
};

static const cyaml_schema_field_t *fields_of(const char *place, const char **owner)
{
    bool is_expect = strstr(place, "/expect/") != NULL;
    *owner = is_expect ? "an expectation" : *place ? "a part" : "an experiment";
    return is_expect ? expect_fields : *place ? part_fields : experiment_fields;
}

static void complain_of_schema(const struct yaml_reader *reader, const struct yaml_mistake *mistake)
{
    yaml_complain_of_schema(reader, mistake, fields_of, "harness/repro/experiment.h");
}

struct experiment *experiment_schema_load(const struct yaml_reader *reader)
{
    return yaml_reader_load(reader, &experiment_schema, complain_of_schema);
}

static const cyaml_schema_value_t expects_schema = {
    CYAML_VALUE_SEQUENCE(CYAML_FLAG_POINTER, struct experiment_expect, &expect_schema, 0,
                         CYAML_UNLIMITED),
};

void experiment_expects_free(struct experiment_expect *expect, unsigned count)
{
    cyaml_config_t config = yaml_mistake_config(NULL);
    cyaml_free(&config, &expects_schema, expect, count);
}

void experiment_schema_free(struct experiment *experiment)
{
    cyaml_config_t config = yaml_mistake_config(NULL);
    cyaml_free(&config, &experiment_schema, experiment, 0);
}
