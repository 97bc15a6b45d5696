/* bwos.h - a queue of blocks: its owner and thieves work in different ones.
 *
 * A ring of blocks, numbered from 0 on without end: number k lies in block k % BWOS_BLOCKS. The
 * owner puts into block `put` and takes from block `get`, the oldest. The blocks between are
 * granted: thieves take from these, and from nowhere else. So the owner needs neither a fence nor a
 * read-modify-write for a G, but only for a block.
 *
 * Each block has a word for thieves, the ticket: number << SHIFT | how many are left for thieves.
 *
 *   1. Grant. The block at `put` is full, and the owner goes on to the next. The ticket becomes
 *      k << SHIFT | entries, unless the owner takes from k itself.
 *   2. Steal. A thief lowers the ticket of one block by a batch, reads its entries, and adds the
 *      batch to `read`.
 *   3. Takeover. The block at `get` is empty, and the owner goes on to the next. It exchanges the
 *      ticket for one with 0 left. So many as were left are its own, at the block's end.
 *   4. Reuse. Block k may become k + BWOS_BLOCKS if the owner has left it, and `read` is what
 *      thieves took. Otherwise the queue is full.
 *
 * Invariants: get <= put < get + BWOS_BLOCKS. If get == put, [front, back) of it are full; else
 * [front, entries) of `get`, [0, back) of `put`, and the last `left` of each block between.
 * A ticket has entries left only while its number is in (get, put). read <= what thieves took.
 *
 * The price: what lies in `get` and `put` cannot be stolen, up to 2 * entries Gs.
 *
 * Order labels:
 *   BW1 release store of a ticket, the grant  pairs with  BW2 acquire load and CAS by thieves (the
 *       entries are visible, and `read` begins at 0)
 *   BW3 release addition to read    pairs with  BW4 acquire load of it, before the block is used
 *       again (its entries have been read before they are written)
 *   BW5 release store of get        pairs with  BW6 acquire load of it (put is not behind it)
 *   Tickets are exchanged relaxed at a takeover: thieves have written no entries. Entries are
 *   relaxed: BW1 or BW3 orders them, and most are their owner's alone.
 *
 * Source: derived from [Wang23], the FIFO queue.
 *   Same:    the ring of blocks, grant, takeover, and a number against the reuse of a block (ABA).
 *   Differs: thieves look for a granted block from the oldest on, and share no hint of where to
 *            begin. A thief takes a batch out of one block. Number and position are one word. The
 *            victim is not drawn by the length of its queue.
 *   Why:     there are few blocks; Go's thieves take half; which victim is the variant's choice.
 */
#ifndef SCHEDLAB_BWOS_H
#define SCHEDLAB_BWOS_H

#include "g.h"

enum { BWOS_BLOCKS = 8, BWOS_SHIFT = 16, BWOS_LEFT = (1 << BWOS_SHIFT) - 1 };

struct bwos_block {
    /* owner and thieves */
    _Alignas(64) _Atomic uint64_t ticket;
    _Atomic int64_t read;
    /* owner only: how many thieves had taken at the takeover */
    _Alignas(64) int64_t stolen;
};

struct bwos {
    /* written by the owner; others read them for a hint */
    _Alignas(64) _Atomic int64_t front, back;
    /* written by the owner when it changes a block */
    _Alignas(64) _Atomic uint64_t get, put;
    int64_t entries; /* constant: of each block */
    struct bwos_block block[BWOS_BLOCKS];
    _Atomic(struct g *) entry[]; /* those of block 0, then of block 1, ... */
};

static inline size_t bwos_size(int64_t entries)
{
    return sizeof(struct bwos) +
           (size_t)(BWOS_BLOCKS * entries) * sizeof(((struct bwos *)0)->entry[0]);
}

/* Pre: bwos_size(entries) bytes of zeros, and nobody uses them yet. */
static inline void bwos_init(struct bwos *bwos, int64_t entries)
{
    INVARIANT(entries > 0 && entries <= BWOS_LEFT);
    bwos->entries = entries;
}

static inline struct bwos_block *bwos_block(struct bwos *bwos, uint64_t k)
{
    return &bwos->block[k % BWOS_BLOCKS];
}

static inline _Atomic(struct g *) *bwos_entry(struct bwos *bwos, uint64_t k, int64_t i)
{
    return &bwos->entry[(int64_t)(k % BWOS_BLOCKS) * bwos->entries + i];
}

/* How many thieves may take out of block k. */
static inline int64_t bwos_left(uint64_t ticket, uint64_t k)
{
    return ticket >> BWOS_SHIFT == k ? (int64_t)(ticket & BWOS_LEFT) : 0;
}

/* Own words: only the owner writes these, and so it loads them relaxed. */
static inline uint64_t bwos_own_number(const _Atomic uint64_t *number)
{
    return atomic_load_explicit(number, memory_order_relaxed);
}

static inline int64_t bwos_own_place(const _Atomic int64_t *place)
{
    return atomic_load_explicit(place, memory_order_relaxed);
}

/* Owner, between operations: block k, while thieves take out of it. They lower the ticket before
 * they add to read, so it loads them in the other order. */
static inline bool bwos_block_is_valid(struct bwos *bwos, uint64_t k, uint64_t get, uint64_t put)
{
    struct bwos_block *block = bwos_block(bwos, k);
    int64_t read = atomic_load_explicit(&block->read, memory_order_acquire);
    uint64_t ticket = atomic_load_explicit(&block->ticket, memory_order_relaxed);
    int64_t left = bwos_left(ticket, k);
    bool granted = k > get && k < put;
    return HOLDS(!granted || ticket >> BWOS_SHIFT == k) && HOLDS(granted || left == 0) &&
           HOLDS(left <= bwos->entries) &&
           HOLDS(read >= 0 && read <= (granted ? bwos->entries - left : block->stolen));
}

/* Owner, between operations. */
static inline bool bwos_is_valid(struct bwos *bwos)
{
    uint64_t get = bwos_own_number(&bwos->get), put = bwos_own_number(&bwos->put);
    int64_t front = bwos_own_place(&bwos->front), back = bwos_own_place(&bwos->back);
    if (!HOLDS(get <= put && put - get < BWOS_BLOCKS) ||
        !HOLDS(front >= 0 && front <= bwos->entries) ||
        !HOLDS(back >= 0 && back <= bwos->entries) || !HOLDS(get != put || front <= back))
        return false;
    for (uint64_t k = get; k <= put; k++)
        if (!bwos_block_is_valid(bwos, k, get, put))
            return false;
    return true;
}

/* Putting ------------------------------------------------------------------------------------- */

/* Owner. Is the block behind `put` free? A free one stays free for it. */
static inline bool bwos_next_is_free(struct bwos *bwos)
{
    uint64_t next = bwos_own_number(&bwos->put) + 1;
    const struct bwos_block *block = bwos_block(bwos, next);
    return next - bwos_own_number(&bwos->get) < BWOS_BLOCKS &&
           atomic_load_explicit(&block->read, memory_order_acquire) == block->stolen; /* BW4 */
}

/* Owner: so many more can be put, and perhaps others behind those. */
static inline int64_t bwos_room(struct bwos *bwos)
{
    return bwos->entries - bwos_own_place(&bwos->back) +
           (bwos_next_is_free(bwos) ? bwos->entries : 0);
}

/* The block at `put` is full. */
static inline bool bwos_advance_put(struct bwos *bwos, bool *grants)
{
    uint64_t put = bwos_own_number(&bwos->put);
    if (!bwos_next_is_free(bwos))
        return false;
    struct bwos_block *next = bwos_block(bwos, put + 1);
    next->stolen = 0;
    /* relaxed: thieves come to it after its grant, BW1 */
    atomic_store_explicit(&next->read, 0, memory_order_relaxed);
    *grants = put != bwos_own_number(&bwos->get);
    if (*grants)
        atomic_store_explicit(&bwos_block(bwos, put)->ticket,
                              put << BWOS_SHIFT | (uint64_t)bwos->entries,
                              memory_order_release); /* BW1 */
    /* relaxed: a hint; and thieves are told of the block by its ticket */
    atomic_store_explicit(&bwos->back, 0, memory_order_relaxed);
    atomic_store_explicit(&bwos->put, put + 1, memory_order_relaxed);
    return true;
}

/* Owner. Is there room for one? It may have to go on to the next block for that. *grants: did it
 * leave one to thieves? */
static inline bool bwos_make_room(struct bwos *bwos, bool *grants)
{
    *grants = false;
    return bwos_own_place(&bwos->back) < bwos->entries || bwos_advance_put(bwos, grants);
}

/* Owner. Pre: it has made room. */
static inline void bwos_put(struct bwos *bwos, struct g *gp)
{
    int64_t back = bwos_own_place(&bwos->back);
    INVARIANT(gp);
    INVARIANT(back < bwos->entries);
    atomic_store_explicit(bwos_entry(bwos, bwos_own_number(&bwos->put), back), gp,
                          memory_order_relaxed); /* by BW1 */
    /* relaxed: a hint for others, who do not come to this entry before the grant */
    atomic_store_explicit(&bwos->back, back + 1, memory_order_relaxed);
    INVARIANT(bwos_is_valid(bwos));
}

/* Getting ------------------------------------------------------------------------------------- */

/* The block at `get` is empty, and not the one at `put`. True: thieves have left some of the next.
 */
static inline bool bwos_advance_get(struct bwos *bwos)
{
    uint64_t get = bwos_own_number(&bwos->get) + 1;
    struct bwos_block *block = bwos_block(bwos, get);
    bool granted = get != bwos_own_number(&bwos->put);
    int64_t front = 0;
    if (granted) {
        /* relaxed: the takeover, see above */
        uint64_t ticket =
            atomic_exchange_explicit(&block->ticket, get << BWOS_SHIFT, memory_order_relaxed);
        INVARIANT(ticket >> BWOS_SHIFT == get);
        front = block->stolen = bwos->entries - bwos_left(ticket, get);
    }
    atomic_store_explicit(&bwos->front, front, memory_order_relaxed); /* a hint for others */
    atomic_store_explicit(&bwos->get, get, memory_order_release);     /* BW5 */
    return granted && front < bwos->entries;
}

/* Owner. The oldest that no thief has taken, or NULL. *takeovers: counts those on the way. */
static inline struct g *bwos_get(struct bwos *bwos, uint64_t *takeovers)
{
    while (bwos_own_number(&bwos->get) != bwos_own_number(&bwos->put) &&
           bwos_own_place(&bwos->front) == bwos->entries)
        *takeovers += bwos_advance_get(bwos);
    uint64_t get = bwos_own_number(&bwos->get);
    int64_t front = bwos_own_place(&bwos->front);
    INVARIANT(bwos_is_valid(bwos));
    if (get == bwos_own_number(&bwos->put) && front == bwos_own_place(&bwos->back))
        return NULL;
    atomic_store_explicit(&bwos->front, front + 1, memory_order_relaxed); /* a hint for others */
    /* relaxed: the owner wrote it */
    return atomic_load_explicit(bwos_entry(bwos, get, front), memory_order_relaxed);
}

/* Stealing ------------------------------------------------------------------------------------ */

/* Takes a batch out of block k. */
static inline int64_t bwos_steal_block(struct bwos *bwos, uint64_t k, struct g **taken,
                                       int64_t most)
{
    struct bwos_block *block = bwos_block(bwos, k);
    int64_t left, n;
    uint64_t ticket = atomic_load_explicit(&block->ticket, memory_order_acquire); /* BW2 */
    do {
        left = bwos_left(ticket, k);
        n = left < most ? left : most;
        if (n == 0)
            return 0;
    } while (!atomic_compare_exchange_weak_explicit(&block->ticket, &ticket, ticket - (uint64_t)n,
                                                    memory_order_acquire,
                                                    memory_order_acquire)); /* BW2 */
    for (int64_t i = 0; i < n; i++)
        taken[i] = atomic_load_explicit(bwos_entry(bwos, k, bwos->entries - left + i),
                                        memory_order_relaxed);        /* by BW2 */
    atomic_fetch_add_explicit(&block->read, n, memory_order_release); /* BW3 */
    return n;
}

/* The first block that may be granted, and *end behind the last. Any thread. */
static inline uint64_t bwos_granted(struct bwos *bwos, uint64_t *end)
{
    uint64_t get = atomic_load_explicit(&bwos->get, memory_order_acquire); /* BW6 */
    *end = atomic_load_explicit(&bwos->put, memory_order_relaxed);         /* by BW6 */
    /* `get` may be old by now */
    return *end - get < BWOS_BLOCKS ? get + 1 : *end - BWOS_BLOCKS + 1;
}

/* Another thread: up to `most`, at least 1, out of the oldest block that has some; how many. */
static inline int64_t bwos_steal(struct bwos *bwos, struct g **taken, int64_t most)
{
    uint64_t end;
    INVARIANT(most > 0);
    for (uint64_t k = bwos_granted(bwos, &end); k < end; k++) {
        int64_t n = bwos_steal_block(bwos, k, taken, most);
        if (n > 0)
            return n;
    }
    return 0;
}

/* How many can be stolen. A hint; any thread. */
static inline int64_t bwos_stealable(struct bwos *bwos)
{
    int64_t n = 0;
    uint64_t end;
    /* relaxed: whoever must not miss a grant comes from a full fence (idle.c, I3) */
    for (uint64_t k = bwos_granted(bwos, &end); k < end; k++)
        n += bwos_left(atomic_load_explicit(&bwos_block(bwos, k)->ticket, memory_order_relaxed), k);
    return n;
}

/* How many there are. A hint; any thread; exact for an owner without thieves. */
static inline int64_t bwos_length(struct bwos *bwos)
{
    int64_t n = bwos_stealable(bwos) + bwos_own_place(&bwos->back) - bwos_own_place(&bwos->front);
    if (bwos_own_number(&bwos->get) != bwos_own_number(&bwos->put))
        n += bwos->entries;
    return n > 0 ? n : 0; /* the owner was at work meanwhile */
}

#endif
