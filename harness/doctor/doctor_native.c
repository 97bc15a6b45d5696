/* doctor_native.c - see doctor.h: how this machine is asked. */
#include "harness/doctor/doctor.h"

#include "harness/base/process.h"
#include "harness/doctor/environment.h"
#include "harness/host/probe.h"
#include "harness/host/topology.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { PATH_SIZE = 4096 };

static void native_wait_ms(int ms)
{
    struct timespec left = {ms / 1000, ms % 1000 * 1000000L};
    while (nanosleep(&left, &left) != 0 && errno == EINTR)
        ;
}

static int native_perf_open(enum doctor_perf what)
{
    struct perf_event_attr attr;
    memset(&attr, 0, sizeof attr);
    attr.size = sizeof attr;
    attr.type = what == DOCTOR_PERF_HARDWARE ? PERF_TYPE_HARDWARE : PERF_TYPE_SOFTWARE;
    attr.config = what == DOCTOR_PERF_HARDWARE ? (uint64_t)PERF_COUNT_HW_CPU_CYCLES
                                               : (uint64_t)PERF_COUNT_SW_TASK_CLOCK;
    attr.exclude_kernel = attr.exclude_hv = 1;
    long fd = syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
    if (fd < 0)
        return -errno;
    close((int)fd);
    return 0;
}

/* The folder itself need not be there yet: the nearest one above it is asked. */
static int native_disk_free(const char *folder, uint64_t *bytes)
{
    char path[PATH_SIZE];
    struct statvfs room;
    if ((size_t)snprintf(path, sizeof path, "%s", folder) >= sizeof path)
        return -ENAMETOOLONG;
    while (statvfs(*path ? path : ".", &room) != 0) {
        if (errno != ENOENT || !*path || strcmp(path, "/") == 0)
            return -errno;
        char *slash = strrchr(path, '/');
        if (!slash)
            *path = '\0';
        else
            slash[slash == path] = '\0';
    }
    *bytes = (uint64_t)room.f_bavail * room.f_frsize;
    return 0;
}

const struct doctor_machine doctor_machine_native = {
    .root = "",
    .papi = &papi_api_native,
    .describe = environment_counting_of,
    .perf_open = native_perf_open,
    .line = probe_line,
    .disk_free = native_disk_free,
    .find_program = process_find,
    .wait_ms = native_wait_ms,
};

/* For a run ------------------------------------------------------------------------------------ */

enum { CPUS_MAX = 4096 };

/* The report on this machine, by doctor_look() or doctor_glance(). */
static json_t *look_at_native(void (*look)(struct doctor *, const struct doctor_request *),
                              struct doctor_request request)
{
    static int cpus[CPUS_MAX];
    struct doctor doctor;
    request.machine = &doctor_machine_native;
    request.cpus = cpus;
    request.cpus_count = topology_pick_cpus(cpus, CPUS_MAX);
    look(&doctor, &request);
    json_t *json = doctor_to_json(&doctor);
    doctor_free(&doctor);
    return json;
}

json_t *doctor_for_run(const char *results, const json_t *counting)
{
    enum { RUN_CORES = 4 };
    return look_at_native(doctor_look, (struct doctor_request){.counting = counting,
                                                               .line_cores = RUN_CORES,
                                                               .window_ms = DOCTOR_WINDOW_MS,
                                                               .results = results});
}

json_t *doctor_for_samples(void)
{
    return look_at_native(doctor_glance,
                          (struct doctor_request){.window_ms = DOCTOR_WINDOW_MS / 2});
}
