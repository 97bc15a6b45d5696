/* report_reason.c - see report_reason.h. */
#include "harness/summary/report_reason.h"

#include "harness/evidence/why_latency.h"
#include "harness/evidence/why_win.h"

#include <math.h>
#include <string.h>

/* The one that the sentence is about; NULL: there is none. */
static const struct report_cell *loser(const struct report_group *group,
                                       const struct verdict *verdict)
{
    for (size_t i = 0; group->baseline && i < verdict->slower_count; i++)
        if (strcmp(verdict->slower[i].cell->variant, group->baseline) == 0)
            return verdict->slower[i].cell;
    if (verdict->outcome == VERDICT_WON)
        return verdict->next;
    bool some_are_slower = verdict->outcome == VERDICT_TIED && verdict->slower_count > 0;
    return some_are_slower ? verdict->slower[verdict->slower_count - 1].cell : NULL;
}

char *report_reason(const struct report *report, const struct report_group *group,
                    const struct verdict *verdict, double quantile, const char **slower)
{
    const struct report_cell *cell = loser(group, verdict);
    if (!cell)
        return NULL;
    *slower = cell->variant;
    const json_t *best = json_object_get(report->by_cell, verdict->best->id);
    const json_t *other = json_object_get(report->by_cell, cell->id);
    return isnan(quantile) ? why_win_of(best, other) : why_latency_of(quantile, best, other);
}
