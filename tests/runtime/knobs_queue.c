/* knobs_queue.c - the knobs of the local queue that are about other workers: whom runnext wakes,
 * and in which order victims are visited; and the age of what a deque holds. See test_knobs.c. */
#include "knob_scenes.h"
#include "lrq.h"
#include "workloads/order.h"
#include "workloads/workload.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Wake-ups by runnext ------------------------------------------------------------------------ */

static int64_t started_now(void)
{
    return (int64_t)(stat_now(STAT_THREADS) + stat_now(STAT_WAKEUPS));
}

/* Main's worker stays busy. found[0]: workers started for the first G, which is alone in runnext;
 * found[1]: and, once another has run the first, for the second one, which has taken its place. */
static void scene_fill_runnext(void *arg)
{
    struct trace *self = arg;
    struct timed timed[2] = {{self, 0}, {self, 1}};
    int64_t before = started_now();
    wg_add(&self->done, 2);
    go(scene_ran_g, &timed[0]);
    self->found[0] = started_now() - before;
    go(scene_ran_g, &timed[1]);
    self->found[1] = started_now() - before;
    AWAIT(atomic_load(&self->ran[0]));
    wg_wait(&self->done);
}

/* The second G drives the first one into the ring, which is for all. */
void knob_runnext_wake(const char *variant)
{
    scene_finds(variant, "runnext_wake=on", 2, 0, scene_fill_runnext, 1);
    scene_finds(variant, "runnext_wake=off", 2, 0, scene_fill_runnext, 0);
    assert_int_equal(trace->found[1], 1);
    scene_finds(variant, "runnext_wake=off,backoff_ns=never", 2, 0, scene_fill_runnext, 0);
    assert_int_equal(trace->found[1], 1);
}

/* Victims: the walk itself, from a worker's own point of view ------------------------------- */

enum { VICTIMS = 8, SELF = 2, LAST = 5, WALKS = 64 };

static void scene_walk(void *arg)
{
    struct trace *self = arg;
    struct m *m = machine_self();
    struct lrq *mine = lrq_new(m->sched->knobs);
    mine->last_victim = LAST;
    self->found[0] = m->p->id;
    for (int i = 0; i < WALKS; i++) {
        struct walk walk = walk_start(m, mine, VICTIMS, SELF, 0);
        for (uint32_t victim; walk_next(&walk, &victim);)
            self->id[self->length++] = (int)victim;
    }
    lrq_free(mine);
}

/* Each of n walks through any number of victims comes to each of them once. */
enum { VICTIMS_MAX = 130 };

static void scene_walk_meets_all(void *arg)
{
    struct trace *self = arg;
    struct m *m = machine_self();
    struct lrq *mine = lrq_new(m->sched->knobs);
    for (uint32_t victims = 1; victims <= VICTIMS_MAX; victims++)
        for (int i = 0; i < self->n; i++) {
            bool met[VICTIMS_MAX] = {false};
            struct walk walk = walk_start(m, mine, victims, (uint32_t)i % victims, i);
            uint32_t count = 0;
            for (uint32_t victim; walk_next(&walk, &victim); count++) {
                CHECK(victim < victims && !met[victim]);
                met[victim] = true;
            }
            CHECK(count == victims);
        }
    lrq_free(mine);
}

static void expect_all_met(const char *variant)
{
    static const char *const orders[] = {"victim=coprime", "victim=fixed", "victim=last",
                                         "victim=zero", "victim=rotate"};
    for (size_t i = 0; i < sizeof orders / sizeof *orders; i++)
        scene_run(variant, orders[i], 1, WALKS, scene_walk_meets_all);
}

/* Each walk begins anywhere and goes on in order. */
static void expect_rotations(const char *variant)
{
    unsigned starts = 0;
    scene_run(variant, "victim=rotate", 1, 0, scene_walk);
    for (int i = 0; i < VICTIMS * WALKS; i++) {
        if (i % VICTIMS == 0)
            starts |= 1u << trace->id[i];
        else
            assert_int_equal(trace->id[i], (trace->id[i - 1] + 1) % VICTIMS);
    }
    assert_int_equal(starts, (1u << VICTIMS) - 1);
}

/* As many looks as there are victims, but a walk that meets all of them has a chance of 8!/8^8. */
static void expect_draws(const char *variant)
{
    unsigned drawn = 0;
    int whole = 0;
    scene_run(variant, "victim=random", 1, 0, scene_walk);
    assert_int_equal(trace->length, VICTIMS * WALKS);
    for (int i = 0; i < VICTIMS * WALKS; i += VICTIMS) {
        unsigned visited = 0;
        for (int k = 0; k < VICTIMS; k++)
            visited |= 1u << trace->id[i + k];
        drawn |= visited;
        whole += visited == (1u << VICTIMS) - 1;
    }
    assert_int_equal(drawn, (1u << VICTIMS) - 1);
    assert_in_range(whole, 0, WALKS / 4);
}

/* The two that share a cache with main's worker come first, in either order; then the others. */
static void expect_near_first(const char *variant)
{
    unsigned first = 0, far_starts = 0;
    scene_run(variant, "victim=near", VICTIMS, 0, scene_walk);
    assert_int_equal(trace->length, VICTIMS * WALKS);
    for (int i = 0; i < VICTIMS * WALKS; i += VICTIMS) {
        unsigned visited = 0;
        for (int k = 0; k < VICTIMS; k++)
            visited |= 1u << trace->id[i + k];
        assert_int_equal(visited, (1u << VICTIMS) - 1);
        for (int k = 0; k < 2; k++)
            assert_int_equal(trace->id[i + k] / 2, trace->found[0] / 2);
        first |= 1u << trace->id[i];
        far_starts |= 1u << trace->id[i + 2];
    }
    assert_int_equal(__builtin_popcount(first), 2);
    assert_in_range(__builtin_popcount(far_starts), 3, VICTIMS - 2);
}

void knob_victim(const char *variant)
{
    scene_run(variant, "victim=fixed", 1, 0, scene_walk);
    for (int i = 0; i < VICTIMS * WALKS; i++)
        assert_int_equal(trace->id[i], (SELF + 1 + i) % VICTIMS);
    scene_run(variant, "victim=last", 1, 0, scene_walk);
    for (int i = 0; i < VICTIMS * WALKS; i++)
        assert_int_equal(trace->id[i], (LAST + i) % VICTIMS);
    scene_run(variant, "victim=zero", 1, 0, scene_walk);
    for (int i = 0; i < VICTIMS * WALKS; i++)
        assert_int_equal(trace->id[i], i % VICTIMS);
    expect_all_met(variant);
    expect_rotations(variant);
    expect_draws(variant);
    expect_near_first(variant);
    scene_run(variant, "victim=coprime", 1, 0, scene_walk);
    unsigned starts = 0, steps = 0;
    for (int i = 0; i < VICTIMS * WALKS; i += VICTIMS) {
        unsigned visited = 0;
        for (int k = 0; k < VICTIMS; k++)
            visited |= 1u << trace->id[i + k];
        assert_int_equal(visited, (1u << VICTIMS) - 1);
        starts |= 1u << trace->id[i];
        steps |= 1u << (trace->id[i + 1] - trace->id[i] + VICTIMS) % VICTIMS;
    }
    assert_int_equal(starts, (1u << VICTIMS) - 1);
    assert_int_equal(steps, 1u << 1 | 1u << 3 | 1u << 5 | 1u << 7);
}

/* Global queues ------------------------------------------------------------------------------- */

/* Main's worker stays busy, so another has to take what lies in the global queue. */
static void scene_global_g(void *arg)
{
    struct trace *self = arg;
    struct timed timed = {self, 0};
    wg_add(&self->done, 1);
    go_global(scene_ran_g, &timed);
    AWAIT(atomic_load(&self->ran[0]));
    wg_wait(&self->done);
}

void knob_globals(const char *variant)
{
    scene_run(variant, "globals=1", 2, 0, scene_global_g);
    assert_int_equal(stat_of(STAT_GRQ_FAR), 0);
    assert_true(stat_of(STAT_GRQ_HITS) >= 1);
    scene_run(variant, "globals=2", 2, 0, scene_global_g);
    assert_int_equal(stat_of(STAT_GRQ_FAR), 1);
    scene_run(variant, "globals=group", 2, 0, scene_global_g); /* a pair */
    assert_int_equal(stat_of(STAT_GRQ_FAR), 0);
}

/* Orders -------------------------------------------------------------------------------------- */

extern const struct workload workload_order;

/* Leaves in id what the order workload finds. */
static void find_order(struct trace *self, const char *settings)
{
    void *params = calloc(1, workload_order.params_size);
    support_set(params, workload_order.params, settings);
    void *state = workload_order.init(params, 1);
    struct outcome out = {0};
    workload_order.run(state, &out);
    snprintf((char *)self->id, sizeof self->id, "%s", order_text(state));
    workload_order.fini(state);
    free(params);
}

/* One in runnext, 16 in the ring, the others do not fit. */
static void scene_overflow(void *arg)
{
    find_order(arg, "n=30");
}

static void scene_ten(void *arg)
{
    find_order(arg, "n=10");
}

void knob_ring_order(const char *variant)
{
    scene_run(variant, "ring_order=fifo", 1, 0, scene_ten);
    assert_string_equal((char *)trace->id, "9 0-8");
    scene_run(variant, "ring_order=lifo", 1, 0, scene_ten);
    assert_string_equal((char *)trace->id, "9 8 7 6 5 4 3 2 1 0");
}

/* One G is in the global queue, one waits for a pipe that is ready, two are a victim's. */
static void scene_one_in_each_place(void *arg)
{
    find_order(arg, "n=4,mode=search");
}

/* With search=global the reader is last if an M without a P had waited for the pipe. */
void knob_search(const char *variant)
{
    scene_run(variant, "sysmon=off,search=global", 2, 0, scene_one_in_each_place);
    assert_int_equal(*(char *)trace->id, '0');
    scene_run(variant, "sysmon=off,search=steal", 2, 0, scene_one_in_each_place);
    assert_string_equal((char *)trace->id, "2-3 0-1");
}

void knob_overflow_end(const char *variant)
{
    static const struct {
        const char *settings, *order;
        uint64_t overflows;
    } rows[] = {
        {"overflow_end=oldest", "29 17-24 26-28 0-7 16 8-15 25", 2},
        {"overflow_end=newest", "29 0-7 26-28 8-25", 2},
        {"overflow_end=new", "29 0-28", 13},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char settings[64];
        snprintf(settings, sizeof settings, "ring=16,tick=0,%s", rows[i].settings);
        scene_run(variant, settings, 1, 0, scene_overflow);
        assert_string_equal((char *)trace->id, rows[i].order);
        assert_int_equal(stat_of(STAT_OVERFLOWS), rows[i].overflows);
    }
}

/* Age ----------------------------------------------------------------------------------------- */

static void dated_g(void *arg)
{
    struct trace *self = arg;
    self->found[1] = go_now();
    atomic_store(&self->ran[0], true);
    wg_done(&self->done);
}

/* Main's worker stays busy. found[0]: how long a G lay in its queue until another took it. */
static void scene_age(void *arg)
{
    struct trace *self = arg;
    wg_add(&self->done, 1);
    self->found[2] = go_now();
    go(dated_g, self);
    AWAIT(atomic_load(&self->ran[0]));
    self->found[0] = self->found[1] - self->found[2];
    wg_wait(&self->done);
}

void knob_steal_age_ns(const char *variant)
{
    scene_run(variant, "backoff_ns=0,steal_age_ns=20000000", 2, 0, scene_age);
    assert_true(trace->found[0] >= 20000000);
    assert_int_equal(stat_of(STAT_RUNNEXT_STEALS), 1);
    scene_run(variant, "runnext=off,steal_age_ns=20000000", 2, 0, scene_age);
    assert_true(trace->found[0] >= 20000000);
    assert_true(stat_of(STAT_STOLEN) >= 1);
}

void knob_slot_age_ns(const char *variant)
{
    scene_run(variant, "slot_age_ns=20000000", 2, 0, scene_age);
    assert_true(trace->found[0] >= 20000000);
    assert_int_equal(stat_of(STAT_RUNNEXT_STEALS), 1);
}

/* Searches that find nothing, by a worker that is alone -------------------------------------- */

/* n searches of main's worker. found[0]: queues looked into; count_missed[k]: searches that came to
 * all but k of the Ps. */
enum { MISSED_MAX = 64 };
static int64_t *count_missed;

static void scene_search(void *arg)
{
    struct trace *self = arg;
    struct m *m = machine_self();
    uint64_t probes = stat_now(STAT_VICTIM_PROBES), missed = stat_now(STAT_VICTIMS_MISSED);
    for (int i = 0; i < self->n; i++) {
        CHECK(!m->ops->steal(m));
        uint64_t now = stat_now(STAT_VICTIMS_MISSED);
        if (count_missed)
            count_missed[now - missed]++;
        missed = now;
    }
    self->found[0] = (int64_t)(stat_now(STAT_VICTIM_PROBES) - probes);
}

void knob_idle_mask(const char *variant)
{
    scene_finds(variant, "idle_mask=on", 4, 10, scene_search, 0);
    scene_finds(variant, "idle_mask=off", 4, 10, scene_search,
                10 * 4 * 3); /* searches, passes, others */
    scene_finds(variant, "idle_mask=off,passes=1", 4, 10, scene_search, 10 * 3);
}

/* The number of searches, out of a million of 4 P independent draws each, that miss exactly k of P
 * victims. The commit that brought the coprime walk gives it for a perfect generator: C(P, k) times
 * the chance that 4 P draws from P - k meet them all. */
static const struct {
    int procs, k;
    int64_t per_million;
} missed_rows[] = {
    {2, 1, 7812},    {3, 1, 23111},   {3, 2, 6},       {4, 1, 39907},   {4, 2, 92},
    {5, 1, 56915},   {5, 2, 365},     {8, 1, 105943},  {8, 2, 2763},    {8, 3, 16},
    {12, 1, 163988}, {12, 2, 9789},   {12, 3, 215},    {16, 1, 213342}, {16, 2, 20582},
    {16, 3, 876},    {64, 1, 379879}, {64, 2, 217687}, {64, 3, 76182},
};

/* Within five standard deviations; the seed is fixed, so the counts are the same each time. */
static void expect_missed(size_t row, int searches)
{
    double share = (double)missed_rows[row].per_million / 1e6;
    double expected = share * searches, off = (double)count_missed[missed_rows[row].k] - expected;
    if (off * off > 25 * (expected * (1 - share) + 1))
        fail_msg("%d Ps: %d searches, of which %d missed %d, not %d", missed_rows[row].procs,
                 searches, (int)count_missed[missed_rows[row].k], missed_rows[row].k,
                 (int)expected);
}

/* The order; and the table of misses. */
void knob_victim_of_ps(const char *variant)
{
    knob_victim(variant);
    count_missed = support_shared((MISSED_MAX + 1) * sizeof *count_missed);
    int procs = 0;
    for (size_t row = 0; row < sizeof missed_rows / sizeof *missed_rows; row++) {
        int searches = 300000 / missed_rows[row].procs;
        if (missed_rows[row].procs != procs) {
            procs = missed_rows[row].procs;
            memset(count_missed, 0, (MISSED_MAX + 1) * sizeof *count_missed);
            scene_run(variant, "victim=random", procs, searches, scene_search);
        }
        expect_missed(row, searches);
    }
    support_unshare(count_missed, (MISSED_MAX + 1) * sizeof *count_missed);
    count_missed = NULL;
}

/* Goroutines that wait in a deque ----------------------------------------------------------- */

/* Two that wake each other n times, and one that was woken before they began and still waits in the
 * deque, behind main at most. found[0]: how often they woke each other before that one ran. */
struct duet {
    struct trace *trace;
    struct sem turn[2], old;
};

static void duet_play(struct duet *self, int i)
{
    for (int round = 0; round < self->trace->n; round++) {
        sem_acquire(&self->turn[i]);
        atomic_fetch_add(&self->trace->count, 1);
        sem_release(&self->turn[!i], false);
    }
    wg_done(&self->trace->done);
}

static void duet_first_g(void *arg)
{
    struct duet *self = arg;
    sem_release(&self->old, false);
    duet_play(self, 0);
}

static void duet_second_g(void *arg)
{
    duet_play(arg, 1);
}

static void duet_old_g(void *arg)
{
    struct duet *self = arg;
    sem_acquire(&self->old);
    self->trace->found[0] = atomic_load(&self->trace->count);
    wg_done(&self->trace->done);
}

static void scene_duet(void *arg)
{
    struct duet self = {.trace = arg};
    wg_add(&self.trace->done, 3);
    sem_release(&self.turn[0], false);
    go(duet_old_g, &self);
    gosched();
    go(duet_second_g, &self);
    gosched();
    go(duet_first_g, &self);
    wg_wait(&self.trace->done);
}

/* owner=N, which knob_owner_of_children() and knob_owner_of_continuations() ask besides. */
void knob_owner_number(const char *variant)
{
    scene_finds(variant, "owner=lifo", 1, 500, scene_duet, 1000);
    scene_run(variant, "owner=8", 1, 500, scene_duet);
    assert_in_range(trace->found[0], 1, 2 * 8);
}

static void meeting_g(void *arg)
{
    struct trace *self = arg;
    atomic_fetch_add(&self->count, 1);
    AWAIT(atomic_load(&self->count) >= 2);
    wg_done(&self->done);
}

/* Two that wait for each other, so that one of them, or main, is stolen. */
static void scene_meeting(void *arg)
{
    struct trace *self = arg;
    wg_add(&self->done, 2);
    go(meeting_g, self);
    go(meeting_g, self);
    wg_wait(&self->done);
}

static void done_g(void *arg)
{
    struct trace *self = arg;
    atomic_fetch_add(&self->count, 1);
    wg_done(&self->done);
}

static void scene_all_at_once(void *arg)
{
    struct trace *self = arg;
    wg_add(&self->done, self->n);
    for (int i = 0; i < self->n; i++)
        go(done_g, self);
    wg_wait(&self->done);
}

static void nested_parent_g(void *arg)
{
    struct timed *self = arg;
    if (self->i > 0) {
        go(nested_parent_g, self - 1);
    } else {
        atomic_store(&self->trace->release[0], true);
        AWAIT(atomic_load(&self->trace->count) > 0);
    }
    atomic_fetch_add(&self->trace->count, 1);
    wg_done(&self->trace->done);
}

static void blocking_g(void *arg)
{
    struct trace *self = arg;
    atomic_store(&self->ran[0], true);
    AWAIT(atomic_load(&self->release[0]));
    wg_done(&self->done);
}

/* The other worker is kept until there is much to steal: children that main has started, or, where
 * these run at once, a parent for each. */
static void scene_much_to_steal(void *arg)
{
    struct trace *self = arg;
    struct timed timed[8];
    bool children = this_sched()->forkjoin == FJ_HELP;
    wg_add(&self->done, 9);
    go(blocking_g, self);
    AWAIT(atomic_load(&self->ran[0]));
    for (int i = 0; i < 8; i++) {
        timed[i] = (struct timed){self, i};
        if (children)
            go(done_g, self);
    }
    atomic_store(&self->release[0], children);
    if (!children)
        go(nested_parent_g, &timed[7]);
    if (children) /* its own worker has none of them */
        AWAIT(atomic_load(&self->count) == 8);
    wg_wait(&self->done);
}

static void knob_deque_half(const char *variant)
{
    scene_run(variant, "deque=the", 2, 0, scene_much_to_steal);
    assert_int_equal(stat_of(STAT_STOLEN), stat_of(STAT_STEALS));
    scene_run(variant, "deque=half", 2, 0, scene_much_to_steal);
    assert_true(stat_of(STAT_STOLEN) > stat_of(STAT_STEALS));
}

/* A thief of THE holds a lock each time that it looks. The array of ABP has an end. */
void knob_deque(const char *variant)
{
    scene_run(variant, "deque=chaselev", 2, 0, scene_meeting);
    assert_true(stat_of(STAT_STEALS) > 0);
    assert_int_equal(stat_of(STAT_DEQUE_LOCKS), 0);
    scene_run(variant, "deque=the", 2, 0, scene_meeting);
    assert_true(stat_of(STAT_STEALS) > 0);
    assert_true(stat_of(STAT_DEQUE_LOCKS) >= stat_of(STAT_STEALS) + stat_of(STAT_STEALS_FAILED));
    scene_run(variant, "deque=abp", 2, 0, scene_meeting);
    assert_true(stat_of(STAT_STEALS) > 0);
    assert_int_equal(stat_of(STAT_DEQUE_LOCKS), 0);
    knob_deque_half(variant);
    if (strcmp(variant, "tasksteal") != 0)
        return; /* contsteal queues one parent at a time here */
    scene_run(variant, "deque=abp", 1, 600, scene_all_at_once);
    assert_int_equal(stat_of(STAT_OVERFLOWS), 600 - 256);
    scene_run(variant, "deque=chaselev", 1, 600, scene_all_at_once);
    assert_int_equal(stat_of(STAT_OVERFLOWS), 0);
}

/* The global queue ---------------------------------------------------------------------------- */

static void yielding_g(void *arg)
{
    struct numbered *self = arg;
    gosched();
    numbered_g(self);
}

void scene_all_yield(void *arg)
{
    struct trace *self = arg;
    for (int i = 0; i < self->n; i++)
        numbered_go(self, i, yielding_g);
    wg_wait(&self->done);
}

/* The order is the same with and without a lock. */
void knob_queue(const char *variant)
{
    static const char *const unlocked[] = {"queue=mpmc", "queue=msqueue", "queue=faa"};
    scene_run(variant, "queue=list", 1, 20, scene_all_yield);
    assert_true(stat_of(STAT_GRQ_LOCKS) >= 40);
    int ids[20];
    memcpy(ids, trace->id, sizeof ids);
    for (size_t i = 0; i < sizeof unlocked / sizeof *unlocked; i++) {
        scene_run(variant, unlocked[i], 1, 20, scene_all_yield);
        assert_int_equal(stat_of(STAT_GRQ_LOCKS), 0);
        assert_true(stat_of(STAT_GRQ_HITS) >= 40);
        assert_memory_equal(ids, trace->id, sizeof ids);
    }
}

/* Two lists are looked into for a take from one, so the order of one queue is no more than likely.
 * With one list on one worker it is the order. */
void knob_relax(const char *variant)
{
    int ids[2][20];
    scene_run(variant, "queue=multi,relax=1", 1, 20, scene_all_yield);
    memcpy(ids[0], trace->id, sizeof ids[0]);
    scene_run(variant, "queue=list", 1, 20, scene_all_yield);
    assert_memory_equal(ids[0], trace->id, sizeof ids[0]);
    scene_run(variant, "queue=multi,relax=8", 1, 20, scene_all_yield);
    memcpy(ids[1], trace->id, sizeof ids[1]);
    assert_memory_not_equal(ids[0], ids[1], sizeof ids[0]);
    assert_true(stat_of(STAT_GRQ_HITS) >= 40);
}

void knob_globq(const char *variant)
{
    scene_run(variant, "globq=locked", 1, 20, scene_all_yield);
    assert_true(stat_of(STAT_GRQ_LOCKS) > 0);
    int ids[20];
    memcpy(ids, trace->id, sizeof ids);
    scene_run(variant, "globq=mpmc", 1, 20, scene_all_yield);
    assert_int_equal(stat_of(STAT_GRQ_LOCKS), 0);
    assert_true(stat_of(STAT_GRQ_HITS) > 0);
    assert_memory_equal(ids, trace->id, sizeof ids);
}
