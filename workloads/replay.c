/* replay.c - a program read from a file: the same work and the same dependencies on every variant.
 *
 * Source: schedlab; workloads/program.h has the steps of a program, docs/PROGRAMS.md its file.
 *
 * Each goroutine of the program is one here and does its steps in order. A wake ends one certain
 * wait, the one that the file names, and is kept until that comes if it is early. So which
 * goroutine waits for which does not depend on the order in which a variant runs them.
 *
 * `run` and `call cpu` are rounds of go_work(), whose length replay_speed.c measures before a call.
 * After each SLICE_NS of computing there is a preemption point, as functions that are called would
 * have one. Times of the file come out as real time natively, and as virtual time on simulated
 * machines. They include the calls of the program that the file has, so that the replay takes off
 * its own: looks at the clock, and reads and writes of the eventfds below.
 *
 * A wait for the network ends through the poller: each goroutine that has one reads an eventfd, to
 * which its wakers write. Which wait was woken is a flag beside it, so that a goroutine which finds
 * the flag of another wait reads again.
 *
 * A wait for something outside of the program (`poll`) is a timer of the runtime. Its time is the
 * file's (`at`), so that a late program does not slow down who asks: an open loop.
 *
 * A request runs from `begin` to `done`; one that begins right after `poll at` runs from the moment
 * at which it should have come. Where a program has no requests, latencies are the lives of its
 * goroutines, from their start by another one. Findings tell how long goroutines that were started
 * or woken waited for a worker. A wake that came before its wait made nobody wait.
 */
#include "workload.h"

#include "histogram.h"
#include "load.h"
#include "program.h"
#include "replay_demo.h"
#include "replay_requests.h"
#include "replay_speed.h"
#include "replay_times.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { SLICE_NS = 10000, WHY_SIZE = 512 };
enum { LOAD_LEAST = 20 }; /* arrivals that make a load */

enum replay_file { REPLAY_DEMO, REPLAY_FILES };

struct replay_params {
    int64_t file; /* REPLAY_DEMO, or the name's address */
    int64_t scale;
    int64_t copies;
    int64_t rate;
};

struct replay_state;

/* A goroutine of one copy. A cache line, so that neighbours are not disturbed. */
struct replay_goroutine {
    struct replay_state *state;
    uint32_t number, copy;
    int64_t made_ns; /* written by whoever starts it, before */
    /* its own until it was waited for */
    int64_t begun_ns;
    int64_t request_ns; /* when the one that is served should have come; at the end: its life */
    uint64_t work_ns;
    uint32_t done;    /* steps */
    bool failed;      /* its descriptor did */
    uint16_t owed_ns; /* see replay_owe() */
    struct io *io;    /* of its run; NULL: none of its waits is for the network */
};
_Static_assert(sizeof(struct replay_goroutine) == 64, "a goroutine's record is a cache line");

struct replay_wait {
    struct sem sem;
    _Atomic bool is_woken; /* R1: set by the waker before it writes; only for the network */
    int64_t woken_ns;      /* written by the waker before it gives the permit */
    uint32_t wakes;        /* likewise: how often */
    uint32_t waited;       /* the waiter's from here on: how often */
    int64_t late_ns;       /* from the wake until it ran; -1: it was woken before */
};

struct replay_state {
    struct replay_params params;
    const struct program *program;
    struct program_step *steps; /* a copy in memory that machines know */
    /* of all copies */
    size_t goroutines_count, waits_count, requests_count, locks_count, channels_count;
    struct replay_goroutine *goroutines;
    struct replay_wait *waits;
    struct mutex *locks;
    struct sem *channels; /* their messages are permits */
    int64_t *requests_ns; /* latencies */
    struct replay_speed speed;
    int64_t start_ns;
    struct waitgroup done;
    bool has_descriptors; /* the last run's goroutines had them */
    struct histogram latency, late;
    int64_t makespan_ns, late_ns, lock_ns; /* the latter two of all goroutines together */
    struct replay_times *times;            /* of each goroutine */
    int64_t *ends_ns;                      /* of each step of each copy */
};

static const char *const replay_file_words[] = {"demo", NULL};

static const struct param replay_param_table[] = {
    PARAM_FILE(struct replay_params, file, replay_file_words, REPLAY_DEMO, "schedlab",
               "the program (.slp, docs/PROGRAMS.md); demo: a small service"),
    PARAM_NUMBER(struct replay_params, scale, 100, 1, 100000, "percent", "schedlab",
                 "how long the program computes, of what its file says"),
    PARAM_NUMBER(struct replay_params, copies, 1, 1, 10000, "copies", "schedlab",
                 "how many of the program run beside each other"),
    PARAM_NUMBER(struct replay_params, rate, 100, 1, 100000, "percent", "schedlab",
                 "how fast things come from outside, of what its file says"),
    {0},
};

/* Programs ------------------------------------------------------------------------------------ */

/* A program that was read stays, since a specification is asked for many things and a file of many
 * megabytes takes its time. */
struct replay_kept {
    int64_t file;
    struct program *program;
    struct replay_kept *next;
};

/* NULL, and one line in why. */
static const struct program *replay_program(const struct replay_params *params, char *why,
                                            size_t why_size)
{
    static struct replay_kept *kept;
    for (const struct replay_kept *at = kept; at; at = at->next)
        if (at->file == params->file)
            return at->program;
    const char *path = param_file(&replay_param_table[0], params->file);
    struct program *program =
        path ? program_load(path, why, why_size)
             : program_parse("demo", replay_demo, strlen(replay_demo), why, why_size);
    if (!program)
        return NULL;
    struct replay_kept *new = malloc(sizeof *new);
    if (!new)
        abort();
    *new = (struct replay_kept){params->file, program, kept};
    kept = new;
    return program;
}

/* pre: check() has read it. */
static const struct program *replay_read(const void *params)
{
    char why[WHY_SIZE];
    const struct program *program = replay_program(params, why, sizeof why);
    if (!program)
        abort();
    return program;
}

static const char *replay_check(const void *params)
{
    static char why[WHY_SIZE];
    const struct replay_params *p = params;
    /* what is built in is right, and need not be read whenever a program starts */
    if (!param_file(&replay_param_table[0], p->file) && p->copies == 1)
        return NULL;
    const struct program *program = replay_program(p, why, sizeof why);
    if (!program)
        return why;
    if (program->goroutines_count >= INT32_MAX / (size_t)p->copies) {
        snprintf(why, sizeof why,
                 "copies=%" PRId64 " of %zu goroutines are too many; valid: 1 to "
                 "%zu",
                 p->copies, program->goroutines_count, INT32_MAX / (program->goroutines_count + 1));
        return why;
    }
    return NULL;
}

static uint64_t replay_live_gs_max(const void *params)
{
    const struct replay_params *p = params;
    return (uint64_t)replay_read(p)->goroutines_count * (uint64_t)p->copies + 1;
}

static uint64_t replay_polls(const void *params)
{
    const struct replay_params *p = params;
    const struct program *program = replay_read(p);
    uint64_t count = 0;
    for (size_t i = 0; i < program->goroutines_count; i++)
        count += program->goroutines[i].is_polled;
    return count * (uint64_t)p->copies;
}

static bool replay_has_latency(const void *params)
{
    (void)params;
    return true;
}

static bool replay_is_paced(const void *params)
{
    const struct program *program = replay_read(params);
    for (size_t i = 0; i < program->steps_count; i++)
        if (program->steps[i].kind == PROGRAM_AT)
            return true;
    return false;
}

static void *replay_init(const void *params, uint64_t seed)
{
    (void)seed;
    struct replay_state *state = go_alloc_zeroed(sizeof *state);
    state->params = *(const struct replay_params *)params;
    const struct program *program = state->program = replay_read(params);
    size_t copies = (size_t)state->params.copies;
    size_t goroutines = state->goroutines_count = program->goroutines_count * copies;
    size_t waits = state->waits_count = program->waits_count * copies;
    size_t requests = state->requests_count = program->requests_count * copies;
    size_t locks = state->locks_count = program->locks_count * copies;
    size_t channels = state->channels_count = program->channels_count * copies;
    state->steps = go_alloc(program->steps_count * sizeof *state->steps);
    memcpy(state->steps, program->steps, program->steps_count * sizeof *state->steps);
    state->goroutines = go_alloc_zeroed(goroutines * sizeof *state->goroutines);
    state->waits = go_alloc_zeroed(waits * sizeof *state->waits);
    state->requests_ns = go_alloc_zeroed(requests * sizeof *state->requests_ns);
    state->times = go_alloc_zeroed(goroutines * sizeof *state->times);
    state->ends_ns = go_alloc_zeroed(program->steps_count * copies * sizeof *state->ends_ns);
    state->locks = go_alloc_zeroed(locks * sizeof *state->locks);
    state->channels = go_alloc_zeroed(channels * sizeof *state->channels);
    for (size_t i = 0; i < goroutines; i++) {
        state->goroutines[i].state = state;
        state->goroutines[i].number = (uint32_t)(i % program->goroutines_count);
        state->goroutines[i].copy = (uint32_t)(i / program->goroutines_count);
    }
    return state;
}

/* Steps --------------------------------------------------------------------------------------- */

/* The replay's own work is none of the program's: what it does between two steps, looks at the
 * clock, and calls on descriptors for which the file has the program's own. Its goroutine computes
 * so much less next. */
static void replay_owe(struct replay_goroutine *self, double ns)
{
    double owed_ns = (double)self->owed_ns + ns + 0.5;
    self->owed_ns = owed_ns < UINT16_MAX ? (uint16_t)owed_ns : UINT16_MAX;
}

/* Returns what is left to compute. */
static double replay_pay(struct replay_goroutine *self, double ns)
{
    double paid_ns = ns < self->owed_ns ? ns : self->owed_ns;
    self->owed_ns -= (uint16_t)paid_ns;
    return ns - paid_ns;
}

static void replay_work(struct replay_goroutine *self, int64_t ns, bool in_call)
{
    const struct replay_state *state = self->state;
    double left_ns = replay_pay(self, (double)ns * (double)state->params.scale / 100);
    while (left_ns > 0) {
        double part_ns = left_ns < SLICE_NS ? left_ns : SLICE_NS;
        go_work((uint64_t)(part_ns * state->speed.rounds_per_ns));
        left_ns -= part_ns;
        if (left_ns > 0 && !in_call)
            go_preempt_point();
    }
    self->work_ns += (uint64_t)ns;
}

static int64_t replay_start(struct replay_state *state, size_t copy, uint32_t number);

static struct replay_wait *replay_wait_of(const struct replay_goroutine *self, uint32_t number)
{
    const struct replay_state *state = self->state;
    return &state->waits[self->copy * state->program->waits_count + number];
}

static void replay_wake(struct replay_goroutine *self, uint32_t number, int64_t since_ns)
{
    const struct program *program = self->state->program;
    struct replay_wait *wait = replay_wait_of(self, number);
    wait->woken_ns = go_now();
    wait->wakes++;
    replay_owe(self, (double)(wait->woken_ns - since_ns));
    if (!program->waits[number].is_polled) {
        sem_release(&wait->sem, false);
        return;
    }
    const uint64_t one = 1;
    struct replay_goroutine *woken =
        &self->state
             ->goroutines[self->copy * program->goroutines_count + program->waits[number].waits];
    atomic_store_explicit(&wait->is_woken, true, memory_order_release); /* R1: pairs with R2 */
    self->failed |= io_write_all(woken->io, &one, sizeof one) != (int64_t)sizeof one;
    replay_owe(self, self->state->speed.write_ns);
}

/* Until the flag is there: what is read may be the write of another wait's waker. Returns how often
 * it read. */
static int replay_poll(struct replay_goroutine *self, struct replay_wait *wait)
{
    uint64_t writes;
    int reads = 0;
    /* R2: pairs with R1 in replay_wake(); what the waker wrote before is seen */
    for (; !atomic_load_explicit(&wait->is_woken, memory_order_acquire) && !self->failed; reads++)
        self->failed |= io_read(self->io, &writes, sizeof writes) != (int64_t)sizeof writes;
    return reads;
}

static void replay_wait(struct replay_goroutine *self, uint32_t number, int64_t since_ns)
{
    struct replay_wait *wait = replay_wait_of(self, number);
    int reads = 0;
    if (self->state->program->waits[number].is_polled)
        reads = replay_poll(self, wait);
    else
        sem_acquire(&wait->sem);
    /* or was woken a few ns before it looked, which takes a look at the clock to tell */
    bool had_to_wait = wait->woken_ns > since_ns;
    wait->late_ns = had_to_wait ? go_now() - wait->woken_ns : -1;
    wait->waited++;
    /* a read that had to wait was made twice, and a look at the clock tells how long it took */
    const struct replay_speed *speed = &self->state->speed;
    replay_owe(self,
               had_to_wait ? speed->clock_ns + 2 * reads * speed->read_ns : reads * speed->read_ns);
}

static int64_t replay_outside_ns(const struct replay_state *state, int64_t ns)
{
    return (int64_t)((double)ns * 100 / (double)state->params.rate);
}

static void replay_await(struct replay_goroutine *self, int64_t ns)
{
    int64_t due_ns = self->state->start_ns + replay_outside_ns(self->state, ns), left_ns;
    while ((left_ns = due_ns - go_now()) > 0)
        go_sleep(left_ns);
}

static void replay_begin(struct replay_goroutine *self, const struct program_step *step)
{
    size_t first = self->state->program->goroutines[self->number].first;
    bool came = step > &self->state->steps[first] && step[-1].kind == PROGRAM_AT;
    self->request_ns =
        came ? self->state->start_ns + replay_outside_ns(self->state, step[-1].ns) : go_now();
}

/* since_ns: the step before ended then, and all since was the replay's own. */
static void replay_step(struct replay_goroutine *self, const struct program_step *step,
                        int64_t since_ns)
{
    struct replay_state *state = self->state;
    struct mutex *locks = &state->locks[self->copy * state->program->locks_count];
    struct sem *channels = &state->channels[self->copy * state->program->channels_count];
    int64_t *requests_ns = &state->requests_ns[self->copy * state->program->requests_count];
    switch ((enum program_kind)step->kind) {
    case PROGRAM_RUN:
        replay_owe(self, (double)(go_now() - since_ns));
        replay_work(self, step->ns, false);
        break;
    case PROGRAM_GO:
        replay_owe(self, (double)(replay_start(state, self->copy, step->target) - since_ns));
        break;
    case PROGRAM_WAKE:
        replay_wake(self, step->target, since_ns);
        break;
    case PROGRAM_WAIT:
        replay_wait(self, step->target, since_ns);
        break;
    case PROGRAM_SLEEP:
        go_sleep(step->ns);
        break;
    case PROGRAM_CALL:
        blocking_sleep(step->ns);
        break;
    case PROGRAM_BUSY:
        replay_owe(self, (double)(go_now() - since_ns));
        blocking_enter();
        replay_work(self, step->ns, true);
        blocking_exit();
        break;
    case PROGRAM_AT:
        replay_await(self, step->ns);
        break;
    case PROGRAM_AFTER:
        go_sleep(replay_outside_ns(state, step->ns));
        break;
    case PROGRAM_YIELD:
        gosched();
        break;
    case PROGRAM_LOCK:
        mutex_lock(&locks[step->target]);
        break;
    case PROGRAM_UNLOCK:
        mutex_unlock(&locks[step->target]);
        break;
    case PROGRAM_BEGIN:
        replay_begin(self, step);
        break;
    case PROGRAM_DONE:
        requests_ns[step->target] = go_now() - self->request_ns;
        break;
    case PROGRAM_SEND:
        sem_release(&channels[step->target], false);
        break;
    case PROGRAM_RECEIVE:
        sem_acquire(&channels[step->target]);
        break;
    case PROGRAM_END:
    case PROGRAM_KINDS:
        break;
    }
}

/* A wait ends with the time from the wake until the goroutine ran. */
static void replay_account(const struct replay_goroutine *self, const struct program_step *step,
                           int64_t ns, struct replay_times *times)
{
    int64_t late_ns = step->kind == PROGRAM_WAIT ? replay_wait_of(self, step->target)->late_ns : 0;
    late_ns = late_ns > ns ? ns : late_ns > 0 ? late_ns : 0;
    times->ns[TIME_RUNNABLE] += late_ns;
    times->ns[replay_time_of((enum program_kind)step->kind)] += ns - late_ns;
}

static void replay_goroutine_main(void *arg)
{
    struct replay_goroutine *self = arg;
    const struct program_goroutine *goroutine = &self->state->program->goroutines[self->number];
    const struct program_step *steps = &self->state->steps[goroutine->first];
    struct replay_times *times = &self->state->times[self - self->state->goroutines];
    int64_t *ends_ns =
        &self->state->ends_ns[self->copy * self->state->program->steps_count + goroutine->first];
    int64_t now_ns = self->begun_ns = go_now();
    replay_owe(self, self->state->speed.clock_ns);
    times->ns[TIME_RUNNABLE] = now_ns - self->made_ns;
    for (size_t i = 0; i < goroutine->count; i++, self->done++) {
        int64_t before_ns = now_ns;
        replay_step(self, &steps[i], before_ns);
        now_ns = go_now();
        replay_owe(self, self->state->speed.clock_ns);
        replay_account(self, &steps[i], now_ns - before_ns, times);
        ends_ns[i] = now_ns;
    }
    self->request_ns = times->life_ns = now_ns - self->made_ns;
    wg_done(&self->state->done);
}

/* Returns when it began to start it. */
static int64_t replay_start(struct replay_state *state, size_t copy, uint32_t number)
{
    struct replay_goroutine *started =
        &state->goroutines[copy * state->program->goroutines_count + number];
    int64_t made_ns = started->made_ns = go_now();
    go(replay_goroutine_main, started);
    return made_ns;
}

/* The call ------------------------------------------------------------------------------------ */

static void replay_reset(struct replay_state *state)
{
    for (size_t i = 0; i < state->goroutines_count; i++) {
        state->goroutines[i].done = 0;
        state->goroutines[i].work_ns = 0;
        state->goroutines[i].failed = false;
        state->goroutines[i].owed_ns = 0;
        state->times[i] = (struct replay_times){.life_ns = 0};
    }
    for (size_t i = 0; i < state->waits_count; i++) {
        state->waits[i].wakes = state->waits[i].waited = 0;
        atomic_store_explicit(&state->waits[i].is_woken, false, memory_order_relaxed); /* at rest */
    }
    for (size_t i = 0; i < state->channels_count; i++)
        state->channels[i] = (struct sem)SEM_INIT(0); /* of messages that nobody received */
    histogram_reset(&state->latency);
    histogram_reset(&state->late);
    state->late_ns = state->lock_ns = 0;
}

static void replay_collect(struct replay_state *state, struct outcome *out)
{
    for (size_t i = 0; i < state->goroutines_count; i++) {
        const struct replay_goroutine *goroutine = &state->goroutines[i];
        histogram_record(&state->late, goroutine->begun_ns - goroutine->made_ns);
        state->late_ns += goroutine->begun_ns - goroutine->made_ns;
        state->lock_ns += state->times[i].ns[TIME_LOCK];
        if (state->requests_count == 0)
            histogram_record(&state->latency, goroutine->request_ns);
        out->answer += goroutine->work_ns;
        out->digest += digest_mix(digest_mix(i) ^ digest_mix(goroutine->done) ^ goroutine->work_ns);
    }
    for (size_t i = 0; i < state->waits_count; i++) {
        const struct replay_wait *wait = &state->waits[i];
        if (wait->late_ns >= 0) {
            histogram_record(&state->late, wait->late_ns);
            state->late_ns += wait->late_ns;
        }
        out->digest += digest_mix(digest_mix(i) ^ ((uint64_t)wait->wakes << 32 | wait->waited));
    }
    for (size_t i = 0; i < state->requests_count; i++)
        histogram_record(&state->latency, state->requests_ns[i]);
    out->ops = (uint64_t)state->params.copies;
    out->latency = &state->latency;
}

/* True if each goroutine that waits for the network has its descriptor. */
static bool replay_open(struct replay_state *state)
{
    const struct program *program = state->program;
    for (size_t i = 0; i < state->goroutines_count; i++)
        if (program->goroutines[i % program->goroutines_count].is_polled &&
            io_eventfd(&state->goroutines[i].io, IO_POLLED) != 0)
            return false;
    return true;
}

static void replay_close(struct replay_state *state)
{
    for (size_t i = 0; i < state->goroutines_count; i++) {
        io_free(state->goroutines[i].io);
        state->goroutines[i].io = NULL;
    }
}

static void replay_run(void *arg, struct outcome *out)
{
    struct replay_state *state = arg;
    const struct program *program = state->program;
    replay_speed_measure(&state->speed, replay_polls(&state->params) > 0);
    replay_reset(state);
    state->has_descriptors = replay_open(state);
    if (!state->has_descriptors) {
        replay_close(state);
        return;
    }
    wg_add(&state->done, (int32_t)state->goroutines_count);
    state->start_ns = go_now();
    for (size_t copy = 0; copy < (size_t)state->params.copies; copy++)
        for (uint32_t i = 0; i < program->goroutines_count; i++)
            if (program->goroutines[i].started_by == PROGRAM_NONE)
                replay_start(state, copy, i);
    wg_wait(&state->done);
    out->time_ns = state->makespan_ns = go_now() - state->start_ns;
    replay_close(state);
    replay_collect(state, out);
}

static const char *replay_verify(void *arg, const struct outcome *out, char *why, size_t why_size)
{
    const struct replay_state *state = arg;
    const struct program *program = state->program;
    uint64_t work_ns = (uint64_t)program->work_ns * (uint64_t)state->params.copies;
    if (!state->has_descriptors) {
        snprintf(why, why_size, "the process may open no more descriptors");
        return why;
    }
    for (size_t i = 0; i < state->goroutines_count; i++) {
        const struct program_goroutine *goroutine =
            &program->goroutines[i % program->goroutines_count];
        if (state->goroutines[i].failed) {
            snprintf(why, why_size, "a descriptor of goroutine %.100s failed", goroutine->id);
            return why;
        }
        if (state->goroutines[i].done != goroutine->count) {
            snprintf(why, why_size, "goroutine %.100s made %" PRIu32 " of its %zu steps",
                     goroutine->id, state->goroutines[i].done, goroutine->count);
            return why;
        }
    }
    for (size_t i = 0; i < state->waits_count; i++) {
        const struct replay_wait *wait = &state->waits[i];
        uint32_t waits = program->waits[i % program->waits_count].waits;
        if (wait->wakes != 1 || wait->waited != 1) {
            snprintf(why, why_size,
                     "a wait of goroutine %.100s was woken %" PRIu32 " times and ended %" PRIu32
                     " times, expected once each",
                     program->goroutines[waits].id, wait->wakes, wait->waited);
            return why;
        }
    }
    if (out->answer == work_ns && out->ops == (uint64_t)state->params.copies)
        return NULL;
    snprintf(why, why_size, "expected %" PRIu64 " ns of computing, found %" PRIu64, work_ns,
             out->answer);
    return why;
}

static const char *const replay_finds[] = {"makespan_ns",  "late_p50_ns", "late_p99_ns",
                                           "late_p999_ns", "late_count",  "late_sum_ns",
                                           "lock_sum_ns",  NULL};

static void replay_find(void *arg, double *values)
{
    const struct replay_state *state = arg;
    values[0] = (double)state->makespan_ns;
    values[1] = (double)histogram_percentile(&state->late, 50);
    values[2] = (double)histogram_percentile(&state->late, 99);
    values[3] = (double)histogram_percentile(&state->late, 99.9);
    values[4] = (double)histogram_count(&state->late);
    values[5] = (double)state->late_ns;
    values[6] = (double)state->lock_ns;
}

/* Main starts the goroutines that nobody else starts, of each copy and in each call of run().
 * *copy: which one it is of, from 0. */
static uint32_t replay_root(const struct program *program, uint32_t number, uint32_t *copy)
{
    uint32_t roots = 0;
    for (uint32_t i = 0; i < program->goroutines_count; i++)
        roots += program->goroutines[i].started_by == PROGRAM_NONE;
    roots = roots > 0 ? roots : 1; /* the check of a program found one */
    *copy = number / roots;
    number %= roots;
    for (uint32_t i = 0;; i++)
        if (program->goroutines[i].started_by == PROGRAM_NONE && number-- == 0)
            return i;
}

static const char *replay_function(const void *params, const uint32_t *path, size_t levels,
                                   uint32_t *copy)
{
    const struct program *program = replay_read(params);
    int64_t copies = ((const struct replay_params *)params)->copies;
    uint32_t at = replay_root(program, path[0], copy);
    *copy = copies > 1 ? (uint32_t)(*copy % copies) + 1 : 0;
    for (size_t level = 1; level < levels; level++) {
        const struct program_goroutine *goroutine = &program->goroutines[at];
        uint32_t child = path[level];
        size_t i = 0;
        for (; i < goroutine->count; i++)
            if (program->steps[goroutine->first + i].kind == PROGRAM_GO && child-- == 0)
                break;
        if (i == goroutine->count)
            return NULL;
        at = program->steps[goroutine->first + i].target;
    }
    return program->goroutines[at].name;
}

/* Times, for replay_requests_parts(). */
static int64_t replay_due_ns(const void *of, int64_t ns)
{
    const struct replay_state *state = of;
    return state->start_ns + replay_outside_ns(state, ns);
}

static int64_t replay_woken_ns(const void *of, size_t wait)
{
    return ((const struct replay_state *)of)->waits[wait].woken_ns;
}

static int64_t replay_made_ns(const void *of, uint32_t goroutine)
{
    return ((const struct replay_state *)of)->goroutines[goroutine].made_ns;
}

/* The load is what comes from outside, or the requests of it that come then. */
static void replay_print(void *arg, FILE *to)
{
    const struct replay_state *state = arg;
    const struct program *program = state->program;
    int64_t due_ns = 0, count = 0;
    for (size_t i = 0; i < program->steps_count; i++) {
        if (program->steps[i].kind != PROGRAM_AT)
            continue;
        due_ns = program->steps[i].ns > due_ns ? program->steps[i].ns : due_ns;
        count++;
    }
    due_ns = replay_outside_ns(state, due_ns);
    if (count >= LOAD_LEAST && due_ns > 0)
        load_print(to, (double)count * 1e9 / (double)due_ns, due_ns, state->makespan_ns,
                   "arrivals");
    replay_speed_print(&state->speed, to);
    fprintf(
        to, "from ready to running, us: p50 %.1f, p90 %.1f, p99 %.1f, p99.9 %.1f; makespan %.1f\n",
        (double)histogram_percentile(&state->late, 50) / 1000,
        (double)histogram_percentile(&state->late, 90) / 1000,
        (double)histogram_percentile(&state->late, 99) / 1000,
        (double)histogram_percentile(&state->late, 99.9) / 1000, (double)state->makespan_ns / 1000);
    replay_times_print(program, state->times, state->goroutines_count, to);
}

static struct replay_run replay_run_of(const struct replay_state *state)
{
    return (struct replay_run){.program = state->program,
                               .copies = (size_t)state->params.copies,
                               .ends_ns = state->ends_ns,
                               .due_ns = replay_due_ns,
                               .woken_ns = replay_woken_ns,
                               .made_ns = replay_made_ns,
                               .of = state};
}

static size_t replay_parts(void *arg, struct request_parts *parts)
{
    const struct replay_run run = replay_run_of(arg);
    return replay_requests_parts(&run, parts);
}

static void replay_requests(void *arg,
                            void (*visit)(const struct workload_request *request, void *arg),
                            void *visit_arg)
{
    const struct replay_run run = replay_run_of(arg);
    replay_requests_each(&run, visit, visit_arg);
}

static void replay_fini(void *arg)
{
    struct replay_state *state = arg;
    go_free(state->channels);
    go_free(state->locks);
    go_free(state->ends_ns);
    go_free(state->times);
    go_free(state->requests_ns);
    go_free(state->waits);
    go_free(state->goroutines);
    go_free(state->steps);
    go_free(state);
}

const struct workload workload_replay = {
    .name = "replay",
    .idea = "a program from a file: what its goroutines compute and wait for",
    .op = "copy of the program",
    .source = "schedlab",
    .style = STYLE_GOROUTINE,
    .params = replay_param_table,
    .params_size = sizeof(struct replay_params),
    .live_gs_max = replay_live_gs_max,
    .polls = replay_polls,
    .has_latency = replay_has_latency,
    .is_paced = replay_is_paced,
    .check = replay_check,
    .init = replay_init,
    .run = replay_run,
    .verify = replay_verify,
    .print = replay_print,
    .parts = replay_parts,
    .finds = replay_finds,
    .find = replay_find,
    .function = replay_function,
    .requests = replay_requests,
    .fini = replay_fini,
};
