/* calibrate_kernel.c - see calibrate.h: what the kernel takes for what machine.h offers.
 *
 * The simulator charges sums of few prices, so each price here is what a measured whole leaves when
 * the others are taken off:
 *
 *     machine_call()                       call
 *     machine_wake() of a sleeper          call + wake
 *     from there until the sleeper runs    call + wakeup           on an idle core
 *     a futex hand-over on one core        wake of nobody + wait + switch
 *     machine_yield() to another thread    call + switch
 *     machine_thread_start()               start                   on the own core
 *     a thread that does nothing           switch + end
 *     machine_sleep(t)                     t + slack + wakeup
 *     from pthread_kill() to the handler   call + signal
 */
#include "harness/calibrate/calibrate.h"

#include "machine.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>

enum {
    STACK_SIZE = 64 << 10,
    SETTLE_NS = 60000,    /* until a thread that goes to sleep sleeps, and its core is idle */
    WAIT_NS = 1000000000, /* a peer that does not come for so long does not come */
    HANDS = 64,           /* hand-overs and yields of one sample */
    STARTS = 32,          /* threads of one sample */
    PEEK_NS = 1000,
    LOOKS = 10000,
    SLEEP_NS = 200000,
    GAP_NS = 200000, /* a thread that sees no time for so long was not running */
    GAPS = 15,
    GAPS_NS_MAX = 1000000000,
};

/* One other thread, and what passes between the two. */
static struct {
    _Alignas(64) _Atomic uint32_t word;
    _Alignas(64) _Atomic uint32_t ready;
    _Alignas(64) _Atomic int64_t stamp_ns;
    _Atomic bool over;
    struct machine_thread thread;
} peer;

static void spin(int64_t ns)
{
    for (int64_t until = machine_now() + ns; machine_now() < until;)
        continue;
}

/* False if *word does not become that in time. */
static bool spin_until(_Atomic uint32_t *word, uint32_t value)
{
    for (int64_t until = machine_now() + WAIT_NS;
         atomic_load_explicit(word, memory_order_acquire) != value;)
        if (machine_now() > until)
            return false;
    return true;
}

/* When the peer was there; 0 if it does not come. */
static int64_t stamp_wait(void)
{
    int64_t stamp, until = machine_now() + WAIT_NS;
    while ((stamp = atomic_load_explicit(&peer.stamp_ns, memory_order_acquire)) == 0 &&
           machine_now() < until)
        continue;
    return stamp;
}

/* Adds a figure of as many samples as there should be. */
static void add_whole(struct calibrate *to, const char *name, double *samples, size_t count)
{
    if (count == CALIBRATE_SAMPLES)
        calibrate_add(to, name, samples, count);
    else
        calibrate_absent(to, name, "the second core was busy with other programs");
}

/* Starts the peer on the place `cpu` of the cores; false if it cannot, or if that is -1. */
static bool peer_start(void (*fn)(void *), int cpu)
{
    atomic_store(&peer.word, 0);
    atomic_store(&peer.ready, 0);
    atomic_store(&peer.stamp_ns, 0);
    atomic_store(&peer.over, false);
    return cpu >= 0 && machine_thread_start(&peer.thread, fn, NULL, STACK_SIZE, cpu) == 0;
}

static void peer_end(void)
{
    atomic_store(&peer.over, true);
    atomic_fetch_add(&peer.word, 1);
    machine_wake(&peer.word, 1);
    machine_thread_join(&peer.thread);
}

/* A core beside the first, the nearest; -1: there is none. */
static int second_core(const struct calibrate *from)
{
    for (int distance = 0; distance < SIM_DISTANCES; distance++)
        if (from->other[distance] >= 0)
            return from->other[distance];
    return from->cpus_count > 1 ? 1 : -1;
}

/* Calls --------------------------------------------------------------------------------------- */

static void call_loop(void *arg, int64_t n)
{
    (void)arg;
    for (int64_t i = 0; i < n; i++)
        machine_call();
}

static void yield_loop(void *arg, int64_t n)
{
    (void)arg;
    for (int64_t i = 0; i < n; i++)
        machine_yield();
}

static void nobody_loop(void *arg, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        machine_wake(arg, 1);
}

static void refused_loop(void *arg, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        machine_wait(arg, 1, -1);
}

static void spin_main(void *arg)
{
    (void)arg;
    atomic_store(&peer.ready, 1);
    while (!atomic_load_explicit(&peer.over, memory_order_relaxed))
        atomic_fetch_add_explicit(&peer.word, 1, memory_order_relaxed);
}

/* True if the spinning peer has its core right now. */
static bool peer_runs(void)
{
    uint32_t before = atomic_load_explicit(&peer.word, memory_order_relaxed);
    spin(PEEK_NS);
    return atomic_load_explicit(&peer.word, memory_order_relaxed) != before;
}

/* Looks at the clock all the time; peer.stamp_ns is the longest while in which it did not. */
static void clock_main(void *arg)
{
    (void)arg;
    atomic_store(&peer.ready, 1);
    for (int64_t last = machine_now(); !atomic_load_explicit(&peer.over, memory_order_relaxed);) {
        int64_t now = machine_now();
        if (now - last > atomic_load_explicit(&peer.stamp_ns, memory_order_relaxed))
            atomic_store_explicit(&peer.stamp_ns, now - last, memory_order_relaxed);
        last = now;
        atomic_fetch_add_explicit(&peer.word, 1, memory_order_relaxed);
    }
}

/* One call at a time, while the peer runs: the kernel asks only threads that do. And for how long
 * the peer stands still, beyond what it takes to look at the clock. */
static size_t membarrier_samples(double call[CALIBRATE_SAMPLES], double lost[CALIBRATE_SAMPLES])
{
    size_t count = 0;
    for (int64_t until = machine_now() + WAIT_NS;
         count < CALIBRATE_SAMPLES && machine_now() < until;) {
        atomic_store_explicit(&peer.stamp_ns, 0, memory_order_relaxed);
        if (!peer_runs())
            continue;
        int64_t usual = atomic_exchange_explicit(&peer.stamp_ns, 0, memory_order_relaxed);
        int64_t start = machine_now();
        machine_fence_all();
        call[count] = (double)(machine_now() - start);
        bool runs = peer_runs();
        lost[count] =
            fmax(0, (double)(atomic_load_explicit(&peer.stamp_ns, memory_order_relaxed) - usual));
        count += runs;
    }
    return count;
}

static void measure_membarrier(struct calibrate *to, int core)
{
    double call[CALIBRATE_SAMPLES], lost[CALIBRATE_SAMPLES];
    const char *absent = NULL;
    if (machine_fence_all() == -ENOSYS)
        absent = "this kernel has no expedited membarrier()";
    else if (!peer_start(clock_main, core))
        absent = "there is no second core that a thread could run on";
    if (absent) {
        calibrate_absent(to, "membarrier", "%s", absent);
        calibrate_absent(to, "interrupt", "%s", absent);
        return;
    }
    spin_until(&peer.ready, 1);
    size_t count = membarrier_samples(call, lost);
    peer_end();
    add_whole(to, "membarrier", call, count);
    add_whole(to, "interrupt", lost, count);
}

/* Waking -------------------------------------------------------------------------------------- */

static void sleeper_main(void *arg)
{
    (void)arg;
    for (uint32_t turn = 0; !atomic_load(&peer.over); turn++) {
        atomic_store_explicit(&peer.ready, turn + 1, memory_order_release);
        while (atomic_load_explicit(&peer.word, memory_order_acquire) == turn)
            machine_wait(&peer.word, turn, -1);
        atomic_store_explicit(&peer.stamp_ns, machine_now(), memory_order_release);
    }
}

/* The waker's time and the way to the sleeper, CALIBRATE_SAMPLES times. */
static void measure_wake(struct calibrate *to, int core, double call)
{
    double wake[CALIBRATE_SAMPLES], wakeup[CALIBRATE_SAMPLES];
    if (!peer_start(sleeper_main, core)) {
        calibrate_absent(to, "wake", "there is no second core for the sleeper");
        calibrate_absent(to, "wakeup", "there is no second core for the sleeper");
        return;
    }
    uint32_t count = 0;
    for (; count < CALIBRATE_SAMPLES && spin_until(&peer.ready, count + 1); count++) {
        spin(SETTLE_NS);
        atomic_store_explicit(&peer.stamp_ns, 0, memory_order_relaxed);
        atomic_store_explicit(&peer.word, count + 1, memory_order_release);
        int64_t start = machine_now();
        machine_wake(&peer.word, 1);
        wake[count] = fmax(0, (double)(machine_now() - start) - call);
        int64_t ran = stamp_wait();
        if (!ran)
            break;
        wakeup[count] = fmax(0, (double)(ran - start) - call);
    }
    peer_end();
    add_whole(to, "wake", wake, count);
    add_whole(to, "wakeup", wakeup, count);
}

/* Switching ----------------------------------------------------------------------------------- */

static void yielder_main(void *arg)
{
    (void)arg;
    atomic_store(&peer.ready, 1);
    while (!atomic_load_explicit(&peer.over, memory_order_relaxed)) {
        machine_yield();
        /* only one thread writes at a time, for both are on one core; the other counts with it */
        atomic_fetch_add_explicit(&peer.word, 1, memory_order_relaxed);
    }
}

/* Two threads of one core yield to each other; what counts is how often the other one ran. */
static void measure_switch(struct calibrate *to, double call)
{
    double samples[CALIBRATE_SAMPLES];
    if (!peer_start(yielder_main, 0)) {
        calibrate_absent(to, "switch", "cannot start a thread");
        return;
    }
    while (!atomic_load(&peer.ready))
        machine_yield();
    size_t count = 0;
    for (int i = 0; i < 4 * CALIBRATE_SAMPLES && count < CALIBRATE_SAMPLES; i++) {
        uint32_t before = atomic_load(&peer.word);
        int64_t start = machine_now();
        for (int k = 0; k < HANDS; k++)
            machine_yield();
        int64_t took = machine_now() - start;
        uint32_t ran = atomic_load(&peer.word) - before;
        /* there and back are two; where the kernel let one go on, there were fewer */
        if (ran > HANDS / 2)
            samples[count++] = fmax(0, (double)took / (2.0 * ran) - call);
    }
    peer_end();
    if (count)
        calibrate_add(to, "switch", samples, count);
    else
        calibrate_absent(to, "switch", "the kernel does not switch between threads that yield");
}

static void hand_main(void *arg)
{
    (void)arg;
    while (!atomic_load(&peer.over)) {
        uint32_t now = atomic_load_explicit(&peer.word, memory_order_acquire);
        if (now & 1) {
            atomic_store_explicit(&peer.word, now + 1, memory_order_release);
            machine_wake(&peer.word, 1);
        } else {
            machine_wait(&peer.word, now, -1);
        }
    }
}

/* A word that two threads of one core hand to each other, each sleeping until it has it. The wake
 * in it is not the one of measure_wake(), which has to reach another core. */
static void measure_wait(struct calibrate *to, double switch_ns)
{
    double samples[CALIBRATE_SAMPLES], wait[CALIBRATE_SAMPLES];
    double refused = calibrate_median(to, "futex wait, refused");
    double nobody = calibrate_median(to, "futex wake of nobody");
    if (!peer_start(hand_main, 0)) {
        calibrate_absent(to, "wait", "cannot start a thread");
        return;
    }
    for (int i = 0; i < CALIBRATE_SAMPLES; i++) {
        int64_t start = machine_now();
        for (int k = 0; k < HANDS; k++) {
            uint32_t mine = atomic_load_explicit(&peer.word, memory_order_relaxed) + 1;
            atomic_store_explicit(&peer.word, mine, memory_order_release);
            machine_wake(&peer.word, 1);
            while (atomic_load_explicit(&peer.word, memory_order_acquire) == mine)
                machine_wait(&peer.word, mine, -1);
        }
        samples[i] = (double)(machine_now() - start) / (2.0 * HANDS);
        wait[i] = fmax(refused, samples[i] - nobody - switch_ns);
    }
    atomic_store(&peer.over, true);
    atomic_fetch_add(&peer.word, 2);
    machine_wake(&peer.word, 1);
    machine_thread_join(&peer.thread);
    calibrate_add(to, "futex hand-over on one core", samples, CALIBRATE_SAMPLES);
    calibrate_add(to, "wait", wait, CALIBRATE_SAMPLES);
}

/* Threads, signals, time ---------------------------------------------------------------------- */

/* Calls that each thread of the runtime makes and that the simulator has no other price for. */
static void ending_main(void *arg)
{
    char *low;
    size_t size;
    (void)arg;
    machine_thread_enter();
    machine_stack_bounds(&low, &size);
    machine_thread_leave();
    atomic_fetch_add_explicit(&peer.ready, 1, memory_order_relaxed);
}

/* Starts some threads, which inherit the one core of their starter and run when they are waited
 * for; ns of a start, and of a thread's whole life after it. -EBUSY if one ran before that: the
 * kernel may prefer a new thread to one that has run for long, so their starter has just slept. */
static int threads_run(double *start_ns, double *life_ns)
{
    struct machine_thread thread[STARTS];
    int started = 0, error = 0;
    atomic_store(&peer.ready, 0);
    machine_sleep(SLEEP_NS);
    int64_t began = machine_now();
    while (started < STARTS && error == 0) {
        error = machine_thread_start(&thread[started], ending_main, NULL, STACK_SIZE, -1);
        started += error == 0;
    }
    int64_t all_there = machine_now();
    if (atomic_load(&peer.ready) > 0 && error == 0)
        error = -EBUSY;
    for (int i = 0; i < started; i++)
        machine_thread_join(&thread[i]);
    *start_ns = (double)(all_there - began) / STARTS;
    *life_ns = (double)(machine_now() - all_there) / STARTS;
    return error;
}

static void measure_start(struct calibrate *to, double switch_ns)
{
    double start[CALIBRATE_SAMPLES], end[CALIBRATE_SAMPLES];
    size_t count = 0;
    int error = 0;
    for (int i = 0; i < 4 * CALIBRATE_SAMPLES && count < CALIBRATE_SAMPLES; i++) {
        error = threads_run(&start[count], &end[count]);
        if (error && error != -EBUSY)
            break;
        end[count] -= switch_ns;
        if (error == 0 && end[count] <= 0) /* something else ran while the switch was measured */
            error = -EBUSY;
        count += error == 0;
    }
    if (count > 0) {
        calibrate_add(to, "start", start, count);
        calibrate_add(to, "end", end, count);
    } else {
        const char *why = error == -EBUSY ? "other programs are in the way" : strerror(-error);
        calibrate_absent(to, "start", "cannot start threads that wait: %s", why);
        calibrate_absent(to, "end", "cannot start threads that wait: %s", why);
    }
}

static void on_signal(int number)
{
    (void)number;
    atomic_store_explicit(&peer.stamp_ns, machine_now(), memory_order_release);
}

static void measure_signal(struct calibrate *to, int core, double call)
{
    double samples[CALIBRATE_SAMPLES];
    struct sigaction action = {.sa_handler = on_signal}, before;
    if (!peer_start(spin_main, core)) {
        calibrate_absent(to, "signal", "there is no second core for the receiver");
        return;
    }
    sigaction(SIGUSR1, &action, &before);
    spin_until(&peer.ready, 1);
    size_t count = 0;
    for (; count < CALIBRATE_SAMPLES; count++) {
        for (int look = 0; look < LOOKS && !peer_runs(); look++)
            continue;
        atomic_store_explicit(&peer.stamp_ns, 0, memory_order_relaxed);
        int64_t start = machine_now();
        pthread_kill((pthread_t)peer.thread.handle, SIGUSR1);
        int64_t got = stamp_wait();
        if (!got)
            break;
        samples[count] = fmax(0, (double)(got - start) - call);
    }
    peer_end();
    sigaction(SIGUSR1, &before, NULL);
    add_whole(to, "signal", samples, count);
}

static void measure_sleep(struct calibrate *to, double wakeup)
{
    double samples[CALIBRATE_SAMPLES];
    for (int i = 0; i < CALIBRATE_SAMPLES; i++) {
        int64_t start = machine_now();
        machine_sleep(SLEEP_NS);
        samples[i] = fmax(0, (double)(machine_now() - start - SLEEP_NS) - wakeup);
    }
    calibrate_add(to, "slack", samples, CALIBRATE_SAMPLES);
}

/* Two threads that compute share one core; one notes how long it does not run. */
static void measure_slice(struct calibrate *to)
{
    double samples[GAPS];
    if (!peer_start(spin_main, 0)) {
        calibrate_absent(to, "slice", "cannot start a thread");
        return;
    }
    size_t count = 0;
    int64_t last = machine_now(), until = last + GAPS_NS_MAX, now;
    for (; count < GAPS && last < until; last = now) {
        now = machine_now();
        if (now - last > GAP_NS)
            samples[count++] = (double)(now - last);
    }
    peer_end();
    if (count)
        calibrate_add(to, "slice", samples, count);
    else
        calibrate_absent(to, "slice", "two threads on one core did not take turns within 1 s");
}

void calibrate_kernel(struct calibrate *to)
{
    static _Atomic uint32_t word;
    int core = second_core(to);
    calibrate_loop(to, "call", call_loop, NULL);
    calibrate_loop(to, "yield to nobody", yield_loop, NULL);
    calibrate_loop(to, "futex wake of nobody", nobody_loop, &word);
    calibrate_loop(to, "futex wait, refused", refused_loop, &word);
    double call = calibrate_median(to, "call");
    measure_membarrier(to, core);
    measure_wake(to, core, call);
    measure_switch(to, call);
    double wakeup = calibrate_median(to, "wakeup"), switch_ns = calibrate_median(to, "switch");
    measure_wait(to, isnan(switch_ns) ? 0 : switch_ns);
    measure_start(to, isnan(switch_ns) ? 0 : switch_ns);
    measure_signal(to, core, call);
    measure_sleep(to, isnan(wakeup) ? 0 : wakeup);
    measure_slice(to);
}
