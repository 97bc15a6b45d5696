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

/* Puts the entries of a list that are newer than those that are there into `last`, by their ids. */
static void entries_take(json_t *last, const json_t *list, const char *written, const char *folder)
{
    json_each(entry, list) {
        const char *id = field_text(entry, "id");
        if (strcmp(written, field_text(json_object_get(last, id), "written")) > 0)
            json_object_set_new(
                last, id,
                json_pack("{sO ss ss}", "entry", entry, "written", written, "folder", folder));
    }
}

json_t *repro_last_read(const char *results)
{
    json_t *last = json_object();
    struct dirent *entry;
    DIR *folder = opendir(results);
    while (folder && (entry = readdir(folder))) {
        if (entry->d_name[0] == '.')
            continue;
        char *path = text_format("%s/%s/repro.json", results, entry->d_name);
        json_t *repro = json_load_file(path, 0, NULL);
        const char *written = field_text(repro, "written");
        entries_take(last, json_object_get(repro, "experiments"), written, entry->d_name);
        entries_take(last, json_object_get(repro, "claims"), written, entry->d_name);
        json_decref(repro);
        free(path);
    }
    if (folder)
        closedir(folder);
    return last;
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

json_t *repro_known_read(const char *name, const char *results, FILE *messages)
{
    char folder[REPRO_PATH_SIZE];
    json_t *known = json_pack("{so}", "last", repro_last_read(results));
    json_t *reference = repro_reference_read(name, results, folder, sizeof folder, messages);
    if (reference)
        json_object_set_new(known, "reference", reference);
    return known;
}

const json_t *repro_known_entry(const json_t *known, const char *list, const char *id)
{
    const json_t *last = json_object_get(json_object_get(known, "last"), id);
    const json_t *newest = json_object_get(last, "entry");
    return newest ? newest : repro_file_entry(json_object_get(known, "reference"), list, id);
}

json_t *repro_reference_read(const char *name, const char *results, char *folder,
                             size_t folder_size, FILE *messages)
{
    char own[64];
    snprintf(folder, folder_size, "%s/reference/%s", results, name);
    snprintf(own, sizeof own, "results/reference/%s", name);
    json_t *repro = folder_read(folder, messages);
    if (repro || !data_find(own, folder, folder_size))
        return repro;
    return folder_read(folder, messages);
}
