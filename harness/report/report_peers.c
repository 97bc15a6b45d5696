/* report_peers.c - see report_peers.h. */
#include "harness/report/report_peers.h"

#include "harness/answers/best_peer.h"
#include "harness/base/memory.h"
#include "harness/doc/doc.h"
#include "harness/doc/html.h"
#include "harness/numbers/units.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The variants of a group; of an interrupted sweep some lines lack some. */
struct columns {
    const char **variants;
    size_t count;
};

static void columns_add(struct columns *columns, const struct best_peer *line)
{
    for (size_t i = 0; i < line->count; i++) {
        size_t known = 0;
        while (known < columns->count &&
               strcmp(columns->variants[known], line->cells[i].variant) != 0)
            known++;
        if (known == columns->count)
            columns->variants[columns->count++] = line->cells[i].variant;
    }
}

/* In catalogue order, that of the longest line. free() the variants. */
static struct columns columns_make(const struct report_group *group)
{
    struct columns columns = {xcalloc(group->count + 1, sizeof *columns.variants), 0};
    struct best_peer line, longest = {.count = 0};
    for (size_t at = 0; best_peer_next(group, &at, &line);)
        if (line.count > longest.count)
            longest = line;
    columns_add(&columns, &longest);
    for (size_t at = 0; best_peer_next(group, &at, &line);)
        columns_add(&columns, &line);
    return columns;
}

bool report_peers_any(const struct report *report)
{
    for (size_t i = 0; i < report->groups_count; i++)
        if (best_peer_any(&report->groups[i]))
            return true;
    return false;
}

/* Page ---------------------------------------------------------------------------------------- */

/* "1.84x 1.79 to 1.88"; behind a tilde where the interval does not exclude 1. */
static void ratio_write(FILE *to, const struct best_peer *line, const struct report_cell *cell)
{
    if (!line->best || !cell) {
        html_put(to, "<td class='number'>-</td>");
        return;
    }
    if (cell == line->best) {
        html_put(to, "<td class='number range'>best</td>");
        return;
    }
    if (!report_cell_ok(cell)) {
        html_put(to, "<td class='%s'>%s</td>",
                 strcmp(cell->status, "failed") == 0 ? "number failed" : "number range",
                 cell->status);
        return;
    }
    struct interval ratio = best_peer_ratio(cell, line->best).ratio;
    if (isnan(ratio.median)) {
        html_put(to, "<td class='number range'>other distances</td>");
        return;
    }
    bool shown = ratio.lo > 1 || ratio.hi < 1; /* neither without an interval */
    html_put(to, "<td class='number'>%s%s<br><span class='range'>%s</span></td>", shown ? "" : "~ ",
             text_ratio(ratio.median).s, text_ratio_interval(ratio).s);
}

/* Writes the best peer, and the time of one operation there: all workers together, by the clock. */
static void line_write(FILE *to, const struct report_group *group, const struct columns *columns,
                       const struct best_peer *line)
{
    html_put(to,
             "<tr><th scope='row'><span class='name'>%s</span></th><td class='number'>%d</td><td>",
             line->cells->workload, line->cells->workers);
    if (line->best) {
        html_put(to, "%s<br><span class='range'>%s a %s</span>", line->best->variant,
                 text_time(1e9 / line->best->throughput.median).s, line->best->op);
    } else {
        html_put(to, "<span class='range'>no peer has a number</span>");
    }
    html_put(to, "</td>");
    for (size_t i = 0; i < columns->count; i++)
        ratio_write(to, line,
                    report_cell_find(group, columns->variants[i], line->cells->workload,
                                     line->cells->workers));
    html_put(to, "</tr>");
}

static void group_write(FILE *to, const struct report_group *group)
{
    char label[256];
    struct columns columns = columns_make(group);
    struct best_peer line;
    snprintf(label, sizeof label, "Group %.100s: multiple of the best peer's throughput",
             group->id);
    html_table_open(to, label, "numbers");
    html_put(to, "<thead><tr><th scope='col'>workload</th>");
    html_th_number(to, "workers");
    html_put(to, "<th scope='col'>best peer</th>");
    for (size_t i = 0; i < columns.count; i++)
        html_th_number(to, columns.variants[i]);
    html_put(to, "</tr></thead><tbody>");
    for (size_t at = 0; best_peer_next(group, &at, &line);)
        line_write(to, group, &columns, &line);
    html_table_end(to);
    free(columns.variants);
}

void report_peers_write(FILE *to, const struct report *report)
{
    if (!report_peers_any(report))
        return;
    html_put(to,
             "<section id='peers'><h2>Against other runtimes</h2><p>Peers run the same workloads "
             "with the same answers, as programs of their own (harness/peers/README.md of "
             "schedlab). Per workload and number of workers, the best peer is the one with the "
             "highest median; above 1\303\227 is faster than it. A floor (floor:core and so on) is "
             "no runtime but the same by hand without a scheduler, which nothing can undercut by "
             "much. The second line of a number is its 95 %% interval; ~ stands where that does "
             "not exclude 1, or there are too few samples to say.</p>");
    for (size_t i = 0; i < report->groups_count; i++)
        if (best_peer_any(&report->groups[i]))
            group_write(to, &report->groups[i]);
    html_put(to, "</section>");
}

/* JSON ---------------------------------------------------------------------------------------- */

/* Adds the ratio and its interval where there is one; the inverse of it for a multiple of time. */
static void ratio_add(json_t *object, struct peer_ratio of, bool of_time)
{
    struct interval ratio = of.ratio;
    if (of_time)
        ratio = (struct interval){1 / ratio.median, 1 / ratio.hi, 1 / ratio.lo, ratio.n};
    json_t *numbers = ratio_to_json(ratio);
    if (!numbers)
        return;
    json_object_update(object, numbers);
    json_decref(numbers);
    json_object_set_new(object, "n", json_integer((json_int_t)ratio.n));
    json_object_set_new(object, "class", json_string(class_text(of.chosen)));
}

static json_t *cell_to_json(const struct best_peer *line, const struct report_cell *cell)
{
    json_t *object = json_pack("{ss}", "variant", cell->variant), *floor = json_object();
    if (line->best && cell != line->best)
        ratio_add(object, best_peer_ratio(cell, line->best), false);
    if (line->floor && cell != line->floor)
        ratio_add(floor, best_peer_ratio(cell, line->floor), true);
    if (json_object_size(floor) > 0)
        json_object_set(object, "over_floor", floor);
    json_decref(floor);
    return object;
}

static json_t *line_to_json(const struct report_group *group, const struct best_peer *line)
{
    json_t *ratios = json_array(), *without = json_array();
    json_t *object = json_pack("{ss ss si}", "group", group->id, "workload", line->cells->workload,
                               "workers", line->cells->workers);
    for (size_t i = 0; i < line->count; i++) {
        const struct report_cell *cell = &line->cells[i];
        if (report_cell_ok(cell)) {
            json_array_append_new(ratios, cell_to_json(line, cell));
            continue;
        }
        json_array_append_new(without,
                              json_pack("{ss ss ss}", "variant", cell->variant, "status",
                                        cell->status, "reason", cell->reason ? cell->reason : ""));
    }
    if (line->best)
        json_object_set_new(object, "best", json_string(line->best->variant));
    if (line->floor)
        json_object_set_new(object, "floor", json_string(line->floor->variant));
    json_object_set_new(object, "ratios", ratios);
    json_object_set_new(object, "without", without);
    return object;
}

json_t *report_peers_to_json(const struct report *report)
{
    json_t *lines = json_array();
    for (size_t i = 0; i < report->groups_count; i++) {
        const struct report_group *group = &report->groups[i];
        struct best_peer line;
        for (size_t at = 0; best_peer_any(group) && best_peer_next(group, &at, &line);)
            if (line.best || line.floor)
                json_array_append_new(lines, line_to_json(group, &line));
    }
    return lines;
}
