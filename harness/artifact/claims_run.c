/* claims_run.c - the claims of a sweep's run, see claims.h.
 *
 * Each simulated cell is one exact claim. In each native group each variant is held beside the
 * group's baseline, as `schedlab compare` does it: one ratio a workload and number of workers.
 */
#include "harness/artifact/claims_internal.h"

#include "harness/artifact/claims.h"
#include "harness/base/json_fields.h"
#include "harness/base/memory.h"
#include "harness/base/text.h"
#include "harness/numbers/statistics.h"
#include "harness/plan/sweep_file.h"
#include "harness/records/records.h"
#include "harness/records/run_folder.h"
#include "harness/tables/compare.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PATH_SIZE = 4096 };

struct claims {
    const char *folder;
    char *run; /* its name */
    json_t *all;
    json_t *records;
    struct sweep_file *sweep;
};

/* Exact ---------------------------------------------------------------------------------------- */

/* The hash of what a sample found, without where and when it was measured. */
static json_t *sample_hash(const json_t *record)
{
    static const char *const apart[] = {"position", "command", "version", "compiler",
                                        "groups",   "schema",  "timer"};
    json_t *kept = json_copy((json_t *)record);
    for (size_t i = 0; i < sizeof apart / sizeof *apart; i++)
        json_object_del(kept, apart[i]);
    json_t *hash = claim_hash(kept);
    json_decref(kept);
    return hash;
}

static void put_sample(json_t *claim, const json_t *record)
{
    json_t *samples = json_object_get(claim, "samples");
    size_t block = (size_t)field_integer(record, "block");
    while (json_array_size(samples) <= block)
        json_array_append_new(samples, json_null());
    json_array_set_new(samples, block, sample_hash(record));
    if (!json_object_get(claim, "value"))
        claim_put_interval(claim, field_number(record, "throughput"), NAN, NAN);
}

/* " (GROUP)" where the record's group counts events of its own: then the same cell may be there
 * once more, with others. To be freed. */
static char *events_of(const struct claims *of, const json_t *record)
{
    const char *name = json_string_value(json_array_get(json_object_get(record, "groups"), 0));
    for (unsigned g = 0; name && g < of->sweep->groups_count; g++)
        if (of->sweep->groups[g].events_count > 0 && strcmp(of->sweep->groups[g].id, name) == 0)
            return text_format(" (%s)", name);
    return xstrdup("");
}

/* One claim a cell, with its events: a run has one revision. */
static void put_simulated(struct claims *to)
{
    json_t *by_id = json_object();
    json_each(record, to->records) {
        if (strcmp(field_text(record, "machine"), "native") == 0)
            continue;
        char *events = events_of(to, record);
        char *id = text_format("%s: %s %s on %s of %s%s", to->run, field_text(record, "variant"),
                               field_text(record, "workload"),
                               counted((uint64_t)field_integer(record, "workers"), "worker").s,
                               field_text(record, "machine"), events);
        json_t *claim = json_object_get(by_id, id);
        if (!claim) {
            claim = json_pack("{ss ss ss ss s[]}", "id", id, "run", to->run, "kind", "exact",
                              "machine", field_text(record, "machine"), "samples");
            json_object_set_new(by_id, id, claim);
            json_array_append(to->all, claim);
        }
        put_sample(claim, record);
        free(events);
        free(id);
    }
    json_decref(by_id);
}

/* Ratios --------------------------------------------------------------------------------------- */

/* The native samples of one variant in a group, as RUN:group=G/variant=V would load them. */
static void side_make(struct compare_side *side, const struct claims *of,
                      const struct sweep_group *group, const char *variant)
{
    json_t *records = json_array(), *environment = json_object();
    json_each(record, of->records) {
        bool among = false;
        json_each(name, json_object_get(record, "groups"))
            among = among || strcmp(json_string_value(name), group->id) == 0;
        if (among && strcmp(field_text(record, "machine"), "native") == 0)
            json_array_append(records, record);
    }
    compare_side_of_records(side, variant, records, "variant", variant, environment);
    side->terms = xcalloc(1, sizeof *side->terms);
    side->terms[0] = (struct compare_term){xstrdup("variant"), xstrdup(variant)};
    side->terms_count = 1;
    json_decref(records);
    json_decref(environment);
}

static void put_pair(const struct claims *to, const struct sweep_group *group,
                     const struct comparison *comparison, const struct compare_pair *pair)
{
    if (pair->verdict == COMPARE_NONE || pair->verdict == COMPARE_UNLIKE)
        return;
    char *id = text_format("%s: %s: %s over %s, %s on %s", to->run, group->id, pair->b->variant,
                           pair->a->variant, pair->b->workload,
                           counted((uint64_t)pair->b->workers, "worker").s);
    json_t *claim =
        json_pack("{ss ss ss ss ss}", "id", id, "run", to->run, "kind", "ratio", "machine",
                  "native", "verdict", compare_verdict_text(comparison, pair->verdict));
    claim_put_interval(claim, pair->ratio.median, pair->ratio.lo, pair->ratio.hi);
    json_array_append_new(to->all, claim);
    free(id);
}

static bool put_variant(struct claims *to, const struct sweep_group *group, const char *variant,
                        struct error *error)
{
    const struct compare_options options = {.alpha = 0.05, .seed = STATISTICS_SEED};
    struct compare_side a, b;
    struct comparison comparison;
    side_make(&a, to, group, group->baseline);
    side_make(&b, to, group, variant);
    bool ok = compare_sides_pair(&a, &b, false, error);
    if (ok) {
        compare_make(&comparison, &a, &b, &options);
        for (size_t i = 0; i < comparison.count; i++)
            put_pair(to, group, &comparison, &comparison.pairs[i]);
        compare_free(&comparison);
    }
    compare_side_free(&a);
    compare_side_free(&b);
    return ok;
}

static bool put_native(struct claims *to, struct error *error)
{
    bool ok = true;
    for (unsigned g = 0; ok && g < to->sweep->groups_count; g++) {
        const struct sweep_group *group = &to->sweep->groups[g];
        for (unsigned v = 0; ok && v < group->variants_count; v++)
            if (strcmp(group->variants[v], group->baseline) != 0)
                ok = put_variant(to, group, group->variants[v], error);
    }
    return ok;
}

json_t *claims_of_run(const char *folder, struct error *error)
{
    char path[PATH_SIZE];
    struct claims claims = {.folder = folder, .all = json_array()};
    snprintf(path, sizeof path, "%s/sweep.yaml", folder);
    claims.sweep = sweep_file_load(path, error);
    if (claims.sweep)
        claims.records = run_folder_records(folder, true, NULL, error);
    claims.run = claims_run_name(folder);
    bool ok = claims.records != NULL;
    if (ok) {
        put_simulated(&claims);
        ok = put_native(&claims, error);
    }
    if (claims.sweep)
        sweep_file_free(claims.sweep);
    json_decref(claims.records);
    free(claims.run);
    if (ok)
        return claims.all;
    json_decref(claims.all);
    return NULL;
}
