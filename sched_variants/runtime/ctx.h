/* ctx.h - switching stacks.
 *
 * A context at rest is a stack pointer: below it lie the callee-saved registers and the address to
 * go on at, in the layout of the architecture's ctx_*.S. Only what the ABI obliges a function to
 * keep is saved; signal masks and floating-point control words belong to the thread.
 *
 * Sanitizer builds tell AddressSanitizer which stack is current and give each stack a fiber of
 * ThreadSanitizer's; otherwise the calls below are the bare switch.
 */
#ifndef SCHEDLAB_CTX_H
#define SCHEDLAB_CTX_H

#include "g.h"

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
#if __has_feature(thread_sanitizer)
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

/* Saves the running context to *save_sp, goes on at to_sp. Returns, once something switches back,
 * the prev that was passed by that switch: the G whose stack has just been left. */
struct g *ctx_switch_raw(void **save_sp, void *to_sp, struct g *prev);
void ctx_entry(void);

/* What a fresh context runs, on its own stack; never returns. Defined by proc.c. */
_Noreturn void g_entry(struct g *prev);

/* A context at rest that will run g_entry() on the stack that ends at top (16-byte aligned). */
static inline void *ctx_prepare(char *top)
{
#if defined(__x86_64__)
    void **sp = (void **)top - 7;
    sp[5] = NULL; /* rbp: ends frame-pointer chains */
    sp[6] = (void *)ctx_entry;
#elif defined(__aarch64__)
    void **sp = (void **)(top - 160);
    sp[11] = (void *)ctx_entry;
#else
#error "no context switch for this architecture"
#endif
    return sp;
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
 * for AddressSanitizer. With `dies` from ends here. Returns on from's stack with the G that ran
 * before. */
static inline struct g *ctx_switch(struct g *from, void **save, struct g *to, const void *to_stack,
                                   size_t to_size, bool dies)
{
#if defined(CTX_ASAN)
    __sanitizer_start_switch_fiber(dies ? NULL : &from->fiber, to_stack, to_size);
#elif defined(CTX_TSAN)
    __tsan_switch_to_fiber(to->fiber, 0);
#endif
    (void)to_stack;
    (void)to_size;
    (void)dies;
    struct g *prev = ctx_switch_raw(save, to->sp, from);
    ctx_arrived(from);
    return prev;
}

#endif
