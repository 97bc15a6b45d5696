/* knobs.c - see knobs.h. */
#include "harness/spec/knobs.h"

#include "harness/spec/spec.h"

#include <string.h>

const struct sched_ops *knob_owner(const char *key)
{
    const struct sched_ops *ops, *best = NULL;
    for (size_t i = 0; (ops = spec_variant(i)); i++)
        if ((param_find(ops->knobs, key) || param_find(variant_common_params, key)) &&
            (!best || params_count(ops->knobs) > params_count(best->knobs)))
            best = ops;
    return best;
}

const struct param *knob_find(const char *key)
{
    const struct sched_ops *owner = knob_owner(key);
    const struct param *knob = owner ? param_find(owner->knobs, key) : NULL;
    return knob ? knob : param_find(variant_common_params, key);
}

bool knob_by_place(const struct param *table, const void *knobs, struct error *why)
{
    static const char *const by_place[][2] = {{"victim", "near"}, {"globals", "group"}};
    for (size_t i = 0; i < sizeof by_place / sizeof by_place[0]; i++) {
        const struct param *knob = param_find(table, by_place[i][0]);
        if (!knob)
            continue;
        int64_t value;
        memcpy(&value, (const char *)knobs + knob->offset, sizeof value);
        const char *word = param_word(knob, value);
        if (word && strcmp(word, by_place[i][1]) == 0)
            return reason_set(
                why,
                "%s=%s goes by the cores of workers, and these move: add --pin (in a file: pin: "
                "true)",
                by_place[i][0], by_place[i][1]);
    }
    return false;
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
