/* validate_native.c - see validate.h: this machine beside its calibrated model. */
#include "harness/audit/validate.h"
#include "harness/base/json_fields.h"

#include "harness/base/memory.h"
#include "harness/evidence/comparable.h"
#include "harness/numbers/statistics.h"
#include "harness/records/records.h"
#include "harness/records/run_folder.h"

#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CELLS_MAX = 512, SAMPLES_MAX = 64, TEXT_SIZE = 256, PATH_SIZE = 4096 };

#define ERROR_MAX 0.30
#define TAU_LEAST 0.8
#define SHARED 1.2 /* of moment.alone; beside another guest's thread it was 1.5 to 1.8 times that */
#define ALONE 0.05 /* the quantile at which a core is alone for sure */
#define ALIKE 1.1  /* medians closer than that have no order that another run would confirm */

struct cell {
    const char *variant, *workload;
    int workers;
    double native[SAMPLES_MAX], simulated[SAMPLES_MAX];
    size_t native_count, simulated_count, disturbed;
    double native_median, simulated_median;
};

struct cells {
    struct cell cell[CELLS_MAX];
    size_t count;
};

static struct cell *cell_at(struct cells *cells, const json_t *record)
{
    const char *variant = field_text(record, "variant");
    const char *workload = field_text(record, "workload");
    int workers = (int)field_integer(record, "workers");
    for (size_t i = 0; i < cells->count; i++) {
        struct cell *cell = &cells->cell[i];
        if (cell->workers == workers && strcmp(cell->variant, variant) == 0 &&
            strcmp(cell->workload, workload) == 0)
            return cell;
    }
    if (cells->count == CELLS_MAX)
        return NULL;
    struct cell *cell = &cells->cell[cells->count++];
    *cell = (struct cell){.variant = variant, .workload = workload, .workers = workers};
    return cell;
}

static double wide_of(const json_t *probe)
{
    return field_number(probe, "wide_ns") / field_number(probe, "compute_ns");
}

/* The time of independent additions over that of a chain of dependent ones (probe.h). It does not
 * depend on the clock rate. The larger of the values before and after the sample; NAN if neither
 * was measured. */
static double wide(const json_t *record)
{
    const json_t *probe = json_object_get(record, "probe");
    return fmax(wide_of(json_object_get(probe, "before")),
                wide_of(json_object_get(probe, "after")));
}

/* The core distance that cells are judged at (comparable.h), and how fast a core is alone. */
struct moment {
    struct comparable classes;
    double alone; /* wide() of a core that is not shared; NAN: not measured */
};

static void moment_learn(struct moment *moment, const json_t *records)
{
    comparable_learn(&moment->classes, records);
    size_t n = 0;
    double *wides = xcalloc(json_array_size(records) + 1, sizeof *wides);
    json_each(record, (json_t *)records) {
        wides[n] = wide(record);
        n += isfinite(wides[n]) ? 1 : 0;
    }
    gsl_sort(wides, 1, n);
    moment->alone = n ? gsl_stats_quantile_from_sorted_data(wides, 1, n, ALONE) : NAN;
    free(wides);
}

/* True if the machine was not as the model assumes: the hypervisor took time, the processor was
 * throttled, the core was shared, or the cores lay further apart than they mostly did. */
static bool is_disturbed(const struct moment *moment, const json_t *record)
{
    enum core_distance distance = comparable_distance(&moment->classes, record);
    return comparable_is_marked(record) || wide(record) > SHARED * moment->alone ||
           (distance != DISTANCE_NONE && distance != moment->classes.common);
}

static void cells_read(struct cells *cells, const json_t *records, bool simulated)
{
    struct moment moment;
    moment_learn(&moment, records);
    json_each(record, (json_t *)records) {
        struct cell *cell = record_is(record, "ok") ? cell_at(cells, record) : NULL;
        if (!cell)
            continue;
        double throughput = field_number(record, "throughput");
        if (simulated && cell->simulated_count < SAMPLES_MAX)
            cell->simulated[cell->simulated_count++] = throughput;
        else if (!simulated && is_disturbed(&moment, record))
            cell->disturbed++;
        else if (!simulated && cell->native_count < SAMPLES_MAX)
            cell->native[cell->native_count++] = throughput;
    }
}

/* A median of fewer is luck. */
static bool is_whole(const struct cell *cell)
{
    return cell->native_count >= CLASS_MIN && cell->simulated_count > 0;
}

static double error_of(const struct cell *cell)
{
    return cell->simulated_median / cell->native_median - 1;
}

static bool are_alike(const struct cell *a, const struct cell *b)
{
    double ratio = a->native_median / b->native_median;
    return ratio < ALIKE && ratio > 1 / ALIKE;
}

/* Kendall's tau of the measured and the simulated order of variants on one workload. It counts the
 * pairs that this machine tells apart: the share ordered alike less the share ordered otherwise.
 * NAN without any. */
static double tau_of(const struct cells *cells, const char *workload, int workers, int *variants)
{
    const struct cell *of[CELLS_MAX];
    int n = 0, agree = 0, pairs = 0;
    for (size_t i = 0; i < cells->count; i++)
        if (cells->cell[i].workers == workers && is_whole(&cells->cell[i]) &&
            strcmp(cells->cell[i].workload, workload) == 0)
            of[n++] = &cells->cell[i];
    for (int i = 0; i < n; i++)
        for (int k = 0; k < i; k++) {
            if (are_alike(of[i], of[k]))
                continue;
            pairs++;
            double product = (of[i]->native_median - of[k]->native_median) *
                             (of[i]->simulated_median - of[k]->simulated_median);
            agree += product > 0 ? 1 : product < 0 ? -1 : 0;
        }
    *variants = n;
    return pairs ? (double)agree / pairs : NAN;
}

static void claims_of(json_t *claims, const struct cells *cells, int workers)
{
    double errors[CELLS_MAX];
    size_t n = 0, missing = 0;
    char what[TEXT_SIZE], measured[TEXT_SIZE];
    for (size_t i = 0; i < cells->count; i++)
        if (cells->cell[i].workers == workers && is_whole(&cells->cell[i]))
            errors[n++] = fabs(error_of(&cells->cell[i]));
        else if (cells->cell[i].workers == workers)
            missing++;
    double median = statistics_median_alone(errors, n);
    snprintf(what, sizeof what, "P=%d: median error of throughput, %zu cells (%zu not measured)",
             workers, n, missing);
    snprintf(measured, sizeof measured, "%.0f %%", 100 * median);
    validate_claim(claims, what, "this machine", "30 % at most", measured, median <= ERROR_MAX);
    for (size_t i = 0; i < cells->count; i++) {
        const char *workload = cells->cell[i].workload;
        bool first = true;
        int variants;
        for (size_t k = 0; k < i; k++)
            first = first && strcmp(cells->cell[k].workload, workload) != 0;
        double tau = first ? tau_of(cells, workload, workers, &variants) : NAN;
        if (isnan(tau))
            continue;
        snprintf(what, sizeof what, "P=%d: ranking of %d variants on %s", workers, variants,
                 workload);
        snprintf(measured, sizeof measured, "tau %.2f", tau);
        validate_claim(claims, what, "this machine", "tau 0.8 or more", measured, tau >= TAU_LEAST);
    }
}

static bool cells_write(const struct cells *cells, const char *folder)
{
    char path[PATH_SIZE];
    snprintf(path, sizeof path, "%s/native.tsv", folder);
    FILE *to = fopen(path, "we");
    if (!to)
        return false;
    fprintf(to, "workers\tworkload\tvariant\tnative\tsimulated\tsamples\tdisturbed\n");
    for (size_t i = 0; i < cells->count; i++) {
        const struct cell *cell = &cells->cell[i];
        if (is_whole(cell))
            fprintf(to, "%d\t%s\t%s\t%.6g\t%.6g\t%zu\t%zu\n", cell->workers, cell->workload,
                    cell->variant, cell->native_median, cell->simulated_median, cell->native_count,
                    cell->disturbed);
    }
    return fclose(to) == 0;
}

json_t *validate_native(const char *native_run, const char *simulated_run, const char *folder,
                        struct error *error)
{
    json_t *claims = NULL, *native = run_folder_records(native_run, false, NULL, error);
    json_t *simulated = native ? run_folder_records(simulated_run, false, NULL, error) : NULL;
    struct cells *cells = xcalloc(1, sizeof *cells);
    if (native && simulated) {
        cells_read(cells, native, false);
        cells_read(cells, simulated, true);
        for (size_t i = 0; i < cells->count; i++) {
            struct cell *cell = &cells->cell[i];
            cell->native_median = statistics_median_alone(cell->native, cell->native_count);
            cell->simulated_median =
                statistics_median_alone(cell->simulated, cell->simulated_count);
        }
        if (cells_write(cells, folder)) {
            claims = json_array();
            claims_of(claims, cells, 1);
            claims_of(claims, cells, 2);
        } else {
            error_print(error, "%s: cannot be written", folder);
        }
    }
    free(cells);
    json_decref(native);
    json_decref(simulated);
    return claims;
}
