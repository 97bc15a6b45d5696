/* hunt_story.c - see hunt_story.h. */
#include "harness/hunter/hunt_story.h"

#include "harness/base/error.h"
#include "harness/base/text.h"
#include "harness/hunter/hunt_switches.h"

enum { EVENT_SIZE = 160, NAME_SIZE = 32 };
enum { SWITCHES_SHOWN = 8 }; /* of an execution that was not minimised */
enum { EVENTS_SHOWN = 6 };   /* at the begin and at the end of what lies between two switches */

/* Goes through an execution; each event is told before it is applied. */
struct teller {
    const struct trace_page *page;
    struct trace_state state;
    size_t at;
    int last_thread; /* whose name stands above; -1: nobody's */
};

static void event_print(struct teller *teller)
{
    const struct sched_trace_event *event = &teller->page->trace.event[teller->at];
    char text[EVENT_SIZE], who[NAME_SIZE];
    if (event->core != teller->last_thread)
        printf("  thread %d\n", event->core);
    teller->last_thread = event->core;
    printf("    %-4s %s\n", trace_who(&teller->state, event, who, sizeof who),
           trace_event_text(&teller->state, event, text, sizeof text));
}

/* Up to that event, without those in the middle. */
static void events_print(struct teller *teller, size_t end)
{
    size_t first = teller->at;
    bool all = end - first <= 2 * EVENTS_SHOWN + 1;
    for (; teller->at < end; teller->at++) {
        if (all || teller->at < first + EVENTS_SHOWN || teller->at >= end - EVENTS_SHOWN) {
            event_print(teller);
        } else if (teller->at == first + EVENTS_SHOWN) {
            printf("    ... %s\n", counted(end - first - (size_t)2 * EVENTS_SHOWN, "event").s);
        } else {
            teller->last_thread = teller->page->trace.event[teller->at].core;
        }
        trace_state_apply(&teller->state, &teller->page->trace.event[teller->at]);
    }
}

static struct teller teller_begin(const struct trace_page *page)
{
    struct teller teller = {.page = page, .last_thread = -1};
    trace_state_init(&teller.state, &page->trace, page->by_m, page->workers);
    return teller;
}

/* Up to that event, untold. */
static void events_skip(struct teller *teller, size_t end)
{
    for (; teller->at < end; teller->at++)
        trace_state_apply(&teller->state, &teller->page->trace.event[teller->at]);
}

/* From that switch on, and from what came before it since the last one. */
static void story_print(const struct hunt_trace *trace, size_t first)
{
    struct teller teller = teller_begin(&trace->page);
    struct source_lines *lines = source_lines_open();
    if (first > 0)
        events_skip(&teller, trace->switches[first - 1].events);
    for (size_t i = first; i < trace->switch_count; i++) {
        events_print(&teller, trace->switches[i].events);
        fputs("* ", stdout);
        hunt_switch_print(stdout, lines, &trace->switches[i]);
        teller.last_thread = -1;
    }
    events_print(&teller, trace->page.trace.count);
    source_lines_close(lines);
    trace_state_free(&teller.state);
}

void hunt_story_print(const struct hunt_shown *shown, struct campaign *campaign)
{
    struct error error;
    struct hunt_trace trace;
    if (!hunt_trace_can_show(shown->variant) || !hunt_trace_make(&trace, shown, campaign, &error)) {
        hunt_switches_print(campaign->failure);
        return;
    }
    puts("what happened; each thread goes on for as long as it can, but for the switches (*) that "
         "it takes:");
    story_print(&trace, 0);
    hunt_trace_free(&trace);
}

void hunt_story_end_print(const struct hunt_shown *shown, struct campaign *campaign)
{
    struct error error;
    struct hunt_trace trace;
    if (!hunt_trace_can_show(shown->variant) || !hunt_trace_make(&trace, shown, campaign, &error))
        return;
    puts(
        "the last of what happened; --minimise leaves out the switches (*) that it does not need:");
    story_print(&trace,
                trace.switch_count > SWITCHES_SHOWN ? trace.switch_count - SWITCHES_SHOWN : 0);
    hunt_trace_free(&trace);
}

static json_t *event_to_json(const struct teller *teller)
{
    const struct sched_trace_event *event = &teller->page->trace.event[teller->at];
    char text[EVENT_SIZE], who[NAME_SIZE];
    return json_pack("{si ss ss}", "thread", (int)event->core, "who",
                     trace_who(&teller->state, event, who, sizeof who), "event",
                     trace_event_text(&teller->state, event, text, sizeof text));
}

static void events_to_json(struct teller *teller, size_t end, json_t *told)
{
    for (; teller->at < end; teller->at++) {
        json_array_append_new(told, event_to_json(teller));
        trace_state_apply(&teller->state, &teller->page->trace.event[teller->at]);
    }
}

json_t *hunt_story_to_json(const struct hunt_shown *shown, struct campaign *campaign)
{
    struct error error;
    struct hunt_trace trace;
    if (!hunt_trace_can_show(shown->variant) || !hunt_trace_make(&trace, shown, campaign, &error))
        return json_null();
    struct teller teller = teller_begin(&trace.page);
    struct source_lines *lines = source_lines_open();
    json_t *told = json_array();
    for (size_t i = 0; i < trace.switch_count; i++) {
        events_to_json(&teller, trace.switches[i].events, told);
        json_array_append_new(told, hunt_switch_to_json(lines, &trace.switches[i]));
    }
    events_to_json(&teller, trace.page.trace.count, told);
    source_lines_close(lines);
    trace_state_free(&teller.state);
    hunt_trace_free(&trace);
    return told;
}
