/* work.h - where many rounds of machine_work() lead to. */
#ifndef SCHEDLAB_SIM_WORK_H
#define SCHEDLAB_SIM_WORK_H

#include "machine.h"

#include <stdint.h>

/* Two rounds are one round with another factor and term; so are 4, 8 and so on. */
static inline uint64_t work_after(uint64_t state, uint32_t rounds)
{
    uint64_t factor = MACHINE_WORK_FACTOR, term = MACHINE_WORK_TERM;
    for (; rounds > 0; rounds >>= 1) {
        if (rounds & 1)
            state = state * factor + term;
        term *= factor + 1;
        factor *= factor;
    }
    return state;
}

#endif
