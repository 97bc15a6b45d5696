/* cmd_repro.c - `schedlab repro`: experiments on design decisions, each with a verdict. */
#include "harness/base/memory.h"
#include "harness/base/suggest.h"
#include "harness/base/text.h"
#include "harness/catalogue/catalogue.h"
#include "harness/catalogue/repro_report.h"
#include "harness/commands/cli.h"
#include "harness/commands/commands.h"
#include "harness/host/data_folder.h"
#include "harness/plan/sweep_file.h"
#include "harness/records/run_folder.h"
#include "harness/repro/repro.h"
#include "harness/repro/repro_file.h"
#include "harness/spec/machine_spec.h"
#include "harness/spec/spec.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ERROR_SIZE = 4096 };

struct options {
    const char *command, *results, *name, *resume, *explain;
    const char *pages, *reference; /* of --catalogue */
    const char *begins;            /* an option that only a new run takes, or NULL */
    char **words;                  /* ids and paths */
    size_t words_count;
    char **machines;
    size_t machines_count;
    bool quick, full, held, no_report, deterministic, list, json, simulated;
};

/* The experiments and claims to choose from. */
struct catalogue {
    struct experiment **experiments;
    size_t count;
    struct claims *claims;
};

/* Options -------------------------------------------------------------------------------------- */

enum {
    KEY_QUICK = 0x100,
    KEY_FULL,
    KEY_DETERMINISTIC,
    KEY_HELD,
    KEY_MACHINE,
    KEY_RESULTS,
    KEY_NAME,
    KEY_RESUME,
    KEY_FORMAT,
    KEY_LIST,
    KEY_EXPLAIN,
    KEY_NO_REPORT,
    KEY_CATALOGUE,
    KEY_REFERENCE,
};

static const struct argp_option argp_options[] = {
    {"quick", KEY_QUICK, NULL, 0,
     "Measure each cell six times, and leave out what takes long: a first look", 0},
    {"full", KEY_FULL, NULL, 0,
     "Measure until intervals are narrow, 3 % of the median unless the experiment says otherwise "
     "(the default)",
     0},
    {"deterministic", KEY_DETERMINISTIC, NULL, 0,
     "Measure only parts that have the same verdicts each time: simulated ones, and orders on one "
     "worker",
     0},
    {"held", KEY_HELD, NULL, 0,
     "Measure what tests hold: as --quick --deterministic, but with the workloads that experiments "
     "name for it (held:), and only what an expectation is about",
     0},
    {"machine", KEY_MACHINE, "MACHINE", 0,
     "Measure on this one, whatever the experiments say: native, or a simulated one as in "
     "sim:server64; may be given several times. sim: on the simulated ones that the experiments "
     "name",
     0},
    {"results", KEY_RESULTS, "DIR", 0, "Make the folder in DIR (default: results)", 0},
    {"name", KEY_NAME, "NAME", 0, "Name it NAME-<UTC time> (default: repro)", 0},
    {"resume", KEY_RESUME, "FOLDER", 0, "Go on with an interrupted reproduction", 0},
    {"no-report", KEY_NO_REPORT, NULL, 0,
     "Make no repro.html and draw nothing; `schedlab report FOLDER` can do so later", 0},
    {"format", KEY_FORMAT, "FORMAT", 0, "table (default) or json, which is repro.json", 0},
    {"list", KEY_LIST, NULL, 0, "Only print the catalogue", 0},
    {"explain", KEY_EXPLAIN, "ID", 0,
     "Only print the reasoning, the sources and the last verdict of an experiment or a claim", 0},
    {"catalogue", KEY_CATALOGUE, "DIR", 0,
     "Only write the catalogue for readers: DIR/EXPERIMENTS.md, and a page each in DIR/experiments",
     0},
    {"reference", KEY_REFERENCE, "FOLDER", 0,
     "With --catalogue: the reproduction whose verdicts and figures the pages have", 0},
    {0},
};

static const char argp_doc[] =
    "Run experiments on design decisions of schedulers and say of each whether its claim is "
    "supported, refuted or undecided here.\v"
    "ID is that of an experiment, or of a claim, which runs the experiments that show it; without "
    "any, all of harness/experiments are run. FILE.yaml is an experiment of your own "
    "(harness/repro/experiment.h, docs/ADDING.md).\n\n"
    "A verdict holds the 95 % interval of a median, or of a ratio of two, against the range that "
    "the experiment expects: inside, outside, or neither, and then it says what is lacking. What "
    "is simulated has the same verdicts each time.\n\n"
    "The folder results/NAME-<UTC time> gets repro.json (results/README.md), a run per experiment "
    "and machine, and repro.html, a page with all verdicts and figures, which `schedlab report` "
    "can make again. Ctrl-C ends it; what was measured "
    "stays, and --resume goes on.\n\n"
    "Example:\n"
    "  schedlab repro --list\n"
    "  schedlab repro E3 E6 --quick\n"
    "  schedlab repro --explain E6\n"
    "  schedlab repro --catalogue docs --reference results/repro-20260131T101500Z\n\n"
    "Exit status: 0 done, whatever the verdicts; 1 stopped, or something could not be written; 2 "
    "misused.";

static const char *const format_words[] = {"table", "json", NULL};

static void text_add(char ***list, size_t *count, const char *text)
{
    *list = xrealloc(*list, (*count + 1) * sizeof **list);
    (*list)[(*count)++] = xstrdup(text);
}

static void option_machine(struct options *options, const char *arg)
{
    char error[ERROR_SIZE];
    struct machine_spec machine;
    if (strcmp(arg, "sim") == 0) {
        options->simulated = true;
        return;
    }
    if (!machine_spec_parse(&machine, arg, error, sizeof error))
        cli_misuse(options->command, "--machine=%s: %s", arg, error);
    for (size_t i = 0; i < options->machines_count; i++)
        if (strcmp(options->machines[i], machine.text) == 0)
            cli_misuse(options->command, "--machine=%s is given twice", arg);
    text_add(&options->machines, &options->machines_count, machine.text);
    machine_spec_free(&machine);
}

static void options_check(const struct options *options)
{
    if (options->resume && (options->begins || options->words_count > 0))
        cli_misuse(options->command, "--resume goes on with what was asked for; leave out %s%s",
                   options->begins ? "--" : "",
                   options->begins ? options->begins : options->words[0]);
    if (options->quick && options->full)
        cli_misuse(options->command, "--%s and --full; valid: one of them",
                   options->held ? "held" : "quick");
    if (options->simulated && options->machines_count > 0)
        cli_misuse(options->command, "--machine=sim beside --machine=%s; valid: either",
                   options->machines[0]);
    if (options->explain && options->list)
        cli_misuse(options->command, "--list and --explain; valid: one of them");
    if (options->list && options->words_count > 0)
        cli_misuse(options->command, "--list is about all experiments; valid: --explain=%s",
                   options->words[0]);
    if (options->reference && !options->pages)
        cli_misuse(options->command, "--reference takes --catalogue");
    if (options->pages && (options->list || options->explain || options->words_count > 0))
        cli_misuse(options->command, "--catalogue is about all experiments; leave out %s",
                   options->list      ? "--list"
                   : options->explain ? "--explain"
                                      : options->words[0]);
    if (options->name && !sweep_name_is_valid(options->name))
        cli_misuse(options->command, "--name=%s is not valid; valid: " SWEEP_NAME_RULE,
                   options->name);
}

static error_t option_parse(int key, char *arg, struct argp_state *state)
{
    struct options *options = state->input;
    for (const struct argp_option *option = argp_options; option->name; option++)
        if (option->key == key && key != KEY_RESUME && key != KEY_FORMAT && key != KEY_NO_REPORT)
            options->begins = option->name;
    switch (key) {
    case KEY_QUICK:
        options->quick = true;
        break;
    case KEY_FULL:
        options->full = true;
        break;
    case KEY_DETERMINISTIC:
        options->deterministic = true;
        break;
    case KEY_HELD:
        options->held = options->quick = options->deterministic = true;
        break;
    case KEY_MACHINE:
        option_machine(options, arg);
        break;
    case KEY_RESULTS:
        if (!*arg)
            cli_misuse(state->name, "--results is empty; valid: the path of a folder");
        options->results = arg;
        break;
    case KEY_NAME:
        options->name = arg;
        break;
    case KEY_RESUME:
        options->resume = arg;
        break;
    case KEY_FORMAT:
        options->json = cli_word(state->name, "format", arg, format_words) == 1;
        break;
    case KEY_LIST:
        options->list = true;
        break;
    case KEY_CATALOGUE:
        if (!*arg)
            cli_misuse(state->name, "--catalogue is empty; valid: the path of a folder");
        options->pages = arg;
        break;
    case KEY_REFERENCE:
        options->reference = arg;
        break;
    case KEY_NO_REPORT:
        options->no_report = true;
        break;
    case KEY_EXPLAIN:
        options->explain = arg;
        break;
    case ARGP_KEY_ARG:
        text_add(&options->words, &options->words_count, arg);
        break;
    case ARGP_KEY_END:
        options_check(options);
        break;
    default:
        return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

/* Catalogue ------------------------------------------------------------------------------------ */

static bool is_path(const char *word)
{
    size_t length = strlen(word);
    return strchr(word, '/') || (length > 5 && strcmp(word + length - 5, ".yaml") == 0);
}

/* A file that is wrong is a misuse, also where it came with the program. */
static struct experiment *load(const struct options *options, const char *path)
{
    char error[ERROR_SIZE];
    struct experiment *experiment = experiment_load(path, error, sizeof error);
    if (!experiment)
        cli_misuse_lines(options->command, error);
    return experiment;
}

static void catalogue_add(const struct options *options, struct catalogue *catalogue,
                          struct experiment *experiment)
{
    for (size_t i = 0; i < catalogue->count; i++)
        if (strcmp(catalogue->experiments[i]->id, experiment->id) == 0)
            cli_misuse(options->command, "%s and %s have both the id %s",
                       catalogue->experiments[i]->path, experiment->path, experiment->id);
    catalogue->experiments =
        xrealloc(catalogue->experiments, (catalogue->count + 1) * sizeof *catalogue->experiments);
    catalogue->experiments[catalogue->count++] = experiment;
}

/* All that come with the program. */
static void catalogue_load(const struct options *options, struct catalogue *catalogue)
{
    char error[ERROR_SIZE], folder[REPRO_PATH_SIZE], path[REPRO_PATH_SIZE + 32];
    char **paths = experiment_paths(error, sizeof error);
    if (!paths || !data_folder_find("experiments", folder, sizeof folder, error, sizeof error))
        return; /* files of the user's own may do without */
    for (char **at = paths; *at; at++)
        catalogue_add(options, catalogue, load(options, *at));
    experiment_paths_free(paths);
    snprintf(path, sizeof path, "%s/claims.yaml", folder);
    if (access(path, F_OK) != 0)
        return;
    catalogue->claims =
        claims_load(path, catalogue->experiments, catalogue->count, error, sizeof error);
    if (!catalogue->claims)
        cli_misuse(options->command, "%s", error);
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

static _Noreturn void misuse_unknown(const struct options *options,
                                     const struct catalogue *catalogue, const char *id)
{
    char text[SUGGEST_TEXT_SIZE];
    struct suggest near = suggest_for(id);
    for (size_t i = 0; i < catalogue->count; i++)
        if (catalogue->experiments[i])
            suggest_offer(&near, catalogue->experiments[i]->id);
    for (unsigned i = 0; catalogue->claims && i < catalogue->claims->count; i++)
        suggest_offer(&near, catalogue->claims->list[i].id);
    if (near.count == 0)
        cli_misuse(options->command, "there is no experiment \"%s\"; valid: the path of one", id);
    cli_misuse(options->command, "there is no experiment \"%s\"; %s", id,
               suggest_text(&near, "", "`schedlab repro --list`", text, sizeof text));
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
    unsigned number;
    for (unsigned i = 0; i < claim->shown_by_count; i++)
        if (claim_reference_split(claim->shown_by[i], experiment, part, sizeof part, &number))
            select_experiment(catalogue, selected, experiment);
}

/* Moves what is to be run from the catalogue, in the catalogue's order; paths come last. */
static void selection_make(const struct options *options, struct catalogue *catalogue,
                           struct repro *repro)
{
    size_t own = catalogue->count;
    bool *selected = xcalloc(own + options->words_count + 1, sizeof *selected);
    for (size_t i = 0; i < options->words_count; i++) {
        const char *word = options->words[i];
        const struct claim *claim = find_claim(catalogue, word);
        if (is_path(word)) {
            catalogue_add(options, catalogue, load(options, word));
            selected[catalogue->count - 1] = true;
        } else if (find_experiment(catalogue, word) >= 0) {
            select_experiment(catalogue, selected, word);
        } else if (claim && claim->not_shown) {
            cli_misuse(options->command, "nothing can be run for claim %s: %s", claim->id,
                       claim->not_shown);
        } else if (claim) {
            select_claim(catalogue, selected, claim);
        } else {
            misuse_unknown(options, catalogue, word);
        }
    }
    repro->all = options->words_count == 0;
    repro->experiments = xcalloc(catalogue->count + 1, sizeof *repro->experiments);
    for (size_t i = 0; i < catalogue->count; i++) {
        if (!repro->all && !selected[i])
            continue;
        repro->experiments[repro->count++] = catalogue->experiments[i];
        catalogue->experiments[i] = NULL;
    }
    repro->claims = catalogue->claims;
    catalogue->claims = NULL;
    free(selected);
    if (repro->count == 0)
        cli_misuse(options->command, "there are no experiments");
}

/* Doing it ------------------------------------------------------------------------------------- */

static int complain(const struct options *options, const char *error, int status)
{
    fprintf(stderr, "%s: %s\n", options->command, error);
    return status;
}

static void print_result(const struct options *options, const struct repro *repro)
{
    json_t *json = repro_to_json(repro);
    if (options->json) {
        json_dumpf(json, stdout, JSON_INDENT(2));
        putchar('\n');
    } else {
        repro_print(stdout, json, cli_columns());
    }
    json_decref(json);
}

static int repro_run(const struct options *options, struct repro *repro)
{
    char error[ERROR_SIZE];
    int result = repro_measure(repro, stderr, error, sizeof error);
    print_result(options, repro);
    if (result < 0)
        return complain(options, error, EXIT_FAILED);
    fprintf(stderr, "%s: verdicts in %s/repro.json\n", options->command, repro->folder);
    if (result == 0) /* the page tells no other verdicts; without it the run is still done */
        return options->no_report ||
                       repro_report_make(repro->folder, true, options->command, stderr) == 0
                   ? EXIT_DONE
                   : EXIT_FAILED;
    fprintf(stderr, "%s: stopped by SIG%s; `schedlab repro --resume %s` goes on\n",
            options->command, sigabbrev_np(result), repro->folder);
    return EXIT_FAILED;
}

static int repro_new(struct options *options, struct catalogue *catalogue)
{
    char error[ERROR_SIZE];
    struct repro repro = {.form = {.quick = options->quick,
                                   .deterministic = options->deterministic,
                                   .held = options->held},
                          .which = options->simulated            ? REPRO_SIMULATED
                                   : options->machines_count > 0 ? REPRO_GIVEN
                                                                 : REPRO_OWN,
                          .machines = options->machines,
                          .machines_count = options->machines_count,
                          .results = options->results};
    int status = EXIT_FAILED;
    options->machines = NULL;
    selection_make(options, catalogue, &repro);
    for (size_t i = 0; options->held && i < repro.count; i++)
        experiment_hold(repro.experiments[i]);
    /* The folder is made only if at least one part runs there. */
    repro_plan(&repro);
    if (repro.jobs_count == 0)
        cli_misuse(options->command, "no part of these experiments runs there; `schedlab repro "
                                     "--list` names their machines");
    bool begun = run_folder_make(options->results, options->name ? options->name : "repro",
                                 repro.folder, sizeof repro.folder, error, sizeof error);
    if (begun) {
        repro_settle(&repro);
        begun = repro_begin(&repro, error, sizeof error);
    }
    status = begun ? repro_run(options, &repro) : complain(options, error, status);
    repro_free(&repro);
    return status;
}

static int repro_again(const struct options *options)
{
    char error[ERROR_SIZE];
    struct repro repro = {.count = 0};
    size_t length = strlen(options->resume);
    while (length > 1 && options->resume[length - 1] == '/')
        length--;
    snprintf(repro.folder, sizeof repro.folder, "%.*s", (int)length, options->resume);
    char results[REPRO_PATH_SIZE + 8]; /* what was measured of it tells how long the rest takes */
    snprintf(results, sizeof results, "%s/..", repro.folder);
    repro.results = results;
    int status = repro_resume(&repro, error, sizeof error)
                     ? repro_run(options, &repro)
                     : complain(options, text_one_line(error), EXIT_MISUSED);
    repro_free(&repro);
    return status;
}

static int list(const struct options *options, const struct catalogue *catalogue)
{
    if (!options->json) {
        repro_list(stdout, catalogue->experiments, catalogue->count, catalogue->claims,
                   cli_columns());
        return EXIT_DONE;
    }
    json_t *json = repro_list_to_json(catalogue->experiments, catalogue->count, catalogue->claims);
    json_dumpf(json, stdout, JSON_INDENT(2));
    putchar('\n');
    json_decref(json);
    return EXIT_DONE;
}

static int explain(const struct options *options, struct catalogue *catalogue)
{
    const char *id = options->explain;
    if (is_path(id))
        catalogue_add(options, catalogue, load(options, id));
    long i = is_path(id) ? (long)catalogue->count - 1 : find_experiment(catalogue, id);
    const struct claim *claim = find_claim(catalogue, id);
    if (i >= 0)
        repro_explain_experiment(stdout, catalogue->experiments[i], options->results,
                                 cli_columns());
    else if (claim)
        repro_explain_claim(stdout, claim, options->results, cli_columns());
    else
        misuse_unknown(options, catalogue, id);
    return EXIT_DONE;
}

static int pages_write(const struct options *options, const struct catalogue *catalogue)
{
    char error[ERROR_SIZE];
    struct catalogue_pages pages = {
        .experiments = catalogue->experiments,
        .count = catalogue->count,
        .claims = catalogue->claims,
        .folder = options->pages,
        .reference_folder = options->reference,
    };
    json_t *reference = NULL;
    if (options->reference &&
        !(reference = repro_file_read(options->reference, error, sizeof error)))
        cli_misuse(options->command, "--reference: %s", error);
    pages.reference = reference;
    bool ok = catalogue_write(&pages, error, sizeof error);
    json_decref(reference);
    if (!ok)
        return complain(options, error, EXIT_FAILED);
    fprintf(stderr, "%s: %s/EXPERIMENTS.md, and %s in %s/experiments\n", options->command,
            options->pages, counted(catalogue->count, "page").s, options->pages);
    return EXIT_DONE;
}

static void texts_free(char **list, size_t count)
{
    for (size_t i = 0; list && i < count; i++)
        free(list[i]);
    free(list);
}

int cmd_repro(int argc, char **argv)
{
    static const struct argp argp = {
        argp_options, option_parse, "[ID|FILE.yaml...]", argp_doc, NULL, NULL, NULL};
    struct options options = {.command = argv[0], .results = "results"};
    struct catalogue catalogue = {.count = 0};
    cli_parse(&argp, argc, argv, &options);
    int status;
    if (options.resume) {
        status = repro_again(&options);
    } else {
        catalogue_load(&options, &catalogue);
        status = options.pages     ? pages_write(&options, &catalogue)
                 : options.list    ? list(&options, &catalogue)
                 : options.explain ? explain(&options, &catalogue)
                                   : repro_new(&options, &catalogue);
    }
    catalogue_free(&catalogue);
    texts_free(options.words, options.words_count);
    texts_free(options.machines, options.machines_count);
    return status;
}
