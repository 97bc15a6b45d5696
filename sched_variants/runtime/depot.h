/* depot.h - magazines: free Gs, or free stacks, as they go from one M to another.
 *
 * A magazine is half a cache as an array: whoever gets it has all addresses at once. A list tells
 * each only by the one before, at the price of a miss. To pass one on touches none of its items.
 * An M exchanges its own, which is empty, for a full one, and the other way round.
 *
 * Where workers are many, each P has a small depot, which only the M that holds the P touches.
 * Only if that is empty, or full, the M goes to the one of all, and half of what its P has room
 * for comes or goes with the magazine. Without that all meet at the lock: fib,n=31 had 124 million
 * calls a second on 64 simulated cores, where it had 140 on 16 (docs/SCALING.md).
 *   Rejected: 65,536 places in the one of all, and 32 at each P, which changed nothing. A magazine
 *   that grows would be a list of so many Gs to write at once. Two magazines for each M, against
 *   going to and fro, are there: its cache takes one and holds two. Depots of groups of cores that
 *   share a cache, and a depot without a lock, were not tried: the visits were too many.
 *
 * Source: Bonwick and Adams, USENIX 2001.
 *   Differs: a layer more, of a magazine's kind, between a cache and the depot of all.
 *
 * Invariants, while the lock that its owner holds for it is free
 *   the first `full` magazines are full, the others empty or NULL
 *   a depot of a P that nobody holds is empty, so that an idle worker leaves nothing behind in it
 */
#ifndef SCHEDLAB_DEPOT_H
#define SCHEDLAB_DEPOT_H

#include "internal.h"

enum {
    DEPOT_ROOM_MAX = 4096,
    DEPOT_FEW = 16,   /* workers */
    DEPOT_ROOM_P = 8, /* with 32 to each 256 Gs of 128 bytes, and so many stacks */
};

/* Two for one worker: what a crowd leaves goes back to slabs, where the next one finds it in the
 * order of its addresses. The more workers, the more for each, up to DEPOT_ROOM_MAX in all: they
 * meet at the lock, which is held far longer for slabs, whose heads are misses, one after the
 * other. */
static inline uint32_t depot_room(const struct sched *sched)
{
    uint64_t workers = (uint64_t)sched->workers, room = 2 * workers * workers;
    return room < DEPOT_ROOM_MAX ? (uint32_t)room : DEPOT_ROOM_MAX;
}

/* None for few workers, who seldom meet at the lock, nor where each thread has one G. */
static inline uint32_t depot_room_p(const struct sched *sched)
{
    if (sched->workers <= DEPOT_FEW || sched->ops->thread_per_g)
        return 0;
    return sched->workers < 8 * DEPOT_ROOM_P ? (uint32_t)sched->workers / 8 : DEPOT_ROOM_P;
}

static inline void depot_init(struct depot *depot, uint32_t room, const char *name)
{
    depot->room = room;
    if (room > 0)
        depot->magazine = sched_zalloc(room * sizeof *depot->magazine, name);
}

/* A P's depot, as far as Ps have any. */
static inline struct depot *depot_if_any(struct depot *depot)
{
    return depot->room > 0 ? depot : NULL;
}

/* Exchanges *mine, a full one, for an empty one or NULL. False if there is no room. Pre, here and
 * below: the lock, or the P. */
static inline bool depot_put(struct depot *depot, void ***mine)
{
    INVARIANT(depot->full <= depot->room);
    if (depot->full == depot->room)
        return false;
    void **empty = depot->magazine[depot->full];
    depot->magazine[depot->full++] = *mine;
    *mine = empty;
    return true;
}

/* Exchanges *mine, an empty one or NULL, for a full one. False if there is none. */
static inline bool depot_take(struct depot *depot, void ***mine)
{
    INVARIANT(depot->full <= depot->room);
    if (depot->full == 0)
        return false;
    void **full = depot->magazine[--depot->full];
    depot->magazine[depot->full] = *mine;
    *mine = full;
    return true;
}

/* `most` magazines, or as many as there are, and are room for. Returns how many. */
static inline uint32_t depot_move(struct depot *from, struct depot *to, uint32_t most)
{
    uint32_t moved = 0;
    while (moved < most && from->full > 0 && depot_put(to, &from->magazine[from->full - 1])) {
        from->full--;
        moved++;
    }
    return moved;
}

/* *mine, a full one, goes from an M to the depot of all; own: of its P, or NULL. Returns how many
 * went: none if there is no room. */
static inline uint32_t depot_put_more(struct depot *own, struct depot *all, void ***mine)
{
    if (!depot_put(all, mine))
        return 0;
    return 1 + (own ? depot_move(own, all, own->room / 2) : 0);
}

/* The other way round. */
static inline uint32_t depot_take_more(struct depot *own, struct depot *all, void ***mine)
{
    if (!depot_take(all, mine))
        return 0;
    return 1 + (own ? depot_move(all, own, own->room / 2) : 0);
}

static inline void depot_fini(struct depot *depot)
{
    for (uint32_t i = 0; i < depot->room; i++)
        machine_free(depot->magazine[i]);
    machine_free(depot->magazine);
}

#endif
