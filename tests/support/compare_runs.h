/* compare_runs.h - two made-up runs, a and b, in a folder of their own, and how they compare.
 *
 * Callers: test_compare.c and test_compare_distances.c.
 */
#ifndef SCHEDLAB_TESTS_COMPARE_RUNS_H
#define SCHEDLAB_TESTS_COMPARE_RUNS_H

#include "harness/base/error.h"
#include "harness/tables/compare.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

enum { PATH_SIZE = 256, SAMPLES = 7 };

static const struct compare_options usual = {.alpha = 0.05, .min_effect = 0, .seed = 1};

/* Runs ----------------------------------------------------------------------------------------- */

static char folder[64];

static inline int folder_make(void **state)
{
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/test_compare.XXXXXX");
    return mkdtemp(folder) ? 0 : -1;
}

static inline void path_of(char path[PATH_SIZE], const char *run, const char *file)
{
    snprintf(path, PATH_SIZE, "%s/%s/%s", folder, run, file);
}

static inline int folder_remove(void **state)
{
    (void)state;
    static const char *const files[] = {"samples.jsonl", "environment.json", ""};
    char path[PATH_SIZE];
    for (int run = 0; run < 2; run++) {
        for (int i = 0; i < 3; i++) {
            path_of(path, run ? "b" : "a", files[i]);
            remove(path);
        }
    }
    return rmdir(folder);
}

static inline FILE *run_open(const char *run, const char *environment)
{
    char path[PATH_SIZE];
    path_of(path, run, "");
    mkdir(path, 0777);
    path_of(path, run, "environment.json");
    remove(path);
    if (environment) {
        FILE *to = fopen(path, "w");
        fputs(environment, to);
        fclose(to);
    }
    path_of(path, run, "samples.jsonl");
    return fopen(path, "w");
}

/* SAMPLES samples at first, first + step, ...; more is further JSON, from a comma on. */
static inline void cell(FILE *to, const char *variant, const char *workload, int workers,
                        double first, double step, const char *more)
{
    for (int i = 0; i < SAMPLES; i++)
        fprintf(
            to,
            "{\"schema\":2,\"cell\":\"%s.%s.%d\",\"variant\":\"%s\",\"variant_name\":\"%.*s\","
            "\"workload\":"
            "\"%s\",\"workload_name\":\"%.*s\",\"workers\":%d,\"machine\":\"native\",\"seed\":1,"
            "\"groups\":[\"g\"],\"knobs\":{\"tick\":%s},\"status\":\"ok\",\"digest\":\"1\","
            "\"answer\":\"1\",\"throughput\":%g%s}\n",
            variant, workload, workers, variant, (int)strcspn(variant, ","), variant, workload,
            (int)strcspn(workload, ","), workload, workers,
            strstr(variant, "tick=") ? strstr(variant, "tick=") + 5 : "61", first + i * step, more);
}

static inline struct compare_side side(const char *text)
{
    struct compare_side loaded;
    char full[PATH_SIZE];
    struct error error = {0};
    snprintf(full, sizeof full, "%s/%s", folder, text);
    if (!compare_side_load(&loaded, full, &error))
        fail_msg("%s", error.text);
    return loaded;
}

struct both {
    struct compare_side a, b;
    struct comparison comparison;
};

static inline struct both *compare_with(const char *a, const char *b,
                                        const struct compare_options *options)
{
    struct both *both = calloc(1, sizeof *both);
    struct error error = {0};
    both->a = side(a);
    both->b = side(b);
    if (!compare_sides_pair(&both->a, &both->b, false, &error))
        fail_msg("%s", error.text);
    compare_make(&both->comparison, &both->a, &both->b, options);
    return both;
}

static inline struct both *compare(const char *a, const char *b)
{
    return compare_with(a, b, &usual);
}

static inline void both_free(struct both *both)
{
    compare_free(&both->comparison);
    compare_side_free(&both->a);
    compare_side_free(&both->b);
    free(both);
}

#endif
