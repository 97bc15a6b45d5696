/* repro_mark.h - a measured effect, as text and as a strip beside what was expected. */
#ifndef SCHEDLAB_REPRO_MARK_H
#define SCHEDLAB_REPRO_MARK_H

#include "harness/doc/doc.h"

#include <jansson.h>

/* Writes the measured effect as text: the number, and its interval on a line of its own if need
 * be. */
void repro_effect_write(struct doc *to, const json_t *column);

/* Draws the measured effect as a line with a dot, and the expected range as a band. Draws nothing
 * if one of them is no number. The scale is the strip's own, and logarithmic if the numbers are far
 * apart. */
void repro_strip_write(struct doc *to, const json_t *expectation, const json_t *column);

/* The same in characters on the same scale, on a line of its own. */
void repro_strip_text(struct doc *to, const json_t *expectation, const json_t *column);

#endif
