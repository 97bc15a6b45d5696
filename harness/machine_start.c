/* machine_start.c - see machine_start.h. */
#include "harness/machine_start.h"

#include "harness/topology.h"

#include <stdio.h>
#include <string.h>

#if defined(SCHEDLAB_SIM)
#include "sim/sim.h"

bool machine_is_simulated(void)
{
    return true;
}

bool machine_start(const char *spec, uint64_t seed, void (*fn)(void *arg), void *arg, char *error,
                   size_t error_size)
{
    struct sim_model model = {
        .name = "test", .cores = 64, .smt = 1, .group = 8, .socket = 64,
        .l1 = {32768, 8, 300, SIM_LRU, false}, .l2 = {1 << 20, 8, 4000, SIM_LRU, false}, .l3 = {32 << 20, 16, 14000, SIM_LRU, false},
        .clean_ps = {25000, 90000, 200000}, .dirty_ps = {25000, 90000, 200000}, .upgrade_ps = {20000, 80000, 180000},
        .memory_ps = {90000, 160000}, .block_ps = 500, .store_ps = 300, .atomic_ps = 5000, .fence_ps = 5000, .relax_ps = 12000,
        .clock_ps = 20000, .call_ps = 100000, .wait_ps = 600000, .wake_ps = 800000, .wakeup_ps = 3000000, .switch_ps = 1200000,
        .signal_ps = 2000000, .start_ps = 10000000, .slice_ps = 3000000000, .slack_ps = 50000000, .membarrier_ps = 2000000,
        .network = {5000000, 20000000}, .file = {50000000, 200000000}, .lookahead_ps = 12000,
    };
    (void)spec; (void)error; (void)error_size;
    sim_run(&model, seed, fn, arg);
    return true;
}

int machine_pick_cpus(int *cpus, int max)
{
    int count = max < sim_model.cores ? max : sim_model.cores;
    for (int i = 0; i < count; i++)
        cpus[i] = i;
    return count;
}
#else
bool machine_is_simulated(void)
{
    return false;
}

bool machine_start(const char *spec, uint64_t seed, void (*fn)(void *arg), void *arg, char *error,
                   size_t error_size)
{
    (void)seed;
    if (spec && strcmp(spec, "native") != 0) {
        snprintf(error, error_size, "this program runs on real threads only, not on \"%s\"", spec);
        return false;
    }
    fn(arg);
    return true;
}

int machine_pick_cpus(int *cpus, int max)
{
    return topology_pick_cpus(cpus, max);
}
#endif
