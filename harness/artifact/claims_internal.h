/* claims_internal.h - the two kinds of runs that have claims, and how a claim is written.
 *
 * Callers: claims*.c.
 */
#ifndef SCHEDLAB_CLAIMS_INTERNAL_H
#define SCHEDLAB_CLAIMS_INTERNAL_H

#include "harness/base/error.h"

#include <jansson.h>

/* The claims of a folder of `schedlab sweep`, and of one of `schedlab repro`; as claims_of(). */
json_t *claims_of_run(const char *folder, struct error *error);
json_t *claims_of_reproduction(const char *folder, const char *path, struct error *error);

/* 16 hex digits of the hash over all of json, whatever the order of its keys. */
json_t *claim_hash(const json_t *json);

/* Puts each of the three that is a number. */
void claim_put_interval(json_t *claim, double value, double lo, double hi);

#endif
