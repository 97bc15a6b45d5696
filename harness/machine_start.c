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
    (void)spec; (void)error; (void)error_size;
    sim_run(&sim_model_plain, seed, fn, arg);
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
