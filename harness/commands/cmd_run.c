/* cmd_run.c - `schedlab run`: one workload on some variants, each repetition in its own process.
 *
 * With --sample this process is such a repetition: it measures and prints one record. child.c
 * starts it so.
 */
#include "harness/base/json_fields.h"
#include "harness/base/memory.h"
#include "harness/base/progress.h"
#include "harness/commands/cli.h"
#include "harness/commands/commands.h"
#include "harness/commands/run_table.h"
#include "harness/commands/why_table.h"
#include "harness/counters/counter_names.h"
#include "harness/doctor/doctor.h"
#include "harness/host/topology.h"
#include "harness/plan/plan.h"
#include "harness/records/records.h"
#include "harness/records/same_work.h"
#include "harness/records/sample_request.h"
#include "harness/sample/child.h"
#include "harness/sample/sample.h"
#include "harness/spec/machine_spec.h"
#include "harness/spec/machine_start.h"
#include "harness/spec/peer_table.h"
#include "harness/spec/spec.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

enum {
    REPS_DEFAULT = 7,
    ITERATIONS_DEFAULT = 3,
    MIN_TIME_DEFAULT_MS = 200,
    SIM_REPS_DEFAULT = 3,     /* they differ by the seed alone */
    WHAT_IF_REPS_DEFAULT = 7, /* enough for an interval */

    TIMEOUT_DEFAULT_S = 60,
    STACK_MIN = 16 << 10,
    ERROR_SIZE = 1024,
    PATH_SIZE = 4096,
};

enum {
    KEY_MIN_TIME = 0x100,
    KEY_WARMUP,
    KEY_SEED,
    KEY_TIMEOUT,
    KEY_PIN,
    KEY_STACK,
    KEY_MACHINE,
    KEY_SIM_SEED,
    KEY_WHY,
    KEY_WHAT_IF,
    KEY_FLAME,
    KEY_STEAL_MAX,
    KEY_SCHEDTRACE,
    KEY_SCHEDDETAIL,
    KEY_SCHEDTRACE_FD,
    KEY_SCHED_EVENTS_FD,
    KEY_SCHED_EVENTS_MAX,
    KEY_LOCK_STEP,
    KEY_INJECT,
    KEY_EVENT_SET,
    KEY_NO_CALLS,
    KEY_SAMPLE,
};

static const char *const format_words[] = {"table", "json", NULL};

struct options {
    const char *command;
    struct sample_request request;
    struct machine_spec machine;
    const char *what_if;                       /* as typed; NULL: not given */
    char *what_if_machine;                     /* canonical */
    int64_t iterations, min_time_ns, sim_seed; /* -1: not given */
    int reps;                                  /* 0: not given */
    const char *more_workers;                  /* after the first number; NULL: none */
    bool json, sample, why;
    char **arguments; /* variants, then the workload */
    int argument_count;
};

/* Options ------------------------------------------------------------------------------------- */

static const struct argp_option option_table[] = {
    {"workers", 'w', "N[,N...]", 0,
     "workers (cores) to use; default: all this process may use, or all of the simulated machine; "
     "of several, a table each",
     0},
    {"reps", 'r', "N", 0,
     "repetitions, each a process of its own, in shuffled blocks; default 7, or 3 on a simulated "
     "machine",
     0},
    {"iterations", 'i', "N", 0,
     "timed calls per repetition at least; default 3, or 1 with --min-time or on a simulated "
     "machine",
     0},
    {"min-time", KEY_MIN_TIME, "MS", 0,
     "timed milliseconds per repetition at least (or 2s, 500us); default 200, or 0 with "
     "--iterations or on a simulated machine",
     0},
    {"warmup", KEY_WARMUP, "N|auto", 0,
     "calls before the timed ones; auto: until their times are steady; default 1", 0},
    {"events", 'e', "A,B,C", 0,
     "what to count, or none; default: see `schedlab list events`, whose own events go without "
     "sde:::schedlab:: too",
     0},
    {"seed", KEY_SEED, "N", 0, "of the order, the workload and the scheduler; default 1", 0},
    {"timeout", KEY_TIMEOUT, "S", 0, "seconds a repetition may take, 0 for no limit; default 60",
     0},
    {"pin", KEY_PIN, NULL, 0, "one core for each worker; default: any of the cores used", 0},
    {"stack", KEY_STACK, "BYTES", 0, "address space per goroutine stack; default 64Ki", 0},
    {"schedtrace", KEY_SCHEDTRACE, "MS", 0,
     "while it runs, write a line about the scheduler that often to standard error, in the format "
     "of Go's GODEBUG=schedtrace=MS",
     0},
    {"scheddetail", KEY_SCHEDDETAIL, NULL, 0, "with --schedtrace: a line about each P, M and G too",
     0},
    {"schedtrace-fd", KEY_SCHEDTRACE_FD, "N", OPTION_HIDDEN, "with --sample: where to", 0},
    {"sched-events-fd", KEY_SCHED_EVENTS_FD, "N", OPTION_HIDDEN,
     "with --sample on a simulated machine: where to write what the scheduler does", 0},
    {"sched-events-max", KEY_SCHED_EVENTS_MAX, "N", OPTION_HIDDEN, "at most so many events", 0},
    {"lock-step", KEY_LOCK_STEP, "STEPS", OPTION_HIDDEN, "with --sample: cores take turns", 0},
    {"steal-max", KEY_STEAL_MAX, "PERCENT", 0,
     "mark repetitions that lost more of their time to the hypervisor; to other programs a tenth, "
     "or this if it is more; default 1",
     0},
    {"machine", KEY_MACHINE, "MACHINE", 0,
     "native (default), or a simulated one: sim:MODEL[,KEY=VALUE]...; see `schedlab list machines`",
     0},
    {"sim-seed", KEY_SIM_SEED, "N", 0,
     "of the simulated machine and the scheduler on it, in the first repetition, and the others' "
     "are made of it; default: that of --seed",
     0},
    {"why", KEY_WHY, NULL, 0,
     "on a simulated machine: show where the misses were, by structure and by line of the source",
     0},
    {"what-if", KEY_WHAT_IF, "KEY=VALUE,...", 0,
     "on a simulated machine: run each variant also on the machine with these settings, and show "
     "what that would buy; a key of the machine, or STRUCTURE=free, see `schedlab list sim:MODEL`; "
     "7 repetitions by default",
     0},
    {"flame", KEY_FLAME, "FILE", 0,
     "on a simulated machine, one variant: write where the first repetition stalled as folded "
     "stacks, which flamegraph.pl, inferno and speedscope draw",
     0},
    {"format", 'f', "FORMAT", 0, "table (default) or json", 0},
    {"event-set", KEY_EVENT_SET, "N", OPTION_HIDDEN,
     "count the N-th set, modulo their number, of events that do not fit together", 0},
    {"inject-slowdown", KEY_INJECT, "PERCENT", OPTION_HIDDEN,
     "add busy time to each timed call, to test what finds it", 0},
    {"no-calls", KEY_NO_CALLS, NULL, OPTION_HIDDEN,
     "with --sample: do all but the calls, to measure what a process costs", 0},
    {"sample", KEY_SAMPLE, NULL, OPTION_HIDDEN, "measure in this process, print one record", 0},
    {0},
};

static int64_t number(const struct options *options, const char *option, const char *text,
                      int64_t min, int64_t max)
{
    return cli_number(options->command, option, text, min, max, "");
}

static void argument_add(struct options *options, char *arg)
{
    options->arguments = xrealloc(options->arguments, ((size_t)options->argument_count + 1) *
                                                          sizeof *options->arguments);
    options->arguments[options->argument_count++] = arg;
}

static size_t stack_bytes(const struct options *options, const char *text)
{
    int64_t bytes = cli_number(options->command, "stack", text, STACK_MIN, 1 << 30, "bytes");
    int64_t page = sysconf(_SC_PAGESIZE);
    return (size_t)((bytes + page - 1) / page * page);
}

static void machine_take(struct options *options, const char *text)
{
    cli_machine(options->command, &options->machine, text);
    options->request.machine = options->machine.text;
}

static int warmup_calls(const struct options *options, const char *text)
{
    int64_t calls;
    if (strcmp(text, "auto") == 0)
        return WARMUP_AUTO;
    if (!spec_parse_number(text, "", &calls) || calls < 0 || calls > 1000)
        cli_misuse(options->command, "--warmup=%s is not valid; valid: 0 to 1000, or auto", text);
    return (int)calls;
}

static int next_workers(const struct options *options, const char **list)
{
    return (int)cli_next_number(options->command, "workers", list, 1, SAMPLE_WORKERS_MAX);
}

/* What the program passes to itself. */
static error_t parse_hidden_option(struct options *options, int key, const char *arg)
{
    struct sample_request *request = &options->request;
    switch (key) {
    case KEY_SCHEDTRACE_FD:
        request->schedtrace_fd = (int)number(options, "schedtrace-fd", arg, 0, 1 << 20);
        break;
    case KEY_EVENT_SET:
        request->event_set = (int)number(options, "event-set", arg, 0, 1000000);
        break;
    case KEY_SCHED_EVENTS_FD:
        request->sched_events_fd = (int)number(options, "sched-events-fd", arg, 1, INT32_MAX);
        break;
    case KEY_LOCK_STEP:
        request->lock_step = arg;
        break;
    case KEY_SCHED_EVENTS_MAX:
        request->sched_events_max = (size_t)number(options, "sched-events-max", arg, 1, INT64_MAX);
        break;
    case KEY_INJECT:
        request->injected_percent = (int)number(options, "inject-slowdown", arg, 0, 1000);
        break;
    case KEY_NO_CALLS:
        request->no_calls = true;
        break;
    case KEY_SAMPLE:
        options->sample = true;
        break;
    default:
        return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

/* Where it runs, and what only simulated machines have. */
static error_t parse_machine_option(struct options *options, int key, char *arg)
{
    switch (key) {
    case KEY_MACHINE:
        machine_take(options, arg);
        break;
    case KEY_SIM_SEED:
        options->sim_seed = number(options, "sim-seed", arg, 0, INT64_MAX);
        break;
    case KEY_WHY:
        options->why = true;
        break;
    case KEY_WHAT_IF:
        options->what_if = cli_once(options->command, "what-if", options->what_if, arg);
        break;
    case KEY_FLAME:
        options->request.flame = arg;
        break;
    default:
        return parse_hidden_option(options, key, arg);
    }
    return 0;
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    struct options *options = state->input;
    struct sample_request *request = &options->request;
    switch (key) {
    case 'w':
        options->more_workers = arg;
        request->workers = next_workers(options, &options->more_workers);
        break;
    case 'r':
        options->reps = (int)number(options, "reps", arg, 1, 1000);
        break;
    case 'i':
        options->iterations = number(options, "iterations", arg, 1, SAMPLE_ITERATIONS_MAX);
        break;
    case KEY_MIN_TIME:
        options->min_time_ns =
            cli_time_ns(options->command, "min-time", arg, 1000000, INT64_C(3600000000000));
        break;
    case KEY_WARMUP:
        request->warmup = warmup_calls(options, arg);
        break;
    case 'e':
        request->events = arg;
        break;
    case KEY_SEED:
        request->seed = (uint64_t)number(options, "seed", arg, 0, INT64_MAX);
        break;
    case KEY_TIMEOUT:
        request->timeout_s = (double)cli_time_ns(options->command, "timeout", arg, 1000000000,
                                                 INT64_C(86400000000000)) /
                             1e9;
        break;
    case KEY_PIN:
        request->pin = true;
        break;
    case KEY_STACK:
        request->stack_bytes = stack_bytes(options, arg);
        break;
    case KEY_SCHEDTRACE:
        request->schedtrace_ns =
            cli_time_ns(options->command, "schedtrace", arg, 1000000, INT64_C(3600000000000));
        if (request->schedtrace_ns == 0)
            cli_misuse(options->command, "--schedtrace=%s is never; valid: above 0, to 1h", arg);
        break;
    case KEY_SCHEDDETAIL:
        request->scheddetail = true;
        break;
    case KEY_STEAL_MAX:
        request->steal_max_percent = (int)number(options, "steal-max", arg, 0, 100);
        break;
    case 'f':
        options->json = cli_word(options->command, "format", arg, format_words) == 1;
        break;
    case ARGP_KEY_ARG:
        argument_add(options, arg);
        break;
    default:
        return parse_machine_option(options, key, arg);
    }
    return 0;
}

static const struct argp argp = {
    option_table,
    parse_option,
    "[VARIANT...] WORKLOAD",
    "Runs WORKLOAD on each VARIANT (on every one, but no peer, if none is named) and prints the "
    "median "
    "throughput "
    "with its 95 % interval, and events per operation. A specification is NAME[,KEY=VALUE]...; "
    "`schedlab "
    "list` shows names, keys and ranges. Numbers may end in k, M, G (powers of 1000) or Ki, Mi, Gi "
    "(powers of 1024)."
    "\v"
    "A repetition makes its timed calls until both --iterations and --min-time are reached. It "
    "gives --min-time up, and says so, after 20 times as much wall time: reading counters and "
    "checking answers may take longer than calls that are very short.\n\nExample:\n"
    "  schedlab run gmp gmp,runnext=off grq fib,n=25 --workers 2\n\n"
    "`schedlab run --cell ID --sweep FILE` measures a single cell of a sweep instead, whose id "
    "`schedlab sweep FILE --plan` prints; see `schedlab run --cell --help`.\n\n"
    "Exit status: 0 done, though some variants may have been skipped; 1 a variant failed, or all "
    "were skipped; 2 misused.",
    NULL,
    NULL,
    NULL,
};

static int cores_of(const struct options *options)
{
    return options->machine.simulated ? options->machine.model.cores : topology_cpu_count();
}

/* The rule in the help text: whoever gives one of the two means only that one. */
static void options_complete(struct options *options)
{
    struct sample_request *request = &options->request;
    if (request->no_calls && !options->sample)
        cli_misuse(options->command, "--no-calls takes --sample");
    if (options->more_workers && (options->sample || options->json || request->flame))
        cli_misuse(options->command, "--sample, --flame and --format=json take one --workers");
    bool simulated = options->machine.simulated;
    bool neither = options->iterations < 0 && options->min_time_ns < 0 && !simulated;
    request->iterations = (int)(options->iterations >= 0 ? options->iterations
                                : neither                ? ITERATIONS_DEFAULT
                                                         : 1);
    request->min_time_ns = options->min_time_ns >= 0 ? options->min_time_ns
                           : neither                 ? MIN_TIME_DEFAULT_MS * INT64_C(1000000)
                                                     : 0;
    if (request->workers == 0)
        request->workers = cores_of(options);
    if (options->reps == 0)
        options->reps = !simulated         ? REPS_DEFAULT
                        : options->what_if ? WHAT_IF_REPS_DEFAULT
                                           : SIM_REPS_DEFAULT;
    if (request->steal_max_percent != STEAL_MAX_DEFAULT_PERCENT && simulated && !options->sample)
        cli_misuse(options->command, "--steal-max means nothing on a simulated machine, from which "
                                     "nobody takes time");
    if (options->sim_seed >= 0 && !simulated)
        cli_misuse(options->command, "--sim-seed takes --machine=sim:MODEL");
    if (request->flame && !simulated)
        cli_misuse(options->command, "--flame takes --machine=sim:MODEL: only simulated machines "
                                     "know where each miss was");
    if (options->why && !simulated)
        cli_misuse(options->command, "--why takes --machine=sim:MODEL: only simulated machines "
                                     "know where each miss was");
    request->sim_seed = options->sim_seed >= 0 ? (uint64_t)options->sim_seed : request->seed;
}

static void what_if_complete(struct options *options)
{
    char error[2 * ERROR_SIZE];
    if (!options->what_if)
        return;
    if (!options->machine.simulated)
        cli_misuse(options->command, "--what-if takes --machine=sim:MODEL: only a simulated "
                                     "machine can be another one");
    options->what_if_machine =
        machine_spec_what_if(options->machine.text, options->what_if, error, sizeof error);
    if (!options->what_if_machine)
        cli_misuse(options->command, "--what-if=%s: %s", options->what_if, error);
}

/* A simulated machine is run by another program, which may not be there. */
static void check_machine(const struct options *options)
{
    char path[PATH_SIZE], error[PATH_SIZE + ERROR_SIZE];
    if (!options->sample && machine_is_simulated())
        cli_misuse(options->command, "this program runs single samples; `schedlab run "
                                     "--machine=sim:MODEL` starts it");
    if (!options->machine.simulated ||
        machine_sim_program(NULL, path, sizeof path, error, sizeof error))
        return;
    fprintf(stderr, "%s: %s\n", options->command, error);
    exit(EXIT_FAILED);
}

static void check_events(const struct options *options)
{
    struct counter_names names;
    char error[ERROR_SIZE];
    if (!options->request.events)
        return;
    if (!counter_names_split(&names, options->request.events, error, sizeof error) ||
        !counter_names_check(&papi_api_native, &names, error, sizeof error))
        cli_misuse(options->command, "%s", error);
    counter_names_free(&names);
}

/* Variants ------------------------------------------------------------------------------------ */

/* The canonical specification. */
static char *variant_text(const struct options *options, const char *text)
{
    struct variant_spec spec;
    struct workload_spec workload;
    char error[ERROR_SIZE], unused[ERROR_SIZE];
    if (!variant_spec_parse(&spec, text, error, sizeof error)) {
        if (workload_spec_parse(&workload, text, unused, sizeof unused))
            cli_misuse(options->command, "one workload at a time, found \"%s\" before the last one",
                       text);
        cli_misuse(options->command, "%s", error);
    }
    char *canonical = xstrdup(spec.text);
    variant_spec_free(&spec);
    return canonical;
}

static void workload_parse(const struct options *options, struct workload_spec *workload)
{
    char error[ERROR_SIZE], unused[ERROR_SIZE];
    struct variant_spec variant;
    if (options->argument_count == 0)
        cli_misuse(options->command, "a workload is missing; `schedlab list workloads` names them");
    const char *text = options->arguments[options->argument_count - 1];
    if (workload_spec_parse(workload, text, error, sizeof error))
        return;
    if (variant_spec_parse(&variant, text, unused, sizeof unused))
        cli_misuse(options->command,
                   "a workload is missing after the variant \"%s\", it comes last; "
                   "`schedlab list workloads` names them",
                   text);
    cli_misuse(options->command, "%s", error);
}

static void check_workers(const struct options *options, const struct workload_spec *workload)
{
    char error[ERROR_SIZE];
    const char *more = options->more_workers;
    for (int n = options->request.workers; n; n = more ? next_workers(options, &more) : 0)
        if (!workload_spec_takes_workers(workload, n, error, sizeof error))
            cli_misuse(options->command, "%s", error);
}

/* Variants that were named, and have one worker whatever is asked for. */
static void warn_of_one_worker(const struct options *options)
{
    for (int i = 0; options->request.workers > 1 && i < options->argument_count - 1; i++) {
        struct variant_spec spec;
        char error[ERROR_SIZE];
        if (!variant_spec_parse(&spec, options->arguments[i], error, sizeof error))
            continue;
        if (spec.ops == &spec_serial || spec.ops->single_threaded)
            fprintf(stderr, "%s: warning: %s has one worker, however many are asked for\n",
                    options->command, spec.text);
        variant_spec_free(&spec);
    }
}

/* Where there are fewer cores; that is no misuse. */
static void warn_of_workers(const struct options *options)
{
    char text[ERROR_SIZE];
    const struct sample_request *request = &options->request;
    if (topology_is_crowded(request->workers, cores_of(options), request->pin, text, sizeof text))
        fprintf(stderr, "%s: warning: %s\n", options->command, text);
}

/* Cores that are taken away leave as many workers, who take turns. */
static void warn_of_cores(const struct options *options)
{
    char error[ERROR_SIZE];
    struct machine_spec spec;
    if (!options->what_if ||
        !machine_spec_parse(&spec, options->what_if_machine, error, sizeof error))
        return;
    if (spec.model.cores < options->request.workers)
        fprintf(stderr,
                "%s: warning: what if: %d workers take turns on %d cores; --workers %d has "
                "as many on both machines\n",
                options->command, options->request.workers, spec.model.cores, spec.model.cores);
    machine_spec_free(&spec);
}

/* Whether it runs where no variant is named: not `serial` where the workload has no such version,
 * and no other runtime. */
static bool is_meant_by_all(const struct sched_ops *ops, const struct workload *workload)
{
    return !peer_is(ops) && (ops != &spec_serial || workload->run_serial);
}

/* Puts behind each row the same one on the machine that is asked for by --what-if. */
static void rows_label(const struct options *options, struct run_row *rows, size_t *count)
{
    for (size_t i = *count; i-- > 0;) {
        rows[i].label = xstrdup(rows[i].variant);
        if (!options->what_if)
            continue;
        rows[2 * i] = rows[i];
        struct run_row *other = &rows[2 * i + 1];
        *other = (struct run_row){.variant = xstrdup(rows[2 * i].variant),
                                  .machine = options->what_if_machine,
                                  .records = json_array()};
        *(char **)&other->label = text_format("%s (what if)", other->variant);
    }
    if (options->what_if)
        *count *= 2;
}

/* The variants named, or all. */
static struct run_row *rows_make(const struct options *options, const struct workload *workload,
                                 size_t *count)
{
    *count = (size_t)options->argument_count - 1;
    bool all = *count == 0;
    const struct sched_ops *ops;
    while (all && (ops = spec_variant(*count)) && is_meant_by_all(ops, workload))
        ++*count;
    struct run_row *rows = xcalloc(2 * *count + 1, sizeof *rows);
    for (size_t i = 0; i < *count; i++) {
        rows[i].variant =
            variant_text(options, all ? spec_variant(i)->name : options->arguments[i]);
        rows[i].records = json_array();
        for (size_t k = 0; k < i; k++)
            if (strcmp(rows[k].variant, rows[i].variant) == 0)
                cli_misuse(options->command, "the variant \"%s\" is given twice", rows[i].variant);
    }
    rows_label(options, rows, count);
    return rows;
}

static void rows_free(struct run_row *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        free((char *)rows[i].variant);
        free((char *)rows[i].label);
        json_decref(rows[i].records);
    }
    free(rows);
}

/* One file, of one variant, that can be written. */
static void check_flame(const struct options *options, size_t rows)
{
    const char *path = options->request.flame;
    if (!path)
        return;
    if (rows != 1)
        cli_misuse(options->command,
                   "--flame takes one variant, without --what-if: its file is of one");
    FILE *file = fopen(path, "we");
    if (!file)
        cli_misuse(options->command, "--flame: cannot write %s: %s", path, strerror(errno));
    fclose(file);
}

/* Repetitions --------------------------------------------------------------------------------- */

/* A variant that was skipped or hung will be so again. */
static bool is_hopeless(const struct run_row *row)
{
    size_t i;
    json_t *record;
    json_array_foreach(row->records, i, record)
    {
        if (record_is(record, "skipped") || child_record_timed_out(record))
            return true;
    }
    return false;
}

/* All samples of one command take about as long. */
static double seconds_left(const struct progress *progress, int64_t started)
{
    if (progress->done == 0)
        return NAN;
    double each = (double)(go_now() - started) / 1e9 / (double)progress->done;
    return each * (double)(progress->total - progress->done);
}

static void measure_all(const struct options *options, const char *workload, struct run_row *rows,
                        size_t count)
{
    size_t *order = xcalloc(count + 1, sizeof *order);
    struct progress progress;
    struct sample_request request = options->request;
    request.workload = workload;
    progress_begin(&progress, stderr, count * (size_t)options->reps);
    if (!options->machine.simulated && options->request.min_time_ns > 0) {
        json_t *doctor = doctor_for_samples(); /* before anything of ours runs */
        doctor_warn(doctor, options->command, stderr);
        json_decref(doctor);
    }
    int64_t started = go_now();
    for (int block = 0; block < options->reps; block++) {
        plan_shuffle(count, options->request.seed, (unsigned)block, order);
        for (size_t i = 0; i < count; i++) {
            struct run_row *row = &rows[order[i]];
            request.variant = row->variant;
            request.machine = row->machine ? row->machine : options->request.machine;
            request.event_set = block;
            request.flame = block == 0 ? options->request.flame : NULL;
            request.sim_seed = machine_rep_seed(options->request.sim_seed, (unsigned)block);
            if (!is_hopeless(row)) {
                progress_show(&progress, row->label, seconds_left(&progress, started));
                json_array_append_new(row->records, child_run_sample(&request));
            }
            progress.done++;
        }
    }
    progress_end(&progress);
    free(order);
}

static void print_json(const struct run_table *table, json_t *records)
{
    json_t *object = json_pack("{sO so}", "records", records, "summary", run_table_summary(table));
    if (table->what_if)
        json_object_set_new(object, "what_if", run_table_what_if(table));
    json_dumpf(object, stdout, JSON_INDENT(2));
    putchar('\n');
    json_decref(object);
}

static int run_all(const struct options *options)
{
    struct workload_spec workload;
    workload_parse(options, &workload);
    check_workers(options, &workload);
    struct run_table table = {
        .workload = workload.text,
        .op = workload.workload->op,
        .machine = options->request.machine,
        .workers = options->request.workers,
        .what_if = options->what_if,
        .seed = options->request.seed,
        .all_events = options->request.events != NULL,
    };
    table.rows = rows_make(options, workload.workload, &table.count);
    check_flame(options, table.count);
    warn_of_workers(options);
    warn_of_one_worker(options);
    warn_of_cores(options);
    measure_all(options, workload.text, table.rows, table.count);
    json_t *records = run_table_records(&table);
    same_work_judge_all(records);
    if (options->json)
        print_json(&table, records);
    else
        run_table_print(&table, stdout, stderr);
    if (options->why && !options->json)
        why_table_print(&table, stdout);
    int status = run_table_status(&table);
    json_decref(records);
    rows_free(table.rows, table.count);
    workload_spec_free(&workload);
    return status;
}

/* For each number of workers. */
static int run_each(struct options *options)
{
    int status = run_all(options);
    while (options->more_workers) {
        options->request.workers = next_workers(options, &options->more_workers);
        putchar('\n');
        status |= run_all(options); /* EXIT_DONE is 0 */
    }
    return status;
}

struct sample_run {
    const struct sample_request *request;
    json_t *record;
    char *error;
    size_t error_size;
};

static void sample_on_machine(void *arg)
{
    struct sample_run *run = arg;
    run->record = sample_measure(run->request, run->error, run->error_size);
}

/* Where the scheduler's events go, or NULL. */
static FILE *sched_events_open(const struct options *options)
{
    int fd = options->request.sched_events_fd;
    if (fd <= 0)
        return NULL;
    if (!machine_events_keep(options->request.sched_events_max))
        cli_misuse(options->command, "--sched-events-fd takes a simulated machine, or a program "
                                     "that `make trace` builds");
    FILE *to = fdopen(fd, "w");
    if (!to)
        cli_misuse(options->command, "--sched-events-fd=%d: %s", fd, strerror(errno));
    return to;
}

static int run_sample(struct options *options)
{
    char error[ERROR_SIZE];
    if (options->argument_count != 2)
        cli_misuse(options->command,
                   "--sample takes one variant and one workload, found %d arguments",
                   options->argument_count);
    /* With hyperfine in between, this is the grandchild of a sweep, which may be killed. */
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    options->request.variant = options->arguments[0];
    options->request.workload = options->arguments[1];
    struct sample_run run = {&options->request, NULL, error, sizeof error};
    FILE *events = sched_events_open(options);
    if (options->request.lock_step &&
        !machine_lock_step(options->request.lock_step, error, sizeof error))
        cli_misuse(options->command, "--lock-step: %s", error);
    if (!machine_start(options->request.machine, options->request.sim_seed, sample_on_machine, &run,
                       error, sizeof error) ||
        !run.record)
        cli_misuse(options->command, "%s", error);
    if (events) {
        machine_events_write(events);
        if (fclose(events) != 0)
            cli_misuse(options->command, "--sched-events-fd: %s", strerror(errno));
    }
    json_t *record = run.record;
    json_dumpf(record, stdout, JSON_COMPACT);
    putchar('\n');
    bool failed = record_is(record, "failed");
    if (failed)
        fprintf(stderr, "%s: %s\n", options->command, field_text(record, "reason"));
    json_decref(record);
    return failed ? EXIT_FAILED : EXIT_DONE;
}

int cmd_run(int argc, char **argv)
{
    struct options options = {
        .command = argv[0],
        .request = {.warmup = 1,
                    .seed = 1,
                    .timeout_s = TIMEOUT_DEFAULT_S,
                    .steal_max_percent = STEAL_MAX_DEFAULT_PERCENT,
                    .sched_events_max = SIZE_MAX},
        .iterations = -1,
        .min_time_ns = -1,
        .sim_seed = -1,
    };
    if (cmd_run_cell_is_meant(argc, argv))
        return cmd_run_cell(argc, argv);
    cli_parse(&argp, argc, argv, &options);
    options_complete(&options);
    check_events(&options);
    check_machine(&options);
    what_if_complete(&options);
    if (options.request.scheddetail && options.request.schedtrace_ns == 0)
        cli_misuse(options.command, "--scheddetail comes with --schedtrace=MS");
    /* The samples' standard error is kept for their records: the lines go past it. */
    if (options.request.schedtrace_ns > 0 && !options.sample)
        options.request.schedtrace_fd = dup(STDERR_FILENO);
    int status = options.sample ? run_sample(&options) : run_each(&options);
    machine_spec_free(&options.machine);
    free(options.what_if_machine);
    free(options.arguments);
    return status;
}
