/* suggest.h - the nearest valid name for one that is not valid.
 *
 * Who calls: everything that reads names from a user. Usage:
 *
 *     struct suggest near = suggest_for("gpm");
 *     for (...) suggest_offer(&near, candidate);
 *     ... near.best is the nearest candidate, NULL if none was offered
 */
#ifndef SCHEDLAB_SUGGEST_H
#define SCHEDLAB_SUGGEST_H

#include <stddef.h>

struct suggest {
    const char *word;
    const char *best; /* the candidate's own pointer */
    size_t distance;
};

/* How many characters must be put in, left out, changed or swapped with their neighbour to turn a
 * into b (Damerau-Levenshtein, optimal string alignment); upper and lower case are the same.
 * Only the first 255 characters count. */
size_t suggest_distance(const char *a, const char *b);

struct suggest suggest_for(const char *word);

/* The first of equally near candidates stays. */
void suggest_offer(struct suggest *suggest, const char *candidate);

#endif
