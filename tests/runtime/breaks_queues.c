/* breaks_queues.c - ways to break the invariants of queues, deques and locks; see breaks.h. */
#include "breaks.h"
#include "runtime/faaq.h"
#include "runtime/inbox.h"
#include "runtime/lrq.h"
#include "runtime/mpmc.h"
#include "runtime/msqueue.h"

/* Locks --------------------------------------------------------------------------------------- */

BREAK(lock_released_while_free)
{
    lock_t lock = 0;
    lock_release(&lock);
}

static void qlock_once(uint32_t kind)
{
    struct qlock lock = {0};
    struct qlock_node node = {.kind = kind};
    qlock_release_other(&lock, &node);
}

BREAK(qlock_of_no_kind)
{
    struct qlock lock = {0};
    struct qlock_node node = {.kind = 77};
    qlock_acquire(&lock, &node);
}

BREAK(qlock_released_while_free)
{
    struct qlock lock = {0};
    struct qlock_node node = {.kind = QLOCK_TICKET};
    qlock_release(&lock, &node);
}

BREAK(ticket_released_while_free)
{
    qlock_once(QLOCK_TICKET);
}

BREAK(mcs_released_while_free)
{
    qlock_once(QLOCK_MCS);
}

BREAK(futex_released_while_free)
{
    qlock_once(QLOCK_FUTEX);
}

BREAK(spinbit_released_while_free)
{
    qlock_once(QLOCK_SPINBIT);
}

BREAK(mcs_taken_twice)
{
    struct qlock lock = {0};
    struct qlock_node node = {.kind = QLOCK_MCS};
    qlock_acquire(&lock, &node);
    qlock_acquire(&lock, &node);
}

/* Lists --------------------------------------------------------------------------------------- */

BREAK(gqueue_gets_its_tail_again)
{
    struct gqueue queue = {0};
    struct g *gp = some_g();
    gqueue_push(&queue, gp);
    gqueue_push(&queue, gp);
}

BREAK(gqueue_of_less_than_none)
{
    struct gqueue queue = {.size = -5};
    gqueue_push(&queue, some_g());
}

BREAK(gqueue_pop_counts_wrong)
{
    struct g *gp = some_g();
    struct gqueue queue = {gp, gp, 7};
    gqueue_pop(&queue);
}

BREAK(gqueue_without_its_tail)
{
    struct g *first = some_g(), *second = some_g();
    struct gqueue queue = {first, NULL, 2};
    first->link = second;
    gqueue_pop(&queue);
}

BREAK(gqueue_goes_on_behind_its_tail)
{
    struct g *first = some_g(), *second = some_g();
    struct gqueue queue = {first, second, 2};
    first->link = second;
    second->link = first;
    gqueue_pop(&queue);
}

BREAK(gfifo_gets_nothing)
{
    struct gfifo fifo = {0};
    gfifo_push(&fifo, NULL);
}

BREAK(gfifo_has_given_more_than_it_got)
{
    struct gfifo fifo = {.out = 5};
    gfifo_pop(&fifo);
}

BREAK(gfifo_lost_a_lane)
{
    struct gfifo fifo = {.in = 3};
    gfifo_push(&fifo, some_g());
}

BREAK(gfifo_lane_goes_on_behind_its_tail)
{
    struct gfifo fifo = {0}, none = {0};
    struct g *gp = some_g();
    gfifo_push(&fifo, gp);
    gp->link = gp;
    gfifo_append(&fifo, &none);
}

/* The global queue ---------------------------------------------------------------------------- */

BREAK(globq_published_without_its_lock)
{
    struct globq globq = {0};
    globq_publish(&globq);
}

BREAK(globq_push_without_the_lock)
{
    struct globq globq = {0};
    globq_push(SELF, &globq, some_g());
}

BREAK(globq_pop_from_a_wrong_size)
{
    struct globq globq = {.size = 3};
    globq_lock(SELF, &globq);
    globq_pop(&globq);
}

static struct mpmc mpmc;

BREAK(mpmc_gets_no_g)
{
    mpmc_put(SELF, &mpmc, NULL, true);
}

BREAK(mpmc_writes_over_a_g)
{
    mpmc.cells[0].gp = some_g();
    mpmc_put(SELF, &mpmc, some_g(), true);
}

BREAK(mpmc_gives_no_g)
{
    mpmc.cells[0].turn = 1;
    mpmc_get(&mpmc);
}

static struct msqueue msq;

BREAK(msq_gets_no_g)
{
    msq_init(&msq);
    msq_put(SELF, &msq, NULL);
}

BREAK(msq_gives_no_g)
{
    msq_init(&msq);
    msq_put(SELF, &msq, some_g());
    msq_node(&msq, 2)->gp = NULL;
    msq_get(&msq);
}

BREAK(msq_has_too_many_nodes)
{
    msq_make_block(&msq, MSQ_BLOCKS);
}

static struct faaq faaq;

BREAK(faaq_gets_no_g)
{
    faaq_init(&faaq);
    faaq_put(SELF, &faaq, NULL);
}

BREAK(faaq_writes_over_a_g)
{
    faaq_init(&faaq);
    faaq_block(&faaq, 0)->cell[0] = some_g();
    faaq_put(SELF, &faaq, some_g());
}

BREAK(faaq_takes_twice)
{
    faaq_init(&faaq);
    faaq_put(SELF, &faaq, some_g());
    faaq_get(&faaq);
    faaq.head = 0;
    faaq_get(&faaq);
}

BREAK(faaq_goes_back)
{
    faaq_init(&faaq);
    faaq.first = 7;
    faaq_make(&faaq, 6);
}

BREAK(globq_gets_no_batch)
{
    struct globq globq = {0};
    struct gfifo none = {0};
    globq_put_all(SELF, &globq, &none);
}

BREAK(globq_gets_a_batch_with_a_wrong_size)
{
    struct globq globq = {.size = 3};
    struct gfifo batch = {0};
    gfifo_push(&batch, some_g());
    globq_put_all(SELF, &globq, &batch);
}

BREAK(globq_with_gs_gets_a_ring)
{
    struct globq globq = {.size = 1};
    globq_add_ring(&globq);
}

BREAK(inbox_published_without_its_lock)
{
    struct inbox inbox = {.size = 0};
    inbox_publish(&inbox);
}

BREAK(inbox_lost_a_lane)
{
    struct inbox inbox = {.fifo = {.in = 3}};
    lock_acquire(&inbox.lock);
    inbox_publish(&inbox);
}

/* Local run queues ---------------------------------------------------------------------------- */

static struct lrq_knobs *knobs(void)
{
    return SCHED->knobs;
}

static struct lrq *mine(void)
{
    return SELF->p->variant;
}

/* gmp's is the first member of its state. */
static struct globq *all(void)
{
    return SCHED->variant;
}

static struct lrq *another(void)
{
    return lrq_new(knobs());
}

static void fill(struct lrq *lrq, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        lrq_put(SELF, lrq, all(), some_g(), false);
}

BREAK(lrq_of_no_power_of_two)
{
    knobs()->ring = 3;
    another();
}

BREAK(lrq_of_a_tick_without_room)
{
    knobs()->tick = 70000;
    another();
}

BREAK(lrq_special_without_a_cause)
{
    struct lrq *lrq = mine();
    lrq->special = true;
    lrq_put(SELF, lrq, all(), some_g(), false);
}

BREAK(lrq_gets_nothing)
{
    lrq_put(SELF, mine(), all(), NULL, false);
}

BREAK(lrq_gets_runnext_again)
{
    struct g *gp = some_g();
    lrq_put(SELF, mine(), all(), gp, true);
    lrq_put(SELF, mine(), all(), gp, false);
}

BREAK(lrq_fills_runnext_with_a_wrong_mask)
{
    mine()->mask = 4;
    lrq_put(SELF, mine(), all(), some_g(), true);
}

BREAK(lrq_put_while_it_runs_over_its_cap)
{
    mine()->next_runs = 5;
    lrq_put(SELF, mine(), all(), some_g(), false);
}

BREAK(lrq_overflows_without_memory_for_it)
{
    struct lrq *lrq = mine();
    fill(lrq, lrq->mask + 1);
    lrq->next_runs = 5;
    fill(lrq, 1);
}

BREAK(lrq_overflows_at_no_end)
{
    fill(mine(), mine()->mask + 1);
    knobs()->overflow_end = 9;
    fill(mine(), 1);
}

BREAK(lrq_holds_more_than_it_can)
{
    bool inherit;
    atomic_store(&mine()->tail, 100000);
    lrq_get(SELF, mine(), &inherit);
}

BREAK(lrq_has_an_empty_slot)
{
    bool inherit;
    atomic_store(&mine()->tail, 1);
    lrq_get(SELF, mine(), &inherit);
}

BREAK(lrq_has_runnext_without_the_knob)
{
    bool inherit;
    lrq_put(SELF, mine(), all(), some_g(), true);
    mine()->runnext_on = false;
    lrq_pick(SELF, mine(), all(), &inherit);
}

BREAK(lrq_knows_more_steps_than_victims)
{
    mine()->walk_steps = 9;
    lrq_drain(SELF, mine(), all());
}

BREAK(lrq_without_scratch)
{
    mine()->taken = NULL;
    walk_start(SELF, mine(), 1, 0, 0);
}

BREAK(lrq_pick_without_a_p)
{
    bool inherit;
    struct lrq *lrq = mine();
    SELF->p = NULL;
    lrq_pick(SELF, lrq, all(), &inherit);
}

BREAK(lrq_batch_of_none)
{
    struct lrq *lrq = another();
    globq_put(SELF, all(), some_g());
    knobs()->take = 0;
    lrq_get_global(SELF, lrq, all(), 1);
}

BREAK(lrq_batch_for_no_p)
{
    lrq_get_global(SELF, mine(), all(), 0);
}

BREAK(lrq_batch_has_no_room)
{
    fill(mine(), mine()->mask + 1);
    globq_put(SELF, all(), some_g());
    globq_put(SELF, all(), some_g());
    knobs()->take = TAKE_ALL;
    lrq_get_global(SELF, mine(), all(), 1);
}

BREAK(lrq_batch_from_a_wrong_size)
{
    atomic_store(&all()->size, 3);
    lrq_get_global(SELF, mine(), all(), 1);
}

BREAK(lrq_batch_leaves_it_wrong)
{
    globq_put(SELF, all(), some_g());
    mine()->next_runs = 5;
    lrq_get_global(SELF, mine(), all(), 1);
}

BREAK(lrq_steals_from_itself)
{
    lrq_steal(SELF, mine(), mine(), false, false);
}

BREAK(lrq_steals_beside_its_own)
{
    fill(mine(), 1);
    lrq_steal(SELF, mine(), another(), false, false);
}

BREAK(lrq_steals_no_share)
{
    struct lrq *victim = another();
    fill(victim, 1);
    knobs()->steal = 9;
    lrq_steal(SELF, mine(), victim, false, false);
}

BREAK(lrq_steals_into_a_wrong_one)
{
    struct lrq *victim = another();
    fill(victim, 4);
    mine()->next_runs = 5;
    lrq_steal(SELF, mine(), victim, false, false);
}

BREAK(walk_through_nobody)
{
    walk_start(SELF, mine(), 0, 0, 0);
}

BREAK(walk_beyond_its_end)
{
    struct walk walk = {.at = 2, .n = 2, .left = 1, .mine = mine()};
    uint32_t victim;
    walk_next(&walk, &victim);
}

BREAK(walk_draws_and_keeps_no_count)
{
    mine()->walk_n = 4;
    mine()->met = NULL;
    lrq_search_meets(mine(), 1);
}

/* Deques -------------------------------------------------------------------------------------- */

static struct deque *deque(void)
{
    struct deque *dq = aligned_alloc(64, sizeof *dq);
    memset(dq, 0, sizeof *dq);
    deque_init(dq, 4);
    return dq;
}

static struct deque_array *array_of(struct deque *dq)
{
    return atomic_load(&dq->array);
}

BREAK(deque_of_no_power_of_two)
{
    struct deque dq = {0};
    deque_init(&dq, 3);
}

BREAK(deque_gets_nothing)
{
    deque_push(deque(), NULL);
}

BREAK(deque_without_slots)
{
    struct deque *dq = deque();
    atomic_store(&dq->array, NULL);
    deque_reserve(dq, 1);
}

BREAK(deque_push_below_its_top)
{
    struct deque *dq = deque();
    atomic_store(&dq->top, 5);
    deque_push(dq, dq);
}

BREAK(deque_pop_of_more_than_fits)
{
    struct deque *dq = deque();
    atomic_store(&dq->bottom, 50);
    deque_pop(dq);
}

BREAK(deque_of_a_wrong_mask)
{
    struct deque *dq = deque();
    array_of(dq)->mask = 4;
    deque_push(dq, dq);
}

BREAK(deque_outgrew_a_larger_one)
{
    struct deque *dq = deque();
    array_of(dq)->retired = array_of(deque());
    deque_reserve(dq, 1);
}

BREAK(deque_of_a_negative_depth)
{
    struct deque *dq = deque();
    atomic_store(&dq->depth_max, -5);
    deque_grow(dq, 0, 0);
}

BREAK(deque_grows_without_a_size)
{
    deque_grow(deque(), 0, 1);
}

BREAK(deque_reserves_less_than_nothing)
{
    deque_reserve(deque(), -1);
}

BREAK(deque_sets_nothing)
{
    deque_set(deque(), 0, NULL);
}

BREAK(deque_sets_what_is_published)
{
    struct deque *dq = deque();
    deque_push(dq, dq);
    deque_set(dq, 0, dq);
}

BREAK(deque_sets_what_is_not_reserved)
{
    struct deque *dq = deque();
    deque_set(dq, 100, dq);
}

BREAK(deque_publishes_backwards)
{
    struct deque *dq = deque();
    deque_push(dq, dq);
    deque_publish(dq, 0);
}

BREAK(deque_publishes_more_than_fits)
{
    deque_publish(deque(), 50);
}

BREAK(deque_take_to_nowhere)
{
    struct deque *dq = deque();
    deque_push(dq, dq);
    deque_take(dq, NULL);
}

static struct deque *the(void)
{
    struct deque *dq = deque();
    deque_init_as(dq, DEQUE_THE, 4);
    return dq;
}

BREAK(deque_of_no_protocol)
{
    struct deque dq = {0};
    deque_init_as(&dq, (enum deque_kind)17, 4);
}

BREAK(the_without_slots)
{
    struct deque *dq = the();
    atomic_store(&dq->array, NULL);
    deque_reserve(dq, 1);
}

BREAK(the_of_a_wrong_mask)
{
    struct deque *dq = the();
    array_of(dq)->mask = 4;
    deque_reserve(dq, 1);
}

BREAK(the_keeps_what_it_outgrew)
{
    struct deque *dq = the();
    array_of(dq)->retired = array_of(the());
    deque_reserve(dq, 1);
}

BREAK(the_with_a_thief_far_ahead)
{
    struct deque *dq = the();
    atomic_store(&dq->top, 5);
    deque_reserve(dq, 1);
}

BREAK(the_pop_of_more_than_fits)
{
    struct deque *dq = the();
    atomic_store(&dq->bottom, 50);
    deque_pop(dq);
}

BREAK(the_was_empty_in_the_future)
{
    struct deque *dq = the();
    dq->empty_at = 3;
    deque_reserve(dq, 1);
}

BREAK(the_of_a_negative_depth)
{
    struct deque *dq = the();
    atomic_store(&dq->depth_max, -5);
    deque_reserve(dq, 1);
}

BREAK(the_owner_meets_two_thieves)
{
    struct deque *dq = the();
    dq->empty_at = -5;
    atomic_store(&dq->top, 1);
    deque_pop(dq);
}

BREAK(the_take_to_nowhere)
{
    struct deque *dq = the();
    deque_push(dq, dq);
    deque_take(dq, NULL);
}

static struct deque *abp(void)
{
    struct deque *dq = deque();
    deque_init_as(dq, DEQUE_ABP, 4);
    return dq;
}

BREAK(abp_without_slots)
{
    struct deque *dq = abp();
    atomic_store(&dq->array, NULL);
    deque_reserve(dq, 1);
}

BREAK(abp_of_a_wrong_mask)
{
    struct deque *dq = abp();
    array_of(dq)->mask = 4;
    deque_reserve(dq, 1);
}

BREAK(abp_outgrew_one)
{
    struct deque *dq = abp();
    array_of(dq)->retired = array_of(abp());
    deque_reserve(dq, 1);
}

BREAK(abp_below_its_top)
{
    struct deque *dq = abp();
    atomic_store(&dq->top, 5);
    deque_reserve(dq, 1);
}

BREAK(abp_pop_of_more_than_fits)
{
    struct deque *dq = abp();
    atomic_store(&dq->bottom, 50);
    deque_pop(dq);
}

BREAK(abp_of_a_negative_depth)
{
    struct deque *dq = abp();
    atomic_store(&dq->depth_max, -5);
    deque_reserve(dq, 1);
}

BREAK(abp_push_into_a_full_one)
{
    deque_reserve(abp(), 5);
}

BREAK(abp_take_to_nowhere)
{
    struct deque *dq = abp();
    deque_push(dq, dq);
    deque_take(dq, NULL);
}

BREAK(half_of_ones_own)
{
    struct deque *dq = deque();
    void *item;
    int64_t n;
    deque_init_as(dq, DEQUE_HALF, 4);
    deque_take_into(dq, dq, &item, &n);
}

BREAK(taken_into_one_of_another_kind)
{
    struct deque *dq = deque(), *own = deque();
    void *item;
    int64_t n;
    deque_init_as(own, DEQUE_HALF, 4);
    deque_take_into(dq, own, &item, &n);
}

BREAK(half_to_nowhere)
{
    struct deque *dq = deque(), *own = deque();
    int64_t n;
    deque_init_as(dq, DEQUE_HALF, 4);
    deque_init_as(own, DEQUE_HALF, 4);
    deque_push(dq, dq);
    deque_take_into(dq, own, NULL, &n);
}
