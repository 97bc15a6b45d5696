#!/bin/bash
# test_micro.sh - schedlab micro from the outside: names, filters, output, counters, misuse.
#
#     tests/program/test_micro.sh build/schedlab
#
# Prints TAP. No time is judged: a benchmark passes if it ran and found its own result right.
. "$(dirname "$0")/../tap.sh"

# run ARGUMENT...: leaves out, err, status.
run() {
    timeout 800 "$schedlab" micro "$@" >out 2>err </dev/null
    status=$?
}

names="b = j['benchmarks']"
variants=$("$schedlab" list variants --format json | python3 -c "
import json, sys
print(*[v['name'] for v in json.load(sys.stdin)['variants'] if v['name'] not in ('serial', 'elision') and ':' not in v['name']])")
quick="--benchmark_min_time=0.0001"

# Names
run --list
good=1
for name in floor/{call,store,cas,xchg,fence,ctx_switch,futex_wake,futex_wake_run,line_round_trip,thread} gqueue/{push,pop} \
    globq/{put,get} lrq/{put,get,runnext} lrq/steal/held:256 pdeque/{put,get,steal} deque/{push,pop,steal,push_pop} \
    deque/push_pop_{idle,busy}_thief lock/{free,contended} spawn_sync/{tasksteal,contsteal} wake/{pay,run}/gmp \
    sim/cache/{hit,half_miss,ping_pong}; do
    grep -qE "^$name(/|\$)" out || { good=0 && echo "# no $name"; }
done
for variant in $variants; do
    for name in switch yield spawn mutex/free chan/{unbuffered,buffered,try}; do
        grep -qE "^$name/$variant(/|\$)" out || { good=0 && echo "# no $name/$variant"; }
    done
done
[ $status = 0 ] && [ ! -s err ] && report $good list_has_every_operation || report 0 list_has_every_operation
[ -z "$(sort out | uniq -d)" ] && report 1 names_are_unique || report 0 names_are_unique
cp out all
run --benchmark_list_tests
cmp -s out all && report 1 list_is_the_librarys || report 0 list_is_the_librarys
run --list gmp,tick=64 --benchmark_filter=^yield
[ "$(cat out)" = yield/gmp,tick=64/process_time/manual_time ] && report 1 variants_are_specifications || report 0 variants_are_specifications

# Everything runs, and is right by its own check.
run $quick --benchmark_out=results.json
[ $status = 0 ] && [ "$(grep -cE ' ns .* ns ' out)" = "$(wc -l <all)" ] && ! grep -qi error out && report 1 all_benchmarks_are_right || report 0 all_benchmarks_are_right
awk 'length($0) > 100 { exit 1 }' out && report 1 table_fits_100_columns || report 0 table_fits_100_columns
sed -E 's,/(process_time|manual_time),,g' all | cmp -s - <(awk '/ ns / { print $1 }' out) &&
    report 1 table_is_in_the_order_of_the_list || report 0 table_is_in_the_order_of_the_list
json file_has_all_times_in_ns \
    "len(b) == $(wc -l <all) and all(x['time_unit'] == 'ns' and x['real_time'] > 0 and x['run_type'] == 'iteration' for x in b)" results.json
json file_names_the_revision "j['context']['schedlab']" results.json

# Output
run --format json $quick --benchmark_filter='^floor/(cas|xchg)$' --benchmark_repetitions=3
json json_has_every_repetition \
    "sorted(x['name'] for x in b if x['run_type'] == 'iteration') == 3 * ['floor/cas'] + 3 * ['floor/xchg']"
json json_has_aggregates "{x['aggregate_name'] for x in b if x['run_type'] == 'aggregate'} >= {'mean', 'median', 'stddev'}"
run --medians $quick --benchmark_filter='^floor/(cas|xchg)$' --benchmark_repetitions=3
[ "$(grep -c ' ns ' out)" = 2 ] && report 1 medians_are_one_line_each || report 0 medians_are_one_line_each
run gmp,runnext=off --format json --benchmark_min_time=0.001s --benchmark_filter='^(switch|spawn|floor/cas)' \
    --events perf::TASK-CLOCK,sde:::schedlab::DISPATCHES,sde:::schedlab::DEQUE_MAX,PAPI_L1_DCM
json counters_are_per_operation \
    "all(0.99 < x['DISPATCHES'] < 1.1 + 4 / x['iterations'] for x in b if x['name'].startswith('switch'))" # few if the machine was busy
json peaks_are_themselves "all(x['DEQUE_MAX'] == 1 for x in b if x['name'].startswith('switch')) and all(x['DEQUE_MAX'] == min(64, x['iterations']) for x in b if x['name'].startswith('spawn'))"
json nothing_of_a_scheduler_without_one "all('DISPATCHES' not in x for x in b if x['name'].startswith('floor'))"
json what_is_not_counted_is_absent_and_said "all(('PAPI_L1_DCM' in x) != ('not counted: PAPI_L1_DCM: ' in open('err').read()) for x in b)"
run gmp kthread --format json $quick --benchmark_filter='^(spawn|floor/thread)' \
    --events sde:::schedlab::MALLOC_ALLOCATIONS,sde:::schedlab::MALLOC_BYTES,sde:::schedlab::MALLOC_ALLOCATED
json malloc_has_no_false_zero "all('MALLOC_ALLOCATIONS' not in x and x.get('MALLOC_BYTES', 1) > 0 and x.get('MALLOC_ALLOCATED', 1) > 0 for x in b if 'gmp' not in x['name'])"
json bytes_are_counted_where_threads_stay \
    "'MALLOC_BYTES: malloc is ' in open('err').read() or [x['name'].split('/')[1] for x in b if 'MALLOC_BYTES' in x] == ['thread', 'gmp']"
[ "$(grep -c '^not counted: .*MALLOC_ALLOCATIONS: ..' err)" = 1 ] && report 1 blocks_are_absent_with_a_reason || report 0 blocks_are_absent_with_a_reason

run $quick --benchmark_filter=^floor/cas --benchmark_out=/dev/full
[ $status = 1 ] && [ "$(tail -n 1 err)" = "schedlab micro: /dev/full: not all of it could be written" ] &&
    report 1 a_full_disk_is_told || report 0 a_full_disk_is_told
for format in json csv console; do
    run $quick --benchmark_filter='^(switch/gmp|floor/cas)' --benchmark_out=file --benchmark_out_format=$format
    [ "$(grep -c 'switch/gmp/process_time/manual_time' file)" -ge 1 ] && ! grep -qi 'CPU time in ns' file out &&
        report 1 "file_is_$format" || report 0 "file_is_$format"
done

# If only one variant lacks an event, the line names the variant, and the event to ask for instead.
run gmp kthread --format json $quick --benchmark_filter='^(switch|floor/cas)' \
    --events perf::TASK-CLOCK,perf::PAGE-FAULTS,sde:::schedlab::MALLOC_BYTES
json what_one_variant_lacks_names_it "all((e in k) != (' in kthread: ' in line and (e == 'MALLOC_BYTES' or '; in its place: sde:::schedlab::PROCESS_' in line)) or line.startswith('not counted: ' + e + ':')
    for k in b if 'kthread' in k['name']
    for e in ('perf::TASK-CLOCK', 'perf::PAGE-FAULTS', 'MALLOC_BYTES')
    for line in [next((l for l in open('err') if e in l), '')])"
! grep -q ' in gmp' err && [ -z "$(grep '^not counted' err | sort | uniq -d)" ] && report 1 nothing_is_said_twice || report 0 nothing_is_said_twice

grep -o 'Library was built as [A-Z]*' err >said
! [ -s said ] || grep -qFf said "$tree/docs/MEASURING.md" && report 1 what_the_library_says_is_explained || report 0 what_the_library_says_is_explained

# Misuse
misuse unknown_flag 'the nearest is "--benchmark_filter"' -- --benchmark_fliter=x
misuse unknown_option 'the nearest is "--events"' -- --evnts=x
misuse flag_without_value "has no value" -- --benchmark_repetitions
misuse no_match "=nothing_near matches no benchmark; --list names all" -- --benchmark_filter=nothing_near
misuse near_match '=^(swich) matches no benchmark; the nearest operation is "switch"; --list' -- '--benchmark_filter=^(swich)'
misuse near_match_of_a_variant 'the nearest operation is "yield"' -- --benchmark_filter=yeild/gmp
misuse near_match_with_a_slash 'the nearest operation is "floor/cas"' -- --benchmark_filter=flor/cas
misuse no_regex "is not a regular expression" -- '--benchmark_filter=a('
misuse bad_time "valid: 0 to 86400 seconds" -- --benchmark_min_time=soon
misuse bad_count "valid: 1 to" -- --benchmark_repetitions=0
misuse bad_bool "valid: true, false" -- --benchmark_list_tests=maybe
misuse bad_format 'the nearest is "table"' -- --format=tabel
misuse bad_context "valid: KEY=VALUE" -- --benchmark_context=x
misuse no_such_folder "cannot write" -- --benchmark_out=no/such/file
misuse unknown_variant '"gmp"' -- gpm
misuse variant_twice "given twice" -- gmp gmp,tick=61
misuse serial_has_no_scheduler "no scheduler" -- serial
misuse peer_has_no_scheduler "no scheduler" -- peer:pthreads
misuse far_off_variant "valid: kthread, uthread, static, grq, perm, permits, gmp, tasksteal, contsteal" -- gizmo
! grep -q serial err && report 1 what_cannot_run_is_not_listed || report 0 what_cannot_run_is_not_listed
misuse context_without_value "valid: KEY=VALUE,KEY=VALUE" -- --benchmark_context=a=b,c
misuse unknown_event '"PAPI_L1_DCM"' -- --events=PAPI_L1_DCN

finish
