# latency.gp - a latency distribution: how long operations took, up to which percentile.
#
# gnuplot -c plots/latency.gp RUN_DIR GROUP OUT_PREFIX [QUESTION [CAPTION]]
#   RUN_DIR     folder that holds latency.tsv
#   GROUP       group of the sweep, as in the first column
#   OUT_PREFIX  writes OUT_PREFIX.svg, .pdf and .png
#   QUESTION    title of the figure
#   CAPTION     machine and run, shown below
#
# The x axis counts nines: each step to the right leaves a tenth of the operations, so that the
# tail, where schedulers differ, has room. The maximum has no such place: it is at the right end.

SL_HERE = ARG0
while (strlen(SL_HERE) && SL_HERE[strlen(SL_HERE):*] ne "/") {
    SL_HERE = SL_HERE[1:strlen(SL_HERE) - 1]
}
load SL_HERE . "style.gp"
SL_FILE = ARG1 . "/latency.tsv"
GROUP = ARG2
PREFIX = ARG3
TITLE = ARGC >= 4 && strlen(ARG4) ? ARG4 : "How long do operations take, the slowest ones too?"
CAPTION = ARGC >= 5 && strlen(ARG5) ? ARG5 : ARG1
load SL_HERE . "group.gp"

CURVES = VARIANTS
MOST_NINES = 0
nines(q) = -log10(1 - q)
stats SL_FILE using (strcol("group") eq GROUP && column("quantile") < 1 \
    && nines(column("quantile")) > MOST_NINES \
    ? (MOST_NINES = nines(column("quantile"))) : 0) nooutput
AT_MAX = MOST_NINES + 1
curve_has(unused) = sl_shown(strcol("group"), strcol("workload"), column("workers"))
curve_name(unused) = strcol("variant")
curve_x(unused) = column("quantile") < 1 ? nines(column("quantile")) : AT_MAX
curve_joined(unused) = 1
MID = "ns"
LO = "lo"
HI = "hi"
X_MIN = -0.1
X_MAX = AT_MAX + 0.15
# In a narrow column the maximum needs the room of a tick beside it.
X_BESIDE = SL_WIDE || abs(AT_MAX - 3) > 0.45 ? "'99.9 %%%%' 3, " : ""
X_TICKS = sprintf("set xtics ('50 %%%%' %f, '90 %%%%' 1, '99 %%%%' 2, " . X_BESIDE \
    . "'99.99 %%%%' 4); set xtics add ('max' %f)", \
    nines(0.5), AT_MAX)
X_LINES = 1
X_LABEL = SL_WIDE ? "share of operations that took at most this long" : "share of operations, at most this long"
y_label(i) = "latency (logarithmic), " . sl_count(WORKERS_MAX[i], "worker")
Y_LOG = 10
Y_SHARED = 1
y_min(lo, hi) = 0.8 * lo
y_max(lo, hi) = 1.25 * hi
y_text(value) = sl_time(value)
PANEL_EXTRA = ""
# The latencies of `slice` are lengths of slices, of which less is not better.
DIRECTED = 0
do for [s in WORKLOADS] { DIRECTED = DIRECTED + (sl_name(s) ne "slice") }
READING = "Line: median over the samples; bars: its 95 % interval. " \
    . (DIRECTED ? "Lower is better; the right end is the slowest operation of all." \
        : "The right end is the longest of all.")
load SL_HERE . "curves.gp"
