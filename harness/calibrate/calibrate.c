/* calibrate.c - see calibrate.h: figures, and the order of measuring. */
#include "harness/calibrate/calibrate.h"

#include "machine.h"

#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { RUN_NS = 100000, CPUS_MAX = 1024 };

/* Figures ------------------------------------------------------------------------------------- */

static struct calibrate_figure *figure_new(struct calibrate *to, const char *name)
{
    if (to->figures == CALIBRATE_FIGURES_MAX)
        abort(); /* there are not that many */
    struct calibrate_figure *figure = &to->figure[to->figures++];
    *figure = (struct calibrate_figure){.name = name, .median = NAN, .low = NAN, .high = NAN};
    return figure;
}

void calibrate_add(struct calibrate *to, const char *name, double *samples, size_t n)
{
    struct calibrate_figure *figure = figure_new(to, name);
    gsl_sort(samples, 1, n);
    figure->median = gsl_stats_median_from_sorted_data(samples, 1, n);
    figure->low = gsl_stats_quantile_from_sorted_data(samples, 1, n, 0.25);
    figure->high = gsl_stats_quantile_from_sorted_data(samples, 1, n, 0.75);
    figure->samples = n;
}

void calibrate_absent(struct calibrate *to, const char *name, const char *format, ...)
{
    struct calibrate_figure *figure = figure_new(to, name);
    va_list args;
    va_start(args, format);
    vsnprintf(figure->absent, sizeof figure->absent, format, args);
    va_end(args);
}

void calibrate_note(struct calibrate *to, const char *format, ...)
{
    va_list args;
    if (to->notes_count == sizeof to->notes / sizeof to->notes[0])
        return;
    va_start(args, format);
    vsnprintf(to->notes[to->notes_count++], CALIBRATE_NOTE, format, args);
    va_end(args);
}

const struct calibrate_figure *calibrate_find(const struct calibrate *from, const char *name)
{
    for (size_t i = 0; i < from->figures; i++)
        if (strcmp(from->figure[i].name, name) == 0)
            return &from->figure[i];
    return NULL;
}

double calibrate_median(const struct calibrate *from, const char *name)
{
    const struct calibrate_figure *figure = calibrate_find(from, name);
    return figure ? figure->median : NAN;
}

/* An n for which a run takes RUN_NS; finding it warms up. */
static int64_t loop_size(void (*fn)(void *arg, int64_t n), void *arg)
{
    for (int64_t n = 1;; n *= 2) {
        int64_t start = machine_now();
        fn(arg, n);
        if (machine_now() - start >= RUN_NS || n >= INT64_C(1) << 30)
            return n;
    }
}

void calibrate_samples(void (*fn)(void *arg, int64_t n), void *arg,
                       double samples[CALIBRATE_SAMPLES])
{
    int64_t n = loop_size(fn, arg);
    for (int i = 0; i < CALIBRATE_SAMPLES; i++) {
        int64_t start = machine_now();
        fn(arg, n);
        samples[i] = (double)(machine_now() - start) / (double)n;
    }
    gsl_sort(samples, 1, CALIBRATE_SAMPLES);
}

void calibrate_loop(struct calibrate *to, const char *name, void (*fn)(void *arg, int64_t n),
                    void *arg)
{
    double samples[CALIBRATE_SAMPLES];
    calibrate_samples(fn, arg, samples);
    calibrate_add(to, name, samples, CALIBRATE_SAMPLES);
}

/* Cores --------------------------------------------------------------------------------------- */

int calibrate_pick(int cpus[CALIBRATE_CORES_MAX])
{
    static int all[CPUS_MAX];
    int count = topology_pick_cpus(all, CPUS_MAX), picked = 0;
    if (count > 0)
        cpus[picked++] = all[0];
    for (int distance = SIM_NEAR; distance < SIM_DISTANCES; distance++)
        for (int i = 1; i < count; i++)
            if (topology_distance(all[0], all[i]) == distance) {
                cpus[picked++] = all[i];
                break;
            }
    return picked;
}

static void cores_set(struct calibrate *to, const int *cpus, int count)
{
    for (int distance = 0; distance < SIM_DISTANCES; distance++)
        to->other[distance] = -1;
    to->cpus_count = count;
    for (int i = 0; i < count; i++) {
        int distance = i > 0 ? topology_distance(cpus[0], cpus[i]) : -1;
        to->cpus[i] = cpus[i];
        if (distance >= 0 && to->other[distance] < 0)
            to->other[distance] = i;
    }
}

static void say(FILE *progress, const char *what)
{
    if (progress)
        fprintf(progress, "schedlab calibrate: measuring %s\n", what);
}

void calibrate_run(struct calibrate *to, const int *cpus, int count, bool quick, FILE *progress)
{
    *to = (struct calibrate){.quick = quick};
    time_t now = time(NULL);
    struct tm local;
    strftime(to->date, sizeof to->date, "%Y-%m-%d", localtime_r(&now, &local));
    topology_shape(&to->shape);
    topology_processor(to->processor, sizeof to->processor);
    cores_set(to, cpus, count);
    machine_init(to->cpus, to->cpus_count);
    machine_pin(0);
    say(progress, "caches and code on one core");
    calibrate_memory(to);
    calibrate_code(to);
    say(progress, "lines between cores");
    calibrate_cores(to);
    say(progress, "the kernel");
    calibrate_kernel(to);
    say(progress, "connections, pipes and files");
    calibrate_io(to);
    if (quick)
        calibrate_note(to, "measured with --quick: memory and code once only, and shorter");
}
