/* repro_offer.c - the questions that most come with, answered on one screen. See repro.h.
 *
 * A question has its verdict, its lesson, and a line or two for each machine. There stand the
 * throughputs, the misses and the tail of two designs, beside each other. The claims that decided
 * follow, and what takes more time in the slower one.
 */
#include "harness/base/json_fields.h"
#include "harness/base/memory.h"
#include "harness/base/wrap.h"
#include "harness/numbers/units.h"
#include "harness/repro/repro.h"
#include "harness/repro/repro_file.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ID_COLUMNS = 4, PLACE_COLUMNS = 18, WHY_PARTS = 2, WIDE = 4 };

/* One answer being printed. */
struct offer {
    FILE *to;
    int columns;
    const json_t *sides; /* an expectation of the two designs that its numbers are about; NULL: none
                          * is measured */
};

/* The numbers of a place on their way. */
struct place_line {
    FILE *to;
    const json_t *place, *lead; /* lead: the expectation that tells the number of workers */
    size_t told;
};

static void paragraph(const struct offer *offer, const char *text)
{
    fprintf(offer->to, "%*s", ID_COLUMNS, "");
    text_wrap(offer->to, ID_COLUMNS, ID_COLUMNS, offer->columns, text);
}

/* Expectations --------------------------------------------------------------------------------- */

/* True if it is the ratio of a number of that kind: "throughput", a miss, or a latency. */
static bool is_ratio_of(const json_t *expectation, const char *kind)
{
    const char *metric = field_text(expectation, "metric");
    bool latency = metric[0] == 'p' && metric[1] >= '0' && metric[1] <= '9';
    return *field_text(expectation, "over") &&
           (strcmp(kind, "miss") == 0      ? repro_file_is_of_misses(expectation)
            : strcmp(kind, "latency") == 0 ? latency
                                           : strcmp(metric, kind) == 0);
}

static bool is_alike(const json_t *a, const json_t *b)
{
    return strcmp(field_text(a, "level"), field_text(b, "level")) == 0 &&
           strcmp(field_text(a, "over"), field_text(b, "over")) == 0;
}

static const char *effect_of(const json_t *column)
{
    return field_text(json_object_get(column, "effect"), "text");
}

static json_int_t workers_of(const json_t *column)
{
    return field_integer(json_object_get(column, "level"), "workers");
}

/* The column with most workers that has a number; NULL if there is none. */
static const json_t *widest_of(const json_t *expectation)
{
    const json_t *found = NULL;
    json_each(column, json_object_get(expectation, "columns")) {
        if (*effect_of(column))
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
                (!like || is_alike(expectation, like)))
                return expectation;
        }
    }
    return NULL;
}

/* The ratio of throughputs that stands for the place, else the claim that says most there. */
static const json_t *lead_of(const json_t *place)
{
    const json_t *part, *first = first_of(place, "throughput", NULL);
    return first ? first : repro_file_main(place, &part);
}

/* Numbers -------------------------------------------------------------------------------------- */

static bool is_with_workers(const json_t *expectation, json_int_t workers)
{
    json_each(column, json_object_get(expectation, "columns")) {
        if (workers_of(column) == workers)
            return true;
    }
    return false;
}

/* True if the number decides nothing, may be twice or half of what it is, or is of two regimes. */
static bool is_vague(const json_t *column)
{
    const json_t *effect = json_object_get(column, "effect");
    double lo = field_number(effect, "lo"), hi = field_number(effect, "hi");
    return verdict_of_text(field_text(column, "verdict")) == VERDICT_UNDECIDED ||
           json_object_get(column, "regimes") || (isfinite(lo) && isfinite(hi) && hi > WIDE * lo);
}

/* " 0.44x and 0.55x?", without intervals, the second vague: for each number of workers that the
 * place is about. */
static void effects_put(const struct place_line *line, const json_t *expectation)
{
    const char *before = "";
    bool was_vague = false;
    const json_t *widest = widest_of(expectation);
    bool any = widest && is_with_workers(line->lead, workers_of(widest));
    json_each(column, json_object_get(expectation, "columns")) {
        const char *text = effect_of(column), *interval = strstr(text, " (");
        int length = (int)(interval ? interval - text : (long)strlen(text));
        bool meant = any ? is_with_workers(line->lead, workers_of(column)) : column == widest;
        bool vague = is_vague(column);
        bool same = strncmp(text, before, (size_t)length + 1) == 0 && vague == was_vague;
        if (!*text || !meant || same)
            continue;
        fprintf(line->to, "%s%.*s%s", *before ? " and " : " ", length, text, vague ? "?" : "");
        before = text;
        was_vague = vague;
    }
}

/* The verdict of a claim that does not hold; of one that is about the same run twice, that. */
static const char *open_of(const json_t *expectation)
{
    const char *lacks = field_text(repro_file_decisive(expectation), "lacks");
    return strcmp(lacks, verdict_lack_text(LACK_SAME)) == 0 ? "both sides are the same run"
                                                            : field_text(expectation, "verdict");
}

/* " 1.12 of 12.6? (grq.lock)", vague: where most of the difference is. */
static void misses_put(const struct place_line *line, const json_t *column)
{
    const char *why = strstr(field_text(column, "why"), " on ");
    fprintf(line->to, " %s of %s%s",
            text_count(field_number(json_object_get(column, "level"), "median")).s,
            text_count(field_number(json_object_get(column, "over"), "median")).s,
            is_vague(column) ? "?" : "");
    if (why)
        fprintf(line->to, " (%.*s)", (int)strcspn(why + 4, ","), why + 4);
}

/* " throughput 4.68x" or " SIM_L2_MISS 1.12 of 12.6"; with the verdict of a claim that does not
 * hold. */
static void place_number(struct place_line *line, const json_t *expectation)
{
    const json_t *widest = widest_of(expectation);
    fprintf(line->to, " %s", field_text(expectation, "metric"));
    if (repro_file_is_of_misses(expectation) && widest)
        misses_put(line, widest);
    else
        effects_put(line, expectation);
    if (repro_file_is_claim(expectation) && repro_file_verdict(expectation) != VERDICT_SUPPORTED)
        fprintf(line->to, " (%s)", open_of(expectation));
}

/* The same two designs: throughput, misses, tail. */
static void sides_put(struct place_line *line)
{
    static const char *const kinds[] = {"throughput", "miss", "latency"};
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        const json_t *one = first_of(line->place, kinds[i], line->lead);
        if (!one)
            continue;
        fputs(line->told++ > 0 ? "," : "", line->to);
        place_number(line, one);
    }
}

/* True if the place's line has the claim's number already. */
static bool is_told(const struct place_line *line, const json_t *expectation)
{
    static const char *const kinds[] = {"throughput", "miss", "latency"};
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (first_of(line->place, kinds[i], line->lead) == expectation)
            return true;
    return false;
}

/* The claim that says most, and those about one design alone: "; beat: waits_distinct of 61 61.0".
 */
static void claims_put(struct place_line *line)
{
    const json_t *of_most, *most = repro_file_main(line->place, &of_most);
    json_each(part, json_object_get(line->place, "parts")) {
        json_each(expectation, json_object_get(part, "expectations")) {
            bool alone = !*field_text(expectation, "over");
            if (!repro_file_is_claim(expectation) || is_told(line, expectation) ||
                (expectation != most && !alone))
                continue;
            fprintf(line->to, "%s%s:", line->told++ > 0 ? "; " : " ", field_text(part, "id"));
            if (alone)
                fprintf(line->to, " %s:", field_text(expectation, "level"));
            else if (!is_alike(expectation, line->lead))
                fprintf(line->to, " %s over %s:", field_text(expectation, "level"),
                        field_text(expectation, "over"));
            place_number(line, expectation);
        }
    }
}

/* "; grq takes more: 876 ns in spin loops, 101 ns stalled on grq.lock", and the counts that may
 * have made it; of what is no time of cores the sentence itself. */
static void why_put(const struct place_line *line)
{
    const json_t *column = widest_of(line->lead);
    const char *why = field_text(column, "why"), *sum = strstr(why, ": ");
    const char *parts = sum ? sum + 2 : why, *counted = strstr(parts, "; counted");
    size_t end = strcspn(parts, ";"), length = 0;
    const char *slower = *why ? repro_file_slower(line->lead, column) : "";
    if (*why && !strstr(why, " more core time"))
        fprintf(line->to, "; %s: %s", slower, why);
    if (!strstr(why, " more core time"))
        return;
    for (size_t i = 0; i < WHY_PARTS && length < end; i++)
        length += (length > 0) + strcspn(parts + length + (length > 0), ",;");
    fprintf(line->to, "; %s takes more: %.*s%s", slower, (int)length, parts,
            counted ? counted : "");
}

/* "sim:desktop8, 8", "native, 1 and 2"; to be freed. */
static char *place_name(const json_t *place, const json_t *lead)
{
    char *name = xstrdup(repro_file_place_name(place));
    json_int_t before = 0;
    json_each(column, json_object_get(lead, "columns")) {
        if (workers_of(column) == before)
            continue;
        char *longer =
            text_format("%s%s %lld", name, before ? " and" : ",", (long long)workers_of(column));
        before = workers_of(column);
        free(name);
        name = longer;
    }
    return name;
}

static void place_print(const struct offer *offer, const json_t *place)
{
    struct place_line line = {.place = place, .lead = lead_of(place)};
    char *text = NULL;
    if (!line.lead)
        return;
    line.to = memory_stream(&text, NULL);
    if (*field_text(line.lead, "over") && !is_alike(line.lead, offer->sides))
        fprintf(line.to, " %s over %s:", field_text(line.lead, "level"),
                field_text(line.lead, "over"));
    sides_put(&line);
    claims_put(&line);
    why_put(&line);
    fclose(line.to);
    char *name = place_name(place, line.lead);
    int indent = ID_COLUMNS + PLACE_COLUMNS;
    int at = fprintf(offer->to, "%*s%-*s ", ID_COLUMNS, "", PLACE_COLUMNS - 1, name);
    text_wrap(offer->to, at, indent, offer->columns, text + (*text == ' '));
    free(name);
    free(text);
}

/* Answers -------------------------------------------------------------------------------------- */

/* The first expectation that stands for a place and has two sides; NULL if there is none. */
static const json_t *sides_of(const json_t *answer)
{
    json_each(place, json_object_get(answer, "machines")) {
        const json_t *lead = lead_of(place);
        if (*field_text(lead, "over"))
            return lead;
    }
    return NULL;
}

static void answer_print(struct offer *offer, const struct experiment *experiment,
                         const json_t *answer)
{
    offer->sides = sides_of(answer);
    const char *verdict = answer ? field_text(answer, "verdict") : "not measured yet";
    char *title = offer->sides ? text_format("%s: %s (%s over %s)", verdict, experiment->title,
                                             field_text(offer->sides, "level"),
                                             field_text(offer->sides, "over"))
                               : text_format("%s: %s", verdict, experiment->title);
    fprintf(offer->to, "%-*s", ID_COLUMNS, experiment->id);
    text_wrap(offer->to, ID_COLUMNS, ID_COLUMNS, offer->columns, title);
    free(title);
    if (*field_text(answer, "lesson"))
        paragraph(offer, field_text(answer, "lesson"));
    json_each(place, json_object_get(answer, "machines"))
        place_print(offer, place);
}

void repro_offer(FILE *to, struct experiment *const *experiments, size_t count, const char *results,
                 int columns)
{
    struct offer offer = {.to = to, .columns = columns};
    json_t *known = repro_known_read("repro", results, stderr);
    for (size_t i = 0; i < count; i++)
        if (experiments[i]->first)
            answer_print(&offer, experiments[i],
                         repro_known_entry(known, "experiments", experiments[i]->id));
    json_decref(known);
    fprintf(to,
            "\nA number is the ratio of the two in brackets; of misses, how many each has an "
            "operation, and on what\n"
            "most differ. Those with ? are undecided, wide or of two regimes. \"Takes more\" "
            "is the slower one's\n"
            "added core time an operation, by cause. All are of the newest run here or the "
            "reference. Measure one\n"
            "with `schedlab repro D1 --quick`, all %zu without D1; --list has verdicts, "
            "--explain D1 the reasons.\n",
            count);
}
