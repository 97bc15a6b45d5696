/* outcome.c - see outcome.h. */
#include "harness/repro/outcome.h"

#include "harness/base/json_fields.h"
#include "harness/base/memory.h"
#include "harness/base/text.h"

#include <stdio.h>

static const char *const names[] = {
    [ROLE_CLAIM] = "claim", [ROLE_SIZE] = "size", [ROLE_PRICE] = "price", [ROLE_CHECK] = "check"};

const char *role_name(enum expect_role role)
{
    return names[role];
}

/* Telling -------------------------------------------------------------------------------------- */

/* On which side of its range a number lies. A text lies on none. */
static const char *side_of(const struct judged *judged)
{
    const struct verdict_column *column = &judged->columns[judged->decisive];
    double median = column->effect.median;
    if (judged->expect->is_order)
        return "otherwise";
    return column->infinite || median > judged->expect->hi ? "larger"
           : median < judged->expect->lo                   ? "smaller"
                                                           : "otherwise";
}

const char *outcome_told(const struct judged *judged)
{
    enum expect_role role = judged->expect->role;
    if (role == ROLE_CLAIM || judged->verdict == VERDICT_UNDECIDED ||
        judged->verdict == VERDICT_NOT_RUN)
        return verdict_text(judged->verdict);
    bool supported = judged->verdict == VERDICT_SUPPORTED;
    if (role == ROLE_CHECK)
        return supported ? "held" : "not held";
    return supported ? "as expected" : side_of(judged);
}

/* Counting ------------------------------------------------------------------------------------- */

static void count_add(json_t *tally, const char *role, const char *told, json_int_t count)
{
    json_t *outcomes = json_object_get(tally, role);
    if (!outcomes) {
        outcomes = json_object();
        json_object_set_new(tally, role, outcomes);
    }
    json_object_set_new(outcomes, told, json_integer(field_integer(outcomes, told) + count));
}

json_t *outcome_tally(const json_t *parts)
{
    json_t *tally = json_object();
    json_each(part, parts) {
        json_each(expectation, json_object_get(part, "expectations"))
            count_add(tally, field_text(expectation, "role"), field_text(expectation, "told"), 1);
    }
    return tally;
}

void outcome_tally_add(json_t *tally, const json_t *other)
{
    const char *role, *told;
    json_t *outcomes, *count;
    json_object_foreach((json_t *)other, role, outcomes)
    {
        json_object_foreach(outcomes, told, count)
            count_add(tally, role, told, json_integer_value(count));
    }
}

/* "; 11 of 13 sizes as expected, 1 undecided"; nothing where there is none of that role. */
static void role_put(FILE *to, const json_t *tally, enum expect_role role, const char *good)
{
    json_int_t all = 0;
    const char *told, *open = verdict_text(VERDICT_UNDECIDED);
    json_t *count, *outcomes = json_object_get(tally, names[role]);
    json_object_foreach(outcomes, told, count) all += json_integer_value(count);
    if (all > 0)
        fprintf(to, "; %lld of %s %s", (long long)field_integer(outcomes, good),
                counted((uint64_t)all, names[role]).s, good);
    if (field_integer(outcomes, open) > 0)
        fprintf(to, ", %lld %s", (long long)field_integer(outcomes, open), open);
}

char *outcome_said(const char *verdict, const json_t *tally)
{
    char *text = NULL;
    FILE *to = memory_stream(&text, NULL);
    if (verdict_of_text(verdict) == VERDICT_NONE)
        fputs("no claim measured", to);
    else if (verdict_of_text(verdict) == VERDICT_DISAGREE)
        fputs("machines disagree on the claim", to);
    else
        fprintf(to, "claim %s", verdict);
    role_put(to, tally, ROLE_SIZE, "as expected");
    role_put(to, tally, ROLE_PRICE, "as expected");
    role_put(to, tally, ROLE_CHECK, "held");
    fclose(to);
    return text;
}
