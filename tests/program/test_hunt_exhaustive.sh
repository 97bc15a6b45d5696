#!/bin/bash
# test_hunt_exhaustive.sh - schedlab hunt --exhaustive: lone queues are right in all executions, as many as there were before.
#
#     tests/program/test_hunt_exhaustive.sh build/schedlab
#
# Mutants with a line "Exhaustive:" show that it finds bugs (tests/hunt/mutants.sh). Prints TAP.
. "$(dirname "$0")/../tap.sh"

# run ARGUMENT...: leaves out, err, status.
run() {
    timeout 600 "$schedlab" hunt "$@" >out 2>err </dev/null
    status=$?
}

for queue in deque the abp half ring globq chan; do
    run --exhaustive $queue --threads 2 --operations 2
    cp out first
    check "${queue}_is_right" [ "$status $(grep -c '; all are right$' out)" = "0 $(grep -c '|' out)" ]
    run --exhaustive $queue --threads 2 --operations 2
    check "${queue}_is_the_same_again" cmp -s <(sed 's/, [0-9.]* s;/;/' first) <(sed 's/, [0-9.]* s;/;/' out)
done
for queue in deque the abp half; do
    run --exhaustive $queue --threads 3 --operations 1
    check "${queue}_of_three_threads_is_right_and_told_once" [ "$status $(grep -c '^P|S|S: .*; all are right$' out)" = '0 1' ]
done
run --exhaustive globq --threads 2 --operations 4 --format json
check more_operations_have_more_states python3 -c '
import json
found = json.load(open("out"))
assert found["operations"] == 4 and all(s["complete"] and s["states"] > 1000 for s in found["scripts"])'
run --exhaustive globq --executions 10
check a_limit_is_told [ "$status $(grep -c '10 executions, .*; right so far, not all$' out)" = '0 1' ]
# The first round knows of no shared word, and is over after three.
run --exhaustive deque --threads 2 --operations 1 --executions 3
check a_round_that_learnt_is_not_all [ "$status $(grep -c ': 3 executions, .*; right so far, not all$' out)" = '0 1' ]

misuse queues_are_few 'valid: deque, the, abp, half, ring, globq, chan' -- --exhaustive list
misuse operations_are_few 'valid: 1 to 4' -- --exhaustive deque --operations 5
misuse threads_are_few 'valid: 2 to 3' -- --exhaustive deque --threads 4
misuse a_variant_is_none 'leave out gmp' -- --exhaustive deque gmp
for option in workers depth seed jobs; do
    misuse "a_queue_has_no_$option" "leave out --$option" -- --exhaustive deque "--$option" 2
done
misuse threads_want_it '--threads takes --exhaustive' -- gmp sleep_wake --threads 2

finish
