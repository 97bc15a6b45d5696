/* doctor_probe.c - see doctor_probe.h.
 *
 * Two threads and one word on a line of its own. The asker makes it odd, the answerer even; each
 * waits by reading. The end is a negative word.
 */
#define _GNU_SOURCE
#include "harness/doctor_probe.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

enum {
    ENOUGH_NS = 10000000,
    LIMIT_NS = 10 * ENOUGH_NS, /* where others hold the cores */
    BATCH = 64,
    BATCHES_MAX = 4096,
    BATCHES_MIN = 5,
    READS_PER_LOOK = 4096, /* of the word, before the clock is looked at */
    LINE_BYTES = 128,      /* two lines: a prefetcher may take its neighbour along */
};

struct ping {
    _Alignas(LINE_BYTES) _Atomic int64_t word;
    _Alignas(LINE_BYTES) int64_t limit_ns; /* both threads': when to give up */
    double batch_ns[BATCHES_MAX];          /* the asker's, as is the next one */
    int batches;
};

static int64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000000LL + now.tv_nsec;
}

/* False if the other side ended, or took too long. Relaxed is enough for the word everywhere, since
 * nothing else is handed over by it. */
static bool word_wait(struct ping *ping, int64_t wanted)
{
    for (;;) {
        for (int i = 0; i < READS_PER_LOOK; i++) {
            int64_t word = atomic_load_explicit(&ping->word, memory_order_relaxed);
            if (word == wanted || word < 0)
                return word == wanted;
        }
        if (now_ns() > ping->limit_ns)
            return false;
        sched_yield(); /* the partner may wait for this very core */
    }
}

static void *answer(void *arg)
{
    struct ping *ping = arg;
    for (int64_t word = 1; word_wait(ping, word); word += 2)
        atomic_store_explicit(&ping->word, word + 1, memory_order_relaxed);
    return NULL;
}

static void *ask(void *arg)
{
    struct ping *ping = arg;
    int64_t word = 0, enough_ns = 0;
    bool alive = true;
    while (alive && ping->batches < BATCHES_MAX) {
        int64_t begin = now_ns();
        /* after the first answer: the other thread's start is not to be waited for */
        if (ping->batches == 0)
            enough_ns = begin + ENOUGH_NS;
        else if (begin >= enough_ns && ping->batches >= BATCHES_MIN)
            break;
        for (int i = 0; i < BATCH && alive; i++) {
            atomic_store_explicit(&ping->word, word + 1, memory_order_relaxed);
            word += 2;
            alive = word_wait(ping, word);
        }
        if (alive)
            ping->batch_ns[ping->batches++] = (double)(now_ns() - begin) / BATCH;
    }
    atomic_store_explicit(&ping->word, -1, memory_order_relaxed);
    return NULL;
}

/* On that core from its first instruction. */
static int thread_start(pthread_t *thread, int cpu, void *(*run)(void *), struct ping *ping)
{
    pthread_attr_t attr;
    size_t size = CPU_ALLOC_SIZE((size_t)cpu + 1);
    cpu_set_t *set = CPU_ALLOC((size_t)cpu + 1);
    if (!set)
        return ENOMEM;
    CPU_ZERO_S(size, set);
    CPU_SET_S((size_t)cpu, size, set);
    pthread_attr_init(&attr);
    int error = pthread_attr_setaffinity_np(&attr, size, set);
    if (error == 0)
        error = pthread_create(thread, &attr, run, ping);
    pthread_attr_destroy(&attr);
    CPU_FREE(set);
    return error;
}

static int double_compare(const void *a_void, const void *b_void)
{
    double a = *(const double *)a_void, b = *(const double *)b_void;
    return (a > b) - (a < b);
}

static double batches_median(struct ping *ping)
{
    int n = ping->batches;
    qsort(ping->batch_ns, (size_t)n, sizeof *ping->batch_ns, double_compare);
    return (ping->batch_ns[(n - 1) / 2] + ping->batch_ns[n / 2]) / 2;
}

int doctor_probe_line(int cpu_a, int cpu_b, double *line_ns)
{
    pthread_t asker, answerer;
    struct ping *ping = aligned_alloc(LINE_BYTES, sizeof *ping);
    if (!ping)
        return -ENOMEM;
    atomic_init(&ping->word, 0);
    ping->batches = 0;
    ping->limit_ns = now_ns() + LIMIT_NS;
    int error = thread_start(&answerer, cpu_b, answer, ping);
    if (error == 0) {
        error = thread_start(&asker, cpu_a, ask, ping);
        if (error == 0)
            pthread_join(asker, NULL);
        else
            atomic_store_explicit(&ping->word, -1, memory_order_relaxed);
        pthread_join(answerer, NULL);
    }
    if (error == 0 && ping->batches < BATCHES_MIN)
        error = ETIMEDOUT;
    if (error == 0)
        *line_ns = batches_median(ping);
    free(ping);
    return -error;
}
