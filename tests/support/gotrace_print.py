#!/usr/bin/env python3
"""Prints an execution trace of Go, format v2, as `go tool trace -d=parsed` does.

    gotrace_print.py [--old] <FILE >TEXT      --old: as Go 1.22 to 1.24 print it

Source: Go 1.26 internal/trace event.go Event.String, reader.go ReadEvent, order.go. It shares no code with the
program. It follows goroutines, not processors: P is -1, and no event waits for one. Samples of the CPU are left out.
"""
import sys

ARGS = {9: 3, 10: 3, 11: 1, 12: 4, 13: 3, 14: 4, 15: 2, 16: 3, 17: 1, 18: 1, 19: 3, 20: 3, 21: 4, 22: 3, 23: 1, 24: 1, 25: 4,
        26: 3, 27: 1, 28: 2, 29: 3, 30: 2, 31: 2, 32: 2, 33: 3, 34: 2, 35: 2, 36: 1, 37: 2, 38: 2, 39: 2, 40: 5, 41: 3, 42: 4,
        43: 4, 44: 5, 45: 3, 46: 3, 47: 4, 48: 5, 51: 4}
STACK = {9: 1, 14: 2, 19: 1, 20: 1, 21: 2, 22: 1, 26: 1, 28: 0, 31: 0, 34: 0, 40: 3, 41: 1, 42: 2, 43: 2, 44: 3, 47: 2, 48: 3}
STATES = ["Undetermined", "Runnable", "Running", "Syscall", "Waiting"]
RANGES = {29: "Active", 30: "Begin", 31: "End", 32: "Begin", 33: "Active", 34: "End", 35: "Active", 36: "Begin", 37: "End"}
OF = {14: "NotExist->Runnable", 47: "NotExist->Waiting", 15: "NotExist->Syscall", 16: "Runnable->Running",
      17: "Running->NotExist", 18: "Syscall->NotExist", 19: "Running->Runnable", 20: "Running->Waiting",
      21: "Waiting->Runnable", 22: "Running->Syscall", 23: "Syscall->Running", 24: "Syscall->Runnable"}
OF_CONTEXT = (17, 18, 19, 20, 22, 23, 24)  # goroutine events that name none: the thread's


class Bytes:
    def __init__(self, data):
        self.data, self.at = data, 0

    def more(self):
        return self.at < len(self.data)

    def byte(self):
        self.at += 1
        return self.data[self.at - 1]

    def number(self):
        value = shift = 0
        while True:
            byte = self.byte()
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    def take(self, size):
        self.at += size
        return self.data[self.at - size:self.at]


def generations(data):
    """[(strings, stacks, frequency, first ticks, {thread: [event: (ticks, kind, args)]})]"""
    at, now = Bytes(data), {}
    at.take(16)
    while at.more():
        kind = at.byte()
        if kind == 52:
            continue
        if kind == 49:
            at.byte()
        generation, thread, ticks, size = at.number(), at.number(), at.number(), at.number()
        part = Bytes(at.take(size))
        strings, stacks, clock, threads = now.setdefault(generation, ({}, {}, [0, None], {}))
        first = part.data[0]
        if first == 4:
            part.byte()
            while part.more():
                assert part.byte() == 5
                number = part.number()
                strings[number] = part.take(part.number()).decode()
        elif first == 2:
            part.byte()
            while part.more():
                assert part.byte() == 3
                number = part.number()
                stacks[number] = [[part.number() for _ in range(4)] for _ in range(part.number())]
        elif first in (8, 50):
            part.byte()
            if first == 50:
                part.byte()
            clock[0] = part.number()
        elif first != 6 and kind == 1:
            if clock[1] is None or ticks < clock[1]:
                clock[1] = ticks
            events = threads.setdefault(thread, [])
            while part.more():
                event = part.byte()
                numbers = [part.number() for _ in range(ARGS[event])]
                ticks += numbers[0]
                events.append((ticks, event, numbers[1:]))
    return [(strings, stacks, clock[0], clock[1], threads) for _, (strings, stacks, clock, threads) in sorted(now.items())]


def quoted(text):
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\t", "\\t") + '"'


class Printer:
    def __init__(self, to, old):
        self.to, self.old, self.last, self.syncs = to, old, 0, 0
        self.states, self.sequences, self.on, self.stopped = {}, {}, {}, ""

    def stack(self, name, number):
        frames = "".join(f"\t{self.strings[f]} @ 0x{pc:x}\n\t\t{self.strings[file]}:{line}\n"
                         for pc, f, file, line in self.stacks.get(number, []))
        return f"\n{name}=\n{frames}" if number else ""

    def line(self, thread, on, ns, kind, rest, transition=0, stack=0):
        self.last = ns = max(ns, self.last + 1)
        self.to.write(f"M={thread} P=-1 G={on} {kind} Time={ns}{rest}"
                      f"{self.stack('TransitionStack', transition)}{self.stack('Stack', stack)}\n")

    def sync(self, ticks):
        self.syncs += 1
        if not self.old and self.last == 0:
            self.last = self.ns(ticks)
        self.line(-1, -1, 0, "Sync", "" if self.old else f" N={self.syncs}")

    def ns(self, ticks):
        return int(ticks * (1e9 / self.frequency))

    def may_come(self, event):
        _, kind, args = event
        state = self.states.get(args[0]) if args else None
        if kind in (16, 21, 45, 46):
            return state == ("Runnable" if kind == 16 else "Waiting") and self.sequences[args[0]] + 1 == args[1]
        return kind not in (25, 48) or state in (None, STATES[args[2]])

    def generation(self, strings, stacks, frequency, first, threads, is_first):
        self.strings, self.stacks, self.frequency = strings, stacks, frequency
        self.sync(first)
        left = {thread: iter(events) for thread, events in threads.items()}
        heads = {thread: next(events) for thread, events in left.items()}
        while heads:
            order = sorted(heads, key=lambda thread: heads[thread][0])
            thread = next(thread for thread in order if self.may_come(heads[thread]))
            self.event(thread, *heads[thread])
            heads[thread] = next(left[thread], None)
            if heads[thread] is None:
                del heads[thread]

    def transition(self, thread, on, ns, g, change, reason="", transition=0, stack=0):
        self.line(thread, on, ns, "StateTransition", f" Resource=Goroutine({g}) Reason={quoted(reason)} GoID={g} {change}",
                  transition, stack)
        self.states[g] = change.split("->")[1]

    def event(self, thread, ticks, kind, args):
        on, ns = self.on.get(thread, -1), self.ns(ticks)
        stack = args[STACK[kind]] if kind in STACK else 0
        say = lambda word, rest: self.line(thread, on, ns, word, rest, 0, stack)
        if kind in (45, 46):
            self.transition(thread, on, ns, args[0], "Waiting->Runnable")
            self.transition(thread, on, ns, on, "Running->Waiting" if kind == 45 else "Running->NotExist")
            self.transition(thread, -1, ns, args[0], "Runnable->Running")
            self.on[thread], self.sequences[args[0]] = args[0], args[1]
        elif kind in (25, 48):
            before, after = self.states.get(args[0], "Undetermined"), STATES[args[2]]
            self.transition(thread, on, ns, args[0], f"{before}->{after}", "", 0, stack)
            self.sequences[args[0]] = 0
            if after == "Running" or after == "Syscall" and args[1] == thread:
                self.on[thread] = args[0]
            elif after == "Syscall":
                self.on[args[1]] = args[0]
        elif kind in OF:
            g = on if kind in OF_CONTEXT else args[0]
            own = args[1] if kind in (14, 47) else stack if kind in OF_CONTEXT else 0
            self.transition(thread, on, ns, g, OF[kind], self.strings[args[0]] if kind in (19, 20) else "", own, stack)
            if kind in (16, 15):
                self.on[thread] = g
            elif kind in (17, 18, 19, 20, 24):
                self.on[thread] = -1
            if kind in (14, 47, 15):
                self.sequences[g] = 0
            elif kind in (16, 21):
                self.sequences[g] = args[1]
        elif kind == 9:
            value = f"Uint64({args[0]})" if self.old else f"Value{{Uint64({args[0]})}}"
            say("Metric", f' Name="/sched/gomaxprocs:threads" Value={value}')
        elif kind in (26, 27):
            self.stopped = self.strings[args[0]] if kind == 26 else self.stopped
            say("RangeBegin" if kind == 26 else "RangeEnd",
                f' Name={quoted("stop-the-world (" + self.stopped + ")")} Scope=Goroutine({on})' + (" Attributes=[]" if kind == 27 else ""))
        elif kind in (42, 43):
            say("RegionBegin" if kind == 42 else "RegionEnd", f" Task={args[0]} Type={quoted(self.strings[args[1]])}")
        elif kind in (40, 41):
            say("TaskBegin" if kind == 40 else "TaskEnd", f" ID={args[0]} Parent=0 Type=" +
                (quoted(self.strings[args[2]]) if kind == 40 else '""'))
        elif kind in RANGES:
            say("Range" + RANGES[kind], ' Name="GC" Scope=None')
        else:
            say("StateTransition" if kind in (10, 11, 12, 13) else "Metric", ' Resource=Proc(0) Reason="" ProcID=0 Idle->Running'
                if kind in (10, 11, 12, 13) else ' Name="/gc/heap/goal:bytes" Value=Value{Uint64(1)}')


def main():
    printer, all_of_them = Printer(sys.stdout, "--old" in sys.argv), generations(sys.stdin.buffer.read())
    for number, generation in enumerate(all_of_them):
        printer.generation(*generation, number == 0)
    printer.sync(0)


if __name__ == "__main__":
    main()
