/* sweep_origin.h - the origin of a run, for comparing it with another run's or with this program.
 *
 * Callers: cmd_sweep.c to begin a run, sweep_resume.c and sweep_run.c to go on with one, merge.c
 * to join some. A run's origin is its sweep.yaml and environment.json. Samples of one run must come
 * from one program on one machine, or a difference between its cells would have two causes.
 */
#ifndef SCHEDLAB_SWEEP_ORIGIN_H
#define SCHEDLAB_SWEEP_ORIGIN_H

#include "harness/base/error.h"
#include "harness/plan/sweep_file.h"

#include <jansson.h>
#include <stdbool.h>

enum { FINGERPRINT_SIZE = 17 };

/* 16 hex digits of FNV-1a over the bytes of a file. False and one line in error if it cannot be
 * read. */
bool sweep_origin_fingerprint(const char *path, char fingerprint[FINGERPRINT_SIZE],
                              struct error *error);

/* The environment.json of a run, owned by the caller. NULL and one line in error if there is none,
 * or none with the keys that a sweep adds. */
json_t *sweep_origin_read(const char *folder, struct error *error);

/* Replaces the file's machine by that of an option, if the run was begun with one. */
void sweep_origin_apply_machine(const json_t *environment, struct sweep_file *sweep);

/* Replaces the file's numbers by those in force when the run began. */
void sweep_origin_apply(const json_t *environment, struct sweep_file *sweep);

/* The sweep that the run in the folder was begun with: its copy of the sweep file, with the options
 * and the seed of its beginning. NULL and one line in error if there is none. */
struct sweep_file *sweep_origin_load(const char *folder, struct error *error);

/* Facts in an environment about the program or the machine. */
enum origin_part {
    ORIGIN_REVISION, /* of the sources */
    ORIGIN_COMPILER,
    ORIGIN_FLAGS,
    ORIGIN_CPU,
    ORIGIN_PARTS
};

/* "compiler", for messages. */
const char *sweep_origin_part_name(enum origin_part part);

/* The part as text; "unknown" if the environment does not have it. */
const char *sweep_origin_part(const json_t *environment, enum origin_part part);

/* The processor of native samples of this seed that name none: that of the run; in a merged one, of
 * the part that has the seed. "unknown" if the environment does not tell. */
const char *sweep_origin_cpu(const json_t *environment, json_int_t seed);

#endif
