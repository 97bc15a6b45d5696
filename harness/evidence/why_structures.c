/* why_structures.c - see why_structures.h. */
#include "harness/evidence/why_structures.h"

#include "harness/base/json_fields.h"
#include "harness/base/memory.h"
#include "harness/numbers/units.h"
#include "harness/records/records.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LEVELS = 3, TOLD_MAX = 3 };

static const double TOLD_SHARE = 0.9;

static double sum_of(const json_t *kinds)
{
    double sum = 0;
    const char *kind;
    json_t *value;
    json_object_foreach((json_t *)kinds, kind, value) sum += json_number_value(value);
    return sum;
}

/* With the numbers of the whole sample, not yet per operation. */
static void structure_add(struct why_structure *to, const json_t *from)
{
    static const char *const levels[LEVELS] = {"l1", "l2", "l3"};
    const json_t *misses = json_object_get(from, "misses");
    for (int level = 0; level < LEVELS; level++)
        to->misses[level] += sum_of(json_object_get(misses, levels[level]));
    const json_t *l1 = json_object_get(misses, "l1");
    to->true_sharing += json_number_value(json_object_get(l1, "true_sharing"));
    to->false_sharing += json_number_value(json_object_get(l1, "false_sharing"));
    to->upgrades += json_number_value(json_object_get(from, "upgrades"));
    to->stall_ns += json_number_value(json_object_get(from, "stall_ns"));
}

static struct why_structure *structure_of(struct why_structure **list, size_t *count,
                                          const char *name)
{
    for (size_t i = 0; i < *count; i++)
        if (strcmp((*list)[i].name, name) == 0)
            return &(*list)[i];
    array_add(*list, *count) = (struct why_structure){.name = name};
    return &(*list)[*count - 1];
}

static int by_stall(const void *a, const void *b)
{
    const struct why_structure *one = a, *other = b;
    if (one->stall_ns != other->stall_ns)
        return one->stall_ns > other->stall_ns ? -1 : 1;
    return strcmp(one->name, other->name);
}

static void divide(struct why_structure *structure, double ops)
{
    for (int level = 0; level < LEVELS; level++)
        structure->misses[level] /= ops;
    structure->true_sharing /= ops;
    structure->false_sharing /= ops;
    structure->upgrades /= ops;
    structure->stall_ns /= ops;
}

size_t why_structures(const json_t *records, struct why_structure **list, double *total_ns)
{
    size_t i, count = 0;
    double ops = 0;
    json_t *record;
    *list = NULL;
    *total_ns = 0;
    json_array_foreach(records, i, record)
    {
        if (!record_is(record, "ok") || !json_object_get(record, "structures"))
            continue;
        ops += field_number(record, "ops");
        json_each(structure, json_object_get(record, "structures"))
            structure_add(structure_of(list, &count, field_text(structure, "name")), structure);
    }
    for (i = 0; i < count && ops > 0; i++) {
        divide(&(*list)[i], ops);
        *total_ns += (*list)[i].stall_ns;
    }
    if (count > 0)
        qsort(*list, count, sizeof **list, by_stall);
    return count;
}

static int by_l1(const void *a, const void *b)
{
    const struct why_structure *one = a, *other = b;
    if (one->misses[0] != other->misses[0])
        return one->misses[0] > other->misses[0] ? -1 : 1;
    return strcmp(one->name, other->name);
}

/* The structures of `more` with the misses of that level that `fewer` lacks as those of L1, the
 * most first; *all: of all structures. */
static size_t differences(const json_t *fewer, const json_t *more, int level,
                          struct why_structure **list, double *all)
{
    double unused;
    struct why_structure *less;
    size_t count = why_structures(more, list, &unused);
    size_t less_count = why_structures(fewer, &less, &unused);
    *all = 0;
    for (size_t i = 0; i < count; i++)
        *all += (*list)[i].misses[0] = (*list)[i].misses[level];
    for (size_t i = 0; i < less_count; i++) {
        *all -= less[i].misses[level];
        structure_of(list, &count, less[i].name)->misses[0] -= less[i].misses[level];
    }
    free(less);
    if (count > 0)
        qsort(*list, count, sizeof **list, by_l1);
    return less_count > 0 ? count : 0;
}

char *why_misses_of(const json_t *fewer, const json_t *more, int level)
{
    double all, told = 0;
    struct why_structure *list;
    size_t count = differences(fewer, more, level, &list, &all);
    char *text = NULL;
    if (count > 0 && all > 0) {
        FILE *to = memory_stream(&text, NULL);
        fprintf(to, "%s more misses an operation", text_count(all).s);
        for (size_t i = 0; i < count && i < TOLD_MAX && told < TOLD_SHARE * all; i++) {
            fprintf(to, "%s %s on %s", i > 0 ? "," : ":", text_count(list[i].misses[0]).s,
                    list[i].name);
            told += list[i].misses[0];
        }
        fclose(to);
    }
    free(list);
    return text;
}
