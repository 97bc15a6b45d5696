/* report_chart.c - see report_chart.h. */
#include "harness/summary/report_chart.h"

#include "harness/base/memory.h"
#include "harness/doc/doc.h"
#include "harness/numbers/units.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { LANE = 8, LANE_OF_MANY = 5, MANY = 4, PAD = 3, TICKS_MAX = 8 };

/* Percent of an SVG's width that stays free on each side, and that two ticks are apart. */
static const double MARGIN = 3, TICK_ROOM = 15;

/* Shapes --------------------------------------------------------------------------------------- */

/* The catalogue's variants first, with the shapes that figures have where these can be hollow. */
static const struct {
    const char *variant, *path;
} shapes[] = {
    {"kthread", "M-1.4-4h2.8v2.6h2.6v2.8h-2.6v2.6h-2.8v-2.6h-2.6v-2.8h2.6z"},
    {"uthread", "M0-1.8L2-3.8 3.8-2 1.8 0 3.8 2 2 3.8 0 1.8-2 3.8-3.8 2-1.8 0-3.8-2-2-3.8z"},
    {"static", "M0-4.4L4.4 0 0 4.4-4.4 0z"},
    {"grq", "M-4-3.2h8L0 4z"},
    {"perm", "M-4 3.2h8L0-4z"},
    {"gmp", "M-3.7 0a3.7 3.7 0 1 1 7.4 0a3.7 3.7 0 1 1-7.4 0z"},
    {"tasksteal", "M0-4L3.8-1.2 2.4 3.2H-2.4L-3.8-1.2z"},
    {"contsteal", "M-3.2-3.2h6.4v6.4h-6.4z"},
    {"serial", "M0-4.8L1.3-1.3 4.8 0 1.3 1.3 0 4.8-1.3 1.3-4.8 0-1.3-1.3z"},
    {"", "M3.2-4v8L-4 0z"},
    {"", "M-3.2-4v8L4 0z"},
    {"", "M-4-3.2L0 0 4-3.2v6.4L0 0-4 3.2z"},
};

enum { SHAPES = sizeof shapes / sizeof shapes[0], SPARE = SHAPES - 3, GMP = 5 };

void report_chart_shapes_write(FILE *to)
{
    fputs("<svg class=\"symbols\" aria-hidden=\"true\"><defs>", to);
    for (int i = 0; i < SHAPES; i++)
        fprintf(to, "<path id=\"shape-%d\" d=\"%s\"/>", i, shapes[i].path);
    fputs("</defs></svg>\n", to);
}

/* Variants ------------------------------------------------------------------------------------- */

struct lane {
    const char *variant;
    int shape;
};

/* The variants of a group in its order, with a shape each. */
struct lanes {
    struct lane *of;
    size_t count;
    bool are_rows; /* one workload: a row for each, all of one shape */
};

static const struct lane *lane_of(const struct lanes *lanes, const char *variant)
{
    for (size_t i = 0; i < lanes->count; i++)
        if (strcmp(lanes->of[i].variant, variant) == 0)
            return &lanes->of[i];
    return NULL;
}

/* Gives one that is not in the catalogue a spare shape, or one that nobody has here. */
static void lanes_shape(struct lanes *lanes)
{
    bool taken[SHAPES] = {false};
    for (size_t i = 0; i < lanes->count; i++) {
        lanes->of[i].shape = -1;
        for (int k = 0; k < SHAPES; k++)
            if (strcmp(lanes->of[i].variant, shapes[k].variant) == 0)
                taken[lanes->of[i].shape = k] = true;
    }
    for (size_t i = 0; i < lanes->count; i++) {
        int shape = lanes->are_rows ? GMP : SPARE;
        for (int k = 0; k < SHAPES && !lanes->are_rows && taken[shape]; k++)
            shape = (SPARE + k) % SHAPES;
        if (lanes->of[i].shape < 0 || lanes->are_rows)
            taken[lanes->of[i].shape = shape] = true;
    }
}

static struct lanes lanes_make(const struct report_group *group)
{
    struct lanes lanes = {xcalloc(group->count + 1, sizeof *lanes.of), 0, true};
    for (size_t i = 0; i < group->count; i++) {
        if (!lane_of(&lanes, group->cells[i].variant))
            lanes.of[lanes.count++].variant = group->cells[i].variant;
        if (strcmp(group->cells[i].workload, group->cells[0].workload) != 0)
            lanes.are_rows = false;
    }
    lanes_shape(&lanes);
    return lanes;
}

void report_chart_key_write(FILE *to, const struct report_group *group)
{
    struct lanes lanes = lanes_make(group);
    if (!lanes.are_rows) {
        html_put(to, "<span class='key'>");
        for (size_t i = 0; i < lanes.count; i++) {
            html_put(to, "<span data-variant='%s'>", lanes.of[i].variant);
            fprintf(to,
                    "<svg viewBox=\"-6 -6 12 12\" aria-hidden=\"true\"><use href=\"#shape-%d\" "
                    "class=\"v%d\"/></svg> ",
                    lanes.of[i].shape, lanes.of[i].shape);
            html_put(to, "<span class='name'>%s</span></span> ", lanes.of[i].variant);
        }
        html_put(to, "</span>");
    }
    free(lanes.of);
}

/* Axis ----------------------------------------------------------------------------------------- */

/* Logarithmic, from the least to the most. */
struct axis {
    double least, most;
    bool reversed;
};

static struct interval value_of(const struct chart *chart, const struct report_cell *cell)
{
    if (!chart->event)
        return cell->to_baseline;
    const struct report_event *event = report_event_find(cell, chart->event);
    if (!event)
        return (struct interval){NAN, NAN, NAN, 0};
    return (struct interval){event->per_op.median * chart->per, event->per_op.lo * chart->per,
                             event->per_op.hi * chart->per, event->per_op.n};
}

static bool is_in_chart(const struct chart *chart, const struct report_cell *cell)
{
    return cell->workers == report_workers_max(chart->group, cell->workload);
}

static void axis_add(struct axis *axis, double value)
{
    if (!(value > 0) || !isfinite(value))
        return;
    axis->least = fmin(axis->least, value);
    axis->most = fmax(axis->most, value);
}

/* Multiples have at least 0.9 to 1.1, so that what is alike looks alike. */
static struct axis axis_make(const struct chart *chart)
{
    struct axis axis = {.least = INFINITY, .most = 0, .reversed = chart->less_is_better};
    if (!chart->event)
        axis = (struct axis){0.9, 1.1, chart->less_is_better};
    for (size_t i = 0; i < chart->group->count; i++) {
        struct interval value = value_of(chart, &chart->group->cells[i]);
        if (!is_in_chart(chart, &chart->group->cells[i]))
            continue;
        axis_add(&axis, value.median);
        if (statistics_has_interval(value)) {
            axis_add(&axis, value.lo);
            axis_add(&axis, value.hi);
        }
    }
    if (axis.least >= axis.most) /* one value, or none */
        axis = (struct axis){axis.most > 0 ? axis.most / 2 : 0.5, axis.most > 0 ? axis.most * 2 : 2,
                             chart->less_is_better};
    return axis;
}

/* In percent of the width; zero stands at the least. */
static double axis_place(const struct axis *axis, double value)
{
    double share = log(value / axis->least) / log(axis->most / axis->least);
    share = value > 0 ? fmin(1, fmax(0, share)) : 0;
    return MARGIN + (100 - 2 * MARGIN) * (axis->reversed ? 1 - share : share);
}

/* The most telling numbers first, as many as there is room for. */
static size_t axis_ticks(const struct axis *axis, double ticks[TICKS_MAX])
{
    static const double steps[] = {1,   10,  0.1, 100,  0.01, 1e3, 1e-3, 1e4, 1e-4, 1e5,
                                   1e6, 2,   0.5, 5,    0.2,  20,  50,   200, 500,  1.5,
                                   0.7, 1.2, 0.8, 0.05, 0.02, 1.1, 0.9,  3,   0.3};
    size_t count = 0;
    for (size_t i = 0; i < sizeof steps / sizeof steps[0] && count < TICKS_MAX; i++) {
        bool room = steps[i] >= axis->least && steps[i] <= axis->most;
        for (size_t k = 0; k < count && room; k++)
            room = fabs(axis_place(axis, steps[i]) - axis_place(axis, ticks[k])) >= TICK_ROOM;
        if (room)
            ticks[count++] = steps[i];
    }
    return count;
}

static void axis_write(FILE *to, const struct chart *chart, const struct axis *axis)
{
    double ticks[TICKS_MAX];
    size_t count = axis_ticks(axis, ticks);
    html_put(to, "<tr class='axis'><td></td><td>");
    fputs("<svg height=\"16\" aria-hidden=\"true\">", to);
    for (size_t i = 0; i < count; i++)
        fprintf(to, "<text x=\"%.1f%%\" y=\"12\">%g%s</text>", axis_place(axis, ticks[i]), ticks[i],
                chart->event ? "" : "\303\227");
    fputs("</svg>", to);
    html_put(to, "</td><td></td></tr>");
}

/* A name that may be broken after its commas. */
static void name_write(FILE *to, const char *name)
{
    html_put(to, "<span class='name'>");
    for (size_t length; *name; name += length) {
        length = strcspn(name, ",");
        length += name[length] == ',';
        html_put(to, name[length] ? "%.*s<wbr>" : "%.*s", (int)length, name);
    }
    html_put(to, "</span>");
}

/* Rows ----------------------------------------------------------------------------------------- */

/* "gmp on fib: 1.21× (1.19 to 1.23), faster" */
static void mark_title(FILE *to, const struct chart *chart, const struct report_cell *cell,
                       const char *shown)
{
    struct interval value = value_of(chart, cell);
    html_put(to, "<title>%s on %s: ", cell->variant, cell->workload);
    if (chart->event)
        html_put(to, "%s", text_count(value.median).s);
    else
        html_put(to, "%s (%s)%s%s", text_ratio(value.median).s, text_ratio_interval(value).s,
                 shown ? ", " : "", shown ? shown : "");
    html_put(to, "</title>");
}

static bool is_told(const char *shown)
{
    return shown && (strcmp(shown, "faster") == 0 || strcmp(shown, "slower") == 0);
}

static bool is_baseline(const struct chart *chart, const struct report_cell *cell)
{
    return !chart->event && strcmp(cell->variant, chart->group->baseline) == 0;
}

/* The interval as a line, the median as a shape: hollow where no difference is shown. */
static void mark_write(FILE *to, const struct chart *chart, const struct axis *axis, size_t i,
                       const struct lane *lane, int y)
{
    const struct report_cell *cell = &chart->group->cells[i];
    struct interval value = value_of(chart, cell);
    bool told = chart->event || is_baseline(chart, cell) || is_told(chart->shown[i]);
    if (!isfinite(value.median))
        return;
    fprintf(to, "<a class=\"v%d%s\" href=\"#cell-%s\">", lane->shape, told ? "" : " untold",
            cell->id);
    mark_title(to, chart, cell, chart->event ? NULL : chart->shown[i]);
    double lo = statistics_has_interval(value) ? value.lo : value.median;
    double hi = statistics_has_interval(value) ? value.hi : value.median;
    fprintf(to, "<line x1=\"%.1f%%\" x2=\"%.1f%%\" y1=\"%d\" y2=\"%d\"/>", axis_place(axis, lo),
            axis_place(axis, hi), y, y);
    fprintf(to, "<use href=\"#shape-%d\" x=\"%.1f%%\" y=\"%d\"/></a>", lane->shape,
            axis_place(axis, value.median), y);
}

/* The line at 1, where the baseline is. */
static void row_open(FILE *to, const struct chart *chart, const struct axis *axis, int height,
                     const char *about)
{
    html_put(to, "<svg class='ratios' height='%d' role='img' aria-label='%s'>", height, about);
    if (!chart->event)
        fprintf(to, "<line class=\"one\" x1=\"%.1f%%\" x2=\"%.1f%%\" y1=\"0\" y2=\"100%%\"/>",
                axis_place(axis, 1), axis_place(axis, 1));
}

/* Why a cell has no mark. */
static void missing_write(FILE *to, const struct chart *chart, size_t i)
{
    const struct report_cell *cell = &chart->group->cells[i];
    if (isfinite(value_of(chart, cell).median))
        return;
    html_put(to,
             "<tr class='missing' data-workload='%s' data-variant='%s'><td colspan='3'><span "
             "class='name'>%s</span> on <span class='name'>%s</span> is missing: ",
             cell->workload, cell->variant, cell->variant, cell->workload);
    if (!report_cell_ok(cell))
        html_put(to, "%s: %s", cell->status, cell->reason ? cell->reason : "no reason recorded");
    else if (chart->event)
        html_put(to, "the event was not counted");
    else
        html_put(to, "%s",
                 cell->beside.unlike ? "it was measured at other core distances than the baseline"
                                     : "its baseline has no number");
    html_put(to, "</td></tr>");
}

/* "tasksteal 1.76×": the winner and its multiple of the next; else those that share the place. */
static void winner_write(FILE *to, const struct verdict *verdict)
{
    static const char *const others[] = {[VERDICT_OPEN] = "two regimes",
                                         [VERDICT_FEW] = "too few samples",
                                         [VERDICT_UNLIKE] = "other distances",
                                         [VERDICT_NONE] = "nothing to compare"};
    if (verdict->outcome == VERDICT_WON) {
        html_put(to, "<td class='first'><b class='name'>%s</b> %s</td>", verdict->best->variant,
                 text_ratio(verdict->over_next.median).s);
    } else if (verdict->outcome == VERDICT_TIED) {
        html_put(to,
                 "<td class='first'>~ <span class='name'>%s</span>, <span class='name'>%s</span>",
                 verdict->best->variant, verdict->tied[0]->variant);
        if (verdict->tied_count > 1)
            html_put(to, " +%zu", verdict->tied_count - 1);
        html_put(to, "</td>");
    } else {
        html_put(to, "<td class='first'>%s</td>", others[verdict->outcome]);
    }
}

/* The variant with the most of the event. */
static void most_write(FILE *to, const struct chart *chart, const struct report_span *span)
{
    const struct report_cell *most = NULL;
    for (size_t i = span->first; i < span->end; i++) {
        const struct report_cell *cell = &chart->group->cells[i];
        if (is_in_chart(chart, cell) && isfinite(value_of(chart, cell).median) &&
            (!most || value_of(chart, cell).median > value_of(chart, most).median))
            most = cell;
    }
    html_put(to, "<td class='first'>");
    if (most)
        html_put(to, "<span class='name'>%s</span> %s", most->variant,
                 text_count(value_of(chart, most).median).s);
    html_put(to, "</td>");
}

static void workload_row(FILE *to, const struct chart *chart, const struct lanes *lanes,
                         const struct axis *axis, const struct report_span *span, size_t verdict)
{
    int lane = lanes->count > MANY ? LANE_OF_MANY : LANE;
    html_put(to, "<tr data-workload='%s'><th scope='row'>", span->workload);
    name_write(to, span->workload);
    html_put(to, "</th><td>");
    row_open(to, chart, axis, (int)lanes->count * lane + 2 * PAD, span->workload);
    for (size_t i = span->first; i < span->end; i++) {
        const struct lane *own = lane_of(lanes, chart->group->cells[i].variant);
        if (is_in_chart(chart, &chart->group->cells[i]))
            mark_write(to, chart, axis, i, own, PAD + lane / 2 + (int)(own - lanes->of) * lane);
    }
    html_put(to, "</svg></td>");
    if (chart->verdicts)
        winner_write(to, &chart->verdicts[verdict]);
    else
        most_write(to, chart, span);
    html_put(to, "</tr>");
    for (size_t i = span->first; i < span->end; i++)
        if (is_in_chart(chart, &chart->group->cells[i]))
            missing_write(to, chart, i);
}

static void variant_row(FILE *to, const struct chart *chart, const struct lanes *lanes,
                        const struct axis *axis, size_t i)
{
    const struct report_cell *cell = &chart->group->cells[i];
    struct interval value = value_of(chart, cell);
    if (!isfinite(value.median)) {
        missing_write(to, chart, i);
        return;
    }
    html_put(to, "<tr data-workload='%s' data-variant='%s'><th scope='row'>", cell->workload,
             cell->variant);
    name_write(to, cell->variant);
    html_put(to, "</th><td>");
    row_open(to, chart, axis, LANE + 2 * PAD, cell->variant);
    mark_write(to, chart, axis, i, lane_of(lanes, cell->variant), PAD + LANE / 2);
    html_put(to, "</svg></td><td class='first'>%s%s</td></tr>",
             chart->event || is_told(chart->shown[i]) || is_baseline(chart, cell) ? "" : "~ ",
             chart->event ? text_count(value.median).s : text_ratio(value.median).s);
}

static bool has_numbers(const struct chart *chart)
{
    for (size_t i = 0; i < chart->group->count; i++)
        if (is_in_chart(chart, &chart->group->cells[i]) &&
            isfinite(value_of(chart, &chart->group->cells[i]).median))
            return true;
    return false;
}

static void rows_write(FILE *to, const struct chart *chart, const struct lanes *lanes,
                       const struct axis *axis)
{
    struct report_span span = {0};
    for (size_t verdict = 0; report_next_workload(chart->group, &span); verdict++) {
        if (!lanes->are_rows)
            workload_row(to, chart, lanes, axis, &span, verdict);
        for (size_t i = span.first; i < span.end && lanes->are_rows; i++)
            if (is_in_chart(chart, &chart->group->cells[i]))
                variant_row(to, chart, lanes, axis, i);
    }
}

/* Glance --------------------------------------------------------------------------------------- */

/* In dots of a chart that is drawn once and scaled, with names at the left. Keep in step with
 * harness/viewer/report.js. */
enum {
    GLANCE_WIDTH = 320,
    GLANCE_LEFT = 106,
    GLANCE_HEAD = 14,
    GLANCE_FOOT = 14,
    GLANCE_ROWS = 12
};
enum { GLANCE_TICKS = 3, NAME_MAX = 18, OF_MAX = 15 };

struct glance {
    const struct chart *chart;
    struct lanes lanes;
    struct axis axis;
    const char *rows[GLANCE_ROWS]; /* workloads, or variants where those are rows */
    size_t count, left_out;
    int pitch;
};

static const char *row_name(const struct glance *glance, const struct report_cell *cell)
{
    return glance->lanes.are_rows ? cell->variant : cell->workload;
}

/* GLANCE_ROWS if the cell has no row. */
static size_t row_of(const struct glance *glance, const struct report_cell *cell)
{
    for (size_t i = 0; i < glance->count; i++)
        if (strcmp(glance->rows[i], row_name(glance, cell)) == 0)
            return i;
    return GLANCE_ROWS;
}

static struct glance glance_make(const struct chart *chart)
{
    struct glance glance = {
        .chart = chart, .lanes = lanes_make(chart->group), .axis = axis_make(chart)};
    const char *last = "";
    for (size_t i = 0; i < chart->group->count; i++) {
        const struct report_cell *cell = &chart->group->cells[i];
        if (!is_in_chart(chart, cell) || strcmp(last, row_name(&glance, cell)) == 0 ||
            (glance.lanes.are_rows && !isfinite(value_of(chart, cell).median)))
            continue;
        last = row_name(&glance, cell);
        if (glance.count < GLANCE_ROWS)
            glance.rows[glance.count++] = last;
        else
            glance.left_out++;
    }
    size_t lanes = glance.lanes.are_rows ? 1 : glance.lanes.count;
    glance.pitch = lanes <= 3 ? 14 : lanes == 4 ? 16 : 18;
    return glance;
}

static long glance_x(const struct glance *glance, double value)
{
    double share = axis_place(&glance->axis, value) / 100;
    return lround(GLANCE_LEFT + (GLANCE_WIDTH - GLANCE_LEFT) * share);
}

/* Lanes of a row lie a little apart, so that no mark hides another of the same value. */
static long glance_y(const struct glance *glance, size_t row, const struct lane *lane)
{
    double middle = GLANCE_HEAD + glance->pitch * ((double)row + 0.5), off = 0;
    size_t lanes = glance->lanes.count;
    if (!glance->lanes.are_rows && lanes > 1)
        off = (double)(lane - glance->lanes.of) / (double)(lanes - 1) - 0.5;
    return lround(middle + off * (glance->pitch - 8));
}

/* Short names: "pingpong" and "pingpong pairs=16", what tells the rows of a kind apart. */

static size_t kind_length(const char *name)
{
    return strcspn(name, ",");
}

static bool same_kind(const char *a, const char *b)
{
    return kind_length(a) == kind_length(b) && strncmp(a, b, kind_length(a)) == 0;
}

/* The word of a name that has the key, "pairs=16"; an empty one at its end if there is none. */
static const char *word_of(const char *name, const char *key)
{
    size_t length = strcspn(key, "=,");
    for (name += kind_length(name); *name; name += strcspn(name, ",")) {
        name++;
        if (strcspn(name, "=,") == length && strncmp(name, key, length) == 0)
            break;
    }
    return name;
}

/* The length of the longest of the key's words, if they are different in all rows of the kind; else
 * SIZE_MAX. */
static size_t telling_length(const struct glance *glance, const char *kind, const char *key)
{
    size_t longest = 0;
    for (size_t i = 0; i < glance->count; i++) {
        const char *a = word_of(glance->rows[i], key);
        if (!same_kind(glance->rows[i], kind))
            continue;
        longest = kind_length(a) > longest ? kind_length(a) : longest;
        for (size_t k = i + 1; k < glance->count; k++) {
            const char *b = word_of(glance->rows[k], key);
            if (same_kind(glance->rows[k], kind) && kind_length(a) == kind_length(b) &&
                strncmp(a, b, kind_length(a)) == 0)
                return SIZE_MAX;
        }
    }
    return longest;
}

/* The key that tells the rows of the kind apart by the shortest words; NULL if none does. */
static const char *telling_key(const struct glance *glance, const char *kind)
{
    const char *found = NULL;
    size_t least = SIZE_MAX;
    for (size_t i = 0; i < glance->count; i++) {
        const char *key = glance->rows[i];
        if (!same_kind(key, kind))
            continue;
        for (key += kind_length(key); *key; key += kind_length(key)) {
            size_t length = telling_length(glance, kind, ++key);
            if (length < least) {
                found = key;
                least = length;
            }
        }
    }
    return found;
}

static void short_name(const struct glance *glance, size_t row, char *name, size_t size)
{
    const char *whole = glance->rows[row], *key = NULL, *word = "";
    size_t alike = 0;
    int kind = (int)kind_length(whole);
    for (size_t i = 0; i < glance->count; i++)
        alike += same_kind(glance->rows[i], whole);
    if (alike > 1 && (key = telling_key(glance, whole)) != NULL)
        word = word_of(whole, key);
    if (alike > 1 && !key)
        snprintf(name, size, "%s", whole);
    else if (alike == glance->count && *word)
        snprintf(name, size, "%.*s", (int)kind_length(word), word);
    else
        snprintf(name, size, "%.*s%s%.*s", kind, whole, *word ? " " : "", (int)kind_length(word),
                 word);
}

static void text_put(FILE *to, const char *class, long x, long y, const char *text, int most)
{
    bool whole = strlen(text) <= (size_t)most;
    fprintf(to, *class ? "<text class=\"%s\" " : "<text %s", class);
    fprintf(to, "x=\"%ld\" y=\"%ld\">", x, y);
    html_put(to, "%.*s%s", whole ? most : most - 1, text, whole ? "" : "\342\200\246");
    fputs("</text>", to);
}

static void glance_rows(FILE *to, const struct glance *glance)
{
    fputs("<path class=\"rows\" d=\"", to);
    for (size_t i = 0; i <= glance->count; i++)
        fprintf(to, "M0 %dH%d", GLANCE_HEAD + (int)i * glance->pitch, GLANCE_WIDTH);
    fputs("\"/>", to);
    for (size_t i = 0; i < glance->count; i++) {
        char name[512];
        short_name(glance, i, name, sizeof name);
        text_put(to, "row", 0, GLANCE_HEAD + (int)i * glance->pitch + glance->pitch / 2 + 4, name,
                 NAME_MAX);
    }
}

/* The sides of the line at 1, and below it up to three numbers. */
static void glance_axis(FILE *to, const struct glance *glance)
{
    const struct chart *chart = glance->chart;
    int foot = GLANCE_HEAD + (int)glance->count * glance->pitch;
    if (chart->event) {
        text_put(to, "end", GLANCE_WIDTH, 10, "more \342\206\222", 16);
    } else {
        text_put(to, "", GLANCE_LEFT, 10,
                 chart->less_is_better ? "\342\206\220 longer" : "\342\206\220 slower", 16);
        fprintf(to, "<text class=\"mid\" x=\"%d\" y=\"10\">than <tspan class=\"of\">",
                (GLANCE_LEFT + GLANCE_WIDTH) / 2);
        html_put(to, "%.*s", OF_MAX, chart->group->baseline);
        fputs("</tspan></text>", to);
        text_put(to, "end", GLANCE_WIDTH, 10,
                 chart->less_is_better ? "shorter \342\206\222" : "faster \342\206\222", 16);
        fprintf(to, "<path class=\"one\" d=\"M%ld %dV%d\"/>", glance_x(glance, 1), GLANCE_HEAD,
                foot);
    }
    double ticks[TICKS_MAX];
    size_t count = axis_ticks(&glance->axis, ticks);
    for (size_t i = 0; i < count && i < GLANCE_TICKS; i++) {
        char text[32];
        snprintf(text, sizeof text, "%g%s", ticks[i], chart->event ? "" : "\303\227");
        text_put(to, "tick", glance_x(glance, ticks[i]), foot + 11, text, 16);
    }
    if (glance->left_out > 0) {
        char text[32];
        snprintf(text, sizeof text, "and %zu more", glance->left_out);
        text_put(to, "", 0, foot + 11, text, 16);
    }
}

/* The cells of a lane that have a row and a number: the bars of all, then the marks. */
static void glance_lane(FILE *to, const struct glance *glance, const struct lane *lane)
{
    const struct chart *chart = glance->chart;
    for (int pass = 0; pass < 2; pass++) {
        for (size_t i = 0; i < chart->group->count; i++) {
            const struct report_cell *cell = &chart->group->cells[i];
            struct interval value = value_of(chart, cell);
            size_t row = row_of(glance, cell);
            if (!is_in_chart(chart, cell) || strcmp(cell->variant, lane->variant) != 0 ||
                row == GLANCE_ROWS || !isfinite(value.median))
                continue;
            bool told = chart->event || is_baseline(chart, cell) || is_told(chart->shown[i]);
            long y = glance_y(glance, row, lane);
            if (pass == 1)
                fprintf(to, "<use %shref=\"#shape-%d\" x=\"%ld\" y=\"%ld\"/>",
                        told ? "" : "class=\"untold\" ", lane->shape,
                        glance_x(glance, value.median), y);
            else if (statistics_has_interval(value))
                fprintf(to, "M%ld %ldH%ld", glance_x(glance, value.lo), y,
                        glance_x(glance, value.hi));
        }
        fputs(pass == 0 ? "\"/>" : "", to);
    }
}

void report_chart_glance_write(FILE *to, const struct chart *chart)
{
    if (!has_numbers(chart))
        return;
    struct glance glance = glance_make(chart);
    fprintf(to, "<svg class=\"glance\" viewBox=\"0 0 %d %d\" aria-hidden=\"true\">", GLANCE_WIDTH,
            GLANCE_HEAD + (int)glance.count * glance.pitch + GLANCE_FOOT);
    glance_rows(to, &glance);
    glance_axis(to, &glance);
    for (size_t i = 0; i < glance.lanes.count; i++) {
        html_put(to, "<g class='v%d' data-variant='%s'>", glance.lanes.of[i].shape,
                 glance.lanes.of[i].variant);
        fputs("<path d=\"", to);
        glance_lane(to, &glance, &glance.lanes.of[i]);
        fputs("</g>", to);
    }
    fputs("</svg>", to);
    free(glance.lanes.of);
}

/* Table ---------------------------------------------------------------------------------------- */

static void caption_write(FILE *to, const struct chart *chart)
{
    html_put(to, "<table class='chart %s'><caption>",
             chart->event            ? "of-event"
             : chart->less_is_better ? "reversed"
                                     : "of-speed");
    if (chart->event)
        html_put(to, "%s per %s, 95 %% intervals; right is more", chart->about,
                 chart->per > 1 ? "million operations" : "operation");
    else
        html_put(to, "%s as a multiple of <b class='of'>%s</b>, 95 %% intervals; right is %s",
                 chart->about, chart->group->baseline,
                 chart->less_is_better ? "shorter" : "faster");
    html_put(to, "</caption>");
}

void report_chart_write(FILE *to, const struct chart *chart)
{
    struct lanes lanes = lanes_make(chart->group);
    struct axis axis = axis_make(chart);
    caption_write(to, chart);
    if (has_numbers(chart)) {
        html_put(to,
                 "<thead><tr><th scope='col'>%s</th><td></td><th scope='col' "
                 "class='first'>%s</th></tr></thead>",
                 lanes.are_rows ? "variant" : "workload",
                 chart->event     ? "the most"
                 : lanes.are_rows ? "over the baseline"
                                  : "first, over the next");
        html_put(to, "<tbody>");
        rows_write(to, chart, &lanes, &axis);
        axis_write(to, chart, &axis);
    } else {
        html_put(to, "<tbody><tr><td>Nothing of it has a number.</td></tr>");
        rows_write(to, chart, &lanes, &axis);
    }
    html_put(to, "</tbody></table>");
    free(lanes.of);
}
