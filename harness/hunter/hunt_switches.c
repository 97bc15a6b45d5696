/* hunt_switches.c - see hunt_switches.h. */
#include "harness/hunter/hunt_switches.h"

#include "harness/base/memory.h"
#include "harness/hunt/coverage.h"

#include <stdlib.h>

enum { SWITCHES_SHOWN = 40 };

/* The place before an access, or of a wait. pc is behind the call that tells of it. */
static bool place_find(struct source_lines *lines, uintptr_t pc, struct source_line *at)
{
    return pc && lines && source_line_find(lines, pc - 1, at);
}

/* " in FUNCTION (FILE:LINE), label X", or "" if nobody knows; free() it. */
static char *place_text(struct source_lines *lines, uintptr_t pc)
{
    struct source_line at;
    if (!place_find(lines, pc, &at))
        return xstrdup("");
    const char *label = coverage_label_at(at.file, at.line);
    return text_format(" in %s (%s:%d)%s%s", at.function, at.file, at.line, label ? ", label " : "",
                       label ? label : "");
}

void hunt_switch_print(FILE *to, struct source_lines *lines, const struct hunt_switch *at)
{
    char *from = place_text(lines, at->pc), *other = place_text(lines, at->to_pc);
    if (at->to > HUNT_STORES)
        fprintf(to, "thread %d stores a value that comes before the last %d%s\n", at->thread,
                at->to - HUNT_STORES, from);
    else if (at->to > HUNT_READS)
        fprintf(to, "thread %d reads the value that came %d before the last%s\n", at->thread,
                at->to - HUNT_READS, from);
    else if (at->to == HUNT_CLOCK)
        fprintf(to, "thread %d %s%s; time jumps to the next timer\n", at->thread,
                at->away ? "is stopped" : "waits", from);
    else
        fprintf(to, "thread %d %s%s; thread %d goes on%s\n", at->thread,
                at->away ? "is stopped" : "waits", from, at->to, other);
    free(from);
    free(other);
}

static json_t *place_to_json(struct source_lines *lines, uintptr_t pc)
{
    struct source_line at;
    if (!place_find(lines, pc, &at))
        return json_null();
    return json_pack("{ss ss si ss?}", "function", at.function, "file", at.file, "line", at.line,
                     "label", coverage_label_at(at.file, at.line));
}

json_t *hunt_switch_to_json(struct source_lines *lines, const struct hunt_switch *at)
{
    json_t *json = json_pack("{si so}", "thread", at->thread, "at", place_to_json(lines, at->pc));
    if (at->to > HUNT_STORES)
        json_object_set_new(json, "stores_before", json_integer(at->to - HUNT_STORES));
    else if (at->to > HUNT_READS)
        json_object_set_new(json, "reads_older_by", json_integer(at->to - HUNT_READS));
    else
        json_object_set_new(json, "is", json_string(at->away ? "stopped" : "waiting"));
    if (at->to == HUNT_CLOCK)
        json_object_set_new(json, "then", json_string("time jumps"));
    if (at->to >= HUNT_CLOCK)
        return json;
    json_object_set_new(json, "then", json_integer(at->to));
    json_object_set_new(json, "then_at", place_to_json(lines, at->to_pc));
    return json;
}

void hunt_switches_print(const struct hunt_outcome *failure)
{
    struct source_lines *lines = source_lines_open();
    if (failure->switch_count == 0)
        puts("each thread goes on for as long as it can, and then the next one: no switch is "
             "needed");
    else
        puts("switches that it takes; else each thread goes on for as long as it can:");
    for (size_t i = 0; i < failure->switch_count && i < SWITCHES_SHOWN; i++) {
        fputs("  ", stdout);
        hunt_switch_print(stdout, lines, &failure->switches[i]);
    }
    if (failure->switch_count > SWITCHES_SHOWN)
        printf("  and %zu more\n", failure->switch_count - SWITCHES_SHOWN);
    source_lines_close(lines);
}
