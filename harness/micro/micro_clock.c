/* micro_clock.c - see micro_clock.h. */
#include "harness/micro/micro_clock.h"

#include "harness/numbers/statistics.h"

#include <math.h>

enum { RUNS = 21, READINGS = 1000 };

double micro_clock_cost_ns(int64_t (*now)(void))
{
    double ns[RUNS];
    for (int run = 0; run < RUNS; run++) {
        int64_t begin = now(), end = begin;
        for (int i = 0; i < READINGS; i++)
            end = now();
        ns[run] = (double)(end - begin) / READINGS;
    }
    return statistics_median_alone(ns, RUNS);
}

double micro_clock_net_ns(int64_t ns, uint64_t sections, double cost_ns)
{
    return fmax((double)ns - (double)sections * cost_ns, 1);
}
