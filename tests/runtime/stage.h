/* stage.h - a scheduler whose Ms have no threads: a test plays them all, and calls the variant's
 * functions by hand. So what they do is exact at any number of Ps.
 *
 * Included by cmocka programs after <cmocka.h>.
 */
#ifndef SCHEDLAB_TESTS_STAGE_H
#define SCHEDLAB_TESTS_STAGE_H

#include "internal.h"
#include "tests/support/support.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

enum { PS_MAX = 4, GS_MAX = 1000 };

struct stage {
    const struct sched_ops *ops;
    struct sched *sched;
    void *knobs;
    struct m *m[PS_MAX]; /* m[i] holds P i */
    struct g *g;         /* GS_MAX of them, that never run */
};

static inline struct stage stage_with(const struct sched_ops *ops, const char *settings,
                                      int workers, const int32_t *groups)
{
    struct stage stage = {.ops = ops};
    int error = 0;
    stage.knobs = calloc(1, stage.ops->knobs_size);
    support_set(stage.knobs, stage.ops->knobs, settings);
    struct sched_config config = {
        .ops = stage.ops, .knobs = stage.knobs, .workers = workers, .seed = 1, .groups = groups};
    stage.sched = sched_new(&config, &error);
    assert_non_null(stage.sched);
    stage.ops = stage.sched->ops; /* init() may have set others */
    for (int i = 0; i < stage.sched->procs; i++)
        stage.m[i] = m_new(stage.sched, idle_p_take(stage.sched));
    machine_set_self(stage.m[0]);
    stage.g = aligned_alloc(64, GS_MAX * sizeof *stage.g);
    memset(stage.g, 0, GS_MAX * sizeof *stage.g);
    for (uint32_t i = 0; i < GS_MAX; i++)
        stage.g[i].id = i;
    return stage;
}

static inline struct stage stage_of(const char *variant, const char *settings, int workers,
                                    const int32_t *groups)
{
    const struct sched_ops *ops = support_variant(variant);
    assert_non_null(ops);
    return stage_with(ops, settings, workers, groups);
}

static inline struct stage stage_make(const char *variant, const char *settings, int workers)
{
    return stage_of(variant, settings, workers, NULL);
}

static inline void stage_free(struct stage *stage)
{
    machine_set_self(NULL);
    sched_free(stage->sched);
    free(stage->knobs);
    free(stage->g);
}

/* n of them from `first` on, in the order of their ids. */
static inline void ready(struct stage *stage, int worker, uint32_t first, uint32_t n,
                         enum ready_how how)
{
    for (uint32_t i = 0; i < n; i++)
        stage->ops->ready(stage->m[worker], &stage->g[first + i], how);
}

static inline struct g *pick(struct stage *stage, int worker)
{
    bool inherit = false;
    return stage->ops->pick(stage->m[worker], &inherit);
}

/* The worker has these, in this order, and no more. */
static inline void expect_picks(struct stage *stage, int worker, uint32_t first, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        const struct g *gp = pick(stage, worker);
        assert_non_null(gp);
        assert_int_equal(gp->id, first + i);
    }
    assert_null(pick(stage, worker));
}

static inline int64_t queued(struct stage *stage, int worker)
{
    return stage->ops->queued(stage->sched, stage->sched->allp[worker]);
}

static inline int64_t queued_globally(struct stage *stage)
{
    return stage->ops->queued(stage->sched, NULL);
}

static inline uint64_t stat_now(struct stage *stage, enum stat_id which)
{
    return sched_stat(stage->sched, which);
}

/* Between any two instructions: the processor stops after each, and calls a function of the test's.
 */
#if defined(__x86_64__) && !SUPPORT_SANITIZED
#define STAGE_WATCHES 1
enum { TRAP_FLAG = 0x100 };

static struct {
    struct stage *stage;
    bool (*holds)(struct stage *stage);
    int steps, broken; /* instructions, and after how many of them it did not hold */
} watch;

static inline void watch_on_trap(int signal_number)
{
    (void)signal_number;
    watch.steps++;
    if (!watch.holds(watch.stage))
        watch.broken++;
}

static inline void watch_begin(struct stage *stage, bool (*holds)(struct stage *stage))
{
    struct sigaction action = {.sa_handler = watch_on_trap};
    watch.stage = stage;
    watch.holds = holds;
    watch.steps = watch.broken = 0;
    assert_int_equal(sigaction(SIGTRAP, &action, NULL), 0);
    __asm__ volatile("lea -128(%%rsp), %%rsp; pushfq; orq %0, (%%rsp); popfq; lea 128(%%rsp), %%rsp"
                     :
                     : "i"(TRAP_FLAG)
                     : "memory", "cc");
}

static inline void watch_end(void)
{
    __asm__ volatile(
        "lea -128(%%rsp), %%rsp; pushfq; andq %0, (%%rsp); popfq; lea 128(%%rsp), %%rsp"
        :
        : "i"(~TRAP_FLAG)
        : "memory", "cc");
    assert_true(watch.steps > 0);
    assert_int_equal(watch.broken, 0);
}
#else
#define STAGE_WATCHES 0
#endif

#endif
