/* cmd_audit.c - `schedlab audit`: whether this machine and this program can be believed. */
#include "harness/audit/audit.h"
#include "harness/base/files.h"
#include "harness/base/memory.h"
#include "harness/base/text.h"
#include "harness/commands/commands.h"
#include "harness/doctor/environment.h"
#include "harness/host/data_folder.h"
#include "harness/models/machine_start.h"
#include "harness/options/cli.h"
#include "harness/options/sweep_override.h"
#include "harness/plan/sweep_file.h"
#include "harness/records/records.h"
#include "harness/records/run_folder.h"
#include "harness/sweep/side_by_side.h"

#include <stdlib.h>
#include <string.h>

enum { PATH_SIZE = 4096, QUICK_MIN_TIME_MS = 10, QUICK_REPS = 5, QUICK_REPS_MAX = 8 };
enum { BLOCKS_PER_ROUND = 3, BLOCKS_PER_QUICK_ROUND = 2 }; /* times the most of a round's own */
struct options {
    const char *file, *results;
    bool json, quick;
    double alpha;
    int64_t blocks; /* -1: not given */
    struct sweep_override override;
};

static const struct cli_option option_table[] = {
    {"quick", NULL,
     "Short samples, 5 to 8 a round, 16 blocks of each order: about a minute, and a first look",
     CLI(FLAG, quick)},
    {"reps", "N", "Samples a side and comparison at least, as of a sweep",
     CLI(SWEEP, override.reps), .key = "reps"},
    {"reps-max", "N", "And at most, while intervals are wider than --width",
     CLI(SWEEP, override.reps_max), .key = "reps_max"},
    {"width", "PERCENT",
     "How wide the 95 % interval of a median may be, in percent of it; 0: no matter",
     CLI(SWEEP, override.width), .key = "width"},
    {"blocks", "N",
     "Blocks of each order, of which the rounds are made; default: 3 times the most of a round",
     CLI(NUMBER, blocks), .least = 1, .most = 100000, .unit = "blocks"},
    {"alpha", "A", "Level of the tests; default 0.05", CLI(REAL, alpha), .least = 1e-6,
     .most = 0.5},
    {"seed", "S", "Of the order of the cells (default: the sweep's, or a new one)",
     CLI(SWEEP, override.seed), .key = "seed"},
    {"results", "DIR", "Make the runs' folders in DIR (default: results)", CLI(TEXT, results)},
    {"format", "FORMAT", "table (default) or json", CLI(JSON, json)},
    {0},
};

static const char argp_doc[] =
    "Set the pipeline on cells whose truth is known: the same program under two labels, and slowed "
    "down by 2, 5 and 10 %, all interleaved, in one order and in the opposite one.\v"
    "Says how often a difference is found where there is none, which may not exceed what alpha "
    "promises; how often a slowdown is found; and whether reversing the order turns a verdict "
    "around. SWEEP says which cells, and when measuring them ends: by width, with top-ups and "
    "repeats, as `schedlab sweep` would do it; default harness/sweeps/audit.yaml. Many blocks of "
    "all cells are measured; from each place in them the sweep's own rule takes what it would have "
    "measured. So the shares are those of the pipeline with its stopping.\n\n"
    "How long: about 12 minutes without --quick, with the default sweep; another takes twice its "
    "blocks times 5 samples a cell.\n\n"
    "The result is printed and written to audit.json in the first run's folder and in DIR, where "
    "`schedlab report` finds it for runs of the same machine.\n\n"
    "Example:\n"
    "  schedlab audit --quick\n\n"
    "Exit status: 0 done, and it holds; 1 it does not, or it says nothing since not even half of "
    "the slowdowns by 10 % are found, or it could not be measured; 2 misused.";

static const struct cli_command cli = {
    .options = option_table,
    .arguments = "[SWEEP]",
    .help = argp_doc,
    .only = "sweep file",
    .only_offset = offsetof(struct options, file),
};

/* The fewest samples a side that can show a difference, if no two of them overlap. */
static size_t samples_least(double alpha)
{
    size_t samples = 1;
    while (!(statistics_mann_whitney_least(samples, samples) < alpha))
        samples++;
    return samples;
}

/* The rule of a round, as a sweep's. A comparison below the level must be possible. */
static void rule_apply(const struct options *options, struct sweep_file *sweep)
{
    struct sweep_override override = options->override;
    if (options->quick) {
        sweep->min_time_ms = QUICK_MIN_TIME_MS;
        if (override.reps_max < 0 && override.reps < 0)
            override.reps_max = QUICK_REPS_MAX;
        if (override.reps < 0)
            override.reps = QUICK_REPS;
    }
    sweep_file_override(&override, sweep);
    size_t samples = (size_t)sweep->reps, least = samples_least(options->alpha);
    if (samples < least)
        cli_misuse("%s a side cannot show a difference at alpha %g, whatever they are; valid for "
                   "--reps: from %zu on",
                   counted(samples, "sample").s, options->alpha, least);
}

/* The sweep to measure: every cell in every block, so that each round finds what it may need. */
static struct sweep_file whole_blocks(const struct options *options, const struct sweep_file *rule)
{
    struct sweep_file whole = *rule;
    int rounds = options->quick ? BLOCKS_PER_QUICK_ROUND : BLOCKS_PER_ROUND;
    whole.reps = options->blocks >= 0 ? options->blocks : rounds * rule->reps_max;
    if (whole.reps < rule->reps)
        cli_misuse("--blocks=%lld is fewer than the %s of one comparison; valid: from %lld on",
                   (long long)whole.reps, counted((uint64_t)rule->reps, "sample").s,
                   (long long)rule->reps);
    whole.reps_max = whole.reps;
    whole.width = whole.class_min = whole.class_each = whole.repeat_disturbed = 0;
    return whole;
}

/* Measuring ------------------------------------------------------------------------------------ */

/* One of the two runs; its records, or NULL and one line in error. */
static json_t *run_measure(struct side_by_side *run, struct error *error)
{
    return side_by_side_measure(run, error) < 0
               ? NULL
               : run_folder_records(run->folder, true, NULL, error);
}

/* Fills *audit; the first run's folder stays in run. */
static bool measure(const struct options *options, const struct sweep_file *rule,
                    struct side_by_side *run, struct audit *audit, struct error *error)
{
    json_t *forward = run_measure(run, error);
    if (!forward)
        return false;
    struct side_by_side opposite = *run;
    opposite.reverse = true;
    json_t *backward = run_measure(&opposite, error);
    if (backward)
        audit_judge(audit, rule, forward, backward, options->alpha);
    json_decref(forward);
    json_decref(backward);
    if (backward && audit->rounds.count == 0)
        error_print(error,
                    "no round ends within the %lld blocks of each order, as the sweep's width, "
                    "class_min and repeat_disturbed would have it; give more --blocks",
                    (long long)run->sweep->reps);
    return backward != NULL && audit->rounds.count > 0;
}

static bool write_into(const char *folder, const char *text, struct error *error)
{
    char path[PATH_SIZE];
    snprintf(path, sizeof path, "%s/audit.json", folder);
    return file_replace(path, text, strlen(text), error);
}

/* Prints the result and leaves it where reports look for it. */
static bool conclude(const struct options *options, const struct side_by_side *run,
                     const struct audit *audit, struct error *error)
{
    json_t *json = audit_to_json(audit, run->environment);
    char *text = NULL;
    FILE *to = memory_stream(&text, NULL);
    json_dumpf(json, to, JSON_INDENT(2) | JSON_REAL_PRECISION(12));
    fputc('\n', to);
    fclose(to);
    json_decref(json);
    if (options->json)
        fputs(text, stdout);
    else
        audit_print(audit, stdout);
    bool ok = write_into(run->folder, text, error) && write_into(options->results, text, error);
    free(text);
    return ok;
}

static int audit_run(const struct options *options, const struct sweep_file *rule, const char *path)
{
    struct error error;
    struct sweep_file whole = whole_blocks(options, rule);
    struct side_by_side run = {
        .sweep = &whole,
        .sweep_path = path,
        .sides = audit_sides,
        .sides_count = AUDIT_SIDES,
        .results = options->results,
        .name = rule->name,
        .environment = environment_to_json(),
        .seed = (uint64_t)rule->seed,
    };
    struct audit audit;
    bool ok =
        measure(options, rule, &run, &audit, &error) && conclude(options, &run, &audit, &error);
    json_decref(run.environment);
    if (!ok)
        return cli_fail("%s", error.text);
    enum audit_outcome outcome = audit_outcome(&audit);
    cli_say("it %s; data in %s", audit_outcome_text(outcome), run.folder);
    return outcome == AUDIT_HOLDS ? EXIT_DONE : EXIT_FAILED;
}

int cmd_audit(int argc, char **argv)
{
    struct options options = {
        .results = "results", .alpha = 0.05, .blocks = -1, .override = SWEEP_OVERRIDE_NONE};
    cli_read(&cli, argc, argv, &options);
    char path[PATH_SIZE];
    struct error error;
    if (options.file)
        snprintf(path, sizeof path, "%s", options.file);
    else
        data_find("harness/sweeps/audit.yaml", path, sizeof path);
    struct sweep_file *sweep = sweep_file_load(path, &error);
    if (!sweep)
        cli_misuse_lines(error.text);
    for (unsigned g = 0; g < sweep->groups_count; g++)
        if (machine_text_is_simulated(sweep_group_machine(sweep, &sweep->groups[g])))
            cli_misuse("%s: group \"%s\" is on a simulated machine, where the same measured twice "
                       "is equal; valid: groups on the native one",
                       path, sweep->groups[g].id);
    rule_apply(&options, sweep);
    int status = audit_run(&options, sweep, path);
    sweep_file_free(sweep);
    return status;
}
