/* why_table.c - see why_table.h. */
#include "harness/run/why_table.h"

#include "harness/base/json_fields.h"
#include "harness/base/memory.h"
#include "harness/base/text.h"
#include "harness/evidence/cell_remarks.h"
#include "harness/evidence/why_structures.h"
#include "harness/evidence/why_win.h"
#include "harness/numbers/units.h"
#include "harness/records/records.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* So wide that the table fits 80 columns. */
enum { STALL_WIDTH = 9, MISSES_WIDTH = 6, UPGRADES_WIDTH = 8 };
enum { STRUCTURES_SHOWN = 10, LINES_SHOWN = 10, LEVELS = 3 };

/* Shares below this are not printed. */
static const double SHARE_MIN = 0.005;

/* Differences below this share of all are summed up. */
static const double DIFFERENCE_MIN = 0.01;

/* Structures ---------------------------------------------------------------------------------- */

static void print_cell(double value, int width, FILE *to)
{
    struct text text = text_count(value);
    fprintf(to, " %*s", text_field(text, width), text.s);
}

static void print_structure(const struct why_structure *structure, double total_ns, FILE *to)
{
    fprintf(to, "  %-16s", structure->name);
    print_cell(structure->stall_ns, STALL_WIDTH, to);
    fprintf(to, " %5.1f %%", 100 * structure->stall_ns / total_ns);
    for (int level = 0; level < LEVELS; level++)
        print_cell(structure->misses[level], MISSES_WIDTH, to);
    print_cell(structure->true_sharing, MISSES_WIDTH, to);
    print_cell(structure->false_sharing, MISSES_WIDTH, to);
    print_cell(structure->upgrades, UPGRADES_WIDTH, to);
    fputc('\n', to);
}

static void print_structures(const char *variant, const struct why_structure *list, size_t count,
                             double total_ns, FILE *to)
{
    struct text total = text_count(total_ns);
    fprintf(to, "\n%s: %s ns of stall per operation; misses per operation\n", variant, total.s);
    fprintf(to, "  %-16s %9s %7s %6s %6s %6s %6s %6s %8s\n", "structure", "stall ns", "share", "L1",
            "L2", "L3", "true", "false", "upgrades");
    size_t shown = 0;
    while (shown < count && shown < STRUCTURES_SHOWN &&
           list[shown].stall_ns >= SHARE_MIN * total_ns)
        print_structure(&list[shown++], total_ns, to);
    double rest = 0;
    for (size_t i = shown; i < count; i++)
        rest += list[i].stall_ns;
    if (rest > 0)
        fprintf(to, "  %-16s %9s %5.1f %%\n", "others", text_count(rest).s, 100 * rest / total_ns);
}

/* Lines --------------------------------------------------------------------------------------- */

struct line {
    const json_t *site; /* the first of its kind */
    double stall_ns;
};

static bool same_text(const json_t *a, const json_t *b, const char *key)
{
    return strcmp(field_text(a, key), field_text(b, key)) == 0;
}

static bool same_line(const json_t *a, const json_t *b)
{
    return field_integer(a, "line") == field_integer(b, "line") && same_text(a, b, "file") &&
           same_text(a, b, "function") && same_text(a, b, "inlined_into") &&
           same_text(a, b, "structure");
}

static int by_line_stall(const void *a, const void *b)
{
    const struct line *one = a, *other = b;
    if (one->stall_ns != other->stall_ns)
        return one->stall_ns > other->stall_ns ? -1 : 1;
    return 0;
}

static size_t lines_find(const json_t *records, struct line **lines, double *ops)
{
    size_t count = 0;
    *lines = NULL;
    *ops = 0;
    json_each(record, records) {
        if (!record_is(record, "ok"))
            continue;
        *ops += field_number(record, "ops");
        json_each(site, json_object_get(record, "sites")) {
            size_t at = 0;
            while (at < count && !same_line((*lines)[at].site, site))
                at++;
            if (at == count) {
                *lines = xrealloc(*lines, ++count * sizeof **lines);
                (*lines)[at] = (struct line){.site = site};
            }
            (*lines)[at].stall_ns += json_number_value(json_object_get(site, "stall_ns"));
        }
    }
    if (count > 0)
        qsort(*lines, count, sizeof **lines, by_line_stall);
    return count;
}

static void print_lines(const json_t *records, double total_ns, FILE *to)
{
    struct line *lines;
    double ops;
    size_t count = lines_find(records, &lines, &ops);
    for (size_t i = 0; i < count && i < LINES_SHOWN; i++) {
        const json_t *site = lines[i].site;
        double ns = lines[i].stall_ns / ops;
        if (ns < SHARE_MIN * total_ns)
            break;
        if (i == 0)
            fprintf(to, "  %-16s %9s %7s  %s\n", "line's structure", "stall ns", "share",
                    "function, line");
        fprintf(to, "  %-16s", field_text(site, "structure"));
        print_cell(ns, STALL_WIDTH, to);
        const char *inside = field_text(site, "inlined_into");
        fprintf(to, " %5.1f %%  %s%s%s, %s:%d\n", 100 * ns / total_ns, field_text(site, "function"),
                *inside ? " in " : "", inside, text_base_name(field_text(site, "file")),
                (int)field_integer(site, "line"));
    }
    free(lines);
}

static void print_waste(const json_t *records, FILE *to)
{
    struct cell_waste waste;
    if (!cell_waste(records, &waste))
        return;
    fprintf(to, "  idle beside work that waited: %s ns per operation, %.0f %% of the cores' time\n",
            text_count(waste.wasted_ns).s, 100 * waste.share);
    fprintf(to, "  waits beside an idle core: p50 %s, p99 %s, the longest %s\n",
            text_time(waste.p50_ns).s, text_time(waste.p99_ns).s, text_time(waste.max_ns).s);
}

/* Differences ---------------------------------------------------------------------------------- */

static void print_part(const struct why_part *part, double all, FILE *to)
{
    char name[64];
    double more = part->slower - part->faster;
    snprintf(name, sizeof name, "%s%.40s", part->stalled ? "stalled on " : "", part->name);
    fprintf(to, "  %-30s", name);
    print_cell(part->faster, STALL_WIDTH, to);
    print_cell(part->slower, STALL_WIDTH, to);
    fprintf(to, " %s", more < 0 ? "-" : "+");
    print_cell(fabs(more), STALL_WIDTH - 1, to);
    fprintf(to, " %6.1f %%\n", all > 0 ? 100 * more / all : 0);
}

/* Where two variants' cores spent their time, side by side: the one that took less of it first. */
static void print_difference(const struct run_row *faster, const struct run_row *slower, FILE *to)
{
    struct why_win win;
    if (!why_win_make(&win, faster->records, slower->records))
        return;
    if (win.slower_ns < win.faster_ns) {
        why_win_free(&win);
        print_difference(slower, faster, to);
        return;
    }
    double all = win.slower_ns - win.faster_ns, rest_a = 0, rest_b = 0;
    fprintf(to, "\ncore time per operation in ns, %s beside %s\n", faster->label, slower->label);
    fprintf(to, "  %-30s %9s %9s %10s %8s\n", "part", "less", "more", "difference", "share");
    for (size_t i = 0; i < win.count; i++) {
        const struct why_part *part = &win.parts[i];
        if (fabs(part->slower - part->faster) >= DIFFERENCE_MIN * fabs(all)) {
            print_part(part, all, to);
            continue;
        }
        rest_a += part->faster;
        rest_b += part->slower;
    }
    print_part(&(struct why_part){false, "others", rest_a, rest_b}, all, to);
    print_part(&(struct why_part){false, "all", win.faster_ns, win.slower_ns}, all, to);
    why_win_free(&win);
}

void why_table_print(const struct run_table *table, FILE *to)
{
    for (size_t i = 0; i < table->count; i++) {
        struct why_structure *list;
        double total_ns;
        const struct run_row *row = &table->rows[i];
        size_t count = why_structures(row->records, &list, &total_ns);
        if (count > 0) {
            print_structures(row->label, list, count, total_ns, to);
            print_lines(row->records, total_ns, to);
        } else if (run_row_status(row) == RUN_OK) {
            fprintf(to, "\n%s: no access missed\n", row->label);
        }
        print_waste(row->records, to);
        free(list);
    }
    if (table->count == 2 && !table->is_paced && run_row_status(&table->rows[0]) == RUN_OK &&
        run_row_status(&table->rows[1]) == RUN_OK)
        print_difference(&table->rows[0], &table->rows[1], to);
}
