/* list_words.h - every name that may be typed, one a line, for the completion of a shell.
 *
 * Who calls: cmd_list.c.
 */
#ifndef SCHEDLAB_LIST_WORDS_H
#define SCHEDLAB_LIST_WORDS_H

#include <stdio.h>

/* Lines of a kind and a word: "variant gmp", "variant gmp,runnext=off", "variant gmp,tick=",
 * "workload fib", "workload fib,n=", "machine sim:desktop8", "experiment E1". A word that ends in
 * "=" wants a number. What cannot be read is left out. */
void list_words_print(FILE *to);

#endif
