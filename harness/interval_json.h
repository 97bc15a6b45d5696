/* interval_json.h - an interval as programs read it.
 *
 * Who calls: whatever prints JSON with numbers that have an interval.
 */
#ifndef SCHEDLAB_INTERVAL_JSON_H
#define SCHEDLAB_INTERVAL_JSON_H

#include "harness/statistics.h"

#include <jansson.h>

/* Sets the key in the object, unless the number is none. */
void number_into_json(json_t *object, const char *key, double number);

/* Sets "lo" and "hi" in the object; or, with too few samples for them, "interval": {"absent":
 * reason}. Nothing without a number. */
void interval_into_json(json_t *object, struct interval interval);

/* {"ratio", "lo", "hi"}, or {"ratio", "interval"}; NULL without a number. */
json_t *ratio_to_json(struct interval ratio);

#endif
