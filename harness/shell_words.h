/* shell_words.h - words as a shell takes them.
 *
 * Who calls: whoever prints a command that somebody may type: child.c, the engines, cmd_sweep.c.
 */
#ifndef SCHEDLAB_SHELL_WORDS_H
#define SCHEDLAB_SHELL_WORDS_H

#include <stdio.h>

/* Writes the word, in single quotes where a shell would else change it. */
void shell_word_print(FILE *to, const char *word);

#endif
