/* kernel.h - cores and threads, which kernel.c and threads.c share; kernel.c says how they run. */
#ifndef SCHEDLAB_SIM_KERNEL_H
#define SCHEDLAB_SIM_KERNEL_H

#include "ahead.h"
#include "internal.h"

enum thread_state { THREAD_NEW, THREAD_QUEUED, THREAD_RUNNING, THREAD_WAITING, THREAD_DONE };

struct sim_thread {
    void *sp;    /* of the host, while it does not run */
    struct m *m; /* machine_self() */
    struct sim_core *core;
    enum thread_state state;
    int pinned; /* to that core; -1: any allowed one */
    int number; /* in order of start, for reports */
    int64_t slack_ps;
    bool woken, interrupted, detached;
    int64_t vruntime_ps;
    int64_t asleep_since_ps;
    struct sim_queue *queue; /* that it waits in */
    TAILQ_ENTRY(sim_thread) link;
    struct sim_event timeout, interrupt;
    struct sim_queue joiners;
    void (*fn)(void *arg);
    void *arg;
    char *stack;
    size_t stack_size;
    const void *word; /* of the futex that it sleeps on, for the report of a deadlock */
    TAILQ_ENTRY(sim_thread) all_link;
};

struct sim_core {
    int64_t clock_ps;    /* sim_clock points here */
    uintptr_t stack_end; /* in the last block that ran here */
    int index;
    bool allowed;
    struct sim_thread *running;
    struct sim_queue ready;
    int ready_count;
    int64_t slice_end_ps, run_began_ps, vruntime_ps;

    /* its thread looks at a word again and again, and nothing else happens: sim_spin() */
    bool spins;
    int64_t spin_began_ps;
    uint32_t spin_rounds; /* at most; afterwards, how many it was */
    struct sim_event spin_end;
    int64_t idle_since_ps;
    int64_t counted[SIM_COUNTED]; /* SIM_BUSY_PS: until run_began_ps */
    struct sim_ahead ahead;
};

TAILQ_HEAD(sim_thread_list, sim_thread);

extern struct sim_core sim_cores[SIM_CORES_MAX];
extern struct sim_core *sim_current;
extern struct sim_thread_list sim_threads; /* all, in order of start */
extern struct sim_thread *sim_to_free;     /* for sim_free_ended() */
extern int64_t sim_event_now_ps;           /* while an event runs: its time; else -1 */
extern int64_t sim_clock_before;           /* what the clock is before sim_run() */
extern uint64_t sim_random_state;
extern int sim_cpu_ids[SIM_CORES_MAX], sim_cpu_count; /* the cores of machine_init() */
extern bool (*sim_welcome)(uintptr_t pc, uintptr_t sp);
extern void (*sim_take)(void);

static inline struct sim_thread *sim_thread_now(void)
{
    return sim_current->running;
}

/* Saves the place of the host in *save and goes on at `to`. A fresh thread's first words are such
 * that it begins at the function in word SWITCH_PC of SWITCH_WORDS. */
void sim_switch(void **save, void *to);
#if defined(__x86_64__)
enum { SWITCH_WORDS = 8, SWITCH_PC = 6 }; /* and one to align */
#else
enum { SWITCH_WORDS = 20, SWITCH_PC = 1 };
#endif

/* Switches from the current thread, which may be on no core now, to that of the earliest core;
 * returns when it is its turn again. */
void sim_go_on(struct sim_thread *from);

/* The current thread is busy for that long, and then others have their turn. */
void sim_pass(int64_t ps);

/* No core is active yet, of a machine that sim_model describes. */
void sim_active_init(void);

/* Sets how far the current core may go. After any change of what else there is to run. */
void sim_horizon_set(void);

/* The core has nobody: the next of its queue, another core's, or it becomes idle. */
void sim_core_next(struct sim_core *core);
void sim_core_run(struct sim_core *core, struct sim_thread *thread, int64_t from_ps);

/* Nothing that is yet to happen has an earlier time. */
int64_t sim_earliest(void);

/* Takes that much time from another core, which runs a thread and does not spin. */
void sim_core_delay(struct sim_core *core, int64_t ps);

/* Threads that wait for a core. */
void sim_ready_add(struct sim_core *core, struct sim_thread *thread);
void sim_ready_remove(struct sim_core *core, struct sim_thread *thread);
struct sim_thread *sim_ready_least(const struct sim_core *core); /* who has run least */

void sim_vruntime_charge(struct sim_core *core); /* with what its thread has run since last time */
void sim_spin_stop(struct sim_core *core, int64_t now); /* no matter whether it spins */
void sim_on_loss(int index); /* a core that spins loses its line; for cache_on_loss */
void sim_thread_free(struct sim_thread *thread);
void sim_free_ended(void); /* the one that has ended last: its stack was in use until the switch */

#endif
