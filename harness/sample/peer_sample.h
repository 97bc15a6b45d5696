/* peer_sample.h - one sample of a workload on another runtime.
 *
 * Callers: sample.c, in the sample's process, on its first thread, after the process was bound to
 * the cores, which the peer's program inherits. It runs the program, reads its line and checks the
 * answer. For that the workload runs once here as well, serially or on a variant with one thread.
 * The peer's operations, answer and digest must pass its verify(), and must be equal to the results
 * here. Only an order is the peer's own: each goroutine must have its place in it (order.h).
 */
#ifndef SCHEDLAB_PEER_SAMPLE_H
#define SCHEDLAB_PEER_SAMPLE_H

#include "harness/base/error.h"
#include "harness/records/sample_request.h"
#include "harness/spec/spec.h"

#include <jansson.h>
#include <stdbool.h>

/* True, and one line in why, if the request cannot be served: the program is not built, or a
 * foreign runtime lacks a setting that is asked for. pre: variant is a peer. */
bool peer_must_skip(const struct sample_request *request, const struct variant_spec *variant,
                    struct error *why);

/* Measures, and adds to the record, made by sample_record_new(), status and all that was measured.
 * False and one line in error if the list of events is malformed. */
bool peer_sample_measure(const struct sample_request *request, const struct variant_spec *variant,
                         const struct workload_spec *workload, json_t *record, struct error *error);

#endif
