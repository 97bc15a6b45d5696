/* hunt_campaign.c - see hunt_campaign.h.
 *
 * Each cell is done in parts of PART executions, the first part of each cell before the second of
 * any: a campaign that ends early has looked everywhere. The header of the log says all that parts
 * depend on, so a campaign goes on from there.
 */
#include "harness/hunter/hunt_campaign.h"

#include "harness/base/build_info.h"
#include "harness/base/json_fields.h"
#include "harness/base/memory.h"
#include "harness/base/monotonic.h"
#include "harness/base/progress.h"
#include "harness/base/text.h"
#include "harness/hunt/parts.h"
#include "harness/hunt/processes.h"
#include "harness/hunter/hunt_coverage.h"
#include "harness/hunter/hunt_table.h"
#include "harness/hunter/hunt_what.h"
#include "harness/options/cli.h"
#include "harness/records/hunt_log.h"
#include "harness/records/run_folder.h"
#include "harness/scenarios/scenarios.h"
#include "harness/spec/outside.h"
#include "sched.h"
#include "workloads/workload.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PART = 1000, EXECUTIONS_DEFAULT = 1000, SHARDS_MAX = 100000 };
enum { PATH_SIZE = 4096 };

struct words {
    const char **word;
    size_t count;
};

struct running {
    const struct hunt_campaign *wanted;
    struct hunt_log *log;
    const json_t *cells;
    struct campaign *campaigns; /* of each cell */
    int64_t began_ns;
    size_t next, total, begun; /* parts; begun: here */
    int64_t shard, shards;
    struct progress progress;
    struct error error; /* "": none */
};

/* Cells --------------------------------------------------------------------------------------- */

/* Each once. */
static void word_add(struct words *words, const char *word)
{
    for (size_t i = 0; i < words->count; i++)
        if (strcmp(words->word[i], word) == 0)
            return;
    array_add(words->word, words->count) = word;
}

/* Canonical, so that two texts that mean the same are one cell. */
static void variant_add(struct words *variants, const char *word)
{
    struct error error;
    struct variant_spec variant;
    if (!scheduler_spec_parse(&variant, word, &error))
        cli_misuse("%s%s", error.text,
                   strncmp(error.text, "unknown", 7) == 0
                       ? "; or a workload, or one of `schedlab hunt --scenarios`"
                       : "");
    word_add(variants, variant.text);
}

static void workload_add(struct words *under, const char *word)
{
    struct error error;
    struct workload_spec workload;
    if (!hunt_workload_parse(&workload, word, &error))
        cli_misuse("%s", error.text);
    word_add(under, workload.text);
}

/* Words of the user by kind, and all of a kind that has none. */
static void words_split(const struct hunt_campaign *wanted, struct words *variants,
                        struct words *under)
{
    for (size_t i = 0; i < wanted->words.count; i++)
        if (hunt_is_variant(wanted->words.text[i]))
            variant_add(variants, wanted->words.text[i]);
        else
            workload_add(under, wanted->words.text[i]);
    for (size_t i = 0; variants->count == i && sched_variants[i]; i++)
        variant_add(variants, sched_variants[i]->name);
    for (size_t i = 0; under->count == i && scenarios[i]; i++)
        workload_add(under, scenarios[i]->name);
}

/* The cells of two that fit, one for each memory model and algorithm. */
static void cells_add(const struct hunt_campaign *wanted, json_t *cells, const char *variant,
                      const char *workload)
{
    for (int memory = 0; hunt_memory_words[memory]; memory++) {
        if (wanted->memory >= 0 && memory != wanted->memory)
            continue;
        for (int algorithm = 0; hunt_algorithm_words[algorithm]; algorithm++)
            if (wanted->algorithm < 0 || algorithm == wanted->algorithm)
                json_array_append_new(cells,
                                      json_pack("{ss ss si ss ss}", "variant", variant, "workload",
                                                workload, "workers", wanted->workers, "memory",
                                                hunt_memory_words[memory], "algorithm",
                                                hunt_algorithm_words[algorithm]));
    }
}

/* All cells that fit; *misfits: pairs that do not, with the reason of one in error. */
static json_t *cells_of(const struct hunt_campaign *wanted, size_t *misfits, struct error *error)
{
    struct words variants = {0}, under = {0};
    json_t *cells = json_array();
    words_split(wanted, &variants, &under);
    *misfits = 0;
    for (size_t i = 0; i < variants.count; i++)
        for (size_t k = 0; k < under.count; k++) {
            struct variant_spec variant;
            struct workload_spec workload;
            if (scheduler_spec_parse(&variant, variants.word[i], error) &&
                hunt_workload_parse(&workload, under.word[k], error) &&
                hunt_fits(&variant, &workload, wanted->workers, error))
                cells_add(wanted, cells, variant.text, workload.text);
            else
                ++*misfits;
        }
    free(variants.word);
    free(under.word);
    return cells;
}

/* The log ------------------------------------------------------------------------------------- */

/* The files from outside the tree, of which the executions are too. */
static void with_add(json_t *header)
{
    char *with = outside_with_text();
    if (*with)
        json_object_set_new(header, "with", json_string(with + 1)); /* without the space */
    free(with);
}

static json_t *header_of(const struct hunt_campaign *wanted)
{
    struct error error;
    size_t misfits;
    json_t *cells = cells_of(wanted, &misfits, &error);
    if (json_array_size(cells) == 0)
        cli_misuse("%s", error.text);
    if (misfits)
        cli_say("%s of variant and workload left out, for example: %s", counted(misfits, "pair").s,
                error.text);
    char program[16];
    snprintf(program, sizeof program, "%08" PRIx32, replay_program());
    json_t *header = json_pack(
        "{si sI ss ss s[I] si so}", "schema", HUNT_LOG_SCHEMA, "executions",
        (json_int_t)(wanted->executions ? wanted->executions : EXECUTIONS_DEFAULT), "program",
        program, "revision", build_revision(), "seeds", (json_int_t)wanted->seed, "depth",
        wanted->depth ? wanted->depth : HUNT_DEPTH_DEFAULT, "cells", cells);
    if (wanted->coverage)
        json_object_set_new(header, "coverage", json_true());
    with_add(header);
    return header;
}

static void log_begin(const struct hunt_campaign *wanted, struct hunt_log *log,
                      char folder[PATH_SIZE])
{
    struct error error;
    json_t *header = header_of(wanted);
    if (!run_folder_make(wanted->results ? wanted->results : "results",
                         wanted->name ? wanted->name : "hunt", folder, PATH_SIZE, &error) ||
        !hunt_log_create(log, folder, header, &error))
        cli_give_up("%s", error.text);
}

/* Parts of another program, or of several seeds, are no beginning of what comes. */
static void log_resume(const struct hunt_campaign *wanted, struct hunt_log *log)
{
    char program[16];
    struct error error;
    if (!hunt_log_open(log, wanted->resume, true, &error))
        cli_misuse("%s", error.text);
    snprintf(program, sizeof program, "%08" PRIx32, replay_program());
    if (strcmp(program, field_text(log->header, "program")) != 0)
        cli_misuse("%s is of program %s, and this is %s, whose executions are others; valid: a new "
                   "campaign",
                   wanted->resume, field_text(log->header, "program"), program);
    if (json_array_size(json_object_get(log->header, "seeds")) > 1)
        cli_misuse("%s was merged from campaigns of several seeds; resume those", wanted->resume);
}

/* Parts --------------------------------------------------------------------------------------- */

/* A log may be another version's, or changed by hand: its cells are checked like options. */
static int word_index(const struct hunt_log *log, const json_t *cell, const char *key,
                      const char *const *words)
{
    const char *word = field_text(cell, key);
    unsigned count = 0;
    for (; words[count]; count++)
        if (strcmp(words[count], word) == 0)
            return (int)count;
    cli_misuse("%s: %s \"%s\" of a cell is unknown; valid: %s", log->file.path, key, word,
               text_join((char *const *)(uintptr_t)words, count));
}

static int depth_of(const struct hunt_log *log)
{
    json_int_t depth = field_integer(log->header, "depth");
    if (depth < 1 || depth > HUNT_DEPTH_MAX)
        cli_misuse("%s: depth %" JSON_INTEGER_FORMAT " is not valid; valid: 1 to %d",
                   log->file.path, depth, HUNT_DEPTH_MAX);
    return (int)depth;
}

static json_int_t seed_of(const struct hunt_log *log)
{
    return json_integer_value(json_array_get(json_object_get(log->header, "seeds"), 0));
}

/* The campaign of each cell. Specifications stay for the rest of the process. */
static struct campaign *campaigns_of(const struct hunt_log *log, const json_t *cells)
{
    struct error error;
    size_t i;
    json_t *cell;
    int depth = depth_of(log);
    struct campaign *campaigns = xcalloc(json_array_size(cells), sizeof *campaigns);
    json_array_foreach(cells, i, cell)
    {
        struct variant_spec variant;
        struct workload_spec workload;
        json_int_t workers = field_integer(cell, "workers");
        if (workers < 1 || workers > HUNT_WORKERS_MAX)
            cli_misuse("%s: %" JSON_INTEGER_FORMAT
                       " workers of a cell are not valid; valid: 1 to %d",
                       log->file.path, workers, HUNT_WORKERS_MAX);
        if (!scheduler_spec_parse(&variant, field_text(cell, "variant"), &error) ||
            !hunt_workload_parse(&workload, field_text(cell, "workload"), &error) ||
            !hunt_fits(&variant, &workload, (int)workers, &error))
            cli_misuse("%.*s: %s", PATH_SIZE / 2, log->file.path, error.text);
        campaigns[i] = hunt_campaign_of(&variant, &workload, (int)workers);
        campaigns[i].seed = (uint64_t)seed_of(log);
        campaigns[i].algorithm = word_index(log, cell, "algorithm", hunt_algorithm_words);
        campaigns[i].plan.memory =
            (enum hunt_memory)word_index(log, cell, "memory", hunt_memory_words);
        if (campaign_has_depth(campaigns[i].algorithm))
            campaigns[i].depth = depth;
    }
    return campaigns;
}

static bool time_is_over(const struct running *running)
{
    return running->wanted->time_ns &&
           monotonic_ns() - running->began_ns >= running->wanted->time_ns;
}

/* The next part of this shard that the log lacks. */
static bool part_next(void *arg, struct part *part)
{
    struct running *running = arg;
    size_t cells = json_array_size(running->cells);
    int64_t executions = field_integer(running->log->header, "executions");
    while (running->next < running->total && !time_is_over(running)) {
        size_t i = running->next++;
        int64_t from = (int64_t)(i / cells) * PART;
        int64_t left = executions - from;
        const json_t *cell = json_array_get(running->cells, i % cells);
        if ((int64_t)(i % (size_t)running->shards) != running->shard ||
            hunt_log_part(running->log, cell, seed_of(running->log), from))
            continue;
        part->campaign = running->campaigns[i % cells];
        part->from = from;
        part->executions = left < PART ? left : PART;
        part->covers = hunt_log_covers(running->log);
        part->of = (void *)(uintptr_t)cell;
        return true;
    }
    return false;
}

static json_t *orders_to_json(const struct part *part)
{
    json_t *times = json_object();
    for (size_t i = 0; i < part->order_count; i++) {
        char hash[32];
        snprintf(hash, sizeof hash, "%" PRIx64, part->orders[i].hash);
        json_object_set_new(times, hash, json_integer((json_int_t)part->orders[i].times));
    }
    return json_pack("{si so}", "level", part->order_level, "times", times);
}

static void failures_to_json(json_t *json, struct part *part)
{
    json_t *failures = json_object();
    for (int end = 0; end < HUNT_END_COUNT; end++)
        if (part->failures[end])
            json_object_set_new(failures, hunt_end_words[end],
                                json_integer((json_int_t)part->failures[end]));
    json_object_set_new(json, "failures", failures);
    if (part->first < 0)
        return;
    campaign_plan(&part->campaign, part->first);
    char *replay = replay_text(&part->campaign.plan);
    json_object_set_new(json, "first",
                        json_pack("{sI ss ss ss}", "number", (json_int_t)part->first, "end",
                                  hunt_end_words[part->first_end], "text", part->first_text,
                                  "replay", replay));
    free(replay);
}

static json_t *part_to_json(const struct running *running, struct part *part)
{
    json_t *json = json_copy(part->of);
    json_t *done =
        json_pack("{sI sI sI sf sI sI so}", "seed", seed_of(running->log), "from",
                  (json_int_t)part->from, "executions", (json_int_t)part->executions, "seconds",
                  (double)part->took_ns / 1e9, "accesses", (json_int_t)part->accesses, "points",
                  (json_int_t)part->points, "orders", orders_to_json(part));
    json_object_update(json, done);
    json_decref(done);
    if (part->covers) {
        struct coverage coverage = hunt_coverage_read(&part->cover);
        json_object_set_new(json, "coverage", hunt_coverage_to_log(&coverage));
        free(coverage.pairs);
    }
    failures_to_json(json, part);
    return json;
}

static bool part_done(void *arg, struct part *part)
{
    struct running *running = arg;
    json_t *json = part_to_json(running, part);
    double took = (double)(monotonic_ns() - running->began_ns) / 1e9;
    running->progress.done++;
    running->progress.failed += part->first >= 0;
    size_t left = running->progress.total - running->progress.done;
    char *what = hunt_log_cell_text(json);
    progress_show(&running->progress, what, took * (double)left / (double)++running->begun);
    free(what);
    return hunt_log_add(running->log, json, &running->error);
}

/* "I/N", I from 0. */
static void shard_parse(const struct hunt_campaign *wanted, struct running *running)
{
    int end = 0;
    running->shard = 0;
    running->shards = 1;
    if (!wanted->shard)
        return;
    if (sscanf(wanted->shard, "%" SCNd64 "/%" SCNd64 "%n", &running->shard, &running->shards,
               &end) != 2 ||
        wanted->shard[end] || running->shard < 0 || running->shards > SHARDS_MAX ||
        running->shard >= running->shards)
        cli_misuse("--shard=%s is not valid; valid: I/N, the I-th of N, from 0, as in 0/10",
                   wanted->shard);
}

/* How many parts the log lacks of this shard; then all are to come. */
static size_t parts_missing(struct running *running)
{
    struct part *part = xcalloc(1, sizeof *part);
    size_t missing = 0;
    while (part_next(running, part))
        missing++;
    free(part);
    running->next = 0;
    return missing;
}

static void ended_tell(struct running *running, int status)
{
    char how[64];
    process_death_text(status, how, sizeof how);
    error_print(&running->error,
                "%.*s: the process of a part was ended from outside (%s), which is no finding; "
                "--resume does the part again",
                PATH_SIZE / 2, running->log->file.path, how);
}

static void log_complete(const struct hunt_campaign *wanted, struct hunt_log *log,
                         struct running *running)
{
    int64_t executions = field_integer(log->header, "executions");
    running->log = log;
    running->wanted = wanted;
    running->cells = json_object_get(log->header, "cells");
    running->campaigns = campaigns_of(log, running->cells);
    running->total = (size_t)((executions + PART - 1) / PART) * json_array_size(running->cells);
    if (hunt_log_covers(log))
        hunt_coverage_begin();
    running->began_ns = monotonic_ns();
    progress_begin(&running->progress, stderr, parts_missing(running));
    running->progress.noun = "part";
    const struct parts parts = {
        .jobs = wanted->jobs, .next = part_next, .done = part_done, .arg = running};
    int ended = parts_run(&parts);
    progress_end(&running->progress);
    free(running->campaigns);
    if (ended && !*running->error.text)
        ended_tell(running, ended);
    if (*running->error.text)
        cli_give_up("%s", running->error.text);
}

int hunt_campaign(const struct hunt_campaign *wanted)
{
    char folder[PATH_SIZE];
    struct error error;
    struct hunt_log log;
    struct running running = {.wanted = wanted};
    shard_parse(wanted, &running);
    snprintf(folder, sizeof folder, "%s", wanted->resume ? wanted->resume : "");
    if (wanted->show) {
        if (!hunt_log_open(&log, wanted->show, false, &error))
            cli_misuse("%s", error.text);
        if (wanted->coverage && !hunt_log_covers(&log))
            cli_misuse("%s was made without --coverage; leave it out", wanted->show);
    } else if (wanted->resume) {
        log_resume(wanted, &log);
    } else {
        log_begin(wanted, &log, folder);
    }
    if (!wanted->show)
        log_complete(wanted, &log, &running);
    bool failed = wanted->page   ? hunt_table_page(&log, wanted->show)
                  : wanted->json ? hunt_table_json(&log)
                                 : hunt_table_print(&log);
    if (!wanted->show && !wanted->json)
        printf("log: %s/hunt.jsonl\n", folder);
    hunt_log_close(&log);
    return failed ? EXIT_FAILED : EXIT_DONE;
}
