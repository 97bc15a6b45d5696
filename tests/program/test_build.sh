#!/bin/bash
# test_build.sh - variants that live outside the tree: what `schedlab build` writes, every command takes.
#
#     tests/program/test_build.sh build/schedlab
#
# Prints TAP.
. "$(dirname "$0")/../tap.sh"

export XDG_CACHE_HOME=$scratch/cache
# Most of the time goes into compiling and linking. So most of this is done by a program that knows two of the four configurations, and
# what was built is linked together once, into one program.
full=$schedlab built=$(dirname "$schedlab")
mkdir -p lean/author
cp "$built"/author/{abi,release.sh,sim.sh} lean/author
cp "$schedlab" "$(dirname "$schedlab")/schedlab-sim" lean
for suite in conformance conformance-sim; do
    [ ! -e "$built/author/$suite.sh" ] || cp "$built/author/$suite.sh" lean/author
done
ln -s "$built"/{release,sim} lean
schedlab=$scratch/lean/schedlab
with=() # the files that are linked together
run() { # ARGUMENT...: leaves out, err, status.
    "$schedlab" "$@" >out 2>err </dev/null
    status=$?
}
typed() { # COMMAND: as a user types it; leaves out, err, status
    schedlab() { "$schedlab" "$@"; }
    build/schedlab() { schedlab "$@"; }
    eval "$1" >out 2>err </dev/null
    status=$?
}
pasted() { # FILE PREFIX: the first command of the file behind that prefix
    typed "$(sed -n "s/^$2//p" "$1" | head -n 1)"
}
has() { grep -qF -- "$1" "$2"; }
fails() { # NAME PART -- ARGUMENT...: one line with that part, and no other
    local name=$1 part=$2 good=0
    shift 3
    run "$@"
    [ $status != 0 ] && [ "$(wc -l <err)" = 1 ] && has "$part" err && good=1
    report $good "$name"
}
names='r = j["records"]
event = lambda i, n: [x for x in r[i]["events"] if x["name"].endswith("::" + n)][0]["value"]'
renamed() { # FILE FROM TO: the variant FROM of the file under another name, into TO.c
    sed "s/\b$2_ops/$3_ops/; s/\"$2\"/\"$3\"/; s/RUNQ_VARIANT($2,/RUNQ_VARIANT($3,/" "$1" >"$3.c"
}

# grq under another name: whatever holds of it holds of the other one.
sed 's/\bgrq_/mine_/g; s/"grq"/"mine"/' "$tree/sched_variants/grq/grq.c" >mine.c

# Building ----------------------------------------------------------------------------------------

run build mine.c
check it_builds_and_names_the_file [ "$status $(cat out)" = "0 mine.slv" ]
check an_object_for_each_machine has release.o <(ar t mine.slv)
check and_for_simulated_ones has sim.o <(ar t mine.slv)
fails no_file "which files?" -- build
fails no_such_file "cannot read none.c" -- build none.c
fails no_c_file "mine.slv is no C file" -- build mine.slv
fails a_name_of_the_tree "grq is a variant of schedlab's own" -- build mine.c --name grq
fails no_word "expected a word of a-z" -- build mine.c --name Mine
fails no_operations 'mine.c defines neither `const struct sched_ops yours_ops` nor' -- build mine.c --name yours
check and_how_to_name_it has 'say by --name which name it defines, or give it this one, as RUNQ_VARIANT(yours, ...) does' err
sed 's/"mine"/"yours"/' mine.c >misnamed.c
run build misnamed.c --name mine
check a_name_that_is_another_has_a_remedy has 'mine_ops.name is "yours"; expected "mine", as in the name of the struct, which --name says or else the file' err
fails a_name_of_a_workload "sieve is a workload of schedlab's own" -- build mine.c --name sieve
echo 'int x' >torn.c
run build torn.c
check a_mistake_in_c_is_the_compilers_line has 'torn.c:1:' err
check and_ends_in_one_of_ours [ "$status $(tail -n 1 err)" = "1 schedlab build: cannot compile torn.c (release)" ]
grep -v 'ready = mine_ready' mine.c >unready.c
run build unready.c --name mine
check a_required_function_is_missed has 'unready.c: mine_ops.ready is missing' err
check and_it_is_no_variant [ "$status $(tail -n 1 err)" = "1 schedlab build: cannot take it for a variant or a workload" ]
sed '/\.get = /d; /\.length = /d' "$tree/examples/locked.c" >lacks.c
run build lacks.c --name locked
check so_are_those_of_a_queue has 'lacks.c: locked_ops: its struct runq_ops lacks get, length; required are size, put, get, steal and length' err
check and_no_file_is_left [ "$status $(ls locked.slv 2>/dev/null)" = "1 " ]
{ echo 'int more(void);'; sed 's/(void)how;/(void)how; (void)more();/' mine.c; } >two.c
echo 'int more(void); int more(void) { return 1; }' >more.c
mkdir two empty && mv two.c more.c two
echo 'no C' >two/README.md
run build two/ --name mine
check all_files_of_a_folder_are_one_variant [ "$status $(cat out)" = "0 mine.slv" ]
mv mine.slv two.slv
run build mine.c
fails no_file_in_a_folder 'empty has no C file' -- build empty
fails a_folder_is_built_alone 'two is a folder, which is built alone' -- build two mine.c
fails a_folder_has_a_name_too 'grq is a variant' -- build "$tree/sched_variants/grq"
unnamed=0
for function in $(sed -nE '/^struct (sched|runq)_ops \{/,/^\}/s/^    [a-z].*\(\*([a-z_]+)\)\(.*/\1/p' "$tree"/sched_variants/{sched.h,runtime/runq.h}); do
    grep -qE "^ \*  .*\b$function\b" "$tree/include/schedlab/schedlab.h" || unnamed=1
done
check the_authors_header_has_every_function [ $unnamed$function = 0has_work ]
printf '#include "schedlab.h"\n_Static_assert(SCHEDLAB_ABI == 0, "version");\n' >older.c
run build older.c
check its_version_can_be_asked_for has 'static assertion failed: "version"' err
run build "$tree/examples/locked.c"
check a_queue_is_a_variant [ "$status $(cat out)" = "0 locked.slv" ]
check published_ones_are_built eval '"$schedlab" build "$tree/examples/the.c" && "$schedlab" build "$tree/examples/bwos.c"'
sed 's/workload_sieve/workload_strain/; s/"sieve"/"strain"/' "$tree/workloads/sieve.c" >strain.c
run build strain.c
check a_workload_is_built [ "$status $(cat out)" = "0 strain.slv" ]
run build "$tree/examples/scan.c"
check one_of_fork_join_is_built [ "$status $(cat out)" = "0 scan.slv" ]
check once_per_policy eval 'ar p scan.slv release.o >scan.o && [ "$(nm -g scan.o | grep -c "workload_scan_FJ_")" = 4 ]'

# Files that are wrong: one that crashes, one that loses count, one that is text, one of other headers, one without simulated half.
renamed mine.c mine crash
sed -i 's/(void)how;/(void)how; *(volatile int *)8 = 1;/' crash.c
renamed "$tree/examples/locked.c" locked stays
sed -i 's/locked->head++/locked->head/' stays.c
renamed mine.c mine native
for file in crash stays native; do
    run build $file.c
done
ar dD native.slv sim.o
echo text >text.slv
about() { # FILE NAME SED: its about.json is mine's, changed
    ar p mine.slv about.json | sed "s/\"mine\"/\"$2\"/; $3" >about.json
    ar rD "$1" about.json 2>/dev/null
}
cp mine.slv old.slv && about old.slv old 's/"abi": "\([^ ]*\) [0-9a-f]*"/"abi": "\1 0123456789abcdef"/'
cp mine.slv vax.slv && about vax.slv vax 's/"abi": "[^ ]* /"abi": "vax-linux-gnu /'
for file in mine locked the bwos strain scan crash stays native text old vax; do
    with+=(--with ./$file.slv)
done
all() { run "${with[@]}" "$@"; }

# Running -----------------------------------------------------------------------------------------

run run ./mine.slv grq fib,n=12 --reps 1 --workers 2 --format json --events none
check it_runs_beside_the_trees [ $status = 0 ]
check it_is_linked_once has 'linking a program with mine, once' err
json its_name_is_the_variants '[x["variant"] for x in r] == ["mine", "grq"] and all(x["status"] == "ok" for x in r)'
run run ./mine.slv,lock=mcs fib,n=12 --reps 1 --workers 2 --format json --events none
check and_not_again [ "$(grep -c linking err)" = 0 ]
json knobs_stand_behind_the_file 'r[0]["variant"] == "mine,lock=mcs" and r[0]["knobs"]["lock"] == "mcs"'
run list ./mine.slv
check a_list_says_where_it_comes_from has 'code         mine.slv ' out
check and_how_it_is_run has 'schedlab --with ./mine.slv run mine gmp fib' out
run trace ./mine.slv fib,n=3 --machine sim:desktop8
check it_is_traced has 'mine fib,n=3 on sim:desktop8' out
simulated() { all run "$@" fib,n=14 --machine sim:desktop8 --workers 4 --reps 1 --format json; }
run run gmp grq fib,n=14 --machine sim:desktop8 --workers 4 --reps 1 --format json
json there_is_a_tree '[(x["throughput"], x["time_ns"]) for x in r] != []'
python3 -c 'import json; print([x["time_ns"] for x in json.load(open("out"))["records"]])' >tree_times
simulated gmp grq ./mine.slv
python3 -c 'import json; print([x["time_ns"] for x in json.load(open("out"))["records"][:2]])' >their_times
check the_trees_variants_are_what_they_were cmp -s tree_times their_times
json it_runs_on_simulated_machines 'r[2]["variant"] == "mine" and r[2]["status"] == "ok" and r[2]["ops"] == r[1]["ops"]'

# Files that do not fit ---------------------------------------------------------------------------

all run ./text.slv,k=3 ./crash.slv mine ./old.slv,tick=4 ./vax.slv ./native.slv grq fib,n=10 --reps 1 --format json --events none
json the_others_go_on '[x["status"] == "ok" for x in r] == [False, False, True, False, False, True, True] and j["records"][5]["variant"] == "native"'
json a_failed_cell_has_the_reason '[x["reason"].split(" ")[-5:] for x in (r[0], r[1])] == [
    "file that `schedlab build` has written".split()[-5:], "killed by SIGSEGV".split()]'
json that_of_other_headers '"0123456789abcdef, and does not fit this one" in r[3]["reason"] and r[3]["variant"] == "old,tick=4"'
json that_of_another_architecture '"vax-linux-gnu" in r[4]["reason"]'
check each_is_told has './text.slv is no file that `schedlab build` has written; its cells fail' err
simulated ./native.slv grq
json without_a_simulated_half_it_fails_there '[x["status"] for x in r] == ["failed", "ok"] and "native.slv has no sim.o" in r[0]["reason"]'
sed 's/\.ready = mine_ready,//; s/static void mine_ready/__attribute__((used)) &/' mine.c >hookless.c
cp mine.slv hookless.slv && sh lean/author/release.sh compile "$tree" lean hookless.c release.o && ar rD hookless.slv release.o
run run ./hookless.slv grq fib,n=10 --reps 1 --format json --events none
json a_missing_function_is_a_failed_cell '[x["status"] for x in r] == ["failed", "ok"] and "mine_ops.ready is missing" in r[0]["reason"]'
cp locked.slv queueless.slv && sh lean/author/release.sh compile "$tree" lean lacks.c release.o 2>err && ar rD queueless.slv release.o
run run ./queueless.slv grq fib,n=10 --reps 1 --format json --events none
json that_of_a_queue_too '[x["status"] for x in r] == ["failed", "ok"] and "its struct runq_ops lacks get, length" in r[0]["reason"]'
fails a_missing_file 'cannot read ./none.slv' -- run ./none.slv gmp fib
fails in_a_workloads_place_too './text.slv is no file that `schedlab build` has written' -- run gmp ./text.slv --reps 1
mkdir torn
left_out=
for size in 5 100 300 2000; do
    head -c $size strain.slv >torn/strain.slv
    run run gmp ./torn/strain.slv,primes=20 --reps 1
    [ "$status $(cat err)" = '1 schedlab: ./torn/strain.slv is a torn object, whose end is missing; build it again with `schedlab build`' ] ||
        left_out+="$size $(cat err)"
done
check a_torn_workload_is_told_as_such [ -z "$left_out" ]
{ printf '!<arch>\n'; printf '%-48s%-10s`\n' lost -60; } >torn/strain.slv
run run gmp ./torn/strain.slv,primes=20 --reps 1
check a_size_that_is_no_number_is_torn_too has 'is a torn object' err
run run ./mine.slv arrivals,n=10 --workers 1 --reps 1 --iterations 1 --warmup 0
check the_command_that_tells_of_requests_has_the_file has '; schedlab --with ./mine.slv trace mine arrivals,n=10 --workers 1 ' err
head -c 2000 mine.slv >torn/mine.slv
run run ./torn/mine.slv grq fib,n=10 --reps 1 --format json --events none
json a_torn_variant_is_a_failed_cell '[(x["variant"], x["status"]) for x in r] == [("mine", "failed"), ("grq", "ok")] and "is a torn object" in r[0]["reason"]'
fails alone_it_is_one_line './text.slv is no file that `schedlab build` has written' -- run ./text.slv fib
fails so_it_is_where_there_are_no_cells '0123456789abcdef, and does not fit this one' -- trace ./old.slv fib
fails two_of_one_name 'both hold mine' -- run ./mine.slv ./two.slv fib
fails with_is_without_its_file '--with is without its file' -- --with

# A queue alone --------------------------------------------------------------------------------------

all run ./locked.slv gmp uneven,tasks=200,rounds=500 --machine sim:desktop8 --workers 4 --reps 1 --format json
json it_does_the_same_work 'r[0]["ops"] == r[1]["ops"] and abs(event(0, "DISPATCHES") - event(1, "DISPATCHES")) <= 8'
json it_is_stolen_from_and_has_runnext 'event(0, "STOLEN") > 0 and event(0, "RUNNEXT_HITS") > 0 and event(0, "LOCAL_HITS") > 0'
all run ./locked.slv spawn,n=2000 --workers 1 --reps 1 --format json
json a_full_queue_overflows 'event(0, "OVERFLOWS") > 0 and event(0, "GRQ_HITS") > 0'
all run ./the.slv ./bwos.slv gmp skynet,leaves=1000 --machine sim:desktop8 --workers 8 --reps 6 --format json
json they_do_the_same_work 'len({x["ops"] for x in r}) == 1 and all(x["status"] == "ok" for x in r)'
json what_lies_in_an_owners_block_is_not_stolen '(lambda stolen: stolen("bwos") < stolen("the") / 2)(
    lambda name: sum(event(i, "STOLEN") for i in range(len(r)) if r[i]["variant"] == name))'
all run ./the.slv ./bwos.slv order,n=10 --workers 1 --reps 1 --events none
check one_is_a_stack_and_one_a_queue [ "$(grep '^ran:' out)" = "$(printf 'ran: 9 8 7 6 5 4 3 2 1 0\nran: 9 0-8')" ]
all run ./the.slv ./bwos.slv spawn,n=5000 --machine sim:desktop8 --workers 8 --reps 1 --format json
json both_are_stolen_from_and_overflow 'all(event(i, "STOLEN") > 0 and event(i, "OVERFLOWS") > 0 for i in (0, 1))'
all sweep "$tree/examples/outside.yaml" --plan
check their_sweep_is_planned has '400 samples of 40 cells in 2 groups' out

# One by one: where there are no cells, a file that does not fit is refused.
fits=(--with ./mine.slv --with ./locked.slv --with ./the.slv --with ./bwos.slv --with ./stays.slv)
queues() { run "${fits[@]}" micro "$@" --benchmark_filter=^queue/ --benchmark_min_time=0.0001; }
queues bwos the locked
check a_queue_is_timed_alone eval '[ $status = 0 ] && [ "$(grep -cE "^queue/(put|get)/(bwos|the|locked|gmp) .* ns .* ns " out)" = 8 ]'
check and_a_thiefs_steals [ "$(grep -cE '^queue/steal/(the|locked|gmp)/held:(1|16|128) .* ns .* ns ' out)" = 9 ]
check where_there_is_something_for_thieves has "'a thief gets nothing of a queue that holds 1'" out
run "${fits[@]}" micro mine --list
check others_have_no_queue_to_time eval '[ $status = 0 ] && ! grep "^queue/" out && grep -q ^switch/mine out'
queues stays
check a_queue_that_is_wrong_has_no_time eval '[ $status = 1 ] && has "a G came out twice" out && ! grep -qE "^queue/get/stays .* ns " out'

# The hunt, and traces of real threads: all four configurations.
if [ -e "$built/author/hunt.sh" ]; then
    schedlab=$full
    run build "$tree/examples/the.c" --output hunted.slv
    renamed "$tree/examples/the.c" the takes
    sed -i 's/memory_order_relaxed) > t) {/memory_order_relaxed) > t + 1) {/' takes.c
    run build takes.c
    run build "$tree/examples/scan.c" --output forks.slv
    renamed "$tree/examples/locked.c" locked waits
    sed -i 's/    return locked_take(queue, &gp, 1) == 1 ? gp : NULL;/    while (locked_take(queue, \&gp, 1) != 1)\n        continue;\n    return gp;/' waits.c
    run build waits.c
    run hunt ./waits.slv last_item --executions 20
    check one_without_end_tells_its_last_steps eval 'has "failed: endless: " out && has "the last of what happened" out && grep -qE "^    P0 +put G0 into its own queue$" out'
    hunt() { run --with ./hunted.slv --with ./takes.slv --with ./forks.slv hunt "$@"; }
    hunt tasksteal ./forks.slv,n=12,grain=2 --executions 20
    check a_workload_is_hunted has 'nothing was found' out
    hunt ./hunted.slv last_item --executions 20
    check a_queue_is_hunted has 'nothing was found' out
    hunt ./takes.slv last_item --executions 2000
    check and_a_race_in_it_is_found [ $status = 1 ]
    cp out found
    schedlab=$full
    pasted found 'replay: '
    check its_replay_names_the_files eval '[ $status = 1 ] && has "$(grep ^failed: found)" out && has " --with ./takes.slv --with ./forks.slv hunt takes" found'
    run --with ./takes.slv hunt --campaign takes last_item --executions 2000 --algorithm surw --memory sc --name log
    run hunt --show results/log-*
    cp out shown
    pasted shown 'replay: '
    check that_of_a_campaign_too eval '[ $status = 1 ] && has "$(grep ^failed: shown)" out'
    schedlab=$scratch/lean/schedlab
fi

# Conformance -------------------------------------------------------------------------------------

sed 's/return room;/return true;/' "$tree/examples/locked.c" >loses.c
if [ -e lean/author/conformance.sh ]; then # the suite is built
    CASE='locked/conform_[cdl]*' run build "$tree/examples/locked.c" --conformance
    check it_conforms has 'cases of the conformance suite hold on real threads' err
    CASE='locked*/conform_all_spawned*' run build loses.c --name locked --output loses.slv --conformance
    check one_that_loses_goroutines_does_not [ "$status $(tail -n 1 err)" = \
        "1 schedlab build: locked does what no variant may: see the cases above" ]
    check a_remedy_says_where_to_look has 'remedy: ready() or put() loses a G' err
    cp err cases
    pasted cases '#   again: '
    check and_its_command_has_the_case_again eval '[ $status = 1 ] && has "$(grep -m 1 -o "conform_all_spawned_run_once locked.*" cases)" err &&
        has "0 of 1 case of the conformance suite" err'
    cp cases err
    check its_own_knobs_are_tried eval 'has "run_once locked,runnext=off" err && has "run_once locked,tick=0" err && has "run_once locked,tick=1024" err'
    CASE=xyzzy fails a_case_that_is_none_is_no_fault_of_a_queue 'locked was not tried: ' -- \
        build "$tree/examples/locked.c" --output tried.slv --conformance
fi

# Conformance on simulated machines. CASE=GLOB chooses among the cases, as of the tree's variants.
fails machine_is_of_conformance '--machine says where --conformance' -- build mine.c --machine sim:desktop8
fails no_such_machine 'unknown model "nowhere"' -- build mine.c --conformance --machine sim:nowhere
conforms() { # CASE FILE NAME: on sim:desktop8; leaves err, status
    CASE=$1 run build "$2" --name "$3" --output tried.slv --conformance --machine sim:desktop8
}
held() { sed -nE 's/^([0-9]+) of ([0-9]+) cases of the conformance suite hold on sim:desktop8$/\1 \2/p' err; }
if [ -e lean/author/conformance-sim.sh ]; then
    rm -f tried.slv
    conforms 'locked/conform_[cdl]*' "$tree/examples/locked.c" locked
    read -r some all <<<"$(held)"
    check a_queue_conforms_on_a_simulated_machine [ "$status$some" = "0$all" ]
    check and_many_cases_ran [ "$all" -gt 50 ]
    conforms 'mine/conform_[cdl]*' mine.c mine
    check and_a_whole_variant [ "$status $(cat out)" = "0 tried.slv" ]
    rm tried.slv
    conforms 'locked/conform_*spawn*' loses.c locked
    check one_that_loses_goroutines_fails_there [ "$status $(tail -n 1 err)" = \
        "1 schedlab build: locked does what no variant may: see the cases above" ]
    check its_case_is_named has 'not ok 1 - conform_all_spawned_run_once locked workers=1' err
    check and_the_reason has 'fatal: deadlock: all workers of locked are asleep' err
    check and_no_file_is_written [ ! -e tried.slv ]
    sed 's/^    return n;/    if (n > 1)\n        lock_acquire(\&locked->lock);\n    return n;/' "$tree/examples/locked.c" >hangs.c
    conforms 'locked/conform_[ac]*/workers=2' hangs.c locked
    check a_hang_is_a_failed_case has 'conform_all_spawned_run_once locked workers=2' err
    check and_tells_by_the_machines_clock has 'watchdog: still running after 500 ms of simulated time' err
    read -r some all <<<"$(held)"
    check and_the_other_cases_go_on [ "$some" -gt 2 ]
    conforms 'crash/conform_*[nr]_*/workers=1' crash.c crash
    check a_crash_is_a_failed_case_with_its_signal has 'killed by signal 11' err
    read -r some all <<<"$(held)"
    check and_the_others_go_on_there_too [ "$some" -gt 0 ]
    if [ -e takes.c ]; then # and the hunt is built, which comes after the suite
        schedlab=$full
        conforms 'takes/conform_misuse_is_fatal' takes.c takes
        check a_brief_hunt_finds_what_the_cases_miss [ "$status $(tail -n 1 err)" = \
            "1 schedlab build: takes is wrong in a schedule of the hunt: see above" ]
        check and_says_how_to_replay_it has 'replay: schedlab build takes.c --name takes --output tried.slv && schedlab --with tried.slv hunt takes ' err
        cp err hunted
        pasted hunted 'replay: '
        check which_a_user_pastes eval '[ $status = 1 ] && has "$(grep -m 1 ^failed: hunted)" out'
        rm tried.slv
        conforms 'locked/conform_misuse_is_fatal' "$tree/examples/locked.c" locked
        check one_called_as_a_scenario_is_hunted has 'a brief hunt found nothing' err
        schedlab=$scratch/lean/schedlab
    fi
fi

# A workload -----------------------------------------------------------------------------------------

run list ./strain.slv
check one_is_listed_without_a_variant has 'strain: a workload' out
all run ./mine.slv gmp ./strain.slv,primes=20 --workers 2 --reps 1 --format json --events none
json it_runs_on_all 'all(x["status"] == "ok" and x["workload"] == "strain,primes=20" for x in r)'
all run gmp ./strain.slv,primes=20 --machine sim:desktop8 --workers 2 --reps 1 --format json --events none
cp out strain.json
run run gmp sieve,primes=20 --machine sim:desktop8 --workers 2 --reps 1 --format json --events none
json it_does_the_same_as_the_trees 'r[0]["ops"] == json.load(open("strain.json"))["records"][0]["ops"]'
all run gmp ./strain.slv,primes=20,grains=1 --reps 1
check its_parameters_are_its_own has 'strain: unknown parameter "grains"; valid: primes' err
forked='./scan.slv,n=3000,grain=8'
all run serial tasksteal contsteal contsteal,frames=pooled gmp kthread $forked --workers 2 --reps 1 --format json --events none
json all_policies_do_its_work 'len(r) == 6 and all(x["status"] == "ok" for x in r) and len({x["digest"] for x in r}) == 1'
all run tasksteal contsteal gmp $forked --machine sim:desktop8 --workers 4 --reps 1 --format json
json children_are_goroutines_only_under_gmp 'all(5 * event(i, "LIVE_GS_PEAK") < event(2, "LIVE_GS_PEAK") for i in (0, 1))'
json its_tasks_are_stolen 'all(event(i, "STOLEN") > 0 for i in (0, 1, 2))'
sed 's/STYLE_FORKJOIN/STYLE_GOROUTINE/' "$tree/examples/scan.c" >style.c
run build style.c --name scan --output style.slv
check frames_have_the_style_of_fork_join has 'workload_scan.style is STYLE_GOROUTINE; expected STYLE_FORKJOIN, since its file opens frames' err
sed 's/STYLE_GOROUTINE/STYLE_FORKJOIN/' strain.c >style.c
sed 's/\.style = STYLE_FORKJOIN,/& .run_serial = sieve_run,/' style.c >serial.c
run build serial.c --name strain --output style.slv
check and_others_not has 'since its file opens no frame of fork/join' err
sed 's/^static bool scan_is_leaf/bool scan_is_leaf/' "$tree/examples/scan.c" >global.c
run build global.c --name scan --output global.slv
check one_name_for_all_policies_is_refused [ "$status $(tail -n 1 err)" = "1 schedlab build: cannot join the files" ]
sed 's/.*fj_open(&frame, up);/char list[self->count]; list[0] = 0; (void)list;\n&/' "$tree/examples/scan.c" >array.c
run build array.c --name scan --output array.slv
check a_frame_beside_a_variable_array_is_refused [ "$status $(tail -n 1 err)" = "1 schedlab build: cannot compile array.c (release)" ]
fails conformance_is_for_variants 'strain is a workload' -- build strain.c --conformance

# In files ----------------------------------------------------------------------------------------

cat >small.yaml <<'END'
name: small
title: A small sweep
reps: 2
min_time_ms: 0
warmup: 0
iterations: 1
groups:
  - id: all
    question: Who is fastest?
    variants: [mine, "old,tick=4", crash, grq]
    baseline: grq
    workloads: ["fib,n=10"]
    workers: [1]
END
run sweep small.yaml --results runs --name none
check a_sweep_alone_knows_none has 'unknown variant "mine"' err
all sweep small.yaml --results runs --name one --no-report
check with_makes_the_names_known has '4 samples ok, 4 failed' err
check the_sweep_tells_of_each_failure eval 'has "failed: crash on fib,n=10, 1 worker: killed by SIGSEGV" err &&
    has "failed: old,tick=4 on fib,n=10, 1 worker: ./old.slv was built for schedlab" err'
check records_say_where_it_came_from grep -qE '"mine.slv [0-9a-f]{16}"' runs/one-*/environment.json
all sweep --resume runs/one-* --no-report
check it_is_resumed [ $status = 0 ]
of=$(echo runs/one-*)
all compare "$of:variant=mine" "$of:variant=grq"
check its_cells_are_compared eval '[ $status = 0 ] && grep -q "fib,n=10" out'
all compare "$of:variant=crash" "$of:variant=grq"
check one_that_failed_has_its_reason_there has 'killed by SIGSEGV' out
check the_environment_names_the_files_as_the_user_did has "\"with\": \"${with[*]}\"" "$of"/environment.json
run report "$of"
page() { sed 's/<span[^>]*>//g; s/<\/span>//g; s/<\/div>/\n/g; s/&gt;/>/g' "$of/report.html" | grep -F "$1" | sed -n 's/.*<code>\(.*\)<\/code>.*/\1/p' | head -n 1; }
typed "$(page 'run mine fib,n=10') --format json --events none"
json the_command_of_a_cell_can_be_pasted '[(x["variant"], x["status"]) for x in r] == [("mine", "ok")]'
check the_trees_need_no_file eval '[[ $(page "run grq fib,n=10") == "build/schedlab run grq fib,n=10"* ]]'
run export "$of" --to latex
check a_table_of_a_paper_says_with_which has 'schedlab -{}-with ./mine.slv -{}-with ./locked.slv' out
sed 's/mine, "old,tick=4", crash, grq/mine, grq/' small.yaml >two.yaml
run "${fits[@]}" sweep two.yaml --results runs --name simulated --machine sim:desktop8
of=$(echo runs/simulated-*)
typed "$(page 'trace mine fib,n=10')"
check its_trace_too eval '[ $status = 0 ] && ls [0-9a-f]*.html'
typed "$(page 'diff grq mine fib,n=10')"
check and_where_it_parts_from_the_baseline eval '[ $status -le 1 ] && has "</html>" [0-9a-f]*-diff.html'
cat >order.yaml <<'END'
id: Mine1
title: A queue beside its model
claim: Both run the oldest goroutine first.
source: none
why: They are the same but for the name.
refuted: Another order of either.
parts:
  - {id: order, factor: variant, levels: [grq, mine, crash, old], workload: "order,n=5", metric: order, expect: [
      {says: The model's, level: grq, exactly: 0-4}, {says: Its own, level: mine, exactly: 0-4},
      {says: One that crashes, level: crash, exactly: 0-4}, {says: One that does not fit, level: old, exactly: 0-4}]}
END
all repro order.yaml --quick --results runs
check an_experiment_names_it grep -qE 'supported +claim order#2 order: 0-4, expected 0-4' out
check its_page_names_the_files_to_do_it_again grep -q 'Again: <code>schedlab --with ./mine.slv --with ./locked.slv .* repro ' runs/*/repro.html
check and_failed_cells_leave_claims_undecided eval 'grep -q "undecided *claim order#3" out && grep -q "undecided *claim order#4" out'
check with_the_reason eval 'tr -s "\n " " " <out | grep -q "of crash on order,n=5, 1 worker failed: killed by SIGSEGV"'

finish
