/* breaks_sync.c - ways to break the invariants of what goroutines wait for; see breaks.h. */
#include "breaks.h"
#include "runtime/chan.h"
#include "runtime/timer.h"

/* Lists of waiters ---------------------------------------------------------------------------- */

BREAK(waitq_gets_nobody)
{
    struct g *head = NULL, *tail = NULL;
    waitq_push(&head, &tail, NULL);
}

BREAK(waitq_without_its_tail)
{
    struct g *head = some_g(), *tail = NULL;
    waitq_push(&head, &tail, some_g());
}

BREAK(waitq_goes_on_behind_its_tail)
{
    struct g *head = some_g(), *tail = head;
    head->link = head;
    waitq_push_front(&head, &tail, some_g());
}

BREAK(waitq_gets_its_tail_again)
{
    struct g *head = NULL, *tail = NULL, *gp = some_g();
    waitq_push(&head, &tail, gp);
    waitq_push(&head, &tail, gp);
}

BREAK(waitq_gets_its_head_again)
{
    struct g *head = NULL, *tail = NULL, *gp = some_g();
    waitq_push(&head, &tail, gp);
    waitq_push_front(&head, &tail, gp);
}

/* Joins and wait groups ----------------------------------------------------------------------- */

static void ends_by_itself(void *arg)
{
    atomic_store((_Atomic uintptr_t *)arg, 1);
}

BREAK(join_finished_twice)
{
    static struct join join;
    join_go(&join, ends_by_itself, &join.state);
    gosched();
}

BREAK(join_of_no_function)
{
    static struct join join;
    join_go(&join, NULL, NULL);
}

BREAK(join_waited_for_by_two)
{
    struct join join = {.state = (uintptr_t)some_g()};
    join_wait(&join);
}

BREAK(waitgroup_counts_more_than_wait)
{
    struct waitgroup wg = {.state = UINT64_C(1) << 32 | 3};
    wg_wait(&wg);
}

BREAK(waitgroup_wakes_fewer_than_it_counts)
{
    struct waitgroup wg = {.state = UINT64_C(1) << 32 | 1};
    wg_done(&wg);
}

/* Mutexes ------------------------------------------------------------------------------------- */

enum { LOCKED = 1, WOKEN = 2, STARVING = 4, WAITER = 8 };

BREAK(mutex_starves_with_nobody)
{
    struct mutex mu = {.state = LOCKED | STARVING};
    mutex_unlock(&mu);
}

BREAK(mutex_starves_beside_one_awake)
{
    struct mutex mu = {.state = LOCKED | WOKEN | STARVING | WAITER};
    mutex_lock(&mu);
}

BREAK(mutex_waited_for_by_too_many)
{
    struct mutex mu = {.state = UINT32_MAX & ~(uint32_t)(WOKEN | STARVING)};
    mutex_lock(&mu);
}

BREAK(cond_wait_without_the_mutex)
{
    struct cond cond = {0};
    struct mutex mu = {0};
    cond_wait(&cond, &mu);
}

/* Semaphores and what is made of them --------------------------------------------------------- */

BREAK(sem_waits_uncounted)
{
    struct sem sem = {0};
    sem.head = sem.tail = some_g();
    sem_acquire(&sem);
}

BREAK(sem_wakes_whom_it_has_not)
{
    struct sem sem = {.state = UINT64_C(1) << 32};
    sem_release(&sem, false);
}

BREAK(once_does_nothing)
{
    struct once once = {0};
    once_do(&once, NULL, NULL);
}

BREAK(rwmutex_of_fewer_readers_than_none)
{
    struct rwmutex rw = {.readers = -5};
    rwmutex_lock(&rw);
}

BREAK(rwmutex_left_by_more_than_read)
{
    struct rwmutex rw = {.readers = -(1 << 30) - 3};
    rwmutex_read_unlock(&rw);
}

/* Channels ------------------------------------------------------------------------------------ */

static _Alignas(16) char elem[16];

BREAK(chan_of_more_than_it_has_room_for)
{
    struct chan *ch = chan_make(sizeof elem, 2);
    atomic_store(&ch->count, 9);
    chan_recv(ch, elem);
}

BREAK(chan_of_another_size)
{
    struct chan *ch = chan_make(sizeof elem, 2);
    ch->end = 64;
    chan_send(ch, elem);
}

BREAK(chan_free_of_a_full_one_that_is_not)
{
    struct chan *ch = chan_make(sizeof elem, 2);
    atomic_store(&ch->count, 9);
    chan_free(ch);
}

BREAK(chan_received_beyond_its_ring)
{
    struct chan *ch = chan_make(sizeof elem, 2);
    ch->recv_at = 800;
    chan_send(ch, elem);
}

BREAK(chan_sends_elsewhere_than_its_count_says)
{
    struct chan *ch = chan_make(sizeof elem, 4);
    ch->recv_at = sizeof elem;
    chan_send(ch, elem);
}

BREAK(chan_has_receivers_and_elements)
{
    struct chan *ch = chan_make(sizeof elem, 2);
    chan_send(ch, elem);
    chan_send(ch, elem);
    ch->recv_head = ch->recv_tail = fake_g();
    chan_recv(ch, elem);
}

BREAK(chan_has_senders_and_room)
{
    struct chan *ch = chan_make(sizeof elem, 2);
    ch->send_head = ch->send_tail = fake_g();
    chan_send(ch, elem);
}

BREAK(chan_has_senders_and_receivers)
{
    struct chan *ch = chan_make(sizeof elem, 0);
    ch->recv_head = ch->recv_tail = fake_g();
    ch->send_head = fake_g();
    ch->send_head->link = ch->send_tail = fake_g();
    chan_recv(ch, elem);
}

BREAK(chan_closes_wrong)
{
    struct chan *ch = chan_make(sizeof elem, 2);
    atomic_store(&ch->count, 9);
    chan_close(ch);
}

BREAK(chan_waits_wrong)
{
    struct chan *ch = chan_make(sizeof elem, 0);
    ch->send_at = 4;
    chan_recv(ch, elem);
}

BREAK(chan_waits_on_g0)
{
    struct chan *ch = chan_make(sizeof elem, 0);
    SELF->curg = NULL;
    chan_recv(ch, elem);
}

BREAK(chan_sends_from_nowhere)
{
    chan_send(chan_make(sizeof elem, 1), NULL);
}

BREAK(chan_sends_without_the_lock)
{
    chan_send_now(chan_make(sizeof elem, 1), elem, NULL, false);
}

BREAK(chan_receives_without_the_lock)
{
    chan_recv_now(chan_make(sizeof elem, 1), elem, NULL, false);
}

BREAK(chan_marked_without_the_lock)
{
    chan_mark(chan_make(sizeof elem, 1), CHAN_SELECT);
}

BREAK(chan_popped_without_a_look_at_proxies)
{
    struct chan *ch = chan_make(sizeof elem, 1);
    atomic_store(&ch->marks, CHAN_SELECT);
    chan_pop(ch, &ch->recv_head, false);
}

BREAK(chan_freed_under_a_select)
{
    struct chan *ch = chan_make(sizeof elem, 1);
    atomic_store(&ch->marks, CHAN_SELECT);
    chan_free(ch);
}

/* Selects ------------------------------------------------------------------------------------- */

static struct chan *channels[2];
static char received[16];

static void selects(void *arg)
{
    struct select_case cases[2];
    (void)arg;
    for (int i = 0; i < 2; i++)
        cases[i] = (struct select_case){channels[i], received, SELECT_RECV};
    chan_select(cases, 2, NULL);
}

/* A goroutine waits for both channels. */
static void select_begin(void)
{
    for (int i = 0; i < 2; i++)
        channels[i] = chan_make(sizeof elem, 0);
    go(selects, NULL);
    gosched();
}

static void select_end(void)
{
    chan_send(channels[1], elem);
    gosched();
}

BREAK(select_of_no_cases)
{
    chan_select(NULL, 2, NULL);
}

BREAK(select_proxy_that_nothing_leads_to)
{
    static struct g *nobody;
    select_begin();
    channels[0]->recv_head->sp = (void *)&nobody;
    select_end();
}

BREAK(select_proxy_on_an_empty_list)
{
    select_begin();
    channels[0]->recv_head = NULL;
    select_end();
}

BREAK(select_left_uncounted)
{
    select_begin();
    atomic_store(&channels[0]->marks, 0);
    select_end();
}

BREAK(select_popped_uncounted)
{
    struct chan *ch = chan_make(sizeof elem, 0);
    ch->send_head = ch->send_tail = fake_g();
    ch->send_head->wait_reason = WAIT_SELECT;
    chan_close(ch);
}

BREAK(select_leaves_a_wrong_channel)
{
    select_begin();
    atomic_store(&channels[0]->count, 9);
    select_end();
}

BREAK(select_unlocks_a_wrong_channel)
{
    struct select_case cases[2];
    for (int i = 0; i < 2; i++) {
        channels[i] = chan_make(sizeof elem, 0);
        cases[i] = (struct select_case){channels[i], received, SELECT_RECV};
    }
    channels[1]->end = 64;
    chan_try_select(cases, 2, NULL);
}

/* struct select as far as its orders. */
struct orders {
    const struct select_case *cases;
    uint16_t *poll, *lock;
    uint32_t count;
};

/* A select of two channels whose locks are held, the lower one first. */
static struct orders orders_of_two(void)
{
    static struct select_case cases[2];
    static uint16_t poll[2] = {1, 0}, lock[2] = {0, 1};
    for (int i = 0; i < 2; i++)
        channels[i] = chan_make(sizeof elem, 0);
    int low = (uintptr_t)channels[1] < (uintptr_t)channels[0];
    for (int i = 0; i < 2; i++) {
        cases[i] = (struct select_case){channels[i ^ low], received, SELECT_RECV};
        lock_acquire(&channels[i]->lock);
    }
    return (struct orders){cases, poll, lock, 2};
}

BREAK(select_of_more_cases_than_there_may_be)
{
    struct orders orders = orders_of_two();
    orders.count = SELECT_CASES_MAX + 1;
    select_unlock((struct select *)&orders);
}

BREAK(select_locks_out_of_order)
{
    struct orders orders = orders_of_two();
    orders.lock[0] = 1;
    orders.lock[1] = 0;
    select_unlock((struct select *)&orders);
}

BREAK(select_without_a_lock)
{
    struct orders orders = orders_of_two();
    lock_release(&channels[1]->lock);
    select_unlock((struct select *)&orders);
}

BREAK(select_looks_at_one_case_twice)
{
    struct orders orders = orders_of_two();
    orders.poll[0] = 0;
    select_unlock((struct select *)&orders);
}

BREAK(select_proxy_that_looks_like_a_g)
{
    select_begin();
    channels[0]->recv_head->wait_reason = WAIT_CHAN_RECV;
    select_end();
}

BREAK(select_proxy_of_another_select)
{
    select_begin();
    channels[0]->recv_head->wait_on = channels;
    select_end();
}

BREAK(select_proxy_for_another_element)
{
    select_begin();
    channels[0]->recv_head->wait_elem = elem;
    select_end();
}

static struct g *selecting(void)
{
    /* struct select begins with cases, poll_order, lock_order, count, gp */
    void **select = channels[0]->recv_head->wait_on;
    return select[4];
}

BREAK(select_woken_by_nobody)
{
    select_begin();
    g_ready(selecting());
    gosched();
}

BREAK(select_woken_by_a_stranger)
{
    select_begin();
    void **select = channels[0]->recv_head->wait_on;
    select[6] = fake_g(); /* winner */
    g_ready(selecting());
    gosched();
}

BREAK(select_that_does_not_wait)
{
    select_begin();
    selecting()->wait_reason = WAIT_MUTEX;
    chan_send(channels[0], elem);
}

/* Timers -------------------------------------------------------------------------------------- */

static const int64_t LATER = INT64_C(1) << 60;
static struct timer first, second;

static void fires(struct timer *timer, int64_t now)
{
    (void)timer;
    (void)now;
}

/* The first is armed, the second has been. */
static struct timers *timers_of_two(void)
{
    timer_init(&first, fires, NULL);
    timer_init(&second, fires, NULL);
    timer_arm(SELF, &first, LATER, 0);
    timer_arm(SELF, &second, LATER, 0);
    timer_disarm(&second);
    return SELF->p->timers;
}

BREAK(timer_of_no_function)
{
    timer_init(&first, NULL, NULL);
}

BREAK(timer_armed_without_a_p)
{
    timer_init(&first, fires, NULL);
    SELF->p = NULL;
    timer_arm(SELF, &first, LATER, 0);
}

BREAK(timer_armed_without_a_function)
{
    static struct timer timer;
    timer_arm(SELF, &timer, LATER, 0);
}

BREAK(timer_of_a_negative_period)
{
    timer_init(&first, fires, NULL);
    timer_arm(SELF, &first, LATER, -1);
}

BREAK(timer_disarmed_beyond_the_heap)
{
    timers_of_two();
    first.at = 99;
    timer_disarm(&first);
}

BREAK(timers_of_more_than_they_have_room_for)
{
    struct timers *timers = timers_of_two();
    timers->capacity = 0;
    timer_disarm(&second);
}

BREAK(timers_of_another_next)
{
    struct timers *timers = timers_of_two();
    atomic_store(&timers->next, 5);
    timers_add(SELF, fake_g(), LATER);
}

BREAK(timers_out_of_order)
{
    struct timers *timers = timers_of_two();
    timer_arm(SELF, &second, LATER, 0);
    timer_disarm(&first);
    timer_arm(SELF, &first, LATER, 0);
    ((int64_t *)timers->heap)[0] = LATER + 5;
    second.when = LATER + 5;
    timer_arm(SELF, &second, LATER + 5, 0);
}

BREAK(timers_hold_one_that_is_elsewhere)
{
    timers_of_two();
    first.at = 7;
    timer_arm(SELF, &second, LATER + 1, 0);
}

BREAK(timers_hold_one_that_is_due_before)
{
    timers_of_two();
    first.when = 5;
    timer_disarm(&second);
}

BREAK(timers_hold_one_of_another_heap)
{
    timers_of_two();
    atomic_store(&first.home, SCHED->timers + SCHED->heaps);
    timer_disarm_wait(&second);
}

BREAK(timers_serve_a_wrong_heap)
{
    struct timers *timers = timers_of_two();
    first.at = 7;
    atomic_store(&timers->next, 5);
    timers_run_heap(SELF, timers);
}

BREAK(timers_move_into_a_wrong_heap)
{
    struct timers *timers = timers_of_two();
    first.at = 7;
    timers_move(SCHED->timers + SCHED->heaps, timers);
}

BREAK(timers_get_nobody)
{
    timers_add(SELF, NULL, LATER);
}

BREAK(timers_run_without_a_p)
{
    struct timers *timers = SELF->p->timers;
    SELF->p = NULL;
    timers_run_heap(SELF, timers);
}

BREAK_IN(timers_of_others_where_workers_block, "static", 1, CALM)
{
    timers_run_others(SELF);
}

BREAK(timer_chan_of_no_timer)
{
    timer_chan(NULL);
}

BREAK(timer_func_of_no_function)
{
    timer_func(1, NULL, NULL);
}
