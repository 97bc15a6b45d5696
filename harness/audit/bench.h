/* bench.h - the project's claims about cost as ratios, each from one interleaved run.
 *
 * Callers: cmd_bench.c. It gives no absolute times, since machines differ in those. Claims can only
 * be about ratios of times that were measured side by side. Four kinds:
 *
 *   speed      of a run with other runtimes and floors (peers.yaml): each variant over the best of
 *              them, as the run's report has it
 *   counting   of a run whose cells were measured with events and without (bench-counters.yaml):
 *              time per operation with, over time without; at most COUNTING_COST_MAX - 1 is
 *              claimed. Undisturbed samples of one core distance are compared, as in compare.h
 *   simulator  measured there and then: what the simulated machine costs on this one, for the same
 *              work; it takes the host's time alone, so no run's folder tells it
 *   operation  of the JSON of `schedlab micro --benchmark_repetitions=N`: time of an operation over
 *              that of its floor (micro.h), from the same process
 *
 * A ratio is that of two medians, with its bootstrap interval (statistics.h).
 */
#ifndef SCHEDLAB_BENCH_H
#define SCHEDLAB_BENCH_H

#include "harness/base/error.h"
#include "harness/numbers/statistics.h"
#include "harness/records/records.h"

#include <jansson.h>
#include <stdio.h>

#define COUNTING_COST_MAX 1.02

/* An array as of report_peers_to_json(), owned by the caller; NULL and one line in error if the
 * folder is no run, or has neither peers nor floors. Writes the run's tables (tables.h). *flaws has
 * the lines that are left out of the records. */
json_t *bench_speed(const char *run_folder, struct record_flaws *flaws, struct error *error);

/* As tables, one per group. */
void bench_speed_print(FILE *to, const json_t *lines);

/* The ratios as JSON: an array of {what, over, ratio, lo, hi, n}, owned by the caller. Ratios of
 * counting also have `class`, `claim` and `stop`. `class` is as in comparable.h; "mixed" if no core
 * distance has enough samples of both. `claim` is "holds" if the whole interval is below
 * COUNTING_COST_MAX, "broken" if all of it is above, else "open". It is "open" too with few
 * samples, where distances mix, and where events seem to have made it faster by more than that.
 * `stop` is why measuring both ended (plan.json; "" without one). NULL and one line in error if the
 * file cannot be read or has nothing to compare; *flaws as above. */
json_t *bench_counting(const char *run_folder, struct record_flaws *flaws, struct error *error);

/* floor_of: the name of the floor of a benchmark, NULL if it has none. */
json_t *bench_operations(const char *path, const char *(*floor_of)(const char *benchmark),
                         struct error *error);

/* Two ratios: CPU time of simulator processes over the time of the same work on one worker here;
 * and the simulator's time per access of a 64-core machine over a 1-core one. So many samples of
 * each, in shuffled blocks. NULL and one line in error if a sample fails. On the main thread;
 * child.h. */
json_t *bench_simulator(unsigned blocks, struct error *error);

/* One such row, owned by the caller. Pre: the ratio is a number. */
json_t *bench_row(const char *what, const char *over, struct interval ratio);

/* As a table; title stands above it. */
void bench_print(FILE *to, const char *title, const json_t *ratios);

#endif
