/* list_page.c - see list_page.h. */
#include "harness/list/list_page.h"

#include "harness/base/json_fields.h"
#include "harness/base/memory.h"
#include "harness/base/wrap.h"
#include "harness/options/cli.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TITLES_MAX = 8, FIELD_COLUMN = 15 };

struct list_page list_page_make(void)
{
    return (struct list_page){.bold = cli_wants_colour(), .columns = cli_columns()};
}

void page_heading(const struct list_page *page, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    char *text = text_format_list(format, arguments);
    va_end(arguments);
    fputs(page->bold ? "\033[1m" : "", stdout);
    text_wrap(stdout, 0, 0, page->columns, text);
    fputs(page->bold ? "\033[0m" : "", stdout);
    free(text);
}

void page_row(const struct list_page *page, int column, const char *name, const char *text)
{
    int at = printf("%-*s ", column - 1, name);
    text_wrap(stdout, at, column, page->columns, text);
}

void page_line(const struct list_page *page, int column, const char *name, const char *text)
{
    int at = printf("%-*s ", column - 1, name), room = page->columns - at;
    if (text_columns(text, (int)strlen(text)) <= room)
        puts(text);
    else
        printf("%.*s...\n", room > 3 ? room - 3 : 0, text);
}

void page_text(const struct list_page *page, int column, const char *text)
{
    text_wrap(stdout, printf("%*s", column, ""), column, page->columns, text);
}

void page_field(const struct list_page *page, const char *label, const char *text)
{
    if (!*text)
        return;
    int at = printf("  %-*s", FIELD_COLUMN - 2, label);
    if (at <= FIELD_COLUMN && strlen(label) < (size_t)FIELD_COLUMN - 2)
        text_wrap(stdout, at, FIELD_COLUMN, page->columns, text);
    else
        text_wrap(stdout, at + printf(" "), FIELD_COLUMN, page->columns, text);
}

void page_settings(const struct list_page *page, const char *variant, const char *settings)
{
    char *text = text_format("%s %s", variant, settings);
    for (char *at = text; *at; at++)
        if (*at == ',') /* a line may end there */
            *at = ' ';
    page_field(page, "is", text);
    free(text);
}

void page_command(const char *command)
{
    if (*command)
        printf("  %-*s%s\n", FIELD_COLUMN - 2, "example", command);
}

void page_list(const struct list_page *page, const char *label, const json_t *list,
               const char *none)
{
    bool titles = json_array_size(list) <= TITLES_MAX;
    char *text = NULL;
    size_t i;
    const json_t *one;
    FILE *to = memory_stream(&text, NULL);
    json_array_foreach(list, i, one)
    {
        bool object = json_is_object(one);
        const char *title = object && titles ? field_text(one, "title") : "";
        const char *word = object ? field_text(one, "id") : json_string_value(one);
        bool sentence = *title || strchr(word, ' ');
        fprintf(to, "%s%s%s%s",
                i == 0     ? ""
                : sentence ? "; "
                           : ", ",
                word, *title ? " " : "", title);
    }
    fclose(to);
    if (json_array_size(list) > 0 || none)
        page_field(page, label, json_array_size(list) > 0 ? text : none);
    free(text);
}
