#!/usr/bin/env python3
"""harass.py - runs a command and stops and continues its processes at random.

    tests/harass.py [--seed N] [--stop-ms MAX] [--run-ms MAX] [--limit S] -- COMMAND [ARGUMENT...]

COMMAND runs in a session of its own. Again and again one of the session's processes, with all its
threads, is stopped for 1 to --stop-ms ms and continued, as on a machine that others use as well.
A test that passes only where it runs without a pause is a test of the machine. Which process is
taken, and for how long, follows from the seed, which is printed; what the processes do meanwhile
does not.

Ends with the status of COMMAND, 128 and the signal's number if one ended it, 127 if it cannot be
started, or 124 after --limit seconds.

Example:
    tests/harass.py --seed 7 -- build/release/tests/test_timers
    CASE='gmp/*wake*' tests/harass.py -- build/release/tests/conformance --short
"""
import argparse
import os
import random
import signal
import subprocess
import sys
import time


def stat_of(pid):
    """State and session of a process, or None."""
    try:
        with open(f"/proc/{pid}/stat") as file:
            fields = file.read().rpartition(")")[2].split()
    except OSError:
        return None
    return fields[0], int(fields[3])


def members(session):
    """The processes of a session that have not ended."""
    found = []
    for name in os.listdir("/proc"):
        stat = stat_of(name) if name.isdigit() else None
        if stat and stat[1] == session and stat[0] not in "ZX":
            found.append(int(name))
    return found


def send(pid, session, number):
    """Signals the process if it is still of the session: numbers are used again."""
    stat = stat_of(pid)
    if not stat or stat[1] != session:
        return False
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        return False
    return True


def child_awaits(seconds):
    """Waits that long, or until the child ends, if that comes first."""
    signal.sigtimedwait({signal.SIGCHLD}, seconds)


def harass(child, options):
    """Returns how often something was stopped, or None if the limit came first."""
    chance, stops, end = random.Random(options.seed), 0, time.monotonic() + options.limit
    while child.poll() is None:
        if time.monotonic() > end:
            return None
        child_awaits(chance.uniform(0, options.run_ms) / 1000)
        draw, stop_ms = chance.random(), chance.uniform(1, options.stop_ms)
        pids = sorted(members(child.pid))
        if not pids:
            continue
        victim = pids[int(draw * len(pids))]
        if send(victim, child.pid, signal.SIGSTOP):
            stops += 1
            child_awaits(stop_ms / 1000)
            send(victim, child.pid, signal.SIGCONT)
    return stops


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter,
        usage="tests/harass.py [--seed N] [--stop-ms MAX] [--run-ms MAX] [--limit S] -- COMMAND...")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 31))
    parser.add_argument("--stop-ms", type=float, default=50, help="longest stop (50)")
    parser.add_argument("--run-ms", type=float, default=20, help="longest run between stops (20)")
    parser.add_argument("--limit", type=float, default=900, help="seconds until it is killed (900)")
    parser.add_argument("command", nargs="+", metavar="COMMAND")
    options = parser.parse_args()
    if options.stop_ms < 1 or options.run_ms < 0:
        parser.error("valid are --stop-ms from 1 and --run-ms from 0")
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGCHLD})
    try:
        child = subprocess.Popen(options.command, start_new_session=True,
                                 preexec_fn=lambda: signal.pthread_sigmask(signal.SIG_SETMASK, mask))
    except OSError as error:
        print(f"harass.py: {options.command[0]}: {error.strerror}", file=sys.stderr)
        return 127
    stops = None
    try:
        stops = harass(child, options)
    finally:
        if stops is None:
            for pid in members(child.pid):
                send(pid, child.pid, signal.SIGKILL)
        status = child.wait()
    print(f"harass.py: --seed {options.seed}, {stops if stops is not None else 'too many'} stops",
          file=sys.stderr)
    if stops is None:
        return 124
    return 128 - status if status < 0 else status


if __name__ == "__main__":
    sys.exit(main())
