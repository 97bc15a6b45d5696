/* report_latex.c - see report_latex.h. */
#include "harness/report/report_latex.h"

#include "harness/answers/report_data.h"
#include "harness/answers/report_verdict.h"
#include "harness/base/json_fields.h"
#include "harness/base/text.h"
#include "harness/models/machine_start.h"
#include "harness/numbers/units.h"
#include "harness/records/hosts_used.h"
#include "harness/records/run_folder.h"
#include "harness/tables/tables.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* So many fit a page of 43 lines with a caption and a space before each workload. A longer table is
 * one that breaks over pages. */
enum { ROWS_OF_A_PAGE = 28 };

/* TeX makes one sign of two of these: "--" is a dash, "''" and ",," are quotation marks. */
static bool is_one_sign(char before, char now)
{
    return (before == now && strchr("-,", now)) || (strchr("'\"", before) && strchr("'\"", now));
}

/* Text in which nothing is a command. TeX's first fonts have other signs in the places of some.
 * Units may have a micro sign, and ratios a times sign. */
static void put_text(FILE *to, const char *text)
{
    static const struct {
        const char *from, *to;
    } signs[] = {
        {"\\", "\\textbackslash{}"}, {"~", "\\textasciitilde{}"}, {"^", "\\textasciicircum{}"},
        {"<", "\\textless{}"},       {">", "\\textgreater{}"},    {"|", "\\textbar{}"},
        {"\302\265", "\\textmu{}"},  {"\303\227", "$\\times$"},   {"`", "\\textasciigrave{}"}};
    for (char before = ' '; *text; before = text[-1]) {
        if (is_one_sign(before, *text))
            fputs("{}", to);
        size_t i = 0, count = sizeof signs / sizeof signs[0];
        while (i < count && strncmp(text, signs[i].from, strlen(signs[i].from)) != 0)
            i++;
        if (i < count) {
            fputs(signs[i].to, to);
            text += strlen(signs[i].from);
            continue;
        }
        if (*text == '"') {
            fputs(strchr(" ([=", before) ? "``" : "''", to);
            text++;
            continue;
        }
        if (strchr("&%$#_{}", *text))
            fputc('\\', to);
        fputc(*text++, to);
    }
}

static void put_interval(FILE *to, const char *median, struct interval interval, const char *text)
{
    fputs(" & ", to);
    if (!isfinite(interval.median)) {
        fputs("--", to);
        return;
    }
    put_text(to, median);
    if (isfinite(interval.lo) && isfinite(interval.hi)) {
        fputs(" (", to);
        put_text(to, text);
        fputc(')', to);
    }
}

/* mark: verdicts_over_baseline()'s word for the cell. */
static void row_write(FILE *to, const struct report_group *group, const struct report_cell *cell,
                      const char *mark)
{
    bool is_baseline = group->baseline && strcmp(group->baseline, cell->variant) == 0;
    bool is_shown = mark && (strcmp(mark, "faster") == 0 || strcmp(mark, "slower") == 0);
    fputs("\\quad ", to);
    put_text(to, cell->variant);
    fprintf(to, " & %d", cell->workers);
    if (!report_cell_ok(cell)) {
        fprintf(to, " & \\multicolumn{2}{l}{%s} \\\\\n", cell->status);
        return;
    }
    put_interval(to, text_si(cell->throughput.median).s, cell->throughput,
                 text_si_interval(cell->throughput).s);
    if (is_baseline)
        fputs(" & baseline", to);
    else
        put_interval(to, text_ratio(cell->to_baseline.median).s, cell->to_baseline,
                     text_ratio_interval(cell->to_baseline).s);
    fprintf(to, "%s \\\\\n", is_shown && !is_baseline ? "\\,*" : "");
}

static bool has_intervals(const struct report_group *group)
{
    for (size_t i = 0; i < group->count; i++)
        if (statistics_has_interval(group->cells[i].throughput))
            return true;
    return false;
}

/* Native cells are of the processor that the run tells of, simulated ones of none. */
static void machine_write(FILE *to, const struct report *report, const char *machine)
{
    if (machine_text_is_simulated(machine)) {
        fputs("the simulated machine ", to);
        put_text(to, machine);
        return;
    }
    char *processors = hosts_used_text(report->environment);
    fputs("real threads", to);
    if (strcmp(processors, "unknown") != 0) {
        fputs(" of ", to);
        put_text(to, processors);
    }
    free(processors);
}

/* Each machine of the group once. */
static void machines_write(FILE *to, const struct report *report, const struct report_group *group)
{
    for (size_t i = 0; i < group->count; i++) {
        const char *machine = group->cells[i].machine;
        size_t before = 0;
        while (before < i && strcmp(group->cells[before].machine, machine) != 0)
            before++;
        if (before < i)
            continue;
        fputs(i > 0 ? " and " : "", to);
        machine_write(to, report, machine);
    }
}

/* A setting of the sweep's command that its file does not have. */
static void option_write(FILE *to, const json_t *settings, const char *name, const char *key)
{
    if (!*field_text(settings, key))
        return;
    fprintf(to, " -{}-%s ", name);
    put_text(to, field_text(settings, key));
}

static void caption_write(FILE *to, const struct report *report, const struct report_group *group)
{
    const json_t *settings = json_object_get(report->environment, "sweep");
    fputs("\\caption{", to);
    put_text(to, group->question ? group->question : group->id);
    fputs(report_subject(group) == SWEEP_FIGURE_LATENCY
              ? " Its latencies are in the report; here are operations a second on "
              : " Operations a second on ",
          to);
    machines_write(to, report, group);
    fputs(has_intervals(group)
              ? ", medians with 95\\,\\% bootstrap intervals; *: a difference is shown "
                "(Mann--Whitney, Holm, 5\\,\\%). "
              : ", medians of too few samples for intervals. ",
          to);
    if (*field_text(settings, "file")) {
        char *with = run_folder_with(report->environment);
        fputs("\\texttt{schedlab", to);
        put_text(to, with);
        free(with);
        fputs(" sweep ", to);
        put_text(to, text_base_name(field_text(settings, "file")));
        if (json_is_integer(json_object_get(settings, "seed")))
            fprintf(to, " -{}-seed %lld", field_integer(settings, "seed"));
        option_write(to, settings, "machine", "machine");
        option_write(to, settings, "what-if", "what_if");
        fputs("}.", to);
    }
    fprintf(to, "}\n\\label{tab:%s}\n", group->id);
}

static size_t rows_of(const struct report_group *group)
{
    struct report_span span = {0};
    size_t rows = group->count;
    while (report_next_workload(group, &span))
        rows++;
    return rows;
}

static void head_write(FILE *to, const struct report_group *group)
{
    fputs("\\toprule\nvariant & workers & operations/s & over ", to);
    put_text(to, group->baseline ? group->baseline : "the baseline");
    fputs(" \\\\\n\\midrule\n", to);
}

/* Neither the space between workloads nor a workload's name stays alone at the end of a page. */
static void rows_write(FILE *to, const struct report_group *group)
{
    const char **marks = verdicts_over_baseline(group);
    struct report_span span = {0};
    while (report_next_workload(group, &span)) {
        fputs(span.first > 0 ? "\\addlinespace\n" : "", to);
        fputs("\\multicolumn{4}{@{}l}{\\texttt{", to);
        put_text(to, span.workload);
        fputs("}} \\\\*\n", to);
        for (size_t i = span.first; i < span.end; i++)
            row_write(to, group, &group->cells[i], marks[i]);
    }
    free(marks);
}

static void group_write(FILE *to, const struct report *report, const struct report_group *group)
{
    bool is_long = rows_of(group) > ROWS_OF_A_PAGE;
    fputs(is_long ? "\\begin{longtable}{@{}lrll@{}}\n" : "\\begin{table}\n\\centering\n", to);
    caption_write(to, report, group);
    fputs(is_long ? "\\\\\n" : "\\begin{tabular}{@{}lrll@{}}\n", to);
    head_write(to, group);
    if (is_long) {
        fputs("\\endfirsthead\n", to);
        head_write(to, group);
        fputs("\\endhead\n\\bottomrule\n\\endfoot\n", to);
    }
    rows_write(to, group);
    fputs(is_long ? "\\end{longtable}\n" : "\\bottomrule\n\\end{tabular}\n\\end{table}\n", to);
}

bool report_latex_write(const char *folder, FILE *to, size_t *samples, struct error *error)
{
    struct report report;
    *samples = 0;
    if (tables_write(folder, error) < 0 || !report_load(&report, folder, error))
        return false;
    fputs("% needs \\usepackage{booktabs}, for what is longer than a page \\usepackage{longtable} "
          "(in one column),\n% and for the micro sign \\usepackage{textcomp}\n",
          to);
    for (size_t i = 0; i < report.groups_count; i++) {
        enum sweep_figure subject = report_subject(&report.groups[i]);
        fputs(i > 0 ? "\n" : "", to);
        if (subject == SWEEP_FIGURE_EVENTS || subject == SWEEP_FIGURE_STALLS)
            fprintf(to, "%% %s asks for counts\n", report.groups[i].id);
        else
            group_write(to, &report, &report.groups[i]);
    }
    for (size_t i = 0; i < report.cells_count; i++)
        *samples += report.cells[i].is_first ? report.cells[i].throughput.n : 0;
    report_free(&report);
    return true;
}
