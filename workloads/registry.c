/* registry.c - one line per workload, in the order that `schedlab list` shows. */
#include "workload.h"

/* X(name): workloads/<name>.c defines workload_<name>. */
#define WORKLOADS(X)                                                                               \
    X(fib)                                                                                         \
    X(nqueens)                                                                                     \
    X(skynet)                                                                                      \
    X(uts)                                                                                         \
    X(mergesort)                                                                                   \
    X(matmul)                                                                                      \
    X(locality)                                                                                    \
    X(uneven)                                                                                      \
    X(spawn)                                                                                       \
    X(crowd)                                                                                       \
    X(yield)                                                                                       \
    X(pingpong)                                                                                    \
    X(ring)                                                                                        \
    X(prodcons)                                                                                    \
    X(mpmc)                                                                                        \
    X(sieve)                                                                                       \
    X(mutex)                                                                                       \
    X(arrivals)                                                                                    \
    X(order)

#define DECLARE(name) extern const struct workload workload_##name;
WORKLOADS(DECLARE)
#undef DECLARE

#define ENTRY(name) &workload_##name,
const struct workload *const workloads[] = {WORKLOADS(ENTRY) NULL};
#undef ENTRY

#define WORD(name) #name,
const char *const workload_words[] = {WORKLOADS(WORD) NULL};
#undef WORD
