#!/bin/bash
# test_compare.sh - comparisons from the outside: what they print, what they refuse, and two revisions
# of a program built and measured side by side.
#
#     tests/test_compare.sh build/schedlab
#
# Prints TAP. Needs nothing but the program, bash and the usual tools.
set -uo pipefail
schedlab=$(realpath "${1:-build/schedlab}")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 1
count=0 bad=0

report() { # OK NAME
    count=$((count + 1))
    if [ "$1" = 1 ]; then
        echo "ok $count - $2"
    else
        bad=$((bad + 1))
        echo "not ok $count - $2"
        sed 's/^/# /' out err 2>/dev/null | head -n 20
    fi
}

check() { # NAME COMMAND...
    local name=$1 good=0
    shift
    "$@" >/dev/null 2>&1 && good=1
    report $good "$name"
}

has() { grep -qE -- "$1" "$2"; }

compare() { # ARGUMENT...: leaves out, err and status
    "$schedlab" compare "$@" >out 2>err </dev/null
    status=$?
}

# misuse NAME PART ARGUMENT...: one line with PART, status 2, no output.
misuse() {
    local name=$1 part=$2 good=0
    shift 2
    compare "$@"
    [ $status = 2 ] && [ ! -s out ] && [ "$(wc -l <err)" = 1 ] && grep -qF -- "$part" err && good=1
    report $good "$name"
}

# samples VARIANT FIRST: seven samples of fib at 2 workers.
samples() {
    for i in 0 1 2 3 4 5 6; do
        printf '{"cell":"%s","variant":"%s","variant_name":"%s","workload":"fib,n=20",' "$1" "$1" "$1"
        printf '"workload_name":"fib","workers":2,"machine":"native","seed":1,"status":"ok",'
        printf '"digest":"1","answer":"1","knobs":{},"throughput":%s}\n' $(($2 + i))
    done
}

mkdir -p runs/old runs/new
{ samples gmp 100 && samples grq 100; } >runs/old/samples.jsonl
{ samples gmp 200 && samples grq 100; } >runs/new/samples.jsonl
echo '{"cpu":{"model":"x"},"build":{"compiler":"gcc","revision":"1111"}}' >runs/old/environment.json
echo '{"cpu":{"model":"y"},"build":{"compiler":"gcc","revision":"2222"}}' >runs/new/environment.json

compare runs/old runs/new
check compares_two_runs [ $status = 0 ]
check table_names_the_sides has '^A  runs/old \(revision 1111\)$' out
check table_says_who_is_faster has '^  gmp .* 1\.97× .* faster$' out
check table_says_where_nothing_is_shown has '^  grq .* 1\.00× .* ~$' out
check table_ends_with_the_geometric_mean has '^geometric mean of B / A over 2 pairs: 1\.40× ' out
check other_machines_are_warned_of has 'warning: machines differ: "x" in A, "y" in B' err

compare runs/old:variant=gmp runs/old:variant=grq --format json
check compares_two_variants_of_a_run has '"variant_b": "grq"' out
check json_is_all_of_the_output [ "$status $(head -c 1 out) $(tail -n 1 out)" = '0 { }' ]
check same_machine_is_not_warned_of [ ! -s err ]
compare runs/old runs/new --format markdown
check markdown_is_a_table has '^\|---\|' out
check markdown_holds_the_warnings has '^- Warning: machines differ' out
compare runs/old runs/new --min-effect 120
check least_effect_is_obeyed has '2 no difference shown' out
compare runs/old runs/new --alpha 0.0001
check level_is_obeyed has '2 too few samples' out

mkdir runs/gmpless
samples grq 100 >runs/gmpless/samples.jsonl
misuse one_side 'which two?' runs/old
misuse three_sides 'two sides at a time' runs/old runs/new runs/old
misuse no_run 'runs/nev is not a run: it has no samples.jsonl; the nearest run is runs/new' runs/old runs/nev
misuse unknown_key 'no record has a key "worker"; the nearest is "workers"' runs/old:worker=2 runs/new
misuse unknown_value 'no cell is left; the nearest variant is grq' runs/old:variant=gq runs/new
misuse no_value '"variant" is not KEY=VALUE' runs/old:variant runs/new
misuse nothing_in_common "have nothing in common" runs/old:variant=gmp runs/gmpless
misuse bad_alpha '--alpha=2 is not valid; valid: 1e-06 to 0.5' runs/old runs/new --alpha 2
misuse bad_format 'the nearest is "json"' runs/old runs/new --format jsom
misuse unknown_option '--min-effect' runs/old runs/new --min-efect 3

echo "1..$count"
[ $bad = 0 ]
