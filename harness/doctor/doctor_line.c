/* doctor_line.c - see doctor.h: how far each pair of cores is from each other. */
#include "harness/doctor/doctor_internal.h"

#include "harness/base/memory.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A factor between pairs from which on it matters which of them a run gets; and a round trip that
 * cores of one cache do not need. */
static const double SPREAD = 1.5;
static const double FAR_NS = 200;

static int ns_compare(const void *a_void, const void *b_void)
{
    const struct doctor_line *a = a_void, *b = b_void;
    return (a->ns > b->ns) - (a->ns < b->ns);
}

/* 0, or -errno of a pair that could not be measured. */
static int lines_measure(struct look *look)
{
    const struct doctor_request *request = look->request;
    struct doctor *doctor = look->doctor;
    int cores =
        request->cpus_count < request->line_cores ? request->cpus_count : request->line_cores;
    int error = 0;
    doctor->lines = xcalloc((size_t)(cores * (cores - 1) / 2), sizeof *doctor->lines);
    for (int a = 0; a < cores; a++) {
        for (int b = a + 1; b < cores; b++) {
            struct doctor_line line = {request->cpus[a], request->cpus[b], 0};
            int failed = request->machine->line(line.cpu_a, line.cpu_b, &line.ns);
            if (failed == 0)
                doctor->lines[doctor->lines_count++] = line;
            else if (failed == -ETIMEDOUT)
                return failed; /* others hold the cores, and each further try would wait for them */
            else if (error == 0)
                error = failed;
        }
    }
    return error;
}

static void lines_judge(struct look *look, const char *why)
{
    const struct doctor *doctor = look->doctor;
    size_t n = doctor->lines_count;
    struct doctor_line *sorted = xmalloc(n * sizeof *sorted);
    char change[96];
    memcpy(sorted, doctor->lines, n * sizeof *sorted);
    qsort(sorted, n, sizeof *sorted, ns_compare);
    const struct doctor_line *near = &sorted[0], *far = &sorted[n - 1];
    snprintf(change, sizeof change, "taskset -c %d,%d schedlab ... takes the nearest pair",
             near->cpu_a, near->cpu_b);
    if (n == 1)
        look_add(look, "lines", near->ns >= FAR_NS ? DOCTOR_NOTE : DOCTOR_OK, why, NULL,
                 "cores %d and %d: a round trip of a cache line takes %.0f ns", near->cpu_a,
                 near->cpu_b, near->ns);
    else
        look_add(look, "lines",
                 far->ns >= FAR_NS || far->ns >= SPREAD * near->ns ? DOCTOR_NOTE : DOCTOR_OK, why,
                 far->ns >= SPREAD * near->ns ? change : NULL,
                 "%zu pairs: a round trip of a cache line takes %.0f ns (cores %d and %d) to %.0f "
                 "ns (%d and %d), median %.0f",
                 n, near->ns, near->cpu_a, near->cpu_b, far->ns, far->cpu_a, far->cpu_b,
                 (sorted[(n - 1) / 2].ns + sorted[n / 2].ns) / 2);
    free(sorted);
}

void look_at_lines(struct look *look)
{
    static const char why[] = "workers that talk are as slow as the way between their cores; on "
                              "virtual machines it changes with time";
    const struct doctor_request *request = look->request;
    if (request->cpus_count < 2) {
        look_add(look, "lines", DOCTOR_UNKNOWN, why, NULL, "there are fewer than two usable cores");
        return;
    }
    if (request->line_cores < 2)
        return;
    int error = lines_measure(look);
    if (look->doctor->lines_count == 0)
        look_add(look, "lines", DOCTOR_UNKNOWN, why, NULL, "no pair could be measured: %s",
                 strerror(-error));
    else
        lines_judge(look, why);
}
