/* export.h - a run's samples in the formats of other tools.
 *
 * Callers: cmd_export.c. Like tables.c it reads samples.jsonl, and environment.json where there
 * is one, and judges digests over all records first, so that a sample which did the wrong work is
 * exported as failed.
 *
 * A value that a format has no number for is left out and counted, and never becomes a zero.
 * Formats made for comparing hold what the report compares (comparable.h): of each cell the
 * unmarked samples of one core distance. Distances are exported separately, if there are enough
 * samples of each; the other samples are left out and counted. If no distance of a cell has enough,
 * all its samples stand together, as distance `all` if marked ones or several distances are among
 * them. near and far are learnt from the run, so that those of two runs are the same only if
 * line_ns is; `schedlab compare` learns them from both.
 *
 *   gbench     JSON of Google Benchmark: every sample is a repetition of its cell,
 *              VARIANT/WORKLOAD/workers:N, then /side:S in a run of sides and /events:E+E+... where
 *              cells differ in those alone, then /distance:D of cells that have distances, in
 *              nanoseconds per operation; events per operation, and line_ns, are its user
 *              counters; `label` is "disturbed" of marked samples. cpu_time is the event
 *              PROCESS_CPU_NS, else perf::TASK-CLOCK, else the record's cpu_ns; samples of peers
 *              have none.
 *   benchstat  text as `go test -bench` prints it: one line per sample,
 *              BenchmarkVARIANT/WORKLOAD/P=N-N OPS NS ns/op, with /side=S and /events=E+E+...
 *              before /P likewise, then latencies as VALUE pQ-ns, VALUE line-ns, events as VALUE
 *              NAME/op and peaks as VALUE NAME; a line `distance: D` before those of each
 *              distance, which benchstat has in tables of their own
 *   csv        RFC 4180: one line per sample, failed and skipped ones too; a column for each key of
 *              the records, parts of objects as key.part, events as event.NAME and
 *              event.NAME.per_op, and `distance`; absent is empty
 *   tidy       RFC 4180: one line per sample and metric, in the columns cell, variant, workload,
 *              workers, machine, block, status, disturbed, distance, metric and value. Metrics are
 *              throughput (operations a second), ns_per_op, latencies as p50_ns, and events by
 *              their short names: per operation, or of peaks the value. An absent one, and
 *              throughput of a sample that is not ok, has an empty value
 */
#ifndef SCHEDLAB_EXPORT_H
#define SCHEDLAB_EXPORT_H

#include "harness/base/error.h"
#include "harness/records/records.h"

#include <stddef.h>
#include <stdio.h>

enum export_format { EXPORT_GBENCH, EXPORT_BENCHSTAT, EXPORT_CSV, EXPORT_TIDY };

struct export_result {
    size_t samples;     /* written */
    size_t without_cpu; /* gbench: written without cpu_time */

    /* Left out of what is made for comparing: */
    size_t failed;    /* of cells that failed or were skipped */
    size_t disturbed; /* marked */
    size_t rare;      /* of no one distance, or of one with too few of the cell */

    size_t together; /* cells of which it holds marked samples, or several distances, as one */
    struct record_flaws flaws;
};

/* Writes the samples of the run in folder. 0, or -1 and one line in error if the records cannot be
 * read; errors of `to` are in ferror(). */
int export_run(const char *folder, enum export_format format, FILE *to,
               struct export_result *result, struct error *error);

#endif
