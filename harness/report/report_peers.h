/* report_peers.h - how far each variant is from the best of the other runtimes.
 *
 * Callers: report_page.c and report_json.c. There is a best peer for each workload and number of
 * workers of each group that has peers (peer_table.h): the one with the highest median. A ratio is
 * the median throughput of a variant or another peer over that of the best peer, of samples from
 * the same blocks.
 */
#ifndef SCHEDLAB_REPORT_PEERS_H
#define SCHEDLAB_REPORT_PEERS_H

#include "harness/answers/report_data.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

/* True if the run has any peer. */
bool report_peers_any(const struct report *report);

/* Writes the section of the page; nothing if there is no peer. */
void report_peers_write(FILE *to, const struct report *report);

/* One object per workload and number of workers in which a peer or a floor has a number, of groups
 * that have peers: {group, workload, workers, best, floor, ratios, without}; owned by the caller.
 * best and floor are variants, absent if there is none. ratios: [{variant, ratio, lo, hi, n, class,
 * over_floor: {ratio, lo, hi, n, class}}], where ratio is of throughputs, the variant's over the
 * best peer's, and over_floor of times, the variant's over the floor's; either is absent where
 * there is nothing to compare. without: [{variant, status, reason}], those without numbers. */
json_t *report_peers_to_json(const struct report *report);

#endif
