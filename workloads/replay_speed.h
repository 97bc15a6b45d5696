/* replay_speed.h - how fast the machine computes, and what the replay costs itself. Callers:
 * replay.c. */
#ifndef SCHEDLAB_REPLAY_SPEED_H
#define SCHEDLAB_REPLAY_SPEED_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct replay_speed {
    double rounds_per_ns; /* of go_work(); 0: not measured yet */
    double slowest, fastest;
    int64_t measured_ns;      /* when */
    double clock_ns;          /* of one go_now() */
    double write_ns, read_ns; /* of a descriptor that is ready; 0: not measured */
};

/* Measures anew what is older than REPLAY_SPEED_OLD_NS. Goroutine stacks. has_descriptors: with
 * what descriptors cost, too. */
#define REPLAY_SPEED_OLD_NS INT64_C(100000000)
void replay_speed_measure(struct replay_speed *speed, bool has_descriptors);

/* A line if the speed drifted by more than REPLAY_SPEED_DRIFT. */
#define REPLAY_SPEED_DRIFT 0.02
void replay_speed_print(const struct replay_speed *speed, FILE *to);

#endif
