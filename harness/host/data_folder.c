/* data_folder.c - see data_folder.h. */
#include "harness/host/data_folder.h"

#include "harness/base/build_info.h"
#include "harness/base/memory.h"
#include "harness/base/text.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PATH_SIZE = 4096 };

static const char suffix[] = ".yaml";

bool data_find(const char *name, char *path, size_t path_size)
{
    /* from build/schedlab, build/CONFIG/schedlab, PREFIX/bin and PREFIX/libexec/schedlab */
    static const char *const ups[] = {"..", "../..", "../share/schedlab", "../../share/schedlab"};
    char program[PATH_SIZE];
    ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    program[length > 0 ? length : 0] = '\0';
    char *slash = strrchr(program, '/');
    for (size_t i = 0; slash && i < sizeof ups / sizeof ups[0]; i++) {
        snprintf(path, path_size, "%.*s/%s/%s", (int)(slash - program), program, ups[i], name);
        if (access(path, R_OK) == 0)
            return true;
    }
    snprintf(path, path_size, "%s/%s", build_source_dir(), name);
    return access(path, R_OK) == 0;
}

bool data_folder_find(const char *name, char *folder, size_t folder_size, struct error *error)
{
    char inside[64];
    snprintf(inside, sizeof inside, "harness/%s", name);
    return data_find(inside, folder, folder_size) ||
           error_set(error, "no folder %s, nor one beside the program", folder);
}

static int is_data(const struct dirent *entry)
{
    const char *name = entry->d_name;
    return name[0] != '.' && text_ends_with(name, suffix);
}

char **data_folder_names(const char *name, struct error *error)
{
    char folder[PATH_SIZE];
    struct dirent **entries;
    if (!data_folder_find(name, folder, sizeof folder, error))
        return NULL;
    int count = scandir(folder, &entries, is_data, alphasort);
    char **names = xcalloc((size_t)(count > 0 ? count : 0) + 1, sizeof *names);
    for (int i = 0; i < count; i++) {
        names[i] = xstrndup(entries[i]->d_name, strlen(entries[i]->d_name) - (sizeof suffix - 1));
        free(entries[i]);
    }
    if (count >= 0)
        free(entries);
    return names;
}

void data_folder_names_free(char **names)
{
    for (char **name = names; name && *name; name++)
        free(*name);
    free(names);
}
