/* lesson_print.c - see lesson.h: a lesson and the course in a terminal. */
#include "harness/base/memory.h"
#include "harness/base/wrap.h"
#include "harness/lessons/lesson.h"

#include <stdlib.h>
#include <string.h>

enum { INDENT = 4, NUMBER = 4 };

void lessons_print(const struct lessons *lessons, int columns, FILE *to)
{
    for (size_t i = 0; i < lessons->count; i++) {
        const struct lesson *lesson = lessons->list[i];
        if (lesson->part)
            fprintf(to, "%s%s\n", i ? "\n" : "", lesson->part);
        fprintf(to, "%2u  ", lesson->number);
        text_wrap(to, NUMBER, NUMBER, columns, lesson->title);
        fprintf(to, "%*s", NUMBER, "");
        text_wrap(to, NUMBER, NUMBER, columns, lesson->question);
    }
    fputs("\n`schedlab lesson 1` shows the first, `schedlab lesson 1 --format page >1.html` as a "
          "page.\n",
          to);
}

/* Prints the lines behind a bar, so that they are not taken for the lesson's words. */
static void output_print(const char *text, FILE *to)
{
    char *lines = xstrdup(text), *rest = lines, *line;
    while ((line = strsep(&rest, "\n")))
        if (rest)
            fprintf(to, "  | %s\n", line);
    free(lines);
}

static void stops_print(const struct lesson_run *run, const struct lesson_output *output,
                        int columns, FILE *to)
{
    for (unsigned i = 0; i < run->stops_count; i++) {
        const struct lesson_place *place = &output->place[i];
        char *head =
            text_format("step %zu, %.3f us: %s", place->step, place->when_us, place->words);
        fputc('\n', to);
        text_wrap(to, 0, INDENT, columns, head);
        free(head);
        fprintf(to, "%*s", INDENT, "");
        text_wrap(to, INDENT, INDENT, columns, run->stops[i].says);
    }
}

static bool run_print(const struct lesson *lesson, const struct lesson_run *run, int columns,
                      FILE *to, struct error *error)
{
    struct lesson_output output;
    if (!lesson_run_make(lesson, run, false, &output, error))
        return false;
    fputc('\n', to);
    text_wrap(to, 0, 0, columns, run->says);
    fprintf(to, "\n$ schedlab %s\n", run->command);
    char *shown = lesson_output_shown(run, output.text);
    output_print(shown, to);
    stops_print(run, &output, columns, to);
    if (run->tells) {
        fputc('\n', to);
        text_wrap(to, 0, 0, columns, run->tells);
    }
    free(shown);
    lesson_output_free(&output);
    return true;
}

bool lesson_print(const struct lesson *lesson, int columns, FILE *to, struct error *error)
{
    fprintf(to, "Lesson %u: ", lesson->number);
    text_wrap(to, 0, 0, columns, lesson->title);
    text_wrap(to, 0, 0, columns, lesson->question);
    fputc('\n', to);
    text_wrap(to, 0, 0, columns, lesson->text);
    for (unsigned i = 0; i < lesson->runs_count; i++)
        if (!run_print(lesson, &lesson->runs[i], columns, to, error))
            return false;
    if (lesson->account) {
        fputs("\nAccounts: ", to);
        text_wrap(to, 10, 0, columns, lesson->account);
    }
    fputs("\nLearned: ", to);
    text_wrap(to, 9, 0, columns, lesson->learned);
    return true;
}
