/* outside_queues.c - the queue of a variant from outside the tree (runq.h), beside Go's ring.
 *
 * Both are called in the same way, by a struct runq_ops: the ring has one here. A queue is filled
 * to half of what a new one takes, so that one made of blocks has room wherever it begins.
 * The Gs are never run. Every function checks that exactly those that went in came out; in which
 * order is the queue's own affair.
 */
#include "harness/micro/micro.h"

#include "harness/spec/outside.h"
#include "runtime/lrq.h"
#include "runtime/runq.h"

enum { GS = 2 * RUNQ_BATCH, VICTIMS = 16, WORKERS = 1 };

struct bench {
    struct micro_still still;
    const struct runq_ops *ops;
    struct g *gs; /* GS of them for each victim */
    struct globq *globq;
    uint64_t room; /* Gs that a queue is given at most */
};

/* The ring ----------------------------------------------------------------------------------- */

struct ring {
    struct bench *bench;
    struct lrq *lrq;
};

/* A G too many goes to the global queue, where room_find() sees it. */
static bool ring_put(void *queue, struct g *gp)
{
    struct ring *ring = queue;
    lrq_put(ring->bench->still.m, ring->lrq, ring->bench->globq, gp, false);
    return true;
}

static struct g *ring_get(void *queue)
{
    struct ring *ring = queue;
    bool inherit = false;
    return lrq_get(ring->bench->still.m, ring->lrq, &inherit);
}

/* Its steal takes half into another ring, so it has none of this form. */
static const struct runq_ops ring_ops = {
    .size = sizeof(struct ring), .put = ring_put, .get = ring_get};

/* Benches ------------------------------------------------------------------------------------- */

static void *queue_new(struct bench *bench)
{
    void *queue = sched_zalloc(bench->ops->size, "runq.queue");
    if (bench->ops == &ring_ops)
        *(struct ring *)queue = (struct ring){bench, lrq_new(bench->still.sched->knobs)};
    else if (bench->ops->init)
        bench->ops->init(queue);
    return queue;
}

static void queue_free(struct bench *bench, void *queue)
{
    if (bench->ops == &ring_ops)
        lrq_free(((struct ring *)queue)->lrq);
    else if (bench->ops->fini)
        bench->ops->fini(queue);
    machine_free(queue);
}

/* Half of the Gs that a new queue takes, at least one, at most RUNQ_BATCH. */
static uint64_t room_find(struct bench *bench)
{
    void *queue = queue_new(bench);
    uint64_t taken = 0;
    while (taken < GS && bench->ops->put(queue, &bench->gs[taken]) && globq_is_empty(bench->globq))
        taken++;
    for (uint64_t i = 0; i < GS && bench->ops->get(queue);)
        i++;
    while (globq_get(bench->still.m, bench->globq))
        continue;
    queue_free(bench, queue);
    return taken < 2 ? taken : taken / 2;
}

static void bench_make(struct bench *bench, struct micro *micro)
{
    *bench = (struct bench){.ops = outside_queue(micro->variant->ops)};
    micro_still_make(&bench->still, micro->variant->text, WORKERS);
    if (!bench->ops)
        bench->ops = &ring_ops;
    bench->gs = sched_zalloc(VICTIMS * GS * sizeof *bench->gs, "g");
    bench->globq = sched_zalloc(sizeof *bench->globq, "grq.list");
    bench->room = room_find(bench);
    if (bench->room == 0)
        micro_fail(micro, "wrong result: put() of an empty queue says that it is full");
}

static void bench_free(struct bench *bench)
{
    machine_free(bench->globq);
    machine_free(bench->gs);
    micro_still_free(&bench->still);
}

/* Fails if gp is not one of gs[0..held), or was seen before. */
static void see(struct micro *micro, const struct g *gs, uint64_t held, const struct g *gp,
                bool *seen)
{
    if (!gp || gp < gs || gp >= gs + held)
        micro_fail(micro, "wrong result: a G came out that had not gone in, or none at all");
    else if (seen[gp - gs])
        micro_fail(micro, "wrong result: a G came out twice");
    else
        seen[gp - gs] = true;
}

/* One owner ----------------------------------------------------------------------------------- */

enum { TIME_GET, TIME_PUT };

/* Fills and empties a queue again and again, and times one of the two. */
static void owned(struct micro *micro)
{
    bool time_put = micro->op->how == TIME_PUT;
    struct bench bench;
    struct g *got[GS];
    bench_make(&bench, micro);
    const struct runq_ops *ops = bench.ops;
    void *queue = queue_new(&bench);
    for (uint64_t done = 0, put; done < micro->n && !*micro->failure; done += put) {
        uint64_t batch = micro->n - done < bench.room ? micro->n - done : bench.room;
        bool seen[GS] = {false};
        if (time_put)
            micro_start(micro);
        for (put = 0; put < batch && ops->put(queue, &bench.gs[put]);)
            put++;
        if (time_put)
            micro_stop(micro);
        else
            micro_start(micro);
        for (uint64_t i = 0; i < put; i++)
            got[i] = ops->get(queue);
        if (!time_put)
            micro_stop(micro);
        for (uint64_t i = 0; i < put; i++)
            see(micro, bench.gs, put, got[i], seen);
        if (put < batch)
            micro_fail(micro, "wrong result: an empty queue has less room than a new one");
    }
    if (!*micro->failure && ops->get(queue))
        micro_fail(micro, "wrong result: more Gs came out than went in");
    queue_free(&bench, queue);
    bench_free(&bench);
}

/* Thieves ------------------------------------------------------------------------------------- */

/* As runq_steal_from() does: half, of which the last one runs and the others are queued. */
static struct g *half_steal(struct bench *bench, void *mine, void *victim)
{
    const struct runq_ops *ops = bench->ops;
    struct g *taken[RUNQ_BATCH];
    if (ops == &ring_ops)
        return lrq_steal(bench->still.m, ((struct ring *)mine)->lrq, ((struct ring *)victim)->lrq,
                         false, false);
    int64_t length = ops->stealable ? ops->stealable(victim) : ops->length(victim);
    int64_t most = length - length / 2;
    if (length <= 0)
        return NULL;
    int64_t n = ops->steal(victim, taken, most < RUNQ_BATCH ? most : RUNQ_BATCH);
    for (int64_t i = 0; i < n - 1; i++)
        ops->put(mine, taken[i]);
    return n > 0 ? taken[n - 1] : NULL;
}

/* After a steal: all of the victim's Gs are with one of the two, each once. */
static void steal_check(struct micro *micro, struct bench *bench, void *mine, void *victim,
                        const struct g *gs, const struct g *got)
{
    bool seen[GS] = {false};
    uint64_t held = (uint64_t)micro->arg, found = got != NULL;
    if (got)
        see(micro, gs, held, got, seen);
    for (int i = 0; i < 2; i++)
        for (struct g *gp; !*micro->failure && (gp = bench->ops->get(i ? victim : mine)); found++)
            see(micro, gs, held, gp, seen);
    micro_expect(micro, "Gs after the steal", found, held);
}

/* One steal each from VICTIMS queues, with micro->arg Gs each; how many took something. */
static uint64_t round_run(struct micro *micro, struct bench *bench, void **mine, void **victim,
                          uint64_t batch)
{
    struct g *got[VICTIMS];
    uint64_t stole = 0;
    for (uint64_t v = 0; v < batch; v++)
        for (int64_t i = 0; i < micro->arg; i++)
            bench->ops->put(victim[v], &bench->gs[v * GS + (uint64_t)i]);
    micro_start(micro);
    for (uint64_t v = 0; v < batch; v++)
        got[v] = half_steal(bench, mine[v], victim[v]);
    micro_stop(micro);
    for (uint64_t v = 0; v < batch; v++) {
        stole += got[v] != NULL;
        steal_check(micro, bench, mine[v], victim[v], &bench->gs[v * GS], got[v]);
    }
    return stole;
}

static void steal_half(struct micro *micro)
{
    struct bench bench;
    void *mine[VICTIMS], *victim[VICTIMS];
    uint64_t stole = 0, rounds = 0;
    bench_make(&bench, micro);
    bool fits = (uint64_t)micro->arg <= bench.room;
    for (int v = 0; v < VICTIMS; v++) {
        mine[v] = queue_new(&bench);
        victim[v] = queue_new(&bench);
    }
    for (uint64_t done = 0; fits && done < micro->n && !*micro->failure;) {
        uint64_t batch = micro->n - done < VICTIMS ? micro->n - done : VICTIMS;
        stole += round_run(micro, &bench, mine, victim, batch);
        rounds += batch;
        done += batch;
    }
    if (!fits)
        snprintf(micro->absence, sizeof micro->absence, "half of its queue holds %llu",
                 (unsigned long long)bench.room);
    else if (stole == 0)
        snprintf(micro->absence, sizeof micro->absence,
                 "a thief gets nothing of a queue that holds %lld", (long long)micro->arg);
    else
        micro_expect(micro, "steals took something", stole, rounds);
    for (int v = 0; v < VICTIMS; v++) {
        queue_free(&bench, mine[v]);
        queue_free(&bench, victim[v]);
    }
    bench_free(&bench);
}

/* Queues from outside, and where there is one, the variants with lrq's knobs: gmp and perm. */
static bool serves_queues(const struct sched_ops *ops)
{
    bool any = false;
    for (size_t i = 0; outside_variants[i]; i++)
        any |= outside_queue(outside_variants[i]) != NULL;
    return outside_queue(ops) || (any && ops->check == lrq_check);
}

static const int64_t held[] = {1, 16, 128, 0};

const struct micro_op micro_outside_queues[] = {
    {"queue/put", "floor/call", MICRO_TIMED, owned, .serves = serves_queues, .beside = "gmp",
     .how = TIME_PUT},
    {"queue/get", "floor/call", MICRO_TIMED, owned, .serves = serves_queues, .beside = "gmp",
     .how = TIME_GET},
    {"queue/steal", "floor/call", MICRO_TIMED, steal_half, .arg_name = "held", .args = held,
     .serves = serves_queues, .beside = "gmp"},
    {0},
};
