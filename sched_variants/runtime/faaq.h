/* faaq.h - an unbounded FIFO of Gs whose users take tickets by fetch-and-add.
 *
 * Source: [Morrison13], the infinite array queue. Same: who comes adds 1 to an end. The old number
 * is a ticket, and the cell of that number has one writer and one reader. A writer puts its G by a
 * compare-and-swap from NULL, a reader exchanges what is there for TAKEN. A reader that was first
 * gets nothing, and both take their next tickets.
 *   Differs: the array is in blocks with numbers, of which those exist that are in use. The paper
 *            links rings (LCRQ), [Ramalhete16] blocks, and each has ends of its own.
 *   Why:     a ticket tells its block. So an end is one word. Nobody needs a hazard pointer, since
 *            a block stays until both users of each cell have been there.
 *
 * A ticket takes one step, however many want one. The price: a reader that is faster than the
 * writer of its cell spoils it. The two may go on like that, so neither has a bound of its own.
 *
 * Blocks: number n has the tickets from n * FAAQ_CELLS on. It is in the table at n % size, and the
 * table doubles if an older one is still there. The second user of a cell leaves it SPENT. Whoever
 * needs a block first makes it, under the lock, of one whose cells are all spent if there is any.
 * The writer in the middle of a block makes the next one, so that hardly anybody waits.
 * Memory: blocks for the most Gs at one time, two more, and one for each user that is stopped
 * between its ticket and its cell. While one is, the table gets a place for each block made. All
 * memory stays until the queue ends.
 *
 * Orders
 *   FQ1  release CAS of a cell, a put    pairs with  FQ2 acquire exchange, a get (the G)
 *   FQ3  release store of a number       pairs with  FQ4 acquire load of it (the cells are NULL)
 *   FQ5  release store of a place in a table, or of a table   pairs with  FQ6 acquire load of it
 * The ends are relaxed: they hand nothing over. So is SPENT: who reads it there writes the cell
 * next, and others come to the cell behind FQ4. A worker that asks if it is empty before it sleeps
 * has fenced (idle.c: S2 and I3). It asks for tickets: no reader has that of a G that waits.
 * Invariants, while the lock is free: a block whose cells are not all spent has a number >= first;
 * the number of each is less than first + the table's size.
 */
#ifndef SCHEDLAB_FAAQ_H
#define SCHEDLAB_FAAQ_H

#include "g.h"

enum { FAAQ_CELLS = 512, FAAQ_TABLE = 8 }; /* powers of two; the first table */

#define FAAQ_TAKEN ((struct g *)8)
#define FAAQ_SPENT ((struct g *)16)
#define FAAQ_NONE UINT64_MAX

struct faaq_block {
    _Atomic uint64_t number; /* FAAQ_NONE: it is free */
    struct faaq_block *all, *free;
    _Alignas(64) _Atomic(struct g *) cell[FAAQ_CELLS];
};

struct faaq_table {
    uint64_t mask;
    struct faaq_table *retired;
    _Atomic(struct faaq_block *) block[]; /* NULL: not made yet; another number: it has gone */
};

struct faaq {
    _Alignas(64) _Atomic uint64_t tail; /* tickets of writers */
    _Alignas(64) _Atomic uint64_t head; /* tickets of readers */
    _Alignas(64) _Atomic(struct faaq_table *) table;
    _Alignas(64) lock_t lock; /* for what is below, and for changes of the table and of numbers */
    uint64_t first;
    struct faaq_block *all, *free;
};

/* Out of line: that block, which it makes if nobody has. Pre: the caller has a ticket in it, which
 * keeps it. */
struct faaq_block *faaq_make(struct faaq *queue, uint64_t n);

/* Makes it for those to come, unless a writer has a ticket in it already: then it may have been
 * made, used and taken out since the caller looked. */
void faaq_make_ahead(struct faaq *queue, uint64_t n);
void faaq_init(struct faaq *queue);
void faaq_fini(struct faaq *queue);

/* How many tickets of writers have no reader: a hint while others put and take. */
static inline int64_t faaq_size(const struct faaq *queue)
{
    uint64_t tail = atomic_load_explicit(&queue->tail, memory_order_relaxed);
    int64_t size = (int64_t)(tail - atomic_load_explicit(&queue->head, memory_order_relaxed));
    return size > 0 ? size : 0; /* readers were faster */
}

static inline bool faaq_is_empty(const struct faaq *queue)
{
    return faaq_size(queue) == 0;
}

static inline struct faaq_block *faaq_block(struct faaq *queue, uint64_t n)
{
    struct faaq_table *table = atomic_load_explicit(&queue->table, memory_order_acquire); /* FQ6 */
    struct faaq_block *block =
        atomic_load_explicit(&table->block[n & table->mask], memory_order_acquire); /* FQ6 */
    if (block && atomic_load_explicit(&block->number, memory_order_acquire) == n)   /* FQ4 */
        return block;
    return faaq_make(queue, n);
}

/* The next ticket's cell at that end. */
static inline _Atomic(struct g *) *faaq_cell(struct faaq *queue, _Atomic uint64_t *end,
                                             uint64_t *ticket)
{
    *ticket = atomic_fetch_add_explicit(end, 1, memory_order_relaxed);
    return &faaq_block(queue, *ticket / FAAQ_CELLS)->cell[*ticket % FAAQ_CELLS];
}

/* Returns how many there are now, or 0: a look at the head takes its line from those who get. So it
 * looks at each of the first 64 tickets, and then at every 64th. */
static inline int64_t faaq_put(struct m *m, struct faaq *queue, struct g *gp)
{
    INVARIANT(gp);
    uint64_t ticket;
    sched_event_g(m, SCHED_PUT, gp, INTO_GLOBAL, 0);
    for (;;) {
        _Atomic(struct g *) *cell = faaq_cell(queue, &queue->tail, &ticket);
        struct g *old = NULL;
        if (atomic_compare_exchange_strong_explicit(cell, &old, gp, memory_order_release,
                                                    memory_order_relaxed)) /* FQ1 */
            break;
        INVARIANT(old == FAAQ_TAKEN);
        atomic_store_explicit(cell, FAAQ_SPENT, memory_order_relaxed); /* see above */
    }
    if (ticket % FAAQ_CELLS == FAAQ_CELLS / 2)
        faaq_make_ahead(queue, ticket / FAAQ_CELLS + 1);
    return ticket < 64 || ticket % 64 == 0 ? faaq_size(queue) : 0;
}

/* The oldest, or NULL. */
static inline struct g *faaq_get(struct faaq *queue)
{
    while (!faaq_is_empty(queue)) {
        uint64_t ticket;
        _Atomic(struct g *) *cell = faaq_cell(queue, &queue->head, &ticket);
        struct g *gp = atomic_exchange_explicit(cell, FAAQ_TAKEN, memory_order_acquire); /* FQ2 */
        INVARIANT(gp != FAAQ_TAKEN && gp != FAAQ_SPENT);
        if (gp) {
            atomic_store_explicit(cell, FAAQ_SPENT, memory_order_relaxed); /* see above */
            return gp;
        }
    }
    return NULL;
}

#endif
