/* audit.c - see audit.h. The distributions are GSL's. */
#include "harness/audit/audit.h"

#include "harness/answers/report_verdict.h"
#include "harness/base/error.h"
#include "harness/tables/compare.h"

#include <gsl/gsl_cdf.h>
#include <math.h>
#include <string.h>

static const double CHANCE = 0.01; /* how often an audit without a fault may fail */

const struct plan_side audit_sides[AUDIT_SIDES] = {
    {.name = "a"},
    {.name = "b"},
    {.name = "slow2", .injected_percent = 2},
    {.name = "slow5", .injected_percent = 5},
    {.name = "slow10", .injected_percent = 10},
};

/* Comparing ------------------------------------------------------------------------------------ */

/* Two sides of some records beside one another. */
struct trial {
    struct compare_side a, b;
    struct comparison comparison;
};

/* False, with nothing to free, if they have nothing in common. */
static bool trial_make(struct trial *trial, json_t *records, const char *a, const char *b,
                       double alpha)
{
    const struct compare_options options = {.alpha = alpha, .seed = STATISTICS_SEED};
    struct error error;
    json_t *environment = json_object();
    compare_side_of_records(&trial->a, a, records, "side", a, environment);
    compare_side_of_records(&trial->b, b, records, "side", b, environment);
    json_decref(environment);
    if (compare_sides_pair(&trial->a, &trial->b, false, &error)) {
        compare_make(&trial->comparison, &trial->a, &trial->b, &options);
        return true;
    }
    compare_side_free(&trial->a);
    compare_side_free(&trial->b);
    return false;
}

static void trial_free(struct trial *trial)
{
    compare_free(&trial->comparison);
    compare_side_free(&trial->a);
    compare_side_free(&trial->b);
}

/* Rounds --------------------------------------------------------------------------------------- */

/* One round's comparisons of a with the side whose tally it is. */
static void tally_add(struct audit_tally *tally, const struct comparison *comparison, bool slowed)
{
    for (size_t i = 0; i < comparison->count; i++) {
        const struct compare_pair *pair = &comparison->pairs[i];
        bool wrong_way = slowed && pair->superiority >= 0.5;
        if (pair->verdict == COMPARE_NONE)
            continue;
        bool can_show =
            !isnan(pair->p) &&
            statistics_mann_whitney_least(pair->count_a, pair->count_b) < comparison->options.alpha;
        tally->too_few += !can_show;
        /* Comparisons that cannot show a difference find none. Counting those of equals would
         * flatter the pipeline. */
        tally->comparisons += can_show || slowed;
        if (!can_show)
            continue;
        tally->found += pair->p < comparison->options.alpha && !wrong_way;
        tally->found_adjusted += pair->p_adjusted < comparison->options.alpha && !wrong_way;
    }
}

static void tally_round(struct audit *audit, json_t *round)
{
    for (int side = 1; side < AUDIT_SIDES; side++) {
        struct trial trial;
        if (!trial_make(&trial, round, audit_sides[0].name, audit_sides[side].name, audit->alpha))
            continue;
        if (side == 1) {
            tally_add(&audit->same, &trial.comparison, false);
            audit_report_round(&audit->verdicts, &trial.comparison, round);
        } else
            tally_add(&audit->slower[side - 2], &trial.comparison, true);
        trial_free(&trial);
    }
}

static void tally_run(struct audit *audit, const struct sweep_file *sweep, const json_t *records)
{
    struct audit_pool pool;
    json_t *round;
    audit_pool_make(&pool, records);
    while ((round = audit_round_next(sweep, &pool, &audit->rounds)) != NULL) {
        tally_round(audit, round);
        json_decref(round);
    }
    audit_pool_free(&pool);
}

/* Clopper and Pearson's interval of a share. */
static void tally_conclude(struct audit_tally *tally)
{
    double n = (double)tally->comparisons, k = (double)tally->found;
    tally->lo = tally->found > 0 ? gsl_cdf_beta_Pinv(0.025, k, n - k + 1) : 0;
    tally->hi = tally->found < tally->comparisons ? gsl_cdf_beta_Pinv(0.975, k + 1, n - k) : 1;
}

/* The least count that chance exceeds in CHANCE of all cases at most. */
static size_t false_positives_allowed(size_t comparisons, double alpha)
{
    unsigned n = (unsigned)comparisons, allowed = 0;
    while (allowed < n && gsl_cdf_binomial_Q(allowed, alpha, n) > CHANCE)
        allowed++;
    return allowed;
}

/* Order ---------------------------------------------------------------------------------------- */

static bool is_decided(enum compare_verdict verdict)
{
    return verdict == COMPARE_FASTER || verdict == COMPARE_SLOWER;
}

static const struct compare_pair *pair_find(const struct comparison *comparison, const char *key)
{
    for (size_t i = 0; i < comparison->count; i++)
        if (strcmp(comparison->pairs[i].a->key, key) == 0)
            return &comparison->pairs[i];
    return NULL;
}

static void order_compare(struct audit *audit, const struct comparison *forward,
                          const struct comparison *backward)
{
    for (size_t i = 0; i < forward->count; i++) {
        const struct compare_pair *pair = &forward->pairs[i];
        const struct compare_pair *other = pair_find(backward, pair->a->key);
        if (!other || isnan(pair->p) || isnan(other->p))
            continue;
        bool both = is_decided(pair->verdict) && is_decided(other->verdict);
        audit->order_comparisons++;
        audit->order_decided += both;
        audit->order_reversed += both && pair->verdict != other->verdict;
        audit->order_undecided += is_decided(pair->verdict) != is_decided(other->verdict);
    }
}

static enum compare_verdict mirrored(enum compare_verdict verdict)
{
    if (!is_decided(verdict))
        return verdict;
    return verdict == COMPARE_FASTER ? COMPARE_SLOWER : COMPARE_FASTER;
}

static void swap_compare(struct audit *audit, const struct comparison *there,
                         const struct comparison *back)
{
    for (size_t i = 0; i < there->count; i++) {
        const struct compare_pair *pair = &there->pairs[i];
        const struct compare_pair *other = pair_find(back, pair->b->key);
        if (!other || isnan(pair->p))
            continue;
        audit->swap_comparisons++;
        audit->swap_changed += other->verdict != mirrored(pair->verdict) ||
                               fabs(other->p - pair->p) > 1e-12 ||
                               fabs(other->ratio.median * pair->ratio.median - 1) > 1e-9;
    }
}

/* All blocks of the runs, a against one other side. */
static void order_judge(struct audit *audit, json_t *forward, json_t *backward, int side)
{
    const char *a = audit_sides[0].name, *b = audit_sides[side].name;
    struct trial first, second, swapped;
    if (!trial_make(&first, forward, a, b, audit->alpha))
        return;
    if (side == 1)
        audit->same.ratio = first.comparison.geomean;
    else
        audit->slower[side - 2].ratio = first.comparison.geomean;
    audit->cells = first.comparison.count;
    if (trial_make(&second, backward, a, b, audit->alpha)) {
        order_compare(audit, &first.comparison, &second.comparison);
        trial_free(&second);
    }
    if (trial_make(&swapped, forward, b, a, audit->alpha)) {
        swap_compare(audit, &first.comparison, &swapped.comparison);
        trial_free(&swapped);
    }
    trial_free(&first);
}

/* All ------------------------------------------------------------------------------------------ */

void audit_judge(struct audit *audit, const struct sweep_file *sweep, json_t *forward,
                 json_t *backward, double alpha)
{
    const struct interval unknown = {NAN, NAN, NAN, 0};
    *audit = (struct audit){.alpha = alpha, .samples = (unsigned)sweep->reps};
    audit->same.ratio = unknown;
    for (int i = 0; i < AUDIT_SLOWDOWNS; i++)
        audit->slower[i].ratio = unknown;
    tally_run(audit, sweep, forward);
    tally_run(audit, sweep, backward);
    for (int side = 1; side < AUDIT_SIDES; side++)
        order_judge(audit, forward, backward, side);
    tally_conclude(&audit->same);
    for (int i = 0; i < AUDIT_SLOWDOWNS; i++)
        tally_conclude(&audit->slower[i]);
    tally_conclude(&audit->verdicts);
    audit->verdicts.ratio = unknown;
    audit->allowed = false_positives_allowed(audit->same.comparisons, alpha);
    audit->verdicts_allowed = false_positives_allowed(audit->verdicts.comparisons, VERDICT_ALPHA);
}

bool audit_false_positives_hold(const struct audit *audit)
{
    return audit->same.comparisons > 0 && audit->same.found <= audit->allowed;
}

bool audit_verdicts_hold(const struct audit *audit)
{
    return audit->verdicts.comparisons > 0 && audit->verdicts.found <= audit->verdicts_allowed;
}

bool audit_order_holds(const struct audit *audit)
{
    return audit->order_comparisons > 0 && audit->order_reversed == 0 &&
           audit->swap_comparisons > 0 && audit->swap_changed == 0;
}

enum audit_outcome audit_outcome(const struct audit *audit)
{
    const struct audit_tally *largest = &audit->slower[AUDIT_SLOWDOWNS - 1];
    if (!audit_false_positives_hold(audit) || !audit_verdicts_hold(audit) ||
        !audit_order_holds(audit))
        return AUDIT_FAILS;
    bool finds = largest->comparisons > 0 &&
                 (double)largest->found >= AUDIT_POWER_MIN * (double)largest->comparisons;
    return finds ? AUDIT_HOLDS : AUDIT_SAYS_NOTHING;
}
