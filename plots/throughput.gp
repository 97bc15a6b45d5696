# throughput.gp - throughput by variant and workload, with 95 % intervals.
#
# gnuplot -c plots/throughput.gp RUN_DIR GROUP OUT_PREFIX [QUESTION [CAPTION [BASELINE]]]
#   RUN_DIR     folder that holds cells.tsv, and baseline.tsv if a baseline is given
#   GROUP       group of the sweep, as in the first column
#   OUT_PREFIX  writes OUT_PREFIX.svg, .pdf and .png
#   QUESTION    title of the figure
#   CAPTION     machine and run, shown below
#   BASELINE    a variant of the group; each value then also reads as a multiple of it, from
#               baseline.tsv: of samples of one core distance

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

OVER_FILE = ARG1 . "/baseline.tsv"
load SL_HERE . "over.gp"
READING = "Bar: median of the samples; line: its 95 % interval. Longer is faster." \
    . (words(WORKLOADS) > 1 ? " Each panel has its own scale." : "") \
    . (strlen(BASELINE) ? " ×: multiple of " . BASELINE . "." . OVER_READING : "")
MID = "median"
LO = "lo"
HI = "hi"
ROW_IDEAL = 0
row_axis(op) = sl_plural(op) . " per second"
row_text(value) = sl_si(value)
row_tick(value) = sl_tick(value)
load SL_HERE . "rows.gp"
