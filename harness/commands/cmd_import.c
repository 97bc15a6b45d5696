/* cmd_import.c - `schedlab import`: an execution trace of Go, or a service in YAML, as a program
 * file. */
#include "harness/base/memory.h"
#include "harness/base/text.h"
#include "harness/commands/commands.h"
#include "harness/numbers/units.h"
#include "harness/options/cli.h"
#include "harness/programs/facts.h"
#include "harness/programs/import.h"
#include "harness/programs/service.h"
#include "workloads/program.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *const arrivals_words[] = {"open", "closed", NULL};

struct options {
    const char *trace, *output, *goroutines, *keep, *from, *to;
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
     "Keep those of the program whose function matches, as in 'main.*'; default: all",
     CLI(TEXT, goroutines)},
    {"keep", "KINDS",
     "Keep goroutines of the runtime as well: runtime, gc, or runtime,gc; default: neither. What "
     "the runtime wakes then comes at the time of the trace",
     CLI(ONCE, keep)},
    {"arrivals", "WORD",
     "What comes from outside comes at the time of the trace (open, the default), or so long after "
     "a goroutine began to wait for it (closed)",
     CLI(WORD, arrivals), .words = arrivals_words},
    {"format", "FORMAT", "table (default) or json", CLI(JSON, json), .letter = 'f'},
    {0},
};

static const char argp_doc[] =
    "Make a program file of an execution trace of Go, or of a service in YAML, and say what is in "
    "it.\v"
    "A TRACE whose name ends in .yaml describes a service: clients, classes of requests and their "
    "steps, as examples/service.yaml does. Any other one is a file that runtime/trace or `go test "
    "-trace` of Go 1.22 or later wrote, or the text that `go tool trace -d=parsed` prints of it; - "
    "is standard input. The program has what each goroutine computed, whom it started and woke, "
    "and its sleeps, calls and waits; docs/PROGRAMS.md says how. A trace that is torn is read up "
    "to there.\n\n"
    "Example:\n"
    "  schedlab import trace.out -o app.slp\n"
    "  go tool trace -d=parsed trace.out | schedlab import - -o app.slp\n"
    "  schedlab import examples/service.yaml -o app.slp\n"
    "  schedlab run gmp grq replay,file=app.slp --machine sim:server64\n\n"
    "Exit status: 0 done; 1 the output was not written; 2 misused, or the file is no such trace.";

static const struct cli_command cli = {
    .options = option_table,
    .arguments = "TRACE",
    .help = argp_doc,
    .only = "trace",
    .only_offset = offsetof(struct options, trace),
    .missing = "which trace? A file that runtime/trace or `go test -trace` wrote, - for standard "
               "input, or a service in .yaml",
};

/* Reads the words of --keep. */
static void keep_read(const struct options *options, struct import_options *made)
{
    static const char *const words[] = {"runtime", "gc", "stw", NULL};
    static const enum import_segment segments[] = {SEGMENT_RUNTIME, SEGMENT_COLLECTOR};
    char *list = options->keep ? xstrdup(options->keep) : NULL;
    for (char *rest = list, *word; rest && (word = strsep(&rest, ","));) {
        int which = cli_word("keep", word, words);
        if (which == 2)
            cli_misuse("--keep stw: a program has no step that stops all workers; valid: runtime, "
                       "gc; who stopped the world has that time as computing");
        made->keeps[segments[which]] = true;
    }
    free(list);
}

static struct import_options import_options_of(const struct options *options)
{
    struct import_options made = {
        .to_ns = PROGRAM_NS_MAX, .filter = options->goroutines, .closed = options->arrivals == 1};
    if (options->from)
        made.from_ns = cli_time_ns("from", options->from, 1, PROGRAM_NS_MAX);
    if (options->to)
        made.to_ns = cli_time_ns("to", options->to, 1, PROGRAM_NS_MAX);
    if (made.from_ns >= made.to_ns)
        cli_misuse("--from=%s is not before --to=%s", options->from,
                   options->to ? options->to : "3600s");
    keep_read(options, &made);
    return made;
}

static void say_flaws(const struct options *options, const struct import_facts *facts)
{
    const char *name = strcmp(options->trace, "-") == 0 ? "standard input" : options->trace;
    if (*facts->torn)
        cli_say("%s: read up to a tear: %s", name, facts->torn);
    if (facts->disorder > 0)
        cli_say("%s: %llu events lie before others that should come first", name,
                (unsigned long long)facts->disorder);
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

static const char draft_ending[] = ".part";

/* A device or a pipe is written itself: a file would take its place. */
static bool is_special(const char *path)
{
    struct stat found;
    return stat(path, &found) == 0 && !S_ISREG(found.st_mode) && !S_ISDIR(found.st_mode);
}

/* Where the program goes: beside the file that it then becomes, or that a link names; to a device
 * or pipe itself; or nowhere. NULL, and one line in error. */
static FILE *draft_open(const struct options *options, char **draft, struct error *error)
{
    const char *output = options->output ? options->output : "/dev/null";
    bool special = is_special(output);
    char *real = special ? NULL : realpath(output, NULL); /* NULL, too: there is none yet */
    *draft = text_format("%s%s", real ? real : output, special ? "" : draft_ending);
    free(real);
    FILE *to = fopen(*draft, "we");
    if (!to) {
        error_quote(error, "%s: %s", *draft, strerror(errno));
        free(*draft);
    }
    return to;
}

/* keep: false leaves an older file as it is. */
static bool draft_close(const struct options *options, FILE *to, char *draft, bool keep,
                        struct error *error)
{
    bool lost = fflush(to) != 0 || ferror(to);
    lost |= fclose(to) != 0;
    bool is_draft = options->output && !is_special(options->output);
    char *target = NULL;
    if (is_draft)
        target = text_format("%.*s", (int)(strlen(draft) - strlen(draft_ending)), draft);
    lost = keep && (lost || (is_draft && rename(draft, target) != 0));
    if (lost)
        error_quote(error, "%s: %s", options->output, strerror(errno));
    if (is_draft && (lost || !keep))
        unlink(draft);
    free(target);
    free(draft);
    return !lost;
}

/* Misuse if the trace is none. */
static int import_go(const struct options *options)
{
    char *draft;
    struct error error;
    const struct import_options how = import_options_of(options);
    struct import_facts *facts = xcalloc(1, sizeof *facts);
    FILE *to = draft_open(options, &draft, &error);
    bool done = to != NULL;
    if (to) {
        bool is_trace = import_trace(options->trace, &how, to, facts, &error);
        done = draft_close(options, to, draft, is_trace, &error);
        if (!is_trace)
            cli_misuse("%s", error.text);
    }
    int status = done ? show(options, facts) : cli_fail("%s", error.text);
    free(facts);
    return status;
}

static int show_service(const struct options *options, const struct program *program)
{
    if (options->json)
        cli_print_json(json_pack("{sI sI sI sI}", "goroutines",
                                 (json_int_t)program->goroutines_count, "requests",
                                 (json_int_t)program->requests_count, "computing_ns",
                                 (json_int_t)program->work_ns, "critical_path_ns",
                                 (json_int_t)program->critical_ns),
                       0);
    else
        printf("goroutines     %zu, %zu requests\ncomputing      %s\ncritical path  %s; computing "
               "/ critical path = %.2f\n",
               program->goroutines_count, program->requests_count,
               text_time((double)program->work_ns).s, text_time((double)program->critical_ns).s,
               (double)program->work_ns / (double)(program->critical_ns + 1));
    return EXIT_DONE;
}

static int import_service(const struct options *options)
{
    char *draft, *text = NULL;
    struct error error;
    size_t size;
    if (options->from || options->to || options->goroutines || options->keep || options->arrivals)
        cli_misuse("--from, --to, --goroutines, --keep and --arrivals are for traces");
    struct service *service = service_load(options->trace, &error);
    if (!service)
        cli_misuse_lines(error.text);
    FILE *memory = memory_stream(&text, &size);
    service_write(service, memory);
    fclose(memory);
    service_free(service);
    char *name = text_format("the program of %s", options->trace);
    struct program *program = program_parse(name, text, size, error.text, sizeof error.text);
    free(name);
    FILE *to = program ? draft_open(options, &draft, &error) : NULL;
    bool done = to != NULL;
    if (to) {
        fwrite(text, 1, size, to);
        done = draft_close(options, to, draft, true, &error);
    }
    int status = done ? show_service(options, program) : cli_fail("%s", error.text);
    program_free(program);
    free(text);
    return status;
}

int cmd_import(int argc, char **argv)
{
    struct options options = {0};
    cli_read(&cli, argc, argv, &options);
    bool is_service =
        text_ends_with(options.trace, ".yaml") || text_ends_with(options.trace, ".yml");
    return is_service ? import_service(&options) : import_go(&options);
}
