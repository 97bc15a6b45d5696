#!/bin/bash
# test_adding.sh - docs/ADDING.md works as it is printed: its files, its patches, its commands.
#
# Takes the document apart into steps, in the order of the text, and carries them out in a copy of
# the tree. The copy has the objects too that are built already, with their times, so that make has
# only the new files to compile. A warning there is a mistake of the document.
#
#     File `path`:      and a ```c or ```yaml block   the whole file
#     Apply to `path`:  and a ```diff block           a patch of that file, as git apply takes it
#     a ```sh block                                   commands
#     a ```text block                                 lines that the commands before have printed
#
# Then checks that are not in the text: the new variant serves the new workload and two old ones, all
# cells of the sweep are right, and the new files keep to the style. Prints TAP.
. "$(dirname "$0")/../tap.sh"
copy=$scratch/tree steps=$scratch/steps work=$scratch/work
mkdir "$copy" "$steps" "$work"

# WERROR and EXTRA_CFLAGS stay those of the objects.
unset MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES RUN CONFIG CC
export JOBS=2 LC_ALL=C.UTF-8

# passes NAME COMMAND...: check, which shows the last lines that the command wrote, and says how it went.
passes() {
    local name=$1 good=0
    shift
    "$@" >"$work/output" 2>&1 </dev/null && good=1
    tail -n 20 "$work/output" >out
    report $good "$name"
    [ $good = 1 ]
}

# steps/NNN.KIND: the first line is the path, the rest the block. A block that nobody asked for is an error.
document_split() {
    awk -v steps="$steps" '
        function step(kind) { return sprintf("%s/%03d.%s", steps, ++n, kind) }
        /^(File|Apply to) `[^`]+`/ {
            kind = /^File/ ? "file" : "patch"
            path = $0; sub(/^[^`]*`/, "", path); sub(/`.*/, "", path)
        }
        !inside && /^```/ {
            inside = 1; language = substr($0, 4)
            if (language == "sh" || language == "text") to = step(language)
            else if (kind == "file" && (language == "c" || language == "yaml")) { to = step("file"); kind = "" }
            else if (kind == "patch" && language == "diff") { to = step("patch"); kind = "" }
            else { printf "docs/ADDING.md:%d: a block \"%s\" belongs to no file\n", NR, language; exit 1 }
            print (language == "sh" || language == "text" ? "-" : path) >to
            next
        }
        inside && /^```/ { inside = 0; close(to); next }
        inside { print >to }
        END { if (n == 0 || inside) { print "docs/ADDING.md: no blocks, or one without an end"; exit 1 } }
    ' "$tree/docs/ADDING.md"
}

file_make() {
    [ ! -e "$2" ] || { echo "$2 exists"; return 1; }
    mkdir -p "$(dirname "$2")"
    tail -n +2 "$1" >"$2"
}

# Byte by byte as it is printed; git finds the place by the lines around it. It touches that file alone.
patch_apply() {
    tail -n +2 "$1" >"$work/patch"
    [ "$(git apply --numstat "$work/patch" | cut -f 3)" = "$2" ] && git apply "$work/patch"
}

commands_run() {
    tail -n +2 "$1" >"$work/commands"
    bash -euo pipefail "$work/commands" >"$work/printed" 2>&1
    local status=$?
    cat "$work/printed"
    return $status
}

# A step's commands have compiled without a warning. The program also says if others use the machine.
no_warning() { ! grep -vE 'schedlab (run|sweep): warning: ' "$work/printed" | grep -F 'warning: '; }

lines_printed() {
    tail -n +2 "$1" | while IFS= read -r line; do
        grep -qF -- "$line" "$work/printed" || { echo "not printed: $line"; cat "$work/printed"; exit 1; }
    done
}

step_do() {
    local path
    path=$(head -n 1 "$1")
    case $1 in
    *.file) passes "file $path" file_make "$1" "$path" ;;
    *.patch) passes "patch of $path" patch_apply "$1" "$path" ;;
    *.sh) passes "commands: $(sed -n 2p "$1")" commands_run "$1" && passes "no warning: $(sed -n 2p "$1")" no_warning ;;
    *.text) passes "printed: $(sed -n 2p "$1")" lines_printed "$1" ;;
    esac
}

every_cell_ok() {
    local records
    records=$(cat results/lifo-*/samples.jsonl) && [ -n "$records" ] || return 1
    ! grep -vE '"status": ?"ok"' <<<"$records"
}

# The checks look at all that is there: here at the new files alone, among folders of the same names.
style_is_kept() {
    mkdir style
    find sched_variants workloads harness tests plots docs .ci -type d -printf 'style/%p\0' | xargs -0 mkdir -p
    cp --parents sched_variants/lifo/lifo.c workloads/barrier.c harness/sweeps/lifo.yaml tests/check/check_*.sh style
    (cd style && tests/check/check_includes.sh && tests/check/check_style.sh) || return 1
    ! command -v clang-format >/dev/null ||
        clang-format --dry-run -Werror sched_variants/lifo/lifo.c workloads/barrier.c
}

# The program for simulated machines is made once, when all files are there: where the document names it.
printf '#!/bin/sh\n[ "$1" = build/schedlab-sim ] || set -- -o build/schedlab-sim "$@"\nexec %s "$@"\n' "$(command -v make)" >"$scratch/.bin/make"
chmod +x "$scratch/.bin/make"

(cd "$tree" && git ls-files -co --exclude-standard -z | tar --null -T - -cf -) | tar -xf - -C "$copy"
# In one call, so that names of one file stay that. Objects that are missing will be built.
(cd "$tree" && cp -a --parents build/registry.checked build/schedlab{,-sim} \
    build/{release,sim,hunt}/{command,origin.h,labels.h,schedlab,harness,sched_variants,workloads} build/release/harness.a \
    build/release/tests/{conform*,support*} "$copy") 2>/dev/null
passes "docs/ADDING.md splits into steps" document_split || { finish; exit 1; }
cd "$copy" || exit 1
for step in "$steps"/*; do
    step_do "$step" || { finish; exit 1; }
done

# misused PART WORD...: the conformance suite refuses words that select nothing.
misused() {
    local part=$1 status
    build/release/tests/conformance "${@:2}" >"$work/out" 2>"$work/err"
    status=$?
    cat "$work/out" "$work/err"
    [ $status = 2 ] && [ ! -s "$work/out" ] && [ "$(wc -l <"$work/err")" = 1 ] && grep -qF -- "$part" "$work/err"
}
# `make new-variant`, before anything else is changed by hand.
passes "a variant begins as a copy of another one" make new-variant NAME=mine FROM=gmp
passes "the papers that it cites name it" tests/check/check_papers.sh
passes "which is there once it is built" make build/schedlab build/release/tests/conformance
passes "and conforms" build/release/tests/conformance --short ' mine '
passes "a name is taken once" test "make new-variant: NAME=mine is a variant already; valid: another word" = \
    "$(make new-variant NAME=mine FROM=gmp 2>&1 | head -n 1)"
passes "conformance lists its lines" grep -qx "conform_live_gs_zero_after lifo workers=2" \
    <(build/release/tests/conformance --list lifo)
passes "a list obeys its words" test 1 = "$(build/release/tests/conformance --list live_gs " lifo workers=2" | wc -l)"
passes "a word of no line is misuse" misused 'no line has "xyzzy"; valid: kthread, ' xyzzy
passes "a near word is offered" misused 'no line has "lfio"; the nearest is "lifo"' ' lifo ' lfio
passes "words of no common line are misuse" misused 'no line has all that was asked for' lifo grq
passes "a seed that is no number is misuse" misused '--seed N (a number)' --seed one

# A knob that is named as another variant's, and knows other words: cases that set one are skipped with the reason.
skipped_for_its_word() {
    cp sched_variants/lifo/lifo.c "$work/lifo.c"
    sed -i 's/struct lifo_knobs, turn,/struct lifo_knobs, backoff_ns,/; s/int64_t turn;/int64_t backoff_ns;/; s/->turn\b/->backoff_ns/' \
        sched_variants/lifo/lifo.c
    commands_run <(printf -- '-\nmake build/release/tests/conformance\n') &&
        build/release/tests/conformance --case 'lifo/conform_calls_return,backoff*/workers=1' >"$work/out" 2>&1
    local status=$?
    cat "$work/lifo.c" >sched_variants/lifo/lifo.c # newer than its object
    cat "$work/out"
    [ $status = 0 ] && grep -q '^ok 1 .*# SKIP backoff_ns=never: there is no such value' "$work/out"
}
passes "a knob without another's word skips cases" skipped_for_its_word

# registered_as NAME STYLE: refused in one line.
rm "$scratch/.bin/make"
hash -r
registered_as() {
    local made=0
    cp -p workloads/registry.c "$work/registry.c"
    sed -i "s/X($1, [A-Z]*)/X($1, $2)/" workloads/registry.c
    make >"$work/out" 2>"$work/err" && made=1
    mv "$work/registry.c" workloads/registry.c
    cat "$work/err"
    [ $made = 0 ] && [ "$(grep -cv '^make' "$work/err")" = 1 ] && grep -q "registry.c: X($1, $2): expected " "$work/err"
}
passes "a workload that forks is not registered as one of goroutines" registered_as fib GOROUTINE
passes "a workload of goroutines is not registered as one that forks" registered_as barrier FORKJOIN

for workload in barrier fib,n=15 pingpong,rounds=500; do
    for workers in 1 2; do
        passes "lifo serves $workload with $workers workers" build/schedlab run lifo $workload \
            --workers $workers --reps 1 --iterations 1 --events none
    done
done
passes "both are made for simulated machines" commands_run <(printf -- '-\nmake\n')
passes "without a warning" no_warning
passes "the copy has an experiment" build/schedlab repro examples/mine.yaml --quick --machine sim --no-report --results "$work/repro"
passes "lifo serves barrier on a simulated machine" build/schedlab run lifo barrier,rounds=50 --machine sim:desktop8 \
    --workers 3 --reps 1 --iterations 1 --warmup 0 --events none
passes "every cell of the sweep is ok" every_cell_ok
passes "the experiment has ten lines" test 10 = "$(wc -l <lifo-order.yaml)"
passes "the experiment has a page" grep -q 'A queue or a stack for all' results/repro-*/repro.html
passes "the new files keep to the style" style_is_kept
finish
