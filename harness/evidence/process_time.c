/* process_time.c - see process_time.h. */
#include "harness/evidence/process_time.h"

#include "harness/base/files.h"
#include "harness/base/json_fields.h"
#include "harness/base/memory.h"
#include "harness/numbers/statistics.h"
#include "harness/records/records.h"

#include <gsl/gsl_statistics_double.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PATH_SIZE = 4096 };

/* Less than this part of the whole is not worth a flag. */
static const double FLAG_SHARE = 0.1;

/* The least share of the sample's own times in the whole. With less, they could be half or twice of
 * what they should be, and no flag would show it. */
static const double SEEN_SHARE = 0.2;

/* One sample that was timed from both sides. */
struct pair {
    const json_t *record;
    double inside_ns, outside_ns;
    double startup_ns; /* NAN: not known */
    bool is_complete;  /* inside_ns holds all that the sample did */
};

static bool pair_make(const json_t *record, struct pair *pair)
{
    const json_t *outside = json_object_get(record, "outside");
    double untimed_ns = field_number(record, "warmup_ns") + field_number(record, "between_ns");
    if (!record_is(record, "ok"))
        return false;
    *pair = (struct pair){
        .record = record,
        .inside_ns = field_number(record, "time_ns") + (isfinite(untimed_ns) ? untimed_ns : 0),
        .outside_ns = field_number(outside, "wall_ns"),
        .startup_ns = field_number(outside, "startup_ns"),
        .is_complete = isfinite(untimed_ns),
    };
    return isfinite(pair->inside_ns) && isfinite(pair->outside_ns);
}

bool process_time_is_known(const json_t *records)
{
    return fields_any(records, "outside");
}

static int pair_compare(const void *a_void, const void *b_void)
{
    const struct pair *a = a_void, *b = b_void;
    int order = strcmp(field_text(a->record, "workload"), field_text(b->record, "workload"));
    json_int_t wa = field_integer(a->record, "workers");
    json_int_t wb = field_integer(b->record, "workers");
    if (!order)
        order = (wa > wb) - (wa < wb);
    if (!order)
        order = strcmp(field_text(a->record, "variant"), field_text(b->record, "variant"));
    if (!order)
        order = strcmp(field_text(a->record, "cell"), field_text(b->record, "cell"));
    return order;
}

/* The median over n pairs of the time at that offset in each; NAN where it is known of none.
 * scratch has room for n. */
static double median_of(const struct pair *pairs, size_t n, size_t offset, double *scratch)
{
    size_t known = 0;
    for (size_t i = 0; i < n; i++) {
        double ns = *(const double *)((const char *)&pairs[i] + offset);
        if (isfinite(ns))
            scratch[known++] = ns;
    }
    return statistics_median_alone(scratch, known);
}

/* Time that neither the sample nor the start of a process accounts for; below 0: both together
 * claim more time than there was. n is 0 if too little is known. With too few samples for an
 * interval it is their range, since a flag needs a whole interval. */
static struct interval unexplained(const struct pair *pairs, size_t n, double *scratch)
{
    size_t known = 0;
    for (size_t i = 0; i < n; i++)
        if (pairs[i].is_complete && isfinite(pairs[i].startup_ns))
            scratch[known++] = pairs[i].outside_ns - pairs[i].inside_ns - pairs[i].startup_ns;
    struct interval interval = statistics_median(scratch, known, STATISTICS_SEED);
    if (statistics_has_too_few(interval))
        gsl_stats_minmax(&interval.lo, &interval.hi, scratch, 1, known);
    return interval;
}

/* A flag needs the whole interval: one late process shall not accuse the clock. */
static const char *flag_text(double inside, double outside, struct interval difference)
{
    double tolerance = FLAG_SHARE * outside;
    if (outside < inside)
        return "disagree";
    if (difference.n == 0)
        return "unknown";
    if (difference.lo > tolerance || difference.hi < -tolerance)
        return "disagree";
    bool is_open = fabs(difference.median) > tolerance || inside < SEEN_SHARE * outside;
    return is_open ? "unknown" : "-";
}

static void cell_write(FILE *to, const struct pair *pairs, size_t n, double *scratch)
{
    const json_t *record = pairs[0].record;
    double inside = median_of(pairs, n, offsetof(struct pair, inside_ns), scratch);
    double outside = median_of(pairs, n, offsetof(struct pair, outside_ns), scratch);
    fprintf(to, "%s\t%s\t%s\t%lld\t%zu\t", field_text(record, "cell"),
            field_text(record, "variant"), field_text(record, "workload"),
            field_integer(record, "workers"), n);
    number_put(to, inside, '\t');
    number_put(to, outside, '\t');
    number_put(to, median_of(pairs, n, offsetof(struct pair, startup_ns), scratch), '\t');
    struct interval rest = unexplained(pairs, n, scratch);
    interval_put(to, rest, '\t');
    fprintf(to, "%s\n", flag_text(inside, outside, rest));
}

static void table_write(FILE *to, struct pair *pairs, size_t count, double *scratch)
{
    fputs("cell\tvariant\tworkload\tworkers\tn\tinside_ns\toutside_ns\tstartup_ns\trest_ns\t"
          "rest_lo_ns\trest_hi_ns\tflag\n",
          to);
    qsort(pairs, count, sizeof *pairs, pair_compare);
    for (size_t start = 0, end; start < count; start = end) {
        end = start + 1;
        while (end < count && pair_compare(&pairs[start], &pairs[end]) == 0)
            end++;
        cell_write(to, pairs + start, end - start, scratch);
    }
}

struct outside_pairs {
    struct pair *pairs;
    double *scratch;
    size_t count;
};

static void pairs_write(FILE *to, const void *arg)
{
    const struct outside_pairs *all = arg;
    table_write(to, all->pairs, all->count, all->scratch);
}

int process_time_write(const char *run_dir, const json_t *records, struct error *error)
{
    struct outside_pairs all = {xcalloc(json_array_size(records) + 1, sizeof *all.pairs),
                                xcalloc(json_array_size(records) + 1, sizeof *all.scratch), 0};
    char path[PATH_SIZE];
    json_each(record, records)
        all.count += pair_make(record, &all.pairs[all.count]);
    snprintf(path, sizeof path, "%s/outside.tsv", run_dir);
    bool ok = file_replace_by(path, pairs_write, &all, error);
    free(all.pairs);
    free(all.scratch);
    return ok ? 0 : -1;
}

bool process_time_json_path(char *path, size_t size, const char *run_dir, const char *cell,
                            int64_t seed, int64_t block)
{
    int length = snprintf(path, size, "%s/hyperfine/%s-%" PRId64 "-%" PRId64 ".json", run_dir, cell,
                          seed, block);
    return length >= 0 && (size_t)length < size;
}
