/* crowd.c - many goroutines wait for one event, which wakes them all. How much memory does a
 * blocked goroutine take, and how long does it take to block n of them, and to wake them at once?
 *
 * Source: schedlab.
 *
 * Main starts n goroutines; each says that it is there and waits. Once all have said so, main lets
 * them go, all at once, and waits until the last one has ended. They wait by one of these:
 *
 *   wait=close      to receive from one channel, which main closes
 *   wait=waitgroup  for one wait group, which main counts down to zero
 *   wait=broadcast  on one condition variable; each takes the mutex again when it is woken
 *   wait=sleep      each sleeps, to an end of its own; the ends are drawn at random and lie so
 *                   close together that the crowd wakes as fast as it can. The time in which all
 *                   sleep is not counted.
 *
 * Goroutine i leaves a mark of its own, and says so if it went on before it was let go.
 */
#include "workload.h"

#include <inttypes.h>

enum {
    SLEEP_FIRST_NS = 1000000, /* the earliest end: so long after main began ... */
    SLEEP_EACH_NS = 2000, /* ... and so much for each goroutine that has to go to sleep before */
    SLEEP_APART_NS = 100, /* ends lie in so much time for each: none has an end to wait for */
};

enum crowd_wait { CROWD_CLOSE, CROWD_WAITGROUP, CROWD_BROADCAST, CROWD_SLEEP };

struct crowd_params {
    int64_t n;
    int64_t wait;
};

struct crowd_state;

struct crowd_member {
    struct crowd_state *state;
    uint64_t mark; /* written by the member, read after it was waited for */
};

struct crowd_state {
    struct crowd_params params;
    uint64_t seed;
    struct crowd_member *members;
    struct waitgroup here, done;

    /* what they wait for */
    struct chan *ch;
    struct waitgroup gate;
    struct mutex mu;
    struct cond cond;
    int64_t start_ns; /* wait=sleep: when main began; written before the first member exists */

    /* A1: release in crowd_let_go(), pairs with A2 in crowd_leave(): whoever was woken by main sees
     * it, and whoever was not may miss it. */
    _Atomic bool let_go;
    _Atomic uint64_t early; /* relaxed: read after all were waited for */
};

static const char *const crowd_wait_words[] = {"close", "waitgroup", "broadcast", "sleep", NULL};

static const struct param crowd_param_table[] = {
    PARAM_NUMBER(struct crowd_params, n, 10000, 1, 10000000, "Gs", "schedlab",
                 "how many goroutines wait"),
    PARAM_WORD(
        struct crowd_params, wait, crowd_wait_words, CROWD_CLOSE, "schedlab",
        "what ends the wait: a channel's close, a wait group, a condition variable, a sleep"),
    {0},
};

static uint64_t crowd_live_gs_max(const void *params)
{
    return (uint64_t)((const struct crowd_params *)params)->n + 1; /* and main */
}

static void *crowd_init(const void *params, uint64_t seed)
{
    struct crowd_state *state = go_alloc_zeroed(sizeof *state);
    state->params = *(const struct crowd_params *)params;
    state->seed = seed;
    int64_t n = state->params.n;
    state->members = go_alloc_zeroed((size_t)n * sizeof state->members[0]);
    for (int64_t i = 0; i < n; i++)
        state->members[i].state = state;
    return state;
}

static uint64_t crowd_index(const struct crowd_member *member)
{
    return (uint64_t)(member - member->state->members);
}

/* When the earliest sleep ends. */
static int64_t crowd_first_end_ns(const struct crowd_state *state)
{
    return state->start_ns + SLEEP_FIRST_NS + SLEEP_EACH_NS * state->params.n;
}

static int64_t crowd_end_ns(const struct crowd_member *member)
{
    const struct crowd_state *state = member->state;
    uint64_t spread_ns = SLEEP_APART_NS * (uint64_t)state->params.n;
    return crowd_first_end_ns(state) +
           (int64_t)(digest_mix(state->seed ^ digest_mix(crowd_index(member))) % spread_ns);
}

static void crowd_leave(struct crowd_member *member, bool early)
{
    struct crowd_state *state = member->state;
    if (early)
        atomic_fetch_add_explicit(&state->early, 1, memory_order_relaxed);
    member->mark += crowd_index(member) + 1;
    wg_done(&state->done);
}

static void crowd_leave_if_let_go(struct crowd_member *member)
{
    crowd_leave(member,
                !atomic_load_explicit(&member->state->let_go, memory_order_acquire)); /* A2 */
}

static void crowd_close_main(void *arg)
{
    struct crowd_member *member = arg;
    wg_done(&member->state->here);
    chan_recv(member->state->ch, NULL);
    crowd_leave_if_let_go(member);
}

static void crowd_waitgroup_main(void *arg)
{
    struct crowd_member *member = arg;
    wg_done(&member->state->here);
    wg_wait(&member->state->gate);
    crowd_leave_if_let_go(member);
}

static void crowd_broadcast_main(void *arg)
{
    struct crowd_member *member = arg;
    struct crowd_state *state = member->state;
    mutex_lock(&state->mu);
    wg_done(&state->here);
    cond_wait(&state->cond, &state->mu);
    mutex_unlock(&state->mu);
    crowd_leave_if_let_go(member);
}

static void crowd_sleep_main(void *arg)
{
    struct crowd_member *member = arg;
    int64_t end_ns = crowd_end_ns(member);
    wg_done(&member->state->here);
    go_sleep(end_ns - go_now());
    crowd_leave(member, go_now() < end_ns);
}

static void (*const crowd_mains[])(void *) = {
    [CROWD_CLOSE] = crowd_close_main,
    [CROWD_WAITGROUP] = crowd_waitgroup_main,
    [CROWD_BROADCAST] = crowd_broadcast_main,
    [CROWD_SLEEP] = crowd_sleep_main,
};

static void crowd_let_go(struct crowd_state *state)
{
    atomic_store_explicit(&state->let_go, true, memory_order_release); /* A1 */
    switch ((enum crowd_wait)state->params.wait) {
    case CROWD_CLOSE:
        chan_close(state->ch);
        break;
    case CROWD_WAITGROUP:
        wg_done(&state->gate);
        break;
    case CROWD_BROADCAST:
        mutex_lock(&state->mu); /* the last of them has left it by waiting */
        cond_broadcast(&state->cond);
        mutex_unlock(&state->mu);
        break;
    case CROWD_SLEEP:
        break;
    }
}

static void crowd_prepare(struct crowd_state *state)
{
    int64_t n = state->params.n;
    for (int64_t i = 0; i < n; i++)
        state->members[i].mark = 0;
    atomic_store_explicit(&state->let_go, false, memory_order_relaxed); /* no member exists */
    atomic_store_explicit(&state->early, 0, memory_order_relaxed);
    state->ch = chan_make(1, 0);
    wg_add(&state->gate, state->params.wait == CROWD_WAITGROUP);
    wg_add(&state->here, (int32_t)n);
    wg_add(&state->done, (int32_t)n);
}

static void crowd_run(void *arg, struct outcome *out)
{
    struct crowd_state *state = arg;
    int64_t n = state->params.n, idle_ns = 0;
    crowd_prepare(state);

    state->start_ns = go_now();
    for (int64_t i = 0; i < n; i++)
        go(crowd_mains[state->params.wait], &state->members[i]);
    wg_wait(&state->here);
    if (state->params.wait == CROWD_SLEEP && go_now() < crowd_first_end_ns(state))
        idle_ns = crowd_first_end_ns(state) - go_now();
    crowd_let_go(state);
    wg_wait(&state->done);
    out->time_ns = go_now() - state->start_ns - idle_ns;

    chan_free(state->ch);
    for (int64_t i = 0; i < n; i++) {
        out->answer += state->members[i].mark;
        out->digest += digest_mix(state->members[i].mark);
    }
    out->ops = (uint64_t)n;
}

/* The marks are 1..n: their sum has a closed formula, and each must be in its own place. */
static const char *crowd_verify(void *arg, const struct outcome *out, char *why, size_t why_size)
{
    struct crowd_state *state = arg;
    uint64_t n = (uint64_t)state->params.n, sum = n * (n + 1) / 2;
    uint64_t early = atomic_load_explicit(&state->early, memory_order_relaxed); /* at rest */
    for (uint64_t i = 0; i < n; i++) {
        if (state->members[i].mark != i + 1) {
            snprintf(why, why_size,
                     "goroutine %" PRIu64 " of %" PRIu64 " left %" PRIu64 ", not %" PRIu64
                     " (0: it did not come back)",
                     i, n, state->members[i].mark, i + 1);
            return why;
        }
    }
    if (out->answer != sum || out->ops != n) {
        snprintf(why, why_size,
                 "expected the sum %" PRIu64 " of %" PRIu64 " goroutines, found %" PRIu64
                 " of %" PRIu64,
                 sum, n, out->answer, out->ops);
        return why;
    }
    if (early) {
        snprintf(why, why_size, "%" PRIu64 " of %" PRIu64 " goroutines went on too early", early,
                 n);
        return why;
    }
    return NULL;
}

static void crowd_fini(void *arg)
{
    struct crowd_state *state = arg;
    go_free(state->members);
    go_free(state);
}

const struct workload workload_crowd = {
    .name = "crowd",
    .idea = "n goroutines wait for one event: memory, and scale in numbers",
    .op = "goroutine",
    .source = "schedlab",
    .style = STYLE_GOROUTINE,
    .params = crowd_param_table,
    .params_size = sizeof(struct crowd_params),
    .live_gs_max = crowd_live_gs_max,
    .init = crowd_init,
    .run = crowd_run,
    .verify = crowd_verify,
    .fini = crowd_fini,
};
