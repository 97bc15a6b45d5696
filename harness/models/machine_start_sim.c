/* machine_start_sim.c - machine_start.h in the program that runs samples on simulated machines. */
#include "harness/models/machine_spec.h"
#include "harness/models/machine_start.h"
#include "harness/models/sched_trace.h"
#include "harness/models/structures.h"
#include "sim/cache.h"
#include "sim/events.h"
#include "sim/lockstep.h"
#include "sim/sim.h"
#include "sim/waste.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define KIND(kind) (UINT64_C(1) << (kind))
_Static_assert(SCHED_EVENT_COUNT <= 64, "a bit for each kind of event");

bool machine_is_simulated(void)
{
    return true;
}

struct start {
    const struct machine_spec *spec;
    void (*fn)(void *arg);
    void *arg;
};

/* Marks structures that cost nothing before any is made, so that later ones cost nothing too. */
static void start_with_free(void *start_void)
{
    struct start *start = start_void;
    for (int i = 0; structures[i].name; i++)
        if (start->spec->free >> i & 1)
            cache_free_name(cache_name_id(structures[i].name));
    start->fn(start->arg);
}

bool machine_start(const struct machine_spec *spec, uint64_t seed, void (*fn)(void *arg), void *arg,
                   struct error *error)
{
    if (!spec->simulated)
        return error_set(error,
                         "this program runs on simulated machines only, not on \"%s\"; valid: "
                         "--machine=sim:MODEL[,KEY=VALUE]...",
                         spec->text);
    struct start start = {spec, fn, arg};
    sim_waste_kinds(KIND(SCHED_READIED) | KIND(SCHED_TASK_SPAWNED),
                    KIND(SCHED_DISPATCHED) | KIND(SCHED_TASK_BEGUN));
    sim_run(&spec->model, seed, start_with_free, &start);
    return true;
}

void machine_record_model(json_t *record, const char *spec)
{
    (void)spec;
    machine_record_values(record, &sim_model);
}

/* One sibling of every core first, neighbours first. */
int machine_pick_cpus(int *cpus, int max)
{
    int count = 0;
    for (int sibling = 0; sibling < sim_model.smt; sibling++)
        for (int cpu = sibling; cpu < sim_model.cores && count < max; cpu += sim_model.smt)
            cpus[count++] = cpu;
    return count;
}

/* Numbered in the order of cpus, as on real threads. */
int machine_groups(const int *cpus, int count, int32_t *groups)
{
    int32_t number[SIM_CORES_MAX], known = 0;
    for (int i = 0; i < SIM_CORES_MAX; i++)
        number[i] = -1;
    for (int i = 0; i < count; i++) {
        int32_t *group = &number[cpus[i] / sim_model.group];
        if (*group < 0)
            *group = known++;
        groups[i] = *group;
    }
    return known;
}

int64_t machine_busy_ns(void)
{
    return sim_counted(-1, SIM_BUSY_PS) / PS_PER_NS;
}

static const struct {
    const char *word;
    uint64_t uses, before, after;
} step_kinds[] = {
    {"help:",
     KIND(SCHED_TASK_SPAWNED) | KIND(SCHED_TASK_BEGUN) | KIND(SCHED_TASK_RETURNED) |
         KIND(SCHED_JOINED),
     KIND(SCHED_TASK_SPAWNED) | KIND(SCHED_SYNCED) | KIND(SCHED_TASK_RETURNED) | KIND(SCHED_JOINED),
     KIND(SCHED_TASK_DONE)},
    {"work:",
     KIND(SCHED_DISPATCHED) | KIND(SCHED_STALLED) | KIND(SCHED_RETURNED) | KIND(SCHED_JOINED) |
         KIND(SCHED_CALL_RETURNED),
     KIND(SCHED_CREATED) | KIND(SCHED_SYNCED) | KIND(SCHED_SPUN) | KIND(SCHED_RETURNED) |
         KIND(SCHED_JOINED) | KIND(SCHED_CALL_RETURNED),
     KIND(SCHED_RETURNED) | KIND(SCHED_CALL_RETURNED)},
};

bool machine_lock_step(const char *text, struct error *error)
{
    static struct sim_lockstep steps;
    size_t kind = 0, kinds = sizeof step_kinds / sizeof step_kinds[0];
    while (kind < kinds && strncmp(text, step_kinds[kind].word, strlen(step_kinds[0].word)) != 0)
        kind++;
    const char *at = text + strcspn(text, ":") + 1;
    bool ok = kind < kinds && *at;
    while (ok && *at) {
        char *end;
        unsigned long core = strtoul(at, &end, 10);
        ok = end > at && (*end == ',' || !*end) && core < SIM_CORES_MAX &&
             steps.turns < SIM_TURNS_MAX;
        if (ok)
            steps.turn[steps.turns++] = (uint8_t)core;
        if (ok && (int)core >= steps.cores)
            steps.cores = (int)core + 1;
        at = *end ? end + 1 : end;
    }
    if (!ok)
        return error_set(
            error, "\"%s\" is no schedule of steps; valid: help:CORE[,CORE]... or work:CORE...",
            text);
    steps.uses = step_kinds[kind].uses;
    steps.before = step_kinds[kind].before;
    steps.after = step_kinds[kind].after;
    sim_lockstep_set(&steps);
    return true;
}

bool machine_events_keep(size_t most, size_t recorded)
{
    (void)recorded; /* requests are followed at once */
    sim_events_keep(most);
    return true;
}

void machine_events_write(FILE *to)
{
    size_t count;
    const struct sim_sched_event *events = sim_events_kept(&count);
    fprintf(to, "# %" PRIu64 " events\n", sim_events_count());
    for (size_t i = 0; i < count; i++) {
        const struct sim_sched_event *event = &events[i];
        fprintf(to, "%" PRId64 "\t%d\t%d\t%d\t%s\t%" PRId64 "\t%d\t%d", event->when_ps, event->core,
                event->m, event->p, sched_trace_names[event->kind], event->g, event->a, event->b);
        if (event->site)
            fprintf(to, "\t%" PRIu32, event->site);
        fputc('\n', to);
    }
}

void machine_record_events(json_t *record)
{
    json_object_set_new(record, "sched_events", json_integer((json_int_t)sim_events_count()));
    json_object_set_new(record, "events_hash", json_sprintf("%016" PRIx64, sim_events_hash()));
}
