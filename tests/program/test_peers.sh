#!/bin/bash
# test_peers.sh - other runtimes in the place of a variant: a program that speaks the protocol rightly, and in
# every wrong way; then the real ones, as far as they are built.
#
#     tests/program/test_peers.sh build/schedlab
#
# Prints TAP. Real peers that `make peers` has not built are skipped, and said so.
. "$(dirname "$0")/../tap.sh"

# sample ARGUMENT...: one sample of what is named; leaves out, err, status.
sample() {
    "$schedlab" run "$@" --reps 1 --iterations 2 --min-time 1ms --warmup 1 --seed 7 --format json >out 2>err </dev/null
    status=$?
}

# record NAME EXPRESSION: json, with the only record as `r`.
record() { names='(r,) = j["records"]' json "$@"; }

# A peer for spawn, whose manners are in the environment variable FAKE. It leaves its arguments, its
# cores and its process number.
mkdir peers
cat >peers/go <<'PYTHON'
#!/usr/bin/env python3
import json, os, signal, sys

MASK = 2**64 - 1
def mix(x):
    x = (x + 0x9E3779B97F4A7C15) & MASK
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & MASK
    return x ^ (x >> 31)

json.dump({"argv": sys.argv[1:], "cores": len(os.sched_getaffinity(0)), "pid": os.getpid()},
          open("seen", "w"))
fake = os.environ.get("FAKE", "right")
n = int(dict(word.split("=") for word in sys.argv[2:])["n"])
line = {"runtime": "Fake", "version": "1.0",
        "iterations": [{"time_ns": 1000, "ops": n}, {"time_ns": 3000, "ops": n}],
        "answer": "%016x" % (n * (n + 1) // 2),
        "digest": "%016x" % (sum(mix(i + 1) for i in range(n)) & MASK)}
print("a word on standard error", file=sys.stderr)
if fake == "wrong_answer": line["answer"] = "%016x" % 1
if fake == "wrong_digest": line["digest"] = "%016x" % 1
if fake == "wrong_ops": line["iterations"] = [{"time_ns": 1, "ops": n - 1}] * 2
if fake == "other_ops": line["iterations"][1]["ops"] += 1
if fake == "no_time": line["iterations"][1]["time_ns"] = 0
if fake == "few": line["iterations"].pop()
if fake == "folded": line["iterations"][1] |= {"ops": 7 * n, "calls": 7}
if fake == "other_ops_in_many_calls": line["iterations"][1]["calls"] = 2
if fake == "many": line["iterations"] = [{"time_ns": 1, "ops": n}] * 1001
if fake == "no_digest": del line["digest"]
if fake == "no_version": del line["version"]
if fake == "threads": line["threads"] = 5
if fake == "latency": line["latency"] = {"max_ns": 9, "buckets": [[3, 1]]}
if fake == "error": line = {"error": "out of \"luck\""}
if fake == "unsupported": line = {"unsupported": "mode=batch: only one"}
if fake == "array": line = [line]
if fake == "crash": os.kill(os.getpid(), signal.SIGSEGV)
if fake == "hang": os.execvp("tail", ["tail", "-f", "/dev/null"])
if fake == "garbage": print("ready."); sys.exit(0)
if fake == "nothing": sys.exit(0)
print(json.dumps(line))
if fake == "late": sys.exit(3)
if fake == "twice": print(json.dumps(line))
PYTHON
chmod +x peers/go
export SCHEDLAB_PEERS=$scratch/peers

# A peer that does it right ---------------------------------------------------------------------

sample peer:go spawn,n=5 --workers 1
check a_right_peer_is_done [ $status = 0 ]
record a_right_peer_is_ok "r['status'] == 'ok' and 'reason' not in r"
record its_numbers_are_the_records "r['time_ns'] == 4000 and r['ops'] == 10 and r['throughput'] == 2.5e6 and r['iterations'] == [{'time_ns': 1000, 'ops': 5}, {'time_ns': 3000, 'ops': 5}]"
record its_lack_of_time_is_told "r['short_ns'] == 1000000 - 4000"
record its_runtime_is_named "r['runtime'] == {'name': 'Fake', 'version': '1.0'}"
record it_is_a_variant_without_knobs "r['variant'] == r['variant_name'] == 'peer:go' and r['knobs'] == {}"
record its_command_repeats_it "r['command'].startswith('build/schedlab run peer:go spawn,n=5 ')"
record its_events_are_absent_with_a_reason "len(r['events']) > 20 and all('value' not in e and 'another program' in e['absent'] for e in r['events'])"
record what_it_has_not_is_not_there "not {'stack_bytes', 'threads', 'latency'} & set(r)"
json it_gets_every_parameter_and_the_settings "j['argv'] == ['spawn', '--workers=1', '--seed=7', '--warmup=1', '--iterations=2', '--iterations-max=1000', '--min-time-ns=1000000', 'n=5', 'mode=batch', 'creators=1']" seen
json it_is_bound_to_as_many_cores_as_workers "j['cores'] == 1" seen

# And every other -------------------------------------------------------------------------------

# wrong FAKE PART: the sample is failed, and its reason names the peer and the fault.
wrong() {
    FAKE=$1 sample peer:go spawn,n=5 --workers 1
    check "$1_ends_with_1" [ $status = 1 ]
    record "$1_is_failed_and_says_why" "r['status'] == 'failed' and r['reason'].startswith('peer:go: ') and '''$2''' in r['reason']"
}
wrong wrong_answer 'wrong answer: expected the sum 15 of 5 goroutines, found 1 of 5'
wrong wrong_digest 'digest disagrees: it is 0000000000000001, but a run of the workload here has '
wrong wrong_ops 'wrong answer: expected the sum 15 of 5 goroutines, found 15 of 4'
wrong other_ops 'its iterations did different numbers of operations a call'
wrong no_time 'its iteration 2 has no time_ns, ops and calls above 0'
wrong few 'its line tells of 1 calls, 2 at least were asked for'
wrong other_ops_in_many_calls 'its iterations did different numbers of operations a call'
wrong many 'its line has 1001 iterations, 1000 at most were asked for'
wrong no_digest 'its line has no digest of 16 hex digits'
wrong no_version 'its line does not name runtime and version'
wrong error 'out of "luck"'
wrong array 'its output is not one JSON object: it is another value'
wrong crash 'killed by SIGSEGV: a word on standard error'
wrong garbage 'its output is not one JSON object: '
wrong nothing 'its output is not one JSON object: '
wrong late 'exit status 3: a word on standard error'
record what_it_wrote_is_kept "'a word on standard error' in r['output']"
wrong twice 'its output is not one JSON object: '

FAKE=folded sample peer:go spawn,n=5
record many_calls_may_be_one_iteration "r['status'] == 'ok' and r['ops'] == 40 and r['time_ns'] == 4000"

FAKE=threads sample peer:go spawn,n=5 --events PROCESS_THREADS,STEALS
record what_it_tells_of_threads_is_an_event "[(e['name'].split('::')[-1], e.get('value'), 'absent' in e) for e in r['events']] == [('PROCESS_THREADS', 5, False), ('STEALS', None, True)]"
wrong latency 'its line has latencies, and the workload has none'

# Latencies, of a peer for timers with one sleep.
cat >peers/tbb <<'PYTHON'
#!/usr/bin/env python3
import json, os
fake = os.environ.get("FAKE", "right")
latency = {"max_ns": 1000, "buckets": [[31, 3], [100, 6], [191, 1]]}
if fake == "far_bucket": latency["buckets"][2] = [100000, 1]
if fake == "no_count": latency["buckets"][2] = [191]
if fake == "empty": latency["buckets"] = []
line = {"runtime": "Fake", "version": "1.0", "iterations": [{"time_ns": 1000, "ops": 1}] * 2,
        "answer": "%016x" % 1, "digest": "DIGEST"}
if fake != "none": line["latency"] = latency
print(json.dumps(line))
PYTHON
chmod +x peers/tbb
"$schedlab" run uthread timers,n=1,ns=1000 --reps 1 --iterations 1 --warmup 0 --workers 1 --format json >out 2>err
sed -i "s/DIGEST/$(python3 -c "import json; print(json.load(open('out'))['records'][0]['digest'])")/" peers/tbb
sample peer:tbb timers,n=1,ns=1000
record its_latencies_are_the_records "r['latency'] == {'count': 10, 'p50_ns': 147, 'p90_ns': 147, 'p99_ns': 1000, 'p999_ns': 1000, 'max_ns': 1000, 'buckets': [[31, 3], [147, 6], [1023, 1]]}"
FAKE=none sample peer:tbb timers,n=1,ns=1000
record a_peer_need_not_have_latencies "r['status'] == 'ok' and 'latency' not in r"
wrong_latency() {
    FAKE=$1 sample peer:tbb timers,n=1,ns=1000
    record "$1_is_failed_and_says_why" "r['status'] == 'failed' and '''$2''' in r['reason']"
}
wrong_latency far_bucket 'bucket 3 of its latencies is not an index below '
wrong_latency no_count 'bucket 3 of its latencies is not an index below '
wrong_latency empty 'its latencies have no max_ns of 0 or more, or no buckets'
rm peers/tbb

# An order, which is the peer's own: 2 0-1, and then what is none.
cat >peers/tbb <<'PYTHON'
#!/usr/bin/env python3
import json, os
M = 2**64 - 1
def mix(x):
    x = (x + 0x9E3779B97F4A7C15) & M
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & M
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & M
    return x ^ (x >> 31)
fake = os.environ.get("FAKE")
ids = {"twice": [2, 2, 1], "few": [2, 0]}.get(fake, [2, 0, 1])
answer = 0
for i in ids: answer = mix(answer ^ i)
line = {"runtime": "Fake", "version": "1.0", "iterations": [{"time_ns": 1, "ops": len(ids)}] * 2,
        "answer": "%016x" % answer, "digest": "%016x" % (sum(mix(i + 1) for i in ids) & M),
        "order": {"twice": "2 2 1", "few": "2 0", "other": "0-2", "words": "2 0-x", "far": "0-3", "back": "2-0 1"}.get(fake, "2 0-1")}
if fake == "none": del line["order"]
print(json.dumps(line))
PYTHON
chmod +x peers/tbb
sample peer:tbb order,n=3
record a_peer_tells_its_order "r['status'] == 'ok' and r['order'] == '2 0-1'"
for fake in "twice not.each.of.3.goroutines" "few not.each.of.3.goroutines" "other are.not.those.of.its.order" "words is.no.order.of.3" \
    "far is.no.order" "back is.no.order" "none has.no.order"; do
    set -- $fake
    FAKE=$1 sample peer:tbb order,n=3
    record "an_order_like_$1_is_failed" "r['status'] == 'failed' and '${2//./ }' in r['reason']"
done
sed -i 's/"order": {.*/"order": "0-4"}/; s/^ids = .*/ids = [0, 1, 2, 3, 4]/' peers/tbb
sample peer:tbb spawn,n=5
record an_order_nobody_asked_for_is_failed "r['status'] == 'failed' and 'the workload asks for none' in r['reason']"
rm peers/tbb

FAKE=hang sample peer:go spawn,n=5 --workers 2 --timeout 1
record a_hanging_peer_is_failed "r['status'] == 'failed' and r['reason'] == 'no answer within 1 s'"
pid=$(python3 -c "import json; print(json.load(open('seen'))['pid'])")
check a_hanging_peer_is_gone timeout 60 tail --pid="$pid" -f /dev/null

FAKE=unsupported sample peer:go spawn,n=5
record what_a_peer_does_not_support_is_skipped "r['status'] == 'skipped' and r['reason'] == 'peer:go does not support mode=batch: only one'"
sample peer:go spawn,n=5 --workers 2 --pin
record pinning_is_skipped "r['status'] == 'skipped' and '--pin' in r['reason']"
sample peer:go spawn,n=5 --stack 64Ki
record stack_sizes_are_skipped "r['status'] == 'skipped' and '--stack' in r['reason']"

sample peer:tbb peer:omp peer:gomp peer:boost peer:pthreads fib,n=5
for peer in "tbb libtbb-dev" "omp libomp-dev" "gomp gcc" "boost libboost-fiber-dev" "pthreads gcc"; do
    set -- $peer
    names="r, = [r for r in j['records'] if r['variant'] == 'peer:$1']" json "$1_is_skipped_where_it_is_not_built" \
        "r['status'] == 'skipped' and 'make peers' in r['reason'] and ' $2' in r['reason']"
done
chmod -x peers/go
sample peer:go fib,n=5
record go_is_skipped_where_it_is_not_built "r['status'] == 'skipped' and 'make peers' in r['reason'] and 'golang-go' in r['reason']"
"$schedlab" list variants >out 2>err
check list_says_what_is_not_built grep -qz 'peer:go  .*not.built.here.*make.peers' out
"$schedlab" list variants --format json >out 2>err
names="absent = {v['name']: 'absent' in v for v in j['variants']}" json list_says_so_to_programs "absent['peer:go'] and not absent['gmp']"
chmod +x peers/go

# Names -----------------------------------------------------------------------------------------

# misuse NAME PART ARGUMENT...
misuse() {
    local name=$1 part=$2
    shift 2
    "$schedlab" run "$@" >out 2>err </dev/null
    status=$?
    check "$name" refused "$part"
}
misuse an_unknown_peer_gets_the_nearest 'the nearest is "peer:go"' peer:goo spawn
misuse a_peer_has_no_knobs 'peer:go: unknown knob "tick"' peer:go,tick=3 spawn

"$schedlab" run fib,n=3 --reps 1 --iterations 1 --warmup 0 --workers 1 --format json >out 2>err
names="variants = [r['variant'] for r in j['records']]" json naming_no_variant_means_no_peer \
    "'gmp' in variants and 'serial' in variants and not any(v.startswith('peer:') for v in variants)"

# In a sweep and its report ---------------------------------------------------------------------

cat >sweep.yaml <<'YAML'
name: peers
title: A right peer, a wrong one, and one that is not there
reps: 6
events: [none]
steal_max: 100
timeout_s: 60
min_time_ms: 0
warmup: 0
groups:
  - id: three
    question: Which is the fastest?
    figure: throughput
    baseline: peer:go
    variants: [gmp, peer:go, peer:boost, peer:pthreads]
    workloads: ["spawn,n=5"]
    workers: [1]
  - id: alone
    question: And without peers?
    figure: throughput
    baseline: gmp
    variants: [gmp, grq]
    workloads: ["spawn,n=5"]
    workers: [1]
YAML
{ echo '#!/bin/sh'; echo "FAKE=wrong_answer exec '$scratch/peers/go' \"\$@\""; } >peers/boost
chmod +x peers/boost
"$schedlab" sweep sweep.yaml --no-report >out 2>err
check a_sweep_goes_on_past_a_failed_cell [ $? = 0 ]
folder=$(tail -n 1 out)
"$schedlab" report "$folder" --no-figures --format json >out 2>err
check a_report_is_made [ $? = 0 ]
check each_cell_has_its_status python3 -c "
import json
cells = {c['variant']: c for c in json.load(open('out'))['groups'][0]['cells']}
assert [cells[v]['status'] for v in ('gmp', 'peer:go', 'peer:boost', 'peer:pthreads')] == ['ok', 'ok', 'failed', 'skipped'], cells
assert 'wrong answer' in cells['peer:boost']['reason']"
check the_best_peer_has_ratios_to_it python3 -c "
import json
(line,) = json.load(open('out'))['peers']
assert (line['group'], line['workload'], line['workers'], line['best']) == ('three', 'spawn,n=5', 1, 'peer:go'), line
ratio, best = line['ratios']
cells = {c['variant']: c for c in json.load(open('out'))['groups'][0]['cells']}
assert ratio['variant'] == 'gmp'
assert abs(ratio['ratio'] / (cells['gmp']['median'] / cells['peer:go']['median']) - 1) < 1e-6, ratio
assert ratio['lo'] <= ratio['ratio'] <= ratio['hi']
assert best == {'variant': 'peer:go'} and 'floor' not in line
assert [(w['variant'], w['status']) for w in line['without']] == [('peer:boost', 'failed'), ('peer:pthreads', 'skipped')], line"
section() { sed -n '/<section id="peers"/,/<\/section>/p' "$folder/report.html"; }
check the_page_has_the_table grep -q 'Group three: multiple of the best peer' <(section)
check only_groups_with_peers_are_in_it [ "$(section | grep -c '<table')" = 1 ]
check the_page_names_the_best_peer grep -q 'peer:go' <(section)
check the_page_says_what_failed grep -q 'failed' <(section)

sed -i '/- id: three/,/workers: \[1\]/d' sweep.yaml
"$schedlab" sweep sweep.yaml --quick --no-report >out 2>err
folder=$(tail -n 1 out)
"$schedlab" report "$folder" --no-figures >out 2>err
check a_page_without_peers_has_no_table [ -s "$folder/report.html" -a -z "$(section)" ]

# The real ones ---------------------------------------------------------------------------------

unset SCHEDLAB_PEERS
forkjoin="fib,n=10 fib,n=8,spawn=both nqueens,n=6 nqueens,n=6,cutoff=2 skynet,leaves=100 skynet,leaves=400,children=20"
data="uts,tree=tiny uts,tree=tiny_binomial mergesort,n=10000,cutoff=256 mergesort,n=10000,merge=serial matmul,n=70,cutoff=16"
goroutines="mpmc,messages=1001 mpmc,messages=500,buffer=0,work=2 spawn,n=100 spawn,n=100,mode=one,creators=3 yield,n=1000,yielders=7 pingpong,rounds=100,pairs=2
    pingpong,rounds=100,capacity=4 ring,n=7,hops=100 prodcons,messages=1000 prodcons,messages=500,buffer=0,work=3
    sieve,primes=20 mutex,n=1003 mutex,n=500,work=2,think=3"
waits="fib,n=9,spawn=channels slice,chunks=200 hog,chunks=200,n=5 hog,chunks=200,n=5,calls=chan calls,n=4,callers=3,measure=handoff,sleep_ns=1000
    calls,n=4,measure=handoff,before=busy,before_ns=1000,beside=2,rounds=100,beside_max=50,yields=on calls,n=4,measure=ring,before=idle
    calls,n=20,callers=3,measure=handoff,sleep_ns=1000,long_ns=100000,long_every=4
    calls,n=4,measure=handoff,during=work chain,n=100,victims=3 pipes,n=20,settle_ns=0 pipes,n=20,mode=block,settle_ns=0
    pipes,n=20,mode=shared,settle_ns=0 echo,connections=3,messages=5,size=20 timers,n=50,ns=1000,spread_ns=9
    timers,n=300,mode=func,ns=100000,spread_ns=100000,stop=30,reset=30"
threads="spawn,n=20 spawn,n=20,mode=one,creators=3 pingpong,rounds=20,pairs=2 pingpong,rounds=20,capacity=4
    prodcons,messages=1000 prodcons,messages=100,buffer=0,work=3 mutex,n=1000 mutex,n=500,work=2,think=3 fib,n=7 fib,n=5,spawn=both"

# The peers of which $built is set are there. real "VARIANT..." WORKLOAD...: each workload is ok on each of these, at
# 1 and at 2 workers, or at those that $at_workers lists. One run has them all, and they take turns.
for name in $(cd "$tree/build/peers" 2>/dev/null && ls); do
    [ ! -x "$tree/build/peers/$name" ] || built+=" $name "
done
real() {
    local name workload workers variants=
    for name in $1; do
        if [[ ${built:-} == *" ${name#*:} "* ]]; then
            variants="$variants $name"
        elif [[ ${told:-} != *" $name "* ]]; then
            told+=" $name "
            count=$((count + 1))
            echo "ok $count - real_${name#*:} # SKIP build/peers/${name#*:} is not built; make peers builds it"
        fi
    done
    [ -n "$variants" ] || return
    for workload in "${@:2}"; do
        for workers in ${at_workers:-1 2}; do
            sample $variants "$workload" --workers $workers --events none
            for name in $variants; do
                names="(r,) = [r for r in j['records'] if r['variant'] == '$name']" json "real_${name#*:}_${workload}_${workers}" \
                    "r['status'] == 'ok' and len(r['iterations']) >= 2"
            done
        done
    done
}
# Each peer runs what it supports; the peers of one call run beside each other.
real "peer:go peer:boost floor:core" $forkjoin $(printf '%s\n' $goroutines | grep -v mpmc)
real "peer:go peer:boost" $(printf '%s\n' $goroutines | grep mpmc)
real "floor:core" yield,n=10,yielders=1
real "peer:go" $waits pingpong,rounds=100,locked=one pingpong,rounds=100,locked=both
if [ -x "$tree/build/peers/go" ]; then
    sample peer:go calls,n=7,measure=handoff --events PROCESS_THREADS
    record real_go_tells_of_all_latencies_of_timed_calls "r['latency']['count'] == sum(i.get('calls', 1) * 7 for i in r['iterations']) and 0 < r['latency']['p50_ns'] <= r['latency']['max_ns']"
    record real_go_tells_of_its_threads "r['events'][0]['value'] >= 2"
    sample peer:go calls,n=7
    record real_go_says_what_it_cannot_measure "r['status'] == 'skipped' and 'measure=return' in r['reason']"
fi
# Orders that are those of Go 1.26 too; a search and a theft take a second worker.
orders='order,n=258,yields=45:1:257_128-142_0_143-202_1_203-255_2-127_256 order,n=20:1:19_0-18 order,n=5,mode=yield:1:4_0-3_y
    order,n=6,mode=close:1:0_5_4_3_2_1 order,n=6,mode=waitgroup:1:5_0-4 order,n=6,mode=pipes:1:5_4_3_2_1_0'
if [ -x "$tree/build/peers/go" ]; then
    at_workers=2 real "peer:go" order,n=9,mode=steal order,n=4,mode=search
    for order in $orders; do
        IFS=: read -r workload workers text <<<"$order"
        sample peer:go "$workload" --workers "$workers" --warmup 0 --min-time 0
        record "real_go_$workload" "r['status'] == 'ok' and r['order'] == '${text//_/ }'"
    done
    sample peer:go order,mode=sleep --workers 1
    record real_go_has_no_order_of_sleeps "r['status'] == 'skipped' and 'mode=sleep' in r['reason']"
fi
real "peer:tbb peer:gomp peer:omp" $forkjoin $data
real "peer:pthreads" $threads
at_workers=2 real "floor:line" pingpong,rounds=100,pairs=2 prodcons,messages=500,buffer=0,work=3 mutex,n=1003 mutex,n=500,work=2,think=3
real "floor:futex" pingpong,rounds=20,pairs=2 pingpong,rounds=20,capacity=4
real "floor:epoll" echo,connections=3,messages=5,size=20 echo,connections=2,messages=3,size=16384

finish
