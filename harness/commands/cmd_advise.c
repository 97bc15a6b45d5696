/* cmd_advise.c - `schedlab advise`: how many workers a program can use, and which decisions of a
 * scheduler change anything for it. */
#include "harness/advice/advise.h"
#include "harness/commands/commands.h"
#include "harness/models/machine_spec.h"
#include "harness/options/cli.h"
#include "harness/options/trace_options.h"
#include "workloads/program.h"

#include <string.h>

enum { WORKERS_DEFAULT = 128 };

static const char MACHINE[] = "sim:server128";

enum format { FORMAT_TABLE, FORMAT_JSON, FORMAT_PAGE };
static const char *const format_words[] = {"table", "json", "page", NULL};

struct options {
    const char *program, *output;
    const struct machine_spec *machine;
    int workers, format;
};

static const struct cli_option option_table[] = {
    {"machine", "MACHINE", "The simulated machine (default: sim:server128)", CLI(MACHINE, machine)},
    {"workers", "N", "Try up to N workers (default: 128, or all cores if there are fewer)",
     CLI(INT, workers), .letter = 'w', .least = 1, .most = 256},
    {"format", "FORMAT", "table (default), json or page", CLI(WORD, format), .letter = 'f',
     .words = format_words},
    {"output", "FILE", "With --format page: write the page to FILE, not to standard output",
     CLI(TEXT, output), .letter = 'o'},
    {0},
};

static const char argp_doc[] =
    "Say how many workers a program can use, and which decisions of a scheduler matter to it.\v"
    "PROGRAM is a program file (.slp), as `schedlab import` makes it. It is replayed on a "
    "simulated machine with 1, 2, 4 and more workers, until twice as many take less than 5 % off "
    "its time (its p99, where things come from outside by the clock). There, each of 13 decisions "
    "is changed alone. So are the connections, where the program tells them, and the load: twice "
    "as much of each. Each case runs with 3 seeds; changes up to what these alone change are "
    "chance. A page has the same as figures, with what the program waits for.\n\n"
    "Example:\n"
    "  schedlab import trace.out -o app.slp\n"
    "  schedlab advise app.slp\n"
    "  schedlab advise app.slp --format page -o app.html\n\n"
    "Exit status: 0 done; 1 the program does not run; 2 misused.";

static void options_check(void *to)
{
    struct options *options = to;
    if (!options->machine)
        options->machine = cli_machine(MACHINE);
    if (!options->machine->simulated)
        cli_misuse("--machine=%s: an advice comes from a simulated machine, such as %s",
                   options->machine->text, MACHINE);
    if (options->output && options->format != FORMAT_PAGE)
        cli_misuse("--output=%s: only --format=page writes a file", options->output);
    trace_option_output_check(options->output);
    if (options->workers > options->machine->model.cores)
        options->workers = options->machine->model.cores;
}

static const struct cli_command cli = {
    .options = option_table,
    .arguments = "PROGRAM",
    .help = argp_doc,
    .only = "program",
    .only_offset = offsetof(struct options, program),
    .missing = "which program? A file that `schedlab import` wrote, or examples/service.slp",
    .check = options_check,
};

static void show(const struct options *options, const struct advice *advice)
{
    if (options->format == FORMAT_JSON)
        cli_print_json(advice_to_json(advice), 0);
    else if (options->format == FORMAT_TABLE)
        advice_print(advice, stdout);
    if (options->format != FORMAT_PAGE)
        return;
    FILE *to = trace_option_output_open(options->output);
    advice_page_write(advice, to);
    trace_option_output_close(to);
}

int cmd_advise(int argc, char **argv)
{
    struct options options = {.workers = WORKERS_DEFAULT};
    struct error error;
    struct advice advice;
    cli_read(&cli, argc, argv, &options);
    struct program *program = program_load(options.program, error.text, sizeof error.text);
    if (!program || strchr(options.program, ','))
        cli_misuse("%s", program ? "the name of a program file has no \",\"" : error.text);
    bool done =
        advise(&advice, options.program, program, options.machine->text, options.workers, &error);
    if (done)
        show(&options, &advice);
    advice_free(&advice);
    program_free(program);
    return done ? EXIT_DONE : cli_fail("%s", error.text);
}
