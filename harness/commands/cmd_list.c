/* cmd_list.c - `schedlab list`: variants and their knobs, workloads and their parameters, events,
 * machines.
 *
 * Everything printed comes from the tables that the parsers use, so it cannot be out of date.
 */
#include "harness/base/json_fields.h"
#include "harness/base/wrap.h"
#include "harness/commands/cli.h"
#include "harness/commands/commands.h"
#include "harness/commands/list_machines.h"
#include "harness/commands/list_words.h"
#include "harness/counters/counter_names.h"
#include "harness/counters/sim_events.h"
#include "harness/doctor/environment.h"
#include "harness/spec/peer_table.h"
#include "harness/spec/spec.h"
#include "preset.h"
#include "sched.h"
#include "workloads/workload.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COLUMNS = 96, INDENT_NAME = 2, INDENT_TEXT = 12, TEXT_SIZE = 512 };

enum topic {
    TOPIC_ALL,
    TOPIC_VARIANTS,
    TOPIC_WORKLOADS,
    TOPIC_KNOBS,
    TOPIC_EVENTS,
    TOPIC_MACHINES,
    TOPIC_MACHINE, /* one, by its specification */
};
static const char *const topic_words[] = {"all",    "variants", "workloads", "knobs",
                                          "events", "machines", NULL};
enum format { FORMAT_TABLE, FORMAT_JSON, FORMAT_WORDS };
static const char *const format_words[] = {"table", "json", "words", NULL};

struct options {
    const char *command;
    enum topic topic;
    const char *machine; /* of TOPIC_MACHINE */
    enum format format;
};

/* Text ---------------------------------------------------------------------------------------- */

static void print_param(const struct param *param)
{
    char value[TEXT_SIZE], range[TEXT_SIZE], text[3 * TEXT_SIZE];
    snprintf(text, sizeof text, "%s; default %s; %s; source: %s",
             param_range_text(param, range, sizeof range),
             param_value_text(param, param->def, value, sizeof value), param->help, param->source);
    int at = printf("%*s%-*s ", INDENT_NAME + 2, "", INDENT_TEXT, param_key(param));
    text_wrap(stdout, at, INDENT_NAME + INDENT_TEXT + 3, COLUMNS, text);
}

static void print_params(const struct param *table)
{
    for (const struct param *param = table; param && param->name; param++)
        print_param(param);
}

static void print_entry(const char *name, const char *idea, const char *source)
{
    char text[3 * TEXT_SIZE];
    snprintf(text, sizeof text, "%s; source: %s", idea, source);
    int at = printf("%-*s ", INDENT_TEXT, name);
    text_wrap(stdout, at, INDENT_TEXT + 1, COLUMNS, text);
}

/* Which knobs change nothing beside which others, and why. */
static void print_moot(const struct param_moot *rows)
{
    for (const struct param_moot *row = rows; row && row->keys; row++) {
        char text[3 * TEXT_SIZE];
        snprintf(text, sizeof text, "%s with %s, %s", row->keys, row->when, row->why);
        int at = printf("%*s%-*s ", INDENT_NAME + 2, "", INDENT_TEXT, "no effect:");
        text_wrap(stdout, at, INDENT_NAME + INDENT_TEXT + 3, COLUMNS, text);
    }
}

static void print_common(void)
{
    puts("\nCommon settings, which every variant has beside its knobs\n");
    print_params(variant_common_params);
}

static void print_presets(void)
{
    puts("\nPresets: variants with knobs set, as schedulers elsewhere have them\n");
    for (const struct preset *preset = presets; preset->name; preset++) {
        char text[TEXT_SIZE];
        print_entry(preset->name, preset->idea, preset->source);
        snprintf(text, sizeof text, "%s,%s", preset->variant, preset->settings);
        for (char *at = text; *at; at++)
            if (*at == ',') /* a line may end there */
                *at = ' ';
        text_wrap(stdout, printf("%*s", INDENT_NAME + 2, ""), INDENT_NAME + 2, COLUMNS, text);
    }
}

static void print_variants(void)
{
    const struct sched_ops *ops;
    puts("Variants, each with its knobs (NAME,KNOB=VALUE,...)\n");
    for (size_t i = 0; (ops = spec_variant(i)); i++) {
        char idea[2 * TEXT_SIZE], why[TEXT_SIZE] = "";
        bool absent = peer_is(ops) && peer_absence(ops, why, sizeof why);
        snprintf(idea, sizeof idea, "%s%s%s", ops->idea, absent ? "; " : "", why);
        print_entry(ops->name, idea, ops->source);
        print_params(ops->knobs);
        print_moot(ops->moot);
    }
    print_common();
    print_presets();
}

static void print_findings(const struct workload *workload)
{
    if (!workload->finds)
        return;
    printf("%*sfinds", INDENT_NAME + 2, "");
    for (const char *const *name = workload->finds; *name; name++)
        printf(" %s", *name);
    putchar('\n');
}

static void print_workloads(void)
{
    puts("Workloads, each with its parameters (NAME,PARAMETER=VALUE,...)\n");
    for (const struct workload *const *at = workloads; *at; at++) {
        char idea[TEXT_SIZE];
        snprintf(idea, sizeof idea, "%s; counts operations of one %s", (*at)->idea, (*at)->op);
        print_entry((*at)->name, idea, (*at)->source);
        print_params((*at)->params);
        print_findings(*at);
    }
}

/* Knobs over variants ------------------------------------------------------------------------- */

static const struct param *knob_find(const struct sched_ops *ops, const char *key)
{
    for (const struct param *param = ops->knobs; param && param->name; param++)
        if (strcmp(param_key(param), key) == 0)
            return param;
    return NULL;
}

/* Whether no variant before the i-th one has the key. */
static bool knob_is_new(size_t i, const char *key)
{
    for (size_t before = 0; before < i; before++)
        if (knob_find(spec_variant(before), key))
            return false;
    return true;
}

static void print_knob_owners(size_t first, const char *key)
{
    const struct sched_ops *ops;
    printf("%*sin", INDENT_NAME + INDENT_TEXT + 3, "");
    for (size_t i = first; (ops = spec_variant(i)); i++) {
        char value[TEXT_SIZE];
        const struct param *param = knob_find(ops, key);
        if (param)
            printf(" %s=%s", ops->name, param_value_text(param, param->def, value, sizeof value));
    }
    putchar('\n');
}

static void print_knobs(void)
{
    const struct sched_ops *ops;
    puts("Knobs, as the first variant describes them, and the default in each variant\n");
    for (size_t i = 0; (ops = spec_variant(i)); i++) {
        for (const struct param *param = ops->knobs; param && param->name; param++) {
            if (!knob_is_new(i, param_key(param)))
                continue;
            print_param(param);
            print_knob_owners(i, param_key(param));
        }
    }
    print_common();
}

/* Events -------------------------------------------------------------------------------------- */

/* The default list here, and what simulated machines count. */
static json_t *events_to_json(void)
{
    json_t *counting = environment_counting_to_json();
    json_t *events = json_object_get(counting, "events");
    for (int i = 0; i < sim_event_count() && json_is_array(events); i++) {
        char name[TEXT_SIZE];
        snprintf(name, sizeof name, COUNTER_SDE_PREFIX "%s", sim_event_name(i));
        json_array_append_new(events,
                              json_pack("{ss ss ss ss}", "name", name, "source", "sim", "help",
                                        sim_event_help(i), "absent", SIM_EVENTS_ABSENT));
    }
    return counting;
}

/* One sentence on the kernel's events, if they can be had, but not where threads come and go. */
static void print_inheritance(const json_t *events)
{
    char text[2 * TEXT_SIZE] = "In";
    const char *why = NULL;
    const json_t *event;
    const struct sched_ops *ops;
    size_t i;
    json_array_foreach(events, i, event)
    {
        const char *absent = field_text(event, "absent_inherited");
        if (*absent && strcmp(field_text(event, "source"), "soft") == 0)
            why = absent;
    }
    if (!why)
        return;
    for (i = 0; (ops = spec_variant(i)); i++)
        if (ops->thread_per_g && !peer_is(ops))
            snprintf(text + strlen(text), sizeof text - strlen(text), " %s", ops->name);
    snprintf(text + strlen(text), sizeof text - strlen(text),
             ", with a thread per goroutine, perf:: events are absent here (%s); "
             "sde:::schedlab::PROCESS_* stand in for all but migrations.",
             why);
    putchar('\n');
    text_wrap(stdout, 0, 0, COLUMNS, text);
}

static void print_events(void)
{
    json_t *counting = events_to_json();
    json_t *event;
    size_t i;
    bool titled = false;
    printf("Events of the default list, counted in %s code\n\n", field_text(counting, "domain"));
    json_array_foreach(json_object_get(counting, "events"), i, event)
    {
        char text[2 * TEXT_SIZE];
        const char *absent = field_text(event, "absent");
        bool simulated = strcmp(absent, SIM_EVENTS_ABSENT) == 0;
        if (simulated && !titled)
            printf("\nAbsent here, " SIM_EVENTS_ABSENT "\n\n");
        titled = titled || simulated;
        if (simulated)
            absent = "";
        snprintf(text, sizeof text, "%s%s%s", field_text(event, "help"),
                 *absent ? "; absent here: " : "", absent);
        int at = printf("%-36s %-4s ", field_text(event, "name"), field_text(event, "source"));
        text_wrap(stdout, at, at, COLUMNS, text);
    }
    print_inheritance(json_object_get(counting, "events"));
    puts(
        "\nOther PAPI presets and native events can be named too; papi_avail and papi_native_avail "
        "list them.");
    json_decref(counting);
}

/* JSON ---------------------------------------------------------------------------------------- */

static json_t *param_to_json(const struct param *param)
{
    char value[TEXT_SIZE];
    json_t *object = json_pack("{ss ss ss ss ss}", "key", param_key(param), "default",
                               param_value_text(param, param->def, value, sizeof value), "unit",
                               param->unit, "source", param->source, "help", param->help);
    if (strcmp(param->unit, "word") != 0) {
        json_object_set_new(object, "min", json_integer(param->min));
        json_object_set_new(object, "max", json_integer(param->max));
    }
    if (param->words) {
        json_t *words = json_array();
        for (const char *const *word = param->words; *word; word++)
            json_array_append_new(words, json_string(*word));
        json_object_set_new(object, "words", words);
    }
    return object;
}

static json_t *table_to_json(const struct param *table)
{
    json_t *array = json_array();
    for (const struct param *param = table; param && param->name; param++)
        json_array_append_new(array, param_to_json(param));
    return array;
}

static json_t *moot_to_json(const struct param_moot *rows)
{
    json_t *array = json_array();
    for (const struct param_moot *row = rows; row && row->keys; row++)
        json_array_append_new(
            array, json_pack("{ss ss ss}", "knobs", row->keys, "with", row->when, "why", row->why));
    return array;
}

static json_t *variants_to_json(void)
{
    json_t *array = json_array();
    const struct sched_ops *ops;
    for (size_t i = 0; (ops = spec_variant(i)); i++) {
        char why[TEXT_SIZE];
        json_t *object = json_pack("{ss ss ss so}", "name", ops->name, "idea", ops->idea, "source",
                                   ops->source, "knobs", table_to_json(ops->knobs));
        json_object_set_new(object, "no_effect", moot_to_json(ops->moot));
        if (peer_is(ops) && peer_absence(ops, why, sizeof why))
            json_object_set_new(object, "absent", json_string(why));
        json_array_append_new(array, object);
    }
    return array;
}

static json_t *presets_to_json(void)
{
    json_t *array = json_array();
    for (const struct preset *preset = presets; preset->name; preset++)
        json_array_append_new(array, json_pack("{ss ss ss ss ss}", "name", preset->name, "variant",
                                               preset->variant, "settings", preset->settings,
                                               "idea", preset->idea, "source", preset->source));
    return array;
}

static json_t *workloads_to_json(void)
{
    json_t *array = json_array();
    for (const struct workload *const *at = workloads; *at; at++)
        json_array_append_new(
            array,
            json_pack("{ss ss ss ss ss sb so}", "name", (*at)->name, "idea", (*at)->idea, "op",
                      (*at)->op, "source", (*at)->source, "style",
                      (*at)->style == STYLE_FORKJOIN ? "fork/join" : "goroutines", "has_serial",
                      (*at)->run_serial != NULL, "parameters", table_to_json((*at)->params)));
    return array;
}

static json_t *knobs_to_json(void)
{
    json_t *array = json_array();
    const struct sched_ops *ops;
    for (size_t i = 0; (ops = spec_variant(i)); i++) {
        for (const struct param *param = ops->knobs; param && param->name; param++) {
            json_t *knob = param_to_json(param);
            json_object_set_new(knob, "variant", json_string(ops->name));
            json_array_append_new(array, knob);
        }
    }
    return array;
}

static void print_json(enum topic topic)
{
    json_t *object = json_object();
    if (topic == TOPIC_ALL || topic == TOPIC_VARIANTS)
        json_object_set_new(object, "variants", variants_to_json());
    if (topic == TOPIC_ALL || topic == TOPIC_VARIANTS)
        json_object_set_new(object, "presets", presets_to_json());
    if (topic == TOPIC_ALL || topic == TOPIC_WORKLOADS)
        json_object_set_new(object, "workloads", workloads_to_json());
    if (topic == TOPIC_KNOBS)
        json_object_set_new(object, "knobs", knobs_to_json());
    if (topic == TOPIC_ALL || topic == TOPIC_VARIANTS || topic == TOPIC_KNOBS)
        json_object_set_new(object, "common", table_to_json(variant_common_params));
    if (topic == TOPIC_EVENTS)
        json_object_set_new(object, "events", events_to_json());
    json_dumpf(object, stdout, JSON_INDENT(2));
    putchar('\n');
    json_decref(object);
}

/* --------------------------------------------------------------------------------------------- */

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    struct options *options = state->input;
    switch (key) {
    case 'f':
        options->format = (enum format)cli_word(options->command, "format", arg, format_words);
        return 0;
    case ARGP_KEY_ARG:
        if (state->arg_num > 0)
            cli_misuse(options->command, "one topic at a time, found \"%s\" as a second one", arg);
        options->machine = arg;
        options->topic =
            strncmp(arg, "sim:", 4) == 0
                ? TOPIC_MACHINE
                : (enum topic)cli_argument_word(options->command, "topic", arg, topic_words);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_option option_table[] = {
    {"format", 'f', "FORMAT", 0,
     "table (default), json, or words: all names, whatever the topic, for the completion of a "
     "shell",
     0},
    {0},
};

static const struct argp argp = {
    option_table,
    parse_option,
    "[all|variants|workloads|knobs|events|machines|sim:MODEL[,KEY=VALUE]...]",
    "Lists what can be named on the command line and in sweep files: variants with their knobs, "
    "workloads with their parameters (all, the default), knobs across variants, the events that "
    "can be counted on this machine, the models of machines that can be simulated, or one of "
    "these with all its keys, values and sources."
    "\v"
    "Numbers may end in k, M, G (powers of 1000) or Ki, Mi, Gi (powers of 1024); bytes in KiB, "
    "MiB, GiB too; times in ns, us, ms, s.\n\n"
    "Example:\n  schedlab list variants\n  schedlab list sim:server64,cores=16\n\n"
    "Exit status: 0 done; 1 the list could not be read or written; 2 misused.",
    NULL,
    NULL,
    NULL};

/* What a user may write wrongly: status 2 for a specification, 1 for a model of ours. */
static int list_machines(const struct options *options)
{
    char error[2 * TEXT_SIZE];
    bool one = options->topic == TOPIC_MACHINE;
    json_t *json = NULL;
    if (options->format == FORMAT_JSON) {
        json = one ? list_machine_to_json(options->machine, error, sizeof error)
                   : list_machines_to_json(error, sizeof error);
    } else if (one ? list_machine_print(options->machine, error, sizeof error)
                   : list_machines_print(error, sizeof error)) {
        return EXIT_DONE;
    }
    if (!json && one)
        cli_misuse(options->command, "%s", error);
    if (!json) {
        fprintf(stderr, "%s: %s\n", options->command, error);
        return EXIT_FAILED;
    }
    if (!one)
        json = json_pack("{so}", "machines", json);
    json_dumpf(json, stdout, JSON_INDENT(2));
    putchar('\n');
    json_decref(json);
    return EXIT_DONE;
}

int cmd_list(int argc, char **argv)
{
    struct options options = {.command = argv[0], .topic = TOPIC_ALL};
    cli_parse(&argp, argc, argv, &options);
    if (options.format == FORMAT_WORDS) {
        list_words_print(stdout, topic_words);
        return EXIT_DONE;
    }
    if (options.topic == TOPIC_MACHINES || options.topic == TOPIC_MACHINE)
        return list_machines(&options);
    if (options.format == FORMAT_JSON) {
        print_json(options.topic);
        return EXIT_DONE;
    }
    if (options.topic == TOPIC_ALL || options.topic == TOPIC_VARIANTS)
        print_variants();
    if (options.topic == TOPIC_ALL)
        putchar('\n');
    if (options.topic == TOPIC_ALL || options.topic == TOPIC_WORKLOADS)
        print_workloads();
    if (options.topic == TOPIC_KNOBS)
        print_knobs();
    if (options.topic == TOPIC_EVENTS)
        print_events();
    return EXIT_DONE;
}
