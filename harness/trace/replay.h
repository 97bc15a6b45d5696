/* replay.h - a textbook's table of steps, beside what the real variant does in the same turns.
 *
 * The table is data, harness/replays/NAME.yaml. Each of its tables is run once on a simulated
 * machine in lock step (machine/sim/lockstep.h), told nothing but whose turn it is; what each
 * processor then has on its stack and in its deque is read off the events, written as the book
 * writes it, and compared row by row.
 */
#ifndef SCHEDLAB_REPLAY_H
#define SCHEDLAB_REPLAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum { REPLAY_PROCESSORS_MAX = 4, REPLAY_ROWS_MAX = 64, REPLAY_CELL = 128 };

/* What a processor has after a row: as in "main*, fib(4)" and "fib(3), fib(2)". */
struct replay_cell {
    char stack[REPLAY_CELL], deque[REPLAY_CELL];
};

struct replay_row {
    char *turns; /* "0,0,1"; "" for what is there before the first step */
    char *why;   /* the reason for a difference; NULL: none is expected */
    struct replay_cell book[REPLAY_PROCESSORS_MAX], real[REPLAY_PROCESSORS_MAX];
};

/* The numbers that the book's table of statistics has; of the book as text, since it may be wrong.
 */
struct replay_statistics {
    /* Counted by the variant: DEQUE_MAX, JOINS_STALLED, TASKS_STOLEN, PARKS. */
    size_t deque, waited, stolen, parked;
    /* Of the rows, steps with what is left to do after the last one. deques: the sum over all
     * processors; stalled: also by a parent that runs a child of its own at the join. */
    size_t steps, deques, stalled, stack;
};

struct replay_table {
    char *policy, *title, *variant, *steps;
    char *workload; /* NULL: that of all tables */
    uint64_t seed;  /* of the workload */
    int processors;
    size_t rows;
    struct replay_row row[REPLAY_ROWS_MAX];
    char
        *book[5]; /* steps, deque, stalled, stack, and what is wrong about it; NULL: says nothing */
    struct replay_statistics real;
};

struct replay {
    char *title, *workload;
    int n;
    size_t tables;
    struct replay_table *table;
};

/* Reads harness/replays/NAME.yaml. NULL and one line in error if there is none or it is wrong. */
struct replay *replay_load(const char *name, char *error, size_t error_size);
void replay_free(struct replay *replay);

/* Runs a table and fills in what is real. False and one line in error if the run fails. */
bool replay_run(const struct replay *replay, struct replay_table *table, char *error,
                size_t error_size);

/* Is it one of tasks dealt out in advance, in which time passes? */
bool replay_is_dealt(const struct replay_table *table);

bool replay_row_agrees(const struct replay_table *table, size_t row);
void replay_table_print(const struct replay_table *table, FILE *to);

#endif
