/* hunt_main.c - schedlab-hunt, the program behind `schedlab hunt`: wrong schedules of one variant
 * under one workload or scenario. */
#include "harness/base/memory.h"
#include "harness/hunt/campaign.h"
#include "harness/hunt/jobs.h"
#include "harness/hunt/processes.h"
#include "harness/hunter/hunt_campaign.h"
#include "harness/hunter/hunt_coverage.h"
#include "harness/hunter/hunt_lone.h"
#include "harness/hunter/hunt_perfetto.h"
#include "harness/hunter/hunt_story.h"
#include "harness/hunter/hunt_what.h"
#include "harness/options/cli.h"
#include "harness/scenarios/scenarios.h"
#include "harness/spec/outside.h"
#include "harness/spec/spec.h"
#include "machine/machine.h"
#include "runtime/events.h"
#include "sched.h"
#include "workloads/workload.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { ARGUMENTS = 2, WORKERS_DEFAULT = 2, SEED_DEFAULT = 1, JOBS_DEFAULT = 1 };
enum { MINIMISE_MOST = 20000 };
static const int64_t TIME_DEFAULT_NS = INT64_C(60000000000);

enum hunt_format { FORMAT_TABLE, FORMAT_JSON, FORMAT_PAGE, FORMAT_PERFETTO };
static const char *const format_words[] = {"table", "json", "page", "perfetto", NULL};

/* Not given: algorithm, memory, exhaustive, jobs and seed -1, other numbers 0. */
struct options {
    struct hunt_campaign all; /* of a campaign; of one hunt too */
    struct variant_spec variant;
    struct workload_spec workload;
    int exhaustive, threads, operations; /* exhaustive: of lone_words, -1: no */
    int64_t points;
    const char *replay;
    struct hunt_plan replayed;
    bool minimise, list, campaign;
    int format;         /* enum hunt_format */
    const char *begins; /* an option that only a new campaign takes, or NULL */
};

static const struct cli_option option_table[] = {
    {"workers", "N", "workers; default 2", CLI(INT, all.workers), .letter = 'w', .least = 1,
     .most = HUNT_WORKERS_MAX, .begins = true},
    {"algorithm", "NAME", "who goes on at each point: random (default), pct, pos, surw or delay",
     CLI(WORD, all.algorithm), .words = hunt_algorithm_words, .begins = true},
    {"memory", "MODEL",
     "sc: sequentially consistent (default); tso: store buffers, as on x86; or weak: as C11 allows",
     CLI(WORD, all.memory), .words = hunt_memory_words, .begins = true},
    {"depth", "N", "pct, delay: one more than the points at which they change something; default 3",
     CLI(INT, all.depth), .least = 1, .most = HUNT_DEPTH_MAX, .begins = true},
    {"time", "TIME", "until then; default 60s, or no limit beside --executions",
     CLI(TIME, all.time_ns), .least = 1e9, .most = 86400e9},
    {"executions", "N", "so many, at most", CLI(NUMBER, all.executions), .least = 1, .most = 1e12},
    {"jobs", "N",
     "processes that share the executions out; default 1, 0: one for each processor. What is found "
     "and counted within --executions does not depend on N",
     CLI(INT, all.jobs), .letter = 'j', .least = 0, .most = JOBS_MAX},
    {"points", "N",
     "the most of one execution; default 50 times the usual number, and 100000 at least",
     CLI(NUMBER, points), .least = 1000, .most = 1e12},
    {"seed", "N", "of all executions; default 1", CLI(NUMBER, all.seed), .least = 0, .most = 1e15,
     .begins = true},
    {"minimise", NULL, "leave out the switches that a failure does not need", CLI(FLAG, minimise)},
    {"replay", "EXECUTION", "this one again, as a failure printed it", CLI(TEXT, replay)},
    {"exhaustive", "QUEUE",
     "all executions of a queue without a scheduler, up to those that cannot differ: deque, the, "
     "abp, half, ring, globq or chan; sc",
     CLI(WORD, exhaustive), .words = lone_words},
    {"threads", "N", "of --exhaustive; default 3", CLI(INT, threads), .least = 2,
     .most = LONE_THREADS},
    {"operations", "N", "of --exhaustive, of each thread; default 2", CLI(INT, operations),
     .least = 1, .most = LONE_OPERATIONS},
    {"scenarios", NULL, "list the scenarios", CLI(FLAG, list)},
    {"coverage", NULL,
     "say also which pairs of memory-order labels of the sources were met in both orders, in one "
     "or never",
     CLI(FLAG, all.coverage)},
    {"format", "FORMAT",
     "table (default), json, page: coverage as an HTML file, of one hunt or with --show, or "
     "perfetto: the schedule that failed, for ui.perfetto.dev",
     CLI(WORD, format), .words = format_words},
    {"campaign", NULL,
     "hunt in many cells: each of the VARIANTs under each of the WORKLOADs, by each memory model "
     "and algorithm. No VARIANT stands for all, no WORKLOAD for all scenarios. --executions is of "
     "each cell, default 1000; --time of all, default no limit",
     CLI(FLAG, campaign)},
    {"results", "DIR", "make the campaign's folder in DIR (default: results)",
     CLI(FOLDER, all.results), .begins = true},
    {"name", "NAME", "name the folder NAME-<UTC time> (default: hunt)", CLI(NAME, all.name),
     .begins = true},
    {"resume", "RUN", "go on with the campaign in the folder RUN: what its log lacks",
     CLI(TEXT, all.resume)},
    {"shard", "I/N",
     "of the campaign, only the I-th of N shares, from 0; `schedlab merge` joins them",
     CLI(TEXT, all.shard)},
    {"show", "RUN", "the table of the campaign in the folder RUN, also while it is made",
     CLI(TEXT, all.show)},
    {0},
};

static const char argp_doc[] =
    "Looks for a schedule in which VARIANT is wrong: runs WORKLOAD again and again, and at each "
    "point where workers can affect each other an algorithm says which one goes on. WORKLOAD is "
    "one of `schedlab list`, with small parameters, or a scenario.\v"
    "An execution fails by a wrong answer, a broken invariant, a crash, a deadlock, work that lies "
    "in a queue beside an idle worker, or no end. Then the line that replays it is printed, and "
    "the hunt is over. With --memory tso a fence that is missing can be found, and with weak an "
    "acquire or a release that has become relaxed, where atomics show it. docs/HUNT.md says "
    "more.\n\n"
    "Example:\n"
    "  schedlab hunt gmp sleep_wake --time 10s\n"
    "  schedlab hunt tasksteal fib,n=6 --algorithm pct --executions 10000\n"
    "  schedlab hunt --exhaustive deque\n"
    "  schedlab hunt --campaign gmp tasksteal --memory sc --jobs 0\n"
    "  sbatch --array=0-9 --wrap \"schedlab hunt --campaign --shard \\$SLURM_ARRAY_TASK_ID/10 "
    "--results shards\"\n"
    "  schedlab merge all shards/*\n"
    "  schedlab hunt --show all\n\n"
    "Exit status: 0 nothing was found, 1 an execution failed or the hunt could not go on, 2 "
    "misused.";

/* Options of one hunt, or of a campaign only; others are both's. */
static void check_kind(const struct options *options)
{
    bool campaign = options->campaign || options->all.resume || options->all.show;
    if (options->campaign + !!options->all.resume + !!options->all.show > 1)
        cli_misuse("--campaign begins one, --resume goes on with one, --show shows one; leave out "
                   "all but one");
    if (campaign && (options->replay || options->minimise || options->points))
        cli_misuse("--%s is of one hunt; leave it out, or the campaign", options->replay ? "replay"
                                                                         : options->minimise
                                                                             ? "minimise"
                                                                             : "points");
    if (options->all.resume && options->all.coverage)
        cli_misuse(
            "--resume records what the campaign did from its beginning; leave out --coverage");
    if (!options->campaign && (options->all.results || options->all.name))
        cli_misuse("--%s takes --campaign", options->all.results ? "results" : "name");
    if (options->all.shard && !options->campaign && !options->all.resume)
        cli_misuse("--shard takes --campaign or --resume");
    if ((options->all.resume || options->all.show) && (options->begins || options->all.words.count))
        cli_misuse("--%s takes the campaign's own cells; leave out %s%s",
                   options->all.resume ? "resume" : "show", options->begins ? "--" : "",
                   options->begins ? options->begins : options->all.words.text[0]);
    if (options->all.show && (options->all.time_ns || options->all.executions))
        cli_misuse("--show runs nothing; leave out --%s",
                   options->all.time_ns ? "time" : "executions");
    if (options->all.resume && options->all.executions)
        cli_misuse("--resume goes on to what the campaign was to do; leave out --executions");
}

static void check_exhaustive(const struct options *options)
{
    if (options->exhaustive < 0 && (options->threads || options->operations))
        cli_misuse("--%s takes --exhaustive", options->threads ? "threads" : "operations");
    if (options->exhaustive < 0)
        return;
    const char *wrong = options->campaign             ? "--campaign"
                        : options->all.resume         ? "--resume"
                        : options->all.show           ? "--show"
                        : options->replay             ? "--replay"
                        : options->minimise           ? "--minimise"
                        : options->points             ? "--points"
                        : options->all.coverage       ? "--coverage"
                        : options->all.time_ns        ? "--time"
                        : options->all.memory > 0     ? "--memory"
                        : options->all.algorithm >= 0 ? "--algorithm"
                        : options->all.workers        ? "--workers"
                        : options->all.depth          ? "--depth"
                        : options->all.seed >= 0      ? "--seed"
                        : options->all.jobs >= 0      ? "--jobs"
                        : options->all.words.count    ? options->all.words.text[0]
                                                      : NULL;
    if (wrong)
        cli_misuse("--exhaustive is of a queue, not of a variant; leave out %s", wrong);
}

static void check_perfetto(const struct options *options)
{
    const char *wrong = options->campaign          ? "--campaign"
                        : options->all.resume      ? "--resume"
                        : options->all.show        ? "--show"
                        : options->exhaustive >= 0 ? "--exhaustive"
                        : options->all.coverage    ? "--coverage"
                                                   : NULL;
    if (options->format == FORMAT_PERFETTO && wrong)
        cli_misuse("--format=perfetto is the schedule of one hunt's failure; leave out %s", wrong);
}

/* Options that would do nothing beside another one. */
static void check_ignored(const struct options *options)
{
    int algorithm = options->all.algorithm < 0 && !options->campaign ? 0 : options->all.algorithm;
    const char *beside_replay = options->all.time_ns          ? "time"
                                : options->all.executions     ? "executions"
                                : options->all.algorithm >= 0 ? "algorithm"
                                : options->all.depth          ? "depth"
                                : options->all.jobs >= 0      ? "jobs"
                                                              : NULL;
    if (options->replay && beside_replay)
        cli_misuse("--replay is one execution; leave out --%s", beside_replay);
    if (options->all.show && options->all.jobs >= 0)
        cli_misuse("--show runs nothing; leave out --jobs");
    if (options->all.depth && algorithm >= 0 && !campaign_has_depth(algorithm))
        cli_misuse("--depth comes with --algorithm=pct or delay");
}

static void options_check(void *to)
{
    struct options *options = to;
    struct error error;
    if (options->list)
        return;
    if (options->format == FORMAT_PAGE &&
        (!options->all.coverage || options->campaign || options->all.resume))
        cli_misuse("--format=page is the coverage of one hunt, or of a campaign by --show; valid "
                   "with --coverage only");
    check_perfetto(options);
    check_kind(options);
    check_exhaustive(options);
    if (options->exhaustive >= 0)
        return;
    check_ignored(options);
    options->all.workers = options->all.workers ? options->all.workers : WORKERS_DEFAULT;
    options->all.seed = options->all.seed >= 0 ? options->all.seed : SEED_DEFAULT;
    options->all.jobs = options->all.jobs >= 0 ? options->all.jobs : JOBS_DEFAULT;
    if (options->campaign || options->all.resume || options->all.show)
        return;
    if (options->all.words.count != ARGUMENTS)
        cli_misuse("one variant and one workload or scenario, for example gmp sleep_wake");
    options->all.algorithm = options->all.algorithm < 0 ? 0 : options->all.algorithm;
    options->all.memory = options->all.memory < 0 ? 0 : options->all.memory;
    if (options->replay && !replay_parse(&options->replayed, options->replay, &error))
        cli_misuse("--replay: %s", error.text);
    if (!scheduler_spec_parse(&options->variant, options->all.words.text[0], &error) ||
        !hunt_workload_parse(&options->workload, options->all.words.text[1], &error) ||
        !hunt_fits(&options->variant, &options->workload, options->all.workers, &error))
        cli_misuse("%s", error.text);
    if (options->format == FORMAT_PERFETTO && !hunt_trace_can_show(&options->variant))
        cli_misuse(
            "--format=perfetto: linked frames leave no event of a spawn; valid: frames=pooled");
    if (!options->all.time_ns && !options->all.executions)
        options->all.time_ns = TIME_DEFAULT_NS;
    if (campaign_has_depth(options->all.algorithm) && !options->all.depth)
        options->all.depth = HUNT_DEPTH_DEFAULT;
}

static const struct cli_command cli = {
    .options = option_table,
    .arguments = "VARIANT WORKLOAD",
    .begins_offset = offsetof(struct options, begins),
    .help = argp_doc,
    .list_most = SIZE_MAX,
    .list_offset = offsetof(struct options, all.words),
    .check = options_check,
};

/* Telling ------------------------------------------------------------------------------------- */

static void scenarios_print(void)
{
    for (size_t i = 0; scenarios[i]; i++) {
        printf("%-16s %s", scenarios[i]->name, scenarios[i]->idea);
        for (const struct param *param = scenarios[i]->params; param && param->name; param++)
            printf("; %s: %s", param_key(param), param_range_text(param).s);
        puts("");
    }
}

static void print_found(const struct options *options, const struct campaign *campaign)
{
    double seconds = (double)campaign->took_ns / 1e9;
    double n = campaign->executions ? (double)campaign->executions : 1;
    printf("%s, %s, %d worker%s, %s, %s, seed %" PRId64 "\n", options->variant.text,
           options->workload.text, options->all.workers, options->all.workers == 1 ? "" : "s",
           hunt_algorithm_words[options->all.algorithm], hunt_memory_words[options->all.memory],
           options->all.seed);
    printf("%" PRId64
           " executions in %.1f s, %.0f a second; in the mean %.0f accesses and %.0f points\n",
           campaign->executions, seconds, n / (seconds > 0 ? seconds : 1),
           (double)campaign->accesses / n, (double)campaign->points / n);
    printf(
        "%" PRIu64
        " different orders of accesses; the next execution is a new one by a chance of %.0f %%\n",
        campaign->orders, 100 * campaign->unseen);
}

static void failure_put(FILE *to, const struct hunt_outcome *failure)
{
    fprintf(to, "failed: %s: %s", hunt_end_words[failure->end], failure->text);
}

static void replay_put(FILE *to, const struct options *options, const struct hunt_plan *plan)
{
    char *text = replay_text(plan);
    fputs("replay: schedlab", to);
    outside_with_print(to);
    fprintf(to, " hunt %s %s --workers %d --memory %s --seed %" PRId64 " --replay %s\n",
            options->variant.text, options->workload.text, options->all.workers,
            hunt_memory_words[options->all.memory], options->all.seed, text);
    free(text);
}

static struct hunt_shown shown_of(const struct options *options)
{
    return (struct hunt_shown){
        .variant = &options->variant,
        .workload = &options->workload,
        .seed = options->all.seed,
    };
}

static int failure_print(const struct options *options, struct campaign *campaign)
{
    const struct hunt_shown shown = shown_of(options);
    failure_put(stdout, campaign->failure);
    if (campaign->plan.algorithm < 0)
        hunt_story_print(&shown, campaign);
    else if (campaign->failure->end == HUNT_ENDLESS) /* its text does not say where it goes on */
        hunt_story_end_print(&shown, campaign);
    replay_put(stdout, options, &campaign->plan);
    return EXIT_FAILED;
}

static void page_print(const struct options *options, const struct campaign *campaign)
{
    struct coverage coverage = hunt_coverage_read(campaign->cover);
    char *title = text_format("%s, %s", options->variant.text, options->workload.text);
    char *failure = NULL;
    FILE *to = memory_stream(&failure, NULL);
    if (campaign->failure) {
        failure_put(to, campaign->failure);
        replay_put(to, options, &campaign->plan);
    }
    fclose(to);
    hunt_coverage_page(&coverage, title, failure);
    free(failure);
    free(title);
    free(coverage.pairs);
}

static void coverage_print(const struct campaign *campaign)
{
    struct coverage coverage = hunt_coverage_read(campaign->cover);
    hunt_coverage_print(&coverage);
    free(coverage.pairs);
}

static json_t *failure_to_json(const struct options *options, struct campaign *campaign)
{
    const struct hunt_shown shown = shown_of(options);
    char *replay = replay_text(&campaign->plan);
    json_t *json = json_pack("{ss ss ss}", "end", hunt_end_words[campaign->failure->end], "text",
                             campaign->failure->text, "replay", replay);
    if (campaign->plan.algorithm < 0)
        json_object_set_new(json, "story", hunt_story_to_json(&shown, campaign));
    free(replay);
    return json;
}

static json_t *campaign_to_json(const struct options *options, struct campaign *campaign)
{
    json_t *json = json_pack(
        "{ss ss si ss ss sI sI sf sI sI sI sf}", "variant", options->variant.text, "workload",
        options->workload.text, "workers", options->all.workers, "algorithm",
        hunt_algorithm_words[options->all.algorithm], "memory",
        hunt_memory_words[options->all.memory], "seed", (json_int_t)options->all.seed, "executions",
        (json_int_t)campaign->executions, "seconds", (double)campaign->took_ns / 1e9, "accesses",
        (json_int_t)campaign->accesses, "points", (json_int_t)campaign->points, "orders",
        (json_int_t)campaign->orders, "unseen", campaign->unseen);
    if (campaign->cover) {
        struct coverage coverage = hunt_coverage_read(campaign->cover);
        json_object_set_new(json, "coverage", hunt_coverage_to_json(&coverage));
        free(coverage.pairs);
    }
    if (campaign->failure)
        json_object_set_new(json, "failure", failure_to_json(options, campaign));
    return json;
}

/* Standard output has the schedule alone. */
static int perfetto(const struct options *options, struct campaign *campaign)
{
    const struct hunt_shown shown = shown_of(options);
    if (!campaign->failure)
        cli_say("%s", options->replay ? "nothing failed in this execution"
                                      : "nothing was found, so there is no schedule to show");
    if (!campaign->failure && !options->replay)
        return EXIT_DONE;
    if (!hunt_perfetto_print(&shown, campaign))
        return EXIT_FAILED;
    if (!campaign->failure)
        return EXIT_DONE;
    failure_put(stderr, campaign->failure);
    replay_put(stderr, options, &campaign->plan);
    return EXIT_FAILED;
}

/* Hunting ------------------------------------------------------------------------------------- */

static int hunt(struct options *options)
{
    struct campaign campaign =
        hunt_campaign_of(&options->variant, &options->workload, options->all.workers);
    unsigned oracles = campaign.plan.oracles;
    campaign.algorithm = options->all.algorithm;
    campaign.depth = options->all.depth;
    campaign.seed = (uint64_t)options->all.seed;
    campaign.executions_max = options->all.executions;
    campaign.time_ns = options->all.time_ns;
    campaign.points_max = (uint64_t)options->points;
    campaign.plan = options->replayed;
    campaign.plan.oracles = oracles;
    campaign.plan.memory = (enum hunt_memory)options->all.memory;
    if (options->all.coverage) {
        hunt_coverage_begin();
        campaign.cover = xcalloc(1, sizeof *campaign.cover);
    }
    if (options->replay) {
        campaign.algorithm = campaign.plan.algorithm < 0 ? 0 : campaign.plan.algorithm;
        campaign.depth = campaign.plan.depth;
    }
    if (options->replay)
        jobs_replay(&campaign);
    else
        jobs_run(&campaign, options->all.jobs);
    if (campaign.failure && options->minimise)
        jobs_minimise(&campaign, MINIMISE_MOST);
    if (options->format == FORMAT_PAGE) {
        page_print(options, &campaign);
        return campaign.failure ? EXIT_FAILED : EXIT_DONE;
    }
    if (options->format == FORMAT_PERFETTO)
        return perfetto(options, &campaign);
    if (options->format == FORMAT_JSON) {
        cli_print_json(campaign_to_json(options, &campaign), 6);
        return campaign.failure ? EXIT_FAILED : EXIT_DONE;
    }
    if (!options->replay)
        print_found(options, &campaign);
    if (campaign.cover)
        coverage_print(&campaign);
    if (campaign.failure)
        return failure_print(options, &campaign);
    puts(options->replay ? "nothing failed in this execution" : "nothing was found");
    return EXIT_DONE;
}

#define KIND(kind) (UINT64_C(1) << (kind))

int main(int argc, char **argv)
{
    static char name[] = "schedlab hunt";
    struct options options = {.all = {.seed = -1, .jobs = -1, .algorithm = -1, .memory = -1},
                              .exhaustive = -1};
    argv[0] = name;
    cli_read(&cli, argc, argv, &options);
    if (options.list) {
        scenarios_print();
        return EXIT_DONE;
    }
    const struct hunt_kinds kinds = {
        .waits = KIND(SCHED_READIED) | KIND(SCHED_TASK_SPAWNED),
        .put = KIND(SCHED_PUT),
        .taken = KIND(SCHED_DISPATCHED) | KIND(SCHED_TASK_BEGUN),
        .runs = KIND(SCHED_DISPATCHED),
        .stops = KIND(SCHED_PARKED) | KIND(SCHED_ENDED),
        .worker_starts = KIND(SCHED_THREAD_STARTED),
        .into_runnext = INTO_RUNNEXT,
    };
    hunt_event_kinds(&kinds);
    if (options.exhaustive >= 0) {
        const struct hunt_lone lone = {
            .queue = (enum lone_queue)options.exhaustive,
            .threads = options.threads ? options.threads : LONE_THREADS,
            .operations = options.operations ? options.operations : LONE_OPERATIONS / 2,
            .executions = options.all.executions,
            .json = options.format == FORMAT_JSON,
        };
        return hunt_lone(&lone);
    }
    options.all.json = options.format == FORMAT_JSON;
    options.all.page = options.format == FORMAT_PAGE;
    return options.campaign || options.all.resume || options.all.show ? hunt_campaign(&options.all)
                                                                      : hunt(&options);
}
