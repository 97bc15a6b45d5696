/* test_memory.c - what Gs take: each while it lives, and all of them once they have ended.
 *
 * Bytes are those the kernel has given to the process, page tables included; they are exact but for
 * some pages that others touch meanwhile, hence the room in the bounds.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "runtime/depot.h"
#include "tests/support/refuse_call.h"
#include "tests/support/support.h"

#if defined(SCHEDLAB_DEBUG) || SUPPORT_SANITIZED
#define FRAMES_AS_RELEASED 0
#else
#define FRAMES_AS_RELEASED 1
#endif

enum {
    PER_BLOCKED_MAX = 4403,                     /* 4.3 KiB */
    PER_SLEEPER_MAX = PER_BLOCKED_MAX + 3 * 24, /* the heap's array, and the half one before it */
    PER_UNSTARTED_MAX = 160,
#if defined(SCHEDLAB_TSAN)
    BLOCKED = 640,
    BURST = 640,
    UNSTARTED = 20000,
    UNSTARTED_BURST = 20000,
#else
    BLOCKED = 10000, /* 50 pages of others are 20 bytes each */
    UNSTARTED = 100000,
    BURST = 20000,            /* 3,600 more than may be kept (internal.h) */
    UNSTARTED_BURST = 700000, /* likewise */
#endif
    SURVIVOR_EVERY = 64,
    CANARY_BYTES = 256,
};

/* From a file of lines "key: value kB", in bytes. */
static int64_t proc_bytes(const char *path, const char *key)
{
    char line[256];
    long long kib = -1;
    FILE *file = fopen(path, "r");
    CHECK(file);
    while (kib < 0 && fgets(line, sizeof line, file))
        if (strncmp(line, key, strlen(key)) == 0)
            sscanf(line + strlen(key), " %lld", &kib);
    fclose(file);
    CHECK(kib >= 0);
    return kib * 1024;
}

static int64_t resident_bytes(void)
{
    return proc_bytes("/proc/self/smaps_rollup", "Rss:") +
           proc_bytes("/proc/self/status", "VmPTE:");
}

static int64_t relaxed(_Atomic int64_t *count)
{
    return atomic_load_explicit(count, memory_order_relaxed);
}

/* A crowd ------------------------------------------------------------------------------------- */

struct crowd {
    struct waitgroup here, gate, last_gate, done;
    int n;
    int64_t end_ns; /* sleepers */
    _Atomic int64_t damaged;
};

static void crowd_member(void *arg)
{
    struct crowd *crowd = arg;
    wg_done(&crowd->here);
    wg_wait(&crowd->gate);
    wg_done(&crowd->done);
}

static void crowd_sleeper(void *arg)
{
    struct crowd *crowd = arg;
    wg_done(&crowd->here);
    go_sleep(crowd->end_ns - go_now());
    wg_done(&crowd->done);
}

/* Stays when the others end; its stack must not lose what is on it. */
static void crowd_survivor(void *arg)
{
    struct crowd *crowd = arg;
    volatile unsigned char canary[CANARY_BYTES];
    for (int i = 0; i < CANARY_BYTES; i++)
        canary[i] = (unsigned char)(i + 1);
    wg_done(&crowd->here);
    wg_wait(&crowd->last_gate);
    bool whole = true;
    for (int i = 0; i < CANARY_BYTES; i++)
        whole = whole && canary[i] == (unsigned char)(i + 1);
    if (!whole)
        atomic_fetch_add(&crowd->damaged, 1);
    wg_done(&crowd->done);
}

/* Starts them, the survivors evenly among the members, and returns when all are there. */
static void crowd_gather(struct crowd *crowd, int32_t survivors)
{
    wg_add(&crowd->gate, 1);
    wg_add(&crowd->here, crowd->n);
    wg_add(&crowd->done, crowd->n - survivors);
    for (int i = 0; i < crowd->n; i++)
        go(survivors > 0 && i % SURVIVOR_EVERY == 0 ? crowd_survivor : crowd_member, crowd);
    wg_wait(&crowd->here);
}

/* An ended G's waiters may run before it is back in its slab. */
static void await_few(_Atomic int64_t *count, int64_t most)
{
    struct support_wait wait = {0};
    while (relaxed(count) > most) {
        if (support_waited_in_vain(&wait))
            support_fail(__FILE__, __LINE__, "%lld are kept, %lld may be",
                         (long long)relaxed(count), (long long)most);
        go_sleep(1000000);
    }
}

static void run_set(const char *variant, const char *settings, int workers, void (*fn)(void *))
{
    struct support_report report;
    support_run(
        &(struct support_run){
            .variant = variant, .settings = settings, .workers = workers, .seed = 1, .fn = fn},
        &report);
    if (report.status != 0 || report.live != 0)
        print_error("%s", report.output);
    assert_int_equal(report.status, 0);
    assert_int_equal(report.live, 0);
}

static void run_main(const char *variant, int workers, void (*fn)(void *))
{
    run_set(variant, NULL, workers, fn);
}

/* While they live ----------------------------------------------------------------------------- */

static void blocked_main(void *arg)
{
    (void)arg;
    struct crowd crowd = {.n = BLOCKED};
    int64_t before = resident_bytes();
    crowd_gather(&crowd, 0);
    int64_t each = (resident_bytes() - before) / BLOCKED;
    wg_done(&crowd.gate);
    wg_wait(&crowd.done);
    if (each > PER_BLOCKED_MAX)
        support_fail(__FILE__, __LINE__, "%lld bytes each", (long long)each);
}

static void memory_of_a_blocked_g_is_a_page_and_little_more(void **state)
{
    (void)state;
    if (!FRAMES_AS_RELEASED || machine_page_size() != 4096)
        skip();
    /* the runtime's stacks, under one variant of each kind; not under tasksteal and contsteal,
     * where they lie so far apart that page tables count */
    static const char *const variants[] = {"uthread", "static", "gmp"};
    for (size_t i = 0; i < sizeof variants / sizeof *variants; i++)
        run_main(variants[i], 1, blocked_main);
}

static void sleeping_main(void *arg)
{
    (void)arg;
    struct crowd crowd = {0};
    int64_t before = resident_bytes(), each = 0;
    /* until all sleep before the first one wakes, however slow the machine is */
    for (int64_t span_ns = INT64_C(500000000); each == 0; span_ns *= 2) {
        CHECK(span_ns < INT64_C(32000000000));
        crowd.end_ns = go_now() + span_ns;
        wg_add(&crowd.here, BLOCKED);
        wg_add(&crowd.done, BLOCKED);
        for (int i = 0; i < BLOCKED; i++)
            go(crowd_sleeper, &crowd);
        wg_wait(&crowd.here);
        int64_t all = resident_bytes() - before;
        if (go_now() < crowd.end_ns)
            each = all / BLOCKED;
        wg_wait(&crowd.done);
    }
    if (each > PER_SLEEPER_MAX)
        support_fail(__FILE__, __LINE__, "%lld bytes each", (long long)each);
}

static void memory_of_a_sleeping_g_is_that_of_a_blocked_one(void **state)
{
    (void)state;
    if (!FRAMES_AS_RELEASED || machine_page_size() != 4096)
        skip();
    run_main("gmp", 1, sleeping_main);
}

static void unstarted_member(void *arg)
{
    wg_done(arg);
}

static void unstarted_run(int n, bool measured)
{
    struct waitgroup done = WG_INIT;
    struct sched *sched = machine_self()->sched;
    int64_t before = resident_bytes();
    wg_add(&done, n);
    for (int i = 0; i < n; i++)
        go(unstarted_member, &done);
    int64_t each = (resident_bytes() - before) / n;
    wg_wait(&done);
    if (!SUPPORT_SANITIZED && measured && each > PER_UNSTARTED_MAX)
        support_fail(__FILE__, __LINE__, "%lld bytes each", (long long)each);
    /* all have run on one stack, one after the other */
    CHECK(sched_stat(sched, STAT_STACKS_PEAK) < 100);
    await_few(&sched->gs_free, GS_KEPT);
}

static void unstarted_main(void *arg)
{
    (void)arg;
    unstarted_run(UNSTARTED, true);
}

/* Some start meanwhile. */
static void unstarted_burst_main(void *arg)
{
    (void)arg;
    unstarted_run(UNSTARTED_BURST, false);
}

static void memory_of_an_unstarted_g_is_its_struct_and_goes_in_the_end(void **state)
{
    (void)state;
    run_main("uthread", 1, unstarted_main);
    run_main("gmp", 1, unstarted_main);
    run_main("gmp", 2, unstarted_burst_main);
}

static void crowd_of(int n, struct waitgroup *done)
{
    wg_add(done, n);
    for (int i = 0; i < n; i++)
        go(unstarted_member, done);
}

/* One worker has room for two magazines. */
static void magazines_main(void *arg)
{
    (void)arg;
    struct sched *sched = machine_self()->sched;
    int64_t per_magazine = sched->runtime->gs_cache / 2;
    struct waitgroup done = WG_INIT;
    crowd_of(1000, &done);
    CHECK(sched->g_depot.full == 0);
    wg_wait(&done);
    CHECK(sched->g_depot.full == 2);
    CHECK(atomic_load(&sched->gs_free) > 2 * per_magazine); /* the others are in slabs */
    int64_t in_slabs = atomic_load(&sched->gs_free) - 2 * per_magazine;
    crowd_of((int)(machine_self()->cache.gs_count + 2 * per_magazine), &done);
    CHECK(sched->g_depot.full == 0);
    CHECK(atomic_load(&sched->gs_free) == in_slabs);
    wg_wait(&done);
}

static void ended_gs_pass_on_in_magazines_as_far_as_there_is_room(void **state)
{
    (void)state;
    run_main("uthread", 1, magazines_main);
    run_set("gmp", "preempt=none", 1, magazines_main); /* no G ends before main waits */
}

static void yields_once(void *arg)
{
    gosched();
    wg_done(arg);
}

/* A stack of each of `n` goroutines that live at one time. */
static void stacks_of(int n, struct waitgroup *done)
{
    wg_add(done, n);
    for (int i = 0; i < n; i++)
        go(yields_once, done);
    wg_wait(done);
}

/* Depots of Ps ------------------------------------------------------------------------------- */

/* Until all workers but this one sleep, and have emptied their depots. */
static void await_lone(struct sched *sched)
{
    for (bool lone = false; !lone;) {
        gosched();
        lock_acquire(&sched->lock);
        lone = atomic_load(&sched->idle_ps) == sched_procs_used(sched) - 1;
        lock_release(&sched->lock);
    }
}

/* Room for two magazines at each P, which so few workers do not have. Pre: no other worker runs. */
static void depots_of_two(struct sched *sched)
{
    for (int32_t i = 0; i < sched->procs; i++) {
        CHECK(sched->allp[i]->g_depot.room == 0);
        depot_init(&sched->allp[i]->g_depot, 2, "g.free");
        depot_init(&sched->allp[i]->stack_depot, 2, "stack.free");
    }
}

/* Two workers, of which one is used. There is room for eight in the depots of all. */
static void own_depots_main(void *arg)
{
    (void)arg;
    struct sched *sched = machine_self()->sched;
    struct waitgroup done = WG_INIT;
    go_set_workers(1);
    CHECK(machine_self()->p == sched->allp[0]);
    struct p *p = sched->allp[0];
    depots_of_two(sched);
    crowd_of(1000, &done);
    wg_wait(&done);
    CHECK(p->g_depot.full == 2);
    CHECK(sched->g_depot.full == 8);
    uint64_t locks = sched_stat(sched, STAT_GS_LOCKS);
    crowd_of((int)(machine_self()->cache.gs_count + sched->runtime->gs_cache), &done);
    CHECK(p->g_depot.full == 0);
    CHECK(sched->g_depot.full == 8);
    wg_wait(&done);
    CHECK(p->g_depot.full > 0);
    CHECK(sched_stat(sched, STAT_GS_LOCKS) == locks);
    stacks_of(300, &done);
    CHECK(p->stack_depot.full > 0);
    struct support_wait wait = {0};
    while (p->g_depot.full > 0 || p->stack_depot.full > 0) {
        CHECK(!support_waited_in_vain(&wait));
        go_sleep(1000000);
    }
}

static void a_worker_has_a_depot_of_its_own_until_it_idles(void **state)
{
    (void)state;
    run_set("gmp", "preempt=none", 2, own_depots_main);
    run_set("perm", "preempt=none", 2, own_depots_main);
}

static void tree_node(void *arg)
{
    int depth = *(int *)arg - 1;
    if (depth < 0)
        return;
    struct join joins[2];
    for (int i = 0; i < 2; i++)
        join_go(&joins[i], tree_node, &depth);
    for (int i = 0; i < 2; i++)
        join_wait(&joins[i]);
}

/* Each G that there ever was is in a cache, or free where all find it, or it is main. */
static void no_g_is_lost_main(void *arg)
{
    (void)arg;
    struct sched *sched = machine_self()->sched;
    depots_of_two(sched);
    for (int round = 0; round < 20; round++) {
        int depth = 8;
        tree_node(&depth);
        await_lone(sched);
        for (int32_t i = 0; i < sched->procs; i++)
            CHECK(sched->allp[i] == machine_self()->p || sched->allp[i]->g_depot.full == 0);
        int64_t half = sched->runtime->gs_cache / 2;
        int64_t known = 1 + atomic_load(&sched->gs_free) + half * machine_self()->p->g_depot.full;
        for (struct m *m = sched_first_m(sched); m; m = m->all_link)
            known += m->cache.gs_count;
        CHECK(known == (int64_t)sched->next_id);
    }
}

static void no_g_is_lost_between_depots(void **state)
{
    (void)state;
    run_set("gmp", "gs_cache=2", 4, no_g_is_lost_main);
    run_set("gmp", "gs_cache=8", 4, no_g_is_lost_main);
    run_set("perm", "gs_cache=2", 4, no_g_is_lost_main);
}

/* When they have ended ------------------------------------------------------------------------ */

/* The kernel counts resident pages per core, and tells of none that a core has yet to hand in. */
enum { RESIDENT_UNTOLD = 1 << 20 };

/* A count alone could say so without giving anything back. */
static void check_given_back(int64_t most, int64_t stacks)
{
    int64_t given = most - resident_bytes();
    if (!SUPPORT_SANITIZED && given < stacks * 4000 - RESIDENT_UNTOLD)
        support_fail(__FILE__, __LINE__, "%lld bytes of %lld stacks", (long long)given,
                     (long long)stacks);
}

/* As magazines_main(), of stacks. */
static void stack_magazines_main(void *arg)
{
    (void)arg;
    struct sched *sched = machine_self()->sched;
    struct waitgroup done = WG_INIT;
    stacks_of(300, &done);
    CHECK(sched->stack_depot.full == 2);
    size_t peak = atomic_load(&sched->stacks_out_peak);
    int64_t warm = atomic_load(&sched->stacks_warm);
    CHECK(peak >= 300);
    CHECK(warm > 64); /* those in the two magazines, and others in slabs */
    CHECK(sched->stacks_out + (size_t)warm <= peak + 64);
    stacks_of(300, &done);
    CHECK(sched->stack_depot.full == 2);
    CHECK(atomic_load(&sched->stacks_out_peak) <= peak + 64);
    CHECK(atomic_load(&sched->stacks_warm) >= warm - 64);
}

static void ended_stacks_pass_on_in_magazines_as_far_as_there_is_room(void **state)
{
    (void)state;
    run_main("uthread", 1, stack_magazines_main);
    run_set("gmp", "preempt=none", 1, stack_magazines_main);
}

static void burst_main(void *arg)
{
    (void)arg;
    struct crowd crowd = {.n = BURST};
    struct sched *sched = machine_self()->sched;
    crowd_gather(&crowd, 0);
    int64_t most = resident_bytes();
    wg_done(&crowd.gate);
    wg_wait(&crowd.done);
    await_few(&sched->stacks_warm, STACKS_KEPT);
    check_given_back(most, BURST - STACKS_KEPT);
}

static void memory_of_a_burst_is_given_back(void **state)
{
    (void)state;
    run_main("uthread", 1, burst_main);
    run_main("static", 2, burst_main);
    run_main("contsteal", 2, burst_main);
}

/* Every slab has one stack that stays in use. */
static void survivors_main(void *arg)
{
    (void)arg;
    struct crowd crowd = {.n = BURST};
    struct sched *sched = machine_self()->sched;
    int32_t survivors = (BURST + SURVIVOR_EVERY - 1) / SURVIVOR_EVERY;
    wg_add(&crowd.last_gate, 1);
    crowd_gather(&crowd, survivors);
    int64_t most = resident_bytes();
    wg_done(&crowd.gate);
    wg_wait(&crowd.done);
    await_few(&sched->stacks_warm, STACKS_KEPT);
    check_given_back(most, BURST - STACKS_KEPT - survivors);
    wg_add(&crowd.done, survivors);
    wg_done(&crowd.last_gate);
    wg_wait(&crowd.done);
    CHECK(atomic_load(&crowd.damaged) == 0);
}

static void memory_beside_those_that_stay_is_given_back(void **state)
{
    (void)state;
    run_main("gmp", 2, survivors_main);
}

/* Stacks that were given back serve again. */
static void bursts_main(void *arg)
{
    for (int i = 0; i < 2; i++)
        burst_main(arg);
}

static void memory_given_back_serves_again(void **state)
{
    (void)state;
    run_main("grq", 2, bursts_main);
}

static void done_g(void *arg)
{
    wg_done(arg);
}

/* No stack of these can be guarded, in either way. */
static void unguarded_main(void *arg)
{
    (void)arg;
    refuse_call(SYS_madvise);
    refuse_call(SYS_mprotect);
    struct waitgroup *done = go_alloc_zeroed(sizeof *done);
    wg_add(done, 1);
    go(done_g, done);
    wg_wait(done);
    go_free(done);
}

static void stacks_without_a_guard_are_told_of(void **state)
{
    (void)state;
    if (SUPPORT_SANITIZED) {
        print_message("a sanitizer makes these calls itself\n");
        skip();
    }
    static struct support_report report;
    struct support_run run = {
        .variant = "uthread", .settings = "sysmon=off", .workers = 1, .fn = unguarded_main};
    support_run(&run, &report);
    const char *said = strstr(report.output, "no memory map is left to guard goroutine stacks");
    if (report.status != 0 || !said || strstr(said + 1, "no memory map"))
        fail_msg("status %d, output:\n%s", report.status, report.output);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_of_a_blocked_g_is_a_page_and_little_more),
        cmocka_unit_test(memory_of_a_sleeping_g_is_that_of_a_blocked_one),
        cmocka_unit_test(memory_of_an_unstarted_g_is_its_struct_and_goes_in_the_end),
        cmocka_unit_test(ended_gs_pass_on_in_magazines_as_far_as_there_is_room),
        cmocka_unit_test(ended_stacks_pass_on_in_magazines_as_far_as_there_is_room),
        cmocka_unit_test(a_worker_has_a_depot_of_its_own_until_it_idles),
        cmocka_unit_test(no_g_is_lost_between_depots),
        cmocka_unit_test(memory_of_a_burst_is_given_back),
        cmocka_unit_test(memory_beside_those_that_stay_is_given_back),
        cmocka_unit_test(memory_given_back_serves_again),
        cmocka_unit_test(stacks_without_a_guard_are_told_of),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
