/* experiment_sweep.c - what an experiment measures, as cells and as the text of a sweep file. See
 * experiment.h. */
#include "harness/base/text.h"
#include "harness/repro/experiment.h"

#include "harness/base/memory.h"
#include "harness/counters/counter_names.h"
#include "harness/evidence/why_counts.h"
#include "harness/models/machine_spec.h"
#include "harness/models/machine_start.h"
#include "harness/spec/peer_table.h"

#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* Machines ------------------------------------------------------------------------------------- */

/* True if the machine is one of the list, or the guest of one where guests are measured. */
static bool list_names(char *const *list, size_t count, const char *machine,
                       const struct experiment_form *form)
{
    for (size_t i = 0; form->guests && i < count; i++)
        if (machine_spec_is_guest_of(machine, list[i]))
            return true;
    return text_is_among(machine, list, count);
}

const char **experiment_places(const struct experiment *experiment)
{
    size_t count = 0, room = experiment->machines_count + 2;
    bool levels = false;
    for (unsigned p = 0; p < experiment->parts_count; p++)
        room += experiment->parts[p].machines_count;
    const char **places = xcalloc(room, sizeof *places);
    for (unsigned i = 0; i < experiment->machines_count; i++)
        places[count++] = experiment->machines[i];
    for (unsigned p = 0; p < experiment->parts_count; p++) {
        const struct experiment_part *part = &experiment->parts[p];
        levels = levels || part->factor == FACTOR_MACHINE;
        for (unsigned i = 0; i < part->machines_count; i++)
            if (!text_is_among(part->machines[i], (char *const *)places, count))
                places[count++] = part->machines[i];
    }
    if (levels)
        places[count] = EXPERIMENT_MACHINES;
    return places;
}

/* True if one of the levels that the expectation is about is another runtime. */
static bool is_about_a_peer(const struct experiment_part *part,
                            const struct experiment_expect *expect)
{
    if (part->factor == FACTOR_VARIANT)
        return peer_is_name(part->variants[expect->level_index]) ||
               (expect->over && peer_is_name(part->variants[expect->over_index]));
    for (unsigned i = 0; i < part->variants_count; i++)
        if (peer_is_name(part->variants[i]) &&
            (!expect->variant || strcmp(expect->variant, part->variants[i]) == 0))
            return true;
    return false;
}

bool experiment_is_deterministic(const struct experiment_part *part,
                                 const struct experiment_expect *expect, const char *machine)
{
    bool one = expect->workers > 0 ? expect->workers == 1 : true;
    if (is_about_a_peer(part, expect))
        return false;
    for (unsigned i = 0; expect->workers == 0 && i < part->workers_count; i++)
        one = one && part->workers[i] == 1;
    if (part->factor != FACTOR_MACHINE)
        return machine_text_is_simulated(machine) || (expect->is_order && one);
    return machine_text_is_simulated(part->levels[expect->level_index]) &&
           (!expect->over || machine_text_is_simulated(part->levels[expect->over_index]));
}

static bool part_is_deterministic(const struct experiment_part *part, const char *machine)
{
    for (unsigned i = 0; i < part->expect_count; i++)
        if (!experiment_is_deterministic(part, &part->expect[i], machine))
            return false;
    return true;
}

bool experiment_part_runs(const struct experiment *experiment, const struct experiment_part *part,
                          const char *machine, const struct experiment_form *form, bool on_any)
{
    bool levels = strcmp(machine, EXPERIMENT_MACHINES) == 0;
    if ((form->quick && part->full) || levels != (part->factor == FACTOR_MACHINE) ||
        (form->deterministic && !part_is_deterministic(part, machine)))
        return false;
    if (levels || (on_any && part->machines_count == 0))
        return true;
    return part->machines_count > 0
               ? list_names(part->machines, part->machines_count, machine, form)
               : list_names(experiment->machines, experiment->machines_count, machine, form);
}

int experiment_cores(const char *machine, const struct experiment_form *form)
{
    if (machine_text_is_simulated(machine))
        return machine_spec_cores(machine);
    return form->native_cores > 0 ? form->native_cores : INT_MAX;
}

bool experiment_takes_workers(const struct experiment_part *part, int64_t workers,
                              const char *machine, const struct experiment_form *form)
{
    return part->crowded || workers <= experiment_cores(machine, form);
}

/* Cells ---------------------------------------------------------------------------------------- */

const char *experiment_factor_name(const struct experiment_part *part)
{
    return part->factor_text;
}

/* How long the axis is that is held fixed. */
static unsigned fixed(const struct experiment_part *part, enum experiment_factor axis)
{
    return part->factor == axis      ? 1
           : axis == FACTOR_VARIANT  ? part->variants_count
           : axis == FACTOR_WORKLOAD ? part->workloads_count
                                     : part->workers_count;
}

unsigned experiment_columns(const struct experiment_part *part)
{
    return fixed(part, FACTOR_VARIANT) * fixed(part, FACTOR_WORKLOAD) * fixed(part, FACTOR_WORKERS);
}

struct experiment_column experiment_column(const struct experiment_part *part, unsigned i)
{
    unsigned workers = fixed(part, FACTOR_WORKERS), workloads = fixed(part, FACTOR_WORKLOAD);
    return (struct experiment_column){.workers = i % workers,
                                      .workload = i / workers % workloads,
                                      .variant = i / workers / workloads};
}

struct experiment_cell experiment_cell(const struct experiment_part *part, unsigned level,
                                       struct experiment_column column, const char *machine)
{
    bool knob = part->factor == FACTOR_KNOB, levels = part->factor == FACTOR_MACHINE;
    unsigned v = part->factor == FACTOR_VARIANT ? level : column.variant;
    struct experiment_cell cell = {
        .variant = knob ? part->cell_variants[v * part->levels_count + level] : part->variants[v],
        .workload = part->workloads[part->factor == FACTOR_WORKLOAD ? level : column.workload],
        .workers = part->workers[part->factor == FACTOR_WORKERS ? level : column.workers],
        .machine = levels ? part->levels[level] : machine,
    };
    if (levels)
        snprintf(cell.group, sizeof cell.group, "%s.%u", part->id, level + 1);
    else
        snprintf(cell.group, sizeof cell.group, "%s", part->id);
    return cell;
}

bool experiment_expects(const struct experiment_part *part, const struct experiment_expect *expect,
                        struct experiment_column column, const char *machine)
{
    return (!expect->variant || strcmp(expect->variant, part->variants[column.variant]) == 0) &&
           (!expect->workload || strcmp(expect->workload, part->workloads[column.workload]) == 0) &&
           (!expect->workers || expect->workers == part->workers[column.workers]) &&
           (!expect->machine || strcmp(expect->machine, machine) == 0);
}

/* As a sweep file ------------------------------------------------------------------------------ */

static void write_text(FILE *to, const char *text)
{
    fputc('"', to);
    for (; *text; text++) {
        if (*text == '"' || *text == '\\')
            fputc('\\', to);
        fputc((unsigned char)*text < ' ' ? ' ' : *text, to);
    }
    fputc('"', to);
}

static void write_key(FILE *to, const char *indent, const char *key, const char *text)
{
    fprintf(to, "%s%s: ", indent, key);
    write_text(to, text);
    fputc('\n', to);
}

static void write_texts(FILE *to, const char *key, char *const *list, size_t count)
{
    fprintf(to, "    %s: [", key);
    for (size_t i = 0; i < count; i++) {
        fputs(i ? ", " : "", to);
        write_text(to, list[i]);
    }
    fputs("]\n", to);
}

int64_t experiment_quick_reps(const struct experiment *experiment)
{
    int64_t reps = experiment->num.reps;
    return reps < EXPERIMENT_QUICK_REPS ? EXPERIMENT_QUICK_REPS : reps;
}

/* One call tells an order: longer samples would tell the same. */
static bool asks_for_orders_only(const struct experiment *experiment)
{
    for (unsigned p = 0; p < experiment->parts_count; p++)
        for (unsigned i = 0; i < experiment->parts[p].expect_count; i++)
            if (!experiment->parts[p].expect[i].is_order)
                return false;
    return true;
}

/* Writes the number of blocks and the settings of a sample. */
static void write_numbers(FILE *to, const struct experiment *experiment, const char *machine,
                          const struct experiment_form *form)
{
    bool native = strcmp(machine, "native") == 0;
    const struct sweep_file *num = native ? &experiment->native : &experiment->num;
    int64_t reps = form->held    ? EXPERIMENT_QUICK_REPS
                   : form->quick ? experiment_quick_reps(experiment)
                                 : num->reps;
    int64_t reps_max = form->quick                  ? EXPERIMENT_QUICK_MORE * reps
                       : num->reps_max_given        ? num->reps_max
                       : reps > EXPERIMENT_REPS_MAX ? reps
                                                    : EXPERIMENT_REPS_MAX;
    int64_t width = num->width > 0 ? num->width : EXPERIMENT_WIDTH;
    fprintf(to, "reps: %" PRId64 "\nreps_max: %" PRId64 "\n", reps, reps_max);
    if (!form->held && reps_max >= EXPERIMENT_QUICK_REPS)
        fprintf(to, "width: %" PRId64 "\n", width);
    if (reps_max >= EXPERIMENT_QUICK_REPS)
        fprintf(to, "repeat_disturbed: true\nclass_min: %d\n", EXPERIMENT_QUICK_REPS);
    bool longer = form->held && num->timeout_s < EXPERIMENT_HELD_TIMEOUT_S;
    fprintf(to, "timeout_s: %" PRId64 "\niterations: %" PRId64 "\n",
            longer ? EXPERIMENT_HELD_TIMEOUT_S : num->timeout_s, num->iterations);
    if (num->warmup < 0)
        fputs("warmup: auto\n", to);
    else
        fprintf(to, "warmup: %" PRId64 "\n", num->warmup);
    bool shorter = form->held && num->min_time_ms > EXPERIMENT_HELD_MS;
    if (!num->min_time_given && asks_for_orders_only(experiment))
        fputs("min_time_ms: 0\n", to);
    else if (num->min_time_given)
        fprintf(to, "min_time_ms: %" PRId64 "\n", shorter ? EXPERIMENT_HELD_MS : num->min_time_ms);
    fprintf(to, "seed: %" PRId64 "\n%s", num->seed, experiment->pin ? "pin: true\n" : "");
}

/* Adds an event to the list, unless it is there; whether it was. */
static bool names_want(struct counter_names *names, const char *name)
{
    struct error error;
    struct counter_names more;
    bool added = counter_names_split(&more, name, &error) &&
                 !text_is_among(more.name[0], names->name, names->count);
    if (added) {
        array_add(names->name, names->count) = more.name[0];
        more.name[0] = NULL;
    }
    counter_names_free(&more);
    return added;
}

/* Events of the part or the experiment, those that are metrics, and natively those that tell why
 * one side of a ratio is slower; nothing is written where the default set has them all. */
static void write_events(FILE *to, const struct experiment *experiment,
                         const struct experiment_part *part, bool native)
{
    struct error error;
    bool own = part->events_count > 0;
    char *const *given = own ? part->events : experiment->events;
    unsigned given_count = own ? part->events_count : experiment->events_count;
    char *joined = text_join(given, given_count);
    struct counter_names names;
    counter_names_split(&names, joined, &error);
    bool is_default = given_count == 0;
    for (unsigned i = 0; i <= part->expect_count; i++) {
        const struct experiment_expect *expect = i ? &part->expect[i - 1] : NULL;
        struct metric metric;
        const char *name = expect ? expect->metric : part->metric;
        if (!name || strcmp(name, "order") == 0 || metric_is_finding(name) ||
            !metric_parse(&metric, name, &error) || metric.kind != METRIC_EVENT)
            continue;
        if (names_want(&names, name))
            is_default = false;
    }
    for (size_t i = 0; native && !is_default && why_counts_event(i); i++)
        names_want(&names, why_counts_event(i));
    if (!is_default && names.count > 0)
        write_texts(to, "events", names.name, names.count);
    else if (given_count > 0)
        fputs("    events: [none]\n", to);
    counter_names_free(&names);
    free(joined);
}

/* All but what is specific to a machine. The variants as a list, or with the knob's axis. */
static void write_variants(FILE *to, const struct experiment_part *part)
{
    unsigned levels = part->levels_count;
    bool knob = part->factor == FACTOR_KNOB, axis = part->figure == SWEEP_FIGURE_KNOB;
    write_key(to, "    ", "baseline",
              part->factor == FACTOR_VARIANT ? part->variants[part->baseline]
              : knob                         ? part->cell_variants[part->baseline]
                                             : part->variants[0]);
    if (knob && !axis) {
        write_texts(to, "variants", part->cell_variants, (size_t)part->variants_count * levels);
        return;
    }
    write_texts(to, "variants", part->variants, part->variants_count);
    if (!knob)
        return;
    fputs("    knob:\n", to);
    write_key(to, "      ", "name", part->factor_text);
    write_texts(to, "  values", part->levels, levels);
}

/* A group on one machine; false, and nothing written, if it has no workers for it. */
static bool write_group(FILE *to, const struct experiment *experiment,
                        const struct experiment_part *part, const char *id, const char *machine,
                        const struct experiment_form *form)
{
    char *workers = NULL;
    size_t count = 0;
    FILE *list = memory_stream(&workers, NULL);
    for (unsigned i = 0; i < part->workers_count; i++)
        if (experiment_takes_workers(part, part->workers[i], machine, form))
            fprintf(list, "%s%" PRId64, count++ ? ", " : "", part->workers[i]);
    fclose(list);
    if (count > 0) {
        write_key(to, "  - ", "id", id);
        write_key(to, "    ", "question", part->question);
        fprintf(to, "    figure: %s\n", sweep_figure_name(part->figure));
        if (part->figure == SWEEP_FIGURE_METRIC)
            write_key(to, "    ", "metric", part->metric);
        write_variants(to, part);
        write_texts(to, "workloads", part->workloads, part->workloads_count);
        fprintf(to, "    workers: [%s]\n", workers);
        write_events(to, experiment, part, strcmp(machine, "native") == 0);
        write_key(to, "    ", "machine", machine);
    }
    free(workers);
    return count > 0;
}

static unsigned write_part(FILE *to, const struct experiment *experiment,
                           const struct experiment_part *part, const char *machine,
                           const struct experiment_form *form)
{
    unsigned written = 0;
    if (part->factor != FACTOR_MACHINE)
        return write_group(to, experiment, part, part->id, machine, form);
    for (unsigned i = 0; i < part->levels_count; i++) {
        struct experiment_cell cell =
            experiment_cell(part, i, (struct experiment_column){0}, part->levels[i]);
        written += write_group(to, experiment, part, cell.group, cell.machine, form);
    }
    return written;
}

char *experiment_sweep_text(const struct experiment *experiment, const char *machine, bool on_any,
                            const struct experiment_form *form)
{
    char *text = NULL;
    unsigned groups = 0;
    FILE *to = memory_stream(&text, NULL);
    fprintf(to, "# What schedlab repro measures of the experiment %s on %s.\n", experiment->id,
            machine);
    write_key(to, "", "name", experiment->id);
    char *title = text_format("%s: %s", experiment->id, experiment->title);
    write_key(to, "", "title", title);
    free(title);
    write_numbers(to, experiment, machine, form);
    fputs("groups:\n", to);
    for (unsigned p = 0; p < experiment->parts_count; p++) {
        const struct experiment_part *part = &experiment->parts[p];
        if (experiment_part_runs(experiment, part, machine, form, on_any))
            groups += write_part(to, experiment, part, machine, form);
    }
    fclose(to);
    if (groups > 0)
        return text;
    free(text);
    return NULL;
}
