/* records.h - samples.jsonl: making, appending and reading records.
 *
 * Callers: child.c and sample.c make records, sweep appends them, tables.c and merge read them.
 * The schema is results/README.md.
 *
 * A line's last key is "check", the hash of the line before it. Readers refuse a line that has
 * another hash, and records in memory have no such key.
 *
 * Invariant of the file: it only grows, by whole lines, each one on the disk before the next sample
 * starts. Room for a record is reserved before the sample is measured, so that a full disk stops
 * the sweep between two samples and costs none.
 */
#ifndef SCHEDLAB_RECORDS_H
#define SCHEDLAB_RECORDS_H

#include "harness/base/error.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum { RECORD_SCHEMA = 2, CELL_ID_SIZE = 13 };

/* The stable name of a cell: 12 hex digits of FNV-1a over the canonical specifications. */
void record_cell_id(char id[CELL_ID_SIZE], const char *variant, const char *workload, int workers,
                    const char *machine);

/* "2026-01-31T23:59:59Z" */
void record_time_text(char text[32]);

/* Turns record into `failed` with this reason; what it measured stays in it. */
void record_fail(json_t *record, const char *reason);

/* Turns record into `skipped`, likewise. */
void record_skip(json_t *record, const char *why);

/* True if its status is this one: "ok", "failed" or "skipped". */
bool record_is(const json_t *record, const char *status);

/* The event of that name, with or without "sde:::schedlab::"; NULL if it was not asked for. */
const json_t *record_event(const json_t *record, const char *name);

/* An event's count per operation, or a peak's value in the whole sample; NAN if absent. */
double record_event_value(const json_t *event);

/* The latency that a share of the operations, 0 to 1, does not exceed; 1: the largest. NAN if the
 * workload has none, or if fewer than one lies beyond it: that would just be the largest. */
double record_latency_ns(const json_t *record, double quantile);

/* The names of the record's events, counted or not, with this separator between them; "" if it has
 * none. A group that counts events of its own has other names than the other groups. free() it. */
char *record_event_names(const json_t *record, const char *separator);

/* True if it is of this program's schema and has the keys that every reader relies on: cell,
 * variant, workload, workers, status. If not, wrong says what it lacks. */
bool record_is_whole(const json_t *record, struct error *wrong);

/* Appending ---------------------------------------------------------------------------------- */

struct record_file {
    int fd;
    int64_t size;        /* bytes of whole lines */
    int64_t reserved;    /* bytes the disk has promised, size included */
    bool safe_elsewhere; /* the record that is appended is on the disk already, in another file. It
                          * goes to the disk with the next one that is not, or at the end */
    bool behind;         /* the last one was */
    char path[4096];
};

/* All return 0 or -errno; the caller says it in one line. */
int record_file_create(struct record_file *file, const char *path);
int record_file_reserve(struct record_file *file);                      /* before measuring */
int record_file_append(struct record_file *file, const json_t *record); /* one write, then fsync */
int record_file_close(struct record_file *file);

/* Opens a file to append to it, and makes it if there is none. No other process can do so then:
 * -EWOULDBLOCK if another one has it open. Read it and cut it to its whole lines before the first
 * append. */
int record_file_open(struct record_file *file, const char *path);
int record_file_cut(struct record_file *file, int64_t whole);

/* Reading ------------------------------------------------------------------------------------- */

/* Lines of a file that all readers leave out. */
struct record_flaws {
    bool torn;      /* its last line is not whole, as a killed writer or a power cut leaves it */
    size_t doubled; /* lines that were there before, byte for byte */
};

/* A file whose records are read one after the other. Normally it keeps one record in memory: one
 * that lies behind all others in the order of measuring, by seed and position, is no repetition.
 * From the first record that does not lie behind, hashes are kept of all lines. */
struct record_reader {
    FILE *from;
    char path[4096];
    char *line; /* the line of the record last read, its newline included */
    size_t capacity, length;
    size_t number;             /* of that line, from 1 */
    int64_t whole;             /* bytes up to its end */
    struct record_flaws flaws; /* up to here */
    bool placed;               /* a record was read that has seed and position: */
    json_int_t seed, position; /* the largest */
    void *hashes;              /* of all lines before, as tsearch() keeps them; NULL: not needed */
};

enum record_read {
    RECORD_READ,      /* a record */
    RECORD_READ_END,  /* no more lines */
    RECORD_READ_TORN, /* the last line is not whole; error says so too */
    RECORD_READ_BAD,  /* a line that is no record of this schema, or the file cannot be read; error
                       * says which */
};

/* The object of a line that record_file_append() wrote, of whatever schema, without its check. NULL
 * if it is none, or was changed. */
json_t *record_line_parse(const char *line, size_t length);

/* 0 or -errno; to be closed. */
int record_reader_open(struct record_reader *reader, const char *path);
void record_reader_close(struct record_reader *reader);

/* The next line that was not there before. On RECORD_READ, *record is the caller's. */
enum record_read record_reader_next(struct record_reader *reader, json_t **record,
                                    struct error *error);

/* Reads a whole samples.jsonl into a JSON array; NULL and one line in error if it cannot, if there
 * is no record in it, or if two samples claim one place in a run. *flaws, which may be NULL, says
 * what was left out, for run_folder_tell_flaws(). */
json_t *record_file_read(const char *path, struct record_flaws *flaws, struct error *error);

#endif
