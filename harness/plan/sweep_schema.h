/* sweep_schema.h - the keys and types of a sweep file, and messages about wrong ones.
 *
 * Callers: sweep_file.c, the other half of reading a sweep.
 */
#ifndef SCHEDLAB_SWEEP_SCHEMA_H
#define SCHEDLAB_SWEEP_SCHEMA_H

#include "harness/base/yaml_reader.h"
#include "harness/plan/sweep_types.h"

/* The file as libcyaml reads it: keys and types are right, values are not checked, and keys that
 * are not there are zero. NULL after a complaint. All its memory is malloc()'s, so that parts of
 * it can be replaced; sweep_file_free() frees it. */
struct sweep_file *sweep_schema_load(const struct yaml_reader *reader);

/* Complains of a number, by yaml_complain(): "KEY is VALUE; valid: RANGE"; false. */
bool sweep_complain_of_number(const struct yaml_reader *reader, size_t line, const char *key,
                              const char *value);

#endif
