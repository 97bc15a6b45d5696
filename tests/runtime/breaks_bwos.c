/* breaks_bwos.c - ways to break the queue of blocks: see breaks.h. */
#include "breaks.h"
#include "runtime/bwos.h"
#include "runtime/lrq.h"

#define BLOCKS(id) BREAK_IN(id, "gmp", 1, CALM ",queue=bwos,ring=16")

enum { ENTRIES = 2 }; /* of a block: an eighth of the ring */

static struct lrq *mine(void)
{
    return SELF->p->variant;
}

static struct bwos *blocks(void)
{
    return lrq_blocks(mine());
}

static void put(int n)
{
    for (int i = 0; i < n; i++)
        lrq_put(SELF, mine(), SCHED->variant, some_g(), false);
}

static struct g *get(void)
{
    return bwos_get(blocks(), &(uint64_t){0});
}

/* Blocks 1 and 2 are granted. */
static struct bwos_block *granted(void)
{
    put(3 * ENTRIES + 1);
    return bwos_block(blocks(), 1);
}

BLOCKS(bwos_of_no_entries)
{
    static struct bwos bwos;
    bwos_init(&bwos, 0);
}

BLOCKS(bwos_gets_no_g)
{
    bwos_put(blocks(), NULL);
}

BLOCKS(bwos_put_without_room)
{
    put(ENTRIES);
    bwos_put(blocks(), some_g());
}

BLOCKS(bwos_steals_nothing)
{
    struct g *taken[1];
    bwos_steal(blocks(), taken, 0);
}

BLOCKS(bwos_takes_over_what_was_not_granted)
{
    atomic_store(&granted()->ticket, 5 << BWOS_SHIFT);
    atomic_store(&blocks()->front, ENTRIES);
    get();
}

BLOCKS(bwos_gets_behind_where_it_puts)
{
    atomic_store(&blocks()->get, 1);
    put(1);
}

BLOCKS(bwos_front_outside_its_block)
{
    atomic_store(&blocks()->front, -1);
    get();
}

BLOCKS(bwos_back_outside_its_block)
{
    atomic_store(&blocks()->back, -3);
    put(1);
}

BLOCKS(bwos_front_behind_back)
{
    atomic_store(&blocks()->front, 1);
    get();
}

BLOCKS(bwos_grants_by_another_number)
{
    atomic_store(&granted()->ticket, 5 << BWOS_SHIFT);
    get();
}

BLOCKS(bwos_lets_thieves_into_its_own_block)
{
    atomic_store(&bwos_block(blocks(), 0)->ticket, 1);
    put(1);
}

BLOCKS(bwos_grants_more_than_a_block)
{
    atomic_store(&granted()->ticket, 1 << BWOS_SHIFT | (ENTRIES + 1));
    get();
}

BLOCKS(bwos_was_read_more_than_taken)
{
    atomic_store(&granted()->read, 1);
    get();
}

BLOCKS(blocks_behind_a_ring_that_has_been_taken_from)
{
    atomic_store(&mine()->head, 1);
    lrq_drain(SELF, mine(), SCHED->variant);
}

BLOCKS(blocks_behind_a_ring_without_its_one)
{
    atomic_store(&mine()->tail, 0);
    lrq_drain(SELF, mine(), SCHED->variant);
}

BLOCKS(blocks_with_dates)
{
    static _Atomic int64_t since;
    mine()->since = &since;
    lrq_drain(SELF, mine(), SCHED->variant);
}

BLOCKS(blocks_taken_newest_first)
{
    mine()->lifo = true;
    lrq_drain(SELF, mine(), SCHED->variant);
}
