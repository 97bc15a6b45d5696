/* list_page.h - lines of `schedlab list`: headings, and texts behind a name or a label.
 *
 * Callers: cmd_list.c and list_*.c.
 */
#ifndef SCHEDLAB_LIST_PAGE_H
#define SCHEDLAB_LIST_PAGE_H

#include <jansson.h>
#include <stdbool.h>

/* Where lines go: standard output. */
struct list_page {
    bool bold; /* headings */
    int columns;
};

struct list_page list_page_make(void);

/* Bold on a terminal; in one line if it fits. */
void page_heading(const struct list_page *page, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* "NAME  TEXT", the text from that column on, in as many lines as it takes; or in one line, which
 * ends in "..." where the text is too long. */
void page_row(const struct list_page *page, int column, const char *name, const char *text);
void page_line(const struct list_page *page, int column, const char *name, const char *text);

/* A text in lines that begin at that column. */
void page_text(const struct list_page *page, int column, const char *text);

/* "  LABEL        TEXT"; nothing if the text is empty. */
void page_field(const struct list_page *page, const char *label, const char *text);

/* "is", a variant and the settings "a=1,b=2" that a preset has on top of its. */
void page_settings(const struct list_page *page, const char *variant, const char *settings);

/* The example: a line of any length, to be copied; nothing if there is none. */
void page_command(const char *command);

/* The same as page_field() of an array of texts, or of objects {id, title}: "E6 Every 61st
 * dispatch; ...", without the titles where there are many. `none`: the text in place of an empty
 * list; NULL: nothing. */
void page_list(const struct list_page *page, const char *label, const json_t *list,
               const char *none);

#endif
