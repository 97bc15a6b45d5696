/* list_words.h - every name that may be typed, one a line, for the completion of a shell.
 *
 * Callers: cmd_list.c.
 */
#ifndef SCHEDLAB_LIST_WORDS_H
#define SCHEDLAB_LIST_WORDS_H

#include <stdio.h>

/* Lines of a kind and a word: "variant gmp", "variant gmp,runnext=off", "variant gmp,tick=",
 * "workload fib", "workload fib,n=", "knob tick", "event STEALS",
 * "machine sim:desktop8", "experiment E1", "topic knobs". A word that ends in "=" wants a number.
 * topics: of `list`, NULL at their end. A file that cannot be read is left out. */
void list_words_print(FILE *to, const char *const *topics);

#endif
