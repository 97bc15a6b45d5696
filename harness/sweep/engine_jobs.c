/* engine_jobs.c - see engine_jobs_make() in engine.h. */
#include "harness/sweep/engine.h"

#include "harness/base/memory.h"
#include "harness/models/machine_start.h"

#include <stdlib.h>

/* Jobs of one kind that are being made. */
struct filling {
    double seconds; /* in the newest job */
    double most;
    size_t count;
};

/* The job for something that takes so long. */
static size_t job_for(struct filling *filling, double seconds)
{
    if (filling->count == 0 || filling->seconds + seconds > filling->most) {
        filling->count++;
        filling->seconds = 0;
    }
    filling->seconds += seconds;
    return filling->count - 1;
}

static size_t job_alone(struct filling *filling)
{
    filling->seconds = filling->most; /* nobody joins it */
    return filling->count++;
}

static bool is_native(const struct engine_sample *sample)
{
    return !machine_text_is_simulated(sample->of->machine);
}

/* Native samples of the block that begins at samples[first], set by set; where it ends. */
static size_t block_fill(struct engine_sample *samples, size_t count, size_t first,
                         struct filling *filling, double *set_seconds, size_t *set_job)
{
    size_t end = first;
    for (; end < count && samples[end].block == samples[first].block; end++)
        if (is_native(&samples[end]) && !samples[end].there && samples[end].lost == 0) {
            set_seconds[samples[end].of->set] += samples[end].seconds;
            set_job[samples[end].of->set] = SIZE_MAX;
        }
    for (size_t i = first; i < end; i++) {
        size_t set = samples[i].of->set;
        if (!is_native(&samples[i]) || samples[i].there)
            continue;
        if (samples[i].lost > 0) {
            samples[i].job = job_alone(filling);
            continue;
        }
        if (set_job[set] == SIZE_MAX)
            set_job[set] = job_for(filling, set_seconds[set]);
        samples[i].job = set_job[set];
        set_seconds[set] = 0;
    }
    return end;
}

void engine_jobs_make(struct engine_sample *samples, size_t count, double job_seconds,
                      size_t counts[2])
{
    struct filling native = {.most = job_seconds}, simulated = {.most = job_seconds};
    size_t sets = 0;
    for (size_t i = 0; i < count; i++)
        sets = samples[i].of->set >= sets ? samples[i].of->set + 1 : sets;
    double *set_seconds = xcalloc(sets + 1, sizeof *set_seconds);
    size_t *set_job = xcalloc(sets + 1, sizeof *set_job);
    for (size_t i = 0; i < count;)
        i = block_fill(samples, count, i, &native, set_seconds, set_job);
    for (size_t i = 0; i < count; i++)
        if (!is_native(&samples[i]) && !samples[i].there)
            samples[i].job = samples[i].lost > 0 ? job_alone(&simulated)
                                                 : job_for(&simulated, samples[i].seconds);
    free(set_seconds);
    free(set_job);
    counts[0] = native.count;
    counts[1] = simulated.count;
}
