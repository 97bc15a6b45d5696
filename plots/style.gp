# style.gp - what every figure shares: marks of the variants, number formats, terminals.
#
# Loaded first by each figure's script. Defines names that begin with sl_ or SL_ and sets options;
# reads no file and draws nothing.
#
# Colours: seven of the eight of Okabe and Ito (2008), who chose them to stay apart for people with
# protanopia, deuteranopia and tritanopia. Their yellow has a contrast of 1.3:1 on white, too faint
# for a thin line, and gives its place to the wine of Paul Tol's "muted" scheme. Under the
# dichromacy simulation of Machado et al. (2009), severity 1, the two nearest of these eight are
# still 16 units of CIE Lab apart; every colour has a contrast of at least 2.3:1 on white.
# No figure tells variants apart by colour alone: each has a point type, a dash and a name of its
# own.
#
# A variation of a variant by knobs (gmp,tick=64) keeps the hue: a lighter or darker line with an open
# point, each of the first six a point of its own; pale bar with an edge. (Hatching would do, but browsers print it as megabytes of pictures.)

set encoding utf8
set datafile separator "\t"
set datafile missing NaN
set datafile columnheaders

# Catalogue order, which is the order of rows and legends in all figures; serial, plain C without a
# scheduler, is a neutral grey.
SL_VARIANTS = "kthread  uthread  static   grq      perm     gmp      tasksteal contsteal serial"
SL_HUES     = "0x000000 0xCC79A7 0xE69F00 0xD55E00 0x882255 0x0072B2 0x009E73  0x56B4E9  0x777777"
SL_FILLED   = "1        2        13       11       9        7        15        5         3"
SL_OPEN     = "1        2        12       10       8        6        14        4         3"
SL_DASHES   = "4        6        3        5        2        1        1         2         3"

# Other runtimes: the rest of Tol's "muted", with open points, since they have no knobs.
SL_VARIANTS = SL_VARIANTS . " peer:go  peer:tbb peer:gomp peer:omp peer:boost peer:pthreads"
SL_HUES     = SL_HUES     . " 0x332288 0x999933 0x117733  0xAA4499 0x44AA99   0x661100"
SL_PEER_POINTS = " 6 4 8 10 12 14"
SL_FILLED   = SL_FILLED   . SL_PEER_POINTS
SL_OPEN     = SL_OPEN     . SL_PEER_POINTS
SL_DASHES   = SL_DASHES   . " 4 5 6 2 3 1"

# A variant that is not in the catalogue yet takes one of these, in order of appearance.
SL_SPARE_HUES = "0x222222 0xCC6677 0x997700 0x6699CC"
SL_SPARE_POINTS = "5 9 7 13"
SL_SPARE_DASHES = "1 3 4 5"
SL_OPEN_POINTS = "4 6 8 10 12 14"

if (exists("SL_COLOURS") && SL_COLOURS eq "grey") { load SL_HERE . "grey.gp" }

SL_INK = 0x222222
SL_SOFT = 0x666666
SL_RULE = 0xDDDDDD
# Lines of reference; not in the axes' colour: an SVG would join them to the axes, without a dash.
SL_REFERENCE = 0x444444

# Lists are strings of words; specifications and names hold no spaces.
sl_index(list, item) = int(sum [sl_k = 1:words(list)] (word(list, sl_k) eq item ? sl_k : 0))
sl_add(list, item) = sl_index(list, item) ? list : (strlen(list) ? list . " " . item : item)

# The number at hand of an iteration over a list of numbers, and a number for a row that the
# iteration does not want. gnuplot goes through an empty list once, with an empty text. It is silent
# about a point outside the axes, and complains about a clause without any point.
sl_number(text) = strlen(text) ? int(text) : 1
sl_none(text, outside) = strlen(text) ? NaN : outside

# The name of "name,key=value,key=value", and the rest with its comma.
sl_comma(spec) = strstrt(spec, ",")
sl_name(spec) = sl_comma(spec) ? spec[1:sl_comma(spec) - 1] : spec
sl_knobs(spec) = sl_comma(spec) ? spec[sl_comma(spec):*] : ""

# Place in the catalogue; strangers follow. SL_STRANGERS is filled by group.gp.
SL_STRANGERS = ""
sl_place(name) = sl_index(SL_VARIANTS, name) ? sl_index(SL_VARIANTS, name) \
    : words(SL_VARIANTS) + 1 + (sl_index(SL_STRANGERS, name) + 3) % 4
sl_mark(name, list, spare) = word(list . " " . spare, sl_place(name))

# Which variation of its variant spec is among the specifications in list: 0 is the plain one or,
# where that is missing, the first.
sl_rank(spec, list) = spec eq sl_name(spec) ? 0 : sl_rank_of_knobs(spec, list)
sl_rank_of_knobs(spec, list) = int((sl_index(list, sl_name(spec)) ? 1 : 0) \
    + sum [sl_j = 1:sl_index(list, spec) - 1] (sl_name(word(list, sl_j)) eq sl_name(spec) \
        && sl_knobs(word(list, sl_j)) ne "" ? 1 : 0))

sl_tint_channel(c, t) = t < 0 ? int(c * (1 + t)) : int(c + (255 - c) * t)
# t from 0, the colour itself, to 1, white; below zero to -1, black.
sl_tint(rgb, t) = (sl_tint_channel((rgb >> 16) & 255, t) << 16) \
    + (sl_tint_channel((rgb >> 8) & 255, t) << 8) + sl_tint_channel(rgb & 255, t)
sl_lightness(rank) = rank == 0 ? 0.0 : rank == 1 ? 0.35 : rank == 2 ? -0.4 : rank == 3 ? 0.6 \
    : rank == 4 ? -0.65 : 0.5

sl_hue(spec) = int(sl_mark(sl_name(spec), SL_HUES, SL_SPARE_HUES))
sl_color(spec, list) = sl_tint(sl_hue(spec), sl_lightness(sl_rank(spec, list)))
sl_fill(spec, list) = sl_tint(sl_hue(spec), sl_rank(spec, list) == 0 ? 0.45 : 0.85)
sl_edge(spec, list) = sl_rank(spec, list) == 0 ? sl_fill(spec, list) : sl_hue(spec)
sl_point(spec, list) = sl_rank(spec, list) == 0 \
    ? int(sl_mark(sl_name(spec), SL_FILLED, SL_SPARE_POINTS)) : sl_point_of_rank(sl_open(spec), sl_rank(spec, list))
# A stranger's open point is the one before its filled one.
sl_open(spec) = sl_place(sl_name(spec)) > words(SL_VARIANTS) \
    ? int(sl_mark(sl_name(spec), SL_FILLED, SL_SPARE_POINTS)) - 1 \
    : int(sl_mark(sl_name(spec), SL_OPEN, SL_SPARE_POINTS))
sl_point_of_rank(point, rank) = rank < 2 ? point \
    : int(word(SL_OPEN_POINTS, (sl_index(SL_OPEN_POINTS, sprintf("%d", point)) + rank - 2) % 6 + 1))
sl_dash(spec, list) = int(sl_mark(sl_name(spec), SL_DASHES, SL_SPARE_DASHES))

# 1234567 -> "1.23M"; three digits, the prefixes of the SI.
sl_digits(m) = m >= 99.95 ? "%.0f" : m >= 9.995 ? "%.1f" : "%.2f"
sl_power(v) = v == 0 ? 0 : floor(log10(abs(v) * 1.0005) / 3)
sl_prefix(p) = p == 0 ? "" : p > 0 ? (" kMGT"[p + 1:p + 1]) : (" mµnp"[1 - p:1 - p])
sl_mantissa(v) = v / 1000.0 ** sl_power(v)
sl_si(v) = v == 0 ? "0" \
    : sprintf(sl_digits(abs(sl_mantissa(v))), sl_mantissa(v)) . sl_prefix(sl_power(v))
# ~0, 0.0164, 0.430, 3.20, 118: plain where a prefix would hide how small a share is. Three digits, as
# far as four decimals have them: every 61st is 0.0164, every 64th 0.0156.
sl_plain(v) = v == 0 ? "0" : v < 0.0001 ? "~0" : v < 0.09995 ? sprintf("%.4f", v) \
    : v < 0.9995 ? sprintf("%.3f", v) : v < 1000 ? sprintf(sl_digits(v), v) : sl_si(v)
sl_tick(v) = sprintf("%g", v / 1000.0 ** sl_power(v)) . sl_prefix(sl_power(v))
sl_time(ns) = ns < 1e3 ? sprintf("%g ns", ns) : ns < 1e6 ? sprintf("%g µs", ns / 1e3) \
    : ns < 1e9 ? sprintf("%g ms", ns / 1e6) : sprintf("%g s", ns / 1e9)
sl_ratio(x) = x < 0.00005 ? "~0×" : sprintf((x < 0.0995 ? "%.4f" : sl_digits(x)) . "×", x)

# A step of 1, 2 or 5 times a power of ten that gives 2 to 6 steps up to limit.
sl_step(limit) = sl_step_of(limit, 10.0 ** floor(log10(limit)))
sl_step_of(limit, power) = limit / power >= 5 ? 2 * power : limit / power >= 2.5 ? power \
    : limit / power >= 1.25 ? power / 2 : power / 5

# Where too few samples leave a value without an interval, it is both ends itself.
sl_end(end, value) = strcol(end) eq "NA" ? column(value) : column(end)
SL_FEW = " too few samples for an interval"
# An interval may stretch an axis by half, and goes on beyond it then.
sl_reach(hi, value) = hi > 1.5 * value ? 1.5 * value : hi

# "round trip" -> "round trips", "leaf" -> "leaves"
sl_plural(op) = !strlen(op) || op[strlen(op):*] eq "s" ? op \
    : op[strlen(op):*] eq "f" ? op[1:strlen(op) - 1] . "ves" : op . "s"

# Text broken into lines of at most `width` characters. Not by word(), which takes quotes away.
sl_wrap(text, width) = sl_wrap_from(text, width, "", "")
sl_wrap_from(text, width, line, done) = !strlen(text) ? done . line \
    : !strlen(line) ? sl_wrap_from(sl_tail(text), width, sl_head_word(text), done) \
    : strlen(line) + 1 + strlen(sl_head_word(text)) > width \
    ? sl_wrap_from(sl_tail(text), width, sl_head_word(text), done . line . "\n") \
    : sl_wrap_from(sl_tail(text), width, line . " " . sl_head_word(text), done)
# A specification, which has no spaces, broken after commas; in a paper a much longer part breaks too.
sl_wrap_spec(text, width) = sl_wrap_spec_from(text, width, "", "")
sl_wrap_spec_from(text, width, line, done) = !strlen(text) ? done . line \
    : strlen(line) && strlen(line) + strlen(sl_head_key(text, width)) > width \
    ? sl_wrap_spec_from(text[strlen(sl_head_key(text, width)) + 1:*], width, sl_head_key(text, width), done . line . "\n") \
    : sl_wrap_spec_from(text[strlen(sl_head_key(text, width)) + 1:*], width, line . sl_head_key(text, width), done)
sl_head_key(text, width) = !SL_PAPER ? sl_whole_key(text) : sl_whole_key(text)[1:width > 1 ? width + 5 : 6]
sl_whole_key(text) = strstrt(text, ",") ? text[1:strstrt(text, ",")] : text
sl_longest_line(text) = !strstrt(text, "\n") ? strlen(text) : strstrt(text, "\n") - 1 > sl_longest_line(text[strstrt(text, "\n") + 1:*]) \
    ? strstrt(text, "\n") - 1 : sl_longest_line(text[strstrt(text, "\n") + 1:*])

# Parts of a specification in a list: "name,key=value" that all have in common, and the knobs that
# only this one has, "plain" if there are none.
sl_has_knob(spec, knob) = strstrt(spec . ",", "," . knob . ",") > 0
sl_is_common(list, knob) = 0 == sum [sl_m = 1:words(list)] (sl_has_knob(word(list, sl_m), knob) ? 0 : 1)
sl_common(list) = sl_name(word(list, 1)) . sl_knobs_of(sl_knobs(word(list, 1)), list, 1)
sl_own_knobs(spec, list) = sl_own_of(sl_knobs_of(sl_knobs(spec), list, 0))
sl_own_of(knobs) = strlen(knobs) ? knobs[2:*] : "plain"
sl_knobs_of(knobs, list, common) = !strlen(knobs) ? "" \
    : (sl_is_common(list, sl_first_knob(knobs)) == common ? "," . sl_first_knob(knobs) : "") \
        . sl_knobs_of(knobs[strlen(sl_first_knob(knobs)) + 2:*], list, common)
sl_first_knob(knobs) = strstrt(knobs[2:*], ",") ? knobs[2:strstrt(knobs[2:*], ",")] : knobs[2:*]
sl_head_word(text) = strstrt(text, " ") ? text[1:strstrt(text, " ") - 1] : text
sl_tail(text) = strstrt(text, " ") ? text[strstrt(text, " ") + 1:*] : ""
sl_lines(text) = 1 + int(sum [sl_i = 1:strlen(text)] (text[sl_i:sl_i] eq "\n" ? 1 : 0))

# Figures of papers (figures.h) have no title, prose and caption. They are drawn with these set before
# by gnuplot -e:
#   SL_COLUMN   their width in mm
#   SL_FONT     of all figures, default sans-serif
#   SL_COLOURS  "grey": no hue
#   SL_LATEX    1: in LaTeX too, as PREFIX-latex.tex
SL_PAPER = exists("SL_COLUMN")
if (!SL_PAPER) { SL_COLUMN = 0.0 }
if (!exists("SL_FONT")) { SL_FONT = "sans-serif" }
SL_COLUMN_W = SL_COLUMN / 25.4 * 96 # CSS pixels
# A figure's width: `usual`, or that of the column with text of 8 pt; where `least` is more, text becomes
# smaller, down to 6 pt in a column of 80 mm or more. Two panels stand side by side in two columns alone.
SL_TEXT_8PT = SL_COLUMN_W * 9 / 8
SL_TEXT_6PT = SL_COLUMN_W * 10 / 8
sl_width(usual, least) = !SL_PAPER ? usual : least < SL_TEXT_8PT ? SL_TEXT_8PT \
    : least > SL_TEXT_6PT && SL_COLUMN >= 80 ? SL_TEXT_6PT : least
SL_WIDE = !SL_PAPER || SL_COLUMN >= 130
sl_scale(w) = SL_PAPER ? SL_COLUMN_W / w : 1.0

# A figure of a paper is at most SL_PAGE_MM high. Panels that do not fit go to further files, PREFIX-2 and so on:
#   do for [sheet = 1:sl_sheets(PAGES)] { eval sl_sheet(sheet) ... set output sl_page_file(PREFIX, page, format)
SL_PAGE_MM = SL_WIDE ? 200.0 : 110.0
sl_page_h(w) = SL_PAPER ? SL_PAGE_MM / 25.4 * 96 / sl_scale(w) : 1e9
# How many of height `each` fit onto one page beside `rest`, one at least; and how high a row of `rows` may be then.
sl_fit(each, rest, w) = sl_page_h(w) - rest < 2 * each ? 1 : floor((sl_page_h(w) - rest) / each)
sl_row_h(usual, least, rows, rest, w) = usual * rows + rest <= sl_page_h(w) ? usual \
    : least * rows + rest > sl_page_h(w) ? least : floor((sl_page_h(w) - rest) / rows)
sl_pages(rows, fit) = (rows + fit - 1) / fit
sl_sheets(pages) = pages * words(SL_FORMATS)
sl_sheet(n) = sprintf("page = %d; format = '%s'", (n - 1) / words(SL_FORMATS) + 1, \
    word(SL_FORMATS, (n - 1) % words(SL_FORMATS) + 1))
sl_page_file(prefix, page, format) = sl_file(page > 1 ? sprintf("%s-%d", prefix, page) : prefix, format)

# The name of a row of bars: in a paper it takes several lines, where it is long.
sl_row_name(spec) = SL_PAPER ? sl_wrap_spec(spec, SL_WIDE ? 20 : 15) : spec
sl_name_width(chars) = SL_PAPER ? 14 + 7.6 * chars : 22 + 7.9 * chars

# The command that opens a terminal of w x h CSS pixels (96 to the inch); 12 px is 9 pt.
# Not enhanced: names have underscores, which would become subscripts.
SL_FORMATS = "svg pdf png" . (exists("SL_LATEX") ? " tex" : "")
# The terminal pdfcairo of gnuplot 5.4 makes text of n points 4/3 n points high; a pixel is 0.75 points.
SL_PT_A_PX = 0.75 * 0.75
SL_PLAIN = " noenhanced background '#ffffff'"
sl_inches(w, h) = sprintf(" size %.3fin,%.3fin", w / 96.0 * sl_scale(w), h / 96.0 * sl_scale(w))
sl_terminal(format, w, h) = format eq "svg" \
    ? sprintf("set terminal svg size %d,%d font '%s,12'", w, h, SL_FONT) . SL_PLAIN \
    : format eq "pdf" \
    ? "set terminal pdfcairo" . sl_inches(w, h) . sprintf(" font '%s,12' fontscale %.3f linewidth %.3f", \
        SL_FONT, SL_PT_A_PX * sl_scale(w), sl_scale(w)) . SL_PLAIN \
    : format eq "tex" \
    ? "set terminal cairolatex pdf input color" . sl_inches(w, h) . sprintf(" font ',7' linewidth %.3f", sl_scale(w)) \
    : sprintf("set terminal pngcairo size %d,%d font '%s,10' fontscale 1.8", 2 * w, 2 * h, SL_FONT) \
        . " linewidth 2 pointscale 2" . SL_PLAIN
sl_file(prefix, format) = prefix . (format eq "tex" ? "-latex." : ".") . format

# A point of size 1 is larger in the svg terminal than in those of cairo.
sl_point_size(format, size) = format eq "svg" ? 0.62 * size : size

# The svg terminal knows no bold outside enhanced text; one size larger stands in for it.
sl_bold(format, size) = format eq "svg" ? sprintf("%s,%d", SL_FONT, size + 1) \
    : format eq "tex" ? sprintf(",%d", size) : sprintf("%s:Bold,%d", SL_FONT, size)

# Page geometry, in CSS pixels from the top left: a figure W wide and H high, with HEAD pixels for
# question and reading aid above the panels and FOOT for the caption below.
sl_title_width(w) = int((w - 28) / 9.3)
sl_text_width(w) = int((w - 28) / 6.9)
sl_caption_width(w) = int((w - 28) / 6.5)
sl_title_lines(title, w) = sl_lines(sl_wrap(title, sl_title_width(w)))
sl_text_lines(text, w) = sl_lines(sl_wrap(text, sl_text_width(w)))
sl_head(title, reading, w) = SL_PAPER ? 4 : 20 + 20 * sl_title_lines(title, w) + 15 * sl_text_lines(reading, w)
sl_foot(caption, w) = SL_PAPER ? 4 : 16 + 14 * sl_lines(sl_wrap(caption, sl_caption_width(w)))

# The command that places a panel's plot area, in pixels from the top left of a figure of w x h.
sl_panel(x0, x1, y0, y1, w, h) = sprintf( \
    "set lmargin at screen %.6f; set rmargin at screen %.6f; " \
    . "set tmargin at screen %.6f; set bmargin at screen %.6f; set border 3 linecolor rgb %d", \
    x0 / real(w), x1 / real(w), 1 - y0 / real(h), 1 - y1 / real(h), SL_SOFT)

# "1 worker", "2 workers"
sl_count(n, what) = sprintf("%d %s%s", n, what, n == 1 ? "" : "s")
