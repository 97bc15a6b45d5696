/* advise_page.c - an advice as a page: see advise.h.
 *
 * Like report.html (report_page.h) the page is HTML 5 with its style and its figures inside,
 * fetches nothing and has no script. Figures are SVG in the colours of the text. Each one is as
 * wide as its column, so that a phone shows it as a desk does.
 */
#include "harness/advice/advise.h"
#include "harness/base/text.h"
#include "harness/doc/doc.h"
#include "harness/doc/html.h"
#include "harness/evidence/replay_untold.h"
#include "harness/numbers/units.h"
#include "harness/report/report_page.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PANEL_WIDTH = 320, PANEL_HEIGHT = 210, LEFT = 58, RIGHT = 14, TOP = 12, BOTTOM = 34 };
enum { SHARES = 7, NAME_COLUMNS = 24 }; /* of a row that the workload prints */

static const char style[] =
    ".panels{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,18rem),1fr));"
    "gap:0 1.4rem}.panels figure{margin:.6rem 0}.panels svg{display:block;width:100%;height:auto;"
    "overflow:visible}.panels text{font-size:12px;fill:var(--soft)}.panels "
    ".rule{stroke:var(--rule)}"
    ".panels .line{stroke:var(--near);stroke-width:2;fill:none}.panels .dot{fill:var(--near)}"
    ".panels .range{stroke:var(--near);stroke-width:2}.panels .knee{stroke:var(--soft);"
    "stroke-dasharray:3 3}.panels figcaption::after{content:none!important}\n"
    ".effects{width:100%}.effects svg,.where-time svg{display:block;width:100%;overflow:visible}"
    ".effects .bars{width:42%}.effects .zero{stroke:var(--soft)}.effects .chance{fill:var(--rule);"
    "fill-opacity:.55}.effects .p99{fill:var(--far)}.effects .time{fill:var(--near)}"
    ".effects .span{stroke:var(--ink);stroke-width:1.5}.effects text{font-size:11px;text-anchor:"
    "middle;fill:var(--soft)}.effects .even{color:var(--soft)}.effects td.number{white-space:"
    "nowrap}\n"
    ".where-time{width:100%}.where-time .bars{width:50%}.where-time td.number{white-space:nowrap}"
    ".swatch{display:inline-block;width:.9em;height:.9em;vertical-align:-.1em;margin-right:.3em;"
    "border:1px solid var(--rule)}"
    ".k0{fill:#0072b2;background:#0072b2}.k1{fill:#d55e00;background:#d55e00}"
    ".k2{fill:#882255;background:#882255}.k3{fill:#b9b9b9;background:#b9b9b9}"
    ".k4{fill:#b87800;background:#b87800}.k5{fill:#00845f;background:#00845f}"
    ".k6{fill:#8ab8d8;background:#8ab8d8}\n"
    ".ten dt{font-weight:600;color:var(--ink)}\n"
    "@media (max-width:40rem){.effects,.effects caption,.effects tbody,.where-time,.where-time "
    "caption,.where-time tbody{display:block}.effects thead,.where-time thead{display:none}"
    ".effects tr,.where-time tr{display:grid;grid-template-columns:1fr auto auto;padding:.3rem 0;"
    "border-bottom:1px solid var(--rule);gap:0 .8rem}.effects th,.effects td,.where-time "
    "th,.where-time td{border:0;padding:0}.effects .bars,.where-time .bars{grid-area:2/1/3/4;"
    "width:auto}.effects td.number::before{content:attr(data-of) ' ';color:var(--soft)}"
    ".ten dd{margin-bottom:.4rem}}\n";

/* Panels --------------------------------------------------------------------------------------- */

/* One value at each rung, from the least to the most of the seeds. */
struct rung {
    int workers;
    double least, value, most;
};

/* A small figure over the number of workers, which doubles from rung to rung. */
struct panel {
    const struct rung *rungs;
    size_t count, knee;
    const char *caption;
    bool is_time; /* logarithmic, in ns; else from 0 to 100 percent */
    double least, most;
};

static double panel_x(const struct panel *panel, size_t i)
{
    double room = PANEL_WIDTH - LEFT - RIGHT;
    return panel->count < 2 ? LEFT + room / 2
                            : LEFT + room * ((double)i + 0.3) / ((double)panel->count - 0.4);
}

static double panel_y(const struct panel *panel, double value)
{
    double share = panel->is_time ? log(fmax(value, panel->least) / panel->least) /
                                        log(panel->most / panel->least)
                                  : value / panel->most;
    return TOP + (PANEL_HEIGHT - TOP - BOTTOM) * (1 - share);
}

static void panel_scale(struct panel *panel)
{
    panel->least = INFINITY;
    panel->most = panel->is_time ? 0 : 100;
    for (size_t i = 0; i < panel->count; i++) {
        if (panel->rungs[i].least > 0)
            panel->least = fmin(panel->least, panel->rungs[i].least);
        panel->most = fmax(panel->most, panel->rungs[i].most);
    }
    panel->least = isfinite(panel->least) ? panel->least / 1.5 : 1;
    panel->most = panel->is_time ? fmax(panel->most * 1.2, panel->least * 10) : panel->most;
}

static void tick_write(FILE *to, const struct panel *panel, double value, const char *text)
{
    double y = panel_y(panel, value);
    html_put(to, "<line class='rule' x1='%d' x2='%d' y1='%.1f' y2='%.1f'/>", LEFT,
             PANEL_WIDTH - RIGHT, y, y);
    html_put(to, "<text x='%d' y='%.1f' text-anchor='end'>%s</text>", LEFT - 6, y + 4, text);
}

/* "25 %" */
static struct text percent_of(double value)
{
    struct text text;
    snprintf(text.s, sizeof text.s, "%.0f %%", value);
    return text;
}

/* Powers of ten, and twice and five times as much where these are few. */
static void panel_ticks(FILE *to, const struct panel *panel)
{
    static const double steps[] = {1, 2, 5};
    if (!panel->is_time) {
        for (int percent = 0; percent <= 100; percent += 25)
            tick_write(to, panel, percent, percent_of(percent).s);
        return;
    }
    bool many = panel->most / panel->least > 60;
    for (int decade = 0; decade < 13; decade++)
        for (int i = 0; i < (many ? 1 : 3); i++) {
            double ns = steps[i] * pow(10, decade);
            if (ns >= panel->least && ns <= panel->most)
                tick_write(to, panel, ns, text_time(ns).s);
        }
}

static void rung_write(FILE *to, const struct panel *panel, size_t i)
{
    const struct rung *rung = &panel->rungs[i];
    double x = panel_x(panel, i), y = panel_y(panel, rung->value);
    html_put(to, "<text x='%.1f' y='%d' text-anchor='middle'>%d</text>", x,
             PANEL_HEIGHT - BOTTOM + 16, rung->workers);
    if (i > 0)
        html_put(to, "<line class='line' x1='%.1f' y1='%.1f' x2='%.1f' y2='%.1f'/>",
                 panel_x(panel, i - 1), panel_y(panel, panel->rungs[i - 1].value), x, y);
    html_put(to, "<g><title>%s: %s</title>", counted((uint64_t)rung->workers, "worker").s,
             panel->is_time ? text_time(rung->value).s : percent_of(rung->value).s);
    html_put(to, "<line class='range' x1='%.1f' x2='%.1f' y1='%.1f' y2='%.1f'/>", x, x,
             panel_y(panel, rung->least), panel_y(panel, rung->most));
    html_put(to, "<circle class='dot' cx='%.1f' cy='%.1f' r='%d'/></g>", x, y,
             i == panel->knee ? 6 : 4);
}

static void panel_write(FILE *to, struct panel panel)
{
    panel_scale(&panel);
    html_put(to, "<figure><svg viewBox='0 0 %d %d' role='img' aria-label='%s'>", PANEL_WIDTH,
             PANEL_HEIGHT, panel.caption);
    panel_ticks(to, &panel);
    html_put(to, "<line class='knee' x1='%.1f' x2='%.1f' y1='%d' y2='%d'/>",
             panel_x(&panel, panel.knee), panel_x(&panel, panel.knee), TOP, PANEL_HEIGHT - BOTTOM);
    for (size_t i = 0; i < panel.count; i++)
        rung_write(to, &panel, i);
    html_put(to, "<text x='%d' y='%d' text-anchor='middle'>workers</text></svg>",
             (LEFT + PANEL_WIDTH - RIGHT) / 2, PANEL_HEIGHT - 4);
    html_put(to, "<figcaption>%s</figcaption></figure>", panel.caption);
}

/* The share of the workers' time in which they compute for the program. */
static double computing_of(const struct advice *advice, int workers, double makespan_ns)
{
    return makespan_ns > 0 ? 100 * (double)advice->program->work_ns / workers / makespan_ns : 0;
}

static void ladder_write(FILE *to, const struct advice *advice)
{
    struct rung time[ADVISE_LADDER_MAX], busy[ADVISE_LADDER_MAX], p99[ADVISE_LADDER_MAX];
    size_t count = advice->ladder_count;
    for (size_t i = 0; i < count; i++) {
        const struct advise_case *of = &advice->ladder[i];
        int n = of->workers;
        time[i] =
            (struct rung){n, of->makespan_range_ns[0], of->makespan_ns, of->makespan_range_ns[1]};
        p99[i] = (struct rung){n, of->p99_range_ns[0], of->p99_ns, of->p99_range_ns[1]};
        busy[i] = (struct rung){n, computing_of(advice, n, of->makespan_range_ns[1]),
                                computing_of(advice, n, of->makespan_ns),
                                computing_of(advice, n, of->makespan_range_ns[0])};
    }
    html_put(to,
             "<section id='ladder'><h2>How many workers it can use</h2><p>Each number of "
             "workers runs with %d seeds. Dots are medians, and lines go from the least to the "
             "most. The dashed line is where twice as many take less than 5 %% off.</p>"
             "<div class='panels'>",
             ADVISE_SEEDS);
    panel_write(to, (struct panel){time, count, advice->knee, "Time of the program", true, 0, 0});
    panel_write(to, (struct panel){busy, count, advice->knee,
                                   "Efficiency: computing, in percent of the workers' time", false,
                                   0, 0});
    panel_write(to, (struct panel){p99, count, advice->knee, "p99 of its latencies", true, 0, 0});
    html_put(to, "</div></section>");
}

/* Effects -------------------------------------------------------------------------------------- */

/* Multiples of what Go's decisions take, logarithmic. */
struct scale {
    double least, most;
};

static void scale_add(struct scale *scale, double value, double base)
{
    if (!(value > 0) || !(base > 0))
        return;
    scale->least = fmin(scale->least, value / base);
    scale->most = fmax(scale->most, value / base);
}

static double scale_place(const struct scale *scale, double ratio)
{
    double share = log(fmax(ratio, scale->least) / scale->least) / log(scale->most / scale->least);
    return 7 + 86 * fmin(1, share);
}

static struct scale scale_make(const struct advice *advice, const struct advise_case *cases,
                               size_t count)
{
    struct scale scale = {0.9, 1.1};
    const struct advise_case *base = &advice->ladder[advice->knee];
    for (size_t i = 0; i < count; i++) {
        const struct advise_case *of = &cases[i];
        for (int k = 0; k < 2 && of->is_there; k++) {
            scale_add(&scale, of->p99_range_ns[k], base->p99_ns);
            scale_add(&scale, of->makespan_range_ns[k], base->makespan_ns);
        }
    }
    return scale;
}

static void scale_write(FILE *to, const struct scale *scale)
{
    static const double ticks[] = {0,  100, -50, 10,  -10,  -75, 300,  20,
                                   50, -20, 900, -90, 4900, -98, 9900, -99};
    double taken[sizeof ticks / sizeof *ticks];
    size_t count = 0;
    html_put(to, "<tr class='axis'><th></th><td class='bars'><svg height='16' aria-hidden='true'>");
    for (size_t i = 0; i < sizeof ticks / sizeof *ticks; i++) {
        double ratio = 1 + ticks[i] / 100, place = scale_place(scale, ratio);
        bool fits = ratio >= scale->least && ratio <= scale->most;
        for (size_t k = 0; k < count && fits; k++)
            fits = fabs(taken[k] - place) >= 17;
        if (!fits)
            continue;
        taken[count++] = place;
        html_put(to, "<text x='%.1f%%' y='12'>%s%g %%</text>", place, ticks[i] > 0 ? "+" : "",
                 ticks[i]);
    }
    html_put(to, "</svg></td><td></td><td></td></tr>");
}

/* A bar from 1 to the median, and a line from the least to the most. */
static void bar_write(FILE *to, const struct scale *scale, const char *class, double value,
                      const double range[2], double base, int y)
{
    if (!(value > 0) || !(base > 0))
        return;
    double zero = scale_place(scale, 1), at = scale_place(scale, value / base);
    html_put(to, "<rect class='%s' x='%.1f%%' width='%.1f%%' y='%d' height='8'/>", class,
             fmin(zero, at), fmax(0.3, fabs(at - zero)), y);
    html_put(to, "<line class='span' x1='%.1f%%' x2='%.1f%%' y1='%d' y2='%d'/>",
             scale_place(scale, range[0] / base), scale_place(scale, range[1] / base), y + 4,
             y + 4);
}

static void number_write(FILE *to, const struct advice *advice, const char *of, double value,
                         double base)
{
    double change = advice_change(value, base), percent = round(100 * change);
    html_put(to, "<td class='number%s' data-of='%s'>%s%g %%</td>",
             fabs(change) > advice_threshold(advice) ? "" : " even", of, percent > 0 ? "+" : "",
             percent + 0.0);
}

static void effect_write(FILE *to, const struct advice *advice, const struct scale *scale,
                         const struct advise_case *of)
{
    const struct advise_case *base = &advice->ladder[advice->knee];
    double chance = advice_threshold(advice);
    html_put(to, "<tr><th scope='row'><code>%s</code> %s</th>", of->name, of->meaning);
    if (!of->is_there) {
        html_put(to, "<td colspan='3' class='failed'>did not run: %s</td></tr>", of->why);
        return;
    }
    html_put(to, "<td class='bars'><svg height='24' role='img' aria-label='%s'>", of->meaning);
    double left = scale_place(scale, 1 / (1 + chance)), right = scale_place(scale, 1 + chance);
    html_put(to, "<rect class='chance' x='%.1f%%' width='%.1f%%' y='0' height='24'/>", left,
             right - left);
    bar_write(to, scale, "p99", of->p99_ns, of->p99_range_ns, base->p99_ns, 3);
    bar_write(to, scale, "time", of->makespan_ns, of->makespan_range_ns, base->makespan_ns, 13);
    html_put(to, "<line class='zero' x1='%.1f%%' x2='%.1f%%' y1='0' y2='24'/></svg></td>",
             scale_place(scale, 1), scale_place(scale, 1));
    number_write(to, advice, "p99", of->p99_ns, base->p99_ns);
    number_write(to, advice, "time", of->makespan_ns, base->makespan_ns);
    html_put(to, "</tr>");
}

static void effects_table(FILE *to, const struct advice *advice, const char *label,
                          const struct advise_case *cases, size_t count)
{
    static const char *const names[] = {"changed alone", "less, or more than before", "#p99",
                                        "#time", NULL};
    struct scale scale = scale_make(advice, cases, count);
    html_table_begin(to, label, "effects", names);
    scale_write(to, &scale);
    for (size_t i = 0; i < count; i++)
        effect_write(to, advice, &scale, &cases[i]);
    html_table_end(to);
}

static void effects_write(FILE *to, const struct advice *advice)
{
    html_put(to,
             "<section id='decisions'><h2>What each decision changes</h2><p>With %s, each "
             "decision of the scheduler is changed alone. Bars are changes of the medians, the "
             "upper one of the p99 and the lower one of the time. Lines go from the least to the "
             "most of %d seeds. The grey band is chance: up to %.1f %%.</p>",
             counted((uint64_t)advice->ladder[advice->knee].workers, "worker").s, ADVISE_SEEDS,
             100 * advice_threshold(advice));
    effects_table(to, advice,
                  advice_is_of_latency(advice)
                      ? "Changes of p99 and time: by the p99, what helps most and what hurts most"
                      : "Changes of p99 and time: by the time, what helps most and what hurts most",
                  advice->changes, advice->changes_count);
    html_put(to, "</section><section id='loads'><h2>What twice as much changes</h2><p>The "
                 "scheduler and the number of workers stay.</p>");
    if (advice->connections > 0)
        html_put(to, "<p>It has %s, which serve one request after the other.</p>",
                 counted(advice->connections, "connection").s);
    else
        html_put(to, "<p>What connections change cannot be told: %s.</p>", advice->untold);
    effects_table(to, advice, "Changes of p99 and time by twice as much", advice->loads,
                  advice->loads_count);
    html_put(to, "</section>");
}

/* Waiting -------------------------------------------------------------------------------------- */

static const char *const share_words[SHARES] = {"computing", "ready to run", "for locks",
                                                "sleeping",  "in calls",     "for what is outside",
                                                "for others"};

/* "NAME COUNT LIFE SHARE..." as workloads/replay_times.c prints it; false: another line. */
static bool row_read(const char *line, size_t size, unsigned long *count,
                     double numbers[SHARES + 1])
{
    char rest[160];
    if (size <= NAME_COLUMNS || size - NAME_COLUMNS >= sizeof rest)
        return false;
    memcpy(rest, line + NAME_COLUMNS, size - NAME_COLUMNS);
    rest[size - NAME_COLUMNS] = '\0';
    char *at = rest, *end;
    *count = strtoul(at, &end, 10);
    for (int i = 0; i <= SHARES && end != at; i++)
        numbers[i] = strtod(at = end, &end);
    return end != at && *end == '\0';
}

static void row_write(FILE *to, const char *name, int name_size, unsigned long count,
                      const double numbers[SHARES + 1])
{
    double at = 0;
    while (name_size > 0 && name[name_size - 1] == ' ')
        name_size--;
    html_put(to,
             "<tr><th scope='row'>%.*s</th><td class='bars'><svg height='14' role='img' "
             "aria-label='shares of its life'>",
             name_size, name);
    for (int i = 0; i < SHARES; i++) {
        double share = fmin(100 - at, numbers[i + 1]);
        html_put(to, "<rect class='k%d' x='%.1f%%' width='%.1f%%' y='1' height='12'>", i, at,
                 fmax(0, share));
        html_put(to, "<title>%s %.1f %%</title></rect>", share_words[i], numbers[i + 1]);
        at += share;
    }
    html_put(to, "</svg></td><td class='number'>%zu</td><td class='number'>%s</td></tr>",
             (size_t)count, text_time(1000 * numbers[0]).s);
}

static void key_write(FILE *to)
{
    html_put(to, "<ul class='key'>");
    for (int i = 0; i < SHARES; i++)
        html_put(to, "<li><span class='swatch k%d'></span>%s</li>", i, share_words[i]);
    html_put(to, "</ul>");
}

/* Where it does not scale any more: the first rung above the knee, or the last one. */
static const struct advise_case *stopped_at(const struct advice *advice)
{
    size_t above = advice->knee + 1 < advice->ladder_count ? advice->knee + 1 : advice->knee;
    return &advice->ladder[above];
}

static void waiting_write(FILE *to, const struct advice *advice)
{
    static const char *const names[] = {"function", "shares of its goroutines' lives",
                                        "#goroutines", "#mean life", NULL};
    const struct advise_case *of = stopped_at(advice);
    struct advice_lines lines;
    advice_lines_make(advice, &lines);
    html_put(to, "<section id='waiting'><h2>What it waits for with %s</h2>",
             counted((uint64_t)of->workers, "worker").s);
    for (size_t i = 0; i < lines.count; i++)
        if (strcmp(lines.of[i].name, "limit") == 0)
            html_put(to, "<p><b>%s</b></p>", lines.of[i].text);
    html_put(to,
             "<p>All goroutines together were ready to run for %s before they ran, and waited "
             "%s for locks. The program computes for %s.</p>",
             text_time(of->late_ns).s, text_time(of->lock_ns).s,
             text_time((double)advice->program->work_ns).s);
    key_write(to);
    html_table_begin(to, "Where the time of goroutines went, with one seed", "where-time", names);
    for (const char *line = of->functions; *line; line += strcspn(line, "\n") + 1) {
        size_t size = strcspn(line, "\n");
        double numbers[SHARES + 1];
        unsigned long count;
        if (row_read(line, size, &count, numbers))
            row_write(to, line, NAME_COLUMNS, count, numbers);
        if (line[size] == '\0')
            break;
    }
    html_table_end(to);
    html_put(to, "<h3>Where latencies come from</h3><pre>%s</pre>", of->parts);
    html_put(to, "</section>");
}

/* Frame ---------------------------------------------------------------------------------------- */

static void head_write(FILE *to, const struct advice *advice)
{
    html_put(to,
             "<!DOCTYPE html>\n<html lang='en'><head><meta charset='utf-8'>"
             "<meta name='viewport' content='width=device-width, initial-scale=1'>"
             "<title>Advice for %s</title>",
             advice->file);
    fprintf(to, "\n<style>\n%s%s</style>\n", report_style, style);
    html_put(to, "</head><body><header><h1>What matters to %s</h1>", advice->file);
    html_put(to,
             "<p class='where'>%s on %s, simulated: %s of computing, critical path %s. Made by "
             "<code>schedlab advise %s --machine %s --format page</code>.</p>",
             counted(advice->program->goroutines_count, "goroutine").s, advice->machine,
             text_time((double)advice->program->work_ns).s,
             text_time((double)advice->program->critical_ns).s, advice->file, advice->machine);
    html_put(to, "<nav aria-label='Parts of this page'><ul><li><a href='#lines'>In ten lines</a>"
                 "</li><li><a href='#ladder'>Workers</a></li><li><a href='#decisions'>Decisions</a>"
                 "</li><li><a href='#loads'>Load</a></li><li><a "
                 "href='#waiting'>Waiting</a></li></ul></nav></header>");
}

void advice_page_write(const struct advice *advice, FILE *to)
{
    struct advice_lines lines;
    advice_lines_make(advice, &lines);
    head_write(to, advice);
    html_put(to, "<main><section id='lines'><h2>In ten lines</h2><dl class='ten'>");
    for (size_t i = 0; i < lines.count; i++)
        html_put(to, "<dt>%s</dt><dd>%s</dd>", lines.of[i].name, lines.of[i].text);
    html_put(to, "</dl></section>");
    ladder_write(to, advice);
    effects_write(to, advice);
    waiting_write(to, advice);
    html_put(to,
             "<p class='note'>Everything here is computed: `schedlab advise --format json` has "
             "all cases. %s</p></main></body></html>\n",
             REPLAY_UNTOLD);
}
