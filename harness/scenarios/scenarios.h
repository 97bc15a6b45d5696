/* scenarios.h - small programs that cross two sides of a protocol, for `schedlab hunt`.
 *
 * A scenario is a workload with a few goroutines and some hundred points, and seldom parameters.
 * With their defaults a variant that is right passes. Its `source` names the protocol. verify()
 * says what went wrong. run() may wait for another goroutine in a loop of go_work(1), so that a
 * wake-up which is lost stops it.
 */
#ifndef SCHEDLAB_SCENARIOS_H
#define SCHEDLAB_SCENARIOS_H

struct workload;

extern const struct workload *const scenarios[]; /* NULL-terminated */

#endif
