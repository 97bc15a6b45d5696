/* cmd_report.c - `schedlab report`: tables, figures and the page of a run, from its records alone.
 * */
#include "harness/answers/figures.h"
#include "harness/catalogue/repro_report.h"
#include "harness/commands/commands.h"
#include "harness/options/cli.h"
#include "harness/records/run_folder.h"
#include "harness/report/report.h"
#include "harness/repro/repro_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum report_format { FORMAT_HTML, FORMAT_JSON };

static const char *const format_words[] = {"html", "json", NULL};

struct options {
    const char *run_dir;
    int format; /* enum report_format */
    bool no_figures, paper, latex;
    const char *column, *font;
    int colours; /* enum report_colours */
};

enum report_colours { COLOURS_COLOUR, COLOURS_GREY };
static const char *const colour_words[] = {"colour", "grey", NULL};
enum { COLUMN_LEAST_MM = 40, COLUMN_MOST_MM = 400 };
static const double COLUMN_USUAL_MM = 85;

static const struct cli_option option_table[] = {
    {"format", "FORMAT",
     "html: only write the page (default); json: also print its answers for programs",
     CLI(WORD, format), .words = format_words},
    {"no-figures", NULL, "Draw nothing; keep the figures that are there", CLI(FLAG, no_figures)},
    {"paper", NULL,
     "only draw the figures for a paper, without title, prose and caption, into RUN_DIR/paper",
     CLI(FLAG, paper)},
    {"column", "WIDTH", "with --paper: their width, 85mm (default, one column) or 178mm (two)",
     CLI(TEXT, column)},
    {"font", "NAME", "with --paper: the font, for example \"Times New Roman\"; default sans-serif",
     CLI(TEXT, font)},
    {"colours", "COLOURS", "with --paper: colour (default) or grey, of the variants",
     CLI(WORD, colours), .words = colour_words},
    {"latex", NULL, "with --paper: for LaTeX too, which sets the words itself: \\input{NAME-latex}",
     CLI(FLAG, latex)},
    {0},
};

static const char argp_doc[] =
    "Make tables, figures and the page of a run or a reproduction from what it recorded.\v"
    "RUN_DIR is a folder that `schedlab sweep` wrote. It receives the .tsv files, "
    "figures/*.{svg,pdf,png} and report.html, one page that needs nothing else. Nothing that was "
    "measured changes, and the report can be made again at any time. Of a folder that `schedlab "
    "repro` wrote, each run in it gets its report, and the whole repro.html, a page with all "
    "verdicts and figures.\n\n"
    "A figure of a paper is at most 110 mm high, or 200 mm in a column of 130 mm or more, with "
    "text of 6 pt or more. Panels that do not fit go on in NAME-2.pdf, NAME-3.pdf and so on.\n\n"
    "Example:\n"
    "  schedlab report results/default-20260131T101500Z\n"
    "  schedlab report results/default-20260131T101500Z --paper --latex\n"
    "  schedlab report results/repro-20260131T101500Z\n\n"
    "Exit status: 0 done; 1 something could not be made; 2 misused.";

static const char FONT_LETTERS[] =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789 -";

/* "85mm", "85": in mm. */
static double column_of(const struct options *options)
{
    char *end;
    if (!options->column)
        return COLUMN_USUAL_MM;
    double mm = strtod(options->column, &end);
    if (end == options->column || (*end && strcmp(end, "mm") != 0) ||
        !(mm >= COLUMN_LEAST_MM && mm <= COLUMN_MOST_MM))
        cli_misuse("--column=%s is not valid; valid: %dmm to %dmm", options->column,
                   COLUMN_LEAST_MM, COLUMN_MOST_MM);
    return mm;
}

static void options_check(void *to)
{
    const struct options *options = to;
    const char *of_paper = options->column    ? "column"
                           : options->font    ? "font"
                           : options->colours ? "colours"
                           : options->latex   ? "latex"
                                              : NULL;
    if (of_paper && !options->paper)
        cli_misuse("--%s comes with --paper", of_paper);
    if (options->paper && (options->format == FORMAT_JSON || options->no_figures))
        cli_misuse("--paper only draws; leave out --%s",
                   options->no_figures ? "no-figures" : "format");
    if (options->font && strspn(options->font, FONT_LETTERS) != strlen(options->font))
        cli_misuse("--font=%s: valid: a name of letters, digits, blanks and -", options->font);
    if (!options->run_dir || !*options->run_dir)
        cli_misuse("which run? A folder that `schedlab sweep` wrote, for example "
                   "results/default-20260131T101500Z");
}

static const struct cli_command cli = {
    .options = option_table,
    .arguments = "RUN_DIR",
    .help = argp_doc,
    .only = "run",
    .only_offset = offsetof(struct options, run_dir),
    .check = options_check,
};

/* A damaged repro.json is as much a misuse as a folder without one. */
static int report_reproduction(const struct options *options)
{
    struct error error;
    json_t *repro = repro_file_read(options->run_dir, &error);
    if (!repro)
        cli_misuse("%s", error.text);
    json_decref(repro);
    if (options->format == FORMAT_JSON)
        cli_misuse("--format=json is for runs; the answers of a reproduction are in %s/repro.json",
                   options->run_dir);
    return repro_report_make(options->run_dir, !options->no_figures, cli_name(), stderr) == 0
               ? EXIT_DONE
               : EXIT_FAILED;
}

int cmd_report(int argc, char **argv)
{
    struct options options = {0};
    cli_read(&cli, argc, argv, &options);
    if (repro_file_is_there(options.run_dir) && options.paper)
        cli_misuse("--paper is of a run; valid: a folder in %s", options.run_dir);
    if (repro_file_is_there(options.run_dir))
        return report_reproduction(&options);
    cli_check_run("", options.run_dir);
    if (options.paper) {
        struct figures_paper paper = {.column_mm = column_of(&options),
                                      .font = options.font,
                                      .grey = options.colours == COLOURS_GREY,
                                      .latex = options.latex};
        return report_paper(options.run_dir, &paper, stdout, stderr) == 0 ? EXIT_DONE : EXIT_FAILED;
    }
    json_t *summary = NULL;
    int status = report_make_with(options.run_dir, !options.no_figures,
                                  options.format == FORMAT_JSON ? &summary : NULL, stderr);
    if (summary)
        cli_print_json(summary, 12);
    if (fflush(stdout) != 0)
        status = EXIT_FAILED;
    return status == 0 ? EXIT_DONE : EXIT_FAILED;
}
