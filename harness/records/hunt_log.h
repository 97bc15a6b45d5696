/* hunt_log.h - hunt.jsonl, the log of a campaign of `schedlab hunt`: its cells, and what was done.
 *
 * Callers: harness/hunter/hunt_campaign.c; merge_hunts.c, which joins some.
 *
 * The first line is the header: the cells, how many executions each shall have, the program, the
 * seeds. Each other one is a part of a cell: so many executions from a number on, which only
 * depend on header, cell and seed. results/README.md has the keys. The file only grows, by whole
 * lines (records.h). A last line that is not whole, or no JSON, is left out, and that part is done
 * again.
 */
#ifndef SCHEDLAB_HUNT_LOG_H
#define SCHEDLAB_HUNT_LOG_H

#include "harness/base/error.h"
#include "harness/records/records.h"

#include <jansson.h>
#include <stdbool.h>

struct hunt_log {
    json_t *header;
    json_t *parts; /* array */
    json_t *known; /* the part's key: itself */
    struct record_file file;
};

enum { HUNT_LOG_SCHEMA = 1 };

/* True if the folder has a hunt.jsonl. */
bool hunt_log_is_one(const char *folder);

/* The texts of a cell, in the order of tables; it has `workers` too. */
#define HUNT_LOG_CELL_TEXTS "variant", "workload", "memory", "algorithm"

/* "gmp sleep_wake 2 sc pos", of a cell or a part, each cell's its own; to be freed. */
char *hunt_log_cell_text(const json_t *cell);

/* All below that return false leave one line in error. */

/* Makes a log without parts; takes the header. */
bool hunt_log_create(struct hunt_log *log, const char *folder, json_t *header, struct error *error);

/* Reads it; with `writes`, to add to it: then nobody else can meanwhile. */
bool hunt_log_open(struct hunt_log *log, const char *folder, bool writes, struct error *error);

/* True if its parts say which labels were met. */
bool hunt_log_covers(const struct hunt_log *log);

/* Adds a part, which it takes. It is on the disk afterwards. */
bool hunt_log_add(struct hunt_log *log, json_t *part, struct error *error);

/* The part of this cell and seed that begins with that execution; NULL: it is not done. */
json_t *hunt_log_part(const struct hunt_log *log, const json_t *cell, json_int_t seed,
                      json_int_t from);

void hunt_log_close(struct hunt_log *log);

#endif
