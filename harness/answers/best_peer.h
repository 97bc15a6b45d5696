/* best_peer.h - the cells of one workload and number of workers, beside the best other runtime and
 * beside the floor.
 *
 * Callers: report_peers.c and bench_speed.c, with the groups of a loaded report. The best peer is
 * the one with the highest median. The floor is likewise the highest among `serial`, floor:core and
 * the other floors. All cells of a line are of one run and its blocks.
 */
#ifndef SCHEDLAB_BEST_PEER_H
#define SCHEDLAB_BEST_PEER_H

#include "harness/answers/report_data.h"

#include <stdbool.h>
#include <stddef.h>

struct best_peer {
    const struct report_cell *cells; /* one per variant, in catalogue order */
    size_t count;
    const struct report_cell *best;  /* NULL if no peer has a number */
    const struct report_cell *floor; /* NULL if no floor has one */
};

/* True if the group has other runtimes besides floors. */
bool best_peer_any(const struct report_group *group);

/* Steps over the lines of a group: *at is 0 at first. False after the last one. */
bool best_peer_next(const struct report_group *group, size_t *at, struct best_peer *line);

/* Median throughput of the cell over that of the reference, and the class of the samples. NAN if
 * the two were measured at different core distances. pre: both are ok. */
struct peer_ratio {
    struct interval ratio;
    enum cell_class chosen;
};
struct peer_ratio best_peer_ratio(const struct report_cell *cell,
                                  const struct report_cell *reference);

#endif
