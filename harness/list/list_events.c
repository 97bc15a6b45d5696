/* list_events.c - the events that can be counted, by source. See list_topics.h. */
#include "harness/base/json_fields.h"
#include "harness/base/memory.h"
#include "harness/counters/counter_names.h"
#include "harness/counters/sim_events.h"
#include "harness/list/list_json.h"
#include "harness/list/list_topics.h"
#include "harness/spec/peer_table.h"
#include "harness/spec/spec.h"
#include "sched.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COLUMN = 30, TEXT_SIZE = 1024 };

static const struct {
    const char *source, *title;
} sources[] = {
    {"sde", "sde: the program's own, of scheduler and process (" COUNTER_SDE_PREFIX
            "NAME; the prefix may be left out)"},
    {"sim", "sim: of simulated machines (--machine=sim:MODEL)"},
    {"soft", "soft: the kernel's"},
    {"pmu", "pmu: the processor's"},
};

/* Why all events of that source are absent here; NULL if one is not, or for another reason. */
static const char *absence_of_all(const json_t *events, const char *source)
{
    const char *why = NULL;
    json_each(event, events) {
        const char *absent = field_text(event, "absent");
        if (strcmp(field_text(event, "source"), source) != 0)
            continue;
        if (!*absent || (why && strcmp(why, absent) != 0))
            return NULL;
        why = absent;
    }
    return why;
}

static void print_source(const struct list_page *page, const json_t *events, const char *source,
                         const char *title)
{
    const char *all = absence_of_all(events, source);
    bool simulated = all && strcmp(all, SIM_EVENTS_ABSENT) == 0;
    putchar('\n');
    page_heading(page, "%s", title);
    if (all && !simulated)
        page_field(page, "absent here:", all);
    json_each(event, events) {
        char text[TEXT_SIZE];
        const char *absent = all ? "" : field_text(event, "absent");
        if (strcmp(field_text(event, "source"), source) != 0)
            continue;
        snprintf(text, sizeof text, "%s%s%s", field_text(event, "help"),
                 *absent ? "; absent here: " : "", absent);
        char *name =
            text_format("%c %s", json_is_true(json_object_get(event, "default")) ? '*' : ' ',
                        counter_short_name(field_text(event, "name")));
        page_row(page, COLUMN, name, text);
        free(name);
    }
}

/* One sentence on the kernel's events, if they can be had, but not where threads come and go. */
static void print_inheritance(const struct list_page *page, const json_t *events)
{
    char text[TEXT_SIZE] = "In";
    const char *why = NULL;
    const struct sched_ops *ops;
    json_each(event, events) {
        const char *absent = field_text(event, "absent_inherited");
        if (*absent && strcmp(field_text(event, "source"), "soft") == 0)
            why = absent;
    }
    if (!why)
        return;
    for (size_t i = 0; (ops = spec_variant(i)); i++)
        if (ops->thread_per_g && !peer_is(ops))
            snprintf(text + strlen(text), sizeof text - strlen(text), " %s", ops->name);
    snprintf(text + strlen(text), sizeof text - strlen(text),
             ", with a thread per goroutine, perf:: events are absent here (%s); "
             "PROCESS_* stand in for all but migrations.",
             why);
    putchar('\n');
    page_text(page, 0, text);
}

void list_events_print(const struct list_page *page)
{
    json_t *counting = list_events_to_json();
    const json_t *events = json_object_get(counting, "events");
    char title[128]; /* its width depends on what the machine lets one count */
    snprintf(title, sizeof title,
             "Events that --events can name, counted in %s code (*: without --events, too)",
             field_text(counting, "domain"));
    page_text(page, 0, title);
    for (size_t i = 0; i < sizeof sources / sizeof sources[0]; i++)
        print_source(page, events, sources[i].source, sources[i].title);
    print_inheritance(page, events);
    putchar('\n');
    page_text(page, 0,
              "Other PAPI presets and native events can be named too; papi_avail and "
              "papi_native_avail list them. `schedlab list NAME` explains one of these.");
    json_decref(counting);
}
