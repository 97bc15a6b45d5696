/* latency_view.c - see latency_view.h. */
#include "harness/summary/latency_view.h"

#include "harness/base/memory.h"

#include <math.h>
#include <stdlib.h>

static bool lacks_tails(const struct latency_view *view)
{
    for (size_t i = 0; i < view->count; i++)
        if (view->of_middles[i].competitors > view->of_tails[i].competitors)
            return true;
    return false;
}

struct latency_view latency_view_make(const struct report *report, const struct report_group *group)
{
    struct latency_view view = {.tails = report_tails_make(report, group, VERDICT_TAIL),
                                .middles = report_tails_make(report, group, VERDICT_MIDDLE)};
    view.of_tails = verdicts_make(&view.tails, &view.count);
    view.of_middles = verdicts_make(&view.middles, &view.count);
    view.is_tail = !lacks_tails(&view);
    return view;
}

void latency_view_free(struct latency_view *view)
{
    verdicts_free(view->of_tails, view->count);
    verdicts_free(view->of_middles, view->count);
    report_tails_free(&view->tails);
    report_tails_free(&view->middles);
}

const struct report_group *latency_view_group(const struct latency_view *view)
{
    return view->is_tail ? &view->tails : &view->middles;
}

const struct verdict *latency_view_verdicts(const struct latency_view *view)
{
    return view->is_tail ? view->of_tails : view->of_middles;
}

/* A class's samples as latencies; free() them. */
static double *latencies_make(const struct report_cell *cell, enum cell_class chosen, size_t *n)
{
    const double *x = report_cell_samples(cell, chosen, n);
    double *ns = xcalloc(*n + 1, sizeof *ns);
    for (size_t i = 0; i < *n; i++)
        ns[i] = 1 / x[i];
    return ns;
}

void latency_view_multiples(struct report_group *pinned)
{
    for (size_t i = 0; i < pinned->count; i++) {
        struct report_cell *cell = &pinned->cells[i];
        int workers = pinned->baseline_workers ? pinned->baseline_workers : cell->workers;
        const struct report_cell *base =
            report_cell_find(pinned, pinned->baseline, cell->workload, workers);
        size_t n, m;
        if (!base || base == cell || !isfinite(cell->to_baseline.median))
            continue;
        double *x = latencies_make(cell, cell->beside.chosen, &n);
        double *y = latencies_make(base, cell->beside.chosen, &m);
        cell->to_baseline = statistics_ratio(x, n, y, m, STATISTICS_SEED);
        free(x);
        free(y);
    }
}
