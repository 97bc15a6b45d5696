#!/bin/bash
# test_expect.sh - a sweep that names what was measured elsewhere, and its report, which says where both agree.
#
#     tests/program/test_expect.sh build/schedlab
#
# Prints TAP.
. "$(dirname "$0")/../tap.sh"

# A peer that always has five threads.
mkdir peers
cat >peers/go <<'PYTHON'
#!/usr/bin/env python3
import json
line = {"runtime": "Fake", "version": "1.0", "iterations": [{"time_ns": 1000, "ops": 4}],
        "answer": "ANSWER", "digest": "DIGEST", "threads": 5, "latency": {"max_ns": 31, "buckets": [[31, 4]]}}
print(json.dumps(line))
PYTHON
chmod +x peers/go
export SCHEDLAB_PEERS=$scratch/peers
"$schedlab" run gmp timers,n=4,ns=1000 --reps 1 --iterations 1 --warmup 0 --workers 1 --format json >out 2>err
for key in answer digest; do
    sed -i "s/${key^^}/$(python3 -c "import json; print(json.load(open('out'))['records'][0]['$key'])")/" peers/go
done

cat >sweep.yaml <<'YAML'
name: expect
title: Three that agree, two that differ, two that are not here
reps: 2
timeout_s: 60
min_time_ms: 0
warmup: 0
groups:
  - id: late
    question: How late?
    figure: latency
    baseline: gmp
    variants: [gmp, uthread, serial, "peer:go"]
    workloads: ["timers,n=4,ns=1000"]
    workers: [1]
    events: [GS_CREATED, PROCESS_THREADS]
    expect:
      - {metric: GS_CREATED, value: 1, within: 1, source: one goroutine a sleep}
      - {metric: p50, value: 10000 s, within: 2.5, source: a time that nobody waits}
      - {variant: "peer:go", metric: p50, value: 31 ns, within: 1, source: "the peer's <own>"}
      - {variant: uthread, metric: PROCESS_THREADS, value: 20, within: 1.5, source: nowhere}
      - {variant: serial, metric: throughput, value: 1 /s, within: 2, source: it is no goroutine}
      - {metric: p99, value: 1 us, within: 2, source: too few for it}
  - id: plain
    question: And without?
    baseline: gmp
    variants: [gmp]
    workloads: ["fib,n=15"]
    workers: [1, 2]
    events: [none]
    expect:
      - {workers: 2, metric: throughput, value: 1e6 /s, within: 1000, source: whatever}
YAML
"$schedlab" sweep sweep.yaml >out 2>err
check a_sweep_that_expects_runs [ $? = 0 ]
folder=$(tail -n 1 out)
"$schedlab" report "$folder" --no-figures --format json >out 2>err
check a_report_is_made [ $? = 0 ]
names="
e = j['expected']
number = lambda i: (e[i]['outcome'], e[i].get('measured'), e[i].get('times'))"
json each_expectation_has_its_line "[(x['group'], x['variant'], x['workers'], x['metric']) for x in e] == [('late', 'gmp', 1, 'GS_CREATED'), ('late', 'gmp', 1, 'p50'), ('late', 'peer:go', 1, 'p50'), ('late', 'uthread', 1, 'PROCESS_THREADS'), ('late', 'serial', 1, 'throughput'), ('late', 'gmp', 1, 'p99'), ('plain', 'gmp', 2, 'throughput')]"
json what_is_equal_agrees "number(0) == ('agrees', 1, 1) and number(2) == ('agrees', 31, 1)"
json what_is_far_off_differs "e[1]['outcome'] == 'differs' and e[1]['expected'] == 1e13 and 0 < e[1]['times'] < 0.4 and e[1]['within'] == 2.5"
json a_count_at_the_end_is_no_number_per_operation "e[3]['outcome'] == 'differs' and 1 <= e[3]['measured'] <= 13"
json what_is_skipped_is_not_measured_and_says_why "number(4) == ('not measured', None, None) and 'no serial version' in e[4]['reason']"
json what_has_no_such_number_is_not_measured "number(5) == ('not measured', None, None) and 'reason' not in e[5]"
json other_runtimes_stand_beside "[p['variant'] for p in e[1]['peers']] == ['peer:go'] and e[1]['peers'][0]['measured'] == 31 and e[1]['peers'][0]['outcome'] == 'differs' and e[2]['peers'] == []"
json the_peer_tells_its_threads "e[3]['peers'][0]['measured'] == 5 and e[3]['peers'][0]['times'] == 0.25"
json the_same_verdict_is_over_the_peer "(lambda o: o['outcome'] == 'differs' and abs(o['times'] * 31 / e[1]['measured'] - 1) < 1e-6)(e[1]['peers'][0]['over'])"
json where_the_number_is_from_is_told "e[6]['source'] == 'whatever' and e[6]['outcome'] == 'agrees'"
section() { sed -n '/<section id="expected"/,/<\/section>/p' "$folder/report.html"; }
check the_page_has_the_table grep -q 'Beside what was measured elsewhere' <(section)
check the_page_has_a_row_each [ "$(section | grep -o '<th scope="row"' | wc -l)" = 7 ]
check the_page_says_what_agrees [ "$(section | grep -o '<strong>agrees<' | wc -l)" = 3 ]
check the_page_says_by_how_much_others_differ grep -q 'differs: .*× less' <(section)
check the_page_says_by_how_much_it_differs_from_the_peer grep -q 'peer:go here: .*× more' <(section)
check the_page_says_what_was_not_measured grep -q 'not measured here: .*no serial version' <(section)
check the_page_escapes_sources grep -q 'the peer.*s &lt;own&gt;' <(section)

# Without a sweep file nothing is expected.
rm "$folder/sweep.yaml"
"$schedlab" report "$folder" --no-figures --format json >out 2>err
check a_run_without_its_sweep_expects_nothing python3 -c "
import json
assert json.load(open('out'))['expected'] == []"
check its_page_has_no_table [ -z "$(section)" ]

# The sweep that all this is for
"$schedlab" sweep "$tree/harness/sweeps/fidelity.yaml" --dry-run >out 2>err
check the_fidelity_sweep_is_valid [ $? = 0 ]

finish
