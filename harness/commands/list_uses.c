/* list_uses.c - see list_uses.h. */
#include "harness/commands/list_uses.h"

#include "harness/base/memory.h"
#include "harness/host/data_folder.h"
#include "harness/plan/sweep_file.h"
#include "harness/repro/experiment.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

struct uses {
    struct experiment **experiments;
    struct sweep_file **sweeps;
    size_t experiments_count, sweeps_count;
};

enum { PATH_SIZE = 4096 };

/* Files ---------------------------------------------------------------------------------------- */

static bool experiments_load(struct uses *uses, char *error, size_t error_size)
{
    char **paths = experiment_paths(error, error_size);
    size_t count = 0;
    bool good = paths != NULL;
    while (paths && paths[count])
        count++;
    uses->experiments = xcalloc(count + 1, sizeof(struct experiment *));
    for (size_t i = 0; i < count && good; i++) {
        uses->experiments[i] = experiment_load(paths[i], error, error_size);
        good = uses->experiments[i] != NULL;
        uses->experiments_count += good;
    }
    experiment_paths_free(paths);
    return good;
}

static bool sweeps_load(struct uses *uses, char *error, size_t error_size)
{
    char folder[PATH_SIZE];
    char **names = data_folder_names("sweeps", error, error_size);
    size_t count = 0;
    if (!names || !data_folder_find("sweeps", folder, sizeof folder, error, error_size))
        return false;
    while (names[count])
        count++;
    uses->sweeps = xcalloc(count + 1, sizeof(struct sweep_file *));
    bool good = true;
    for (size_t i = 0; i < count && good; i++) {
        char *path = text_format("%s/%s.yaml", folder, names[i]);
        uses->sweeps[i] = sweep_file_load(path, error, error_size);
        good = uses->sweeps[i] != NULL;
        uses->sweeps_count += good;
        free(path);
    }
    data_folder_names_free(names);
    return good;
}

struct uses *uses_load(char *error, size_t error_size)
{
    struct uses *uses = xcalloc(1, sizeof *uses);
    if (experiments_load(uses, error, error_size) && sweeps_load(uses, error, error_size))
        return uses;
    uses_free(uses);
    return NULL;
}

void uses_free(struct uses *uses)
{
    for (size_t i = 0; i < uses->experiments_count; i++)
        experiment_free(uses->experiments[i]);
    for (size_t i = 0; i < uses->sweeps_count; i++)
        sweep_file_free(uses->sweeps[i]);
    free(uses->experiments);
    free(uses->sweeps);
    free(uses);
}

/* Specifications ------------------------------------------------------------------------------- */

/* True for "gmp" and "gmp,tick=1" if the name is gmp. */
static bool is_of(const char *spec, const char *name)
{
    size_t length = strcspn(spec, ",");
    return strlen(name) == length && strncmp(spec, name, length) == 0;
}

static bool any_is_of(char *const *specs, unsigned count, const char *name)
{
    for (unsigned i = 0; i < count; i++)
        if (is_of(specs[i], name))
            return true;
    return false;
}

/* The value of the key in a specification, up to a comma; NULL if it does not set the key. */
static const char *setting_of(const char *spec, const char *key)
{
    size_t length = strlen(key);
    for (const char *at = strchr(spec, ','); at; at = strchr(at, ',')) {
        at++;
        if (strncmp(at, key, length) == 0 && at[length] == '=')
            return at + length + 1;
    }
    return NULL;
}

/* True if two of the specifications set the key differently, or one does not set it. */
static bool differ_in(char *const *specs, unsigned count, const char *key)
{
    for (unsigned i = 1; i < count; i++) {
        const char *a = setting_of(specs[0], key), *b = setting_of(specs[i], key);
        size_t length = a ? strcspn(a, ",") : 0;
        if (!a != !b || (a && (strcspn(b, ",") != length || strncmp(a, b, length) != 0)))
            return true;
    }
    return false;
}

/* Experiments ---------------------------------------------------------------------------------- */

typedef bool part_test(const struct experiment *experiment, const struct experiment_part *part,
                       const char *name);

static bool has_part(const struct experiment *experiment, part_test *test, const char *name)
{
    for (unsigned p = 0; p < experiment->parts_count; p++)
        if (test(experiment, &experiment->parts[p], name))
            return true;
    return false;
}

/* Experiments with a part that passes the one test, and none that passes the other, if any. */
static json_t *select_experiments(const struct uses *uses, part_test *test, part_test *but,
                                  const char *name)
{
    json_t *array = json_array();
    for (size_t i = 0; i < uses->experiments_count; i++) {
        const struct experiment *experiment = uses->experiments[i];
        if (has_part(experiment, test, name) && !(but && has_part(experiment, but, name)))
            json_array_append_new(
                array, json_pack("{ss ss}", "id", experiment->id, "title", experiment->title));
    }
    return array;
}

static bool part_varies(const struct experiment *experiment, const struct experiment_part *part,
                        const char *knob)
{
    (void)experiment;
    if (part->factor == FACTOR_KNOB)
        return strcmp(part->factor_text, knob) == 0;
    return part->factor == FACTOR_VARIANT && differ_in(part->variants, part->variants_count, knob);
}

static bool part_compares(const struct experiment *experiment, const struct experiment_part *part,
                          const char *variant)
{
    (void)experiment;
    if (part->factor != FACTOR_VARIANT || !any_is_of(part->variants, part->variants_count, variant))
        return false;
    for (unsigned i = 0; i < part->variants_count; i++)
        if (!is_of(part->variants[i], variant))
            return true;
    return false;
}

static bool part_is_within(const struct experiment *experiment, const struct experiment_part *part,
                           const char *variant)
{
    (void)experiment;
    return part->factor == FACTOR_KNOB && any_is_of(part->variants, part->variants_count, variant);
}

static bool part_runs_workload(const struct experiment *experiment,
                               const struct experiment_part *part, const char *workload)
{
    (void)experiment;
    return any_is_of(part->workloads, part->workloads_count, workload);
}

static bool part_judges(const struct experiment *experiment, const struct experiment_part *part,
                        const char *event)
{
    (void)experiment;
    for (unsigned i = 0; i < part->expect_count; i++) {
        const char *metric = part->expect[i].metric;
        if (strcmp(metric ? metric : part->metric, event) == 0)
            return true;
    }
    return false;
}

static bool has_text(char *const *texts, unsigned count, const char *text)
{
    for (unsigned i = 0; i < count; i++)
        if (strcmp(texts[i], text) == 0)
            return true;
    return false;
}

static bool part_counts(const struct experiment *experiment, const struct experiment_part *part,
                        const char *event)
{
    return part->events_count > 0 ? has_text(part->events, part->events_count, event)
                                  : has_text(experiment->events, experiment->events_count, event);
}

json_t *uses_that_vary(const struct uses *uses, const char *knob)
{
    return select_experiments(uses, part_varies, NULL, knob);
}

json_t *uses_that_compare(const struct uses *uses, const char *variant)
{
    return select_experiments(uses, part_compares, NULL, variant);
}

json_t *uses_within(const struct uses *uses, const char *variant)
{
    return select_experiments(uses, part_is_within, NULL, variant);
}

json_t *uses_that_run(const struct uses *uses, const char *workload)
{
    return select_experiments(uses, part_runs_workload, NULL, workload);
}

json_t *uses_that_judge(const struct uses *uses, const char *event)
{
    return select_experiments(uses, part_judges, NULL, event);
}

json_t *uses_that_count(const struct uses *uses, const char *event)
{
    return select_experiments(uses, part_counts, part_judges, event);
}

/* Sweeps --------------------------------------------------------------------------------------- */

typedef bool group_test(const struct sweep_group *group, const char *name);

static json_t *select_sweeps(const struct uses *uses, group_test *test, const char *name)
{
    json_t *array = json_array();
    for (size_t i = 0; i < uses->sweeps_count; i++) {
        const struct sweep_file *sweep = uses->sweeps[i];
        bool found = false;
        for (unsigned g = 0; g < sweep->groups_count && !found; g++)
            found = test(&sweep->groups[g], name);
        if (found)
            json_array_append_new(array, json_string(sweep->name));
    }
    return array;
}

static bool group_varies(const struct sweep_group *group, const char *knob)
{
    return differ_in(group->variants, group->variants_count, knob);
}

static bool group_runs(const struct sweep_group *group, const char *workload)
{
    return any_is_of(group->workloads, group->workloads_count, workload);
}

json_t *sweeps_that_vary(const struct uses *uses, const char *knob)
{
    return select_sweeps(uses, group_varies, knob);
}

json_t *sweeps_that_run(const struct uses *uses, const char *workload)
{
    return select_sweeps(uses, group_runs, workload);
}
