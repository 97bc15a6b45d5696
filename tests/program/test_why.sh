#!/bin/bash
# test_why.sh - where simulated misses are, and what another machine would buy: records, tables, folded
# stacks, sweeps and their report.
#
#     tests/program/test_why.sh build/schedlab
#
# Prints TAP.
. "$(dirname "$0")/../tap.sh"

# run ARGUMENT...: leaves out, err, status.
run() {
    "$schedlab" run "$@" >out 2>err </dev/null
    status=$?
}
has() { grep -qF -- "$1" "$2"; }
machine=sim:server64,cores=16
names='r = j["records"]
s = lambda i: r[i]["structures"]
of = lambda i, n: ([x for x in s(i) if x["name"] == n] + [{"stall_ns": 0, "misses": {}}])[0]
stall = lambda i: sum(x["stall_ns"] for x in s(i))
kind = lambda x, k: x["misses"].get("l1", {}).get(k, 0)
event = lambda i, n: [x for x in r[i]["events"] if x["name"].endswith("::SIM_" + n)][0]["value"]'

# Structures --------------------------------------------------------------------------------------

run grq gmp fib,n=16 --machine $machine --reps 1 --events SIM_STALL_PS,SIM_L1D_MISS,SIM_UPGRADES --format json
cp out first
json a_queue_for_all_stalls_on_its_lock 's(0)[0]["name"] == "grq.lock" and of(0, "grq.lock")["stall_ns"] > stall(0) / 3'
json its_misses_are_of_true_sharing \
    'kind(of(0, "grq.lock"), "true_sharing") > r[0]["ops"] and kind(of(0, "grq.lock"), "capacity") == 0'
json queues_of_workers_have_names '{"lrq.head", "lrq.tail", "lrq.runnext", "lrq.slots"} <= {x["name"] for x in s(1)}'
json a_design_has_its_own_structures 'of(1, "grq.lock")["stall_ns"] < stall(1) / 20 and of(0, "lrq.head")["stall_ns"] == 0'
json the_most_stalled_comes_first 'all(a["stall_ns"] >= b["stall_ns"] for i in (0, 1) for a, b in zip(s(i), s(i)[1:]))'
json structures_add_up_to_the_counters \
    'all(abs(1000 * stall(i) - event(i, "STALL_PS")) <= event(i, "STALL_PS") / 1000 for i in (0, 1))
    and all(abs(sum(sum(x["misses"].get("l1", {}).values()) for x in s(i)) - event(i, "L1D_MISS")) <= 9 for i in (0, 1))'
json per_operation_is_over_operations \
    'abs(of(0, "grq.lock")["stall_ns_per_op"] * r[0]["ops"] - of(0, "grq.lock")["stall_ns"]) < 1'
json little_has_no_name 'all(sum(of(i, n)["stall_ns"] for n in ("(unnamed)", "runtime")) < stall(i) / 50 for i in (0, 1))'
json lines_are_of_the_source \
    'all(x["line"] > 0 and not x["file"].startswith("/") and x["function"] != "(unknown)" for x in r[0]["sites"][:10])
    and len(r[0]["sites"]) <= 30'
json the_lock_is_taken_in_its_file \
    'any(x["file"] == "sched_variants/runtime/lock.c" and x["structure"] == "grq.lock" for x in r[0]["sites"][:3])'
for file in $(python3 -c "
import json
print(*{x['file'] for r in json.load(open('out'))['records'] for x in r['sites']})"); do
    [ -f "$tree/$file" ] || echo "$file"
done >missing
check each_file_is_there [ ! -s missing ]
(cd / && MORE=environment "$schedlab" run grq gmp fib,n=16 --machine $machine --reps 1 \
    --events SIM_STALL_PS,SIM_L1D_MISS,SIM_UPGRADES --format json) >again 2>/dev/null
check it_is_the_same_again cmp -s first again
run gmp fib,n=10 --reps 1 --iterations 1 --format json
json natively_nobody_knows '"structures" not in r[0] and "sites" not in r[0]'

# Idle beside work ---------------------------------------------------------------------------------

run gmp gmp,wake=none uneven,tasks=1000,rounds=2000 --machine $machine --reps 2 --format json \
    --events SIM_WASTED_NS,SIM_IDLE_NS
json idle_cores_beside_work_are_idle 'all(0 < event(i, "WASTED_NS") <= event(i, "IDLE_NS") for i in range(4))'
json whoever_wakes_nobody_leaves_cores_idle 'event(2, "WASTED_NS") > 3 * event(0, "WASTED_NS")'
json cores_share_it '{len(e["per_core"]) for e in r[0]["events"]} == {16} and all(
    abs(sum(e["per_core"]) - e["value"]) <= 16 for x in r for e in x["events"])'
json each_task_has_waited 'all(1000 <= x["waits"]["count"] <= 1100
    and 0 <= x["waits"]["p50_ns"] <= x["waits"]["p99_ns"] <= x["waits"]["longest_ns"] <= x["time_ns"] for x in r)'
run gmp uneven,tasks=100,rounds=2000 --machine $machine --workers 1 --reps 1 --format json --events SIM_WASTED_NS
json one_core_is_never_idle_beside_work 'event(0, "WASTED_NS") == 0'
check run_has_no_remark_where_it_is_little [ "$(grep -c 'idle beside' err)" = 0 ]
# Busy workers --------------------------------------------------------------------------------------

busy() { # VARIANT... WORKLOAD: for how long each worker had a goroutine
    run "$@" --machine $machine --workers 4 --reps 1 --format json --events BUSY_NS
}
busy gmp static grq kthread slice
json two_of_four_workers_have_goroutines 'all(sorted(s / x["time_ns"] > 0.99 for s in x["events"][0]["per_m"]) == [0, 0, 1, 1]
    and sorted(x["events"][0]["per_m"])[:2] == [0, 0] and sum(x["events"][0]["per_m"]) == x["events"][0]["value"] for x in r[:3])'
json threads_of_goroutines_are_no_workers '"no workers" in r[3]["events"][0]["absent"]'
busy gmp,calls=none gmp,calls=immediate calls,n=20
json a_worker_given_away_in_a_call_is_not_busy 'r[0]["events"][0]["value"] > 20 * r[1]["events"][0]["value"] > 0'

# Parts of core time ---------------------------------------------------------------------------------

# The parts of a core's time do not overlap, also where a workload times a part of its call only, or calls the kernel.
for workload in bursts,n=20,b=4 calls,n=20 crowd,n=50 uneven,tasks=200,rounds=2000 pingpong,rounds=50; do
    run gmp grq,lock=futex kthread $workload --machine $machine --workers 4 --events none --format json
    json "parts_of_core_time_do_not_overlap_${workload%%,*}" 'all(sum(s["stall_ns"] for s in x["structures"])
        + t["spin_ns"] <= 1.001 * t["busy_ns"] + 1 and t["busy_ns"] + t["wasted_ns"] <= 1.001 * t["elapsed_ns"] * x["cores"] + 1
        for x in r for t in [x["core_time"]])'
done
run gmp gmp,wake=none uneven,tasks=1000,rounds=2000 --machine $machine --reps 2 --why
check why_says_how_much_is_wasted [ "$(grep -cE '^  idle beside work that waited: .* ns per operation, [0-9]+ % of' out)" = 2 ]
check why_lays_two_variants_side_by_side has 'core time per operation in ns, gmp beside gmp,wake=none' out
check why_accounts_for_all_of_it python3 -c "
import re
rows = [l for l in open('out').read().split('core time per operation')[1].splitlines() if l.endswith('%')]
shares = [float(re.search(r'(-?[0-9.]+) %', l)[1]) for l in rows]
assert rows[-1].startswith('  all ') and abs(sum(shares[:-1]) - 100) < 0.05 * len(rows), shares"
check why_says_how_long_they_waited has 'waits beside an idle core: p50 ' out
check run_remarks_on_it has 'gmp,wake=none: cores were idle beside work that waited for ' err

# The names that the sources give their memory are those that can be free.
grep -rhoE '(machine_name|sched_zalloc|NAME_FIELDS)\(.*"[a-z.]+"|^ *"[a-z.]+"\);' "$tree"/sched_variants --include='*.[ch]' --exclude-dir native |
    grep -oE '"[a-z][a-z.]*"' | tr -d '"' | sort -u >named
sed -nE 's/^    \{"([a-z.]+)", .*/\1/p' "$tree/harness/models/structures.c" >known
check the_table_of_structures_is_sorted sort -cu known
check the_table_has_what_the_sources_name test -z "$(comm -23 <(sort named) <(sort known))"
check the_sources_name_what_the_table_has test -z "$(comm -13 <(sort named) <(sort known))"

# The table ---------------------------------------------------------------------------------------

run gmp gmp,wake=none uneven,tasks=1000,rounds=2000 --machine $machine --reps 1
check the_answer_says_what_the_time_went_to grep -q 'gmp,wake=none: [0-9.]* .s more core time an operation: .* idle beside' <(tr -s '\n' ' ' <out)
run grq fib,n=16 --machine $machine --reps 2 --why
check why_prints_structures grep -qE '^  grq.lock +[0-9]' out
check why_prints_lines grep -qE ' %  lock_acquire_slow, lock.c:[0-9]+$' out
check why_names_inlined_helpers_by_their_caller grep -qE ' %  gfifo_(push|pop) in [a-z_]+, gqueue.h:[0-9]+$' out
run serial fib,n=5 --machine sim:server64,cores=1 --reps 1 --why
check why_says_when_nothing_missed has 'serial: no access missed' out
misuse why_takes_a_simulated_machine 'only simulated machines' -- gmp fib,n=10 --why

# Folded stacks -----------------------------------------------------------------------------------

run grq fib,n=12 --machine $machine --reps 2 --flame flame --format json
check flame_is_written [ -s flame ]
check flame_has_frames_and_a_count test -z "$(grep -vE '^([A-Za-z_][A-Za-z0-9_.]*;)+\[[a-z.()]+\] [1-9][0-9]*$' flame)"
check flame_has_each_stack_once test -z "$(sed 's/ [0-9]*$//' flame | sort | uniq -d)"
check flame_leads_to_the_lock grep -q '^g_entry;.*;globq_lock_waiting;lock_acquire_slow;\[grq.lock\] ' flame
check flame_has_what_inlined_functions_were_inlined_into grep -q '^g_entry;fib_one_child;fib_one;' flame
awk '{ sum += $NF } END { print sum }' flame >sum
json flame_has_all_of_the_first_sample \
    'abs(int(open("sum").read()) - stall(0)) < stall(0) / 50 and "--flame" not in r[0]["command"]'
mv flame before
run grq fib,n=12 --machine $machine --reps 1 --flame flame
check flame_is_the_same_again cmp -s before flame
misuse flame_takes_one_variant 'one variant' -- grq gmp fib,n=12 --machine $machine --flame flame
misuse flame_takes_a_simulated_machine 'only simulated machines' -- grq fib,n=12 --flame flame
misuse flame_must_be_written 'cannot write no/such/file' -- grq fib,n=12 --machine $machine --flame no/such/file

# Option --what-if --------------------------------------------------------------------------------

run grq gmp fib,n=16 --machine $machine --reps 2 --what-if grq.lock=free --format json
check what_if_runs [ $status = 0 ]
cp out first
names="$names
m = [x.get('machine') for x in j.get('summary', [])]
w = {x['variant']: x['ratio'] for x in j.get('what_if', [])}"
json both_machines_have_rows 'm == [None, "sim:server64,cores=16,grq.lock=free"] * 2'
json a_free_lock_makes_a_queue_for_all_faster 'w["grq"] > 1.2'
json it_does_little_for_others '0.8 < w["gmp"] < 1.25'
json it_changes_no_answer 'len({x["digest"] for x in r}) == 1'
json what_is_free_never_misses 'all(("free" in x["machine"]) != any(y["name"] == "grq.lock" for y in x["structures"]) for x in r
    if x["variant"] == "grq")'
run grq gmp fib,n=16 --machine $machine --reps 2 --what-if grq.lock=free --format json
check what_if_is_the_same_again cmp -s first out
run grq fib,n=16 --machine $machine --reps 2 --what-if dirty.near=1ns,dirty.socket=1ns --format json
json a_key_of_the_machine_will_do_as_well 'w["grq"] > 1.2'
run grq fib,n=12 --machine $machine,grq.lock=free --reps 1 --format json
json a_free_structure_is_part_of_the_machine 'r[0]["machine"] == "sim:server64,cores=16,grq.lock=free"'
run grq fib,n=12 --machine $machine --reps 2 --what-if grq.lock=free
check the_table_shows_what_it_would_buy grep -qE '^grq +[0-9.]+× +too few$' out
check the_answer_is_what_it_would_buy grep -qE '^grq.lock=free would buy grq [0-9.]+×; too few to show it' <(tail -n 2 out)
run grq fib,n=12 --machine $machine --reps 1 --what-if cores=8
check workers_that_lose_their_cores_are_named grep -q 'warning: what if: 16 workers take turns on 8 cores' err
misuse unknown_structures_are_named 'unknown structure "grq.lok"; valid: beat, call.sites, ' -- \
    grq fib,n=12 --machine $machine --what-if grq.lok=free
misuse a_structure_can_only_be_free 'valid: grq.lock=free' -- grq fib,n=12 --machine $machine --what-if grq.lock=3
misuse unknown_keys_are_named 'the nearest is "dirty.near"' -- grq fib,n=12 --machine $machine --what-if dirty.nea=0
misuse what_if_must_change_something 'changes nothing' -- grq fib,n=12 --machine $machine --what-if cores=16
misuse what_if_is_given_once 'commas between' -- grq fib,n=12 --machine $machine --what-if g=free --what-if stack=free
misuse what_if_takes_a_simulated_machine 'only a simulated machine' -- grq fib,n=12 --what-if grq.lock=free
"$schedlab" list sim:server64 >out 2>err
check list_names_the_structures grep -qE '^grq.lock +global queues: the lock' out

# Sweeps ------------------------------------------------------------------------------------------

cat >why.yaml <<'EOF'
name: why
title: Where cores stall
groups:
  - id: queues
    question: On which structures do cores stall?
    figure: stalls
    baseline: gmp
    machine: sim:server64,cores=16
    what_if: grq.lock=free
    variants: [grq, gmp]
    workloads: ["fib,n=16", "spawn,n=200"]
    workers: [16]
EOF
"$schedlab" sweep why.yaml --seed 1 --reps 6 --figure none --results results >out 2>err
check a_sweep_has_what_if [ $? = 0 ]
folder=$(tail -n 1 out)
check both_are_cells [ "$(tail -n +2 "$folder/cells.tsv" | wc -l)" = 8 ]
check structures_are_a_table grep -qE "^queues	grq	.*	grq.lock	" "$folder/structures.tsv"
check what_is_free_is_not_in_it test -z "$(grep -E '^queues@what-if	grq	.*	grq.lock	' "$folder/structures.tsv")"
for format in svg pdf png; do
    check "stalls_are_drawn_as_$format" [ -s "$folder/figures/queues-stalls.$format" ]
done
sed '/machine:/d; /what_if:/d; s/\[16\]/[1]/' why.yaml >native.yaml
"$schedlab" sweep native.yaml --dry-run >out 2>err
status=$?
check stalls_take_a_simulated_machine refused 'group queues, figure stalls: it takes a simulated machine'
"$schedlab" sweep native.yaml --dry-run --machine $machine >out 2>err
check which_may_be_an_option [ "$? $(grep -c '^2 cells' out)" = '0 0' ]
check the_figure_names_structures has '>grq.lock<' "$folder/figures/queues-stalls.svg"
check the_report_says_where_misses_are has 'Where the misses are' "$folder/report.html"
check the_report_says_what_it_would_buy has 'what another machine would buy' "$folder/report.html"
check the_report_shades_the_table grep -q '<td class="number" style="background:rgba(213,94,0,0.60)">' "$folder/report.html"
check the_ratio_has_an_interval python3 -c "
import re
page = open('$folder/report.html').read()
page = page[page.index('Throughput with the change over throughput without'):]
text = re.sub(r'<[^>]*>|\s', '|', page[page.index('>grq<'):][:900])
ratio, low = re.search('[|]([0-9.]+)×[|]+([0-9.]+)[|]', text).groups()
assert 1 < float(low) <= float(ratio)"
"$schedlab" sweep why.yaml --what-if nothing=free >out 2>err
status=$?
check a_sweep_names_unknown_structures has 'unknown structure "nothing"; valid: ' err
"$schedlab" sweep why.yaml --machine native >out 2>err
check a_sweep_needs_a_simulated_machine_for_it has 'takes a simulated machine' err

# A sweep of both kinds ------------------------------------------------------------------------------

cat >both.yaml <<'EOF'
name: both
title: Here and there
min_time_ms: 1
warmup: auto
groups:
  - id: here
    question: Who is fastest here?
    baseline: gmp
    variants: [grq, gmp]
    workloads: ["fib,n=12"]
    workers: [2]
  - id: eight
    question: Which structure misses how often?
    figure: stalls
    machine: sim:desktop8
    baseline: gmp
    variants: [grq, gmp]
    workloads: ["fib,n=12"]
    workers: [2, 8]
  - id: faster
    question: Who is fastest on eight cores?
    machine: sim:desktop8
    baseline: grq
    variants: [grq, gmp]
    workloads: ["fib,n=12"]
    workers: [8]
EOF
"$schedlab" sweep both.yaml --seed 1 --reps 6 --figure none --results results >out 2>err
check a_sweep_may_have_both_kinds [ $? = 0 ]
folder=$(tail -n 1 out)
check simulated_cells_beside_native_ones_take_one_call python3 -c "
import json
for line in open('$folder/samples.jsonl'):
    sample = json.loads(line)
    if sample['machine'] != 'native':
        assert len(sample['iterations']) == 1 and sample['warmup'] == 1, sample['command']"

# counted VALUES...: gives native samples L1 misses per operation, by variant; none: they are absent.
counted() {
    python3 - "$folder/samples.jsonl" "$@" <<'EOF'
import json, sys
values = dict(value.split("=") for value in sys.argv[2:])
lines = [json.loads(line) for line in open(sys.argv[1])]
for sample in lines:
    sample.pop("check", None)
    for event in sample["events"] if sample["machine"] == "native" else []:
        if event["name"] == "PAPI_L1_DCM":
            for key in ("value", "per_op", "per_m", "absent"):
                event.pop(key, None)
            if sample["variant"] in values:
                event["per_op"] = float(values[sample["variant"]])
                event["value"] = round(event["per_op"] * sample["ops"])
            else:
                event["absent"] = "no such <counter>"
open(sys.argv[1], "w").writelines(json.dumps(sample) + "\n" for sample in lines)
EOF
    "$schedlab" report "$folder" --format json >report.json 2>err
    python3 - "$folder/report.html" >page.txt <<'EOF'
import html, re, sys
print(" ".join(html.unescape(re.sub("<[^>]*>", "|", open(sys.argv[1]).read())).split()))
EOF
}

counted
check nothing_counted_is_said_with_its_reason \
    has 'Nothing counted stands beside these: PAPI_L1_DCM is missing on this machine: no such <counter>. How far' page.txt
check a_win_has_its_reason grep -qE 'grq: [0-9.]+ .s more core time an operation: ' page.txt
check the_reason_is_in_json python3 -c "
import json
groups = {group['id']: group for group in json.load(open('report.json'))['groups']}
why = groups['faster']['answers'][0]['why']
assert why['slower'] == 'grq' and 'more core time an operation: ' in why['text'], why"
counted grq=1000000 gmp=0.0001
check counts_far_from_the_simulated_ones_are_told \
    has 'On 2 cells both machines have a count. The L1 misses of 0 of them are within a factor of 2 of each other. Of 1 pair of variants on the same work, 1 have the same order.' page.txt
counted grq=0.0001 gmp=1000000
check another_order_is_told has 'Of 1 pair of variants on the same work, 0 have the same order.' page.txt

finish
