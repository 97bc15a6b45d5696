# known.gp - what baseline.tsv says of a cell, by number; a subroutine of heatmap.gp and surface.gp.
#
# Loaded after group.gp. Defines functions and draws nothing.

KNOWN = "faster slower none few failed skipped distances"
ratio_here(unused) = strcol("ratio") eq "NA" ? 1.0 : column("ratio")
known_here(unused) = sl_index(KNOWN, strcol("status") eq "ok" ? strcol("shown") : strcol("status"))
