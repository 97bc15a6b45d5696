/* report.c - see report.h. */
#include "harness/report/report.h"

#include "harness/answers/figures.h"
#include "harness/answers/report_baseline.h"
#include "harness/answers/report_data.h"
#include "harness/base/files.h"
#include "harness/base/json_fields.h"
#include "harness/base/text.h"
#include "harness/records/run_folder.h"
#include "harness/report/report_json.h"
#include "harness/report/report_page.h"
#include "harness/report/report_remarks.h"
#include "harness/tables/tables.h"

enum { PATH_SIZE = 4096, NAME_SIZE = 512 };

static int complain(FILE *messages, const char *error)
{
    fprintf(messages, "schedlab report: %s\n", error);
    return 1;
}

/* The data that the page is made from. */
struct page {
    const struct report *report;
    const struct figures *figures;
};

static void page_contents(FILE *to, const void *arg)
{
    const struct page *page = arg;
    report_page_write(to, page->report, page->figures);
}

static bool page_write(const struct report *report, const struct figures *figures,
                       struct error *error)
{
    char path[PATH_SIZE];
    snprintf(path, sizeof path, "%s/report.html", report->run_dir);
    return file_replace_by(path, page_contents, &(struct page){report, figures}, error);
}

/* Says what is wrong, a line each; or where the page is. */
static int conclude(const struct report *report, const struct figures *figures, FILE *messages)
{
    size_t drawn = 0, i;
    for (i = 0; i < figures->count; i++)
        drawn += figures->figures[i].drawn;
    json_each(problem, report->warnings)
        fprintf(messages, "schedlab report: warning: %s\n", json_string_value(problem));
    report_remarks_print(messages, report);
    json_each(problem, report->problems) {
        fprintf(messages, "schedlab report: %s; the rest is in %s/report.html\n",
                json_string_value(problem), report->run_dir);
    }
    if (json_array_size(report->problems) > 0)
        return 1;
    fprintf(messages, "schedlab report: %s/report.html, %s\n", report->run_dir,
            counted(drawn, "figure").s);
    return 0;
}

/* Figures that could not be drawn are a problem of the report like others. */
static void draw_figures(struct figures *figures, const struct report *report)
{
    struct error error;
    if (figures_draw(figures, report, NULL, &error) == 0)
        return;
    json_array_append_new(report->problems, json_sprintf("figures are missing: %s", error.text));
}

int report_make_with(const char *run_dir, bool draw, json_t **summary, FILE *messages)
{
    struct report report;
    struct error error;
    if (summary)
        *summary = NULL;
    if (tables_write(run_dir, &error) < 0 || !report_load(&report, run_dir, &error))
        return complain(messages, error.text);
    run_folder_tell_flaws(run_dir, &report.flaws, "schedlab report", messages);
    if (!report_baseline_write(&report, &error)) {
        report_free(&report);
        return complain(messages, error.text);
    }
    struct figures figures = figures_plan(&report);
    if (draw)
        draw_figures(&figures, &report);
    else
        figures_find(&figures);
    int status;
    if (page_write(&report, &figures, &error)) {
        status = conclude(&report, &figures, messages);
        if (summary)
            *summary = report_to_json(&report, &figures);
    } else {
        status = complain(messages, error.text);
    }
    figures_free(&figures);
    report_free(&report);
    return status;
}

int report_make(const char *run_dir, FILE *messages)
{
    return report_make_with(run_dir, true, NULL, messages);
}

/* Prints the path of each page of a paper's figure; returns how many there are. */
static size_t tell_pages(const char *run_dir, const char *figure, FILE *to)
{
    char folder[PATH_SIZE], name[NAME_SIZE];
    snprintf(folder, sizeof folder, "%s/paper", run_dir);
    unsigned pages = figures_pages(folder, figure);
    for (unsigned page = 1; page <= pages; page++)
        fprintf(to, "%s/%s.pdf\n", folder, figures_page_name(figure, page, name, sizeof name));
    return pages;
}

int report_paper(const char *run_dir, const struct figures_paper *paper, FILE *to, FILE *messages)
{
    struct report report;
    struct error error;
    if (tables_write(run_dir, &error) < 0 || !report_load(&report, run_dir, &error))
        return complain(messages, error.text);
    int status = 0;
    struct figures figures = figures_plan(&report);
    if (!report_baseline_write(&report, &error) ||
        figures_draw(&figures, &report, paper, &error) != 0)
        status = complain(messages, error.text);
    size_t files = 0;
    for (size_t i = 0; i < figures.count; i++)
        if (figures.figures[i].drawn)
            files += tell_pages(run_dir, figures.figures[i].name, to);
    if (status == 0)
        fprintf(messages,
                "schedlab report: %s, %g mm wide, in %s of %s/paper; draw.sh there has the command "
                "of each\n",
                counted(figures.count, "figure").s, paper->column_mm, counted(files, "PDF").s,
                run_dir);
    figures_free(&figures);
    report_free(&report);
    return status;
}
