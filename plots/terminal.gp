# terminal.gp - throughput by variant and workload, as text for a terminal.
#
# gnuplot -c plots/terminal.gp RUN_DIR GROUP COLUMNS LINES [BASELINE]
#   RUN_DIR   folder that holds cells.tsv, and baseline.tsv if a baseline is given
#   GROUP     group of the sweep, as in the first column
#   COLUMNS   of the terminal
#   LINES     of the terminal: workloads that do not fit are left out; 0: all
#   BASELINE  a variant of the group; each value then also reads as a multiple of it, see over.gp
#
# A workload is shown at the largest count of workers it was run with. The figure goes to standard
# output; its last line is the number of workloads left out.

SL_HERE = ARG0
while (strlen(SL_HERE) && SL_HERE[strlen(SL_HERE):*] ne "/") {
    SL_HERE = SL_HERE[1:strlen(SL_HERE) - 1]
}
load SL_HERE . "style.gp"
SL_FILE = ARG1 . "/cells.tsv"
GROUP = ARG2
COLUMNS = int(ARG3)
LINES = int(ARG4)
BASELINE = ARGC >= 5 ? ARG5 : ""
load SL_HERE . "group.gp"
OVER_FILE = ARG1 . "/baseline.tsv"
load SL_HERE . "over.gp"

NV = words(VARIANTS)
NW = words(WORKLOADS)
array OP[NW]
array TOP[NW]
do for [i = 1:NW] {
    OP[i] = "operation"
    TOP[i] = 0.0
}

# $ROWS: 1 workload, 2 variant, 3 why there is no value or 0, 4 to 6 value and interval, 7 whether
# there are too few samples for that.
WHYS = "failed skipped not_measured"
why(status, value) = status eq "ok" ? (value eq "NA" ? 3 : 0) : sl_index(WHYS, status)
why_text(k) = k == 3 ? "not measured" : word(WHYS, k)
number(name) = why(strcol("status"), strcol("median")) ? 0.0 \
    : sl_end(name, "median")
shown(unused) = sl_shown(strcol("group"), strcol("workload"), column("workers"))
stats SL_FILE using (shown(0) \
    ? strlen(OP[sl_index(WORKLOADS, strcol("workload"))] = strcol("op")) : 0) nooutput
set table $ROWS
plot SL_FILE using (sl_index(WORKLOADS, strcol("workload"))) \
    :(sl_index(VARIANTS, strcol("variant"))):(why(strcol("status"), strcol("median"))) \
    :(number("median")):(number("lo")):(number("hi")) \
    :(strcol("lo") eq "NA") with table if (shown(0))
unset table
set datafile separator whitespace
unset datafile columnheaders
learn(i, value) = (TOP[i] = value > TOP[i] ? value : TOP[i])
stats $ROWS using (learn(int($1), $4)) nooutput

NAMES = 0
do for [s in VARIANTS] { NAMES = strlen(s) > NAMES ? strlen(s) : NAMES }
VALUES = BASELINE eq "" ? 24 : 34
COLUMNS = COLUMNS < NAMES + VALUES + 16 ? NAMES + VALUES + 16 : COLUMNS
PANEL = NV + 4 # title, the rows, axis, its numbers, an empty line
FIT = LINES == 0 ? NW : LINES / PANEL
FIT = FIT < 1 ? 1 : FIT > NW ? NW : FIT

text(value, lo, hi, few, over) = sprintf("%7s  ", sl_si(value)) \
    . (few > 0 ? sprintf("%-16s", "too few") : sprintf("%6s to %-6s", sl_si(lo), sl_si(hi))) \
    . sprintf(strlen(BASELINE) ? "%10s" : "%s", over)
drawn(i) = $1 == i && $3 == 0

set key off
set border 3
set tics nomirror scale 0
set lmargin NAMES + 2
set rmargin VALUES
set tmargin 1
set bmargin 2
do for [i = 1:FIT] {
    set terminal dumb noenhanced size COLUMNS, PANEL
    set title sprintf("%s, %s: %s per second, with 95 %% interval%s", word(WORKLOADS, i), \
        sl_count(WORKERS_MAX[i], "worker"), sl_plural(OP[i]), \
        BASELINE eq "" ? "" : ", × " . BASELINE)
    limit = TOP[i] > 0 ? TOP[i] : 1
    set xrange [0:limit]
    set yrange [NV + 1:1] # a line of text each, and the axis
    set xtics ("0" 0, sl_tick(sl_step(limit)) sl_step(limit))
    do for [k = 2:int(limit / sl_step(limit))] {
        set xtics add (sl_tick(k * sl_step(limit)) k * sl_step(limit))
    }
    set ytics ("" 0)
    do for [v = 1:NV] { set ytics add (word(VARIANTS, v) v) }
    plot $ROWS using (drawn(i) ? 0 : NaN):2:4:(0) with vectors nohead, \
        $ROWS using (drawn(i) ? limit : NaN):2:\
            (text($4, $5, $6, $7, over_baseline(i, int($2)))) with labels left, \
        $ROWS using ($1 == i && $3 > 0 ? 0 : NaN):2:(why_text(int($3))) with labels left \
            offset 1, 0
}
set print "-"
print sprintf("%d", NW - FIT)
