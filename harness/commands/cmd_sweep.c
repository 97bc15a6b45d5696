/* cmd_sweep.c - `schedlab sweep`: measures what a sweep file says into a folder of its own.
 *
 * The stages are files: sweep.yaml and environment.json are written before anything is measured,
 * samples.jsonl grows while it is, and the report is made from these files alone afterwards. So a
 * failure in a later stage costs nothing of an earlier one.
 */
#include "harness/answers/gnuplot.h"
#include "harness/answers/terminal_figure.h"
#include "harness/base/files.h"
#include "harness/base/json_fields.h"
#include "harness/base/progress.h"
#include "harness/base/term_table.h"
#include "harness/base/text.h"
#include "harness/commands/commands.h"
#include "harness/doctor/doctor.h"
#include "harness/doctor/environment.h"
#include "harness/models/machine_spec.h"
#include "harness/models/machine_start.h"
#include "harness/options/cli.h"
#include "harness/options/sweep_override.h"
#include "harness/plan/cell_plan.h"
#include "harness/plan/cell_store.h"
#include "harness/plan/plan.h"
#include "harness/plan/sweep_file.h"
#include "harness/plan/sweep_origin.h"
#include "harness/records/run_folder.h"
#include "harness/report/report.h"
#include "harness/sample/hyperfine.h"
#include "harness/spec/outside.h"
#include "harness/spec/spec.h"
#include "harness/sweep/engine.h"
#include "harness/sweep/sweep_resume.h"
#include "harness/sweep/sweep_run.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PATH_SIZE = 4096 };

enum { FIGURE_AUTO, FIGURE_TEXT, FIGURE_NONE }; /* in the order of figure_words */

struct options {
    const char *file, *results, *name, *resume;
    const char *begins; /* an option that only a new run takes, or NULL */
    struct sweep_override override;
    const struct machine_spec *machine; /* NULL: as the file says */
    const char *what_if;                /* NULL: likewise */
    int figure;                         /* index of figure_words */
    int hyperfine;                      /* index of timer_words */
    bool quick, no_report, dry_run, force;
    bool plan;         /* print the samples, and measure nothing */
    int format;        /* of that; index of format_words */
    const char *cells; /* folder of results that may be there; NULL: none */
    bool mix_machines;
    int engine; /* index of engine_words */
    const char *hosts;
    struct cli_list sbatch;
    int64_t job_seconds;
    struct sweep_resume resuming;
};

/* Options ------------------------------------------------------------------------------------- */

static const char *const figure_words[] = {"auto", "text", "none", NULL};
static const char *const timer_words[] = {"inside", "hyperfine", NULL};
static const char *const engine_words[] = {"local", "slurm", "parallel", NULL};
static const struct engine_ops *const engines[] = {NULL, &engine_slurm, &engine_parallel};
static const char *const format_words[] = {"table", "json", NULL};

static void sbatch_take(void *to, char *arg)
{
    struct options *options = to;
    if (*arg != '-')
        cli_misuse(
            "--sbatch=%s is not valid; valid: an option of sbatch, as in --sbatch=--partition=long",
            arg);
    /* by its name a job is followed and cancelled, and its array tells it what to measure */
    static const char *const own[] = {"--job-name", "-J", "--array",    "-a",
                                      "--wait",     "-W", "--clusters", "-M"};
    for (size_t i = 0; i < sizeof own / sizeof own[0]; i++) {
        size_t length = strlen(own[i]);
        if (strncmp(arg, own[i], length) == 0 &&
            (length == 2 || arg[length] == '\0' || arg[length] == '='))
            cli_misuse("--sbatch=%s is not valid: schedlab sets %s itself, or cannot follow the "
                       "jobs with it",
                       arg, own[i]);
    }
    cli_list_add(&options->sbatch, arg);
}

static const struct cli_option option_table[] = {
    {"results", "DIR", "Make the run's folder in DIR (default: results)", CLI(FOLDER, results),
     .begins = true},
    {"name", "NAME", "Name the folder NAME-<UTC time> (default: the sweep's name)", CLI(NAME, name),
     .begins = true},
    {"reps", "N", "Measure each cell N times, or with --reps-max at least N times",
     CLI(SWEEP, override.reps), .key = "reps", .begins = true},
    {"reps-max", "N", "Go on, N times at most, with cells whose interval is wider than --width",
     CLI(SWEEP, override.reps_max), .key = "reps_max", .begins = true},
    {"width", "PERCENT",
     "Widest 95 % interval of a median that is allowed, in percent of the median; 0: no limit",
     CLI(SWEEP, override.width), .key = "width", .begins = true},
    {"quick", NULL,
     "Measure each cell once, with one timed call and no warm-up: shows that all cells run, not "
     "how fast",
     CLI(FLAG, quick), .begins = true},
    {"seed", "S", "Of the order of the cells and of the samples (default: a new one)",
     CLI(SWEEP, override.seed), .key = "seed", .begins = true},
    {"timeout", "S", "Give up on a sample after S seconds", CLI(SWEEP, override.timeout_s),
     .key = "timeout_s", .begins = true},
    {"no-report", NULL, "Draw no figures and write no report at the end", CLI(FLAG, no_report)},
    {"dry-run", NULL, "Only print the cells that would be measured", CLI(FLAG, dry_run),
     .begins = true},
    {"plan", NULL,
     "Only print the samples, a row each. A sample is one repetition of a cell; its row has the id "
     "for `schedlab run --cell ID` and the time that it will take. The end says how many and how "
     "long in all",
     CLI(FLAG, plan)},
    {"format", "FORMAT", "With --plan: table (default) or json", CLI(WORD, format),
     .words = format_words},
    {"cells", "DIR",
     "Take results that `schedlab run --cell` or another sweep left in DIR, and put new ones "
     "there, one file each",
     CLI(TEXT, cells)},
    {"engine", "ENGINE",
     "Who measures: local (default), this machine; slurm, a cluster's nodes; parallel, the "
     "machines of --sshloginfile by GNU parallel; see docs/CLUSTER.md",
     CLI(WORD, engine), .words = engine_words},
    {"sbatch", "OPTION",
     "With --engine=slurm: hand OPTION to sbatch, such as --partition=long; may be given again",
     .take = sbatch_take},
    {"job-seconds", "S", "With an engine: make jobs of about S seconds (default: 300)",
     CLI(NUMBER, job_seconds), .least = 1, .most = 604800, .unit = "s"},
    {"sshloginfile", "FILE", "With --engine=parallel: the machines, as GNU parallel reads them",
     CLI(TEXT, hosts)},
    {"mix-machines", NULL,
     "Compare native cells although they were measured on processors of unlike kinds",
     CLI(FLAG, mix_machines)},
    {"timer", "TIMER",
     "inside (default): samples time themselves; hyperfine: it times each one's process too",
     CLI(WORD, hyperfine), .words = timer_words, .begins = true},
    {"machine", "MACHINE",
     "Measure on this one, whatever the file says: native, or a simulated one as in "
     "sim:server64,cores=16; see `schedlab list machines`",
     CLI(MACHINE, machine), .begins = true},
    {"what-if", "KEY=VALUE,...",
     "Measure each cell also on its simulated machine with these settings, a key of it or "
     "STRUCTURE=free, and report what that would buy; see `schedlab list sim:MODEL`",
     CLI(ONCE, what_if), .begins = true},
    {"figure", "WHEN",
     "Draw the first group's throughput as text at the end: auto (default, on a terminal), text "
     "(anywhere) or none",
     CLI(WORD, figure), .words = figure_words},
    {"resume", "RUN",
     "Go on with the interrupted run in the folder RUN: measure what its records lack",
     CLI(TEXT, resume)},
    {"force", NULL, "Resume although sweep file, program or machine are not those of the beginning",
     CLI(FLAG, force)},
    {0},
};

static const char argp_doc[] =
    "Measure the cells that a sweep file asks for: every sample a fresh process, in shuffled "
    "blocks that hold each cell once.\v"
    "Keys of the file, beside name, title and groups (results/README.md, "
    "harness/plan/sweep_file.h):\n"
    "  reps: 8        blocks at least; default 8, on simulated machines 3: an interval takes 6 "
    "samples of a cell\n"
    "  reps_max: 20   blocks at most; default: reps\n"
    "  width: 5       percent: a set of cells that are compared is measured until the 95 % "
    "intervals of all their medians are narrower, or reps_max times; default 0: reps times\n"
    "  warmup: 1      untimed calls: a number, or auto, until the times are level; default auto, "
    "on simulated machines 1\n"
    "  steal_max: 1   percent: a sample is marked as disturbed if the hypervisor took more of its "
    "time, or other programs more than 10 % and than this\n"
    "  repeat_disturbed: true   measure marked samples again, reps_max times a cell at most; "
    "default false\n"
    "  class_min: 5   measure cells on several workers until so many samples are at the run's most "
    "common core distance (near or far), reps_max more at most; default 0: none\n"
    "  class_each: true   until so many are at each of both distances; default false\n\n"
    "The records, the sweep file and the environment go to a new folder, whose name is printed; "
    "then `schedlab report` draws it. A cell that fails is recorded with its reason, and the sweep "
    "goes on. Ctrl-C ends it; what was measured stays, and --resume goes on from there, also after "
    "a crash or a power cut. It takes the run's own copy of the sweep file; a FILE given with it "
    "must be the same.\n\n"
    "Example:\n"
    "  schedlab sweep harness/sweeps/default.yaml --reps 3 --name first-look\n"
    "  schedlab sweep --resume results/first-look-20260131T120000Z\n"
    "  schedlab sweep harness/sweeps/scaling.yaml --engine slurm --cells cells\n\n"
    "Exit status: 0 done, though some cells may have failed or been skipped; 1 stopped, or no "
    "sample could be measured, or the records or the report could not be written; 2 misused.";

/* GNU parallel takes a file without a machine for this machine. */
static void hosts_check(const struct options *options)
{
    char *line = NULL;
    size_t room = 0;
    bool some = false;
    FILE *from = fopen(options->hosts, "re");
    if (!from)
        cli_misuse("--sshloginfile: cannot read %s: %s", options->hosts, strerror(errno));
    while (!some && getline(&line, &room, from) > 0)
        some = !strchr("#\n", line[strspn(line, " \t\r")]);
    free(line);
    fclose(from);
    if (!some)
        cli_misuse("--sshloginfile: %s names no machine; valid: a line for each", options->hosts);
}

static void engine_check(const struct options *options)
{
    const struct engine_ops *engine = engines[options->engine];
    if (options->sbatch.text && engine != &engine_slurm)
        cli_misuse("--sbatch takes --engine=slurm");
    if (!options->hosts != (engine != &engine_parallel))
        cli_misuse("%s takes %s", options->hosts ? "--sshloginfile" : "--engine=parallel",
                   options->hosts ? "--engine=parallel" : "--sshloginfile=FILE");
    if (options->hosts)
        hosts_check(options);
    if (engine && (options->plan || options->dry_run))
        cli_misuse("--engine measures, and --%s does not; leave out one",
                   options->plan ? "plan" : "dry-run");
    if (options->mix_machines && !engine && !options->cells && !options->resume)
        cli_misuse("--mix-machines takes --engine=slurm or parallel, or --cells=DIR");
    if (options->job_seconds && !engine)
        cli_misuse("--job-seconds takes --engine=slurm or parallel");
    if ((engine || options->cells) && options->hyperfine)
        cli_misuse("--timer=hyperfine keeps files of its own; leave out --%s",
                   engine ? "engine" : "cells");
}

/* Options that do not go together, or only with one of a new run and a resumed one. */
static void options_check(void *to)
{
    const struct options *options = to;
    if (options->resume && options->begins)
        cli_misuse("--resume goes on with the run's own options; leave out --%s", options->begins);
    if (options->figure == FIGURE_TEXT && options->no_report)
        cli_misuse("--figure=text shows what a report is made of; leave out --no-report");
    if (options->format && !options->plan)
        cli_misuse("--format takes --plan");
    engine_check(options);
    if (options->force && !options->resume)
        cli_misuse("--force takes --resume=RUN");
    if (!options->file && !options->resume)
        cli_misuse("which sweep file? For example smoke, or harness/sweeps/default.yaml");
}

static const struct cli_command cli = {
    .options = option_table,
    .arguments = "FILE",
    .help = argp_doc,
    .only = "sweep file",
    .only_offset = offsetof(struct options, file),
    .begins_offset = offsetof(struct options, begins),
    .check = options_check,
};

/* Options given by the user win over the file. */
static void options_apply(const struct options *options, struct sweep_file *sweep)
{
    if (options->machine)
        sweep_file_set_machine(sweep, options->machine->text);
    if (options->what_if)
        sweep_file_set_what_if(sweep, options->what_if);
    if (options->quick) {
        sweep->reps = sweep->reps_max = 1;
        sweep->min_time_ms = 0;
        sweep->iterations = 1;
        sweep->warmup = 0;
        sweep->width = sweep->class_min = sweep->class_each = sweep->repeat_disturbed = 0;
    }
    sweep_file_override(&options->override, sweep);
}

/* Output -------------------------------------------------------------------------------------- */

/* "3", or "3 to 9". */
static char *range_text(int64_t least, int64_t most, char text[64])
{
    if (least == most)
        snprintf(text, 64, "%" PRId64, least);
    else
        snprintf(text, 64, "%" PRId64 " to %" PRId64, least, most);
    return text;
}

/* Repeats and top-ups. */
static int64_t extra_samples_max(const struct plan *plan, const struct sweep_file *sweep)
{
    int64_t per_cell = sweep->repeat_disturbed ? sweep->reps_max : 0, extra = 0;
    for (size_t i = 0; i < plan->count; i++) {
        bool has_distance = plan->cells[i].workers > 1 && sweep->class_min > 0;
        extra += per_cell + (has_distance ? sweep->reps_max : 0);
    }
    return extra;
}

/* How much there is to measure, least and most, and how long that takes. */
static void extent_print(const struct plan *plan, const struct sweep_file *sweep)
{
    char blocks[64], samples[64], least[32], most[32];
    int64_t cells = (int64_t)plan->count;
    int64_t blocks_max = sweep->width > 0 ? sweep->reps_max : sweep->reps;
    printf("%s, %s block%s, %s sample%s\n", counted(plan->count, "cell").s,
           range_text(sweep->reps, blocks_max, blocks), blocks_max == 1 ? "" : "s",
           range_text(cells * sweep->reps, cells * blocks_max, samples),
           cells * blocks_max == 1 ? "" : "s");
    int64_t extra = extra_samples_max(plan, sweep);
    int64_t samples_max = cells * blocks_max + extra;
    if (extra > 0)
        printf("and up to %s to repeat disturbed ones and top up core distances\n",
               counted((uint64_t)extra, "sample").s);
    progress_duration((double)(cells * sweep->reps * sweep->min_time_ms) / 1e3, least);
    progress_duration((double)(samples_max * sweep->timeout_s), most);
    printf("at least %s of timed calls; at most %s, if every sample took its %" PRId64 " s\n",
           least, most, sweep->timeout_s);
}

static void plan_print(const struct plan *plan, const struct sweep_file *sweep)
{
    bool simulated = plan_is_simulated(plan);
    struct term_table *table = term_table_new(
        (struct term_layout){.gap = 2}, TERM_COLUMNS({"cell", -12}, {"workers", 7}, {"variant", -1},
                                                     {"workload", -1}, {"groups", 0}));
    if (simulated)
        term_table_column(table, "machine", -1);
    for (size_t i = 0; i < plan->count; i++) {
        const struct cell *cell = &plan->cells[i];
        char workers[16];
        const char *before = "";
        snprintf(workers, sizeof workers, "%d", cell->workers);
        term_table_row(table, cell->id, workers, cell->variant, cell->workload,
                       simulated ? cell->machine : NULL, NULL);
        json_each(group, cell->groups) {
            term_table_text(table, "%s%s", before, json_string_value(group));
            before = " ";
        }
    }
    term_table_print(table, stdout);
    extent_print(plan, sweep);
}

/* The one that is named, or else that of a run which is, or was, measured by an engine. folder: of
 * the run; NULL: there is none yet. */
static const char *cells_folder(const struct options *options, const char *folder)
{
    static char path[PATH_SIZE];
    if (options->cells || !folder)
        return options->cells;
    snprintf(path, sizeof path, "%s/cells", folder);
    return engines[options->engine] || access(path, F_OK) == 0 ? path : NULL;
}

static void cells_print(const struct options *options, const struct sweep_file *sweep,
                        struct plan *plan)
{
    struct cell_plan shown = {
        .sweep = sweep,
        .plan = plan,
        .file = options->resume ? options->resume : options->file,
        .results = options->results,
        .cells = cells_folder(options, options->resume),
        .json = options->format == 1,
        .columns = cli_columns(),
    };
    cell_plan_print(&shown, stdout);
}

/* The facts about the run that are neither in the sweep file nor in the machine. */
static json_t *run_to_json(const struct options *options, const struct sweep_file *sweep,
                           const struct plan *plan, const char *fingerprint)
{
    json_t *object = params_to_json(sweep, sweep_file_params);
    json_object_set_new(object, "file", json_string(options->file));
    json_object_set_new(object, "fingerprint", json_string(fingerprint));
    json_object_set_new(object, "timer", json_string(timer_words[options->hyperfine]));
    if (options->machine)
        json_object_set_new(object, "machine", json_string(options->machine->text));
    if (options->what_if)
        json_object_set_new(object, "what_if", json_string(options->what_if));
    json_object_set_new(object, "cells", json_integer((json_int_t)plan->count));
    return object;
}

/* The command that goes on: the run keeps neither who measured nor where results of single cells
 * are. */
static void resume_print(FILE *to, const struct options *options, const char *folder)
{
    fputs("schedlab", to);
    outside_with_print(to);
    fputs(" sweep", to);
    shell_option_print(to, "--resume", folder);
    shell_option_print(to, "--cells", options->cells);
    if (options->engine)
        shell_option_print(to, "--engine", engine_words[options->engine]);
    shell_option_print(to, "--sshloginfile", options->hosts);
    for (size_t i = 0; i < options->sbatch.count; i++) {
        fputs(" --sbatch=", to);
        shell_word_print(to, options->sbatch.text[i]);
    }
    if (options->job_seconds)
        fprintf(to, " --job-seconds %" PRId64, options->job_seconds);
    if (options->mix_machines)
        fputs(" --mix-machines", to);
}

static void stop_tell(const struct options *options, const struct sweep_run *run)
{
    fprintf(stderr, "%s: stopped by SIG%s; `", cli_name(), sigabbrev_np(run->stopped_by));
    resume_print(stderr, options, run->folder);
    if (run->engine)
        fprintf(stderr, "` goes on and takes what jobs have measured from %s\n", run->cells);
    else
        fputs("` goes on, `schedlab report` draws what is there\n", stderr);
}

/* Says how it ended; the exit status. */
static int run_conclude(const struct options *options, const struct sweep_run *run)
{
    char duration[32];
    cli_say("%s ok, %zu failed, %s skipped in %s; data in %s", counted(run->ok, "sample").s,
            run->failed, counted(run->skipped, "cell").s, progress_duration(run->seconds, duration),
            run->folder);
    if (run->stopped_by) {
        stop_tell(options, run);
        return EXIT_FAILED;
    }
    if (run->ok == 0)
        return cli_fail("no sample could be measured");
    return EXIT_DONE;
}

/* Measuring ----------------------------------------------------------------------------------- */

/* Everything that is in the folder before the first sample. */
static bool folder_fill(const struct options *options, const struct sweep_file *sweep,
                        const struct plan *plan, const char *folder, struct error *error)
{
    char path[PATH_SIZE], fingerprint[FINGERPRINT_SIZE];
    snprintf(path, sizeof path, "%s/sweep.yaml", folder);
    if (!file_copy(options->file, path, error) ||
        !sweep_origin_fingerprint(path, fingerprint, error))
        return false;
    json_t *environment = environment_to_json();
    json_t *doctor = doctor_for_run(folder, json_object_get(environment, "counting"));
    json_object_set_new(environment, "doctor", doctor);
    if (plan_is_native(plan))
        doctor_warn(doctor, "schedlab sweep", stderr);
    json_object_set_new(environment, "sweep", run_to_json(options, sweep, plan, fingerprint));
    snprintf(path, sizeof path, "%s/environment.json", folder);
    bool ok = file_replace_json(path, environment, error);
    json_decref(environment);
    return ok;
}

static bool resumption_record(void *resuming, struct error *error)
{
    return sweep_resume_record(resuming, error);
}

/* Before hours of measuring, and not after them. */
static void warn_of_figures(const struct options *options)
{
    struct gnuplot gnuplot;
    struct error error;
    if (!options->no_report && !gnuplot_find(&gnuplot, &error))
        cli_say("warning: %s; the report will have no figures", error.text);
}

/* Checks the needs of simulated samples that are not always met. */
static bool machines_check(const struct options *options, const struct plan *plan,
                           struct error *error)
{
    char path[PATH_SIZE];
    if (!plan_is_simulated(plan))
        return true;
    if (options->hyperfine)
        return error_set(error,
                         "--timer=hyperfine times processes, and that of a simulated sample is the "
                         "simulator's; valid there: --timer=inside");
    return machine_sim_program(NULL, path, sizeof path, error);
}

/* A run of single cells that could not begin leaves nothing; else how it goes on is told. */
static void failed_run_leave(const struct options *options, const struct sweep_run *run)
{
    if (!run->cells)
        return;
    bool begun = run->resume || run->ok + run->failed + run->skipped > 0 ||
                 (run->engine && run->engine->may_have_jobs);
    if (!begun) {
        run_folder_remove(run->folder);
        return;
    }
    fprintf(stderr, "%s: `", cli_name());
    resume_print(stderr, options, run->folder);
    fputs("` goes on\n", stderr);
}

static int sweep_measure(struct options *options, const struct sweep_file *sweep, struct plan *plan)
{
    char folder[PATH_SIZE / 2], hyperfine[PATH_SIZE];
    struct error error;
    if (!machines_check(options, plan, &error))
        return cli_fail("%s", error.text);
    if (options->hyperfine && !hyperfine_find(hyperfine, sizeof hyperfine, &error))
        return cli_fail("%s", error.text);
    /* before there is a run that could not use it */
    if (options->cells && !cell_store_make(options->cells, &error))
        return cli_fail("%s", error.text);
    if (engines[options->engine] && !engines[options->engine]->check(!options->resume, &error))
        return cli_fail("%s", error.text);
    warn_of_figures(options);
    if (options->resume)
        snprintf(folder, sizeof folder, "%s", options->resume);
    else if (!run_folder_make(options->results, options->name ? options->name : sweep->name, folder,
                              sizeof folder, &error) ||
             !folder_fill(options, sweep, plan, folder, &error))
        return cli_fail("%s", error.text);
    struct engine engine = {
        .ops = engines[options->engine],
        .folder = folder,
        .cells = cells_folder(options, folder),
        .options = options->sbatch.text,
        .hosts = options->hosts,
        .mix_machines = options->mix_machines,
        .job_seconds = options->job_seconds ? (double)options->job_seconds : ENGINE_JOB_SECONDS,
    };
    struct sweep_run run = {
        .sweep = sweep,
        .plan = plan,
        .seed = (uint64_t)sweep->seed,
        .folder = folder,
        .resume = options->resume != NULL,
        .begin = options->resume ? resumption_record : NULL,
        .begin_arg = &options->resuming,
        .hyperfine = options->hyperfine ? hyperfine : NULL,
        .cells = cells_folder(options, folder),
        .mix_machines = options->mix_machines,
        .elsewhere = options->resuming.elsewhere,
        .engine = engine.ops ? &engine : NULL,
    };
    if (sweep_run_measure(&run, stderr, &error) < 0) {
        cli_fail("%s", error.text);
        failed_run_leave(options, &run);
        return EXIT_FAILED;
    }
    int status = run_conclude(options, &run);
    printf("%s\n", folder);
    if (status != EXIT_DONE || options->no_report)
        return status;
    if (report_make(folder, stderr) != 0)
        return EXIT_FAILED;
    bool show =
        options->figure == FIGURE_TEXT || (options->figure == FIGURE_AUTO && isatty(STDERR_FILENO));
    if (show && !terminal_figure_write(stderr, folder, &sweep->groups[0], &error))
        return cli_fail("%s", error.text);
    return EXIT_DONE;
}

/* The sweep with all options in force, or NULL and one line in error. */
static struct sweep_file *sweep_load(struct options *options, struct error *error)
{
    if (options->resume) {
        struct sweep_resume *resume = &options->resuming;
        *resume = (struct sweep_resume){
            .folder = options->resume, .file = options->file, .force = options->force};
        struct sweep_file *sweep = sweep_resume_load(resume, stderr, error);
        options->hyperfine = resume->hyperfine;
        return sweep;
    }
    options->file = cli_sweep_file(options->file);
    struct sweep_file *sweep = sweep_file_load(options->file, error);
    if (sweep)
        options_apply(options, sweep);
    if (sweep && !sweep_file_check_machines(sweep, error)) {
        sweep_file_free(sweep);
        return NULL;
    }
    return sweep;
}

/* Tells which groups of the file were left out, and why. */
static void tell_left_out(const struct sweep_file *sweep)
{
    for (unsigned g = 0; g < sweep->groups_count; g++)
        if (sweep->groups[g].left_out)
            cli_say("group %s: %s", sweep->groups[g].id, sweep->groups[g].left_out);
}

int cmd_sweep(int argc, char **argv)
{
    struct options options = {.results = "results", .override = SWEEP_OVERRIDE_NONE};
    cli_read(&cli, argc, argv, &options);

    struct error error;
    struct sweep_file *sweep = sweep_load(&options, &error);
    if (!sweep)
        cli_misuse_lines(error.text);
    tell_left_out(sweep);
    struct plan *plan = plan_make(sweep);
    int status = EXIT_DONE;
    if (options.dry_run)
        plan_print(plan, sweep);
    else if (options.plan)
        cells_print(&options, sweep, plan);
    else
        status = sweep_measure(&options, sweep, plan);
    plan_free(plan);
    sweep_file_free(sweep);
    sweep_resume_free(&options.resuming);
    free(options.sbatch.text);
    return status;
}
