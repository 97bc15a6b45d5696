/* lesson_page.c - see lesson.h: a lesson as a page, with the viewer of traces in it.
 *
 * `schedlab trace --format page` writes a page of each run with a player. All have the same head,
 * toolbar and script. The lesson's page has these once, from the first of them. The words and data
 * of each are in an element .player, for which the script makes a toolbar. The lesson's words go
 * around the players.
 */
#include "harness/base/files.h"
#include "harness/base/memory.h"
#include "harness/base/wrap.h"
#include "harness/doc/doc.h"
#include "harness/doc/html.h"
#include "harness/lessons/lesson.h"

#include <stdlib.h>
#include <string.h>

enum { PATH_SIZE = 4096, README_COLUMNS = 120 };

static const char BODY[] = "<body data-parts=\"-1\">\n";
static const char LEAD[] = "<p class=\"lead"; /* words above the data, which may be absent */
static const char DATA[] = "<script type=\"text/plain\" class=\"events\">";
static const char SCRIPT[] = "<script>\n"; /* behind the data */
static const char PLAIN[] =                /* the page of a lesson without a player */
    "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" "
    "content=\"width=device-width,initial-scale=1\"><title></title><style>:root{color-scheme:light "
    "dark}body{margin:0;padding:0 1rem 2rem;font:15px/1.45 system-ui,sans-serif}pre{overflow:auto;"
    "font-size:.85rem}article{max-width:62rem}@media print{"
    "details.answer::details-content{content-visibility:visible}}</style></head>\n<body "
    "data-parts=\"-1\">\n";

/* Pieces --------------------------------------------------------------------------------------- */

/* The name of the part of the course that it is in. */
static const char *part_of(const struct lessons *lessons, const struct lesson *lesson)
{
    size_t i = lesson->number - 1;
    while (i > 0 && !lessons->list[i]->part)
        i--;
    return lessons->list[i]->part ? lessons->list[i]->part : "";
}

/* Links to the course, and to the lessons before and after this one. */
static void links_write(FILE *to, const struct lessons *lessons, const struct lesson *lesson)
{
    size_t i = lesson->number - 1;
    fputs("<nav class=\"course\" aria-label=\"Course\">", to);
    if (i > 0)
        html_put(to, "<a rel='prev' href='%s.html'>\342\206\220 %u: %s</a> ",
                 lessons->list[i - 1]->name, lesson->number - 1, lessons->list[i - 1]->title);
    fputs("<a href=\"index.html\">The course</a>", to);
    if (i + 1 < lessons->count)
        html_put(to, " <a rel='next' href='%s.html'>%u: %s \342\206\222</a>",
                 lessons->list[i + 1]->name, lesson->number + 1, lessons->list[i + 1]->title);
    fputs("</nav>\n", to);
}

static void begin_write(FILE *to, const struct lessons *lessons, const struct lesson *lesson)
{
    fputs("<article>", to);
    links_write(to, lessons, lesson);
    html_put(to, "<p class='note'>Lesson %u of %zu: %s</p><h1>%s</h1><p class='question'>%s</p>\n",
             lesson->number, lessons->count, part_of(lessons, lesson), lesson->title,
             lesson->question);
    struct doc doc = {.to = to, .format = DOC_HTML};
    doc_paragraphs(&doc, lesson->text);
}

/* The first output answers the question: a reader who predicts opens it. A player shows nothing of
 * its run before it is played. */
static bool is_folded(const struct lesson_run *run, unsigned r, const struct lesson_output *output)
{
    return r == 0 && run->stops_count == 0 && !output->page;
}

static void run_write(FILE *to, const struct lesson *lesson, unsigned r,
                      const struct lesson_output *output)
{
    const struct lesson_run *run = &lesson->runs[r];
    struct doc doc = {.to = to, .format = DOC_HTML};
    html_put(to, "<h2>Run %u of %u</h2>\n", r + 1, lesson->runs_count);
    doc_paragraphs(&doc, run->says);
    html_put(to, "<pre class='code'>$ schedlab %s", run->command);
    char *shown = lesson_output_shown(run, output->text);
    if (run->stops_count > 0) /* the player has these steps, and more */
        html_put(to, "</pre>\n<noscript><pre class='code'>%s</pre></noscript>\n", shown);
    else if (is_folded(run, r, output))
        html_put(to,
                 "</pre>\n<details class='answer'><summary>Predict, then see what it prints"
                 "</summary><pre class='code'>%s</pre>\n",
                 shown);
    else
        html_put(to, "\n%s</pre>\n", shown);
    free(shown);
}

/* Tells what is to be seen in the run, behind its output and its player. */
static void run_end_write(FILE *to, const struct lesson_run *run,
                          const struct lesson_output *output, unsigned r)
{
    struct doc doc = {.to = to, .format = DOC_HTML};
    if (run->tells)
        doc_paragraphs(&doc, run->tells);
    if (is_folded(run, r, output))
        fputs("</details>\n", to);
}

static void account_write(FILE *to, const struct lesson *lesson)
{
    struct doc doc = {.to = to, .format = DOC_HTML};
    if (!lesson->account)
        return;
    html_put(to, "<h2>What popular accounts say</h2>\n");
    doc_paragraphs(&doc, lesson->account);
}

/* Behind the viewer: the stops that it shows, for those who read without a script too. */
static void stops_write(FILE *to, const struct lesson_run *run, const struct lesson_place *place)
{
    json_t *stops = json_array();
    fputs("<article><ol class=\"stops\">\n", to);
    for (unsigned i = 0; i < run->stops_count; i++) {
        html_put(to, "<li value='%u' data-step='%zu'><b>Step %zu</b>: %s. %s</li>\n", i + 1,
                 place[i].step, place[i].step, place[i].words, run->stops[i].says);
        json_array_append_new(stops, json_pack("{sI ss}", "at", (json_int_t)place[i].step - 1,
                                               "says", run->stops[i].says));
    }
    fputs("</ol></article>\n<script type=\"application/json\" class=\"stops\">", to);
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

/* The run's own part of its page, and before it the toolbar if it is the first player. */
static void player_write(FILE *to, const struct lesson_run *run, const struct lesson_output *output,
                         bool first)
{
    const char *viewer = strstr(output->page, BODY) + strlen(BODY);
    const char *data = strstr(viewer, DATA), *lead = strstr(viewer, LEAD);
    const char *own = lead && lead < data ? lead : data;
    fputs("</article>\n<div class=\"player\">\n", to);
    if (first)
        fwrite(viewer, 1, (size_t)(own - viewer), to);
    fwrite(own, 1, (size_t)(strstr(data, SCRIPT) - own), to);
    if (run->stops_count > 0)
        stops_write(to, run, output->place);
    fputs("</div>\n<article>\n", to);
}

static void page_write(FILE *to, const struct lessons *lessons, const struct lesson *lesson,
                       const struct lesson_output *output)
{
    const char *page = NULL; /* of the first run with a player */
    for (unsigned i = 0; i < lesson->runs_count && !page; i++)
        page = output[i].page;
    head_write(to, lesson, page ? page : PLAIN);
    begin_write(to, lessons, lesson);
    for (unsigned i = 0; i < lesson->runs_count; i++) {
        run_write(to, lesson, i, &output[i]);
        if (output[i].page)
            player_write(to, &lesson->runs[i], &output[i], output[i].page == page);
        run_end_write(to, &lesson->runs[i], &output[i], i);
    }
    account_write(to, lesson);
    html_put(to, "<h2>What you have learned</h2>\n<p>%s</p>\n", lesson->learned);
    html_put(to, "<p class='note'>`schedlab lesson %u` makes the same runs in a terminal.</p>\n",
             lesson->number);
    links_write(to, lessons, lesson);
    fputs("</article>\n", to);
    fputs(page ? strstr(strstr(page, DATA), SCRIPT) : "</body></html>\n", to);
}

bool lesson_page_write(const struct lessons *lessons, const struct lesson *lesson, FILE *to,
                       struct error *error)
{
    struct lesson_output *output = xcalloc(lesson->runs_count, sizeof output[0]);
    bool ok = true;
    for (unsigned i = 0; ok && i < lesson->runs_count; i++)
        ok = lesson_run_make(lesson, &lesson->runs[i], true, &output[i], error);
    if (ok)
        page_write(to, lessons, lesson, output);
    for (unsigned i = 0; i < lesson->runs_count; i++)
        lesson_output_free(&output[i]);
    free(output);
    return ok;
}

/* All of them ---------------------------------------------------------------------------------- */

static const char COURSE[] =
    "A short course on how Go's scheduler decides, for whoever has written a program with threads. "
    "Each lesson asks a question, lets you predict, and answers it by small runs on a simulated "
    "machine. Its page has a player that stops where something is to be seen. The words are "
    "explained where they first stand, so begin with the first lesson.";

static void readme_write(FILE *to, const void *arg)
{
    const struct lessons *lessons = arg;
    fputs("# Lessons\n\n", to);
    text_wrap(to, 0, 0, README_COLUMNS, COURSE);
    fputc('\n', to);
    text_wrap(to, 0, 0, README_COLUMNS,
              "`schedlab lesson 1` shows the first in a terminal. To see the pages, download this "
              "folder and open index.html in a browser. `make lessons` writes all of it anew.");
    for (size_t i = 0; i < lessons->count; i++) {
        const struct lesson *lesson = lessons->list[i];
        if (lesson->part || i == 0)
            fprintf(to, "\n## %s\n\n| | lesson | question |\n|---|---|---|\n",
                    lesson->part ? lesson->part : "The course");
        fprintf(to, "| %u | [%s](%s.html) | %s |\n", lesson->number, lesson->title, lesson->name,
                lesson->question);
    }
}

/* The answers are behind a fold, so that one can predict. */
static void index_write(FILE *to, const void *arg)
{
    const struct lessons *lessons = arg;
    const char *title = strstr(PLAIN, "</title>");
    fwrite(PLAIN, 1, (size_t)(title - PLAIN), to);
    fputs("Lessons on Go's scheduler", to);
    fputs(title, to);
    html_put(to, "<article><h1>Lessons on Go's scheduler</h1><p>%s</p>\n", COURSE);
    for (size_t i = 0; i < lessons->count; i++) {
        const struct lesson *lesson = lessons->list[i];
        if (lesson->part || i == 0)
            html_put(to, "<h2>%s</h2>\n<ol>\n", lesson->part ? lesson->part : "The course");
        html_put(to,
                 "<li value='%u'><a href='%s.html'>%s</a><br>%s<details><summary>The "
                 "answer</summary>%s</details></li>\n",
                 lesson->number, lesson->name, lesson->title, lesson->question, lesson->learned);
        if (i + 1 == lessons->count || lessons->list[i + 1]->part)
            fputs("</ol>\n", to);
    }
    fputs("</article></body></html>\n", to);
}

static bool page_to_file(const struct lessons *lessons, const struct lesson *lesson,
                         const char *folder, struct error *error)
{
    char path[PATH_SIZE];
    char *text = NULL;
    size_t size;
    FILE *to = memory_stream(&text, &size);
    bool ok = lesson_page_write(lessons, lesson, to, error);
    memory_stream_close(to);
    snprintf(path, sizeof path, "%s/%s.html", folder, lesson->name);
    ok = ok && file_replace(path, text, size, error);
    free(text);
    return ok;
}

bool lessons_pages_write(const struct lessons *lessons, const char *folder, struct error *error)
{
    char path[PATH_SIZE];
    bool ok = folder_make(folder, error);
    for (size_t i = 0; ok && i < lessons->count; i++)
        ok = page_to_file(lessons, lessons->list[i], folder, error);
    snprintf(path, sizeof path, "%s/index.html", folder);
    ok = ok && file_replace_by(path, index_write, lessons, error);
    snprintf(path, sizeof path, "%s/README.md", folder);
    return ok && file_replace_by(path, readme_write, lessons, error);
}
