/* hunt_switches.h - the switches of an execution, with their places in the source. */
#ifndef SCHEDLAB_HUNT_SWITCHES_H
#define SCHEDLAB_HUNT_SWITCHES_H

#include "hunt/hunt.h"

void hunt_switches_print(const struct hunt_outcome *failure);

#endif
