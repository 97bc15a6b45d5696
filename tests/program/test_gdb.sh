#!/bin/bash
# test_gdb.sh - what harness/gdb/schedlab.py lists of a process at a breakpoint, of one that is attached to, and of a
# core, on real threads and on a simulated machine.
#
#     tests/program/test_gdb.sh build/schedlab
#
# A goroutine that keeps its worker while it waits for one that is dealt to the same worker is a deadlock, the same
# each time. Prints TAP.
. "$(dirname "$0")/../tap.sh"

command -v gdb >/dev/null || { echo 'ok 1 - gdb # SKIP there is no gdb'; echo 1..1; exit; }
gdb -q -nx -batch -iex 'handle SIGSTOP SIGCONT nostop noprint nopass' -ex 'python print("it has " + "Python")' -ex run /bin/true >out 2>&1 </dev/null
grep -q 'it has Python' out || { echo 'ok 1 - gdb # SKIP this gdb has no Python'; echo 1..1; exit; }
grep -q 'exited normally' out || { echo 'ok 1 - gdb # SKIP no process may be traced here'; echo 1..1; exit; }

# gdb_out GDB-ARGUMENT...: leaves what it says in out.
gdb_out() {
    # whoever stops and continues processes is no event of theirs (tests/harass.py)
    gdb -q -nx -batch -iex 'handle SIGSTOP SIGCONT nostop noprint nopass' -x "$tree/harness/gdb/schedlab.py" "$@" >out 2>&1 </dev/null
    grep -E 'Traceback|Python Exception' out >>tracebacks
}
shows() { # NAME REGEX: a line of out is this
    check "$1" grep -qxE -- "$2" out
}
lists=(-ex 'schedlab gs' -ex 'schedlab ps' -ex 'schedlab ms' -ex 'schedlab queues' -ex 'schedlab bt 0' -ex 'schedlab bt 1' -ex 'schedlab bt 2')
stack='0x[0-9a-f]+\+[0-9]+Ki +[0-9]+ +'

# The deadlock, WHERE: main waits for both, the one that has begun for the other, which never begins.
shows_deadlock() {
    shows "$1_main_waits" "0 \(main\)  waiting +waitgroup 0x[0-9a-f]+ +${stack}pingpong_run workloads/pingpong.c:[0-9]+, in (wg_wait|g_park)"
    shows "$1_the_other_waits" "1 +waiting +chan recv 0x[0-9a-f]+ +${stack}pingpong_pong workloads/pingpong.c:[0-9]+, in chan_recv"
    shows "$1_the_third_has_not_begun" '2 +not begun +- +pingpong_ping'
    shows "$1_the_only_p_is_held" '0  held +M0  2 +0'
    shows "$1_it_is_queued" 'P0 +1: 2'
    shows "$1_a_stack_ends_where_it_began" '#[0-9]+ +0x[0-9a-f]+ in g_entry at sched_variants/runtime/proc.c:[0-9]+'
    shows "$1_a_stack_has_its_callers" '#[0-9]+ +0x[0-9a-f]+ in pingpong_run at workloads/pingpong.c:[0-9]+'
    shows "$1_one_without_a_stack_is_told" 'goroutine 2 has not begun: it will run pingpong_ping'
}
deadlock=(sample 'static,wait=keep' pingpong --workers 1 --events none)

# On real threads: at the deadlock, and what is asked too early or wrongly.
gdb_out -ex 'schedlab gs' -ex starti -ex 'schedlab ps' -ex 'break deadlock_report' -ex continue "${lists[@]}" \
    -ex 'schedlab bt 99' -ex 'schedlab bt x' -ex 'schedlab bt' -ex 'schedlab gs some' -ex 'schedlab threads' \
    -ex 'schedlab help' -ex 'schedlab core core' -ex kill --args "$schedlab" "${deadlock[@]}"
shows_deadlock native
shows native_the_m_is_its_thread '0  thread 1, [0-9]+ +P0 +sleeping  .*, in sched_run'
shows without_a_process_there_is_one_line 'schedlab: there is no process; valid: .*'
shows before_the_scheduler_there_is_one_line 'schedlab: no scheduler runs in this process; .*'
shows an_unknown_goroutine_is_told 'schedlab: there is no goroutine 99; `schedlab gs` lists them'
shows a_word_is_no_goroutine 'schedlab: "x" is not the number of a goroutine; `schedlab gs` lists them'
shows a_goroutine_is_missing 'schedlab: schedlab bt takes the number of one goroutine; `schedlab gs` lists them'
shows gs_takes_all_only 'schedlab: schedlab gs takes nothing, or `all`'
shows an_unknown_command_is_told 'schedlab: unknown command "threads"; valid: gs ps ms queues bt core help'
shows help_lists_the_commands 'schedlab gs +goroutines: .*'

gdb_out "${lists[@]}" "$schedlab" core
shows_deadlock core
rm -f core

# On a simulated machine; and twice at work on several cores, in the second call, which is the same each time.
to_place=(-ex 'break mpmc_run' -ex run -ex continue -ex 'break chan_send' -ex 'ignore $bpnum 100' -ex continue
    -ex 'echo begin\n' -ex 'schedlab gs' -ex 'schedlab ms' -ex 'schedlab queues' -ex 'echo end\n' -ex delete)
gdb_out -ex 'break deadlock_report' -ex run "${lists[@]}" -ex delete \
    -ex 'set args sample gmp mpmc,work=3000,messages=2000 --workers 3 --events none --machine sim:desktop8' \
    "${to_place[@]}" "${to_place[@]}" -ex kill \
    --args "$(dirname "$schedlab")/schedlab-sim" "${deadlock[@]}" --machine sim:desktop8
shows_deadlock simulated
shows simulated_the_m_is_a_simulated_thread '0  thread 0, core 0 running +P0 +sleeping  .*, in sched_run'
awk '/^begin$/ { n++; on = 1; next } /^end$/ { on = 0 } on { print >("place" n) }' out
shows a_running_goroutine_has_its_m '[0-9]+ +running +M[0-9] +0x[0-9a-f]+\+64Ki +mpmc_(produce|consume) workloads/mpmc.c:[0-9]+, in (chan_(send|recv)|go_work)'
check more_than_one_m_runs [ "$(grep -c ' runs G' place1)" -gt 1 ]
shows each_p_has_its_queue 'P2 +runnext (-|[0-9]+), [0-9]+(: [0-9 ]+)?'
check a_breakpoint_is_at_the_same_place cmp place1 place2

# A process that runs: its first line of schedtrace says that the scheduler does.
exec 3< <(exec "$schedlab" sample gmp hog --workers 2 --events none --iterations 1000000 --schedtrace 1ms --schedtrace-fd 1)
pid=$!
read -r _ <&3
gdb_out -p $pid -ex 'schedlab gs' -ex 'schedlab ps' -ex 'schedlab ms'
kill -9 $pid
if grep -q 'Operation not permitted' out; then
    echo '# no process may be attached to here'
else
    # Main may be between two calls of hog_run().
    shows attached_main_is_listed '0 \(main\)  (waiting|runnable|running) .*'
    shows attached_ps_are_listed '1  (held|idle|in a call) +(M[0-9]+|-) +[0-9]+ +[0-9]+'
fi

strip -o stripped "$schedlab"
gdb_out -ex starti -ex 'schedlab gs' -ex kill --args ./stripped --version
shows a_stripped_program_is_told 'schedlab: .*/stripped has no types of a scheduler; valid: .*'

check nothing_is_a_traceback [ ! -s tracebacks ]
finish
