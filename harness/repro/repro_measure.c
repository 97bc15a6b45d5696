/* repro_measure.c - measures the jobs of a reproduction. See repro.h. */
#include "harness/base/files.h"
#include "harness/base/progress.h"
#include "harness/base/stop.h"
#include "harness/base/text.h"
#include "harness/plan/plan.h"
#include "harness/plan/sweep_file.h"
#include "harness/plan/sweep_origin.h"
#include "harness/repro/repro.h"
#include "harness/spec/spec.h"
#include "harness/sweep/sweep_run.h"

#include <string.h>

/* The keys that sweep_resume.c asks a run for, so that a job is a run like any other. */
static json_t *sweep_to_json(const struct repro_job *job, const struct sweep_file *sweep,
                             const struct plan *plan, const char *fingerprint)
{
    json_t *object = params_to_json(sweep, sweep_file_params);
    json_object_set_new(object, "file", json_string(job->experiment->path));
    json_object_set_new(object, "fingerprint", json_string(fingerprint));
    json_object_set_new(object, "timer", json_string("inside"));
    json_object_set_new(object, "cells", json_integer((json_int_t)plan->count));
    return object;
}

static bool folder_fill(const struct repro *repro, const struct repro_job *job,
                        const struct sweep_file *sweep, const struct plan *plan,
                        struct error *error)
{
    char path[REPRO_PATH_SIZE + 32], fingerprint[FINGERPRINT_SIZE];
    snprintf(path, sizeof path, "%s/sweep.yaml", job->folder);
    if (!folder_make(job->folder, error) ||
        !file_replace(path, job->sweep_text, strlen(job->sweep_text), error) ||
        !sweep_origin_fingerprint(path, fingerprint, error))
        return false;
    json_t *environment = json_copy(repro->environment);
    json_object_set_new(environment, "sweep", sweep_to_json(job, sweep, plan, fingerprint));
    snprintf(path, sizeof path, "%s/environment.json", job->folder);
    bool ok = file_replace_json(path, environment, error);
    json_decref(environment);
    return ok;
}

/* 0, the signal that stopped it, or -1 and one line in error. */
static int job_measure(const struct repro *repro, struct repro_job *job, FILE *messages,
                       struct error *error)
{
    struct sweep_file *sweep =
        sweep_file_parse(job->folder, job->sweep_text, strlen(job->sweep_text), error);
    if (!sweep)
        return -1;
    struct plan *plan = repro_job_plan(repro, job, sweep);
    struct sweep_run run = {
        .sweep = sweep,
        .plan = plan,
        .seed = (uint64_t)sweep->seed,
        .folder = job->folder,
        .resume = job->state == REPRO_BEGUN,
    };
    int result = -1;
    if (run.resume || folder_fill(repro, job, sweep, plan, error)) {
        job->state = REPRO_BEGUN;
        result = sweep_run_measure(&run, messages, error);
        job->seconds += run.seconds;
        if (result == 0 && run.stopped_by == 0)
            job->state = REPRO_DONE;
    }
    plan_free(plan);
    sweep_file_free(sweep);
    return result < 0 ? -1 : run.stopped_by;
}

/* Time left ------------------------------------------------------------------------------------ */

struct pace {
    double seconds, weight; /* of the jobs that this process has measured */
};

static double seconds_left(const struct repro *repro, size_t from, struct pace pace)
{
    double weight = 0;
    for (size_t i = from; i < repro->jobs_count; i++)
        if (repro->jobs[i].state <= REPRO_BEGUN)
            weight += repro->jobs[i].weight;
    return pace.weight > 0 ? weight * pace.seconds / pace.weight : weight;
}

static void job_tell(const struct repro *repro, size_t i, struct pace pace, FILE *messages)
{
    char left[32];
    const struct repro_job *job = &repro->jobs[i];
    fprintf(messages, "%s on %s: %zu of %s, about %s left\n", job->experiment->id, job->machine,
            i + 1, counted(repro->jobs_count, "job").s,
            progress_duration(seconds_left(repro, i, pace), left));
}

/* How long it will take, before any of it: the more the intervals have to be narrowed. */
static void all_tell(const struct repro *repro, FILE *messages)
{
    char least[32], most[32];
    double few = 0, many = 0;
    size_t jobs = 0;
    for (size_t i = 0; i < repro->jobs_count; i++) {
        const struct repro_job *job = &repro->jobs[i];
        if (job->state > REPRO_BEGUN)
            continue;
        few += job->least;
        many += job->most;
        jobs++;
    }
    if (jobs > 0)
        fprintf(messages,
                "%s of %s to measure: about %s with as few blocks as may do, %s with all; %s\n",
                counted(jobs, "job").s, counted(repro->count, "experiment").s,
                progress_duration(few, least), progress_duration(many, most),
                repro->form.quick ? "the second are for claims that need narrower intervals"
                                  : "blocks go on until intervals are narrow");
}

/* The whole ------------------------------------------------------------------------------------ */

static bool repro_write(const struct repro *repro, struct error *error)
{
    char path[2 * REPRO_PATH_SIZE];
    snprintf(path, sizeof path, "%s/repro.json", repro->folder);
    json_t *json = repro_to_json(repro);
    bool ok = file_replace_json(path, json, error);
    json_decref(json);
    return ok;
}

static int jobs_measure(struct repro *repro, FILE *messages, struct error *error)
{
    struct pace pace = {0, 0};
    for (size_t i = 0; i < repro->jobs_count; i++)
        repro_judge(repro, &repro->jobs[i]);
    if (!repro_write(repro, error))
        return -1;
    all_tell(repro, messages);
    for (size_t i = 0; i < repro->jobs_count; i++) {
        struct repro_job *job = &repro->jobs[i];
        if (job->state > REPRO_BEGUN)
            continue;
        double before = job->seconds;
        job_tell(repro, i, pace, messages);
        if (stop_signal())
            return stop_signal();
        int result = job_measure(repro, job, messages, error);
        repro_judge(repro, job);
        if (result < 0 || !repro_write(repro, error))
            return -1;
        if (result > 0)
            return result;
        pace.seconds += job->seconds - before;
        pace.weight += job->weight;
    }
    return 0;
}

int repro_measure(struct repro *repro, FILE *messages, struct error *error)
{
    struct stop stop;
    stop_begin(&stop); /* between jobs, too */
    int result = jobs_measure(repro, messages, error);
    stop_end(&stop);
    return result;
}
