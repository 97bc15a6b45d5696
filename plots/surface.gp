# surface.gp - where a variant beats the baseline: multiples of the baseline's throughput over workers
# and a parameter of the workloads, with a line where they cross 1.
#
# gnuplot -c plots/surface.gp RUN_DIR GROUP OUT_PREFIX PARAMETER VALUES [QUESTION [CAPTION]]
#   RUN_DIR     folder that holds baseline.tsv
#   GROUP       group of the sweep, as in the first column
#   OUT_PREFIX  writes OUT_PREFIX.svg, .pdf and .png
#   PARAMETER   of the workloads, which stands upwards, for example rounds
#   VALUES      its value in each of the group's workloads, separated by spaces
#   QUESTION    title of the figure
#   CAPTION     machine and run, shown below
#
# Each other variant has a panel for each workload that is left without the parameter. Its baseline
# is the cell of the same workload on as many workers.

SL_HERE = ARG0
while (strlen(SL_HERE) && SL_HERE[strlen(SL_HERE):*] ne "/") {
    SL_HERE = SL_HERE[1:strlen(SL_HERE) - 1]
}
load SL_HERE . "style.gp"
SL_FILE = ARG1 . "/baseline.tsv"
GROUP = ARG2
PREFIX = ARG3
PARAMETER = ARG4
VALUES = ARG5
TITLE = ARGC >= 6 && strlen(ARG6) ? ARG6 : "Where is which variant faster?"
CAPTION = ARGC >= 7 && strlen(ARG7) ? ARG7 : ARG1
load SL_HERE . "group.gp"
load SL_HERE . "setting.gp"
load SL_HERE . "known.gp"

BASELINE = ""
stats SL_FILE using (strcol("group") eq GROUP ? strlen(BASELINE = strcol("baseline")) : 0) nooutput
CURVES = ""
do for [spec in VARIANTS] { if (spec ne BASELINE) { CURVES = sl_add(CURVES, spec) } }
rest(spec) = sl_without(spec, PARAMETER)
RESTS = ""
do for [spec in WORKLOADS] { RESTS = sl_add(RESTS, rest(spec)) }
value_of(spec) = word(VALUES, sl_index(WORKLOADS, spec))
Y_FOUND = ""
do for [v in VALUES] { Y_FOUND = sl_add(Y_FOUND, v) }
X_VALUES = WORKERS
Y_VALUES = sl_ascending(Y_FOUND)
NX = words(X_VALUES)
NY = words(Y_VALUES)
NR = words(RESTS)
NPANELS = NR * words(CURVES)

panel_of(workload, spec) = (sl_index(CURVES, spec) - 1) * NR + sl_index(RESTS, rest(workload))
set table $CELLS
plot SL_FILE using (panel_of(strcol("workload"), strcol("variant"))) \
    :(sl_index(X_VALUES, strcol("workers"))) \
    :(sl_index(Y_VALUES, value_of(strcol("workload")))) \
    :(ratio_here(0)):(known_here(0)):(0) with table \
    if (strcol("group") eq GROUP && strcol("variant") ne BASELINE)
unset table
panel_name(p) = word(CURVES, (p - 1) / NR + 1) . " on " . word(RESTS, (p - 1) % NR + 1)
panel_note(p) = ""
X_LABEL = "workers"
Y_LABEL = PARAMETER
CROSSING = 1
load SL_HERE . "map.gp"
