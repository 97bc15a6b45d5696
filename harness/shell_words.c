/* shell_words.c - see shell_words.h. */
#include "harness/shell_words.h"

#include <stdbool.h>
#include <string.h>

static bool needs_quotes(const char *word)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "_-,.=:/@%+";
    return word[strspn(word, plain)] != '\0' || *word == '\0';
}

void shell_word_print(FILE *to, const char *word)
{
    if (!needs_quotes(word)) {
        fputs(word, to);
        return;
    }
    fputc('\'', to);
    for (; *word; word++) {
        if (*word == '\'')
            fputs("'\\''", to);
        else
            fputc(*word, to);
    }
    fputc('\'', to);
}
