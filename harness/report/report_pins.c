/* report_pins.c - what each group's numbers are with another baseline. See report_page.h.
 *
 * All are made here, by the code that makes those of the tables and of `schedlab compare`, so the
 * page's script computes nothing. It shows one of them, and draws it.
 */
#include "harness/answers/report_verdict.h"
#include "harness/base/json_fields.h"
#include "harness/base/units.h"
#include "harness/report/report_page.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Four digits are enough for a figure; a page has thousands of these. */
static void number_add(json_t *array, double number)
{
    char text[32];
    snprintf(text, sizeof text, "%.4g", number);
    if (isfinite(number))
        json_array_append_new(array, json_real(strtod(text, NULL)));
}

/* [ratio, its interval, mark, median, lo, hi]: as the tables have it, and for a figure. */
static json_t *pin_to_json(const struct report_cell *cell, const char *baseline, const char *mark)
{
    struct interval ratio = cell->to_baseline;
    bool is_baseline = strcmp(cell->variant, baseline) == 0;
    const char *beside = is_baseline           ? "baseline"
                         : cell->beside.unlike ? "other distances"
                                               : text_ratio_interval(ratio).s;
    json_t *pin = json_pack("[sss]", text_ratio(ratio.median).s, beside,
                            is_baseline || !mark ? "none" : mark);
    number_add(pin, ratio.median);
    number_add(pin, ratio.lo);
    number_add(pin, ratio.hi);
    return pin;
}

static json_t *pins_of(const struct report_group *group, const char *baseline)
{
    struct report_group pinned = report_group_pinned(group, baseline);
    const char **marks = verdicts_over_baseline(&pinned);
    json_t *pins = json_object();
    for (size_t i = 0; i < pinned.count; i++)
        if (isfinite(pinned.cells[i].to_baseline.median))
            json_object_set_new(pins, pinned.cells[i].id,
                                pin_to_json(&pinned.cells[i], baseline, marks[i]));
    free(marks);
    free(pinned.cells);
    return pins;
}

static json_t *group_to_json(const struct report_group *group)
{
    json_t *pins = json_object();
    for (size_t i = 0; i < group->count; i++)
        if (!json_object_get(pins, group->cells[i].variant))
            json_object_set_new(pins, group->cells[i].variant,
                                pins_of(group, group->cells[i].variant));
    json_t *object = json_pack("{so}", "pins", pins);
    if (group->baseline)
        json_object_set_new(object, "baseline", json_string(group->baseline));
    return object;
}

json_t *report_pins_to_json(const struct report *report)
{
    json_t *groups = json_object();
    for (size_t i = 0; i < report->groups_count; i++)
        json_object_set_new(groups, report->groups[i].id, group_to_json(&report->groups[i]));
    return groups;
}
