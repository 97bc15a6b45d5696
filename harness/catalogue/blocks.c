/* blocks.c - see blocks.h. */
#include "harness/catalogue/blocks.h"

#include "harness/base/json_fields.h"
#include "harness/catalogue/repro_mark.h"
#include "harness/repro/repro_file.h"

#include <string.h>

/* How an outcome is shown. style: its class on a page; NULL: in the colour of the text around. */
struct mark {
    const char *told, *sign, *style;
};

static const struct mark marks[] = {
    {"supported", "\342\234\223", "supported"},
    {"refuted", "\342\234\227", "refuted"},
    {"undecided", "?", "undecided"},
    {"agrees", "\342\234\223", "supported"},
    {"differs", "\342\234\227", "refuted"},
    {"not run", "\342\200\223", "none"},
    {"machines disagree", "\342\211\240", "disagree"},
    {"as expected", "\342\234\223", NULL},
    {"held", "\342\234\223", NULL},
    {"larger", "\342\206\221", NULL},
    {"smaller", "\342\206\223", NULL},
    {"otherwise", "\342\211\240", NULL},
    {"not held", "\342\234\227", "refuted"},
    {"none", "\342\200\223", "none"},
};

void block_mark(struct doc *to, const char *told, const char *none)
{
    size_t i = 0, last = sizeof marks / sizeof marks[0] - 1;
    while (i < last && strcmp(marks[i].told, told) != 0)
        i++;
    const struct mark *mark = &marks[i];
    const char *word = i == last ? none : told;
    if (to->format == DOC_HTML)
        doc_put(to, "<span class='mark %s'>%s %s</span>", mark->style ? mark->style : "told",
                mark->sign, word);
    else
        doc_put(to, mark->style && i < last ? "%s <b>%s</b>" : "%s %s", mark->sign, word);
}

void block_lesson(struct doc *to, const json_t *experiment)
{
    const char *lesson = field_text(experiment, "lesson");
    if (*lesson)
        doc_put(to, to->format == DOC_HTML ? "<p class='lesson'>%s</p>" : "<p>%s</p>", lesson);
}

/* Texts or numbers, "a, b". */
static void list_put(struct doc *to, const json_t *list)
{
    size_t i;
    const json_t *one;
    json_array_foreach(list, i, one)
    {
        if (json_is_integer(one))
            doc_put(to, "%s%lld", i > 0 ? ", " : "", json_integer_value(one));
        else
            doc_put(to, "%s`%s`", i > 0 ? ", " : "", json_string_value(one));
    }
}

void block_design(struct doc *to, const json_t *part)
{
    static const char *const kept[][3] = {{"variant", "variants", ""},
                                          {"workload", "workloads", ""},
                                          {"workers", "workers", "workers: "}};
    const char *factor = field_text(part, "factor"), *separator = "";
    size_t i;
    const json_t *level;
    doc_put(to, "<li>Changes: `%s`: ", factor);
    json_array_foreach(json_object_get(part, "levels"), i, level) doc_put(
        to, "%s`%s`%s", i > 0 ? ", " : "", json_string_value(level),
        strcmp(json_string_value(level), field_text(part, "baseline")) == 0 ? " (baseline)" : "");
    doc_put(to, "</li><li>Stays: ");
    for (i = 0; i < sizeof kept / sizeof kept[0]; i++) {
        if (strcmp(factor, kept[i][0]) == 0)
            continue;
        doc_put(to, "%s%s", separator, kept[i][2]);
        list_put(to, json_object_get(part, kept[i][1]));
        separator = "; ";
    }
    doc_put(to, "</li><li>Measured: `%s`</li>", field_text(part, "metric"));
}

struct differences {
    struct doc *to;
    const char *guest; /* the last one; NULL: none yet */
};

static void difference_write(const struct repro_difference *difference, void *arg)
{
    struct differences *all = arg;
    bool first = !all->guest || strcmp(all->guest, difference->guest) != 0;
    if (!all->guest)
        doc_put(all->to, "<p>Prices of the kernel in a virtual machine change verdicts: ");
    if (first)
        doc_put(all->to, "%son `%s` ", all->guest ? "; " : "", difference->guest);
    doc_put(all->to, "%s%s#%lld is ", first ? "" : ", ", difference->part,
            (long long)field_integer(difference->expectation, "number"));
    block_mark(all->to, repro_file_told(difference->expectation), "");
    doc_put(all->to, " in place of %s", repro_file_told(difference->of_host));
    all->guest = difference->guest;
}

void block_guests(struct doc *to, const json_t *experiment)
{
    struct differences all = {.to = to};
    if (repro_file_differences(experiment, difference_write, &all) > 0)
        doc_put(to, ".</p>");
    else if (json_array_size(json_object_get(experiment, "guests")) > 0)
        doc_put(to,
                "<p>Prices of the kernel in a virtual machine (`host=vm`) change no verdict.</p>");
}

void block_number(struct doc *to, const json_t *expectation)
{
    const char *over = field_text(expectation, "over");
    doc_put(to, "`%s` of `%s`", field_text(expectation, "metric"),
            field_text(expectation, "level"));
    if (*over)
        doc_put(to, " over `%s`", over);
}

void block_numbers(struct doc *to, const json_t *experiment, bool breaks, bool strips)
{
    const json_t *part;
    size_t told = 0;
    json_each(place, json_object_get(experiment, "machines")) {
        const json_t *expectation = repro_file_main(place, &part);
        const json_t *column = repro_file_decisive(expectation);
        if (!expectation)
            continue;
        if (told++ > 0)
            doc_put(to, breaks ? "<br>" : "; ");
        doc_put(to, "%s: %s, expected %s", repro_file_place_name(place), block_effect(column),
                field_text(expectation, "expected"));
        if (strips)
            repro_strip_text(to, expectation, column);
    }
}

const char *block_effect(const json_t *column)
{
    const char *text = field_text(json_object_get(column, "effect"), "text");
    return *text ? text : "no number";
}

void block_grid(struct doc *to, const struct expect_table *table, const char *factor,
                void (*cell)(struct doc *to, const void *arg, unsigned number), const void *arg)
{
    doc_put(to, "<thead><tr><th scope='col'>`%s`</th>", factor);
    for (unsigned i = 0; i < table->columns; i++)
        doc_put(to, "<th scope='col' class='number'>%s</th>",
                *table->heads[i] ? table->heads[i] : "value");
    doc_put(to, "</tr></thead><tbody>");
    for (unsigned row = 0; row < table->rows; row++) {
        if (!expect_table_has_row(table, row))
            continue;
        doc_put(to, "<tr><th scope='row'>`%s`</th>", table->levels[row]);
        for (unsigned column = 0; column < table->columns; column++)
            cell(to, arg, table->numbers[row * table->columns + column]);
        doc_put(to, "</tr>");
    }
    doc_put(to, "</tbody>");
}
