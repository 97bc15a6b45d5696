/* tables.h - the statistics stage: samples.jsonl in, seven .tsv files out.
 *
 * Callers: report, before it draws. Reads only samples.jsonl and plan.json, so that running it
 * again gives the same bytes. The columns are those of results/README.md; beyond it:
 *
 * - One row per group that holds the cell; group is `-` for samples taken outside sweeps.
 * - A cell with a failed sample is `failed` and has no median: a scheduler that is wrong once in a
 * while has no speed. `reason` says how many samples failed and why the first one did. Digests
 * are judged over all records first (records.h).
 * - `status` of a cell is `ok`, `failed` or `skipped`. The numbers of a cell, in all tables, come
 *   from the samples of its `class` (comparable.h), n of them; n_all counts all that are ok.
 * - `quantile` is a number from 0 to 1, where 1 is the maximum. Each row is the median over samples
 *   of the sample's own quantile. A quantile that a sample has too few latencies for is left out.
 * - Rows are sorted by group, workload, workers, variant, as text but for workers; samples.tsv then
 *   by seed, which tells the runs of a merged one apart, and by block. The order
 *   in which a sweep lists its groups is in its sweep.yaml.
 */
#ifndef SCHEDLAB_TABLES_H
#define SCHEDLAB_TABLES_H

#include "harness/base/error.h"

/* Writes samples.tsv, cells.tsv, classes.tsv, metg.tsv, scale.tsv, structures.tsv, events.tsv and
 * latency.tsv into run_dir, and outside.tsv where samples were timed from outside, each complete or
 * not at all. 0, or -1 and one line in error. */
int tables_write(const char *run_dir, struct error *error);

#endif
