/* waste.c - see waste.h. */
#include "waste.h"
#include "internal.h"
#include "kernel.h"
#include "machine.h"

#include <stdlib.h>
#include <string.h>

/* A wait, until its end has taken effect. */
struct wait {
    int64_t about, began_ps;
    int64_t any_idle_ps; /* when it began: how long any core had been idle until then */
    struct wait *next;   /* free ones */
};
static struct wait *free_waits;

/* A change, at a time: of a wait, or of a core. */
struct change {
    int64_t when_ps;
    enum { CHANGE_WAITS, CHANGE_TAKEN, CHANGE_IDLE, CHANGE_BUSY } what;
    union {
        struct wait *wait;
        int core;
    };
};

/* Changes that others may still precede, in order of time, and of arrival if times are equal.
 * Few come out of order, and those by little, so that each is put in from the end. */
enum { PENDING_USUAL = 64 };
static struct change *pending;
static size_t pending_count, pending_room;

static uint64_t kinds_waits, kinds_taken;
static void (*on_wait)(int64_t ps);

/* All up to now_ps. A share is what each idle core has borne, times SHARE_UNIT, so that dividing
 * loses nothing that matters. */
enum { SHARE_UNIT = 1024 };
static int64_t now_ps, waiting, idle;
static int64_t wasted_ps;   /* the sum over all cores */
static int64_t any_idle_ps; /* how long at least one core was idle */
static __int128 share;
static __int128 share_when_idle[SIM_CORES_MAX]; /* of a core that is idle: when it became so */
static bool is_idle[SIM_CORES_MAX], told_idle[SIM_CORES_MAX]; /* now; and at the end of pending */
static int64_t borne_ps[SIM_CORES_MAX]; /* without the idle time that is not over */

/* Waits that nobody has ended yet, in the order of the host, by what they are about: a table with
 * open addressing. */
static struct wait **table;
static size_t table_count, table_room;

static size_t table_home(int64_t about)
{
    return (size_t)(((uint64_t)about * UINT64_C(0x9e3779b97f4a7c15)) >> 20) & (table_room - 1);
}

/* Its place, or the free one where it would be. */
static size_t table_find(int64_t about)
{
    size_t at = table_home(about);
    while (table[at] && table[at]->about != about)
        at = (at + 1) & (table_room - 1);
    return at;
}

static void table_grow(void)
{
    struct wait **old = table;
    size_t old_room = table_room;
    table_room = old_room ? 2 * old_room : 1024;
    table = sim_host_alloc(table_room * sizeof *table);
    for (size_t i = 0; i < old_room; i++)
        if (old[i])
            table[table_find(old[i]->about)] = old[i];
    free(old);
}

/* Waits behind it move to where they would be found. */
static void table_remove(size_t hole)
{
    table_count--;
    table[hole] = NULL;
    for (size_t at = (hole + 1) & (table_room - 1); table[at]; at = (at + 1) & (table_room - 1)) {
        struct wait *wait = table[at];
        table[at] = NULL;
        table[table_find(wait->about)] = wait;
    }
}

static struct wait *wait_new(int64_t about)
{
    struct wait *wait = free_waits;
    if (wait)
        free_waits = wait->next;
    else
        wait = sim_host_alloc(sizeof *wait);
    wait->about = about;
    wait->began_ps = sim_now();
    return wait;
}

static void wait_over(struct wait *wait)
{
    if (on_wait)
        on_wait(any_idle_ps - wait->any_idle_ps);
    wait->next = free_waits;
    free_waits = wait;
}

/* Time passes: nothing has changed since now_ps. */
static void pass(int64_t when_ps)
{
    int64_t time = when_ps - now_ps, cores = waiting < idle ? waiting : idle;
    if (time <= 0)
        return;
    now_ps = when_ps;
    if (idle > 0)
        any_idle_ps += time;
    if (cores <= 0)
        return;
    wasted_ps += time * cores;
    share += (__int128)time * cores * SHARE_UNIT / idle;
}

static void apply(const struct change *change)
{
    pass(change->when_ps);
    int core = change->core;
    switch (change->what) {
    case CHANGE_WAITS:
        waiting++;
        change->wait->any_idle_ps = any_idle_ps;
        break;
    case CHANGE_TAKEN:
        waiting--;
        wait_over(change->wait);
        break;
    case CHANGE_IDLE:
        idle++;
        is_idle[core] = true;
        share_when_idle[core] = share;
        break;
    case CHANGE_BUSY:
        idle--;
        is_idle[core] = false;
        borne_ps[core] += (int64_t)((share - share_when_idle[core]) / SHARE_UNIT);
        break;
    }
}

/* Applies all up to that time. */
static void settle(int64_t until_ps)
{
    size_t done = 0;
    while (done < pending_count && pending[done].when_ps <= until_ps)
        apply(&pending[done++]);
    if (done == 0)
        return;
    pending_count -= done;
    memmove(pending, pending + done, pending_count * sizeof *pending);
}

static void change_add(struct change change)
{
    if (pending_count >= PENDING_USUAL)
        settle(sim_earliest() - 1);
    if (pending_count == pending_room) {
        pending_room = pending_room ? 2 * pending_room : 2 * PENDING_USUAL;
        pending = realloc(pending, pending_room * sizeof *pending);
        if (!pending)
            machine_die("the simulated machine: out of memory\n", 1);
    }
    size_t at = pending_count++;
    for (; at > 0 && pending[at - 1].when_ps > change.when_ps; at--)
        pending[at] = pending[at - 1];
    pending[at] = change;
}

void sim_waste_kinds(uint64_t waits_mask, uint64_t taken_mask)
{
    kinds_waits = waits_mask;
    kinds_taken = taken_mask;
}

void sim_waste_on_wait(void (*fn)(int64_t ps))
{
    settle(sim_now()); /* the one before hears of what is over */
    on_wait = fn;
}

void sim_waste_begin(void)
{
    pending_count = table_count = 0;
    now_ps = waiting = idle = wasted_ps = any_idle_ps = 0;
    share = 0;
    memset(is_idle, 0, sizeof is_idle);
    memset(told_idle, 0, sizeof told_idle);
    memset(borne_ps, 0, sizeof borne_ps);
    free(table);
    table = NULL;
    table_room = 0;
    table_grow();
}

static void waits_begin(int64_t about)
{
    size_t at = table_find(about);
    if (table[at])
        return;
    table[at] = wait_new(about);
    change_add((struct change){sim_now(), CHANGE_WAITS, {.wait = table[at]}});
    if (2 * ++table_count > table_room)
        table_grow();
}

/* A goroutine that is handed over to its worker has not waited. The core that takes one may be a
 * little behind the core that made it runnable. */
static void waits_end(int64_t about)
{
    size_t at = table_find(about);
    struct wait *wait = table[at];
    if (!wait)
        return;
    table_remove(at);
    int64_t now = sim_now();
    change_add(
        (struct change){now > wait->began_ps ? now : wait->began_ps, CHANGE_TAKEN, {.wait = wait}});
}

void sim_waste_event(unsigned kind, int64_t about)
{
    if (kinds_waits >> kind & 1)
        waits_begin(about);
    else if (kinds_taken >> kind & 1)
        waits_end(about);
}

void sim_waste_core(int core, bool idle_then, int64_t when_ps)
{
    if (told_idle[core] != idle_then)
        change_add((struct change){when_ps, idle_then ? CHANGE_IDLE : CHANGE_BUSY, {.core = core}});
    told_idle[core] = idle_then;
}

int64_t sim_wasted(int core)
{
    settle(sim_now());
    pass(sim_now());
    if (core < 0)
        return wasted_ps;
    return borne_ps[core] +
           (is_idle[core] ? (int64_t)((share - share_when_idle[core]) / SHARE_UNIT) : 0);
}
