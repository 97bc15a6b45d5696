/* merge_cells.c - see merge_cells() in merge.h. */
#include "harness/sweep/merge.h"

#include "harness/plan/cell_store.h"
#include "harness/records/run_folder.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum merge_result merge_cells(struct merge *merge, struct error *error)
{
    for (size_t i = 0; i < merge->count; i++) {
        if (cell_store_is_one(merge->runs[i]))
            continue;
        if (access(merge->runs[i], R_OK) < 0) {
            error_print(error, "cannot read %s: %s", merge->runs[i], strerror(errno));
            return MERGE_REFUSED;
        }
        error_print(
            error,
            "%s is no folder of cells, and %s is; valid: all runs, or all folders of cells, "
            "such as the cells/ of a run",
            merge->runs[i], merge->runs[i ? 0 : 1]);
        return MERGE_REFUSED;
    }
    if (strlen(merge->out) > CELL_STORE_FOLDER_MAX) {
        error_print(error, "%.64s...: the path is too long", merge->out);
        return MERGE_REFUSED;
    }
    if (mkdir(merge->out, 0777) < 0) {
        error_print(error, "cannot make the folder %s: %s", merge->out, strerror(errno));
        return errno == EEXIST ? MERGE_REFUSED : MERGE_FAILED;
    }
    struct cell_store_joined joined = {0};
    for (size_t i = 0; i < merge->count; i++) {
        if (cell_store_join(merge->out, merge->runs[i], &joined, error))
            continue;
        run_folder_remove(merge->out);
        return joined.unwritten ? MERGE_FAILED : MERGE_REFUSED;
    }
    merge->samples = joined.added;
    merge->repeated = joined.repeated;
    return MERGE_DONE;
}
