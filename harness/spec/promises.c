/* promises.c - see promises.h. */
#include "harness/spec/promises.h"

#include "sched.h"

#include <string.h>

/* False too if the variant has no such knob. */
static bool knob_is(const struct sched_ops *ops, void *knobs, const char *name, const char *word)
{
    for (const struct param *knob = ops->knobs; knob && knob->name; knob++)
        if (strcmp(param_key(knob), name) == 0)
            return strcmp(knob->words[*param_field(knobs, knob)], word) == 0;
    return false;
}

struct promises promises_of(const struct sched_ops *ops, void *knobs)
{
    bool kernel = ops->thread_per_g || !ops->pick; /* it switches threads; a peer has no pick() */
    bool sysmon = knob_is(ops, knobs, "sysmon", "on");
    bool kept = ops->single_threaded || ops->blocks || knob_is(ops, knobs, "calls", "none");
    return (struct promises){
        .hands_off = kernel || (!kept && (sysmon || knob_is(ops, knobs, "calls", "immediate"))),
        .preempts = kernel || (sysmon && knob_is(ops, knobs, "preempt", "signal")),
        .polls = !knob_is(ops, knobs, "netpoll", "call"),
        .resizes = !ops->single_threaded && !ops->blocks,
        .outside = !ops->single_threaded && !ops->blocks,
        .helps = ops->forkjoin == FJ_HELP,
    };
}

const char *promises_misfit(const struct promises *promises, const struct workload *workload,
                            const void *params)
{
    const char *misfit = workload->skip ? workload->skip(params, promises) : NULL;
    if (misfit || promises->hands_off || promises->polls)
        return misfit;
    return workload->polls && workload->polls(params) > 0
               ? "may never end: a goroutine in a blocking call keeps its worker"
               : NULL;
}
