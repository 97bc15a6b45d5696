/* list_name.c - what one name means. See list_name.h; list_name_print.c prints it. */
#include "harness/list/list_name.h"

#include "harness/base/json_fields.h"
#include "harness/base/memory.h"
#include "harness/base/text.h"
#include "harness/counters/counter_names.h"
#include "harness/list/list_json.h"
#include "harness/list/list_uses.h"
#include "harness/spec/knobs.h"
#include "harness/spec/outside.h"
#include "harness/spec/peer_table.h"
#include "harness/spec/spec.h"
#include "preset.h"
#include "workloads/workload.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Examples compare with Go's design, and with that of one queue. */
static const char GO[] = "gmp", ONE_QUEUE[] = "grq";

/* The command of one from outside the tree names the files too. */
static void set_command(json_t *object, char *command)
{
    static const char program[] = "schedlab";
    if (command && outside_is_named(field_text(object, "name"))) {
        char *with = outside_with_text(), *plain = command;
        command = text_format("%s%s%s", program, with, plain + sizeof program - 1);
        free(plain);
        free(with);
    }
    json_object_set_new(object, "example", command ? json_string(command) : json_null());
    free(command);
}

/* Variants and presets ------------------------------------------------------------------------- */

static json_t *structure_to_json(const struct sched_ops *ops)
{
    static const char *const tasks[] = {
        [FJ_GO] = "a task of fork/join is a goroutine",
        [FJ_HELP] = "a spawn queues the child and goes on; thieves take the child",
        [FJ_WORK] = "a spawn runs the child at once; thieves take what the parent has left to do",
    };
    json_t *array = json_array();
    const char *threads = "each worker has a thread";
    if (ops->thread_per_g)
        threads = "each goroutine has a thread of its own";
    else if (ops->single_threaded)
        threads = "one thread runs all goroutines";
    else if (param_find(ops->knobs, "calls"))
        threads = "each worker has a thread, and more of them run while calls block";
    json_array_append_new(array, json_string(threads));
    if (!ops->thread_per_g && !ops->single_threaded)
        json_array_append_new(array, json_string(ops->steal ? "workers without work steal from "
                                                              "others"
                                                            : "workers do not steal"));
    json_array_append_new(array, json_string(tasks[ops->forkjoin]));
    return array;
}

static json_t *variant_to_json(const struct sched_ops *ops, const struct uses *uses)
{
    struct error why = {0};
    bool other = peer_is(ops) || !ops->pick; /* no scheduler of this program */
    json_t *object =
        json_pack("{ss ss ss ss so so}", "role", "variant", "name", ops->name, "idea", ops->idea,
                  "source", ops->source, "knobs", list_table_to_json(ops->knobs), "no_effect",
                  list_moot_to_json(ops->moot));
    if (!other) {
        const char *outside = outside_origin(ops);
        char *file = outside ? xstrdup(outside)
                             : text_format("sched_variants/%s/%s.c", ops->name, ops->name);
        json_object_set_new(object, "structure", structure_to_json(ops));
        json_object_set_new(object, "code", json_string(file));
        free(file);
    }
    if (peer_is(ops) && peer_absence(ops, &why))
        json_object_set_new(object, "absent", json_string(why.text));
    json_object_set_new(object, "compared_in",
                        uses_experiments(uses, USES_THAT_COMPARE, ops->name));
    json_object_set_new(object, "knobs_varied_in", uses_experiments(uses, USES_WITHIN, ops->name));
    set_command(object,
                text_format("schedlab run %s %s %s --workers 2", ops->name,
                            strcmp(ops->name, GO) == 0 ? ONE_QUEUE : GO,
                            peer_is_floor_name(ops->name) && peer_is(ops) ? "pingpong" : "fib"));
    return object;
}

static json_t *preset_to_json(const struct preset *preset, const struct uses *uses)
{
    json_t *object =
        json_pack("{ss ss ss ss ss ss ss}", "role", "preset", "name", preset->name, "variant",
                  preset->variant, "settings", preset->settings, "idea", preset->idea, "source",
                  preset->source, "left_out", preset->left_out);
    json_object_set_new(object, "compared_in",
                        uses_experiments(uses, USES_THAT_COMPARE, preset->name));
    set_command(object, text_format("schedlab run %s %s pingpong --workers 2", preset->variant,
                                    preset->name));
    return object;
}

/* Workloads and parameters --------------------------------------------------------------------- */

static json_t *workload_to_json(const struct workload *workload, json_t *object,
                                const struct uses *uses)
{
    const struct param *first = workload->params;
    json_object_set_new(object, "role", json_string("workload"));
    json_object_set_new(object, "experiments",
                        uses_experiments(uses, USES_THAT_RUN, workload->name));
    json_object_set_new(object, "sweeps", uses_sweeps(uses, USES_THAT_RUN, workload->name));
    set_command(object, text_format("schedlab run %s %s %s,%s=%s --workers 2", GO, ONE_QUEUE,
                                    workload->name, param_key(first),
                                    param_value_text(first, first->def).s));
    return object;
}

static json_t *parameter_to_json(const char *name)
{
    json_t *of = json_array();
    for (const struct workload *const *at = spec_workloads(); *at; at++) {
        const struct param *param = param_find((*at)->params, name);
        if (!param)
            continue;
        json_t *row = list_param_to_json(param);
        json_object_set_new(row, "workload", json_string((*at)->name));
        json_array_append_new(of, row);
    }
    if (json_array_size(of) > 0)
        return json_pack("{ss ss so}", "role", "parameter", "name", name, "workloads", of);
    json_decref(of);
    return NULL;
}

/* Knobs ---------------------------------------------------------------------------------------- */

static json_t *knob_to_json(const char *name, const struct uses *uses)
{
    const struct sched_ops *ops;
    json_t *object = list_param_to_json(knob_find(name)), *of = json_array();
    json_object_set_new(object, "role", json_string("knob"));
    json_object_set_new(object, "name", json_string(name));
    for (size_t i = 0; (ops = spec_variant(i)); i++) {
        const struct param *param = param_find(ops->knobs, name);
        if (!param)
            continue;
        json_t *row = list_param_to_json(param);
        json_object_set_new(row, "variant", json_string(ops->name));
        json_array_append_new(of, row);
    }
    json_object_set_new(object, "variants", of);
    json_object_set_new(object, "experiments", uses_experiments(uses, USES_THAT_VARY, name));
    json_object_set_new(object, "sweeps", uses_sweeps(uses, USES_THAT_VARY, name));
    set_command(object, list_knob_command(name, NULL));
    return object;
}

/* Events --------------------------------------------------------------------------------------- */

static const char *event_unit(const char *name)
{
    if (text_ends_with(name, "_NS"))
        return "ns";
    if (text_ends_with(name, "_PS"))
        return "ps";
    if (strncmp(name, "PROCESS_MEMORY", 14) == 0 ||
        (strncmp(name, "MALLOC_", 7) == 0 && strcmp(name, "MALLOC_ALLOCATIONS") != 0))
        return "bytes";
    return "a count";
}

/* How records have it: metric.h. */
static const char *event_shown(const char *full)
{
    static const char *const shown[] = {[COUNTER_SUM] = "the sum of the timed calls, per operation",
                                        [COUNTER_PEAK] = "the highest value of the timed calls",
                                        [COUNTER_LEVEL] =
                                            "the value at the end of the last timed call",
                                        [COUNTER_RUN_PEAK] = "the highest value of the whole run",
                                        [COUNTER_RUN] = "the sum of the whole run, per operation"};
    int index = counter_sde_find(full);
    return shown[index < 0 ? COUNTER_SUM : counter_sde_kind(index)];
}

static bool moves(const struct param *knob, const char *event)
{
    json_t *words = list_words_to_json(knob->moves);
    bool found = false;
    json_each(word, words)
        found = found || strcmp(json_string_value(word), event) == 0;
    json_decref(words);
    return found;
}

/* Appends each knob of the table that moves the event, once. */
static void append_movers(json_t *array, const struct param *table, const char *event)
{
    for (const struct param *knob = table; knob && knob->name; knob++) {
        bool known = false;
        json_each(one, array)
            known = known || strcmp(json_string_value(one), param_key(knob)) == 0;
        if (!known && moves(knob, event))
            json_array_append_new(array, json_string(param_key(knob)));
    }
}

static char *event_command(const json_t *movers, const char *name, const char *source)
{
    const char *knob = NULL;
    json_each(one, movers)
        if (!knob && moves(knob_find(json_string_value(one)), name)) /* not in one variant alone */
            knob = json_string_value(one);
    if (knob) {
        char *command = list_knob_command(knob, NULL);
        char *events = command ? strstr(command, " --events ") : NULL;
        if (events) {
            *events = '\0';
            char *all = text_format("%s --events %s", command, name);
            free(command);
            return all;
        }
        free(command);
    }
    return text_format("schedlab run %s %s fib,n=18 --workers 2%s --events %s", GO, ONE_QUEUE,
                       strcmp(source, "sim") == 0 ? " --machine sim:desktop8" : "", name);
}

static json_t *event_to_json(json_t *object, const struct uses *uses)
{
    const char *full = json_string_value(json_object_get(object, "name"));
    const char *name = counter_short_name(full);
    const char *source = json_string_value(json_object_get(object, "source"));
    const struct sched_ops *ops;
    json_t *movers = json_array();
    for (size_t i = 0; (ops = spec_variant(i)); i++)
        append_movers(movers, ops->knobs, name);
    append_movers(movers, variant_common_params, name);
    json_object_set_new(object, "role", json_string("event"));
    json_object_set_new(object, "unit", json_string(event_unit(name)));
    json_object_set_new(object, "shown", json_string(event_shown(full)));
    json_object_set_new(object, "judged_by", uses_experiments(uses, USES_THAT_JUDGE, name));
    json_object_set_new(object, "counted_by", uses_experiments(uses, USES_THAT_COUNT, name));
    set_command(object, event_command(movers, name, source));
    json_object_set_new(object, "moved_by", movers);
    return object;
}

/* The event of that name, of all that can be listed here; owned by the caller, NULL: none. */
static json_t *event_find(const char *name)
{
    json_t *counting = list_events_to_json(), *found = NULL;
    json_each(event, json_object_get(counting, "events")) {
        const char *short_name = counter_short_name(field_text(event, "name"));
        if (strcasecmp(short_name, counter_short_name(name)) == 0) {
            found = json_incref(event);
            break;
        }
    }
    json_decref(counting);
    return found;
}

/* Experiments ---------------------------------------------------------------------------------- */

static json_t *experiment_to_json(const char *id, const struct uses *uses)
{
    json_t *object = uses_experiment(uses, id);
    if (!object)
        return NULL;
    json_object_set_new(object, "role", json_string("experiment"));
    set_command(object, text_format("schedlab repro --explain %s", field_text(object, "id")));
    return object;
}

/* All roles ------------------------------------------------------------------------------------ */

static void append_role(json_t *roles, json_t *role)
{
    if (role)
        json_array_append_new(roles, role);
}

static json_t *roles_of(const char *name, const struct uses *uses)
{
    json_t *roles = json_array(), *all = list_workloads_to_json(), *event = event_find(name);
    const struct sched_ops *ops;
    for (size_t i = 0; (ops = spec_variant(i)); i++)
        if (strcmp(ops->name, name) == 0)
            append_role(roles, variant_to_json(ops, uses));
    for (const struct preset *preset = presets; preset->name; preset++)
        if (strcmp(preset->name, name) == 0)
            append_role(roles, preset_to_json(preset, uses));
    const struct workload *const *workloads_all = spec_workloads();
    for (size_t i = 0; workloads_all[i]; i++)
        if (strcmp(workloads_all[i]->name, name) == 0)
            append_role(roles, workload_to_json(workloads_all[i],
                                                json_incref(json_array_get(all, i)), uses));
    if (knob_find(name))
        append_role(roles, knob_to_json(name, uses));
    append_role(roles, parameter_to_json(name));
    if (event)
        append_role(roles, event_to_json(event, uses));
    append_role(roles, experiment_to_json(name, uses));
    json_decref(all);
    return roles;
}

json_t *list_name_to_json(const char *name, struct error *error)
{
    struct uses *uses = uses_load(error);
    if (!uses)
        return NULL;
    json_t *object = json_pack("{ss so}", "name", name, "roles", roles_of(name, uses));
    uses_free(uses);
    return object;
}

static void offer_table(struct suggest *suggest, const struct param *table)
{
    for (const struct param *param = table; param && param->name; param++)
        suggest_offer(suggest, param_key(param));
}

void list_names_offer(struct suggest *suggest)
{
    const struct sched_ops *ops;
    for (size_t i = 0; (ops = spec_variant(i)); i++)
        suggest_offer(suggest, ops->name);
    for (const struct preset *preset = presets; preset->name; preset++)
        suggest_offer(suggest, preset->name);
    for (const struct workload *const *at = spec_workloads(); *at; at++)
        suggest_offer(suggest, (*at)->name);
    for (size_t i = 0; (ops = spec_variant(i)); i++)
        offer_table(suggest, ops->knobs);
    offer_table(suggest, variant_common_params);
    for (int i = 0; i < counter_sde_count(); i++)
        suggest_offer(suggest, counter_sde_name(i));
    for (const struct workload *const *at = spec_workloads(); *at; at++)
        offer_table(suggest, (*at)->params);
}
