/* floors.c - what the machine charges for the bare things that every scheduler is made of. */
#include "harness/micro/micro.h"

#include "ctx.h"

#include <errno.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { SETTLE_NS = 20000, THREAD_STACK = 256 << 10, CONTEXT_STACK = 64 << 10, WAKES = 1000 };

/* One core ----------------------------------------------------------------------------------- */

static __attribute__((noinline)) uint64_t called(uint64_t value)
{
    __asm__ volatile("");
    return value + 1;
}

static void call(struct micro *micro)
{
    uint64_t value = 0;
    while (micro_more(micro, MICRO_BATCH))
        for (int i = 0; i < MICRO_BATCH; i++)
            value = called(value);
    micro_expect(micro, "calls", value, micro_done(micro));
}

static void kernel_call(struct micro *micro)
{
    while (micro_more(micro, MICRO_BATCH))
        for (int i = 0; i < MICRO_BATCH; i++)
            machine_call();
}

static void store(struct micro *micro)
{
    _Atomic uint64_t slots[64];
    uint64_t next = 0;
    while (micro_more(micro, MICRO_BATCH))
        for (int i = 0; i < MICRO_BATCH; i++, next++)
            atomic_store_explicit(&slots[next % 64], next, memory_order_release);
    uint64_t last = atomic_load_explicit(&slots[(next - 1) % 64], memory_order_relaxed);
    micro_expect(micro, "stores", last + 1, micro_done(micro));
}

static void cas(struct micro *micro)
{
    _Alignas(64) _Atomic uint64_t word = 0;
    uint64_t expected = 0, failed = 0;
    while (micro_more(micro, MICRO_BATCH))
        for (int i = 0; i < MICRO_BATCH; i++, expected++)
            failed += !atomic_compare_exchange_strong_explicit(
                &word, &expected, expected + 1, memory_order_acq_rel, memory_order_relaxed);
    micro_expect(micro, "failed exchanges", failed, 0);
    micro_expect(micro, "exchanges", atomic_load_explicit(&word, memory_order_relaxed),
                 micro_done(micro));
}

static void xchg(struct micro *micro)
{
    _Alignas(64) _Atomic uint64_t word = 0;
    uint64_t next = 0, wrong = 0;
    while (micro_more(micro, MICRO_BATCH))
        for (int i = 0; i < MICRO_BATCH; i++, next++)
            wrong += atomic_exchange_explicit(&word, next + 1, memory_order_acq_rel) != next;
    micro_expect(micro, "wrong values", wrong, 0);
    micro_expect(micro, "exchanges", next, micro_done(micro));
}

static void fence(struct micro *micro)
{
    _Alignas(64) _Atomic uint32_t word = 0, scratch = 0;
    uint64_t sum = 0;
    while (micro_more(micro, MICRO_BATCH)) {
        for (uint32_t i = 0; i < MICRO_BATCH; i++) {
            /* relaxed: the fence is what is measured */
            atomic_store_explicit(&word, i, memory_order_relaxed);
            machine_fence(&scratch);
            sum += atomic_load_explicit(&word, memory_order_relaxed) == i;
        }
    }
    micro_expect(micro, "fences", sum, micro_done(micro));
}

static void clock_read(struct micro *micro)
{
    int64_t before = machine_now(), backwards = 0;
    while (micro_more(micro, MICRO_BATCH)) {
        for (int i = 0; i < MICRO_BATCH; i++) {
            int64_t now = machine_now();
            backwards += now < before;
            before = now;
        }
    }
    micro_expect(micro, "steps backwards", (uint64_t)backwards, 0);
}

/* Context switch ----------------------------------------------------------------------------- */

/* Two contexts on one thread, without Gs that a scheduler would know: `here` and `there` are only
 * what ctx_switch() takes. */
struct switching {
    struct g here, there;
    char *stack;
    uint64_t arrivals;
};

static struct switching *switching; /* a fresh context gets no argument */

static struct g *switch_over(struct g *from, struct g *to)
{
    return ctx_switch(from, &from->sp, to, to->stack, CONTEXT_STACK, false);
}

static _Noreturn void context_main(struct g *prev)
{
    (void)prev;
    struct switching *s = switching;
#if defined(CTX_ASAN)
    const void *low;
    size_t size;
    __sanitizer_finish_switch_fiber(NULL, &low, &size);
    s->here.stack = (char *)(uintptr_t)low;
#endif
    for (;;) {
        s->arrivals++;
        switch_over(&s->there, &s->here);
    }
}

static void context_prepare(struct switching *s)
{
    s->stack = machine_alloc(CONTEXT_STACK, 64);
    if (!s->stack)
        fatal_env(ENOMEM, "no memory for a stack");
    s->there.stack = s->stack;
    s->there.sp = ctx_prepare(s->stack + CONTEXT_STACK, context_main);
#if defined(CTX_TSAN)
    s->here.fiber = __tsan_get_current_fiber();
    s->there.fiber = __tsan_create_fiber(0);
#endif
}

static void context_switch(struct micro *micro)
{
    struct switching s = {.arrivals = 0};
    size_t unused;
    machine_stack_bounds(&s.here.stack, &unused);
    switching = &s;
    context_prepare(&s);
    switch_over(&s.here, &s.there); /* its first call */
    s.arrivals = 0;
    while (micro_more(micro, MICRO_BATCH))
        for (int i = 0; i < MICRO_BATCH / 2; i++)
            switch_over(&s.here, &s.there);
    micro_expect(micro, "switches", 2 * s.arrivals, micro_done(micro));
#if defined(CTX_TSAN)
    __tsan_destroy_fiber(s.there.fiber);
#endif
    machine_free(s.stack);
}

/* Two cores ---------------------------------------------------------------------------------- */

struct ball {
    _Alignas(64) _Atomic uint64_t at; /* 2i + 1: thrown for the i-th time; 2i + 2: returned */
    uint64_t n;
};

static void ball_return(void *arg)
{
    struct ball *ball = arg;
    for (uint64_t i = 0; i < ball->n; i++) {
        while (atomic_load_explicit(&ball->at, memory_order_acquire) != 2 * i + 1)
            machine_relax(&ball->at, 1);
        atomic_store_explicit(&ball->at, 2 * i + 2, memory_order_release);
    }
}

static void line_round_trip(struct micro *micro)
{
    struct ball ball = {.n = micro->n + 1};
    struct micro_partner partner;
    if (!micro_partner_start(&partner, micro, ball_return, &ball))
        return;
    for (uint64_t i = 0; i < ball.n; i++) {
        if (i == 1)
            micro_start(micro); /* the first one waits for the partner's start */
        atomic_store_explicit(&ball.at, 2 * i + 1, memory_order_release);
        while (atomic_load_explicit(&ball.at, memory_order_acquire) != 2 * i + 2)
            machine_relax(&ball.at, 1);
    }
    micro_stop(micro);
    micro_partner_join(&partner);
    micro_expect(micro, "round trips", ball.at / 2, micro->n + 1);
}

/* Threads and futexes ------------------------------------------------------------------------ */

static void thread_main(void *arg)
{
    ++*(uint64_t *)arg;
}

static void thread_start_join(struct micro *micro)
{
    uint64_t ran = 0;
    micro_start(micro);
    for (uint64_t i = 0; i < micro->n; i++) {
        struct machine_thread thread;
        int error = machine_thread_start(&thread, thread_main, &ran, THREAD_STACK, -1);
        if (error)
            fatal_env(-error, "cannot start a thread");
        machine_thread_join(&thread);
    }
    micro_stop(micro);
    micro_expect(micro, "threads", ran, micro->n);
}

/* Not machine_wait() and machine_wake(): here it matters how many were woken. */
struct sleeper {
    _Alignas(64) _Atomic uint32_t word; /* 1: the end */
    _Alignas(64) _Atomic uint64_t awake;
    _Atomic int64_t awake_ns; /* relaxed: published by awake */
};

static long futex(_Atomic uint32_t *word, int operation, uint32_t value)
{
    return syscall(SYS_futex, word, operation, value, NULL, NULL, 0);
}

static void sleeper_main(void *arg)
{
    struct sleeper *sleeper = arg;
    for (;;) {
        bool woken = futex(&sleeper->word, FUTEX_WAIT_PRIVATE, 0) == 0;
        int64_t now = machine_now();
        if (atomic_load_explicit(&sleeper->word, memory_order_acquire))
            return;
        if (!woken)
            continue;
        atomic_store_explicit(&sleeper->awake_ns, now, memory_order_relaxed);
        atomic_fetch_add_explicit(&sleeper->awake, 1, memory_order_release);
    }
}

/* Long enough for a thread that is about to sleep to have left its core. */
static void settle(const void *word)
{
    int64_t end = machine_now() + SETTLE_NS;
    while (machine_now() < end)
        machine_relax(word, 1);
}

enum { WAKER_PAYS, UNTIL_AWAKE };

/* how: what the waker pays, or until the woken thread runs. */
static void futex_wake(struct micro *micro)
{
    struct sleeper sleeper = {.word = 0};
    struct micro_partner partner;
    uint64_t woken = 0;
    if (!micro_partner_start(&partner, micro, sleeper_main, &sleeper))
        return;
    micro_open(micro);
    while (woken < micro->n) {
        settle(&sleeper.word);
        uint64_t awake = atomic_load_explicit(&sleeper.awake, memory_order_acquire);
        int64_t before = machine_now();
        bool was_asleep = futex(&sleeper.word, FUTEX_WAKE_PRIVATE, 1) == 1;
        int64_t after = machine_now();
        if (!was_asleep)
            continue;
        woken++;
        while (atomic_load_explicit(&sleeper.awake, memory_order_acquire) == awake)
            machine_relax(&sleeper.awake, 1);
        int64_t ran = atomic_load_explicit(&sleeper.awake_ns, memory_order_relaxed);
        micro_took(micro, (micro->op->how == UNTIL_AWAKE ? ran : after) - before);
    }
    micro_close(micro);
    atomic_store_explicit(&sleeper.word, 1, memory_order_release);
    futex(&sleeper.word, FUTEX_WAKE_PRIVATE, 1);
    micro_partner_join(&partner);
}

static void futex_wake_nobody(struct micro *micro)
{
    _Atomic uint32_t word = 0;
    long woken = 0;
    while (micro_more(micro, MICRO_BATCH))
        for (int i = 0; i < MICRO_BATCH; i++)
            woken += futex(&word, FUTEX_WAKE_PRIVATE, 1);
    micro_expect(micro, "threads woken", (uint64_t)woken, 0);
}

const struct micro_op micro_floors[] = {
    {.name = "floor/call", .run = call},
    {.name = "floor/kernel_call", .run = kernel_call},
    {.name = "floor/store", .run = store},
    {.name = "floor/cas", .run = cas},
    {.name = "floor/xchg", .run = xchg},
    {.name = "floor/fence", .run = fence},
    {.name = "floor/clock", .run = clock_read},
    {.name = "floor/ctx_switch", .run = context_switch},
    {.name = "floor/line_round_trip", .style = MICRO_TIMED, .run = line_round_trip},
    {.name = "floor/thread", .style = MICRO_TIMED, .run = thread_start_join},
    {.name = "floor/futex_wake_nobody", .run = futex_wake_nobody},
    {"floor/futex_wake", NULL, MICRO_TIMED, futex_wake, .iterations = WAKES, .how = WAKER_PAYS},
    {"floor/futex_wake_run", NULL, MICRO_TIMED, futex_wake, .iterations = WAKES,
     .how = UNTIL_AWAKE},
    {0},
};
