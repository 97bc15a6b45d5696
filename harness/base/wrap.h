/* wrap.h - text in lines as wide as a terminal, or a page of text, is meant to be.
 *
 * Callers: list, doctor, diff, repro, doc.c and term_table.c.
 */
#ifndef SCHEDLAB_WRAP_H
#define SCHEDLAB_WRAP_H

#include <stdio.h>

/* Columns of the first `length` bytes of UTF-8: some signs have several bytes. */
int text_columns(const char *text, int length);

/* The no-break space of UTF-8. */
#define TEXT_TOGETHER "\xc2\xa0"

/* Prints the words of text from column `at` on, and a newline. Lines have `columns` at most,
 * further ones begin at indent. A word that is wider is cut, unless it has signs of several bytes.
 * An empty line in text begins a paragraph. TEXT_TOGETHER is printed as a space at which no line
 * ends. */
void text_wrap(FILE *to, int at, int indent, int columns, const char *text);

#endif
