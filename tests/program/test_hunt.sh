#!/bin/bash
# test_hunt.sh - schedlab hunt: finds a schedule that is wrong, replays it, and says nothing of a right variant.
#
#     tests/program/test_hunt.sh build/schedlab
#
# The variant that is wrong looks into no queue on its way to sleep (recheck=none, before): runtime/idle.c. Prints TAP.
. "$(dirname "$0")/../tap.sh"

# run ARGUMENT...: leaves out, err, status.
run() {
    timeout 600 "$schedlab" hunt "$@" >out 2>err </dev/null
    status=$?
}

# one_line STATUS PART: the last command left that status, nothing in out, and one line with the part in err.
one_line() { [ "$status $(wc -l <err) $(wc -c <out)" = "$1 1 0" ] && contains err "$2"; }

# The failure's replay in the last output, as arguments.
replay_of() { sed -n 's/^replay: schedlab hunt //p' out; }
failure_of() { sed -n '/^failed: /,/^replay: /p' out | grep -v '^replay: '; }

# Nothing -------------------------------------------------------------------------------------------------------

for variant in kthread uthread static grq perm gmp tasksteal contsteal; do
    run $variant fib,n=4 --executions 300
    check "${variant}_is_right_in_300_executions" [ "$status $(tail -n 1 out)" = '0 nothing was found' ]
done
run gmp sleep_wake --executions 300 --algorithm pct
check pct_finds_nothing_in_a_right_variant [ "$status $(tail -n 1 out)" = '0 nothing was found' ]
run gmp echo,connections=2,messages=2 --executions 100
check descriptors_are_the_simulated_ones [ "$status $(tail -n 1 out)" = '0 nothing was found' ]
for variant in gmp,fence=submitter gmp,fence=sleeper contsteal,frames=pooled; do
    run $variant sleep_wake --executions 300 --memory tso
    check "${variant}_needs_no_more_fences" [ "$status $(tail -n 1 out)" = '0 nothing was found' ]
done
run contsteal,frames=pooled fib,n=4 --executions 300 --format json
check the_result_as_json grep -q '"executions": 300' out
check json_is_valid python3 -c 'import json; json.load(open("out"))'

for variant in kthread grq gmp tasksteal contsteal; do
    run $variant fib,n=4 --executions 200 --memory weak
    check "${variant}_is_right_with_weak_memory" [ "$status $(tail -n 1 out)" = '0 nothing was found' ]
done

# Memory does not grow with executions.
cat >peak.py <<'END'
import resource, subprocess, sys
subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, check=True)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
END
few=$(python3 peak.py "$schedlab" hunt gmp spawn,n=6 --executions 500)
many=$(python3 peak.py "$schedlab" hunt gmp spawn,n=6 --executions 20000)
check memory_stays_the_same [ $((many * 10)) -lt $((few * 11)) ]

# Something -----------------------------------------------------------------------------------------------------

for algorithm in random pct; do
    run gmp,recheck=before sleep_wake --executions 5000 --algorithm $algorithm
    check "${algorithm}_finds_work_left_lying" [ "$status $(grep -c '^failed: idle: ' out)" = '1 1' ]
    found=$(failure_of) again=$(replay_of)
    run $again
    check "${algorithm}_is_replayed" [ "$status $(failure_of)" = "1 $found" ]
    run gmp,recheck=before sleep_wake --executions 5000 --algorithm $algorithm --minimise
    check "${algorithm}_is_minimised" [ "$status $(grep -c 'replay: .*--replay schedule:' out)" = '1 1' ]
    check "${algorithm}_is_told_in_the_words_of_trace" grep -qE '^    P[01]   (stole|put G[0-9]+ into|left P[01] idle)' out
    check "${algorithm}_has_the_places_of_both_sides" \
        grep -qE '^\* thread [0-9] .* in [a-z_]+ \(.*\.[ch]:[0-9]+\).*; thread [0-9] goes on in [a-z_]+ \(.*\.[ch]:[0-9]+\)' out
    check "${algorithm}_has_lines_of_the_source" grep -q '(sched_variants/runtime/[a-z]*\.[ch]:[0-9]*)' out
    again=$(replay_of)
    run $again
    check "${algorithm}_minimised_is_replayed" [ "$status $(grep -c '^failed: idle: ' out)" = '1 1' ]
done
run gmp,recheck=before sleep_wake --executions 5000 --memory weak --minimise
check weak_memory_finds_work_left_lying [ "$status $(grep -c '^failed: idle: ' out)" = '1 1' ]
again=$(replay_of)
run $again
check weak_memory_is_replayed [ "$status $(grep -c '^failed: idle: ' out)" = '1 1' ]
run gmp,recheck=none sleep_wake --executions 5000 --format json
check a_failure_as_json [ "$status $(grep -c '"replay": "random:' out)" = '1 1' ]

run gmp,recheck=before sleep_wake --executions 5000 --format json --minimise
check a_story_as_json python3 -c '
import json
story = json.load(open("out"))["failure"]["story"]
events = [one for one in story if "event" in one]
switches = [one for one in story if "is" in one]
assert len(events) + len(switches) == len(story) and len(events) > 10 and switches
assert all(one["who"][0] in "PM" and one["event"] for one in events)
assert any(one["at"]["file"].startswith("sched_variants/") and one["at"]["line"] > 0 for one in switches)
assert any("label" in one["at"] for one in switches if one["at"])'
# Linked frames leave no event of a spawn: then it is the switches alone.
run contsteal,recheck=before sleep_wake --executions 20000 --minimise
check without_events_the_switches_are_told [ "$status $(grep -c '^switches that it takes' out) $(grep -c '^what happened' out)" = '1 1 0' ]

# The schedule that failed, as schedlab trace draws one.
run gmp,recheck=before sleep_wake --executions 5000 --format perfetto
check a_failure_as_perfetto python3 -c '
import json
told = json.load(open("out"))
other, events = told["otherData"], told["traceEvents"]
assert other["end"] == "idle" and other["replay"] in open("err").read() and other["events"] > 10
assert any(e["ph"] == "X" and e["name"] == "main" and e["dur"] > 0 for e in events)
assert {e["args"]["name"] for e in events if e.get("name") == "process_name"} == {"threads (M)", "processors (P)"}'
check its_failure_is_told_beside_it [ "$status $(grep -c '^failed: idle: ' err) $(grep -c '^replay: ' err)" = '1 1 1' ]
read -ra again <<<"$(sed -n 's/^replay: schedlab hunt //p' err)"
cp out first
run "${again[@]}" --format perfetto
check a_replay_has_the_same_schedule [ "$status $(cmp first out && echo same)" = '1 same' ]
run gmp sleep_wake --executions 3 --format perfetto
check without_a_failure_there_is_no_schedule one_line 0 'nothing was found, so there is no schedule to show'

# Three ways to lose a task in a pool with CPU permits; the scenario's defaults are among those that pass below.
for way in park=blind:deadlock release=quiet:deadlock tasks=yield,steal=dry:'a task lay in a queue'; do
    run kthread "cpu_permits,${way%%:*}" --executions 20000 --algorithm pos
    check "permits_${way%%:*}_is_found" [ "$status $(grep -c "^failed: .*${way#*:}" out)" = '1 1' ]
done
for memory in sc tso; do
    run kthread cpu_permits,tasks=yield --executions 2000 --memory $memory
    check "permits_with_yields_pass_under_$memory" [ "$status $(tail -n 1 out)" = '0 nothing was found' ]
done

# Jobs ----------------------------------------------------------------------------------------------------------

# All but the time must be the same, whatever failed.
counts_of() { python3 -c 'import json, sys; o = json.load(open("out")); del o["seconds"]; print(json.dumps(o, sort_keys=True))'; }
for variant in gmp gmp,recheck=before; do
    run $variant sleep_wake --executions 1001 --format json
    one=$(counts_of)
    for jobs in 2 3 0; do
        run $variant sleep_wake --executions 1001 --format json --jobs $jobs
        check "${variant}_is_the_same_with_${jobs}_jobs" [ "$(counts_of)" = "$one" ]
    done
done
# A job that dies is a finding, here by a trap; one that was ended from outside is none.
# jobs_die SIGNAL: leaves out, err, status.
jobs_die() {
    local parent
    timeout 600 "$schedlab" hunt gmp sleep_wake --executions 10000000 --jobs 2 >out 2>err </dev/null &
    until parent=$(pgrep -P $!) && pkill -"$1" -P "$parent"; do kill -0 $! || break; done
    wait $!
    status=$?
}
jobs_die TRAP
check a_job_that_dies_is_a_failure [ "$status $(grep -c '^failed: crash: its process ended: killed by SIGTRAP' out)" = '1 1' ]
check a_job_that_dies_has_a_replay grep -q '^replay: .*--replay random:' out
run $(replay_of)
check a_death_by_chance_is_not_replayed [ "$status $(cat out)" = '0 nothing failed in this execution' ]
for signal in TERM KILL; do
    jobs_die $signal
    check "a_job_ended_by_${signal}_is_no_finding" one_line 1 "was ended from outside (killed by SIG$signal)"
done
(ulimit -t 1 && timeout 600 "$schedlab" hunt gmp sleep_wake --executions 10000000 --jobs 2) >out 2>err </dev/null
status=$?
check no_more_processor_time_is_no_finding one_line 1 'was ended from outside (killed by SIG'

# Coverage ------------------------------------------------------------------------------------------------------

run gmp sleep_wake --executions 300 --coverage
for pair in 'L1 L2' 'Q1 Q2' 'I1 S3'; do
    check "coverage_has_${pair/ /_}_in_both_orders" grep -qE "^sched_variants/runtime/.* $pair +[1-9][0-9]* +[1-9][0-9]* +both$" out
done
check coverage_names_what_was_never_met grep -q '^  sched_variants/runtime/deque.h: D1-D2 ' out
check coverage_names_what_it_cannot_count [ "$(sed -n '/^not counted/,$p' out | grep -c 'lrq.h: Q6-Q7')" = 1 ]
check coverage_has_steps_that_crossed [ "$(sed -n '/^steps of a submitter/,$p' out | grep -cE '^  S[1-4]( +(both|before|after|never)){6}$')" = 4 ]
check the_steps_up_to_the_last_look_are_met [ "$(sed -n '/^steps of a submitter/,$p' out | grep -cE '^  S[123]( +(both|before|after)){4} ')" = 3 ]
check coverage_fails_nothing [ "$status $(tail -n 1 out)" = '0 nothing was found' ]
run tasksteal sleep_wake --executions 300 --coverage
check coverage_is_of_the_variant_that_runs [ "$(grep -c ' D1 D2 .* both$' out) $(grep -cE '^  .*lrq.h: .*Q1-Q2' out)" = '1 1' ]
run gmp sleep_wake --executions 1001 --coverage --format json
one=$(counts_of)
check coverage_as_json python3 -c '
import json
told = json.load(open("out"))["coverage"]
assert told["both"] >= 8 and told["left_out"] == 0
assert sum(told[word] for word in ("both", "one", "never", "fence")) == len(told["pairs"])
lock = next(pair for pair in told["pairs"] if pair["labels"] == ["L1", "L2"])
assert lock["orders"] == "both" and lock["first_before"] > 0 and lock["second_before"] > 0'
run gmp sleep_wake --executions 1001 --coverage --format json --jobs 3
check coverage_does_not_depend_on_jobs [ "$(counts_of)" = "$one" ]
# The word of a pair's row of a page.
row() { tr -d '\n' <out | grep -oE "<tr><td>[a-z]+</td><td>[^<]*</td><td>$1</td><td>$2</td>" | sed 's/<tr><td>\([a-z]*\).*/\1/'; }
run gmp sleep_wake --executions 300 --coverage --format page
check coverage_as_a_page [ "$status $(row L1 L2) $(tail -n 1 out)" = '0 both </html>' ]
check a_page_says_that_nothing_failed grep -q 'No execution failed' out
run gmp,recheck=before sleep_wake --executions 5000 --coverage --format page
check a_page_tells_a_failure [ "$status $(grep -c 'failed: idle: ' out) $(grep -c '^replay: .* --replay random:' out) $(tail -n 1 out)" = '1 1 1 </html>' ]
check a_page_needs_no_other_file [ "$(grep -ciE 'src=|href=|url\(|@import' out)" = 0 ]
run gmp,recheck=before sleep_wake --executions 5000 --coverage
check a_failure_has_coverage_too [ "$status $(grep -c '^coverage: ' out)" = '1 1' ]
run $(replay_of) --coverage
check a_replay_has_coverage_too [ "$status $(grep -c '^coverage: ' out)" = '1 1' ]
run gmp sleep_wake --executions 3
check coverage_takes_its_option [ "$status $(grep -c '^coverage: ' out)" = '0 0' ]
# Lines are found as tests/check/check_orders.sh finds orders, whose table has these labels.
(cd "$tree" && LC_ALL=C awk -f harness/hunt/labels.awk sched_variants/*.[ch] sched_variants/*/*.[ch]) |
    sed -n 's/^ *X("\([A-Z0-9]*\)", "\(.*\)", [0-9].*/\2 \1/p' | sort -u >labels
tail -n +2 "$tree/tests/check/orders.tsv" | grep -v '/machine/' | cut -f 1,2 --output-delimiter ' ' | sort -u >known
check labels_are_those_of_the_orders [ "$(wc -l <known) $(comm -13 labels known | wc -l)" = "$(wc -l <known) 0" ]

# Misuse --------------------------------------------------------------------------------------------------------

misuse variant_and_workload_are_needed 'one variant and one workload or scenario' -- gmp
misuse unknown_algorithm 'pct' -- gmp sleep_wake --algorithm pctt
misuse unknown_memory 'valid: sc, tso, weak' -- gmp sleep_wake --memory power
misuse unknown_variant 'the nearest is "gmp"' -- gmpp sleep_wake
misuse unknown_scenario 'sleep_wake' -- gmp sleep_wak
misuse parameters_of_scenarios_are_checked 'the nearest is "blind"' -- kthread cpu_permits,park=blnd
misuse parameters_are_checked 'valid: 0 to 45' -- gmp fib,n=-1
misuse a_clock_is_refused 'has no time here' -- gmp timers,n=4
misuse depth_is_of_pct '--depth comes with --algorithm=pct or delay' -- gmp sleep_wake --depth 3
misuse replay_is_one_execution '--replay is one execution' -- gmp sleep_wake --time 5s --replay random:1@0
for option in '--jobs 2' '--algorithm pct' '--depth 2'; do
    misuse "replay_has_its_own_${option:2:4}" "leave out ${option% *}" -- gmp sleep_wake ${option% *} ${option#* } --replay random:1@0
done
misuse a_schedule_is_of_one_hunt 'leave out --campaign' -- gmp sleep_wake --campaign --format perfetto
misuse a_schedule_has_no_coverage 'leave out --coverage' -- gmp sleep_wake --coverage --format perfetto
misuse linked_frames_leave_no_spawns 'valid: frames=pooled' -- contsteal fib,n=4 --format perfetto
misuse a_page_is_of_coverage 'valid with --coverage only' -- gmp sleep_wake --format page
misuse coverage_is_of_variants '--exhaustive is of a queue, not of a variant; leave out --coverage' -- --exhaustive deque --coverage
misuse another_program 'no longer applies' -- gmp sleep_wake --replay random:1@0
misuse no_execution 'is no execution' -- gmp sleep_wake --replay random
for depth in '' :0 :33 :-1 :4294967299; do
    misuse "replayed_depth_${depth#:}_is_none" 'with a depth of 1 to 32' -- gmp sleep_wake --replay "pct:1$depth@0"
done
misuse random_has_no_depth 'is no execution' -- gmp sleep_wake --replay random:1:3@0
misuse jobs_are_few 'valid: 0 to 256' -- gmp sleep_wake --jobs 257
misuse serial_is_no_scheduler 'serial' -- serial fib,n=4
run --scenarios
check scenarios_are_listed [ "$status $(grep -c '^sleep_wake ' out)" = '0 1' ]
cp out scenarios
# A campaign tells them apart by their names.
check no_scenario_has_the_name_of_a_variant \
    [ -z "$(comm -12 <(sed 's/ .*//' out | sort) <("$schedlab" list | sed '/^$/q; s/ .*//' | sort))" ]
check parameters_of_scenarios_are_listed grep -q '^cpu_permits .*; park: look, blind' out
while read -r scenario _; do
    variant=gmp
    [ "$scenario" != two_children ] || variant=tasksteal # which alone queues children of fork/join
    run $variant "$scenario" --executions 100 --workers 3
    check "${scenario}_passes_on_$variant" [ "$status $(tail -n 1 out)" = '0 nothing was found' ]
done <scenarios
run --help
check help_has_an_example [ "$status $(grep -c 'schedlab hunt gmp sleep_wake' out)" = '0 1' ]

finish
