/* report_samples.c - see report_samples.h. */
#include "harness/report_samples.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int position_compare(double a, double b)
{
    if (isnan(a) || isnan(b))
        return isnan(b) - isnan(a);
    return (a > b) - (a < b);
}

static int sample_compare(const void *a_void, const void *b_void)
{
    const struct report_sample *a = a_void, *b = b_void;
    int order = strcmp(a->cell, b->cell);
    return order ? order : position_compare(a->position, b->position);
}

static const char *text_or(const char *text, const char *other)
{
    return text ? text : other;
}

/* A sample stands in the table once for each group of its cell; the first of them counts. Samples
 * outside sweeps have no position to know them by, and no groups. */
static size_t without_repeats(struct report_sample *samples, size_t count)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++)
        if (kept == 0 || isnan(samples[i].position) ||
            sample_compare(&samples[kept - 1], &samples[i]) != 0)
            samples[kept++] = samples[i];
    return kept;
}

struct report_samples report_samples_make(const struct tsv *tsv)
{
    struct report_samples all = {calloc(tsv->rows + 1, sizeof *all.samples), 0};
    if (!all.samples)
        abort();
    for (size_t row = 1; row < tsv->rows; row++)
        all.samples[all.count++] = (struct report_sample){
            .cell = text_or(tsv_text(tsv, row, "cell"), "?"),
            .status = text_or(tsv_text(tsv, row, "status"), "failed"),
            .mood = tsv_text(tsv, row, "mood"),
            .marks = tsv_text(tsv, row, "marks"),
            .position = tsv_number(tsv, row, "position"),
            .throughput = tsv_number(tsv, row, "throughput"),
        };
    qsort(all.samples, all.count, sizeof *all.samples, sample_compare);
    all.count = without_repeats(all.samples, all.count);
    return all;
}

void report_samples_free(struct report_samples *samples)
{
    free(samples->samples);
    *samples = (struct report_samples){0};
}

static int cell_compare(const void *key, const void *sample_void)
{
    const struct report_sample *sample = sample_void;
    return strcmp(key, sample->cell);
}

const struct report_sample *report_samples_of(const struct report_samples *samples,
                                              const char *cell, size_t *count)
{
    *count = 0;
    const struct report_sample *end = samples->samples + samples->count;
    const struct report_sample *first =
        bsearch(cell, samples->samples, samples->count, sizeof *first, cell_compare);
    if (!first)
        return NULL;
    while (first > samples->samples && strcmp(first[-1].cell, cell) == 0)
        first--;
    while (first + *count < end && strcmp(first[*count].cell, cell) == 0)
        ++*count;
    return first;
}
