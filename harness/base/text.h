/* text.h - lines that people read: counts with their noun, lists of words, words for a shell.
 *
 * Callers: nearly all rooms.
 */
#ifndef SCHEDLAB_TEXT_H
#define SCHEDLAB_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Turns control characters into "?", so that a message is one line whatever words of a user it
 * quotes; returns text. */
char *text_one_line(char *text);

/* Adds to a text what printf() would print, as far as there is room. */
void text_add(char *text, size_t size, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

struct counted {
    char s[64];
};

/* "1 sample", "2 samples": the number and the noun, which has an s where it is not one. A noun of
 * several words is in the plural by its last one: counted(3, "hardware thread"). A struct, so that
 * a call can stand in an argument list. */
struct counted counted(uint64_t count, const char *noun);

/* "a,b,c", to be freed; NULL for an empty list. */
char *text_join(char *const *words, unsigned count);

/* Frees each text and the list, which may be NULL. */
void texts_free(char **texts, size_t count);

bool text_is_among(const char *text, char *const *texts, size_t count);
/* The same of a list that ends with NULL. */
bool text_is_word(const char *text, const char *const *words);

bool text_ends_with(const char *text, const char *end);

/* The name of a file or folder without the path before it: a part of path. */
const char *text_base_name(const char *path);

/* Writes a word of a command that somebody may type, in single quotes where a shell would else
 * change it. */
void shell_word_print(FILE *to, const char *word);

/* " --engine slurm", or another option and its value; nothing without one. */
void shell_option_print(FILE *to, const char *option, const char *value);

#endif
