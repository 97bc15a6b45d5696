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

/* Worker 1 has the goroutines 0, 2 and 4; 2 wakes 0 after main has sent 4. */
static void mailed_ends(struct kept *self, int i)
{
    self->trace->id[self->trace->length++] = i; /* worker 1 writes it */
    wg_done(&self->trace->done);
}

static void mailed_waits_g(void *arg)
{
    struct kept *self = arg;
    chan_recv(self->free, NULL);
    mailed_ends(self, 0);
}

static void mailed_wakes_g(void *arg)
{
    struct kept *self = arg;
    atomic_store(&self->trace->ran[2], true);
    AWAIT(atomic_load(&self->trace->release[0]));
    chan_send(self->free, "");
    mailed_ends(self, 2);
}

static void mailed_yields_g(void *arg)
{
    struct kept *self = arg;
    atomic_store(&self->trace->ran[2], true);
    AWAIT(atomic_load(&self->trace->release[0]));
    gosched();
    chan_send(self->free, "");
    mailed_ends(self, 2);
}

static void mailed_after_g(void *arg)
{
    mailed_ends(arg, 4);
}

static void bystander_ends_g(void *arg)
{
    wg_done(&((struct kept *)arg)->trace->done);
}

/* n: 2 yields before it wakes 0. */
static void scene_mailed(void *arg)
{
    struct kept kept = {arg, chan_make(1, 0)};
    wg_add(&kept.trace->done, 5);
    go(mailed_waits_g, &kept);
    go(bystander_ends_g, &kept);
    go(kept.trace->n ? mailed_yields_g : mailed_wakes_g, &kept);
    go(bystander_ends_g, &kept);
    AWAIT(atomic_load(&kept.trace->ran[2]));
    go(mailed_after_g, &kept);
    atomic_store(&kept.trace->release[0], true);
    wg_wait(&kept.trace->done);
    chan_free(kept.free);
}

void knob_mailbox(const char *variant)
{
    static const int in_list[] = {2, 4, 0}, own_first[] = {2, 0, 4}, yielded[] = {4, 2, 0};
    scene_run(variant, "mailbox=lock", 2, 0, scene_mailed);
    assert_memory_equal(trace->id, in_list, sizeof in_list);
    scene_run(variant, "mailbox=mpsc", 2, 0, scene_mailed);
    assert_memory_equal(trace->id, own_first, sizeof own_first);
    scene_run(variant, "mailbox=mpsc", 2, 1, scene_mailed);
    assert_memory_equal(trace->id, yielded, sizeof yielded);
    scene_run(variant, "mailbox=mpsc,wait=keep", 2, 0, scene_kept);
    assert_int_equal(trace->id[0], 0);
    assert_int_equal(trace->id[1], 2);
}

/* One that main starts, and the three that it starts. */
static void dealer_g(void *arg)
{
    struct timed *self = arg;
    struct trace *all = self->trace;
    struct timed children[3];
    all->id[0] = machine_self()->p->id;
    struct join joins[3];
    for (int i = 0; i < 3; i++) {
        children[i] = (struct timed){all, i + 1};
        join_go(&joins[i], dealt_g, &children[i]);
    }
    for (int i = 0; i < 3; i++)
        join_wait(&joins[i]);
    wg_done(&all->done);
}

static void scene_dealer(void *arg)
{
    struct trace *self = arg;
    struct timed first = {self, 0}, second = {self, 4};
    wg_add(&self->done, 4);
    go(dealer_g, &first);
    wg_wait(&self->done);
    wg_add(&self->done, 1);
    go(dealt_g, &second);
    wg_wait(&self->done);
}

void knob_deal(const char *variant)
{
    static const int in_turn[] = {1, 2, 0, 1, 2}, with_their_parent[] = {1, 1, 1, 1, 2};
    scene_run(variant, "deal=turn", 3, 0, scene_dealer);
    assert_memory_equal(trace->id, in_turn, sizeof in_turn);
    scene_run(variant, "deal=main", 3, 0, scene_dealer);
    assert_memory_equal(trace->id, with_their_parent, sizeof with_their_parent);
}
