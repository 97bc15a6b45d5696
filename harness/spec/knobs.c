/* knobs.c - see knobs.h. */
#include "harness/spec/knobs.h"

#include "harness/spec/spec.h"

static size_t table_length(const struct param *table)
{
    size_t length = 0;
    while (table && table[length].name)
        length++;
    return length;
}

const struct sched_ops *knob_owner(const char *key)
{
    const struct sched_ops *ops, *best = NULL;
    for (size_t i = 0; (ops = spec_variant(i)); i++)
        if ((param_find(ops->knobs, key) || param_find(variant_common_params, key)) &&
            (!best || table_length(ops->knobs) > table_length(best->knobs)))
            best = ops;
    return best;
}

const struct param *knob_find(const char *key)
{
    const struct sched_ops *owner = knob_owner(key);
    const struct param *knob = owner ? param_find(owner->knobs, key) : NULL;
    return knob ? knob : param_find(variant_common_params, key);
}

const char *knob_group_name(enum knob_group group)
{
    static const char *const names[KNOB_GROUPS] = {
        [KNOB_OTHERS] = "others",           [KNOB_QUEUES] = "queues", [KNOB_STEALING] = "stealing",
        [KNOB_WAKING] = "waking",           [KNOB_SLICES] = "slices", [KNOB_CALLS] = "calls",
        [KNOB_DESCRIPTORS] = "descriptors", [KNOB_TIMERS] = "timers", [KNOB_LOCKS] = "locks",
        [KNOB_MEMORY] = "memory",
    };
    return names[group];
}
