/* sweep_schema.h - the keys and types of a sweep file, and what is said about wrong ones.
 *
 * Who calls: sweep_file.c, the other half of reading a sweep.
 */
#ifndef SCHEDLAB_SWEEP_SCHEMA_H
#define SCHEDLAB_SWEEP_SCHEMA_H

#include "harness/sweep_file.h"
#include "harness/yaml_place.h"

/* One file being read. */
struct sweep_reader {
    const char *path;
    struct yaml_place *place;
    char *error; /* where the one line goes */
    size_t error_size;
};

/* The file as libcyaml reads it: keys and types are right, values are not checked, and keys that
 * are not there are zero. NULL after a complaint. All its memory is malloc()'s, so that parts of
 * it can be replaced; sweep_file_free() frees it. */
struct sweep_file *sweep_schema_load(const struct sweep_reader *reader, const char *text,
                                     size_t size);

/* "PATH:LINE: message" into the reader's error; false. */
bool sweep_complain(const struct sweep_reader *reader, size_t line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The same for a number: "KEY is VALUE; valid: RANGE". */
void sweep_complain_of_number(const struct sweep_reader *reader, size_t line, const char *key,
                              const char *value);

#endif
