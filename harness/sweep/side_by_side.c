/* side_by_side.c - see side_by_side.h. */
#include "harness/sweep/side_by_side.h"

#include "harness/base/build_info.h"
#include "harness/base/files.h"
#include "harness/doctor/doctor.h"
#include "harness/records/run_folder.h"
#include "harness/spec/spec.h"
#include "harness/sweep/sweep_run.h"

#include <stdio.h>

enum { PATH_SIZE = 4096 };

/* "sides" in place of "sweep": what makes a run that can be resumed is not there. */
static json_t *sides_to_json(const struct side_by_side *run)
{
    json_t *sides = json_array(), *object = params_to_json(run->sweep, sweep_file_params);
    for (size_t i = 0; i < run->sides_count; i++) {
        const struct plan_side *side = &run->sides[i];
        json_array_append_new(sides, json_pack("{ss ss si}", "name", side->name, "revision",
                                               side->revision ? side->revision : build_revision(),
                                               "injected_percent", side->injected_percent));
    }
    json_object_set_new(object, "sides", sides);
    json_object_set_new(object, "seed", json_integer((json_int_t)run->seed));
    json_object_set_new(object, "reverse", json_boolean(run->reverse));
    return object;
}

static bool folder_fill(const struct side_by_side *run, struct error *error)
{
    char path[PATH_SIZE];
    snprintf(path, sizeof path, "%s/sweep.yaml", run->folder);
    if (!file_copy(run->sweep_path, path, error))
        return false;
    json_t *environment = json_copy(run->environment);
    json_object_set_new(environment, "doctor",
                        doctor_for_run(run->folder, json_object_get(run->environment, "counting")));
    json_object_set_new(environment, "side_by_side", sides_to_json(run));
    snprintf(path, sizeof path, "%s/environment.json", run->folder);
    bool ok = file_replace_json(path, environment, error);
    json_decref(environment);
    return ok;
}

static int measure(const struct side_by_side *run, struct plan *plan, struct error *error)
{
    struct sweep_run sweep_run = {
        .sweep = run->sweep,
        .plan = plan,
        .seed = run->seed,
        .reverse = run->reverse,
        .folder = run->folder,
    };
    if (sweep_run_measure(&sweep_run, stderr, error) < 0)
        return -1;
    if (sweep_run.stopped_by)
        error_print(error, "stopped by SIG%s; what was measured is in %s",
                    sigabbrev_np(sweep_run.stopped_by), run->folder);
    else if (sweep_run.ok == 0)
        error_print(error, "no sample could be measured; why is in %s/samples.jsonl", run->folder);
    else
        return 0;
    return -1;
}

int side_by_side_measure(struct side_by_side *run, struct error *error)
{
    if (!run_folder_make(run->results, run->name, run->folder, sizeof run->folder, error) ||
        !folder_fill(run, error))
        return -1;
    struct plan *plan = plan_make(run->sweep);
    plan_multiply(plan, run->sides, run->sides_count);
    int result = measure(run, plan, error);
    plan_free(plan);
    return result;
}
