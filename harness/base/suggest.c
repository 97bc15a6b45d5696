/* suggest.c - see suggest.h. Optimal string alignment over three rows of the distance matrix. */
#include "harness/base/suggest.h"

#include <ctype.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

enum { LENGTH_MAX = 255, ABBREVIATION_MIN = 2 };

static size_t length_of(const char *text)
{
    return strnlen(text, LENGTH_MAX);
}

static int lower(char c)
{
    return tolower((unsigned char)c);
}

static uint16_t least(uint16_t a, uint16_t b, uint16_t c)
{
    uint16_t ab = a < b ? a : b;
    return ab < c ? ab : c;
}

size_t suggest_distance(const char *a, const char *b)
{
    uint16_t rows[3][LENGTH_MAX + 1];
    uint16_t *before = rows[0], *above = rows[1], *row = rows[2];
    size_t a_length = length_of(a), b_length = length_of(b);
    for (size_t j = 0; j <= b_length; j++)
        row[j] = (uint16_t)j;
    for (size_t i = 1; i <= a_length; i++) {
        uint16_t *recycled = before;
        before = above;
        above = row;
        row = recycled;
        row[0] = (uint16_t)i;
        for (size_t j = 1; j <= b_length; j++) {
            uint16_t change = lower(a[i - 1]) != lower(b[j - 1]);
            row[j] = least((uint16_t)(above[j] + 1), (uint16_t)(row[j - 1] + 1),
                           (uint16_t)(above[j - 1] + change));
            if (i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) &&
                lower(a[i - 2]) == lower(b[j - 1]) && before[j - 2] + 1 < row[j])
                row[j] = (uint16_t)(before[j - 2] + 1);
        }
    }
    return row[b_length];
}

/* The same where the distance is known. */
static bool is_near(const char *a, const char *b, size_t distance)
{
    size_t a_length = length_of(a), b_length = length_of(b);
    size_t shorter = a_length < b_length ? a_length : b_length;
    size_t longer = a_length < b_length ? b_length : a_length;
    if (shorter >= ABBREVIATION_MIN && shorter * 3 >= longer && strncasecmp(a, b, shorter) == 0)
        return true;
    return distance <= (longer + 1) / 3;
}

bool suggest_is_near(const char *a, const char *b)
{
    return is_near(a, b, suggest_distance(a, b));
}

struct suggest suggest_for(const char *word)
{
    return (struct suggest){.word = word, .best = NULL, .distance = SIZE_MAX};
}

/* True if a candidate at that distance is better than the best one so far. */
static bool is_better(const struct suggest *suggest, const char *candidate, size_t distance,
                      bool *near)
{
    *near = is_near(suggest->word, candidate, distance);
    return *near > suggest->near || (*near == suggest->near && distance < suggest->distance);
}

void suggest_offer(struct suggest *suggest, const char *candidate)
{
    bool near;
    size_t a = length_of(suggest->word), b = length_of(candidate);
    if (suggest->count < SUGGEST_LISTED_MAX)
        suggest->listed[suggest->count] = candidate;
    suggest->count++;
    /* Most offers are in vain, for the word is valid: the lengths alone tell most of them. */
    if (!is_better(suggest, candidate, a < b ? b - a : a - b, &near))
        return;
    size_t distance = suggest_distance(suggest->word, candidate);
    if (!is_better(suggest, candidate, distance, &near))
        return;
    suggest->best = candidate;
    suggest->distance = distance;
    suggest->near = near;
}

struct advice suggest_text(const struct suggest *suggest, const char *mark, const char *where)
{
    struct advice text = {""};
    size_t length = 0, size = sizeof text.s;
    if (suggest->near) {
        snprintf(text.s, size, "the nearest is \"%s%s\"", mark, suggest->best);
        return text;
    }
    for (size_t i = 0; i < suggest->count && i < SUGGEST_LISTED_MAX && length < size; i++)
        length += (size_t)snprintf(text.s + length, size - length, "%s%s%s",
                                   i ? ", " : "valid: ", mark, suggest->listed[i]);
    if (suggest->count > SUGGEST_LISTED_MAX && length < size)
        snprintf(text.s + length, size - length, " and %zu more, see %s",
                 suggest->count - SUGGEST_LISTED_MAX, where);
    return text;
}
