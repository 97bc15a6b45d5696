/* popular_claims.c - see popular_claims.h. */
#include "harness/repro/popular_claims.h"

#include "harness/base/json_fields.h"
#include "harness/base/memory.h"
#include "harness/base/suggest.h"
#include "harness/base/yaml_reader.h"
#include "harness/repro/experiment.h"
#include "harness/repro/verdict.h"

#include <stdlib.h>
#include <string.h>

enum { NAME_SIZE = 128, REASON_SIZE = 512 };

/* Schema --------------------------------------------------------------------------------------- */

static const cyaml_schema_field_t claim_fields[] = {
    YAML_TEXT("id", struct claim, id),
    YAML_TEXT("kind", struct claim, kind),
    YAML_TEXT("who", struct claim, who),
    YAML_TEXT("says", struct claim, says),
    YAML_TEXT("go", struct claim, go),
    YAML_MAY_LIST("shown_by", struct claim, shown_by, yaml_text),
    YAML_MAY_TEXT("not_shown", struct claim, not_shown),
    CYAML_FIELD_END,
};

static const cyaml_schema_value_t claim_schema = {
    CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, struct claim, claim_fields),
};

static const cyaml_schema_value_t claims_schema = {
    CYAML_VALUE_SEQUENCE(CYAML_FLAG_POINTER, struct claim, &claim_schema, 1, CYAML_UNLIMITED),
};

static const cyaml_schema_field_t *fields_of(const char *place, const char **owner)
{
    (void)place;
    *owner = "a claim";
    return claim_fields;
}

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

static bool reference_check(const struct yaml_reader *reader, size_t line, const char *text,
                            struct experiment *const *experiments, size_t count)
{
    char experiment[NAME_SIZE], part[NAME_SIZE], choice[SUGGEST_TEXT_SIZE];
    unsigned number;
    struct suggest near = suggest_for(part);
    if (!claim_reference_split(text, experiment, part, NAME_SIZE, &number))
        return yaml_complain(
            reader, line, "shown_by has \"%s\"; valid: EXPERIMENT/PART or EXPERIMENT/PART#N", text);
    if (count == 0)
        return true;
    const struct experiment_part *found = part_find(experiments, count, experiment, part, &near);
    if (!found && near.count == 0)
        return yaml_complain(reader, line,
                             "there is no experiment \"%s\"; valid: see "
                             "`schedlab repro --list`",
                             experiment);
    if (!found)
        return yaml_complain(reader, line, "experiment %s has no part \"%s\"; %s", experiment, part,
                             suggest_text(&near, "", "its parts", choice, sizeof choice));
    return number <= found->expect_count ||
           yaml_complain(reader, line, "part %s/%s has %u expectations; valid: #1 to #%u",
                         experiment, part, found->expect_count, found->expect_count);
}

static bool claim_check(const struct yaml_reader *reader, const struct claims *claims, unsigned c,
                        struct experiment *const *experiments, size_t count)
{
    static const char *const kinds[] = {"wrong", "outdated", "imprecise"};
    const struct claim *claim = &claims->list[c];
    bool known = false;
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        known = known || strcmp(kinds[i], claim->kind) == 0;
    if (!known)
        return yaml_complain(reader, yaml_line(reader, "%u/kind", c),
                             "kind is \"%s\"; valid: wrong, outdated, imprecise", claim->kind);
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
    for (unsigned i = 0; claim->shown_by && i < claim->shown_by_count; i++)
        if (!reference_check(reader, yaml_line(reader, "%u/shown_by/%u", c, i), claim->shown_by[i],
                             experiments, count))
            return false;
    return true;
}

struct claims *claims_load(const char *path, struct experiment *const *experiments, size_t count,
                           char *error, size_t error_size)
{
    struct yaml_reader reader;
    struct yaml_mistake mistake = {.parts = 0};
    cyaml_config_t config = yaml_mistake_config(&mistake);
    if (!yaml_reader_open(&reader, path, error, error_size))
        return NULL;
    struct claims *claims = xcalloc(1, sizeof *claims);
    claims->path = xstrdup(path);
    bool ok = claims->path &&
              cyaml_load_data((const uint8_t *)reader.text, reader.size, &config, &claims_schema,
                              (cyaml_data_t **)&claims->list, &claims->count) == CYAML_OK;
    if (!ok)
        yaml_complain_of_schema(&reader, &mistake, fields_of, "harness/repro/popular_claims.h");
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
    cyaml_config_t config = yaml_mistake_config(NULL);
    if (!claims)
        return;
    if (claims->list)
        cyaml_free(&config, &claims_schema, claims->list, claims->count);
    free(claims->path);
    free(claims);
}

/* Verdicts ------------------------------------------------------------------------------------- */

/* The results for one reference, over all machines. */
struct shown {
    unsigned supported, refuted, undecided;
    char where[NAME_SIZE]; /* the machines of the decided ones */
    char lacks[REASON_SIZE];
};

static void expectation_add(struct shown *shown, const json_t *expectation, const char *machine)
{
    const char *verdict = field_text(expectation, "verdict");
    const json_t *column = json_array_get(json_object_get(expectation, "columns"),
                                          (size_t)field_integer(expectation, "decisive"));
    switch (verdict_of_text(verdict)) {
    case VERDICT_SUPPORTED:
        shown->supported++;
        break;
    case VERDICT_REFUTED:
        shown->refuted++;
        break;
    case VERDICT_UNDECIDED:
        shown->undecided++;
        snprintf(shown->lacks, sizeof shown->lacks, "%s: %s", machine,
                 field_text(column, "reason"));
        break;
    case VERDICT_NONE:
    case VERDICT_NOT_RUN:
    case VERDICT_DISAGREE: /* of no expectation */
        break;
    }
}

/* Adds what a machine says of a part. A part is supported there if all of its expectations are. */
static void place_add(struct shown *shown, const json_t *place, const char *part, unsigned number)
{
    struct shown here = {.supported = 0};
    json_each(one, json_object_get(place, "parts")) {
        if (strcmp(field_text(one, "id"), part) != 0)
            continue;
        json_each(expectation, json_object_get(one, "expectations")) {
            if (number == 0 || field_integer(expectation, "number") == number)
                expectation_add(&here, expectation, field_text(place, "machine"));
        }
    }
    if (here.refuted > 0)
        shown->refuted++;
    else if (here.undecided > 0)
        shown->undecided++;
    else if (here.supported > 0)
        shown->supported++;
    if (here.undecided > 0)
        snprintf(shown->lacks, sizeof shown->lacks, "%s", here.lacks);
    if (here.refuted + here.undecided + here.supported > 0) {
        size_t length = strlen(shown->where);
        snprintf(shown->where + length, sizeof shown->where - length, "%s%s", length ? ", " : "",
                 field_text(place, "machine"));
    }
}

/* False if the experiment is not there. */
static bool reference_judge(const char *text, const json_t *experiments, struct shown *shown)
{
    char experiment[NAME_SIZE], part[NAME_SIZE];
    unsigned number;
    bool there = false;
    *shown = (struct shown){.supported = 0};
    if (!claim_reference_split(text, experiment, part, NAME_SIZE, &number))
        return false;
    json_each(one, experiments) {
        if (strcmp(field_text(one, "id"), experiment) != 0)
            continue;
        there = true;
        json_each(place, json_object_get(one, "machines"))
            place_add(shown, place, part, number);
    }
    return there;
}

/* The experiment's verdict, which is the opposite of the claim's. */
static enum verdict shown_verdict(const struct shown *shown)
{
    return shown->refuted > 0     ? VERDICT_REFUTED
           : shown->supported > 0 ? VERDICT_SUPPORTED
                                  : VERDICT_UNDECIDED;
}

static json_t *claim_judge(const struct claim *claim, const json_t *experiments, bool *touched)
{
    enum verdict worst = VERDICT_NONE;
    json_t *list = json_array();
    char reason[REASON_SIZE] = "";
    *touched = false;
    for (unsigned i = 0; i < claim->shown_by_count; i++) {
        struct shown shown;
        bool there = reference_judge(claim->shown_by[i], experiments, &shown);
        enum verdict verdict = shown_verdict(&shown);
        *touched = *touched || there;
        worst = verdict_join(worst, verdict);
        if (verdict == VERDICT_UNDECIDED && !*reason)
            snprintf(reason, sizeof reason, "%s: %.400s", claim->shown_by[i],
                     *shown.lacks ? shown.lacks : "not run");
        json_array_append_new(list,
                              json_pack("{ss ss ss}", "expectation", claim->shown_by[i], "verdict",
                                        verdict_text(verdict), "machines", shown.where));
    }
    json_t *object = json_pack("{ss ss ss ss ss so}", "id", claim->id, "kind", claim->kind, "who",
                               claim->who, "says", claim->says, "go", claim->go, "shown_by", list);
    const char *verdict = worst == VERDICT_SUPPORTED ? "refuted"
                          : worst == VERDICT_REFUTED ? "supported"
                                                     : "undecided";
    json_object_set_new(object, "verdict", json_string(verdict));
    if (claim->not_shown)
        json_object_set_new(object, "not_shown", json_string(claim->not_shown));
    else if (worst == VERDICT_UNDECIDED)
        json_object_set_new(object, "reason", json_string(reason));
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
