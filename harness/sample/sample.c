/* sample.c - see sample.h. */
#include "harness/sample/sample.h"

#include "harness/base/build_info.h"
#include "harness/base/memory.h"
#include "harness/base/text.h"
#include "harness/counters/counters.h"
#include "harness/host/allocator.h"
#include "harness/host/disturbance.h"
#include "harness/host/limits.h"
#include "harness/host/probe.h"
#include "harness/models/machine_start.h"
#include "harness/peers/call_times.h"
#include "harness/records/records.h"
#include "harness/records/sample_record.h"
#include "harness/sample/flame.h"
#include "harness/sample/peer_sample.h"
#include "harness/sample/request_log.h"
#include "harness/sample/warmup.h"
#include "harness/sample/why.h"
#include "harness/spec/knobs.h"
#include "harness/spec/machine_memory.h"
#include "harness/spec/outside.h"
#include "harness/spec/peer_table.h"
#include "harness/spec/promises.h"
#include "harness/spec/spec.h"
#include "sched.h"
#include "workloads/histogram.h"
#include "workloads/workload.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    REASON_SIZE = 512,
    G_BYTES = 200,
    G_STACK_BYTES = 8 << 10, /* what a goroutine that waits has touched of its stack */
    THREAD_BYTES = 24 << 10, /* kernel stack, and what is touched of the thread's own */
    THREADS_SPARE = 100,     /* left to everybody else */
    POLLER_DESCRIPTORS = 2,  /* the poller's own, and the one that wakes it */
};

/* One measurement, on its way. */
struct sample {
    const struct sample_request *request;
    struct variant_spec variant;
    struct workload_spec workload;
    json_t *record;

    int cpus[SAMPLE_WORKERS_MAX]; /* the cores in use, as workers take them */
    int cpu_count;
    int32_t groups[SAMPLE_WORKERS_MAX]; /* of the worker's core: machine_groups() */

    struct sched *sched; /* NULL for serial */
    struct counters *counters;
    void *state;

    struct warmup warmup;
    struct call_times times; /* of the timed calls */
    int64_t timed_began_ns;  /* go_now() before the first of them */
    int64_t short_ns;        /* what they lack of min_time_ns, which was given up; else 0 */
    bool counts_whole;       /* events of all timed calls together, see sample_counts_whole() */
    int64_t cpu_ns;          /* of what is counted, all threads of the process together */
    int64_t cpu_start_ns;
    int64_t warmup_ns;  /* of the untimed calls */
    int64_t between_ns; /* outside the calls: counters read, answers checked */
    uint64_t untimed_ops;
    uint64_t answer, digest;
    bool running; /* the scheduler has Ms, so its statistics can be read */
    bool called;  /* run() has been called at least once */
    struct histogram *latency;
    char failure[REASON_SIZE]; /* "" as long as all is well */
};

static bool is_serial(const struct sample *sample)
{
    return spec_is_serial(sample->variant.ops);
}

/* The run() without a scheduler; NULL: the workload has no such version. */
static void (*serial_run(const struct sample *sample))(void *state, struct outcome *out)
{
    const struct workload *workload = sample->workload.workload;
    return sample->variant.ops == &spec_elision ? workload_elision(workload) : workload->run_serial;
}

static void __attribute__((format(printf, 2, 3)))
fail(struct sample *sample, const char *format, ...)
{
    if (*sample->failure)
        return;
    va_list args;
    va_start(args, format);
    vsnprintf(sample->failure, sizeof sample->failure, format, args);
    va_end(args);
}

/* Records ------------------------------------------------------------------------------------- */

static json_t *hex(uint64_t value)
{
    char text[17];
    snprintf(text, sizeof text, "%016" PRIx64, value);
    return json_string(text);
}

/* [{"time_ns", "ops", "calls" where it is more than one}] */
static json_t *times_to_json(const struct call_times *times)
{
    json_t *iterations = json_array();
    for (size_t i = 0; i < times->count; i++) {
        const struct call_time *entry = &times->entry[i];
        json_t *iteration = json_pack("{sI sI}", "time_ns", (json_int_t)entry->time_ns, "ops",
                                      (json_int_t)entry->ops);
        if (entry->calls > 1)
            json_object_set_new(iteration, "calls", json_integer((json_int_t)entry->calls));
        json_array_append_new(iterations, iteration);
    }
    return iterations;
}

/* The text that the workload prints for people about its last call, to be freed. */
static char *printed(const struct sample *sample)
{
    char *text = NULL;
    FILE *stream = memory_stream(&text, NULL);
    if (sample->called && sample->workload.workload->print)
        sample->workload.workload->print(sample->state, stream);
    fclose(stream);
    return text;
}

/* Records the text that the workload prints, after the runtime has ended. */
static void record_print(struct sample *sample)
{
    char *text = printed(sample);
    if (*text)
        json_object_set_new(sample->record, "print", json_string(text));
    free(text);
}

/* The order that the first call found, which alone began with a scheduler that had done nothing:
 * later ones find its ticks where the ones before left them. */
static void record_order(struct sample *sample)
{
    static const char line[] = "ran: ";
    char *text = printed(sample), *order = strstr(text, line);
    if (order) {
        order += sizeof line - 1;
        order[strcspn(order, "\n")] = '\0';
        json_object_set_new(sample->record, "order", json_string(order));
    }
    free(text);
}

/* Records the findings of the latest call: as "found" of the first one, for the same reason, and as
 * "found_last" of the last one, which has warm stacks and queues. */
static void record_findings(struct sample *sample, const char *key)
{
    const struct workload *workload = sample->workload.workload;
    double values[FINDINGS_MAX];
    if (!workload->finds)
        return;
    json_t *found = json_object();
    workload->find(sample->state, values);
    for (size_t i = 0; workload->finds[i]; i++)
        json_object_set_new(found, workload->finds[i], json_real(values[i]));
    json_object_set_new(sample->record, key, found);
}

static void record_finish(struct sample *sample)
{
    json_t *record = sample->record;
    uint64_t threads = sample->sched ? sched_stat(sample->sched, STAT_THREADS) : 1;
    const struct call_times *times = &sample->times;
    json_object_set_new(record, "iterations", times_to_json(times));
    if (sample->short_ns > 0)
        json_object_set_new(record, "short_ns", json_integer(sample->short_ns));
    json_object_set_new(record, "counted", json_string(sample->counts_whole ? "section" : "calls"));
    json_object_set_new(record, "warmup", json_integer((json_int_t)sample->warmup.count));
    if (sample->warmup.rule)
        json_object_set_new(record, "warmup_rule", json_string(sample->warmup.rule));
    json_object_set_new(record, "warmup_ns", json_integer(sample->warmup_ns));
    json_object_set_new(record, "between_ns", json_integer(sample->between_ns));
    if (sample->request->sched_events_fd > 0)
        json_object_set_new(record, "timed_began_ns", json_integer(sample->timed_began_ns));
    if (sample->request->injected_percent > 0)
        json_object_set_new(record, "injected_percent",
                            json_integer(sample->request->injected_percent));
    json_object_set_new(record, "threads", json_integer((json_int_t)threads));
    if (times->time_ns > 0) {
        double seconds = (double)times->time_ns / 1e9;
        json_object_set_new(record, "time_ns", json_integer(times->time_ns));
        json_object_set_new(record, "cpu_ns", json_integer(sample->cpu_ns));
        json_object_set_new(record, "ops", json_integer((json_int_t)times->ops));
        json_object_set_new(record, "throughput", json_real((double)times->ops / seconds));
    }
    if (sample->called) {
        json_object_set_new(record, "answer", hex(sample->answer));
        json_object_set_new(record, "digest", hex(sample->digest));
        record_findings(sample, "found_last");
    }
    counters_finish(sample->counters, times->ops + sample->untimed_ops);
    if (counters_set_count(sample->counters) > 1) {
        json_object_set_new(record, "event_set",
                            json_integer((json_int_t)counters_chosen_set(sample->counters)));
        json_object_set_new(record, "event_sets",
                            json_integer((json_int_t)counters_set_count(sample->counters)));
    }
    json_object_set_new(record, "events", counters_to_json(sample->counters, times->ops));
    why_record(record, times->ops);
    struct error error;
    if (sample->request->flame && !flame_write(sample->request->flame, &error))
        fail(sample, "%s", error.text);
    if (histogram_count(sample->latency) > 0)
        json_object_set_new(record, "latency", sample_latency_to_json(sample->latency));
    record_print(sample);
    if (sample->called)
        request_log_record(sample->record, &sample->workload, sample->state);
    if (sample->called && sample->request->sched_events_fd > 0)
        request_log_list(sample->record, &sample->workload, sample->state);
    if (*sample->failure)
        record_fail(record, sample->failure);
    else
        json_object_set_new(record, "status", json_string("ok"));
}

/* Skipping ------------------------------------------------------------------------------------ */

/* The most goroutines that may be alive at once. Fork/join children are goroutines only where the
 * policy says so; else their number is bounded by workers times depth. */
static uint64_t live_gs_expected(const struct sample *sample)
{
    const struct sched_ops *ops = sample->variant.ops;
    if (is_serial(sample))
        return 1;
    if (sample->workload.workload->style == STYLE_FORKJOIN && ops->forkjoin != FJ_GO)
        return 1;
    return sample->workload.workload->live_gs_max(sample->workload.params);
}

/* Bytes, for `live` Gs at one time. A peer's goroutines may have stacks before they begin. */
static uint64_t memory_expected(const struct sample *sample, uint64_t live)
{
    const struct workload *workload = sample->workload.workload;
    const struct sched_ops *ops = sample->variant.ops;
    uint64_t begun = live;
    if (workload->begun_gs_max && !ops->thread_per_g && !peer_is(ops))
        begun =
            workload->begun_gs_max(sample->workload.params) + (uint64_t)sample->request->workers;
    if (begun > live)
        begun = live;
    return live * G_BYTES + begun * (G_STACK_BYTES + (ops->thread_per_g ? THREAD_BYTES : 0));
}

/* True, and the reason in why, if no simulated machine has this. */
static bool is_not_simulated(const struct sample *sample, struct error *why)
{
    if (peer_is(sample->variant.ops))
        return reason_set(
            why,
            "%s is another program, which runs on real threads; simulated machines run what is "
            "built for them",
            sample->variant.ops->name);
    return sample->variant.common.malloc == ALLOCATOR_GLIBC &&
           reason_set(why, "malloc=glibc: simulated machines have one allocator, their own");
}

/* True if run() would give a wrong answer because descriptors are too few; others are to open so
 * many. */
static bool lacks_descriptors(const struct sample *sample, uint64_t others, struct error *why)
{
    const struct workload *workload = sample->workload.workload;
    uint64_t own = workload->polls ? workload->polls(sample->workload.params) : 0;
    if (own == 0 || machine_is_simulated() || peer_is(sample->variant.ops))
        return false;
    struct limits_descriptors now = limits_descriptors();
    uint64_t needed = now.open + own + others;
    if (promises_of(sample->variant.ops, sample->variant.knobs).polls)
        needed += POLLER_DESCRIPTORS;
    if (needed <= now.allowed)
        return false;
    return reason_set(why, "too few descriptors: %" PRIu64 " needed, %" PRIu64 " allowed", needed,
                      now.allowed);
}

/* True, and the reason in why, if the sample might harm the machine or cannot be had at all. */
static bool must_skip(const struct sample *sample, struct error *why)
{
    const struct sched_ops *ops = sample->variant.ops;
    struct error enough;
    if (machine_is_simulated() && is_not_simulated(sample, why))
        return true;
    if (peer_is(ops) && peer_must_skip(sample->request, &sample->variant, why))
        return true;
    if (lacks_descriptors(sample, 0, why))
        return true;
    uint64_t live = live_gs_expected(sample);
    struct limit memory = limits_memory(), threads = limits_threads();
    if (is_serial(sample) && !serial_run(sample))
        return reason_set(why, "%s %s", sample->workload.workload->name,
                          ops == &spec_elision
                              ? "is compiled for no serial elision: it forks nothing, or is from "
                                "outside the tree"
                              : "has no serial version");
    if (ops->single_threaded && !workload_spec_takes_workers(&sample->workload, 1, &enough))
        return reason_set(why, "%s has one worker, however many are asked for: %s", ops->name,
                          enough.text);
    if (sample->variant.common.malloc == ALLOCATOR_GLIBC &&
        allocator_found() == ALLOCATOR_SANITIZER)
        return reason_set(why, "malloc=glibc: this build's sanitizer brings its own malloc");
    if (ops->live_gs_max && live > ops->live_gs_max)
        return reason_set(why, "up to %" PRIu64 " goroutines alive, %s allows %" PRIu64 ": %s",
                          live, ops->name, ops->live_gs_max, ops->limit_reason);
    if (machine_is_simulated()) /* where threads are memory, and no more */
        threads.left = UINT64_MAX;
    if (ops->thread_per_g && (threads.left < THREADS_SPARE || live > threads.left - THREADS_SPARE))
        return reason_set(why, "up to %" PRIu64 " threads, %s leaves %" PRIu64, live, threads.name,
                          threads.left);
    struct promises promises = promises_of(ops, sample->variant.knobs);
    const char *misfit = is_serial(sample) ? NULL
                                           : promises_misfit(&promises, sample->workload.workload,
                                                             sample->workload.params);
    if (misfit)
        return reason_set(why, "%s %s in %s", sample->workload.text, misfit, sample->variant.text);
    if (!sample->request->pin && knob_by_place(ops->knobs, sample->variant.knobs, why))
        return true;
    uint64_t needed = memory_expected(sample, live);
    if (needed <= memory.left / 2)
        return false;
    if (machine_is_simulated())
        return reason_set(why,
                          "up to %" PRIu64 " goroutines alive take about %" PRIu64
                          " MB, more than half of what the host has for the simulated machine",
                          live, needed / 1000000);
    return reason_set(why,
                      "up to %" PRIu64 " goroutines alive take about %" PRIu64
                      " MB; half of %s is %" PRIu64 " MB",
                      live, needed / 1000000, memory.name, memory.left / 2 / 1000000);
}

/* Measuring ----------------------------------------------------------------------------------- */

static void outcome_check(struct sample *sample, const struct outcome *out)
{
    char why[REASON_SIZE];
    const char *wrong = sample->workload.workload->verify(sample->state, out, why, sizeof why);
    if (wrong)
        fail(sample, "wrong answer: %s", wrong);
    if (sample->called && out->digest != sample->digest)
        fail(sample, "digest %016" PRIx64 " in one call of run(), %016" PRIx64 " in another",
             sample->digest, out->digest);
    if (out->ops == 0)
        fail(sample, "run() did no operations");
    const struct workload *workload = sample->workload.workload;
    if (out->latency && !(workload->has_latency && workload->has_latency(sample->workload.params)))
        fail(sample, "run() has latencies, which %s says it has not", workload->name);
    bool first = !sample->called;
    sample->called = true;
    sample->answer = out->answer;
    sample->digest = out->digest;
    if (first) {
        record_order(sample);
        record_findings(sample, "found");
    }
}

/* Keeps the core busy for the given share of a call's time; returns for how long it did. */
static int64_t slow_down(int64_t time_ns, int percent)
{
    int64_t wanted_ns = (int64_t)((double)time_ns * percent / 100);
    int64_t start = go_now(), spent_ns = 0;
    while (spent_ns < wanted_ns)
        spent_ns = go_now() - start;
    return spent_ns;
}

/* The counted section lies between these two. */
static void section_begin(struct sample *sample)
{
    sample->cpu_start_ns = machine_busy_ns();
    counters_begin(sample->counters);
    why_count(true);
}

static void section_end(struct sample *sample)
{
    why_count(false);
    counters_end(sample->counters);
    sample->cpu_ns += machine_busy_ns() - sample->cpu_start_ns;
}

/* One call of run() with its check; counted and recorded if timed. Returns how long it was, but for
 * what lies around it. */
static int64_t call_alone(struct sample *sample, bool timed)
{
    const struct workload *workload = sample->workload.workload;
    struct outcome out;
    const struct workload *outside = sample->sched ? outside_compiled(workload) : NULL;
    memset(&out, 0, sizeof out);
    request_log_begin();
    if (timed && !sample->counts_whole)
        section_begin(sample);
    int64_t start = go_now();
    if (sample->sched && !outside)
        workload_run(workload, sample->state, &out);
    else if (sample->sched)
        outside->run(sample->state, &out);
    else
        serial_run(sample)(sample->state, &out);
    int64_t returned = go_now(), time_ns = returned - start;
    if (out.time_ns > 0)
        time_ns = out.time_ns;
    if (timed) {
        time_ns += slow_down(time_ns, sample->request->injected_percent);
        returned = go_now();
        if (!sample->counts_whole)
            section_end(sample);
    }
    if (time_ns <= 0)
        time_ns = 1; /* under the clock's resolution */
    outcome_check(sample, &out);
    if (!timed) {
        warmup_add(&sample->warmup, (double)time_ns);
        sample->untimed_ops += out.ops;
        return returned - start;
    }
    call_times_add(&sample->times, time_ns, out.ops);
    if (out.latency)
        histogram_merge(sample->latency, out.latency);
    return returned - start;
}

static void call_once(struct sample *sample, bool timed)
{
    int64_t entered = go_now(), call_ns = call_alone(sample, timed);
    sample->between_ns += go_now() - entered - call_ns;
    if (!timed)
        sample->warmup_ns += call_ns;
}

/* True if so much time has passed that min_time_ns is given up. */
static bool is_long_enough(const struct sample *sample)
{
    const struct sample_request *request = sample->request;
    const struct call_times *times = &sample->times;
    int64_t passed_ns = go_now() - sample->timed_began_ns;
    bool brief = request->brief_ns > 0 && passed_ns >= request->brief_ns &&
                 times->calls >= SAMPLE_BRIEF_CALLS && 2 * times->time_ns < passed_ns;
    return brief || passed_ns >= request->min_time_ns * SAMPLE_LIMIT_FACTOR;
}

static bool wants_more(struct sample *sample)
{
    const struct sample_request *request = sample->request;
    uint64_t least = request->iterations > 0 ? (uint64_t)request->iterations : 1;
    if (*sample->failure)
        return false;
    int64_t missing_ns = request->min_time_ns - sample->times.time_ns;
    if (sample->times.calls < least || missing_ns <= 0)
        return sample->times.calls < least;
    if (!is_long_enough(sample))
        return true;
    sample->short_ns = missing_ns;
    return false;
}

static void section_read(struct sample *sample, void (*read)(struct sample *sample))
{
    int64_t entered = go_now();
    read(sample);
    sample->between_ns += go_now() - entered;
}

bool sample_counts_whole(int64_t warmup_ns, int64_t between_ns)
{
    return warmup_ns > 0 && between_ns * 100 <= warmup_ns * SAMPLE_BETWEEN_PERCENT;
}

/* The main goroutine, or for serial the thread. Its stack is as large as a thread's, so verify() is
 * at home on it. */
static void measure(void *arg)
{
    struct sample *sample = arg;
    sample->running = true;
    if (sample->request->no_calls)
        return;
    warmup_begin(&sample->warmup, sample->request->warmup, sample->request->min_time_ns, go_now());
    while (!*sample->failure && warmup_wants_more(&sample->warmup, go_now()))
        call_once(sample, false);
    sample->counts_whole = sample_counts_whole(sample->warmup_ns, sample->between_ns);
    if (sample->counts_whole)
        section_read(sample, section_begin);
    sample->timed_began_ns = go_now();
    while (wants_more(sample))
        call_once(sample, true);
    if (sample->counts_whole)
        section_read(sample, section_end);
}

static uint64_t source_read(void *arg, enum stat_id which)
{
    const struct sample *sample = arg;
    return sample->running ? sched_stat(sample->sched, which) : 0;
}

static const char *source_absent(void *arg, enum stat_id which)
{
    const struct sample *sample = arg;
    if (which == STAT_UNSTARTED_GS_PEAK && !sample->sched->exact)
        return "counted where there is one worker thread only";
    if (which == STAT_BUSY_NS && sample->variant.ops->thread_per_g)
        return "there are no workers: each goroutine has a thread, and the kernel places it";
#ifndef SCHEDLAB_DEBUG
    if (which == STAT_TASKS_LIVE_PEAK)
        return "counted in debug builds only";
#endif
    return NULL;
}

/* Ms of thread-per-goroutine variants come and go, and are no workers. */
static size_t source_read_each(void *arg, enum stat_id which, uint64_t *values, size_t max)
{
    const struct sample *sample = arg;
    size_t count = 0;
    if (!sample->running || sample->variant.ops->thread_per_g)
        return 0;
    if (which == STAT_BUSY_NS) {
        sched_busy_ns(sample->sched, values, max);
        return (size_t)sample->sched->procs;
    }
    for (struct m *m = sched_first_m(sample->sched); m; m = m->all_link, count++)
        if ((size_t)m->id < max) /* relaxed: see stats.h */
            values[m->id] = atomic_load_explicit(&m->stats.value[which], memory_order_relaxed);
    return count;
}

static uint64_t source_read_rest(void *arg, enum stat_id which)
{
    const struct sample *sample = arg;
    return sample->running ? sched_stat_rest(sample->sched, which) : 0;
}

static void hook_started(struct m *m, void *counters)
{
    counters_thread_started(counters, m);
}

static void hook_stopping(struct m *m, void *counters)
{
    counters_thread_stopping(counters, m);
}

/* A worker has a place only if it is pinned. NULL: all places are alike. */
static const int32_t *groups_of_workers(struct sample *sample)
{
    int cpus[SAMPLE_WORKERS_MAX], workers = sample->request->workers;
    for (int i = 0; i < workers; i++)
        cpus[i] = sample->cpus[i % sample->cpu_count];
    return sample->request->pin && machine_groups(cpus, workers, sample->groups) > 1
               ? sample->groups
               : NULL;
}

static void measure_scheduled(struct sample *sample)
{
    const struct sample_request *request = sample->request;
    struct sched_config config = {
        .ops = sample->variant.ops,
        .knobs = sample->variant.knobs,
        .workers = request->workers,
        .seed = machine_is_simulated() ? request->sim_seed : request->seed,
        .stack_size = request->stack_bytes,
        .schedtrace_ns = request->schedtrace_ns,
        .scheddetail = request->scheddetail,
        .schedtrace_fd = request->schedtrace_fd,
        .pin = request->pin,
        .groups = groups_of_workers(sample),
        .m_started = hook_started,
        .m_stopping = hook_stopping,
        .hook_arg = sample->counters,
    };
    int error;
    sample->sched = sched_new(&config, &error);
    if (!sample->sched) {
        fail(sample, "cannot make a scheduler: %s", strerror(-error));
        record_finish(sample);
        counters_free(sample->counters);
        return;
    }
    json_object_set_new(sample->record, "stack_bytes",
                        json_integer((json_int_t)sample->sched->stack_size));
    const struct counters_source source = {
        .read = source_read,
        .absent = source_absent,
        .read_each = source_read_each,
        .read_rest = source_read_rest,
        .arg = sample,
    };
    counters_bind(sample->counters, &source);
    int64_t alive = sched_run(sample->sched, measure, sample);
    if (alive != 0)
        fail(sample, "%s still alive at the end", counted((uint64_t)alive, "goroutine").s);
    record_finish(sample);
    counters_free(sample->counters);
    sched_free(sample->sched);
}

static void measure_serial(struct sample *sample)
{
    counters_bind(sample->counters, NULL);
    counters_thread_started(sample->counters, sample);
    measure(sample);
    counters_thread_stopping(sample->counters, sample);
    record_finish(sample);
    counters_free(sample->counters);
}

/* The cores come first: memory shall be touched where it is used. */
static void take_cores(struct sample *sample)
{
    sample->cpu_count = machine_pick_cpus(sample->cpus, sample->request->workers);
    int error = machine_init(sample->cpus, sample->cpu_count);
    if (error)
        fail(sample, "cannot use the cores: %s", strerror(-error));
}

/* True, and the sample is skipped, if there are too few descriptors for run() beside those by which
 * each thread counts. Known only now: what cannot be counted opens none. */
static bool counting_lacks_descriptors(struct sample *sample)
{
    struct error why;
    bool alone = is_serial(sample) || sample->variant.ops->single_threaded;
    int threads = alone ? 1 : sample->request->workers;
    if (!lacks_descriptors(sample, counters_descriptors(sample->counters, threads), &why))
        return false;
    record_skip(sample->record, why.text);
    return true;
}

/* Measures what is no peer. False and one line in error if its events cannot be understood. */
static bool measure_counted(struct sample *sample, struct error *error)
{
    sample->counters = counters_new(
        &papi_api_native, sample->request->events,
        sample->variant.ops->thread_per_g ? COUNTERS_INHERITED : COUNTERS_PER_THREAD, error);
    if (!sample->counters)
        return false;
    counters_choose_set(sample->counters, (size_t)sample->request->event_set);
    if (counting_lacks_descriptors(sample)) {
        counters_free(sample->counters);
        return true;
    }
    if (sample->request->flame)
        flame_begin();
    if (!call_times_begin(&sample->times, SAMPLE_ENTRIES_MAX))
        memory_die();
    const struct workload *workload = sample->workload.workload;
    sample->latency = machine_zalloc(sizeof *sample->latency);
    request_log_listen(&sample->workload);
    sample->state = workload->init(sample->workload.params, sample->request->seed);
    if (is_serial(sample))
        measure_serial(sample);
    else
        measure_scheduled(sample);
    workload->fini(sample->state);
    request_log_end();
    machine_free(sample->latency);
    call_times_end(&sample->times);
    return true;
}

/* Makes all calls, and probes the machine before and after. A simulated machine has no other users,
 * so it needs no probe. */
static bool measure_surrounded(struct sample *sample, struct error *error)
{
    const int *cpus = sample->cpus, count = sample->cpu_count;
    bool alone = is_serial(sample) || sample->variant.ops->single_threaded;
    int threads = alone ? 1 : sample->request->workers;
    if (machine_is_simulated()) {
        bool measured = measure_counted(sample, error);
        machine_record_events(sample->record);
        return measured;
    }
    int64_t budget_ns = probe_budget_ns(sample->request->min_time_ns);
    struct probe probes[2];
    struct disturbance disturbance[2];
    probe_run(&probes[0], cpus, count, threads, budget_ns);
    disturbance_read(&disturbance[0], "", cpus, count);
    bool ok = peer_is(sample->variant.ops)
                  ? peer_sample_measure(sample->request, &sample->variant, &sample->workload,
                                        sample->record, error)
                  : measure_counted(sample, error);
    disturbance_read(&disturbance[1], "", cpus, count);
    probe_run(&probes[1], cpus, count, threads, budget_ns);
    json_object_set_new(sample->record, "probe",
                        probe_to_json(&probes[0], &probes[1], cpus, count));
    if (sample->request->steal_max_percent < 100) /* else whatever others take is let pass */
        disturbance_record_own(sample->record, &disturbance[0], &disturbance[1], count);
    disturbance_record(sample->record, &disturbance[0], &disturbance[1], count,
                       sample->request->steal_max_percent);
    return ok;
}

/* Another compiler makes other accesses of the same source. */
static void record_add_program(json_t *record)
{
    json_object_set_new(record, "allocator", json_string("simulated"));
    json_object_set_new(record, "compiler", json_string(build_compiler()));
}

static bool measure_or_skip(struct sample *sample, struct error *error)
{
    struct error why;
    const char *misfit = outside_misfit(sample->variant.ops);
    if (misfit) {
        record_fail(sample->record, misfit);
        return true;
    }
    if (machine_is_simulated())
        record_add_program(sample->record);
    else if (!peer_is(sample->variant.ops))
        json_object_set_new(sample->record, "allocator", json_string(allocator_found_name()));
    if (must_skip(sample, &why)) {
        record_skip(sample->record, why.text);
        return true;
    }
    if (!machine_is_simulated() &&
        !allocator_check((enum allocator)sample->variant.common.malloc, allocator_found(), &why)) {
        record_fail(sample->record, why.text);
        return true;
    }
    take_cores(sample);
    if (*sample->failure) {
        record_fail(sample->record, sample->failure);
        return true;
    }
    return measure_surrounded(sample, error);
}

json_t *sample_measure(const struct sample_request *request, struct error *error)
{
    static struct sample sample; /* one in the life of a process; its lists are large */
    sample = (struct sample){.request = request};
    why_count(false);
    if (!variant_spec_parse(&sample.variant, request->variant, error))
        return NULL;
    if (!workload_spec_parse(&sample.workload, request->workload, error)) {
        variant_spec_free(&sample.variant);
        return NULL;
    }
    if (!workload_spec_fit_workers(&sample.workload, request->workers, error)) {
        variant_spec_free(&sample.variant);
        workload_spec_free(&sample.workload);
        return NULL;
    }
    sample.record = sample_record_new(request, &sample.variant, &sample.workload);
    bool ok = measure_or_skip(&sample, error);
    if (!ok)
        json_decref(sample.record);
    variant_spec_free(&sample.variant);
    workload_spec_free(&sample.workload);
    return ok ? sample.record : NULL;
}
