/* lrq_bwos.h - what of the local run queue is different with queue=bwos: lrq.h, bwos.h.
 *
 * Callers: lrq.c alone. Each function is called by the owner of its first queue, or of mine.
 */
#ifndef SCHEDLAB_LRQ_BWOS_H
#define SCHEDLAB_LRQ_BWOS_H

#include "lrq.h"

/* Pre: nobody uses it yet, its slots are zero, and have room for blocks of so many entries. */
void lrq_make_blocks(struct lrq *lrq, int64_t entries);

/* False: the blocks are full. */
bool lrq_blocks_put(struct m *m, struct lrq *lrq, struct g *gp);

/* The oldest `share` and gp move to the global queue. */
void lrq_blocks_overflow(struct m *m, struct lrq *lrq, struct globq *globq, struct g *gp,
                         uint32_t share);

/* The oldest that no thief has taken, or NULL. */
struct g *lrq_blocks_get(struct m *m, struct lrq *lrq);

/* Moves up to n Gs from the global list, or without its lock from its ring, as far as there is
 * room; how many. Pre: the list has its lock, or the ring is one. */
uint32_t lrq_blocks_move(struct m *m, struct lrq *lrq, struct globq *globq, bool ring, int64_t n);

/* Thief: takes up to `share` out of one block of victim, and no more than mine has room for; the
 * last one into *gp. Returns how many. */
uint32_t lrq_blocks_grab(struct m *m, struct lrq *mine, struct lrq *victim, uint32_t share,
                         struct g **gp);

/* As lrq_has_work(). Any thread. */
bool lrq_blocks_have_work(struct lrq *lrq, bool private_next);

#endif
