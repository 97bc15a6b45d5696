#!/bin/bash
# validate_cachegrind.sh - misses of one worker, as valgrind counts them in the native program, and as
# the simulated machine does with the same caches.
#
#     harness/audit/validate_cachegrind.sh BUILD_DIR OUT.tsv [VARIANT WORKLOAD]...
#
# cachegrind's simulation of caches does the counting. callgrind has the same one, and can confine it to run() of the
# workload and what that calls. It loses sight of that where goroutines change stacks, so for these the whole process
# counts, checks of answers included. The caches are a first and a last level, both true LRU, so the simulated core
# has an L1, an L2 of the size of that last level, no L3 and no prefetcher. A way of either is a page, so that it does
# not matter where pages lie. A call's misses are the difference of two runs, of which one makes CALLS more: the first
# touch of memory drops out.
# Columns: variant, workload, level, misses a call by valgrind, and simulated, accesses simulated.
set -uo pipefail
build=$1 out=$2
source=$(dirname "$0")/../..
shift 2
[ $# -gt 0 ] || set -- serial mergesort,n=100000 serial matmul,n=128 serial locality,pairs=32 \
    tasksteal mergesort,n=100000 contsteal matmul,n=128 tasksteal locality,pairs=32 \
    contsteal mergesort,n=100000 tasksteal uneven,tasks=10000,rounds=10 gmp uneven,tasks=10000,rounds=10 \
    gmp locality,pairs=32 gmp spawn,n=5000 gmp drain,n=5000 grq drain,n=5000 \
    gmp ring,n=503,hops=20000 grq ring,n=503,hops=20000 uthread yield,n=20000,yielders=1000 \
    gmp skynet,leaves=10000
CALLS=4
KI=1024 L1=$((32 * KI)) WAYS=8 LAST=$((128 * KI)) LAST_WAYS=32
machine=sim:server64,cores=1,l1.size=${L1}B,l1.ways=$WAYS,l1.replacement=lru,l2.size=${LAST}B
machine+=,l2.ways=$LAST_WAYS,l2.replacement=lru,l2.inclusive=no,l3.size=0,prefetch=no
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# native VARIANT WORKLOAD CALLS: data misses of L1 and of the last level, as two words
native() {
    local tool=(--tool=cachegrind --cachegrind-out-file="$folder/$3") run
    run=$(sed -n 's/^ *\.run = \(.*\),/\1/p' "$source/workloads/${2%%,*}.c")
    case $1 in
    serial | tasksteal | contsteal)
        tool=(--tool=callgrind --toggle-collect="$run*" --callgrind-out-file="$folder/$3") ;;
    esac
    valgrind "${tool[@]}" --cache-sim=yes --I1=$L1,$WAYS,64 --D1=$L1,$WAYS,64 --LL=$LAST,$LAST_WAYS,64 \
        "$build/schedlab" sample --workers 1 --seed 1 --iterations "$3" --warmup 1 \
        --min-time 0 --events none "$1" "$2" >"$folder/log" 2>&1 </dev/null ||
        { tail -n 3 "$folder/log" >&2; return 1; }
    awk '/^events:/ { for (i = 2; i <= NF; i++) at[$i] = i }
        /^(summary|totals):/ { print $at["D1mr"] + $at["D1mw"], $at["DLmr"] + $at["DLmw"]; exit }' "$folder/$3"
}

# simulated VARIANT WORKLOAD: the same, of a timed call
simulated() {
    "$build/schedlab" run "$1" "$2" --machine "$machine" --reps 1 --workers 1 --seed 1 --iterations $CALLS \
        --events SIM_L1D_MISS,SIM_L2_MISS,SIM_READS,SIM_WRITES --format json 2>/dev/null |
        python3 -c '
import json, sys
record = json.load(sys.stdin)["records"][0]
calls = sum(call.get("calls", 1) for call in record["iterations"])
value = {event["name"].split(":")[-1]: event["value"] / calls for event in record["events"]}
print(value["SIM_L1D_MISS"], value["SIM_L2_MISS"], value["SIM_READS"] + value["SIM_WRITES"])'
}

printf 'variant\tworkload\tlevel\tvalgrind\tsimulated\taccesses\n' >"$out"
while [ $# -gt 1 ]; do
    few=$(native "$1" "$2" 1) && many=$(native "$1" "$2" $((1 + CALLS))) && model=$(simulated "$1" "$2") || {
        echo "validate_cachegrind.sh: $1 on $2 could not be run" >&2
        exit 1
    }
    echo "$few $many $model" | awk -v variant="$1" -v workload="$2" -v calls=$CALLS -v OFS='\t' '{
        print variant, workload, "L1", ($3 - $1) / calls, $5, $7
        print variant, workload, "last", ($4 - $2) / calls, $6, $7 }' >>"$out"
    shift 2
done
