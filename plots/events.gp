# events.gp - what happened per operation: scheduler and cache events by variant and workload.
#
# gnuplot -c plots/events.gp RUN_DIR GROUP OUT_PREFIX [QUESTION [CAPTION [EVENTS]]]
#   RUN_DIR     folder that holds events.tsv
#   GROUP       group of the sweep, as in the first column
#   OUT_PREFIX  writes OUT_PREFIX.svg, .pdf and .png
#   QUESTION    title of the figure
#   CAPTION     machine and run, shown below
#   EVENTS      names separated by spaces, in the order to be shown; default: all of the group
#
# A table of bars: one block per event, in it one row per variant and one column per workload; narrow
# blocks stand beside each other. Bars are linear from zero and fill a column at its largest value,
# because events per operation do not compare between workloads. Each block names the source of its numbers.
# In a paper a block has as many columns as its width has room for, and the event goes on in further blocks.

SL_HERE = ARG0
while (strlen(SL_HERE) && SL_HERE[strlen(SL_HERE):*] ne "/") {
    SL_HERE = SL_HERE[1:strlen(SL_HERE) - 1]
}
load SL_HERE . "style.gp"
SL_FILE = ARG1 . "/events.tsv"
GROUP = ARG2
PREFIX = ARG3
TITLE = ARGC >= 4 && strlen(ARG4) ? ARG4 : "What happened per operation?"
CAPTION = ARGC >= 5 && strlen(ARG5) ? ARG5 : ARG1
EVENTS = ARGC >= 6 ? ARG6 : ""
load SL_HERE . "group.gp"

NV = words(VARIANTS)
NW = words(WORKLOADS)
if (!strlen(EVENTS)) {
    stats SL_FILE using (strcol("group") eq GROUP \
        ? strlen(EVENTS = sl_add(EVENTS, strcol("event"))) : 0) nooutput
}
NE = words(EVENTS)

# Per event: its source, and why it is absent where it has no value. Per event and workload: the
# top of the scale.
array SOURCE[NE]
array ABSENT[NE]
array DRAWN[NE] # the numbers of the variants that have values, as a list
array TOP[NE * NW]
do for [e = 1:NE] { SOURCE[e] = "?"; ABSENT[e] = ""; DRAWN[e] = "" }
array MOST[NE]  # of all its columns
array TIMES[NE] # of how many operations its numbers are: a million if it is rare in all columns
do for [e = 1:NE] { MOST[e] = 0.0 }

# $ROWS: 1 event, 2 workload, 3 variant, 4 to 6 value per operation and interval, 7 whether there are
# too few samples for that.
here(unused) = sl_shown(strcol("group"), strcol("workload"), column("workers")) \
    && sl_index(EVENTS, strcol("event"))
learn(e, source, absent) = strlen(SOURCE[e] = source) \
    + (absent eq "NA" ? 0 : strlen(ABSENT[e] = absent))
stats SL_FILE using (here(0) \
    ? learn(sl_index(EVENTS, strcol("event")), strcol("source"), strcol("absent")) : 0) nooutput
set table $ROWS
plot SL_FILE using (sl_index(EVENTS, strcol("event"))):(sl_index(WORKLOADS, strcol("workload"))) \
    :(sl_index(VARIANTS, strcol("variant"))):(column("per_op")):(sl_end("lo", "per_op")):(sl_end("hi", "per_op")) \
    :(strcol("lo") eq "NA") with table if (here(0) && strcol("per_op") ne "NA")
unset table
set datafile separator whitespace
unset datafile columnheaders
at(e, i) = (e - 1) * NW + i
VALUES = 0
FEWS = 0
draw(e, v, few) = (VALUES = VALUES + 1) + (FEWS = FEWS + few) + strlen(DRAWN[e] = sl_add(DRAWN[e], sprintf("%d", v)))
most(e, value) = (MOST[e] = value > MOST[e] ? value : MOST[e])
raise(k, value) = (TOP[k] = value > TOP[k] ? value : TOP[k])
if (|$ROWS| > 0) {
    stats $ROWS using (most(int($1), $4)) nooutput
}
# An event that happens less than once in a thousand of these operations gets no long bar, however
# rare it is elsewhere.
do for [e = 1:NE] {
    TIMES[e] = MOST[e] > 0 && MOST[e] < 0.001 ? 1e6 : 1
    do for [i = 1:NW] { TOP[at(e, i)] = 0.001 / TIMES[e] }
}
if (|$ROWS| > 0) {
    stats $ROWS using (draw(int($1), int($3), int($7)) + raise(at(int($1), int($2)), $6)) nooutput
}
per(e) = TIMES[e] > 1 ? " per million operations" : " per operation"

source_text(s) = s eq "pmu" ? "pmu: hardware counter" : s eq "soft" ? "soft: the kernel's count" \
    : s eq "sde" ? "sde: the program's own count" : s eq "sim" ? "sim: simulated caches" : s
# "sde:::schedlab::STEALS" -> "STEALS"; "perf::CONTEXT-SWITCHES" -> "CONTEXT-SWITCHES"
short(name) = strstrt(name, "::") ? short_of(name[strstrt(name, "::") + 2:*]) : name
short_of(rest) = rest[1:1] eq ":" ? short(rest[2:*]) : short(rest)

# "PROCESS_CPU_NS per operation, ns": what is no count says its unit.
ends_with(text, end) = strlen(text) >= strlen(end) \
    && text[strlen(text) - strlen(end) + 1:*] eq end
unit(name) = ends_with(name, "_NS") || ends_with(name, "-CLOCK") ? ", ns" : ""

LABEL_CHARS = 0
NAME_LINES = 1
do for [s in VARIANTS] {
    c = sl_longest_line(sl_row_name(s))
    LABEL_CHARS = c > LABEL_CHARS ? c : LABEL_CHARS
    NAME_LINES = sl_lines(sl_row_name(s)) > NAME_LINES ? sl_lines(sl_row_name(s)) : NAME_LINES
}
NAMES = SL_PAPER ? sl_name_width(LABEL_CHARS) : 26 + 7.9 * LABEL_CHARS
COLUMN_CHARS = 0
# A column is headed by its workload's name; where that repeats, the parameters stand below it.
name(i) = sl_name(word(WORKLOADS, i))
names_like(i) = int(sum [k = 1:NW] (name(k) eq name(i) ? 1 : 0))
parameters(spec) = sl_knobs(spec)[2:*]
below(i) = names_like(i) < 2 ? "" : SL_PAPER ? sl_wrap_spec(parameters(word(WORKLOADS, i)), 12) \
    : parameters(word(WORKLOADS, i))
HEADING = 12
do for [i = 1:NW] {
    c = sl_longest_line(below(i)) > strlen(name(i)) ? sl_longest_line(below(i)) : strlen(name(i))
    COLUMN_CHARS = c > COLUMN_CHARS ? c : COLUMN_CHARS
    HEADING = strlen(below(i)) && 12 + 14 * sl_lines(below(i)) > HEADING ? 12 + 14 * sl_lines(below(i)) : HEADING
}
# As many blocks stand beside each other as fit, each with room for its title, and fill the page.
NARROWEST = SL_PAPER ? 88 : 108
LEAST = 6.9 * COLUMN_CHARS + 8 > NARROWEST ? 6.9 * COLUMN_CHARS + 8 : NARROWEST
short_chars = 0
do for [e in EVENTS] { short_chars = strlen(short(e)) > short_chars ? strlen(short(e)) : short_chars }
TITLE_W = SL_PAPER ? 0 : 8.4 * (short_chars + 26) + 20
PAGE = sl_width(980.0, NAMES + 3 * LEAST + 16)
room(across) = (PAGE / across - NAMES - 16) / NW
ACROSS = 1
do for [a = 2:3] {
    if (NE >= a && room(a) >= LEAST && PAGE / a >= TITLE_W) { ACROSS = a }
}
CELL = room(ACROSS) > 300 ? 300 : room(ACROSS) < 84 ? 84 : room(ACROSS)
CELL = CELL < 6.9 * COLUMN_CHARS + 8 ? 6.9 * COLUMN_CHARS + 8 : CELL
# Columns of a block, and blocks of an event.
IN_BLOCK = !SL_PAPER || room(ACROSS) >= LEAST ? NW : int((PAGE - NAMES - 16) / LEAST)
IN_BLOCK = IN_BLOCK < 1 ? 1 : IN_BLOCK
PARTS = (NW + IN_BLOCK - 1) / IN_BLOCK
IN_BLOCK = (NW + PARTS - 1) / PARTS
CELL = PARTS > 1 ? (PAGE - NAMES - 16) / IN_BLOCK : CELL
NUMBER = SL_PAPER ? 52 : 48
BAR = CELL - NUMBER - 12
BLOCK_W = SL_PAPER || ACROSS > 1 ? PAGE / ACROSS : NAMES + CELL * NW + 16
BLOCK_W = BLOCK_W < TITLE_W ? TITLE_W : BLOCK_W
W = BLOCK_W * ACROSS < sl_width(640, 0) ? sl_width(640, 0) : BLOCK_W * ACROSS
title(e) = SL_PAPER ? sl_wrap(short(word(EVENTS, e)) . per(e) . unit(word(EVENTS, e)), int((BLOCK_W - 28) / 8.8)) \
    : short(word(EVENTS, e)) . per(e) . unit(word(EVENTS, e))
TITLE_LINES = 1
do for [e = 1:NE] { TITLE_LINES = sl_lines(title(e)) > TITLE_LINES ? sl_lines(title(e)) : TITLE_LINES }
BELOW_TITLE = 15 * (TITLE_LINES - 1)
READING = "Bar and number are the median, the line is its 95 % interval. " \
    . "Each column of a block has its own scale, from zero. " . sl_at_workers(0) . "." \
    . (FEWS == 0 ? "" : FEWS == VALUES ? " No lines:" . SL_FEW . "." \
        : " Values without a line may have" . SL_FEW . ".")
HEAD = sl_head(TITLE, READING, W)
TOP_SPACE = SL_PAPER ? 4 : 14
ROW = sl_row_h(SL_PAPER ? 2.0 + 13 * NAME_LINES : 16.0, 1.0 + 12 * NAME_LINES, NV, \
    HEAD + TOP_SPACE + 54 + BELOW_TITLE + HEADING + sl_foot(CAPTION, W), W)
# An event without any value says why, in one block.
parts(e) = strlen(DRAWN[e]) ? PARTS : 1
high_of(e) = (strlen(DRAWN[e]) ? 54 + HEADING + ROW * NV : 60) + BELOW_TITLE
# Blocks, row by row: y of the top and page of each.
array BLOCK[NE * PARTS]
array PAGE_OF[NE * PARTS]
array PAGE_END[NE * PARTS]
block(e, i) = (int(e) - 1) * PARTS + (int(i) - 1) / IN_BLOCK + 1
y = HEAD + TOP_SPACE
PAGES = 1
high = 0
do for [e = 1:NE] {
    do for [p = 1:parts(e)] {
        high = high_of(e) > high ? high_of(e) : high
        if (y + high + sl_foot(CAPTION, W) > sl_page_h(W) + 0.5 && y > HEAD + TOP_SPACE) {
            if ((e - 1) % ACROSS == 0) {
                y = HEAD + TOP_SPACE
                PAGES = PAGES + 1
            }
        }
        BLOCK[(e - 1) * PARTS + p] = y
        PAGE_OF[(e - 1) * PARTS + p] = PAGES
        PAGE_END[PAGES] = y + high + sl_foot(CAPTION, W)
        if (e % ACROSS == 0 || e == NE) {
            y = y + high
            high = 0
        }
    }
}

left(e) = BLOCK_W * ((int(e) - 1) % ACROSS)
cell(e, i) = left(e) + NAMES + CELL * ((int(i) - 1) % IN_BLOCK)
top(e, i) = TOP[at(int(e), int(i))]
bar_end(value) = cell($1, $2) + BAR * value / top($1, $2)
row(e, i, v) = BLOCK[block(e, i)] + BELOW_TITLE + 44 + HEADING + ROW * (v - 0.5)
# v comes from DRAWN, as text.
spec(v) = word(VARIANTS, sl_number(v))
here_on(e) = $1 == e && PAGE_OF[block(e, $2)] == page
on(e, v) = $3 == sl_number(v) && here_on(e)

do for [sheet = 1:sl_sheets(PAGES)] {
    eval sl_sheet(sheet)
    H = PAGE_END[page]
    eval sl_terminal(format, W, H)
    set output sl_page_file(PREFIX, page, format)
    set multiplot
    do for [b = 1:NE * PARTS] {
        e = (b - 1) / PARTS + 1
        first = (b - 1) % PARTS * IN_BLOCK + 1
        if (first > 1 && !strlen(DRAWN[e]) || PAGE_OF[b] != page) { continue }
        set label title(e) at left(e) + 14, BLOCK[b] + 10 left font sl_bold(format, 12) textcolor rgb SL_INK
        set label "source " . source_text(SOURCE[e]) at left(e) + 14, BLOCK[b] + BELOW_TITLE + 26 left \
            font ",10" textcolor rgb SL_SOFT
        if (strlen(DRAWN[e])) {
            HEADING_TOP = BLOCK[b] + BELOW_TITLE + 44
            ROWS_TOP = HEADING_TOP + HEADING
            do for [i = first:first + IN_BLOCK > NW ? NW : first + IN_BLOCK - 1] {
                set label name(i) at cell(e, i), HEADING_TOP left \
                    font ",10" textcolor rgb SL_SOFT
                set label below(i) at cell(e, i), HEADING_TOP + 14 left font ",10" textcolor rgb SL_SOFT
                set arrow from cell(e, i), ROWS_TOP - 2 to cell(e, i), ROWS_TOP + 2 + ROW * NV nohead \
                    linecolor rgb SL_SOFT linewidth 0.8
            }
            do for [v = 1:NV] {
                set label sl_row_name(word(VARIANTS, v)) at left(e) + NAMES - 8, \
                    ROWS_TOP + ROW * (v - 0.5) - 7 * (sl_lines(sl_row_name(word(VARIANTS, v))) - 1) right \
                    font ",11" textcolor rgb SL_INK
            }
        } else {
            set label sl_wrap("not counted: " . ABSENT[e], int((BLOCK_W - 28) / 6.9)) \
                at left(e) + 14, BLOCK[b] + BELOW_TITLE + 42 left \
                font ",11" textcolor rgb SL_SOFT
        }
    }
    load SL_HERE . "canvas.gp"
    set xrange [0:W]
    set yrange [H:0]
    do for [e = 1:NE] {
        if (strlen(DRAWN[e]) && PAGE_OF[(e - 1) * PARTS + 1] <= page && PAGE_OF[e * PARTS] >= page) {
            plot NaN notitle, for [v in DRAWN[e]] $ROWS \
                    using (on(e, v) ? cell(e, $2) : NaN):(row($1, $2, $3)) \
                    :(cell(e, $2)):(bar_end($4)):(row($1, $2, $3) - 5):(row($1, $2, $3) + 5) \
                    with boxxyerror fillcolor rgb sl_fill(spec(v), VARIANTS) \
                    fillstyle solid 1 border linecolor rgb sl_edge(spec(v), VARIANTS) notitle, \
                for [v in DRAWN[e]] $ROWS using (on(e, v) ? bar_end($4) : NaN) \
                    :(row($1, $2, $3)):(bar_end($5)):(bar_end($6)) \
                    with xerrorbars pointtype sl_point(spec(v), VARIANTS) \
                    pointsize sl_point_size(format, 0.7) linewidth 1 \
                    linecolor rgb sl_hue(spec(v)) notitle, \
                $ROWS using (here_on(e) ? cell(e, $2) + BAR + NUMBER : NaN):(row($1, $2, $3)):(sl_plain($4 * TIMES[e])) \
                    with labels right font ",10" textcolor rgb SL_INK notitle
        }
    }
    unset multiplot
    unset output
}
