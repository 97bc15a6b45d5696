/* machine_start.c - see machine_start.h. */
#include "harness/spec/machine_start.h"

#include "harness/base/fnv1a.h"
#include "harness/base/process_cpu.h"
#include "harness/host/topology.h"
#include "harness/spec/machine_spec.h"
#include "harness/spec/sched_trace.h"
#include "machine.h"
#include "workloads/workload.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PATH_SIZE = 4096, PROGRAMS_KEPT = 4 };

bool machine_text_is_simulated(const char *text)
{
    return text && strncmp(text, "sim:", 4) == 0;
}

/* Where this program is; "" if that cannot be known. */
static void self_path(char path[PATH_SIZE])
{
    ssize_t length = readlink("/proc/self/exe", path, PATH_SIZE - 1);
    path[length > 0 ? length : 0] = '\0';
}

/* The program at path, open; -1 if it is a script, whose interpreter would have to open it anew. */
static int program_open(const char *path)
{
    static const char elf[4] = {0x7f, 'E', 'L', 'F'};
    char begin[sizeof elf];
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd >= 0 && pread(fd, begin, sizeof begin, 0) == (ssize_t)sizeof begin &&
        memcmp(begin, elf, sizeof elf) == 0)
        return fd;
    if (fd >= 0)
        close(fd);
    return -1;
}

/* Keeps the program at path open and names the open file, so that all samples of this process run
 * one program, even if it is built anew or removed meanwhile. False if there is none to execute. */
static bool program_keep_open(char *path, size_t path_size)
{
    static struct {
        char path[PATH_SIZE];
        int fd;
    } kept[PROGRAMS_KEPT];
    size_t i = 0;
    while (i < PROGRAMS_KEPT && *kept[i].path && strcmp(kept[i].path, path) != 0)
        i++;
    bool known = i < PROGRAMS_KEPT && *kept[i].path;
    if (!known && access(path, X_OK) != 0)
        return false;
    if (!known && i < PROGRAMS_KEPT && (kept[i].fd = program_open(path)) >= 0) {
        snprintf(kept[i].path, sizeof kept[i].path, "%s", path);
        known = true;
    }
    if (known)
        snprintf(path, path_size, "/proc/self/fd/%d", kept[i].fd);
    return true;
}

/* The one of that name beside `program`, NULL being this one; of an installed program it lies in
 * PREFIX/libexec/schedlab. */
static bool program_beside(const char *program, const char *name, char *path, size_t path_size)
{
    char self[PATH_SIZE];
    self_path(self);
    if (!program)
        program = self;
    const char *slash = strrchr(program, '/');
    int folder = slash ? (int)(slash - program) + 1 : 0;
    snprintf(path, path_size, "%.*s../libexec/schedlab/%s", folder, program, name);
    if (program_keep_open(path, path_size))
        return true;
    snprintf(path, path_size, "%.*s%s", folder, program, name);
    return program_keep_open(path, path_size);
}

bool machine_sim_program(const char *program, char *path, size_t path_size, char *error,
                         size_t error_size)
{
    if (machine_is_simulated()) {
        char self[PATH_SIZE];
        self_path(self);
        snprintf(path, path_size, "%s", self);
        return true;
    }
    if (program_beside(program, "schedlab-sim", path, path_size))
        return true;
    snprintf(error, error_size,
             "cannot execute %s, which runs simulated machines; `make` builds it", path);
    return false;
}

bool machine_trace_program(const char *program, char *path, size_t path_size, char *error,
                           size_t error_size)
{
    if (MACHINE_KEEPS_EVENTS && !machine_is_simulated()) {
        char self[PATH_SIZE];
        self_path(self);
        snprintf(path, path_size, "%s", self);
        return true;
    }
    if (program_beside(program, "schedlab-trace", path, path_size))
        return true;
    snprintf(error, error_size,
             "cannot execute %s, which records what real threads do; `make trace` builds it", path);
    return false;
}

void machine_record_values(json_t *record, const struct sim_model *model)
{
    json_t *values = machine_model_to_json(model);
    char *all = json_dumps(values, JSON_COMPACT);
    json_object_set_new(record, "model",
                        json_sprintf("%016" PRIx64, fnv1a(FNV1A_SEED, all, strlen(all))));
    json_object_set_new(record, "cores", json_integer(model->cores));
    json_object_set_new(record, "lookahead_ps", json_integer(model->lookahead_ps));
    free(all);
    json_decref(values);
}

uint64_t machine_rep_seed(uint64_t seed, unsigned repetition)
{
    /* 31 bits: short enough to be typed again. */
    return repetition == 0 ? seed : digest_mix(seed + repetition) >> 33;
}

#if defined(SCHEDLAB_SIM)
#include "harness/spec/structures.h"
#include "sim/cache.h"
#include "sim/events.h"
#include "sim/lockstep.h"
#include "sim/sim.h"

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
                   char *error, size_t error_size)
{
    if (!spec->simulated) {
        snprintf(error, error_size,
                 "this program runs on simulated machines only, not on \"%s\"; valid: "
                 "--machine=sim:MODEL[,KEY=VALUE]...",
                 spec->text);
        return false;
    }
    struct start start = {spec, fn, arg};
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

int64_t machine_busy_ns(void)
{
    return sim_counted(-1, SIM_BUSY_PS) / PS_PER_NS;
}

#define KIND(kind) (UINT64_C(1) << (kind))
_Static_assert(SCHED_EVENT_COUNT <= 64, "a bit for each kind of event");

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

bool machine_lock_step(const char *text, char *error, size_t error_size)
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
    if (!ok) {
        snprintf(error, error_size,
                 "\"%s\" is no schedule of steps; valid: help:CORE[,CORE]... or work:CORE...",
                 text);
        return false;
    }
    steps.uses = step_kinds[kind].uses;
    steps.before = step_kinds[kind].before;
    steps.after = step_kinds[kind].after;
    sim_lockstep_set(&steps);
    return true;
}

bool machine_events_keep(size_t most)
{
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
        fprintf(to, "%" PRId64 "\t%d\t%d\t%d\t%s\t%" PRId64 "\t%d\t%d\n", event->when_ps,
                event->core, event->m, event->p, sched_trace_names[event->kind], event->g, event->a,
                event->b);
    }
}

void machine_record_events(json_t *record)
{
    json_object_set_new(record, "sched_events", json_integer((json_int_t)sim_events_count()));
    json_object_set_new(record, "events_hash", json_sprintf("%016" PRIx64, sim_events_hash()));
}
#else
#include "native/record.h"

bool machine_is_simulated(void)
{
    return false;
}

bool machine_start(const struct machine_spec *spec, uint64_t seed, void (*fn)(void *arg), void *arg,
                   char *error, size_t error_size)
{
    (void)seed;
    if (spec->simulated) {
        snprintf(error, error_size, "this program runs on real threads only, not on \"%s\"",
                 spec->text);
        return false;
    }
    fn(arg);
    return true;
}

void machine_record_model(json_t *record, const char *text)
{
    struct machine_spec spec;
    char error[512];
    if (!machine_text_is_simulated(text) || !machine_spec_parse(&spec, text, error, sizeof error))
        return;
    machine_record_values(record, &spec.model);
    machine_spec_free(&spec);
}

int machine_pick_cpus(int *cpus, int max)
{
    return topology_pick_cpus(cpus, max);
}

int64_t machine_busy_ns(void)
{
    return process_cpu_ns();
}

bool machine_lock_step(const char *text, char *error, size_t error_size)
{
    (void)text;
    snprintf(error, error_size, "only simulated machines go in lock step");
    return false;
}

#if MACHINE_KEEPS_EVENTS
bool machine_events_keep(size_t most)
{
    native_events_keep(most);
    return true;
}

/* From the first one on: what the clock says is of no use to anybody. */
void machine_events_write(FILE *to)
{
    size_t count;
    uint64_t happened;
    struct native_event *events = native_events_take(&count, &happened);
    fprintf(to, "# %" PRIu64 " events\n", happened);
    for (size_t i = 0; i < count; i++) {
        const struct native_event *event = &events[i];
        fprintf(to, "%" PRId64 "\t%d\t%d\t%d\t%s\t%" PRId64 "\t%d\t%d\n",
                (event->when_ns - events[0].when_ns) * 1000, event->core, event->m, event->p,
                sched_trace_names[event->kind], event->g, event->a, event->b);
    }
    free(events);
}
#else
bool machine_events_keep(size_t most)
{
    (void)most;
    return false;
}

void machine_events_write(FILE *to)
{
    (void)to;
}
#endif

void machine_record_events(json_t *record)
{
    (void)record;
}
#endif
