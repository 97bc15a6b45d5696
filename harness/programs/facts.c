/* facts.c - see facts.h. */
#include "harness/programs/facts.h"

#include "harness/base/memory.h"
#include "harness/base/text.h"
#include "harness/numbers/units.h"
#include "workloads/program.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* For people, and in JSON. */
struct name {
    const char *word, *key;
};

static const struct name readies[READY_KINDS] = {
    [READY_CREATED] = {"started", "started"},
    [READY_WOKEN] = {"woken by goroutines", "woken"},
    [READY_LOCK] = {"woken for a lock", "woken_for_locks"},
    [READY_PEER] = {"since it was written to", "woken_by_writers"},
    [READY_RUNTIME] = {"woken by the runtime", "woken_by_runtime"},
    [READY_STOPPED] = {"preempted, yielded", "stopped"},
};

static const struct name segments[SEGMENTS] = {
    [SEGMENT_PROGRAM] = {"the program", "program"},
    [SEGMENT_RUNTIME] = {"the runtime", "runtime"},
    [SEGMENT_COLLECTOR] = {"the collector", "collector"},
    [SEGMENT_FILTER] = {"excluded by filter", "filtered"},
    [SEGMENT_WAITS] = {"waits for collector", "collector_waits"},
    [SEGMENT_STOPS] = {"the world stopped", "stops"},
};

static const double percents[] = {50, 90, 99, 99.9};
static const char *const percent_keys[] = {"p50_ns", "p90_ns", "p99_ns", "p999_ns"};
enum { PERCENTS = 4, PLACES_SHOWN = 12 };

static struct text time_of(int64_t ns)
{
    return text_time((double)ns);
}

static int compare_reasons(const void *a, const void *b)
{
    const struct import_reason *x = a, *y = b;
    return (x->ns < y->ns) - (x->ns > y->ns);
}

static size_t reasons_sorted(const struct import_facts *facts, struct import_reason *reasons)
{
    memcpy(reasons, facts->reasons, sizeof facts->reasons);
    qsort(reasons, facts->reasons_count, sizeof *reasons, compare_reasons);
    return facts->reasons_count;
}

static int compare_places(const void *a, const void *b)
{
    const struct import_place *x = a, *y = b;
    return (x->ns < y->ns) - (x->ns > y->ns);
}

/* The most time first; free() it. */
static struct import_place *places_sorted(const struct import_facts *facts)
{
    struct import_place *places = xcalloc(facts->places_count, sizeof *places);
    memcpy(places, facts->places, facts->places_count * sizeof *places);
    qsort(places, facts->places_count, sizeof *places, compare_places);
    return places;
}

static void print_cell(struct text text, FILE *to)
{
    fprintf(to, " %*s", text_field(text, 9), text.s);
}

static bool is_known_reason(const struct import_facts *facts, const char *word)
{
    for (size_t i = 0; i < facts->reasons_count; i++)
        if (strcmp(facts->reasons[i].word, word) == 0)
            return true;
    return false;
}

static void print_readers(const struct import_facts *facts, FILE *to)
{
    fprintf(to, "  a trace names no descriptors: who writes to whom is told by times");
    if (facts->readers > 0)
        fprintf(to, "; %" PRIu64 " of %" PRIu64 " readers had several to choose from",
                facts->readers_chosen, facts->readers);
    fputc('\n', to);
}

static void print_waits(const struct import_facts *facts, FILE *to)
{
    struct import_reason reasons[IMPORT_REASONS_MAX];
    size_t count = reasons_sorted(facts, reasons);
    if (count > 0)
        fprintf(to, "\n%-24s %9s %9s %9s\n", "waits for", "count", "in all", "mean");
    for (size_t i = 0; i < count; i++) {
        fprintf(to, "  %-22s %9" PRIu64, reasons[i].word, reasons[i].count);
        print_cell(time_of(reasons[i].ns), to);
        print_cell(text_time((double)reasons[i].ns / (double)reasons[i].count), to);
        fputc('\n', to);
    }
    if (facts->waits_peers > 0)
        fprintf(to, "  %" PRIu64 " waits for the network are for writes of goroutines here\n",
                facts->waits_peers);
    if (is_known_reason(facts, PROGRAM_NETWORK))
        print_readers(facts, to);
    if (facts->sections > 0)
        fprintf(to,
                "  %" PRIu64 " sections under a mutex are told; %" PRIu64
                " waits are for these locks, and others for a wake\n",
                facts->sections, facts->waits_locks);
    if (facts->waits_outside > 0)
        fprintf(to, "  %" PRIu64 " waits are for something outside of the program\n",
                facts->waits_outside);
}

static void print_places(const struct import_facts *facts, FILE *to)
{
    struct import_place *places = places_sorted(facts);
    size_t count = facts->places_count;
    if (count > 0)
        fprintf(to, "\n%-38s %-15s %9s %9s\n", "waits in", "for", "count", "in all");
    for (size_t i = 0; i < count && i < PLACES_SHOWN; i++) {
        fprintf(to, "  %-36s %-15s %9" PRIu64, *places[i].function ? places[i].function : "unknown",
                places[i].word, places[i].count);
        print_cell(time_of(places[i].ns), to);
        fputc('\n', to);
    }
    if (count > PLACES_SHOWN)
        fprintf(to, "  and %zu more with --format json\n", count - PLACES_SHOWN);
    free(places);
}

static void print_late(const struct import_facts *facts, FILE *to)
{
    fprintf(to, "\n%-24s %9s %9s %9s %9s %9s\n", "runnable to running", "count", "p50", "p90",
            "p99", "p99.9");
    for (int kind = 0; kind < READY_KINDS; kind++) {
        const struct histogram *late = &facts->late[kind];
        if (histogram_count(late) == 0)
            continue;
        fprintf(to, "  %-22s %9" PRIu64, readies[kind].word, histogram_count(late));
        for (int i = 0; i < PERCENTS; i++)
            print_cell(time_of(histogram_percentile(late, percents[i])), to);
        fputc('\n', to);
    }
}

static void print_parts(const struct import_facts *facts, FILE *to)
{
    fprintf(to, "\n%-24s %9s %9s\n", "kept or left out", "count", "time");
    for (int segment = 0; segment < SEGMENTS; segment++) {
        const struct import_part *part = &facts->parts[segment];
        if (part->count == 0)
            continue;
        fprintf(to, "  %-22s %9" PRIu64, segments[segment].word, part->count);
        print_cell(time_of(part->ns), to);
        fprintf(to, "  %s\n",
                segment == SEGMENT_STOPS ? "kept as computing of who stopped it; others do not stop"
                : part->is_kept          ? "kept"
                                         : "left out");
    }
}

void facts_print(const struct import_facts *facts, FILE *to)
{
    fprintf(to, "trace          of Go %s", facts->version);
    if (facts->processors > 0)
        fprintf(to, ", GOMAXPROCS=%" PRId64, facts->processors);
    fprintf(to, "; %s in %s\n", counted(facts->events, "event").s, time_of(facts->span_ns).s);
    fprintf(to, "goroutines     %" PRIu64 "; left out: %" PRIu64 "\n", facts->goroutines,
            facts->goroutines_cut);
    fprintf(to, "computing      %s", time_of(facts->run_ns).s);
    fprintf(to, "; left out: %s", time_of(facts->run_cut_ns).s);
    fprintf(to, "\ncritical path  %s", time_of(facts->critical_ns).s);
    if (facts->critical_ns > 0)
        fprintf(to, "; computing / critical path = %.2f",
                (double)facts->work_ns / (double)facts->critical_ns);
    fputc('\n', to);
    print_parts(facts, to);
    print_waits(facts, to);
    print_places(facts, to);
    print_late(facts, to);
}

/* All that a replay tells as well; it does not know when timers of the runtime went off, nor when a
 * lock was handed over. */
static struct histogram started_and_woken(const struct import_facts *facts)
{
    struct histogram sum = facts->late[READY_CREATED];
    histogram_merge(&sum, &facts->late[READY_WOKEN]);
    histogram_merge(&sum, &facts->late[READY_PEER]);
    return sum;
}

static json_t *late_to_json(const struct histogram *late)
{
    json_t *object = json_pack("{sI}", "count", (json_int_t)histogram_count(late));
    for (int i = 0; i < PERCENTS; i++)
        json_object_set_new(object, percent_keys[i],
                            json_integer(histogram_percentile(late, percents[i])));
    return object;
}

static json_t *places_to_json(const struct import_facts *facts)
{
    struct import_place *places = places_sorted(facts);
    json_t *array = json_array();
    for (size_t i = 0; i < facts->places_count; i++)
        json_array_append_new(
            array, json_pack("{ss ss sI sI}", "function", places[i].function, "for", places[i].word,
                             "count", (json_int_t)places[i].count, "ns", (json_int_t)places[i].ns));
    free(places);
    return array;
}

static json_t *parts_to_json(const struct import_facts *facts)
{
    json_t *object = json_object();
    for (int segment = 0; segment < SEGMENTS; segment++) {
        const struct import_part *part = &facts->parts[segment];
        json_object_set_new(object, segments[segment].key,
                            json_pack("{sI sI sb}", "count", (json_int_t)part->count, "ns",
                                      (json_int_t)part->ns, "kept", part->is_kept));
    }
    return object;
}

json_t *facts_to_json(const struct import_facts *facts)
{
    struct import_reason reasons[IMPORT_REASONS_MAX];
    size_t count = reasons_sorted(facts, reasons);
    json_t *waits = json_object(), *late = json_object();
    for (size_t i = 0; i < count; i++)
        json_object_set_new(waits, reasons[i].word,
                            json_pack("{sI sI}", "count", (json_int_t)reasons[i].count, "ns",
                                      (json_int_t)reasons[i].ns));
    for (int kind = 0; kind < READY_KINDS; kind++)
        json_object_set_new(late, readies[kind].key, late_to_json(&facts->late[kind]));
    const struct histogram sum = started_and_woken(facts);
    json_object_set_new(late, "started_and_woken", late_to_json(&sum));
    return json_pack(
        "{ss sI sI sI sI sI sI sI sI sI sI sI sI sI sI sI so so so so so}", "go", facts->version,
        "processors", (json_int_t)facts->processors, "events", (json_int_t)facts->events, "span_ns",
        (json_int_t)facts->span_ns, "goroutines", (json_int_t)facts->goroutines,
        "goroutines_left_out", (json_int_t)facts->goroutines_cut, "computing_ns",
        (json_int_t)facts->run_ns, "computing_left_out_ns", (json_int_t)facts->run_cut_ns,
        "stopped_ns", (json_int_t)facts->parts[SEGMENT_STOPS].ns, "critical_path_ns",
        (json_int_t)facts->critical_ns, "lock_sections", (json_int_t)facts->sections,
        "waits_for_locks", (json_int_t)facts->waits_locks, "waits_for_peers",
        (json_int_t)facts->waits_peers, "readers", (json_int_t)facts->readers, "readers_chosen",
        (json_int_t)facts->readers_chosen, "waits_outside", (json_int_t)facts->waits_outside,
        "torn", *facts->torn ? json_string(facts->torn) : json_null(), "parts",
        parts_to_json(facts), "waits", waits, "places", places_to_json(facts),
        "runnable_to_running", late);
}
