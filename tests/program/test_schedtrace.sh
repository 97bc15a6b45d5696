#!/bin/bash
# test_schedtrace.sh - run --schedtrace and --scheddetail: lines about the scheduler while it runs.
#
#     tests/program/test_schedtrace.sh build/schedlab
#
# The format is that of Go 1.26 runtime/proc.go schedtrace, so that what reads Go's reads these. Prints TAP.
. "$(dirname "$0")/../tap.sh"

# run ARGUMENT...: leaves out, err, status.
run() {
    "$schedlab" run --reps 1 --iterations 1 --warmup 0 --events none --workers 2 "$@" >out 2>err </dev/null
    status=$?
}

# Calls that sleep in the kernel: however fast the machine is, the run lasts 200 traces.
work=calls,n=20,sleep_ns=10000000
head='SCHED [0-9]+ms: gomaxprocs=WORKERS idleprocs=[0-9]+ threads=[0-9]+ spinningthreads=[0-9]+ needspinning=0 idlethreads=[0-9]+ runqueue=[0-9]+'
brief="$head \[( [0-9]+){QUEUES} \] schedticks=\[( [0-9]+){QUEUES} \] wastedsamples=[0-9]+"
detail="$head gcwaiting=false nmidlelocked=[0-9]+ stopwait=0 sysmonwait=false wastedsamples=[0-9]+"
nil='(nil|[0-9]+)'
p_line="  P[0-9]+: status=(0|1) schedtick=[0-9]+ syscalltick=[0-9]+ m=$nil runqsize=[0-9]+ gfreecnt=[0-9]+ timerslen=[0-9]+"
m_line="  M[0-9]+: p=$nil curg=$nil mallocing=0 throwing=0 preemptoff= locks=0 dying=0 spinning=(true|false) blocked=(true|false) lockedg=$nil"
g_line="  G[0-9]+: status=[1-4]\([A-Za-z. /]*\) m=$nil lockedm=$nil"

# all_are REGEX FILE: of this variant; there is a line, and each of them is one of these.
all_are() {
    local regex=${1//WORKERS/$workers}
    regex=${regex//QUEUES/$queues}
    [ -s "$2" ] && ! grep -vqxE "$regex" "$2"
}

# Each SCHED line has a line for each P, then one for each M, then one for each G: none at the very end.
is_in_order() {
    awk -v queues="$queues" '
        /^SCHED/ { if (NR > 1 && (ps != queues || ms == 0)) exit bad = 1; all += gs; ps = ms = gs = 0 }
        /^  P/   { if ($1 != "P" ps++ ":" || ms) exit bad = 1 }
        /^  M/   { ms++; if (gs) exit bad = 1 }
        /^  G/   { gs++ }
        END      { exit bad || ps != queues || ms == 0 || all + gs == 0 }' "$1"
}

for variant in kthread uthread static grq perm gmp tasksteal contsteal; do
    workers=2 queues=2
    [ $variant = uthread ] && workers=1 queues=1
    [ $variant = kthread ] && queues=1
    run "$variant" $work --schedtrace 1ms
    grep -v '^schedlab run: ' err >lines # that is said of this machine: too few cores, time that was lost
    check "${variant}_traces_like_go" all_are "$brief" lines
    check "${variant}_runs_as_without" [ $status = 0 ]
    check "${variant}_prints_its_table_alone" [ "$(grep -c SCHED out)" = 0 ]
    run "$variant" $work --schedtrace 1ms --scheddetail
    grep -v '^schedlab run: ' err >lines # that is said of this machine: too few cores, time that was lost
    check "${variant}_details_like_go" all_are "$detail|$p_line|$m_line|$g_line" lines
    check "${variant}_has_a_line_for_each_p_m_and_g" is_in_order lines
done

# The lines are true: the goroutine is in its call nearly all the time, and main waits for it.
run gmp $work --schedtrace 1ms --scheddetail
check it_shows_a_goroutine_in_a_call grep -qE '^  G[0-9]+: status=3\(\) m=[0-9]+ lockedm=nil$' err
check it_shows_what_main_waits_for grep -qE '^  G[0-9]+: status=4\(sync.WaitGroup.Wait\) m=nil lockedm=nil$' err
# One worker, which the first of two hogs keeps: the other waits for nothing but its turn.
run gmp,preempt=none slice,hogs=2,chunks=50000 --workers 1 --schedtrace 1ms --scheddetail
check it_shows_who_runs grep -qE '^  G[0-9]+: status=2\(\) m=[0-9]+ lockedm=nil$' err
check it_shows_who_could_run grep -qE '^  G[0-9]+: status=1\(\) m=nil lockedm=nil$' err
run gmp $work --schedtrace 3600s
check a_run_that_is_shorter_has_no_lines [ "$(grep -c SCHED err)" = 0 ]
run gmp $work
check without_the_option_there_are_none [ "$(grep -c SCHED err)" = 0 ]
run gmp,sysmon=off $work --schedtrace 1ms
check it_needs_no_sysmon grep -q SCHED err

misuse scheddetail_alone_is_a_misuse "--scheddetail comes with --schedtrace=MS" -- gmp $work --scheddetail
misuse schedtrace_of_never_is_a_misuse "--schedtrace=0 is not valid; valid: above 0" -- gmp $work --schedtrace 0
misuse a_word_is_a_misuse "--schedtrace=often is not valid" -- gmp $work --schedtrace often

finish
