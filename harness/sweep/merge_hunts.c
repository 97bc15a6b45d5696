/* merge_hunts.c - see merge_hunts() in merge.h. */
#include "harness/sweep/merge.h"

#include "harness/base/json_fields.h"
#include "harness/base/memory.h"
#include "harness/records/hunt_log.h"
#include "harness/records/run_folder.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static int integers_compare(json_int_t a, json_int_t b)
{
    return (a > b) - (a < b);
}

/* By seed, number and cell. */
static int parts_compare(const void *left, const void *right)
{
    static const char *const texts[] = {HUNT_LOG_CELL_TEXTS};
    const json_t *a = *(json_t *const *)left, *b = *(json_t *const *)right;
    int order = integers_compare(field_integer(a, "seed"), field_integer(b, "seed"));
    if (order == 0)
        order = integers_compare(field_integer(a, "from"), field_integer(b, "from"));
    for (size_t i = 0; order == 0 && i < sizeof texts / sizeof texts[0]; i++)
        order = strcmp(field_text(a, texts[i]), field_text(b, texts[i]));
    return order;
}

/* Two of one program do the same work, but not in the same time. */
static bool parts_agree(const json_t *a, const json_t *b)
{
    json_t *first = json_copy((json_t *)(uintptr_t)a), *second = json_copy((json_t *)(uintptr_t)b);
    json_object_del(first, "seconds");
    json_object_del(second, "seconds");
    bool same = json_equal(first, second);
    json_decref(first);
    json_decref(second);
    return same;
}

static bool headers_agree(const struct merge *merge, size_t run, const json_t *first,
                          const json_t *other, struct error *error)
{
    static const char *const keys[] = {"program", "executions", "depth", "coverage", "cells"};
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        const json_t *a = json_object_get(first, keys[i]), *b = json_object_get(other, keys[i]);
        if (a == b || json_equal(a, b)) /* a == b: neither has it */
            continue;
        return error_set(error, "%s and %s are of different campaigns: %s", merge->runs[0],
                         merge->runs[run], keys[i]);
    }
    return true;
}

static void seeds_add(json_t *seeds, const json_t *more)
{
    json_each(seed, more) {
        size_t at = 0;
        while (at < json_array_size(seeds) &&
               json_integer_value(json_array_get(seeds, at)) < json_integer_value(seed))
            at++;
        if (!json_equal(json_array_get(seeds, at), seed))
            json_array_insert(seeds, at, seed);
    }
}

/* Adds what `all` lacks. False if the two do not agree on a part. */
static bool log_join(struct merge *merge, size_t run, json_t *all, const struct hunt_log *log,
                     struct error *error)
{
    const char *key;
    json_t *part;
    json_object_foreach(log->known, key, part)
    {
        json_t *has = json_object_get(all, key);
        merge->repeated += has != NULL;
        if (!has) {
            json_object_set(all, key, part);
        } else if (!parts_agree(has, part))
            return error_set(error, "%s has other executions than the runs before it: %s",
                             merge->runs[run], key);
    }
    return true;
}

/* Joins the parts in `all`. Returns the header with all seeds; NULL if they do not fit together. */
static json_t *logs_join(struct merge *merge, json_t *all, struct error *error)
{
    json_t *header = NULL;
    bool good = true;
    for (size_t i = 0; good && i < merge->count; i++) {
        struct hunt_log log;
        good = hunt_log_open(&log, merge->runs[i], false, error);
        if (good && header)
            good = headers_agree(merge, i, header, log.header, error);
        else if (good)
            header = json_deep_copy(log.header);
        if (good) {
            seeds_add(json_object_get(header, "seeds"), json_object_get(log.header, "seeds"));
            good = log_join(merge, i, all, &log, error);
        }
        hunt_log_close(&log);
    }
    if (!good)
        json_decref(header);
    return good ? header : NULL;
}

/* Takes the header. */
static bool log_write(const struct merge *merge, json_t *header, json_t *all, struct error *error)
{
    struct hunt_log log;
    const char *key;
    json_t *part;
    size_t count = 0;
    json_t **parts = xcalloc(json_object_size(all) + 1, sizeof *parts);
    json_object_foreach(all, key, part) parts[count++] = part;
    qsort(parts, count, sizeof *parts, parts_compare);
    bool good = hunt_log_create(&log, merge->out, header, error);
    log.file.safe_elsewhere = true;
    for (size_t i = 0; good && i < count; i++)
        good = hunt_log_add(&log, json_incref(parts[i]), error);
    hunt_log_close(&log);
    free(parts);
    return good;
}

enum merge_result merge_hunts(struct merge *merge, struct error *error)
{
    json_t *all = json_object(), *header = logs_join(merge, all, error);
    enum merge_result result = header ? MERGE_DONE : MERGE_REFUSED;
    merge->samples = json_object_size(all);
    if (header && mkdir(merge->out, 0777) < 0) {
        error_print(error, "cannot make the folder %s: %s", merge->out, strerror(errno));
        json_decref(header);
        result = errno == EEXIST ? MERGE_REFUSED : MERGE_FAILED;
    } else if (header && !log_write(merge, header, all, error)) {
        run_folder_remove(merge->out);
        result = MERGE_FAILED;
    }
    json_decref(all);
    return result;
}
