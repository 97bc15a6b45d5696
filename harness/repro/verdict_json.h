/* verdict_json.h - verdicts as part of repro.json, whose schema is results/README.md.
 *
 * Who calls: repro_judge.c.
 */
#ifndef SCHEDLAB_VERDICT_JSON_H
#define SCHEDLAB_VERDICT_JSON_H

#include "harness/repro/verdict.h"

#include <jansson.h>

/* One expectation with its columns; the caller's. machine: where it was judged. */
json_t *judged_to_json(const struct judged *judged, const char *machine);

#endif
