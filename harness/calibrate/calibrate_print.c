/* calibrate_print.c - see calibrate.h: the table, the file, JSON. */
#include "harness/base/text.h"
#include "harness/calibrate/calibrate.h"

#include "harness/spec/spec.h"

#include <math.h>
#include <string.h>

enum { TEXT_SIZE = 64, PLACE_SIZE = 64 };

static const char *const origin_names[CALIBRATE_ORIGINS] = {
    [CALIBRATE_MEASURED] = "measured",
    [CALIBRATE_REPORTED] = "reported by Linux",
    [CALIBRATE_FITTED] = "fitted to code",
    [CALIBRATE_TAKEN] = "taken",
};

/* "16.2 ns": three digits and a unit that suits them; returns text. */
static char *time_text(double ns, char text[TEXT_SIZE])
{
    static const struct {
        double ns;
        const char *name;
    } units[] = {{1e9, "s"}, {1e6, "ms"}, {1e3, "us"}, {0, "ns"}};
    size_t i = 0;
    while (ns < units[i].ns)
        i++;
    double number = units[i].ns > 0 ? ns / units[i].ns : ns;
    snprintf(text, TEXT_SIZE, "%.*f %s",
             fabs(number) < 10    ? 2
             : fabs(number) < 100 ? 1
                                  : 0,
             number, units[i].name);
    return text;
}

/* Table --------------------------------------------------------------------------------------- */

static void print_spread(const struct calibrate *from, const char *name, FILE *to)
{
    char low[TEXT_SIZE], high[TEXT_SIZE];
    const struct calibrate_figure *figure = calibrate_find(from, name);
    if (figure && figure->samples > 1)
        fprintf(to, "; quartiles %s and %s of %zu", time_text(figure->low, low),
                time_text(figure->high, high), figure->samples);
}

static void print_value(const struct calibrate *from, size_t key, FILE *to)
{
    char ns[TEXT_SIZE], both[2 * TEXT_SIZE + 4];
    const struct calibrate_value *at = &from->value[key];
    struct machine_text value = machine_value_text(&machine_keys[key], at->value, true);
    snprintf(both, sizeof both, "%.63s", value.s);
    if (at->value.cycles)
        snprintf(both, sizeof both, "%.63s = %s", value.s,
                 time_text((double)at->value.number / 1000 * from->cycle_ns, ns));
    fprintf(to, "%-16s %-26s %s", machine_keys[key].name, both,
            *at->note ? at->note : origin_names[at->origin]);
    if (at->origin == CALIBRATE_MEASURED)
        print_spread(from, machine_keys[key].name, to);
    fputc('\n', to);
}

static bool is_key(const char *name)
{
    return machine_key_find(name) != MACHINE_KEYS;
}

void calibrate_print(const struct calibrate *from, FILE *to)
{
    fprintf(to, "%s, %s, on core", from->processor, from->date);
    for (int i = 0; i < from->cpus_count; i++)
        fprintf(to, "%s %d", i ? "," : from->cpus_count > 1 ? "s" : "", from->cpus[i]);
    fputs("\n\n", to);
    for (size_t i = 0; i < MACHINE_KEYS; i++)
        if (from->value[i].value.given)
            print_value(from, i, to);
    fputs("\nBeside the model\n\n", to);
    for (size_t i = 0; i < from->figures; i++) {
        char text[TEXT_SIZE];
        const struct calibrate_figure *figure = &from->figure[i];
        if (is_key(figure->name))
            continue;
        fprintf(to, "%-28s %-14s", figure->name,
                isnan(figure->median) ? "absent" : time_text(figure->median, text));
        if (*figure->absent)
            fprintf(to, " %s", figure->absent);
        else
            print_spread(from, figure->name, to);
        fputc('\n', to);
    }
    for (size_t i = 0; i < from->notes_count; i++)
        fprintf(to, "%s%s\n", i ? "" : "\n", from->notes[i]);
}

/* JSON ---------------------------------------------------------------------------------------- */

static json_t *figure_to_json(const struct calibrate_figure *figure)
{
    if (isnan(figure->median))
        return json_pack("{ss ss}", "name", figure->name, "absent", figure->absent);
    return json_pack("{ss sf sf sf si}", "name", figure->name, "median_ns", figure->median,
                     "low_ns", figure->low, "high_ns", figure->high, "samples",
                     (int)figure->samples);
}

json_t *calibrate_to_json(const struct calibrate *from)
{
    json_t *values = json_array(), *figures = json_array(), *notes = json_array();
    json_t *cores = json_array();
    for (size_t i = 0; i < MACHINE_KEYS; i++) {
        const struct calibrate_value *at = &from->value[i];
        if (!at->value.given)
            continue;
        json_array_append_new(values,
                              json_pack("{ss ss ss ss}", "key", machine_keys[i].name, "value",
                                        machine_value_text(&machine_keys[i], at->value, true).s,
                                        "origin", origin_names[at->origin], "note", at->note));
    }
    for (size_t i = 0; i < from->figures; i++)
        json_array_append_new(figures, figure_to_json(&from->figure[i]));
    for (size_t i = 0; i < from->notes_count; i++)
        json_array_append_new(notes, json_string(from->notes[i]));
    for (int i = 0; i < from->cpus_count; i++)
        json_array_append_new(cores, json_integer(from->cpus[i]));
    return json_pack("{ss ss so so so so so}", "processor", from->processor, "date", from->date,
                     "cores", cores, "values", values, "figures", figures, "notes", notes, "model",
                     machine_model_to_json(&from->model));
}

/* File ---------------------------------------------------------------------------------------- */

/* The length of what stands before the point; 0: there is none. */
static size_t section_length(const char *name)
{
    const char *point = strchr(name, '.');
    return point ? (size_t)(point - name) : 0;
}

static bool same_section(const char *a, const char *b)
{
    size_t length = section_length(a);
    return length > 0 && length == section_length(b) && strncmp(a, b, length) == 0;
}

static void write_values(const struct calibrate *from, FILE *to)
{
    const char *before = "";
    for (size_t i = 0; i < MACHINE_KEYS; i++) {
        const char *name = machine_keys[i].name;
        if (!from->value[i].value.given)
            continue;
        size_t section = section_length(name);
        if (section_length(before) && !same_section(before, name))
            fputs("}\n", to);
        if (section && !same_section(before, name))
            fprintf(to, "%.*s: {", (int)section, name);
        else if (section)
            fputs(", ", to);
        fprintf(to, "%s: %s%s", section ? name + section + 1 : name,
                machine_value_text(&machine_keys[i], from->value[i].value, true).s,
                section ? "" : "\n");
        before = name;
    }
    if (section_length(before))
        fputs("}\n", to);
}

/* In YAML's double quotes. */
static void write_quoted(const char *text, FILE *to)
{
    fputc('"', to);
    for (; *text; text++)
        fprintf(to, *text == '"' || *text == '\\' ? "\\%c" : "%c", *text);
    fputc('"', to);
}

static bool same_source(const struct calibrate_value *a, const struct calibrate_value *b)
{
    return a->origin == b->origin && strcmp(a->note, b->note) == 0;
}

/* All keys of one source in one entry, which the first of them writes. */
static void write_source(const struct calibrate *from, size_t first, FILE *to)
{
    static const char *const texts[CALIBRATE_ORIGINS] = {
        [CALIBRATE_MEASURED] = "measured by schedlab calibrate",
        [CALIBRATE_REPORTED] = "reported by Linux, read by schedlab calibrate",
        [CALIBRATE_FITTED] = "effective costs, fitted by schedlab calibrate to small loops,",
        [CALIBRATE_TAKEN] = "not measured by schedlab calibrate",
    };
    const struct calibrate_value *source = &from->value[first];
    for (size_t i = 0; i < first; i++)
        if (from->value[i].value.given && same_source(&from->value[i], source))
            return;
    fputs("  - of: [", to);
    for (size_t i = first; i < MACHINE_KEYS; i++)
        if (from->value[i].value.given && same_source(&from->value[i], source))
            fprintf(to, "%s%s", i > first ? ", " : "", machine_keys[i].name);
    char text[2 * CALIBRATE_NOTE + 256];
    snprintf(text, sizeof text, "%s on %s, %s%s%s", texts[source->origin], from->processor,
             from->date, *source->note ? "; " : "", source->note);
    fputs("]\n    source: ", to);
    write_quoted(text_one_line(text), to);
    fputc('\n', to);
}

void calibrate_write(const struct calibrate *from, FILE *to)
{
    char title[256];
    fputs("# Written by schedlab calibrate. Times in cycles follow the clock rate.\n", to);
    for (size_t i = 0; i < from->notes_count; i++)
        fprintf(to, "# %s\n", from->notes[i]);
    snprintf(title, sizeof title, "%s, measured %s", from->processor, from->date);
    fputs("title: ", to);
    write_quoted(text_one_line(title), to);
    fputs("\n\n", to);
    write_values(from, to);
    fputs("\nsources:\n", to);
    for (size_t i = 0; i < MACHINE_KEYS; i++)
        if (from->value[i].value.given)
            write_source(from, i, to);
}
