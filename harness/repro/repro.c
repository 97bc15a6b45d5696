/* repro.c - plans a reproduction, begins it and takes it up again. See repro.h. */
#include "harness/repro/repro.h"

#include "harness/base/files.h"
#include "harness/base/json_fields.h"
#include "harness/base/memory.h"
#include "harness/base/text.h"
#include "harness/doctor/doctor.h"
#include "harness/doctor/environment.h"
#include "harness/host/topology.h"
#include "harness/models/machine_spec.h"
#include "harness/models/machine_start.h"
#include "harness/plan/cell_time.h"
#include "harness/plan/sweep_file.h"
#include "harness/plan/sweep_origin.h"
#include "harness/records/records.h"
#include "harness/repro/repro_file.h"

#include <ctype.h>
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Planning ------------------------------------------------------------------------------------- */

/* ID@MACHINE; signs that a path or a filter would take for its own become "-". */
static void folder_name(struct repro_job *job, const char *folder)
{
    int length = snprintf(job->folder, sizeof job->folder, "%s/%s@%s", folder, job->experiment->id,
                          job->machine);
    for (int i = length - (int)strlen(job->machine); i < length && job->folder[i]; i++)
        if (!isalnum((unsigned char)job->folder[i]) && !strchr("._-", job->folder[i]))
            job->folder[i] = '-';
}

/* Guessed time of a sample beside its timed calls (process, warm-up, probes), and of a simulated
 * sample, where no earlier reproduction has measured it. Rough: the estimate of time left soon
 * follows measured samples. */
static const double SAMPLE_SECONDS = 0.1, SIMULATED_SECONDS = 0.2;

/* How many blocks more there are in the quick form, for claims and for disturbed samples. */
static const double QUICK_MORE = 1.3;

static double sample_seconds(const struct cell_times *times, const struct cell *cell)
{
    struct cell_time known = cell_times_of(times, cell);
    bool simulated = machine_text_is_simulated(cell->machine);
    double seconds = known.basis == CELL_TIME_RECORDS || known.basis == CELL_TIME_LIKE
                         ? known.seconds
                     : simulated ? SIMULATED_SECONDS
                                 : SAMPLE_SECONDS + 1.2 * (double)times->sweep->min_time_ms / 1e3;
    return simulated ? seconds / topology_cpu_count() : seconds; /* these run beside each other */
}

/* Takes what the job's like took in earlier reproductions. */
static void times_take(struct cell_times *times, const struct repro *repro,
                       const struct repro_job *job, const struct plan *plan)
{
    char path[2 * REPRO_PATH_SIZE];
    struct repro_job like = {.experiment = job->experiment, .machine = job->machine};
    folder_name(&like, "");
    DIR *dir = repro->results ? opendir(repro->results) : NULL;
    for (const struct dirent *entry; dir && (entry = readdir(dir));)
        if (*entry->d_name != '.' && snprintf(path, sizeof path, "%s/%s%s", repro->results,
                                              entry->d_name, like.folder) < (int)sizeof path)
            cell_times_take(times, plan, path);
    if (dir)
        closedir(dir);
}

/* The groups of a part whose levels are machines are ID.1, ID.2 and so on. */
static const struct experiment_part *part_of_group(const struct experiment *experiment,
                                                   const char *group)
{
    size_t length = strcspn(group, ".");
    const struct experiment_part *part = experiment->parts;
    while (strlen(part->id) != length || strncmp(part->id, group, length) != 0)
        part++;
    return part;
}

/* True if it compares cells of several sets (plan.h): one could end before the other. */
static bool compares_sets(const struct experiment_part *part)
{
    bool several = part->factor == FACTOR_WORKLOAD || part->factor == FACTOR_WORKERS ||
                   part->factor == FACTOR_MACHINE;
    for (unsigned i = 0; several && i < part->expect_count; i++)
        if (part->expect[i].over)
            return true;
    return false;
}

/* True if all that is expected of the cell is one value. */
static bool cell_is_exact(const struct experiment *experiment, const struct cell *cell)
{
    json_each(group, cell->groups) {
        const struct experiment_part *part = part_of_group(experiment, json_string_value(group));
        if (!experiment_is_exact_of(part, cell->variant, cell->workload, cell->workers))
            return false;
    }
    return true;
}

/* How few blocks do for the cell, where tests hold the verdicts. */
static void cell_hold(const struct experiment *experiment, struct cell *cell)
{
    cell->until_equal = true;
    json_each(group, cell->groups)
        cell->until_equal = cell->until_equal &&
                            !compares_sets(part_of_group(experiment, json_string_value(group)));
    cell->reps = cell_is_exact(experiment, cell) ? EXPERIMENT_EXACT_REPS : 0;
}

/* How narrow the cell's intervals have to be: in the quick form only as its claims need it. */
static void cell_narrow(const struct repro *repro, const struct experiment *experiment,
                        const struct sweep_file *sweep, struct cell *cell)
{
    cell->own_widths = true;
    if (!repro->form.quick)
        cell->widths[0].percent = (double)sweep->width; /* of the throughput */
    else if (cell_is_exact(experiment, cell))
        cell->reps = EXPERIMENT_EXACT_QUICK_REPS;
    json_each(group, cell->groups)
        experiment_widths_add(part_of_group(experiment, json_string_value(group)), cell->variant,
                              cell->workload, cell->workers, cell->widths);
}

struct plan *repro_job_plan(const struct repro *repro, const struct repro_job *job,
                            const struct sweep_file *sweep)
{
    struct plan *plan = plan_make(sweep);
    for (size_t i = 0; i < plan->count; i++)
        if (repro->form.held)
            cell_hold(job->experiment, &plan->cells[i]);
        else
            cell_narrow(repro, job->experiment, sweep, &plan->cells[i]);
    return plan;
}

static void job_weigh(const struct repro *repro, struct repro_job *job)
{
    struct error error;
    struct sweep_file *sweep =
        sweep_file_parse("", job->sweep_text, strlen(job->sweep_text), &error);
    if (!sweep)
        return;
    struct plan *plan = repro_job_plan(repro, job, sweep);
    struct cell_times times;
    cell_times_begin(&times, sweep, plan, "");
    times_take(&times, repro, job, plan);
    double block = 0;
    for (size_t i = 0; i < plan->count; i++) {
        double reps = (double)(plan->cells[i].reps ? plan->cells[i].reps : sweep->reps);
        block += sample_seconds(&times, &plan->cells[i]) * reps / (double)sweep->reps;
    }
    job->least = block * (double)sweep->reps;
    job->most = block * (double)sweep->reps_max;
    job->weight = repro->form.quick ? job->least * QUICK_MORE : (job->least + job->most) / 2;
    cell_times_end(&times);
    plan_free(plan);
    sweep_file_free(sweep);
}

/* True if any part is to run on that machine, whatever cores it has. */
static bool is_wanted(const struct repro *repro, const struct experiment *experiment,
                      const char *machine)
{
    for (unsigned p = 0; p < experiment->parts_count; p++)
        if (experiment_part_runs(experiment, &experiment->parts[p], machine, &repro->form,
                                 repro->which == REPRO_GIVEN))
            return true;
    return false;
}

/* True if the machines that are levels are all among those asked for. */
static bool takes_levels(const struct repro *repro, const struct experiment *experiment)
{
    for (unsigned p = 0; p < experiment->parts_count; p++) {
        const struct experiment_part *part = &experiment->parts[p];
        for (unsigned i = 0; part->factor == FACTOR_MACHINE && i < part->levels_count; i++)
            if (repro->which == REPRO_SIMULATED ? !machine_text_is_simulated(part->levels[i])
                : repro->which == REPRO_GIVEN
                    ? !text_is_among(part->levels[i], repro->machines, repro->machines_count)
                    : false)
                return false;
    }
    return true;
}

static bool is_simulated(const struct experiment *experiment, const char *machine)
{
    for (unsigned p = 0; p < experiment->parts_count; p++) {
        const struct experiment_part *part = &experiment->parts[p];
        for (unsigned i = 0; part->factor == FACTOR_MACHINE && i < part->levels_count; i++)
            if (strcmp(machine, EXPERIMENT_MACHINES) == 0 &&
                machine_text_is_simulated(part->levels[i]))
                return true;
    }
    return machine_text_is_simulated(machine);
}

static void job_add(struct repro *repro, const struct experiment *experiment, const char *machine,
                    bool guest)
{
    char path[REPRO_PATH_SIZE];
    struct error error;
    if (!is_wanted(repro, experiment, machine))
        return;
    struct repro_job *job = &array_add(repro->jobs, repro->jobs_count);
    *job = (struct repro_job){.experiment = experiment, .machine = machine, .guest = guest};
    job->sweep_text =
        experiment_sweep_text(experiment, machine, repro->which == REPRO_GIVEN, &repro->form);
    if (!job->sweep_text) {
        job->state = REPRO_IMPOSSIBLE; /* each expectation says how many cores are missing */
        return;
    }
    if (is_simulated(experiment, machine) &&
        !machine_sim_program(NULL, path, sizeof path, &error)) {
        job->state = REPRO_IMPOSSIBLE;
        snprintf(job->reason, sizeof job->reason, "%.*s", (int)sizeof job->reason - 1, error.text);
    }
    job_weigh(repro, job);
}

/* Machines without prices of a virtual machine have no guest. One that the experiment names itself
 * is measured as such. */
static void guest_add(struct repro *repro, const struct experiment *experiment,
                      const char *const *places, const char *machine)
{
    char *guest = machine_spec_guest(machine);
    if (!guest || text_is_word(guest, places)) {
        free(guest);
        return;
    }
    array_add(repro->guests, repro->guests_count) = guest;
    job_add(repro, experiment, guest, true);
}

static void plan_experiment(struct repro *repro, const struct experiment *experiment)
{
    const char **places = experiment_places(experiment);
    for (size_t i = 0; i < repro->machines_count; i++)
        job_add(repro, experiment, repro->machines[i], false);
    for (const char **place = places; *place; place++) {
        bool levels = strcmp(*place, EXPERIMENT_MACHINES) == 0;
        bool own = repro->which == REPRO_OWN ||
                   (repro->which == REPRO_SIMULATED && machine_text_is_simulated(*place));
        if (levels ? takes_levels(repro, experiment) : own)
            job_add(repro, experiment, levels ? EXPERIMENT_MACHINES : *place, false);
        if (!levels && own && repro->form.guests && machine_text_is_simulated(*place))
            guest_add(repro, experiment, places, *place);
    }
    free(places);
}

void repro_plan(struct repro *repro)
{
    repro->form.native_cores = topology_cpu_count();
    for (size_t i = 0; i < repro->count; i++)
        plan_experiment(repro, repro->experiments[i]);
}

void repro_settle(struct repro *repro)
{
    for (size_t i = 0; i < repro->jobs_count; i++)
        folder_name(&repro->jobs[i], repro->folder);
}

void repro_free(struct repro *repro)
{
    for (size_t i = 0; i < repro->jobs_count; i++) {
        free(repro->jobs[i].sweep_text);
        json_decref(repro->jobs[i].judged);
    }
    for (size_t i = 0; i < repro->count; i++)
        experiment_free(repro->experiments[i]);
    texts_free(repro->machines, repro->machines_count);
    texts_free(repro->guests, repro->guests_count);
    free(repro->experiments);
    free(repro->jobs);
    claims_free(repro->claims);
    json_decref(repro->environment);
}

/* Beginning ------------------------------------------------------------------------------------ */

static bool experiments_copy(const struct repro *repro, const char *claims, struct error *error)
{
    char path[2 * REPRO_PATH_SIZE];
    snprintf(path, sizeof path, "%s/experiments", repro->folder);
    if (!folder_make(path, error))
        return false;
    for (size_t i = 0; i < repro->count; i++) {
        snprintf(path, sizeof path, "%s/experiments/%s.yaml", repro->folder,
                 repro->experiments[i]->id);
        if (!file_copy(repro->experiments[i]->path, path, error))
            return false;
    }
    snprintf(path, sizeof path, "%s/experiments/claims.yaml", repro->folder);
    return !claims || file_copy(claims, path, error);
}

bool repro_begin(struct repro *repro, struct error *error)
{
    char path[2 * REPRO_PATH_SIZE];
    record_time_text(repro->began);
    repro->environment = environment_to_json();
    json_object_set_new(
        repro->environment, "doctor",
        doctor_for_run(repro->folder, json_object_get(repro->environment, "counting")));
    snprintf(path, sizeof path, "%s/environment.json", repro->folder);
    return experiments_copy(repro, repro->claims ? repro->claims->path : NULL, error) &&
           file_replace_json(path, repro->environment, error);
}

/* Resuming ------------------------------------------------------------------------------------- */

static json_t *json_read(const char *path, struct error *error)
{
    json_error_t where;
    json_t *json = json_load_file(path, 0, &where);
    if (!json)
        error_print(error, "%s:%d: %s", path, where.line > 0 ? where.line : 1, where.text);
    return json;
}

/* Samples of one run come from one program on one machine. */
static bool origin_check(struct repro *repro, struct error *error)
{
    char path[2 * REPRO_PATH_SIZE];
    snprintf(path, sizeof path, "%s/environment.json", repro->folder);
    json_t *then = json_read(path, error), *now = environment_to_json();
    bool ok = then != NULL;
    for (enum origin_part part = 0; ok && part < ORIGIN_PARTS; part++) {
        const char *was = sweep_origin_part(then, part), *is = sweep_origin_part(now, part);
        ok = strcmp(was, is) == 0;
        if (!ok)
            error_print(error, "%s: the run began with %s, this is %s",
                        sweep_origin_part_name(part), was, is);
    }
    json_decref(now);
    repro->environment = then;
    return ok;
}

static bool experiments_load(struct repro *repro, const json_t *run, struct error *error)
{
    char path[2 * REPRO_PATH_SIZE];
    const json_t *ids = json_object_get(run, "experiments");
    repro->experiments = xcalloc(json_array_size(ids) + 1, sizeof(struct experiment *));
    json_each(id, ids) {
        snprintf(path, sizeof path, "%s/experiments/%s.yaml", repro->folder, json_string_value(id));
        struct experiment *experiment = experiment_load(path, error);
        if (!experiment)
            return false;
        repro->experiments[repro->count++] = experiment;
    }
    snprintf(path, sizeof path, "%s/experiments/claims.yaml", repro->folder);
    if (json_is_true(json_object_get(run, "claims")))
        repro->claims = claims_load(path, NULL, 0, error);
    return repro->claims || !json_is_true(json_object_get(run, "claims"));
}

static void machines_load(struct repro *repro, const json_t *run)
{
    const json_t *given = json_object_get(run, "machines");
    const char *which = field_text(run, "which");
    repro->which = strcmp(which, "simulated") == 0 ? REPRO_SIMULATED
                   : strcmp(which, "given") == 0   ? REPRO_GIVEN
                                                   : REPRO_OWN;
    repro->machines = xcalloc(json_array_size(given) + 1, sizeof *repro->machines);
    json_each(text, given)
        repro->machines[repro->machines_count++] = xstrdup(json_string_value(text));
}

/* Reads from repro.json which jobs are done. */
static void states_load(struct repro *repro, const json_t *old)
{
    for (size_t j = 0; j < repro->jobs_count; j++) {
        struct repro_job *job = &repro->jobs[j];
        const char *list = job->guest ? "guests" : "machines";
        char path[REPRO_PATH_SIZE + 32];
        struct stat there;
        snprintf(path, sizeof path, "%s/samples.jsonl", job->folder);
        if (job->state == REPRO_WAITING && stat(path, &there) == 0)
            job->state = REPRO_BEGUN;
        json_each(experiment, json_object_get(old, "experiments")) {
            if (strcmp(field_text(experiment, "id"), job->experiment->id) != 0)
                continue;
            json_each(place, json_object_get(experiment, list)) {
                if (strcmp(field_text(place, "machine"), job->machine) != 0)
                    continue;
                job->seconds = json_number_value(json_object_get(place, "seconds"));
                if (job->state == REPRO_BEGUN && strcmp(field_text(place, "state"), "done") == 0)
                    job->state = REPRO_DONE;
            }
        }
    }
}

bool repro_resume(struct repro *repro, struct error *error)
{
    char path[2 * REPRO_PATH_SIZE];
    snprintf(path, sizeof path, "%s/repro.json", repro->folder);
    if (!repro_file_is_there(repro->folder))
        return error_set(error,
                         "%s is no reproduction: it has no repro.json; valid: a folder that "
                         "`schedlab repro` has made",
                         repro->folder);
    json_t *old = json_read(path, error);
    if (!old)
        return false;
    const json_t *run = json_object_get(old, "run");
    bool ok = field_integer(old, "schema") == REPRO_SCHEMA ||
              error_set(error, "%s: its schema is not %d", path, REPRO_SCHEMA);
    ok = ok && experiments_load(repro, run, error) && origin_check(repro, error);
    if (ok) {
        machines_load(repro, run);
        repro->form.deterministic = json_is_true(json_object_get(run, "deterministic"));
        repro->form.guests = json_is_true(json_object_get(run, "guests"));
        repro->form.held = strcmp(field_text(run, "form"), "held") == 0;
        repro->form.quick = repro->form.held || strcmp(field_text(run, "form"), "quick") == 0;
        for (size_t i = 0; repro->form.held && i < repro->count; i++)
            experiment_hold(repro->experiments[i]);
        repro->all = json_is_true(json_object_get(run, "all"));
        snprintf(repro->began, sizeof repro->began, "%s", field_text(old, "began"));
        repro_plan(repro);
        repro_settle(repro);
        states_load(repro, old);
    }
    json_decref(old);
    return ok;
}
