#!/bin/bash
# coverage.sh - prints how many lines of each folder the tests of build/coverage have run, and writes a page per file.
#
#     tests/coverage.sh
#
# `make coverage` calls it, from the folder of the sources. A file that is compiled several times counts once: a line
# has been run if it has been in any of them. Not counted are the scripts of tests/program, which run the release program,
# simulated machines, which are a build of their own, and processes that end by a signal or by abort().
set -euo pipefail
page=build/coverage/report
mkdir -p $page
gcovr --root . --object-directory build/coverage --exclude tests/ --exclude harness/peers/ \
    --html-details $page/index.html --csv $page/lines.csv build/coverage >$page/log 2>&1 ||
    { tail -n 20 $page/log >&2; exit 1; }
table() { # KEY: an awk expression, by which lines are added up
    awk -F , 'NR > 1 { sub(/\/[^\/]*$/, "", $1); key = '"$1"'; lines[key] += $2; run[key] += $3 }
        END { for (key in lines) printf "%-32s %7d %7d %6.1f %%\n", key, lines[key], run[key], 100 * run[key] / (lines[key] + !lines[key]) }' \
        $page/lines.csv
}
printf '%-32s %7s %7s %8s\n' folder lines run share
table '$1' | sort
table '"all"'
echo "not counted: scripts, simulated machines, processes that a signal ends"
echo "each file, line by line: $page/index.html"
