# knob.gp - a knob curve: throughput over the values of one knob, with 95 % intervals.
#
# gnuplot -c plots/knob.gp RUN_DIR GROUP OUT_PREFIX KNOB DEFAULT [QUESTION [CAPTION [VALUES]]]
#   RUN_DIR     folder that holds cells.tsv
#   GROUP       group of the sweep, as in the first column
#   OUT_PREFIX  writes OUT_PREFIX.svg, .pdf and .png
#   KNOB        the knob on the x axis, for example tick
#   DEFAULT     its value where a specification does not name it, for example 61; "" if unknown
#   QUESTION    title of the figure
#   CAPTION     machine and run, shown below
#   VALUES      the knob's values, separated by spaces, in the order in which words are to stand
#
# The axis is logarithmic where the largest number is more than 8 times the smallest above zero.
# Zero and words such as "random" have no place on such an axis, and stand apart at its ends.

SL_HERE = ARG0
while (strlen(SL_HERE) && SL_HERE[strlen(SL_HERE):*] ne "/") {
    SL_HERE = SL_HERE[1:strlen(SL_HERE) - 1]
}
load SL_HERE . "style.gp"
SL_FILE = ARG1 . "/cells.tsv"
GROUP = ARG2
PREFIX = ARG3
KNOB = ARG4
DEFAULT = ARG5
TITLE = ARGC >= 6 && strlen(ARG6) ? ARG6 : "Which value of " . KNOB . " is best?"
CAPTION = ARGC >= 7 && strlen(ARG7) ? ARG7 : ARG1
VALUES = ARGC >= 8 ? ARG8 : ""
load SL_HERE . "group.gp"
load SL_HERE . "setting.gp"

setting(spec) = sl_setting(spec, KNOB, DEFAULT)
curve(spec) = sl_without(spec, KNOB)

CURVES = ""
SETTINGS = ""
do for [spec in VARIANTS] {
    CURVES = sl_add(CURVES, curve(spec))
    SETTINGS = sl_add(SETTINGS, setting(spec))
}
NUMBERS = ""
WORDS = ""
do for [s in VALUES . " " . SETTINGS] {
    if (sl_index(SETTINGS, s)) {
        if (sl_is_number(s)) { NUMBERS = sl_add(NUMBERS, s) } else { WORDS = sl_add(WORDS, s) }
    }
}

LOWEST = 1e300
HIGHEST = -1e300
do for [n in NUMBERS] {
    LOWEST = real(n) > 0 && real(n) < LOWEST ? real(n) : LOWEST
    HIGHEST = real(n) > HIGHEST ? real(n) : HIGHEST
}
LOGARITHMIC = HIGHEST > 8 * LOWEST
ZERO_APART = LOGARITHMIC && sl_index(NUMBERS, "0")
if (!LOGARITHMIC && sl_index(NUMBERS, "0")) { LOWEST = 0 }
if (words(NUMBERS) == 0) { LOWEST = 0; HIGHEST = 0 }
# Numbers take places from 0 to SPAN; each value that stands apart has its own, a GAP further out.
place(n) = LOGARITHMIC ? log(n / LOWEST) / log(2) : n - LOWEST
SPAN = place(HIGHEST)
GAP = SPAN > 0 ? 0.11 * SPAN : 1
slot(text) = sl_is_number(text) ? (real(text) == 0 && ZERO_APART ? -GAP : place(real(text))) \
    : SPAN + GAP * (0.4 + 1.1 * sl_index(WORDS, text))

curve_has(unused) = sl_shown(strcol("group"), strcol("workload"), column("workers")) \
    && strcol("status") eq "ok"
apart(text) = !sl_is_number(text) || (ZERO_APART && real(text) == 0)
curve_name(unused) = curve(strcol("variant"))
curve_x(unused) = slot(setting(strcol("variant")))
curve_joined(unused) = !apart(setting(strcol("variant")))
MID = "median"
LO = "lo"
HI = "hi"
X_MIN = words(NUMBERS) == 0 ? 0.8 * GAP : ZERO_APART ? -1.5 * GAP : -0.5 * GAP
X_MAX = SPAN + GAP * (words(WORDS) ? 1.1 * words(WORDS) + 0.9 : 0.5)
# A label that would touch the one to its left stands a line below that.
X_TICKS = "set xtics ('' 0)"
X_LINES = 1
last = -1e300
line = 1
ASCENDING = sl_ascending(NUMBERS)
do for [s in ASCENDING . " " . WORDS] {
    line = slot(s) - last < 0.05 * (X_MAX - X_MIN) ? line + 1 : 1
    last = slot(s)
    X_LINES = line > X_LINES ? line : X_LINES
    below = ""
    do for [k = 2:line] { below = below . '\n' }
    X_TICKS = X_TICKS . sprintf('; set xtics add ("%s%s" %f)', below, s, slot(s))
}
APART = ZERO_APART && words(WORDS) ? "0 and words stand apart" : ZERO_APART ? "0 stands apart" \
    : words(WORDS) ? "words stand apart" : ""
X_LABEL = KNOB . (!LOGARITHMIC ? "" : strlen(APART) ? " (logarithmic; " . APART . ")" \
    : " (logarithmic)")
array OP[words(WORKLOADS)]
do for [i = 1:words(WORKLOADS)] {
    OP[i] = "operation"
    stats SL_FILE using (strcol("group") eq GROUP && strcol("workload") eq word(WORKLOADS, i) \
        ? strlen(OP[i] = strcol("op")) : 0) nooutput
}
y_label(i) = sl_plural(OP[i]) . " per second, " . sl_count(WORKERS_MAX[i], "worker")
Y_LOG = 0
# From zero where the curve falls by half; else closer, but by a tenth at least, so that noise does
# not look like a cliff.
below(lo, hi) = lo - 0.08 * (hi - lo)
y_min(lo, hi) = lo < 0.5 * hi ? 0 : below(lo, hi) < 0.9 * hi ? below(lo, hi) : 0.9 * hi
y_max(lo, hi) = 1.04 * hi
y_text(value) = sl_tick(value)
PANEL_EXTRA = !sl_index(SETTINGS, DEFAULT) ? "" : sprintf( \
    "set arrow from %f, graph 0 to %f, graph 1 nohead back " \
    . "linecolor rgb SL_REFERENCE dashtype 2; " \
    . "set label 'default %s' at %f, graph 1 center offset 0, 0.7 font ',10' " \
    . "textcolor rgb SL_SOFT", \
    slot(DEFAULT), slot(DEFAULT), DEFAULT, slot(DEFAULT))
READING = "Point: median of the samples; bar: its 95 % interval. Higher is faster."
load SL_HERE . "curves.gp"
