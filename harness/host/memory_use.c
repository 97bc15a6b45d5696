/* memory_use.c - see memory_use.h. */
#include "harness/host/memory_use.h"

#include "harness/host/sysfs.h"

#include <stdio.h>

static bool status_bytes(const char *key, int64_t *bytes)
{
    return sysfs_key("", bytes, key, "proc/self/status");
}

/* 5: the peak of resident memory falls to what there is now; see proc(5). */
static bool peak_forget(void)
{
    FILE *file = fopen("/proc/self/clear_refs", "we");
    if (!file)
        return false;
    bool ok = fputs("5", file) >= 0;
    return fclose(file) == 0 && ok;
}

const char *memory_use_start(int64_t *now)
{
    int64_t resident, tables;
    if (!peak_forget())
        return "/proc/self/clear_refs cannot be written, so that no peak begins";
    if (!status_bytes("VmRSS", &resident) || !status_bytes("VmPTE", &tables))
        return "/proc/self/status has no VmRSS or no VmPTE";
    *now = resident + tables;
    return NULL;
}

bool memory_use_peak(int64_t *most)
{
    int64_t resident, tables;
    if (!status_bytes("VmHWM", &resident) || !status_bytes("VmPTE", &tables))
        return false;
    *most = resident + tables;
    return true;
}
