/* sweep_resume.h - finds out whether an interrupted sweep can go on here, and with what.
 *
 * Callers: cmd_sweep.c for --resume, before anything is measured. Its answer is the sweep as it was
 * begun; measuring what is missing is sweep_run.h. Asking changes nothing in the run's folder. A
 * resumption writes there only after its records are locked and read back. So a resumption that
 * fails leaves no trace, also beside a sweep that is still running.
 */
#ifndef SCHEDLAB_SWEEP_RESUME_H
#define SCHEDLAB_SWEEP_RESUME_H

#include "harness/base/error.h"
#include "harness/plan/sweep_file.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

struct sweep_resume {
    const char *folder; /* of the run */
    const char *file;   /* the sweep file that the user names; NULL: the run's copy of it */
    bool force;         /* go on in spite of differences */

    /* Results. */
    bool hyperfine;      /* an option of the beginning */
    bool other_file;     /* file is another than the run's copy */
    bool elsewhere;      /* the run began on another kind of processor */
    json_t *environment; /* of the run, with this resumption added */
};

/* The sweep with the options of the run's beginning, to be freed. NULL and one line in error if
 * sweep file, program or machine have changed, or if the run was merged from several. With force
 * each difference is a line on messages, and the numbers of another sweep file count, but the seed
 * stays. */
struct sweep_file *sweep_resume_load(struct sweep_resume *resume, FILE *messages,
                                     struct error *error);

/* Adds the resumption, with what had changed, to `resumed` in the run's environment.json, and puts
 * another sweep file in the place of the run's copy. False and one line in error if it cannot be
 * written. Pre: sweep_resume_load() was successful, and nobody else measures into the run. */
bool sweep_resume_record(struct sweep_resume *resume, struct error *error);

/* Frees what sweep_resume_load() left in *resume, successful or not. */
void sweep_resume_free(struct sweep_resume *resume);

#endif
