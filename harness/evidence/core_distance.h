/* core_distance.h - how far apart the cores in use are at the moment: near or far.
 *
 * Callers: comparable.c, for all who read records; stopping_rule.c while a sweep tops classes up.
 *
 * On virtual machines the round trip of a cache line between two cores was seen to flip between
 * some 50 and 360 ns for seconds to minutes, as the hypervisor moves its threads. This changes the
 * results of workers that talk to one another by up to 3.5 times, so samples near and far are two
 * different experiments. A probe before and one after every sample (`probe.before.line_ns` and
 * `probe.after.line_ns` of the record) tell at which distance it was measured.
 *
 * Near and far differ between machines, and most machines have only one distance. So the two are
 * learnt from the probes of the whole run, and exist only if they lie well apart.
 */
#ifndef SCHEDLAB_CORE_DISTANCE_H
#define SCHEDLAB_CORE_DISTANCE_H

#include <stddef.h>

enum core_distance {
    DISTANCE_NONE, /* one worker, or no probe */
    DISTANCE_NEAR,
    DISTANCE_FAR,
    DISTANCE_MIXED, /* it changed during the sample */
};

struct core_distances {
    double threshold_ns;    /* below it is near; NAN: there is one class, and all is near */
    double near_ns, far_ns; /* geometric means of the two classes; NAN for a class without probes */
    size_t count[4];        /* probes by distance; DISTANCE_NONE if no positive number */
};

/* Learns the classes from n round trips. They are two clusters of log(line_ns), split where the
 * squared distances from their centres are least, if the centres differ by a factor of 1.5 at
 * least; else there is one class. A probe that would be a class by itself is left out of the
 * centres while 5 or more remain, since something else went on during it. It still counts on its
 * side of the threshold. */
void core_distances_learn(struct core_distances *distances, const double *line_ns, size_t n);

/* The distance of a sample from its two probes. A missing one, NAN, is taken to be as the other. */
enum core_distance core_distance_of(const struct core_distances *distances, double before_ns,
                                    double after_ns);

/* The more common of near and far, given their numbers of samples; near if they are equal;
 * DISTANCE_NONE without any. Samples during which the distance changed belong to neither. */
enum core_distance core_distance_common(size_t near, size_t far);

/* "-", "near", "far", "mixed" */
const char *core_distance_text(enum core_distance distance);

#endif
