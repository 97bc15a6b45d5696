/* cmd_report.c - `schedlab report`: tables, figures and the page of a run, from its records alone.
 * */
#define _GNU_SOURCE
#include "harness/cli.h"
#include "harness/commands.h"
#include "harness/report.h"
#include "harness/suggest.h"

#include <argp.h>
#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PATH_SIZE = 4096, NEAREST_SIZE = 2 * PATH_SIZE, KEY_FORMAT = 0x100, KEY_NO_FIGURES };
enum report_format { FORMAT_HTML, FORMAT_JSON };

static const char *const format_words[] = {"html", "json", NULL};

struct options {
    const char *run_dir;
    enum report_format format;
    bool no_figures;
};

static const struct argp_option argp_options[] = {
    {"format", KEY_FORMAT, "FORMAT", 0,
     "html: only write the page (default); json: also print its answers for programs", 0},
    {"no-figures", KEY_NO_FIGURES, NULL, 0, "Draw nothing; keep the figures that are there", 0},
    {0},
};

static const char argp_doc[] =
    "Make tables, figures and report.html of a run from what it recorded.\v"
    "RUN_DIR is a folder that `schedlab sweep` wrote. It receives the .tsv files, "
    "figures/*.{svg,pdf,png} and report.html, one page that needs nothing else. Nothing that was "
    "measured changes, and the report can be made again at any time.\n\n"
    "Example:\n"
    "  schedlab report results/reference\n\n"
    "Exit status: 0 done; 1 something could not be made; 2 misused.";

static error_t option_parse(int key, char *arg, struct argp_state *state)
{
    struct options *options = state->input;
    switch (key) {
    case KEY_FORMAT:
        options->format = (enum report_format)cli_word(state->name, "format", arg, format_words);
        break;
    case KEY_NO_FIGURES:
        options->no_figures = true;
        break;
    case ARGP_KEY_ARG:
        if (options->run_dir)
            cli_misuse(state->name, "one run at a time; found \"%s\" and \"%s\"", options->run_dir,
                       arg);
        options->run_dir = arg;
        break;
    case ARGP_KEY_END:
        if (!options->run_dir || !*options->run_dir)
            cli_misuse(state->name, "which run? A folder that `schedlab sweep` wrote, for example "
                                    "results/reference");
        break;
    default:
        return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

/* errno says why not. */
static bool is_run(const char *folder)
{
    char path[PATH_SIZE];
    int length = snprintf(path, sizeof path, "%s/samples.jsonl", folder);
    if (length < (int)sizeof path)
        return access(path, F_OK) == 0;
    errno = ENAMETOOLONG;
    return false;
}

/* The run in folder whose name is nearest; false if there is none. */
static bool nearest_run_in(const char *folder, const char *name, char nearest[NEAREST_SIZE])
{
    char path[NEAREST_SIZE];
    size_t distance = SIZE_MAX;
    DIR *entries = opendir(folder);
    for (struct dirent *entry; entries && (entry = readdir(entries)) != NULL;) {
        const char *slash = folder[strlen(folder) - 1] == '/' ? "" : "/";
        snprintf(path, sizeof path, "%s%s%s", folder, slash, entry->d_name);
        if (entry->d_name[0] == '.' || !is_run(path) ||
            suggest_distance(name, entry->d_name) >= distance)
            continue;
        distance = suggest_distance(name, entry->d_name);
        snprintf(nearest, NEAREST_SIZE, "%s", path);
    }
    if (entries)
        closedir(entries);
    return distance < SIZE_MAX;
}

/* A run inside run_dir, or the nearest one beside it, or the nearest where sweeps put them. */
static bool nearest_run(const char *run_dir, char nearest[NEAREST_SIZE])
{
    char parent[PATH_SIZE];
    snprintf(parent, sizeof parent, "%s", run_dir);
    size_t length = strlen(parent);
    while (length > 1 && parent[length - 1] == '/')
        parent[--length] = '\0';
    char *slash = strrchr(parent, '/');
    const char *name = slash ? slash + 1 : parent;
    const char *folder = slash == parent ? "/" : slash ? parent : ".";
    if (*run_dir && nearest_run_in(run_dir, "", nearest))
        return true;
    if (slash)
        *slash = '\0';
    return nearest_run_in(folder, name, nearest) || nearest_run_in("results", name, nearest);
}

static void check_run(const char *command, const char *run_dir)
{
    char nearest[NEAREST_SIZE];
    if (is_run(run_dir))
        return;
    if (errno != ENOENT && errno != ENOTDIR)
        cli_misuse(command, "cannot read %s: %s", run_dir, strerror(errno));
    if (nearest_run(run_dir, nearest))
        cli_misuse(command, "%s is not a run: it has no samples.jsonl; the nearest run is %s",
                   run_dir, nearest);
    cli_misuse(command,
               "%s is not a run: it has no samples.jsonl; valid is a folder that `schedlab sweep` "
               "wrote",
               run_dir);
}

int cmd_report(int argc, char **argv)
{
    static const struct argp argp = {argp_options, option_parse, "RUN_DIR", argp_doc,
                                     NULL,         NULL,         NULL};
    struct options options = {0};
    cli_parse(&argp, argc, argv, &options);
    check_run(argv[0], options.run_dir);
    json_t *summary = NULL;
    int status = report_make_with(options.run_dir, !options.no_figures,
                                  options.format == FORMAT_JSON ? &summary : NULL, stderr);
    if (summary) {
        json_dumpf(summary, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(12));
        putchar('\n');
        json_decref(summary);
    }
    if (fflush(stdout) != 0)
        status = EXIT_FAILED;
    return status == 0 ? EXIT_DONE : EXIT_FAILED;
}
