/* audit_print.c - see audit.h: the result of an audit as a table and as audit.json. */
#include "harness/audit/audit.h"
#include "harness/base/text.h"

#include "harness/numbers/units.h"
#include "harness/records/records.h"

#include <math.h>

static double share(const struct audit_tally *tally)
{
    return tally->comparisons > 0 ? (double)tally->found / (double)tally->comparisons : NAN;
}

/* Table ---------------------------------------------------------------------------------------- */

static void tally_print(const struct audit_tally *tally, const char *what, double expected,
                        FILE *to)
{
    /* The sign is two bytes and one column. */
    fprintf(to, "  %-19s %6zu %6zu %4.0f %% %4.0f to %3.0f %% %6zu   %.3f %8s (%s)\n", what,
            tally->comparisons, tally->found, share(tally) * 100, tally->lo * 100, tally->hi * 100,
            tally->found_adjusted, expected, text_ratio(tally->ratio.median).s,
            text_ratio_interval(tally->ratio).s);
}

static const char *holds_text(bool holds)
{
    return holds ? "holds" : "DOES NOT HOLD";
}

/* An order that was never decided cannot turn around. */
static const char *order_text(const struct audit *audit)
{
    if (audit_order_holds(audit) && audit->order_decided == 0)
        return "holds, but says little: no difference is large enough to be shown here";
    return holds_text(audit_order_holds(audit));
}

static void too_few_print(const struct audit *audit, FILE *to)
{
    size_t slowed = 0;
    for (int i = 0; i < AUDIT_SLOWDOWNS; i++)
        slowed += audit->slower[i].too_few;
    if (audit->same.too_few + slowed > 0)
        fprintf(to,
                "too few samples at one core distance to have p < alpha: %s of equals, left out; "
                "%zu of slowdowns, not found\n",
                counted(audit->same.too_few, "test").s, slowed);
    if (audit->verdicts.too_few > 0)
        fprintf(to, "too few samples for the report to name anybody: %s, left out\n",
                counted(audit->verdicts.too_few, "round").s);
}

void audit_print(const struct audit *audit, FILE *to)
{
    char what[64];
    fprintf(to,
            "%s, at least %s a side and comparison, alpha %g\n"
            "%s of %u to %u blocks, with %s and repeats among their samples;\n"
            "%s narrow enough, %zu at the limit\n\n"
            "  %-19s %6s %6s %6s %13s %6s %7s %8s\n",
            counted(audit->cells, "cell").s, counted(audit->samples, "sample").s, audit->alpha,
            counted(audit->rounds.count, "round").s, audit->rounds.blocks_least,
            audit->rounds.blocks_most, counted(audit->rounds.after_blocks, "top-up").s,
            counted(audit->rounds.by_width, "cell").s, audit->rounds.at_limit, "", "tests", "found",
            "share", "95 %", "Holm", "true", "seen");
    tally_print(&audit->same, "the same twice", 1, to);
    for (int i = 0; i < AUDIT_SLOWDOWNS; i++) {
        int percent = audit_sides[2 + i].injected_percent;
        snprintf(what, sizeof what, "slowed down by %d %%", percent);
        tally_print(&audit->slower[i], what, 1 / (1 + percent / 100.0), to);
    }
    fprintf(to, "\nfalse positives: %zu of %zu; chance explains up to %zu at alpha %g: %s\n",
            audit->same.found, audit->same.comparisons, audit->allowed, audit->alpha,
            holds_text(audit_false_positives_hold(audit)));
    fprintf(to,
            "the report: %zu of %zu rounds name a winner among equals; up to %zu by chance: %s\n",
            audit->verdicts.found, audit->verdicts.comparisons, audit->verdicts_allowed,
            holds_text(audit_verdicts_hold(audit)));
    fprintf(
        to,
        "order reversed: of %zu verdicts %zu are shown in both orders, %zu in one only; %zu turn "
        "around:\n    %s\n",
        audit->order_comparisons, audit->order_decided, audit->order_undecided,
        audit->order_reversed, order_text(audit));
    fprintf(to, "sides swapped: %zu of %zu verdicts are not the mirror of what they were\n",
            audit->swap_changed, audit->swap_comparisons);
    too_few_print(audit, to);
    fprintf(to, "the audit %s", audit_outcome_text(audit_outcome(audit)));
    if (audit_outcome(audit) == AUDIT_SAYS_NOTHING)
        fprintf(to, ": less than %.0f %% of slowdowns by %d %% are found", AUDIT_POWER_MIN * 100,
                audit_sides[AUDIT_SIDES - 1].injected_percent);
    fputc('\n', to);
}

/* JSON ----------------------------------------------------------------------------------------- */

static json_t *tally_to_json(const struct audit_tally *tally)
{
    json_t *object =
        json_pack("{sI sI sI sI sf sf}", "comparisons", (json_int_t)tally->comparisons, "too_few",
                  (json_int_t)tally->too_few, "found", (json_int_t)tally->found, "found_adjusted",
                  (json_int_t)tally->found_adjusted, "lo", tally->lo, "hi", tally->hi);
    if (tally->comparisons > 0)
        json_object_set_new(object, "share", json_real(share(tally)));
    if (isfinite(tally->ratio.median))
        json_object_set_new(object, "ratio", ratio_to_json(tally->ratio));
    return object;
}

static json_t *rounds_to_json(const struct audit_rounds *rounds)
{
    return json_pack("{sI sI sI sI sI sI}", "count", (json_int_t)rounds->count, "blocks_least",
                     (json_int_t)rounds->blocks_least, "blocks_most",
                     (json_int_t)rounds->blocks_most, "by_width", (json_int_t)rounds->by_width,
                     "at_limit", (json_int_t)rounds->at_limit, "after_blocks",
                     (json_int_t)rounds->after_blocks);
}

json_t *audit_to_json(const struct audit *audit, const json_t *environment)
{
    char taken[32];
    record_time_text(taken);
    json_t *power = json_array(), *same = tally_to_json(&audit->same);
    for (int i = 0; i < AUDIT_SLOWDOWNS; i++) {
        json_t *one = tally_to_json(&audit->slower[i]);
        json_object_set_new(one, "slowdown_percent",
                            json_integer(audit_sides[2 + i].injected_percent));
        json_array_append_new(power, one);
    }
    json_object_set_new(same, "allowed", json_integer((json_int_t)audit->allowed));
    json_object_set_new(same, "holds", json_boolean(audit_false_positives_hold(audit)));
    json_t *verdicts = tally_to_json(&audit->verdicts);
    json_object_del(verdicts, "found_adjusted");
    json_object_set_new(verdicts, "allowed", json_integer((json_int_t)audit->verdicts_allowed));
    json_object_set_new(verdicts, "holds", json_boolean(audit_verdicts_hold(audit)));
    json_t *order = json_pack(
        "{sI sI sI sI sI sI sb}", "comparisons", (json_int_t)audit->order_comparisons, "decided",
        (json_int_t)audit->order_decided, "reversed", (json_int_t)audit->order_reversed,
        "undecided", (json_int_t)audit->order_undecided, "swapped",
        (json_int_t)audit->swap_comparisons, "swapped_changed", (json_int_t)audit->swap_changed,
        "holds", audit_order_holds(audit));
    json_t *object = json_pack(
        "{si ss sf si sI so so so so sb ss}", "schema", 1, "taken", taken, "alpha", audit->alpha,
        "samples", (int)audit->samples, "cells", (json_int_t)audit->cells, "false_positives", same,
        "verdicts", verdicts, "power", power, "order", order, "holds",
        audit_outcome(audit) == AUDIT_HOLDS, "outcome", audit_outcome_text(audit_outcome(audit)));
    json_object_set_new(object, "rounds", rounds_to_json(&audit->rounds));
    static const char *const kept[] = {"cpu", "build"};
    for (int i = 0; i < 2; i++)
        if (json_object_get(environment, kept[i]))
            json_object_set(object, kept[i], json_object_get(environment, kept[i]));
    return object;
}
