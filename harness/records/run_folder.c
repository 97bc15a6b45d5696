/* run_folder.c - see run_folder.h. */
#include "harness/records/run_folder.h"

#include "harness/base/files.h"
#include "harness/base/json_fields.h"
#include "harness/base/memory.h"
#include "harness/base/suggest.h"
#include "harness/base/text.h"
#include "harness/records/same_work.h"
#include "harness/spec/outside.h"

#include <dirent.h>
#include <errno.h>
#include <ftw.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { NAME_TRIES = 100, PATH_SIZE = 4096, NEAREST_SIZE = 2 * PATH_SIZE };

bool run_folder_make(const char *results, const char *name, char *folder, size_t folder_size,
                     struct error *error)
{
    if (!folder_make(results, error))
        return false;
    char started[32], again[16] = "";
    time_t now = time(NULL);
    struct tm utc;
    strftime(started, sizeof started, "%Y%m%dT%H%M%SZ", gmtime_r(&now, &utc));
    /* Two sweeps of one name may start in the same second. */
    for (int i = 2; i <= NAME_TRIES; i++) {
        int length = snprintf(folder, folder_size, "%s/%s-%s%s", results, name, started, again);
        if (length < 0 || (size_t)length >= folder_size)
            errno = ENAMETOOLONG;
        else if (mkdir(folder, 0777) == 0)
            return true;
        if (errno != EEXIST)
            break;
        snprintf(again, sizeof again, "-%d", i);
    }
    return error_set(error, "cannot make the folder %s: %s", folder, strerror(errno));
}

static int remove_one(const char *path, const struct stat *status, int type, struct FTW *where)
{
    (void)status;
    (void)type;
    (void)where;
    return remove(path);
}

void run_folder_remove(const char *folder)
{
    nftw(folder, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

bool run_folder_is_run(const char *folder)
{
    char path[PATH_SIZE];
    int length = snprintf(path, sizeof path, "%s/samples.jsonl", folder);
    if (length < (int)sizeof path)
        return access(path, F_OK) == 0;
    errno = ENAMETOOLONG;
    return false;
}

json_t *run_folder_records(const char *folder, bool judged, struct record_flaws *flaws,
                           struct error *error)
{
    char *path = text_format("%s/samples.jsonl", folder);
    json_t *records = record_file_read(path, flaws, error);
    if (records && judged)
        same_work_judge_all(records);
    free(path);
    return records;
}

json_t *run_folder_environment(const char *folder, struct error *error)
{
    char path[PATH_SIZE];
    json_error_t where = {.line = 1, .text = "not a JSON object"};
    json_t *environment = NULL;
    *error->text = '\0';
    if (snprintf(path, sizeof path, "%s/environment.json", folder) >= (int)sizeof path) {
        error_print(error, "%.64s...: the path is too long", folder);
    } else if (access(path, F_OK) == 0) {
        environment = json_load_file(path, JSON_REJECT_DUPLICATES, &where);
        if (!json_is_object(environment))
            error_print(error, "%s:%d: %s", path, where.line > 0 ? where.line : 1,
                        environment ? "not a JSON object" : where.text);
    }
    if (json_is_object(environment))
        return environment;
    json_decref(environment);
    return json_object();
}

char *run_folder_with(const json_t *environment)
{
    const json_t *build = json_object_get(environment, "build");
    char *text = NULL;
    FILE *to = memory_stream(&text, NULL);
    if (*field_text(build, "with"))
        fprintf(to, " %s", field_text(build, "with"));
    else
        json_each(origin, json_object_get(build, "outside"))
            outside_origin_print(to, json_string_value(origin) ? json_string_value(origin) : "");
    fclose(to);
    return text;
}

/* True for runs that `schedlab sweep --resume` takes: not those measured side by side or merged. */
static bool can_be_resumed(const json_t *environment)
{
    return json_object_get(environment, "sweep") && !json_object_get(environment, "merged");
}

static void resume_tell(const char *folder, FILE *messages)
{
    struct error error;
    json_t *environment = run_folder_environment(folder, &error);
    char *with = run_folder_with(environment);
    if (can_be_resumed(environment)) {
        fprintf(messages, ". `schedlab%s sweep --resume ", with);
        shell_word_print(messages, folder);
        fputs("` measures that sample again", messages);
    }
    free(with);
    json_decref(environment);
}

void run_folder_tell_flaws(const char *folder, const struct record_flaws *flaws,
                           const char *program, FILE *messages)
{
    if (flaws->torn) {
        fprintf(messages, "%s: %s/samples.jsonl: its last line is not whole; left out", program,
                folder);
        resume_tell(folder, messages);
        fputc('\n', messages);
    }
    if (flaws->doubled > 0)
        fprintf(messages,
                "%s: %s/samples.jsonl: %zu line%s there before, byte for byte; each sample counts "
                "once, nothing is lost\n",
                program, folder, flaws->doubled, flaws->doubled == 1 ? " was" : "s were");
}

/* The run in folder whose name is nearest; false if there is none. */
static bool nearest_run_in(const char *folder, const char *name, char nearest[NEAREST_SIZE])
{
    char path[NEAREST_SIZE];
    size_t distance = SIZE_MAX;
    DIR *entries = opendir(folder);
    for (struct dirent *entry; entries && (entry = readdir(entries)) != NULL;) {
        const char *slash = folder[strlen(folder) - 1] == '/' ? "" : "/";
        snprintf(path, sizeof path, "%s%s%s", folder, slash, entry->d_name);
        if (entry->d_name[0] == '.' || !run_folder_is_run(path) ||
            suggest_distance(name, entry->d_name) >= distance)
            continue;
        distance = suggest_distance(name, entry->d_name);
        snprintf(nearest, NEAREST_SIZE, "%s", path);
    }
    if (entries)
        closedir(entries);
    return distance < SIZE_MAX;
}

/* A run inside run_dir, or the nearest one beside it, or the nearest where sweeps put them. */
static bool nearest_run(const char *run_dir, char nearest[NEAREST_SIZE])
{
    char parent[PATH_SIZE];
    snprintf(parent, sizeof parent, "%s", run_dir);
    size_t length = strlen(parent);
    while (length > 1 && parent[length - 1] == '/')
        parent[--length] = '\0';
    char *slash = strrchr(parent, '/');
    const char *name = slash ? slash + 1 : parent;
    const char *folder = slash == parent ? "/" : slash ? parent : ".";
    if (*run_dir && nearest_run_in(run_dir, "", nearest))
        return true;
    if (slash)
        *slash = '\0';
    return nearest_run_in(folder, name, nearest) || nearest_run_in("results", name, nearest);
}

bool run_folder_is_packed(const char *folder)
{
    char packed[PATH_SIZE];
    return !run_folder_is_run(folder) &&
           snprintf(packed, sizeof packed, "%s/samples.jsonl.xz", folder) < (int)sizeof packed &&
           access(packed, F_OK) == 0;
}

void run_folder_explain(const char *run_dir, struct error *error)
{
    char nearest[NEAREST_SIZE];
    int problem = run_folder_is_run(run_dir) ? 0 : errno;
    if (problem != ENOENT && problem != ENOTDIR)
        error_print(error, "cannot read %s: %s", run_dir, strerror(problem));
    else if (run_folder_is_packed(run_dir))
        error_print(error, "the samples of %s are packed; unpack them: xz -dk %s/samples.jsonl.xz",
                    run_dir, run_dir);
    else if (nearest_run(run_dir, nearest))
        error_print(error, "%s is not a run: it has no samples.jsonl; the nearest run is %s",
                    run_dir, nearest);
    else
        error_print(
            error,
            "%s is not a run: it has no samples.jsonl; valid is a folder that `schedlab sweep` "
            "wrote",
            run_dir);
}
