/* main.c - schedlab's entry: picks the subcommand. */
#include "harness/author/slv.h"
#include "harness/base/build_info.h"
#include "harness/base/memory.h"
#include "harness/base/suggest.h"
#include "harness/commands/commands.h"
#include "harness/options/cli.h"
#include "harness/sample/sample_server.h"
#include "harness/spec/outside.h"
#include "harness/spec/registry_check.h"
#include "harness/spec/spec.h"
#include "machine/no_memory.h"
#include "sched.h"
#include "workloads/workload.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { NAME_SIZE = 64 };

static const struct command {
    const char *name;
    int (*run)(int argc, char **argv);
    const char *help;
} commands[] = {
    {"list", cmd_list, "variants and their knobs, workloads and their parameters, events"},
    {"run", cmd_run, "one workload on some variants, here and now, as a table"},
    {"sweep", cmd_sweep, "what a sweep file says, into a folder of records, plots and a report"},
    {"repro", cmd_repro, "experiments on design decisions, each with a verdict"},
    {"report", cmd_report, "tables, plots and the report of a folder of records, once more"},
    {"doctor", cmd_doctor, "what this machine can count, and what on it disturbs measuring"},
    {"calibrate", cmd_calibrate, "what this machine's caches and kernel cost, as a model"},
    {"merge", cmd_merge, "runs of one sweep into one"},
    {"compare", cmd_compare, "two runs, variants or revisions: who is faster, and is that shown"},
    {"diff", cmd_diff, "where two schedulers part on a simulated machine, event by event"},
    {"trace", cmd_trace, "what a scheduler does in one small run: steps, timeline, Perfetto"},
    {"hunt", cmd_hunt, "a schedule in which a scheduler is wrong, by thousands of executions"},
    {"lesson", cmd_lesson, "a short course on how a scheduler decides, by runs that it makes"},
    {"audit", cmd_audit, "whether comparisons can be believed, from cells whose truth is known"},
    {"micro", cmd_micro, "single operations: queues, locks, switches, channels, wake-ups"},
    {"import", cmd_import, "the program in an execution trace of Go, for the workload replay"},
    {"advise", cmd_advise, "how many workers a program can use, and which decisions matter to it"},
    {"export", cmd_export, "the samples of a run for Google Benchmark, benchstat or a spreadsheet"},
    {"validate", cmd_validate, "whether the simulated machine agrees with what is known"},
    {"bench", cmd_bench,
     "speed beside peers and floors, what counting costs, operations over floors"},
    {"build", cmd_build, "a variant or workload that lives outside the tree, for all commands"},
    {"artifact", cmd_artifact, "runs packed for a paper's evaluators, and held against new ones"},
    {"sample", cmd_sample, NULL}, /* what the others start: not listed */
};

enum { COMMANDS = sizeof commands / sizeof commands[0], LISTED = COMMANDS - 1 };

static void print_help(void)
{
    puts("Usage: schedlab COMMAND [OPTION...]\n"
         "Runs one workload on interchangeable goroutine schedulers and counts what happens.\n");
    for (int i = 0; i < LISTED; i++)
        if (commands[i].run)
            printf("  %-10s %s\n", commands[i].name, commands[i].help);
    puts("\n  schedlab COMMAND --help   the options of a command, with an example\n"
         "  schedlab --version        the version, and the revision that it was built from\n\n"
         "Exit status: 0 done, 1 failed, 2 misused.\n\n"
         "Example:\n  schedlab run gmp grq fib,n=25");
}

static _Noreturn void misuse_unknown(const char *word)
{
    struct suggest near = suggest_for(word);
    for (int i = 0; i < LISTED; i++)
        if (commands[i].run)
            suggest_offer(&near, commands[i].name);
    cli_misuse("unknown command \"%s\"; %s", word, suggest_text(&near, "", "`schedlab --help`").s);
}

/* Variants of other trees: another program has them. */
static int run_with_others(int argc, char **argv)
{
    struct error error;
    slv_run(argc, argv, &error);
    return cli_fail("%s", error.text);
}

static int dispatch(int argc, char **argv)
{
    char name[NAME_SIZE];
    if (sample_server_is_meant(argc, argv))
        return sample_server_serve(cmd_sample);
    if (slv_is_meant(argc, argv))
        return run_with_others(argc, argv);
    /* Other revisions call `sample` so: sample_request_arguments(). */
    if (argc > 2 && strcmp(argv[1], "run") == 0 && strcmp(argv[2], "--sample") == 0) {
        argc--;
        (++argv)[1] = "sample";
    }
    for (int i = 0; i < COMMANDS; i++) {
        if (!commands[i].run || strcmp(commands[i].name, argv[1]) != 0)
            continue;
        snprintf(name, sizeof name, "schedlab %s", commands[i].name);
        argv[1] = name;
        return commands[i].run(argc - 1, argv + 1);
    }
    misuse_unknown(argv[1]);
}

static void print_version(FILE *to, struct argp_state *state)
{
    (void)state;
    fprintf(to, "schedlab %s (%s)\n", build_version(), build_revision());
}

/* The tree's own lists. tests/runtime/test_registry.c and every run of conformance check them too,
 * so a release build need not do so at each start. */
static bool registry_is_right(struct error *error)
{
#ifdef SCHEDLAB_DEBUG
    const struct registry registry = {.variants = sched_variants,
                                      .variant_words = sched_variant_words,
                                      .workloads = workloads,
                                      .workload_words = workload_words,
                                      .common = variant_common_params};
    return registry_check(&registry, error);
#else
    (void)error;
    return true;
#endif
}

/* Checks the variants and workloads of this program that no test of the tree has seen. */
static bool registries_are_right(void)
{
    const struct registry outside = {.variants = outside_variants,
                                     .variant_words = outside_words,
                                     .workloads = outside_workloads,
                                     .workload_words = outside_workload_words,
                                     .from = outside_origins,
                                     .workloads_from = outside_workload_origins,
                                     .queue = outside_queue,
                                     .common = variant_common_params,
                                     .forks = outside_workload_forks};
    struct error error;
    if (registry_is_right(&error) && registry_check(&outside, &error))
        return true;
    fprintf(stderr, "schedlab: %s\n", error.text);
    return false;
}

/* At exit, wherever that is: a full disk behind a redirection shows only when all is written. */
static void standard_output_check(void)
{
    if (fflush(stdout) == 0 && !ferror(stdout))
        return;
    perror("schedlab: standard output");
    _exit(EXIT_FAILED);
}

/* Opens /dev/null in place of closed standard streams. A pipe to a sample would otherwise get one
 * of their numbers, and lose it again in the sample. Reads and writes of the user's streams fail as
 * they would have: each is opened the wrong way round. Source: gnulib's stdopen(). */
static void standard_streams_take_up(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0 && errno == EBADF)
            (void)!open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

/* jemalloc faults in some failures (no_memory.h), and libraries call abort(). The runtime of a
 * sample puts its own handler of faults in place of this one. */
static void on_end(int number)
{
    if (no_memory_left())
        memory_die();
    signal(number, SIG_DFL); /* the fault comes again; abort() ends the process by itself */
}

/* Runs before the libraries' own initializers, which allocate. */
static void memory_check(void)
{
    if (no_memory_left())
        memory_die();
}

__attribute__((section(".preinit_array"),
               used)) static void (*const before_all)(void) = memory_check;

int main(int argc, char **argv)
{
    struct sigaction end = {.sa_handler = on_end, .sa_flags = SA_ONSTACK};
#if !defined(SCHEDLAB_ASAN) /* it reports faults itself */
    sigaction(SIGSEGV, &end, NULL);
#endif
    sigaction(SIGABRT, &end, NULL);
    standard_streams_take_up();
    atexit(standard_output_check);
    if (!registries_are_right())
        return EXIT_FAILED;
    argp_program_version_hook = print_version;
    if (argc < 2) {
        fputs("schedlab: a command is missing; valid:", stderr);
        for (int i = 0; i < LISTED; i++)
            fprintf(stderr, " %s%s", commands[i].name, i < LISTED - 1 ? "," : "");
        fputs(" (schedlab --help)\n", stderr);
        return EXIT_MISUSED;
    }
    if (strcmp(argv[1], "help") == 0 && argc > 2) {
        char *const of_command[] = {argv[0], argv[2], "--help", NULL};
        return dispatch(3, (char **)of_command);
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 ||
        strcmp(argv[1], "-?") == 0 || strcmp(argv[1], "help") == 0)
        print_help();
    else if (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-V") == 0)
        print_version(stdout, NULL);
    else
        return dispatch(argc, argv);
    return EXIT_DONE;
}
