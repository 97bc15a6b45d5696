/* knob_scenes.h - what the files of test_knobs.c share: a scene is a main goroutine in a child
 * process that runs under some settings and leaves what it saw in the trace.
 */
#ifndef SCHEDLAB_TESTS_KNOB_SCENES_H
#define SCHEDLAB_TESTS_KNOB_SCENES_H

#include "tests/support/support.h"

enum { IDS = 1024 };

/* The findings that a scene leaves for its test; shared with the child. */
struct trace {
    struct waitgroup done;
    _Atomic int count; /* Gs that ran, in scenes that count them */
    int length, id[IDS];
    int64_t found[4]; /* a scene's own findings */
    _Atomic bool ran[4], release[4];
    int n;
};

extern struct trace *trace;
extern struct support_report report; /* of the scene that ran last */

/* For a G that is the i-th of its scene. */
struct timed {
    struct trace *trace;
    int i;
};

/* As scene_run(), but how the child ended is left to the caller. Slices do not end by themselves,
 * unless the settings say how: no order of a test may depend on how fast the machine is. */
void scene_try(const char *variant, const char *settings, int workers, int n,
               void (*scene)(void *));

/* Runs scene(trace), with trace->n = n and all else zero; the test fails if the child does. */
void scene_run(const char *variant, const char *settings, int workers, int n,
               void (*scene)(void *));

/* The same, and the test fails if the scene does not leave that in found[0]. */
void scene_finds(const char *variant, const char *settings, int workers, int n,
                 void (*scene)(void *), int64_t found);

/* A G (struct timed) that says that it ran. */
void scene_ran_g(void *arg);

/* Gs that sleep, and workers that do. */
void scene_all_nap(void *arg);

static inline uint64_t stat_of(enum stat_id which)
{
    return report.stat[which];
}

static inline uint64_t stat_now(enum stat_id which)
{
    return sched_stat(this_sched(), which);
}

static inline void await_spinning_and_idle(int32_t spinning, int32_t idle)
{
    AWAIT(atomic_load(&this_sched()->spinning) == spinning &&
          atomic_load(&this_sched()->idle_ps) == idle);
}

/* knobs_threads.c */
void knob_sysmon(const char *variant);
void knob_sysmon_ns(const char *variant);
void knob_sysmon_rounds(const char *variant);
void knob_sysmon_max_ns(const char *variant);
void knob_preempt(const char *variant);
void knob_slice_ns(const char *variant);
void knob_calls(const char *variant);
void knob_call_long_ns(const char *variant);
void knob_lenient_ns(const char *variant);
void knob_returns(const char *variant);
void knob_returns_to(const char *variant);
void knob_threads_max(const char *variant);

/* knobs_fence.c */
void knob_fence(const char *variant);
void knob_fence_often_ns(const char *variant);

/* knobs_sync.c */
void knob_starve_ns(const char *variant);
void knob_mutex_spin(const char *variant);
void knob_recheck(const char *variant);
void knob_wake_delay_ns(const char *variant);
void knob_width(const char *variant);
void knob_idle(const char *variant);
void knob_gs_cache(const char *variant);
void knob_lock(const char *variant);

/* knobs_forkjoin.c */
void knob_frames(const char *variant);
void knob_join(const char *variant);
void knob_promote(const char *variant);
void knob_beat_ns(const char *variant);

/* knobs_queue.c */
void knob_owner_number(const char *variant);
void knob_deque(const char *variant);
void knob_runnext_wake(const char *variant);
void knob_victim(const char *variant);
void knob_globals(const char *variant);
void knob_inject(const char *variant); /* knobs_inject.c */
void knob_victim_of_ps(const char *variant);
void knob_idle_mask(const char *variant);
void knob_overflow_end(const char *variant);
void knob_search(const char *variant);
void numbered_g(void *arg);
void numbered_go(struct trace *self, int id, void (*fn)(void *));
void scene_all_yield(void *arg);
void knob_queue(const char *variant);
void knob_relax(const char *variant);
void knob_globq(const char *variant);
void knob_ring_order(const char *variant);
void knob_steal_age_ns(const char *variant);
void knob_slot_age_ns(const char *variant);

/* knobs_static.c */
void knob_block(const char *variant);
void knob_wait(const char *variant);
void knob_mailbox(const char *variant);
void knob_deal(const char *variant);

/* knobs_timers.c */
void knob_timers(const char *variant);
void knob_poll_round(const char *variant);
void knob_slack_ns(const char *variant);

#endif
