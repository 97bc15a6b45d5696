#!/bin/bash
# test_repro.sh - experiments from the outside: their verdicts, what is lacking for one, and that neither a signal
# nor a mistake costs anything. The verdicts of the catalogue's own experiments are those of test_verdicts.sh.
#
#     tests/program/test_repro.sh build/schedlab
#
# Prints TAP. Needs the program, bash, the usual tools and python3.
. "$(dirname "$0")/../tap.sh"

# run ARGUMENT...: leaves out, err, status, and folder where the program named one.
run() {
    "$schedlab" repro "$@" >out 2>err </dev/null
    status=$?
    folder=$(sed -n 's|.*verdicts in \(.*\)/repro.json$|\1|p' err)
}
has() { grep -q -- "$1" "$2"; }
says() { tr -s ' \n' ' ' <out | grep -q -- "$1"; } # however its lines are broken

# experiment ID LINE...: an experiment in ID.yaml whose parts are these lines.
experiment() {
    printf 'id: %s\ntitle: Experiment %s\nclaim: It is so.\nsource: here\nwhy: because\n' "$1" "$1" >"$1.yaml"
    printf 'refuted: if not\nevents: [none]\nmin_time_ms: 0\nwarmup: 0\ntimeout_s: 600\n' >>"$1.yaml"
    printf '%s\n' "${@:2}" >>"$1.yaml"
}
order=('parts:' '  - id: spawn' '    variant: "gmp,preempt=none"' '    factor: runnext' '    levels: [on, off]'
    '    workload: order,n=10' '    metric: order' '    expect:')
right=('      - {says: The newest first, exactly: 9 0-8}' '      - {says: In turn, level: off, exactly: 0-9}')
wrong='      - {says: In turn, exactly: 0-9}'

# Verdicts --------------------------------------------------------------------------------------------

experiment S 'machines: [native, "sim:desktop8"]' "${order[@]}" "${right[@]}"
run S.yaml --quick --name named
check supported [ "$status $(grep -c '^S *supported: Experiment S$' out)" = '0 1' ]
check says_how_long_it_will_take has '^2 jobs of 1 experiment to measure: about [0-9].* as few blocks' err
check folder_has_the_name [ "${folder#results/named-}" != "$folder" ]
check each_machine_is_a_run [ -s "$folder/S@native/samples.jsonl" ] && [ -s "$folder/S@sim-desktop8/samples.jsonl" ]
json verdict_is_in_the_json '[m["verdict"] for m in j["experiments"][0]["machines"]] == 2 * ["supported"] and
    j["experiments"][0]["verdict"] == "supported" and j["finished"]' "$folder/repro.json"
json cells_are_behind_it 'all(len(x["columns"]) == 1 and x["columns"][0]["level"]["n"] == 3 and x["deterministic"]
    for m in j["experiments"][0]["machines"] for x in m["parts"][0]["expectations"])' "$folder/repro.json"
"$schedlab" report "$folder/S@native" --no-figures >report 2>&1
check runs_can_be_drawn [ -s "$folder/S@native/report.html" ]
run --explain S.yaml
check explanation_has_the_last_verdict [ "$(grep -c '^S *supported' out) $(grep -c 'The last verdict, of results/named' out)" = '1 1' ]
run --explain S.yaml A1
check several_are_explained [ "$(grep -cE '^(S|A1): ' out)" = 2 ]
mkdir results/reference && cp -r results/named-* results/reference/repro
run --explain S.yaml
check explanation_has_the_reference [ "$(grep -A2 'reference, results/reference/repro' out | tr -s ' \n' ' ')" = \
    'The verdicts of the reference, results/reference/repro native claim supported sim:desktop8 claim supported ' ]
xz results/reference/repro/repro.json
cp out unpacked
run --explain S.yaml
check explanation_reads_a_packed_reference cmp -s out unpacked
rm -r results/reference

# Another runtime as a level. Where it is not built nothing is held against the experiment, nor for it.
mkdir peers
experiment P 'machines: [native]' 'parts:' '  - id: order' '    factor: variant' '    levels: ["gmp,preempt=none", "peer:go"]' \
    '    together: two runtimes' '    workload: order,n=3' '    metric: order' '    expect:' \
    '      - {says: ours, exactly: 2 0-1}' '      - {says: theirs, level: "peer:go", exactly: 2 0-1}'
export SCHEDLAB_PEERS=$PWD/peers
run P.yaml --quick
check a_missing_peer_is_not_run [ "$status $(grep -c '^P *not run: Experiment P$' out)" = '0 1' ]
check it_says_how_to_build_the_peer says 'not run 1 claim order#2: peer:go is not built here; `make peers` builds it'
check nothing_is_refuted_for_it has '^1 experiment: 0 supported, 0 refuted, 0 undecided, 1 not run$' out
json ours_is_judged_all_the_same '[(x["verdict"], x["told"], x["columns"][0].get("lacks")) for x in
    j["experiments"][0]["machines"][0]["parts"][0]["expectations"]] == [("supported", "supported", None), ("not run", "not run", "peer")]' "$folder/repro.json"
check the_page_says_it [ "$(grep -c 'Not run: peer:go is not built here' "$folder/repro.html")" = 1 ]
run P.yaml --quick --deterministic
check peers_are_not_deterministic has 'no part of these experiments runs there' err
cat >peers/go <<'PYTHON'
#!/usr/bin/env python3
import json, os
M = 2**64 - 1
def mix(x):
    x = (x + 0x9E3779B97F4A7C15) & M
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & M
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & M
    return x ^ (x >> 31)
text, ids = ("2 0-1", [2, 0, 1]) if os.environ["FAKE"] == "right" else ("0-2", [0, 1, 2])
answer = 0
for i in ids: answer = mix(answer ^ i)
print(json.dumps({"runtime": "Go", "version": "1.0", "iterations": [{"time_ns": 1, "ops": 3}], "order": text,
                  "answer": "%016x" % answer, "digest": "%016x" % (sum(mix(i + 1) for i in ids) & M)}))
PYTHON
chmod +x peers/go
FAKE=right run P.yaml --quick --no-report
check a_peer_that_is_there_decides has '^P *supported' out
json its_version_is_told 'j["experiments"][0]["machines"][0]["parts"][0]["expectations"][1]["columns"][0]["level"]["runtime"] ==
    {"name": "Go", "version": "1.0"}' "$folder/repro.json"
FAKE=wrong run P.yaml --quick --no-report
check and_may_refute has '^P *refuted' out
unset SCHEDLAB_PEERS

# Each simulated machine is measured as a guest too, which has no part in the verdict. A thread that sleeps is woken in
# some 6 us on the machine itself, and in 13 us as a guest.
experiment G 'machines: [native, "sim:desktop8"]' 'parts:' '  - id: woken' '    variant: gmp' '    factor: runnext' \
    '    levels: [on, off]' '    workload: "bursts,n=20,b=2,rounds=100000"' '    workers: 2' '    metric: p90' '    figure: latency' '    expect:' \
    '      - {says: At once, machine: "sim:desktop8", at_most: 9 us}' '      - {says: Soon, level: off, at_most: 1 s}'
run G.yaml --guests --deterministic --quick
check a_guest_has_another_verdict says 'as guests of a hypervisor (host=vm): 1 other verdict'
json guests_have_no_part_in_the_verdict '[m["machine"] for m in j["experiments"][0]["machines"]] == ["sim:desktop8"] and
    [(m["machine"], m["verdict"]) for m in j["experiments"][0]["guests"]] == [("sim:desktop8,host=vm", "refuted")] and
    j["experiments"][0]["verdict"] == "supported" and j["run"]["guests"]' "$folder/repro.json"
sed 's/<[^>]*>//g' "$folder/repro.html" >page
check the_page_says_what_depends_on_prices contains page 'change verdicts: on sim:desktop8,host=vm woken#1 is ✗ refuted in place of supported.'

cp "$folder/repro.json" before
run --resume "$folder" --no-report
json a_resumed_run_has_its_guests 'j["run"]["guests"] and all(e["guests"] == b["guests"]
    for e, b in zip(j["experiments"], json.load(open("before"))["experiments"]))' "$folder/repro.json"
"$schedlab" validate --outside "$folder/repro.json" --output . >out 2>err
check expectations_are_claims_of_validate grep -qE '^  woken: At once +at most 9.00 µs +6.* yes$' out
run --explain "$tree/harness/audit/outside.yaml"
check curves_of_others_are_an_experiment [ "$status" = 0 ]

# Times of earlier reproductions count.
python3 - results/slow/S@native/timings.json results/named-*/S@native/timings.json <<'END'
import json, os, sys
cells = json.load(open(sys.argv[2]))["cells"]
os.makedirs(os.path.dirname(sys.argv[1]))
json.dump({"cells": {cell: {"samples": 1, "seconds": 7200} for cell in cells}}, open(sys.argv[1], "w"))
END
run S.yaml --quick --no-report
check earlier_runs_tell_how_long has 'to measure: about [0-9]* h .* as few blocks' err
rm -r results/slow

experiment R "${order[@]}" "${right[@]}" "$wrong"
run R.yaml --quick --no-report
check refuted_is_no_failure [ "$status $(grep -c '^R *refuted' out)" = '0 1' ]
check refuted_says_what_it_is has 'refuted *claim spawn#3 order: 9 0-8, expected 0-9' out
check tables_fit_100_columns [ "$(sed 's/×/x/g' out | awk 'length($0) > 100' | wc -l)" = 0 ]

# The verdict comes from claims alone. The others are told as they were found, and the lesson is that of the verdict.
lesson=('lesson:' '  supported: Take it.' '  refuted: Leave it.')
experiment A "${lesson[@]}" "${order[@]}" "${right[@]}" '      - {says: In turn, role: size, exactly: 0-9}' \
    '      - {says: As made, role: check, exactly: 9 0-8}' '      - {says: Backwards, role: check, exactly: 9-0}' \
    '      - {says: It is short, role: price, metric: PREEMPTS, at_most: 1e9}'
run A.yaml --quick
check other_roles_have_no_part_in_the_verdict has '^A *supported: Experiment A$' out
check sizes_are_told_as_found has 'otherwise *size spawn#3 order: 9 0-8, expected 0-9' out
check checks_are_told_as_found [ "$(grep -c '  held *check spawn#4' out) $(grep -c 'not held *check spawn#5' out)" = '1 1' ]
check all_is_said_in_a_line says \
    'It is so. claim supported; 0 of 1 size as expected; 1 of 1 price as expected; 1 of 2 checks held Take it. native '
json tally_is_in_the_json 'j["experiments"][0]["tally"]["check"] == {"held": 1, "not held": 1} and
    j["experiments"][0]["lesson"] == "Take it."' "$folder/repro.json"
sed 's/<[^>]*>//g' "$folder/repro.html" >page
check the_page_has_the_lesson contains page 'Take it.'
check the_page_has_the_roles contains page '≠ otherwise'

experiment B 'machines: [native, "sim:desktop8"]' "${lesson[@]}" "${order[@]}" \
    '      - {says: The newest first, machine: native, exactly: 9 0-8}' '      - {says: In turn, machine: "sim:desktop8", exactly: 0-9}'
run B.yaml --quick --no-report
check machines_may_disagree has '^B *machines disagree: Experiment B$' out
check each_machine_has_its_lesson says 'machines disagree on the claim On native: Take it. On sim:desktop8: Leave it.'
check disagreement_is_counted says '0 supported, 0 refuted, 0 undecided, 1 on which machines disagree'

experiment U 'parts:' '  - id: wide' '    variant: gmp' '    factor: runnext' '    levels: [on]' '    workload: fib,n=10' \
    '    workers: [1, 1024]' '    expect:' '      - {says: One, workers: 1, at_least: 1}' \
    '      - {says: Many, workers: 1024, at_least: 1}' \
    '      - {says: Counted, workers: 1, metric: PAPI_TLB_DM, at_least: 1e9}'
run U.yaml --quick --no-report
check undecided_says_what_it_lacks says 'lacks: 1024 workers take as many cores, and native has'
# on a busy machine too many of its samples are disturbed to say
json undecided_leaves_the_others \
    '[x["verdict"] if x["columns"][0].get("lacks") != "samples" else "busy"
      for x in j["experiments"][0]["machines"][0]["parts"][0]["expectations"]][:2] in (["supported", "undecided"], ["busy", "undecided"])' \
    "$folder/repro.json"
json lacking_counters_or_a_number \
    'j["experiments"][0]["machines"][0]["parts"][0]["expectations"][2]["columns"][0].get("lacks") in ("counters", None)' \
    "$folder/repro.json"

experiment N 'parts:' '  - id: hangs' '    variant: "static,wait=keep"' '    factor: workload' '    levels: ["pingpong,rounds=1"]' \
    '    workers: 1' '    expect:' '      - {says: It ends, at_least: 1}'
run N.yaml --quick --no-report
check no_sample_at_all_is_a_failure [ "$status $(grep -c 'no sample could be measured' err)" = '1 1' ]

# A sample that takes too long, and no core meanwhile.
hangs=calls,n=2,sleep_ns=10000000000
experiment F 'parts:' '  - id: hangs' '    variant: gmp' '    factor: workload' "    levels: [\"calls,n=2,sleep_ns=1\", \"$hangs\"]" \
    '    expect:' '      - {says: It ends, at_least: 1}' "      - {says: So does it, level: \"$hangs\", at_least: 1}"
sed -i 's/timeout_s: 600/timeout_s: 2/' F.yaml
run F.yaml --quick --no-report
# On a busy machine nothing may end in time.
check failures_are_no_failure [ $status = 0 -o "$(grep -c 'no sample could be measured' err)" = 1 ]
check failing_cells_are_undecided says 'undecided claim hangs#2 [^#]*lacks: 2 of 2 samples of gmp .* no answer within 2 s'
# On a busy machine the others may take too long as well.
check failing_cells_leave_the_others says 'supported claim hangs#1 \|undecided claim hangs#1 [^#]*no answer within 2 s'

# The same digits each time ---------------------------------------------------------------------------

experiment D 'machines: ["sim:desktop8"]' 'parts:' '  - id: ratio' '    variant: gmp' '    factor: runnext' \
    '    levels: [off, on]' '    workload: "pingpong,rounds=200"' '    workers: [1, 2]' '    expect:' \
    '      - {says: It pays, level: on, over: off, at_least: 1}' '  - id: levels' '    variant: gmp' \
    '    factor: machine' '    levels: ["sim:desktop8", "sim:server64"]' '    workload: "pingpong,rounds=200"' \
    '    workers: 2' '    expect:' '      - {says: It is slower, level: "sim:server64", over: "sim:desktop8", at_most: 1}'
# Two reproductions may differ in when they were, and in how long they took.
same='def strip(x):
    return {k: strip(v) for k, v in x.items() if k not in ("seconds", "began", "written", "name")} if isinstance(x, dict) \
        else [strip(y) for y in x] if isinstance(x, list) else x'
run D.yaml --quick --no-report
first=$folder
run D.yaml --quick --no-report --format json
check json_is_the_file cmp -s <(grep -v '"written"' out) <(grep -v '"written"' "$folder/repro.json")
json ratios_on_simulated_machines_have_a_reason 'all("more core time an operation" in c.get("why", "none")
    for p in j["experiments"][0]["machines"][0]["parts"] if p["id"] == "ratio" for x in p["expectations"] for c in x["columns"])' "$folder/repro.json"
names="$same" json simulated_verdicts_have_the_same_digits "strip(j) == strip(json.load(open('$first/repro.json')))" \
    "$folder/repro.json"

# --held takes two blocks where values are exact or do not change with the seed, and leaves levels of no expectation out.
experiment K 'machines: ["sim:desktop8"]' "${order[@]}" '      - {says: The newest first, exactly: 9 0-8}' \
    '  - id: ratio' '    variant: gmp' '    factor: runnext' '    levels: [off, on]' \
    '    workload: "pingpong,rounds=200"' '    held: "pingpong,rounds=20"' '    expect:' \
    '      - {says: It pays, level: on, over: off, at_least: 1}'
run K.yaml --held --no-report
kept=$folder
check held_form_is_judged [ "$status $(grep -c 'supported *claim spawn#1' out) $(grep -c 'ratio#1' out)" = '0 1 1' ]
check held_form_measures_less [ "$(wc -l <"$folder/K@sim-desktop8/samples.jsonl") $(grep -c \
    '"workload":"pingpong,rounds=20"' "$folder/K@sim-desktop8/samples.jsonl")" = '6 4' ]

# Going on --------------------------------------------------------------------------------------------

# As if it had been stopped in the middle of a job.
cp -r "$first" cut
head -n 7 "$first/D@sim-desktop8/samples.jsonl" >cut/D@sim-desktop8/samples.jsonl
rm -r cut/D@machines
sed -i 's/"state": "done"/"state": "begun"/' cut/repro.json
run --resume cut
names="$same" json resumed_is_as_if_never_stopped "strip(j) == strip(json.load(open('$first/repro.json')))" cut/repro.json
cp -r "$kept" cut_held
head -n 5 "$kept/K@sim-desktop8/samples.jsonl" >cut_held/K@sim-desktop8/samples.jsonl
sed -i 's/"state": "done"/"state": "begun"/' cut_held/repro.json
run --resume cut_held --no-report
names="$same" json held_form_goes_on "strip(j) == strip(json.load(open('$kept/repro.json')))" cut_held/repro.json

# A signal while a sample runs that does not end by itself.
hangs=calls,n=1000,sleep_ns=10000000000
experiment H 'parts:' '  - id: hangs' '    variant: gmp' '    factor: runnext' '    levels: [on]' \
    "    workload: \"$hangs\"" '    expect:' '      - {says: It ends, at_least: 1}'
mkfifo line
"$schedlab" repro S.yaml H.yaml --machine native --quick --results stopped >out 2>line </dev/null &
pid=$!
exec 3<line
while read -r said <&3; do
    case $said in *' into '*H@native) break ;; esac
done
kill -TERM $pid
cat <&3 >err
exec 3<&-
wait $pid
check signal_ends_it [ $? = 1 ]
folder=$(dirname "${said##* into }")
check signal_is_told has "SIGTERM; .schedlab repro --resume $folder. goes on" err
check signal_leaves_what_is_there [ "$(grep -c '^S *supported' out) $(grep -c '^H *undecided' out)" = '1 1' ]
json signal_is_in_the_json 'not j["finished"] and [e["verdict"] for e in j["experiments"]] == ["supported", "undecided"]' \
    "$folder/repro.json"
sed -i 's/timeout_s: 600/timeout_s: 1/' "$folder/experiments/H.yaml"
run --resume "$folder"
check resumed_measures_what_is_missing says 'lacks: 2 of 2 samples'
check resumed_measures_nothing_twice [ "$status $(grep -c '^S on native' err)" = '0 0' ]
json resumed_is_finished 'j["finished"]' "$folder/repro.json"
rm line

# Mistakes --------------------------------------------------------------------------------------------

rm -r results
sed 's/levels: \[on\]/levels: [onn]/' U.yaml >bad.yaml
misuse file_is_wrong 'bad.yaml:15: gmp: runnext=onn is not valid' -- bad.yaml
experiment C "${order[@]}" "$wrong"
sed 's/exactly: 0-9/role: clam, exactly: 0-9/' C.yaml >bad.yaml
misuse role_is_wrong 'bad.yaml:19: role is "clam"; the nearest is "claim"' -- bad.yaml
sed 's/exactly: 0-9/role: size, exactly: 0-9/' C.yaml >bad.yaml
misuse nothing_claimed 'bad.yaml:12: no expectation carries the claim; valid: at least one whose role is claim' -- bad.yaml
sed 's/^events:.*/lesson: {supported: x}/' C.yaml >bad.yaml
misuse lesson_is_not_whole 'bad.yaml:7: a lesson lacks the key "refuted"' -- bad.yaml
sed 's/^events:.*/dispute: {thread: x, number: x, verdict: refuted, prediction: x}/' C.yaml >bad.yaml
misuse dispute_is_not_whole 'bad.yaml:7: a dispute lacks the key "predicted"' -- bad.yaml
sed 's/^events:.*/dispute: {thread: x, number: x, predicted: 28.11.2026, verdict: refuted, prediction: x}/' C.yaml >bad.yaml
misuse prediction_has_no_date 'bad.yaml:7: predicted is "28.11.2026"; valid: a date, as in 2026-11-28' -- bad.yaml
sed 's/^events:.*/dispute: {thread: x, number: x, predicted: 2026-11-28, verdict: open, prediction: x}/' C.yaml >bad.yaml
misuse prediction_is_no_verdict 'bad.yaml:7: verdict is "open"; valid: refuted, supported' -- bad.yaml
misuse no_file 'cannot read nowhere.yaml' -- nowhere.yaml
misuse no_experiment 'there is no experiment "X-99"' -- X-99
misuse twice 'have both the id S' -- S.yaml S.yaml
misuse both_forms '--quick and --full' -- S.yaml --quick --full
misuse held_and_full '--held and --full' -- S.yaml --held --full
misuse no_machine 'the nearest is "desktop8"' -- S.yaml --machine sim:dekstop8
misuse machine_twice 'is given twice' -- S.yaml --machine native --machine native
misuse sim_and_other '--machine=sim beside' -- S.yaml --machine native --machine sim
misuse resume_of_nothing 'nowhere is no reproduction: it has no repro.json' -- --resume nowhere
mkdir torn && echo '{' >torn/repro.json
misuse resume_of_a_torn_one 'torn/repro.json:2: ' -- --resume torn
misuse resume_with_options 'leave out --quick' -- --resume cut --quick
misuse name_is_wrong '--name=a/b is not valid' -- S.yaml --name a/b
misuse guests_and_machine '--guests beside --machine=native' -- S.yaml --machine native --guests
misuse nothing_runs_there 'no part of these experiments runs there' -- H.yaml --machine sim
misuse unknown_to_explain 'there is no experiment "X-99"' -- --explain X-99
check mistakes_leave_no_folder [ ! -e results ]
python3 -c '
import json
j = json.load(open("cut/environment.json"))
j["build"]["compiler"] = "another"
json.dump(j, open("cut/environment.json", "w"))'
run --resume cut
check other_program_does_not_go_on [ "$status $(grep -c 'the run began with another' err)" = '2 1' ]

# The catalogue ---------------------------------------------------------------------------------------

COLUMNS=100 run
check without_arguments_it_offers_questions [ "$status $(grep -cE '^D[1-6]  ' out)" = '0 6' ]
check an_offer_says_how_to_get_an_answer has 'schedlab repro D1 --quick' out
mkdir -p results/made
python3 - <<'END'
import json
j = json.load(open("cut/repro.json"))
e = j["experiments"][0]
e.update(id="D1", verdict="refuted", lesson="Leave it.")
json.dump(j, open("results/made/repro.json", "w"))
END
COLUMNS=100 run
check an_offer_has_the_last_answer says '^D1 refuted: .* (on over off) Leave it\. sim:desktop8, 1 and 2 throughput [0-9.]*× and [0-9.]*×; gmp,runnext=off takes more: [0-9]'
check an_offer_names_other_sides says 'several machines, 2 sim:server64 over sim:desktop8: throughput [0-9.]*×'
check an_offer_has_one_screen [ "$(wc -l <out)" -le 60 ] && check of_100_columns [ "$(sed 's/×/x/g; s/µ/u/g' out | awk 'length($0) > 100' | wc -l)" = 0 ]
run --list E3
check list_of_one_is_a_misuse [ "$status $(grep -c 'valid: --explain=E3$' err)" = '2 1' ]
run --list
check list_is_there [ $status = 0 ]
check the_list_has_the_last_verdict [ "$(sed -n '/^D1 /,/^D2 /p' out | grep -cE '^ *\(native, .*\) refuted$')" = 1 ]
check else_that_of_the_reference [ "$(sed -n '/^D2 /,/^D3 /p' out | grep -cE '^ *\(native, .*\) (supported|refuted|undecided|machines disagree)$')" = 1 ]
check the_list_has_answers_about_claims says ' 1\.2 [^(]*(wrong; gmp [a-z ]*, Go itself '
check the_list_has_no_disputes [ "$(grep -c '^X[0-9]' out)" = 0 ]
check but_says_where_they_are has '^`schedlab repro --list disputes` has [0-9]* disputes of today' out
run --list disputes
check disputes_have_a_list [ "$status $(grep -c '^[A-W][0-9]' out)" = '0 0' ]
check the_list_has_all_of_them [ "$(grep -c '^X[0-9]' out)" = "$(ls "$tree"/harness/experiments/disputes/*.yaml | wc -l)" ]
run --explain X1
check a_dispute_is_explained [ "$(grep -cE '^  - (Thread|Claimed number|Predicted on [0-9-]*): ' out)" = 3 ]
check it_says_what_is_open_upstream says 'Not decided upstream - Claimed number: '
run --list E3 disputes
check list_of_both_is_a_misuse [ "$status $(grep -c 'valid: --explain=E3$' err)" = '2 1' ]
mkdir pages
run --catalogue pages disputes
check disputes_are_one_page [ "$status $(ls pages)" = '0 DISPUTES.md' ]
check without_records_it_says_so has 'No reference of disputes is committed yet' pages/DISPUTES.md
misuse the_word_stands_for_disputes_alone 'no part of these experiments runs there' -- disputes --deterministic --machine native
finish
