/* compare_print.h - a comparison for people, for programs and for documents.
 *
 * Callers: cmd_compare.c.
 */
#ifndef SCHEDLAB_COMPARE_PRINT_H
#define SCHEDLAB_COMPARE_PRINT_H

#include "harness/tables/compare.h"

#include <jansson.h>
#include <stdio.h>

/* A table of 100 columns at most, without the warnings. */
void compare_print_table(const struct comparison *comparison, FILE *to);

/* The same as a Markdown table, the warnings below it. */
void compare_print_markdown(const struct comparison *comparison, FILE *to);

/* {"schema": 1, "a": {"side", "run", "revision"}, "b": {...}, "alpha", "min_effect_percent",
 *  "metric": {"name", "kind": "throughput"|"latency"|"event", "text", "better": "more"|"less"|
 *  "neither"}, latencies in ns,
 *  "warnings": [text], "pairs": [{"workload", "workers", "variant_a", "variant_b", "class",
 *  "distances_mixed", "n_a", "n_b", "median_a", "median_b", "ratio": {"ratio", "lo", "hi"},
 *  "superiority", "p", "p_adjusted", "verdict", "reason"}], "geomean": {"ratio", "lo", "hi", "n"},
 *  "verdicts": {"faster": n, ...}, "only_a", "only_b"}
 *
 * workload_b and workers_b are there where they differ from A's. Missing values are left out. Owned
 * by the caller. */
json_t *compare_to_json(const struct comparison *comparison);

#endif
