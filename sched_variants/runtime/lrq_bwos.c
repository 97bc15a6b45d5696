/* lrq_bwos.c - what of the local run queue is different with blocks; see lrq_bwos.h. */
#include "lrq_bwos.h"

#include "sched.h"

void lrq_make_blocks(struct lrq *lrq, int64_t entries)
{
    struct bwos *bwos = lrq_blocks(lrq);
    machine_name(bwos, sizeof *bwos, "lrq.blocks");
    machine_name(bwos->entry, bwos_size(entries) - sizeof *bwos, "lrq.slots");
    bwos_init(bwos, entries);
    lrq->mask = 0;
    atomic_store_explicit(&lrq->tail, 1, memory_order_relaxed); /* one thread yet */
}

bool lrq_blocks_are_valid(struct lrq *lrq)
{
    /* relaxed: constants */
    return HOLDS(atomic_load_explicit(&lrq->head, memory_order_relaxed) == 0) &&
           HOLDS(atomic_load_explicit(&lrq->tail, memory_order_relaxed) == 1) &&
           HOLDS(!lrq->since) && HOLDS(!lrq->lifo) && bwos_is_valid(lrq_blocks(lrq));
}

/* A G moves from runnext to the blocks and never back, so runnext is read between two looks. */
bool lrq_blocks_have_work(struct lrq *lrq, bool private_next)
{
    return bwos_stealable(lrq_blocks(lrq)) > 0 ||
           (!private_next && atomic_load_explicit(&lrq->runnext, memory_order_acquire)) || /* Q5 */
           bwos_stealable(lrq_blocks(lrq)) > 0;
}

void lrq_blocks_overflow(struct m *m, struct lrq *lrq, struct globq *globq, struct g *gp,
                         uint32_t share)
{
    struct gfifo moving = {0};
    uint32_t n = 0;
    for (struct g *old; n < share && (old = lrq_blocks_get(m, lrq)); n++)
        gfifo_push(&moving, old);
    gfifo_push(&moving, gp);
    globq_put_all(m, globq, &moving);
    stat_add(&m->stats, STAT_OVERFLOWS, 1);
    sched_event(m, SCHED_OVERFLOWED, NULL, (int32_t)n + 1, false);
}

uint32_t lrq_blocks_move(struct m *m, struct lrq *lrq, struct globq *globq, bool ring, int64_t n)
{
    struct bwos *bwos = lrq_blocks(lrq);
    uint32_t moved = 0;
    struct g *gp;
    for (; moved < n && lrq_blocks_make_room(m, bwos); moved++) {
        gp = ring ? mpmc_get(globq->ring) : gfifo_pop_ahead(m, &globq->fifo);
        if (!gp)
            break;
        lrq_blocks_put_one(m, bwos, gp);
    }
    sched_event(m, SCHED_MOVED, NULL, (int32_t)moved, 0);
    return moved;
}

uint32_t lrq_blocks_grab(struct m *m, struct lrq *mine, struct lrq *victim, uint32_t share,
                         struct g **gp)
{
    struct bwos *bwos = lrq_blocks(mine);
    if (share == 0)
        return 0;
    int64_t most = bwos_room(bwos) + 1;
    int64_t n = bwos_steal(lrq_blocks(victim), mine->taken, share < most ? share : most);
    for (int64_t i = 0; i < n - 1; i++) {
        lrq_blocks_make_room(m, bwos); /* there is, by `most` */
        lrq_blocks_put_one(m, bwos, mine->taken[i]);
    }
    if (n > 0)
        *gp = mine->taken[n - 1];
    return (uint32_t)n;
}
