/* histogram.h - latencies in fixed memory: a log-linear histogram of nanoseconds.
 *
 * Every power of two is split into 32 equal buckets, so a bucket is at most 1/32 (3.1 %) of its
 * values wide; values below 32 are exact. One histogram belongs to one goroutine, which records
 * without atomics; the owner of the state merges them once the goroutines have ended.
 *
 * With B = HISTOGRAM_BITS and v the value, the bucket of v is
 *     v                        for v < 2^B
 *     (s << B) + (v >> s)      else, with s = floor(log2 v) - B;  here 2^B <= v >> s < 2^(B+1)
 * so that indices follow each other without gaps: s = 0 continues where the exact values end.
 *
 * Called by workloads (record, merge) and by the harness (quantiles, buckets). Any stack.
 */
#ifndef SCHEDLAB_HISTOGRAM_H
#define SCHEDLAB_HISTOGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HISTOGRAM_BITS 5
#define HISTOGRAM_OCTAVE_MAX 40 /* the last bucket ends at 2^41 - 1 ns: 36 minutes */
#define HISTOGRAM_BUCKETS ((HISTOGRAM_OCTAVE_MAX - HISTOGRAM_BITS + 2) << HISTOGRAM_BITS)

struct histogram {
    int64_t max_ns; /* exact, also beyond the last bucket */
    uint64_t bucket[HISTOGRAM_BUCKETS];
};

static inline size_t histogram_index(uint64_t value)
{
    if (value < (UINT64_C(1) << HISTOGRAM_BITS))
        return (size_t)value;
    unsigned octave = 63u - (unsigned)__builtin_clzll(value);
    if (octave > HISTOGRAM_OCTAVE_MAX)
        return HISTOGRAM_BUCKETS - 1;
    unsigned shift = octave - HISTOGRAM_BITS;
    return ((size_t)shift << HISTOGRAM_BITS) + (size_t)(value >> shift);
}

/* Counts one latency; a negative one counts as 0. Only the owner of the histogram. */
static inline void histogram_record(struct histogram *hist, int64_t ns)
{
    if (ns < 0)
        ns = 0;
    hist->bucket[histogram_index((uint64_t)ns)]++;
    if (ns > hist->max_ns)
        hist->max_ns = ns;
}

/* Empties it; all zero is empty too. */
void histogram_reset(struct histogram *hist);

/* Adds all that `from` counted to `into`. pre: nobody records into either. */
void histogram_merge(struct histogram *into, const struct histogram *from);

/* How many latencies were recorded. */
uint64_t histogram_count(const struct histogram *hist);

/* The largest value that bucket `index` counts, in ns. */
int64_t histogram_upper_ns(size_t index);

/* The upper end of the bucket that holds the percent-th percentile (0 < percent <= 100), but never
 * more than the largest latency; 0 if nothing was recorded. Its rank is ceil(count * percent /
 * 100). */
int64_t histogram_percentile(const struct histogram *hist, double percent);

/* Walks the buckets that are not empty, in ascending order: start with *cursor = 0, returns false
 * at the end. The last bucket's end is max_ns if values beyond the range were recorded. */
bool histogram_next(const struct histogram *hist, size_t *cursor, int64_t *upper_ns,
                    uint64_t *count);

#endif
