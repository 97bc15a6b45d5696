#!/bin/bash
# mutants.sh - plants one bug after the other, and measures how long `schedlab hunt` takes to find it.
#
#     tests/hunt/mutants.sh [--seeds N] [--time S] [--algorithms NAME,...] [NAME-GLOB...]
#     tests/hunt/mutants.sh --seeds 20 'runnext-*'
#
# A mutant is a file tests/hunt/mutants/<what-is-wrong>.patch. Lines before the patch say:
#
#     Bug: one sentence that says what is wrong.
#     Origin: the issue, paper or function of Go that the step comes from.
#     Hunt: VARIANT WORKLOAD [OPTION...]     the arguments with which it is found; "none": only exhaustively
#     Exhaustive: QUEUE                      if so, --exhaustive QUEUE finds it too, with 3 threads of 2 operations
#
# Each is built in a copy of the source, build/hunt-mutants/, and hunted by each algorithm with N seeds (default 5) for up to
# S seconds each (default 60). Before that, the unpatched source is hunted with the same arguments, and nothing may be found.
# The table goes to standard output: how many seeds found it, and the median, the least and the most of executions and
# milliseconds of those that did. Exit 1 if a mutant was not found by every seed of the first algorithm, or the unpatched
# source fails.
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 2

root=$PWD
lane=build/hunt-mutants
log=$root/build/hunt-mutants.log
seeds=5 time_s=60 algorithms=random,pct
patterns=()

misuse() {
    echo "mutants.sh: $1" >&2
    exit 2
}
number() { [[ ${2:-} =~ ^[1-9][0-9]*$ ]] || misuse "$1 takes a number from 1, as in $1 5"; }

while [ $# -gt 0 ]; do
    case $1 in
    --help | -h)
        sed -n '2,/^set /s/^# \{0,1\}//p' "$0"
        exit 0
        ;;
    --seeds) number "$1" "${2:-}" && seeds=$2 && shift ;;
    --time) number "$1" "${2:-}" && time_s=$2 && shift ;;
    --algorithms) [ -n "${2:-}" ] || misuse "--algorithms takes a list, as in --algorithms random,pct"
        algorithms=$2 && shift ;;
    -*) misuse "unknown option $1; valid are --seeds N, --time S, --algorithms NAME,... and --help" ;;
    *) patterns+=("${1%.patch}") ;;
    esac
    shift
done
[ ${#patterns[@]} -gt 0 ] || patterns=('*')

# header NAME FIELD: what the patch says after "FIELD: ".
header() { sed -n "/^--- /q; s/^$2: //p" "tests/hunt/mutants/$1.patch" | head -n 1; }

names() {
    local pattern name found
    for pattern in "${patterns[@]}"; do
        found=
        for name in tests/hunt/mutants/*.patch; do
            name=$(basename "$name" .patch)
            # shellcheck disable=SC2053 # a glob is meant
            [[ $name == $pattern ]] && echo "$name" && found=1
        done
        [ -n "$found" ] || misuse "no mutant matches \"$pattern\""
    done
}

build() { # the hunting program of the lane
    make -C "$lane" CONFIG=hunt HARNESS="$root/build/release/harness.a" build/hunt/schedlab-hunt >"$log" 2>&1
}

# The lane has the sources with their times, so that only what a patch changes is compiled anew.
lane_prepare() {
    mkdir -p "$lane/build"
    git ls-files -co --exclude-standard -z | xargs -0 cp -pu --parents -t "$lane" 2>/dev/null
    git ls-files -co --exclude-standard -z -- sched_variants workloads harness |
        while IFS= read -r -d '' file; do cmp -s "$file" "$lane/$file" || cp --parents -t "$lane" "$file"; done
    cp -p build/registry.checked "$lane/build/"
    build || { cat "$log" >&2; exit 1; }
}

# hunts SEEDS TIME ALGORITHM ARGUMENT...: an object of JSON for each seed. A hunt that finds something exits with 1, which is no
# failure here.
hunts() {
    local seed n=$1 limit=$2 algorithm=$3
    shift 3
    for ((seed = 1; seed <= n; seed++)); do
        "$lane/build/hunt/schedlab-hunt" "$@" --algorithm "$algorithm" --seed "$seed" --time "${limit}s" --format json
    done 2>>"$log"
    true
}

# In the form of a line of the table; exit 1 if not all were found.
row() { # NAME ALGORITHM ORIGIN, objects on standard input
    python3 -c '
import json, statistics, sys
name, algorithm, origin = sys.argv[1:]
decoder, text, at, runs = json.JSONDecoder(), sys.stdin.read(), 0, []
while text[at:].strip():
    at += len(text[at:]) - len(text[at:].lstrip())
    run, at = decoder.raw_decode(text, at)
    runs.append(run)
found = [run for run in runs if "failure" in run]
def span(values, form):
    return "%s (%s to %s)" % tuple(form % v for v in (statistics.median(values), min(values), max(values))) if values else "-"
ends = ",".join(sorted({run["failure"]["end"] for run in found}))
print("\t".join([name, algorithm, "%d/%d" % (len(found), len(runs)), span([r["executions"] for r in found], "%d"),
                 span([1000 * r["seconds"] for r in found], "%.1f"), ends, origin]))
sys.exit(len(found) < len(runs) or not runs)' "$@"
}

# exhausts NAME: a row for --exhaustive, if the mutant has one; exit 1 if it finds nothing.
exhausts() {
    local queue
    queue=$(header "$1" Exhaustive)
    [ -n "$queue" ] || return 0
    { "$lane/build/hunt/schedlab-hunt" --exhaustive "$queue" --threads 3 --operations 2 --format json 2>>"$log" || true; } |
        python3 -c '
import json, sys
name, origin = sys.argv[1:]
last = json.load(sys.stdin)["scripts"][-1]
print("\t".join([name, "exhaustive", "%d/1" % ("failure" in last), str(last["executions"]), "%.1f" % (1000 * last["seconds"]),
                 last.get("failure", {}).get("end", ""), origin]))
sys.exit("failure" not in last)' "$1" "$(header "$1" Origin)"
}

mapfile -t chosen < <(names)
[ ${#chosen[@]} -gt 0 ] || exit 2
[ -e build/release/harness.a ] || misuse "build/release/harness.a is missing; \`make hunt\` builds it"
lane_prepare
bad=0
for name in "${chosen[@]}"; do
    read -ra arguments <<<"$(header "$name" Hunt)"
    [ "${arguments[0]}" != none ] || continue
    if ! "$lane/build/hunt/schedlab-hunt" "${arguments[@]}" --executions 2000 >>"$log" 2>&1; then
        echo "$name: the unpatched source fails: schedlab hunt ${arguments[*]}" >&2
        bad=1
    fi
done
printf 'mutant\talgorithm\tfound\texecutions\tms\tends as\torigin\n'
for name in "${chosen[@]}"; do
    patch -s -p1 --fuzz=0 -d "$lane" <"tests/hunt/mutants/$name.patch" || { echo "$name: does not apply" >&2; bad=1; continue; }
    if build; then
        read -ra arguments <<<"$(header "$name" Hunt)"
        first=1
        exhausts "$name" || bad=1
        for algorithm in ${algorithms//,/ }; do
            [ "${arguments[0]}" != none ] || break
            hunts "$seeds" "$time_s" "$algorithm" "${arguments[@]}" | row "$name" "$algorithm" "$(header "$name" Origin)" ||
                bad=$((bad | first))
            first=0
        done
    else
        echo "$name: does not build" >&2
        tail -n 5 "$log" >&2
        bad=1
    fi
    patch -s -R -p1 -d "$lane" <"tests/hunt/mutants/$name.patch"
done
exit $bad
