/* schedlab.h - the header for schedulers that live outside the tree, for `schedlab build`.
 *
 * A file includes this one, and of the tree's headers what a queue of its own needs. It defines by
 * one of two forms what its name says:
 *
 *   a queue alone, the rest is gmp's    struct runq_ops and RUNQ_VARIANT(), runtime/runq.h
 *   a whole scheduler                   const struct sched_ops NAME_ops, sched.h
 *
 * The functions of the small form, four required and four optional:
 *
 *   put         required   owner        adds a G; false: full
 *   get         required   owner        the next G, or NULL
 *   steal       required   any thread   takes up to so many
 *   length      required   any thread   how many there are, as a hint
 *   stealable   optional   any thread   how many others may take; default: length()
 *   has_work    optional   any thread   may another worker get one? default: stealable() > 0
 *   init        optional   once         before the first use
 *   fini        optional   once         after the last use
 *
 * The functions of the large form, two required, two required for some, and eight optional:
 *
 *   ready       required   any stack    gp is runnable: put it where it will be found
 *   pick        required   any stack    the next G for this worker, or NULL
 *   has_work    required unless .blocks: is there work for a P about to go idle?
 *   drain       required where queues are the Ps' or the threads': moves the Gs of a P that is used
 *                          no more, or of an M that sleeps
 *   steal       optional   scheduler    one search through others' queues; with sched->picks_last
 *                                       also without a search: sched.h
 *   keeps       optional   any stack    need nobody be woken for what was put?
 *   ended       optional   G's stack    a G has returned
 *   queued      optional   any thread   how many wait, for schedtrace
 *   check       optional   at the start, before there is a scheduler: knobs that do not go together
 *   init, fini  optional   once         before the first M, and when all has come to rest
 *   m_init      optional   per M        before its first G
 *
 * None of them may park, wait for another thread other than by a short lock, or keep global or
 * thread-local variables. They may call these, where "the life" is init to fini above:
 *
 *   anywhere         C11 atomics and fences, lock_acquire(), lock_release(), machine_now(),
 *                    fatal(), INVARIANT()
 *   the life         sched_zalloc(), machine_free(), machine_name(); nowhere else is memory
 *                    allocated
 *   with an M        stat_add(), stat_max(), sched_event(), sched_event_g(), m_random(), and of
 *                    gqueue.h the functions gqueue_..., gfifo_... and globq_...; m_block_wake()
 *                    from ready() of a variant with .blocks
 *   never            goroutines' own calls (runtime/runtime.h): channels, mutexes, sleeps, go()
 *
 * SCHEDLAB_ABI is this page's version. It goes up when a function here is taken away, becomes
 * required, or changes its meaning, so that a source may have to change with it. A file says for
 * which it was written:
 *
 *     _Static_assert(SCHEDLAB_ABI == 2, "written for version 2 of schedlab.h");
 *
 * A built file, NAME.slv, is bound more narrowly, to the digest of all headers (docs/ADDING.md).
 * One of other headers does not fit, which is told in a line, and has to be built again.
 */
#ifndef SCHEDLAB_SCHEDLAB_H
#define SCHEDLAB_SCHEDLAB_H

#define SCHEDLAB_ABI 2

#include "runtime/runq.h"
#include "sched.h"

#endif
