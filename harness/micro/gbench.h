/* gbench.h - Google Benchmark for C: register functions of any C file, run them, count in them.
 *
 * gbench.cc, the only C++ file of the project, implements it; a C file needs this header alone:
 *
 *     static void cas(struct gbench_state *state, void *arg)
 *     {
 *         _Atomic uint64_t *word = arg;
 *         while (gbench_keep_running_batch(state, 100))
 *             for (int i = 0; i < 100; i++)
 *                 atomic_fetch_add(word, 1);
 *     }
 *     ...
 *     gbench_register("add", cas, &word);
 *     gbench_run("add", flags, false, error, sizeof error);
 *
 * All times are nanoseconds per iteration, and an iteration is one operation. The library's
 * vocabulary is kept: a benchmark with arguments is a family of instances, each instance is run
 * with a growing number of iterations until that takes long enough, and this is repeated
 * `--benchmark_repetitions` times. Repetitions of all instances are interleaved at random, unless
 * a flag says otherwise, so that drift hits all alike.
 *
 * Source: Google Benchmark 1.7 to 1.9, include/benchmark/benchmark.h.
 *
 * Threads: everything here is called by the thread that called gbench_run(), or, between
 * gbench_keep_running_batch() and the end of its body, by one thread at a time that takes its
 * place. Running out of memory ends the process.
 */
#ifndef SCHEDLAB_GBENCH_H
#define SCHEDLAB_GBENCH_H

#include "harness/base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct gbench;       /* a registered family; the library owns it until the process ends */
struct gbench_state; /* one call of a benchmark's function; valid during the call */

/* Runs the operation until gbench_keep_running_batch() says false. arg is that of
 * gbench_register(). */
typedef void gbench_fn(struct gbench_state *state, void *arg);

/* Registering -------------------------------------------------------------------------------- */

/* The time that the Time column shows, and by which a run is long enough. */
enum gbench_time {
    GBENCH_CPU_TIME,    /* wall time shown; enough by CPU time of the thread: the default */
    GBENCH_REAL_TIME,   /* wall time shown; enough by wall time */
    GBENCH_MANUAL_TIME, /* the time that gbench_set_time_ns() was given */
};

/* A new family. name is copied; parts are separated by "/". arg must outlive gbench_run(). */
struct gbench *gbench_register(const char *name, gbench_fn *fn, void *arg);

/* Adds an instance, with one argument or with `count` of them. Without any call there is one
 * instance without arguments. */
void gbench_add_arg(struct gbench *bench, int64_t value);
void gbench_add_args(struct gbench *bench, const int64_t *values, size_t count);

/* Instances for lo, hi and the powers of multiplier between them; 0 <= lo <= hi, multiplier > 1. */
void gbench_add_range(struct gbench *bench, int64_t lo, int64_t hi, int multiplier);

/* Names of the arguments, for "name:value" in the instance's name; copied. */
void gbench_name_args(struct gbench *bench, const char *const *names, size_t count);

void gbench_use_time(struct gbench *bench, enum gbench_time time);

/* Shows the CPU time of all threads of the process, not only of the calling one. */
void gbench_use_process_cpu(struct gbench *bench);

/* Exactly so many iterations a repetition, whatever --benchmark_min_time says; > 0. */
void gbench_fix_iterations(struct gbench *bench, int64_t iterations);

/* Inside a benchmark's function -------------------------------------------------------------- */

/* True: do n more operations. The first call starts the clock, the call that returns false stops
 * it. May ask for up to n - 1 operations more than planned; they count. n > 0. After
 * gbench_fail() or gbench_skip() it is false. */
bool gbench_keep_running_batch(struct gbench_state *state, uint64_t n);

/* The number of operations planned for this call. */
uint64_t gbench_planned(const struct gbench_state *state);

/* The number of operations done; pre: gbench_keep_running_batch() has returned false. */
uint64_t gbench_done(const struct gbench_state *state);

/* The instance's argument, counted from 0; pre: it has so many. */
int64_t gbench_argument(const struct gbench_state *state, size_t index);

/* Stops and restarts the clocks; inside the loop only, in pairs. Costs some hundred ns. */
void gbench_pause(struct gbench_state *state);
void gbench_resume(struct gbench_state *state);

/* GBENCH_MANUAL_TIME: the time of this turn of the loop, in nanoseconds, for all its operations
 * together; once per turn. */
void gbench_set_time_ns(struct gbench_state *state, double ns);

/* CPU time of all operations of this call, in nanoseconds, in place of the library's own measuring;
 * after the loop, > 0. */
void gbench_set_cpu_ns(struct gbench_state *state, double ns);

/* The meaning of a user counter's value, which decides how it is shown. */
enum gbench_counter {
    GBENCH_COUNTER_TOTAL,  /* of all operations of this call: shown per operation */
    GBENCH_COUNTER_RATE,   /* of all operations of this call: shown per second */
    GBENCH_COUNTER_FIGURE, /* itself, as a peak is */
};

/* A column beside the times; after the loop. name is copied; a second value replaces the first. */
void gbench_count(struct gbench_state *state, const char *name, double value,
                  enum gbench_counter kind);

/* Text behind the instance's line; copied. */
void gbench_label(struct gbench_state *state, const char *text);

/* Says that the result is wrong: the instance has this reason and no numbers, and gbench_run()
 * returns GBENCH_FAILED. Inside or after the loop; the function then returns soon. text is
 * copied. */
void gbench_fail(struct gbench_state *state, const char *text);

/* Says that the machine cannot do it: the instance has this reason and no numbers, but nothing has
 * failed. Otherwise as above. */
void gbench_skip(struct gbench_state *state, const char *text);

/* Running ------------------------------------------------------------------------------------ */

enum gbench_end {
    GBENCH_DONE,
    GBENCH_FAILED,    /* at least one instance called gbench_fail(), or the file is not whole */
    GBENCH_MISUSED,   /* a flag or its value is not valid */
    GBENCH_UNMATCHED, /* no name matches the filter */
};

/* Runs the instances that --benchmark_filter selects, or lists them with --benchmark_list_tests.
 * Writes the output that the flags ask for. flags are the library's own, "--benchmark_NAME=VALUE",
 * NULL-terminated; program is the name in the output. `--benchmark_min_time` takes seconds with or
 * without "s" for every version of the library. The table on standard output leaves out how time
 * was taken, which is part of each full name ("/process_time/manual_time"); with medians_only it
 * has one line for each instance, however often it was repeated. Once per process. GBENCH_MISUSED,
 * _UNMATCHED: one line in error, nothing was run; otherwise error is empty, or says that
 * --benchmark_out is not whole.
 */
enum gbench_end gbench_run(const char *program, const char *const *flags, bool medians_only,
                           struct error *error);

/* Adds a line to the `context` of the results; before gbench_run(). Both are copied. */
void gbench_context(const char *key, const char *value);

#ifdef __cplusplus
}
#endif

#endif
