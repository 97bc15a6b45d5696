/* machine_start_native.c - machine_start.h in programs on real threads. */
#include "harness/base/process_cpu.h"
#include "harness/host/topology.h"
#include "harness/models/machine_spec.h"
#include "harness/models/machine_start.h"
#include "harness/models/sched_trace.h"
#include "machine.h"
#include "native/record.h"

#include <inttypes.h>
#include <stdlib.h>

bool machine_is_simulated(void)
{
    return false;
}

bool machine_start(const struct machine_spec *spec, uint64_t seed, void (*fn)(void *arg), void *arg,
                   struct error *error)
{
    (void)seed;
    if (spec->simulated)
        return error_set(error, "this program runs on real threads only, not on \"%s\"",
                         spec->text);
    fn(arg);
    return true;
}

void machine_record_model(json_t *record, const char *text)
{
    struct error unused;
    const struct machine_spec *spec =
        machine_text_is_simulated(text) ? machine_spec_kept(text, &unused) : NULL;
    if (spec)
        machine_record_values(record, &spec->model);
}

int machine_pick_cpus(int *cpus, int max)
{
    return topology_pick_cpus(cpus, max);
}

int machine_groups(const int *cpus, int count, int32_t *groups)
{
    return topology_groups(cpus, count, groups);
}

int64_t machine_busy_ns(void)
{
    return process_cpu_ns();
}

bool machine_lock_step(const char *text, struct error *error)
{
    (void)text;
    return error_set(error, "only simulated machines go in lock step");
}

#if MACHINE_KEEPS_EVENTS
static size_t written_max;

bool machine_events_keep(size_t most, size_t recorded)
{
    native_events_keep(recorded);
    written_max = most;
    return true;
}

/* Counts times from the first event on, and says when that was: after months picoseconds of the
 * clock itself would be too large. */
void machine_events_write(FILE *to)
{
    size_t count, written = 0;
    uint64_t happened;
    bool is_cut;
    struct native_event *events = native_events_take(&count, &happened, &is_cut);
    fprintf(to, "# %" PRIu64 " events since %" PRId64 "\n", happened,
            count ? events[0].when_ns : 0);
    for (size_t i = 0; i < count && written < written_max; i++) {
        const struct native_event *event = &events[i];
        if (event->kind >= NATIVE_NOTES)
            continue;
        written++;
        fprintf(to, "%" PRId64 "\t%d\t%d\t%d\t%s\t%" PRId64 "\t%d\t%d\n",
                (event->when_ns - events[0].when_ns) * 1000, event->core, event->m, event->p,
                sched_trace_names[event->kind], event->g, event->a, event->b);
    }
    free(events);
}
#else
bool machine_events_keep(size_t most, size_t recorded)
{
    (void)most;
    (void)recorded;
    return false;
}

void machine_events_write(FILE *to)
{
    (void)to;
}
#endif

void machine_record_events(json_t *record)
{
    (void)record;
}
