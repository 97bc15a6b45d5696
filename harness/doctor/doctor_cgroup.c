/* doctor_cgroup.c - see doctor.h: what the process's control groups, of both versions, withhold.
 *
 * A limit holds for all groups below, so each group from the process's own up to the root is read.
 * Inside a container the path may name groups above the mount; those do not exist here.
 */
#include "harness/doctor/doctor_internal.h"

#include "harness/base/units.h"
#include "harness/host/sysfs.h"

#include <string.h>

enum { LINE_SIZE = 4096, GROUP_SIZE = 2048 };

struct quota {
    double cores;         /* the smallest of all levels; 0: none */
    char file[LINE_SIZE]; /* that sets it, without the root */
    const char *lift;     /* what to write into it */
    int64_t throttled;    /* times, by all levels; below 0: not shown */
    int64_t memory_limit; /* the smallest; below 0: none */
    int64_t memory_left;  /* under it */
    bool known;           /* the groups could be read */
};

static void quota_take(struct quota *quota, double cores, const char *lift, const char *file)
{
    if (quota->cores > 0 && quota->cores <= cores)
        return;
    quota->cores = cores;
    quota->lift = lift;
    snprintf(quota->file, sizeof quota->file, "%s", file);
}

/* One group: directory is below the root. */
static void group_read_cpu(struct quota *quota, const char *root, const char *directory)
{
    char text[64], file[LINE_SIZE];
    int64_t quota_us, period_us, throttled;
    if (sysfs_text(root, text, sizeof text, "%s/cpu.max", directory)) {
        long long allowed, period;
        snprintf(file, sizeof file, "%.*s/cpu.max", GROUP_SIZE, directory);
        if (sscanf(text, "%lld %lld", &allowed, &period) == 2 && allowed > 0 && period > 0)
            quota_take(quota, (double)allowed / (double)period, "max", file);
    }
    if (sysfs_number(root, &quota_us, "%s/cpu.cfs_quota_us", directory) && quota_us > 0 &&
        sysfs_number(root, &period_us, "%s/cpu.cfs_period_us", directory) && period_us > 0) {
        snprintf(file, sizeof file, "%.*s/cpu.cfs_quota_us", GROUP_SIZE, directory);
        quota_take(quota, (double)quota_us / (double)period_us, "-1", file);
    }
    if (sysfs_key(root, &throttled, "nr_throttled", "%s/cpu.stat", directory))
        quota->throttled = (quota->throttled < 0 ? 0 : quota->throttled) + throttled;
}

static void group_read_memory(struct quota *quota, const char *root, const char *directory)
{
    static const char *const files[][3] = {
        {"memory.max", "memory.current", "inactive_file"},
        {"memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"},
    };
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        int64_t most, used, clean;
        if (!sysfs_number(root, &most, "%s/%s", directory, files[i][0]) ||
            !sysfs_number(root, &used, "%s/%s", directory, files[i][1]))
            continue;
        /* clean file pages count as used, but are given up first */
        if (sysfs_key(root, &clean, files[i][2], "%s/memory.stat", directory))
            used -= clean;
        int64_t left = most > used ? most - used : 0;
        if (quota->memory_limit >= 0 && quota->memory_left <= left)
            continue;
        quota->memory_limit = most;
        quota->memory_left = left;
    }
}

/* `group` is cut off level by level. */
static void groups_read(struct quota *quota, const char *root, const char *mount, char *group)
{
    char directory[GROUP_SIZE];
    for (;;) {
        int length = snprintf(directory, sizeof directory, "%s%s", mount,
                              strcmp(group, "/") == 0 ? "" : group);
        if (length < (int)sizeof directory) {
            group_read_cpu(quota, root, directory);
            group_read_memory(quota, root, directory);
        }
        char *slash = strrchr(group, '/');
        if (!slash || strcmp(group, "/") == 0)
            return;
        slash[slash == group] = '\0';
    }
}

static bool list_has(const char *list, const char *word)
{
    size_t length = strlen(word);
    for (const char *at = list; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL)
        if (strncmp(at, word, length) == 0 && (at[length] == ',' || at[length] == '\0'))
            return true;
    return false;
}

/* A line is "number:controllers:group", without controllers in version 2. */
static void line_read(struct quota *quota, const char *root, char *line)
{
    char mount[GROUP_SIZE / 2];
    line[strcspn(line, "\n")] = '\0';
    char *controllers = strchr(line, ':');
    char *group = controllers ? strchr(controllers + 1, ':') : NULL;
    if (!group || group[1] != '/')
        return;
    *group++ = '\0';
    controllers++;
    quota->known = true;
    if (*controllers && !list_has(controllers, "cpu") && !list_has(controllers, "memory"))
        return;
    snprintf(mount, sizeof mount, "sys/fs/cgroup%s%.256s", *controllers ? "/" : "", controllers);
    groups_read(quota, root, mount, group);
}

static void look_at_quota(struct look *look, const struct quota *quota)
{
    static const char why[] = "when the quota of a period is used up, all workers stop until the "
                              "next one";
    int usable = look->request->cpus_count;
    char throttled[64] = "", change[LINE_SIZE];
    if (quota->throttled > 0)
        snprintf(throttled, sizeof throttled, ", throttled %lld times so far",
                 (long long)quota->throttled);
    if (!quota->known) {
        look_unreadable(look, "quota", why, "proc/self/cgroup");
        return;
    }
    if (quota->cores == 0) {
        look_add(look, "quota", DOCTOR_OK, why, NULL, "none");
        return;
    }
    snprintf(change, sizeof change, "echo %s > /%.*s", quota->lift, GROUP_SIZE, quota->file);
    look_add(look, "quota", quota->cores < usable ? DOCTOR_WARN : DOCTOR_NOTE, why, change,
             "%.2f cores a period for %d usable ones%s", quota->cores, usable, throttled);
}

static void look_at_memory_limit(struct look *look, const struct quota *quota)
{
    static const char why[] = "the kernel kills a sample that goes beyond";
    const double least = (double)(1 << 30);
    if (!quota->known)
        look_unreadable(look, "memory-limit", why, "proc/self/cgroup");
    else if (quota->memory_limit < 0 || quota->memory_limit >= INT64_MAX / 2)
        look_add(look, "memory-limit", DOCTOR_OK, why, NULL, "none");
    else
        look_add(look, "memory-limit", (double)quota->memory_left < least ? DOCTOR_NOTE : DOCTOR_OK,
                 why, NULL, "%s left of the %s of the control group",
                 text_bytes((double)quota->memory_left).s,
                 text_bytes((double)quota->memory_limit).s);
}

void look_at_cgroup(struct look *look)
{
    struct quota quota = {.throttled = -1, .memory_limit = -1};
    char line[LINE_SIZE];
    FILE *file = tree_open(look->root, "proc/self/cgroup");
    while (file && fgets(line, sizeof line, file))
        line_read(&quota, look->root, line);
    if (file)
        fclose(file);
    look_at_quota(look, &quota);
    look_at_memory_limit(look, &quota);
}
