/* scenarios.c - one line per scenario. */
#include "harness/scenarios/scenarios.h"

#include "workloads/workload.h"

/* harness/scenarios/<name>.c defines scenario_<name>. */
#define SCENARIOS(X) X(sleep_wake)

#define SCENARIO_DECLARE(name) extern const struct workload scenario_##name;
#define SCENARIO_ROW(name) &scenario_##name,

SCENARIOS(SCENARIO_DECLARE)
const struct workload *const scenarios[] = {SCENARIOS(SCENARIO_ROW) NULL};
