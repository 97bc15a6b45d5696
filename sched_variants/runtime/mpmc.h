/* mpmc.h - a FIFO ring of Gs for many writers and many readers, without a lock.
 *
 * Source: [Vyukov10]. Same: who comes takes a ticket by one compare-and-swap of an end, then has a
 * cell to itself; a cell's turn says whose it is. Differs: a turn counts laps, so that all zero is
 * an empty ring.
 *
 * Writers and readers share no line but a cell's, and each end has a line of its own. The price: a
 * writer that holds a ticket and has not written yet hides all Gs behind its own. Readers then find
 * nothing. It is not empty either, so nobody goes to sleep over it: mpmc_is_empty() asks for
 * tickets, and not for what can be taken.
 *
 * Orders: a writer releases its cell at MQ1, a reader at MQ3, and the next user of either kind
 * acquires it at MQ2. So a reader gets all of the G, and the writer of the next lap finds the cell
 * left. The ends are relaxed: they hand nothing over. A worker that asks if it is empty before it
 * sleeps has fenced (idle.c: S2 and I3).
 * Invariants: a cell of lap n has the turn 2n while it is empty, and 2n + 1 while it has a G.
 */
#ifndef SCHEDLAB_MPMC_H
#define SCHEDLAB_MPMC_H

#include "g.h"

enum { MPMC_CELLS = 16384 }; /* a power of two */

struct mpmc {
    _Alignas(64) _Atomic uint64_t tail; /* tickets of writers */
    _Alignas(64) _Atomic uint64_t head; /* tickets of readers */
    _Alignas(64) struct mpmc_cell {
        _Atomic uint64_t turn;
        _Atomic(struct g *) gp; /* relaxed: its turn says whose it is, and hands it over */
    } cells[MPMC_CELLS];
};

/* All zero is an empty ring already; gives its parts their names. */
static inline void mpmc_init(struct mpmc *ring)
{
    machine_name(&ring->tail, sizeof ring->tail, "grq.tail");
    machine_name(&ring->head, sizeof ring->head, "grq.head");
    machine_name(ring->cells, sizeof ring->cells, "grq.cells");
}

/* How many tickets of writers have no reader: a hint while others put and take. */
static inline int64_t mpmc_size(const struct mpmc *ring)
{
    uint64_t tail = atomic_load_explicit(&ring->tail, memory_order_relaxed);
    int64_t size = (int64_t)(tail - atomic_load_explicit(&ring->head, memory_order_relaxed));
    return size > 0 ? size : 0; /* readers went on in between */
}

static inline bool mpmc_is_empty(const struct mpmc *ring)
{
    return mpmc_size(ring) == 0;
}

static inline struct mpmc_cell *mpmc_cell(struct mpmc *ring, uint64_t ticket)
{
    return &ring->cells[ticket % MPMC_CELLS];
}

/* The turn of a ticket's cell while its writer may write it; one more, and its reader may read. */
static inline uint64_t mpmc_turn(uint64_t ticket)
{
    return 2 * (ticket / MPMC_CELLS);
}

/* Takes the next ticket at that end, if its cell has the turn of its lap, plus full: 0 for writers,
 * 1 for readers. False if the cell is not there yet. */
static inline bool mpmc_ticket(struct mpmc *ring, _Atomic uint64_t *end, uint64_t full,
                               uint64_t *ticket)
{
    *ticket = atomic_load_explicit(end, memory_order_relaxed);
    for (;;) {
        uint64_t turn =
            atomic_load_explicit(&mpmc_cell(ring, *ticket)->turn, memory_order_acquire); /* MQ2 */
        int64_t ahead = (int64_t)(turn - mpmc_turn(*ticket) - full);
        if (ahead < 0)
            return false;
        if (ahead > 0) /* another one has that ticket */
            *ticket = atomic_load_explicit(end, memory_order_relaxed);
        else if (atomic_compare_exchange_weak_explicit(end, ticket, *ticket + 1,
                                                       memory_order_relaxed, memory_order_relaxed))
            return true;
    }
}

/* Results of mpmc_put() where there is no room, and where it did not look how many there are: a
 * look at the readers' end takes its line from them. It looks at each of the first 64 tickets, and
 * then at every 64th. */
enum { MPMC_FULL = -1, MPMC_UNSEEN = 0 };

/* Returns how many there are now, or one of these. tells: an event for it. */
static inline int64_t mpmc_put(struct m *m, struct mpmc *ring, struct g *gp, bool tells)
{
    INVARIANT(gp);
    uint64_t ticket;
    if (!mpmc_ticket(ring, &ring->tail, 0, &ticket))
        return MPMC_FULL;
    if (tells)
        sched_event_g(m, SCHED_PUT, gp, INTO_GLOBAL, 0);
    struct mpmc_cell *cell = mpmc_cell(ring, ticket);
    INVARIANT(!atomic_load_explicit(&cell->gp, memory_order_relaxed));
    atomic_store_explicit(&cell->gp, gp, memory_order_relaxed);
    atomic_store_explicit(&cell->turn, mpmc_turn(ticket) + 1, memory_order_release); /* MQ1 */
    return ticket < 64 || ticket % 64 == 0 ? mpmc_size(ring) : MPMC_UNSEEN;
}

/* The oldest, or NULL if there is none that can be taken. */
static inline struct g *mpmc_get(struct mpmc *ring)
{
    uint64_t ticket;
    if (!mpmc_ticket(ring, &ring->head, 1, &ticket))
        return NULL;
    struct mpmc_cell *cell = mpmc_cell(ring, ticket);
    struct g *gp = atomic_load_explicit(&cell->gp, memory_order_relaxed);
    INVARIANT(gp);
    atomic_store_explicit(&cell->gp, NULL, memory_order_relaxed);
    atomic_store_explicit(&cell->turn, mpmc_turn(ticket) + 2, memory_order_release); /* MQ3 */
    return gp;
}

#endif
