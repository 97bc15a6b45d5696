/* histogram.c - merging and reading a log-linear latency histogram; histogram.h has the layout. */
#include "histogram.h"

#include <string.h>

_Static_assert(sizeof(struct histogram) <= 10240, "one per goroutine: keep it near two pages");

void histogram_reset(struct histogram *hist)
{
    memset(hist, 0, sizeof(*hist));
}

void histogram_merge(struct histogram *into, const struct histogram *from)
{
    for (size_t i = 0; i < HISTOGRAM_BUCKETS; i++)
        into->bucket[i] += from->bucket[i];
    if (from->max_ns > into->max_ns)
        into->max_ns = from->max_ns;
}

uint64_t histogram_count(const struct histogram *hist)
{
    uint64_t count = 0;
    for (size_t i = 0; i < HISTOGRAM_BUCKETS; i++)
        count += hist->bucket[i];
    return count;
}

int64_t histogram_upper_ns(size_t index)
{
    if (index < ((size_t)2 << HISTOGRAM_BITS))
        return (int64_t)index;
    unsigned shift = (unsigned)(index >> HISTOGRAM_BITS) - 1;
    uint64_t mantissa = index - ((size_t)shift << HISTOGRAM_BITS);
    return (int64_t)(((mantissa + 1) << shift) - 1);
}

/* A latency beyond the last bucket is counted in it, so that bucket's end is the maximum then. */
static int64_t bucket_end(const struct histogram *hist, size_t index)
{
    int64_t upper_ns = histogram_upper_ns(index);
    if (index == HISTOGRAM_BUCKETS - 1 && hist->max_ns > upper_ns)
        return hist->max_ns;
    return upper_ns;
}

int64_t histogram_percentile(const struct histogram *hist, double percent)
{
    uint64_t count = histogram_count(hist);
    if (count == 0)
        return 0;
    /* the factor keeps 99.9 % of 1000 at rank 999 although 99.9 is not a binary fraction */
    double exact = (double)count * percent / 100.0 * (1.0 - 1e-12);
    uint64_t rank = (uint64_t)exact;
    if ((double)rank < exact || rank < 1)
        rank++;
    if (rank > count)
        rank = count;
    uint64_t seen = 0;
    size_t index = 0;
    while ((seen += hist->bucket[index]) < rank)
        index++;
    int64_t end_ns = bucket_end(hist, index);
    return end_ns < hist->max_ns ? end_ns : hist->max_ns;
}

bool histogram_next(const struct histogram *hist, size_t *cursor, int64_t *upper_ns,
                    uint64_t *count)
{
    for (size_t i = *cursor; i < HISTOGRAM_BUCKETS; i++) {
        if (hist->bucket[i] == 0)
            continue;
        *upper_ns = bucket_end(hist, i);
        *count = hist->bucket[i];
        *cursor = i + 1;
        return true;
    }
    *cursor = HISTOGRAM_BUCKETS;
    return false;
}
