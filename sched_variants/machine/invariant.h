/* invariant.h - facts that can be false only if the code is wrong.
 *
 * INVARIANT(x) ends the process and names the function, the place and x, if x is false. HOLDS(x) is
 * x, for the parts of an x_is_valid(): the INVARIANT that asks names the part too.
 *
 * Builds with SCHEDLAB_DEBUG (debug, and both sanitizers) evaluate x. All others compile it and
 * leave no instruction. x must not change anything, and must only read what the caller may read:
 * its own words, what it holds the lock of, or atomics.
 *
 * Each fact is a string in the section `invariants`, so that a test can see which it has not broken
 * (tests/runtime/test_invariants.c).
 */
#ifndef SCHEDLAB_INVARIANT_H
#define SCHEDLAB_INVARIANT_H

#include <stdbool.h>

enum { EXIT_INVARIANT = 70 }; /* the exit status of fatal(), too */

#ifdef SCHEDLAB_DEBUG

_Noreturn void invariant_broken(const char *function, const char *fact);
void invariant_part_fails(const char *fact);

#define INVARIANT_LINE_(line) #line
#define INVARIANT_LINE(line) INVARIANT_LINE_(line)
#define INVARIANT_FACT(name, text)                                                                 \
    static const char name[] __attribute__((section("invariants"), used)) =                        \
        __FILE__ ":" INVARIANT_LINE(__LINE__) ": " text

/* A check begins and ends: a search of all executions takes its reads for one step. */
#ifdef SCHEDLAB_HUNT
void machine_checks(bool begins);
#else
static inline void machine_checks(bool begins)
{
    (void)begins;
}
#endif

#define INVARIANT(x)                                                                               \
    do {                                                                                           \
        INVARIANT_FACT(invariant_fact_, #x);                                                       \
        machine_checks(true);                                                                      \
        if (__builtin_expect(!(x), 0))                                                             \
            invariant_broken(__func__, invariant_fact_);                                           \
        machine_checks(false);                                                                     \
    } while (0)

#define HOLDS(x)                                                                                   \
    __extension__({                                                                                \
        INVARIANT_FACT(holds_fact_, #x);                                                           \
        (x) || (invariant_part_fails(holds_fact_), false);                                         \
    })

#else

#define INVARIANT(x)                                                                               \
    do {                                                                                           \
        if (0)                                                                                     \
            (void)!(x);                                                                            \
    } while (0)
#define HOLDS(x) (x)

#endif
#endif
