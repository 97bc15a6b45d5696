/* locks.c - the runtime's short lock and the workloads' mutex, free and fought over. */
#include "harness/micro/micro.h"

#include "lock.h"

enum { PER_WORKER = 2 };

/* The runtime's lock ------------------------------------------------------------------------- */

static void lock_free_one(struct micro *micro)
{
    _Alignas(64) lock_t lock = 0;
    uint64_t count = 0, waits = 0;
    while (micro_more(micro, MICRO_BATCH)) {
        for (int i = 0; i < MICRO_BATCH; i++) {
            waits += lock_acquire(&lock);
            count++;
            lock_release(&lock);
        }
    }
    micro_expect(micro, "rounds waited for a free lock", waits, 0);
    micro_expect(micro, "critical sections", count, micro_done(micro));
}

struct contest {
    _Alignas(64) lock_t lock;
    uint64_t count; /* protected by lock */
    _Alignas(64) _Atomic uint32_t there;
    uint64_t rounds; /* of the partner */
    int64_t end_ns;  /* the partner's */
};

static void contest_count(struct contest *contest, uint64_t rounds)
{
    for (uint64_t i = 0; i < rounds; i++) {
        lock_acquire(&contest->lock);
        contest->count++;
        lock_release(&contest->lock);
    }
}

static void contest_partner(void *arg)
{
    struct contest *contest = arg;
    atomic_store_explicit(&contest->there, 1, memory_order_release);
    contest_count(contest, contest->rounds);
    contest->end_ns = machine_now();
}

/* Two threads share n critical sections; the time is until both are done. */
static void lock_contended(struct micro *micro)
{
    struct contest contest = {.rounds = micro->n / 2};
    struct micro_partner partner;
    if (!micro_partner_start(&partner, micro, contest_partner, &contest))
        return;
    while (!atomic_load_explicit(&contest.there, memory_order_acquire))
        machine_relax(&contest.there, 1);
    micro_open(micro);
    int64_t begin = machine_now();
    contest_count(&contest, micro->n - contest.rounds);
    int64_t end = machine_now();
    micro_partner_join(&partner);
    micro_close(micro);
    micro_took(micro, (end > contest.end_ns ? end : contest.end_ns) - begin);
    micro_expect(micro, "critical sections", contest.count, micro->n);
}

/* The workloads' mutex ----------------------------------------------------------------------- */

struct guarded {
    struct mutex mutex;
    uint64_t count; /* protected by mutex */
};

struct worker {
    struct join join;
    struct guarded *guarded;
    uint64_t rounds;
};

static void worker_main(void *arg)
{
    struct worker *worker = arg;
    struct guarded *guarded = worker->guarded;
    for (uint64_t i = 0; i < worker->rounds; i++) {
        mutex_lock(&guarded->mutex);
        guarded->count++;
        mutex_unlock(&guarded->mutex);
    }
}

static void mutex_free_one(struct micro *micro)
{
    struct guarded guarded = {.count = 0};
    struct worker worker = {.guarded = &guarded, .rounds = micro->n};
    micro_start(micro);
    worker_main(&worker);
    micro_stop(micro);
    micro_expect(micro, "critical sections", guarded.count, micro->n);
}

/* Goroutines share n critical sections; the time is until all are done. */
static void mutex_contended(struct micro *micro)
{
    struct guarded guarded = {.count = 0};
    uint64_t count = (uint64_t)micro->arg * PER_WORKER;
    struct worker *workers = go_alloc_zeroed(count * sizeof *workers);
    micro_start(micro);
    for (uint64_t i = 0; i < count; i++) {
        workers[i].guarded = &guarded;
        workers[i].rounds = micro->n / count + (i < micro->n % count);
        join_go(&workers[i].join, worker_main, &workers[i]);
    }
    for (uint64_t i = 0; i < count; i++)
        join_wait(&workers[i].join);
    micro_stop(micro);
    go_free(workers);
    micro_expect(micro, "critical sections", guarded.count, micro->n);
}

static const int64_t two_workers[] = {2, 0};

const struct micro_op micro_locks[] = {
    {.name = "lock/free", .floor = "floor/xchg", .run = lock_free_one},
    {.name = "lock/contended", .floor = "lock/free", .style = MICRO_TIMED, .run = lock_contended},
    {"mutex/free", "floor/cas", MICRO_MAIN, mutex_free_one, .serves = micro_serves_all},
    {"mutex/contended", "floor/cas", MICRO_MAIN, mutex_contended, .serves = micro_serves_parallel,
     .arg_name = "workers", .args = two_workers},
    {0},
};
