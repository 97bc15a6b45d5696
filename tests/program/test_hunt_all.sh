#!/bin/bash
# test_hunt_all.sh - a campaign of 10^5 executions over all variants, scenarios, memory models and algorithms is silent.
#
#     tests/program/test_hunt_all.sh build/schedlab
#
# The schedules are those of seed 1, the same each time. Prints TAP. A failure's lines say how to replay it.
. "$(dirname "$0")/../tap.sh"

"$schedlab" hunt --campaign --executions 31 --results runs >all 2>err </dev/null
status=$?
grep -A 1 '^failed' all >out
check all_variants_are_silent [ $status = 0 ]
executions=$(sed -n 's/^\([0-9]*\) executions of [0-9]* cells, 100 % of the campaign; 0 cells failed$/\1/p' all)
tail -n 2 all >out
check they_made_a_hundred_thousand_executions [ "${executions:-0}" -ge 100000 ]

finish
