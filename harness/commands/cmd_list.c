/* cmd_list.c - `schedlab list`: all names a line each, all of a kind, or one name whole.
 *
 * Everything printed comes from the tables that the parsers use, and from the files of experiments
 * and sweeps, so it cannot be out of date.
 */
#include "harness/base/memory.h"
#include "harness/base/suggest.h"
#include "harness/commands/commands.h"
#include "harness/host/data_folder.h"
#include "harness/list/list_json.h"
#include "harness/list/list_machines.h"
#include "harness/list/list_name.h"
#include "harness/list/list_topics.h"
#include "harness/list/list_words.h"
#include "harness/options/cli.h"

#include <stdio.h>
#include <string.h>

enum topic {
    TOPIC_ALL,
    TOPIC_VARIANTS,
    TOPIC_PRESETS,
    TOPIC_WORKLOADS,
    TOPIC_KNOBS,
    TOPIC_EVENTS,
    TOPIC_MACHINES,
    TOPIC_MACHINE, /* one, by its specification */
    TOPIC_NAME,    /* one of any other kind */
};
static const char *const topic_words[] = {"all",   "variants", "presets",  "workloads",
                                          "knobs", "events",   "machines", NULL};
enum format { FORMAT_TABLE, FORMAT_JSON, FORMAT_WORDS };
static const char *const format_words[] = {"table", "json", "words", NULL};

struct options {
    enum topic topic;
    const char *name; /* of TOPIC_MACHINE and TOPIC_NAME */
    int format;       /* enum format */
};

static enum topic topic_of(const char *word)
{
    for (int i = 0; topic_words[i]; i++)
        if (strcmp(topic_words[i], word) == 0)
            return (enum topic)i;
    return strncmp(word, "sim:", 4) == 0 ? TOPIC_MACHINE : TOPIC_NAME;
}

static void argument_take(void *to, char *text)
{
    struct options *options = to;
    if (options->name)
        cli_misuse("one topic or name at a time, found \"%s\" as a second one", text);
    options->name = text;
    options->topic = topic_of(text);
}

static const struct cli_option option_table[] = {
    {"format", "FORMAT",
     "table (default), json, or words: all names, whatever the topic, for the completion of a "
     "shell",
     CLI(WORD, format), .letter = 'f', .words = format_words},
    {0},
};

static const struct cli_command cli = {
    .options = option_table,
    .arguments =
        "[all|variants|presets|workloads|knobs|events|machines|sim:MODEL[,KEY=VALUE]...|NAME]",
    .argument = argument_take,
    .help = "Lists what can be named on the command line and in sweep files. Without an argument: "
            "every variant, preset and workload. A topic lists all of one kind. Presets come with "
            "what they leave out of the original, and knobs by group, decisive ones first. Events "
            "are those that can be counted on this machine; machines are the models that can be "
            "simulated, or all keys of one. NAME explains one variant, preset, workload, knob, "
            "parameter or event: its meaning, default, range and source, the experiments that vary "
            "it, the events that a knob moves, and an example.\v"
            "Numbers may end in k, M, G (powers of 1000) or Ki, Mi, Gi (powers of 1024); bytes in "
            "KiB, MiB, GiB too; times in ns, us, ms, s. A workload's may be per worker, as in "
            "uneven,tasks=1k/worker.\n\n"
            "Example:\n  schedlab list gmp\n  schedlab list tick\n  schedlab list STEALS\n"
            "  schedlab list sim:server64,cores=16\n\n"
            "Exit status: 0 done; 1 the list could not be read or written; 2 misused.",
};

static int print_json(json_t *json)
{
    cli_print_json(json, 0);
    return EXIT_DONE;
}

/* Machines ------------------------------------------------------------------------------------- */

/* Ends with status 2 for a specification that is wrong, with 1 for a model of ours. */
static int list_machines(const struct options *options)
{
    struct error error;
    struct list_page page = list_page_make();
    bool one = options->topic == TOPIC_MACHINE;
    json_t *json = NULL;
    if (options->format == FORMAT_JSON) {
        json = one ? list_machine_to_json(options->name, &error) : list_machines_to_json(&error);
    } else if (one ? list_machine_print(&page, options->name, &error)
                   : list_machines_print(&page, &error)) {
        return EXIT_DONE;
    }
    if (!json && one)
        cli_misuse("%s", error.text);
    if (!json)
        return cli_fail("%s", error.text);
    return print_json(one ? json : json_pack("{so}", "machines", json));
}

/* One name ------------------------------------------------------------------------------------- */

/* Names the nearest of all topics and names, those of machines included. */
static _Noreturn void refuse_name(const struct options *options)
{
    struct error error;
    struct suggest suggest = suggest_for(options->name);
    if (strchr(options->name, ','))
        cli_misuse("\"%s\" has settings; valid is a name without, \"%.*s\"", options->name,
                   (int)strcspn(options->name, ","), options->name);
    char **machines = data_folder_names("machines", &error);
    for (const char *const *word = topic_words; *word; word++)
        suggest_offer(&suggest, *word);
    list_names_offer(&suggest);
    for (char **machine = machines; machine && *machine; machine++)
        suggest_offer(&suggest, text_format("sim:%s", *machine)); /* the process ends here */
    if (suggest.near)
        cli_misuse("nothing is called \"%s\"; %s", options->name, suggest_text(&suggest, "", "").s);
    cli_misuse("nothing is called \"%s\"; valid: all, variants, presets, workloads, knobs, events, "
               "machines, or a name that these list; `schedlab repro --list` has the experiments",
               options->name);
}

static int list_name(const struct options *options)
{
    struct error error;
    json_t *json = list_name_to_json(options->name, &error);
    if (!json)
        return cli_fail("%s", error.text);
    if (json_array_size(json_object_get(json, "roles")) == 0)
        refuse_name(options);
    if (options->format == FORMAT_JSON)
        return print_json(json);
    struct list_page page = list_page_make();
    list_name_print(&page, json);
    json_decref(json);
    return EXIT_DONE;
}

/* Topics --------------------------------------------------------------------------------------- */

static json_t *topic_to_json(enum topic topic)
{
    json_t *object = json_object();
    if (topic == TOPIC_ALL || topic == TOPIC_VARIANTS)
        json_object_set_new(object, "variants", list_variants_to_json());
    if (topic == TOPIC_ALL || topic == TOPIC_VARIANTS || topic == TOPIC_PRESETS)
        json_object_set_new(object, "presets", list_presets_to_json());
    if (topic == TOPIC_ALL || topic == TOPIC_WORKLOADS)
        json_object_set_new(object, "workloads", list_workloads_to_json());
    if (topic == TOPIC_KNOBS)
        json_object_set_new(object, "knobs", list_knobs_to_json());
    if (topic == TOPIC_ALL || topic == TOPIC_VARIANTS || topic == TOPIC_KNOBS)
        json_object_set_new(object, "common", list_table_to_json(variant_common_params));
    if (topic == TOPIC_EVENTS)
        json_object_set_new(object, "events", list_events_to_json());
    return object;
}

static int list_topic(enum topic topic)
{
    static void (*const print[])(const struct list_page *page) = {
        [TOPIC_ALL] = list_all_print,         [TOPIC_VARIANTS] = list_variants_print,
        [TOPIC_PRESETS] = list_presets_print, [TOPIC_WORKLOADS] = list_workloads_print,
        [TOPIC_KNOBS] = list_knobs_print,     [TOPIC_EVENTS] = list_events_print,
    };
    struct list_page page = list_page_make();
    print[topic](&page);
    return EXIT_DONE;
}

int cmd_list(int argc, char **argv)
{
    struct options options = {.topic = TOPIC_ALL};
    cli_read(&cli, argc, argv, &options);
    if (options.format == FORMAT_WORDS) {
        list_words_print(stdout, topic_words);
        return EXIT_DONE;
    }
    if (options.topic == TOPIC_MACHINES || options.topic == TOPIC_MACHINE)
        return list_machines(&options);
    if (options.topic == TOPIC_NAME)
        return list_name(&options);
    if (options.format == FORMAT_JSON)
        return print_json(topic_to_json(options.topic));
    return list_topic(options.topic);
}
