/* hunt_perfetto.c - see hunt_perfetto.h. */
#include "harness/hunter/hunt_perfetto.h"

#include "harness/base/error.h"
#include "harness/options/cli.h"

#include <stdlib.h>

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
    struct error error;
    struct hunt_trace trace;
    if (!hunt_trace_make(&trace, shown, campaign, &error)) {
        cli_fail("%s", error.text);
        return false;
    }
    json_t *json = page_to_json(&trace.page, campaign);
    json_dumpf(json, stdout, JSON_COMPACT);
    putchar('\n');
    json_decref(json);
    hunt_trace_free(&trace);
    return true;
}
