# group.gp - what one group of a run holds; a subroutine of the figures' scripts.
#
# Called after style.gp as: load SL_HERE . "group.gp"
# In:  SL_FILE, a .tsv of the run with the columns group, variant, workload and workers; GROUP.
# Out: VARIANTS   specifications in catalogue order, those of one variant by their last knob's value
#      WORKLOADS  specifications in the order of the file
#      WORKERS    counts of workers, ascending
#      WORKERS_MAX[i]  the largest count of workers of the i-th workload
#
#      curve_panel, panel_title  for curves.gp: a panel per workload
#
# The scripts then copy the rows they draw into a data block of numbers, $ROWS, and read only that.
# Texts are slow to compare, and each row is read again for each curve, format and layer.
#
# Ends the script with one line on standard error where the group has no rows.

VARIANTS = ""
WORKLOADS = ""
WORKERS = ""
SL_FOUND = 0
sl_note(variant, workload, workers) = (VARIANTS = sl_add(VARIANTS, variant), \
    WORKLOADS = sl_add(WORKLOADS, workload), WORKERS = sl_add(WORKERS, workers), SL_FOUND = 1)
sl_here(group) = group eq GROUP
stats SL_FILE using (sl_here(strcol("group")) \
    ? sl_note(strcol("variant"), strcol("workload"), strcol("workers")) : 0) nooutput
if (!SL_FOUND) {
    print sprintf("%s: no rows of group '%s'", SL_FILE, GROUP)
    exit status 1
}

do for [spec in VARIANTS] {
    if (!sl_index(SL_VARIANTS, sl_name(spec))) {
        SL_STRANGERS = sl_add(SL_STRANGERS, sl_name(spec))
    }
}

# The value of the last knob, if a number: so that tick=2 comes before tick=16.
sl_value_text(spec) = sl_value_from(spec, strlen(spec))
sl_value_from(spec, i) = i < 1 ? "" : spec[i:i] eq "=" ? spec[i + 1:*] : sl_value_from(spec, i - 1)
sl_is_number(text) = strlen(text) > 0 && strstrt("0123456789", text[1:1]) > 0
sl_order(spec) = sl_place(sl_name(spec)) * 1e12 \
    + (spec eq sl_name(spec) ? 0 : !sl_is_number(sl_value_text(spec)) ? 1e11 \
        : 1 + real(sl_value_text(spec)))

array SL_ITEMS[words(VARIANTS)]
do for [i = 1:words(VARIANTS)] {
    SL_ITEMS[i] = word(VARIANTS, i)
}
do for [i = 2:words(VARIANTS)] {
    sl_j = i
    while (sl_j > 1 && sl_order(SL_ITEMS[sl_j]) < sl_order(SL_ITEMS[sl_j - 1])) {
        sl_swap = SL_ITEMS[sl_j]
        SL_ITEMS[sl_j] = SL_ITEMS[sl_j - 1]
        SL_ITEMS[sl_j - 1] = sl_swap
        sl_j = sl_j - 1
    }
}
VARIANTS = SL_ITEMS[1]
do for [i = 2:|SL_ITEMS|] {
    VARIANTS = VARIANTS . " " . SL_ITEMS[i]
}

sl_sorted = ""
sl_last = -1
do for [i = 1:words(WORKERS)] {
    sl_next = -1
    do for [n in WORKERS] {
        if (int(n) > sl_last && (sl_next < 0 || int(n) < sl_next)) {
            sl_next = int(n)
        }
    }
    sl_sorted = sl_add(sl_sorted, sprintf("%d", sl_next))
    sl_last = sl_next
}
WORKERS = sl_sorted

array WORKERS_MAX[words(WORKLOADS)]
do for [i = 1:words(WORKLOADS)] {
    WORKERS_MAX[i] = 0
}
sl_raise(i, n) = (WORKERS_MAX[i] = n > WORKERS_MAX[i] ? n : WORKERS_MAX[i])
stats SL_FILE using (sl_here(strcol("group")) \
    ? sl_raise(sl_index(WORKLOADS, strcol("workload")), int(column("workers"))) : 0) nooutput

# "2 workers", or "2 to 4 workers" where workloads differ.
sl_most_workers = 0
sl_least_workers = 1e9
do for [i = 1:words(WORKLOADS)] {
    sl_most_workers = WORKERS_MAX[i] > sl_most_workers ? WORKERS_MAX[i] : sl_most_workers
    sl_least_workers = WORKERS_MAX[i] < sl_least_workers ? WORKERS_MAX[i] : sl_least_workers
}
sl_at_workers(unused) = (sl_least_workers == sl_most_workers ? "" \
    : sprintf("%d to ", sl_least_workers)) . sl_count(sl_most_workers, "worker")

# For the row at hand of SL_FILE: of this group, and of its workload's largest count of workers?
sl_shown(group, workload, workers) = \
    group eq GROUP && workers == WORKERS_MAX[sl_index(WORKLOADS, workload)]

curve_panel(unused) = strcol("workload")
panel_title(i) = word(WORKLOADS, i)
