/* cell_regimes.c - a cell whose samples are of two regimes, and what tells these apart. See
 * cell_remarks.h. */
#include "harness/base/json_fields.h"
#include "harness/base/memory.h"
#include "harness/base/text.h"
#include "harness/counters/counter_names.h"
#include "harness/evidence/cell_remarks.h"
#include "harness/evidence/comparable.h"
#include "harness/numbers/statistics.h"
#include "harness/numbers/units.h"
#include "harness/records/records.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TOLD_MAX = 2 };

/* The samples that are asked, and the regime of each. */
struct sides {
    const json_t **records;
    double *throughputs;
    size_t count;
    struct regimes regimes;
};

/* A number that tells the regimes apart: all of one side's are larger than all of the other's. */
struct teller {
    const char *name; /* of the records */
    double low, high; /* means */
};

static bool is_asked(const struct comparable *classes, enum cell_class chosen, const json_t *record)
{
    return record_is(record, "ok") && field_number(record, "throughput") > 0 &&
           class_holds(chosen, comparable_distance(classes, record), comparable_is_marked(record));
}

static bool sides_find(struct sides *sides, const json_t *records)
{
    struct comparable classes;
    struct class_counts counts = {.held = {0}};
    size_t all = json_array_size(records);
    comparable_learn(&classes, records);
    json_each(record, records) {
        if (record_is(record, "ok"))
            class_count_add(&counts, comparable_distance(&classes, record),
                            comparable_is_marked(record));
    }
    enum cell_class chosen = class_of_cell(&counts, classes.common);
    *sides = (struct sides){.records = xcalloc(all + 1, sizeof *sides->records),
                            .throughputs = xcalloc(all + 1, sizeof *sides->throughputs)};
    json_each(sample, records) {
        if (!is_asked(&classes, chosen, sample))
            continue;
        sides->records[sides->count] = sample;
        sides->throughputs[sides->count++] = field_number(sample, "throughput");
    }
    return statistics_regimes(sides->throughputs, sides->count, &sides->regimes);
}

static void sides_free(struct sides *sides)
{
    free(sides->records);
    free(sides->throughputs);
}

/* Numbers of one side so far. */
struct extent {
    double least, most, sum;
    size_t count;
};

static void extent_add(struct extent *extent, double value)
{
    bool first = extent->count++ == 0;
    extent->least = first ? value : fmin(extent->least, value);
    extent->most = first ? value : fmax(extent->most, value);
    extent->sum += value;
}

/* False if the event does not tell the sides apart, or was not counted in each sample. */
static bool teller_make(struct teller *teller, const struct sides *sides, const char *name)
{
    struct extent of[2] = {{.count = 0}};
    for (size_t i = 0; i < sides->count; i++) {
        double value = record_event_value(record_event(sides->records[i], name));
        if (isnan(value))
            return false;
        extent_add(&of[sides->throughputs[i] > sides->regimes.border], value);
    }
    *teller =
        (struct teller){name, of[0].sum / (double)of[0].count, of[1].sum / (double)of[1].count};
    return of[0].least > of[1].most || of[1].least > of[0].most;
}

/* How far the two means are apart, as a factor; a zero beside another number is further. */
static double factor_of(const struct teller *teller)
{
    double least = fmin(teller->low, teller->high), most = fmax(teller->low, teller->high);
    return least > 0 ? most / least : INFINITY;
}

/* The events that tell the sides apart best, without that of the values; how many, TOLD_MAX at
 * most. */
static size_t tellers_find(const struct sides *sides, const char *values,
                           struct teller tellers[TOLD_MAX])
{
    size_t count = 0;
    json_each(event, json_object_get(sides->records[0], "events")) {
        struct teller one;
        const char *name = field_text(event, "name");
        if (strcmp(counter_short_name(name), counter_short_name(values)) == 0 ||
            !teller_make(&one, sides, name))
            continue;
        size_t at = count;
        while (at > 0 && factor_of(&one) > factor_of(&tellers[at - 1]))
            at--;
        if (at == TOLD_MAX)
            continue;
        if (count < TOLD_MAX)
            count++;
        memmove(&tellers[at + 1], &tellers[at], (count - 1 - at) * sizeof *tellers);
        tellers[at] = one;
    }
    return count;
}

void cell_regimes_differ(const json_t **records, double *values, size_t count,
                         const struct regimes *regimes, const char *name,
                         char text[CELL_REMARK_SIZE])
{
    struct sides sides = {records, values, count, *regimes};
    struct teller tellers[TOLD_MAX];
    size_t found = tellers_find(&sides, name, tellers);
    text[0] = '\0';
    for (size_t i = 0; i < found; i++)
        text_add(text, CELL_REMARK_SIZE, "%s%.60s %.3g and %.3g", i ? ", " : "",
                 counter_short_name(tellers[i].name), tellers[i].low, tellers[i].high);
}

bool cell_remark_regimes(const json_t *records, char text[CELL_REMARK_SIZE])
{
    struct sides sides;
    char differ[CELL_REMARK_SIZE];
    bool found = sides_find(&sides, records);
    text[0] = '\0';
    if (found) {
        const struct regimes *regimes = &sides.regimes;
        snprintf(text, CELL_REMARK_SIZE,
                 "two regimes: %zu of %s at %s/s, %zu at %s/s, so what the median is "
                 "of depends on which one was met",
                 regimes->low, counted(sides.count, "sample").s, text_si(regimes->low_median).s,
                 regimes->high, text_si(regimes->high_median).s);
        cell_regimes_differ(sides.records, sides.throughputs, sides.count, regimes, "throughput",
                            differ);
        if (*differ)
            text_add(text, CELL_REMARK_SIZE, "; they differ in %s", differ);
    }
    sides_free(&sides);
    return found;
}
