/* figures.c - see figures.h. */
#include "harness/answers/figures.h"

#include "harness/answers/figures_events.h"
#include "harness/answers/gnuplot.h"
#include "harness/base/memory.h"
#include "harness/base/text.h"
#include "harness/host/topology.h"
#include "harness/models/machine_start.h"
#include "harness/records/hosts_used.h"
#include "harness/spec/spec.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PATH_SIZE = 4096, ARGUMENTS = 8 };

/* Planning ------------------------------------------------------------------------------------ */

static bool has_throughput(const struct report_group *group)
{
    for (size_t i = 0; i < group->count; i++)
        if (report_cell_ok(&group->cells[i]))
            return true;
    return false;
}

/* A speed-up is over one worker, so the group must have asked for one worker and for more. */
static bool has_speedup(const struct report_group *group)
{
    bool one = false, more = false;
    for (size_t i = 0; i < group->count; i++) {
        const struct report_cell *cell = &group->cells[i];
        one = one || cell->workers == 1;
        more = more || (cell->workers > 1 && isfinite(cell->speedup.median));
    }
    return one && more;
}

/* True if the specification names the key. */
static bool spec_has_key(const char *spec, const char *key)
{
    size_t length = strlen(key);
    while ((spec = strchr(spec, ',')) != NULL)
        if (strncmp(++spec, key, length) == 0 && spec[length] == '=')
            return true;
    return false;
}

/* The knob's value where a specification does not name it, read from the record of such a cell. */
static char *knob_default(const struct report *report, const struct report_group *group,
                          const struct sweep_knob *knob)
{
    for (size_t i = 0; i < group->count; i++) {
        if (spec_has_key(group->cells[i].variant, knob->name))
            continue;
        const json_t *record = report_record(report, group->cells[i].id);
        const json_t *value = json_object_get(json_object_get(record, "knobs"), knob->name);
        if (json_is_integer(value))
            return text_format("%lld", json_integer_value(value));
        if (json_is_string(value))
            return text_format("%s", json_string_value(value));
    }
    return text_format("%s", "");
}

/* In the order of the sweep file, separated by spaces. */
static char *knob_values(const struct sweep_knob *knob)
{
    char *text = NULL;
    FILE *to = memory_stream(&text, NULL);
    for (unsigned i = 0; i < knob->values_count; i++)
        fprintf(to, "%s%s", i ? " " : "", knob->values[i]);
    fclose(to);
    return text;
}

/* The default, "-" if it is not known, and then the values: one argument, because a script of
 * gnuplot takes nine at most. */
static char *knob_default_and_values(const struct report *report, const struct report_group *group,
                                     const struct sweep_knob *knob)
{
    char *first = knob_default(report, group, knob), *values = knob_values(knob);
    char *text = text_format("%s %s", *first ? first : "-", values);
    free(first);
    free(values);
    return text;
}

/* The parameter's value in each workload of the group, in the order of its cells, separated by
 * spaces; NULL if one has none. */
static char *parameter_values(const struct report_group *group)
{
    char *text = text_format("%s", "");
    for (size_t i = 0; i < group->count; i++) {
        int64_t value;
        if (i > 0 && strcmp(group->cells[i].workload, group->cells[i - 1].workload) == 0)
            continue;
        if (!workload_spec_number(group->cells[i].workload, group->parameter, &value)) {
            free(text);
            return NULL;
        }
        char *longer = text_format("%s%s%" PRId64, text, *text ? " " : "", value);
        free(text);
        text = longer;
    }
    return text;
}

/* "7 samples", or "6 to 7 samples" where cells differ in how many are behind their numbers. */
static char *samples_text(const struct report_cell *cells, size_t count)
{
    size_t least = SIZE_MAX, most = 0;
    for (size_t i = 0; i < count; i++) {
        size_t n = cells[i].throughput.n;
        if (!report_cell_ok(&cells[i]))
            continue;
        least = n < least ? n : least;
        most = n > most ? n : most;
    }
    return least < most ? text_format("%zu to %s", least, counted(most, "sample").s)
                        : text_format("%s", counted(most, "sample").s);
}

static const char *environment_text(const json_t *object, const char *key)
{
    return json_string_value(json_object_get(object, key));
}

static bool machine_is_before(const struct report_cell *cells, size_t i)
{
    for (size_t k = 0; k < i; k++)
        if (strcmp(cells[k].machine, cells[i].machine) == 0)
            return true;
    return false;
}

/* "native", or "sim:server64 (simulated: times are virtual)". */
static char *machines_text(const struct report_cell *cells, size_t count)
{
    char *text = NULL;
    FILE *to = memory_stream(&text, NULL);
    for (size_t i = 0; i < count; i++)
        if (!machine_is_before(cells, i))
            fprintf(to, "%s%s%s", i ? " and " : "", cells[i].machine,
                    machine_text_is_simulated(cells[i].machine) ? " (simulated: times are virtual)"
                                                                : "");
    fclose(to);
    return text;
}

char *figures_caption(const struct report *report, const struct report_group *group)
{
    const json_t *cpu = json_object_get(report->environment, "cpu");
    const json_t *kernel = json_object_get(report->environment, "kernel");
    const json_t *threads = json_object_get(cpu, "usable_threads");
    bool elsewhere = json_object_get(report->environment, "measured_on") != NULL;
    char *model = hosts_used_text(report->environment);
    const char *processor = strcmp(model, "unknown") == 0 ? "unknown CPU" : model;
    char *hardware =
        json_is_integer(threads) && !elsewhere
            ? text_format("%s, %s", processor,
                          counted((uint64_t)json_integer_value(threads), "hardware thread").s)
            : text_format("%s", processor);
    free(model);
    const char *system = environment_text(kernel, "name");
    const char *release = environment_text(kernel, "release");
    char *samples = group ? samples_text(group->cells, group->count)
                          : samples_text(report->cells, report->cells_count);
    char *machines = group ? machines_text(group->cells, group->count)
                           : machines_text(report->cells, report->cells_count);
    char *caption =
        text_format("%s%s%s%s%s, machine %s. Run %s, %s a cell.", hardware, system ? ", " : "",
                    system ? system : "", release ? " " : "", release ? release : "",
                    *machines ? machines : "native", report->name, samples);
    free(machines);
    free(hardware);
    free(samples);
    return caption;
}

/* The same, and whether the workers of any cell had to take turns. */
static char *figure_caption(const struct report *report, const struct report_group *group)
{
    char *caption = figures_caption(report, group);
    const struct report_cell *crowded = NULL;
    for (size_t i = 0; i < group->count; i++)
        if (report_cell_is_crowded(report, &group->cells[i]))
            crowded = &group->cells[i];
    if (!crowded)
        return caption;
    char *longer =
        text_format("%s More workers than %s take turns.", caption,
                    counted((uint64_t)report_cores(report, crowded), "hardware thread").s);
    free(caption);
    return longer;
}

static void figure_add(struct figures *figures, const struct report *report,
                       const struct report_group *group, enum sweep_figure kind)
{
    for (size_t i = 0; i < figures->count; i++)
        if (figures->figures[i].group == group && figures->figures[i].kind == kind)
            return;
    struct figure figure = {.group = group, .kind = kind};
    if (kind == SWEEP_FIGURE_EVENTS && !(figure.events = figures_events_choose(report, group)))
        return;
    if ((kind == SWEEP_FIGURE_SPEEDUP && !has_speedup(group)) ||
        (kind == SWEEP_FIGURE_LATENCY && !report_has_latencies(report, group, NULL)) ||
        (kind == SWEEP_FIGURE_KNOB && !group->knob) ||
        (kind == SWEEP_FIGURE_METRIC && !group->metric) ||
        (kind == SWEEP_FIGURE_SURFACE &&
         !(group->parameter && (figure.parameter_values = parameter_values(group)))) ||
        (kind == SWEEP_FIGURE_HEATMAP && !group->knob2) ||
        (kind == SWEEP_FIGURE_SCALE && !tsv_has(&report->extra.scale, "group", group->id)) ||
        (kind == SWEEP_FIGURE_STALLS && !tsv_has(&report->extra.structures, "group", group->id)) ||
        !has_throughput(group)) {
        free(figure.events);
        free(figure.parameter_values);
        return;
    }
    if (kind == SWEEP_FIGURE_KNOB) {
        figure.knob_default = knob_default(report, group, group->knob);
        figure.knob_values = knob_values(group->knob);
    }
    if (kind == SWEEP_FIGURE_HEATMAP) {
        figure.knob_values = knob_default_and_values(report, group, group->knob);
        figure.knob2_values = knob_default_and_values(report, group, group->knob2);
    }
    snprintf(figure.name, sizeof figure.name, "%s-%s", group->id, sweep_figure_name(kind));
    figure.svg = text_format("%s/figures/%s.svg", report->run_dir, figure.name);
    figure.caption = figure_caption(report, group);
    figures->figures[figures->count++] = figure;
}

/* True if it has the very cell, which is on the same machine. */
static bool holds_cell(const struct report_group *group, const struct report_cell *cell)
{
    for (size_t i = 0; i < group->count; i++)
        if (strcmp(group->cells[i].id, cell->id) == 0)
            return true;
    return false;
}

static bool holds_shown_cells(const struct report_group *larger, const struct report_group *group)
{
    for (size_t i = 0; i < group->count; i++) {
        const struct report_cell *cell = &group->cells[i];
        if (cell->workers == report_workers_max(group, cell->workload) && !holds_cell(larger, cell))
            return false;
    }
    return true;
}

/* A figure that the group does not ask for itself, unless another group with its cells has it. */
static void figure_add_beside(struct figures *figures, const struct report *report,
                              const struct report_group *group, enum sweep_figure kind)
{
    for (size_t i = 0; i < figures->count; i++)
        if (figures->figures[i].kind == kind && figures->figures[i].group != group &&
            holds_shown_cells(figures->figures[i].group, group))
            return;
    for (size_t i = 0; i < report->groups_count; i++)
        if (report->groups[i].figure == kind && &report->groups[i] != group &&
            holds_shown_cells(&report->groups[i], group))
            return;
    figure_add(figures, report, group, kind);
}

const struct report_group *figures_events_group(const struct report *report,
                                                const struct report_group *group)
{
    for (size_t i = 0; i < report->groups_count; i++)
        if (&report->groups[i] != group && report->groups[i].figure == SWEEP_FIGURE_EVENTS &&
            holds_shown_cells(&report->groups[i], group))
            return &report->groups[i];
    return NULL;
}

struct figures figures_plan(const struct report *report)
{
    struct figures figures = {xcalloc(report->groups_count * 7 + 1, sizeof *figures.figures), 0};
    for (size_t i = 0; i < report->groups_count; i++) {
        const struct report_group *group = &report->groups[i];
        figure_add(&figures, report, group, group->figure);
        /* As bars the cells of a map, or of some sizes of each workload, would be a wall. */
        if (group->figure == SWEEP_FIGURE_HEATMAP || group->figure == SWEEP_FIGURE_SCALE ||
            group->figure == SWEEP_FIGURE_SURFACE)
            continue;
        /* The curve over a knob's values shows the same throughputs better than bars. A group that
         * asks for counts does not ask for speed. */
        if (group->figure != SWEEP_FIGURE_KNOB && report_subject(group) != SWEEP_FIGURE_EVENTS)
            figure_add_beside(&figures, report, group, SWEEP_FIGURE_THROUGHPUT);
        figure_add_beside(&figures, report, group, SWEEP_FIGURE_SPEEDUP);
        figure_add_beside(&figures, report, group, SWEEP_FIGURE_LATENCY);
        figure_add_beside(&figures, report, group, SWEEP_FIGURE_STALLS);
        figure_add_beside(&figures, report, group, SWEEP_FIGURE_EVENTS);
    }
    return figures;
}

void figures_free(struct figures *figures)
{
    for (size_t i = 0; i < figures->count; i++) {
        free(figures->figures[i].svg);
        free(figures->figures[i].events);
        free(figures->figures[i].knob_default);
        free(figures->figures[i].knob_values);
        free(figures->figures[i].knob2_values);
        free(figures->figures[i].parameter_values);
        free(figures->figures[i].caption);
    }
    free(figures->figures);
    *figures = (struct figures){0};
}

/* Drawing ------------------------------------------------------------------------------------- */

/* A full disk leaves half a file and a gnuplot that is content. */
static bool svg_is_whole(const char *path)
{
    char tail[64] = "";
    FILE *file = fopen(path, "re");
    if (!file)
        return false;
    if (fseek(file, -(long)(sizeof tail - 1), SEEK_END) == 0)
        tail[fread(tail, 1, sizeof tail - 1, file)] = '\0';
    fclose(file);
    return strstr(tail, "</svg>") != NULL;
}

/* The arguments after the three that all scripts share; see the heads of plots/. */
static void figure_arguments(const struct figure *figure, const char *question,
                             const char **arguments)
{
    size_t n = 0;
    if (figure->kind == SWEEP_FIGURE_KNOB) {
        arguments[n++] = figure->group->knob->name;
        arguments[n++] = figure->knob_default;
    }
    if (figure->kind == SWEEP_FIGURE_HEATMAP) {
        arguments[n++] = figure->group->knob->name;
        arguments[n++] = figure->knob_values;
        arguments[n++] = figure->group->knob2->name;
        arguments[n++] = figure->knob2_values;
    }
    if (figure->kind == SWEEP_FIGURE_SURFACE) {
        arguments[n++] = figure->group->parameter;
        arguments[n++] = figure->parameter_values;
    }
    arguments[n++] = question;
    arguments[n++] = figure->caption;
    if (figure->kind == SWEEP_FIGURE_THROUGHPUT)
        arguments[n++] = figure->group->baseline ? figure->group->baseline : "";
    if (figure->kind == SWEEP_FIGURE_EVENTS)
        arguments[n++] = figure->events;
    if (figure->kind == SWEEP_FIGURE_METRIC)
        arguments[n++] = figure->group->metric;
    if (figure->kind == SWEEP_FIGURE_KNOB)
        arguments[n++] = figure->knob_values;
    arguments[n] = NULL;
}

/* The group's own question stands over its main figure, what the figure asks over the others. */
static const char *figure_question(const struct figure *figure)
{
    return figure->kind == figure->group->figure && figure->group->question
               ? figure->group->question
               : "";
}

/* Where and how all figures of a report are drawn. */
struct drawing {
    struct gnuplot gnuplot;
    const char *run_dir; /* absolute: gnuplot takes a name that begins with "<" for a command */
    const char *folder;  /* of the figures, in it */
    bool latex;
};

static bool figure_draw(struct figure *figure, const struct drawing *drawing, struct error *error)
{
    char folder[PATH_SIZE], prefix[PATH_SIZE + 2 * SWEEP_NAME_MAX];
    snprintf(folder, sizeof folder, "%.4000s/%s", drawing->run_dir, drawing->folder);
    snprintf(prefix, sizeof prefix, "%s/%s", folder, figure->name);
    const char *arguments[3 + ARGUMENTS] = {drawing->run_dir, figure->group->id, prefix};
    figure_arguments(figure, figure_question(figure), arguments + 3);
    figures_pages_remove(folder, figure->name);
    bool ok = gnuplot_run(&drawing->gnuplot, sweep_figure_name(figure->kind), arguments, error) &&
              (!drawing->latex || figures_latex_mend(folder, figure->name, error));
    figure->drawn = ok && svg_is_whole(figure->svg);
    if (ok && !figure->drawn)
        error_print(error, "%s is not whole; is the disk full?", figure->svg);
    return figure->drawn;
}

/* A link is not followed: figures belong into the run. */
static bool folder_make(const char *folder)
{
    struct stat there;
    if (mkdir(folder, 0777) == 0)
        return true;
    return errno == EEXIST && lstat(folder, &there) == 0 && S_ISDIR(there.st_mode);
}

/* Draws every second figure in a process of its own, which ends by itself; < 0: there is none. A
 * figure that it cannot draw is not there afterwards. */
static pid_t draw_beside(struct figures *figures, const struct drawing *drawing)
{
    struct error ignored;
    int cpus[2];
    if (figures->count < 2 || topology_pick_cpus(cpus, 2) < 2)
        return -1;
    for (size_t i = 1; i < figures->count; i += 2)
        unlink(figures->figures[i].svg);
    pid_t pid = fork();
    if (pid != 0)
        return pid;
    for (size_t i = 1; i < figures->count; i += 2)
        figure_draw(&figures->figures[i], drawing, &ignored);
    _exit(0);
}

/* The command of each figure, to draw it alone, or after a change of its script. */
static void commands_write(const struct figures *figures, const struct drawing *drawing)
{
    char path[PATH_SIZE], out[PATH_SIZE];
    snprintf(path, sizeof path, "%.4000s/%s/draw.sh", drawing->run_dir, drawing->folder);
    FILE *to = fopen(path, "we");
    if (!to)
        return;
    fputs("#!/bin/sh\n"
          "# The command of each figure here. PLOTS is the folder plots/ of schedlab's sources.\n"
          ": \"${PLOTS:?set it to the folder plots/ of schedlab}\"\n"
          "cd \"$(dirname \"$0\")/..\" || exit\n",
          to);
    for (size_t i = 0; i < figures->count; i++) {
        const struct figure *figure = &figures->figures[i];
        snprintf(out, sizeof out, "%s/%s", drawing->folder, figure->name);
        const char *arguments[3 + ARGUMENTS] = {".", figure->group->id, out};
        figure_arguments(figure, figure_question(figure), arguments + 3);
        fputs("gnuplot -d", to);
        if (*drawing->gnuplot.settings) {
            fputs(" -e ", to);
            shell_word_print(to, drawing->gnuplot.settings);
        }
        fprintf(to, " -c \"$PLOTS/%s.gp\"", sweep_figure_name(figure->kind));
        for (size_t k = 0; arguments[k]; k++) {
            fputc(' ', to);
            if (*arguments[k])
                shell_word_print(to, arguments[k]);
            else
                fputs("''", to);
        }
        fputc('\n', to);
    }
    fclose(to);
}

static int draw_all(struct figures *figures, const struct drawing *drawing, struct error *error)
{
    struct error ignored;
    int failed = 0;
    pid_t beside = draw_beside(figures, drawing);
    for (size_t i = 0; i < figures->count; i += 2)
        if (!figure_draw(&figures->figures[i], drawing, failed ? &ignored : error))
            failed = -1;
    while (beside > 0 && waitpid(beside, NULL, 0) < 0 && errno == EINTR)
        continue;
    for (size_t i = 1; i < figures->count; i += 2) {
        struct figure *figure = &figures->figures[i];
        figure->drawn = beside > 0 && svg_is_whole(figure->svg);
        /* what could not be drawn beside is tried again, to know why */
        if (!figure->drawn && !figure_draw(figure, drawing, failed ? &ignored : error))
            failed = -1;
    }
    return failed;
}

int figures_draw(struct figures *figures, const struct report *report,
                 const struct figures_paper *paper, struct error *error)
{
    struct drawing drawing = {.folder = paper ? "paper" : "figures",
                              .latex = paper && paper->latex};
    char folder[PATH_SIZE];
    if (!gnuplot_find(&drawing.gnuplot, error))
        return -1;
    if (paper)
        figures_paper_settings(paper, drawing.gnuplot.settings, sizeof drawing.gnuplot.settings);
    snprintf(folder, sizeof folder, "%s/%s", report->run_dir, drawing.folder);
    if (!folder_make(folder)) {
        error_print(error, "cannot make %s: %s", folder, strerror(errno));
        return -1;
    }
    for (size_t i = 0; i < figures->count && paper; i++) {
        free(figures->figures[i].svg);
        figures->figures[i].svg = text_format("%s/%s.svg", folder, figures->figures[i].name);
    }
    char *run_dir = realpath(report->run_dir, NULL);
    if (!run_dir) {
        error_print(error, "cannot find %s: %s", report->run_dir, strerror(errno));
        return -1;
    }
    drawing.run_dir = run_dir;
    int failed = draw_all(figures, &drawing, error);
    commands_write(figures, &drawing);
    free(run_dir);
    return failed;
}

void figures_find(struct figures *figures)
{
    for (size_t i = 0; i < figures->count; i++)
        figures->figures[i].drawn = svg_is_whole(figures->figures[i].svg);
}
