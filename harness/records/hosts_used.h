/* hosts_used.h - the machines that measured the native samples of a run, if others than the one
 * that began it did.
 *
 * Callers: cell_store.c and sweep_fetch.c, which mark what they measure; sweep_run.c and merge.c,
 * which put the list into environment.json; compare.c, which compares two of them; figures.c and
 * report_environment.c, which print it.
 *
 * A record that names no machine is of the one that environment.json describes. Simulated samples
 * are of no machine.
 */
#ifndef SCHEDLAB_HOSTS_USED_H
#define SCHEDLAB_HOSTS_USED_H

#include "harness/base/error.h"

#include <jansson.h>
#include <stdbool.h>

/* Sets `host` and `cpu` of the object to this machine's. */
void hosts_used_mark(json_t *object);

/* Counts a native record that is ok in machines, an object that is empty at first; cpu is the
 * processor of those that name none. */
void hosts_used_note(json_t *machines, const json_t *record, const char *cpu);

/* [{"host": name, "cpu": model, "samples": how many}, ...], sorted. NULL if it is one processor and
 * no host is named. */
json_t *hosts_used_to_json(const json_t *machines);

/* The processors of machines, each once, sorted, with " and " between them; "" if there is none.
 * free() it. */
char *hosts_used_processors(const json_t *machines);

/* Puts the list into the environment.json of the run in the folder, unless it is NULL. Machines
 * noted with "" are of its processor. False and one line in error if it cannot. */
bool hosts_used_write(const char *folder, const json_t *machines, struct error *error);

/* The processors of a run as its environment.json tells: those of `measured_on`, or else that of
 * the machine. "unknown" if it says nothing. free() it. */
char *hosts_used_text(const json_t *environment);

#endif
