/* hunt_what.c - see hunt_what.h. */
#include "harness/hunter/hunt_what.h"

#include "harness/base/suggest.h"
#include "harness/base/text.h"
#include "harness/scenarios/scenarios.h"
#include "harness/spec/outside.h"
#include "harness/spec/promises.h"
#include "runtime/knobs.h"
#include "sched.h"
#include "workloads/workload.h"

#include <stdio.h>
#include <string.h>

/* The one whose name the text begins with, in front of its settings; NULL if there is none. */
static const struct workload *named(const struct workload *const *list, const char *text)
{
    size_t length = strcspn(text, ",");
    for (size_t i = 0; list[i]; i++)
        if (strlen(list[i]->name) == length && strncmp(list[i]->name, text, length) == 0)
            return list[i];
    return NULL;
}

/* Is the text, up to its settings, one of these words? */
static bool is_among(const char *const *words, const char *text)
{
    char name[128];
    snprintf(name, sizeof name, "%.*s", (int)strcspn(text, ","), text);
    return text_is_word(name, words);
}

/* A variant from outside the tree may be called as a scenario is: examples/locked.c. */
bool hunt_is_variant(const char *text)
{
    return is_among(outside_words, text) || (!named(scenarios, text) && !named(workloads, text) &&
                                             !is_among(outside_workload_words, text));
}

bool hunt_workload_parse(struct workload_spec *spec, const char *text, struct error *error)
{
    const struct workload *scenario = named(scenarios, text);
    if (scenario)
        return workload_spec_parse_of(spec, scenario, text, error);
    if (workload_spec_parse(spec, text, error))
        return true;
    if (named(workloads, text))
        return false;
    struct suggest suggest = suggest_for(text);
    for (size_t i = 0; workloads[i]; i++)
        suggest_offer(&suggest, workloads[i]->name);
    for (size_t i = 0; scenarios[i]; i++)
        suggest_offer(&suggest, scenarios[i]->name);
    return error_set(
        error, "unknown workload or scenario \"%s\"; %s", text,
        suggest_text(&suggest, "", "`schedlab list workloads` and `schedlab hunt --scenarios`").s);
}

bool hunt_fits(const struct variant_spec *variant, const struct workload_spec *workload,
               int workers, struct error *error)
{
    const struct sched_ops *ops = variant->ops;
    struct promises promises = promises_of(ops, variant->knobs);
    const char *misfit = promises_misfit(&promises, workload->workload, workload->params);
    if (misfit)
        return error_set(error, "%s %s in %s", workload->text, misfit, variant->text);
    if (workload->workload->is_paced && workload->workload->is_paced(workload->params))
        return error_set(error,
                         "%s waits for a clock, and has no time here; valid: a workload that is "
                         "done when its work is",
                         workload->text);
    return workload_spec_takes_workers(workload, ops->single_threaded ? 1 : workers, error) &&
           workload_spec_set_workers(workload, workers, error);
}

/* A variant that wakes nobody keeps what I4 looks for, by its own choice. */
static unsigned oracles_of(const struct variant_spec *variant)
{
    unsigned all = (1u << HUNT_END_COUNT) - 1 - (1u << HUNT_DONE);
    const struct runtime_knobs *knobs = variant->knobs;
    return knobs->wake == WAKE_NONE ? all & ~(1u << HUNT_IDLE) : all;
}

struct campaign hunt_campaign_of(const struct variant_spec *variant,
                                 const struct workload_spec *workload, int workers)
{
    return (struct campaign){
        .ops = variant->ops,
        .knobs = variant->knobs,
        .workload = workload->workload,
        .params = workload->params,
        .workers = workers,
        .plan.oracles = oracles_of(variant),
    };
}
