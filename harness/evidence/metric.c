/* metric.c - see metric.h. */
#include "harness/evidence/metric.h"

#include "harness/base/json_fields.h"
#include "harness/base/suggest.h"
#include "harness/counters/counter_names.h"
#include "harness/records/records.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The percentage behind the p of "p99.9"; NAN if it is another name. */
static double percentage(const char *name)
{
    char *end;
    if (name[0] != 'p' || !isdigit((unsigned char)name[1]))
        return NAN;
    double percent = strtod(name + 1, &end);
    return *end ? NAN : percent;
}

bool metric_parse(struct metric *metric, const char *name, struct error *error)
{
    double percent = strcmp(name, "max") == 0 ? 100 : percentage(name);
    *metric = (struct metric){.kind = METRIC_EVENT, .name = name};
    if (strcmp(name, "throughput") == 0) {
        metric->kind = METRIC_THROUGHPUT;
    } else if (!isnan(percent)) {
        metric->kind = METRIC_LATENCY;
        metric->quantile = percent / 100;
        if (percent <= 0 || percent > 100)
            return error_set(error, "no share of the latencies is %s; valid: p1 to p99.99, max",
                             name);
    }
    return true;
}

bool metric_is_finding(const char *name)
{
    struct metric metric;
    struct error error;
    return islower((unsigned char)*name) &&
           name[strspn(name, "abcdefghijklmnopqrstuvwxyz_")] == 0 &&
           metric_parse(&metric, name, &error) && metric.kind == METRIC_EVENT;
}

const char *metric_name(const struct metric *metric)
{
    return metric->name ? metric->name : "throughput";
}

double metric_of(const struct metric *metric, const json_t *record)
{
    if (!record_is(record, "ok"))
        return NAN;
    switch (metric->kind) {
    case METRIC_LATENCY:
        return record_latency_ns(record, metric->quantile);
    case METRIC_EVENT:
        if (metric_is_finding(metric->name))
            return field_number(json_object_get(record, "found"), metric->name);
        return record_event_value(record_event(record, metric->name));
    default:
        return field_number(record, "throughput");
    }
}

/* The nearest of the words and of the events that were counted, or that there are none. */
static void explain_unknown(const struct metric *metric, const json_t *records, struct error *error)
{
    struct suggest near = suggest_for(metric->name);
    char text[SUGGEST_TEXT_SIZE] = "no sample has events";
    json_each(record, records) {
        json_each(event, json_object_get(record, "events")) {
            if (!isnan(record_event_value(event)))
                suggest_offer(&near, counter_short_name(field_text(event, "name")));
        }
        const char *found;
        json_t *value;
        json_object_foreach(json_object_get(record, "found"), found, value)
            suggest_offer(&near, found);
    }
    bool has_events = near.count > 0;
    suggest_offer(&near, "throughput");
    if (near.near || has_events)
        snprintf(text, sizeof text, "the nearest is \"%s\"", near.best);
    error_print(error, "no sample has a number \"%s\"; %s; valid: " METRIC_NAMES, metric->name,
                text);
}

bool metric_is_known(const struct metric *metric, const json_t *records, struct error *error)
{
    if (metric->kind == METRIC_THROUGHPUT) /* pairs say why they have no numbers */
        return true;
    json_each(record, records) {
        if (!isnan(metric_of(metric, record)))
            return true;
    }
    if (metric->kind == METRIC_EVENT)
        explain_unknown(metric, records, error);
    else
        error_print(error, "no sample has a %s: its workload has no latencies, or too few of them",
                    metric_name(metric));
    return false;
}

bool metric_value_parse(enum metric_kind kind, const char *text, double *value)
{
    static const struct {
        const char *name;
        double factor;
    } units[][6] = {
        [METRIC_THROUGHPUT] = {{"/s", 1}, {"", 1}},
        [METRIC_LATENCY] = {{"ns", 1}, {"us", 1e3}, {"\302\265s", 1e3}, {"ms", 1e6}, {"s", 1e9}},
        [METRIC_EVENT] = {{"", 1}},
    };
    char *end;
    double number = strtod(text, &end);
    bool is_number = end != text && isfinite(number);
    end += strspn(end, " ");
    for (size_t i = 0; is_number && units[kind][i].name; i++) {
        *value = number * units[kind][i].factor;
        if (strcmp(end, units[kind][i].name) == 0)
            return true;
    }
    return false;
}

struct text metric_text(enum metric_kind kind, double number)
{
    return kind == METRIC_LATENCY ? text_time(number)
           : kind == METRIC_EVENT ? text_count(number)
                                  : text_si(number);
}

void metric_describe(const struct metric *metric, char *text, size_t size)
{
    int index = -1;
    char name[256];
    switch (metric->kind) {
    case METRIC_THROUGHPUT:
        snprintf(text, size, "operations a second");
        return;
    case METRIC_LATENCY:
        snprintf(text, size, "%s of the latencies", metric->name);
        return;
    default:
        if (metric_is_finding(metric->name)) {
            snprintf(text, size, "%s, as the workload found", metric->name);
            return;
        }
        for (int with_prefix = 0; with_prefix < 2 && index < 0; with_prefix++) {
            snprintf(name, sizeof name, "%s%s", with_prefix ? "" : COUNTER_SDE_PREFIX,
                     metric->name);
            index = counter_sde_find(name);
        }
    }
    enum counter_kind kind = index < 0 ? COUNTER_SUM : counter_sde_kind(index);
    snprintf(text, size, "%s%s", metric->name,
             kind == COUNTER_PEAK || kind == COUNTER_RUN_PEAK ? ", the peak"
             : kind == COUNTER_LEVEL                          ? ", at the end"
                                                              : " per operation");
}
