/* list_json.c - see list_json.h. */
#include "harness/list/list_json.h"

#include "harness/base/json_fields.h"
#include "harness/base/memory.h"
#include "harness/counters/counter_names.h"
#include "harness/counters/sim_events.h"
#include "harness/doctor/environment.h"
#include "harness/spec/knobs.h"
#include "harness/spec/peer_table.h"
#include "preset.h"
#include "workloads/workload.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT_SIZE = 512 };

json_t *list_words_to_json(const char *words)
{
    json_t *array = json_array();
    for (const char *at = words; at && *at; at += strspn(at, " ")) {
        size_t length = strcspn(at, " ");
        json_array_append_new(array, json_stringn(at, length));
        at += length;
    }
    return array;
}

/* Rows of tables ------------------------------------------------------------------------------- */

/* Leaves the settings of the example that are not the knob's in `base`, with commas before them. */
static void other_settings(const struct param *knob, const char *settings, int length, char *base,
                           size_t base_size)
{
    size_t at = 0;
    base[0] = '\0';
    for (const char *next = settings; next < settings + length;) {
        int one = (int)strcspn(next, ", "), key = (int)strcspn(next, "=");
        if (key != (int)strlen(param_key(knob)) || strncmp(next, param_key(knob), (size_t)key) != 0)
            at += (size_t)snprintf(base + at, base_size - at, ",%.*s", one, next);
        next += one + (next[one] == ',');
        if (*next == ' ')
            break;
    }
}

char *list_knob_command(const char *key, const struct sched_ops *ops)
{
    const struct param *knob = knob_find(key), *own = ops ? param_find(ops->knobs, key) : NULL;
    const char *variant = knob_owner(key)->name;
    if (own && own->example && knob->example && strcmp(own->example, knob->example) != 0) {
        knob = own;
        variant = ops->name;
    }
    const char *settings = knob->example;
    if (!settings)
        return NULL;
    int length = (int)strcspn(settings, " ");
    const char *rest = settings + length + 1;
    int workload = (int)strcspn(rest, " ");
    const char *workers = rest + workload + 1;
    bool native = strstr(workers, " native") != NULL;
    char base[TEXT_SIZE], events[TEXT_SIZE];
    other_settings(knob, settings, length, base, sizeof base);
    snprintf(events, sizeof events, "%s", knob->moves ? knob->moves : "");
    for (char *at = events; *at; at++)
        if (*at == ' ')
            *at = ',';
    return text_format("schedlab run %s%s %s,%.*s %.*s --workers %.*s%s%s%s", variant, base,
                       variant, length, settings, workload, rest, (int)strcspn(workers, " "),
                       workers, native ? "" : " --machine sim:desktop8",
                       *events ? " --events " : "", events);
}

static void knob_to_json(json_t *object, const struct param *param)
{
    json_object_set_new(object, "group", json_string(knob_group_name(param->group)));
    json_object_set_new(object, "decisive", json_boolean(param->decisive));
    json_object_set_new(object, "moves", list_words_to_json(param->moves));
}

json_t *list_param_to_json(const struct param *param)
{
    json_t *object =
        json_pack("{ss ss ss ss ss ss}", "key", param_key(param), "default",
                  param_value_text(param, param->def).s, "unit", param->unit, "source",
                  param->source, "help", param->help, "range", param_range_text(param).s);
    if (param_takes_numbers(param)) {
        json_object_set_new(object, "min", json_integer(param->min));
        json_object_set_new(object, "max", json_integer(param->max));
    }
    if (param->words) {
        json_t *words = json_array();
        for (const char *const *word = param->words; *word; word++)
            json_array_append_new(words, json_string(*word));
        json_object_set_new(object, "words", words);
    }
    if (param->detail)
        json_object_set_new(object, "detail", json_string(param->detail));
    if (param->group != KNOB_OTHERS)
        knob_to_json(object, param);
    return object;
}

json_t *list_table_to_json(const struct param *table)
{
    json_t *array = json_array();
    for (const struct param *param = table; param && param->name; param++)
        json_array_append_new(array, list_param_to_json(param));
    return array;
}

json_t *list_moot_to_json(const struct param_moot *rows)
{
    json_t *array = json_array();
    for (const struct param_moot *row = rows; row && row->keys; row++)
        json_array_append_new(
            array, json_pack("{ss ss ss}", "knobs", row->keys, "with", row->when, "why", row->why));
    return array;
}

/* Topics --------------------------------------------------------------------------------------- */

json_t *list_variants_to_json(void)
{
    json_t *array = json_array();
    const struct sched_ops *ops;
    for (size_t i = 0; (ops = spec_variant(i)); i++) {
        struct error why;
        json_t *object = json_pack("{ss ss ss so}", "name", ops->name, "idea", ops->idea, "source",
                                   ops->source, "knobs", list_table_to_json(ops->knobs));
        json_object_set_new(object, "no_effect", list_moot_to_json(ops->moot));
        if (peer_is(ops) && peer_absence(ops, &why))
            json_object_set_new(object, "absent", json_string(why.text));
        json_array_append_new(array, object);
    }
    return array;
}

json_t *list_presets_to_json(void)
{
    json_t *array = json_array();
    for (const struct preset *preset = presets; preset->name; preset++)
        json_array_append_new(array, json_pack("{ss ss ss ss ss ss}", "name", preset->name,
                                               "variant", preset->variant, "settings",
                                               preset->settings, "idea", preset->idea, "source",
                                               preset->source, "left_out", preset->left_out));
    return array;
}

json_t *list_workloads_to_json(void)
{
    json_t *array = json_array();
    for (const struct workload *const *at = spec_workloads(); *at; at++) {
        json_t *finds = json_array();
        for (const char *const *name = (*at)->finds; name && *name; name++)
            json_array_append_new(finds, json_string(*name));
        json_array_append_new(
            array, json_pack("{ss ss ss ss ss sb so so}", "name", (*at)->name, "idea", (*at)->idea,
                             "op", (*at)->op, "source", (*at)->source, "style",
                             (*at)->style == STYLE_FORKJOIN ? "fork/join" : "goroutines",
                             "has_serial", (*at)->run_serial != NULL, "parameters",
                             list_table_to_json((*at)->params), "finds", finds));
    }
    return array;
}

json_t *list_knobs_to_json(void)
{
    json_t *array = json_array();
    const struct sched_ops *ops;
    for (size_t i = 0; (ops = spec_variant(i)); i++) {
        for (const struct param *param = ops->knobs; param && param->name; param++) {
            json_t *knob = list_param_to_json(param);
            char *command = list_knob_command(param_key(param), ops);
            json_object_set_new(knob, "variant", json_string(ops->name));
            json_object_set_new(knob, "example", command ? json_string(command) : json_null());
            json_array_append_new(array, knob);
            free(command);
        }
    }
    return array;
}

json_t *list_events_to_json(void)
{
    json_t *counting = environment_counting_to_json();
    json_t *events = json_object_get(counting, "events");
    for (int k = 0; k < sim_event_count() && json_is_array(events); k++) {
        char name[TEXT_SIZE];
        snprintf(name, sizeof name, COUNTER_SDE_PREFIX "%s", sim_event_name(k));
        json_array_append_new(events,
                              json_pack("{ss ss ss ss}", "name", name, "source", "sim", "help",
                                        sim_event_help(k), "absent", SIM_EVENTS_ABSENT));
    }
    json_each(event, events) {
        const char *name = field_text(event, "name");
        json_object_set_new(event, "default", json_boolean(counter_is_by_default(name)));
    }
    return counting;
}
