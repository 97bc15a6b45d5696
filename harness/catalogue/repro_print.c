/* repro_print.c - repro.json for people. See repro.h. */
#include "harness/base/json_fields.h"
#include "harness/base/memory.h"
#include "harness/base/text.h"
#include "harness/base/wrap.h"
#include "harness/repro/popular_claims.h"
#include "harness/repro/repro.h"
#include "harness/repro/repro_file.h"

#include <stdlib.h>
#include <string.h>

enum { ID_COLUMNS = 7, MACHINE_COLUMNS = 16, VERDICT_COLUMNS = 13 };

/* Text ----------------------------------------------------------------------------------------- */

/* A text in a field of that many columns, which it may be too long for. */
static int print_field(FILE *to, const char *text, int columns)
{
    int width = text_columns(text, (int)strlen(text));
    int blank = width < columns - 1 ? columns - width : 1;
    fprintf(to, "%s%*s", text, blank, "");
    return width + blank;
}

static void print_paragraph(FILE *to, const char *text, int columns)
{
    fprintf(to, "%*s", ID_COLUMNS, "");
    text_wrap(to, ID_COLUMNS, ID_COLUMNS, columns, text);
}

/* Experiments ---------------------------------------------------------------------------------- */

/* "hog#1: 63.1x (60.2x to 66.0x), expected at least 50x; REASON" */
static char *expectation_text(const json_t *part, const json_t *expectation)
{
    const json_t *column = repro_file_decisive(expectation);
    const char *effect = field_text(json_object_get(column, "effect"), "text");
    const char *reason = field_text(column, "reason");
    bool undecided = repro_file_verdict(expectation) == VERDICT_UNDECIDED;
    char *regimes = repro_file_regimes(column);
    char *text =
        text_format("%s %s#%lld %s%s%s, expected %s%s%s%s%s", repro_file_role(expectation),
                    field_text(part, "id"), (long long)field_integer(expectation, "number"),
                    field_text(expectation, "metric"), *effect ? ": " : "", effect,
                    field_text(expectation, "expected"), undecided ? "; lacks: " : "",
                    undecided ? reason : "", regimes ? "; " : "", regimes ? regimes : "");
    free(regimes);
    return text;
}

/* The number of the table that it is a cell of; 0: none. */
static json_int_t table_number(const json_t *expectation)
{
    return field_integer(json_object_get(expectation, "table"), "number");
}

/* How many cells of one table, from the k-th of the part's expectations on, are as expected; 0 of
 * what is no table. */
static size_t cells_supported(const json_t *expectations, size_t k)
{
    json_int_t table = table_number(json_array_get(expectations, k));
    size_t count = 0;
    for (; table > 0 && k < json_array_size(expectations); k++, count++) {
        const json_t *cell = json_array_get(expectations, k);
        if (table_number(cell) != table || strcmp(field_text(cell, "verdict"), "supported") != 0)
            break;
    }
    return count;
}

/* "beats#1 to #36 waits_distinct: 36 cells of a table, each exactly as expected" */
static char *cells_text(const json_t *part, const json_t *first, size_t count)
{
    long long number = field_integer(first, "number");
    return text_format("%s %s#%lld to #%lld %s: %zu cells of a table, each exactly as expected",
                       repro_file_role(first), field_text(part, "id"), number,
                       number + (long long)count - 1, field_text(first, "metric"), count);
}

/* Which expectations are printed together. */
struct kind {
    bool claims; /* else the others */
    const char *verdict;
};

static bool is_of_kind(const json_t *expectation, struct kind kind)
{
    return strcmp(field_text(expectation, "verdict"), kind.verdict) == 0 &&
           repro_file_is_claim(expectation) == kind.claims;
}

/* "12 expectations, the first ten#2: peer:go is not built here ...": what is not run has one reason
 * as a rule, a runtime that is not there. NULL if there is none of that kind. */
static char *not_run_text(const json_t *place, struct kind kind)
{
    size_t count = 0;
    const json_t *first = NULL, *of = NULL;
    json_each(part, json_object_get(place, "parts")) {
        json_each(expectation, json_object_get(part, "expectations")) {
            if (!is_of_kind(expectation, kind))
                continue;
            of = first ? of : part;
            first = first ? first : expectation;
            count++;
        }
    }
    if (!first)
        return NULL;
    return text_format("%s%s %s#%lld: %s", counted(count, kind.claims ? "claim" : "expectation").s,
                       count > 1 ? ", the first" : "", field_text(of, "id"),
                       (long long)field_integer(first, "number"),
                       field_text(repro_file_decisive(first), "reason"));
}

/* The beginning of a line, with the machine on the first one. */
static void print_line_head(FILE *to, const json_t *place, const char *told, bool *first)
{
    if (*first)
        fprintf(to, "%*s", ID_COLUMNS, "");
    print_field(to, *first ? field_text(place, "machine") : "",
                *first ? MACHINE_COLUMNS : ID_COLUMNS + MACHINE_COLUMNS);
    print_field(to, told, VERDICT_COLUMNS);
    *first = false;
}

/* All expectations of a place of that kind, a line each. */
static void print_expectations(FILE *to, const json_t *place, struct kind kind, bool *first,
                               int columns)
{
    int indent = ID_COLUMNS + MACHINE_COLUMNS + VERDICT_COLUMNS;
    size_t k;
    const json_t *expectation;
    if (verdict_of_text(kind.verdict) == VERDICT_NOT_RUN) {
        char *text = not_run_text(place, kind);
        if (text) {
            print_line_head(to, place, kind.verdict, first);
            text_wrap(to, indent, indent, columns, text);
        }
        free(text);
        return;
    }
    json_each(part, json_object_get(place, "parts")) {
        const json_t *expectations = json_object_get(part, "expectations");
        json_array_foreach(expectations, k, expectation)
        {
            if (!is_of_kind(expectation, kind))
                continue;
            size_t cells = cells_supported(expectations, k);
            char *text = cells > 1 ? cells_text(part, expectation, cells)
                                   : expectation_text(part, expectation);
            k += cells > 1 ? cells - 1 : 0;
            print_line_head(to, place, repro_file_told(expectation), first);
            text_wrap(to, indent, indent, columns, text);
            free(text);
        }
    }
}

/* The reason for the number that stands for the place, where it is known. */
static void print_why(FILE *to, const json_t *place, int columns)
{
    int indent = ID_COLUMNS + MACHINE_COLUMNS;
    const json_t *part, *most = repro_file_main(place, &part);
    const json_t *column = repro_file_decisive(most);
    if (!*field_text(column, "why"))
        return;
    char *text =
        text_format("why: %s: %s", repro_file_slower(most, column), field_text(column, "why"));
    fprintf(to, "%*s", indent, "");
    text_wrap(to, indent, indent + VERDICT_COLUMNS, columns, text);
    free(text);
}

static void print_experiment(FILE *to, const json_t *experiment, int columns)
{
    static const struct kind kinds[] = {
        {true, "refuted"},  {true, "undecided"},  {true, "not run"},  {true, "supported"},
        {false, "refuted"}, {false, "undecided"}, {false, "not run"}, {false, "supported"}};
    print_field(to, field_text(experiment, "id"), ID_COLUMNS);
    fprintf(to, "%s: %s\n", field_text(experiment, "verdict"), field_text(experiment, "title"));
    print_paragraph(to, field_text(experiment, "claim"), columns);
    print_paragraph(to, repro_file_said(experiment), columns);
    if (*field_text(experiment, "lesson"))
        print_paragraph(to, field_text(experiment, "lesson"), columns);
    json_each(place, json_object_get(experiment, "machines")) {
        bool first = true;
        for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
            print_expectations(to, place, kinds[i], &first, columns);
        print_why(to, place, columns);
    }
    if (json_array_size(json_object_get(experiment, "guests")) > 0) {
        char *text =
            text_format("as guests of a hypervisor (host=vm): %s",
                        counted(repro_file_differences(experiment, NULL, NULL), "other verdict").s);
        print_paragraph(to, text, columns);
        free(text);
    }
}

/* "3 experiments: 2 supported, 0 refuted, 1 undecided" */
static void print_sum(FILE *to, const json_t *list)
{
    struct repro_sum sum = repro_file_sum(list);
    fprintf(to, "%s: %zu supported, %zu refuted, %zu undecided",
            counted(json_array_size(list), "experiment").s, sum.of[VERDICT_SUPPORTED],
            sum.of[VERDICT_REFUTED], sum.of[VERDICT_UNDECIDED]);
    if (sum.of[VERDICT_DISAGREE] > 0)
        fprintf(to, ", %zu on which machines disagree", sum.of[VERDICT_DISAGREE]);
    if (sum.of[VERDICT_NOT_RUN] > 0)
        fprintf(to, ", %zu not run", sum.of[VERDICT_NOT_RUN]);
    if (sum.of[VERDICT_NONE] > 0)
        fprintf(to, ", %zu without a measured claim", sum.of[VERDICT_NONE]);
    fputc('\n', to);
}

/* Claims --------------------------------------------------------------------------------------- */

/* " gmp agrees with the source." or " Go 1.19.8 is undecided: E3/hog#1: 2 samples ..."; nothing if
 * nothing was asked of it. */
static void side_put(FILE *to, const json_t *claim, const char *side, const char *name)
{
    static const char *const told[][2] = {{"agrees", " agrees with the source"},
                                          {"differs", " differs from the source"},
                                          {"undecided", " is undecided"},
                                          {"not run", " was not run"}};
    const char *reason = field_text(json_object_get(claim, side), "reason");
    char *undecided = claim_undecided(claim, side);
    for (size_t i = 0; i < sizeof told / sizeof told[0]; i++)
        if (strcmp(claim_agreement(claim, side), told[i][0]) == 0)
            fprintf(to, " %s%s%s%s%s%s.", name, told[i][1], *reason ? ": " : "", reason,
                    *undecided ? "; undecided: " : "", undecided);
    free(undecided);
}

static void print_claim(FILE *to, const json_t *claim, const char *runtime, int columns)
{
    const char *not_shown = field_text(claim, "not_shown");
    char *text = NULL;
    int indent = ID_COLUMNS + VERDICT_COLUMNS;
    FILE *line = memory_stream(&text, NULL);
    fprintf(line, "%s: %s Go: %s", field_text(claim, "who"), field_text(claim, "says"),
            field_text(claim, "go"));
    side_put(line, claim, "gmp", "gmp");
    side_put(line, claim, "itself", runtime);
    if (*not_shown)
        fprintf(line, " %s: %s.",
                claim_is_not_measured(claim) ? "Nothing measures it" : "gmp: not measured",
                not_shown);
    fclose(line);
    print_field(to, field_text(claim, "id"), ID_COLUMNS);
    print_field(to, claim_degree(claim), VERDICT_COLUMNS);
    text_wrap(to, indent, indent, columns, text);
    free(text);
}

void repro_print_entries(FILE *to, const json_t *repro, int columns)
{
    json_each(one, json_object_get(repro, "experiments"))
        print_experiment(to, one, columns);
    const json_t *claims = json_object_get(repro, "claims");
    json_each(one, claims)
        print_claim(to, one, claims_runtime(claims), columns);
}

void repro_print(FILE *to, const json_t *repro, int columns)
{
    const json_t *experiments = json_object_get(repro, "experiments");
    const json_t *claims = json_object_get(repro, "claims");
    json_each(one, experiments)
        print_experiment(to, one, columns);
    print_sum(to, experiments);
    char *disturbed = repro_file_disturbed(repro);
    if (disturbed)
        fprintf(to, "%s\n", disturbed);
    free(disturbed);
    if (json_array_size(claims) == 0)
        return;
    fputs("\nWhat popular accounts say: right or not by Go's source, and what was measured of "
          "that\n\n",
          to);
    json_each(one, claims)
        print_claim(to, one, claims_runtime(claims), columns);
    char *sum = claims_sum_text(claims);
    text_wrap(to, 0, 0, columns, sum);
    free(sum);
}
