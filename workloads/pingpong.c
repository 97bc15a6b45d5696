/* pingpong.c - two goroutines and two channels: the latency of being woken by a message.
 *
 * Source: Go 1.26 runtime/proc_test.go BenchmarkPingPongHog.
 *   Differs: several pairs may play at once; every hop carries a number that the receiver expects;
 *            there are as many hogs as wanted, by default none.
 *
 *   ping: send (pair, i) -> pong: expects (pair, i), sends (pair, 2 i + 1) -> ping: expects that
 *
 * A pair's replies add up to rounds^2, since the first odd numbers add up to a square. With
 * latency=on each ping reads the clock twice a round and keeps a histogram of its own. The clock
 * then takes a good part of the time measured, so latency is off by default.
 *
 * hogs: goroutines that work beside the pairs without ever waiting. They end when all pairs are
 * done, or after hog_chunks chunks of HOG_ROUNDS rounds, whichever is first. If they cannot be
 * stopped, they run all their chunks. The time counted ends with the last pair.
 *
 * victims: goroutines that are ready when the pairs begin, queued behind a pong and before the
 * first ping, and run once. latency=victims records how long each victim waited for its first step,
 * in place of the round trips. With queue=global they are started by go_global(), so they wait in
 * the queue that all workers share. A worker whose pair goes on in one slice does not look into
 * that queue.
 *
 * locked=one locks pong to its thread, locked=both ping too. Then each of its turns is a switch of
 * threads, like calls of C code that have to come from one thread.
 */
#include "workload.h"

#include "histogram.h"

#include <inttypes.h>

#define PINGPONG_PAIR_SHIFT 40 /* a message: pair above, number below */
#define PINGPONG_HISTOGRAMS_MAX 10000

struct pingpong_params {
    int64_t rounds;
    int64_t pairs;
    int64_t capacity;
    int64_t latency; /* enum pingpong_latency */
    int64_t hogs;
    int64_t hog_chunks;
    int64_t victims;
    int64_t queue;  /* enum pingpong_queue */
    int64_t locked; /* how many of the two */
};
enum pingpong_latency { LATENCY_OFF, LATENCY_ON, LATENCY_VICTIMS };
enum pingpong_queue { VICTIMS_LOCAL, VICTIMS_GLOBAL };
enum { HOG_ROUNDS = 2000 };

struct pingpong_state;

struct pingpong_victim {
    struct pingpong_state *state;
    int64_t start_ns; /* written before it exists */
    /* its own until it was waited for */
    int64_t latency_ns;
    uint64_t ran; /* how often */
};

struct pingpong_pair {
    struct pingpong_state *state;
    uint64_t tag; /* the pair's number, shifted */
    struct chan *there, *back;
    /* ping's, read after it was waited for */
    uint64_t sum, ping_wrong;
    struct histogram *latency;
    /* pong's, likewise */
    uint64_t pong_wrong;
};

struct pingpong_state {
    struct pingpong_params params;
    struct pingpong_pair *pairs;
    struct pingpong_victim *victims;
    struct histogram *histograms; /* one a pair, then the merged one; NULL if latency=off; of
                                     latency=victims the last one only */
    struct waitgroup gate;        /* 1 until all pairs exist */
    struct waitgroup done;        /* of the pairs */
    struct waitgroup others_done; /* hogs and victims */
    _Atomic bool over;            /* relaxed: tells hogs to end, no data goes with it */
};

static const char *const pingpong_latency_words[] = {"off", "on", "victims", NULL};

static const char *const pingpong_queue_words[] = {"local", "global", NULL};

static const char *const pingpong_locked_words[] = {"none", "one", "both", NULL};

static const struct param pingpong_param_table[] = {
    PARAM_NUMBER(struct pingpong_params, rounds, 100000, 1, 1000000000, "round trips", "schedlab",
                 "round trips of each pair"),
    PARAM_NUMBER(struct pingpong_params, pairs, 1, 1, 100000, "pairs", "schedlab",
                 "how many pairs play at once"),
    PARAM_NUMBER(struct pingpong_params, capacity, 0, 0, 1000000, "elements",
                 "Go 1.26 runtime/proc_test.go",
                 "buffer of each of a pair's two channels; 0: unbuffered"),
    PARAM_WORD(
        struct pingpong_params, latency, pingpong_latency_words, LATENCY_OFF, "schedlab",
        "record latencies of round trips (on), or the waits of victims; costs two clock reads"),
    PARAM_NUMBER(struct pingpong_params, hogs, 0, 0, 1000, "Gs", "Go 1.26 runtime/proc_test.go",
                 "how many goroutines work beside the pairs and never wait"),
    PARAM_NUMBER(struct pingpong_params, hog_chunks, 1000000, 1, 1000000000, "chunks", "schedlab",
                 "a hog ends after so many chunks of 2000 rounds of go_work() at the latest"),
    PARAM_NUMBER(struct pingpong_params, victims, 0, 0, 100000, "Gs", "schedlab",
                 "goroutines that are queued when the pairs begin, and run once"),
    PARAM_WORD(struct pingpong_params, queue, pingpong_queue_words, VICTIMS_LOCAL, "schedlab",
               "where the victims wait: with main's worker, or in the global queue"),
    PARAM_WORD(struct pingpong_params, locked, pingpong_locked_words, 0, "Go issue 18023",
               "how many goroutines of a pair are locked to their threads"),
    {0},
};

static uint64_t pingpong_live_gs_max(const void *params)
{
    const struct pingpong_params *p = params;
    return 2 * (uint64_t)p->pairs + (uint64_t)p->hogs + (uint64_t)p->victims + 1;
}

static const char *pingpong_check(const void *params)
{
    const struct pingpong_params *p = params;
    if (p->latency == LATENCY_VICTIMS && p->victims == 0)
        return "latency=victims needs victims of 1 or more";
    if (p->latency && p->pairs > PINGPONG_HISTOGRAMS_MAX)
        return "latency=on needs pairs <= 10000, since each pair keeps a histogram";
    return NULL;
}

static int32_t pingpong_request_kind(const void *params)
{
    return (int32_t)((const struct pingpong_params *)params)->latency;
}

static bool pingpong_has_latency(const void *params)
{
    return ((const struct pingpong_params *)params)->latency;
}

static void *pingpong_init(const void *params, uint64_t seed)
{
    (void)seed;
    struct pingpong_state *state = go_alloc_zeroed(sizeof(*state));
    state->params = *(const struct pingpong_params *)params;
    size_t pairs = (size_t)state->params.pairs;
    state->pairs = go_alloc_zeroed(pairs * sizeof(state->pairs[0]));
    size_t victims = (size_t)state->params.victims;
    state->victims = go_alloc_zeroed((victims + 1) * sizeof state->victims[0]);
    for (size_t i = 0; i < victims; i++)
        state->victims[i].state = state;
    if (state->params.latency)
        state->histograms = go_alloc_zeroed((pairs + 1) * sizeof(state->histograms[0]));
    for (size_t i = 0; i < pairs; i++) {
        state->pairs[i].state = state;
        state->pairs[i].tag = (uint64_t)i << PINGPONG_PAIR_SHIFT;
        state->pairs[i].latency =
            state->params.latency == LATENCY_ON ? &state->histograms[i] : NULL;
    }
    return state;
}

static void pingpong_ping(void *arg)
{
    struct pingpong_pair *pair = arg;
    uint64_t rounds = (uint64_t)pair->state->params.rounds, tag = pair->tag;
    uint64_t sum = 0, wrong = 0;
    if (pair->state->params.locked > 1)
        go_lock_thread();
    wg_wait(&pair->state->gate);
    for (uint64_t i = 0; i < rounds; i++) {
        uint64_t message = tag | i;
        int64_t start = pair->latency ? go_now() : 0;
        chan_send(pair->there, &message);
        wrong += !chan_recv(pair->back, &message);
        if (pair->latency) {
            int64_t now_ns = go_now();
            histogram_record(pair->latency, now_ns - start);
            go_request(LATENCY_ON, start, now_ns);
        }
        wrong += message != (tag | (2 * i + 1));
        sum += message - tag;
    }
    pair->sum = sum;
    pair->ping_wrong = wrong;
    if (pair->state->params.locked > 1)
        go_unlock_thread();
    wg_done(&pair->state->done);
}

static void pingpong_pong(void *arg)
{
    struct pingpong_pair *pair = arg;
    uint64_t rounds = (uint64_t)pair->state->params.rounds, tag = pair->tag;
    uint64_t wrong = 0;
    if (pair->state->params.locked > 0)
        go_lock_thread();
    for (uint64_t i = 0; i < rounds; i++) {
        uint64_t message;
        wrong += !chan_recv(pair->there, &message);
        wrong += message != (tag | i);
        message = tag | (2 * (message - tag) + 1);
        chan_send(pair->back, &message);
    }
    pair->pong_wrong = wrong;
    if (pair->state->params.locked > 0)
        go_unlock_thread();
    wg_done(&pair->state->done);
}

static void pingpong_hog(void *arg)
{
    struct pingpong_state *state = arg;
    for (int64_t i = 0; i < state->params.hog_chunks; i++) {
        if (atomic_load_explicit(&state->over, memory_order_relaxed))
            break;
        go_work(HOG_ROUNDS);
    }
    wg_done(&state->others_done);
}

static void pingpong_victim(void *arg)
{
    struct pingpong_victim *self = arg;
    int64_t now_ns = go_now(), start_ns = self->start_ns;
    self->latency_ns = now_ns - start_ns;
    go_request(LATENCY_VICTIMS, start_ns, now_ns);
    self->ran++;
    wg_done(&self->state->others_done);
}

static void pingpong_start_others(struct pingpong_state *state)
{
    bool global = state->params.queue == VICTIMS_GLOBAL;
    wg_add(&state->others_done, (int32_t)(state->params.hogs + state->params.victims));
    atomic_store_explicit(&state->over, false, memory_order_relaxed);
    for (int64_t i = 0; i < state->params.hogs; i++)
        go(pingpong_hog, state);
    for (int64_t i = 0; i < state->params.victims; i++) {
        state->victims[i].ran = 0;
        state->victims[i].start_ns = go_now();
        (global ? go_global : go)(pingpong_victim, &state->victims[i]);
    }
}

static void pingpong_start(struct pingpong_state *state)
{
    size_t pairs = (size_t)state->params.pairs, capacity = (size_t)state->params.capacity;
    wg_add(&state->gate, 1);
    wg_add(&state->done, (int32_t)(2 * pairs));
    for (size_t i = 0; i < pairs; i++) {
        struct pingpong_pair *pair = &state->pairs[i];
        pair->there = chan_make(sizeof(uint64_t), capacity);
        pair->back = chan_make(sizeof(uint64_t), capacity);
        pair->sum = pair->ping_wrong = pair->pong_wrong = 0;
        if (pair->latency)
            histogram_reset(pair->latency);
        go(pingpong_pong, pair);
        if (i + 1 == pairs)
            pingpong_start_others(state);
        go(pingpong_ping, pair);
    }
}

static void pingpong_run(void *arg, struct outcome *out)
{
    struct pingpong_state *state = arg;
    size_t pairs = (size_t)state->params.pairs;
    pingpong_start(state);

    int64_t start = go_now();
    wg_done(&state->gate);
    wg_wait(&state->done);
    out->time_ns = go_now() - start;
    atomic_store_explicit(&state->over, true, memory_order_relaxed);
    wg_wait(&state->others_done);

    out->latency = state->histograms ? &state->histograms[pairs] : NULL;
    if (out->latency)
        histogram_reset(out->latency);
    for (size_t i = 0; i < pairs; i++) {
        struct pingpong_pair *pair = &state->pairs[i];
        chan_free(pair->there);
        chan_free(pair->back);
        out->answer += pair->sum;
        out->digest += digest_mix(pair->tag ^ pair->sum);
        if (pair->latency)
            histogram_merge(out->latency, pair->latency);
    }
    for (int64_t i = 0; i < state->params.victims; i++) {
        if (out->latency && state->params.latency == LATENCY_VICTIMS)
            histogram_record(out->latency, state->victims[i].latency_ns);
        out->digest += digest_mix(((uint64_t)i << 8) ^ state->victims[i].ran);
    }
    out->ops = (uint64_t)(state->params.pairs * state->params.rounds);
}

static const char *pingpong_verify(void *arg, const struct outcome *out, char *why, size_t why_size)
{
    const struct pingpong_state *state = arg;
    uint64_t rounds = (uint64_t)state->params.rounds, pairs = (uint64_t)state->params.pairs;
    for (uint64_t i = 0; i < pairs; i++) {
        const struct pingpong_pair *pair = &state->pairs[i];
        if (pair->ping_wrong || pair->pong_wrong) {
            snprintf(why, why_size,
                     "pair %" PRIu64 ": %" PRIu64 " messages to ping and %" PRIu64
                     " to pong were not the expected ones",
                     i, pair->ping_wrong, pair->pong_wrong);
            return why;
        }
    }
    if (out->answer != pairs * rounds * rounds || out->ops != pairs * rounds) {
        snprintf(why, why_size,
                 "expected the sum %" PRIu64 " of %" PRIu64 " replies, found %" PRIu64
                 " of %" PRIu64,
                 pairs * rounds * rounds, pairs * rounds, out->answer, out->ops);
        return why;
    }
    for (int64_t i = 0; i < state->params.victims; i++) {
        if (state->victims[i].ran != 1) {
            snprintf(why, why_size, "victim %" PRId64 " ran %" PRIu64 " times, not once", i,
                     state->victims[i].ran);
            return why;
        }
    }
    uint64_t latencies =
        state->params.latency == LATENCY_VICTIMS ? (uint64_t)state->params.victims : out->ops;
    if (out->latency && histogram_count(out->latency) != latencies) {
        snprintf(why, why_size, "expected %" PRIu64 " latencies, found %" PRIu64, latencies,
                 histogram_count(out->latency));
        return why;
    }
    return NULL;
}

static void pingpong_fini(void *arg)
{
    struct pingpong_state *state = arg;
    go_free(state->histograms);
    go_free(state->victims);
    go_free(state->pairs);
    go_free(state);
}

const struct workload workload_pingpong = {
    .name = "pingpong",
    .idea = "two goroutines answer each other: the latency of a wake-up",
    .op = "round trip",
    .source = "Go 1.26 runtime/proc_test.go BenchmarkPingPongHog",
    .style = STYLE_GOROUTINE,
    .params = pingpong_param_table,
    .params_size = sizeof(struct pingpong_params),
    .live_gs_max = pingpong_live_gs_max,
    .has_latency = pingpong_has_latency,
    .request_kind = pingpong_request_kind,
    .check = pingpong_check,
    .init = pingpong_init,
    .run = pingpong_run,
    .verify = pingpong_verify,
    .fini = pingpong_fini,
};
