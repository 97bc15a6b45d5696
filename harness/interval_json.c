/* interval_json.c - see interval_json.h. */
#include "harness/interval_json.h"

#include <math.h>

void number_into_json(json_t *object, const char *key, double number)
{
    if (isfinite(number))
        json_object_set_new(object, key, json_real(number));
}

void interval_into_json(json_t *object, struct interval interval)
{
    if (statistics_has_interval(interval)) {
        json_object_set_new(object, "lo", json_real(interval.lo));
        json_object_set_new(object, "hi", json_real(interval.hi));
    } else if (statistics_has_too_few(interval)) {
        json_object_set_new(object, "interval",
                            json_pack("{so}", "absent",
                                      json_sprintf("too few samples: a 95 %% interval takes %d",
                                                   STATISTICS_INTERVAL_MIN)));
    }
}

json_t *ratio_to_json(struct interval ratio)
{
    if (!isfinite(ratio.median))
        return NULL;
    json_t *object = json_pack("{sf}", "ratio", ratio.median);
    interval_into_json(object, ratio);
    return object;
}
