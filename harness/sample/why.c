/* why.c - see why.h. */
#include "harness/sample/why.h"

#if defined(SCHEDLAB_SIM)
#include "harness/base/memory.h"
#include "harness/sample/source_line.h"
#include "machine/sim/cache.h"
#include "machine/sim/sim.h"
#include "machine/sim/waste.h"
#include "workloads/histogram.h"

#include <stdlib.h>
#include <string.h>

enum { PCS_MAX = 4 * WHY_SITES }; /* several of them are one line */

static const char *const depth_names[CACHE_DEPTHS] = {"l1", "l2", "l3"};
static const char *const kind_names[CACHE_KINDS] = {
    [CACHE_COLD] = "cold",         [CACHE_CAPACITY] = "capacity",   [CACHE_CONFLICT] = "conflict",
    [CACHE_TRUE] = "true_sharing", [CACHE_FALSE] = "false_sharing",
};

static struct source_lines *lines; /* of this program; NULL: not opened, or they cannot be read */

void why_prepare(void)
{
    lines = source_lines_open();
    source_lines_read(lines);
}

static struct histogram waits;

static void on_wait(int64_t ps)
{
    histogram_record(&waits, ps / PS_PER_NS);
}

static const struct {
    const char *name;
    enum sim_counted which;
} core_times[] = {{"busy_ns", SIM_BUSY_PS}, {"spin_ns", SIM_SPIN_PS}, {"wasted_ns", SIM_WASTED_PS}};

enum { CORE_TIMES = sizeof core_times / sizeof core_times[0] };

static int64_t core_ps[CORE_TIMES]; /* of counted sections; between these less what it was before */
static int64_t elapsed;             /* likewise */

/* sign: -1 at the start of a counted section, 1 at its end. */
static void core_times_add(int sign)
{
    elapsed += sign * sim_now();
    for (int i = 0; i < CORE_TIMES; i++)
        core_ps[i] += sign * sim_counted(-1, core_times[i].which);
}

static json_t *core_times_to_json(void)
{
    json_t *object = json_pack("{sI}", "elapsed_ns", (json_int_t)(elapsed / PS_PER_NS));
    for (int i = 0; i < CORE_TIMES; i++)
        json_object_set_new(object, core_times[i].name,
                            json_integer((json_int_t)(core_ps[i] / PS_PER_NS)));
    return object;
}

void why_count(bool counted)
{
    static bool before;
    if (counted != before)
        core_times_add(counted ? -1 : 1);
    before = counted;
    cache_tallies_run(counted);
    sim_waste_on_wait(counted ? on_wait : NULL);
}

static json_t *waits_to_json(void)
{
    return json_pack("{sI sI sI sI}", "count", (json_int_t)histogram_count(&waits), "p50_ns",
                     (json_int_t)histogram_percentile(&waits, 50), "p99_ns",
                     (json_int_t)histogram_percentile(&waits, 99), "longest_ns",
                     (json_int_t)waits.max_ns);
}

static double ns_of(uint64_t ps)
{
    return (double)ps / PS_PER_NS;
}

/* Structures ---------------------------------------------------------------------------------- */

/* By their names; a count of 0 is left out. */
static json_t *counts_to_json(const char *const *names, const uint64_t *counts, int count)
{
    json_t *object = json_object();
    for (int i = 0; i < count; i++)
        if (counts[i])
            json_object_set_new(object, names[i], json_integer((json_int_t)counts[i]));
    return object;
}

static json_t *structure_to_json(const struct cache_site *site, uint64_t ops)
{
    const struct cache_tally *tally = &site->tally;
    json_t *misses = json_object();
    for (int depth = 0; depth < CACHE_DEPTHS; depth++) {
        json_t *kinds = counts_to_json(kind_names, tally->misses[depth], CACHE_KINDS);
        if (json_object_size(kinds) > 0)
            json_object_set(misses, depth_names[depth], kinds);
        json_decref(kinds);
    }
    double ns = ns_of(tally->stall_ps);
    return json_pack("{ss so sI sf sf}", "name", cache_name_text(site->name), "misses", misses,
                     "upgrades", (json_int_t)tally->upgrades, "stall_ns", ns, "stall_ns_per_op",
                     ops > 0 ? ns / (double)ops : 0.0);
}

static json_t *structures_to_json(uint64_t ops)
{
    struct cache_site *sites;
    size_t count = cache_sites(CACHE_BY_NAME, &sites);
    json_t *array = json_array();
    for (size_t i = 0; i < count; i++)
        json_array_append_new(array, structure_to_json(&sites[i], ops));
    free(sites);
    return array;
}

/* Lines of the source -------------------------------------------------------------------------- */

static uint64_t sum_of(const uint64_t misses[CACHE_KINDS])
{
    uint64_t sum = 0;
    for (int kind = 0; kind < CACHE_KINDS; kind++)
        sum += misses[kind];
    return sum;
}

/* A line of the source at one structure: of one or more instructions. */
struct place {
    struct source_line at;
    const char *structure;
    uint64_t misses[CACHE_DEPTHS], stall_ps;
};

static bool place_is(const struct place *place, const struct place *other)
{
    return place->at.line == other->at.line && strcmp(place->at.file, other->at.file) == 0 &&
           strcmp(place->at.function, other->at.function) == 0 &&
           strcmp(place->at.inside, other->at.inside) == 0 &&
           strcmp(place->structure, other->structure) == 0;
}

static void place_add(struct place *places, size_t *count, const struct place *more)
{
    size_t i = 0;
    while (i < *count && !place_is(&places[i], more))
        i++;
    if (i == *count) {
        places[(*count)++] = *more;
        return;
    }
    for (int depth = 0; depth < CACHE_DEPTHS; depth++)
        places[i].misses[depth] += more->misses[depth];
    places[i].stall_ps += more->stall_ps;
}

/* The most stalled first, then in the order in which they were found, which is that of pcs. */
static void places_sort(struct place *places, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        struct place place = places[i];
        size_t k = i;
        for (; k > 0 && places[k - 1].stall_ps < place.stall_ps; k--)
            places[k] = places[k - 1];
        places[k] = place;
    }
}

static size_t places_find(struct place places[PCS_MAX])
{
    struct cache_site *sites;
    size_t count = 0, pcs = cache_sites(CACHE_BY_PC, &sites);
    if (!lines)
        lines = source_lines_open();
    for (size_t i = 0; i < pcs && i < PCS_MAX; i++) {
        struct place place = {.structure = cache_name_text(sites[i].name),
                              .stall_ps = sites[i].tally.stall_ps};
        for (int depth = 0; depth < CACHE_DEPTHS; depth++)
            place.misses[depth] = sum_of(sites[i].tally.misses[depth]);
        /* pc is where the call of the hook returns to */
        source_line_find(lines, sites[i].pc - 1, &place.at);
        place_add(places, &count, &place);
    }
    free(sites);
    places_sort(places, count);
    return count;
}

static json_t *place_to_json(const struct place *place)
{
    json_t *misses = counts_to_json(depth_names, place->misses, CACHE_DEPTHS);
    json_t *site = json_pack("{ss ss si ss so sf}", "function", place->at.function, "file",
                             place->at.file, "line", place->at.line, "structure", place->structure,
                             "misses", misses, "stall_ns", ns_of(place->stall_ps));
    if (*place->at.inside)
        json_object_set_new(site, "inlined_into", json_string(place->at.inside));
    return site;
}

static json_t *sites_to_json(void)
{
    struct place *places = xcalloc(PCS_MAX, sizeof *places);
    size_t count = places_find(places);
    json_t *array = json_array();
    for (size_t i = 0; i < count && i < WHY_SITES; i++)
        json_array_append_new(array, place_to_json(&places[i]));
    free(places);
    return array;
}

void why_record(json_t *record, uint64_t ops)
{
    json_object_set_new(record, "structures", structures_to_json(ops));
    json_object_set_new(record, "sites", sites_to_json());
    json_object_set_new(record, "core_time", core_times_to_json());
    json_object_set_new(record, "waits", waits_to_json());
}
#else
void why_prepare(void)
{
}

void why_count(bool counted)
{
    (void)counted;
}

void why_record(json_t *record, uint64_t ops)
{
    (void)record;
    (void)ops;
}
#endif
