/* suggest.h - what a message says of a name that is not valid: the nearest valid one, or, where
 * none is near, which ones there are.
 *
 * Callers: everything that reads names from a user. Usage:
 *
 *     struct suggest near = suggest_for("gpm");
 *     for (...) suggest_offer(&near, candidate);
 *     ... suggest_text(&near, "", "`schedlab list variants`").s
 */
#ifndef SCHEDLAB_SUGGEST_H
#define SCHEDLAB_SUGGEST_H

#include <stdbool.h>
#include <stddef.h>

enum { SUGGEST_LISTED_MAX = 20, SUGGEST_TEXT_SIZE = 512 };

struct suggest {
    const char *word;
    const char *best; /* the candidate's own pointer; NULL if none was offered */
    size_t distance;  /* of best */
    bool near;        /* whether best is what somebody may have meant */
    const char *listed[SUGGEST_LISTED_MAX]; /* the first candidates */
    size_t count;                           /* of all candidates */
};

/* How many characters must be put in, left out, changed or swapped with their neighbour to turn a
 * into b (Damerau-Levenshtein, optimal string alignment); upper and lower case are the same.
 * Only the first 255 characters count. */
size_t suggest_distance(const char *a, const char *b);

/* True if one is a typing error or an abbreviation of the other. In a typing error at most every
 * third character differs. An abbreviation begins the longer word, and has at least two characters
 * and a third of its length. */
bool suggest_is_near(const char *a, const char *b);

struct suggest suggest_for(const char *word);

/* Candidates must live until the text is made. Near candidates come before others, then the
 * smallest distance, then the first offered. */
void suggest_offer(struct suggest *suggest, const char *candidate);

struct advice {
    char s[SUGGEST_TEXT_SIZE];
};

/* `the nearest is "gmp"`; or, if none is near, `valid: kthread, uthread, ...` with at most
 * SUGGEST_LISTED_MAX names, and if there are more, how many and where to find them. mark stands
 * before every name ("--"). A struct, so that a call can stand in an argument list. Pre: something
 * was offered. */
struct advice suggest_text(const struct suggest *suggest, const char *mark, const char *where);

#endif
