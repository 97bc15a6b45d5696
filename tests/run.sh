#!/bin/bash
# run.sh - runs parts of the test suite that `make` has built, and counts.
#
#     tests/run.sh PART...
#
#     checks   tests/check_*.sh on the source   scripts     tests/test_*.sh on build/schedlab
#     release  unit and conformance             clang       the same, short
#     debug    the same with INVARIANTs, short  asan, tsan  the same under a sanitizer, short
#     aarch64  conformance under qemu-user      lint        make lint
#     sim      conformance on simulated machines, short; tests/test_sim.sh
#
# A program that prints TAP counts line by line, any other one as one test. Output goes to
# build/test-logs/; what failed is shown. The last line is "N passed, N failed".
set -uo pipefail
cd "$(dirname "$0")/.."

logs=build/test-logs
passed=0 failed=0
mkdir -p $logs
export CMOCKA_MESSAGE_OUTPUT=TAP LC_ALL=C.UTF-8
export ASAN_OPTIONS=${ASAN_OPTIONS:-detect_stack_use_after_return=0}
export TSAN_OPTIONS=${TSAN_OPTIONS:-halt_on_error=1:atexit_sleep_ms=0}

# ThreadSanitizer wants its address ranges free, which some kernels' randomization takes.
fixed_addresses=()
setarch -R true 2>/dev/null && fixed_addresses=(setarch -R)

# run LABEL COMMAND...
run() {
    local label=$1 log=$logs/${1//\//-}.log start=$SECONDS status ok not_ok
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
    passed=$((passed + ok)) failed=$((failed + not_ok))
    printf '%-34s %5d passed %3d failed %4d s\n' "$label" "$ok" "$not_ok" $((SECONDS - start))
    [ "$not_ok" = 0 ] && return
    if grep -q 'not ok [0-9]' "$log"; then
        awk '/^ok [0-9]/{ show = 0 } /not ok [0-9]/{ show = 30 } show-- > 0' "$log" | head -n 120
    else
        echo "exit status $status"
        tail -n 40 "$log"
    fi
}

# programs CONFIG [CONFORMANCE_OPTION]
programs() {
    local config=$1 prefix=() source name
    [ "$config" = tsan ] && prefix=("${fixed_addresses[@]}")
    for source in tests/test_*.c; do
        name=$(basename "$source" .c)
        run "$config/$name" "${prefix[@]}" "build/$config/tests/$name"
    done
    run "$config/conformance" "${prefix[@]}" "build/$config/tests/conformance" "${@:2}"
}

for part in "$@"; do
    case $part in
    checks)
        for script in tests/check_*.sh; do
            run "$(basename "$script" .sh)" "$script"
        done
        ;;
    release) programs release ;;
    debug | asan | tsan) programs "$part" --short ;;
    clang) programs release-clang --short ;;
    scripts)
        for script in tests/test_*.sh; do
            run "$(basename "$script" .sh)" "$script" build/schedlab
        done
        ;;
    lint) run lint make lint ;;
    aarch64)
        run aarch64/conformance qemu-aarch64 -L /usr/aarch64-linux-gnu \
            build/aarch64/tests/conformance --short
        ;;
    *)
        echo "run.sh: unknown part $part; valid are checks release scripts debug asan tsan clang lint aarch64" >&2
        exit 2
        ;;
    esac
done

echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
