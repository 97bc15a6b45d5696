/* cmd_doctor.c - `schedlab doctor`: what this machine can count, and what disturbs measuring. */
#include "harness/commands/commands.h"
#include "harness/doctor/doctor.h"
#include "harness/doctor/environment.h"
#include "harness/host/topology.h"
#include "harness/options/cli.h"

#include <stdbool.h>
#include <stdio.h>

enum { CPUS_MAX = 4096, MS_NS = 1000000 };

struct options {
    const char *results;
    int cores;
    int64_t watch_ns;
    bool json, strict;
};

static const struct cli_option option_table[] = {
    {"format", "FORMAT", "table (default) or json", CLI(JSON, json)},
    {"strict", NULL, "Exit with 1 if anything is a warning", CLI(FLAG, strict)},
    {"cores", "N",
     "Measure the distance between each pair of this many cores, 10 ms a pair (default 8; 0 or 1: "
     "none)",
     CLI(INT, cores), .most = DOCTOR_LINE_CORES_MAX},
    {"watch", "TIME",
     "How long to watch for steal and other programs, ms without a unit (default 200 ms)",
     CLI(TIME, watch_ns), .least = MS_NS, .most = 60000.0 * MS_NS},
    {"results", "DIR", "Whose disk must have room (default: results)", CLI(TEXT, results)},
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

static const struct cli_command cli = {.options = option_table, .help = argp_doc};

int cmd_doctor(int argc, char **argv)
{
    static int cpus[CPUS_MAX];
    struct options options = {.results = "results",
                              .cores = DOCTOR_LINE_CORES,
                              .watch_ns = (int64_t)DOCTOR_WINDOW_MS * MS_NS};
    struct doctor doctor;
    cli_read(&cli, argc, argv, &options);
    json_t *counting = environment_counting_to_json();
    struct doctor_request request = {
        .machine = &doctor_machine_native,
        .cpus = cpus,
        .cpus_count = topology_pick_cpus(cpus, CPUS_MAX),
        .counting = counting,
        .line_cores = options.cores,
        .window_ms = (int)(options.watch_ns / MS_NS),
        .results = options.results,
        .names = true,
    };
    doctor_look(&doctor, &request);
    json_decref(counting);
    if (options.json)
        cli_print_json(doctor_to_json(&doctor), 6);
    else
        doctor_print(&doctor, stdout, cli_wants_colour());
    bool warned = doctor_count(&doctor, DOCTOR_WARN) > 0;
    doctor_free(&doctor);
    return options.strict && warned ? EXIT_FAILED : EXIT_DONE;
}
