/* lrq_bwos.h - what of the local run queue is different with queue=bwos: lrq.h, bwos.h.
 *
 * Callers: lrq.c alone. Each function is called by the owner of its first queue, or of mine.
 */
#ifndef SCHEDLAB_LRQ_BWOS_H
#define SCHEDLAB_LRQ_BWOS_H

#include "lrq.h"
#include "sched.h"

/* Pre: nobody uses it yet, its slots are zero, and have room for blocks of so many entries. */
void lrq_make_blocks(struct lrq *lrq, int64_t entries);

/* The oldest `share` and gp move to the global queue. */
void lrq_blocks_overflow(struct m *m, struct lrq *lrq, struct globq *globq, struct g *gp,
                         uint32_t share);

/* Moves up to n Gs from the global list, or without its lock from its ring, as far as there is
 * room; how many. Pre: the list has its lock, or the ring is one. */
uint32_t lrq_blocks_move(struct m *m, struct lrq *lrq, struct globq *globq, bool ring, int64_t n);

/* Thief: takes up to `share` out of one block of victim, and no more than mine has room for; the
 * last one into *gp. Returns how many. */
uint32_t lrq_blocks_grab(struct m *m, struct lrq *mine, struct lrq *victim, uint32_t share,
                         struct g **gp);

/* As lrq_has_work(). Any thread. */
bool lrq_blocks_have_work(struct lrq *lrq, bool private_next);

/* Owner. Room for one more, in a block that may be a new one? */
static inline bool lrq_blocks_make_room(struct m *m, struct bwos *bwos)
{
    bool granted, has_room = bwos_make_room(bwos, &granted);
    if (granted)
        stat_add(&m->stats, STAT_BLOCKS_GRANTED, 1);
    return has_room;
}

/* The length reads words of thieves, so it is taken at a block's first entry and its last one
 * alone. */
static inline void lrq_blocks_put_one(struct m *m, struct bwos *bwos, struct g *gp)
{
    bwos_put(bwos, gp);
    int64_t back = bwos_own_place(&bwos->back);
    if (bwos_own_number(&bwos->get) == bwos_own_number(&bwos->put))
        stat_max(&m->stats, STAT_DEQUE_MAX, (uint64_t)(back - bwos_own_place(&bwos->front)));
    else if (back == 1 || back == bwos->entries)
        stat_max(&m->stats, STAT_DEQUE_MAX, (uint64_t)bwos_length(bwos));
}

/* False: the blocks are full. */
static inline bool lrq_blocks_put(struct m *m, struct lrq *lrq, struct g *gp)
{
    if (!lrq_blocks_make_room(m, lrq_blocks(lrq)))
        return false;
    sched_event_g(m, SCHED_PUT, gp, INTO_LOCAL, 0);
    lrq_blocks_put_one(m, lrq_blocks(lrq), gp);
    return true;
}

/* The oldest that no thief has taken, or NULL. */
static inline struct g *lrq_blocks_get(struct m *m, struct lrq *lrq)
{
    uint64_t takeovers = 0;
    struct g *gp = bwos_get(lrq_blocks(lrq), &takeovers);
    if (takeovers > 0)
        stat_add(&m->stats, STAT_BLOCKS_TAKEN_BACK, takeovers);
    return gp;
}

#endif
