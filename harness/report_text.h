/* report_text.h - numbers of a report as people read them.
 *
 * Who calls: report_page.c and its parts, compare_print.c, run_table.c. The result is a struct, so
 * that a call can stand in an argument list: html_td(to, "number", text_si(x).s). What is not a
 * number becomes "-".
 */
#ifndef SCHEDLAB_REPORT_TEXT_H
#define SCHEDLAB_REPORT_TEXT_H

#include "harness/statistics.h"

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

/* The width to give printf() for so many columns: it counts bytes, and some signs have several. */
int text_field(struct text text, int columns);

#endif
