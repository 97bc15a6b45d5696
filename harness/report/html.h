/* html.h - writing HTML by small pieces, every inserted text escaped.
 *
 * Who calls: report_page.c and its parts. All functions write to a stdio stream and keep no state;
 * errors show in ferror() of the stream. Attributes are pairs of name and value, ended by a NULL
 * name:
 *
 *     html_open(to, "td", "class", "number", NULL);
 *     html_text(to, variant);
 *     html_close(to, "td");
 *
 * A NULL value leaves its attribute out.
 */
#ifndef SCHEDLAB_HTML_H
#define SCHEDLAB_HTML_H

#include <stdbool.h>
#include <stdio.h>

/* Escaped for both text and quoted attributes. NULL writes nothing. */
void html_text(FILE *to, const char *text);

/* Likewise, and what stands between backticks is code. */
void html_prose(FILE *to, const char *text);

/* Formatted, then escaped. */
void html_format(FILE *to, const char *format, ...) __attribute__((format(printf, 2, 3)));

void html_open(FILE *to, const char *tag, ...) __attribute__((sentinel));
void html_close(FILE *to, const char *tag);

/* html_open, text, html_close. */
void html_element(FILE *to, const char *tag, const char *text, ...) __attribute__((sentinel));

/* A header cell: scope "col", "row" or "rowgroup". */
void html_th(FILE *to, const char *scope, const char *text);
void html_td(FILE *to, const char *class, const char *text);

/* A table that may be wider than the page scrolls by itself: opens the frame and the table. */
void html_table_open(FILE *to, const char *label, const char *class);
void html_table_close(FILE *to);

/* The head of a table: one row of names, a NULL behind the last one; "#" before a name makes it one
 * of a column of numbers. */
void html_thead(FILE *to, const char *const *names);

/* An SVG file becomes part of the page: without what does not show (html_svg.c says what), with a
 * label for those who do not see it, and with ids made unique by prefix, because gnuplot gives the
 * same ones to every figure. False, and nothing written, if the file cannot be read or is not a
 * whole SVG. The page's style must say, for text of a figure, its font and stroke: none. */
bool html_svg(FILE *to, const char *path, const char *prefix, const char *label);

#endif
