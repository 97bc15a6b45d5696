/* stop.h - signals that end measuring, but not before what was measured is told.
 *
 * Callers: cmd_run_cell.c; sweep_run.c and repro_measure.c, one within the other. From
 * stop_begin() to the matching stop_end() SIGINT, SIGTERM and SIGHUP interrupt what process.h runs
 * and do no more; who measures looks at stop_signal() and ends. They stay in force until the end of
 * the process: what was stopped does not begin again.
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
