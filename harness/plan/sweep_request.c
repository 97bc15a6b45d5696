/* sweep_request.c - see sweep_request.h. */
#include "harness/plan/sweep_request.h"

#include "harness/models/machine_start.h"

struct sample_request sweep_request_common(const struct sweep_file *sweep, uint64_t seed,
                                           const char *events)
{
    return (struct sample_request){
        .seed = seed,
        .iterations = (int)sweep->iterations,
        .warmup = (int)sweep->warmup,
        .min_time_ns = sweep->min_time_ms * 1000000,
        .events = events,
        .pin = sweep->pin,
        .timeout_s = (double)sweep->timeout_s,
        .steal_max_percent = (int)sweep->steal_max,
    };
}

struct sample_request sweep_request_cell(const struct sample_request *common,
                                         const struct cell *cell, unsigned block)
{
    struct sample_request request = *common;
    request.event_set = (int)block; /* the sample knows how many sets there are of its own */
    request.variant = cell->variant;
    request.allocator = cell->allocator;
    request.workload = cell->workload;
    request.workers = cell->workers;
    request.machine = cell->machine;
    request.sim_seed = machine_rep_seed(common->seed, block);
    if (cell->side) {
        request.program = cell->side->program;
        request.injected_percent = cell->side->injected_percent;
    }
    if (cell->one_call) {
        request.min_time_ns = 0;
        if (request.warmup == WARMUP_AUTO)
            request.warmup = WARMUP_SIMULATED;
    }
    if (cell->events)
        request.events = cell->events;
    return request;
}
