/* deques.c - the work-stealing deque: its owner alone, with a thief that sleeps, with one that does
 * not, and the thief's side. */
#include "harness/micro/micro.h"

#include "deque.h"

enum { CAPACITY = 1024, BATCH = 512 };

/* Items are numbers from 1 on. */
static void *item_of(uint64_t i)
{
    return (void *)(uintptr_t)(i + 1);
}

static uint64_t sum_to(uint64_t n)
{
    return n % 2 ? (n + 1) / 2 * n : n / 2 * (n + 1);
}

/* Alone -------------------------------------------------------------------------------------- */

enum part { PART_PUSH, PART_POP, PART_STEAL };

static uint64_t take(struct deque *dq, enum part part)
{
    void *item = NULL;
    if (part == PART_STEAL)
        return deque_take(dq, &item) == DEQUE_STOLEN ? (uintptr_t)item : 0;
    return (uintptr_t)deque_pop(dq);
}

/* Fills and empties a deque again and again, and times one of the two. */
static inline __attribute__((always_inline)) void one_sided(struct micro *micro, enum part part)
{
    struct deque dq;
    uint64_t sum = 0;
    deque_init(&dq, CAPACITY);
    for (uint64_t done = 0; done < micro->n;) {
        uint64_t batch = micro->n - done < BATCH ? micro->n - done : BATCH;
        if (part == PART_PUSH)
            micro_start(micro);
        for (uint64_t i = 0; i < batch; i++)
            deque_push(&dq, item_of(done + i));
        if (part == PART_PUSH)
            micro_stop(micro);
        else
            micro_start(micro);
        for (uint64_t i = 0; i < batch; i++)
            sum += take(&dq, part);
        if (part != PART_PUSH)
            micro_stop(micro);
        done += batch;
    }
    micro_expect(micro, "as the sum of the items", sum, sum_to(micro->n));
    micro_expect(micro, "items left", (uint64_t)deque_size(&dq), 0);
    deque_fini(&dq);
}

static void push(struct micro *micro)
{
    one_sided(micro, PART_PUSH);
}

static void pop(struct micro *micro)
{
    one_sided(micro, PART_POP);
}

static void steal(struct micro *micro)
{
    one_sided(micro, PART_STEAL);
}

/* Owner and thief ---------------------------------------------------------------------------- */

struct pair {
    struct deque dq;
    _Alignas(64) _Atomic uint32_t state; /* enum state; futex */
    uint64_t stolen_sum, stolen;         /* the thief's, until it is joined */
};

enum state { STATE_BEGIN, STATE_THIEF_IS_THERE, STATE_OVER };

static uint32_t pair_state(struct pair *pair)
{
    return atomic_load_explicit(&pair->state, memory_order_acquire);
}

static void pair_tell(struct pair *pair, enum state state)
{
    atomic_store_explicit(&pair->state, state, memory_order_release);
    machine_wake(&pair->state, 1);
}

static void pair_wait_for_thief(struct pair *pair)
{
    while (pair_state(pair) == STATE_BEGIN)
        machine_wait(&pair->state, STATE_BEGIN, -1);
}

static bool steal_one(struct pair *pair)
{
    void *item;
    if (deque_take(&pair->dq, &item) != DEQUE_STOLEN)
        return false;
    pair->stolen_sum += (uintptr_t)item;
    pair->stolen++;
    return true;
}

/* Has been here once, so that the deque's lines were shared, and then sleeps. */
static void thief_sleeps(void *arg)
{
    struct pair *pair = arg;
    steal_one(pair);
    pair_tell(pair, STATE_THIEF_IS_THERE);
    while (pair_state(pair) != STATE_OVER)
        machine_wait(&pair->state, STATE_THIEF_IS_THERE, -1);
}

static void thief_hammers(void *arg)
{
    struct pair *pair = arg;
    pair_tell(pair, STATE_THIEF_IS_THERE);
    while (pair_state(pair) != STATE_OVER)
        steal_one(pair);
}

/* Pushes and pops n items; returns the sum of those popped. */
static uint64_t push_and_pop(struct deque *dq, uint64_t n)
{
    uint64_t sum = 0;
    for (uint64_t i = 0; i < n; i++) {
        deque_push(dq, item_of(i));
        sum += (uintptr_t)deque_pop(dq);
    }
    return sum;
}

static void push_pop(struct micro *micro)
{
    struct deque dq;
    uint64_t sum = 0;
    deque_init(&dq, CAPACITY);
    while (micro_more(micro, MICRO_BATCH))
        sum += push_and_pop(&dq, MICRO_BATCH);
    micro_expect(micro, "as the sum of the items", sum,
                 micro_done(micro) / MICRO_BATCH * sum_to(MICRO_BATCH));
    deque_fini(&dq);
}

/* how: the thief hammers, or sleeps. */
static void push_pop_beside(struct micro *micro)
{
    void (*thief)(void *) = micro->op->how ? thief_hammers : thief_sleeps;
    struct pair pair = {.state = STATE_BEGIN};
    struct micro_partner partner;
    deque_init(&pair.dq, CAPACITY);
    if (micro_partner_start(&partner, micro, thief, &pair)) {
        pair_wait_for_thief(&pair);
        micro_start(micro);
        uint64_t sum = push_and_pop(&pair.dq, micro->n);
        micro_stop(micro);
        pair_tell(&pair, STATE_OVER);
        micro_partner_join(&partner);
        micro_expect(micro, "as the sum of the items", sum + pair.stolen_sum, sum_to(micro->n));
    }
    deque_fini(&pair.dq);
}

/* Takes what another core has pushed; the owner rests meanwhile. */
struct crossing {
    struct micro *micro;
    struct pair pair;
};

static void crossing_thief(void *arg)
{
    struct crossing *crossing = arg;
    micro_start(crossing->micro);
    while (steal_one(&crossing->pair))
        continue;
    micro_stop(crossing->micro);
}

static void steal_across(struct micro *micro)
{
    struct crossing crossing = {.micro = micro};
    struct micro_partner partner;
    struct pair *pair = &crossing.pair;
    bool two_cores = true;
    deque_init(&pair->dq, CAPACITY);
    machine_pin(0);
    for (uint64_t done = 0; done < micro->n && two_cores;) {
        uint64_t batch = micro->n - done < BATCH ? micro->n - done : BATCH;
        for (uint64_t i = 0; i < batch; i++)
            deque_push(&pair->dq, item_of(done + i));
        two_cores = micro_partner_start(&partner, micro, crossing_thief, &crossing);
        if (two_cores)
            micro_partner_join(&partner);
        done += batch;
    }
    machine_pin(-1);
    if (two_cores) {
        micro_expect(micro, "items stolen", pair->stolen, micro->n);
        micro_expect(micro, "as the sum of the items", pair->stolen_sum, sum_to(micro->n));
    }
    deque_fini(&pair->dq);
}

const struct micro_op micro_deques[] = {
    {.name = "deque/push", .floor = "floor/store", .style = MICRO_TIMED, .run = push},
    {.name = "deque/pop", .floor = "floor/fence", .style = MICRO_TIMED, .run = pop},
    {.name = "deque/steal", .floor = "floor/cas", .style = MICRO_TIMED, .run = steal},
    {.name = "deque/push_pop", .floor = "floor/cas", .run = push_pop},
    {"deque/push_pop_idle_thief", "deque/push_pop", MICRO_TIMED, push_pop_beside, .how = false},
    {"deque/push_pop_busy_thief", "deque/push_pop", MICRO_TIMED, push_pop_beside, .how = true},
    {"deque/steal_across", "deque/steal", MICRO_TIMED, .run = steal_across},
    {0},
};
