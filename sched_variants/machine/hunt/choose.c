/* choose.c - who goes on at a point.
 *
 *   random  Goes on with the same thread, or with any other one by a chance that is drawn for the
 *           whole execution: a half, an eighth, 1/32 or 1/128.
 *   pct     Threads have priorities, and the highest that can runs. At depth - 1 random points the
 *           thread that runs gets the lowest. Source: [Burckhardt10] PCT. Differs: who rests gets
 *           the lowest or a new one, since all would wait for it otherwise; time is a thread.
 *
 *   pos     Each access that a thread is about to make has a random priority, and the highest is
 *           made. It gets another one when an access that conflicts with it is made. Source:
 *           [Yuan18] POS.
 *   surw    Some words matter in an execution, a sixteenth of all. The thread to access one next
 *           is drawn by how many such accesses each still has, as other executions had them. All
 *           other points are as with random. Source: [Zhao25] SURW. Differs: the words are drawn.
 *   delay   The thread goes on, but at depth - 1 random points it is passed over. Source: [Emmi11].
 *
 * Without an algorithm the thread goes on for as long as it can, and then the next one by number.
 * All that differs from this is noted, and can be replayed as a list of switches.
 *
 * With words that have histories (weak.c) a load may read an older store than the newest, and a
 * store may come before newer ones. The chance is drawn for the execution: a quarter, 1/16, 1/64 or
 * 1/256. As with store buffers it is a hash of the seed, the thread and its moment, so that
 * it stays the same where other switches are left out.
 *
 * Where all that can run wait in spin loops, only time may end that. It goes on at half of such
 * points, in any algorithm. Not so beside work that an idle worker should see: oracle.c finds that.
 *
 * After half of the points that an execution may have, any algorithm is fair: threads take turns at
 * random. So what does not end then does not end because of unfairness.
 */
#include "kernel.h"

#include <string.h>

enum { WIDTH = HUNT_CLOCK + 1, FAIR_TURN = 16, CHANGES_MAX = 32 };
enum { CLOCK_ODDS = 16 }; /* of so many switches one lets time go on */

const char *const hunt_memory_words[] = {"sc", "tso", "weak", NULL};
const char *const hunt_algorithm_words[] = {"random", "pct", "pos", "surw", "delay", NULL};
enum { RANDOM, PCT, POS, SURW, DELAY };
enum { GROUPS = 16 }; /* of words, for surw */
_Static_assert(HUNT_DEPTH_MAX - 1 <= CHANGES_MAX, "each change has its place");

static struct {
    uint64_t state;                  /* of random numbers */
    uint64_t mask;                   /* random: switches where they are 0 under it */
    uint64_t priority[WIDTH], floor; /* pct */
    uint64_t change[CHANGES_MAX];    /* its points, rising */
    int changes, changed;
    size_t group;                       /* surw: of words that matter */
    int next_there;                     /* the thread that accesses one next; -1: to be drawn */
    uint64_t left[HUNT_THREADS_MAX];    /* how often each thread still does */
    uint64_t older_mask;                /* an older value is read where they are 0 under it */
    uint32_t older[HUNT_THREADS_MAX];   /* each thread's last moment of which that was asked */
    uint32_t next_of[HUNT_THREADS_MAX]; /* of the plan's switches, each thread's next, from 1 */
} choice;

static struct hunt_switch noted[HUNT_SWITCHES_MAX];
static uint32_t link_of[HUNT_SWITCHES_MAX]; /* of the plan's switches: the same thread's next */

/* Accesses of each thread to each group, in executions that measure. */
static uint64_t measured[HUNT_THREADS_MAX][GROUPS];

static uint64_t draw(uint64_t below)
{
    return (hunt_random(&choice.state) >> 32) * below >> 32;
}

/* Random points, rising. */
static void changes_begin(void)
{
    choice.changes = hunt_plan.depth - 1 < CHANGES_MAX ? hunt_plan.depth - 1 : CHANGES_MAX;
    for (int i = 0; i < choice.changes; i++) {
        uint64_t at = 1 + draw(hunt_plan.points_expected);
        int place = i;
        for (; place > 0 && choice.change[place - 1] > at; place--)
            choice.change[place] = choice.change[place - 1];
        choice.change[place] = at;
    }
}

static bool change_is_due(void)
{
    if (choice.changed == choice.changes || hunt.points < choice.change[choice.changed])
        return false;
    choice.changed++;
    return true;
}

static void priority_draw(int thread)
{
    choice.priority[thread] = UINT64_C(1) << 62 | hunt_random(&choice.state) >> 2;
}

static void pct_begin(void)
{
    for (int i = 0; i < WIDTH; i++)
        priority_draw(i);
    choice.floor = UINT64_C(1) << 32;
    choice.priority[HUNT_CLOCK] = 0;
    changes_begin();
}

static void surw_begin(void)
{
    choice.group = draw(GROUPS);
    choice.next_there = -1;
    for (int i = 0; i < HUNT_THREADS_MAX; i++)
        choice.left[i] = measured[i][choice.group] / HUNT_MEASURES;
}

/* Switches of one thread are in the order of its moments. */
static void replay_begin(void)
{
    for (size_t i = hunt_plan.switch_count; i-- > 0;) {
        uint32_t *next = &choice.next_of[hunt_plan.switches[i].thread];
        link_of[i] = *next;
        *next = (uint32_t)i + 1;
    }
}

static uint64_t older_mask(void)
{
    uint64_t state = ~hunt_plan.seed;
    return (UINT64_C(4) << 2 * (hunt_random(&state) >> 62)) - 1;
}

void choose_begin(void)
{
    memset(&choice, 0, sizeof choice);
    choice.state = hunt_plan.seed;
    choice.older_mask = older_mask();
    hunt.outcome.switches = noted;
    if (hunt_plan.algorithm == RANDOM || hunt_plan.algorithm == SURW)
        choice.mask = (2u << 2 * draw(4)) - 1;
    if (hunt_plan.algorithm == PCT)
        pct_begin();
    for (int i = 0; hunt_plan.algorithm == POS && i < HUNT_THREADS_MAX; i++)
        priority_draw(i);
    if (hunt_plan.algorithm == SURW)
        surw_begin();
    if (hunt_plan.algorithm == DELAY)
        changes_begin();
    replay_begin();
}

static int lowest(uint64_t set)
{
    return __builtin_ctzll(set);
}

/* The n-th of the set, from 0. */
static int member(uint64_t set, uint64_t n)
{
    for (; n > 0; n--)
        set &= set - 1;
    return lowest(set);
}

static int any_of(uint64_t ready)
{
    return member(ready, draw((uint64_t)__builtin_popcountll(ready)));
}

static bool self_can(uint64_t ready)
{
    return ready & thread_bit(hunt.self);
}

/* The next thread by number, of a set. */
static int thread_above(uint64_t set, int thread)
{
    uint64_t above = set & ~(((UINT64_C(1) << thread) << 1) - 1);
    return lowest(above ? above : set);
}

static int next_by_number(uint64_t ready)
{
    int self = hunt.self->index;
    return self_can(ready) ? self : thread_above(ready, self);
}

static int next_random(uint64_t ready, bool clock)
{
    if (self_can(ready) && (hunt_random(&choice.state) & choice.mask))
        return hunt.self->index;
    if (clock && draw(CLOCK_ODDS) == 0)
        return HUNT_CLOCK;
    return any_of(ready);
}

static int next_pct(uint64_t ready, bool clock)
{
    if (change_is_due()) {
        int lowered = clock && draw(4) == 0 ? HUNT_CLOCK : hunt.self->index;
        choice.priority[lowered] = lowered == HUNT_CLOCK ? UINT64_MAX : choice.floor--;
    }
    int best = clock ? HUNT_CLOCK : lowest(ready);
    for (uint64_t left = ready; left; left &= left - 1)
        if (choice.priority[lowest(left)] > choice.priority[best])
            best = lowest(left);
    if (best == HUNT_CLOCK)
        choice.priority[HUNT_CLOCK] = 0;
    return best;
}

static bool conflicts(const struct sim_thread *a, const struct sim_thread *b)
{
    return a->address && a->address == b->address &&
           (a->access == SIM_WRITE || b->access == SIM_WRITE);
}

static int next_pos(uint64_t ready, bool clock)
{
    priority_draw(hunt.self->index);
    if (clock && draw(CLOCK_ODDS) == 0)
        return HUNT_CLOCK;
    int best = lowest(ready);
    for (uint64_t left = ready; left; left &= left - 1)
        if (choice.priority[lowest(left)] > choice.priority[best])
            best = lowest(left);
    for (uint64_t left = hunt.ready & ~(UINT64_C(1) << best); left; left &= left - 1)
        if (conflicts(&hunt.thread[best], &hunt.thread[lowest(left)]))
            priority_draw(lowest(left));
    return best;
}

static size_t group_of(const struct sim_thread *thread)
{
    return thread->address ? seen_place(thread->address) % GROUPS : GROUPS;
}

/* Draws who accesses a word that matters next. */
static void draw_next_there(uint64_t ready)
{
    uint64_t sum = 0;
    for (uint64_t left = ready; left; left &= left - 1)
        sum += choice.left[lowest(left)] + 1;
    uint64_t drawn = draw(sum);
    for (uint64_t left = ready; left; left &= left - 1) {
        choice.next_there = lowest(left);
        uint64_t share = choice.left[choice.next_there] + 1;
        if (drawn < share)
            return;
        drawn -= share;
    }
}

static int next_surw(uint64_t ready, bool clock)
{
    uint64_t may = ready;
    if (choice.next_there < 0 || !(ready >> choice.next_there & 1))
        draw_next_there(ready);
    for (uint64_t left = ready; left; left &= left - 1)
        if (lowest(left) != choice.next_there &&
            group_of(&hunt.thread[lowest(left)]) == choice.group)
            may &= ~(UINT64_C(1) << lowest(left));
    int next = next_random(may, clock);
    if (next == choice.next_there && group_of(&hunt.thread[next]) == choice.group) {
        choice.left[next] -= choice.left[next] > 0;
        choice.next_there = -1;
    }
    return next;
}

static int next_delay(uint64_t ready, bool clock)
{
    if (!change_is_due())
        return next_by_number(ready);
    if (clock && draw(4) == 0)
        return HUNT_CLOCK;
    return thread_above(ready, hunt.self->index);
}

/* The thread's next switch, if this is its moment. One that cannot be made is passed over: where
 * others were left out, threads may do something else. */
static int next_replayed(uint64_t ready, bool clock)
{
    uint32_t *place = &choice.next_of[hunt.self->index];
    for (; *place; *place = link_of[*place - 1]) {
        const struct hunt_switch *at = &hunt_plan.switches[*place - 1];
        if (at->at > hunt.self->at || (at->at == hunt.self->at && at->to > HUNT_CLOCK))
            break;
        bool can = at->to == HUNT_CLOCK ? clock : (ready >> at->to & 1) != 0;
        if (at->at < hunt.self->at || !can)
            continue;
        *place = link_of[*place - 1];
        return at->to;
    }
    return next_by_number(ready);
}

static void note(int to, bool away)
{
    if (hunt.outcome.switch_count == HUNT_SWITCHES_MAX)
        return;
    noted[hunt.outcome.switch_count++] = (struct hunt_switch){
        .at = hunt.self->at,
        .thread = (uint8_t)hunt.self->index,
        .to = (uint8_t)to,
        .away = away,
        .events = events_so_far(),
        .pc = hunt.self->pc,
        .to_pc = to < HUNT_CLOCK ? hunt.thread[to].pc : 0,
    };
}

static int next_by_algorithm(uint64_t ready, bool clock, bool all_rest)
{
    if (hunt_plan.algorithm >= 0 && all_rest && clock && !hunt.oracle.beside && draw(2))
        return HUNT_CLOCK;
    switch (hunt_plan.algorithm) {
    case RANDOM:
        return next_random(ready, clock);
    case PCT:
        return next_pct(ready, clock);
    case POS:
        return next_pos(ready, clock);
    case SURW:
        return next_surw(ready, clock);
    case DELAY:
        return next_delay(ready, clock);
    default:
        return next_replayed(ready, clock);
    }
}

int choose_next(uint64_t ready, bool clock, bool all_rest)
{
    if (hunt.points > hunt_plan.points_max / 2 || hunt_blocks_left < BLOCKS_MAX / 2)
        return self_can(ready) && draw(FAIR_TURN) ? hunt.self->index : any_of(ready);
    int next = hunt_plan.explores ? explore_next() : next_by_algorithm(ready, clock, all_rest);
    if (next != next_by_number(ready))
        note(next, self_can(ready));
    return next;
}

/* Histories ----------------------------------------------------------------------------------- */

/* The plan's, at this moment of the thread: HUNT_READS or HUNT_STORES and how many. */
static int older_replayed(void)
{
    uint32_t *place = &choice.next_of[hunt.self->index];
    for (; *place; *place = link_of[*place - 1]) {
        const struct hunt_switch *at = &hunt_plan.switches[*place - 1];
        if (at->at > hunt.self->at)
            return 0;
        if (at->at < hunt.self->at || at->to <= HUNT_CLOCK)
            continue;
        *place = link_of[*place - 1];
        return at->to;
    }
    return 0;
}

static int older_drawn(int base, int most)
{
    uint64_t state = ~hunt_plan.seed ^ ((uint64_t)hunt.self->index << 32 | hunt.self->at);
    uint64_t random = hunt_random(&state);
    return random & choice.older_mask ? 0 : base + 1 + (int)((random >> 32) % (uint64_t)most);
}

/* Once in a moment, so that the moment says where. */
static int older(int base, int most)
{
    uint32_t *last = &choice.older[hunt.self->index];
    if (most <= 0 || *last == hunt.self->at || hunt.points > hunt_plan.points_max / 2)
        return 0;
    *last = hunt.self->at;
    int to = hunt_plan.algorithm < 0 ? older_replayed() : older_drawn(base, most);
    if (to <= base || to > base + most)
        return 0;
    note(to, false);
    return to - base;
}

int choose_older(int most)
{
    return older(HUNT_READS, most);
}

int choose_earlier(int most)
{
    return older(HUNT_STORES, most);
}

void choose_measure(void)
{
    size_t group = group_of(hunt.self);
    if (group < GROUPS)
        measured[hunt.self->index][group]++;
}

void choose_rests(int thread)
{
    if (hunt_plan.algorithm != PCT)
        return;
    if (draw(2))
        choice.priority[thread] = choice.floor--;
    else
        priority_draw(thread);
}
