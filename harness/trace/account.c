/* account.c - see account.h: reading an example of an account, and running its pictures. */
#include "harness/trace/account.h"

#include "harness/base/memory.h"
#include "harness/base/text.h"
#include "harness/host/data_folder.h"
#include "harness/records/sample_request.h"
#include "harness/sample/child.h"
#include "harness/spec/spec.h"
#include "harness/trace/replay_file.h"
#include "harness/trace/trace.h"
#include "sched.h"

#include <inttypes.h>
#include <regex.h>
#include <stdlib.h>
#include <string.h>

enum {
    PATH_SIZE = 4096,
    TEXT_SIZE = 200,
    TIMEOUT_S = 60,
    EVENTS_MAX = 100000,
    WORKERS_MAX = 10 /* P0 to P9 */
};
static const double PS_OF_MS = 1e9;
static const char NOTHING_SAID[] = "-"; /* the cell of a row in a column that the account lacks */

/* Columns, those of a P first: "P0 runs". account.h has them. */
enum column {
    COLUMN_RUNS,
    COLUMN_QUEUE,
    COLUMN_HOLDS,
    COLUMN_THREAD,
    COLUMN_SLICE,
    COLUMN_GLOBAL,
    COLUMN_CALLS,
    COLUMN_WAITING,
    COLUMN_HAVE_RUN,
    COLUMN_MS,
    COLUMN_NONE
};
static const char *const column_words[COLUMN_NONE] = {
    "runs", "queue", "holds", "thread", "slice", "global", "in calls", "waiting", "have run", "ms"};

/* The kind of a column, and the P of it; COLUMN_NONE if there is none. */
static enum column column_of(const char *text, int32_t *p)
{
    bool of_p = text[0] == 'P' && text[1] >= '0' && text[1] <= '9' && text[2] == ' ';
    int begin = of_p ? COLUMN_RUNS : COLUMN_GLOBAL, end = of_p ? COLUMN_GLOBAL : COLUMN_NONE;
    *p = of_p ? text[1] - '0' : 0;
    for (int i = begin; i < end; i++)
        if (strcmp(of_p ? text + 3 : text, column_words[i]) == 0)
            return (enum column)i;
    return COLUMN_NONE;
}

/* Reading ------------------------------------------------------------------------------------- */

static void row_read(struct replay_file *file, struct account_picture *picture, const char *at)
{
    static const char *const keys[] = {"at", "cells", NULL};
    char place[REPLAY_PLACE];
    struct account_row row = {.at = replay_file_text(file, false, "%s/at", at)};
    replay_file_keys(file, at, keys);
    for (size_t i = 0; i < picture->columns; i++)
        row.told[i] = replay_file_text(file, false, "%s/cells/%zu", at, i);
    replay_place(place, "%s/cells/%zu", at, picture->columns);
    if (replay_file_has(file, "%s", place))
        replay_file_complain(file, place, ": more cells than columns");
    regex_t wanted;
    replay_place(place, "%s/at", at);
    if (row.at && regcomp(&wanted, row.at, REG_EXTENDED | REG_NOSUB) == 0)
        regfree(&wanted);
    else
        replay_file_complain(file, place, " is no regular expression");
    array_add(picture->row, picture->rows) = row;
}

static void columns_read(struct replay_file *file, struct account_picture *picture, const char *at)
{
    char place[REPLAY_PLACE];
    bool has_heads = replay_file_has(file, "%s/heads", at);
    size_t i = 0;
    do {
        int32_t p;
        replay_place(place, "%s/columns/%zu", at, i);
        char *column = replay_file_text(file, false, "%s", place);
        if (!column)
            return;
        picture->column[i] = column;
        picture->head[i] = replay_file_text(file, !has_heads, "%s/heads/%zu", at, i);
        picture->columns = ++i;
        if (column_of(column, &p) == COLUMN_NONE || p >= picture->workers)
            replay_file_complain(file, place,
                                 ": no such column; valid: of each P, such as P0, its runs, queue, "
                                 "holds, thread and slice; global, in calls, waiting, have run, "
                                 "ms");
    } while (i < ACCOUNT_COLUMNS_MAX && replay_file_has(file, "%s/columns/%zu", at, i));
    replay_place(place, "%s/columns/%zu", at, i);
    if (replay_file_has(file, "%s", place))
        replay_file_complain(file, place, ": a column too many; valid: 8");
    replay_place(place, "%s/heads/%zu", at, i);
    if (replay_file_has(file, "%s", place))
        replay_file_complain(file, place, ": more heads than columns");
}

/* Goroutines that the account names in its own way: "G0.1 sender". */
static void names_read(struct replay_file *file, struct account_picture *picture, const char *at)
{
    for (size_t i = 0; replay_file_has(file, "%s/names/%zu", at, i); i++) {
        char *ours = replay_file_text(file, false, "%s/names/%zu", at, i), place[REPLAY_PLACE];
        char *blank = ours ? strchr(ours, ' ') : NULL;
        replay_place(place, "%s/names/%zu", at, i);
        if (!blank)
            replay_file_complain(file, place,
                                 ": no name; valid: the run's, a blank, the account's");
        else
            *blank = '\0';
        array_add(picture->name, picture->names) =
            (struct account_name){ours, xstrdup(blank ? blank + 1 : "")};
    }
}

static void picture_read(struct replay_file *file, struct account_picture *picture, const char *at)
{
    static const char *const keys[] = {"title",   "variant", "workload", "workers", "names",
                                       "columns", "heads",   "rows",     NULL};
    char place[REPLAY_PLACE];
    replay_file_keys(file, at, keys);
    picture->title = replay_file_text(file, false, "%s/title", at);
    picture->variant = replay_file_text(file, false, "%s/variant", at);
    picture->workload = replay_file_text(file, false, "%s/workload", at);
    replay_place(place, "%s/workers", at);
    picture->workers = replay_file_number(file, place, 1, WORKERS_MAX);
    columns_read(file, picture, at);
    names_read(file, picture, at);
    do {
        replay_place(place, "%s/rows/%zu", at, picture->rows);
        row_read(file, picture, place);
    } while (file->ok && replay_file_has(file, "%s/rows/%zu", at, picture->rows));
}

static struct account *account_read(struct replay_file *file, const char *name)
{
    static const char *const keys[] = {"title", "account", "claims",         "degree",   "says",
                                       "go",    "itself",  "itself_workers", "pictures", NULL};
    struct account *account = xcalloc(1, sizeof *account);
    replay_file_keys(file, "", keys);
    account->name = xstrdup(name);
    account->title = replay_file_text(file, false, "title");
    account->who = replay_file_text(file, false, "account");
    account->claims = replay_file_text(file, false, "claims");
    account->degree = replay_file_degree(file, "degree");
    account->says = replay_file_text(file, false, "says");
    account->go = replay_file_text(file, false, "go");
    account->itself = replay_file_text(file, true, "itself");
    account->itself_workers = replay_file_number(file, "itself_workers", 1, SAMPLE_WORKERS_MAX);
    do {
        char at[REPLAY_PLACE];
        replay_place(at, "pictures/%zu", account->pictures);
        array_add(account->picture, account->pictures) = (struct account_picture){.rows = 0};
        picture_read(file, &account->picture[account->pictures - 1], at);
    } while (file->ok && replay_file_has(file, "pictures/%zu", account->pictures));
    return account;
}

struct account *account_load(const char *name, struct error *error)
{
    struct replay_file file;
    if (!replay_file_open(&file, name, error))
        return NULL;
    struct account *account = account_read(&file, name);
    replay_file_close(&file);
    if (file.ok)
        return account;
    account_free(account);
    return NULL;
}

static void picture_free(struct account_picture *picture)
{
    free(picture->title);
    free(picture->variant);
    free(picture->workload);
    for (size_t i = 0; i < picture->columns; i++) {
        free(picture->column[i]);
        free(picture->head[i]);
    }
    for (size_t i = 0; i < picture->names; i++) {
        free(picture->name[i].ours);
        free(picture->name[i].told);
    }
    for (size_t i = 0; i < picture->rows; i++) {
        free(picture->row[i].at);
        for (size_t k = 0; k < picture->columns; k++) {
            free(picture->row[i].told[k]);
            free(picture->row[i].real[k]);
        }
    }
    free(picture->name);
    free(picture->row);
}

void account_free(struct account *account)
{
    for (size_t i = 0; i < account->pictures; i++)
        picture_free(&account->picture[i]);
    free(account->picture);
    free(account->name);
    free(account->title);
    free(account->who);
    free(account->claims);
    free(account->degree);
    free(account->says);
    free(account->go);
    free(account->itself);
    free(account);
}

/* Cells --------------------------------------------------------------------------------------- */

struct teller {
    const struct account_picture *picture;
    const struct sched_trace *trace;
    struct trace_state state;
    json_t *functions;        /* of goroutines, where the workload has names for them */
    int64_t now_ps, first_ps; /* first_ps: of the first row; -1: it has not come */
    trace_id *ran;            /* in the order of their first dispatches, without main */
    size_t ran_count;
    struct slice {
        int64_t since_ps;
        bool asked;       /* to end */
    } slice[WORKERS_MAX]; /* the last one of each P */
};

/* The account's name of the goroutine, or the program's, or ours; of the teller. */
static const char *name_of(const struct teller *teller, trace_id id, char text[SCHED_TRACE_NAME])
{
    trace_id_text(teller->trace, id, text);
    for (size_t i = 0; i < teller->picture->names; i++)
        if (strcmp(teller->picture->name[i].ours, text) == 0)
            return teller->picture->name[i].told;
    const char *function = json_string_value(json_object_get(teller->functions, text));
    return function ? function : text;
}

static void put_name(const struct teller *teller, trace_id id, const char *format, FILE *to)
{
    char name[SCHED_TRACE_NAME];
    if (ftell(to) > 0)
        fputc(' ', to);
    fprintf(to, format, name_of(teller, id, name)); // NOLINT(clang-diagnostic-format-nonliteral)
}

static void put_queue(const struct teller *teller, const struct trace_queue *queue, FILE *to)
{
    for (size_t i = 0; i < queue->count; i++)
        put_name(teller, queue->id[i], "%s", to);
}

static void put_calls(const struct teller *teller, FILE *to)
{
    for (int32_t i = 0; i < teller->state.ms; i++)
        if (teller->state.m[i].in_call) {
            put_name(teller, teller->state.m[i].g, "%s", to);
            fprintf(to, " on M%" PRId32, i);
        }
}

static void put_waiting(const struct teller *teller, FILE *to)
{
    for (uint32_t i = 1; i < teller->state.gs; i++)
        if (teller->state.g[i].waits)
            put_name(teller, i, "%s", to);
}

/* A number with as many decimals as the account's has. */
static void put_number(const char *told, double value, FILE *to)
{
    const char *point = strchr(told, '.');
    int decimals = point ? (int)strlen(point + 1) : 0;
    fprintf(to, "%.*f", strcmp(told, NOTHING_SAID) == 0 ? 2 : decimals, value);
}

static double ms_since(const struct teller *teller, int64_t then_ps)
{
    return (double)(teller->now_ps - then_ps) / PS_OF_MS;
}

/* Writes what the column holds now. */
static void cell_put(const struct teller *teller, const char *what, const char *told, FILE *to)
{
    const struct trace_state *state = &teller->state;
    int32_t p;
    enum column column = column_of(what, &p);
    const struct trace_lane *lane = &state->lane[p];
    switch (column) {
    case COLUMN_RUNS:
        if (trace_lane_runs(state, p) && !state->m[lane->m].in_call)
            put_name(teller, trace_lane_runs(state, p), "%s", to);
        break;
    case COLUMN_QUEUE:
    case COLUMN_HOLDS:
        if (lane->next)
            put_name(teller, lane->next, column == COLUMN_QUEUE ? "(%s)" : "%s", to);
        put_queue(teller, &lane->queue, to);
        break;
    case COLUMN_THREAD:
        if (lane->m >= 0)
            fprintf(to, "M%" PRId32, lane->m);
        break;
    case COLUMN_GLOBAL:
        put_queue(teller, &state->global, to);
        break;
    case COLUMN_CALLS:
        put_calls(teller, to);
        break;
    case COLUMN_WAITING:
        put_waiting(teller, to);
        break;
    case COLUMN_HAVE_RUN:
        for (size_t i = 0; i < teller->ran_count; i++)
            put_name(teller, teller->ran[i], "%s", to);
        break;
    case COLUMN_MS:
        put_number(told, ms_since(teller, teller->first_ps), to);
        break;
    default: /* COLUMN_SLICE */
        fprintf(to, "for %.1f ms%s", ms_since(teller, teller->slice[p].since_ps),
                teller->slice[p].asked ? ", asked to end" : "");
    }
}

static void row_show(const struct teller *teller, struct account_row *row)
{
    for (size_t i = 0; i < teller->picture->columns; i++) {
        FILE *to = memory_stream(&row->real[i], NULL);
        cell_put(teller, teller->picture->column[i], row->told[i], to);
        memory_stream_close(to);
    }
}

/* Running ------------------------------------------------------------------------------------- */

/* "P0 ran G2 in the same slice", with the account's names, before the event is applied. */
static void event_text(const struct teller *teller, const struct sched_trace_event *event,
                       char text[TEXT_SIZE])
{
    char words[TEXT_SIZE], who[16], name[SCHED_TRACE_NAME];
    trace_event_nameless(&teller->state, event, words, sizeof words);
    trace_who(&teller->state, event, who, sizeof who);
    char *g = event->g ? strstr(words, "G 0") : NULL;
    *text = '\0';
    text_add(text, TEXT_SIZE, "%s ", who);
    if (g) {
        *g = '\0';
        text_add(text, TEXT_SIZE, "%s%s", words, name_of(teller, event->g, name));
    }
    text_add(text, TEXT_SIZE, "%s", g ? g + 3 : words);
}

static void event_apply(struct teller *teller, const struct sched_trace_event *event)
{
    bool is_first =
        event->kind == SCHED_DISPATCHED && event->g > 1 && !teller->state.g[event->g].begun;
    int32_t p = event->kind == SCHED_PREEMPT_ASKED ? teller->state.m[event->a].p
                                                   : trace_lane_of(&teller->state, event);
    trace_state_apply(&teller->state, event);
    teller->now_ps = event->when_ps;
    if (is_first)
        array_add(teller->ran, teller->ran_count) = event->g;
    if (p >= 0 && event->kind == SCHED_DISPATCHED && !event->a)
        teller->slice[p] = (struct slice){.since_ps = event->when_ps};
    if (p >= 0 && event->kind == SCHED_PREEMPT_ASKED)
        teller->slice[p].asked = true;
}

/* Begins anew, and applies so many events. */
static void teller_rewind(struct teller *teller, size_t count)
{
    trace_state_free(&teller->state);
    trace_state_init(&teller->state, teller->trace, false, teller->picture->workers);
    teller->ran_count = 0;
    memset(teller->slice, 0, sizeof teller->slice);
    for (size_t i = 0; i < count; i++)
        event_apply(teller, &teller->trace->event[i]);
}

/* Applies events until one is what the row waits for; then shows the row. If none is, the next row
 * is looked for from where this one was. */
static void row_reach(struct teller *teller, struct account_row *row, size_t *at)
{
    regex_t wanted;
    bool found = false;
    size_t begin = *at;
    if (regcomp(&wanted, row->at, REG_EXTENDED | REG_NOSUB) != 0)
        return; /* it is one: it was tried when it was read */
    while (*at < teller->trace->count && !found) {
        char text[TEXT_SIZE];
        const struct sched_trace_event *event = &teller->trace->event[(*at)++];
        event_text(teller, event, text);
        event_apply(teller, event);
        found = regexec(&wanted, text, 0, NULL, 0) == 0;
    }
    regfree(&wanted);
    if (!found) {
        teller_rewind(teller, begin);
        *at = begin;
        return;
    }
    if (teller->first_ps < 0)
        teller->first_ps = teller->now_ps;
    row_show(teller, row);
}

/* "replay" is the program beside the example, "replay OTHER" one with that name. */
static char *workload_of(const struct account *account, const struct account_picture *picture)
{
    char inside[PATH_SIZE / 2], path[PATH_SIZE];
    size_t length = strlen("replay");
    if (strncmp(picture->workload, "replay", length) != 0)
        return xstrdup(picture->workload);
    const char *name = picture->workload + length;
    snprintf(inside, sizeof inside, "harness/replays/%s.slp", *name ? name + 1 : account->name);
    data_find(inside, path, sizeof path);
    return text_format("replay,file=%s", path);
}

bool account_picture_run(const struct account *account, struct account_picture *picture,
                         struct error *error)
{
    struct sched_trace trace;
    struct workload_spec spec;
    char *workload = workload_of(account, picture);
    struct sample_request request = {
        .variant = picture->variant,
        .workload = workload,
        .workers = picture->workers,
        .seed = 1,
        .sim_seed = 1,
        .iterations = 1,
        .events = "none",
        .machine = "sim:desktop8",
        .timeout_s = TIMEOUT_S,
        .steal_max_percent = STEAL_MAX_DEFAULT_PERCENT,
        .sched_events_max = EVENTS_MAX,
    };
    bool ok = workload_spec_parse(&spec, workload, error);
    json_t *record = ok ? child_run_traced(&request, &trace, error) : NULL;
    free(workload);
    if (!record) {
        if (ok)
            workload_spec_free(&spec);
        return false;
    }
    struct teller teller = {.picture = picture, .trace = &trace, .first_ps = -1};
    teller.functions = trace_functions_to_json(&trace, &spec);
    trace_state_init(&teller.state, &trace, false, picture->workers);
    size_t at = 0;
    for (size_t i = 0; i < picture->rows; i++)
        row_reach(&teller, &picture->row[i], &at);
    json_decref(teller.functions);
    free(teller.ran);
    json_decref(record);
    trace_state_free(&teller.state);
    sched_trace_free(&trace);
    workload_spec_free(&spec);
    return true;
}

json_t *account_itself_run(const struct account *account)
{
    struct sample_request request = {
        .variant = "peer:go",
        .workload = account->itself,
        .workers = account->itself_workers,
        .seed = 1,
        .iterations = 1,
        .events = "none",
        .timeout_s = TIMEOUT_S,
        .steal_max_percent = STEAL_MAX_DEFAULT_PERCENT,
    };
    return account->itself ? child_run_sample(&request) : NULL;
}

bool account_row_agrees(const struct account_picture *picture, size_t row)
{
    for (size_t i = 0; i < picture->columns; i++) {
        const char *real = picture->row[row].real[i], *told = picture->row[row].told[i];
        if (!real || (strcmp(told, NOTHING_SAID) != 0 && strcmp(real, told) != 0))
            return false;
    }
    return true;
}
