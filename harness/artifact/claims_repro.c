/* claims_repro.c - the claims of a reproduction, see claims.h.
 *
 * Each experiment has a verdict on each machine. Each column of each expectation is a claim of its
 * own: exact where the verdict is the same each time, else a ratio, which any number with an
 * interval is here.
 */
#include "harness/artifact/claims_internal.h"

#include "harness/artifact/claims.h"
#include "harness/base/json_fields.h"
#include "harness/base/memory.h"
#include "harness/base/text.h"

#include <stdlib.h>
#include <string.h>

struct place {
    json_t *all;
    const char *run, *experiment, *machine;
};

static json_t *claim_new(const struct place *place, char *id, const char *kind, const char *verdict)
{
    json_t *claim = json_pack("{ss ss ss ss ss}", "id", id, "run", place->run, "kind", kind,
                              "machine", place->machine, "verdict", verdict);
    json_array_append_new(place->all, claim);
    free(id);
    return claim;
}

static void put_column(const struct place *place, const json_t *part, const json_t *expectation,
                       const json_t *column)
{
    const json_t *effect = json_object_get(column, "effect");
    const json_t *level = json_object_get(column, "level");
    bool exact = json_is_true(json_object_get(expectation, "deterministic"));
    char *id =
        text_format("%s: %s %s#%d: %s %s on %s of %s", place->run, place->experiment,
                    field_text(part, "id"), (int)field_integer(expectation, "number"),
                    field_text(level, "variant"), field_text(level, "workload"),
                    counted((uint64_t)field_integer(level, "workers"), "worker").s, place->machine);
    json_t *claim = claim_new(place, id, exact ? "exact" : "ratio", field_text(column, "verdict"));
    claim_put_interval(claim, field_number(effect, "median"), field_number(effect, "lo"),
                       field_number(effect, "hi"));
    if (exact)
        json_object_set_new(claim, "samples", json_pack("[o]", claim_hash(column)));
}

/* One that was stopped before its end is not measured: a part of its samples has other medians. */
static bool is_measured(const json_t *machine)
{
    const char *state = field_text(machine, "state");
    return strcmp(state, "waiting") != 0 && strcmp(state, "begun") != 0;
}

static void put_machine(const struct place *place, const json_t *machine)
{
    if (!is_measured(machine))
        return;
    claim_new(place, text_format("%s: %s on %s", place->run, place->experiment, place->machine),
              "verdict", field_text(machine, "verdict"));
    json_each(part, json_object_get(machine, "parts"))
        json_each(expectation, json_object_get(part, "expectations"))
            json_each(column, json_object_get(expectation, "columns"))
                put_column(place, part, expectation, column);
}

json_t *claims_of_reproduction(const char *folder, const char *path, struct error *error)
{
    json_error_t flaw;
    json_t *repro = json_load_file(path, 0, &flaw);
    if (!repro)
        return error_null(error, "%s:%d: %s", path, flaw.line, flaw.text);
    char *run = claims_run_name(folder);
    json_t *all = json_array();
    json_each(experiment, json_object_get(repro, "experiments")) {
        static const char *const kinds[] = {"machines", "guests"};
        for (int i = 0; i < 2; i++)
            json_each(machine, json_object_get(experiment, kinds[i]))
                put_machine(&(struct place){.all = all,
                                            .run = run,
                                            .experiment = field_text(experiment, "id"),
                                            .machine = field_text(machine, "machine")},
                            machine);
    }
    json_decref(repro);
    free(run);
    return all;
}
