#!/bin/bash
# test_resume.sh - a sweep that was stopped in any way goes on where it was. No sample on the disk
# is lost, none is measured twice, and nothing of another program or sweep is mixed in.
#
#     tests/program/test_resume.sh build/schedlab
#
# Prints TAP. The moments of the kills come from a seed, which is printed: SEED=N repeats them as far as
# the machine lets it.
. "$(dirname "$0")/../tap.sh"
SEED=${SEED:-$RANDOM}
RANDOM=$SEED
echo "# SEED=$SEED"

has() { grep -q -- "$1" "$2"; }

# sweep ARGUMENT...: leaves out, err and status.
sweep() {
    "$schedlab" sweep --no-report "$@" >out 2>err </dev/null
    status=$?
}

# file REPS WORKLOAD...: a sweep of gmp and grq with one and two workers, in small.yaml.
file() {
    {
        printf 'name: small\ntitle: A small sweep\nreps: %s\ntimeout_s: 600\nmin_time_ms: 0\n' "$1"
        printf 'warmup: 0\nevents: [none]\ngroups:\n  - id: one\n    question: Which?\n'
        printf '    baseline: gmp\n    variants: [gmp, grq]\n    workers: [1, 2]\n    workloads:\n'
        shift
        printf '      - %s\n' "$@"
    } >small.yaml
}

# misuse NAME PART -- ARGUMENT...: one line on standard error with PART, exit 2, no record touched.
misuse() {
    local name=$1 part=$2 good=0 before
    shift 3
    before=$(cksum "$run/samples.jsonl")
    sweep "$@"
    refused "$part" && [ "$before" = "$(cksum "$run/samples.jsonl")" ] && good=1
    report $good "$name"
}

records() { wc -l <"$run/samples.jsonl"; }
whole_lines() { [ -z "$(tail -c 1 "$run/samples.jsonl")" ] && ! grep -vqE '^\{.*\}$' "$run/samples.jsonl"; }
# The values of a key, one a line; only those of the record itself stand without a space.
values() { grep -oE "\"$1\":\"?[0-9a-z-]+" "$run/samples.jsonl"; }
cells_by_block() { paste -d' ' <(values cell) <(values block); }
in_order() { [ "$(values position | grep -o '[0-9]*$')" = "$(seq 0 $(($(records) - 1)))" ]; }

# kill -9 at random moments -------------------------------------------------------------------------

# killed ARGUMENT...: a sweep that dies after a random time of up to $limit_ms.
limit_ms=500
killed() {
    local ms=$((RANDOM % limit_ms)) seconds
    printf -v seconds %d.%03d $((ms / 1000)) $((ms % 1000))
    # In a shell of its own, which tells nobody that it was killed.
    (timeout -s KILL $seconds "$schedlab" sweep --no-report "$@" >out 2>err </dev/null; true) 2>/dev/null
}

reps=6
file $reps fib,n=10 spawn,n=100
for ((try = 0; try < 50; try++)); do # until one has begun to measure before it dies, however busy the machine is
    killed small.yaml --seed 5
    run=$(dirname "$(ls results/*/samples.jsonl 2>/dev/null | head -n 1)")
    [ -s "$run/samples.jsonl" ] && break
    rm -rf results
    limit_ms=$((limit_ms < 15000 ? limit_ms * 5 / 4 : 15000)) # RANDOM ends at 32767
done
check killed_sweep_leaves_records [ -s "$run/samples.jsonl" ]
[ $bad = 0 ] || { finish; exit 1; }

cuts=0 said=0 kept=1
for ((i = 0; i < 6; i++)); do
    # In half of the cases as if the kill had come in the middle of a write.
    if [ $((RANDOM % 2)) = 0 ] && [ "$(records)" -gt 1 ]; then
        last=$(tail -n 1 "$run/samples.jsonl" | wc -c)
        truncate -s "-$((1 + RANDOM % (last - 1)))" "$run/samples.jsonl"
        cuts=$((cuts + 1))
        cut=1
    else
        cut=0
    fi
    head -n "$(records)" "$run/samples.jsonl" >before
    killed --resume "$run"
    cmp -s before <(head -n "$(wc -l <before)" "$run/samples.jsonl") || kept=0
    # It may have died before it came to look.
    [ $cut = 1 ] && { has 'its last line is not whole; cut off' err || ! has '^resumed' err; } &&
        said=$((said + 1))
done
check kill_9_costs_no_whole_record [ $kept = 1 ]
check cut_lines_are_said [ "$said" = $cuts ]
# The last kill may have come before what had been cut was looked at.
head -n "$(records)" "$run/samples.jsonl" >before
cp before "$run/samples.jsonl"
printf '{"cell":"of a write that never ended' >>"$run/samples.jsonl"
sweep --resume "$run"
check resume_ends_well [ $status = 0 ]
check resume_says_what_it_cut has 'its last line is not whole; cut off 36 bytes' err
check resume_prints_the_folder [ "$(cat out)" = "$run" ]
check resume_leaves_whole_lines whole_lines
check each_cell_is_in_each_block [ "$(records)" = $((8 * reps)) ]
check each_cell_is_in_each_block_once [ "$(cells_by_block | sort -u | wc -l)" = $((8 * reps)) ]
check positions_are_in_order in_order
check plan_is_complete [ "$(grep -c '"stop": "reps"' "$run/plan.json")" = 8 ]
check environment_tells_of_resumptions has '"resumed"' "$run/environment.json"
check nothing_is_left_over [ "$(cd "$run" && echo *)" = 'environment.json plan.json samples.jsonl sweep.yaml timings.json' ]

# The order within each block is what an undisturbed sweep has.
cells_by_block >orders
sweep small.yaml --seed 5 --results other
first=$run
run=$(cat out)
check order_is_that_of_an_undisturbed_sweep cmp -s orders <(cells_by_block)
run=$first

sweep --resume "$run"
check complete_run_has_nothing_to_measure [ "$status $(records)" = "0 $((8 * reps))" ]

# A power cut may leave a line whose beginning never reached the disk.
head -c 100 /dev/zero >>"$run/samples.jsonl"
echo >>"$run/samples.jsonl"
sweep --resume "$run"
check lost_page_is_cut_off [ "$status $(records)" = "0 $((8 * reps))" ]

# A run that has no records yet is measured from the beginning.
rm "$run/samples.jsonl" "$run/plan.json"
sweep --resume "$run"
check run_without_records_is_measured_whole [ "$status $(records)" = "0 $((8 * reps))" ]
rm -rf other

# A signal ------------------------------------------------------------------------------------------

# A line says that it has begun. A sample that never ends by itself is being measured then.
file 1 calls,n=1000,sleep_ns=10000000000
mkfifo line
"$schedlab" sweep small.yaml --no-report --timeout 600 --results stopped >out 2>line </dev/null &
sweep_pid=$!
exec 3<line
begun
run=${begun##* into }
"$schedlab" sweep --resume "$run" >out 2>err </dev/null
check run_being_measured_is_left_alone [ "$? $(wc -l <err)" = '1 1' ]
check run_being_measured_has_no_trace_of_it [ "$(grep -c '"resumed"' "$run/environment.json")" = 0 ]
check run_being_measured_is_said has 'another process is measuring' err
kill -TERM $sweep_pid
cat <&3 >err
exec 3<&-
wait $sweep_pid
check stopped_sweep_says_how_to_go_on has "sweep --resume $run" err
check stopped_sweep_writes_its_plan [ "$(grep -c '"stop": "interrupted"' "$run/plan.json")" = 4 ]
sed -i 's/"timeout_s": 600/"timeout_s": 1/' "$run/environment.json"
sweep --resume "$run"
check options_of_the_beginning_are_in_force [ "$(grep -c 'no answer within 1 s' "$run/samples.jsonl")" = 4 ]
rm -r stopped line

# A program built anew in mid-sweep -------------------------------------------------------------------

mkdir program
cp "$schedlab" "$schedlab-sim" program
file 4 fib,n=14
sed -i 's/^min_time_ms: 0/machine: sim:desktop8/' small.yaml
program/schedlab sweep small.yaml --no-report --name rebuilt --results rebuilt >out 2>err </dev/null &
sweep_pid=$!
until grep -qs '"status":"ok"' rebuilt/*/samples.jsonl || ! kill -0 $sweep_pid; do :; done
rm program/schedlab-sim
printf '#!/bin/sh\nexit 3\n' >program/new
chmod +x program/new
mv program/new program/schedlab-sim
wait $sweep_pid
check samples_run_the_program_that_was_there_at_first [ "$? $(grep -c '"status":"ok"' rebuilt/*/samples.jsonl)" = '0 16' ]

# Differences ---------------------------------------------------------------------------------------

file 3 fib,n=10
sweep small.yaml --seed 1 --results fit
run=$(cat out)
cp -r "$run" whole
head -n 5 whole/samples.jsonl >"$run/samples.jsonl"
misuse options_belong_to_the_beginning 'leave out --reps' -- --resume "$run" --reps 4
misuse force_alone '--force takes --resume' -- small.yaml --force
misuse folder_of_no_run 'not the folder of a sweep' -- --resume .
sed 's/title: A/title: Another/' small.yaml >other.yaml
misuse other_sweep_file "other.yaml differs from $run/sweep.yaml" -- other.yaml --resume "$run"
misuse missing_sweep_file 'cannot read none.yaml' -- none.yaml --resume "$run"
cp "$run/environment.json" kept.json
sed -i 's/"revision": "[^"]*"/"revision": "0123456789ab"/' "$run/environment.json"
misuse other_revision 'revision: the run began with 0123456789ab, this is' -- --resume "$run"
sed 's/"compiler": "[^"]*"/"compiler": "tcc 0.9"/' kept.json >"$run/environment.json"
misuse other_compiler 'compiler: the run began with tcc 0.9, this is' -- --resume "$run"
echo '{' >"$run/environment.json"
misuse broken_environment 'environment.json:2: ' -- --resume "$run"
cp kept.json "$run/environment.json"
echo '# a remark' >>"$run/sweep.yaml"
misuse changed_copy 'sweep.yaml was changed since the run began' -- --resume "$run"
cp small.yaml "$run/sweep.yaml"

# damaged NAME PART: resuming fails with one line that has PART.
damaged() {
    sweep --resume "$run"
    check "$1" [ "$status $(grep -c -- "$2" err)" = '1 1' ]
}
sed -i '2s/^{/[/' "$run/samples.jsonl"
damaged damage_in_the_middle_is_not_repaired 'samples.jsonl:2: not a record'
check failed_resumption_leaves_no_trace cmp -s kept.json "$run/environment.json"
sed '3{p;s/"position":2/"position":9/;s/,"check":.*/}/}' whole/samples.jsonl | head -n 5 >"$run/samples.jsonl"
damaged sample_that_is_there_twice_is_named 'samples.jsonl:4: cell [0-9a-f]* is in block 0 a second time'

head -n 5 whole/samples.jsonl >"$run/samples.jsonl"
sweep small.yaml --resume "$run"
check same_sweep_file_is_accepted [ "$status $(records)" = '0 12' ]
sed 's/reps: 3/reps: 4/' small.yaml >other.yaml
sed -i 's/"revision": "[^"]*"/"revision": "0123456789ab"/' "$run/environment.json"
sweep other.yaml --resume "$run" --force
check force_goes_on_with_the_other_file [ "$status $(records)" = '0 16' ]
check force_says_what_differs [ "$(grep -c '^in spite of it: ' err)" = 2 ]
check force_records_what_differed [ "$(grep -c -e 'differs from' -e 'began with 0123456789ab' "$run/environment.json")" = 2 ]
check force_keeps_the_file_that_was_measured cmp -s other.yaml "$run/sweep.yaml"

finish
