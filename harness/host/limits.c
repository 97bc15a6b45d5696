/* limits.c - see limits.h. */
#include "harness/host/limits.h"

#include "harness/host/sysfs.h"

#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum { LINE_SIZE = 4096 };

/* Files --------------------------------------------------------------------------------------- */

uint64_t limits_read_number(const char *path, uint64_t def)
{
    FILE *file = fopen(path, "re");
    char text[64];
    if (!file)
        return def;
    bool got = fgets(text, sizeof text, file) != NULL;
    fclose(file);
    if (got && strncmp(text, "max", 3) == 0)
        return UINT64_MAX;
    return got && isdigit((unsigned char)*text) ? strtoull(text, NULL, 10) : def;
}

uint64_t limits_read_key(const char *path, const char *key, uint64_t def)
{
    int64_t value;
    return sysfs_key("", &value, key, "%s", path) ? (uint64_t)value : def;
}

static uint64_t minus(uint64_t a, uint64_t b)
{
    if (a == UINT64_MAX)
        return a;
    return a > b ? a - b : 0;
}

static void limit_take(struct limit *limit, uint64_t most, uint64_t used, const char *name)
{
    uint64_t left = minus(most, used);
    if (left < limit->left)
        *limit = (struct limit){left, name, most};
}

/* cgroups ------------------------------------------------------------------------------------- */

bool limits_each_group(const char *root, group_visit *visit, void *arg)
{
    char line[LINE_SIZE], directory[2 * LINE_SIZE];
    bool known = false;
    FILE *file = tree_open(root, "proc/self/cgroup");
    while (file && fgets(line, sizeof line, file)) {
        line[strcspn(line, "\n")] = '\0';
        char *controllers = strchr(line, ':');
        char *group = controllers ? strchr(controllers + 1, ':') : NULL;
        if (!group || group[1] != '/')
            continue;
        *group++ = '\0';
        controllers++;
        known = true;
        if (!group[1])
            *group = '\0';
        for (char *end = group; end;) {
            snprintf(directory, sizeof directory, "sys/fs/cgroup%s%s%s", *controllers ? "/" : "",
                     controllers, group);
            visit(arg, root, directory);
            if ((end = strrchr(group, '/')))
                *end = '\0';
        }
    }
    if (file)
        fclose(file);
    return known;
}

void limits_take_memory(void *arg, const char *root, const char *directory)
{
    static const struct {
        const char *most, *used, *clean, *name;
    } files[] = {
        {"memory.max", "memory.current", "inactive_file", "the cgroup's memory.max"},
        {"memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file",
         "the cgroup's memory.limit_in_bytes"},
    };
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        int64_t most, used, clean = 0;
        if (!sysfs_number(root, &most, "%s/%s", directory, files[i].most) ||
            !sysfs_number(root, &used, "%s/%s", directory, files[i].used))
            continue;
        /* clean file pages count as used, but the kernel gives them up first */
        sysfs_key(root, &clean, files[i].clean, "%s/memory.stat", directory);
        limit_take(arg, (uint64_t)most, minus((uint64_t)used, (uint64_t)clean), files[i].name);
    }
}

static void take_threads(void *arg, const char *root, const char *directory)
{
    int64_t most, used;
    if (sysfs_number(root, &most, "%s/pids.max", directory) &&
        sysfs_number(root, &used, "%s/pids.current", directory))
        limit_take(arg, (uint64_t)most, (uint64_t)used, "the cgroup's pids.max");
}

/* ------------------------------------------------------------------------------------------- */

struct limit limits_memory(void)
{
    struct limit limit = {.left = limits_read_key("/proc/meminfo", "MemAvailable", UINT64_MAX),
                          .name = "the available memory"};
    limits_each_group("", limits_take_memory, &limit);
    return limit;
}

/* Threads of the whole machine: the number after the slash in /proc/loadavg. */
static uint64_t threads_now(void)
{
    FILE *file = fopen("/proc/loadavg", "re");
    char text[128];
    if (!file)
        return 0;
    const char *slash = fgets(text, sizeof text, file) ? strchr(text, '/') : NULL;
    uint64_t threads = slash ? strtoull(slash + 1, NULL, 10) : 0;
    fclose(file);
    return threads;
}

/* The kernel limits numbers: what lies above takes none of those allowed. */
struct limits_descriptors limits_descriptors(void)
{
    struct rlimit numbers;
    struct limits_descriptors limits = {0, UINT64_MAX};
    DIR *open = opendir("/proc/self/fd");
    if (getrlimit(RLIMIT_NOFILE, &numbers) == 0 && numbers.rlim_max != RLIM_INFINITY)
        limits.allowed = numbers.rlim_max;
    for (const struct dirent *entry; open && (entry = readdir(open)) != NULL;) {
        bool number = entry->d_name[0] >= '0' && entry->d_name[0] <= '9';
        uint64_t fd = strtoull(entry->d_name, NULL, 10);
        limits.open += number && fd < limits.allowed && fd != (uint64_t)dirfd(open);
    }
    if (open)
        closedir(open);
    return limits;
}

struct limit limits_threads(void)
{
    struct limit limit = {.left = UINT64_MAX, .name = "nothing"};
    struct rlimit processes;
    uint64_t now = threads_now();
    limit_take(&limit, limits_read_number("/proc/sys/kernel/threads-max", UINT64_MAX), now,
               "kernel.threads-max");
    limit_take(&limit, limits_read_number("/proc/sys/kernel/pid_max", UINT64_MAX), now,
               "kernel.pid_max");
    /* a thread's stack and its guard are two mappings */
    limit_take(&limit, limits_read_number("/proc/sys/vm/max_map_count", UINT64_MAX) / 2, 0,
               "vm.max_map_count");
    if (geteuid() != 0 && getrlimit(RLIMIT_NPROC, &processes) == 0 &&
        processes.rlim_cur != RLIM_INFINITY)
        limit_take(&limit, processes.rlim_cur, now, "RLIMIT_NPROC");
    limits_each_group("", take_threads, &limit);
    return limit;
}
