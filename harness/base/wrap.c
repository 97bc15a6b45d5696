/* wrap.c - see wrap.h. */
#include "harness/base/wrap.h"

#include <stdbool.h>
#include <string.h>

int text_columns(const char *text, int length)
{
    int columns = 0;
    for (int i = 0; i < length; i++)
        columns += (text[i] & 0xc0) != 0x80;
    return columns;
}

static void word_print(FILE *to, const char *word, int length)
{
    const int together = (int)sizeof TEXT_TOGETHER - 1;
    for (int i = 0; i < length; i++) {
        bool is_together = i + together <= length && memcmp(word + i, TEXT_TOGETHER, 2) == 0;
        fputc(is_together ? ' ' : word[i], to);
        i += is_together ? together - 1 : 0;
    }
}

void text_wrap(FILE *to, int at, int indent, int columns, const char *text)
{
    bool first = true;
    while (*text) {
        int length = (int)strcspn(text, " \n"), width = text_columns(text, length);
        bool paragraph = text[length] == '\n' && text[length + 1] == '\n';
        if (!first && at + 1 + width > columns) {
            fprintf(to, "\n%*s", indent, "");
            at = indent;
            first = true;
        }
        while (at < columns && width > columns - at && width == length) { /* ASCII: cut it */
            int part = columns - at;
            fprintf(to, "%.*s\n%*s", part, text, indent, "");
            text += part;
            length = width -= part;
            at = indent;
        }
        at += width + !first;
        fputs(first ? "" : " ", to);
        word_print(to, text, length);
        first = paragraph;
        if (paragraph) {
            fprintf(to, "\n\n%*s", indent, "");
            at = indent;
        }
        text += length;
        text += strspn(text, " \n");
    }
    fputc('\n', to);
}
