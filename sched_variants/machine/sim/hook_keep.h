/* hook_keep.h - the promises of hooks to those who call them.
 *
 * Callers: hooks.c of each machine whose code is instrumented, before hook_table.h.
 */
#ifndef SCHEDLAB_SIM_HOOK_KEEP_H
#define SCHEDLAB_SIM_HOOK_KEEP_H

#include <stdint.h>

/* Hooks that hook_calls.h leads to are named HOOK, and preserve what is promised there: their
 * file is compiled so that no function uses those registers (Makefile). Functions of other files
 * do, so where hooks call them they are SLOW: such a function saves those registers, and aligns the
 * stack, since who calls a hook need not. */
#if defined(HOOKS_KEEP)
#define HOOK(name) hook_##name
#define HOOK_BLOCK hook_block
#define SLOW __attribute__((noinline, cold, force_align_arg_pointer))
struct kept {
    uint64_t general[4];
    unsigned __int128 vector[16];
};
#define EACH_GENERAL(X) X(0, 8) X(1, 9) X(2, 10) X(3, 11)
#define EACH_VECTOR(X)                                                                             \
    X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11) X(12) X(13) X(14) X(15)
#define SAVE(i, n) "movq %%r" #n ", 8*" #i "(%0)\n\t"
#define RESTORE(i, n) "movq 8*" #i "(%0), %%r" #n "\n\t"
#define SAVE_VECTOR(n) "movups %%xmm" #n ", 16*" #n "(%1)\n\t"
#define RESTORE_VECTOR(n) "movups 16*" #n "(%1), %%xmm" #n "\n\t"
static inline __attribute__((always_inline)) void kept_save(struct kept *kept)
{
    __asm__ volatile(EACH_GENERAL(SAVE) EACH_VECTOR(SAVE_VECTOR)
                     :
                     : "r"(kept->general), "r"(kept->vector)
                     : "memory");
}
static inline __attribute__((always_inline)) void kept_restore(const struct kept *kept)
{
    __asm__ volatile(EACH_GENERAL(RESTORE) EACH_VECTOR(RESTORE_VECTOR)
                     :
                     : "r"(kept->general), "r"(kept->vector)
                     : "memory");
}
#else
#define HOOK(name) __tsan_##name
#define HOOK_BLOCK __sanitizer_cov_trace_pc
#define SLOW __attribute__((noinline, cold))
struct kept {
    char nothing;
};
static inline void kept_save(struct kept *kept)
{
    (void)kept;
}
static inline void kept_restore(const struct kept *kept)
{
    (void)kept;
}
#endif

#define PC ((uintptr_t)__builtin_return_address(0))
/* PC, loaded from the stack anew rather than kept in a register. end: where the frame of the caller
 * of the hook ends that runs now. */
#if defined(HOOKS_KEEP)
#define PC_AT(end, pc) ((void)(pc), ((const volatile uintptr_t *)(end))[-1])
#else
#define PC_AT(end, pc) ((void)(end), (pc))
#endif

/* The memory order of an atomic, as compilers number them. */
typedef int morder;
enum { ORDER_RELAXED, ORDER_CONSUME, ORDER_ACQUIRE, ORDER_RELEASE, ORDER_ACQ_REL, ORDER_SEQ_CST };

#endif
