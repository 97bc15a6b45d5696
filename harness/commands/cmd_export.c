/* cmd_export.c - `schedlab export`: a run's samples for other tools. */
#include "harness/base/text.h"
#include "harness/commands/commands.h"
#include "harness/evidence/comparable.h"
#include "harness/options/cli.h"
#include "harness/records/run_folder.h"
#include "harness/report/report_latex.h"
#include "harness/tables/export.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static const char *const format_words[] = {"gbench", "benchstat", "csv", "tidy", "latex", NULL};
enum { FORMAT_LATEX = EXPORT_TIDY + 1 };

struct options {
    const char *folder, *output;
    int format; /* -1: not given */
};

static const struct cli_option option_table[] = {
    {"to", "FORMAT", "gbench, benchstat, csv, tidy or latex; must be given", CLI(WORD, format),
     .letter = 't', .words = format_words},
    {"output", "FILE", "Write FILE (default: standard output)", CLI(TEXT, output), .letter = 'o'},
    {0},
};

static const char argp_doc[] =
    "Write the samples of a run in the format of another tool.\v"
    "RUN_DIR is a folder that `schedlab sweep` wrote; nothing in it changes.\n\n"
    "  gbench     JSON of Google Benchmark, for its compare.py; a sample is a repetition\n"
    "  benchstat  lines as `go test -bench` prints them, for benchstat\n"
    "  csv        a line per sample (RFC 4180), failed and skipped ones too; absent is empty\n"
    "  tidy       a line per sample and metric (RFC 4180), for data frames; absent is empty\n"
    "  latex      a table per question (booktabs), with intervals and marks as in the report\n\n"
    "Samples of cells that failed or were skipped have no number; gbench and benchstat leave them "
    "out, and say how many. So they do with samples that were marked as disturbed, and with those "
    "of a core distance (near or far) that has fewer than 3 of a cell. Distances are kept apart, "
    "by name or by a line `distance: near`, so that like is compared with like.\n\n"
    "Example:\n"
    "  schedlab export results/monday --to gbench --output monday.json\n\n"
    "Exit status: 0 done; 1 the records cannot be read, or the output not written; 2 misused.";

static void options_check(void *to)
{
    const struct options *options = to;
    if (options->format < 0)
        cli_misuse("--to is missing; valid: gbench, benchstat, csv, tidy, latex");
}

static const struct cli_command cli = {
    .options = option_table,
    .arguments = "RUN_DIR",
    .help = argp_doc,
    .only = "run",
    .only_offset = offsetof(struct options, folder),
    .missing = "which run? A folder that `schedlab sweep` wrote, for example "
               "results/default-20260131T101500Z",
    .check = options_check,
};

static void say_what_lacks(const struct export_result *result)
{
    if (result->failed > 0)
        cli_say("%s left out: their cells failed or were skipped",
                counted(result->failed, "sample").s);
    if (result->disturbed > 0)
        cli_say("%s left out: marked as disturbed", counted(result->disturbed, "sample").s);
    if (result->rare > 0)
        cli_say("%s left out: of no one core distance, or of one with fewer than %d of their cell",
                counted(result->rare, "sample").s, CLASS_MIN);
    if (result->together > 0)
        cli_say("distance \"all\" of %s: no core distance has %d undisturbed samples there, so all "
                "are written",
                counted(result->together, "cell").s, CLASS_MIN);
    if (result->without_cpu > 0)
        cli_say("%s without a cpu_time, which compare.py wants: peers, and samples of older "
                "revisions, do not tell it",
                counted(result->without_cpu, "sample").s);
}

/* 0, or -1 and one line in error. */
static int write_format(const struct options *options, FILE *to, struct export_result *result,
                        struct error *error)
{
    if (options->format != FORMAT_LATEX)
        return export_run(options->folder, (enum export_format)options->format, to, result, error);
    *result = (struct export_result){0};
    return report_latex_write(options->folder, to, &result->samples, error) ? 0 : -1;
}

int cmd_export(int argc, char **argv)
{
    struct options options = {.format = -1};
    struct export_result result;
    struct error error;
    cli_read(&cli, argc, argv, &options);
    cli_check_run("", options.folder);
    FILE *to = options.output ? fopen(options.output, "we") : stdout;
    if (!to)
        return cli_fail("%s: %s", options.output, strerror(errno));
    int failed = write_format(&options, to, &result, &error);
    bool lost = fflush(to) != 0 || ferror(to);
    if (options.output && fclose(to) != 0)
        lost = true;
    if (failed)
        return cli_fail("cannot export: %s", error.text);
    if (lost && options.output)
        return cli_fail("%s: %s", options.output, strerror(errno));
    run_folder_tell_flaws(options.folder, &result.flaws, cli_name(), stderr);
    say_what_lacks(&result);
    return EXIT_DONE;
}
