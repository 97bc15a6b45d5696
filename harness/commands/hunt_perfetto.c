/* hunt_perfetto.c - see hunt_perfetto.h. The events that the machine has kept become a trace as a
 * simulated machine writes it (sched_trace.h), so that it is read and drawn as all others are.
 */
#include "harness/commands/hunt_perfetto.h"

#include "harness/base/memory.h"
#include "harness/commands/cli.h"
#include "harness/hunt/jobs.h"
#include "harness/trace/trace.h"
#include "sched.h"
#include "sim/events.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { ERROR_SIZE = 1024 };

bool hunt_perfetto_can_show(const struct variant_spec *variant, char *error, size_t error_size)
{
    if (strcmp(variant->ops->name, "contsteal") != 0 || strstr(variant->text, "frames=pooled"))
        return true;
    snprintf(error, error_size,
             "--format=perfetto: linked frames leave no event of a spawn; valid: frames=pooled");
    return false;
}

/* In the process that has executed. */
static void events_write(FILE *to)
{
    size_t count;
    const struct sim_sched_event *events = hunt_events(&count);
    fprintf(to, "# %zu events\n", count);
    for (size_t i = 0; i < count; i++) {
        const struct sim_sched_event *event = &events[i];
        fprintf(to, "%" PRId64 "\t%d\t%d\t%d\t%s\t%" PRId64 "\t%d\t%d\n", event->when_ps,
                event->core, event->m, event->p, sched_trace_names[event->kind], event->g, event->a,
                event->b);
    }
}

static json_t *page_to_json(const struct trace_page *page, const struct campaign *campaign)
{
    char *replay = replay_text(&campaign->plan);
    json_t *json = trace_perfetto_to_json(page), *other = json_object_get(json, "otherData");
    json_object_set_new(other, "replay", json_string(replay));
    if (campaign->failure) {
        json_object_set_new(other, "end", json_string(hunt_end_words[campaign->failure->end]));
        json_object_set_new(other, "text", json_string(campaign->failure->text));
    }
    free(replay);
    return json;
}

bool hunt_perfetto_print(const struct hunt_shown *shown, struct campaign *campaign)
{
    char error[ERROR_SIZE];
    const struct sched_ops *ops = shown->variant->ops;
    char *machine = text_format("hunt, %s", hunt_memory_words[campaign->plan.memory]);
    struct trace_page page = {
        .variant = shown->variant->text,
        .workload = shown->workload->text,
        .machine = machine,
        .workers = campaign->workers,
        .seed = (uint64_t)shown->seed,
        .by_m = ops->m_init && !ops->p_init,
    };
    FILE *from = jobs_tell(campaign, events_write);
    bool ok = from && sched_trace_read(&page.trace, from, error, sizeof error);
    if (!from)
        snprintf(error, sizeof error,
                 "the execution cannot be shown: it did not end as before when it was made again");
    if (from)
        fclose(from);
    if (ok) {
        trace_times_rise(&page.trace);
        sched_trace_from_first(&page.trace);
        json_t *json = page_to_json(&page, campaign);
        json_dumpf(json, stdout, JSON_COMPACT);
        putchar('\n');
        json_decref(json);
        sched_trace_free(&page.trace);
    } else {
        cli_fail(shown->command, error);
    }
    free(machine);
    return ok;
}
