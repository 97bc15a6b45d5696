/* cmd_validate.c - `schedlab validate`: what `make validate` has measured, as claims. */
#include "harness/audit/validate.h"
#include "harness/base/files.h"
#include "harness/commands/cli.h"
#include "harness/commands/commands.h"

#include <argp.h>
#include <stdio.h>

enum { ERROR_SIZE = 4096, PATH_SIZE = 4096 };
enum {
    KEY_FORMULAS = 0x100,
    KEY_MISSES,
    KEY_NATIVE,
    KEY_SIMULATED,
    KEY_CURVES,
    KEY_TABLES,
    KEY_OUTPUT
};

struct options {
    const char *command, *formulas, *misses, *native, *simulated, *curves, *tables, *output;
};

static const struct argp_option option_table[] = {
    {"formulas", KEY_FORMULAS, "FILE", 0, "What `sim_formulas --json FILE` wrote", 0},
    {"misses", KEY_MISSES, "FILE", 0, "What harness/audit/validate_cachegrind.sh wrote", 0},
    {"native", KEY_NATIVE, "RUN_DIR", 0, "A run of harness/sweeps/validate.yaml on this machine",
     0},
    {"simulated", KEY_SIMULATED, "RUN_DIR", 0, "The same on the model that calibrate wrote", 0},
    {"curves", KEY_CURVES, "RUN_DIR", 0, "A run of harness/sweeps/validate-curves.yaml", 0},
    {"tables", KEY_TABLES, "FILE", 0, "The repro.json of `schedlab repro E10 E13 --machine sim`",
     0},
    {"output", KEY_OUTPUT, "DIR", 0, "Where claims.json and the tables for figures go", 0},
    {0},
};

static const char argp_doc[] =
    "Print, claim by claim, whether the simulated machine agrees with closed formulas, with "
    "valgrind's caches, with this machine and with published curves; `make validate` measures all "
    "of it first (docs/VALIDATION.md)."
    "\v"
    "Exit status: 0 done, whether or not claims hold; 1 something cannot be read or written; 2 "
    "misused.";

static error_t option_parse(int key, char *arg, struct argp_state *state)
{
    struct options *options = state->input;
    const char **at = key == KEY_FORMULAS    ? &options->formulas
                      : key == KEY_MISSES    ? &options->misses
                      : key == KEY_NATIVE    ? &options->native
                      : key == KEY_SIMULATED ? &options->simulated
                      : key == KEY_CURVES    ? &options->curves
                      : key == KEY_TABLES    ? &options->tables
                      : key == KEY_OUTPUT    ? &options->output
                                             : NULL;
    if (at)
        *at = arg;
    else if (key == ARGP_KEY_ARG)
        cli_misuse(options->command, "\"%s\" is no option; valid: see --help", arg);
    else if (key == ARGP_KEY_END && (!options->output || !options->native != !options->simulated))
        cli_misuse(options->command,
                   "--output=DIR must be given, and --native and --simulated together");
    else if (key != ARGP_KEY_END)
        return ARGP_ERR_UNKNOWN;
    return 0;
}

static const struct argp argp = {option_table, option_parse, NULL, argp_doc, NULL, NULL, NULL};

/* Prints the part and adds it to whole; false if there is none. */
static bool part_add(json_t *whole, const char *key, const char *title, json_t *claims)
{
    if (!claims)
        return false;
    validate_print(stdout, title, claims);
    json_object_set_new(whole, key, claims);
    return true;
}

static bool parts_add(json_t *whole, const struct options *options, char *error)
{
    const char *out = options->output;
    return (!options->misses ||
            part_add(whole, "misses", "One core beside valgrind's caches",
                     validate_misses(options->misses, out, error, ERROR_SIZE))) &&
           (!options->formulas ||
            part_add(whole, "formulas", "Closed formulas",
                     validate_formulas(options->formulas, out, error, ERROR_SIZE))) &&
           (!options->native || part_add(whole, "native", "This machine beside its model",
                                         validate_native(options->native, options->simulated, out,
                                                         error, ERROR_SIZE))) &&
           (!options->curves ||
            part_add(whole, "curves", "Published curves, on sim:server64",
                     validate_curves(options->curves, out, error, ERROR_SIZE))) &&
           (!options->tables || part_add(whole, "tables", "Tables of exact numbers",
                                         validate_tables(options->tables, out, error, ERROR_SIZE)));
}

int cmd_validate(int argc, char **argv)
{
    struct options options = {.command = argv[0]};
    char error[ERROR_SIZE], path[PATH_SIZE];
    cli_parse(&argp, argc, argv, &options);
    json_t *whole = json_object();
    bool done = parts_add(whole, &options, error);
    if (done) {
        snprintf(path, sizeof path, "%s/claims.json", options.output);
        done = file_replace_json(path, whole, error, sizeof error);
    }
    if (!done)
        fprintf(stderr, "%s: %s\n", options.command, error);
    json_decref(whole);
    return done ? EXIT_DONE : EXIT_FAILED;
}
