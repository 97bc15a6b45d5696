/* hunt_trace.c - see hunt_trace.h. The events that the machine has kept become a trace as a
 * simulated machine writes it (sched_trace.h), so that it is read and told as all others are.
 */
#include "harness/hunter/hunt_trace.h"

#include "harness/base/memory.h"
#include "harness/hunt/jobs.h"
#include "sched.h"
#include "sim/events.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

bool hunt_trace_can_show(const struct variant_spec *variant)
{
    return strcmp(variant->ops->name, "contsteal") != 0 || strstr(variant->text, "frames=pooled");
}

/* In the process that has executed. The switches come first, and are this program's own. */
static void execution_write(FILE *to, const struct hunt_outcome *outcome)
{
    size_t count;
    const struct sim_sched_event *events = hunt_events(&count);
    fwrite(&outcome->switch_count, sizeof outcome->switch_count, 1, to);
    fwrite(outcome->switches, sizeof *outcome->switches, outcome->switch_count, to);
    fprintf(to, "# %zu events\n", count);
    for (size_t i = 0; i < count; i++) {
        const struct sim_sched_event *event = &events[i];
        fprintf(to, "%" PRId64 "\t%d\t%d\t%d\t%s\t%" PRId64 "\t%d\t%d\n", event->when_ps,
                event->core, event->m, event->p, sched_trace_names[event->kind], event->g, event->a,
                event->b);
    }
}

static bool switches_read(struct hunt_trace *trace, FILE *from)
{
    if (fread(&trace->switch_count, sizeof trace->switch_count, 1, from) != 1)
        return false;
    trace->switches = xcalloc(trace->switch_count + 1, sizeof *trace->switches);
    return fread(trace->switches, sizeof *trace->switches, trace->switch_count, from) ==
           trace->switch_count;
}

bool hunt_trace_make(struct hunt_trace *trace, const struct hunt_shown *shown,
                     struct campaign *campaign, struct error *error)
{
    const struct sched_ops *ops = shown->variant->ops;
    char *machine = text_format("hunt, %s", hunt_memory_words[campaign->plan.memory]);
    *trace = (struct hunt_trace){.machine = machine,
                                 .page = {
                                     .variant = shown->variant->text,
                                     .workload = shown->workload->text,
                                     .machine = machine,
                                     .workers = campaign->workers,
                                     .seed = (uint64_t)shown->seed,
                                     .by_m = ops->m_init,
                                 }};
    FILE *from = jobs_tell(campaign, execution_write);
    bool ok = from && switches_read(trace, from);
    if (!ok)
        error_print(
            error,
            "the execution cannot be shown: it did not end as before when it was made again");
    ok = ok && sched_trace_read(&trace->page.trace, from, error);
    if (from)
        fclose(from);
    if (!ok) {
        hunt_trace_free(trace);
        return false;
    }
    trace_times_rise(&trace->page.trace);
    sched_trace_from_first(&trace->page.trace);
    return true;
}

void hunt_trace_free(struct hunt_trace *trace)
{
    sched_trace_free(&trace->page.trace);
    free(trace->switches);
    free(trace->machine);
}
