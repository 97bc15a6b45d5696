/* blocks.h - parts that pages about experiments share, in any format.
 *
 * Callers: the page of a reproduction (repro_page*.c) and the catalogue (catalogue*.c). Parts and
 * expectations are as in repro.json (repro_file.h).
 */
#ifndef SCHEDLAB_BLOCKS_H
#define SCHEDLAB_BLOCKS_H

#include "harness/catalogue/expect_table.h"
#include "harness/doc/doc.h"
#include "harness/repro/verdict.h"

#include <jansson.h>

/* Writes how something came out (outcome.h) with its sign, a verdict in its colour or bold; `none`
 * where it did not: of an experiment that claims nothing there. */
void block_mark(struct doc *to, const char *told, const char *none);

/* Writes what to take from the experiment as a paragraph; nothing if its file does not say. */
void block_lesson(struct doc *to, const json_t *experiment);

/* Writes items of a list: the varied factor of the part, the fixed values, and the metric. */
void block_design(struct doc *to, const json_t *part);

/* The metric and the levels of an expectation: "`p99` of `on` over `off`". */
void block_number(struct doc *to, const json_t *expectation);

/* Writes a sentence on what guests (repro.h) decide otherwise than their hosts; nothing if none was
 * measured. */
void block_guests(struct doc *to, const json_t *experiment);

/* Writes the number that says most of each machine: "sim:server64: 59.5x (55.6x to 61.2x), expected
 * 30x or more", with a break or a semicolon between them. `strips`: and each drawn against its
 * range (repro_strip_text()). */
void block_numbers(struct doc *to, const json_t *experiment, bool breaks, bool strips);

/* The measured number, or "no number". */
const char *block_effect(const json_t *column);

/* Writes the inside of a table: a row for each level. cell writes a whole <td> for the expectation
 * of that number; 0: there is none. */
void block_grid(struct doc *to, const struct expect_table *table, const char *factor,
                void (*cell)(struct doc *to, const void *arg, unsigned number), const void *arg);

#endif
