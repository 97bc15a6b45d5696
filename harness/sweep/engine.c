/* engine.c - see engine.h. */
#include "harness/sweep/engine.h"

#include "harness/base/files.h"
#include "harness/base/fnv1a.h"
#include "harness/base/memory.h"
#include "harness/base/process.h"
#include "harness/base/text.h"
#include "harness/models/machine_start.h"
#include "harness/plan/cell_store.h"
#include "harness/records/sample_request.h"
#include "harness/sample/child.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
    SETTLE_LOOKS = 4, /* that a shared file system gets to show what ended jobs have written */
    LOOK_SECONDS_MAX = 5,
};

/* One call of engine_measure(). */
struct work {
    struct engine *engine;
    struct engine_sample *samples;
    size_t count, there;
    struct engine_sample **by_id; /* sorted */
    struct progress *progress;
    struct error *error;
};

static const char *const kinds[2] = {"native", "simulated"};

/* Paths --------------------------------------------------------------------------------------- */

void engine_path(const struct engine *engine, const struct engine_batch *batch, const char *suffix,
                 char path[ENGINE_PATH_SIZE])
{
    int length = snprintf(path, ENGINE_PATH_SIZE, "%s/jobs/%u-%s%s", engine->run_path, batch->round,
                          batch->kind, suffix);
    if (length >= ENGINE_PATH_SIZE)
        path[0] = '\0'; /* engine_begin() sees to it that there is room */
}

static void kind_path(const struct engine *engine, char path[ENGINE_PATH_SIZE])
{
    snprintf(path, ENGINE_PATH_SIZE, "%.4000s/jobs/processor", engine->run_path);
}

char *engine_command(const struct engine *engine, const struct engine_batch *batch,
                     const char *number)
{
    char *text = NULL, path[ENGINE_PATH_SIZE];
    FILE *to = memory_stream(&text, NULL);
    shell_word_print(to, engine->program);
    fputs(" run --sweep ", to);
    shell_word_print(to, engine->run_path);
    fputs(" --cells ", to);
    shell_word_print(to, engine->cells_path);
    engine_path(engine, batch, "-", path);
    fputs(" --list ", to);
    shell_word_print(to, path);
    fprintf(to, "%s.list --begun ", number);
    shell_word_print(to, path);
    fprintf(to, "%s.begun", number);
    if (!batch->native) {
        fprintf(to, " --stop-after %.0f", fmax(engine->job_seconds, 1));
    } else if (!engine->mix_machines) {
        kind_path(engine, path);
        fputs(" --one-kind ", to);
        shell_word_print(to, path);
    }
    memory_stream_close(to);
    return text;
}

static bool path_resolve(const char *from, char path[ENGINE_PATH_SIZE], struct error *error)
{
    char *whole = realpath(from, NULL);
    if (!whole || strlen(whole) > CELL_STORE_FOLDER_MAX - 64) {
        error_print(error, "cannot use %s: %s", from,
                    whole ? "its path is too long" : strerror(errno));
        free(whole);
        return false;
    }
    snprintf(path, ENGINE_PATH_SIZE, "%s", whole);
    free(whole);
    return true;
}

bool engine_begin(struct engine *engine, struct error *error)
{
    if (!path_resolve(engine->folder, engine->run_path, error) ||
        !path_resolve(engine->cells, engine->cells_path, error) ||
        !path_resolve("/proc/self/exe", engine->program, error))
        return false;
    /* The same for who resumes the run, and no other run's. */
    const char *run = engine->run_path;
    snprintf(engine->name, sizeof engine->name, "schedlab-%.80s-%08" PRIx32, text_base_name(run),
             (uint32_t)fnv1a(FNV1A_SEED, run, strlen(run)));
    char path[ENGINE_PATH_SIZE + 8];
    snprintf(path, sizeof path, "%s/jobs", run);
    if (mkdir(path, 0777) == 0)
        return true;
    engine->may_have_jobs = errno == EEXIST; /* of before an interruption */
    if (!engine->may_have_jobs)
        error_print(error, "cannot make the folder %s: %s", path, strerror(errno));
    return engine->may_have_jobs;
}

bool engine_kind_set(const struct engine *engine, const char *cpu, struct error *error)
{
    char path[ENGINE_PATH_SIZE];
    kind_path(engine, path);
    if (access(path, F_OK) < 0)
        return file_replace(path, cpu, strlen(cpu), error);
    char *kind = file_read(path, NULL, error);
    if (!kind)
        return false;
    kind[strcspn(kind, "\n")] = '\0';
    bool same = strcmp(kind, cpu) == 0;
    if (!same)
        error_print(error,
                    "%s: jobs measure on \"%s\", and what is compared with it was measured on "
                    "\"%s\"; --mix-machines takes both",
                    path, kind, cpu);
    free(kind);
    return same;
}

/* Results ------------------------------------------------------------------------------------- */

static int by_id_compare(const void *a, const void *b)
{
    const struct engine_sample *const *x = a, *const *y = b;
    return strcmp((*x)->id, (*y)->id);
}

static struct engine_sample *sample_find(const struct work *work, const char *id)
{
    struct engine_sample key, *pointer = &key;
    snprintf(key.id, sizeof key.id, "%s", id);
    struct engine_sample **found =
        bsearch(&pointer, work->by_id, work->count, sizeof *work->by_id, by_id_compare);
    return found ? *found : NULL;
}

static bool result_see(void *work_void, const char *id)
{
    struct work *work = work_void;
    struct engine_sample *sample = sample_find(work, id);
    if (sample && !sample->there) {
        sample->there = true;
        work->there++;
    }
    return true;
}

static bool results_look(struct work *work)
{
    bool all;
    return cell_store_each(work->engine->cells_path, result_see, work, &all, work->error);
}

/* Jobs ---------------------------------------------------------------------------------------- */

static bool list_write(struct work *work, const struct engine_batch *batch, size_t job,
                       size_t *members, size_t count)
{
    char path[ENGINE_PATH_SIZE], suffix[64], *text = NULL;
    size_t size;
    FILE *to = memory_stream(&text, &size);
    for (size_t i = 0; i < count; i++)
        fprintf(to, "%s\n", work->samples[members[i]].id);
    memory_stream_close(to);
    snprintf(suffix, sizeof suffix, "-%zu.list", job);
    engine_path(work->engine, batch, suffix, path);
    bool ok = file_replace(path, text, size, work->error);
    free(text);
    return ok;
}

/* The samples of each job, in their order: first[job] .. first[job + 1] of members. */
static void members_sort(const struct work *work, const struct engine_batch *batch, size_t *first,
                         size_t *members)
{
    for (size_t i = 0; i < work->count; i++) {
        const struct engine_sample *sample = &work->samples[i];
        if (!sample->there && machine_text_is_simulated(sample->of->machine) != batch->native)
            first[sample->job + 1]++;
    }
    for (size_t job = 0; job < batch->count; job++)
        first[job + 1] += first[job];
    size_t *next = xcalloc(batch->count + 1, sizeof *next);
    memcpy(next, first, batch->count * sizeof *next);
    for (size_t i = 0; i < work->count; i++) {
        const struct engine_sample *sample = &work->samples[i];
        if (!sample->there && machine_text_is_simulated(sample->of->machine) != batch->native)
            members[next[sample->job]++] = i;
    }
    free(next);
}

static bool batch_submit(struct work *work, const struct engine_batch *batch)
{
    size_t *first = xcalloc(batch->count + 1, sizeof *first);
    size_t *members = xcalloc(work->count + 1, sizeof *members);
    members_sort(work, batch, first, members);
    bool ok = true;
    for (size_t job = 0; ok && job < batch->count; job++)
        ok = list_write(work, batch, job, &members[first[job]], first[job + 1] - first[job]);
    free(first);
    free(members);
    return ok && work->engine->ops->submit(work->engine, batch, work->error);
}

static bool round_submit(struct work *work, struct engine_batch batches[2])
{
    size_t counts[2];
    struct engine *engine = work->engine;
    engine_jobs_make(work->samples, work->count, engine->job_seconds, counts);
    progress_message(work->progress, "%s: %s for %s", engine->ops->name,
                     counted(counts[0] + counts[1], "job").s,
                     counted(work->count - work->there, "cell").s);
    bool ok = true;
    /* Simulated ones first: parallel runs the batches one after the other. */
    for (int kind = 1; kind >= 0; kind--) {
        batches[kind] = (struct engine_batch){kinds[kind], kind == 0, engine->round, counts[kind]};
        if (counts[kind] > 0)
            ok = ok && batch_submit(work, &batches[kind]);
    }
    return ok;
}

static void sleep_seconds(double seconds)
{
    struct timespec time = {(time_t)seconds, (long)(fmod(seconds, 1) * 1e9)};
    nanosleep(&time, NULL); /* a signal ends it */
}

/* Waits until no job is left, or none has anything left to do. False after a signal, or if the
 * results cannot be read. */
static bool jobs_wait(struct work *work)
{
    struct engine *engine = work->engine;
    size_t waiting = 0, running = 1;
    bool told = false;
    char why[sizeof engine->why] = "";
    for (double seconds = 0.1; waiting + running > 0;) {
        char label[256];
        bool known = engine->ops->look(engine, &waiting, &running);
        if (process_interrupted() || !results_look(work))
            return false;
        if (engine->ops->lingers && work->there == work->count)
            return true; /* a node that is being cleaned up may take as long as it likes */
        if (!known && !told)
            progress_message(work->progress, "%s does not answer; waiting for it",
                             engine->ops->name);
        told = !known;
        if (*engine->why && strcmp(engine->why, why) != 0) {
            snprintf(why, sizeof why, "%s", engine->why);
            progress_message(work->progress, "%s: no job runs: %s (squeue(1) says what that is)",
                             engine->ops->name, why);
        }
        if (!known)
            running = running ? running : 1;
        snprintf(label, sizeof label, "%zu of %s measured, %s run, %zu wait", work->there,
                 counted(work->count, "cell").s, counted(running, "job").s, waiting);
        progress_show(work->progress, label, NAN);
        if (waiting + running > 0)
            sleep_seconds(seconds);
        seconds = fmin(seconds * 1.5, LOOK_SECONDS_MAX);
    }
    for (int i = 0; i < SETTLE_LOOKS && work->there < work->count && !process_interrupted(); i++) {
        sleep_seconds(0.25);
        if (!results_look(work))
            return false;
    }
    return !process_interrupted();
}

/* After a round ------------------------------------------------------------------------------- */

/* The last two lines of what a job said, in text, which is to be freed; NULL: its log is not there.
 * path is that of the log. Only the first of several arrays in a round has logs of this name. */
static char *log_read(const struct work *work, const struct engine_batch *batch, size_t job,
                      char path[ENGINE_PATH_SIZE], const char *lines[2])
{
    char suffix[64], *rest = NULL;
    struct error unused;
    snprintf(suffix, sizeof suffix, "-%zu.log", job);
    engine_path(work->engine, batch, suffix, path);
    char *text = file_read(path, NULL, &unused);
    lines[0] = lines[1] = "";
    for (char *line = text ? strtok_r(text, "\n", &rest) : NULL; line;
         line = strtok_r(NULL, "\n", &rest)) {
        lines[0] = lines[1];
        lines[1] = line;
    }
    return text;
}

static bool job_lacks(const struct work *work, const struct engine_batch *batch, size_t job)
{
    for (size_t i = 0; i < work->count; i++) {
        const struct engine_sample *sample = &work->samples[i];
        if (sample->job == job && !sample->there &&
            machine_text_is_simulated(sample->of->machine) != batch->native)
            return true;
    }
    return false;
}

/* Tells what the first job said that had samples to measure and began none: its node is of another
 * kind, or has another build. Such jobs come to nothing each time, and a round may be hours. */
static void idle_tell(struct work *work, const struct engine_batch *batch, size_t job)
{
    char path[ENGINE_PATH_SIZE];
    const char *lines[2];
    if (work->engine->idle_told)
        return;
    char *text = log_read(work, batch, job, path, lines);
    if (*lines[1] && job_lacks(work, batch, job)) {
        progress_message(work->progress, "%s: a job began no cell; %s: %s", work->engine->ops->name,
                         path, lines[1]);
        work->engine->idle_told = true;
    }
    free(text);
}

/* The sample that a job began last and left without a record is lost. How many it began. */
static size_t job_judge(struct work *work, const struct engine_batch *batch, size_t job)
{
    char path[ENGINE_PATH_SIZE], suffix[64], line[64], last[64] = "";
    size_t begun = 0;
    snprintf(suffix, sizeof suffix, "-%zu.begun", job);
    engine_path(work->engine, batch, suffix, path);
    FILE *from = fopen(path, "re");
    while (from && fgets(line, sizeof line, from)) {
        line[strcspn(line, "\n")] = '\0';
        memcpy(last, line, sizeof last);
        begun++;
    }
    if (from)
        fclose(from);
    struct engine_sample *sample = cell_id_is_valid(last) ? sample_find(work, last) : NULL;
    if (sample && !sample->there)
        sample->lost++;
    if (begun == 0)
        idle_tell(work, batch, job);
    return begun;
}

/* A sample that is lost again and again has a record too: that it failed. */
static bool sample_give_up(struct work *work, struct engine_sample *sample)
{
    char reason[256];
    struct sample_request request = {.variant = sample->of->variant,
                                     .workload = sample->of->workload,
                                     .workers = sample->of->workers,
                                     .machine = sample->of->machine};
    snprintf(reason, sizeof reason,
             "%u jobs began it and ended without a result; the cell is not tried again",
             sample->lost);
    json_t *record = child_record_lost(&request, reason);
    bool ok = cell_store_put(work->engine->cells_path, sample->id, record, 0, false, work->error);
    json_decref(record);
    return ok && result_see(work, sample->id);
}

/* Adds lines of the first job's log to the message that nothing works. */
static void log_tell(struct work *work, const struct engine_batch *batch)
{
    char path[ENGINE_PATH_SIZE];
    const char *lines[2];
    char *text = log_read(work, batch, 0, path, lines);
    error_print(work->error, "no job began a cell, %d times in a row; %s%s%s%s%s", ENGINE_TRIES,
                path,
                *lines[1] ? ": "
                : text    ? " tells nothing"
                       : " is not there: do all machines see that folder, and this one what they "
                         "write?",
                lines[0], *lines[0] ? "; " : "", lines[1]);
    free(text);
}

/* Judges the jobs of a round; *stuck counts rounds in a row in which no job began anything. */
static bool round_judge(struct work *work, const struct engine_batch batches[2], size_t there,
                        int *stuck)
{
    size_t begun = 0;
    for (int kind = 0; kind < 2; kind++)
        for (size_t job = 0; job < batches[kind].count; job++)
            begun += job_judge(work, &batches[kind], job);
    *stuck = begun == 0 && work->there == there ? *stuck + 1 : 0;
    if (*stuck == ENGINE_TRIES) {
        log_tell(work, &batches[batches[0].count == 0]);
        return false;
    }
    for (size_t i = 0; i < work->count; i++)
        if (!work->samples[i].there && work->samples[i].lost >= ENGINE_TRIES &&
            !sample_give_up(work, &work->samples[i]))
            return false;
    if (work->there < work->count)
        progress_message(work->progress, "%s: %s without a result yet", work->engine->ops->name,
                         counted(work->count - work->there, "cell").s);
    return true;
}

/* Waits for jobs from before an interruption: handed in again, they would be measured twice. */
static bool jobs_left_wait(struct work *work)
{
    struct engine *engine = work->engine;
    size_t waiting, running;
    bool known = engine->ops->look(engine, &waiting, &running);
    if (known && waiting + running == 0)
        return true;
    if (known)
        progress_message(work->progress, "%s: %s of before the interruption; waiting for them",
                         engine->ops->name, counted(waiting + running, "job").s);
    return jobs_wait(work);
}

static bool rounds_run(struct work *work)
{
    struct engine *engine = work->engine;
    int stuck = 0;
    if (!results_look(work) || (engine->may_have_jobs && !jobs_left_wait(work)))
        return false;
    while (work->there < work->count) {
        struct engine_batch batches[2];
        char path[ENGINE_PATH_SIZE];
        size_t there = work->there;
        do { /* earlier rounds, also of before an interruption, keep their files */
            batches[0] = (struct engine_batch){.kind = kinds[0], .round = ++engine->round};
            batches[1] = (struct engine_batch){.kind = kinds[1], .round = engine->round};
            engine_path(engine, &batches[0], "-0.list", path);
            if (access(path, F_OK) < 0)
                engine_path(engine, &batches[1], "-0.list", path);
        } while (access(path, F_OK) == 0);
        if (!round_submit(work, batches) || !jobs_wait(work) ||
            !round_judge(work, batches, there, &stuck))
            return false;
    }
    return true;
}

bool engine_measure(struct engine *engine, struct engine_sample *samples, size_t count,
                    struct progress *progress, struct error *error)
{
    struct work work = {engine, samples, count, 0, NULL, progress, error};
    struct error problem;
    error->text[0] = '\0';
    work.by_id = xcalloc(count + 1, sizeof(struct engine_sample *));
    for (size_t i = 0; i < count; i++)
        work.by_id[i] = &samples[i];
    qsort(work.by_id, count, sizeof *work.by_id, by_id_compare);
    engine->progress = progress;
    bool ok = rounds_run(&work);
    if (!ok && engine->may_have_jobs && !engine->ops->cancel(engine, &problem))
        progress_message(progress, "%s", problem.text);
    if (process_interrupted())
        error->text[0] = '\0';
    free(work.by_id);
    return ok;
}
