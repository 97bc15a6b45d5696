#!/bin/bash
# test_artifact.sh - runs packed for a paper's evaluators, measured again from the pack, and held against what was claimed.
#
#     tests/program/test_artifact.sh build/schedlab
#
# Prints TAP. reproduce.sh takes the program under test in place of a build of the packed sources: that build is the same
# as any other one.
. "$(dirname "$0")/../tap.sh"

run() { # ARGUMENT...: leaves out, err, status.
    "$schedlab" "$@" >out 2>err </dev/null
    status=$?
}
has() { grep -qF -- "$1" "$2"; }
fails() { # NAME STATUS PART -- ARGUMENT...: one line with that part, and this exit status
    local name=$1 expected=$2 part=$3 good=0
    shift 4
    run "$@"
    [ $status = "$expected" ] && [ "$(wc -l <err)" = 1 ] && has "$part" err && good=1
    report $good "$name"
}

# Real samples are as short as may be: their times are replaced below, and a reproduction's may be any.
cat >mini.yaml <<'Y'
name: mini
title: One queue or many
min_time_ms: 1
warmup: 0
steal_max: 100
groups:
  - id: simulated
    question: Which one is faster on four simulated cores?
    machine: sim:desktop8,cores=4
    baseline: grq
    variants: [grq, gmp]
    workloads: ["fib,n=10"]
    workers: [1, 4]
  - id: counted
    question: How often do the two search?
    machine: sim:desktop8,cores=4
    baseline: grq
    variants: [grq, gmp]
    workloads: ["fib,n=10"]
    workers: [4]
    events: [STEALS]
  - id: native
    question: Which one is faster here?
    baseline: grq
    variants: [grq, gmp]
    workloads: ["fib,n=10"]
    workers: [1]
Y
run sweep mini.yaml --reps 8 --seed 5 --results runs --no-report
mini=$(tail -n 1 out)
# Beside other tests real samples may be robbed, or of two regimes, and then a ratio has no interval. This run's get
# times that do not depend on what else runs.
python3 - "$mini/samples.jsonl" <<'P'
import json, sys
lines, seen = open(sys.argv[1]).readlines(), {}
for at, line in enumerate(lines):
    record = json.loads(line)
    if record["machine"] == "native":
        k = seen[record["variant"]] = seen.get(record["variant"], 0) + 1
        ns = (1000000 if record["variant"] == "grq" else 1100000) + 1000 * (7 * k % 5)
        record.update(time_ns=ns, cpu_ns=ns, iterations=[{"time_ns": ns, "ops": record["ops"]}], events=[],
                      throughput=record["ops"] / ns * 1e9)
        del record["check"]
        lines[at] = json.dumps(record, separators=(",", ":")) + "\n"
open(sys.argv[1], "w").writelines(lines)
P
run repro E26 --quick --deterministic --machine sim --results runs --name e26 --no-report
e26=$(ls -d runs/e26-*)

# The runs' revision is that of a commit of a small repository of our own, so that the test does not depend on the state of
# the tree that it runs in.
git init -q repository
git -C repository -c user.name=t -c user.email=t@t commit -q --allow-empty -m empty
cp "$tree/LICENSE" repository/ && git -C repository add LICENSE
git -C repository -c user.name=t -c user.email=t@t commit -qm licence
revision=$(git -C repository rev-parse --short=12 HEAD)
say_revision() { # RUN TEXT
    python3 - "$1/environment.json" "$2" <<'P'
import json, sys
j = json.load(open(sys.argv[1]))
j["build"]["revision"] = sys.argv[2]
json.dump(j, open(sys.argv[1], "w"))
P
}
say_revision "$mini" "$revision"
say_revision "$e26" "$revision"
mini=$PWD/$mini e26=$PWD/$e26
cd repository || exit 1

# Packing -----------------------------------------------------------------------------------------

fails no_run 2 "which runs?" -- artifact
fails no_such_run 1 "none" -- artifact none
fails check_packs_nothing 2 "takes no --output" -- artifact --check claims.json "$mini" -o x
fails all_takes_check 2 "--all takes --check" -- artifact "$mini" --all
fails no_claims_file 2 "valid is the claims.json of an artifact" -- artifact --check none.json "$mini"
cp -r "$mini" dirty && say_revision dirty "$revision-dirty"
fails a_dirty_program_is_refused 1 "had changes that no commit has" -- artifact dirty
cp -r "$mini" unknown && say_revision unknown unknown
fails an_unknown_one_too 1 "built outside a git repository" -- artifact unknown
cp -r "$mini" foreign && say_revision foreign 0123456789ab
fails a_commit_of_elsewhere 1 "no commit 0123456789ab" -- artifact foreign
fails two_revisions 1 "an artifact has one revision" -- artifact "$mini" foreign
mkdir twice && cp -r "$mini" twice/
fails one_name_twice 1 "are both named mini" -- artifact "$mini" "twice/$(basename "$mini")"
"$schedlab" sweep "$mini/sweep.yaml" --quick --results . --name quick --no-report >out 2>err </dev/null
say_revision quick-* "$revision"
fails a_quick_sweep_is_refused 1 'was measured with --quick' -- artifact quick-*
rm -r dirty unknown foreign twice quick-*
check a_refusal_leaves_nothing [ -z "$(ls -d artifact* 2>/dev/null)" ]

run artifact "$mini" "$e26" --title 'Queues & more' --output pack
check it_packs [ "$status $(cat out)" = "0 pack" ]
fails it_replaces_nothing 1 "pack is there already" -- artifact "$mini" --output pack
run artifact "$mini" --output pack.tar.xz
check an_archive_is_one_folder [ "$(tar -tf pack.tar.xz | cut -d / -f 1 | sort -u)" = pack ]

# The checklist of SOSP 2026 (https://sysartifacts.github.io/sosp2026/badges), point by point, as far as a pack can hold it.
# Not held: a place of long-term storage, which is the authors' to choose; mocks of proprietary programs, of which there are none.
says() { # PATTERN: README.md has it
    grep -qE -e "$1" pack/README.md
}
# Available
check sosp_licence_allows_extension grep -q 'MIT License' pack/LICENSE
check sosp_read_me_references_the_paper says 'goes with the paper \*Queues & more\*'
# Functional
check sosp_each_component_is_described [ -z "$(cd pack || echo none; for part in *; do
    case $part in README.md | LICENSE) ;; *) grep -qE "^\| \`$part/?\`" README.md || echo "$part" ;; esac
done)" ]
check sosp_environment_is_exact says 'hardware thread.*GiB; Linux [0-9]+\.[0-9]+.*(gcc|clang|GCC)'
check sosp_nothing_destroys says 'Nothing here destroys'
check sosp_only_what_is_relevant [ "$(ls pack/runs | xargs)" = 'e26 mini' ]
check sosp_changes_of_data_are_told says '^All samples are as they were measured'
minimal=$(sed -n 's/^source.build.schedlab \(run .*\)/\1/p' pack/README.md)
run $minimal
check sosp_a_minimal_example_runs [ "$status $(grep -cE '^(gmp|grq) ' out)" = '0 2' ]
check sosp_and_is_extended says 'gmp,tick=64'
check sosp_compiling_begins_with_packages says '^make -C source deps '
check sosp_what_to_configure says '^`source/build/schedlab list` .*configured'
check sosp_resources_of_each_run [ "$(grep -cE '^\| (mini|e26) (\| [0-9.]+ ){5}\|' pack/README.md)" = 2 ]
check sosp_memory_and_disk says '[0-9]+ GB of memory and [0-9]+ GB of disk'
check sosp_what_may_look_odd says '^What may look odd'
check sosp_dependencies_are_for_a_package_manager grep -q 'apt-get install' pack/Dockerfile
check sosp_a_script_makes_the_container says '^docker build '
check sosp_input_of_each_run [ -s pack/runs/mini/sweep.yaml -a -s pack/runs/mini/quick.cmd -a -s pack/runs/e26/quick.cmd ]
# Reproduced; that it measures, fails and is misused well is shown below
check sosp_one_script_measures says '^./reproduce.sh  '
check sosp_the_script_is_documented [ "$(sed '/^set /,$d' pack/reproduce.sh | grep -c '^# .')" -ge 5 ]
check sosp_results_are_readable says 'page in the folder in `out/`'

for part in LICENSE README.md Dockerfile reproduce.sh claims.json source/LICENSE runs/mini/samples.jsonl runs/mini/sweep.yaml \
    runs/mini/environment.json runs/e26/repro.json; do
    check "it_has_${part//[\/.]/_}" [ -s pack/$part ]
done
for title in 'Artifact: Queues & more' 'What is here' 'Where it was measured' 'Getting started' Reproduce 'In a container'; do
    check "read_me_has_${title// /_}" grep -qE "^#+ $title" pack/README.md
done
check nothing_is_left_to_fill_in [ -z "$(grep -hoE '@[A-Z]+@' pack/README.md pack/Dockerfile pack/reproduce.sh)" ]
check the_image_and_packages_are_dated [ "$(grep -cE '^FROM debian:[a-z]+-[0-9]{8}-slim$|^ARG SNAPSHOT=[0-9]{8}T000000Z$' pack/Dockerfile)" = 2 ]
check the_script_is_sound sh -n pack/reproduce.sh
check no_place_of_this_machine [ -z "$(grep -rlF "$scratch" pack/README.md pack/Dockerfile pack/reproduce.sh pack/runs/*/*.cmd pack/claims.json)" ]
cp pack/claims.json out
json each_exact_claim_has_samples 'all(any(s for s in c["samples"]) for c in j["claims"] if c["kind"] == "exact")'
json each_verdict_is_one '{c["verdict"] for c in j["claims"] if c["kind"] == "verdict"} <= {"supported", "refuted", "undecided"}'
json simulated_cells_are_exact 'len([c for c in j["claims"] if c["kind"] == "exact" and c["run"] == "mini"]) == 6'
json native_pairs_are_ratios 'all(c["lo"] <= c["value"] <= c["hi"] for c in j["claims"] if c["kind"] == "ratio" and c["run"] == "mini")'
json ids_are_of_one_claim_each 'len({c["id"] for c in j["claims"]}) == len(j["claims"])'

# Measuring again ---------------------------------------------------------------------------------

SCHEDLAB=$schedlab pack/reproduce.sh --quick ../again >out 2>err
again=(../again/quick-*/*Z)
check reproduce_measures_both_runs [ "${#again[@]}" = 2 ]
run artifact --check pack/claims.json "${again[@]}" --format json
json what_is_simulated_is_equal_to_the_byte '{c["outcome"] for c in j["claims"] if c["machine"] != "native" and "#" in c["id"] or c["run"] == "mini" and c["machine"] != "native"} == {"equal"}'
json nothing_was_not_measured '"missing" not in {c["outcome"] for c in j["claims"]}'

cp -r pack broken && echo 'run none' >broken/runs/mini/quick.cmd && rm -r broken/runs/e26
SCHEDLAB=$schedlab broken/reproduce.sh ../never >out 2>err
check a_command_that_fails_fails_all [ $? = 1 ]
check and_is_named grep -q 'mini/quick.cmd ended with status 2' err
# A program that measures without end.
mkfifo never.pipe
printf '#!/bin/bash\n[ "$1" != artifact ] || exit 0\ntrap "exit 1" INT\nread -r <>"%s"\n' "$PWD/never.pipe" >endless
chmod +x endless
MINUTES=0 SCHEDLAB=$PWD/endless pack/reproduce.sh ../late >out 2>err
check the_quick_form_ends_in_time [ "$? $(grep -c 'quick.cmd: its time is over; the rest is not measured$' err)" = '1 2' ]
check and_says_that_nothing_was_measured grep -q '^reproduce.sh: nothing was measured$' err
for minutes in soon 08; do
    MINUTES=$minutes SCHEDLAB=$PWD/endless pack/reproduce.sh ../late >out 2>err
    check "a_time_of_${minutes}_is_misuse" [ "$? $(wc -l <err)" = '2 1' ]
done
# A reproduction that was stopped: its one machine is not done.
mkdir stopped-e26 && cp "$e26"/environment.json stopped-e26 &&
    sed 's/"state": "done"/"state": "begun"/' "$e26"/repro.json >stopped-e26/repro.json
run artifact --check pack/claims.json stopped-e26 --format json
json what_was_stopped_is_not_measured '{c["outcome"] for c in j["claims"] if c["run"] == "e26"} == {"missing"}'
SCHEDLAB=$schedlab pack/reproduce.sh --quickly >out 2>err
check an_unknown_form_is_misuse [ "$? $(wc -l <err)" = '2 1' ]

# Claims that do not hold, made by changing what is claimed: the runs are those of before.
hold() { # PYTHON: changes c, each claim, if it says so; leaves out, status
    python3 - "$1" <<'P'
import json, sys
j = json.load(open("pack/claims.json"))
for c in j["claims"]:
    exec(sys.argv[1])
json.dump(j, open("changed.json", "w"))
P
    run artifact --check changed.json "$mini" "$e26"
}
hold pass
check a_run_holds_against_itself [ $status = 0 ]
hold 'if c["kind"] == "exact" and c["run"] == "mini": c["samples"][1] = "0" * 16'
check another_sample_differs [ $status = 1 ]
check and_is_told has 'differs: mini: gmp fib,n=10 on 4 workers of sim:desktop8,cores=4: sample 2 is another one' out
check and_the_end_says_so has 'not reproduced' out
hold 'if c["kind"] == "ratio": c["lo"], c["hi"] = 5 * c["hi"], 6 * c["hi"]; c["verdict"] = "~"'
check another_ratio_differs has 'differs: mini: native: gmp over grq, fib,n=10 on 1 worker' out
run artifact --check changed.json "$mini" "$e26" --tolerance 1000
check a_tolerance_that_is_given_counts [ $status = 0 ]
hold 'if c["kind"] == "verdict": c["verdict"] = "refuted" if c["verdict"] == "supported" else "supported"'
check another_verdict_differs [ $status = 1 ]
hold 'if c["kind"] == "exact" and c["run"] == "mini": c["samples"] = c["samples"][:1]'
check fewer_samples_are_enough [ $status = 0 ]
run artifact --check pack/claims.json "$mini"
check a_run_that_is_not_there_is_missing [ $status = 0 ]
check and_counted [ "$(tail -n 1 out | grep -oE '[0-9]+ were not measured')" != '0 were not measured' ]
run artifact --check pack/claims.json "$mini" --all
check which_all_does_not_allow [ $status = 1 ]

# Designs outside the tree ------------------------------------------------------------------------

cp -r "$mini" foreign
python3 - <<'P'
import json
j = json.load(open("foreign/environment.json"))
j["build"]["outside"] = ["mine"]
json.dump(j, open("foreign/environment.json", "w"))
P
fails a_source_is_c 2 'is no C file' -- artifact foreign --source locked.txt
fails two_sources_of_a_name 2 'has the name of' -- artifact foreign --source a/x.c --source b/x.c
fails their_source_is_asked_for 1 'name the C file of each with --source FILE.c' -- artifact foreign
cp "$tree/examples/locked.c" .
run artifact foreign --source locked.c --output outside
check and_packed cmp -s locked.c outside/outside/locked.c
check and_said has 'outside/' outside/README.md
finish
