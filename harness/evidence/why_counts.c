/* why_counts.c - see why_counts.h. */
#include "harness/evidence/why_counts.h"

#include "harness/base/json_fields.h"
#include "harness/base/memory.h"
#include "harness/numbers/units.h"
#include "harness/records/records.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* Prices by order of size, in ns. They choose what is named, and are never shown. */
enum { KERNEL_NS = 1000, SHARED_NS = 100, OWN_NS = 10 };

static const struct {
    const char *name;
    double price_ns;
} prices[] = {{"SLEEPS", KERNEL_NS},
              {"WAKEUPS", KERNEL_NS},
              {"THREADS", KERNEL_NS},
              {"FENCES_ALL", KERNEL_NS},
              {"HANDOFFS", KERNEL_NS},
              {"PROCESS_SWITCHES", KERNEL_NS},
              {"POLLS", KERNEL_NS},
              {"PROCESS_PAGE_FAULTS", KERNEL_NS},
              {"GRQ_LOCKS", SHARED_NS},
              {"GRQ_LOCK_WAITS", SHARED_NS},
              {"MIGRATIONS", SHARED_NS},
              {"STOLEN", SHARED_NS},
              {"TASKS_STOLEN", SHARED_NS},
              {"STEALS_FAILED", SHARED_NS},
              {"JOINS_STALLED", SHARED_NS},
              {"OVERFLOWS", SHARED_NS},
              {"PARKS", OWN_NS},
              {"GS_CREATED", OWN_NS},
              {"MALLOC_ALLOCATIONS", OWN_NS}};

enum { PRICES = sizeof prices / sizeof prices[0], COUNTS_TOLD = 3 };

/* The least share of the difference in time that is told. */
static const double SHARE_MIN = 0.1;

/* Parts of the core time. The first two are one where BUSY_NS is not counted. */
enum { BUSY, SEARCH, NO_THREAD, PARTS };

/* Means per operation; a count is NAN if no sample has it. */
struct spent {
    double core_ns, cpu_ns, busy_ns, count[PRICES];
};

/* The mean of values that are added one by one; NAN of none. */
struct mean {
    double sum, n;
};

static void mean_add(struct mean *mean, double value)
{
    mean->n += isfinite(value);
    mean->sum += isfinite(value) ? value : 0;
}

static double mean_value(const struct mean *mean)
{
    return mean->n > 0 ? mean->sum / mean->n : NAN;
}

static double counted_of(const json_t *record, const char *name)
{
    const json_t *event = record_event(record, name);
    return event ? record_event_value(event) : NAN;
}

/* False if the samples do not tell. */
static bool spent_make(struct spent *spent, const json_t *records)
{
    struct mean core = {0}, cpu = {0}, busy = {0}, counts[PRICES] = {0};
    json_each(record, records) {
        double ops = field_number(record, "ops"), cpu_ns = field_number(record, "cpu_ns");
        double core_ns = field_number(record, "workers") * field_number(record, "time_ns");
        if (!record_is(record, "ok") || !(ops > 0) || !(cpu_ns > 0) || !(core_ns > 0))
            continue;
        mean_add(&core, core_ns / ops);
        mean_add(&cpu, cpu_ns / ops);
        mean_add(&busy, counted_of(record, "BUSY_NS"));
        for (size_t i = 0; i < PRICES; i++)
            mean_add(&counts[i], counted_of(record, prices[i].name));
    }
    *spent = (struct spent){mean_value(&core), mean_value(&cpu), mean_value(&busy), {0}};
    for (size_t i = 0; i < PRICES; i++)
        spent->count[i] = mean_value(&counts[i]);
    return core.n > 0;
}

struct likely {
    size_t which;
    double ns;
};

static int by_ns(const void *a, const void *b)
{
    const struct likely *one = a, *other = b;
    if (one->ns != other->ns)
        return one->ns > other->ns ? -1 : 1;
    return (one->which > other->which) - (one->which < other->which);
}

static void counts_print(FILE *to, const struct spent *faster, const struct spent *slower,
                         double all_ns)
{
    struct likely likely[PRICES];
    size_t found = 0;
    for (size_t i = 0; i < PRICES; i++) {
        double ns = (slower->count[i] - faster->count[i]) * prices[i].price_ns;
        if (ns >= SHARE_MIN * all_ns) /* false of NAN */
            likely[found++] = (struct likely){i, ns};
    }
    qsort(likely, found, sizeof likely[0], by_ns);
    for (size_t k = 0; k < found && k < COUNTS_TOLD; k++) {
        size_t i = likely[k].which;
        fprintf(to, "%s %s %s against %s", k > 0 ? "," : "; counted", prices[i].name,
                text_count(slower->count[i]).s, text_count(faster->count[i]).s);
    }
}

/* Goroutines may have a worker and no core, or other threads of the process, as sysmon, take more
 * than the workers leave. Then the part that is left over is none. */
static void parts_of(const struct spent *spent, bool searches, double part[PARTS])
{
    double busy_ns = searches ? spent->busy_ns : spent->cpu_ns;
    double with_thread_ns = fmax(busy_ns, spent->cpu_ns);
    part[BUSY] = busy_ns;
    part[SEARCH] = with_thread_ns - busy_ns;
    part[NO_THREAD] = fmax(spent->core_ns - with_thread_ns, 0);
}

struct part {
    const char *name;
    double more_ns;
};

static int by_more_ns(const void *a, const void *b)
{
    const struct part *one = a, *other = b;
    return (one->more_ns < other->more_ns) - (one->more_ns > other->more_ns);
}

static void times_print(FILE *to, const struct spent *faster, const struct spent *slower,
                        double all_ns)
{
    double before[PARTS], after[PARTS];
    bool searches = isfinite(faster->busy_ns) && isfinite(slower->busy_ns);
    struct part parts[PARTS] = {[BUSY] = {searches ? "with a goroutine" : "of processor time", 0},
                                [SEARCH] = {"in search of one", 0},
                                [NO_THREAD] = {"without a thread", 0}};
    bool told = false;
    parts_of(faster, searches, before);
    parts_of(slower, searches, after);
    for (int i = 0; i < PARTS; i++)
        parts[i].more_ns = after[i] - before[i];
    qsort(parts, PARTS, sizeof parts[0], by_more_ns);
    for (int i = 0; i < PARTS; i++) {
        if (fabs(parts[i].more_ns) < SHARE_MIN * all_ns)
            continue;
        bool less = parts[i].more_ns < 0;
        fprintf(to, "%s %s%s %s", told ? "," : ":", less ? "less " : "",
                text_time(fabs(parts[i].more_ns)).s, parts[i].name);
        told = true;
    }
}

char *why_counts_of(const json_t *faster, const json_t *slower)
{
    struct spent a, b;
    char *text = NULL;
    if (!spent_make(&a, faster) || !spent_make(&b, slower) || b.core_ns <= a.core_ns)
        return NULL;
    double all_ns = b.core_ns - a.core_ns;
    FILE *to = memory_stream(&text, NULL);
    fprintf(to, "%s more core time an operation", text_time(all_ns).s);
    times_print(to, &a, &b, all_ns);
    counts_print(to, &a, &b, all_ns);
    fclose(to);
    return text;
}
