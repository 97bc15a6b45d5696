/* request_follow.c - see request_follow.h. */
#include "harness/sample/request_follow.h"

#include "harness/base/memory.h"
#include "sched.h"
#include "workloads/request_parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STEPS_MAX = 1 << 22, LOCKS_MAX = 256, PART_ENDED = REQUEST_PARTS };

/* A step of a goroutine, up to its next one. */
struct step {
    int64_t from_ps, woken_ps; /* INT64_MAX: not woken */
    uint32_t goroutine;
    uint32_t by_or_lock;
    uint32_t part;
};

/* A goroutine of this call. */
struct life {
    int64_t made_ps, served_ps; /* served: its last request */
    uint32_t maker;
    uint32_t first, count; /* of steps, once they are sorted */
    uint32_t newest;       /* its last step so far */
};

/* A place of the runtime's, which serves one goroutine after the other. */
struct place {
    uint32_t goroutine; /* its number in this call; REQUEST_NOBODY: not met yet */
    uint32_t part;
    bool woken_early; /* before it parked */
    uint32_t woken_by;
    int32_t m, parks_late_on; /* that ran it last; on which its last wait is still to begin; -1 */
    uint32_t woken_late;      /* the step of a wait whose end was not told; REQUEST_NOBODY */
};

struct request {
    struct request_span span;
    int32_t kind;
};

struct known_lock {
    const void *of;
    char name[REQUEST_NAME_SIZE];
};

/* Lists that grow. */
static struct {
    struct step *step;
    struct life *life;
    struct place *place;
    int64_t *running; /* by M: the place of its goroutine; -1 */
    struct request *request;
    struct known_lock *lock;
    size_t steps, steps_room, lives, lives_room, places, ms, requests, requests_room, locks,
        locks_room;
    uint32_t *order; /* of steps: by goroutine, and time */
    int64_t began_ps;
    bool is_full, is_on;
} logged;

/* Goroutines ----------------------------------------------------------------------------------- */

static void places_grow(size_t needed)
{
    size_t old = logged.places;
    if (needed <= old)
        return;
    logged.places = 2 * needed;
    logged.place = xrealloc(logged.place, logged.places * sizeof *logged.place);
    for (size_t i = old; i < logged.places; i++)
        logged.place[i] = (struct place){REQUEST_NOBODY, .part = PART_WAITING};
}

static void running_grow(size_t needed)
{
    size_t old = logged.ms;
    if (needed <= old)
        return;
    logged.ms = 2 * needed;
    logged.running = xrealloc(logged.running, logged.ms * sizeof *logged.running);
    for (size_t i = old; i < logged.ms; i++)
        logged.running[i] = -1;
}

static void step_add(struct place *place, uint32_t part, int64_t now_ps, int64_t woken_ps,
                     uint32_t by_or_lock)
{
    struct life *life = &logged.life[place->goroutine];
    place->part = part;
    logged.is_full = logged.is_full || logged.steps == STEPS_MAX;
    if (logged.is_full)
        return;
    if (life->newest != REQUEST_NOBODY) {
        const struct step *last = &logged.step[life->newest];
        now_ps = now_ps < last->from_ps ? last->from_ps : now_ps;
        if (last->woken_ps != INT64_MAX && now_ps < last->woken_ps)
            now_ps = last->woken_ps;
    }
    life->newest = (uint32_t)logged.steps;
    array_push(logged.step, logged.steps, logged.steps_room) =
        (struct step){now_ps, woken_ps, place->goroutine, by_or_lock, part};
}

/* Numbers a goroutine, which goes on with what its place says. */
static void life_begin(struct place *place, int64_t made_ps, uint32_t maker)
{
    place->goroutine = (uint32_t)logged.lives;
    array_push(logged.life, logged.lives, logged.lives_room) = (struct life){
        .made_ps = made_ps, .served_ps = INT64_MIN, .maker = maker, .newest = REQUEST_NOBODY};
    place->woken_early = false;
    place->m = place->parks_late_on = -1;
    place->woken_late = REQUEST_NOBODY;
    step_add(place, place->part, made_ps, INT64_MAX, REQUEST_NOBODY);
}

/* A goroutine that is older than the call is met here. */
static struct place *place_of(int64_t g)
{
    places_grow((size_t)g + 1);
    struct place *place = &logged.place[g];
    if (place->goroutine == REQUEST_NOBODY)
        life_begin(place, logged.began_ps, REQUEST_NOBODY);
    return place;
}

/* The number of the goroutine on that M. Threads that are no workers have M -1. */
static uint32_t running_on(int32_t m)
{
    int64_t g = m < 0 ? -1 : logged.running[m];
    return g < 0 ? REQUEST_NOBODY : place_of(g)->goroutine;
}

static void running_set(int32_t m, int64_t g)
{
    if (m >= 0)
        logged.running[m] = g;
}

/* Events --------------------------------------------------------------------------------------- */

void request_follow_name(const void *lock, const char *name)
{
    struct known_lock *known = &array_push(logged.lock, logged.locks, logged.locks_room);
    known->of = lock;
    snprintf(known->name, sizeof known->name, "%s", name);
}

/* Locks without a name have numbers, in the order in which somebody waited for them first. */
static uint32_t lock_of(const void *lock)
{
    char name[REQUEST_NAME_SIZE];
    for (size_t i = logged.locks; i-- > 0;)
        if (logged.lock[i].of == lock)
            return (uint32_t)i;
    if (logged.locks == LOCKS_MAX)
        return LOCKS_MAX - 1;
    if (logged.locks == LOCKS_MAX - 1)
        snprintf(name, sizeof name, "%zu and more", logged.locks + 1);
    else
        snprintf(name, sizeof name, "%zu", logged.locks + 1);
    request_follow_name(lock, name);
    return (uint32_t)logged.locks - 1;
}

static uint32_t part_of(int32_t reason)
{
    switch (reason) {
    case WAIT_MUTEX:
    case WAIT_READ_LOCK:
    case WAIT_WRITE_LOCK:
        return PART_LOCK;
    case WAIT_SLEEP:
        return PART_ASLEEP;
    case WAIT_IO_READ:
    case WAIT_IO_WRITE:
        return PART_NETWORK;
    default:
        return PART_WAITING;
    }
}

static void parked(const struct request_event *event, struct place *place)
{
    uint32_t part = part_of(event->a), by_or_lock = REQUEST_NOBODY;
    int64_t woken_ps = INT64_MAX;
    running_set(event->m, -1);
    if (place->parks_late_on >= 0 && place->parks_late_on == event->m) {
        place->parks_late_on = -1;
        return; /* it runs elsewhere already */
    }
    if (part == PART_LOCK)
        by_or_lock = lock_of(event->lock);
    if (place->woken_early) {
        woken_ps = event->when_ps;
        by_or_lock = part == PART_WAITING ? place->woken_by : by_or_lock;
    }
    place->woken_early = false;
    place->woken_late = REQUEST_NOBODY;
    step_add(place, part, event->when_ps, woken_ps, by_or_lock);
}

static bool waits(const struct place *place)
{
    return place->part == PART_LOCK || place->part == PART_ASLEEP || place->part == PART_NETWORK ||
           place->part == PART_WAITING;
}

/* The wait of one that waits is over. One that runs makes room for others, or is back from a call
 * without a processor. Or it is about to park, and need not. */
static void readied(const struct request_event *event, struct place *place)
{
    uint32_t by = running_on(event->m), newest = logged.life[place->goroutine].newest;
    if (waits(place)) {
        if (logged.is_full || newest == REQUEST_NOBODY)
            return;
        struct step *step = &logged.step[newest];
        step->woken_ps = event->when_ps > step->from_ps ? event->when_ps : step->from_ps;
        if (place->part == PART_WAITING)
            step->by_or_lock = by;
        return;
    }
    if (place->woken_late != REQUEST_NOBODY && by != place->goroutine) {
        if (logged.step[place->woken_late].part == PART_WAITING)
            logged.step[place->woken_late].by_or_lock = by;
        place->woken_late = REQUEST_NOBODY;
        return;
    }
    if (event->a == READY_WOKEN || event->a == READY_POLLED || by != place->goroutine) {
        place->woken_early = true;
        place->woken_by = by;
        return;
    }
    step_add(place, PART_RUNNABLE, event->when_ps, INT64_MAX, REQUEST_NOBODY);
    running_set(event->m, -1);
}

static void dispatched(const struct request_event *event, struct place *place)
{
    uint32_t newest = logged.life[place->goroutine].newest;
    if (newest != REQUEST_NOBODY && waits(place) && logged.step[newest].woken_ps == INT64_MAX)
        place->woken_late = newest;
    if (place->part == PART_RUNNING && place->woken_early && place->m != event->m) {
        place->parks_late_on = place->m;
        place->woken_early = false;
    }
    place->m = event->m;
    step_add(place, PART_RUNNING, event->when_ps, INT64_MAX, REQUEST_NOBODY);
    running_set(event->m, event->g);
}

void request_follow_event(const struct request_event *event)
{
    if (!logged.is_on || event->g < 0 || event->kind >= SCHED_EVENT_FIRST_OF_TASKS)
        return;
    running_grow((size_t)event->m + 1); /* -1 wraps to none */
    places_grow((size_t)event->g + 1);
    if (event->kind == SCHED_CREATED) {
        logged.place[event->g] = (struct place){.part = PART_RUNNABLE};
        uint32_t maker = running_on(event->m);
        life_begin(&logged.place[event->g], event->when_ps, maker);
        return;
    }
    struct place *place = place_of(event->g);
    switch (event->kind) {
    case SCHED_READIED:
        if (place->part != PART_RUNNABLE)
            readied(event, place);
        break;
    case SCHED_PARKED:
        parked(event, place);
        break;
    case SCHED_DISPATCHED:
        dispatched(event, place);
        break;
    case SCHED_CALL_BEGUN:
        step_add(place, PART_CALL, event->when_ps, INT64_MAX, REQUEST_NOBODY);
        break;
    case SCHED_CALL_OVER:
        step_add(place, PART_RUNNING, event->when_ps, INT64_MAX, REQUEST_NOBODY);
        break;
    case SCHED_ENDED:
        step_add(place, PART_ENDED, event->when_ps, INT64_MAX, REQUEST_NOBODY);
        if (running_on(event->m) == place->goroutine)
            running_set(event->m, -1);
        break;
    default:
        break;
    }
}

void request_follow_request(int64_t g, int32_t kind, int64_t due_ps, int64_t end_ps)
{
    if (!logged.is_on || logged.is_full)
        return;
    uint32_t goroutine = place_of(g)->goroutine;
    struct life *life = &logged.life[goroutine];
    array_push(logged.request, logged.requests, logged.requests_room) =
        (struct request){{goroutine, due_ps, end_ps, life->served_ps}, kind};
    life->served_ps = end_ps;
}

/* A call ------------------------------------------------------------------------------------- */

void request_follow_begin(int32_t m, int64_t g, int64_t now_ps)
{
    logged.is_on = true;
    logged.steps = logged.lives = logged.requests = 0;
    logged.is_full = false;
    logged.began_ps = now_ps;
    for (size_t i = 0; i < logged.places; i++)
        logged.place[i].goroutine = REQUEST_NOBODY;
    places_grow((size_t)g + 1);
    running_grow((size_t)m + 1);
    logged.place[g].part = PART_RUNNING;
    place_of(g)->m = m;
    logged.running[m] = g;
}

/* The source of request_parts.h ---------------------------------------------------------------- */

static void steps_sort(void)
{
    uint32_t first = 0;
    free(logged.order);
    logged.order = xcalloc(logged.steps, sizeof *logged.order);
    for (size_t i = 0; i < logged.lives; i++)
        logged.life[i].count = 0;
    for (size_t i = 0; i < logged.steps; i++)
        logged.life[logged.step[i].goroutine].count++;
    for (size_t i = 0; i < logged.lives; i++) {
        logged.life[i].first = first;
        first += logged.life[i].count;
        logged.life[i].count = 0;
    }
    for (size_t i = 0; i < logged.steps; i++) {
        struct life *life = &logged.life[logged.step[i].goroutine];
        logged.order[life->first + life->count++] = (uint32_t)i;
    }
}

static const struct step *step_at(uint32_t goroutine, size_t i)
{
    return &logged.step[logged.order[logged.life[goroutine].first + i]];
}

static size_t source_steps(const void *of, uint32_t goroutine, int64_t *made, uint32_t *maker)
{
    (void)of;
    const struct life *life = &logged.life[goroutine];
    *made = life->made_ps;
    *maker = life->maker;
    bool ended = life->count > 0 && step_at(goroutine, life->count - 1)->part == PART_ENDED;
    return life->count - ended;
}

static struct request_step source_step(const void *of, uint32_t goroutine, size_t i)
{
    (void)of;
    const struct step *step = step_at(goroutine, i);
    bool last = i + 1 == logged.life[goroutine].count;
    int64_t to = last ? INT64_MAX : step_at(goroutine, i + 1)->from_ps;
    return (struct request_step){
        .part = (enum request_part)step->part,
        .from = step->from_ps,
        .to = to,
        .woken = step->woken_ps < to ? step->woken_ps : to,
        .by = step->part == PART_WAITING ? step->by_or_lock : REQUEST_NOBODY,
        .lock = step->part == PART_LOCK ? step->by_or_lock : 0,
    };
}

static const char *source_lock(const void *of, uint32_t lock)
{
    (void)of;
    return logged.lock[lock].name;
}

void request_follow_parts(int32_t kind, struct request_parts *parts)
{
    const struct request_source source = {
        .steps = source_steps,
        .step = source_step,
        .lock = source_lock,
        .locks = logged.locks,
        .unmade = PART_ASLEEP, /* of a timer, or not of this call */
        .per_us = 1e6,
    };
    logged.is_on = false;
    size_t count = 0;
    struct request_span *spans = xcalloc(logged.requests, sizeof *spans);
    for (size_t i = 0; i < logged.requests; i++)
        if (logged.request[i].kind == kind)
            spans[count++] = logged.request[i].span;
    steps_sort();
    request_parts_find(parts, &source, spans, count);
    free(spans);
}

void request_follow_end(void)
{
    free(logged.step);
    free(logged.life);
    free(logged.place);
    free(logged.running);
    free(logged.request);
    free(logged.lock);
    free(logged.order);
    memset(&logged, 0, sizeof logged);
}
