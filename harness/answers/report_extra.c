/* report_extra.c - see report_extra.h. */
#include "harness/answers/report_extra.h"

#include "harness/base/error.h"
#include "harness/base/memory.h"
#include "harness/base/text.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PATH_SIZE = 4096, PROBLEM_SIZE = PATH_SIZE + 1024 };

static void complain(json_t *problems, const char *path, const char *what)
{
    char problem[PROBLEM_SIZE];
    snprintf(problem, sizeof problem, "%s: %.500s", path, what);
    problem[strcspn(problem, "\n")] = '\0';
    json_array_append_new(problems, json_string(problem));
}

/* The object in a file; NULL if it is not there, or after a complaint. */
static json_t *object_load(const char *path, json_t *problems)
{
    json_error_t error;
    if (access(path, F_OK) != 0)
        return NULL;
    json_t *json = json_load_file(path, 0, &error);
    if (json_is_object(json))
        return json;
    complain(problems, path, json ? "is not a JSON object" : error.text);
    json_decref(json);
    return NULL;
}

/* Writes what is wrong with a comparison; "" if nothing is. */
static void comparison_check(json_t *json, char *what, size_t size)
{
    json_t *pairs = json_object_get(json, "pairs"), *pair;
    json_error_t error;
    size_t i;
    what[0] = '\0';
    if (!json_is_array(pairs)) {
        snprintf(what, size, "has no list \"pairs\"");
        return;
    }
    json_array_foreach(pairs, i, pair)
    {
        const char *workload, *variant_a, *variant_b, *verdict;
        int workers;
        if (json_unpack_ex(pair, &error, 0, "{s:s, s:i, s:s, s:s, s:s}", "workload", &workload,
                           "workers", &workers, "variant_a", &variant_a, "variant_b", &variant_b,
                           "verdict", &verdict) == 0)
            continue;
        snprintf(what, size, "pair %zu: %s", i + 1, error.text);
        return;
    }
}

static void comparison_load(struct report_extra *extra, const char *folder, const char *file,
                            json_t *problems)
{
    char path[PATH_SIZE + 256], what[256];
    size_t length = strlen(file) - strlen(".json");
    snprintf(path, sizeof path, "%s/%s", folder, file);
    json_t *json = object_load(path, problems);
    if (!json)
        return;
    comparison_check(json, what, sizeof what);
    if (*what) {
        complain(problems, path, what);
        json_decref(json);
        return;
    }
    array_add(extra->comparisons, extra->comparisons_count) =
        (struct report_comparison){xstrndup(file, length), json};
}

static int is_json(const struct dirent *entry)
{
    return entry->d_name[0] != '.' && text_ends_with(entry->d_name, ".json");
}

static void comparisons_load(struct report_extra *extra, const char *run_dir, json_t *problems)
{
    char folder[PATH_SIZE];
    struct dirent **entries = NULL;
    snprintf(folder, sizeof folder, "%s/comparisons", run_dir);
    int count = scandir(folder, &entries, is_json, alphasort);
    if (count < 0 && errno != ENOENT)
        complain(problems, folder, strerror(errno));
    for (int i = 0; i < count; i++) {
        comparison_load(extra, folder, entries[i]->d_name, problems);
        free(entries[i]);
    }
    free(entries);
}

/* NULL if there is none, or none that is understood. */
static json_t *audit_load(const char *folder, json_t *problems)
{
    char path[PATH_SIZE];
    json_error_t error;
    int comparisons, found, holds;
    snprintf(path, sizeof path, "%s/audit.json", folder);
    json_t *audit = object_load(path, problems);
    if (!audit ||
        json_unpack_ex(audit, &error, 0, "{s:{s:i, s:i, s:b}}", "false_positives", "comparisons",
                       &comparisons, "found", &found, "holds", &holds) == 0)
        return audit;
    complain(problems, path, error.text);
    json_decref(audit);
    return NULL;
}

/* The run's own, or the last one beside it. One of another machine says nothing about this run. */
static json_t *audit_find(const char *run_dir, const json_t *environment, json_t *problems)
{
    char beside[PATH_SIZE];
    const json_t *cpu = json_object_get(environment, "cpu");
    json_t *audit = audit_load(run_dir, problems);
    if (audit || snprintf(beside, sizeof beside, "%s/..", run_dir) >= (int)sizeof beside)
        return audit;
    audit = audit_load(beside, problems);
    if (cpu && json_equal(json_object_get(audit, "cpu"), cpu))
        return audit;
    json_decref(audit);
    return NULL;
}

static void table_load(struct tsv *tsv, const char *run_dir, const char *name, json_t *problems)
{
    char path[PATH_SIZE];
    struct error error;
    snprintf(path, sizeof path, "%s/%s", run_dir, name);
    if (access(path, F_OK) == 0 && !tsv_load(tsv, path, &error))
        json_array_append_new(problems, json_string(error.text));
}

void report_extra_load(struct report_extra *extra, const char *run_dir, const json_t *environment,
                       json_t *problems)
{
    *extra = (struct report_extra){.comparisons = NULL};
    comparisons_load(extra, run_dir, problems);
    extra->audit = audit_find(run_dir, environment, problems);
    table_load(&extra->outside, run_dir, "outside.tsv", problems);
    table_load(&extra->metg, run_dir, "metg.tsv", problems);
    table_load(&extra->scale, run_dir, "scale.tsv", problems);
    table_load(&extra->structures, run_dir, "structures.tsv", problems);
}

void report_extra_free(struct report_extra *extra)
{
    for (size_t i = 0; i < extra->comparisons_count; i++) {
        free(extra->comparisons[i].name);
        json_decref(extra->comparisons[i].json);
    }
    free(extra->comparisons);
    json_decref(extra->audit);
    tsv_free(&extra->outside);
    tsv_free(&extra->metg);
    tsv_free(&extra->scale);
    tsv_free(&extra->structures);
    *extra = (struct report_extra){.comparisons = NULL};
}
