/* cmd_run.c - `schedlab run`: one workload on some variants, each repetition in its own process. */
#include "harness/base/json_fields.h"
#include "harness/base/memory.h"
#include "harness/base/progress.h"
#include "harness/base/text.h"
#include "harness/commands/commands.h"
#include "harness/counters/counter_names.h"
#include "harness/doctor/doctor.h"
#include "harness/host/topology.h"
#include "harness/models/machine_spec.h"
#include "harness/models/machine_start.h"
#include "harness/options/cli.h"
#include "harness/plan/plan.h"
#include "harness/records/records.h"
#include "harness/records/same_work.h"
#include "harness/records/sample_request.h"
#include "harness/run/run_answer.h"
#include "harness/run/run_table.h"
#include "harness/run/why_table.h"
#include "harness/sample/child.h"
#include "harness/spec/peer_table.h"
#include "harness/spec/spec.h"
#include "sched.h"
#include "workloads/workload.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    REPS_DEFAULT = 7,
    ITERATIONS_DEFAULT = 3,
    MIN_TIME_DEFAULT_MS = 200,
    SIM_REPS_DEFAULT = 1,   /* the same each time */
    BRIEF_DEFAULT_MS = 100, /* of calls that are very short, and their checks */
    WARMUP_UNSET = -2,
    WHAT_IF_REPS_DEFAULT = 7, /* enough for an interval */

    TIMEOUT_DEFAULT_S = 60,
    PATH_SIZE = 4096,
};

struct options {
    struct sample_request request;
    const struct machine_spec *machine;
    const char *what_if;      /* as typed; NULL: not given */
    char *what_if_machine;    /* canonical */
    int reps;                 /* 0: not given */
    const char *more_workers; /* after the first number; NULL: none */
    bool json, why, all_events;
    bool usual;                /* neither --iterations nor --min-time is given */
    bool warned;               /* of what is so for every number of workers */
    struct cli_list arguments; /* variants, then the workload */
    /* The arguments; where no variant is named, all of them. */
    const struct variant_spec **variants;
    size_t variants_count;
    const struct workload_spec *workload;
};

/* Options ------------------------------------------------------------------------------------- */

static int next_workers(const char **list)
{
    return (int)cli_next_number("workers", list, 1, SAMPLE_WORKERS_MAX);
}

static void workers_take(void *to, char *text)
{
    struct options *options = to;
    options->more_workers = text;
    options->request.workers = next_workers(&options->more_workers);
}

static const struct cli_option option_table[] = {
    {"workers", "N[,N...]",
     "workers (cores) to use; default: all this process may use, or all of the simulated machine; "
     "of several, a table each",
     .take = workers_take, .letter = 'w'},
    {"reps", "N",
     "repetitions, each a process of its own, in shuffled blocks; 6 at least show a difference; "
     "default 7, or 1 on a simulated machine, where all are the same but for the seed",
     CLI(INT, reps), .letter = 'r', .least = 1, .most = 1000},
    {"all-events", NULL,
     "show all events that are not 0, not only the three that differ most between the variants",
     CLI(FLAG, all_events)},
    {"timeout", "S", "seconds a repetition may take, 0 for no limit; default 60",
     CLI(LIMIT, request.timeout_s)},
    {"machine", "MACHINE",
     "native (default), or a simulated one: sim:MODEL[,KEY=VALUE]...; see `schedlab list machines`",
     CLI(MACHINE, machine)},
    {"why", NULL,
     "on a simulated machine: show where the misses were, by structure and by line of the source",
     CLI(FLAG, why)},
    {"what-if", "KEY=VALUE,...",
     "on a simulated machine: run each variant also on the machine with these settings, and show "
     "what that would buy; a key of the machine, or STRUCTURE=free, see `schedlab list sim:MODEL`; "
     "7 repetitions by default",
     CLI(ONCE, what_if)},
    {"format", "FORMAT", "table (default) or json", CLI(JSON, json), .letter = 'f'},
    {0},
};

static const char help[] =
    "Runs WORKLOAD on each VARIANT, or on all but peers if none is named. It ends with an answer: "
    "which is best, by how much, and whether that is shown. Before the answer stand the median "
    "throughputs with their 95 % intervals, the fastest first, and events per operation. A "
    "specification is NAME[,KEY=VALUE]...; `schedlab list` shows names, keys and ranges. Numbers "
    "may end in k, M, G (powers of 1000) or Ki, Mi, Gi (powers of 1024). A workload's may be per "
    "worker: uneven,tasks=1k/worker has 4000 tasks on four workers.\v"
    "A difference is shown if p < 0.05 in the Mann-Whitney test, adjusted by Holm over all pairs "
    "of variants; ~ means that none is shown. Of the latencies the p99 is compared. The three "
    "events are those with the largest ratio between two variants, where less than 0.001 an "
    "operation counts as 0.001.\n\n"
    "A repetition makes its timed calls until both --iterations and --min-time are reached. It "
    "gives --min-time up, and says so, after 20 times as much wall time: reading counters and "
    "checking answers may take longer than calls that are very short. With neither option 100 ms "
    "and 1000 calls are enough, if most of the time is not the calls'. A workload that prints its "
    "result, such as order, is called once. Of six repetitions or more, those that lost time to "
    "other programs, the hypervisor or heat are measured again, as many as --reps at most, and "
    "left out unless most of a variant's did.\n\nExample:\n"
    "  schedlab run gmp gmp,runnext=off grq fib,n=25 --workers 2\n\n"
    "`schedlab run --cell ID --sweep FILE` measures a single cell of a sweep instead, whose id "
    "`schedlab sweep FILE --plan` prints; see `schedlab run --cell --help`.\n\n"
    "Exit status: 0 done, though some variants may have been skipped; 1 a variant failed, or all "
    "were skipped; 2 misused.";

static const struct cli_command cli = {
    .options = option_table,
    .arguments = "[VARIANT...] WORKLOAD",
    .has_request = true,
    .request_flag = FIELD_OF_RUN,
    .request_offset = offsetof(struct options, request),
    .list_most = SIZE_MAX,
    .list_offset = offsetof(struct options, arguments),
    .help = help,
};

static int cores_of(const struct options *options)
{
    return options->machine->simulated ? options->machine->model.cores : topology_cpu_count();
}

/* The rule in the help text: whoever gives one of the two means only that one. */
static void options_complete(struct options *options)
{
    struct sample_request *request = &options->request;
    if (options->more_workers && (options->json || request->flame))
        cli_misuse("--flame and --format=json take one --workers");
    if (options->all_events && (options->json || request->events))
        cli_misuse("--all-events stands alone: --%s",
                   options->json ? "format=json has all of them" : "events names those to show");
    bool simulated = options->machine->simulated;
    options->usual = request->iterations == 0 && request->min_time_ns < 0;
    bool neither = options->usual && !simulated;
    if (neither)
        request->brief_ns = BRIEF_DEFAULT_MS * INT64_C(1000000);
    if (request->iterations == 0)
        request->iterations = neither ? ITERATIONS_DEFAULT : 1;
    if (request->min_time_ns < 0)
        request->min_time_ns = neither ? MIN_TIME_DEFAULT_MS * INT64_C(1000000) : 0;
    if (request->workers == 0)
        request->workers = cores_of(options);
    if (options->reps == 0)
        options->reps = !simulated         ? REPS_DEFAULT
                        : options->what_if ? WHAT_IF_REPS_DEFAULT
                                           : SIM_REPS_DEFAULT;
    if (request->steal_max_percent != STEAL_MAX_DEFAULT_PERCENT && simulated)
        cli_misuse(
            "--steal-max means nothing on a simulated machine, from which nobody takes time");
    bool seeded = request->sim_seed != SIM_SEED_UNSET;
    if (seeded && !simulated)
        cli_misuse("--sim-seed takes --machine=sim:MODEL");
    if (request->flame && !simulated)
        cli_misuse(
            "--flame takes --machine=sim:MODEL: only simulated machines know where each miss was");
    if (options->why && !simulated)
        cli_misuse(
            "--why takes --machine=sim:MODEL: only simulated machines know where each miss was");
    if (!seeded)
        request->sim_seed = request->seed;
}

static void what_if_complete(struct options *options)
{
    struct error error;
    if (!options->what_if)
        return;
    if (!options->machine->simulated)
        cli_misuse(
            "--what-if takes --machine=sim:MODEL: only a simulated machine can be another one");
    options->what_if_machine =
        machine_spec_what_if(options->machine->text, options->what_if, &error);
    if (!options->what_if_machine)
        cli_misuse("--what-if=%s: %s", options->what_if, error.text);
}

/* A simulated machine is run by another program, which may not be there. */
static void check_machine(const struct options *options)
{
    char path[PATH_SIZE];
    struct error error;
    if (machine_is_simulated())
        cli_misuse(
            "this program runs single samples; `schedlab run --machine=sim:MODEL` starts it");
    if (!options->machine->simulated || machine_sim_program(NULL, path, sizeof path, &error))
        return;
    cli_give_up("%s", error.text);
}

static void check_events(const struct options *options)
{
    struct error error;
    if (options->request.events && !counter_list_check(options->request.events, &error))
        cli_misuse("%s", error.text);
}

/* Specifications, each parsed once ------------------------------------------------------------ */

static const struct variant_spec *variant_of(const char *text)
{
    struct error error, unused;
    const struct variant_spec *variant = variant_spec_kept(text, &error);
    if (variant)
        return variant;
    if (workload_spec_kept(text, &unused))
        cli_misuse("one workload at a time, found \"%s\" before the last word; valid: [VARIANT...] "
                   "WORKLOAD; `schedlab sweep` takes a file with several workloads",
                   text);
    cli_misuse("%s", error.text);
}

static void workload_parse(struct options *options)
{
    struct error error, unused;
    if (options->arguments.count == 0)
        cli_misuse("a workload is missing; `schedlab list workloads` names them");
    const char *text = options->arguments.text[options->arguments.count - 1];
    options->workload = workload_spec_kept(text, &error);
    if (options->workload)
        return;
    if (variant_spec_kept(text, &unused))
        cli_misuse("a workload is missing after the variant \"%s\", it comes last; `schedlab list "
                   "workloads` names them",
                   text);
    cli_misuse("%s", error.text);
}

static void check_workers(struct options *options)
{
    struct error error;
    const char *more = options->more_workers;
    for (int n = options->request.workers; n; n = more ? next_workers(&more) : 0)
        if (!workload_spec_fit_workers(options->workload, n, &error))
            cli_misuse("%s", error.text);
}

/* A workload whose result is what it prints of one call is called once, unless it is to be timed.
 * Returns whether it is not. */
static bool shown_complete(struct options *options, const struct workload *workload)
{
    struct sample_request *request = &options->request;
    bool is_shown = workload->is_shown && options->usual;
    if (is_shown) {
        request->iterations = 1;
        request->min_time_ns = 0;
    }
    if (request->warmup == WARMUP_UNSET)
        request->warmup = is_shown ? 0 : sample_request_usual().warmup;
    return is_shown;
}

/* True if the variant runs where none is named. Other runtimes and `elision` do not, nor does
 * `serial` where the workload has no such version. */
static bool is_meant_by_all(const struct sched_ops *ops, const struct workload *workload)
{
    return !peer_is(ops) && ops != &spec_elision && (ops != &spec_serial || workload->run_serial);
}

static bool all_are_meant(const struct options *options)
{
    return options->arguments.count == 1;
}

/* The variants named, or all. */
static void variants_parse(struct options *options)
{
    size_t count = options->arguments.count - 1;
    const struct sched_ops *ops;
    while (all_are_meant(options) && (ops = spec_variant(count)) &&
           is_meant_by_all(ops, options->workload->workload))
        count++;
    const struct variant_spec **variants = xcalloc(count + 1, sizeof *variants);
    for (size_t i = 0; i < count; i++) {
        variants[i] =
            variant_of(all_are_meant(options) ? spec_variant(i)->name : options->arguments.text[i]);
        for (size_t k = 0; k < i; k++)
            if (strcmp(variants[k]->text, variants[i]->text) == 0)
                cli_misuse("the variant \"%s\" is given twice", variants[i]->text);
    }
    options->variants = variants;
    options->variants_count = count;
}

/* Warnings ------------------------------------------------------------------------------------ */

/* Variants that were named, and have one worker whatever is asked for. */
static void warn_of_one_worker(const struct options *options)
{
    for (size_t i = 0; options->request.workers > 1 && i + 1 < options->arguments.count; i++) {
        const struct variant_spec *spec = options->variants[i];
        if (spec_is_serial(spec->ops) || spec->ops->single_threaded)
            cli_say("warning: %s has one worker, however many are asked for", spec->text);
    }
}

/* Warns if so few repetitions have no interval, or can show no difference between so many. */
static void warn_of_reps(const struct options *options, const struct run_table *table)
{
    size_t competitors = 0;
    for (size_t i = 0; i < table->count; i++)
        competitors += !peer_is_floor_name(table->rows[i].variant);
    int least = run_answer_reps_min(competitors);
    if (options->machine->simulated || table->is_shown || options->reps >= least)
        return;
    cli_say("warning: %s %s too few %s: it takes %d",
            counted((uint64_t)options->reps, "repetition").s, options->reps == 1 ? "is" : "are",
            competitors > 1 ? "to show a difference" : "for an interval", least);
}

/* Warns of other programs on the machine, before anything of ours runs. */
static void warn_of_others(const struct options *options)
{
    if (options->machine->simulated || options->request.min_time_ns == 0)
        return;
    json_t *doctor = doctor_for_samples();
    doctor_warn(doctor, cli_name(), stderr);
    json_decref(doctor);
}

/* Cores that are taken away leave as many workers, who take turns. */
static void warn_of_cores(const struct options *options)
{
    if (!options->what_if)
        return;
    int cores = machine_spec_cores(options->what_if_machine);
    if (cores < options->request.workers)
        cli_say("warning: what if: %d workers take turns on %d cores; --workers %d has as many on "
                "both machines",
                options->request.workers, cores, cores);
}

/* Rows ---------------------------------------------------------------------------------------- */

/* Puts behind each row the same one on the machine that is asked for by --what-if. */
static void rows_label(const struct options *options, struct run_row *rows, size_t *count)
{
    for (size_t i = *count; i-- > 0;) {
        rows[i].label = xstrdup(rows[i].variant);
        if (!options->what_if)
            continue;
        rows[2 * i] = rows[i];
        struct run_row *other = &rows[2 * i + 1];
        *other = (struct run_row){.variant = rows[2 * i].variant,
                                  .allocator = rows[2 * i].allocator,
                                  .machine = options->what_if_machine,
                                  .records = json_array()};
        *(char **)&other->label = text_format("%s (what if)", other->variant);
    }
    if (options->what_if)
        *count *= 2;
}

static struct run_row *rows_make(const struct options *options, size_t *count)
{
    *count = options->variants_count;
    if (all_are_meant(options))
        cli_say("no variant is named: all %zu run", *count);
    struct run_row *rows = xcalloc(2 * *count + 1, sizeof *rows);
    for (size_t i = 0; i < *count; i++) {
        rows[i].variant = options->variants[i]->text;
        rows[i].allocator = (enum allocator)options->variants[i]->common.malloc;
        rows[i].records = json_array();
    }
    rows_label(options, rows, count);
    return rows;
}

static void rows_free(struct run_row *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
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
        cli_misuse("--flame takes one variant, without --what-if: its file is of one");
    FILE *file = fopen(path, "we");
    if (!file)
        cli_misuse("--flame: cannot write %s: %s", path, strerror(errno));
    fclose(file);
}

/* Repetitions --------------------------------------------------------------------------------- */

/* A variant that was skipped or hung will be so again. */
static bool is_hopeless(const struct run_row *row)
{
    json_each(record, row->records) {
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

/* All repetitions of one command, so far. */
struct measuring {
    const struct options *options;
    struct progress progress;
    int64_t started;
};

static void measure_one(struct measuring *self, struct run_row *row, int block)
{
    const struct options *options = self->options;
    struct sample_request request = options->request;
    request.workload = options->workload->text;
    request.variant = row->variant;
    request.allocator = row->allocator;
    request.machine = row->machine ? row->machine : options->request.machine;
    request.event_set = block;
    request.flame = block == 0 ? options->request.flame : NULL;
    request.sim_seed = machine_rep_seed(options->request.sim_seed, (unsigned)block);
    if (!is_hopeless(row)) {
        progress_show(&self->progress, row->label, seconds_left(&self->progress, self->started));
        run_row_add(row, child_run_sample(&request));
    }
    self->progress.done++;
}

/* One repetition of each row in a block; behind the last block, of those that were disturbed. False
 * if there are none. */
static bool measure_block(struct measuring *self, struct run_table *table, int block)
{
    const struct options *options = self->options;
    bool repeats = block >= options->reps, any = false;
    size_t *order = xcalloc(table->count + 1, sizeof *order);
    plan_shuffle(table->count, options->request.seed, (unsigned)block, order);
    for (size_t i = 0; i < table->count; i++) {
        struct run_row *row = &table->rows[order[i]];
        if (repeats && (is_hopeless(row) || !run_row_wants_repeat(row, options->reps)))
            continue;
        self->progress.total += repeats;
        measure_one(self, row, block);
        any = true;
    }
    free(order);
    return any;
}

static void measure_all(const struct options *options, struct run_table *table)
{
    struct measuring measuring = {.options = options};
    progress_begin(&measuring.progress, stderr, table->count * (size_t)options->reps);
    measuring.started = go_now();
    int block = 0;
    bool any = true;
    while (any && (block < options->reps || !table->is_shown))
        any = measure_block(&measuring, table, block++);
    progress_end(&measuring.progress);
}

/* Output -------------------------------------------------------------------------------------- */

static void print_json(const struct run_table *table, json_t *records)
{
    struct run_answers answers;
    run_answers_make(&answers, table);
    json_t *object = json_pack("{sO so so}", "records", records, "summary",
                               run_table_summary(table), "answers", run_answers_to_json(&answers));
    if (table->what_if)
        json_object_set_new(object, "what_if", run_table_what_if(table));
    cli_print_json(object, 0);
    run_answers_free(&answers);
}

static void print_tables(const struct options *options, struct run_table *table)
{
    struct run_answers answers;
    run_table_sort(table);
    run_answers_make(&answers, table);
    run_table_print(table, &answers.of[0], stdout, stderr);
    if (options->why)
        why_table_print(table, stdout);
    run_answers_print(&answers, table->colour, stdout);
    run_answers_free(&answers);
}

/* Warnings that hold for every number of workers come once, before the first. */
static void warn(struct options *options, const struct run_table *table)
{
    cli_warn_of_workers(options->request.workers, cores_of(options), options->request.pin);
    warn_of_cores(options);
    if (!options->warned) {
        warn_of_one_worker(options);
        warn_of_reps(options, table);
        warn_of_others(options);
    }
    options->warned = true;
}

static int run_all(struct options *options)
{
    const struct workload_spec *workload = options->workload;
    struct run_table table = {
        .workload = workload->text,
        .op = workload->workload->op,
        .machine = options->request.machine,
        .workers = options->request.workers,
        .reps = options->reps,
        .what_if = options->what_if,
        .seed = options->request.seed,
        .events = options->all_events       ? RUN_EVENTS_ALL
                  : options->request.events ? RUN_EVENTS_NAMED
                                            : RUN_EVENTS_TELLING,
        .is_paced = workload->workload->is_paced && workload->workload->is_paced(workload->params),
        .is_shown = shown_complete(options, workload->workload),
        .colour = cli_wants_colour(),
    };
    table.rows = rows_make(options, &table.count);
    check_flame(options, table.count);
    warn(options, &table);
    measure_all(options, &table);
    json_t *records = run_table_records(&table);
    same_work_judge_all(records);
    if (options->json)
        print_json(&table, records);
    else
        print_tables(options, &table);
    int status = run_table_status(&table);
    json_decref(records);
    rows_free(table.rows, table.count);
    return status;
}

/* For each number of workers. */
static int run_each(struct options *options)
{
    workload_parse(options);
    check_workers(options);
    variants_parse(options);
    int status = run_all(options);
    while (options->more_workers) {
        options->request.workers = next_workers(&options->more_workers);
        check_workers(options);
        putchar('\n');
        status |= run_all(options); /* EXIT_DONE is 0 */
    }
    return status;
}

int cmd_run(int argc, char **argv)
{
    static const struct machine_spec native = {.simulated = false};
    struct options options = {
        .request = sample_request_usual(),
        .machine = &native,
    };
    options.request.workers = 0;      /* not given */
    options.request.min_time_ns = -1; /* not given */
    options.request.warmup = WARMUP_UNSET;
    options.request.timeout_s = TIMEOUT_DEFAULT_S;
    if (cmd_run_cell_is_meant(argc, argv))
        return cmd_run_cell(argc, argv);
    cli_read(&cli, argc, argv, &options);
    options.request.machine = options.machine->text;
    options_complete(&options);
    check_events(&options);
    check_machine(&options);
    what_if_complete(&options);
    if (options.request.scheddetail && options.request.schedtrace_ns == 0)
        cli_misuse("--scheddetail comes with --schedtrace=MS");
    /* The samples' standard error is kept for their records: the lines go past it. */
    if (options.request.schedtrace_ns > 0)
        options.request.schedtrace_fd = dup(STDERR_FILENO);
    int status = run_each(&options);
    free(options.variants);
    free(options.what_if_machine);
    free(options.arguments.text);
    return status;
}
