#!/bin/bash
# test_sim.sh - samples on simulated machines: what run and sweep take and refuse, that nothing of the
# host shows in a record, and that what is counted is what must be.
#
#     tests/program/test_sim.sh build/schedlab
#
# Prints TAP.
. "$(dirname "$0")/../tap.sh"

# run ARGUMENT...: leaves out, err, status.
run() {
    "$schedlab" run "$@" >out 2>err </dev/null
    status=$?
}

# sweep ARGUMENT...: leaves out, err, status, and folder where the program printed one.
sweep() {
    "$schedlab" sweep --no-report --figure none "$@" >out 2>err </dev/null
    status=$?
    folder=$(tail -n 1 out)
}
sweep_misuse() {
    local name=$1 part=$2
    shift 2
    sweep "$@"
    check "$name" refused "$part"
}
has() { grep -qF -- "$1" "$2"; }
common='r = j["records"]; e = lambda i, n: [x for x in r[i]["events"] if x["name"].endswith("::SIM_" + n)][0]'

# Options of run ---------------------------------------------------------------------------------

run gmp fib,n=12 --machine sim:server64,cores=4 --reps 2 --format json
check run_takes_a_simulated_machine [ $status = 0 ]
names="$common"
json the_record_names_the_machine 'r[0]["machine"] == "sim:server64,cores=4" and len(r[0]["model"]) == 16'
json the_record_says_the_lookahead 'r[0]["lookahead_ps"] > 0 and r[0]["cores"] == 4'
json the_record_names_the_compiler 'len(r[0]["compiler"]) > 0 and r[0]["allocator"] == "simulated"'
json all_cores_are_the_default 'r[0]["workers"] == 4'
json nothing_of_the_host_is_in_it 'not {"started", "probe", "steal_share", "throttled", "marks"} & set(r[0])'
json repetitions_have_seeds_of_their_own 'r[0]["seed"] == r[1]["seed"] and r[0]["sim_seed"] != r[1]["sim_seed"]'
json digests_are_of_one_workload 'r[0]["digest"] == r[1]["digest"]'
json cores_cannot_be_busy_for_longer_than_they_are_there '0 < r[0]["cpu_ns"] <= 4 * (r[0]["time_ns"] + r[0]["between_ns"])'
json the_hosts_events_are_absent 'all("simulated" in x["absent"] for x in r[0]["events"] if "PROCESS_" in x["name"] or "MALLOC_" in x["name"])'
run gmp fib,n=12 --machine sim:server64,cores=4 --reps 1
check the_table_says_that_times_are_virtual has 'all times are virtual' out
check one_repetition_is_exact grep -qE '^gmp +[0-9.]+ M +exact +1$' out
run grq gmp fib,n=12 --machine sim:server64,cores=4
check the_answer_to_it_needs_no_test \
    grep -qxE 'best: gmp, [0-9.]+× grq \(the same each time with this seed\)' out
check the_answer_has_a_reason grep -qE '^  grq: [0-9.]+ .?s more core time an operation: ' out
check the_fastest_stands_first [ "$(sed -nE 's/^(gmp|grq) .* exact .*/\1/p' out | xargs)" = 'gmp grq' ]
check its_lines_fit_80_columns python3 -c 'assert max(len(line.rstrip("\n")) for line in open("out")) <= 80'
check a_file_has_no_colours [ "$(grep -c $'\033' out)" = 0 ]
coloured() { # the best row on a terminal; in out what it shows
    TERM=xterm "$@" script -qec "'$schedlab' run grq gmp fib,n=12 --machine sim:server64,cores=4" /dev/null >out </dev/null
    grep -q $'^\033\\[1;32mgmp ' out
}
check a_terminal_has_colours coloured env -u NO_COLOR
check unless_nobody_wants_them eval '! coloured env NO_COLOR=1'
run grq gmp fib,n=12 --machine sim:server64,cores=4 --reps 6
check several_seeds_are_tested grep -qxE 'best: gmp, [0-9.]+× grq \(shown, p 0.00[0-9]\)' out
run grq gmp fib,n=12 --machine sim:server64,cores=4 --reps 6 --format json
json the_answer_is_in_json "j['answers'][0]['outcome'] == 'won' and j['answers'][0]['best'] == 'gmp' and j['answers'][0]['ratio']['lo'] > 1"
# All are due at once, nearly, and served one after the other.
run grq arrivals,n=200,rate=100M,rounds=1000 --machine sim:desktop8 --workers 1 --reps 1 --format json
json latencies_run_from_when_requests_were_due \
    'r[0]["latency"]["max_ns"] > 0.9 * r[0]["time_ns"] and r[0]["latency"]["p50_ns"] > 0.4 * r[0]["time_ns"]'
command=$(python3 -c "
import json, subprocess
r = json.loads(subprocess.run(['$schedlab', 'run', 'perm', 'fib,n=12', '--machine', 'sim:server64,cores=4', '--reps', '2',
                               '--format', 'json'], capture_output=True).stdout)['records'][1]
open('first', 'w').write(json.dumps(r, sort_keys=True)); print(r['command'])")
${command/build\/schedlab/$schedlab} --format json >out 2>err </dev/null
names="$common"
json the_command_of_a_record_repeats_it 'json.dumps(r[0], sort_keys=True) == open("first").read()'

# Every word of every knob, and the least slack; frames=linked is not to be had on aarch64, which it says. The first words
# of all knobs of a variant run at once, then the second ones, and so on. Words that are refused, since they change
# nothing beside another one, run in halves, down to each by itself.
cat >knobs.py <<'END'
import itertools, json, subprocess, sys
program, failed = sys.argv[1], 0
needs = {"inject": "globals=2,"} # without which it changes nothing
def run(variant, settings):
    global failed
    told = subprocess.run([program + "-sim", "sample", ",".join((variant, *settings)), "timers,n=30,ns=20000", "--machine",
                           "sim:desktop8", "--workers", "1" if variant == "uthread" else "3",
                           "--iterations", "1", "--warmup", "0", "--events", "none", "--pin"], capture_output=True, text=True)
    if '"ok"' in told.stdout:
        return
    if len(settings) > 1:
        run(variant, settings[::2]), run(variant, settings[1::2])
    elif "valid here is pooled" not in told.stderr:
        failed += 1
        print(variant, settings, told.stdout[:200], told.stderr[:200])
listed = json.loads(subprocess.run([program, "list", "--format", "json"], capture_output=True).stdout)
for variant in listed["variants"]:
    settings = [[f"{needs.get(knob['key'], '')}{knob['key']}={value}" for value in knob.get("words", []) + ["1"] * (knob["key"] == "slack_ns")]
                for knob in variant.get("knobs", [])]
    for at_once in itertools.zip_longest(*filter(None, settings)):
        run(variant["name"], [setting for setting in at_once if setting])
sys.exit(failed > 0)
END
check every_word_of_every_knob_runs python3 knobs.py "$schedlab"
late() { # SLACK: the longest lateness of timers, in ns
    "$schedlab" run gmp,slack_ns=$1 timers,n=30,ns=20000 --machine sim:desktop8 --workers 3 --reps 1 --warmup 0 \
        --iterations 1 --seed 1 --format json 2>err | sed -nE 's/.*"max_ns": ?([0-9]+).*/\1/p' | head -n 1
}
check slack_prolongs_sleeps [ $(($(late 500000) - $(late 1))) -gt 400000 ]

run gmp arrivals,n=1000,rate=5M,rounds=10000 --machine sim:desktop8 --workers 2 --reps 1 --iterations 1 --warmup 0
check a_load_that_is_not_met_is_told grep -qE '^load not met: [0-9]+ of 5000000 requests/s$' out
run gmp echo,connections=8,messages=50,rate=50M --machine sim:desktop8 --workers 2 --reps 1 --iterations 1 --warmup 0
check a_load_that_echo_does_not_meet_is_told grep -qE '^load not met: [0-9]+ of 50000000 messages/s$' out
run gmp arrivals,n=1000,rate=10k --machine sim:desktop8 --workers 2 --reps 1 --iterations 1 --warmup 0
check a_load_that_is_met_is_no_matter [ $status = 0 -a "$(grep -c 'load not met' out)" = 0 ]
(ulimit -c 0 -v 250000; run gmp fib,n=10 --machine sim:server64 --workers 64 --reps 1 --iterations 1; exit $status)
status=$?
check no_memory_for_a_machine_is_told eval '[ $status = 1 ] && has "no memory left" err && ! has "killed by SIG" err'
run gmp fib,n=12 --machine sim:server64,cores=2 --workers 5 --reps 1
check crowding_is_of_the_models_cores has '5 workers on 2 cores' err
run gmp fib,n=12 --machine sim:server64,cores=2 --reps 1 --pin
check pinned_workers_run [ $status = 0 ]
run gmp calls,n=20,sleep_ns=10000000 --machine sim:server64,cores=2 --reps 1 --iterations 1 --schedtrace 10ms
check schedtrace_is_in_virtual_time grep -qE '^SCHED [0-9]+ms: gomaxprocs=2' err
# newcomers that spin, hand-overs and who was woken before them meet in many ways
for starve_ns in 0 1000 never; do
    run gmp,starve_ns=$starve_ns mutex,n=5000,goroutines=8,work=50,think=100 --machine sim:desktop8 --reps 3 --iterations 1
    check "a_contended_mutex_serves_all_with_starve_ns_$starve_ns" [ $status = 0 ]
done
run peer:go gmp,malloc=glibc gmp fib,n=12 --machine sim:server64,cores=2 --reps 1 --format json
names="$common"
json other_runtimes_are_skipped 'r[0]["status"] == "skipped" and "another program" in r[0]["reason"]'
json other_allocators_are_skipped 'r[1]["status"] == "skipped" and "malloc=glibc" in r[1]["reason"]'

misuse no_such_machine 'unknown machine "simm:server64"' -- gmp fib --machine simm:server64
misuse no_such_model 'the nearest is "server64"' -- gmp fib --machine sim:server6
misuse no_such_key 'unknown key "coers"' -- gmp fib --machine sim:server64,coers=3
misuse a_sim_seed_takes_a_simulated_machine '--sim-seed takes --machine=sim:MODEL' -- gmp fib --sim-seed 3
misuse nobody_steals_there '--steal-max means nothing' -- gmp fib --machine sim:server64 --steal-max 5
cp "$schedlab" alone
./alone run gmp fib,n=12 --machine sim:server64 >out 2>err </dev/null
status=$?
check without_the_program_there_is_one_line [ "$status $(wc -l <err)" = '1 1' ]
check the_line_says_what_is_missing has 'schedlab-sim, which runs simulated machines; `make` builds it' err
run gmp fib,n=12 --reps 1 --iterations 1 --events SIM_L1D_MISS
check natively_simulated_events_are_absent has 'SIM_L1D_MISS (counted on a simulated machine: --machine=sim:MODEL)' err
"$schedlab" list events >out
check list_shows_what_is_simulated has 'SIM_L1D_MISS_FALSE_SHARING ' out

# The same, whatever the host does ------------------------------------------------------------------

# sample ARGUMENT...: the record alone, as the sample's process prints it.
sim=$(dirname "$schedlab")/schedlab-sim
sample() { "$sim" sample "$@" --iterations 2 --min-time 0 2>&1; }

# as CONDITION ARGUMENT...: the same under that condition.
as() {
    local condition=$1
    shift
    case $condition in
    plain) sample "$@" ;;
    environment) (for i in {1..100}; do export "LONG_$i=$(printf %1000s x)"; done; sample "$@") ;;
    elsewhere) (mkdir -p deep/er && cd deep/er && sample "$@") ;;
    fixed) setarch -R "$sim" sample "$@" --iterations 2 --min-time 0 2>&1 || true ;;
    loaded)
        (while :; do :; done) &
        local load=$!
        sample "$@"
        kill $load
        wait $load 2>/dev/null
        ;;
    words) TZ=Asia/Tokyo LANG=C LC_ALL=POSIX sample "$@" ;;
    closed) sample "$@" <&- ;;
    nice) nice -n 10 "$sim" sample "$@" --iterations 2 --min-time 0 2>&1 ;;
    name) cp "$sim" ./another-name && ./another-name sample "$@" --iterations 2 --min-time 0 2>&1 ;;
    esac
}

conditions='environment elsewhere loaded words closed nice name'
setarch -R true 2>/dev/null && conditions="$conditions fixed"

# Under all of them at once; which one it was is looked for only if that differs.
as_all() {
    local fixed=()
    setarch -R true 2>/dev/null && fixed=(setarch -R)
    cp "$sim" ./another-name
    mkdir -p deep/er
    nice -n 10 bash -c 'while :; do :; done' & # as nice as the sample, which would else get little of a busy machine
    local load=$!
    (
        for i in {1..100}; do export "LONG_$i=$(printf %1000s x)"; done
        export TZ=Asia/Tokyo LANG=C LC_ALL=POSIX
        cd deep/er && nice -n 10 "${fixed[@]}" ../../another-name sample "$@" --iterations 2 --min-time 0 2>&1 <&-
    )
    kill $load
    wait $load 2>/dev/null
}

# same NAME ARGUMENT...: one sample under all conditions.
same() {
    local name=$1 condition differ=
    shift
    as plain "$@" >out
    as_all "$@" >other
    if ! cmp -s out other; then
        differ=' all_at_once'
        for condition in $conditions; do
            as "$condition" "$@" >other
            cmp -s out other || differ="$differ $condition"
        done
    fi
    echo "differs:$differ" >err
    check "$name" [ -z "$differ" ] && grep -q '"status":"ok"' out
}
same one_core_is_the_same_everywhere gmp fib,n=12 --workers 1 --machine sim:server64,cores=1
same two_cores_are_the_same_everywhere contsteal fib,n=12 --workers 2 --machine sim:server64,cores=2
same many_cores_are_the_same_everywhere gmp fib,n=12 --workers 64 --machine sim:server64
same a_locked_queue_is_the_same_everywhere grq spawn,n=500 --workers 16 --machine sim:server64,cores=16
same channels_are_the_same_everywhere perm ring,n=30,hops=20000 --workers 4 --machine sim:server64,cores=4
same threads_are_the_same_everywhere kthread fib,n=8 --workers 4 --machine sim:server64,cores=4
same latencies_are_the_same_everywhere gmp arrivals,n=200 --workers 4 --machine sim:server64,cores=4

for variant in gmp grq tasksteal; do
    sample $variant fib,n=13 --workers 8 --machine sim:server64,cores=8 --sim-seed 1 | sed 's/"sim_seed":1//;s/--sim-seed 1//' >one
    sample $variant fib,n=13 --workers 8 --machine sim:server64,cores=8 --sim-seed 2 | sed 's/"sim_seed":2//;s/--sim-seed 2//' >two
    check "${variant}_has_another_schedule_for_another_seed" bash -c '! cmp -s one two'
done

# Events ---------------------------------------------------------------------------------------------

run gmp fib,n=16 --machine sim:server64,cores=8 --reps 1 --workers 8 --format json
names="$common"
json simulated_events_are_of_source_sim 'e(0, "L1D_MISS")["source"] == "sim" and e(0, "L1D_MISS")["value"] > 0'
json levels_miss_no_more_than_the_one_above 'e(0, "L1D_MISS")["value"] >= e(0, "L2_MISS")["value"] >= e(0, "L3_MISS")["value"]'
json the_sum_is_that_of_the_cores 'all(sum(x["per_core"]) == x["value"] and len(x["per_core"]) == 8 for x in r[0]["events"] if x["source"] == "sim")'
json stealing_moves_lines 'e(0, "TRANSFERS_DIRTY_NEAR")["value"] > 0'
json cycles_fit_the_busy_time 'abs(e(0, "CYCLES")["value"] / r[0]["cpu_ns"] - e(0, "CYCLES")["value"] // r[0]["cpu_ns"]) < 1 and e(0, "CYCLES")["value"] > r[0]["cpu_ns"]'
json busy_and_idle_make_the_time 'e(0, "IDLE_NS")["value"] + r[0]["cpu_ns"] <= 8 * (r[0]["time_ns"] + r[0]["between_ns"]) * 1.1'
run serial fib,n=16 --machine sim:server64,cores=8 --reps 1 --format json
json one_core_transfers_nothing 'all(x["value"] == 0 for x in r[0]["events"] if "TRANSFERS" in x["name"] or "INVALIDATIONS" in x["name"])'
json what_fits_into_l1_misses_nowhere 'e(0, "L1D_MISS")["per_op"] < 0.01'
run gmp fib,n=12 --machine sim:server64,cores=2 --reps 1 --events SIM_L2_MISS,PAPI_L1_DCM --format json
json names_go_without_the_prefix 'r[0]["events"][0]["name"] == "sde:::schedlab::SIM_L2_MISS" and r[0]["events"][0]["value"] > 0'
json the_hosts_pmu_is_absent '"simulated" in r[0]["events"][1]["absent"]'

# Addresses ------------------------------------------------------------------------------------------

# Data of simulated code lies apart from the rest of the program, so no change there moves its
# lines.
nm "$schedlab-sim" | awk '$2 ~ /[bBdDrR]/ { print $3, ($1 ~ /^0*[123].......$/ ? "apart" : "among the rest") }' >data
place() { sed -n "s/^$1 //p" data; }
for name in gmp_ops workload_spawn workload_fib_FJ_GO machine_on_fault; do
    check ${name}_lies_apart [ "$(place $name)" = apart ]
done
check the_simulator_lies_elsewhere [ "$(place sim_cores) $(place cache_cores)" = 'among the rest among the rest' ]

# Sweeps ----------------------------------------------------------------------------------------------

cat >small.yaml <<'Y'
name: small
title: A small sweep
machine: sim:server64,cores=4
timeout_s: 600
groups:
  - id: simulated
    question: Which?
    baseline: gmp
    variants: [gmp, grq]
    workers: [1, 4]
    workloads: ["spawn,n=200"]
  - id: real
    question: And here?
    baseline: gmp
    variants: [gmp, grq]
    workers: [1]
    machine: native
    workloads: ["fib,n=12"]
Y
records() { wc -l <"$1/samples.jsonl"; }
sweep small.yaml --quick --seed 3
check a_sweep_has_machines_by_group [ "$(grep -c '"machine":"native"' "$folder/samples.jsonl") $(records "$folder")" = '2 6' ]
sweep small.yaml --seed 3 --machine sim:laptop,cores=2 --name first
first=$folder
check the_option_wins_over_the_file [ "$(grep -c '"machine":"sim:laptop,cores=2"' "$first/samples.jsonl")" = "$(records "$first")" ]
check three_blocks_are_the_default [ "$(grep -c '"block":2' "$first/samples.jsonl") $(grep -c '"block":3' "$first/samples.jsonl")" = '6 0' ]
check warns_of_the_models_cores has '4 workers on 2 cores' err
sweep small.yaml --seed 3 --machine sim:laptop,cores=2 --name second
check a_seed_has_one_outcome cmp "$first/samples.jsonl" "$folder/samples.jsonl"
# Servers have run all of these samples. Here there is none, and each sample is a program started for it.
mkdir without && cp "$schedlab" without/schedlab
printf '#!/bin/sh\n[ "$2" = --serve ] && echo >>"%s" || exec "%s" "$@"\n' "$PWD/asked" "${schedlab%/*}/schedlab-sim" >without/schedlab-sim
chmod +x without/schedlab-sim
without/schedlab sweep small.yaml --seed 3 --machine sim:laptop,cores=2 --name third --no-report >out 2>err </dev/null
check a_server_was_asked_for_in_vain [ -s asked ]
check a_sample_without_a_server_says_the_same cmp "$first/samples.jsonl" "$(tail -n 1 out)/samples.jsonl"
sweep small.yaml --seed 4 --machine sim:laptop,cores=2 --reps 1
times() { grep -o '"time_ns":[0-9.e+]*,"ops"' "$1/samples.jsonl"; }
check another_seed_has_another [ -n "$(times "$folder" | grep -vxFf <(times "$first"))" ]
head -n 7 "$first/samples.jsonl" >cut && cp cut "$first/samples.jsonl"
cp "$folder/../second"*/samples.jsonl whole
sweep --resume "$first"
check a_resumed_sweep_has_the_same_outcome cmp "$first/samples.jsonl" whole
"$schedlab" sweep small.yaml --machine sim:laptop,cores=2 --reps 200 --seed 987654321 --name ended --no-report >out 2>err </dev/null &
pid=$!
mkfifo never
until [ -s results/ended-*/samples.jsonl ]; do read -r -t 0.05 <>never; done 2>/dev/null
kill -TERM $pid
wait $pid
check a_signal_ends_it has 'stopped by SIGTERM' err
check it_leaves_whole_records bash -c 'python3 -c "import json,glob
for l in open(glob.glob(\"results/ended-*/samples.jsonl\")[0]): json.loads(l)"'
# The programs of all processes in this folder.
runs_on() { find /proc -maxdepth 2 -name cwd -lname "$scratch" -printf '%h/exe\n' 2>/dev/null | xargs -r readlink | grep -q schedlab; }
tries=0
while runs_on && [ $((tries += 1)) -lt 200 ]; do read -r -t 0.05 <>never; done 2>/dev/null
check nothing_of_it_runs_on [ $tries -lt 200 ]
"$schedlab" report "$first" --no-figures >out 2>err
check the_report_says_that_times_are_virtual has 'sim:laptop,cores=2 (simulated: times are virtual)' "$first/report.html"
check the_table_of_cells_has_the_machine has 'sim:laptop,cores=2' "$first/cells.tsv"

sed 's/^machine: .*/machine: sim:laptop,cors=2/' small.yaml >wrong.yaml
sweep_misuse a_wrong_machine_has_its_line 'wrong.yaml:3: ' wrong.yaml
sweep_misuse a_wrong_option_is_refused '--machine=sim:desk' small.yaml --machine sim:desk
sweep small.yaml --timer hyperfine
check times_from_outside_are_refused has 'valid there: --timer=inside' err
# Work dealt out in advance ----------------------------------------------------------------------

# The second of two blocks of rising lengths has 3/4 of the work, and dealing in turn gives it half. Four tasks, of
# which the first keeps its worker while it waits for the last, take 3.5 tasks' time and not 2.5.
names='t = {x["variant"]: x["throughput"] for x in j["records"]}; v = list(t)'
run static,block=25 static uneven,tasks=50,dist=rising,rounds=100000 --workers 2 --machine sim:desktop8 --reps 1 --warmup 0 --format json
json blocks_of_rising_lengths_are_uneven '0.6 < t["static,block=25"] / t["static"] < 0.75'
run static,wait=keep static depend,tasks=4,rounds=400000 --workers 2 --machine sim:desktop8 --reps 1 --warmup 0 --format json
json a_task_that_waits_keeps_its_worker '0.65 < t["static,wait=keep"] / t["static"] < 0.78'
run static,wait=keep depend,tasks=4,waiting=2 --workers 2 --machine sim:desktop8 --reps 1 --warmup 0
check two_that_keep_both_workers_are_a_deadlock [ $status = 1 ]
check the_deadlock_is_said grep -q 'deadlock: all workers of static are asleep' err

finish
