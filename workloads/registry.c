/* registry.c - one line per workload, in the order that `schedlab list` shows. */
#include "workload.h"

/* X(name, style): workloads/<name>.c defines workload_<name>. */
#define WORKLOADS(X)                                                                               \
    X(fib, FORKJOIN)                                                                               \
    X(nqueens, FORKJOIN)                                                                           \
    X(skynet, FORKJOIN)                                                                            \
    X(uts, FORKJOIN)                                                                               \
    X(mergesort, FORKJOIN)                                                                         \
    X(matmul, FORKJOIN)                                                                            \
    X(locality, FORKJOIN)                                                                          \
    X(uneven, FORKJOIN)                                                                            \
    X(depend, GOROUTINE)                                                                           \
    X(spawn, GOROUTINE)                                                                            \
    X(crowd, GOROUTINE)                                                                            \
    X(yield, GOROUTINE)                                                                            \
    X(pingpong, GOROUTINE)                                                                         \
    X(ring, GOROUTINE)                                                                             \
    X(prodcons, GOROUTINE)                                                                         \
    X(mpmc, GOROUTINE)                                                                             \
    X(select, GOROUTINE)                                                                           \
    X(hog, GOROUTINE)                                                                              \
    X(slice, GOROUTINE)                                                                            \
    X(inject, GOROUTINE)                                                                           \
    X(procs, GOROUTINE)                                                                            \
    X(calls, GOROUTINE)                                                                            \
    X(chain, GOROUTINE)                                                                            \
    X(bursts, GOROUTINE)                                                                           \
    X(lockskew, GOROUTINE)                                                                         \
    X(periodic, GOROUTINE)                                                                         \
    X(beat, GOROUTINE)                                                                             \
    X(drain, GOROUTINE)                                                                            \
    X(echo, GOROUTINE)                                                                             \
    X(files, GOROUTINE)                                                                            \
    X(pipes, GOROUTINE)                                                                            \
    X(timers, GOROUTINE)                                                                           \
    X(wakers, GOROUTINE)                                                                           \
    X(sieve, GOROUTINE)                                                                            \
    X(mutex, GOROUTINE)                                                                            \
    X(rwmutex, GOROUTINE)                                                                          \
    X(arrivals, GOROUTINE)                                                                         \
    X(replay, GOROUTINE)                                                                           \
    X(order, GOROUTINE)

/* The Makefile compiles a file that opens fork/join frames once per policy, and adds the policy to
 * the name of its workload. */
#define NAMES_GOROUTINE(name) workload_##name
#define NAMES_FORKJOIN(name)                                                                       \
    workload_##name##_FJ_GO, workload_##name##_FJ_HELP, workload_##name##_FJ_WORK,                 \
        workload_##name##_FJ_LINKED, workload_##name##_FJ_CALL
#define FIRST_GOROUTINE(name) &workload_##name,
#define FIRST_FORKJOIN(name) &workload_##name##_FJ_GO,
#define ROW_GOROUTINE(name)                                                                        \
    {&workload_##name, &workload_##name, &workload_##name, &workload_##name, NULL},
#define ROW_FORKJOIN(name)                                                                         \
    {[FJ_GO] = &workload_##name##_FJ_GO,                                                           \
     [FJ_HELP] = &workload_##name##_FJ_HELP,                                                       \
     [FJ_WORK] = &workload_##name##_FJ_WORK,                                                       \
     [FJ_LINKED] = &workload_##name##_FJ_LINKED,                                                   \
     [FJ_CALL] = &workload_##name##_FJ_CALL},

#define DECLARE(name, style) extern const struct workload NAMES_##style(name);
WORKLOADS(DECLARE)

#define FIRST(name, style) FIRST_##style(name)
const struct workload *const workloads[] = {WORKLOADS(FIRST) NULL};

#define WORD(name, style) #name,
const char *const workload_words[] = {WORKLOADS(WORD) NULL};

#define ROW(name, style) ROW_##style(name)
static const struct workload *const compiled[][FJ_CALL + 1] = {WORKLOADS(ROW)};

/* NULL where the workload is not in the registry, or is not compiled for that policy. */
static const struct workload *compiled_for(const struct workload *workload, enum fj_policy policy)
{
    for (size_t row = 0; workloads[row]; row++)
        if (workloads[row] == workload)
            return compiled[row][policy];
    return NULL;
}

void workload_run(const struct workload *workload, void *state, struct outcome *out)
{
    compiled_for(workload, fj_policy())->run(state, out);
}

void (*workload_elision(const struct workload *workload))(void *state, struct outcome *out)
{
    const struct workload *elided = compiled_for(workload, FJ_CALL);
    return elided ? elided->run : NULL;
}
