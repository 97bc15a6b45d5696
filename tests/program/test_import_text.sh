#!/bin/bash
# test_import_text.sh - schedlab import of the text that `go tool trace -d=parsed` prints, and of standard input.
#
#     tests/program/test_import_text.sh build/schedlab
#
# The first text is written by hand after Go's source (internal/trace event.go Event.String). tests/support/gotrace_print.py
# prints traces likewise; it shares no code with the program. Prints TAP.
. "$(dirname "$0")/../tap.sh"

input=/dev/null

# run ARGUMENT...: leaves out, err, status; the file $input is its standard input.
run() {
    timeout 600 "$schedlab" import "$@" >out 2>err <"$input"
    status=$?
}

# has FILE GOROUTINE STEPS: these are its steps, with "; " between.
has() {
    [ "$(awk -v id="$2" '$1 == "goroutine" { on = $2 == id; next } on' "$1" | paste -sd ';' | sed 's/;/; /g')" = "$3; end" ]
}

# same FILE FILE: the programs are equal; the comments say where they are from.
same() {
    cmp -s <(sed 2d "$1") <(sed 2d "$2")
}

# A text by hand -----------------------------------------------------------------------------------------------

# A frame is two lines that begin with tabs, here ">".
sed 's/^>>/\t\t/; s/^>/\t/' >hand.txt <<'END'
M=-1 P=-1 G=-1 Sync Time=1000001 N=1 Trace=1000000 Mono=5 Wall=2026-01-01T00:00:00Z
M=1 P=-1 G=-1 StateTransition Time=1000002 Resource=Proc(0) Reason="" ProcID=0 Undetermined->Running
M=1 P=0 G=-1 StateTransition Time=1000100 Resource=Goroutine(1) Reason="" GoID=1 Undetermined->Running
M=1 P=0 G=1 Metric Time=1000110 Name="/sched/gomaxprocs:threads" Value=Value{Uint64(2)}
Stack=
>runtime.startTheWorld @ 0x44be3e
>>/go/src/runtime/proc.go:1546

M=1 P=0 G=1 RangeBegin Time=1000120 Name="stop-the-world (start trace)" Scope=Goroutine(1)
M=1 P=0 G=1 RangeEnd Time=1000520 Name="stop-the-world (start trace)" Scope=Goroutine(1) Attributes=[]
M=1 P=0 G=1 StateTransition Time=1001100 Resource=Goroutine(7) Reason="" GoID=7 NotExist->Runnable
TransitionStack=
>main.worker @ 0x4b4783
>>/src/main.go:7

Stack=
>main.main @ 0x4b4799
>>/src/main.go:20
>runtime.main @ 0x44be3f
>>/go/src/runtime/proc.go:283

M=1 P=0 G=1 StateTransition Time=1002100 Resource=Goroutine(1) Reason="sync" GoID=1 Running->Waiting
TransitionStack=
>sync.(*WaitGroup).Wait @ 0x4b4799
>>/go/src/sync/waitgroup.go:120
>runtime.main @ 0x44be3f
>>/go/src/runtime/proc.go:283

Stack=
>sync.(*WaitGroup).Wait @ 0x4b4799
>>/go/src/sync/waitgroup.go:120
>runtime.main @ 0x44be3f
>>/go/src/runtime/proc.go:283

M=1 P=0 G=-1 StateTransition Time=1002200 Resource=Goroutine(7) Reason="" GoID=7 Runnable->Running
M=1 P=0 G=7 StackSample Time=1003000
Stack=
>main.worker @ 0x4b4783
>>/src/main.go:7

M=1 P=0 G=7 Log Time=1004000 Task=0 Category="says" Message="\n GoID=5 Running->Waiting"
M=1 P=0 G=7 StateTransition Time=1005200 Resource=Goroutine(7) Reason="" GoID=7 Running->Syscall
TransitionStack=
>syscall.read @ 0x4b4783
>>/go/src/syscall/zsyscall.go:736
>main.worker @ 0x4b4783
>>/src/main.go:8

Stack=
>syscall.read @ 0x4b4783
>>/go/src/syscall/zsyscall.go:736
>main.worker @ 0x4b4783
>>/src/main.go:8

M=1 P=0 G=7 StateTransition Time=1007200 Resource=Goroutine(7) Reason="" GoID=7 Syscall->Running
M=1 P=0 G=7 RegionBegin Time=1007300 Task=3 Type="a \"good\" Task=9 \u0001"
M=1 P=0 G=7 RegionEnd Time=1007800 Task=3 Type="a \"good\" Task=9 \u0001"
M=1 P=0 G=7 StateTransition Time=1008300 Resource=Goroutine(1) Reason="" GoID=1 Waiting->Runnable
Stack=
>sync.(*WaitGroup).Done @ 0x4b4783
>>/go/src/sync/waitgroup.go:156

M=1 P=0 G=7 StateTransition Time=1009300 Resource=Goroutine(7) Reason="" GoID=7 Running->NotExist
M=2 P=1 G=-1 StateTransition Time=1009400 Resource=Goroutine(1) Reason="" GoID=1 Runnable->Running
M=2 P=1 G=1 StateTransition Time=1010400 Resource=Goroutine(1) Reason="runtime.Gosched" GoID=1 Running->Runnable
M=-1 P=-1 G=-1 Sync Time=1010401 N=2 Trace=1010400 Mono=5 Wall=2026-01-01T00:00:00Z
M=2 P=1 G=-1 StateTransition Time=1010450 Resource=Goroutine(1) Reason="" GoID=1 Runnable->Runnable
M=2 P=1 G=-1 StateTransition Time=1010500 Resource=Goroutine(1) Reason="" GoID=1 Runnable->Running
M=2 P=1 G=1 StateTransition Time=1011500 Resource=Goroutine(9) Reason="" GoID=9 NotExist->Waiting
TransitionStack=
>main.all @ 0x4b4783
>>/src/main.go:30

M=2 P=1 G=1 StateTransition Time=1012500 Resource=Goroutine(9) Reason="" GoID=9 Waiting->Runnable
M=2 P=1 G=1 StateTransition Time=1012501 Resource=Goroutine(1) Reason="" GoID=1 Running->Waiting
M=2 P=1 G=-1 StateTransition Time=1012502 Resource=Goroutine(9) Reason="" GoID=9 Runnable->Running
M=2 P=1 G=9 StateTransition Time=1013500 Resource=Goroutine(1) Reason="" GoID=1 Waiting->Runnable
M=2 P=1 G=9 StateTransition Time=1013501 Resource=Goroutine(9) Reason="" GoID=9 Running->NotExist
M=2 P=1 G=-1 StateTransition Time=1013502 Resource=Goroutine(1) Reason="" GoID=1 Runnable->Running
M=2 P=1 G=1 Experimental Time=1014500 Name=SpanAlloc Args=[id=1, npages_value=2]
M=-1 P=-1 G=-1 Sync Time=1014501 N=3
END
input=hand.txt
run - -o hand.slp
check a_text_is_read eval '[ "$status $(wc -c <err)" = "0 0" ]'
check it_says_where_it_is_from grep -qx '# from a trace of Go 1.22 or later' hand.slp
main="run 1000; go 7; run 1000; wait waitgroup; run 1000; yield; run 1000; go 9; run 1000; wake 9 1; wait coroutine"
check goroutines_wait_and_hand_over has hand.slp 1 "$main; run 1000"
check goroutines_call_and_wake has hand.slp 7 \
    "run 3000; call cpu 2000; run 100; begin a_\"good\"_Task=9__; run 500; done; run 500; wake 1 1; run 1000"
check coroutines_begin_with_a_wait has hand.slp 9 "wait coroutine; run 1000; wake 1 2"
check names_are_kept [ "$(grep -c '^goroutine \(1 runtime.main\|7 main.worker\|9 main.all\)$' hand.slp)" = 3 ]
check processors_are_told grep -q 'GOMAXPROCS=2; 23 events' out
check stops_of_the_world_are_told grep -qE '^  the world stopped +1 +400 ns ' out
input=/dev/null
run hand.txt -o file.slp
check a_file_is_as_good same hand.slp file.slp
run <(cat hand.txt) -o pipe.slp
check a_pipe_too same hand.slp pipe.slp
sed -e 's/ N=.*//; s/Value{\(.*\)}/\1/; 1s/Time=.*/Time=1/' hand.txt >old.txt
run old.txt -o old.slp
check what_go_122_prints_is_read eval 'has old.slp 1 "$main; run 1000" && grep -q "GOMAXPROCS=2" out'
sed 's/$/\r/' hand.txt >crlf.txt
run crlf.txt -o crlf.slp
check other_ends_of_lines_are_read same hand.slp crlf.slp
"$schedlab" run gmp grq replay,file=hand.slp --machine sim:desktop8 --workers 2 --timeout 0 >out 2>err
check it_replays [ $? = 0 ]

# Tears ------------------------------------------------------------------------------------------------------------

# torn NAME WHERE STEPS EVENT: standard input is torn there. Goroutine 7 has done that before, and EVENT was the last.
torn() {
    local where=$2 steps=$3 event=$4
    cat >torn.txt
    input=torn.txt
    run - -o torn.slp
    input=/dev/null
    check "$1" eval '[ $status = 0 ] && has torn.slp 7 "$steps" &&
        grep -qxE "schedlab import: standard input: read up to a tear: $where; the last event of a goroutine before it: $event, at .*" err'
}

line=$(grep -n 'Time=1008300' hand.txt | cut -d : -f 1)
before="run 3000; call cpu 2000; run 100; begin a_\"good\"_Task=9__; run 500; done"
region='UserRegionEnd of 7 \(main.worker\)' wake='GoUnblock of 1 \(.*\)'
torn a_line_may_be_torn "line $line: the text ends within this line" "$before" "$region" \
    < <(head -n "$line" hand.txt | head -c -20)
torn a_stack_may_be_torn "line $((line + 2)): the text ends within a stack" "$before" "$region" \
    < <(head -n $((line + 2)) hand.txt)
torn an_event_may_be_torn "line $((line + 5)): this is no event of a trace" \
    "$before; run 500; wake 1 1" "$wake" < <(head -n $((line + 4)) hand.txt && echo 'M=1 P=0')
torn another_text_may_follow "line $((line + 5)): this is no event of a trace" "$before; run 500; wake 1 1" "$wake" \
    < <(head -n $((line + 4)) hand.txt && echo 'failed to advance')
torn a_frame_may_be_torn "line $((line + 2)): a frame of a stack is not whole" "$before" "$region" \
    < <(head -n $((line + 1)) hand.txt && printf '\tsync.(*WaitGroup)\n\n')
sed 1,40d hand.txt | sed '/^M=/,$!d' >tail.txt
run tail.txt -o tail.slp
check a_text_may_begin_anywhere eval '[ $status = 0 ] && grep -q "^wake 1 1" tail.slp'

# Round trips -------------------------------------------------------------------------------------------------------

# A goroutine that only waits comes first: the first times of a text are a nanosecond or two late.
cat >made.events <<'END'
1 0 status_stack 99 18446744073709551615 4 main.idle
1 100 status_stack 1 1 2 runtime.main
2 110 status_stack 5 2 2 main.server
1 120 procs 2 -
1 1000 create 7 main.worker main.main
1 2000 block chan runtime.chanrecv;main.main;runtime.main
1 2100 start 7
1 5100 call 0 syscall.write;main.worker
1 7100 back
2 7150 call 0 syscall.read;main.server
2 7190 back
2 7200 block network internal/poll.(*FD).Read;main.server
1 7300 call 0 syscall.fsync;main.worker
1 57200 back_blocked
1 57300 start 7
1 58300 stop preempted main.worker
1 58400 start 7
3 58450 unblock 5 -
2 58460 start 5
1 59400 unblock 1 runtime.send;main.worker
1 60400 destroy
1 60500 start 1
1 61000 create_blocked 9 main.iterator main.main
1 61500 switch 9
1 61600 switch_destroy 1
1 62600 block sleep time.Sleep;main.main
2 63000 destroy
1 72600 unblock 1 -
1 73000 start 1
1 73500 region 0 request main.main
1 74300 region_end 0 request main.main
generation
1 75000 status_stack 1 1 2 runtime.main
1 75005 task 5 0 request main.main
1 75008 task_end 5 main.main
1 75010 status 99 18446744073709551615 4
1 76000 destroy
END
python3 "$tree/tests/support/gotrace_make.py" <made.events >made.trace
run made.trace -o binary.slp --format json
mv out binary.json
for form in "" --old; do
    python3 "$tree/tests/support/gotrace_print.py" $form <made.trace >made.txt
    run made.txt -o text.slp --format json
    check "a_text_is_the_same_program$form" same binary.slp text.slp
    check "its_facts_are_the_same$form" cmp -s <(sed '/"go"/d' binary.json) <(sed '/"go"/d' out)
done
check and_it_has_steps [ "$(grep -c . text.slp)" -gt 35 ]
head -c 100000 /dev/zero | tr '\0' a >name
sed "s/main.iterator/$(cat name)/" made.txt >long.txt
run long.txt -o long.slp
check long_names_are_cut sh -c '[ $(wc -L <long.slp) -lt 300 ] && grep -q "^goroutine 9 aaa" long.slp'

# near FILE FILE: equal but for nanoseconds. Events of one tick of Go's clock are a nanosecond apart in the text.
cat >near.py <<'END'
import sys
def steps(path):
    made, run = [], 0
    for line in open(path).read().splitlines()[2:]:
        words = line.split()
        if words[0] == "run":
            run += int(words[1])
            continue
        timed = words[0] in ("call", "sleep", "poll")
        made.append((words[:-1] if timed else words, run, int(words[-1]) if timed else 0))
        run = 0
    return made
left, right = steps(sys.argv[1]), steps(sys.argv[2])
assert len(left) == len(right), (len(left), len(right))
for (a, ran, lasted), (b, ran_too, lasted_too) in zip(left, right):
    assert a == b and abs(ran - ran_too) <= 200 and abs(lasted - lasted_too) <= 200, (a, b, ran, ran_too, lasted, lasted_too)
END
for name in serve-p2 fan-p2 jobs-p2 locked-p2; do
    python3 -c 'import lzma, sys; sys.stdout.buffer.write(lzma.open(sys.argv[1]).read())' \
        "$tree/tests/traces/$name.trace.xz" >$name.trace
    python3 "$tree/tests/support/gotrace_print.py" <$name.trace >$name.txt
    run $name.trace -o binary.slp --format json
    mv out binary.json
    run $name.txt -o text.slp --format json
    check "${name}_is_nearly_the_same_program" python3 near.py binary.slp text.slp
    check "${name}_has_the_same_counts" python3 -c 'import json; a, b = (json.load(open(name)) for name in ("binary.json", "out"))
for facts in (a, b): facts["waits"] = {word: wait["count"] for word, wait in facts["waits"].items()}
keys = ["events", "processors", "goroutines", "goroutines_left_out", "waits_for_peers", "waits_outside", "waits", "torn"]
assert [a[key] for key in keys] == [b[key] for key in keys]'
done

# Other texts ----------------------------------------------------------------------------------------------------------

input=made.trace
run - -o input.slp
run made.trace -o binary.slp
check standard_input_may_be_a_trace cmp -s input.slp binary.slp
input=/dev/null
run <(cat made.trace) -o input.slp
check so_may_a_pipe cmp -s input.slp binary.slp
misuse nothing_is_no_trace 'standard input: no execution trace of Go (it is empty)' -- -

# named NAME PART: standard input is refused in a line that has the part.
named() {
    cat >other.txt
    input=other.txt
    misuse "$1" "$2" -- -
    input=/dev/null
    misuse "$1_in_a_file" "other.txt: no execution trace of Go" -- other.txt
    misuse "$1_in_a_pipe" "$2" -- <(cat other.txt)
}
named the_wire_text_is_named '`go tool trace -d=wire`; take -d=parsed' <<<'EventBatch gen=1 m=30945 time=599112294691 size=64'
named the_wire_text_of_a_file_is_named '`go tool trace -d=wire`; take -d=parsed' <<<'Trace Go1.23'
named the_footprint_is_named '`go tool trace -d=footprint`; take -d=parsed' <<<'Event                  Bytes  %       Count  %'
named a_profile_is_named 'a profile as `go tool pprof` prints it' <<<'File: serve'
named a_profile_of_a_service_is_named 'take /debug/pprof/trace' <<<'goroutine profile: total 5'
named an_older_text_is_named 'the text of the older format, which Go prints up to 1.21; valid: of Go 1.22' \
    <<<'6000 GoStart p=0 g=1 off=120 g=1 seq=0'
named another_text_is_refused 'it is something else' <<<'M=1 P=2 of a letter'
TMPDIR=$PWD/nowhere
export TMPDIR
misuse a_copy_has_to_be_written 'cannot be copied to a file in $TMPDIR or /var/tmp: No such file' -- hand.txt

finish
