/* experiment_list.c - which experiments come with the program. See experiment.h. */
#include "harness/base/memory.h"
#include "harness/host/data_folder.h"
#include "harness/repro/experiment.h"

#include <stdlib.h>
#include <string.h>

enum { PATH_SIZE = 4096 };

char **experiment_paths(const char *of, struct error *error)
{
    char folder[PATH_SIZE];
    char **names = data_folder_names(of, error);
    if (!names)
        return NULL;
    size_t count = 0;
    while (names[count])
        count++;
    char **paths = xcalloc(count + 1, sizeof *paths);
    if (!data_folder_find(of, folder, sizeof folder, error))
        abort(); /* it was there */
    count = 0;
    for (char **name = names; *name; name++)
        if (strcmp(*name, "claims") != 0)
            paths[count++] = text_format("%s/%s.yaml", folder, *name);
    data_folder_names_free(names);
    return paths;
}
