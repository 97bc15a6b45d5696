/* scenarios.c - one line per scenario. */
#include "harness/scenarios/scenarios.h"

#include "workloads/workload.h"

/* A file of this folder has SCENARIO(name, ...). */
#define SCENARIOS(X)                                                                               \
    X(sleep_wake)                                                                                  \
    X(wake_chain)                                                                                  \
    X(last_item)                                                                                   \
    X(overflow)                                                                                    \
    X(laps)                                                                                        \
    X(runnext_late)                                                                                \
    X(yielders)                                                                                    \
    X(give_way)                                                                                    \
    X(short_lives)                                                                                 \
    X(procs_change)                                                                                \
    X(locked)                                                                                      \
    X(chan_close_race)                                                                             \
    X(rendezvous)                                                                                  \
    X(select_winner)                                                                               \
    X(two_selects)                                                                                 \
    X(notify)                                                                                      \
    X(mutex_handoff)                                                                               \
    X(rw_race)                                                                                     \
    X(cond_race)                                                                                   \
    X(sem_race)                                                                                    \
    X(once_race)                                                                                   \
    X(timer_stop_race)                                                                             \
    X(sleepers)                                                                                    \
    X(call_handoff)                                                                                \
    X(preempted)                                                                                   \
    X(poller_break)                                                                                \
    X(two_children)                                                                                \
    X(left_behind)                                                                                 \
    X(cpu_permits)

#define SCENARIO_DECLARE(name) extern const struct workload scenario_##name;
#define SCENARIO_ROW(name) &scenario_##name,

SCENARIOS(SCENARIO_DECLARE)
const struct workload *const scenarios[] = {SCENARIOS(SCENARIO_ROW) NULL};
