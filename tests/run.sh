#!/bin/bash
# run.sh - runs parts of the test suite that `make` has built, counts, and says where the time went.
#
#     tests/run.sh [--append] PART...
#
#     checks       tests/check/check_*.sh on the source
#     unit         unit programs of the release build
#     short        conformance of the release build, --short     conformance  the same, whole
#     sim          conformance on a simulated machine, --short
#     scripts      tests/program/test_*.sh on build/schedlab             verdicts     tests/program/test_verdicts.sh alone
#     hunts        tests/program/test_hunt_all.sh alone
#     asan, tsan   unit programs and short conformance of that build
#     coverage     likewise of the build that counts lines
#     clang        short conformance and a first run of what clang built
#     aarch64      short conformance under qemu                  lint         make lint
#
# A program that prints TAP counts line by line, any other one as one test. Output goes to
# build/test-logs/; failures are shown as they come and named again at the end. build/test-times.tsv has a row per
# program; --append keeps the rows of the run before and counts them too. The last line is "N passed, N failed".
#
# tests/budget.tsv holds each program's share of CPU seconds. The programs with the largest share start first, one in
# each lane (LANES says how many). Programs marked `alone` measure: they run at the end, beside nothing else. A
# program over twice its share is named at the end; that is a warning and no failure.
set -uo pipefail
cd "$(dirname "$0")/.."

logs=build/test-logs table=build/test-times.tsv budget=tests/budget.tsv
lanes=${LANES:-$(($(nproc) + 1))} # some programs wait most of their time
append=
[ "${1:-}" = --append ] && append=1 && shift
rows=$(mktemp -d) # a file per program: lanes are processes of their own
jobs_wanted=()    # "LABEL<TAB>COMMAND", in the order of the parts
trap 'rm -rf "$rows"' EXIT
mkdir -p $logs
export CMOCKA_MESSAGE_OUTPUT=TAP LC_ALL=C.UTF-8
export ASAN_OPTIONS=${ASAN_OPTIONS:-detect_stack_use_after_return=0}
export TSAN_OPTIONS=${TSAN_OPTIONS:-halt_on_error=1:atexit_sleep_ms=0}
unset CASE # chooses one test of one program; here all run

# ThreadSanitizer wants its address ranges free, which some kernels' randomization takes.
fixed_addresses=
setarch -R true 2>/dev/null && fixed_addresses='setarch -R '

# Jobs ---------------------------------------------------------------------------------------------

job() { # LABEL COMMAND
    jobs_wanted+=("$1"$'\t'"$2")
}

unit_programs() { # CONFIG [PREFIX]
    local source name
    for source in tests/*/test_*.c; do
        name=${source##*/} name=${name%.c}
        # a build has what its check can say something about: see TESTS_asan in the Makefile
        [ ! -x "build/$1/tests/$name" ] || job "$1/$name" "${2:-}build/$1/tests/$name"
    done
}

part_jobs() { # PART
    local script label
    case $1 in
    checks)
        for script in tests/check/check_*.sh; do
            label=${script##*/}
            job "${label%.sh}" "$script"
        done
        ;;
    unit) unit_programs release ;;
    short) job release/conformance-short 'build/release/tests/conformance --short --every 4' ;;
    conformance) job release/conformance build/release/tests/conformance ;;
    sim) job sim/conformance 'build/sim/tests/conformance --short --every 2' ;;
    scripts)
        for script in tests/program/test_*.sh; do
            label=${script##*/}
            [[ $label =~ ^test_(verdicts|hunt_all)\.sh$ ]] || job "${label%.sh}" "$script build/schedlab"
        done
        ;;
    verdicts) job test_verdicts 'tests/program/test_verdicts.sh build/schedlab' ;;
    hunts) job test_hunt_all 'tests/program/test_hunt_all.sh build/schedlab' ;;
    asan)
        unit_programs asan
        job asan/conformance 'build/asan/tests/conformance --short --every 4'
        ;;
    tsan)
        unit_programs tsan "$fixed_addresses"
        job tsan/conformance "${fixed_addresses}build/tsan/tests/conformance --short --every 4"
        ;;
    coverage)
        unit_programs coverage
        job coverage/conformance 'build/coverage/tests/conformance --short --every 4'
        ;;
    clang)
        job release-clang/conformance 'build/release-clang/tests/conformance --short --every 4'
        job release-clang/schedlab 'build/release-clang/schedlab run gmp contsteal fib,n=10 --reps 1 --min-time 0'
        ;;
    # a make of its own: the one that calls this shares no jobs with what a script calls
    lint) job lint 'env -u MAKEFLAGS -u MAKELEVEL make lint' ;;
    # what is another machine's: switches, atomics, signals; more workers are only more of them
    aarch64)
        job aarch64/conformance \
            'qemu-aarch64 -cpu max,pauth-impdef=on -L /usr/aarch64-linux-gnu build/aarch64/tests/conformance --short --every 4 --workers 2'
        ;;
    *)
        echo "run.sh: unknown part $1; valid are $(sed -n '/^part_jobs/,/^}/s/^    \([a-z0-9]*\)).*/\1/p' "$0" |
            tr '\n' ' ')" >&2
        exit 2
        ;;
    esac
}

# Running ------------------------------------------------------------------------------------------

show() { # LOG STATUS: the output of what failed
    if grep -q 'not ok [0-9]' "$1"; then
        awk '/^ok [0-9]/{ show = 0 } /not ok [0-9]/{ show = 30 } show-- > 0' "$1" | head -n 120
    else
        echo "exit status $2"
        tail -n 40 "$1"
    fi
}

# Starts few processes: there are hundreds of programs.
run() { # LABEL COMMAND
    local label=$1 log=$logs/${1//[\/ ]/-}.log wall cpu status ok not_ok line
    local TIMEFORMAT='%R %U %S'
    # shellcheck disable=SC2086 # a command and its words
    { time timeout -k 10 900 $2 >"$log" 2>&1 </dev/null; } 2>"$rows/.${label//\//-}"
    status=$?
    # a message without a newline may stand before "not ok", and cmocka calls a skipped test that
    read -r wall cpu ok not_ok <<<"$(awk 'FNR == NR { wall = $1; cpu = $2 + $3; next }
        /^ok [0-9]/ { ok++ }
        /not ok [0-9]+ / && !/# SKIP/ { not_ok++ }
        END { print wall, cpu, ok + 0, not_ok + 0 }' "$rows/.${label//\//-}" "$log")"
    if [ "$status" != 0 ] && [ "$not_ok" = 0 ]; then
        not_ok=1
    elif [ "$status" = 0 ] && [ "$ok$not_ok" = 00 ]; then
        ok=1
    fi
    printf '%s\t%s\t%s\t%d\t%d\n' "$label" "$wall" "$cpu" "$ok" "$not_ok" >"$rows/${label//\//-}"
    # in one write, so that lines of two lanes do not mix
    printf -v line '%-34s %5d passed %3d failed %6.1f s' "$label" "$ok" "$not_ok" "$wall"
    [ "$not_ok" = 0 ] || line+=$'\n'$(show "$log" "$status")
    printf '%s\n' "$line"
}

# Prints the jobs wanted as "MARK<TAB>SHARE<TAB>LABEL<TAB>COMMAND": the largest share first, 5 s without one, and those
# marked alone last.
jobs_sorted() {
    printf '%s\n' "${jobs_wanted[@]}" |
        awk -F '\t' -v OFS='\t' 'FILENAME != "-" { share[$1] = $2; mark[$1] = $3; next }
            { print mark[$1] == "alone" ? "alone" : "-", $1 in share ? share[$1] : 5, $0 }' $budget - |
        sort -t "$(printf '\t')" -k1,1 -k2,2nr
}

run_all() {
    local mark label command lanes_now running=0
    while IFS=$'\t' read -r mark _ label command; do
        lanes_now=$lanes
        [ "$mark" != alone ] || lanes_now=1
        while [ $running -ge "$lanes_now" ]; do
            wait -n
            running=$((running - 1))
        done
        run "$label" "$command" &
        running=$((running + 1))
    done < <(jobs_sorted)
    wait
}

# Telling ------------------------------------------------------------------------------------------

# The table: a program, its wall and CPU seconds, its share, and what passed and failed.
table_write() {
    local rows_before=
    [ -n "$append" ] && [ -s $table ] && rows_before=$(tail -n +2 $table | cut -f 1,2,3,5,6)
    {
        printf 'program\twall_s\tcpu_s\tshare_s\tpassed\tfailed\n'
        { [ -z "$rows_before" ] || echo "$rows_before"; cat /dev/null "$rows"/*; } |
            awk -F '\t' -v OFS='\t' 'FILENAME != "-" { share[$1] = $2; next }
                { print $1, $2, $3, $1 in share ? share[$1] : "-", $4, $5 }' $budget - | sort -t "$(printf '\t')" -k2,2nr
    } >$table.new
    mv $table.new $table
}

tell() {
    echo "the slowest, in seconds of wall time and of CPU time ($table has all):"
    tail -n +2 $table | head -n 10 | awk -F '\t' '{ printf "  %-34s %6.1f %6.1f\n", $1, $2, $3 }'
    # a share below a second is not worth a word
    awk -F '\t' 'NR > 1 && $4 + 0 > 0 && $3 > 2 * ($4 < 1 ? 1 : $4) {
            printf "warning: %s took %.1f s of CPU time, over twice its share of %.1f\n", $1, $3, $4 }
        NR > 1 && $4 == "-" && $3 > 1 && $1 !~ /^coverage\// { printf "warning: %s has no share in tests/budget.tsv; it took %.1f s\n", $1, $3 }
        NR > 1 && $6 > 0 { failed = failed " " $1 }
        END { if (failed) print "failed:" failed "; their output is in build/test-logs" }' $table
    awk -F '\t' 'NR > 1 { passed += $5; failed += $6 }
        END { printf "%d passed, %d failed\n", passed, failed; exit failed > 0 }' $table
}

for part in "$@"; do
    part_jobs "$part"
done
[ ${#jobs_wanted[@]} -gt 0 ] || { echo 'run.sh: no part is given; its head lists them' >&2; exit 2; }
run_all
table_write
tell
