/* repro_explain.c - the catalogue of experiments and claims, and one of them in full, with what was
 * found last. See repro.h. */
#include "harness/base/json_fields.h"
#include "harness/base/memory.h"
#include "harness/base/wrap.h"
#include "harness/catalogue/catalogue.h"
#include "harness/repro/outcome.h"
#include "harness/repro/repro.h"
#include "harness/repro/repro_file.h"
#include "harness/repro/verdict_json.h"

#include <stdlib.h>
#include <string.h>

enum { LIST_ID = 7, REFERENCE_MACHINE = 16 };

/* Catalogue ------------------------------------------------------------------------------------ */

/* "native, sim:desktop8", to be freed. */
static char *machines_text(const struct experiment *experiment)
{
    const char **places = experiment_places(experiment);
    char *text = NULL;
    FILE *to = memory_stream(&text, NULL);
    for (size_t i = 0; places[i]; i++)
        fprintf(to, "%s%s", i ? ", " : "",
                strcmp(places[i], EXPERIMENT_MACHINES) == 0 ? "several at once" : places[i]);
    fclose(to);
    free(places);
    return text;
}

/* "supported", of the newest run or of the reference. */
static const char *known_verdict(const json_t *known, const char *id)
{
    const json_t *entry = repro_known_entry(known, "experiments", id);
    return entry ? field_text(entry, "verdict") : "not measured yet";
}

/* "; gmp agrees, Go itself differs" with Go's source; "" if nothing was measured. To be freed. */
static char *known_agreements(const json_t *known, const char *id)
{
    const json_t *entry = repro_known_entry(known, "claims", id);
    char *text = NULL;
    FILE *to = memory_stream(&text, NULL);
    if (json_object_get(entry, "gmp") && !claim_is_not_measured(entry))
        fprintf(to, "; gmp %s, Go itself %s", claim_agreement(entry, "gmp"),
                claim_agreement(entry, "itself"));
    fclose(to);
    return text;
}

void repro_list(FILE *to, struct experiment *const *experiments, size_t count,
                const struct claims *claims, const json_t *known, int columns)
{
    for (size_t i = 0; i < count; i++) {
        char *machines = machines_text(experiments[i]);
        fprintf(to, "%-*s", LIST_ID, experiments[i]->id);
        text_wrap(to, LIST_ID, LIST_ID, columns, experiments[i]->title);
        fprintf(to, "%*s", LIST_ID, "");
        text_wrap(to, LIST_ID, LIST_ID, columns, experiments[i]->claim);
        fprintf(to, "%*s(%s) %s\n", LIST_ID, "", machines,
                known_verdict(known, experiments[i]->id));
        free(machines);
    }
    if (claims)
        fputs("\nClaims of popular accounts, held against Go's source\n\n", to);
    for (unsigned i = 0; claims && i < claims->count; i++) {
        const struct claim *claim = &claims->list[i];
        char *agreements = known_agreements(known, claim->id);
        char *text =
            text_format("%s (%s%s): %s", claim->who, claim->degree, agreements, claim->says);
        fprintf(to, "%-*s", LIST_ID, claim->id);
        text_wrap(to, LIST_ID, LIST_ID, columns, text);
        free(text);
        free(agreements);
    }
    fputs(
        "\nVerdicts are of the newest run here or of the reference. `schedlab repro --explain ID` "
        "has the\nreasoning and the numbers, `schedlab repro ID` runs it.\n",
        to);
}

/* True if, in the quick form, at least one part has the same verdict each time. */
static bool is_deterministic(const struct experiment *experiment, const char *machine)
{
    const struct experiment_form form = {.quick = true, .deterministic = true};
    for (unsigned p = 0; p < experiment->parts_count; p++)
        if (experiment_part_runs(experiment, &experiment->parts[p], machine, &form, false))
            return true;
    return false;
}

static json_t *experiment_to_json(const struct experiment *experiment, const json_t *known)
{
    json_t *parts = json_array(), *machines = json_array();
    const char **places = experiment_places(experiment);
    bool deterministic = false;
    for (size_t i = 0; places[i]; i++) {
        json_array_append_new(machines, json_string(places[i]));
        deterministic = deterministic || is_deterministic(experiment, places[i]);
    }
    free(places);
    for (unsigned p = 0; p < experiment->parts_count; p++) {
        const struct experiment_part *part = &experiment->parts[p];
        json_t *expect = json_array();
        for (unsigned i = 0; i < part->expect_count; i++)
            json_array_append_new(expect, json_pack("{ss ss ss}", "says", part->expect[i].says,
                                                    "role", role_name(part->expect[i].role),
                                                    "expected", part->expect[i].wanted));
        json_array_append_new(parts,
                              json_pack("{ss ss ss so sb so}", "id", part->id, "question",
                                        part->question, "factor", experiment_factor_name(part),
                                        "levels", texts_to_json(part->levels, part->levels_count),
                                        "full", part->full, "expect", expect));
    }
    return json_pack("{ss ss sb ss ss ss ss ss so so}", "id", experiment->id, "title",
                     experiment->title, "deterministic", deterministic, "claim", experiment->claim,
                     "source", experiment->source, "why", experiment->why, "refuted",
                     experiment->refuted, "verdict", known_verdict(known, experiment->id),
                     "machines", machines, "parts", parts);
}

json_t *repro_list_to_json(struct experiment *const *experiments, size_t count,
                           const struct claims *claims, const json_t *known)
{
    json_t *list = json_array(), *accounts = json_array();
    for (size_t i = 0; i < count; i++)
        json_array_append_new(list, experiment_to_json(experiments[i], known));
    for (unsigned i = 0; claims && i < claims->count; i++) {
        const struct claim *claim = &claims->list[i];
        json_t *object =
            json_pack("{ss ss ss ss ss so so}", "id", claim->id, "degree", claim->degree, "who",
                      claim->who, "says", claim->says, "go", claim->go, "shown_by",
                      texts_to_json(claim->shown_by, claim->shown_by_count), "go_itself",
                      texts_to_json(claim->go_itself, claim->go_itself_count));
        if (claim->not_shown)
            json_object_set_new(object, "not_shown", json_string(claim->not_shown));
        if (claim->replay)
            json_object_set_new(object, "replay", json_string(claim->replay));
        json_array_append_new(accounts, object);
    }
    return json_pack("{so so}", "experiments", list, "claims", accounts);
}

/* One in full ---------------------------------------------------------------------------------- */

static void print_last(FILE *to, const char *id, const char *results, int columns)
{
    json_t *all = repro_last_read(results);
    const json_t *last = json_object_get(all, id);
    json_t *entry = json_object_get(last, "entry");
    if (entry) {
        const char *list = json_object_get(entry, "says") ? "claims" : "experiments";
        json_t *one = json_pack("{s[O]}", list, entry);
        fprintf(to, "\nThe last verdict, of %s/%s\n", results, field_text(last, "folder"));
        repro_print_entries(to, one, columns);
        json_decref(one);
    } else {
        fprintf(to, "\nNo verdict yet in %s; `schedlab repro %s` runs it.\n", results, id);
    }
    json_decref(all);
}

static void print_reference(FILE *to, const char *id, const char *of, const char *results,
                            int columns)
{
    char folder[REPRO_PATH_SIZE];
    json_t *repro = repro_reference_read(of, results, folder, sizeof folder, to);
    const json_t *one = repro_file_entry(repro, "experiments", id);
    if (!one)
        one = repro_file_entry(repro, "claims", id);
    if (one)
        fprintf(to, "\nThe verdicts of the reference, %s\n", folder);
    json_each(machine, json_object_get(one, "machines")) {
        fprintf(to, "  %-*s", REFERENCE_MACHINE, field_text(machine, "machine"));
        text_wrap(to, 2 + REFERENCE_MACHINE, 2 + REFERENCE_MACHINE, columns,
                  repro_file_said(machine));
    }
    if (one && !json_object_get(one, "machines"))
        fprintf(to, "  gmp: %s; Go itself: %s\n", claim_agreement(one, "gmp"),
                claim_agreement(one, "itself"));
    json_decref(repro);
}

void repro_explain_experiment(FILE *to, const struct experiment *experiment, const char *results,
                              int columns)
{
    struct doc page = {.to = to, .format = DOC_TERMINAL, .columns = columns};
    catalogue_page_write(&page, NULL, experiment);
    print_last(to, experiment->id, results, columns);
    print_reference(to, experiment->id, experiment->dispute ? "disputes" : "repro", results,
                    columns);
}

void repro_explain_claim(FILE *to, const struct claim *claim, const char *results, int columns)
{
    struct doc page = {.to = to, .format = DOC_TERMINAL, .columns = columns};
    doc_put(&page,
            "<h1>%s: %s</h1><h2>Who says it</h2><p>%s</p><h2>What it says</h2><p>%s</p>"
            "<h2>What Go does</h2><p>%s</p>",
            claim->id, claim->degree, claim->who, claim->says, claim->go);
    if (claim->not_shown)
        doc_put(&page, "<h2>%s</h2><p>%s</p>",
                claim->go_itself_count > 0 ? "Nothing is run of gmp" : "Nothing measures it",
                claim->not_shown);
    for (unsigned i = 0; i < claim->shown_by_count; i++)
        fprintf(to, "%s  %s\n", i ? "" : "\nShown by\n", claim->shown_by[i]);
    for (unsigned i = 0; i < claim->go_itself_count; i++)
        fprintf(to, "%s  %s\n", i ? "" : "\nAsked of Go itself\n", claim->go_itself[i]);
    if (claim->replay)
        fprintf(to, "\nIts example, as it is told\n  schedlab trace --replay %s\n", claim->replay);
    print_last(to, claim->id, results, columns);
    print_reference(to, claim->id, "repro", results, columns);
}
