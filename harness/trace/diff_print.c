/* diff_print.c - see diff.h: what `schedlab diff` prints. */
#include "harness/base/json_fields.h"
#include "harness/base/text.h"
#include "harness/base/wrap.h"
#include "harness/trace/diff.h"

#include <inttypes.h>
#include <string.h>

enum { TEXT_SIZE = 256, PS_PER_US = 1000000 };

static const struct sched_trace_event *event_at(const struct diff_page *page, int side, int64_t at)
{
    const struct sched_trace *trace = &page->side[side].trace;
    return at >= 0 && (uint64_t)at < trace->count ? &trace->event[at] : NULL;
}

/* "gmp", or where both sides are the same variant, "gmp with seed 2". */
static char *side_name(const struct diff_page *page, int side, char *text, size_t size)
{
    bool same = strcmp(page->side[0].variant, page->side[1].variant) == 0;
    if (same && page->seed[0] != page->seed[1])
        snprintf(text, size, "%s with seed %" PRIu64, page->side[side].variant, page->seed[side]);
    else
        snprintf(text, size, "%s", page->side[side].variant);
    return text;
}

/* "P3", "M3" if it holds none, "sysmon". */
static char *worker_name(const struct sched_trace_event *event, char *text, size_t size)
{
    if (event->p >= 0)
        snprintf(text, size, "P%" PRId32, event->p);
    else if (event->m >= 0)
        snprintf(text, size, "M%" PRId32, event->m);
    else
        snprintf(text, size, "sysmon");
    return text;
}

/* "gmp took G7 from runnext on P3; grq did nothing more". An event by which somebody gets a P is
 * on that P by then. */
static char *sentence_of(const struct diff_page *page, const int64_t at[2], char *text, size_t size)
{
    char name[TEXT_SIZE], what[TEXT_SIZE], worker[32];
    *text = '\0';
    for (int side = 0; side < 2; side++) {
        const struct sched_trace_event *event = event_at(page, side, at[side]);
        text_add(text, size, "%s%s %s", side ? "; " : "", side_name(page, side, name, sizeof name),
                 event ? diff_event_text(&page->side[side].trace, event, false, what, sizeof what)
                       : "did nothing more");
        if (event && event->kind != SCHED_P_TAKEN && page->workers > 1)
            text_add(text, size, " on %s", worker_name(event, worker, sizeof worker));
    }
    return text;
}

char *diff_sentence(const struct diff_page *page, char *text, size_t size)
{
    return sentence_of(page, (const int64_t[]){page->diff.at, page->diff.at}, text, size);
}

static bool worker_parts(const struct diff *diff)
{
    return diff->worker_at[0] != DIFF_NONE || diff->worker_at[1] != DIFF_NONE;
}

/* True if the first difference is only one of order between workers. */
static bool is_order(const struct diff *diff)
{
    return diff->at != DIFF_NONE && diff->worker_at[0] != diff->at &&
           diff->worker_at[1] != diff->at;
}

/* Text ---------------------------------------------------------------------------------------- */

/* Its first `width` characters; where there are more, the last two are "..". */
static void print_cut(FILE *to, const char *text, int width)
{
    int length = (int)strlen(text);
    if (length <= width)
        fprintf(to, "%-*s", width, text);
    else if (width > 2)
        fprintf(to, "%.*s..", width - 2, text);
}

/* Times of events count from the first one of their run, or of the call after those of --warmup. */
static void print_head(const struct diff_page *page, FILE *to, int width)
{
    int widest = 0;
    char name[TEXT_SIZE], line[2 * TEXT_SIZE], after[96];
    for (int side = 0; side < 2; side++) {
        int length = (int)strlen(side_name(page, side, name, sizeof name));
        widest = length > widest ? length : widest;
    }
    snprintf(after, sizeof after, ", after %s", counted((uint64_t)page->warmup, "call").s);
    snprintf(line, sizeof line, "%s on %s, %s, seed %" PRIu64 "%s%s%s", page->workload,
             page->machine, counted((uint64_t)page->workers, "worker").s, page->seed[0],
             page->warmup > 0 ? after : "", page->only ? ", only " : "",
             page->only ? page->only : "");
    text_wrap(to, 0, 2, width, line);
    for (int side = 0; side < 2; side++) {
        const struct diff_side *it = &page->side[side];
        const struct sched_trace_event *last = event_at(page, side, (int64_t)it->trace.count - 1);
        int at =
            fprintf(to, "%c  %-*s  ", 'A' + side, widest, side_name(page, side, name, sizeof name));
        snprintf(line, sizeof line, "%s, the last%s at %.3f us; the workload took %.3f us",
                 counted(it->trace.happened, "event").s,
                 it->trace.count < it->trace.happened ? " kept" : "",
                 last ? (double)last->when_ps / PS_PER_US : 0.0,
                 field_number(it->record, "time_ns") / 1e3);
        text_wrap(to, at, at < width / 2 ? at : 3, width, line);
    }
    fputc('\n', to);
}

static void print_not_kept(const struct diff_page *page, FILE *to, int width)
{
    char line[TEXT_SIZE];
    for (int side = 0; side < 2; side++) {
        const struct sched_trace *trace = &page->side[side].trace;
        if (trace->count == trace->happened)
            continue;
        snprintf(line, sizeof line,
                 "Only the first %s of %c %s compared, and %" PRIu64
                 " more are not (--most=N compares N).",
                 counted(trace->count, "event").s, 'A' + side, trace->count == 1 ? "is" : "are",
                 trace->happened - trace->count);
        text_wrap(to, 0, 0, width, line);
    }
}

static void print_time(const struct diff_page *page, FILE *to, int width)
{
    char line[2 * TEXT_SIZE], what[TEXT_SIZE];
    int64_t at = page->diff.time_at;
    if (at == DIFF_NONE)
        return;
    const struct sched_trace_event *a = event_at(page, 0, at), *b = event_at(page, 1, at);
    snprintf(line, sizeof line,
             "Their times differ from event %" PRId64 " on: A %s at %.6f us, B at %.6f us.", at + 1,
             diff_event_text(&page->side[0].trace, a, false, what, sizeof what),
             (double)a->when_ps / PS_PER_US, (double)b->when_ps / PS_PER_US);
    text_wrap(to, 0, 0, width, line);
}

static void print_order(const struct diff_page *page, FILE *to, int width)
{
    char line[3 * TEXT_SIZE], sentence[2 * TEXT_SIZE];
    const struct diff *diff = &page->diff;
    if (!is_order(diff))
        return;
    if (!worker_parts(diff)) {
        text_wrap(to, 0, 0, width,
                  "Only the order of the workers differs: each of them does the same in both.");
        return;
    }
    int side = diff->worker_at[0] == DIFF_NONE;
    snprintf(line, sizeof line,
             "Only the order of the workers differs there. The first to do something else is %s, "
             "at event %" PRId64 " of %c: %s.",
             worker_name(event_at(page, side, diff->worker_at[side]), (char[32]){0}, 32),
             diff->worker_at[side] + 1, 'A' + side,
             sentence_of(page, diff->worker_at, sentence, sizeof sentence));
    text_wrap(to, 0, 0, width, line);
}

/* Timelines ----------------------------------------------------------------------------------- */

/* Columns of a timeline. */
struct columns {
    int index, time, worker, text;
};

static int digits_of(int64_t number)
{
    char text[32];
    return snprintf(text, sizeof text, "%" PRId64, number);
}

static struct columns columns_make(const struct diff_page *page, int64_t first, int64_t end,
                                   int width)
{
    struct columns columns = {.index = digits_of(end), .time = 6, .worker = 2};
    for (int side = 0; side < 2; side++)
        for (int64_t i = first; i < end; i++) {
            const struct sched_trace_event *event = event_at(page, side, i);
            char worker[32];
            if (!event)
                continue;
            int time = digits_of(event->when_ps / PS_PER_US) + 4;
            int length = (int)strlen(worker_name(event, worker, sizeof worker));
            columns.time = time > columns.time ? time : columns.time;
            columns.worker = length > columns.worker ? length : columns.worker;
        }
    /* "> 123  12.345 P0 what | 12.345 P0 what" */
    columns.text = (width - 2 - columns.index - 2 - 3) / 2 - columns.time - columns.worker - 2;
    if (columns.text < 12)
        columns.text = 12;
    return columns;
}

static void print_side(const struct diff_page *page, int side, int64_t at,
                       const struct columns *columns, FILE *to)
{
    const struct sched_trace_event *event = event_at(page, side, at);
    bool last = side == 1;
    char worker[32], text[TEXT_SIZE];
    if (!event) {
        fprintf(to, "%*s", last ? 0 : columns->time + columns->worker + columns->text + 2, "");
        return;
    }
    fprintf(to, "%*.3f %-*s ", columns->time, (double)event->when_ps / PS_PER_US, columns->worker,
            worker_name(event, worker, sizeof worker));
    diff_event_text(&page->side[side].trace, event, true, text, sizeof text);
    if (last && (int)strlen(text) <= columns->text)
        fputs(text, to);
    else
        print_cut(to, text, columns->text);
}

static void print_timelines(const struct diff_page *page, FILE *to, int width)
{
    int64_t at = page->diff.at, context = (int64_t)page->context;
    int64_t first = at > context ? at - context : 0, end = at + context + 1;
    size_t longer = page->side[0].trace.count > page->side[1].trace.count
                        ? page->side[0].trace.count
                        : page->side[1].trace.count;
    if (end > (int64_t)longer)
        end = (int64_t)longer;
    struct columns columns = columns_make(page, first, end, width);
    char name[TEXT_SIZE];
    int side_width = columns.time + columns.worker + columns.text + 2;
    fprintf(to, "\n%*s", columns.index + 4, "");
    fputs("A: ", to);
    print_cut(to, side_name(page, 0, name, sizeof name), side_width - 3);
    fprintf(to, " | B: %s\n", side_name(page, 1, name, sizeof name));
    fprintf(to, "  %*s  %*s %-*s | %*s\n", columns.index, "#", columns.time, "us",
            side_width - columns.time - 1, "", columns.time, "us");
    for (int64_t i = first; i < end; i++) {
        fprintf(to, "%c %*" PRId64 "  ", i == at ? '>' : ' ', columns.index, i + 1);
        print_side(page, 0, i, &columns, to);
        fputs(event_at(page, 1, i) ? " | " : " |", to);
        print_side(page, 1, i, &columns, to);
        fputc('\n', to);
    }
}

static void print_totals(const struct diff_page *page, FILE *to)
{
    int64_t totals[2][DIFF_TOTALS];
    for (int side = 0; side < 2; side++)
        diff_totals(&page->side[side].trace, (size_t)page->diff.at, totals[side]);
    char head[64];
    snprintf(head, sizeof head, "From event %" PRId64 " to the end", page->diff.at + 1);
    fprintf(to, "\n%-30s %14s %14s\n", head, "A", "B");
    int differ = 0;
    for (int i = 0; i < DIFF_TOTALS; i++) {
        if (totals[0][i] == totals[1][i])
            continue;
        if (i == DIFF_TIME_NS)
            fprintf(to, "%-30s %14.3f %14.3f\n", "us to the last event", (double)totals[0][i] / 1e3,
                    (double)totals[1][i] / 1e3);
        else
            fprintf(to, "%-30s %14" PRId64 " %14" PRId64 "\n", diff_total_words[i], totals[0][i],
                    totals[1][i]);
        differ++;
    }
    if (!differ)
        fputs("all totals are equal\n", to);
}

void diff_print(const struct diff_page *page, int width, FILE *to)
{
    const struct diff *diff = &page->diff;
    char sentence[2 * TEXT_SIZE], line[3 * TEXT_SIZE];
    print_head(page, to, width);
    if (diff->at == DIFF_NONE) {
        fprintf(to, "No difference in %s%s.\n", counted(diff->compared, "event").s,
                diff->time_at == DIFF_NONE ? ", nor in their times" : "");
        print_time(page, to, width);
        print_not_kept(page, to, width);
        return;
    }
    snprintf(line, sizeof line, "They part at event %" PRId64 ": %s.", diff->at + 1,
             diff_sentence(page, sentence, sizeof sentence));
    text_wrap(to, 0, 0, width, line);
    print_order(page, to, width);
    print_time(page, to, width);
    print_timelines(page, to, width);
    print_totals(page, to);
    print_not_kept(page, to, width);
}

/* JSON ---------------------------------------------------------------------------------------- */

static json_t *event_json(const struct diff_page *page, int side, int64_t at)
{
    const struct sched_trace_event *event = event_at(page, side, at);
    return event ? diff_event_to_json(&page->side[side].trace, event, (size_t)at) : json_null();
}

static json_t *pair_json(const struct diff_page *page, const int64_t at[2])
{
    return json_pack("{so so}", "a", event_json(page, 0, at[0]), "b", event_json(page, 1, at[1]));
}

static json_t *side_json(const struct diff_page *page, int side)
{
    const struct diff_side *it = &page->side[side];
    return json_pack("{ss sI sI sI ss so ss}", "variant", it->variant, "seed",
                     (json_int_t)page->seed[side], "events", (json_int_t)it->trace.happened, "kept",
                     (json_int_t)it->trace.count, "events_hash",
                     field_text(it->record, "events_hash"), "time_ns",
                     json_real(field_number(it->record, "time_ns")), "command",
                     field_text(it->record, "command"));
}

static json_t *context_json(const struct diff_page *page, int side)
{
    json_t *events = json_array();
    int64_t at = page->diff.at, context = (int64_t)page->context;
    for (int64_t i = at > context ? at - context : 0; i <= at + context; i++)
        if (event_at(page, side, i))
            json_array_append_new(events, event_json(page, side, i));
    return events;
}

static void parting_to_json(const struct diff_page *page, json_t *object)
{
    const struct diff *diff = &page->diff;
    char text[2 * TEXT_SIZE];
    json_t *parts = pair_json(page, (const int64_t[]){diff->at, diff->at});
    json_object_set_new(parts, "sentence", json_string(diff_sentence(page, text, sizeof text)));
    json_object_set_new(parts, "order_only", json_boolean(is_order(diff)));
    json_object_set_new(object, "parts", parts);
    if (worker_parts(diff)) {
        json_t *worker = pair_json(page, diff->worker_at);
        sentence_of(page, diff->worker_at, text, sizeof text);
        json_object_set_new(worker, "sentence", json_string(text));
        json_object_set_new(object, "worker_parts", worker);
    }
    json_object_set_new(
        object, "context",
        json_pack("{so so}", "a", context_json(page, 0), "b", context_json(page, 1)));
    json_t *after = json_array();
    int64_t totals[2][DIFF_TOTALS];
    for (int side = 0; side < 2; side++)
        diff_totals(&page->side[side].trace, (size_t)diff->at, totals[side]);
    for (int i = 0; i < DIFF_TOTALS; i++)
        json_array_append_new(after,
                              json_pack("{ss sI sI}", "what", diff_total_words[i], "a",
                                        (json_int_t)totals[0][i], "b", (json_int_t)totals[1][i]));
    json_object_set_new(object, "after", after);
}

json_t *diff_to_json(const struct diff_page *page)
{
    const struct diff *diff = &page->diff;
    json_t *object =
        json_pack("{ss ss si so so sb sI}", "workload", page->workload, "machine", page->machine,
                  "workers", page->workers, "a", side_json(page, 0), "b", side_json(page, 1),
                  "differs", diff->at != DIFF_NONE, "compared", (json_int_t)diff->compared);
    if (page->warmup > 0)
        json_object_set_new(object, "warmup", json_integer(page->warmup));
    if (diff->time_at != DIFF_NONE)
        json_object_set_new(object, "time_parts",
                            pair_json(page, (const int64_t[]){diff->time_at, diff->time_at}));
    if (diff->at != DIFF_NONE)
        parting_to_json(page, object);
    return object;
}
