/* echo.c - a server and its clients over loopback TCP, in one process: the cost of waiting for
 * descriptors.
 *
 * Source: schedlab; the server is the one of most introductions to the subject, a goroutine per
 *         connection.
 *
 * Each client sends a message, waits until all of it has come back, compares it, and sends the next
 * one. The loop is closed, with as many messages under way as there are connections. With a rate it
 * is an open loop: messages are due on a schedule of Poisson arrivals, and each connection has an
 * equal share of the rate. A latency then runs from when its message was due. So it includes the
 * time for which a late answer holds up the next message (coordinated omission; arrivals.c). The
 * time runs from when all are connected. Message m of connection c is drawn from (seed, c, m), so
 * that the answer to another message is noticed.
 *
 * A connection takes two descriptors. The cell is skipped if the process may not have so many.
 */
#include "workload.h"

#include "histogram.h"
#include "load.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#define ECHO_LATENCIES_MAX 20000000
#define ECHO_SECONDS_MAX 60

struct echo_params {
    int64_t connections;
    int64_t messages;
    int64_t size;
    int64_t rate;
};

struct echo_state;

struct echo_client {
    struct echo_state *state;
    struct io *io;
    int error;             /* of dialling or talking: -errno; 0: none */
    int64_t answered;      /* messages that came back as they were sent */
    uint64_t sum;          /* of what they began with */
    int64_t *latencies_ns; /* one a message */
    double due_ns;         /* open loop: when its last message so far was due, from the start */
};

struct echo_state {
    struct echo_params params;
    uint64_t seed;
    struct echo_client *clients;
    int64_t *latencies_ns;
    struct io *listener;
    int port;
    int64_t start_ns; /* written before the gate opens */
    int64_t end_ns;   /* from the start, of the last run */
    struct waitgroup dialled, accepted, gate, done;
    int accept_error; /* the acceptor's, read after `accepted` */
    bool failed;      /* written before the gate opens */
    struct histogram latency;
};

static const struct param echo_param_table[] = {
    PARAM_NUMBER(struct echo_params, connections, 64, 1, 10000, "connections", "schedlab",
                 "how many clients there are, each with a connection and a server of its own"),
    PARAM_NUMBER(struct echo_params, messages, 200, 1, 10000000, "messages", "schedlab",
                 "how many messages each client sends, one after the other"),
    PARAM_NUMBER(struct echo_params, size, 64, 8, 1 << 20, "B", "schedlab", "length of a message"),
    PARAM_NUMBER(struct echo_params, rate, 0, 0, 100000000, "messages/s", "[Schroeder06]",
                 "messages due in a second on all connections together; 0: each follows the reply "
                 "to the last"),
    {0},
};

/* Main, the acceptor, and two a connection. */
static uint64_t echo_live_gs_max(const void *params)
{
    return 2 * (uint64_t)((const struct echo_params *)params)->connections + 2;
}

static const char *echo_check(const void *params)
{
    const struct echo_params *p = params;
    if (p->connections * p->messages > ECHO_LATENCIES_MAX)
        return "connections times messages must not be more than 20000000";
    if (p->rate && p->connections * p->messages / p->rate >= ECHO_SECONDS_MAX)
        return "connections times messages / rate must be less than 60: that is how many seconds "
               "a call takes";
    return NULL;
}

/* Both ends of each connection, and the listener. */
static uint64_t echo_polls(const void *params)
{
    return 2 * (uint64_t)((const struct echo_params *)params)->connections + 1;
}

static bool echo_has_latency(const void *params)
{
    (void)params;
    return true;
}

static bool echo_is_paced(const void *params)
{
    return ((const struct echo_params *)params)->rate > 0;
}

static void *echo_init(const void *params, uint64_t seed)
{
    struct echo_state *state = go_alloc_zeroed(sizeof *state);
    state->params = *(const struct echo_params *)params;
    state->seed = seed;
    int64_t n = state->params.connections, messages = state->params.messages;
    state->clients = go_alloc_zeroed((size_t)n * sizeof state->clients[0]);
    state->latencies_ns = go_alloc_zeroed((size_t)(n * messages) * sizeof(int64_t));
    for (int64_t i = 0; i < n; i++) {
        state->clients[i].state = state;
        state->clients[i].latencies_ns = &state->latencies_ns[i * messages];
    }
    return state;
}

/* The first word of message m of connection c. */
static uint64_t echo_word(const struct echo_state *state, int64_t c, int64_t m)
{
    return digest_mix(state->seed ^ digest_mix((uint64_t)c << 32 ^ (uint64_t)m));
}

/* The message's bytes follow from its first eight. */
static void echo_fill(char *message, int64_t size, uint64_t word)
{
    for (int64_t at = 0; at < size; at += (int64_t)sizeof word) {
        size_t left = (size_t)(size - at);
        memcpy(message + at, &word, left < sizeof word ? left : sizeof word);
        word = word * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    }
}

/* The server --------------------------------------------------------------------------------- */

struct echo_server {
    struct echo_state *state;
    struct io *io;
};

static void echo_serve(void *arg)
{
    struct echo_server *self = arg;
    size_t size = (size_t)self->state->params.size;
    char *buffer = go_alloc(size);
    /* Whole messages: with parts of them client and server might both wait to write, when the
     * connection can hold no more. A client sees errors too, and reports them. */
    while (io_read_full(self->io, buffer, size) == (int64_t)size)
        if (io_write_all(self->io, buffer, size) != (int64_t)size)
            break;
    io_free(self->io);
    go_free(buffer);
    wg_done(&self->state->done);
    go_free(self);
}

static void echo_accept(void *arg)
{
    struct echo_state *state = arg;
    int64_t left = state->params.connections;
    for (; left > 0; left--) {
        struct echo_server *server = go_alloc(sizeof *server);
        server->state = state;
        state->accept_error = io_accept(state->listener, &server->io);
        if (state->accept_error) {
            go_free(server);
            break;
        }
        go(echo_serve, server);
    }
    if (left > 0) /* no servers to wait for */
        wg_add(&state->done, (int32_t)-left);
    wg_done(&state->accepted);
}

/* The clients -------------------------------------------------------------------------------- */

static int echo_error(int64_t n)
{
    return n < 0 ? (int)n : -EPIPE; /* fewer bytes than asked for: the server has gone */
}

/* Closed loop: now. Open loop: waits until the next message is due, an exponential gap after the
 * one before, and says when that was. */
static int64_t echo_await(struct echo_client *client, int64_t m)
{
    const struct echo_state *state = client->state;
    const struct echo_params *p = &state->params;
    if (!p->rate)
        return go_now();
    uint64_t bits = digest_mix(~echo_word(state, client - state->clients, m));
    double unit = ((double)(bits >> 11) + 1.0) / 9007199254740992.0; /* in (0, 1] */
    client->due_ns -= 1e9 * (double)p->connections / (double)p->rate * log(unit);
    int64_t due = state->start_ns + (int64_t)client->due_ns, left;
    while ((left = due - go_now()) > 0)
        go_sleep(left);
    return due;
}

static void echo_talk(struct echo_client *client)
{
    const struct echo_state *state = client->state;
    int64_t size = state->params.size, c = client - state->clients, n;
    char *sent = go_alloc((size_t)size), *back = go_alloc_zeroed((size_t)size);
    for (int64_t m = 0; m < state->params.messages && !client->error; m++) {
        uint64_t word = echo_word(state, c, m);
        echo_fill(sent, size, word);
        int64_t start_ns = echo_await(client, m);
        if ((n = io_write_all(client->io, sent, (size_t)size)) != size ||
            (n = io_read_full(client->io, back, (size_t)size)) != size) {
            client->error = echo_error(n);
            break;
        }
        int64_t now_ns = go_now();
        client->latencies_ns[m] = now_ns - start_ns;
        go_request(0, start_ns, now_ns);
        client->answered += memcmp(sent, back, (size_t)size) == 0;
        client->sum += word;
    }
    go_free(sent);
    go_free(back);
}

static void echo_client_main(void *arg)
{
    struct echo_client *client = arg;
    struct echo_state *state = client->state;
    client->error = io_dial(state->port, &client->io);
    wg_done(&state->dialled);
    wg_wait(&state->gate);
    if (!state->failed)
        echo_talk(client);
    io_free(client->io);
    wg_done(&state->done);
}

/* A run -------------------------------------------------------------------------------------- */

static void echo_reset(struct echo_state *state)
{
    for (int64_t i = 0; i < state->params.connections; i++) {
        struct echo_client *client = &state->clients[i];
        client->io = NULL;
        client->error = 0;
        client->answered = 0;
        client->sum = 0;
        client->due_ns = 0;
    }
    state->failed = false;
    state->accept_error = 0;
    histogram_reset(&state->latency);
}

static void echo_collect(struct echo_state *state, struct outcome *out)
{
    for (int64_t i = 0; i < state->params.connections; i++) {
        const struct echo_client *client = &state->clients[i];
        for (int64_t m = 0; m < client->answered; m++)
            histogram_record(&state->latency, client->latencies_ns[m]);
        out->ops += (uint64_t)client->answered;
        out->answer += client->sum;
        out->digest += digest_mix(client->sum ^ digest_mix((uint64_t)client->answered));
    }
    out->latency = &state->latency;
}

/* Connects all; who cannot be connected is told by state->failed, and nobody talks then. */
static void echo_connect(struct echo_state *state)
{
    int32_t n = (int32_t)state->params.connections;
    wg_add(&state->dialled, n);
    wg_add(&state->accepted, 1);
    wg_add(&state->gate, 1);
    wg_add(&state->done, 2 * n);
    go(echo_accept, state);
    for (int64_t i = 0; i < n; i++)
        go(echo_client_main, &state->clients[i]);
    wg_wait(&state->dialled);
    for (int64_t i = 0; i < n; i++)
        state->failed |= state->clients[i].error != 0;
    if (state->failed)
        io_close(state->listener); /* the acceptor would wait for the others */
    wg_wait(&state->accepted);
    state->failed |= state->accept_error != 0;
}

static void echo_run(void *arg, struct outcome *out)
{
    struct echo_state *state = arg;
    echo_reset(state);
    state->accept_error = io_listen(&state->listener);
    if (state->accept_error)
        return;
    state->port = io_port(state->listener);
    echo_connect(state);
    state->start_ns = go_now();
    wg_done(&state->gate);
    wg_wait(&state->done);
    out->time_ns = state->end_ns = go_now() - state->start_ns;
    io_free(state->listener);
    echo_collect(state, out);
}

static const char *echo_verify(void *arg, const struct outcome *out, char *why, size_t why_size)
{
    const struct echo_state *state = arg;
    int64_t n = state->params.connections, messages = state->params.messages;
    if (state->accept_error && state->accept_error != -EBADF) {
        snprintf(why, why_size, "the server cannot accept %" PRId64 " connections: %s", n,
                 strerror(-state->accept_error));
        return why;
    }
    /* errors first: who could not be connected is why others said nothing */
    for (int64_t i = 0; i < n; i++) {
        if (state->clients[i].error) {
            snprintf(why, why_size, "connection %" PRId64 " of %" PRId64 ": %s", i, n,
                     strerror(-state->clients[i].error));
            return why;
        }
    }
    for (int64_t i = 0; i < n; i++) {
        const struct echo_client *client = &state->clients[i];
        uint64_t sum = 0;
        for (int64_t m = 0; m < messages; m++)
            sum += echo_word(state, i, m);
        if (client->answered != messages || client->sum != sum) {
            snprintf(why, why_size,
                     "connection %" PRId64 " got %" PRId64 " of %" PRId64 " messages back", i,
                     client->answered, messages);
            return why;
        }
    }
    if (out->ops != (uint64_t)(n * messages) || histogram_count(out->latency) != out->ops) {
        snprintf(why, why_size,
                 "expected %" PRId64 " messages and latencies, found %" PRIu64 " and %" PRIu64,
                 n * messages, out->ops, histogram_count(out->latency));
        return why;
    }
    return NULL;
}

static void echo_print(void *arg, FILE *to)
{
    const struct echo_state *state = arg;
    double due_ns = 0;
    for (int64_t i = 0; i < state->params.connections; i++)
        due_ns = fmax(due_ns, state->clients[i].due_ns);
    if (state->params.rate)
        load_print(to, (double)state->params.rate, (int64_t)due_ns, state->end_ns, "messages");
}

static void echo_fini(void *arg)
{
    struct echo_state *state = arg;
    go_free(state->latencies_ns);
    go_free(state->clients);
    go_free(state);
}

const struct workload workload_echo = {
    .name = "echo",
    .idea = "messages to a server and back over TCP: waiting for descriptors",
    .op = "message",
    .source = "schedlab",
    .style = STYLE_GOROUTINE,
    .params = echo_param_table,
    .params_size = sizeof(struct echo_params),
    .live_gs_max = echo_live_gs_max,
    .polls = echo_polls,
    .has_latency = echo_has_latency,
    .is_paced = echo_is_paced,
    .check = echo_check,
    .init = echo_init,
    .run = echo_run,
    .verify = echo_verify,
    .print = echo_print,
    .fini = echo_fini,
};
