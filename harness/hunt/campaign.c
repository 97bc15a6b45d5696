/* campaign.c - see campaign.h. */
#include "harness/hunt/campaign.h"

#include "harness/base/memory.h"
#include "harness/spec/outside.h"
#include "sched.h"
#include "workloads/workload.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WHY_SIZE = 512 };
enum {
    POINTS_LEARNING = 1000000,
    POINTS_EXPECTED = 1000,
    POINTS_FACTOR = 50,
    POINTS_LEAST = 100000,
    MEASURES_OF_LENGTH = 4, /* enough for points_max, which is far above any right execution */
};

/* The things that an execution works on, in the machine's memory, at the same addresses. */
struct execution {
    const struct campaign *campaign;
    void *state;
};

static void *copy_of(const void *from, size_t size)
{
    return size ? memcpy(machine_alloc(size, 64), from, size) : NULL;
}

static void main_goroutine(void *arg)
{
    struct execution *execution = arg;
    const struct workload *workload = execution->campaign->workload;
    char why[WHY_SIZE], text[HUNT_TEXT_SIZE];
    struct outcome out = {0};
    const struct workload *outside = outside_compiled(workload); /* as scenarios are */
    if (outside)
        outside->run(execution->state, &out);
    else
        workload_run(workload, execution->state, &out);
    const char *wrong = workload->verify(execution->state, &out, why, sizeof why);
    if (wrong) {
        snprintf(text, sizeof text, "wrong answer: %s\n", wrong);
        hunt_fail(HUNT_WRONG, text);
    }
    hunt_main_is_over();
}

/* Two neighbours each share a cache. */
static const int32_t pairs[16] = {0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7};

static void first_thread(void *arg)
{
    const struct campaign *campaign = arg;
    struct execution execution = {.campaign = campaign};
    const void *params = copy_of(campaign->params, campaign->workload->params_size);
    struct sched_config config = {
        .ops = campaign->ops,
        .knobs = copy_of(campaign->knobs, campaign->ops->knobs_size),
        .workers = campaign->workers,
        .seed = campaign->plan.seed,
        .groups = campaign->workers <= 16 ? pairs : NULL,
    };
    int error;
    char text[HUNT_TEXT_SIZE];
    execution.state = campaign->workload->init(params, campaign->seed);
    struct sched *sched = sched_new(&config, &error);
    if (!sched)
        hunt_fail(HUNT_UNFIT, "no memory for a scheduler\n");
    bool conserves = !sched->keeps && !sched->ops->blocks && !sched->ops->thread_per_g &&
                     sched->runtime->wake != WAKE_NONE;
    hunt_conserves(conserves ? &sched->idle_ps : NULL, sched_wake_due(sched));
    int64_t alive = sched_run(sched, main_goroutine, &execution);
    if (alive != 0) {
        snprintf(text, sizeof text, "%lld goroutines are left over at the end\n", (long long)alive);
        hunt_fail(HUNT_WRONG, text);
    }
    sched_free(sched);
    campaign->workload->fini(execution.state);
}

const struct hunt_outcome *campaign_execute(const struct campaign *campaign,
                                            const struct hunt_plan *plan)
{
    struct campaign copy = *campaign;
    copy.plan = *plan;
    return hunt_execute(plan, first_thread, &copy);
}

bool campaign_has_depth(int algorithm)
{
    const char *word = hunt_algorithm_words[algorithm];
    return strcmp(word, "pct") == 0 || strcmp(word, "delay") == 0;
}

/* Does it draw by what was measured? pct and delay do by the length, surw by accesses. */
static bool draws_by_measures(int algorithm)
{
    return campaign_has_depth(algorithm) || strcmp(hunt_algorithm_words[algorithm], "surw") == 0;
}

/* The points of so many executions in the mean. */
static uint64_t points_usual(const struct campaign *campaign, int algorithm, bool measures,
                             uint64_t count)
{
    uint64_t points = 0;
    for (uint64_t i = 0; i < count; i++) {
        const struct hunt_plan plan = {
            .algorithm = algorithm,
            .memory = campaign->plan.memory,
            .depth = campaign->depth,
            .seed = i,
            .points_max = POINTS_LEARNING,
            .points_expected = POINTS_EXPECTED,
            .oracles = campaign->plan.oracles,
            .measures = measures,
        };
        points += campaign_execute(campaign, &plan)->points;
    }
    return points / count;
}

void campaign_learn(struct campaign *campaign)
{
    hunt_learn(true);
    points_usual(campaign, 0, false, HUNT_MEASURES);
    hunt_learn(false);
    uint64_t points =
        points_usual(campaign, campaign->algorithm, true,
                     draws_by_measures(campaign->algorithm) ? HUNT_MEASURES : MEASURES_OF_LENGTH);
    campaign->plan.points_expected = points;
    campaign->plan.points_max = campaign->points_max;
    if (!campaign->points_max)
        campaign->plan.points_max =
            points * POINTS_FACTOR > POINTS_LEAST ? points * POINTS_FACTOR : POINTS_LEAST;
}

static uint64_t seed_of(uint64_t seed, int64_t i)
{
    uint64_t z = seed * UINT64_C(0x9e3779b97f4a7c15) + (uint64_t)i * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

struct hunt_outcome *outcome_copy(const struct hunt_outcome *outcome)
{
    struct hunt_outcome *copy = xcalloc(1, sizeof *copy);
    *copy = *outcome;
    size_t size = outcome->switch_count * sizeof *outcome->switches;
    copy->switches = xcalloc(1, size + 1);
    memcpy(copy->switches, outcome->switches, size);
    return copy;
}

void campaign_plan(struct campaign *campaign, int64_t i)
{
    campaign->plan.algorithm = campaign->algorithm;
    campaign->plan.depth = campaign->depth;
    campaign->plan.seed = seed_of(campaign->seed, i);
}

/* Fewer switches ------------------------------------------------------------------------------ */

static bool ends_alike(const struct hunt_outcome *a, const struct hunt_outcome *b)
{
    return a->end == b->end && (a->end != HUNT_FATAL || strcmp(a->text, b->text) == 0);
}

/* Delta debugging: leaves out parts, at first large ones. Source: [ZH02] ddmin. */
bool campaign_minimise(struct campaign *campaign, int most)
{
    struct hunt_outcome *failure = campaign->failure;
    size_t count = failure->switch_count;
    struct hunt_switch *kept = xcalloc(count + 1, sizeof *kept);
    struct hunt_switch *tried = xcalloc(count + 1, sizeof *tried);
    struct hunt_plan plan = campaign->plan;
    memcpy(kept, failure->switches, count * sizeof *kept);
    plan.algorithm = -1;
    plan.switches = kept;
    plan.switch_count = count;
    bool same = ends_alike(campaign_execute(campaign, &plan), failure);
    for (size_t part = (count + 1) / 2; same && part > 0 && most > 0;) {
        bool shorter = false;
        for (size_t at = 0; at < count && most > 0;) {
            size_t end = at + part < count ? at + part : count, left = count - (end - at);
            memcpy(tried, kept, at * sizeof *kept);
            memcpy(tried + at, kept + end, (count - end) * sizeof *kept);
            plan.switches = tried;
            plan.switch_count = left;
            most--;
            if (!ends_alike(campaign_execute(campaign, &plan), failure)) {
                at = end;
                continue;
            }
            memcpy(kept, tried, left * sizeof *kept);
            count = left;
            shorter = true;
        }
        if (!shorter || part > count)
            part = part > 1 ? part / 2 : 0;
    }
    free(tried);
    if (same) {
        plan.switches = kept;
        plan.switch_count = count;
        campaign->plan = plan;
        free(failure->switches);
        free(failure);
        campaign->failure = outcome_copy(campaign_execute(campaign, &plan));
    } else {
        free(kept);
    }
    return same;
}
