/* cmd_calibrate.c - `schedlab calibrate`: this machine, measured, as a model to simulate. */
#include "harness/base/text.h"
#include "harness/calibrate/calibrate.h"
#include "harness/commands/commands.h"
#include "harness/models/machine_spec.h"
#include "harness/options/cli.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { CPU_MAX = 4095 };

/* It has figures for all distances, so that it can stand in for those that a host does not have. */
static const char fallback_spec[] = "sim:server128";

struct options {
    const char *output;
    int cpus[CALIBRATE_CORES_MAX], cpus_count; /* 0: calibrate_pick() */
    bool json, quick;
};

static void cores_take(void *to, char *text)
{
    struct options *options = to;
    char *comma = strchr(text, ',');
    if (comma)
        *comma = '\0';
    options->cpus[0] = (int)cli_number("cores", text, 0, CPU_MAX, "");
    options->cpus_count = 1;
    if (!comma)
        return;
    options->cpus[1] = (int)cli_number("cores", comma + 1, 0, CPU_MAX, "");
    options->cpus_count = 2;
    if (options->cpus[0] == options->cpus[1])
        cli_misuse("--cores=%d,%d is not valid; valid: two different cores, or one",
                   options->cpus[0], options->cpus[1]);
}

static void output_take(void *to, char *text)
{
    if (strlen(text) <= 5 || !text_ends_with(text, ".yaml"))
        cli_misuse("--output=%s is not valid; valid: a name that ends in .yaml", text);
    ((struct options *)to)->output = text;
}

static const struct cli_option option_table[] = {
    {"output", "FILE", "Write the model there; a name that ends in .yaml", .take = output_take,
     .letter = 'o'},
    {"cores", "A[,B]",
     "Measure on core A, and between A and B, as the kernel numbers them (default: the first that "
     "may be used, and one at each distance from it)",
     .take = cores_take},
    {"quick", NULL,
     "Measure memory and code once only, and shorter: 2 s in all, and less to be relied on",
     CLI(FLAG, quick)},
    {"format", "FORMAT", "table (default) or json", CLI(JSON, json), .letter = 'f'},
    {0},
};

static const char argp_doc[] =
    "Measure what the caches and the kernel of this machine cost, and write it as a model that "
    "`--machine sim:FILE` simulates. Takes about 10 s, in which nothing else should run.\v"
    "Each figure is the median of repeated short measurements, with its quartiles. What cannot be "
    "measured here (no second socket, one core only, ...) is said, and taken from the model "
    "server128. docs/MACHINES.md says how each figure is measured.\n\n"
    "Example:\n"
    "  schedlab calibrate --output host.yaml\n\n"
    "Exit status: 0 done; 1 failed, as where the file cannot be written; 2 misused.";

static const struct cli_command cli = {.options = option_table, .help = argp_doc};

static void check_cores(const struct options *options)
{
    for (int i = 0; i < options->cpus_count; i++)
        if (!topology_may_use(options->cpus[i]))
            cli_misuse("core %d may not be used by this process; valid: %d core%s, as in `schedlab "
                       "doctor`",
                       options->cpus[i], topology_cpu_count(),
                       topology_cpu_count() == 1 ? "" : "s");
}

/* Opened before measuring, so that a wrong name costs no time. */
static FILE *output_open(const struct options *options)
{
    if (!options->output)
        return NULL;
    FILE *output = fopen(options->output, "we");
    if (!output)
        cli_give_up("cannot write %s: %s", options->output, strerror(errno));
    return output;
}

static int output_write(const struct calibrate *calibrate, FILE *output, const char *path)
{
    if (!output)
        return EXIT_DONE;
    calibrate_write(calibrate, output);
    bool good = !ferror(output);
    if (fclose(output) == 0 && good)
        return EXIT_DONE;
    return cli_fail("cannot write %s: %s", path, strerror(errno));
}

int cmd_calibrate(int argc, char **argv)
{
    static struct calibrate calibrate;
    struct options options = {.output = NULL};
    struct error error;
    cli_read(&cli, argc, argv, &options);
    check_cores(&options);
    const struct machine_spec *fallback = machine_spec_kept(fallback_spec, &error);
    if (!fallback)
        return cli_fail("%s", error.text);
    FILE *output = output_open(&options);
    if (options.cpus_count == 0)
        options.cpus_count = calibrate_pick(options.cpus);
    calibrate_run(&calibrate, options.cpus, options.cpus_count, options.quick,
                  isatty(STDERR_FILENO) ? stderr : NULL);
    if (!calibrate_model(&calibrate, fallback->file, &error))
        return cli_fail("what was measured makes no model: %s", error.text);
    if (options.json)
        cli_print_json(calibrate_to_json(&calibrate), 6);
    else
        calibrate_print(&calibrate, stdout);
    return output_write(&calibrate, output, options.output);
}
