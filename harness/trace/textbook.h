/* textbook.h - a textbook's table of steps, beside the steps of the real variant in the same turns.
 *
 * The table is data, harness/replays/NAME.yaml. Each of its tables is run once on a simulated
 * machine in lock step (machine/sim/lockstep.h), which is told only whose turn it is. The stack and
 * the deque of each processor are read off the events, written as the book writes them, and
 * compared row by row.
 */
#ifndef SCHEDLAB_TEXTBOOK_H
#define SCHEDLAB_TEXTBOOK_H

#include "harness/base/error.h"
#include "harness/trace/trace.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum { REPLAY_PROCESSORS_MAX = 4, REPLAY_ROWS_MAX = 64, REPLAY_CELL = 128, REPLAY_DEEDS = 512 };

/* The stack and the deque of a processor after a row: as in "main*, fib(4)" and "fib(3),
 * fib(2)". */
struct textbook_cell {
    char stack[REPLAY_CELL], deque[REPLAY_CELL];
};

struct textbook_row {
    char *turns; /* "0,0,1"; "" for what is there before the first step */
    struct textbook_cell book[REPLAY_PROCESSORS_MAX], real[REPLAY_PROCESSORS_MAX];
    /* The erratum of a cell: what the book should have; NULL: the printed text stands. */
    struct {
        char *stack, *deque;
    } meant[REPLAY_PROCESSORS_MAX];
    size_t event;             /* the last one of the row in the trace, from 0 */
    char deeds[REPLAY_DEEDS]; /* what the run did in these turns, in words */
};

/* The numbers of the book's table of statistics, counted in the real run. The book's own are texts
 * (struct textbook_table), since it may be wrong. */
struct textbook_statistics {
    /* Counted by the variant: DEQUE_MAX, JOINS_STALLED, TASKS_STOLEN, PARKS. */
    size_t deque, waited, stolen, parked;
    /* Counted from the rows. steps: with those that are left to do after the last row. deques: the
     * sum over all processors. stalled: also by a parent that runs a child of its own at the
     * join. */
    size_t steps, deques, stalled, stack;
};

struct textbook_table {
    char *policy, *title, *variant, *steps;
    char *claims;   /* of harness/experiments/claims.yaml, */
    char *degree;   /* how true the first of them is of Go, and */
    char *go;       /* Go's rule */
    char *workload; /* NULL: that of all tables */
    uint64_t seed;  /* of the workload */
    int processors;
    size_t rows;
    struct textbook_row row[REPLAY_ROWS_MAX];
    char *book[4];  /* steps, deque, stalled, stack; NULL: says nothing */
    json_t *names;  /* of a run's goroutines and tasks, as struct trace_page has them; NULL: none */
    bool has_calls; /* some activations of the run are called, and have no goroutine */
    struct textbook_statistics real;
};

/* The one example that is a textbook's, and no account's. */
extern const char textbook_name[];

struct textbook {
    char *title, *who, *workload; /* who tells it */
    int n;
    size_t tables;
    struct textbook_table *table;
};

/* Reads harness/replays/NAME.yaml. NULL and one line in error if there is none or it is wrong. */
struct textbook *textbook_load(const char *name, struct error *error);
void textbook_free(struct textbook *replay);

/* Runs a table and fills in the real cells. trace: gets the events, with their lines, and is to be
 * freed; NULL: nobody wants them. False and one line in error if the run fails. */
bool textbook_run(const struct textbook *replay, struct textbook_table *table,
                  struct sched_trace *trace, struct error *error);

/* True for a table of tasks dealt out in advance, in which time passes. */
bool textbook_is_dealt(const struct textbook_table *table);

/* True if the row is as printed. One with an erratum never is. */
bool textbook_row_agrees(const struct textbook_table *table, size_t row);
/* True if the row is not as printed, but as its erratum has it. */
bool textbook_row_is_as_meant(const struct textbook_table *table, size_t row);

/* Writes the run of a table as a page to look around in. It stops after each row, and says what the
 * book has there. Pre: textbook_run(), of a table that is not dealt. textbook_page.c. */
bool textbook_page_write(const struct textbook *replay, const struct textbook_table *table,
                         const struct sched_trace *trace, FILE *to, struct error *error);

/* The same as textbook_table_print() prints, the caller's. replay_json.c. */
json_t *textbook_table_to_json(const struct textbook *replay, const struct textbook_table *table);

/* columns: of the lines of text. */
void textbook_table_print(const struct textbook_table *table, int columns, FILE *to);

#endif
