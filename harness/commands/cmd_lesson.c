/* cmd_lesson.c - `schedlab lesson`: a short course on Go's scheduler, by runs that it makes. */
#include "harness/commands/commands.h"
#include "harness/lessons/lesson.h"
#include "harness/options/cli.h"

#include <stdbool.h>
#include <stdio.h>

enum { VALID_SIZE = 1024 };
enum lesson_format { FORMAT_TEXT, FORMAT_PAGE };

static const char *const format_words[] = {"text", "page", NULL};

struct options {
    const char *lesson;
    const char *pages;
    int format; /* enum lesson_format */
};

static const struct cli_option option_table[] = {
    {"format", "FORMAT", "text (default), or page: an HTML file with a player of the run",
     CLI(WORD, format), .words = format_words},
    {"pages", "FOLDER",
     "write all lessons as pages, and the course as index.html and README.md, into FOLDER",
     CLI(FOLDER, pages)},
    {0},
};

static const char argp_doc[] =
    "Teaches how a goroutine scheduler decides, by small runs on a simulated machine.\v"
    "LESSON is a number or a name. Without it, the course is listed. A lesson asks a question, "
    "makes runs, shows what to see in their output, and fails if that is not there. Of some, "
    "popular accounts of Go's scheduler say something else; the lesson says who is right.\n\n"
    "Example:\n"
    "  schedlab lesson\n"
    "  schedlab lesson 1\n"
    "  schedlab lesson stealing --format page >stealing.html\n\n"
    "Exit status: 0 done, 1 a run failed or printed something else, 2 misused.";

static void options_check(void *to)
{
    const struct options *options = to;
    if (options->pages && options->lesson)
        cli_misuse("--pages writes all lessons; leave out \"%s\"", options->lesson);
    if (options->pages && options->format == FORMAT_PAGE)
        cli_misuse("--pages writes pages; leave out --format");
    if (options->format == FORMAT_PAGE && !options->lesson)
        cli_misuse("--format=page is of one lesson; which? See `schedlab lesson`");
}

static const struct cli_command cli = {
    .options = option_table,
    .arguments = "[LESSON]",
    .help = argp_doc,
    .only = "lesson",
    .only_offset = offsetof(struct options, lesson),
    .check = options_check,
};

static bool lesson_show(const struct options *options, const struct lessons *lessons,
                        struct error *error)
{
    char valid[VALID_SIZE];
    const struct lesson *lesson = lesson_find(lessons, options->lesson, valid, sizeof valid);
    if (!lesson)
        cli_misuse("there is no lesson \"%s\"; %s", options->lesson, valid);
    return options->format == FORMAT_PAGE ? lesson_page_write(lessons, lesson, stdout, error)
                                          : lesson_print(lesson, cli_columns(), stdout, error);
}

int cmd_lesson(int argc, char **argv)
{
    struct options options = {0};
    struct lessons lessons;
    struct error error;
    cli_read(&cli, argc, argv, &options);
    if (!lessons_load(&lessons, &error))
        return cli_fail("%s", error.text);
    bool ok = true;
    if (options.pages)
        ok = lessons_pages_write(&lessons, options.pages, &error);
    else if (options.lesson)
        ok = lesson_show(&options, &lessons, &error);
    else
        lessons_print(&lessons, cli_columns(), stdout);
    lessons_free(&lessons);
    return ok ? EXIT_DONE : cli_fail("%s", error.text);
}
