/* sim_events.c - see sim_events.h. */
#include "harness/counters/sim_events.h"

#include "machine/sim/cache.h"
#include "machine/sim/sim.h"

/* The kernel's, in units that people read. */
static const struct {
    const char *name, *help;
    enum sim_counted counted;
    bool in_cycles;
    int64_t divisor;
} kernel_events[] = {
    {"SIM_CYCLES", "cycles that threads were on cores", SIM_BUSY_PS, true, 1},
    {"SIM_IDLE_NS", "ns that cores in use had no thread", SIM_IDLE_PS, false, PS_PER_NS},
    {"SIM_WASTED_NS",
     "ns that cores were idle while goroutines or tasks waited: one core for each that waits",
     SIM_WASTED_PS, false, PS_PER_NS},
    {"SIM_SPIN_NS", "ns of hints to cores in spin loops", SIM_SPIN_PS, false, PS_PER_NS},
    {"SIM_SWITCHES", "times that a core began to run a thread", SIM_SWITCHES, false, 1},
    {"SIM_CALLS", "calls into the kernel", SIM_CALLS, false, 1},
    {"SIM_BRANCH_MISSES", "mispredicted branches: blocks other than the predicted one",
     SIM_BRANCH_MISSES, false, 1},
};

enum { KERNEL_EVENTS = sizeof kernel_events / sizeof kernel_events[0] };

static const struct {
    const char *name, *help;
} cache_events[] = {
#define EVENT(name, help) {"SIM_" #name, help},
    CACHE_COUNTER_LIST(EVENT)
#undef EVENT
};

enum { CACHE_EVENTS = sizeof cache_events / sizeof cache_events[0] };
_Static_assert(CACHE_EVENTS == (int)CACHE_COUNTERS, "an event for each counter of the caches");

/* Beside the kernel's: misses by level, and where the lines came from. */
static const enum cache_counter by_default[] = {
    CACHE_READS,
    CACHE_WRITES,
    CACHE_L1D_MISS,
    CACHE_L2_MISS,
    CACHE_L3_MISS,
    CACHE_UPGRADES,
    CACHE_INVALIDATIONS,
    CACHE_TRANSFERS_CLEAN_NEAR,
    CACHE_TRANSFERS_CLEAN_SOCKET,
    CACHE_TRANSFERS_CLEAN_REMOTE,
    CACHE_TRANSFERS_DIRTY_NEAR,
    CACHE_TRANSFERS_DIRTY_SOCKET,
    CACHE_TRANSFERS_DIRTY_REMOTE,
    CACHE_MEMORY_LOCAL,
    CACHE_MEMORY_REMOTE,
};

int sim_event_count(void)
{
    return KERNEL_EVENTS + CACHE_EVENTS;
}

const char *sim_event_name(int event)
{
    return event < KERNEL_EVENTS ? kernel_events[event].name
                                 : cache_events[event - KERNEL_EVENTS].name;
}

const char *sim_event_help(int event)
{
    return event < KERNEL_EVENTS ? kernel_events[event].help
                                 : cache_events[event - KERNEL_EVENTS].help;
}

bool sim_event_is_by_default(int event)
{
    for (size_t i = 0; i < sizeof by_default / sizeof by_default[0]; i++)
        if ((int)by_default[i] == event - KERNEL_EVENTS)
            return true;
    return event < KERNEL_EVENTS;
}

#if defined(SCHEDLAB_SIM)
int sim_event_cores(void)
{
    return sim_model.cores;
}

int64_t sim_event_read(int event, int core)
{
    if (event >= KERNEL_EVENTS) {
        struct cache_counters counters;
        cache_counters_read(core, &counters);
        return (int64_t)counters.count[event - KERNEL_EVENTS];
    }
    int64_t value = sim_counted(core, kernel_events[event].counted);
    if (kernel_events[event].in_cycles) /* kHz times ps: 10^-9 cycles */
        return (int64_t)((__int128)value * sim_model.clock_khz / 1000000000);
    return value / kernel_events[event].divisor;
}
#else
int sim_event_cores(void)
{
    return 0;
}

int64_t sim_event_read(int event, int core)
{
    (void)event;
    (void)core;
    return 0;
}
#endif
