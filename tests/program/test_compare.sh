#!/bin/bash
# test_compare.sh - comparisons from the outside: what they print, what they refuse, and two revisions
# of a program built and measured side by side.
#
#     tests/program/test_compare.sh build/schedlab
#
# Prints TAP. Needs the program, git, make, bash and the usual tools.
. "$(dirname "$0")/../tap.sh"

has() { grep -qE -- "$1" "$2"; }

compare() { # ARGUMENT...: leaves out, err and status
    "$schedlab" compare "$@" >out 2>err </dev/null
    status=$?
}

# misuse NAME PART ARGUMENT...: one line with PART, status 2, no output.
misuse() {
    local name=$1 part=$2
    shift 2
    compare "$@"
    check "$name" refused "$part"
}

# samples VARIANT FIRST: seven samples of fib at 2 workers.
samples() {
    for i in 0 1 2 3 4 5 6; do
        printf '{"schema":2,"cell":"%s","variant":"%s","variant_name":"%s","workload":"fib,n=20",' "$1" "$1" "$1"
        printf '"workload_name":"fib","workers":2,"machine":"native","seed":1,"status":"ok",'
        printf '"digest":"1","answer":"1","knobs":{},"throughput":%s}\n' $(($2 + i))
    done
}

mkdir -p runs/old runs/new
{ samples gmp 100 && samples grq 100; } >runs/old/samples.jsonl
{ samples gmp 200 && samples grq 100; } >runs/new/samples.jsonl
echo '{"cpu":{"model":"x"},"build":{"compiler":"gcc","revision":"1111"}}' >runs/old/environment.json
echo '{"cpu":{"model":"y"},"build":{"compiler":"gcc","revision":"2222"}}' >runs/new/environment.json

compare runs/old runs/new
check compares_two_runs [ $status = 0 ]
check table_names_the_sides has '^A  runs/old \(revision 1111\)$' out
check table_says_who_is_faster has '^  gmp .* 1\.97× .* faster$' out
check table_says_where_nothing_is_shown has '^  grq .* 1\.00× .* ~$' out
check table_ends_with_the_geometric_mean has '^geometric mean of B / A over 2 pairs: 1\.40× ' out
check other_machines_are_warned_of has 'warning: machines differ: "x" in A, "y" in B' err

compare runs/old:variant=gmp runs/old:variant=grq --format json
check compares_two_variants_of_a_run has '"variant_b": "grq"' out
check json_is_all_of_the_output [ "$status $(head -c 1 out) $(tail -n 1 out)" = '0 { }' ]
check same_machine_is_not_warned_of [ ! -s err ]
compare runs/old runs/new --format markdown
check markdown_is_a_table has '^\|---\|' out
check markdown_holds_the_warnings has '^- Warning: machines differ' out
compare runs/old runs/new --min-effect 120
check least_effect_is_obeyed has '2 no difference shown' out
compare runs/old runs/new --alpha 0.0001
check level_is_obeyed has '2 too few samples' out

mkdir runs/single
head -n 1 runs/new/samples.jsonl >runs/single/samples.jsonl
compare runs/old runs/single
check one_sample_has_no_p has '^  gmp +103 +200 +1\.94× +too few +- +- .* 7\+1  one sample$' out
compare runs/old runs/single --format markdown
check nor_in_markdown has '\| - \| - \| all \| 7 \+ 1: one sample \|$' out
compare runs/old runs/single --format json
check nor_in_json sh -c '! grep -qE "\"(p|p_adjusted|superiority)\"" out && grep -q "\"verdict\": \"few\"" out'

# Sides whose samples were interleaved, and sides that were not.
mkdir -p runs/first runs/second
began() { sed "s/\"status\"/\"started\":\"2026-01-31T12:$1:00Z\",&/"; } # MINUTE
{ samples gmp 100 | began 10 && samples gmp 107 | began 20; } >runs/first/samples.jsonl
samples gmp 100 | began 15 >runs/second/samples.jsonl
compare runs/first runs/second
check interleaved_sides_are_not_warned_of [ "$status $(grep -c 'was measured before' err)" = '0 0' ]
samples gmp 100 | began 21 >runs/second/samples.jsonl
compare runs/first runs/second
check earlier_side_is_warned_of has 'A, up to 2026-01-31T12:20:00Z, was measured before B, from 2026-01-31T12:21:00Z on: ' err
compare runs/second runs/first
check earlier_side_is_named has 'B, up to 2026-01-31T12:20:00Z, was measured before A' err

compare runs/old ./runs/old/
check the_same_run_twice_is_said has 'warning: 2 of 2 pairs have the same samples on both sides' err
cp -r runs/old runs/broken
printf '{"cpu":\n' >runs/broken/environment.json
compare runs/broken:variant=gmp runs/broken:variant=grq
check broken_environment_is_named_once [ "$(grep -c 'warning: runs/broken/environment.json:2: .* so the machine is not known' err)" = 1 ]
sed -i 's/"schema":2/"schema":1/' runs/broken/samples.jsonl
compare runs/broken runs/new
check another_schema_is_named has 'runs/broken/samples.jsonl:1: not a record: its schema is 1; this program reads 2' err
: >runs/broken/samples.jsonl
compare runs/broken runs/new
check no_samples_are_an_error [ "$status $(grep -c 'samples.jsonl: it holds no sample' err)" = '2 1' ]
samples gmp 100 >again.jsonl
cat again.jsonl again.jsonl >runs/broken/samples.jsonl
compare runs/broken runs/new
check doubled_samples_are_told [ "$status $(grep -c 'runs/broken/samples.jsonl: 7 lines were there before' err)" = '0 1' ]

mkdir runs/gmpless
samples grq 100 >runs/gmpless/samples.jsonl
# with_p99 NS: seven samples of arrivals whose p99 is about that.
with_p99() {
    samples gmp 100 | sed 's/fib,n=20/arrivals/; s/"fib"/"arrivals"/; s/}$//' |
        awk -v ns="$1" '{ printf "%s,\"latency\":{\"count\":1000,\"p99_ns\":%d}}\n", $0, ns + NR }'
}
mkdir runs/early runs/late
with_p99 60000 >runs/early/samples.jsonl
with_p99 90000 >runs/late/samples.jsonl
compare runs/early runs/late --metric p99
check latencies_are_compared has '^  gmp +60\.0 µs  90\.0 µs  1\.50× .* slower$' out
check direction_of_latencies_is_said has '^P99 of the latencies\. B / A below 1: B is faster\.$' out
compare runs/early runs/late --metric p99 --format json
check json_names_the_metric has '"better": "less"' out
compare runs/early runs/late
check throughput_is_the_default has '1 no difference shown' out
misuse metric_that_is_not_there 'no sample has a number "STEALS"; no sample has events' runs/early runs/late --metric STEALS
misuse metric_misspelt 'no sample has a number "trouhgput"; the nearest is "throughput"' runs/early runs/late --metric trouhgput
misuse quantile_that_is_none 'no share of the latencies is p100.5' runs/early runs/late --metric p100.5

misuse one_side 'which two?' runs/old
misuse three_sides 'two revisions and a sweep file take --git' runs/old runs/new runs/old
mkdir packed && touch packed/samples.jsonl.xz
misuse a_packed_run_says_how_to_unpack_it 'xz -dk packed/samples.jsonl.xz' packed
# Each cell of B meets the one baseline, but for itself; Holm's correction is over all of them.
mkdir runs/each && { samples gmp 100 && samples grq 200 && samples perm 300; } | awk '{ print } { sub(/"workers":2/, "\"workers\":4"); sub(/"cell":"/, "&4"); print }' >runs/each/samples.jsonl
compare --each runs/each:variant=gmp/workers=2 runs/each:workers=4 --format json
check each_cell_meets_the_baseline_of_other_workers [ "$(grep -c '"variant_b": "\(gmp\|grq\|perm\)"' out)" = 3 ]
compare --each runs/each:variant=gmp/workers=2 runs/each:workers=2 --format json
check a_cell_does_not_meet_itself [ "$(grep -c '"variant_b"' out) $(grep -c '"variant_b": "gmp"' out)" = '2 0' ]
compare runs/each:variant=gmp/workers=2 runs/each:variant=grq/variant=perm/workers=2
check without_it_two_cells_for_one_are_refused [ "$status" = 2 ]
misuse a_packed_side_says_how_to_unpack_it 'xz -dk packed/samples.jsonl.xz' packed:variant=gmp packed:variant=grq
misuse no_run 'runs/nev is not a run: it has no samples.jsonl; the nearest run is runs/new' runs/old runs/nev
misuse unknown_key 'no record has a key "worker"; the nearest is "workers"' runs/old:worker=2 runs/new
misuse unknown_value 'no cell is left: none has variant=gq; the nearest is "grq"' runs/old:variant=gq runs/new
misuse unknown_number 'no cell is left: none has workers=3; valid: 2' runs/old:workers=3 runs/new
misuse no_value '"variant" is not KEY=VALUE' runs/old:variant runs/new
misuse nothing_in_common "have nothing in common" runs/old:variant=gmp runs/gmpless
misuse bad_alpha '--alpha=2 is not valid; valid: 1e-06 to 0.5' runs/old runs/new --alpha 2
misuse bad_format 'the nearest is "json"' runs/old runs/new --format jsom
misuse unknown_option '--min-effect' runs/old runs/new --min-efect 3

# Two revisions ---------------------------------------------------------------------------------

misuse git_without_sweep '--git takes two revisions and a sweep file' --git HEAD HEAD
misuse reps_without_git '--reps takes --git' runs/old runs/new --reps 3

cat >sweep.yaml <<'END'
name: two
title: Two revisions
reps: 6
steal_max: 100
min_time_ms: 2
warmup: 0
events: [none]
groups:
  - id: one
    question: Which?
    baseline: gmp
    variants: [gmp]
    workloads: ["fib,n=16"]
    workers: [1]
END
misuse no_repository 'takes a git repository around the current folder' --git HEAD HEAD sweep.yaml

inherited=$(GIT_DIR=a GIT_WORK_TREE=b GIT_INDEX_FILE=c bash -c '. "$0" && env' "$tree/tests/tap.sh" build | grep -oE '^(GIT_[DWI]|PATH)=?')
check repository_of_the_caller_is_left_alone [ "$inherited" = PATH= ]
PATH=none "$schedlab" compare --git HEAD HEAD sweep.yaml >out 2>err
check git_that_is_missing_is_named \
    [ "$? $(wc -l <err) $(grep -c 'takes git, which is missing; the Debian package git has it' err)" = '2 1 1' ]

# A repository whose Makefile "builds" this program, which then says how fast it is: no timing decides.
mkdir repository
cd repository || exit 1
git init -q
git config user.name test
git config user.email test@example.org
revision() { # THROUGHPUT: commits a program whose records have it
    printf 'build:\n\tmkdir -p build\n\tcp program build/schedlab\n' >Makefile
    printf '#!/bin/sh\n"%s" "$@" | sed -E '"'"'s/"throughput":[^,]*/"throughput":%s/'"'"'\n' "$schedlab" "$1" >program
    chmod +x program
    git add -A
    git commit -q -m "revision $1"
}
revision 2000
revision 1000
printf 'build:\n\t@echo cannot do it >&2; false\n' >Makefile
git commit -q -a -m broken
printf 'build:\n\t@echo "x.c:1:2: warning: hm"; echo "x.c:7:9: error: no such thing" >&2; echo "later error: two"; false\n' >Makefile
git commit -q -a -m mistyped
git checkout -q HEAD~1
git branch -q mistyped HEAD@{1}
compare --git HEAD~2 HEAD~1 ../sweep.yaml --results ../results
run=$(echo ../results/two-*)
check revisions_are_compared [ $status = 0 ]
check slower_revision_is_found has '^  gmp .* slower$' out
check revisions_are_named has "^B .*:side=b \(revision $(git rev-parse --short=12 HEAD~1)\)" out
check revisions_stay_built [ -x "build/revisions/$(git rev-parse --short=12 HEAD~2)/build/schedlab" ]
check samples_say_which_revision has '"side":"b","revision":"[0-9a-f]{12}"' "$run/samples.jsonl"
check command_names_the_program_of_its_side has "\"command\":\"$PWD/build/revisions/$(git rev-parse --short=12 HEAD~1)/build/schedlab run gmp" "$run/samples.jsonl"
sides=$(grep -o '"side":"[ab]"' "$run/samples.jsonl" | cut -d '"' -f 4 | tr -d '\n')
check no_block_holds_a_side_twice [ -z "$(echo "$sides" | fold -w 2 | grep -E 'aa|bb')" ]
check both_sides_have_all_samples [ ${#sides} = 12 ]
kept=$(cd "$run/comparisons" && ls)
check comparison_of_revisions_is_kept has "^$(git rev-parse --short=12 HEAD~2)-$(git rev-parse --short=12 HEAD~1)\.json$" <(echo "$kept")
"$schedlab" report "$run" >out 2>err
check report_shows_what_was_kept has "<h3>${kept%.json}</h3>" "$run/report.html"
compare "$run:side=b" "$run:side=a" --save turned --format json
check comparison_is_kept_as_it_is_printed cmp -s <(python3 -m json.tool out) <(python3 -m json.tool "$run/comparisons/turned.json")
"$schedlab" report "$run" >out 2>err
check report_shows_what_was_saved has '<h3>turned</h3>' "$run/report.html"
misuse name_that_is_a_path '--save=../x is not valid' "$run:side=b" "$run:side=a" --save ../x
check run_of_two_sides_has_a_report has 'one@a.*Which|Which' "$run/report.html"
check sides_are_groups_of_their_own [ "$(cut -f 1 "$run/cells.tsv" | tail -n +2 | tr '\n' ' ')" = 'one@a one@b ' ]
"$schedlab" sweep --resume "$run" >out 2>err
check run_of_two_sides_is_not_resumed [ $? != 0 ]
printf '{"seed":1,' >>"$run/samples.jsonl"
compare "$run:side=a" "$run:side=b"
check torn_line_is_said_once [ "$(grep -c "samples.jsonl: its last line is not whole; left out$" err)" = 1 ]
"$schedlab" report "$run" --no-figures >out 2>err
check report_says_it_too [ "$(grep -c 'its last line is not whole; left out' err)" = 1 ]

# A branch may have markup, quotes and a command of the shell in its name: the commit's number stands for it.
branch="a\"<b>'x&\$(touch\${IFS}pwned)"
git branch -q "$branch" HEAD~1
compare --git HEAD~2 "$branch" ../sweep.yaml --results ../hostile
hostile=$(echo ../hostile/two-*)
check a_branch_with_a_hostile_name_is_compared has "^B .*:side=b \(revision $(git rev-parse --short=12 HEAD~1)\)" out
"$schedlab" report "$hostile" >out 2>err
check no_hostile_name_is_kept sh -c '[ -s "$1/report.html" ] && ! grep -qrF "<b>'"'"'x" "$1" && [ ! -e pwned ] && [ ! -e "$1/pwned" ]' - "$hostile"
misuse unknown_hostile_revision 'no commit of ' --git HEAD "${branch}y" ../sweep.yaml

compare --git HEAD~2 HEAD ../sweep.yaml --results ../results
check revision_that_does_not_build_fails [ $status = 1 ]
log=$PWD/build/revisions/$(git rev-parse --short=12 HEAD).log
check why_it_does_not_build_is_told grep -qxF "schedlab compare: cannot build $(git rev-parse --short=12 HEAD): cannot do it; all that make said is in $log" err
compare --git HEAD~2 mistyped ../sweep.yaml --results ../results
check error_of_the_compiler_is_told [ "$status $(tail -n 1 err)" = "1 schedlab compare: cannot build $(git rev-parse --short=12 mistyped): x.c:7:9: error: no such thing; all that make said is in $PWD/build/revisions/$(git rev-parse --short=12 mistyped).log" ]
check log_has_all_that_make_said [ "$(grep -cE 'warning: hm|no such thing|later error' "build/revisions/$(git rev-parse --short=12 mistyped).log")" = 3 ]
misuse unknown_revision '"nowhere" is no commit of ' --git HEAD nowhere ../sweep.yaml
misuse option_as_revision '"-x" is no commit of ' --git -- -x HEAD ../sweep.yaml
misuse missing_sweep 'none.yaml: No such file' --git HEAD HEAD none.yaml

finish
