/* repro_last.c - what earlier reproductions found. See repro.h. */
#include "harness/base/json_fields.h"
#include "harness/base/memory.h"
#include "harness/base/process.h"
#include "harness/host/data_folder.h"
#include "harness/repro/repro.h"
#include "harness/repro/repro_file.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The last verdict ----------------------------------------------------------------------------- */

json_t *repro_find_last(const char *results, const char *id, char *path, size_t path_size)
{
    char newest[32] = "", file[REPRO_PATH_SIZE];
    json_t *found = NULL;
    struct dirent *entry;
    DIR *folder = opendir(results);
    while (folder && (entry = readdir(folder))) {
        json_error_t where;
        snprintf(file, sizeof file, "%s/%s/repro.json", results, entry->d_name);
        json_t *repro = entry->d_name[0] == '.' ? NULL : json_load_file(file, 0, &where);
        const json_t *one = repro_file_entry(repro, "experiments", id);
        const char *written = field_text(repro, "written");
        if (!one)
            one = repro_file_entry(repro, "claims", id);
        if (one && strcmp(written, newest) > 0) {
            json_decref(found);
            found = json_deep_copy(one);
            snprintf(newest, sizeof newest, "%s", written);
            snprintf(path, path_size, "%s/%s", results, entry->d_name);
        }
        json_decref(repro);
    }
    if (folder)
        closedir(folder);
    return found;
}

/* The content of a packed file; NULL if it cannot be unpacked. */
static json_t *packed_read(const char *packed)
{
    const char *const argv[] = {"xz", "-dc", packed, NULL};
    char xz[REPRO_PATH_SIZE];
    struct process_result result;
    if (!process_find("xz", xz, sizeof xz) || process_run(xz, argv, 0, &result) != 0)
        return NULL;
    json_t *repro = json_loadb(result.output, result.output_size, 0, NULL);
    process_result_free(&result);
    return repro;
}

static json_t *folder_read(const char *folder, FILE *messages)
{
    char *path = text_format("%s/repro.json", folder), *packed = text_format("%s.xz", path);
    json_t *repro = NULL;
    if (access(path, F_OK) == 0)
        repro = json_load_file(path, 0, NULL);
    else if (access(packed, F_OK) == 0 && !(repro = packed_read(packed)))
        fprintf(messages, "\nThe reference is packed; unpack it: xz -dk %s\n", packed);
    free(packed);
    free(path);
    return repro;
}

json_t *repro_reference_read(const char *results, char *folder, size_t folder_size, FILE *messages)
{
    snprintf(folder, folder_size, "%s/reference/repro", results);
    json_t *repro = folder_read(folder, messages);
    if (repro || !data_find("results/reference/repro", folder, folder_size))
        return repro;
    return folder_read(folder, messages);
}
