/* gbench.cc - see gbench.h. C structs are the library's own objects under another name; beside
 * passing calls on, this file does four things:
 *
 * - flags: random interleaving by default; --benchmark_min_time in the form that this version
 *   wants (1.7 takes "0.5", later ones "0.5s" or "100x");
 * - messages: what the library would say on standard error about a bad filter becomes the
 *   caller's one line; errors of benchmarks become the result of gbench_run();
 * - the table: a reporter around the library's own shows all at the end, in the order of
 *   registration, and takes "/process_time/manual_time" off the names, so that it fits a terminal.
 *   Files get the full names;
 * - CPU time: the library has no way to be told it. It travels as a counter, of which the library
 *   makes aggregates, and the reporters of table and file put it where CPU time belongs.
 */
#include "harness/micro/gbench.h"

#include <algorithm>
#include <benchmark/benchmark.h>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <memory>
#include <regex.h>
#include <sstream>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

using benchmark::BenchmarkReporter;
using benchmark::State;
using Family = std::remove_pointer_t<decltype(benchmark::RegisterBenchmark(
    "", static_cast<void (*)(State &)>(nullptr)))>;

/* Version 1.8 changed two things: a skip that is no error, and the syntax of
 * --benchmark_min_time. */
template <typename T, typename = void> struct has_skip : std::false_type {
};
template <typename T>
struct has_skip<T, std::void_t<decltype(std::declval<T &>().SkipWithMessage(""))>>
    : std::true_type {
};
static constexpr bool since_1_8 = has_skip<State>::value;

/* A family, and what its instances will be called, to lay out the table. */
struct gbench {
    Family *family;
    std::string name, time_type;
    std::vector<std::string> arg_names;
    std::vector<std::vector<int64_t>> args;
    int64_t iterations;
};

static std::vector<std::unique_ptr<gbench>> families;
static bool any_failed;

static State &state_of(struct gbench_state *state)
{
    return *reinterpret_cast<State *>(state);
}

static const State &state_of(const struct gbench_state *state)
{
    return *reinterpret_cast<const State *>(state);
}

/* Registering -------------------------------------------------------------------------------- */

struct gbench *gbench_register(const char *name, gbench_fn *fn, void *arg)
{
    auto call = [fn, arg](State &state) {
        fn(reinterpret_cast<struct gbench_state *>(&state), arg);
    };
    Family *family = benchmark::RegisterBenchmark(name, call);
    families.push_back(std::unique_ptr<gbench>(new gbench{family, name, "", {}, {}, 0}));
    return families.back().get();
}

void gbench_add_args(struct gbench *bench, const int64_t *values, size_t count)
{
    std::vector<int64_t> args(values, values + count);
    bench->family->Args(args);
    bench->args.push_back(std::move(args));
}

void gbench_add_arg(struct gbench *bench, int64_t value)
{
    gbench_add_args(bench, &value, 1);
}

void gbench_add_range(struct gbench *bench, int64_t lo, int64_t hi, int multiplier)
{
    for (int64_t value : benchmark::CreateRange(lo, hi, multiplier))
        gbench_add_arg(bench, value);
}

void gbench_name_args(struct gbench *bench, const char *const *names, size_t count)
{
    bench->arg_names.assign(names, names + count);
    bench->family->ArgNames(bench->arg_names);
}

void gbench_use_time(struct gbench *bench, enum gbench_time time)
{
    if (time == GBENCH_REAL_TIME)
        bench->family->UseRealTime();
    if (time == GBENCH_MANUAL_TIME)
        bench->family->UseManualTime();
    if (time != GBENCH_CPU_TIME)
        bench->time_type += time == GBENCH_MANUAL_TIME ? "/manual_time" : "/real_time";
}

void gbench_use_process_cpu(struct gbench *bench)
{
    bench->family->MeasureProcessCPUTime();
    bench->time_type = "/process_time" + bench->time_type;
}

void gbench_fix_iterations(struct gbench *bench, int64_t iterations)
{
    bench->family->Iterations(iterations);
    bench->iterations = iterations;
}

/* Inside a benchmark's function -------------------------------------------------------------- */

bool gbench_keep_running_batch(struct gbench_state *state, uint64_t n)
{
    return state_of(state).KeepRunningBatch(static_cast<benchmark::IterationCount>(n));
}

uint64_t gbench_planned(const struct gbench_state *state)
{
    return static_cast<uint64_t>(state_of(state).max_iterations);
}

uint64_t gbench_done(const struct gbench_state *state)
{
    return static_cast<uint64_t>(state_of(state).iterations());
}

int64_t gbench_argument(const struct gbench_state *state, size_t index)
{
    return state_of(state).range(index);
}

void gbench_pause(struct gbench_state *state)
{
    state_of(state).PauseTiming();
}

void gbench_resume(struct gbench_state *state)
{
    state_of(state).ResumeTiming();
}

void gbench_set_time_ns(struct gbench_state *state, double ns)
{
    state_of(state).SetIterationTime(ns * 1e-9);
}

static const char cpu_counter[] = "CPU time in ns";

void gbench_set_cpu_ns(struct gbench_state *state, double ns)
{
    state_of(state).counters[cpu_counter] =
        benchmark::Counter(ns, benchmark::Counter::kAvgIterations);
}

void gbench_count(struct gbench_state *state, const char *name, double value,
                  enum gbench_counter kind)
{
    using benchmark::Counter;
    static const Counter::Flags flags[] = {Counter::kAvgIterations, Counter::kIsRate,
                                           Counter::kDefaults};
    state_of(state).counters[name] = Counter(value, flags[kind]);
}

void gbench_label(struct gbench_state *state, const char *text)
{
    state_of(state).SetLabel(text);
}

void gbench_fail(struct gbench_state *state, const char *text)
{
    any_failed = true;
    state_of(state).SkipWithError(text);
}

template <typename T> static void skip(T &state, const char *text)
{
    if constexpr (has_skip<T>::value)
        state.SkipWithMessage(text);
    else
        state.SkipWithError(text);
}

void gbench_skip(struct gbench_state *state, const char *text)
{
    skip(state_of(state), text);
}

/* The table ---------------------------------------------------------------------------------- */

/* The name of an instance as the library composes it, without how time is taken. */
static std::string instance_name(const gbench &bench, const std::vector<int64_t> &args)
{
    std::string name = bench.name;
    for (size_t i = 0; i < args.size(); i++) {
        name += '/';
        if (i < bench.arg_names.size() && !bench.arg_names[i].empty())
            name += bench.arg_names[i] + ':';
        name += std::to_string(args[i]);
    }
    if (bench.iterations > 0)
        name += "/iterations:" + std::to_string(bench.iterations);
    return name;
}

/* By how much the column of names can be narrower without "/process_time/manual_time". */
static size_t width_saved()
{
    std::string filter = benchmark::GetBenchmarkFilter();
    bool negative = !filter.empty() && filter[0] == '-';
    if (filter.empty() || filter == "all")
        filter = ".";
    regex_t regex;
    if (regcomp(&regex, filter.c_str() + negative, REG_EXTENDED | REG_NOSUB) != 0)
        return 0;
    const std::vector<std::vector<int64_t>> no_args(1);
    size_t full = 0, shown = 0;
    for (const auto &bench : families) {
        for (const auto &args : bench->args.empty() ? no_args : bench->args) {
            std::string name = instance_name(*bench, args);
            name += bench->time_type;
            if ((regexec(&regex, name.c_str(), 0, nullptr, 0) == 0) == negative)
                continue;
            full = std::max(full, name.size());
            shown = std::max(shown, name.size() - bench->time_type.size());
        }
    }
    regfree(&regex);
    return full - shown;
}

/* The reason is in `error_message` up to 1.7, in `skip_message` since. */
template <typename T, typename = void> struct has_skip_message : std::false_type {
};
template <typename T>
struct has_skip_message<T, std::void_t<decltype(T::skip_message)>> : std::true_type {
};

template <typename T> static bool has_error(const T &run)
{
    if constexpr (has_skip_message<T>::value)
        return !run.skip_message.empty();
    else
        return run.error_occurred;
}

/* Puts CPU time that came as a counter into its place. The library shows percentages, such as cv,
 * as they are, and times divided by the iterations. */
static BenchmarkReporter::Run with_cpu_time(BenchmarkReporter::Run run)
{
    auto cpu = run.counters.find(cpu_counter);
    if (cpu == run.counters.end())
        return run;
    bool is_time = run.aggregate_unit == benchmark::kTime;
    run.cpu_accumulated_time =
        cpu->second.value * (is_time ? 1e-9 * static_cast<double>(run.iterations) : 1);
    run.counters.erase(cpu);
    return run;
}

class Reporter : public BenchmarkReporter
{
  public:
    Reporter(bool table, bool medians_only, std::ostream *errors)
        : inner(benchmark::CreateDefaultDisplayReporter()), is_table(table), medians(medians_only)
    {
        SetErrorStream(errors);
    }

    /* The library has accepted the filter: from here on its messages may be seen. */
    bool ReportContext(const Context &context) override
    {
        Context narrow = context;
        if (is_table)
            narrow.name_field_width -= std::min(width_saved(), narrow.name_field_width);
        SetErrorStream(&std::cerr);
        return inner->ReportContext(narrow);
    }

    /* Random interleaving finishes families in any order; people read them in that of their
     * registration. */
    void ReportRuns(const std::vector<Run> &runs) override
    {
        for (const Run &run : runs)
            if (!medians || run.repetitions < 2 || run.aggregate_name == "median" || has_error(run))
                collected.push_back(with_cpu_time(run));
    }

    void Finalize() override
    {
        auto place = [](const Run &run) {
            return std::make_pair(run.family_index, run.per_family_instance_index);
        };
        std::stable_sort(collected.begin(), collected.end(),
                         [&](const Run &a, const Run &b) { return place(a) < place(b); });
        for (Run &run : collected)
            if (is_table)
                run.run_name.time_type.clear();
        inner->ReportRuns(collected);
        inner->Finalize();
    }

  private:
    std::unique_ptr<BenchmarkReporter> inner;
    bool is_table, medians;
    std::vector<Run> collected;
};

/* Writes the file of --benchmark_out. Asks whether all of it was written, which the library does
 * not. */
class FileReporter : public BenchmarkReporter
{
  public:
    explicit FileReporter(const std::string &format) : inner(make(format))
    {
    }

    bool ReportContext(const Context &context) override
    {
        inner->SetOutputStream(&GetOutputStream());
        inner->SetErrorStream(&GetErrorStream());
        return inner->ReportContext(context);
    }

    void ReportRuns(const std::vector<Run> &runs) override
    {
        std::vector<Run> right;
        for (const Run &run : runs)
            right.push_back(with_cpu_time(run));
        inner->ReportRuns(right);
    }

    void Finalize() override
    {
        inner->Finalize();
        is_written = static_cast<bool>(GetOutputStream().flush());
    }

    bool is_written = true;

  private:
    static std::unique_ptr<BenchmarkReporter> make(const std::string &format)
    {
        using std::unique_ptr;
        if (format == "console")
            return unique_ptr<BenchmarkReporter>(
                new benchmark::ConsoleReporter(benchmark::ConsoleReporter::OO_None));
        if (format == "csv") {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
            return unique_ptr<BenchmarkReporter>(new benchmark::CSVReporter);
#pragma GCC diagnostic pop
        }
        return unique_ptr<BenchmarkReporter>(new benchmark::JSONReporter);
    }

    std::unique_ptr<BenchmarkReporter> inner;
};

/* Running ------------------------------------------------------------------------------------ */

void gbench_context(const char *key, const char *value)
{
    benchmark::AddCustomContext(key, value);
}

static std::string value_of(const std::vector<std::string> &flags, const std::string &flag)
{
    std::string value, prefix = "--" + flag + "=";
    for (const std::string &text : flags)
        if (text.compare(0, prefix.size(), prefix) == 0)
            value = text.substr(prefix.size());
    return value;
}

/* --benchmark_min_time in the form that this version of the library wants. False: it cannot. */
static bool fit_version(std::string &flag)
{
    if (flag.compare(0, 21, "--benchmark_min_time=") != 0)
        return true;
    if (flag.back() == 'x')
        return since_1_8;
    if (flag.back() == 's')
        flag.pop_back();
    if (since_1_8)
        flag += 's';
    return true;
}

static enum gbench_end misused(const std::string &why, struct error *error)
{
    std::snprintf(error->text, sizeof error->text, "%s", why.c_str());
    return GBENCH_MISUSED;
}

/* said: what the library wrote when it found nothing to run. */
static enum gbench_end misused_filter(const std::string &said, struct error *error)
{
    std::string filter = "--benchmark_filter=" + benchmark::GetBenchmarkFilter();
    size_t reason = said.find(": "), end = said.find('\n');
    if (said.compare(0, 9, "Could not") == 0 && reason < end)
        return misused(filter + " is not a regular expression" + said.substr(reason, end - reason),
                       error);
    misused(filter + " matches no benchmark", error);
    return GBENCH_UNMATCHED;
}

/* The library ends the process itself where it cannot open its file. */
static bool can_write(const std::string &path)
{
    FILE *file = path.empty() ? nullptr : std::fopen(path.c_str(), "a");
    if (file)
        std::fclose(file);
    return path.empty() || file;
}

enum gbench_end gbench_run(const char *program, const char *const *flags, bool medians_only,
                           struct error *error)
{
    static const char other_version[] = " is not for this version of Google Benchmark";
    std::vector<std::string> texts = {program, "--benchmark_enable_random_interleaving=true"};
    for (; *flags; flags++) {
        texts.push_back(*flags);
        if (!fit_version(texts.back()))
            return misused(texts.back() + other_version, error);
    }
    std::vector<char *> argv;
    for (std::string &text : texts)
        argv.push_back(&text[0]);
    argv.push_back(nullptr);
    int argc = static_cast<int>(texts.size());
    benchmark::Initialize(&argc, argv.data());
    if (argc > 1)
        return misused(argv[1] + std::string(other_version) + ", or its value is not valid", error);
    std::string out = value_of(texts, "benchmark_out");
    if (!can_write(out))
        return misused("cannot write " + out + ": " + std::strerror(errno), error);
    std::string format = value_of(texts, "benchmark_format");
    std::ostringstream errors;
    Reporter reporter(format.empty() || format == "console", medians_only, &errors);
    FileReporter file_reporter(value_of(texts, "benchmark_out_format"));
    size_t matched = out.empty() ? benchmark::RunSpecifiedBenchmarks(&reporter)
                                 : benchmark::RunSpecifiedBenchmarks(&reporter, &file_reporter);
    benchmark::Shutdown();
    if (matched == 0)
        return misused_filter(errors.str(), error);
    *error->text = '\0';
    if (!file_reporter.is_written)
        std::snprintf(error->text, sizeof error->text, "%s: not all of it could be written",
                      out.c_str());
    return any_failed || !file_reporter.is_written ? GBENCH_FAILED : GBENCH_DONE;
}
