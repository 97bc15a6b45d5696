/* sweep_request.h - the request (sample_request.h) for a sample of a sweep.
 *
 * Callers: sweep_fetch.c, which measures a plan; cell_id.c, which names what it will measure; run
 * --cell, which measures one sample of it elsewhere. All three must ask for the same.
 */
#ifndef SCHEDLAB_SWEEP_REQUEST_H
#define SCHEDLAB_SWEEP_REQUEST_H

#include "harness/plan/plan.h"
#include "harness/plan/sweep_file.h"
#include "harness/records/sample_request.h"
#include "harness/sample/child.h"

/* The part that all samples of the sweep have in common. events: those of the sweep, joined; must
 * outlive the request. */
struct sample_request sweep_request_common(const struct sweep_file *sweep, uint64_t seed,
                                           const char *events);

/* The whole, for the cell's sample in a block. Its strings are the cell's and common's. */
struct sample_request sweep_request_cell(const struct sample_request *common,
                                         const struct cell *cell, unsigned block);

#endif
