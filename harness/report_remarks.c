/* report_remarks.c - see report_remarks.h. */
#include "harness/report_remarks.h"

#include "harness/html.h"
#include "harness/records.h"

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

void report_remarks_write(FILE *to, const struct report *report)
{
    cut_short_write(to, report);
}
