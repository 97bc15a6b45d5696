/* run_folder.h - makes and removes the folder of a run; finds out if a folder holds one, and which
 * one was meant if not.
 *
 * Callers: the commands that measure runs or read finished ones.
 */
#ifndef SCHEDLAB_RUN_FOLDER_H
#define SCHEDLAB_RUN_FOLDER_H

#include "harness/base/error.h"
#include "harness/records/records.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* Makes results/name-<UTC time>, and results if there is none; writes its path into folder. False
 * and one line in error if it cannot. */
bool run_folder_make(const char *results, const char *name, char *folder, size_t folder_size,
                     struct error *error);

/* Removes the folder, a run's or one of cells, and all that is in it. */
void run_folder_remove(const char *folder);

/* True if it has a samples.jsonl; if not, errno says why. */
bool run_folder_is_run(const char *folder);

/* True if it would be a run, were its samples.jsonl.xz unpacked. */
bool run_folder_is_packed(const char *folder);

/* Its samples.jsonl, as record_file_read() reads it; judged: work that differs is told apart, by
 * same_work_judge_all(). */
json_t *run_folder_records(const char *folder, bool judged, struct record_flaws *flaws,
                           struct error *error);

/* The run's environment.json, for the caller to free; an empty object if it has none, or a broken
 * one: then error is one line that says where and why, else "". */
json_t *run_folder_environment(const char *folder, struct error *error);

/* " --with ./mine.slv", what a command needs before its own name to have the run's variants and
 * workloads from outside the tree; empty if it has none. To be freed. */
char *run_folder_with(const json_t *environment);

/* Prints which lines of the run's records were left out, and how to get a torn line's sample back.
 * Each line on messages begins with the name of the program. For all who show what the records
 * hold. */
void run_folder_tell_flaws(const char *folder, const struct record_flaws *flaws,
                           const char *program, FILE *messages);

/* One line that says why run_dir is no run, and which one is nearest: inside it, beside it, or in
 * results/. */
void run_folder_explain(const char *run_dir, struct error *error);

#endif
