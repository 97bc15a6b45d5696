/* order.c - in which order did n goroutines run? The scheduler's decisions, read off directly.
 *
 * Source: Go 1.26 runtime/proc.go runqput, runqget, runqputslow, findRunnable, runqsteal (spawn,
 *         steal), runtime/chan.go closechan, sync.Cond, sync.WaitGroup, runtime/time.go (wake
 *         orders), runtime/netpoll_epoll.go netpoll (pipes), Gosched.
 *
 *   mode=spawn      main starts G0 .. Gn-1, then waits for all
 *   mode=close      n waiters park on a channel one after the other, then main closes it
 *   mode=broadcast  likewise on a condition variable, then main broadcasts
 *   mode=waitgroup  likewise on a wait group, then main brings it to zero
 *   mode=yield      main starts n, yields once and takes its place in the order as "y"
 *   mode=steal      main keeps its worker busy while another worker takes and runs all n
 *   mode=sleep      n sleep equally long, one after the other; main keeps its worker busy until all
 *                   sleeps have ended, then waits for them
 *   mode=pipes      n wait for a pipe each, one after the other; main writes to all in that order,
 *                   then waits for them
 *   mode=search     as steal, but n is 4, and each is in another place when the other worker begins
 *                   to search: 0 where all workers look, 1 waits for a pipe that is ready, 2 and 3
 *                   are queued on main's worker, the newest last
 *
 * yields=k: main yields k times before it begins, which advances the tick of a scheduler that looks
 * elsewhere every so many dispatches.
 *
 * The order is the variant's own and not wrong for being another: verification asks only that each
 * goroutine ran exactly once and that the waiters came to park in the order 0 .. n-1, and the
 * digest is over the set that ran. With one worker a goroutine that has announced that it will park
 * does so before anybody else runs. With more, the next one may overtake it in between (not in
 * mode=broadcast, where the mutex is held until it is on the list).
 *
 * mode=steal: a goroutine "blocker" is taken by another worker, which proves that there is one, and
 * spins there while main queues the n. Then it ends, and its worker finds them. Main spins on a
 * counter meanwhile, so that its own worker runs none of them. Where nobody takes the blocker
 * (one thread, or a variant that never moves a goroutine) the run fails after DEADLINE_NS. Where
 * the child runs first it is main that must be taken, and each of the n runs as soon as it is made.
 *
 * mode=search: the same blocker keeps the other worker until all four are in their places.
 *
 * mode=sleep: no sleep may end before all n sleep, however slow the machine is. Where the first one
 * could have, main lets this round end and begins another one, with sleeps twice as long.
 */
#include "order.h"

#include "workload.h"

#include "runtime/io.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define DEADLINE_NS INT64_C(5000000000)
#define SLEEP_NS INT64_C(2000000)

enum order_mode {
    ORDER_SPAWN,
    ORDER_CLOSE,
    ORDER_BROADCAST,
    ORDER_WAITGROUP,
    ORDER_YIELD,
    ORDER_STEAL,
    ORDER_SLEEP,
    ORDER_PIPES,
    ORDER_SEARCH,
};
enum { SEARCH_GLOBAL, SEARCH_PIPE, SEARCH_LOCAL, SEARCH_NEWEST, SEARCH_PLACES };

struct order_params {
    int64_t n;
    int64_t mode;
    int64_t yields;
};

struct order_state;

struct order_member {
    struct order_state *state;
    uint32_t id;
    struct io *from, *to; /* mode=pipes */
};

struct order_state {
    struct order_params params;
    struct order_member *members;
    uint32_t *ran;    /* ids in the order in which they ran; n itself is the yielder */
    uint32_t *parked; /* ids in the order in which they were about to park */
    char *text;
    const char *failure; /* why a mode could not do its work; NULL */
    struct waitgroup done;

    /* relaxed suffices for both: they give out places; what is in them is read after `done` */
    _Atomic uint32_t ran_count, parked_count;

    /* what the waiters park on */
    struct chan *ch;
    struct waitgroup gate;
    struct mutex mu;
    struct cond cond;
    bool released;    /* protected by mu */
    int64_t sleep_ns; /* constant while Gs of this round live */

    /* relaxed suffices for all: mere signals, no data is handed over with them */
    _Atomic bool blocker_runs, blocker_may_end, blocker_gave_up;
};

static const char *const order_mode_words[] = {"spawn", "close", "broadcast", "waitgroup", "yield",
                                               "steal", "sleep", "pipes",     "search",    NULL};

static const struct param order_param_table[] = {
    PARAM_NUMBER(struct order_params, n, 10, 1, 1000000, "Gs", "schedlab",
                 "how many goroutines are started, or wait to be woken"),
    PARAM_WORD(struct order_params, mode, order_mode_words, ORDER_SPAWN, "schedlab",
               "what makes the goroutines runnable"),
    PARAM_NUMBER(struct order_params, yields, 0, 0, 1000000, "yields", "schedlab",
                 "how often main yields first, which shifts the scheduler's tick"),
    {0},
};

static uint64_t order_live_gs_max(const void *params)
{
    const struct order_params *p = params;
    return (uint64_t)p->n + 1 + (p->mode == ORDER_STEAL || p->mode == ORDER_SEARCH);
}

/* Both ends of each pipe. */
static uint64_t order_polls(const void *params)
{
    const struct order_params *p = params;
    return p->mode == ORDER_PIPES ? 2 * (uint64_t)p->n : p->mode == ORDER_SEARCH ? 2 : 0;
}

/* One worker is kept busy, so there must be a second one to take the rest. */
static int order_workers_min(const void *params)
{
    const struct order_params *p = params;
    return p->mode == ORDER_STEAL || p->mode == ORDER_SEARCH ? 2 : 1;
}

static const char *order_check(const void *params)
{
    const struct order_params *p = params;
    if (p->mode == ORDER_SEARCH && p->n != SEARCH_PLACES)
        return "mode=search needs n=4, one goroutine for each place";
    return NULL;
}

static void *order_init(const void *params, uint64_t seed)
{
    (void)seed;
    struct order_state *state = go_alloc_zeroed(sizeof(*state));
    state->params = *(const struct order_params *)params;
    size_t n = (size_t)state->params.n;
    state->members = go_alloc_zeroed(n * sizeof(state->members[0]));
    state->ran = go_alloc_zeroed((n + 1) * sizeof(state->ran[0]));
    state->parked = go_alloc_zeroed(n * sizeof(state->parked[0]));
    state->text = go_alloc_zeroed((n + 1) * strlen("1000000 ") + 1);
    for (size_t i = 0; i < n; i++) {
        state->members[i].state = state;
        state->members[i].id = (uint32_t)i;
    }
    return state;
}

/* How many places may be taken: the yielder has one too. */
static uint32_t order_expected(const struct order_state *state)
{
    return (uint32_t)state->params.n + (state->params.mode == ORDER_YIELD);
}

/* A goroutine too many is counted, and has no place to write to. */
static void order_ran(struct order_state *state, uint32_t id)
{
    uint32_t place = atomic_fetch_add_explicit(&state->ran_count, 1, memory_order_relaxed);
    if (place < order_expected(state))
        state->ran[place] = id;
}

static void order_will_park(struct order_state *state, uint32_t id)
{
    uint32_t place = atomic_fetch_add_explicit(&state->parked_count, 1, memory_order_relaxed);
    if (place < (uint32_t)state->params.n)
        state->parked[place] = id;
}

static void order_member_main(void *arg)
{
    struct order_member *self = arg;
    order_ran(self->state, self->id);
    wg_done(&self->state->done);
}

static void order_waiter_close(void *arg)
{
    struct order_member *self = arg;
    order_will_park(self->state, self->id);
    chan_recv(self->state->ch, NULL);
    order_member_main(self);
}

static void order_waiter_broadcast(void *arg)
{
    struct order_member *self = arg;
    struct order_state *state = self->state;
    mutex_lock(&state->mu);
    order_will_park(state, self->id);
    while (!state->released)
        cond_wait(&state->cond, &state->mu);
    order_ran(state, self->id);
    mutex_unlock(&state->mu);
    wg_done(&state->done);
}

static void order_waiter_waitgroup(void *arg)
{
    struct order_member *self = arg;
    order_will_park(self->state, self->id);
    wg_wait(&self->state->gate);
    order_member_main(self);
}

static void order_waiter_sleep(void *arg)
{
    struct order_member *self = arg;
    order_will_park(self->state, self->id);
    go_sleep(self->state->sleep_ns);
    order_member_main(self);
}

static void order_waiter_pipe(void *arg)
{
    struct order_member *self = arg;
    char byte;
    order_will_park(self->state, self->id);
    if (io_read_full(self->from, &byte, sizeof byte) != (int64_t)sizeof byte)
        self->state->failure = "mode=pipes: a pipe could not be read";
    order_member_main(self);
}

static void order_start_all(struct order_state *state)
{
    for (int64_t i = 0; i < state->params.n; i++)
        go(order_member_main, &state->members[i]);
}

/* Starts the waiters so that each is about to park before the next one exists. */
static void order_park_all(struct order_state *state, void (*waiter)(void *))
{
    for (int64_t i = 0; i < state->params.n; i++) {
        go(waiter, &state->members[i]);
        while (atomic_load_explicit(&state->parked_count, memory_order_relaxed) <= i)
            gosched();
        if (state->params.mode == ORDER_BROADCAST) {
            /* free again only once the waiter is on the list */
            mutex_lock(&state->mu);
            mutex_unlock(&state->mu);
        }
    }
}

static void order_run_close(struct order_state *state)
{
    state->ch = chan_make(1, 0);
    order_park_all(state, order_waiter_close);
    chan_close(state->ch);
    wg_wait(&state->done);
    chan_free(state->ch);
}

static void order_run_broadcast(struct order_state *state)
{
    state->released = false;
    order_park_all(state, order_waiter_broadcast);
    mutex_lock(&state->mu);
    state->released = true;
    mutex_unlock(&state->mu);
    cond_broadcast(&state->cond);
    wg_wait(&state->done);
}

static void order_run_waitgroup(struct order_state *state)
{
    wg_add(&state->gate, 1);
    order_park_all(state, order_waiter_waitgroup);
    wg_done(&state->gate);
    wg_wait(&state->done);
}

/* One round. True if no sleep can have ended before all had begun. */
static bool order_sleep_round(struct order_state *state)
{
    int64_t first_end = go_now() + state->sleep_ns;
    order_park_all(state, order_waiter_sleep);
    int64_t parked = go_now();
    while (go_now() <= parked + state->sleep_ns)
        go_work(64);
    wg_wait(&state->done);
    return parked < first_end;
}

static void order_run_sleep(struct order_state *state)
{
    state->sleep_ns = SLEEP_NS;
    while (!order_sleep_round(state)) {
        state->sleep_ns *= 2;
        if (state->sleep_ns > DEADLINE_NS) {
            state->failure = "mode=sleep: the goroutines took longer than 4 s to go to sleep";
            return;
        }
        atomic_store_explicit(&state->ran_count, 0, memory_order_relaxed);
        atomic_store_explicit(&state->parked_count, 0, memory_order_relaxed);
        wg_add(&state->done, (int32_t)state->params.n);
    }
}

static void order_pipes_free(struct order_state *state, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        io_free(state->members[i].from);
        io_free(state->members[i].to);
    }
}

/* One write makes one reader ready. A pipe that cannot be written to is closed instead, and its
 * reader fails. */
static void order_run_pipes(struct order_state *state)
{
    struct order_member *members = state->members;
    int64_t n = state->params.n;
    for (int64_t i = 0; i < n; i++) {
        if (io_pipe(&members[i].from, &members[i].to, IO_POLLED)) {
            state->failure = "mode=pipes: the process may open no more pipes";
            order_pipes_free(state, i);
            order_start_all(state);
            wg_wait(&state->done);
            return;
        }
    }
    order_park_all(state, order_waiter_pipe);
    for (int64_t i = 0; i < n; i++)
        if (io_write_all(members[i].to, "", 1) != 1)
            io_close(members[i].to);
    wg_wait(&state->done);
    order_pipes_free(state, n);
}

static void order_run_yield(struct order_state *state)
{
    order_start_all(state);
    gosched();
    order_ran(state, (uint32_t)state->params.n);
    wg_wait(&state->done);
}

static void order_blocker(void *arg)
{
    struct order_state *state = arg;
    atomic_store_explicit(&state->blocker_runs, true, memory_order_relaxed);
    /* where the child runs first, main waits for somebody to take it: not for ever */
    int64_t deadline = go_now() + 2 * DEADLINE_NS;
    while (!atomic_load_explicit(&state->blocker_may_end, memory_order_relaxed)) {
        if (go_now() > deadline) {
            atomic_store_explicit(&state->blocker_gave_up, true, memory_order_relaxed);
            break;
        }
        go_work(64);
    }
    wg_done(&state->done);
}

/* Keeps this worker busy until the blocker runs, elsewhere then. */
static bool order_spin_until_taken(struct order_state *state)
{
    int64_t deadline = go_now() + DEADLINE_NS;
    while (!atomic_load_explicit(&state->blocker_runs, memory_order_relaxed)) {
        if (go_now() > deadline)
            return false;
        go_work(64);
    }
    return true;
}

static bool order_spin_until_all_ran(struct order_state *state)
{
    int64_t deadline = go_now() + DEADLINE_NS;
    while (atomic_load_explicit(&state->ran_count, memory_order_relaxed) < state->params.n) {
        if (go_now() > deadline)
            return false;
        go_work(64);
    }
    return true;
}

/* start() makes all runnable. Whatever fails, all run in the end, so that the state is ready for
 * the next run. */
static void order_run_beside_blocker(struct order_state *state,
                                     void (*start)(struct order_state *state))
{
    if (go_workers() < 2) {
        state->failure = "needs at least 2 workers";
        start(state);
        wg_wait(&state->done);
        return;
    }
    atomic_store_explicit(&state->blocker_runs, false, memory_order_relaxed);
    atomic_store_explicit(&state->blocker_may_end, false, memory_order_relaxed);
    atomic_store_explicit(&state->blocker_gave_up, false, memory_order_relaxed);
    wg_add(&state->done, 1);
    go(order_blocker, state);
    if (!order_spin_until_taken(state))
        state->failure = "within 5 s no worker took a goroutine from a busy one";
    start(state);
    atomic_store_explicit(&state->blocker_may_end, true, memory_order_relaxed);
    if (!state->failure && !order_spin_until_all_ran(state))
        state->failure = "within 5 s not all goroutines were taken from a busy worker";
    wg_wait(&state->done);
    if (atomic_load_explicit(&state->blocker_gave_up, memory_order_relaxed))
        state->failure = "within 10 s no worker ran main beside the blocker";
}

/* Puts each where it belongs. */
static void order_hide_all(struct order_state *state)
{
    struct order_member *members = state->members;
    go_global(order_member_main, &members[SEARCH_GLOBAL]);
    go(order_member_main, &members[SEARCH_LOCAL]);
    go(order_member_main, &members[SEARCH_NEWEST]);
    if (io_write_all(members[SEARCH_PIPE].to, "", 1) != 1)
        io_close(members[SEARCH_PIPE].to);
}

static void order_run_search(struct order_state *state)
{
    struct order_member *reader = &state->members[SEARCH_PIPE];
    if (io_pipe(&reader->from, &reader->to, IO_POLLED)) {
        state->failure = "mode=search: the process may open no more pipes";
        order_start_all(state);
        wg_wait(&state->done);
        return;
    }
    go(order_waiter_pipe, reader);
    while (atomic_load_explicit(&state->parked_count, memory_order_relaxed) == 0)
        gosched();
    order_run_beside_blocker(state, order_hide_all);
    io_free(reader->from);
    io_free(reader->to);
}

static void order_dispatch(struct order_state *state)
{
    switch ((enum order_mode)state->params.mode) {
    case ORDER_SPAWN:
        order_start_all(state);
        wg_wait(&state->done);
        break;
    case ORDER_CLOSE:
        order_run_close(state);
        break;
    case ORDER_BROADCAST:
        order_run_broadcast(state);
        break;
    case ORDER_WAITGROUP:
        order_run_waitgroup(state);
        break;
    case ORDER_YIELD:
        order_run_yield(state);
        break;
    case ORDER_STEAL:
        order_run_beside_blocker(state, order_start_all);
        break;
    case ORDER_SLEEP:
        order_run_sleep(state);
        break;
    case ORDER_PIPES:
        order_run_pipes(state);
        break;
    case ORDER_SEARCH:
        order_run_search(state);
        break;
    }
}

/* How many places of the order are filled. */
static uint32_t order_filled(struct order_state *state)
{
    uint32_t count = atomic_load_explicit(&state->ran_count, memory_order_relaxed); /* at rest */
    return count < order_expected(state) ? count : order_expected(state);
}

static uint64_t order_hash(struct order_state *state)
{
    uint64_t hash = 0;
    for (uint32_t i = 0; i < order_filled(state); i++)
        hash = digest_mix(hash ^ state->ran[i]);
    return hash;
}

static void order_run(void *arg, struct outcome *out)
{
    struct order_state *state = arg;
    state->failure = NULL;
    atomic_store_explicit(&state->ran_count, 0, memory_order_relaxed);
    atomic_store_explicit(&state->parked_count, 0, memory_order_relaxed);
    for (int64_t i = 0; i < state->params.yields; i++)
        gosched();
    wg_add(&state->done, (int32_t)state->params.n);
    order_dispatch(state);

    out->ops = atomic_load_explicit(&state->ran_count, memory_order_relaxed); /* after done */
    out->answer = order_hash(state);
    for (uint32_t i = 0; i < order_filled(state); i++)
        out->digest += digest_mix((uint64_t)state->ran[i] + 1);
}

/* Writes ids as text; `self` is printed as "y". */
static const char *order_format(char *text, const uint32_t *ids, uint32_t count, uint32_t self)
{
    char *end = text;
    *end = '\0';
    for (uint32_t i = 0; i < count;) {
        uint32_t last = i;
        while (last + 1 < count && ids[last + 1] == ids[last] + 1 && ids[last + 1] != self)
            last++;
        if (i > 0)
            *end++ = ' ';
        if (ids[i] == self)
            end += sprintf(end, "y");
        else if (last > i)
            end += sprintf(end, "%" PRIu32 "-%" PRIu32, ids[i], ids[last]);
        else
            end += sprintf(end, "%" PRIu32, ids[i]);
        i = last + 1;
    }
    return text;
}

const char *order_text(void *arg)
{
    struct order_state *state = arg;
    return order_format(state->text, state->ran, order_filled(state), (uint32_t)state->params.n);
}

const char *order_parked_text(void *arg)
{
    struct order_state *state = arg;
    uint32_t n = (uint32_t)state->params.n;
    uint32_t count = atomic_load_explicit(&state->parked_count, memory_order_relaxed); /* at rest */
    return order_format(state->text, state->parked, count < n ? count : n, n);
}

static bool order_has_waiters(const struct order_state *state)
{
    return state->params.mode == ORDER_CLOSE || state->params.mode == ORDER_BROADCAST ||
           state->params.mode == ORDER_WAITGROUP || state->params.mode == ORDER_SLEEP ||
           state->params.mode == ORDER_PIPES;
}

/* Every id below `expected` exactly once; NULL, or what is wrong. */
static const char *order_verify_set(struct order_state *state, char *why, size_t why_size)
{
    uint32_t expected = order_expected(state);
    uint32_t count = atomic_load_explicit(&state->ran_count, memory_order_relaxed); /* at rest */
    if (count != expected) {
        snprintf(why, why_size, "expected %" PRIu32 " goroutines to run, found %" PRIu32, expected,
                 count);
        return why;
    }
    unsigned char *seen = go_alloc_zeroed(expected);
    const char *wrong = NULL;
    for (uint32_t i = 0; i < expected && !wrong; i++) {
        uint32_t id = state->ran[i];
        if (id >= expected || seen[id]++) {
            snprintf(why, why_size, "goroutine %" PRIu32 " %s", id,
                     id >= expected ? "was never started" : "ran twice");
            wrong = why;
        }
    }
    go_free(seen);
    return wrong;
}

static const char *order_verify(void *arg, const struct outcome *out, char *why, size_t why_size)
{
    struct order_state *state = arg;
    uint32_t n = (uint32_t)state->params.n;
    if (state->failure) {
        snprintf(why, why_size, "%s", state->failure);
        return why;
    }
    if (order_verify_set(state, why, why_size))
        return why;
    for (uint32_t i = 0; order_has_waiters(state) && i < n; i++) {
        if (state->parked[i] != i) {
            snprintf(why, why_size, "waiter %" PRIu32 " parked as number %" PRIu32,
                     state->parked[i], i);
            return why;
        }
    }
    if (out->answer != order_hash(state) || out->ops != order_expected(state)) {
        snprintf(why, why_size, "the answer %016" PRIx64 " is not the hash of the order found",
                 out->answer);
        return why;
    }
    return NULL;
}

/* Reads "7", "7-9" or "y" from *at on, and moves it behind. False if nothing of that kind is there,
 * or the ids are not those of `expected` goroutines. */
static bool order_read_run(const char **at, uint32_t expected, uint32_t *first, uint32_t *last)
{
    char *end;
    if (**at == 'y') {
        *first = *last = expected - 1;
        *at += 1;
        return true;
    }
    *first = *last = (uint32_t)strtoul(*at, &end, 10);
    if (end > *at && *end == '-') {
        *at = end + 1;
        *last = (uint32_t)strtoul(*at, &end, 10);
    }
    bool is_there = end > *at && *first <= *last && *last < expected;
    *at = end;
    return is_there;
}

/* No id twice is the digest's to tell: it is a sum over those that ran. */
const char *order_told_verify(const void *params, const char *told, const struct outcome *out,
                              char *why, size_t why_size)
{
    const struct order_params *p = params;
    uint32_t expected = (uint32_t)p->n + (p->mode == ORDER_YIELD), first, last;
    struct outcome of = {.ops = 0}, wanted = {.ops = expected};
    for (uint32_t id = 0; id < expected; id++)
        wanted.digest += digest_mix((uint64_t)id + 1);
    for (const char *at = told; *at; at += *at == ' ') {
        if (!order_read_run(&at, expected, &first, &last) || (*at && *at != ' ')) {
            snprintf(why, why_size, "\"%.80s\" is no order of %" PRIu32 " goroutines", told,
                     expected);
            return why;
        }
        for (; first <= last; first++, of.ops++) {
            of.answer = digest_mix(of.answer ^ first);
            of.digest += digest_mix((uint64_t)first + 1);
        }
    }
    if (of.ops != wanted.ops || of.digest != wanted.digest) {
        snprintf(why, why_size, "in its order not each of %" PRIu32 " goroutines runs once",
                 expected);
        return why;
    }
    if (out->ops == of.ops && out->answer == of.answer && out->digest == of.digest)
        return NULL;
    snprintf(why, why_size, "its operations, answer and digest are not those of its order");
    return why;
}

static void order_print(void *arg, FILE *to)
{
    struct order_state *state = arg;
    if (order_has_waiters(state))
        fprintf(to, "parked: %s\n", order_parked_text(state));
    fprintf(to, "ran: %s\n", order_text(state));
}

static void order_fini(void *arg)
{
    struct order_state *state = arg;
    go_free(state->text);
    go_free(state->parked);
    go_free(state->ran);
    go_free(state->members);
    go_free(state);
}

const struct workload workload_order = {
    .name = "order",
    .idea = "prints the order in which goroutines ran: decisions made visible",
    .op = "goroutine",
    .source = "Go 1.26 runtime/proc.go runqput, findRunnable, runqsteal",
    .style = STYLE_GOROUTINE,
    .params = order_param_table,
    .params_size = sizeof(struct order_params),
    .live_gs_max = order_live_gs_max,
    .workers_min = order_workers_min,
    .polls = order_polls,
    .check = order_check,
    .is_shown = true,
    .init = order_init,
    .run = order_run,
    .verify = order_verify,
    .print = order_print,
    .fini = order_fini,
};

bool order_is_of(const struct workload *workload)
{
    return workload == &workload_order;
}
