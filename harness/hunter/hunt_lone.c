/* hunt_lone.c - see hunt_lone.h. */
#include "harness/hunter/hunt_lone.h"

#include "harness/base/monotonic.h"
#include "harness/base/text.h"
#include "harness/hunt/linear.h"
#include "harness/hunter/hunt_switches.h"
#include "harness/options/cli.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

/* "PPTT|SSSS", of so many operations each. */
static void script_print(FILE *to, const struct lone *lone)
{
    for (int i = 0; i < lone->threads; i++)
        fprintf(to, "%s%.*s", i ? "|" : "", lone->operations, lone->script->of[i]);
}

static json_t *result_to_json(const struct lone *lone, const struct explore_result *result,
                              double seconds)
{
    char script[64];
    FILE *to = fmemopen(script, sizeof script, "w");
    script_print(to, lone);
    fclose(to);
    json_t *json =
        json_pack("{ss sI sI sI sb sf}", "script", script, "executions",
                  (json_int_t)result->executions, "states", (json_int_t)result->states, "points",
                  (json_int_t)result->points, "complete", result->complete, "seconds", seconds);
    if (result->failure)
        json_object_set_new(json, "failure",
                            json_pack("{ss ss}", "end", hunt_end_words[result->failure->end],
                                      "text", result->failure->text));
    return json;
}

static void result_print(const struct lone *lone, const struct explore_result *result,
                         double seconds)
{
    script_print(stdout, lone);
    printf(": %" PRIu64 " executions, %" PRIu64 " states, %.1f s%s\n", result->executions,
           result->states, seconds,
           result->failure    ? ""
           : result->complete ? "; all are right"
                              : "; right so far, not all");
    if (!result->failure)
        return;
    printf("failed: %s: %s", hunt_end_words[result->failure->end], result->failure->text);
    hunt_switches_print(result->failure);
}

/* True if no script before differs only in what is left out. */
static bool is_new(const struct lone_script *scripts, int i, const struct hunt_lone *wanted)
{
    for (int before = 0; before < i; before++) {
        bool same = true;
        for (int thread = 0; thread < wanted->threads; thread++)
            same &= strncmp(scripts[i].of[thread], scripts[before].of[thread],
                            (size_t)wanted->operations) == 0;
        if (same)
            return false;
    }
    return true;
}

int hunt_lone(const struct hunt_lone *wanted)
{
    int count;
    const struct lone_script *scripts = lone_scripts(wanted->queue, &count);
    json_t *all = json_array();
    bool failed = false;
    linear_capacity(LONE_CAPACITY);
    if (!wanted->json)
        printf("%s, %s of %s each, sc\n", lone_words[wanted->queue],
               counted((uint64_t)wanted->threads, "thread").s,
               counted((uint64_t)wanted->operations, "operation").s);
    for (int i = 0; i < count && !failed; i++) {
        if (!is_new(scripts, i, wanted))
            continue;
        struct lone lone = {wanted->queue, &scripts[i], wanted->threads, wanted->operations};
        int64_t began_ns = monotonic_ns();
        struct explore_result result =
            explore_run(lone_main, &lone, &linear_watcher,
                        wanted->executions ? (uint64_t)wanted->executions : UINT64_MAX);
        double seconds = (double)(monotonic_ns() - began_ns) / 1e9;
        failed = result.failure;
        json_array_append_new(all, result_to_json(&lone, &result, seconds));
        if (!wanted->json)
            result_print(&lone, &result, seconds);
    }
    if (wanted->json)
        cli_print_json(json_pack("{ss si si sO}", "queue", lone_words[wanted->queue], "threads",
                                 wanted->threads, "operations", wanted->operations, "scripts", all),
                       6);
    json_decref(all);
    return failed ? EXIT_FAILED : EXIT_DONE;
}
