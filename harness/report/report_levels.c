/* report_levels.c - misses of each level of cache, simulated, and counted on real threads. See
 * report_page.h.
 */
#include "harness/base/text.h"
#include "harness/doc/doc.h"
#include "harness/doc/html.h"
#include "harness/models/machine_start.h"
#include "harness/numbers/units.h"
#include "harness/report/report_page.h"

#include <math.h>
#include <string.h>

enum { LEVELS = 3, COLUMNS = 1 + 2 * LEVELS + 1 };

static const char *const simulated_names[LEVELS] = {"SIM_L1D_MISS", "SIM_L2_MISS", "SIM_L3_MISS"};
static const char *const counted_names[LEVELS] = {"PAPI_L1_DCM", "PAPI_L2_TCM", "PAPI_L3_TCM"};

/* A count is of the same order of size as another one within this factor. */
static const double NEAR = 2;

/* NAN if it was not counted. */
static double misses_of(const struct report_cell *cell, const char *name)
{
    const struct report_event *event = cell ? report_event_find(cell, name) : NULL;
    return event ? event->per_op.median : NAN;
}

/* The same work on as many real threads, with the event if any such cell has it; NULL: nowhere. */
static const struct report_cell *native_find(const struct report *report,
                                             const struct report_cell *cell)
{
    const struct report_cell *found = NULL;
    for (size_t i = 0; i < report->cells_count; i++) {
        const struct report_cell *other = &report->cells[i];
        if (machine_text_is_simulated(other->machine) || other->workers != cell->workers ||
            strcmp(other->variant, cell->variant) != 0 ||
            strcmp(other->workload, cell->workload) != 0)
            continue;
        if (isfinite(misses_of(other, counted_names[0])))
            return other;
        found = found ? found : other;
    }
    return found;
}

/* How far both agree on L1 misses. */
struct agreement {
    size_t cells, near;               /* with both counts; of them within NEAR */
    size_t pairs, alike;              /* of variants on the same work; of them in the same order */
    const struct report_cell *native; /* any that stands beside a simulated one */
};

/* The order of this cell and all earlier ones of the same work. */
static void order_add(struct agreement *agreement, const struct report *report,
                      const struct report_group *group, size_t at)
{
    const struct report_cell *cell = &group->cells[at];
    double simulated = misses_of(cell, simulated_names[0]);
    double counted = misses_of(native_find(report, cell), counted_names[0]);
    for (size_t i = 0; i < at; i++) {
        const struct report_cell *other = &group->cells[i];
        double other_counted = misses_of(native_find(report, other), counted_names[0]);
        if (other->workers != cell->workers || strcmp(other->workload, cell->workload) != 0 ||
            !isfinite(other_counted))
            continue;
        agreement->pairs++;
        agreement->alike +=
            (misses_of(other, simulated_names[0]) < simulated) == (other_counted < counted);
    }
}

static struct agreement agreement_of(const struct report *report, const struct report_group *group)
{
    struct agreement agreement = {.cells = 0};
    for (size_t i = 0; i < group->count; i++) {
        const struct report_cell *native = native_find(report, &group->cells[i]);
        double simulated = misses_of(&group->cells[i], simulated_names[0]);
        double counted = misses_of(native, counted_names[0]);
        if (native && !agreement.native)
            agreement.native = native;
        if (!isfinite(counted) || !isfinite(simulated))
            continue;
        agreement.cells++;
        agreement.near += simulated <= NEAR * counted && counted <= NEAR * simulated;
        order_add(&agreement, report, group, i);
    }
    return agreement;
}

static void agreement_write(FILE *to, const struct report *report, const struct report_group *group)
{
    struct agreement agreement = agreement_of(report, group);
    if (!agreement.native)
        return;
    if (agreement.cells > 0) {
        html_put(to,
                 "<p>On %zu cells both machines have a count. The L1 misses of %zu of them are "
                 "within a factor of %.0f of each other. Of %s of variants on the same work, %zu "
                 "have the same "
                 "order.</p>",
                 agreement.cells, agreement.near, NEAR,
                 counted((uint64_t)agreement.pairs, "pair").s, agreement.alike);
        return;
    }
    const struct report_event *event = report_event_find(agreement.native, counted_names[0]);
    html_put(to,
             "<p>Nothing counted stands beside these: %s is missing on this machine%s%s. How far "
             "simulated and counted misses agree is not known here.</p>",
             counted_names[0], event && event->absent ? ": " : "",
             event && event->absent ? event->absent : "");
}

static void row_write(FILE *to, const struct report *report, const struct report_cell *cell)
{
    const struct report_cell *native = native_find(report, cell);
    html_put(to, "<tr><th scope='row'>%s</th><td class='number'>%d</td>", cell->variant,
             cell->workers);
    for (int i = 0; i < LEVELS; i++)
        html_put(to, "<td class='number'>%s</td><td class='number'>%s</td>",
                 text_count(misses_of(cell, simulated_names[i])).s,
                 text_count(misses_of(native, counted_names[i])).s);
    html_put(to, "</tr>");
}

void report_levels_write(FILE *to, const struct report *report, const struct report_group *group)
{
    struct report_span span = {0};
    html_put(to, "<details class='print' open=''><summary>Misses of each level of cache"
                 "</summary><p class='note'>Misses per operation. sim: on the simulated machine. "
                 "here: what the processor of this one counted for the same work on as many "
                 "workers; - where it has no such count, or the work was not measured so.</p>");
    agreement_write(to, report, group);
    html_table_open(to, "Cache misses per operation, simulated and counted here", "numbers");
    html_thead(to, (const char *const[]){"variant", "#workers", "#L1, sim", "#here", "#L2, sim",
                                         "#here", "#L3, sim", "#here", NULL});
    while (report_next_workload(group, &span)) {
        html_put(to,
                 "<tbody><tr><th scope='rowgroup' colspan='%d'><span class='name'>%s</span></th>"
                 "</tr>",
                 COLUMNS, span.workload);
        for (size_t i = span.first; i < span.end; i++)
            if (report_cell_ok(&group->cells[i]))
                row_write(to, report, &group->cells[i]);
        html_put(to, "</tbody>");
    }
    html_table_close(to);
    html_put(to, "</details>");
}
