/* doc.c - see doc.h. */
#include "harness/doc/doc.h"

#include "harness/base/memory.h"
#include "harness/base/term_table.h"
#include "harness/base/text.h"
#include "harness/base/wrap.h"

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
    {"h1", "\n# "},   {"/h1", "\n"},  {"h2", "\n## "},        {"/h2", "\n"},
    {"h3", "\n### "}, {"/h3", "\n"},  {"blockquote", "\n> "}, {"/blockquote", "\n"},
    {"p", "\n"},      {"/p", "\n"},   {"pre", "\n```sh\n"},   {"/pre", "```\n"},
    {"ul", "\n"},     {"li", "- "},   {"/li", "\n"},          {"b", "**"},
    {"/b", "**"},     {"td", "| "},   {"/td", " "},           {"th", "| "},
    {"/th", " "},     {"br", "<br>"}, {"/tr", "|\n"},
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
    else if (strncmp(tag, "th", length) == 0 && length == 2)
        snprintf(to->rule + ruled, sizeof to->rule - ruled, "%s",
                 strstr(tag, "number") ? "---:|" : "---|");
    else if (strcmp(tag, "/thead") == 0)
        fprintf(to->to, "|%s\n", to->rule);
}

/* Terminal ------------------------------------------------------------------------------------- */

enum { TERMINAL_INDENT = 2, TABLE_INDENT = 4 };

/* Blanks and line breaks between blocks are none of a block. */
static void terminal_put(struct doc *to, const char *text)
{
    if (!to->open)
        text += strspn(text, " \n");
    if (*text && !to->open)
        to->open = memory_stream(&to->text, NULL);
    if (*text)
        fputs(text, to->open);
}

/* The text of the open block, which ends; to be freed. */
static char *terminal_take(struct doc *to)
{
    if (!to->open)
        return xstrdup("");
    memory_stream_close(to->open);
    to->open = NULL;
    size_t length = strlen(to->text);
    while (length > 0 && strchr(" \n", to->text[length - 1]))
        length--;
    to->text[length] = '\0';
    return to->text;
}

/* An empty line before a block, but below a heading and between items. */
static void terminal_space(struct doc *to, const char *tag)
{
    const char *above = to->above;
    bool heads = tag[1] == 'h', below = above && above[1] == 'h';
    bool items = above && strcmp(tag, "/li") == 0 && strcmp(above, "/li") == 0;
    if (above && !items && (heads || !below))
        fputc('\n', to->to);
    to->above = tag;
}

/* Closing tags of blocks, and in which columns lines begin. */
static const struct {
    const char *tag, *sign;
    int at, indent;
} terminal_blocks[] = {
    {"/h1", "", 0, TERMINAL_INDENT},
    {"/h2", "", 0, TERMINAL_INDENT},
    {"/h3", "  ", TERMINAL_INDENT, TABLE_INDENT},
    {"/blockquote", "  ", TERMINAL_INDENT, TERMINAL_INDENT},
    {"/li", "  - ", TABLE_INDENT, TABLE_INDENT},
    {"/p", "  ", TERMINAL_INDENT, TERMINAL_INDENT}, /* and text outside of blocks */
};

static void terminal_block(struct doc *to, const char *tag)
{
    size_t i = 0, last = sizeof terminal_blocks / sizeof terminal_blocks[0] - 1;
    if (!to->open)
        return;
    while (i < last && strcmp(terminal_blocks[i].tag, tag) != 0)
        i++;
    char *text = terminal_take(to);
    terminal_space(to, terminal_blocks[i].tag);
    fputs(terminal_blocks[i].sign, to->to);
    text_wrap(to->to, terminal_blocks[i].at, terminal_blocks[i].indent, to->columns, text);
    free(text);
}

/* Lines as they are. */
static void terminal_lines(struct doc *to)
{
    char *text = terminal_take(to), *rest = text, *line;
    terminal_space(to, "/pre");
    while ((line = strsep(&rest, "\n")) != NULL)
        fprintf(to->to, "%*s%s\n", TABLE_INDENT, "", line);
    free(text);
}

/* Without columns of numbers, all cells but a row's first one are its text. */
static void terminal_table(struct doc *to)
{
    const struct term_layout layout = {
        .indent = TABLE_INDENT, .gap = 2, .width = to->columns, .repeat = true};
    struct term_table *table = term_table_new(layout, NULL);
    for (size_t i = 0; i < to->cells_count; i++) {
        size_t column = i % to->row_cells;
        if (i > 0 && column == 0)
            term_table_row(table, NULL);
        if (column > 0 && !to->has_numbers)
            term_table_text(table, "%s%s", column > 1 ? " | " : "", to->cells[i]);
        else if (i < to->row_cells)
            term_table_column(table, to->cells[i], column > 0 ? 1 : -1);
        else
            term_table_cell(table, "%s", to->cells[i]);
    }
    terminal_space(to, "/tbody");
    term_table_print(table, to->to);
    texts_free(to->cells, to->cells_count);
    to->cells = NULL;
    to->cells_count = to->row_cells = 0;
    to->has_numbers = false;
}

static void terminal_tag(struct doc *to, const char *tag)
{
    static const char blocks[] = " h1 h2 h3 blockquote p pre ul li table thead ";
    char word[32];
    snprintf(word, sizeof word, " %.*s ", (int)strcspn(tag + (*tag == '/'), " "),
             tag + (*tag == '/'));
    if (strcmp(word, " th ") == 0 && strstr(tag, "number"))
        to->has_numbers = true;
    if (strcmp(tag, "/td") == 0 || strcmp(tag, "/th") == 0)
        array_add(to->cells, to->cells_count) = terminal_take(to);
    else if (strcmp(tag, "/thead") == 0)
        to->row_cells = to->cells_count;
    else if (strcmp(tag, "/tbody") == 0)
        terminal_table(to);
    else if (strcmp(tag, "/pre") == 0)
        terminal_lines(to);
    else if (strcmp(tag, "br") == 0)
        terminal_put(to, " ");
    else if (strstr(blocks, word))
        terminal_block(to, tag);
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

/* Any ------------------------------------------------------------------------------------------ */

static void code_put(struct doc *to)
{
    to->in_code = !to->in_code;
    if (to->format == DOC_MARKDOWN)
        fputc('`', to->to);
    else if (to->format == DOC_HTML)
        fputs(to->in_code ? "<code>" : "</code>", to->to);
}

static void prose_put(struct doc *to, const char *text)
{
    if (to->format == DOC_MARKDOWN)
        markdown_prose(to, text, false);
    else if (to->format == DOC_TERMINAL)
        terminal_put(to, text);
    else if (to->in_code || to->in_title)
        html_text(to->to, text, strlen(text));
    else
        html_prose(to->to, text);
}

static void literal_put(struct doc *to, char sign)
{
    if (to->format == DOC_MARKDOWN)
        fputc(sign, to->to);
    else if (to->format == DOC_TERMINAL)
        terminal_put(to, (char[]){sign, '\0'});
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
    else if (to->format == DOC_TERMINAL)
        terminal_tag(to, tag);
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
    if (to->format == DOC_TERMINAL) {
        doc_put(to, "<p>%s</p>", text);
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
