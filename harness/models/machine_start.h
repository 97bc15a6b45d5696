/* machine_start.h - on which machine a sample runs: this one, or a simulated one. The latter is
 * another program built from the same sources (CONFIG=sim): "schedlab-sim", beside the one that
 * starts it.
 *
 * Callers: run, sweep and sample_server.c, which start that program; sample.c and counters*.c,
 * which are the same in both and ask here what is different.
 */
#ifndef SCHEDLAB_MACHINE_START_H
#define SCHEDLAB_MACHINE_START_H

#include "harness/base/error.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Why an event or a fact of the host is absent on a simulated machine. */
#define MACHINE_SIMULATED_ABSENT "the machine is simulated; this would be the host's"

/* True if this program is the one that runs samples on simulated machines. */
bool machine_text_is_simulated(const char *text);

/* Is this program the one that runs samples on the simulated machine? */
bool machine_is_simulated(void);

/* The path of the program that runs samples on simulated machines: this one, if it does; else the
 * one beside `program` (NULL: this one). From the first call on the latter stays open, and the path
 * is that of the open file. False and one line in error if there is none. */
bool machine_sim_program(const char *program, char *path, size_t path_size, struct error *error);

/* The same for real threads that record what schedulers do: "schedlab-trace" (CONFIG=trace). */
bool machine_trace_program(const char *program, char *path, size_t path_size, struct error *error);

/* Beside this one, the program that looks for wrong schedules: "schedlab-hunt" (CONFIG=hunt). */
bool machine_hunt_program(char *path, size_t path_size, struct error *error);

/* Runs fn(arg) on the machine: natively, here; else as the first thread of the simulated machine
 * that spec describes. False and one line in error if this program is not for it. Once in the life
 * of the process. */
struct machine_spec;
bool machine_start(const struct machine_spec *spec, uint64_t seed, void (*fn)(void *arg), void *arg,
                   struct error *error);

/* Fills cpus with the ids of up to max cores, in the order in which workers should take them. */
int machine_pick_cpus(int *cpus, int max);

/* Sets groups[i] to the number, from 0 on, of the last cache (L3) that cpus[i] shares. Returns how
 * many different ones there are. */
int machine_groups(const int *cpus, int count, int32_t *groups);

/* Time that threads have been on cores, all of them together: of the process natively, else of the
 * simulated machine. */
int64_t machine_busy_ns(void);

/* Adds keys to the record of a sample on `spec` that tell its machine: model, a hash of all its
 * values; cores; lookahead_ps. Adds nothing for a native one. Pre: spec is canonical, or NULL. A
 * program that runs simulated machines takes the one that runs. */
void machine_record_model(json_t *record, const char *spec);
struct sim_model;
void machine_record_values(json_t *record, const struct sim_model *model);

/* Before machine_start(): makes the cores of the simulated machine take steps in turns, as
 * sim/lockstep.h says; time does not pass otherwise. In "help:0,0,1" the word "help" means the
 * steps of help-first children; "work" means those of goroutines and work-first children. The
 * numbers say whose turn it is; after them, cores 0 to the largest number take turns. False and one
 * line in error if text is wrong, or there is no such machine. */
bool machine_lock_step(const char *text, struct error *error);

/* Keeps the first `most` events of schedulers (runtime/events.h) from now on. Real threads record
 * the first `recorded` of them, with what else is told of requests. Call it before machine_start().
 * False in programs on real threads that record nothing. */
bool machine_events_keep(size_t most, size_t recorded);

/* Writes those kept to `to`, after the sample: sched_trace.h has the format. */
void machine_events_write(FILE *to);

/* Adds to the record of a sample how many events happened, and a hash of all of them and their
 * times. Nothing natively. */
void machine_record_events(json_t *record);

/* The seed of a repetition on a simulated machine; the first one has `seed` itself. Natively,
 * repetitions of one seed differ by themselves; simulated ones do not. */
uint64_t machine_rep_seed(uint64_t seed, unsigned repetition);

#endif
