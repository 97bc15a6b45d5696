# map.gp - a map of cells, each with a multiple of the baseline's throughput; a subroutine of
# heatmap.gp and surface.gp.
#
# Called after group.gp and known.gp as: load SL_HERE . "map.gp". Draws the whole figure in all
# formats.
# In:  PREFIX, TITLE, CAPTION, BASELINE
#      $CELLS        1 panel, 2 column, 3 row from below, 4 ratio, 5 what is known, as a place in
#                    KNOWN or 0, 6 whether it is the baseline
#      NPANELS, panel_name(p), panel_note(p)  how many there are, and the lines above each
#      X_VALUES, Y_VALUES, NX, NY             what stands at columns and rows, and how many they are
#      X_LABEL, Y_LABEL                       what these are
#      CROSSING      1: a line where the multiples of neighbours lie on two sides of 1
#
# Colours go from white at 1 to blue above and to orange below. People with any of the common kinds
# of colour blindness tell them apart. Their ends are light enough for black text (7:1). A cell that
# is not told apart from the baseline is grey with a "~". A cell with too few samples to tell is a
# paler grey with a "?". A cell that was not measured is crossed out. So a sign or a number always
# says the same as the colour. The key has only what occurs in the map.

set datafile separator whitespace
unset datafile columnheaders

# The multiple of each cell that has one, and how many edges lie between the two sides of 1.
place_of(p, i, k) = ((int(p) - 1) * NX + int(i) - 1) * NY + int(k)
array RATIO[NPANELS * NX * NY]
do for [c = 1:|RATIO|] { RATIO[c] = NaN }
FRAMED = 0
CROSSED = 0
keep(p, i, k, ratio, known, base) = (FRAMED = FRAMED + int(base)) \
    + (known >= 1 && known <= 4 ? (RATIO[place_of(p, i, k)] = ratio) : 0)
stats $CELLS using (keep($1, $2, $3, $4, $5, $6)) nooutput
has(c) = RATIO[c] == RATIO[c]
crosses(c, d) = has(c) && has(d) && (RATIO[c] < 1) != (RATIO[d] < 1)
right_of(p, i, k) = i < NX && crosses(place_of(p, i, k), place_of(p, i + 1, k))
above(p, i, k) = k < NY && crosses(place_of(p, i, k), place_of(p, i, k + 1))
if (CROSSING) {
    do for [p = 1:NPANELS] {
        do for [i = 1:NX] {
            do for [k = 1:NY] { CROSSED = CROSSED + right_of(p, i, k) + above(p, i, k) }
        }
    }
}

# The scale ends where the farthest cell is that is told apart, between 1.1 and 4 times.
LEAST = log(1.1) / log(2)
MOST = 2.0
REACH = LEAST
CUT = 0
octaves(ratio) = log(ratio) / log(2)
reach(ratio) = (REACH = abs(octaves(ratio)) > REACH ? abs(octaves(ratio)) : REACH)
stats $CELLS using (($5 == 1 || $5 == 2) && $6 == 0 ? reach($4) : 0) nooutput
if (REACH > MOST) { REACH = MOST; CUT = 1 }
# In grey both ends darken, and what is below 1 is hatched.
GREY = exists("SL_COLOURS") && SL_COLOURS eq "grey"
LOW_END = GREY ? 0xAAAAAA : 0xE8912D
HIGH_END = GREY ? 0xAAAAAA : 0x5BA3D0
MIDDLE = 0xFFFFFF
NEUTRAL = 0xDEDEDE
UNKNOWN = 0xF2F2F2
mix_byte(a, b, t, shift) = \
    int(((a >> shift) & 255) * (1 - t) + ((b >> shift) & 255) * t) << shift
mix(a, b, t) = mix_byte(a, b, t, 16) + mix_byte(a, b, t, 8) + mix_byte(a, b, t, 0)
clip(x) = x > 1 ? 1.0 : x < -1 ? -1.0 : x
shade_at(t) = t < 0 ? mix(MIDDLE, LOW_END, -t) : mix(MIDDLE, HIGH_END, t)
is_number(known) = known >= 1 && known <= 4
shade(ratio, known, base) = base == 1 || !is_number(known) ? MIDDLE : known == 3 ? NEUTRAL \
    : known == 4 ? UNKNOWN : shade_at(clip(octaves(ratio) / REACH))
is_hatched(ratio, known, base) = GREY && base == 0 && (known == 1 || known == 2) && ratio < 1
SL_HATCH = 0x999999
cell_text(ratio, known, base) = !is_number(known) ? (known > 0 ? word(KNOWN, int(known)) : "") \
    : base == 1 ? sl_ratio(ratio) \
    : (known == 3 ? "~" : known == 4 ? "?" : "") . sl_ratio(ratio)

chars(list) = sl_longest(list, 1, 0)
sl_longest(list, i, most) = i > words(list) ? most \
    : sl_longest(list, i + 1, strlen(word(list, i)) > most ? strlen(word(list, i)) : most)
# "distances" is the only word that needs more than a number.
NARROWEST = 62
stats $CELLS using ($5 == sl_index(KNOWN, "distances") ? (NARROWEST = 70) : 0) nooutput
CELL = 7.5 * chars(X_VALUES) + 12 > NARROWEST ? 7.5 * chars(X_VALUES) + 12 : NARROWEST
NAMES = 34 + 7.2 * chars(Y_VALUES)
# A paper's column is filled, with cells that still have room for "~1.00×".
if (SL_PAPER && NAMES + CELL * NX + 38 > SL_TEXT_6PT) {
    CELL = (SL_TEXT_6PT - NAMES - 38) / NX > 40 ? (SL_TEXT_6PT - NAMES - 38) / NX : 40
}
TITLE_CHARS = SL_PAPER ? int((NAMES + CELL * NX) / 8.9) : 1000
heading(p) = SL_PAPER ? sl_wrap_spec(panel_name(p), TITLE_CHARS) : panel_name(p)
TITLE_W = 0
TITLE_LINES = 1
do for [p = 1:NPANELS] {
    c = 8.9 * sl_longest_line(heading(p))
    TITLE_W = c > TITLE_W ? c : TITLE_W
    TITLE_LINES = sl_lines(heading(p)) > TITLE_LINES ? sl_lines(heading(p)) : TITLE_LINES
}
PANEL_W = NAMES + CELL * NX + 24
PANEL_W = PANEL_W < TITLE_W + 24 ? TITLE_W + 24 : PANEL_W
COLUMNS = int((sl_width(980, 14 + PANEL_W) - 14) / PANEL_W)
COLUMNS = COLUMNS < 1 ? 1 : COLUMNS > NPANELS ? NPANELS : COLUMNS
W = 14 + PANEL_W * COLUMNS < sl_width(780, 0) ? sl_width(780, 0) : 14 + PANEL_W * COLUMNS
ABOVE = 48 + 15 * (TITLE_LINES - 1)
# Counts for the key: cells that are told apart, that are not, that have too few samples, and places
# without a number.
MEASURED = 0
SHOWN = 0
ALIKE = 0
UNKNOWNS = 0
tell(known, base) = (MEASURED = MEASURED + is_number(known)) \
    + (base == 0 && (known == 1 || known == 2) ? (SHOWN = SHOWN + 1) : 0) \
    + (base == 0 && known == 3 ? (ALIKE = ALIKE + 1) : 0) \
    + (base == 0 && known == 4 ? (UNKNOWNS = UNKNOWNS + 1) : 0)
stats $CELLS using (tell(int($5), int($6))) nooutput
MISSING = MEASURED < NPANELS * NX * NY
TEST = " by the Mann-Whitney test at 5 % with Holm's correction over all cells that are tested against it"
READING = "Median throughput as a multiple of that of " . BASELINE . (FRAMED ? " (framed). " : ". ") \
    . (!CROSSING ? "" : CROSSED ? "Thick line: here the multiple crosses 1. " \
        : "It crosses 1 nowhere. ") \
    . (SHOWN ? "Coloured: shown to differ from it," . TEST . ". " : "") \
    . (ALIKE ? "~: no difference is shown" . (SHOWN ? "" : TEST) . ". " : "") \
    . (UNKNOWNS ? "?: too few samples for the test, whatever they are" \
        . (SHOWN + ALIKE ? "" : "; none of these differences is shown") . ". " : "") \
    . (MISSING ? "Crossed out: not measured." : "")
KEYED = SHOWN || ALIKE || UNKNOWNS || MISSING
# Where the strip of the scale fills a column, the other signs of the key stand in lines below it.
NARROW_KEY = SL_PAPER && W < 250 + 34 + 176 + 154 + 130
KEY_SIGNS = (ALIKE > 0) + (UNKNOWNS > 0) + MISSING
SIGNS_ACROSS = int((W - 28) / 176) < 1 ? 1 : int((W - 28) / 176)
BELOW_KEY = NARROW_KEY && SHOWN ? 20 * ((KEY_SIGNS + SIGNS_ACROSS - 1) / SIGNS_ACROSS) : 0
HEAD = sl_head(TITLE, READING, W) + (SHOWN ? 52 : KEYED ? 36 : 8) + BELOW_KEY
AROUND = HEAD + sl_foot(CAPTION, W)
ROW = sl_row_h(30.0, 18.0, NY, AROUND + ABOVE + 48, W)
PANEL_H = ABOVE + ROW * NY + 48
FIT = sl_fit(PANEL_H, AROUND, W) * COLUMNS
PAGES = sl_pages(NPANELS, FIT)
left(p) = 14 + PANEL_W * ((int(p) - 1) % COLUMNS) + NAMES
top(p) = HEAD + PANEL_H * ((int(p) - 1) % FIT / COLUMNS) + ABOVE
x_of(p, i) = left(p) + CELL * (i - 0.5)
y_of(p, k) = top(p) + ROW * (NY - k + 0.5)

# The key: a strip of the scale, and what is beside it.
KEY_TOP = HEAD - BELOW_KEY - (SHOWN ? 42 : 26)
KEY_W = 250.0
STEPS = 44
key_x(t) = 32 + KEY_W * (t + 1) / 2
key_text(t) = (CUT && t == -1 ? "≤ " : CUT && t == 1 ? "≥ " : "") . sl_ratio(2.0 ** (t * REACH))

edge(x, y, u, v) = sprintf("set arrow from %f, %f to %f, %f nohead front " \
    . "linecolor rgb SL_INK linewidth 3", x, y, u, v)
key_x_of(at, n) = NARROW_KEY ? 14 + 176 * (n % SIGNS_ACROSS) : at
key_y_of(n) = NARROW_KEY ? KEY_TOP + (SHOWN ? 38 : 0) + 20 * (n / SIGNS_ACROSS) : KEY_TOP
key_box(x, y, color) = sprintf("set object rectangle from %f, %f to %f, %f " \
    . "fillcolor rgb %d fillstyle solid 1 border linecolor rgb SL_SOFT linewidth 0.6", \
    x, y, x + 24, y + 12, color)
key_label(x, y, text) = sprintf("set label '%s' at %f, %f left font ',10' " \
    . "textcolor rgb SL_SOFT", text, x + 30, y + 6)

do for [sheet = 1:sl_sheets(PAGES)] {
    eval sl_sheet(sheet)
    FIRST = 1 + (page - 1) * FIT
    LAST = page * FIT < NPANELS ? page * FIT : NPANELS
    H = AROUND + PANEL_H * ceil((LAST - FIRST + 1) / real(COLUMNS))
    eval sl_terminal(format, W, H)
    set output sl_page_file(PREFIX, page, format)
    set multiplot
    if (SHOWN) {
        do for [s = 1:STEPS] {
            set object rectangle from key_x(-1 + 2.0 * (s - 1) / STEPS), KEY_TOP \
                to key_x(-1 + 2.0 * s / STEPS), KEY_TOP + 12 \
                fillcolor rgb shade_at(-1 + (2.0 * s - 1) / STEPS) fillstyle solid 1 noborder
        }
        if (GREY) {
            set object rectangle from key_x(-1), KEY_TOP to key_x(0), KEY_TOP + 12 \
                fillcolor rgb SL_HATCH fillstyle transparent pattern 4 noborder
        }
        set object rectangle from key_x(-1), KEY_TOP to key_x(1), KEY_TOP + 12 \
            fillstyle empty border linecolor rgb SL_SOFT linewidth 0.6
        do for [t in "-1 -0.5 0 0.5 1"] {
            set label key_text(real(t)) at key_x(real(t)), KEY_TOP + 23 center font ",10" \
                textcolor rgb SL_SOFT
        }
    }
    key_at = SHOWN ? key_x(1) + 34 : 14
    n = 0
    if (ALIKE) {
        eval key_box(key_x_of(key_at, n), key_y_of(n), NEUTRAL)
        eval key_label(key_x_of(key_at, n), key_y_of(n), "~ no difference shown")
        key_at = key_at + 176
        n = n + 1
    }
    if (UNKNOWNS) {
        eval key_box(key_x_of(key_at, n), key_y_of(n), UNKNOWN)
        eval key_label(key_x_of(key_at, n), key_y_of(n), "? too few samples")
        key_at = key_at + 154
        n = n + 1
    }
    if (MISSING) {
        eval key_box(key_x_of(key_at, n), key_y_of(n), MIDDLE)
        set arrow from key_x_of(key_at, n), key_y_of(n) + 12 to key_x_of(key_at, n) + 24, key_y_of(n) nohead \
            linecolor rgb SL_SOFT linewidth 0.6
        eval key_label(key_x_of(key_at, n), key_y_of(n), "not measured")
    }
    do for [p = FIRST:LAST] {
        set label heading(p) at left(p) - NAMES, top(p) - 29 - 15 * (TITLE_LINES - 1) left \
            font sl_bold(format, 12) textcolor rgb SL_INK
        set label panel_note(p) at left(p) - NAMES, top(p) - 12 left font ",11" textcolor rgb SL_SOFT
        do for [i = 1:NX] {
            set label word(X_VALUES, i) at x_of(p, i), top(p) + ROW * NY + 10 center \
                font ",11" textcolor rgb SL_INK
        }
        do for [k = 1:NY] {
            set label word(Y_VALUES, k) at left(p) - 8, y_of(p, k) right \
                font ",11" textcolor rgb SL_INK
        }
        set label X_LABEL at left(p) + CELL * NX / 2.0, top(p) + ROW * NY + 27 center \
            font ",11" textcolor rgb SL_SOFT
        set label Y_LABEL at left(p) - NAMES + 8, top(p) + ROW * NY / 2.0 center rotate by 90 \
            font ",11" textcolor rgb SL_SOFT
    }
    load SL_HERE . "canvas.gp"
    set xrange [0:W]
    set yrange [H:0]
    x_here(p, i) = p >= FIRST && p <= LAST ? x_of(p, i) : NaN
    # Beside the page where it is not: gnuplot complains of a clause without any point.
    x_framed(unused) = FRAMED ? x_here($1, $2) : -9.0 * W
    x_hatched(unused) = is_hatched($4, $5, $6) ? x_here($1, $2) : -9.0 * W
    # Every place is crossed out first; a measured cell covers the cross.
    do for [p = FIRST:LAST] {
        do for [i = 1:NX] {
            do for [k = 1:NY] {
                set arrow from x_of(p, i) - CELL / 2.0 + 4, y_of(p, k) + ROW / 2.0 - 4 \
                    to x_of(p, i) + CELL / 2.0 - 4, y_of(p, k) - ROW / 2.0 + 4 nohead back \
                    linecolor rgb SL_RULE linewidth 1
            }
        }
    }
    if (CROSSED) {
        do for [p = FIRST:LAST] {
            do for [i = 1:NX] {
                do for [k = 1:NY] {
                    if (right_of(p, i, k)) { eval edge(x_of(p, i + 0.5), y_of(p, k - 0.5), \
                        x_of(p, i + 0.5), y_of(p, k + 0.5)) }
                    if (above(p, i, k)) { eval edge(x_of(p, i - 0.5), y_of(p, k + 0.5), \
                        x_of(p, i + 0.5), y_of(p, k + 0.5)) }
                }
            }
        }
    }
    plot $CELLS using (x_here($1, $2)):(y_of($1, $3)):(x_of($1, $2) - CELL / 2.0 + 1) \
            :(x_of($1, $2) + CELL / 2.0 - 1):(y_of($1, $3) - ROW / 2.0 + 1) \
            :(y_of($1, $3) + ROW / 2.0 - 1):(shade($4, $5, $6)) \
            with boxxyerror fillstyle solid 1 noborder linecolor rgb variable notitle, \
        $CELLS using (x_hatched(0)):(y_of($1, $3)):(x_hatched(0) - CELL / 2.0 + 1) \
            :(x_hatched(0) + CELL / 2.0 - 1):(y_of($1, $3) - ROW / 2.0 + 1) \
            :(y_of($1, $3) + ROW / 2.0 - 1) \
            with boxxyerror fillstyle transparent pattern 4 noborder linecolor rgb SL_HATCH notitle, \
        $CELLS using (x_framed(0)):(y_of($1, $3)):(x_framed(0) - CELL / 2.0 + 1) \
            :(x_framed(0) + CELL / 2.0 - 1):(y_of($1, $3) - ROW / 2.0 + 1) \
            :(y_of($1, $3) + ROW / 2.0 - 1):($6 == 1 || !FRAMED ? 1 : NaN) \
            with boxxyerror fillstyle empty linecolor rgb SL_INK linewidth 1.6 notitle, \
        $CELLS using (x_here($1, $2)):(y_of($1, $3)):(cell_text($4, $5, $6)) \
            with labels center font ",11" textcolor rgb SL_INK notitle
    unset arrow
    unset multiplot
    unset output
}
