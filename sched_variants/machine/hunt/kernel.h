/* kernel.h - threads and points, which the files of this machine share. */
#ifndef SCHEDLAB_HUNT_KERNEL_H
#define SCHEDLAB_HUNT_KERNEL_H

#include "hunt.h"
#include "sim/sim.h"

enum sim_access { SIM_READ, SIM_WRITE };

enum { THREAD_STACK = 1 << 20, EVENTS_MAX = 256, WAITS_MAX = 1024, HUNT_LAST = 1024 };

/* Basic blocks that an execution may have. */
enum { BLOCKS_MAX = 50000000 };

enum { BUFFER_STORES = 8, BUFFER_BYTES = 16, BUFFER_BESIDE = 8, BUFFER_WORD = 8 };

/* Stores that others do not see yet, oldest first: buffer.c. */
struct store_buffer {
    int count;
    struct buffered {
        uintptr_t address;
        uint32_t size;
        char bytes[BUFFER_BYTES]; /* of its thread while that does not run; else as others see it */
    } store[BUFFER_STORES];
    int beside_count;
    uintptr_t beside[BUFFER_BESIDE]; /* words of stacks that were stored to since the oldest */
};

/* Why a thread does not run. */
enum thread_state { THREAD_FREE, THREAD_READY, THREAD_WAITING, THREAD_DONE };

struct sim_thread {
    void *sp;    /* of the host, while it does not run */
    struct m *m; /* machine_self() */
    enum thread_state state;
    int index;
    uint32_t at;       /* its moment: hunt_switch */
    uintptr_t address; /* of the access that it is about to make; 0: of none */
    enum sim_access access;
    uintptr_t pc;
    uint32_t beside; /* points that it made beside idle work: oracle.c */
    bool woken, interrupted, detached;
    bool answers;     /* an interrupt; another one waits until then, as a signal does */
    const void *word; /* of the futex that it sleeps on */
    struct sim_queue *queue;
    TAILQ_ENTRY(sim_thread) link;
    struct sim_event timeout;
    struct sim_queue joiners;
    void (*fn)(void *arg);
    void *arg;
    char *stack;
    struct store_buffer buffer;
};

/* Numbers, in no order. */
struct bag {
    int64_t number[WAITS_MAX];
    size_t count;
};

/* State of the scheduler, from what it says that it does: oracle.c. */
struct oracle {
    bool main_is_over, beside;
    const _Atomic int32_t *idle_ps;
    const _Atomic int64_t *put_off;
    bool starts_worker;        /* the next thread is one */
    uint64_t workers, running; /* threads; those that run a G */
    struct bag waits, queued;  /* Gs and tasks to be run; Gs that an idle P could have */
};

/* An execution; all zero at its beginning. */
struct hunt_machine {
    struct sim_thread *self;
    uint64_t ready, resting; /* threads by bits */
    int threads;             /* alive */
    int64_t now_ns, pace_ns; /* what a point takes */
    uint64_t points, order;
    uint64_t random;
    struct sim_event *events[EVENTS_MAX]; /* by time, latest first */
    size_t event_count;
    struct sim_queue futexes; /* all that sleep on one, in order */
    uint64_t naps;            /* threads that sleep for a time of their own */
    struct oracle oracle;
    uint64_t last[HUNT_LAST]; /* of each group of words: a hash of who came when */
    struct hunt_outcome outcome;
    struct sim_thread thread[HUNT_THREADS_MAX]; /* last: most are never used */
};
extern struct hunt_machine hunt;
extern struct hunt_plan hunt_plan;

/* For hooks.c: who accessed a word of the memory, by a hash of its address. */
enum { SEEN_BITS = 16, SEEN_READ = 0xfe, SEEN_SHARED = 0xff };
extern uint8_t hunt_tag; /* of the current thread */
extern bool hunt_learns;
extern bool hunt_buffers;                   /* stores */
extern bool hunt_weak;                      /* words have histories */
extern uint8_t hunt_learnt[1 << SEEN_BITS]; /* words that are known as shared */
extern uint64_t hunt_accesses;
extern int64_t hunt_blocks_left;

/* hooks.c: nobody has accessed anything, but words that were learnt are shared; those learnt until
 * now count from the next beginning on. */
void seen_begin(void);
void seen_take_learnt(void);
void seen_share(uintptr_t address); /* from now on it is known as shared */

static inline uint64_t thread_bit(const struct sim_thread *thread)
{
    return UINT64_C(1) << thread->index;
}

static inline size_t seen_place(uintptr_t address)
{
    return (size_t)((address >> 3) * UINT64_C(0x9e3779b97f4a7c15) >> (64 - SEEN_BITS));
}

/* The current thread is about to access a shared word, or to enter the kernel (address 0). pc: in
 * instrumented code, where an interrupt may be delivered; 0: nowhere. */
void hunt_point(uintptr_t address, enum sim_access access, uintptr_t pc);

/* The current thread waits for others to do something, for so many rounds of a spin loop. */
void hunt_rest(uint32_t rounds, uintptr_t pc);

/* The current thread waits in queue, or has ended: others go on. */
void hunt_leave(void);

struct sim_thread *hunt_thread_new(void (*fn)(void *arg), void *arg);
void hunt_thread_free(struct sim_thread *thread);

void hunt_interrupt_deliver(uintptr_t pc); /* to the current thread */

uint64_t hunt_random(uint64_t *state);

/* choose.c: an execution begins; whom to run, of threads by bits, not none, or HUNT_CLOCK if clock;
 * a thread rests. all_rest: each of ready does. */
void choose_begin(void);
int choose_next(uint64_t ready, bool clock, bool all_rest);
void choose_rests(int thread);
void choose_measure(void); /* the current thread is about to make an access */

/* explore.c: whom to run; the current thread goes on from a point, rests. It is about to access a
 * shared word: true if that needs no point, since its order makes no difference. */
int explore_next(void);
void explore_goes_on(uintptr_t address);
void explore_rests(uintptr_t pc);
bool explore_passes(size_t place, uintptr_t address, enum sim_access access);

/* choose.c: how many stores older than the newest one the current thread reads; how many stores
 * come after the one that it makes. 0 to `most`. */
int choose_older(int most);
int choose_earlier(int most);

/* cover.c: an execution begins; the current thread makes an access. */
void cover_begin(void);
void cover_access(uintptr_t address, enum sim_access access, uintptr_t pc);

/* steps.c: an execution begins, whose steps are counted there, NULL: nowhere; it is over. */
void steps_begin(struct hunt_cover *cover);
void steps_end(void);

void events_begin(void); /* calls.c */
uint32_t events_so_far(void);

/* buffer.c: the current thread's is empty, another's, all are; the current thread is about to
 * store; a thread runs no more, or again; the current one comes to a point. The current one stores
 * to a word of a stack that is shared; accesses one, after others may have. */
void buffer_empty(void);
void buffer_empty_of(int thread);
void buffer_empty_all(void);
void buffer_store(uintptr_t address, size_t size);
void buffer_leaves(struct sim_thread *from);
void buffer_comes(struct sim_thread *to);
void buffer_point(bool rests);
void buffer_beside(uintptr_t address);
void buffer_meets(uintptr_t address);

/* weak.c: an execution begins; a thread does. A fence of the current thread, of all; memory that
 * was freed. The current thread loads: what it reads. It is about to store: what memory then holds.
 * It is about to read and modify, or, without writes, only to read the newest. Sizes are 1 to 8
 * bytes, orders those of sim/hook_keep.h. */
void weak_begin(void);
void weak_thread(const struct sim_thread *thread);
void weak_fence(int order);
void weak_fence_all(void);
void weak_forget(uintptr_t address, size_t size);
uint64_t weak_load(uintptr_t address, size_t size, int order);
uint64_t weak_store(uintptr_t address, size_t size, uint64_t value, int order);
void weak_update(uintptr_t address, size_t size, int order, bool writes);

/* A full fence of the current thread, in each model. */
void memory_fence(void);

/* oracle.c: the scheduler says what it does; a thread has come to a point, is new, all of them
 * wait. */
void oracle_event(unsigned kind, int64_t about, int32_t a);
void oracle_point(void);
void oracle_thread(const struct sim_thread *thread);
void oracle_all_wait(void);
_Noreturn void oracle_fail(enum hunt_end end, const char *title); /* and who waits for what */

/* memory.c */
void memory_begin(void);
void *memory_stack(void);
bool memory_is_stack(uintptr_t address);
void memory_stack_free(void *stack);
size_t memory_used(void);

#endif
