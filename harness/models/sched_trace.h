/* sched_trace.h - what a scheduler did, event by event (runtime/events.h).
 *
 * Programs that simulate or record write traces by machine_events_write(); `schedlab diff` and
 * `schedlab trace` read them. The first line is "# N events", with how many happened, and
 * where their times do not begin with the machine's clock "since T", its nanoseconds. One line
 * follows for each that was kept, in order, with tabs between: picoseconds, core, M, P, event, G,
 * and two arguments; -1: none. If sites were asked for, the number of one may follow: the place in
 * the workload that called the scheduler. Lines "@", its line, the first line of its function, file
 * and function, stand for sites 1, 2 and so on at the end.
 *
 * In a line, two Gs may have the same number, if one ended before the other began. After reading,
 * each G has a number of its own, and a key that means the same G in another run: its parent, and
 * which of its children it is. Tasks, children that are no Gs, have numbers and keys of their own.
 */
#ifndef SCHEDLAB_SCHED_TRACE_H
#define SCHEDLAB_SCHED_TRACE_H

#include "harness/base/error.h"

#include "runtime/events.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

extern const char *const sched_trace_names[SCHED_EVENT_COUNT]; /* "CREATED" */

struct sched_trace_event {
    int64_t when_ps;
    uint64_t g_key;
    uint32_t g;    /* from 1, which is main, in order of creation; 0: none; in events of tasks the
                    * task's, from 1 too */
    uint32_t tick; /* what schedtick of the P was before the event, counted here */
    int32_t m, p, a, b;
    uint8_t kind, core; /* kind: enum sched_event */
    uint16_t site;      /* in sites, from 1; 0: none */
};

/* The maker of a G or a task: the G that ran there, or the task on top of it. */
struct sched_trace_birth {
    uint32_t parent; /* its number; 0: nobody, as of main */
    uint32_t child;  /* which of its children, from 0 */
    bool by_task;
};

/* A place in the workload. */
struct sched_trace_site {
    int line, first; /* first: of the function */
    char file[128], function[128];
};

struct sched_trace {
    struct sched_trace_event *event;
    size_t count;
    uint64_t happened; /* count, and those that were not kept */
    int64_t since_ns;  /* that the events as they were read count from */
    struct sched_trace_site *site;
    size_t sites;
    struct sched_trace_birth *g, *task; /* by number; 0 is nobody */
    size_t gs, tasks;
};

enum { SCHED_TRACE_NAME = 32 };

/* The name of a G or a task, as its program would give it: "main", "G3" for the fourth that main
 * made, "G3.1" for the second that this one did, "T0" for a task. "G#12" if that is too long,
 * or nobody made it. trace: NULL for "G 0" or "T 0". number 0: "". Returns text. */
char *sched_trace_name(const struct sched_trace *trace, uint32_t number, bool is_task,
                       char text[SCHED_TRACE_NAME]);

/* Lets times begin with the first event. */
void sched_trace_from_first(struct sched_trace *trace);

/* Reads a trace to its end; free it. False and one line in error if it is none. */
bool sched_trace_read(struct sched_trace *trace, FILE *from, struct error *error);
void sched_trace_free(struct sched_trace *trace);

#endif
