/* lesson_page.c - see lesson.h: a lesson as a page, with the viewer of traces in it.
 *
 * The page is the one that `schedlab trace --format page` writes of the run with stops. It is cut
 * where the viewer begins and where its data begin. The lesson's words go around the viewer, and
 * the stops before the data, where the viewer's script finds them.
 */
#include "harness/base/files.h"
#include "harness/base/memory.h"
#include "harness/lessons/lesson.h"
#include "harness/report/doc.h"
#include "harness/report/html.h"

#include <stdlib.h>
#include <string.h>

enum { PATH_SIZE = 4096 };

static const char BODY[] = "<body data-parts=\"-1\">\n";
static const char DATA[] = "<script type=\"text/plain\" class=\"events\">";
static const char PLAIN[] = /* the page of a lesson without a player */
    "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" "
    "content=\"width=device-width,initial-scale=1\"><title></title><style>:root{color-scheme:light "
    "dark}body{margin:0;padding:0 1rem 2rem;font:15px/1.45 system-ui,sans-serif}pre{overflow:auto;"
    "font-size:.85rem}article{max-width:62rem}</style></head>\n<body data-parts=\"-1\">\n";

/* Pieces --------------------------------------------------------------------------------------- */

static void begin_write(FILE *to, const struct lesson *lesson)
{
    html_put(to, "<article><p class='note'>Lesson %u</p><h1>%s</h1><p class='question'>%s</p>\n",
             lesson->number, lesson->title, lesson->question);
    struct doc doc = {.to = to, .format = DOC_HTML};
    doc_paragraphs(&doc, lesson->text);
    if (lesson->account) {
        html_put(to, "<h2>What popular accounts say</h2>\n");
        doc_paragraphs(&doc, lesson->account);
    }
}

static void run_write(FILE *to, const struct lesson *lesson, unsigned r,
                      const struct lesson_output *output)
{
    const struct lesson_run *run = &lesson->runs[r];
    struct doc doc = {.to = to, .format = DOC_HTML};
    html_put(to, "<h2>Run %u of %u</h2>\n", r + 1, lesson->runs_count);
    doc_paragraphs(&doc, run->says);
    html_put(to, "<pre class='code'>$ schedlab %s", run->command);
    if (run->stops_count == 0) {
        char *shown = lesson_output_shown(run, output->text);
        html_put(to, "\n%s", shown);
        free(shown);
    }
    fputs("</pre>\n", to);
}

/* Behind the viewer: the stops that it shows, for those who read without a script too. */
static void stops_write(FILE *to, const struct lesson_run *run, const struct lesson_place *place)
{
    json_t *stops = json_array();
    fputs("<ol class=\"stops\">\n", to);
    for (unsigned i = 0; i < run->stops_count; i++) {
        html_put(to, "<li value='%u' data-step='%zu'><b>Step %zu</b>: %s. %s</li>\n", i + 1,
                 place[i].step, place[i].step, place[i].words, run->stops[i].says);
        json_array_append_new(stops, json_pack("{sI ss}", "at", (json_int_t)place[i].step - 1,
                                               "says", run->stops[i].says));
    }
    fputs("</ol>\n<script type=\"application/json\" class=\"stops\">", to);
    html_json(to, stops);
    fputs("</script>\n", to);
    json_decref(stops);
}

/* The head of the page, with the lesson's title in place of the trace's. */
static void head_write(FILE *to, const struct lesson *lesson, const char *page)
{
    const char *title = strstr(page, "<title>"), *end = strstr(page, "</title>");
    fwrite(page, 1, (size_t)(title - page), to);
    html_put(to, "<title>%s</title>", lesson->title);
    end += strlen("</title>");
    fwrite(end, 1, (size_t)(strstr(end, BODY) + strlen(BODY) - end), to);
}

/* The page ------------------------------------------------------------------------------------- */

static void page_write(FILE *to, const struct lesson *lesson, const struct lesson_output *output)
{
    const char *page = PLAIN, *data = NULL;
    for (unsigned i = 0; i < lesson->runs_count; i++)
        if (output[i].page)
            page = output[i].page;
    head_write(to, lesson, page);
    begin_write(to, lesson);
    for (unsigned i = 0; i < lesson->runs_count; i++) {
        run_write(to, lesson, i, &output[i]);
        if (!output[i].page)
            continue;
        const char *viewer = strstr(page, BODY) + strlen(BODY);
        data = strstr(page, DATA);
        fputs("</article>\n<div class=\"player\">\n", to);
        fwrite(viewer, 1, (size_t)(data - viewer), to);
        fputs("</div>\n<article>\n", to);
        stops_write(to, &lesson->runs[i], output[i].place);
    }
    html_put(
        to,
        "<p class='note'>`schedlab lesson %u` makes the same runs in a terminal.</p></article>\n",
        lesson->number);
    fputs(data ? data : "</body></html>\n", to);
}

bool lesson_page_write(const struct lesson *lesson, FILE *to, char *error, size_t error_size)
{
    struct lesson_output *output = xcalloc(lesson->runs_count, sizeof output[0]);
    bool ok = true;
    for (unsigned i = 0; ok && i < lesson->runs_count; i++)
        ok = lesson_run_make(lesson, &lesson->runs[i], true, &output[i], error, error_size);
    if (ok)
        page_write(to, lesson, output);
    for (unsigned i = 0; i < lesson->runs_count; i++)
        lesson_output_free(&output[i]);
    free(output);
    return ok;
}

/* All of them ---------------------------------------------------------------------------------- */

static void index_write(FILE *to, const void *arg)
{
    const struct lessons *lessons = arg;
    fputs("# Lessons\n\n"
          "A short course on how Go's scheduler decides. Each lesson asks a question and answers "
          "it by small runs on a\n"
          "simulated machine. `schedlab lesson 1` shows the first in a terminal. Its page has a "
          "player that stops where\n"
          "something is to be seen; download it and open it in a browser. `make lessons` writes "
          "all of this anew.\n\n"
          "| | lesson | question |\n|---|---|---|\n",
          to);
    for (size_t i = 0; i < lessons->count; i++)
        fprintf(to, "| %u | [%s](%s.html) | %s |\n", lessons->list[i]->number,
                lessons->list[i]->title, lessons->list[i]->name, lessons->list[i]->question);
}

static bool page_to_file(const struct lesson *lesson, const char *folder, char *error,
                         size_t error_size)
{
    char path[PATH_SIZE];
    char *text = NULL;
    size_t size;
    FILE *to = memory_stream(&text, &size);
    bool ok = lesson_page_write(lesson, to, error, error_size);
    if (fclose(to) != 0)
        abort();
    snprintf(path, sizeof path, "%s/%s.html", folder, lesson->name);
    ok = ok && file_replace(path, text, size, error, error_size);
    free(text);
    return ok;
}

bool lessons_pages_write(const struct lessons *lessons, const char *folder, char *error,
                         size_t error_size)
{
    char path[PATH_SIZE];
    bool ok = folder_make(folder, error, error_size);
    for (size_t i = 0; ok && i < lessons->count; i++)
        ok = page_to_file(lessons->list[i], folder, error, error_size);
    snprintf(path, sizeof path, "%s/README.md", folder);
    return ok && file_replace_by(path, index_write, lessons, error, error_size);
}
