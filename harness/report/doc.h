/* doc.h - a document, written once and printed as HTML or as Markdown.
 *
 * Callers: what writes pages, on the main thread. A document is a row of pieces. Each piece is a
 * template: tags as in HTML with attributes in single quotes, text, and what printf() would fill
 * in. A tag stands in one piece whole, and code between backticks too:
 *
 *     doc_put(to, "<td class='place'>%s on `%s`</td>", machine, workload);
 *
 * In HTML the tags stay and everything else is escaped. In Markdown, tags of blocks become its
 * signs, others vanish, and only what is filled in is escaped: the text of a template may be
 * Markdown itself, which only a piece for Markdown alone has. What is filled in is prose: code
 * between its own backticks is code there too. Errors show in ferror(to->to).
 */
#ifndef SCHEDLAB_DOC_H
#define SCHEDLAB_DOC_H

#include <stdbool.h>
#include <stdio.h>

enum doc_format { DOC_HTML, DOC_MARKDOWN };

struct doc {
    FILE *to;
    enum doc_format format;

    /* The writer's own. */
    bool in_code;
    char rule[512]; /* Markdown's line below the head of a table, as far as there are cells */
};

/* Conversions: s, .*s, d, u, lld, zu, .1f (one digit), g and %. A NULL text is "". */
void doc_put(struct doc *to, const char *template, ...) __attribute__((format(printf, 2, 3)));

/* The same of a document that is HTML. Code does not go on in the next piece. */
void html_put(FILE *to, const char *template, ...) __attribute__((format(printf, 2, 3)));

/* Paragraphs that blank lines separate. */
void doc_paragraphs(struct doc *to, const char *text);

#endif
