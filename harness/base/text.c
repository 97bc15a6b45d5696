/* text.c - see text.h. */
#include "harness/base/text.h"

#include "harness/base/memory.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

char *text_one_line(char *text)
{
    for (char *at = text; *at; at++)
        if (iscntrl((unsigned char)*at))
            *at = '?';
    return text;
}

void text_add(char *text, size_t size, const char *format, ...)
{
    size_t length = strlen(text);
    va_list args;
    va_start(args, format);
    vsnprintf(text + length, size - length, format, args);
    va_end(args);
}

struct counted counted(uint64_t count, const char *noun)
{
    struct counted text;
    snprintf(text.s, sizeof text.s, "%" PRIu64 " %.40s%s", count, noun, count == 1 ? "" : "s");
    return text;
}

void texts_free(char **texts, size_t count)
{
    for (size_t i = 0; texts && i < count; i++)
        free(texts[i]);
    free(texts);
}

bool text_is_among(const char *text, char *const *texts, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(texts[i], text) == 0)
            return true;
    return false;
}

bool text_is_word(const char *text, const char *const *words)
{
    while (*words && strcmp(*words, text) != 0)
        words++;
    return *words != NULL;
}

char *text_join(char *const *words, unsigned count)
{
    char *text = NULL;
    if (count == 0)
        return NULL;
    FILE *to = memory_stream(&text, NULL);
    for (unsigned i = 0; i < count; i++)
        fprintf(to, "%s%s", i ? "," : "", words[i]);
    fclose(to);
    return text;
}

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

void shell_option_print(FILE *to, const char *option, const char *value)
{
    if (!value || !*value)
        return;
    fprintf(to, " %s ", option);
    shell_word_print(to, value);
}

bool text_ends_with(const char *text, const char *end)
{
    size_t length = strlen(text), tail = strlen(end);
    return length >= tail && strcmp(text + length - tail, end) == 0;
}

const char *text_base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}
