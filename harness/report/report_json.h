/* report_json.h - the answers of a report for programs.
 *
 * Callers: cmd_report.c, for --format json.
 *
 * {"schema": 1, "run", "title", "report": path, "groups": [{"id", "question", "baseline",
 *  "metric": "throughput" or, for questions about latency, "p99 latency", about events, "events",
 *            about numbers of goroutines, "scale"; the last two have no answers, and those about
 *            latency have "answers_p50" besides, by the median,
 *  "answers": [{"workload", "workers", "outcome", "class", "fastest", "tied": [variant],
 *               "slower": [{"variant", "ratio", "lo", "hi"}], "next",
 *               "over_next": {"ratio", "lo", "hi"}, "superiority", "p", "over_baseline": {...}}],
 *  "cells": [{"cell", "variant", "workload", "workers", "status", "reason", "n", "class", "n_all",
 *             "stop", "median", "lo", "hi", "over_baseline": {...}, "speedup": {...}, "efficiency",
 *             "p99": {"ns", "lo", "hi"}, "more_workers_than_cores": true}],
 *  "figures": [path]}],
 *  "peers": see report_peers.h}
 *
 * outcome: "won", "several not told apart", "no difference shown" where none is slower either, "too
 * few samples", "samples of different core distances", "nothing to compare". class: of the samples,
 * see results/README.md. slower: those that the fastest is shown to be faster than, with its
 * multiple of each. superiority and p are of the fastest over the next, see report_verdict.h; of
 * latencies, ratios are how many times shorter. "seen_fastest" is the fastest variant if it has not
 * won. Missing values are left out; "interval": {"absent"} stands for "lo" and "hi".
 */
#ifndef SCHEDLAB_REPORT_JSON_H
#define SCHEDLAB_REPORT_JSON_H

#include "harness/answers/figures.h"
#include "harness/answers/report_data.h"

#include <jansson.h>

/* Owned by the caller. */
json_t *report_to_json(const struct report *report, const struct figures *figures);

#endif
