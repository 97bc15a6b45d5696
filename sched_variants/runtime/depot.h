/* depot.h - magazines: free Gs, or free stacks, as they go from one M to another.
 *
 * A magazine is half a cache as an array: whoever gets it has all addresses at once. A list tells
 * each only by the one before, at the price of a miss. To pass one on touches none of its items.
 * An M exchanges its own, which is empty, for a full one, and the other way round.
 *
 * Source: Bonwick and Adams, USENIX 2001.
 *
 * Invariants, while the lock that its owner holds for it is free
 *   the first `full` magazines are full, the others empty or NULL
 */
#ifndef SCHEDLAB_DEPOT_H
#define SCHEDLAB_DEPOT_H

#include "g.h"

/* Two for one worker: what a crowd leaves goes back to slabs, where the next one finds it in the
 * order of its addresses. The more workers, the more for each, up to MAGAZINES in all: they meet
 * at the lock, which is held far longer for slabs, whose heads are misses, one after the other. */
static inline uint32_t depot_room(const struct sched *sched)
{
    uint64_t workers = (uint64_t)sched->workers, room = 2 * workers * workers;
    return room < MAGAZINES ? (uint32_t)room : MAGAZINES;
}

/* Exchanges *mine, a full one, for an empty one or NULL. False if there is no room. Pre, here and
 * below: the lock. */
static inline bool depot_put(struct depot *depot, uint32_t room, void ***mine)
{
    INVARIANT(depot->full <= room);
    if (depot->full == room)
        return false;
    void **empty = depot->magazine[depot->full];
    depot->magazine[depot->full++] = *mine;
    *mine = empty;
    return true;
}

/* Exchanges *mine, an empty one or NULL, for a full one. False if there is none. */
static inline bool depot_take(struct depot *depot, uint32_t room, void ***mine)
{
    INVARIANT(depot->full <= room);
    if (depot->full == 0)
        return false;
    void **full = depot->magazine[--depot->full];
    depot->magazine[depot->full] = *mine;
    *mine = full;
    return true;
}

static inline void depot_fini(struct depot *depot)
{
    for (int i = 0; i < MAGAZINES; i++)
        machine_free(depot->magazine[i]);
}

#endif
