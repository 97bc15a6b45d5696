/* verdict_json.c - see verdict_json.h. */
#include "harness/repro/verdict_json.h"

#include "harness/base/memory.h"
#include "harness/numbers/units.h"
#include "harness/repro/outcome.h"

#include <math.h>
#include <stdlib.h>

static void text_set(json_t *object, const char *key, const char *text)
{
    if (text && *text)
        json_object_set_new(object, key, json_string(text));
}

static void interval_set(json_t *object, struct interval interval)
{
    number_into_json(object, "median", interval.median);
    number_into_json(object, "lo", interval.lo);
    number_into_json(object, "hi", interval.hi);
}

static json_t *side_to_json(const struct verdict_side *side)
{
    const struct experiment_cell *cell = &side->cell;
    json_t *object = json_pack("{ss ss sI ss ss sI}", "variant", cell->variant, "workload",
                               cell->workload, "workers", (json_int_t)cell->workers, "machine",
                               cell->machine, "group", cell->group, "n", (json_int_t)side->value.n);
    interval_set(object, side->value);
    text_set(object, "order", side->text);
    if (side->runtime)
        json_object_set(object, "runtime", (json_t *)side->runtime);
    return object;
}

/* "63.1x (60.2x to 66.0x)", to be freed; NULL where there is nothing. */
static char *effect_text(const struct judged *judged, const struct verdict_column *column)
{
    const struct experiment_expect *expect = judged->expect;
    if (expect->is_order)
        return column->level.text && *column->level.text ? xstrdup(column->level.text) : NULL;
    if (column->infinite)
        return xstrdup("without bound");
    if (!isfinite(column->effect.median))
        return NULL;
    struct text median = experiment_number_text(expect, column->effect.median);
    if (column->exact || !statistics_has_interval(column->effect))
        return xstrdup(median.s);
    return text_format("%s (%s to %s)", median.s,
                       experiment_number_text(expect, column->effect.lo).s,
                       experiment_number_text(expect, column->effect.hi).s);
}

static json_t *regimes_to_json(const struct verdict_regimes *regimes)
{
    json_t *values = json_array();
    for (size_t i = 0; i < regimes->count; i++)
        json_array_append_new(values, json_real(regimes->values[i]));
    json_t *object = json_pack(
        "{ss ss sI sI sf sf so}", "of", regimes->of, "text", regimes->text, "low",
        (json_int_t)regimes->found.low, "high", (json_int_t)regimes->found.high, "low_median",
        regimes->found.low_median, "high_median", regimes->found.high_median, "values", values);
    text_set(object, "differ", regimes->differ);
    return object;
}

static json_t *column_to_json(const struct judged *judged, const struct verdict_column *column)
{
    json_t *object = json_pack("{ss}", "verdict", verdict_text(column->verdict));
    json_t *effect = json_pack("{sb}", "exact", column->exact);
    char *text = effect_text(judged, column);
    text_set(object, "lacks", verdict_lack_text(column->lack));
    text_set(object, "reason", column->reason);
    text_set(object, "why", column->why);
    if (!column->exact)
        interval_set(effect, column->effect);
    else
        number_into_json(effect, "median", column->effect.median);
    if (column->infinite)
        json_object_set_new(effect, "infinite", json_true());
    text_set(effect, "text", text);
    if (column->regimes.of)
        json_object_set_new(object, "regimes", regimes_to_json(&column->regimes));
    json_object_set_new(object, "effect", effect);
    json_object_set_new(object, "level", side_to_json(&column->level));
    if (judged->expect->over)
        json_object_set_new(object, "over", side_to_json(&column->over));
    free(text);
    return object;
}

/* The table of the file that the cell is of, and the place in it. */
static json_t *cell_to_json(const struct experiment_expect *expect)
{
    return json_pack("{sI ss sI ss}", "number", (json_int_t)expect->in_file + 1, "says",
                     expect->table_says, "column", (json_int_t)expect->column, "wanted",
                     expect->exactly);
}

static json_t *expect_to_json(const struct experiment_part *part,
                              const struct experiment_expect *expect, unsigned number)
{
    json_t *object =
        json_pack("{sI ss ss ss ss ss}", "number", (json_int_t)number, "says", expect->says, "role",
                  role_name(expect->role), "level", expect->level, "metric",
                  expect->metric ? expect->metric : part->metric, "expected", expect->wanted);
    if (expect->table_says)
        json_object_set_new(object, "table", cell_to_json(expect));
    text_set(object, "over", expect->over);
    text_set(object, "source", expect->source);
    number_into_json(object, "at_least", expect->lo);
    number_into_json(object, "at_most", expect->hi);
    return object;
}

json_t *judged_to_json(const struct judged *judged, const char *machine)
{
    json_t *columns = json_array();
    json_t *object = expect_to_json(judged->part, judged->expect, judged->number);
    text_set(object, "verdict", verdict_text(judged->verdict));
    text_set(object, "told", outcome_told(judged));
    json_object_set_new(
        object, "deterministic",
        json_boolean(experiment_is_deterministic(judged->part, judged->expect, machine)));
    for (unsigned i = 0; i < judged->count; i++)
        json_array_append_new(columns, column_to_json(judged, &judged->columns[i]));
    json_object_set_new(object, "decisive", json_integer(judged->decisive));
    json_object_set_new(object, "columns", columns);
    return object;
}

json_t *texts_to_json(char *const *list, unsigned count)
{
    json_t *array = json_array();
    for (unsigned i = 0; i < count; i++)
        json_array_append_new(array, json_string(list[i]));
    return array;
}

json_t *part_to_json(const struct experiment_part *part)
{
    json_t *workers = json_array(), *expectations = json_array();
    for (unsigned i = 0; i < part->workers_count; i++)
        json_array_append_new(workers, json_integer(part->workers[i]));
    for (unsigned i = 0; i < part->expect_count; i++)
        json_array_append_new(expectations, expect_to_json(part, &part->expect[i], i + 1));
    return json_pack("{ss ss ss so ss ss ss sb so so so so}", "id", part->id, "question",
                     part->question, "factor", experiment_factor_name(part), "levels",
                     texts_to_json(part->levels, part->levels_count), "baseline",
                     part->levels[part->baseline], "metric", part->metric, "figure",
                     sweep_figure_name(part->figure), "full", part->full, "variants",
                     texts_to_json(part->variants, part->variants_count), "workloads",
                     texts_to_json(part->workloads, part->workloads_count), "workers", workers,
                     "expectations", expectations);
}
