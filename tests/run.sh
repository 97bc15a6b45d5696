#!/bin/bash
# run.sh - runs parts of the test suite that `make` has built, and counts.
#
#     tests/run.sh PART...
#
#     checks   tests/check_*.sh on the source   scripts     tests/test_*.sh on build/schedlab
#     release  unit and conformance             clang       the same, short
#     debug    the same with INVARIANTs, short  asan, tsan  the same under a sanitizer, short
#     aarch64  conformance, 2 workers, in qemu  lint        make lint
#     sim      conformance on a simulated machine of 16 cores, short
#
# A program that prints TAP counts line by line, any other one as one test. Output goes to
# build/test-logs/; what failed is shown. The last line is "N passed, N failed".
#
# As many programs run side by side as there are cores (LANES says otherwise): most of them wait, or
# have one thread, and none depends on how fast it is. Only tests/test_*.sh run one after the other,
# some of which measure; those of the other parts go on beside them.
set -uo pipefail
cd "$(dirname "$0")/.."

logs=build/test-logs
lanes=${LANES:-$(nproc)}
counts=$(mktemp -d) # a file per LABEL: lanes are processes of their own
trap 'rm -rf "$counts"' EXIT
mkdir -p $logs
export CMOCKA_MESSAGE_OUTPUT=TAP LC_ALL=C.UTF-8
export ASAN_OPTIONS=${ASAN_OPTIONS:-detect_stack_use_after_return=0}
export TSAN_OPTIONS=${TSAN_OPTIONS:-halt_on_error=1:atexit_sleep_ms=0}

# ThreadSanitizer wants its address ranges free, which some kernels' randomization takes.
fixed_addresses=()
setarch -R true 2>/dev/null && fixed_addresses=(setarch -R)

# The output of what failed.
show() {
    local log=$1 status=$2
    if grep -q 'not ok [0-9]' "$log"; then
        awk '/^ok [0-9]/{ show = 0 } /not ok [0-9]/{ show = 30 } show-- > 0' "$log" | head -n 120
    else
        echo "exit status $status"
        tail -n 40 "$log"
    fi
}

# run LABEL COMMAND...
run() {
    local label=$1 log=$logs/${1//[\/ ]/-}.log start=$SECONDS status ok not_ok line
    shift
    timeout -k 10 900 "$@" >"$log" 2>&1 </dev/null
    status=$?
    ok=$(grep -cE '^ok [0-9]' "$log")
    # a message without a newline may stand before it, and cmocka calls a skipped test not ok
    not_ok=$(grep -E 'not ok [0-9]+ ' "$log" | grep -cv '# SKIP')
    if [ "$status" != 0 ] && [ "$not_ok" = 0 ]; then
        not_ok=1
    elif [ "$status" = 0 ] && [ "$ok$not_ok" = 00 ]; then
        ok=1
    fi
    echo "$ok $not_ok" >"$counts/${label//\//-}"
    # in one write, so that lines of two lanes do not mix
    line=$(printf '%-34s %5d passed %3d failed %4d s' "$label" "$ok" "$not_ok" $((SECONDS - start)))
    [ "$not_ok" = 0 ] || line+=$'\n'$(show "$log" "$status")
    printf '%s\n' "$line"
}

# start COMMAND...: in a lane of its own, as soon as one is free.
start() {
    while [ "$(jobs -rp | wc -l)" -ge "$lanes" ]; do
        wait -n
    done
    "$@" &
}

# programs CONFIG [CONFORMANCE_OPTION]: the longest first.
programs() {
    local config=$1 prefix=() source name
    [ "$config" = tsan ] && prefix=("${fixed_addresses[@]}")
    start run "$config/conformance" "${prefix[@]}" "build/$config/tests/conformance" "${@:2}"
    for source in tests/test_*.c; do
        name=$(basename "$source" .c)
        # long computations in one thread, of which ThreadSanitizer has nothing to say
        case $config/$name in tsan/test_audit | tsan/test_needs) continue ;; esac
        start run "$config/$name" "${prefix[@]}" "build/$config/tests/$name"
    done
}

scripts() {
    local script
    for script in tests/test_*.sh; do
        run "$(basename "$script" .sh)" "$script" build/schedlab
    done
}

for part in "$@"; do
    case $part in
    checks)
        for script in tests/check_*.sh; do
            start run "$(basename "$script" .sh)" "$script"
        done
        ;;
    release) programs release ;;
    debug | asan | tsan) programs "$part" --short ;;
    clang) programs release-clang --short ;;
    scripts) start scripts ;;
    sim) start run sim/conformance build/sim/tests/conformance --short ;;
    # a make of its own: the one that calls this shares no jobs with what a script calls
    lint) start run lint env -u MAKEFLAGS -u MAKELEVEL make lint ;;
    aarch64)
        # what is another machine's: switches, atomics, signals; more workers are only more of them
        start run aarch64/conformance qemu-aarch64 -L /usr/aarch64-linux-gnu \
            build/aarch64/tests/conformance --short workers=2
        ;;
    *)
        echo "run.sh: unknown part $part; valid are checks release scripts debug asan tsan clang sim lint aarch64" >&2
        exit 2
        ;;
    esac
done
wait

read -r passed failed < <(cat /dev/null "$counts"/* | awk '{ ok += $1; bad += $2 } END { print ok + 0, bad + 0 }')
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
