/* machine_start_hunt.c - machine_start.h in the program that hunts, which starts no samples. */
#include "harness/models/machine_start.h"

bool machine_is_simulated(void)
{
    return true;
}
