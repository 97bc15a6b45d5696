/* repro_judge.c - from records to verdicts to repro.json. See repro.h. */
#include "harness/base/build_info.h"
#include "harness/base/json_fields.h"
#include "harness/records/records.h"
#include "harness/repro/repro.h"
#include "harness/repro/repro_file.h"
#include "harness/repro/verdict.h"
#include "harness/repro/verdict_json.h"

#include <stdio.h>
#include <string.h>

enum { ERROR_SIZE = 1024 };

/* One job -------------------------------------------------------------------------------------- */

/* Gives the job's reason to columns without samples: it says why nothing was measured. */
static void reason_apply(json_t *expectation, const struct repro_job *job)
{
    static const char stopped[] = "the run was stopped before it";
    bool whole = job->state == REPRO_DONE || (job->state == REPRO_IMPOSSIBLE && !*job->reason);
    json_each(column, json_object_get(expectation, "columns")) {
        if (!whole && strcmp(field_text(column, "lacks"), "cell") == 0 &&
            field_integer(json_object_get(column, "level"), "n") == 0)
            json_object_set_new(column, "reason",
                                json_string(*job->reason ? job->reason : stopped));
    }
}

static json_t *part_judge(const struct repro *repro, const struct repro_job *job,
                          const struct experiment_part *part, const json_t *records,
                          enum verdict *verdict)
{
    json_t *expectations = json_array(), *object = part_to_json(part);
    for (unsigned i = 0; i < part->expect_count; i++) {
        struct judged judged;
        judged_make(&judged, part, i, job->machine, records, &repro->form);
        if (judged.verdict != VERDICT_NONE) {
            json_t *expectation = judged_to_json(&judged, job->machine);
            reason_apply(expectation, job);
            json_array_append_new(expectations, expectation);
        }
        *verdict = verdict_join(*verdict, judged.verdict);
        judged_free(&judged);
    }
    json_object_set_new(object, "expectations", expectations);
    return object;
}

/* The records measured so far. */
static json_t *records_read(struct repro_job *job)
{
    char path[REPRO_PATH_SIZE + 32], error[ERROR_SIZE];
    snprintf(path, sizeof path, "%s/samples.jsonl", job->folder);
    json_t *records = job->state == REPRO_BEGUN || job->state == REPRO_DONE
                          ? record_file_read(path, NULL, error, sizeof error)
                          : NULL;
    return records ? records : json_array();
}

void repro_judge(const struct repro *repro, struct repro_job *job)
{
    static const char *const states[] = {[REPRO_WAITING] = "waiting",
                                         [REPRO_BEGUN] = "begun",
                                         [REPRO_DONE] = "done",
                                         [REPRO_IMPOSSIBLE] = "impossible"};
    const struct experiment *experiment = job->experiment;
    enum verdict verdict = VERDICT_NONE;
    json_t *records = records_read(job), *parts = json_array();
    for (unsigned p = 0; p < experiment->parts_count; p++) {
        const struct experiment_part *part = &experiment->parts[p];
        if (experiment_part_runs(experiment, part, job->machine, &repro->form,
                                 repro->which == REPRO_GIVEN))
            json_array_append_new(parts, part_judge(repro, job, part, records, &verdict));
    }
    json_decref(records);
    const char *slash = strrchr(job->folder, '/');
    json_t *place =
        json_pack("{ss ss ss sf so}", "machine", job->machine, "verdict", verdict_text(verdict),
                  "state", states[job->state], "seconds", job->seconds, "parts", parts);
    if (job->state == REPRO_BEGUN || job->state == REPRO_DONE)
        json_object_set_new(place, "folder", json_string(slash ? slash + 1 : job->folder));
    if (*job->reason)
        json_object_set_new(place, "reason", json_string(job->reason));
    json_decref(job->judged);
    job->judged = place;
}

/* All ------------------------------------------------------------------------------------------ */

/* Compares the expectations that are decided in both places: *decided if there is one, *alike
 * unless two differ. */
static void agree_add(const json_t *a, const json_t *b, bool *decided, bool *alike)
{
    json_each(part, json_object_get(a, "parts")) {
        json_each(expectation, json_object_get(part, "expectations")) {
            enum verdict here = repro_file_verdict(expectation);
            enum verdict there = repro_file_verdict(repro_file_expectation(
                repro_file_part(b, field_text(part, "id")), field_integer(expectation, "number")));
            if (here == VERDICT_UNDECIDED || there == VERDICT_UNDECIDED || there == VERDICT_NONE)
                continue;
            *decided = true;
            *alike = *alike && here == there;
        }
    }
}

static json_t *agree_to_json(const json_t *places)
{
    bool decided = false, alike = true;
    for (size_t i = 0; i < json_array_size(places); i++)
        for (size_t k = i + 1; k < json_array_size(places); k++)
            agree_add(json_array_get(places, i), json_array_get(places, k), &decided, &alike);
    return decided ? json_boolean(alike) : json_null();
}

static json_t *experiment_to_json(const struct repro *repro, const struct experiment *experiment)
{
    enum verdict verdict = VERDICT_NONE;
    json_t *places = json_array(), *guests = json_array();
    for (size_t i = 0; i < repro->jobs_count; i++) {
        const struct repro_job *job = &repro->jobs[i];
        if (job->experiment != experiment || !job->judged)
            continue;
        if (job->guest) {
            json_array_append(guests, job->judged);
            continue;
        }
        verdict = verdict_join(verdict, verdict_of_text(field_text(job->judged, "verdict")));
        json_array_append(places, job->judged);
    }
    if (json_array_size(places) == 0) {
        json_decref(places);
        json_decref(guests);
        return NULL;
    }
    json_t *agree = agree_to_json(places);
    return json_pack("{ss ss ss ss ss ss ss so so so}", "id", experiment->id, "title",
                     experiment->title, "claim", experiment->claim, "source", experiment->source,
                     "why", experiment->why, "refuted", experiment->refuted, "verdict",
                     verdict_text(verdict), "agree", agree, "machines", places, "guests", guests);
}

static json_t *run_to_json(const struct repro *repro)
{
    static const char *const which[] = {
        [REPRO_OWN] = "own", [REPRO_SIMULATED] = "simulated", [REPRO_GIVEN] = "given"};
    json_t *ids = json_array(), *machines = json_array();
    for (size_t i = 0; i < repro->count; i++)
        json_array_append_new(ids, json_string(repro->experiments[i]->id));
    for (size_t i = 0; i < repro->machines_count; i++)
        json_array_append_new(machines, json_string(repro->machines[i]));
    const char *form = repro->form.held ? "held" : repro->form.quick ? "quick" : "full";
    return json_pack("{ss sb sb ss so so sb sb}", "form", form, "guests", repro->form.guests,
                     "deterministic", repro->form.deterministic, "which", which[repro->which],
                     "machines", machines, "experiments", ids, "all", repro->all, "claims",
                     repro->claims != NULL);
}

json_t *repro_to_json(const struct repro *repro)
{
    const char *slash = strrchr(repro->folder, '/');
    char written[32];
    bool finished = true;
    json_t *experiments = json_array(), *claims;
    for (size_t i = 0; i < repro->count; i++) {
        json_t *experiment = experiment_to_json(repro, repro->experiments[i]);
        if (experiment)
            json_array_append_new(experiments, experiment);
    }
    for (size_t i = 0; i < repro->jobs_count; i++)
        finished = finished && repro->jobs[i].state > REPRO_BEGUN;
    claims = repro->claims ? claims_judge(repro->claims, experiments, repro->all) : json_array();
    record_time_text(written);
    return json_pack("{si ss ss ss sb ss so so so}", "schema", REPRO_SCHEMA, "name",
                     slash ? slash + 1 : repro->folder, "began", repro->began, "written", written,
                     "finished", finished, "revision", build_revision(), "run", run_to_json(repro),
                     "experiments", experiments, "claims", claims);
}
