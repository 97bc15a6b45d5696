/* self.h - what of a machine of Linux threads is part of its callers.
 *
 * machine_self() is a thread-local word, read where it is asked for.
 *
 * A goroutine may go on on another thread after any switch, but a compiler takes a thread-local's
 * address for a constant of the function. So the word is read by an instruction that the compiler
 * cannot look into. It is volatile, so that two reads with a switch in between stay two. It is
 * relative to the thread's own register, so that there is no address to keep.
 *   Rejected: a function that is not inlined. It costs a call, and its caller every register that
 *   calls do not preserve, several times on each park and wake.
 *
 * The offset is known when the program is linked, since this is never part of a shared library.
 */
#ifndef SCHEDLAB_NATIVE_SELF_H
#define SCHEDLAB_NATIVE_SELF_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct m;

extern _Thread_local struct m *native_self_m; /* written by machine_set_self() only */

static inline struct m *machine_self(void)
{
    struct m *m;
#if defined(__x86_64__)
    __asm__ volatile("movq %%fs:native_self_m@tpoff, %0" : "=r"(m));
#elif defined(__aarch64__)
    __asm__ volatile("mrs %0, tpidr_el0\n\t"
                     "add %0, %0, #:tprel_hi12:native_self_m, lsl #12\n\t"
                     "ldr %0, [%0, #:tprel_lo12_nc:native_self_m]"
                     : "=r"(m));
#else
#error "machine_self() is not written for this architecture"
#endif
    return m;
}

static inline uint32_t machine_relax(const volatile void *word, uint32_t rounds)
{
    (void)word;
    (void)rounds;
#if defined(__x86_64__)
    __asm__ volatile("pause" ::: "memory");
#elif defined(__aarch64__)
    __asm__ volatile("yield" ::: "memory");
#endif
    return 1;
}

static inline void machine_pause(uint32_t rounds)
{
    for (uint32_t i = 0; i < rounds; i++)
        machine_relax(NULL, 1);
}

/* go_work() has to keep it in its section: preempt.c. */
__attribute__((always_inline)) static inline uint64_t machine_work(uint64_t state, uint32_t rounds)
{
    for (uint32_t i = 0; i < rounds; i++)
        state = state * MACHINE_WORK_FACTOR + MACHINE_WORK_TERM;
    return state;
}

/* A locked instruction on x86 costs a fraction of mfence. ThreadSanitizer knows no fences, so its
 * build uses a read-modify-write instead. */
static inline void machine_fence(_Atomic uint32_t *scratch)
{
#if defined(__SANITIZE_THREAD__) || defined(SCHEDLAB_TSAN)
    atomic_fetch_add_explicit(scratch, 0, memory_order_seq_cst);
#elif defined(__x86_64__)
    (void)scratch;
    __asm__ volatile("lock orl $0, -4(%%rsp)" ::: "memory", "cc");
#else
    (void)scratch;
    atomic_thread_fence(memory_order_seq_cst);
#endif
}

static inline void machine_touch(const void *start, size_t size, bool write)
{
    (void)start;
    (void)size;
    (void)write;
}

static inline void machine_touch_stack(size_t size)
{
    (void)size;
}

static inline void machine_blocks(uint32_t count)
{
    (void)count;
}

static inline void machine_name(const void *start, size_t size, const char *name)
{
    (void)start;
    (void)size;
    (void)name;
}

#define machine_prefetch(start) __builtin_prefetch(start, 1)
#define machine_now_unseen() machine_now()
#define MACHINE_TAKES_NO_TIME inline
#define MACHINE_KNOWS_WASTE 0
#define machine_step(name) ((void)0)

#if defined(SCHEDLAB_TRACE)
#define MACHINE_KEEPS_EVENTS 1
void machine_event(unsigned kind, int32_t m, int32_t p, int64_t g, int32_t a, int32_t b);
void machine_request(int32_t kind, int64_t due_ns, int64_t end_ns); /* go_request() */
void machine_lock_name(const void *lock, const char *name);         /* go_name_lock() */
#else
#define MACHINE_KEEPS_EVENTS 0
static inline void machine_event(unsigned kind, int32_t m, int32_t p, int64_t g, int32_t a,
                                 int32_t b)
{
    (void)kind;
    (void)m;
    (void)p;
    (void)g;
    (void)a;
    (void)b;
}

#endif

#endif
