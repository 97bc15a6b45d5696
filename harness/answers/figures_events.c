/* figures_events.c - see figures_events.h. */
#include "harness/answers/figures_events.h"

#include "harness/base/memory.h"
#include "harness/spec/knobs.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { EVENTS_MIN = 3, EVENTS_MAX = 8, EVENT_ROWS = 48 };

/* Less than one in a thousand operations is not why one variant is faster than another. */
static const double RATE_MIN = 0.001;

/* Factors -------------------------------------------------------------------------------------- */

/* Variants whose point is something rare, with the counters that show it. */
static const struct {
    const char *variant, *counters;
} own_counters[] = {
    {"contsteal", "STEALS JOINS_STALLED"},
    {"tasksteal", "STEALS JOINS_STALLED"},
};

const char *figures_own_counters(const char *name)
{
    const struct param *knob = knob_find(name);
    if (knob)
        return knob->moves;
    for (size_t i = 0; i < sizeof own_counters / sizeof own_counters[0]; i++)
        if (strcmp(own_counters[i].variant, name) == 0)
            return own_counters[i].counters;
    return NULL;
}

/* True if the list, whose words are separated by spaces, has the word. */
static bool has_word(const char *list, const char *word)
{
    size_t length = strlen(word);
    for (const char *at = list; (at = strstr(at, word)) != NULL; at += length)
        if ((at == list || at[-1] == ' ') && (at[length] == ' ' || at[length] == '\0'))
            return true;
    return false;
}

/* True if the event is one of the counters of the knob "name=..." or "name". */
static bool belongs_to(const char *event, const char *knob)
{
    char name[SWEEP_NAME_MAX];
    const char *last = strrchr(event, ':');
    snprintf(name, sizeof name, "%.*s", (int)strcspn(knob, "=,"), knob);
    const char *counters = figures_own_counters(name);
    return counters && has_word(counters, last ? last + 1 : event);
}

/* True if the event counts what one of the group's knobs does. A knob belongs to the group if any
 * of its specifications names it, even if all set the same value. If the group asks for counts, the
 * counters of its variants belong too. */
static bool is_of_a_factor(const struct report_group *group, const char *event)
{
    for (size_t i = 0; i < group->count; i++) {
        if (group->figure == SWEEP_FIGURE_EVENTS && belongs_to(event, group->cells[i].variant))
            return true;
        for (const char *at = group->cells[i].variant; (at = strchr(at, ',')) != NULL;)
            if (belongs_to(event, ++at))
                return true;
    }
    return false;
}

/* Choice --------------------------------------------------------------------------------------- */

static bool in_group(const struct report_event *event, const struct report_group *group)
{
    return strcmp(event->group, group->id) == 0 &&
           event->workers == report_workers_max(group, event->workload);
}

/* How far the variants are apart on one workload: 0 all alike, 1 some have none of it. */
static double spread(const struct report *report, const struct report_group *group,
                     const char *name, const char *workload)
{
    double lowest = INFINITY, highest = -INFINITY;
    for (size_t i = 0; i < report->events_count; i++) {
        const struct report_event *event = &report->events[i];
        if (strcmp(event->name, name) != 0 || strcmp(event->workload, workload) != 0 ||
            !isfinite(event->per_op.median) || !in_group(event, group))
            continue;
        lowest = fmin(lowest, event->per_op.median);
        highest = fmax(highest, event->per_op.median);
    }
    return highest >= RATE_MIN ? (highest - lowest) / highest : 0;
}

/* How much an event deserves a place in the figure; below zero: it shows nothing. Counters of the
 * group's knobs come first, even if they do not tell the variants apart. Caches follow, since
 * throughput is usually lost there; then the events that differ most between variants. */
static double event_score(const struct report *report, const struct report_group *group,
                          const struct report_event *event)
{
    double sum = 0;
    struct report_span span = {0};
    while (report_next_workload(group, &span))
        sum += spread(report, group, event->name, span.workload);
    if (is_of_a_factor(group, event->name))
        return sum + 1e9;
    bool cache = strcmp(event->source, "pmu") == 0 || strcmp(event->source, "sim") == 0;
    return sum == 0 ? -1 : sum + (cache ? 1e6 : 0);
}

struct candidate {
    const char *name;
    double score;
    size_t place; /* in the file */
    bool chosen;
};

static size_t candidates_find(const struct report *report, const struct report_group *group,
                              struct candidate *candidates)
{
    size_t count = 0;
    for (size_t i = 0; i < report->events_count; i++) {
        const struct report_event *event = &report->events[i];
        bool known = !in_group(event, group) || !isfinite(event->per_op.median);
        for (size_t k = 0; k < count && !known; k++)
            known = strcmp(candidates[k].name, event->name) == 0;
        if (!known)
            candidates[count++] =
                (struct candidate){event->name, event_score(report, group, event), i, false};
    }
    return count;
}

/* How many events a figure shows: one has a row for each variant. */
static size_t events_room(const struct report_group *group)
{
    size_t variants = 0;
    struct report_span span = {0};
    report_next_workload(group, &span);
    for (size_t i = 0; i < span.end; i++)
        variants += group->cells[i].workers == group->cells[0].workers;
    size_t room = EVENT_ROWS / (variants ? variants : 1);
    return room < EVENTS_MIN ? EVENTS_MIN : room > EVENTS_MAX ? EVENTS_MAX : room;
}

/* The chosen ones, those of the factors first. NULL if there are none. */
static char *names_of(const struct report_group *group, const struct candidate *candidates,
                      size_t count)
{
    char *names = NULL;
    for (int of_factor = 1; of_factor >= 0; of_factor--)
        for (size_t i = 0; i < count; i++) {
            char *longer;
            if (!candidates[i].chosen ||
                is_of_a_factor(group, candidates[i].name) != (of_factor == 1))
                continue;
            longer =
                text_format("%s%s%s", names ? names : "", names ? " " : "", candidates[i].name);
            free(names);
            names = longer;
        }
    return names;
}

char *figures_events_choose(const struct report *report, const struct report_group *group)
{
    struct candidate *candidates = xcalloc(report->events_count + 1, sizeof *candidates);
    size_t count = candidates_find(report, group, candidates);
    for (size_t n = events_room(group); n > 0; n--) {
        struct candidate *best = NULL;
        for (size_t i = 0; i < count; i++)
            if (!candidates[i].chosen && candidates[i].score > (best ? best->score : 0))
                best = &candidates[i];
        if (best)
            best->chosen = true;
    }
    char *names = names_of(group, candidates, count);
    free(candidates);
    return names;
}
