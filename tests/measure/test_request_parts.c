/* test_request_parts.c - the parts of a request are those of its goroutine, and of those that it
 * waits for; they add up to its latency. */
#include "workloads/request_parts.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { STEPS_MAX = 64, GOROUTINES = 4 };

/* A few goroutines, in us. */
struct scene {
    struct {
        int64_t made;
        uint32_t maker;
        size_t count;
        struct request_step step[STEPS_MAX];
    } goroutine[GOROUTINES];
    struct request_parts parts;
};

static size_t scene_steps(const void *of, uint32_t g, int64_t *made, uint32_t *maker)
{
    const struct scene *scene = of;
    *made = scene->goroutine[g].made;
    *maker = scene->goroutine[g].maker;
    return scene->goroutine[g].count;
}

static struct request_step scene_step(const void *of, uint32_t g, size_t i)
{
    return ((const struct scene *)of)->goroutine[g].step[i];
}

static const char *scene_lock(const void *of, uint32_t lock)
{
    static const char *const names[] = {"a", "b", "c", "d"};
    (void)of;
    return names[lock];
}

static void made(struct scene *scene, uint32_t g, int64_t when, uint32_t maker)
{
    scene->goroutine[g].made = when;
    scene->goroutine[g].maker = maker;
}

/* The next step, which begins where the last one ended. */
static void step(struct scene *scene, uint32_t g, enum request_part part, int64_t to)
{
    size_t i = scene->goroutine[g].count++;
    int64_t from = i > 0 ? scene->goroutine[g].step[i - 1].to : scene->goroutine[g].made;
    scene->goroutine[g].step[i] = (struct request_step){
        .part = part, .from = from, .to = to, .woken = to, .by = REQUEST_NOBODY};
}

static void waits(struct scene *scene, uint32_t g, uint32_t by, int64_t woken, int64_t to)
{
    step(scene, g, PART_WAITING, to);
    struct request_step *last = &scene->goroutine[g].step[scene->goroutine[g].count - 1];
    last->by = by;
    last->woken = woken;
}

static void find(struct scene *scene, struct request_span *spans, size_t count)
{
    const struct request_source source = {.of = scene,
                                          .steps = scene_steps,
                                          .step = scene_step,
                                          .lock = scene_lock,
                                          .locks = 4,
                                          .unmade = PART_ASLEEP,
                                          .per_us = 1};
    request_parts_find(&scene->parts, &source, spans, count);
    for (int q = 0; q < REQUEST_QUANTILES && count > 0; q++) {
        double sum = 0;
        for (int part = 0; part < REQUEST_PARTS; part++)
            sum += scene->parts.us[part][q];
        for (int i = 0; i < REQUEST_LOCKS; i++)
            sum += scene->parts.lock[i].us[q];
        assert_true(fabs(sum - scene->parts.latency_us[q]) < 1e-6);
    }
}

static struct scene *scene_new(void **state)
{
    struct scene *scene = *state;
    memset(scene, 0, sizeof *scene);
    for (uint32_t g = 0; g < GOROUTINES; g++)
        scene->goroutine[g].maker = REQUEST_NOBODY;
    return scene;
}

static void assert_us(const struct scene *scene, enum request_part part, double us)
{
    assert_true(fabs(scene->parts.us[part][0] - us) < 1e-9);
}

static void a_request_has_the_steps_of_its_goroutine(void **state)
{
    struct scene *scene = scene_new(state);
    step(scene, 0, PART_RUNNING, 10);
    step(scene, 0, PART_CALL, 30);
    step(scene, 0, PART_ASLEEP, 60);
    step(scene, 0, PART_NETWORK, 100);
    scene->goroutine[0].step[3].woken = 90;
    step(scene, 0, PART_RUNNING, 200);
    find(scene, &(struct request_span){0, 5, 150, 5}, 1);
    assert_us(scene, PART_RUNNING, 5 + 50);
    assert_us(scene, PART_CALL, 20);
    assert_us(scene, PART_ASLEEP, 30);
    assert_us(scene, PART_NETWORK, 30);
    assert_us(scene, PART_RUNNABLE, 10);
}

static void a_request_waits_behind_the_last_one(void **state)
{
    struct scene *scene = scene_new(state);
    step(scene, 0, PART_RUNNING, 100);
    find(scene, &(struct request_span){0, 20, 90, 60}, 1);
    assert_us(scene, PART_BEHIND, 40);
    assert_us(scene, PART_RUNNING, 30);
    /* and one that was served by others meanwhile is behind all the time */
    find(scene, &(struct request_span){0, 20, 90, 95}, 1);
    assert_us(scene, PART_BEHIND, 70);
}

/* The request's goroutine 0 waits from 10 to 100 for goroutine 1, which comes to it at 40. */
static void who_is_waited_for_is_followed(void **state)
{
    struct scene *scene = scene_new(state);
    step(scene, 0, PART_RUNNING, 10);
    waits(scene, 0, 1, 100, 110);
    step(scene, 1, PART_RUNNING, 40);
    waits(scene, 1, 0, 40, 45);
    step(scene, 1, PART_CALL, 70);
    step(scene, 1, PART_RUNNING, 120);
    find(scene, &(struct request_span){0, 0, 110, 0}, 1);
    assert_us(scene, PART_RUNNING, 10 + 30);
    assert_us(scene, PART_BEHIND, 30);
    assert_us(scene, PART_RUNNABLE, 5 + 10);
    assert_us(scene, PART_CALL, 25);
}

static void who_makes_a_goroutine_is_followed(void **state)
{
    struct scene *scene = scene_new(state);
    step(scene, 0, PART_ASLEEP, 50);
    step(scene, 0, PART_RUNNING, 100);
    made(scene, 1, 70, 0);
    step(scene, 1, PART_RUNNABLE, 80);
    step(scene, 1, PART_RUNNING, 90);
    find(scene, &(struct request_span){1, 40, 90, 0}, 1);
    assert_us(scene, PART_ASLEEP, 10);
    assert_us(scene, PART_RUNNING, 20 + 10);
    assert_us(scene, PART_RUNNABLE, 10);
    made(scene, 1, 70, REQUEST_NOBODY);
    find(scene, &(struct request_span){1, 40, 90, 0}, 1);
    assert_us(scene, PART_ASLEEP, 30);
}

/* Goroutines that wait for each other in turns, and one that waits for itself, come to an end. */
static void circles_end(void **state)
{
    struct scene *scene = scene_new(state);
    for (int64_t t = 0; t < 30; t++) {
        waits(scene, 0, 1, 10 * t + 9, 10 * t + 10);
        waits(scene, 1, 0, 10 * t + 9, 10 * t + 10);
    }
    waits(scene, 2, 2, 100, 100);
    find(scene, &(struct request_span){0, 0, 300, 0}, 1);
    find(scene, &(struct request_span){2, 0, 200, 0}, 1);
    assert_us(scene, PART_WAITING, 100); /* what is behind its end */
}

static void three_locks_have_names(void **state)
{
    struct scene *scene = scene_new(state);
    for (uint32_t lock = 0; lock < 4; lock++) {
        step(scene, 0, PART_LOCK, 10 * (lock + 1) * (lock + 2));
        scene->goroutine[0].step[lock].lock = lock;
    }
    find(scene, &(struct request_span){0, 0, 200, 0}, 1);
    assert_string_equal(scene->parts.lock[0].name, "d");
    assert_string_equal(scene->parts.lock[2].name, "b");
    assert_true(scene->parts.lock[0].us[1] == 80);
    assert_us(scene, PART_LOCK, 20);
}

/* Ten of 1000 requests make a quantile: those of 495 to 504 us make p50. */
static void quantiles_are_means_of_a_hundredth(void **state)
{
    static struct request_span spans[1000];
    struct scene *scene = scene_new(state);
    step(scene, 0, PART_RUNNING, 2000);
    for (size_t i = 0; i < 1000; i++)
        spans[i] = (struct request_span){0, 0, (int64_t)((i * 7) % 1000) + 1, 0};
    find(scene, spans, 1000);
    assert_int_equal(scene->parts.count, 1000);
    assert_true(fabs(scene->parts.latency_us[0] - 499.5) < 1e-9);
    assert_true(fabs(scene->parts.latency_us[1] - 989.5) < 1e-9);
    find(scene, spans, 0);
    assert_int_equal(scene->parts.count, 0);
}

int main(void)
{
    static struct scene scene;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(a_request_has_the_steps_of_its_goroutine, &scene),
        cmocka_unit_test_prestate(a_request_waits_behind_the_last_one, &scene),
        cmocka_unit_test_prestate(who_is_waited_for_is_followed, &scene),
        cmocka_unit_test_prestate(who_makes_a_goroutine_is_followed, &scene),
        cmocka_unit_test_prestate(circles_end, &scene),
        cmocka_unit_test_prestate(three_locks_have_names, &scene),
        cmocka_unit_test_prestate(quantiles_are_means_of_a_hundredth, &scene),
    };
    return cmocka_run_group_tests_name("request_parts", tests, NULL, NULL);
}
