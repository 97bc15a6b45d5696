/* explore.c - see explore.h. */
#include "explore.h"

#include "kernel.h"
#include "machine.h"

#include <stdlib.h>
#include <string.h>

enum { DEPTH_MAX = 1 << 14, REGIONS_MAX = 32, POINTS_MAX = 100000, ROOM_FIRST = 1 << 16 };
enum { READS_MAX = 16 };

/* A choice on the way to the current execution. */
struct fork {
    int taken;
    uint64_t left; /* threads that were not taken yet */
};

/* Words that a thread has read or written since it rested last, or began its operation. */
struct reads {
    uintptr_t address[READS_MAX];
    int count; /* READS_MAX + 1: more than there is room for, so any may be among them */
    bool over; /* it has rested: the next access is the first one */
};

/* INVARIANTs that a thread is in, and whether the outermost has had its point. */
struct check {
    int depth;
    bool had_point;
};

static struct {
    const struct explore_watcher *watcher;
    struct fork fork[DEPTH_MAX];
    size_t forks, at; /* on the way; made by this execution so far */
    uint64_t local[HUNT_THREADS_MAX];
    uint64_t starting; /* threads, before the operation's first access */
    uint64_t rested;   /* that wait in a loop until one of their words is written */
    uint64_t stale;    /* one of whose words another has written since they read it */
    struct reads reads[HUNT_THREADS_MAX];
    const _Atomic uint32_t *lock;
    int holder; /* of the lock; 0: nobody */
    struct check check[HUNT_THREADS_MAX];
    int alike[2]; /* 0: none are */
    struct {
        const void *start;
        size_t size;
    } region[REGIONS_MAX];
    size_t regions;
    bool cut; /* the execution came to a known state */
} explore;

/* How places were accessed. Only more can become true. */
enum { READ_WITHOUT_LOCK = 1, WRITTEN_WITHOUT_LOCK = 2, SEVERAL = 0xff };
struct usage {
    uint8_t lock[1 << SEEN_BITS];   /* by these bits */
    uint8_t writer[1 << SEEN_BITS]; /* who writes it; 0: nobody */
};
static struct usage usage, usage_learnt; /* as known when this search began; by now */

/* Hashes of states; 0: free. */
static uint64_t *known;
static size_t known_count, known_room;

static uint64_t mix(uint64_t hash, uint64_t value)
{
    __uint128_t product =
        (__uint128_t)(hash ^ UINT64_C(0x9fb21c651e98df25)) * (value ^ UINT64_C(0x9e3779b97f4a7c15));
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static bool known_add_to(uint64_t *table, size_t room, uint64_t hash)
{
    size_t at = hash & (room - 1);
    while (table[at] && table[at] != hash)
        at = (at + 1) & (room - 1);
    bool is_new = !table[at];
    table[at] = hash;
    return is_new;
}

static void known_grow(void)
{
    size_t room = known_room ? known_room * 2 : ROOM_FIRST;
    uint64_t *table = calloc(room, sizeof *table);
    if (!table)
        machine_die("schedlab hunt: no memory for so many states\n", 1);
    for (size_t i = 0; i < known_room; i++)
        if (known[i])
            known_add_to(table, room, known[i]);
    free(known);
    known = table;
    known_room = room;
}

/* False if it was known. */
static bool known_add(uint64_t hash)
{
    if (known_count >= known_room / 2)
        known_grow();
    bool is_new = known_add_to(known, known_room, hash ? hash : 1);
    known_count += is_new;
    return is_new;
}

static uint64_t thread_hash(int i, uint64_t ready)
{
    uint64_t flags = (ready >> i & 1) | (explore.rested >> i & 1) << 1 |
                     (explore.stale >> i & 1) << 2 | (uint64_t)(explore.holder == i) << 3;
    return mix(explore.local[i], (uint64_t)hunt.thread[i].state << 4 | flags);
}

/* If as[i] were thread i. */
static uint64_t hash_as(const uint8_t as[HUNT_THREADS_MAX], uint64_t ready, uint64_t hash)
{
    for (int i = 0; i < hunt.outcome.threads; i++)
        hash = mix(hash, thread_hash(as[i], ready));
    return explore.watcher->state ? mix(hash, explore.watcher->state(as)) : hash;
}

static uint64_t state_hash(uint64_t ready)
{
    uint64_t memory = 1;
    uint8_t as[HUNT_THREADS_MAX];
    for (size_t i = 0; i < explore.regions; i++) {
        const uint64_t *word = explore.region[i].start;
        for (size_t k = 0; k < explore.region[i].size / sizeof *word; k++)
            memory = mix(memory, word[k]);
    }
    for (int i = 0; i < HUNT_THREADS_MAX; i++)
        as[i] = (uint8_t)i;
    uint64_t hash = hash_as(as, ready, memory);
    if (!explore.alike[0])
        return hash;
    as[explore.alike[0]] = (uint8_t)explore.alike[1];
    as[explore.alike[1]] = (uint8_t)explore.alike[0];
    uint64_t other = hash_as(as, ready, memory);
    return other < hash ? other : hash;
}

/* A thread that did not come to a point yet, as long as there is one. */
static int fresh_of(uint64_t ready)
{
    for (; ready; ready &= ready - 1)
        if (hunt.thread[__builtin_ctzll(ready)].at == 0)
            return __builtin_ctzll(ready);
    return -1;
}

static int fork_new(uint64_t ready)
{
    if (!known_add(state_hash(ready))) {
        explore.cut = true;
        hunt_fail(HUNT_DONE, "");
    }
    if (explore.forks == DEPTH_MAX)
        hunt_fail(HUNT_UNFIT, "more choices than there is room for\n");
    int self = hunt.self->index;
    int taken = ready >> self & 1 ? self : __builtin_ctzll(ready);
    explore.fork[explore.forks++] = (struct fork){taken, ready & ~(UINT64_C(1) << taken)};
    explore.at++;
    return taken;
}

int explore_next(void)
{
    const struct sim_thread *self = hunt.self;
    uint64_t ready =
        hunt.ready & ~explore.rested; /* a word may have been written since it rested */
    if (!ready)
        oracle_fail(HUNT_STUCK, "all that can run wait in a loop for each other");
    int fresh = ready & 1 ? 0 : fresh_of(ready);
    if (fresh >= 0)
        return fresh;
    if (ready & thread_bit(self) && !self->address) /* a call into the kernel, or it did not rest */
        return self->index;
    if (!(ready & (ready - 1)))
        return __builtin_ctzll(ready);
    return explore.at < explore.forks ? explore.fork[explore.at++].taken : fork_new(ready);
}

/* The current thread is about to access it. */
static void reads_add(uintptr_t address)
{
    struct reads *reads = &explore.reads[hunt.self->index];
    if (reads->over)
        *reads = (struct reads){0};
    for (int i = 0; i < reads->count && i < READS_MAX; i++)
        if (reads->address[i] == address)
            return;
    if (reads->count < READS_MAX)
        reads->address[reads->count] = address;
    reads->count += reads->count <= READS_MAX;
}

static bool reads_have(const struct reads *reads, uintptr_t address)
{
    for (int i = 0; i < reads->count && i < READS_MAX; i++)
        if (reads->address[i] == address)
            return true;
    return reads->count > READS_MAX;
}

/* The current thread is about to write it: who waits for that goes on. */
static void written(uintptr_t address)
{
    for (int i = 1; i < hunt.outcome.threads; i++) {
        uint64_t bit = UINT64_C(1) << i;
        if (i == hunt.self->index || !reads_have(&explore.reads[i], address))
            continue;
        if (!(explore.rested & bit))
            explore.stale |= bit;
        explore.rested &= ~bit;
    }
}

/* The current thread is about to write the lock. False: another one holds it, and nothing changes.
 */
static bool lock_changes(void)
{
    int self = hunt.self->index;
    if (explore.holder && explore.holder != self)
        return false;
    explore.holder = explore.holder ? 0 : self;
    return true;
}

/* The word that the current thread is about to access, and its value, belong to its state. */
static void remember(uintptr_t address)
{
    uint64_t value, *local = &explore.local[hunt.self->index];
    memcpy(&value, (const void *)(address & ~(uintptr_t)7), sizeof value);
    *local = mix(mix(*local, address), value);
}

void explore_goes_on(uintptr_t address)
{
    int self = hunt.self->index;
    uint64_t bit = thread_bit(hunt.self);
    if (!address)
        return;
    if (explore.starting & bit && explore.watcher->starts)
        explore.watcher->starts(self);
    explore.starting &= ~bit;
    remember(address);
    reads_add(address & ~(uintptr_t)7);
    if (hunt.self->access == SIM_WRITE &&
        (address != (uintptr_t)explore.lock || !hunt_learns || lock_changes()))
        written(address & ~(uintptr_t)7);
}

void machine_checks(bool begins)
{
    if (!hunt_plan.explores)
        return;
    struct check *check = &explore.check[hunt.self->index];
    check->depth += begins ? 1 : -1;
    check->had_point &= check->depth > 0;
}

/* The current thread accesses it. */
static void usage_learn(size_t place, enum sim_access access, bool holds)
{
    uint8_t self = (uint8_t)hunt.self->index, *writer = &usage_learnt.writer[place];
    if (!holds)
        usage_learnt.lock[place] |= access == SIM_READ ? READ_WITHOUT_LOCK : WRITTEN_WITHOUT_LOCK;
    if (access == SIM_WRITE && *writer != self)
        *writer = *writer ? SEVERAL : self;
}

/* True if its order makes no difference. */
static bool is_unordered(size_t place, uintptr_t address, enum sim_access access)
{
    bool holds = explore.holder == hunt.self->index, reads = access == SIM_READ;
    if (!hunt_learns)
        return false;
    if (explore.lock && address == (uintptr_t)explore.lock)
        return holds && reads; /* it is held, and stays so */
    usage_learn(place, access, holds);
    if (reads && usage.writer[place] == hunt.self->index)
        return true; /* what it reads it has written */
    if (!holds || usage.lock[place] & (reads ? WRITTEN_WITHOUT_LOCK : ~0))
        return false;
    remember(address);
    return true;
}

bool explore_passes(size_t place, uintptr_t address, enum sim_access access)
{
    struct check *check = &explore.check[hunt.self->index];
    bool passes = is_unordered(place, address, access);
    if (check->had_point)
        return true; /* and what a check reads decides nothing after it */
    check->had_point = check->depth > 0 && !passes;
    return passes;
}

void explore_rests(uintptr_t pc)
{
    int self = hunt.self->index;
    uint64_t bit = thread_bit(hunt.self);
    struct reads *reads = &explore.reads[self];
    explore.local[self] = mix(pc, (uint64_t)reads->count);
    for (int i = 0; i < reads->count && i < READS_MAX; i++)
        explore.local[self] = mix(explore.local[self], reads->address[i]);
    reads->over = true;
    if (!(explore.stale & bit)) /* else it looks again at once */
        explore.rested |= bit;
    explore.stale &= ~bit;
}

void explore_memory(const void *start, size_t size)
{
    if (explore.regions == REGIONS_MAX)
        hunt_fail(HUNT_UNFIT, "more memory is named than there is room for\n");
    explore.region[explore.regions].start = start;
    explore.region[explore.regions++].size = size;
}

void explore_others(bool run)
{
    hunt_learns = run;
    if (run)
        seen_begin();
    if (run && explore.lock)
        seen_share((uintptr_t)explore.lock);
}

void explore_alike(int a, int b)
{
    explore.alike[0] = a;
    explore.alike[1] = b;
}

void explore_lock(const _Atomic uint32_t *word)
{
    explore.lock = word;
}

void explore_operation(uint64_t number)
{
    uint64_t bit = thread_bit(hunt.self);
    explore.local[hunt.self->index] = mix(number, 1);
    explore.starting |= bit;
    explore.stale &= ~bit;
    explore.reads[hunt.self->index] = (struct reads){0};
}

int explore_thread(void)
{
    return hunt.self->index;
}

/* The next way that was not gone; false: there is none. */
static bool next_way(void)
{
    while (explore.forks > 0 && !explore.fork[explore.forks - 1].left)
        explore.forks--;
    if (explore.forks == 0)
        return false;
    struct fork *fork = &explore.fork[explore.forks - 1];
    fork->taken = __builtin_ctzll(fork->left);
    fork->left &= fork->left - 1;
    return true;
}

static size_t learnt_count(void)
{
    size_t count = 0;
    for (size_t i = 0; i < sizeof hunt_learnt; i++)
        count += (hunt_learnt[i] != 0) + usage_learnt.lock[i] + usage_learnt.writer[i];
    return count;
}

static void known_clear(void)
{
    free(known);
    known = NULL;
    known_count = known_room = 0;
}

/* All ways with the words that are known as shared. */
static void explore_once(void (*fn)(void *arg), void *arg, uint64_t executions_max,
                         struct explore_result *result)
{
    const struct hunt_plan plan = {
        .algorithm = -1, .points_max = POINTS_MAX, .oracles = ~0u, .explores = true};
    known_clear();
    explore.forks = 0;
    do {
        explore.at = explore.regions = 0;
        explore.starting = explore.rested = explore.stale = 0;
        explore.lock = NULL;
        explore.holder = explore.alike[0] = 0;
        memset(explore.local, 0, sizeof explore.local);
        memset(explore.check, 0, sizeof explore.check);
        memset(explore.reads, 0, sizeof explore.reads);
        explore.cut = false;
        if (explore.watcher->executes)
            explore.watcher->executes();
        const struct hunt_outcome *outcome = hunt_execute(&plan, fn, arg);
        result->executions++;
        result->points += outcome->points;
        if (outcome->end != HUNT_DONE)
            result->failure = outcome;
        result->complete = !result->failure && !next_way();
    } while (!result->failure && !result->complete && result->executions < executions_max);
    result->states = known_count;
}

struct explore_result explore_run(void (*fn)(void *arg), void *arg,
                                  const struct explore_watcher *watcher, uint64_t executions_max)
{
    struct explore_result result;
    bool again;
    explore.watcher = watcher;
    memset(&usage_learnt, 0, sizeof usage_learnt); /* of another program */
    do {
        size_t learnt = learnt_count();
        result = (struct explore_result){0};
        hunt_learn(false); /* takes what was learnt */
        usage = usage_learnt;
        explore_once(fn, arg, executions_max, &result);
        again = learnt_count() > learnt; /* a failure may come of what was passed over, too */
        result.complete = result.complete && !again;
    } while (again && result.executions < executions_max);
    known_clear();
    return result;
}
