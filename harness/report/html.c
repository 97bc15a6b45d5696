/* html.c - see html.h. */
#include "harness/report/html.h"

#include "harness/base/memory.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

void html_text(FILE *to, const char *text)
{
    for (; text && *text; text++) {
        switch (*text) {
        case '&':
            fputs("&amp;", to);
            break;
        case '<':
            fputs("&lt;", to);
            break;
        case '>':
            fputs("&gt;", to);
            break;
        case '"':
            fputs("&quot;", to);
            break;
        case '\'':
            fputs("&#39;", to);
            break;
        default:
            fputc(*text, to);
        }
    }
}

void html_prose(FILE *to, const char *text)
{
    const char *open, *close;
    while ((open = strchr(text, '`')) != NULL && (close = strchr(open + 1, '`')) != NULL) {
        char *before = xstrndup(text, (size_t)(open - text));
        char *code = xstrndup(open + 1, (size_t)(close - open - 1));
        html_text(to, before);
        html_element(to, "code", code, NULL);
        free(before);
        free(code);
        text = close + 1;
    }
    html_text(to, text);
}

void html_format(FILE *to, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    char *text = text_format_list(format, arguments);
    va_end(arguments);
    html_text(to, text);
    free(text);
}

static void open_with(FILE *to, const char *tag, va_list attributes)
{
    fprintf(to, "<%s", tag);
    const char *name;
    while ((name = va_arg(attributes, const char *)) != NULL) {
        const char *value = va_arg(attributes, const char *);
        if (!value)
            continue;
        fprintf(to, " %s=\"", name);
        html_text(to, value);
        fputc('"', to);
    }
    fputc('>', to);
}

void html_open(FILE *to, const char *tag, ...)
{
    va_list attributes;
    va_start(attributes, tag);
    open_with(to, tag, attributes);
    va_end(attributes);
}

/* A line break after an inline element would be a space in the text. */
static bool is_inline(const char *tag)
{
    return strcmp(tag, "a") == 0 || strcmp(tag, "b") == 0 || strcmp(tag, "code") == 0 ||
           strcmp(tag, "span") == 0;
}

void html_close(FILE *to, const char *tag)
{
    fprintf(to, "</%s>%s", tag, is_inline(tag) ? "" : "\n");
}

void html_element(FILE *to, const char *tag, const char *text, ...)
{
    va_list attributes;
    va_start(attributes, text);
    open_with(to, tag, attributes);
    va_end(attributes);
    html_text(to, text);
    html_close(to, tag);
}

void html_th(FILE *to, const char *scope, const char *text)
{
    html_element(to, "th", text, "scope", scope, NULL);
}

void html_td(FILE *to, const char *class, const char *text)
{
    html_element(to, "td", text, "class", class, NULL);
}

void html_thead(FILE *to, const char *const *names)
{
    html_open(to, "thead", NULL);
    html_open(to, "tr", NULL);
    for (; *names; names++)
        html_element(to, "th", *names + (**names == '#'), "scope", "col", "class",
                     **names == '#' ? "number" : NULL, NULL);
    html_close(to, "tr");
    html_close(to, "thead");
}

void html_table_open(FILE *to, const char *label, const char *class)
{
    /* Focus, so that a keyboard can scroll it. */
    html_open(to, "div", "class", "scroll", "role", "region", "tabindex", "0", "aria-label", label,
              NULL);
    html_open(to, "table", "class", class, NULL);
    /* Its text stays in view while a wide table scrolls. */
    html_open(to, "caption", NULL);
    html_element(to, "span", label, NULL);
    html_close(to, "caption");
}

void html_table_close(FILE *to)
{
    html_close(to, "table");
    html_close(to, "div");
}
