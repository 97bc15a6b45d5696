/* knobs_static.c - the knobs of goroutines that are dealt out in advance; see test_knobs.c. */
#include "knob_scenes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

/* id[i]: on which worker the i-th goroutine ran. */
static void dealt_g(void *arg)
{
    struct timed *self = arg;
    self->trace->id[self->i] = machine_self()->p->id;
    wg_done(&self->trace->done);
}

static void scene_dealt(void *arg)
{
    struct trace *self = arg;
    struct timed timed[16];
    wg_add(&self->done, self->n);
    for (int i = 0; i < self->n; i++) {
        timed[i] = (struct timed){self, i};
        go(dealt_g, &timed[i]);
    }
    wg_wait(&self->done);
}

void knob_block(const char *variant)
{
    static const int in_turn[] = {1, 2, 0, 1, 2, 0, 1, 2, 0},
                     blocks[] = {1, 1, 2, 2, 0, 0, 1, 1, 2};
    scene_run(variant, "block=1", 3, 9, scene_dealt);
    assert_memory_equal(trace->id, in_turn, sizeof in_turn);
    scene_run(variant, "block=2", 3, 9, scene_dealt);
    assert_memory_equal(trace->id, blocks, sizeof blocks);
}

/* Worker 1 has the goroutines 0 and 2, of which 0 waits for 1, on worker 0. */
struct kept {
    struct trace *trace;
    struct chan *free;
};

static void kept_ends(struct kept *self, int i)
{
    self->trace->id[self->trace->length++] = i; /* one worker writes it */
    atomic_store(&self->trace->ran[i], true);
    wg_done(&self->trace->done);
}

static void kept_waits_g(void *arg)
{
    struct kept *self = arg;
    atomic_store(&self->trace->ran[1], true);
    char freed;
    chan_recv(self->free, &freed);
    kept_ends(self, 0);
}

/* n: goroutine 2 is to run before 0 goes on; else nothing lets it, however long that takes. */
static void kept_frees_g(void *arg)
{
    struct kept *self = arg;
    AWAIT(atomic_load(&self->trace->ran[1]));
    if (self->trace->n)
        AWAIT(atomic_load(&self->trace->ran[2]));
    else
        for (int64_t start = go_now(); go_now() - start < 20000000;)
            go_preempt_point();
    self->trace->found[0] = atomic_load(&self->trace->ran[2]);
    chan_send(self->free, "");
    wg_done(&self->trace->done);
}

static void kept_after_g(void *arg)
{
    kept_ends(arg, 2);
}

static void scene_kept(void *arg)
{
    struct kept kept = {arg, chan_make(1, 0)};
    wg_add(&kept.trace->done, 3);
    go(kept_waits_g, &kept);
    go(kept_frees_g, &kept);
    go(kept_after_g, &kept);
    wg_wait(&kept.trace->done);
    chan_free(kept.free);
}

/* Waits for who comes after it on the same worker. */
static void scene_kept_alone(void *arg)
{
    struct kept kept = {arg, chan_make(1, 0)};
    wg_add(&kept.trace->done, 2);
    go(kept_waits_g, &kept);
    go(kept_frees_g, &kept);
    wg_wait(&kept.trace->done);
    chan_free(kept.free);
}

void knob_wait(const char *variant)
{
    scene_run(variant, "wait=leave", 2, 1, scene_kept);
    assert_int_equal(trace->id[0], 2);
    assert_int_equal(trace->id[1], 0);
    scene_run(variant, "wait=keep", 2, 0, scene_kept);
    assert_int_equal(trace->found[0], 0);
    assert_int_equal(trace->id[0], 0);
    assert_int_equal(trace->id[1], 2);
    scene_try(variant, "wait=keep", 1, 0, scene_kept_alone);
    assert_int_not_equal(report.status, 0);
    if (!strstr(report.output, "deadlock") || !strstr(report.output, "goroutine 2 has not begun"))
        fail_msg("%s", report.output);
}
