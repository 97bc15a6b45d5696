#!/bin/bash
# test_hunt_campaign.sh - campaigns of schedlab hunt: nothing of what was done is lost, and shards make the whole.
#
#     tests/program/test_hunt_campaign.sh build/schedlab
#
# Prints TAP.
. "$(dirname "$0")/../tap.sh"

# run ARGUMENT...: leaves out, err, status.
run() {
    timeout 600 "$schedlab" hunt "$@" >out 2>err </dev/null
    status=$?
}
cells=(gmp gmp,recheck=none sleep_wake --memory sc --executions 1100)

# begin NAME OPTION...: a campaign in the folder NAME.
begin() {
    local name=$1
    shift
    run --campaign "${cells[@]}" --results made --name "$name" "$@"
    mv "made/$name"-* "$name"
}
# The table of a folder, without times.
found() {
    "$schedlab" hunt --show "$1" --format json | python3 -c '
import json, sys
table = json.load(sys.stdin)
for cell in table["cells"]:
    del cell["seconds"]
print(json.dumps(table, sort_keys=True))'
}

begin whole
check it_fails_if_a_cell_does [ "$status" = 1 ]
check each_cell_has_a_row [ "$(grep -cE '^gmp\S* +sleep_wake +sc +[a-z]+ +1100 ' out)" = 10 ]
check failures_are_counted grep -qE '^gmp,recheck=none +sleep_wake .* [0-9]+ idle$' out
check a_right_variant_has_none [ "$(grep -cE '^gmp +sleep_wake .* -$' out)" = 5 ]
check what_was_done_is_summed grep -q '^11000 executions of 10 cells, 100 % of the campaign' out
all=$(found whole)
"$schedlab" hunt --show whole >out
read -ra again <<<"$(sed -n 's/^replay: schedlab hunt //p' out | head -n 1)"
run "${again[@]}"
check a_failure_is_replayed [ "$status $(grep -c '^failed: idle: ' out)" = '1 1' ]

begin two --jobs 2
check jobs_change_nothing [ "$(found two)" = "$all" ]

run --campaign last_item --executions 1 --algorithm pos --memory tso
check no_variant_means_all [ "$status $(grep -c ' last_item  *tso  *pos ' out)" = '0 9' ]
run --campaign tasksteal --workers 3 --executions 1 --algorithm pos --memory tso --format json
check no_workload_means_all_scenarios [ "$(grep -c '"workload":' out)" = "$("$schedlab" hunt --scenarios | wc -l)" ]

run --campaign gmp gmp gmp,recheck=after last_item last_item --executions 1 --algorithm pos --memory sc
check repeated_words_are_one_cell [ "$status $(grep -c '^1 executions of 1 cell, ' out)" = '0 1' ]

# Resuming ------------------------------------------------------------------------------------------------------

# A log that a killed writer has left: half a line is at its end.
mkdir torn && head -c $(($(wc -c <whole/hunt.jsonl) / 2)) whole/hunt.jsonl >torn/hunt.jsonl
cp torn/hunt.jsonl before
run --resume torn
check a_torn_log_goes_on [ "$(found torn)" = "$all" ]
check what_was_done_stays cmp -s <(head -n "$(wc -l <before)" torn/hunt.jsonl) <(head -n "$(wc -l <before)" before)
# One that a power cut has left: the last line has its newline, and zeros before it.
mkdir zeros && cp before zeros/hunt.jsonl && python3 - zeros/hunt.jsonl <<'END'
import sys
lines = open(sys.argv[1], "rb").read().split(b"\n")[:-1]
lines[-1] = lines[-1][:20] + bytes(len(lines[-1]) - 20)
open(sys.argv[1], "wb").write(b"\n".join(lines) + b"\n")
END
run --resume zeros
check a_last_line_of_zeros_is_torn [ "$(found zeros)" = "$all" ]
mkdir middle && sed '2s/{/[/; 2s/"check".*//' before >middle/hunt.jsonl
misuse no_json_in_the_middle_is_refused 'hunt.jsonl:2: no line of a campaign' -- --resume middle
# Whenever it is killed.
"$schedlab" hunt --campaign "${cells[@]}" --results made --name killed >out 2>err </dev/null &
until [ -s made/killed-*/hunt.jsonl ]; do kill -0 $! || break; done
kill -KILL $! && wait $! 2>/dev/null
mv made/killed-* killed
run --resume killed
check a_killed_campaign_goes_on [ "$(found killed)" = "$all" ]
# Whenever somebody ends a process of it: that part is no finding, and not done.
"$schedlab" hunt --campaign "${cells[@]}" --results made --name hit >out 2>err </dev/null &
until pkill -KILL -P $!; do kill -0 $! || break; done
wait $!
status=$?
mv made/hit-* hit
check a_process_ended_from_outside_ends_the_campaign [ "$status $(grep -c 'hit.*/hunt.jsonl: .*ended from outside (killed by SIGKILL)' err)" = '1 1' ]
run --resume hit
check its_part_is_done_again [ "$(found hit)" = "$all" ]
cp killed/hunt.jsonl before
run --resume killed
check a_whole_one_is_left_alone cmp -s killed/hunt.jsonl before
begin short --time 1ns
run --show short
check time_ends_it [ "$(grep -c '^0 executions of 10 cells, 0 % ' out)" = 1 ]
flock killed/hunt.jsonl "$schedlab" hunt --resume killed >out 2>err </dev/null
status=$?
check two_do_not_write_one_log refused 'another process hunts into it'

# Shards and seeds ----------------------------------------------------------------------------------------------

for i in 0 1 2; do begin "shard$i" --shard $i/3; done
"$schedlab" merge joined shard2 shard0 shard1 >out 2>err
check shards_make_the_whole [ "$(found joined)" = "$all" ]
"$schedlab" merge again joined shard1 whole >out 2>err
check copies_count_once [ "$(found again)" = "$all" ]
check a_merge_is_the_same_in_any_order cmp -s <(tail -n +2 again/hunt.jsonl | sed 's/"seconds":[^,]*,//; s/,"check".*//') \
    <(tail -n +2 joined/hunt.jsonl | sed 's/"seconds":[^,]*,//; s/,"check".*//')
begin other --seed 2
"$schedlab" merge seeds whole other >out 2>err
run --show seeds
check seeds_add_up grep -q '^22000 executions of 10 cells, 100 % of the campaign' out
run --resume seeds
check several_seeds_do_not_go_on refused 'several seeds'

# Coverage ------------------------------------------------------------------------------------------------------

covered=(--campaign gmp tasksteal sleep_wake --memory sc --algorithm pos --executions 300 --coverage --results made)
run "${covered[@]}" --name covered
mv made/covered-* covered
check a_campaign_has_coverage_of_all_cells [ "$(grep -cE ' (Q1 Q2|D1 D2) .* both$' out)" = 2 ]
sed -n '/^coverage: /,/^not counted/p' out >told
run --show covered
check coverage_is_shown_again cmp -s <(sed -n '/^coverage: /,/^not counted/p' out) told
check coverage_was_told [ "$(wc -l <told)" -gt 10 ]
run --show covered --coverage --format page
check a_campaign_has_a_page [ "$status $(tr -d '\n' <out | grep -c '<tr><td>both</td><td>[^<]*</td><td>D1</td><td>D2</td>')" = '0 1' ]
run --campaign gmp,recheck=none sleep_wake --memory sc --algorithm pos --executions 300 --coverage --results made --name bad
mv made/bad-* bad
run --show bad --coverage --format page
check a_page_tells_failures [ "$status $(grep -c 'failed: idle: ' out) $(grep -c '^replay: schedlab hunt gmp,recheck=none ' out)" = '1 1 1' ]
for i in 0 1; do
    run "${covered[@]}" --name "half$i" --shard $i/2
    mv made/half$i-* half$i
done
check a_shard_has_its_cells [ "$(grep -c ' Q1 Q2 ' out) $(grep -c ' D1 D2 ' out)" = '0 1' ]
"$schedlab" merge halves half0 half1 >out 2>err
check coverage_adds_up [ "$(found halves)" = "$(found covered)" ]
head -n 1 covered/hunt.jsonl >rest && mkdir rested && mv rest rested/hunt.jsonl
run --resume rested
check coverage_goes_on [ "$(found rested)" = "$(found covered)" ]
mkdir without && sed '1s/"coverage":true,*//; 1s/,"check":"[0-9a-f]*"//' covered/hunt.jsonl >without/hunt.jsonl
"$schedlab" merge mixed without covered >out 2>err
status=$?
check coverage_is_of_whole_campaigns refused 'different campaigns: coverage'
misuse a_campaign_without_has_none 'whole was made without --coverage' -- --show whole --coverage
misuse resume_has_its_coverage 'leave out --coverage' -- --resume covered --coverage

# Misuse --------------------------------------------------------------------------------------------------------

misuse a_word_is_something 'hunt --scenarios' -- --campaign sleepwake
misuse shards_are_numbers 'valid: I/N' -- --campaign gmp --shard 3/3
misuse shard_is_of_a_campaign '--shard takes --campaign or --resume' -- gmp sleep_wake --shard 0/3
misuse resume_has_its_cells "--resume takes the campaign's own cells; leave out --seed" -- --resume whole --seed 3
misuse resume_has_its_variants 'leave out gmp' -- --resume whole gmp
misuse replay_is_of_one_hunt '--replay is of one hunt' -- --campaign --replay random:1@0
misuse show_needs_a_log 'nowhere/hunt.jsonl' -- --show nowhere
misuse show_has_no_jobs '--show runs nothing; leave out --jobs' -- --show whole --jobs 2
misuse depth_is_of_pct '--depth comes with --algorithm=pct or delay' -- --campaign gmp --algorithm random --depth 4
misuse nothing_fits 'valid: a workload' -- --campaign gmp timers,n=4
misuse names_are_names 'valid: up to 64' -- --campaign gmp --name a/b
mkdir changed && sed 's/"program":"[0-9a-f]*"/"program":"00000000"/; s/,"check":"[0-9a-f]*"//' whole/hunt.jsonl >changed/hunt.jsonl
misuse another_program 'whose executions are others' -- --resume changed
"$schedlab" merge none changed whole >out 2>err
status=$?
check programs_do_not_mix refused 'different campaigns: program'
sed 's/"accesses":/&1/; s/,"check":"[0-9a-f]*"//' whole/hunt.jsonl >changed/hunt.jsonl
"$schedlab" merge none changed whole >out 2>err
status=$?
check copies_must_agree refused 'has other executions'
# changed_by SCRIPT: whole, changed by hand.
changed_by() { sed "$1"'; s/,"check":"[0-9a-f]*"//' whole/hunt.jsonl >changed/hunt.jsonl; }
changed_by '1s/"algorithm":"delay"/"algorithm":"dely"/'
misuse algorithms_of_cells_are_known 'changed/hunt.jsonl: algorithm "dely" of a cell is unknown; valid: random,pct' -- --resume changed
changed_by '1s/"memory":"sc"/"memory":"sic"/'
misuse memories_of_cells_are_known 'memory "sic" of a cell is unknown; valid: sc,tso' -- --resume changed
changed_by '1s/"workers":2/"workers":17/'
misuse workers_of_cells_are_few '17 workers of a cell are not valid; valid: 1 to 16' -- --resume changed
changed_by '1s/"depth":3/"depth":33/'
misuse depth_is_in_its_range 'depth 33 is not valid; valid: 1 to 32' -- --resume changed
changed_by '1s/"sleep_wake"/"timers,n=4"/'
misuse cells_fit 'has no time here' -- --resume changed
changed_by '2s/"level":[0-9]*/"level":64/'
misuse levels_are_bits 'changed/hunt.jsonl:2: no line' -- --show changed
changed_by '2s/"from":0/"from":-1000/'
misuse numbers_are_not_negative 'changed/hunt.jsonl:2: no line' -- --show changed
sed 's/"accesses":/&1/' whole/hunt.jsonl >changed/hunt.jsonl
misuse a_changed_line_is_refused 'no line of a campaign' -- --show changed

finish
