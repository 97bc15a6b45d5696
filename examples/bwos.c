/* bwos - Go's scheduler, with block-based queues: owner and thieves work in different blocks.
 *
 * A ring of blocks, numbered from 0 on without end: number k lies in block k % BLOCKS. The owner
 * puts into block `put` and takes from block `get`, the oldest. The blocks between are granted:
 * thieves take from these, and from nowhere else. So the owner needs neither a fence nor a
 * read-modify-write for a goroutine, but only for a block.
 *
 *     schedlab build examples/bwos.c
 *     schedlab run ./bwos.slv gmp spawn,n=2000 --machine sim:server64 --workers 16
 *
 * Each block has a word for thieves, the ticket: number << SHIFT | how many are left for thieves.
 *
 *   1. Grant. The block at `put` is full, and the owner goes on to the next. The ticket becomes
 *      k << SHIFT | ENTRIES, unless the owner takes from k itself.
 *   2. Steal. A thief lowers the ticket of one block by a batch, reads its entries, and adds the
 *      batch to `read`.
 *   3. Takeover. The block at `get` is empty, and the owner goes on to the next. It exchanges the
 *      ticket for one with 0 left. So many as were left are its own, at the block's end.
 *   4. Reuse. Block k may become k + BLOCKS if the owner has left it, and `read` is what thieves
 *      took. Otherwise the queue is full.
 *
 * Invariants: get <= put < get + BLOCKS. If get == put, [front, back) of it are full; else
 * [front, ENTRIES) of `get`, [0, back) of `put`, and the last `left` of each block between.
 * A ticket has entries left only while its number is in (get, put).
 *
 * The price: what lies in `get` and `put` cannot be stolen, up to 2 * ENTRIES goroutines.
 *
 *   Same:    the ring of blocks, grant, takeover, and a number against the reuse of a block (ABA).
 *   Differs: thieves look for a granted block from the oldest on, and share no hint of where to
 *            begin. A thief takes a batch out of one block. Number and position are one word. The
 *            victim is runq.h's, not one drawn by the length of its queue.
 *   Why:     there are few blocks; runq.h asks for half; and the choice of a victim is no queue's.
 * Source: derived from [Wang23], the FIFO queue.
 */
#include "runq.h"

enum { BLOCKS = 8, ENTRIES = 32, SHIFT = 8, LEFT = (1 << SHIFT) - 1 };

_Static_assert(ENTRIES <= LEFT, "a ticket has room for all entries of a block");

struct block {
    /* owner and thieves. B1: release store of a grant, acquire load: the entries are visible */
    _Alignas(64) _Atomic uint64_t ticket;
    /* thieves add, the owner compares and resets. B2: release add, acquire load: they are read */
    _Atomic int64_t read;
    _Alignas(64) int64_t stolen; /* owner only: how many thieves had taken at the takeover */
    struct g *entry[ENTRIES];
};

struct bwos {
    /* written by the owner; others read them for a hint */
    _Alignas(64) _Atomic int64_t front, back;
    /* written by the owner when it changes a block. B3: release store, acquire load of `get`:
     * `put` is not behind it */
    _Alignas(64) _Atomic uint64_t get, put;
    struct block block[BLOCKS];
};

static struct block *bwos_block(struct bwos *bwos, uint64_t k)
{
    return &bwos->block[k % BLOCKS];
}

/* How many thieves may take out of block k. */
static int64_t ticket_left(uint64_t ticket, uint64_t k)
{
    return ticket >> SHIFT == k ? (int64_t)(ticket & LEFT) : 0;
}

/* Relaxed loads in put and get: only the owner writes these. */
static uint64_t own_number(_Atomic uint64_t *number)
{
    return atomic_load_explicit(number, memory_order_relaxed);
}

static int64_t own_place(_Atomic int64_t *place)
{
    return atomic_load_explicit(place, memory_order_relaxed);
}

/* The block at `put` is full. False: the one behind it is not free. */
static bool bwos_advance_put(struct bwos *bwos)
{
    uint64_t put = own_number(&bwos->put), get = own_number(&bwos->get);
    struct block *next = bwos_block(bwos, put + 1);
    if (put + 1 - get >= BLOCKS ||
        atomic_load_explicit(&next->read, memory_order_acquire) != next->stolen) /* B2 */
        return false;
    next->stolen = 0;
    /* relaxed: thieves come to it after its grant, B1 */
    atomic_store_explicit(&next->read, 0, memory_order_relaxed);
    if (put != get)
        atomic_store_explicit(&bwos_block(bwos, put)->ticket, put << SHIFT | ENTRIES,
                              memory_order_release); /* B1: grant */
    atomic_store_explicit(&bwos->back, 0, memory_order_relaxed);
    atomic_store_explicit(&bwos->put, put + 1, memory_order_release); /* B3 */
    return true;
}

static bool bwos_put(void *queue, struct g *gp)
{
    struct bwos *bwos = queue;
    if (own_place(&bwos->back) == ENTRIES && !bwos_advance_put(bwos))
        return false;
    int64_t back = own_place(&bwos->back);
    bwos_block(bwos, own_number(&bwos->put))->entry[back] = gp;
    /* relaxed: a hint for others, who do not come to this entry before the grant */
    atomic_store_explicit(&bwos->back, back + 1, memory_order_relaxed);
    return true;
}

/* The block at `get` is empty, and not the one at `put`. */
static void bwos_advance_get(struct bwos *bwos)
{
    uint64_t get = own_number(&bwos->get) + 1;
    struct block *block = bwos_block(bwos, get);
    int64_t front = 0;
    if (get != own_number(&bwos->put)) {
        /* relaxed: takeover; thieves have written no entries */
        uint64_t ticket =
            atomic_exchange_explicit(&block->ticket, get << SHIFT, memory_order_relaxed);
        INVARIANT(ticket >> SHIFT == get);
        front = block->stolen = ENTRIES - ticket_left(ticket, get);
    }
    atomic_store_explicit(&bwos->front, front, memory_order_relaxed); /* a hint for others */
    atomic_store_explicit(&bwos->get, get, memory_order_release);     /* B3 */
}

static struct g *bwos_get(void *queue)
{
    struct bwos *bwos = queue;
    while (own_number(&bwos->get) != own_number(&bwos->put) && own_place(&bwos->front) == ENTRIES)
        bwos_advance_get(bwos);
    uint64_t get = own_number(&bwos->get);
    int64_t front = own_place(&bwos->front);
    if (get == own_number(&bwos->put) && front == own_place(&bwos->back))
        return NULL;
    atomic_store_explicit(&bwos->front, front + 1, memory_order_relaxed); /* a hint for others */
    return bwos_block(bwos, get)->entry[front];
}

/* Takes a batch out of block k. */
static int64_t bwos_steal_block(struct block *block, uint64_t k, struct g **taken, int64_t most)
{
    int64_t left, n;
    uint64_t ticket = atomic_load_explicit(&block->ticket, memory_order_acquire); /* B1 */
    do {
        left = ticket_left(ticket, k);
        n = left < most ? left : most;
        if (n == 0)
            return 0;
    } while (!atomic_compare_exchange_weak_explicit(&block->ticket, &ticket, ticket - (uint64_t)n,
                                                    memory_order_acquire,
                                                    memory_order_acquire)); /* B1 */
    for (int64_t i = 0; i < n; i++)
        taken[i] = block->entry[ENTRIES - left + i];
    atomic_fetch_add_explicit(&block->read, n, memory_order_release); /* B2 */
    return n;
}

/* The first block that may be granted, and *end behind the last. */
static uint64_t bwos_granted(struct bwos *bwos, uint64_t *end)
{
    uint64_t get = atomic_load_explicit(&bwos->get, memory_order_acquire); /* B3 */
    *end = atomic_load_explicit(&bwos->put, memory_order_acquire);         /* B3 */
    /* `get` may be old by now */
    return *end - get < BLOCKS ? get + 1 : *end - BLOCKS + 1;
}

static int64_t bwos_steal(void *queue, struct g **taken, int64_t most)
{
    struct bwos *bwos = queue;
    uint64_t end;
    for (uint64_t k = bwos_granted(bwos, &end); k < end; k++) {
        int64_t n = bwos_steal_block(bwos_block(bwos, k), k, taken, most);
        if (n > 0)
            return n;
    }
    return 0;
}

static int64_t bwos_stealable(void *queue)
{
    struct bwos *bwos = queue;
    int64_t n = 0;
    uint64_t end;
    /* relaxed: a hint; whoever must not miss a grant comes from a full fence */
    for (uint64_t k = bwos_granted(bwos, &end); k < end; k++)
        n += ticket_left(atomic_load_explicit(&bwos_block(bwos, k)->ticket, memory_order_relaxed),
                         k);
    return n;
}

static int64_t bwos_length(void *queue)
{
    struct bwos *bwos = queue;
    int64_t n = bwos_stealable(queue) + own_place(&bwos->back) - own_place(&bwos->front);
    n = own_number(&bwos->get) == own_number(&bwos->put) ? n : n + ENTRIES;
    return n > 0 ? n : 0; /* the owner was at work meanwhile */
}

static const struct runq_ops bwos = {
    .size = sizeof(struct bwos),
    .put = bwos_put,
    .get = bwos_get,
    .steal = bwos_steal,
    .length = bwos_length,
    .stealable = bwos_stealable,
};

RUNQ_VARIANT(bwos, bwos, "M:N as in Go, with block-based queues: owner and thieves keep apart",
             "[Wang23]");
