/* knob_scenes.h - what the files of test_knobs.c share: a scene is a main goroutine in a child
 * process that runs under some settings and leaves what it saw in the trace.
 */
#ifndef SCHEDLAB_TESTS_KNOB_SCENES_H
#define SCHEDLAB_TESTS_KNOB_SCENES_H

#include "support.h"

enum { IDS = 1024 };

/* What a scene leaves for its test; shared with the child. */
struct trace {
    struct waitgroup done;
    _Atomic int count; /* Gs that ran, in scenes that count them */
    int length, id[IDS];
    int64_t found[4]; /* a scene's own findings */
    _Atomic bool ran[4], release[4];
    int n;
};

extern struct trace *trace;

/* For a G that is the i-th of its scene. */
struct timed {
    struct trace *trace;
    int i;
};

/* Runs scene(trace), with trace->n = n and all else zero; the test fails if the child does. */
void scene_run(const char *variant, const char *settings, int workers, int n,
               void (*scene)(void *));

/* Gs that sleep, and workers that do. */
void scene_all_nap(void *arg);

static inline struct sched *this_sched(void)
{
    return machine_self()->sched;
}

/* knobs_timers.c */
void knob_timers(const char *variant);
void knob_poll_round(const char *variant);
void knob_slack_ns(const char *variant);

#endif
