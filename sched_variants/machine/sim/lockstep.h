/* lockstep.h - a simulated machine whose clock is advanced by what schedulers say they do, and by
 * nothing else: one core after the other makes one step.
 *
 * Time goes in ticks, and each tick is the turn of one core, as a list says; after its end cores
 * take turns. A core makes its steps in its own turns alone. Its work between two steps takes no
 * time. It happens in the turn of the first of them, or, if that turn's step is made, in the next
 * one. So a list chooses from outside who makes the next step, as in a textbook's table. The
 * program still decides what the step is.
 *
 * Kinds of machine_event(), by bits:
 *   uses    such an event is a step: it uses up the turn of its core
 *   before  if the turn is used up, the core's next turn is waited for before this event, and so
 *           before whatever follows it
 *   after   the next turn is waited for at once, before whatever follows
 * Whoever waits in a loop (machine_relax(), machine_pause(), machine_yield()) looks once in a turn.
 */
#ifndef SCHEDLAB_SIM_LOCKSTEP_H
#define SCHEDLAB_SIM_LOCKSTEP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SIM_TURNS_MAX = 1024, SIM_TICK_PS = 1000000 };

struct sim_lockstep {
    uint64_t uses, before, after;
    size_t turns;
    uint8_t turn[SIM_TURNS_MAX]; /* the core whose turn it is; the first is over at one tick */
    int cores;                   /* that take turns after these */
};

/* Before sim_run(), which then takes all prices of the model for nothing. Once in the life of the
 * process. */
void sim_lockstep_set(const struct sim_lockstep *lockstep);
bool sim_is_lockstep(void);

/* For the rest of the simulated machine. The first turn of a core at from_ps or later: its time. */
int64_t sim_turn_from(int core, int64_t from_ps);
void sim_turn_before(unsigned kind); /* an event is about to be told */
void sim_turn_after(unsigned kind);  /* it has been */
void sim_turn_wait(void);            /* the current core's next one */

struct sim_model;
void sim_model_make_free(struct sim_model *model);

#endif
