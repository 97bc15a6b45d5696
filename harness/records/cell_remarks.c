/* cell_remarks.c - see cell_remarks.h. */
#include "harness/records/cell_remarks.h"

#include "harness/base/json_fields.h"
#include "harness/records/records.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char NOT_MET[] = "load not met: "; /* as workloads/load.h prints it */

bool cell_remark_load(const json_t *records, char text[CELL_REMARK_SIZE])
{
    size_t late = 0, all = 0;
    const char *first = NULL;
    json_each(record, records) {
        const char *found = strstr(field_text(record, "print"), NOT_MET);
        if (!record_is(record, "ok"))
            continue;
        all++;
        late += found != NULL;
        first = first ? first : found;
    }
    text[0] = '\0';
    if (late == 0)
        return false;
    first += sizeof NOT_MET - 1;
    snprintf(text, CELL_REMARK_SIZE, "load not met in %zu of %zu samples, the first: %.*s", late,
             all, (int)strcspn(first, "\n"), first);
    return true;
}

/* The share of a sample with blocking calls in which sysmon slept at its longest; NAN if there were
 * no calls, or if they were not counted. */
static double sysmon_long_share(const json_t *record)
{
    double long_ns = record_event_value(record_event(record, "SYSMON_LONG_NS"));
    double calls = record_event_value(record_event(record, "CALLS"));
    return calls > 0 ? long_ns * field_number(record, "throughput") / 1e9 : NAN;
}

bool cell_remark_sysmon(const json_t *records, char text[CELL_REMARK_SIZE])
{
    size_t slow = 0, quick = 0;
    json_each(record, records) {
        double share = record_is(record, "ok") ? sysmon_long_share(record) : NAN;
        slow += share > 0.5;
        quick += share <= 0.5;
    }
    text[0] = '\0';
    if (slow == 0 || quick == 0)
        return false;
    snprintf(text, CELL_REMARK_SIZE,
             "sysmon slept at its longest most of the time in %zu of %zu samples (SYSMON_LONG_NS), "
             "and took Ps from calls late or never; the median is over all",
             slow, slow + quick);
    return true;
}

bool cell_remarks(const json_t *records, char text[CELL_REMARKS_SIZE])
{
    char load[CELL_REMARK_SIZE], sysmon[CELL_REMARK_SIZE];
    bool overloaded = cell_remark_load(records, load), slept = cell_remark_sysmon(records, sysmon);
    snprintf(text, CELL_REMARKS_SIZE, "%s%s%s", load, overloaded && slept ? "; " : "", sysmon);
    return *text != '\0';
}
