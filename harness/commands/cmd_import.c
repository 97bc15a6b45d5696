/* cmd_import.c - `schedlab import`: the program in an execution trace of Go, as a program file. */
#include "harness/base/memory.h"
#include "harness/base/text.h"
#include "harness/commands/cli.h"
#include "harness/commands/commands.h"
#include "harness/programs/facts.h"
#include "harness/programs/import.h"
#include "workloads/program.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ERROR_SIZE = 1024 };

static const char *const arrivals_words[] = {"open", "closed", NULL};

struct options {
    const char *command, *trace, *output, *goroutines, *from, *to;
    int arrivals;
    bool json;
};

static const struct cli_option option_table[] = {
    {"output", "FILE", "Write the program to FILE (.slp), which replay,file=FILE runs",
     CLI(TEXT, output), .letter = 'o'},
    {"from", "TIME", "Leave out what comes before that time of the trace (as in 200ms)",
     CLI(TEXT, from)},
    {"to", "TIME", "Leave out what comes after it", CLI(TEXT, to)},
    {"goroutines", "FILTER",
     "Keep those whose function matches, as in 'main.*'; default: all but the runtime's",
     CLI(TEXT, goroutines)},
    {"arrivals", "WORD",
     "What comes from outside comes at the time of the trace (open, the default), or so long after "
     "a goroutine began to wait for it (closed)",
     CLI(WORD, arrivals), .words = arrivals_words},
    {"format", "FORMAT", "table (default) or json", CLI(JSON, json), .letter = 'f'},
    {0},
};

static const char argp_doc[] =
    "Make a program file of an execution trace of Go, and say what is in it."
    "\v"
    "TRACE is a file that runtime/trace or `go test -trace` of Go 1.22 or later wrote. The program "
    "has what each goroutine computed, whom it started and woke, and its sleeps, calls and waits; "
    "docs/PROGRAMS.md says how. A trace that is torn is read up to there.\n\n"
    "Example:\n"
    "  schedlab import trace.out -o app.slp\n"
    "  schedlab run gmp grq replay,file=app.slp --machine sim:server64\n\n"
    "Exit status: 0 done; 1 the output was not written; 2 misused, or the file is no such trace.";

static void options_check(void *to, const char *name)
{
    const struct options *options = to;
    if (!options->trace)
        cli_misuse(name, "which trace? A file that runtime/trace or `go test -trace` wrote");
}

static const struct cli_command cli = {
    .options = option_table,
    .arguments = "TRACE",
    .help = argp_doc,
    .only = "trace",
    .only_offset = offsetof(struct options, trace),
    .check = options_check,
};

static struct import_options import_options_of(const struct options *options)
{
    struct import_options made = {
        .to_ns = PROGRAM_NS_MAX, .filter = options->goroutines, .closed = options->arrivals == 1};
    if (options->from)
        made.from_ns = cli_time_ns(options->command, "from", options->from, 1, PROGRAM_NS_MAX);
    if (options->to)
        made.to_ns = cli_time_ns(options->command, "to", options->to, 1, PROGRAM_NS_MAX);
    if (made.from_ns >= made.to_ns)
        cli_misuse(options->command, "--from=%s is not before --to=%s", options->from,
                   options->to ? options->to : "3600s");
    return made;
}

static void say_flaws(const struct options *options, const struct import_facts *facts)
{
    if (*facts->torn)
        fprintf(stderr, "%s: %s: read up to a tear: %s\n", options->command, options->trace,
                facts->torn);
    if (facts->disorder > 0)
        fprintf(stderr, "%s: %s: %llu events lie before others that should come first\n",
                options->command, options->trace, (unsigned long long)facts->disorder);
}

static int show(const struct options *options, const struct import_facts *facts)
{
    say_flaws(options, facts);
    if (options->json)
        cli_print_json(facts_to_json(facts), 0);
    else
        facts_print(facts, stdout);
    return EXIT_DONE;
}

/* Writes the program beside the file that it then becomes. Misuse if the trace is none. */
static bool write_program(const struct options *options, const struct import_options *how,
                          struct import_facts *facts, char *error, size_t error_size)
{
    char *draft = text_format("%s.part", options->output ? options->output : "");
    FILE *to = fopen(options->output ? draft : "/dev/null", "we");
    const struct complaint complaint = {error, error_size};
    if (!to) {
        complaint_make(&complaint, "%s: %s", draft, strerror(errno));
        free(draft);
        return false;
    }
    bool is_trace = import_trace(options->trace, how, to, facts, error, error_size);
    bool lost = fflush(to) != 0 || ferror(to);
    lost |= fclose(to) != 0;
    lost = is_trace && (lost || (options->output && rename(draft, options->output) != 0));
    if (lost)
        complaint_make(&complaint, "%s: %s", options->output, strerror(errno));
    if (options->output && (lost || !is_trace))
        unlink(draft);
    free(draft);
    if (!is_trace)
        cli_misuse(options->command, "%s", error);
    return !lost;
}

int cmd_import(int argc, char **argv)
{
    struct options options = {.command = argv[0]};
    char error[ERROR_SIZE];
    cli_read(&cli, argc, argv, &options);
    const struct import_options how = import_options_of(&options);
    struct import_facts *facts = xcalloc(1, sizeof *facts);
    bool done = write_program(&options, &how, facts, error, sizeof error);
    int status = done ? show(&options, facts) : cli_fail(options.command, error);
    free(facts);
    return status;
}
