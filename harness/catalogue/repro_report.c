/* repro_report.c - see repro_report.h. */
#include "harness/catalogue/repro_report.h"

#include "harness/base/files.h"
#include "harness/base/json_fields.h"
#include "harness/base/memory.h"
#include "harness/base/text.h"
#include "harness/catalogue/repro_page.h"
#include "harness/host/data_folder.h"
#include "harness/records/run_folder.h"
#include "harness/report/report.h"
#include "harness/repro/experiment.h"
#include "harness/repro/repro_file.h"

#include <stdlib.h>
#include <string.h>

enum { PATH_SIZE = 4096 };

/* The run's report; what goes wrong becomes a problem of the page. */
static void run_report(const char *folder, const char *run, json_t *problems)
{
    char path[PATH_SIZE];
    char *said = NULL;
    FILE *messages = memory_stream(&said, NULL);
    snprintf(path, sizeof path, "%s/%s", folder, run);
    int status = report_make(path, messages);
    fclose(messages);
    said[strcspn(said, "\n")] = '\0';
    if (status != 0)
        json_array_append_new(problems, json_sprintf("%s: %s", run, said));
    free(said);
}

/* Draws the figures of all runs; how many runs there are. */
static size_t runs_report(const char *folder, const json_t *repro, bool draw, json_t *problems)
{
    size_t count = 0;
    json_each(experiment, json_object_get(repro, "experiments")) {
        json_each(place, json_object_get(experiment, "machines")) {
            char path[PATH_SIZE];
            const char *run = field_text(place, "folder");
            snprintf(path, sizeof path, "%s/%s", folder, run);
            if (!*run || !run_folder_is_run(path))
                continue;
            count++;
            if (draw)
                run_report(folder, run, problems);
        }
    }
    return count;
}

static void ids_add(json_t *ids, const char *folder)
{
    struct error error;
    char **paths = experiment_paths(folder, &error);
    for (char **path = paths; path && *path; path++) {
        struct experiment *experiment = experiment_load(*path, &error);
        if (experiment)
            json_object_set_new(ids, experiment->id, json_true());
        experiment_free(experiment);
    }
    data_folder_names_free(paths);
}

/* {"E3": true}: the experiments that come with the program. Faults in one are not shown on the
 * page. */
static json_t *catalogue_ids(void)
{
    json_t *ids = json_object();
    ids_add(ids, EXPERIMENT_FOLDER);
    ids_add(ids, DISPUTE_FOLDER);
    return ids;
}

static void page_contents(FILE *to, const void *arg)
{
    repro_page_write(to, arg);
}

static bool page_write(const char *folder, const json_t *repro, json_t *problems,
                       struct error *error)
{
    char path[PATH_SIZE];
    struct error flaw;
    json_t *environment = run_folder_environment(folder, &flaw);
    json_t *catalogue = catalogue_ids();
    if (*flaw.text)
        json_array_append_new(problems, json_string(flaw.text));
    snprintf(path, sizeof path, "%s/repro.html", folder);
    const struct repro_page page = {folder, repro, environment, problems, catalogue};
    bool ok = file_replace_by(path, page_contents, &page, error);
    json_decref(catalogue);
    json_decref(environment);
    return ok;
}

int repro_report_make(const char *folder, bool draw, const char *command, FILE *messages)
{
    struct error error;
    json_t *repro = repro_file_read(folder, &error);
    if (!repro) {
        fprintf(messages, "%s: %s\n", command, error.text);
        return 1;
    }
    json_t *problems = json_array();
    size_t runs = runs_report(folder, repro, draw, problems);
    bool ok = page_write(folder, repro, problems, &error);
    json_each(problem, problems)
        fprintf(messages, "%s: %s\n", command, json_string_value(problem));
    if (ok)
        fprintf(messages, "%s: %s/repro.html, %s, figures of %s\n", command, folder,
                counted(json_array_size(json_object_get(repro, "experiments")), "experiment").s,
                counted(runs, "run").s);
    else
        fprintf(messages, "%s: %s\n", command, error.text);
    ok = ok && json_array_size(problems) == 0;
    json_decref(problems);
    json_decref(repro);
    return ok ? 0 : 1;
}
