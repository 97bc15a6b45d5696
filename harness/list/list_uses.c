/* list_uses.c - see list_uses.h. */
#include "harness/list/list_uses.h"

#include "harness/base/memory.h"
#include "harness/base/text.h"
#include "harness/host/data_folder.h"
#include "harness/plan/sweep_file.h"
#include "harness/repro/experiment.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct uses {
    struct experiment **experiments;
    struct sweep_file **sweeps;
    size_t experiments_count, sweeps_count;
};

enum { PATH_SIZE = 4096 };

/* Files ---------------------------------------------------------------------------------------- */

/* Adds those of a folder. */
static bool experiments_load(struct uses *uses, const char *of, struct error *error)
{
    char **paths = experiment_paths(of, error);
    bool good = paths != NULL;
    for (size_t i = 0; good && paths[i]; i++) {
        struct experiment *experiment = experiment_load(paths[i], error);
        good = experiment != NULL;
        if (good)
            array_add(uses->experiments, uses->experiments_count) = experiment;
    }
    data_folder_names_free(paths);
    return good;
}

static bool sweeps_load(struct uses *uses, struct error *error)
{
    char folder[PATH_SIZE];
    char **names = data_folder_names("sweeps", error);
    size_t count = 0;
    bool good = names && data_folder_find("sweeps", folder, sizeof folder, error);
    while (names && names[count])
        count++;
    uses->sweeps = xcalloc(count + 1, sizeof(struct sweep_file *));
    for (size_t i = 0; i < count && good; i++) {
        char *path = text_format("%s/%s.yaml", folder, names[i]);
        uses->sweeps[i] = sweep_file_load(path, error);
        good = uses->sweeps[i] != NULL;
        uses->sweeps_count += good;
        free(path);
    }
    data_folder_names_free(names);
    return good;
}

struct uses *uses_load(struct error *error)
{
    struct uses *uses = xcalloc(1, sizeof *uses);
    if (experiments_load(uses, EXPERIMENT_FOLDER, error) &&
        experiments_load(uses, DISPUTE_FOLDER, error) && sweeps_load(uses, error))
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

json_t *uses_experiment(const struct uses *uses, const char *id)
{
    for (size_t i = 0; i < uses->experiments_count; i++) {
        const struct experiment *experiment = uses->experiments[i];
        if (strcasecmp(experiment->id, id) == 0)
            return json_pack("{ss ss ss}", "id", experiment->id, "title", experiment->title,
                             "claim", experiment->claim);
    }
    return NULL;
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

static bool same_setting(const char *spec, const char *other, const char *key)
{
    const char *a = setting_of(spec, key), *b = setting_of(other, key);
    size_t length = a ? strcspn(a, ",") : 0;
    return !a == !b && (!a || (strcspn(b, ",") == length && strncmp(a, b, length) == 0));
}

/* True if two specifications of one variant set the key differently, or one does not set it. */
static bool differ_in(char *const *specs, unsigned count, const char *key)
{
    for (unsigned i = 0; i < count; i++)
        for (unsigned k = i + 1; k < count; k++)
            if (strcspn(specs[i], ",") == strcspn(specs[k], ",") &&
                strncmp(specs[i], specs[k], strcspn(specs[i], ",")) == 0 &&
                !same_setting(specs[i], specs[k], key))
                return true;
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

static bool part_counts(const struct experiment *experiment, const struct experiment_part *part,
                        const char *event)
{
    return part->events_count > 0
               ? text_is_among(event, part->events, part->events_count)
               : text_is_among(event, experiment->events, experiment->events_count);
}

/* Experiments with a part that passes the one test, and none that passes the other, if any. */
static const struct {
    part_test *test, *but;
} selections[] = {
    [USES_THAT_VARY] = {part_varies, NULL},  [USES_THAT_COMPARE] = {part_compares, NULL},
    [USES_WITHIN] = {part_is_within, NULL},  [USES_THAT_RUN] = {part_runs_workload, NULL},
    [USES_THAT_JUDGE] = {part_judges, NULL}, [USES_THAT_COUNT] = {part_counts, part_judges},
};

json_t *uses_experiments(const struct uses *uses, enum uses_which which, const char *name)
{
    part_test *test = selections[which].test, *but = selections[which].but;
    json_t *array = json_array();
    for (size_t i = 0; i < uses->experiments_count; i++) {
        const struct experiment *experiment = uses->experiments[i];
        if (has_part(experiment, test, name) && !(but && has_part(experiment, but, name)))
            json_array_append_new(
                array, json_pack("{ss ss}", "id", experiment->id, "title", experiment->title));
    }
    return array;
}

/* Sweeps --------------------------------------------------------------------------------------- */

json_t *uses_sweeps(const struct uses *uses, enum uses_which which, const char *name)
{
    json_t *array = json_array();
    for (size_t i = 0; i < uses->sweeps_count; i++) {
        const struct sweep_file *sweep = uses->sweeps[i];
        bool found = false;
        for (unsigned g = 0; g < sweep->groups_count && !found; g++) {
            const struct sweep_group *group = &sweep->groups[g];
            found = which == USES_THAT_VARY
                        ? differ_in(group->variants, group->variants_count, name)
                        : any_is_of(group->workloads, group->workloads_count, name);
        }
        if (found)
            json_array_append_new(array, json_string(sweep->name));
    }
    return array;
}
