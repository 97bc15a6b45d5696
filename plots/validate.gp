# validate.gp - the simulated machine beside valgrind, this machine and published curves.
#
# gnuplot -c plots/validate.gp DATA_DIR OUT_DIR
#   DATA_DIR  what `make validate` has left: misses.tsv, native.tsv, curves.tsv
#   OUT_DIR   gets validation-misses.png, validation-native.png, validation-curves.png

SL_HERE = ARG0
while (strlen(SL_HERE) && SL_HERE[strlen(SL_HERE):*] ne "/") {
    SL_HERE = SL_HERE[1:strlen(SL_HERE) - 1]
}
load SL_HERE . "style.gp"
DATA = ARG1
OUT = ARG2
W = 620
H = 480
set datafile separator "\t"
set grid linecolor rgb SL_RULE linetype 1
set border 3 linecolor rgb SL_SOFT
set tics nomirror textcolor rgb SL_INK
set key top left reverse Left textcolor rgb SL_INK

SL_RED = sl_hue("grq")
SL_BLUE = sl_hue("gmp")

eval sl_terminal("png", W, H)
set output OUT . "/validation-misses.png"
set title "One core beside valgrind's caches: misses a call\nline: equal; dashed: 5 % apart" textcolor rgb SL_INK
set logscale xy
set xrange [1e3:1e6]
set yrange [1e3:1e6]
set xlabel "valgrind" textcolor rgb SL_INK
set ylabel "simulated" textcolor rgb SL_INK
level(want) = strcol("level") eq want ? column("simulated") : NaN
plot x notitle with lines linecolor rgb SL_REFERENCE, \
    1.05 * x notitle with lines linecolor rgb SL_REFERENCE dashtype 2, \
    x / 1.05 notitle with lines linecolor rgb SL_REFERENCE dashtype 2, \
    DATA . "/misses.tsv" using "valgrind":(level("L1")) title "L1" with points \
        pointtype 7 pointsize 0.8 linecolor rgb SL_BLUE, \
    DATA . "/misses.tsv" using "valgrind":(level("last")) title "last level" with points \
        pointtype 9 pointsize 0.9 linecolor rgb SL_RED

set output OUT . "/validation-native.png"
set title "This machine beside its model: operations a second of each cell\n" \
    . "line: equal; dashed: 30 % apart" textcolor rgb SL_INK
set xrange [1e4:1e10]
set yrange [1e4:1e10]
set format xy "%.0s%c"
set xlabel "measured" textcolor rgb SL_INK
workers(want) = column("workers") == want ? column("simulated") : NaN
plot x notitle with lines linecolor rgb SL_REFERENCE, \
    1.3 * x notitle with lines linecolor rgb SL_REFERENCE dashtype 2, \
    x / 1.3 notitle with lines linecolor rgb SL_REFERENCE dashtype 2, \
    DATA . "/native.tsv" using "native":(workers(1)) title "1 worker" with points \
        pointtype 7 pointsize 0.8 linecolor rgb SL_BLUE, \
    DATA . "/native.tsv" using "native":(workers(2)) title "2 workers" with points \
        pointtype 9 pointsize 0.9 linecolor rgb SL_RED

set output OUT . "/validation-curves.png"
set title "One locked queue, and a queue per P, on sim:server64" textcolor rgb SL_INK
set xrange [0.8:80]
set yrange [1e4:1e8]
set xtics (1, 2, 4, 8, 16, 32, 64)
set format x "%g"
set xlabel "cores" textcolor rgb SL_INK
set ylabel "tasks a second" textcolor rgb SL_INK
set key bottom left
of(name, value) = strstrt(strcol("workload"), name) == 1 ? column(value) : NaN
plot DATA . "/curves.tsv" using "cores":(of("uneven", "gmp")) title "gmp, uneven" with linespoints \
        pointtype 7 linecolor rgb SL_BLUE, \
    DATA . "/curves.tsv" using "cores":(of("skynet", "gmp")) title "gmp, skynet" with linespoints \
        pointtype 6 dashtype 2 linecolor rgb SL_BLUE, \
    DATA . "/curves.tsv" using "cores":(of("uneven", "grq")) title "grq, uneven" with linespoints \
        pointtype 11 linecolor rgb SL_RED, \
    DATA . "/curves.tsv" using "cores":(of("skynet", "grq")) title "grq, skynet" with linespoints \
        pointtype 10 dashtype 2 linecolor rgb SL_RED
