/* cmd_artifact.c - `schedlab artifact`: runs packed for a paper's evaluators, and held against new
 * ones. */
#include "harness/artifact/claims.h"
#include "harness/artifact/pack.h"
#include "harness/base/json_fields.h"
#include "harness/base/memory.h"
#include "harness/base/term_table.h"
#include "harness/base/text.h"
#include "harness/commands/commands.h"
#include "harness/options/cli.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TOLD_MAX = 20, TOLERANCE_PERCENT = 10 };

struct options {
    const char *output, *title, *check;
    struct cli_list runs, sources;
    double tolerance_percent; /* -1: not given */
    bool all, json;
};

static void source_take(void *to, char *value)
{
    struct options *options = to;
    if (!text_ends_with(value, ".c"))
        cli_misuse("--source=%s is no C file; valid: that of a design, FILE.c", value);
    for (size_t i = 0; i < options->sources.count; i++)
        if (strcmp(text_base_name(options->sources.text[i]), text_base_name(value)) == 0)
            cli_misuse("--source=%s has the name of %s; valid: another name", value,
                       options->sources.text[i]);
    cli_list_add(&options->sources, value);
}

static const struct cli_option option_table[] = {
    {"output", "OUT", "The new folder, or the new file NAME.tar.xz (default: artifact)",
     CLI(TEXT, output), .letter = 'o'},
    {"source", "FILE.c",
     "Pack the source of a design outside the tree that took part; may be given again",
     .take = source_take},
    {"title", "TEXT", "The title of the paper, for the first line of README.md", CLI(TEXT, title)},
    {"tolerance", "PERCENT",
     "A native ratio holds if its 95 % interval, wider by so much at both ends, meets the new one; "
     "default 10, and with --check that of CLAIMS",
     CLI(REAL, tolerance_percent), .most = 1000},
    {"check", "CLAIMS", "Pack nothing: hold the claims of this claims.json against new runs",
     CLI(TEXT, check)},
    {"all", NULL, "With --check: claims that are open or that no run has measured fail it too",
     CLI(FLAG, all)},
    {"format", "FORMAT", "With --check: table (default) or json", CLI(JSON, json)},
    {0},
};

static const char argp_doc[] =
    "Pack runs and reproductions for a paper's evaluators: records and pages, the sources that "
    "measured them, the claims in them, a Dockerfile, and a script that measures again and "
    "compares.\v"
    "RUN is a folder that `schedlab sweep` or `schedlab repro` wrote, with a program that was "
    "built from a commit of the git repository around the current folder; all are of one commit. "
    "README.md says what is in it, where it was measured, and how it is done again; reproduce.sh "
    "does it. A simulated sample has to be equal to the byte, a native ratio by its interval.\n\n"
    "Example:\n"
    "  schedlab artifact results/scaling-20260131T101500Z --output scaling.tar.xz\n"
    "  schedlab artifact --check artifact/claims.json artifact/out/*\n\n"
    "Exit status: 0 done, and no claim that was measured differs; 1 some do, or it could not be "
    "packed; 2 misused.";

static void options_check(void *to)
{
    const struct options *options = to;
    if (options->check && (options->output || options->title || options->sources.count))
        cli_misuse("--check packs nothing; it takes no --output, --title or --source");
    if (!options->check && (options->all || options->json))
        cli_misuse("--%s takes --check CLAIMS", options->all ? "all" : "format");
}

static const struct cli_command cli = {
    .options = option_table,
    .arguments = "RUN...\n--check CLAIMS RUN...",
    .help = argp_doc,
    .list_most = SIZE_MAX,
    .list_offset = offsetof(struct options, runs),
    .missing = "which runs? Folders that `schedlab sweep` or `schedlab repro` wrote, for example "
               "results/default-20260131T101500Z",
    .check = options_check,
};

/* Packing -------------------------------------------------------------------------------------- */

static int runs_pack(const struct options *options)
{
    static const char *const none[] = {NULL};
    struct error error = {0};
    struct pack pack = {.out = options->output ? options->output : "artifact",
                        .runs = options->runs.text,
                        .outside = options->sources.text ? options->sources.text : none,
                        .title = options->title,
                        .tolerance = (options->tolerance_percent < 0 ? TOLERANCE_PERCENT
                                                                     : options->tolerance_percent) /
                                     100};
    if (!pack_make(&pack, &error))
        return cli_fail("%s", error.text);
    cli_say("%s of %s; measuring again takes some %.0f min, or %.0f min with --full",
            counted(pack.claims, "claim").s, counted(options->runs.count, "run").s,
            ceil(pack.quick_seconds / 60), ceil(pack.full_seconds / 60));
    if (pack.quick_seconds > 600)
        cli_say("warning: evaluators are asked for more than ten minutes; pack fewer runs");
    printf("%s\n", pack.out);
    return EXIT_DONE;
}

/* Holding -------------------------------------------------------------------------------------- */

struct held {
    json_t *outcomes; /* array: id, run, machine, outcome, reason */
    size_t counts[CLAIM_OUTCOMES];
};

/* The claims of all runs, by their ids; NULL and one line in error. */
static json_t *claims_by_id(const struct options *options, struct error *error)
{
    json_t *by_id = json_object();
    for (size_t i = 0; i < options->runs.count; i++) {
        json_t *claims = claims_of(options->runs.text[i], error);
        if (!claims) {
            json_decref(by_id);
            return NULL;
        }
        json_each(claim, claims)
            json_object_set(by_id, field_text(claim, "id"), claim);
        json_decref(claims);
    }
    return by_id;
}

static void claims_hold(struct held *held, const json_t *file, double tolerance,
                        const json_t *by_id)
{
    held->outcomes = json_array();
    json_each(claim, json_object_get(file, "claims")) {
        struct error reason;
        const char *id = field_text(claim, "id");
        enum claim_outcome outcome =
            claim_hold(claim, json_object_get(by_id, id), tolerance, &reason);
        held->counts[outcome]++;
        json_array_append_new(
            held->outcomes, json_pack("{ss ss ss ss ss}", "id", id, "run", field_text(claim, "run"),
                                      "machine", field_text(claim, "machine"), "outcome",
                                      claim_outcome_words[outcome], "reason", reason.text));
    }
}

/* Counts of outcomes: "RUN on MACHINE" -> array of them, in the order of the claims. */
static json_t *held_by_place(const struct held *held)
{
    json_t *places = json_object();
    json_each(outcome, held->outcomes) {
        char *place =
            text_format("%s on %s", field_text(outcome, "run"), field_text(outcome, "machine"));
        json_t *counts = json_object_get(places, place);
        if (!counts) {
            counts = json_object();
            json_object_set_new(places, place, counts);
        }
        const char *word = field_text(outcome, "outcome");
        json_object_set_new(counts, word, json_integer(field_integer(counts, word) + 1));
        free(place);
    }
    return places;
}

static void held_print_table(const struct held *held)
{
    json_t *places = held_by_place(held), *counts;
    const char *place;
    struct term_table *table =
        term_table_new((struct term_layout){.gap = 1}, TERM_COLUMNS({"run", -44}));
    for (int i = 0; i < CLAIM_OUTCOMES; i++)
        term_table_column(table, claim_outcome_words[i], 7);
    json_object_foreach(places, place, counts)
    {
        term_table_row(table, place, NULL);
        for (int i = 0; i < CLAIM_OUTCOMES; i++)
            term_table_cell(table, "%d", (int)field_integer(counts, claim_outcome_words[i]));
    }
    term_table_print(table, stdout);
    json_decref(places);
}

/* A line for each that does not hold, the first ones of many. */
static void held_print_reasons(const struct held *held, enum claim_outcome which)
{
    size_t told = 0;
    json_each(outcome, held->outcomes) {
        if (strcmp(field_text(outcome, "outcome"), claim_outcome_words[which]) != 0)
            continue;
        if (told++ < TOLD_MAX)
            printf("  %s: %s: %s\n", claim_outcome_words[which], field_text(outcome, "id"),
                   field_text(outcome, "reason"));
    }
    if (told > TOLD_MAX)
        printf("  and %zu more; --format json has all\n", told - TOLD_MAX);
}

static void held_print(const struct held *held, bool hold)
{
    size_t fit = held->counts[CLAIM_EQUAL] + held->counts[CLAIM_WITHIN];
    held_print_table(held);
    held_print_reasons(held, CLAIM_DIFFERS);
    held_print_reasons(held, CLAIM_OPEN);
    printf("%zu of %s hold, %zu to the byte; %zu differ, %zu are open, %zu were not measured%s\n",
           fit, counted(json_array_size(held->outcomes), "claim").s, held->counts[CLAIM_EQUAL],
           held->counts[CLAIM_DIFFERS], held->counts[CLAIM_OPEN], held->counts[CLAIM_MISSING],
           hold ? "" : ": not reproduced");
}

static int claims_check(const struct options *options)
{
    struct error error = {0};
    json_error_t flaw;
    json_t *file = json_load_file(options->check, 0, &flaw);
    if (!json_is_array(json_object_get(file, "claims")) ||
        !json_is_number(json_object_get(file, "tolerance")))
        cli_misuse("--check=%s: %s; valid is the claims.json of an artifact", options->check,
                   file ? "it has no claims with a tolerance" : flaw.text);
    json_t *by_id = claims_by_id(options, &error);
    if (!by_id)
        cli_misuse("%s", error.text);
    struct held held = {.outcomes = NULL};
    double tolerance = options->tolerance_percent < 0 ? field_number(file, "tolerance")
                                                      : options->tolerance_percent / 100;
    claims_hold(&held, file, tolerance, by_id);
    bool hold = held.counts[CLAIM_DIFFERS] == 0 &&
                held.counts[CLAIM_EQUAL] + held.counts[CLAIM_WITHIN] > 0 &&
                !(options->all && held.counts[CLAIM_MISSING] + held.counts[CLAIM_OPEN] > 0);
    if (options->json)
        cli_print_json(json_pack("{sb sO}", "reproduced", hold, "claims", held.outcomes), 0);
    else
        held_print(&held, hold);
    json_decref(held.outcomes);
    json_decref(by_id);
    json_decref(file);
    return hold ? EXIT_DONE : EXIT_FAILED;
}

int cmd_artifact(int argc, char **argv)
{
    struct options options = {.tolerance_percent = -1};
    cli_read(&cli, argc, argv, &options);
    int status = options.check ? claims_check(&options) : runs_pack(&options);
    free(options.runs.text);
    free(options.sources.text);
    return status;
}
