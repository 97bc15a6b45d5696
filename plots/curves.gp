# curves.gp - one panel per workload, one curve per variant; a subroutine of speedup.gp, knob.gp,
# latency.gp and scale.gp.
#
# Called after group.gp as: load SL_HERE . "curves.gp". Draws the whole figure in all formats. It
# adds to the reading aid if an axis does not begin at zero, and if points have too few samples for
# an interval. It tells in each panel which curves have no point there.
# In:  PREFIX, TITLE, READING, CAPTION
#      CURVES                what the legend names, specifications in catalogue order
#      curve_has(unused)     is the row of SL_FILE at hand drawn at all?
#      curve_name(unused)    which of CURVES it is on
#      curve_x(unused)       its place on the x axis
#      curve_joined(unused)  1: a line leads to its neighbours; 0: it stands alone
#      MID, LO, HI           the columns of the value and its interval
#      X_MIN, X_MAX          ends of the x axis
#      X_TICKS               the command that sets its tics
#      X_LINES               of the texts at these
#      X_LABEL, y_label(i)   the axes' labels with units
#      Y_LOG                 base of a logarithmic axis, 0 for a linear one
#      y_min(lo, hi), y_max(lo, hi)  ends of the y axis from those of all intervals
#      y_text(value)         a value as text at the axis
#      Y_SHARED              there: panels of one workload with other parameters have one y axis
#      PANEL_EXTRA           a command for each panel; may use i
#      PANEL_COLUMNS         most panels beside each other, 2 if left out
#      curve_panel(unused), panel_title(i)   from group.gp: a panel is a workload; a script may put
#                            other words for its panels in WORKLOADS, and say which a row is in

NW = words(WORKLOADS)
NC = words(CURVES)
# $ROWS: 1 workload, 2 curve, 3 joined or not, 4 place on the x axis, 5 to 7 value and interval, 8
# whether there are too few samples for that.
set table $ROWS
plot SL_FILE using (sl_index(WORKLOADS, curve_panel(0))):(sl_index(CURVES, curve_name(0))) \
    :(curve_joined(0)):(curve_x(0)):(column(MID)):(sl_end(LO, MID)):(sl_end(HI, MID)) \
    :(strcol(LO) eq "NA") with table if (strcol("group") eq GROUP && curve_has(0) && strcol(MID) ne "NA")
unset table
set datafile separator whitespace
unset datafile columnheaders

array BOTTOM[NW]
array CEILING[NW]
array DRAWN[NW]  # which curves have points, as a list of their numbers
array JOINED[NW] # and which have points to join
array HIGHEST_MID[NW]
array HIGHEST[NW] # end of an interval
do for [i = 1:NW] {
    BOTTOM[i] = 1e300
    CEILING[i] = -1e300
    HIGHEST_MID[i] = -1e300
    DRAWN[i] = ""
    JOINED[i] = ""
}
POINTS = 0
FEWS = 0
learn(i, c, joined, value, lo, hi, few) = strlen(DRAWN[i] = sl_add(DRAWN[i], sprintf("%d", c))) \
    + (joined > 0 ? strlen(JOINED[i] = sl_add(JOINED[i], sprintf("%d", c))) : 0) \
    + (POINTS = POINTS + 1) + (FEWS = FEWS + few) \
    + (HIGHEST_MID[i] = value > HIGHEST_MID[i] ? value : HIGHEST_MID[i]) \
    + (BOTTOM[i] = lo < BOTTOM[i] ? lo : BOTTOM[i]) \
    + (CEILING[i] = hi > CEILING[i] ? hi : CEILING[i])
if (|$ROWS| > 0) {
    stats $ROWS using (learn(int($1), int($2), $3, $5, $6, $7, int($8))) nooutput
}
ANY_CUT = 0
ABOVE_ZERO = 0 # panels whose axis begins above zero
do for [i = 1:NW] {
    if (strlen(DRAWN[i])) {
        HIGHEST[i] = CEILING[i]
        CEILING[i] = Y_LOG ? CEILING[i] : sl_reach(CEILING[i], HIGHEST_MID[i])
        bottom = y_min(BOTTOM[i], CEILING[i])
        ceiling = y_max(BOTTOM[i], CEILING[i])
        ANY_CUT = ANY_CUT || HIGHEST[i] > ceiling
        BOTTOM[i] = bottom
        CEILING[i] = ceiling
        ABOVE_ZERO = ABOVE_ZERO + (!Y_LOG && bottom > 0)
    }
}
READING = READING . (FEWS == 0 ? "" : FEWS == POINTS ? " No bars:" . SL_FEW . "." \
        : " Points without a bar may have" . SL_FEW . ".") \
    . (ANY_CUT ? " A bar that runs into the top goes on beyond the axis." : "") \
    . (ABOVE_ZERO == 0 ? "" : NW == 1 ? " The vertical axis does not begin at zero." \
        : sprintf(" The vertical axes differ, and %s not begin at zero.", \
            ABOVE_ZERO == NW ? "do" : ABOVE_ZERO == 1 ? "one does" : "some do"))

# Latencies of one workload with other parameters are compared across panels, too.
ONE_NAME = 0 == sum [i = 1:NW] (sl_name(word(WORKLOADS, i)) eq sl_name(word(WORKLOADS, 1)) ? 0 : 1)
if (exists("Y_SHARED") && ONE_NAME && POINTS > 0) {
    bottom = 1e300
    ceiling = -1e300
    do for [i = 1:NW] {
        bottom = BOTTOM[i] < bottom ? BOTTOM[i] : bottom
        ceiling = CEILING[i] > ceiling ? CEILING[i] : ceiling
    }
    do for [i = 1:NW] {
        BOTTOM[i] = bottom
        CEILING[i] = ceiling
    }
}

MOST_COLUMNS = exists("PANEL_COLUMNS") ? PANEL_COLUMNS : 2
COLUMNS = !SL_WIDE ? 1 : NW < MOST_COLUMNS ? NW : MOST_COLUMNS
W = sl_width(COLUMNS > 1 ? 980 : 720, COLUMNS * 290 + 20)
PANEL_W = (W - 20.0) / COLUMNS
PLOT_H = NC > 4 ? 260 : 200
heading(i) = sl_wrap_spec(panel_title(i) . (NC > 1 ? "" : " on " . CURVES), int((PANEL_W - 108) / (SL_WIDE ? 7.6 : 9.2)))
HEADING_LINES = 1
do for [i = 1:NW] {
    HEADING_LINES = sl_lines(heading(i)) > HEADING_LINES ? sl_lines(heading(i)) : HEADING_LINES
}
HEADING = 35 + 15 * HEADING_LINES
PANEL_H = HEADING + PLOT_H + 42 + 14 * X_LINES
LEGEND_CHARS = 0
do for [spec in CURVES] { LEGEND_CHARS = strlen(spec) > LEGEND_CHARS ? strlen(spec) : LEGEND_CHARS }
LEGEND_W = 58 + 7.2 * LEGEND_CHARS
LEGEND_FITS = floor((W - 28) / LEGEND_W) # very long names fit nowhere, and stand one to a row
LEGEND_ROWS = ceil(NC / (LEGEND_FITS < 1 ? 1.0 : real(LEGEND_FITS)))
LEGEND_COLUMNS = ceil(NC / real(LEGEND_ROWS))
LEGEND_H = NC > 1 ? 18 * LEGEND_ROWS + 8 : 0
LEGEND_TOP = sl_head(TITLE, READING, W) + 6
HEAD = LEGEND_TOP + LEGEND_H
AROUND = HEAD + sl_foot(CAPTION, W)
FIT = sl_fit(PANEL_H, AROUND, W) * COLUMNS
PAGES = sl_pages(NW, FIT)
left(i) = 10 + PANEL_W * ((i - 1) % COLUMNS) + 84
right(i) = 10 + PANEL_W * ((i - 1) % COLUMNS + 1) - 24
top(i) = HEAD + PANEL_H * ((i - 1) % FIT / COLUMNS) + HEADING
# Curves that meet in a point step aside a little, so that each mark and interval can be seen.
aside(c) = (c - (NC + 1) / 2.0) * (X_MAX - X_MIN) * 0.004
# Intervals are vectors with flat heads, since yerrorbars of gnuplot 5.4 clear a disc around each
# point, which hides short ones. Here c comes from the lists, as text.
on(i, c) = $1 == i && $2 == sl_number(c)
beside(c) = $4 + aside(sl_number(c))
hue(c) = sl_color(word(CURVES, c), CURVES)
missing(i) = sl_missing_from(i, 1)
sl_missing_from(i, c) = c > NC ? "" : (sl_index(DRAWN[i], sprintf("%d", c)) ? "" \
    : " " . word(CURVES, c)) . sl_missing_from(i, c + 1)

do for [sheet = 1:sl_sheets(PAGES)] {
    eval sl_sheet(sheet)
    FIRST = 1 + (page - 1) * FIT
    LAST = page * FIT < NW ? page * FIT : NW
    H = AROUND + PANEL_H * ceil((LAST - FIRST + 1) / real(COLUMNS))
    eval sl_terminal(format, W, H)
    set output sl_page_file(PREFIX, page, format)
    set multiplot
    if (NC > 1) {
        do for [c = 1:NC] {
            x = 16 + LEGEND_W * ((c - 1) % LEGEND_COLUMNS)
            y = LEGEND_TOP + 8 + 18 * ((c - 1) / LEGEND_COLUMNS)
            set arrow from x, y to x + 30, y nohead linewidth 1.6 \
                linecolor rgb hue(c) dashtype sl_dash(word(CURVES, c), CURVES)
            set label at x + 15, y point pointtype sl_point(word(CURVES, c), CURVES) \
                pointsize sl_point_size(format, 1.1) linecolor rgb hue(c)
            set label word(CURVES, c) at x + 38, y left font ",12" textcolor rgb SL_INK
        }
    }
    do for [i = FIRST:LAST] {
        set label heading(i) at left(i), top(i) - 15 - 15 * HEADING_LINES left font sl_bold(format, 12) textcolor rgb SL_INK
        if (!strlen(DRAWN[i])) {
            set label "not measured" at left(i), top(i) - 8 left \
                font ",11" textcolor rgb SL_SOFT
            continue
        }
        if (strlen(missing(i))) {
            set label "no numbers:" . missing(i) at left(i), top(i) - 17 left \
                font ",10" textcolor rgb SL_SOFT
        }
        set label y_label(i) at left(i) - 66, top(i) + PLOT_H / 2 center rotate by 90 \
            font ",10" textcolor rgb SL_SOFT
    }
    load SL_HERE . "canvas.gp"
    do for [i = FIRST:LAST] {
        if (!strlen(DRAWN[i])) { continue }
        eval sl_panel(left(i), right(i), top(i), top(i) + PLOT_H, W, H)
        set xrange [X_MIN:X_MAX]
        unset logscale
        unset ytics
        bottom = BOTTOM[i]
        ceiling = CEILING[i]
        set yrange [bottom:ceiling]
        set ytics out nomirror scale 0.4 font ",10" textcolor rgb SL_SOFT
        set ytics ("" 0)
        if (Y_LOG) {
            set logscale y
            do for [k = floor(log(bottom) / log(Y_LOG)):ceil(log(ceiling) / log(Y_LOG))] {
                set ytics add (y_text(Y_LOG ** k) Y_LOG ** k)
                do for [m = 2:9] {
                    if (Y_LOG == 10 && (ceiling / bottom < 5 || (ceiling / bottom < 40 && (m == 2 || m == 5)))) {
                        set ytics add (y_text(m * 10.0 ** k) m * 10.0 ** k)
                    }
                }
            }
        } else {
            step = sl_step(ceiling - bottom)
            do for [k = ceil(bottom / step):floor(ceiling / step)] {
                set ytics add (y_text(k * step) k * step)
            }
        }
        set xtics out nomirror scale 0.4 font ",10" textcolor rgb SL_SOFT offset 0, 0.4
        eval X_TICKS
        set xlabel X_LABEL font ",10" textcolor rgb SL_SOFT offset 0, 2.1 - 1.2 * X_LINES
        set grid ytics linecolor rgb SL_RULE linewidth 0.5
        eval PANEL_EXTRA
        plot NaN notitle, \
            for [c in JOINED[i]] $ROWS \
                using (on(i, c) && $3 > 0 ? beside(c) : sl_none(c, X_MIN - 1)):5 \
                smooth unique with lines linewidth 1.6 linecolor rgb hue(sl_number(c)) \
                dashtype sl_dash(word(CURVES, sl_number(c)), CURVES) notitle, \
            for [c in DRAWN[i]] $ROWS \
                using (on(i, c) ? beside(c) : sl_none(c, X_MIN - 1)):6:(0.0):($7 - $6) \
                with vectors heads size screen 4.0 / W, 90 nofilled linewidth 1.1 \
                linecolor rgb hue(sl_number(c)) notitle, \
            for [c in DRAWN[i]] $ROWS using (on(i, c) ? beside(c) : sl_none(c, X_MIN - 1)):5 \
                with points linewidth 1.1 linecolor rgb hue(sl_number(c)) \
                pointtype sl_point(word(CURVES, sl_number(c)), CURVES) \
                pointsize sl_point_size(format, 1.1) notitle
        unset arrow
        unset label
    }
    unset multiplot
    unset output
}
