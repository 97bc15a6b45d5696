/* waits.c - see waits.h. */
#include "harness/programs/waits.h"

#include <stdio.h>
#include <string.h>

static void place_count(struct import_facts *facts, const char *word, const char *function,
                        int64_t ns)
{
    size_t at = 0;
    while (at < facts->places_count && (strcmp(facts->places[at].word, word) != 0 ||
                                        strcmp(facts->places[at].function, function) != 0))
        at++;
    if (at >= IMPORT_PLACES_MAX - 1) {
        at = IMPORT_PLACES_MAX - 1;
        word = function = "others";
    }
    struct import_place *place = &facts->places[at];
    snprintf(place->word, sizeof place->word, "%s", word);
    snprintf(place->function, sizeof place->function, "%s", function);
    facts->places_count = at >= facts->places_count ? at + 1 : facts->places_count;
    place->count++;
    place->ns += ns;
}

void waits_count(struct import_facts *facts, const char *word, const char *function, int64_t ns)
{
    size_t at = 0;
    while (at < facts->reasons_count && strcmp(facts->reasons[at].word, word) != 0)
        at++;
    if (at == IMPORT_REASONS_MAX)
        return;
    if (at == facts->reasons_count) {
        snprintf(facts->reasons[at].word, IMPORT_REASON_SIZE, "%s", word);
        facts->reasons_count++;
    }
    facts->reasons[at].count++;
    facts->reasons[at].ns += ns;
    place_count(facts, word, function, ns);
}
