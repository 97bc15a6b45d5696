/* text.h - lines that people read: one line of what went wrong, counts with their noun, words for a
 * shell.
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

/* Print why a function failed, as snprintf() does; are false or NULL. Macros, so that a compiler
 * sees that: results are not set then. reason_set() is true, and says why something is so. */
#define error_set(error, error_size, ...) (snprintf(error, error_size, __VA_ARGS__), false)
#define error_null(error, error_size, ...) (snprintf(error, error_size, __VA_ARGS__), NULL)
#define reason_set(why, why_size, ...) (snprintf(why, why_size, __VA_ARGS__), true)

/* The buffer in which a parser leaves the one line about a mistake of the user. */
struct complaint {
    char *text;
    size_t size;
};

/* Prints into it, as text_one_line() has it; returns false. */
bool complaint_make(const struct complaint *to, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

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
