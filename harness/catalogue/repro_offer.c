/* repro_offer.c - the questions that most come with, answered on one screen. See repro.h. */
#include "harness/base/json_fields.h"
#include "harness/base/memory.h"
#include "harness/base/units.h"
#include "harness/base/wrap.h"
#include "harness/repro/repro.h"
#include "harness/repro/repro_file.h"

#include <stdlib.h>
#include <string.h>

enum { ID_COLUMNS = 4, PLACE_COLUMNS = 20 };

/* One answer being printed. */
struct offer {
    FILE *to;
    int columns;
};

static void paragraph(const struct offer *offer, const char *text)
{
    fprintf(offer->to, "%*s", ID_COLUMNS, "");
    text_wrap(offer->to, ID_COLUMNS, ID_COLUMNS, offer->columns, text);
}

/* True if it is the ratio of a number of that kind: "throughput", a miss, or a latency. */
static bool is_ratio_of(const json_t *expectation, const char *kind)
{
    const char *metric = field_text(expectation, "metric");
    bool miss = strstr(metric, "_MISS") != NULL;
    bool latency = metric[0] == 'p' && metric[1] >= '0' && metric[1] <= '9';
    return *field_text(expectation, "over") &&
           (strcmp(kind, "miss") == 0      ? miss
            : strcmp(kind, "latency") == 0 ? latency
                                           : strcmp(metric, kind) == 0);
}

static bool is_alike(const json_t *a, const json_t *b, const char *key)
{
    return strcmp(field_text(a, key), field_text(b, key)) == 0;
}

/* The column with most workers that has a number; NULL if there is none. */
static const json_t *widest_of(const json_t *expectation)
{
    const json_t *found = NULL;
    json_each(column, json_object_get(expectation, "columns")) {
        if (*field_text(json_object_get(column, "effect"), "text"))
            found = column;
    }
    return found;
}

/* The first one of a place with a number, of the levels of `like`; like NULL: of any. NULL if there
 * is none. */
static const json_t *first_of(const json_t *place, const char *kind, const json_t *like)
{
    json_each(part, json_object_get(place, "parts")) {
        json_each(expectation, json_object_get(part, "expectations")) {
            if (is_ratio_of(expectation, kind) && widest_of(expectation) &&
                (!like ||
                 (is_alike(expectation, like, "level") && is_alike(expectation, like, "over"))))
                return expectation;
        }
    }
    return NULL;
}

/* " throughput 4.68×" or, of events, " SIM_L2_MISS 0.0887× (1.12 of 12.6)" */
static void number_print(FILE *to, const json_t *expectation, const json_t *column)
{
    const char *metric = field_text(expectation, "metric");
    const char *effect = field_text(json_object_get(column, "effect"), "text");
    fprintf(to, " %s %.*s", metric, (int)strcspn(effect, " "), effect);
    if (strstr(metric, "_MISS"))
        fprintf(to, " (%s of %s an operation)",
                text_count(field_number(json_object_get(column, "level"), "median")).s,
                text_count(field_number(json_object_get(column, "over"), "median")).s);
}

/* "native, 2     gmp over grq: throughput 4.68×, p99 1.11×", and why. */
static void place_print(const struct offer *offer, const json_t *place)
{
    static const char *const kinds[] = {"throughput", "miss", "latency"};
    const json_t *first = first_of(place, "throughput", NULL);
    if (!first)
        return;
    char *text = NULL;
    size_t told = 0;
    FILE *line = memory_stream(&text, NULL);
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        const json_t *one = first_of(place, kinds[i], first);
        if (!one)
            continue;
        if (told++ == 0)
            fprintf(line, "%s over %s:", field_text(one, "level"), field_text(one, "over"));
        else
            fputc(',', line);
        number_print(line, one, widest_of(one));
    }
    const json_t *column = widest_of(first);
    if (*field_text(column, "why"))
        fprintf(line, "; %s: %s", repro_file_slower(column), field_text(column, "why"));
    fclose(line);
    char *name = text_format("%s, %lld", repro_file_place_name(place),
                             (long long)field_integer(json_object_get(column, "level"), "workers"));
    int indent = ID_COLUMNS + PLACE_COLUMNS;
    fprintf(offer->to, "%*s%-*s", ID_COLUMNS, "", PLACE_COLUMNS, name);
    text_wrap(offer->to, indent, indent, offer->columns, text);
    free(name);
    free(text);
}

static void answer_print(const struct offer *offer, const json_t *answer)
{
    if (!answer) {
        paragraph(offer, "not measured yet");
        return;
    }
    paragraph(offer, repro_file_said(answer));
    if (*field_text(answer, "lesson"))
        paragraph(offer, field_text(answer, "lesson"));
    json_each(place, json_object_get(answer, "machines"))
        place_print(offer, place);
}

void repro_offer(FILE *to, struct experiment *const *experiments, size_t count, const char *results,
                 int columns)
{
    const struct offer offer = {to, columns};
    char folder[REPRO_PATH_SIZE];
    json_t *last = repro_last_read(results);
    json_t *reference = repro_reference_read("repro", results, folder, sizeof folder, stderr);
    for (size_t i = 0; i < count; i++) {
        const struct experiment *experiment = experiments[i];
        if (!experiment->first)
            continue;
        fprintf(to, "%-*s", ID_COLUMNS, experiment->id);
        text_wrap(to, ID_COLUMNS, ID_COLUMNS, columns, experiment->title);
        const json_t *newest = json_object_get(json_object_get(last, experiment->id), "entry");
        answer_print(&offer,
                     newest ? newest : repro_file_entry(reference, "experiments", experiment->id));
    }
    json_decref(last);
    json_decref(reference);
    fprintf(
        to,
        "\nThese are the answers so far, of the newest run here or of the reference; after each "
        "machine stands\nthe number of workers. `schedlab repro D1 --quick` measures one, "
        "`schedlab repro --quick` all %zu\nexperiments. --list names them, and --explain D1 has "
        "the reasoning and the sources.\n",
        count);
}
