/* repro_file.h - reads repro.json.
 *
 * Callers: files that show finished reproductions: repro_report.c, repro_page*.c, catalogue*.c. The
 * schema is results/README.md. A result of repro_file_read() has all keys that the other functions
 * and the callers rely on.
 */
#ifndef SCHEDLAB_REPRO_FILE_H
#define SCHEDLAB_REPRO_FILE_H

#include "harness/base/error.h"
#include "harness/repro/verdict.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

enum { REPRO_SCHEMA = 1 };

/* True if the folder has a repro.json. */
bool repro_file_is_there(const char *folder);

/* repro.json of the folder, the caller's. NULL and one line in error, "PATH: what", if it cannot be
 * read, is damaged, is of another schema or lacks keys that readers rely on. */
json_t *repro_file_read(const char *folder, struct error *error);

/* The verdict of any object that has one. */
enum verdict repro_file_verdict(const json_t *object);

/* True if the verdict says that something is lacking: undecided, or not run. */
bool repro_file_lacks(const json_t *object);

/* True if the expectation carries the claim, as all did before there were roles. */
bool repro_file_is_claim(const json_t *expectation);

/* "claim", "size" ... */
const char *repro_file_role(const json_t *expectation);

/* How an expectation came out (outcome.h). */
const char *repro_file_told(const json_t *expectation);

/* "claim supported; 11 of 13 sizes as expected": of an experiment, or of a place. Without roles
 * only the verdict. */
const char *repro_file_said(const json_t *object);

/* The column that decides an expectation. */
const json_t *repro_file_decisive(const json_t *expectation);

/* True if it is about misses of a cache. */
bool repro_file_is_of_misses(const json_t *expectation);

/* The side that the sentence behind a ratio is about, the slower one or that with more, by what the
 * two differ in: its variant, workload or machine, "fewer workers" or "more workers". */
const char *repro_file_slower(const json_t *expectation, const json_t *column);

/* "two regimes: 7 of 12 ratios of blocks at 1.02x, 5 at 1.48x; they differ in STEALS 0.31 and 12",
 * to be freed: what the column's reason does not say. NULL if there are no two. */
char *repro_file_regimes(const json_t *column);

/* "12 of 340 native samples marked as disturbed, 10 measured again", to be freed: of the whole, an
 * experiment or a place; NULL if no sample is native, or the file does not tell. */
char *repro_file_disturbed(const json_t *object);

/* The entry of `list`, "experiments" or "claims", with that id; NULL if there is none. */
const json_t *repro_file_entry(const json_t *repro, const char *list, const char *id);

/* The part of a place (an experiment on a machine) with that id; NULL if it was not run there. */
const json_t *repro_file_part(const json_t *place, const char *id);

/* The expectation of a part with that number; NULL if it is not judged there. */
const json_t *repro_file_expectation(const json_t *part, json_int_t number);

/* The claim that says most about a place: the first refuted one, else the first undecided one, else
 * the one with the strongest effect. *part receives its part. NULL if there is no claim. */
const json_t *repro_file_main(const json_t *place, const json_t **part);

/* A verdict that a guest and its host do not share. */
struct repro_difference {
    const char *guest, *part;
    const json_t *expectation, *of_host; /* on the guest, and on the host */
};

/* Calls what, unless NULL, for each difference of the experiment, by guests; how many. */
size_t repro_file_differences(const json_t *experiment,
                              void (*what)(const struct repro_difference *difference, void *arg),
                              void *arg);

/* The number of entries of a list with each verdict. */
struct repro_sum {
    size_t of[VERDICTS];
};
struct repro_sum repro_file_sum(const json_t *list);

/* The groups of the sweep that the part was measured in: one, or one per machine among its levels.
 * A list of texts, the caller's. */
json_t *repro_file_groups(const json_t *part);

/* True if a figure can show the part's result. No figure shows an order, or a workload's finding as
 * throughput. */
bool repro_file_is_drawn(const json_t *part);

/* The path of the main figure of a group, which a report of the run has drawn below the folder of
 * the reproduction; false if there is none. */
bool repro_file_figure(const char *folder, const json_t *place, const json_t *part,
                       const char *group, char *path, size_t path_size);

/* "native"; "several machines" where machines are the levels. */
const char *repro_file_place_name(const json_t *place);

#endif
