/* cmd_validate.c - `schedlab validate`: what `make validate` has measured, as claims. */
#include "harness/audit/validate.h"
#include "harness/base/files.h"
#include "harness/commands/commands.h"
#include "harness/options/cli.h"

#include <stdio.h>

enum { PATH_SIZE = 4096 };
struct options {
    const char *formulas, *misses, *native, *simulated, *curves, *outside, *tables, *output;
};

static const struct cli_option option_table[] = {
    {"formulas", "FILE", "What `sim_formulas --json FILE` wrote", CLI(TEXT, formulas)},
    {"misses", "FILE", "What harness/audit/validate_cachegrind.sh wrote", CLI(TEXT, misses)},
    {"native", "RUN_DIR", "A run of harness/sweeps/validate.yaml on this machine",
     CLI(TEXT, native)},
    {"simulated", "RUN_DIR", "The same on the model that calibrate wrote", CLI(TEXT, simulated)},
    {"curves", "RUN_DIR", "A run of harness/sweeps/validate-curves.yaml", CLI(TEXT, curves)},
    {"outside", "FILE", "The repro.json of `schedlab repro harness/audit/outside.yaml`",
     CLI(TEXT, outside)},
    {"tables", "FILE", "The repro.json of `schedlab repro E10 E13 --machine sim`",
     CLI(TEXT, tables)},
    {"output", "DIR", "Where claims.json and the tables for figures go", CLI(TEXT, output)},
    {0},
};

static const char argp_doc[] =
    "Print, claim by claim, whether the simulated machine agrees with closed formulas, with "
    "valgrind's caches, with this machine and with published curves; `make validate` measures all "
    "of it first (docs/VALIDATION.md).\v"
    "Exit status: 0 done, whether or not claims hold; 1 something cannot be read or written; 2 "
    "misused.";

static void options_check(void *to)
{
    const struct options *options = to;
    if (!options->output || !options->native != !options->simulated)
        cli_misuse("--output=DIR must be given, and --native and --simulated together");
}

static const struct cli_command cli = {
    .options = option_table,
    .help = argp_doc,
    .no_arguments = "see --help",
    .check = options_check,
};

/* The parts of one file or run each. */
static const struct part {
    size_t offset; /* of its option */
    const char *key, *title;
    json_t *(*make)(const char *path, const char *folder, struct error *error);
} parts[] = {
    {offsetof(struct options, misses), "misses", "One core beside valgrind's caches",
     validate_misses},
    {offsetof(struct options, formulas), "formulas", "Closed formulas", validate_formulas},
    {offsetof(struct options, native), "native", "This machine beside its model", NULL},
    {offsetof(struct options, curves), "curves", "Published curves, on sim:server64",
     validate_curves},
    {offsetof(struct options, outside), "outside", "What others have published", validate_outside},
    {offsetof(struct options, tables), "tables", "Tables of exact numbers", validate_tables},
};

/* Prints each part and adds it to whole. */
static bool parts_add(json_t *whole, const struct options *options, struct error *error)
{
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        const struct part *part = &parts[i];
        const char *path = *(const char *const *)((const char *)options + part->offset);
        if (!path)
            continue;
        json_t *claims = part->make
                             ? part->make(path, options->output, error)
                             : validate_native(path, options->simulated, options->output, error);
        if (!claims)
            return false;
        validate_print(stdout, part->title, claims);
        json_object_set_new(whole, part->key, claims);
    }
    return true;
}

int cmd_validate(int argc, char **argv)
{
    struct options options = {0};
    char path[PATH_SIZE];
    struct error error;
    cli_read(&cli, argc, argv, &options);
    json_t *whole = json_object();
    bool done = parts_add(whole, &options, &error);
    if (done) {
        snprintf(path, sizeof path, "%s/claims.json", options.output);
        done = file_replace_json(path, whole, &error);
    }
    if (!done)
        cli_fail("%s", error.text);
    json_decref(whole);
    return done ? EXIT_DONE : EXIT_FAILED;
}
