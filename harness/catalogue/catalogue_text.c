/* catalogue_text.c - what the pages of the catalogue are written with. See catalogue.h. */
#include "harness/catalogue/catalogue.h"

#include "harness/base/memory.h"

#include <stdlib.h>
#include <string.h>

/* What Markdown, or HTML in it, would take for its own; "|" would end a cell. */
static const char markup[] = "\\*_[]<>|#~";

static void text_write(FILE *to, const char *text, bool keep_lines)
{
    for (bool in_code = false; *text; text++) {
        if (*text == '`' && (in_code || strchr(text + 1, '`')))
            in_code = !in_code;
        if (*text == '\n' && !keep_lines)
            fputc(' ', to);
        else if (!in_code && strchr(markup, *text))
            fprintf(to, "\\%c", *text);
        else if (in_code && *text == '|')
            fputs("\\|", to);
        else
            fputc(*text, to);
    }
}

void catalogue_text(FILE *to, const char *text)
{
    char *trimmed = xstrdup(text);
    for (size_t length = strlen(trimmed); length > 0 && trimmed[length - 1] == '\n';)
        trimmed[--length] = '\0';
    text_write(to, trimmed, false);
    free(trimmed);
}

void catalogue_paragraphs(FILE *to, const char *text)
{
    char *trimmed = xstrdup(text);
    for (size_t length = strlen(trimmed); length > 0 && trimmed[length - 1] == '\n';)
        trimmed[--length] = '\0';
    text_write(to, trimmed, true);
    fputc('\n', to);
    free(trimmed);
}

void catalogue_code(FILE *to, const char *text)
{
    fputc('`', to);
    for (; *text; text++)
        fputs(*text == '|' ? "\\|" : (char[]){*text, '\0'}, to);
    fputc('`', to);
}

void catalogue_verdict(FILE *to, enum verdict verdict)
{
    static const char *const signs[] = {[VERDICT_NONE] = "\342\200\223",
                                        [VERDICT_SUPPORTED] = "\342\234\223 **supported**",
                                        [VERDICT_UNDECIDED] = "? **undecided**",
                                        [VERDICT_REFUTED] = "\342\234\227 **refuted**"};
    fputs(signs[verdict], to);
}
