#!/bin/bash
# test_trace.sh - schedlab trace: one small run as steps, a timeline, a file for Perfetto, Go's lines.
#
#     tests/program/test_trace.sh build/schedlab
#
# The expected steps are derived by hand from Go's rules and those of deques. Prints TAP.
. "$(dirname "$0")/../tap.sh"

# run ARGUMENT...: leaves out, err, status.
run() {
    timeout 600 "$schedlab" trace "$@" >out 2>err </dev/null
    status=$?
}

# Steps ---------------------------------------------------------------------------------------------------------

# One worker; main spawns G0 and G1: the second throws the first out of runnext, and runs first.
run gmp spawn,n=2 --workers 1
check steps_are_shown [ $status = 0 ]
check runnext_is_shown_before_the_queue grep -qE 'put G0 into its own queue +main +\(G1\) G0$' out
check then_the_third_runs grep -qE 'ran G1.* G1 +G0$' out
check rows_end_without_blanks sh -c '! grep -q " $" out'
cp out first
run gmp spawn,n=2 --workers 1
check the_same_run_is_the_same_table cmp -s first out
run gmp spawn,n=2 --workers 1 --warmup 2 --whole
check calls_before_it_come_first [ "$status $(grep -c 'created' first) $(grep -c 'created' out)" = '0 2 7' ]
run gmp spawn,n=2 --workers 1 --warmup 2
check the_table_begins_with_the_call_after_them [ "$(grep -c 'created' out) $(grep -m 1 -o 'created G[0-9]*' out)" = '2 created G4' ]
check warming_up_is_left_out grep -qE '^Left out: [1-9][0-9]+ events of start-up and warming up, 2 of the check; --whole shows them.$' out
for variant in kthread uthread static grq perm gmp tasksteal contsteal; do
    run $variant fib,n=9 --workers 3
    cp out first
    run $variant fib,n=9 --workers 3
    check "${variant}_is_the_same_twice" cmp -s first out
    check "${variant}_events_fit" sh -c '! grep -q "not fit" out'
done

# Start-up and the check are left out: from main's first step to where its answer is there, under the numbers of the
# whole. Left out are events of main and of idle workers alone. A check that is preempted (rounds=400000) is one too.
cat >cropped.py <<'END'
import json, sys
part, whole = (json.load(open(name)) for name in ("part", "whole"))
steps, all_steps, out = part["steps"], whole["steps"], part["left_out"]
assert whole["left_out"] == {"startup": 0, "check": 0} and min(out.values()) > 0, out
assert steps == all_steps[out["startup"]:len(all_steps) - out["check"]], out
assert steps[0]["index"] == out["startup"]
of = lambda step: step.get("g", step.get("task"))
before, behind = all_steps[:out["startup"]], all_steps[len(all_steps) - out["check"]:]
assert {of(s) for s in before + behind} == {None, "main"}, (before, behind)
assert [s["event"] for s in before if of(s)] == ["CREATED"] and steps[0]["event"] == "DISPATCHED", before
told = [s["event"] for s in behind if of(s)]
assert told[-2:] == ["RETURNED", "ENDED"] and set(told[:-2]) <= {"READIED", "PUT", "TAKEN", "DISPATCHED"}, told
assert all("(preempted)" in s["text"] for s in behind if s["event"] == "READIED"), behind
if "preempted" in sys.argv:
    assert told[0] == "READIED", told
END
cropped() { # WORKLOAD WORKERS VARIANT [preempted]
    run "$3" "$1" --workers "$2" --format json && cp out part
    run "$3" "$1" --workers "$2" --format json --whole && cp out whole
    python3 cropped.py "${4:-}" >out 2>&1
}
for variant in kthread uthread static grq perm gmp tasksteal contsteal; do
    check "${variant}_is_shown_from_main_to_its_answer" cropped fib,n=6 2 $variant
done
for program in gmp:matmul,n=32 uthread:fib,n=1 tasksteal:fib,n=1 gmp:arrivals,n=5; do
    check "${program//[:,=]/_}_is_shown_without_its_check" cropped "${program#*:}" 1 "${program%%:*}"
done
check a_check_that_is_preempted_is_left_out cropped uneven,tasks=200,rounds=400000 2 gmp preempted
run gmp fib,n=6 --workers 2 --most 10
check what_has_no_end_has_no_check grep -qx 'Left out: 2 events of start-up, 0 of the check; --whole shows them.' out
run gmp fib,n=6 --workers 2 --whole
check the_whole_begins_with_start_up sh -c 'grep -qE "^ +1 +0.000  P0 +got P0" out && ! grep -q "Left out" out'
cp out whole
run gmp fib,n=6 --workers 2 --from 0
check from_0_is_the_whole cmp -s out whole
run gmp fib,n=6 --workers 2 --format timeline
check a_timeline_leaves_them_out sh -c 'grep -q "^Left out: 2 events of start-up" out && ! grep -q "^0.000 to" out'
run gmp fib,n=6 --workers 2 --format perfetto
names=
json perfetto_says_what_is_left_out "j['otherData']['left_out'].startswith('Left out: 2 events of start-up') and
    min(e['ts'] for e in j['traceEvents'] if 'ts' in e) > 1"
run gmp fib,n=6 --workers 2 --only main --format timeline --whole
check the_whole_of_some_can_be_shown grep -q '^0.000 to' out
run gmp spawn,n=3 --workers 1 --only ended,main
check what_fits_start_up_alone_is_said grep -qx 'schedlab trace: no event fits --only=ended,main between start-up and the check; --whole shows those that do' err
misuse the_whole_and_a_part '--whole beside --from; valid: one of both' -- gmp fib --whole --from 1us
misuse go_s_lines_are_of_the_whole '--whole does not come with --format=schedtrace' -- gmp fib --whole --format schedtrace

# A program from a file has names of its own.
run gmp replay --workers 1
check functions_of_a_program_are_shown grep -qE '^  G0.1 +main.log$' out
run gmp replay --workers 1 --warmup 1 --format json
check functions_are_in_json_in_each_call python3 -c 'import json
functions = json.load(open("out"))["functions"]; assert functions["G0"] == functions["G1"] == "main.main", functions'
cat >named.slp <<'END'
schedlab-program 2
goroutine first main.serve
run 20us
begin short
run 20us
done
begin
run 10us
done
go second
end
goroutine second main.log
begin long
run 60us
done
end
END
run gmp replay,file=named.slp --workers 1
check requests_of_a_program_are_shown grep -qE '^ +[0-9.]+ +[0-9.]+  first \(main.serve\): short$' out
check requests_without_a_name_are_shown grep -qE '^ +[0-9.]+ +[0-9.]+  first \(main.serve\)$' out
for warmup in 0 1; do
    run gmp replay,file=named.slp --workers 1 --warmup $warmup --format json
    check "requests_of_call_${warmup}_have_their_times" python3 -c 'import json; requests = json.load(open("out"))["requests"]
assert [(r["goroutine"], r["name"]) for r in requests] == [("first", "short"), ("first", ""), ("second", "long")], requests
assert all(abs(r["to_us"] - r["from_us"] - us) < 6 for r, us in zip(requests, (20, 10, 60))), requests
assert 0 <= requests[0]["to_us"] <= requests[1]["from_us"] + 1 <= requests[2]["from_us"] + 2, requests'
done
run gmp replay,file=named.slp,copies=3 --workers 1 --warmup 1 --format json
check each_copy_is_shown_by_its_number python3 -c 'import json; shown = json.load(open("out"))
functions, requests = shown["functions"], shown["requests"]
assert [functions[f"G{i}"] for i in range(6)] == 2 * [f"main.serve, copy {n}" for n in (1, 2, 3)], functions
assert functions["G1.0"] == "main.log, copy 2" and functions["G5.0"] == "main.log, copy 3", functions
assert [(r["goroutine"], r["name"]) for r in requests] == [(f"{g}, copy {n}", name) for n in (1, 2, 3)
    for g, name in (("first", "short"), ("first", ""), ("second", "long"))], requests
assert all(0 <= r["from_us"] < r["to_us"] for r in requests), requests'
run gmp replay,file=named.slp --workers 1 --format page
check its_page_says_what_a_replay_cannot_tell grep -q 'A replay has no garbage collector' out
run gmp replay,file=named.slp --workers 1 --format timeline
check a_timeline_tells_their_functions grep -qE '^  G0\.0 +main\.log$' out
run gmp replay,file=named.slp --workers 1 --warmup 1 --format timeline --output named.svg
check a_figure_names_bars_by_them grep -q 'main\.log' named.svg
run gmp replay,file=named.slp --workers 1 --format perfetto
check a_program_has_its_names_in_perfetto python3 -c 'import json; events = json.load(open("out"))["traceEvents"]
slices = [e for e in events if e.get("cat") == "goroutine"]; assert {"G0 main.serve", "G0.0 main.log"} <= {e["name"] for e in slices}, slices
requests = [(e["name"], e["ph"], e["id"], e["args"]["function"]) for e in events if e["ph"] in "be"]
assert requests == [(n, p, i + 1, f) for i, (n, f) in enumerate((("short", "main.serve"), ("request", "main.serve"), ("long", "main.log")))
                    for p in "be"], requests
ran, = [e for e in slices if e["name"] == "G0.0 main.log" and e["pid"] == 1]
begin, = [e["ts"] for e in events if e["ph"] == "b" and e["name"] == "long"]
assert ran["ts"] <= begin <= ran["ts"] + ran["dur"], (ran, begin)'
start=$(python3 -c 'import json; print(*["%dns" % ((e["ts"] - 1) * 1000) for e in json.load(open("out"))["traceEvents"] if e["ph"] == "e" and e["name"] == "short"])')
run gmp replay,file=named.slp --workers 1 --to "$start" --format json
check a_part_has_the_requests_that_begin_in_it python3 -c 'import json; requests = json.load(open("out"))["requests"]
assert [r["name"] for r in requests] == ["short"], requests'
run gmp spawn,n=2 --workers 1 --format json
check other_workloads_have_no_requests sh -c '! grep -q "\"requests\"" out'
run gmp spawn,n=2 --workers 1
check other_workloads_have_none sh -c '! grep -q "Functions of" out'

# Where each queue is: a Chase-Lev deque per P, one global queue, a queue per thread.
run contsteal fib,n=4,spawn=both --workers 1
check the_parent_is_queued_not_the_child grep -qE 'ran G0 +G0 \| main$' out
check parents_queue_up_oldest_first grep -qE 'ran G0\.0\.0 +G0\.0\.0 \| main G0 G0\.0$' out
COLUMNS=150 run tasksteal fib,n=4,spawn=both --workers 1
check children_queue_up_oldest_first grep -qE 'spawned T0\.1 +main\* T0 +T0\.0 T0\.1$' out
check the_newest_child_is_run_on_the_parents_stack grep -qE 'began T0\.1 +main\* T0\* T0\.1 +T0\.0$' out
run grq fib,n=4,spawn=both --workers 1
check the_global_queue_has_a_column grep -qE 'put G0\.1 into the global queue +G0 \| \| G0\.0 G0\.1$' out
run perm fib,n=5 --workers 2
check lanes_are_threads_where_queues_hang_on_them grep -qE '^ step +us +M ' out

# Where not all workers fit beside one another, rows below an event have those that changed with it: the narrow table
# says no less than the wide one.
cat >same.py <<'END'
import re, sys
wide, narrow = (open(name).read().split("\n\n", 1)[1].splitlines() for name in ("wide", "narrow"))  # without titles
head = wide[0]
starts = [m.start() for m in re.finditer(r"[PM]\d+ runs|queue|global", head)]
def states(row):  # "RUNS | QUEUE" of each lane, and the global queue
    cells = [row[a:b].strip() for a, b in zip(starts, starts[1:] + [None])]
    return [" | ".join(filter(None, pair)) for pair in zip(cells[:-1:2], cells[1::2])], cells[-1]
at = narrow[0].index("runs | queue | global")
entries = []  # step, [(lane, text)...]
for row in narrow[1:]:
    if not row:
        break
    step, lane, text = row[:5].strip(), row[18:narrow[0].index("event")].strip(), row[at:].strip()
    if step:
        entries.append([int(step), [(lane, text)]])
    elif lane:
        entries[-1][1].append((lane, text))
    else:  # a long cell goes on
        entries[-1][1][-1] = (entries[-1][1][-1][0], (entries[-1][1][-1][1] + " " + text).strip())
wide_rows = wide[1:wide.index("")]
assert len(entries) == len(wide_rows) > 20
now = ["-" if "P0 runs" in head else ""] * (len(starts) // 2)  # threads are there from the beginning
for (step, rows), row in zip(entries, wide_rows):
    lanes, everyone = states(row)
    assert int(row[:5]) == step
    for i, (lane, text) in enumerate(rows):
        parts = [part.strip() for part in text.split("|")]
        if i == 0:
            assert (parts[2] if len(parts) > 2 else "") == everyone, (row, rows)
        if lane[0] == head[starts[0]]:  # else a thread without a P, or sysmon
            now[int(lane[1:])] = " | ".join(filter(None, parts[:2]))
    assert now == lanes, (row, rows, now)
END
says_no_less() { # VARIANT WORKLOAD WORKERS
    COLUMNS=900 run "$1" "$2" --workers "$3"
    cp out wide
    run "$1" "$2" --workers "$3"
    cp out narrow
    awk 'length > 80 { exit 1 }' narrow && ! grep -q ' $' narrow && python3 same.py 2>out
}
for variant in kthread grq perm gmp tasksteal contsteal; do
    check "${variant}_says_no_less_in_80_columns" says_no_less $variant uneven,tasks=12,rounds=4000 4
done
check blocking_calls_say_no_less_in_80_columns says_no_less gmp calls,n=2,measure=handoff 3
run gmp fib,n=5 --workers 4 --output file
check a_file_has_all_workers_side_by_side grep -q 'P0 runs .*P3 runs ' file

# More Gs than a ring of 256 holds: half of it goes to the global queue, with the one that did not fit.
run gmp spawn,n=400 --workers 1 --format json --most 20000
json an_overflow_moves_half_and_one "[len(s['global']) for s in j['steps'] if s['event'] == 'OVERFLOWED'][0] == 129 and j['odd'] == 0"
json the_ring_never_holds_more_than_256 "max(len(s['lanes'][0]['queue']) for s in j['steps']) == 256"
json all_are_gone_at_the_end "not j['steps'][-1]['global'] and not j['steps'][-1]['lanes'][0]['queue']"

# After a steal of many, the last one runs, and those before it go into the thief's queue.
run gmp uneven,tasks=60,rounds=4000 --workers 3 --format json --most 5000
names="steps = j['steps']
batches = [(steps[i], next(t for t in steps[i:] if t['event'] == 'TAKEN' and t['m_self'] == steps[i]['m_self']))
    for i in range(len(steps)) if steps[i]['event'] == 'STOLEN' and steps[i]['gs'] > 1]"
json a_stolen_batch_is_the_thiefs_at_once "batches and all(len(s['lanes'][s['p_self']]['queue']) == s['gs'] - 1 for s, t in batches)"
json rows_do_not_go_back "all(a['when_ps'] <= b['when_ps'] for a, b in zip(j['steps'], j['steps'][1:]))"
json a_batch_of_n_leaves_the_thief_n_less_one "batches and j['odd'] == 0 and
    all(len(t['lanes'][t['p_self']]['queue']) == s['gs'] - 1 for s, t in batches)"

# A queue is as long as it is, and shown up to its 300th place.
run grq spawn,n=400 --workers 1 --format json
json a_long_queue_is_told_in_part "max(s['global_length'] for s in j['steps']) == 400 and max(len(s['global']) for s in j['steps']) == 300"

run gmp spawn,n=400 --workers 1 --most 10
check what_is_not_kept_is_said grep -qE '^Of [0-9]+ events the first 10 were kept' out
run gmp fib,n=6 --workers 16 --machine sim:server64
check many_workers_fit_a_narrow_table awk 'length($0) > 150 { exit 1 }' out

# Other forms ---------------------------------------------------------------------------------------------------

# A file for ui.perfetto.dev: complete slices that do not cross on a track, arrows with both ends, counters.
perfetto="e = j['traceEvents']
slices = [x for x in e if x['ph'] == 'X' and x['cat'] != 'arrow']
tracks = {(x['pid'], x['tid']) for x in slices}
named = {(x['pid'], x['tid']) for x in e if x['ph'] == 'M' and x['name'] == 'thread_name'}
starts = [x['id'] for x in e if x['ph'] == 's']
ends = [x['id'] for x in e if x['ph'] == 'f']
counters = {x['name'] for x in e if x['ph'] == 'C'}
def nest(track):
    open = []
    for x in sorted((x for x in slices if (x['pid'], x['tid']) == track), key=lambda x: (x['ts'], -x['dur'])):
        while open and open[-1] <= x['ts'] + 1e-9: open.pop()
        if open and x['ts'] + x['dur'] > open[-1] + 1e-6: return False
        open.append(x['ts'] + x['dur'])
    return True"
for variant in gmp tasksteal contsteal perm; do
    run $variant uneven,tasks=60,rounds=4000 --workers 3 --format perfetto
    names=$perfetto
    json "${variant}_slices_nest_on_each_track" "len(tracks) >= 4 and tracks <= named and all(nest(t) for t in tracks)"
    json "${variant}_arrows_have_both_ends" "starts and sorted(starts) == sorted(ends)"
    json "${variant}_has_arrows_of_steals_and_wakes" "{x['name'] for x in e if x['ph'] == 's'} == {'steal', 'wake-up'}"
    json "${variant}_counts_queues" "any(c.startswith('queue of ') for c in counters) and
        all(x['args']['length'] >= 0 for x in e if x['ph'] == 'C')"
done

run gmp uneven,tasks=60,rounds=4000 --workers 3 --format timeline
check a_timeline_of_characters_has_a_lane_each [ "$(grep -cE '^P[0-2] ' out)" = 6 ]
check it_fits_80_columns awk 'length($0) > 80 { exit 1 }' out
check it_names_steals grep -qE 'us  P[12] stole G[0-9]+ from P[0-2]$' out
for ending in svg pdf png; do
    run gmp uneven,tasks=60,rounds=4000 --workers 3 --format timeline --output figure.$ending
    check "it_is_drawn_as_$ending" [ $status = 0 -a -s figure.$ending ]
done
check the_figure_has_lanes_and_queues sh -c 'grep -q ">P2<" figure.svg && grep -q ">queued<" figure.svg && grep -q ">global<" figure.svg'
check it_names_goroutines grep -q '>main<' figure.svg

run gmp uneven,tasks=200,rounds=4000 --workers 2 --format schedtrace --every 20us
check go_s_lines_are_printed grep -qE '^SCHED 0ms: gomaxprocs=2 .* schedticks=\[ [0-9]+ [0-9]+ \] wastedns=[0-9]+$' out
mv out all
run gmp uneven,tasks=200,rounds=4000 --workers 2 --format schedtrace --every 20us --from 0 --to 1s
check lines_of_all_times_are_all cmp out all
run gmp uneven,tasks=200,rounds=400000 --workers 2 --format schedtrace --every 1ms --scheddetail
awk '/^SCHED/ { shown = $2 + 0 >= 9 && $2 + 0 <= 13 } shown' out >part
run gmp uneven,tasks=200,rounds=400000 --workers 2 --format schedtrace --every 1ms --scheddetail --from 9ms --to 13ms
check lines_are_cropped_with_their_details [ -s part -a "$(grep -c '^  M' part)" -gt 1 -a "$(cmp part out)" = "" ]
run gmp uneven,tasks=200,rounds=400000 --workers 2 --format schedtrace --every 1ms --from 9s
check no_line_of_that_time_is_a_failure [ "$status $(wc -l <err) $(grep -c 'no line between --from and --to: the first is at [0-9]* ms, the last at' err)" = '1 1 1' ]
run gmp fib,n=3 --format schedtrace --every 1s
check that_none_was_due_is_said [ $status = 0 -a ! -s out ]
check it_says_how_to_have_some grep -q 'before the first line was due, after 1000 ms; --every takes less' err
run gmp uneven,tasks=200,rounds=4000 --workers 2 --format schedtrace --every 20us --scheddetail
check with_details grep -qE '^  P0: status=' out

# A part of it: the same rows as of the whole, with the same numbers and contents. An event of less than half a
# nanosecond before is printed as of the first one too.
run gmp order,n=20,mode=steal --workers 2 --output whole
run gmp order,n=20,mode=steal --workers 2 --from 93us --to 94 --output part
check a_part_is_of_the_whole sh -c 'grep -E "^ +[0-9]+ " part >rows && [ "$(wc -l <rows)" -gt 20 ] && grep -qE "^ +[0-9]+ +93" rows &&
    ! grep -vE "^ +[0-9]+ +9[34]\." rows && inner() { grep -E "^ +[0-9]+ +93\." "$1" | grep -v " 93\.000 " | tr -s " "; } &&
    inner whole >all && inner rows | cmp - all'
check it_says_which_part grep -q '93 to 94 us of it' part
run gmp order,n=20,mode=steal --workers 2 --from 93us --to 94us --format json
names=
json parts_are_cropped_in_json_too "0 < len(j['steps']) < j['happened'] and j['steps'][0]['lanes'][0]['runs'] == 'main'"
run gmp order,n=20,mode=steal --workers 2 --from 90us --to 130us --format timeline
check a_timeline_is_cropped grep -q '^90.000 to 130.000 us' out
run gmp order,n=20,mode=steal --workers 2 --from 91us --to 101us --format perfetto
json slices_are_cropped "all(91 <= e['ts'] and e['ts'] + e.get('dur', 0) <= 101.0001 for e in j['traceEvents'] if 'ts' in e)"
run gmp order,n=20,mode=steal --workers 2 --from 9s
check nothing_is_left_is_a_failure [ $status = 1 ]
run gmp order,n=20,mode=steal --workers 2 --from 20us --to 30us
check it_says_what_is_nearest grep -qE 'the nearest are at 1[0-9.]+ and 9[0-9.]+ us' err
run gmp order,n=20,mode=steal --workers 2 --from 92.8us --to 0.0931ms
check times_have_decimals grep -q '92.8 to 93.1 us of' out
misuse a_time_that_is_none 'ms (as in 200ms, 1.5ms)' -- gmp fib --from 1.us
misuse another_time_that_is_none 'ms (as in 200ms, 1.5ms)' -- gmp fib --from .5us

# Some events of it, in every form.
three="gmp uneven,tasks=60,rounds=4000 --workers 3"
run $three --format json
cp out every
run $three --only stolen,woken --format json
names="all = json.load(open('every'))['steps']"
json kinds_are_chosen "j['steps'] == [s for s in all if s['event'] in ('STOLEN', 'WOKEN')] and j['steps']"
run $three --only G3,main --format json
json goroutines_are_chosen "j['steps'] == [s for s in all if s.get('g') in ('G3', 'main')] and len(j['steps']) > 10"
run $three --only P1,STOLEN --format json
json sorts_have_to_fit_each "j['steps'] == [s for s in all if s['event'] == 'STOLEN' and s['p_self'] == 1] and j['steps']"
run gmp slice,chunks=40000 --workers 1 --only sysmon
check sysmon_is_a_worker [ "$(grep -cE '^ +[0-9]+ +[0-9.]+ +sysmon +asked M0' out)" = "$(grep -cE '^ +[0-9]+ ' out)" ]
names=
run $three --only P1 --format timeline
check a_timeline_has_the_lanes_that_are_named sh -c '[ "$(grep -cE "^P1 +\.*[0-9a-zA-Z@+]" out)" = 2 ] && [ "$(grep -cE "^P[02] +\.+$" out)" = 4 ]'
run $three --only G3 --format perfetto
json perfetto_has_the_goroutine_alone "{e['name'] for e in j['traceEvents'] if e['ph'] == 'X'} == {'G3'}"
misuse a_word_that_is_none 'the nearest is "stolen"; goroutines are main, G3' -- gmp fib --only stoln
misuse two_lists 'is given beside --only=G3' -- gmp fib --only G3 --only G4
misuse an_empty_word 'is no kind of event, goroutine or worker' -- gmp fib --only G3,
misuse go_s_lines_have_no_choice '--only does not come with --format=schedtrace' -- gmp fib --only G3 --format schedtrace
run gmp fib,n=3 --only G99
check none_that_fits_is_a_failure sh -c '[ "$(cat err)" = "schedlab trace: no event fits --only=G99" ]'

misuse no_part_at_all_is_a_misuse '--to is no later than --from' -- gmp fib --to 0
run gmp order,n=20,mode=steal --workers 2 --from 9s
check it_says_where_the_end_is grep -q 'no event between --from and --to: the last one is at ' err

# Stepping on a terminal: what keys show, and that the terminal is put right.
cat >play.py <<'END'
import fcntl, os, pty, select, struct, sys, termios
def seen(master, wanted):
    text = b''
    while wanted not in text and select.select([master], [], [], 60)[0]:
        try:
            part = os.read(master, 65536)
        except OSError:  # it has ended
            part = b''
        if not part:
            break
        text += part
    return text.decode()
pid, master = pty.fork()
if pid == 0:
    os.environ.pop('COLUMNS', None)
    if 'ROWS' in os.environ:
        fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack('4H', int(os.environ['ROWS']), int(os.environ.get('WIDE', 80)), 0, 0))
    os.execv(sys.argv[1], sys.argv[1:])
before = termios.tcgetattr(master)[3]
shown = [seen(master, b'q quit')]
for keys in (b'n', b'\x1b[C', b'N', b'b', b'G', b'g', b'x'):
    os.write(master, keys)
    shown.append(seen(master, b'q quit'))
os.write(master, b'q')
end = seen(master, b'?1049l')
status = os.waitpid(pid, 0)[1]
steps = [text.split('\nstep ')[1].split(' ')[0] if '\nstep ' in text else '?' for text in shown]
print(' '.join(steps), status, '?1049l' in end)
print('lines', max(text.count('\n') for text in shown) + 1)
print(shown[3])
END
python3 play.py "$schedlab" trace gmp order,n=5 --workers 1 --play >out 2>err
check keys_go_on_and_back grep -qE '^3 4 5 15 14 ([0-9]+) 3 3 0 True' out
check it_says_how_to_see_start_up grep -q 'seed 1 (--whole: all)' out
check boxes_are_shown grep -qE '\(G[0-9]\)' out
python3 play.py "$schedlab" trace gmp order,n=5 --workers 2 --play >out 2>err
check an_empty_runnext_and_free_cells_are_shown grep -qE '^     \( \)(\[ \])+' out
python3 play.py "$schedlab" trace gmp,runnext=off order,n=5 --workers 2 --play >out 2>err
check without_runnext_there_is_no_slot [ "$(grep -c '( )' out)$(grep -cE '^     \[ \]' out)" = 01 ]
# With fewer rows less is shown, and each picture fits: 13 rows have all of one worker.
for rows in 24 13 12 9 7 6 5; do
    ROWS=$rows python3 play.py "$schedlab" trace gmp order,n=5 --workers 3 --play >out 2>err
    check "${rows}_rows_show_as_much_as_they_can" sh -c 'grep -qE "^3 4 5 15 14 ([0-9]+) 3 3 0 True" out && grep -q " P0 put G2 into runnext" out && grep -qE "^lines ($1|$(($1 - 1)))$" out' - $((rows < 24 ? rows : 17))
done
# Ps that have no room are told, in a line of their own or in the place of the title; no line is broken by a narrow terminal.
for rows in 24 10 7; do
    ROWS=$rows WIDE=40 python3 play.py "$schedlab" trace gmp order,n=5 --workers 8 --play >out 2>err
    check "${rows}_rows_tell_how_many_ps_are_hidden" grep -qE "and [1-7] more Ps: make the terminal taller" out
    check "${rows}_rows_of_40_are_not_broken" python3 -c 'import re
lines = re.sub("\033\\[[0-9;?]*[a-zA-Z]", "", open("out").read()).split("\n")[2:]
assert lines and all(len(line.rstrip("\r")) <= 40 for line in lines), max(lines, key=len)'
done
ROWS=4 python3 play.py "$schedlab" trace gmp order,n=5 --workers 1 --play >out 2>err
check four_rows_are_too_few grep -q '^? ? ? .* 512 False' out
python3 play.py "$schedlab" trace gmp order,n=5 --workers 1 --only put --play >out 2>err
check keys_go_from_one_that_is_shown_to_the_next grep -qE '^6 9 10 [0-9]+ [0-9]+ ([0-9]+) 6 6 0 True' out
run gmp order,n=5 --workers 1 --play
cp out played
run gmp order,n=5 --workers 1
check without_a_terminal_it_is_the_table cmp -s out played

# The textbook's fib(4) ------------------------------------------------------------------------------------------

# Which rows are as in the book, and what is there instead, is what the variants do; the book's own numbers are data.
run --replay fib4
check the_book_is_replayed [ $status = 0 ]
rows_marked() { # TABLE MARK: the numbers of the rows of the nth table with this mark
    awk -v want="$1" -v mark="$2" '/processors?: / { table++ } table == want && $2 == mark && $1 + 0 { printf "%s ", $1 }' out
}
check task_stealing_is_as_in_the_book [ "$(rows_marked 1 =)" = "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 " ]
check continuation_stealing_differs_in_four_rows [ "$(rows_marked 2 !)" = "10 11 13 14 " ]
check an_erratum_is_told_from_a_difference [ "$(rows_marked 2 e)" = "6 12 " ]
check a_row_with_an_erratum_is_not_as_printed [ "$(rows_marked 2 =)" = "1 2 3 4 5 7 8 9 " ]
check plain_calls_are_as_in_the_book_but_for_errata [ "$(rows_marked 3 =)/$(rows_marked 3 e)" = "1 12 /2 3 4 5 6 7 8 9 10 11 " ]
check what_is_printed_stands_below sh -c 'grep -A 1 "^  4 e fib(2) " out | grep -qE "^ book fib\(2\) +main, c\(fib\(4\)\), c\(fib\(3\)\)$"'
check and_beside_what_differs_too sh -c 'grep -A 1 "^ 11 !" out | grep -qE "^ book fib\(1\) +c\(main\)\*, fib\(4\)\*$"'
check the_static_partition_is_as_in_the_book [ "$(rows_marked 4 =)" = "1 2 3 " ]
check a_processor_idles_while_a_task_is_left grep -qE '^  3 = idle +T4$' out
check a_waiting_task_keeps_its_processor [ "$(rows_marked 5 =)" = "1 2 3 4 5 " ]
check the_second_is_blocked_before_the_first_idles sh -c 'grep -E "^  [2345] = (blocked|T[13]) +(T[24]|idle)$" out | tr -s " " | tr "\n" "/" |
    grep -qx " 2 = T3 T2/ 2 = blocked T2/ 3 = blocked T4/ 4 = T1 idle/ 5 = T3 idle/"'
check who_waited_is_counted sh -c 'grep "task or main waited" out | tr -s " " | tr "\n" "/" | grep -qx " times a task or main waited - 1/ times a task or main waited - 2/"'
check thefts_are_counted sh -c 'grep thefts out | tr -s " " | tr "\n" "/" | grep -qx " thefts - 2/ thefts - 2/ thefts - 0/"'
check the_rows_add_up sh -c 'grep -cE "^(15 of 15|8 of 14|2 of 12) rows are as in the book" out | grep -qx 3'
check the_parent_goes_on_where_its_last_child_returned grep -qE '^ 13 ! 3! +c\(main\)\*$' out
check the_run_says_what_it_did_there grep -qxF '  row 10: T1 popped c(fib(3)), spawned fib(1), pushed c(fib(3))' out
check and_where_the_parent_went_on grep -qF '  row 13: T1 went on with c(fib(4)),' out
check an_erratum_is_seen_in_the_run grep -qF '  row 12: T1 returned from fib(1), popped c(fib(3)), returned from fib(3)' out
check only_where_it_differs [ "$(grep -oE '^  row [0-9]+' out | tr -dc '0-9\n' | tr '\n' ' ')" = "6 10 11 12 13 14 2 3 4 5 6 8 9 11 " ]
check the_value_is_3_and_not_4 sh -c 'grep -qE "^ 15 = main 3!$" out && ! grep -q "4!" out'
check the_longest_deque_is_corrected grep -qE 'longest deque of one processor +2 +1  the book.s number is the sum over both' out
check stalled_joins_are_counted sh -c 'grep -E "stalled joins" out | tr -s " " | head -n 2 | tr "\n" "/" | grep -qx " stalled joins 3 3/ stalled joins 2 2/"'
check joins_that_wait_are_the_variant_s_count sh -c 'grep "for a stolen child" out | tr -s " " | tr "\n" "/" | grep -qx " of them for a stolen child - 1/ of them for a stolen child - 2/ of them for a stolen child - 0/"'
cp out first
run --replay fib4
check the_replay_is_always_the_same cmp -s first out
run --replay fib4 --policy task --processors 2
check one_table_can_be_had [ "$(grep -c 'rows are as in the book' out)" = 1 ]

# Examples of accounts --------------------------------------------------------------------------------------------

# rows is "NUMBER MARK CELLS" of each row of the run, and "told CELLS" of the account where it differs.
rows() { tr -s ' ' <out | sed -nE 's/^ ([0-9]+ [=!] .*|told .*[^ ]) ?$/\1/p'; }
run --replay loop
check a_loop_of_20_prints_19_and_then_0_to_18 sh -c 'tr -s " " <out | grep -qx " 1 ! G19 G0 G1 G2 G3 G4 G5 G6 G7 G8 G9 G10 G11 G12 G13 G14 G15 G16 G17 G18"'
check the_account_s_line_is_that_of_a_loop_of_10 sh -c 'tr -s " " <out | grep -qx " 1 = G9 G0 G1 G2 G3 G4 G5 G6 G7 G8"'
check how_true_it_is_is_said grep -q '^The account is wrong. ' out
check go_itself_runs_or_says_why_not grep -qE '^Go itself, order,n=20: (ran 19 0-18\.|not run: )' out
run --replay stealing
check nine_goroutines_are_in_their_places [ "$(rows | sed -n 1p)" = '1 = G1 G3 G5 G7 G2 G4 G6 G8 G9' ]
check the_global_queue_comes_before_a_theft [ "$(rows | sed -n 3,4p)" = "$(printf '3 ! G9 G2 G4 G6 G8\ntold G4 G6 G2 G8 G9')" ]
check half_is_stolen_and_the_younger_runs [ "$(rows | sed -n 5p)" = '4 ! G6 G4 G2 G8' ]
run --replay handoff
check four_goroutines_are_in_their_places [ "$(rows | sed -n 1p)" = '1 = 0.00 M0 G1 G2 G3 G4' ]
check the_p_stays_with_the_call [ "$(rows | sed -n 2,3p)" = "$(printf '2 ! 0.10 M0 G2 G3 G4 G1 on M0\ntold - M1 G2 G3 G4 G1 on M0')" ]
check it_is_handed_off_later [ "$(rows | sed -nE '4s/0\.[1-9][0-9]/T/p')" = '3 = T M1 G2 G3 G4 G1 on M0' ]
check the_call_returns_to_the_global_queue [ "$(rows | sed -nE '5s/[0-9.]+ M1/T M1/p')" = '4 ! T M1 G2 G3 G4 G1' ]
run --replay slice
check a_slice_is_handed_on [ "$(rows | sed -n '1p;3p;5p')" = "$(printf '1 ! 0 G1 for 0.0 ms W\n2 ! 3 G2 for 3.0 ms W\n3 ! 7 G3 for 7.0 ms W')" ]
check to_one_that_is_readied_too [ "$(rows | grep -v ^told | sed -n 6,7p)" = "$(printf '1 ! 0 G1 for 0.0 ms W\n2 ! 7 G2 for 7.0 ms W')" ]
check none_has_a_budget [ "$(rows | sed -n 2p)" = 'told 0 G1 10 ms left W' ]
check it_is_asked_to_end_after_10_to_20_ms [ "$(rows | grep -cE '^[34] ! 1[1-9] G[23] for 1[1-9]\.[0-9] ms, asked to end W$')" = 2 ]
check who_waits_runs_then_in_its_own_slice [ "$(rows | grep -cE '^[45] ! (1[1-9]|20) W for 0\.0 ms$')" = 2 ]
run --replay channel
check a_receiver_goes_into_runnext [ "$(rows | sed -n 2,3p)" = "$(printf '2 ! 0 S (R) A B main\ntold 0 S A B R main')" ]
check and_runs_before_those_that_compute [ "$(rows | sed -n 4,5p)" = "$(printf '3 ! 0 R A B main S\ntold 20 R main S')" ]
run --replay fib-channels
check fib_over_channels_is_a_chain [ "$(rows | sed -n '3p;5p;7p')" = "$(printf '3 ! fib(4) fib(3) main\n4 ! fib(3) main fib(4)\n5 ! fib(2) main fib(4) fib(3)')" ]
check and_ends_with_main [ "$(rows | tail -n 1)" = '6 = main' ]
run --replay list
check the_list_names_all_files [ "$(awk 'NR > 1 && /^[^ ]/ { print $1 }' out | sort -u)" = "$(cd "$tree/harness/replays" && ls ./*.yaml | sed 's/^..//; s/.yaml$//')" ]
sed -n 's/^  schedlab trace //p' out >commands
check each_of_its_commands_runs sh -c 'while read -r line; do "$1" trace $line >/dev/null 2>&1 || exit 1; done <commands' - "$schedlab"
check it_fits_a_terminal [ -z "$(grep -E '.{81}' out)" ]
run --replay list --output list.txt
check it_can_go_to_a_file [ "$(cmp list.txt <("$schedlab" trace --replay list) && cat out)" = '' ]
misuse its_folder_has_to_be_there '--output: cannot write /nowhere/x' -- --replay list --output /nowhere/x
cat >replays.py <<'END'
import json, subprocess, sys
def replay(name): return json.loads(subprocess.run([sys.argv[1], "trace", "--replay", name, "--format", "json"], capture_output=True, check=True).stdout)
listed = replay("list")
assert len(listed) == len(open("commands").readlines()) and all(len(example) == 6 for example in listed)
stealing, book = replay("stealing"), replay("fib4")
row = stealing["pictures"][0]["rows"][2]
assert (row["told"], row["run"], row["agrees"]) == (["G4", "G6", "G2", "G8", "G9"], ["G9", "", "G2", "G4 G6 G8", ""], False)
assert [sum(row["agrees"] for row in table["rows"]) for table in book["tables"]] == [15, 8, 2, 3, 5]
for one in [stealing, *book["tables"]]:
    of, = [example for example in listed if example["title"] == one["title"]]
    assert (of["degree"], of["claims"]) == (one["degree"], one["claims"])
END
check json_has_the_same python3 replays.py "$schedlab"
cat >degrees.py <<'END'
import pathlib, re, sys
root = pathlib.Path(sys.argv[1]) / "harness"
of, names = {}, {}
text = (root / "experiments/claims.yaml").read_text()
for id, degree, anchor, who, alias in re.findall(r'id: "(.*?)", degree: (\w+), who: (?:&(\w+) "(.*?)"|\*(\w+))', text):
    names[anchor] = names.get(anchor, who)
    of[id] = (degree, who or names[alias])
for path in sorted((root / "replays").glob("*.yaml")):
    example = path.read_text()
    who = re.search(r'^account: "?(.*?)"?$', example, re.M)[1]
    judged = [(claims.split(", "), degree) for claims, degree in re.findall(r'claims: "(.*?)"\n *degree: (\w+)', example)]
    assert judged and len(judged) == len(re.findall("^ *degree: ", example, re.M)), path
    for ids, degree in judged:
        assert set(ids) <= set(of) and of[ids[0]] == (degree, who), (path, ids)
    named = re.findall(r'id: "(.*?)", .*? replay: %s,' % path.stem, text)
    assert sorted(named) == sorted({id for ids, _ in judged for id in ids}), (path, named)
END
check degrees_are_those_of_the_claims python3 degrees.py "$tree"
mkdir -p lab/build lab/harness/replays
cp "$schedlab" lab/build/schedlab
cp -r "$tree/harness/machines" lab/harness/
ln -s "$(realpath "$tree/build/schedlab-sim")" lab/build/schedlab-sim
# wrong NAME LINE SED PART: `slice` with that change is refused at that line, and the message has PART.
wrong() {
    sed "$3" "$tree/harness/replays/slice.yaml" >lab/harness/replays/slice.yaml
    lab/build/schedlab trace --replay slice >out 2>err
    check "$1" [ "$? $(wc -l <err) $(grep -c "slice.yaml:$2: .*$4" err)" = '1 1 1' ]
}
wrong an_example_has_a_degree 1 /^degree/d 'degree is missing'
wrong a_column_that_is_none 17 's/P0 queue\]/P0 cue]/' 'no such column'
wrong a_column_of_a_p_that_is_not_there 17 's/P0 queue\]/P1 queue]/' 'no such column'
wrong a_row_without_a_cell 20 's/\[.0., G1, 10 ms left, W\]/["0", G1, 10 ms left]/' 'cells/3 is missing'
wrong an_event_that_is_no_expression 20 's/ran G1/(ran/' 'no regular expression'
wrong a_cell_too_many 20 's/left, W\]/left, W, W]/' 'cells/4: more cells than columns'
wrong a_number_that_is_none 17 '16a\    workers: two' 'pictures/0/workers: expected 1 to 10'
wrong a_key_that_is_none 17 '16a\    worker: 2' 'pictures/0/worker: no such key; valid: title, '
wrong a_name_without_a_blank 17 '16a\    names: [ G1]' 'names/0: no name'
wrong a_degree_that_is_none 4 's/^degree: .*/degree: silly/' 'degree: no degree; valid: right, imprecise, outdated, wrong'
wrong a_file_without_pictures 1 '/^pictures/,$d' 'pictures/0/title is missing'
cp "$tree"/harness/replays/slice*.slp lab/harness/replays/
sed 's/ran G2/ran X/' "$tree/harness/replays/slice.yaml" >lab/harness/replays/slice.yaml
lab/build/schedlab trace --replay slice >out 2>err
check what_never_comes_leaves_its_row_empty [ "$? $(rows | grep -cx '2 ! ? ? ? ?')" = '0 2' ]
check and_no_other_one [ "$(rows | grep -c '^[0-9] . ?') $(rows | grep -c '^3 ! 7 G3 for 7.0 ms W$')" = '2 1' ]
misuse an_example_has_no_page "--format=page comes with --replay=fib4" -- --replay loop --format page
misuse an_example_has_no_policy "--policy comes with --replay=fib4" -- --replay loop --policy task

# Real threads --------------------------------------------------------------------------------------------------

# Rules of any run: every G that runs was made, starts before it ends, and a steal has a victim that
# is not the thief. Contents of queues follow from events of all threads in order of time: none may
# contradict another.
names="steps = j['steps']
made, begun, ended = {}, {}, {}
for i, s in enumerate(steps):
    if s['event'] == 'CREATED': made.setdefault(s['g'], i)
    if s['event'] == 'DISPATCHED': begun.setdefault(s['g'], i)
    if s['event'] == 'ENDED': ended.setdefault(s['g'], i)
steals = [s for s in steps if s['event'] == 'TAKEN' and s['from'] == 'victim']
tasks = [s for s in steps if s['event'] == 'TASK_STOLEN']
self = 'm_self' if j['lane'] == 'M' else 'p_self'
def times_grow(): return all(a['when_ps'] <= b['when_ps'] for a, b in zip(steps, steps[1:]))"
for variant in kthread uthread static grq perm gmp tasksteal contsteal; do
    run $variant uneven,tasks=60,rounds=4000 --workers 2 --machine native --whole --format json
    json "${variant}_records_whom_it_runs" "len(begun) >= 1 and set(begun) <= set(made) and set(begun) == set(ended)"
    json "${variant}_gs_are_made_begun_and_ended_in_order" "times_grow() and all(made[g] < begun[g] < ended[g] for g in begun)"
    json "${variant}_steals_have_a_victim" "all(s[self] != s['victim'] for s in steals) and all(s['m_self'] != s['victim'] for s in tasks)"
    json "${variant}_events_of_threads_fit" "j['odd'] == 0 and j['machine'] == 'native' and j['happened'] == len(steps)"
done
run gmp spawn,n=20000 --workers 2 --machine native --most 1000 --format json
json what_is_dropped_natively_is_counted "len(j['steps']) < 5000 < j['happened'] and times_grow()"
run tasksteal fib,n=12 --workers 2 --machine native --format perfetto
names=$perfetto
json native_slices_nest_too "all(nest(t) for t in tracks)"
schedlab_alone=$scratch/bin && mkdir "$schedlab_alone" && cp "$schedlab" "$schedlab_alone/schedlab"
"$schedlab_alone/schedlab" trace gmp fib,n=3 --machine native >out 2>err
status=$?
check without_its_program_it_says_how_to_get_it [ $status = 1 -a "$(wc -l <err)" = 1 ]
check it_names_the_target grep -q 'schedlab-trace, which records what real threads do; `make trace` builds it' err

# Closed standard streams change nothing: no pipe gets their numbers.
"$schedlab" trace gmp fib,n=3 >whole 2>err </dev/null
"$schedlab" trace gmp fib,n=3 >out 2>err <&-
check standard_input_may_be_closed cmp whole out
"$schedlab" trace gmp fib,n=3 >out 2>&- </dev/null
check standard_error_may_be_closed cmp whole out
"$schedlab" diff gmp grq fib,n=3 >out 2>&- <&-
check both_may_be_closed_for_two_runs contains out 'They part at event '

# docs/TRACE.md prints what its example prints, and its example has a hand-off.
read -ra example <<<"$(sed -n 's/^build.schedlab trace \(.*--format schedtrace.*\)/\1/p' "$tree/docs/TRACE.md")"
grep '^SCHED ' "$tree/docs/TRACE.md" >lines
run "${example[@]}"
check the_document_has_lines_that_differ [ "$(sort -u lines | wc -l)" -ge 5 ]
# The numbers move a little with each change of the runtime: the form is held.
form() { sed -E 's/[0-9]+/N/g' "$1" | sort -u; }
check the_document_shows_what_is_printed [ "$(form lines)" = "$(grep '^SCHED ' out | form /dev/stdin)" ]
run gmp calls,n=1,measure=handoff,sleep_ns=1000000 --workers 1
check a_long_call_is_handed_off grep -q 'handed off P0' out
check it_is_so_in_the_row_that_the_document_names grep -qE '^ +14 .*handed off P0' out

# Misuse --------------------------------------------------------------------------------------------------------

misuse linked_frames_cannot_be_seen 'linked frames leave no event of a spawn; valid: frames=pooled' -- contsteal,frames=linked fib
misuse nothing_is_a_misuse "one variant and one workload, for example gmp fib,n=5" --
misuse two_variants_are_a_misuse 'one variant and one workload; found "fib" too' -- gmp grq fib
misuse an_unknown_variant_is_a_misuse 'unknown variant "gnp"' -- gnp fib
misuse an_unknown_workload_is_a_misuse 'unknown workload "fob"' -- gmp fob
misuse an_unknown_machine_is_a_misuse "--machine=sim:toaster: " -- gmp fib --machine sim:toaster
misuse playing_shows_steps_alone '--play shows the steps, on the terminal; leave out --format' -- gmp fib --play --format json
misuse the_end_before_the_beginning_is_a_misuse '--to is no later than --from' -- gmp fib --from 2us --to 1us
misuse an_unknown_format_is_a_misuse "--format=table" -- gmp fib --format table
misuse a_figure_of_steps_is_a_misuse "only --format=timeline draws figures" -- gmp fib,n=3 --output steps.svg
misuse a_figure_of_another_kind_is_a_misuse "figures are svg, pdf or png" -- gmp fib,n=3 --format timeline --output steps.bmp
misuse an_interval_without_lines_is_a_misuse "--every comes with --format=schedtrace" -- gmp fib,n=3 --every 1
misuse a_folder_that_is_not_there_is_a_misuse "--output: cannot write /nowhere/x" -- gmp fib,n=3 --output /nowhere/x
misuse an_unknown_replay_is_a_misuse "--replay=fib5" -- --replay fib5
misuse a_replay_of_a_variant_is_a_misuse '--replay says what is run; found "gmp" too' -- gmp --replay fib4
misuse a_policy_without_replay_is_a_misuse "--policy comes with --replay=fib4" -- gmp fib,n=3 --policy task
misuse three_processors_are_a_misuse "--processors=3" -- --replay fib4 --processors 3
for option in '--workers 3' '--machine native' '--seed 2' '--most 5' '--every 1' '--scheddetail' '--timeout 1' '--warmup 1' '--whole'; do
    # shellcheck disable=SC2086 # an option and its value
    misuse "a_replay_takes_no_${option%% *}" "--replay says what is run; leave out ${option%% *}" -- --replay fib4 $option
done
misuse a_drawn_replay_is_a_misuse "--replay is a table of steps" -- --replay fib4 --format timeline
misuse a_table_that_the_book_lacks_is_a_misuse "--policy=task with --processors=1" -- --replay fib4 --policy task --processors 1
run gmp fib,n=3 --workers 99
check workers_that_take_turns_are_warned_of grep -q 'warning: 99 workers on 8 cores' err
run kthread crowd,n=20000 --workers 2
check a_run_that_is_skipped_fails [ $status = 1 -a "$(wc -l <err)" = 1 ]

finish
