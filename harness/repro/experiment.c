/* experiment.c - see experiment.h. This file reads and checks; experiment_sweep.c says what is
 * measured, experiment_expect.c checks what is expected. */
#include "harness/repro/experiment.h"

#include "harness/base/memory.h"
#include "harness/base/suggest.h"
#include "harness/base/text.h"
#include "harness/counters/counter_names.h"
#include "harness/models/machine_spec.h"
#include "harness/plan/sweep_file.h"
#include "harness/records/sample_request.h"
#include "harness/repro/experiment_schema.h"
#include "harness/spec/spec.h"
#include "sched.h"
#include "workloads/workload.h"

#include <stdlib.h>
#include <string.h>

enum { LONGER_SIZE = 1024, PLACE_SIZE = 256, SEED_DEFAULT = 1 };

/* A part being checked, and where it stands. */
struct parting {
    const struct yaml_reader *reader;
    struct experiment *experiment;
    struct experiment_part *part;
    char place[PLACE_SIZE / 2]; /* parts/0 */
};

/* The line of a key, or of the whole part if the key is left out. */
static size_t line_of(const struct parting *self, const char *key)
{
    return yaml_key_line(self->reader, self->place, key);
}

/* Canonical texts ----------------------------------------------------------------------------- */

/* Adds what the value at place, one text or a list of them, means. */
static bool texts_read(const struct yaml_reader *reader, const char *place,
                       yaml_canonical_of *canonical, char ***list, unsigned *count)
{
    char at[PLACE_SIZE];
    bool one = yaml_place_text(reader->place, place) != NULL;
    for (unsigned i = 0;; i++) {
        if (one)
            snprintf(at, sizeof at, "%s", place);
        else
            snprintf(at, sizeof at, "%s/%u", place, i);
        if (!yaml_place_exists(reader->place, at) || (one && i > 0))
            break;
        size_t line = yaml_place_line(reader->place, at);
        const char *given = yaml_place_text(reader->place, at);
        if (!given)
            return yaml_complain(reader, line,
                                 "a list of lists; valid: one text, or a list of them");
        char *text = yaml_canonical(reader, line, canonical, given);
        if (!text)
            return false;
        array_add(*list, *count) = text;
        if (!yaml_is_new(reader, line, *list, *count - 1, text))
            return false;
    }
    return *count > 0 || yaml_complain(reader, yaml_place_line(reader->place, place),
                                       "an empty list; valid: one text, or a list of them");
}

static bool machines_check(const struct yaml_reader *reader, const char *place, char **machines,
                           unsigned count)
{
    char at[PLACE_SIZE];
    for (unsigned i = 0; i < count; i++) {
        snprintf(at, sizeof at, "%s/%u", place, i);
        size_t line = yaml_place_line(reader->place, at);
        if (!yaml_make_canonical(reader, line, machine_spec_canonical, &machines[i]) ||
            !yaml_is_new(reader, line, machines, i, machines[i]))
            return false;
    }
    return true;
}

static bool events_check(const struct yaml_reader *reader, const char *place, char *const *events,
                         unsigned count)
{
    char at[PLACE_SIZE];
    struct error error;
    for (unsigned i = 0; i < count; i++) {
        snprintf(at, sizeof at, "%s/%u", place, i);
        if (!counter_list_check(events[i], &error))
            return yaml_complain(reader, yaml_place_line(reader->place, at), "%s", error.text);
    }
    return true;
}

/* Numbers ------------------------------------------------------------------------------------- */

static bool workers_read_one(const struct parting *self, const char *place)
{
    struct experiment_part *part = self->part;
    const char *text = yaml_place_text(self->reader->place, place);
    int64_t workers = 0;
    size_t line = yaml_place_line(self->reader->place, place);
    if (!text || !spec_parse_number(text, NULL, &workers) || workers < 1 ||
        workers > SAMPLE_WORKERS_MAX)
        return yaml_complain(self->reader, line, "workers is %s; valid: 1 to %d",
                             text && *text ? text : "empty", SAMPLE_WORKERS_MAX);
    for (unsigned i = 0; i < part->workers_count; i++)
        if (part->workers[i] == workers)
            return yaml_complain(self->reader, line, "workers %s is given twice", text);
    array_add(part->workers, part->workers_count) = workers;
    return true;
}

/* One number, or a list, at that key of the part. */
static bool workers_read(const struct parting *self, const char *key)
{
    char place[PLACE_SIZE], at[PLACE_SIZE + 16];
    snprintf(place, sizeof place, "%s/%s", self->place, key);
    if (yaml_place_text(self->reader->place, place))
        return workers_read_one(self, place);
    for (unsigned i = 0;; i++) {
        snprintf(at, sizeof at, "%s/%u", place, i);
        if (!yaml_place_exists(self->reader->place, at))
            break;
        if (!workers_read_one(self, at))
            return false;
    }
    return self->part->workers_count > 0 ||
           yaml_complain(self->reader, line_of(self, key), "%s is an empty list", key);
}

/* Reads the number at the key, with that parameter's range; *value stays if there is none. */
static bool number_read(const struct yaml_reader *reader, const struct param *param,
                        const char *key, int64_t *value)
{
    const char *text = yaml_place_text(reader->place, key);
    if (!yaml_place_exists(reader->place, key) || (text && param_parse_value(param, text, value)))
        return true;
    return yaml_complain(reader, yaml_line(reader, "%s", key), "%s is %s; valid: %s", key,
                         text && *text ? text : "empty", param_range_text(param).s);
}

/* Reads the settings of samples on the native machine: as elsewhere, unless native_ ones are
 * given. */
static bool native_read(const struct yaml_reader *reader, const struct sweep_file *num,
                        struct sweep_file *native)
{
    char key[64];
    *native = *num;
    native->min_time_given |= yaml_place_exists(reader->place, "native_min_time_ms");
    for (const struct param *param = sweep_file_params; param->name; param++) {
        snprintf(key, sizeof key, "native_%s", param->name);
        if (!number_read(reader, param, key, param_field(native, param)))
            return false;
    }
    return true;
}

/* Reads the numbers of a sweep. Some depend on the form if they are not given; they are 0 then. */
static bool numbers_read(const struct yaml_reader *reader, struct sweep_file *num)
{
    for (const struct param *param = sweep_file_params; param->name; param++) {
        int64_t *value = param_field(num, param);
        *value = param->def;
        if (!number_read(reader, param, param->name, value))
            return false;
    }
    num->reps_given = yaml_place_exists(reader->place, "reps");
    num->reps_max_given = yaml_place_exists(reader->place, "reps_max");
    num->min_time_given = yaml_place_exists(reader->place, "min_time_ms");
    if (num->seed < 0)
        num->seed = SEED_DEFAULT;
    if (!num->reps_given)
        num->reps = EXPERIMENT_QUICK_REPS;
    if (num->reps_max_given && num->reps_max < num->reps)
        return yaml_complain(reader, yaml_line(reader, "reps_max"),
                             "reps_max is %lld, less than reps; valid: %lld to 1000 repetitions",
                             (long long)num->reps_max, (long long)num->reps);
    return true;
}

/* Axes ---------------------------------------------------------------------------------------- */

static bool has_key(const struct parting *self, const char *key)
{
    char place[PLACE_SIZE];
    snprintf(place, sizeof place, "%s/%s", self->place, key);
    return yaml_place_exists(self->reader->place, place);
}

/* The key is there, unless it names the factor itself, where the levels stand in its place. */
static bool axis_key_check(const struct parting *self, const char *key, bool is_factor,
                           bool may_miss)
{
    if (is_factor && has_key(self, key))
        return yaml_complain(self->reader, line_of(self, key),
                             "part \"%s\" has %s beside factor: %s; valid: levels alone",
                             self->part->id, key, key);
    if (!is_factor && !may_miss && !has_key(self, key))
        return yaml_complain(self->reader, line_of(self, key), "part \"%s\" lacks the key \"%s\"",
                             self->part->id, key);
    return true;
}

static bool factor_find(struct parting *self)
{
    static const char *const words[] = {[FACTOR_VARIANT] = "variant",
                                        [FACTOR_WORKLOAD] = "workload",
                                        [FACTOR_WORKERS] = "workers",
                                        [FACTOR_MACHINE] = "machine"};
    self->part->factor = FACTOR_KNOB;
    for (enum experiment_factor i = FACTOR_VARIANT; i <= FACTOR_MACHINE; i++)
        if (strcmp(self->part->factor_text, words[i]) == 0)
            self->part->factor = i;
    return true;
}

/* True if the variant has the part's knob at all. If not, the factor is wrong, not a level. */
static bool has_knob(const struct parting *self, const char *variant)
{
    struct error unused;
    const struct variant_spec *spec = variant_spec_kept(variant, &unused);
    return spec && (param_find(spec->ops->knobs, self->part->factor_text) ||
                    param_find(variant_common_params, self->part->factor_text));
}

/* Adds a variant with one level of the knob. */
static bool knob_append(const struct parting *self, unsigned v, unsigned i)
{
    struct experiment_part *part = self->part;
    char longer[LONGER_SIZE];
    size_t line = has_knob(self, part->variants[v])
                      ? yaml_line(self->reader, "%s/levels/%u", self->place, i)
                      : line_of(self, "factor");
    snprintf(longer, sizeof longer, "%s,%s=%s", part->variants[v], part->factor_text,
             part->levels[i]);
    char *text = yaml_canonical(self->reader, line, variant_spec_canonical, longer);
    if (!text)
        return false;
    array_add(part->cell_variants, part->cell_variants_count) = text;
    return yaml_is_new(self->reader, line, part->cell_variants + v * part->levels_count, i, text);
}

static bool knob_expand(const struct parting *self)
{
    for (unsigned v = 0; v < self->part->variants_count; v++)
        for (unsigned i = 0; i < self->part->levels_count; i++)
            if (!knob_append(self, v, i))
                return false;
    return true;
}

static bool variants_read(const struct parting *self)
{
    struct experiment_part *part = self->part;
    char place[PLACE_SIZE];
    bool levels = part->factor == FACTOR_VARIANT;
    snprintf(place, sizeof place, "%s/%s", self->place, levels ? "levels" : "variant");
    return axis_key_check(self, "variant", levels, false) &&
           texts_read(self->reader, place, variant_spec_canonical, &part->variants,
                      &part->variants_count) &&
           (part->factor != FACTOR_KNOB || knob_expand(self));
}

static bool workloads_read(const struct parting *self)
{
    struct experiment_part *part = self->part;
    char place[PLACE_SIZE];
    bool levels = part->factor == FACTOR_WORKLOAD;
    snprintf(place, sizeof place, "%s/%s", self->place, levels ? "levels" : "workload");
    return axis_key_check(self, "workload", levels, false) &&
           texts_read(self->reader, place, workload_spec_canonical, &part->workloads,
                      &part->workloads_count);
}

/* One for each workload, and of the same kind, so that all that was said of it still fits. */
static bool held_read(const struct parting *self)
{
    struct experiment_part *part = self->part;
    char place[PLACE_SIZE];
    if (!has_key(self, "held"))
        return true;
    snprintf(place, sizeof place, "%s/held", self->place);
    if (!texts_read(self->reader, place, workload_spec_canonical, &part->held_workloads,
                    &part->held_workloads_count))
        return false;
    if (part->held_workloads_count != part->workloads_count)
        return yaml_complain(self->reader, line_of(self, "held"),
                             "held has %u workloads, and part \"%s\" has %u; valid: one for each",
                             part->held_workloads_count, part->id, part->workloads_count);
    for (unsigned i = 0; i < part->workloads_count; i++) {
        const char *workload = part->workloads[i], *held = part->held_workloads[i];
        size_t length = strcspn(workload, ",");
        if (strcspn(held, ",") != length || strncmp(workload, held, length) != 0)
            return yaml_complain(self->reader, line_of(self, "held"),
                                 "%s is held in place of %s; valid: %.*s with other parameters",
                                 held, workload, (int)length, workload);
    }
    return true;
}

static bool workers_axis_read(const struct parting *self)
{
    struct experiment_part *part = self->part;
    bool levels = part->factor == FACTOR_WORKERS;
    if (!axis_key_check(self, "workers", levels, true))
        return false;
    if (levels || has_key(self, "workers"))
        return workers_read(self, levels ? "levels" : "workers");
    array_add(part->workers, part->workers_count) = 1;
    return true;
}

static bool machines_read(const struct parting *self)
{
    struct experiment_part *part = self->part;
    char place[PLACE_SIZE];
    bool levels = part->factor == FACTOR_MACHINE;
    if (!axis_key_check(self, "machines", levels, true))
        return false;
    snprintf(place, sizeof place, "%s/%s", self->place, levels ? "levels" : "machines");
    return levels ? machines_check(self->reader, place, part->levels, part->levels_count)
                  : machines_check(self->reader, place, part->machines, part->machines_count);
}

/* One thing changes --------------------------------------------------------------------------- */

/* How many settings of a table differ between two owners. */
static int differing(const void *a, const void *b, const struct param *table)
{
    int count = 0;
    for (const struct param *param = table; param && param->name; param++)
        count += *(const int64_t *)((const char *)a + param->offset) !=
                 *(const int64_t *)((const char *)b + param->offset);
    return count;
}

/* In how many settings two designs differ; -1 if they are two. */
static int variants_differ(const char *a, const char *b)
{
    struct error unused;
    const struct variant_spec *x = variant_spec_kept(a, &unused);
    const struct variant_spec *y = variant_spec_kept(b, &unused);
    if (!x || !y || x->ops != y->ops)
        return -1;
    return differing(x->knobs, y->knobs, x->ops->knobs) +
           differing(&x->common, &y->common, variant_common_params);
}

static int workloads_differ(const char *a, const char *b)
{
    struct error unused;
    const struct workload_spec *x = workload_spec_kept(a, &unused);
    const struct workload_spec *y = workload_spec_kept(b, &unused);
    if (!x || !y || x->workload != y->workload)
        return -1;
    return differing(x->params, y->params, x->workload->params);
}

/* The level that a level is held against: the baseline, or the first one of its own design. */
static const char *partner_of(const struct experiment_part *part, unsigned level)
{
    char *const *list = part->variants;
    if (variants_differ(list[part->baseline], list[level]) >= 0)
        return list[part->baseline];
    unsigned i = 0;
    while (variants_differ(list[i], list[level]) < 0)
        i++;
    return list[i];
}

static bool one_thing_changes(const struct parting *self)
{
    const struct experiment_part *part = self->part;
    bool variants = part->factor == FACTOR_VARIANT;
    if (part->together || (!variants && part->factor != FACTOR_WORKLOAD))
        return true;
    for (unsigned i = 0; i < part->levels_count; i++) {
        const char *level = variants ? part->variants[i] : part->workloads[i];
        const char *partner = variants ? partner_of(part, i) : part->workloads[part->baseline];
        int count = variants ? variants_differ(partner, level) : workloads_differ(partner, level);
        if (count > 1 || count < 0)
            return yaml_complain(
                self->reader, yaml_line(self->reader, "%s/levels/%u", self->place, i),
                "%s and %s differ in %s; valid: one, or the key \"together\" that says why",
                partner, level,
                count < 0  ? "the workload itself"
                : variants ? "more than one knob"
                           : "more than one parameter");
    }
    return true;
}

/* Parts --------------------------------------------------------------------------------------- */

static bool id_is_valid(const char *id, const char *extra)
{
    static const char valid[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
    const char *at = id;
    if (!strchr(valid, *at) || !*at)
        return false;
    while (*at && (strchr(valid, *at) || strchr(extra, *at)))
        at++;
    return !*at && at - id <= SWEEP_NAME_MAX / 2;
}

static bool part_id_check(const struct parting *self)
{
    const struct experiment_part *part = self->part;
    if (!id_is_valid(part->id, "-"))
        return yaml_complain(self->reader, line_of(self, "id"),
                             "id is \"%s\"; valid: up to %d letters, digits, \"-\", the first a "
                             "letter or digit",
                             part->id, SWEEP_NAME_MAX / 2);
    for (const struct experiment_part *other = self->experiment->parts; other < part; other++)
        if (strcmp(other->id, part->id) == 0)
            return yaml_complain(self->reader, line_of(self, "id"), "two parts have the id \"%s\"",
                                 part->id);
    return true;
}

static bool baseline_find(const struct parting *self)
{
    struct experiment_part *part = self->part;
    if (!part->baseline_text)
        return true;
    struct suggest near = suggest_for(part->baseline_text);
    for (unsigned i = 0; i < part->levels_count; i++) {
        suggest_offer(&near, part->levels[i]);
        if (strcmp(part->levels[i], part->baseline_text) == 0) {
            part->baseline = i;
            return true;
        }
    }
    return yaml_complain(self->reader, line_of(self, "baseline"),
                         "the baseline %s is not one of the part's levels; %s", part->baseline_text,
                         suggest_text(&near, "", "the part's levels").s);
}

/* The figure of a part whose file does not say one. */
static enum sweep_figure figure_default(const struct experiment_part *part)
{
    struct metric metric;
    struct error error;
    if (strcmp(part->metric, "order") == 0 || metric_is_finding(part->metric) ||
        !metric_parse(&metric, part->metric, &error))
        return SWEEP_FIGURE_THROUGHPUT;
    bool one_design = part->variants_count == 1 && part->factor != FACTOR_KNOB;
    if (metric.kind == METRIC_EVENT || (part->factor == FACTOR_WORKLOAD && one_design))
        return SWEEP_FIGURE_METRIC;
    if (metric.kind == METRIC_LATENCY)
        return SWEEP_FIGURE_LATENCY;
    if (part->workers_count > 1) /* the others show the largest count alone */
        return SWEEP_FIGURE_METRIC;
    return part->factor == FACTOR_KNOB && part->levels_count > 2 && part->variants_count == 1
               ? SWEEP_FIGURE_KNOB
               : SWEEP_FIGURE_THROUGHPUT;
}

static bool figure_find(const struct parting *self)
{
    struct experiment_part *part = self->part;
    part->figure = figure_default(part);
    if (!part->figure_text)
        return true;
    struct suggest near = suggest_for(part->figure_text);
    for (enum sweep_figure i = SWEEP_FIGURE_THROUGHPUT; i < SWEEP_FIGURES; i++) {
        if (i == SWEEP_FIGURE_HEATMAP || i == SWEEP_FIGURE_SURFACE)
            continue;
        suggest_offer(&near, sweep_figure_name(i));
        if (strcmp(sweep_figure_name(i), part->figure_text) == 0) {
            part->figure = i;
            if (i != SWEEP_FIGURE_KNOB || part->factor == FACTOR_KNOB)
                return true;
            return yaml_complain(self->reader, line_of(self, "figure"),
                                 "figure knob, but the factor is %s; valid: parts whose factor is "
                                 "a knob",
                                 part->factor_text);
        }
    }
    return yaml_complain(self->reader, line_of(self, "figure"), "unknown figure \"%s\"; %s",
                         part->figure_text,
                         suggest_text(&near, "", "harness/repro/experiment.h").s);
}

/* Tells a mistake in the part that its sweep would be refused for, on the part's line. */
static bool sweep_check(const struct parting *self)
{
    struct error error = {0};
    struct experiment one = *self->experiment;
    const struct experiment_form form = {.quick = false};
    one.parts = self->part;
    one.parts_count = 1;
    const char **places = experiment_places(&one);
    bool ok = true;
    for (const char **place = places; ok && *place; place++) {
        char *text = experiment_sweep_text(&one, *place, false, &form);
        if (!text)
            continue;
        struct sweep_file *sweep = sweep_file_parse("", text, strlen(text), &error);
        error.text[strcspn(error.text, "\n")] = '\0';
        const char *what = sweep ? NULL : strstr(error.text, ": ");
        ok =
            sweep || yaml_complain(self->reader, yaml_place_line(self->reader->place, self->place),
                                   "part \"%s\": %s", self->part->id, what ? what + 2 : error.text);
        sweep_file_free(sweep);
        free(text);
    }
    free(places);
    return ok;
}

/* whole: is what stands above the parts right? */
static void part_check(const struct yaml_reader *reader, struct experiment *experiment, unsigned p,
                       bool whole)
{
    struct parting self = {reader, experiment, &experiment->parts[p], ""};
    struct experiment_part *part = self.part;
    char place[PLACE_SIZE];
    snprintf(self.place, sizeof self.place, "parts/%u", p);
    snprintf(place, sizeof place, "%s/events", self.place);
    if (!part->question)
        part->question = xstrdup(experiment->title);
    if (!part->metric)
        part->metric = xstrdup("throughput");
    factor_find(&self);
    bool id = part_id_check(&self), variants = variants_read(&self);
    bool work = workloads_read(&self) && held_read(&self), workers = workers_axis_read(&self);
    bool machines = machines_read(&self), baseline = baseline_find(&self);
    bool events = events_check(reader, place, part->events, part->events_count);
    if (id && variants && work && workers && machines && baseline && events &&
        one_thing_changes(&self) && experiment_expect_check(reader, experiment, p) &&
        figure_find(&self) && whole)
        sweep_check(&self);
}

/* The whole ----------------------------------------------------------------------------------- */

static void id_check(const struct yaml_reader *reader, const struct experiment *experiment)
{
    if (!id_is_valid(experiment->id, "-."))
        yaml_complain(reader, yaml_line(reader, "id"),
                      "id is \"%s\"; valid: up to %d letters, digits, \"-\", \".\", the "
                      "first a letter or digit",
                      experiment->id, SWEEP_NAME_MAX / 2);
}

/* True of 2026-11-28. */
static bool is_date(const char *text)
{
    int year, month, day, length = 0;
    return sscanf(text, "%4d-%2d-%2d%n", &year, &month, &day, &length) == 3 && length == 10 &&
           text[length] == '\0' && year >= 2000 && month >= 1 && month <= 12 && day >= 1 &&
           day <= 31;
}

static void dispute_check(const struct yaml_reader *reader, const struct experiment *experiment)
{
    if (experiment->dispute && !is_date(experiment->dispute->predicted))
        yaml_complain(reader, yaml_line(reader, "dispute/predicted"),
                      "predicted is \"%s\"; valid: a date, as in 2026-11-28",
                      experiment->dispute->predicted);
}

/* The verdict comes from claims alone. */
static void claims_check(const struct yaml_reader *reader, const struct experiment *experiment)
{
    for (unsigned p = 0; p < experiment->parts_count; p++)
        for (unsigned i = 0; i < experiment->parts[p].expect_count; i++)
            if (experiment->parts[p].expect[i].role == ROLE_CLAIM)
                return;
    yaml_complain(reader, yaml_line(reader, "parts"),
                  "no expectation carries the claim; valid: at least one whose role is claim, the "
                  "default");
}

/* A part is checked only if the settings of the whole experiment are right, since it is measured
 * with them. */
static void whole_check(const struct yaml_reader *reader, struct experiment *experiment)
{
    id_check(reader, experiment);
    dispute_check(reader, experiment);
    if (numbers_read(reader, &experiment->num))
        native_read(reader, &experiment->num, &experiment->native);
    machines_check(reader, "machines", experiment->machines, experiment->machines_count);
    events_check(reader, "events", experiment->events, experiment->events_count);
    bool right = *reader->error->text == '\0';
    if (experiment->machines_count == 0) {
        array_add(experiment->machines, experiment->machines_count) = xstrdup("native");
    }
    for (unsigned p = 0; p < experiment->parts_count; p++)
        part_check(reader, experiment, p, right);
    if (*reader->error->text == '\0')
        claims_check(reader, experiment);
}

struct experiment *experiment_load(const char *path, struct error *error)
{
    struct yaml_reader reader;
    if (!yaml_reader_open(&reader, path, error))
        return NULL;
    struct experiment *experiment = experiment_schema_load(&reader);
    if (experiment) {
        experiment->path = xstrdup(path);
        whole_check(&reader, experiment);
    }
    yaml_reader_close(&reader);
    if (experiment && *error->text) {
        experiment_free(experiment);
        experiment = NULL;
    }
    return experiment;
}

void experiment_free(struct experiment *experiment)
{
    if (!experiment)
        return;
    for (unsigned p = 0; p < experiment->parts_count; p++) {
        struct experiment_part *part = &experiment->parts[p];
        texts_free(part->cell_variants, part->cell_variants_count);
        texts_free(part->variants, part->variants_count);
        texts_free(part->workloads, part->workloads_count);
        texts_free(part->held_workloads, part->held_workloads_count);
        free(part->workers);
        for (unsigned i = 0; i < part->expect_count; i++) {
            free(part->expect[i].wanted);
            free(part->expect[i].table_says);
        }
    }
    free(experiment->path);
    experiment_schema_free(experiment);
}
