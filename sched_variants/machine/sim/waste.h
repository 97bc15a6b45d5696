/* waste.h - core time that was idle while work waited.
 *
 * A goroutine or task waits from the event that makes it runnable to the one that puts it on a
 * worker. While w of them wait and i cores in use have no thread, min(w, i) cores are wasted: as
 * many as could run something at once. A core that searches for work is not idle.
 *
 * Cores run ahead of each other by the lookahead, and one that is woken is idle up to a time that
 * is yet to come. So changes are kept in order of virtual time, and take effect when none before
 * them can follow. Only a reading in between takes what there is. Nothing here costs virtual time.
 */
#ifndef SCHEDLAB_SIM_WASTE_H
#define SCHEDLAB_SIM_WASTE_H

#include <stdbool.h>
#include <stdint.h>

/* Kinds of machine_event() by bits: what the event is about begins to wait, or waits no more. A
 * goroutine's number and a task's address are never equal. Before sim_run(). */
void sim_waste_kinds(uint64_t waits, uint64_t taken);

/* From now on calls fn with the time that each goroutine and task waited while a core was idle, at
 * the end of its wait; NULL: nobody asks. fn runs on any host stack. */
void sim_waste_on_wait(void (*fn)(int64_t ps));

/* Up to now, in picoseconds. An idle core bears as much of it as the other idle ones; core < 0: the
 * sum of all. Any host stack. */
int64_t sim_wasted(int core);

/* For the rest of the simulated machine. */
void sim_waste_begin(void);                                /* sim_run(): no core is in use yet */
void sim_waste_event(unsigned kind, int64_t about);        /* machine_event() */
void sim_waste_core(int core, bool idle, int64_t when_ps); /* from then on; in use, and no thread */

#endif
