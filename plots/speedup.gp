# speedup.gp - speed-up over workers: how much more a variant does with more workers than with one.
#
# gnuplot -c plots/speedup.gp RUN_DIR GROUP OUT_PREFIX [QUESTION [CAPTION]]
#   RUN_DIR     folder that holds cells.tsv
#   GROUP       group of the sweep, as in the first column
#   OUT_PREFIX  writes OUT_PREFIX.svg, .pdf and .png
#   QUESTION    title of the figure
#   CAPTION     machine and run, shown below
#
# With one or two counts of workers bars say most; with more, curves over workers.

SL_HERE = ARG0
while (strlen(SL_HERE) && SL_HERE[strlen(SL_HERE):*] ne "/") {
    SL_HERE = SL_HERE[1:strlen(SL_HERE) - 1]
}
load SL_HERE . "style.gp"
SL_FILE = ARG1 . "/cells.tsv"
GROUP = ARG2
PREFIX = ARG3
TITLE = ARGC >= 4 && strlen(ARG4) ? ARG4 : "How much faster do more workers make each variant?"
CAPTION = ARGC >= 5 && strlen(ARG5) ? ARG5 : ARG1
load SL_HERE . "group.gp"

MID = "speedup"
LO = "speedup_lo"
HI = "speedup_hi"
if (words(WORKERS) <= 2) {
    READING = "Bar: median throughput over the same variant's with 1 worker; " \
        . "line: 95 % interval of that. " \
        . "Dashed: 1 = no gain, and the ideal, as many times faster as there are workers."
    BASELINE = ""
    ROW_IDEAL = 1
    row_axis(op) = "times the throughput with 1 worker"
    row_text(value) = sl_ratio(value)
    row_tick(value) = sprintf("%g", value)
    load SL_HERE . "rows.gp"
} else {
    READING = "Median throughput over the same variant's with 1 worker; bars: 95 % interval of " \
        . "that. " \
        . "Dashed grey: the ideal, as many times faster as there are workers."
    CURVES = VARIANTS
    MOST = int(word(WORKERS, words(WORKERS)))
    # Over many workers both axes count doublings, so that the ideal stays a straight line.
    DOUBLINGS = MOST > 8
    place(n) = DOUBLINGS ? log(n) / log(2) : n
    curve_has(unused) = strcol("status") eq "ok"
    curve_name(unused) = strcol("variant")
    curve_x(unused) = place(column("workers"))
    curve_joined(unused) = 1
    X_MIN = place(1) - 0.04 * (place(MOST) - place(1))
    X_MAX = place(MOST) + 0.04 * (place(MOST) - place(1))
    X_TICKS = "set xtics ('' 0)"
    do for [n in WORKERS] {
        X_TICKS = X_TICKS . sprintf("; set xtics add ('%s' %f)", n, place(int(n)))
    }
    X_LINES = 1
    X_LABEL = "workers"
    y_label(i) = "speed-up over 1 worker"
    Y_LOG = DOUBLINGS ? 2 : 0
    y_min(lo, hi) = DOUBLINGS ? (lo < 0.9 ? 0.9 * lo : 0.9) : 0
    y_max(lo, hi) = DOUBLINGS ? 1.1 * (hi > MOST ? hi : MOST) : 1.05 * (hi > MOST ? hi : MOST)
    y_text(value) = sprintf("%g×", value)
    PANEL_EXTRA = sprintf("set arrow from %f, %f to %f, %f nohead back " \
        . "linecolor rgb SL_REFERENCE dashtype 2", \
        place(1), 1.0, place(MOST), 1.0 * MOST)
    load SL_HERE . "curves.gp"
}
