/* report_pins.c - what each group's numbers are with another baseline. See report_page.h.
 *
 * All are made here, by the code that makes those of the tables and of `schedlab compare`, so the
 * page's script computes nothing. It shows one of them, and draws it. A page has thousands of these
 * numbers, so each baseline's are one text: an entry for each cell of the group, in order, with
 * semicolons between. An entry is the ratio, its interval and a letter for the mark, as in
 * "1.76,1.71 1.94,f". It is empty for a cell without a number.
 */
#include "harness/answers/report_verdict.h"
#include "harness/base/memory.h"
#include "harness/numbers/units.h"
#include "harness/report/report_page.h"
#include "harness/summary/latency_view.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* "f" is faster, "s" slower, "n" no difference shown, "w" too few samples, "d" other distances. */
static char mark_letter(const char *mark)
{
    return !mark ? 'n' : strcmp(mark, "few") == 0 ? 'w' : *mark;
}

/* "1.76×" without its sign, "1.71 to 1.94" as its two numbers, "too few" as "t". */
static void entry_write(FILE *to, const struct report_cell *cell, bool is_baseline,
                        const char *mark)
{
    struct text ratio = text_ratio(cell->to_baseline.median);
    struct text beside = text_ratio_interval(cell->to_baseline);
    if (cell->beside.unlike)
        fputs("-,d,d", to);
    if (!isfinite(cell->to_baseline.median))
        return;
    const char *between = strstr(beside.s, " to ");
    fprintf(to, "%.*s,", (int)strcspn(ratio.s, "\303"), ratio.s);
    if (is_baseline)
        fputs("b", to);
    else if (between)
        fprintf(to, "%.*s %s", (int)(between - beside.s), beside.s, between + strlen(" to "));
    else
        fputs(statistics_has_too_few(cell->to_baseline) ? "t" : "", to);
    fprintf(to, ",%c", is_baseline ? 'n' : mark_letter(mark));
}

/* The entries of all cells beside baselines of the same workers; or, beside those of one count, of
 * the cells with another count, since the rest would be the same. */
static json_t *entries_of(const struct report_group *group, const char *baseline, int workers,
                          bool of_latencies)
{
    char *text;
    FILE *to = memory_stream(&text, NULL);
    struct report_group pinned = report_group_pinned(group, baseline, workers);
    const char **marks = verdicts_over_baseline(&pinned);
    if (of_latencies)
        latency_view_multiples(&pinned);
    for (size_t i = 0; i < pinned.count; i++) {
        const struct report_cell *cell = &pinned.cells[i];
        fputs(i > 0 ? ";" : "", to);
        if (!workers || cell->workers != workers)
            entry_write(to, cell, strcmp(cell->variant, baseline) == 0 && !workers, marks[i]);
    }
    fclose(to);
    json_t *entries = json_string(text);
    free(text);
    free(marks);
    free(pinned.cells);
    return entries;
}

static bool has_several_workers(const struct report_group *group)
{
    for (size_t i = 1; i < group->count; i++)
        if (group->cells[i].workers != group->cells[0].workers)
            return true;
    return false;
}

/* Which baselines a page holds. Many variants at many counts of workers would be minutes of
 * bootstraps and megabytes of numbers. */
enum baselines { BASELINES_OWN, BASELINES_OF_SAME_WORKERS, BASELINES_ALL };

enum { ENTRIES_MAX = 20000 };

static enum baselines baselines_of(const struct report_group *group)
{
    json_t *variants = json_object(), *cells = json_object();
    char key[512];
    for (size_t i = 0; i < group->count; i++) {
        const struct report_cell *cell = &group->cells[i];
        snprintf(key, sizeof key, "%.400s %d", cell->variant, cell->workers);
        json_object_set_new(variants, cell->variant, json_true());
        json_object_set_new(cells, key, json_true());
    }
    size_t same = json_object_size(variants) * group->count;
    size_t all = json_object_size(cells) * group->count;
    json_decref(variants);
    json_decref(cells);
    return all <= ENTRIES_MAX    ? BASELINES_ALL
           : same <= ENTRIES_MAX ? BASELINES_OF_SAME_WORKERS
                                 : BASELINES_OWN;
}

/* variant -> workers -> entries; the workers "" are those of each cell. */
static json_t *pins_of(const struct report_group *group, bool of_latencies)
{
    json_t *pins = json_object();
    enum baselines which = baselines_of(group);
    bool several = which == BASELINES_ALL && has_several_workers(group);
    const char *own = group->baseline ? group->baseline : group->cells[0].variant;
    for (size_t i = 0; i < group->count; i++) {
        const struct report_cell *cell = &group->cells[i];
        char workers[32];
        json_t *of = json_object_get(pins, cell->variant);
        if (which == BASELINES_OWN && strcmp(cell->variant, own) != 0)
            continue;
        if (!of) {
            json_object_set_new(pins, cell->variant, of = json_object());
            json_object_set_new(of, "", entries_of(group, cell->variant, 0, of_latencies));
        }
        snprintf(workers, sizeof workers, "%d", cell->workers);
        if (several && !json_object_get(of, workers))
            json_object_set_new(of, workers,
                                entries_of(group, cell->variant, cell->workers, of_latencies));
    }
    return pins;
}

static json_t *group_to_json(const struct report *report, const struct report_group *group)
{
    json_t *cells = json_array();
    for (size_t i = 0; i < group->count; i++)
        json_array_append_new(cells, json_string(group->cells[i].id));
    json_t *object = json_pack("{so so}", "cells", cells, "pins", pins_of(group, false));
    if (group->baseline)
        json_object_set_new(object, "baseline", json_string(group->baseline));
    static const char *const left_out[] = {
        [BASELINES_OWN] = "Other baselines are left out: the group has too many cells.",
        [BASELINES_OF_SAME_WORKERS] =
            "Baselines of other workers are left out: the group has too many cells."};
    if (baselines_of(group) != BASELINES_ALL)
        json_object_set_new(object, "left_out", json_string(left_out[baselines_of(group)]));
    if (report_subject(group) == SWEEP_FIGURE_LATENCY) {
        struct latency_view view = latency_view_make(report, group);
        json_object_set_new(object, "latencies", pins_of(latency_view_group(&view), true));
        latency_view_free(&view);
    }
    return object;
}

json_t *report_pins_to_json(const struct report *report)
{
    json_t *groups = json_object();
    for (size_t i = 0; i < report->groups_count; i++)
        json_object_set_new(groups, report->groups[i].id,
                            group_to_json(report, &report->groups[i]));
    return json_pack("{ss so}", "run", report->run_dir, "groups", groups);
}
