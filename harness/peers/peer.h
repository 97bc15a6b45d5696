/* peer.h - the peers' side of the protocol in harness/peers/README.md, for C and C++.
 *
 * Callers: each peer's main(), on its first thread:
 *
 *   peer_parse()     before the runtime starts: what to run, on how many workers
 *   peer_measure()   where the runtime's "main" is: calls the workload, times it, keeps the result
 *   peer_print()     once the runtime is gone: the one line of output
 *
 * Nothing here is part of what is timed but peer_now(), and peer_work() where a workload asks for
 * work. A mistake ends the process with one line that says so.
 */
#ifndef SCHEDLAB_PEER_H
#define SCHEDLAB_PEER_H

#include "call_times.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { PEER_PARAMS_MAX = 16 };

struct peer_param {
    const char *key, *value;
    bool read;
};

/* The outcome of one call; all zero before it. */
struct peer_outcome {
    uint64_t ops, answer, digest;
    int64_t time_ns; /* 0: the whole call counts; else the part that does */
};

struct peer_run {
    const char *workload;
    int workers;
    uint64_t seed;
    int64_t warmup, iterations, iterations_max, min_time_ns;
    struct peer_param params[PEER_PARAMS_MAX];
    int params_count;

    struct call_times times;
    struct peer_outcome first; /* the others must agree */
    bool called;
};

struct peer_workload {
    const char *name;                    /* NULL ends a table */
    void *(*init)(struct peer_run *run); /* reads every parameter; not timed */
    void (*run)(void *state, struct peer_outcome *out);
    void (*check)(void *state); /* optional; not timed, after every call */
};

static inline int64_t peer_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* As digest_mix() of workloads/workload.h. */
static inline uint64_t peer_mix(uint64_t value)
{
    value += UINT64_C(0x9e3779b97f4a7c15);
    value = (value ^ (value >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    value = (value ^ (value >> 27)) * UINT64_C(0x94d049bb133111eb);
    return value ^ (value >> 31);
}

/* As go_work() of the runtime: n rounds of a dependent recurrence. */
static inline uint64_t peer_work(uint64_t n)
{
    uint64_t state = n;
    for (uint64_t i = 0; i < n; i++)
        state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    __asm__ volatile("" : "+r"(state)); /* or it would be dropped */
    return state;
}

/* Ends ---------------------------------------------------------------------------------------- */

static inline void peer_end(const char *key, int status, const char *format, va_list args)
{
    char text[512];
    vsnprintf(text, sizeof text, format, args);
    printf("{\"%s\": \"", key);
    for (const char *at = text; *at; at++)
        printf(*at == '"' || *at == '\\' ? "\\%c" : "%c", *at);
    printf("\"}\n");
    fflush(stdout);
    _Exit(status);
}

/* A fault: what was asked, or what came out, is wrong. Any thread. */
__attribute__((format(printf, 1, 2), noreturn)) static inline void peer_fail(const char *format,
                                                                             ...)
{
    va_list args;
    va_start(args, format);
    peer_end("error", 1, format, args);
    va_end(args);
    abort();
}

/* Ends without a fault: this peer does not support the setting that the text names. */
__attribute__((format(printf, 1, 2), noreturn)) static inline void
peer_unsupported(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    peer_end("unsupported", 0, format, args);
    va_end(args);
    abort();
}

/* Input --------------------------------------------------------------------------------------- */

static inline int64_t peer_number(const char *key, const char *text)
{
    char *end;
    errno = 0;
    int64_t value = strtoll(text, &end, 10);
    if (errno || end == text || *end)
        peer_fail("%s=%s is not a number", key, text);
    return value;
}

static inline void peer_option(struct peer_run *run, const char *key, const char *value)
{
    int64_t number = peer_number(key, value);
    if (strcmp(key, "--workers") == 0)
        run->workers = (int)number;
    else if (strcmp(key, "--seed") == 0)
        run->seed = (uint64_t)number;
    else if (strcmp(key, "--warmup") == 0)
        run->warmup = number;
    else if (strcmp(key, "--iterations") == 0)
        run->iterations = number;
    else if (strcmp(key, "--iterations-max") == 0)
        run->iterations_max = number;
    else if (strcmp(key, "--min-time-ns") == 0)
        run->min_time_ns = number;
    else
        peer_fail("unknown option %s", key);
}

/* argv stays in use; its words are cut at the equals sign. */
static inline struct peer_run peer_parse(int argc, char **argv)
{
    struct peer_run run;
    memset(&run, 0, sizeof run);
    run.workers = 1;
    run.iterations = 1;
    run.iterations_max = 2;
    if (argc < 2)
        peer_fail("a workload is missing");
    run.workload = argv[1];
    for (int i = 2; i < argc; i++) {
        char *equals = strchr(argv[i], '=');
        if (!equals || run.params_count == PEER_PARAMS_MAX)
            peer_fail("cannot take the argument %s", argv[i]);
        *equals = '\0';
        if (strncmp(argv[i], "--", 2) == 0) {
            peer_option(&run, argv[i], equals + 1);
        } else {
            struct peer_param *param = &run.params[run.params_count++];
            param->key = argv[i];
            param->value = equals + 1;
        }
    }
    if (run.workers < 1 || run.iterations_max < 2)
        peer_fail("at least one worker and two iterations to tell of are needed");
    return run;
}

static inline const char *peer_param_text(struct peer_run *run, const char *key)
{
    for (int i = 0; i < run->params_count; i++) {
        if (strcmp(run->params[i].key, key) == 0) {
            run->params[i].read = true;
            return run->params[i].value;
        }
    }
    peer_fail("%s: the parameter %s is missing", run->workload, key);
}

static inline int64_t peer_param_number(struct peer_run *run, const char *key)
{
    return peer_number(key, peer_param_text(run, key));
}

/* True if the parameter is `word`, false if it is `other`; unsupported if it is neither. */
static inline bool peer_param_is(struct peer_run *run, const char *key, const char *word,
                                 const char *other)
{
    const char *value = peer_param_text(run, key);
    if (strcmp(value, word) != 0 && strcmp(value, other) != 0)
        peer_unsupported("%s=%s", key, value);
    return strcmp(value, word) == 0;
}

/* Histograms of latencies are not part of the protocol. */
static inline void peer_param_no_latency(struct peer_run *run)
{
    if (peer_param_is(run, "latency", "on", "off"))
        peer_unsupported("latency=on: peers keep no histograms");
}

/* Measuring ----------------------------------------------------------------------------------- */

static inline void peer_call(struct peer_run *run, const struct peer_workload *workload,
                             void *state, bool timed)
{
    struct peer_outcome out;
    memset(&out, 0, sizeof out);
    int64_t start = peer_now();
    workload->run(state, &out);
    int64_t time_ns = peer_now() - start;
    if (out.time_ns > 0)
        time_ns = out.time_ns;
    if (workload->check)
        workload->check(state);
    if (run->called && (out.ops != run->first.ops || out.answer != run->first.answer ||
                        out.digest != run->first.digest))
        peer_fail("two calls disagree: answers %016" PRIx64 " and %016" PRIx64
                  ", operations %" PRIu64 " and %" PRIu64,
                  run->first.answer, out.answer, run->first.ops, out.ops);
    run->called = true;
    run->first = out;
    if (!timed)
        return;
    call_times_add(&run->times, time_ns > 0 ? time_ns : 1, out.ops);
}

static inline void peer_measure(struct peer_run *run, const struct peer_workload *table)
{
    while (table->name && strcmp(table->name, run->workload) != 0)
        table++;
    if (!table->name)
        peer_unsupported("%s", run->workload);
    void *state = table->init(run);
    for (int i = 0; i < run->params_count; i++)
        if (!run->params[i].read)
            peer_fail("%s: unknown parameter %s", run->workload, run->params[i].key);
    if (!call_times_begin(&run->times, (size_t)run->iterations_max))
        peer_fail("no memory");
    for (int64_t i = 0; i < run->warmup; i++)
        peer_call(run, table, state, false);
    while (run->times.calls == 0 || run->times.calls < (uint64_t)run->iterations ||
           run->times.time_ns < run->min_time_ns)
        peer_call(run, table, state, true);
}

static inline int peer_print(const struct peer_run *run, const char *runtime, const char *version)
{
    printf("{\"runtime\": \"%s\", \"version\": \"%s\", \"iterations\": [", runtime, version);
    for (size_t i = 0; i < run->times.count; i++) {
        const struct call_time *entry = &run->times.entry[i];
        printf("%s{\"time_ns\": %" PRId64 ", \"ops\": %" PRIu64 ", \"calls\": %" PRIu64 "}",
               i > 0 ? ", " : "", entry->time_ns, entry->ops, entry->calls);
    }
    printf("], \"answer\": \"%016" PRIx64 "\", \"digest\": \"%016" PRIx64 "\"}\n",
           run->first.answer, run->first.digest);
    return fflush(stdout) == 0 ? 0 : 1;
}

/* Zeroed memory, or the end. */
static inline void *peer_alloc(size_t count, size_t size)
{
    void *memory = calloc(count > 0 ? count : 1, size);
    if (!memory)
        peer_fail("no memory for %zu times %zu bytes", count, size);
    return memory;
}

#endif
