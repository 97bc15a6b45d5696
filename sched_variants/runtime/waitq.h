/* waitq.h - Gs that wait for one object: a FIFO list linked through the Gs themselves.
 *
 * Source: Go 1.26 runtime/runtime2.go sudog, waitq; runtime/sema.go semaRoot.
 *   Same:    first come, first served; a front insertion for those who come back.
 *   Differs: the G is the list node.
 *   Why:     a G waits for one object at a time, so its own link is free: parking allocates
 *            nothing, and a waker finds the G without another indirection.
 *
 * All functions want the object's lock held; the list belongs to that lock, and so do link,
 * wait_elem, wake_ok and wake_handed of every G on it.
 *
 * Parting. How a waiter and its waker leave each other, the same for all objects of chan.c, sync.c:
 *   waiter  1 fills in its wait fields and puts itself on the list, under the lock
 *           2 releases the lock: from here on it may be readied, even before it has parked
 *             (g.h, "off-stack")
 *           3 parks, and reads nothing but its own G and stack afterwards
 *   waker   1 takes the G off the list under the lock: nobody else can reach it now
 *           2 releases the lock: the last time that it touches the object
 *           3 writes the answer into the G and onto its stack, then calls g_ready()
 *           4 touches neither the G, nor its stack, nor the object again: the woken G may
 *             already have ended and freed all three
 * Step 3 needs no ordering of its own: g_ready() publishes it together with the G.
 * A select waits for many objects, with a proxy on each list: select.c says how these part.
 *   Rejected: readying under the lock. It takes queue locks and wakes threads, and whoever is woken
 *   would wait for that very lock.
 */
#ifndef SCHEDLAB_WAITQ_H
#define SCHEDLAB_WAITQ_H

#include "g.h"

static inline bool waitq_is_valid(const struct g *head, const struct g *tail)
{
    return HOLDS(!head || tail) && HOLDS(!head || !tail->link);
}

/* Is the list so long? Looks at some of it. */
static inline bool waitq_has(const struct g *head, uint32_t count)
{
    enum { LOOKS = 16 };
    for (uint32_t i = 0; i < LOOKS; i++, head = head->link)
        if (!head || i == count)
            return HOLDS(!head && i == count);
    return true;
}

static inline void waitq_push(struct g **head, struct g **tail, struct g *gp)
{
    INVARIANT(gp);
    INVARIANT(waitq_is_valid(*head, *tail));
    INVARIANT(!*head || gp != *tail);
    gp->link = NULL;
    if (*head)
        (*tail)->link = gp;
    else
        *head = gp;
    *tail = gp;
}

static inline void waitq_push_front(struct g **head, struct g **tail, struct g *gp)
{
    INVARIANT(waitq_is_valid(*head, *tail));
    INVARIANT(gp != *head);
    gp->link = *head;
    if (!*head)
        *tail = gp;
    *head = gp;
}

/* NULL if nobody waits. The tail of an empty list is stale and never read. */
static inline struct g *waitq_pop(struct g **head)
{
    struct g *gp = *head;
    if (gp)
        *head = gp->link;
    return gp;
}

/* The whole list, longest waiter first, linked through link. */
static inline struct g *waitq_take(struct g **head)
{
    struct g *list = *head;
    *head = NULL;
    return list;
}

/* Readies a list in its order. The lock is released; each G may be gone once it is readied. */
static inline void waitq_ready(struct g *list)
{
    while (list) {
        struct g *gp = list;
        list = gp->link;
        g_ready(gp);
    }
}

#endif
