/* test_statistics.c - statistics against published worked examples, against the counting of all
 * cases where these are few, and against the stated coverage where neither is to be had. All seeds
 * are fixed. */
#include "harness/numbers/statistics.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

enum { TRIALS = 1000, INTERVALS = 300, TRIAL_N = 20 };

/* cmocka's own compares single precision. */
#define assert_near(found, expected, most)                                                         \
    do {                                                                                           \
        double found_ = (found), expected_ = (expected);                                           \
        if (!(fabs(found_ - expected_) <= (most)))                                                 \
            fail_msg("%s is %.15g, expected %.15g", #found, found_, expected_);                    \
    } while (0)

static void median_of_odd_and_even_counts(void **state)
{
    (void)state;
    const double odd[] = {5, 1, 3}, even[] = {4, 1, 3, 2};
    assert_true(statistics_median(odd, 3, 1).median == 3);
    assert_true(statistics_median(even, 4, 1).median == 2.5);
}

static void median_leaves_its_input_alone(void **state)
{
    (void)state;
    const double x[] = {5, 1, 3, 9, 7};
    statistics_median(x, 5, 1);
    assert_true(x[0] == 5 && x[1] == 1 && x[2] == 3 && x[3] == 9 && x[4] == 7);
}

static void no_samples_give_no_numbers(void **state)
{
    (void)state;
    struct interval interval = statistics_median(NULL, 0, 1);
    assert_true(isnan(interval.median) && isnan(interval.lo) && isnan(interval.hi));
    assert_int_equal(interval.n, 0);
    const double one[] = {1};
    assert_true(isnan(statistics_ratio(one, 1, NULL, 0, 1).median));
}

/* The chance that the median lies outside n samples is 2 * 0.5^n. */
static void interval_takes_as_many_samples_as_can_cover_95_percent(void **state)
{
    (void)state;
    assert_true(1 - 2 * pow(0.5, STATISTICS_INTERVAL_MIN) >= 0.95);
    assert_true(1 - 2 * pow(0.5, STATISTICS_INTERVAL_MIN - 1) < 0.95);
    const double x[] = {4, 2, 3, 6, 5, 7};
    for (size_t n = 1; n <= 6; n++) {
        struct interval median = statistics_median(x, n, 1);
        struct interval ratio = statistics_ratio(x, n, x, 6, 1);
        struct interval mean = statistics_geomean_ratio(&(struct ratio_samples){x, x, 6, n}, 1, 1);
        assert_true(isfinite(median.median) && isfinite(ratio.median) && isfinite(mean.median));
        bool few = n < STATISTICS_INTERVAL_MIN;
        assert_int_equal(few, statistics_has_too_few(median));
        assert_int_equal(few, statistics_has_too_few(ratio));
        assert_int_equal(few, statistics_has_too_few(mean));
        assert_int_equal(few, !statistics_has_interval(ratio));
        assert_int_equal(few, isnan(median.lo) && isnan(median.hi));
    }
}

static void equal_samples_have_an_interval_of_no_width(void **state)
{
    (void)state;
    const double x[] = {7, 7, 7, 7, 7, 7};
    struct interval interval = statistics_median(x, 6, 1);
    assert_true(interval.lo == 7 && interval.median == 7 && interval.hi == 7);
    assert_int_equal(interval.n, 6);
}

static void interval_depends_on_the_seed_and_nothing_else(void **state)
{
    (void)state;
    double x[64];
    for (int i = 0; i < 64; i++)
        x[i] = i * i % 97 + i * 0.01;
    struct interval a = statistics_median(x, 64, 5), b = statistics_median(x, 64, 5);
    assert_true(a.lo == b.lo && a.hi == b.hi);
    int differ = 0;
    for (uint64_t seed = 0; seed < 8; seed++)
        differ += statistics_median(x, 64, seed << 32).lo != a.lo ||
                  statistics_median(x, 64, seed << 32).hi != a.hi;
    assert_true(differ > 0);
}

static void interval_lies_within_the_samples_and_holds_the_median(void **state)
{
    (void)state;
    const double x[] = {10, 11, 11, 12, 13, 13, 1000};
    struct interval interval = statistics_median(x, 7, 3);
    assert_true(interval.lo >= 10 && interval.lo <= interval.median);
    assert_true(interval.hi <= 1000 && interval.hi >= interval.median);
    assert_true(interval.median == 12);
}

/* A value that is below its median in half of all cases: uniform on 0..1. */
static double uniform(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (double)(*state >> 11) / 9007199254740992.0;
}

static void uniforms(double *x, int n, uint64_t *random)
{
    for (int i = 0; i < n; i++)
        x[i] = uniform(random);
}

/* Plain percentiles cover it in 87.5 % of all cases where n is 7, and in 92 % where it is 8. */
static void interval_covers_the_true_median_about_as_often_as_it_says(void **state)
{
    (void)state;
    uint64_t random = 42;
    static const int counts[] = {STATISTICS_INTERVAL_MIN, 8, TRIAL_N};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        int n = counts[i];
        int covered = 0;
        for (int trial = 0; trial < TRIALS; trial++) {
            double x[TRIAL_N];
            uniforms(x, n, &random);
            struct interval interval = statistics_median(x, (size_t)n, (uint64_t)trial);
            covered += interval.lo <= 0.5 && 0.5 <= interval.hi;
        }
        assert_in_range(covered, TRIALS * 93 / 100, TRIALS * 995 / 1000);
    }
}

/* Also where one side scatters much more than the other, as one that is far from the limit of its
 * machine does, so that the other's samples are no help. */
static void interval_of_a_ratio_covers_as_often_as_it_says(void **state)
{
    (void)state;
    enum { FEW = 7 };
    uint64_t random = 43;
    int alike = 0, unlike = 0;
    for (int trial = 0; trial < INTERVALS; trial++) {
        double x[FEW], y[FEW], quiet[TRIAL_N];
        uniforms(x, FEW, &random);
        uniforms(y, FEW, &random);
        for (int i = 0; i < TRIAL_N; i++)
            quiet[i] = 0.5 + 0.001 * (uniform(&random) - 0.5);
        struct interval a = statistics_ratio(x, FEW, y, FEW, (uint64_t)trial);
        struct interval b = statistics_ratio(x, FEW, quiet, TRIAL_N, (uint64_t)trial);
        struct interval mean = statistics_geomean_ratio(
            &(struct ratio_samples){x, quiet, FEW, TRIAL_N}, 1, (uint64_t)trial);
        alike += a.lo <= 1 && 1 <= a.hi;
        unlike += b.lo <= 1 && 1 <= b.hi;
        assert_near(mean.lo / b.lo, 1, 0.05);
        assert_near(mean.hi / b.hi, 1, 0.05);
    }
    assert_in_range(alike, INTERVALS * 96 / 100, INTERVALS);
    assert_in_range(unlike, INTERVALS * 96 / 100, INTERVALS);
}

static void ratio_is_of_the_medians(void **state)
{
    (void)state;
    const double x[] = {20, 19, 21, 20, 19, 21, 20}, y[] = {10, 10, 11, 9, 10, 9, 11};
    struct interval ratio = statistics_ratio(x, 7, y, 7, 1);
    assert_true(ratio.median == 2);
    assert_true(ratio.lo < 2 && ratio.lo > 1.7);
    assert_true(ratio.hi > 2 && ratio.hi < 2.4);
}

/* The choice of the baseline decides nothing. */
static void ratio_and_its_inverse_have_mirrored_intervals(void **state)
{
    (void)state;
    const double x[] = {5, 5.5, 6, 8, 4, 5, 7}, y[] = {10, 13, 11, 9, 10, 8.5, 11, 10};
    struct interval there = statistics_ratio(x, 7, y, 8, 1);
    struct interval back = statistics_ratio(y, 8, x, 7, 1);
    assert_true(there.lo < there.median && there.median < there.hi);
    assert_near(there.median * back.median, 1, 1e-12);
    assert_near(there.lo * back.hi, 1, 1e-12);
    assert_near(there.hi * back.lo, 1, 1e-12);
}

static void ratio_to_nothing_is_no_number(void **state)
{
    (void)state;
    const double x[] = {1, 2, 3}, zero[] = {1, 0, 1};
    assert_true(isnan(statistics_ratio(x, 3, zero, 3, 1).median));
}

/* The survival times of the treated mice: [Efron93] table 2.1. The bootstrap distribution of the
 * median of n values is known without drawing: it is at most the k-th smallest if at least
 * (n + 1) / 2 of n draws are among the k smallest, a binomial probability. The percentiles of 7
 * samples are further out than 2.5 % by Student's quantile of 6 degrees, 2.4469. */
static void bootstrap_agrees_with_the_exact_distribution_for_the_mouse_data(void **state)
{
    (void)state;
    const double treated[] = {94, 197, 16, 38, 99, 141, 23};
    const double sorted[] = {16, 23, 38, 94, 99, 141, 197};
    const double choose[] = {1, 7, 21, 35, 35, 21, 7, 1};
    double lo = 0, hi = 0, tail = erfc(sqrt(7.0 / 6) * 2.4469 / sqrt(2)) / 2;
    for (int k = 7; k >= 1; k--) {
        double at_most = 0;
        for (int draws = 4; draws <= 7; draws++)
            at_most += choose[draws] * pow(k / 7.0, draws) * pow(1 - k / 7.0, 7 - draws);
        lo = at_most > tail ? sorted[k - 1] : lo;
        hi = at_most > 1 - tail ? sorted[k - 1] : hi;
    }
    struct interval interval = statistics_median(treated, 7, 1);
    assert_true(interval.median == 94);
    assert_true(interval.lo == lo && interval.hi == hi);
    assert_true(lo == 16 && hi == 197);
}

/* Geometric means ------------------------------------------------------------------------------ */

/* The times of two of the processors, R and M, on five programs: [Fleming86] table 1. There the
 * geometric mean of M's times over R's is 0.86. The arithmetic means are 1.01 over R and 1.32 over
 * M: each processor is slower than the other. */
static const double time_r[] = {417, 83, 66, 39449, 772}, time_m[] = {244, 70, 153, 33527, 368};

static void geomean_of_ratios_is_that_of_fleming_and_wallace(void **state)
{
    (void)state;
    struct ratio_samples over_r[5], over_m[5];
    double mean_over_r = 0, mean_over_m = 0;
    for (int i = 0; i < 5; i++) {
        over_r[i] = (struct ratio_samples){&time_m[i], &time_r[i], 1, 1};
        over_m[i] = (struct ratio_samples){&time_r[i], &time_m[i], 1, 1};
        mean_over_r += time_m[i] / time_r[i] / 5;
        mean_over_m += time_r[i] / time_m[i] / 5;
    }
    assert_near(mean_over_r, 1.01, 0.005);
    assert_near(mean_over_m, 1.32, 0.005);
    struct interval m = statistics_geomean_ratio(over_r, 5, 1);
    struct interval r = statistics_geomean_ratio(over_m, 5, 1);
    assert_near(m.median, 0.86, 0.005);
    assert_near(m.median * r.median, 1, 1e-12);
    assert_int_equal(m.n, 5);
}

static void geomean_interval_holds_the_noise_of_all_pairs(void **state)
{
    (void)state;
    const double quiet_over[] = {20, 20, 20, 20, 20, 20, 20};
    const double quiet_under[] = {10, 10, 10, 10, 10, 10, 10}, noisy[] = {8, 9, 9, 10, 11, 11, 12};
    const struct ratio_samples quiet = {quiet_over, quiet_under, 7, 7};
    const struct ratio_samples pairs[] = {quiet, {noisy, quiet_under, 7, 7}};
    struct interval alone = statistics_geomean_ratio(&quiet, 1, 1);
    assert_true(alone.lo == 2 && alone.median == 2 && alone.hi == 2);
    struct interval both = statistics_geomean_ratio(pairs, 2, 1);
    assert_near(both.median, sqrt(2), 1e-12);
    assert_true(both.lo < both.median && both.lo >= sqrt(2 * 0.8) - 1e-12);
    assert_true(both.hi > both.median && both.hi <= sqrt(2 * 1.2) + 1e-12);
}

static void geomean_of_nothing_is_no_number(void **state)
{
    (void)state;
    const double one[] = {1}, zero[] = {0};
    const struct ratio_samples bad = {one, zero, 1, 1}, empty = {one, one, 1, 0};
    assert_true(isnan(statistics_geomean_ratio(NULL, 0, 1).median));
    assert_true(isnan(statistics_geomean_ratio(&bad, 1, 1).median));
    assert_true(isnan(statistics_geomean_ratio(&empty, 1, 1).median));
}

/* Mann-Whitney --------------------------------------------------------------------------------- */

/* Permeability constants of the human chorioamnion at term and at 12 to 26 weeks:
 * [Hollander73] p. 69, one-sided p = 0.1272 of U = 35. */
static const double term[] = {0.80, 0.83, 1.89, 1.04, 1.45, 1.38, 1.91, 1.64, 0.73, 1.46};
static const double early[] = {1.15, 0.88, 0.90, 0.74, 1.21};

static void mann_whitney_gives_the_p_of_hollander_and_wolfe(void **state)
{
    (void)state;
    assert_near(statistics_mann_whitney(term, 10, early, 5) / 2, 0.1272, 0.00005);
    assert_near(statistics_mann_whitney(early, 5, term, 10) / 2, 0.1272, 0.00005);
}

/* [Mann47] table I: the probability of a U as small for 5 and 5 values. */
static void mann_whitney_gives_the_table_of_mann_and_whitney(void **state)
{
    (void)state;
    static const double table[] = {0.004, 0.008, 0.016, 0.028, 0.048, 0.075,
                                   0.111, 0.155, 0.210, 0.274, 0.345, 0.421};
    const double y[] = {10, 20, 30, 40, 50};
    for (int u = 0; u < 12; u++) {
        /* Values of x that exceed u values of y in all. */
        double x[5];
        for (int i = 0; i < 5; i++) {
            int exceeds = u - 5 * i;
            exceeds = exceeds < 0 ? 0 : exceeds > 5 ? 5 : exceeds;
            x[i] = exceeds * 10 + 5 + i;
        }
        assert_near(statistics_mann_whitney(x, 5, y, 5) / 2, table[u], 0.0005);
    }
}

static int bits_of(unsigned set)
{
    int bits = 0;
    for (; set; set &= set - 1)
        bits++;
    return bits;
}

/* U of the values of 0..n-1 that are in the set. */
static int u_of_set(unsigned set, int n)
{
    int u = 0;
    for (int i = 0; i < n; i++)
        for (int k = 0; k < i; k++)
            u += (set >> i & 1) && !(set >> k & 1);
    return u;
}

static void mann_whitney_is_the_count_of_all_assignments(void **state)
{
    (void)state;
    enum { N = 9, NX = 4 };
    for (unsigned seen = 0; seen < 1U << N; seen++) {
        double x[N], y[N];
        size_t nx = 0, ny = 0;
        if (bits_of(seen) != NX)
            continue;
        for (int i = 0; i < N; i++)
            *(seen >> i & 1 ? &x[nx++] : &y[ny++]) = i;
        int all = 0, at_most = 0, at_least = 0;
        for (unsigned set = 0; set < 1U << N; set++) {
            if (bits_of(set) != NX)
                continue;
            all++;
            at_most += u_of_set(set, N) <= u_of_set(seen, N);
            at_least += u_of_set(set, N) >= u_of_set(seen, N);
        }
        double p = fmin(1, 2.0 * (at_most < at_least ? at_most : at_least) / all);
        assert_near(statistics_mann_whitney(x, nx, y, ny), p, 1e-12);
    }
}

/* Blood pressures of 4 treated and 11 untreated men, an example of StatXact's manual: the normal
 * approximation with its correction for ties gives p = 0.0853. The continuity correction takes half
 * a step from the 13 by which U = 35 exceeds its mean of 22. */
static void mann_whitney_with_ties_corrects_for_them(void **state)
{
    (void)state;
    const double treated[] = {94, 108, 110, 90};
    const double control[] = {80, 94, 85, 90, 90, 90, 108, 94, 78, 105, 88};
    const double z = 1.72093; /* of the published p */
    assert_near(erfc(z / sqrt(2)), 0.0853, 0.00005);
    assert_near(statistics_mann_whitney(treated, 4, control, 11), erfc(z * 12.5 / 13 / sqrt(2)),
                0.0001);
}

/* x[i] exceeds the first i + 4 values of y, as far as there are so many. */
static void mann_whitney_of_many_values_is_nearly_normal(void **state)
{
    (void)state;
    double x[26], y[25];
    for (int i = 0; i < 26; i++)
        x[i] = 3 * i + 11.5;
    for (int i = 0; i < 25; i++)
        y[i] = 3 * i;
    const double z_50 = (394 - 312.5 - 0.5) / sqrt(25 * 25 * 51 / 12.0);
    const double z_51 = (419 - 325 - 0.5) / sqrt(26 * 25 * 52 / 12.0);
    assert_near(statistics_mann_whitney(x, 25, y, 25), erfc(z_50 / sqrt(2)), 0.001);
    assert_near(statistics_mann_whitney(x, 26, y, 25), erfc(z_51 / sqrt(2)), 1e-9);
}

static void mann_whitney_of_nothing_or_equal_values(void **state)
{
    (void)state;
    const double x[] = {1, 1, 1}, y[] = {1, 1};
    assert_true(isnan(statistics_mann_whitney(x, 3, NULL, 0)));
    assert_true(isnan(statistics_mann_whitney(NULL, 0, y, 2)));
    assert_true(statistics_mann_whitney(x, 3, y, 2) == 1);
}

static void least_p_is_that_of_sets_apart(void **state)
{
    (void)state;
    const double x[] = {1, 2, 3, 4, 5}, y[] = {6, 7, 8, 9, 10};
    assert_near(statistics_mann_whitney_least(5, 5), 2.0 / 252, 1e-12);
    assert_near(statistics_mann_whitney_least(3, 3), 0.1, 1e-12);
    assert_near(statistics_mann_whitney(x, 5, y, 5), 2.0 / 252, 1e-12);
    assert_true(statistics_mann_whitney_least(100, 100) < 1e-30);
}

/* [Vargha00] define A by counting pairs; of the chorioamnion's, 35 of 50 favour term. */
static void superiority_is_the_share_of_pairs(void **state)
{
    (void)state;
    const double x[] = {1, 2, 2, 5}, y[] = {2, 3};
    assert_near(statistics_superiority(term, 10, early, 5), 0.7, 1e-12);
    assert_near(statistics_superiority(early, 5, term, 10), 0.3, 1e-12);
    assert_near(statistics_superiority(x, 4, y, 2), (0 + 0.5 + 0.5 + 2) / 8, 1e-12);
    assert_true(isnan(statistics_superiority(x, 4, NULL, 0)));
}

/* Holm ----------------------------------------------------------------------------------------- */

/* A textbook case of [Holm79]: of 0.01, 0.04, 0.03 and 0.005, the first and the last are rejected
 * at 0.05. 0.005 <= 0.05 / 4 and 0.01 <= 0.05 / 3, but 0.03 > 0.05 / 2. */
static void holm_adjusts_a_textbook_case(void **state)
{
    (void)state;
    double p[] = {0.01, 0.04, 0.03, 0.005};
    const double adjusted[] = {0.03, 0.06, 0.06, 0.02};
    statistics_holm(p, 4);
    for (int i = 0; i < 4; i++)
        assert_near(p[i], adjusted[i], 1e-12);
}

static void holm_leaves_out_what_was_not_tested(void **state)
{
    (void)state;
    double p[] = {NAN, 0.9, NAN, 0.02, 0.8};
    statistics_holm(p, 5);
    assert_true(isnan(p[0]) && isnan(p[2]));
    assert_near(p[3], 0.06, 1e-12);
    assert_near(p[4], 1, 1e-12);
    assert_near(p[1], 1, 1e-12);
    statistics_holm(p, 0);
}

/* Change of level ------------------------------------------------------------------------------ */

/* The annual flow of the Nile at Aswan, 1871 to 1970, in 10^8 m^3: [Cobb78], whose estimate of the
 * last year of the old level is 1898, the 28th. */
static const double nile[] = {
    1120, 1160, 963, 1210, 1160, 1160, 813,  1230, 1370, 1140, 995,  935,  1110, 994,  1020,
    960,  1180, 799, 958,  1140, 1100, 1210, 1150, 1250, 1260, 1220, 1030, 1100, 774,  840,
    874,  694,  940, 833,  701,  916,  692,  1020, 1050, 969,  831,  726,  456,  824,  702,
    1120, 1100, 832, 764,  821,  768,  845,  864,  862,  698,  845,  744,  796,  1040, 759,
    781,  865,  845, 944,  984,  897,  822,  1010, 771,  676,  649,  846,  812,  742,  801,
    1040, 860,  874, 848,  890,  744,  749,  838,  1050, 918,  986,  797,  923,  975,  815,
    1020, 906,  901, 1170, 912,  746,  919,  718,  714,  740};

static void last_level_of_the_nile_began_after_1898(void **state)
{
    (void)state;
    assert_int_equal(sizeof nile / sizeof nile[0], 100);
    assert_int_equal(statistics_steady_tail(nile, 100), 100 - 28);
}

static void steady_tail_begins_where_its_level_does(void **state)
{
    (void)state;
    const double one[] = {9, 1.01, 0.99, 1.02, 1, 0.98, 1.01};
    const double falling[] = {9, 5, 2, 1.01, 0.99, 1.02, 1, 0.98, 1.01, 1};
    const double disturbed[] = {1, 1.01, 0.99, 1.02, 9, 1, 0.98, 1.01, 1, 1.02, 0.99};
    const double changed[] = {1, 1.01, 0.99, 1.02, 1, 0.98, 1.01, 1, 3, 3.01, 2.98};
    const double quick_first[] = {0.2, 1.01, 0.99, 1.02, 1, 0.98, 1.01};
    assert_int_equal(statistics_steady_tail(one, 7), 6);
    assert_int_equal(statistics_steady_tail(falling, 10), 7);
    assert_int_equal(statistics_steady_tail(disturbed, 11), 6);
    assert_int_equal(statistics_steady_tail(changed, 11), 3);
    assert_int_equal(statistics_steady_tail(quick_first, 7), 6);
}

static void few_values_have_no_tail_and_equal_ones_are_one(void **state)
{
    (void)state;
    const double x[] = {9, 1, 1, 1, 1, 1};
    assert_int_equal(statistics_steady_tail(x, 3), 0);
    assert_int_equal(statistics_steady_tail(x + 1, 5), 5);
    assert_int_equal(statistics_steady_tail(x, 6), 5);
}

static void noise_alone_seldom_looks_like_a_change(void **state)
{
    (void)state;
    uint64_t random = 7;
    int found = 0;
    for (int trial = 0; trial < TRIALS; trial++) {
        double x[TRIAL_N];
        for (int i = 0; i < TRIAL_N; i++)
            x[i] = 200 + uniform(&random) + uniform(&random) + uniform(&random);
        found += statistics_steady_tail(x, TRIAL_N) < TRIAL_N;
    }
    assert_int_equal(found, 0); /* all levels are within the tolerance */
    for (int trial = 0; trial < TRIALS; trial++) {
        double x[TRIAL_N];
        for (int i = 0; i < TRIAL_N; i++)
            x[i] = 1 + uniform(&random) + uniform(&random) + uniform(&random);
        found += statistics_steady_tail(x, TRIAL_N) < TRIAL_N;
    }
    assert_in_range(found, 0, TRIALS / 5);
}

/* METG ----------------------------------------------------------------------------------------- */

/* With a fixed cost c per task the efficiency is work / (work + c), where work + c is task_ns: one
 * half exactly where the task takes 2 c. */
static void metg_is_interpolated_in_log_space(void **state)
{
    (void)state;
    const struct metg_point points[] = {{4000, 0.75}, {1000, 0.25}, {100000, 0.99}, {500, 0.1}};
    enum metg_where where;
    assert_near(statistics_metg(points, 4, 0.5, &where), 2000, 1e-6);
    assert_int_equal(where, METG_BETWEEN);
    assert_near(statistics_metg(points, 4, 0.25, &where), 1000, 1e-6);
}

static void metg_is_never_extrapolated(void **state)
{
    (void)state;
    const struct metg_point points[] = {{1000, 0.6}, {4000, 0.9}, {NAN, 0.1}, {10, NAN}};
    enum metg_where where;
    assert_true(isnan(statistics_metg(points, 4, 0.5, &where)));
    assert_int_equal(where, METG_BELOW);
    assert_true(isnan(statistics_metg(points, 4, 0.95, &where)));
    assert_int_equal(where, METG_ABOVE);
    assert_near(statistics_metg(points, 4, 0.6, &where), 1000, 0);
    assert_int_equal(where, METG_BETWEEN);
    assert_true(isnan(statistics_metg(points, 0, 0.5, &where)));
    assert_int_equal(where, METG_NONE);
}

/* A lucky small task below an inefficient larger one is not where efficiency ends. */
static void metg_stops_at_the_first_inefficient_task(void **state)
{
    (void)state;
    const struct metg_point points[] = {{100, 0.7}, {1000, 0.3}, {10000, 0.7}};
    enum metg_where where;
    double metg = statistics_metg(points, 3, 0.5, &where);
    assert_near(metg, sqrt(1000.0 * 10000.0), 1e-6);
    assert_int_equal(where, METG_BETWEEN);
}

static void a_paired_ratio_forgets_what_pairs_have_in_common(void **state)
{
    (void)state;
    static const double x[] = {2, 20, 200, 2000, 20000, 200000};
    static const double y[] = {1, 10, 100, 1000, 10000, 100000};
    struct interval ratio = statistics_paired_ratio(x, y, 6, 1);
    assert_float_equal(ratio.median, 2, 1e-12);
    assert_float_equal(ratio.lo, 2, 1e-12);
    assert_float_equal(ratio.hi, 2, 1e-12);
    assert_false(statistics_has_interval(statistics_paired_ratio(x, y, 5, 1)));
    assert_true(isnan(statistics_paired_ratio(x, y, 0, 1).median));
    static const double none[] = {1, 0};
    assert_true(isnan(statistics_paired_ratio(x, none, 2, 1).median));
}

/* Regimes ------------------------------------------------------------------------------------- */

static void two_groups_are_two_regimes(void **state)
{
    (void)state;
    struct regimes regimes;
    const double parted[] = {60, 67, 65, 19, 20, 62};
    assert_true(statistics_regimes(parted, 6, &regimes));
    assert_int_equal(regimes.low, 2);
    assert_int_equal(regimes.high, 4);
    assert_true(regimes.low_median == 19.5 && regimes.high_median == 63.5);
    assert_true(regimes.border > 20 && regimes.border < 60);
}

static void what_is_not_two_groups_is_one_regime(void **state)
{
    (void)state;
    struct regimes regimes;
    const double outlier[] = {60, 67, 65, 61, 20, 62}, even[] = {10, 20, 30, 40, 50, 60};
    const double near[] = {100, 101, 100, 110, 111, 110}, same[] = {5, 5, 5, 5, 5, 5};
    const double few[] = {60, 67, 19, 20, 62}, zeros[] = {0, 0, 0, 5, 5, 5};
    assert_false(statistics_regimes(outlier, 6, &regimes));
    assert_false(statistics_regimes(even, 6, &regimes));
    assert_false(statistics_regimes(near, 6, &regimes));
    assert_false(statistics_regimes(same, 6, &regimes));
    assert_false(statistics_regimes(few, 5, &regimes));
    assert_false(statistics_regimes(zeros, 6, &regimes));
}

/* The rate of false alarms for samples of one regime that scatter by a fifth. */
static double false_alarms(size_t n)
{
    enum { SETS = 6000, SUM_OF = 12 };
    uint64_t random = 12345;
    size_t alarms = 0;
    for (int set = 0; set < SETS; set++) {
        double x[32];
        struct regimes regimes;
        for (size_t i = 0; i < n; i++) {
            double sum = -SUM_OF / 2.0; /* near enough to normal, with a deviation of 1 */
            for (int k = 0; k < SUM_OF; k++) {
                random = random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
                sum += (double)(random >> 11) / (double)(UINT64_C(1) << 53);
            }
            x[i] = exp(0.2 * sum);
        }
        alarms += statistics_regimes(x, n, &regimes);
    }
    return (double)alarms / SETS;
}

static void false_alarms_are_as_rare_as_stated(void **state)
{
    (void)state;
    double six = false_alarms(6), seven = false_alarms(7);
    if (!(six > 0.001 && six < 0.01 && seven < 0.004 && false_alarms(12) < 0.001))
        fail_msg("%g at 6, %g at 7", six, seven);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_paired_ratio_forgets_what_pairs_have_in_common),
        cmocka_unit_test(median_of_odd_and_even_counts),
        cmocka_unit_test(median_leaves_its_input_alone),
        cmocka_unit_test(no_samples_give_no_numbers),
        cmocka_unit_test(interval_takes_as_many_samples_as_can_cover_95_percent),
        cmocka_unit_test(equal_samples_have_an_interval_of_no_width),
        cmocka_unit_test(interval_depends_on_the_seed_and_nothing_else),
        cmocka_unit_test(interval_lies_within_the_samples_and_holds_the_median),
        cmocka_unit_test(interval_covers_the_true_median_about_as_often_as_it_says),
        cmocka_unit_test(interval_of_a_ratio_covers_as_often_as_it_says),
        cmocka_unit_test(ratio_is_of_the_medians),
        cmocka_unit_test(ratio_and_its_inverse_have_mirrored_intervals),
        cmocka_unit_test(ratio_to_nothing_is_no_number),
        cmocka_unit_test(bootstrap_agrees_with_the_exact_distribution_for_the_mouse_data),
        cmocka_unit_test(geomean_of_ratios_is_that_of_fleming_and_wallace),
        cmocka_unit_test(geomean_interval_holds_the_noise_of_all_pairs),
        cmocka_unit_test(geomean_of_nothing_is_no_number),
        cmocka_unit_test(mann_whitney_gives_the_p_of_hollander_and_wolfe),
        cmocka_unit_test(mann_whitney_gives_the_table_of_mann_and_whitney),
        cmocka_unit_test(mann_whitney_is_the_count_of_all_assignments),
        cmocka_unit_test(mann_whitney_with_ties_corrects_for_them),
        cmocka_unit_test(mann_whitney_of_many_values_is_nearly_normal),
        cmocka_unit_test(mann_whitney_of_nothing_or_equal_values),
        cmocka_unit_test(least_p_is_that_of_sets_apart),
        cmocka_unit_test(superiority_is_the_share_of_pairs),
        cmocka_unit_test(holm_adjusts_a_textbook_case),
        cmocka_unit_test(holm_leaves_out_what_was_not_tested),
        cmocka_unit_test(last_level_of_the_nile_began_after_1898),
        cmocka_unit_test(steady_tail_begins_where_its_level_does),
        cmocka_unit_test(few_values_have_no_tail_and_equal_ones_are_one),
        cmocka_unit_test(noise_alone_seldom_looks_like_a_change),
        cmocka_unit_test(metg_is_interpolated_in_log_space),
        cmocka_unit_test(metg_is_never_extrapolated),
        cmocka_unit_test(metg_stops_at_the_first_inefficient_task),
        cmocka_unit_test(two_groups_are_two_regimes),
        cmocka_unit_test(what_is_not_two_groups_is_one_regime),
        cmocka_unit_test(false_alarms_are_as_rare_as_stated),
    };
    return cmocka_run_group_tests_name("statistics", tests, NULL, NULL);
}
