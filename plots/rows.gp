# rows.gp - one panel per workload, one bar per variant; a subroutine of throughput.gp and
# speedup.gp.
#
# Called after group.gp as: load SL_HERE . "rows.gp". Draws the whole figure in all formats.
# In:  PREFIX, TITLE, READING, CAPTION
#      MID, LO, HI        the columns of SL_FILE that hold the value and its interval
#      row_axis(op)       label of a panel's axis
#      row_text(value)    a value as text
#      row_tick(value)    a value as text at the axis
#      ROW_IDEAL          1: draw lines at 1 and at the panel's count of workers
#      BASELINE           "" or the variant that the second column of numbers is relative to; then
#                         over_baseline(workload, variant) is the text of that column
#
# Bars start at zero and are linear, so that their lengths compare; each panel has a scale of its
# own, because the operations of two workloads do not compare. A workload is shown at the largest
# count of workers it was run with.

NV = words(VARIANTS)
NW = words(WORKLOADS)
array OP[NW]
array TOP[NW]
array FLOOR[NW]  # the highest floor: what has no scheduler shall not set the scale
array DRAWN[NW]  # the numbers of the variants that have a value, as a list
array UNDRAWN[NW] # and of those that say why they have none
array FEW[NW]    # those without an interval
array CUT[NW]    # those with one that goes on beyond the axis
do for [i = 1:NW] {
    OP[i] = "operation"
    TOP[i] = ROW_IDEAL ? WORKERS_MAX[i] : 0.0
    FLOOR[i] = 0.0
    DRAWN[i] = ""
    UNDRAWN[i] = ""
    FEW[i] = ""
    CUT[i] = ""
}
shown(unused) = sl_shown(strcol("group"), strcol("workload"), column("workers"))
stats SL_FILE using (shown(0) \
    ? strlen(OP[sl_index(WORKLOADS, strcol("workload"))] = strcol("op")) : 0) nooutput

# $ROWS: 1 workload, 2 variant, 3 why there is no value or 0, 4 to 6 value and interval, 7 whether
# there are too few samples for that.
WHYS = "failed skipped not_measured"
why(status, value) = status eq "ok" ? (value eq "NA" ? 3 : 0) : sl_index(WHYS, status)
why_text(k) = k == 3 ? "not measured" : word(WHYS, k)
number(name) = why(strcol("status"), strcol(MID)) ? 0.0 : sl_end(name, MID)
few(unused) = !why(strcol("status"), strcol(MID)) && strcol(LO) eq "NA"
set table $ROWS
plot SL_FILE using (sl_index(WORKLOADS, strcol("workload"))) \
    :(sl_index(VARIANTS, strcol("variant"))):(why(strcol("status"), strcol(MID))) \
    :(number(MID)):(number(LO)):(number(HI)):(few(0)) with table if (shown(0))
unset table
set datafile separator whitespace
unset datafile columnheaders
ANY_FEW = 0
ANY_CUT = 0
is_floor(v) = strstrt(word(VARIANTS, v), "floor:") == 1
learn(i, v, value, few) = strlen(DRAWN[i] = sl_add(DRAWN[i], sprintf("%d", v))) \
    + (is_floor(v) ? (FLOOR[i] = value > FLOOR[i] ? value : FLOOR[i]) \
        : (TOP[i] = value > TOP[i] ? value : TOP[i])) \
    + (few > 0 ? (ANY_FEW = 1) + strlen(FEW[i] = sl_add(FEW[i], sprintf("%d", v))) : 0)
learn_why(i, v) = strlen(UNDRAWN[i] = sl_add(UNDRAWN[i], sprintf("%d", v)))
stats $ROWS using ($3 == 0 ? learn(int($1), int($2), $4, $7) : learn_why(int($1), int($2))) nooutput
array LIMIT[NW]
do for [i = 1:NW] { LIMIT[i] = TOP[i] = TOP[i] > 0 ? TOP[i] : FLOOR[i] }
extend(i, v, hi) = \
    (LIMIT[i] = sl_reach(hi, TOP[i]) > LIMIT[i] ? sl_reach(hi, TOP[i]) : LIMIT[i]) \
    + (hi > sl_reach(hi, TOP[i]) \
        ? (ANY_CUT = 1) + strlen(CUT[i] = sl_add(CUT[i], sprintf("%d", v))) : 0)
stats $ROWS using ($3 == 0 ? extend(int($1), int($2), $6) : 0) nooutput
READING = READING . (ANY_FEW ? " Where it says so:" . SL_FEW . "." : "") \
    . (ANY_CUT ? " What ends in › goes on beyond the axis." : "")

LABEL_CHARS = 0
NAME_LINES = 1
do for [s in VARIANTS] {
    c = sl_longest_line(sl_row_name(s))
    LABEL_CHARS = c > LABEL_CHARS ? c : LABEL_CHARS
    NAME_LINES = sl_lines(sl_row_name(s)) > NAME_LINES ? sl_lines(sl_row_name(s)) : NAME_LINES
}
NAMES = sl_name_width(LABEL_CHARS)
# How far right of the axis the columns of text end.
VALUE_END = 56.0
BASE_END = VALUE_END + (BASELINE eq "" ? 0 : 70)
FEW_END = BASE_END + (ANY_FEW ? 50 : 0)
VALUES = FEW_END + 10
COLUMNS = NW > 1 && NAMES < 250 && SL_WIDE ? 2 : 1
W = sl_width(COLUMNS == 2 ? 980 : 640, COLUMNS * (NAMES + VALUES + 110) + 20)
PANEL_W = (W - 20.0) / COLUMNS
heading(i) = sl_wrap_spec(word(WORKLOADS, i), int((PANEL_W - 20) / (SL_PAPER ? 8.8 : 7.6)))
HEADING_LINES = 1
do for [i = 1:NW] {
    HEADING_LINES = sl_lines(heading(i)) > HEADING_LINES ? sl_lines(heading(i)) : HEADING_LINES
}
HEADING = 19 + 15 * HEADING_LINES
HEAD = sl_head(TITLE, READING, W)
AROUND = HEAD + sl_foot(CAPTION, W)
ROW = sl_row_h(4.0 + 14 * NAME_LINES, 1.0 + 12 * NAME_LINES, NV, AROUND + HEADING + 46, W)
PANEL_H = HEADING + ROW * NV + 46
FIT = sl_fit(PANEL_H, AROUND, W) * COLUMNS
PAGES = sl_pages(NW, FIT)
left(i) = 10 + PANEL_W * ((i - 1) % COLUMNS) + NAMES
right(i) = 10 + PANEL_W * ((i - 1) % COLUMNS + 1) - VALUES
top(i) = HEAD + PANEL_H * ((i - 1) % FIT / COLUMNS) + HEADING
# v comes from the lists, as text.
got(i, v, k) = $1 == i && $2 == sl_number(v) ? column(k) : sl_none(v, -2 * limit - 1)
spec(v) = word(VARIANTS, sl_number(v))
over_base(i, v) = BASELINE eq "" ? "" : over_baseline(i, sl_number(v))

do for [sheet = 1:sl_sheets(PAGES)] {
    eval sl_sheet(sheet)
    FIRST = 1 + (page - 1) * FIT
    LAST = page * FIT < NW ? page * FIT : NW
    H = AROUND + PANEL_H * ceil((LAST - FIRST + 1) / real(COLUMNS))
    eval sl_terminal(format, W, H)
    set output sl_page_file(PREFIX, page, format)
    set multiplot
    do for [i = FIRST:LAST] {
        set label heading(i) at 14 + PANEL_W * ((i - 1) % COLUMNS), top(i) + 3 - 15 * HEADING_LINES left \
            font sl_bold(format, 12) textcolor rgb SL_INK
        do for [v = 1:NV] {
            set label sl_row_name(word(VARIANTS, v)) at left(i) - 8, \
                top(i) + ROW * (v - 0.5) - 7 * (sl_lines(sl_row_name(word(VARIANTS, v))) - 1) right \
                font ",12" textcolor rgb SL_INK
        }
    }
    load SL_HERE . "canvas.gp"
    do for [i = FIRST:LAST] {
        eval sl_panel(left(i), right(i), top(i), top(i) + ROW * NV, W, H)
        limit = LIMIT[i] > 0 ? LIMIT[i] * 1.04 : 1
        set xrange [0:limit]
        set yrange [NV + 0.5:0.5]
        unset xlabel
        unset xtics
        if (strlen(DRAWN[i])) {
            set xtics out nomirror scale 0.4 font ",10" textcolor rgb SL_SOFT offset 0, 0.4
            set xtics ("0" 0)
            step = sl_step(right(i) - left(i) < 160 ? 2 * limit : limit) # numbers need room
            do for [k = 1:int(limit / step)] { set xtics add (row_tick(k * step) k * step) }
            set xlabel row_axis(OP[i]) . ", " . sl_count(WORKERS_MAX[i], "worker") \
                font ",10" textcolor rgb SL_SOFT offset 0, 0.9
        } else {
            unset border
        }
        set grid xtics linecolor rgb SL_RULE linewidth 0.5
        if (ROW_IDEAL && strlen(DRAWN[i])) {
            do for [n in sprintf("1 %d", WORKERS_MAX[i])] {
                set arrow from int(n), graph 0 to int(n), graph 1 nohead front \
                    linecolor rgb SL_REFERENCE dashtype 2
            }
        }
        plot NaN notitle, \
            for [v in DRAWN[i]] $ROWS \
                using (got(i, v, 3)):2:(0.0):(got(i, v, 4)):($2 - 0.33):($2 + 0.33) \
                with boxxyerror fillcolor rgb sl_fill(spec(v), VARIANTS) \
                fillstyle solid 1 border linecolor rgb sl_edge(spec(v), VARIANTS) notitle, \
            for [v in DRAWN[i]] $ROWS using (got(i, v, 4)):2:(got(i, v, 5)):(got(i, v, 6)) \
                with xerrorbars pointtype sl_point(spec(v), VARIANTS) \
                pointsize sl_point_size(format, 1) linewidth 1.2 \
                linecolor rgb sl_hue(spec(v)) notitle, \
            for [v in DRAWN[i]] $ROWS using (got(i, v, 3) + limit):2:(row_text($4)) \
                with labels right offset screen VALUE_END / W, 0 \
                font ",11" textcolor rgb SL_INK notitle, \
            for [v in DRAWN[i]] $ROWS using (got(i, v, 3) + limit):2:(over_base(i, v)) \
                with labels right offset screen BASE_END / W, 0 \
                font ",11" textcolor rgb SL_SOFT notitle, \
            for [v in FEW[i]] $ROWS using (got(i, v, 3) + limit):2:("too few") \
                with labels right offset screen FEW_END / W, 0 \
                font ",10" textcolor rgb SL_SOFT notitle, \
            for [v in CUT[i]] $ROWS using (got(i, v, 3) + limit):2:("›") \
                with labels center font ",14" textcolor rgb sl_hue(spec(v)) notitle, \
            for [v in UNDRAWN[i]] $ROWS \
                using (got(i, v, 3) > 0 ? 0.0 : got(i, v, 3)):2:(why_text(int($3))) \
                with labels left offset 1, 0 font ",11" textcolor rgb SL_SOFT notitle
        unset arrow
    }
    unset multiplot
    unset output
}
