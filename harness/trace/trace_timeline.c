/* trace_timeline.c - see trace.h: the run as a figure, by gnuplot or in characters. */
#include "harness/base/text.h"
#include "harness/trace/trace.h"

#include "harness/answers/gnuplot.h"
#include "harness/base/memory.h"
#include "harness/base/wrap.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LANES_MAX = 64, LABEL_WIDTH = 7, STEALS_SHOWN = 20, WIDTH_MIN = 40, PATH_SIZE = 4096 };

static char lane_letter(const struct trace_story *story)
{
    return story->by_m ? 'M' : 'P';
}

static int32_t slice_lane(const struct trace_story *story, const struct trace_slice *slice)
{
    return story->by_m ? slice->m : slice->p;
}

static int32_t lanes_shown(const struct trace_story *story)
{
    return story->lanes < LANES_MAX ? story->lanes : LANES_MAX;
}

/* Characters ---------------------------------------------------------------------------------- */

/* The last number of its name; @ for main. */
static char id_letter(const struct sched_trace *trace, trace_id id)
{
    static const char letters[] = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    size_t number = id & ~TRACE_TASK;
    bool is_task = id & TRACE_TASK;
    if (number >= (is_task ? trace->tasks : trace->gs))
        return '?';
    const struct sched_trace_birth *birth = &(is_task ? trace->task : trace->g)[number];
    return birth->parent || number != 1 ? letters[birth->child % (sizeof letters - 1)] : '@';
}

/* Writes a slice into the columns in which it has the best claim: the longest part, and what is on
 * top of others before those. */
static void slice_put(const struct trace_story *story, const struct trace_slice *slice, char *row,
                      double *claim, int columns)
{
    double each = (double)(story->end_ps - story->begin_ps) / columns;
    double from = (double)(slice->begin_ps - story->begin_ps) / each;
    double to = (double)(slice->end_ps - story->begin_ps) / each;
    double level = slice->kind == SLICE_TASK ? 2 + slice->depth : slice->kind == SLICE_CALL;
    for (int i = from < 0 ? 0 : (int)from; i < columns && i < to; i++) {
        double part = (to < i + 1 ? to : i + 1) - (from > i ? from : i);
        double here = part * (1 + level / 2);
        if (here > claim[i]) {
            claim[i] = here;
            row[i] = slice->kind == SLICE_CALL ? '_' : id_letter(story->trace, slice->id);
        }
    }
}

static void lanes_print(const struct trace_story *story, int columns, FILE *to)
{
    char *row = xmalloc((size_t)columns + 1);
    double *claim = xmalloc((size_t)columns * sizeof *claim);
    for (int32_t lane = 0; lane < lanes_shown(story); lane++) {
        memset(row, '.', (size_t)columns);
        row[columns] = '\0';
        for (int i = 0; i < columns; i++)
            claim[i] = 0;
        for (size_t i = 0; i < story->slices; i++)
            if (slice_lane(story, &story->slice[i]) == lane)
                slice_put(story, &story->slice[i], row, claim, columns);
        fprintf(to, "%c%-*" PRId32 "%s\n", lane_letter(story), LABEL_WIDTH - 1, lane, row);
    }
    free(row);
    free(claim);
}

/* The longest that the queue of a lane (-1: the global one) is in each column. */
static void lengths_print(const struct trace_story *story, int32_t lane, int columns, FILE *to)
{
    double each = (double)(story->end_ps - story->begin_ps) / columns;
    uint32_t now = 0;
    size_t next = 0;
    for (int column = 0; column < columns; column++) {
        uint32_t most = now;
        for (; next < story->lengths; next++) {
            const struct trace_length *length = &story->length[next];
            if ((double)(length->when_ps - story->begin_ps) >= (column + 1) * each &&
                column < columns - 1)
                break;
            if (length->lane != lane)
                continue;
            now = length->length;
            most = now > most ? now : most;
        }
        fputc(most == 0 ? '.' : most < 10 ? (char)('0' + most) : '+', to);
    }
    fputc('\n', to);
}

static void steals_print(const struct trace_story *story, FILE *to)
{
    size_t shown = 0, all = 0;
    char text[SCHED_TRACE_NAME];
    for (size_t i = 0; i < story->arrows; i++) {
        const struct trace_arrow *arrow = &story->arrow[i];
        if (!arrow->steal || all++ >= STEALS_SHOWN)
            continue;
        fprintf(to, "%s%10.3f us  %c%" PRId32 " stole %s from %c%" PRId32 "\n",
                shown++ ? "" : "\nSteals:\n", (double)arrow->to_ps / 1e6, lane_letter(story),
                arrow->to_lane, trace_id_text(story->trace, arrow->id, text), lane_letter(story),
                arrow->from_lane);
    }
    if (all > shown)
        fprintf(to, "  and %zu more\n", all - shown);
}

void trace_timeline_print(const struct trace_page *page, int width, FILE *to)
{
    struct trace_story story;
    trace_story_make(&story, page);
    width = width < WIDTH_MIN ? WIDTH_MIN : width;
    int columns = width - LABEL_WIDTH;
    char *title = trace_title(page);
    text_wrap(to, 0, 0, width, title);
    free(title);
    double from_us =
        page->trace.count ? (double)(story.begin_ps - page->trace.event[0].when_ps) / 1e6 : 0;
    double span_us = (double)(story.end_ps - story.begin_ps) / 1e6;
    fprintf(to, "%.3f to %.3f us, %.3f us a column\n\n", from_us, from_us + span_us,
            span_us / columns);
    if (story.end_ps > story.begin_ps) {
        lanes_print(&story, columns, to);
        fputs("\nIn its queue at most (+: 10 or more)\n", to);
        for (int32_t lane = 0; lane < lanes_shown(&story); lane++) {
            fprintf(to, "%c%-*" PRId32, lane_letter(&story), LABEL_WIDTH - 1, lane);
            lengths_print(&story, lane, columns, to);
        }
        fprintf(to, "%-*s", LABEL_WIDTH, "global");
        lengths_print(&story, -1, columns, to);
    }
    steals_print(&story, to);
    fputc('\n', to);
    text_wrap(to, 0, 0, width,
              "A character is what ran longest in its column. A goroutine or task is the last "
              "number of its name modulo 62, as 0-9a-zA-Z: G3.12 is c. Main is @, a blocking call "
              "_, and a dot nothing.");
    trace_functions_print(page->functions, to);
    if (story.lanes > LANES_MAX)
        fprintf(to, "The first %d of %" PRId32 " workers are shown.\n", LANES_MAX, story.lanes);
    trace_print_limits(page, story.odd, story.odd_text, to);
    trace_story_free(&story);
}

/* The figure ---------------------------------------------------------------------------------- */

/* Pale, so that a name can be read on them; neighbours differ in lightness too. */
static unsigned id_colour(const struct trace_slice *slice)
{
    static const unsigned pale[] = {0x9ecae1, 0xfdd0a2, 0xa1d99b, 0xdadaeb, 0xfcbba1, 0xc7e9c0,
                                    0xfee391, 0xbdd7e7, 0xe7cbe0, 0xccebc5, 0xf2d5b4, 0xb3cde3};
    if (slice->kind == SLICE_CALL)
        return 0xbbbbbb;
    return pale[(slice->id & ~TRACE_TASK) % (sizeof pale / sizeof pale[0])];
}

/* Times begin with the trace's first event, as in the table of steps. */
static double us(int64_t ps)
{
    return (double)ps / 1e6;
}

static FILE *tsv_open(const char *folder, const char *name)
{
    char path[PATH_SIZE];
    snprintf(path, sizeof path, "%s/%s.tsv", folder, name);
    return fopen(path, "we");
}

/* Marks the bars of goroutines that a call fills for the most part. It has a name of its own. */
static bool *hidden_find(const struct trace_story *story)
{
    bool *hidden = xcalloc(story->slices + 1, sizeof *hidden);
    const struct trace_slice **latest = xcalloc((size_t)story->ms + 1, sizeof(void *)); /* by M */
    for (size_t i = 0; i < story->slices; i++) {
        const struct trace_slice *slice = &story->slice[i], *under = latest[slice->m];
        if (slice->kind == SLICE_G)
            latest[slice->m] = slice;
        else if (slice->kind == SLICE_CALL && under && under->id == slice->id &&
                 under->end_ps >= slice->end_ps)
            hidden[under - story->slice] |=
                2 * (slice->end_ps - slice->begin_ps) > under->end_ps - under->begin_ps;
    }
    free(latest);
    return hidden;
}

/* "-": none, since others lie on top of it. */
static const char *slice_text(const struct trace_page *page, const struct trace_slice *slice,
                              bool hidden, char text[TRACE_NAME_SIZE])
{
    if (slice->covered || hidden)
        return "-";
    trace_function_text(page, slice->id, text);
    if (slice->kind == SLICE_CALL)
        text_add(text, TRACE_NAME_SIZE, " (call)");
    return text;
}

static bool slices_write(const struct trace_story *story, const struct trace_page *page,
                         const char *folder)
{
    FILE *to = tsv_open(folder, "slices");
    char text[TRACE_NAME_SIZE];
    if (!to)
        return false;
    bool *hidden = hidden_find(story);
    fputs("lane\tbegin_us\tend_us\tcolour\tname\tdepth\n", to);
    for (size_t i = 0; i < story->slices; i++) {
        const struct trace_slice *slice = &story->slice[i];
        int32_t lane = slice_lane(story, slice);
        if (lane >= 0 && lane < lanes_shown(story))
            fprintf(to, "%" PRId32 "\t%.6f\t%.6f\t%u\t%s\t%u\n", lane, us(slice->begin_ps),
                    us(slice->end_ps), id_colour(slice), slice_text(page, slice, hidden[i], text),
                    slice->kind == SLICE_TASK ? slice->depth + 1 : 0);
    }
    free(hidden);
    return fclose(to) == 0;
}

static bool arrows_write(const struct trace_story *story, const char *folder)
{
    FILE *to = tsv_open(folder, "arrows");
    if (!to)
        return false;
    fputs("from_lane\tto_lane\tus\n", to);
    for (size_t i = 0; i < story->arrows; i++) {
        const struct trace_arrow *arrow = &story->arrow[i];
        if (arrow->steal && arrow->from_lane >= 0 && arrow->to_lane >= 0 &&
            arrow->from_lane < lanes_shown(story) && arrow->to_lane < lanes_shown(story))
            fprintf(to, "%" PRId32 "\t%" PRId32 "\t%.6f\n", arrow->from_lane, arrow->to_lane,
                    us(arrow->to_ps));
    }
    return fclose(to) == 0;
}

/* Each lane's from beginning to end, so that lines reach both. */
static bool lengths_write(const struct trace_story *story, const char *folder)
{
    FILE *to = tsv_open(folder, "lengths");
    if (!to)
        return false;
    fputs("lane\tus\tlength\n", to);
    for (int32_t lane = -1; lane < lanes_shown(story); lane++) {
        uint32_t last = 0;
        fprintf(to, "%" PRId32 "\t%.6f\t0\n", lane, us(story->begin_ps));
        for (size_t i = 0; i < story->lengths; i++)
            if (story->length[i].lane == lane)
                fprintf(to, "%" PRId32 "\t%.6f\t%u\n", lane, us(story->length[i].when_ps),
                        last = story->length[i].length);
        fprintf(to, "%" PRId32 "\t%.6f\t%u\n", lane, us(story->end_ps), last);
    }
    return fclose(to) == 0;
}

static void folder_remove(const char *folder)
{
    static const char *const names[] = {"slices", "arrows", "lengths"};
    char path[PATH_SIZE];
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        snprintf(path, sizeof path, "%s/%s.tsv", folder, names[i]);
        unlink(path);
    }
    rmdir(folder);
}

static bool gnuplot_draw(const struct trace_page *page, const struct trace_story *story,
                         const char *folder, const char *path, struct error *error)
{
    struct gnuplot gnuplot;
    char lanes[16], begin[32], end[32], letter[2] = {lane_letter(story), '\0'};
    char left_out[128];
    char *title = trace_title(page);
    trace_left_out(page, left_out, sizeof left_out);
    snprintf(lanes, sizeof lanes, "%" PRId32, lanes_shown(story));
    snprintf(begin, sizeof begin, "%.6f", us(story->begin_ps));
    snprintf(end, sizeof end, "%.6f", us(story->end_ps));
    const char *arguments[] = {
        folder, path, strrchr(path, '.') + 1, lanes, begin, end, letter, title, left_out, NULL};
    bool ok = gnuplot_find(&gnuplot, error) && gnuplot_run(&gnuplot, "timeline", arguments, error);
    free(title);
    return ok;
}

bool trace_timeline_draw(const struct trace_page *page, const char *path, struct error *error)
{
    struct trace_story story;
    char folder[] = "/tmp/schedlab-trace-XXXXXX";
    if (!mkdtemp(folder))
        return error_set(error, "cannot make a folder in /tmp: %s", strerror(errno));
    trace_story_make(&story, page);
    bool ok = slices_write(&story, page, folder) && arrows_write(&story, folder) &&
              lengths_write(&story, folder);
    if (!ok)
        error_print(error, "cannot write to %s: %s", folder, strerror(errno));
    ok = ok && gnuplot_draw(page, &story, folder, path, error);
    folder_remove(folder);
    trace_story_free(&story);
    return ok;
}
