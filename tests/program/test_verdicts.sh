#!/bin/bash
# test_verdicts.sh - the verdicts of what is deterministic in the catalogue's experiments are those that were committed.
#
#     tests/program/test_verdicts.sh build/schedlab [ID...]                  all experiments, or these
#     tests/program/test_verdicts.sh build/schedlab --regenerate [ID...]     writes their lines of tests/program/repro_verdicts.txt anew
#
# Measures with `schedlab repro --held`: smaller workloads where an experiment names them, and only what is judged.
# All of it is simulated, or an order on one worker, so no other load on the host changes a verdict.
# Prints TAP. Needs the program, bash, the usual tools and python3.
. "$(dirname "$0")/../tap.sh"
verdicts=$tree/tests/program/repro_verdicts.txt
regenerate=
shift
if [ "${1:-}" = --regenerate ]; then
    regenerate=1
    shift
fi
"$schedlab" repro --list --format json >list
mapfile -t deterministic < <(python3 -c '
import json
for e in json.load(open("list"))["experiments"]:
    if e["deterministic"]:
        print(e["id"])')
ids=("$@")
[ $# -gt 0 ] || ids=("${deterministic[@]}")

# The verdicts in repro.json files, sorted: "E3 sim:desktop8 hog#1 supported".
verdicts_of() {
    python3 -c '
import json, sys
for path in sys.argv[1:]:
    for e in json.load(open(path))["experiments"]:
        for m in e["machines"]:
            for p in m["parts"]:
                for x in p["expectations"]:
                    print(e["id"], m["machine"], "%s#%d" % (p["id"], x["number"]), x["verdict"])' "$@" | LC_ALL=C sort -V
}

# of ID...: the lines about these experiments, of standard input.
of() { grep -E "^($(IFS='|'; echo "$*")) "; }

# Two reproductions side by side: each leaves cores idle where it waits for the last sample of a block.
lane() { # NUMBER ID...
    "$schedlab" repro "${@:2}" --held --no-report --results "lane$1" >"out$1" 2>"err$1" </dev/null
}
odd=() even=()
for ((i = 0; i < ${#ids[@]}; i++)); do
    if ((i % 2)); then odd+=("${ids[i]}"); else even+=("${ids[i]}"); fi
done
pids=()
lane 0 "${even[@]}" &
pids+=($!)
if [ ${#odd[@]} -gt 0 ]; then
    lane 1 "${odd[@]}" &
    pids+=($!)
fi
ended=0
for pid in "${pids[@]}"; do
    wait "$pid" || ended=1
done
cat err0 err1 2>/dev/null | tail -n 5 >err
check reproduction_ends [ $ended = 0 ]
verdicts_of lane*/*/repro.json >new

if [ -n "$regenerate" ]; then
    [ $ended = 0 ] || { cat err; exit 1; }
    { grep '^#' "$verdicts"; { grep -v '^#' "$verdicts" | grep -vE "^($(IFS='|'; echo "${ids[*]}")) "; cat new; } |
        LC_ALL=C sort -V; } >whole && cp whole "$verdicts"
    exit
fi

# An undecided line says how far from a decision that build was. Another one may decide it, as the committed reference does
# with more samples, but not the other way round.
grep -v '^#' "$verdicts" | grep -v ' undecided$' >old
awk 'NR == FNR { held[$1, $2, $3]; next } ($1, $2, $3) in held' old new >known
grep ' undecided$' "$verdicts" | cut -d ' ' -f 1-3 >open
comm -23 <(cut -d ' ' -f 1-3 new | LC_ALL=C sort) <(cut -d ' ' -f 1-3 old open | LC_ALL=C sort) >news
xz -dc "$tree/results/reference/repro/repro.json.xz" >reference
verdicts_of reference >reference.verdicts
awk 'NR == FNR { open[$1, $2, $3]; next } ($1, $2, $3) in open && $4 != "undecided"' open reference.verdicts >said
awk 'NR == FNR { said[$1, $2, $3] = $4; next }
    ($1, $2, $3) in said && $4 != "undecided" && $4 != said[$1, $2, $3]' said new >reversed
for id in "${ids[@]}"; do
    diff <(of "$id" <old) <(of "$id" <known) >out
    check "verdicts_of_$id" [ ! -s out ]
    [ ! -s out ] || echo "# if that is meant: tests/program/test_verdicts.sh build/schedlab --regenerate $id"
done
check no_verdict_of_others [ -z "$(of "${deterministic[@]}" <old | diff - old)" ]
check each_verdict_has_a_line [ ! -s news ]
cp reversed out
check the_reference_has_verdicts [ -s reference.verdicts ]
check none_is_the_reverse_of_the_reference [ ! -s reversed ]
check each_is_judged [ "$(cut -d ' ' -f 1 new | sort -u | wc -l)" = ${#ids[@]} ]
finish
