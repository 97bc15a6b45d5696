#!/bin/bash
# validate_distance.sh - which calibration was made at the core distance of a native run.
#
#     harness/audit/validate_distance.sh RUN_DIR FOLDER
#
# Cores of a virtual machine change their distance: lines took 6, 28 or 125 ns from one to the other, for
# minutes. RUN_DIR is judged by its samples at the most common distance, whose round trip is in plan.json. The
# script prints the N of that FOLDER/calibrate-N.txt whose dirty.near is nearest to it, by its logarithm. A round
# trip is two transfers and more, 2.5 to 3 of them where it was measured. Where neither tells, as on one core, it
# is the first, and that is said.
set -euo pipefail
[ $# = 2 ] || { echo "usage: $0 RUN_DIR FOLDER" >&2; exit 2; }
[ -r "$1/plan.json" ] || { echo "$0: cannot read $1/plan.json" >&2; exit 2; }
distances=$(tr -d ' \n' <"$1/plan.json" | grep -oE '"(distances|moods)":{.*' || true)
class=$(sed -n 's/^"[a-z]*":{[^}]*"class":"\([a-z]*\)".*/\1/p' <<<"$distances")
trip_ns=$(sed -n "s/^\"[a-z]*\":{[^}]*\"${class:-none}_ns\":\([0-9.e+]*\)[,}].*/\1/p" <<<"$distances")
awk -v trip="$trip_ns" -v name="$0" '
    $1 == "dirty.near" && $2 + 0 > 0 && $3 == "ns" && trip > 0 {
        off = log($2 * 2.8 / trip)
        off = off < 0 ? -off : off
        if (best == "" || off < least) { best = FILENAME; least = off }
    }
    END {
        if (best == "") {
            print name ": neither run nor calibrations tell a distance: the first calibration it is" >"/dev/stderr"
            best = ARGV[1]
        }
        sub(/.*calibrate-/, "", best)
        sub(/\.txt$/, "", best)
        print best
    }' "$2"/calibrate-*.txt
