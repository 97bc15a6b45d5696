/* advise.c - see advise.h. */
#include "harness/advice/advise.h"

#include "harness/advice/double.h"
#include "harness/base/json_fields.h"
#include "harness/base/memory.h"
#include "harness/evidence/metric.h"
#include "harness/evidence/request_table.h"
#include "harness/host/topology.h"
#include "harness/models/machine_start.h"
#include "harness/records/sample_request.h"
#include "harness/sample/sample_pool.h"

#include <errno.h>
#include <gsl/gsl_sort.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const double GAIN_MIN = 0.05; /* of the time, that twice the workers take off */

/* Each changes one decision of Go's. */
static const struct {
    const char *variant, *meaning;
} changes[] = {
    {"gmp,runnext=off", "no slot for the newest goroutine"},
    {"gmp,inherit=off", "the newest gets a slice of its own"},
    {"gmp,steal=one", "thieves take one goroutine"},
    {"gmp,tick=8", "the global queue more often"},
    {"gmp,slice_ns=1000000", "slices of 1 ms"},
    {"gmp,preempt=none", "no preemption"},
    {"gmp,wake=all", "new work wakes all idle workers"},
    {"gmp,spinners=none", "nobody searches before work is announced"},
    {"gmp,calls=immediate", "the processor is handed over at once in calls"},
    {"gmp,calls=none", "calls keep their processor"},
    {"gmp,netpoll=thread", "a thread of its own for descriptors"},
    {"gmp,timers=global", "one heap of timers"},
    {"grq", "one global queue in place of local ones"},
};
enum { CHANGES = sizeof changes / sizeof *changes };
_Static_assert((int)CHANGES <= (int)ADVISE_CHANGES_MAX, "a place for each");

/* Running -------------------------------------------------------------------------------------- */

/* One case with one seed. */
struct turn {
    struct advise_case *of;
    unsigned seed;
    json_t *record;
};

static void turns_run(const struct advice *advice, const char *workload, struct turn *turns,
                      size_t count)
{
    struct sample_pool *pool = sample_pool_make(topology_cpu_count());
    size_t started = 0;
    bool goes_on = true;
    for (size_t taken = 0; taken < count && goes_on;) {
        while (started < count && sample_pool_has_room(pool)) {
            struct turn *turn = &turns[started++];
            struct sample_request request = sample_request_usual();
            request.variant = turn->of->variant;
            request.workload = workload;
            request.machine = advice->machine;
            request.workers = turn->of->workers;
            request.iterations = 1;
            request.warmup = 0;
            request.timeout_s = 0;
            request.sim_seed = machine_rep_seed(SIM_SEED_UNSET, turn->seed);
            sample_pool_start(pool, &request, turn);
        }
        goes_on = sample_pool_wait(pool);
        void *tag;
        double seconds;
        for (json_t *record; (record = sample_pool_take(pool, &tag, &seconds)); taken++)
            ((struct turn *)tag)->record = record;
    }
    sample_pool_free(pool);
}

/* The median of a number over the records; range: its least and its most, NULL: not asked for. */
static double median_of(const struct turn *turns, const char *name, double *range)
{
    double values[ADVISE_SEEDS];
    struct error why;
    struct metric metric;
    metric_parse(&metric, name, &why);
    for (int i = 0; i < ADVISE_SEEDS; i++)
        values[i] = metric_of(&metric, turns[i].record);
    gsl_sort(values, 1, ADVISE_SEEDS);
    if (range) {
        range[0] = values[0];
        range[1] = values[ADVISE_SEEDS - 1];
    }
    return values[ADVISE_SEEDS / 2];
}

static void case_take(struct advise_case *self, const struct turn *turns)
{
    self->is_there = true;
    for (int i = 0; i < ADVISE_SEEDS; i++) {
        const char *status = json_string_value(json_object_get(turns[i].record, "status"));
        const char *why = json_string_value(json_object_get(turns[i].record, "reason"));
        if (status && strcmp(status, "ok") == 0)
            continue;
        self->is_there = false;
        snprintf(self->why, sizeof self->why, "%s", why ? why : "interrupted");
        return;
    }
    self->makespan_ns = median_of(turns, "makespan_ns", self->makespan_range_ns);
    self->p50_ns = median_of(turns, "p50", NULL);
    self->p99_ns = median_of(turns, "p99", self->p99_range_ns);
    if (isnan(self->p99_ns)) /* fewer than 100 latencies */
        self->p99_ns = median_of(turns, "max", self->p99_range_ns);
    self->late_ns = median_of(turns, "late_sum_ns", NULL);
    self->lock_ns = median_of(turns, "lock_sum_ns", NULL);
    const char *print = json_string_value(json_object_get(turns[0].record, "print"));
    self->functions = xstrdup(print ? print : "");
    self->parts = request_table(turns[0].record);
}

static void cases_run(const struct advice *advice, const char *workload, struct advise_case *cases,
                      size_t count)
{
    struct turn *turns = xcalloc(count * ADVISE_SEEDS, sizeof *turns);
    for (size_t i = 0; i < count * ADVISE_SEEDS; i++)
        turns[i] =
            (struct turn){.of = &cases[i / ADVISE_SEEDS], .seed = (unsigned)(i % ADVISE_SEEDS)};
    turns_run(advice, workload, turns, count * ADVISE_SEEDS);
    for (size_t i = 0; i < count; i++)
        case_take(&cases[i], &turns[i * ADVISE_SEEDS]);
    for (size_t i = 0; i < count * ADVISE_SEEDS; i++)
        json_decref(turns[i].record);
    free(turns);
}

/* Ladder and decisions ------------------------------------------------------------------------- */

/* Up to the first two steps in a row that gain little. */
static bool ladder_climb(struct advice *advice, const char *workload, int workers,
                         struct error *error)
{
    int idle = 0;
    for (int n = 1; n <= workers && advice->ladder_count < ADVISE_LADDER_MAX && idle < 2; n *= 2) {
        struct advise_case *now = &advice->ladder[advice->ladder_count];
        *now = (struct advise_case){
            .variant = "gmp", .name = "gmp", .meaning = "as Go decides", .workers = n};
        cases_run(advice, workload, now, 1);
        if (!now->is_there)
            return error_quote(error, "%s does not run on %d workers: %s", advice->file, n,
                               now->why);
        bool gains = advice->ladder_count == 0 ||
                     advice_measure(advice, now) <
                         (1 - GAIN_MIN) * advice_measure(advice, &advice->ladder[advice->knee]);
        idle = gains ? 0 : idle + 1;
        if (gains)
            advice->knee = advice->ladder_count;
        advice->ladder_count++;
    }
    return true;
}

static void changes_try(struct advice *advice, const char *workload)
{
    for (size_t i = 0; i < CHANGES; i++)
        advice->changes[i] = (struct advise_case){
            .variant = changes[i].variant,
            .name = changes[i].variant +
                    (strncmp(changes[i].variant, "gmp,", 4) == 0 ? strlen("gmp,") : 0),
            .meaning = changes[i].meaning,
            .workers = advice->ladder[advice->knee].workers};
    advice->changes_count = CHANGES;
    cases_run(advice, workload, advice->changes, CHANGES);
    advice_changes_sort(advice);
}

/* Loads ---------------------------------------------------------------------------------------- */

static void load_try(struct advice *advice, const char *name, const char *meaning,
                     const char *workload)
{
    struct advise_case *of = &advice->loads[advice->loads_count++];
    *of = (struct advise_case){.variant = "gmp",
                               .name = name,
                               .meaning = meaning,
                               .workers = advice->ladder[advice->knee].workers};
    cases_run(advice, workload, of, 1);
}

/* The program with twice the connections goes into a file that is there for as long as it runs. */
static bool connections_try(struct advice *advice, struct error *error)
{
    char path[] = "/tmp/schedlab-advise-XXXXXX";
    int fd = mkstemp(path);
    FILE *file = fd < 0 ? NULL : fdopen(fd, "w");
    bool is_written = file != NULL;
    if (file) {
        double_write(advice->program, file);
        is_written = ferror(file) == 0;
        is_written = fclose(file) == 0 && is_written;
    }
    if (!is_written)
        error_quote(error, "cannot write %s: %s", path, strerror(errno));
    char *workload = text_format("replay,file=%s", path);
    if (is_written)
        load_try(advice, "connections", "twice as many, for the same requests", workload);
    if (fd >= 0)
        unlink(path);
    free(workload);
    return is_written;
}

/* Twice as fast if the program says when or how often something comes, else twice the program. */
static bool loads_try(struct advice *advice, const char *workload, struct error *error)
{
    bool has_arrivals = false;
    const struct program *program = advice->program;
    for (size_t i = 0; i < program->steps_count && !has_arrivals; i++)
        has_arrivals = program->steps[i].kind == PROGRAM_AT;
    advice->connections = double_connections(program, advice->untold, sizeof advice->untold);
    if (advice->connections > 0 && !connections_try(advice, error))
        return false;
    char *more = text_format("%s,%s", workload, has_arrivals ? "rate=200" : "copies=2");
    if (has_arrivals)
        load_try(advice, "arrivals", "twice as fast", more);
    else
        load_try(advice, "copies", "two of the program beside each other", more);
    free(more);
    return true;
}

bool advise(struct advice *advice, const char *file, const struct program *program,
            const char *machine, int workers, struct error *error)
{
    *advice = (struct advice){.file = file, .machine = machine, .program = program};
    for (size_t i = 0; i < program->steps_count; i++)
        if (program->steps[i].kind == PROGRAM_AT && program->steps[i].ns > advice->last_ns)
            advice->last_ns = program->steps[i].ns;
    char *workload = text_format("replay,file=%s", file);
    bool done = ladder_climb(advice, workload, workers, error);
    const struct advise_case *base = &advice->ladder[advice->knee];
    advice->chance = fmax(advice_change(base->p99_range_ns[1], base->p99_range_ns[0]),
                          advice_change(base->makespan_range_ns[1], base->makespan_range_ns[0]));
    if (done) {
        changes_try(advice, workload);
        done = loads_try(advice, workload, error);
    }
    free(workload);
    return done;
}

static void cases_free(struct advise_case *cases, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        free(cases[i].functions);
        free(cases[i].parts);
    }
}

void advice_free(struct advice *advice)
{
    cases_free(advice->ladder, advice->ladder_count);
    cases_free(advice->changes, advice->changes_count);
    cases_free(advice->loads, advice->loads_count);
}
