/* best_peer.c - see best_peer.h. */
#include "harness/answers/best_peer.h"

#include "harness/spec/peer_table.h"

#include <math.h>
#include <string.h>

bool best_peer_any(const struct report_group *group)
{
    for (size_t i = 0; i < group->count; i++)
        if (peer_is_name(group->cells[i].variant))
            return true;
    return false;
}

static const struct report_cell *faster(const struct report_cell *a, const struct report_cell *b)
{
    return a && a->throughput.median >= b->throughput.median ? a : b;
}

bool best_peer_next(const struct report_group *group, size_t *at, struct best_peer *line)
{
    if (*at == group->count)
        return false;
    const struct report_cell *first = &group->cells[*at];
    *line = (struct best_peer){.cells = first};
    for (; *at < group->count; ++*at, line->count++) {
        const struct report_cell *cell = &group->cells[*at];
        if (strcmp(cell->workload, first->workload) != 0 || cell->workers != first->workers)
            break;
        if (!report_cell_ok(cell))
            continue;
        if (peer_is_name(cell->variant))
            line->best = faster(line->best, cell);
        if (peer_is_floor_name(cell->variant))
            line->floor = faster(line->floor, cell);
    }
    return true;
}

struct peer_ratio best_peer_ratio(const struct report_cell *cell,
                                  const struct report_cell *reference)
{
    const struct report_cell *const both[] = {cell, reference};
    struct class_choice choice = report_choose_class(both, 2);
    struct peer_ratio ratio = {{NAN, NAN, NAN, 0}, choice.chosen};
    size_t n, m;
    const double *x = report_cell_samples(cell, choice.chosen, &n);
    const double *y = report_cell_samples(reference, choice.chosen, &m);
    if (!choice.unlike)
        ratio.ratio = statistics_ratio(x, n, y, m, STATISTICS_SEED);
    return ratio;
}
