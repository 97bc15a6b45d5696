/* calibrate_cores.c - see calibrate.h: what it takes to get a line that another core has.
 *
 * Two threads take turns by a word of their own. In its turn the helper puts a set of lines into a
 * state: it writes them (dirty), or throws them out of all caches and reads them (clean). Then the
 * other thread visits all of them, and takes the time. The order is one that nobody can guess, and
 * each visit depends on the one before. For upgrades both read the lines before one writes them;
 * the cost of the same writes to lines of its own is taken off.
 */
#include "harness/calibrate/calibrate.h"

#include "machine.h"

#include <math.h>
#include <stdatomic.h>

enum {
    LINES = 96,            /* small enough that a set of L1 holds what falls into it */
    STRIDE = 3 * SIM_LINE, /* no line lies next to another one */
    STACK_SIZE = 64 << 10,
    SPINS_PER_LOOK = 1000,
    ROUNDS_MAX = CALIBRATE_SAMPLES * 3,
    BUSY_MAX = 5, /* rounds in which the helper did not come in time */
};

#define TURN_NS_MAX INT64_C(200000000) /* then the helper's core is busy */

enum state { STATE_DIRTY, STATE_CLEAN, STATE_SHARED, STATE_OWN, STATE_END, STATES = STATE_END };

struct spot {
    _Atomic uint64_t next; /* the index of the one to visit then; stores write it anew */
    char pad[STRIDE - sizeof(uint64_t)];
};

static struct {
    _Alignas(SIM_LINE) _Atomic uint32_t turn; /* odd: the helper's */
    _Alignas(SIM_LINE) _Atomic uint32_t state;
    _Alignas(SIM_LINE) struct spot spots[LINES];
} table;

/* Drops a line from all caches; false where no instruction of a program does so. */
static bool line_flush(void *line)
{
#if defined(__x86_64__)
    __asm__ volatile("clflush (%0)" ::"r"(line) : "memory");
    return true;
#elif defined(__aarch64__)
    __asm__ volatile("dc civac, %0" ::"r"(line) : "memory");
    return true;
#else
    (void)line;
    return false;
#endif
}

static void spots_order(void)
{
    uint32_t order[LINES];
    calibrate_order(order, LINES);
    for (uint32_t i = 0; i < LINES; i++)
        atomic_store_explicit(&table.spots[order[i]].next, order[(i + 1) % LINES],
                              memory_order_relaxed);
}

static uint64_t spots_read(void)
{
    uint64_t at = 0;
    for (int i = 0; i < LINES; i++)
        at = atomic_load_explicit(&table.spots[at].next, memory_order_acquire);
    return at;
}

/* An exchange waits for the line; a store would not. */
static uint64_t spots_write(void)
{
    uint64_t at = 0;
    for (int i = 0; i < LINES; i++)
        at = atomic_fetch_add_explicit(&table.spots[at].next, 0, memory_order_acq_rel);
    return at;
}

static void helper_prepare(enum state state)
{
    if (state == STATE_DIRTY)
        spots_write();
    if (state == STATE_CLEAN) {
        for (int i = 0; i < LINES; i++)
            line_flush(&table.spots[i]);
        machine_fence(&table.turn);
    }
    if (state == STATE_CLEAN || state == STATE_SHARED)
        spots_read();
}

static bool turn_wait(uint32_t odd, int64_t limit)
{
    for (;;) {
        for (int i = 0; i < SPINS_PER_LOOK; i++) {
            if ((atomic_load_explicit(&table.turn, memory_order_acquire) & 1) == odd)
                return true;
        }
        if (machine_now() > limit)
            return false;
    }
}

static void turn_give(void)
{
    atomic_fetch_add_explicit(&table.turn, 1, memory_order_release);
}

static void helper_main(void *arg)
{
    (void)arg;
    for (;;) {
        if (!turn_wait(1, INT64_MAX))
            continue;
        enum state state = atomic_load_explicit(&table.state, memory_order_relaxed);
        if (state == STATE_END)
            return;
        helper_prepare(state);
        turn_give();
    }
}

/* One turn of the helper; false if its core was busy for too long. */
static bool helper_turn(enum state state)
{
    atomic_store_explicit(&table.state, state, memory_order_relaxed);
    turn_give();
    return turn_wait(0, machine_now() + TURN_NS_MAX);
}

/* The cost of a visit, in ns, after the helper has put the lines into that state. */
static double visit_measure(enum state state)
{
    if (!turn_wait(0, machine_now() + TURN_NS_MAX)) /* from the last time */
        return NAN;
    if (state == STATE_SHARED || state == STATE_OWN)
        spots_write(); /* so that no older state is left */
    if (!helper_turn(state))
        return NAN;
    if (state == STATE_SHARED)
        spots_read();
    int64_t start = machine_now();
    if (state == STATE_DIRTY || state == STATE_CLEAN)
        spots_read();
    else
        spots_write();
    return (double)(machine_now() - start) / LINES;
}

static const char *const names[STATES - 1][SIM_DISTANCES] = {
    {"dirty.near", "dirty.socket", "dirty.remote"},
    {"clean.near", "clean.socket", "clean.remote"},
    {"upgrade.near", "upgrade.socket", "upgrade.remote"},
};

/* Medians of rounds, in which each state has its turn. */
static void pair_measure(struct calibrate *to, enum sim_distance distance)
{
    double samples[STATES][CALIBRATE_SAMPLES];
    int count = 0, busy = 0;
    for (int round = 0; round < ROUNDS_MAX && count < CALIBRATE_SAMPLES && busy < BUSY_MAX;
         round++) {
        bool whole = true;
        for (int state = 0; state < STATES; state++) {
            samples[state][count] = visit_measure((enum state)state);
            whole = whole && !isnan(samples[state][count]);
        }
        busy += !whole;
        samples[STATE_SHARED][count] -= samples[STATE_OWN][count];
        whole = whole && samples[STATE_SHARED][count] > 0;
        count += whole && round > 0; /* the first one meets cold code */
    }
    for (int state = 0; state < STATES - 1; state++) {
        if (count == CALIBRATE_SAMPLES)
            calibrate_add(to, names[state][distance], samples[state], CALIBRATE_SAMPLES);
        else
            calibrate_absent(to, names[state][distance],
                             "cores %d and %d did not run at the same time", to->cpus[0],
                             to->cpus[to->other[distance]]);
    }
}

static void pair_absent(struct calibrate *to, enum sim_distance distance)
{
    static const char *const why[SIM_DISTANCES] = {
        "there is no second core with the same L3 to measure on",
        "there is no core in the same socket with another L3 to measure on",
        "there is no core in another socket to measure on",
    };
    for (int state = 0; state < STATES - 1; state++)
        calibrate_absent(to, names[state][distance], "%s", why[distance]);
}

/* Virtual machines are told of caches that their cores may not share. */
static void compare_distance(struct calibrate *to)
{
    double near = calibrate_median(to, "dirty.near"), hit = calibrate_median(to, "l3.hit");
    if (near > 60 && near > 3 * hit)
        calibrate_note(to,
                       "Cores %d and %d share an L3 as Linux reports it, but lines take %.0f ns "
                       "from one to the other, as between cores that share none",
                       to->cpus[0], to->cpus[to->other[SIM_NEAR]], near);
}

void calibrate_cores(struct calibrate *to)
{
    spots_order();
    for (int distance = 0; distance < SIM_DISTANCES; distance++) {
        struct machine_thread helper;
        int core = to->other[distance];
        atomic_store(&table.turn, 0);
        if (core < 0 || machine_thread_start(&helper, helper_main, NULL, STACK_SIZE, core) != 0) {
            pair_absent(to, (enum sim_distance)distance);
            continue;
        }
        pair_measure(to, (enum sim_distance)distance);
        turn_wait(0, INT64_MAX);
        atomic_store_explicit(&table.state, STATE_END, memory_order_relaxed);
        turn_give();
        machine_thread_join(&helper);
    }
    compare_distance(to);
}
