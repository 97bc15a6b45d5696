/* cmd_compare.c - `schedlab compare`: two sets of cells beside one another. */
#define _GNU_SOURCE
#include "harness/cli.h"
#include "harness/commands.h"
#include "harness/compare.h"
#include "harness/compare_print.h"

#include <argp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

enum { ERROR_SIZE = 16384, SIDES = 2 };
enum { KEY_FORMAT = 0x100, KEY_ALPHA, KEY_MIN_EFFECT };
enum compare_format { FORMAT_TABLE, FORMAT_JSON, FORMAT_MARKDOWN };

static const char *const format_words[] = {"table", "json", "markdown", NULL};

struct options {
    const char *sides[SIDES];
    int sides_count;
    enum compare_format format;
    struct compare_options compare;
};

static const struct argp_option argp_options[] = {
    {"format", KEY_FORMAT, "FORMAT", 0, "table (default), json or markdown", 0},
    {"alpha", KEY_ALPHA, "A", 0,
     "Level of the tests, for all pairs of the comparison together; default 0.05", 0},
    {"min-effect", KEY_MIN_EFFECT, "PERCENT", 0,
     "Call no pair faster or slower whose medians differ by less; default 0", 0},
    {0},
};

static const char argp_doc[] =
    "Compare cells of two runs, or of one: medians, their ratio B / A with its interval, the "
    "effect, "
    "and whether a difference is shown. A, the first, is the baseline: above 1, B is faster.\v"
    "RUN is a folder that `schedlab sweep` wrote. Behind a colon KEY=VALUE keeps the cells for "
    "which "
    "it holds, and a slash stands between several; the same KEY again means either VALUE. KEY is "
    "variant (a whole specification), variant_name, workload (a name alone: any parameters), "
    "workers, "
    "group, the name of a knob or parameter, or another key of the records, such as side, revision "
    "or "
    "allocator.\n\n"
    "Cells are compared if variant, workload and workers are equal, but for what both sides name. "
    "Samples are compared within one mood of the machine where there are enough. p is that of the "
    "Mann-Whitney test, adjusted by Holm over all pairs. The ratios are summarized by their "
    "geometric "
    "mean.\n\n"
    "Examples:\n"
    "  schedlab compare results/before results/after\n"
    "  schedlab compare results/x:variant=gmp results/x:variant=gmp,runnext=off\n"
    "  schedlab compare results/x:variant=grq/workers=2 results/x:variant=gmp/workers=2\n\n"
    "Exit status: 0 done; 2 misused: a side that cannot be read, or nothing in common.";

static error_t option_parse(int key, char *arg, struct argp_state *state)
{
    struct options *options = state->input;
    switch (key) {
    case KEY_FORMAT:
        options->format = (enum compare_format)cli_word(state->name, "format", arg, format_words);
        break;
    case KEY_ALPHA:
        options->compare.alpha = cli_real(state->name, "alpha", arg, 1e-6, 0.5);
        break;
    case KEY_MIN_EFFECT:
        options->compare.min_effect = cli_real(state->name, "min-effect", arg, 0, 1000) / 100;
        break;
    case ARGP_KEY_ARG:
        if (options->sides_count == SIDES)
            cli_misuse(state->name, "two sides at a time; found \"%s\" too", arg);
        options->sides[options->sides_count++] = arg;
        break;
    case ARGP_KEY_END:
        if (options->sides_count < SIDES)
            cli_misuse(state->name, "which two? For example results/x:variant=gmp "
                                    "results/x:variant=grq");
        break;
    default:
        return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

static void warnings_print(const char *program, const struct comparison *comparison)
{
    size_t i;
    const json_t *warning;
    json_array_foreach(comparison->warnings, i, warning)
        fprintf(stderr, "%s: warning: %s\n", program, json_string_value(warning));
}

static void print(const char *program, const struct options *options,
                  const struct comparison *comparison)
{
    json_t *json;
    switch (options->format) {
    case FORMAT_TABLE:
        compare_print_table(comparison, stdout);
        break;
    case FORMAT_MARKDOWN:
        compare_print_markdown(comparison, stdout);
        break;
    case FORMAT_JSON:
        json = compare_to_json(comparison);
        json_dumpf(json, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(12));
        putchar('\n');
        json_decref(json);
        break;
    }
    warnings_print(program, comparison);
}

/* The exit status. */
static int sides_compare(const char *program, const struct options *options, struct compare_side *a,
                         struct compare_side *b)
{
    char error[ERROR_SIZE];
    if (!compare_sides_pair(a, b, error, sizeof error)) {
        fprintf(stderr, "%s: %s\n", program, error);
        return EXIT_MISUSED;
    }
    struct comparison comparison;
    compare_make(&comparison, a, b, &options->compare);
    int status = EXIT_DONE;
    if (comparison.count > 0) {
        print(program, options, &comparison);
    } else {
        fprintf(stderr,
                "%s: %s and %s have nothing in common: no variant, workload and number of workers "
                "is in both; what both filters name need not be\n",
                program, a->label, b->label);
        status = EXIT_MISUSED;
    }
    compare_free(&comparison);
    return status;
}

int cmd_compare(int argc, char **argv)
{
    static const struct argp argp = {
        argp_options, option_parse, "RUN[:FILTER] RUN[:FILTER]", argp_doc, NULL, NULL, NULL};
    struct options options = {.compare = {.alpha = 0.05, .seed = 1}};
    cli_parse(&argp, argc, argv, &options);
    struct compare_side sides[SIDES];
    char error[ERROR_SIZE];
    for (int i = 0; i < SIDES; i++)
        if (!compare_side_load(&sides[i], options.sides[i], error, sizeof error))
            cli_misuse(argv[0], "%s", error);
    int status = sides_compare(argv[0], &options, &sides[0], &sides[1]);
    for (int i = 0; i < SIDES; i++)
        compare_side_free(&sides[i]);
    return status;
}
