/* cell_id.c - see cell_id.h. The ids are FNV-1a of 64 bits, mixed at the end: among a million
 * samples two have one id with a probability of 3 in 100 million. */
#include "harness/plan/cell_id.h"

#include "harness/base/build_info.h"
#include "harness/base/files.h"
#include "harness/base/fnv1a.h"
#include "harness/base/json_fields.h"
#include "harness/base/memory.h"
#include "harness/base/text.h"
#include "harness/models/machine_start.h"
#include "harness/plan/sweep_request.h"
#include "harness/spec/outside.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PATH_SIZE = 4096 };

/* With its NUL, so that "a", "bc" and "ab", "c" differ. */
static uint64_t hash_text(uint64_t hash, const char *text)
{
    return fnv1a(hash, text ? text : "", (text ? strlen(text) : 0) + 1);
}

static uint64_t hash_file(uint64_t hash, const char *path)
{
    struct error error;
    size_t size;
    char *bytes = file_read(path, &size, &error);
    if (bytes)
        hash = fnv1a(hash, bytes, size);
    free(bytes);
    return hash;
}

static uint64_t hash_program(void)
{
    char path[PATH_SIZE];
    struct error error;
    const char *revision = build_revision();
    uint64_t hash = hash_text(FNV1A_SEED, revision);
    hash = hash_text(hash, build_compiler());
    hash = hash_text(hash, build_flags());
    for (const char *const *origin = outside_origins; *origin; origin++)
        hash = hash_text(hash, *origin);
    for (const char *const *origin = outside_workload_origins; *origin; origin++)
        hash = hash_text(hash, *origin);
    if (!strstr(revision, "-dirty") && strcmp(revision, "unknown") != 0)
        return hash;
    hash = hash_file(hash, "/proc/self/exe");
    if (machine_sim_program(NULL, path, sizeof path, &error))
        hash = hash_file(hash, path);
    return hash;
}

void cell_ids_begin(struct cell_ids *ids, const struct sweep_file *sweep, struct plan *plan)
{
    *ids = (struct cell_ids){.plan = plan, .blocks = (unsigned)sweep->reps};
    ids->events = text_join(sweep->events, sweep->events_count);
    ids->common = sweep_request_common(sweep, (uint64_t)sweep->seed, ids->events);
    ids->origin = hash_program();
    ids->models = json_object();
}

void cell_ids_end(struct cell_ids *ids)
{
    free(ids->events);
    json_decref(ids->models);
}

/* "" of a native machine. */
static const char *machine_model(struct cell_ids *ids, const char *machine)
{
    if (!machine_text_is_simulated(machine))
        return "";
    const char *known = json_string_value(json_object_get(ids->models, machine));
    if (known)
        return known;
    json_t *facts = json_object();
    machine_record_model(facts, machine);
    json_object_set_new(ids->models, machine, json_string(field_text(facts, "model")));
    json_decref(facts);
    return field_text(ids->models, machine);
}

void cell_id_of(struct cell_ids *ids, const struct cell *cell, unsigned block,
                char id[CELL_BLOCK_ID_SIZE])
{
    struct sample_request request = sweep_request_cell(&ids->common, cell, block);
    char numbers[512];
    uint64_t hash = hash_text(ids->origin, request.variant);
    hash = hash_text(hash, request.workload);
    hash = hash_text(hash, request.machine);
    hash = hash_text(hash, machine_model(ids, request.machine));
    hash = hash_text(hash, request.events);
    hash = hash_text(hash, cell->side ? cell->side->name : NULL);
    hash = hash_text(hash, cell->side ? cell->side->revision : NULL);
    snprintf(numbers, sizeof numbers,
             "workers %d seed %" PRIu64 " sim_seed %" PRIu64
             " repetition %u iterations %d warmup %d min_time %" PRId64
             " event_set %d pin %d stack %zu timeout %.3f steal %d injected %d",
             request.workers, request.seed, request.sim_seed, block, request.iterations,
             request.warmup, request.min_time_ns, request.event_set, request.pin,
             request.stack_bytes, request.timeout_s, request.steal_max_percent,
             request.injected_percent);
    hash = hash_text(hash, numbers);
    hash = (hash ^ (hash >> 32)) * UINT64_C(0x9e3779b97f4a7c15);
    snprintf(id, CELL_BLOCK_ID_SIZE, "%016" PRIx64, hash ^ (hash >> 29));
}

bool cell_id_is_valid(const char *text)
{
    return strlen(text) == CELL_BLOCK_ID_SIZE - 1 &&
           strspn(text, "0123456789abcdef") == CELL_BLOCK_ID_SIZE - 1;
}

bool cell_ids_each(struct cell_ids *ids, bool (*fn)(void *arg, struct cell *cell, unsigned block),
                   void *arg)
{
    struct plan *plan = ids->plan;
    size_t *order = xcalloc(plan->count + 1, sizeof *order);
    bool ok = true;
    for (unsigned block = 0; ok && block < ids->blocks; block++) {
        plan_shuffle(plan->count, ids->common.seed, block, order);
        for (size_t i = 0; ok && i < plan->count; i++)
            ok = fn(arg, &plan->cells[order[i]], block);
    }
    free(order);
    return ok;
}
