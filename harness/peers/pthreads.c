/* pthreads.c - a thread wherever the workload wants a goroutine; mutexes and condition variables.
 *
 * Threads have the C library's default attributes. A channel is a ring under a mutex; where it has
 * no buffer, a sender waits until its message was taken. The workers are the cores that the process
 * is bound to.
 */
#include "forkjoin.h"
#include "goroutines.h"

#include <pthread.h>
#include <unistd.h>

static pthread_t start(void *(*fn)(void *), void *arg)
{
    pthread_t thread;
    int error = pthread_create(&thread, NULL, fn, arg);
    if (error)
        peer_fail("cannot start a thread: %s", strerror(error));
    return thread;
}

/* Channels ------------------------------------------------------------------------------------ */

struct channel {
    pthread_mutex_t lock;
    pthread_cond_t filled, emptied;
    uint64_t *ring;
    uint64_t capacity, sent, taken; /* sent - taken messages are inside */
    bool unbuffered, closed;
};

static void channel_init(struct channel *channel, uint64_t capacity)
{
    memset(channel, 0, sizeof *channel);
    pthread_mutex_init(&channel->lock, NULL);
    pthread_cond_init(&channel->filled, NULL);
    pthread_cond_init(&channel->emptied, NULL);
    channel->unbuffered = capacity == 0;
    channel->capacity = capacity ? capacity : 1;
    channel->ring = peer_alloc(channel->capacity, sizeof *channel->ring);
}

static void channel_destroy(struct channel *channel)
{
    free(channel->ring);
    pthread_cond_destroy(&channel->emptied);
    pthread_cond_destroy(&channel->filled);
    pthread_mutex_destroy(&channel->lock);
}

/* One sender at a time: then who waits for `emptied` is that one. */
static void channel_send(struct channel *channel, uint64_t message)
{
    pthread_mutex_lock(&channel->lock);
    while (channel->sent - channel->taken == channel->capacity)
        pthread_cond_wait(&channel->emptied, &channel->lock);
    channel->ring[channel->sent++ % channel->capacity] = message;
    pthread_cond_signal(&channel->filled);
    while (channel->unbuffered && channel->taken < channel->sent)
        pthread_cond_wait(&channel->emptied, &channel->lock);
    pthread_mutex_unlock(&channel->lock);
}

/* False once it is closed and empty. */
static bool channel_receive(struct channel *channel, uint64_t *message)
{
    pthread_mutex_lock(&channel->lock);
    while (channel->sent == channel->taken && !channel->closed)
        pthread_cond_wait(&channel->filled, &channel->lock);
    bool some = channel->sent != channel->taken;
    if (some) {
        *message = channel->ring[channel->taken++ % channel->capacity];
        pthread_cond_signal(&channel->emptied);
    }
    pthread_mutex_unlock(&channel->lock);
    return some;
}

static void channel_close(struct channel *channel)
{
    pthread_mutex_lock(&channel->lock);
    channel->closed = true;
    pthread_cond_broadcast(&channel->filled);
    pthread_mutex_unlock(&channel->lock);
}

/* spawn --------------------------------------------------------------------------------------- */

struct spawn_share {
    struct spawn *spawn;
    uint64_t first, count;
};

static void *spawn_child(void *arg)
{
    const struct spawn_share *self = arg;
    self->spawn->marks[self->first] += self->first + 1;
    return NULL;
}

static void *spawn_create(void *arg)
{
    const struct spawn_share *share = arg;
    bool batch = share->spawn->batch;
    struct spawn_share *child = peer_alloc(share->count, sizeof *child);
    pthread_t *threads = peer_alloc(share->count, sizeof *threads);
    for (uint64_t i = 0; i < share->count; i++) {
        child[i] = (struct spawn_share){share->spawn, share->first + i, 1};
        threads[i] = start(spawn_child, &child[i]);
        if (!batch)
            pthread_join(threads[i], NULL);
    }
    for (uint64_t i = 0; batch && i < share->count; i++)
        pthread_join(threads[i], NULL);
    free(threads);
    free(child);
    return NULL;
}

static void spawn_run(void *state, struct peer_outcome *out)
{
    struct spawn *spawn = state;
    uint64_t creators = spawn->creators;
    struct spawn_share *share = peer_alloc(creators, sizeof *share);
    pthread_t *threads = peer_alloc(creators, sizeof *threads);
    for (uint64_t c = 0; c < creators; c++) {
        uint64_t first = spawn->n * c / creators;
        share[c] = (struct spawn_share){spawn, first, spawn->n * (c + 1) / creators - first};
    }
    int64_t start_ns = peer_now();
    if (creators == 1) {
        spawn_create(&share[0]);
    } else {
        for (uint64_t c = 0; c < creators; c++)
            threads[c] = start(spawn_create, &share[c]);
        for (uint64_t c = 0; c < creators; c++)
            pthread_join(threads[c], NULL);
    }
    out->time_ns = peer_now() - start_ns;
    free(threads);
    free(share);
    spawn_finish(spawn, out);
}

/* pingpong ------------------------------------------------------------------------------------ */

struct player {
    const struct pingpong *all;
    struct pair *pair;
    struct channel there, back;
    pthread_barrier_t *gate;
    pthread_t ping, pong;
};

static void *ping(void *arg)
{
    struct player *self = arg;
    uint64_t tag = self->pair->tag, sum = 0, wrong = 0;
    pthread_barrier_wait(self->gate);
    for (uint64_t i = 0; i < self->all->rounds; i++) {
        uint64_t message = 0;
        channel_send(&self->there, tag | i);
        wrong += !channel_receive(&self->back, &message);
        wrong += message != (tag | (2 * i + 1));
        sum += message - tag;
    }
    self->pair->sum = sum;
    self->pair->ping_wrong = wrong;
    return NULL;
}

static void *pong(void *arg)
{
    struct player *self = arg;
    uint64_t tag = self->pair->tag, wrong = 0;
    for (uint64_t i = 0; i < self->all->rounds; i++) {
        uint64_t message = 0;
        wrong += !channel_receive(&self->there, &message);
        wrong += message != (tag | i);
        channel_send(&self->back, tag | (2 * (message - tag) + 1));
    }
    self->pair->pong_wrong = wrong;
    return NULL;
}

static void pingpong_run(void *state, struct peer_outcome *out)
{
    struct pingpong *all = state;
    pthread_barrier_t gate;
    struct player *players = peer_alloc(all->pairs, sizeof *players);
    pthread_barrier_init(&gate, NULL, (unsigned)all->pairs + 1);
    for (uint64_t i = 0; i < all->pairs; i++) {
        players[i].all = all;
        players[i].pair = &all->pair[i];
        players[i].gate = &gate;
        channel_init(&players[i].there, all->capacity);
        channel_init(&players[i].back, all->capacity);
        players[i].pong = start(pong, &players[i]);
        players[i].ping = start(ping, &players[i]);
    }
    int64_t start_ns = peer_now();
    pthread_barrier_wait(&gate);
    for (uint64_t i = 0; i < all->pairs; i++) {
        pthread_join(players[i].ping, NULL);
        pthread_join(players[i].pong, NULL);
    }
    out->time_ns = peer_now() - start_ns;
    for (uint64_t i = 0; i < all->pairs; i++) {
        channel_destroy(&players[i].there);
        channel_destroy(&players[i].back);
    }
    free(players);
    pthread_barrier_destroy(&gate);
    pingpong_finish(all, out);
}

/* prodcons ------------------------------------------------------------------------------------ */

struct stream {
    struct prodcons *all;
    struct channel channel;
    pthread_barrier_t gate;
};

static void *produce(void *arg)
{
    struct stream *stream = arg;
    pthread_barrier_wait(&stream->gate);
    for (uint64_t i = 0; i < stream->all->messages; i++) {
        work_if(stream->all->work);
        channel_send(&stream->channel, i);
    }
    channel_close(&stream->channel);
    return NULL;
}

static void *consume(void *arg)
{
    struct stream *stream = arg;
    uint64_t received = 0, sum = 0, wrong = 0, message;
    while (channel_receive(&stream->channel, &message)) {
        wrong += message != received++;
        sum += message;
        work_if(stream->all->work);
    }
    stream->all->received = received;
    stream->all->sum = sum;
    stream->all->wrong = wrong;
    return NULL;
}

static void prodcons_run(void *state, struct peer_outcome *out)
{
    struct stream stream = {.all = state};
    channel_init(&stream.channel, stream.all->buffer);
    pthread_barrier_init(&stream.gate, NULL, 2);
    pthread_t consumer = start(consume, &stream), producer = start(produce, &stream);
    int64_t start_ns = peer_now();
    pthread_barrier_wait(&stream.gate);
    pthread_join(producer, NULL);
    pthread_join(consumer, NULL);
    out->time_ns = peer_now() - start_ns;
    pthread_barrier_destroy(&stream.gate);
    channel_destroy(&stream.channel);
    prodcons_finish(stream.all, out);
}

/* mutex --------------------------------------------------------------------------------------- */

struct locker {
    struct locks *all;
    pthread_mutex_t *mutex;
    pthread_barrier_t *gate;
    uint64_t index;
    pthread_t thread;
};

static void *take_turns(void *arg)
{
    struct locker *self = arg;
    struct locks *all = self->all;
    uint64_t share = share_of(all->n, all->goroutines, self->index), locked = 0;
    pthread_barrier_wait(self->gate);
    while (locked < share) {
        pthread_mutex_lock(self->mutex);
        locks_increment(all);
        pthread_mutex_unlock(self->mutex);
        locked++;
        work_if(all->think);
    }
    all->locked[self->index] = locked;
    return NULL;
}

static void mutex_run(void *state, struct peer_outcome *out)
{
    struct locks *all = state;
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    pthread_barrier_t gate;
    struct locker *lockers = peer_alloc(all->goroutines, sizeof *lockers);
    pthread_barrier_init(&gate, NULL, (unsigned)all->goroutines + 1);
    for (uint64_t i = 0; i < all->goroutines; i++) {
        lockers[i] = (struct locker){all, &mutex, &gate, i, 0};
        lockers[i].thread = start(take_turns, &lockers[i]);
    }
    int64_t start_ns = peer_now();
    pthread_barrier_wait(&gate);
    for (uint64_t i = 0; i < all->goroutines; i++)
        pthread_join(lockers[i].thread, NULL);
    out->time_ns = peer_now() - start_ns;
    free(lockers);
    pthread_barrier_destroy(&gate);
    locks_finish(all, out);
}

/* fib ----------------------------------------------------------------------------------------- */

static void *fib_one(void *arg)
{
    uint64_t *value = arg, n = *value;
    if (n <= 2) {
        *value = n > 0;
        return NULL;
    }
    uint64_t x = n - 1, y = n - 2;
    pthread_t child = start(fib_one, &x);
    fib_one(&y);
    pthread_join(child, NULL);
    *value = x + y;
    return NULL;
}

static void *fib_both(void *arg)
{
    uint64_t *value = arg, n = *value;
    if (n <= 2) {
        *value = n > 0;
        return NULL;
    }
    uint64_t x = n - 1, y = n - 2;
    pthread_t first = start(fib_both, &x), second = start(fib_both, &y);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    *value = x + y;
    return NULL;
}

static void fib_run(void *state, struct peer_outcome *out)
{
    const struct fib *fib = state;
    uint64_t value = fib->n;
    if (fib->both)
        pthread_join(start(fib_both, &value), NULL);
    else
        fib_one(&value);
    fib_finish(fib, value, out);
}

static const struct peer_workload workloads[] = {
    {"spawn", spawn_init, spawn_run, NULL},
    {"pingpong", pingpong_init, pingpong_run, NULL},
    {"prodcons", prodcons_init, prodcons_run, NULL},
    {"mutex", locks_init, mutex_run, NULL},
    {"fib", fib_init, fib_run, NULL},
    {NULL, NULL, NULL, NULL},
};

int main(int argc, char **argv)
{
    struct peer_run run = peer_parse(argc, argv);
    char version[64];
    confstr(_CS_GNU_LIBPTHREAD_VERSION, version, sizeof version);
    peer_measure(&run, workloads);
    return peer_print(&run, "pthreads", version);
}
