/* run_folder.c - see run_folder.h. */
#define _GNU_SOURCE
#include "harness/run_folder.h"

#include "harness/suggest.h"

#include <dirent.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { PATH_SIZE = 4096, NEAREST_SIZE = 2 * PATH_SIZE };

bool run_folder_is_run(const char *folder)
{
    char path[PATH_SIZE];
    int length = snprintf(path, sizeof path, "%s/samples.jsonl", folder);
    if (length < (int)sizeof path)
        return access(path, F_OK) == 0;
    errno = ENAMETOOLONG;
    return false;
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

void run_folder_explain(const char *run_dir, char *error, size_t error_size)
{
    char nearest[NEAREST_SIZE];
    int problem = run_folder_is_run(run_dir) ? 0 : errno;
    if (problem != ENOENT && problem != ENOTDIR)
        snprintf(error, error_size, "cannot read %s: %s", run_dir, strerror(problem));
    else if (nearest_run(run_dir, nearest))
        snprintf(error, error_size,
                 "%s is not a run: it has no samples.jsonl; the nearest run is %s", run_dir,
                 nearest);
    else
        snprintf(
            error, error_size,
            "%s is not a run: it has no samples.jsonl; valid is a folder that `schedlab sweep` "
            "wrote",
            run_dir);
}
