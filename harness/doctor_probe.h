/* doctor_probe.h - the round trip of one cache line between two hardware threads.
 *
 * Who calls: doctor, as the native machine's `line`.
 */
#ifndef SCHEDLAB_DOCTOR_PROBE_H
#define SCHEDLAB_DOCTOR_PROBE_H

/* Measures for about 10 ms, on threads of its own that are gone afterwards; *line_ns is the median
 * over short batches, so that a lost core hits one batch. 0; -EINVAL if a core may not be used;
 * -ETIMEDOUT if others hold the cores; or another -errno. pre: cpu_a != cpu_b. */
int doctor_probe_line(int cpu_a, int cpu_b, double *line_ns);

#endif
