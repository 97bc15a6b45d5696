#!/bin/bash
# test_hunt_variants.sh - a brief hunt of every variant: each scenario, one worker and three, both memory models.
#
#     tests/program/test_hunt_variants.sh build/schedlab [VARIANT...]
#
# Prints TAP. A failure's lines say how to replay it.
. "$(dirname "$0")/../tap.sh"
shift
[ $# -gt 0 ] || set -- kthread uthread static static,mailbox=mpsc grq grq,queue=mpmc grq,queue=msqueue grq,queue=faa grq,queue=multi perm permits permits,slot_age_ns=0 gmp gmp,globq=mpmc gmp,queue=bwos gmp,queue=bwos,ring=8 gmp,width=load tasksteal tasksteal,deque=the tasksteal,deque=abp tasksteal,deque=half tasksteal,promote=always tasksteal,promote=always,deque=half tasksteal,promote=beat,beat_ns=1000 contsteal contsteal,frames=pooled contsteal,frames=pooled,deque=the contsteal,frames=pooled,deque=abp contsteal,frames=pooled,deque=half contsteal,deque=half contsteal,join=counter contsteal,join=lock contsteal,frames=pooled,join=counter contsteal,frames=pooled,join=lock gmp,fence=sleeper \
    gmp,preempt=signal,slice_ns=50000,sysmon_ns=20000 gmp,ring=2,runnext_wake=off gmp,yield=local,preempt=none

# is_silent WORKERS MEMORY ALGORITHM: in all scenarios that so many workers can play.
is_silent() {
    "$schedlab" hunt --campaign "$variant" --workers "$1" --memory "$2" --algorithm "$3" --executions 20 --results runs >all 2>err </dev/null
    local status=$?
    grep -A 1 '^failed' all >out
    return $status
}

for variant; do
    check "${variant}_is_silent_on_one_worker" is_silent 1 sc random
    check "${variant}_is_silent_on_three" is_silent 3 sc surw
    check "${variant}_is_silent_with_store_buffers" is_silent 3 tso random
done

finish
