/* sample_request.c - see sample_request.h. */
#include "harness/records/sample_request.h"

#include "harness/base/memory.h"
#include "harness/base/text.h"
#include "harness/base/units.h"
#include "harness/spec/machine_start.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static void argument_add(struct sample_arguments *arguments, const char *option, const char *value)
{
    arguments->argv[arguments->argc++] = option;
    if (value)
        arguments->argv[arguments->argc++] = value;
    arguments->argv[arguments->argc] = NULL;
}

static void argument_add_number(struct sample_arguments *arguments, const char *option,
                                uint64_t value, const char *unit)
{
    char *text = arguments->numbers[arguments->argc];
    snprintf(text, SAMPLE_ARGUMENT_SIZE, "%" PRIu64 "%s", value, unit);
    argument_add(arguments, option, text);
}

/* In the largest unit that keeps it whole, for the eyes of who repeats it. */
static void argument_add_time(struct sample_arguments *arguments, const char *option, int64_t ns)
{
    const char *unit = time_unit(&ns);
    argument_add_number(arguments, option, (uint64_t)ns, unit);
}

static void arguments_add_request(struct sample_arguments *arguments,
                                  const struct sample_request *request)
{
    argument_add(arguments, request->variant, request->workload);
    argument_add_number(arguments, "--workers", (uint64_t)request->workers, "");
    argument_add_number(arguments, "--seed", request->seed, "");
    if (request->iterations > 0)
        argument_add_number(arguments, "--iterations", (uint64_t)request->iterations, "");
    if (request->warmup == WARMUP_AUTO)
        argument_add(arguments, "--warmup", "auto");
    else
        argument_add_number(arguments, "--warmup", (uint64_t)request->warmup, "");
    argument_add_time(arguments, "--min-time", request->min_time_ns);
    if (request->events)
        argument_add(arguments, "--events", request->events);
    if (request->event_set > 0)
        argument_add_number(arguments, "--event-set", (uint64_t)request->event_set, "");
    if (request->pin)
        argument_add(arguments, "--pin", NULL);
    if (request->stack_bytes > 0)
        argument_add_number(arguments, "--stack", request->stack_bytes, "");
    if (request->steal_max_percent != STEAL_MAX_DEFAULT_PERCENT)
        argument_add_number(arguments, "--steal-max", (uint64_t)request->steal_max_percent, "");
    if (request->injected_percent > 0)
        argument_add_number(arguments, "--inject-slowdown", (uint64_t)request->injected_percent,
                            "");
    if (request->no_calls)
        argument_add(arguments, "--no-calls", NULL);
    if (!machine_text_is_simulated(request->machine))
        return;
    argument_add(arguments, "--machine", request->machine);
    argument_add_number(arguments, "--sim-seed", request->sim_seed, "");
    if (request->flame)
        argument_add(arguments, "--flame", request->flame);
}

char *sample_command_text(const char *program, const char *const *arguments)
{
    char *text = NULL;
    size_t size = 0;
    FILE *to = memory_stream(&text, &size);
    shell_word_print(to, program);
    for (; *arguments; arguments++) {
        fputc(' ', to);
        shell_word_print(to, *arguments);
    }
    fclose(to);
    return text;
}

char *sample_request_command(const struct sample_request *request)
{
    struct sample_arguments arguments = {.argc = 0};
    argument_add(&arguments, "run", NULL);
    arguments_add_request(&arguments, request);
    argument_add(&arguments, "--reps", "1");
    return sample_command_text(SAMPLE_PROGRAM_SHOWN, arguments.argv);
}

void sample_request_arguments(struct sample_arguments *arguments,
                              const struct sample_request *request)
{
    *arguments = (struct sample_arguments){.argc = 0};
    argument_add(arguments, "schedlab", "run");
    argument_add(arguments, "--sample", NULL);
    arguments_add_request(arguments, request);
    if (request->sched_events_fd > 0) {
        argument_add_number(arguments, "--sched-events-fd", (uint64_t)request->sched_events_fd, "");
        argument_add_number(arguments, "--sched-events-max", request->sched_events_max, "");
    }
    if (request->lock_step)
        argument_add(arguments, "--lock-step", request->lock_step);
    if (request->schedtrace_ns > 0) {
        argument_add_time(arguments, "--schedtrace", request->schedtrace_ns);
        argument_add_number(arguments, "--schedtrace-fd", (uint64_t)request->schedtrace_fd, "");
        if (request->scheddetail)
            argument_add(arguments, "--scheddetail", NULL);
    }
}
