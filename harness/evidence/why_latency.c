/* why_latency.c - see why_latency.h. */
#include "harness/evidence/why_latency.h"

#include "harness/base/json_fields.h"
#include "harness/base/memory.h"
#include "harness/evidence/why_counts.h"
#include "harness/numbers/units.h"
#include "harness/records/records.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A sentence names so much of what is longer, in so many parts of at least so much of the whole. */
static const double SHARE_TOLD = 0.9, SHARE_MIN = 0.1;
enum { PARTS_TOLD = 3 };

/* The quantiles whose parts are told, and how near another one is the same. */
static const double MEDIAN = 0.5, TAIL = 0.99, ALIKE = 1e-9;

/* A part of the requests of the longer cell less that of the shorter one, in us. */
struct part {
    const char *name; /* of the records */
    double more_us;
};

struct parts {
    struct part *of;
    size_t count;
    double all_us;
};

static void part_add(struct parts *parts, const char *name, double us)
{
    size_t i = 0;
    while (i < parts->count && strcmp(parts->of[i].name, name) != 0)
        i++;
    if (i == parts->count)
        array_add(parts->of, parts->count) = (struct part){.name = name};
    parts->of[i].more_us += us;
}

static const json_t *parts_of(const json_t *record)
{
    return record_is(record, "ok")
               ? json_object_get(json_object_get(record, "request_parts"), "parts")
               : NULL;
}

/* Adds the means over the samples, times the sign. False if none of them tells. */
static bool parts_add(struct parts *parts, const json_t *records, const char *key, double sign)
{
    double told = 0;
    json_each(record, records)
        told += parts_of(record) != NULL;
    json_each(sample, records) {
        json_each(row, parts_of(sample)) {
            double us = sign * field_number(row, key) / told;
            part_add(parts, field_text(row, "part"), us);
            parts->all_us += us;
        }
    }
    return told > 0;
}

static int by_more(const void *a, const void *b)
{
    const struct part *one = a, *other = b;
    if (one->more_us != other->more_us)
        return one->more_us > other->more_us ? -1 : 1;
    return strcmp(one->name, other->name);
}

/* The largest of the parts that are longer (sign 1) or shorter (-1), up to nine tenths of these. */
static void parts_print(FILE *to, const struct parts *parts, int sign)
{
    double all_us = 0, told_us = 0;
    for (size_t i = 0; i < parts->count; i++)
        all_us += fmax(sign * parts->of[i].more_us, 0);
    for (size_t i = 0; i < parts->count && i < PARTS_TOLD; i++) {
        const struct part *part = &parts->of[sign > 0 ? i : parts->count - 1 - i];
        double us = sign * part->more_us;
        if (told_us >= SHARE_TOLD * all_us || us < SHARE_MIN * parts->all_us)
            break;
        fprintf(to, "%s %s%s %s", sign < 0 || i > 0 ? "," : ":", sign < 0 ? "less " : "",
                text_time(us * 1e3).s, part->name);
        told_us += us;
    }
}

static char *text_of(const struct parts *parts, const char *at, bool elsewhere)
{
    char *text = NULL;
    FILE *to = memory_stream(&text, NULL);
    struct text longer = text_time(parts->all_us * 1e3);
    if (elsewhere)
        fprintf(to, "at %s, whose parts are known, %s longer", at, longer.s);
    else
        fprintf(to, "%s longer at %s", longer.s, at);
    parts_print(to, parts, 1);
    parts_print(to, parts, -1);
    fclose(to);
    return text;
}

char *why_latency_of(double quantile, const json_t *shorter, const json_t *longer)
{
    bool tail = quantile > MEDIAN;
    struct parts parts = {.count = 0};
    const char *key = tail ? "p99_us" : "p50_us", *at = tail ? "p99" : "p50";
    bool told = parts_add(&parts, longer, key, 1) && parts_add(&parts, shorter, key, -1);
    if (parts.count > 0)
        qsort(parts.of, parts.count, sizeof *parts.of, by_more);
    char *text = NULL, *counts = NULL;
    if (told && parts.all_us > 0)
        text = text_of(&parts, at, fabs(quantile - (tail ? TAIL : MEDIAN)) > ALIKE);
    else if ((counts = why_counts_differ(shorter, longer)))
        text =
            told ? text_format("requests take no longer at %s; %s", at, counts) : xstrdup(counts);
    free(counts);
    free(parts.of);
    return text;
}
