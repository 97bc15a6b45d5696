/* topology.c - see topology.h. */
#include "harness/topology.h"

#include <hwloc.h>
#include <stdlib.h>

/* The machine as far as the cgroup allows it; NULL if hwloc cannot tell. What hwloc misses, as in
 * containers without /sys, it would tell on standard error, where a line means a fault. */
static hwloc_topology_t topology_load(void)
{
    hwloc_topology_t topology;
    setenv("HWLOC_HIDE_ERRORS", "2", 0);
    if (hwloc_topology_init(&topology) != 0)
        return NULL;
    hwloc_topology_set_cache_types_filter(topology, HWLOC_TYPE_FILTER_KEEP_ALL);
    if (hwloc_topology_load(topology) != 0) {
        hwloc_topology_destroy(topology);
        return NULL;
    }
    return topology;
}

/* Narrowed by the process's affinity; to be freed. */
static hwloc_cpuset_t usable_set(hwloc_topology_t topology)
{
    hwloc_cpuset_t set = hwloc_bitmap_dup(hwloc_topology_get_topology_cpuset(topology));
    hwloc_cpuset_t bound = hwloc_bitmap_alloc();
    if (hwloc_get_cpubind(topology, bound, HWLOC_CPUBIND_PROCESS) == 0)
        hwloc_bitmap_and(set, set, bound);
    hwloc_bitmap_free(bound);
    return set;
}

int topology_cpu_count(void)
{
    hwloc_topology_t topology = topology_load();
    if (!topology)
        return 1;
    hwloc_cpuset_t usable = usable_set(topology);
    int count = hwloc_bitmap_weight(usable);
    hwloc_bitmap_free(usable);
    hwloc_topology_destroy(topology);
    return count > 0 ? count : 1;
}

bool topology_is_crowded(int64_t workers, int cores, bool pin, char *text, size_t text_size)
{
    snprintf(text, text_size,
             "%lld workers on %d core%s: they take turns%s, and numbers are of that too",
             (long long)workers, cores, cores == 1 ? "" : "s",
             pin ? ", several pinned to one core" : "");
    return workers > cores;
}

int topology_pick_cpus(int *cpus, int max)
{
    hwloc_topology_t topology = topology_load();
    int picked = 0;
    if (!topology)
        return 0;
    hwloc_cpuset_t left = usable_set(topology);
    while (picked < max && !hwloc_bitmap_iszero(left)) {
        hwloc_obj_t core = NULL;
        int before = picked;
        /* one thread of every core, then the next thread of every core */
        while (picked < max &&
               (core = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_CORE, core))) {
            hwloc_cpuset_t threads = hwloc_bitmap_dup(core->cpuset);
            hwloc_bitmap_and(threads, threads, left);
            int cpu = hwloc_bitmap_first(threads);
            hwloc_bitmap_free(threads);
            if (cpu < 0)
                continue;
            cpus[picked++] = cpu;
            hwloc_bitmap_clr(left, (unsigned)cpu);
        }
        /* some virtual machines show threads without cores */
        if (picked == before) {
            cpus[picked] = hwloc_bitmap_first(left);
            hwloc_bitmap_clr(left, (unsigned)cpus[picked++]);
        }
    }
    hwloc_bitmap_free(left);
    hwloc_topology_destroy(topology);
    return picked;
}

static const char *cache_kind(hwloc_obj_t cache)
{
    switch (cache->attr->cache.type) {
    case HWLOC_OBJ_CACHE_DATA:
        return "data";
    case HWLOC_OBJ_CACHE_INSTRUCTION:
        return "instruction";
    default:
        return "unified";
    }
}

/* The first cache of each kind; the others of a machine are rarely different. */
static json_t *caches_to_json(hwloc_topology_t topology)
{
    static const hwloc_obj_type_t kinds[] = {HWLOC_OBJ_L1CACHE, HWLOC_OBJ_L1ICACHE,
                                             HWLOC_OBJ_L2CACHE, HWLOC_OBJ_L3CACHE,
                                             HWLOC_OBJ_L4CACHE};
    json_t *array = json_array();
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        hwloc_obj_t cache = hwloc_get_obj_by_type(topology, kinds[i], 0);
        if (!cache)
            continue;
        json_array_append_new(
            array, json_pack("{si ss sI si si si}", "level", (int)cache->attr->cache.depth, "kind",
                             cache_kind(cache), "bytes", (json_int_t)cache->attr->cache.size,
                             "line_bytes", (int)cache->attr->cache.linesize, "count",
                             hwloc_get_nbobjs_by_type(topology, kinds[i]), "threads_each",
                             hwloc_bitmap_weight(cache->cpuset)));
    }
    return array;
}

static const char *cpu_model(hwloc_topology_t topology)
{
    hwloc_obj_t package = hwloc_get_obj_by_type(topology, HWLOC_OBJ_PACKAGE, 0);
    const char *model = package ? hwloc_obj_get_info_by_name(package, "CPUModel") : NULL;
    return model ? model : "unknown";
}

json_t *topology_to_json(void)
{
    hwloc_topology_t topology = topology_load();
    if (!topology)
        return json_pack("{ss}", "absent", "hwloc cannot read this machine");
    hwloc_cpuset_t usable = usable_set(topology);
    int cores = hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_CORE);
    int threads = hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_PU);
    json_t *object = json_pack(
        "{ss si si si sb si si so}", "model", cpu_model(topology), "packages",
        hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_PACKAGE), "cores", cores, "threads", threads,
        "smt", threads > cores, "usable_threads", hwloc_bitmap_weight(usable), "numa_nodes",
        hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_NUMANODE), "caches", caches_to_json(topology));
    hwloc_bitmap_free(usable);
    hwloc_topology_destroy(topology);
    return object;
}
