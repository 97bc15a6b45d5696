/* repro.h - a reproduction: experiments run on their machines, and their verdicts.
 *
 * Callers: cmd_repro.c. A reproduction is a folder, results/NAME-<UTC time>:
 *
 *     repro.json               what was asked for, and all verdicts so far (results/README.md)
 *     environment.json         of the whole
 *     experiments/ID.yaml      the experiments as they were when it began; claims.yaml
 *     ID@MACHINE/              a run as `schedlab sweep` makes it, one per experiment and machine;
 *                              in MACHINE, ":" and its like are "-"
 *
 * Everything is measured in jobs, an experiment on a machine each, one after the other. After each,
 * repro.json is written anew from the records of all, so that it is whole at any time.
 */
#ifndef SCHEDLAB_REPRO_H
#define SCHEDLAB_REPRO_H

#include "harness/base/error.h"
#include "harness/plan/plan.h"
#include "harness/repro/experiment.h"
#include "harness/repro/popular_claims.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum { REPRO_PATH_SIZE = 4096, REPRO_REASON_SIZE = 512 };

enum repro_state {
    REPRO_WAITING, /* not begun */
    REPRO_BEGUN,   /* has a folder, and some records */
    REPRO_DONE,
    REPRO_IMPOSSIBLE, /* the machine lacks what the job needs; see reason */
};

struct repro_job {
    const struct experiment *experiment;
    const char *machine;
    bool guest; /* beside its host: says nothing about the claim, but what depends on prices */
    enum repro_state state;
    char reason[REPRO_REASON_SIZE]; /* why it is not done */
    char folder[REPRO_PATH_SIZE];   /* of its run */
    char *sweep_text;               /* NULL: impossible */
    double weight;                  /* seconds that it may take, roughly */
    double least, most;             /* with as few blocks as possible, and as many */
    double seconds;                 /* that it took */
    bool has_samples;               /* at least one that is ok; of repro_judge() */
    json_t *judged;                 /* as in repro.json; NULL: not yet */
};

/* The machines to run on. */
enum repro_machines {
    REPRO_OWN,       /* those that the experiments name */
    REPRO_SIMULATED, /* of these the simulated ones */
    REPRO_GIVEN,
};

struct repro {
    struct experiment **experiments; /* those to be run */
    size_t count;
    struct claims *claims; /* NULL: there are none */
    bool all;              /* it is about all experiments that there are */
    struct experiment_form form;
    enum repro_machines which;
    char **machines; /* canonical, of REPRO_GIVEN */
    size_t machines_count;
    char **guests; /* canonical, of the machines whose guests are measured too (form.guests) */
    size_t guests_count;
    char folder[REPRO_PATH_SIZE];
    const char *results; /* folder of earlier reproductions, which tell how long samples take; may
                          * be NULL */

    /* Made of these. */
    struct repro_job *jobs;
    size_t jobs_count;
    json_t *environment;
    char began[32];
};

/* Fills in the jobs: the parts to be measured, or why that is impossible. */
void repro_plan(struct repro *repro);

/* The plan of the job's sweep. Intervals have to be as narrow as the claims about a cell need them,
 * and in the full form as narrow as the experiment says too. In the held form, exact expectations
 * take two blocks, and so do those that are the same with two seeds. To be freed by plan_free(). */
struct plan *repro_job_plan(const struct repro *repro, const struct repro_job *job,
                            const struct sweep_file *sweep);

/* Gives the jobs their folders. Call it once the reproduction has one. */
void repro_settle(struct repro *repro);

/* Writes the files that are there before anything is measured. Pre: the folder is there and
 * empty. */
bool repro_begin(struct repro *repro, struct error *error);

/* Takes up the folder of an interrupted reproduction: experiments, options and jobs are those it
 * was begun with. All of *repro but the folder is filled in. False and one line in error if the
 * folder is no reproduction, or was begun by another program or on another machine. */
bool repro_resume(struct repro *repro, struct error *error);

/* Measures what is missing, and writes repro.json after each job. 0; the signal that stopped it, in
 * a job or between two (stop.h); or -1 and one line in error if it cannot go on. */
int repro_measure(struct repro *repro, FILE *messages, struct error *error);

/* repro.json as it is now; the caller's. repro_judge.c */
json_t *repro_to_json(const struct repro *repro);

/* Judges the job by the records in its folder, if there are any. */
void repro_judge(const struct repro *repro, struct repro_job *job);

void repro_free(struct repro *repro);

/* Prints repro.json as tables of at most `columns` columns. repro_print.c */
void repro_print(FILE *to, const json_t *repro, int columns);

/* The same without the sums. */
void repro_print_entries(FILE *to, const json_t *repro, int columns);

/* The catalogue, as tables. known: of repro_known_read(). repro_explain.c */
void repro_list(FILE *to, struct experiment *const *experiments, size_t count,
                const struct claims *claims, const json_t *known, int columns);
json_t *repro_list_to_json(struct experiment *const *experiments, size_t count,
                           const struct claims *claims, const json_t *known);

/* An experiment or a claim in full, with the last verdict that a reproduction in the folder
 * `results` gave it. */
void repro_explain_experiment(FILE *to, const struct experiment *experiment, const char *results,
                              int columns);
void repro_explain_claim(FILE *to, const struct claim *claim, const char *results, int columns);

/* The committed reproduction `name`, "repro" or "disputes", of the folder `results` or that which
 * comes with the program, to be freed, and its folder. NULL if there is none, or it cannot be
 * unpacked; then a line says how. */
json_t *repro_reference_read(const char *name, const char *results, char *folder,
                             size_t folder_size, FILE *messages);

/* The first questions (experiment.h), with the answers of the newest reproduction in `results` that
 * has one, else of the reference. */
void repro_offer(FILE *to, struct experiment *const *experiments, size_t count, const char *results,
                 int columns);

/* The newest entries of experiments and claims in all repro.json below results, to be freed: {ID:
 * {"entry", "written", "folder"}}. */
json_t *repro_last_read(const char *results);

/* All that is known of experiments and claims: the newest entries in `results`, and the committed
 * reproduction `name`; to be freed. */
json_t *repro_known_read(const char *name, const char *results, FILE *messages);

/* The newest entry of `list`, "experiments" or "claims", else that of the reference; NULL if
 * neither has it. */
const json_t *repro_known_entry(const json_t *known, const char *list, const char *id);

#endif
