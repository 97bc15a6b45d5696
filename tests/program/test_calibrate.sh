#!/bin/bash
# test_calibrate.sh - schedlab calibrate and the lists of machines: a model comes out that is read
# back, what cannot be measured is said, and each kind of misuse is refused.
#
#     tests/program/test_calibrate.sh build/schedlab
. "$(dirname "$0")/../tap.sh"

# run ARGUMENT...: leaves out, err, status.
run() {
    "$schedlab" "$@" >out 2>err </dev/null
    status=$?
}

read -r first other < <(python3 -c 'import os; c = os.sched_getaffinity(0); print(min(c), max(c))')

# One core: all that takes two is taken from another model, and said.
run calibrate --quick --cores "$first" --output one.yaml --format json
check calibrate_measures_on_one_core [ $status = 0 ]
names="f = {x['name']: x for x in j['figures']}; v = {x['key']: x for x in j['values']}"
json it_has_a_value_for_every_key \
    "set(v) == set(j['model']) - {'lookahead'} and len(v) >= 50"
json it_measured_what_takes_one_core \
    "all(f[n]['median_ns'] > 0 and f[n]['low_ns'] <= f[n]['median_ns'] <= f[n]['high_ns'] for n in ('call','now','atomic','fence'))"
# Beside other load a new thread may run before its starter goes on, a switch may take longer than a life, and
# one of two threads that yield to each other may never run.
json or_says_why_not \
    "all(f[n].get('absent') or 0 <= f[n]['low_ns'] <= f[n]['median_ns'] <= f[n]['high_ns'] for n in ('start','end','switch'))"
json memory_is_farther_than_the_first_cache \
    "f['L1 latency'].get('median_ns', 0) <= f['memory.local'].get('median_ns', f['l3.hit'].get('median_ns', 1e9))"
json it_says_what_takes_two_cores \
    "all('second core' in f[n]['absent'] for n in ('wake','wakeup','signal','dirty.near','network.median'))"
json and_whose_value_it_took \
    "all('taken from server128' in v[n]['note'] and v[n]['origin'] == 'taken' for n in ('wake','dirty.near','dirty.remote'))"
json code_costs_something "v['block']['origin'] == 'fitted to code' and j['model']['block'] > 0"
json cores_are_named "j['cores'] == [$first]"
cp out one.json
names=
run list sim:one.yaml --format json
json the_model_is_read_back \
    "j['model']['call'] == json.load(open('one.json'))['model']['call'] and j['model'].keys() == json.load(open('one.json'))['model'].keys()"
json with_all_its_values "{k: x for k, x in j['model'].items()} == json.load(open('one.json'))['model']"
json and_with_a_source_for_each "all(k['source'] for k in j['keys'])"
grep -q '^# Written by schedlab calibrate' one.yaml && report 1 it_says_who_wrote_it || report 0 it_says_who_wrote_it
run list sim:one.yaml,cores=1,lookahead=0
check it_takes_settings grep -q '^lookahead  *0 ' out

# Two cores, if there are two.
if [ "$first" != "$other" ]; then
    run calibrate --quick --cores "$first,$other"
    # The other core may be busy with something else.
    check calibrate_prints_a_table grep -qE '^wakeup  .*(measured; quartiles .* of 31|taken from server128: .*busy.*)$' out
    check it_says_that_it_was_quick grep -q '^measured with --quick: ' out
    check table_has_figures_beside_the_model grep -q '^futex wait, refused  ' out
    check nothing_is_said_on_standard_error [ ! -s err ]
fi

misuse wrong_core_is_refused "core 4095 may not be used by this process" -- calibrate --cores 4095
misuse same_core_twice_is_refused "two different cores" -- calibrate --cores "$first,$first"
misuse no_core_is_refused "--cores=x is not valid; valid: 0 to 4095" -- calibrate --cores x
misuse other_names_are_refused "a name that ends in .yaml" -- calibrate --output host.txt
misuse arguments_are_refused "options only" -- calibrate host.yaml
misuse unknown_option_is_refused "the nearest is \"--output\"" -- calibrate --ouptut x.yaml
misuse unknown_format_is_refused "valid: table, json" -- calibrate --format yml
run calibrate --output /nowhere/at/all.yaml
check a_file_that_cannot_be_written_fails_at_once \
    eval '[ $status = 1 ] && [ ! -s out ] && grep -q "cannot write /nowhere/at/all.yaml: No such" err'

# The calibration that a validation takes: harness/audit/validate_distance.sh chooses it.
distance() {
    printf '%s\n' "{\"top_up\": {}, \"${key:-distances}\": {$1}, \"parts\": {\"near_ns\": 1}}" >run/plan.json
    shift
    rm -f calibrations/*
    for i in 1 2 3; do
        [ "${!i}" = - ] || printf 'clean.near  %s  measured\n%s  measured; said\n' "9 ns" "dirty.near  ${!i}" \
            >calibrations/calibrate-$i.txt
    done
    "$tree/harness/audit/validate_distance.sh" run calibrations >out 2>err
    status=$?
}
mkdir -p run calibrations
said() { [ $status = 0 ] && [ "$(cat out)" = "$1" ] && [ "$(grep -c 'the first calibration' err)" = "$2" ]; }
two='"threshold_ns": 120.5, "near_ns": 76.25, "far_ns": 350'
distance "\"class\": \"near\", $two" '125 ns' '27 ns' '6.5 ns'
check a_near_run_takes_the_near_calibration said 2 0
distance "\"class\": \"far\", $two" '125 ns' '27 ns' '6.5 ns'
check a_far_run_takes_the_far_one said 1 0
key=moods distance "\"class\": \"near\", $two" '125 ns' '27 ns' '6.5 ns'
check a_plan_of_an_earlier_version_is_read said 2 0
distance '"class": "near", "near_ns": 20, "far_ns": {"absent": "one class"}' '125 ns' - '6.5 ns'
check a_calibration_may_be_missing said 3 0
distance '"class": "-", "near_ns": {"absent": "one class"}' '125 ns' '27 ns' '6.5 ns'
check without_distances_it_is_the_first said 1 1
distance "\"class\": \"far\", $two" 'absent: one core' 'absent: one core' -
check without_a_second_core_too said 1 1
rm run/plan.json
"$tree/harness/audit/validate_distance.sh" run calibrations >out 2>err
status=$?
check without_a_run_it_fails [ "$status $(grep -c 'cannot read run/plan.json' err)" = '2 1' ]

# Lists
run list machines
for model in laptop desktop8 server64 server128; do
    check "list_machines_has_$model" grep -q "^$model " out
done
run list machines --format json
json list_machines_json_has_models \
    "{m['name'] for m in j['machines']} >= {'laptop','desktop8','server64','server128'} and all(m['model']['cores'] > 0 and m['title'] for m in j['machines'])"
run list sim:server64,cores=16
check list_of_a_machine_has_its_keys grep -q '^cores  *16  *hardware threads' out
check and_says_what_was_specified grep -q '^cores: as specified' out
check and_where_the_rest_is_from grep -q '^l2.ways to l2.hit: AMD 56665' out
misuse unknown_model_is_refused 'the nearest is "server64"' -- list sim:server46
misuse unknown_key_is_refused 'the nearest is "cores"' -- list sim:server64,core=4
finish
