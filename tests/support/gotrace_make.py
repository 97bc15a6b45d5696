#!/usr/bin/env python3
"""Makes execution traces of Go, format v2, for tests.

    gotrace_make.py <EVENTS >FILE        one event a line: THREAD NS KIND ARGUMENT...
    gotrace_make.py --old <EVENTS >FILE  as Go 1.22 to 1.24 write them: the clock's frequency comes last
    gotrace_make.py --big MB >FILE       goroutines that wake each other, so many megabytes

A line "generation" begins the next one. Arguments are those of the wire format: numbers, names of
reasons, and stacks as functions with ";" between, innermost first. Sequence numbers of goroutines are
counted here. "# " begins a comment.
"""
import sys

KINDS = {  # number, arguments: n number, s string, k stack, q sequence number of the goroutine before it
    "procs": (9, "nk"), "create": (14, "nkk"), "start": (16, "nq"), "destroy": (17, ""), "stop": (19, "sk"),
    "block": (20, "sk"), "unblock": (21, "nqk"), "call": (22, "nk"), "back": (23, ""), "back_blocked": (24, ""),
    "status": (25, "nnn"), "stw": (26, "sk"), "stw_end": (27, ""), "task": (40, "nnsk"), "task_end": (41, "nk"), "region": (42, "nsk"), "region_end": (43, "nsk"),
    "switch": (45, "nq"), "switch_destroy": (46, "nq"), "create_blocked": (47, "nkk"), "status_stack": (48, "nnnk"),
}
NO_THREAD = 2**64 - 1


def varint(value):
    out = bytearray()
    while value >= 128:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)


def batch(generation, thread, ticks, data):
    return b"\x01" + varint(generation) + varint(thread) + varint(ticks) + varint(len(data)) + data


class Generation:
    def __init__(self, number):
        self.number, self.strings, self.stacks, self.sequences = number, {}, {}, {}
        self.threads = {}  # thread: [first ticks, last ticks, bytes]
        self.batches = []

    def string(self, text):
        return self.strings.setdefault(text, len(self.strings) + 1)

    def stack(self, text):
        return 0 if text == "-" else self.stacks.setdefault(text, len(self.stacks) + 1)

    def event(self, thread, ns, kind, arguments):
        number, forms = KINDS[kind]
        ticks = ns + 1000
        at = self.threads.setdefault(thread, [ticks, ticks, bytearray()])
        if len(at[2]) > 60000:
            self.batches.append((thread, at[0], bytes(at[2])))
            at = self.threads[thread] = [ticks, ticks, bytearray()]
        data, arguments, last = bytes([number]) + varint(ticks - at[1]), list(arguments), 0
        for form in forms:
            if form == "q":
                self.sequences[last] = self.sequences.get(last, 0) + 1
                data += varint(self.sequences[last])
                continue
            text = arguments.pop(0)
            last = int(text) if form == "n" else 0
            data += varint({"n": lambda: last, "s": lambda: self.string(text), "k": lambda: self.stack(text)}[form]())
        at[1], at[2] = ticks, at[2] + data

    def write(self, to, old=False, later=0):
        """later: all times are so much later."""
        if not old:
            to.write(batch(self.number, NO_THREAD, 0, b"\x32\x08" + varint(10**9)))
        for thread, first, data in self.batches + [(thread, at[0], bytes(at[2])) for thread, at in self.threads.items()]:
            to.write(batch(self.number, thread, first + later, data))
        stacks = bytearray(b"\x02")
        for text, number in self.stacks.items():
            frames = text.split(";")
            stacks += b"\x03" + varint(number) + varint(len(frames))
            for frame in frames:
                stacks += varint(4096) + varint(self.string(frame)) + varint(self.string("x.go")) + varint(1)
        strings = bytearray(b"\x04")
        for text, number in self.strings.items():
            strings += b"\x05" + varint(number) + varint(len(text.encode())) + text.encode()
        to.write(batch(self.number, NO_THREAD, 0, bytes(stacks)) + batch(self.number, NO_THREAD, 0, bytes(strings)))
        to.write(batch(self.number, NO_THREAD, 0, b"\x08" + varint(10**9)) if old else b"\x34")


def from_text(lines, to, old=False):
    to.write(b"go 1.22 trace\0\0\0" if old else b"go 1.26 trace\0\0\0")
    generation = Generation(1)
    for line in lines:
        words = line.split("# ")[0].split()
        if words == ["generation"]:
            generation.write(to, old)
            generation = Generation(generation.number + 1)
        elif words:
            generation.event(int(words[0]), int(words[1]), words[2], words[3:])
    generation.write(to, old)


def big(megabytes, to):
    """Two threads, and 200 goroutines on each; each goroutine runs, wakes the next one and waits.

    All generations behind the first have the same events, later: only one of them is made."""
    to.write(b"go 1.26 trace\0\0\0")
    count, each, ns, written, number = 200, 20000, 0, 16, 0
    while written < megabytes * 10**6:
        number += 1
        if number > 2:
            generation.number = number
            generation.write(to, later=(number - 2) * (ns - second_ns))
            written += size
            continue
        second_ns = ns
        generation = Generation(number)
        for thread in (1, 2):
            first, at = thread * 1000, ns
            emit = lambda kind, *args: generation.event(thread, at, kind, [str(arg) for arg in args])
            for g in range(first, first + count):
                emit("status_stack", g, NO_THREAD, 2 if g == first and number == 1 else 4, "main.ring")
            if number > 1:
                at += 100
                emit("unblock", first, "-")
                emit("start", first)
            elif number == 1:
                generation.sequences[first] = 0
            for i in range(each):
                now, after = first + i % count, first + (i + 1) % count
                at += 2000
                emit("call", 0, "syscall.write;main.write;main.ring")
                at += 1500
                emit("back")
                emit("unblock", after, "runtime.send;main.ring")
                at += 300
                emit("block", "chan receive", "runtime.chanrecv;main.ring")
                at += 100
                emit("start", after)
            at += 100
            emit("block", "chan receive", "runtime.chanrecv;main.ring")
        ns = at + 1000
        size = sum(len(data) for _, _, data in generation.batches) + 100000
        generation.write(to)
        written += size


if __name__ == "__main__":
    if sys.argv[1:2] == ["--big"]:
        big(float(sys.argv[2]), sys.stdout.buffer)
    else:
        from_text(sys.stdin, sys.stdout.buffer, old=sys.argv[1:] == ["--old"])
