/* floor_epoll.c - echo over loopback TCP with no scheduler in it: floor:epoll, a loop around
 * epoll_wait() on each core.
 *
 * Each thread has its share of the connections, both ends of each, so that no message leaves its
 * core. It makes the fewest calls to the kernel: one write and one read for each end and message,
 * edge-triggered events, and one wait for all that has become ready meanwhile.
 */
#include "crew.h"

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    READY_MAX = 128,     /* events of one wait, as the runtime's pollers take */
    SIZE_MAX_B = 1 << 14 /* an empty connection takes so much at once, whatever its limits */
};

struct end {
    int fd;
    bool is_server;
    size_t have; /* bytes of the message that is coming in */
    char *buffer;
    struct connection *connection;
};

struct connection {
    struct end client, server;
    char *sent;
    uint64_t index, asked; /* messages sent so far */
    uint64_t sum;
};

struct echo {
    uint64_t connections, messages, seed;
    size_t size;
    int workers;
    struct connection *connection;
    char *buffers;
};

static void *echo_init(struct peer_run *run)
{
    struct echo *echo = peer_alloc(1, sizeof *echo);
    echo->connections = (uint64_t)peer_param_number(run, "connections");
    echo->messages = (uint64_t)peer_param_number(run, "messages");
    echo->size = (size_t)peer_param_number(run, "size");
    echo->seed = run->seed;
    echo->workers = run->workers;
    if (peer_param_number(run, "rate") > 0)
        peer_unsupported("rate: its clients send when the message before has come back");
    if (echo->size > SIZE_MAX_B)
        peer_unsupported("size=%zu: more than a connection is sure to take at once", echo->size);
    echo->connection = peer_alloc(echo->connections, sizeof *echo->connection);
    echo->buffers = peer_alloc(echo->connections, 3 * echo->size);
    struct rlimit files;
    if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
        files.rlim_cur = files.rlim_max;
        setrlimit(RLIMIT_NOFILE, &files);
    }
    return echo;
}

/* As echo_word() and echo_fill() of workloads/echo.c. */
static uint64_t fill(const struct echo *echo, const struct connection *self)
{
    uint64_t first = peer_mix(echo->seed ^ peer_mix(self->index << 32 ^ self->asked));
    uint64_t word = first;
    for (size_t at = 0; at < echo->size; at += sizeof word) {
        size_t left = echo->size - at;
        memcpy(self->sent + at, &word, left < sizeof word ? left : sizeof word);
        word = word * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    }
    return first;
}

/* Connecting, not timed ----------------------------------------------------------------------- */

static int listen_here(struct sockaddr_in *address)
{
    socklen_t length = sizeof *address;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    memset(address, 0, sizeof *address);
    address->sin_family = AF_INET;
    address->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (fd < 0 || bind(fd, (struct sockaddr *)address, length) || listen(fd, SOMAXCONN) ||
        getsockname(fd, (struct sockaddr *)address, &length))
        peer_fail("echo: cannot listen: %s", strerror(errno));
    return fd;
}

static void end_open(struct end *end, struct connection *connection, int fd, char *buffer)
{
    int on = 1;
    if (setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on))
        peer_fail("echo: %s", strerror(errno));
    *end = (struct end){.fd = fd, .connection = connection, .buffer = buffer};
    end->is_server = end == &connection->server;
}

static void connect_all(struct echo *echo)
{
    struct sockaddr_in address;
    int listener = listen_here(&address);
    for (uint64_t i = 0; i < echo->connections; i++) {
        struct connection *self = &echo->connection[i];
        char *buffers = echo->buffers + i * 3 * echo->size;
        int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof address))
            peer_fail("echo: connection %" PRIu64 " of %" PRIu64 ": %s", i, echo->connections,
                      strerror(errno));
        int other = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
        if (other < 0)
            peer_fail("echo: cannot accept connection %" PRIu64 ": %s", i, strerror(errno));
        *self = (struct connection){.index = i, .sent = buffers};
        end_open(&self->client, self, fd, buffers + echo->size);
        end_open(&self->server, self, other, buffers + 2 * echo->size);
    }
    close(listener);
}

/* The loop, timed ----------------------------------------------------------------------------- */

static void end_write(const struct echo *echo, const struct end *end, const char *message)
{
    if (write(end->fd, message, echo->size) != (ssize_t)echo->size)
        peer_fail("echo: connection %" PRIu64 ": a message was not taken at once",
                  end->connection->index);
}

/* Returns false if all have been sent; then the client's end is closed. */
static bool client_ask(const struct echo *echo, struct connection *self)
{
    if (self->asked == echo->messages) {
        close(self->client.fd);
        return false;
    }
    self->sum += fill(echo, self);
    self->asked++;
    end_write(echo, &self->client, self->sent);
    return true;
}

/* Something has come in. Returns false when the end is closed. */
static bool end_ready(const struct echo *echo, struct end *end)
{
    struct connection *self = end->connection;
    ssize_t n = read(end->fd, end->buffer + end->have, echo->size - end->have);
    if (n == 0 && end->is_server && end->have == 0) {
        close(end->fd);
        return false;
    }
    if (n <= 0)
        peer_fail("echo: connection %" PRIu64 ": %s", self->index, n ? strerror(errno) : "closed");
    end->have += (size_t)n;
    if (end->have < echo->size)
        return true;
    end->have = 0;
    if (end->is_server) {
        end_write(echo, end, end->buffer);
        return true;
    }
    if (memcmp(end->buffer, self->sent, echo->size) != 0)
        peer_fail("echo: connection %" PRIu64 " got another message back", self->index);
    return client_ask(echo, self);
}

static uint64_t begin(const struct echo *echo, int poller, int index)
{
    uint64_t open = 0;
    for (uint64_t i = (uint64_t)index; i < echo->connections; i += (uint64_t)echo->workers) {
        struct connection *self = &echo->connection[i];
        struct epoll_event event = {.events = EPOLLIN | EPOLLET, .data.ptr = &self->server};
        bool added = epoll_ctl(poller, EPOLL_CTL_ADD, self->server.fd, &event) == 0;
        event.data.ptr = &self->client;
        if (!added || epoll_ctl(poller, EPOLL_CTL_ADD, self->client.fd, &event))
            peer_fail("echo: epoll_ctl: %s", strerror(errno));
        open += 1 + client_ask(echo, self);
    }
    return open;
}

static void echo_loop(void *arg, int index)
{
    const struct echo *echo = arg;
    int poller = epoll_create1(EPOLL_CLOEXEC);
    if (poller < 0)
        peer_fail("echo: epoll_create1: %s", strerror(errno));
    uint64_t open = begin(echo, poller, index);
    while (open > 0) {
        struct epoll_event ready[READY_MAX];
        int count = epoll_wait(poller, ready, READY_MAX, -1);
        if (count < 0 && errno != EINTR)
            peer_fail("echo: epoll_wait: %s", strerror(errno));
        for (int i = 0; i < count; i++)
            open -= !end_ready(echo, ready[i].data.ptr);
    }
    close(poller);
}

static void echo_run(void *state, struct peer_outcome *out)
{
    struct echo *echo = state;
    connect_all(echo);
    out->time_ns = crew_run(echo->workers, echo_loop, echo);
    for (uint64_t i = 0; i < echo->connections; i++) {
        const struct connection *self = &echo->connection[i];
        out->ops += self->asked;
        out->answer += self->sum;
        out->digest += peer_mix(self->sum ^ peer_mix(self->asked));
    }
}

static const struct peer_workload workloads[] = {
    {"echo", echo_init, echo_run, NULL},
    {NULL, NULL, NULL, NULL},
};

int main(int argc, char **argv)
{
    struct peer_run run = peer_parse(argc, argv);
    peer_measure(&run, workloads);
    return peer_print(&run, "no scheduler", "hand-written");
}
