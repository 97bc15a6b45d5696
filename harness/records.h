/* records.h - samples.jsonl: making, appending and reading records.
 *
 * Who calls: child.c and sample.c make records, sweep appends them, tables.c reads them. The schema
 * is results/README.md.
 *
 * Invariant of the file: it only grows, by whole lines, each one on the disk before the next sample
 * starts. Room for a record is reserved before the sample is measured, so that a full disk stops
 * the sweep between two samples and costs none.
 */
#ifndef SCHEDLAB_RECORDS_H
#define SCHEDLAB_RECORDS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { RECORD_SCHEMA = 2, CELL_ID_SIZE = 13 };

/* The stable name of a cell: 12 hex digits of FNV-1a over the canonical specifications. */
void record_cell_id(char id[CELL_ID_SIZE], const char *variant, const char *workload, int workers,
                    const char *machine);

/* "2026-01-31T23:59:59Z" */
void record_time_text(char text[32]);

/* Turns record into `failed` with this reason; what it measured stays in it. */
void record_fail(json_t *record, const char *reason);

/* The string at key; "" if there is none. */
const char *record_text(const json_t *record, const char *key);

/* Appending ---------------------------------------------------------------------------------- */

struct record_file {
    int fd;
    int64_t size;     /* bytes of whole lines */
    int64_t reserved; /* bytes the disk has promised, size included */
    char path[4096];
};

/* All return 0 or -errno; the caller says it in one line. */
int record_file_create(struct record_file *file, const char *path);
int record_file_reserve(struct record_file *file);                      /* before measuring */
int record_file_append(struct record_file *file, const json_t *record); /* one write, then fsync */
int record_file_close(struct record_file *file);

/* Reads a whole samples.jsonl into a JSON array, NULL and one line in error if it cannot. A last
 * line without its newline, as a killed writer may leave it, is left out. */
json_t *record_file_read(const char *path, char *error, size_t error_size);

#endif
