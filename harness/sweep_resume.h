/* sweep_resume.h - finds out whether an interrupted sweep can go on here, and with what.
 *
 * Who calls: cmd_sweep.c for --resume, before anything is measured. Its answer is the sweep as it
 * was begun; measuring what is missing is sweep_run.h.
 */
#ifndef SCHEDLAB_SWEEP_RESUME_H
#define SCHEDLAB_SWEEP_RESUME_H

#include "harness/sweep_file.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct sweep_resume {
    const char *folder; /* of the run */
    const char *file;   /* what the user says the sweep file is; NULL: the run's copy of it */
    bool force;         /* go on in spite of differences */

    /* Results. */
    bool quick, hyperfine; /* options of the beginning */
};

/* The sweep with the options of the run's beginning, to be freed; NULL and one line in error if
 * sweep file, program or machine are not what they were. With force each difference is a line on
 * messages and an entry of `resumed` in the run's environment.json, and another sweep file takes
 * the place of the run's copy: its numbers count, but the seed stays. */
struct sweep_file *sweep_resume_load(struct sweep_resume *resume, FILE *messages, char *error,
                                     size_t error_size);

#endif
