/* lesson.h - a short course on Go's scheduler: questions, each answered by runs that the reader
 * makes.
 *
 * Callers: cmd_lesson.c and list_words.c. Nothing in a lesson is a recorded result: each command is
 * run when the lesson is shown, and each `expect` is looked for in its output. A lesson is a file,
 * harness/lessons/NN-name.yaml:
 *
 *     part: Queues: where it waits     # of the lesson that begins a part of the course: its name
 *     title: A loop of 20 goroutines
 *     question: In which order do they run?
 *     text: |                         # a few short paragraphs; a word is explained where it first
 *       ...                           # stands
 *     account: |                      # what popular accounts say of it, and whether that is right;
 *       ...                           # may be left out
 *     learned: The newest ...         # the answer, in a sentence or two, for the end and the index
 *     runs:
 *       - says: Main starts 20 ...    # what is run, before the reader sees it
 *         command: trace gmp order,n=20 --workers 1    # run, trace or diff, on a simulated one
 *         expect: ["regex", ...]      # each must be in the output
 *         shows: "^ran"               # the lines of the output to print; all of it if left out
 *         tells: The newest ...       # what the reader saw in it; printed behind the output
 *         stops:                      # of a trace: where its player stops
 *           - event: "put G0 into runnext"   # a regex of its words, after the
 *             says: The newest ...                     # stop before
 *
 * A reader predicts, sees the run, and is told: accounts, which say the answer too, come behind all
 * runs. On a page the output of the first run is folded, unless it has a player.
 *
 * On the page each run with stops has a player. So has each `trace --replay`, of one table, which
 * stops after each row.
 *
 * Regular expressions are POSIX extended ones, by lines. `event` may be the number of a step too.
 * Goroutines have their names there: main, G3 for the fourth that main started, G3.1 for the second
 * that this one did.
 */
#ifndef SCHEDLAB_LESSON_H
#define SCHEDLAB_LESSON_H

#include "harness/base/error.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct lesson_stop {
    char *event, *says;
    size_t line; /* in the file */
};

struct lesson_run {
    char *says, *command;
    char *shows; /* NULL: all of it */
    char *tells; /* NULL: nothing */
    char **expect;
    struct lesson_stop *stops;
    unsigned expect_count, stops_count;
    size_t line;
};

struct lesson {
    char *part; /* NULL: it goes on with that of the lesson before */
    char *title, *question, *text, *learned, *account; /* account: NULL if there is none */
    struct lesson_run *runs;
    unsigned runs_count;
    unsigned number; /* from 1; set by lessons_load() */
    char *name;      /* "01-loop-of-20"; the same */
    char *path;      /* of the file; the same */
};

/* All lessons in the order of the course. */
struct lessons {
    struct lesson **list;
    size_t count;
};

/* Reads those that come with the program. False, nothing to free and a line in error for each
 * mistake if there are none or one is wrong. */
bool lessons_load(struct lessons *lessons, struct error *error);
void lessons_free(struct lessons *lessons);

/* The lesson with that number ("3"), name ("03-stealing") or name without number; NULL if there is
 * none, and then the names that are valid in valid. */
const struct lesson *lesson_find(const struct lessons *lessons, const char *text, char *valid,
                                 size_t valid_size);

/* Running: lesson_run.c ------------------------------------------------------------------------ */

/* Where a stop is in its run. */
struct lesson_place {
    size_t step;     /* from 1 */
    char words[160]; /* "P0 put G3 into runnext" */
    double when_us;  /* since the first event */
};

/* The output of a run, and the places of its stops. */
struct lesson_output {
    char *text;
    char *page;                 /* of a run with a player, if asked for: the file that shows it */
    struct lesson_place *place; /* one per stop */
};

/* Runs the command by this program. False, nothing to free and one line in error if it fails, an
 * expectation is not in its output, or a stop is nowhere. */
bool lesson_run_make(const struct lesson *lesson, const struct lesson_run *run, bool with_page,
                     struct lesson_output *output, struct error *error);
void lesson_output_free(struct lesson_output *output);

/* The lines of the output that the lesson shows, with "..." where some are left out; to be
 * freed. */
char *lesson_output_shown(const struct lesson_run *run, const char *text);

/* Showing -------------------------------------------------------------------------------------- */

/* Prints the course: number, title and question of each. */
void lessons_print(const struct lessons *lessons, int columns, FILE *to);

/* Prints one lesson, in lines of so many columns, and makes its runs. False and one line in error
 * if one of them fails. lesson_print.c. */
bool lesson_print(const struct lesson *lesson, int columns, FILE *to, struct error *error);

/* Writes one lesson of the course as an HTML file that needs nothing else; a run with stops has
 * a player. It has links to the pages of the lessons before and after it, beside it in the same
 * folder. False and one line in error. lesson_page.c. */
bool lesson_page_write(const struct lessons *lessons, const struct lesson *lesson, FILE *to,
                       struct error *error);

/* Writes the pages of all lessons, and the course as index.html and README.md, into a folder. */
bool lessons_pages_write(const struct lessons *lessons, const char *folder, struct error *error);

#endif
