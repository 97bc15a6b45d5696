/* bwos - Go's scheduler, with block-based queues: owner and thieves work in different blocks.
 *
 * The queue is runtime/bwos.h, which is the tree's too (gmp,queue=bwos). This file has what runq.h
 * asks of a queue besides. The two are not one variant: of gmp's knobs only two are here, and a
 * queue that is full gives its goroutines up one by one.
 *
 *     schedlab build examples/bwos.c
 *     schedlab run ./bwos.slv gmp gmp,queue=bwos spawn,n=2000 --machine sim:server64 --workers 16
 *
 * Source: derived from [Wang23], the FIFO queue; bwos.h says what is the same.
 *   Differs: as in bwos.h. A thief takes half of what can be stolen, as far as one block has it.
 */
#include "schedlab.h"

#include "bwos.h"

enum { BLOCK = 32, QUEUE_SIZE = sizeof(struct bwos) + BWOS_BLOCKS * BLOCK * sizeof(struct g *) };

static void blocks_init(void *queue)
{
    bwos_init(queue, BLOCK);
}

static bool blocks_put(void *queue, struct g *gp)
{
    if (!bwos_make_room(queue, &(bool){false}))
        return false;
    bwos_put(queue, gp);
    return true;
}

static struct g *blocks_get(void *queue)
{
    return bwos_get(queue, &(uint64_t){0});
}

static int64_t blocks_steal(void *queue, struct g **taken, int64_t most)
{
    return bwos_steal(queue, taken, most);
}

static int64_t blocks_length(void *queue)
{
    return bwos_length(queue);
}

static int64_t blocks_stealable(void *queue)
{
    return bwos_stealable(queue);
}

static const struct runq_ops blocks = {
    .size = QUEUE_SIZE,
    .init = blocks_init,
    .put = blocks_put,
    .get = blocks_get,
    .steal = blocks_steal,
    .length = blocks_length,
    .stealable = blocks_stealable,
};

RUNQ_VARIANT(bwos, blocks, "M:N as in Go, with block-based queues: owner and thieves keep apart",
             "[Wang23]");
