/* diff.c - see diff.h: where two traces part. */
#include "harness/trace/diff.h"

#include "harness/base/memory.h"

#include <stdlib.h>
#include <string.h>

static bool event_same(const struct sched_trace_event *a, const struct sched_trace_event *b)
{
    return a->kind == b->kind && a->g_key == b->g_key && a->p == b->p && a->a == b->a &&
           a->b == b->b;
}

/* Workers ------------------------------------------------------------------------------------- */

static size_t worker_of(const struct sched_trace_event *event)
{
    return event->p >= 0 ? 2 * (size_t)event->p : 2 * ((size_t)event->m + 1) + 1;
}

/* The events of each worker, linked. */
struct workers {
    size_t count;
    int64_t *first; /* by worker; what is still to be compared */
    int64_t *next;  /* by event */
};

static void workers_begin(struct workers *workers, const struct sched_trace *trace, size_t count)
{
    workers->count = count;
    workers->first = xmalloc((count + 1) * sizeof workers->first[0]);
    workers->next = xmalloc((trace->count + 1) * sizeof workers->next[0]);
    memset(workers->first, 0xff, (count + 1) * sizeof workers->first[0]); /* DIFF_NONE */
    for (size_t i = trace->count; i-- > 0;) {
        size_t worker = worker_of(&trace->event[i]);
        workers->next[i] = workers->first[worker];
        workers->first[worker] = (int64_t)i;
    }
}

static void workers_end(struct workers *workers)
{
    free(workers->first);
    free(workers->next);
}

static size_t workers_count(const struct sched_trace *trace, size_t least)
{
    for (size_t i = 0; i < trace->count; i++)
        if (worker_of(&trace->event[i]) >= least)
            least = worker_of(&trace->event[i]) + 1;
    return least;
}

/* The earliest event of A, in A's order, that its worker in B does not do next; or else the
 * earliest of B that is left. Events that were not kept cannot be missed. */
static void find_worker(struct diff *diff)
{
    const struct sched_trace *a = diff->trace[0], *b = diff->trace[1];
    bool whole_a = a->count == a->happened, whole_b = b->count == b->happened;
    struct workers left;
    workers_begin(&left, b, workers_count(b, workers_count(a, 0)));
    for (size_t i = 0; i < a->count; i++) {
        size_t worker = worker_of(&a->event[i]);
        int64_t other = left.first[worker];
        if (other == DIFF_NONE && !whole_b)
            continue;
        if (other == DIFF_NONE || !event_same(&a->event[i], &b->event[other])) {
            diff->worker_at[0] = (int64_t)i;
            diff->worker_at[1] = other;
            break;
        }
        left.first[worker] = left.next[other];
    }
    for (size_t w = 0; w < left.count && whole_a && diff->worker_at[0] == DIFF_NONE; w++)
        if (left.first[w] != DIFF_NONE &&
            (diff->worker_at[1] == DIFF_NONE || left.first[w] < diff->worker_at[1]))
            diff->worker_at[1] = left.first[w];
    workers_end(&left);
}

/* Numbers ------------------------------------------------------------------------------------- */

struct named {
    uint64_t key;
    uint32_t number;
};

static int named_compare(const void *a_, const void *b_)
{
    const struct named *a = a_, *b = b_;
    return a->key < b->key ? -1 : a->key > b->key;
}

/* All Gs of the trace by key; *last: the largest number. */
static struct named *names_make(const struct sched_trace *trace, size_t *count, uint32_t *last)
{
    *count = *last = 0;
    struct named *names = xmalloc((trace->count + 1) * sizeof *names);
    for (size_t i = 0; i < trace->count; i++) {
        const struct sched_trace_event *event = &trace->event[i];
        if (event->kind != SCHED_CREATED)
            continue;
        names[(*count)++] = (struct named){event->g_key, event->g};
        *last = event->g > *last ? event->g : *last;
    }
    qsort(names, *count, sizeof *names, named_compare);
    return names;
}

/* Moves who made whom to the new numbers, of which `last` is the largest. */
static void births_number(struct sched_trace *trace, const uint32_t *other, uint32_t last)
{
    struct sched_trace_birth *g = xcalloc((size_t)last + 1, sizeof *g);
    for (size_t i = 0; i < trace->tasks; i++)
        if (!trace->task[i].by_task)
            trace->task[i].parent = other[trace->task[i].parent];
    for (size_t i = 1; i < trace->gs; i++) {
        g[other[i]] = trace->g[i];
        if (!trace->g[i].by_task)
            g[other[i]].parent = other[trace->g[i].parent];
    }
    free(trace->g);
    trace->g = g;
    trace->gs = (size_t)last + 1;
}

void diff_number(const struct sched_trace *a, struct sched_trace *b)
{
    size_t count_a, count_b;
    uint32_t next, last_b;
    struct named *in_a = names_make(a, &count_a, &next), *in_b = names_make(b, &count_b, &last_b);
    uint32_t *other = xcalloc((size_t)last_b + 1, sizeof *other);
    for (size_t i = 0; i < count_b; i++) {
        const struct named *same = bsearch(&in_b[i], in_a, count_a, sizeof *in_a, named_compare);
        other[in_b[i].number] = same ? same->number : 0;
    }
    for (uint32_t g = 1; g <= last_b; g++)
        if (other[g] == 0)
            other[g] = ++next;
    for (size_t i = 0; i < b->count; i++)
        if (b->event[i].kind < SCHED_EVENT_FIRST_OF_TASKS) /* tasks keep their own */
            b->event[i].g = other[b->event[i].g];
    births_number(b, other, next);
    free(other);
    free(in_a);
    free(in_b);
}

/* The whole ----------------------------------------------------------------------------------- */

void diff_find(struct diff *diff, const struct sched_trace *a, const struct sched_trace *b)
{
    size_t shorter = a->count < b->count ? a->count : b->count, i = 0;
    *diff = (struct diff){.trace = {a, b},
                          .at = DIFF_NONE,
                          .time_at = DIFF_NONE,
                          .worker_at = {DIFF_NONE, DIFF_NONE}};
    for (; i < shorter && event_same(&a->event[i], &b->event[i]); i++)
        if (diff->time_at == DIFF_NONE && a->event[i].when_ps != b->event[i].when_ps)
            diff->time_at = (int64_t)i;
    diff->compared = i;
    /* where one of them ends because no more was kept, nothing is known */
    bool a_ends = i == a->count, b_ends = i == b->count;
    if ((a_ends && a->count < a->happened) || (b_ends && b->count < b->happened) ||
        (a_ends && b_ends))
        return;
    diff->at = (int64_t)i;
    find_worker(diff);
}

const char *const diff_total_words[DIFF_TOTALS] = {
    [DIFF_DISPATCHES] = "dispatches",
    [DIFF_RUNNEXT] = "Gs taken from runnext",
    [DIFF_LOCAL] = "Gs taken from the own queue",
    [DIFF_GLOBAL] = "Gs taken from the global queue",
    [DIFF_TICK] = "Gs taken from it by schedtick",
    [DIFF_VICTIM] = "searches that found a G",
    [DIFF_STOLEN] = "Gs stolen",
    [DIFF_VAIN] = "searches in vain",
    [DIFF_CREATED] = "Gs created",
    [DIFF_PARKS] = "parks",
    [DIFF_SPINS] = "times an M began to spin",
    [DIFF_SLEEPS] = "times an M went to sleep",
    [DIFF_WAKES] = "Ms woken or started",
    [DIFF_HANDOFFS] = "Ps handed off",
    [DIFF_TASKS_STOLEN] = "tasks stolen",
    [DIFF_STALLED] = "stalled syncs",
    [DIFF_EVENTS] = "events",
    [DIFF_TIME_NS] = "virtual ns to the last event",
};

static enum diff_total total_of(const struct sched_trace_event *event)
{
    static const enum diff_total of_kind[SCHED_EVENT_COUNT] = {
        [SCHED_CREATED] = DIFF_CREATED,
        [SCHED_READIED] = DIFF_TOTALS,
        [SCHED_PUT] = DIFF_TOTALS,
        [SCHED_DISPATCHED] = DIFF_DISPATCHES,
        [SCHED_PARKED] = DIFF_PARKS,
        [SCHED_ENDED] = DIFF_TOTALS,
        [SCHED_CALL_BEGUN] = DIFF_TOTALS,
        [SCHED_CALL_OVER] = DIFF_TOTALS,
        [SCHED_CALLED] = DIFF_TOTALS,
        [SCHED_CALL_RETURNED] = DIFF_TOTALS,
        [SCHED_STALLED] = DIFF_STALLED,
        [SCHED_SYNCED] = DIFF_TOTALS,
        [SCHED_RETURNED] = DIFF_TOTALS,
        [SCHED_JOINED] = DIFF_TOTALS,
        [SCHED_STOLEN] = DIFF_STOLEN,
        [SCHED_MOVED] = DIFF_TOTALS,
        [SCHED_OVERFLOWED] = DIFF_TOTALS,
        [SCHED_SPUN] = DIFF_SPINS,
        [SCHED_FOUND_NOTHING] = DIFF_VAIN,
        [SCHED_SLEPT] = DIFF_SLEEPS,
        [SCHED_WOKEN] = DIFF_WAKES,
        [SCHED_THREAD_STARTED] = DIFF_WAKES,
        [SCHED_P_TAKEN] = DIFF_TOTALS,
        [SCHED_P_IDLED] = DIFF_TOTALS,
        [SCHED_P_HANDED_OFF] = DIFF_HANDOFFS,
        [SCHED_PREEMPT_ASKED] = DIFF_TOTALS,
        [SCHED_TASKS_PUBLISHED] = DIFF_TOTALS,
        [SCHED_TASK_TAKEN_BACK] = DIFF_TOTALS,
        [SCHED_TASK_STOLEN] = DIFF_TASKS_STOLEN,
        [SCHED_TASK_SPAWNED] = DIFF_TOTALS,
        [SCHED_TASK_BEGUN] = DIFF_TOTALS,
        [SCHED_TASK_RETURNED] = DIFF_TOTALS,
        [SCHED_TASK_DONE] = DIFF_TOTALS,
    };
    static const enum diff_total of_source[] = {
        [FROM_RUNNEXT] = DIFF_RUNNEXT, [FROM_LOCAL] = DIFF_LOCAL,   [FROM_GLOBAL] = DIFF_GLOBAL,
        [FROM_TICK] = DIFF_TICK,       [FROM_VICTIM] = DIFF_VICTIM,
    };
    return event->kind == SCHED_TAKEN ? of_source[event->a] : of_kind[event->kind];
}

void diff_totals(const struct sched_trace *trace, size_t from, int64_t totals[DIFF_TOTALS])
{
    memset(totals, 0, DIFF_TOTALS * sizeof totals[0]);
    for (size_t i = from; i < trace->count; i++) {
        const struct sched_trace_event *event = &trace->event[i];
        enum diff_total total = total_of(event);
        if (total != DIFF_TOTALS)
            totals[total] += event->kind == SCHED_STOLEN ? event->a : 1;
        totals[DIFF_EVENTS]++;
    }
    if (from < trace->count)
        totals[DIFF_TIME_NS] =
            (trace->event[trace->count - 1].when_ps - trace->event[from].when_ps) / 1000;
}
