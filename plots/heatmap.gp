# heatmap.gp - a heat map of two knobs: throughput of each pair of values as a multiple of the
# baseline's.
#
# gnuplot -c plots/heatmap.gp RUN_DIR GROUP OUT_PREFIX KNOB VALUES KNOB2 VALUES2 \
#     [QUESTION [CAPTION]]
#   RUN_DIR     folder that holds baseline.tsv
#   GROUP       group of the sweep, as in the first column
#   OUT_PREFIX  writes OUT_PREFIX.svg, .pdf and .png
#   KNOB        the knob across, for example ring
#   VALUES      separated by spaces: first its value where a specification does not name it, "-" if
#               that is unknown, then its values in the order in which words are to stand
#   KNOB2       the knob upwards, and VALUES2 likewise
#   QUESTION    title of the figure
#   CAPTION     machine and run, shown below
#
SL_HERE = ARG0
while (strlen(SL_HERE) && SL_HERE[strlen(SL_HERE):*] ne "/") {
    SL_HERE = SL_HERE[1:strlen(SL_HERE) - 1]
}
load SL_HERE . "style.gp"
SL_FILE = ARG1 . "/baseline.tsv"
GROUP = ARG2
PREFIX = ARG3
KNOB = ARG4
VALUES = ARG5
KNOB2 = ARG6
VALUES2 = ARG7
TITLE = ARGC >= 8 && strlen(ARG8) ? ARG8 : "Which " . KNOB . " goes with which " . KNOB2 . "?"
CAPTION = ARGC >= 9 && strlen(ARG9) ? ARG9 : ARG1
load SL_HERE . "group.gp"
load SL_HERE . "setting.gp"

across(spec) = sl_setting(spec, KNOB, word(VALUES, 1))
up(spec) = sl_setting(spec, KNOB2, word(VALUES2, 1))
rest(spec) = sl_without(sl_without(spec, KNOB), KNOB2)
X_FOUND = ""
Y_FOUND = ""
CURVES = ""
do for [spec in VARIANTS] {
    X_FOUND = sl_add(X_FOUND, across(spec))
    Y_FOUND = sl_add(Y_FOUND, up(spec))
    CURVES = sl_add(CURVES, rest(spec))
}
X_VALUES = sl_ascending(sl_in_order(X_FOUND, VALUES))
Y_VALUES = sl_ascending(sl_in_order(Y_FOUND, VALUES2))
NX = words(X_VALUES)
NY = words(Y_VALUES)
NW = words(WORKLOADS)
NPANELS = NW * words(CURVES)

load SL_HERE . "known.gp"
panel_of(workload, spec) = (sl_index(CURVES, rest(spec)) - 1) * NW + sl_index(WORKLOADS, workload)
BASELINE = ""
stats SL_FILE using (strcol("group") eq GROUP ? strlen(BASELINE = strcol("baseline")) : 0) nooutput
set table $CELLS
plot SL_FILE using (panel_of(strcol("workload"), strcol("variant"))) \
    :(sl_index(X_VALUES, across(strcol("variant")))):(sl_index(Y_VALUES, up(strcol("variant")))) \
    :(ratio_here(0)):(known_here(0)) \
    :(strcol("variant") eq strcol("baseline") ? 1 : 0) with table \
    if (sl_shown(strcol("group"), strcol("workload"), column("workers")))
unset table
panel_name(p) = (words(CURVES) > 1 ? word(CURVES, (p - 1) / NW + 1) . " on " : "") \
    . word(WORKLOADS, (p - 1) % NW + 1)
panel_note(p) = sl_count(WORKERS_MAX[(p - 1) % NW + 1], "worker")
X_LABEL = KNOB
Y_LABEL = KNOB2
CROSSING = 0
load SL_HERE . "map.gp"
