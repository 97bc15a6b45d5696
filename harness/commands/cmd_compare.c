/* cmd_compare.c - `schedlab compare`: two sets of cells beside one another. */
#include "harness/base/files.h"
#include "harness/base/json_fields.h"
#include "harness/base/memory.h"
#include "harness/commands/commands.h"
#include "harness/doctor/environment.h"
#include "harness/options/cli.h"
#include "harness/options/sweep_override.h"
#include "harness/plan/sweep_file.h"
#include "harness/records/run_folder.h"
#include "harness/sweep/git_build.h"
#include "harness/sweep/side_by_side.h"
#include "harness/tables/compare.h"
#include "harness/tables/compare_print.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { PATH_SIZE = 4096, SIDES = 2, ARGUMENTS_MAX = 3 };
enum compare_format { FORMAT_TABLE, FORMAT_JSON, FORMAT_MARKDOWN };

static const char *const format_words[] = {"table", "json", "markdown", NULL};

struct options {
    struct cli_list arguments; /* two sides, or two revisions and a sweep file */
    bool git;
    const char *results; /* NULL: not given */
    const char *save;    /* name under which the run of B keeps the comparison; NULL: nowhere */
    struct sweep_override override;
    int format; /* enum compare_format */
    double min_effect_percent;
    struct compare_options compare;
};

static void metric_take(void *to, char *text)
{
    struct error error;
    if (!metric_parse(&((struct options *)to)->compare.metric, text, &error))
        cli_misuse("--metric=%s: %s", text, error.text);
}

static const struct cli_option option_table[] = {
    {"format", "FORMAT", "table (default), json or markdown", CLI(WORD, format),
     .words = format_words},
    {"metric", "METRIC",
     "What is compared: throughput (default); p50, p99 or another percentage, or max, of the "
     "latencies; or the name of an event",
     .take = metric_take},
    {"alpha", "A", "Level of the tests, for all pairs of the comparison together; default 0.05",
     CLI(REAL, compare.alpha), .least = 1e-6, .most = 0.5},
    {"min-effect", "PERCENT",
     "Call no pair faster or slower whose medians differ by less; default 0",
     CLI(REAL, min_effect_percent), .most = 1000},
    {"each", NULL,
     "Compare every cell of B with the cell of A that agrees with it in all that A's filter does "
     "not name",
     CLI(FLAG, compare.each)},
    {"git", NULL, "Build two revisions and measure SWEEP with both, interleaved, then compare them",
     CLI(FLAG, git)},
    {"results", "DIR", "With --git: make the run's folder in DIR (default: results)",
     CLI(TEXT, results)},
    {"reps", "N", "With --git: measure each cell N times with each revision",
     CLI(SWEEP, override.reps), .key = "reps"},
    {"save", "NAME",
     "Keep the comparison in the run of B, as comparisons/NAME.json, where `schedlab report` shows "
     "it; with --git it is kept in any case, named after the revisions unless NAME is given",
     CLI(NAME, save)},
    {0},
};

static const char argp_doc[] =
    "Compare cells of two runs, or of one: medians, their ratio B / A with its interval, the "
    "effect, and whether a difference is shown. A, the first, is the baseline: above 1, B is "
    "faster; of latencies below 1.\v"
    "RUN is a folder that `schedlab sweep` wrote. Behind a colon KEY=VALUE keeps the cells for "
    "which it holds, and a slash stands between several; the same KEY again means either VALUE. "
    "KEY is variant (a whole specification), variant_name, workload (a name alone: any "
    "parameters), workers, group, the name of a knob or parameter, or another key of the records, "
    "such as side, revision or allocator.\n\n"
    "Cells are compared if variant, workload and workers are equal, but for what both sides name. "
    "Samples are compared at one core distance; a pair of which no distance has 3 samples of both, "
    "but several have some, is not compared. p is that of the Mann-Whitney test, adjusted by Holm "
    "over all pairs. The ratios are summarized by their geometric mean.\n\n"
    "With --git the sides are REV, what git calls a commit of the repository around the current "
    "folder. Each is checked out and built in build/revisions/ there; every block of the sweep "
    "holds all cells of both, shuffled. The run keeps both, as RUN:side=a and RUN:side=b, and the "
    "comparison.\n\n"
    "Example:\n"
    "  schedlab compare results/before results/after\n"
    "  schedlab compare results/x:variant=gmp results/x:variant=gmp,runnext=off\n"
    "  schedlab compare results/x:variant=grq/workers=2 \\\n"
    "      results/x:variant=gmp/workers=2\n"
    "  schedlab compare --each results/x:variant=gmp/workers=1 results/x:workers=2\n"
    "  schedlab compare results/before:workload=arrivals results/after --metric p99\n"
    "  schedlab compare --git main HEAD harness/sweeps/smoke.yaml --reps 10\n\n"
    "Exit status: 0 done; 1 a revision could not be built or measured, or the comparison not kept; "
    "2 misused: a side that cannot be read, or nothing in common.";

static void options_check(void *to)
{
    const struct options *options = to;
    if (options->git && options->arguments.count < ARGUMENTS_MAX)
        cli_misuse("--git takes two revisions and a sweep file, for example main HEAD "
                   "harness/sweeps/smoke.yaml");
    if (options->git)
        return;
    if (options->results || options->override.reps >= 0)
        cli_misuse("--%s takes --git: runs that are there are only read",
                   options->results ? "results" : "reps");
    if (options->arguments.count == 1 && run_folder_is_packed(options->arguments.text[0]))
        cli_check_run("", options->arguments.text[0]);
    if (options->arguments.count < SIDES)
        cli_misuse("which two? For example results/x:variant=gmp results/x:variant=grq");
    if (options->arguments.count > SIDES)
        cli_misuse(
            "two sides at a time; found \"%s\" too; two revisions and a sweep file take --git",
            options->arguments.text[SIDES]);
}

static const struct cli_command cli = {
    .options = option_table,
    .arguments = "RUN[:FILTER] RUN[:FILTER]\n--git REV REV SWEEP",
    .help = argp_doc,
    .list_offset = offsetof(struct options, arguments),
    .list_most = ARGUMENTS_MAX,
    .too_many = "too many arguments",
    .check = options_check,
};

static void warnings_print(const struct comparison *comparison)
{
    json_each(warning, comparison->warnings)
        cli_say("warning: %s", json_string_value(warning));
}

static void print(const struct options *options, const struct comparison *comparison)
{
    switch (options->format) {
    case FORMAT_TABLE:
        compare_print_table(comparison, stdout);
        break;
    case FORMAT_MARKDOWN:
        compare_print_markdown(comparison, stdout);
        break;
    case FORMAT_JSON:
        cli_print_json(compare_to_json(comparison), 12);
        break;
    }
    fflush(stdout); /* messages follow the table in a log too */
    warnings_print(comparison);
}

/* Another comparison of this name is replaced. The exit status. */
static int save(const struct options *options, const struct comparison *comparison)
{
    char folder[PATH_SIZE], path[PATH_SIZE + 128];
    struct error error;
    const char *run = comparison->b->run_dir;
    snprintf(folder, sizeof folder, "%s/comparisons", run);
    if (!folder_make(folder, &error))
        return cli_fail("%s", error.text);
    snprintf(path, sizeof path, "%s/%s.json", folder, options->save);
    json_t *json = compare_to_json(comparison);
    char *text = json_dumps(json, JSON_INDENT(2) | JSON_REAL_PRECISION(12));
    json_decref(json);
    if (!text)
        memory_die();
    bool ok = file_replace(path, text, strlen(text), &error);
    free(text);
    if (!ok)
        return cli_fail("%s", error.text);
    cli_say("kept in %s; `schedlab report %s` shows it", path, run);
    return EXIT_DONE;
}

/* The exit status. */
static int sides_compare(const struct options *options, struct compare_side *a,
                         struct compare_side *b)
{
    struct error error;
    const struct compare_side *sides[SIDES] = {a, b};
    bool known = true;
    for (int i = 0; i < SIDES && known; i++)
        known = metric_is_known(&options->compare.metric, sides[i]->records, &error);
    if (!known || !compare_sides_pair(a, b, options->compare.each, &error)) {
        cli_say("%s", error.text);
        return EXIT_MISUSED;
    }
    struct comparison comparison;
    compare_make(&comparison, a, b, &options->compare);
    int status = EXIT_DONE;
    if (comparison.count > 0) {
        print(options, &comparison);
        if (options->save)
            status = save(options, &comparison);
    } else {
        cli_say("%s and %s have nothing in common: no variant, workload and number of workers is "
                "in both; what both filters name need not be",
                a->label, b->label);
        status = EXIT_MISUSED;
    }
    compare_free(&comparison);
    return status;
}

static int runs_compare(const struct options *options, const char *a, const char *b)
{
    struct compare_side sides[SIDES];
    const char *texts[SIDES] = {a, b};
    struct error error;
    for (int i = 0; i < SIDES; i++)
        if (!compare_side_load(&sides[i], texts[i], &error))
            cli_misuse("%s", error.text);
    for (int i = 0; i < SIDES; i++)
        if (i == 0 || strcmp(sides[i].run_dir, sides[0].run_dir) != 0)
            run_folder_tell_flaws(sides[i].run_dir, &sides[i].flaws, cli_name(), stderr);
    int status = sides_compare(options, &sides[0], &sides[1]);
    for (int i = 0; i < SIDES; i++)
        compare_side_free(&sides[i]);
    return status;
}

/* Revisions ------------------------------------------------------------------------------------ */

/* The exit status; on success the run's folder is in run->folder. */
static int revisions_measure(const struct options *options, const char *file,
                             const struct sweep_file *sweep, struct git_build revisions[SIDES],
                             struct side_by_side *run)
{
    struct plan_side sides[SIDES];
    struct error error;
    for (int i = 0; i < SIDES; i++)
        if (!git_build_find(&revisions[i], options->arguments.text[i], &error))
            cli_misuse("%s", error.text);
    if (strcmp(revisions[0].name, revisions[1].name) == 0)
        cli_say("warning: %s and %s are one revision, %s: no difference is to be found",
                options->arguments.text[0], options->arguments.text[1], revisions[0].name);
    for (int i = 0; i < SIDES; i++) {
        if (!git_build_make(&revisions[i], stderr, &error))
            return cli_fail("%s", error.text);
        sides[i] = (struct plan_side){.name = i == 0 ? "a" : "b",
                                      .program = revisions[i].program,
                                      .revision = revisions[i].name};
    }
    *run = (struct side_by_side){
        .sweep = sweep,
        .sweep_path = file,
        .sides = sides,
        .sides_count = SIDES,
        .results = options->results ? options->results : "results",
        .name = sweep->name,
        .environment = environment_to_json(),
        .seed = (uint64_t)sweep->seed,
    };
    int result = side_by_side_measure(run, &error);
    json_decref(run->environment);
    return result < 0 ? cli_fail("%s", error.text) : EXIT_DONE;
}

static int revisions_compare(const struct options *options)
{
    char a[PATH_SIZE], b[PATH_SIZE], name[SIDES * REVISION_SIZE];
    struct error error;
    struct side_by_side run;
    struct git_build revisions[SIDES];
    const char *file = cli_sweep_file(options->arguments.text[SIDES]);
    struct sweep_file *sweep = sweep_file_load(file, &error);
    if (!sweep)
        cli_misuse_lines(error.text);
    sweep_file_override(&options->override, sweep);
    int status = revisions_measure(options, file, sweep, revisions, &run);
    sweep_file_free(sweep);
    if (status != EXIT_DONE)
        return status;
    cli_say("data in %s", run.folder);
    snprintf(a, sizeof a, "%s:side=a", run.folder);
    snprintf(b, sizeof b, "%s:side=b", run.folder);
    snprintf(name, sizeof name, "%s-%s", revisions[0].name, revisions[1].name);
    struct options kept = *options;
    if (!kept.save)
        kept.save = name;
    return runs_compare(&kept, a, b);
}

int cmd_compare(int argc, char **argv)
{
    struct options options = {.override = SWEEP_OVERRIDE_NONE,
                              .compare = {.alpha = 0.05, .seed = STATISTICS_SEED}};
    cli_read(&cli, argc, argv, &options);
    options.compare.min_effect = options.min_effect_percent / 100;
    const char **sides = options.arguments.text;
    int status =
        options.git ? revisions_compare(&options) : runs_compare(&options, sides[0], sides[1]);
    free(sides);
    return status;
}
