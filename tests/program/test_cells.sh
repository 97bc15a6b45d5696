#!/bin/bash
# test_cells.sh - single cells of a sweep: ids that say what they are of, results in files of their own
# that sweeps take in place of measuring, and folders of them that are joined.
#
#     tests/program/test_cells.sh build/schedlab
#
# Prints TAP.
. "$(dirname "$0")/../tap.sh"

# run ARGUMENT...: the program; leaves out, err and status.
run() {
    "$schedlab" "$@" >out 2>err </dev/null
    status=$?
}
ids() { "$schedlab" sweep "$@" --plan | sed -nE 's|^([0-9a-f]{16}) .*|\1|p'; }
files() { find "$1" -name '*.json' | wc -l; }
# The samples of a sweep; the last line of `out` is its folder.
samples() { cat "$(tail -n 1 out)/samples.jsonl"; }

# file NAME MACHINE VARIANTS
file() {
    printf 'name: small\ntitle: A small sweep\nreps: 2\nmin_time_ms: 0\nwarmup: 0\nevents: [none]\n'
    printf 'machine: %s\ngroups:\n  - id: one\n    question: Which?\n    baseline: gmp\n' "$2"
    printf '    variants: [%s]\n    workers: [1, 2]\n    workloads: ["fib,n=8"]\n' "$3"
} >"$1"
file sim.yaml sim:server64,cores=2 'gmp, grq'
file native.yaml native 'gmp, grq'
touch out err

# Ids ------------------------------------------------------------------------------------------

ids sim.yaml --seed 1 >a
check plan_has_each_repetition [ "$(sort -u a | wc -l)" = 8 ]
check ids_are_stable diff a <(ids sim.yaml --seed 1)
run sweep sim.yaml --no-report --cells sim.yaml --name refused
check no_run_is_made_for_cells_that_have_no_place [ "$status $(wc -l <err) $(find results -maxdepth 1 -name 'refused-*' 2>/dev/null | wc -l)" = '1 1 0' ]
common() { sort "$1" "$2" | uniq -d | wc -l; }
for change in '--seed 2' '--timeout 99' '--machine sim:server64,cores=3' '--machine native'; do
    # shellcheck disable=SC2086
    ids sim.yaml --seed 1 $change >b
    check "ids_of_another_${change// /_}_differ" [ "$(wc -l <b) $(common a b)" = '8 0' ]
done
ids sim.yaml --seed 1 --reps 3 >b
check more_repetitions_keep_ids [ "$(wc -l <b) $(common a b)" = '12 8' ]
file other.yaml sim:server64,cores=2 'perm, gmp'
ids other.yaml --seed 1 >b
check ids_are_of_cells_and_not_of_files [ "$(common a b)" = 4 ]
run sweep sim.yaml --seed 1 --plan --format json
json plan_is_json "len(j['cells']) == j['count'] == 8 and j['seed'] == 1"
json unknown_times_are_null "all(c['seconds'] is None and c['seconds_from'] == 'unknown' for c in j['cells'])"
run sweep native.yaml --seed 1 --plan
check plan_makes_nothing [ ! -e results ]
run sweep "$tree/harness/sweeps/smoke.yaml" --seed 1 --plan
check a_plan_in_a_pipe_has_80_columns awk 'length > 80 || / $/ { exit 1 }' out
sed -nE '/^[0-9a-f]{16} /{N;s/\n//;p}' out | tr -s ' ' >folded
COLUMNS=150 run sweep "$tree/harness/sweeps/smoke.yaml" --seed 1 --plan
grep -E '^[0-9a-f]{16} ' out | tr -s ' ' >rows
check a_folded_plan_says_no_less eval '[ "$(wc -l <rows)" -gt 20 ] && diff folded rows'

# One cell -------------------------------------------------------------------------------------

one=$(head -n 1 a)
run run --cell "$one" --sweep sim.yaml --seed 1 --cells c
check a_cell_runs [ "$status $(files c)" = '0 1' ]
mkdir bin && cp "$schedlab" bin/schedlab && : >bin/schedlab-sim && chmod +x bin/schedlab-sim
bin/schedlab run --cell "$(schedlab=bin/schedlab ids sim.yaml --seed 1 | head -n 1)" --sweep sim.yaml --seed 1 --cells d >out 2>err
status=$?
check a_program_that_cannot_start_says_nothing_of_a_cell [ "$status $(files d) $(grep -c 'no sample can be started' err)" = '1 0 1' ]
json result_says_what_and_where "j['unit'] == '$one' and j['host'] and j['seconds'] > 0 and \
    j['record']['status'] == 'ok' and 'block' not in j['record']" "c/${one:0:2}/$one.json"
sum=$(cat c/*/*)
run run --cell "$one" --sweep sim.yaml --seed 1 --cells c
check a_cell_that_is_there_is_not_measured grep -q '0 cells measured, 0 of them failed; 1 were there' err
check its_result_stays [ "$sum" = "$(cat c/*/*)" ]
check no_drafts_are_left [ "$(find c -name '.*' | wc -l)" = 0 ]
misuse unknown_cells_are_refused 'has no cell 0123456789abcdef' -- run --cell 0123456789abcdef --sweep sim.yaml --seed 1
misuse other_words_are_no_ids 'is no id of a cell' -- run --cell fib --sweep sim.yaml --seed 1
misuse a_seed_is_needed 'has no seed' -- run --cell "$one" --sweep sim.yaml
misuse a_sweep_is_needed '--cell takes --sweep=FILE' -- run --cell "$one"

# Repetitions that a sweep may come to, the last of which is a top-up after all blocks and repeats.
file far.yaml sim:server64,cores=2 gmp
sed -i 's/reps: 2/reps: 1\nreps_max: 6\nwidth: 5\nrepeat_disturbed: true\nclass_min: 2/; s/\[1, 2\]/[1]/' far.yaml
"$schedlab" sweep far.yaml --seed 1 --reps 19 --reps-max 19 --plan | sed -nE 's|^([0-9a-f]{16}) .*|\1|p' >b
run run --cell "$(sed -n 18p b)" --sweep far.yaml --seed 1 --cells far
check the_last_repetition_of_all_is_a_cell [ "$status $(files far)" = '0 1' ]
misuse the_one_behind_it_is_none 'has no cell' -- run --cell "$(sed -n 19p b)" --sweep far.yaml --seed 1

# A sample that is stopped, alone or before the process that measures it: that one gets its signal when it has
# taken note of the sample's end, and waits.
mkdir bin
cp "$schedlab" bin/schedlab
cat >bin/schedlab-sim <<EOF
#!/bin/bash
follow() {
    touch $scratch/following
    while [ -d /proc/\$1 ] || grep -q '^State:.[RD]' /proc/\$2/status; do :; done
    kill -"\$(cat $scratch/signal)" \$2
}
export -f follow
if [ ! -e $scratch/alone ]; then
    setsid bash -c 'follow \$0 \$1' \$\$ \$PPID </dev/null >/dev/null 2>&1 &
    until [ -e $scratch/following ]; do :; done
fi
kill -KILL \$\$
EOF
chmod +x bin/schedlab-sim
measure() { # the program's own first cell: of a build with changes the bytes of both programs are in ids
    bin/schedlab sweep sim.yaml --seed 1 --plan | sed -nE 's/^([0-9a-f]{16}) .*/\1/p' | head -n 1 >first
    bin/schedlab run --list first --sweep sim.yaml --seed 1 --cells "$1" >out 2>err </dev/null
    status=$?
}
for signal in TERM HUP; do
    rm -f following
    echo $signal >signal
    measure stopped
    check "a_sample_that_${signal}_follows_has_no_result" [ "$status $(files stopped)" = '1 0' ]
done
touch alone
measure stopped
check a_sample_that_is_stopped_alone_has_failed [ "$status $(cat stopped/*/*.json | grep -c 'killed by SIGKILL')" = '0 1' ]

# Another process that is the first to measure a cell: its result stays, and the sweep has it too.
cat >bin/schedlab-sim <<EOF
#!/bin/sh
[ -e $scratch/raced ] || { touch $scratch/raced; cp -r $scratch/theirs/. $scratch/shared; }
exec "$schedlab-sim" "\$@"
EOF
mkdir theirs
touch raced
measure theirs
sed -i 's/"throughput":/"theirs":true,&/' theirs/*/*.json
rm raced
bin/schedlab sweep sim.yaml --seed 1 --no-report --cells shared >out 2>err </dev/null
check the_first_result_of_a_cell_is_the_one_of_the_sweep [ "$(samples | grep -c '"theirs":true')" = 1 ]

# Sweeps ---------------------------------------------------------------------------------------

run sweep sim.yaml --seed 1 --no-report
samples >reference
run sweep sim.yaml --seed 1 --plan
check times_of_earlier_runs_are_known grep -q '^ *8 from earlier runs$' out
sed -i 's/"throughput":/"found":true,&/' "c/${one:0:2}/$one.json"
run sweep sim.yaml --seed 1 --no-report --cells c
check a_sweep_takes_what_is_there [ "$(samples | grep -c '"found":true')" = 1 ]
check and_keeps_what_it_measures [ "$(files c)" = 8 ]
check in_the_place_where_it_belongs diff <(sed 's/,"check":.*//' reference) <(samples | sed 's/"found":true,//; s/,"check":.*//')
run run --list a --sweep sim.yaml --seed 1 --cells d
run sweep sim.yaml --seed 1 --no-report --cells d --timeout 600
check cells_one_by_one_make_the_same_sweep diff reference <(samples)
run sweep sim.yaml --seed 1 --plan --cells d
check plan_says_what_is_done grep -q '^8 samples of [0-9]* cells in [0-9]* groups*, 8 done' out
printf '{' >"d/${one:0:2}/$one.json"
run sweep sim.yaml --seed 1 --no-report --cells d
check a_broken_result_is_named [ "$status $(grep -c "d/${one:0:2}/$one.json is no result of that cell" err)" = '1 1' ]

# Joining --------------------------------------------------------------------------------------

head -n 5 a >first
tail -n 5 a >last
run run --list first --sweep sim.yaml --seed 1 --cells m1
run run --list last --sweep sim.yaml --seed 1 --cells m2
run merge all m1 m2
check folders_are_joined [ "$status $(files all)" = '0 8' ]
check twice_simulated_is_once grep -q '8 cells of 2 folders, 2 of them in more than one' err
run sweep sim.yaml --seed 1 --no-report --cells all
check joined_cells_make_the_same_sweep diff reference <(samples)
both=$(cat first last | sort | uniq -d | head -n 1)
sed -i 's/"throughput":[0-9.e+]*/"throughput":1.0/' "m2/${both:0:2}/$both.json"
run merge bad m1 m2
check contradictions_are_refused [ "$status $(grep -c "cell $both of m2 contradicts" err)" = '2 1' ]
check and_leave_nothing [ ! -e bad ]
misuse kinds_are_for_runs '--mix-machines takes runs' -- merge bad m1 m2 --mix-machines
# Simulated samples without a number: one host says of the cell what the other one does.
for outcome in failed skipped; do
    for folder in m1 m2; do
        cp -r $folder "$folder-$outcome"
        sed -i "s/\"status\":\"ok\"/\"status\":\"$outcome\"/; s/\"host\":\"/&$folder/; s/\"throughput\":[0-9.e+]*/\"throughput\":2.0/" \
            "$folder-$outcome/${both:0:2}/$both.json"
    done
    run merge "both-$outcome" "m1-$outcome" "m2-$outcome"
    check "equal_cells_that_are_${outcome}_are_no_contradiction" [ "$status $(files "both-$outcome")" = '0 8' ]
done
# A folder that takes no more, of which files of another file system are copies.
if [ "$(stat -c %d /dev/shm)" != "$(stat -c %d .)" ]; then
    shm=$(mktemp -d /dev/shm/schedlab.XXXXXX)
    cp -r m1 "$shm/cells"
    said=$(trap '' XFSZ && ulimit -f 0 && "$schedlab" merge full "$shm/cells" m2 2>&1)
    status=$?
    echo "$said" >err
    rm -r "$shm"
    check a_folder_that_takes_no_more_is_named [ "$status $(grep -c 'cannot write full\.merging/.*: File too large' err)" = '1 1' ]
    check and_what_is_in_it_goes_away [ -z "$(ls -d full* 2>/dev/null)" ]
fi
run merge bad m1 nothing
check folders_that_are_not_there_are_named refused 'cannot read nothing: No such file'
run sweep sim.yaml --seed 1 --no-report --cells first
check a_file_is_no_folder_of_cells [ "$status $(grep -c 'cannot make the folder first: Not a directory' err)" = '1 1' ]
run merge bad m1 "$(ls -d results/small* | head -n 1)"
check runs_and_cells_do_not_mix [ "$status $(grep -c 'is no folder of cells' err)" = '2 1' ]

# Natively -------------------------------------------------------------------------------------

ids native.yaml --seed 1 >n
run run --list n --sweep native.yaml --seed 1 --cells n1
run sweep native.yaml --seed 1 --no-report --cells n1
check native_records_say_where [ "$(samples | grep -c '"host":".*"cpu":"')" = 8 ]
file=$(find n1 -name '*.json' | head -n 1)
sed -i 's/"cpu":"[^"]*"/"cpu":"Other 3000"/' "$file"
run sweep native.yaml --seed 1 --no-report --cells n1
check processors_of_two_kinds_are_refused [ "$status $(grep -c 'Other 3000.*--mix-machines' err)" = '1 1' ]
# Where all are of another kind, but the one that would be measured first.
cp -r n1 n2
sed -i 's/"cpu":"[^"]*"/"cpu":"Other 3000"/' n2/*/*.json
first=$(head -n 1 n)
rm "n2/${first:0:2}/$first.json"
run sweep native.yaml --seed 1 --no-report --cells n2 --name foreseen
check before_anything_is_measured [ "$status $(grep -c 'Other 3000.*this machine has .*--mix-machines' err) $(files n2)" = '1 1 7' ]
check and_that_leaves_no_run [ "$(find results -maxdepth 1 -name 'foreseen-*' | wc -l)" = 0 ]
run sweep native.yaml --seed 1 --no-report --cells n1 --mix-machines
check unless_asked_for [ "$status $(samples | grep -c 'Other 3000')" = '0 1' ]
folder=$(tail -n 1 out)
cp "$folder/environment.json" out
here="j['cpu']['model']"
json environment_names_all_that_measured "[(m['cpu'], m['samples']) for m in j['measured_on']] == \
    sorted([($here, 7), ('Other 3000', 1)]) and all(m['host'] for m in j['measured_on'])"
run sweep native.yaml --seed 1 --no-report
cp "$(tail -n 1 out)/environment.json" out
json unless_it_is_the_one_that_began "'measured_on' not in j"

# The rest of a run that others measured is not measured here, unless asked for.
unchecked "$folder/samples.jsonl"
sed -i 's/"cpu":"[^"]*"/"cpu":"Other 3000"/' "$folder/samples.jsonl"
sed -i 5q "$folder/samples.jsonl"
cp -r "$folder" results/mixed
run sweep --resume "$folder" --no-report
check the_rest_is_not_measured_on_another_kind [ "$status $(grep -c 'Other 3000.*this machine has .*--mix-machines' err) \
$(wc -l <"$folder/samples.jsonl")" = '1 1 5' ]
run sweep --resume results/mixed --no-report --mix-machines
cp results/mixed/environment.json out
json unless_that_is_asked_for "sum(m['samples'] for m in j['measured_on'] if m['cpu'] == 'Other 3000') == 5"
check and_it_is_complete [ "$status $(wc -l <results/mixed/samples.jsonl)" = '0 8' ]
model=$(python3 -c "import json; print(json.load(open('out'))['cpu']['model'])")
run report results/mixed
check the_report_names_all_that_measured grep -qF "$(printf '%s\n' "$model" 'Other 3000' | LC_ALL=C sort | paste -sd+ | sed 's/+/ and /')" results/mixed/report.html

# Records of a run on one machine name no processor: it is that of the run, also beside cells of others.
run sweep native.yaml --seed 1 --no-report
plain=$(tail -n 1 out)
sed -i 5q "$plain/samples.jsonl"
cp -r "$plain" results/forced
run sweep --resume "$plain" --no-report --cells n2
check plain_samples_have_the_processor_of_their_run [ "$status $(grep -c 'Other 3000.*--mix-machines' err) \
$(wc -l <"$plain/samples.jsonl")" = '1 1 5' ]
run sweep --resume "$plain" --no-report --cells n2 --mix-machines
check unless_they_are_to_be_mixed [ "$status $(wc -l <"$plain/samples.jsonl")" = '0 8' ]
# A user who goes on by force, and was told that this is another machine, is not asked again.
sed -i 's/"model": "[^"]*"/"model": "Other 3000"/' results/forced/environment.json
run sweep --resume results/forced --no-report --force
check force_goes_on_on_another_machine [ "$status $(wc -l <results/forced/samples.jsonl)" = '0 8' ]

# Many cells ------------------------------------------------------------------------------------

mkdir many
cd many || exit 1
"$tree/tests/support/cells_scale.py" sweep 1000 >sweep.yaml
"$schedlab" sweep sweep.yaml --seed 1 --plan --format json | "$tree/tests/support/cells_scale.py" results a b
"$schedlab" merge both a b >/dev/null 2>&1
run sweep sweep.yaml --seed 1 --no-report --cells both
folder=$(awk '{ print $NF }' out)
run report --no-figures "$folder"
check a_report_has_all_of_many_cells [ "$status $(tail -n +2 "$folder/cells.tsv" | cut -f1-4 | sort -u | wc -l)" = '0 1000' ]
finish
