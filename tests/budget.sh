#!/bin/bash
# budget.sh - writes tests/budget.tsv from the times of the last run: `make budget` after `make test-all`.
#
# A program's share is the CPU seconds that it took, at least 0.5. Rows of programs that were not run stay, and so do the
# marks `alone`. Programs that are gone from tests/ leave their row: take it out by hand.
set -euo pipefail
cd "$(dirname "$0")/.."
table=build/test-times.tsv budget=tests/budget.tsv
[ -s $table ] || { echo "budget: $table is missing: run make test-all first" >&2; exit 1; }
awk -F '\t' -v OFS='\t' 'NR == FNR { if (FNR > 1 && $6 == 0) taken[$1] = $3 < 0.5 ? 0.5 : $3; next }
    { share[$1] = $2; mark[$1] = $3 }
    END { for (name in taken) share[name] = taken[name]
          for (name in share) print name, sprintf("%.1f", share[name]), mark[name] }' $table $budget |
    sed 's/\t$//' | LC_ALL=C sort >$budget.new
mv $budget.new $budget
echo "$(wc -l <$budget) shares in $budget"
