/* child.c - see child.h: what becomes of a sample's process as a record. */
#include "harness/sample/child.h"

#include "harness/base/json_fields.h"
#include "harness/base/memory.h"
#include "harness/host/allocator.h"
#include "harness/models/machine_start.h"
#include "harness/records/records.h"
#include "harness/records/sample_record.h"
#include "harness/sample/hyperfine.h"
#include "harness/spec/peer_table.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PATH_SIZE = 4096 };

static const char TIMED_OUT_REASON[] = "no answer within ";
static const char INTERRUPTED_REASON[] = "interrupted";
static const char NO_PROCESS_REASON[] = "cannot start a process: ";
static const char NO_PROGRAM_REASON[] = "exit status 127: " PROCESS_CANNOT_EXECUTE;

static const char *child_program = "/proc/self/exe";

void child_set_program(const char *path)
{
    child_program = path;
}

static bool reason_begins(const json_t *record, const char *begin)
{
    return strncmp(field_text(record, "reason"), begin, strlen(begin)) == 0;
}

bool child_record_timed_out(const json_t *record)
{
    return reason_begins(record, TIMED_OUT_REASON);
}

bool child_record_has_no_program(const json_t *record)
{
    return reason_begins(record, NO_PROGRAM_REASON);
}

bool child_record_lacks_process(const json_t *record)
{
    return reason_begins(record, NO_PROCESS_REASON);
}

bool child_record_stopped(const json_t *record)
{
    static const char *const reasons[] = {"killed by SIGKILL", "killed by SIGTERM",
                                          "killed by SIGHUP", "killed by SIGINT"};
    for (size_t i = 0; i < sizeof reasons / sizeof reasons[0]; i++)
        if (reason_begins(record, reasons[i]))
            return true;
    return false;
}

/* The command is the child's word, and a program cannot know where another one calls it from. */
static void command_name_program(json_t *record, const char *program)
{
    const char *command = field_text(record, "command");
    size_t shown = sizeof SAMPLE_PROGRAM_SHOWN - 1;
    if (!program || strncmp(command, SAMPLE_PROGRAM_SHOWN, shown) != 0)
        return;
    char *quoted = sample_command_text(program, (const char *const[]){NULL});
    json_object_set_new(record, "command", json_sprintf("%s%s", quoted, command + shown));
    free(quoted);
}

/* Records ------------------------------------------------------------------------------------- */

json_t *child_record_lost(const struct sample_request *request, const char *reason)
{
    json_t *record = sample_record_of_request(request);
    record_fail(record, reason);
    return record;
}

/* Why the child has no record to show. */
static void reason_of_end(const struct process_result *result, const struct sample_request *request,
                          const char *unparsable, struct error *reason)
{
    if (result->end == PROCESS_INTERRUPTED)
        error_print(reason, "%s", INTERRUPTED_REASON);
    else if (result->end == PROCESS_TIMED_OUT)
        error_print(reason, "%s%g s", TIMED_OUT_REASON, request->timeout_s);
    else
        process_end_text(result, reason->text, sizeof reason->text);
    if (*reason->text == '\0')
        error_print(reason, "its output is not a record: %s", unparsable);
}

/* Standard error may hold anything; a record is UTF-8. */
static json_t *string_of_bytes(const char *data, size_t size)
{
    json_t *string = json_stringn(data, size);
    if (string)
        return string;
    char *ascii = xmalloc(size + 1);
    for (size_t i = 0; i < size; i++)
        ascii[i] = (data[i] >= ' ' || data[i] == '\n' || data[i] == '\t') ? data[i] : '?';
    string = json_stringn(ascii, size);
    free(ascii);
    return string;
}

/* The record the child printed, or NULL and why there is none. */
static json_t *record_of_output(const struct process_result *result, struct error *why)
{
    json_error_t error;
    json_t *record =
        json_loadb(result->output, result->output_size, JSON_REJECT_DUPLICATES, &error);
    if (!record)
        error_print(why, "%s", error.text);
    else if (record_is_whole(record, why))
        return record;
    json_decref(record);
    return NULL;
}

static json_t *record_of_result(const struct process_result *result,
                                const struct sample_request *request)
{
    struct error reason, unparsable = {0};
    json_t *record = record_of_output(result, &unparsable);
    bool clean = result->end == PROCESS_ENDED && WIFEXITED(result->status);
    bool says_failed = record_is(record, "failed");
    /* A program that prints its record and then crashes has not measured a healthy runtime. */
    if (!record || !clean || (WEXITSTATUS(result->status) != 0 && !says_failed)) {
        reason_of_end(result, request, unparsable.text, &reason);
        if (!record)
            record = sample_record_of_request(request);
        record_fail(record, reason.text);
        says_failed = true;
    }
    if (says_failed && result->messages_size > 0)
        json_object_set_new(record, "output",
                            string_of_bytes(result->messages, result->messages_size));
    return record;
}

/* /proc/self/exe would be hyperfine, seen from there. */
static void program_path(const char *program, char path[PATH_SIZE])
{
    ssize_t length = readlink(program, path, PATH_SIZE - 1);
    if (length >= 0)
        path[length] = '\0';
    else
        snprintf(path, PATH_SIZE, "%s", program);
}

/* As process_run() of the sample, by way of hyperfine if outside is given. */
static int program_run(const struct sample_request *request,
                       const struct sample_arguments *arguments,
                       const struct sample_outside *outside, struct process_result *result,
                       json_t **seen)
{
    char path[PATH_SIZE];
    struct error unused;
    *seen = NULL;
    const char *program = request->program ? request->program : child_program;
    if (machine_text_is_simulated(request->machine)) {
        /* Whoever asks for a simulated machine has looked for it; else its path says so. */
        machine_sim_program(request->program, path, sizeof path, &unused);
        return process_run(path, arguments->argv, request->timeout_s, result);
    }
    if (request->sched_events_fd > 0) {
        machine_trace_program(request->program, path, sizeof path, &unused);
        return process_run(path, arguments->argv, request->timeout_s, result);
    }
    if (!outside)
        return process_run(program, arguments->argv, request->timeout_s, result);
    program_path(program, path);
    char *command = sample_command_text(path, arguments->argv + 1);
    int error = hyperfine_run(outside->hyperfine, command, outside->json_path, request->timeout_s,
                              result, seen);
    free(command);
    return error;
}

/* The same on the allocator that its variant asks for. */
static int sample_process_run(const struct sample_request *request,
                              const struct sample_arguments *arguments,
                              const struct sample_outside *outside, struct process_result *result,
                              json_t **seen)
{
    if (!machine_text_is_simulated(request->machine)) /* which has an allocator of its own */
        allocator_for_children(request->allocator);
    int error = program_run(request, arguments, outside, result, seen);
    allocator_for_children(ALLOCATOR_JEMALLOC); /* what others start is no sample */
    return error;
}

/* The cost of the sample's process beside its calls. It is measured from outside, since the clock
 * inside is to be judged by it. A number, or {"absent": reason}. */
static json_t *startup_measure(const struct sample_request *request,
                               const struct sample_outside *outside)
{
    if (peer_is_name(request->variant) ||
        strncmp(request->variant, FLOOR_PREFIX, sizeof FLOOR_PREFIX - 1) == 0)
        return json_pack("{ss}", "absent", "a peer's program cannot run without its calls");
    struct sample_request null = *request;
    struct sample_arguments arguments;
    struct process_result result;
    struct error why;
    json_t *seen = NULL, *startup = NULL;
    null.no_calls = true;
    sample_request_arguments(&arguments, &null);
    int error = sample_process_run(&null, &arguments, outside, &result, &seen);
    if (!error) {
        json_t *record = record_of_output(&result, &why);
        if (seen && record_is(record, "ok"))
            startup = json_incref(json_object_get(seen, "wall_ns"));
        json_decref(record);
        process_result_free(&result);
    }
    json_decref(seen);
    return startup ? startup : json_pack("{ss}", "absent", "a process without calls failed");
}

json_t *child_run_sample(const struct sample_request *request)
{
    return child_run_sample_timed(request, NULL);
}

json_t *child_record(const struct sample_request *request, int error,
                     const struct process_result *result)
{
    char reason[256];
    if (error)
        snprintf(reason, sizeof reason, "%s%s", NO_PROCESS_REASON, strerror(-error));
    json_t *record = error ? child_record_lost(request, reason) : record_of_result(result, request);
    command_name_program(record, request->program);
    if (!error)
        json_object_set_new(record, "timer", json_string("inside"));
    return record;
}

json_t *child_run_traced(const struct sample_request *request, struct sched_trace *trace,
                         struct error *error)
{
    struct sample_request traced = *request;
    traced.sched_events_fd = memfd_create("events", 0); /* the child inherits it */
    FILE *events = traced.sched_events_fd < 0 ? NULL : fdopen(traced.sched_events_fd, "r");
    if (!events)
        return error_null(error, "%s", strerror(errno));
    json_t *record = child_run_sample(&traced);
    bool ok = record_is(record, "ok") || error_set(error, "%s", field_text(record, "reason"));
    rewind(events);
    ok = ok && sched_trace_read(trace, events, error);
    fclose(events);
    if (ok)
        return record;
    json_decref(record);
    return NULL;
}

json_t *child_run_sample_timed(const struct sample_request *request,
                               const struct sample_outside *outside)
{
    struct sample_arguments arguments;
    sample_request_arguments(&arguments, request);
    struct process_result result;
    json_t *seen;
    int error = sample_process_run(request, &arguments, outside, &result, &seen);
    json_t *record = child_record(request, error, &result);
    if (error)
        return record;
    if (outside)
        json_object_set_new(record, "timer", json_string("hyperfine"));
    if (seen && record_is(record, "ok")) {
        struct sample_outside null = *outside;
        char path[PATH_SIZE];
        snprintf(path, sizeof path, "%s.start", outside->json_path);
        null.json_path = path;
        json_object_set_new(seen, "startup_ns", startup_measure(request, &null));
        remove(path);
    }
    if (seen)
        json_object_set_new(record, "outside", seen);
    process_result_free(&result);
    return record;
}
