#!/bin/bash
# test_diff.sh - schedlab diff: where two schedulers part on a simulated machine.
#
#     tests/program/test_diff.sh build/schedlab
#
# Where they must part can be derived by hand from Go's rules. Prints TAP.
. "$(dirname "$0")/../tap.sh"

# run ARGUMENT...: leaves out, err, status.
run() {
    "$schedlab" diff "$@" >out 2>err </dev/null
    status=$?
}

# differ NAME SENTENCE -- ARGUMENT...: they part, and that is what each did.
differ() {
    local name=$1 sentence=$2
    shift 3
    run "$@"
    tr -s ' \n' ' ' <out >flat
    check "$name" grep -qF -- "$sentence" flat
    check "${name}_ends_with_1" [ $status = 1 ]
}

# The 62nd dispatch in a slice of its own finds schedtick 61. One worker, main has run (dispatch 1); the last of
# the three yielders ran from runnext, in main's slice. From dispatch 2 on they go round: G0, G1, G2, and wait in
# the global queue each, taken in batches of three. Dispatch 62 is G0's turn, which lies in the ring; G2 lies in
# the global queue, since it has just yielded.
yields="yield,n=200,yielders=3 --workers 1"
differ gmp_looks_at_the_global_queue_at_tick_61 \
    "gmp took G2 from the global queue because schedtick was 61; gmp,tick=64 took G0 from its own queue." -- gmp gmp,tick=64 $yields
awk 'length($0) > 100 { exit 1 }' out && report 1 it_fits_100_columns || report 0 it_fits_100_columns
# All times of events are on one clock: the last of the table is not after the last of the head.
clock="import re
head = re.findall(r'^A .* (\d+) events, the last at ([\d.]+) us; the workload took ([\d.]+) us', open('out').read(), re.M)
mark = re.search(r'^> +(\d+) +([\d.]+) ', open('out').read(), re.M)
rest = re.search(r'^us to the last event +([\d.]+)', open('out').read(), re.M)
last, work, at, left = float(head[0][1]), float(head[0][2]), float(mark[2]), float(rest[1])"
check it_has_one_clock python3 -c "$clock
assert work < last and abs(at + left - last) < 0.002"
check it_says_from_where_it_counts grep -q '^From event [0-9]* to the end  *A  *B$' out
check it_marks_the_place grep -qE '^> +[0-9]+ +[0-9.]+ P0 +took G2: global, tick 61 +\| +[0-9.]+ P0 +took G0: own queue$' out
run gmp gmp,tick=64 $yields --format json --context 2
json json_says_it "j['differs'] and j['parts']['a']['from'] == 'tick' and j['parts']['a']['schedtick'] == 61 and
    j['parts']['a']['g'] == 'G2' and j['parts']['b']['from'] == 'local' and j['parts']['b']['g'] == 'G0' and
    not j['parts']['order_only']"
json json_has_what_is_around \
    "all(len(j['context'][s]) == 5 and j['context'][s][2] == j['parts'][s] for s in 'ab')"
json up_to_there_times_are_equal_too "'time_parts' not in j and j['compared'] == j['parts']['a']['index'] and
    all(x['when_ps'] == y['when_ps'] for x, y in list(zip(j['context']['a'], j['context']['b']))[:2])"
json both_did_as_much_all_in_all \
    "all(x['a'] == x['b'] for x in j['after'] if not x['what'].startswith('virtual ns')) and j['a']['events'] == j['b']['events']"
# Up to 20 yields schedtick is far from 61, and nothing looks at it.
run gmp gmp,tick=64 yield,n=20,yielders=3 --workers 1
check before_tick_61_they_are_the_same [ $status = 0 ]

# The first spawn goes into runnext, and the second throws it out; main parks, and the second one runs first.
differ runnext_takes_the_first_spawn \
    "gmp put G0 into runnext; gmp,runnext=off put G0 into its own queue." -- gmp gmp,runnext=off spawn,n=2 --workers 1
run gmp gmp,runnext=off spawn,n=2 --workers 1 --format json
names="taken = lambda s: [(e['g'], e['from']) for e in j['context'][s] if e['event'] == 'TAKEN']
put = lambda s: [(e['g'], e['into']) for e in j['context'][s] if e['event'] == 'PUT']"
json the_second_spawn_throws_it_out "put('a')[:3] == [('G0', 'runnext'), ('G1', 'runnext'), ('G0', 'local')] and
    put('b')[:2] == [('G0', 'local'), ('G1', 'local')]"
run gmp gmp,runnext=off spawn,n=2 --workers 1 --format json --context 30
json runnext_runs_the_second_one_first "taken('a')[:2] == [('G1', 'runnext'), ('G0', 'local')] and
    taken('b')[:2] == [('G0', 'local'), ('G1', 'local')]"

# Some events alone: the first theft that differs.
run gmp gmp,victim=fixed fib,n=14 --workers 8 --only stolen --format json --context 2
json only_some_are_compared "all(e['event'] == 'STOLEN' for s in 'ab' for e in j['context'][s]) and j['differs']"
run gmp gmp,victim=fixed fib,n=14 --workers 8 --only stolen
check it_says_of_what grep -q ', seed 1, only stolen$' out
run gmp gmp,victim=fixed fib,n=14 --workers 8 --only stolen --output table.txt
check a_file_is_written [ ! -s out -a $status = 1 ]
check it_has_the_table grep -q ', seed 1, only stolen$' table.txt
run gmp gmp,victim=fixed fib,n=14 --workers 8 --format page --output page.html
check a_page_goes_to_a_file grep -q '</html>' page.html
misuse a_file_that_cannot_be_written '--output: cannot write /nowhere/x' -- gmp gmp fib --output /nowhere/x
misuse a_page_has_all_events '--only comes with --format=table or json' -- gmp gmp fib --only stolen --format page

run gmp gmp fib,n=4 --workers 99
check too_many_workers_are_warned_of [ "$(cat err)" = 'schedlab diff: warning: 99 workers on 8 cores: they take turns, and numbers are of that too' ]

# With calls before it the same decision parts them, in the call after those; its goroutines are the next ones.
run gmp gmp,runnext=off spawn,n=2 --workers 1 --format json
mv out cold
run gmp gmp,runnext=off spawn,n=2 --workers 1 --warmup 2 --format json
json the_call_after_those_before_it_is_compared "j['warmup'] == 2 and j['parts']['sentence'] == 'gmp put G4 into runnext; gmp,runnext=off put G4 into its own queue' and
    0 < j['parts']['a']['index'] < json.load(open('cold'))['parts']['a']['index'] + 3 and j['a']['events'] <= json.load(open('cold'))['a']['events'] and
    0 < j['parts']['a']['when_ps'] < 1e7"
differ a_table_says_so ", seed 1, after 2 calls A gmp " -- gmp gmp,runnext=off spawn,n=2 --workers 1 --warmup 2
run gmp gmp fib,n=8 --workers 2 --warmup 2
check warm_calls_of_one_variant_are_the_same [ $status = 0 ]
run gmp gmp,runnext=off spawn,n=2 --workers 1 --warmup 2 --most 40
check a_call_that_was_not_kept_is_a_failure [ "$status $(wc -l <err) $(grep -c 'no event of the compared call was kept' err)" = '1 1 1' ]

# One queue for all: G0 is put into it, in place of runnext.
differ gmp_and_grq_part_at_the_first_spawn \
    "gmp put G0 into runnext; grq put G0 into the global queue." -- gmp grq spawn,n=2 --workers 1

# A call that gives no P away ends all the same.
run gmp,calls=none gmp,calls=none calls,n=20 --workers 1 --format json
names="sim = '${schedlab%/*}/schedlab-sim'
import os, subprocess, tempfile
f = tempfile.TemporaryFile()
subprocess.run([sim, 'sample', 'gmp,calls=none', 'calls,n=20', '--workers', '1', '--iterations', '1', '--warmup', '0',
    '--events', 'none', '--machine', 'sim:desktop8', '--sched-events-fd', str(f.fileno())], pass_fds=[f.fileno()],
    stdout=subprocess.DEVNULL, check=True)
f.seek(0)
lines = f.read().decode().splitlines()
kinds = [l.split('\\t')[4] for l in lines[1:]]"
json each_call_begins_and_ends "kinds.count('CALL_BEGUN') == kinds.count('CALL_OVER') == 20 and lines[0] == '# %d events' % len(kinds)"

# The same variant with the same seed is the same, to the picosecond, whatever surrounds it.
for variant in kthread uthread static grq perm gmp tasksteal contsteal; do
    run $variant $variant fib,n=8 --workers 4
    check "${variant}_is_the_same_twice" [ $status = 0 ]
    check "${variant}_says_so" grep -qE '^No difference in [0-9]+ events, nor in their times\.$' out
done
sample() { "${@:2}" "${schedlab%/*}/schedlab-sim" sample gmp fib,n=10 --workers 8 --iterations 1 --warmup 0 \
    --events none --machine sim:desktop8 >"$1" 2>err; }
sample plain env
sample stuffed env "STUFFING=$(head -c 20000 /dev/zero | tr '\0' x)"
setarch -R true 2>/dev/null && sample fixed setarch -R || cp plain fixed
names="h = lambda f: json.load(open(f))['events_hash']"
json the_hash_does_not_depend_on_the_environment "len(h('plain')) == 16 and h('plain') == h('stuffed') == h('fixed')" plain

# Chance decides whom a thief visits, and how long waking a core takes. One worker of fib does neither; with several
# another seed is another run.
run gmp gmp fib,n=12 --workers 1 --seed-b 2
check one_worker_has_no_chance [ $status = 0 ]
run gmp gmp fib,n=12 --workers 8 --seed-b 2 --format json
json another_seed_is_another_run "j['differs'] and j['a']['seed'] == 1 and j['b']['seed'] == 2 and
    j['a']['events_hash'] != j['b']['events_hash'] and 0 < j['parts']['a']['index'] == j['compared']"
cp out first
run gmp gmp fib,n=12 --workers 8 --seed-b 2 --format json
check always_at_the_same_place cmp -s first out
run gmp gmp fib,n=12 --workers 8 --seed-b 2
check both_seeds_are_named grep -q 'gmp with seed 2' out

# It says how much was not looked at.
run gmp gmp fib,n=8 --workers 2 --most 10
check the_limit_is_said grep -q '^Only the first 10 events of B are compared, and [0-9]* more are not' out
check up_to_the_limit_there_is_none grep -q '^No difference in 10 events, nor in their times\.$' out

misuse nothing_is_a_misuse "two variants and a workload, for example gmp gmp,tick=64" --
misuse one_variant_is_a_misuse "two variants and a workload" -- gmp fib
misuse three_variants_are_a_misuse 'two variants and a workload; found "fib" too' -- gmp grq perm fib
misuse an_unknown_variant_is_a_misuse 'unknown variant "gnp"' -- gnp gmp fib
misuse an_unknown_knob_is_a_misuse 'unknown knob "tuck"' -- gmp gmp,tuck=1 fib
misuse an_unknown_workload_is_a_misuse 'unknown workload "fob"' -- gmp grq fob
misuse real_threads_are_a_misuse "--machine=native: events in order" -- gmp grq fib --machine native
misuse an_unknown_machine_is_a_misuse "--machine=sim:toaster: " -- gmp grq fib --machine sim:toaster
misuse a_context_of_words_is_a_misuse "--context=few is not valid" -- gmp grq fib --context few
misuse an_unknown_format_is_a_misuse "--format=xml" -- gmp grq fib --format xml
run kthread gmp crowd,n=20000 --workers 2
check a_run_that_is_skipped_fails [ $status = 1 ]
check it_is_said_in_one_line [ "$(wc -l <err)" = 1 ]
check it_says_whose grep -q '^schedlab diff: kthread: ' err

finish
