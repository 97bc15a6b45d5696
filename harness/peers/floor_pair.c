/* floor_pair.c - what the machine charges where two threads tell each other something, hand-written
 * for each workload, with no scheduler in it. Built twice:
 *
 *   floor:line   each on a core of its own, watching the other's word: cache lines travel
 *   floor:futex  (FLOOR_FUTEX) each asleep in the kernel until the other wakes it
 */
#include "crew.h"
#include "goroutines.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifdef FLOOR_FUTEX
#define IS_FUTEX true
#else
#define IS_FUTEX false
#endif

/* Both threads count the same turns, so that who waits knows for what. Messages lie beside the turn
 * that publishes them (release store, acquire load). */
struct turns {
    _Alignas(64) _Atomic uint32_t turn;
    uint64_t message;
};

static inline void turn_give(struct turns *turns, uint32_t turn)
{
    atomic_store_explicit(&turns->turn, turn, memory_order_release);
    if (IS_FUTEX)
        syscall(SYS_futex, &turns->turn, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

static inline void turn_wait(struct turns *turns, uint32_t turn)
{
    for (;;) {
        uint32_t now = atomic_load_explicit(&turns->turn, memory_order_acquire);
        if (now == turn)
            return;
        if (IS_FUTEX)
            syscall(SYS_futex, &turns->turn, FUTEX_WAIT_PRIVATE, now, NULL, NULL, 0);
        else
            crew_relax();
    }
}

/* pingpong ------------------------------------------------------------------------------------ */

struct play {
    const struct pingpong *all;
    struct pair *pair;
    struct turns turns; /* 2 i + 1: thrown for the i-th time; 2 i + 2: returned */
};

static void ping(struct play *play)
{
    struct pair *pair = play->pair;
    for (uint64_t i = 0; i < play->all->rounds; i++) {
        play->turns.message = pair->tag | i;
        turn_give(&play->turns, (uint32_t)(2 * i + 1));
        turn_wait(&play->turns, (uint32_t)(2 * i + 2));
        pair->ping_wrong += play->turns.message != (pair->tag | (2 * i + 1));
        pair->sum += play->turns.message - pair->tag;
    }
}

static void pong(struct play *play)
{
    struct pair *pair = play->pair;
    for (uint64_t i = 0; i < play->all->rounds; i++) {
        turn_wait(&play->turns, (uint32_t)(2 * i + 1));
        pair->pong_wrong += play->turns.message != (pair->tag | i);
        play->turns.message = pair->tag | (2 * (play->turns.message - pair->tag) + 1);
        turn_give(&play->turns, (uint32_t)(2 * i + 2));
    }
}

static void play(void *arg, int index)
{
    if (index == 0)
        ping(arg);
    else
        pong(arg);
}

static void pingpong_run(void *state, struct peer_outcome *out)
{
    struct pingpong *all = state;
    for (uint64_t i = 0; i < all->pairs; i++) {
        struct play one = {.all = all, .pair = &all->pair[i]};
        one.pair->sum = 0;
        out->time_ns += crew_run(2, play, &one);
    }
    pingpong_finish(all, out);
}

/* prodcons ------------------------------------------------------------------------------------ */

/* A ring with one writer of each end; each looks at the other's end only when it runs out of what
 * it knows of. */
struct stream {
    struct prodcons *all;
    uint64_t *ring, room;
    _Alignas(64) _Atomic uint64_t sent;  /* release: the slots before it are filled */
    _Alignas(64) _Atomic uint64_t taken; /* release: the slots before it were read */
};

static void produce(struct stream *stream)
{
    uint64_t taken = 0;
    for (uint64_t i = 0; i < stream->all->messages; i++) {
        work_if(stream->all->work);
        while (i - taken == stream->room) {
            taken = atomic_load_explicit(&stream->taken, memory_order_acquire);
            crew_relax();
        }
        stream->ring[i % stream->room] = i;
        atomic_store_explicit(&stream->sent, i + 1, memory_order_release);
    }
}

static void consume(struct stream *stream)
{
    struct prodcons *all = stream->all;
    uint64_t sent = 0, received = 0, sum = 0, wrong = 0;
    while (received < all->messages) {
        while (received == sent) {
            sent = atomic_load_explicit(&stream->sent, memory_order_acquire);
            crew_relax();
        }
        uint64_t message = stream->ring[received % stream->room];
        wrong += message != received++;
        sum += message;
        atomic_store_explicit(&stream->taken, received, memory_order_release);
        work_if(all->work);
    }
    all->received = received;
    all->sum = sum;
    all->wrong = wrong;
}

static void flow(void *arg, int index)
{
    if (index == 0)
        produce(arg);
    else
        consume(arg);
}

static void prodcons_run(void *state, struct peer_outcome *out)
{
    struct stream stream = {.all = state};
    stream.room = stream.all->buffer ? stream.all->buffer : 1;
    stream.ring = peer_alloc(stream.room, sizeof *stream.ring);
    out->time_ns = crew_run(2, flow, &stream);
    free(stream.ring);
    prodcons_finish(stream.all, out);
}

/* mutex --------------------------------------------------------------------------------------- */

struct locking {
    struct locks *all;
    _Alignas(64) atomic_int lock;
};

/* Every other goroutine, one after the other. */
static void lock_share(void *arg, int index)
{
    struct locking *locking = arg;
    struct locks *all = locking->all;
    for (uint64_t i = (uint64_t)index; i < all->goroutines; i += 2) {
        uint64_t share = share_of(all->n, all->goroutines, i), locked = 0;
        for (; locked < share; locked++) {
            int free_lock = 0;
            while (!atomic_compare_exchange_weak_explicit(
                &locking->lock, &free_lock, 1, memory_order_acquire, memory_order_relaxed)) {
                free_lock = 0;
                crew_relax();
            }
            locks_increment(all);
            atomic_store_explicit(&locking->lock, 0, memory_order_release);
            work_if(all->think);
        }
        all->locked[i] = locked;
    }
}

static void mutex_run(void *state, struct peer_outcome *out)
{
    struct locking locking = {.all = state};
    out->time_ns = crew_run(2, lock_share, &locking);
    locks_finish(locking.all, out);
}

/* Only pingpong makes threads sleep, so the list of floor:futex ends after it. */
static const struct peer_workload workloads[] = {
    {"pingpong", pingpong_init, pingpong_run, NULL},
    {IS_FUTEX ? NULL : "prodcons", prodcons_init, prodcons_run, NULL},
    {"mutex", locks_init, mutex_run, NULL},
    {NULL, NULL, NULL, NULL},
};

int main(int argc, char **argv)
{
    struct peer_run run = peer_parse(argc, argv);
    if (!IS_FUTEX && run.workers < 2)
        peer_unsupported("one worker: its threads need a core each");
    peer_measure(&run, workloads);
    return peer_print(&run, "no scheduler", "hand-written");
}
