/* hunt_lone.h - `schedlab hunt --exhaustive`: all executions of a lone queue. */
#ifndef SCHEDLAB_HUNT_LONE_COMMAND_H
#define SCHEDLAB_HUNT_LONE_COMMAND_H

#include "harness/hunt/lone.h"

#include <stdbool.h>
#include <stdint.h>

struct hunt_lone {
    enum lone_queue queue;
    int threads, operations;
    int64_t executions; /* at most, of each script; 0: no limit */
    bool json;
};

/* The exit status. */
int hunt_lone(const struct hunt_lone *wanted);

#endif
