#!/bin/bash
# test_hunt_variants.sh - a brief hunt of every variant: each scenario, one worker and three, both memory models.
#
#     tests/program/test_hunt_variants.sh build/schedlab [VARIANT...]
#
# Prints TAP. A failure's lines say how to replay it.
. "$(dirname "$0")/../tap.sh"
shift
[ $# -gt 0 ] || set -- kthread uthread static static,mailbox=mpsc grq grq,queue=mpmc perm gmp tasksteal contsteal contsteal,frames=pooled gmp,fence=sleeper \
    gmp,preempt=signal,slice_ns=50000,sysmon_ns=20000 gmp,ring=2,runnext_wake=off gmp,yield=local,preempt=none

"$schedlab" hunt --scenarios >scenarios
# Misuse (2) is a scenario that wants more workers than there are.
hunted() { # VARIANT OPTION...: the scenarios in which it fails
    local variant=$1 scenario
    shift
    while read -r scenario _; do
        "$schedlab" hunt "$variant" "$scenario" --executions 60 "$@" >one 2>&1 </dev/null
        [ $? = 1 ] && echo "$scenario" && cat one >>out
    done <scenarios
}

for variant; do
    : >out
    failed=$(hunted "$variant" --workers 1)
    check "${variant}_is_silent_on_one_worker" [ -z "$failed" ]
    failed=$(hunted "$variant" --workers 3 --algorithm surw)
    check "${variant}_is_silent_on_three" [ -z "$failed" ]
    failed=$(hunted "$variant" --workers 3 --algorithm random --memory tso)
    check "${variant}_is_silent_with_store_buffers" [ -z "$failed" ]
done

finish
