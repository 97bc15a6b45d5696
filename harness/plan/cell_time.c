/* cell_time.c - see cell_time.h. */
#include "harness/plan/cell_time.h"

#include "harness/base/files.h"
#include "harness/base/json_fields.h"
#include "harness/models/machine_start.h"
#include "harness/records/sample_request.h"

#include <dirent.h>
#include <math.h>
#include <stdio.h>

enum { PATH_SIZE = 4096 };

static const char *const basis_words[] = {[CELL_TIME_RECORDS] = "records",
                                          [CELL_TIME_SETTINGS] = "settings",
                                          [CELL_TIME_LIKE] = "like",
                                          [CELL_TIME_UNKNOWN] = "unknown"};

const char *cell_time_basis_text(enum cell_time_basis basis)
{
    return basis_words[basis];
}

static void sum_add(json_t *sums, const char *cell_id, json_int_t samples, double seconds)
{
    if (samples <= 0 || !(seconds > 0))
        return;
    json_t *sum = json_object_get(sums, cell_id);
    if (!sum) {
        sum = json_pack("{si sf}", "samples", 0, "seconds", 0.0);
        json_object_set_new(sums, cell_id, sum);
    }
    json_object_set_new(sum, "samples", json_integer(field_integer(sum, "samples") + samples));
    json_object_set_new(sum, "seconds", json_real(field_number(sum, "seconds") + seconds));
}

static void sums_of_run(json_t *sums, const char *folder)
{
    char path[PATH_SIZE];
    const char *id;
    json_t *sum;
    if (snprintf(path, sizeof path, "%s/timings.json", folder) >= (int)sizeof path)
        return;
    json_t *timings = json_load_file(path, 0, NULL);
    json_object_foreach(json_object_get(timings, "cells"), id, sum)
        sum_add(sums, id, field_integer(sum, "samples"), field_number(sum, "seconds"));
    json_decref(timings);
}

static double mean_of(const json_t *sum)
{
    return sum ? field_number(sum, "seconds") / (double)field_integer(sum, "samples") : NAN;
}

static double mean_of_simulated(const struct cell_times *times, const struct plan *plan)
{
    double seconds = 0;
    size_t count = 0;
    for (size_t i = 0; i < plan->count; i++) {
        const json_t *sum = json_object_get(times->known, plan->cells[i].id);
        if (sum && machine_text_is_simulated(plan->cells[i].machine)) {
            seconds += mean_of(sum);
            count++;
        }
    }
    return count > 0 ? seconds / (double)count : NAN;
}

void cell_times_begin(struct cell_times *times, const struct sweep_file *sweep,
                      const struct plan *plan, const char *results)
{
    char path[PATH_SIZE];
    *times = (struct cell_times){.sweep = sweep, .known = json_object()};
    DIR *dir = opendir(results);
    for (const struct dirent *entry; dir && (entry = readdir(dir));)
        if (*entry->d_name != '.' &&
            snprintf(path, sizeof path, "%s/%s", results, entry->d_name) < (int)sizeof path)
            sums_of_run(times->known, path);
    if (dir)
        closedir(dir);
    times->simulated_mean = mean_of_simulated(times, plan);
}

void cell_times_take(struct cell_times *times, const struct plan *plan, const char *run)
{
    sums_of_run(times->known, run);
    times->simulated_mean = mean_of_simulated(times, plan);
}

void cell_times_end(struct cell_times *times)
{
    json_decref(times->known);
}

#define NATIVE_LEAST 0.02 /* seconds that a process takes in any case */

/* Timed calls take min_time, and untimed ones as long at most where they go on until their times
 * are level. One untimed call, the process and its checks come on top. */
static double native_seconds(const struct sweep_file *sweep)
{
    double seconds = (double)sweep->min_time_ms / 1e3 * (sweep->warmup == WARMUP_AUTO ? 2 : 1);
    return seconds > NATIVE_LEAST ? seconds : NATIVE_LEAST;
}

struct cell_time cell_times_of(const struct cell_times *times, const struct cell *cell)
{
    const json_t *sum = json_object_get(times->known, cell->id);
    if (sum)
        return (struct cell_time){mean_of(sum), CELL_TIME_RECORDS};
    if (!machine_text_is_simulated(cell->machine))
        return (struct cell_time){native_seconds(times->sweep), CELL_TIME_SETTINGS};
    return (struct cell_time){times->simulated_mean,
                              isnan(times->simulated_mean) ? CELL_TIME_UNKNOWN : CELL_TIME_LIKE};
}

bool cell_times_write(const char *folder, const struct plan *plan, struct error *error)
{
    char path[PATH_SIZE];
    json_t *sums = json_object();
    sums_of_run(sums, folder);
    for (size_t i = 0; i < plan->count; i++)
        sum_add(sums, plan->cells[i].id, plan->cells[i].processes, plan->cells[i].process_seconds);
    json_t *timings = json_pack("{so}", "cells", sums);
    snprintf(path, sizeof path, "%s/timings.json", folder);
    bool ok = file_replace_json(path, timings, error);
    json_decref(timings);
    return ok;
}
