/* lone.c - see lone.h. This file is code under test, like the queues: its accesses are points. */
#include "harness/hunt/lone.h"

#include "harness/hunt/linear.h"
#include "machine/machine.h"
#include "runtime.h"
#include "runtime/chan.h"
#include "runtime/deque.h"
#include "runtime/lrq.h"

#include <string.h>

enum { STACK = 64 << 10, ITEMS = LONE_THREADS * LONE_OPERATIONS + 1, RING = 4, GROWN = 512 };

_Static_assert(LONE_THREADS + 1 <= LINEAR_THREADS, "the first thread takes what is left");
_Static_assert(LONE_THREADS *LONE_OPERATIONS <= LINEAR_ITEMS, "each operation may put an item");
_Static_assert(2 * (LONE_THREADS * LONE_OPERATIONS + 1) <= LINEAR_NOTES, "all are told");
_Static_assert(ITEMS <= 31, "a result is a set of items by bits, and LINEAR_LOST");

const char *const lone_words[] = {
#define LONE_WORD(name, word, what) word,
    LONE_QUEUES(LONE_WORD)
#undef LONE_WORD
        NULL};

/* P: put, T: take, by the owner of a deque; N: put into runnext, G: get; S: steal, or send; R:
 * receive. */
static const struct lone_script deque_scripts[] = {
    {{"PPTT", "SSSS", "SSSS"}}, {{"PTPT", "SSSS", "SSSS"}}, {{"PPPT", "SSSS", "SSSS"}}};
static const struct lone_script ring_scripts[] = {
    {{"PNGG", "SSSS", "SSSS"}}, {{"NNGG", "SSSS", "SSSS"}}, {{"NGPG", "SSSS", "SSSS"}}};
static const struct lone_script globq_scripts[] = {{{"PPGG", "PGPG", "GPGP"}}};
static const struct lone_script chan_scripts[] = {{{"SSSS", "RRRR", "SRSR"}}};

#define SCRIPTS(scripts)                                                                           \
    {                                                                                              \
        scripts, sizeof(scripts) / sizeof(scripts)[0]                                              \
    }
static const struct {
    const struct lone_script *script;
    int count;
} scripts_of[] = {SCRIPTS(deque_scripts), SCRIPTS(deque_scripts), SCRIPTS(deque_scripts),
                  SCRIPTS(deque_scripts), SCRIPTS(ring_scripts),  SCRIPTS(globq_scripts),
                  SCRIPTS(chan_scripts)};

static const enum deque_kind kind_of[LONE_COUNT] = {
    [LONE_THE] = DEQUE_THE, [LONE_ABP] = DEQUE_ABP, [LONE_HALF] = DEQUE_HALF};

/* State of an execution. Thread 0 takes what is left in the end. */
static struct deque deque, loot[LONE_THREADS + 1]; /* of each thief: half only */
static struct globq globq;
static struct lrq *ring[LONE_THREADS + 1];
static struct chan *chan;
static struct g *items;
static struct m m[LONE_THREADS + 1];
static struct sched sched;
static struct lrq_knobs knobs;
static struct lone lone; /* a copy: addresses of the host differ from run to run */

const struct lone_script *lone_scripts(enum lone_queue queue, int *count)
{
    *count = scripts_of[queue].count;
    return scripts_of[queue].script;
}

/* By bits; the last bit: it was there already. */
static uint32_t with(uint32_t taken, uintptr_t item)
{
    uint32_t bit = UINT32_C(1) << item;
    return taken & bit ? taken | LINEAR_LOST | 1 : taken | bit;
}

static uint32_t with_g(uint32_t taken, const struct g *gp)
{
    return gp ? with(taken, gp->id) : taken;
}

/* Letters of the scripts, for each queue ------------------------------------------------------- */

static void deque_does(int thread, char what, int item, uint64_t number)
{
    void *got = NULL;
    enum deque_steal stolen;
    (void)thread;
    switch (what) {
    case 'P':
        linear_begins(LINEAR_PUT, item, number);
        deque_push(&deque, (void *)(uintptr_t)item);
        linear_ends(0);
        break;
    case 'T':
        linear_begins(LINEAR_TAKE_BACK, 0, number);
        got = deque_pop(&deque);
        linear_ends(got ? with(0, (uintptr_t)got) : 0);
        break;
    default:
        linear_begins(LINEAR_STEAL, 0, number);
        stolen = deque_take(&deque, &got);
        linear_ends(stolen == DEQUE_STOLEN ? with(0, (uintptr_t)got)
                    : stolen == DEQUE_LOST ? LINEAR_LOST
                                           : 0);
    }
}

/* A thief keeps what it has stolen beside the first in a deque of its own. */
static void half_does(int thread, char what, int item, uint64_t number)
{
    void *got = NULL;
    int64_t n;
    if (what != 'S') {
        deque_does(thread, what, item, number);
        return;
    }
    linear_begins(LINEAR_STEAL_SHARE, 0, number);
    uint32_t taken = 0;
    if (deque_take_into(&deque, &loot[thread], &got, &n) == DEQUE_STOLEN)
        taken = with(0, (uintptr_t)got);
    while ((got = deque_pop(&loot[thread])))
        taken = with(taken, (uintptr_t)got);
    linear_ends(taken);
}

/* A thief keeps what it has stolen beside the first in a ring of its own. */
static void ring_does(int thread, char what, int item, uint64_t number)
{
    struct g *gp;
    uint32_t taken;
    bool inherit;
    switch (what) {
    case 'P':
    case 'N':
        linear_begins(what == 'N' ? LINEAR_PUT_NEXT : LINEAR_PUT, item, number);
        lrq_put(&m[thread], ring[1], &globq, &items[item], what == 'N');
        linear_ends(0);
        break;
    case 'G':
        linear_begins(LINEAR_TAKE_NEXT, 0, number);
        gp = lrq_get(&m[thread], ring[1], &inherit);
        linear_ends(with_g(0, gp));
        break;
    default:
        linear_begins(LINEAR_STEAL_SHARE, 0, number);
        taken = with_g(0, lrq_steal(&m[thread], ring[thread], ring[1], true, false));
        while ((gp = lrq_get(&m[thread], ring[thread], &inherit)))
            taken = with_g(taken, gp);
        linear_ends(taken);
    }
}

static void globq_does(int thread, char what, int item, uint64_t number)
{
    if (what == 'P') {
        linear_begins(LINEAR_PUT, item, number);
        globq_put(&m[thread], &globq, &items[item]);
        linear_ends(0);
    } else {
        linear_begins(LINEAR_TAKE_FRONT, 0, number);
        linear_ends(with_g(0, globq_get(&m[thread], &globq)));
    }
}

static void chan_does(int thread, char what, int item, uint64_t number)
{
    uint64_t elem = (uint64_t)item;
    (void)thread;
    if (what == 'S') {
        linear_begins(LINEAR_SEND, item, number);
        linear_ends(chan_try_send(chan, &elem));
    } else {
        linear_begins(LINEAR_TAKE_FRONT, 0, number);
        linear_ends(chan_try_recv(chan, &elem, NULL) ? with(0, elem) : 0);
    }
}

static void (*const does[])(int, char, int, uint64_t) = {
    deque_does, deque_does, deque_does, half_does, ring_does, globq_does, chan_does};

/* An execution -------------------------------------------------------------------------------- */

/* Takes what is left, by one thread alone. */
static uint32_t drain(void)
{
    uint32_t taken = 0;
    uint64_t elem;
    bool inherit;
    void *item;
    struct g *gp;
    switch (lone.queue) {
    case LONE_DEQUE:
    case LONE_THE:
    case LONE_ABP:
    case LONE_HALF:
        while ((item = deque_pop(&deque)))
            taken = with(taken, (uintptr_t)item);
        break;
    case LONE_RING:
        while ((gp = lrq_get(&m[0], ring[1], &inherit)))
            taken = with_g(taken, gp);
        break;
    case LONE_GLOBQ:
        while ((gp = globq_get(&m[0], &globq)))
            taken = with_g(taken, gp);
        break;
    default:
        while (chan_try_recv(chan, &elem, NULL))
            taken = with(taken, elem);
    }
    return taken;
}

static void thread_main(void *arg)
{
    int thread = (int)(uintptr_t)arg;
    const char *script = lone.script->of[thread - 1];
    for (int i = 0; i < lone.operations; i++)
        does[lone.queue](thread, script[i], (thread - 1) * LONE_OPERATIONS + i + 1,
                         (uint64_t)i + 1);
    explore_operation(0); /* nothing more */
}

/* The state of an execution is queues and links, not counts of what workers did. */

static void items_make(void)
{
    items = machine_alloc(ITEMS * sizeof *items, 64);
    for (uint32_t i = 0; i < ITEMS; i++) {
        items[i].id = i;
        explore_memory(&items[i].link, sizeof items[i].link);
    }
}

/* One half of a full ring goes to the global queue. */
static void ring_make(void)
{
    knobs = (struct lrq_knobs){.ring = RING, .runnext = 1, .steal = SHARE_HALF};
    sched.knobs = &knobs;
    for (int i = 1; i <= lone.threads; i++)
        ring[i] = lrq_new(&knobs);
    explore_memory(ring[1], sizeof *ring[1] + RING * sizeof ring[1]->slot[0]);
}

static void globq_make(void)
{
    for (int i = 0; i <= lone.threads; i++)
        m[i].sched = &sched;
    globq_init(&globq);
    explore_memory(&globq, sizeof globq);
    explore_lock(&globq.lock.word);
}

static void chan_make_it(void)
{
    chan = chan_make(sizeof(uint64_t), LONE_CAPACITY);
    explore_memory(chan, sizeof *chan + LONE_CAPACITY * sizeof(uint64_t));
    explore_lock(&chan->lock);
}

static void deque_make(enum deque_kind kind)
{
    for (int i = 2; kind == DEQUE_HALF && i <= lone.threads; i++)
        deque_init_as(&loot[i], DEQUE_HALF,
                      LONE_OPERATIONS); /* no state: empty between operations */
    /* last: its array grows into the memory behind */
    deque_init_as(&deque, kind, kind == DEQUE_ABP ? LONE_OPERATIONS : LONE_CAPACITY);
    explore_memory(&deque, sizeof deque);
    if (kind == DEQUE_THE || kind == DEQUE_HALF)
        explore_lock(&deque.lock);
    explore_memory(atomic_load_explicit(&deque.array, memory_order_relaxed), GROWN);
}

/* Thieves with the same script: they put nothing. */
static void threads_compare(void)
{
    for (int i = 1; lone.queue != LONE_CHAN && i < lone.threads; i++) {
        const char *a = lone.script->of[i - 1], *b = lone.script->of[i];
        size_t length = (size_t)lone.operations;
        if (strspn(a, "S") >= length && strspn(b, "S") >= length)
            explore_alike(i, i + 1);
    }
}

static void queue_make(void)
{
    switch (lone.queue) {
    case LONE_RING:
        items_make();
        globq_make();
        ring_make();
        break;
    case LONE_GLOBQ:
        items_make();
        globq_make();
        break;
    case LONE_CHAN:
        chan_make_it();
        break;
    default:
        deque_make(kind_of[lone.queue]);
    }
}

void lone_main(void *arg)
{
    struct machine_thread threads[LONE_THREADS];
    lone = *(const struct lone *)arg;
    queue_make();
    threads_compare();
    explore_others(true);
    for (int i = 0; i < lone.threads; i++)
        machine_thread_start(&threads[i], thread_main, (void *)(uintptr_t)(i + 1), STACK, -1);
    for (int i = 0; i < lone.threads; i++)
        machine_thread_join(&threads[i]);
    explore_others(false);
    linear_begins(LINEAR_DRAIN, 0, 0);
    linear_ends(drain());
}
