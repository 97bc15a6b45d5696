/* replay_requests.c - see replay_requests.h. */
#include "replay_requests.h"

#include "replay_times.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { DEPTH_MAX = 16, LOCKS_SHOWN = 3, NAME_WIDTH = 42, QUANTILES = 2 };

/* Beside those of enum replay_time; locks follow, each by itself. */
enum { PART_BEHIND = TIME_KINDS, PART_LOCKS };

static const char *const words[PART_LOCKS] = {
    [TIME_COMPUTING] = "running",
    [TIME_RUNNABLE] = "runnable",
    [TIME_LOCK] = "other locks",
    [TIME_ASLEEP] = "sleeping",
    [TIME_CALL] = "in a call",
    [TIME_OUTSIDE] = "waiting for the network",
    [TIME_WAITING] = "waiting for others",
    [PART_BEHIND] = "behind the connection's last request",
};

/* A part of a goroutine's life: a request, or all of it. */
struct span {
    uint32_t goroutine;
    size_t begin; /* the step `begin`; 0 for a life */
    int64_t from_ns, to_ns;
};

struct follower {
    const struct replay_run *run;
    double *parts; /* ns: of words[], then of each lock */
};

/* One goroutine's steps, and the first one that ends behind a time. */
static const struct program_goroutine *goroutine_of(const struct replay_run *run, uint32_t g)
{
    return &run->program->goroutines[g];
}

static int64_t step_start(const struct replay_run *run, uint32_t g, size_t i)
{
    return i > 0 ? run->ends_ns[goroutine_of(run, g)->first + i - 1] : run->made_ns(run->of, g);
}

static int64_t step_end(const struct replay_run *run, uint32_t g, size_t i)
{
    return run->ends_ns[goroutine_of(run, g)->first + i];
}

static size_t step_at(const struct replay_run *run, uint32_t g, int64_t ns)
{
    size_t low = 0, high = goroutine_of(run, g)->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (step_end(run, g, middle) > ns)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

static void add(const struct follower *self, size_t part, int64_t from_ns, int64_t to_ns)
{
    if (to_ns > from_ns)
        self->parts[part] += (double)(to_ns - from_ns);
}

/* Following ------------------------------------------------------------------------------------ */

static void follow(const struct follower *self, uint32_t g, int64_t from_ns, int64_t to_ns,
                   int depth);

/* The goroutine g waited from from_ns until `by` woke it at to_ns. */
static void follow_waker(const struct follower *self, uint32_t g, uint32_t by, int64_t from_ns,
                         int64_t to_ns, int depth)
{
    const struct replay_run *run = self->run;
    const struct program_step *steps = &run->program->steps[goroutine_of(run, by)->first];
    size_t first = step_at(run, by, from_ns), i = step_at(run, by, to_ns);
    /* the last wait that g ended: from there on it works for g */
    for (; i-- > first;) {
        if (steps[i].kind != PROGRAM_WAIT || run->program->waits[steps[i].target].wakes != g)
            continue;
        int64_t taken_ns = step_start(run, by, i);
        taken_ns = taken_ns > from_ns ? taken_ns : from_ns;
        add(self, PART_BEHIND, from_ns, taken_ns);
        add(self, TIME_RUNNABLE, taken_ns, step_end(run, by, i));
        from_ns = step_end(run, by, i);
        break;
    }
    follow(self, by, from_ns, to_ns, depth + 1);
}

static void follow_step(const struct follower *self, uint32_t g, const struct program_step *step,
                        int64_t from_ns, int64_t to_ns, int depth)
{
    const struct replay_run *run = self->run;
    enum replay_time time = replay_time_of((enum program_kind)step->kind);
    if (step->kind == PROGRAM_LOCK) {
        add(self, PART_LOCKS + step->target, from_ns, to_ns);
    } else if (step->kind == PROGRAM_AT) {
        int64_t due_ns = run->due_ns(run->of, step->ns);
        int64_t woken_ns = due_ns < from_ns ? from_ns : due_ns < to_ns ? due_ns : to_ns;
        add(self, TIME_OUTSIDE, from_ns, woken_ns);
        add(self, TIME_RUNNABLE, woken_ns, to_ns);
    } else if (step->kind == PROGRAM_WAIT) {
        int64_t woken_ns = run->woken_ns(run->of, step->target);
        woken_ns = woken_ns < from_ns ? from_ns : woken_ns < to_ns ? woken_ns : to_ns;
        if (depth < DEPTH_MAX && woken_ns > from_ns)
            follow_waker(self, g, run->program->waits[step->target].wakes, from_ns, woken_ns,
                         depth);
        else
            add(self, TIME_WAITING, from_ns, woken_ns);
        add(self, TIME_RUNNABLE, woken_ns, to_ns);
    } else {
        add(self, time, from_ns, to_ns);
    }
}

/* Adds up where g was from from_ns to to_ns. */
static void follow(const struct follower *self, uint32_t g, int64_t from_ns, int64_t to_ns,
                   int depth)
{
    const struct replay_run *run = self->run;
    const struct program_goroutine *goroutine = goroutine_of(run, g);
    const struct program_step *steps = &run->program->steps[goroutine->first];
    int64_t made_ns = run->made_ns(run->of, g);
    if (from_ns < made_ns) { /* not started yet: by whom is not followed */
        add(self, TIME_WAITING, from_ns, made_ns < to_ns ? made_ns : to_ns);
        from_ns = made_ns;
    }
    for (size_t i = step_at(run, g, from_ns); i < goroutine->count && from_ns < to_ns; i++) {
        int64_t end_ns = step_end(run, g, i) < to_ns ? step_end(run, g, i) : to_ns;
        follow_step(self, g, &steps[i], from_ns, end_ns, depth);
        from_ns = end_ns;
    }
}

/* A request that came while its goroutine was busy with the last one was behind that. */
static void follow_span(const struct follower *self, const struct span *span)
{
    const struct replay_run *run = self->run;
    const struct program_step *steps =
        &run->program->steps[goroutine_of(run, span->goroutine)->first];
    int64_t from_ns = span->from_ns;
    if (span->begin > 0 && steps[span->begin - 1].kind == PROGRAM_AT) {
        int64_t taken_ns = step_start(run, span->goroutine, span->begin - 1);
        add(self, PART_BEHIND, from_ns, taken_ns);
        from_ns = taken_ns > from_ns ? taken_ns : from_ns;
    }
    follow(self, span->goroutine, from_ns, span->to_ns, 0);
}

/* Requests ------------------------------------------------------------------------------------- */

static int compare_spans(const void *a, const void *b)
{
    const struct span *x = a, *y = b;
    int64_t x_ns = x->to_ns - x->from_ns, y_ns = y->to_ns - y->from_ns;
    return (x_ns > y_ns) - (x_ns < y_ns);
}

/* All requests, or all lives; returns how many. */
static size_t spans_find(const struct replay_run *run, struct span *spans)
{
    const struct program *program = run->program;
    size_t count = 0;
    for (uint32_t g = 0; g < program->goroutines_count; g++) {
        const struct program_goroutine *goroutine = goroutine_of(run, g);
        const struct program_step *steps = &program->steps[goroutine->first];
        if (program->requests_count == 0)
            spans[count++] = (struct span){g, 0, run->made_ns(run->of, g),
                                           step_end(run, g, goroutine->count - 1)};
        for (size_t i = 0; i < goroutine->count; i++) {
            if (steps[i].kind == PROGRAM_BEGIN)
                spans[count] = (struct span){g, i,
                                             i > 0 && steps[i - 1].kind == PROGRAM_AT
                                                 ? run->due_ns(run->of, steps[i - 1].ns)
                                                 : step_end(run, g, i),
                                             0};
            else if (steps[i].kind == PROGRAM_DONE)
                spans[count++].to_ns = step_end(run, g, i);
        }
    }
    return count;
}

/* Means of the hundredth part that is nearest in rank; *latency_ns: their mean latency. */
static void quantile_sum(const struct replay_run *run, const struct span *spans, size_t count,
                         double percent, double *parts, double *latency_ns)
{
    const struct follower follower = {run, parts};
    size_t wide = count / 100 > 0 ? count / 100 : 1;
    size_t rank = (size_t)ceil((double)count * percent / 100) - 1;
    size_t first = rank > wide / 2 ? rank - wide / 2 : 0;
    if (first + wide > count)
        first = count - wide;
    size_t parts_count = PART_LOCKS + run->program->locks_count;
    for (size_t i = first; i < first + wide; i++) {
        follow_span(&follower, &spans[i]);
        *latency_ns += (double)(spans[i].to_ns - spans[i].from_ns) / (double)wide;
    }
    for (size_t part = 0; part < parts_count; part++)
        parts[part] /= (double)wide;
}

/* The lock with the most time that was not printed yet; PROGRAM_NONE if none has any. */
static uint32_t lock_next(const double *locks[QUANTILES], size_t count)
{
    uint32_t next = PROGRAM_NONE;
    double most = 0;
    for (uint32_t i = 0; i < count; i++)
        if (locks[0][i] + locks[1][i] > most) {
            most = locks[0][i] + locks[1][i];
            next = i;
        }
    return next;
}

static void row_print(const char *word, double p50_ns, double p99_ns, FILE *to)
{
    if (p50_ns > 0 || p99_ns > 0)
        fprintf(to, "  %-*s %9.1f %9.1f\n", NAME_WIDTH - 2, word, p50_ns / 1000, p99_ns / 1000);
}

static void locks_print(const struct program *program, double *parts[QUANTILES], FILE *to)
{
    double *locks[QUANTILES] = {parts[0] + PART_LOCKS, parts[1] + PART_LOCKS};
    for (int shown = 0; shown < LOCKS_SHOWN; shown++) {
        const double *of[QUANTILES] = {locks[0], locks[1]};
        uint32_t lock = lock_next(of, program->locks_count);
        char word[NAME_WIDTH];
        if (lock == PROGRAM_NONE)
            return;
        snprintf(word, sizeof word, "lock %s", program->locks[lock]);
        row_print(word, locks[0][lock], locks[1][lock], to);
        locks[0][lock] = locks[1][lock] = 0;
    }
    for (uint32_t i = 0; i < program->locks_count; i++) {
        parts[0][TIME_LOCK] += locks[0][i];
        parts[1][TIME_LOCK] += locks[1][i];
    }
}

void replay_requests_print(const struct replay_run *run, FILE *to)
{
    static const double percents[QUANTILES] = {50, 99};
    const struct program *program = run->program;
    struct span *spans =
        malloc((program->goroutines_count + program->requests_count + 1) * sizeof *spans);
    double *parts[QUANTILES], latency_ns[QUANTILES] = {0};
    for (int i = 0; i < QUANTILES; i++)
        parts[i] = calloc(PART_LOCKS + program->locks_count, sizeof *parts[i]);
    if (!spans || !parts[0] || !parts[1])
        abort();
    size_t count = spans_find(run, spans);
    qsort(spans, count, sizeof *spans, compare_spans);
    for (int i = 0; i < QUANTILES; i++)
        quantile_sum(run, spans, count, percents[i], parts[i], &latency_ns[i]);
    fprintf(to, "%-*s %9s %9s\n", NAME_WIDTH,
            program->requests_count > 0 ? "where a request's time goes, us"
                                        : "where a goroutine's life goes, us",
            "p50", "p99");
    locks_print(program, parts, to);
    for (int part = 0; part < PART_LOCKS; part++)
        row_print(words[part], parts[0][part], parts[1][part], to);
    row_print("in all", latency_ns[0], latency_ns[1], to);
    for (int i = 0; i < QUANTILES; i++)
        free(parts[i]);
    free(spans);
}
