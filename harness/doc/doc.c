/* doc.c - see doc.h. */
#include "harness/doc/doc.h"

#include "harness/base/memory.h"

#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* Markdown ------------------------------------------------------------------------------------- */

/* Characters that Markdown, or HTML in it, would take for its own; "|" would end a cell. */
static const char markup[] = "\\*_[]<>|#~";

/* Line breaks are blanks, and none at the end, but where lines are kept. */
static void markdown_prose(struct doc *to, const char *text, bool keep_lines)
{
    bool in_code = to->in_code;
    size_t length = strlen(text);
    while (length > 0 && text[length - 1] == '\n')
        length--;
    for (const char *at = text; at < text + length; at++) {
        if (!to->in_code && *at == '`' && (in_code || strchr(at + 1, '`')))
            in_code = !in_code;
        if (in_code ? *at == '|' : strchr(markup, *at) != NULL)
            fputc('\\', to->to);
        fputc(*at == '\n' && !keep_lines ? ' ' : *at, to->to);
    }
}

static const struct {
    const char *tag, *signs;
} markdown_tags[] = {
    {"h2", "\n## "}, {"/h2", "\n"}, {"h3", "\n### "}, {"/h3", "\n"},  {"p", "\n"},
    {"/p", "\n"},    {"ul", "\n"},  {"li", "- "},     {"/li", "\n"},  {"td", "| "},
    {"/td", " "},    {"th", "| "},  {"/th", " "},     {"br", "<br>"}, {"/tr", "|\n"},
};

static void markdown_tag(struct doc *to, const char *tag)
{
    size_t length = strcspn(tag, " "), ruled = strlen(to->rule);
    for (size_t i = 0; i < sizeof markdown_tags / sizeof markdown_tags[0]; i++)
        if (strlen(markdown_tags[i].tag) == length &&
            strncmp(markdown_tags[i].tag, tag, length) == 0)
            fputs(markdown_tags[i].signs, to->to);
    if (strcmp(tag, "thead") == 0)
        *to->rule = '\0';
    else if (strncmp(tag, "th ", 3) == 0)
        snprintf(to->rule + ruled, sizeof to->rule - ruled, "%s",
                 strstr(tag, "number") ? "---:|" : "---|");
    else if (strcmp(tag, "/thead") == 0)
        fprintf(to->to, "|%s\n", to->rule);
}

/* HTML ----------------------------------------------------------------------------------------- */

/* Escaped for both text and quoted attributes. */
static void html_text(FILE *to, const char *text, size_t length)
{
    static const char signs[] = "&<>\"'";
    static const char *const escaped[] = {"&amp;", "&lt;", "&gt;", "&quot;", "&#39;"};
    for (; length-- > 0; text++) {
        const char *sign = memchr(signs, *text, sizeof signs - 1);
        if (sign)
            fputs(escaped[sign - signs], to);
        else
            fputc(*text, to);
    }
}

/* Likewise, and what stands between backticks is code. */
static void html_prose(FILE *to, const char *text)
{
    const char *open, *close;
    while ((open = strchr(text, '`')) != NULL && (close = strchr(open + 1, '`')) != NULL) {
        html_text(to, text, (size_t)(open - text));
        fputs("<code>", to);
        html_text(to, open + 1, (size_t)(close - open - 1));
        fputs("</code>", to);
        text = close + 1;
    }
    html_text(to, text, strlen(text));
}

/* A line break after an inline element would be a space in the text. */
static void html_tag(struct doc *to, const char *tag)
{
    static const char in_line[] = " /a /b /code /span /svg ";
    char word[32];
    if (strcmp(tag + (*tag == '/'), "code") == 0)
        to->in_code = *tag != '/';
    if (strcmp(tag + (*tag == '/'), "title") == 0)
        to->in_title = *tag != '/';
    snprintf(word, sizeof word, " %s ", tag);
    fprintf(to->to, "<%s>%s", tag, *tag == '/' && !strstr(in_line, word) ? "\n" : "");
}

/* Both ----------------------------------------------------------------------------------------- */

static void code_put(struct doc *to)
{
    to->in_code = !to->in_code;
    if (to->format == DOC_MARKDOWN)
        fputc('`', to->to);
    else
        fputs(to->in_code ? "<code>" : "</code>", to->to);
}

static void prose_put(struct doc *to, const char *text)
{
    if (to->format == DOC_MARKDOWN)
        markdown_prose(to, text, false);
    else if (to->in_code || to->in_title)
        html_text(to->to, text, strlen(text));
    else
        html_prose(to->to, text);
}

static void literal_put(struct doc *to, char sign)
{
    if (to->format == DOC_MARKDOWN)
        fputc(sign, to->to);
    else
        html_text(to->to, &sign, 1);
}

/* Templates ------------------------------------------------------------------------------------ */

/* The text of the conversion at *at, which is left behind; to be freed. */
static char *converted(const char **at, va_list *arguments)
{
    const char *spec = *at + 1;
    size_t length = strspn(spec, ".*0123456789lz");
    *at = spec + length + 1;
    if (spec[length] == 's') {
        int most = length > 0 ? va_arg(*arguments, int) : INT_MAX;
        const char *text = va_arg(*arguments, const char *);
        return xstrndup(text ? text : "", (size_t)most);
    }
    if (spec[length] == '%')
        return xstrdup("%");
    if (spec[length] == 'f')
        return text_format("%.*f", spec[1] - '0', va_arg(*arguments, double));
    if (spec[length] == 'g')
        return text_format("%g", va_arg(*arguments, double));
    if (*spec == 'l')
        return text_format("%lld", va_arg(*arguments, long long));
    if (*spec == 'z')
        return text_format("%zu", va_arg(*arguments, size_t));
    if (spec[length] != 'u' && spec[length] != 'd')
        abort(); /* a template with anything else */
    return spec[length] == 'u' ? text_format("%u", va_arg(*arguments, unsigned))
                               : text_format("%d", va_arg(*arguments, int));
}

/* The tag at *at, which is left behind. */
static void tag_put(struct doc *to, const char **at, va_list *arguments)
{
    char *tag, *text;
    FILE *inside = memory_stream(&tag, NULL);
    for (++*at; **at != '>';) {
        if (**at == '%') {
            text = converted(at, arguments);
            html_text(inside, text, strlen(text));
            free(text);
        } else {
            fputc(**at == '\'' ? '"' : **at, inside);
            ++*at;
        }
    }
    ++*at;
    fclose(inside);
    if (to->format == DOC_MARKDOWN)
        markdown_tag(to, tag);
    else
        html_tag(to, tag);
    free(tag);
}

static void template_put(struct doc *to, const char *template, va_list *arguments)
{
    for (const char *at = template; *at;) {
        if (*at == '%') {
            char *text = converted(&at, arguments);
            prose_put(to, text);
            free(text);
        } else if (*at == '<') {
            tag_put(to, &at, arguments);
        } else if (*at == '`') {
            code_put(to);
            at++;
        } else {
            literal_put(to, *at++);
        }
    }
}

void doc_put(struct doc *to, const char *template, ...)
{
    va_list arguments;
    va_start(arguments, template);
    template_put(to, template, &arguments);
    va_end(arguments);
}

void html_put(FILE *to, const char *template, ...)
{
    struct doc html = {.to = to, .format = DOC_HTML};
    va_list arguments;
    va_start(arguments, template);
    template_put(&html, template, &arguments);
    va_end(arguments);
}

void doc_paragraphs(struct doc *to, const char *text)
{
    if (to->format == DOC_MARKDOWN) {
        fputc('\n', to->to);
        markdown_prose(to, text, true);
        fputc('\n', to->to);
        return;
    }
    while (*text) {
        const char *end = strstr(text, "\n\n");
        int length = (int)(end ? (size_t)(end - text) : strlen(text));
        doc_put(to, "<p>%.*s</p>", length, text);
        text += length;
        text += strspn(text, "\n");
    }
}
