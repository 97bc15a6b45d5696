/* parts.h - parts of a campaign over many cells: some executions of one cell each, in a process of
 * its own, several at one time.
 *
 * A part goes on after an execution that failed, and counts how they ended. If its process dies,
 * that is how the execution ended on which it was: only its points, accesses and order are unknown.
 * Another process then does the rest. A part ends early only if its process dies while it learns,
 * which counts as its next execution: every other process would die there too.
 *
 * A process that was ended from outside is no finding. Its part is not done.
 *
 * Callers: harness/hunter/hunt_campaign.c, on the process's own stack.
 */
#ifndef SCHEDLAB_HUNT_PARTS_H
#define SCHEDLAB_HUNT_PARTS_H

#include "harness/hunt/campaign.h"
#include "harness/hunt/orders.h"

enum { PART_ORDERS = 256 };

struct part {
    struct campaign campaign; /* as before learning */
    int64_t from, executions;
    bool covers; /* fill in cover */
    void *of;    /* the caller's */

    /* Results. executions is what was done. */
    bool learns; /* its process does not execute yet */
    int64_t took_ns;
    uint64_t points, accesses;
    int64_t failures[HUNT_END_COUNT];
    struct order orders[PART_ORDERS];
    size_t order_count;
    int order_level;
    int64_t first; /* the number of the first failure; -1: none */
    enum hunt_end first_end;
    char first_text[HUNT_TEXT_SIZE];
    struct hunt_cover cover;
};

struct parts {
    int jobs; /* at one time; 0: one for each processor */
    /* Fills in the next one; false: there is none. */
    bool (*next)(void *arg, struct part *part);
    /* A part has ended; false: no other one shall begin. */
    bool (*done)(void *arg, struct part *part);
    void *arg;
};

/* 0, or the status of a process that was ended from outside: then no other part began. */
int parts_run(const struct parts *parts);

#endif
