# scale.gp - time and memory of a goroutine over the number of goroutines, with 95 % intervals.
#
# gnuplot -c plots/scale.gp RUN_DIR GROUP OUT_PREFIX [QUESTION [CAPTION]]
#   RUN_DIR     folder that holds scale.tsv
#   GROUP       group of the sweep, as in the first column
#   OUT_PREFIX  writes OUT_PREFIX.svg, .pdf and .png
#   QUESTION    title of the figure
#   CAPTION     machine and run, shown below
#
# A row of panels per workload: ns in the first round, ns in later ones, bytes. Both axes are
# logarithmic. A cost that is the same in any number is level, and a cliff is a step.

SL_HERE = ARG0
while (strlen(SL_HERE) && SL_HERE[strlen(SL_HERE):*] ne "/") {
    SL_HERE = SL_HERE[1:strlen(SL_HERE) - 1]
}
load SL_HERE . "style.gp"
SL_FILE = ARG1 . "/scale.tsv"
GROUP = ARG2
PREFIX = ARG3
TITLE = ARGC >= 4 && strlen(ARG4) ? ARG4 : "Does one of many goroutines cost what one of few does?"
CAPTION = ARGC >= 5 && strlen(ARG5) ? ARG5 : ARG1
load SL_HERE . "group.gp"

SERIES = WORKLOADS
array SERIES_WORKERS[words(SERIES)]
do for [i = 1:words(SERIES)] { SERIES_WORKERS[i] = WORKERS_MAX[i] }
# A panel is "workload:measure"; one without rows would be empty axes.
MEASURES = "first_ns later_ns bytes"
curve_panel(unused) = strcol("workload") . ":" . strcol("measure")
curve_has(unused) = column("workers") == SERIES_WORKERS[sl_index(SERIES, strcol("workload"))]
FILLED = ""
OPS = ""
LEAST = 1e300
MOST = -1e300
note(panel, op, number) = strlen(FILLED = sl_add(FILLED, panel)) + strlen(OPS = op) \
    + (LEAST = number < LEAST ? number : LEAST) + (MOST = number > MOST ? number : MOST)
stats SL_FILE using (strcol("group") eq GROUP && curve_has(0) \
    ? note(curve_panel(0), strcol("op"), column("number")) : 0) nooutput
WORKLOADS = ""
do for [series in SERIES] {
    do for [measure in MEASURES] {
        if (sl_index(FILLED, series . ":" . measure)) {
            WORKLOADS = sl_add(WORKLOADS, series . ":" . measure)
        }
    }
}
PANEL_COLUMNS = 0
do for [measure in MEASURES] {
    PANEL_COLUMNS = PANEL_COLUMNS + (strstrt(FILLED . " ", ":" . measure . " ") ? 1 : 0)
}
panel_measure(i) = word(WORKLOADS, i)[strstrt(word(WORKLOADS, i), ":") + 1:*]
panel_series(i) = word(WORKLOADS, i)[1:strstrt(word(WORKLOADS, i), ":") - 1]
panel_title(i) = panel_series(i)

CURVES = VARIANTS
curve_name(unused) = strcol("variant")
curve_x(unused) = log10(column("number"))
curve_joined(unused) = 1
MID = "median"
LO = "lo"
HI = "hi"
X_MIN = log10(LEAST) - 0.1
X_MAX = log10(MOST) + 0.1
X_TICKS = "set xtics ('' -1)"
do for [k = ceil(X_MIN):floor(X_MAX)] {
    X_TICKS = X_TICKS . sprintf("; set xtics add ('%s' %d)", sl_tick(10.0 ** k), k)
}
X_LINES = 1
X_LABEL = "goroutines (logarithmic)"
y_label(i) = (panel_measure(i) eq "first_ns" ? "ns each, first round" \
    : panel_measure(i) eq "later_ns" ? "ns each, later rounds" : "bytes each, at the most") \
    . ", " . sl_count(SERIES_WORKERS[sl_index(SERIES, panel_series(i))], "worker")
Y_LOG = 10
# A level curve is in the middle of an axis long enough that noise does not look like hills.
middle(lo, hi) = sqrt(lo * hi)
y_min(lo, hi) = hi < 3 * lo ? middle(lo, hi) / 2.2 : 0.8 * lo
y_max(lo, hi) = hi < 3 * lo ? middle(lo, hi) * 2.2 : 1.25 * hi
y_text(value) = sl_tick(value)
PANEL_EXTRA = ""
has_measure(name) = strstrt(FILLED . " ", ":" . name . " ") > 0
READING = "Line: median over the samples; bars: 95 % interval. Both axes are logarithmic. Lower is " \
    . "better; level is linear growth in all." \
    . (has_measure("first_ns") ? " A sample's first round touches each page of stack for the first " \
        . "time; later ones find them mapped." : "") \
    . (has_measure("bytes") ? " Bytes: memory and page tables at the most over goroutines alive at " \
        . "the most." : "")
load SL_HERE . "curves.gp"
