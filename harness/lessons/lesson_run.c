/* lesson_run.c - see lesson.h: making a lesson's runs, by this program itself. */
#include "harness/base/json_fields.h"
#include "harness/base/memory.h"
#include "harness/base/process.h"
#include "harness/base/text.h"
#include "harness/lessons/lesson.h"

#include <regex.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

enum { WORDS_MAX = 64, TIMEOUT_S = 120, GOES_ON = 16 };

/* Tables are as wide wherever a lesson is shown, so that what is expected of them does not depend
 * on the terminal. */
static const char COLUMNS[] = "76";

static bool matches(const char *pattern, const char *text)
{
    regex_t regex;
    if (regcomp(&regex, pattern, REG_EXTENDED | REG_NEWLINE | REG_NOSUB) != 0)
        return false; /* lesson_load() has compiled it */
    bool found = regexec(&regex, text, 0, NULL, 0) == 0;
    regfree(&regex);
    return found;
}

/* Running -------------------------------------------------------------------------------------- */

/* `diff` ends with 1 where two runs part, which is an answer. */
static bool is_answer(const struct lesson_run *run, const struct process_result *result)
{
    if (result->end != PROCESS_ENDED || !WIFEXITED(result->status))
        return false;
    int status = WEXITSTATUS(result->status);
    return status == 0 ||
           (status == 1 && strncmp(run->command, "diff", 4) == 0 && result->output_size > 0);
}

/* The output of the run's command with one more argument, NULL for none; to be freed. NULL and one
 * line in error. */
static char *command_run(const struct lesson *lesson, const struct lesson_run *run,
                         const char *more, struct error *error)
{
    const char *argv[WORDS_MAX + 3] = {"schedlab"};
    char *words = xstrdup(run->command), *rest = words, *word;
    size_t count = 1;
    while (count <= WORDS_MAX && (word = strtok_r(rest, " \n", &rest)))
        argv[count++] = word;
    argv[count] = more;
    struct process_result result;
    setenv("COLUMNS", COLUMNS, true);
    int failed = process_run("/proc/self/exe", argv, TIMEOUT_S, &result);
    free(words);
    if (failed)
        return error_null(error, "cannot start a process: %s", strerror(-failed));
    char *text = NULL, end[256] = "it took too long";
    if (is_answer(run, &result)) {
        text = xstrdup(result.output);
    } else {
        if (result.end == PROCESS_ENDED)
            process_end_text(&result, end, sizeof end);
        error_print(error, "%s:%zu: `schedlab %s`: %s", lesson->path, run->line, run->command,
                    text_one_line(end));
    }
    process_result_free(&result);
    return text;
}

/* Stops ---------------------------------------------------------------------------------------- */

static bool is_stop(const struct lesson_stop *stop, size_t step, const char *words)
{
    char *end;
    unsigned long number = strtoul(stop->event, &end, 10);
    return *end ? matches(stop->event, words) : number == step;
}

static bool places_find(const struct lesson *lesson, const struct lesson_run *run,
                        const json_t *trace, struct lesson_place *place, struct error *error)
{
    unsigned stop = 0;
    json_each(step, json_object_get(trace, "steps")) {
        char words[sizeof place->words];
        size_t number = (size_t)field_integer(step, "index") + 1;
        snprintf(words, sizeof words, "%s %s", field_text(step, "who"), field_text(step, "text"));
        if (stop == run->stops_count || !is_stop(&run->stops[stop], number, words))
            continue;
        place[stop].step = number;
        place[stop].when_us = field_number(step, "when_ps") / 1e6;
        snprintf(place[stop++].words, sizeof words, "%s", words);
    }
    if (stop < run->stops_count)
        error_print(error, "%s:%zu: no event after step %zu fits \"%s\"", lesson->path,
                    run->stops[stop].line, stop ? place[stop - 1].step : 0, run->stops[stop].event);
    return stop == run->stops_count;
}

static bool stops_find(const struct lesson *lesson, const struct lesson_run *run,
                       struct lesson_output *output, struct error *error)
{
    char *text = command_run(lesson, run, "--format=json", error);
    if (!text)
        return false;
    json_t *trace = json_loads(text, 0, NULL);
    free(text);
    output->place = xcalloc(run->stops_count, sizeof output->place[0]);
    bool ok = places_find(lesson, run, trace, output->place, error);
    json_decref(trace);
    return ok;
}

/* A lesson's run ------------------------------------------------------------------------------- */

/* The page of a textbook's table stops after each of its rows. */
static bool has_player(const struct lesson_run *run)
{
    return run->stops_count > 0 || strstr(run->command, " --replay ") != NULL;
}

bool lesson_run_make(const struct lesson *lesson, const struct lesson_run *run, bool with_page,
                     struct lesson_output *output, struct error *error)
{
    *output = (struct lesson_output){.text = command_run(lesson, run, NULL, error)};
    bool ok = output->text != NULL;
    for (unsigned i = 0; ok && i < run->expect_count; i++) {
        ok = matches(run->expect[i], output->text);
        if (!ok)
            error_print(error, "%s:%zu: `schedlab %s` does not print \"%s\"", lesson->path,
                        run->line, run->command, run->expect[i]);
    }
    if (ok && run->stops_count > 0)
        ok = stops_find(lesson, run, output, error);
    if (ok && has_player(run) && with_page) {
        output->page = command_run(lesson, run, "--format=page", error);
        ok = output->page != NULL;
    }
    if (!ok)
        lesson_output_free(output);
    return ok;
}

void lesson_output_free(struct lesson_output *output)
{
    free(output->text);
    free(output->page);
    free(output->place);
    *output = (struct lesson_output){NULL, NULL, NULL};
}

/* A row of a table that goes on with the row above it. */
static bool goes_on(const char *line)
{
    return strspn(line, " ") >= GOES_ON;
}

char *lesson_output_shown(const struct lesson_run *run, const char *text)
{
    char *shown = NULL, *lines = xstrdup(text), *rest = lines, *line;
    bool left_out = false, begun = false;
    FILE *to = memory_stream(&shown, NULL);
    while ((line = strsep(&rest, "\n"))) {
        bool wanted = run->shows ? matches(run->shows, line) : rest != NULL;
        wanted = wanted || (begun && !left_out && goes_on(line));
        if (wanted)
            fprintf(to, "%s%s\n", left_out && begun ? "...\n" : "", line);
        begun = begun || wanted;
        left_out = !wanted;
    }
    memory_stream_close(to);
    free(lines);
    return shown;
}
