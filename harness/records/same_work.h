/* same_work.h - which records did the work they should have done.
 *
 * Callers: sweep while it measures, tables.c over a whole file.
 *
 * Every variant must do the same work, so digests must be equal for all of them. Samples with a
 * wrong digest must give no number. (Answers may depend on the schedule; each was verified by its
 * own sample.) For each workload, with its parameters, and seed, a variant has one vote, however
 * many cells it has and whatever its knobs: the digest that most of its samples gave. The reference
 * is
 *   - the digest of the variant `serial`, where there is one: it has no scheduler to be wrong; else
 *   - the digest that more than half of the voting variants gave.
 * A sample that differs from the reference is wrong. If the votes are split without a majority it
 * is unknown which are right, and all samples of that workload and seed are wrong.
 * Where the work is given per worker ("tasks=1000/worker"), each number of workers is judged alone.
 *
 * Records have a vote if they are `ok`, or failed only for their digest. So judging the whole file,
 * with all votes, may overturn a judgement made while it was written.
 */
#ifndef SCHEDLAB_SAME_WORK_H
#define SCHEDLAB_SAME_WORK_H

#include "harness/base/error.h"

#include <jansson.h>
#include <stdbool.h>

struct same_work;

struct same_work *same_work_make(void);
void same_work_free(struct same_work *book);

/* Takes the record's vote, if it has one. */
void same_work_add(struct same_work *book, const json_t *record);

/* True, and the reason, if the record is wrong by the rule. final: no more votes will come;
 * otherwise split votes leave the record as it is. Pre: the record was added. */
bool same_work_judge(const struct same_work *book, const json_t *record, bool final,
                     struct error *reason);

/* Applies the rule to all records of an array: fails the wrong ones, and makes `ok` again those
 * that were failed for their digest but are right. */
void same_work_judge_all(json_t *records);

#endif
