#!/bin/bash
# test_examples.sh - each file of examples/ does what its head says: all are planned, the simulated ones run.
#
#     tests/program/test_examples.sh build/schedlab
#
# Prints TAP.
. "$(dirname "$0")/../tap.sh"
ln -s "$tree/examples" examples

ran() { # PART ARGUMENT...: succeeds, and says PART
    local part=$1
    shift
    "$schedlab" "$@" >out 2>err </dev/null && cat err >>out && contains out "$part"
}
command_of() { # FILE: the words of its command behind build/schedlab
    sed -n 's/^# Command: *build\/schedlab //p' "$1"
}

stall() { # MACHINE: gmp's stall per operation there, in ns
    "$schedlab" run gmp fib,n=14 --machine "$1" --why --reps 1 2>err </dev/null | tee out | sed -n 's/.*gmp: \([0-9.]*\) ns of stall per operation.*/\1/p'
}

for file in examples/*.yaml examples/*.slp; do
    name=$(basename "$file" .yaml)
    name=${name//[-.]/_}
    command=$(command_of "$file")
    check "${name}_has_a_head" eval '[ "$(grep -cE "^# (Asks|Command|Takes|Look at): " "$file")" = 4 ] && [[ "$command" == *"$file"* ]]'
    check "${name}_is_in_the_index" grep -qF "\`build/schedlab $command\`" examples/README.md
    case $command in
    sweep*)
        check "${name}_is_planned" ran ', 0 done' sweep "$file" --plan
        ! grep -q 'machine:' "$file" || check "${name}_runs" ran ', 0 failed, 0 cells skipped' $command --results . --no-report
        ;;
    repro*) check "${name}_is_supported" ran '1 experiment: 1 supported, 0 refuted, 0 undecided' $command --results . --no-report ;;
    run*replay*) check "${name}_runs" ran 'latency' $command --reps 1 ;;
    run*) check "${name}_runs" ran 'of stall per operation' $command --reps 1 ;;
    --with*) ;; # its queues have to be built first: test_build.sh
    import*) check "${name}_is_made" ran 'critical path' $command ;;
    *) report 0 "${name}_has_a_command_of_these" ;;
    esac
done
far=$(stall sim:examples/four-cores.yaml) near=$(stall sim:examples/four-cores.yaml,group=4)
check one_l3_for_all_costs_less_stall awk "BEGIN { exit !(0 < $near + 0 && $near + 0 < 0.75 * $far) }"
check each_row_of_the_index_has_a_file [ "$(grep -c '^| \[' examples/README.md)" = "$(ls examples/*.yaml examples/*.slp examples/*.c | wc -l)" ]
finish
