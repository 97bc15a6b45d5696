/* list_name_print.c - one name for people, from its JSON. See list_name.h. */
#include "harness/base/json_fields.h"
#include "harness/base/memory.h"
#include "harness/counters/counter_names.h"
#include "harness/list/list_name.h"
#include "harness/list/list_topics.h"
#include "harness/spec/spec.h"
#include "sched.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { INDENT = 2, COLUMN_PARAMETER = 29 };

static const json_t *list_of(const json_t *role, const char *key)
{
    return json_object_get(role, key);
}

/* Variants and presets ------------------------------------------------------------------------- */

static const struct param *knobs_of(const char *name)
{
    const struct sched_ops *ops;
    for (size_t i = 0; (ops = spec_variant(i)); i++)
        if (strcmp(ops->name, name) == 0)
            return ops->knobs;
    return NULL;
}

static void print_moots(const struct list_page *page, const json_t *rows)
{
    if (json_array_size(rows) == 0)
        return;
    putchar('\n');
    page_heading(page, "Knobs that have no effect with some settings");
    json_each(row, rows) {
        char *text = text_format("%s with %s, %s", field_text(row, "knobs"),
                                 field_text(row, "with"), field_text(row, "why"));
        page_text(page, INDENT, text);
        free(text);
    }
}

static void print_variant(const struct list_page *page, const json_t *role)
{
    const char *name = field_text(role, "name");
    const struct param *knobs = knobs_of(name);
    page_heading(page, "%s: a variant", name);
    page_text(page, INDENT, field_text(role, "idea"));
    page_field(page, "absent", field_text(role, "absent"));
    page_field(page, "source", field_text(role, "source"));
    page_list(page, "structure", list_of(role, "structure"), NULL);
    page_field(page, "code", field_text(role, "code"));
    page_list(page, "compared in", list_of(role, "compared_in"), "no experiment");
    if (knobs)
        page_list(page, "its knobs in", list_of(role, "knobs_varied_in"), "no experiment");
    page_command(field_text(role, "example"));
    if (!knobs)
        return;
    printf("\nKnobs: name, default, meaning (*: decisive); %s,KNOB=VALUE sets one\n", name);
    list_table_print(page, knobs);
    puts("All variants have `malloc` too: schedlab list malloc");
    print_moots(page, list_of(role, "no_effect"));
}

static void print_preset(const struct list_page *page, const json_t *role)
{
    page_heading(page, "%s: a preset of %s", field_text(role, "name"), field_text(role, "variant"));
    page_text(page, INDENT, field_text(role, "idea"));
    page_settings(page, field_text(role, "variant"), field_text(role, "settings"));
    page_field(page, "source", field_text(role, "source"));
    page_field(page, "left out", field_text(role, "left_out"));
    page_list(page, "compared in", list_of(role, "compared_in"), "no experiment");
    page_command(field_text(role, "example"));
}

/* Workloads and parameters --------------------------------------------------------------------- */

static void print_parameter_row(const struct list_page *page, const json_t *row, const char *owner)
{
    char *name = text_format("  %-15s%s", *owner ? owner : field_text(row, "key"),
                             field_text(row, "default"));
    const char *source = field_text(row, "source");
    bool own = strcmp(source, "schedlab") == 0;
    char *text = text_format("%s (%s)%s%s", field_text(row, "help"), field_text(row, "range"),
                             own ? "" : "; source ", own ? "" : source);
    page_row(page, COLUMN_PARAMETER, name, text);
    free(name);
    free(text);
}

static void print_workload(const struct list_page *page, const json_t *role)
{
    page_heading(page, "%s: a workload (%s)", field_text(role, "name"), field_text(role, "style"));
    page_text(page, INDENT, field_text(role, "idea"));
    page_field(page, "operation", field_text(role, "op"));
    page_list(page, "finds", list_of(role, "finds"), NULL);
    page_field(page, "source", field_text(role, "source"));
    page_list(page, "experiments", list_of(role, "experiments"), "none");
    page_list(page, "sweeps", list_of(role, "sweeps"), "none");
    page_command(field_text(role, "example"));
    printf("\nParameters: name, default, meaning, range; %s,PARAMETER=VALUE sets one\n",
           field_text(role, "name"));
    json_each(row, list_of(role, "parameters"))
        print_parameter_row(page, row, "");
}

static void print_parameter(const struct list_page *page, const json_t *role)
{
    page_heading(page, "%s: a parameter of workloads (workload, default, meaning, range)",
                 field_text(role, "name"));
    json_each(row, list_of(role, "workloads"))
        print_parameter_row(page, row, field_text(row, "workload"));
}

/* Knobs ---------------------------------------------------------------------------------------- */

static bool same_as(const json_t *a, const json_t *b, const char *key)
{
    return strcmp(field_text(a, key), field_text(b, key)) == 0;
}

/* "grq perm gmp", with what differs in those where something does. */
static void print_owners(const struct list_page *page, const json_t *role)
{
    char *text = NULL;
    size_t i;
    const json_t *row;
    FILE *to = memory_stream(&text, NULL);
    json_array_foreach(list_of(role, "variants"), i, row)
    {
        fprintf(to, "%s%s", i ? ", " : "", field_text(row, "variant"));
        if (!same_as(row, role, "default"))
            fprintf(to, " (default %s)", field_text(row, "default"));
        if (!same_as(row, role, "range"))
            fprintf(to, " (%s)", field_text(row, "range"));
    }
    fclose(to);
    page_field(page, "variants", *text ? text : "all");
    free(text);
}

static void print_knob(const struct list_page *page, const json_t *role)
{
    const char *group = field_text(role, "group");
    page_heading(page, "%s: a knob%s%s%s%s", field_text(role, "name"), *group ? " (" : "", group,
                 json_is_true(list_of(role, "decisive")) ? ", decisive" : "", *group ? ")" : "");
    page_text(page, INDENT, field_text(role, "help"));
    page_field(page, "values", field_text(role, "detail"));
    page_field(page, "default", field_text(role, "default"));
    page_field(page, "range", field_text(role, "range"));
    print_owners(page, role);
    page_field(page, "source", field_text(role, "source"));
    page_list(page, "varied by", list_of(role, "experiments"), "no experiment");
    page_list(page, "sweeps", list_of(role, "sweeps"), NULL);
    if (list_of(role, "moves"))
        page_list(page, "moves", list_of(role, "moves"), "no counter");
    page_command(field_text(role, "example"));
}

/* Events --------------------------------------------------------------------------------------- */

/* The part that counts the event. */
static const char *source_text(const char *source)
{
    static const char *const rows[][2] = {
        {"sde", "this program (sde)"},
        {"sim", "the simulated machine (sim)"},
        {"soft", "the kernel (soft)"},
        {"pmu", "the processor (pmu)"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (strcmp(rows[i][0], source) == 0)
            return rows[i][1];
    return source;
}

static void print_event(const struct list_page *page, const json_t *role)
{
    const char *name = field_text(role, "name"), *last = strrchr(name, ':');
    bool own = strncmp(name, COUNTER_SDE_PREFIX, sizeof COUNTER_SDE_PREFIX - 1) == 0;
    page_heading(page, "%s: an event%s%s%s", own ? last + 1 : name, own ? " (" : "",
                 own ? name : "", own ? ")" : "");
    page_text(page, INDENT, field_text(role, "help"));
    page_field(page, "unit", field_text(role, "unit"));
    page_field(page, "shown is", field_text(role, "shown"));
    page_field(page, "source", source_text(field_text(role, "source")));
    page_field(page, "absent here", field_text(role, "absent"));
    page_list(page, "judged by", list_of(role, "judged_by"), "no experiment");
    page_list(page, "counted by", list_of(role, "counted_by"), NULL);
    page_list(page, "moved by", list_of(role, "moved_by"), "no knob first");
    page_command(field_text(role, "example"));
}

/* Experiments ---------------------------------------------------------------------------------- */

static void print_experiment(const struct list_page *page, const json_t *role)
{
    page_heading(page, "%s: an experiment", field_text(role, "id"));
    page_text(page, INDENT, field_text(role, "title"));
    page_field(page, "claim", field_text(role, "claim"));
    page_command(field_text(role, "example"));
}

void list_name_print(const struct list_page *page, const json_t *object)
{
    static const struct {
        const char *role;
        void (*print)(const struct list_page *page, const json_t *role);
    } printers[] = {
        {"variant", print_variant},       {"preset", print_preset}, {"workload", print_workload},
        {"parameter", print_parameter},   {"knob", print_knob},     {"event", print_event},
        {"experiment", print_experiment},
    };
    const json_t *role;
    size_t i;
    json_array_foreach(list_of(object, "roles"), i, role)
    {
        if (i > 0)
            putchar('\n');
        for (size_t k = 0; k < sizeof printers / sizeof printers[0]; k++)
            if (strcmp(printers[k].role, field_text(role, "role")) == 0)
                printers[k].print(page, role);
    }
}
