/* sweep_expect.c - see sweep_expect.h. */
#include "harness/plan/sweep_expect.h"

#include "harness/base/memory.h"
#include "harness/base/suggest.h"
#include "harness/base/text.h"
#include "harness/counters/counter_names.h"
#include "harness/evidence/metric.h"
#include "harness/spec/spec.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PLACE_SIZE = 256 };

/* One expectation being checked, and where it stands. */
struct expecting {
    const struct yaml_reader *reader;
    const struct sweep_file *sweep;
    const struct sweep_group *group;
    struct sweep_expect *expect;
    char place[PLACE_SIZE / 2]; /* groups/0/expect/1 */
};

/* The line of a key, or of the whole expectation if the key is left out. */
static size_t line_of(const struct expecting *self, const char *key)
{
    return yaml_key_line(self->reader, self->place, key);
}

static bool complain_of_choice(const struct expecting *self, const char *key, const char *given,
                               char *const *valid, unsigned count)
{
    struct suggest near = suggest_for(given);
    for (unsigned i = 0; i < count; i++)
        suggest_offer(&near, valid[i]);
    return yaml_complain(self->reader, line_of(self, key), "the group \"%s\" has no %s \"%s\"; %s",
                         self->group->id, key, given, suggest_text(&near, "", "the group").s);
}

static bool check_variant(const struct expecting *self)
{
    const struct sweep_group *group = self->group;
    if (!self->expect->variant) {
        self->expect->variant = xstrdup(group->baseline);
        return true;
    }
    if (!yaml_make_canonical(self->reader, line_of(self, "variant"), variant_spec_canonical,
                             &self->expect->variant))
        return false;
    return text_is_among(self->expect->variant, group->variants, group->variants_count) ||
           complain_of_choice(self, "variant", self->expect->variant, group->variants,
                              group->variants_count);
}

/* Left out, it is the group's only one. */
static bool check_workload(const struct expecting *self)
{
    const struct sweep_group *group = self->group;
    if (!self->expect->workload && group->workloads_count > 1)
        return yaml_complain(self->reader, line_of(self, "workload"),
                             "an expectation of the group \"%s\" lacks the key \"workload\"; "
                             "valid without one: groups of one workload",
                             group->id);
    if (!self->expect->workload) {
        self->expect->workload = xstrdup(group->workloads[0]);
        return true;
    }
    if (!yaml_make_canonical(self->reader, line_of(self, "workload"), workload_spec_canonical,
                             &self->expect->workload))
        return false;
    return text_is_among(self->expect->workload, group->workloads, group->workloads_count) ||
           complain_of_choice(self, "workload", self->expect->workload, group->workloads,
                              group->workloads_count);
}

static bool check_workers(const struct expecting *self)
{
    const struct sweep_group *group = self->group;
    char place[PLACE_SIZE];
    snprintf(place, sizeof place, "%s/workers", self->place);
    if (!yaml_place_exists(self->reader->place, place)) {
        self->expect->workers = group->workers[0];
        return group->workers_count == 1 ||
               yaml_complain(self->reader, line_of(self, "workers"),
                             "an expectation of the group \"%s\" lacks the key \"workers\"; valid "
                             "without one: groups of one number of workers",
                             group->id);
    }
    const char *text = yaml_place_text(self->reader->place, place);
    for (unsigned i = 0; text && i < group->workers_count; i++)
        if (spec_parse_number(text, NULL, &self->expect->workers) &&
            self->expect->workers == group->workers[i])
            return true;
    return yaml_complain(self->reader, line_of(self, "workers"),
                         "workers is %s; valid: one that the group \"%s\" has",
                         text && *text ? text : "empty", group->id);
}

/* True for quantiles whose medians a report has, see tables.c. */
static bool has_quantile(double quantile)
{
    static const double known[] = {0.5, 0.9, 0.99, 0.999, 1};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (fabs(known[i] - quantile) < 1e-9)
            return true;
    return false;
}

/* Checks that the event is among those that the group counts. */
static bool check_event(const struct expecting *self)
{
    const struct sweep_group *group = self->group;
    bool own = group->events_count > 0;
    struct error error;
    char *text = own ? text_join(group->events, group->events_count)
                     : text_join(self->sweep->events, self->sweep->events_count);
    struct counter_names names;
    bool found = false;
    struct suggest near = suggest_for(self->expect->metric);
    if (counter_names_split(&names, text, &error)) {
        size_t prefix = strlen(COUNTER_SDE_PREFIX);
        for (size_t i = 0; i < names.count; i++) {
            bool ours = strncmp(names.name[i], COUNTER_SDE_PREFIX, prefix) == 0;
            const char *name = names.name[i] + (ours ? prefix : 0);
            found = found || strcmp(name, self->expect->metric) == 0;
            suggest_offer(&near, name);
        }
    }
    static const char *const others[] = {"throughput", "p50", "p90", "p99", "p99.9", "max"};
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        suggest_offer(&near, others[i]);
    if (!found) {
        yaml_complain(self->reader, line_of(self, "metric"),
                      "the group \"%s\" has no number \"%s\"; %s", group->id, self->expect->metric,
                      suggest_text(&near, "", "`schedlab list events`").s);
    }
    counter_names_free(&names);
    free(text);
    return found;
}

static bool check_metric(const struct expecting *self, enum metric_kind *kind)
{
    struct error error;
    struct metric metric;
    if (!metric_parse(&metric, self->expect->metric, &error))
        return yaml_complain(self->reader, line_of(self, "metric"), "%s", error.text);
    *kind = metric.kind;
    if (metric.kind == METRIC_LATENCY && !has_quantile(metric.quantile))
        return yaml_complain(self->reader, line_of(self, "metric"),
                             "metric is %s; valid: throughput, p50, p90, p99, p99.9, max, or an "
                             "event of the group",
                             self->expect->metric);
    if (metric.kind == METRIC_LATENCY && !workload_spec_has_latency(self->expect->workload))
        return yaml_complain(self->reader, line_of(self, "metric"),
                             "metric is %s, but %s records no latencies; valid: throughput, or an "
                             "event of the group",
                             self->expect->metric, self->expect->workload);
    return metric.kind != METRIC_EVENT || check_event(self);
}

/* "84 us": above 0, in a unit of the metric. */
static bool check_value(const struct expecting *self, enum metric_kind kind)
{
    static const char *const valid[] = {
        [METRIC_THROUGHPUT] = "operations a second above 0, as in 1000000 /s",
        [METRIC_LATENCY] = "a time above 0 in ns, us, ms or s, as in 84 us",
        [METRIC_EVENT] = "a number above 0, as in 5"};
    const char *text = self->expect->value_text;
    bool has_unit = kind != METRIC_THROUGHPUT || text_ends_with(text, "/s");
    return (has_unit && metric_value_parse(kind, text, &self->expect->value) &&
            self->expect->value > 0) ||
           yaml_complain(self->reader, line_of(self, "value"), "value is %s; valid: %s", text,
                         valid[kind]);
}

static bool check_within(const struct expecting *self)
{
    char *end;
    const char *text = self->expect->within_text;
    self->expect->within = strtod(text, &end);
    if (end != text && !*end && self->expect->within >= 1 && self->expect->within <= 1000)
        return true;
    return yaml_complain(self->reader, line_of(self, "within"),
                         "within is %s; valid: a factor of 1 to 1000", text);
}

bool sweep_expect_check(const struct yaml_reader *reader, const struct sweep_file *sweep,
                        unsigned g)
{
    const struct sweep_group *group = &sweep->groups[g];
    for (unsigned i = 0; i < group->expect_count; i++) {
        enum metric_kind kind = METRIC_THROUGHPUT;
        struct expecting self = {reader, sweep, group, &group->expect[i], ""};
        snprintf(self.place, sizeof self.place, "groups/%u/expect/%u", g, i);
        if (!check_variant(&self) || !check_workload(&self) || !check_workers(&self) ||
            !check_metric(&self, &kind) || !check_value(&self, kind) || !check_within(&self))
            return false;
    }
    return true;
}
