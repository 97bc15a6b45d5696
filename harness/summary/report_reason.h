/* report_reason.h - the sentence behind a win.
 *
 * Callers: report_answers.c and report_json.c.
 */
#ifndef SCHEDLAB_REPORT_REASON_H
#define SCHEDLAB_REPORT_REASON_H

#include "harness/answers/report_data.h"
#include "harness/answers/report_verdict.h"

/* A sentence, to be freed: what the cores of a loser, whose name is *slower, did in the time that
 * the best did not need. The loser is the baseline where the best is shown to be faster; else the
 * next of a winner; else the slowest of those that are slower than several which are not told
 * apart. For a quantile of latencies the sentence says which part of a request takes longer
 * (why_latency.h); quantile NAN: for throughputs. NULL if nobody is shown to be slower, or if the
 * samples do not tell. */
char *report_reason(const struct report *report, const struct report_group *group,
                    const struct verdict *verdict, double quantile, const char **slower);

#endif
