/* wake_formulas.c - how sleeping workers come to work, on a simulated server of 64 cores, against
 * formulas of its prices. A part of sim_formulas.
 *
 * One goroutine spawns a task for each worker, while all other workers sleep, or have not been
 * started. Each task is longer than it takes until the last has started. `lines` is what a worker
 * reads and another, which is not near, wrote last: the lock, lists, M, P, counts, the queue, G and
 * stack. Variants differ in that (struct lines). With us for all prices the k-th start is by the
 * knob wake
 *
 *   chain   k * link + call + wake
 *           A woken worker finds a task, calls the kernel for the next one, and then begins its
 *           own. The kernel wakes that one while the call goes on, so `wake` is in no link.
 *               link = call + wakeup + lines * dirty.socket
 *   start   between k * (start + wakeup) and (k + 1) * (start + wakeup + lines * dirty.socket)
 *           As chain, but each worker starts the thread of the next one. START_LINES are its own.
 *   all     storm + call + wakeup + k * (call + wake + ALL_LINES * dirty.socket)
 *           The first task wakes all. Until the spawner has called for the last of them, the others
 *           have found nothing, and sleep. It spawns the rest while the last ones look. One of
 *           these finds a task, and wakes all others, one after the other.
 *               storm = (P - 1) * (call + wake), and up to STORM_LINES more for each, which those
 *           that were woken take from the spawner. Up to AWAKE workers do not sleep yet.
 *           On the machine itself all may sleep again when the storm ends, in 5 of 16 seeds. Then
 *           starts come up to a storm later.
 *           So it is as long as call + wake < wakeup. Else nobody looks any more when the spawner
 *           goes on, and it wakes all for each task.
 *   none    k / P * (poll + slack + wakeup)
 *           Each sleeper looks by itself after a millisecond, which the kernel prolongs.
 *
 * Each wake-up of an idle core takes up to an eighth longer than the model's (threads.c), evenly.
 * So `wakeup` is 17/16 of it here. A sum of k of them is off by less than three deviations.
 * Beside that, bounds are a number of lines for each step, which searches and locks take more or
 * less often. Starts are the same to the last digit for a seed. They are held as the prices are,
 * and as they may be for a guest (host=vm).
 */
#include "tests/sim/wake_formulas.h"

#include "harness/models/machine_spec.h"
#include "internal.h"
#include "sim/sim.h"
#include "tests/support/support.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

enum {
    P = 64,
    START_LINES = 5,
    ALL_LINES = 2,
    STORM_LINES = 18,
    AWAKE = P / 5,
    POLL_PS = 1000000000,  /* idle.c: how often an idle M looks with wake=none */
    SLEEPY_NS = 2000000,   /* until then all workers without work sleep */
    CLAIMS_SIZE = 1 << 20, /* of the text of all claims */
};
#define LONG_PS INT64_C(5000000000)
#define BURST_PS INT64_C(1000000000)

static struct sim_model model, guest;

/* For each worker that comes to work: what it finds elsewhere, and how far that may be off. Thieves
 * of children and continuations read the victim's deque, frames and stack as well. */
struct lines {
    const char *variant;
    int link, off;
};
static const struct lines variants[] = {
    {"gmp", 11, 2}, {"perm", 12, 2}, {"grq", 7, 2}, {"tasksteal", 26, 5}, {"contsteal", 25, 5}};
enum { GMP, PERM, GRQ, TASKSTEAL, CONTSTEAL, VARIANTS };

/* Formulas ------------------------------------------------------------------------------------- */

static double lines_us(const struct sim_model *of, double lines)
{
    return lines * (double)of->dirty_ps[SIM_SOCKET] / 1e6;
}

static double call_and_wake_us(const struct sim_model *of)
{
    return (double)(of->call_ps + of->wake_ps) / 1e6;
}

static double wakeup_us(const struct sim_model *of)
{
    return (double)of->wakeup_ps * 17 / 16 / 1e6;
}

/* Three deviations of the sum of k wake-ups. */
static double drawn_us(const struct sim_model *of, int k)
{
    return 3 * (double)of->wakeup_ps / 8 / 1e6 * sqrt(k / 12.0);
}

static double link_us(const struct sim_model *of, const struct lines *lines)
{
    return (double)of->call_ps / 1e6 + wakeup_us(of) + lines_us(of, lines->link);
}

static double start_us(const struct sim_model *of, const struct lines *lines)
{
    return (double)of->start_ps / 1e6 + wakeup_us(of) + lines_us(of, lines->link + START_LINES);
}

/* By how much the k-th start of a chain may be off. */
static double chain_bound_us(const struct sim_model *of, const struct lines *lines, int k)
{
    return lines_us(of, lines->off * k + lines->link + START_LINES) + drawn_us(of, k);
}

/* The guest with one price of its own. */
static struct sim_model guest_with(int64_t wake_ps, int64_t wakeup_ps)
{
    struct sim_model with = guest;
    with.wake_ps = wake_ps ? wake_ps : guest.wake_ps;
    with.wakeup_ps = wakeup_ps ? wakeup_ps : guest.wakeup_ps;
    return with;
}

/* The crowd ------------------------------------------------------------------------------------ */

/* In memory of the child too. */
static struct crowd {
    struct sim_model model;
    int64_t work_ps;        /* of a task */
    int64_t start_ns[2][P]; /* of threads, then of sleepers; sorted, from before the first spawn */
    int64_t storm_ns;       /* until the first spawn has returned */
    uint64_t wakeups;
} * crowd;

struct member {
    struct waitgroup *done;
    int64_t start_ns;
};

static void member_main(void *arg)
{
    struct member *self = arg;
    self->start_ns = go_now();
    go_work((uint64_t)(crowd->work_ps / sim_model.work_ps));
    wg_done(self->done);
}

static uint64_t stat_now(enum stat_id stat)
{
    return sched_stat(this_sched(), stat);
}

static void stay_awake(int64_t ns)
{
    for (int64_t end = go_now() + ns; go_now() < end;)
        go_work(1000);
}

static int earlier(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static void crowd_come(int64_t start_ns[P])
{
    static struct member members[P];
    struct waitgroup *done = go_alloc_zeroed(sizeof *done);
    uint64_t wakeups = stat_now(STAT_WAKEUPS);
    int64_t began = go_now();
    wg_add(done, P);
    for (int i = 0; i < P; i++) {
        members[i] = (struct member){.done = done};
        go(member_main, &members[i]);
        if (i == 0)
            crowd->storm_ns = go_now() - began;
    }
    wg_wait(done);
    crowd->wakeups = stat_now(STAT_WAKEUPS) - wakeups;
    for (int i = 0; i < P; i++)
        start_ns[i] = members[i].start_ns - began;
    qsort(start_ns, P, sizeof start_ns[0], earlier);
    go_free(done);
}

/* The first crowd starts the threads. */
static void crowd_main(void *arg)
{
    (void)arg;
    crowd_come(crowd->start_ns[0]);
    stay_awake(SLEEPY_NS);
    crowd_come(crowd->start_ns[1]);
}

static void crowd_before(void *arg)
{
    (void)arg;
    sim_model = crowd->model;
}

static void crowd_run(const char *variant, const char *settings, uint64_t seed,
                      const struct sim_model *with, int64_t work_ps)
{
    static struct support_report report;
    struct support_run run = {.variant = variant,
                              .settings = settings,
                              .workers = P,
                              .seed = seed,
                              .before = crowd_before,
                              .fn = crowd_main};
    crowd->model = *with;
    crowd->work_ps = work_ps;
    support_run(&run, &report);
    if (report.status != 0)
        fail_msg("%s,%s: status %d, output:\n%s", variant, settings, report.status, report.output);
}

static const char *name_of(const struct sim_model *of)
{
    if (of->wake_ps == model.wake_ps)
        return "server64";
    return of->wake_ps == guest.wake_ps && of->wakeup_ps == guest.wakeup_ps ? "guest"
                                                                            : "other guest";
}

/* The measured number lies between two. If all of a ramp hold, --json has a few of it. */
static void claim_within(const struct sim_model *of, const char *variant, const char *what, int k,
                         double low, double high, double measured)
{
    char text[128];
    if (measured >= low && measured <= high && k % 16 != 0 && k != P - 1)
        return;
    snprintf(text, sizeof text, "%s on %s, %s %d", variant, name_of(of), what, k);
    claim(text, (low + high) / 2, (high - low) / 2, measured);
}

static double start_measured_us(int crowd_of, int k)
{
    return (double)crowd->start_ns[crowd_of][k] / 1e3;
}

static void chain_claims(const struct lines *lines, uint64_t seed, const struct sim_model *on)
{
    crowd_run(lines->variant, "wake=chain", seed, on, LONG_PS);
    for (int k = 1; k < P; k++) {
        double us = k * link_us(on, lines) + call_and_wake_us(on);
        double off = chain_bound_us(on, lines, k);
        claim_within(on, lines->variant, "wake=chain: us to start", k, us - off, us + off,
                     start_measured_us(1, k));
    }
    claim_within(on, lines->variant, "wake=chain: wake-ups of", P, P - 3, P + 1,
                 (double)crowd->wakeups);
}

/* A chain has one worker under way at a time, so the ramp is linear, whatever a call takes. */
static void wake_chain_is_linear(void **state)
{
    (void)state;
    struct sim_model slow = guest_with(0, 3 * guest.wakeup_ps),
                     dear = guest_with(2 * guest.wake_ps, 0);
    for (int i = 0; i < VARIANTS; i++) {
        chain_claims(&variants[i], 1, &guest);
        chain_claims(&variants[i], 1, &model);
    }
    chain_claims(&variants[GMP], 2, &guest);
    chain_claims(&variants[GMP], 1, &slow);
    chain_claims(&variants[GRQ], 1, &dear);
}

/* As many tasks as cores, of a millisecond each: all have started within P times what the start of
 * a thread takes, and within P times a link where threads sleep. On the machine itself no task ends
 * before that, so that each has a worker. */
static void burst_claims(const struct lines *lines, const struct sim_model *on, bool sleepers_too)
{
    double start = start_us(on, lines), link = link_us(on, lines);
    double off = chain_bound_us(on, lines, P);
    crowd_run(lines->variant, "wake=chain", 1, on, BURST_PS);
    claim_within(on, lines->variant, "us to start a thread for each of a burst of", P, 0,
                 P * start + off, start_measured_us(0, P - 1));
    if (sleepers_too)
        claim_within(on, lines->variant, "us to wake a thread for each of a burst of", P, 0,
                     (P + 4) * link + off, start_measured_us(1, P - 1));
}

static void wake_burst_starts_everywhere(void **state)
{
    (void)state;
    for (int i = 0; i < VARIANTS; i++) {
        const struct lines *lines = &variants[i];
        burst_claims(lines, &guest, i <= GRQ);
        burst_claims(lines, &model, i <= GRQ);
        crowd_run(lines->variant, "wake=chain", 1, &model, LONG_PS);
        for (int k = 1; k < P; k++)
            claim_within(&model, lines->variant, "us to start thread", k,
                         k * (double)(model.start_ps + model.wakeup_ps) / 1e6,
                         (k + 1) * start_us(&model, lines) + chain_bound_us(&model, lines, k) +
                             lines_us(&model, 2 * k),
                         start_measured_us(0, k));
    }
}

/* late: 1 if starts may come a storm later, 0 if not. */
static void all_claims(const struct lines *lines, const struct sim_model *on, double late)
{
    double one = call_and_wake_us(on), woken = (double)on->call_ps / 1e6 + wakeup_us(on);
    crowd_run(lines->variant, "wake=all", 1, on, LONG_PS);
    double storm = (double)crowd->storm_ns / 1e3;
    claim_within(on, lines->variant, "wake=all: us of a storm over", P, (P - 1 - AWAKE) * one,
                 (P - 1) * (one + lines_us(on, STORM_LINES)), storm);
    for (int k = P / 4; k < P; k++) {
        double us = storm + woken + k * (one + lines_us(on, ALL_LINES));
        double off = lines_us(on, 3 * k + STORM_LINES) + wakeup_us(on) / 17 + 3 * one;
        claim_within(on, lines->variant, "wake=all: us to start", k, us - off,
                     us + off + late * storm, start_measured_us(1, k));
    }
    claim_within(on, lines->variant, "wake=all: wake-ups of", P, 2 * (P - 1) * 0.75,
                 2 * (P - 1) * 1.25, (double)crowd->wakeups);
}

static void wake_all_is_two_storms(void **state)
{
    (void)state;
    struct sim_model dear = guest_with(2 * guest.wake_ps, 0);
    for (int i = GMP; i <= TASKSTEAL; i++) {
        all_claims(&variants[i], &guest, 0);
        all_claims(&variants[i], &model, 1);
    }
    all_claims(&variants[GRQ], &dear, 0);
}

/* A sleeper looks by the hour at which its last task has ended. For a guest these hours fill the
 * period, since the first crowd takes longer to start. On the machine itself they leave out a part
 * of it, and the middle comes later by up to a third. */
static void none_claims(const struct lines *lines, const struct sim_model *on, double middle_later)
{
    double period = (double)(POLL_PS + on->slack_ps) / 1e6 + wakeup_us(on);
    crowd_run(lines->variant, "wake=none", 1, on, LONG_PS);
    claim_within(on, lines->variant, "wake=none: us to start", P / 2, period / 2 * 0.9,
                 period / 2 * (1 + middle_later), start_measured_us(1, P / 2));
    claim_within(on, lines->variant, "wake=none: us to start", P - 1, period * (P - 2) / P,
                 period * (P + 1) / P, start_measured_us(1, P - 1));
    assert_int_equal(crowd->wakeups, 0);
}

static void wake_none_is_a_poll(void **state)
{
    (void)state;
    for (int i = GMP; i <= GRQ; i += GRQ - GMP) {
        none_claims(&variants[i], &guest, 0.1);
        none_claims(&variants[i], &model, 0.34);
    }
}

/* The whole ------------------------------------------------------------------------------------ */

static int failed;

static void all(void *unused)
{
    (void)unused;
    crowd = support_shared(sizeof *crowd);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wake_chain_is_linear),
        cmocka_unit_test(wake_burst_starts_everywhere),
        cmocka_unit_test(wake_all_is_two_storms),
        cmocka_unit_test(wake_none_is_a_poll),
    };
    failed = cmocka_run_group_tests(tests, NULL, NULL);
    support_unshare(crowd, sizeof *crowd);
}

static struct sim_model model_of(const char *text)
{
    struct machine_spec spec;
    struct error error = {0};
    if (!machine_spec_parse(&spec, text, &error)) {
        fprintf(stderr, "sim_formulas: %s\n", error.text);
        exit(1);
    }
    struct sim_model of = spec.model;
    machine_spec_free(&spec);
    return of;
}

int wake_formulas(void)
{
    char *text = support_shared(CLAIMS_SIZE);
    int status = 1;
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        model = model_of("sim:server64");
        guest = model_of("sim:server64,host=vm");
        sim_run(&model, 1, all, NULL);
        size_t size = json_dumpb(claims, text, CLAIMS_SIZE - 1, JSON_COMPACT);
        exit(failed > 0 || size >= CLAIMS_SIZE);
    }
    if (child > 0)
        waitpid(child, &status, 0);
    json_t *made = json_loads(text, 0, NULL);
    json_array_extend(claims, made);
    json_decref(made);
    support_unshare(text, CLAIMS_SIZE);
    return status;
}
