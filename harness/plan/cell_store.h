/* cell_store.h - results of samples by their ids (cell_id.h), one file each, in a folder that
 * machines may share.
 *
 * Callers: run --cell, which adds to one; sweep_fetch.c and the engines, which look for what is
 * there; merge, which joins some.
 *
 *     FOLDER/ab/abcdef0123456789.json   {"schema": 1, "unit": id, "host": name of the machine,
 *                                        "cpu": its model, both absent of a sample that was
 *                                        given up unmeasured; "seconds": that the sample's process
 *                                        took, "record": as results/README.md describes it, without
 *                                        what only a sweep knows}
 *
 * Invariants: a file is there whole or not at all, and never changes. If several processes measure
 * the same sample, the first to finish wins, and the others' results are dropped. So a result that
 * was read once stays true. Subfolders are named by the first two digits, for shared file systems
 * are slow with folders of a hundred thousand files.
 */
#ifndef SCHEDLAB_CELL_STORE_H
#define SCHEDLAB_CELL_STORE_H

#include "harness/base/error.h"
#include "harness/plan/cell_id.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

enum { CELL_STORE_SCHEMA = 1, CELL_STORE_FOLDER_MAX = 4000 };

/* Makes the folder, and those above it, if it is not there. Like all below: false or NULL and one
 * line in error if it cannot. */
bool cell_store_make(const char *folder, struct error *error);

/* True if there is a folder of that name that holds such files and nothing else, so that it is no
 * run. */
bool cell_store_is_one(const char *folder);

/* True if the folder has the result of that id. */
bool cell_store_has(const char *folder, const char *id);

/* The content of its file, owned by the caller; NULL and "" in error if there is none. */
json_t *cell_store_get(const char *folder, const char *id, struct error *error);

/* Adds a result, of this machine if it is `here`, or else of none. record stays the caller's. */
bool cell_store_put(const char *folder, const char *id, const json_t *record, double seconds,
                    bool here, struct error *error);

/* True if this machine's processor is of the kind that the file at path names. The first call makes
 * the file. */
bool cell_store_kind_is(const char *path, struct error *error);

/* Calls fn with the id of each result, in no order, until it returns false; *all says whether it
 * never did. */
bool cell_store_each(const char *folder, bool (*fn)(void *arg, const char *id), void *arg,
                     bool *all, struct error *error);

/* The outcome of joining two folders' files of one id. */
struct cell_store_joined {
    size_t added, repeated;
    bool unwritten; /* it ended because `folder` takes no more, not because of the files' content */
};

/* Puts the results of `from` into `folder`. Files that both have count once, and must agree: in all
 * they say if natively measured and ok, others in the record. */
bool cell_store_join(const char *folder, const char *from, struct cell_store_joined *joined,
                     struct error *error);

#endif
