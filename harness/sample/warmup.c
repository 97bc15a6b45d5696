/* warmup.c - see warmup.h. */
#include "harness/sample/warmup.h"

#include "harness/numbers/statistics.h"

void warmup_begin(struct warmup *warmup, int wanted, int64_t timed_ns, int64_t now_ns)
{
    *warmup = (struct warmup){.wanted = wanted,
                              .began_ns = now_ns,
                              .limit_ns = timed_ns > 0 ? timed_ns : WARMUP_TIME_MAX_NS,
                              .rule = "fixed"};
}

bool warmup_is_steady(const double *call_ns, size_t count)
{
    return statistics_steady_tail(call_ns, count) >= (count + 1) / 2;
}

bool warmup_wants_more(struct warmup *warmup, int64_t now_ns)
{
    if (warmup->wanted != WARMUP_AUTO)
        return warmup->count < (size_t)warmup->wanted;
    if (warmup->count >= WARMUP_CALLS_MIN && warmup_is_steady(warmup->call_ns, warmup->count)) {
        warmup->rule = "change-point";
        return false;
    }
    warmup->rule = WARMUP_LIMIT;
    return warmup->count < WARMUP_CALLS_MAX && now_ns - warmup->began_ns < warmup->limit_ns;
}

void warmup_add(struct warmup *warmup, double call_ns)
{
    if (warmup->wanted == WARMUP_AUTO)
        warmup->call_ns[warmup->count] = call_ns;
    warmup->count++;
}
