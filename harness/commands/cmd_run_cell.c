/* cmd_run_cell.c - `schedlab run --cell ID --sweep FILE`: measures single cells of a sweep,
 * anywhere, any number of times, in any order.
 *
 * It leaves one file per cell in a folder (cell_store.h). A cell whose file is there is not
 * measured again. Jobs of the engines (engine.h) are this command with a list of ids.
 */
#include "harness/base/json_fields.h"
#include "harness/base/memory.h"
#include "harness/base/monotonic.h"
#include "harness/base/process.h"
#include "harness/base/stop.h"
#include "harness/base/text.h"
#include "harness/commands/commands.h"
#include "harness/models/machine_start.h"
#include "harness/options/cli.h"
#include "harness/options/sweep_override.h"
#include "harness/plan/cell_id.h"
#include "harness/plan/cell_store.h"
#include "harness/plan/stopping_rule.h"
#include "harness/plan/sweep_file.h"
#include "harness/plan/sweep_origin.h"
#include "harness/plan/sweep_request.h"
#include "harness/records/sample_request.h"
#include "harness/sample/child.h"
#include "harness/spec/spec.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
    PATH_SIZE = 4096,
    STOP_SECONDS = 2, /* the most seconds between the first stopped process of a job and ours */
};

struct options {
    const char *sweep, *cells, *list;
    struct sweep_override override;
    json_t *ids;          /* id -> its place in `found`; in the order given */
    int64_t stop_after_s; /* begin no cell later than that; 0: no limit */
    const char *begun;    /* file that gets the id of each cell before it is measured */
    const char *kind;     /* file that says on which processor native cells are measured */
};

/* The place of a cell in the plan. */
struct place {
    struct cell *cell;
    unsigned block;
};

struct state {
    struct options *options;
    struct cell_ids ids;
    struct place *found;
    size_t wanted, lacking;
    size_t measured, there, failed;
};

static void id_add(void *to, char *id)
{
    const struct options *options = to;
    if (!cell_id_is_valid(id))
        cli_misuse("\"%s\" is no id of a cell; valid: 16 hex digits, as `schedlab sweep FILE "
                   "--plan` prints",
                   id);
    if (!json_object_get(options->ids, id))
        json_object_set_new(options->ids, id,
                            json_integer((json_int_t)json_object_size(options->ids)));
}

static const struct cli_option option_table[] = {
    {"cell", "ID", "Measure this one; may be given again and again", .take = id_add},
    {"list", "FILE", "Measure those whose ids FILE holds, one a line", CLI(TEXT, list)},
    {"sweep", "FILE|RUN",
     "Of this sweep file, or of the run that a sweep began in the folder RUN, with its options",
     CLI(TEXT, sweep)},
    {"cells", "DIR", "Keep results in DIR (default: of a RUN its cells/, else cells)",
     CLI(TEXT, cells)},
    {"seed", "S", "Of the sweep, where FILE has none", CLI(SWEEP, override.seed), .key = "seed"},
    {"stop-after", "S", "Begin no further cell after S seconds; the rest can be measured later",
     CLI(NUMBER, stop_after_s), .least = 1, .most = INT32_MAX, .unit = "s"},
    {"one-kind", "FILE",
     "Measure native cells only on a processor of the model that FILE names; the first one makes "
     "FILE",
     CLI(TEXT, kind)},
    {"begun", "FILE", "Add the id of each cell to FILE when it is begun", CLI(TEXT, begun)},
    {0},
};

static const char argp_doc[] =
    "Measure single cells of a sweep, and keep each result in a file of its own.\v"
    "`schedlab sweep FILE --plan` prints the ids. An id stands for one repetition of one variant, "
    "workload and number of workers, with program, machine, seed and settings; where any of these "
    "is another one, there is no such cell. Cells are measured one after the other in the order "
    "given. One whose result is there already is not measured again, and a result is there whole "
    "or not at all; so the command may be run again after whatever happened, and beside others.\n\n"
    "Example:\n"
    "  schedlab sweep harness/sweeps/smoke.yaml --seed 1 --plan\n"
    "  schedlab run --sweep harness/sweeps/smoke.yaml --seed 1 --cell 0123456789abcdef\n\n"
    "Exit status: 0 results of all cells are there, though some may say `failed`, or --stop-after "
    "ended it; 1 stopped, or a result could not be written; 2 misused, or no such cell.";

/* Options ------------------------------------------------------------------------------------- */

bool cmd_run_cell_is_meant(int argc, char **argv)
{
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
        if (strncmp(argv[i], "--cell", 6) == 0 || strncmp(argv[i], "--list", 6) == 0)
            return true;
    return false;
}

static void list_read(struct options *options)
{
    char line[256];
    FILE *from = fopen(options->list, "re");
    if (!from)
        cli_misuse("cannot read %s: %s", options->list, strerror(errno));
    while (fgets(line, sizeof line, from)) {
        line[strcspn(line, " \t\r\n")] = '\0';
        if (*line)
            id_add(options, line);
    }
    fclose(from);
}

static void argument_refuse(void *options, char *text)
{
    (void)options;
    cli_misuse("takes no argument beside --cell; found \"%s\"", text);
}

static void options_check(void *options)
{
    if (!((const struct options *)options)->sweep)
        cli_misuse("--cell takes --sweep=FILE, whose cell it is");
}

static const struct cli_command cli = {
    .options = option_table,
    .help = argp_doc,
    .argument = argument_refuse,
    .check = options_check,
};

/* The sweep that is meant, with the options that it was begun with. */
static struct sweep_file *sweep_load(struct options *options, struct error *error)
{
    static char cells[PATH_SIZE];
    struct stat status;
    bool run = stat(options->sweep, &status) == 0 && S_ISDIR(status.st_mode);
    if (run && options->override.seed >= 0)
        cli_misuse("--seed: a run has its own; leave it out");
    if (!options->cells) {
        snprintf(cells, sizeof cells, "%s%scells", run ? options->sweep : "", run ? "/" : "");
        options->cells = cells;
    }
    if (run)
        return sweep_origin_load(options->sweep, error);
    struct sweep_file *sweep = sweep_file_load(options->sweep, error);
    if (sweep && sweep->seed < 0 && options->override.seed < 0)
        cli_misuse("%s has no seed; give --seed=S as to `schedlab sweep --plan`", options->sweep);
    if (sweep)
        sweep_file_override(&options->override, sweep);
    return sweep;
}

/* Finding ------------------------------------------------------------------------------------- */

static bool cell_look(void *state_void, struct cell *cell, unsigned block)
{
    struct state *state = state_void;
    char id[CELL_BLOCK_ID_SIZE];
    cell_id_of(&state->ids, cell, block, id);
    const json_t *place = json_object_get(state->options->ids, id);
    if (place && !state->found[json_integer_value(place)].cell) {
        state->found[json_integer_value(place)] = (struct place){cell, block};
        state->lacking--;
    }
    return state->lacking > 0;
}

/* Also those that a sweep measures beyond `reps`. */
static void cells_find(struct state *state, const struct sweep_file *sweep)
{
    state->found = xcalloc(state->wanted + 1, sizeof *state->found);
    cell_ids_each(&state->ids, cell_look, state);
    if (state->lacking > 0) {
        state->ids.blocks = stopping_rule_blocks_max(sweep);
        cell_ids_each(&state->ids, cell_look, state);
    }
    const char *id;
    json_t *place;
    json_object_foreach(state->options->ids, id, place)
    {
        if (!state->found[json_integer_value(place)].cell)
            cli_misuse("%s has no cell %s with this program, its options and seed; `schedlab sweep "
                       "--plan` prints those that it has",
                       state->options->sweep, id);
    }
}

/* Measuring ----------------------------------------------------------------------------------- */

/* On the disk before the cell may take its machine down. */
static bool begun_tell(const struct options *options, const char *id)
{
    if (!options->begun)
        return true;
    int fd = open(options->begun, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    bool ok = fd >= 0 && dprintf(fd, "%s\n", id) > 0 && fsync(fd) == 0;
    if (!ok)
        cli_say("cannot write %s: %s", options->begun, strerror(errno));
    if (fd >= 0)
        close(fd);
    return ok;
}

/* The cell's record; NULL if this process is being stopped. A job or a machine that ends stops its
 * processes one after the other. So a sample that was stopped may only be the first of them, and
 * has not failed then. */
static json_t *cell_sample(struct state *state, const struct place *place, double *seconds)
{
    struct sample_request request =
        sweep_request_cell(&state->ids.common, place->cell, place->block);
    double before = monotonic_seconds();
    json_t *record = child_run_sample(&request);
    *seconds = monotonic_seconds() - before;
    if (child_record_stopped(record) && !process_interrupted())
        nanosleep(&(struct timespec){STOP_SECONDS, 0}, NULL);
    if (!process_interrupted())
        return record;
    json_decref(record);
    return NULL;
}

/* False: nothing more can be measured. */
static bool cell_measure(struct state *state, const char *id, const struct place *place)
{
    struct error error;
    const struct options *options = state->options;
    if (cell_store_has(options->cells, id)) {
        state->there++;
        return true;
    }
    if (options->kind && !machine_text_is_simulated(place->cell->machine) &&
        !cell_store_kind_is(options->kind, &error)) {
        cli_say("%s", error.text);
        return false;
    }
    if (process_interrupted() || !begun_tell(options, id))
        return false;
    double seconds;
    json_t *record = cell_sample(state, place, &seconds);
    bool ok = record != NULL;
    if (ok && child_record_has_no_program(record)) { /* the cell stays open */
        cli_say("no sample can be started, %s", field_text(record, "reason"));
        ok = false;
    }
    if (ok && !cell_store_put(options->cells, id, record, seconds, true, &error)) {
        cli_say("%s", error.text);
        ok = false;
    }
    if (ok) {
        state->measured++;
        state->failed += record_is(record, "failed");
    }
    json_decref(record);
    return ok;
}

static int cells_measure(struct state *state)
{
    double until = state->options->stop_after_s > 0
                       ? monotonic_seconds() + (double)state->options->stop_after_s
                       : HUGE_VAL;
    const char *id;
    json_t *place;
    bool ok = true;
    json_object_foreach(state->options->ids, id, place)
    {
        if (!ok || monotonic_seconds() >= until)
            break;
        ok = cell_measure(state, id, &state->found[json_integer_value(place)]);
    }
    if (!ok && !process_interrupted())
        return EXIT_FAILED; /* the reason is the last line */
    cli_say("%s measured, %zu of them failed; %zu were there; results in %s",
            counted(state->measured, "cell").s, state->failed, state->there, state->options->cells);
    return ok ? EXIT_DONE : EXIT_FAILED;
}

static int cells_run(struct options *options, const struct sweep_file *sweep)
{
    struct error error;
    struct plan *plan = plan_make(sweep);
    struct state state = {.options = options, .wanted = json_object_size(options->ids)};
    state.lacking = state.wanted;
    cell_ids_begin(&state.ids, sweep, plan);
    cells_find(&state, sweep);
    int status = EXIT_FAILED;
    if (cell_store_make(options->cells, &error))
        status = cells_measure(&state);
    else
        cli_say("%s", error.text);
    free(state.found);
    cell_ids_end(&state.ids);
    plan_free(plan);
    return status;
}

int cmd_run_cell(int argc, char **argv)
{
    struct options options = {.ids = json_object(), .override = SWEEP_OVERRIDE_NONE};
    struct stop stop;
    struct error error;
    cli_read(&cli, argc, argv, &options);
    if (options.list)
        list_read(&options);
    if (json_object_size(options.ids) == 0)
        cli_misuse(options.list ? "which cell? %s holds no id"
                                : "which cell? valid: --cell=ID, or --list=FILE",
                   options.list);
    stop_begin(&stop);
    struct sweep_file *sweep = sweep_load(&options, &error);
    if (!sweep)
        cli_misuse_lines(error.text);
    int status = cells_run(&options, sweep);
    sweep_file_free(sweep);
    json_decref(options.ids);
    stop_end(&stop);
    return status;
}
