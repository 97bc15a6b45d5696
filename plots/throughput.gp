# throughput.gp - throughput by variant and workload, with 95 % intervals.
#
# gnuplot -c plots/throughput.gp RUN_DIR GROUP OUT_PREFIX [QUESTION [CAPTION [BASELINE]]]
#   RUN_DIR     folder that holds cells.tsv, and baseline.tsv if a baseline is given
#   GROUP       group of the sweep, as in the first column
#   OUT_PREFIX  writes OUT_PREFIX.svg, .pdf and .png
#   QUESTION    title of the figure
#   CAPTION     machine and run, shown below
#   BASELINE    a variant of the group; each value then also reads as a multiple of it, from
#               baseline.tsv: of samples of one mood of the machine

SL_HERE = ARG0
while (strlen(SL_HERE) && SL_HERE[strlen(SL_HERE):*] ne "/") {
    SL_HERE = SL_HERE[1:strlen(SL_HERE) - 1]
}
load SL_HERE . "style.gp"
SL_FILE = ARG1 . "/cells.tsv"
GROUP = ARG2
PREFIX = ARG3
TITLE = ARGC >= 4 && strlen(ARG4) ? ARG4 : "Which variant does most per second on which workload?"
CAPTION = ARGC >= 5 && strlen(ARG5) ? ARG5 : ARG1
BASELINE = ARGC >= 6 ? ARG6 : ""
load SL_HERE . "group.gp"

READING = "Bar: median of the samples; line: its 95 % interval. Longer is faster. " \
    . "Each panel has its own scale." \
    . (strlen(BASELINE) ? " ×: multiple of " . BASELINE . "." : "")
if (strlen(BASELINE)) {
    array OVER[words(WORKLOADS) * words(VARIANTS)]
    do for [k = 1:|OVER|] { OVER[k] = "" }
    over_at(i, v) = (i - 1) * words(VARIANTS) + v
    over_here(unused) = over_at(sl_index(WORKLOADS, strcol("workload")), \
        sl_index(VARIANTS, strcol("variant")))
    stats ARG1 . "/baseline.tsv" using ( \
        sl_shown(strcol("group"), strcol("workload"), column("workers")) \
        && strcol("ratio") ne "NA" \
        ? strlen(OVER[over_here(0)] = sl_ratio(column("ratio"))) : 0) nooutput
    over_baseline(i, v) = OVER[over_at(i, v)]
}
MID = "median"
LO = "lo"
HI = "hi"
ROW_IDEAL = 0
row_axis(op) = sl_plural(op) . " per second"
row_text(value) = sl_si(value)
row_tick(value) = sl_tick(value)
load SL_HERE . "rows.gp"
