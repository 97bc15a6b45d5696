/* cmd_audit.c - `schedlab audit`: whether this machine and this program can be believed. */
#define _GNU_SOURCE
#include "harness/audit.h"
#include "harness/cli.h"
#include "harness/commands.h"
#include "harness/counted.h"
#include "harness/digests.h"
#include "harness/environment.h"
#include "harness/files.h"
#include "harness/records.h"
#include "harness/side_by_side.h"

#include <argp.h>
#include <stdlib.h>
#include <string.h>

enum { ERROR_SIZE = 4096, PATH_SIZE = 4096, SAMPLES = 10, QUICK_MIN_TIME_MS = 10 };
enum { KEY_FORMAT = 0x100, KEY_QUICK, KEY_ALPHA, KEY_RESULTS, KEY_SAMPLES, KEY_REPS, KEY_SEED };

static const char *const format_words[] = {"table", "json", NULL};

struct options {
    const char *file, *results;
    bool json, quick;
    double alpha;
    int64_t samples, reps, seed; /* -1: not given */
};

static const struct argp_option argp_options[] = {
    {"quick", KEY_QUICK, NULL, 0,
     "One round of each order and short samples: under two minutes, and a first look", 0},
    {"samples", KEY_SAMPLES, "N", 0, "Samples a side and comparison; default 10", 0},
    {"reps", KEY_REPS, "N", 0, "Blocks of each order; default: as the sweep file says", 0},
    {"alpha", KEY_ALPHA, "A", 0, "Level of the tests; default 0.05", 0},
    {"seed", KEY_SEED, "S", 0, "Of the order of the cells (default: a new one)", 0},
    {"results", KEY_RESULTS, "DIR", 0, "Make the runs' folders in DIR (default: results)", 0},
    {"format", KEY_FORMAT, "FORMAT", 0, "table (default) or json", 0},
    {0},
};

static const char argp_doc[] =
    "Set the pipeline on cells whose truth is known: the same program under two labels, and slowed "
    "down by 2, 5 and 10 %, all interleaved, in one order and in the opposite one.\v"
    "Says how often a difference is found where there is none, which may not exceed what alpha "
    "promises; how often a slowdown is found; and whether reversing the order turns a verdict "
    "around. SWEEP says which cells; default harness/sweeps/audit.yaml. Without --quick it takes "
    "some ten minutes.\n\n"
    "The result is printed and written to audit.json in the first run's folder and in DIR, where "
    "`schedlab report` finds it for runs of the same machine.\n\n"
    "Example:\n"
    "  schedlab audit --quick\n\n"
    "Exit status: 0 done, and it holds; 1 it does not, or it says nothing since not even half of "
    "the slowdowns by 10 % are found, or it could not be measured; 2 misused.";

static error_t option_parse(int key, char *arg, struct argp_state *state)
{
    struct options *options = state->input;
    switch (key) {
    case KEY_FORMAT:
        options->json = cli_word(state->name, "format", arg, format_words) == 1;
        break;
    case KEY_QUICK:
        options->quick = true;
        break;
    case KEY_ALPHA:
        options->alpha = cli_real(state->name, "alpha", arg, 1e-6, 0.5);
        break;
    case KEY_SAMPLES:
        options->samples = cli_number(state->name, "samples", arg, 3, 1000, "samples");
        break;
    case KEY_REPS:
        options->reps = cli_number(state->name, "reps", arg, 1, 1000, "repetitions");
        break;
    case KEY_SEED:
        options->seed = cli_number(state->name, "seed", arg, 0, INT32_MAX, "");
        break;
    case KEY_RESULTS:
        options->results = arg;
        break;
    case ARGP_KEY_ARG:
        if (options->file)
            cli_misuse(state->name, "one sweep file at a time; found \"%s\" and \"%s\"",
                       options->file, arg);
        options->file = arg;
        break;
    default:
        return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

/* A comparison below the level must be possible, and each order needs one whole round. */
static void options_apply(const char *command, const struct options *options,
                          struct sweep_file *sweep)
{
    size_t samples = (size_t)options->samples;
    sweep->width = sweep->class_min = sweep->repeat_disturbed = 0;
    if (options->quick) {
        sweep->reps = options->samples;
        sweep->min_time_ms = QUICK_MIN_TIME_MS;
    }
    if (options->reps >= 0)
        sweep->reps = options->reps;
    sweep->reps_max = sweep->reps;
    if (sweep->reps < options->samples)
        cli_misuse(command, "%lld blocks are fewer than the %lld samples of one comparison",
                   (long long)sweep->reps, (long long)options->samples);
    if (!(statistics_mann_whitney_least(samples, samples) < options->alpha))
        cli_misuse(command, "%s cannot show a difference at alpha %g, whatever they are",
                   counted(samples, "sample").s, options->alpha);
}

/* Measuring ------------------------------------------------------------------------------------ */

/* One of the two runs; its records, or NULL and one line in error. */
static json_t *run_measure(struct side_by_side *run, char *error, size_t error_size)
{
    char path[PATH_SIZE];
    if (side_by_side_measure(run, error, error_size) < 0)
        return NULL;
    snprintf(path, sizeof path, "%s/samples.jsonl", run->folder);
    json_t *records = record_file_read(path, error, error_size);
    if (records)
        digests_judge_all(records);
    return records;
}

/* Fills *audit; the first run's folder stays in run. */
static bool measure(const struct options *options, struct side_by_side *run, struct audit *audit,
                    char *error, size_t error_size)
{
    json_t *forward = run_measure(run, error, error_size);
    if (!forward)
        return false;
    struct side_by_side opposite = *run;
    opposite.reverse = true;
    json_t *backward = run_measure(&opposite, error, error_size);
    if (backward)
        audit_judge(audit, forward, backward, (unsigned)options->samples, options->alpha);
    json_decref(forward);
    json_decref(backward);
    return backward != NULL;
}

static bool write_into(const char *folder, const char *text, char *error, size_t error_size)
{
    char path[PATH_SIZE];
    snprintf(path, sizeof path, "%s/audit.json", folder);
    return file_replace(path, text, strlen(text), error, error_size);
}

/* Prints the result and leaves it where reports look for it. */
static bool conclude(const struct options *options, const struct side_by_side *run,
                     const struct audit *audit, char *error, size_t error_size)
{
    json_t *json = audit_to_json(audit, run->environment);
    char *text = NULL;
    size_t size = 0;
    FILE *to = open_memstream(&text, &size);
    if (!to)
        abort();
    json_dumpf(json, to, JSON_INDENT(2) | JSON_REAL_PRECISION(12));
    fputc('\n', to);
    fclose(to);
    json_decref(json);
    if (options->json)
        fputs(text, stdout);
    else
        audit_print(audit, stdout);
    bool ok = write_into(run->folder, text, error, error_size) &&
              write_into(options->results, text, error, error_size);
    free(text);
    return ok;
}

static int audit_run(const char *program, const struct options *options,
                     const struct sweep_file *sweep, const char *path)
{
    struct plan_side sides[AUDIT_SIDES];
    char error[ERROR_SIZE];
    for (int i = 0; i < AUDIT_SIDES; i++)
        sides[i] = (struct plan_side){.name = audit_sides[i].name,
                                      .injected_percent = audit_sides[i].slowdown_percent};
    struct side_by_side run = {
        .sweep = sweep,
        .sweep_path = path,
        .sides = sides,
        .sides_count = AUDIT_SIDES,
        .results = options->results,
        .name = sweep->name,
        .environment = environment_to_json(),
        .seed = options->seed >= 0 ? (uint64_t)options->seed : side_by_side_seed(),
    };
    struct audit audit;
    bool ok = measure(options, &run, &audit, error, sizeof error) &&
              conclude(options, &run, &audit, error, sizeof error);
    json_decref(run.environment);
    if (!ok) {
        fprintf(stderr, "%s: %s\n", program, error);
        return EXIT_FAILED;
    }
    enum audit_outcome outcome = audit_outcome(&audit);
    fprintf(stderr, "%s: it %s; data in %s\n", program, audit_outcome_text(outcome), run.folder);
    return outcome == AUDIT_HOLDS ? EXIT_DONE : EXIT_FAILED;
}

int cmd_audit(int argc, char **argv)
{
    static const struct argp argp = {argp_options, option_parse, "[SWEEP]", argp_doc,
                                     NULL,         NULL,         NULL};
    struct options options = {
        .results = "results", .alpha = 0.05, .samples = SAMPLES, .reps = -1, .seed = -1};
    cli_parse(&argp, argc, argv, &options);
    char path[PATH_SIZE], error[ERROR_SIZE];
    if (options.file)
        snprintf(path, sizeof path, "%s", options.file);
    else
        snprintf(path, sizeof path, "%s/harness/sweeps/audit.yaml", environment_source_dir());
    struct sweep_file *sweep = sweep_file_load(path, error, sizeof error);
    if (!sweep)
        cli_misuse(argv[0], "%s", error);
    options_apply(argv[0], &options, sweep);
    int status = audit_run(argv[0], &options, sweep, path);
    sweep_file_free(sweep);
    return status;
}
