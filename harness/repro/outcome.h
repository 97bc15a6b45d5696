/* outcome.h - how expectations came out, in the words of their roles.
 *
 * Callers: repro_judge.c and files that show its results. An experiment's verdict comes from its
 * claims alone. Sizes and prices are told as they were found, and checks say whether to trust the
 * claims beside them.
 */
#ifndef SCHEDLAB_OUTCOME_H
#define SCHEDLAB_OUTCOME_H

#include "harness/repro/verdict.h"

#include <jansson.h>

/* "claim" ... */
const char *role_name(enum expect_role role);

/* The outcome in a word: of a claim its verdict; of a size or a price "as expected", "larger",
 * "smaller" or "otherwise"; of a check "held" or "not held". Each of them may be "undecided" or
 * "not run". */
const char *outcome_told(const struct judged *judged);

/* How many expectations of each role came out how, {"claim": {"supported": 3}, ...}, of the parts
 * of a place in repro.json; a new reference. */
json_t *outcome_tally(const json_t *parts);

/* Adds the numbers of another tally. */
void outcome_tally_add(json_t *tally, const json_t *other);

/* "claim supported; 11 of 13 sizes as expected; 2 of 2 checks held", to be freed. verdict: of the
 * claims, as repro.json has it. */
char *outcome_said(const char *verdict, const json_t *tally);

#endif
