/* cmd_diff.c - `schedlab diff`: where two schedulers part on a simulated machine. */
#include "harness/base/json_fields.h"
#include "harness/commands/commands.h"
#include "harness/models/machine_spec.h"
#include "harness/models/machine_start.h"
#include "harness/options/cli.h"
#include "harness/options/trace_options.h"
#include "harness/records/records.h"
#include "harness/records/sample_request.h"
#include "harness/sample/child.h"
#include "harness/spec/spec.h"
#include "harness/trace/diff.h"
#include "harness/trace/trace.h"
#include "sched.h"

#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { SENTENCE_SIZE = 1024, PATH_SIZE = 4096, ARGUMENTS = 3 };
enum { WIDTH_DEFAULT = 100, WIDTH_MIN = 80, CONTEXT_DEFAULT = 8, MOST_DEFAULT = 2000000 };
enum { TIMEOUT_DEFAULT_S = 60 };

static const char MACHINE_DEFAULT[] = "sim:desktop8";
static const char *const format_words[] = {"table", "json", "page", NULL};
enum format { FORMAT_TABLE, FORMAT_JSON, FORMAT_PAGE };

struct options {
    struct cli_list arguments; /* A, B, workload */
    const struct machine_spec *machine;
    struct variant_spec variant[2];
    const struct workload_spec *workload;
    struct sample_request request;
    int64_t seed_b; /* -1: that of A */
    int64_t context;
    int format; /* enum format */
    const char *only_text;
    struct trace_only *only; /* NULL: all events */
    const char *output;      /* NULL: standard output */
};

static const struct cli_option option_table[] = {
    {"workers", "N", "workers (cores) to use; default: all cores of the machine",
     CLI(INT, request.workers), .letter = 'w', .least = 1, .most = SAMPLE_WORKERS_MAX},
    {"machine", "MACHINE",
     "sim:MODEL[,KEY=VALUE]...; default sim:desktop8; see `schedlab list machines`",
     CLI(MACHINE, machine)},
    {"seed", "N", "of the workload, the machine and the scheduler; default 1",
     CLI(NUMBER, request.seed), .most = 0x1p63},
    {"seed-b", "N",
     "of the machine and the scheduler of B, the workload's stays; default: that of --seed",
     CLI(NUMBER, seed_b), .most = 0x1p63},
    {"context", "K", "events shown before and after; default 8", CLI(NUMBER, context),
     .most = 10000},
    {"warmup", "N",
     "calls before the one that is compared; default 0. The first call meets cold memory. A page "
     "has them, and opens on the call after them",
     CLI(INT, request.warmup), .most = 1000},
    {"most", "N", "keep the first N events; default 2M, about 90 MB of memory for each million",
     CLI(NUMBER, request.sched_events_max), .least = 1, .most = 1e9},
    {"only", "LIST",
     "compare events of these kinds, goroutines or workers alone: stolen,woken or G3,P1; as "
     "`schedlab trace --only`",
     CLI(ONCE, only_text)},
    {"timeout", "S", "seconds a run may take, 0 for no limit; default 60",
     CLI(LIMIT, request.timeout_s)},
    {"format", "FORMAT", "table (default), json, or page, with both runs to look around in",
     CLI(WORD, format), .words = format_words},
    {"output", "FILE", "where to; default: the terminal", CLI(TEXT, output)},
    {0},
};

static const char argp_doc[] =
    "Runs WORKLOAD once under A and once under B, on a simulated machine and with one seed. Shows "
    "the first event at which the two schedulers part: what each did, the events around it, and "
    "the totals from this event to the end. A and B are variants with their knobs; they may be the "
    "same.\v"
    "It compares what schedulers do: a goroutine is made, readied, taken from a queue, run, "
    "parked; a worker steals, spins, sleeps, wakes another one. Times are not compared, but the "
    "first that differs is told. They count from the first event of each run, or with --warmup of "
    "the call after those. A goroutine is named by who made it: G3 is the fourth that main made, "
    "G3.1 the second that this one did. Events of two workers may come in another order though "
    "each worker does the same. Then it says so, and where a worker first does something else.\n\n"
    "Example:\n"
    "  schedlab diff gmp gmp,tick=64 yield,n=200,yielders=3 --workers 1\n"
    "  schedlab diff gmp perm fib,n=12 --machine sim:server64 --workers 16\n"
    "  schedlab diff gmp gmp,victim=fixed fib,n=12 --only stolen\n"
    "  schedlab diff gmp gmp fib,n=12 --seed-b 2\n\n"
    "Exit status: 0 done, no difference; 1 events or their times differ, or a run failed; 2 "
    "misused.";

static const struct cli_command cli = {
    .options = option_table,
    .arguments = "A B WORKLOAD",
    .help = argp_doc,
    .list_offset = offsetof(struct options, arguments),
    .list_most = ARGUMENTS,
    .too_many = "two variants and a workload",
};

/* Arguments that are right alone may be wrong together. */
static void options_complete(struct options *options)
{
    struct error error;
    if (!options->machine)
        options->machine = cli_machine(MACHINE_DEFAULT);
    if (!options->machine->simulated)
        cli_misuse("--machine=%s: events in order, and the same in each run, take a simulated "
                   "machine: sim:MODEL[,KEY=VALUE]...",
                   options->machine->text);
    options->only = trace_option_only(options->only_text);
    if (options->arguments.count < ARGUMENTS)
        cli_misuse(
            "two variants and a workload, for example gmp gmp,tick=64 yield,n=200,yielders=3");
    if (options->only && options->format == FORMAT_PAGE)
        cli_misuse("--only comes with --format=table or json; a page has all events, since its "
                   "queues follow from them");
    for (int side = 0; side < 2; side++)
        cli_traced(&options->variant[side], options->arguments.text[side]);
    options->workload = workload_spec_kept(options->arguments.text[2], &error);
    if (!options->workload)
        cli_misuse("%s", error.text);
    struct sample_request *request = &options->request;
    if (request->workers == 0)
        request->workers = options->machine->model.cores;
    if (!workload_spec_fit_workers(options->workload, request->workers, &error))
        cli_misuse("%s", error.text);
    cli_warn_of_workers(request->workers, options->machine->model.cores, false);
    trace_option_output_check(options->output);
    request->sched_sites = options->format == FORMAT_PAGE;
    request->machine = options->machine->text;
    request->workload = options->workload->text;
}

/* All events of a run. Calls before the compared one are no part of its side. */
struct whole {
    struct sched_trace trace;
    size_t before;
    int64_t call_ps;  /* of the compared call, from the first event; 0: it is the first */
    int64_t shift_ps; /* from the times of its side to those of the run */
};

/* The events of the run that are before the compared call. Rows are in the order in which they took
 * effect, so that times may go back a little. */
static void whole_cut(const struct options *options, struct whole *whole,
                      const struct diff_side *side)
{
    struct sched_trace *trace = &whole->trace;
    whole->call_ps = trace_option_call(side->record, trace, options->request.warmup);
    while (whole->call_ps > 0 && whole->before < trace->count &&
           trace->event[whole->before].when_ps - trace->event[0].when_ps < whole->call_ps)
        whole->before++;
    if (whole->before > 0 && whole->before == trace->count)
        cli_give_up("%s: no event of the compared call was kept; valid: a larger --most, or fewer "
                    "calls to warm up",
                    side->variant);
}

/* The side is the run's events from the compared call on, with times of its own. */
static void whole_share(struct whole *whole, struct diff_side *side)
{
    side->trace = whole->trace;
    side->trace.event += whole->before;
    whole->shift_ps = whole->before > 0 ? side->trace.event[0].when_ps : 0;
    side->trace.count -= whole->before;
    side->trace.happened -= whole->before;
    sched_trace_from_first(&side->trace);
}

/* One run: its record, and what its scheduler did. */
static void side_run(const struct options *options, struct diff_side *side, uint64_t seed,
                     struct whole *whole)
{
    struct sample_request request = options->request;
    struct error error;
    request.variant = side->variant;
    request.sim_seed = seed;
    side->record = child_run_traced(&request, &whole->trace, &error);
    if (!side->record)
        cli_give_up("%s: %s", side->variant, error.text);
    whole_cut(options, whole, side);
    sched_trace_from_first(&whole->trace);
}

static int terminal_width(void)
{
    struct winsize window;
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &window) < 0 || window.ws_col == 0)
        return WIDTH_DEFAULT;
    return window.ws_col > WIDTH_MIN ? window.ws_col : WIDTH_MIN;
}

/* Both runs, one below the other. A page has all events, from the first one's time. */
static void page_write(const struct options *options, struct diff_page *diff, struct whole whole[2],
                       FILE *to)
{
    struct trace_page pages[2];
    const struct trace_page *both[2] = {&pages[0], &pages[1]};
    char sentence[SENTENCE_SIZE];
    struct error error;
    for (int side = 0; side < 2; side++) {
        const struct sched_ops *ops = options->variant[side].ops;
        for (size_t i = 0; i < diff->side[side].trace.count && whole[side].before > 0; i++)
            diff->side[side].trace.event[i].when_ps += whole[side].shift_ps;
        trace_times_rise(&whole[side].trace);
        pages[side] = (struct trace_page){.variant = diff->side[side].variant,
                                          .workload = diff->workload,
                                          .machine = diff->machine,
                                          .workers = diff->workers,
                                          .seed = diff->seed[side],
                                          .by_m = ops->m_init,
                                          .record = diff->side[side].record,
                                          .trace = whole[side].trace,
                                          .call_ps = whole[side].call_ps,
                                          .before = whole[side].before};
    }
    bool parts = diff->diff.at != DIFF_NONE;
    struct trace_parting parting = {diff->diff.at + (int64_t)whole[0].before,
                                    parts ? diff_sentence(diff, sentence, sizeof sentence) : NULL};
    if (!trace_html_write(both, 2, parts ? &parting : NULL, to, &error))
        cli_give_up("the page: %s", error.text);
}

static void answer_write(const struct options *options, struct diff_page *page,
                         struct whole whole[2])
{
    FILE *to = trace_option_output_open(options->output);
    if (options->format == FORMAT_JSON) {
        json_t *object = diff_to_json(page);
        json_dumpf(object, to, JSON_INDENT(2));
        fputc('\n', to);
        json_decref(object);
    } else if (options->format == FORMAT_PAGE) {
        page_write(options, page, whole, to);
    } else {
        diff_print(page, to == stdout ? terminal_width() : WIDTH_DEFAULT, to);
    }
    trace_option_output_close(to);
}

static int diff_run(const struct options *options)
{
    uint64_t seed = options->request.seed;
    struct diff_page page = {
        .workload = options->workload->text,
        .machine = options->machine->text,
        .workers = options->request.workers,
        .seed = {seed, options->seed_b >= 0 ? (uint64_t)options->seed_b : seed},
        .warmup = options->request.warmup,
        .context = (size_t)options->context,
        .only = options->only ? trace_only_text(options->only) : NULL,
    };
    struct whole whole[2] = {0};
    for (int side = 0; side < 2; side++) {
        page.side[side].variant = options->variant[side].text;
        side_run(options, &page.side[side], page.seed[side], &whole[side]);
    }
    diff_number(&whole[0].trace, &whole[1].trace);
    for (int side = 0; side < 2; side++)
        whole_share(&whole[side], &page.side[side]);
    for (int side = 0; side < 2 && options->only; side++)
        trace_only_keep(options->only, &page.side[side].trace);
    diff_find(&page.diff, &page.side[0].trace, &page.side[1].trace);
    answer_write(options, &page, whole);
    for (int side = 0; side < 2; side++) {
        json_decref((json_t *)page.side[side].record);
        sched_trace_free(&whole[side].trace);
    }
    bool same = page.diff.at == DIFF_NONE && page.diff.time_at == DIFF_NONE;
    return same ? EXIT_DONE : EXIT_FAILED;
}

int cmd_diff(int argc, char **argv)
{
    struct options options = {
        .request = {.seed = 1,
                    .iterations = 1,
                    .warmup = 0,
                    .events = "none",
                    .timeout_s = TIMEOUT_DEFAULT_S,
                    .steal_max_percent = STEAL_MAX_DEFAULT_PERCENT,
                    .sched_events_max = MOST_DEFAULT},
        .seed_b = -1,
        .context = CONTEXT_DEFAULT,
    };
    char path[PATH_SIZE];
    struct error error;
    cli_read(&cli, argc, argv, &options);
    options_complete(&options);
    if (!machine_sim_program(NULL, path, sizeof path, &error))
        return cli_fail("%s", error.text);
    int status = diff_run(&options);
    free(options.arguments.text);
    trace_only_free(options.only);
    for (int side = 0; side < 2; side++)
        variant_spec_free(&options.variant[side]);
    return status;
}
