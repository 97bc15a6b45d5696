/* experiment_expect.c - what a part expects: checked, and made ranges. See experiment_schema.h. */
#include "harness/base/memory.h"
#include "harness/base/suggest.h"
#include "harness/base/text.h"
#include "harness/counters/counter_names.h"
#include "harness/models/machine_spec.h"
#include "harness/numbers/units.h"
#include "harness/repro/experiment.h"
#include "harness/repro/experiment_schema.h"
#include "harness/spec/spec.h"
#include "workloads/workload.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PLACE_SIZE = 256 };

/* One expectation being checked, and where it stands. */
struct expecting {
    const struct yaml_reader *reader;
    const struct experiment *experiment;
    struct experiment_part *part;
    struct experiment_expect *expect;
    char place[PLACE_SIZE / 2]; /* parts/0/expect/1 */
};

/* The line of a key, or of the whole expectation if the key is left out. */
static size_t line_of(const struct expecting *self, const char *key)
{
    return yaml_key_line(self->reader, self->place, key);
}

/* Level ---------------------------------------------------------------------------------------- */

/* True if text, perhaps written otherwise, is the i-th level. */
static bool means_level(const struct experiment_part *part, unsigned i, const char *text)
{
    char *canonical;
    struct error error;
    int64_t number;
    if (part->factor == FACTOR_WORKERS)
        return spec_parse_number(text, NULL, &number) && number == part->workers[i];
    if (part->factor == FACTOR_KNOB)
        return false;
    canonical = part->factor == FACTOR_VARIANT    ? variant_spec_canonical(text, &error)
                : part->factor == FACTOR_WORKLOAD ? workload_spec_canonical(text, &error)
                                                  : machine_spec_canonical(text, &error);
    const char *level = part->factor == FACTOR_VARIANT    ? part->variants[i]
                        : part->factor == FACTOR_WORKLOAD ? part->workloads[i]
                                                          : part->levels[i];
    bool same = canonical && strcmp(canonical, level) == 0;
    free(canonical);
    return same;
}

static bool level_find(const struct expecting *self, const char *key, const char *given,
                       unsigned *index)
{
    const struct experiment_part *part = self->part;
    struct suggest near = suggest_for(given);
    for (*index = 0; *index < part->levels_count; ++*index) {
        if (strcmp(part->levels[*index], given) == 0)
            return true;
        suggest_offer(&near, part->levels[*index]);
    }
    for (*index = 0; *index < part->levels_count; ++*index)
        if (means_level(part, *index, given))
            return true;
    return yaml_complain(self->reader, line_of(self, key), "part \"%s\" has no level \"%s\"; %s",
                         part->id, given, suggest_text(&near, "", "the part's levels").s);
}

static bool levels_check(const struct expecting *self)
{
    struct experiment_expect *expect = self->expect;
    if (!expect->level)
        expect->level = xstrdup(self->part->levels[self->part->baseline]);
    if (!level_find(self, "level", expect->level, &expect->level_index) ||
        (expect->over && !level_find(self, "over", expect->over, &expect->over_index)))
        return false;
    if (expect->over && expect->over_index == expect->level_index)
        return yaml_complain(self->reader, line_of(self, "over"),
                             "level and over are both %s; valid: two levels", expect->over);
    return true;
}

/* Cells ---------------------------------------------------------------------------------------- */

static bool complain_of_choice(const struct expecting *self, const char *key, const char *given,
                               char *const *valid, unsigned count)
{
    struct suggest near = suggest_for(given);
    for (unsigned i = 0; i < count; i++)
        suggest_offer(&near, valid[i]);
    return yaml_complain(self->reader, line_of(self, key), "part \"%s\" has no %s \"%s\"; %s",
                         self->part->id, key, given, suggest_text(&near, "", "the part").s);
}

/* Makes *field, which may be NULL, one of the canonical texts of list. */
static bool choice_check(const struct expecting *self, const char *key, bool is_factor,
                         char **field, yaml_canonical_of *canonical, char *const *list,
                         unsigned count)
{
    if (!*field)
        return true;
    if (is_factor)
        return yaml_complain(self->reader, line_of(self, key),
                             "the levels of part \"%s\" are its %ss; valid: level", self->part->id,
                             key);
    return yaml_make_canonical(self->reader, line_of(self, key), canonical, field) &&
           (text_is_among(*field, list, count) ||
            complain_of_choice(self, key, *field, list, count));
}

static bool workers_check(const struct expecting *self)
{
    const struct experiment_part *part = self->part;
    char place[PLACE_SIZE];
    snprintf(place, sizeof place, "%s/workers", self->place);
    if (self->expect->table_says || !yaml_place_exists(self->reader->place, place))
        return true;
    if (part->factor == FACTOR_WORKERS)
        return yaml_complain(self->reader, line_of(self, "workers"),
                             "the levels of part \"%s\" are its workers; valid: level", part->id);
    const char *text = yaml_place_text(self->reader->place, place);
    for (unsigned i = 0; text && i < part->workers_count; i++)
        if (spec_parse_number(text, NULL, &self->expect->workers) &&
            self->expect->workers == part->workers[i])
            return true;
    return yaml_complain(self->reader, line_of(self, "workers"),
                         "workers is %s; valid: one that part \"%s\" has",
                         text && *text ? text : "empty", part->id);
}

static bool cells_check(const struct expecting *self)
{
    const struct experiment_part *part = self->part;
    bool own = part->machines_count > 0;
    return choice_check(self, "variant", part->factor == FACTOR_VARIANT, &self->expect->variant,
                        variant_spec_canonical, part->variants, part->variants_count) &&
           choice_check(self, "workload", part->factor == FACTOR_WORKLOAD, &self->expect->workload,
                        workload_spec_canonical, part->workloads, part->workloads_count) &&
           choice_check(self, "machine", part->factor == FACTOR_MACHINE, &self->expect->machine,
                        machine_spec_canonical, own ? part->machines : self->experiment->machines,
                        own ? part->machines_count : self->experiment->machines_count) &&
           workers_check(self);
}

/* Number --------------------------------------------------------------------------------------- */

/* The workloads that the expectation is about: a level's, its own, or each. */
static bool workload_is_meant(const struct expecting *self, unsigned i)
{
    const struct experiment_expect *expect = self->expect;
    if (self->part->factor == FACTOR_WORKLOAD)
        return i == expect->level_index || (expect->over && i == expect->over_index);
    return !expect->workload || strcmp(expect->workload, self->part->workloads[i]) == 0;
}

static bool latencies_check(const struct expecting *self, const char *metric)
{
    for (unsigned i = 0; i < self->part->workloads_count; i++)
        if (workload_is_meant(self, i) && !workload_spec_has_latency(self->part->workloads[i]))
            return yaml_complain(self->reader, line_of(self, "metric"),
                                 "metric is %s, but %s records no latencies; valid: throughput, "
                                 "or an event",
                                 metric, self->part->workloads[i]);
    return true;
}

/* `order` is what a workload prints. */
static bool order_check(const struct expecting *self)
{
    struct error error;
    for (unsigned i = 0; i < self->part->workloads_count; i++) {
        const struct workload_spec *spec = workload_spec_kept(self->part->workloads[i], &error);
        if (workload_is_meant(self, i) && !(spec && spec->workload->print))
            return yaml_complain(self->reader, line_of(self, "metric"),
                                 "metric is order, but %s finds none; valid: the workload order",
                                 self->part->workloads[i]);
    }
    if (self->expect->over || !self->expect->exactly)
        return yaml_complain(self->reader, line_of(self, self->expect->over ? "over" : "says"),
                             "metric is order, a text; valid: exactly, without over");
    return true;
}

static bool finding_check(const struct expecting *self, const char *metric)
{
    for (unsigned i = 0; i < self->part->workloads_count; i++)
        if (workload_is_meant(self, i) && !workload_spec_finds(self->part->workloads[i], metric))
            return yaml_complain(self->reader, line_of(self, "metric"),
                                 "metric is %s, which %s does not find out; valid: " METRIC_NAMES,
                                 metric, self->part->workloads[i]);
    return true;
}

static bool event_check(const struct expecting *self, const char *metric)
{
    struct error error;
    return counter_list_check(metric, &error) ||
           yaml_complain(self->reader, line_of(self, "metric"),
                         "%s; other metrics: throughput, p50, p99, max, order", error.text);
}

static bool metric_check(const struct expecting *self)
{
    struct experiment_expect *expect = self->expect;
    const char *metric = expect->metric ? expect->metric : self->part->metric;
    struct error error;
    expect->is_order = strcmp(metric, "order") == 0;
    if (expect->is_order)
        return order_check(self);
    if (!metric_parse(&expect->measured, metric, &error))
        return yaml_complain(self->reader, line_of(self, "metric"), "%s", error.text);
    if (metric_is_finding(metric))
        return finding_check(self, metric);
    return expect->measured.kind == METRIC_LATENCY ? latencies_check(self, metric)
           : expect->measured.kind == METRIC_EVENT ? event_check(self, metric)
                                                   : true;
}

/* Ranges --------------------------------------------------------------------------------------- */

static bool value_read(const struct expecting *self, const char *key, const char *text,
                       double *value)
{
    static const char *const valid[] = {[METRIC_THROUGHPUT] =
                                            "operations a second, as in 1000000 /s",
                                        [METRIC_LATENCY] = "a time in ns, us, ms or s, as in 84 us",
                                        [METRIC_EVENT] = "a number, as in 5"};
    const struct experiment_expect *expect = self->expect;
    enum metric_kind kind = expect->over ? METRIC_EVENT : expect->measured.kind; /* of no unit */
    return (metric_value_parse(kind, text, value) && *value >= 0) ||
           yaml_complain(self->reader, line_of(self, key), "%s is %s; valid: %s", key, text,
                         expect->over ? "a ratio, as in 2.5" : valid[expect->measured.kind]);
}

struct text experiment_number_text(const struct experiment_expect *expect, double value)
{
    if (expect->over)
        return text_ratio(value);
    struct text text = metric_text(expect->measured.kind, value);
    if (expect->measured.kind == METRIC_THROUGHPUT && isfinite(value))
        strcat(text.s, "/s");
    return text;
}

/* "at least 50x" */
static void wanted_write(struct experiment_expect *expect)
{
    struct text lo = experiment_number_text(expect, expect->lo);
    struct text hi = experiment_number_text(expect, expect->hi);
    expect->wanted = expect->is_order   ? xstrdup(expect->exactly)
                     : expect->at_least ? text_format("at least %s", lo.s)
                     : expect->at_most  ? text_format("at most %s", hi.s)
                     : expect->exactly  ? text_format("exactly %s", lo.s)
                                        : text_format("%s to %s", lo.s, hi.s);
}

static bool range_read(const struct expecting *self)
{
    struct experiment_expect *expect = self->expect;
    expect->lo = -INFINITY;
    expect->hi = INFINITY;
    if (expect->is_order)
        return true;
    if (expect->at_least)
        return value_read(self, "at_least", expect->at_least, &expect->lo);
    if (expect->at_most)
        return value_read(self, "at_most", expect->at_most, &expect->hi);
    if (expect->exactly) {
        bool ok = value_read(self, "exactly", expect->exactly, &expect->lo);
        expect->hi = expect->lo;
        return ok;
    }
    if (expect->between_count != 2)
        return yaml_complain(self->reader, line_of(self, "between"),
                             "between has %u values; valid: two, as in [1, 2]",
                             expect->between_count);
    if (!value_read(self, "between", expect->between[0], &expect->lo) ||
        !value_read(self, "between", expect->between[1], &expect->hi))
        return false;
    return expect->lo < expect->hi ||
           yaml_complain(self->reader, line_of(self, "between"),
                         "between is [%s, %s]; valid: the smaller value first", expect->between[0],
                         expect->between[1]);
}

static bool range_check(const struct expecting *self)
{
    struct experiment_expect *expect = self->expect;
    int ranges = (expect->at_least != NULL) + (expect->at_most != NULL) +
                 (expect->exactly != NULL) + (expect->between != NULL);
    if (ranges != 1)
        return yaml_complain(self->reader, line_of(self, "says"),
                             "an expectation has %s; valid: one of at_least, at_most, between, "
                             "exactly and table",
                             ranges ? "several ranges" : "no range");
    if (!range_read(self))
        return false;
    wanted_write(expect);
    return true;
}

/* A percentage, 0.1 to 100, of ranges that are not exact. */
static bool resolution_read(const struct expecting *self)
{
    struct experiment_expect *expect = self->expect;
    char *end = expect->resolution_text;
    if (!end)
        return true;
    double percent = strtod(end, &end);
    bool ok = *end == '\0' && percent >= 0.1 && percent <= 100;
    expect->resolution = percent / 100;
    if (!ok)
        return yaml_complain(self->reader, line_of(self, "resolution"),
                             "resolution is %s; valid: 0.1 to 100, in percent",
                             expect->resolution_text);
    return !(expect->exactly || expect->role != ROLE_CLAIM) ||
           yaml_complain(self->reader, line_of(self, "resolution"),
                         "resolution beside %s; valid: of a claim with a range",
                         expect->exactly ? "exactly" : "another role than claim");
}

bool experiment_expect_check(const struct yaml_reader *reader, const struct experiment *experiment,
                             unsigned p)
{
    struct experiment_part *part = &experiment->parts[p];
    if (!experiment_tables_expand(reader, part, p))
        return false;
    for (unsigned i = 0; i < part->expect_count; i++) {
        struct expecting self = {reader, experiment, part, &part->expect[i], ""};
        snprintf(self.place, sizeof self.place, "parts/%u/expect/%u", p, part->expect[i].in_file);
        if (!levels_check(&self) || !cells_check(&self) || !metric_check(&self) ||
            !range_check(&self) || !resolution_read(&self))
            return false;
    }
    return true;
}
