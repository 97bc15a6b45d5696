# stalls.gp - on which structures a simulated machine's cores stalled: stacked bars by variant.
#
# gnuplot -c plots/stalls.gp RUN_DIR GROUP OUT_PREFIX [QUESTION [CAPTION]]
#   RUN_DIR     folder that holds structures.tsv
#   GROUP       group of the sweep, as in the first column
#   OUT_PREFIX  writes OUT_PREFIX.svg, .pdf and .png
#   QUESTION    title of the figure
#   CAPTION     machine and run, shown below
#
# A panel per workload, a bar per variant, made of the structures in one order: those with the largest
# shares of the group's bars first, the others together at the end. Bars are linear from zero; each
# panel has its own scale, because the operations of two workloads do not compare.

SL_HERE = ARG0
while (strlen(SL_HERE) && SL_HERE[strlen(SL_HERE):*] ne "/") {
    SL_HERE = SL_HERE[1:strlen(SL_HERE) - 1]
}
load SL_HERE . "style.gp"
SL_FILE = ARG1 . "/structures.tsv"
GROUP = ARG2
PREFIX = ARG3
TITLE = ARGC >= 4 && strlen(ARG4) ? ARG4 : "On which structures do cores stall?"
CAPTION = ARGC >= 5 && strlen(ARG5) ? ARG5 : ARG1
load SL_HERE . "group.gp"

# Not the variants' colours: these are structures. The last is of the others.
HUES = "0x0072B2 0xD55E00 0x009E73 0xCC79A7 0xE69F00 0x56B4E9 0x882255 0x999933"
NS = words(HUES) + 1
NV = words(VARIANTS)
NW = words(WORKLOADS)

STRUCTURES = ""
stats SL_FILE using (strcol("group") eq GROUP \
    ? strlen(STRUCTURES = sl_add(STRUCTURES, strcol("structure"))) : 0) nooutput
array SHARE[words(STRUCTURES)]
do for [i = 1:|SHARE|] { SHARE[i] = 0.0 }
shown(unused) = sl_shown(strcol("group"), strcol("workload"), column("workers"))
share(i, value) = (SHARE[i] = SHARE[i] + value)
stats SL_FILE using (shown(0) \
    ? share(sl_index(STRUCTURES, strcol("structure")), column("share")) : 0) nooutput
NAMED = ""
do for [k = 1:NS - 1] {
    best = 0
    do for [i = 1:|SHARE|] {
        if (SHARE[i] > 0 && (best == 0 || SHARE[i] > SHARE[best])) { best = i }
    }
    if (best) {
        NAMED = sl_add(NAMED, word(STRUCTURES, best))
        SHARE[best] = 0.0
    }
}
OTHERS = int(sum [i = 1:|SHARE|] (SHARE[i] > 0 ? 1 : 0))
NN = words(NAMED)

# ns per operation, by workload, variant and structure; the place after the named ones is that of
# the others.
array NS_OF[NW * NV * (NN + 1)]
array TOTAL[NW * NV]
array TOP[NW]
do for [i = 1:|NS_OF|] { NS_OF[i] = 0.0 }
do for [i = 1:|TOTAL|] { TOTAL[i] = 0.0 }
do for [i = 1:NW] { TOP[i] = 0.0 }
bar(w, v) = (w - 1) * NV + v
place(w, v, s) = (bar(w, v) - 1) * (NN + 1) + s
slot(name) = sl_index(NAMED, name) ? sl_index(NAMED, name) : NN + 1
add(w, v, s, ns) = (NS_OF[place(w, v, s)] = NS_OF[place(w, v, s)] + ns) \
    + (TOTAL[bar(w, v)] = TOTAL[bar(w, v)] + ns) \
    + (TOP[w] = TOTAL[bar(w, v)] > TOP[w] ? TOTAL[bar(w, v)] : TOP[w])
stats SL_FILE using (shown(0) ? add(sl_index(WORKLOADS, strcol("workload")), \
    sl_index(VARIANTS, strcol("variant")), slot(strcol("structure")), column("stall_ns")) : 0) nooutput

LABEL_CHARS = 0
do for [s in VARIANTS] { LABEL_CHARS = strlen(s) > LABEL_CHARS ? strlen(s) : LABEL_CHARS }
NAMES = 22 + 7.9 * LABEL_CHARS
NUMBER = 62
ROW = 18
COLUMNS = NW > 1 && NAMES < 250 && SL_WIDE ? 2 : 1
W = sl_width(COLUMNS == 2 ? 980 : 760, COLUMNS * (NAMES + NUMBER + 110) + 20)
PANEL_W = (W - 20.0) / COLUMNS
PANEL_H = 40 + ROW * NV + 14
BAR = PANEL_W - NAMES - NUMBER
READING = "Bar: nanoseconds per operation that accesses took which the own L1 could not serve, summed over " \
    . "all cores; its parts: the structures accessed, in the legend's order. Number: the sum. " \
    . "Each panel has its own scale, from zero. " . sl_at_workers(0) . "."
KEY_CHARS = 6
do for [s in NAMED] { KEY_CHARS = strlen(s) > KEY_CHARS ? strlen(s) : KEY_CHARS }
KEY_W = 7.0 * KEY_CHARS + 30
KEYS_ACROSS = int((W - 28) / KEY_W)
KEYS = NN + (OTHERS > 0)
KEY_H = 18 * ceil(KEYS / real(KEYS_ACROSS)) + 8
HEAD = sl_head(TITLE, READING, W) + KEY_H
H = HEAD + PANEL_H * ceil(NW / real(COLUMNS)) + sl_foot(CAPTION, W)
left(w) = 10 + PANEL_W * ((w - 1) % COLUMNS) + NAMES
top(w) = HEAD + PANEL_H * ((w - 1) / COLUMNS) + 30
hue(s) = s > NN ? 0xBBBBBB : int(word(HUES, s))
key_x(s) = 14 + KEY_W * ((s - 1) % KEYS_ACROSS)
key_y(s) = HEAD - KEY_H + 8 + 18 * ((s - 1) / KEYS_ACROSS)

# The first row is of no part: gnuplot complains of a colour without any point.
# $PARTS: 1 workload, 2 variant, 3 structure, 4 to 7 corners in pixels, 8 its width.
set print $PARTS
print "0 0 0 0 0 0 0 0"
do for [w = 1:NW] {
    do for [v = 1:NV] {
        x = left(w)
        do for [s = 1:NN + 1] {
            wide = TOP[w] > 0 ? BAR * NS_OF[place(w, v, s)] / TOP[w] : 0
            if (wide > 0) {
                y = top(w) + ROW * (v - 1)
                print sprintf("%d %d %d %.2f %.2f %.2f %.2f %.2f", w, v, s, x, x + wide, y + 3, y + ROW - 3, wide)
            }
            x = x + wide
        }
    }
}
set print
set datafile separator whitespace
unset datafile columnheaders
ns_text(v) = v < 1 ? sl_plain(v) : sl_si(v)
name_of(s) = s > NN ? "others" : word(NAMED, s)
# A name inside its part, where there is room.
inside(s, wide) = wide > 6.6 * strlen(name_of(s)) + 6 ? name_of(s) : ""

do for [format in SL_FORMATS] {
    eval sl_terminal(format, W, H)
    set output sl_file(PREFIX, format)
    set multiplot
    do for [s = 1:KEYS] {
        set object rectangle from key_x(s), key_y(s) - 5 to key_x(s) + 12, key_y(s) + 5 \
            fillcolor rgb sl_tint(hue(s), 0.35) fillstyle solid 1 noborder
        set label name_of(s) at key_x(s) + 17, key_y(s) left font ",11" textcolor rgb SL_INK
    }
    do for [w = 1:NW] {
        set label word(WORKLOADS, w) at left(w) - NAMES + 4, top(w) - 12 left font sl_bold(format, 12) \
            textcolor rgb SL_INK
        set arrow from left(w), top(w) - 1 to left(w), top(w) + ROW * NV + 1 nohead \
            linecolor rgb SL_SOFT linewidth 0.8
        do for [v = 1:NV] {
            set label word(VARIANTS, v) at left(w) - 8, top(w) + ROW * (v - 0.5) right \
                font ",12" textcolor rgb SL_INK
            set label TOTAL[bar(w, v)] > 0 ? ns_text(TOTAL[bar(w, v)]) . " ns" : "-" \
                at left(w) + BAR + NUMBER - 6, top(w) + ROW * (v - 0.5) right font ",10" textcolor rgb SL_INK
        }
    }
    load SL_HERE . "canvas.gp"
    set xrange [0:W]
    set yrange [H:0]
    plot for [s = 1:NN + 1] $PARTS using ($3 == s ? $4 : $3 == 0 ? -9 : NaN):6:4:5:6:7 \
            with boxxyerror fillcolor rgb sl_tint(hue(s), 0.35) fillstyle solid 1 border linecolor rgb 0xFFFFFF \
            notitle, \
        $PARTS using ($3 > 0 ? ($4 + $5) / 2 : -99):(($6 + $7) / 2):(inside(int($3), $8)) \
            with labels center font ",9" textcolor rgb SL_INK notitle
    unset multiplot
    unset output
}
