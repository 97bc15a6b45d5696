#!/bin/bash
# test_scaling.sh - harness/audit/scaling_falls.sh lists the curves that fall, and what moves them.
#
#     tests/program/test_scaling.sh build/schedlab
#
# Prints TAP.
. "$(dirname "$0")/../tap.sh"

falls() {
    "$tree/harness/audit/scaling_falls.sh" "$@" >out 2>err </dev/null
    status=$?
}
# row VARIANT WORKLOAD: of the second table
row() { sed -n '/^| workload .* best at/,$p' out | grep -F "| \`$2\` | $1 |"; }

cat >sweep.yaml <<'END'
name: curves
title: One that falls, and some that rise
machine: sim:server64
reps: 1
groups:
  - id: both
    question: Which falls?
    figure: speedup
    baseline: gmp
    variants: [grq, gmp]
    workers: [1, 8]
    workloads: ["spawn,n=500", "uneven,tasks=32,dist=constant,rounds=40000"]
END
"$schedlab" sweep sweep.yaml --seed 1 --no-report --name curves >out 2>err
folder=$(tail -n 1 out)
falls "$folder"
check each_curve_has_its_speed_up [ "$status $(sed '/best at/,$d' out | grep -cE '^\| `.* \| [0-9.]+ \| [0-9.]+ \|$')" = '0 4' ]
check one_that_falls_is_told_with_its_structure grep -qE '^\| `spawn,n=500` \| grq \| 1 \| 8 \| 0\.[0-9]+ \|.*`[a-z.]+` [0-9]+ %' out
check one_that_rises_is_not [ -z "$(row gmp uneven,tasks=32,dist=constant,rounds=40000)" ]
falls "$folder" "$schedlab"
check what_if_tells_a_gain_and_what_is_kept [ "$(row grq spawn,n=500 | grep -cE '=free`? ?\| [0-9.]+ \| [0-9.]+ \| (open)? ?\|$')" = 1 ]
falls "$folder" false
check a_run_without_an_answer_gains_nothing [ "$status $(grep -c '^no answer: false run grq spawn,n=500 .*,grq.lock=free --' err) $(row grq spawn,n=500 | grep -cE '\| 0\.00 \| - \| open \|$')" = '0 1 1' ]
mkdir -p apart/cells/00
python3 -c '
import json, sys
for i, line in enumerate(open(sys.argv[1] + "/samples.jsonl")):
    json.dump({"record": json.loads(line)}, open(f"apart/cells/00/{i}.json", "w"))' "$folder"
falls "$folder" && mv out whole
falls apart
check results_of_single_cells_are_read_too cmp out whole
falls
check misuse_is_one_line [ "$status $(wc -l <err)" = '2 1' ]
falls nowhere
check a_folder_without_results_is_refused [ "$status $(grep -c 'nowhere has neither' err)" = '2 1' ]
finish
