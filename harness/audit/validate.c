/* validate.c - see validate.h: formulas, misses, curves, tables. */
#include "harness/audit/validate.h"

#include "harness/base/json_fields.h"
#include "harness/records/records.h"
#include "harness/records/run_folder.h"

#include <math.h>
#include <string.h>

enum { TEXT_SIZE = 256, PATH_SIZE = 4096 };

void validate_claim(json_t *claims, const char *what, const char *source, const char *expected,
                    const char *measured, bool holds)
{
    json_array_append_new(claims,
                          json_pack("{s:s, s:s, s:s, s:s, s:b}", "what", what, "source", source,
                                    "expected", expected, "measured", measured, "holds", holds));
}

void validate_print(FILE *to, const char *title, const json_t *claims)
{
    size_t held = 0;
    json_each(claim, (json_t *)claims) {
        held += json_is_true(json_object_get(claim, "holds"));
    }
    fprintf(to, "%s: %zu of %zu claims hold\n\n", title, held, json_array_size(claims));
    fprintf(to, "  %-68s %-22s %-22s %s\n", "claim", "expected", "measured", "holds");
    json_each(claim, (json_t *)claims) {
        fprintf(to, "  %-68s %-22s %-22s %s\n", field_text(claim, "what"),
                field_text(claim, "expected"), field_text(claim, "measured"),
                json_is_true(json_object_get(claim, "holds")) ? "yes" : "NO");
    }
    fputc('\n', to);
}

/* Formulas ------------------------------------------------------------------------------------ */

json_t *validate_formulas(const char *path, const char *folder, struct error *error)
{
    (void)folder;
    json_error_t wrong;
    json_t *rows = json_load_file(path, 0, &wrong);
    if (!rows)
        return error_null(error, "%s: %s", path, wrong.text);
    json_t *claims = json_array();
    json_each(row, rows) {
        char expected[TEXT_SIZE], measured[TEXT_SIZE];
        double bound = field_number(row, "bound");
        snprintf(expected, sizeof expected, bound > 0 ? "%.6g +- %.3g" : "%.6g",
                 field_number(row, "formula"), bound);
        snprintf(measured, sizeof measured, "%.6g", field_number(row, "measured"));
        validate_claim(claims, field_text(row, "what"), "closed formula", expected, measured,
                       json_is_true(json_object_get(row, "holds")));
    }
    json_decref(rows);
    return claims;
}

/* Misses -------------------------------------------------------------------------------------- */

/* A call of few misses differs by what the caller left in the caches. */
#define MISSES_BOUND 0.05
#define MISSES_LEAST 100

json_t *validate_misses(const char *path, const char *folder, struct error *error)
{
    (void)folder;
    char line[TEXT_SIZE * 2], variant[64], workload[128], level[16];
    double native, simulated;
    FILE *from = fopen(path, "re");
    if (!from)
        return error_null(error, "%s: %m", path);
    json_t *claims = json_array();
    while (fgets(line, sizeof line, from)) {
        char what[TEXT_SIZE], expected[TEXT_SIZE], measured[TEXT_SIZE];
        if (sscanf(line, "%63s %127s %15s %lf %lf", variant, workload, level, &native,
                   &simulated) != 5)
            continue; /* the head */
        snprintf(what, sizeof what, "%s on %s: misses of %s", variant, workload,
                 strcmp(level, "L1") == 0 ? "L1" : "the last level");
        snprintf(expected, sizeof expected, "%.0f +- 5 %%", native);
        snprintf(measured, sizeof measured, "%.0f (%+.1f %%)", simulated,
                 native > 0 ? 100 * (simulated / native - 1) : 0);
        validate_claim(claims, what, "valgrind", expected, measured,
                       fabs(simulated - native) <= fmax(MISSES_BOUND * native, MISSES_LEAST));
    }
    fclose(from);
    return claims;
}

/* Curves -------------------------------------------------------------------------------------- */

struct curve {
    const char *variant, *workload;
    const json_t *records;
};

/* 0 if there is none. */
static double curve_at(struct curve curve, int workers)
{
    json_each(record, (json_t *)curve.records) {
        if (record_is(record, "ok") && field_integer(record, "workers") == workers &&
            strcmp(field_text(record, "variant"), curve.variant) == 0 &&
            strcmp(field_text(record, "workload"), curve.workload) == 0)
            return field_number(record, "throughput");
    }
    return 0;
}

static const int curve_workers[] = {1, 2, 4, 8, 16, 32, 64};
enum { CURVE_POINTS = sizeof curve_workers / sizeof curve_workers[0] };

static int curve_peak(struct curve curve)
{
    int best = 0;
    for (int i = 1; i < CURVE_POINTS; i++)
        if (curve_at(curve, curve_workers[i]) > curve_at(curve, curve_workers[best]))
            best = i;
    return curve_workers[best];
}

/* One queue and a queue per P, on one workload. */
static void curves_compare(json_t *claims, struct curve one, struct curve per_p)
{
    char what[TEXT_SIZE], measured[TEXT_SIZE];
    const char *name = one.workload;
    int peak = curve_peak(one);
    snprintf(what, sizeof what, "%.*s: one locked queue is fastest on few cores",
             (int)strcspn(name, ","), name);
    snprintf(measured, sizeof measured, "on %d", peak);
    validate_claim(claims, what, "[Vyukov12]: one lock for all Ms", "on 8 at most", measured,
                   peak <= 8);
    double fall = curve_at(one, peak) / curve_at(one, 64);
    snprintf(what, sizeof what, "%.*s: and falls by half or more up to 64 cores",
             (int)strcspn(name, ","), name);
    snprintf(measured, sizeof measured, "to 1/%.1f", fall);
    validate_claim(claims, what, "[Vyukov12]: one lock for all Ms", "to 1/2 or less", measured,
                   fall >= 2);
    /* Source: Go commit 4722b1cbd3, BenchmarkCreateGoroutines: -42 % on 4, -28 % on 16 */
    static const struct {
        int cores;
        double ratio;
    } published[] = {{4, 376.0 / 219}, {16, 241.0 / 174}};
    for (size_t i = 0; i < sizeof published / sizeof published[0]; i++) {
        char expected[TEXT_SIZE];
        double ratio = curve_at(per_p, published[i].cores) / curve_at(one, published[i].cores);
        snprintf(what, sizeof what, "%.*s: a lock-free ring per P over a locked queue, %d cores",
                 (int)strcspn(name, ","), name, published[i].cores);
        snprintf(expected, sizeof expected, "%.2f times or more", published[i].ratio);
        snprintf(measured, sizeof measured, "%.2f times", ratio);
        validate_claim(claims, what, "Go commit 4722b1cbd3", expected, measured,
                       ratio >= published[i].ratio);
    }
}

/* cores, then a column per curve, as multiples of one queue on one core. */
static bool curves_table(const json_t *records, const char *const *workloads, size_t count,
                         const char *folder)
{
    char path[PATH_SIZE];
    snprintf(path, sizeof path, "%s/curves.tsv", folder);
    FILE *to = fopen(path, "we");
    if (!to)
        return false;
    fprintf(to, "workload\tcores\tgrq\tgmp\n");
    for (size_t w = 0; w < count; w++)
        for (int i = 0; i < CURVE_POINTS; i++) {
            struct curve one = {"grq", workloads[w], records},
                         per_p = {"gmp", workloads[w], records};
            fprintf(to, "%s\t%d\t%.0f\t%.0f\n", workloads[w], curve_workers[i],
                    curve_at(one, curve_workers[i]), curve_at(per_p, curve_workers[i]));
        }
    return fclose(to) == 0;
}

json_t *validate_curves(const char *run, const char *folder, struct error *error)
{
    const char *workloads[16];
    size_t count = 0, k;
    json_t *records = run_folder_records(run, false, NULL, error);
    if (!records)
        return NULL;
    json_each(record, records) {
        const char *workload = field_text(record, "workload");
        for (k = 0; k < count && strcmp(workloads[k], workload) != 0; k++)
            continue;
        if (k == count && count < sizeof workloads / sizeof workloads[0])
            workloads[count++] = workload;
    }
    json_t *claims = json_array();
    for (k = 0; k < count; k++)
        curves_compare(claims, (struct curve){"grq", workloads[k], records},
                       (struct curve){"gmp", workloads[k], records});
    bool written = curves_table(records, workloads, count, folder);
    json_decref(records);
    if (written)
        return claims;
    error_print(error, "%s: cannot be written", folder);
    json_decref(claims);
    return NULL;
}

/* Tables -------------------------------------------------------------------------------------- */

/* One claim for all that a part expects exactly, if it expects anything so. */
static void table_compare(json_t *claims, const char *experiment, const json_t *part)
{
    size_t cells = 0, held = 0;
    const char *source = "";
    json_each(expectation, json_object_get(part, "expectations")) {
        const json_t *least = json_object_get(expectation, "at_least");
        const json_t *most = json_object_get(expectation, "at_most");
        if (!least || !most || json_number_value(least) != json_number_value(most))
            continue;
        source = field_text(expectation, "source");
        json_each(column, json_object_get(expectation, "columns")) {
            cells++;
            held += strcmp(field_text(column, "verdict"), "supported") == 0;
        }
    }
    if (cells == 0)
        return;
    char what[TEXT_SIZE], expected[TEXT_SIZE], measured[TEXT_SIZE];
    snprintf(what, sizeof what, "%s, %s: %s", experiment, field_text(part, "id"),
             field_text(part, "metric"));
    snprintf(expected, sizeof expected, "%zu exact numbers", cells);
    snprintf(measured, sizeof measured, "%zu of them", held);
    validate_claim(claims, what, source, expected, measured, held == cells);
}

/* Calls what for each part that was measured on a simulated machine; the claims that it adds. NULL
 * and one line in error. */
static json_t *each_part(const char *path,
                         void (*what)(json_t *claims, const char *experiment, const json_t *part),
                         struct error *error)
{
    json_error_t wrong;
    json_t *whole = json_load_file(path, 0, &wrong);
    if (!whole)
        return error_null(error, "%s: %s", path, wrong.text);
    json_t *claims = json_array();
    json_each(experiment, json_object_get(whole, "experiments")) {
        json_each(machine, json_object_get(experiment, "machines")) {
            json_each(part, json_object_get(machine, "parts")) {
                if (strncmp(field_text(machine, "machine"), "sim:", 4) == 0)
                    what(claims, field_text(experiment, "id"), part);
            }
        }
    }
    json_decref(whole);
    return claims;
}

json_t *validate_tables(const char *path, const char *folder, struct error *error)
{
    (void)folder;
    return each_part(path, table_compare, error);
}

/* Published numbers --------------------------------------------------------------------------- */

/* The column that decides: the first with the verdict of all. */
static const json_t *column_of(const json_t *expectation)
{
    const char *verdict = field_text(expectation, "verdict");
    json_each(column, json_object_get(expectation, "columns")) {
        if (strcmp(field_text(column, "verdict"), verdict) == 0)
            return column;
    }
    return NULL;
}

static void outside_compare(json_t *claims, const char *experiment, const json_t *part)
{
    char what[TEXT_SIZE];
    (void)experiment;
    json_each(expectation, json_object_get(part, "expectations")) {
        const json_t *effect = json_object_get(column_of(expectation), "effect");
        const char *text = field_text(effect, "text");
        snprintf(what, sizeof what, "%s: %s", field_text(part, "id"),
                 field_text(expectation, "says"));
        validate_claim(claims, what, field_text(expectation, "source"),
                       field_text(expectation, "expected"), *text ? text : "nothing",
                       strcmp(field_text(expectation, "verdict"), "supported") == 0);
    }
}

json_t *validate_outside(const char *path, const char *folder, struct error *error)
{
    (void)folder;
    return each_part(path, outside_compare, error);
}
