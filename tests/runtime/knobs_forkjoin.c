/* knobs_forkjoin.c - the knobs of fork/join: where children run, how they join, and when they
 * become public. See test_knobs.c. */
#include "internal.h"
#include "knob_scenes.h"
#include "workloads/workload.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* fib(10), 54 spawns: a goroutine each, or none. */
static void scene_fib(void *arg)
{
    struct trace *self = arg;
    const struct workload *fib = workloads[0];
    int64_t params[8] = {0};
    struct outcome out = {0};
    CHECK(strcmp(fib->name, "fib") == 0 && fib->params_size <= sizeof params);
    support_set(params, fib->params, "n=10");
    void *state = fib->init(params, 1);
    workload_run(fib, state, &out);
    atomic_store(&self->count, (int)out.answer);
    fib->fini(state);
}

void knob_frames(const char *variant)
{
    scene_run(variant, "frames=pooled", 1, 1, scene_fib);
    assert_int_equal(trace->count, 55);
    assert_int_equal(stat_of(STAT_GS_CREATED), 1 + 54);
    if (!FJ_LINKED_WORKS)
        return;
    scene_run(variant, "frames=linked", 1, 1, scene_fib);
    assert_int_equal(trace->count, 55);
    assert_int_equal(stat_of(STAT_GS_CREATED), 1);
}

/* How a parent that was taken and its children join -------------------------------------------- */

struct left_child {
    struct fj_task task;
    _Atomic bool began, went_on;
};

static void left_child(struct fj_frame *up, struct fj_task *task)
{
    struct left_child *self = FJ_SELF(task, struct left_child);
    (void)up;
    atomic_store(&self->began, true);
    AWAIT(atomic_load(&self->went_on));
}

/* A thief takes the parent, and the child goes on until the parent says so. found[0]: the count
 * after the theft. Pooled frames, whose spawn and sync are calls. */
static void scene_left_behind(void *arg)
{
    struct trace *self = arg;
    struct fj_frame root, frame = {0};
    struct left_child task = {0};
    fj_begin_region(&root, FJ_WORK);
    fj_spawn_work(&frame, &task.task, left_child);
    CHECK(atomic_load(&task.began));
    self->found[0] = atomic_load(&frame.pending);
    atomic_store(&task.went_on, true);
    fj_sync_work(&frame);
    CHECK(atomic_load(&frame.pending) == 0 && frame.spawned == 0);
    fj_end_region(&root, FJ_WORK);
}

static void assert_join_counts(uint64_t adds, uint64_t locks)
{
    assert_int_equal(stat_of(STAT_JOIN_ADDS), adds);
    assert_int_equal(stat_of(STAT_JOIN_LOCKS), locks);
}

/* With one worker no parent is taken, and only a counter is touched. After a theft the waitfree
 * count is 0, until the child ends or the sync adds to it. A counter has the child and the parent,
 * and a lock's count the child. Thief, child and sync take that lock. */
void knob_join(const char *variant)
{
    scene_run(variant, "frames=pooled,join=waitfree", 1, 1, scene_fib);
    assert_join_counts(0, 0);
    scene_run(variant, "frames=pooled,join=counter", 1, 1, scene_fib);
    assert_int_equal(trace->count, 55);
    assert_join_counts(54, 0);
    scene_run(variant, "frames=pooled,join=lock", 1, 1, scene_fib);
    assert_int_equal(trace->count, 55);
    assert_join_counts(0, 0);
    scene_finds(variant, "frames=pooled,join=waitfree", 2, 0, scene_left_behind, 0);
    assert_join_counts(0, 0);
    scene_finds(variant, "frames=pooled,join=counter", 2, 0, scene_left_behind, 2);
    assert_join_counts(1, 0);
    scene_finds(variant, "frames=pooled,join=lock", 2, 0, scene_left_behind, 1);
    assert_join_counts(0, 3);
    if (!FJ_LINKED_WORKS)
        return;
    scene_run(variant, "frames=linked,join=counter", 1, 1, scene_fib);
    assert_int_equal(trace->count, 55);
    assert_join_counts(0, 0);
}

/* When a child becomes public ----------------------------------------------------------------- */

enum { CHILDREN = 4 };

static _Atomic int children_ran;

static void child(struct fj_frame *up, struct fj_task *task)
{
    (void)up;
    (void)task;
    atomic_fetch_add(&children_ran, 1);
}

static void open_frame(struct fj_frame *frame, struct fj_frame *root)
{
    frame->up = root;
    frame->queued = root->queued;
    frame->newest = NULL;
}

/* As fj_spawn() under FJ_HELP, which this file is not compiled for. */
static void spawn(struct fj_frame *frame, struct fj_task *task)
{
    *task = (struct fj_task){.fn = child, .older = frame->newest};
    frame->newest = task;
    frame->queued++;
    fj_count_live(1);
    if (frame->queued > atomic_load(&machine_self()->fj.limit))
        fj_poll(frame);
}

static bool beat_is_due(void)
{
    return atomic_load(&machine_self()->fj.limit) == FJ_DUE;
}

/* CHILDREN of a frame on a lone worker. Each beat makes public the oldest that is not yet, and no
 * other. found[0]: how many ran. */
static void scene_beats(void *arg)
{
    struct trace *self = arg;
    struct fj_frame root, frame;
    struct fj_task task[CHILDREN], more;
    fj_begin_region(&root, FJ_HELP);
    open_frame(&frame, &root);
    AWAIT(beat_is_due());
    spawn(&frame, &task[0]);
    CHECK(frame.spawned == 1 && task[0].frame == &frame && frame.newest == FJ_PUBLIC);
    for (int i = 1; i < CHILDREN; i++)
        spawn(&frame, &task[i]);
    while (frame.spawned < CHILDREN) {
        int32_t before = frame.spawned;
        CHECK(frame.newest == &task[CHILDREN - 1]);
        AWAIT(beat_is_due());
        fj_poll(&frame);
        CHECK(frame.spawned == before + 1 && task[before].frame == &frame);
    }
    CHECK(frame.newest == FJ_PUBLIC);
    spawn(&frame, &more);
    fj_sync_help(&frame);
    fj_end_region(&root, FJ_HELP);
    self->found[0] = atomic_load(&children_ran);
}

/* With one worker nobody asks. */
void knob_promote(const char *variant)
{
    scene_run(variant, "promote=request", 1, 1, scene_fib);
    assert_int_equal(stat_of(STAT_TASKS_PUBLISHED), 0);
    assert_int_equal(stat_of(STAT_DEQUE_MAX), 4);
    scene_run(variant, "promote=always", 1, 1, scene_fib);
    assert_int_equal(trace->count, 55);
    assert_int_equal(stat_of(STAT_TASKS_PUBLISHED), 54);
    assert_int_equal(stat_of(STAT_DEQUE_MAX), 4);
    scene_finds(variant, "promote=beat", 1, 0, scene_beats, CHILDREN + 1);
    assert_in_range(stat_of(STAT_TASKS_PUBLISHED), CHILDREN, CHILDREN + 1);
}

/* found[0]: the time of so many beats. If one is seen late, the next comes too soon, but not the
 * one after that. */
static void scene_some_beats(void *arg)
{
    struct trace *self = arg;
    int64_t first = 0;
    for (int i = 0; i < self->n; i++) {
        AWAIT(beat_is_due());
        first = first ? first : go_now();
        atomic_store(&machine_self()->fj.limit, FJ_UNASKED);
    }
    self->found[0] = go_now() - first;
}

/* No two beats are closer than that. A lower bound holds on any machine. */
void knob_beat_ns(const char *variant)
{
    scene_run(variant, "promote=beat,beat_ns=10000000", 1, 4, scene_some_beats);
    assert_true(trace->found[0] >= (4 - 2) * INT64_C(10000000));
    scene_run(variant, "promote=beat,beat_ns=1000", 1, 4, scene_some_beats);
    assert_true(trace->found[0] >= (4 - 2) * INT64_C(1000));
}
