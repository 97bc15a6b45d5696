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
              {"PREEMPTS", KERNEL_NS},
              {"LOCKED_STARTS", KERNEL_NS},
              {"GRQ_LOCKS", SHARED_NS},
              {"GRQ_LOCK_WAITS", SHARED_NS},
              {"MIGRATIONS", SHARED_NS},
              {"STOLEN", SHARED_NS},
              {"TASKS_STOLEN", SHARED_NS},
              {"STEALS_FAILED", SHARED_NS},
              {"JOINS_STALLED", SHARED_NS},
              {"OVERFLOWS", SHARED_NS},
              {"DEQUE_LOCKS", SHARED_NS},
              {"SPIN_ROUNDS", SHARED_NS},
              {"SYSMON_ROUNDS", SHARED_NS},
              {"CALLS_QUEUED", SHARED_NS},
              {"TICK_POLLS", OWN_NS},
              {"RUNNEXT_HITS", OWN_NS},
              {"TASKS_PUBLISHED", OWN_NS},
              {"DISPATCHES", OWN_NS},
              {"PARKS", OWN_NS},
              {"GS_CREATED", OWN_NS},
              {"MALLOC_ALLOCATIONS", OWN_NS}};

enum { PRICES = sizeof prices / sizeof prices[0], COUNTS_TOLD = 3 };

/* The least share of the difference in time that is told. */
static const double SHARE_MIN = 0.1;

/* Two counts differ if one is so many times the other, and at least so many in a sample. */
static const double DIFFERS_FACTOR = 2, DIFFERS_TIMES = 10;

/* Fewer than this of an operation are told as one in so many. */
static const double FEW = 0.001;

/* Parts of the core time. The first two are one where BUSY_NS is not counted. */
enum { BUSY, SEARCH, NO_THREAD, PARTS };

/* Means per operation; a count is NAN if no sample has it. */
struct spent {
    double ops; /* of a sample */
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
    struct mean all_ops = {0}, core = {0}, cpu = {0}, busy = {0}, counts[PRICES] = {0};
    json_each(record, records) {
        double ops = field_number(record, "ops"), cpu_ns = field_number(record, "cpu_ns");
        double core_ns = field_number(record, "workers") * field_number(record, "time_ns");
        if (!record_is(record, "ok") || !(ops > 0) || !(cpu_ns > 0) || !(core_ns > 0))
            continue;
        mean_add(&all_ops, ops);
        mean_add(&core, core_ns / ops);
        mean_add(&cpu, cpu_ns / ops);
        mean_add(&busy, counted_of(record, "BUSY_NS"));
        for (size_t i = 0; i < PRICES; i++)
            mean_add(&counts[i], counted_of(record, prices[i].name));
    }
    *spent = (struct spent){
        mean_value(&all_ops), mean_value(&core), mean_value(&cpu), mean_value(&busy), {0}};
    for (size_t i = 0; i < PRICES; i++)
        spent->count[i] = mean_value(&counts[i]);
    return core.n > 0;
}

/* True if both have one of the counts at least. */
static bool are_counted(const struct spent *one, const struct spent *other)
{
    for (size_t i = 0; i < PRICES; i++)
        if (isfinite(one->count[i]) && isfinite(other->count[i]))
            return true;
    return false;
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

/* False of NAN. */
static bool differs(const struct spent *one, const struct spent *other, size_t i)
{
    double most = fmax(one->count[i], other->count[i]),
           least = fmin(one->count[i], other->count[i]);
    return most * fmin(one->ops, other->ops) >= DIFFERS_TIMES && most >= DIFFERS_FACTOR * least &&
           isfinite(one->count[i]) && isfinite(other->count[i]);
}

/* The counts that may have made at least so much of the slower one's time; least_ns 0: those that
 * differ, whoever has more. The largest first; how many. */
static size_t likely_find(struct likely likely[PRICES], const struct spent *faster,
                          const struct spent *slower, double least_ns)
{
    size_t found = 0;
    for (size_t i = 0; i < PRICES; i++) {
        double ns = (slower->count[i] - faster->count[i]) * prices[i].price_ns;
        if (least_ns > 0 ? ns >= least_ns : differs(faster, slower, i))
            likely[found++] = (struct likely){i, fabs(ns)};
    }
    qsort(likely, found, sizeof likely[0], by_ns);
    return found;
}

/* Few of an operation as one in so many. */
static struct text count_text(double count)
{
    struct text text = text_count(count > 0 && count < FEW ? 1 / count : count);
    if (count > 0 && count < FEW) {
        struct text many = text;
        snprintf(text.s, sizeof text.s, "1 in %.80s", many.s);
    }
    return text;
}

/* How many were told. */
static size_t counts_print(FILE *to, const char *before, const struct spent *faster,
                           const struct spent *slower, double least_ns)
{
    struct likely likely[PRICES];
    size_t found = likely_find(likely, faster, slower, least_ns);
    for (size_t k = 0; k < found && k < COUNTS_TOLD; k++) {
        size_t i = likely[k].which;
        fprintf(to, "%s %s %s against %s", k > 0 ? "," : before, prices[i].name,
                count_text(slower->count[i]).s, count_text(faster->count[i]).s);
    }
    return found;
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
    if (are_counted(&a, &b) && counts_print(to, "; counted", &a, &b, SHARE_MIN * all_ns) == 0 &&
        counts_print(to, "; no count is large enough to explain it; these differ:", &a, &b, 0) == 0)
        fputs("; no counter tells why", to);
    fclose(to);
    return text;
}

char *why_counts_differ(const json_t *less, const json_t *more)
{
    struct spent a, b;
    char *text = NULL;
    if (!spent_make(&a, less) || !spent_make(&b, more) || !are_counted(&a, &b))
        return NULL;
    FILE *to = memory_stream(&text, NULL);
    if (counts_print(to, "an operation has", &a, &b, 0) == 0)
        fputs("no counter differs", to);
    fclose(to);
    return text;
}

const char *why_counts_event(size_t i)
{
    return i < PRICES ? prices[i].name : i == PRICES ? "BUSY_NS" : NULL;
}
