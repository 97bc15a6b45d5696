/* cmd_repro.c - `schedlab repro`: experiments on design decisions, each with a verdict. */
#include "harness/base/memory.h"
#include "harness/base/suggest.h"
#include "harness/base/text.h"
#include "harness/catalogue/catalogue.h"
#include "harness/catalogue/repro_report.h"
#include "harness/commands/commands.h"
#include "harness/host/data_folder.h"
#include "harness/models/machine_spec.h"
#include "harness/options/cli.h"
#include "harness/plan/sweep_file.h"
#include "harness/records/run_folder.h"
#include "harness/repro/repro.h"
#include "harness/repro/repro_file.h"
#include "harness/spec/outside.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct options {
    const char *results, *name, *resume, *explain;
    const char *pages, *reference; /* of --catalogue */
    const char *begins;            /* an option that only a new run takes, or NULL */
    struct cli_list words;         /* ids and paths */
    char **machines;
    size_t machines_count;
    bool quick, full, held, no_report, deterministic, list, json, simulated, guests;
};

/* The experiments and claims to choose from. */
struct catalogue {
    struct experiment **experiments; /* designs, disputes, and files of the user's own */
    size_t count, designs, disputes;
    struct claims *claims;
};

/* In place of an ID: all disputes. */
static const char disputes_word[] = "disputes";

/* Options -------------------------------------------------------------------------------------- */

static void machine_take(void *to, char *arg)
{
    struct options *options = to;
    if (strcmp(arg, "sim") == 0) {
        options->simulated = true;
        return;
    }
    const char *machine = cli_machine(arg)->text;
    if (text_is_among(machine, options->machines, options->machines_count))
        cli_misuse("--machine=%s is given twice", arg);
    array_add(options->machines, options->machines_count) = xstrdup(machine);
}

static const struct cli_option option_table[] = {
    {"quick", NULL,
     "Measure each cell six times, up to three times as often where a claim needs it, and leave "
     "out what takes long: a first look",
     CLI(FLAG, quick), .begins = true},
    {"full", NULL,
     "Measure until intervals are narrow, 3 % of the median unless the experiment says otherwise "
     "(the default)",
     CLI(FLAG, full), .begins = true},
    {"deterministic", NULL,
     "Measure only parts that have the same verdicts each time: simulated ones, and orders on one "
     "worker",
     CLI(FLAG, deterministic), .begins = true},
    {"held", NULL,
     "Measure what tests hold: as --quick --deterministic, but with the workloads that experiments "
     "name for it (held:), and only what an expectation is about",
     CLI(FLAG, held), .begins = true},
    {"machine", "MACHINE",
     "Measure on this one, whatever the experiments say: native, or a simulated one as in "
     "sim:server64; may be given several times. sim: on the simulated ones that the experiments "
     "name",
     .take = machine_take, .begins = true},
    {"guests", NULL,
     "Measure what is simulated a second time, on each machine as a guest of a hypervisor "
     "(host=vm), and say which verdicts depend on that; not where machines are compared",
     CLI(FLAG, guests), .begins = true},
    {"results", "DIR", "Make the folder in DIR (default: results)", CLI(FOLDER, results),
     .begins = true},
    {"name", "NAME", "Name it NAME-<UTC time> (default: repro)", CLI(NAME, name), .begins = true},
    {"resume", "FOLDER", "Go on with an interrupted reproduction", CLI(TEXT, resume)},
    {"no-report", NULL,
     "Make no repro.html and draw nothing; `schedlab report FOLDER` can do so later",
     CLI(FLAG, no_report)},
    {"format", "FORMAT", "table (default) or json, which is repro.json", CLI(JSON, json)},
    {"list", NULL, "Only print the catalogue, with the word disputes those", CLI(FLAG, list),
     .begins = true},
    {"explain", "ID",
     "Only print the reasoning, the sources and the last verdict of an experiment or a claim; more "
     "IDs may follow",
     CLI(TEXT, explain), .begins = true},
    {"catalogue", "DIR",
     "Only write the catalogue for readers: DIR/EXPERIMENTS.md, and a page each in "
     "DIR/experiments; with the word disputes only DIR/DISPUTES.md",
     CLI(FOLDER, pages), .begins = true},
    {"reference", "FOLDER",
     "With --catalogue: the reproduction whose verdicts and figures the pages have",
     CLI(TEXT, reference), .begins = true},
    {0},
};

static const char argp_doc[] =
    "Run experiments on design decisions of schedulers and say of each whether its claim is "
    "supported, refuted or undecided here.\v"
    "Without any argument it offers the questions that most come with, and their answers so far. "
    "ID is that of an experiment, or of a claim, which runs the experiments that show it; with "
    "options and without an ID, all of harness/experiments are run. The word disputes in place of "
    "IDs stands for disputes of today (docs/DISPUTES.md), which are run only if asked for. "
    "FILE.yaml is an experiment of your own (harness/repro/experiment.h, docs/ADDING.md).\n\n"
    "A verdict holds the 95 % interval of a median, or of a ratio of two, against the range that "
    "the experiment expects: inside, outside, or neither, and then it says what is lacking. What "
    "is simulated has the same verdicts each time.\n\n"
    "The folder results/NAME-<UTC time> gets repro.json (results/README.md), a run per experiment "
    "and machine, and repro.html, a page with all verdicts and figures, which `schedlab report` "
    "can make again. Ctrl-C ends it; what was measured stays, and --resume goes on.\n\n"
    "Example:\n"
    "  schedlab repro\n"
    "  schedlab repro --list\n"
    "  schedlab repro E3 E6 --quick\n"
    "  schedlab repro --explain E6\n"
    "  schedlab repro disputes --quick\n"
    "  schedlab repro --catalogue docs --reference results/repro-20260131T101500Z\n\n"
    "Exit status: 0 done, whatever the verdicts; 1 stopped, or no sample could be measured, or "
    "something could not be written; 2 misused.";

/* True if `disputes` is all that the user has named. */
static bool is_about_disputes(const struct options *options)
{
    return options->words.count == 1 && strcmp(options->words.text[0], disputes_word) == 0;
}

static void options_check(void *to)
{
    struct options *options = to;
    options->quick = options->quick || options->held;
    options->deterministic = options->deterministic || options->held;
    if (options->resume && (options->begins || options->words.count > 0))
        cli_misuse("--resume goes on with what was asked for; leave out %s%s",
                   options->begins ? "--" : "",
                   options->begins ? options->begins : options->words.text[0]);
    if (options->quick && options->full)
        cli_misuse("--%s and --full; valid: one of them", options->held ? "held" : "quick");
    if (options->simulated && options->machines_count > 0)
        cli_misuse("--machine=sim beside --machine=%s; valid: either", options->machines[0]);
    if (options->guests && options->machines_count > 0)
        cli_misuse("--guests beside --machine=%s; valid: either, as --machine=sim:desktop8,host=vm",
                   options->machines[0]);
    if (options->explain && options->list)
        cli_misuse("--list and --explain; valid: one of them");
    bool one_list = options->words.count == 0 || is_about_disputes(options);
    if (options->list && !one_list)
        cli_misuse("--list is about all experiments; valid: --explain=%s", options->words.text[0]);
    if (options->reference && !options->pages)
        cli_misuse("--reference takes --catalogue");
    if (options->pages && (options->list || options->explain || !one_list))
        cli_misuse("--catalogue is about all experiments; leave out %s",
                   options->list      ? "--list"
                   : options->explain ? "--explain"
                                      : options->words.text[0]);
}

static const struct cli_command cli = {
    .options = option_table,
    .arguments = "[ID|FILE.yaml...]",
    .help = argp_doc,
    .list_most = SIZE_MAX,
    .list_offset = offsetof(struct options, words),
    .begins_offset = offsetof(struct options, begins),
    .check = options_check,
};

/* Catalogue ------------------------------------------------------------------------------------ */

static bool is_path(const char *word)
{
    return strchr(word, '/') || (strlen(word) > 5 && text_ends_with(word, ".yaml"));
}

/* A file that is wrong is a misuse, also where it came with the program. */
static struct experiment *load(const char *path)
{
    struct error error;
    struct experiment *experiment = experiment_load(path, &error);
    if (!experiment)
        cli_misuse_lines(error.text);
    return experiment;
}

static void catalogue_add(struct catalogue *catalogue, struct experiment *experiment)
{
    for (size_t i = 0; i < catalogue->count; i++)
        if (strcmp(catalogue->experiments[i]->id, experiment->id) == 0)
            cli_misuse("%s and %s have both the id %s", catalogue->experiments[i]->path,
                       experiment->path, experiment->id);
    array_add(catalogue->experiments, catalogue->count) = experiment;
}

/* Puts those that the offer has before the others, whose order stays. */
static void offered_first(struct experiment **list, size_t count)
{
    size_t offered = 0;
    for (size_t i = 0; i < count; i++) {
        struct experiment *experiment = list[i];
        if (!experiment->first)
            continue;
        memmove(&list[offered + 1], &list[offered], (i - offered) * sizeof(struct experiment *));
        list[offered++] = experiment;
    }
}

/* The experiments of a folder, none if it is not there: files of the user's own may do without.
 * Returns how many. */
static size_t folder_load(struct catalogue *catalogue, const char *folder)
{
    struct error error;
    size_t before = catalogue->count;
    char **paths = experiment_paths(folder, &error);
    for (char **at = paths; at && *at; at++)
        catalogue_add(catalogue, load(*at));
    data_folder_names_free(paths);
    if (catalogue->count > before)
        offered_first(&catalogue->experiments[before], catalogue->count - before);
    return catalogue->count - before;
}

/* All that come with the program. */
static void catalogue_load(struct catalogue *catalogue)
{
    char folder[REPRO_PATH_SIZE], path[REPRO_PATH_SIZE + 32];
    struct error error;
    catalogue->designs = folder_load(catalogue, EXPERIMENT_FOLDER);
    catalogue->disputes = folder_load(catalogue, DISPUTE_FOLDER);
    for (size_t i = catalogue->designs; i < catalogue->count; i++)
        if (!catalogue->experiments[i]->dispute)
            cli_misuse("%s lacks the key \"dispute\"; valid: experiment.h",
                       catalogue->experiments[i]->path);
    if (!data_folder_find(EXPERIMENT_FOLDER, folder, sizeof folder, &error))
        return;
    snprintf(path, sizeof path, "%s/claims.yaml", folder);
    if (access(path, F_OK) != 0)
        return;
    catalogue->claims = claims_load(path, catalogue->experiments, catalogue->designs, &error);
    if (!catalogue->claims)
        cli_misuse("%s", error.text);
}

static void catalogue_free(struct catalogue *catalogue)
{
    for (size_t i = 0; i < catalogue->count; i++)
        experiment_free(catalogue->experiments[i]);
    free(catalogue->experiments);
    claims_free(catalogue->claims);
}

static long find_experiment(const struct catalogue *catalogue, const char *id)
{
    for (size_t i = 0; i < catalogue->count; i++)
        if (catalogue->experiments[i] && strcasecmp(catalogue->experiments[i]->id, id) == 0)
            return (long)i;
    return -1;
}

static const struct claim *find_claim(const struct catalogue *catalogue, const char *id)
{
    for (unsigned i = 0; catalogue->claims && i < catalogue->claims->count; i++)
        if (strcmp(catalogue->claims->list[i].id, id) == 0)
            return &catalogue->claims->list[i];
    return NULL;
}

static _Noreturn void misuse_unknown(const struct catalogue *catalogue, const char *id)
{
    struct suggest near = suggest_for(id);
    for (size_t i = 0; i < catalogue->count; i++)
        if (catalogue->experiments[i])
            suggest_offer(&near, catalogue->experiments[i]->id);
    suggest_offer(&near, disputes_word);
    for (unsigned i = 0; catalogue->claims && i < catalogue->claims->count; i++)
        suggest_offer(&near, catalogue->claims->list[i].id);
    if (near.count == 0)
        cli_misuse("there is no experiment \"%s\"; valid: the path of one", id);
    cli_misuse("there is no experiment \"%s\"; %s", id,
               suggest_text(&near, "", "`schedlab repro --list`").s);
}

/* Selection ------------------------------------------------------------------------------------ */

static void select_experiment(const struct catalogue *catalogue, bool *selected, const char *id)
{
    long i = find_experiment(catalogue, id);
    if (i >= 0)
        selected[i] = true;
}

static void select_claim(const struct catalogue *catalogue, bool *selected,
                         const struct claim *claim)
{
    char experiment[SWEEP_NAME_MAX * 2], part[SWEEP_NAME_MAX * 2];
    unsigned number, shown = claim->shown_by_count;
    for (unsigned i = 0; i < shown + claim->go_itself_count; i++) {
        const char *reference = i < shown ? claim->shown_by[i] : claim->go_itself[i - shown];
        if (claim_reference_split(reference, experiment, part, sizeof part, &number))
            select_experiment(catalogue, selected, experiment);
    }
}

/* Moves what is to be run from the catalogue, in the catalogue's order; paths come last. */
static void selection_make(const struct options *options, struct catalogue *catalogue,
                           struct repro *repro)
{
    size_t own = catalogue->count;
    bool *selected = xcalloc(own + options->words.count + 1, sizeof *selected);
    for (size_t i = 0; i < options->words.count; i++) {
        const char *word = options->words.text[i];
        const struct claim *claim = find_claim(catalogue, word);
        if (strcmp(word, disputes_word) == 0) {
            memset(selected + catalogue->designs, true, catalogue->disputes);
        } else if (is_path(word)) {
            catalogue_add(catalogue, load(word));
            selected[catalogue->count - 1] = true;
        } else if (find_experiment(catalogue, word) >= 0) {
            select_experiment(catalogue, selected, word);
        } else if (claim && claim->not_shown && claim->go_itself_count == 0) {
            cli_misuse("nothing can be run for claim %s: %s", claim->id, claim->not_shown);
        } else if (claim) {
            select_claim(catalogue, selected, claim);
        } else {
            misuse_unknown(catalogue, word);
        }
    }
    repro->all = options->words.count == 0;
    repro->experiments = xcalloc(catalogue->count + 1, sizeof *repro->experiments);
    for (size_t i = 0; i < catalogue->count; i++) {
        if (repro->all ? i >= catalogue->designs : !selected[i])
            continue;
        repro->experiments[repro->count++] = catalogue->experiments[i];
        catalogue->experiments[i] = NULL;
    }
    repro->claims = catalogue->claims;
    catalogue->claims = NULL;
    free(selected);
    if (repro->count == 0)
        cli_misuse("there are no experiments");
}

/* Doing it ------------------------------------------------------------------------------------- */

static void print_result(const struct options *options, const struct repro *repro)
{
    json_t *json = repro_to_json(repro);
    if (!options->json)
        repro_print(stdout, json, cli_columns());
    else
        cli_print_json(json_incref(json), 0);
    json_decref(json);
}

static int repro_run(const struct options *options, struct repro *repro)
{
    struct error error;
    int result = repro_measure(repro, stderr, &error);
    bool any = false;
    print_result(options, repro);
    for (size_t i = 0; i < repro->jobs_count; i++)
        any = any || repro->jobs[i].has_samples;
    if (result < 0)
        return cli_fail("%s", error.text);
    cli_say("verdicts in %s/repro.json", repro->folder);
    if (result == 0 && !any)
        return cli_fail("no sample could be measured");
    if (result == 0) /* the page tells no other verdicts; without it the run is still done */
        return options->no_report || repro_report_make(repro->folder, true, cli_name(), stderr) == 0
                   ? EXIT_DONE
                   : EXIT_FAILED;
    char *with = outside_with_text();
    fprintf(stderr, "%s: stopped by SIG%s; `schedlab%s repro --resume ", cli_name(),
            sigabbrev_np(result), with);
    shell_word_print(stderr, repro->folder);
    fputs("` goes on\n", stderr);
    free(with);
    return EXIT_FAILED;
}

static int repro_new(struct options *options, struct catalogue *catalogue)
{
    struct error error;
    struct repro repro = {.form = {.quick = options->quick,
                                   .deterministic = options->deterministic,
                                   .held = options->held,
                                   .guests = options->guests},
                          .which = options->simulated            ? REPRO_SIMULATED
                                   : options->machines_count > 0 ? REPRO_GIVEN
                                                                 : REPRO_OWN,
                          .machines = options->machines,
                          .machines_count = options->machines_count,
                          .results = options->results};
    options->machines = NULL;
    selection_make(options, catalogue, &repro);
    for (size_t i = 0; options->held && i < repro.count; i++)
        experiment_hold(repro.experiments[i]);
    /* The folder is made only if at least one part runs there. */
    repro_plan(&repro);
    if (repro.jobs_count == 0)
        cli_misuse("no part of these experiments runs there; `schedlab repro --list` names their "
                   "machines");
    bool begun = run_folder_make(options->results, options->name ? options->name : "repro",
                                 repro.folder, sizeof repro.folder, &error);
    if (begun) {
        repro_settle(&repro);
        begun = repro_begin(&repro, &error);
    }
    int status = begun ? repro_run(options, &repro) : cli_fail("%s", error.text);
    repro_free(&repro);
    return status;
}

static int repro_again(const struct options *options)
{
    struct error error;
    struct repro repro = {.count = 0};
    size_t length = strlen(options->resume);
    while (length > 1 && options->resume[length - 1] == '/')
        length--;
    snprintf(repro.folder, sizeof repro.folder, "%.*s", (int)length, options->resume);
    char results[REPRO_PATH_SIZE + 8]; /* what was measured of it tells how long the rest takes */
    snprintf(results, sizeof results, "%s/..", repro.folder);
    repro.results = results;
    if (!repro_resume(&repro, &error))
        cli_misuse("%s", error.text);
    int status = repro_run(options, &repro);
    repro_free(&repro);
    return status;
}

/* The part of the catalogue that is listed, or written as pages. */
struct shown {
    struct experiment *const *experiments;
    size_t count;
    const struct claims *claims;
};

static struct shown shown_of(const struct options *options, const struct catalogue *catalogue)
{
    if (is_about_disputes(options))
        return (struct shown){catalogue->experiments + catalogue->designs, catalogue->disputes,
                              NULL};
    return (struct shown){catalogue->experiments, catalogue->designs, catalogue->claims};
}

static int list(const struct options *options, const struct catalogue *catalogue)
{
    const struct shown shown = shown_of(options, catalogue);
    json_t *known = repro_known_read(is_about_disputes(options) ? "disputes" : "repro",
                                     options->results, stderr);
    if (options->json)
        cli_print_json(repro_list_to_json(shown.experiments, shown.count, shown.claims, known), 0);
    else
        repro_list(stdout, shown.experiments, shown.count, shown.claims, known, cli_columns());
    json_decref(known);
    if (!options->json && !is_about_disputes(options) && catalogue->disputes > 0)
        printf("`schedlab repro --list disputes` has %s of today.\n",
               counted(catalogue->disputes, "dispute").s);
    return EXIT_DONE;
}

static void explain_one(const struct options *options, struct catalogue *catalogue, const char *id)
{
    if (is_path(id))
        catalogue_add(catalogue, load(id));
    long i = is_path(id) ? (long)catalogue->count - 1 : find_experiment(catalogue, id);
    const struct claim *claim = find_claim(catalogue, id);
    if (i >= 0)
        repro_explain_experiment(stdout, catalogue->experiments[i], options->results,
                                 cli_columns());
    else if (claim)
        repro_explain_claim(stdout, claim, options->results, cli_columns());
    else
        misuse_unknown(catalogue, id);
}

static int explain(const struct options *options, struct catalogue *catalogue)
{
    explain_one(options, catalogue, options->explain);
    for (size_t i = 0; i < options->words.count; i++) {
        putchar('\n');
        explain_one(options, catalogue, options->words.text[i]);
    }
    return EXIT_DONE;
}

static int pages_write(const struct options *options, const struct catalogue *catalogue)
{
    struct error error;
    const struct shown shown = shown_of(options, catalogue);
    struct catalogue_pages pages = {
        .experiments = shown.experiments,
        .count = shown.count,
        .claims = shown.claims,
        .folder = options->pages,
        .reference_folder = options->reference,
    };
    json_t *reference = NULL;
    if (options->reference && !(reference = repro_file_read(options->reference, &error)))
        cli_misuse("--reference: %s", error.text);
    pages.reference = reference;
    bool disputes = is_about_disputes(options);
    bool ok = disputes ? disputes_write(&pages, &error) : catalogue_write(&pages, &error);
    json_decref(reference);
    if (!ok)
        return cli_fail("%s", error.text);
    if (disputes) {
        cli_say("%s/DISPUTES.md", options->pages);
        return EXIT_DONE;
    }
    cli_say("%s/EXPERIMENTS.md, and %s in %s/experiments", options->pages,
            counted(shown.count, "page").s, options->pages);
    return EXIT_DONE;
}

static int offer(const struct options *options, const struct catalogue *catalogue)
{
    repro_offer(stdout, catalogue->experiments, catalogue->designs, options->results,
                cli_columns());
    return EXIT_DONE;
}

int cmd_repro(int argc, char **argv)
{
    struct options options = {.results = "results"};
    struct catalogue catalogue = {.count = 0};
    cli_read(&cli, argc, argv, &options);
    int status;
    if (options.resume) {
        status = repro_again(&options);
    } else {
        catalogue_load(&catalogue);
        status = argc == 1         ? offer(&options, &catalogue)
                 : options.pages   ? pages_write(&options, &catalogue)
                 : options.list    ? list(&options, &catalogue)
                 : options.explain ? explain(&options, &catalogue)
                                   : repro_new(&options, &catalogue);
    }
    catalogue_free(&catalogue);
    free(options.words.text);
    texts_free(options.machines, options.machines_count);
    return status;
}
