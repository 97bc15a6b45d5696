#!/bin/bash
# test_requests.sh - where a request's time goes, at p50 and p99: in `run`, `trace` and the page of a report.
#
#     tests/program/test_requests.sh build/schedlab
#
# How long each part of a replay takes is known from how the programs here are written. Prints TAP.
. "$(dirname "$0")/../tap.sh"

# replayed NAME <STEPS: leaves out, the run's output on a simulated machine.
replayed() {
    { echo 'schedlab-program 1' && cat; } >"$1.slp"
    "$schedlab" run gmp "replay,file=$1.slp" --machine sim:desktop8 --workers 4 >out 2>err </dev/null
    cat err >>out
}

# part WORD P50 P99: that row of the table has these times in us, within 250 us: calls and timers end late.
part() {
    awk -v word="$1" -v p50="$2" -v p99="$3" 'function near(a, b) { return a - b < 250 && b - a < 250 }
        $1 == "where" { on = 1; next }
        on && index($0, "  " word " ") == 1 { found = near($(NF - 1), p50) && near($NF, p99) }
        END { exit !found }' out
}

# The second request comes while the first one is served.
replayed own <<'END'
goroutine c
poll at 1ms
begin
call 2ms
done
poll at 2ms
begin
call 4ms
done
end
END
check a_request_behind_the_last_one_is_told part 'behind the connection'\''s last request' 0 1000
check calls_are_told part 'in a call' 2000 4000
check parts_add_up_to_all part 'in all' 2000 5000

# The third one is behind both.
replayed queue <<'END'
goroutine c
poll at 1ms
begin
call 2ms
done
poll at 1ms
begin
call 2ms
done
poll at 1ms
begin
call 2ms
done
end
END
check a_request_is_behind_all_before_it part 'behind the connection'\''s last request' 2000 4000
check what_served_them_is_not_its_own part 'in a call' 2000 2000

# A client's request is served by another goroutine, which is busy at first, takes a lock that is held, and computes.
replayed served <<'END'
goroutine holder
lock table
call 3ms
unlock table
end
goroutine client
poll at 1ms
begin
wake connection
wait reply
done
end
goroutine connection
call 2ms
wait network
run 500us
lock table
call 300us
unlock table
wake client
end
END
check who_serves_a_request_is_followed part 'behind the connection'\''s last request' 1000 1000
check locks_have_their_names part 'lock table' 500 500
check computing_is_told part running 500 500
check calls_of_who_serves_are_told part 'in a call' 300 300
check all_of_it_is_told part 'in all' 2300 2300

replayed lives <<'END'
goroutine a
run 200us
wait
end
goroutine b
run 1ms
wake a
end
END
check lives_stand_in_for_requests grep -q "^where a goroutine's life goes, us" out
check the_makespan_is_told awk '/^from ready to running, us: p50 [0-9.]+, p90 [0-9.]+, p99 [0-9.]+, p99.9 [0-9.]+; makespan / {
    found = $NF >= 1000 && $NF < 1100 } END { exit !found }' out
check who_is_waited_for_is_followed part running 1000 1000
check no_goroutine_waits_for_the_unknown sh -c '! grep -q "waiting for others" out'

# Classes have tables of their own: the name behind `begin`, or none.
echo 'schedlab-program 2
goroutine c main.serve
poll at 1ms
begin short
call 2ms
done
poll at 10ms
begin long
call 6ms
done
poll at 20ms
begin short
call 2ms
done
poll at 30ms
begin
call 1ms
done
end' >classes.slp
"$schedlab" run gmp replay,file=classes.slp --machine sim:desktop8 --workers 4 >out 2>err
class() { # NAME COUNT P50: of that class, so many us in calls
    awk -v head="of $1: $2" -v p50="$3" '/^of / { on = $0 == head } on && $1 == "in" && $2 == "a" { found = $(NF - 1) - p50 < 250 && p50 - $(NF - 1) < 250 }
        END { exit !found }' out
}
check the_requests_of_a_class_are_told class short '2 requests' 2000
check so_are_those_of_another class long '1 request' 6000
check those_without_a_name_are_a_class class 'those without a name' '1 request' 1000
check the_class_with_most_requests_comes_first sh -c '[ "$(grep -m 1 "^of " out)" = "of short: 2 requests" ]'
"$schedlab" run gmp replay,file=classes.slp --machine sim:desktop8 --workers 4 --format json >out 2>err
check classes_are_in_records python3 -c 'import json; parts = json.load(open("out"))["records"][0]["request_parts"]
assert [(c["class"], c["count"]) for c in parts["classes"]] == [("short", 2), ("long", 1), ("", 1)] and parts["classes_count"] == 3, parts
assert all(abs(sum(row["p50_us"] for row in c["parts"]) - c["p50_us"]) < 1e-6 for c in parts["classes"]), parts'
"$schedlab" run gmp replay,file=classes.slp,copies=3 --machine sim:desktop8 --workers 8 --format json >out 2>err
check requests_of_all_copies_count python3 -c 'import json; parts = json.load(open("out"))["records"][0]["request_parts"]
assert [(c["class"], c["count"]) for c in parts["classes"]] == [("short", 6), ("long", 3), ("", 3)] and parts["count"] == 12, parts
assert all(abs(sum(row["p50_us"] for row in c["parts"]) - c["p50_us"]) < 1e-6 for c in parts["classes"] + [parts]), parts'
{ echo schedlab-program 2 && echo goroutine c && for ((i = 0; i < 12; i++)); do printf 'begin r%d\nrun 1us\ndone\n' $i; done; printf 'begin \377\ndone\nbegin \377\ndone\nend\n'; } >many.slp
"$schedlab" run gmp replay,file=many.slp --machine sim:desktop8 --workers 1 >out 2>err
check eight_classes_at_most_are_shown [ "$(grep -c '^of ' out) $(grep -cx 'other classes of requests: 5, with fewer each' out)" = '8 1' ]
check a_class_that_is_no_text_is_shown grep -qx 'of ?: 2 requests' out
check one_class_has_no_table_of_its_own sh -c '"$0" run gmp "replay,file=$1" --machine sim:desktop8 >out 2>err && ! grep -q "^of " out' \
    "$schedlab" "$tree/examples/service.slp"

# Each workload with latencies, followed by what its scheduler does. Parts add up to the latency, and each latency is a
# request's.
workloads=(arrivals,n=300,rate=200k beat,n=20 bursts,n=5,b=8 calls,n=40,callers=4 calls,n=20,measure=handoff
    chain,n=300,victims=4 echo,connections=4,messages=20,rate=200k files,size=65536,readers=2 hog,chunks=300,n=20
    lockskew,n=10 mutex,n=300,latency=on periodic,latency=on pingpong,rounds=100,latency=on
    pingpong,rounds=100,latency=victims,victims=4 pipes,n=20 pipes,n=4,mode=block replay select,messages=200,latency=on
    slice,chunks=3000 timers,n=30 timers,n=20,mode=func wakers,n=10)
followed() { # WORKLOAD ARGUMENT...: leaves out, err; one call
    "$schedlab" run gmp "$1" --machine sim:desktop8 --workers 3 --reps 1 --iterations 1 --warmup 0 --seed 1 "${@:2}" \
        >out 2>err </dev/null
}
has_each() { # each workload that has latencies is among them
    local file name
    for file in $(grep -l '\.has_latency' "$tree"/workloads/*.c); do
        name=$(basename "$file" .c)
        [[ " ${workloads[*]}" =~ " $name"[,\ ] ]] || return 1
    done
}
check each_workload_with_latencies_is_asked has_each
cat >sums.py <<'END'
import json, sys
record = json.load(open(sys.argv[1]))["records"][0]
parts = record["request_parts"]
assert parts["parts"], parts
for q in ("p50_us", "p99_us"):
    told = sum(row[q] for row in parts["parts"])
    assert abs(told - parts[q]) <= 1e-6 * (1 + parts[q]), (q, told, parts)
# The mean of a hundredth lies within a bucket of the quantile, where there are many.
assert parts["count"] == record["latency"]["count"] or parts["of"] == "life", (parts["count"], record["latency"]["count"])
END
for workload in "${workloads[@]}"; do
    followed "$workload" --format json
    check "parts_of_${workload//[,=]/_}_add_up" python3 sums.py out
done

row() { # WORD EXPRESSION: of that row's p50 and p99 in us, a and b
    awk -v word="$1" 'index($0, "  " word " ") == 1 { a = $(NF - 1); b = $NF; found = 1 } END { exit !(found && '"$2"') }' out
}
followed arrivals,n=500,rate=5M,rounds=10000 --workers 1
check a_queue_is_time_when_one_is_runnable row runnable 'a > 1000'
check its_end_is_behind_almost_all row runnable 'b > 1.5 * a'
check its_load_is_not_met grep -q '^load not met: ' out
followed echo,connections=4,messages=50,rate=5M
check a_connection_is_behind_its_last_request row "behind the connection's last request" 'b > 100'
check the_rest_is_the_network row 'waiting for the network' 'a > 0'
followed lockskew,n=30
check a_lock_has_its_name row 'lock mu' 'b > 50'
followed calls,n=40,measure=handoff,callers=1 --workers 1
check who_waits_behind_a_call_is_runnable row runnable 'b > 20'
followed timers,n=30
check a_timer_that_is_late_sleeps row sleeping 'b > 0'
check timers_that_come_together_are_no_load sh -c '! grep -q "load not met" out'
followed timers,n=100,ns=1000000,spread_ns=1000 --workers 1
check timers_that_are_late_do_not_meet_their_load grep -qE '^load not met: [0-9]+ of [0-9]+ timers/s$' out
followed timers,n=50,ns=1000000,spread_ns=50000000
check timers_far_between_meet_it sh -c '! grep -q "load not met" out'
followed pingpong,rounds=300,latency=on
check whom_a_ping_waits_for_is_followed sh -c '! grep -q "waiting for others" out && grep -q "^  running" out'
followed wakers,n=20,rounds=300000 --workers 2
check wakers_that_are_late_do_not_meet_their_load grep -q '^load not met: ' out

# The same numbers in each place.
table() { sed -n '/^where a request/,/^  in all/p' "$1"; }
followed arrivals,n=100,rate=200k --events none
table out >told
"$schedlab" trace gmp arrivals,n=100,rate=200k --machine sim:desktop8 --workers 3 --seed 1 >out 2>err </dev/null
check a_trace_has_the_same_table eval '[ -s told ] && table out | cmp -s - told'
"$schedlab" trace gmp arrivals,n=100,rate=200k --machine sim:desktop8 --workers 3 --seed 1 --format json >out 2>err </dev/null
check a_trace_in_json_has_it python3 -c 'import json; assert json.load(open("out"))["request_parts"]["count"] == 100'
cat >parts.yaml <<'END'
name: parts
title: Where latencies come from
reps: 1
warmup: 0
iterations: 1
groups:
  - id: parts
    question: Where do latencies come from?
    figure: latency
    baseline: grq
    variants: [grq, gmp]
    workloads: ["arrivals,n=100,rate=200k", "replay,file=classes.slp"]
    workers: [3]
    machine: sim:desktop8
END
"$schedlab" sweep parts.yaml --results . --name parts >out 2>err </dev/null
check a_page_has_it_for_each_variant eval '[ "$(grep -o "where a request" parts-*/report.html | wc -l)" = 4 ]'
check a_page_has_it_for_each_class eval '[ "$(grep -c "^of short: 2 requests" parts-*/report.html)" = 2 ]'
check a_page_says_what_a_replay_cannot_tell eval '[ "$(grep -o "A replay has no garbage collector" parts-*/report.html | wc -l)" = 2 ]'
check a_page_names_the_functions_of_a_program eval '[ "$(grep -c "^main.serve  *1 " parts-*/report.html)" = 2 ]'

"$schedlab" run gmp arrivals,n=20 --workers 1 --reps 1 --iterations 1 --warmup 0 >out 2>err </dev/null
check on_real_threads_it_is_absent_with_the_reason grep -q "^schedlab run: where a request's time goes: absent (real threads " err
command=$(sed -n 's/.*; schedlab \(trace gmp .* --only main\) tells)$/\1/p' err)
read -ra words <<<"$command"
"$schedlab" "${words[@]}" >out 2>err </dev/null
check the_command_it_names_tells eval '[ -n "$command" ] && row "in all" "a > 0 && b >= a"'
"$schedlab" run gmp gmp,runnext=off arrivals,n=20 --workers 1 --reps 1 --iterations 1 --warmup 0 >out 2>err </dev/null
check one_command_stands_for_all_rows [ "$(grep -c 'absent (real threads ' err)" = 1 ]

# Real threads that record: whatever happened, the parts add up.
cat >native.py <<'END'
import json, sys
parts = json.load(open("out"))["request_parts"]
names = [row["part"] for row in parts["parts"]]
for q in ("p50_us", "p99_us"):
    told = sum(row[q] for row in parts["parts"])
    assert abs(told - parts[q]) <= 1e-6 * (1 + parts[q]), (q, told, parts)
assert all(row[q] >= 0 for row in parts["parts"] for q in ("p50_us", "p99_us")), parts
assert parts["count"] == int(sys.argv[1]) or not int(sys.argv[1]), parts["count"]
assert all(name in names for name in sys.argv[2:]), names
END
recorded() { # VARIANT WORKLOAD ARGUMENT...: leaves out, err
    "$schedlab" trace "$1" "$2" --machine native --workers 2 --most 10000000 --format json --only main "${@:3}" >out 2>err </dev/null
}
for workload in "${workloads[@]}"; do
    recorded gmp "${workload/#periodic/periodic,turns=500}"
    check "recorded_parts_of_${workload//[,=]/_}_add_up" python3 native.py 0
done
for variant in kthread grq perm; do
    recorded $variant arrivals,n=100,rate=200k
    check "${variant}_records_each_request" python3 native.py 100
done
recorded gmp lockskew,n=20
check a_recorded_lock_has_its_name python3 native.py 0 'lock mu'
recorded gmp echo,connections=4,messages=20,rate=200k --warmup 2
check a_recorded_echo_waits_for_the_network python3 native.py 80 'waiting for the network'
"$schedlab" trace gmp arrivals,n=2000 --machine native --workers 2 --most 100 >out 2>err </dev/null
check what_was_cut_has_a_line_and_no_table eval \
    '[ "$(grep -c "^where a request" out) $(grep -c "goes: absent (only the beginning was kept; --most keeps more)" out)" = "1 1" ]'
"$schedlab" trace gmp arrivals,n=20000,rate=1M --machine native --workers 2 --format json >out 2>err </dev/null
check what_is_not_shown_counts_all_the_same python3 -c 'import json; trace = json.load(open("out"))
assert trace["happened"] > 20000 and len(trace["steps"]) <= 10000, (trace["happened"], len(trace["steps"]))
assert trace["request_parts"]["count"] == 20000, trace["request_parts"]'
"$schedlab" trace gmp arrivals,n=20 --machine native --workers 2 --format page >out 2>err </dev/null
check a_page_of_a_trace_has_it grep -q '<summary>gmp: where a request.*s time goes</summary>' out
"$schedlab" run serial arrivals,n=20 --machine sim:desktop8 --workers 1 --reps 1 >out 2>err </dev/null
check plain_c_has_no_goroutines grep -q "absent (plain C" err
"$schedlab" run serial arrivals,n=20 --workers 1 --reps 1 >out 2>err </dev/null
check nor_has_it_on_real_threads grep -q "absent (plain C" err
finish
