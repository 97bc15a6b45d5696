/* repro_judge.c - from records to verdicts to repro.json. See repro.h. */
#include "harness/base/build_info.h"
#include "harness/base/json_fields.h"
#include "harness/base/memory.h"
#include "harness/base/text.h"
#include "harness/evidence/comparable.h"
#include "harness/models/machine_start.h"
#include "harness/plan/stopping_rule.h"
#include "harness/records/records.h"
#include "harness/records/run_folder.h"
#include "harness/repro/outcome.h"
#include "harness/repro/repro.h"
#include "harness/repro/repro_file.h"
#include "harness/repro/verdict.h"
#include "harness/repro/verdict_json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
        if (judged.expect->role == ROLE_CLAIM)
            *verdict = verdict_join(*verdict, judged.verdict);
        judged_free(&judged);
    }
    json_object_set_new(object, "expectations", expectations);
    return object;
}

/* Says of an experiment, or of a place, how the claims and the others came out. Takes tally. */
static void said_set(json_t *object, json_t *tally)
{
    char *said = outcome_said(field_text(object, "verdict"), tally);
    json_object_set_new(object, "said", json_string(said));
    json_object_set_new(object, "tally", tally);
    free(said);
}

/* The records measured so far. */
static json_t *records_read(struct repro_job *job)
{
    struct error error;
    json_t *records = job->state == REPRO_BEGUN || job->state == REPRO_DONE
                          ? run_folder_records(job->folder, false, NULL, &error)
                          : NULL;
    return records ? records : json_array();
}

/* Adds to `sum` the counts of `one`, which may be NULL. */
static void disturbed_add(json_t *sum, const json_t *one)
{
    const char *key;
    json_t *count;
    json_object_foreach((json_t *)one, key, count) json_object_set_new(
        sum, key, json_integer(field_integer(sum, key) + json_integer_value(count)));
}

/* How many native samples there are, were marked, and were measured since others were. */
static json_t *disturbed_of(const json_t *records)
{
    json_int_t samples = 0, marked = 0, repeated = 0;
    json_each(record, records) {
        if (!record_is(record, "ok") || machine_text_is_simulated(field_text(record, "machine")))
            continue;
        samples++;
        marked += comparable_is_marked(record);
        repeated += strcmp(field_text(record, "why"), why_text(WHY_REPEAT)) == 0;
    }
    return json_pack("{sI sI sI}", "samples", samples, "marked", marked, "repeated", repeated);
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
    json_each(record, records)
        job->has_samples = job->has_samples || record_is(record, "ok");
    for (unsigned p = 0; p < experiment->parts_count; p++) {
        const struct experiment_part *part = &experiment->parts[p];
        if (experiment_part_runs(experiment, part, job->machine, &repro->form,
                                 repro->which == REPRO_GIVEN))
            json_array_append_new(parts, part_judge(repro, job, part, records, &verdict));
    }
    json_t *disturbed = disturbed_of(records);
    json_decref(records);
    json_t *place =
        json_pack("{ss ss ss sf so}", "machine", job->machine, "verdict", verdict_text(verdict),
                  "state", states[job->state], "seconds", job->seconds, "parts", parts);
    json_object_set_new(place, "disturbed", disturbed);
    said_set(place, outcome_tally(parts));
    if (job->state == REPRO_BEGUN || job->state == REPRO_DONE)
        json_object_set_new(place, "folder", json_string(text_base_name(job->folder)));
    if (*job->reason)
        json_object_set_new(place, "reason", json_string(job->reason));
    json_decref(job->judged);
    job->judged = place;
}

/* All ------------------------------------------------------------------------------------------ */

/* The first reason of a claim with that verdict, "native, hog#1: 2 samples ..."; to be freed. */
static char *lacking_text(const json_t *places, enum verdict verdict)
{
    json_each(place, places) {
        json_each(part, json_object_get(place, "parts")) {
            json_each(expectation, json_object_get(part, "expectations")) {
                if (repro_file_is_claim(expectation) && repro_file_verdict(expectation) == verdict)
                    return text_format("%s, %s#%lld: %s", repro_file_place_name(place),
                                       field_text(part, "id"),
                                       (long long)field_integer(expectation, "number"),
                                       field_text(repro_file_decisive(expectation), "reason"));
            }
        }
    }
    return text_format("nothing was measured");
}

/* "On native: ... On sim:desktop8: ...", to be freed. */
static char *lessons_text(const struct experiment_lesson *lesson, const json_t *places)
{
    char *text = NULL;
    FILE *to = memory_stream(&text, NULL);
    json_each(place, places) {
        enum verdict verdict = repro_file_verdict(place);
        if (verdict == VERDICT_SUPPORTED || verdict == VERDICT_REFUTED)
            fprintf(to, "%sOn %s: %s", ftell(to) > 0 ? " " : "", repro_file_place_name(place),
                    verdict == VERDICT_SUPPORTED ? lesson->supported : lesson->refuted);
    }
    fclose(to);
    return text;
}

/* The lesson of that verdict in the experiment's file; NULL: none. To be freed. */
static char *lesson_text(const struct experiment_lesson *lesson, enum verdict verdict,
                         const json_t *places)
{
    if (!lesson)
        return NULL;
    switch (verdict) {
    case VERDICT_SUPPORTED:
        return xstrdup(lesson->supported);
    case VERDICT_REFUTED:
        return xstrdup(lesson->refuted);
    case VERDICT_DISAGREE:
        return lesson->disagree ? xstrdup(lesson->disagree) : lessons_text(lesson, places);
    default:
        break;
    }
    char *lacking = lacking_text(places, verdict);
    if (verdict == VERDICT_NOT_RUN) {
        char *reason = text_format("It is not run (%s).", lacking);
        free(lacking);
        return reason;
    }
    char *text = text_format("%s%sThe claim is not decided (%s).",
                             lesson->undecided ? lesson->undecided : "",
                             lesson->undecided ? " " : "", lacking);
    free(lacking);
    return text;
}

/* The places of an experiment, or those of its guests; an array. */
static json_t *places_of(const struct repro *repro, const struct experiment *experiment, bool guest)
{
    json_t *places = json_array();
    for (size_t i = 0; i < repro->jobs_count; i++) {
        const struct repro_job *job = &repro->jobs[i];
        if (job->experiment == experiment && job->judged && job->guest == guest)
            json_array_append(places, job->judged);
    }
    return places;
}

static json_t *experiment_to_json(const struct repro *repro, const struct experiment *experiment)
{
    unsigned count[VERDICTS] = {0};
    json_t *places = places_of(repro, experiment, false), *tally = json_object();
    json_t *disturbed = json_object();
    if (json_array_size(places) == 0) {
        json_decref(places);
        json_decref(tally);
        json_decref(disturbed);
        return NULL;
    }
    json_each(place, places) {
        count[repro_file_verdict(place)]++;
        disturbed_add(disturbed, json_object_get(place, "disturbed"));
        outcome_tally_add(tally, json_object_get(place, "tally"));
    }
    enum verdict verdict = verdict_of_machines(count);
    char *lesson = lesson_text(experiment->lesson, verdict, places);
    json_t *object =
        json_pack("{ss ss ss ss ss ss ss so so}", "id", experiment->id, "title", experiment->title,
                  "claim", experiment->claim, "source", experiment->source, "why", experiment->why,
                  "refuted", experiment->refuted, "verdict", verdict_text(verdict), "machines",
                  places, "guests", places_of(repro, experiment, true));
    json_object_set_new(object, "disturbed", disturbed);
    said_set(object, tally);
    if (lesson)
        json_object_set_new(object, "lesson", json_string(lesson));
    free(lesson);
    return object;
}

static json_t *run_to_json(const struct repro *repro)
{
    static const char *const which[] = {
        [REPRO_OWN] = "own", [REPRO_SIMULATED] = "simulated", [REPRO_GIVEN] = "given"};
    json_t *ids = json_array();
    for (size_t i = 0; i < repro->count; i++)
        json_array_append_new(ids, json_string(repro->experiments[i]->id));
    json_t *machines = texts_to_json(repro->machines, (unsigned)repro->machines_count);
    const char *form = repro->form.held ? "held" : repro->form.quick ? "quick" : "full";
    return json_pack("{ss sb sb ss so so sb sb}", "form", form, "guests", repro->form.guests,
                     "deterministic", repro->form.deterministic, "which", which[repro->which],
                     "machines", machines, "experiments", ids, "all", repro->all, "claims",
                     repro->claims != NULL);
}

json_t *repro_to_json(const struct repro *repro)
{
    char written[32];
    bool finished = true;
    json_t *experiments = json_array(), *disturbed = json_object(), *claims;
    for (size_t i = 0; i < repro->count; i++) {
        json_t *experiment = experiment_to_json(repro, repro->experiments[i]);
        disturbed_add(disturbed, json_object_get(experiment, "disturbed"));
        if (experiment)
            json_array_append_new(experiments, experiment);
    }
    for (size_t i = 0; i < repro->jobs_count; i++)
        finished = finished && repro->jobs[i].state > REPRO_BEGUN;
    claims = repro->claims ? claims_judge(repro->claims, experiments, repro->all) : json_array();
    record_time_text(written);
    return json_pack("{si ss ss ss sb ss so so so so}", "schema", REPRO_SCHEMA, "name",
                     text_base_name(repro->folder), "began", repro->began, "written", written,
                     "finished", finished, "revision", build_revision(), "run", run_to_json(repro),
                     "disturbed", disturbed, "experiments", experiments, "claims", claims);
}
