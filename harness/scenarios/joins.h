/* joins.h - the state of the scenario left_behind; joins.c is compiled once per policy. */
#ifndef SCHEDLAB_SCENARIOS_JOINS_H
#define SCHEDLAB_SCENARIOS_JOINS_H

#include "forkjoin.h"

enum { LEFT_CHILDREN = 2 };

struct left_child {
    struct fj_task task;
    const _Atomic uint32_t *went_on;
    uint32_t turn;
    _Atomic uint32_t ended; /* the turn in which it did */
};

struct left_behind {
    _Atomic uint32_t went_on; /* how many spawns the parent has left behind */
    struct left_child child[LEFT_CHILDREN];
};

/* NULL, or one line that says what went wrong. */
const char *crosses_joins(struct left_behind *state);

#endif
