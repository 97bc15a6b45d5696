/* report_what_if.c - what another machine would buy: the cells of a group over those of the same
 * group on the machine that its sweep's what_if makes. See report_page.h.
 */
#include "harness/doc/doc.h"
#include "harness/doc/html.h"
#include "harness/numbers/statistics.h"
#include "harness/numbers/units.h"
#include "harness/plan/plan.h"
#include "harness/report/report_page.h"

#include <math.h>
#include <string.h>

/* The same group on the other machine; NULL if there is none. */
static const struct report_group *other_group(const struct report *report,
                                              const struct report_group *group)
{
    size_t length = strlen(group->id);
    for (size_t i = 0; i < report->groups_count; i++) {
        const char *id = report->groups[i].id;
        if (strncmp(id, group->id, length) == 0 && strcmp(id + length, PLAN_WHAT_IF) == 0)
            return &report->groups[i];
    }
    return NULL;
}

/* By block, whose seeds are the same on both machines, unless samples are missing. All NAN if one
 * of them has no numbers. */
static struct interval ratio_of(const struct report_cell *with, const struct report_cell *without)
{
    if (!report_cell_ok(with) || !report_cell_ok(without))
        return (struct interval){NAN, NAN, NAN, 0};
    if (with->samples_count == without->samples_count)
        return statistics_paired_ratio(with->samples, without->samples, with->samples_count,
                                       STATISTICS_SEED);
    return statistics_ratio(with->samples, with->samples_count, without->samples,
                            without->samples_count, STATISTICS_SEED);
}

static void row_write(FILE *to, const struct report_cell *with, const struct report_cell *without)
{
    struct interval ratio = ratio_of(with, without);
    html_put(to, "<tr><th scope='row'>%s</th><td>%s</td><td class='number'>%d</td>",
             without->variant, without->workload, without->workers);
    if (isfinite(ratio.median)) {
        html_put(to,
                 "<td class='number'>%s</td><td class='number'>%s</td><td "
                 "class='number'>%s</td><td class='range'>%s</td>",
                 text_si(without->throughput.median).s, text_si(with->throughput.median).s,
                 text_ratio(ratio.median).s, text_ratio_interval(ratio).s);
    } else {
        for (int i = 0; i < 4; i++)
            html_put(to, "<td class='number'>-</td>");
    }
    html_put(to, "</tr>");
}

void report_what_if_write(FILE *to, const struct report *report, const struct report_group *group)
{
    const struct report_group *other = other_group(report, group);
    if (!other || other->count == 0)
        return;
    html_put(to,
             "<details class='print' open=''><summary>What if: what another machine would "
             "buy</summary><p class='note'>Throughput on %s over that on %s. A structure that is "
             "free costs a hit in L1 at each access, and nothing else changes: a lock still lets "
             "in one at a time.</p>",
             other->cells[0].machine, group->cells[0].machine);
    html_table_begin(to, "Throughput with the change over throughput without", "numbers",
                     (const char *const[]){"variant", "workload", "#workers", "#without", "#with",
                                           "#with over without", "95 % interval", NULL});
    for (size_t i = 0; i < group->count; i++) {
        const struct report_cell *cell = &group->cells[i];
        const struct report_cell *with =
            report_cell_find(other, cell->variant, cell->workload, cell->workers);
        if (with)
            row_write(to, with, cell);
    }
    html_table_end(to);
    html_put(to, "</details>");
}
