/* conform_locks.c - conformance cases for semaphores, once and read-write mutexes; see
 * conformance.c. */
#include "conform.h"
#include "tests/support/support.h"

enum { GOERS = 8, PERMITS = 3 };

struct room {
    struct sem sem;
    struct rwmutex rw;
    struct waitgroup done;
    int64_t turns;
    _Atomic int64_t inside;
    int64_t pair[2];    /* protected by rw: always equal */
    int64_t written;    /* likewise */
    struct once *onces; /* one per turn */
    int64_t *made;      /* what each once made */
    _Atomic int64_t makers;
};

struct goer {
    struct room *room;
    int index;
};

static void room_run(struct room *room, void (*goes)(void *))
{
    struct goer goers[GOERS];
    wg_add(&room->done, GOERS);
    for (int i = 0; i < GOERS; i++) {
        goers[i] = (struct goer){room, i};
        go(goes, &goers[i]);
    }
    wg_wait(&room->done);
}

/* Semaphores ---------------------------------------------------------------------------------- */

static void goer_enters(void *arg)
{
    struct goer *self = arg;
    struct room *room = self->room;
    for (int64_t i = 0; i < room->turns; i++) {
        if (i % 3 == 1)
            sem_acquire_front(&room->sem);
        else if (i % 3 == 0 || !sem_try_acquire(&room->sem))
            sem_acquire(&room->sem);
        CHECK(atomic_fetch_add(&room->inside, 1) < PERMITS);
        if ((i + self->index) % 2)
            gosched();
        atomic_fetch_sub(&room->inside, 1);
        sem_release(&room->sem, i % 2);
    }
    wg_done(&room->done);
}

static void conform_sem_admits_so_many(void *arg)
{
    const struct conform_cell *cell = arg;
    struct room *room = go_alloc_zeroed(sizeof *room);
    room->turns = 100 * cell->scale;
    for (int i = 0; i < PERMITS; i++)
        sem_release(&room->sem, true);
    room_run(room, goer_enters);
    CHECK(atomic_load(&room->sem.state) == PERMITS); /* no permit lost, nobody waits */
    go_free(room);
}

/* Once ---------------------------------------------------------------------------------------- */

struct making {
    struct room *room;
    int64_t turn;
};

static void room_makes(void *arg)
{
    struct making *self = arg;
    atomic_fetch_add(&self->room->makers, 1);
    gosched();
    self->room->made[self->turn] += self->turn + 1;
}

static void goer_makes(void *arg)
{
    struct goer *self = arg;
    struct room *room = self->room;
    for (int64_t i = 0; i < room->turns; i++) {
        struct making making = {room, (i + self->index) % room->turns};
        once_do(&room->onces[making.turn], room_makes, &making);
        CHECK(room->made[making.turn] == making.turn + 1);
    }
    wg_done(&room->done);
}

static void conform_once_runs_once(void *arg)
{
    const struct conform_cell *cell = arg;
    struct room *room = go_alloc_zeroed(sizeof *room);
    room->turns = 25 * cell->scale;
    room->onces = go_alloc_zeroed((size_t)room->turns * sizeof *room->onces);
    room->made = go_alloc_zeroed((size_t)room->turns * sizeof *room->made);
    room_run(room, goer_makes);
    CHECK(atomic_load(&room->makers) == room->turns);
    go_free(room->made);
    go_free(room->onces);
    go_free(room);
}

/* Read-write mutexes -------------------------------------------------------------------------- */

static void room_read(struct room *room)
{
    int64_t first = room->pair[0];
    CHECK(atomic_fetch_add(&room->inside, 1) >= 0);
    if (first % 2)
        gosched();
    CHECK(room->pair[0] == first && room->pair[1] == first);
    atomic_fetch_sub(&room->inside, 1);
}

static void room_write(struct room *room)
{
    CHECK(atomic_fetch_sub(&room->inside, 1000) == 0);
    room->pair[0]++;
    if (room->pair[0] % 3 == 0)
        gosched();
    room->pair[1]++;
    room->written++;
    atomic_fetch_add(&room->inside, 1000);
}

static void goer_reads_or_writes(void *arg)
{
    struct goer *self = arg;
    struct room *room = self->room;
    for (int64_t i = 0; i < room->turns; i++) {
        if ((i + self->index) % 4 == 0) {
            if (i % 2 || !rwmutex_try_lock(&room->rw))
                rwmutex_lock(&room->rw);
            room_write(room);
            rwmutex_unlock(&room->rw);
        } else {
            if (i % 2 || !rwmutex_try_read_lock(&room->rw))
                rwmutex_read_lock(&room->rw);
            room_read(room);
            rwmutex_read_unlock(&room->rw);
        }
    }
    wg_done(&room->done);
}

static void conform_rwmutex_excludes(void *arg)
{
    const struct conform_cell *cell = arg;
    struct room *room = go_alloc_zeroed(sizeof *room);
    room->turns = 100 * cell->scale;
    room_run(room, goer_reads_or_writes);
    CHECK(room->written == GOERS * room->turns / 4 && room->pair[1] == room->written);
    CHECK(rwmutex_try_lock(&room->rw));
    go_free(room);
}

const struct conform_case conform_lock_cases[] = {
    CASE(conform_sem_admits_so_many),
    CASE(conform_once_runs_once),
    CASE(conform_rwmutex_excludes),
    {0},
};
