/* cmd_sample.c - `schedlab sample`: measures one sample in this process and prints its record.
 *
 * child.c starts it, once for each repetition of `run` and `sweep`. Its options are the fields of
 * sample_request.h.
 */
#include "harness/base/json_fields.h"
#include "harness/commands/commands.h"
#include "harness/models/machine_spec.h"
#include "harness/models/machine_start.h"
#include "harness/options/cli.h"
#include "harness/records/records.h"
#include "harness/records/sample_request.h"
#include "harness/sample/event_site.h"
#include "harness/sample/sample.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>

struct options {
    struct sample_request request;
};

static void argument_take(void *to, char *text)
{
    struct sample_request *request = &((struct options *)to)->request;
    if (request->workload)
        cli_misuse("takes one variant and one workload; found \"%s\" behind them", text);
    *(request->variant ? &request->workload : &request->variant) = text;
}

static void arguments_check(void *options)
{
    if (!((const struct options *)options)->request.workload)
        cli_misuse("takes one variant and one workload");
}

static const char argp_doc[] =
    "Measures VARIANT on WORKLOAD once, in this process, and prints the record: one line of JSON, "
    "as results/README.md describes it. `schedlab run` and `schedlab sweep` start this command for "
    "each repetition; to compare variants, use these.\v"
    "Defaults that differ from those of `run`: one worker, one timed call, no --min-time.\n\n"
    "Example:\n  schedlab sample gmp fib,n=20 --workers 2 --iterations 3\n\n"
    "Exit status: 0 done, though the sample may have been skipped; 1 the sample failed; 2 misused.";

static const struct cli_command cli = {
    .options = (const struct cli_option[]){{0}},
    .arguments = "VARIANT WORKLOAD",
    .help = argp_doc,
    .has_request = true,
    .request_offset = offsetof(struct options, request),
    .argument = argument_take,
    .check = arguments_check,
};

struct sample_run {
    const struct sample_request *request;
    json_t *record;
    struct error error;
};

static void sample_on_machine(void *arg)
{
    struct sample_run *run = arg;
    run->record = sample_measure(run->request, &run->error);
}

/* The stream for the scheduler's events, or NULL. */
static FILE *sched_events_open(const struct options *options)
{
    int fd = options->request.sched_events_fd;
    size_t most = options->request.sched_events_max, kept = options->request.sched_events_kept;
    if (fd <= 0)
        return NULL;
    most = most > 0 ? most : SIZE_MAX;
    if (!machine_events_keep(most, kept > 0 ? kept : most))
        cli_misuse(
            "--sched-events-fd takes a simulated machine, or a program that `make trace` builds");
    if (options->request.sched_sites)
        event_sites_begin();
    FILE *to = fdopen(fd, "w");
    if (!to)
        cli_misuse("--sched-events-fd=%d: %s", fd, strerror(errno));
    return to;
}

static json_t *sample_run(const struct options *options, const struct machine_spec *machine)
{
    struct sample_run run = {.request = &options->request};
    FILE *events = sched_events_open(options);
    if (options->request.lock_step && !machine_lock_step(options->request.lock_step, &run.error))
        cli_misuse("--lock-step: %s", run.error.text);
    if (!machine_start(machine, options->request.sim_seed, sample_on_machine, &run, &run.error) ||
        !run.record)
        cli_misuse("%s", run.error.text);
    if (events) {
        machine_events_write(events);
        event_sites_write(events);
        if (fclose(events) != 0)
            cli_misuse("--sched-events-fd: %s", strerror(errno));
    }
    return run.record;
}

static int record_print(const json_t *record)
{
    json_dumpf(record, stdout, JSON_COMPACT);
    putchar('\n');
    return record_is(record, "failed") ? cli_fail("%s", field_text(record, "reason")) : EXIT_DONE;
}

int cmd_sample(int argc, char **argv)
{
    struct options options = {.request = sample_request_usual()};
    /* With hyperfine in between, this is the grandchild of a sweep, which may be killed. */
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    cli_read(&cli, argc, argv, &options);
    struct sample_request *request = &options.request;
    if (request->scheddetail && request->schedtrace_ns == 0)
        cli_misuse("--scheddetail comes with --schedtrace=MS");
    const struct machine_spec *machine =
        cli_machine(request->machine ? request->machine : "native");
    request->machine = machine->text;
    if (request->sim_seed == SIM_SEED_UNSET)
        request->sim_seed = request->seed;
    json_t *record = sample_run(&options, machine);
    int status = record_print(record);
    json_decref(record);
    return status;
}
