/* conform_threads.c - conformance cases for what lies between goroutines and threads: blocking
 * calls, goroutines locked to a thread, a changing number of workers; see conformance.c. */
#include "conform.h"
#include "tests/support/support.h"

#include <errno.h>

/* Blocking calls ----------------------------------------------------------------------------- */

/* Calls of some microseconds to some milliseconds, with work, yields and a lock in between: all Gs
 * come back from all of them, whoever has had their P meanwhile. */
struct call_crew {
    struct mutex mu;
    struct waitgroup done;
    int turns;
};

struct caller {
    struct call_crew *all;
    int calls;
    uint64_t seed;
};

static void caller(void *arg)
{
    struct caller *self = arg;
    uint64_t state = self->seed;
    for (int i = 0; i < self->calls; i++) {
        state = state * UINT64_C(6364136223846793005) + 1442695040888963407;
        int64_t start = go_now(), ns = (int64_t)(state >> 33) % (i % 8 == 7 ? 2000000 : 20000);
        int64_t end = i % 3 == 0 ? blocking_nop() : blocking_sleep(ns);
        CHECK(end >= start + (i % 3 == 0 ? 0 : ns) && end <= go_now());
        mutex_lock(&self->all->mu);
        self->all->turns++;
        mutex_unlock(&self->all->mu);
        if (state >> 62 == 0)
            gosched();
    }
    wg_done(&self->all->done);
}

static void conform_calls_return(void *arg)
{
    const struct conform_cell *cell = arg;
    int gs = 4 + 4 * cell->scale, calls = 16;
    struct call_crew *all = go_alloc_zeroed(sizeof *all);
    struct caller *callers = go_alloc_zeroed((size_t)gs * sizeof *callers);
    wg_add(&all->done, gs);
    for (int i = 0; i < gs; i++) {
        callers[i] = (struct caller){all, calls, cell->seed + (uint64_t)i};
        go(caller, &callers[i]);
    }
    wg_wait(&all->done);
    CHECK(all->turns == gs * calls);
    go_free(callers);
    go_free(all);
}

/* Calls, one after the other --------------------------------------------------------------- */

struct call_loop {
    _Atomic bool over;
    struct waitgroup done;
};

static void call_loop_g(void *arg)
{
    struct call_loop *self = arg;
    while (!atomic_load(&self->over))
        blocking_nop();
    wg_done(&self->done);
}

/* A slice ends at the end of a call too, so goroutines that make short calls without end leave the
 * worker to main when its timer is due. */
static void conform_loops_of_calls_end_their_slices(void *arg)
{
    const struct conform_cell *cell = arg;
    struct call_loop *self = go_alloc_zeroed(sizeof *self);
    int loops = cell->workers < 4 ? cell->workers : 4;
    wg_add(&self->done, loops);
    for (int i = 0; i < loops; i++)
        go(call_loop_g, self);
    go_sleep(1000000);
    atomic_store(&self->over, true);
    wg_wait(&self->done);
    go_free(self);
}

/* Locked to a thread ------------------------------------------------------------------------- */

enum { WORKERS_SEEN = 64, LOCKED = 3, FREE = 8 };

struct locks {
    struct conform_cell *cell;
    struct waitgroup done;
    struct chan *ping, *pong; /* between the locked and the free ones */
    int rounds;
    /* goroutines that have that worker's thread to themselves, now */
    _Atomic int owned[WORKERS_SEEN];
};

static bool threads_are_shared(const struct sched_ops *ops)
{
    return !ops->blocks && !ops->single_threaded;
}

static void locked_g(void *arg)
{
    struct locks *self = arg;
    go_lock_thread();
    int worker = go_worker_index();
    bool exclusive = worker < WORKERS_SEEN && self->cell->ops->forkjoin != FJ_WORK &&
                     threads_are_shared(self->cell->ops);
    if (exclusive)
        CHECK(atomic_fetch_add(&self->owned[worker], 1) == 0);
    for (int i = 0; i < self->rounds; i++) {
        chan_send(self->ping, &i);
        CHECK(go_worker_index() == worker);
        if (i % 4 == 0)
            gosched();
        go_lock_thread(); /* nests */
        chan_recv(self->pong, NULL);
        go_unlock_thread();
        CHECK(go_worker_index() == worker);
    }
    if (exclusive)
        atomic_fetch_sub(&self->owned[worker], 1);
    if (self->rounds % 2)
        go_unlock_thread(); /* or it ends while it is locked */
    wg_done(&self->done);
}

static void free_g(void *arg)
{
    struct locks *self = arg;
    int i;
    while (chan_recv(self->ping, &i)) {
        int worker = go_worker_index();
        CHECK(worker >= WORKERS_SEEN || atomic_load(&self->owned[worker]) == 0);
        chan_send(self->pong, &i);
    }
    wg_done(&self->done);
}

static void conform_locked_stays_on_its_thread(void *arg)
{
    struct conform_cell *cell = arg;
    struct locks *self = go_alloc_zeroed(sizeof *self);
    self->cell = cell;
    self->rounds = 10 * cell->scale + 1;
    self->ping = chan_make(sizeof(int), 0);
    self->pong = chan_make(sizeof(int), FREE);
    wg_add(&self->done, LOCKED);
    for (int i = 0; i < LOCKED; i++)
        go(locked_g, self);
    for (int i = 0; i < FREE; i++)
        go(free_g, self);
    wg_wait(&self->done);
    wg_add(&self->done, FREE);
    chan_close(self->ping);
    wg_wait(&self->done);
    chan_free(self->ping);
    chan_free(self->pong);
    go_free(self);
}

static void sends(void *arg)
{
    chan_send(arg, &(int){1});
}

/* A G that a locked goroutine has just started runs although the locked one parks at once, also if
 * it lies in a private slot. */
static void conform_locked_leaves_its_child_to_others(void *arg)
{
    (void)arg;
    struct chan *ch = chan_make(sizeof(int), 0);
    go_lock_thread();
    for (int i = 0; i < 20; i++) {
        struct join join;
        int got = 0;
        join_go(&join, sends, ch);
        CHECK(chan_recv(ch, &got) && got == 1);
        join_wait(&join);
    }
    go_unlock_thread();
    chan_free(ch);
}

struct left_behind {
    struct chan *met, *end;
    _Atomic bool over;
    struct waitgroup all;
};

static void left_behind_locked(void *arg)
{
    struct left_behind *self = arg;
    go_lock_thread();
    chan_recv(self->met, NULL); /* wakes main */
    chan_recv(self->end, NULL);
    go_unlock_thread();
    wg_done(&self->all);
}

static void left_behind_caller(void *arg)
{
    struct left_behind *self = arg;
    chan_recv(self->met, NULL); /* likewise */
    blocking_sleep(1000000);
    wg_done(&self->all);
}

static void left_behind_yielder(void *arg)
{
    struct left_behind *self = arg;
    AWAIT((gosched(), atomic_load(&self->over)));
    wg_done(&self->all);
}

/* Whoever the thread that runs leaver() has woken runs although that thread sleeps from then on,
 * and the workers never run out of others. */
static void leave_behind(const struct conform_cell *cell, void (*leaver)(void *))
{
    struct left_behind *self = go_alloc_zeroed(sizeof *self);
    int yielders = 2 * cell->workers;
    self->met = chan_make(sizeof(int), 0);
    self->end = chan_make(sizeof(int), 0);
    wg_add(&self->all, 1 + yielders);
    go(leaver, self);
    for (int i = 0; i < yielders; i++)
        go(left_behind_yielder, self);
    chan_send(self->met, &(int){0});
    atomic_store(&self->over, true);
    chan_close(self->end);
    wg_wait(&self->all);
    chan_free(self->met);
    chan_free(self->end);
    go_free(self);
}

static void conform_locked_leaves_whom_it_woke_to_others(void *arg)
{
    leave_behind(arg, left_behind_locked);
}

static void conform_call_leaves_whom_its_thread_woke_to_others(void *arg)
{
    leave_behind(arg, left_behind_caller);
}

/* Its sleeps end in time although the other thread sleeps until a timer that is due in an hour. */
static void conform_locked_sleeps_end(void *arg)
{
    (void)arg;
    struct gotimer *hour = timer_after(INT64_C(3600000000000));
    go_lock_thread();
    for (int i = 0; i < 10; i++)
        go_sleep(1000000);
    go_unlock_thread();
    timer_free(hour);
}

/* A number of workers that changes ------------------------------------------------------------ */

struct crew {
    struct waitgroup done;
    struct chan *ch;
    _Atomic bool over;
    _Atomic int64_t steps;
};

static void crew_g(void *arg)
{
    struct crew *self = arg;
    for (int i = 0; !atomic_load(&self->over); i++) {
        int out;
        if (chan_try_send(self->ch, &i) || chan_try_recv(self->ch, &out, NULL))
            atomic_fetch_add(&self->steps, 1);
        go_work(100);
        gosched();
    }
    wg_done(&self->done);
}

static int workers_that_hold(struct sched *sched)
{
    int held = 0;
    for (int32_t i = 0; i < sched->procs; i++)
        held += atomic_load(&sched->allp[i]->m) != NULL;
    return held;
}

static void conform_workers_come_and_go(void *arg)
{
    const struct conform_cell *cell = arg;
    struct sched *sched = machine_self()->sched;
    if (!threads_are_shared(cell->ops)) {
        CHECK(go_set_workers(1) == -ENOTSUP);
        return;
    }
    struct crew *self = go_alloc_zeroed(sizeof *self);
    int gs = 2 * cell->workers + 2;
    self->ch = chan_make(sizeof(int), 2);
    wg_add(&self->done, gs);
    for (int i = 0; i < gs; i++)
        go(crew_g, self);
    CHECK(go_set_workers(0) == cell->workers);
    int before = cell->workers;
    for (int round = 0; round < 4 * cell->scale; round++) {
        int next = 1 + (int)(go_random() % (uint64_t)cell->workers);
        CHECK(go_set_workers(next) == before);
        before = next;
        int64_t steps = atomic_load(&self->steps);
        AWAIT((gosched(), workers_that_hold(sched) <= next));
        AWAIT((gosched(), atomic_load(&self->steps) > steps));
    }
    atomic_store(&self->over, true);
    wg_wait(&self->done);
    go_set_workers(cell->workers);
    chan_free(self->ch);
    go_free(self);
}

struct nap {
    struct crew *crew;
    struct join join;
    _Atomic bool begun;
};

static void nap_g(void *arg)
{
    struct nap *self = arg;
    atomic_store(&self->begun, true);
    go_sleep(30000000);
    atomic_fetch_add(&self->crew->steps, 1);
}

struct left {
    struct crew *crew;
    _Atomic bool begun;
};

static void left_child_g(void *arg)
{
    struct crew *self = arg;
    atomic_fetch_add(&self->steps, 1);
    wg_done(&self->done);
}

/* Starts goroutines where it runs, and keeps that worker until it is sent away. */
static void left_g(void *arg)
{
    struct left *self = arg;
    for (int i = 0; i < 3; i++)
        go(left_child_g, self->crew);
    atomic_store(&self->begun, true);
    AWAIT(atomic_load(&self->crew->over));
    wg_done(&self->crew->done);
}

/* Gs that were queued at a worker that is sent away run, though the workers that stay are never
 * idle. */
static void conform_workers_leave_their_queue(void *arg)
{
    const struct conform_cell *cell = arg;
    if (!threads_are_shared(cell->ops) || cell->workers == 1)
        return;
    struct crew *self = go_alloc_zeroed(sizeof *self);
    struct left left = {.crew = self};
    wg_add(&self->done, 4);
    go(left_g, &left);
    AWAIT(atomic_load(&left.begun)); /* on another worker: main keeps its own */
    go_set_workers(1);
    atomic_store(&self->over, true);
    AWAIT((gosched(), atomic_load(&self->steps) == 3));
    wg_wait(&self->done);
    go_set_workers(cell->workers);
    go_free(self);
}

/* The timers of workers that are sent away are served by the one that stays, however busy. */
static void conform_workers_leave_their_timers(void *arg)
{
    const struct conform_cell *cell = arg;
    if (!threads_are_shared(cell->ops))
        return; /* no worker comes or goes */
    struct crew *self = go_alloc_zeroed(sizeof *self);
    struct nap *naps = go_alloc_zeroed((size_t)cell->workers * sizeof *naps);
    for (int i = 0; i < cell->workers; i++) {
        naps[i].crew = self;
        join_go(&naps[i].join, nap_g, &naps[i]);
        AWAIT((cell->workers == 1 ? gosched() : (void)0, atomic_load(&naps[i].begun)));
    }
    go_set_workers(1);
    AWAIT((gosched(), atomic_load(&self->steps) == cell->workers));
    for (int i = 0; i < cell->workers; i++)
        join_wait(&naps[i].join);
    go_set_workers(cell->workers);
    go_free(naps);
    go_free(self);
}

/* Threads outside ------------------------------------------------------------------------------ */

enum { OUTSIDERS = 3, FROM_OUTSIDE = 100 };

struct from_outside {
    struct waitgroup done;
    _Atomic int ran[OUTSIDERS * FROM_OUTSIDE];
};

struct from_outside_g {
    struct from_outside *all;
    int index;
};

static void from_outside_g(void *arg)
{
    struct from_outside_g *self = arg;
    atomic_fetch_add(&self->all->ran[self->index], 1);
    wg_done(&self->all->done);
}

/* Slowly, so that workers fall asleep in between. */
static void outsider(void *arg, int i)
{
    struct from_outside_g *gs = arg;
    for (int k = 0; k < FROM_OUTSIDE; k++) {
        go_work(2000);
        go_from_outside(from_outside_g, &gs[i * FROM_OUTSIDE + k]);
    }
}

/* Twice, since the threads of the first time serve again; and by fewer. */
static void conform_threads_outside_start_goroutines(void *arg)
{
    const struct conform_cell *cell = arg;
    struct from_outside *all = go_alloc_zeroed(sizeof *all);
    struct from_outside_g *gs = go_alloc_zeroed(OUTSIDERS * FROM_OUTSIDE * sizeof *gs);
    for (int i = 0; i < OUTSIDERS * FROM_OUTSIDE; i++)
        gs[i] = (struct from_outside_g){all, i};
    for (int n = OUTSIDERS; n >= 1; n--) {
        wg_add(&all->done, n * FROM_OUTSIDE);
        int error = go_outside(n, outsider, gs);
        CHECK(error == (threads_are_shared(cell->ops) ? 0 : -ENOTSUP));
        if (error)
            break;
        wg_wait(&all->done);
        for (int i = 0; i < OUTSIDERS * FROM_OUTSIDE; i++)
            CHECK(atomic_exchange(&all->ran[i], 0) == (i < n * FROM_OUTSIDE));
    }
    go_free(gs);
    go_free(all);
}

const struct conform_case conform_thread_cases[] = {
    CASE(conform_locked_leaves_its_child_to_others),
    CASE(conform_locked_leaves_its_child_to_others, .settings = "queue=bwos"),
    CASE(conform_locked_leaves_its_child_to_others, .settings = "backoff_ns=never"),
    CASE(conform_locked_leaves_whom_it_woke_to_others),
    CASE(conform_locked_leaves_whom_it_woke_to_others, .settings = "queue=bwos"),
    CASE(conform_call_leaves_whom_its_thread_woke_to_others, .settings = "calls=immediate"),
    CASE(conform_locked_sleeps_end),
    CASE(conform_workers_leave_their_timers),
    CASE(conform_calls_return),
    CASE(conform_calls_return, .settings = "width=load"),
    CASE(conform_calls_return, .settings = "queue=bwos"),
    CASE(conform_calls_return, .settings = "calls=none"),
    CASE(conform_calls_return, .settings = "calls=immediate"),
    CASE(conform_calls_return, .settings = "calls=adaptive"),
    CASE(conform_calls_return, .settings = "wake=none"),
    CASE(conform_calls_return, .settings = "backoff_ns=never"),
    CASE(conform_loops_of_calls_end_their_slices),
    CASE(conform_loops_of_calls_end_their_slices, .settings = "calls=none"),
    CASE(conform_locked_stays_on_its_thread),
    CASE(conform_locked_stays_on_its_thread, .settings = "wake=none"),
    CASE(conform_workers_come_and_go),
    CASE(conform_workers_come_and_go, .settings = "width=load"),
    CASE(conform_workers_come_and_go, .settings = "queue=bwos"),
    CASE(conform_threads_outside_start_goroutines),
    CASE(conform_threads_outside_start_goroutines, .settings = "wake_delay_ns=20000"),
    CASE(conform_threads_outside_start_goroutines, .settings = "width=load"),
    CASE(conform_threads_outside_start_goroutines, .settings = "globals=4,inject=sticky"),
    CASE(conform_threads_outside_start_goroutines, .settings = "globals=4,inject=random"),
    CASE(conform_workers_come_and_go, .settings = "wake=all"),
    CASE(conform_workers_come_and_go, .settings = "backoff_ns=never"),
    CASE(conform_workers_leave_their_queue),
    CASE(conform_workers_leave_their_queue, .settings = "queue=bwos"),
    {0},
};
