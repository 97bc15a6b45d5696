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

enum { PATH_SIZE = 4096, LINE_SIZE = 4096 };

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

static void limit_take(struct limit *limit, uint64_t left, const char *name)
{
    if (left < limit->left)
        *limit = (struct limit){left, name};
}

static uint64_t minus(uint64_t a, uint64_t b)
{
    if (a == UINT64_MAX)
        return a;
    return a > b ? a - b : 0;
}

/* cgroups ------------------------------------------------------------------------------------- */

/* A group's directory at each level, from the process's own up to the mount point. Inside a
 * container the path may name a group above the mount; then only the mount point exists. */
static void each_cgroup(const char *mount, char *group,
                        void (*visit)(struct limit *limit, const char *directory),
                        struct limit *limit)
{
    char directory[PATH_SIZE];
    for (;;) {
        snprintf(directory, sizeof directory, "%s%s", mount, group);
        visit(limit, directory);
        char *slash = strrchr(group, '/');
        if (!slash)
            return;
        *slash = '\0';
    }
}

/* Visits the groups of the hierarchy that has `controller`: version 1's, and version 2's. */
static void each_group_of(const char *controller,
                          void (*visit)(struct limit *limit, const char *directory),
                          struct limit *limit)
{
    FILE *file = fopen("/proc/self/cgroup", "re");
    char line[LINE_SIZE], mount[PATH_SIZE];
    if (!file)
        return;
    while (fgets(line, sizeof line, file)) {
        line[strcspn(line, "\n")] = '\0';
        char *controllers = strchr(line, ':');
        char *group = controllers ? strchr(controllers + 1, ':') : NULL;
        if (!group)
            continue;
        *group++ = '\0';
        controllers++;
        snprintf(mount, sizeof mount, "/sys/fs/cgroup%s%s", *controllers ? "/" : "", controllers);
        if (*controllers == '\0' || strcmp(controllers, controller) == 0)
            each_cgroup(mount, group, visit, limit);
    }
    fclose(file);
}

static uint64_t read_in(const char *directory, const char *name, uint64_t def)
{
    char path[PATH_SIZE + 64];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    return limits_read_number(path, def);
}

static uint64_t read_stat_in(const char *directory, const char *key)
{
    char path[PATH_SIZE + 64];
    snprintf(path, sizeof path, "%s/memory.stat", directory);
    return limits_read_key(path, key, 0);
}

/* Clean file pages count as used, but the kernel gives them up first. */
static void visit_memory(struct limit *limit, const char *directory)
{
    uint64_t most = read_in(directory, "memory.max", UINT64_MAX);
    uint64_t used = read_in(directory, "memory.current", 0);
    limit_take(limit, minus(most, minus(used, read_stat_in(directory, "inactive_file"))),
               "the cgroup's memory.max");
    most = read_in(directory, "memory.limit_in_bytes", UINT64_MAX);
    used = read_in(directory, "memory.usage_in_bytes", 0);
    limit_take(limit, minus(most, minus(used, read_stat_in(directory, "total_inactive_file"))),
               "the cgroup's memory.limit_in_bytes");
}

static void visit_pids(struct limit *limit, const char *directory)
{
    uint64_t most = read_in(directory, "pids.max", UINT64_MAX);
    limit_take(limit, minus(most, read_in(directory, "pids.current", 0)), "the cgroup's pids.max");
}

/* ------------------------------------------------------------------------------------------- */

struct limit limits_memory(void)
{
    struct limit limit = {limits_read_key("/proc/meminfo", "MemAvailable", UINT64_MAX),
                          "the available memory"};
    each_group_of("memory", visit_memory, &limit);
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
    struct limit limit = {UINT64_MAX, "nothing"};
    struct rlimit processes;
    uint64_t now = threads_now();
    limit_take(&limit, minus(limits_read_number("/proc/sys/kernel/threads-max", UINT64_MAX), now),
               "kernel.threads-max");
    limit_take(&limit, minus(limits_read_number("/proc/sys/kernel/pid_max", UINT64_MAX), now),
               "kernel.pid_max");
    /* a thread's stack and its guard are two mappings */
    limit_take(&limit, limits_read_number("/proc/sys/vm/max_map_count", UINT64_MAX) / 2,
               "vm.max_map_count");
    if (geteuid() != 0 && getrlimit(RLIMIT_NPROC, &processes) == 0 &&
        processes.rlim_cur != RLIM_INFINITY)
        limit_take(&limit, minus(processes.rlim_cur, now), "RLIMIT_NPROC");
    each_group_of("pids", visit_pids, &limit);
    return limit;
}
