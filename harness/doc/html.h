/* html.h - tables and figures of a page in HTML.
 *
 * Callers: the writers of pages with html_put() (doc.h). All functions write to a stdio stream and
 * keep no state; errors show in ferror() of the stream.
 */
#ifndef SCHEDLAB_HTML_H
#define SCHEDLAB_HTML_H

#include "harness/base/error.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

/* Opens a table within a frame; a table that is wider than the page scrolls by itself. */
void html_table_open(FILE *to, const char *label, const char *class);
void html_table_close(FILE *to);

/* The head of a table: one row of names, a NULL behind the last one. "#" before a name marks a
 * column of numbers. */
void html_thead(FILE *to, const char *const *names);
/* One head cell, of a column of numbers. */
void html_th_number(FILE *to, const char *name);

/* Both at once, and the body of a table that has but one. */
void html_table_begin(FILE *to, const char *label, const char *class, const char *const *names);
void html_table_end(FILE *to);

/* JSON that no HTML can end: "<" stands as its number. */
void html_json(FILE *to, const json_t *object);

/* Makes a file of harness/viewer/ part of the page: a script, a style. False and one line in error
 * if it cannot be read. */
bool html_viewer_part(FILE *to, const char *name, struct error *error);

/* Makes an SVG file part of the page, without the parts that do not show (html_svg.c). It gets a
 * label for those who do not see it. Ids get a prefix that makes them unique, because gnuplot gives
 * the same ids to every figure. False, and nothing written, if the file cannot be read or is not a
 * whole SVG. The page's style must say, for text of a figure, its font and stroke: none. */
bool html_svg(FILE *to, const char *path, const char *prefix, const char *label);

#endif
