# timeline.gp - one run: what each worker ran and when, steals as arrows, queue lengths below.
#
# gnuplot -c plots/timeline.gp FOLDER FILE FORMAT LANES BEGIN END LETTER TITLE PART
#   FOLDER  holds slices.tsv (lane begin_us end_us colour name depth; name -: something
#           begins on top of it), arrows.tsv (from_lane to_lane
#           us) and lengths.tsv (lane us length; lane -1 is the global queue)
#   FILE    to write
#   FORMAT  svg, pdf or png
#   LANES   how many lanes there are
#   BEGIN, END  of the time axis in us
#   LETTER  P or M: what a lane is
#   TITLE   what was run
#   PART    what of the run is left out, in a sentence; may be empty
#
# A task is drawn inside the bar of the goroutine or task that it runs on top of.

SL_HERE = ARG0
while (strlen(SL_HERE) && SL_HERE[strlen(SL_HERE):*] ne "/") {
    SL_HERE = SL_HERE[1:strlen(SL_HERE) - 1]
}
load SL_HERE . "style.gp"
FOLDER = ARG1
LANES = int(ARG4)
BEGIN = real(ARG5)
END = real(ARG6) > BEGIN ? real(ARG6) : BEGIN + 1.0
LETTER = ARG7
TITLE = ARG8
READING = "A bar is a goroutine (G) or child task (T) on a worker, an arrow a steal from victim to thief. " \
    . "Below: how many wait in each worker's queue, and in the global one."
CAPTION = "Time begins with the first event that the scheduler told of." . (strlen(ARG9) ? " " . ARG9 : "")

W = 1000
LANE = LANES <= 16 ? 34 : 18
LEFT = 64
RIGHT = W - 24
TOP = sl_head(TITLE, READING, W) + 14
LANES_END = TOP + LANE * LANES
QUEUE_TOP = LANES_END + 30
QUEUE_END = QUEUE_TOP + 110
H = QUEUE_END + 40 + sl_foot(CAPTION, W)

eval sl_terminal(ARG3, W, H)
set output ARG2
set multiplot
load SL_HERE . "canvas.gp"

SLICES = FOLDER . "/slices.tsv"
half(depth) = depth > 6 ? 0.10 : 0.42 - 0.05 * depth
# A name where the bar has room for it: with its function ("G3 main.serve"), or its first word alone.
fits(begin, end, name) = name ne "-" && (end - begin) / (END - BEGIN) * (RIGHT - LEFT) > 7.0 * strlen(name)
label(begin, end, name) = fits(begin, end, name) ? name : word(name, 1)
set xrange [BEGIN:END]
set yrange [LANES - 0.5:-0.5]
eval sl_panel(LEFT, RIGHT, TOP, LANES_END, W, H)
set ytics scale 0 textcolor rgb SL_INK
set ytics ()
do for [i = 0:LANES - 1] {
    if (LANES <= 32 || i % 4 == 0) {
        set ytics add (sprintf("%s%d", LETTER, i) i)
    }
}
unset xtics
set style fill solid 1.0 border rgb 0x888888
plot SLICES using ($3 > $2 ? ($2 + $3) / 2 : NaN):(column("lane")):2:3:(column("lane") - half($6)):(column("lane") + half($6)):4 \
        with boxxyerror linecolor rgb variable linewidth 0.5 notitle, \
    SLICES using (fits($2, $3, word(strcol(5), 1)) ? ($2 + $3) / 2 : NaN):(column("lane")):(label($2, $3, strcol(5))) \
        with labels font ",9" textcolor rgb SL_INK notitle, \
    FOLDER . "/arrows.tsv" using 3:1:(0):($2 - $1) \
        with vectors head size screen 0.006,20 filled linecolor rgb 0xD55E00 linewidth 1.5 notitle

eval sl_panel(LEFT, RIGHT, QUEUE_TOP, QUEUE_END, W, H)
unset ytics
unset xtics
set xtics nomirror scale 0.5 textcolor rgb SL_SOFT
set ytics nomirror scale 0.5 textcolor rgb SL_SOFT
set xlabel "us" textcolor rgb SL_SOFT offset 0, 0.5
set ylabel "queued" textcolor rgb SL_SOFT
set autoscale y
set yrange [0:*]
set offsets 0, 0, 0.5, 0
set key top right horizontal samplen 1.5 font ",9" textcolor rgb SL_INK
HUES = "0x0072B2 0x009E73 0xD55E00 0xCC79A7 0xE69F00 0x56B4E9 0x882255 0x777777"
LENGTHS = FOLDER . "/lengths.tsv"
SHOWN = LANES <= 8 ? LANES : 8
plot for [i = 0:SHOWN - 1] LENGTHS using (column("lane") == i ? $2 : NaN):3 with steps \
        linecolor rgb int(word(HUES, i + 1)) linewidth 1.5 \
        title (LANES <= 8 || i < SHOWN ? sprintf("%s%d", LETTER, i) : ""), \
    LENGTHS using (column("lane") == -1 ? $2 : NaN):3 with steps dashtype 2 \
        linecolor rgb SL_INK linewidth 1.5 title "global"
unset multiplot
