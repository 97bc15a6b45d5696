/* report_remarks.c - see report_remarks.h. */
#include "harness/report/report_remarks.h"

#include "harness/base/json_fields.h"
#include "harness/records/comparable.h"
#include "harness/records/records.h"
#include "harness/report/html.h"
#include "harness/sample/warmup.h"

#include <string.h>

static void cut_short_write(FILE *to, const struct report *report)
{
    size_t i, cut = 0, all = 0;
    const json_t *record;
    json_array_foreach(report->records, i, record)
    {
        all += record_is(record, "ok");
        cut += record_is(record, "ok") && json_object_get(record, "short_ns");
    }
    if (cut == 0)
        return;
    html_open(to, "p", "class", "problem", NULL);
    html_format(to,
                "%zu of %zu samples ended before their calls took the time that was asked for, "
                "because these are very short: their numbers are of less work than the others'.",
                cut, all);
    html_close(to, "p");
}

/* The record's number of cores where there are fewer than workers, else 0. */
static size_t crowded_cores(const json_t *record)
{
    const json_t *cores = json_object_get(json_object_get(record, "probe"), "cores");
    size_t count = json_array_size(cores);
    return record_is(record, "ok") && (json_int_t)count < field_integer(record, "workers") ? count
                                                                                           : 0;
}

static void crowded_write(FILE *to, const struct report *report)
{
    size_t i, crowded = 0, cores = 0;
    json_int_t workers = 0;
    const json_t *record;
    json_array_foreach(report->records, i, record)
    {
        if (crowded_cores(record) == 0)
            continue;
        crowded++;
        if (field_integer(record, "workers") > workers) {
            workers = field_integer(record, "workers");
            cores = crowded_cores(record);
        }
    }
    if (crowded == 0)
        return;
    html_open(to, "p", "class", "problem", NULL);
    html_format(to,
                "%zu samples had more workers than cores, up to %lld on %zu: workers took turns, "
                "and the numbers are of that too.",
                crowded, (long long)workers, cores);
    html_close(to, "p");
}

struct share {
    size_t some, all;
};

/* How many of the samples that are ok are such. */
static struct share share_of(const struct report *report, bool (*is_such)(const json_t *record))
{
    struct share share = {0, 0};
    size_t i;
    const json_t *record;
    json_array_foreach(report->records, i, record)
    {
        if (!record_is(record, "ok"))
            continue;
        share.all++;
        share.some += is_such(record);
    }
    return share;
}

static bool is_unsettled(const json_t *record)
{
    return strcmp(field_text(record, "warmup_rule"), WARMUP_LIMIT) == 0;
}

static void unsettled_write(FILE *to, const struct report *report)
{
    struct share unsettled = share_of(report, is_unsettled);
    if (unsettled.some == 0)
        return;
    html_open(to, "p", "class", "problem", NULL);
    html_format(to,
                "The warm-up of %zu of %zu samples ended at its limit: until then their calls had "
                "not settled, or were too few to tell. Cell by cell has each cell's.",
                unsettled.some, unsettled.all);
    html_close(to, "p");
}

static bool is_overloaded(const json_t *record)
{
    return strstr(field_text(record, "print"), "load not met: ") != NULL;
}

static void overload_write(FILE *to, const struct report *report)
{
    struct share overloaded = share_of(report, is_overloaded);
    const json_t *record = NULL;
    size_t i;
    if (overloaded.some == 0)
        return;
    html_open(to, "p", "class", "problem", NULL);
    html_format(to,
                "%zu of %zu samples did not meet their load: requests came faster than they were "
                "served, so their latencies are of a queue that grows.",
                overloaded.some, overloaded.all);
    json_array_foreach(report->records, i, record)
    {
        if (record_is(record, "ok") && is_overloaded(record))
            break;
    }
    html_format(to, " The first: %s %s on %lld workers, %s", field_text(record, "variant"),
                field_text(record, "workload"), (long long)field_integer(record, "workers"),
                field_text(record, "print"));
    html_close(to, "p");
}

static void steal_write(FILE *to, const struct report *report)
{
    struct share unknown = share_of(report, comparable_steal_is_unknown);
    if (unknown.some == 0)
        return;
    html_open(to, "p", "class", "problem", NULL);
    html_format(to,
                "Steal is not known of %zu of %zu samples: the hypervisor does not tell what it "
                "takes, so none of these is marked for it.",
                unknown.some, unknown.all);
    html_close(to, "p");
}

void report_remarks_write(FILE *to, const struct report *report)
{
    cut_short_write(to, report);
    crowded_write(to, report);
    unsettled_write(to, report);
    overload_write(to, report);
    steal_write(to, report);
}
