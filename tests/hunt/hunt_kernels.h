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

/* Two or four threads and two words; kernel_result->weak: what no order of their steps gives. */
enum litmus {
    LITMUS_SB,
    LITMUS_SB_FENCED,
    LITMUS_MP,
    LITMUS_LB,
    LITMUS_2_2W,
    LITMUS_IRIW,
    LITMUSES
};
void kernel_litmus(void *shape);        /* (enum litmus *) */
void kernel_late_pointer(void *unused); /* crashes if the reader comes first */
void kernel_lost_wake(void *unused);    /* waits for a wake that came before */
void kernel_no_end(void *unused);       /* waits for what nobody does */
void kernel_no_point(void *unused);     /* computes for ever */
void kernel_time(void *unused);
void kernel_memory(void *unused);

#endif
