/* experiment_schema.c - see experiment_schema.h. */
#include "harness/repro/experiment_schema.h"

#define MAY_BE(key, owner, field, words)                                                           \
    CYAML_FIELD_ENUM(key, CYAML_FLAG_OPTIONAL | CYAML_FLAG_STRICT, struct owner, field, words,     \
                     CYAML_ARRAY_LEN(words))

/* Not CYAML_FIELD_BOOL, which takes any other word for true. */
static const cyaml_strval_t truth_words[] = {{"false", false}, {"true", true}};

static const cyaml_strval_t role_words[] = {
    {"claim", ROLE_CLAIM}, {"size", ROLE_SIZE}, {"price", ROLE_PRICE}, {"check", ROLE_CHECK}};

static const cyaml_schema_field_t expect_fields[] = {
    YAML_TEXT("says", struct experiment_expect, says),
    MAY_BE("role", experiment_expect, role, role_words),
    YAML_MAY_TEXT("level", struct experiment_expect, level),
    YAML_MAY_TEXT("over", struct experiment_expect, over),
    YAML_MAY_TEXT("resolution", struct experiment_expect, resolution_text),
    YAML_MAY_TEXT("at_least", struct experiment_expect, at_least),
    YAML_MAY_TEXT("at_most", struct experiment_expect, at_most),
    YAML_MAY_TEXT("exactly", struct experiment_expect, exactly),
    YAML_MAY_LIST("between", struct experiment_expect, between, yaml_text),
    YAML_MAY_LIST("table", struct experiment_expect, table, yaml_text),
    YAML_MAY_TEXT("variant", struct experiment_expect, variant),
    YAML_MAY_TEXT("workload", struct experiment_expect, workload),
    CYAML_FIELD_IGNORE("workers", CYAML_FLAG_OPTIONAL),
    YAML_MAY_TEXT("machine", struct experiment_expect, machine),
    YAML_MAY_TEXT("metric", struct experiment_expect, metric),
    YAML_MAY_TEXT("source", struct experiment_expect, source),
    CYAML_FIELD_END,
};

static const cyaml_schema_value_t expect_schema =
    YAML_ENTRY(struct experiment_expect, expect_fields);

static const cyaml_schema_field_t part_fields[] = {
    YAML_TEXT("id", struct experiment_part, id),
    YAML_MAY_TEXT("question", struct experiment_part, question),
    CYAML_FIELD_IGNORE("variant", CYAML_FLAG_OPTIONAL),
    YAML_TEXT("factor", struct experiment_part, factor_text),
    YAML_LIST("levels", struct experiment_part, levels, yaml_text),
    YAML_MAY_TEXT("baseline", struct experiment_part, baseline_text),
    CYAML_FIELD_IGNORE("workload", CYAML_FLAG_OPTIONAL),
    CYAML_FIELD_IGNORE("workers", CYAML_FLAG_OPTIONAL),
    YAML_MAY_TEXT("metric", struct experiment_part, metric),
    YAML_MAY_LIST("events", struct experiment_part, events, yaml_text),
    YAML_MAY_TEXT("figure", struct experiment_part, figure_text),
    YAML_MAY_LIST("machines", struct experiment_part, machines, yaml_text),
    MAY_BE("crowded", experiment_part, crowded, truth_words),
    YAML_MAY_TEXT("together", struct experiment_part, together),
    MAY_BE("full", experiment_part, full, truth_words),
    CYAML_FIELD_IGNORE("held", CYAML_FLAG_OPTIONAL),
    YAML_LIST("expect", struct experiment_part, expect, expect_schema),
    CYAML_FIELD_END,
};

static const cyaml_schema_value_t part_schema = YAML_ENTRY(struct experiment_part, part_fields);

static const cyaml_schema_field_t lesson_fields[] = {
    YAML_TEXT("supported", struct experiment_lesson, supported),
    YAML_TEXT("refuted", struct experiment_lesson, refuted),
    YAML_MAY_TEXT("undecided", struct experiment_lesson, undecided),
    YAML_MAY_TEXT("disagree", struct experiment_lesson, disagree),
    CYAML_FIELD_END,
};

static const cyaml_strval_t predicted_words[] = {{"refuted", false}, {"supported", true}};

static const cyaml_schema_field_t dispute_fields[] = {
    YAML_TEXT("thread", struct experiment_dispute, thread),
    YAML_TEXT("number", struct experiment_dispute, number),
    YAML_TEXT("predicted", struct experiment_dispute, predicted),
    YAML_TEXT("prediction", struct experiment_dispute, prediction),
    CYAML_FIELD_ENUM("verdict", CYAML_FLAG_STRICT, struct experiment_dispute, claim_holds,
                     predicted_words, CYAML_ARRAY_LEN(predicted_words)),
    MAY_BE("open", experiment_dispute, open, truth_words),
    CYAML_FIELD_END,
};

static const cyaml_schema_field_t experiment_fields[] = {
    YAML_TEXT("id", struct experiment, id),
    YAML_TEXT("title", struct experiment, title),
    YAML_TEXT("claim", struct experiment, claim),
    YAML_TEXT("source", struct experiment, source),
    YAML_TEXT("why", struct experiment, why),
    YAML_TEXT("refuted", struct experiment, refuted),
    YAML_MAY_STRUCT("lesson", struct experiment, lesson, lesson_fields),
    YAML_MAY_STRUCT("dispute", struct experiment, dispute, dispute_fields),
    MAY_BE("first", experiment, first, truth_words),
    MAY_BE("pin", experiment, pin, truth_words),
    YAML_MAY_LIST("machines", struct experiment, machines, yaml_text),
    YAML_MAY_LIST("events", struct experiment, events, yaml_text),
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
    YAML_LIST("parts", struct experiment, parts, part_schema),
    CYAML_FIELD_END,
};

static const cyaml_schema_value_t experiment_schema =
    YAML_FILE(struct experiment, experiment_fields);

static const struct yaml_owner owners[] = {
    {experiment_fields, "an experiment"}, {lesson_fields, "a lesson"},
    {dispute_fields, "a dispute"},        {part_fields, "a part"},
    {expect_fields, "an expectation"},    {NULL, NULL}};

struct experiment *experiment_schema_load(const struct yaml_reader *reader)
{
    static const struct yaml_schema schema = {
        .value = &experiment_schema, .owners = owners, .where = "harness/repro/experiment.h"};
    return yaml_reader_load(reader, &schema, NULL);
}

static const cyaml_schema_value_t expects_schema = {
    CYAML_VALUE_SEQUENCE(CYAML_FLAG_POINTER, struct experiment_expect, &expect_schema, 0,
                         CYAML_UNLIMITED),
};

void experiment_expects_free(struct experiment_expect *expect, unsigned count)
{
    yaml_data_free(&expects_schema, expect, count);
}

void experiment_schema_free(struct experiment *experiment)
{
    yaml_data_free(&experiment_schema, experiment, 0);
}
