/* registry.c - one line per variant, in the order that `schedlab list` shows. */
#include "sched.h"

/* X(name): sched_variants/<name>/<name>.c defines <name>_ops. */
#define VARIANTS(X)                                                                                \
    X(kthread)                                                                                     \
    X(uthread)                                                                                     \
    X(static)                                                                                      \
    X(grq)                                                                                         \
    X(perm)                                                                                        \
    X(permits)                                                                                     \
    X(gmp)                                                                                         \
    X(tasksteal)                                                                                   \
    X(contsteal)

#define DECLARE(name) extern const struct sched_ops name##_ops;
VARIANTS(DECLARE)
#undef DECLARE

#define ENTRY(name) &name##_ops,
const struct sched_ops *const sched_variants[] = {VARIANTS(ENTRY) NULL};
#undef ENTRY

#define WORD(name) #name,
const char *const sched_variant_words[] = {VARIANTS(WORD) NULL};
#undef WORD
