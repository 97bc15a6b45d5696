/* doctor_system.c - see doctor.h: how the kernel deals with memory, addresses and sleep, and what
 * there is room for. */
#include "harness/doctor/doctor_internal.h"

#include "harness/host/sysfs.h"
#include "harness/numbers/units.h"

#include <string.h>

enum { WORD_SIZE = 64, LINE_SIZE = 512 };

static const int64_t MIB = 1 << 20;

/* Addresses and pages ------------------------------------------------------------------------- */

/* Off is the worse one: then a layout that happens to suit one variant is in all its samples. */
static void look_at_aslr(struct look *look)
{
    static const char why[] = "addresses decide which data share a cache set; only chance averages "
                              "that out over samples";
    static const char path[] = "proc/sys/kernel/randomize_va_space";
    int64_t mode;
    if (!sysfs_number(look->root, &mode, "%s", path))
        look_unreadable(look, "aslr", why, path);
    else if (mode >= 2)
        look_add(look, "aslr", DOCTOR_OK, why, NULL, "on: every sample has addresses of its own");
    else
        look_add(look, "aslr", DOCTOR_NOTE, why, "sysctl -w kernel.randomize_va_space=2",
                 mode == 0 ? "off: all samples have the same addresses"
                           : "in part: all samples have the same heap addresses");
}

static void look_at_huge_pages(struct look *look)
{
    static const char why[] = "whether memory gets huge pages then depends on what is free, and a "
                              "kernel thread joins pages meanwhile";
    static const char path[] = "sys/kernel/mm/transparent_hugepage/enabled";
    char mode[WORD_SIZE];
    if (!sysfs_chosen(look->root, mode, sizeof mode, "%s", path))
        look_unreadable(look, "huge-pages", why, path);
    else if (strcmp(mode, "always") == 0)
        look_add(look, "huge-pages", DOCTOR_WARN, why,
                 "echo madvise > /sys/kernel/mm/transparent_hugepage/enabled", "always");
    else
        look_add(look, "huge-pages", DOCTOR_OK, why, NULL, "%s", mode);
}

static void look_at_numa(struct look *look)
{
    static const char why[] =
        "the kernel unmaps pages to see who uses them, and moves them between nodes";
    static const char nodes_path[] = "sys/devices/system/node/online";
    static const char path[] = "proc/sys/kernel/numa_balancing";
    hwloc_bitmap_t online = sysfs_cpus(look->root, "%s", nodes_path);
    int nodes = online ? hwloc_bitmap_weight(online) : 0;
    int64_t balancing;
    bool known = sysfs_number(look->root, &balancing, "%s", path);
    if (online)
        hwloc_bitmap_free(online);
    if (nodes == 1)
        look_add(look, "numa-balancing", DOCTOR_OK, why, NULL, "one memory node");
    else if (!known)
        look_unreadable(look, "numa-balancing", why, path);
    else if (balancing == 0)
        look_add(look, "numa-balancing", DOCTOR_OK, why, NULL, "off");
    else if (nodes == 0)
        look_unreadable(look, "numa-balancing", why, nodes_path);
    else
        look_add(look, "numa-balancing", DOCTOR_WARN, why, "sysctl -w kernel.numa_balancing=0",
                 "on, with %d memory nodes", nodes);
}

/* Room ---------------------------------------------------------------------------------------- */

static void look_at_memory(struct look *look)
{
    static const char why[] = "without it page faults wait for the kernel to free pages, or the "
                              "sample is killed";
    int64_t total, available;
    if (!sysfs_key(look->root, &total, "MemTotal", "proc/meminfo") || total <= 0 ||
        !sysfs_key(look->root, &available, "MemAvailable", "proc/meminfo")) {
        look_unreadable(look, "memory", why, "proc/meminfo");
        return;
    }
    enum doctor_level level = DOCTOR_OK;
    if (available < 1024 * MIB || available < total / 10)
        level = available < 256 * MIB ? DOCTOR_WARN : DOCTOR_NOTE;
    look_add(look, "memory", level, why, NULL, "%s of %s available",
             text_bytes((double)available).s, text_bytes((double)total).s);
}

/* Its size and use in KiB, over all devices; false if the list cannot be read. */
static bool swap_read(const char *root, long long *size, long long *used)
{
    char line[LINE_SIZE];
    FILE *file = tree_open(root, "proc/swaps");
    bool known = file && fgets(line, sizeof line, file) && strncmp(line, "Filename", 8) == 0;
    *size = *used = 0;
    while (known && fgets(line, sizeof line, file)) {
        long long one_size, one_used;
        known = sscanf(line, "%*s %*s %lld %lld", &one_size, &one_used) == 2;
        if (known) {
            *size += one_size;
            *used += one_used;
        }
    }
    if (file)
        fclose(file);
    return known;
}

static void look_at_swap(struct look *look)
{
    static const char why[] = "a page that was swapped out is milliseconds away";
    long long size, used;
    if (!swap_read(look->root, &size, &used))
        look_unreadable(look, "swap", why, "proc/swaps");
    else if (size == 0)
        look_add(look, "swap", DOCTOR_OK, why, NULL, "none");
    else
        look_add(look, "swap", used > 0 ? DOCTOR_WARN : DOCTOR_NOTE, why, "swapoff -a",
                 "%s of %s in use", text_bytes((double)used * 1024).s,
                 text_bytes((double)size * 1024).s);
}

static void look_at_disk(struct look *look)
{
    static const char why[] = "a run whose records do not fit ends there";
    const struct doctor_request *request = look->request;
    uint64_t bytes;
    int error = request->machine->disk_free(request->results, &bytes);
    if (error != 0) {
        look_add(look, "disk", DOCTOR_UNKNOWN, why, NULL, "cannot ask for the room of %s: %s",
                 request->results, strerror(-error));
        return;
    }
    enum doctor_level level = DOCTOR_OK;
    if (bytes < (uint64_t)(1024 * MIB))
        level = bytes < (uint64_t)(100 * MIB) ? DOCTOR_WARN : DOCTOR_NOTE;
    look_add(look, "disk", level, why, NULL, "%s free for %s", text_bytes((double)bytes).s,
             request->names ? request->results : "results");
}

/* Sleep --------------------------------------------------------------------------------------- */

static void look_at_timer_slack(struct look *look)
{
    static const char why[] = "sleeps and timeouts may end later by as much";
    static const char path[] = "proc/self/timerslack_ns";
    int64_t slack_ns;
    if (!sysfs_number(look->root, &slack_ns, "%s", path))
        look_unreadable(look, "timer-slack", why, path);
    else
        look_add(look, "timer-slack", slack_ns > 50000 ? DOCTOR_NOTE : DOCTOR_OK, why,
                 slack_ns > 50000 ? "echo 50000 > /proc/$$/timerslack_ns" : NULL, "%g us",
                 (double)slack_ns / 1000);
}

void look_at_system(struct look *look)
{
    look_at_aslr(look);
    look_at_huge_pages(look);
    look_at_numa(look);
    look_at_memory(look);
    look_at_swap(look);
    look_at_disk(look);
    look_at_timer_slack(look);
}
