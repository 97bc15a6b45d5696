/* report_samples.c - see report_samples.h. */
#include "harness/answers/report_samples.h"

#include "harness/base/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int number_compare(double a, double b)
{
    if (isnan(a) || isnan(b))
        return isnan(b) - isnan(a);
    return (a > b) - (a < b);
}

static int sample_compare(const void *a_void, const void *b_void)
{
    const struct report_sample *a = a_void, *b = b_void;
    int order = strcmp(a->cell, b->cell);
    if (!order)
        order = number_compare(a->seed, b->seed);
    return order ? order : number_compare(a->position, b->position);
}

static int place_compare(const void *a_void, const void *b_void)
{
    const struct report_sample *a = *(struct report_sample *const *)a_void;
    const struct report_sample *b = *(struct report_sample *const *)b_void;
    int order = number_compare(a->seed, b->seed);
    return order ? order : number_compare(a->position, b->position);
}

/* Each run counts its positions from 0: those of the runs before it come on top. */
static void runs_line_up(struct report_samples *all)
{
    struct report_sample **order = xcalloc(all->count + 1, sizeof(struct report_sample *));
    double before = 0, end = 0;
    for (size_t i = 0; i < all->count; i++)
        order[i] = &all->samples[i];
    qsort(order, all->count, sizeof(struct report_sample *), place_compare);
    for (size_t i = 0; i < all->count; i++) {
        if (i > 0 && number_compare(order[i]->seed, order[i - 1]->seed) != 0)
            before = end;
        order[i]->position += before;
        if (!isnan(order[i]->position))
            end = order[i]->position + 1;
    }
    free(order);
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
    struct report_samples all = {xcalloc(tsv->rows + 1, sizeof *all.samples), 0};
    for (size_t row = 1; row < tsv->rows; row++)
        all.samples[all.count++] = (struct report_sample){
            .cell = tsv_text_or(tsv, row, "cell", "?"),
            .status = tsv_text_or(tsv, row, "status", "failed"),
            .distance = tsv_text(tsv, row, "distance"),
            .line_ns = tsv_number(tsv, row, "line_ns"),
            .marks = tsv_text(tsv, row, "marks"),
            .seed = tsv_number(tsv, row, "seed"),
            .position = tsv_number(tsv, row, "position"),
            .throughput = tsv_number(tsv, row, "throughput"),
        };
    qsort(all.samples, all.count, sizeof *all.samples, sample_compare);
    all.count = without_repeats(all.samples, all.count);
    runs_line_up(&all);
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
