#!/bin/bash
# test_import_large.sh - schedlab import: the memory for a large trace has a bound.
#
#     tests/program/test_import_large.sh build/schedlab
#
# tests/support/gotrace_make.py makes the trace. Prints TAP.
. "$(dirname "$0")/../tap.sh"

python3 "$tree/tests/support/gotrace_make.py" --big 106 >large.trace
check the_trace_is_large [ "$(stat -c %s large.trace)" -ge 99000000 ]
cat >bounded.py <<'END'
import os, sys
most_kib, command = int(sys.argv[1]) * 10**6 // 1024, sys.argv[2:]
child = os.spawnv(os.P_NOWAIT, command[0], command)
_, status, used = os.wait4(child, 0)
print(f"status {status}, {used.ru_maxrss} KiB of {most_kib}", file=sys.stderr)
sys.exit(status != 0 or used.ru_maxrss > most_kib)
END
# within MB ARGUMENT...: leaves out, err.
within() {
    python3 bounded.py "$1" "$schedlab" import "${@:2}" >out 2>err </dev/null
}
within 100 large.trace --format json
report $(($? == 0)) it_takes_less_than_100_MB
check all_of_it_was_read python3 -c 'import json; facts = json.load(open("out"))
assert facts["events"] > 19900000 and facts["torn"] is None and facts["goroutines"] == 400, facts'
python3 "$tree/tests/support/gotrace_make.py" --big 10 >small.trace
within 20 small.trace --format json
report $(($? != 0)) a_bound_that_is_too_low_is_seen

finish
