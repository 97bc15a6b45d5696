#!/bin/bash
# test_import.sh - schedlab import: traces of Go become program files, which the workload replay runs.
#
#     tests/program/test_import.sh build/schedlab
#
# tests/support/gotrace_make.py makes traces of events that are written down here; tests/traces/ has real ones. The
# expected programs are derived by hand. Prints TAP.
. "$(dirname "$0")/../tap.sh"

# run ARGUMENT...: leaves out, err, status.
run() {
    timeout 600 "$schedlab" import "$@" >out 2>err </dev/null
    status=$?
}

# made NAME ARGUMENT...: the trace of the events in standard input becomes NAME.slp.
made() {
    local name=$1
    shift
    python3 "$tree/tests/support/gotrace_make.py" >"$name.trace"
    run "$name.trace" -o "$name.slp" "$@"
}

# has FILE GOROUTINE STEPS: these are its steps, with "; " between; a sleep is sleep=NS.
has() {
    [ "$(awk -v id="$2" '$1 == "goroutine" { on = $2 == id; next } on { sub(/ +$/, ""); sub(/^sleep /, "sleep="); print }' "$1" | paste -sd ';' |
        sed 's/;/; /g')" = "$3; end" ]
}

# replays FILE: it runs on a simulated machine.
replays() {
    "$schedlab" run gmp grq replay,file="$1" --machine sim:desktop8 --workers 2 --timeout 0 >out 2>err
}

# Steps ----------------------------------------------------------------------------------------------------

made steps <<'END'
1 0 status_stack 1 1 2 runtime.main
1 10 procs 2 -
1 1000 create 7 main.worker main.main
1 2000 block sync sync.Wait;main.main;runtime.main
1 2100 start 7
1 5100 call 0 syscall.read;main.worker
1 7100 back
1 7200 call 0 syscall.fsync;main.worker
1 57200 back_blocked
1 57300 start 7
1 58300 stop preempted main.worker
1 58400 start 7
1 59400 unblock 1 sync.Done;main.worker
1 60400 destroy
1 60500 start 1
1 61500 stop runtime.Gosched main.main
1 61600 start 1
1 62600 block sleep time.Sleep;main.main
1 72600 unblock 1 -
1 73000 start 1
1 73500 region 0 request main.main
1 74000 region 0 inner main.main
1 74100 region_end 0 inner main.main
1 74300 region_end 0 request main.main
1 75000 destroy
END
check a_trace_is_read [ $status = 0 ]
check a_goroutine_starts_waits_and_sleeps grep -q 'wait sync' steps.slp
check it_does_its_steps_in_order \
    has steps.slp 1 "run 1000; go 7; run 1000; wait sync; run 1000; yield; run 1000; sleep=10000; run 500; begin request; run 800; done; run 700"
check a_goroutine_calls_and_wakes has steps.slp 7 \
    "run 3000; call cpu 2000; run 100; call 50000; run 2000; wake 1 1; run 1000"
check names_are_kept grep -qx 'goroutine 7 main.worker' steps.slp
check latencies_are_told grep -qE 'woken by goroutines +1 +1.10' out
check waits_are_told grep -qE 'sync +1 +57.4' out
check the_critical_path_is_that_of_the_chain grep -q 'critical path  72.1 ' out
check it_replays replays steps.slp
run steps.trace --format json
check facts_are_json python3 -c 'import json; facts = json.load(open("out")); assert facts["events"] == 25 and facts["torn"] is None
assert facts["critical_path_ns"] == 72100 and facts["runnable_to_running"]["woken"]["p50_ns"] == 1100, facts'

# The writer's call comes before the reader's wait is over, and the time of another thread may lie.
cat >network <<'END'
1 0 status_stack 1 1 2 main.client
2 0 status_stack 2 2 2 main.server
1 1000 call 0 syscall.write;main.client
1 1200 back
1 1300 call 0 syscall.read;main.client
1 1400 back
1 1500 block network internal/poll.(*FD).Read;main.client
2 2000 call 0 syscall.read;main.server
2 2100 back
2 5000 call 0 syscall.write;main.server
2 5200 back
2 5300 call 0 syscall.read;main.server
2 5400 back
2 5500 block network internal/poll.(*FD).Read;main.server
3 5600 unblock 1 -
1 5700 start 1
1 5800 call 0 syscall.read;main.client
1 5900 back
1 6500 call 0 syscall.write;main.client
1 6600 back
3 6700 unblock 2 -
2 6800 start 2
2 6900 call 0 syscall.read;main.server
2 7000 back
2 8000 destroy
1 8000 destroy
END
made network <network
check a_reader_waits_for_the_writer has network.slp 1 \
    "run 1000; wake 2 1; run 500; wait network; run 800; wake 2 2; run 1500"
check a_read_that_found_something_waits_too has network.slp 2 \
    "run 2100; wait network; run 2900; wake 1 1; run 500; wait network; run 1200"
check such_waits_are_counted grep -q '3 waits for the network are for writes' out
check no_reader_had_a_choice grep -q 'names no descriptors: .*; 0 of 2 readers had several' out
check peers_replay replays network.slp
# Steps of half a megabyte each go through a file, lines that are filled later among them.
{
    printf '%s\n' '1 0 status_stack 1 1 2 main.client' '2 0 status_stack 2 2 2 main.server' \
        '2 500 block network internal/poll.(*FD).Read;main.server'
    awk 'function event(thread, words) { print thread, ns += 100, words }
        function call(g, kind) { event(g, "call 0 syscall." kind ";main." of[g]); event(g, "back") }
        function wait(g, other) { event(g, "block network internal/poll.(*FD).Read;main." of[g]); event(3, "unblock " other " -")
            event(other, "start " other); call(other, "read") }
        BEGIN { of[1] = "client"; of[2] = "server"; ns = 1000
            for (i = 0; i < 4000; i++) { call(1, "write"); wait(1, 2); call(2, "write"); wait(2, 1) }
            event(1, "destroy"); event(2, "destroy") }'
} >talks
made talks <talks
check long_steps_are_all_there [ "$(grep -c '^wake' talks.slp) $(grep -c '^wait network' talks.slp) $(stat -c %s talks.slp | wc -c)" = '8000 8000 7' ]
TMPDIR=/nowhere run talks.trace -o kept.slp
check they_are_the_same_without_a_file cmp -s talks.slp kept.slp
# Two pairs in step: each reader's wait has a write of both others.
awk '{ print; $2 += 100; if ($1 < 3) $1 += 5; if ($3 ~ /^(status_stack|unblock|start)$/) $4 += 2; print }' network |
    sort -s -n -k2,2 >step
made step <step
check a_choice_between_writers_is_told grep -q 'names no descriptors: .*; [1-4] of 4 readers had several' out

# A ticker of 500 us, of whose twelve waits one ends 4 ms late, and a wait that another goroutine ends.
{
    echo '1 0 status_stack 1 1 2 main.ticks'
    echo '2 0 status_stack 2 2 2 main.other'
    awk 'BEGIN { for (i = ns = 1; i <= 12; i++) { ns += 1000; late = i == 6 ? 4000000 : i == 3 ? 50000 : 0
        printf "1 %d block chan_receive runtime.chanrecv1;main.ticks\n", ns; ns += 500000 + late
        printf "1 %d unblock 1 -\n1 %d start 1\n", ns, ns + 100; ns += 100 }
        printf "1 %d block chan_receive runtime.chanrecv1;main.ticks\n2 %d unblock 1 runtime.chansend1;main.other\n", ns + 900, ns + 9000900
        printf "1 %d start 1\n1 %d destroy\n2 %d destroy\n", ns + 9001000, ns + 9002000, ns + 9002000 }'
} >ticks
made ticks <ticks
check a_ticker_that_is_late_asked_for_no_more [ "$(grep -c '^sleep 500000$' ticks.slp) $(grep -c '^sleep' ticks.slp)" = '12 12' ]
check a_wait_that_others_end_is_no_sleep grep -q '^wait chan' ticks.slp

mkfifo pipe
timeout 60 cat pipe >read &
run ticks.trace -o pipe
wait
check a_pipe_is_written_and_stays sh -c '[ -p pipe ] && cmp -s read ticks.slp'
mkdir -p elsewhere && echo old >elsewhere/real.slp && ln -s elsewhere/real.slp link.slp
run ticks.trace -o link.slp
check a_link_stays_one sh -c '[ -L link.slp ] && cmp -s elsewhere/real.slp ticks.slp'

made outside <<'END'
1 0 status_stack 1 1 2 main.server
1 1000 block network internal/poll.(*FD).Read;main.server
1 9000 unblock 1 -
1 9100 start 1
1 9500 destroy
END
check what_nobody_wrote_has_no_reader grep -q 'names no descriptors: who writes to whom is told by times$' out
check what_comes_from_outside_comes_by_the_clock has outside.slp 1 "run 1000; poll at 9000; run 400"
run outside.trace -o closed.slp --arrivals closed
check or_after_the_wait_began has closed.slp 1 "run 1000; poll after 8000; run 400"

made coroutines <<'END'
1 0 status_stack 1 1 2 main.main
1 1000 create_blocked 5 main.iterator main.main
1 2000 switch 5
1 3000 switch 1
1 4000 destroy
END
check coroutines_hand_over has coroutines.slp 1 "run 1000; go 5; run 1000; wake 5 1; wait coroutine; run 1000"
check coroutines_begin_with_a_wait has coroutines.slp 5 "wait coroutine; run 1000; wake 1 1"

made order <<'END'
2 0 status_stack 2 18446744073709551615 4 main.waiter
1 0 status_stack 1 1 2 main.waker
1 1010 unblock 2 main.waker
2 1000 start 2
2 2000 destroy
1 2010 destroy
END
check sequence_numbers_decide_before_times has order.slp 1 "run 1010; wake 2 1; run 1000"

made tasks <<'END'
1 0 status_stack 1 1 2 main.main
2 0 status_stack 2 2 2 main.other
1 1000 task 1 0 request main.main
1 1500 region 1 part main.main
1 1600 task 2 1 part main.main
1 1700 task_end 2 main.main
1 1800 region_end 1 part main.main
1 2000 task_end 1 main.main
1 3000 task 3 0 handed-on main.main
2 3500 task_end 3 main.other
2 4000 task_end 9 main.other
1 4100 task 4 0 left-open main.main
1 4200 region 0 request main.main
1 4300 region_end 0 request main.main
1 5000 destroy
2 5000 destroy
END
check a_task_is_a_request_and_its_parts_are_none has tasks.slp 1 "run 1000; begin request; run 1000; done; run 2200; begin request; run 100; done; run 700"
check a_task_that_another_one_ends_is_left_out has tasks.slp 2 "run 5000"

made generations <<'END'
1 0 status_stack 1 1 2 main.main
1 1000 block other-chan runtime.chanrecv;main.main
generation
1 2000 status_stack 2 1 2 main.late
1 2000 status 1 18446744073709551615 4
1 3000 unblock 1 main.late
1 4000 destroy
1 4100 start 1
1 4500 destroy
END
check generations_follow_each_other has generations.slp 1 "run 1000; wait other-chan; run 400"

# Go 1.22 to 1.24 write the clock's frequency at the end of each generation.
python3 "$tree/tests/support/gotrace_make.py" --old <network >old_network.trace
run old_network.trace -o old_network.slp
check older_versions_of_the_format_are_read eval '[ $status = 0 ] && grep -q "of Go 1.22" out &&
    cmp -s <(sed 1,2d network.slp) <(sed 1,2d old_network.slp)'

# Locks ---------------------------------------------------------------------------------------------------------------------

# 7 holds a mutex when 8 and then 9 come. Each releases it to the next one; nobody waits for 9, so its end is not told.
cat >locks <<'END'
1 0 status_stack 1 1 2 runtime.main
1 10 procs 3 -
1 1000 create 7 main.a main.main
1 1100 create 8 main.b main.main
1 1200 create 9 main.b main.main
1 2000 block sync sync.(*WaitGroup).Wait;main.main;runtime.main
1 2100 start 7
2 2200 start 8
3 2300 start 9
2 6000 block sync sync.(*Mutex).Lock;main.b
3 6500 block sync sync.(*Mutex).Lock;main.b
1 9000 unblock 8 sync.(*Mutex).Unlock;main.a.deferwrap1;main.a
2 9100 start 8
2 12000 unblock 9 sync.(*Mutex).Unlock;main.b
3 12100 start 9
2 12500 destroy
1 13000 unblock 1 sync.(*WaitGroup).Done;main.a
1 13100 destroy
3 15000 destroy
1 15100 start 1
1 15200 destroy
END
made locks <locks
check who_releases_a_lock_held_it_since_others_waited \
    has locks.slp 7 "run 3900; lock main.b; run 3000; unlock main.b; run 4000; wake 1 1; run 100"
check who_was_woken_for_a_lock_took_it \
    has locks.slp 8 "run 3800; lock main.b; run 2900; unlock main.b; wake 9 1; run 500"
check a_section_without_an_end_is_a_wait has locks.slp 9 "run 4200; wait mutex; run 2900"
check what_is_waited_for_is_told_by_the_stack \
    has locks.slp 1 "run 1000; go 7; run 100; go 8; run 100; go 9; run 800; wait waitgroup; run 100"
check sections_are_counted grep -q '^  2 sections under a mutex are told; 1 waits are for these locks' out
check wakes_for_locks_are_counted_apart grep -qE '^  woken for a lock +1 ' out
check waits_are_told_by_function grep -qE '^  main\.b +mutex +2 ' out
check a_program_with_its_locks_replays replays locks.slp
made apart --to 10us <locks
check a_section_that_a_window_cuts_ends_there has apart.slp 8 "run 3800; lock main.b; run 900; unlock main.b"
# A second mutex of the same functions: sections lie in each other, so they are of several, and none is told.
cat >both <<'END'
1 0 status_stack 1 1 2 runtime.main
1 1000 create 7 main.b main.main
1 1001 create 8 main.b main.main
1 1002 create 9 main.b main.main
1 1003 create 10 main.b main.main
1 1004 create 11 main.b main.main
1 1005 create 12 main.b main.main
1 2000 block sync sync.(*WaitGroup).Wait;main.main
1 2100 start 7
2 2100 start 8
3 2100 start 9
4 2100 start 10
5 2100 start 11
6 2100 start 12
2 6000 block sync sync.(*Mutex).Lock;main.b
3 6500 block sync sync.(*Mutex).Lock;main.b
5 6600 block sync sync.(*Mutex).Lock;main.b
6 6700 block sync sync.(*Mutex).Lock;main.b
1 9000 unblock 8 sync.(*Mutex).Unlock;main.b
2 9100 start 8
4 10000 unblock 11 sync.(*Mutex).Unlock;main.b
5 10100 start 11
5 15000 unblock 12 sync.(*Mutex).Unlock;main.b
6 15100 start 12
2 20000 unblock 9 sync.(*Mutex).Unlock;main.b
3 20100 start 9
1 21000 unblock 1 sync.(*WaitGroup).Done;main.b
1 21100 start 1
END
made both <both
check mutexes_that_look_alike_are_none sh -c '! grep -q "lock" both.slp && [ "$(grep -c "^wait mutex" both.slp)" = 4 ]'
# A goroutine that read since others came may have held it all the time.
sed '/^1 9000/i 1 8000 call 0 syscall.read;main.a\n1 8100 back' locks >reads
made reads <reads
check what_lies_before_a_read_is_not_told [ "$(grep -c '^wait mutex' reads.slp) $(grep -c '^lock' reads.slp)" = '2 1' ]

# Windows and filters ------------------------------------------------------------------------------------------------------

cat >cut <<'END'
1 0 status_stack 1 1 2 runtime.main
1 1000 create 5 runtime.bgsweep runtime.main
1 2000 create 6 main.logger main.main
1 3000 block sync main.main
1 3000 start 6
1 4000 unblock 1 main.logger
1 5000 destroy
1 5000 start 5
1 8000 destroy
1 8000 start 1
1 9000 destroy
END
made cut <cut
check the_runtimes_goroutines_are_left_out has cut.slp 1 "run 2000; go 6; run 1000; wait sync; run 1000"
check and_accounted_for eval 'grep -q "left out: 3.00" out && grep -qE "^  the collector +1 +3.00 .*s  left out$" out'
made filtered --goroutines 'runtime.main' <cut
check others_may_be_left_out has filtered.slp 1 "run 3000; poll at 4000; run 1000"
check no_step_names_them sh -c '! grep -qw 6 filtered.slp'
made window --from 2us --to 4500ns <cut
check a_window_has_what_lies_between has window.slp 1 "go 6; run 1000; wait sync"
check its_goroutines_too has window.slp 6 "run 1000; wake 1 1; run 500"
check windows_replay replays window.slp
misuse windows_have_a_beginning_first 'is not before --to' -- cut.trace --from 5us --to 4us

# A worker of the collector, which the runtime wakes, ends a wait of main; main stops the world, and starts the tracer's.
cat >collected <<'END'
1 0 status_stack 1 1 2 runtime.main
2 0 status_stack 5 18446744073709551615 4 runtime.gcBgMarkWorker
1 1000 stw start-trace main.main
1 1500 stw_end
3 2000 unblock 5 -
2 2100 start 5
1 3000 block GC_assist_wait runtime.gcAssistAlloc;main.main
2 5000 unblock 1 runtime.gcBgMarkWorker
1 5100 start 1
2 6000 block system_goroutine_wait runtime.gcBgMarkWorker
1 7000 create 6 runtime/trace.Start.func1 main.main
2 7100 start 6
2 7600 destroy
1 8000 destroy
END
made collected <collected
check waits_for_the_collector_are_left_out [ "$(grep -vc '^#' collected.slp)" = 4 ]
check its_waits_are_accounted_for grep -qE '^  waits for collector +1 +2.00 .*  left out$' out
check stops_of_the_world_are_accounted_for grep -qE '^  the world stopped +1 +500 ns  kept as computing of who stopped it' out
made collector --keep gc <collected
check the_collector_may_be_kept has collector.slp 1 "run 3000; wait GC-assist-wait; run 2900"
check what_the_runtime_wakes_comes_by_the_clock has collector.slp 5 "poll at 2000; run 2900; wake 1 1; run 1000"
check the_rest_of_the_runtime_is_left_out sh -c '! grep -q "goroutine 6" collector.slp && grep -qE "the runtime +1 +500 ns  left out" out'
check a_program_with_its_collector_replays replays collector.slp
made runtime --keep runtime --goroutines 'runtime.main' <collected
check the_runtime_may_be_kept has runtime.slp 6 "run 500"
check the_filter_is_not_for_what_is_kept has runtime.slp 1 "run 4900; go 6; run 1000"
run collected.trace --keep runtime,gc --format json
check what_is_kept_is_json python3 -c 'import json; parts = json.load(open("out"))["parts"]
assert parts["runtime"] == {"count": 1, "ns": 500, "kept": True} and parts["collector_waits"]["kept"], parts
assert parts["collector"] == {"count": 1, "ns": 3900, "kept": True} and parts["stops"]["ns"] == 500, parts
assert parts["stops"]["kept"], parts'
misuse stops_cannot_be_kept 'has no step that stops all workers; valid: runtime, gc' -- collected.trace --keep gc,stw
misuse unknown_kinds_are_named 'keep=gcc is not valid; the nearest is "gc"' -- collected.trace --keep gcc

# Other files -----------------------------------------------------------------------------------------------------------

head -c -40 steps.trace >torn.trace
run torn.trace -o torn.slp
check a_torn_trace_is_read_up_to_there [ $status = 0 ]
check and_the_place_is_said grep -q 'torn.trace: read up to a tear: byte [0-9]*: the file ends within a batch' err
check and_the_event_before_it grep -qE '; the last event of a goroutine before it: GoDestroy of 1( \(.*\))?, at 75' err
check what_is_left_replays replays torn.slp
made unknown <<'END'
1 0 status_stack 1 1 2 runtime.main
1 1000 create 7 main.worker main.main
2 1500 start 7
1 2000 block sync main.main;runtime.main
1 2500 procs 2 -
2 3000 call 0 syscall.fsync;main.worker
2 4000 back
2 5000 destroy
END
python3 -c 'was = open("unknown.trace", "rb").read()
assert was.count(b"\x09\xf4\x03\x02\x00") == 1
open("unknown.trace", "wb").write(was.replace(b"\x09\xf4\x03\x02\x00", b"\x63\xf4\x03\x02\x00"))'
run unknown.trace
check the_event_before_it_is_of_the_same_thread \
    grep -qE ': event 99 is not known or not whole; the last event of a goroutine before it: GoBlock of 1 \(runtime.main\), at 2' err
head -c 30 steps.trace >short.trace
misuse too_little_of_one_is_said 'no goroutine of the program did anything in it up to its tear, byte 16' -- short.trace
misuse a_filter_that_leaves_nothing_is_said 'left out: 2 goroutines' -- steps.trace --goroutines none
for minor in 11 19 21; do
    printf 'go 1.%d trace\0\0\0' $minor >old.trace
    misuse "the_go_that_wrote_format_${minor}_is_named" "a trace that Go $(case $minor in 11) echo 1.11 to 1.18 ;; 19) echo 1.19 or 1.20 ;; 21) echo 1.21 ;; esac) \
wrote, in the older format of Go up to 1.21; valid: of Go 1.22" -- old.trace
done
: >empty.trace
misuse an_empty_file_is_named 'it is empty' -- empty.trace
misuse a_compressed_file_is_named 'it is compressed; run xz -d' -- "$tree/tests/traces/tree-p1.trace.xz"
misuse a_missing_file_is_named 'none.trace: cannot be opened: No such file' -- none.trace
misuse a_folder_is_named 'not a file' -- .
misuse a_trace_has_to_be_given 'which trace?' --
cp steps.slp before.slp
run old.trace -o steps.slp
check a_program_is_not_lost_to_a_mistake cmp -s steps.slp before.slp
run steps.trace -o nowhere/steps.slp
check an_output_that_cannot_be_written_fails [ "$status $(wc -l <err)" = '1 1' ]

# Bytes that are wrong somewhere: a line, never a crash.
python3 - "$tree" <<'END'
import random, sys
random.seed(1)
good = open("network.trace", "rb").read() + open("steps.trace", "rb").read()[16:]
for i in range(60):
    bad = bytearray(good)
    for _ in range(random.randint(1, 6)):
        bad[random.randrange(16, len(bad))] = random.randrange(256)
    open(f"bad{i}.trace", "wb").write(bad[: random.randint(16, len(bad))] if i % 3 == 0 else bad)
END
wrong=0
for ((i = 0; i < 60; i++)); do
    run bad$i.trace -o bad.slp
    [ $status = 0 ] || [ $status = 2 ] || wrong=$((wrong + 1))
    [ $status != 0 ] || "$schedlab" run gmp replay,file=bad.slp --machine sim:desktop8 --workers 1 --timeout 20 >out 2>err ||
        grep -q 'no answer within\|would\|too many\|no goroutine' err || { wrong=$((wrong + 1)); cp err err$i; }
done
check wrong_bytes_are_refused_or_read [ $wrong = 0 ]

# Services --------------------------------------------------------------------------------------------------------------

# service NAME <YAML: becomes NAME.slp.
service() {
    cat >"$1.yaml"
    run "$1.yaml" -o "$1.slp"
}

service closed <<'END'
service: small
clients: 1
requests: 2
think: 1ms
io: 3us
classes:
  - name: only
    steps: [read, cpu 50, lock mu 2us, spawn side, wait, send log, write, call 1ms]
tasks:
  - name: side
    steps: [cpu 1us]
workers:
  - name: logger
    steps: [receive log, cpu 7us]
END
once='wait network; call cpu 3000; run 50000; lock mu; run 2000; unlock mu'
check a_connection_serves_one_request_after_the_other has closed.slp connection-0 "$once; go task-0-0; wait spawned; \
send log; call cpu 3000; wake client-0; call 1000000; $once; go task-0-1; wait spawned; send log; call cpu 3000; \
wake client-0; call 1000000"
check a_client_waits_for_its_reply sh -c "sed -n '/^goroutine client-0/,/^end/p' closed.slp | grep -v sleep | paste -sd ' ' |
    grep -q 'begin only wake connection-0 1 wait reply done begin only wake connection-0 3 wait reply done end'"
check a_task_wakes_who_waits_for_it has closed.slp task-0-1 'run 1000; wake connection-0 4'
check a_worker_takes_all_messages has closed.slp worker-logger-0 'receive log; run 7000; receive log; run 7000'
check a_service_is_told_in_numbers grep -q 'goroutines     5, 2 requests' out
check a_closed_loop_replays replays closed.slp
sed 's/^think: 1ms/rate: 1000/' closed.yaml >open.yaml
run open.yaml -o open.slp
check an_open_loop_comes_by_the_clock sh -c "sed -n '/^goroutine request-1 /,/^end/p' open.slp | paste -sd ' ' |
    grep -qE 'poll at [0-9]+ begin only wake connection-0 3 wait reply done end'"
check an_open_loop_replays replays open.slp
run "$tree/examples/service.yaml" -o example.slp
check a_mix_of_classes_is_as_weighted sh -c 'n=$(grep -c "go task" example.slp); [ $n -gt 300 -a $n -lt 500 ]'
check the_work_of_a_service_is_the_same sh -c "'$schedlab' run uthread kthread static grq perm gmp tasksteal contsteal \
replay,file=closed.slp --machine sim:desktop8 --workers 4 --format json >json 2>err && python3 -c 'import json
records = json.load(open(\"json\"))[\"records\"]; assert len(records) == 8 and len({r[\"digest\"] for r in records}) == 1'"

{ echo schedlab-program 1 && for ((i = 0; i < 40; i++)); do echo "goroutine g$i"; echo "poll at ${i}us"; echo 'run 50us'; echo end; done; } >over.slp
"$schedlab" run gmp replay,file=over.slp --machine sim:desktop8 --workers 1 >out 2>err
check a_load_that_is_not_met_is_said grep -q 'load not met: .* of 1025641 arrivals/s' out err
"$schedlab" run gmp replay,file=over.slp,rate=1 --machine sim:desktop8 --workers 1 >out 2>err
check one_that_is_met_is_not sh -c '! grep -q "load not met" out err'

# Where time goes: a quarter each in computing, a lock that the other one holds, a sleep and a call, within 2 %.
sed 's/,/\n/g' >quarters.slp <<'END'
schedlab-program 1
goroutine a main.quarters
run 1ms
lock mu
unlock mu,sleep 1ms,call 1ms
end
goroutine b main.holder
lock mu
run 2ms
unlock mu
end
END
"$schedlab" run gmp replay,file=quarters.slp --machine sim:desktop8 --workers 2 >out 2>err
check shares_of_a_life_are_told awk '$1 == "main.quarters" && $2 == 1 { n++; for (i = 4; i <= 10; i++) {
    wanted = i == 4 || i == 6 || i == 7 || i == 8 ? 25 : 0; if ($i < wanted - 2 || $i > wanted + 2) exit 1 } }
    END { exit n != 1 }' out

# The looks at the clock, and the replay's own calls on descriptors, are no part of the program's time.
{
    echo 'schedlab-program 1'
    echo 'goroutine a'
    for i in $(seq 10000); do echo 'run 200'; done
    echo 'end'
} >short.slp
{
    echo 'schedlab-program 1'
    echo 'goroutine a'
    for i in $(seq 500); do printf 'run 3us\nwake b %d\ncall cpu 2us\ncall cpu 2us\nwait network\ncall cpu 2us\n' "$i"; done
    printf 'end\ngoroutine b\n'
    for i in $(seq 500); do printf 'call cpu 2us\nwait network\ncall cpu 2us\nrun 3us\nwake a %d\ncall cpu 2us\n' "$i"; done
    echo 'end'
} >talk.slp
# takes FILE LEAST MOST: so many us, on one worker, in its first call.
takes() {
    "$schedlab" run gmp replay,file="$1.slp" --machine sim:desktop8 --workers 1 --format json >json 2>err
    python3 -c 'import json, sys; record, = json.load(open("json"))["records"]; us = record["found"]["makespan_ns"] / 1000
assert record["found"].keys() == record["found_last"].keys()
assert float(sys.argv[1]) <= us <= float(sys.argv[2]), us' "$2" "$3"
}
check short_steps_take_what_they_say takes short 2000 2100
check calls_on_descriptors_are_not_counted_twice takes talk 9000 9700

# wrong NAME PART SED: the closed service, changed, is refused in a line with PART.
wrong() {
    sed "$3" closed.yaml >wrong.yaml
    misuse "$1" "$2" -- wrong.yaml
}
wrong an_unknown_step_is_named 'wrong.yaml:8: "cpuu" is no step of a class; valid: read, cpu TIME, lock NAME TIME' 's/cpu 50/cpuu 50/'
wrong a_time_is_checked 'wrong.yaml:8: cpu "50q" is not valid; valid: 0 to 60 s' 's/cpu 50/cpu 50q/'
wrong a_step_is_whole 'write "lock NAME TIME"' 's/lock mu 2us/lock mu/'
wrong a_task_exists 'there is no task "sidd"' 's/spawn side/spawn sidd/'
wrong messages_are_received '2 messages to channel "lot" are received by nobody' 's/send log/send lot/'
wrong messages_are_sent 'channel "log" has 2 messages less than are received' 's/send log/receive log/'
wrong numbers_are_checked 'clients is "0"; valid: 1 to 100000' 's/clients: 1/clients: 0/'
wrong loops_are_open_or_closed 'leave one out' 's/^io: 3us/rate: 5/'
wrong unknown_keys_are_named 'thing' 's/^think/thing/'
wrong workers_receive_first 'the first step of a worker is' 's/receive log, //'
misuse options_of_traces_are_refused 'are for traces' -- closed.yaml --from 1ms

# Real programs ---------------------------------------------------------------------------------------------------------

for name in serve-p1 serve-p2 pipeline-p1 pipeline-p2 tree-p1 tree-p2 crowd-p1 crowd-p2 locked-p1 locked-p2 jobs-p1 jobs-p2 \
    fan-p1 fan-p2; do
    python3 -c 'import lzma, sys; sys.stdout.buffer.write(lzma.open(sys.argv[1]).read())' \
        "$tree/tests/traces/$name.trace.xz" >$name.trace
    run $name.trace -o $name.slp
    check "${name}_is_read_whole" [ "$status $(wc -c <err)" = '0 0' ]
done
check regions_are_requests_with_their_names [ "$(grep -c '^begin job$' jobs-p2.slp)" = 800 ]
check a_select_replays replays fan-p2.slp
check locks_of_a_program_replay replays locked-p2.slp
run locked-p2.trace --format json
check locks_of_a_program_are_told python3 -c 'import json; j = json.load(open("out"))
assert j["lock_sections"] > 0 and j["waits_for_locks"] > 0 and j["waits"]["mutex"]["count"] >= j["waits_for_locks"], j
assert any(p["for"] == "mutex" and p["function"] == "main.locked.func1" for p in j["places"]), j'
check a_crowd_is_whole [ "$(grep -c '^goroutine' crowd-p1.slp)" = 10001 ]
check peers_of_a_service_are_found grep -q '^wait network' serve-p2.slp
run serve-p1.trace
check all_but_few_waits_of_a_service_have_peers sh -c "grep -q '4096 waits for the network are for writes' out"
check a_service_replays replays serve-p1.slp
check its_work_is_the_same_on_all_variants sh -c "'$schedlab' run uthread kthread static grq perm gmp tasksteal contsteal \
replay,file=tree-p2.slp --machine sim:desktop8 --workers 4 --format json >json 2>err && python3 -c 'import json
records = json.load(open(\"json\"))[\"records\"]; assert len(records) == 8, len(records)
assert len({record[\"digest\"] for record in records}) == 1'"

finish
