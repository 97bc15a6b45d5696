/* choose.c - who goes on at a point.
 *
 *   random  Goes on with the same thread, or with any other one by a chance that is drawn for the
 *           whole execution: a half, an eighth, 1/32 or 1/128.
 *   pct     Threads have priorities, and the highest that can runs. At depth - 1 random points the
 *           thread that runs gets the lowest. Source: [Burckhardt10] PCT. Differs: who rests gets
 *           the lowest or a new one, since all would wait for it otherwise; time is a thread.
 *
 * Without an algorithm the thread goes on for as long as it can, and then the next one by number.
 * All that differs from this is noted, and can be replayed as a list of switches.
 *
 * After half of the points that an execution may have, any algorithm is fair: threads take turns at
 * random. So what does not end then does not end because of unfairness.
 */
#include "kernel.h"

#include <string.h>

enum { WIDTH = HUNT_CLOCK + 1, FAIR_TURN = 16, CHANGES_MAX = 32 };

const char *const hunt_algorithm_words[] = {"random", "pct", NULL};
const char *const hunt_algorithm_helps[] = {
    "goes on or switches by chance; how often is drawn for each execution",
    "priorities, changed at a few random points: Probabilistic Concurrency Testing", NULL};
enum { RANDOM, PCT };

static struct {
    uint64_t state;                  /* of random numbers */
    uint64_t mask;                   /* random: switches where they are 0 under it */
    uint64_t priority[WIDTH], floor; /* pct */
    uint64_t change[CHANGES_MAX];    /* its points, rising */
    int changes, changed;
    uint32_t next_of[HUNT_THREADS_MAX]; /* of the plan's switches, each thread's next, from 1 */
} choice;

static struct hunt_switch noted[HUNT_SWITCHES_MAX];
static uint32_t link_of[HUNT_SWITCHES_MAX]; /* of the plan's switches: the same thread's next */

static uint64_t draw(uint64_t below)
{
    return (hunt_random(&choice.state) >> 32) * below >> 32;
}

static void pct_begin(void)
{
    for (int i = 0; i < WIDTH; i++)
        choice.priority[i] = UINT64_C(1) << 62 | hunt_random(&choice.state) >> 2;
    choice.floor = UINT64_C(1) << 32;
    choice.priority[HUNT_CLOCK] = 0;
    choice.changes = hunt_plan.depth - 1 < CHANGES_MAX ? hunt_plan.depth - 1 : CHANGES_MAX;
    for (int i = 0; i < choice.changes; i++) {
        uint64_t at = 1 + draw(hunt_plan.points_expected);
        int place = i;
        for (; place > 0 && choice.change[place - 1] > at; place--)
            choice.change[place] = choice.change[place - 1];
        choice.change[place] = at;
    }
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

void choose_begin(void)
{
    memset(&choice, 0, sizeof choice);
    choice.state = hunt_plan.seed;
    hunt.outcome.switches = noted;
    if (hunt_plan.algorithm == RANDOM)
        choice.mask = (2u << 2 * draw(4)) - 1;
    if (hunt_plan.algorithm == PCT)
        pct_begin();
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

static int next_by_number(uint64_t ready)
{
    int self = hunt.self->index;
    if (self_can(ready))
        return self;
    uint64_t above = ready & ~(((UINT64_C(1) << self) << 1) - 1);
    return lowest(above ? above : ready);
}

static int next_random(uint64_t ready, bool clock)
{
    if (self_can(ready) && (hunt_random(&choice.state) & choice.mask))
        return hunt.self->index;
    if (clock && draw(16) == 0)
        return HUNT_CLOCK;
    return any_of(ready);
}

static int next_pct(uint64_t ready, bool clock)
{
    if (choice.changed < choice.changes && hunt.points >= choice.change[choice.changed]) {
        choice.changed++;
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

/* The thread's next switch, if this is its moment. One that cannot be made is passed over: where
 * others were left out, threads may do something else. */
static int next_replayed(uint64_t ready, bool clock)
{
    uint32_t *place = &choice.next_of[hunt.self->index];
    for (; *place; *place = link_of[*place - 1]) {
        const struct hunt_switch *at = &hunt_plan.switches[*place - 1];
        if (at->at > hunt.self->at)
            break;
        bool can = at->to == HUNT_CLOCK ? clock : (ready >> at->to & 1) != 0;
        if (at->at < hunt.self->at || !can)
            continue;
        *place = link_of[*place - 1];
        return at->to;
    }
    return next_by_number(ready);
}

static void note(int next, uint64_t ready)
{
    if (next == next_by_number(ready) || hunt.outcome.switch_count == HUNT_SWITCHES_MAX)
        return;
    noted[hunt.outcome.switch_count++] = (struct hunt_switch){
        .at = hunt.self->at,
        .thread = (uint8_t)hunt.self->index,
        .to = (uint8_t)next,
        .away = self_can(ready),
        .pc = hunt.self->pc,
    };
}

int choose_next(uint64_t ready, bool clock)
{
    int next;
    if (hunt.points > hunt_plan.points_max / 2)
        return self_can(ready) && draw(FAIR_TURN) ? hunt.self->index : any_of(ready);
    if (hunt_plan.algorithm == RANDOM)
        next = next_random(ready, clock);
    else if (hunt_plan.algorithm == PCT)
        next = next_pct(ready, clock);
    else
        next = next_replayed(ready, clock);
    note(next, ready);
    return next;
}

void choose_rests(int thread)
{
    if (hunt_plan.algorithm == PCT)
        choice.priority[thread] =
            draw(2) ? choice.floor-- : UINT64_C(1) << 62 | hunt_random(&choice.state) >> 2;
}
