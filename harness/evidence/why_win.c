/* why_win.c - see why_win.h. */
#include "harness/evidence/why_win.h"

#include "harness/base/json_fields.h"
#include "harness/base/memory.h"
#include "harness/evidence/why_counts.h"
#include "harness/evidence/why_structures.h"
#include "harness/numbers/units.h"
#include "harness/records/records.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A sentence names so much of the difference, in so many parts. */
static const double SHARE_TOLD = 0.9;
enum { PARTS_TOLD = 3 };

/* A cell's core time per operation, in ns. */
struct core_time {
    double whole, spinning, wasted, idle;
    struct why_structure *structures;
    size_t count;
    double stalled;
};

/* The cores that a sample's workers had. */
static double cores_of(const json_t *record)
{
    return fmin(field_number(record, "workers"), field_number(record, "cores"));
}

/* False if the samples do not tell. */
static bool core_time_make(struct core_time *time, const json_t *records)
{
    double count = 0, busy = 0;
    *time = (struct core_time){.whole = 0};
    json_each(record, records) {
        const json_t *spent = json_object_get(record, "core_time");
        double ops = field_number(record, "ops");
        if (!record_is(record, "ok") || !spent || !(ops > 0))
            continue;
        count++;
        time->whole += cores_of(record) * field_number(spent, "elapsed_ns") / ops;
        busy += field_number(spent, "busy_ns") / ops;
        time->spinning += field_number(spent, "spin_ns") / ops;
        time->wasted += field_number(spent, "wasted_ns") / ops;
    }
    if (count == 0)
        return false;
    time->whole /= count;
    time->spinning /= count;
    time->wasted /= count;
    time->idle = fmax(time->whole - busy / count - time->wasted, 0);
    time->count = why_structures(records, &time->structures, &time->stalled);
    return true;
}

/* The part of that structure; added if it is new. */
static struct why_part *part_of(struct why_win *win, bool stalled, const char *name)
{
    for (size_t i = 0; i < win->count; i++)
        if (win->parts[i].stalled == stalled && strcmp(win->parts[i].name, name) == 0)
            return &win->parts[i];
    array_add(win->parts, win->count) = (struct why_part){.stalled = stalled, .name = name};
    return &win->parts[win->count - 1];
}

static double difference(const struct why_part *part)
{
    return part->slower - part->faster;
}

static int by_difference(const void *a, const void *b)
{
    const struct why_part *one = a, *other = b;
    if (difference(one) != difference(other))
        return difference(one) > difference(other) ? -1 : 1;
    return strcmp(one->name, other->name);
}

/* Time that is none of the others. */
static double computing(const struct core_time *time)
{
    return fmax(time->whole - time->stalled - time->spinning - time->wasted - time->idle, 0);
}

bool why_win_make(struct why_win *win, const json_t *faster, const json_t *slower)
{
    struct core_time a, b;
    *win = (struct why_win){.count = 0};
    if (!core_time_make(&a, faster))
        return false;
    if (!core_time_make(&b, slower)) {
        free(a.structures);
        return false;
    }
    for (size_t i = 0; i < a.count; i++)
        part_of(win, true, a.structures[i].name)->faster = a.structures[i].stall_ns;
    for (size_t i = 0; i < b.count; i++)
        part_of(win, true, b.structures[i].name)->slower = b.structures[i].stall_ns;
    const struct why_part others[] = {
        {false, "in spin loops", a.spinning, b.spinning},
        {false, "idle beside work that waited", a.wasted, b.wasted},
        {false, "idle without work", a.idle, b.idle},
        {false, "computing and in the kernel", computing(&a), computing(&b)},
    };
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        *part_of(win, false, others[i].name) = others[i];
    qsort(win->parts, win->count, sizeof *win->parts, by_difference);
    win->faster_ns = a.whole;
    win->slower_ns = b.whole;
    free(a.structures);
    free(b.structures);
    return true;
}

void why_win_free(struct why_win *win)
{
    free(win->parts);
}

static char *text_of(const struct why_win *win)
{
    char *text = NULL;
    double all = win->slower_ns - win->faster_ns, told = 0;
    FILE *to = memory_stream(&text, NULL);
    fprintf(to, "%s more core time an operation", text_time(all).s);
    for (size_t i = 0; i < win->count && i < PARTS_TOLD && told < SHARE_TOLD * all; i++) {
        const struct why_part *part = &win->parts[i];
        if (difference(part) < (1 - SHARE_TOLD) / 2 * all)
            break;
        told += difference(part);
        fprintf(to, "%s %s %s%s", i ? "," : ":", text_time(difference(part)).s,
                part->stalled ? "stalled on " : "", part->name);
    }
    fclose(to);
    return text;
}

char *why_win_of(const json_t *faster, const json_t *slower)
{
    struct why_win win;
    if (!fields_any(faster, "core_time") && !fields_any(slower, "core_time"))
        return why_counts_of(faster, slower);
    if (!why_win_make(&win, faster, slower))
        return NULL;
    char *text = win.slower_ns > win.faster_ns ? text_of(&win) : NULL;
    why_win_free(&win);
    return text;
}
