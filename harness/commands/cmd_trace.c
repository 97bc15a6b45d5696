/* cmd_trace.c - `schedlab trace`: what a scheduler did in one small run, step by step. */
#include "harness/base/json_fields.h"
#include "harness/base/memory.h"
#include "harness/base/text.h"
#include "harness/commands/commands.h"
#include "harness/evidence/request_table.h"
#include "harness/host/data_folder.h"
#include "harness/host/topology.h"
#include "harness/models/machine_spec.h"
#include "harness/models/machine_start.h"
#include "harness/options/cli.h"
#include "harness/options/trace_options.h"
#include "harness/records/records.h"
#include "harness/records/sample_request.h"
#include "harness/sample/child.h"
#include "harness/spec/spec.h"
#include "harness/trace/account.h"
#include "harness/trace/textbook.h"
#include "harness/trace/trace.h"
#include "sched.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PATH_SIZE = 4096, ARGUMENTS = 2, WORKERS_DEFAULT = 4 };
enum { WIDTH_FILE = 150 }; /* steps keep all workers side by side in a file of --output */
enum { MOST_DEFAULT = 100000, MOST_JSON = 10000, KEPT_DEFAULT = 1000000, TIMEOUT_DEFAULT_S = 60 };
enum { EVERY_DEFAULT_NS = 1000000, ROWS_DEFAULT = 24 };

enum format {
    FORMAT_STEPS,
    FORMAT_TIMELINE,
    FORMAT_PAGE,
    FORMAT_PERFETTO,
    FORMAT_SCHEDTRACE,
    FORMAT_JSON
};
static const char *const format_words[] = {"steps",      "timeline", "page", "perfetto",
                                           "schedtrace", "json",     NULL};
static const char REPLAY_LIST[] = "list";
enum { POLICY_CONTINUATION = 1 };
static const char *const policy_words[] = {"task", "continuation", "static", NULL};
static const char MACHINE_DEFAULT[] = "sim:desktop8";

struct options {
    struct cli_list arguments; /* variant, workload */
    const struct machine_spec *machine;
    struct variant_spec variant;
    const struct workload_spec *workload;
    struct sample_request request;
    int format;         /* enum format */
    const char *output; /* NULL: standard output */
    const char *replay; /* of harness/replays, or "list"; NULL: none */
    const char *of_run; /* an option given that says how a workload is run; NULL: none */
    int policy;         /* of policy_words; -1: all */
    int processors;     /* 0: all */
    bool play;
    bool whole;             /* start-up and the check too */
    int64_t from_ns, to_ns; /* -1: not given */
    const char *only_text;
    struct trace_only *only; /* NULL: all */
};

static const struct cli_option option_table[] = {
    {"workers", "N", "workers (cores) to use; default 4, or all cores if there are fewer",
     CLI(INT, request.workers), .letter = 'w', .least = 1, .most = SAMPLE_WORKERS_MAX,
     .begins = true},
    {"machine", "MACHINE",
     "native, or sim:MODEL[,KEY=VALUE]...; default sim:desktop8; see `schedlab list machines`",
     CLI(MACHINE, machine), .begins = true},
    {"seed", "N", "of the workload, the machine and the scheduler; default 1",
     CLI(NUMBER, request.seed), .most = 0x1p63, .begins = true},
    {"format", "FORMAT", "steps (default), timeline, page, perfetto, schedtrace or json",
     CLI(WORD, format), .words = format_words},
    {"output", "FILE",
     "where to; a timeline to FILE.svg, .pdf or .png is drawn by gnuplot; default: the terminal",
     CLI(TEXT, output)},
    {"most", "N",
     "the first N events; default 100000, of json 10000. Natively it bounds what is recorded, "
     "too; left out: a million events, which tell where the time of requests goes",
     CLI(NUMBER, request.sched_events_max), .least = 1, .most = 1e8, .begins = true},
    {"play", NULL,
     "step through it by keys, with queues as boxes; where it is no terminal, print the steps",
     CLI(FLAG, play), .begins = true},
    {"from", "TIME",
     "show what happens from then on, counted from the first event: 20us, 1ms; plain numbers are "
     "us. A page opens there. Lines of schedtrace have their own clock, in ms from the start",
     CLI(TIME, from_ns), .least = 1e3, .most = 86400e9, .begins = true},
    {"to", "TIME", "and until then", CLI(TIME, to_ns), .least = 1e3, .most = 86400e9,
     .begins = true},
    {"whole", NULL,
     "show start-up and the check of the answer too, which are left out unless --from or --to says "
     "what is shown. A page always has them, and opens on them with this option",
     CLI(FLAG, whole), .begins = true},
    {"only", "LIST",
     "and only events of these kinds, goroutines or workers, with commas: stolen,woken or G3,P1; "
     "of several sorts an event has to fit each. Not of schedtrace, whose lines count all that has "
     "happened",
     CLI(ONCE, only_text), .begins = true},
    {"warmup", "N",
     "calls before it, whose events come first; default 0. The first call meets cold memory. What "
     "is shown begins with the call after them, unless --whole, --from or --to says else",
     CLI(INT, request.warmup), .most = 1000, .begins = true},
    {"every", "MS", "schedtrace: a line that often; default 1 ms", CLI(TIME, request.schedtrace_ns),
     .least = 1e6, .most = 3600e9, .begins = true},
    {"scheddetail", NULL, "schedtrace: a line about each P, M and G too",
     CLI(FLAG, request.scheddetail), .begins = true},
    {"replay", "NAME",
     "in place of VARIANT and WORKLOAD: an example of a popular account of Go's scheduler, as it "
     "is "
     "told, beside what the variants do. list names them all; fib4 has a textbook's step tables",
     CLI(TEXT, replay)},
    {"policy", "POLICY", "of --replay: task, continuation or static alone", CLI(WORD, policy),
     .words = policy_words},
    {"processors", "N", "of --replay: the table of so many, 1 or 2, alone", CLI(INT, processors),
     .least = 1, .most = 2},
    {"timeout", "S", "seconds the run may take, 0 for no limit; default 60",
     CLI(LIMIT, request.timeout_s), .begins = true},
    {0},
};

static const char argp_doc[] =
    "Runs WORKLOAD once under VARIANT and shows what the scheduler did. The form is a table of "
    "steps: what each worker runs and what is in its queue, after each event. Or it is a timeline, "
    "a page to look around in, a file for ui.perfetto.dev, Go's schedtrace lines, or all of it as "
    "JSON.\v"
    "Small runs are meant: a table of more than a few hundred steps is too long to read. "
    "docs/TRACE.md says how to read each form.\n\n"
    "Example:\n"
    "  schedlab trace gmp fib,n=5 --workers 2\n"
    "  schedlab trace gmp order,n=8 --workers 1 --play\n"
    "  schedlab trace gmp uneven,tasks=60 --only stolen,woken,P1\n"
    "  schedlab trace gmp fib,n=10 --format timeline --output fib.svg\n"
    "  schedlab trace gmp order,n=20 --workers 1 --format page --output order.html\n"
    "  schedlab trace tasksteal fib,n=10 --format perfetto --output fib.json\n"
    "  schedlab trace --replay list\n"
    "  schedlab trace --replay stealing\n"
    "  schedlab trace --replay fib4 --policy task\n"
    "  schedlab trace --replay fib4 --policy task --format page --output fib4.html\n\n"
    "Exit status: 0 done, 1 the run failed, 2 misused.";

/* --replay says all that the options of a run say. */
static const struct cli_command cli = {
    .options = option_table,
    .arguments = "VARIANT WORKLOAD",
    .help = argp_doc,
    .begins_offset = offsetof(struct options, of_run),
    .list_offset = offsetof(struct options, arguments),
    .list_most = ARGUMENTS,
    .too_many = "one variant and one workload",
};

/* Completing ---------------------------------------------------------------------------------- */

/* True if the timeline goes to a figure, not to characters. */
static bool is_figure(const struct options *options)
{
    static const char *const endings[] = {".svg", ".pdf", ".png", NULL};
    const char *point = options->output ? strrchr(options->output, '.') : NULL;
    return point && text_is_word(point, endings);
}

/* True if the name ends as a picture's that cannot be drawn. */
static bool is_other_figure(const char *path)
{
    static const char *const endings[] = {".bmp", ".gif", ".jpg", ".jpeg", ".eps", ".ps", ".webp"};
    const char *point = strrchr(path, '.');
    for (size_t i = 0; point && i < sizeof endings / sizeof endings[0]; i++)
        if (strcasecmp(point, endings[i]) == 0)
            return true;
    return false;
}

static void check_output(const struct options *options)
{
    if (!options->output)
        return;
    if (is_other_figure(options->output))
        cli_misuse("--output=%s: figures are svg, pdf or png", options->output);
    if (is_figure(options) && options->format != FORMAT_TIMELINE)
        cli_misuse("--output=%s: only --format=timeline draws figures", options->output);
    trace_option_output_check(options->output);
}

static int rows_of_terminal(void)
{
    struct winsize window;
    bool known = ioctl(STDOUT_FILENO, TIOCGWINSZ, &window) == 0 && window.ws_row > 0;
    return known ? window.ws_row : ROWS_DEFAULT;
}

/* Tables have a least width and may break; a picture that is drawn again and again may not. */
static int columns_of_terminal(void)
{
    struct winsize window;
    bool known = ioctl(STDOUT_FILENO, TIOCGWINSZ, &window) == 0 && window.ws_col > 0;
    return known ? window.ws_col : CLI_COLUMNS;
}

/* True if it is stepped through; elsewhere the steps are printed. */
static bool plays(const struct options *options)
{
    return options->play && isatty(STDIN_FILENO) && isatty(STDOUT_FILENO);
}

static int cores_of(const struct options *options)
{
    if (options->machine->simulated)
        return options->machine->model.cores;
    int cpus[WORKERS_DEFAULT];
    return topology_pick_cpus(cpus, WORKERS_DEFAULT);
}

/* Which part of the run is shown. */
static void part_complete(struct options *options)
{
    bool is_given = options->from_ns >= 0 || options->to_ns >= 0;
    if (options->whole && options->format == FORMAT_SCHEDTRACE)
        cli_misuse(
            "--whole does not come with --format=schedtrace, whose lines are of the whole run");
    if (options->whole && is_given)
        cli_misuse("--whole beside --%s; valid: one of both",
                   options->from_ns >= 0 ? "from" : "to");
    options->whole = options->whole || is_given;
    options->from_ns = options->from_ns < 0 ? 0 : options->from_ns;
    if (options->to_ns >= 0 && options->to_ns <= options->from_ns)
        cli_misuse("--to is no later than --from; valid: a later time");
}

/* Arguments that are right alone may be wrong together. */
static void options_complete(struct options *options)
{
    struct error error;
    struct sample_request *request = &options->request;
    options->only = trace_option_only(options->only_text);
    if (options->arguments.count < ARGUMENTS)
        cli_misuse("one variant and one workload, for example gmp fib,n=5");
    cli_traced(&options->variant, options->arguments.text[0]);
    options->workload = workload_spec_kept(options->arguments.text[1], &error);
    if (!options->workload)
        cli_misuse("%s", error.text);
    if (!options->machine)
        options->machine = cli_machine(MACHINE_DEFAULT);
    if (!request->sched_events_max) {
        request->sched_events_max = options->format == FORMAT_JSON ? MOST_JSON : MOST_DEFAULT;
        request->sched_events_kept = options->machine->simulated ? 0 : KEPT_DEFAULT;
    }
    int cores = cores_of(options);
    if (request->workers == 0)
        request->workers = cores < WORKERS_DEFAULT ? cores : WORKERS_DEFAULT;
    if (!workload_spec_fit_workers(options->workload, request->workers, &error))
        cli_misuse("%s", error.text);
    if (options->format != FORMAT_SCHEDTRACE && (request->schedtrace_ns || request->scheddetail))
        cli_misuse("%s comes with --format=schedtrace",
                   request->schedtrace_ns ? "--every" : "--scheddetail");
    if (options->format == FORMAT_SCHEDTRACE && options->only)
        cli_misuse("--only does not come with --format=schedtrace, whose lines count all that has "
                   "happened; --from and --to do");
    if (options->play && (options->format != FORMAT_STEPS || options->output))
        cli_misuse("--play shows the steps, on the terminal; leave out --%s",
                   options->output ? "output" : "format");
    if (plays(options) && rows_of_terminal() < TRACE_PLAY_ROWS)
        cli_misuse("--play: this terminal has %d rows; valid: %d or more", rows_of_terminal(),
                   TRACE_PLAY_ROWS);
    part_complete(options);
    if (options->format == FORMAT_SCHEDTRACE && !request->schedtrace_ns)
        request->schedtrace_ns = EVERY_DEFAULT_NS;
    check_output(options);
    cli_warn_of_workers(request->workers,
                        options->machine->simulated ? cores : topology_cpu_count(), request->pin);
    request->sched_sites = options->format == FORMAT_PAGE && options->machine->simulated;
    request->sim_seed = request->seed;
    request->machine = options->machine->text;
    request->variant = options->variant.text;
    request->allocator = (enum allocator)options->variant.common.malloc;
    request->workload = options->workload->text;
}

/* Running ------------------------------------------------------------------------------------- */

static void run_with_events(const struct options *options, struct trace_page *page)
{
    struct sched_trace *trace = &page->trace;
    struct error error;
    const struct sample_request *request = &options->request;
    json_t *record = child_run_traced(request, trace, &error);
    if (!record)
        cli_give_up("%s", error.text);
    trace_times_rise(trace);
    page->record = record;
    page->call_ps = trace_option_call(record, trace, request->warmup);
    page->functions = trace_functions_to_json(trace, options->workload);
    if (trace->count > 0)
        page->first_ns = trace->since_ns + trace->event[0].when_ps / 1000;
    if (page->call_ps > 0 &&
        page->call_ps > trace->event[trace->count - 1].when_ps - trace->event[0].when_ps)
        cli_say("warning: the %zu events that were kept (--most) end before the call after "
                "--warmup=%d begins",
                trace->count, request->warmup);
    sched_trace_from_first(trace);
}

/* The lines that the sample's process wrote as it ran: how many there were, how many are shown, the
 * times of the first and the last. */
struct lines {
    size_t count, shown;
    int64_t first_ms, last_ms;
};

/* Copies those between --from and --to. Lines of Ps, Ms and Gs go with the one above them. */
static struct lines lines_copy(const struct options *options, FILE *from, FILE *to)
{
    struct lines lines = {0};
    char *line = NULL;
    size_t room = 0;
    bool shown = false;
    while (getline(&line, &room, from) > 0) {
        long long ms;
        if (sscanf(line, "SCHED %lldms:", &ms) == 1) {
            int64_t ns = (int64_t)ms * 1000000;
            shown = ns >= options->from_ns && (options->to_ns < 0 || ns <= options->to_ns);
            lines.first_ms = lines.count++ == 0 ? ms : lines.first_ms;
            lines.last_ms = ms;
            lines.shown += shown;
        }
        if (shown)
            fputs(line, to);
    }
    free(line);
    return lines;
}

static int trace_lines(struct options *options)
{
    struct sample_request *request = &options->request;
    request->schedtrace_fd = memfd_create("lines", 0); /* the child inherits it */
    FILE *from = request->schedtrace_fd < 0 ? NULL : fdopen(request->schedtrace_fd, "r");
    if (!from)
        cli_give_up("%s", strerror(errno));
    json_t *record = child_run_sample(request);
    rewind(from);
    FILE *to = trace_option_output_open(options->output);
    struct lines lines = lines_copy(options, from, to);
    fclose(from);
    trace_option_output_close(to);
    if (!record_is(record, "ok")) /* its last lines may say why */
        cli_give_up("%s", field_text(record, "reason"));
    if (lines.count > 0 && lines.shown == 0)
        cli_give_up("no line between --from and --to: the first is at %lld ms, the last at %lld ms",
                    (long long)lines.first_ms, (long long)lines.last_ms);
    if (lines.count == 0)
        cli_say("the run was over before the first line was due, after %g ms; --every takes less",
                (double)request->schedtrace_ns / 1e6);
    json_decref(record);
    return EXIT_DONE;
}

static void write_text(const struct options *options, const struct trace_page *page)
{
    struct error error;
    FILE *to = trace_option_output_open(options->output);
    json_t *object = NULL;
    char *parts = request_table(page->record);
    switch (options->format) {
    case FORMAT_STEPS:
        trace_steps_print(page, cli_columns_of(to, to == stdout ? CLI_COLUMNS : WIDTH_FILE), to);
        trace_functions_print(page->functions, to);
        trace_requests_print(page, to);
        fprintf(to, "%s%s", *parts ? "\n" : "", parts);
        if (*request_table_absent(page->record))
            fprintf(to, "\nwhere a request's time goes: absent (%s)\n",
                    request_table_absent(page->record));
        break;
    case FORMAT_TIMELINE:
        trace_timeline_print(page, cli_columns_of(to, CLI_COLUMNS), to);
        break;
    case FORMAT_PAGE:
        if (!trace_html_write(&page, 1, NULL, to, &error))
            cli_give_up("%s", error.text);
        break;
    case FORMAT_PERFETTO:
        object = trace_perfetto_to_json(page);
        json_dumpf(object, to, JSON_COMPACT);
        break;
    default:
        object = trace_steps_to_json(page);
        json_object_set(object, "functions", page->functions);
        json_object_set_new(object, "requests", trace_requests_to_json(page));
        json_object_set(object, "request_parts", json_object_get(page->record, "request_parts"));
        json_dumpf(object, to, JSON_INDENT(1));
    }
    if (object)
        fputc('\n', to);
    json_decref(object);
    free(parts);
    trace_option_output_close(to);
}

static double us_of(const struct trace_page *page, size_t event)
{
    return (double)(page->trace.event[event].when_ps - page->trace.event[0].when_ps) / 1e6;
}

static void check_shown(const struct options *options, const struct trace_page *page)
{
    size_t count = page->trace.count, before = 0;
    bool fits = false; /* --only, in the whole run */
    if (count == 0)
        cli_give_up("no event was kept");
    for (size_t i = 0; i < count; i++) {
        if (trace_shows(page, &page->trace.event[i]))
            return;
        fits =
            fits || !page->only || trace_only_has(page->only, &page->trace, &page->trace.event[i]);
        if (us_of(page, i) * 1e3 < (double)options->from_ns)
            before = i;
    }
    if (options->only)
        cli_give_up("no event fits --only=%s%s", trace_only_text(options->only),
                    options->from_ns || options->to_ns > 0 ? " between --from and --to"
                    : fits ? " between start-up and the check; --whole shows those that do"
                           : "");
    if (before + 1 < count)
        cli_give_up("no event between --from and --to: the nearest are at %.3f and %.3f us",
                    us_of(page, before), us_of(page, before + 1));
    cli_give_up("no event between --from and --to: the last one%s is at %.3f us",
                page->trace.happened > count ? " that was kept (--most)" : "", us_of(page, before));
}

static int trace_events(struct options *options)
{
    struct error error;
    const struct sched_ops *ops = options->variant.ops;
    struct trace_page page = {
        .variant = options->variant.text,
        .workload = options->workload->text,
        .machine = options->machine->text,
        .workers = options->request.workers,
        .seed = options->request.seed,
        .by_m = ops->m_init,
        .from_ps = options->from_ns * 1000,
        .to_ps = options->to_ns > 0 ? options->to_ns * 1000 : 0,
        .only = options->only,
        .whole = options->whole,
    };
    run_with_events(options, &page);
    if (!options->whole && options->format != FORMAT_PAGE)
        trace_crop(&page);
    check_shown(options, &page);
    bool ok = true;
    if (plays(options))
        trace_play(&page, columns_of_terminal(), rows_of_terminal(), STDIN_FILENO, stdout);
    else if (options->format == FORMAT_TIMELINE && is_figure(options))
        ok = trace_timeline_draw(&page, options->output, &error);
    else
        write_text(options, &page);
    if (!ok)
        cli_give_up("%s", error.text);
    json_decref((json_t *)page.record);
    json_decref(page.functions);
    sched_trace_free(&page.trace);
    return EXIT_DONE;
}

/* True if the table is one of those that are asked for. */
static bool is_wanted(const struct options *options, const struct textbook_table *table)
{
    return (options->policy < 0 || strcmp(table->policy, policy_words[options->policy]) == 0) &&
           (!options->processors || table->processors == options->processors);
}

static void replay_page(const struct options *options, struct textbook *replay)
{
    struct error error;
    struct sched_trace trace;
    struct textbook_table *only = NULL;
    for (size_t i = 0; i < replay->tables; i++) {
        struct textbook_table *table = &replay->table[i];
        if (!is_wanted(options, table))
            continue;
        if (only || textbook_is_dealt(table))
            cli_misuse("--format=page shows one table that has steps of the scheduler; valid: "
                       "--policy=task, or --policy=continuation with --processors=1 or 2");
        only = table;
    }
    if (!textbook_run(replay, only, &trace, &error))
        cli_give_up("%s", error.text);
    sched_trace_from_first(&trace);
    FILE *to = trace_option_output_open(options->output);
    if (!textbook_page_write(replay, only, &trace, to, &error))
        cli_give_up("%s", error.text);
    trace_option_output_close(to);
    sched_trace_free(&trace);
}

/* Prints json, which it takes. */
static void json_put(json_t *json, FILE *to)
{
    json_dumpf(json, to, JSON_INDENT(1));
    fputc('\n', to);
    json_decref(json);
}

/* The book's tables, each run anew. */
static void replay_tables(const struct options *options, struct textbook *replay, FILE *to)
{
    struct error error;
    bool json = options->format == FORMAT_JSON;
    json_t *tables = json_array();
    if (!json)
        fprintf(to,
                "%s: %s\n=: as the book prints it; !: not, and the book's row below; e: not, by an "
                "erratum\n",
                replay->title, replay->workload);
    for (size_t i = 0; i < replay->tables; i++) {
        struct textbook_table *table = &replay->table[i];
        if (!is_wanted(options, table))
            continue;
        if (!textbook_run(replay, table, NULL, &error))
            cli_give_up("%s", error.text);
        if (json) {
            json_array_append_new(tables, textbook_table_to_json(replay, table));
        } else {
            fputc('\n', to);
            textbook_table_print(table, cli_columns_of(to, CLI_COLUMNS), to);
        }
    }
    if (json)
        json_put(json_pack("{ss ss ss sO}", "name", textbook_name, "title", replay->title, "source",
                           replay->who, "tables", tables),
                 to);
    json_decref(tables);
}

static void replay_textbook(const struct options *options)
{
    struct error error;
    struct textbook *replay = textbook_load(textbook_name, &error);
    if (!replay)
        cli_give_up("%s", error.text);
    if (options->format == FORMAT_PAGE) {
        replay_page(options, replay);
    } else {
        FILE *to = trace_option_output_open(options->output);
        replay_tables(options, replay, to);
        trace_option_output_close(to);
    }
    textbook_free(replay);
}

/* The pictures of an account, each run anew, and what is true of them. */
static void replay_account(const struct options *options)
{
    struct error error;
    struct account *account = account_load(options->replay, &error);
    if (!account)
        cli_give_up("%s", error.text);
    for (size_t i = 0; i < account->pictures; i++)
        if (!account_picture_run(account, &account->picture[i], &error))
            cli_give_up("%s", error.text);
    json_t *itself = account_itself_run(account);
    FILE *to = trace_option_output_open(options->output);
    if (options->format == FORMAT_JSON)
        json_put(account_to_json(account, itself), to);
    else
        account_print(account, itself, cli_columns_of(to, CLI_COLUMNS), to);
    trace_option_output_close(to);
    json_decref(itself);
    account_free(account);
}

static void replay_list(const struct options *options)
{
    struct error error;
    json_t *list = replay_list_to_json(&error);
    if (!list)
        cli_give_up("%s", error.text);
    FILE *to = trace_option_output_open(options->output);
    if (options->format == FORMAT_JSON)
        json_put(json_incref(list), to);
    else
        replay_list_print(list, cli_columns_of(to, CLI_COLUMNS), to);
    trace_option_output_close(to);
    json_decref(list);
}

/* Misuse unless it is "list" or the name of a file. */
static void check_replay(const char *name)
{
    struct error error;
    const char **words = NULL;
    size_t count = 0;
    char **names = data_folder_names("replays", &error);
    if (!names)
        cli_give_up("%s", error.text);
    array_add(words, count) = REPLAY_LIST;
    for (size_t i = 0; names[i]; i++)
        array_add(words, count) = names[i];
    array_add(words, count) = NULL;
    cli_word("replay", name, words);
    free(words);
    data_folder_names_free(names);
}

static int replay_all(const struct options *options)
{
    bool is_textbook = strcmp(options->replay, textbook_name) == 0;
    check_replay(options->replay);
    if (options->arguments.count > 0)
        cli_misuse("--replay says what is run; found \"%s\" too", options->arguments.text[0]);
    if (options->of_run)
        cli_misuse("--replay says what is run; leave out --%s", options->of_run);
    if (!is_textbook && (options->policy >= 0 || options->processors))
        cli_misuse("%s comes with --replay=%s", options->policy >= 0 ? "--policy" : "--processors",
                   textbook_name);
    if (!is_textbook && options->format == FORMAT_PAGE)
        cli_misuse("--format=page comes with --replay=%s; valid: steps, json", textbook_name);
    if (options->processors == 1 && options->policy >= 0 && options->policy != POLICY_CONTINUATION)
        cli_misuse("--policy=%s with --processors=1; valid: continuation, of which alone the book "
                   "has such a table",
                   policy_words[options->policy]);
    if (options->format != FORMAT_STEPS && options->format != FORMAT_PAGE &&
        options->format != FORMAT_JSON)
        cli_misuse("--replay is a table of steps, json, or a page of %s, and has no other --format",
                   textbook_name);
    check_output(options);
    if (is_textbook)
        replay_textbook(options);
    else if (strcmp(options->replay, REPLAY_LIST) == 0)
        replay_list(options);
    else
        replay_account(options);
    return EXIT_DONE;
}

int cmd_trace(int argc, char **argv)
{
    struct options options = {
        .policy = -1,
        .from_ns = -1,
        .to_ns = -1,
        .request = {.seed = 1,
                    .iterations = 1,
                    .warmup = 0,
                    .events = "none",
                    .timeout_s = TIMEOUT_DEFAULT_S,
                    .steal_max_percent = STEAL_MAX_DEFAULT_PERCENT},
    };
    char path[PATH_SIZE];
    struct error error;
    cli_read(&cli, argc, argv, &options);
    if (options.replay)
        return replay_all(&options);
    if (options.policy >= 0 || options.processors)
        cli_misuse("%s comes with --replay=fib4",
                   options.policy >= 0 ? "--policy" : "--processors");
    options_complete(&options);
    bool found = true;
    if (options.machine->simulated)
        found = machine_sim_program(NULL, path, sizeof path, &error);
    else if (options.format != FORMAT_SCHEDTRACE)
        found = machine_trace_program(NULL, path, sizeof path, &error);
    if (!found)
        cli_give_up("%s", error.text);
    int status =
        options.format == FORMAT_SCHEDTRACE ? trace_lines(&options) : trace_events(&options);
    free(options.arguments.text);
    trace_only_free(options.only);
    variant_spec_free(&options.variant);
    return status;
}
