/* hook_calls.h - calls of hooks that cost the caller few registers. The Makefile puts it in front
 * of what runs on simulated machines, where the compiler is gcc and the machine x86-64.
 *
 * Around an ordinary call a compiler keeps what it needs later in the few registers that calls
 * preserve, or on the stack. With a call at each load and store frames are up to twice those of the
 * same code on real threads, and a goroutine that is resumed touches as many lines more. The hooks
 * behind these functions use flags, rax, rcx, rdx, rsi and rdi, and preserve all other registers
 * (hooks.c). gcc looks which ones a function in the same object uses (-fipa-ra). So each object has
 * these, as local symbols (objcopy --localize-hidden). They only go on to the hook, with arguments
 * and the caller's return address where they are.
 *
 * They define the builtins by which the pass of ThreadSanitizer names its functions; a function
 * __tsan_read8 would be another one to gcc. They come first in the object (no_reorder), since gcc
 * knows the registers that a function uses once it is written.
 */
#ifndef SCHEDLAB_MACHINE_SIM_HOOK_CALLS_H
#define SCHEDLAB_MACHINE_SIM_HOOK_CALLS_H

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"

#define HOOK_CALL                                                                                  \
    __attribute__((used, noinline, no_reorder, visibility("hidden"), no_sanitize_thread,           \
                   no_sanitize_coverage, no_stack_protector, no_instrument_function))
/* Parameters that are pointers, such as the first one, are operands: gcc must not take what they
 * point to for unused. */
#define HOOK_CALL_VOID(builtin, hook, ...)                                                         \
    HOOK_CALL void __builtin___##builtin(__VA_ARGS__)                                              \
    {                                                                                              \
        __asm__ volatile("jmp " #hook : "+D"(at) : : "rax", "rcx", "rdx", "rsi", "memory", "cc");  \
    }
#define HOOK_CALL_VALUE(type, builtin, hook, ...)                                                  \
    HOOK_CALL type __builtin___##builtin(__VA_ARGS__)                                              \
    {                                                                                              \
        type value;                                                                                \
        __asm__ volatile("jmp " #hook                                                              \
                         : "=a"(value), "+D"(at)                                                   \
                         :                                                                         \
                         : "rcx", "rdx", "rsi", "memory", "cc");                                   \
        return value;                                                                              \
    }

HOOK_CALL void __builtin___sanitizer_cov_trace_pc(void)
{
    __asm__ volatile("jmp hook_block" : : : "rax", "rcx", "rdx", "rsi", "rdi", "memory", "cc");
}

#define HOOK_CALL_ACCESSES(size)                                                                   \
    HOOK_CALL_VOID(tsan_read##size, hook_read##size, void *at)                                     \
    HOOK_CALL_VOID(tsan_write##size, hook_write##size, void *at)
HOOK_CALL_ACCESSES(1)
HOOK_CALL_ACCESSES(2)
HOOK_CALL_ACCESSES(4)
HOOK_CALL_ACCESSES(8)
HOOK_CALL_ACCESSES(16)
HOOK_CALL_VOID(tsan_read_range, hook_read_range, void *at, long size)
HOOK_CALL_VOID(tsan_write_range, hook_write_range, void *at, long size)

#define HOOK_CALL_FETCH(bits, type, name)                                                          \
    HOOK_CALL_VALUE(type, tsan_atomic##bits##_##name, hook_atomic##bits##_##name,                  \
                    volatile void *at, type value_in, int order)
#define HOOK_CALL_COMPARE(bits, type, name)                                                        \
    HOOK_CALL _Bool __builtin___tsan_atomic##bits##_##name(volatile void *at, void *expected,      \
                                                           type value_in, int order, int failed)   \
    {                                                                                              \
        _Bool value;                                                                               \
        __asm__ volatile("jmp hook_atomic" #bits "_" #name                                         \
                         : "=a"(value), "+D"(at), "+S"(expected)                                   \
                         :                                                                         \
                         : "rcx", "rdx", "memory", "cc");                                          \
        return value;                                                                              \
    }
#define HOOK_CALL_ATOMICS(bits, type)                                                              \
    HOOK_CALL_VALUE(type, tsan_atomic##bits##_load, hook_atomic##bits##_load,                      \
                    const volatile void *at, int order)                                            \
    HOOK_CALL_VOID(tsan_atomic##bits##_store, hook_atomic##bits##_store, volatile void *at,        \
                   type value, int order)                                                          \
    HOOK_CALL_FETCH(bits, type, exchange)                                                          \
    HOOK_CALL_FETCH(bits, type, fetch_add)                                                         \
    HOOK_CALL_FETCH(bits, type, fetch_sub)                                                         \
    HOOK_CALL_FETCH(bits, type, fetch_and)                                                         \
    HOOK_CALL_FETCH(bits, type, fetch_or)                                                          \
    HOOK_CALL_FETCH(bits, type, fetch_xor)                                                         \
    HOOK_CALL_FETCH(bits, type, fetch_nand)                                                        \
    HOOK_CALL_COMPARE(bits, type, compare_exchange_strong)                                         \
    HOOK_CALL_COMPARE(bits, type, compare_exchange_weak)
HOOK_CALL_ATOMICS(8, unsigned char)
HOOK_CALL_ATOMICS(16, unsigned short)
HOOK_CALL_ATOMICS(32, unsigned)
HOOK_CALL_ATOMICS(64, unsigned long)
HOOK_CALL_VOID(tsan_atomic_thread_fence, hook_atomic_thread_fence, int at)
HOOK_CALL_VOID(tsan_atomic_signal_fence, hook_atomic_signal_fence, int at)

#pragma GCC diagnostic pop

#endif
