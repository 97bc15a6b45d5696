/* pdeque.h - a work-stealing deque of Gs per P, and a global FIFO queue for those that yield.
 *
 * tasksteal and contsteal share it, so that the two differ in policy only: which of parent and
 * child is queued. The knob deque says by which protocol all deques of the two work, those of tasks
 * and frames too. Owners take the newest (knob owner=lifo) or the oldest (fifo), thieves always
 * the oldest. A yielder goes to the global queue, since a LIFO owner would get it back at once;
 * every 61st dispatch looks there first, so that it cannot starve.
 *
 * A goroutine in the deque can starve. As long as newer ones come, a LIFO owner leaves it where it
 * is. A slice that ends does not help, since the preempted one waits elsewhere. Only a thief takes
 * it. The designs that this stands for have no bound either, so the default has none. With owner=N
 * each Nth goroutine that an owner takes is the oldest: of k in the deque the last runs after N k.
 */
#ifndef SCHEDLAB_PDEQUE_H
#define SCHEDLAB_PDEQUE_H

#include "gqueue.h"
#include "sched.h"

enum owner_order { OWNER_LIFO, OWNER_FIFO }; /* or N > 1: LIFO, but for each Nth */

struct pdeque_knobs {
    struct runtime_knobs runtime;
    int64_t deque; /* enum deque_kind */
    int64_t owner; /* enum owner_order, or N */
    int64_t tick;  /* poll the global queue first every that many dispatches; 0 never */
};

extern const char *const pdeque_kind_words[];
extern const char *const pdeque_owner_words[];

#define PDEQUE_KNOBS(o, k)                                                                         \
    PARAM_WORD(o, k.deque, pdeque_kind_words, DEQUE_CHASELEV,                                      \
               "[CL05]; the: [Frigo98]; abp: [Arora98]; half: [Hendler02]",                        \
               "how owner and thieves agree on who takes the last of a deque",                     \
               .detail = "chaselev: by a compare-and-swap of the thieves' end. the: thieves hold " \
                         "a lock, which the owner takes where it may meet one. abp: as chaselev, " \
                         "but in an array of 256 that does not wrap: what finds it full goes to "  \
                         "the global queue, or stays private in fork/join. half: as the, "         \
                         "but a thief takes half of what is there.",                               \
               KNOB_DECISIVE(STEALING, "DEQUE_LOCKS", "deque=the spawn,n=2000 4")),                \
        PARAM_NUMBER_OR(                                                                           \
            o, k.owner, OWNER_LIFO, 2, 1024, pdeque_owner_words, OWNER_LIFO, "takes", "[BL99]",    \
            "which goroutine an owner takes from its deque",                                       \
            .detail = "lifo: the newest, so that old ones can starve. fifo: the oldest. A "        \
                      "number: the oldest once in so many takes, else the newest. Children "       \
                      "of fork/join run newest first whatever it says, unless contsteal "          \
                      "has them as goroutines (frames=pooled).",                                   \
            KNOB_DECISIVE(QUEUES, "DEQUE_MAX", "owner=fifo spawn,n=1000,creators=16 4")),          \
        PARAM_NUMBER(o, k.tick, 61, 0, 1024, "dispatches", "Go 1.26 proc.go findRunnable",         \
                     "every how many dispatches a worker looks at the global queue first",         \
                     .detail =                                                                     \
                         "1: each time. 0: never first, so that the global queue can starve.",     \
                     KNOB_DECISIVE(QUEUES, "TICK_POLLS GRQ_HITS", NULL)),                          \
        RUNTIME_KNOBS(o, k.runtime)

/* sched_ops members; they use sched->variant and p->variant. */
void pdeque_init(struct sched *sched);
void pdeque_fini(struct sched *sched);
void pdeque_ready(struct m *m, struct g *gp, enum ready_how how);
struct g *pdeque_pick(struct m *m, bool *inherit);
bool pdeque_has_work(struct sched *sched);
bool pdeque_drain(struct m *m, struct p *p);
int64_t pdeque_queued(struct sched *sched, struct p *p);

/* One G from the oldest end of another P's deque, which may bring others along; each P is visited
 * once, from a random start. */
struct g *pdeque_steal(struct m *m);

#endif
