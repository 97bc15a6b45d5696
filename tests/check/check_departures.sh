#!/bin/sh
# check_departures.sh - the table of gmp's departures from Go is complete, as far as heads of files tell.
#
#     a file of the runtime, or of gmp, that cites Go and says "Differs:" is named in the table
#     a file that the table names exists
#
# Prints one line per offence; exit 1 if there is any.
set -eu
cd "$(dirname "$0")/../../sched_variants"

heading='## Where gmp departs from Go'
named=$(awk -v heading="$heading" '
    /^## / { within = $0 == heading }
    within && /^\| / { columns = split($0, column, "|"); print column[columns - 1] }' README.md |
    grep -o '`[^`]*\.[ch]`' | tr -d '`' | sort -u)
[ -n "$named" ] || { echo "README.md has no table under \"$heading\""; exit 1; }

offences=0
for file in $(grep -l 'Source: Go' runtime/*.[ch] gmp/*.[ch] | xargs grep -l 'Differs:'); do
    # the queue's differences are its knobs; the trace is no part of a result; gmp is not made of runq.h
    case $file in runtime/lrq.h | runtime/trace.c | runtime/runq.h) continue ;; esac
    if ! echo "$named" | grep -qxF "${file#runtime/}"; then
        echo "$file says how it differs from Go, and README.md's table does not name it"
        offences=1
    fi
done
for file in $named; do
    [ -f "runtime/$file" ] || [ -f "$file" ] || { echo "README.md's table names $file, which does not exist"; offences=1; }
done
exit $offences
