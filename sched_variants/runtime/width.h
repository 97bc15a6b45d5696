/* width.h - how many Ps may be awake with width=load: width.c, which is its only user but for those
 * who test it. */
#ifndef SCHEDLAB_WIDTH_H
#define SCHEDLAB_WIDTH_H

#include "lock.h"

enum { WIDTH_WAIT_NS = 50000, WIDTH_WINDOW_NS = 1000000 };

/* How often a P has come by without a look at the clock. Its holder's. */
struct turn {
    _Alignas(64) uint32_t count;
};

struct width {
    /* constant */
    struct turn *turns; /* by P */

    _Atomic int32_t ps;  /* written under lock; relaxed: it limits, and hands nothing over */
    _Atomic int64_t end; /* of the window; likewise: whoever acts on it reads it again under lock */
    lock_t lock;         /* protects the two below */
    int64_t since;       /* when the window began, */
    uint64_t busy;       /* and the sum of all Ps' busy time then */
};

#endif
