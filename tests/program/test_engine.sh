#!/bin/bash
# test_engine.sh - sweeps whose cells others measure: the same records as of one machine, whatever is lost
# on the way, and an end in any case. The cluster is tests/support/fake_slurm.sh; `make test-slurm` has a real one.
#
#     tests/program/test_engine.sh build/schedlab
#
# Prints TAP.
. "$(dirname "$0")/../tap.sh"

# In this program simulated samples of perm end the job that measures them; those of static do so
# the first time. Samples of tasksteal say that they have begun, and hang until there is a file
# `go`.
mkdir bin slurm slurm/bin
mkfifo begun
exec 3<>begun
cp "$schedlab" bin/schedlab
cat >bin/schedlab-sim <<EOF
#!/bin/sh
case "\$*" in
*perm*) kill -KILL \$PPID; exit 1 ;;
*static*) [ -e $scratch/lost ] || { touch $scratch/lost; kill -KILL \$PPID; exit 1; } ;;
*tasksteal*) [ -e $scratch/go ] || { echo >>$scratch/begun; exec tail -f /dev/null; } ;;
esac
exec "$schedlab-sim" "\$@"
EOF
chmod +x bin/schedlab-sim
echo 1001 >slurm/max
for name in sbatch squeue scancel scontrol; do
    printf '#!/bin/bash\n. %s/tests/support/fake_slurm.sh\n' "$tree" >slurm/bin/$name
    chmod +x slurm/bin/$name
done
export FAKE_SLURM=$scratch/slurm
PATH=$scratch/slurm/bin:$PATH

# sweep PROGRAM ARGUMENT...: leaves out, err, status, and folder where it printed one.
sweep() {
    "$1" sweep "${@:2}" --no-report >out 2>err </dev/null
    status=$?
    folder=$(tail -n 1 out)
}
run() { sweep bin/schedlab "$@"; } # for misuse
slurm() { : >slurm/calls && sweep bin/schedlab "$@" --engine slurm; }
same() { cmp -s reference "$folder/samples.jsonl"; }
called() { grep -c "^$1" slurm/calls; }
# A sweep that cannot begin leaves nothing, and what was not handed in is not cancelled.
nothing_is_left() { [ "$status $(called scancel) $(find results -maxdepth 1 -name "$1-*" | wc -l)" = '1 0 0' ]; }
jobs_left() { find slurm/jobs -type f | wc -l; }

# file NAME MACHINE VARIANTS
file() {
    printf 'name: small\ntitle: A small sweep\nreps: 2\nmin_time_ms: 0\nwarmup: 0\nevents: [none]\n'
    printf 'seed: 1\nmachine: %s\ngroups:\n  - id: one\n    question: Which?\n' "$2"
    printf '    baseline: gmp\n    variants: [%s]\n    workers: [1, 2]\n' "$3"
    printf '    workloads: ["fib,n=8"]\n'
} >"$1"
touch out err

# Measuring -------------------------------------------------------------------------------------

file sim.yaml sim:server64,cores=2 'gmp, grq, static'
sweep "$schedlab" sim.yaml
cp "$folder/samples.jsonl" reference
touch lost
slurm sim.yaml
check records_are_those_of_one_machine same
check and_so_is_the_plan cmp -s "$folder/plan.json" "$(ls -d results/* | head -n 1)/plan.json"
check each_cell_was_begun_once [ "$(cat "$folder"/jobs/*.begun | sort | uniq -c | grep -c ' 1 ')" = 12 ]
check jobs_are_arrays_of_one_core grep -q -- '^sbatch .*--array=0-[0-9]* .*--cpus-per-task=1' slurm/calls
slurm sim.yaml --results other --job-seconds 1 --sbatch=--partition=long --sbatch=--nice
check short_jobs_are_more_jobs [ "$(ls "$folder"/jobs/*.list | wc -l)" -gt 1 ]
check options_reach_sbatch grep -q -- '--partition=long --nice /' slurm/calls
check records_are_the_same_in_many_jobs same
mv "$folder/cells" kept
touch slurm/completing
timeout 600 bin/schedlab sweep sim.yaml --no-report --engine slurm >out 2>err </dev/null
status=$? folder=$(tail -n 1 out)
rm slurm/completing
check no_job_is_waited_for_that_has_nothing_to_do [ "$status $(cmp reference "$folder/samples.jsonl" 2>&1)" = '0 ' ]
# The user's settings for squeue do not hide jobs; the first look comes while they run.
: >slurm/calls
touch slurm/slow
SQUEUE_STATES=PENDING SQUEUE_PARTITION=other SLURM_CLUSTERS=loop slurm sim.yaml --name wishes
rm slurm/slow
check no_job_is_hidden [ "$(called sbatch) $(cat "$folder"/jobs/*.begun | sort | uniq -c | grep -c ' 1 ')" = '1 12' ]
check nor_are_headings_jobs same
SBATCH_CLUSTERS=far slurm sim.yaml --name far
check jobs_that_cannot_be_followed_are_refused [ "$status $(wc -l <err) $(grep -c 'SBATCH_CLUSTERS.*valid: SLURM_CLUSTERS' err)" = '1 1 1' ]
check and_leave_nothing nothing_is_left far
slurm sim.yaml --cells kept
check nothing_is_submitted_for_what_is_there [ "$status $(called sbatch)" = '0 0' ]
check records_are_the_same_of_old_results same

file native.yaml native 'gmp, grq, static'
sed -i 's/min_time_ms: 0/min_time_ms: 100/' native.yaml
slurm native.yaml --job-seconds 1
check that_nothing_pins_is_told [ "$(grep -c 'pin: true' err)" = 1 ]
check native_jobs_have_a_node_alone grep -q -- '^sbatch .*--exclusive' slurm/calls
check native_cells_stay_on_one_kind [ -s "$folder/jobs/processor" ]
check native_records_are_complete [ "$(grep -c '"cpu":' "$folder/samples.jsonl")" = 12 ]
# Prints the number of pairs of block and set, the most jobs that one of them is in, and True if the
# order within jobs is that of the block.
bin/schedlab sweep native.yaml --plan --format json >plan
python3 - "$folder" >sets <<'EOF'
import glob, json, sys
place = {c['id']: (i, c['repetition'], c['workload'], c['workers']) for i, c in enumerate(json.load(open('plan'))['cells'])}
lists = [[place[l.strip()] for l in open(f)] for f in glob.glob(sys.argv[1] + '/jobs/*.list')]
jobs = {}
for number, cells in enumerate(lists):
    for cell in cells:
        jobs.setdefault(cell[1:], set()).add(number)
print(len(jobs), max(len(j) for j in jobs.values()), all(c == sorted(c) for c in lists))
EOF
check what_is_compared_is_in_one_job_in_order [ "$(cat sets)" = '4 1 True' ]
# A cell that two groups count alike, one because it says so itself, is measured once.
native=$folder
file twice.yaml sim:server64,cores=2 'gmp, grq'
sed 's/id: one/id: two/; s/\[gmp, grq\]/[gmp, static]\n    events: [none]/' twice.yaml | sed -n '/^  - id/,$p' >>twice.yaml
sweep "$schedlab" twice.yaml
cp "$folder/samples.jsonl" twice
slurm twice.yaml --job-seconds 1 --results twofold
check cells_of_two_groups_are_measured_once [ "$(cat "$folder"/jobs/*.list | sort | uniq -c | grep -vc ' 1 ') \
$(cat "$folder"/jobs/*.begun | wc -l)" = '0 12' ]
check and_are_in_both cmp -s twice "$folder/samples.jsonl"

# Where kinds may be mixed, no job asks of which kind its node is, and what is there of another one is taken.
cp -r "$native/cells" mixed
rm -r "$(find mixed -mindepth 1 -type d | head -n 1)"
one=$(find mixed -name '*.json' | head -n 1)
sed -i 's/"cpu":"[^"]*"/"cpu":"Other 3000"/' "$one"
slurm native.yaml --job-seconds 1 --cells mixed --name unmixed
check kinds_are_not_mixed_by_an_engine_either [ "$status $(grep -c 'Other 3000.*--mix-machines' err)" = '1 1' ]
check which_is_known_before_anything_is_handed_in nothing_is_left unmixed
# Where all that is there is of another kind, jobs are told so; two kinds, be it of two groups, are too many.
cp -r mixed others
find others -name '*.json' -exec sed -i 's/"cpu":"[^"]*"/"cpu":"Other 3000"/' {} +
slurm native.yaml --job-seconds 1 --cells others --name others
check jobs_are_told_of_which_kind_the_others_are [ "$status $(cat results/others-*/jobs/processor) \
$(grep -c 'are measured on "Other 3000"' results/others-*/jobs/3-native-0.log)" = '1 Other 3000 1' ]
check that_they_refuse_is_told_once_after_the_first_round [ "$(grep -c 'slurm: a job began no cell; .*/1-native-[0-9]*.log: .* are measured on "Other 3000"' err) \
$(grep -A1 'a job began no cell' err | grep -c 'without a result yet')" = '1 1' ]
rm -r results/others-*
for file in $(grep -rl '"workers":2' others); do sed -i 's/"cpu":"[^"]*"/"cpu":"Third 1"/' "$file"; done
file=$(grep -l '"workers":1' -r others | head -n 1) && rm "$file"
file=$(grep -l '"workers":2' -r others | head -n 1) && rm "$file"
slurm native.yaml --job-seconds 1 --cells others --name others
check all_numbers_of_workers_of_a_group_are_of_one_kind [ "$status $(grep -c 'what it is compared with on .*--mix-machines' err)" = '1 1' ]
sed -n '/^  - id/,$p' native.yaml | sed 's/id: one/id: two/; s/\[1, 2\]/[2]/' >two
sed 's/\[1, 2\]/[1]/' native.yaml | cat - two >groups.yaml
slurm groups.yaml --job-seconds 1 --cells others --name others
check two_kinds_of_two_comparisons_are_too_many_for_jobs [ "$(grep -c 'what is lacking.*Other 3000.*Third 1\|what is lacking.*Third 1.*Other 3000' err)" = 1 ]
check and_nothing_is_handed_in nothing_is_left others
# One kind is that of jobs, also for a group of which there is nothing.
cp -r "$native/cells" others-one
for file in $(grep -rl '"workers":2' others-one); do rm "$file"; done
find others-one -name '*.json' -exec sed -i 's/"cpu":"[^"]*"/"cpu":"Other 3000"/' {} +
slurm groups.yaml --job-seconds 1 --cells others-one --name whole
check a_group_of_which_nothing_is_there_is_of_the_kind_of_all [ "$status $(cat results/whole-*/jobs/processor)" = '1 Other 3000' ]
slurm native.yaml --job-seconds 1 --cells mixed --name mixed --mix-machines
check unless_that_is_asked_for [ "$status $(wc -l <"$folder/samples.jsonl") $(grep -c 'Other 3000' "$folder/samples.jsonl")" = '0 12 1' ]
check and_then_no_job_asks [ ! -e "$folder/jobs/processor" ]
folder=$native
echo 'Other 3000' >"$folder/jobs/processor"
rm -r "$folder"/cells/*/ "$folder/samples.jsonl"
: >slurm/calls
sweep bin/schedlab --resume "$folder" --engine slurm
check nodes_of_another_kind_are_refused [ "$status $(grep -c '3 times in a row.*Other 3000' err)" = '1 1' ]
# The rest of a run on one machine is measured on its kind only.
sweep bin/schedlab native.yaml --name plain
sed -i 5q "$folder/samples.jsonl"
sed -i 's/"model": "[^"]*"/"model": "Other 3000"/' "$folder/environment.json"
sweep bin/schedlab --resume results/plain-* --engine slurm --force
check jobs_go_on_with_the_kind_of_the_run [ "$status $(cat results/plain-*/jobs/processor) \
$(cat results/plain-*/jobs/*.begun 2>/dev/null | wc -l)" = '1 Other 3000 0' ]

# Losses ----------------------------------------------------------------------------------------

rm lost
slurm sim.yaml
check a_lost_job_is_made_up_for same
check with_what_it_took_only [ "$(cat "$folder"/jobs/*.begun | wc -l)" = 13 ]
file bad.yaml sim:server64,cores=2 'gmp, perm'
sed -i 's/reps: 2/reps: 1/; s/workers: .*/workers: [1]/' bad.yaml
slurm bad.yaml
check a_cell_that_ends_its_jobs_fails [ "$status $(grep -c '3 jobs began it and ended without a result' "$folder/samples.jsonl")" = '0 1' ]
check no_machine_is_said_to_have_measured_it [ "$(grep -rL '"host":' "$folder/cells" | wc -l)" = 1 ]
check the_others_do_not [ "$(grep -c '"status":"ok"' "$folder/samples.jsonl")" = 1 ]
check and_it_is_tried_so_often [ "$(cat "$folder"/jobs/*.begun | sort | uniq -c | grep -c ' 3 ')" = 1 ]
printf 'None\nPartitionConfig\nPartitionConfig\nPriority\n' >slurm/waits
slurm sim.yaml
check why_no_job_runs_is_told_once [ "$status $(grep -o 'no job runs: [A-Za-z]*' err | paste -sd ' ')" = '0 no job runs: PartitionConfig no job runs: Priority' ]
printf '\n\n\n' >slurm/later
slurm sim.yaml
check a_controller_that_is_away_is_waited_for same
check and_told_of [ "$(grep -c 'slurm does not answer' err)" = 1 ]
for file in late away; do
    echo >slurm/$file
    [ $file = away ] || echo >slurm/later
    slurm sim.yaml --name $file
    check "jobs_that_sbatch_was_${file}_for_are_there_once" [ "$status $(cat "$folder"/jobs/*.begun | sort | uniq -c | grep -c ' 1 ') \
$(sort slurm/scripts | uniq -d | wc -l)" = '0 12 0' ]
    check "records_are_the_same_when_it_was_$file" same
    check "and_so_much_is_told_when_it_was_$file" grep -q '^sbatch: Unable to contact .*; trying again' err
done
echo >slurm/deaf
slurm sim.yaml --name silent
check a_controller_that_is_away_at_first_is_an_error nothing_is_left silent
check and_what_it_says_is_told [ "$(cat err)" = 'schedlab sweep: squeue: Unable to contact slurm controller (connect failure)' ]
mv slurm/bin/squeue .
: >slurm/calls
PATH=$scratch/slurm/bin bin/schedlab sweep sim.yaml --engine slurm --name silent >out 2>err
status=$?
check a_program_that_is_missing_is_named [ "$status $(grep -c 'squeue is not in PATH' err)" = '1 1' ]
check and_leaves_nothing nothing_is_left silent
mv squeue slurm/bin/
echo 5 >slurm/max
slurm sim.yaml --job-seconds 1 --results unknown
check arrays_are_as_long_as_the_cluster_takes [ "$(called sbatch) $(grep -c -- '--array=0-4 ' slurm/calls)" = '3 2' ]
check and_hold_every_cell_once same
echo 1001 >slurm/max
chmod -x bin/schedlab-sim
slurm sim.yaml
check a_machine_that_cannot_is_an_error [ "$status" = 1 ]
chmod +x bin/schedlab-sim
printf '#!/bin/sh\nprintf "sbatch: error: invalid partition specified: long\\nsbatch: error: Batch job submission failed\\n" >&2\nexit 1\n' >slurm/bin/sbatch
slurm sim.yaml --name refused
check what_sbatch_says_is_told grep -q 'sweep: sbatch: invalid partition specified: long; Batch job submission failed$' err
check and_leaves_nothing_either nothing_is_left refused
printf '#!/bin/sh\necho "sbatch: Job 7 to start at 2026-01-31T12:00:00" >&2\n' >slurm/bin/sbatch
slurm sim.yaml --sbatch=--test-only --name refused
check a_job_without_a_number_is_none grep -q 'sbatch handed no job in' err
check and_leaves_nothing_too nothing_is_left refused
printf '#!/bin/sh\necho 1\n' >slurm/bin/sbatch
slurm sim.yaml
check jobs_that_begin_nothing_end_the_sweep [ "$status $(grep -c 'no job began a cell, 3 times in a row.*is not there: do all' err)" = '1 1' ]
check and_how_it_goes_on_is_told [ "$(grep -c 'resume.*--engine slurm. goes on' err)" = 1 ]
printf '#!/bin/bash\n. %s/tests/support/fake_slurm.sh\n' "$tree" >slurm/bin/sbatch

# Stopping --------------------------------------------------------------------------------------

file slow.yaml sim:server64,cores=2 'gmp, tasksteal'
touch go
sweep "$schedlab" slow.yaml
cp "$folder/samples.jsonl" reference
rm go
: >slurm/calls
bin/schedlab sweep slow.yaml --no-report --engine slurm --name stopped --cells 'kept here' --mix-machines \
    --sbatch=--partition=long --sbatch='--comment=two words' --job-seconds 7 >out 2>err </dev/null &
pid=$!
read -r -t 600 -u 3
echo >slurm/stuck
kill -TERM $pid
wait $pid
check a_signal_ends_it [ $? = 1 ]
check and_how_to_go_on_is_told grep -q -- "--resume results/stopped[^ ]* --cells 'kept here' --engine slurm --sbatch=--partition=long \
--sbatch='--comment=two words' --job-seconds 7 --mix-machines. goes on" err
check and_its_jobs [ "$(called 'scancel --name=schedlab-stopped') $(jobs_left)" = '2 0' ]
folder=$(ls -d results/stopped*)
touch go
: >slurm/calls
printf '\n\n' >slurm/deaf
sweep bin/schedlab --resume "$folder" --engine slurm --cells 'kept here'
check it_is_resumed same
check and_hands_nothing_in_before_it_knows_what_is_there [ "$(grep -c 'slurm does not answer' err) \
$(sed '/^sbatch/,$d' slurm/calls | grep -c '^squeue')" = '1 3' ]

# GNU parallel ----------------------------------------------------------------------------------

cat >slurm/bin/parallel <<'EOF'
#!/bin/bash
echo "parallel $*" >>"$FAKE_SLURM/calls"
while [ $# -gt 1 ]; do
    [ "$1" = -a ] && commands=$2
    shift
done
[ "$1" = "$commands" ] || exit 1 # a command for all, in which it would replace words
while IFS= read -r -d '' command; do sh -c "$command"; done <"$commands"
EOF
chmod +x slurm/bin/parallel
echo : >hosts
: >slurm/calls
file both.yaml native 'gmp, tasksteal'
sed 's/id: one/id: two/; s/^    question/    machine: "sim:server64,cores=2"\n&/' slow.yaml | sed -n '/^  - id/,$p' >>both.yaml
sweep bin/schedlab slow.yaml --engine parallel --sshloginfile hosts
check parallel_gives_the_same same
check simulated_cells_take_a_core grep -q -- '--sshloginfile hosts --jobs 100%' slurm/calls
sweep bin/schedlab both.yaml --engine parallel --sshloginfile hosts
check native_and_simulated_ones_are_measured [ "$status $(grep -c '"status":"ok"' "$folder/samples.jsonl")" = '0 16' ]
check native_cells_take_a_machine grep -q -- '--sshloginfile hosts --jobs 1 ' slurm/calls

# Nothing in a path is parallel's to replace, or the shell's: also with the real one, if it is here.
hostile="a{}b{.}{#}{= system('touch pwned') =}\$(touch pwned)'
c"
sweep bin/schedlab slow.yaml --engine parallel --sshloginfile hosts --results "$hostile"
check parallel_takes_paths_as_they_are cmp reference "$hostile"/*/samples.jsonl
rm -r "$hostile"
real=$(PATH=${PATH#*:} command -v parallel)
if [ -n "$real" ]; then
    mv slurm/bin/parallel fake
    sweep bin/schedlab slow.yaml --engine parallel --sshloginfile hosts --results "$hostile"
    check so_does_the_real_one cmp reference "$hostile"/*/samples.jsonl
    rm -r "$hostile"
    mv fake slurm/bin/parallel
fi
check and_nothing_is_executed [ ! -e pwned ]

# The sweep may have been started with SIGCHLD ignored, and then hears of no child that ends.
printf '#!/bin/sh\nexec timeout 600 env --ignore-signal=CHLD bin/schedlab "$@"\n' >bin/ignoring
chmod +x bin/ignoring
sweep bin/ignoring slow.yaml --engine parallel --sshloginfile hosts
check parallel_ends_also_where_nobody_hears_of_it same

rm -r results
misuse hosts_are_needed '--engine=parallel takes --sshloginfile' -- sim.yaml --engine parallel
misuse hosts_are_for_parallel '--sshloginfile takes --engine=parallel' -- sim.yaml --sshloginfile hosts
misuse hosts_that_are_not_there_are_named 'cannot read nohosts: No such file' -- sim.yaml --engine parallel --sshloginfile nohosts
printf '# none\n\n' >nohosts
misuse a_file_without_hosts_is_not_this_machine 'nohosts names no machine' -- sim.yaml --engine parallel --sshloginfile nohosts
misuse plans_measure_nothing '--engine measures, and --plan does not' -- sim.yaml --engine slurm --plan
misuse options_of_sbatch_have_a_dash '--sbatch=partition=long is not valid' -- sim.yaml --engine slurm --sbatch=partition=long
misuse kinds_are_for_cells '--mix-machines takes' -- sim.yaml --mix-machines
misuse options_are_for_slurm '--sbatch takes --engine=slurm' -- sim.yaml --sbatch=-p
finish
