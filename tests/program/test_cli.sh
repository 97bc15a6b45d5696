#!/bin/bash
# test_cli.sh - schedlab from the outside: help, runs, and each kind of misuse.
#
#     tests/program/test_cli.sh build/schedlab
#
# Prints TAP. A misuse must be one line on standard error that names what is valid, nothing on standard output, exit status 2.
. "$(dirname "$0")/../tap.sh"
texts=$tree/docs

# run ARGUMENT...: leaves out, err, status.
run() {
    "$schedlab" "$@" >out 2>err </dev/null
    status=$?
}

# expect NAME STATUS PART -- ARGUMENT...: PART is somewhere in the output.
expect() {
    local name=$1 wanted=$2 part=$3 good=0
    shift 4
    run "$@"
    [ $status = "$wanted" ] && { contains out "$part" || contains err "$part"; } && good=1
    report $good "$name"
}

# says NAME STATUS PART -- ARGUMENT...: PART is in the output, be it over several lines.
says() {
    local name=$1 wanted=$2 part=$3 good=0
    shift 4
    run "$@"
    tr -s ' \n' ' ' <out >flat
    [ $status = "$wanted" ] && contains flat "$part" && good=1
    report $good "$name"
}

quick="--reps 1 --iterations 1 --warmup 0 --workers 2"

# Help and version
expect help 0 "Usage: schedlab" -- --help
check help_lists_commands_for_people_alone [ "$(grep -cE '^  (run|sample) ' out)" = 1 ]
version=$(sed -n 's/^VERSION := //p' "$tree/Makefile")
expect version 0 "schedlab $version (" -- --version
for command in list run sample sweep report doctor calibrate merge compare diff audit micro export bench; do
    expect "$command has help with an example" 0 "Example:" -- $command --help
    sed -n '/^Example:$/,/^$/p' out | sed '1d;$d' | sed ':again; /\\$/ { N; s/\\\n */ /; b again }' >examples
    [ -s examples ] && ! grep -vE "^  schedlab $command( |\$)" examples >err && report 1 "$command has examples to copy" ||
        report 0 "$command has examples to copy"
    tr -s ' \n' ' ' <out >flat
    grep -qE 'Exit status: 0 done.*; 1 .*; 2 misused[.,:]' flat && report 1 "$command tells its exit status" ||
        report 0 "$command tells its exit status"
done
run run gmp fib,n=8 --reps 1 --iterations 1 --warmup 0 --workers 1,2 --events none
check run_takes_several_numbers_of_workers [ "$(grep -oE '^fib,n=8, [12] worker' out | tr '\n' ' ')" = \
    'fib,n=8, 1 worker fib,n=8, 2 worker ' ]
misuse run_names_a_wrong_number_of_workers '--workers=x is not valid' -- run gmp fib,n=8 --workers 1,x
misuse run_as_json_takes_one_number_of_workers 'take one --workers' -- run gmp fib,n=8 --workers 1,2 --format json
run run gmp fib,n=8 --iterations 1 --warmup 0 --workers 1 --events none --format json
json run_makes_seven_samples_undisturbed_ones_if_it_can \
    "sum(not r.get('marks') for r in j['records']) == 7 or len(j['records']) == 14"
make -C "$tree" help >help.txt
check make_help_says_so_too grep -q 'make run  *Seven samples of each variant' help.txt

# Without memory: one line and a status, no signal. At the least sizes it is the loader that says so.
within() { # KIB ARGUMENT...
    (ulimit -c 0 -v "$1" && shift && exec "$schedlab" "$@") >out 2>err </dev/null
    status=$?
}
good=1
for kib in $(seq 14000 1000 24000); do
    within $kib --version
    [ $status = 0 ] || [ $status -lt 128 -a "$(wc -l <err)" = 1 ] || good=0 && [ $good = 1 ] || break
done
report $good no_memory_at_the_start_is_one_line
good=1
for kib in 60000 78125 90000; do
    within $kib run kthread crowd,n=4000 --reps 1 --warmup 0 --iterations 1 --workers 2 --events none
    [ $status -lt 128 ] && ! contains err "killed by SIG" || good=0 && [ $good = 1 ] || break
done
report $good no_memory_in_a_run_is_its_reason

# Each mistake of a file is a line, also where a wrong file is a misuse.
printf '%s\n' 'id: T1' 'title: t' 'claim: c' 'source: s' 'why: w' 'refuted: r' 'seed: x' 'parts:' \
    '  - {id: a, factor: variant, levels: [gmp, gmq], workload: fub, metric: throughput, expect: [' \
    '      {says: s, level: gmp, at_least: 1}]}' >wrong.yaml
run repro wrong.yaml
report $((status == 2 && $(grep -cE '(^|: )wrong.yaml:(7: seed|9: .*gmq|9: .*fub)' err) == 3)) mistakes_of_an_experiment_are_lines

# Runs
expect run_shows_a_row_per_variant 0 "fib,n=10, 2 workers" -- run gmp,tick=64 grq fib,n=10 $quick
check run_has_a_number_for_each [ "$(grep -cE '^(gmp,tick=64|grq) +[0-9.]+ [kMG] +too few +1' out)" = 2 ]
grep -cE '^[A-Z_]+( \([a-z]+\))?( +[0-9.e+-]+){2}$' out >rows
check run_shows_three_events [ "$(cat rows)" = 3 ]
check run_says_how_many_it_leaves_out grep -qxE 'and [0-9]+ more with --all-events' out
run run gmp,tick=64 grq fib,n=10 $quick --all-events
grep -cE '^[A-Z_]+( \([a-z ]+\))?( +[0-9.e+-]+){2}$' out >rows
check all_events_shows_more [ "$(cat rows)" -gt 10 ]
run run gmp grq fib,n=5 --reps 5 --iterations 1 --warmup 0 --workers 1,2 --events none
check too_few_repetitions_are_told_before_and_once \
    [ "$(grep -c 'warning: 5 repetitions are too few to show a difference: it takes 6$' err)" = 1 ]
check and_in_each_answer [ "$(grep -c '^too few: it takes 6 repetitions to show a difference; best so far' out)" = 2 ]
check no_warning_comes_twice [ -z "$(grep warning: err | sort | uniq -d)" ]
run run gmp grq fib,n=5 --reps 6 --iterations 1 --warmup 0 --workers 1 --events none
check six_are_enough [ "$(grep -c 'too few' out err)" = "$(printf 'out:0\nerr:0')" ]
check run_ends_with_an_answer grep -qE '^(best: (gmp|grq), [0-9.]+× |~ no difference shown between |open: samples of )(gmp|grq)' out
run run gmp order --workers 1 --format json
json what_prints_its_result_is_called_once \
    "len(j['records']) == 7 and all(len(r['iterations']) == 1 and r['warmup'] == 0 for r in j['records'])"
run run gmp order --workers 1
check its_answer_is_what_it_printed [ "$(tail -n 2 out)" = "$(printf 'gmp, the same in 7 of 7 repetitions:\nran: 9 0-8')" ]
run run gmp order --workers 1 --iterations 2 --reps 1
check unless_it_is_to_be_timed grep -q 'operations of one goroutine' out
run run serial fib,n=1 --workers 1 --reps 1 --events none --format json
json very_short_calls_end_early "(lambda r: r['short_ns'] > 0 and sum(i.get('calls', 1) for i in r['iterations']) >= 1000)(j['records'][0])"
cores=$(python3 -c 'import os; print(len(os.sched_getaffinity(0)))')
expect run_warns_of_more_workers_than_cores 0 "warning: $((cores + 1)) workers on $cores core" -- \
    run gmp grq fib,n=8 --reps 2 -i 1 --events none --workers $((cores + 1))
check it_warns_once [ "$(grep -c 'workers on' err)" = 1 ]
expect run_warns_of_pinned_ones_too 0 "several pinned to one core" -- \
    run gmp fib,n=8 --reps 1 -i 1 --events none --workers $((cores + 1)) --pin
run run gmp fib,n=8 --reps 1 -i 1 --events none --workers "$cores"
check run_does_not_warn_of_as_many_workers_as_cores [ "$(grep -c 'workers on' err)" = 0 ]
expect help_of_a_command 0 'Usage: schedlab run' -- help run
misuse help_of_nothing 'unknown command "bogus"' -- help bogus
expect run_without_variants_takes_all 0 "contsteal" -- run fib,n=8 --reps 1 --iterations 1 --warmup 0 --workers 1 --events none
expect run_prints_what_order_prints 0 "order" -- run gmp order,n=4 --reps 1 --iterations 1 --workers 1
run run gmp serial fib,n=10 $quick --format json
json run_json_has_records_and_summary \
    "len(j['records']) == 2 and [s['status'] for s in j['summary']] == ['ok', 'ok']"
json run_digests_are_equal "len({r['digest'] for r in j['records']}) == 1"
run sample gmp,tick=64 fib,n=10 --workers 2 --iterations 3
[ "$(wc -l <out)" = 1 ] && report 1 sample_is_one_line || report 0 sample_is_one_line
json sample_follows_the_schema "set(j) >= {'schema','cell','started','variant','variant_name','knobs','workload','workload_name','params','op','workers','machine','seed','pin','stack_bytes','status','iterations','warmup','warmup_rule','time_ns','ops','throughput','answer','digest','threads','events','command','allocator','probe','steal_share','throttled'} and j['schema'] == 2 and j['status'] == 'ok' and len(j['iterations']) == 3 and j['variant'] == 'gmp,tick=64'"
json sample_has_a_fixed_warmup "(j['warmup'], j['warmup_rule']) == (1, 'fixed')"
json sample_says_what_the_machine_was_like \
    "all(j['probe'][w]['compute_ns'] > 0 and 'line_ns' in j['probe'][w] for w in ('before','after')) and j['probe']['cores']"
json sample_has_no_false_zero \
    "all(('absent' in e) != ('value' in e) and ('absent' not in e or e['absent']) for e in j['events'])"
json sample_counts_its_own_events \
    "[e for e in j['events'] if e['name'] == 'sde:::schedlab::GS_CREATED'][0]['value'] > 0"
json sample_has_no_injected_slowdown "'injected_percent' not in j"
run sample serial fib,n=1 --workers 1 --min-time 5ms --events none
json many_short_calls_take_the_time_or_say_how_much_is_missing "j['time_ns'] + j.get('short_ns', 0) >= 5e6"
run sample serial fib,n=1 --workers 1 --iterations 100000 --min-time 0 --events none
json many_short_calls_share_entries "500 <= len(j['iterations']) <= 1000 and j['iterations'][0]['calls'] > 1 and all(sum(i[k] for i in j['iterations']) == j[k] for k in ('time_ns', 'ops'))"
run sample serial fib,n=20 --workers 1 --iterations 3 --events none --inject-slowdown 300
json injected_slowdown_is_recorded \
    "j['injected_percent'] == 300 and '--inject-slowdown 300' in j['command'] and j['status'] == 'ok'"
run run --sample serial fib,n=5 --workers 1 --iterations 2 --events none
json sample_has_its_old_name_too "j['status'] == 'ok' and len(j['iterations']) == 2"
run sample gmp,tick=64 fib,n=5 --workers 1 --sim-seed 3 --iterations 2 --warmup 0 --pin --stack 64Ki --steal-max 3 \
    --inject-slowdown 7 --events none
json command_of_a_sample_is_for_people "j['command'].startswith('build/schedlab run gmp,tick=64 ')"
eval "run $(python3 -c 'import json; print(json.load(open("out"))["command"].split(" ", 1)[1])') --format json"
json command_of_a_sample_can_be_typed "[(r['status'], r['variant'], r['injected_percent']) for r in j['records']] == [('ok', 'gmp,tick=64', 7)]"
run sample gmp fib,n=10 --workers 1 --iterations 2 --events none --warmup auto
json warmup_ends_by_itself \
    "12 <= j['warmup'] <= 200 and j['warmup_rule'] in ('change-point', 'limit') and '--warmup auto' in j['command']"
run run gmp gmp,malloc=glibc spawn,n=1000 $quick --events none --format json
json run_is_on_the_malloc_asked_for \
    "sorted((r['variant'], r['allocator'], r['knobs']['malloc']) for r in j['records']) == [('gmp', 'jemalloc', 'jemalloc'), ('gmp,malloc=glibc', 'glibc', 'glibc')]"
expect sample_on_another_malloc_than_asked_fails 1 "malloc() is that of jemalloc" -- \
    sample gmp,malloc=glibc fib,n=10 --workers 2
run sample gmp spawn,n=1000 --workers 2 --iterations 1 --event-set 5 \
    --events GS_CREATED,sde:::schedlab::LIVE_GS_PEAK
json sample_has_values_per_m \
    "[len(e.get('per_m', [])) == j['threads'] for e in j['events']] == [True, False] and sum(j['events'][0]['per_m']) == j['events'][0]['value']"
run sample static echo,connections=16,messages=500 --workers 2 --iterations 1 --warmup 0 --events MIGRATIONS
json goroutines_of_static_stay_when_io_wakes_them "j['status'] == 'ok' and j['events'][0]['value'] == 0"
run sample gmp echo,connections=2,messages=10 --workers 1 --iterations 1 --warmup 0 --events POLL_CTLS
json sample_counts_what_the_poller_does "j['events'][0]['value'] >= 4"
# Simulated: sysmon comes in time, whatever else this machine does.
run run gmp,slice_ns=1000000 hog,n=1,chunks=5000 --workers 1 --reps 1 --iterations 1 --warmup 0 --events PREEMPTS,PREEMPT_REQUESTS \
    --machine sim:desktop8 --format json
names="e = j['records'][0]['events']" json sample_counts_what_sysmon_does "0 < e[0]['value'] <= e[1]['value']"
# Where nothing is known of the checks, or they are a part of the time, each call is counted by itself.
run sample gmp spawn,n=100 --workers 1 --iterations 3 --warmup 0 --events sde:::schedlab::GS_CREATED
json calls_are_counted_one_by_one "j['counted'] == 'calls' and j['events'][0]['value'] == 3 * 100 and len(j['iterations']) == 3"
# Long calls are counted together, unless the machine is interrupted between them.
run sample gmp fib,n=20,spawn=both --workers 2 --iterations 4 --warmup 2 --events sde:::schedlab::GS_CREATED
json counted_calls_are_the_timed_ones \
    "j['events'][0]['value'] == j['ops'] == sum(i['ops'] for i in j['iterations']) and len(j['iterations']) == 4"
memory=sde:::schedlab::PROCESS_MEMORY_PEAK,sde:::schedlab::PROCESS_MEMORY_PER_G
run sample gmp crowd,n=20000 --workers 1 --iterations 2 --warmup 0 --events $memory
json sample_knows_what_a_blocked_goroutine_takes \
    "[4096 * 20001 < j['events'][0]['value'] < 4600 * 20001, 4096 < j['events'][1]['value'] <= 4600] == [True, True]"
run sample gmp spawn,n=100000 --workers 1 --iterations 1 --events $memory
json sample_knows_what_one_that_has_not_run_takes "128 <= j['events'][1]['value'] <= 160"
run sample contsteal spawn,n=100000 --workers 1 --iterations 1 --events $memory
json memory_per_goroutine_takes_many \
    "'value' in j['events'][0] and 'fewer than 1000' in j['events'][1]['absent']"
run sample serial fib,n=10 --workers 1 --iterations 1 --events $memory
json memory_per_goroutine_takes_goroutines \
    "'value' in j['events'][0] and 'no scheduler' in j['events'][1]['absent']"
run sample grq arrivals,n=100,rate=10000,burst=7 --workers 2 --iterations 2 --events none
json arrivals_have_a_latency_each "j['status'] == 'ok' and j['latency']['count'] == j['ops'] == 200"
run run gmp grq arrivals,n=200,rate=10000 --workers 2 --reps 2 --iterations 1 --events none
latencies=$(grep -cE '^(latency +p50 +p90 +p99 +p99.9 +max|(gmp|grq)( +[0-9.]+ (ns|µs|ms)){3} +- +[0-9.]+ (ns|µs|ms))$' out)
report $((latencies == 3)) run_shows_latencies
run run gmp arrivals,n=200,rate=10000 --workers 2 --reps 2 --iterations 1 --events none --format json
json summary_has_latencies "(lambda l: set(l) == {'p50_ns','p90_ns','p99_ns','p999_ns','max_ns'} and l['p50_ns'] > 0 and 'absent' in l['p999_ns'])(j['summary'][0]['latency'])"
run run gmp fib,n=10 $quick --format json
json summary_of_other_workloads_has_none "'latency' not in j['summary'][0]"
run sample kthread spawn,n=10M --workers 2
json sample_skips_before_harm "j['status'] == 'skipped' and j['reason'] and 'iterations' not in j"
run sample gmp spawn,n=2M --workers 1 --iterations 1 --warmup 0 --events sde:::schedlab::STACKS_PEAK
json sample_runs_millions_that_need_no_stack \
    "'of MemAvailable is' in j.get('reason', '') or (j['ops'] == 2000000 and j['events'][0]['value'] < 100)"
says run_of_skipped_cells_alone_fails 1 "kthread skipped: " -- run kthread spawn,n=10M $quick
says run_serial_of_goroutines_is_skipped 1 "has no serial version" -- run serial pingpong $quick
run run elision serial tasksteal nqueens,n=7 $quick --format json
json an_elision_does_the_same_work "len(j['records']) == 3 and len({(r['digest'], r['ops']) for r in j['records']}) == 1"
for forks in fib,n=12 nqueens,n=6 skynet,leaves=100 uts mergesort,n=3000 matmul,n=64 locality uneven,tasks=40; do
    run run elision "$forks" $quick --format json
    json "${forks%%,*}_has_an_elision" "all(r['status'] == 'ok' for r in j['records'])"
done
says run_elision_of_goroutines_is_skipped 1 "pingpong is compiled for no serial elision: it forks nothing" -- run elision pingpong $quick
says run_that_needs_a_handoff_is_skipped_without 1 "pipes,mode=block would never end: a goroutine in a blocking call keeps its worker in gmp,calls=none" -- \
    run gmp,calls=none pipes,mode=block $quick
says run_that_needs_a_handoff_is_skipped_on_bound_workers 1 "keeps its worker in static" -- run static pipes,mode=shared $quick
says run_that_polls_is_skipped_where_calls_keep_all_workers 1 "pipes may never end: a goroutine in a blocking call keeps its worker in gmp,netpoll=call,calls=none" -- \
    run gmp,netpoll=call,calls=none pipes $quick
says run_that_changes_workers_is_skipped_where_they_are_fixed 1 "procs would change nothing: the number of workers is fixed in static" -- \
    run static procs $quick
says run_by_the_places_of_workers_is_skipped_where_they_move 1 "victim=near goes by the cores of workers, and these move: add --pin" -- \
    run gmp,victim=near fib,n=10 $quick
says run_by_the_groups_of_workers_is_skipped_where_they_move 1 "globals=group goes by the cores of workers" -- run gmp,globals=group fib,n=10 $quick
# Sixteen workers of server64 have two last caches.
run run gmp gmp,victim=near perm,victim=near fib,n=20 --machine sim:server64 --workers 16 --pin --reps 3 --iterations 1 --warmup 0 \
    --events STEALS,STEALS_FAR --format json
json a_near_victim_comes_first "(lambda far: 0.3 < far[0] < 0.7 and all(0 < f < far[0] / 2 for f in far[1:]))([sum(r['events'][1]['value'] for r in rs) / sum(r['events'][0]['value'] for r in rs) for v in ('gmp', 'gmp,victim=near', 'perm,victim=near') for rs in [[r for r in j['records'] if r['variant'] == v]]])"
# A thread that is woken on a core which another one has taken waits there for milliseconds, and all cores idle meanwhile.
run run gmp uneven,tasks=300/worker,dist=constant,rounds=3000,shape=tree --machine sim:server64 --workers 16 --pin --reps 6 \
    --iterations 1 --warmup 1 --events SIM_WASTED_NS --format json
json a_pinned_worker_is_woken_on_its_core "(lambda ns: max(ns) < 3 * min(ns))([r['events'][0]['per_op'] for r in j['records']])"
expect run_that_polls_needs_no_poller 0 "" -- run gmp,netpoll=call pipes,n=10,settle_ns=0 $quick
run run gmp,threads_max=2 pipes,n=5,mode=block,settle_ns=0 $quick
check run_says_once_why_it_failed [ "$(grep -c 'too many goroutines' err)" = 1 ]
(ulimit -n 40 && run run gmp echo,connections=64,messages=1 $quick && true)
check run_says_before_it_begins_how_many_descriptors_lack grep -qE 'skipped: too few descriptors: 1[3-9][0-9] needed, 40 allowed$' out
(ulimit -n 40 && run run gmp pipes,n=100,settle_ns=0 $quick && true)
check run_says_it_of_pipes grep -qE 'skipped: too few descriptors: 2[0-9][0-9] needed, 40 allowed$' out
expect run_that_needs_none_is_not_skipped 0 "" -- run uthread pipes,n=10,settle_ns=0 $quick
threads="[(e['value'], 'per_op' in e) for e in j['records'][0]['events']][0]"
run run gmp pipes,n=40,settle_ns=0,mode=block --events PROCESS_THREADS $quick --format json
json threads_are_counted_where_each_blocks_one "$threads >= (40, False)"
run run gmp pipes,n=40,settle_ns=0 --events PROCESS_THREADS $quick --format json
json threads_are_not_many_where_none_is_blocked "(1, False) <= $threads < (40, False)"
says run_on_a_variant_of_one_worker_is_skipped 1 "uthread has one worker" -- \
    run uthread order,mode=steal --workers 2 $quick
expect run_says_that_serial_has_one_worker 0 "warning: serial has one worker" -- run serial gmp fib,n=5 --workers 2 \
    --reps 1 --iterations 1 --warmup 0 --events none
check run_says_it_of_no_other [ "$(grep -c 'has one worker' err)" = 1 ]
says run_skips_beside_a_number 0 "serial skipped: " -- run serial gmp pingpong,rounds=10 $quick
run sample gmp fib,n=10 --workers 2 --iterations 1 --events PAPI_L1_DCM,perf::CONTEXT-SWITCHES
json sample_counts_only_what_is_asked_for "[e['name'] for e in j['events']] == ['PAPI_L1_DCM', 'perf::CONTEXT-SWITCHES']"
expect run_hung_child_is_failed 1 "no answer within" -- \
    run serial fib,n=45 --reps 2 --timeout 200ms --iterations 1 --workers 1

# hwloc complains of a component that it does not know, unless told to be silent. A user's own word wins.
# Without --workers the program itself asks hwloc how many there are.
once="fib,n=5 --reps 1 --iterations 1 --warmup 0 --events none"
HWLOC_COMPONENTS=nowhere run run gmp $once
[ $status = 0 ] && ! grep -qv '^schedlab run: ' err && report 1 hwloc_is_silent || report 0 hwloc_is_silent
HWLOC_HIDE_ERRORS=0 HWLOC_COMPONENTS=nowhere run run gmp $once
[ $status = 0 ] && grep -q nowhere err && report 1 hwloc_speaks_when_asked || report 0 hwloc_speaks_when_asked

# Where gmp can count an event of the kernel and kthread cannot, the list says so, and nowhere else.
for variant in gmp kthread; do
    run sample $variant fib,n=5 --workers 1 --iterations 1 --events perf::PAGE-FAULTS
    grep -q '"source":"soft","absent"' out && echo absent >$variant || echo here >$variant
done
expected=0 told=0
[ "$(cat gmp kthread | xargs)" = "here absent" ] && expected=1
run list events
tr -s ' \n' ' ' <out | grep -q 'In kthread, .*PROCESS_\* stand in' && told=1
[ $told = $expected ] && report 1 list_events_tells_what_stands_in || report 0 list_events_tells_what_stands_in

expect run_repeats_from_a_seed 0 "too few" -- run gmp uneven --seed 7 $quick

# Doctor
run doctor --cores 0 --watch 20ms
awk 'length($0) > 100 { exit 1 }' out && grep -q '^PAPI presets ' out && ! grep -q $'\033' out &&
    report 1 doctor_table_fits_and_is_plain_in_a_file || report 0 doctor_table_fits_and_is_plain_in_a_file
run doctor --cores 2 --watch 20 --format json
json doctor_json_has_levels_reasons_and_counts \
    "len(j['findings']) > 15 and all(f['level'] in ('ok','note','warn','unknown') and f['fact'] and f['why'] for f in j['findings']) and len(j['findings']) == sum(j['summary'].values()) and all(k['available'] == k['listed'] or k['reason'] for k in j['counting'])"
undocumented=$(python3 -c "import json; [print(f['id']) for f in json.load(open('out'))['findings']]" |
    while read -r id; do grep -qF "\`$id\`" "$texts/MEASURING.md" || echo "$id"; done)
[ -z "$undocumented" ] && report 1 doctor_findings_are_documented || report 0 "doctor_findings_are_documented $undocumented"
# This machine may have a warning in one look and not in the next; within one look it may not
# change.
run doctor --strict --cores 0 --watch 20 --format json
json doctor_strict_fails_by_a_warning "(j['summary']['warn'] > 0) == ($status == 1)"
run doctor --cores 0 --watch 20 --results no/such/folder
grep -qE '^(ok|note|warn) +disk .* free for no/such/folder' out && report 1 doctor_finds_the_disk_of_a_folder_to_come || report 0 doctor_finds_the_disk_of_a_folder_to_come

# The program reads these files by fopen(): the machine is half busy with others, and has a quota.
cat >busy.c <<'END'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
static char text[64 << 10];
static const char *answer(const char *path)
{
    static long reads;
    size_t at = 0;
    if (strcmp(path, "/proc/self/cgroup") == 0)
        return "0::/\n";
    if (strcmp(path, "/sys/fs/cgroup/cpu.max") == 0)
        return "50000 100000\n";
    if (strcmp(path, "/proc/stat") != 0)
        return NULL;
    reads++;
    for (int cpu = 0; cpu < 1024; cpu++)
        at += sprintf(text + at, "cpu%d %ld 0 0 %ld 0 0 0 0\n", cpu, 1000 * reads, 1000 * reads);
    sprintf(text + at, "procs_running 9\n");
    return text;
}
FILE *fopen(const char *path, const char *mode)
{
    FILE *(*real)(const char *, const char *) = (FILE * (*)(const char *, const char *)) dlsym(RTLD_NEXT, "fopen");
    const char *known = answer(path);
    return known ? fmemopen((char *)known, strlen(known), "r") : real(path, mode);
}
END
# warns COMMAND: one line of each, with the name of the command
others='8\.0 other threads want to run, usable cores are 50 % busy: they take cores from the workers, and not from all samples alike'
quota='0\.50 cores a period for [0-9]* usable ones: when the quota of a period is used up, all workers stop until the next one'
warns() { [ "$(grep -cx "schedlab $1: warning: $others" err) $(grep -cx "schedlab $1: warning: $quota" err)" = '1 1' ]; }
busy() { LD_PRELOAD=$scratch/busy.so run "$@"; }
check a_busy_machine_is_made gcc -shared -fPIC -o busy.so busy.c -ldl
busy run gmp fib,n=8 --reps 1 --min-time 1ms --warmup 0 --workers 1 --events none
check run_warns_of_others_and_of_a_quota warns run
check run_measures_nonetheless [ $status = 0 ]
busy run gmp fib,n=8 --reps 1 --min-time 1ms --workers 1 --machine sim:laptop
check simulated_runs_have_no_others [ "$status $(grep -c 'other threads\|a period' err)" = '0 0' ]
printf '%s\n' 'name: one' 'title: One cell' 'reps: 1' 'min_time_ms: 0' 'warmup: 0' 'events: [none]' 'groups:' '  - id: one' \
    '    question: Which?' '    baseline: gmp' '    variants: [gmp]' '    workers: [1]' '    workloads: ["fib,n=8"]' >one.yaml
busy sweep one.yaml --no-report
check sweep_warns_of_others_and_of_a_quota warns sweep
busy sweep one.yaml --no-report --machine sim:laptop
check simulated_sweeps_have_no_others [ "$status $(grep -c 'other threads\|a period' err)" = '0 0' ]
rm -rf results

# Misuse
misuse no_command "a command is missing" --
misuse unknown_command '"sweep"' -- sweeep
misuse unknown_option 'the nearest is "--workers"' -- run gmp fib --worker5 2
misuse unknown_letter "unknown option -z" -- run gmp fib -z
misuse option_without_value "has no value" -- run gmp fib --workers
misuse option_with_a_value_too_many "takes no value" -- run gmp fib --pin=yes
misuse no_workload "a workload is missing" -- run
misuse variant_alone 'after the variant "gmp"' -- run gmp
misuse unknown_variant '"gmp"' -- run gpm fib
misuse unknown_workload '"fib"' -- run gmp fibb
misuse unknown_knob '"tick"' -- run gmp,tik=64 fib
misuse unknown_parameter 'valid: n' -- run gmp fib,m=4
misuse far_off_command "valid: list, run, sweep, repro, report" -- frobnicate
misuse all_events_beside_names "--events names those to show" -- run gmp fib --all-events --events STEALS
misuse all_events_of_json "has all of them" -- run gmp fib --all-events --format json
misuse far_off_format "valid: table, json" -- run gmp fib --format xml
misuse far_off_option "valid: --workers, --reps" -- run gmp fib --colour
misuse far_off_variant "valid: kthread, uthread" -- run gizmo fib
misuse far_off_workload "valid: fib, nqueens" -- run gmp zzz
misuse far_off_event 'valid: those of `schedlab list events`' -- run gmp fib --events bogus
misuse two_workloads 'one workload at a time, found "fib"' -- run gmp fib pingpong
misuse knob_apart '"tick=4" is no variant' -- run gmp tick=4 fib
misuse newline_in_a_name 'fi?b' -- run gmp "fi
b"
misuse knob_out_of_range "0 to 1024" -- run gmp,tick=1025 fib
misuse parameter_out_of_range "valid: 0 to" -- run gmp fib,n=1000
misuse unknown_word '"chain"' -- run gmp,wake=chian fib
misuse knob_twice "given twice" -- run gmp,tick=1,tick=2 fib
misuse unknown_preset '"PAPI_L1_DCM"' -- run gmp fib --events PAPI_L1_DCN
misuse unknown_own_event '"sde:::schedlab::STEALS"' -- run gmp fib --events sde:::schedlab::STEELS
misuse bare_event_name '"sde:::schedlab::STEALS"' -- run gmp fib --events STEAL
misuse event_twice "given twice" -- run gmp fib --events PAPI_L1_DCM,PAPI_L1_DCM
misuse variant_twice '"gmp" is given twice' -- run gmp gmp,tick=61 fib
misuse none_beside_other_events "none stands beside other events" -- run gmp fib --events none,PAPI_L1_DCM
misuse other_events_beside_none "none stands beside other events" -- run gmp fib --events PAPI_L1_DCM,none
misuse empty_event "empty name" -- run gmp fib --events PAPI_L1_DCM,
misuse no_number_between_commas '--workers lacks a number; valid: 1 to 1024, several' -- run gmp fib --workers 1,,2
misuse no_number_behind_a_comma '--workers lacks a number' -- run gmp fib --workers 1,
misuse option_without_value_says_which '--machine has no value; valid: --machine=MACHINE' -- run gmp fib --machine
misuse letter_without_value_says_which '-r has no value; valid: --reps=N; `schedlab run --help` says more' -- run gmp fib -r
misuse workloads_behind_one_another 'valid: [VARIANT...] WORKLOAD; `schedlab sweep` takes' -- run gmp fib nqueens
misuse no_workers "valid: 1 to" -- run gmp fib --workers 0
misuse workers_no_number "valid: 1 to" -- run gmp fib --workers two
misuse no_iterations "valid: 1 to 1000000" -- run gmp fib --iterations 0
misuse negative_time "valid: 0 to" -- run gmp fib --min-time -5
misuse negative_time_with_unit "valid: 0 to" -- run gmp fib --min-time -5ms
misuse time_in_bytes "in ns, us, ms (as in 200ms, 1.5ms) or s; plain numbers are ms" -- run gmp fib --min-time 3KiB
misuse time_of_unclear_unit "plain numbers are ms" -- run gmp fib --min-time 3k
misuse time_in_parsecs "plain numbers are s" -- run gmp fib --timeout 3parsecs
misuse knob_in_bytes "0 to 1000000000 ns" -- run gmp,spin_ns=3KiB fib
misuse parameter_in_bytes "valid: 0 to 45" -- run gmp fib,n=3KiB
misuse stack_in_time "16384 to 1073741824 bytes" -- run gmp fib --stack 64ms
expect stack_in_bytes 0 "operations of one task" -- run gmp fib,n=5 --stack 64KiB $quick --events none
says small_stack_has_no_room_for_a_signal 1 "preempt=signal on stacks of 16 KiB, where a signal has no room; it takes" -- \
    run gmp fib,n=5 --stack 16Ki $quick --events none
expect small_stack_is_enough_without 0 "operations of one task" -- run gmp,preempt=coop fib,n=5 --stack 16Ki $quick --events none
misuse time_knob_names_units "10us, 1ms, 2s" -- run gmp,spin_ns=2h fib
misuse size_parameter_names_units "64Ki, 1Mi" -- run gmp locality,bytes=3
misuse small_stack "bytes, or as in 64Ki" -- run gmp fib --stack 1k
misuse warmup_word "valid: 0 to 1000, or auto" -- run gmp fib --warmup automatic
misuse warmup_too_long "valid: 0 to 1000, or auto" -- run gmp fib --warmup 1001
misuse steal_max_above_all "valid: 0 to 100" -- run gmp fib --steal-max 101
misuse doctor_argument "options only" -- doctor now
misuse doctor_cores "valid: 0 to 64" -- doctor --cores 65
misuse doctor_watch "valid: 0 to 60 s" -- doctor --watch 2h
misuse doctor_format "table" -- doctor --format tabel
misuse arrivals_in_too_large_bursts "burst must not be more than n" -- run arrivals,n=10,burst=11
misuse arrivals_for_too_long "n / rate must be less than 60" -- run arrivals,rate=10
misuse too_few_workers_to_take_anything "valid: 2 workers or more" -- run gmp order,mode=steal --workers 1
misuse a_sample_of_nothing "takes one variant and one workload" -- sample gmp
misuse a_sample_of_too_much 'found "fib" behind them' -- sample gmp fib fib
misuse a_sample_on_a_machine_of_another_program "on real threads only" -- sample gmp fib --machine sim:laptop
misuse a_sample_with_too_few_workers "valid: 2 workers or more" -- sample gmp order,mode=steal --workers 1
misuse unknown_machine "native" -- run gmp fib --machine simm

# Files that are none, or not what they should be.
mkdir folder
: >empty
head -c 2000 "$schedlab" >binary
misuse sweep_of_nothing "cannot read missing.yaml: No such file" -- sweep missing.yaml
misuse sweep_that_nearly_is_one_of_ours 'a sweep that comes with schedlab (the nearest is "smoke")' -- sweep smok
expect sweep_of_ours_by_name 0 'sim:laptop' -- sweep smoke --plan --machine sim:laptop
expect sweep_of_ours_by_its_path_elsewhere 0 'sim:laptop' -- sweep harness/sweeps/smoke.yaml --plan --machine sim:laptop
misuse sweep_of_a_folder "cannot read folder: Is a directory" -- sweep folder
misuse sweep_of_an_empty_file "empty:1: the file is empty" -- sweep empty
misuse sweep_of_a_binary "binary:1: not valid YAML" -- sweep binary
for command in report "export --to csv" "bench --counting"; do
    for file in missing folder empty binary /dev/full; do
        misuse "$command of $file" "$file is not a run: it has no samples.jsonl; valid is a folder" -- $command $file
    done
done
misuse bench_of_no_file "missing: No such file or directory; valid: what \`schedlab micro" -- bench --micro missing
misuse bench_of_a_folder "folder: Is a directory; valid: what \`schedlab micro" -- bench --micro folder
for file in empty binary; do
    expect "bench_of_$file" 1 "$file: not the JSON of" -- bench --micro $file
done
for command in report "export --to csv" "bench --counting"; do
    mkdir -p torn && cp binary torn/samples.jsonl
    expect "$command of a damaged run" 1 "torn/samples.jsonl:1: not a record" -- $command torn
    [ "$(wc -l <err)" = 1 ] && report 1 "$command says that alone" || report 0 "$command says that alone"
done

# Nothing that was measured is lost silently.
for arguments in list "run --help" "list --format json" "run gmp fib,n=5 $quick --events none"; do
    "$schedlab" $arguments >/dev/full 2>err
    # A run also says there if the hypervisor took time.
    [ $? = 1 ] && grep -qx "schedlab: standard output: No space left on device" err &&
        report 1 "a full disk is told by $arguments" || report 0 "a full disk is told by $arguments"
done

finish
