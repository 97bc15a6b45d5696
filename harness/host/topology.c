/* topology.c - see topology.h. */
#include "harness/host/topology.h"

#include "harness/base/memory.h"

#include <hwloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The machine as far as the cgroup allows it; NULL if hwloc cannot tell, or was not asked yet. */
static hwloc_topology_t machine;
static bool was_read;

void topology_forget(void)
{
    if (machine)
        hwloc_topology_destroy(machine);
    machine = NULL;
    was_read = false;
}

/* hwloc would tell on standard error what it misses, as in containers without /sys; a line there
 * means a fault. */
static hwloc_topology_t machine_topology(void)
{
    if (was_read)
        return machine;
    was_read = true;
    setenv("HWLOC_HIDE_ERRORS", "2", 0);
    if (hwloc_topology_init(&machine) != 0)
        return machine = NULL;
    hwloc_topology_set_cache_types_filter(machine, HWLOC_TYPE_FILTER_KEEP_ALL);
    if (hwloc_topology_load(machine) != 0) {
        hwloc_topology_destroy(machine);
        machine = NULL;
    }
    return machine;
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
    hwloc_topology_t topology = machine_topology();
    if (!topology)
        return 1;
    hwloc_cpuset_t usable = usable_set(topology);
    int count = hwloc_bitmap_weight(usable);
    hwloc_bitmap_free(usable);
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
    hwloc_topology_t topology = machine_topology();
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

/* Some hypervisors pad the name with blanks. */
static char *cpu_model(hwloc_topology_t topology, char *text, size_t text_size)
{
    hwloc_obj_t package = topology ? hwloc_get_obj_by_type(topology, HWLOC_OBJ_PACKAGE, 0) : NULL;
    const char *model = package ? hwloc_obj_get_info_by_name(package, "CPUModel") : NULL;
    snprintf(text, text_size, "%s", model ? model : "unknown");
    for (size_t length = strlen(text); length > 0 && text[length - 1] == ' ';)
        text[--length] = '\0';
    return text;
}

json_t *topology_to_json(void)
{
    char model[128];
    hwloc_topology_t topology = machine_topology();
    if (!topology)
        return json_pack("{ss}", "absent", "hwloc cannot read this machine");
    hwloc_cpuset_t usable = usable_set(topology);
    int cores = hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_CORE);
    int threads = hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_PU);
    json_t *object = json_pack(
        "{ss si si si sb si si so}", "model", cpu_model(topology, model, sizeof model), "packages",
        hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_PACKAGE), "cores", cores, "threads", threads,
        "smt", threads > cores, "usable_threads", hwloc_bitmap_weight(usable), "numa_nodes",
        hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_NUMANODE), "caches", caches_to_json(topology));
    hwloc_bitmap_free(usable);
    return object;
}

/* Shape --------------------------------------------------------------------------------------- */

static hwloc_obj_t cache_of(hwloc_obj_t thread, int level)
{
    for (hwloc_obj_t at = thread; at; at = at->parent)
        if (hwloc_obj_type_is_dcache(at->type) && (int)at->attr->cache.depth == level)
            return at;
    return NULL;
}

static int threads_of(hwloc_obj_t object)
{
    return object ? hwloc_bitmap_weight(object->cpuset) : 0;
}

void topology_shape(struct topology_shape *shape)
{
    *shape = (struct topology_shape){.threads = 0};
    hwloc_topology_t topology = machine_topology();
    if (!topology)
        return;
    shape->threads = hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_PU);
    hwloc_obj_t thread = hwloc_get_obj_by_type(topology, HWLOC_OBJ_PU, 0);
    for (int level = 1; thread && level <= 3; level++) {
        hwloc_obj_t cache = cache_of(thread, level);
        if (!cache)
            continue;
        const char *inclusive = hwloc_obj_get_info_by_name(cache, "Inclusive");
        shape->cache[level - 1] = (struct topology_cache){
            .bytes = (int64_t)cache->attr->cache.size,
            .ways = cache->attr->cache.associativity,
            .inclusive = inclusive && *inclusive == '1',
        };
    }
    if (thread) {
        shape->smt = threads_of(hwloc_get_ancestor_obj_by_type(topology, HWLOC_OBJ_CORE, thread));
        shape->group = threads_of(cache_of(thread, 3));
        shape->socket =
            threads_of(hwloc_get_ancestor_obj_by_type(topology, HWLOC_OBJ_PACKAGE, thread));
    }
}

static int distance_of(hwloc_topology_t topology, int cpu_a, int cpu_b)
{
    hwloc_obj_t a = hwloc_get_pu_obj_by_os_index(topology, (unsigned)cpu_a);
    hwloc_obj_t b = hwloc_get_pu_obj_by_os_index(topology, (unsigned)cpu_b);
    if (!a || !b || a == b)
        return -1;
    hwloc_obj_t core = hwloc_get_ancestor_obj_by_type(topology, HWLOC_OBJ_CORE, a);
    if (core && core == hwloc_get_ancestor_obj_by_type(topology, HWLOC_OBJ_CORE, b))
        return -1;
    hwloc_obj_t l3 = cache_of(a, 3);
    if (l3 && l3 == cache_of(b, 3))
        return 0;
    return hwloc_get_ancestor_obj_by_type(topology, HWLOC_OBJ_PACKAGE, a) ==
                   hwloc_get_ancestor_obj_by_type(topology, HWLOC_OBJ_PACKAGE, b)
               ? 1
               : 2;
}

int topology_distance(int cpu_a, int cpu_b)
{
    hwloc_topology_t topology = machine_topology();
    return topology ? distance_of(topology, cpu_a, cpu_b) : -1;
}

int topology_groups(const int *cpus, int count, int32_t *groups)
{
    hwloc_topology_t topology = machine_topology();
    hwloc_obj_t *shared = xcalloc((size_t)count + 1, sizeof(hwloc_obj_t)); /* by group */
    int32_t known = 0;
    for (int i = 0; i < count; i++) {
        hwloc_obj_t cpu =
            topology ? hwloc_get_pu_obj_by_os_index(topology, (unsigned)cpus[i]) : NULL;
        hwloc_obj_t l3 = cpu ? cache_of(cpu, 3) : NULL;
        if (cpu && !l3)
            l3 = hwloc_get_ancestor_obj_by_type(topology, HWLOC_OBJ_PACKAGE, cpu);
        int32_t group = 0;
        while (group < known && shared[group] != l3)
            group++;
        shared[group] = l3;
        known = group == known ? known + 1 : known;
        groups[i] = group;
    }
    free(shared);
    return known;
}

bool topology_may_use(int cpu)
{
    hwloc_topology_t topology = machine_topology();
    if (!topology)
        return false;
    hwloc_cpuset_t usable = usable_set(topology);
    bool may = hwloc_bitmap_isset(usable, (unsigned)cpu);
    hwloc_bitmap_free(usable);
    return may;
}

char *topology_processor(char *text, size_t text_size)
{
    return cpu_model(machine_topology(), text, text_size);
}
