/* static - goroutines are dealt out to the workers in advance, in turn, and never move.
 *
 * The i-th goroutine belongs to worker i mod n for life or, with `block`, that many neighbours do.
 * Each worker has a FIFO queue that only others' wake-ups share with it; an idle worker stays idle,
 * whatever the others have queued.
 *
 * A goroutine that waits leaves its worker to the next one, as anywhere here. With wait=keep it
 * does not: the worker begins the next goroutine when this one has ended, as a pool of threads does
 * whose tasks block. Two that wait for each other on one worker then wait for ever, which is
 * reported as a deadlock. Main is not dealt out, and keeps nothing.
 *
 * With mailbox=mpsc it is a thread per core, as Seastar's shards are: a worker's list is its own
 * and has no lock, and others put what they have woken into its mailbox. It moves all mail to the
 * list's end before it takes the next one, and before one of its own yields. A wake-up is a
 * message, and a call into the kernel only if the worker sleeps. With deal=main besides, what a
 * connection's goroutine starts stays with it.
 *
 * Source: static partition ("fair scheduling") as in [GoBook]; mailboxes, [Enberg19].
 * Differs: Seastar has a bounded ring for each pair of cores, whose sender keeps what does not fit;
 *     here all senders push into one list without a bound. Seastar's cores poll; these sleep.
 *
 * Order labels:
 *   MB1  mail_push(): release half of the exchange of mail   pairs with   MB2  acquire exchange in
 *        mail_open() (the Gs and their links are visible to the worker)
 */
#include "runtime/gqueue.h"
#include "sched.h"

enum static_wait { WAIT_LEAVE, WAIT_KEEP };
enum static_mailbox { MAILBOX_LOCK, MAILBOX_MPSC };
enum static_deal { DEAL_TURN, DEAL_MAIN };

struct static_knobs {
    struct runtime_knobs runtime;
    int64_t block;
    int64_t wait;    /* enum static_wait */
    int64_t mailbox; /* enum static_mailbox */
    int64_t deal;    /* enum static_deal */
};

static const char *const wait_words[] = {"leave", "keep", NULL};
static const char *const mailbox_words[] = {"lock", "mpsc", NULL};
static const char *const deal_words[] = {"turn", "main", NULL};

static const struct param static_knobs[] = {
    PARAM_NUMBER(struct static_knobs, block, 1, 1, 1000000, "Gs", "[GoBook]",
                 "how many goroutines in a row are dealt to one worker",
                 KNOB_DECISIVE(QUEUES, "SLEEPS WAKEUPS", "block=100 spawn,n=1000 4")),
    PARAM_WORD(struct static_knobs, wait, wait_words, WAIT_LEAVE, "schedlab",
               "whether a goroutine that waits keeps its worker",
               .detail =
                   "leave: the next goroutine runs meanwhile. keep: the worker waits with it, "
                   "so that tasks which wait for later ones of the same worker never end.",
               KNOB_FINE(QUEUES, "SLEEPS", "wait=keep timers,n=20 4")),
    PARAM_WORD(struct static_knobs, mailbox, mailbox_words, MAILBOX_LOCK, "[Enberg19]",
               "how a worker gets what others have woken",
               .detail = "lock: in its list, behind a lock that it takes too. mpsc: in a mailbox "
                         "without a lock, and its list is its own.",
               KNOB_FINE(QUEUES, "SIM_L2_MISS", "mailbox=mpsc pingpong,rounds=100 2")),
    PARAM_WORD(struct static_knobs, deal, deal_words, DEAL_TURN, "[Enberg19]",
               "which goroutines are dealt out",
               .detail = "turn: all. main: those that main starts, and what these start stays on "
                         "their worker.",
               KNOB_DECISIVE(QUEUES, "WAKEUPS", "deal=main skynet,leaves=1000 4")),
    WATCH_KNOBS(struct static_knobs, runtime),
    SLEEP_KNOBS(struct static_knobs, runtime),
    COMMON_KNOBS(struct static_knobs, runtime),
    MUTEX_SPIN_KNOB(struct static_knobs, runtime),
    {0},
};

static const struct param_moot static_moot[] = {
    WATCH_MOOT,
    {"slice_ns", "preempt=none", "where no slice ends"},
    {0},
};

struct deal {
    _Atomic uint32_t next; /* number of the next new goroutine */
};

/* The goroutines dealt to a worker. Under the queue's lock; with mailbox=mpsc its worker's own. */
struct hand {
    struct globq queue;
    /* wait=keep. begun: a goroutine that has begun here and not ended; its worker's own */
    struct g *begun;
    struct g *back; /* it, once it can go on */
    /* mailbox=mpsc: anybody's; newest first, through g->link */
    _Alignas(64) _Atomic(struct g *) mail;
};

static void static_init(struct sched *sched)
{
    sched->variant = sched_zalloc(sizeof(struct deal), "sched");
    for (int32_t i = 0; i < sched->procs; i++) {
        struct hand *hand = sched_zalloc(sizeof *hand, "grq.list");
        globq_init(&hand->queue);
        machine_name(&hand->mail, sizeof hand->mail, "mailbox");
        sched->allp[i]->variant = hand;
    }
}

static bool static_keeps_worker(const struct sched *sched, const struct g *gp)
{
    const struct static_knobs *knobs = sched->knobs;
    return knobs->wait == WAIT_KEEP && !gp->big_stack; /* main's is */
}

/* gp->tag is its worker. The first new goroutine goes to worker 1: worker 0 has main. */
static void static_deal(struct m *m, struct g *gp)
{
    struct sched *sched = m->sched;
    const struct static_knobs *knobs = sched->knobs;
    struct deal *deal = sched->variant;
    if (knobs->deal == DEAL_MAIN && m->curg && !m->curg->big_stack) {
        gp->tag = m->p->id;
        return;
    }
    uint32_t number = atomic_fetch_add_explicit(&deal->next, 1, memory_order_relaxed);
    gp->tag = (int32_t)((number / (uint32_t)knobs->block + 1) % (uint32_t)sched->procs);
}

/* goes_on: it has begun and keeps the worker. Returns how many there are now. */
static int64_t hand_put(struct hand *hand, struct g *gp, bool goes_on)
{
    INVARIANT(gp != hand->back);
    if (goes_on)
        hand->back = gp;
    else
        gfifo_push(&hand->queue.fifo, gp);
    return gfifo_size(&hand->queue.fifo);
}

static int64_t hand_put_locked(struct hand *hand, struct g *gp, bool goes_on)
{
    lock_acquire(&hand->queue.lock.word);
    int64_t size = hand_put(hand, gp, goes_on);
    globq_publish(&hand->queue);
    lock_release(&hand->queue.lock.word);
    return size;
}

/* Any thread. The wake-up that follows it (N1 of note.h) is what its worker does not miss. */
static void mail_push(struct hand *hand, struct g *gp)
{
    /* relaxed: the exchange looks again */
    struct g *newest = atomic_load_explicit(&hand->mail, memory_order_relaxed);
    do
        gp->link = newest;
    while (!atomic_compare_exchange_weak_explicit(&hand->mail, &newest, gp, memory_order_release,
                                                  memory_order_relaxed)); /* MB1 */
}

/* Its worker. relaxed: who sleeps beside mail is woken for it. */
static int64_t mail_open(struct hand *hand)
{
    struct g *newest = NULL, *oldest = NULL;
    if (atomic_load_explicit(&hand->mail, memory_order_relaxed))
        newest = atomic_exchange_explicit(&hand->mail, NULL, memory_order_acquire); /* MB2 */
    while (newest) {
        struct g *next = newest->link;
        newest->link = oldest;
        oldest = newest;
        newest = next;
    }
    int64_t size = 0;
    while (oldest) {
        struct g *gp = oldest;
        oldest = gp->link;
        size = hand_put(hand, gp, gp == hand->begun);
    }
    return size;
}

/* mailbox=mpsc. relaxed: a hint for others. */
static void hand_publish(struct hand *hand)
{
    atomic_store_explicit(&hand->queue.size, gfifo_size(&hand->queue.fifo), memory_order_relaxed);
}

static void static_ready(struct m *m, struct g *gp, enum ready_how how)
{
    struct sched *sched = m->sched;
    const struct static_knobs *knobs = sched->knobs;
    if (how == READY_NEW)
        static_deal(m, gp);
    INVARIANT(gp->tag >= 0 && gp->tag < sched->procs);
    struct p *home = sched->allp[gp->tag];
    struct hand *hand = home->variant;
    int64_t size = 0;
    sched_event_g(m, SCHED_PUT, gp, INTO_WORKER, home->id);
    if (knobs->mailbox == MAILBOX_LOCK) {
        size = hand_put_locked(hand, gp, how != READY_NEW && static_keeps_worker(sched, gp));
    } else if (home != m->p) {
        mail_push(hand, gp);
    } else {
        if (how != READY_NEW && how != READY_WOKEN)
            mail_open(hand); /* it makes room for all that are here */
        size = hand_put(hand, gp, gp == hand->begun);
        hand_publish(hand);
    }
    stat_max(&m->stats, STAT_DEQUE_MAX, (uint64_t)size);
    if (home != m->p)
        m_block_wake(m, atomic_load_explicit(&home->m, memory_order_acquire)); /* P2 */
}

static int64_t static_queued(struct sched *sched, struct p *p)
{
    (void)sched;
    return p ? globq_size(&((struct hand *)p->variant)->queue) : 0;
}

/* The one that has begun, if it keeps its worker; NULL while that waits. */
static struct g *hand_take(struct sched *sched, struct hand *hand)
{
    if (hand->begun) {
        struct g *gp = hand->back;
        hand->back = NULL;
        return gp;
    }
    struct g *gp = gfifo_pop(&hand->queue.fifo);
    hand->begun = gp && static_keeps_worker(sched, gp) ? gp : NULL;
    return gp;
}

static struct g *hand_take_locked(struct sched *sched, struct hand *hand)
{
    struct globq *queue = &hand->queue;
    if (globq_is_empty(queue) && !hand->begun)
        return NULL;
    lock_acquire(&queue->lock.word);
    struct g *gp = hand_take(sched, hand);
    globq_publish(queue);
    lock_release(&queue->lock.word);
    return gp;
}

static struct g *hand_take_own(struct m *m, struct hand *hand)
{
    stat_max(&m->stats, STAT_DEQUE_MAX, (uint64_t)mail_open(hand));
    struct g *gp = hand_take(m->sched, hand);
    hand_publish(hand);
    return gp;
}

static struct g *static_pick(struct m *m, bool *inherit)
{
    (void)inherit;
    INVARIANT(m->p);
    const struct static_knobs *knobs = m->sched->knobs;
    struct hand *hand = m->p->variant;
    struct g *gp =
        knobs->mailbox == MAILBOX_LOCK ? hand_take_locked(m->sched, hand) : hand_take_own(m, hand);
    if (gp)
        stat_add(&m->stats, STAT_LOCAL_HITS, 1);
    sched_event(m, SCHED_TAKEN, gp, FROM_LOCAL, 0);
    return gp;
}

static void static_ended(struct m *m, struct g *gp)
{
    struct hand *hand = m->p->variant;
    INVARIANT(gp->tag == m->p->id);
    INVARIANT(hand->begun == gp || !static_keeps_worker(m->sched, gp));
    if (static_keeps_worker(m->sched, gp))
        hand->begun = NULL;
}

const struct sched_ops static_ops = {
    .name = "static",
    .idea = "tasks dealt out to the workers in turn, in advance; nothing moves",
    .source = "[GoBook] [Enberg19]",
    .knobs = static_knobs,
    .knobs_size = sizeof(struct static_knobs),
    .moot = static_moot,
    .forkjoin = FJ_GO,
    .blocks = true,
    .init = static_init,
    .ready = static_ready,
    .pick = static_pick,
    .ended = static_ended,
    .queued = static_queued,
};
