#!/bin/bash
# validate_mood.sh - which calibration was made in the mood that a native run was in.
#
#     harness/validate_mood.sh RUN_DIR FOLDER
#
# A virtual machine has moods: lines took 6, 28 or 125 ns from one core to the other, for minutes. RUN_DIR is
# judged by its samples in the most common one, whose round trip is in plan.json. Of FOLDER/calibrate-N.txt that N
# is printed whose dirty.near is nearest to that, by its logarithm; a round trip is two transfers and more, 2.5 to
# 3 of them where it was measured.
set -euo pipefail
moods=$(tr -d ' \n' <"$1/plan.json" | grep -o '"moods":{[^}]*')
class=$(sed 's/.*"class":"\([a-z]*\)".*/\1/' <<<"$moods")
trip_ns=$(sed "s/.*\"${class}_ns\":\([0-9.]*\).*/\1/" <<<"$moods")
grep -H '^dirty.near' "$2"/calibrate-*.txt | awk -v trip="$trip_ns" '{
    off = log($2 * 2.8 / trip)
    off = off < 0 ? -off : off
    sub(/.*calibrate-/, "")
    sub(/\.txt.*/, "")
    if (best == "" || off < least) { best = $0; least = off }
} END { print best }'
