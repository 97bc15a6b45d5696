/* pipes.c - goroutines that all wait for a pipe: how many threads does waiting take?
 *
 * Source: schedlab; the three ways are those in accounts of Go's poller: descriptors that it can
 *         wait for, descriptors that it cannot, and standard input.
 *
 * n goroutines read a word each, and wait, because nothing has been written yet. When all have
 * begun to, main waits for settle_ns more, and then writes n words:
 *
 *   mode=poll    each has a pipe of its own, which the poller can wait for: they park
 *   mode=block   each has a pipe of its own that blocks: each keeps a thread in the kernel
 *   mode=shared  one pipe that blocks is for all: one is in the kernel, the others wait for their
 *                turn as goroutines
 *
 * The event PROCESS_THREADS shows how many threads wait. The latencies show how those who wait come
 * back: they run from the write of a word to its reader's next step. The time runs from the first
 * write.
 *
 * mode=block ends only if others get the worker of a goroutine that is in a blocking call; else
 * main would never write. The same is true of mode=shared.
 */
#include "workload.h"

#include "histogram.h"
#include "runtime/io.h"

#include <inttypes.h>
#include <string.h>

enum { PIPES_MAX = 100000, PIPES_LOOK_NS = 1000000 };

enum pipes_mode { PIPES_POLL, PIPES_BLOCK, PIPES_SHARED };

struct pipes_params {
    int64_t n;
    int64_t mode;
    int64_t settle_ns;
};

struct pipes_state;

struct pipes_reader {
    struct pipes_state *state;
    struct io *from, *to;       /* mode=shared: those of the first; written before it exists */
    _Atomic int64_t written_ns; /* relaxed: word i's, read by who has got the word */
    /* its own until it was waited for */
    uint64_t word;
    int64_t latency_ns;
    int64_t error; /* 0, or -errno */
};

struct pipes_state {
    struct pipes_params params;
    struct pipes_reader *readers;
    int64_t error;           /* of making a pipe or writing: 0, or -errno */
    _Atomic int64_t waiting; /* relaxed: main looks again */
    struct waitgroup done;
    struct histogram latency;
};

static const char *const pipes_mode_words[] = {"poll", "block", "shared", NULL};

static const struct param pipes_param_table[] = {
    PARAM_NUMBER(struct pipes_params, n, 1000, 1, PIPES_MAX, "Gs", "schedlab",
                 "how many goroutines wait for a word"),
    PARAM_WORD(
        struct pipes_params, mode, pipes_mode_words, PIPES_POLL, "schedlab",
        "how they wait: at the poller, in the kernel (block), or all for one descriptor (shared)"),
    PARAM_NUMBER(struct pipes_params, settle_ns, 20000000, 0, 10000000000, "ns", "schedlab",
                 "how long main waits once all have begun to read"),
    {0},
};

static uint64_t pipes_live_gs_max(const void *params)
{
    return (uint64_t)((const struct pipes_params *)params)->n + 1; /* and main */
}

static bool pipes_has_latency(const void *params)
{
    (void)params;
    return true;
}

static const char *pipes_skip(const void *params, const struct promises *promises)
{
    if (((const struct pipes_params *)params)->mode == PIPES_POLL || promises->hands_off)
        return NULL;
    return "would never end: a goroutine in a blocking call keeps its worker";
}

/* Both ends of each pipe. */
static uint64_t pipes_polls(const void *params)
{
    const struct pipes_params *p = params;
    return p->mode == PIPES_POLL ? 2 * (uint64_t)p->n : 0;
}

static void *pipes_init(const void *params, uint64_t seed)
{
    (void)seed;
    struct pipes_state *state = go_alloc_zeroed(sizeof *state);
    state->params = *(const struct pipes_params *)params;
    state->readers = go_alloc_zeroed((size_t)state->params.n * sizeof state->readers[0]);
    for (int64_t i = 0; i < state->params.n; i++)
        state->readers[i].state = state;
    return state;
}

static void pipes_reader_main(void *arg)
{
    struct pipes_reader *self = arg;
    struct pipes_state *state = self->state;
    uint64_t word = 0;
    atomic_fetch_add_explicit(&state->waiting, 1, memory_order_relaxed);
    int64_t got = io_read_full(self->from, &word, sizeof word);
    int64_t now = go_now();
    if (got == (int64_t)sizeof word && word < (uint64_t)state->params.n) {
        self->word = digest_mix(word);
        int64_t written_ns =
            atomic_load_explicit(&state->readers[word].written_ns, memory_order_relaxed);
        self->latency_ns = now - written_ns;
        go_request(0, written_ns, now);
    } else {
        self->error = got < 0 ? got : -1;
    }
    wg_done(&state->done);
}

/* Makes the pipes, all or none. */
static int64_t pipes_make(struct pipes_state *state)
{
    struct pipes_reader *readers = state->readers;
    enum io_flags flags = state->params.mode == PIPES_POLL ? IO_POLLED : IO_BLOCKING;
    int64_t made = 0, error = 0;
    for (; made < state->params.n; made++) {
        bool own = made == 0 || state->params.mode != PIPES_SHARED;
        if (own && (error = io_pipe(&readers[made].from, &readers[made].to, flags)))
            break;
        if (!own) {
            readers[made].from = readers[0].from;
            readers[made].to = readers[0].to;
        }
    }
    for (; error && made > 0; made--) {
        io_free(readers[made - 1].from);
        io_free(readers[made - 1].to);
    }
    return error;
}

static void pipes_free(struct pipes_state *state)
{
    int64_t pipes = state->params.mode == PIPES_SHARED ? 1 : state->params.n;
    for (int64_t i = 0; i < pipes; i++) {
        io_free(state->readers[i].from);
        io_free(state->readers[i].to);
    }
}

static void pipes_write(struct pipes_state *state)
{
    for (int64_t i = 0; i < state->params.n; i++) {
        uint64_t word = (uint64_t)i;
        struct pipes_reader *reader = &state->readers[i];
        atomic_store_explicit(&reader->written_ns, go_now(), memory_order_relaxed);
        int64_t put = io_write_all(reader->to, &word, sizeof word);
        if (put < 0)
            state->error = put; /* readers would wait for ever; the sample's time limit ends it */
    }
}

static void pipes_run(void *arg, struct outcome *out)
{
    struct pipes_state *state = arg;
    int64_t n = state->params.n;
    histogram_reset(&state->latency);
    atomic_store_explicit(&state->waiting, 0, memory_order_relaxed);
    state->error = pipes_make(state);
    if (state->error)
        return;
    wg_add(&state->done, (int32_t)n);
    for (int64_t i = 0; i < n; i++) {
        state->readers[i].word = 0;
        state->readers[i].error = 0;
        go(pipes_reader_main, &state->readers[i]);
    }
    while (atomic_load_explicit(&state->waiting, memory_order_relaxed) < n)
        go_sleep(PIPES_LOOK_NS);
    go_sleep(state->params.settle_ns);
    int64_t start_ns = go_now();
    pipes_write(state);
    wg_wait(&state->done);
    out->time_ns = go_now() - start_ns;
    pipes_free(state);
    for (int64_t i = 0; i < n; i++) {
        const struct pipes_reader *reader = &state->readers[i];
        histogram_record(&state->latency, reader->latency_ns);
        out->answer += reader->word;
        out->ops += !reader->error;
    }
    out->digest = digest_mix(out->answer) + digest_mix(~out->ops);
    out->latency = &state->latency;
}

/* Nobody waits: the words alone. */
static void pipes_run_serial(void *arg, struct outcome *out)
{
    struct pipes_state *state = arg;
    histogram_reset(&state->latency);
    for (int64_t i = 0; i < state->params.n; i++) {
        histogram_record(&state->latency, 0);
        out->answer += digest_mix((uint64_t)i);
    }
    out->ops = (uint64_t)state->params.n;
    out->digest = digest_mix(out->answer) + digest_mix(~out->ops);
    out->latency = &state->latency;
}

static const char *pipes_verify(void *arg, const struct outcome *out, char *why, size_t why_size)
{
    const struct pipes_state *state = arg;
    int64_t n = state->params.n, error = state->error;
    uint64_t sum = 0;
    for (int64_t i = 0; i < n; i++) {
        sum += digest_mix((uint64_t)i);
        if (!error)
            error = state->readers[i].error;
    }
    if (error) {
        snprintf(why, why_size, "%" PRId64 " pipes: %s", n, strerror((int)-error));
        return why;
    }
    if (out->answer == sum && out->ops == (uint64_t)n)
        return NULL;
    snprintf(why, why_size,
             "expected the sum %" PRIx64 " of %" PRId64 " words, found %" PRIx64 " of %" PRIu64,
             sum, n, out->answer, out->ops);
    return why;
}

static void pipes_fini(void *arg)
{
    struct pipes_state *state = arg;
    go_free(state->readers);
    go_free(state);
}

const struct workload workload_pipes = {
    .name = "pipes",
    .idea = "goroutines that all wait for a pipe: how many threads it takes",
    .op = "read",
    .source = "schedlab",
    .style = STYLE_GOROUTINE,
    .params = pipes_param_table,
    .params_size = sizeof(struct pipes_params),
    .live_gs_max = pipes_live_gs_max,
    .has_latency = pipes_has_latency,
    .skip = pipes_skip,
    .polls = pipes_polls,
    .init = pipes_init,
    .run = pipes_run,
    .run_serial = pipes_run_serial,
    .verify = pipes_verify,
    .fini = pipes_fini,
};
