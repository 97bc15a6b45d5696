/* why.c - see why.h. */
#include "harness/why.h"

#if defined(SCHEDLAB_SIM)
#include "harness/source_line.h"
#include "machine/sim/cache.h"

#include <stdlib.h>
#include <string.h>

static const char *const depth_names[CACHE_DEPTHS] = {"l1", "l2", "l3"};
static const char *const kind_names[CACHE_KINDS] = {
    [CACHE_COLD] = "cold",
    [CACHE_CAPACITY] = "capacity",
    [CACHE_CONFLICT] = "conflict",
    [CACHE_TRUE] = "true_sharing",
    [CACHE_FALSE] = "false_sharing",
};

void why_count(bool counted)
{
    cache_tallies_run(counted);
}

static double ns_of(uint64_t ps)
{
    return (double)ps / PS_PER_NS;
}

/* Structures ---------------------------------------------------------------------------------- */

static json_t *kinds_to_json(const uint64_t misses[CACHE_KINDS])
{
    json_t *kinds = json_object();
    for (int kind = 0; kind < CACHE_KINDS; kind++)
        if (misses[kind])
            json_object_set_new(kinds, kind_names[kind], json_integer((json_int_t)misses[kind]));
    return kinds;
}

static json_t *structure_to_json(const struct cache_site *site, uint64_t ops)
{
    const struct cache_tally *tally = &site->tally;
    json_t *misses = json_object();
    for (int depth = 0; depth < CACHE_DEPTHS; depth++) {
        json_t *kinds = kinds_to_json(tally->misses[depth]);
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

static json_t *site_to_json(struct source_lines *lines, const struct cache_site *site)
{
    struct source_line at;
    json_t *misses = json_object();
    source_line_find(lines, site->pc - 1, &at); /* pc is where the call of the hook returns to */
    for (int depth = 0; depth < CACHE_DEPTHS; depth++) {
        uint64_t n = sum_of(site->tally.misses[depth]);
        if (n)
            json_object_set_new(misses, depth_names[depth], json_integer((json_int_t)n));
    }
    return json_pack("{ss ss si ss so sf}", "function", at.function, "file", at.file, "line",
                     at.line, "structure", cache_name_text(site->name), "misses", misses,
                     "stall_ns", ns_of(site->tally.stall_ps));
}

static json_t *sites_to_json(void)
{
    struct cache_site *sites;
    size_t count = cache_sites(CACHE_BY_PC, &sites);
    struct source_lines *lines = source_lines_open();
    json_t *array = json_array();
    for (size_t i = 0; i < count && i < WHY_SITES; i++)
        json_array_append_new(array, site_to_json(lines, &sites[i]));
    source_lines_close(lines);
    free(sites);
    return array;
}

void why_record(json_t *record, uint64_t ops)
{
    json_object_set_new(record, "structures", structures_to_json(ops));
    json_object_set_new(record, "sites", sites_to_json());
}
#else
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
