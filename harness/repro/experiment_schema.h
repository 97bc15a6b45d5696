/* experiment_schema.h - the keys and types of an experiment's file.
 *
 * Callers: experiment.c, which checks the values.
 */
#ifndef SCHEDLAB_EXPERIMENT_SCHEMA_H
#define SCHEDLAB_EXPERIMENT_SCHEMA_H

#include "harness/base/yaml_reader.h"
#include "harness/repro/experiment_types.h"

/* The file as libcyaml reads it: keys and types are right, values are not checked, and missing keys
 * are zero. Keys that are one value or a list, and numbers, are not filled in: they are read from
 * the reader's places. NULL after a complaint. All its memory is malloc()'s. */
struct experiment *experiment_schema_load(const struct yaml_reader *reader);

/* Frees the memory of libcyaml. */
void experiment_schema_free(struct experiment *experiment);

/* Frees expectations with the memory of libcyaml in them. */
void experiment_expects_free(struct experiment_expect *expect, unsigned count);

/* Puts one expectation per cell in the place of each table. False after a complaint. Pre: the
 * part's axes are canonical. experiment_table.c. */
bool experiment_tables_expand(const struct yaml_reader *reader, struct experiment_part *part,
                              unsigned p);

/* Checks the expectations of a part, and makes ranges of texts. False after a complaint. Pre: the
 * part's axes are canonical; sweep_events: the events of the experiment. experiment_expect.c. */
bool experiment_expect_check(const struct yaml_reader *reader, const struct experiment *experiment,
                             unsigned p);

#endif
