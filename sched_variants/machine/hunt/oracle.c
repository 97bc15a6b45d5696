/* oracle.c - is work left lying? From what the scheduler says that it does.
 *
 *   stuck   nothing can run, and no timer is set
 *   idle    (1) all threads sleep for others to wake them, and something is ready to run; or
 *           (2) a G lies in a queue, a P is idle, nobody is on the way, and every thread that can
 *           run has made BESIDE_POINTS points since the last G was put there. On the way is a
 *           worker that can run and runs no G: it searches, or was woken; one that naps; and a
 *           wake-up that is put off. So who made the work visible has had time to wake somebody.
 *
 * A G in runnext does not count for (2): its worker runs it next. Nor do children that are no Gs,
 * which their owner may keep to itself. Kinds of events are those of runtime/events.h, which the
 * machine does not know by name: hunt_event_kinds().
 */
#include "kernel.h"
#include "machine.h"

#include <stdio.h>

enum { BESIDE_POINTS = 500 };

static struct hunt_kinds kinds;

void hunt_event_kinds(const struct hunt_kinds *new_kinds)
{
    kinds = *new_kinds;
}

void hunt_main_is_over(void)
{
    hunt.oracle.main_is_over = true;
}

void hunt_conserves(const _Atomic int32_t *idle_ps, const _Atomic int64_t *put_off)
{
    hunt.oracle.idle_ps = idle_ps;
    hunt.oracle.put_off = put_off;
}

static void bag_add(struct bag *bag, int64_t number)
{
    for (size_t i = 0; i < bag->count; i++)
        if (bag->number[i] == number)
            return;
    if (bag->count < WAITS_MAX)
        bag->number[bag->count++] = number;
}

static void bag_remove(struct bag *bag, int64_t number)
{
    for (size_t i = 0; i < bag->count; i++) {
        if (bag->number[i] == number) {
            bag->number[i] = bag->number[--bag->count];
            return;
        }
    }
}

void oracle_event(unsigned kind, int64_t about, int32_t a)
{
    struct oracle *oracle = &hunt.oracle;
    uint64_t bit = UINT64_C(1) << kind, self = thread_bit(hunt.self);
    if (kinds.waits & bit)
        bag_add(&oracle->waits, about);
    if (kinds.taken & bit)
        bag_remove(&oracle->waits, about);
    if (kinds.put & bit)
        machine_step("S1");
    if (kinds.put & bit && a != kinds.into_runnext) {
        bag_add(&oracle->queued, about);
        oracle->beside = false;
    }
    if (kinds.taken & bit)
        bag_remove(&oracle->queued, about);
    if (kinds.runs & bit)
        oracle->running |= self;
    if (kinds.stops & bit)
        oracle->running &= ~self;
    if (kinds.worker_starts & bit)
        oracle->starts_worker = true;
}

void oracle_thread(const struct sim_thread *thread)
{
    struct oracle *oracle = &hunt.oracle;
    uint64_t bit = thread_bit(thread);
    oracle->workers &= ~bit;
    oracle->running &= ~bit;
    if (oracle->starts_worker || thread->index == 0)
        oracle->workers |= bit;
    oracle->starts_worker = false;
}

_Noreturn void oracle_fail(enum hunt_end end, const char *title)
{
    char text[HUNT_TEXT_SIZE];
    size_t at = (size_t)snprintf(text, sizeof text, "%s\n", title);
    for (int i = 0; i < HUNT_THREADS_MAX && at < sizeof text; i++) {
        const struct sim_thread *thread = &hunt.thread[i];
        if (thread->state != THREAD_WAITING)
            continue;
        at += (size_t)snprintf(text + at, sizeof text - at, "  thread %d waits%s%s\n", i,
                               thread->word ? " for a futex" : "",
                               thread->timeout.place ? ", with a timeout" : "");
    }
    hunt_fail(end, text);
}

void oracle_all_wait(void)
{
    const struct oracle *oracle = &hunt.oracle;
    char title[128];
    if (oracle->waits.count == 0 || oracle->main_is_over || hunt.naps || !kinds.waits)
        return;
    snprintf(title, sizeof title,
             "G %lld is ready to run, all workers sleep, and nobody is on the way",
             (long long)oracle->waits.number[0]);
    if (hunt_plan.oracles >> HUNT_IDLE & 1)
        oracle_fail(HUNT_IDLE, title);
}

/* True if it is so that (2) holds now. */
static bool is_beside(const struct oracle *oracle)
{
    return oracle->idle_ps && oracle->queued.count > 0 && !hunt.naps && !oracle->main_is_over &&
           !(hunt.ready & oracle->workers & ~oracle->running) &&
           !(oracle->put_off && atomic_load_explicit(oracle->put_off, memory_order_relaxed)) &&
           atomic_load_explicit(oracle->idle_ps, memory_order_relaxed) > 0;
}

void oracle_point(void)
{
    struct oracle *oracle = &hunt.oracle;
    bool was = oracle->beside, all = true;
    oracle->beside = is_beside(oracle);
    if (!oracle->beside)
        return;
    for (int i = 0; !was && i < HUNT_THREADS_MAX; i++)
        hunt.thread[i].beside = 0;
    if (++hunt.self->beside < BESIDE_POINTS)
        return;
    for (uint64_t left = hunt.ready; left; left &= left - 1)
        all = all && hunt.thread[__builtin_ctzll(left)].beside >= BESIDE_POINTS;
    if (!all || !(hunt_plan.oracles >> HUNT_IDLE & 1))
        return;
    char title[128];
    snprintf(title, sizeof title,
             "G %lld lies in a queue beside an idle P, and nobody is on the way",
             (long long)oracle->queued.number[0]);
    oracle_fail(HUNT_IDLE, title);
}
