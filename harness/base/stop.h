/* stop.h - signals that end measuring, but not before what was measured is told.
 *
 * Callers: cmd_run_cell.c; sweep_run.c and repro_measure.c, one within the other. From stop_begin()
 * to the matching stop_end() SIGINT, SIGTERM and SIGHUP interrupt the program that process.h runs,
 * and do no more. The caller looks at stop_signal() and ends. A signal stays in force until the end
 * of the process: measuring that was stopped does not begin again.
 */
#ifndef SCHEDLAB_STOP_H
#define SCHEDLAB_STOP_H

#include <signal.h>

enum { STOP_SIGNALS = 4 };

/* The handlers of signals that were in force before. */
struct stop {
    struct sigaction before[STOP_SIGNALS];
};

void stop_begin(struct stop *stop);
void stop_end(const struct stop *stop);

/* The last signal that was to end it; 0: none. */
int stop_signal(void);

#endif
