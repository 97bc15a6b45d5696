/* sample_record.h - the part of a sample's record that follows from its request.
 *
 * Callers: sample.c and peer_sample.c, which measure; child.c for samples that gave no answer. The
 * schema is results/README.md.
 */
#ifndef SCHEDLAB_SAMPLE_RECORD_H
#define SCHEDLAB_SAMPLE_RECORD_H

#include "harness/records/sample_request.h"
#include "harness/spec/spec.h"

#include <jansson.h>

enum { SAMPLE_ENTRIES_MAX = 1000 }; /* of `iterations` in a record: call_times.h */

/* The part of a record that is known before anything runs: schema, cell, started, variant, workload
 * and how it is to run, command. The caller adds the status and the measured values. */
json_t *sample_record_new(const struct sample_request *request, const struct variant_spec *variant,
                          const struct workload_spec *workload);

/* A record's latency: {"count", "p50_ns" .. "max_ns", "buckets"}. Owned by the caller. */
struct histogram;
json_t *sample_latency_to_json(const struct histogram *latency);

/* The same of a request that may hold specifications that are wrong: variant and workload stay as
 * they were typed. */
json_t *sample_record_of_request(const struct sample_request *request);

#endif
