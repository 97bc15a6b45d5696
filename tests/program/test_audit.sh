#!/bin/bash
# test_audit.sh - audits from the outside: what they leave behind, what reports say of them, and what
# they refuse. An audit of this machine need not hold: the machine may be busy.
#
#     tests/program/test_audit.sh build/schedlab
#
# Prints TAP. Needs the program, bash and the usual tools.
. "$(dirname "$0")/../tap.sh"

has() { grep -qE -- "$1" "$2"; }

audit() { # ARGUMENT...: leaves out, err and status
    "$schedlab" audit "$@" >out 2>err </dev/null
    status=$?
}

# misuse NAME PART ARGUMENT...: one line with PART, status 2, no output, no folder.
misuse() {
    local name=$1 part=$2 good=0
    shift 2
    audit "$@"
    refused "$part" && [ ! -e results ] && good=1
    report $good "$name"
}

cat >small.yaml <<'END'
name: small
title: A small audit
min_time_ms: 2
steal_max: 100
warmup: 0
events: [none]
groups:
  - id: one
    question: Which?
    baseline: gmp
    variants: [gmp]
    workloads: ["fib,n=16"]
    workers: [1]
END

misuse too_few_blocks '--blocks=3 is fewer than the 8 samples of one comparison; valid: from 8 on' small.yaml --blocks 3
misuse too_few_samples '3 samples a side cannot show a difference at alpha 0.05, whatever they are; valid for --reps: from 4 on' small.yaml --reps 3
misuse too_few_samples_for_a_strict_alpha 'valid for --reps: from 12 on' small.yaml --reps 11 --alpha 1e-6
misuse less_than_least 'at most 6 repetitions are fewer than at least 8; valid for --reps-max: 8 to 1000' small.yaml --reps 8 --reps-max 6
misuse bad_alpha '--alpha=0.9 is not valid' small.yaml --alpha 0.9
misuse missing_file 'none.yaml: No such file' none.yaml
misuse two_files 'one sweep file at a time' small.yaml small.yaml

audit small.yaml --reps 4 --blocks 8 --seed 7 --format json
check audit_says_whether_it_holds [ $status -le 1 ]
outcome='(does not hold|says nothing)'
[ $status = 0 ] && outcome=holds
check exit_status_says_the_same has "^  \"outcome\": \"$outcome\",?\$" out
check result_is_written cmp -s out results/audit.json
runs=(results/small-*)
check both_orders_are_kept [ ${#runs[@]} = 2 ]
check first_run_holds_the_result cmp -s out "${runs[0]}/audit.json"
order() { grep -o '"side":"[a-z0-9]*"' "$1/samples.jsonl" | head -n 5; }
check second_order_is_the_first_reversed [ "$(order "${runs[0]}")" = "$(order "${runs[1]}" | tac)" ]
check orders_differ [ "$(order "${runs[0]}")" != "$(order "${runs[1]}")" ]
# 1 cell, 8 blocks of each order in rounds of 4: two rounds each.
check comparisons_are_counted [ "$(grep -c '"comparisons": 4,' out)" = 6 ]
for run in "${runs[@]}"; do
    json doctor_looked_before_a_run_of_the_audit "j['doctor']['summary']['ok'] > 0 and j['doctor']['counting']" "$run/environment.json"
done
check slowdowns_are_recorded [ "$(grep -c '"injected_percent":10' "${runs[0]}/samples.jsonl")" = 8 ]

# A round goes on as its sweep would: each of the five cells in it ends by its width or at the limit.
"$schedlab" audit small.yaml --reps 4 --reps-max 7 --width 1 --blocks 8 --results adaptive --format json >rounds 2>err
number() { sed -nE "s/^ *\"$1\": ([0-9]+),?$/\1/p" rounds; }
check rounds_go_on_by_width [ $(($(number by_width) + $(number at_limit))) = $((5 * $(sed -n '/"rounds"/,/}/s/.*"count": \([0-9]*\),/\1/p' rounds))) ]
# Five medians of first calls are not all known to 1 % after eight of each.
sed 's/min_time_ms: 2/min_time_ms: 0/' small.yaml >cold.yaml
audit cold.yaml --reps 8 --reps-max 20 --width 1 --blocks 8 --results short
check no_round_is_said [ "$status $(wc -c <out) $(grep -c 'more --blocks' err)" = "1 0 1" ]

"$schedlab" report "${runs[0]}" --no-figures >out 2>err
check report_shows_its_own_audit has 'slowed down by 10 %' "${runs[0]}/report.html"
check report_shows_how_its_run_was_measured has '<th scope="row">sides 5 injected percent</th>' "${runs[0]}/report.html"
check report_shows_winners_among_equals has ' of 4 rounds of all cells name a winner among equals; chance explains up to [0-9]+' "${runs[0]}/report.html"
sed 's/"outcome": "[a-z ]*"/"outcome": "says nothing"/' "${runs[0]}/audit.json" >silent && mv silent "${runs[0]}/audit.json"
"$schedlab" report "${runs[0]}" --no-figures >out 2>err
check report_says_why_an_audit_says_nothing has 'Fewer than 50 % of the slowdowns by 10 % were found' "${runs[0]}/report.html"
"$schedlab" sweep small.yaml --quick --no-report >out 2>err
other=$(tail -n 1 out)
"$schedlab" report "$other" --no-figures >out 2>err
check report_of_another_run_shows_it_too has 'slowed down by 10 %' "$other/report.html"
rm results/audit.json
"$schedlab" report "$other" --no-figures >out 2>err
check report_without_one_says_so has 'No audit of this machine' "$other/report.html"

finish
