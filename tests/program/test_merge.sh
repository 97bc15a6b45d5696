#!/bin/bash
# test_merge.sh - runs that are joined keep every sample once, in whatever order they come, and runs that
# do not fit together stay apart.
#
#     tests/program/test_merge.sh build/schedlab
#
# Prints TAP.
. "$(dirname "$0")/../tap.sh"

has() { grep -q -- "$1" "$2"; }
same() { cmp -s "$1/samples.jsonl" "$2/samples.jsonl"; }

# merge ARGUMENT...: leaves out, err and status.
merge() {
    "$schedlab" merge "$@" >out 2>err </dev/null
    status=$?
}

# misuse NAME PART -- ARGUMENT...: exit 2, one line on standard error with PART, and no new folder.
misuse() {
    local name=$1 part=$2 good=0 before
    shift 3
    before=$(ls)
    merge "$@"
    refused "$part" && [ "$before" = "$(ls)" ] && good=1
    report $good "$name"
}

{
    printf 'name: small\ntitle: A small sweep\nreps: 3\nmin_time_ms: 0\nwarmup: 0\nevents: [none]\n'
    printf 'groups:\n  - id: one\n    question: Which?\n    baseline: gmp\n    variants: [gmp, grq]\n'
    printf '    workers: [1, 2]\n    workloads: ["fib,n=10"]\n'
} >small.yaml
touch out err

# run NAME SEED: a run in the folder NAME.
run() {
    "$schedlab" sweep small.yaml --no-report --seed "$2" --results made >out 2>err </dev/null &&
        mv "$(cat out)" "$1"
}
run a 1 && run b 2 && run c 10 || echo "Bail out! no runs to join"

# timed NAME SEED: a run whose samples hyperfine timed too.
timed() {
    "$schedlab" sweep small.yaml --no-report --seed "$2" --results made --timer hyperfine >out 2>err </dev/null &&
        mv "$(cat out)" "$1"
}
timed t1 1 && timed t2 2 || echo "Bail out! no timed runs to join"
merge t t1 t2
check hyperfine_files_are_kept [ "$status $(ls t/hyperfine)" = "0 $(ls t1/hyperfine t2/hyperfine | grep json | sort)" ]
one=$(ls t2/hyperfine | head -n 1)
check hyperfine_files_are_copies cmp -s "t2/hyperfine/$one" "t/hyperfine/$one"
rm "t2/hyperfine/$one"
merge t-less t2 t1
check hyperfine_file_that_is_missing_is_told \
    [ "$status $(grep -c "schedlab merge: warning: t2/hyperfine/$one is not there" err) $(ls t-less/hyperfine | wc -l)" = '0 1 23' ]
rm -r t t1 t2 t-less

merge ab b a
check runs_are_joined [ "$status $(cat out) $(wc -l <ab/samples.jsonl)" = '0 ab 24' ]
check no_sample_is_changed [ "$(sort ab/samples.jsonl)" = "$(sort a/samples.jsonl b/samples.jsonl)" ]
check sweep_file_is_kept cmp -s small.yaml ab/sweep.yaml
check environment_names_the_runs [ "$(grep -c '"run": "[ab]"' ab/environment.json)" = 2 ]
check plan_adds_up [ "$(grep -c '"samples": 6' ab/plan.json) $(grep -c '"stop": "reps"' ab/plan.json)" = '4 4' ]
"$schedlab" report ab --no-figures >out 2>err
check report_takes_the_result [ $? = 0 ]
check report_counts_all_samples \
    [ "$(awk -F'\t' 'NR == 1 { while ($++i != "n_all"); } NR > 1 { print $i }' ab/cells.tsv | sort -u)" = 6 ]

merge abc ab c
merge bc b c
merge abc2 a bc
check grouping_does_not_matter same abc abc2
check seeds_are_sorted_as_numbers [ "$(grep -o '"seed":[0-9]*' abc/samples.jsonl | uniq | tr '\n' ' ')" = '"seed":1 "seed":2 "seed":10 ' ]
check merged_runs_name_their_parts [ "$(grep -c '"run": "[abc]"' abc/environment.json)" = 3 ]
merge again abc bc a
check merging_again_changes_nothing same abc again

# A part of a run, as it was copied while it was being measured.
cp -r a part
head -n 5 a/samples.jsonl >part/samples.jsonl
rm part/plan.json
merge whole part a
check part_of_a_run_adds_nothing same whole a
check part_of_a_run_does_not_count_as_interrupted [ "$(grep -c '"stop": "reps"' whole/plan.json)" = 4 ]
printf '{"seed":1,' >>part/samples.jsonl
merge torn part b
check torn_line_is_left_out [ "$status $(wc -l <torn/samples.jsonl)" = '0 17' ]
check torn_line_is_said has 'merge: part/samples.jsonl: its last line is not whole; left out. .schedlab sweep --resume part' err
check killed_run_is_interrupted [ "$(grep -c '"stop": "interrupted"' torn/plan.json)" = 4 ]

# A merge that is killed leaves no folder that could be taken for a run, and does not hinder the next one.
cp -r a endless && rm endless/samples.jsonl && mkfifo endless/samples.jsonl
"$schedlab" merge killed endless b >out 2>err </dev/null &
exec 4>endless/samples.jsonl
head -n 3 a/samples.jsonl >&4
until compgen -G 'killed.merging/samples*' >/dev/null || ! kill -0 $! 2>/dev/null; do :; done
kill -KILL $!
wait $! 2>/dev/null
exec 4>&-
check a_killed_merge_leaves_no_run [ ! -e killed ]
check not_even_beside_it [ ! -e killed.merging/samples.jsonl ]
merge killed a b
check the_next_one_is_not_hindered [ "$status $(ls -d killed*) $(wc -l <killed/samples.jsonl)" = '0 killed 24' ]
rm -r endless

# A line twice counts once, for all who read it.
cp -r a twice
sed -n 3p a/samples.jsonl >>twice/samples.jsonl
merge once twice a
check doubled_line_counts_once same once a
check doubled_line_is_said [ "$status $(grep -c 'merge: twice/samples.jsonl: 1 line was there before' err)" = '0 1' ]
"$schedlab" report twice --no-figures >out 2>err
check report_says_the_same [ "$? $(grep -c 'report: twice/samples.jsonl: 1 line was there before' err)" = '0 1' ]
"$schedlab" sweep --resume twice --no-report >out 2>err
check doubled_line_does_not_stop_a_resumption [ "$? $(wc -l <twice/samples.jsonl)" = '0 13' ]
cp -r ab copy
merge again2 ab copy
rm -r copy
printf '{' >>again2/samples.jsonl
"$schedlab" export --to csv again2 >out 2>err
check only_what_can_be_resumed_is_to_be [ "$? $(grep -c 'not whole; left out$' err)" = '0 1' ]

# A merged run cannot go on, but parts of one run can.
"$schedlab" sweep --resume ab >out 2>err
check merged_run_is_not_resumed [ "$? $(wc -l <err)" = '2 1' ]
check merged_run_names_what_is_valid has 'ab was merged from runs of 2 seeds; valid is one of those runs' err
"$schedlab" sweep --resume whole --no-report >out 2>err
check parts_of_one_run_are_resumed [ $? = 0 ]

# Runs that do not fit together are refused.
cp -r a other
sed -i '4{s/"ops":/"ops":1/;s/,"check":.*/}/}' other/samples.jsonl
misuse contradiction_is_refused 'a/samples.jsonl:4 and other/samples.jsonl:4 contradict' -- x a other
rm -r other
run other 1
misuse another_run_of_one_seed_is_refused 'runs of one sweep that are to add up take different seeds' -- x a other
rm -r other
cp -r b other
sed -i 's/title: A/title: Another/' other/sweep.yaml
misuse other_sweep_is_refused 'other/sweep.yaml differs from a/sweep.yaml' -- x a other
cp a/sweep.yaml other
sed -i 's/"revision": "[^"]*"/"revision": "0123456789ab"/' other/environment.json
misuse other_revision_is_refused 'other was made by revision 0123456789ab' -- x a other
cp b/environment.json other
sed -i '2{h;d};3{G}' other/samples.jsonl
misuse samples_out_of_order_are_refused 'other/samples.jsonl:3: not in the order' -- x a other
sed '2s/.*/nonsense/' b/samples.jsonl >other/samples.jsonl
misuse damage_is_refused 'other/samples.jsonl:2: not a record' -- x a other
sed '2s/"position":[0-9]*,//' b/samples.jsonl >other/samples.jsonl
misuse changed_sample_is_refused 'other/samples.jsonl:2: not a record: it was changed after' -- x a other
unchecked other/samples.jsonl
misuse sample_of_no_sweep_is_refused 'other/samples.jsonl:2: a record without' -- x a other
rm other/samples.jsonl
misuse run_without_samples_is_refused 'other/samples.jsonl: No such file' -- x a other
misuse result_that_is_there_is_refused 'cannot make the folder a: File exists' -- a b c
misuse folder_of_no_run_is_refused 'made is not the folder of a sweep' -- x a made
misuse one_run_is_misuse 'two runs at least' -- x a
misuse one_run_twice_is_misuse 'a and a are one folder; valid are different ones' -- x a b a
ln -s a link
misuse a_link_to_a_run_is_that_run 'a and link are one folder' -- x a link
rm link
merge none/x a b
check result_that_cannot_be_made_fails [ "$status $(wc -l <err)" = '1 1' ]

# Another compiler is no reason to refuse, but it is said and kept.
cp b/samples.jsonl other
sed -i 's/"compiler": "[^"]*"/"compiler": "tcc 0.9"/' other/environment.json
merge warned a other
check other_compiler_is_warned_of has '^schedlab merge: warning: compiler: other has tcc 0.9, a has' err
check other_compiler_is_recorded has 'compiler: other has tcc 0.9' warned/environment.json
check other_compiler_is_joined [ "$status $(wc -l <warned/samples.jsonl)" = '0 24' ]

: >other/samples.jsonl
merge none a other
check run_without_samples_is_named [ "$status $(grep -c 'other/samples.jsonl: it holds no sample' err)" = '2 1' ]
sed 's/"schema":2/"schema":3/' b/samples.jsonl >other/samples.jsonl
merge none a other
check run_of_another_schema_is_named has 'other/samples.jsonl:1: not a record: its schema is 3' err

# The machines that measured are those that samples name; the one that sweep was typed on need not be among them.
for name in n1 n2; do
    cp -r a $name
    [ $name = n1 ] || cp b/samples.jsonl n2
    unchecked $name/samples.jsonl
    sed -i "s/\"machine\":\"native\"/&,\"host\":\"$name\",\"cpu\":\"Node 3000\"/" $name/samples.jsonl
done
sed -i 's/"model": "[^"]*"/"model": "Login 1"/' n2/environment.json
merge nodes n1 n2
check machines_of_one_kind_are_not_warned_of [ "$status $(grep -c warning err)" = '0 0' ]
machines() { python3 -c "import json; print([(m.get('host'), m['cpu'], m['samples']) for m in json.load(open('$1/environment.json'))['measured_on']])"; }
check all_of_them_are_named [ "$(machines nodes)" = "[('n1', 'Node 3000', 12), ('n2', 'Node 3000', 12)]" ]
sed -i 's/Node 3000/Node 4000/' n2/samples.jsonl
misuse machines_of_two_kinds_are_refused 'n2: ' -- unlike n1 n2
check and_named [ "$(grep -c 'measured on n2 with the processor "Node 4000".*on "Node 3000"; --mix-machines' err)" = 1 ]
merge unlike n1 n2 --mix-machines
check unless_asked_for [ "$status $(wc -l <unlike/samples.jsonl)" = '0 24' ]
check machines_of_two_kinds_are_warned_of has '^schedlab merge: warning: CPU: n2 has Node 4000, n1 has Node 3000$' err
cp -r c login
sed -i 's/"model": "[^"]*"/"model": "Login 1"/' login/environment.json
misuse samples_that_name_no_machine_are_of_their_run 'login: ' -- three n1 login
merge three unlike login --mix-machines
check who_named_none_is_of_its_own_run [ "$(machines three)" = "[(None, 'Login 1', 12), ('n1', 'Node 3000', 12), ('n2', 'Node 4000', 12)]" ]
merge anew login unlike --mix-machines
check so_it_is_in_any_order [ "$(machines anew)" = "$(machines three)" ]
merge nested three login --mix-machines
check and_also_where_it_was_merged_before [ "$(machines nested)" = "$(machines three)" ]

# Where no comparison would have both, nothing is refused: parts of one run, of which another machine measured
# a comparison; and simulated samples.
split() { python3 - "$1" "$2" <<'END'
import json, sys
lines = [l for l in open(f"{sys.argv[1]}/samples.jsonl") if (json.loads(l)["workload"] == "fib,n=10") == (sys.argv[2] == "one")]
open(f"{sys.argv[1]}/samples.jsonl", "w").writelines(lines)
END
}
{
    sed 's/\[1, 2\]/[1]/' small.yaml
    sed '/id: one/s/one/two/; s/\[1, 2\]/[1]/; s/n=10/n=9/' small.yaml | sed -n '/^  - id/,$p'
} >split.yaml
"$schedlab" sweep split.yaml --no-report --seed 1 --results made >out 2>err </dev/null
cp -r "$(cat out)" s1 && cp -r s1 s2
split s1 one && split s2 two
sed -i 's/"model": "[^"]*"/"model": "Node 4000"/' s2/environment.json
merge parted s1 s2
check unlike_comparisons_may_be_of_unlike_kinds [ "$status $(wc -l <parted/samples.jsonl) $(grep -c 'warning: CPU' err)" = '0 12 1' ]
"$schedlab" sweep small.yaml --no-report --seed 1 --machine sim:server64,cores=2 --results made >out 2>err </dev/null
cp -r "$(cat out)" v1 && cp -r v1 v2
sed -i 's/"model": "[^"]*"/"model": "Node 4000"/' v2/environment.json
merge virtual v1 v2
check simulated_runs_are_of_any_kind [ "$status $(wc -l <virtual/samples.jsonl)" = '0 12' ]

# Memory is a hash a sample: peak of one megabyte against some ten.
cat >peak.py <<'END'
import json, os, resource, subprocess, sys
def many(folder, source, n):
    lines = [json.loads(line) for line in open(source + "/samples.jsonl")]
    os.system(f"cp -r {source} {folder}")
    with open(folder + "/samples.jsonl", "w") as to:
        for i in range(n):
            record = dict(lines[i % len(lines)], position=i, block=i)
            del record["check"]
            to.write(json.dumps(record, separators=(",", ":")) + "\n")
def peak(n):
    many(f"a{n}", "a", n), many(f"b{n}", "b", n)
    child = subprocess.Popen([sys.argv[1], "merge", f"ab{n}", f"a{n}", f"b{n}"],
                             stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    lines = sum(1 for _ in open(f"ab{n}/samples.jsonl"))
    return usage.ru_maxrss * 1024 if (status, lines) == (0, 2 * n) else 1 << 40
few, many_bytes = peak(500), peak(4000)
print(few, many_bytes, os.path.getsize("ab4000/samples.jsonl"))
sys.exit(many_bytes - few > 1 << 20)
END
python3 peak.py "$schedlab" >out 2>err
check memory_does_not_grow_with_samples [ $? = 0 ]

finish
