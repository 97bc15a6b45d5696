/* sample_request.c - see sample_request.h. */
#include "harness/records/sample_request.h"

#include "harness/base/memory.h"
#include "harness/base/text.h"
#include "harness/models/machine_start.h"
#include "harness/numbers/units.h"
#include "harness/spec/outside.h"
#include "harness/spec/spec.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MS_NS = 1000000, STACK_MIN = 16 << 10 };

#define HOUR_NS INT64_C(3600000000000)

#define MEMBER(member)                                                                             \
    offsetof(struct sample_request, member),                                                       \
        _Generic(((struct sample_request *)NULL)->member,                                          \
            bool: FIELD_FLAG,                                                                      \
            int: FIELD_INT,                                                                        \
            int64_t: FIELD_LONG,                                                                   \
            uint64_t: FIELD_LONG,                                                                  \
            const char *: FIELD_TEXT)
#define NUMBER(usual, min, max) (usual), (min), (max), "", NULL
#define TIME(min) 0, (min), HOUR_NS, "ns", NULL
#define PLAIN NUMBER(0, 0, 0) /* a flag or a text */

#define RUN (FIELD_OF_RUN | FIELD_SHOWN)
#define ALL_RUN (RUN | FIELD_ALWAYS)

/* The help speaks of repetitions where `run` has the option too. */
const struct sample_field sample_fields[SAMPLE_FIELDS] = {
    {"--workers", 'w', MEMBER(workers), NUMBER(1, 1, SAMPLE_WORKERS_MAX),
     FIELD_SHOWN | FIELD_ALWAYS, "N", "workers (cores) to use"},
    {"--seed", 0, MEMBER(seed), NUMBER(1, 0, INT64_MAX), ALL_RUN, "N",
     "of the order, the workload and the scheduler; default 1"},
    {"--iterations", 'i', MEMBER(iterations), NUMBER(0, 1, SAMPLE_ITERATIONS_MAX), RUN, "N",
     "timed calls per repetition at least; default 3, or 1 with --min-time or on a simulated "
     "machine"},
    {"--warmup", 0, MEMBER(warmup), 1, 0, 1000, "", "auto", ALL_RUN, "N|auto",
     "calls before the timed ones; auto: until their times are steady; default 1"},
    {"--min-time", 0, MEMBER(min_time_ns), TIME(0), ALL_RUN, "MS",
     "timed milliseconds per repetition at least (or 2s, 500us); default 200, or 0 with "
     "--iterations or on a simulated machine"},
    {"--brief", 0, MEMBER(brief_ns), TIME(0), FIELD_NATIVE, "MS",
     "give --min-time up after so much wall time where calls are very short; 0: never"},
    {"--events", 'e', MEMBER(events), PLAIN, RUN, "A,B,C",
     "what to count, or none; `schedlab list events` names the events and marks the default ones; "
     "sde:::schedlab:: may be left out"},
    {"--event-set", 0, MEMBER(event_set), NUMBER(0, 0, 1000000), 0, "N",
     "count the N-th set, modulo their number, of events that do not fit together"},
    {"--pin", 0, MEMBER(pin), PLAIN, RUN, NULL,
     "keep each worker on a core of its own; default: workers may move"},
    {"--stack", 0, MEMBER(stack_bytes), 0, STACK_MIN, 1 << 30, "bytes", NULL, RUN, "BYTES",
     "address space per goroutine stack; default 64Ki"},
    {"--steal-max", 0, MEMBER(steal_max_percent), NUMBER(STEAL_MAX_DEFAULT_PERCENT, 0, 100),
     RUN | FIELD_NATIVE, "PERCENT",
     "mark a repetition if the hypervisor took more than PERCENT of its time, or other programs "
     "more than 10 % and than PERCENT; default 1"},
    {"--inject-slowdown", 0, MEMBER(injected_percent), NUMBER(0, 0, 1000), RUN, "PERCENT",
     "make each timed call longer by PERCENT, to test whether a comparison finds it"},
    {"--no-calls", 0, MEMBER(no_calls), PLAIN, 0, NULL,
     "do all but the calls: what a process costs"},
    {"--machine", 0, MEMBER(machine), PLAIN, FIELD_SHOWN | FIELD_SIMULATED, "MACHINE",
     "native (default), or a simulated one"},
    {"--sim-seed", 0, MEMBER(sim_seed), NUMBER((int64_t)SIM_SEED_UNSET, 0, INT64_MAX),
     RUN | FIELD_SIMULATED, "N",
     "of the simulated machine and its scheduler in the first repetition; the seeds of the others "
     "follow from it; default: that of --seed"},
    {"--flame", 0, MEMBER(flame), PLAIN, FIELD_OF_RUN | FIELD_SIMULATED, "FILE",
     "on a simulated machine, one variant: write where the first repetition stalled as folded "
     "stacks, which flamegraph.pl, inferno and speedscope draw"},
    {"--sched-events-fd", 0, MEMBER(sched_events_fd), NUMBER(0, 1, INT32_MAX), 0, "N",
     "descriptor to write to what the scheduler does; simulated, or in schedlab-trace"},
    {"--sched-events-max", 0, MEMBER(sched_events_max), NUMBER(0, 1, INT64_MAX), 0, "N",
     "at most so many events; default: all"},
    {"--sched-events-kept", 0, MEMBER(sched_events_kept), NUMBER(0, 1, INT64_MAX), 0, "N",
     "in schedlab-trace, record so many; default: those that are written"},
    {"--sched-sites", 0, MEMBER(sched_sites), PLAIN, 0, NULL,
     "write which lines of the workload they come from too; simulated"},
    {"--lock-step", 0, MEMBER(lock_step), PLAIN, 0, "STEPS", "simulated cores take turns"},
    {"--schedtrace", 0, MEMBER(schedtrace_ns), TIME(1), FIELD_OF_RUN, "MS",
     "while it runs, write a line about the scheduler that often to standard error, in the format "
     "of Go's GODEBUG=schedtrace=MS"},
    {"--schedtrace-fd", 0, MEMBER(schedtrace_fd), NUMBER(0, 0, 1 << 20), 0, "N",
     "where --schedtrace writes to"},
    {"--scheddetail", 0, MEMBER(scheddetail), PLAIN, FIELD_OF_RUN, NULL,
     "with --schedtrace: a line about each P, M and G too"},
};

/* Members ------------------------------------------------------------------------------------- */

static const char *text_get(const struct sample_field *field, const struct sample_request *request)
{
    return *(const char *const *)((const char *)request + field->offset);
}

static int64_t number_get(const struct sample_field *field, const struct sample_request *request)
{
    const void *member = (const char *)request + field->offset;
    return field->type == FIELD_FLAG  ? *(const bool *)member
           : field->type == FIELD_INT ? *(const int *)member
                                      : *(const int64_t *)member;
}

static void member_set(const struct sample_field *field, struct sample_request *request,
                       const char *text, int64_t number)
{
    void *member = (char *)request + field->offset;
    if (field->type == FIELD_TEXT)
        *(const char **)member = text;
    else if (field->type == FIELD_FLAG)
        *(bool *)member = number;
    else if (field->type == FIELD_INT)
        *(int *)member = (int)number;
    else
        *(int64_t *)member = number;
}

/* Reading ------------------------------------------------------------------------------------- */

struct sample_request sample_request_usual(void)
{
    struct sample_request request = {.program = NULL};
    for (size_t i = 0; i < SAMPLE_FIELDS; i++)
        member_set(&sample_fields[i], &request, NULL, sample_fields[i].usual);
    return request;
}

static bool number_read(const struct sample_field *field, const char *text, int64_t *number,
                        struct error *error)
{
    const char *option = field->option + 2;
    if (strcmp(field->unit, "ns") == 0)
        return option_time(option, text, MS_NS, field->min, field->max, number, error);
    *number = -1;
    if (field->word && strcmp(text, field->word) == 0)
        return true;
    if (option_number(option, text, field->min, field->max, field->unit, number, error))
        return true;
    if (field->word)
        text_add(error->text, sizeof error->text, ", or %s", field->word);
    return false;
}

bool sample_field_read(const struct sample_field *field, struct sample_request *request,
                       const char *text, struct error *error)
{
    int64_t number = true, page = sysconf(_SC_PAGESIZE);
    bool is_number = field->type == FIELD_INT || field->type == FIELD_LONG;
    if (is_number && !number_read(field, text, &number, error))
        return false;
    if (strcmp(field->unit, "bytes") == 0)
        number = (number + page - 1) / page * page;
    member_set(field, request, text, number);
    return true;
}

/* Writing ------------------------------------------------------------------------------------- */

static void argument_add(struct sample_arguments *arguments, const char *word)
{
    arguments->argv[arguments->argc++] = word;
    arguments->argv[arguments->argc] = NULL;
}

/* A time in the largest unit that keeps it whole, for the eyes of who repeats it. */
static void argument_add_number(struct sample_arguments *arguments,
                                const struct sample_field *field, int64_t number)
{
    char *text = arguments->numbers[arguments->argc];
    const char *unit = strcmp(field->unit, "ns") == 0 ? time_unit(&number) : "";
    if (field->word && number < 0)
        snprintf(text, SAMPLE_ARGUMENT_SIZE, "%s", field->word);
    else
        snprintf(text, SAMPLE_ARGUMENT_SIZE, "%" PRId64 "%s", number, unit);
    argument_add(arguments, text);
}

static void field_write(struct sample_arguments *arguments, const struct sample_field *field,
                        const struct sample_request *request)
{
    const char *text = field->type == FIELD_TEXT ? text_get(field, request) : NULL;
    int64_t number = field->type == FIELD_TEXT ? 0 : number_get(field, request);
    if (!text && number == field->usual && !(field->flags & FIELD_ALWAYS))
        return;
    argument_add(arguments, field->option);
    if (text)
        argument_add(arguments, text);
    else if (field->type != FIELD_FLAG)
        argument_add_number(arguments, field, number);
}

/* All fields, or those with a flag. */
static void fields_write(struct sample_arguments *arguments, const struct sample_request *request,
                         unsigned flag)
{
    unsigned not_here =
        machine_text_is_simulated(request->machine) ? FIELD_NATIVE : FIELD_SIMULATED;
    argument_add(arguments, request->variant);
    argument_add(arguments, request->workload);
    for (size_t i = 0; i < SAMPLE_FIELDS; i++)
        if ((sample_fields[i].flags & flag) == flag && !(sample_fields[i].flags & not_here))
            field_write(arguments, &sample_fields[i], request);
}

void sample_request_arguments(struct sample_arguments *arguments,
                              const struct sample_request *request)
{
    *arguments = (struct sample_arguments){.argc = 0};
    argument_add(arguments, "schedlab");
    argument_add(arguments, request->program ? "run" : "sample");
    if (request->program) /* all revisions know that name of `sample`, and older ones no other */
        argument_add(arguments, "--sample");
    fields_write(arguments, request, 0);
}

/* "PROGRAM OPTIONS ARGUMENT..."; the options as they are. */
static char *command_text(const char *program, const char *options, const char *const *arguments)
{
    char *text = NULL;
    FILE *to = memory_stream(&text, NULL);
    shell_word_print(to, program);
    fputs(options, to);
    for (; *arguments; arguments++) {
        fputc(' ', to);
        shell_word_print(to, *arguments);
    }
    fclose(to);
    return text;
}

char *sample_command_text(const char *program, const char *const *arguments)
{
    return command_text(program, "", arguments);
}

char *sample_request_command(const struct sample_request *request)
{
    struct sample_arguments arguments = {.argc = 0};
    argument_add(&arguments, "run");
    fields_write(&arguments, request, FIELD_SHOWN);
    argument_add(&arguments, "--reps");
    argument_add(&arguments, "1");
    bool outside = outside_is_named(request->variant) || outside_is_named(request->workload);
    char *with = outside ? outside_with_text() : xstrdup("");
    char *text = command_text(SAMPLE_PROGRAM_SHOWN, with, arguments.argv);
    free(with);
    return text;
}
