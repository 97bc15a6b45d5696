/* cmd_micro.c - `schedlab micro`: what single operations of the runtime cost, by Google Benchmark.
 *
 * The library's flags are options like others here, so that a misspelt one gets the nearest; what
 * is valid is handed to the library as it was typed.
 */
#include "harness/base/build_info.h"
#include "harness/base/memory.h"
#include "harness/base/text.h"
#include "harness/commands/commands.h"
#include "harness/counters/counter_names.h"
#include "harness/host/topology.h"
#include "harness/micro/micro.h"
#include "harness/options/cli.h"
#include "harness/spec/spec.h"

#include <argp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FLAG_SIZE = 64, CPUS_MAX = 1024 };

struct options {
    char **flags; /* for the library, NULL-terminated */
    size_t flag_count;
    struct variant_spec *variants;
    size_t variant_count;
    const char *events;
    bool medians;
};

/* Options ------------------------------------------------------------------------------------- */

enum value_kind {
    VALUE_BOOL,
    VALUE_COUNT,
    VALUE_SECONDS,
    VALUE_MIN_TIME,
    VALUE_TEXT,
    VALUE_WORD,
    VALUE_PAIRS
};

static const char *const bool_words[] = {"true", "false", "yes", "no", "on", "off", "1", "0", NULL};
static const char *const color_words[] = {"auto", "true", "false", "yes", "no", NULL};
static const char *const output_words[] = {"console", "json", "csv", NULL};
static const char *const unit_words[] = {"ns", "us", "ms", "s", NULL};
static const char *const format_words[] = {"table", "json", "csv", NULL};

/* The library's flags; the key is FLAG_KEY plus the index. */
static const struct flag {
    const char *name;
    enum value_kind kind;
    const char *const *words; /* valid ones */
    const char *value, *help; /* value: what --help calls it, where it is no bool */
} flags[] = {
    {"benchmark_filter", VALUE_TEXT, NULL, "REGEX",
     "Run the benchmarks whose names match; -REGEX: the others"},
    {"benchmark_list_tests", VALUE_BOOL, NULL, NULL, "Only print the names"},
    {"benchmark_min_time", VALUE_MIN_TIME, NULL, "SECONDS",
     "Least time of a repetition (default 0.5)"},
    {"benchmark_min_warmup_time", VALUE_SECONDS, NULL, "SECONDS", "Untimed before it (default 0)"},
    {"benchmark_repetitions", VALUE_COUNT, NULL, "N", "Repetitions (default 1)"},
    {"benchmark_dry_run", VALUE_BOOL, NULL, NULL, "One iteration, one repetition (since 1.9)"},
    {"benchmark_enable_random_interleaving", VALUE_BOOL, NULL, NULL,
     "Repetitions of all benchmarks in random order (default here: true)"},
    {"benchmark_report_aggregates_only", VALUE_BOOL, NULL, NULL, "No single repetitions anywhere"},
    {"benchmark_display_aggregates_only", VALUE_BOOL, NULL, NULL,
     "No single repetitions in the table"},
    {"benchmark_format", VALUE_WORD, output_words, "FORMAT", "console, json or csv"},
    {"benchmark_out", VALUE_TEXT, NULL, "FILE", "Also write the results to FILE"},
    {"benchmark_out_format", VALUE_WORD, output_words, "FORMAT",
     "of FILE: json (default), console or csv"},
    {"benchmark_color", VALUE_WORD, color_words, "WORD", "auto, true or false"},
    {"benchmark_counters_tabular", VALUE_BOOL, NULL, NULL, "Counters as columns of the table"},
    {"benchmark_perf_counters", VALUE_TEXT, NULL, "A,B",
     "libpfm events, where the library was built with it"},
    {"benchmark_context", VALUE_PAIRS, NULL, "KEY=VALUE,...",
     "Added to the context of the results"},
    {"benchmark_time_unit", VALUE_WORD, unit_words, "UNIT", "ns (default), us, ms or s"},
    {"v", VALUE_COUNT, NULL, "N", "How much the library says about itself"},
};

enum { FLAGS = sizeof flags / sizeof flags[0], FLAG_KEY = 0x200, KEY_LIST = 0x100, KEY_MEDIANS };

static const struct argp_option own_options[] = {
    {"list", KEY_LIST, NULL, 0, "Only print the names (as --benchmark_list_tests)", 1},
    {"format", 'f', "FORMAT", 0, "table (default), json or csv (as --benchmark_format)", 1},
    {"events", 'e', "A,B,C", 0,
     "Count these per operation, as `run` does, or none (default); `schedlab list events`", 1},
    {"medians", KEY_MEDIANS, NULL, 0, "Show the median of the repetitions, and nothing else", 1},
    {NULL, 0, NULL, 0, "Google Benchmark's own:", 2},
};

enum { OWN_OPTIONS = sizeof own_options / sizeof own_options[0] };

static const char argp_doc[] =
    "Measure single operations: queues, deques, locks, switches, channels, spawns, wake-ups, and "
    "the bare operations of the machine below them (floor/...). Operations that need a scheduler "
    "run on each VARIANT, on every one if none is named.\v"
    "A queue from outside the tree (examples/locked.c) is timed by itself too: queue/put, "
    "queue/get and queue/steal of ./locked.slv stand beside those of gmp's ring, in one run.\n\n"
    "Time is wall time per operation, less what reading the clock costs. CPU is that of the "
    "thread; names that end in process_time have it of all threads of the process, less what "
    "reading its clock costs. Where one thread waits for another, as in wake-ups and contended "
    "locks, it is of both of them and of the waits too, so that it may be above Time. A benchmark "
    "that finds its own result wrong shows the reason in place of a time. Full names, as in files "
    "and --list, say how time was taken; a filter may leave that out. They end in /manual_time "
    "where the benchmark timed sections of its own. /process_time stands before that where CPU is "
    "that of the whole process.\n\n"
    "Example:\n"
    "  schedlab micro gmp kthread --benchmark_filter='^(switch|floor/ctx)' \\\n"
    "      --benchmark_repetitions=5\n"
    "  schedlab micro ./locked.slv --benchmark_filter=^queue/\n\n"
    "Exit status: 0 done; 1 a result was wrong, or could not be written; 2 misused.";

static void flag_add(struct options *options, const char *name, const char *value)
{
    options->flags = xrealloc(options->flags, (options->flag_count + 2) * sizeof *options->flags);
    options->flags[options->flag_count++] = text_format("--%s=%s", name, value);
    options->flags[options->flag_count] = NULL;
}

/* Seconds, not negative; with `min_time` also "0.5s" and a count of iterations, "100x". */
static void check_seconds(const struct flag *flag, const char *text)
{
    char *end;
    bool min_time = flag->kind == VALUE_MIN_TIME;
    double seconds = strtod(text, &end);
    if (min_time && (*end == 's' || *end == 'x') && end > text)
        end++;
    if (end == text || *end || !(seconds >= 0 && seconds <= 86400))
        cli_misuse("--%s=%s is not valid; valid: 0 to 86400 seconds%s", flag->name, text,
                   min_time ? ", or a count of iterations as in 100x" : "");
}

/* KEY=VALUE,KEY=VALUE; the library takes a value up to the next comma or "=". */
static void check_pairs(const struct flag *flag, const char *text)
{
    for (const char *at = text; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL) {
        size_t key = strcspn(at, "=,"), pair = strcspn(at, ",");
        if (key == 0 || at[key] != '=' || memchr(at + key + 1, '=', pair - key - 1))
            cli_misuse("--%s=%s is not valid; valid: KEY=VALUE,KEY=VALUE,...", flag->name, text);
    }
}

static void flag_take(struct options *options, const struct flag *flag, const char *value)
{
    if (!value)
        value = "true"; /* of a bool */
    if (flag->kind == VALUE_BOOL)
        cli_word(flag->name, value, bool_words);
    if (flag->kind == VALUE_WORD)
        cli_word(flag->name, value, flag->words);
    if (flag->kind == VALUE_COUNT)
        cli_number(flag->name, value, *flag->name == 'v' ? 0 : 1, 1000000, "");
    if (flag->kind == VALUE_PAIRS)
        check_pairs(flag, value);
    if (flag->kind == VALUE_SECONDS || flag->kind == VALUE_MIN_TIME)
        check_seconds(flag, value);
    flag_add(options, flag->name, value);
}

static void variant_add(struct options *options, const char *text)
{
    struct error error;
    struct variant_spec spec;
    if (!scheduler_spec_parse(&spec, text, &error))
        cli_misuse("%s", error.text);
    for (size_t i = 0; i < options->variant_count; i++)
        if (strcmp(options->variants[i].text, spec.text) == 0)
            cli_misuse("the variant \"%s\" is given twice", spec.text);
    array_add(options->variants, options->variant_count) = spec;
}

static void events_take(struct options *options, const char *text)
{
    struct error error;
    if (!counter_list_check(text, &error))
        cli_misuse("%s", error.text);
    options->events = text;
}

static error_t option_parse(int key, char *arg, struct argp_state *state)
{
    static const char *const formats[] = {"console", "json", "csv"};
    struct options *options = state->input;
    if (key >= FLAG_KEY && key < FLAG_KEY + FLAGS) {
        flag_take(options, &flags[key - FLAG_KEY], arg);
        return 0;
    }
    switch (key) {
    case KEY_LIST:
        flag_add(options, "benchmark_list_tests", "true");
        break;
    case KEY_MEDIANS:
        options->medians = true;
        break;
    case 'f':
        flag_add(options, "benchmark_format", formats[cli_word("format", arg, format_words)]);
        break;
    case 'e':
        events_take(options, arg);
        break;
    case ARGP_KEY_ARG:
        variant_add(options, arg);
        break;
    default:
        return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

static void options_read(int argc, char **argv, struct options *options)
{
    struct argp_option rows[OWN_OPTIONS + FLAGS + 1] = {{0}};
    memcpy(rows, own_options, sizeof own_options);
    for (int i = 0; i < FLAGS; i++)
        rows[OWN_OPTIONS + i] =
            (struct argp_option){flags[i].name,
                                 FLAG_KEY + i,
                                 flags[i].value ? flags[i].value : "BOOL",
                                 flags[i].kind == VALUE_BOOL ? OPTION_ARG_OPTIONAL : 0,
                                 flags[i].help,
                                 2};
    const struct argp argp = {rows, option_parse, "[VARIANT...]", argp_doc, NULL, NULL, NULL};
    cli_parse(&argp, argc, argv, options);
}

/* Running ------------------------------------------------------------------------------------- */

static void variants_complete(struct options *options)
{
    if (options->variant_count > 0)
        return;
    for (size_t i = 0; sched_variants[i]; i++)
        variant_add(options, sched_variants[i]->name);
}

static void options_free(struct options *options)
{
    texts_free(options->flags, options->flag_count);
    for (size_t i = 0; i < options->variant_count; i++)
        variant_spec_free(&options->variants[i]);
    free(options->variants);
}

/* The cores, in the order in which samples take them too. */
static bool take_cores(void)
{
    int cpus[CPUS_MAX];
    int error = machine_init(cpus, topology_pick_cpus(cpus, CPUS_MAX));
    if (error)
        cli_say("cannot use the cores: %s", strerror(-error));
    return !error;
}

/* Suggests the operation that the filter's first name may have meant. If the whole name is like
 * none, its part before a slash is tried. */
static void misuse_filter(const char *error)
{
    static const char prefix[] = "--benchmark_filter=";
    char word[FLAG_SIZE], nearest[SUGGEST_TEXT_SIZE] = "";
    const char *text =
        strncmp(error, prefix, sizeof prefix - 1) == 0 ? error + sizeof prefix - 1 : error;
    text += strspn(text, "-^(");
    snprintf(word, sizeof word, "%.*s", (int)strcspn(text, " ^$.*+?()[]{}|\\"), text);
    for (bool more = true; more && !*nearest;) {
        struct suggest near = suggest_for(word);
        micro_offer_names(&near);
        if (near.near)
            snprintf(nearest, sizeof nearest, "the nearest operation is \"%s\"; ", near.best);
        char *slash = strrchr(word, '/');
        more = slash != NULL;
        if (more)
            *slash = '\0';
    }
    cli_misuse("%s; %s--list names all", error, nearest);
}

static int run(struct options *options)
{
    struct error error;
    if (!take_cores())
        return EXIT_FAILED;
    micro_register(options->variants, options->variant_count, options->events);
    gbench_context("schedlab", build_revision());
    enum gbench_end end =
        gbench_run(cli_name(), (const char *const *)options->flags, options->medians, &error);
    if (end == GBENCH_UNMATCHED)
        misuse_filter(error.text);
    if (end == GBENCH_MISUSED)
        cli_misuse("%s", error.text);
    if (*error.text)
        cli_say("%s", error.text);
    return end == GBENCH_FAILED ? EXIT_FAILED : EXIT_DONE;
}

int cmd_micro(int argc, char **argv)
{
    struct options options = {.flags = xcalloc(1, sizeof *options.flags)};
    options_read(argc, argv, &options);
    variants_complete(&options);
    int status = run(&options);
    options_free(&options);
    return status;
}
