/* robbed.c - see robbed.h. */
#include "harness/evidence/robbed.h"

#include "harness/base/json_fields.h"
#include "harness/numbers/statistics.h"
#include "harness/records/records.h"

enum { EARLIER_MIN = 3 };

static const double SHARE_MIN = 0.95, PREEMPTED_FACTOR = 2, PREEMPTED_MORE = 20;

bool robbed_mark(json_t *record, const double *cpu_share, const double *preempted_per_s,
                 size_t count)
{
    if (count < EARLIER_MIN || !record_is(record, "ok"))
        return false;
    double share = statistics_median_alone(cpu_share, count);
    double preempted = statistics_median_alone(preempted_per_s, count);
    bool robbed = field_number(record, "cpu_share") < SHARE_MIN * share &&
                  field_number(record, "preempted_per_s") >
                      PREEMPTED_FACTOR * preempted + PREEMPTED_MORE; /* false of NAN */
    if (!robbed)
        return false;
    if (!json_object_get(record, "marks"))
        json_object_set_new(record, "marks", json_array());
    json_array_append_new(json_object_get(record, "marks"), json_string("robbed"));
    return true;
}
