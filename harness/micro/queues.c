/* queues.c - the queues that variants are built from, without workers around them: Go's ring
 * (lrq.h) and blocks in its place (bwos.h), the global FIFO (gqueue.h), and the deque with its
 * contract's clothes on (pdeque.h).
 *
 * The Gs are never run. Each is numbered by its place in the array, and every function checks that
 * exactly those that went in came out, in the queue's order.
 */
#include "harness/micro/micro.h"

#include "runtime/lrq.h"
#include "runtime/pdeque.h"

enum { RING = 256, VICTIMS = 16, OWNERS = 2 };

/* Gs that wait, and how to reach a queue of them. */
struct bench {
    struct micro_still still;
    struct g *gs; /* RING of them for each victim */
    struct gqueue list;
    struct globq *globq;
    struct lrq *lrq;
    struct m *owner; /* of the queue that is filled, where thieves steal */
};

static void bench_make(struct bench *bench, const char *variant)
{
    *bench = (struct bench){.lrq = NULL};
    micro_still_make(&bench->still, variant, OWNERS);
    bench->gs = sched_zalloc(VICTIMS * RING * sizeof *bench->gs, "g");
    bench->globq = sched_zalloc(sizeof *bench->globq, "grq.list");
    if (bench->still.spec.ops->check == lrq_check) /* else its knobs are of another kind */
        bench->lrq = lrq_new(bench->still.sched->knobs);
    bench->owner = bench->still.m;
}

static void bench_free(struct bench *bench)
{
    if (bench->lrq)
        lrq_free(bench->lrq);
    machine_free(bench->globq);
    machine_free(bench->gs);
    micro_still_free(&bench->still);
}

/* A queue under test. */
struct queue {
    const char *variant; /* whose knobs it has */
    void (*put)(struct bench *bench, struct g *gp);
    struct g *(*get)(struct bench *bench);
    bool lifo;
};

static void list_put(struct bench *bench, struct g *gp)
{
    gqueue_push(&bench->list, gp);
}

static struct g *list_get(struct bench *bench)
{
    return gqueue_pop(&bench->list);
}

static void global_put(struct bench *bench, struct g *gp)
{
    globq_put(bench->still.m, bench->globq, gp);
}

static struct g *global_get(struct bench *bench)
{
    return globq_get(bench->still.m, bench->globq);
}

static void ring_put(struct bench *bench, struct g *gp)
{
    lrq_put(bench->still.m, bench->lrq, bench->globq, gp, false);
}

static struct g *ring_get(struct bench *bench)
{
    bool inherit = false;
    return lrq_get(bench->still.m, bench->lrq, &inherit);
}

static void deque_put(struct bench *bench, struct g *gp)
{
    pdeque_ready(bench->owner, gp, READY_NEW);
}

static struct g *deque_get(struct bench *bench)
{
    bool inherit = false;
    return pdeque_pick(bench->still.m, &inherit);
}

static struct g *deque_steal_get(struct bench *bench)
{
    return pdeque_steal(bench->still.m);
}

static const struct queue list = {"gmp", list_put, list_get, false};
static const struct queue global = {"grq", global_put, global_get, false};
static const struct queue ring = {"gmp", ring_put, ring_get, false};
/* with room for RING wherever it begins in a block */
static const struct queue blocks = {"gmp,queue=bwos,ring=512", ring_put, ring_get, false};
static const struct queue own_deque = {"tasksteal", deque_put, deque_get, true};
static const struct queue stolen_deque = {"tasksteal", deque_put, deque_steal_get, false};

/* Fills and empties a queue again and again, and times one of the two. */
static inline __attribute__((always_inline)) void
one_sided(struct micro *micro, struct bench *bench, const struct queue *queue, bool time_put)
{
    struct g *got[RING];
    for (uint64_t done = 0; done < micro->n && !*micro->failure;) {
        uint64_t batch = micro->n - done < RING ? micro->n - done : RING;
        if (time_put)
            micro_start(micro);
        for (uint64_t i = 0; i < batch; i++)
            queue->put(bench, &bench->gs[i]);
        if (time_put)
            micro_stop(micro);
        else
            micro_start(micro);
        for (uint64_t i = 0; i < batch; i++)
            got[i] = queue->get(bench);
        if (!time_put)
            micro_stop(micro);
        for (uint64_t i = 0; i < batch; i++)
            if (got[i] != &bench->gs[queue->lifo ? batch - 1 - i : i])
                micro_fail(micro, "wrong result: the %s G came out as number %llu",
                           got[i] ? "wrong" : "missing", (unsigned long long)i);
        done += batch;
    }
    if (queue->get(bench))
        micro_fail(micro, "wrong result: more Gs came out than went in");
}

static inline __attribute__((always_inline)) void owned(struct micro *micro,
                                                        const struct queue *queue, bool time_put)
{
    struct bench bench;
    bench_make(&bench, queue->variant);
    one_sided(micro, &bench, queue, time_put);
    bench_free(&bench);
}

/* An operation of one owner: a queue, and which of the two is timed. */
#define OWNED(name, queue, time_put)                                                               \
    static void name(struct micro *micro)                                                          \
    {                                                                                              \
        owned(micro, &(queue), time_put);                                                          \
    }
OWNED(list_push, list, true)
OWNED(list_pop, list, false)
OWNED(globq_put_one, global, true)
OWNED(globq_get_one, global, false)
OWNED(lrq_put_one, ring, true)
OWNED(lrq_get_one, ring, false)
OWNED(bwos_put_one, blocks, true)
OWNED(bwos_get_one, blocks, false)
OWNED(pdeque_put_one, own_deque, true)
OWNED(pdeque_get_one, own_deque, false)

/* The slot for the newest G: put and get in turn. */
static void lrq_runnext(struct micro *micro)
{
    struct bench bench;
    bool inherit;
    uint64_t same = 0;
    bench_make(&bench, "gmp");
    while (micro_more(micro, MICRO_BATCH)) {
        for (int i = 0; i < MICRO_BATCH; i++) {
            lrq_put(bench.still.m, bench.lrq, bench.globq, bench.gs, true);
            same += lrq_get(bench.still.m, bench.lrq, &inherit) == bench.gs;
        }
    }
    micro_expect(micro, "Gs came back", same, micro_done(micro));
    bench_free(&bench);
}

/* Thieves ------------------------------------------------------------------------------------ */

/* P 1 belongs to an M of its own, which fills its deque; the M of P 0 steals. */
static void pdeque_steal_one(struct micro *micro)
{
    struct bench bench;
    bench_make(&bench, stolen_deque.variant);
    bench.owner = sched_zalloc(sizeof *bench.owner, "m");
    bench.owner->sched = bench.still.sched;
    bench.owner->p = bench.still.sched->allp[1];
    one_sided(micro, &bench, &stolen_deque, false);
    machine_free(bench.owner);
    bench_free(&bench);
}

/* Takes everything out of a ring; how many. Fails if a G is not one of gs[0..held), or twice. */
static uint64_t ring_drain(struct micro *micro, struct bench *bench, struct lrq *lrq,
                           const struct g *gs, bool *seen)
{
    bool inherit = false;
    uint64_t count = 0;
    for (struct g *gp; (gp = lrq_get(bench->still.m, lrq, &inherit)); count++) {
        ptrdiff_t i = gp - gs;
        if (i < 0 || i >= micro->arg || seen[i])
            micro_fail(micro, "wrong result: a G was found twice");
        else
            seen[i] = true;
    }
    return count;
}

/* After a steal: all of the victim's Gs are with one of the two, each once. */
static void steal_check(struct micro *micro, struct bench *bench, struct lrq *mine,
                        struct lrq *victim, const struct g *gs, const struct g *got)
{
    bool seen[RING] = {false};
    uint64_t held = (uint64_t)micro->arg;
    if (!got || got < gs || got >= gs + held) {
        micro_fail(micro, "wrong result: the thief got no G of its victim");
        return;
    }
    seen[got - gs] = true;
    uint64_t stolen = 1 + ring_drain(micro, bench, mine, gs, seen);
    uint64_t left = ring_drain(micro, bench, victim, gs, seen);
    micro_expect(micro, "Gs stolen", stolen, held - held / 2);
    micro_expect(micro, "Gs after the steal", stolen + left, held);
}

/* Half of a ring that holds micro->arg Gs; each thief has a ring of its own, so that several can
 * steal between two looks at the clock. */
static void lrq_steal_half(struct micro *micro)
{
    struct bench bench;
    struct lrq *mine[VICTIMS], *victim[VICTIMS];
    struct g *got[VICTIMS];
    bench_make(&bench, "gmp");
    struct m *m = bench.still.m;
    for (int v = 0; v < VICTIMS; v++) {
        mine[v] = lrq_new(bench.still.sched->knobs);
        victim[v] = lrq_new(bench.still.sched->knobs);
    }
    for (uint64_t done = 0; done < micro->n && !*micro->failure;) {
        uint64_t batch = micro->n - done < VICTIMS ? micro->n - done : VICTIMS;
        for (uint64_t v = 0; v < batch; v++)
            for (int64_t i = 0; i < micro->arg; i++)
                lrq_put(m, victim[v], bench.globq, &bench.gs[v * RING + (uint64_t)i], false);
        micro_start(micro);
        for (uint64_t v = 0; v < batch; v++)
            got[v] = lrq_steal(m, mine[v], victim[v], false, false);
        micro_stop(micro);
        for (uint64_t v = 0; v < batch; v++)
            steal_check(micro, &bench, mine[v], victim[v], &bench.gs[v * RING], got[v]);
        done += batch;
    }
    for (int v = 0; v < VICTIMS; v++) {
        lrq_free(mine[v]);
        lrq_free(victim[v]);
    }
    bench_free(&bench);
}

static const int64_t held[] = {1, 16, 256, 0};

const struct micro_op micro_queues[] = {
    {.name = "gqueue/push", .floor = "floor/store", .style = MICRO_TIMED, .run = list_push},
    {.name = "gqueue/pop", .floor = "floor/store", .style = MICRO_TIMED, .run = list_pop},
    {.name = "globq/put", .floor = "floor/xchg", .style = MICRO_TIMED, .run = globq_put_one},
    {.name = "globq/get", .floor = "floor/xchg", .style = MICRO_TIMED, .run = globq_get_one},
    {.name = "lrq/put", .floor = "floor/call", .style = MICRO_TIMED, .run = lrq_put_one},
    {.name = "lrq/get", .floor = "floor/cas", .style = MICRO_TIMED, .run = lrq_get_one},
    {.name = "lrq/runnext", .floor = "floor/xchg", .run = lrq_runnext},
    {"lrq/steal", "floor/cas", MICRO_TIMED, lrq_steal_half, .arg_name = "held", .args = held},
    {.name = "bwos/put", .floor = "floor/call", .style = MICRO_TIMED, .run = bwos_put_one},
    {.name = "bwos/get", .floor = "floor/call", .style = MICRO_TIMED, .run = bwos_get_one},
    {.name = "pdeque/put", .floor = "floor/call", .style = MICRO_TIMED, .run = pdeque_put_one},
    {.name = "pdeque/get", .floor = "floor/fence", .style = MICRO_TIMED, .run = pdeque_get_one},
    {.name = "pdeque/steal", .floor = "floor/cas", .style = MICRO_TIMED, .run = pdeque_steal_one},
    {0},
};
