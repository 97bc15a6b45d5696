/* cmd_build.c - `schedlab build`: a variant that lives outside the tree. */
#include "harness/author/slv.h"
#include "harness/commands/commands.h"
#include "harness/models/machine_spec.h"
#include "harness/options/cli.h"

#include <stdio.h>
#include <stdlib.h>

struct options {
    const char *name, *output;
    bool conformance;
    const struct machine_spec *machine;
    struct cli_list sources;
};

static const struct cli_option option_table[] = {
    {"name", "NAME", "The variant's name, as NAME_ops (default: the first file's, or the folder's)",
     CLI(TEXT, name)},
    {"output", "FILE", "Write FILE (default: NAME.slv here)", CLI(TEXT, output), .letter = 'o'},
    {"conformance", NULL,
     "Write nothing unless it passes the conformance suite, and a brief hunt if `make hunt` is "
     "done",
     CLI(FLAG, conformance)},
    {"machine", "MACHINE",
     "of --conformance: native (default), or a simulated one: sim:MODEL[,KEY=VALUE]...; see "
     "`schedlab list machines`",
     CLI(MACHINE, machine)},
    {0},
};

static const char argp_doc[] =
    "Compile a variant or a workload that lives outside the tree, for all machines.\v"
    "FILE.c is as the variants of the tree are: it includes \"schedlab.h\" and defines `const "
    "struct sched_ops NAME_ops`. Or it defines a queue alone (RUNQ_VARIANT), and the rest is "
    "gmp's. docs/ADDING.md shows how. Several files become one, and so do all FILE.c of a folder. "
    "A file that defines `const struct workload workload_NAME` is a workload, and is taken in a "
    "workload's place.\n\n"
    "Every command takes the file that is written in the place of a variant's name, with knobs "
    "behind it: `schedlab run ./mine.slv,tick=64 gmp mpmc`. Where names are in a file, as those of "
    "a sweep, `schedlab --with ./mine.slv sweep FILE` makes the name known. The code is linked "
    "into a program of its own, once, which is kept in ~/.cache/schedlab.\n\n"
    "Example:\n"
    "  schedlab build examples/locked.c && schedlab run ./locked.slv gmp fib,n=20\n"
    "  schedlab build mine/ && schedlab micro ./mine.slv\n"
    "  schedlab build mine.c --conformance --machine sim:desktop8\n\n"
    "Exit status: 0 done; 1 it does not compile, or is no variant; 2 misused.";

static const struct cli_command cli = {
    .options = option_table,
    .arguments = "FILE.c...|FOLDER",
    .help = argp_doc,
    .list_most = SIZE_MAX,
    .list_offset = offsetof(struct options, sources),
    .missing = "which files? C files of one variant, for example mine.c, or their folder",
};

int cmd_build(int argc, char **argv)
{
    struct options options = {.name = NULL};
    char *path;
    struct error error;
    cli_read(&cli, argc, argv, &options);
    if (options.machine && !options.conformance)
        cli_misuse("--machine says where --conformance runs the suite, and goes with it");
    const struct slv_order order = {
        .sources = options.sources.text,
        .name = options.name,
        .output = options.output,
        .conformance = options.conformance,
        .machine = options.machine && options.machine->simulated ? options.machine->text : NULL,
    };
    bool done = slv_build(&order, &path, &error);
    free(options.sources.text);
    if (!done)
        return cli_fail("%s", error.text);
    printf("%s\n", path);
    free(path);
    return EXIT_DONE;
}
