/* why_counts.c - see why_counts.h. */
#include "harness/records/why_counts.h"

#include "harness/base/json_fields.h"
#include "harness/base/memory.h"
#include "harness/base/units.h"
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

/* Means per operation; a count is NAN if no sample has it. */
struct spent {
    double core_ns, cpu_ns, count[PRICES];
};

static double counted_of(const json_t *record, const char *name)
{
    const json_t *event = record_event(record, name);
    return event ? record_event_value(event) : NAN;
}

/* False if the samples do not tell. */
static bool spent_make(struct spent *spent, const json_t *records)
{
    double n = 0, counted[PRICES] = {0};
    *spent = (struct spent){.core_ns = 0};
    json_each(record, records) {
        double ops = field_number(record, "ops"), cpu_ns = field_number(record, "cpu_ns");
        double core_ns = field_number(record, "workers") * field_number(record, "time_ns");
        if (!record_is(record, "ok") || !(ops > 0) || !(cpu_ns > 0) || !(core_ns > 0))
            continue;
        n++;
        spent->core_ns += core_ns / ops;
        spent->cpu_ns += cpu_ns / ops;
        for (size_t i = 0; i < PRICES; i++) {
            double value = counted_of(record, prices[i].name);
            counted[i] += isfinite(value);
            spent->count[i] += isfinite(value) ? value : 0;
        }
    }
    for (size_t i = 0; i < PRICES; i++)
        spent->count[i] = counted[i] > 0 ? spent->count[i] / counted[i] : NAN;
    spent->core_ns /= n;
    spent->cpu_ns /= n;
    return n > 0;
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

/* The processor time of other threads of the process, as sysmon, may exceed that of the workers. */
static double without_thread(const struct spent *spent)
{
    return fmax(spent->core_ns - spent->cpu_ns, 0);
}

static void times_print(FILE *to, const struct spent *faster, const struct spent *slower,
                        double all_ns)
{
    const struct {
        const char *name;
        double ns;
    } parts[] = {{"of processor time", slower->cpu_ns - faster->cpu_ns},
                 {"without a thread", without_thread(slower) - without_thread(faster)}};
    bool second = parts[1].ns > parts[0].ns, told = false;
    for (int k = 0; k < 2; k++) {
        int i = second ? 1 - k : k;
        if (parts[i].ns < SHARE_MIN * all_ns)
            continue;
        fprintf(to, "%s %s %s", told ? "," : ":", text_time(parts[i].ns).s, parts[i].name);
        told = true;
    }
    for (int i = 0; i < 2; i++)
        if (-parts[i].ns >= SHARE_MIN * all_ns)
            fprintf(to, ", less %s %s", text_time(-parts[i].ns).s, parts[i].name);
}

char *why_counts_of(const json_t *faster, const json_t *slower)
{
    struct spent a, b;
    char *text = NULL;
    size_t size = 0;
    if (!spent_make(&a, faster) || !spent_make(&b, slower) || b.core_ns <= a.core_ns)
        return NULL;
    double all_ns = b.core_ns - a.core_ns;
    FILE *to = memory_stream(&text, &size);
    fprintf(to, "%s more core time an operation", text_time(all_ns).s);
    times_print(to, &a, &b, all_ns);
    counts_print(to, &a, &b, all_ns);
    fclose(to);
    return text;
}
