#!/bin/bash
# test_compile_commands.sh - compile_commands.json has each C file once, with a command that compiles it; and no flags
# of the caller's move the code of workloads.
#
#     tests/program/test_compile_commands.sh build/schedlab
#
# Prints TAP.
. "$(dirname "$0")/../tap.sh"

check make_writes_it env -u MAKEFLAGS -u MAKELEVEL make -C "$tree" compile_commands.json
cp "$tree/compile_commands.json" out
names='files = [e["file"] for e in j]'
json each_file_is_there_once 'len(files) == len(set(files))'
(cd "$tree" && find sched_variants workloads harness tests -name '*.c' -o -name '*.cc' -o -name '*.cpp') | sort >files
json they_are_all_files 'sorted(files) == sorted(open("files").read().split())'
json the_folder_is_the_tree 'all(e["directory"] == "'"$tree"'" for e in j)'
json simulated_files_are_simulated 'all("-DSCHEDLAB_SIM" in e["command"] for e in j if e["file"].endswith("machine/sim/threads.c"))'
flags_of() { # FILE
    python3 -c 'import json, sys; print(next(e["command"] for e in json.load(open("out")) if e["file"] == sys.argv[1]))' "$1" |
        sed -e 's/ -MMD.*//' -e 's/ -c -o .*//' -e 's/^[^ ]* //'
}
for file in workloads/uneven.c sched_variants/machine/sim/hooks.c harness/peers/pthreads.c; do
    flags=$(flags_of $file)
    for compiler in gcc clang; do
        check "${compiler}_takes_$(basename $file .c)" env -C "$tree" $compiler -fsyntax-only $flags $file
    done
done

# A switch pushes (sched_variants/runtime/ctx.h), so a function that it is a part of keeps nothing below the stack
# pointer. The compiler would, in one that calls nothing. Each file that switches is asked by its own flags.
cat >leaf.c <<'END'
#include "ctx.h"

struct g *leaf(void *to, int n);
struct g *leaf(void *to, int n)
{
    volatile char kept[64];
    void *save;
    kept[n] = 1;
    return kept[0] ? 0 : ctx_switch_raw(&save, to, 0);
}
END
keeps_below() { # FLAG...
    rm -f code leaf.o
    (cd "$tree" && gcc "$@" -c "$scratch/leaf.c" -o "$scratch/leaf.o") &&
        objdump -d leaf.o >code && grep -q 'push *%rbp' code && grep -e '-0x[0-9a-f]*(%rsp)' code
}
keeps_nothing_below() {
    ! keeps_below "$@" && grep -q 'push *%rbp' code
}
if [ "$(uname -m)" = x86_64 ]; then
    check without_the_flag_something_lies_below_the_stack_pointer keeps_below $(flags_of sched_variants/runtime/proc.c) -mred-zone
    # peers are built by rules of their own
    (cd "$tree" && grep -lE '\bctx_(switch|switch_raw)\(' $(grep '\.c$' "$scratch/files" | grep -v ^harness/peers/)) >switching
    check several_files_switch [ "$(wc -l <switching)" -ge 2 ]
    while read -r file; do
        check "nothing_lies_below_the_stack_pointer_of_$(basename "$file" .c)" keeps_nothing_below $(flags_of "$file")
    done <switching
fi

# Elsewhere than in this section no signal stops a goroutine (sched_variants/runtime/preempt.c). Code that is left to
# the linker lies in another one at last.
code_is_where_a_signal_may_stop_it() { # OBJECT FLAGS
    env -u MAKEFLAGS -u MAKELEVEL make -C "$tree" CONFIG=release "OUT=$scratch/flags" "EXTRA_CFLAGS=$2" \
        "$scratch/flags/$1" && nm --format=sysv "$scratch/flags/$1" >functions &&
        awk -F '|' '$4 ~ /FUNC/ && $7 !~ /UND/ { n++; others += $7 !~ /workload_text|\.text\.unlikely/ }
            END { exit n < 3 || others }' functions &&
        ! readelf -SW "$scratch/flags/$1" | grep -q gnu.lto
}
with_flags() { # NAME FLAGS
    check "a_signal_stops_goroutines_$1" code_is_where_a_signal_may_stop_it workloads/ring.o "$2"
    check "a_signal_stops_tasks_$1" code_is_where_a_signal_may_stop_it workloads/fib.FJ_GO.o "$2"
}
with_flags of_lto -flto
with_flags of_fat_lto '-flto -ffat-lto-objects'
with_flags of_function_sections -ffunction-sections
finish
