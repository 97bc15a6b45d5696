/* cmd_bench.c - `schedlab bench`: what counting costs, and each operation over its floor. */
#include "harness/bench.h"
#include "harness/cli.h"
#include "harness/commands.h"
#include "harness/micro/micro.h"
#include "harness/run_folder.h"

#include <argp.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { ERROR_SIZE = 16384, KEY_COUNTING = 0x100, KEY_MICRO };

static const char *const format_words[] = {"table", "json", NULL};

struct options {
    const char *command, *counting, *micro;
    bool json;
};

static const struct argp_option option_table[] = {
    {"counting", KEY_COUNTING, "RUN_DIR", 0,
     "A run of harness/sweeps/bench-counters.yaml: what counting costs", 0},
    {"micro", KEY_MICRO, "FILE", 0,
     "What `schedlab micro --benchmark_out=FILE` wrote: operations over their floors", 0},
    {"format", 'f', "FORMAT", 0, "table (default) or json", 0},
    {0},
};

static const char argp_doc[] =
    "Print ratios of medians, each of things that were measured in one interleaved run; `make "
    "bench` measures and prints both kinds."
    "\v"
    "claim: counting costs 2 % at most. It holds if the whole interval says so, is broken if none "
    "of it does, else open: more repetitions, or a quieter machine, would tell. class says which "
    "samples are compared: those of one mood of the machine, without disturbed ones; where it is "
    "mixed nothing can be claimed.\n\n"
    "Example:\n"
    "  schedlab bench --micro build/micro.json\n\n"
    "Exit status: 0 done, whatever the claim's state; 1 it cannot be read, or "
    "there is nothing to compare in it; 2 misused.";

static void check_run(const struct options *options, const char *folder)
{
    char error[ERROR_SIZE];
    if (run_folder_is_run(folder))
        return;
    run_folder_explain(folder, error, sizeof error);
    cli_misuse(options->command, "--counting=%s", error);
}

/* A folder can be opened, and fails when it is read. */
static void check_file(const struct options *options, const char *path)
{
    FILE *file = fopen(path, "re");
    if (!file || (fgetc(file) == EOF && ferror(file)))
        cli_misuse(options->command,
                   "--micro=%s: %s; valid: what `schedlab micro --benchmark_out=FILE` wrote", path,
                   strerror(errno));
    fclose(file);
}

static error_t option_parse(int key, char *arg, struct argp_state *state)
{
    struct options *options = state->input;
    switch (key) {
    case KEY_COUNTING:
        check_run(options, arg);
        options->counting = arg;
        break;
    case KEY_MICRO:
        check_file(options, arg);
        options->micro = arg;
        break;
    case 'f':
        options->json = cli_word(options->command, "format", arg, format_words) == 1;
        break;
    case ARGP_KEY_ARG:
        cli_misuse(options->command, "\"%s\" is no option; valid: --counting, --micro", arg);
    case ARGP_KEY_END:
        if (!options->counting && !options->micro)
            cli_misuse(options->command,
                       "one of --counting=RUN_DIR and --micro=FILE must be given");
        break;
    default:
        return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

static const struct argp argp = {option_table, option_parse, NULL, argp_doc, NULL, NULL, NULL};

static const char *floor_of(const char *benchmark)
{
    const struct micro_op *op = micro_op_find(benchmark);
    return op ? op->floor : NULL;
}

/* Takes ratios. */
static void show(const struct options *options, json_t *whole, const char *key, const char *title,
                 json_t *ratios)
{
    if (!options->json) {
        if (json_object_size(whole) > 0)
            putchar('\n');
        bench_print(stdout, title, ratios);
    }
    json_object_set_new(whole, key, ratios);
}

int cmd_bench(int argc, char **argv)
{
    struct options options = {.command = argv[0]};
    char error[ERROR_SIZE];
    cli_parse(&argp, argc, argv, &options);
    json_t *whole = json_object(), *ratios;
    int status = EXIT_DONE;
    if (options.counting) {
        if ((ratios = bench_counting(options.counting, error, sizeof error)))
            show(&options, whole, "counting", "time with events over time without", ratios);
        else
            status = EXIT_FAILED;
    }
    if (options.micro && status == EXIT_DONE) {
        if ((ratios = bench_operations(options.micro, floor_of, error, sizeof error)))
            show(&options, whole, "operations", "time of an operation over its floor", ratios);
        else
            status = EXIT_FAILED;
    }
    if (status != EXIT_DONE)
        fprintf(stderr, "%s: %s\n", options.command, error);
    else if (options.json)
        json_dumpf(whole, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(6));
    if (options.json && status == EXIT_DONE)
        putchar('\n');
    json_decref(whole);
    return status;
}
