/* cell_remarks.c - see cell_remarks.h. */
#include "harness/evidence/cell_remarks.h"

#include "harness/base/json_fields.h"
#include "harness/numbers/units.h"
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

bool cell_waste(const json_t *records, struct cell_waste *waste)
{
    double n = 0, cores_ns = 0;
    *waste = (struct cell_waste){0};
    json_each(record, records) {
        const json_t *waits = json_object_get(record, "waits");
        double wasted = record_event_value(record_event(record, "SIM_WASTED_NS"));
        if (!record_is(record, "ok") || !waits || isnan(wasted))
            continue;
        n++;
        waste->wasted_ns += wasted;
        double cores = fmin(field_number(record, "workers"), field_number(record, "cores"));
        cores_ns += cores * 1e9 / field_number(record, "throughput");
        waste->p50_ns += (double)field_integer(waits, "p50_ns");
        waste->p99_ns += (double)field_integer(waits, "p99_ns");
        waste->max_ns = fmax(waste->max_ns, (double)field_integer(waits, "longest_ns"));
    }
    if (n == 0)
        return false;
    waste->share = waste->wasted_ns / cores_ns;
    waste->wasted_ns /= n;
    waste->p50_ns /= n;
    waste->p99_ns /= n;
    return true;
}

static const double MUCH = 0.1;

/* On real threads, by the looks of sysmon. */
static bool remark_estimated(const json_t *records, char text[CELL_REMARK_SIZE])
{
    static const double LOOKS_MIN = 1000;
    double looks = 0, wasted = 0;
    json_each(record, records) {
        double all = field_number(record_event(record, "SYSMON_ROUNDS"), "value");
        double some = field_number(record_event(record, "WASTED_SAMPLES"), "value");
        if (!record_is(record, "ok") || isnan(all) || isnan(some))
            continue;
        looks += all;
        wasted += some;
    }
    if (looks < LOOKS_MIN || wasted < MUCH * looks)
        return false;
    snprintf(text, CELL_REMARK_SIZE,
             "%.0f %% of sysmon's looks found a P idle beside work that waited (WASTED_SAMPLES, an "
             "estimate)",
             100 * wasted / looks);
    return true;
}

bool cell_remark_wasted(const json_t *records, char text[CELL_REMARK_SIZE])
{
    struct cell_waste waste;
    text[0] = '\0';
    if (!cell_waste(records, &waste))
        return remark_estimated(records, text);
    if (waste.share < MUCH)
        return false;
    snprintf(text, CELL_REMARK_SIZE,
             "cores were idle beside work that waited for %.0f %% of their time (SIM_WASTED_NS); "
             "the longest wait took %s",
             100 * waste.share, text_time(waste.max_ns).s);
    return true;
}

bool cell_remarks(const json_t *records, char text[CELL_REMARKS_SIZE])
{
    static bool (*const remarks[])(const json_t *records, char text[CELL_REMARK_SIZE]) = {
        cell_remark_load, cell_remark_sysmon, cell_remark_regimes, cell_remark_wasted};
    char *at = text, one[CELL_REMARK_SIZE];
    *at = '\0';
    for (size_t i = 0; i < sizeof remarks / sizeof remarks[0]; i++)
        if (remarks[i](records, one))
            at += sprintf(at, "%s%s", at > text ? "; " : "", one);
    return *text != '\0';
}
