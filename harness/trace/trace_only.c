/* trace_only.c - see trace.h: which events --only shows. */
#include "harness/base/memory.h"
#include "harness/base/suggest.h"
#include "harness/trace/trace.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_SIZE = 32 };

/* A worker, by its letter and number; sysmon has 's'. */
struct worker {
    char letter;
    int32_t number;
};

struct trace_only {
    char *text;  /* as given */
    char *words; /* the same, cut into its words */
    bool kind[SCHED_EVENT_COUNT];
    bool any_kind;
    struct worker *worker;
    const char **goroutine; /* names, in words */
    size_t workers, goroutines;
};

static int kind_of(const char *word)
{
    for (int kind = 0; kind < SCHED_EVENT_COUNT; kind++)
        if (strcasecmp(word, sched_trace_names[kind]) == 0)
            return kind;
    return -1;
}

/* The digits and points behind a letter: "G3.1". */
static bool is_numbered(const char *word, const char *letters, const char *digits)
{
    return strchr(letters, word[0]) && isdigit((unsigned char)word[1 + (word[1] == '#')]) &&
           strspn(word + 1, digits) == strlen(word + 1);
}

static bool word_take(struct trace_only *only, const char *word)
{
    int kind = kind_of(word);
    if (*word && kind >= 0) {
        only->kind[kind] = only->any_kind = true;
    } else if (*word && (strcmp(word, "sysmon") == 0 || is_numbered(word, "PM", "0123456789"))) {
        struct worker worker = {*word, (int32_t)strtol(word + 1, NULL, 10)};
        only->worker[only->workers++] = worker;
    } else if (*word && (strcmp(word, "main") == 0 || is_numbered(word, "GT", "#.0123456789"))) {
        only->goroutine[only->goroutines++] = word;
    } else {
        return false;
    }
    return true;
}

static void complain(const char *word, struct error *error)
{
    char names[SCHED_EVENT_COUNT][NAME_SIZE];
    struct suggest near = suggest_for(word);
    for (int kind = 0; kind < SCHED_EVENT_COUNT; kind++) {
        snprintf(names[kind], NAME_SIZE, "%s", sched_trace_names[kind]);
        for (char *c = names[kind]; *c; c++)
            *c = (char)tolower((unsigned char)*c);
        suggest_offer(&near, names[kind]);
    }
    error_print(
        error,
        "\"%s\" is no kind of event, goroutine or worker; %s; goroutines are main, G3, G3.1; "
        "workers P0, M1, sysmon",
        word,
        near.near ? suggest_text(&near, "", "docs/TRACE.md").s
                  : "kinds are as stolen, woken, parked (docs/TRACE.md)");
}

struct trace_only *trace_only_parse(const char *text, struct error *error)
{
    struct trace_only *only = xcalloc(1, sizeof *only);
    size_t words = strlen(text) + 1;
    *only = (struct trace_only){.text = xstrdup(text), .words = xstrdup(text)};
    only->worker = xcalloc(words, sizeof only->worker[0]);
    only->goroutine = xcalloc(words, sizeof only->goroutine[0]);
    char *rest = only->words, *word;
    while ((word = strsep(&rest, ","))) {
        if (word_take(only, word))
            continue;
        complain(word, error);
        trace_only_free(only);
        return NULL;
    }
    return only;
}

void trace_only_free(struct trace_only *only)
{
    if (!only)
        return;
    free(only->text);
    free(only->words);
    free(only->worker);
    free(only->goroutine);
    free(only);
}

const char *trace_only_text(const struct trace_only *only)
{
    return only->text;
}

static bool is_by(const struct worker *worker, const struct sched_trace_event *event)
{
    return worker->letter == 's'   ? event->m < 0
           : worker->letter == 'P' ? event->p == worker->number
                                   : event->m == worker->number;
}

bool trace_only_has(const struct trace_only *only, const struct sched_trace *trace,
                    const struct sched_trace_event *event)
{
    char name[SCHED_TRACE_NAME];
    bool by = only->workers == 0, about = only->goroutines == 0;
    if (only->any_kind && !only->kind[event->kind])
        return false;
    for (size_t i = 0; i < only->workers && !by; i++)
        by = is_by(&only->worker[i], event);
    if (!by)
        return false;
    if (!about)
        sched_trace_name(trace, event->g, event->kind >= SCHED_EVENT_FIRST_OF_TASKS, name);
    for (size_t i = 0; i < only->goroutines && !about; i++)
        about = strcmp(name, only->goroutine[i]) == 0;
    return about;
}

void trace_only_keep(const struct trace_only *only, struct sched_trace *trace)
{
    size_t kept = 0;
    for (size_t i = 0; i < trace->count; i++)
        if (trace_only_has(only, trace, &trace->event[i]))
            trace->event[kept++] = trace->event[i];
    trace->happened -= trace->count - kept;
    trace->count = kept;
}
