/* hunt_kernels.h - small programs of two threads, instrumented, whose wrong schedules are known. */
#ifndef SCHEDLAB_HUNT_KERNELS_H
#define SCHEDLAB_HUNT_KERNELS_H

#include <stdbool.h>
#include <stdint.h>

/* Results of the last execution; outside of what an execution begins anew. */
struct kernel_result {
    uint64_t sum;
    uint32_t read[4];
    bool weak;
    void *block;
    int error;
    int64_t slept_ns;
};
extern struct kernel_result *kernel_result;

void kernel_lost_update(void *locked); /* (bool *): under a lock */

/* One writes two words under a lock that is named, the other reads them: sum, by bits. */
void kernel_guarded(void *reads_locked); /* (bool *): under the lock, too */

/* The first thread ends, then the second reads what the third writes and takes back: sum. */
void kernel_late_reader(void *unused);

/* Two threads add one each, without a lock: sum. */
void kernel_alike(void *named); /* (bool *): as alike */

/* A check reads an own word, and then one that another thread changes when it sees the first. */
void kernel_checked(void *unused); /* fails if that comes before the check */

/* A litmus test: some threads, each with some steps on a few words that are 0 at first, and one
 * outcome. Orders are those of stdatomic.h. */
enum { LITMUS_THREADS = 4, LITMUS_STEPS = 4, LITMUS_WORDS = 4, LITMUS_READS = 4 };
enum litmus_act {
    LITMUS_END,
    LITMUS_STORE,     /* word = value */
    LITMUS_LOAD,      /* read[value] = word */
    LITMUS_ADD,       /* word += value */
    LITMUS_FENCE,     /* atomic_thread_fence() */
    LITMUS_FULL,      /* machine_fence() */
    LITMUS_FENCE_ALL, /* machine_fence_all() */
    LITMUS_CALL,      /* machine_call() */
};
struct litmus_step {
    enum litmus_act act;
    int word, value, order;
};
struct litmus {
    const char *name;
    struct litmus_step thread[LITMUS_THREADS][LITMUS_STEPS];
    int read[LITMUS_READS]; /* what was read; LITMUS_ANY: no matter what */
    int last[LITMUS_WORDS]; /* what words hold at the end */
    unsigned models;        /* that allow it, by bits of enum hunt_memory */
};
enum { LITMUS_ANY = -1 };
extern const struct litmus litmus_table[];
extern const int litmus_count;

/* kernel_result->weak: the outcome came. */
void kernel_litmus(void *litmus);       /* (const struct litmus *) */
void kernel_late_pointer(void *unused); /* crashes if the reader comes first */
void kernel_lost_wake(void *unused);    /* waits for a wake that came before */
void kernel_no_end(void *unused);       /* waits for what nobody does */
void kernel_busy(void *unused);         /* one accesses words until the other has come */
void kernel_awaits_time(void *unused);  /* one spins until the other's sleep is over */
void kernel_no_point(void *unused);     /* computes for ever */
void kernel_time(void *unused);

/* One thread is interrupted again and again, and accesses words while it answers: sum, how often it
 * began to answer beside another answer. */
void kernel_interrupted(void *answers_inside); /* (bool *): it asks for that */

void kernel_memory(void *block_size); /* (size_t *) */

#endif
