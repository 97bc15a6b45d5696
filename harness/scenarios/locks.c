/* locks.c - scenarios of mutexes, conditions, semaphores and wait groups. */
#include "harness/scenarios/scenario.h"

enum { LOCKERS = 3, TURNS = 2 };

/* Mutexes: a lock is handed over while others come for it. */
struct mutex_handoff {
    struct mutex mu;
    uint32_t count; /* protected by mu */
    struct waitgroup done;
};

static void mutex_locker(void *arg)
{
    struct mutex_handoff *state = arg;
    for (int i = 0; i < TURNS; i++) {
        mutex_lock(&state->mu);
        uint32_t count = state->count;
        if (i == 0)
            gosched();
        state->count = count + 1;
        mutex_unlock(&state->mu);
    }
    wg_done(&state->done);
}

static const char *mutex_handoff_crosses(struct mutex_handoff *state)
{
    wg_add(&state->done, LOCKERS);
    for (int i = 0; i < LOCKERS; i++)
        go(mutex_locker, state);
    wg_wait(&state->done);
    return state->count == LOCKERS * TURNS ? NULL : "an increment under the lock is lost";
}
SCENARIO(mutex_handoff, LOCKERS, 1, "a mutex is unlocked while others come for it",
         "runtime/sync.c, mutex");

/* A reader and a writer come at once. */
struct rw_race {
    struct rwmutex rw;
    uint32_t value; /* protected by rw */
    _Atomic uint32_t odd;
    struct waitgroup done;
};

static void rw_reader(void *arg)
{
    struct rw_race *state = arg;
    rwmutex_read_lock(&state->rw);
    if (state->value % 2)
        tick(&state->odd);
    rwmutex_read_unlock(&state->rw);
    wg_done(&state->done);
}

static void rw_writer(void *arg)
{
    struct rw_race *state = arg;
    rwmutex_lock(&state->rw);
    state->value++;
    gosched();
    state->value++;
    rwmutex_unlock(&state->rw);
    wg_done(&state->done);
}

static const char *rw_race_crosses(struct rw_race *state)
{
    wg_add(&state->done, 4);
    go(rw_reader, state);
    go(rw_writer, state);
    go(rw_writer, state);
    go(rw_reader, state);
    wg_wait(&state->done);
    if (ticks(&state->odd))
        return "a reader saw a writer at work";
    return state->value == 4 ? NULL : "a writer's step is lost";
}
SCENARIO(rw_race, 4, 1, "readers and writers come at once", "runtime/sync.c, rwmutex");

/* A signal comes while the waiter is on its way to sleep. */
struct cond_race {
    struct mutex mu;
    struct cond cond;
    bool ready; /* protected by mu */
    struct waitgroup done;
};

static void cond_waiter(void *arg)
{
    struct cond_race *state = arg;
    mutex_lock(&state->mu);
    while (!state->ready)
        cond_wait(&state->cond, &state->mu);
    mutex_unlock(&state->mu);
    wg_done(&state->done);
}

static const char *cond_race_crosses(struct cond_race *state)
{
    wg_add(&state->done, 2);
    go(cond_waiter, state);
    go(cond_waiter, state);
    mutex_lock(&state->mu);
    state->ready = true;
    mutex_unlock(&state->mu);
    cond_broadcast(&state->cond);
    wg_wait(&state->done);
    return NULL;
}
SCENARIO(cond_race, 2, 1, "a broadcast comes while waiters go to sleep", "runtime/sync.c, cond");

/* Permits are given and taken at once, by hand-over and without. */
struct sem_race {
    struct sem sem;
    struct waitgroup done;
};

static void sem_taker(void *arg)
{
    struct sem_race *state = arg;
    sem_acquire(&state->sem);
    wg_done(&state->done);
}

static const char *sem_race_crosses(struct sem_race *state)
{
    wg_add(&state->done, 3);
    for (int i = 0; i < 3; i++)
        go(sem_taker, state);
    for (int i = 0; i < 3; i++)
        sem_release(&state->sem, i % 2);
    wg_wait(&state->done);
    return sem_try_acquire(&state->sem) ? "a permit is left over" : NULL;
}
SCENARIO(sem_race, 3, 1, "permits are given and taken at once", "runtime/sem.c");

/* Something is done once, however many come. */
struct once_race {
    struct once once;
    uint32_t done_times;
    _Atomic uint32_t early;
    struct waitgroup done;
};

static void once_fn(void *arg)
{
    gosched();
    ((struct once_race *)arg)->done_times++;
}

static void once_caller(void *arg)
{
    struct once_race *state = arg;
    once_do(&state->once, once_fn, state);
    if (state->done_times != 1)
        tick(&state->early);
    wg_done(&state->done);
}

static const char *once_race_crosses(struct once_race *state)
{
    wg_add(&state->done, 3);
    for (int i = 0; i < 3; i++)
        go(once_caller, state);
    wg_wait(&state->done);
    return ticks(&state->early) ? "it was not done once before a call returned" : NULL;
}
SCENARIO(once_race, 3, 1, "several come to what is done once", "runtime/sync.c, once");
