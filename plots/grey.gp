# grey.gp - the marks of the variants without a hue, for print; a subroutine of style.gp.
#
# Lightness alone tells fifteen runtimes from each other no more: the point, the dash and the name do, as in
# colour. Neighbours in the catalogue are far apart.

SL_HUES = "0x000000 0x8A8A8A 0x5E5E5E 0x9C9C9C 0x3C3C3C 0x1E1E1E 0x747474 0xA6A6A6 0x777777" \
    . " 0x2C2C2C 0x8A8A8A 0x505050 0x949494 0x6A6A6A 0x3C3C3C"
SL_SPARE_HUES = "0x1E1E1E 0x8A8A8A 0x5E5E5E 0x9C9C9C"
