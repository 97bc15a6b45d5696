#!/bin/bash
# test_words.sh - commands of the loop (CONTRIBUTING.md) name what is valid where a word is not.
#
#     tests/program/test_words.sh build/schedlab
#
# Needs the release build's tests. Prints TAP.
. "$(dirname "$0")/../tap.sh"
programs=$tree/build/release/tests
unset MAKEFLAGS MFLAGS MAKELEVEL CASE

run() { "$@" >out 2>err </dev/null; status=$?; }
names() { # PART...: status 2, nothing in out, and all parts in err
    local part
    [ $status = 2 ] && [ ! -s out ] || return 1
    for part in "$@"; do
        contains err "$part" || return 1
    done
}

run "$tree/tests/one.sh" xyzzy
check an_unknown_test_is_named names 'there is no test "xyzzy"; valid are' test_deque test_sweep conformance sim_formulas check_style
run "$tree/tests/one.sh" test_sweep 'a*'
check a_script_has_no_cases names 'test_sweep is a script: it has no cases, so leave out CASE'
CASE=xyzzy run "$programs/test_deque"
check an_unknown_case_is_named names 'xyzzy' 'steal_races_pop_of_last'
CASE='gmp/*xyzzy*' run "$programs/conformance"
check an_unknown_case_of_conformance_is_named names 'xyzzy'
CASE='gpm/*wake*' run "$programs/conformance"
check a_near_variant_is_offered names 'gpm' 'gmp'
run "$tree/tests/run.sh" xyzzy
check an_unknown_part_is_named names 'unknown part xyzzy; valid are' unit conformance verdicts lint
run "$tree/tests/mutants/run.sh" xyzzy
check an_unknown_mutant_is_named names 'no mutant matches "xyzzy"; valid are globs of:' sim-memory-is-local
run "$tree/tests/harass.py" --stop-ms 0 -- true
check stops_have_a_length names 'valid are --stop-ms from 1'
run make --no-print-directory -C "$tree" CONFIG=xyzzy build
check an_unknown_configuration_is_named names 'CONFIG=xyzzy is unknown; valid are release, debug, asan, tsan, sim, hunt, trace'
finish
