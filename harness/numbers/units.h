/* units.h - numbers with their units, as people read them, and intervals as programs do.
 *
 * Callers: pages, tables and everything that prints JSON. A text is a struct, so that a call can
 * stand in an argument list: printf("%s", text_si(x).s). A value that is no number becomes
 * "-".
 */
#ifndef SCHEDLAB_UNITS_H
#define SCHEDLAB_UNITS_H

#include "harness/numbers/statistics.h"

#include <jansson.h>
#include <stdint.h>

struct text {
    char s[96];
};

struct text text_si(double value);                         /* 12.3 M: three digits */
struct text text_si_interval(struct interval interval);    /* 11.9 M to 12.8 M; too few */
struct text text_ratio(double value);                      /* 1.84× */
struct text text_ratio_interval(struct interval interval); /* 1.79 to 1.88; too few */
struct text text_count(double value);                      /* 0.0164, 3.20, 118 */
struct text text_time(double ns);                          /* 61.2 µs */
struct text text_time_interval(struct interval ns);        /* 60.1 µs to 62.9 µs; too few */
struct text text_bytes(double bytes);                      /* 48 KiB */
struct text text_p(double p);                              /* 0.012, <0.001 */

/* The width to give printf() for so many columns: it counts bytes, and some signs have several. */
int text_field(struct text text, int columns);

/* The largest unit in which *ns is a whole number; *ns becomes that number: 2000000000 is 2 "s". */
const char *time_unit(int64_t *ns);

/* Sets the key in the object, if the number is finite. */
void number_into_json(json_t *object, const char *key, double number);

/* Sets "lo" and "hi" in the object; or, with too few samples for them, "interval": {"absent":
 * reason}. Nothing without a number. */
void interval_into_json(json_t *object, struct interval interval);

/* {"ratio", "lo", "hi"}, or {"ratio", "interval"}; NULL without a number. */
json_t *ratio_to_json(struct interval ratio);

#endif
