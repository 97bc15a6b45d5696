/* workload.h - the contract of a workload: one file, one const struct workload, no globals.
 *
 * Life of one sample, in a process of its own:
 *
 *   init (thread stack, not timed) -> { run (timed, on the main goroutine) -> verify }* -> fini
 *
 * run() is called one or more times (warm-up, iterations); each call must do the same work and
 * leave the state ready for the next one. It fills *out. verify() checks the answer against an
 * independent method: a published table, a serial run, a closed formula. The harness compares
 * out->digest between all variants: it must depend on the work done (answers, tasks, messages,
 * bytes), never on the schedule.
 *
 * Includes only runtime/runtime.h and libc. No thread-local variables, no clocks but go_now().
 */
#ifndef SCHEDLAB_WORKLOAD_H
#define SCHEDLAB_WORKLOAD_H

#include "param.h"
#include "runtime/runtime.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct histogram;     /* workloads/histogram.h */
struct request_parts; /* workloads/request_parts.h */

/* A request, region or task of a program. Texts are the workload's. Times are those of go_now(). */
struct workload_request {
    const char *name; /* "": it has none */
    const char *goroutine, *function;
    uint32_t copy; /* of several that run beside each other, from 1; 0: there is one */
    int64_t from_ns, to_ns;
};

enum workload_style { STYLE_GOROUTINE, STYLE_FORKJOIN };

/* The result of one call of run(). All zero before each call. */
struct outcome {
    uint64_t ops;    /* operations done, in units of workload->op; throughput is ops per second */
    uint64_t answer; /* the result that verify() checks */
    uint64_t digest; /* work done: mix with digest_mix(); equal for all variants */
    int64_t time_ns; /* 0: the harness times the call; else the part that counts, measured inside */
    struct histogram *latency; /* NULL, or latencies in ns; owned by the workload's state */
};

enum { FINDINGS_MAX = 8 };

/* A variant's promises to goroutines, as its knobs are set (harness/spec/promises.h). */
struct promises {
    bool hands_off; /* others get the worker of a goroutine in a blocking call, sooner or later */
    bool preempts;  /* a goroutine that only computes is stopped when its slice is over */
    bool polls;     /* a goroutine that waits for a descriptor keeps no worker */
    bool resizes;   /* the number of workers can be changed: go_set_workers() */
    bool outside;   /* threads that are no workers can start goroutines: go_outside() */
    bool helps;     /* children of fork/join are queued, and are no goroutines: FJ_HELP */
};

struct workload {
    const char *name;   /* folder-wide unique word: file name, CLI word, plot key */
    const char *idea;   /* one line: what it stresses */
    const char *op;     /* what one operation is: "spawn", "round trip", "message" */
    const char *source; /* key of docs/PAPERS.md, or a file of Go's, where it comes from */
    enum workload_style style;
    const struct param *params; /* of the params struct, ends with name == NULL */
    size_t params_size;

    /* Required. Most Gs alive at one time on any variant (GO policy: every task a G), for skipping
     * cells before they harm the machine. Any stack. */
    uint64_t (*live_gs_max)(const void *params);

    /* Optional. Most Gs that have begun, and so have a stack, and have not ended at one time,
     * beside one per worker; NULL: as many as live_gs_max() says. Any stack. */
    uint64_t (*begun_gs_max)(const void *params);

    /* Optional. Checks what ranges cannot say (a relation between two params); returns NULL or one
     * line that says what is wrong and what is valid. Static or params-owned storage. */
    const char *(*check)(const void *params);

    /* Optional. Fewest workers with which params can be done at all, by any variant; left out: 1.
     */
    int (*workers_min)(const void *params);

    /* Optional. NULL, or why a cell has to be skipped whose variant promises no more: the rest of a
     * sentence, "would never end: ...". Left out: never. Static storage. */
    const char *(*skip)(const void *params, const struct promises *promises);

    /* Optional. The number of descriptors that run() has open at one time by which its goroutines
     * wait for each other; 0, or left out: none. Without a poller these are blocking calls. Then
     * run() may never end if the worker of such a goroutine goes to no other. A cell is skipped if
     * the process may not have so many descriptors. */
    uint64_t (*polls)(const void *params);

    /* Optional. True if run() fills out->latency; left out: never. */
    bool (*has_latency)(const void *params);

    /* Optional. The kind of requests, as go_request() tells them, that its latencies are of; left
     * out: 0. */
    int32_t (*request_kind)(const void *params);

    /* Optional. Fills in where the time of its last call's requests went, if it knows by itself;
     * left out: machines that follow goroutines tell. parts[0] is of all requests; behind it come
     * those of each class if there are several, most requests first, REQUEST_CLASSES of them at
     * most. Returns how many were filled. Thread stack, or the main goroutine. */
    size_t (*parts)(void *state, struct request_parts *parts);

    /* Optional. True if a clock sets how many operations there are a second, so that its latencies
     * tell schedulers apart and its throughput does not. Left out: never. */
    bool (*is_paced)(const void *params);

    /* Its result is what print() shows of one call; how long the call took is none. */
    bool is_shown;

    /* Required. Allocates the state for params; never NULL. Thread stack, before the runtime
     * starts. */
    void *(*init)(const void *params, uint64_t seed);

    /* Required. Main goroutine. */
    void (*run)(void *state, struct outcome *out);

    /* Optional. The same work as plain C without the runtime, the baseline for speed-up: no go(),
     * no fj_*; fork/join workloads must have it. Thread stack or goroutine. Fills the same *out. */
    void (*run_serial)(void *state, struct outcome *out);

    /* Required. Thread stack, not timed. Returns NULL if right, else one line that says what was
     * expected and what was found, written into why. */
    const char *(*verify)(void *state, const struct outcome *out, char *why, size_t why_size);

    /* Optional. Extra output for people, on what the last run() did. A line "ran: TEXT" is the
     * order in which its goroutines ran, which records keep of the first call. Thread stack, or the
     * main goroutine after run(). */
    void (*print)(void *state, FILE *to);

    /* Optional. Numbers that a call of run() finds out beside its throughput (who waited, for how
     * many turns). These are their names, FINDINGS_MAX at most and then NULL, of lower case letters
     * and "_". No other metric has one of them (harness/evidence/metric.h). find() is required
     * then, and fills in those of the last call in the same order. Records keep those of the first
     * call. Thread stack, or the main goroutine after run(). */
    const char *const *finds;
    void (*find)(void *state, double *values);

    /* Optional. The function of a goroutine of the program that is run, for traces: path[0] says
     * which of main's goroutines, from 0, path[1] which of that one's, and so on. *copy is as in a
     * request. NULL: unknown. Static or params-owned storage. Any stack. */
    const char *(*function)(const void *params, const uint32_t *path, size_t levels,
                            uint32_t *copy);

    /* Optional. Calls visit() for the requests of the last call in the words of the program that is
     * run, for traces. Thread stack, or the main goroutine after run(). */
    void (*requests)(void *state, void (*visit)(const struct workload_request *request, void *arg),
                     void *arg);

    /* Required. Frees the state. Thread stack. */
    void (*fini)(void *state);
};

/* Mixes value into a running digest; order-independent, so that any schedule gives the same. */
static inline uint64_t digest_mix(uint64_t value)
{
    value += UINT64_C(0x9e3779b97f4a7c15);
    value = (value ^ (value >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    value = (value ^ (value >> 27)) * UINT64_C(0x94d049bb133111eb);
    return value ^ (value >> 31);
}

/* All workloads, NULL-terminated, in the order `schedlab list` shows them (workloads/registry.c).
 * */
extern const struct workload *const workloads[];

/* The names in the registry, in the same order: a file's name, to which .name has to be equal. */
extern const char *const workload_words[];

/* Calls run() of that element of workloads[], as compiled for the scheduler that runs the caller.
 * Main goroutine. */
void workload_run(const struct workload *workload, void *state, struct outcome *out);

/* The run() of its serial elision: the same source, in which each spawn is an ordinary call. Needs
 * no scheduler; thread stack or goroutine. NULL where the workload forks nothing, or is none of
 * workloads[]. */
void (*workload_elision(const struct workload *workload))(void *state, struct outcome *out);

#endif
