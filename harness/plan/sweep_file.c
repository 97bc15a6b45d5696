/* sweep_file.c - see sweep_file.h.
 *
 * sweep_schema.h has the keys and their types, this file the values.
 */
#include "harness/plan/sweep_file.h"

#include "harness/base/memory.h"
#include "harness/base/suggest.h"
#include "harness/base/text.h"
#include "harness/counters/counter_names.h"
#include "harness/evidence/metric.h"
#include "harness/models/machine_spec.h"
#include "harness/models/machine_start.h"
#include "harness/numbers/statistics.h"
#include "harness/plan/sweep_expect.h"
#include "harness/plan/sweep_schema.h"
#include "harness/records/sample_request.h"
#include "harness/spec/spec.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    PLACE_SIZE = 256,
    LONGER_SIZE = 512,
    SIM_REPS_DEFAULT = 3,
};

/* Values -------------------------------------------------------------------------------------- */

/* Reads the value at place again: libcyaml takes "3x" for 3, and knows no words beside numbers. */
static bool check_number(const struct yaml_reader *reader, const struct param *param,
                         const char *place, int64_t *value)
{
    const char *text = yaml_place_text(reader->place, place);
    if (text && param_parse_value(param, text, value))
        return true;
    sweep_complain_of_number(reader, yaml_place_line(reader->place, place), param->name,
                             text && *text ? text : "empty");
    return false;
}

static bool check_numbers(const struct yaml_reader *reader, struct sweep_file *sweep)
{
    bool ok = true;
    for (const struct param *param = sweep_file_params; param->name; param++) {
        int64_t *value = param_field(sweep, param);
        if (!yaml_place_exists(reader->place, param->name))
            *value = param->def;
        else
            ok = check_number(reader, param, param->name, value) && ok;
    }
    return ok;
}

/* Made canonical; NULL stays. */
static bool check_machine(const struct yaml_reader *reader, const char *place, char **machine)
{
    return !*machine || yaml_make_canonical(reader, yaml_place_line(reader->place, place),
                                            machine_spec_canonical, machine);
}

const char *sweep_group_machine(const struct sweep_file *sweep, const struct sweep_group *group)
{
    return group->machine ? group->machine : sweep->machine ? sweep->machine : "native";
}

const char *sweep_group_what_if(const struct sweep_file *sweep, const struct sweep_group *group)
{
    return group->what_if ? group->what_if : sweep->what_if;
}

void sweep_file_set_what_if(struct sweep_file *sweep, const char *settings)
{
    for (unsigned g = 0; g < sweep->groups_count; g++) {
        free(sweep->groups[g].what_if);
        sweep->groups[g].what_if = NULL;
    }
    free(sweep->what_if);
    sweep->what_if = xstrdup(settings);
}

static bool what_if_is_right(const char *machine, const char *settings, struct error *why)
{
    if (!machine_text_is_simulated(machine))
        return error_set(why, "it takes a simulated machine, for only that can be another one");
    char *other = machine_spec_what_if(machine, settings, why);
    free(other);
    return other != NULL;
}

bool sweep_file_check_machines(const struct sweep_file *sweep, struct error *error)
{
    struct error why;
    for (unsigned g = 0; g < sweep->groups_count; g++) {
        const struct sweep_group *group = &sweep->groups[g];
        const char *machine = sweep_group_machine(sweep, group);
        const char *settings = sweep_group_what_if(sweep, group);
        if (group->figure == SWEEP_FIGURE_STALLS && !machine_text_is_simulated(machine))
            return error_set(error,
                             "group %s, figure stalls: it takes a simulated machine, for only that "
                             "knows where cores stall",
                             group->id);
        if (settings && !what_if_is_right(machine, settings, &why))
            return error_set(error, "group %s, what_if \"%s\": %s", group->id, settings, why.text);
    }
    return true;
}

static int64_t default_of(const char *key)
{
    const struct param *param = sweep_file_params;
    while (strcmp(param->name, key) != 0)
        param++;
    return param->def;
}

/* The defaults if all machines are simulated. Calls need no length, since no clock is coarse, and
 * need not settle as on a real machine. Samples of a cell differ by the seed alone. */
static void defaults_of_machine(struct sweep_file *sweep)
{
    bool simulated = true;
    for (unsigned g = 0; g < sweep->groups_count; g++)
        simulated =
            simulated && machine_text_is_simulated(sweep_group_machine(sweep, &sweep->groups[g]));
    if (!sweep->min_time_given)
        sweep->min_time_ms = simulated ? 0 : default_of("min_time_ms");
    if (!sweep->warmup_given)
        sweep->warmup = simulated ? default_of("warmup") : WARMUP_AUTO;
    if (!sweep->reps_given && !sweep->reps_max_given)
        sweep->reps = sweep->reps_max = simulated ? SIM_REPS_DEFAULT : default_of("reps");
}

void sweep_file_set_machine(struct sweep_file *sweep, const char *machine)
{
    char *text = xstrdup(machine); /* which may be one of those */
    for (unsigned g = 0; g < sweep->groups_count; g++) {
        free(sweep->groups[g].machine);
        sweep->groups[g].machine = NULL;
    }
    free(sweep->machine);
    sweep->machine = text;
    defaults_of_machine(sweep);
}

/* Checks the numbers against one another. */
static bool check_limits(const struct yaml_reader *reader, struct sweep_file *sweep)
{
    sweep->reps_given = yaml_place_exists(reader->place, "reps");
    sweep->reps_max_given = yaml_place_exists(reader->place, "reps_max");
    sweep->min_time_given = yaml_place_exists(reader->place, "min_time_ms");
    sweep->warmup_given = yaml_place_exists(reader->place, "warmup");
    if (sweep->reps_max == 0)
        sweep->reps_max = sweep->reps;
    size_t line = yaml_line(reader, "reps_max");
    if (sweep->reps_max < sweep->reps)
        return yaml_complain(reader, line,
                             "reps_max is %lld, less than reps; valid: %lld to 1000 repetitions",
                             (long long)sweep->reps_max, (long long)sweep->reps);
    if (sweep->width > 0 && sweep->reps_max < STATISTICS_INTERVAL_MIN)
        return yaml_complain(reader, yaml_line(reader, "width"),
                             "width takes a reps_max of %d to 1000 repetitions, here it is %lld: "
                             "fewer samples have no 95 %% interval",
                             STATISTICS_INTERVAL_MIN, (long long)sweep->reps_max);
    if (sweep->class_each && sweep->class_min == 0)
        return yaml_complain(
            reader, yaml_line(reader, "class_each"),
            "class_each takes class_min, how many samples at each core distance; valid: "
            "1 to 1000 samples");
    return true;
}

static bool check_name(const struct yaml_reader *reader, size_t line, const char *key,
                       const char *name)
{
    return sweep_name_is_valid(name) ||
           yaml_complain(reader, line, "%s is \"%s\"; valid: " SWEEP_NAME_RULE, key, name);
}

/* Makes names whole. place: of the list. */
static bool check_events(const struct yaml_reader *reader, const char *place, char **events,
                         unsigned count)
{
    struct error error;
    for (unsigned i = 0; i < count; i++) {
        struct counter_names names;
        bool ok = counter_names_split(&names, events[i], &error) &&
                  counter_names_check(&papi_api_native, &names, &error);
        if (ok && names.count == 1) { /* with its prefix */
            char *given = events[i];
            events[i] = names.name[0];
            names.name[0] = given;
        }
        counter_names_free(&names);
        size_t line = yaml_line(reader, "%s/%u", place, i);
        if (!ok)
            return yaml_complain(reader, line, "%s", error.text);
        if (!yaml_is_new(reader, line, events, i, events[i]))
            return false;
        if (strcmp(events[i], "none") == 0 && count > 1)
            return yaml_complain(reader, line, "none stands beside other events; valid: [none]");
    }
    return true;
}

/* A growing list of texts, none of them twice, which takes the place of one that libcyaml made. */
struct texts {
    char **text;
    unsigned count;
};

/* Takes text. False after a complaint about that line if it is there already. */
static bool texts_add(const struct yaml_reader *reader, size_t line, struct texts *texts,
                      char *text)
{
    if (yaml_is_new(reader, line, texts->text, texts->count, text)) {
        array_add(texts->text, texts->count) = text;
        return true;
    }
    free(text);
    return false;
}

/* Puts ",NAME=VALUE" of the i-th value, which is on that line, at the end of text. NULL after a
 * complaint if the specification is then wrong. */
static char *knob_append(const struct yaml_reader *reader, size_t line, const char *text,
                         const struct sweep_knob *knob, unsigned i)
{
    char longer[LONGER_SIZE];
    snprintf(longer, sizeof longer, "%s,%s=%s", text, knob->name, knob->values[i]);
    return yaml_canonical(reader, line, variant_spec_canonical, longer);
}

/* The expansion of a group's variants over its knobs. */
struct expansion {
    const struct yaml_reader *reader;
    const struct sweep_group *group;
    unsigned g; /* its place in the file */
    struct texts texts;
    unsigned pairs, moot;
    struct error why; /* of the first pair that is moot */
};

/* True if the i-th value of the knob changes nothing beside text's own knob. Counts the pair, and
 * the moot ones. */
static bool pair_is_moot(struct expansion *self, const char *text, const struct sweep_knob *knob,
                         unsigned i)
{
    char longer[LONGER_SIZE];
    struct error why;
    snprintf(longer, sizeof longer, "%s,%s=%s", text, knob->name, knob->values[i]);
    self->pairs++;
    if (!variant_spec_is_moot(longer, &why))
        return false;
    if (self->moot++ == 0)
        self->why = why;
    return true;
}

/* Adds text, which stems from that line, with each value of knob2, or as it is if there is none.
 * Takes text. */
static bool expand_knob2(struct expansion *self, size_t line, char *text)
{
    const struct sweep_knob *knob = self->group->knob2;
    if (!knob)
        return texts_add(self->reader, line, &self->texts, text);
    bool ok = true;
    for (unsigned i = 0; ok && i < knob->values_count; i++) {
        if (pair_is_moot(self, text, knob, i))
            continue;
        line = yaml_line(self->reader, "groups/%u/knob2/values/%u", self->g, i);
        char *canonical = knob_append(self->reader, line, text, knob, i);
        ok = canonical && texts_add(self->reader, line, &self->texts, canonical);
    }
    free(text);
    return ok;
}

static bool expand_variant(struct expansion *self, unsigned v)
{
    const struct sweep_group *group = self->group;
    size_t line = yaml_line(self->reader, "groups/%u/variants/%u", self->g, v);
    if (!group->knob)
        return texts_add(
            self->reader, line, &self->texts,
            yaml_canonical(self->reader, line, variant_spec_canonical, group->variants[v]));
    for (unsigned i = 0; i < group->knob->values_count; i++) {
        line = yaml_line(self->reader, "groups/%u/knob/values/%u", self->g, i);
        /* Not the canonical text: where the file's names the knob too, that is the mistake. */
        char *one = knob_append(self->reader, line, group->variants[v], group->knob, i);
        if (!one || !expand_knob2(self, line, one))
            return false;
    }
    return true;
}

/* Each by itself first: what lost its quotes is better told so than as given twice. */
static bool variants_are_right(const struct yaml_reader *reader, const struct sweep_group *group,
                               unsigned g)
{
    bool ok = true;
    for (unsigned v = 0; v < group->variants_count; v++) {
        size_t line = yaml_line(reader, "groups/%u/variants/%u", g, v);
        char *alone = yaml_canonical(reader, line, variant_spec_canonical, group->variants[v]);
        ok = ok && alone;
        free(alone);
    }
    return ok;
}

/* False after a complaint if no pair is left. */
static bool tell_left_out(const struct expansion *self, struct sweep_group *group)
{
    if (self->moot == 0)
        return true;
    if (self->moot == self->pairs)
        return yaml_complain(self->reader, yaml_line(self->reader, "groups/%u/knob2", self->g),
                             "no pair of %s and %s is left: %s", group->knob->name,
                             group->knob2->name, self->why.text);
    group->left_out = text_format(
        "%u of %u pairs of %s and %s are left out, since one changes nothing beside the other: %s",
        self->moot, self->pairs, group->knob->name, group->knob2->name, self->why.text);
    return true;
}

static bool expand_variants(const struct yaml_reader *reader, struct sweep_group *group, unsigned g)
{
    struct expansion self = {.reader = reader, .group = group, .g = g};
    bool ok = variants_are_right(reader, group, g);
    for (unsigned v = 0; ok && v < group->variants_count; v++)
        ok = expand_variant(&self, v);
    if (!ok || !tell_left_out(&self, group)) {
        texts_free(self.texts.text, self.texts.count);
        return false;
    }
    texts_free(group->variants, group->variants_count);
    group->variants = self.texts.text;
    group->variants_count = self.texts.count;
    return true;
}

static bool check_workloads(const struct yaml_reader *reader, struct sweep_group *group, unsigned g)
{
    bool right = true;
    for (unsigned w = 0; w < group->workloads_count; w++) {
        char **text = &group->workloads[w];
        size_t line = yaml_line(reader, "groups/%u/workloads/%u", g, w);
        right = yaml_make_canonical(reader, line, workload_spec_canonical, text) &&
                yaml_is_new(reader, line, group->workloads, w, *text) && right;
    }
    return right;
}

static bool check_baseline(const struct yaml_reader *reader, struct sweep_group *group, unsigned g)
{
    size_t line = yaml_line(reader, "groups/%u/baseline", g);
    if (!yaml_make_canonical(reader, line, variant_spec_canonical, &group->baseline))
        return false;
    struct suggest near = suggest_for(group->baseline);
    for (unsigned i = 0; i < group->variants_count; i++) {
        if (strcmp(group->variants[i], group->baseline) == 0)
            return true;
        suggest_offer(&near, group->variants[i]);
    }
    return yaml_complain(reader, line, "the baseline %s is not one of the group's variants; %s",
                         group->baseline,
                         suggest_text(&near, "", "variants and knob of the group").s);
}

/* Checks that each workload can do its work on so many workers. */
static bool check_workloads_on(const struct yaml_reader *reader, const struct sweep_group *group,
                               int64_t workers, const char *place)
{
    struct error error;
    for (unsigned w = 0; w < group->workloads_count; w++)
        if (!workload_spec_fits(group->workloads[w], workers, &error))
            return yaml_complain(reader, yaml_place_line(reader->place, place), "%s", error.text);
    return true;
}

static bool check_workers(const struct yaml_reader *reader, const struct sweep_group *group,
                          unsigned g)
{
    static const struct param param = {
        .name = "workers", .min = 1, .max = SAMPLE_WORKERS_MAX, .unit = "1"};
    for (unsigned i = 0; i < group->workers_count; i++) {
        char place[PLACE_SIZE];
        snprintf(place, sizeof place, "groups/%u/workers/%u", g, i);
        if (!check_number(reader, &param, place, &group->workers[i]) ||
            !check_workloads_on(reader, group, group->workers[i], place))
            return false;
        for (unsigned k = 0; k < i; k++)
            if (group->workers[k] == group->workers[i])
                return yaml_complain(reader, yaml_place_line(reader->place, place),
                                     "workers %lld is given twice", (long long)group->workers[i]);
    }
    return true;
}

/* Checks that the knobs are those that the figure has axes for. */
static bool check_knobs(const struct yaml_reader *reader, const struct sweep_group *group,
                        unsigned g)
{
    bool map = group->figure == SWEEP_FIGURE_HEATMAP;
    if (map != (group->knob2 != NULL) || (map && !group->knob))
        return yaml_complain(reader, yaml_line(reader, "groups/%u", g),
                             "group \"%s\" has only some of knob, knob2 and figure: heatmap; "
                             "valid: all or none",
                             group->id);
    if (!map && (group->figure == SWEEP_FIGURE_KNOB) != (group->knob != NULL))
        return yaml_complain(
            reader, yaml_line(reader, "groups/%u", g),
            "group \"%s\" has only one of knob and figure: knob; valid: both or none", group->id);
    if (map && strcmp(group->knob->name, group->knob2->name) == 0)
        return yaml_complain(reader, yaml_line(reader, "groups/%u/knob2/name", g),
                             "knob2 is \"%s\" like knob; valid: another knob", group->knob2->name);
    return true;
}

static bool counts_no_events(const struct sweep_file *sweep, const struct sweep_group *group)
{
    bool own = group->events_count > 0;
    unsigned count = own ? group->events_count : sweep->events_count;
    return count > 0 && strcmp((own ? group->events : sweep->events)[0], "none") == 0;
}

/* Checks that there is a metric for its figure, and a figure for a metric. */
static bool check_metric(const struct yaml_reader *reader, const struct sweep_group *group,
                         unsigned g, struct metric *metric)
{
    struct error error;
    if ((group->figure == SWEEP_FIGURE_METRIC) != (group->metric != NULL))
        return yaml_complain(
            reader, yaml_line(reader, "groups/%u", g),
            "group \"%s\" has only one of metric and figure: metric; valid: both or none",
            group->id);
    if (!group->metric)
        return true;
    if (metric_is_finding(group->metric))
        return yaml_complain(reader, yaml_line(reader, "groups/%u/metric", g),
                             "metric \"%s\" is what a workload finds, which has no figure; valid: "
                             "throughput, p50 or another percentage, max, or an event",
                             group->metric);
    return metric_parse(metric, group->metric, &error) ||
           yaml_complain(reader, yaml_line(reader, "groups/%u/metric", g), "%s", error.text);
}

/* Checks that there is a parameter for its figure, with a number in each workload. */
static bool check_parameter(const struct yaml_reader *reader, const struct sweep_group *group,
                            unsigned g)
{
    bool surface = group->figure == SWEEP_FIGURE_SURFACE;
    if (surface != (group->parameter != NULL))
        return yaml_complain(
            reader, yaml_line(reader, "groups/%u", g),
            "group \"%s\" has only one of parameter and figure: surface; valid: both or none",
            group->id);
    if (surface && group->variants_count < 2)
        return yaml_complain(reader, yaml_line(reader, "groups/%u/variants", g),
                             "figure surface is over the baseline; valid: another variant beside "
                             "it");
    int64_t value;
    for (unsigned w = 0; surface && w < group->workloads_count; w++)
        if (!workload_spec_number(group->workloads[w], group->parameter, &value))
            return yaml_complain(reader, yaml_line(reader, "groups/%u/parameter", g),
                                 "%s has no number for %s; valid: a parameter that is a number in "
                                 "each workload of the group",
                                 group->workloads[w], group->parameter);
    return true;
}

/* Checks that the group will have the data that the figure shows. */
static bool check_figure(const struct yaml_reader *reader, const struct sweep_file *sweep,
                         unsigned g)
{
    const struct sweep_group *group = &sweep->groups[g];
    size_t line = yaml_line(reader, "groups/%u/figure", g);
    bool one = false, more = false, latencies = false;
    for (unsigned i = 0; i < group->workers_count; i++) {
        one = one || group->workers[i] == 1;
        more = more || group->workers[i] > 1;
    }
    for (unsigned w = 0; w < group->workloads_count; w++)
        latencies = latencies || workload_spec_has_latency(group->workloads[w]);
    struct metric metric = {0};
    if (!check_metric(reader, group, g, &metric) || !check_parameter(reader, group, g))
        return false;
    if (group->figure == SWEEP_FIGURE_SPEEDUP && !(one && more))
        return yaml_complain(reader, line,
                             "figure speedup is over the run on 1 worker; valid: workers that "
                             "hold 1 and another number, as in [1, 2]");
    if ((group->figure == SWEEP_FIGURE_LATENCY || metric.kind == METRIC_LATENCY) && !latencies)
        return yaml_complain(reader, line,
                             "figure %s, but no workload of the group \"%s\" records "
                             "latencies; valid: arrivals, or one with latency=on",
                             sweep_figure_name(group->figure), group->id);
    if ((group->figure == SWEEP_FIGURE_EVENTS || metric.kind == METRIC_EVENT) &&
        counts_no_events(sweep, group))
        return yaml_complain(reader, line,
                             "figure %s, but the group \"%s\" counts none; valid: events "
                             "other than [none]",
                             sweep_figure_name(group->figure), group->id);
    return true;
}

static void check_group(const struct yaml_reader *reader, struct sweep_file *sweep, unsigned g)
{
    struct sweep_group *group = &sweep->groups[g];
    size_t line = yaml_line(reader, "groups/%u/id", g);
    bool right = check_name(reader, line, "id", group->id);
    for (unsigned i = 0; right && i < g; i++)
        if (strcmp(sweep->groups[i].id, group->id) == 0)
            right = yaml_complain(reader, line, "two groups have the id \"%s\"", group->id);
    char events[PLACE_SIZE];
    snprintf(events, sizeof events, "groups/%u/events", g);
    char machine[PLACE_SIZE];
    snprintf(machine, sizeof machine, "groups/%u/machine", g);
    right = check_machine(reader, machine, &group->machine) && right;
    right = check_events(reader, events, group->events, group->events_count) && right;
    bool variants = check_knobs(reader, group, g) && expand_variants(reader, group, g) &&
                    check_baseline(reader, group, g);
    right = check_workloads(reader, group, g) && check_workers(reader, group, g) && right;
    if (right && variants && check_figure(reader, sweep, g))
        sweep_expect_check(reader, sweep, g);
}

static void check_values(const struct yaml_reader *reader, struct sweep_file *sweep)
{
    check_name(reader, yaml_line(reader, "name"), "name", sweep->name);
    if (check_numbers(reader, sweep))
        check_limits(reader, sweep);
    check_machine(reader, "machine", &sweep->machine);
    check_events(reader, "events", sweep->events, sweep->events_count);
    for (unsigned g = 0; g < sweep->groups_count; g++)
        check_group(reader, sweep, g);
    defaults_of_machine(sweep);
}

/* Loading ------------------------------------------------------------------------------------- */

/* Closes the reader. */
static struct sweep_file *sweep_read(struct yaml_reader *reader)
{
    struct sweep_file *sweep = sweep_schema_load(reader);
    if (sweep)
        check_values(reader, sweep);
    if (sweep && *reader->error->text) {
        sweep_file_free(sweep);
        sweep = NULL;
    }
    yaml_reader_close(reader);
    return sweep;
}

struct sweep_file *sweep_file_parse(const char *path, const char *text, size_t size,
                                    struct error *error)
{
    struct yaml_reader reader;
    bool ok = yaml_reader_open_text(&reader, path, text, size, error);
    return ok ? sweep_read(&reader) : NULL;
}

struct sweep_file *sweep_file_load(const char *path, struct error *error)
{
    struct yaml_reader reader;
    return yaml_reader_open(&reader, path, error) ? sweep_read(&reader) : NULL;
}
