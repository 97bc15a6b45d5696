#!/bin/sh
# check_includes.sh - includes point down only, and only machine/ touches the operating system.
#
#     workloads      -> workload.h (own folder), param.h, runtime/runtime.h, the C library
#     variants       -> sched.h, runtime/, machine.h, own folder
#     runtime/       -> sched.h, param.h, runtime/, machine.h
#     machine/       -> machine/ alone
#     harness/       -> everything below it, and of itself the rooms below, see `rooms`
#     tests          -> everything
#
# The language is C; the one exception is the binding to Google Benchmark.
#
# Prints one line per offence; exit 1 if there is any.
set -eu
cd "$(dirname "$0")/../.."

system='pthread|linux/|sys/epoll|sys/socket|netinet/|arpa/|poll|fcntl|sys/mman|sys/syscall|sys/eventfd|signal|time|sys/time|sched|unistd|semaphore|threads|ucontext'
offences=$(mktemp)
trap 'rm -f "$offences"' EXIT

# deny FILES BUT WHY REGEX: no #include of files whose path matches FILES and not BUT may match REGEX. allow: every one
# has to match it. One awk holds all of them against all lines.
rules=$(mktemp)
trap 'rm -f "$offences" "$rules"' EXIT
rule() { printf '%s\t%s\t%s\t%s\t%s\n' "$@" >>"$rules"; }
deny() { rule deny "$@"; }
allow() { rule allow "$@"; }
none='^$'
sources() { find "$@" \( -name '*.c' -o -name '*.h' -o -name '*.S' \) | sort; }

deny '^(sched_variants|workloads)/' $none "nothing below includes the harness or tests" '"(\.\./)*(harness|tests)/'
deny '^sched_variants/' $none "the runtime knows no workload" 'workload'
deny '^(sched_variants|workloads)/' '^sched_variants/machine/(native/|sim/|hunt/|no_memory)' \
    "only machine/ touches threads, clocks, signals, pages and descriptors" "<($system)[./a-z_]*>"
allow '^sched_variants/machine/' '^sched_variants/machine/(sim|hunt)/' "the machine knows nothing above it" \
    '<|"(machine|machine/[a-z_]+|[a-z_]+_native|native[a-z_]*|native/[a-z_]+|sim/self)\.h"'
parts=$(find sched_variants/machine/sim -name '*.h' -exec basename {} .h \; | paste -sd '|')
allow '^sched_variants/machine/sim/' $none "the simulated machine knows machine.h and its own parts" \
    "<|\"(machine|no_memory|$parts)\.h\""
allow '^sched_variants/machine/hunt/' $none "the machine that hunts knows machine.h, its own parts and the simulated machine's" \
    '<|"(machine|kernel|hunt|explore|sim/[a-z_]+)\.h"'
deny '^sched_variants/runtime/' $none "the runtime knows no variant" '"(\.\./)?(contsteal|gmp|grq|kthread|perm|permits|static|tasksteal|uthread)/'
deny '^workloads/' $none "a workload includes the public header only" \
    '"(sched|g|internal|deque|lock|stats|machine|runtime/(sched|g|internal|deque|lock|stats)|sched_variants/.*)\.h"'
for room in $(find sched_variants -mindepth 1 -maxdepth 1 -type d ! -name runtime ! -name machine); do
    others=$(find sched_variants -mindepth 1 -maxdepth 1 -type d ! -name runtime ! -name machine ! -path "$room" \
        -exec basename {} \; | paste -sd '|')
    deny "^$room/" $none "a variant includes no other variant and no part of the runtime's inside" \
        "\"(.*/)?(($others)/|internal\\.h|ctx\\.h)"
done

# Rooms of harness/, ground first: a room includes itself and those before it. docs/DESIGN.md draws them.
rooms='base numbers host doc spec models counters doctor records evidence sample plan sweep tables answers summary report gotrace audit calibrate repro catalogue trace lessons micro author artifact programs advice scenarios hunt options list run hunter commands'
# These lie beside one another, and only the pages of the catalogue read another one: reproductions.
beside='audit calibrate repro catalogue trace lessons micro author artifact programs advice scenarios hunt'
for room in $rooms; do
    above=" $rooms "
    above=${above#*" $room "}
    case " $beside " in *" $room "*) above="$above $beside" ;; esac
    [ "$room" != catalogue ] || above=$(echo "$above" | sed 's/repro//')
    above=$(echo "$above" | tr -s ' ' '\n' | grep -vx "$room" | paste -sd '|')
    above=${above#|}
    [ -z "$above" ] || deny "^harness/$room/" $none "harness/$room/ includes no room above or beside it" \
        "\"harness/(${above%|})/"
done
grep -rnE --include='*.[chS]' '^[[:space:]]*#[[:space:]]*include' sched_variants workloads harness | sort -t : -k1,1 -k2,2n |
    awk -F '\t' '
        FILENAME != "-" { kind[++n] = $1; files[n] = $2; but[n] = $3; why[n] = $4; regex[n] = $5; next }
        { path = $0; sub(/:.*/, "", path); text = $0; sub(/^[^:]*:[^:]*:/, "", text) }
        { for (i = 1; i <= n; i++) if (path ~ files[i] && path !~ but[i] && (text ~ regex[i]) == (kind[i] == "deny"))
              print $0 "   <- " why[i] }' "$rules" - >>"$offences"
find harness -mindepth 2 -maxdepth 2 -name '*.[ch]' | cut -d / -f 2 | sort -u | grep -vxE "peers|$(echo "$rooms" | tr ' ' '|')" |
    sed 's|.*|harness/&/   <- a folder with code is one of the rooms in tests/check/check_includes.sh|' >>"$offences" || true
find harness -maxdepth 1 -name '*.[ch]' | sed 's|$|   <- code of harness/ lies in a room|' >>"$offences"

# No two files need each other, directly or by way of others. A header without a file of its name counts for those
# that include it.
cycles=$(sources harness | grep -v '^harness/peers/' | xargs awk '
    FNR == 1 { file = FILENAME; stem = file; sub(/\.[ch]$/, "", stem); if (file ~ /\.c$/) has[stem] = 1; stems[stem] = 1 }
    /^#include "harness\// { split($0, q, "\""); to = q[2]; sub(/\.h$/, "", to); uses[stem] = uses[stem] " " to }
    function follow(from, at, seen,   list, n, i) {
        n = split(uses[at], list, " ")
        for (i = 1; i <= n; i++) {
            if (list[i] == from || index(seen, " " list[i] " ")) continue
            if (has[list[i]]) print from, list[i]
            else follow(from, list[i], seen " " list[i] " ")
        }
    }
    END { for (s in stems) if (has[s]) follow(s, s, " ") }' | tsort 2>&1 >/dev/null | sed -n 's/^tsort: \(harness\)/\1/p')
[ -z "$cycles" ] || echo "$cycles" | sed 's|$|   <- in a circle of files that need each other|' >>"$offences"

find sched_variants workloads harness tests plots \( -name '*.cc' -o -name '*.cpp' -o -name '*.hpp' \) \
    ! -path harness/micro/gbench.cc ! -path "harness/peers/*" |
    sed 's|$|   <- C++ is for harness/micro/gbench.cc and the runtimes in harness/peers/ only|' >>"$offences"

if [ -s "$offences" ]; then
    cat "$offences"
    exit 1
fi
