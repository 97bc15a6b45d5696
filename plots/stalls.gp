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
# In grey neighbours differ in lightness, and every second one is hatched: by patterns of gnuplot.
GREY = exists("SL_COLOURS") && SL_COLOURS eq "grey"
GREYS = "0x555555 0x333333 0xBBBBBB 0x333333 0x888888 0x333333 0xDDDDDD 0x333333"
HATCHES = "4 1 7 2"
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
NAME_LINES = 1
do for [s in VARIANTS] {
    c = sl_longest_line(sl_row_name(s))
    LABEL_CHARS = c > LABEL_CHARS ? c : LABEL_CHARS
    NAME_LINES = sl_lines(sl_row_name(s)) > NAME_LINES ? sl_lines(sl_row_name(s)) : NAME_LINES
}
NAMES = sl_name_width(LABEL_CHARS)
NUMBER = 62
COLUMNS = NW > 1 && NAMES < 250 && SL_WIDE ? 2 : 1
W = sl_width(COLUMNS == 2 ? 980 : 760, COLUMNS * (NAMES + NUMBER + 110) + 20)
PANEL_W = (W - 20.0) / COLUMNS
BAR = PANEL_W - NAMES - NUMBER
READING = "Bar: nanoseconds per operation that accesses took which the own L1 could not serve, summed over " \
    . "all cores; its parts: the structures accessed, in the legend's order. Number: the sum. " \
    . "Each panel has its own scale, from zero. " . sl_at_workers(0) . "."
KEY_CHARS = 6
do for [s in NAMED] { KEY_CHARS = strlen(s) > KEY_CHARS ? strlen(s) : KEY_CHARS }
KEY_BOX = GREY ? 24 : 12
KEY_W = 7.0 * KEY_CHARS + 18 + KEY_BOX
KEYS_ACROSS = int((W - 28) / KEY_W)
KEYS = NN + (OTHERS > 0)
KEY_H = 18 * ceil(KEYS / real(KEYS_ACROSS)) + 8
HEAD = sl_head(TITLE, READING, W) + KEY_H
AROUND = HEAD + sl_foot(CAPTION, W)
heading(w) = sl_wrap_spec(word(WORKLOADS, w), int((PANEL_W - 20) / (SL_PAPER ? 8.8 : 8.0)))
HEADING_LINES = 1
do for [w = 1:NW] {
    HEADING_LINES = sl_lines(heading(w)) > HEADING_LINES ? sl_lines(heading(w)) : HEADING_LINES
}
HEADING = 15 + 15 * HEADING_LINES
ROW = sl_row_h(4.0 + 14 * NAME_LINES, 1.0 + 12 * NAME_LINES, NV, AROUND + HEADING + 24, W)
PANEL_H = HEADING + 10 + ROW * NV + 14
FIT = sl_fit(PANEL_H, AROUND, W) * COLUMNS
PAGES = sl_pages(NW, FIT)
left(w) = 10 + PANEL_W * ((w - 1) % COLUMNS) + NAMES
top(w) = HEAD + PANEL_H * ((w - 1) % FIT / COLUMNS) + HEADING
hue(s) = s > NN ? (GREY ? 0xFFFFFF : 0xBBBBBB) : int(word(GREY ? GREYS : HUES, s))
colour(s) = GREY ? hue(s) : sl_tint(hue(s), 0.35)
is_hatched(s) = GREY && s <= NN && s % 2 == 0
fill(s) = is_hatched(s) ? int(word(HATCHES, s / 2)) : 1
# A frame of white parts colours; greys have one of ink.
FRAME = GREY ? SL_INK : 0xFFFFFF
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
inside(s, wide) = !GREY && wide > 6.6 * strlen(name_of(s)) + 6 ? name_of(s) : ""

do for [sheet = 1:sl_sheets(PAGES)] {
    eval sl_sheet(sheet)
    FIRST = 1 + (page - 1) * FIT
    LAST = page * FIT < NW ? page * FIT : NW
    H = AROUND + PANEL_H * ceil((LAST - FIRST + 1) / real(COLUMNS))
    eval sl_terminal(format, W, H)
    set output sl_page_file(PREFIX, page, format)
    set multiplot
    do for [s = 1:KEYS] {
        if (is_hatched(s)) {
            set object rectangle from key_x(s), key_y(s) - 5 to key_x(s) + KEY_BOX, key_y(s) + 5 \
                fillcolor rgb colour(s) fillstyle pattern fill(s) border linecolor rgb FRAME
        } else {
            set object rectangle from key_x(s), key_y(s) - 5 to key_x(s) + KEY_BOX, key_y(s) + 5 \
                fillcolor rgb colour(s) fillstyle solid 1 border linecolor rgb FRAME
        }
        set label name_of(s) at key_x(s) + KEY_BOX + 5, key_y(s) left font ",11" textcolor rgb SL_INK
    }
    do for [w = FIRST:LAST] {
        set label heading(w) at left(w) - NAMES + 4, top(w) + 3 - 15 * HEADING_LINES left font sl_bold(format, 12) \
            textcolor rgb SL_INK
        set arrow from left(w), top(w) - 1 to left(w), top(w) + ROW * NV + 1 nohead \
            linecolor rgb SL_SOFT linewidth 0.8
        do for [v = 1:NV] {
            set label sl_row_name(word(VARIANTS, v)) at left(w) - 8, \
                top(w) + ROW * (v - 0.5) - 7 * (sl_lines(sl_row_name(word(VARIANTS, v))) - 1) right \
                font ",12" textcolor rgb SL_INK
            set label TOTAL[bar(w, v)] > 0 ? ns_text(TOTAL[bar(w, v)]) . " ns" : "-" \
                at left(w) + BAR + NUMBER - 6, top(w) + ROW * (v - 0.5) right font ",10" textcolor rgb SL_INK
        }
    }
    load SL_HERE . "canvas.gp"
    set xrange [0:W]
    set yrange [H:0]
    # -9: beside the page, because gnuplot complains of a clause without any point.
    on(s) = $3 == 0 ? -9 : $3 == s && $1 >= FIRST && $1 <= LAST ? $4 : NaN
    plot for [s = 1:NN + 1] $PARTS using (is_hatched(s) ? ($3 == 0 ? -9 : NaN) : on(s)):6:4:5:6:7 \
            with boxxyerror fillcolor rgb colour(s) fillstyle solid 1 border linecolor rgb FRAME notitle, \
        for [s = 1:NN + 1] $PARTS using (is_hatched(s) ? on(s) : $3 == 0 ? -9 : NaN):6:4:5:6:7 \
            with boxxyerror fillcolor rgb colour(s) fillstyle pattern fill(s) border linecolor rgb FRAME notitle, \
        $PARTS using ($3 > 0 && $1 >= FIRST && $1 <= LAST ? ($4 + $5) / 2 : -99):(($6 + $7) / 2):(inside(int($3), $8)) \
            with labels center font ",9" textcolor rgb SL_INK notitle
    unset multiplot
    unset output
}
