/* cmd_merge.c - `schedlab merge`: joins runs of one sweep. */
#include "harness/base/memory.h"
#include "harness/base/text.h"
#include "harness/commands/commands.h"
#include "harness/options/cli.h"
#include "harness/plan/cell_store.h"
#include "harness/records/hunt_log.h"
#include "harness/records/run_folder.h"
#include "harness/sweep/merge.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PATH_SIZE = 4096 };

struct options {
    struct cli_list folders; /* the result, then the runs */
    bool mix_machines;
};

static const struct cli_option option_table[] = {
    {"mix-machines", NULL,
     "Join runs also where one comparison has native samples of unlike processors then",
     CLI(FLAG, mix_machines)},
    {0},
};

static const char argp_doc[] =
    "Join runs of one sweep into one run in the new folder OUT, which `schedlab report` takes.\v"
    "Runs of different seeds add up. Runs of one seed are parts or copies of the same run: a "
    "sample that several have counts once, and is refused if it is not the same in all of them. "
    "Runs of different sweep files or revisions are refused. Runs that would give one comparison "
    "native samples of unlike processors are refused too, unless --mix-machines is given. Another "
    "compiler or machine is warned of and recorded in OUT/environment.json. The folder is "
    "printed.\n\n"
    "Folders of cells, as `schedlab run --cell` and `schedlab sweep --cells` keep them, become one "
    "folder of cells, which `schedlab sweep FILE --cells OUT` takes. A cell that several have "
    "counts once, and is refused if they do not agree on it.\n\n"
    "Campaigns of `schedlab hunt` become one, which `schedlab hunt --show OUT` prints: shards, and "
    "campaigns of different seeds. They must be of the same cells and of one program.\n\n"
    "Example:\n"
    "  schedlab merge results/both results/monday results/tuesday\n"
    "  schedlab merge all-cells cells-of-ann cells-of-bob\n\n"
    "Exit status: 0 done; 1 OUT could not be written; 2 misused, or the runs do not fit together.";

static void options_check(void *options)
{
    if (((const struct options *)options)->folders.count < 3)
        cli_misuse("takes a new folder and two runs at least, as in: schedlab merge results/both "
                   "results/a results/b");
}

static const struct cli_command cli = {
    .options = option_table,
    .arguments = "OUT RUN RUN...",
    .help = argp_doc,
    .list_most = SIZE_MAX,
    .list_offset = offsetof(struct options, folders),
    .check = options_check,
};

/* Refuses a folder that is given twice, under another name or by a link too: it adds nothing. */
static void refuse_one_twice(const struct merge *merge)
{
    struct stat *of = xcalloc(merge->count, sizeof *of);
    for (size_t i = 0; i < merge->count; i++) {
        if (stat(merge->runs[i], &of[i]) != 0)
            of[i].st_ino = 0; /* who reads it says why */
        for (size_t k = 0; k < i && of[i].st_ino; k++)
            if (of[k].st_ino == of[i].st_ino && of[k].st_dev == of[i].st_dev)
                cli_misuse("%s and %s are one folder; valid are different ones", merge->runs[k],
                           merge->runs[i]);
    }
    free(of);
}

enum kind { RUNS, CELLS, HUNTS }; /* of folders */
static const char *const kind_nouns[] = {"sample", "cell", "part"};

static enum kind kind_of(const struct merge *merge)
{
    if (cell_store_is_one(merge->runs[0]) || cell_store_is_one(merge->runs[1]))
        return CELLS;
    return hunt_log_is_one(merge->runs[0]) ? HUNTS : RUNS;
}

/* Makes merge->out under another name first: a merge that is killed leaves nothing that could be
 * taken for a run. */
static enum merge_result merge_beside(struct merge *merge, enum kind kind, struct error *error)
{
    const char *out = merge->out;
    char draft[PATH_SIZE];
    if (access(out, F_OK) == 0) {
        error_print(error, "cannot make the folder %s: %s", out, strerror(EEXIST));
        return MERGE_REFUSED;
    }
    size_t length = strlen(out);
    while (length > 1 && out[length - 1] == '/')
        length--;
    if (snprintf(draft, sizeof draft, "%.*s.merging", (int)length, out) >= (int)sizeof draft) {
        error_print(error, "%.64s...: the path is too long", out);
        return MERGE_REFUSED;
    }
    run_folder_remove(draft); /* of a merge that was killed */
    merge->out = draft;
    enum merge_result result = kind == CELLS   ? merge_cells(merge, error)
                               : kind == HUNTS ? merge_hunts(merge, error)
                                               : merge_runs(merge, stderr, error);
    merge->out = out;
    if (result != MERGE_DONE || rename(draft, out) == 0)
        return result;
    error_print(error, "cannot make the folder %s: %s", out, strerror(errno));
    run_folder_remove(draft);
    return MERGE_FAILED;
}

int cmd_merge(int argc, char **argv)
{
    struct options options = {.mix_machines = false};
    cli_read(&cli, argc, argv, &options);
    struct merge merge = {.out = options.folders.text[0],
                          .runs = options.folders.text + 1,
                          .count = options.folders.count - 1,
                          .mix_machines = options.mix_machines};
    struct error error;
    enum kind kind = kind_of(&merge);
    if (kind == HUNTS && options.mix_machines)
        cli_misuse("--mix-machines takes runs; a hunt is the same on every machine");
    if (kind == CELLS && options.mix_machines)
        cli_misuse("--mix-machines takes runs; folders of cells are joined whatever measured them, "
                   "and `schedlab sweep --cells` asks");
    refuse_one_twice(&merge);
    enum merge_result result = merge_beside(&merge, kind, &error);
    if (result != MERGE_DONE) {
        cli_say("%s", error.text);
    } else {
        cli_say("%s of %s, %zu of them in more than one",
                counted(merge.samples, kind_nouns[kind]).s,
                counted(merge.count, kind == CELLS ? "folder" : "run").s, merge.repeated);
        printf("%s\n", merge.out);
    }
    free(options.folders.text);
    return result == MERGE_DONE ? EXIT_DONE : result == MERGE_FAILED ? EXIT_FAILED : EXIT_MISUSED;
}
