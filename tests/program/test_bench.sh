#!/bin/bash
# test_bench.sh - schedlab bench on times that are known: ratios, claims, what is left out.
#
#     tests/program/test_bench.sh build/schedlab
#
# Prints TAP. The times are made up here, so that no result depends on the machine.
. "$(dirname "$0")/../tap.sh"
sweeps=$tree/harness/sweeps

run() {
    "$schedlab" bench "$@" >out 2>err </dev/null
    status=$?
}

expect() { # NAME STATUS PART -- ARGUMENT...
    local name=$1 wanted=$2 part=$3 good=0
    shift 4
    run "$@"
    [ $status = "$wanted" ] && [ "$(wc -l <err)" = 1 ] && [ ! -s out ] && grep -qF -- "$part" err && good=1
    report $good "$name"
}

names="j = {key: {x['what']: x for x in rows} for key, rows in j.items()}"

python3 - <<'EOF2'
import json, os
os.mkdir('run')
os.mkdir('off')
with open('run/samples.jsonl', 'w') as run, open('off/samples.jsonl', 'w') as off:
    positions = iter(range(1000))
    def sample(variant, counts, ns, **more):
        record = {'schema': 2, 'cell': variant + str(counts), 'variant': variant, 'workload': 'fib,n=3', 'workers': 2,
                  'seed': 1, 'position': next(positions), 'digest': '1', 'status': 'ok', 'ops': 100, 'time_ns': 100 * ns, 'throughput': 1e9 / ns,
                  'events': [{'name': 'PAPI_L1_DCM', 'source': 'pmu', 'value': 1, 'per_op': 0.01}] if counts else []}
        for file in [run] if counts else [run, off]:
            file.write(json.dumps(record | more) + '\n')
    for i in range(9):
        sample('gmp', True, 1010 + i)
        sample('gmp', False, 1000 + i)
        sample('grq', True, 1200 + i)
        sample('grq', False, 1000 + i)
        sample('perm', True, 1000 + 10 * i)
        sample('perm', False, 1000 + 10 * i)
        sample('static', False, 1000)
        sample('contsteal', True, 800 + i)
        sample('contsteal', False, 1000 + i)
    json.dump({'cells': [{'cell': 'gmpTrue', 'stop': 'width'}, {'cell': 'gmpFalse', 'stop': 'width'},
                         {'cell': 'grqTrue', 'stop': 'width'}, {'cell': 'grqFalse', 'stop': 'limit'}]}, open('run/plan.json', 'w'))
    sample('gmp', True, 9000, status='failed', reason='wrong answer')
    def line(ns):
        return {'probe': {when: {'line_ns': ns, 'compute_ns': 1} for when in ('before', 'after')}}
    # Counting costs 1 % at either distance, but the two were not measured at the same ones.
    for i in range(24):
        far = i % 4 == 0
        sample('kthread', True, (3030 if not far else 1010) + i % 5, **line(60 if far else 360))
        sample('kthread', False, (3000 if far else 1000) + i % 5, **line(360 if far else 60))
        # One was measured near, the other far.
        sample('mn', True, 3000 + i % 5, **line(360))
        sample('mn', False, 1000 + i % 5, **line(60))
        # The disturbed ones are left out.
        sample('kthread,stack=16', True, (1005 if far else 5000) + i % 5, **({} if far else {'marks': ['steal']}))
        sample('kthread,stack=16', False, 1000 + i % 5)
    for ns in 2000, 2001:
        sample('uthread', True, ns)
        sample('uthread', False, ns / 2)

# Known speeds on two workers, near; the fast samples of gmp were measured while the cores were far.
os.mkdir('speed')
with open('speed/samples.jsonl', 'w') as run:
    positions = iter(range(1000))
    def beside(variant, ns, far=0, **more):
        for block in range(18):
            is_far = block < far
            record = {'schema': 2, 'cell': variant, 'block': block, 'position': next(positions), 'groups': ['one'], 'op': 'task',
                      'variant': variant, 'variant_name': variant, 'workload': 'spawn,n=3', 'workload_name': 'spawn',
                      'workers': 2, 'seed': 1, 'digest': '1', 'status': 'ok', 'ops': 100, 'time_ns': 100 * ns,
                      'throughput': 1e9 / (ns / 4 if is_far else ns) * (1 + block / 1000), 'events': [],
                      'probe': {when: {'line_ns': 360 if is_far else 60, 'compute_ns': 1} for when in ('before', 'after')}}
            run.write(json.dumps(record | more) + '\n')
    beside('gmp', 200, far=6)
    beside('grq', 400)
    beside('perm', 400, far=18)
    beside('serial', 50)
    beside('peer:go', 800)
    beside('peer:boost', 300)
    beside('floor:core', 20)
    beside('floor:line', 100)
    beside('floor:futex', 1, status='skipped', reason='floor:futex does not support spawn')
    beside('peer:tbb', 1, status='failed', reason='wrong answer')

entries = []
def times(name, index, *ns, **more):
    for i, x in enumerate(ns):
        entries.append({'name': name, 'run_name': name, 'run_type': 'iteration', 'family_index': index,
                        'per_family_instance_index': 0, 'repetition_index': i, 'real_time': x} | more)
times('switch/gmp/process_time/manual_time', 2, 20, 22, 24)
times('floor/ctx_switch', 0, 2, 2, 2)
times('wake/pay/gmp/iterations:1000/process_time/manual_time', 3, 90, 90, 90)
times('floor/futex_wake/iterations:1000/process_time/manual_time', 1, 30, 30, 30)
times('switch/gmp/process_time/manual_time', 2, 1, run_type='aggregate')
times('yield/gmp/process_time/manual_time', 4, 7, error_occurred=True, error_message='wrong result')
times('lrq/get/process_time/manual_time', 5, 7, 7, 7)
json.dump({'context': {}, 'benchmarks': entries}, open('micro.json', 'w'))
json.dump({'context': {}, 'benchmarks': entries[-3:]}, open('lonely.json', 'w'))
json.dump([], open('other.json', 'w'))
EOF2

cp -r run hurt && sed -n 1p run/samples.jsonl >>hurt/samples.jsonl && printf '{' >>hurt/samples.jsonl
run --counting hurt
[ $status = 0 ] && [ "$(grep -cE 'bench: hurt/samples.jsonl: (its last line is not whole|1 line was there before)' err)" = 2 ] &&
    report 1 damage_of_a_run_is_told || report 0 damage_of_a_run_is_told
run --counting run --format json
json every_cell_with_both_is_compared "sorted(j['counting']) == ['fib,n=3/%s/workers:2' % v for v in ('contsteal', 'gmp', 'grq', 'kthread,stack=16', 'kthread', 'mn', 'perm', 'uthread')]"
json ratios_are_of_medians "abs(j['counting']['fib,n=3/gmp/workers:2']['ratio'] - 1014 / 1004) < 1e-4 and j['counting']['fib,n=3/gmp/workers:2']['n'] == 9"
json intervals_hold_the_ratio "all(x['lo'] <= x['ratio'] <= x['hi'] for x in j['counting'].values() if x['n'] >= 6)"
json two_samples_have_no_interval "[(x['n'], 'lo' in x, 'absent' in x['interval']) for x in [j['counting']['fib,n=3/uthread/workers:2']]] == [(2, False, True)]"
json claims_follow_the_interval "[j['counting']['fib,n=3/%s/workers:2' % v]['claim'] for v in ('contsteal', 'gmp', 'grq', 'perm', 'uthread')] == ['open', 'holds', 'broken', 'open', 'open']"
json the_reason_of_the_end_is_that_of_both "[j['counting']['fib,n=3/%s/workers:2' % v]['stop'] for v in ('gmp', 'grq', 'perm')] == ['width', 'limit', '']"
json like_is_compared_with_like "[(x['claim'], x['class'], x['n']) for x in (j['counting']['fib,n=3/%s/workers:2' % v] for v in ('kthread', 'kthread,stack=16', 'mn'))] == [('holds', 'near', 6), ('holds', 'quiet', 6), ('open', 'mixed', 24)]"
run --micro micro.json --format json
json operations_stand_over_their_floors "{k: (x['over'], x['ratio'], x['n']) for k, x in j['operations'].items()} == {'switch/gmp': ('floor/ctx_switch', 11, 3), 'wake/pay/gmp': ('floor/futex_wake', 3, 3)}"
run --counting run --micro micro.json
[ $status = 0 ] && [ "$(grep -cE '^(fib|switch|wake)' out)" = 10 ] && report 1 table_has_both_kinds || report 0 table_has_both_kinds
awk 'length($0) > 100 { exit 1 }' out && report 1 table_fits_100_columns || report 0 table_fits_100_columns
! grep -qE '\bns\b' out && report 1 table_has_no_absolute_time || report 0 table_has_no_absolute_time

speed() { # NAME EXPRESSION: over the only line of --speed, as `line`, and its rows by variant, as `row`
    names="
(line,) = j['speed']
row = {x['variant']: x for x in line['ratios']}
near = lambda a, b: abs(a / b - 1) < 0.02" json "$@"
}
run --speed speed --format json
speed the_best_peer_and_the_floor_are_the_fastest "(line['workload'], line['workers'], line['best'], line['floor']) == ('spawn,n=3', 2, 'peer:boost', 'floor:core')"
speed speed_is_a_multiple_of_the_best_peers "near(row['gmp']['ratio'], 300 / 200) and near(row['grq']['ratio'], 300 / 400) and near(row['peer:go']['ratio'], 300 / 800) and 'ratio' not in row['peer:boost']"
speed time_is_a_multiple_of_the_floors "near(row['gmp']['over_floor']['ratio'], 10) and near(row['peer:boost']['over_floor']['ratio'], 15) and near(row['floor:line']['over_floor']['ratio'], 5) and near(row['serial']['over_floor']['ratio'], 2.5) and 'over_floor' not in row['floor:core']"
speed speed_has_intervals "all(x['lo'] <= x['ratio'] <= x['hi'] for r in row.values() for x in (r, r.get('over_floor', r)) if 'ratio' in x)"
speed speed_is_compared_in_one_distance "row['gmp']['class'] == row['gmp']['over_floor']['class'] == 'near' and row['gmp']['n'] == 12 and row['grq']['n'] == 18"
speed what_has_no_number_says_why "[(w['variant'], w['status']) for w in line['without']] == [('peer:tbb', 'failed'), ('floor:futex', 'skipped')]"
run --speed speed
grep -qx 'spawn,n=3, 2 workers: best peer peer:boost, floor floor:core' out && grep -qE '^  gmp +1\.5 .* 10 .* 12  near$' out &&
    grep -q '^failed peer:tbb: .*wrong answer' out &&
    grep -qE '^  perm +other distances +other distances *$' out && report 1 table_has_speed || report 0 table_has_speed
awk 'length($0) > 100 { exit 1 }' out && report 1 table_of_speed_fits_100_columns || report 0 table_of_speed_fits_100_columns

# The input that `make bench` gives it.
"$schedlab" sweep "$sweeps/peers.yaml" --dry-run >out 2>err
report $(($? == 0)) the_sweep_of_speed_is_valid
"$schedlab" sweep "$sweeps/bench-counters.yaml" --dry-run >out 2>err
[ "$(grep -c 'counting-on$' out)" = "$(grep -c 'counting-off$' out)" ] && grep -q pingpong out && grep -q fib out &&
    report 1 the_sweep_has_each_cell_twice || report 0 the_sweep_has_each_cell_twice
"$schedlab" sweep "$sweeps/bench-fence.yaml" --dry-run >out 2>err
[ "$(grep -cE 'gmp,fence=(submitter|sleeper) .* fence$' out)" = 12 ] && [ "$(grep -cE ' gmp  +.* fence$' out)" = 6 ] &&
    report 1 the_sweep_has_each_fence_beside_the_default || report 0 the_sweep_has_each_fence_beside_the_default
"$schedlab" micro gmp --benchmark_min_time=0.0001 --benchmark_repetitions=2 --format json >micro2.json 2>err
run --micro micro2.json --format json
json every_operation_has_a_measured_floor "len(j['operations']) > 25 and {x['over'] for x in j['operations'].values()} >= {'floor/cas', 'floor/xchg', 'floor/ctx_switch', 'floor/futex_wake', 'floor/futex_wake_run'}"

run --simulator 1 --format json 2>/dev/null
json a_simulation_is_compared_with_this_machine_and_with_one_core "len(j['simulator']) > 5 and {x['over'] for x in j['simulator'].values()} >= {'this machine, per operation', '1 simulated core, per access'} and all(x['ratio'] > 0 and x['n'] == 1 for x in j['simulator'].values())"

expect nothing_to_compare 1 "both with events and without" -- --counting off
mkdir lone; grep '"gmp"' speed/samples.jsonl >lone/samples.jsonl
expect no_peer_and_no_floor 1 "another runtime or a floor" -- --speed lone
mkdir none; expect no_run_of_speed 2 "--speed=none is not a run" -- --speed none
expect no_floor 1 "beside its floor" -- --micro lonely.json
expect not_of_micro 1 "not the JSON of" -- --micro other.json
expect neither 2 "must be given" --
expect no_such_file 2 "none.json: No such file or directory; valid: " -- --micro none.json
expect no_number_of_samples 2 "--simulator=0 is not valid; valid: 1 to 1000" -- --simulator 0
expect an_argument 2 "is no option" -- run
expect unknown_option 2 'the nearest is "--micro"' -- --mirco x

finish
