#!/bin/bash
# test_requests.sh - where the time of a replayed program's requests goes, at p50 and p99.
#
#     tests/program/test_requests.sh build/schedlab
#
# How long each part takes is known from how the programs here are written. Prints TAP.
. "$(dirname "$0")/../tap.sh"

# replayed NAME <STEPS: leaves out, the run's output on a simulated machine.
replayed() {
    { echo 'schedlab-program 1' && cat; } >"$1.slp"
    "$schedlab" run gmp "replay,file=$1.slp" --machine sim:desktop8 --workers 4 >out 2>err </dev/null
    cat err >>out
}

# part WORD P50 P99: that row of the table has these times in us, within 250 us: calls and timers end late.
part() {
    awk -v word="$1" -v p50="$2" -v p99="$3" 'function near(a, b) { return a - b < 250 && b - a < 250 }
        $1 == "where" { on = 1; next }
        on && index($0, "  " word " ") == 1 { found = near($(NF - 1), p50) && near($NF, p99) }
        END { exit !found }' out
}

# The second request comes while the first one is served.
replayed own <<'END'
goroutine c
poll at 1ms
begin
call 2ms
done
poll at 2ms
begin
call 4ms
done
end
END
check a_request_behind_the_last_one_is_told part 'behind the connection'\''s last request' 0 1000
check calls_are_told part 'in a call' 2000 4000
check parts_add_up_to_all part 'in all' 2000 5000

# The third one is behind both.
replayed queue <<'END'
goroutine c
poll at 1ms
begin
call 2ms
done
poll at 1ms
begin
call 2ms
done
poll at 1ms
begin
call 2ms
done
end
END
check a_request_is_behind_all_before_it part 'behind the connection'\''s last request' 2000 4000
check what_served_them_is_not_its_own part 'in a call' 2000 2000

# A client's request is served by another goroutine, which is busy at first, takes a lock that is held, and computes.
replayed served <<'END'
goroutine holder
lock table
call 3ms
unlock table
end
goroutine client
poll at 1ms
begin
wake connection
wait reply
done
end
goroutine connection
call 2ms
wait network
run 500us
lock table
call 300us
unlock table
wake client
end
END
check who_serves_a_request_is_followed part 'behind the connection'\''s last request' 1000 1000
check locks_have_their_names part 'lock table' 500 500
check computing_is_told part running 500 500
check calls_of_who_serves_are_told part 'in a call' 300 300
check all_of_it_is_told part 'in all' 2300 2300

replayed lives <<'END'
goroutine a
run 200us
wait
end
goroutine b
run 1ms
wake a
end
END
check lives_stand_in_for_requests grep -q "^where a goroutine's life goes, us" out
check who_is_waited_for_is_followed part running 1000 1000
check no_goroutine_waits_for_the_unknown sh -c '! grep -q "waiting for others" out'
finish
