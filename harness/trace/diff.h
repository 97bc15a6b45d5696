/* diff.h - finds where two runs of a scheduler part, by comparing two traces event by event.
 *
 *   diff.c        where they part, and the totals from there to the end
 *   diff_words.c  what an event says
 *   diff_print.c  what `schedlab diff` prints
 *
 * Two events are the same if kind, G, P and arguments are. Two Gs are the same if the same G made
 * them, as the same of its children, whatever their numbers. Differences in time are told
 * separately.
 *
 * Events of two workers at about the same time may come in another order, though each worker does
 * the same. So it finds two first differences: in the sequence of all events, and within the events
 * of one worker (a P; an M while it holds none).
 */
#ifndef SCHEDLAB_DIFF_H
#define SCHEDLAB_DIFF_H

#include "harness/models/sched_trace.h"

#include <jansson.h>

enum { DIFF_NONE = -1 };

struct diff {
    const struct sched_trace *trace[2];
    size_t compared;      /* events of the longer one, up to where they part, or to its end */
    int64_t at;           /* the first event that differs, or that one of them lacks */
    int64_t time_at;      /* the first event before that which happens at another time */
    int64_t worker_at[2]; /* the first event that differs for its worker; DIFF_NONE in one of the
                           * two: the worker does nothing more there */
};

/* Gives every G of b the number that the same G has in a; those that a lacks follow. Names stay,
 * which are the same already. */
void diff_number(const struct sched_trace *a, struct sched_trace *b);

/* If all are DIFF_NONE, there is no difference. */
void diff_find(struct diff *diff, const struct sched_trace *a, const struct sched_trace *b);

/* Counts from the point where they part to the end of the kept events. */
enum diff_total {
    DIFF_DISPATCHES,
    DIFF_RUNNEXT,
    DIFF_LOCAL,
    DIFF_GLOBAL,
    DIFF_TICK,
    DIFF_VICTIM,
    DIFF_STOLEN,
    DIFF_VAIN,
    DIFF_CREATED,
    DIFF_PARKS,
    DIFF_SPINS,
    DIFF_SLEEPS,
    DIFF_WAKES,
    DIFF_HANDOFFS,
    DIFF_TASKS_STOLEN,
    DIFF_STALLED,
    DIFF_EVENTS,
    DIFF_TIME_NS,
    DIFF_TOTALS
};
extern const char *const diff_total_words[DIFF_TOTALS];
void diff_totals(const struct sched_trace *trace, size_t from, int64_t totals[DIFF_TOTALS]);

/* "took G7 from runnext"; returns text. trace: the one of the event; NULL: as sched_trace_name()
 * does without one. brief: as short as a table needs it. */
char *diff_event_text(const struct sched_trace *trace, const struct sched_trace_event *event,
                      bool brief, char *text, size_t size);

/* Owned by the caller. */
json_t *diff_event_to_json(const struct sched_trace *trace, const struct sched_trace_event *event,
                           size_t index);

/* The data that a page prints, and the two runs that it is of. */
struct diff_side {
    const char *variant; /* canonical */
    const json_t *record;
    struct sched_trace trace;
};
struct diff_page {
    const char *workload, *machine;
    int workers;
    uint64_t seed[2];
    struct diff_side side[2];
    struct diff diff;
    int warmup;       /* calls before the one that is compared, of which the sides have no event */
    size_t context;   /* events before and after */
    const char *only; /* of what events the sides are; NULL: of all */
};

/* Lines of `width` columns at most. */
void diff_print(const struct diff_page *page, int width, FILE *to);
json_t *diff_to_json(const struct diff_page *page); /* owned by the caller */

/* One sentence, without a full stop: what A did and what B did where they part. */
char *diff_sentence(const struct diff_page *page, char *text, size_t size);

#endif
