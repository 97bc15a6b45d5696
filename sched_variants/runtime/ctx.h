/* ctx.h - switching stacks.
 *
 * A context at rest is a pointer to a struct ctx, the lowest words in use on its stack. Only what
 * the ABI obliges a function to keep is saved, and most of that by the compiler, which is told that
 * the switch overwrites all registers: it saves those that hold something. Signal masks and
 * floating-point control words belong to the thread; nothing in this program changes them.
 *
 * The switch pushes, so the function that it is inlined into must not keep anything below the stack
 * pointer: files that switch are compiled without the ABI's red zone (-mno-red-zone, Makefile).
 *
 *   Rejected: a function in assembly. It saves all six or twenty registers a second time; and a
 *   core predicts where a `ret` goes from the calls it has seen. A switch inside a call leaves its
 *   record of calls off by one, and every `ret` after it wrong. Jumping from the middle of a
 *   function to the middle of a function, the record fits whenever both were called alike, as
 *   yielding or receiving Gs are; that made a hop in a ring 1.7 times as fast.
 *
 * Branch protection. aarch64's landing pads are served: the place behind the switch has one, and
 * the jump goes by x16, so that it may also enter a function (bti c) as a call does. A shadow stack
 * of x86-64 would refuse each `ret` after a switch, so the program is built without the mark by
 * which one is switched on (-fcf-protection=none, Makefile).
 *   Rejected: one shadow stack per goroutine. It takes two more instructions of a switch, a mapping
 *   and a system call for each stack.
 *
 * Sanitizer builds tell AddressSanitizer which stack is current and give each stack a fiber of
 * ThreadSanitizer's; otherwise the calls below are the bare switch.
 */
#ifndef SCHEDLAB_CTX_H
#define SCHEDLAB_CTX_H

#include "g.h"
#include "machine.h"

#if defined(__SANITIZE_ADDRESS__)
#define CTX_ASAN 1
#endif
#if defined(__SANITIZE_THREAD__)
#define CTX_TSAN 1
#endif
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define CTX_ASAN 1
#endif
#if __has_feature(thread_sanitizer) && !defined(SCHEDLAB_SIM)
#define CTX_TSAN 1
#endif
#endif
#if defined(CTX_ASAN)
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif
#if defined(CTX_TSAN)
#include <sanitizer/tsan_interface.h>
#endif

#if defined(__x86_64__) && defined(__CET__) && (__CET__ & 2)
#error "compile with -fcf-protection=none: the switch does not serve a shadow stack"
#endif

struct ctx {
    void *pc;
    void *base; /* a register that compilers may keep for themselves, so that it cannot be listed */
    void *fp;
    void *ret; /* of a fresh context: NULL, as if called by nobody */
};

/* A fresh context runs this on its own stack, with the G that ran before; it never returns. */
typedef void ctx_fn(struct g *prev);

/* A context at rest that will run entry on the stack that ends at top (16-byte aligned). */
static inline void *ctx_prepare(char *top, ctx_fn *entry)
{
    struct ctx *ctx = (struct ctx *)(void *)top - 1;
    *ctx = (struct ctx){.pc = (void *)entry};
    return ctx;
}

#if defined(__x86_64__)
#define CTX_SAVE                                                                                   \
    "pushq %%rbp\n\t"                                                                              \
    "pushq %%rbx\n\t"                                                                              \
    "leaq 1f(%%rip), %%rcx\n\t"                                                                    \
    "pushq %%rcx\n\t"                                                                              \
    "movq %%rsp, (%[save])\n\t"
#define CTX_GO                                                                                     \
    "movq %[to], %%rsp\n\t"                                                                        \
    "popq %%rcx\n\t"                                                                               \
    "popq %%rbx\n\t"                                                                               \
    "popq %%rbp\n\t"                                                                               \
    "jmp *%%rcx\n"
#define CTX_HERE "1:"
#define CTX_FIRST_ARGUMENT "rdi"
#define CTX_SECOND_ARGUMENT "rsi"
#define CTX_THIRD_ARGUMENT "rdx"
#define CTX_OVERWRITTEN                                                                            \
    "rax", "rcx", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15", "xmm0", "xmm1", "xmm2",    \
        "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12",         \
        "xmm13", "xmm14", "xmm15", "cc", "memory" CTX_OVERWRITTEN_AVX512
#if defined(__AVX512F__)
#define CTX_OVERWRITTEN_AVX512                                                                     \
    , "xmm16", "xmm17", "xmm18", "xmm19", "xmm20", "xmm21", "xmm22", "xmm23", "xmm24", "xmm25",    \
        "xmm26", "xmm27", "xmm28", "xmm29", "xmm30", "xmm31", "k1", "k2", "k3", "k4", "k5", "k6",  \
        "k7"
#else
#define CTX_OVERWRITTEN_AVX512
#endif
#elif defined(__aarch64__)
#define CTX_SAVE                                                                                   \
    "adr x9, 1f\n\t"                                                                               \
    "stp x9, x19, [sp, #-32]!\n\t"                                                                 \
    "str x29, [sp, #16]\n\t"                                                                       \
    "mov x10, sp\n\t"                                                                              \
    "str x10, [%[save]]\n\t"
#define CTX_GO                                                                                     \
    "mov sp, %[to]\n\t"                                                                            \
    "ldr x29, [sp, #16]\n\t"                                                                       \
    "ldp x16, x19, [sp], #32\n\t"                                                                  \
    "mov x30, #0\n\t"                                                                              \
    "br x16\n"
#define CTX_HERE "1:\n\thint #36\n" /* bti j, under its older name */
#define CTX_FIRST_ARGUMENT "x0"
#define CTX_SECOND_ARGUMENT "x1"
#define CTX_THIRD_ARGUMENT "x2"
#define CTX_OVERWRITTEN                                                                            \
    "x3", "x4", "x5", "x6", "x7", "x8", "x9", "x10", "x11", "x12", "x13", "x14", "x15", "x16",     \
        "x17", "x18", "x20", "x21", "x22", "x23", "x24", "x25", "x26", "x27", "x28", "x30", "v0",  \
        "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v8", "v9", "v10", "v11", "v12", "v13", "v14",   \
        "v15", "v16", "v17", "v18", "v19", "v20", "v21", "v22", "v23", "v24", "v25", "v26", "v27", \
        "v28", "v29", "v30", "v31", "cc", "memory"
#else
#error "no context switch for this architecture"
#endif

/* Saves the running context to *save, goes on at `to`. Returns, once something switches back, the
 * prev that was passed by that switch: the G whose stack has just been left. */
static inline struct g *ctx_switch_raw(void **save, void *to, struct g *prev)
{
    register struct g *left __asm__(CTX_FIRST_ARGUMENT) = prev;
    register void *here __asm__(CTX_SECOND_ARGUMENT) = save;
    register void *there __asm__(CTX_THIRD_ARGUMENT) = to;
    __asm__ volatile(CTX_SAVE CTX_GO CTX_HERE
                     : "+r"(left), [save] "+r"(here), [to] "+r"(there)
                     :
                     : CTX_OVERWRITTEN);
    return left;
}

/* As ctx_switch_raw(), and nothing ever switches back. */
static inline _Noreturn void ctx_leave_raw(void *to, struct g *prev)
{
    register struct g *left __asm__(CTX_FIRST_ARGUMENT) = prev;
    register void *there __asm__(CTX_THIRD_ARGUMENT) = to;
    __asm__ volatile(CTX_GO : "+r"(left), [to] "+r"(there) : : CTX_OVERWRITTEN);
    __builtin_unreachable();
}

/* Called first on a stack that has just been switched to. ends: that of the G left for good. */
static inline void ctx_arrived(struct g *self)
{
#if defined(CTX_ASAN)
    __sanitizer_finish_switch_fiber(self->fiber, NULL, NULL);
#endif
    (void)self;
}

/* Switches from -> to and saves from's context in *save; to_stack and to_size describe to's stack
 * for AddressSanitizer. With `dies` from ends here; only ThreadSanitizer builds ever come back.
 * Returns on from's stack with the G that ran before. */
static inline struct g *ctx_switch(struct g *from, void **save, struct g *to, const void *to_stack,
                                   size_t to_size, bool dies)
{
#if defined(CTX_ASAN)
    __sanitizer_start_switch_fiber(dies ? NULL : &from->fiber, to_stack, to_size);
#elif defined(CTX_TSAN)
    __tsan_switch_to_fiber(to->fiber, 0);
    dies = false;
#endif
    (void)to_stack;
    (void)to_size;
    if (!dies)
        machine_touch_stack(sizeof(struct ctx)); /* what the assembly below writes, and reads */
    machine_touch(to->sp, sizeof(struct ctx), false);
    if (dies)
        ctx_leave_raw(to->sp, from);
    struct g *prev = ctx_switch_raw(save, to->sp, from);
    ctx_arrived(from);
    return prev;
}

#endif
