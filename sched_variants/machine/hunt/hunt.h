/* hunt.h - a machine that looks for wrong schedules: the same instrumented code as on the simulated
 * machine, without caches and prices. One thread runs at a time, and whoever runs next is chosen at
 * each point where threads can affect each other.
 *
 *   hooks.c   the calls of instrumented code: which accesses are points
 *   kernel.c  threads, points, time, and the end of an execution
 *   calls.c   the kernel's calls: futexes, threads, sleeping, interrupts
 *   oracle.c  is work left lying?
 *   choose.c  who goes on: the algorithms, and schedules that are replayed
 *   explore.c all executions of a small program (explore.h)
 *   buffer.c  store buffers, for x86's memory model
 *   weak.c    words with a history, for C11's
 *   cover.c   which accesses met, and in which order
 *   steps.c   how the steps of submitters and sleepers crossed
 *   memory.c  memory that is the same in each execution
 *   and of the simulated machine: descriptors (sim/fd.h), sim_switch()
 *
 * An execution is a whole run: memory as at first, a first thread, everything that it starts. It is
 * a function of the program, the plan and what was learnt, so a plan replays it.
 *
 * Points. A word is shared once two threads have accessed it and one of them has written. An access
 * to a shared word is a point; so is each call into the kernel. Between two points a thread runs
 * alone, since nobody could tell. Which words are shared is learnt in some executions first
 * (hunt_learn()), so that the first access in an execution is a point too.
 *
 * Time is no price. A point takes as long as the seed says, 1 to 512 ns in an execution. When
 * nobody can run, the clock jumps to the next timer. It may also jump while others run, by
 * HUNT_JUMP_NS at most: a thread can lose its core for so long.
 *
 * Not seen: orders that are weaker than those of the memory model, races of plain data; accesses
 * that compilers do not report, such as those of inline assembly.
 */
#ifndef SCHEDLAB_HUNT_H
#define SCHEDLAB_HUNT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { HUNT_THREADS_MAX = 64, HUNT_CLOCK = 64, HUNT_TEXT_SIZE = 2048, HUNT_SWITCHES_MAX = 1 << 16 };
enum { HUNT_READS = 64, HUNT_STORES = 80, HUNT_TO_MAX = 96 };
enum { HUNT_MEASURES = 32, HUNT_DEPTH_MAX = 32 };
enum { HUNT_JUMP_NS = 20000000 };

/* How an execution ended. X(NAME, word, help) */
#define HUNT_ENDS(X)                                                                               \
    X(DONE, "done", "right")                                                                       \
    X(WRONG, "wrong", "a wrong answer, or goroutines left over")                                   \
    X(FATAL, "fatal", "a broken invariant, a deadlock or misuse that the runtime reports")         \
    X(CRASH, "crash", "a memory fault or another signal that ends a process")                      \
    X(STUCK, "stuck", "nothing can run, no timer is set, and something waits")                     \
    X(IDLE, "idle", "work lies in a queue beside an idle worker, and nobody is on the way")        \
    X(ENDLESS, "endless", "more points than allowed, though all threads go on")                    \
    X(UNFIT, "unfit", "more threads, timers or memory than there is room for")

enum hunt_end {
#define HUNT_END_ID(name, word, help) HUNT_##name,
    HUNT_ENDS(HUNT_END_ID)
#undef HUNT_END_ID
        HUNT_END_COUNT
};
extern const char *const hunt_end_words[], *const hunt_end_helps[];

/* At the moment `at` of a thread, `to` goes on, HUNT_CLOCK: time. HUNT_READS + n: the thread reads
 * the value that n newer stores have overwritten; HUNT_STORES + n: its store comes before n that
 * were made earlier. Moments count the points, waits and rests of a thread in the whole execution.
 */
struct hunt_switch {
    uint32_t at;
    uint8_t thread, to;
    uint8_t away;        /* the thread could have gone on: a preemption */
    uint32_t events;     /* that the scheduler had told before, of those that are kept */
    uintptr_t pc, to_pc; /* of the thread and of `to`, when it was recorded; 0: none */
};

/* The algorithms: choose.c. */
extern const char *const hunt_algorithm_words[];

/* Memory models: sequential consistency; store buffers, as on x86; C11 without load buffering. */
extern const char *const hunt_memory_words[];
enum hunt_memory { HUNT_SC, HUNT_TSO, HUNT_WEAK };

struct hunt_plan {
    int algorithm; /* of the words; -1: none, only `switches` */
    uint64_t seed; /* of the algorithm, and of what is random beside it */
    enum hunt_memory memory;
    int depth; /* pct, delay: how many changes */
    uint64_t points_max;
    uint64_t points_expected;           /* pct: where it changes */
    unsigned oracles;                   /* bits of enum hunt_end that count */
    const struct hunt_switch *switches; /* else the thread goes on, or the next one that can */
    size_t switch_count;
    bool keeps_events;
    bool measures; /* surw: counts accesses by thread; in HUNT_MEASURES executions */
    bool explores; /* explore.h decides */
};

struct hunt_outcome {
    enum hunt_end end;
    char text[HUNT_TEXT_SIZE]; /* says why, in lines */
    uint64_t points, accesses;
    uint64_t order; /* a hash of the order of accesses to each shared word */
    int threads;    /* the most at one time */
    int64_t clock_ns;
    struct hunt_switch *switches; /* where it differed from no choice at all; until the next */
    size_t switch_count;
    size_t memory; /* bytes of blocks */
};

/* Runs fn(arg) on a fresh machine; the outcome stays until the next call. */
const struct hunt_outcome *hunt_execute(const struct hunt_plan *plan, void (*fn)(void *arg),
                                        void *arg);

/* While true, executions add to the words that are known as shared; the next execution takes them.
 */
void hunt_learn(bool learns);

/* Ends the execution, from inside it; text may have several lines. */
_Noreturn void hunt_fail(enum hunt_end end, const char *text);

/* How often an access by one instruction was followed by another thread's, by `after`, to the same
 * word: that read or overwrote what was written, or overwrote what was read. Instructions are
 * return addresses of hooks. In the order in which they were executed, even where a memory model
 * lets others see another one. */
enum { HUNT_COVER_PAIRS = 1 << 14 };

/* The two sides whose steps machine_step() names "S1" and "I1", and how many steps have room. */
enum { HUNT_SUBMITS, HUNT_SLEEPS, HUNT_STEPS = 6, HUNT_SUBMIT_STEPS = 4 };
extern const char hunt_sides[]; /* "SI" */

struct hunt_cover {
    /* By a submitter's step and a sleeper's, of passages that crossed: the former came first, the
     * latter did. */
    uint64_t crossed[HUNT_STEPS][HUNT_STEPS][2];
    uint64_t left_out; /* meetings of pairs that had no room */
    struct hunt_cover_pair {
        uintptr_t before, after; /* before 0: free */
        uint64_t times;
    } pair[HUNT_COVER_PAIRS];
};

/* From now on executions add to it; NULL: to none. It is the caller's, and zeroed at first. */
void hunt_cover(struct hunt_cover *cover);

/* Adds to the times of a pair. */
void hunt_cover_add(struct hunt_cover *cover, uintptr_t before, uintptr_t after, uint64_t times);

/* From now on nobody has to run what lies in queues: main has returned. */
void hunt_main_is_over(void);

/* In this execution, a G that lies in a queue may not stay there while *idle_ps is above 0, unless
 * *put_off is not 0 (NULL: none is): oracle.c. */
void hunt_conserves(const _Atomic int32_t *idle_ps, const _Atomic int64_t *put_off);

/* Kinds of machine_event() by bits, for the oracles. Before the first execution. */
struct hunt_kinds {
    uint64_t waits, put;    /* what it is about is ready; lies in the queue `a` */
    uint64_t taken;         /* waits no more */
    uint64_t runs, stops;   /* the worker runs it; runs nothing */
    uint64_t worker_starts; /* the thread that starts next is a worker */
    int32_t into_runnext;   /* of the queues */
};
void hunt_event_kinds(const struct hunt_kinds *kinds);

/* The scheduler's events of the last execution, if its plan said so. */
struct sim_sched_event;
const struct sim_sched_event *hunt_events(size_t *count);

#endif
