/* cmd_bench.c - `schedlab bench`: speed beside other runtimes and floors, what counting costs, and
 * each operation over its floor. */
#include "harness/audit/bench.h"
#include "harness/commands/commands.h"
#include "harness/micro/micro.h"
#include "harness/options/cli.h"
#include "harness/records/run_folder.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

struct options {
    const char *speed, *counting, *micro;
    int simulator; /* how many samples of each; 0: not asked for */
    bool json;
};

static const struct cli_option option_table[] = {
    {"speed", "RUN_DIR",
     "A run of harness/sweeps/peers.yaml: each variant beside the best peer and the floor",
     CLI(TEXT, speed)},
    {"counting", "RUN_DIR", "A run of harness/sweeps/bench-counters.yaml: what counting costs",
     CLI(TEXT, counting)},
    {"micro", "FILE",
     "What `schedlab micro --benchmark_out=FILE` wrote: operations over their floors",
     CLI(TEXT, micro)},
    {"simulator", "N",
     "Measure, N times in shuffled order, what the simulated machine costs over this one",
     CLI(INT, simulator), .least = 1, .most = 1000},
    {"format", "FORMAT", "table (default) or json", CLI(JSON, json), .letter = 'f'},
    {0},
};

static const char argp_doc[] =
    "Print ratios of medians, each of things that were measured in one interleaved run; `make "
    "bench` measures and prints all kinds.\v"
    "speed: above 1 a variant is faster than the best of the other runtimes. time / floor: how "
    "many times as long it takes as a hand-written program without a scheduler. These floors are "
    "bare stack switches, uncontended locks and plain calls (floor:core, serial), cache lines "
    "between two cores (floor:line), threads that the kernel wakes (floor:futex) and loops around "
    "epoll_wait() (floor:epoll). The fastest of them counts; the others' multiples of it say what "
    "these cost here and now.\n\n"
    "claim: counting costs 2 % at most. It holds if the whole interval says so, is broken if no "
    "part of it does, else open: more repetitions, or a quieter machine, would tell. Blocks end "
    "when the intervals are narrow enough (ended: width), whatever the ratio is, or at the most "
    "that the sweep allows (limit). If they ended as soon as a claim is decided, it would be "
    "decided wrongly too often. class says which samples are compared: those of one core distance, "
    "without disturbed ones; where it is mixed nothing can be claimed.\n\n"
    "simulator: a simulation's time is the CPU time of its process, start and all, for one call of "
    "run(); this machine's is the time of the call.\n\n"
    "Example:\n"
    "  schedlab bench --micro build/micro.json\n\n"
    "Exit status: 0 done, whatever the claim's state; 1 it cannot be read or measured, or there is "
    "nothing to compare in it; 2 misused.";

/* A folder can be opened, and fails when it is read. */
static void check_file(const char *path)
{
    FILE *file = fopen(path, "re");
    if (!file || (fgetc(file) == EOF && ferror(file)))
        cli_misuse("--micro=%s: %s; valid: what `schedlab micro --benchmark_out=FILE` wrote", path,
                   strerror(errno));
    fclose(file);
}

static void options_check(void *to)
{
    const struct options *options = to;
    if (!options->speed && !options->counting && !options->micro && !options->simulator)
        cli_misuse("one of --speed=RUN_DIR, --counting=RUN_DIR, --micro=FILE and --simulator=N "
                   "must be given");
    if (options->speed)
        cli_check_run("--speed=", options->speed);
    if (options->counting)
        cli_check_run("--counting=", options->counting);
    if (options->micro)
        check_file(options->micro);
}

static const struct cli_command cli = {
    .options = option_table,
    .help = argp_doc,
    .no_arguments = "--speed, --counting, --micro, --simulator",
    .check = options_check,
};

static const char *floor_of(const char *benchmark)
{
    const struct micro_op *op = micro_op_find(benchmark);
    return op ? op->floor : NULL;
}

/* The ratios of a run; NULL and one line in error. */
static json_t *run_ratios(const char *folder,
                          json_t *(*make)(const char *, struct record_flaws *, struct error *),
                          struct error *error)
{
    struct record_flaws flaws;
    json_t *ratios = make(folder, &flaws, error);
    if (ratios)
        run_folder_tell_flaws(folder, &flaws, cli_name(), stderr);
    return ratios;
}

enum kind { SPEED, COUNTING, MICRO, SIMULATOR, KINDS };
static const char *const keys[KINDS] = {"speed", "counting", "operations", "simulator"};
static const char *const titles[KINDS] = {[COUNTING] = "time with events over time without",
                                          [MICRO] = "time of an operation over its floor",
                                          [SIMULATOR] = "host's time of a simulation over that of"};

static json_t *ratios_of(const struct options *options, enum kind kind, struct error *error)
{
    if (kind == SPEED)
        return run_ratios(options->speed, bench_speed, error);
    if (kind == COUNTING)
        return run_ratios(options->counting, bench_counting, error);
    return kind == MICRO ? bench_operations(options->micro, floor_of, error)
                         : bench_simulator((unsigned)options->simulator, error);
}

/* Adds to whole, and prints, what was asked for. */
static int show(const struct options *options, json_t *whole, struct error *error)
{
    const bool asked[] = {options->speed, options->counting, options->micro, options->simulator};
    for (enum kind kind = 0; kind < KINDS; kind++) {
        json_t *ratios = asked[kind] ? ratios_of(options, kind, error) : NULL;
        if (asked[kind] && !ratios)
            return EXIT_FAILED;
        if (!asked[kind])
            continue;
        if (!options->json && json_object_size(whole) > 0)
            putchar('\n');
        if (!options->json && kind == SPEED)
            bench_speed_print(stdout, ratios);
        else if (!options->json)
            bench_print(stdout, titles[kind], ratios);
        json_object_set_new(whole, keys[kind], ratios);
    }
    return EXIT_DONE;
}

int cmd_bench(int argc, char **argv)
{
    struct options options = {0};
    struct error error;
    cli_read(&cli, argc, argv, &options);
    json_t *whole = json_object();
    int status = show(&options, whole, &error);
    if (status != EXIT_DONE)
        cli_fail("%s", error.text);
    else if (options.json)
        cli_print_json(json_incref(whole), 6);
    json_decref(whole);
    return status;
}
