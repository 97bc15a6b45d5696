/* peer_sample.c - see peer_sample.h. */
#include "harness/sample/peer_sample.h"

#include "harness/base/json_fields.h"
#include "harness/base/memory.h"
#include "harness/base/process.h"
#include "harness/base/text.h"
#include "harness/counters/counter_names.h"
#include "harness/records/records.h"
#include "harness/records/sample_record.h"
#include "harness/sample/warmup.h"
#include "harness/spec/outside.h"
#include "harness/spec/peer_table.h"
#include "sched.h"
#include "workloads/histogram.h"
#include "workloads/order.h"
#include "workloads/workload.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    PATH_SIZE = 4096,
    REASON_SIZE = 512,
    OPTIONS = 6,
    OPTION_SIZE = 48,
    ARGUMENTS_MAX = 64,
};

static const char EVENT_ABSENT[] =
    "counted in this program's timed calls only, and a peer is another program";

/* The program's answer, and its faults. */
struct peer_answer {
    json_t *line;              /* the whole object; NULL if there was none */
    struct histogram *latency; /* NULL if it told of none */
    uint64_t answer, digest, ops, calls;
    int64_t time_ns;
    char failure[REASON_SIZE];     /* "" as long as all is well */
    char unsupported[REASON_SIZE]; /* "" unless the peer declines */
};

static void __attribute__((format(printf, 2, 3)))
fail(struct peer_answer *peer, const char *format, ...)
{
    if (*peer->failure)
        return;
    va_list args;
    va_start(args, format);
    vsnprintf(peer->failure, sizeof peer->failure, format, args);
    va_end(args);
    text_one_line(peer->failure);
}

bool peer_must_skip(const struct sample_request *request, const struct variant_spec *variant,
                    struct error *why)
{
    if (peer_absence(variant->ops, why))
        return true;
    if (request->pin && request->workers > 1)
        return reason_set(why, "--pin cannot give each worker of %s a core of its own",
                          variant->ops->name);
    return request->stack_bytes > 0 &&
           reason_set(why, "--stack means nothing to %s, which has stacks of its own",
                      variant->ops->name);
}

/* Running ------------------------------------------------------------------------------------- */

/* PROGRAM WORKLOAD --workers=2 ... KEY=VALUE ... */
struct command {
    char program[PATH_SIZE];
    const char *argv[ARGUMENTS_MAX + 1];
    char options[OPTIONS][OPTION_SIZE];
    char *params[ARGUMENTS_MAX];
    int argc, option_count, param_count;
};

static void command_add_option(struct command *command, const char *name, int64_t value)
{
    char *text = command->options[command->option_count++];
    snprintf(text, OPTION_SIZE, "--%s=%" PRId64, name, value);
    command->argv[command->argc++] = text;
}

/* Every parameter, the defaults too: a peer has no defaults of its own that could differ. */
static void command_add_params(struct command *command, const struct workload_spec *workload)
{
    const struct param *param = workload->workload->params;
    for (; param && param->name && command->argc < ARGUMENTS_MAX; param++) {
        int64_t value = *param_field(workload->params, param);
        char *text = text_format("%s=%s", param_key(param), param_value_text(param, value).s);
        command->params[command->param_count++] = text;
        command->argv[command->argc++] = text;
    }
}

/* A program of its own is not asked whether it is warm: `auto` is the least that auto takes. */
static int warmup_calls(const struct sample_request *request)
{
    return request->warmup == WARMUP_AUTO ? WARMUP_CALLS_MIN : request->warmup;
}

static void command_make(struct command *command, const struct sample_request *request,
                         const struct sched_ops *ops, const struct workload_spec *workload)
{
    memset(command, 0, sizeof *command);
    command->argv[command->argc++] = peer_program(ops, command->program, sizeof command->program);
    command->argv[command->argc++] = workload->workload->name;
    command_add_option(command, "workers", request->workers);
    command_add_option(command, "seed", (int64_t)request->seed);
    command_add_option(command, "warmup", warmup_calls(request));
    command_add_option(command, "iterations", request->iterations > 0 ? request->iterations : 1);
    command_add_option(command, "iterations-max", SAMPLE_ENTRIES_MAX);
    command_add_option(command, "min-time-ns", request->min_time_ns);
    command_add_params(command, workload);
}

static void command_free(struct command *command)
{
    for (int i = 0; i < command->param_count; i++)
        free(command->params[i]);
}

/* Reading ------------------------------------------------------------------------------------- */

static bool read_hex(struct peer_answer *peer, const char *key, uint64_t *value)
{
    const char *text = json_string_value(json_object_get(peer->line, key));
    if (!text || strlen(text) != 16 || strspn(text, "0123456789abcdef") != 16) {
        fail(peer, "its line has no %s of 16 hex digits", key);
        return false;
    }
    *value = strtoull(text, NULL, 16);
    return true;
}

static void read_iterations(struct peer_answer *peer, const struct sample_request *request)
{
    json_t *iterations = json_object_get(peer->line, "iterations"), *iteration;
    size_t i;
    uint64_t least = request->iterations > 0 ? (uint64_t)request->iterations : 1;
    if (json_array_size(iterations) > SAMPLE_ENTRIES_MAX)
        fail(peer, "its line has %zu iterations, %d at most were asked for",
             json_array_size(iterations), SAMPLE_ENTRIES_MAX);
    json_array_foreach(iterations, i, iteration)
    {
        json_int_t time_ns = field_integer(iteration, "time_ns");
        json_int_t ops = field_integer(iteration, "ops");
        json_int_t calls =
            json_object_get(iteration, "calls") ? field_integer(iteration, "calls") : 1;
        if (time_ns <= 0 || ops <= 0 || calls <= 0)
            fail(peer, "its iteration %zu has no time_ns, ops and calls above 0", i + 1);
        else if (i > 0 && (uint64_t)ops * peer->calls != peer->ops * (uint64_t)calls)
            fail(peer, "its iterations did different numbers of operations a call");
        peer->time_ns += time_ns;
        peer->ops += (uint64_t)ops;
        peer->calls += (uint64_t)calls;
    }
    if (peer->calls < least)
        fail(peer, "its line tells of %" PRIu64 " calls, %" PRIu64 " at least were asked for",
             peer->calls, least);
}

/* {"max_ns", "buckets": [[index, count]]}, where the workload has latencies. */
static void read_latency(struct peer_answer *peer, const struct workload_spec *spec)
{
    const json_t *latency = json_object_get(peer->line, "latency"), *bucket;
    const struct workload *workload = spec->workload;
    bool has = workload->has_latency && workload->has_latency(spec->params);
    size_t i;
    if (!has && latency)
        fail(peer, "its line has latencies, and the workload has none");
    if (!has || !latency)
        return;
    peer->latency = xcalloc(1, sizeof *peer->latency);
    peer->latency->max_ns = field_integer(latency, "max_ns");
    json_array_foreach(json_object_get(latency, "buckets"), i, bucket)
    {
        json_int_t index = json_integer_value(json_array_get(bucket, 0));
        json_int_t count = json_integer_value(json_array_get(bucket, 1));
        if (index < 0 || index >= HISTOGRAM_BUCKETS || count <= 0)
            fail(peer, "bucket %zu of its latencies is not an index below %d and a count above 0",
                 i + 1, HISTOGRAM_BUCKETS);
        else
            peer->latency->bucket[index] += (uint64_t)count;
    }
    if (histogram_count(peer->latency) == 0 || peer->latency->max_ns < 0)
        fail(peer, "its latencies have no max_ns of 0 or more, or no buckets");
}

/* The order in which goroutines ran is the peer's own. Its answer and digest are of that order. */
static void read_order(struct peer_answer *peer, const struct workload_spec *spec)
{
    const char *order = json_string_value(json_object_get(peer->line, "order"));
    if (order && !order_is_of(spec->workload))
        fail(peer, "its line has an order, and the workload asks for none");
    else if (!order && order_is_of(spec->workload))
        fail(peer, "its line has no order");
}

static void read_line(struct peer_answer *peer, const struct sample_request *request,
                      const struct workload_spec *workload)
{
    const char *error = json_string_value(json_object_get(peer->line, "error"));
    const char *unsupported = json_string_value(json_object_get(peer->line, "unsupported"));
    if (error) {
        fail(peer, "%s", error);
    } else if (unsupported) {
        snprintf(peer->unsupported, sizeof peer->unsupported, "%s", unsupported);
        text_one_line(peer->unsupported);
    } else if (!json_string_value(json_object_get(peer->line, "runtime")) ||
               !json_string_value(json_object_get(peer->line, "version"))) {
        fail(peer, "its line does not name runtime and version");
    } else if (read_hex(peer, "answer", &peer->answer) && read_hex(peer, "digest", &peer->digest)) {
        read_iterations(peer, request);
        read_latency(peer, workload);
        read_order(peer, workload);
    }
}

static void read_result(struct peer_answer *peer, const struct process_result *result,
                        const struct sample_request *request, const struct workload_spec *workload)
{
    json_error_t error;
    char end[REASON_SIZE];
    peer->line = json_loadb(result->output, result->output_size, JSON_REJECT_DUPLICATES, &error);
    process_end_text(result, end, sizeof end);
    if (*end && !json_object_get(peer->line, "error"))
        fail(peer, "%s", end);
    else if (!json_is_object(peer->line))
        fail(peer, "its output is not one JSON object: %s",
             peer->line ? "it is another value" : error.text);
    else
        read_line(peer, request, workload);
    if (*peer->failure && result->messages_size > 0)
        fwrite(result->messages, 1, result->messages_size, stderr);
}

/* The limit is the sample's, whose end the program does not outlive. */
static void run_program(struct peer_answer *peer, const struct sample_request *request,
                        const struct sched_ops *ops, const struct workload_spec *workload)
{
    struct command command;
    struct process_result result;
    command_make(&command, request, ops, workload);
    int error = process_run(command.program, command.argv, 0, &result);
    if (error) {
        fail(peer, "cannot start a process: %s", strerror(-error));
    } else {
        read_result(peer, &result, request, workload);
        process_result_free(&result);
    }
    command_free(&command);
}

/* Checking ------------------------------------------------------------------------------------ */

struct reference {
    const struct workload *workload;
    void *state;
    struct outcome out;
};

static void reference_main(void *arg)
{
    struct reference *reference = arg;
    const struct workload *outside = outside_compiled(reference->workload);
    if (outside)
        outside->run(reference->state, &reference->out);
    else
        workload_run(reference->workload, reference->state, &reference->out);
}

/* One thread: nothing to race with. */
static const struct sched_ops *reference_variant(void)
{
    for (const struct sched_ops *const *ops = sched_variants; *ops; ops++)
        if ((*ops)->single_threaded)
            return *ops;
    return sched_variants[0];
}

/* 0 or -errno. */
static int reference_run(struct reference *reference, uint64_t seed)
{
    if (reference->workload->run_serial) {
        reference->workload->run_serial(reference->state, &reference->out);
        return 0;
    }
    const struct sched_ops *ops = reference_variant();
    void *knobs = xcalloc(1, ops->knobs_size + 1);
    params_set_defaults(knobs, ops->knobs);
    struct sched_config config = {.ops = ops, .knobs = knobs, .workers = 1, .seed = seed};
    int error = 0;
    struct sched *sched = sched_new(&config, &error);
    if (sched) {
        sched_run(sched, reference_main, reference);
        sched_free(sched);
    }
    free(knobs);
    return sched ? 0 : error;
}

/* Nothing is run here for an order: any is right in which each goroutine has its place. */
static void check_order(struct peer_answer *peer, const struct workload_spec *spec)
{
    char why[REASON_SIZE];
    const char *order = json_string_value(json_object_get(peer->line, "order"));
    const struct outcome out = {
        .ops = peer->ops / peer->calls, .answer = peer->answer, .digest = peer->digest};
    const char *wrong = order_told_verify(spec->params, order, &out, why, sizeof why);
    if (wrong)
        fail(peer, "wrong answer: %s", wrong);
}

/* verify() knows the right answer without a run. It looks at the state of the run here, and at the
 * peer's outcome. */
static void check(struct peer_answer *peer, const struct sample_request *request,
                  const struct workload_spec *spec)
{
    struct reference reference = {.workload = spec->workload};
    char why[REASON_SIZE];
    reference.state = spec->workload->init(spec->params, request->seed);
    int error = reference_run(&reference, request->seed);
    if (error) {
        fail(peer, "cannot run the workload to check the answer: %s", strerror(-error));
    } else {
        struct outcome out = reference.out;
        out.ops = peer->ops / peer->calls;
        out.answer = peer->answer;
        out.digest = peer->digest;
        const char *wrong = spec->workload->verify(reference.state, &out, why, sizeof why);
        if (wrong)
            fail(peer, "wrong answer: %s", wrong);
        else if (out.answer != reference.out.answer || out.digest != reference.out.digest ||
                 out.ops != reference.out.ops)
            fail(peer,
                 "digest disagrees: it is %016" PRIx64 ", but a run of the workload here has "
                 "%016" PRIx64,
                 out.digest, reference.out.digest);
    }
    spec->workload->fini(reference.state);
}

/* Records ------------------------------------------------------------------------------------- */

static json_t *events_absent(const char *events, struct error *error)
{
    struct counter_names names;
    json_t *array = NULL;
    if (counter_names_split(&names, events, error)) {
        array = json_array();
        for (size_t i = 0; i < names.count; i++)
            json_array_append_new(array,
                                  json_pack("{ss ss ss}", "name", names.name[i], "source",
                                            counter_source(names.name[i]), "absent", EVENT_ABSENT));
    }
    counter_names_free(&names);
    return array;
}

/* Puts events that the program itself counted in the place of their absence. */
static void events_tell(json_t *events, const json_t *line)
{
    json_int_t threads = field_integer(line, "threads");
    json_each(event, events) {
        if (threads > 0 &&
            strcmp(field_text(event, "name"), COUNTER_SDE_PREFIX COUNTER_THREADS) == 0) {
            json_object_del(event, "absent");
            json_object_set_new(event, "value", json_integer(threads));
        }
    }
}

static void record_numbers(json_t *record, const struct peer_answer *peer,
                           const struct sample_request *request)
{
    json_t *line = peer->line;
    double seconds = (double)peer->time_ns / 1e9;
    json_object_set_new(record, "runtime",
                        json_pack("{sO sO}", "name", json_object_get(line, "runtime"), "version",
                                  json_object_get(line, "version")));
    json_object_set(record, "iterations", json_object_get(line, "iterations"));
    if (peer->time_ns < request->min_time_ns)
        json_object_set_new(record, "short_ns", json_integer(request->min_time_ns - peer->time_ns));
    json_object_set_new(record, "time_ns", json_integer((json_int_t)peer->time_ns));
    json_object_set_new(record, "ops", json_integer((json_int_t)peer->ops));
    json_object_set_new(record, "throughput", json_real((double)peer->ops / seconds));
    json_object_set(record, "answer", json_object_get(line, "answer"));
    json_object_set(record, "digest", json_object_get(line, "digest"));
    if (json_object_get(line, "order"))
        json_object_set(record, "order", json_object_get(line, "order"));
    if (peer->latency)
        json_object_set_new(record, "latency", sample_latency_to_json(peer->latency));
}

bool peer_sample_measure(const struct sample_request *request, const struct variant_spec *variant,
                         const struct workload_spec *workload, json_t *record, struct error *error)
{
    const char *name = variant->ops->name;
    struct peer_answer peer = {.line = NULL};
    char reason[2 * REASON_SIZE];
    json_t *events = events_absent(request->events, error);
    if (!events)
        return false;
    run_program(&peer, request, variant->ops, workload);
    if (*peer.unsupported) {
        snprintf(reason, sizeof reason, "%s does not support %s", name, peer.unsupported);
        record_skip(record, reason);
        json_decref(events);
        json_decref(peer.line);
        return true;
    }
    json_object_set_new(record, "warmup", json_integer(warmup_calls(request)));
    json_object_set_new(record, "warmup_rule", json_string("fixed"));
    json_object_set_new(record, "events", events);
    if (!*peer.failure) {
        if (order_is_of(workload->workload))
            check_order(&peer, workload);
        else
            check(&peer, request, workload);
        events_tell(events, peer.line);
        record_numbers(record, &peer, request);
    }
    if (*peer.failure) {
        snprintf(reason, sizeof reason, "%s: %s", name, peer.failure);
        record_fail(record, reason);
    } else {
        json_object_set_new(record, "status", json_string("ok"));
    }
    free(peer.latency);
    json_decref(peer.line);
    return true;
}
