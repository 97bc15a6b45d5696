# metric.gp - one number of each cell, as bars: of every variant, workload and count of workers.
#
# gnuplot -c plots/metric.gp RUN_DIR GROUP OUT_PREFIX [QUESTION [CAPTION [METRIC]]]
#   RUN_DIR     folder that holds cells.tsv, and latency.tsv or events.tsv where METRIC is from there
#   GROUP       group of the sweep, as in the first column
#   OUT_PREFIX  writes OUT_PREFIX.svg, .pdf and .png
#   QUESTION    title of the figure
#   CAPTION     machine and run, shown below
#   METRIC      throughput, which is the default, p50 or another percentage, max, or an event
#
# If the group has one variant, workloads and counts of workers are the rows of one panel, on one
# scale, to be compared. Else there is a panel per workload, on a scale of its own.

SL_HERE = ARG0
while (strlen(SL_HERE) && SL_HERE[strlen(SL_HERE):*] ne "/") {
    SL_HERE = SL_HERE[1:strlen(SL_HERE) - 1]
}
load SL_HERE . "style.gp"
SL_FILE = ARG1 . "/cells.tsv"
GROUP = ARG2
PREFIX = ARG3
TITLE = ARGC >= 4 && strlen(ARG4) ? ARG4 : "What was measured?"
CAPTION = ARGC >= 5 && strlen(ARG5) ? ARG5 : ARG1
METRIC = ARGC >= 6 && strlen(ARG6) ? ARG6 : "throughput"
load SL_HERE . "group.gp"

IS_LATENCY = METRIC eq "max" \
    || (METRIC[1:1] eq "p" && strlen(METRIC) > 1 && strstrt("0123456789", METRIC[2:2]) > 0)
IS_EVENT = !IS_LATENCY && METRIC ne "throughput"
QUANTILE = METRIC eq "max" ? 1.0 : IS_LATENCY ? real(METRIC[2:*]) / 100 : 0.0
VALUE_FILE = ARG1 . (IS_EVENT ? "/events.tsv" : IS_LATENCY ? "/latency.tsv" : "/cells.tsv")
ends_with(text, end) = strlen(text) >= strlen(end) \
    && text[strlen(text) - strlen(end) + 1:*] eq end
is_metric(unused) = IS_EVENT ? strcol("event") eq METRIC || ends_with(strcol("event"), ":" . METRIC) \
    : IS_LATENCY ? abs(column("quantile") - QUANTILE) < 1e-9 : strcol("status") eq "ok"

NV = words(VARIANTS)
NW = words(WORKLOADS)
NK = words(WORKERS)
PANELS = NV == 1 ? 1 : NW
NR = NV == 1 ? NW * NK : NV * NK
panel_of(w) = NV == 1 ? 1 : w
row_of(v, w, k) = NV == 1 ? (w - 1) * NK + k : (k - 1) * NV + v

# The words that all have in common stand above, the others before the bars.
SAME_NAME = sum [w = 1:NW] (sl_name(word(WORKLOADS, w)) eq sl_name(word(WORKLOADS, 1)) ? 0 : 1)
short_workload(w) = SAME_NAME || !strlen(sl_knobs(word(WORKLOADS, w))) ? word(WORKLOADS, w) \
    : sl_own_knobs(word(WORKLOADS, w), WORKLOADS)
row_variant(r) = NV == 1 ? word(VARIANTS, 1) : word(VARIANTS, (r - 1) % NV + 1)
row_workers(r) = word(WORKERS, NV == 1 ? (r - 1) % NK + 1 : (r - 1) / NV + 1)
row_workload(r) = NV == 1 && NW > 1 ? short_workload((r - 1) / NK + 1) : ""
row_label(r) = (NV > 1 ? row_variant(r) : row_workload(r)) \
    . (NK == 1 ? "" : (NV > 1 || NW > 1 ? ", " : "") . sl_count(int(row_workers(r)), "worker"))
panel_label(i) = (NV > 1 || NW == 1 ? word(WORKLOADS, i) : sl_common(WORKLOADS)) \
    . (NV > 1 ? "" : " on " . VARIANTS) . (NK > 1 ? "" : ", " . sl_count(int(WORKERS), "worker"))

# $ROWS: 1 panel, 2 row, 3 to 5 value and interval, 6 whether that is one. Peaks have no value per
# operation.
PEAK = 0
MID = IS_EVENT ? "per_op" : IS_LATENCY ? "ns" : "median"
if (IS_EVENT) {
    RATES = 0
    stats VALUE_FILE using (strcol("group") eq GROUP && is_metric(0) && strcol("per_op") ne "NA" \
        ? (RATES = RATES + 1) : 0) nooutput
    PEAK = RATES == 0
    MID = PEAK ? "value" : MID
}
end_of(name) = PEAK ? column(MID) : sl_end(name, MID)
is_range(unused) = !PEAK && strcol("lo") ne "NA"
OP = "operation"
stats SL_FILE using (strcol("group") eq GROUP ? strlen(OP = strcol("op")) : 0) nooutput
set table $ROWS
plot VALUE_FILE using (panel_of(sl_index(WORKLOADS, strcol("workload")))) \
    :(row_of(sl_index(VARIANTS, strcol("variant")), sl_index(WORKLOADS, strcol("workload")), \
        sl_index(WORKERS, strcol("workers")))) \
    :(column(MID)):(end_of("lo")):(end_of("hi")):(is_range(0)) \
    with table if (strcol("group") eq GROUP && is_metric(0) && strcol(MID) ne "NA")
unset table
set datafile separator whitespace
unset datafile columnheaders

array TOP[PANELS]
array LIMIT[PANELS]
array DRAWN[PANELS] # the numbers of the rows that have a value, as a list
do for [i = 1:PANELS] { TOP[i] = 0.0; LIMIT[i] = 0.0; DRAWN[i] = "" }
RANGES = 0
POINTS = 0
CUTS = 0
learn(i, r, value, range) = strlen(DRAWN[i] = sl_add(DRAWN[i], sprintf("%d", r))) \
    + (TOP[i] = value > TOP[i] ? value : TOP[i]) + (RANGES = RANGES + range) + (POINTS = POINTS + 1)
extend(i, hi) = (CUTS = CUTS + (hi > sl_reach(hi, TOP[i]))) \
    + (LIMIT[i] = sl_reach(hi, TOP[i]) > LIMIT[i] ? sl_reach(hi, TOP[i]) : LIMIT[i])
if (|$ROWS| > 0) {
    stats $ROWS using (learn(int($1), int($2), $3, int($6))) nooutput
    stats $ROWS using (extend(int($1), $5)) nooutput
}

# A rare event is given per million. A value that is no count says its unit.
MOST = 0.0
do for [i = 1:PANELS] { MOST = TOP[i] > MOST ? TOP[i] : MOST }
TIMES = IS_EVENT && !PEAK && MOST > 0 && MOST < 0.001 ? 1e6 : 1
UNIT = ends_with(METRIC, "_NS") || ends_with(METRIC, "-CLOCK") ? ", ns" \
    : strstrt(METRIC, "_MEMORY_") || ends_with(METRIC, "_BYTES") ? ", bytes" : ""
AXIS = IS_LATENCY ? METRIC . " of the latencies" : !IS_EVENT ? sl_plural(OP) . " per second" \
    : METRIC . (PEAK ? "" : TIMES > 1 ? " per million " . sl_plural(OP) : " per " . OP) . UNIT
seconds(text) = strstrt("mµn", text[strlen(text):*]) ? text[1:strlen(text) - 1] . " " . text[strlen(text):*] . "s" \
    : text . " s"
value_text(v) = IS_LATENCY ? seconds(sl_si(v / 1e9)) : !IS_EVENT ? sl_si(v) \
    : PEAK && v < 1000 ? sprintf("%g", v) : sl_plain(v * TIMES)
tick_text(v) = IS_LATENCY ? seconds(sl_tick(v / 1e9)) : v * TIMES < 1 ? sprintf("%g", v * TIMES) \
    : sl_tick(v * TIMES)
READING = "Bar: median of the samples" . (RANGES ? "; line: its 95 % interval." : ".") \
    . (IS_LATENCY ? " Shorter is better." : IS_EVENT ? "" : " Longer is faster.") \
    . (PANELS > 1 ? " Each panel has its own scale." : "") \
    . (PEAK || RANGES == POINTS ? "" : RANGES ? " Bars without a line may have" . SL_FEW . "." \
        : " No lines:" . SL_FEW . ".") \
    . (CUTS ? " A line that runs to the end goes on beyond the axis." : "")

row_name(r) = sl_row_name(row_label(r))
LABEL_CHARS = 0
NAME_LINES = 1
do for [r = 1:NR] {
    c = sl_longest_line(row_name(r))
    LABEL_CHARS = c > LABEL_CHARS ? c : LABEL_CHARS
    NAME_LINES = sl_lines(row_name(r)) > NAME_LINES ? sl_lines(row_name(r)) : NAME_LINES
}
NAMES = sl_name_width(LABEL_CHARS)
VALUES = 66
COLUMNS = PANELS > 1 && NAMES < 250 && SL_WIDE ? 2 : 1
W = sl_width(COLUMNS == 2 ? 980 : NAMES < 380 ? 640 : 820, COLUMNS * (NAMES + VALUES + 110) + 20)
PANEL_W = (W - 20.0) / COLUMNS
HEADING_LINES = 1
heading(i) = sl_wrap_spec(panel_label(i), int((PANEL_W - 20) / (SL_PAPER ? 8.8 : 7.6)))
do for [i = 1:PANELS] {
    HEADING_LINES = sl_lines(heading(i)) > HEADING_LINES ? sl_lines(heading(i)) : HEADING_LINES
}
HEADING = 19 + 15 * HEADING_LINES
HEAD = sl_head(TITLE, READING, W)
AROUND = HEAD + sl_foot(CAPTION, W)
ROW = sl_row_h(4.0 + 14 * NAME_LINES, 1.0 + 12 * NAME_LINES, NR, AROUND + HEADING + 46, W)
PANEL_H = HEADING + ROW * NR + 46
FIT = sl_fit(PANEL_H, AROUND, W) * COLUMNS
PAGES = sl_pages(PANELS, FIT)
left(i) = 10 + PANEL_W * ((i - 1) % COLUMNS) + NAMES
right(i) = 10 + PANEL_W * ((i - 1) % COLUMNS + 1) - VALUES
top(i) = HEAD + PANEL_H * ((i - 1) % FIT / COLUMNS) + HEADING
# r comes from the lists, as text.
got(i, r, k) = $1 == i && $2 == sl_number(r) ? column(k) : sl_none(r, -2 * limit - 1)
spec(r) = row_variant(sl_number(r))

do for [sheet = 1:sl_sheets(PAGES)] {
    eval sl_sheet(sheet)
    FIRST = 1 + (page - 1) * FIT
    LAST = page * FIT < PANELS ? page * FIT : PANELS
    H = AROUND + PANEL_H * ceil((LAST - FIRST + 1) / real(COLUMNS))
    eval sl_terminal(format, W, H)
    set output sl_page_file(PREFIX, page, format)
    set multiplot
    do for [i = FIRST:LAST] {
        set label heading(i) at 14 + PANEL_W * ((i - 1) % COLUMNS), top(i) + 3 - 15 * HEADING_LINES left \
            font sl_bold(format, 12) textcolor rgb SL_INK
        do for [r = 1:NR] {
            set label row_name(r) at left(i) - 8, \
                top(i) + ROW * (r - 0.5) - 7 * (sl_lines(row_name(r)) - 1) right \
                font ",12" textcolor rgb SL_INK
            if (!sl_index(DRAWN[i], sprintf("%d", r))) {
                set label "not measured" at left(i) + 8, top(i) + ROW * (r - 0.5) left \
                    font ",11" textcolor rgb SL_SOFT
            }
        }
    }
    load SL_HERE . "canvas.gp"
    do for [i = FIRST:LAST] {
        if (!strlen(DRAWN[i])) { continue }
        eval sl_panel(left(i), right(i), top(i), top(i) + ROW * NR, W, H)
        limit = LIMIT[i] > 0 ? LIMIT[i] * 1.04 : 1
        set xrange [0:limit]
        set yrange [NR + 0.5:0.5]
        unset xtics
        set xtics out nomirror scale 0.4 font ",10" textcolor rgb SL_SOFT offset 0, 0.4
        set xtics ("0" 0)
        step = sl_step(limit)
        do for [k = 1:int(limit / step)] { set xtics add (tick_text(k * step) k * step) }
        set xlabel AXIS font ",10" textcolor rgb SL_SOFT offset 0, 0.9
        set grid xtics linecolor rgb SL_RULE linewidth 0.5
        plot NaN notitle, \
            for [r in DRAWN[i]] $ROWS \
                using (got(i, r, 3)):2:(0.0):(got(i, r, 3)):($2 - 0.33):($2 + 0.33) \
                with boxxyerror fillcolor rgb sl_fill(spec(r), VARIANTS) \
                fillstyle solid 1 border linecolor rgb sl_edge(spec(r), VARIANTS) notitle, \
            for [r in DRAWN[i]] $ROWS using (got(i, r, 3)):2:(got(i, r, 4)):(got(i, r, 5)) \
                with xerrorbars pointtype sl_point(spec(r), VARIANTS) \
                pointsize sl_point_size(format, 1) linewidth 1.2 \
                linecolor rgb sl_hue(spec(r)) notitle, \
            for [r in DRAWN[i]] $ROWS using (got(i, r, 3) >= 0 ? limit : got(i, r, 3)):2:(value_text($3)) \
                with labels right offset screen 56.0 / W, 0 \
                font ",11" textcolor rgb SL_INK notitle
    }
    unset multiplot
    unset output
}
