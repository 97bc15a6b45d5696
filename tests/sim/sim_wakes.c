/* sim_wakes.c - a producer on a simulated server of 64 cores is no slower for consumers that sleep.
 * How sleepers come to work at all is in wake_formulas.c.
 *
 *     build/sim/tests/sim_wakes
 */
#include "harness/models/machine_spec.h"
#include "internal.h"
#include "sim/sim.h"
#include "tests/support/support.h"
#include "workloads/workload.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct sim_model model, guest;

static uint64_t stat_now(enum stat_id stat)
{
    return sched_stat(this_sched(), stat);
}

static void stay_awake(int64_t ns)
{
    for (int64_t end = go_now() + ns; go_now() < end;)
        go_work(1000);
}

/* A producer ----------------------------------------------------------------------------------- */

/* One goroutine spawns TASKS tasks of `uneven`. A worker alone takes for each of them its rounds
 * and a spawn. More workers may be of no use, but must not make it slower, whoever pays for the
 * fences when it begins (fence.c). Times are means over SEEDS seeds, since contsteal on 16 and 24
 * workers is hardly faster than alone, and by few seeds slower: each steal moves its spawner. */
enum { TASKS = 1500, ROUNDS = 2000, SPAWN_NS = 200, SEEDS = 3 };

/* How the run begins: the first call, then one after a long calm, then one after many sleeps. */
enum regime { FRESH, SLEEPERS_PAY, SUBMITTERS_PAY, REGIMES };
static const char *const regime_words[] = {"at first", "while sleepers pay",
                                           "while submitters pay"};

static struct produced {
    void *uneven;
    int64_t ns[REGIMES];
    uint64_t wakeups[REGIMES];
} * produced;

static const struct workload *uneven(void)
{
    int i = 0;
    while (strcmp(workloads[i]->name, "uneven") != 0)
        i++;
    return workloads[i];
}

static const struct sim_model *produced_on = &model;

static void uneven_before(void *arg)
{
    (void)arg;
    sim_model = *produced_on;
    char settings[64];
    int64_t params[32];
    snprintf(settings, sizeof settings, "tasks=%d,rounds=%d", TASKS, ROUNDS);
    assert_true(uneven()->params_size <= sizeof params);
    support_set(params, uneven()->params, settings);
    produced->uneven = uneven()->init(params, 1);
}

static bool sleepers_pay(void)
{
    return !atomic_load(&this_sched()->submitters_fence);
}

static void wake_somebody(void *arg)
{
    (void)arg;
}

static void regime_begin(enum regime regime)
{
    if (regime == SLEEPERS_PAY)
        AWAIT(sleepers_pay());
    while (regime == SUBMITTERS_PAY && sleepers_pay()) {
        go(wake_somebody, NULL);
        stay_awake(50000);
        gosched();
    }
}

static void producer_main(void *arg)
{
    (void)arg;
    bool alone = sched_procs_used(this_sched()) == 1;
    for (int i = FRESH; i < (alone ? SLEEPERS_PAY : REGIMES); i++) {
        struct outcome out = {0};
        regime_begin((enum regime)i);
        uint64_t wakeups = stat_now(STAT_WAKEUPS);
        int64_t began = go_now();
        workload_run(uneven(), produced->uneven, &out);
        produced->ns[i] = go_now() - began;
        produced->wakeups[i] = stat_now(STAT_WAKEUPS) - wakeups;
    }
}

static void produce_once(const char *variant, const char *settings, int workers, uint64_t seed)
{
    static struct support_report report;
    struct support_run run = {.variant = variant,
                              .settings = settings,
                              .workers = workers,
                              .seed = seed,
                              .before = uneven_before,
                              .fn = producer_main};
    support_run(&run, &report);
    if (report.status != 0)
        fail_msg("%s, %d workers: status %d, output:\n%s", variant, workers, report.status,
                 report.output);
}

static void produce(const char *variant, const char *settings, int workers)
{
    struct produced sum = {0};
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        produce_once(variant, settings, workers, seed);
        for (int i = 0; i < REGIMES; i++) {
            sum.ns[i] += produced->ns[i];
            sum.wakeups[i] += produced->wakeups[i];
        }
    }
    for (int i = 0; i < REGIMES; i++) {
        produced->ns[i] = sum.ns[i] / SEEDS;
        produced->wakeups[i] = sum.wakeups[i] / SEEDS;
    }
}

static const int many[] = {16, 24, 32, 48, 64};
enum { MANY = sizeof many / sizeof many[0] };

static void no_slower_than(int64_t alone_ns, const char *variant, int workers)
{
    for (int i = 0; i < REGIMES; i++)
        if (produced->ns[i] > alone_ns)
            fail_msg("%s, %d workers, %s: %" PRId64 " ns, and %" PRId64 " alone", variant, workers,
                     regime_words[i], produced->ns[i], alone_ns);
}

static void producer_claims(const char *variant, const struct sim_model *on)
{
    double task_ns = ROUNDS * (double)on->work_ps / 1e3 + SPAWN_NS;
    produced_on = on;
    produce(variant, NULL, 1);
    int64_t alone_ns = produced->ns[FRESH];
    double formula_ns = TASKS * task_ns;
    if ((double)alone_ns < formula_ns || (double)alone_ns > 1.06 * formula_ns)
        fail_msg("%s alone: %" PRId64 " ns for %d tasks, %g by the formula", variant, alone_ns,
                 TASKS, formula_ns);
    for (int i = 0; i < MANY; i++) {
        produce(variant, NULL, many[i]);
        no_slower_than(alone_ns, variant, many[i]);
    }
}

static void producer_is_no_slower_for_sleepers(void **state)
{
    (void)state;
    static const char *const variants[] = {"grq", "perm", "gmp", "tasksteal", "contsteal"};
    for (size_t v = 0; v < sizeof variants / sizeof variants[0]; v++) {
        producer_claims(variants[v], &guest);
        producer_claims(variants[v], &model);
    }
}

/* A storm keeps its waker for as long as all its calls, and there is one at a time. So workers are
 * woken one after the other, and the producer is never slower than alone. Each worker is woken by
 * the storm of the first task, by that of who finds another one, and seldom once more. */
static void storms_of_wake_all_are_bounded(void **state)
{
    (void)state;
    produce("gmp", "wake=all", 1);
    int64_t alone_ns = produced->ns[FRESH];
    for (int i = 1; i < MANY; i++) {
        produce("gmp", "wake=all", many[i]);
        no_slower_than(alone_ns, "gmp,wake=all", many[i]);
        for (int regime = 0; regime < REGIMES; regime++) {
            int64_t took_ps = produced->ns[regime] * 1000;
            assert_true((int64_t)produced->wakeups[regime] <=
                        took_ps / (model.call_ps + model.wake_ps));
            assert_true(produced->wakeups[regime] <= 3 * (uint64_t)many[i]);
        }
    }
}

/* The whole ------------------------------------------------------------------------------------ */

static int failed;

static void all(void *unused)
{
    (void)unused;
    produced = support_shared(sizeof *produced);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(producer_is_no_slower_for_sleepers),
        cmocka_unit_test(storms_of_wake_all_are_bounded),
    };
    failed = cmocka_run_group_tests(tests, NULL, NULL);
    support_unshare(produced, sizeof *produced);
}

static struct sim_model model_of(const char *text)
{
    struct machine_spec spec;
    struct error error = {0};
    if (!machine_spec_parse(&spec, text, &error)) {
        fprintf(stderr, "sim_wakes: %s\n", error.text);
        exit(1);
    }
    struct sim_model of = spec.model;
    machine_spec_free(&spec);
    return of;
}

int main(void)
{
    model = model_of("sim:server64");
    guest = model_of("sim:server64,host=vm");
    sim_run(&model, 1, all, NULL);
    return failed > 0;
}
