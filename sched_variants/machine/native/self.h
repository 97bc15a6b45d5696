/* self.h - machine_self() of Linux threads: a thread-local word, read where it is asked for.
 *
 * A goroutine may go on on another thread after any switch, and a compiler takes a thread-local's
 * address for a constant of the function. So the word is read by an instruction that the compiler
 * cannot look into: volatile, so that two reads with a switch in between stay two, and relative to
 * the thread's own register, so that there is no address to keep.
 *   Rejected: a function that is not inlined. It costs a call, and its caller every register that
 *   calls do not preserve, several times on each park and wake.
 *
 * The offset is known when the program is linked, since this is never part of a shared library.
 */
#ifndef SCHEDLAB_NATIVE_SELF_H
#define SCHEDLAB_NATIVE_SELF_H

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

#endif
