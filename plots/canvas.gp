# canvas.gp - the frame of a figure: question above, how to read it, caption below; a subroutine.
#
# Called first inside a multiplot as: load SL_HERE . "canvas.gp". The axes of its plot are CSS
# pixels from the top left. A script places legends and row names by `set label`, `set object` or
# `set arrow` before the call. All of them are cleared afterwards.
# In:  W, H                     size of the figure in pixels
#      TITLE, READING, CAPTION  the texts

set lmargin at screen 0
set rmargin at screen 1
set tmargin at screen 1
set bmargin at screen 0
unset border
unset tics
unset key
unset xlabel
unset ylabel
unset title
unset logscale
unset grid
if (!SL_PAPER) {
    set label sl_wrap(TITLE, sl_title_width(W)) at 14, 24 left font ",15" textcolor rgb SL_INK
    set label sl_wrap(READING, sl_text_width(W)) at 14, 26 + 20 * sl_title_lines(TITLE, W) left \
        font ",11" textcolor rgb SL_SOFT
    set label sl_wrap(CAPTION, sl_caption_width(W)) at 14, H - sl_foot(CAPTION, W) + 14 left \
        font ",10" textcolor rgb SL_SOFT
}
plot [0:W] [H:0] NaN notitle
unset label
unset object
unset arrow
