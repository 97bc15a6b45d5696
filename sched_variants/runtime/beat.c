/* beat.c - promote=beat: a thread that lets each worker promote its oldest child, once per beat.
 *
 * It sleeps for beat_ns, writes FJ_DUE into each worker's `limit` (forkjoin.h), and sleeps again.
 * So an owner pays nothing between beats, and no two beats are closer than beat_ns. A beat that
 * comes late, because the kernel ran others, is late for all. The thread has no P and no queue. It
 * wakes no worker: who promotes a child does. A beat that no worker serves before the next counts
 * once. A worker that idles keeps its last beat due, so the first child that it spawns afterwards
 * is promoted at once.
 *
 * Rejected: a look at the clock at each spawn, which costs more than the spawn. Rejected: sysmon,
 * which sleeps for up to 10 ms, and which a knob takes away.
 *
 *   BT1  note is set by release, and read by acquire: whoever was woken sees `stopping`
 *
 * Source: [Rainey21], a thread that sends each core its beats.
 *   Differs: a beat is a word that the owner looks at, where theirs is a signal or an interrupt.
 */
#include "internal.h"

struct beat {
    _Atomic uint32_t note; /* 1: the run is over */
    struct sched *sched;
    struct machine_thread thread;
};

static void beat_thread(void *arg)
{
    struct beat *beat = arg;
    machine_timer_slack(1); /* else each beat may come 50 us late; where it fails, some do */
    while (!atomic_load_explicit(&beat->note, memory_order_acquire)) { /* BT1 */
        machine_wait(&beat->note, 0, beat->sched->beat_ns);
        fj_beat(beat->sched);
    }
}

void beat_start(struct sched *sched)
{
    if (!sched->beat_ns)
        return;
    struct beat *beat = sched->beat = sched_zalloc(sizeof *beat, "beat");
    beat->sched = sched;
    int error = machine_thread_start(&beat->thread, beat_thread, beat, STACK_SIZE_THREAD, -1);
    if (error)
        fatal_env(-error, "cannot start the thread of promote=beat");
}

void beat_stop(struct sched *sched)
{
    if (!sched->beat)
        return;
    atomic_store_explicit(&sched->beat->note, 1, memory_order_release); /* BT1 */
    machine_wake(&sched->beat->note, 1);
}

void beat_join(struct sched *sched)
{
    if (sched->beat)
        machine_thread_join(&sched->beat->thread);
}
