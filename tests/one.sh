#!/bin/bash
# one.sh - builds and runs one test program, or one case of it: `make t T=... CASE=...`.
#
#     tests/one.sh                            lists what there is
#     tests/one.sh deque                      tests/runtime/test_deque.c; `test_` may be left out
#     tests/one.sh conformance 'gmp/*wake*'   cases of conformance: a glob over VARIANT/CASE
#     tests/one.sh test_sweep                 tests/program/test_sweep.sh, a script: it has no cases
#
# CONFIG says of which build: release (the default), asan, tsan, sim, ...; scripts and checks are of the release
# program. SEED=N replays a seed. Ends with the test's own status; 2 if there is no such test or case.
set -uo pipefail
cd "$(dirname "$0")/.."
name=${1:-}
export CASE=${2:-} SCHEDLAB_SEED=${SEED:-}
[ -n "$SCHEDLAB_SEED" ] || unset SCHEDLAB_SEED
config=${CONFIG:-release}

names() { # GLOB: the names of these files of tests/
    (cd tests && ls */$1 2>/dev/null | sed 's/.*\///; s/\.[a-z]*$//' | sort | paste -sd ' ' | fold -s -w 96 | sed 's/^/    /')
}
list() {
    echo 'unit programs (CASE=GLOB chooses among their tests; T= may leave out test_):'
    names 'test_*.c'
    echo 'of every variant (CASE=VARIANT/CASE, globs):'
    echo '    conformance'
    echo 'on a simulated machine (CASE=GLOB):'
    names 'sim_[fw]*.c'
    echo 'scripts that run the whole program, and checks of the source (they have no cases):'
    names 'test_*.sh'
    names 'check_*.sh'
}
refuse() {
    echo "make t: $1" >&2
    exit 2
}
build() { # CONFIG TARGET...
    ${MAKE:-make} CONFIG="$@" >build/one.log 2>&1 || { cat build/one.log; exit 1; }
}

[ -n "$name" ] || { list; echo "example: make t T=conformance CASE='gmp/*wake*'"; exit; }
mkdir -p build
for candidate in "$name" "test_$name" "check_$name"; do
    if [ "$candidate" = sim_formulas ] || [ "$candidate" = sim_wakes ]; then
        build sim "build/sim/tests/$candidate"
        exec "build/sim/tests/$candidate"
    elif [ "$candidate" = hunt_machine ]; then
        build hunt "build/hunt/tests/$candidate"
        exec "build/hunt/tests/$candidate"
    elif [ "$candidate" = conformance ] || { [ "$candidate" != "${candidate#test_}" ] && compgen -G "tests/*/$candidate.c" >/dev/null; }; then
        [ "$config" = sim ] && [ "$candidate" != conformance ] && refuse 'of CONFIG=sim there are conformance, sim_formulas and sim_wakes'
        out=build/$config$(case ${CC:-} in *clang*) echo -clang ;; esac)
        # some unit programs start the program itself
        build "$config" "$out/tests/$candidate" $([ "$config" != release ] || echo "$out/schedlab")
        prefix=()
        [ "$config" = tsan ] && setarch -R true 2>/dev/null && prefix=(setarch -R)
        seed=()
        [ "$candidate" = conformance ] && [ -n "${SEED:-}" ] && seed=(--seed "$SEED")
        exec "${prefix[@]}" "$out/tests/$candidate" "${seed[@]}"
    elif script=$(compgen -G "tests/*/$candidate.sh") && [ "$candidate" != "${candidate#*_}" ]; then
        [ -z "$CASE" ] || refuse "$candidate is a script: it has no cases, so leave out CASE"
        case $candidate in test_*) build release built-scripts ;; esac
        exec "$script" build/schedlab
    fi
done
{
    echo "make t: there is no test \"$name\"; valid are"
    list
} >&2
exit 2
