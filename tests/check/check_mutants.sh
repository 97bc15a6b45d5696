#!/bin/bash
# check_mutants.sh - each patch of tests/mutants and tests/hunt/mutants says what it breaks and which test or hunt finds
# it, and applies to this source.
# Prints one line per offence; exit 1 if there is any.
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 1

offences=$(
    awk 'FNR == 1 { bug = test = 0 }
        /^Bug: ./ { bug = 1 }
        /^Test: ./ { test = 1 }
        /^--- / { if (!bug || !test) print FILENAME ": wants lines \"Bug: ...\" and \"Test: ...\""; nextfile }' \
        tests/mutants/*.patch
    awk 'FNR == 1 { bug = origin = hunt = 0 }
        /^Bug: ./ { bug = 1 }
        /^Origin: ./ { origin = 1 }
        /^Hunt: ./ { hunt = 1 }
        /^--- / {
            if (!bug || !origin || !hunt) print FILENAME ": wants lines \"Bug: ...\", \"Origin: ...\" and \"Hunt: ...\""
            nextfile }' \
        tests/hunt/mutants/*.patch
    for patch in tests/mutants/*.patch tests/hunt/mutants/*.patch; do
        patch -p1 --dry-run --batch --forward --fuzz=0 <"$patch" >/dev/null 2>&1 || echo "$patch: does not apply"
    done
)
[ -z "$offences" ] || { echo "$offences"; exit 1; }
