/* doc.h - a document, written once and printed as HTML, as Markdown, or on a terminal.
 *
 * Callers: the writers of pages, on the main thread. A document is a row of pieces. Each piece is a
 * template: tags as in HTML with attributes in single quotes, text, and conversions as of printf().
 * A tag must be whole within one piece, and so must code between backticks:
 *
 *     doc_put(to, "<td class='place'>%s on `%s`</td>", machine, workload);
 *
 * In HTML the tags stay and everything else is escaped. In Markdown, tags of blocks become its
 * signs, and others vanish. Only filled-in values are escaped, since a template for Markdown alone
 * may have Markdown in its text. Values are prose: code between their own backticks is code there
 * too. Errors show in ferror(to->to).
 *
 * On a terminal a block is printed at its closing tag, and a table at </tbody>. Text outside of
 * blocks is a paragraph; it may not come last. In a table without columns of numbers, all cells but
 * a row's first one are its text.
 */
#ifndef SCHEDLAB_DOC_H
#define SCHEDLAB_DOC_H

#include <stdbool.h>
#include <stdio.h>

enum doc_format { DOC_HTML, DOC_MARKDOWN, DOC_TERMINAL };

struct doc {
    FILE *to;
    enum doc_format format;
    int columns; /* of the terminal */

    /* The writer's own. */
    bool in_code;
    bool in_title;  /* <title>, which has no elements in it */
    char rule[512]; /* Markdown's line below the head of a table, as far as there are cells */
    FILE *open;     /* on the terminal: into text, the block's; NULL: it has none yet */
    char *text;
    const char *above; /* the closing tag of the block before; NULL: there is none */
    char **cells;      /* of the open table, its head first */
    size_t cells_count, row_cells;
    bool has_numbers;
};

/* Conversions: s, .*s, d, u, lld, zu, .1f (one digit), g and %. A NULL text is "". */
void doc_put(struct doc *to, const char *template, ...) __attribute__((format(printf, 2, 3)));

/* The same for a document that is HTML. Code must end within the piece. */
void html_put(FILE *to, const char *template, ...) __attribute__((format(printf, 2, 3)));

/* Paragraphs that blank lines separate. */
void doc_paragraphs(struct doc *to, const char *text);

#endif
