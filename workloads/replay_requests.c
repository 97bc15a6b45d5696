/* replay_requests.c - see replay_requests.h. */
#include "replay_requests.h"

#include "replay_times.h"
#include "request_parts.h"
#include "workload.h"

#include <stdio.h>
#include <stdlib.h>

_Static_assert((int)PART_RUNNING == (int)TIME_COMPUTING && (int)PART_RUNNABLE == (int)TIME_RUNNABLE,
               "times of goroutines are parts of requests");
_Static_assert((int)PART_LOCK == (int)TIME_LOCK && (int)PART_ASLEEP == (int)TIME_ASLEEP,
               "times of goroutines are parts of requests");
_Static_assert((int)PART_CALL == (int)TIME_CALL && (int)PART_NETWORK == (int)TIME_OUTSIDE,
               "times of goroutines are parts of requests");
_Static_assert((int)PART_WAITING == (int)TIME_WAITING, "times of goroutines are parts of requests");

/* g: of all copies, as in all of these. */
static const struct program_goroutine *goroutine_of(const struct replay_run *run, uint32_t g)
{
    return &run->program->goroutines[g % run->program->goroutines_count];
}

static size_t copy_of(const struct replay_run *run, uint32_t g)
{
    return g / run->program->goroutines_count;
}

static uint32_t goroutines_of(const struct replay_run *run)
{
    return (uint32_t)(run->program->goroutines_count * run->copies);
}

static int64_t step_end(const struct replay_run *run, uint32_t g, size_t i)
{
    size_t first = copy_of(run, g) * run->program->steps_count + goroutine_of(run, g)->first;
    return run->ends_ns[first + i];
}

static int64_t step_start(const struct replay_run *run, uint32_t g, size_t i)
{
    return i > 0 ? step_end(run, g, i - 1) : run->made_ns(run->of, g);
}

/* A source of request_parts.h ------------------------------------------------------------------ */

static size_t steps(const void *of, uint32_t g, int64_t *made, uint32_t *maker)
{
    const struct replay_run *run = of;
    *made = run->made_ns(run->of, g);
    *maker = REQUEST_NOBODY;
    return goroutine_of(run, g)->count;
}

static struct request_step step(const void *of, uint32_t g, size_t i)
{
    const struct replay_run *run = of;
    const struct program_step *at = &run->program->steps[goroutine_of(run, g)->first + i];
    struct request_step found = {
        .part = (enum request_part)replay_time_of((enum program_kind)at->kind),
        .from = step_start(run, g, i),
        .to = step_end(run, g, i),
        .by = REQUEST_NOBODY,
        .lock = at->kind == PROGRAM_LOCK ? at->target : 0,
    };
    found.woken = found.to;
    if (at->kind == PROGRAM_AT)
        found.woken = run->due_ns(run->of, at->ns);
    if (at->kind == PROGRAM_WAIT) {
        size_t copy = copy_of(run, g);
        found.woken = run->woken_ns(run->of, copy * run->program->waits_count + at->target);
        found.by = (uint32_t)(copy * run->program->goroutines_count) +
                   run->program->waits[at->target].wakes;
    }
    return found;
}

static const char *lock(const void *of, uint32_t number)
{
    return ((const struct replay_run *)of)->program->locks[number];
}

/* Requests ------------------------------------------------------------------------------------- */

/* A request that came while its goroutine was busy with the last one was behind that. */
static struct request_span span_begin(const struct replay_run *run, uint32_t g, size_t i)
{
    const struct program_step *at = &run->program->steps[goroutine_of(run, g)->first + i];
    bool came = i > 0 && at[-1].kind == PROGRAM_AT;
    int64_t from = came ? run->due_ns(run->of, at[-1].ns) : step_end(run, g, i);
    return (struct request_span){
        .goroutine = g, .from = from, .behind = came ? step_start(run, g, i - 1) : from};
}

/* All requests of that class, or of any (PROGRAM_NONE), or all lives; returns how many. */
static size_t spans_find(const struct replay_run *run, uint32_t class, struct request_span *spans)
{
    const struct program *program = run->program;
    size_t count = 0;
    for (uint32_t g = 0; g < goroutines_of(run); g++) {
        const struct program_goroutine *goroutine = goroutine_of(run, g);
        int64_t made = run->made_ns(run->of, g);
        if (program->requests_count == 0)
            spans[count++] = (struct request_span){
                .goroutine = g,
                .from = made,
                .to = step_end(run, g, goroutine->count - 1),
                .behind = made,
            };
        for (size_t i = 0; i < goroutine->count; i++) {
            const struct program_step *at = &program->steps[goroutine->first + i];
            if (at->kind != PROGRAM_BEGIN && at->kind != PROGRAM_DONE)
                continue;
            if (class != PROGRAM_NONE && program->request_class[at->target] != class)
                continue;
            if (at->kind == PROGRAM_BEGIN)
                spans[count] = span_begin(run, g, i);
            else
                spans[count++].to = step_end(run, g, i);
        }
    }
    return count;
}

/* A class and how many requests it has. */
struct class
{
    uint32_t number;
    size_t count;
};

static int compare_classes(const void *a, const void *b)
{
    const struct class *x = a, *y = b;
    if (x->count != y->count)
        return x->count < y->count ? 1 : -1;
    return (x->number > y->number) - (x->number < y->number);
}

/* The classes with the most requests; to be freed. */
static struct class *classes_sorted(const struct program *program)
{
    struct class *classes = calloc(program->classes_count, sizeof *classes);
    if (!classes)
        abort();
    for (size_t i = 0; i < program->classes_count; i++)
        classes[i].number = (uint32_t)i;
    for (size_t i = 0; i < program->requests_count; i++)
        classes[program->request_class[i]].count++;
    qsort(classes, program->classes_count, sizeof *classes, compare_classes);
    return classes;
}

size_t replay_requests_parts(const struct replay_run *run, struct request_parts *parts)
{
    size_t filled = 1;
    const struct program *program = run->program;
    const struct request_source source = {
        .of = run,
        .steps = steps,
        .step = step,
        .lock = lock,
        .locks = program->locks_count,
        .unmade = PART_WAITING,
        .per_us = 1000,
    };
    struct request_span *spans =
        malloc((program->goroutines_count + program->requests_count) * run->copies * sizeof *spans);
    if (!spans)
        abort();
    request_parts_find(parts, &source, spans, spans_find(run, PROGRAM_NONE, spans));
    parts->is_of_lives = program->requests_count == 0;
    if (program->classes_count > 1) {
        struct class *classes = classes_sorted(program);
        parts->classes = program->classes_count;
        for (; filled <= REQUEST_CLASSES && filled <= program->classes_count; filled++) {
            uint32_t class = classes[filled - 1].number;
            request_parts_find(&parts[filled], &source, spans, spans_find(run, class, spans));
            snprintf(parts[filled].name, REQUEST_NAME_SIZE, "%s", program->classes[class]);
        }
        free(classes);
    }
    free(spans);
    return filled;
}

void replay_requests_each(const struct replay_run *run,
                          void (*visit)(const struct workload_request *request, void *arg),
                          void *arg)
{
    const struct program *program = run->program;
    for (uint32_t g = 0; g < goroutines_of(run); g++) {
        const struct program_goroutine *goroutine = goroutine_of(run, g);
        struct workload_request request = {
            .goroutine = goroutine->id,
            .function = goroutine->name,
            .copy = run->copies > 1 ? (uint32_t)copy_of(run, g) + 1 : 0,
        };
        for (size_t i = 0; i < goroutine->count; i++) {
            const struct program_step *at = &program->steps[goroutine->first + i];
            if (at->kind == PROGRAM_BEGIN)
                request.from_ns = span_begin(run, g, i).from;
            if (at->kind != PROGRAM_DONE)
                continue;
            request.name = program->classes[program->request_class[at->target]];
            request.to_ns = step_end(run, g, i);
            visit(&request, arg);
        }
    }
}
