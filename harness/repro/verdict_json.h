/* verdict_json.h - parts and verdicts as in repro.json, whose schema is results/README.md.
 *
 * Callers: repro_judge.c, and the catalogue, which shows parts without verdicts too.
 */
#ifndef SCHEDLAB_VERDICT_JSON_H
#define SCHEDLAB_VERDICT_JSON_H

#include "harness/repro/verdict.h"

#include <jansson.h>

/* One expectation with its columns; the caller's. machine: where it was judged. */
json_t *judged_to_json(const struct judged *judged, const char *machine);

/* A part with all that it expects, not judged; the caller's. */
json_t *part_to_json(const struct experiment_part *part);

/* A list of texts; the caller's. */
json_t *texts_to_json(char *const *list, unsigned count);

#endif
