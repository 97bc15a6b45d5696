# over.gp - multiples of the group's baseline as texts; a subroutine of throughput.gp and
# terminal.gp.
#
# Called after group.gp, with SL_FILE's separator and column heads, as: load SL_HERE . "over.gp"
# In:  OVER_FILE, the path of baseline.tsv; BASELINE, a variant of the group or ""
# Out: over_baseline(workload, variant)  by their numbers: "2.04×", "~1.01×" where no difference is
#                   shown, "?1.10×" where samples are too few to tell, "distances" where no core
#                   distance has enough samples of both, "" where there is no baseline or number
#      OVER_READING  what of this occurs, in words

array OVER[words(WORKLOADS) * words(VARIANTS)]
do for [k = 1:|OVER|] { OVER[k] = "" }
OVER_MARKS = ""
over_mark(variant, shown) = variant eq BASELINE ? "" \
    : shown eq "none" ? "~" : shown eq "few" ? "?" : ""
over_text(variant, shown) = shown eq "distances" ? shown \
    : strcol("ratio") eq "NA" ? "" : over_mark(variant, shown) . sl_ratio(column("ratio"))
over_at(i, v) = (i - 1) * words(VARIANTS) + v
over_note(variant, shown) = strlen(OVER_MARKS = OVER_MARKS . (variant eq BASELINE ? "" : " " . shown)) \
    + strlen(OVER[over_at(sl_index(WORKLOADS, strcol("workload")), sl_index(VARIANTS, variant))] \
        = over_text(variant, shown))
if (strlen(BASELINE)) {
    stats OVER_FILE using ( \
        sl_shown(strcol("group"), strcol("workload"), column("workers")) \
        && strcol("baseline") eq BASELINE \
        ? over_note(strcol("variant"), strcol("shown")) : 0) nooutput
}
over_baseline(i, v) = OVER[over_at(i, v)]
OVER_READING = (sl_index(OVER_MARKS, "none") ? " ~: no difference shown." : "") \
    . (sl_index(OVER_MARKS, "few") ? " ?: too few samples to tell." : "") \
    . (sl_index(OVER_MARKS, "distances") ? " distances: no core distance has enough samples of both." : "")
