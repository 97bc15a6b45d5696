/* self.h - what of the simulated machine is part of its callers: nothing. These are functions that
 * no instrumentation sees; all simulated threads share one thread of the host. */
#ifndef SCHEDLAB_SIM_SELF_H
#define SCHEDLAB_SIM_SELF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct m;

struct m *machine_self(void);
uint32_t machine_relax(const volatile void *word, uint32_t rounds);
void machine_pause(uint32_t rounds);
uint64_t machine_work(uint64_t state, uint32_t rounds);
void machine_fence(_Atomic uint32_t *scratch);
void machine_touch(const void *start, size_t size, bool write);
void machine_touch_stack(size_t size);
void machine_blocks(uint32_t count);
void machine_name(const void *start, size_t size, const char *name);
#define machine_prefetch(start) ((void)0)
#define MACHINE_KEEPS_EVENTS 1
#define MACHINE_KNOWS_WASTE 1
int64_t machine_now_unseen(void);
void machine_event(unsigned kind, int32_t m, int32_t p, int64_t g, int32_t a, int32_t b);
void machine_request(int32_t kind, int64_t due_ns, int64_t end_ns); /* go_request() */
void machine_lock_name(const void *lock, const char *name);         /* go_name_lock() */
#if defined(SCHEDLAB_HUNT)
void machine_step(const char *name);
#else
#define machine_step(name) ((void)0)
#endif

/* Not instrumented, and so not inlined into what is; nor may the compiler let the caller, which is
 * instrumented, load what such a function is to look at. */
#if defined(__clang__)
#define MACHINE_TAKES_NO_TIME                                                                      \
    __attribute__((noinline, unused, disable_sanitizer_instrumentation,                            \
                   no_sanitize("thread", "coverage")))
#else
#define MACHINE_TAKES_NO_TIME                                                                      \
    __attribute__((noipa, unused, no_sanitize_thread, no_sanitize_coverage))
#endif

#endif
