/* popular_claims.c - see popular_claims.h. */
#include "harness/repro/popular_claims.h"

#include "harness/base/json_fields.h"
#include "harness/base/memory.h"
#include "harness/base/suggest.h"
#include "harness/base/text.h"
#include "harness/base/yaml_reader.h"
#include "harness/repro/experiment.h"
#include "harness/repro/verdict.h"
#include "harness/spec/peer_table.h"

#include <stdlib.h>
#include <string.h>

enum { NAME_SIZE = 128, REASON_SIZE = 512 };

/* Schema --------------------------------------------------------------------------------------- */

static const cyaml_schema_field_t claim_fields[] = {
    YAML_TEXT("id", struct claim, id),
    YAML_TEXT("degree", struct claim, degree),
    YAML_TEXT("who", struct claim, who),
    YAML_TEXT("says", struct claim, says),
    YAML_TEXT("go", struct claim, go),
    YAML_MAY_LIST("shown_by", struct claim, shown_by, yaml_text),
    YAML_MAY_LIST("go_itself", struct claim, go_itself, yaml_text),
    YAML_MAY_LIST("costs", struct claim, costs, yaml_text),
    YAML_MAY_TEXT("not_shown", struct claim, not_shown),
    YAML_MAY_TEXT("replay", struct claim, replay),
    CYAML_FIELD_END,
};

static const cyaml_schema_value_t claim_schema = YAML_ENTRY(struct claim, claim_fields);

static const cyaml_schema_value_t claims_schema = {
    CYAML_VALUE_SEQUENCE(CYAML_FLAG_POINTER, struct claim, &claim_schema, 1, CYAML_UNLIMITED),
};

static const struct yaml_owner owners[] = {{claim_fields, "a claim"}, {NULL, NULL}};

const char claims_source[] = "The source is that of Go 1.26; up to Go 1.27 the rules of the "
                             "scheduler that these claims rest on are the same.";

const char *const claim_degrees[] = {"right", "imprecise", "outdated", "wrong", NULL};
const char *const claim_agreements[] = {"agrees",  "differs",      "undecided",
                                        "not run", "not measured", NULL};

/* Checks --------------------------------------------------------------------------------------- */

bool claim_reference_split(const char *text, char *experiment, char *part, size_t size,
                           unsigned *number)
{
    const char *slash = strchr(text, '/'), *hash = strchr(text, '#');
    char *end = NULL;
    *number = 0;
    if (!slash || slash == text || (hash && hash < slash) || (size_t)(slash - text) >= size ||
        strlen(slash) > size)
        return false;
    if (hash) {
        *number = (unsigned)strtoul(hash + 1, &end, 10);
        if (*number == 0 || *end)
            return false;
    }
    snprintf(experiment, size, "%.*s", (int)(slash - text), text);
    snprintf(part, size, "%.*s", (int)(hash ? hash - slash - 1 : (long)size), slash + 1);
    return *part != '\0';
}

/* The part, or NULL and what there is in its place. */
static const struct experiment_part *part_find(struct experiment *const *experiments, size_t count,
                                               const char *experiment, const char *part,
                                               struct suggest *near)
{
    for (size_t i = 0; i < count; i++) {
        bool same = strcmp(experiments[i]->id, experiment) == 0;
        for (unsigned p = 0; same && p < experiments[i]->parts_count; p++) {
            if (strcmp(experiments[i]->parts[p].id, part) == 0)
                return &experiments[i]->parts[p];
            suggest_offer(near, experiments[i]->parts[p].id);
        }
    }
    return NULL;
}

static bool has_peer(const struct experiment_part *part)
{
    for (unsigned i = 0; i < part->variants_count; i++)
        if (peer_is_name(part->variants[i]))
            return true;
    return false;
}

/* key: shown_by or go_itself, which takes parts with a peer. */
static bool reference_check(const struct yaml_reader *reader, size_t line, const char *key,
                            const char *text, struct experiment *const *experiments, size_t count)
{
    char experiment[NAME_SIZE], part[NAME_SIZE] = "";
    unsigned number;
    struct suggest near = suggest_for(part);
    if (!claim_reference_split(text, experiment, part, NAME_SIZE, &number))
        return yaml_complain(
            reader, line, "%s has \"%s\"; valid: EXPERIMENT/PART or EXPERIMENT/PART#N", key, text);
    if (count == 0)
        return true;
    const struct experiment_part *found = part_find(experiments, count, experiment, part, &near);
    if (!found && near.count == 0)
        return yaml_complain(reader, line,
                             "there is no experiment \"%s\"; valid: see `schedlab repro --list`",
                             experiment);
    if (!found)
        return yaml_complain(reader, line, "experiment %s has no part \"%s\"; %s", experiment, part,
                             suggest_text(&near, "", "its parts").s);
    if (strcmp(key, "go_itself") == 0 && !has_peer(found))
        return yaml_complain(reader, line,
                             "part %s/%s has no peer; valid in go_itself: one with peer:go",
                             experiment, part);
    return number <= found->expect_count ||
           yaml_complain(reader, line, "part %s/%s has %u expectations; valid: #1 to #%u",
                         experiment, part, found->expect_count, found->expect_count);
}

static bool references_check(const struct yaml_reader *reader, unsigned c, const char *key,
                             char *const *list, unsigned list_count,
                             struct experiment *const *experiments, size_t count)
{
    for (unsigned i = 0; list && i < list_count; i++)
        if (!reference_check(reader, yaml_line(reader, "%u/%s/%u", c, key, i), key, list[i],
                             experiments, count))
            return false;
    return true;
}

static bool claim_check(const struct yaml_reader *reader, const struct claims *claims, unsigned c,
                        struct experiment *const *experiments, size_t count)
{
    const struct claim *claim = &claims->list[c];
    if (!text_is_word(claim->degree, claim_degrees))
        return yaml_complain(reader, yaml_line(reader, "%u/degree", c),
                             "degree is \"%s\"; valid: right, imprecise, outdated, wrong",
                             claim->degree);
    for (unsigned i = 0; i < c; i++)
        if (strcmp(claims->list[i].id, claim->id) == 0)
            return yaml_complain(reader, yaml_line(reader, "%u/id", c),
                                 "two claims have the id \"%s\"", claim->id);
    for (size_t i = 0; i < count; i++)
        if (strcmp(experiments[i]->id, claim->id) == 0)
            return yaml_complain(reader, yaml_line(reader, "%u/id", c),
                                 "an experiment has the id \"%s\" too", claim->id);
    if ((claim->shown_by != NULL) == (claim->not_shown != NULL))
        return yaml_complain(reader, yaml_line(reader, "%u/id", c),
                             "claim %s has %s; valid: one of shown_by and not_shown", claim->id,
                             claim->shown_by ? "both" : "neither");
    return references_check(reader, c, "shown_by", claim->shown_by, claim->shown_by_count,
                            experiments, count) &&
           references_check(reader, c, "go_itself", claim->go_itself, claim->go_itself_count,
                            experiments, count) &&
           references_check(reader, c, "costs", claim->costs, claim->costs_count, experiments,
                            count);
}

struct claims *claims_load(const char *path, struct experiment *const *experiments, size_t count,
                           struct error *error)
{
    static const struct yaml_schema schema = {
        .value = &claims_schema, .owners = owners, .where = "harness/repro/popular_claims.h"};
    struct yaml_reader reader;
    if (!yaml_reader_open(&reader, path, error))
        return NULL;
    struct claims *claims = xcalloc(1, sizeof *claims);
    claims->path = xstrdup(path);
    claims->list = yaml_reader_load(&reader, &schema, &claims->count);
    bool ok = claims->list && !*error->text;
    for (unsigned c = 0; ok && c < claims->count; c++)
        ok = claim_check(&reader, claims, c, experiments, count);
    yaml_reader_close(&reader);
    if (ok)
        return claims;
    claims_free(claims);
    return NULL;
}

void claims_free(struct claims *claims)
{
    if (!claims)
        return;
    if (claims->list)
        yaml_data_free(&claims_schema, claims->list, claims->count);
    free(claims->path);
    free(claims);
}

/* Answers -------------------------------------------------------------------------------------- */

/* The results for one reference, over all machines. */
struct shown {
    unsigned count[VERDICTS];
    char where[VERDICTS][NAME_SIZE]; /* the machines with each verdict */
    char lacks[REASON_SIZE];
    char runtime[NAME_SIZE]; /* of a peer */
};

/* Which cells an answer is about: those of peers, or all others. */
enum side { SIDE_GMP, SIDE_ITSELF };

static bool is_of_side(const json_t *column, enum side side)
{
    const char *variant = field_text(json_object_get(column, "level"), "variant");
    return peer_is_name(variant) == (side == SIDE_ITSELF);
}

/* Adds the worst of the expectation's columns on that side. */
static void expectation_add(struct shown *shown, const json_t *expectation, enum side side,
                            const char *machine)
{
    enum verdict worst = VERDICT_NONE;
    json_each(column, json_object_get(expectation, "columns")) {
        enum verdict verdict = verdict_of_text(field_text(column, "verdict"));
        const json_t *runtime = json_object_get(json_object_get(column, "level"), "runtime");
        if (!is_of_side(column, side))
            continue;
        if (verdict > worst && (verdict == VERDICT_UNDECIDED || verdict == VERDICT_NOT_RUN))
            snprintf(shown->lacks, sizeof shown->lacks, "%s: %s", machine,
                     field_text(column, "reason"));
        worst = verdict_join(worst, verdict);
        if (runtime)
            snprintf(shown->runtime, sizeof shown->runtime, "%.60s %.60s",
                     field_text(runtime, "name"), field_text(runtime, "version"));
    }
    shown->count[worst]++;
}

/* The worst of those counted, if there is any. */
static enum verdict worst_of(const struct shown *shown)
{
    for (enum verdict i = VERDICT_REFUTED; i > VERDICT_NONE; i--)
        if (shown->count[i] > 0)
            return i;
    return VERDICT_NONE;
}

static const json_t *expectations_of(const json_t *place, const char *part)
{
    json_each(one, json_object_get(place, "parts"))
        if (strcmp(field_text(one, "id"), part) == 0)
            return json_object_get(one, "expectations");
    return NULL;
}

/* Adds what a machine says of a part. A part is supported there if all of its expectations are. */
static void place_add(struct shown *shown, const json_t *place, enum side side, const char *part,
                      unsigned number)
{
    struct shown here = {.lacks = ""};
    json_each(expectation, expectations_of(place, part))
        if (number == 0 || field_integer(expectation, "number") == number)
            expectation_add(&here, expectation, side, field_text(place, "machine"));
    enum verdict verdict = worst_of(&here);
    shown->count[verdict]++;
    if (*here.lacks)
        snprintf(shown->lacks, sizeof shown->lacks, "%s", here.lacks);
    if (*here.runtime)
        snprintf(shown->runtime, sizeof shown->runtime, "%s", here.runtime);
    char *where = shown->where[verdict];
    text_add(where, NAME_SIZE, "%s%s", *where ? ", " : "", field_text(place, "machine"));
}

/* False if the experiment is not there. */
static bool reference_judge(const char *text, const json_t *experiments, enum side side,
                            struct shown *shown)
{
    char experiment[NAME_SIZE], part[NAME_SIZE];
    unsigned number;
    bool there = false;
    *shown = (struct shown){.lacks = ""};
    if (!claim_reference_split(text, experiment, part, NAME_SIZE, &number))
        return false;
    json_each(one, experiments) {
        if (strcmp(field_text(one, "id"), experiment) != 0)
            continue;
        there = true;
        json_each(place, json_object_get(one, "machines"))
            place_add(shown, place, side, part, number);
    }
    return there;
}

/* One machine that supports it is enough, if none refutes it. */
static enum verdict shown_verdict(const struct shown *shown)
{
    return shown->count[VERDICT_REFUTED] > 0     ? VERDICT_REFUTED
           : shown->count[VERDICT_SUPPORTED] > 0 ? VERDICT_SUPPORTED
           : shown->count[VERDICT_UNDECIDED] > 0 ? VERDICT_UNDECIDED
                                                 : VERDICT_NOT_RUN;
}

/* Verdicts of references, which are never VERDICT_DISAGREE. */
static const char *const agreements[VERDICTS] = {
    [VERDICT_SUPPORTED] = "agrees",    [VERDICT_REFUTED] = "differs",
    [VERDICT_UNDECIDED] = "undecided", [VERDICT_NOT_RUN] = "not run",
    [VERDICT_NONE] = "not measured",   [VERDICT_DISAGREE] = "not measured",
};

/* {"agreement", "parts", "reason", "runtime"}; sets *touched if one of the experiments is there. */
static json_t *side_judge(char *const *references, unsigned count, const json_t *experiments,
                          enum side side, bool *touched)
{
    enum verdict worst = VERDICT_NONE;
    json_t *list = json_array();
    char reason[REASON_SIZE] = "", runtime[NAME_SIZE] = "";
    for (unsigned i = 0; i < count; i++) {
        struct shown shown;
        bool there = reference_judge(references[i], experiments, side, &shown);
        enum verdict verdict = shown_verdict(&shown);
        *touched = *touched || there;
        if (verdict > worst && (verdict == VERDICT_UNDECIDED || verdict == VERDICT_NOT_RUN))
            snprintf(reason, sizeof reason, "%s: %.400s", references[i],
                     *shown.lacks ? shown.lacks : "not of this run");
        worst = verdict_join(worst, verdict);
        if (*shown.runtime)
            snprintf(runtime, sizeof runtime, "%s", shown.runtime);
        json_t *part = json_pack("{ss ss ss}", "expectation", references[i], "verdict",
                                 verdict_text(verdict), "machines", shown.where[verdict]);
        if (verdict == VERDICT_SUPPORTED && shown.count[VERDICT_UNDECIDED] > 0)
            json_object_set_new(part, "undecided", json_string(shown.where[VERDICT_UNDECIDED]));
        json_array_append_new(list, part);
    }
    json_t *object = json_pack("{ss so}", "agreement", agreements[worst], "parts", list);
    if (worst == VERDICT_UNDECIDED || worst == VERDICT_NOT_RUN)
        json_object_set_new(object, "reason", json_string(reason));
    if (*runtime)
        json_object_set_new(object, "runtime", json_string(runtime));
    return object;
}

/* Adds what one machine found for the expectation, "throughput 0.73× (0.71× to 0.75×) on
 * sim:desktop8", to the texts. */
static void cost_add(json_t *costs, const char *reference, const json_t *place, const char *part,
                     unsigned number)
{
    json_each(expectation, expectations_of(place, part)) {
        const json_t *column = json_array_get(json_object_get(expectation, "columns"), 0);
        const char *text = field_text(json_object_get(column, "effect"), "text");
        if ((number > 0 && field_integer(expectation, "number") != number) || !*text)
            continue;
        json_array_append_new(costs, json_pack("{ss ss ss ss}", "expectation", reference, "metric",
                                               field_text(expectation, "metric"), "effect", text,
                                               "machine", field_text(place, "machine")));
    }
}

/* The prices of the design that the claim has, as far as that was run. */
static json_t *costs_judge(const struct claim *claim, const json_t *experiments)
{
    json_t *costs = json_array();
    for (unsigned i = 0; i < claim->costs_count; i++) {
        char experiment[NAME_SIZE], part[NAME_SIZE];
        unsigned number;
        if (!claim_reference_split(claim->costs[i], experiment, part, NAME_SIZE, &number))
            continue;
        json_each(one, experiments) {
            if (strcmp(field_text(one, "id"), experiment) != 0)
                continue;
            json_each(place, json_object_get(one, "machines"))
                cost_add(costs, claim->costs[i], place, part, number);
        }
    }
    return costs;
}

static json_t *claim_judge(const struct claim *claim, const json_t *experiments, bool *touched)
{
    *touched = false;
    json_t *object = json_pack("{ss ss ss ss ss}", "id", claim->id, "degree", claim->degree, "who",
                               claim->who, "says", claim->says, "go", claim->go);
    json_object_set_new(
        object, "gmp",
        side_judge(claim->shown_by, claim->shown_by_count, experiments, SIDE_GMP, touched));
    json_object_set_new(
        object, "itself",
        side_judge(claim->go_itself, claim->go_itself_count, experiments, SIDE_ITSELF, touched));
    if (claim->costs_count > 0)
        json_object_set_new(object, "costs", costs_judge(claim, experiments));
    if (claim->not_shown)
        json_object_set_new(object, "not_shown", json_string(claim->not_shown));
    return object;
}

json_t *claims_judge(const struct claims *claims, const json_t *experiments, bool all)
{
    json_t *list = json_array();
    for (unsigned c = 0; c < claims->count; c++) {
        bool touched;
        json_t *claim = claim_judge(&claims->list[c], experiments, &touched);
        if (touched || all)
            json_array_append(list, claim);
        json_decref(claim);
    }
    return list;
}

/* Reading -------------------------------------------------------------------------------------- */

const char *claim_degree(const json_t *claim)
{
    const char *degree = field_text(claim, "degree");
    return *degree ? degree : field_text(claim, "kind");
}

const char *claim_agreement(const json_t *claim, const char *side)
{
    const char *agreement = field_text(json_object_get(claim, side), "agreement");
    return *agreement ? agreement : "not measured";
}

char *claim_undecided(const json_t *claim, const char *side)
{
    char *text = NULL;
    FILE *to = memory_stream(&text, NULL);
    json_each(part, json_object_get(json_object_get(claim, side), "parts")) {
        if (*field_text(part, "undecided"))
            fprintf(to, "%s%s on %s", ftell(to) > 0 ? ", " : "", field_text(part, "expectation"),
                    field_text(part, "undecided"));
    }
    fclose(to);
    return text;
}

bool claim_is_not_measured(const json_t *claim)
{
    return strcmp(claim_agreement(claim, "gmp"), "not measured") == 0 &&
           strcmp(claim_agreement(claim, "itself"), "not measured") == 0;
}

const char *claims_runtime(const json_t *claims)
{
    json_each(claim, claims) {
        const char *runtime = field_text(json_object_get(claim, "itself"), "runtime");
        if (*runtime)
            return runtime;
    }
    return "Go itself";
}

size_t claims_count(const json_t *claims, const char *degree, const char *side,
                    const char *agreement)
{
    size_t count = 0;
    json_each(claim, claims)
        count += (!degree || strcmp(claim_degree(claim), degree) == 0) &&
                 (!agreement || strcmp(claim_agreement(claim, side), agreement) == 0);
    return count;
}

/* "; gmp agrees with Go's source on 90, differs on 2"; nothing if nothing was asked of it. */
static void side_sum_put(FILE *to, const json_t *claims, const char *side, const char *name)
{
    static const char *const told[] = {"agrees with Go's source on", "differs on",
                                       "is undecided on", "is not run on", NULL};
    bool any = false;
    for (size_t i = 0; told[i]; i++) {
        size_t count = claims_count(claims, NULL, side, claim_agreements[i]);
        if (count == 0)
            continue;
        fprintf(to, "%s%s%s %zu", any ? ", " : "; ", any ? "" : name, told[i], count);
        any = true;
    }
}

char *claims_sum_text(const json_t *claims)
{
    char *text = NULL, name[NAME_SIZE];
    size_t unmeasured = 0;
    FILE *to = memory_stream(&text, NULL);
    fputs(counted(json_array_size(claims), "claim").s, to);
    for (size_t i = 0; claim_degrees[i]; i++)
        fprintf(to, "%s %zu %s", i ? "," : ":", claims_count(claims, claim_degrees[i], NULL, NULL),
                claim_degrees[i]);
    snprintf(name, sizeof name, "%s ", claims_runtime(claims));
    side_sum_put(to, claims, "gmp", "gmp ");
    side_sum_put(to, claims, "itself", name);
    json_each(claim, claims)
        unmeasured += claim_is_not_measured(claim);
    if (unmeasured > 0)
        fprintf(to, "; nothing measures %zu", unmeasured);
    fclose(to);
    return text;
}
