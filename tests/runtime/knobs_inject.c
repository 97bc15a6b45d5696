/* knobs_inject.c - where a thread without a worker puts: no thread runs, as in test_queues.c. */
#include "runtime/lrq.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tests/runtime/stage.h"

void knob_inject(const char *variant);

enum { INJECTED = 64, QUEUES = 4, THREADS = 16 };

/* How many of INJECTED lie in each of four queues, put there by the thread of that number. */
static void inject_counts(const char *variant, const char *inject, int thread, int counts[QUEUES])
{
    char settings[64];
    snprintf(settings, sizeof settings, "globals=4,take=one,tick=0,inject=%s", inject);
    struct stage stage = stage_make(variant, settings, QUEUES);
    struct m outsider = {0};
    m_init_common(stage.sched, &outsider, -2 - thread);
    for (int i = 0; i < INJECTED; i++)
        stage.ops->ready(&outsider, &stage.g[i], READY_INJECTED);
    for (int i = 0; i < QUEUES; i++)
        for (counts[i] = 0; pick(&stage, i);)
            counts[i]++;
    stage_free(&stage);
}

void knob_inject(const char *variant)
{
    int counts[QUEUES], homes[QUEUES] = {0}, drawn = 0;
    inject_counts(variant, "one", 0, counts);
    assert_int_equal(counts[0], INJECTED);
    inject_counts(variant, "random", 0, counts);
    for (int i = 0; i < QUEUES; i++)
        assert_in_range(counts[i], 1, INJECTED / 2);
    for (int thread = 0; thread < THREADS; thread++) {
        inject_counts(variant, "sticky", thread, counts);
        for (int i = 0; i < QUEUES; i++)
            homes[i] += counts[i] == INJECTED;
    }
    for (int i = 0; i < QUEUES; i++) {
        assert_true(homes[i] > 0);
        drawn += homes[i];
    }
    assert_int_equal(drawn, THREADS);
}
