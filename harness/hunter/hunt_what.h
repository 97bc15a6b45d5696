/* hunt_what.h - what `schedlab hunt` runs: a variant under a workload or a scenario, and whether
 * the two fit together. */
#ifndef SCHEDLAB_HUNT_WHAT_H
#define SCHEDLAB_HUNT_WHAT_H

#include "harness/base/error.h"
#include "harness/hunt/campaign.h"
#include "harness/spec/spec.h"

#include <stdbool.h>

/* A workload or a scenario. False and one line in error if it is neither. */
bool hunt_workload_parse(struct workload_spec *spec, const char *text, struct error *error);

/* True if the text begins with the name of a variant, and not of a workload. */
bool hunt_is_variant(const char *text);

/* False and one line in error if these do not fit together. */
bool hunt_fits(const struct variant_spec *variant, const struct workload_spec *workload,
               int workers, struct error *error);

/* The campaign of the two, without its limits. */
struct campaign hunt_campaign_of(const struct variant_spec *variant,
                                 const struct workload_spec *workload, int workers);

/* Limits of options, and the depth of algorithms that have one. */
enum { HUNT_DEPTH_DEFAULT = 3 };
enum { HUNT_WORKERS_MAX = 16 };

#endif
