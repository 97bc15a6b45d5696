/* events.c - see events.h. */
#include "events.h"
#include "internal.h"
#include "lockstep.h"
#include "machine.h"
#include "waste.h"

#include <stdlib.h>

static struct sim_sched_event *kept;
static size_t kept_count, kept_room, kept_most;
uint32_t (*sim_event_site)(void);
static const struct sim_listener *listener;
static uint64_t happened, hash = UINT64_C(0xcbf29ce484222325);

void sim_events_keep(size_t most)
{
    kept_most = most;
}

void sim_events_listen(const struct sim_listener *who)
{
    listener = who;
}

void machine_request(int32_t kind, int64_t due_ns, int64_t end_ns)
{
    if (listener)
        listener->request(kind, due_ns, end_ns);
}

void machine_lock_name(const void *lock, const char *name)
{
    if (listener)
        listener->lock_name(lock, name);
}

const struct sim_sched_event *sim_events_kept(size_t *count)
{
    *count = kept_count;
    return kept;
}

uint64_t sim_events_count(void)
{
    return happened;
}

uint64_t sim_events_hash(void)
{
    return hash;
}

/* Source: the finalizer of splitmix64, whose every bit of input changes half of the output. */
static uint64_t mix(uint64_t seed, uint64_t word)
{
    uint64_t z = (seed ^ word) + UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    return z ^ (z >> 27);
}

static uint64_t pair(int32_t high, int32_t low)
{
    return (uint64_t)(uint32_t)high << 32 | (uint32_t)low;
}

static void keep(const struct sim_sched_event *event)
{
    if (kept_count == kept_room) {
        kept_room = kept_room ? 2 * kept_room : 4096;
        kept = realloc(kept, kept_room * sizeof *kept);
        if (!kept)
            machine_die("the simulated machine: no memory to keep events\n", 1);
    }
    kept[kept_count] = *event;
    kept[kept_count++].site = sim_event_site ? sim_event_site() : 0;
}

void machine_event(unsigned kind, int32_t m, int32_t p, int64_t g, int32_t a, int32_t b)
{
    sim_turn_before(kind);
    const struct sim_sched_event event = {
        .when_ps = sim_now(),
        .g = g,
        .m = m,
        .p = p,
        .a = a,
        .b = b,
        .kind = (uint8_t)kind,
        .core = (uint8_t)sim_core_index(),
    };
    uint64_t words = mix(hash, (uint64_t)event.when_ps);
    words = mix(words, (uint64_t)g);
    words = mix(words, pair(m, p));
    words = mix(words, pair(a, b));
    hash = mix(words, (uint64_t)kind << 8 | event.core);
    happened++;
    if (kept_count < kept_most)
        keep(&event);
    if (listener)
        listener->event(&event);
    sim_waste_event(kind, g);
    sim_turn_after(kind);
}
