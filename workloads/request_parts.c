/* request_parts.c - see request_parts.h. */
#include "request_parts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEPTH_MAX = 16 };

const char *const request_part_words[REQUEST_PARTS] = {
    [PART_RUNNING] = "running",
    [PART_RUNNABLE] = "runnable",
    [PART_LOCK] = "other locks",
    [PART_ASLEEP] = "sleeping",
    [PART_CALL] = "in a call",
    [PART_NETWORK] = "waiting for the network",
    [PART_WAITING] = "waiting for others",
    [PART_BEHIND] = "behind the connection's last request",
};

const double request_percents[REQUEST_QUANTILES] = {50, 99};

struct follower {
    const struct request_source *source;
    double *parts; /* of enum request_part, then of each lock */
};

/* A goroutine's steps. */
struct steps {
    size_t count;
    int64_t made;
    uint32_t maker;
};

static struct steps steps_of(const struct follower *self, uint32_t g)
{
    struct steps steps;
    steps.count = self->source->steps(self->source->of, g, &steps.made, &steps.maker);
    return steps;
}

static struct request_step step_of(const struct follower *self, uint32_t g, size_t i)
{
    return self->source->step(self->source->of, g, i);
}

/* The first step that ends behind a time. */
static size_t step_at(const struct follower *self, uint32_t g, size_t count, int64_t time)
{
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (step_of(self, g, middle).to > time)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

static void add(const struct follower *self, size_t part, int64_t from, int64_t to)
{
    if (to > from)
        self->parts[part] += (double)(to - from);
}

static int64_t within(int64_t time, int64_t from, int64_t to)
{
    return time < from ? from : time > to ? to : time;
}

/* Following ------------------------------------------------------------------------------------ */

static void follow(const struct follower *self, uint32_t g, int64_t from, int64_t to, int depth);

/* The goroutine g waited from `from` until `by` woke it. */
static void follow_waker(const struct follower *self, uint32_t g, uint32_t by, int64_t from,
                         int64_t to, int depth)
{
    size_t count = steps_of(self, by).count;
    size_t first = step_at(self, by, count, from), i = step_at(self, by, count, to);
    /* the last wait that g ended: from there on it works for g */
    for (; i-- > first;) {
        struct request_step step = step_of(self, by, i);
        if (step.part != PART_WAITING || step.by != g)
            continue;
        int64_t taken = within(step.from, from, to);
        add(self, PART_BEHIND, from, taken);
        add(self, PART_RUNNABLE, taken, step.to);
        from = step.to;
        break;
    }
    follow(self, by, from, to, depth + 1);
}

static void follow_step(const struct follower *self, uint32_t g, const struct request_step *step,
                        int64_t from, int64_t to, int depth)
{
    int64_t woken = within(step->woken, from, to);
    if (step->part == PART_LOCK)
        add(self, REQUEST_PARTS + step->lock, from, woken);
    else if (step->part == PART_WAITING && step->by != REQUEST_NOBODY && depth < DEPTH_MAX &&
             woken > from)
        follow_waker(self, g, step->by, from, woken, depth);
    else
        add(self, step->part, from, woken);
    add(self, PART_RUNNABLE, woken, to);
}

/* The time before a goroutine was there: who made it is followed. */
static void follow_maker(const struct follower *self, const struct steps *steps, int64_t from,
                         int64_t to, int depth)
{
    if (steps->maker != REQUEST_NOBODY && depth < DEPTH_MAX)
        follow(self, steps->maker, from, to, depth + 1);
    else
        add(self, self->source->unmade, from, to);
}

/* Adds up where g was. */
static void follow(const struct follower *self, uint32_t g, int64_t from, int64_t to, int depth)
{
    struct steps steps = steps_of(self, g);
    if (from < steps.made) {
        int64_t made = steps.made < to ? steps.made : to;
        follow_maker(self, &steps, from, made, depth);
        from = made;
    }
    for (size_t i = step_at(self, g, steps.count, from); i < steps.count && from < to; i++) {
        struct request_step step = step_of(self, g, i);
        int64_t end = step.to < to ? step.to : to;
        follow_step(self, g, &step, from, end, depth);
        from = end;
    }
    add(self, PART_WAITING, from, to); /* it has ended */
}

static void follow_span(const struct follower *self, const struct request_span *span)
{
    int64_t taken = within(span->behind, span->from, span->to);
    add(self, PART_BEHIND, span->from, taken);
    follow(self, span->goroutine, taken, span->to, 0);
}

/* Quantiles ------------------------------------------------------------------------------------ */

static int compare_spans(const void *a, const void *b)
{
    const struct request_span *x = a, *y = b;
    int64_t x_time = x->to - x->from, y_time = y->to - y->from;
    return (x_time > y_time) - (x_time < y_time);
}

/* Means of the hundredth part that is nearest in rank; returns their mean latency. */
static double quantile_find(const struct request_source *source, const struct request_span *spans,
                            size_t count, double percent, double *parts)
{
    const struct follower follower = {source, parts};
    size_t wide = count / 100 > 0 ? count / 100 : 1;
    size_t rank = (size_t)ceil((double)count * percent / 100) - 1;
    size_t first = rank > wide / 2 ? rank - wide / 2 : 0;
    double latency = 0, scale = (double)wide * source->per_us;
    if (first + wide > count)
        first = count - wide;
    for (size_t i = first; i < first + wide; i++) {
        follow_span(&follower, &spans[i]);
        latency += (double)(spans[i].to - spans[i].from) / scale;
    }
    for (size_t part = 0; part < REQUEST_PARTS + source->locks; part++)
        parts[part] /= scale;
    return latency;
}

/* The lock with the most time that was not taken yet; REQUEST_NOBODY if none has any. */
static uint32_t lock_next(double *const locks[REQUEST_QUANTILES], size_t count)
{
    uint32_t next = REQUEST_NOBODY;
    double most = 0;
    for (uint32_t i = 0; i < count; i++)
        if (locks[0][i] + locks[1][i] > most) {
            most = locks[0][i] + locks[1][i];
            next = i;
        }
    return next;
}

static void locks_find(struct request_parts *parts, const struct request_source *source,
                       double *const all[REQUEST_QUANTILES])
{
    double *locks[REQUEST_QUANTILES] = {all[0] + REQUEST_PARTS, all[1] + REQUEST_PARTS};
    for (size_t shown = 0; shown < REQUEST_LOCKS; shown++) {
        uint32_t lock = lock_next(locks, source->locks);
        if (lock == REQUEST_NOBODY)
            return;
        snprintf(parts->lock[shown].name, REQUEST_NAME_SIZE, "%s", source->lock(source->of, lock));
        for (int q = 0; q < REQUEST_QUANTILES; q++) {
            parts->lock[shown].us[q] = locks[q][lock];
            locks[q][lock] = 0;
        }
    }
    for (size_t i = 0; i < source->locks; i++)
        for (int q = 0; q < REQUEST_QUANTILES; q++)
            parts->us[PART_LOCK][q] += locks[q][i];
}

void request_parts_find(struct request_parts *parts, const struct request_source *source,
                        struct request_span *spans, size_t count)
{
    double *all[REQUEST_QUANTILES];
    *parts = (struct request_parts){.count = count};
    if (count == 0)
        return;
    qsort(spans, count, sizeof *spans, compare_spans);
    for (int q = 0; q < REQUEST_QUANTILES; q++) {
        all[q] = calloc(REQUEST_PARTS + source->locks, sizeof *all[q]);
        if (!all[q])
            abort();
        parts->latency_us[q] = quantile_find(source, spans, count, request_percents[q], all[q]);
        for (int part = 0; part < REQUEST_PARTS; part++)
            parts->us[part][q] = all[q][part];
    }
    locks_find(parts, source, all);
    for (int q = 0; q < REQUEST_QUANTILES; q++)
        free(all[q]);
}
