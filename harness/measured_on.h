/* measured_on.h - on which machines the native samples of a run were measured, where it was not
 * only the one that began it.
 *
 * Who calls: unit_store.c and sweep_run.c, which mark what they measure; sweep_run.c and merge.c,
 * which put the list into environment.json; compare.c, which compares two of them; figures.c and
 * report_environment.c, which print it.
 *
 * A record that names no machine is of the one that environment.json describes. Simulated samples
 * are of no machine.
 */
#ifndef SCHEDLAB_MEASURED_ON_H
#define SCHEDLAB_MEASURED_ON_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

/* Sets `host` and `cpu` of the object to this machine's. */
void measured_on_mark(json_t *object);

/* Counts a record in machines, an object of measured_on_to_json()'s content by host and processor.
 * Not simulated ones, and no record of a sample of which nobody measured anything. */
void measured_on_note(json_t *machines, const json_t *record);

/* [{"host": name, "cpu": model, "samples": how many}, ...], sorted; those that name no machine are
 * of processor `cpu`. NULL if none does name one. */
json_t *measured_on_to_json(const json_t *machines, const char *cpu);

/* The processors of machines, each once, sorted, with " and " between them; those of records that
 * name none are `cpu`. "" if there is none. free() it. */
char *measured_on_processors(const json_t *machines, const char *cpu);

/* Puts the list into the environment.json of the run in the folder, if it is one. False and one
 * line in error if it cannot. */
bool measured_on_write(const char *folder, const json_t *machines, char *error, size_t error_size);

/* The processors of a run as its environment.json tells: those of `measured_on`, or else that of
 * the machine. "unknown" if it says nothing. free() it. */
char *measured_on_text(const json_t *environment);

#endif
