/* doctor_cgroup.c - see doctor.h: what the process's control groups, of both versions, withhold.
 *
 * A limit holds for all groups below, so each group from the process's own up to the root is read.
 * Inside a container the path may name groups above the mount; those do not exist here.
 */
#include "harness/doctor/doctor_internal.h"

#include "harness/host/limits.h"
#include "harness/host/sysfs.h"
#include "harness/numbers/units.h"

enum { LINE_SIZE = 4096, GROUP_SIZE = 2048 };

struct quota {
    double cores;         /* the smallest of all levels; 0: none */
    char file[LINE_SIZE]; /* that sets it, without the root */
    const char *lift;     /* what to write into it */
    int64_t throttled;    /* times, by all levels; below 0: not shown */
    struct limit memory;  /* that leaves least */
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

static void group_read(void *arg, const char *root, const char *directory)
{
    struct quota *quota = arg;
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
    limits_take_memory(&quota->memory, root, directory);
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
    else if (quota->memory.left == UINT64_MAX || quota->memory.most >= INT64_MAX / 2)
        look_add(look, "memory-limit", DOCTOR_OK, why, NULL, "none");
    else
        look_add(look, "memory-limit", (double)quota->memory.left < least ? DOCTOR_NOTE : DOCTOR_OK,
                 why, NULL, "%s left of the %s of the control group",
                 text_bytes((double)quota->memory.left).s,
                 text_bytes((double)quota->memory.most).s);
}

void look_at_cgroup(struct look *look)
{
    struct quota quota = {.throttled = -1, .memory = {.left = UINT64_MAX}};
    quota.known = limits_each_group(look->root, group_read, &quota);
    look_at_quota(look, &quota);
    look_at_memory_limit(look, &quota);
}
