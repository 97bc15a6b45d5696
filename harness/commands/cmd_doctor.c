/* cmd_doctor.c - `schedlab doctor`: what this machine can count, and what disturbs measuring. */
#include "harness/commands/cli.h"
#include "harness/commands/commands.h"
#include "harness/doctor/doctor.h"
#include "harness/doctor/environment.h"
#include "harness/host/topology.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CPUS_MAX = 4096, KEY_FORMAT = 0x100, KEY_STRICT, KEY_CORES, KEY_WATCH, KEY_RESULTS };

static const char *const format_words[] = {"table", "json", NULL};

struct options {
    const char *results;
    int cores, watch_ms;
    bool json, strict;
};

static const struct argp_option argp_options[] = {
    {"format", KEY_FORMAT, "FORMAT", 0, "table (default) or json", 0},
    {"strict", KEY_STRICT, NULL, 0, "Exit with 1 if anything is a warning", 0},
    {"cores", KEY_CORES, "N", 0,
     "Measure the distance between each pair of this many cores, 10 ms a pair (default 8; 0 or 1: "
     "none)",
     0},
    {"watch", KEY_WATCH, "TIME", 0,
     "How long to watch for steal and other programs, ms without a unit (default 200 ms)", 0},
    {"results", KEY_RESULTS, "DIR", 0, "Whose disk must have room (default: results)", 0},
    {0},
};

static const char argp_doc[] =
    "Tell what this machine can count, and what on it disturbs measuring. Changes nothing.\v"
    "Each finding has a level: warn (it will show in results), note (know it when you read them), "
    "unknown (the machine does not tell) or ok. Beside it stands how it affects measurements and, "
    "if there is one, the command that would change it. sweep keeps the findings in "
    "environment.json of each run. docs/MEASURING.md says more.\n\n"
    "Example:\n"
    "  schedlab doctor --strict && schedlab sweep harness/sweeps/default.yaml\n\n"
    "Exit status: 0 done, whatever was found; 1 failed, or a warning with --strict; 2 misused.";

static error_t option_parse(int key, char *arg, struct argp_state *state)
{
    enum { WATCH_MS_MAX = 60000, MS_NS = 1000000 };
    struct options *options = state->input;
    switch (key) {
    case KEY_FORMAT:
        options->json = cli_word(state->name, "format", arg, format_words) == 1;
        break;
    case KEY_STRICT:
        options->strict = true;
        break;
    case KEY_CORES:
        options->cores = (int)cli_number(state->name, "cores", arg, 0, DOCTOR_LINE_CORES_MAX, "");
        break;
    case KEY_WATCH:
        options->watch_ms =
            (int)(cli_time_ns(state->name, "watch", arg, MS_NS, (int64_t)WATCH_MS_MAX * MS_NS) /
                  MS_NS);
        break;
    case KEY_RESULTS:
        options->results = arg;
        break;
    case ARGP_KEY_ARG:
        cli_misuse(state->name, "found \"%s\"; doctor takes options only, see --help", arg);
    default:
        return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

int cmd_doctor(int argc, char **argv)
{
    static const struct argp argp = {argp_options, option_parse, NULL, argp_doc, NULL, NULL, NULL};
    static int cpus[CPUS_MAX];
    struct options options = {
        .results = "results", .cores = DOCTOR_LINE_CORES, .watch_ms = DOCTOR_WINDOW_MS};
    struct doctor doctor;
    cli_parse(&argp, argc, argv, &options);
    json_t *counting = environment_counting_to_json();
    struct doctor_request request = {
        .machine = &doctor_machine_native,
        .cpus = cpus,
        .cpus_count = topology_pick_cpus(cpus, CPUS_MAX),
        .counting = counting,
        .line_cores = options.cores,
        .window_ms = options.watch_ms,
        .results = options.results,
        .names = true,
    };
    doctor_look(&doctor, &request);
    json_decref(counting);
    if (options.json) {
        json_t *json = doctor_to_json(&doctor);
        json_dumpf(json, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(6));
        putchar('\n');
        json_decref(json);
    } else {
        doctor_print(&doctor, stdout, cli_wants_colour());
    }
    bool warned = doctor_count(&doctor, DOCTOR_WARN) > 0;
    doctor_free(&doctor);
    return options.strict && warned ? EXIT_FAILED : EXIT_DONE;
}
