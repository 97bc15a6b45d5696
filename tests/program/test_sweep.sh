#!/bin/bash
# test_sweep.sh - sweeps from the outside: what they leave behind, and that no mistake, signal or full
# disk costs what was measured.
#
#     tests/program/test_sweep.sh build/schedlab
#
# Prints TAP. Needs nothing but the program, bash and the usual tools.
. "$(dirname "$0")/../tap.sh"
sweeps=$tree/harness/sweeps

# sweep ARGUMENT...: leaves out, err, status, and folder where the program printed one.
sweep() {
    "$schedlab" sweep "$@" >out 2>err </dev/null
    status=$?
    folder=$(tail -n 1 out)
}

# misuse NAME PART -- ARGUMENT...: one line on standard error with PART, and nothing else happens.
misuse() {
    local name=$1 part=$2 good=0
    shift 3
    sweep "$@"
    refused "$part" && [ ! -e results ] && good=1
    report $good "$name"
}

# file WORKLOAD...: a small sweep of gmp and grq, in small.yaml.
file() {
    {
        printf 'name: small\ntitle: A small sweep\nreps: 2\ntimeout_s: 600\nmin_time_ms: 0\n'
        printf 'warmup: 0\nevents: [none]\ngroups:\n  - id: one\n    question: Which?\n'
        printf '    baseline: gmp\n    variants: [gmp, grq]\n    workers: [1]\n    workloads:\n'
        printf '      - %s\n' "$@"
    } >small.yaml
}

records() { wc -l <"$folder/samples.jsonl"; }
has() { grep -q -- "$1" "$2"; }
statuses() { grep -o '"status":"[a-z]*"' "$folder/samples.jsonl" | sort | uniq -c | tr -s ' \n' ' '; }
# The cells in the order in which they were measured.
order() { grep -o '"cell":"[0-9a-f]*"' "$1/samples.jsonl"; }
whole_lines() { [ -z "$(tail -c 1 "$folder/samples.jsonl")" ] && ! grep -vqE '^\{.*\}$' "$folder/samples.jsonl"; }

# Files of a sweep ----------------------------------------------------------------------------

sweep "$sweeps/smoke.yaml" --dry-run
check dry_run_counts_the_cells has '^36 cells, 3 blocks, 108 samples$' out
check dry_run_says_how_long has '^at least .* of timed calls; at most 36 min 0 s' out
sweep "$sweeps/smoke.yaml" --dry-run --reps-max 20 --width 5
check dry_run_counts_least_and_most has '^36 cells, 3 to 20 blocks, 108 to 720 samples$' out
check dry_run_makes_nothing [ ! -e results ]

file uneven,tasks=5/worker
sed -i 's/workers: \[1\]/workers: [1, 2]/' small.yaml
sweep small.yaml --seed 7 --reps 1 --no-report --results here --name weak
check work_per_worker_grows_with_them \
    [ "$(grep -o '"params":{"tasks":[0-9]*' "$folder/samples.jsonl" | sort | uniq -c | tr -s ' \n' ' ')" = \
    ' 2 "params":{"tasks":10 2 "params":{"tasks":5 ' ]
check work_per_worker_is_one_workload [ "$(grep -c '"workload":"uneven,tasks=5/worker"' "$folder/samples.jsonl")" = 4 ]
check work_per_worker_is_the_same_work [ "$(statuses)" = ' 4 "status":"ok" ' ]
sed -i 's/5.worker/60M\/worker/' small.yaml
misuse too_much_work_for_two_is_one_line 'small.yaml:13: uneven: tasks=60000000/worker is not valid on 2 workers; valid in all: 1 to 100000000 tasks' \
    -- small.yaml

sweep "$sweeps/smoke.yaml" --quick --seed 7 --no-report --results here --name named
check smoke_ends_well [ $status = 0 ]
check smoke_prints_its_folder [ -d "$folder" ]
check smoke_keeps_the_sweep_file cmp -s "$sweeps/smoke.yaml" "$folder/sweep.yaml"
check smoke_keeps_the_environment has '"kernel"' "$folder/environment.json"
check smoke_keeps_what_doctor_finds has '"id": "governor"' "$folder/environment.json"
check quick_measures_each_cell_once [ "$(records)" = 36 ]
check smoke_has_only_good_samples [ "$(statuses)" = ' 36 "status":"ok" ' ]
check smoke_leaves_whole_lines whole_lines
check options_name_the_folder [ "${folder#here/named-}" != "$folder" ]
check seed_is_kept has '"seed": 7' "$folder/environment.json"
file fib,n=10 fib,n=5 spawn,n=10 yield,n=10
sweep small.yaml --seed 7 --no-report --results here --name named
first=$folder
check a_sweep_measures_each_cell_in_each_block \
    [ "$(records) $(paste -d' ' <(order "$folder") <(grep -o '"block":[0-9]*' "$folder/samples.jsonl") | sort -u | wc -l)" = '16 16' ]
sweep small.yaml --seed 7 --no-report --results here --name named
check same_seed_gives_the_same_order [ "$(order "$first")" = "$(order "$folder")" ]
sweep small.yaml --seed 8 --no-report --results here
check other_seed_gives_another_order [ "$(order "$first")" != "$(order "$folder")" ]
rm -r results here

# The environment has the effects of options, also their effects on other settings.
file fib,n=10
sed -i 's/^reps: 2/&\nreps_max: 9\nclass_min: 8\niterations: 3/' small.yaml
sweep small.yaml --no-report --reps 3
check fewer_repetitions_ask_for_less_of_a_distance has '"class_min": 3' "$folder/environment.json"
check fewer_repetitions_leave_the_calls has '"iterations": 3' "$folder/environment.json"
sweep small.yaml --no-report --quick
check quick_makes_one_call [ "$(grep -o '"iterations":\[[^]]*\]' "$folder/samples.jsonl" | grep -c '},{')" = 0 ]
check quick_is_what_the_environment_says has '"iterations": 1' "$folder/environment.json"
rm -r results

# The first sample's own command measures the same cell again.
file fib,n=10
sweep small.yaml --no-report
command=$(grep -m 1 -o '"command":"[^"]*"' "$folder/samples.jsonl" | sed 's/.*build.schedlab //; s/"$//')
cell=$(grep -m 1 -o '"cell":"[0-9a-f]*"' "$folder/samples.jsonl")
# shellcheck disable=SC2086
"$schedlab" $command --reps 1 --format json 2>err | tr -d ' \n' >out
check command_repeats_the_cell has "$cell" out
rm -r results

# Every sample says why it was measured, and the plan why each cell was measured no more.
sweep small.yaml --no-report --reps 2 --reps-max 8 --width 1
check plan_says_why_each_cell_ended \
    [ "$(grep -cE '"stop": "(width|limit)"' "$folder/plan.json") $(grep -c '"stop"' "$folder/plan.json")" = '2 2' ]
check sets_stay_whole [ "$(grep -o '"blocks": [0-9]*,' "$folder/plan.json" | sort -u | wc -l)" = 1 ]
check intervals_take_more_than_the_least [ "$(records)" -ge 12 ]
check records_say_why [ "$(grep -c '"why":"block"' "$folder/samples.jsonl")" = "$(records)" ]
rm -r results

# The main figure as text.
sweep small.yaml --figure text
check figure_is_drawn_as_text has '^ *grq [|+]' err
check figure_has_a_title has 'fib,n=10, 1 worker: tasks per second' err
check figure_fits_100_columns [ "$(grep '[|+]' err | sed 's/×/x/' | awk 'length($0) > 100' | wc -l)" = 0 ]
check figure_leaves_the_folder_alone_on_stdout [ "$(cat out)" = "$folder" ]
"$schedlab" sweep small.yaml >out 2>err
check figure_is_for_terminals [ "$(grep -c '^ *grq [|+]' err)" = 0 ]
# On a terminal of 70 columns and 12 lines there is room for one workload of two.
file fib,n=10 spawn,n=100
if script --version >/dev/null 2>&1; then
    script -qec "stty cols 70 rows 12; '$schedlab' sweep small.yaml" /dev/null >screen </dev/null
    check figure_appears_on_terminals has '^ *grq [|+]' screen
    check figure_fits_the_terminal [ "$(grep '^ *grq [|+]' screen | tr -d '\r' | sed 's/×/x/' | awk 'length($0) > 70' | wc -l)" = 0 ]
    check figure_says_what_did_not_fit has '^1 more workload in .*/report.html' screen
else
    echo "# no script(1): skipped the figure on a terminal"
fi
file fib,n=10
rm -r results

# hyperfine beside the samples' own clock.
sweep small.yaml --no-report --timer hyperfine
check hyperfine_times_every_sample [ "$status $(grep -c '"outside":{"wall_ns":' "$folder/samples.jsonl")" = '0 4' ]
check start_of_the_process_is_measured_too [ "$(grep -cE '"startup_ns":[1-9]' "$folder/samples.jsonl")" = 4 ]
check untimed_parts_are_recorded [ "$(grep -cE '"warmup_ns":[0-9]+,"between_ns":[0-9]+' "$folder/samples.jsonl")" = 4 ]
check hyperfine_is_named [ "$(grep -c '"timer":"hyperfine"' "$folder/samples.jsonl")" = 4 ]
cells=$(paste -d- <(grep -o '"cell":"[0-9a-f]*' "$folder/samples.jsonl" | cut -d'"' -f4) \
    <(grep -o '"seed":[0-9]*' "$folder/samples.jsonl" | cut -d: -f2) \
    <(grep -o '"block":[0-9]*' "$folder/samples.jsonl" | cut -d: -f2))
check hyperfine_keeps_its_own_records \
    [ "$(cd "$folder/hyperfine" && ls *.json)" = "$(printf '%s.json\n' $cells | sort)" ]
"$schedlab" report "$folder" --no-figures >out 2>err
check outside_has_a_row_per_cell [ "$(wc -l <"$folder/outside.tsv")" = 3 ]
check outside_is_longer_than_inside [ "$(awk -F'\t' 'NR > 1 && $7 > $6' "$folder/outside.tsv" | wc -l)" = 2 ]
rm -r results
PATH=none "$schedlab" sweep small.yaml >out 2>err
check gnuplot_that_is_missing_is_told_first \
    [ "$(head -n 1 err | grep -c 'warning: gnuplot is missing; .*the report will have no figures')" = 1 ]
PATH=none "$schedlab" sweep small.yaml --no-report >out 2>err
check gnuplot_is_not_missed_without_a_report [ "$? $(grep -c gnuplot err)" = '0 0' ]
rm -r results
PATH=none "$schedlab" sweep small.yaml --timer hyperfine >out 2>err
check hyperfine_that_is_missing_is_one_line \
    [ "$? $(wc -l <err) $(grep -c 'the Debian package hyperfine has it' err)" = '1 1 1' ]
check hyperfine_that_is_missing_costs_no_folder [ ! -e results ]

# Failures that do not stop a sweep -----------------------------------------------------------

# On a busy machine samples of fib may take longer than the limit too: the sweep fails if none was in time.
hangs=calls,n=1000,sleep_ns=10000000000
failed() { # WORKLOAD: how many of its samples took too long
    grep "\"workload\":\"$1\"" "$folder/samples.jsonl" | grep -c '"status":"failed","reason":"no answer within 2 s"'
}
file fib,n=10 $hangs
sweep small.yaml --timeout 2 --reps 1 --no-report
check hanging_cells_do_not_stop_the_sweep [ "$(records) $status" = "4 $(($(failed fib,n=10) == 2))" ]
check hanging_cells_say_why [ "$(failed $hangs)" = 2 ]
check other_cells_are_good [ $(($(grep -c '"status":"ok"' "$folder/samples.jsonl") + $(failed fib,n=10))) = 2 ]
check failures_are_told has "^failed: gmp on $hangs, 1 worker: no answer" err
rm -r results

file $hangs
sweep small.yaml --timeout 1 --reps 1 --no-report
check sweep_of_failures_fails [ $status = 1 ]
check sweep_of_failures_keeps_its_records [ "$(records)" = 2 ]
rm -r results

# Stopping ------------------------------------------------------------------------------------

# A line says that it has begun. A signal while a sample runs that never ends by itself:
file $hangs
mkfifo line
"$schedlab" sweep small.yaml --no-report >out 2>line </dev/null &
sweep_pid=$!
exec 3<line
begun
kill -TERM $sweep_pid
cat <&3 >err
exec 3<&-
wait $sweep_pid
status=$?
folder=${begun##* into }
check term_ends_a_sweep [ $status = 1 ]
check term_says_where_the_data_are has "SIGTERM.*$folder" err
check term_leaves_the_folder [ -f "$folder/samples.jsonl" ]
rm -r results line

file fib,n=10
(
    ulimit -f 64 # KiB; writing more is "File too large"
    "$schedlab" sweep small.yaml --reps 1000 --no-report >out 2>err </dev/null
)
status=$?
folder=$(echo results/*)
check full_disk_ends_a_sweep [ $status = 1 ]
check full_disk_is_one_line [ "$(grep -c 'cannot write' err)" = 1 ]
check full_disk_leaves_whole_lines whole_lines
rm -r results

# A small file system, where a mount name space can be had. Hundreds of calls make records large.
file fib,n=10
sed -i 's/^events/iterations: 600\n&/' small.yaml
mkdir disk
cat >on_small_disk <<'END'
mount -t tmpfs -o size=1200k none disk || exit 77
"$1" sweep small.yaml --reps 1000 --no-report --results disk/results >out 2>err </dev/null
echo $? >>out
cp -r disk/results .
END
if unshare -rm sh on_small_disk "$schedlab" 2>/dev/null; then
    status=$(tail -n 1 out)
    folder=$(echo results/*)
    check full_file_system_ends_a_sweep [ "$status" = 1 ]
    check full_file_system_is_said has 'samples.jsonl: No space left on device; in it: [0-9]* sample' err
    told=$(sed -n 's/.*; in it: \([0-9]*\) samples\{0,1\}$/\1/p' err)
    check full_file_system_keeps_all_it_says [ "$(records)" = "$told" ]
    check full_file_system_was_used [ "$told" -gt 20 ]
    check full_file_system_leaves_whole_lines whole_lines
    rm -r results
else
    echo "# no mount name space: skipped the small file system"
fi

sweep small.yaml --results /proc/results
check unwritable_results_fail [ $status = 1 ]
check unwritable_results_are_one_line [ "$(wc -l <err) $(grep -c 'cannot make the folder /proc' err)" = '1 1' ]
sweep small.yaml --results small.yaml
check results_that_are_a_file_fail [ "$status $(wc -l <err)" = '1 1' ]

# Misuse --------------------------------------------------------------------------------------

file fib,n=10

misuse no_file 'harness/sweeps/default.yaml' --
misuse two_files 'one sweep file' -- small.yaml small.yaml
misuse missing_file 'none.yaml: No such file' -- none.yaml
misuse unknown_option '--reps' -- small.yaml --rep-s 3
misuse reps_out_of_range '1 to 1000' -- small.yaml --reps 0
misuse reps_max_below_reps 'valid for --reps-max: 2 to 1000' -- small.yaml --reps-max 1
misuse width_without_room '--width takes at least --reps-max=6' -- small.yaml --width 5
misuse figure_without_report 'leave out --no-report' -- small.yaml --figure text --no-report
misuse unknown_timer 'the nearest is "hyperfine"' -- small.yaml --timer hyper
misuse timeout_no_number '1 to 86400 s' -- small.yaml --timeout soon
misuse bad_name 'letters, digits' -- small.yaml --name a/b
printf 'name: x\ntitle: [\n' >bad.yaml
misuse malformed_yaml 'bad.yaml:3: not valid YAML' -- bad.yaml
sed 's/variants:/varants:/' small.yaml >bad.yaml
misuse unknown_key 'bad.yaml:12: a group has no key "varants"; the nearest is "variants"' -- bad.yaml
sed 's/grq/gqr/' small.yaml >bad.yaml
misuse unknown_variant 'bad.yaml:12: unknown variant "gqr"; the nearest is "grq"' -- bad.yaml
sed 's/grq/gizmo/' small.yaml >bad.yaml
misuse far_off_variant 'bad.yaml:12: unknown variant "gizmo"; valid: kthread, uthread, ' -- bad.yaml
sed 's/grq/gmp,tick=4/' small.yaml >bad.yaml
misuse unquoted_knob 'bad.yaml:12: "tick=4" is no variant; write NAME,tick=4 as one word, and in YAML in quotes' -- bad.yaml
sed 's/Which/"&/' small.yaml >bad.yaml
misuse unclosed_quote 'while scanning a quoted scalar from line 10 on' -- bad.yaml
misuse empty_results 'valid: the path of a folder' -- small.yaml --results ''
sed 's/reps: 2/reps: two/' small.yaml >bad.yaml
misuse value_out_of_range 'bad.yaml:3: reps is two; valid: 1 to 1000 repetitions' -- bad.yaml

# One sample a cell tells nothing of the smallest task, but that it was looked for: 5 variants beside
# plain C, on 1 and 2 workers, from 5 lengths each.
"$schedlab" sweep "$sweeps/grain.yaml" --quick --results quick --no-report >folder 2>err
"$schedlab" report "$(cat folder)" --no-figures >out 2>err
check grain_gives_the_smallest_task_of_each_variant \
    [ "$(awk -F'\t' 'NR > 1 && $7 == "rounds" && $8 == "serial" && $9 == 5' "$(cat folder)/metg.tsv" | wc -l)" = 10 ]
check report_has_the_smallest_tasks grep -q 'The smallest task that still pays' "$(cat folder)/report.html"

finish
