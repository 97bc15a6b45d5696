/* disturbance.c - see disturbance.h. */
#include "harness/host/disturbance.h"

#include "harness/host/limits.h"
#include "harness/host/sysfs.h"
#include "runtime/runtime.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

enum { STEAL_COLUMN = 8, PATH_SIZE = 512 }; /* user is column 1 */

/* user, nice, system, irq, softirq; a guest's time is in user */
static const int busy_columns[] = {1, 2, 3, 6, 7};

/* A sample is marked if others had a larger share of its cores than this, or than steal_max if that
 * is larger. Fewer ticks than these mark none: the kernel samples, and may put a tick down wrongly.
 */
enum { OTHERS_MAX_PERCENT = 10, OTHERS_TICKS_MIN = 4 };

/* Steal, and others --------------------------------------------------------------------------- */

/* The number in that column of the line "cpuN ..." that begins at line. */
static bool column_parse(const char *line, int column, uint64_t *value)
{
    const char *at = line + strcspn(line, " \n");
    for (int i = 0; i < column; i++) {
        if (*at != ' ')
            return false;
        char *end = NULL;
        *value = strtoull(at, &end, 10);
        if (end == at || !strchr(" \n", *end)) /* or the end of the text */
            return false;
        at = end;
    }
    return true;
}

static const char *line_of_cpu(const char *text, int cpu)
{
    char key[16];
    int length = snprintf(key, sizeof key, "cpu%d ", cpu);
    for (const char *line = text; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, key, (size_t)length) == 0)
            return line;
    }
    return NULL;
}

bool disturbance_parse_stat(const char *text, const int *cpus, int count, uint64_t *steal,
                            uint64_t *busy, struct error *why)
{
    *steal = *busy = 0;
    for (int i = 0; i < count; i++) {
        const char *line = line_of_cpu(text, cpus[i]);
        uint64_t value;
        if (!line)
            return error_set(why, "/proc/stat has no line of cpu%d", cpus[i]);
        if (!column_parse(line, STEAL_COLUMN, &value))
            return error_set(why, "/proc/stat has no steal column for cpu%d", cpus[i]);
        *steal += value;
        for (size_t c = 0; c < sizeof busy_columns / sizeof busy_columns[0]; c++)
            if (column_parse(line, busy_columns[c], &value))
                *busy += value;
    }
    return true;
}

/* True if the hypervisor has never told of any stolen time. The first line is that of all cores
 * together. */
static bool is_silent(const char *text, const char *root)
{
    uint64_t ticks;
    return strncmp(text, "cpu ", 4) == 0 && column_parse(text, STEAL_COLUMN, &ticks) &&
           ticks == 0 && sysfs_is_virtual(root);
}

static void own_read(struct disturbance *now)
{
    struct timespec time;
    struct rusage self, children;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    getrusage(RUSAGE_SELF, &self);
    getrusage(RUSAGE_CHILDREN, &children);
    now->own_ns = (time.tv_sec + children.ru_utime.tv_sec + children.ru_stime.tv_sec) * 1000000000 +
                  time.tv_nsec + (children.ru_utime.tv_usec + children.ru_stime.tv_usec) * 1000;
    now->preemptions = self.ru_nivcsw + children.ru_nivcsw;
}

static void stat_read(struct disturbance *now, const char *root, const int *cpus, int count)
{
    char path[PATH_SIZE];
    struct error absent = {0};
    snprintf(path, sizeof path, "%s/proc/stat", root);
    FILE *from = fopen(path, "re");
    char *text = NULL;
    size_t capacity = 0;
    if (from && getdelim(&text, &capacity, '\0', from) > 0)
        now->steal_silent = disturbance_parse_stat(text, cpus, count, &now->steal_ticks,
                                                   &now->busy_ticks, &absent) &&
                            is_silent(text, root);
    else
        error_print(&absent, "/proc/stat cannot be read");
    snprintf(now->steal_absent, sizeof now->steal_absent, "%.100s", absent.text);
    if (from)
        fclose(from);
    free(text);
}

/* Throttling ---------------------------------------------------------------------------------- */

static uint64_t throttle_count(const char *root, int cpu, const char *of, uint64_t def)
{
    char path[PATH_SIZE];
    snprintf(path, sizeof path,
             "%s/sys/devices/system/cpu/cpu%d/thermal_throttle/%s_throttle_count", root, cpu, of);
    return limits_read_number(path, def);
}

static void throttle_read(struct disturbance *now, const char *root, const int *cpus, int count)
{
    for (int i = 0; i < count; i++) {
        uint64_t core = throttle_count(root, cpus[i], "core", UINT64_MAX);
        if (core == UINT64_MAX) {
            snprintf(now->throttle_absent, sizeof now->throttle_absent,
                     "the kernel shows no thermal_throttle for cpu%d", cpus[i]);
            return;
        }
        now->throttles += core + throttle_count(root, cpus[i], "package", 0);
    }
}

void disturbance_read(struct disturbance *now, const char *root, const int *cpus, int count)
{
    memset(now, 0, sizeof *now);
    now->time_ns = go_now();
    own_read(now);
    stat_read(now, root, cpus, count);
    throttle_read(now, root, cpus, count);
}

/* Records ------------------------------------------------------------------------------------- */

static json_t *absent(const char *before, const char *after)
{
    return json_pack("{ss}", "absent", *before ? before : after);
}

/* Share of the cores' time that was stolen, 0..1. The result is 1 at most, since a tick that began
 * before the sample may count. */
static double steal_share(const struct disturbance *before, const struct disturbance *after,
                          int count)
{
    double stolen =
        (double)(after->steal_ticks - before->steal_ticks) / (double)sysconf(_SC_CLK_TCK);
    double had = (double)(after->time_ns - before->time_ns) / 1e9 * count;
    if (after->steal_ticks <= before->steal_ticks)
        return 0; /* some kernels let the column run backwards */
    return had > stolen ? stolen / had : 1;
}

/* Ticks that programs other than this one had. */
static double others_ticks(const struct disturbance *before, const struct disturbance *after)
{
    double own = (double)(after->own_ns - before->own_ns) / 1e9 * (double)sysconf(_SC_CLK_TCK);
    double busy = after->busy_ticks > before->busy_ticks
                      ? (double)(after->busy_ticks - before->busy_ticks)
                      : 0;
    return busy > own ? busy - own : 0;
}

/* Adds others_share; whether the sample is to be marked. */
static bool others_record(json_t *record, const struct disturbance *before,
                          const struct disturbance *after, int count, int steal_max_percent)
{
    int most = steal_max_percent > OTHERS_MAX_PERCENT ? steal_max_percent : OTHERS_MAX_PERCENT;
    if (*before->steal_absent || *after->steal_absent) { /* they have one source */
        json_object_set_new(record, "others_share",
                            absent(before->steal_absent, after->steal_absent));
        return false;
    }
    double others = others_ticks(before, after);
    double had =
        (double)(after->time_ns - before->time_ns) / 1e9 * count * (double)sysconf(_SC_CLK_TCK);
    double share = had > others ? others / had : 1;
    json_object_set_new(record, "others_share", json_real(share));
    return share * 100 > most && others >= OTHERS_TICKS_MIN;
}

void disturbance_record_own(json_t *record, const struct disturbance *before,
                            const struct disturbance *after, int count)
{
    double had_ns = (double)(after->time_ns - before->time_ns);
    json_object_set_new(record, "cpu_share",
                        json_real((double)(after->own_ns - before->own_ns) / (had_ns * count)));
    json_object_set_new(
        record, "preempted_per_s",
        json_real((double)(after->preemptions - before->preemptions) / (had_ns / 1e9)));
}

void disturbance_record(json_t *record, const struct disturbance *before,
                        const struct disturbance *after, int count, int steal_max_percent)
{
    json_t *marks = json_array();
    if (*before->steal_absent || *after->steal_absent) {
        json_object_set_new(record, "steal_share",
                            absent(before->steal_absent, after->steal_absent));
    } else if (after->steal_silent) {
        json_object_set_new(record, "steal_share",
                            absent("not known: none since the boot, and some hypervisors never "
                                   "tell",
                                   ""));
    } else {
        double share = steal_share(before, after, count);
        json_object_set_new(record, "steal_share", json_real(share));
        if (share * 100 > steal_max_percent)
            json_array_append_new(marks, json_string("steal"));
    }
    if (others_record(record, before, after, count, steal_max_percent))
        json_array_append_new(marks, json_string("others"));
    if (*before->throttle_absent || *after->throttle_absent) {
        json_object_set_new(record, "throttled",
                            absent(before->throttle_absent, after->throttle_absent));
    } else {
        uint64_t events = after->throttles - before->throttles;
        json_object_set_new(record, "throttled", json_integer((json_int_t)events));
        if (events > 0)
            json_array_append_new(marks, json_string("throttle"));
    }
    if (json_array_size(marks) > 0)
        json_object_set(record, "marks", marks);
    json_decref(marks);
}
