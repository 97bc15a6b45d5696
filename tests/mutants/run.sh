#!/bin/bash
# run.sh - plants one bug after the other, and sees that the test which has to find it fails.
#
#     tests/mutants/run.sh [--jobs N] [NAME-GLOB...]
#     tests/mutants/run.sh --jobs 2 'runtime-steal-*'
#
# A mutant is a file tests/mutants/<area>-<what-is-wrong>.patch; the area is runtime, variant, sim or
# results. Lines before the patch say:
#
#     Bug: one sentence that says what is wrong.
#     Test: PROGRAM [CASE]     the program under tests/, sim/PROGRAM for one of CONFIG=sim
#     Hangs: yes               optional: the test may find the bug by never ending
#
# First each test runs on the unpatched source, where it has to pass. Then each mutant is applied,
# its test program built and run. "found": the program ended with a failure, and a line of it says
# "not ok". A mutant that does not apply, does not build or matches no test counts as failed, as
# does one that SURVIVED.
#
# N lanes (default: as many as there are cores) work side by side. Each has a copy of the source and
# a build directory of its own in build/mutants/lane-K/, which stay for the next run. Output of
# builds and tests is in build/mutants/logs/. The last line is "N passed, N failed".
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 2

root=$PWD
mutants=tests/mutants
work=build/mutants
logs=$root/$work/logs
hang_s=20       # then a test counts as hanging
hang_clean_s=120 # without a mutant, however slow the machine is
jobs=$(nproc)
patterns=()
export CMOCKA_MESSAGE_OUTPUT=TAP LC_ALL=C.UTF-8

usage() {
    sed -n '2,/^set /s/^# \{0,1\}//p' "$root/$mutants/run.sh"
}

misuse() {
    echo "run.sh: $1" >&2
    exit 2
}

while [ $# -gt 0 ]; do
    case $1 in
    --help | -h)
        usage
        exit 0
        ;;
    --jobs)
        [[ ${2:-} =~ ^[1-9][0-9]*$ ]] || misuse "--jobs takes a number of lanes from 1, as in --jobs 2"
        jobs=$2
        shift
        ;;
    -*) misuse "unknown option $1; valid are --jobs N and --help" ;;
    *) patterns+=("$1") ;;
    esac
    shift
done

# Mutants ----------------------------------------------------------------------------------------

all_names() {
    for patch in "$mutants"/*.patch; do
        basename "$patch" .patch
    done
}

# The names that a glob matches, one a line.
names_of() {
    local name
    all_names | while read -r name; do
        # shellcheck disable=SC2053 # a glob is meant
        [[ $name == $1 ]] && echo "$name"
    done
}

names_chosen() {
    local pattern names
    [ ${#patterns[@]} -gt 0 ] || patterns=('*')
    for pattern in "${patterns[@]}"; do
        names=$(names_of "${pattern%.patch}")
        [ -n "$names" ] || misuse "no mutant matches \"$pattern\"; valid are globs of: $(all_names | tr '\n' ' ')"
        echo "$names"
    done
}

# header NAME FIELD: what the patch says after "FIELD: ".
header() {
    sed -n "/^--- /q; s/^$2: //p" "$root/$mutants/$1.patch" | head -n 1
}

# The program of a Test line as make calls it.
target_of() {
    local program=${1%% *}
    case $program in
    sim/*) echo "build/$program" | sed 's,build/sim/,build/sim/tests/,' ;;
    sim_formulas) echo build/sim/tests/sim_formulas ;;
    *) echo "build/release/tests/$program" ;;
    esac
}

config_of() {
    case $(target_of "$1") in build/sim/*) echo sim ;; *) echo release ;; esac
}

# Lanes: copies of the source ---------------------------------------------------------------------

# A new lane gets sources and what is built of them with their times, so that nothing is built anew.
lane_create() {
    local lane=$1 config
    mkdir -p "$lane/build"
    xargs -0 cp -p --parents -t "$lane" <"$work/files"
    for config in release sim; do
        [ -d "build/$config" ] || continue
        find "build/$config" \( -name '*.[od]' -o -name command \) -print0 |
            xargs -0 cp -p --parents -t "$lane"
    done
    cp -p build/registry.checked "$lane/build/" 2>/dev/null
    true
}

# In a lane that there is already, what differs is copied with the time of now: what was built there
# may be newer than the file is here.
lane_update() {
    local lane=$1
    xargs -0 sha1sum <"$work/files" >"$work/sums"
    (cd "$lane" && sha1sum --check --quiet - 2>/dev/null) <"$work/sums" | sed 's/: FAILED.*//' |
        tr '\n' '\0' | xargs -0 -r cp --parents -t "$lane"
    if [ -e "$lane/files" ]; then
        comm -z -23 <(sort -z "$lane/files") <(sort -z "$work/files") | (cd "$lane" && xargs -0 -r rm -f)
    fi
}

lane_prepare() {
    local lane=$1
    if [ -d "$lane/stash" ]; then # somebody stopped the last run
        unstash "$lane"
        find "$lane/build" -path '*/tests/*' -type f ! -name '*.*' -delete
    fi
    if [ -e "$lane/files" ]; then
        lane_update "$lane"
    else
        rm -rf "$lane"
        lane_create "$lane"
    fi
    cp "$work/files" "$lane/files"
}

# Building and running ----------------------------------------------------------------------------

# build LANE TEST LOG
build() {
    local target
    target=$(target_of "$2")
    env -u MAKEFLAGS -u MAKELEVEL make -C "$1" --no-print-directory "CONFIG=$(config_of "$2")" \
        "$target" >"$3" 2>&1 </dev/null
}

# run_test LANE TEST LOG SECONDS: the program's exit status; 124 or 137 if it was stopped.
run_test() {
    local case=
    [[ $2 == *" "* ]] && case=${2#* }
    (cd "$1" && CASE=$case timeout -k 2 "$4" "$(target_of "$2")") >"$3" 2>&1 </dev/null
}

# Keeps the files that the patch touches, and their objects: both come back with their times.
stash() {
    local lane=$1 file
    rm -rf "$lane/stash"
    mkdir "$lane/stash"
    while read -r file; do
        (cd "$lane" && cp -p --parents "$file" stash/ && cp -p --parents build/*/"${file%.*}".*o stash/ 2>/dev/null)
    done
    true
}

unstash() {
    local lane=$1
    case $(find "$lane/stash" -name '*.h') in
    '') (cd "$lane/stash" && cp -rp . ..) ;;
    *) (cd "$lane/stash" && find . -path ./build -prune -o -type f -print0 | xargs -0 cp --parents -t ..) ;;
    esac
    rm -rf "$lane/stash"
}

patched_files() {
    sed -n 's,^+++ b/\([^[:space:]]*\).*,\1,p' "$root/$mutants/$1.patch"
}

# judge LANE NAME: one line on the mutant, and whether it was found.
judge() {
    local lane=$1 name=$2 test status log=$logs/$2.log verdict
    test=$(header "$name" Test)
    if [ -e "$work/unfit/${test//[\/ ]/-}" ]; then
        echo "fails without it"
        return 1
    fi
    patched_files "$name" | stash "$lane"
    if ! patch -d "$lane" -p1 --batch --forward --fuzz=0 --no-backup-if-mismatch \
        <"$mutants/$name.patch" >"$log" 2>&1; then
        verdict="does not apply"
    elif ! build "$lane" "$test" "$log"; then
        verdict="does not build"
    else
        run_test "$lane" "$test" "$log" $hang_s
        status=$?
        verdict=SURVIVED
        if [ $status = 124 ] || [ $status = 137 ]; then
            verdict=hangs
            [ "$(header "$name" Hangs)" = yes ] && verdict=found
        elif [ $status = 2 ] && ! grep -q 'not ok' "$log"; then
            verdict="no such case"
        elif [ $status != 0 ] && grep -q 'not ok' "$log"; then
            verdict=found
        fi
    fi
    unstash "$lane"
    rm -f "$lane/$(target_of "$test")" # newer than the objects, and built of a mutant
    echo "$verdict"
    [ "$verdict" = found ]
}

# Phases ------------------------------------------------------------------------------------------

# Progress with the time that is left, of `total` steps since `begin`.
progress() {
    local ready spent=$((SECONDS - begin))
    ready=$(find "$work/$1" -name '*.done' | wc -l)
    echo "$1: $ready of $total, $((spent * (total - ready) / ready)) s left" >&2
}

# each PHASE LANE COMMAND < items: takes items that no other lane has taken.
each() {
    local phase=$1 lane=$2 item key
    shift 2
    while read -r item; do
        key=$work/$phase/${item//[\/ ]/-}
        mkdir "$key" 2>/dev/null || continue
        "$@" "$lane" "$item"
        touch "$key/x.done"
        progress "$phase"
    done
}

clean_test() {
    local lane=$1 test=$2 log=$logs/clean-${2//[\/ ]/-}.log
    if build "$lane" "$test" "$log" && run_test "$lane" "$test" "$log" $hang_clean_s && grep -q '^ok ' "$log"; then
        return
    fi
    touch "$work/unfit/${test//[\/ ]/-}"
    printf 'without a mutant, "%s" does not pass:\n%s\n' "$test" "$(tail -n 15 "$log")"
}

mutant_test() {
    local lane=$1 name=$2 from=$SECONDS verdict result=failed
    verdict=$(judge "$lane" "$name") && result=passed
    touch "$work/results/$result-$name"
    printf '%-16s %3d s  %-44s %s\n' "$verdict" $((SECONDS - from)) "$name" "$(header "$name" Bug)"
}

# phase NAME COMMAND < items, in all lanes.
phase() {
    local phase=$1 command=$2 k
    cat >"$work/$phase.items"
    rm -rf "${work:?}/$phase"
    mkdir "$work/$phase"
    total=$(wc -l <"$work/$phase.items")
    begin=$SECONDS
    for ((k = 1; k <= jobs; k++)); do
        each "$phase" "$work/lane-$k" "$command" <"$work/$phase.items" &
    done
    wait
}

trap 'kill $(jobs -p) 2>/dev/null; exit 130' INT TERM
chosen=$(names_chosen) || exit
chosen=$(sort -u <<<"$chosen")
mkdir -p "$work"
exec 9>"$work/lock"
flock -n 9 || misuse "another run works in $work; wait for its end"
rm -rf "$work/unfit" "$work/results"
mkdir -p "$logs" "$work/unfit" "$work/results"
git ls-files -z --cached --others --exclude-standard | while IFS= read -r -d '' file; do
    # a Makefile knows nothing of patches
    [ -f "$file" ] && [[ $file != *.patch ]] && printf '%s\0' "$file"
done >"$work/files"
for ((k = 1; k <= jobs; k++)); do
    echo "lane $k of $jobs: copying" >&2
    lane_prepare "$work/lane-$k"
done

while read -r name; do
    for field in Bug Test; do
        [ -n "$(header "$name" $field)" ] || misuse "$mutants/$name.patch: has no line \"$field: ...\""
    done
done <<<"$chosen"

while read -r name; do header "$name" Test; done <<<"$chosen" | sort -u | phase clean clean_test
# neighbours in this order share their program
while read -r name; do echo "$(header "$name" Test) $name"; done <<<"$chosen" | sort |
    sed 's/.* //' | phase mutants mutant_test

for area in runtime variant sim results; do
    found=$(find "$work/results" -name "passed-$area-*" | wc -l)
    lost=$(find "$work/results" -name "failed-$area-*" | wc -l)
    [ $((found + lost)) = 0 ] || printf '%-10s %3d found %3d not\n' $area "$found" "$lost"
done
passed=$(find "$work/results" -name 'passed-*' | wc -l)
failed=$(find "$work/results" -name 'failed-*' | wc -l)
failed=$((failed + $(find "$work/unfit" -type f | wc -l)))
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
