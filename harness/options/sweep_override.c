/* sweep_override.c - see sweep_override.h. */
#include "harness/options/sweep_override.h"

#include "harness/numbers/statistics.h"
#include "harness/options/cli.h"

#include <inttypes.h>
#include <sys/random.h>

static void override_reps(const struct sweep_override *override, struct sweep_file *sweep)
{
    if (override->reps >= 0) {
        sweep->reps = sweep->reps_max = override->reps;
        if (sweep->class_min > sweep->reps)
            sweep->class_min = sweep->reps;
    }
    if (override->reps_max >= 0)
        sweep->reps_max = override->reps_max;
}

/* 31 bits: short enough to be typed again. */
static int64_t seed_draw(void)
{
    uint32_t random = 0;
    if (getrandom(&random, sizeof random, 0) != (ssize_t)sizeof random)
        random = 1;
    return random >> 1;
}

void sweep_file_override(const struct sweep_override *override, struct sweep_file *sweep)
{
    override_reps(override, sweep);
    if (override->width >= 0)
        sweep->width = override->width;
    if (sweep->reps_max < sweep->reps)
        cli_misuse("at most %" PRId64 " repetitions are fewer than at least %" PRId64
                   "; valid for --reps-max: %" PRId64 " to 1000",
                   sweep->reps_max, sweep->reps, sweep->reps);
    if (override->width > 0 && sweep->reps_max < STATISTICS_INTERVAL_MIN)
        cli_misuse("--width takes at least --reps-max=%d, not %" PRId64
                   ": fewer samples have no 95 %% interval",
                   STATISTICS_INTERVAL_MIN, sweep->reps_max);
    if (override->timeout_s >= 0)
        sweep->timeout_s = override->timeout_s;
    if (override->seed >= 0)
        sweep->seed = override->seed;
    if (sweep->seed < 0)
        sweep->seed = seed_draw();
}
