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

static bool is_native(const struct engine_cell *cell)
{
    return !machine_text_is_simulated(cell->of->machine);
}

/* Native cells of the block that begins at cells[first], set by set; where it ends. */
static size_t block_fill(struct engine_cell *cells, size_t count, size_t first,
                         struct filling *filling, double *set_seconds, size_t *set_job)
{
    size_t end = first;
    for (; end < count && cells[end].block == cells[first].block; end++)
        if (is_native(&cells[end]) && !cells[end].there && cells[end].lost == 0) {
            set_seconds[cells[end].of->set] += cells[end].seconds;
            set_job[cells[end].of->set] = SIZE_MAX;
        }
    for (size_t i = first; i < end; i++) {
        size_t set = cells[i].of->set;
        if (!is_native(&cells[i]) || cells[i].there)
            continue;
        if (cells[i].lost > 0) {
            cells[i].job = job_alone(filling);
            continue;
        }
        if (set_job[set] == SIZE_MAX)
            set_job[set] = job_for(filling, set_seconds[set]);
        cells[i].job = set_job[set];
        set_seconds[set] = 0;
    }
    return end;
}

void engine_jobs_make(struct engine_cell *cells, size_t count, double job_seconds, size_t counts[2])
{
    struct filling native = {.most = job_seconds}, simulated = {.most = job_seconds};
    size_t sets = 0;
    for (size_t i = 0; i < count; i++)
        sets = cells[i].of->set >= sets ? cells[i].of->set + 1 : sets;
    double *set_seconds = xcalloc(sets + 1, sizeof *set_seconds);
    size_t *set_job = xcalloc(sets + 1, sizeof *set_job);
    for (size_t i = 0; i < count;)
        i = block_fill(cells, count, i, &native, set_seconds, set_job);
    for (size_t i = 0; i < count; i++)
        if (!is_native(&cells[i]) && !cells[i].there)
            cells[i].job =
                cells[i].lost > 0 ? job_alone(&simulated) : job_for(&simulated, cells[i].seconds);
    free(set_seconds);
    free(set_job);
    counts[0] = native.count;
    counts[1] = simulated.count;
}
