/* html.c - see html.h. */
#define _GNU_SOURCE
#include "harness/html.h"

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

void html_format(FILE *to, const char *format, ...)
{
    char *text = NULL;
    va_list arguments;
    va_start(arguments, format);
    int length = vasprintf(&text, format, arguments);
    va_end(arguments);
    if (length < 0)
        abort();
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
    return strcmp(tag, "a") == 0 || strcmp(tag, "b") == 0 || strcmp(tag, "span") == 0;
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

/* SVG ------------------------------------------------------------------------------------------ */

static char *file_read(const char *path)
{
    char *text = NULL;
    size_t capacity = 0;
    FILE *from = fopen(path, "re");
    if (!from)
        return NULL;
    ssize_t length = getdelim(&text, &capacity, '\0', from);
    fclose(from);
    if (length > 0)
        return text;
    free(text);
    return NULL;
}

/* The places where gnuplot writes a name of the document's own; the name follows. */
static const char *const id_places[] = {" id='", " id=\"", "href='#", "href=\"#", "url(#"};

/* Copies up to the end, with prefix put before every id and every reference to one. */
static void copy_with_prefix(FILE *to, const char *text, const char *prefix)
{
    while (*text) {
        size_t length = 1;
        bool place = false;
        for (size_t i = 0; i < sizeof id_places / sizeof id_places[0] && !place; i++) {
            size_t size = strlen(id_places[i]);
            place = strncmp(text, id_places[i], size) == 0;
            length = place ? size : length;
        }
        fwrite(text, 1, length, to);
        if (place)
            html_text(to, prefix);
        text += length;
    }
}

bool html_svg(FILE *to, const char *path, const char *prefix, const char *label)
{
    char *text = file_read(path);
    char *start = text ? strstr(text, "<svg") : NULL;
    char *box = start ? strstr(start, "viewBox=\"") : NULL;
    char *body = start ? strchr(start, '>') : NULL;
    char *end = body ? strstr(body, "</svg>") : NULL;
    bool whole = end && box && box < body;
    if (whole) {
        /* The fixed size of the file is left out, so that the page can make the figure smaller. */
        char style[64];
        int width = 0;
        box += strlen("viewBox=\"");
        box[strcspn(box, "\"")] = '\0';
        *end = '\0';
        sscanf(box, "%*d %*d %d", &width);
        snprintf(style, sizeof style, "max-width:%dpx", width);
        html_open(to, "svg", "viewBox", box, "style", width > 0 ? style : NULL, "role", "img",
                  "aria-label", label, "xmlns", "http://www.w3.org/2000/svg", "xmlns:xlink",
                  "http://www.w3.org/1999/xlink", NULL);
        copy_with_prefix(to, body + 1, prefix);
        html_close(to, "svg");
    }
    free(text);
    return whole;
}
