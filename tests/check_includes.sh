#!/bin/sh
# check_includes.sh - includes point down only, and only machine/ touches the operating system.
#
#     workloads      -> workload.h (own folder), param.h, runtime/runtime.h, the C library
#     variants       -> sched.h, runtime/, machine.h, own folder
#     runtime/       -> sched.h, param.h, runtime/, machine.h
#     machine/       -> machine/ alone
#     harness, tests -> everything
#
# The language is C; the one exception is the binding to Google Benchmark.
#
# Prints one line per offence; exit 1 if there is any.
set -eu
cd "$(dirname "$0")/.."

system='pthread|linux/|sys/epoll|sys/socket|netinet/|arpa/|poll|fcntl|sys/mman|sys/syscall|sys/eventfd|signal|time|sys/time|sched|unistd|semaphore|threads|ucontext'
offences=$(mktemp)
trap 'rm -f "$offences"' EXIT

# deny FILES WHY REGEX: no #include in FILES may match REGEX. allow: every one has to match it.
includes() { grep -nE '^[[:space:]]*#[[:space:]]*include' $1 /dev/null || true; }
deny() { includes "$1" | grep -E "$3" | sed "s|\$|   <- $2|" >>"$offences" || true; }
allow() { includes "$1" | grep -vE "$3" | sed "s|\$|   <- $2|" >>"$offences" || true; }
sources() { find "$@" \( -name '*.c' -o -name '*.h' -o -name '*.S' \) | sort; }

deny "$(sources sched_variants workloads)" "nothing below includes the harness or tests" '"(\.\./)*(harness|tests)/'
deny "$(sources sched_variants)" "the runtime knows no workload" 'workload'
deny "$(sources sched_variants workloads | grep -vE '^sched_variants/machine/(native|sim)/')" \
    "only machine/ touches threads, clocks, signals, pages and descriptors" "<($system)[./a-z_]*>"
allow "$(sources sched_variants/machine | grep -v '^sched_variants/machine/sim/')" "the machine knows nothing above it" \
    '<|"(machine|machine/[a-z_]+|[a-z_]+_native|native[a-z_]*|native/[a-z_]+|sim/self)\.h"'
parts=$(find sched_variants/machine/sim -name '*.h' -exec basename {} .h \; | paste -sd '|')
allow "$(sources sched_variants/machine/sim)" "the simulated machine knows machine.h and its own parts" \
    "<|\"(machine|$parts)\.h\""
deny "$(sources sched_variants/runtime)" "the floor knows no variant" '"(\.\./)?(contsteal|gmp|grq|kthread|perm|static|tasksteal|uthread)/'
deny "$(sources workloads)" "a workload includes the public header only" \
    '"(sched|g|internal|deque|lock|stats|machine|runtime/(sched|g|internal|deque|lock|stats)|sched_variants/.*)\.h"'
for room in $(find sched_variants -mindepth 1 -maxdepth 1 -type d ! -name runtime ! -name machine); do
    others=$(find sched_variants -mindepth 1 -maxdepth 1 -type d ! -name runtime ! -name machine ! -path "$room" \
        -exec basename {} \; | paste -sd '|')
    deny "$(sources "$room")" "a variant includes no other variant and no part of the floor's inside" \
        "\"(.*/)?(($others)/|internal\\.h|ctx\\.h)"
done

find sched_variants workloads harness tests plots \( -name '*.cc' -o -name '*.cpp' -o -name '*.hpp' \) \
    ! -path harness/micro/gbench.cc ! -path "harness/peers/*" |
    sed 's|$|   <- C++ is for harness/micro/gbench.cc and the runtimes in harness/peers/ only|' >>"$offences"

if [ -s "$offences" ]; then
    cat "$offences"
    exit 1
fi
