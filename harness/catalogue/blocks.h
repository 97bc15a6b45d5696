/* blocks.h - what pages about experiments have in common, whatever their format.
 *
 * Callers: the page of a reproduction (repro_page*.c) and the catalogue (catalogue*.c). Parts and
 * expectations are as in repro.json (repro_file.h).
 */
#ifndef SCHEDLAB_BLOCKS_H
#define SCHEDLAB_BLOCKS_H

#include "harness/catalogue/expect_table.h"
#include "harness/report/doc.h"
#include "harness/repro/verdict.h"

#include <jansson.h>

/* "supported" with its sign, in its colour or in bold; VERDICT_NONE has `none` for a text. */
void block_mark(struct doc *to, enum verdict verdict, const char *none);

/* Items of a list: what is varied within the part, what is held fixed, and what is measured. */
void block_design(struct doc *to, const json_t *part);

/* The metric and the levels of an expectation: "`p99` of `on` over `off`". */
void block_number(struct doc *to, const json_t *expectation);

/* The measured number, or "no number". */
const char *block_effect(const json_t *column);

/* The inside of a table: a row for each level. cell writes a whole <td> for the expectation of that
 * number; 0: there is none. */
void block_grid(struct doc *to, const struct expect_table *table, const char *factor,
                void (*cell)(struct doc *to, const void *arg, unsigned number), const void *arg);

#endif
