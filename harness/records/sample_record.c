/* sample_record.c - see sample_record.h. */
#include "harness/records/sample_record.h"

#include "harness/base/build_info.h"
#include "harness/models/machine_start.h"
#include "harness/records/records.h"
#include "harness/spec/peer_table.h"
#include "sched.h"
#include "workloads/histogram.h"
#include "workloads/workload.h"

#include <stdlib.h>

enum { STACK_SIZE_DEFAULT = 64 << 10 /* what sched_new() takes for 0 */ };

/* A simulated machine is the same at all times; the state of a real one depends on the time, so the
 * record has it. */
static void record_add_machine(json_t *record, const struct sample_request *request)
{
    char started[32];
    if (machine_text_is_simulated(request->machine)) {
        json_object_set_new(record, "sim_seed", json_integer((json_int_t)request->sim_seed));
        machine_record_model(record, request->machine);
    } else {
        record_time_text(started);
        json_object_set_new(record, "started", json_string(started));
    }
}

json_t *sample_record_new(const struct sample_request *request, const struct variant_spec *variant,
                          const struct workload_spec *workload)
{
    char cell[CELL_ID_SIZE];
    const char *machine = request->machine ? request->machine : "native";
    size_t stack = request->stack_bytes ? request->stack_bytes : STACK_SIZE_DEFAULT;
    record_cell_id(cell, variant->text, workload->text, request->workers, machine);
    struct sample_request canonical = *request;
    canonical.variant = variant->text;
    canonical.workload = workload->text;
    char *command = sample_request_command(&canonical);
    json_t *record = json_pack(
        "{si ss ss ss ss so ss ss so ss si ss sI sb sI ss}", "schema", RECORD_SCHEMA, "version",
        build_version(), "cell", cell, "variant", variant->text, "variant_name", variant->ops->name,
        "knobs", variant_settings_to_json(variant), "workload", workload->text, "workload_name",
        workload->workload->name, "params",
        params_to_json(workload->params, workload->workload->params), "op", workload->workload->op,
        "workers", request->workers, "machine", machine, "seed", (json_int_t)request->seed, "pin",
        request->pin, "stack_bytes", (json_int_t)stack, "command", command);
    free(command);
    record_add_machine(record, request);
    if (peer_is(variant->ops))
        json_object_del(record, "stack_bytes"); /* its stacks are its own affair */
    return record;
}

json_t *sample_record_of_request(const struct sample_request *request)
{
    struct variant_spec variant = {.ops = NULL};
    struct workload_spec workload = {.workload = NULL};
    struct error error;
    json_t *record;
    if (variant_spec_parse(&variant, request->variant, &error) &&
        workload_spec_parse(&workload, request->workload, &error) &&
        workload_spec_set_workers(&workload, request->workers, &error))
        record = sample_record_new(request, &variant, &workload);
    else
        record = json_pack("{si ss ss ss}", "schema", RECORD_SCHEMA, "version", build_version(),
                           "variant", request->variant, "workload", request->workload);
    if (!record)
        abort();
    variant_spec_free(&variant);
    workload_spec_free(&workload);
    return record;
}

json_t *sample_latency_to_json(const struct histogram *latency)
{
    json_t *buckets = json_array();
    size_t cursor = 0;
    int64_t upper_ns;
    uint64_t count;
    while (histogram_next(latency, &cursor, &upper_ns, &count))
        json_array_append_new(buckets, json_pack("[II]", (json_int_t)upper_ns, (json_int_t)count));
    return json_pack("{sI sI sI sI sI sI so}", "count", (json_int_t)histogram_count(latency),
                     "p50_ns", (json_int_t)histogram_percentile(latency, 50), "p90_ns",
                     (json_int_t)histogram_percentile(latency, 90), "p99_ns",
                     (json_int_t)histogram_percentile(latency, 99), "p999_ns",
                     (json_int_t)histogram_percentile(latency, 99.9), "max_ns",
                     (json_int_t)latency->max_ns, "buckets", buckets);
}
